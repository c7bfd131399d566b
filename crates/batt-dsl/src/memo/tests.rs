//! Tests that the memo is not observable: results, closures and fallbacks are the same without it.

use super::*;
use crate::dialect::Dialect;
use crate::fault::Outcome;
use crate::owned::OwnedValue;
use crate::run::{Limits, Workspace};

/// A threshold that makes no call expensive.
pub(crate) const OFF: Option<u64> = Some(1 << 60);
/// A threshold that makes every call expensive.
const EAGER: Option<u64> = Some(0);

/// A grid with a pattern of small objects.
const GRID: [u8; 100] = {
    let mut cells = [0; 100];
    let mut k = 0;
    while k < 100 {
        cells[k] = if k % 7 == 3 || k % 11 == 5 {
            1 + (k % 4) as u8
        } else {
            0
        };
        k += 1;
    }
    cells
};

/// Values by name.
struct Names<'a, 'r>(&'a mut Run<'r>, Vec<(&'static str, Value<'r>)>);

impl<'r> Names<'_, 'r> {
    fn get(&self, name: &str) -> Value<'r> {
        let known = self.1.iter().rev().find(|(known, _)| *known == name);
        let op = || self.0.dialect.op(name).map(Value::Op);
        known.map(|(_, value)| *value).or_else(op).expect(name)
    }

    /// Evaluates `name = f(...)` for a text `f ...`.
    fn set(&mut self, name: &'static str, call: &str) -> Outcome<Value<'r>> {
        let words: Vec<_> = call.split(' ').map(|word| self.get(word)).collect();
        let value = self.0.call(words[0], &words[1..])?;
        self.1.push((name, value));
        Ok(value)
    }
}

/// Finds for each object the locations to which it is the nearest object. The function that finds
/// the nearest object of a location recurs for each object.
pub(crate) fn nearest<'r>(run: &mut Run<'r>) -> Outcome<Value<'r>> {
    let mut names = distances(run)?;
    names.set("find", "lbind argmin things")?;
    names.set("nearest", "compose find measure")?;
    names.set("is", "lbind rbind equality")?;
    names.set("then", "rbind compose nearest")?;
    names.set("own", "chain filter then is")?;
    names.set("owns", "apply own things")
}

/// Finds for each object the locations that are nearer to it than to any other object, by comparing
/// distances.
pub(crate) fn nearer<'r>(run: &mut Run<'r>) -> Outcome<Value<'r>> {
    let mut names = distances(run)?;
    names.set("others", "rbind remove things")?;
    names.set("least", "lbind lbind valmin")?;
    names.set("then", "rbind compose measure")?;
    names.set("theirs", "chain then least others")?;
    names.set("to", "lbind rbind astuple")?;
    names.set("its", "compose after to")?;
    names.set("compare", "lbind fork greater")?;
    names.set("is", "fork compare theirs its")?;
    names.set("own", "compose filter is")?;
    names.set("owns", "apply own things")
}

/// Measures repeatedly how far locations are from one location, which is inside a set in a tuple in
/// another tuple.
pub(crate) fn tuples<'r>(run: &mut Run<'r>) -> Outcome<Value<'r>> {
    let mut names = distances(run)?;
    names
        .1
        .push(("there", Value::pair(crate::IntPair::new(3, 4))));
    names.1.push(("three", Value::Int(3)));
    names.set("single", "compose initset last")?;
    names.set("inside", "fork astuple first single")?;
    names.set("both", "fork astuple first inside")?;
    names.set("to", "rbind astuple there")?;
    names.set("all", "compose both to")?;
    names.set("it", "chain last last all")?;
    // Each function gets a condition of its own, so that the condition itself is not stored.
    names.set("far", "lbind fork manhattan")?;
    names.set("from", "rbind far it")?;
    names.set("is", "lbind greater three")?;
    names.set("then", "lbind compose is")?;
    names.set("near", "compose then from")?;
    names.set("some", "compose filter near")?;
    names.set("count", "compose size some")?;
    let often = names.0.make_tuple(&[names.get("initset"); 8])?;
    names.1.push(("often", often));
    names.set("counts", "apply count often")
}

