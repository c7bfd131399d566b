//! Tests that calls in columns are not observable: results, closures and fallbacks are the same as
//! with single calls.

use super::*;
use crate::dialect::Dialect;
use crate::memo::tests::{OFF, Trace, nearer, nearest, random_run, run, tuples};
use crate::owned::OwnedValue;
use crate::run::{Limits, Workspace};
use crate::value::IntPair;

/// Returns a workspace that calls functions in columns for `least` elements or more.
fn workspace(least: usize) -> Workspace {
    let mut workspace = Workspace::new();
    *workspace.columns().0 = Some(least);
    workspace.memo().threshold = OFF;
    workspace
}

#[test]
fn a_loop_in_a_loop_gives_the_same_in_fewer_steps() {
    let programs: [for<'r> fn(&mut Run<'r>) -> Outcome<Value<'r>>; 2] = [nearest, nearer];
    for program in programs {
        let (value, steps, closures) = run(&mut workspace(usize::MAX), OFF, program);
        let mut workspace = workspace(MIN_ELEMENTS);
        let found = run(&mut workspace, OFF, program);
        assert!(value.is_ok());
        assert_eq!((&found.0, found.2), (&value, closures));
        assert!(found.1 * 30 < steps, "{} of {steps}", found.1);
        assert!(workspace.columns().1 > 10);
        // Nothing carries over from one run to the next.
        assert_eq!(run(&mut workspace, OFF, program), found);
    }
}

#[test]
fn released_values_are_not_remembered() {
    let expected = run(&mut workspace(usize::MAX), OFF, tuples);
    assert!(expected.0.is_ok(), "{:?}", expected.0);
    let mut workspace = workspace(MIN_ELEMENTS);
    let found = run(&mut workspace, OFF, tuples);
    assert_eq!((found.0, found.2), (expected.0, expected.2));
    assert!(workspace.columns().1 > 6);
}

#[test]
fn a_new_allowance_forgets_the_columns() {
    workspace(MIN_ELEMENTS).run(Dialect::ArcDsl, &Limits::default(), |run| {
        let mut costs = Vec::new();
        for _ in 0..3 {
            run.scoped(|run, _| {
                nearest(run).map(|_| ()).expect("a value");
                costs.push(run.spent());
            });
            run.renew();
            nearest(run).map(|_| ()).expect("a value");
            costs.push(run.spent());
        }
        assert!(costs.iter().all(|cost| *cost == costs[0]), "{costs:?}");
    });
}

#[test]
fn random_programs_cannot_observe_columns() {
    let (mut plain, mut eager) = (workspace(usize::MAX), workspace(1));
    for seed in 0..2000 {
        let dialect = match seed % 4 {
            0 => Dialect::ReArc,
            1 => Dialect::Tokpidjin,
            _ => Dialect::ArcDsl,
        };
        let expected = random_run(&mut plain, seed, dialect);
        let found = random_run(&mut eager, seed, dialect);
        assert_same(&expected, &found, seed);
    }
    assert_eq!(plain.columns().1, 0);
    let walks = eager.columns().1;
    assert!(walks > 20, "{walks}");
}

/// Asserts the same values, closures and fallbacks, up to the point where a limit was reached.
fn assert_same(expected: &Trace, found: &Trace, seed: u64) {
    let is_cut = |trace: &Trace| trace.0.last() == Some(&Err(Fault::Steps));
    if is_cut(expected) || is_cut(found) {
        // Columns take fewer steps, so the run may get further. Failed attempts take some more
        // steps.
        let known = expected.0.len().min(found.0.len()) - 1;
        assert_eq!(found.0[..known], expected.0[..known], "seed {seed}");
    } else {
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// Makes random functions of primitives that work on columns.
struct Maker<'a, 'r> {
    run: &'a mut Run<'r>,
    dialect: Dialect,
    seed: u64,
    /// Values to bind.
    values: Vec<Value<'r>>,
    /// Containers to choose from.
    containers: Vec<Value<'r>>,
}

impl<'r> Maker<'_, 'r> {
    fn below(&mut self, n: usize) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % n
    }

    fn op(&mut self, names: &[&str]) -> Value<'r> {
        let name = names[self.below(names.len())];
        Value::Op(self.dialect.op(name).expect(name))
    }

    fn call(&mut self, name: &str, args: &[Value<'r>]) -> Outcome<Value<'r>> {
        let op = self.op(&[name]);
        self.run.call(op, args)
    }

    /// Makes a function whose last argument, a rank, is known.
    fn ranked(&mut self, names: &[&str]) -> Outcome<Value<'r>> {
        let rank = [0, -1, 0, -1, 1][self.below(5)];
        let op = self.op(names);
        self.call("rbind", &[op, Value::Int(rank)])
    }

    /// Makes a function of one argument.
    fn function(&mut self, depth: usize) -> Outcome<Value<'r>> {
        const ONE: &[&str] = &[
            "first",
            "last",
            "first",
            "last",
            "identity",
            "invert",
            "double",
            "halve",
            "increment",
            "decrement",
            "sign",
            "even",
            "positive",
            "toivec",
            "tojvec",
            "maximum",
            "minimum",
            "flip",
            "size",
            "center",
            "color",
            "initset",
        ];
        const TWO: &[&str] = &[
            "add",
            "subtract",
            "multiply",
            "astuple",
            "equality",
            "greater",
            "both",
            "either",
            "index",
            "manhattan",
        ];
        if depth == 0 {
            let by_rank = self.dialect == Dialect::Tokpidjin && self.below(3) == 0;
            return match by_rank {
                true => self.ranked(&["get_nth_t", "get_nth_f", "get_rank"]),
                false => Ok(self.op(ONE)),
            };
        }
        let kind = self.below(12);
        let f = self.function(depth - 1)?;
        let g = self.function(depth - 1)?;
        let two = self.op(TWO);
        let k = self.below(self.values.len());
        let value = self.values[k];
        let k = self.below(self.containers.len());
        let container = self.containers[k];
        match kind {
            0..3 => self.call("compose", &[f, g]),
            3..6 => self.call("fork", &[two, f, g]),
            6 => self.call("lbind", &[two, value]),
            7 => self.call("rbind", &[two, value]),
            8 => self.call("matcher", &[f, value]),
            9 => {
                let apply = self.op(&["apply"]);
                self.call("lbind", &[apply, f])
            }
            10 => self.call("power", &[f, Value::Int(2)]),
            _ => {
                // x -> g(extreme(container, y -> f((x, y))))
                let astuple = self.op(&["astuple"]);
                let (lbind, compose) = (self.op(&["lbind"]), self.op(&["compose"]));
                let from = self.call("lbind", &[lbind, astuple])?;
                let after = self.call("lbind", &[compose, f])?;
                let measure = self.call("compose", &[after, from])?;
                let by_rank = self.dialect == Dialect::Tokpidjin && self.below(2) == 0;
                let extreme = match by_rank {
                    true => self.ranked(&["get_val_rank", "get_arg_rank", "get_arg_rank_f"])?,
                    false => self.op(&["valmin", "valmax", "argmin", "argmax"]),
                };
                let find = self.call("lbind", &[extreme, container])?;
                let found = self.call("compose", &[find, measure])?;
                self.call("compose", &[g, found])
            }
        }
    }
}

