//! Diverging lanes (`device/alone.cuh`): if single lanes call functions that have no lane bodies,
//! many elements have the same values as on the CPU, in any order of lanes.
//!
//! Two checks show that single lanes made the calls. The emulator finds a fault planted in
//! `call_alone`. And the calls of a primitive are counted: a call that a lane gives up is repeated
//! in turn, so there are more calls than with one lane.

use std::num::NonZeroUsize;

use batt_arc::Grid;
use batt_dsl::{Dialect, Limits, OwnedValue, Workspace};
use batt_emulated::{Emulated, LaneFault, LaneOrder, PlantedFault};
use batt_engine::device::{
    Device, DeviceEntry, DeviceError, Inputs, JobAt, JobParam, LaunchSettings, Launcher, Programs,
    Shapes, entries, wire,
};
use batt_engine::{Compiled, RunError, Sample};
use batt_lang::SolverFile;

/// How the number of calls by lanes compares with one lane.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Expect {
    /// Each call is made once.
    Kept,
    /// Some lanes give up their calls, which are repeated in turn.
    Again,
    /// Lanes make calls for elements that a loop in turn would not reach.
    Ahead,
}
use Expect::*;

/// A case: the expected number of calls, the counted primitive, and the call that the program
/// makes.
type Case = (Expect, &'static str, &'static str);

/// Values that lanes make are kept: sets with and without slots, tuples, grids, rows from the
/// middle of grids, and values with parts that are older than the call.
const VALUES: &[Case] = &[
    (Kept, "toindices", "apply(toindices, OBJECTS)"),
    (Kept, "toindices", "apply(toindices, TUPLE)"),
    (Kept, "toindices", "merge(apply(toindices, OBJECTS))"),
    (Kept, "toindices", "size(merge(apply(toindices, OBJECTS)))"),
    (
        Kept,
        "toindices",
        "apply(toindices, apply(toindices, TUPLE))",
    ),
    (
        Kept,
        "normalize",
        "combine(first(apply(normalize, TUPLE)), last(apply(normalize, TUPLE)))",
    ),
    // The first launch stops at an object whose order is missing; every diverging lane reaches one.
    (Ahead, "totuple", "apply(totuple, TUPLE)"),
    (Kept, "subgrid", "apply(rbind(subgrid, I), TUPLE)"),
    (Kept, "subgrid", "apply(rbind(subgrid, I), OBJECTS)"),
    (
        Kept,
        "subgrid",
        "apply(compose(first, rbind(subgrid, I)), TUPLE)",
    ),
    (
        Kept,
        "subgrid",
        "apply(compose(last, rbind(subgrid, I)), TUPLE)",
    ),
    (Kept, "crop", "apply(lbind(lbind(crop, I), (1, 1)), PLACES)"),
    (
        Kept,
        "crop",
        "apply(compose(last, lbind(lbind(crop, I), (1, 1))), apply(increment, PLACES))",
    ),
    (
        Kept,
        "canvas",
        "apply(lbind(canvas, THREE), totuple(asindices(I)))",
    ),
    (Kept, "initset", "apply(initset, OBJECTS)"),
    (Kept, "insert", "apply(rbind(insert, initset(I)), TUPLE)"),
    (Kept, "repeat", "apply(rbind(repeat, THREE), TUPLE)"),
    (Kept, "neighbors", "mapply(neighbors, asindices(I))"),
    (Kept, "neighbors", "apply(neighbors, asindices(I))"),
    (
        Kept,
        "repeat",
        "apply(lbind(repeat, ONE), interval(ZERO, 60, ONE))",
    ),
    (
        Kept,
        "divide",
        "apply(rbind(divide, THREE), interval(ZERO, 60, ONE))",
    ),
    // The number of elements is close to the number of lanes.
    (
        Kept,
        "divide",
        "apply(rbind(divide, THREE), interval(ZERO, EIGHT, ONE))",
    ),
    (
        Kept,
        "divide",
        "apply(rbind(divide, THREE), interval(ZERO, 31, ONE))",
    ),
    (
        Kept,
        "divide",
        "apply(rbind(divide, THREE), interval(ZERO, 32, ONE))",
    ),
    (
        Kept,
        "divide",
        "apply(rbind(divide, THREE), interval(ZERO, 33, ONE))",
    ),
    (
        Kept,
        "divide",
        "apply(rbind(divide, THREE), interval(ZERO, 40, ONE))",
    ),
];