/// Returns names for locations, objects, and functions that measure their distances.
fn distances<'a, 'r>(run: &'a mut Run<'r>) -> Outcome<Names<'a, 'r>> {
    let grid = run.input(10, 10, &GRID)?;
    let flags = [("T", true), ("F", false)].map(|(name, flag)| (name, Value::bool(flag)));
    let mut names = Names(run, [("I", grid)].into_iter().chain(flags).collect());
    names.set("places", "asindices I")?;
    names.set("things", "objects I T F T")?;
    names.set("corner", "compose ulcorner last")?;
    names.set("between", "fork subtract first corner")?;
    names.set("square", "fork multiply identity identity")?;
    names.set("sum", "fork add first last")?;
    names.set("distance", "chain sum square between")?;
    names.set("after", "lbind compose distance")?;
    names.set("from", "lbind lbind astuple")?;
    names.set("measure", "compose after from")?;
    names.set("filter", "lbind sfilter places")?;
    Ok(names)
}

/// Returns a program's value, its steps, and the number of closures it makes.
pub(crate) fn run(
    workspace: &mut Workspace,
    threshold: Option<u64>,
    program: impl for<'r> Fn(&mut Run<'r>) -> Outcome<Value<'r>>,
) -> (Outcome<OwnedValue>, u64, u32) {
    workspace.memo().threshold = threshold;
    workspace.run(Dialect::ArcDsl, &Limits::default(), |run| {
        let value = program(run).and_then(|value| run.to_owned(value));
        (value, run.spent(), run.closures)
    })
}

/// Returns a workspace that calls functions on one element at a time, so that calls recur.
fn without_columns() -> Workspace {
    let mut workspace = Workspace::new();
    *workspace.columns().0 = Some(usize::MAX);
    workspace
}

#[test]
fn a_recurring_call_is_computed_once() {
    let mut workspace = without_columns();
    let (plain, steps, closures) = run(&mut workspace, OFF, nearest);
    assert_eq!(workspace.memo().recalled, 0);
    assert!(plain.is_ok());
    for threshold in [None, EAGER] {
        let remembered = run(&mut workspace, threshold, nearest);
        assert_eq!((&remembered.0, remembered.2), (&plain, closures));
        assert!(remembered.1 * 3 < steps, "{} of {steps}", remembered.1);
        // Nothing carries over from one run to the next.
        assert_eq!(run(&mut workspace, threshold, nearest), remembered);
    }
    assert_eq!(run(&mut workspace, OFF, nearest), (plain, steps, closures));
}

#[test]
fn a_new_allowance_clears_the_memo() {
    let mut workspace = without_columns();
    workspace.run(Dialect::ArcDsl, &Limits::default(), |run| {
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
    assert!(workspace.memo().recalled > 0);
}

/// Tests many times which of two new functions comes first in a set. The result follows from the
/// numbers of the functions.
fn which_is_first<'r>(run: &mut Run<'r>) -> Outcome<Value<'r>> {
    let numbers = run.make_tuple(&[Value::Int(3); 40])?;
    let mut names = Names(run, vec![("numbers", numbers), ("seven", Value::Int(7))]);
    names.set("adding", "lbind lbind add")?;
    names.set("times", "lbind lbind multiply")?;
    names.set("one", "compose initset times")?;
    names.set("both", "fork insert adding one")?;
    names.set("listed", "compose totuple both")?;
    names.set("values", "rbind rapply seven")?;
    names.set("f", "chain first values listed")?;
    names.set("all", "apply f numbers")
}

#[test]
fn calls_that_hash_functions_are_not_stored() {
    let mut workspace = Workspace::new();
    let plain = run(&mut workspace, OFF, which_is_first).0;
    let Ok(OwnedValue::Tuple(values)) = &plain else {
        panic!("a tuple: {plain:?}");
    };
    assert!(values.iter().any(|value| *value != values[0]), "{values:?}");
    assert_eq!(run(&mut workspace, EAGER, which_is_first).0, plain);
}

