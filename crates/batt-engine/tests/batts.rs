//! Properties of all batts: a batt gives the same results as its solvers do one by one, on any
//! number of threads.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use batt_arc::{Grid, Pair, corpus};
use batt_dsl::{Dialect, Fault, Limits, Outcome, OwnedValue, Run, Value, Workspace};
use batt_engine::Cancel;
use batt_engine::{
    BattEntry, BattWorker, Compiled, CompiledBatt, EvalOptions, Goal, Job, MegaOptions, MegaReport,
    Sample, StepCount, Values, Verdict, mega, run_job,
};
use batt_lang::card::{self, CardDonor, CardOptions};
use batt_lang::{Batt, OnError, Program};
use batt_testing::generate::{self, Choices};
use batt_testing::{heavy, programs};
use proptest::collection::vec;
use proptest::prelude::*;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: if heavy() { 50 * cases } else { cases },
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    }
}

const LIMITS: Limits = Limits {
    steps: 200_000,
    size: 20_000,
    memory: 16 << 20,
    time: None,
};

/// Generates some programs of a dialect, a grid to run them on, and a second grid for the
/// demonstration.
fn subject(dialect: Dialect) -> impl Strategy<Value = (Vec<Program>, Grid, Grid)> {
    let grids = vec(any::<u8>(), 0..60);
    let bytes = vec(vec(any::<u8>(), 0..160), 1..9);
    (grids, bytes).prop_map(move |(grids, bytes)| {
        let mut choices = Choices::new(&grids);
        let grid = generate::grid(&mut choices);
        let other = generate::grid(&mut choices);
        let program = |bytes: &Vec<u8>| generate::program_in(dialect, &mut Choices::new(bytes));
        (bytes.iter().map(program).collect(), grid, other)
    })
}

fn merged(programs: &[Program], options: &CardOptions) -> Batt {
    merged_with(programs, &[], options)
}

fn merged_with(programs: &[Program], differs: &[Program], options: &CardOptions) -> Batt {
    let donors: Vec<CardDonor<'_>> = programs
        .iter()
        .enumerate()
        .map(|(k, program)| CardDonor {
            id: k.to_string(),
            program,
            size: None,
            mutated: false,
        })
        .collect();
    card::merge(&donors, differs, options)
        .expect("one dialect")
        .batt
}

/// Runs each solver alone.
fn one_by_one(
    programs: &[Program],
    sample: Sample<'_>,
    limits: Limits,
) -> Vec<Result<OwnedValue, Fault>> {
    let options = EvalOptions {
        limits,
        values: Values::All,
        ..EvalOptions::default()
    };
    let run = |program: &Program| {
        let program = Compiled::new(program);
        let job = Job {
            program: &program,
            sample,
        };
        let result = run_job(&mut Workspace::new(), &job, &options);
        match (result.verdict, result.value) {
            (Verdict::Failed(error), _) => Err(error.fault),
            (_, Some(value)) => Ok(value),
            (verdict, None) => panic!("a value was asked for: {verdict:?}"),
        }
    };
    programs.iter().map(run).collect()
}

