//! Loops release the memory of their calls, but keep facts that the calls cached about older
//! values.

use batt_arc::{Grid, Pair};
use batt_dsl::{Fault, Limits, OwnedValue, Workspace};
use batt_engine::{Compiled, EvalOptions, Job, Sample, Values, Verdict, run_job};
use batt_lang::SolverFile;

/// Returns a pair whose input is a grid of 20 by 20 with some structure.
fn pair() -> Pair {
    let cells: Vec<u8> = (0..400).map(|k| (k % 7 + k / 20) as u8 % 10).collect();
    Pair {
        input: Grid::new(20, 20, cells).expect("a grid"),
        output: None,
    }
}

/// Runs a solver with these lines within a memory limit.
fn solve(lines: &str, memory: usize) -> Result<OwnedValue, Fault> {
    let text = format!("def solve_x(I):\n{lines}\n    return O\n");
    let file = SolverFile::parse(&text, "loops.py");
    let program = Compiled::new(&file.programs[0]);
    let pair = pair();
    let job = Job {
        program: &program,
        sample: Sample {
            demos: &[],
            input: &pair.input,
            expected: None,
        },
    };
    let options = EvalOptions {
        limits: Limits {
            memory,
            ..Limits::default()
        },
        values: Values::All,
        ..EvalOptions::default()
    };
    let result = run_job(&mut Workspace::new(), &job, &options);
    match (result.verdict, result.value) {
        (Verdict::Failed(error), _) => Err(error.fault),
        (_, Some(value)) => Ok(value),
        (verdict, None) => panic!("a value was asked for: {verdict:?}"),
    }
}

/// Lines that define the locations of the grid, a function that makes 3 KB for each location and
/// returns a number, and functions built on it.
const LOCATIONS: &str = "
    at = asindices(I)
    paint = lbind(lbind(fill, I), THREE)
    drawn = compose(paint, initset)
    number = chain(size, asobject, drawn)
    colour = rbind(colorcount, THREE)
    count = compose(colour, drawn)
    high = matcher(count, 36)
";

#[test]
fn loops_give_back_the_memory_of_their_calls() {
    for line in [
        "sfilter(at, high)",
        "argmax(at, count)",
        "argmin(at, number)",
        "valmax(at, count)",
        "valmin(at, number)",
        "order(at, count)",
        "extract(at, matcher(count, 35))",
        "apply(count, at)",
        "apply(count, totuple(at))",
        "mfilter(apply(initset, at), chain(high, first, identity))",
    ] {
        let lines = format!("{LOCATIONS}\n    O = {line}");
        let expected = solve(&lines, 64 << 20);
        assert!(expected.is_ok(), "{line}: {expected:?}");
        // All calls together take more than a megabyte.
        assert_eq!(solve(&lines, 200 << 10), expected, "{line}");
    }
}

#[test]
fn facts_about_older_values_stay() {
    // A loop is the first to need facts about older values: the order of `at`, the places of its
    // elements, and the result of `merge` on tuples of sets. Later calls, and code after the loop,
    // use these facts again.
    for line in [
        "combine(apply(compose(first, lbind(combine, at)), apply(initset, at)), at)",
        "totuple(sfilter(apply(compose(rbind(shift, UNITY), initset), at), rbind(compose, at)))",
        "totuple(sfilter(sfilter(at, chain(rbind(contained, at), rbind(add, UNITY), identity)), rbind(contained, at)))",
        "pair(first(apply(lbind(combine, at), apply(initset, at))), totuple(at))",
        "apply(compose(size, rbind(difference, at)), apply(neighbors, at))",
        "apply(chain(size, dedupe, lbind(combine, merge(apply(neighbors, totuple(at))))), apply(totuple, apply(initset, totuple(at))))",
        "apply(compose(first, rbind(order, chain(size, lbind(difference, at), initset))), apply(initset, at))",
    ] {
        let lines = format!("{LOCATIONS}\n    O = {line}");
        let plain = solve(&lines, 1 << 30);
        assert!(plain.is_ok(), "{line}: {plain:?}");
        assert_eq!(solve(&lines, 64 << 20), plain, "{line}");
    }
}

#[test]
fn facts_cached_by_an_inner_loop_end_with_the_outer_iteration() {
    // Each iteration makes a set of 400 locations, and its inner loop makes a lookup table for
    // them.
    let lines = format!(
        "{LOCATIONS}
    moved = lbind(shift, at)
    inside = compose(lbind(rbind, contained), moved)
    inner = compose(size, lbind(sfilter, at))
    O = apply(compose(inner, inside), at)"
    );
    let expected = solve(&lines, 64 << 20);
    assert!(expected.is_ok(), "{expected:?}");
    assert_eq!(solve(&lines, 100 << 10), expected);
}

#[test]
fn kept_values_count_as_memory() {
    // The images themselves stay in memory. `apply` makes a set of 366 grids of 400 cells, one for
    // each cell that is not 3 yet, and some twice.
    let lines = format!("{LOCATIONS}\n    O = size(apply(drawn, at))");
    assert_eq!(solve(&lines, 1 << 20), Ok(OwnedValue::Int(366)));
    assert_eq!(solve(&lines, 100 << 10), Err(Fault::Memory));
}