const TESTS: &[Case] = &[
    (
        Kept,
        "toindices",
        "sfilter(OBJECTS, chain(even, size, toindices))",
    ),
    (
        Kept,
        "toindices",
        "sfilter(TUPLE, chain(even, size, toindices))",
    ),
    (
        Kept,
        "toindices",
        "mfilter(OBJECTS, chain(even, size, toindices))",
    ),
    (
        Kept,
        "normalize",
        "sfilter(TUPLE, matcher(normalize, normalize(last(TUPLE))))",
    ),
    (Kept, "normalize", "argmax(TUPLE, compose(size, normalize))"),
    (Kept, "normalize", "order(TUPLE, compose(size, normalize))"),
    (
        Ahead,
        "divide",
        "extract(interval(ZERO, 60, ONE), matcher(rbind(divide, SEVEN), SIX))",
    ),
    (
        Ahead,
        "divide",
        "extract(interval(ZERO, 60, ONE), matcher(rbind(divide, SEVEN), ZERO))",
    ),
    (
        Ahead,
        "divide",
        "extract(interval(ZERO, 60, ONE), matcher(rbind(divide, SEVEN), TEN))",
    ),
    (
        Ahead,
        "toindices",
        "extract(OBJECTS, matcher(compose(size, toindices), size(last(TUPLE))))",
    ),
];

const TWO_ARGUMENTS: &[Case] = &[
    (
        Kept,
        "connect",
        "papply(connect, PLACES, order(PLACES, invert))",
    ),
    (
        Kept,
        "connect",
        "mpapply(connect, PLACES, order(PLACES, invert))",
    ),
    (
        Kept,
        "connect",
        "papply(connect, PLACES, interval(ZERO, ZERO, ONE))",
    ),
    (
        Kept,
        "connect",
        "prapply(connect, corners(asindices(I)), asindices(I))",
    ),
    (
        Kept,
        "connect",
        "prapply(connect, asindices(I), corners(asindices(I)))",
    ),
    (
        Kept,
        "connect",
        "size(prapply(connect, asindices(I), corners(asindices(I))))",
    ),
    (Ahead, "pair", "papply(pair, TUPLE, TUPLE)"),
];

/// Faults in the middle of a function, and in its last call.
const FAULTS: &[Case] = &[
    (
        Ahead,
        "divide",
        "apply(compose(lbind(divide, TEN), lbind(subtract, 37)), interval(ZERO, 60, ONE))",
    ),
    (
        Ahead,
        "divide",
        "apply(compose(lbind(divide, TEN), lbind(subtract, 58)), interval(ZERO, 60, ONE))",
    ),
    (
        Ahead,
        "repeat",
        "apply(chain(first, lbind(repeat, ONE), lbind(subtract, 37)), interval(ZERO, 60, ONE))",
    ),
    (
        Ahead,
        "repeat",
        "sfilter(interval(ZERO, 60, ONE), chain(first, lbind(repeat, ONE), lbind(subtract, 37)))",
    ),
    (
        Ahead,
        "repeat",
        "extract(interval(ZERO, 60, ONE), chain(first, lbind(repeat, ZERO), lbind(subtract, 37)))",
    ),
    (
        Ahead,
        "divide",
        "papply(divide, interval(ZERO, 60, ONE), interval(-40, 20, ONE))",
    ),
    (
        Ahead,
        "divide",
        "prapply(divide, interval(ZERO, 10, ONE), interval(-4, 20, ONE))",
    ),
    // All elements of a set fail in the same way, or some of them fail.
    (Kept, "repeat", "apply(rbind(repeat, I), asindices(I))"),
    (
        Kept,
        "divide",
        "apply(fork(divide, first, last), asindices(I))",
    ),
    // After a fault, no further functions are created.
    (
        Ahead,
        "lbind",
        "apply(fork(divide, size, rbind(lbind, ONE)), TUPLE)",
    ),
];

/// Calls that create numbered functions, or that run out of room, are made in turn.
const IN_TURN: &[Case] = &[
    (
        Again,
        "lbind",
        "rapply(apply(lbind(lbind, add), interval(ZERO, 20, ONE)), ONE)",
    ),
    (
        Again,
        "lbind",
        "size(dedupe(apply(lbind(lbind, add), interval(ZERO, 20, ONE))))",
    ),
    (
        Again,
        "lbind",
        "size(apply(rbind(repeat, TWO), apply(lbind(lbind, add), interval(ZERO, 20, ONE))))",
    ),
    // Functions that are dropped again are no obstacle.
    (
        Kept,
        "lbind",
        "apply(compose(rbind(apply, (1, 2, 3)), lbind(lbind, add)), interval(ZERO, 20, ONE))",
    ),
    (
        Again,
        "upscale",
        "apply(lbind(upscale, I), interval(ONE, 20, ONE))",
    ),
    (
        Again,
        "upscale",
        "apply(compose(size, lbind(upscale, I)), interval(ONE, 20, ONE))",
    ),
];

