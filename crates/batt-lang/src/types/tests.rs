use batt_dsl::Dialect;

use super::signature;
use super::*;
use crate::SolverFile;

#[test]
fn rows_are_well_formed_and_of_primitives() {
    for (dialect, rows) in [
        (Dialect::ArcDsl, signature::ROWS),
        (Dialect::Tokpidjin, signature::TOKPIDJIN),
    ] {
        let mut table = Table::new(dialect.cells_are_triples());
        for line in rows.lines().skip(1) {
            let (name, row) = line.split_once(": ").expect("a name");
            let op = dialect.op(name).expect(name);
            let ty = signature::parse(&mut table, row).expect(line);
            assert_ne!(ty, TypeId::ANY, "{line}");
            let types = Types::new(dialect);
            assert!(types.arity(types.op(op)).expect(name) <= op.op().arity());
        }
    }
}

#[test]
fn every_primitive_with_weak_hints_has_a_row() {
    for dialect in [Dialect::ArcDsl, Dialect::Tokpidjin] {
        for op in dialect.ops() {
            let params = op.params.iter().map(|param| param.ty);
            let vague = params
                .chain([op.returns])
                .any(|ty| !signature::is_clear(ty));
            let related = matches!(
                op.returns,
                batt_dsl::Type::Numerical | batt_dsl::Type::Patch
            );
            if vague || related {
                assert!(
                    signature::row(op).is_some(),
                    "{} has no row in types/signature.rs",
                    op.name
                );
            }
        }
    }
}

/// The types of the steps of a program, as text.
fn shown(dialect: Dialect, body: &str) -> Vec<String> {
    let text = format!("def f(S, I, C):\n{body}");
    let file = SolverFile::parse_in(&text, "f.py", Some(dialect));
    assert!(!file.diagnostics.iter().any(|d| d.is_error()), "{body}");
    let mut types = Types::new(dialect);
    let steps = types.of_program(&file.programs[0]);
    let show = |ty: &Option<TypeId>| match ty {
        Some(ty) => types.show(*ty).to_string(),
        None => "none".to_owned(),
    };
    steps.iter().map(show).collect()
}

/// The type of an expression, the last of its steps.
fn ty(expression: &str) -> String {
    let steps = shown(Dialect::ArcDsl, &format!("  return {expression}\n"));
    steps.last().expect("a step").clone()
}

#[test]
fn calls_have_the_intended_types() {
    for (expression, expected) in [
        ("hmirror(I)", "Grid"),
        ("first(I)", "Tuple<Int>"),
        ("merge(hsplit(I, TWO))", "Grid"),
        ("sfilter(I, first)", "none"),
        ("objects(I, T, F, T)", "Objects"),
        ("shift(ofcolor(I, TWO), UP)", "Indices"),
        ("shift(asobject(I), UP)", "Object"),
        ("shift(I, UP)", "none"),
        ("fill(I, TWO, I)", "none"),
        ("add(ONE, TWO)", "Int"),
        ("add(UP, TWO)", "Pair"),
        ("first(first(asobject(I)))", "Int"),
        ("last(first(asobject(I)))", "Pair"),
        ("apply(last, asobject(I))", "Indices"),
        ("apply(size, objects(I, T, F, T))", "Set<Int>"),
        (
            "apply(size, order(objects(I, T, F, T), height))",
            "Tuple<Int>",
        ),
        ("order(objects(I, T, F, T), identity)", "none"),
        ("mapply(toindices, objects(I, T, F, T))", "Indices"),
        (
            "product(interval(ZERO, ONE, ONE), interval(ZERO, ONE, ONE))",
            "Indices",
        ),
        ("astuple(THREE, UP)", "Cell"),
        ("astuple(I, UP)", "[Grid, Pair]"),
        ("branch(T, ONE, UP)", "none"),
        ("branch(T, ONE, I)", "none"),
        ("lbind(fill, I)", "(Int, Patch -> Grid)"),
        ("rbind(rbind(fill, asindices(I)), ONE)", "(Grid -> Grid)"),
        (
            "rbind(shift, UP)",
            "(Object -> Object) & (Indices -> Indices)",
        ),
        ("lbind(hmirror, I)", "none"),
        ("compose(first, totuple)", "(A<b> -> b)"),
        ("power(first, TWO)(I)", "Int"),
        ("lbind(lbind, shift)(asindices(I))", "(Pair -> Indices)"),
        ("rapply(astuple(hmirror, vmirror), I)", "Tuple<Grid>"),
        (
            "papply(lbind(fill, I), interval(ZERO, ONE, ONE), apply(toindices, order(objects(I, T, F, T), size)))",
            "Tuple<Grid>",
        ),
        ("apply(first, S)", "Tuple<Grid>"),
        ("last(first(S))", "Grid"),
        ("insert(ONE, asindices(I))", "none"),
        ("both(size(I), T)", "none"),
    ] {
        assert_eq!(ty(expression), expected, "{expression}");
    }
}

