use batt_dsl::Dialect;

use super::signature;
use super::*;

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
fn every_primitive_whose_hints_say_little_has_a_row() {
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
                assert!(signature::row(op).is_some(), "{} has no row", op.name);
            }
        }
    }
}