/// Runs all solvers in one batt. Returns their outcomes in the order of the solvers.
fn together(batt: &Batt, sample: Sample<'_>, limits: &Limits) -> Vec<Result<OwnedValue, Fault>> {
    let compiled = CompiledBatt::new(batt);
    let mut counts = vec![StepCount::default(); compiled.len()];
    let mut worker = BattWorker::default();
    let outcomes = compiled.run(
        &mut worker,
        &sample,
        Goal::Solve,
        limits,
        &mut counts,
        owned,
    );
    let mut sorted: Vec<_> = batt.outputs.iter().zip(outcomes).collect();
    sorted.sort_by_key(|(output, _)| output.donor.parse::<usize>().expect("a number"));
    sorted.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Returns whether a limit ended the run. Near a limit a batt and its solvers may differ, because
/// the batt caches facts about shared values and simplifies the programs.
fn is_limit(outcome: &Result<OwnedValue, Fault>) -> bool {
    outcome.as_ref().is_err_and(|fault| fault.is_limit())
}

/// Returns whether a value contains a function. `None` and functions hash by their order of
/// creation, which differs in a batt, so the order of sets that contain them may differ.
fn holds_function(value: &OwnedValue) -> bool {
    match value {
        OwnedValue::Function => true,
        OwnedValue::Tuple(items) | OwnedValue::Set(items) => items.iter().any(holds_function),
        _ => false,
    }
}

fn check(dialect: Dialect, programs: &[Program], grid: &Grid, other: &Grid) -> Result<(), String> {
    check_within(dialect, programs, grid, other, LIMITS)?;
    check_within(dialect, programs, grid, other, SMALL)
}

/// Tight limits, which many programs exceed.
const SMALL: Limits = Limits {
    steps: 2_000,
    size: 20_000,
    memory: 8 << 10,
    time: None,
};

fn check_within(
    dialect: Dialect,
    programs: &[Program],
    grid: &Grid,
    other: &Grid,
    limits: Limits,
) -> Result<(), String> {
    let demos = [Pair {
        input: other.clone(),
        output: Some(grid.clone()),
    }];
    let sample = Sample {
        demos: &demos,
        input: grid,
        expected: None,
    };
    let alone = one_by_one(programs, sample, limits);
    let half = Limits {
        steps: limits.steps / 2,
        memory: limits.memory / 2,
        ..limits
    };
    let within_half = one_by_one(programs, sample, half);
    for options in [CardOptions::default(), CardOptions::sharing_only()] {
        let batt = merged(programs, &options);
        let together = together(&batt, sample, &limits);
        for (k, (alone, together)) in alone.iter().zip(together).enumerate() {
            let same = match (alone, &together) {
                (Ok(a), Ok(b)) => a == b || holds_function(a),
                (Err(_), Err(_)) => true,
                _ => is_limit(alone) || (is_limit(&together) && is_limit(&within_half[k])),
            };
            if !same {
                return Err(format!(
                    "{} {options:?}\n{}\non {grid:?}\nalone {alone:?}\ntogether {together:?}\n{}",
                    dialect.name(),
                    programs[k],
                    batt.program,
                ));
            }
        }
    }
    Ok(())
}

/// The entries of a run, with the failing step of each error.
type Details = Vec<Result<OwnedValue, (Fault, Option<u32>)>>;

fn details<'r>(
    run: &mut Run<'r>,
    entry: BattEntry<'r>,
) -> Result<OwnedValue, (Fault, Option<u32>)> {
    let value = entry
        .value
        .map_err(|error| (error.fault, error.step.map(|step| step.0)))?;
    run.to_owned(value).map_err(|fault| (fault, None))
}

/// Checks that solving and comparing in one run gives the same as in two runs, within wide and
/// within tight limits, and that comparisons are scores with another `C`.
fn check_comparisons(batt: &Batt, on_error: OnError, sample: &Sample<'_>) -> Result<(), String> {
    let batt = CompiledBatt::new(batt).on_error(on_error);
    let solved = batt.outputs() + batt.scores();
    let mut worker = BattWorker::default();
    for limits in [LIMITS, SMALL] {
        let [solve, compare, both] = [Goal::Solve, Goal::Compare, Goal::Both].map(|goal| {
            let entries: Details = batt.run(&mut worker, sample, goal, &limits, &mut [], details);
            entries
        });
        if compare != both[solved..] || solve != both[..solved] {
            return Err(format!("{solve:?}\nand {compare:?}\nare not {both:?}"));
        }
        let scores = batt.run_with(
            &mut worker,
            |run| {
                let Sample { demos, input, .. } = sample;
                let demo = [grid_in(run, &demos[0].input)?, grid_in(run, input)?];
                let demo = run.make_tuple(&demo)?;
                let expected = sample.expected.expect("one is given");
                let samples = run.make_tuple(&[demo])?;
                Ok([samples, grid_in(run, input)?, grid_in(run, expected)?])
            },
            &limits,
            &mut [],
            details,
        );
        // If several steps of an entry fail, the first of them may differ, because steps that do
        // not depend on `C` come first.
        let fails_at_limit =
            |entry: &Result<_, (Fault, _)>| matches!(entry, Err((fault, _)) if fault.is_limit());
        for (a, b) in compare.iter().zip(&scores[batt.outputs()..]) {
            let same = a == b || (a.is_err() && b.is_err());
            if !same && !fails_at_limit(a) && !fails_at_limit(b) {
                return Err(format!("{a:?} is not {b:?}"));
            }
        }
    }
    Ok(())
}