/// A lane passes inner loops with many elements on to all lanes, but runs those with up to 31
/// elements itself.
const NESTED: &[Case] = &[
    (
        Again,
        "shift",
        "apply(chain(size, rbind(sfilter, chain(even, size, neighbors)), lbind(shift, asindices(I))), apply(rbind(astuple, ONE), interval(ONE, 20, ONE)))",
    ),
    (
        Again,
        "repeat",
        "apply(compose(lbind(apply, rbind(divide, TWO)), rbind(repeat, 32)), interval(ZERO, 40, ONE))",
    ),
    (
        Kept,
        "repeat",
        "apply(compose(lbind(apply, rbind(divide, TWO)), rbind(repeat, 31)), interval(ZERO, 40, ONE))",
    ),
    (
        Again,
        "ofcolor",
        "mapply(compose(merge, fork(lbind(prapply, connect), lbind(ofcolor, I), lbind(ofcolor, I))), palette(I))",
    ),
    (
        Again,
        "repeat",
        "apply(compose(rbind(extract, matcher(rbind(divide, TWO), ZERO)), rbind(repeat, 40)), repeat(ONE, 20))",
    ),
    (
        Kept,
        "partition",
        "apply(compose(lbind(mapply, toindices), partition), apply(rbind(subgrid, I), TUPLE))",
    ),
    (
        Kept,
        "partition",
        "apply(compose(lbind(apply, toindices), partition), apply(rbind(subgrid, I), TUPLE))",
    ),
    (
        Kept,
        "neighbors",
        "apply(compose(lbind(mapply, neighbors), toindices), TUPLE)",
    ),
    (
        Kept,
        "neighbors",
        "apply(chain(rbind(sfilter, chain(even, size, neighbors)), toindices, identity), TUPLE)",
    ),
    (
        Kept,
        "asindices",
        "apply(compose(lbind(apply, lbind(apply, increment)), asindices), apply(rbind(subgrid, I), TUPLE))",
    ),
];

/// Tokpidjin has NaNs, each of which is a distinct object.
const NANS: &[Case] = &[
    (
        Again,
        "combine_t",
        "size(dedupe(apply_t(lbind(combine_t, FAR), repeat(BELOW, 20))))",
    ),
    (
        Again,
        "combine_t",
        "size(dedupe(apply_t(compose(rbind(repeat, TWO), lbind(combine_t, FAR)), repeat(BELOW, 20))))",
    ),
];

/// Names for values that many cases use. None of them needs a set order that the first launch
/// lacks.
const NAMES: [(&str, &str); 5] = [
    ("OBJECTS", "objects(I, T, F, F)"),
    ("TUPLE", "order(objects(I, T, F, F), ulcorner)"),
    (
        "PLACES",
        "apply(fork(astuple, rbind(divide, TEN), decrement), interval(ZERO, 60, ONE))",
    ),
    ("FAR", "manhattan((), ())"),
    ("BELOW", "index(I, (99, 99))"),
];

/// Returns the text of a program that makes a call.
fn program_of(call: &str) -> String {
    let used = NAMES.iter().filter(|(name, _)| call.contains(name));
    let made: String = used
        .map(|(name, made)| format!("    {name} = {made}\n"))
        .collect();
    format!("def f(I):\n{made}    O = {call}\n    return O\n")
}

/// Returns a grid with many small objects.
fn grid() -> Grid {
    let row = |i: u8| {
        (0..10)
            .map(|j: u8| (i / 2 * 7 + j * 3 + i * (j / 2)) % 10)
            .collect()
    };
    let rows: Vec<Vec<u8>> = (0..10).map(row).collect();
    Grid::from_rows(&rows).expect("a grid")
}

fn on_cpu(program: &Compiled, grid: &Grid) -> Result<OwnedValue, RunError> {
    Workspace::new().run(program.dialect(), &Limits::default(), |run| {
        let fault = |fault| RunError { fault, step: None };
        let input = run.input(grid.height(), grid.width(), grid.cells());
        let value = program.execute(run, &[input.map_err(fault)?])?;
        run.to_owned(value).map_err(fault)
    })
}