/// Calls a function three frames deep, then `calls` frames deeper.
fn deep<'r>(run: &mut Run<'r>, calls: usize) -> Outcome<Value<'r>> {
    let numbers = run.make_tuple(&[1, 2, 3, 4].map(Value::Int))?;
    let mut names = Names(run, vec![("numbers", numbers)]);
    names.set("two", "compose increment increment")?;
    names.set("four", "compose two two")?;
    names.set("f", "compose four four")?;
    // The first loop finds the closures expensive, the second stores their values.
    names.set("near", "apply f numbers")?;
    names.set("near", "apply f numbers")?;
    for _ in 0..calls {
        names.set("f", "compose f identity")?;
    }
    names.set("far", "apply f numbers")
}

#[test]
fn an_entry_is_not_valid_for_deeper_calls() {
    let mut workspace = Workspace::new();
    for calls in [10, 989, 990, 991, 992, 993] {
        let plain = run(&mut workspace, OFF, |run| deep(run, calls)).0;
        assert_eq!(plain.is_ok(), calls <= 990, "{calls}");
        let eager = run(&mut workspace, EAGER, |run| deep(run, calls)).0;
        assert_eq!(eager, plain, "{calls}");
    }
    assert!(workspace.memo().recalled > 0);
}

/// Random programs of loops over functions of functions, and over sets of them.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn of<T: Copy>(&mut self, choice: &[T]) -> T {
        choice[self.below(choice.len())]
    }
}

/// The value of each step of a random program, the number of closures, and the number of fallbacks.
pub(crate) type Trace = (Vec<Outcome<OwnedValue>>, u32, u32);