fn grid_in<'r>(run: &mut Run<'r>, grid: &Grid) -> Outcome<Value<'r>> {
    run.input(grid.height(), grid.width(), grid.cells())
}

proptest! {
    #![proptest_config(config(300))]

    /// Comparisons of any solvers and differs are right, whether they depend on `C` or not.
    #[test]
    fn comparing_is_solving_with_another_c(
        (programs, grid, other) in subject(Dialect::Tokpidjin),
        differs in 0usize..5,
        defaults in any::<bool>(),
    ) {
        let (differs, donors) = programs.split_at(differs.min(programs.len() - 1));
        let batt = merged_with(donors, differs, &CardOptions::default());
        let demos = [Pair { input: other.clone(), output: Some(grid.clone()) }];
        let sample = Sample { demos: &demos, input: &grid, expected: Some(&other) };
        let on_error = if defaults { OnError::Defaults } else { OnError::Poison };
        let checked = check_comparisons(&batt, on_error, &sample);
        checked.map_err(|text| TestCaseError::fail(format!("{text}\n{}", batt.program)))?;
    }

    /// Sharing, folding, resolving and dropping steps changes no answer and no failure.
    #[test]
    fn a_batt_gives_what_its_solvers_give((programs, grid, other) in subject(Dialect::ArcDsl)) {
        check(Dialect::ArcDsl, &programs, &grid, &other).map_err(TestCaseError::fail)?;
    }

    /// The same holds in tokpidjin, where functions return defaults instead of failing.
    #[test]
    fn a_batt_gives_what_its_solvers_give_in_tokpidjin(
        (programs, grid, other) in subject(Dialect::Tokpidjin),
    ) {
        check(Dialect::Tokpidjin, &programs, &grid, &other).map_err(TestCaseError::fail)?;
    }
}