/// The outcome of a program, the number of calls of a primitive, and the number of launches.
type DeviceRun = (Result<OwnedValue, RunError>, u64, usize);

fn on_device(
    device: &mut dyn Device,
    program: &Compiled,
    op: &str,
) -> Result<DeviceRun, DeviceError> {
    let grid = grid();
    let sample = Sample {
        demos: &[],
        input: &grid,
        expected: None,
    };
    let mut programs = Programs::new();
    let place = programs.push_program(program).expect("a program");
    let mut inputs = Inputs::new();
    let mut shapes = Shapes::default();
    let input = shapes.add(&[JobParam::Input]);
    let at = inputs.push_samples(&[sample], &shapes)[0];
    let settings = LaunchSettings {
        fuel: 100_000,
        ops: true,
        ..LaunchSettings::default()
    };
    let jobs = [JobAt::new(place, at.params(input))];
    let mut launcher = Launcher::new(settings, 1);
    let done = launcher.run(device, &programs, &inputs, &jobs)?;
    if let Some(error) = &done.error {
        return Err(DeviceError::Launch(error.to_string()));
    }
    let finished = done
        .job(0)
        .unwrap_or_else(|reason| panic!("left: {reason}"));
    let entry = &entries(finished.words, 1, true).expect("an entry").0[0];
    let value = match entry {
        DeviceEntry::Value { at, .. } => {
            let at = at.expect("a launch for full values");
            let value = wire::decode_owned(finished.words, at, program.dialect());
            Ok(value.expect("a value").0)
        }
        DeviceEntry::Failed(error) => Err(*error),
        entry => panic!("{entry:?}"),
    };
    let number = program.dialect().op(op).expect("a primitive").index();
    let calls = done.counters()[2 * number];
    Ok((value, calls, done.times().launches as usize))
}

/// Checks a case in every order of lanes.
fn check(dialect: Dialect, case: &Case) {
    let (expect, op, call) = *case;
    let file = SolverFile::parse_in(&program_of(call), "test.py", Some(dialect));
    assert!(file.is_clean(), "{call}: {:?}", file.diagnostics);
    let program = Compiled::new(&file.programs[0]);
    let expected = on_cpu(&program, &grid());
    let one_lane = &mut Emulated::new(NonZeroUsize::MIN);
    let (value, in_turn, launches) = on_device(one_lane, &program, op).expect("a launch");
    assert_eq!(value, expected, "{call}, one lane");
    for order in [LaneOrder::Up, LaneOrder::Down, LaneOrder::Shuffled(7)] {
        let Some(mut warp) = Emulated::warp(order) else {
            println!("skipped: lanes are switched on Linux on x86-64 alone");
            return;
        };
        let (value, calls, again) = on_device(&mut warp, &program, op).expect("a launch");
        assert_eq!(value, expected, "{call}, {order:?}");
        assert_eq!(again, launches, "{call}, {order:?}");
        match expect {
            Kept => assert_eq!(calls, in_turn, "{call}, {order:?}"),
            Again => assert!(calls > in_turn, "{call}, {order:?}: {calls}"),
            Ahead => assert!(calls >= in_turn, "{call}, {order:?}: {calls}"),
        }
    }
    // Cases without elements make no calls, so a planted fault has no effect.
    if in_turn == 0 {
        return;
    }
    let planted = PlantedFault {
        function: c"call_alone",
        lanes: 1 << 5,
        what: LaneFault::SpendFuel,
    };
    let warp = Emulated::warp(LaneOrder::Up).map(|warp| warp.with(planted));
    let error = on_device(&mut warp.expect("a warp"), &program, op).expect_err(call);
    let error = error.to_string();
    assert!(error.contains("(call_alone)"), "{call}: {error}");
}

fn check_all(cases: &[Case]) {
    for case in cases {
        check(Dialect::ArcDsl, case);
    }
}

#[test]
fn values_are_kept() {
    check_all(VALUES);
}

#[test]
fn elements_are_chosen() {
    check_all(TESTS);
}

#[test]
fn functions_of_two_arguments() {
    check_all(TWO_ARGUMENTS);
}

#[test]
fn the_fault_is_that_of_the_first_failing_element() {
    check_all(FAULTS);
}

#[test]
fn calls_that_single_lanes_cannot_make_are_made_in_turn() {
    check_all(IN_TURN);
}

#[test]
fn maps_inside_of_maps() {
    check_all(NESTED);
}

#[test]
fn nans_are_distinct_objects() {
    for case in NANS {
        check(Dialect::Tokpidjin, case);
    }
}