#[test]
fn cells_of_tokpidjin_are_triples() {
    let body = "
  x1 = asobject(I)
  x2 = get_nth_f(x1, F0)
  x3 = last(x2)
  x4 = ascell(UP, RED)
  x5 = insert(x4, x1)
  x6 = astriple(R0, R0, RED)
  x7 = c_iz_n(S, p_g, rbind(get_nth_t, F0))
  x8 = toij(x4)
  x9 = get_nth_by_key_t(p_g(I), F0)
  return x5\n";
    let expected = [
        "Object",
        "Cell",
        "Int",
        "Cell",
        "Object",
        "Cell",
        "(Tuple<a> -> a)",
        "Int",
        "Pair",
        "Tuple<Int>",
        "Int",
    ];
    assert_eq!(shown(Dialect::Tokpidjin, body), expected);
}

#[test]
fn endless_nesting_does_not_grow_the_table() {
    let mut types = Types::new(Dialect::ArcDsl);
    let initset = types.op(Dialect::ArcDsl.op("initset").expect("initset"));
    let mut ty = TypeId::GRID;
    for _ in 0..100 {
        ty = types.call(initset, &[ty]).expect("a set of anything");
    }
    let some = types.len();
    for _ in 0..100 {
        ty = types.call(initset, &[ty]).expect("a set of anything");
    }
    assert_eq!(types.len(), some);
}

#[test]
fn fit_distinguishes_certain_from_possible() {
    let mut types = Types::new(Dialect::ArcDsl);
    for (value, wanted, fit) in [
        (TypeId::OBJECT, TypeId::PATCH, Fit::Yes),
        (TypeId::PATCH, TypeId::OBJECT, Fit::Perhaps),
        (TypeId::ANY, TypeId::OBJECT, Fit::Perhaps),
        (TypeId::OBJECT, TypeId::ANY, Fit::Yes),
        (TypeId::GRID, TypeId::OBJECT, Fit::No),
        (TypeId::PAIR, TypeId::ROW, Fit::Yes),
        (TypeId::BOOL, TypeId::INT, Fit::No),
        (TypeId::INDICES, TypeId::GRID, Fit::No),
    ] {
        assert_eq!(types.fit(value, wanted), fit, "{value:?} as {wanted:?}");
    }
    let op = |name| Dialect::ArcDsl.op(name).expect(name);
    let (height, hmirror) = (types.op(op("height")), types.op(op("hmirror")));
    let of_object = types.function(&[TypeId::OBJECT], TypeId::INT);
    assert_eq!(types.fit(height, of_object), Fit::Yes);
    assert_eq!(types.fit(hmirror, of_object), Fit::No);
    assert_eq!(types.params_of(hmirror), [TypeId::PIECE]);
    assert_eq!(types.result_of(hmirror), Some(TypeId::PIECE));
    assert_eq!(types.result_of(TypeId::INT), None);
}

#[test]
fn the_expected_type_follows_from_the_other_arguments() {
    let mut types = Types::new(Dialect::ArcDsl);
    let op = |name| Dialect::ArcDsl.op(name).expect(name);
    let mut wanted = |name, args: &[TypeId], hole| {
        let callee = types.op(op(name));
        let ty = types.wanted_in(callee, args, hole, None);
        types.show(ty).to_string()
    };
    let (grid, objects) = (TypeId::GRID, TypeId::OBJECTS);
    assert_eq!(wanted("apply", &[grid, objects], 0), "(Object -> a)");
    assert_eq!(wanted("sfilter", &[objects, grid], 1), "(Object -> Bool)");
    assert_eq!(wanted("contained", &[grid, objects], 0), "Object");
    let flag = TypeId::BOOL;
    assert_eq!(wanted("branch", &[flag, TypeId::INT, grid], 2), "Int");
    assert_eq!(wanted("branch", &[grid, TypeId::INT, grid], 0), "Bool");
    assert_eq!(wanted("size", &[grid], 0), "Container<Any>");
    assert_eq!(wanted("paint", &[flag, flag], 1), "Object");
    assert_eq!(wanted("fill", &[grid, TypeId::INT, grid], 2), "Patch");
    assert_eq!(wanted("add", &[grid, TypeId::INT], 0), "Numerical");
    let apply = types.op(op("apply"));
    let ints = types.table.of(ContainerKind::Set, TypeId::INT);
    let ty = types.wanted_in(apply, &[grid, objects], 0, Some(ints));
    assert_eq!(types.show(ty).to_string(), "(Object -> Int)");
}

#[test]
fn every_role_has_choices() {
    for role in ConstantRole::ALL {
        assert!(role.choices(Dialect::Tokpidjin).len() > 1, "{role:?}");
    }
    assert!(ConstantRole::Rank.choices(Dialect::ArcDsl).is_empty());
    assert_eq!(
        ConstantRole::Colour.choices(Dialect::Tokpidjin)[2].name(),
        "RED"
    );
}