/// Returns the values of some functions on the elements of sets, the number of closures, and the
/// number of fallbacks.
fn functions(
    workspace: &mut Workspace,
    seed: u64,
    dialect: Dialect,
    limits: &Limits,
) -> (Vec<Outcome<OwnedValue>>, u32, u32) {
    workspace.run(dialect, limits, |run| {
        let cells: Vec<u8> = (0..64).map(|k| ((k * k + seed * k) % 5) as u8).collect();
        let grid = run.input(8, 8, &cells).expect("room");
        let location = Value::pair(IntPair::new(2, -1));
        let mut maker = Maker {
            run,
            dialect,
            seed,
            values: vec![
                Value::Int(1),
                Value::Int(-3),
                Value::Int(40_000),
                Value::bool(true),
                location,
                grid,
            ],
            containers: Vec::new(),
        };
        let (t, f) = (Value::bool(true), Value::bool(false));
        let places = maker.call("asindices", &[grid]).expect("a set");
        let cells = maker.call("asobject", &[grid]).expect("a set");
        let things = match dialect {
            Dialect::Tokpidjin => maker.call("o_g", &[grid, Value::Int(4)]),
            _ => maker.call("objects", &[grid, t, f, f]),
        };
        let things = things.expect("a set");
        maker.containers = vec![places, cells, things, location];
        let mut trace = Vec::new();
        for k in 0..6 {
            let set = [places, cells][k % 2];
            let depth = 1 + maker.below(4);
            let Ok(function) = maker.function(depth) else {
                break;
            };
            for (name, args) in [
                ("sfilter", [set, function]),
                ("apply", [function, set]),
                ("argmin", [set, function]),
            ] {
                let value = maker.call(name, &args);
                trace.push(value.and_then(|value| maker.run.to_owned(value)));
            }
        }
        (trace, run.closures, run.fallbacks())
    })
}

#[test]
fn functions_of_known_primitives_give_the_same_in_columns() {
    // Programs of primitives that never fail take long.
    let short = Limits {
        steps: 300_000,
        ..Limits::default()
    };
    for (dialect, limits, seeds, least, most) in [
        (
            Dialect::ArcDsl,
            Limits::default(),
            3000,
            (5_000, 3_000),
            300,
        ),
        (Dialect::Tokpidjin, short, 2000, (4_000, 2_000), 1000),
    ] {
        let (mut plain, mut eager) = (workspace(usize::MAX), workspace(1));
        let (mut values, mut cut_short) = (0, 0);
        for seed in 0..seeds {
            let expected = functions(&mut plain, seed, dialect, &limits);
            let found = functions(&mut eager, seed, dialect, &limits);
            values += expected.0.iter().filter(|value| value.is_ok()).count();
            let cut = |trace: &[Outcome<OwnedValue>]| {
                let at = trace.iter().position(|value| *value == Err(Fault::Steps));
                at.unwrap_or(usize::MAX)
            };
            let (end, found_end) = (cut(&expected.0), cut(&found.0));
            // Failed attempts take some more steps.
            if end == usize::MAX && found_end == usize::MAX {
                assert_eq!(found, expected, "{dialect:?}, seed {seed}");
            } else {
                cut_short += 1;
                let known = end.min(found_end);
                let place = format!("{dialect:?}, seed {seed}, up to {known}");
                assert_eq!(found.0[..known], expected.0[..known], "{place}");
            }
        }
        let walks = eager.columns().1;
        assert!(
            values > least.0 && walks > least.1 && cut_short < most,
            "{dialect:?}: {values} values, {walks} at once, {cut_short} cut short"
        );
    }
}