/// Calls `body` with all solvers of the corpus as one batt, and all samples of the corpus.
fn with_corpus<T>(body: impl FnOnce(&Batt, &[Sample<'_>], &[&str]) -> T) -> T {
    let tasks = corpus::tasks();
    let solvers = programs(corpus::SOLVERS);
    let donors: Vec<CardDonor<'_>> = solvers
        .iter()
        .map(|program| CardDonor {
            id: program.name().trim_start_matches("solve_").to_owned(),
            program,
            size: None,
            mutated: false,
        })
        .collect();
    let differs = card::differs(Dialect::ArcDsl);
    let merged = card::merge(&donors, &differs, &CardOptions::default()).expect("one dialect");
    let mut samples = Vec::new();
    let mut ids = Vec::new();
    for (task, _, pair) in tasks.pairs() {
        samples.push(Sample::new(task, pair));
        ids.push(task.id.as_str());
    }
    body(&merged.batt, &samples, &ids)
}

fn owned<'r>(run: &mut Run<'r>, entry: BattEntry<'r>) -> Result<OwnedValue, Fault> {
    run.to_owned(entry.value.map_err(|error| error.fault)?)
}

type Entries = Vec<Result<OwnedValue, Fault>>;
type Line = (usize, Vec<Verdict>, Entries, Option<Entries>);

fn run_mega(
    batts: &[CompiledBatt],
    samples: &[Sample<'_>],
    from: usize,
    threads: usize,
    batch_size: Option<usize>,
) -> (MegaReport, Vec<Line>) {
    let options = MegaOptions {
        limits: LIMITS,
        threads: NonZeroUsize::new(threads),
        batch_size: batch_size.and_then(NonZeroUsize::new),
        compare: true,
        ..MegaOptions::default()
    };
    let mut lines = Vec::new();
    let stop = Cancel::new();
    let report = mega(
        batts,
        samples,
        from,
        &options,
        &stop,
        |_, run, entry| owned(run, entry),
        |at, result| lines.push((at, result.verdicts, result.solved, result.compared)),
    );
    (report, lines)
}

#[test]
fn the_corpus_as_one_batt_still_solves_itself() {
    with_corpus(|batt, samples, ids| {
        let batts = [CompiledBatt::new(batt)];
        let (report, lines) = run_mega(&batts, samples, 0, 2, None);
        assert_eq!(report.runs, samples.len());
        for (at, verdicts, _, compared) in &lines {
            let own = batt.outputs.iter().position(|o| o.donor == ids[*at]);
            let own = own.expect("every task has a solver");
            assert_eq!(verdicts[own], Verdict::Right, "{}", ids[*at]);
            let compared = compared.as_ref().map(Vec::len);
            // The solver is right on its own task, so the differs compare.
            assert_eq!(compared, Some(batt.scores.len()));
        }
        // Most solvers fail on most inputs of other tasks, with various faults.
        assert!(report.faults.iter().map(|(_, n)| n).sum::<u64>() > 1000);
        assert_eq!(report.steps[0].len(), batt.program.steps().len());
        assert!(report.steps[0].iter().all(|s| s.executed >= s.failed));
    });
}

#[test]
fn threads_and_batches_change_nothing() {
    with_corpus(|batt, samples, _| {
        let batts = [
            CompiledBatt::new(batt),
            CompiledBatt::new(batt).on_error(OnError::Defaults),
        ];
        let samples = &samples[..40];
        let (report, lines) = run_mega(&batts, samples, 0, 1, Some(1));
        assert_eq!(lines.len(), 2 * samples.len());
        assert!(lines.iter().enumerate().all(|(k, line)| line.0 == k));
        for threads in [1, 2, 5] {
            for batch_size in [Some(1), Some(7), None] {
                let (other, others) = run_mega(&batts, samples, 0, threads, batch_size);
                assert!(
                    others == lines,
                    "{threads} threads, {batch_size:?} in a batch"
                );
                assert_eq!(other.steps, report.steps);
                assert_eq!((other.right, other.values), (report.right, report.values));
                assert_eq!(other.faults, report.faults);
            }
        }
        // A run from the middle of the dataset gives the remaining results.
        let (_, rest) = run_mega(&batts, samples, 33, 2, None);
        assert!(rest == lines[33..]);
    });
}

#[test]
fn a_cancelled_mega_batch_delivers_a_prefix() {
    with_corpus(|batt, samples, _| {
        let batts = [CompiledBatt::new(batt)];
        let (_, lines) = run_mega(&batts, samples, 0, 2, None);
        let stop = Cancel::new();
        let mut delivered = Vec::new();
        let options = MegaOptions {
            limits: LIMITS,
            ..MegaOptions::default()
        };
        let report = mega(
            &batts,
            samples,
            0,
            &options,
            &stop,
            |_, run, entry| owned(run, entry),
            |at, result| {
                delivered.push(result.solved);
                if at == 20 {
                    stop.cancel();
                }
            },
        );
        assert_eq!(report.runs, delivered.len());
        assert!((21..=lines.len()).contains(&delivered.len()));
        assert!(delivered.iter().zip(&lines).all(|(a, b)| *a == b.2));
    });
}

/// A solver that fails and one that never ends do not disturb a third one.
#[test]
fn faults_stay_where_they_happen() {
    let solvers = programs(
        "def solve_0(I):\n    x1 = first(ONE)\n    O = hmirror(I)\n    return O\n\n\
         def solve_1(I):\n    x1 = interval(ZERO, 4000, ONE)\n    x2 = product(x1, x1)\n    O = size(x2)\n    return O\n\n\
         def solve_2(I):\n    x1 = hmirror(I)\n    O = vmirror(x1)\n    return O\n",
    );
    let batt = merged(&solvers, &CardOptions::default());
    let grid = Grid::from_rows(&[[1, 2], [3, 4]]).expect("a grid");
    let sample = Sample {
        demos: &[],
        input: &grid,
        expected: None,
    };
    let outcomes = together(&batt, sample, &LIMITS);
    // Another solver shares a step of this one, but the failing step is its own.
    assert_eq!(outcomes[0], Err(Fault::Type));
    assert!(is_limit(&outcomes[1]), "{:?}", outcomes[1]);
    let turned = OwnedValue::grid([&[4, 3][..], &[2, 1]]);
    assert_eq!(outcomes[2], Ok(turned));
}

/// The clock is the last limit, and it stops a run. `crement` is not among the primitives that
/// handle all elements at once, so the run is slow.
#[test]
fn the_clock_stops_a_run() {
    let solvers = programs(
        "def solve_0(I):\n    x1 = interval(ONE, 3000, ONE)\n    \
         x3 = power(crement, 500)\n    x4 = apply(x3, x1)\n    x5 = apply(x3, x4)\n    \
         x6 = apply(x3, x5)\n    x7 = apply(x3, x6)\n    O = apply(x3, x7)\n    return O\n",
    );
    let batt = CompiledBatt::new(&merged(&solvers, &CardOptions::default()));
    let grid = Grid::from_rows(&[[1]]).expect("a grid");
    let sample = Sample {
        demos: &[],
        input: &grid,
        expected: None,
    };
    let run = |time| {
        let limits = Limits {
            steps: u64::MAX,
            time: Some(time),
            ..Limits::default()
        };
        let mut counts = vec![StepCount::default(); batt.len()];
        let started = Instant::now();
        let outcome = batt.run(
            &mut BattWorker::default(),
            &sample,
            Goal::Solve,
            &limits,
            &mut counts,
            |_, entry| entry.value.map(|_| ()).map_err(|error| error.fault),
        );
        (outcome[0], started.elapsed())
    };
    let (outcome, whole) = run(Duration::from_secs(3600));
    assert_eq!(outcome, Ok(()));
    let (outcome, cut) = run(whole / 10);
    assert_eq!(outcome, Err(Fault::Time));
    assert!(cut < whole, "{cut:?} instead of {whole:?}");
}

/// Each of many solvers in a batt can use nearly all of its limits.
#[test]
fn each_solver_has_the_limits_for_itself() {
    let text: String = (0..40)
        .map(|k| {
            format!(
                "def solve_{k}(I):\n    x1 = canvas({}, (90, 90))\n    x2 = asobject(x1)\n    \
                 x3 = shift(x2, ({k}, 0))\n    O = size(x3)\n    return O\n\n",
                k % 2
            )
        })
        .collect();
    let solvers = programs(&text);
    let grid = Grid::from_rows(&[[1]]).expect("a grid");
    let sample = Sample {
        demos: &[],
        input: &grid,
        expected: None,
    };
    let batt = merged(&solvers, &CardOptions::sharing_only());
    let within = |memory| {
        let limits = Limits {
            memory,
            ..Limits::default()
        };
        (
            one_by_one(&solvers, sample, limits),
            together(&batt, sample, &limits),
        )
    };
    // A canvas has 8,100 cells of 8 bytes, and the second step needs the same again.
    let (alone, both) = within(145_000);
    assert!(
        alone
            .iter()
            .all(|outcome| *outcome == Ok(OwnedValue::Int(8100)))
    );
    assert_eq!(alone, both);
    let (alone, both) = within(100_000);
    assert!(alone.iter().all(|outcome| *outcome == Err(Fault::Memory)));
    assert_eq!(alone, both);
}
