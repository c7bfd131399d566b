//! Compares the types that `batt_lang` infers with the values that solvers compute.

use batt_arc::corpus;
use batt_dsl::{Dialect, Limits, Outcome, OwnedValue, Workspace};
use batt_engine::Compiled;
use batt_lang::types::{ContainerKind, Ty, TypeId, Types};
use batt_testing::programs;

#[test]
fn values_are_what_their_types_say() {
    let tasks = corpus::tasks();
    let mut types = Types::new(Dialect::ArcDsl);
    let mut workspace = Workspace::new();
    let (mut seen, mut agreeing) = (0, 0);
    for program in programs(corpus::SOLVERS) {
        let steps = types.of_program(&program);
        let compiled = Compiled::new(&program);
        for (task, _, pair) in tasks.pairs() {
            if format!("solve_{}", task.id) != program.name() {
                continue;
            }
            let input = &pair.input;
            let outcome: Outcome<()> = workspace.run(Dialect::ArcDsl, &Limits::default(), |run| {
                let grid = run.input(input.height(), input.width(), input.cells())?;
                let outcome = compiled.execute_watched(run, &[grid], |run, step, value| {
                    let value = run.to_owned(value).expect("small values");
                    let ty = steps[step.index()].unwrap_or(TypeId::ANY);
                    seen += 1;
                    if ty != TypeId::ANY && is_of(&types, &value, ty) {
                        agreeing += 1;
                    } else {
                        let call = program.call_text(step);
                        println!(
                            "{}: {call}: {} is no {}",
                            program.name(),
                            value,
                            types.show(ty)
                        );
                    }
                });
                outcome.map(|_| ()).map_err(|error| error.fault)
            });
            outcome.expect("the solvers of the corpus work");
        }
    }
    assert!(seen > 1000);
    assert!(agreeing * 100 >= seen * 99, "{agreeing} of {seen}");
}

/// Returns whether a value is of a type. An unknown type fits every value.
fn is_of(types: &Types, value: &OwnedValue, ty: TypeId) -> bool {
    let int = |value: &OwnedValue| matches!(value, OwnedValue::Int(_));
    match (types.get(ty), value) {
        (Ty::Any | Ty::Var(_), _) => true,
        (Ty::Bool, value) => matches!(value, OwnedValue::Bool(_)),
        (Ty::Int, value) => int(value),
        (Ty::Pair, OwnedValue::Tuple(items)) => items.len() == 2 && items.iter().all(int),
        (Ty::Cell, OwnedValue::Tuple(items)) => match &items[..] {
            [colour, place] => int(colour) && is_of(types, place, TypeId::PAIR),
            _ => false,
        },
        (Ty::Grid, OwnedValue::Tuple(rows)) => {
            rows.iter().all(|row| is_of(types, row, TypeId::ROW))
        }
        (Ty::Of(kind, item), value) => {
            let items = match (kind, value) {
                (ContainerKind::Tuple | ContainerKind::Either, OwnedValue::Tuple(items)) => items,
                (ContainerKind::Set | ContainerKind::Either, OwnedValue::Set(items)) => items,
                _ => return false,
            };
            items.iter().all(|value| is_of(types, value, item))
        }
        (Ty::Two(a, b), OwnedValue::Tuple(items)) => match &items[..] {
            [first, second] => is_of(types, first, a) && is_of(types, second, b),
            _ => false,
        },
        (Ty::Union(list), value) => {
            let mut members = types.list(list).iter();
            members.any(|&member| is_of(types, value, member))
        }
        (Ty::Fun(..) | Ty::Over(_), value) => matches!(value, OwnedValue::Function),
        _ => false,
    }
}