pub(crate) fn random_run(workspace: &mut Workspace, seed: u64, dialect: Dialect) -> Trace {
    const MAKERS: &[&str] = &[
        "compose", "compose", "chain", "fork", "fork", "lbind", "lbind", "rbind", "matcher",
        "power", "lbind", "rbind",
    ];
    const LOOPS: &[&str] = &[
        "apply", "apply", "mapply", "sfilter", "mfilter", "argmin", "argmax", "valmin", "valmax",
        "order", "rapply", "papply", "prapply", "extract", "mpapply",
    ];
    const OTHERS: &[&str] = &[
        "astuple", "pair", "insert", "combine", "merge", "initset", "repeat", "remove", "totuple",
        "first", "last", "size", "dedupe", "product", "equality", "other",
    ];
    const FUNCTIONS: &[&str] = &[
        "identity",
        "increment",
        "invert",
        "first",
        "last",
        "size",
        "add",
        "subtract",
        "multiply",
        "astuple",
        "astuple",
        "equality",
        "greater",
        "compose",
        "lbind",
        "rbind",
        "apply",
        "argmin",
        "valmax",
        "sfilter",
        "initset",
        "toindices",
        "ulcorner",
        "color",
        "shift",
        "contained",
        "insert",
        "initset",
        "combine",
        "totuple",
        "center",
    ];
    const LIMITS: Limits = Limits {
        steps: 300_000,
        size: 20_000,
        memory: 4 << 20,
        time: None,
    };
    workspace.run(dialect, &LIMITS, |run| {
        let mut random = Random(seed);
        let mut trace = Vec::new();
        let op = |name: &str| dialect.op(name).map(Value::Op);
        let grid = run.input(10, 10, &GRID).expect("room");
        let no = Value::bool(false);
        let things = [grid, Value::bool(true), no, Value::bool(true)];
        let things = op("objects").map(|objects| run.call(objects, &things));
        let places = op("asindices").map(|asindices| run.call(asindices, &[grid]));
        let numbers = run.make_tuple(&[1, 2, 1, 3, 2, 0].map(Value::Int));
        let mut values = vec![Value::Int(1), Value::Int(2), grid, no];
        values.extend(places.and_then(Result::ok));
        values.extend(numbers.ok());
        values.extend(things.and_then(Result::ok));
        let mut functions: Vec<_> = FUNCTIONS.iter().filter_map(|name| op(name)).collect();
        for _ in 0..40 {
            let name = match random.below(10) {
                0..5 => random.of(MAKERS),
                5..8 => random.of(LOOPS),
                _ => random.of(OTHERS),
            };
            let Some(Value::Op(id)) = op(name) else {
                continue;
            };
            let mut args = Vec::new();
            for (k, param) in id.op().params.iter().enumerate() {
                let arity = match (name, k) {
                    ("fork" | "lbind" | "rbind", 0) => 2,
                    ("papply" | "prapply" | "mpapply", _) => 2,
                    _ => 1,
                };
                let is_function = param.ty == crate::Type::Callable;
                let pool: Vec<_> = match is_function || random.below(8) == 0 {
                    true => functions
                        .iter()
                        .filter(|f| run.arity(**f) == Ok(arity))
                        .collect(),
                    false => values.iter().collect(),
                };
                // Later values are more interesting.
                let back = random.below(pool.len()).min(random.below(pool.len()));
                args.push(*pool[pool.len() - 1 - back]);
            }
            // Every second loop runs over pairs, so that the function is called with each element
            // repeatedly.
            if let (true, Some(apply), Some(product), Some(compose), Some(part)) = (
                LOOPS.contains(&name) && random.below(2) == 0,
                op("apply"),
                op("product"),
                op("compose"),
                op(random.of(&["first", "last"])),
            ) {
                let few = values[random.below(values.len())];
                let (f, many) = match args[0] {
                    Value::Op(_) | Value::Closure(_) => (args[0], args[1]),
                    _ => (args[1], args[0]),
                };
                let pairs = run.call(product, &[few, many]);
                let f = run.call(compose, &[f, part]);
                if let (Ok(pairs), Ok(f)) = (pairs, f) {
                    let images = run.call(apply, &[f, pairs]);
                    let images = images.and_then(|images| run.to_owned(images));
                    // If the call reached a limit, the next step reports it.
                    if run.check_limits().is_ok() {
                        trace.push(images);
                    }
                }
            }
            let outcome = run.call(Value::Op(id), &args);
            if run.check_limits().is_err() {
                trace.push(Err(Fault::Steps));
                break;
            }
            trace.push(outcome.and_then(|value| run.to_owned(value)));
            match outcome {
                Ok(f @ (Value::Op(_) | Value::Closure(_))) => {
                    // Keeps only functions that work on some value, because most functions fail on
                    // all of them.
                    let mut works = false;
                    for &value in values.iter().take(7) {
                        let one = run.items(value).ok().and_then(|items| items.first());
                        works |= one.is_some_and(|one| run.call1(f, *one).is_ok());
                        works |= run.call1(f, value).is_ok();
                    }
                    if works || run.arity(f) == Ok(2) || random.below(4) == 0 {
                        functions.push(f);
                    }
                }
                Ok(value) => values.push(value),
                Err(_) => {}
            }
        }
        (trace, run.closures, run.fallbacks)
    })
}

#[test]
fn programs_cannot_observe_the_memo() {
    let (mut plain, mut eager) = (without_columns(), without_columns());
    plain.memo().threshold = OFF;
    eager.memo().threshold = EAGER;
    let (mut longest, mut cut) = (0, 0);
    for seed in 0..2000 {
        let dialect = match seed % 3 {
            0 => Dialect::Tokpidjin,
            _ => Dialect::ArcDsl,
        };
        let expected = random_run(&mut plain, seed, dialect);
        let found = random_run(&mut eager, seed, dialect);
        longest = longest.max(expected.0.len());
        let is_cut = |trace: &[Outcome<OwnedValue>]| trace.last() == Some(&Err(Fault::Steps));
        if is_cut(&expected.0) {
            // With the memo the run may get further, or end sooner if nothing recurs.
            let known = (expected.0.len() - 1).min(found.0.len() - is_cut(&found.0) as usize);
            assert_eq!(found.0[..known], expected.0[..known], "seed {seed}");
            cut += 1;
        } else {
            assert_eq!(found, expected, "seed {seed}");
        }
    }
    assert_eq!(plain.memo().recalled, 0);
    let recalled = eager.memo().recalled;
    assert!(
        longest > 20 && recalled > 10_000 && cut < 100,
        "{longest} steps, {recalled} known, {cut} cut short"
    );
}
