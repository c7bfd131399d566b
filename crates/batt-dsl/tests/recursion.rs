//! Python's recursion limit: the depth at which calls fail.
//!
//! The depths were measured in CPython 3.11 when the original library's `main` calls a solver that
//! makes these calls.

use batt_dsl::{Dialect, Fault, Limits, OpId, OwnedValue, Run, Value, Workspace};

type Outcome<'r> = Result<Value<'r>, Fault>;

fn call<'r>(run: &mut Run<'r>, name: &str, args: &[Value<'r>]) -> Outcome<'r> {
    let op = OpId::named(name).expect("a primitive");
    run.call(Value::Op(op), args)
}

fn op<'r>(name: &str) -> Value<'r> {
    Value::Op(OpId::named(name).expect("a primitive"))
}

/// Composes `identity` with itself, so that `n` closures call one another.
fn ladder<'r>(run: &mut Run<'r>, n: i64) -> Outcome<'r> {
    (0..n).try_fold(op("identity"), |f, _| {
        call(run, "compose", &[f, op("identity")])
    })
}

/// Returns the largest `n` for which a program has a value; above it the program fails with a
/// `RecursionError`.
fn limit(program: impl for<'r> Fn(&mut Run<'r>, i64) -> Outcome<'r>) -> i64 {
    let has_value = |n| {
        let outcome = Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
            program(run, n).map(drop)
        });
        assert!(
            matches!(outcome, Ok(()) | Err(Fault::Recursion)),
            "{n}: {outcome:?}"
        );
        outcome.is_ok()
    };
    let all: Vec<i64> = (1..1100).collect();
    all.partition_point(|&n| has_value(n)) as i64
}

#[test]
fn a_power_nests_as_deeply_as_in_python() {
    assert_eq!(
        limit(|run, n| call(run, "power", &[op("increment"), Value::Int(n)])),
        996
    );
    let raised = limit(|run, n| {
        let power = call(run, "power", &[op("increment"), Value::Int(n)])?;
        run.call1(power, Value::Int(0))
            .map(|value| assert_eq!(run.to_owned(value), Ok(OwnedValue::Int(n))))?;
        Ok(Value::Int(0))
    });
    assert_eq!(raised, 996);
    assert_eq!(
        limit(|run, n| {
            let inner = call(run, "power", &[op("increment"), Value::Int(400)])?;
            let outer = call(run, "power", &[inner, Value::Int(n)])?;
            run.call1(outer, Value::Int(0))
        }),
        597
    );
    assert_eq!(
        limit(|run, n| {
            let power = call(run, "power", &[op("increment"), Value::Int(n)])?;
            let numbers = run.make_tuple(&[1, 2, 3].map(Value::Int))?;
            call(run, "apply", &[power, numbers])
        }),
        994
    );
}

#[test]
fn a_primitive_that_calls_a_function_counts_its_own_frames() {
    assert_eq!(
        limit(|run, n| {
            let f = ladder(run, n)?;
            run.call1(f, Value::Int(1))
        }),
        995
    );
    let of_numbers = [
        ("apply", true, 993),
        ("sfilter", false, 993),
        ("extract", false, 993),
        ("argmax", false, 993),
        ("argmin", false, 993),
        ("valmax", false, 993),
        ("valmin", false, 993),
        ("order", false, 993),
        ("mapply", true, 992),
        ("mfilter", false, 992),
    ];
    for (name, function_first, deepest) in of_numbers {
        let found = limit(|run, n| {
            let f = ladder(run, n)?;
            // Members that serve as truths, numbers or containers.
            let members = [1, 2, 3, 4].map(Value::Int);
            let members = members.map(|n| run.make_tuple(&[n]));
            let members = members.into_iter().collect::<Result<Vec<_>, _>>()?;
            let members = run.make_tuple(&members)?;
            match function_first {
                true => call(run, name, &[f, members]),
                false => call(run, name, &[members, f]),
            }
        });
        assert_eq!(found, deepest, "{name}");
    }
    let rapply = limit(|run, n| {
        let f = ladder(run, n)?;
        let functions = run.make_tuple(&[f])?;
        call(run, "rapply", &[functions, Value::Int(1)])
    });
    assert_eq!(rapply, 993);
}

#[test]
fn functions_bound_to_apply_take_three_frames_each() {
    let applied = limit(|run, n| {
        let bind = call(run, "lbind", &[op("lbind"), op("apply")])?;
        let power = call(run, "power", &[bind, Value::Int(n)])?;
        let f = run.call1(power, op("identity"))?;
        let mut nested = Value::Int(1);
        for _ in 0..n {
            nested = run.make_tuple(&[nested])?;
        }
        run.call1(f, nested).map(|_| Value::Int(0))
    });
    assert_eq!(applied, 331);
}

/// Each level calls the next one once, also when a call fails: a second call on every level would
/// be 2 to the power of 300.
#[test]
fn nested_extremes_fail_as_fast_as_they_succeed() {
    for name in ["argmin", "argmax", "valmin", "valmax"] {
        for (depth, fault) in [(300, Fault::Index), (600, Fault::Recursion)] {
            let outcome = Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
                // The innermost function takes the first element of an empty tuple.
                let mut f = call(run, "rbind", &[op("multiply"), Value::Int(2)])?;
                let mut nested = Value::EMPTY_TUPLE;
                for _ in 0..depth {
                    f = call(run, "rbind", &[op(name), f])?;
                    nested = run.make_tuple(&[nested])?;
                }
                run.call1(f, nested).map(drop)
            });
            assert_eq!(outcome, Err(fault), "{name}");
        }
    }
}

#[test]
fn many_elements_at_once_reach_the_same_depths() {
    // Hundreds of locations are computed in columns, a few one by one.
    for side in [2, 20] {
        let found = limit(|run, n| {
            let cells = vec![0; side * side];
            let grid = run.input(side, side, &cells)?;
            let places = call(run, "asindices", &[grid])?;
            let f = ladder(run, n)?;
            let f = call(run, "compose", &[op("first"), f])?;
            let f = call(run, "compose", &[op("positive"), f])?;
            call(run, "sfilter", &[places, f])
        });
        assert_eq!(found, 991, "{side}");
    }
}
