//! The embedded puzzles: every solver solves its task, and together they use the whole language.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use batt_arc::{Dataset, corpus};
use batt_dsl::{ConstId, Dialect, Limits, OpId, OwnedValue};
use batt_engine::Cancel;
use batt_engine::{Compiled, EvalOptions, Job, JobResult, Sample, Values, Verdict, evaluate};
use batt_lang::Operand;
use batt_testing::{programs, programs_in};

/// Calls `body` with a job for each solver and each pair of its task.
fn with_jobs<T>(body: impl FnOnce(&Dataset, &[Job<'_>]) -> T) -> T {
    with_jobs_in(Dialect::ArcDsl, body)
}

fn with_jobs_in<T>(dialect: Dialect, body: impl FnOnce(&Dataset, &[Job<'_>]) -> T) -> T {
    let tasks = corpus::tasks();
    let solvers: Vec<(String, Compiled)> = programs_in(dialect, corpus::SOLVERS)
        .iter()
        .map(|p| (p.name().to_owned(), Compiled::new(p)))
        .collect();
    let mut jobs = Vec::new();
    for (task, _, pair) in tasks.pairs() {
        let name = format!("solve_{}", task.id);
        let (_, program) = solvers
            .iter()
            .find(|(n, _)| *n == name)
            .expect("every task has a solver");
        jobs.push(Job {
            program,
            sample: Sample::new(task, pair),
        });
    }
    body(&tasks, &jobs)
}

fn results(jobs: &[Job<'_>], options: &EvalOptions) -> Vec<JobResult> {
    let mut results = Vec::new();
    let report = evaluate(jobs, options, &Cancel::new(), |k, result| {
        assert_eq!(k, results.len(), "results come in the order of the jobs");
        results.push(result);
    });
    let delivered = report.runs;
    assert_eq!((delivered, results.len()), (jobs.len(), jobs.len()));
    results
}

#[test]
fn every_solver_solves_every_pair() {
    for dialect in [Dialect::ArcDsl, Dialect::ReArc] {
        with_jobs_in(dialect, |tasks, jobs| {
            let results = results(jobs, &EvalOptions::default());
            for ((task, name, _), result) in tasks.pairs().zip(&results) {
                assert_eq!(
                    result.verdict,
                    Verdict::Right,
                    "{} {name} ({})",
                    task.id,
                    dialect.name()
                );
            }
        });
    }
}

#[test]
fn together_they_use_every_primitive_and_constant() {
    let mut ops: BTreeSet<OpId> = OpId::all().collect();
    let mut constants: BTreeSet<ConstId> = ConstId::all().collect();
    for program in programs(corpus::SOLVERS) {
        for operand in program.operands() {
            match operand {
                Operand::Op(id) => _ = ops.remove(id),
                Operand::Const(id) => _ = constants.remove(id),
                _ => {}
            }
        }
    }
    assert!(ops.is_empty(), "not used: {ops:?}");
    assert!(constants.is_empty(), "not used: {constants:?}");
}

/// Returns results without their times.
fn without_times(results: Vec<JobResult>) -> Vec<(Verdict, Option<OwnedValue>)> {
    results.into_iter().map(|r| (r.verdict, r.value)).collect()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    // The second limits are tight, so some runs fail.
    let limits = [
        Limits::default(),
        Limits {
            steps: 400,
            size: 60,
            memory: 8 << 10,
            time: None,
        },
    ];
    with_jobs(|_, jobs| {
        for limits in limits {
            let with = |threads: Option<usize>, values| {
                let threads = threads.and_then(NonZeroUsize::new);
                without_times(results(
                    jobs,
                    &EvalOptions {
                        threads,
                        limits,
                        values,
                        ..EvalOptions::default()
                    },
                ))
            };
            let one = with(Some(1), Values::All);
            for threads in [Some(2), Some(7), None] {
                assert_eq!(with(threads, Values::All), one, "{threads:?} threads");
            }
            let verdicts = with(Some(2), Values::None);
            for ((verdict, value), (expected, _)) in verdicts.iter().zip(&one) {
                assert_eq!(value, &None);
                // Copying a value out can reach the limit on its size.
                if !matches!(expected, Verdict::Failed(_)) {
                    assert_eq!(verdict, expected);
                }
            }
        }
    });
}

#[test]
fn values_are_kept_as_asked() {
    with_jobs(|tasks, jobs| {
        let jobs = &jobs[..8];
        let wrong: Vec<Job<'_>> = jobs
            .iter()
            .map(|job| Job {
                sample: Sample {
                    expected: Some(job.sample.input),
                    ..job.sample
                },
                ..*job
            })
            .collect();
        let kept = |jobs: &[Job<'_>], values| {
            let results = results(
                jobs,
                &EvalOptions {
                    values,
                    ..EvalOptions::default()
                },
            );
            results.iter().filter(|r| r.value.is_some()).count()
        };
        assert_eq!(kept(jobs, Values::None), 0);
        assert_eq!(kept(jobs, Values::Wrong), 0);
        assert_eq!(kept(jobs, Values::All), 8);
        assert_eq!(kept(&wrong, Values::Wrong), 8);
        let all = results(
            jobs,
            &EvalOptions {
                values: Values::All,
                ..EvalOptions::default()
            },
        );
        for ((_, _, pair), result) in tasks.pairs().zip(&all) {
            let output = pair.output.as_ref().expect("corpus tasks are complete");
            assert_eq!(result.value, Some(OwnedValue::grid(output.rows())));
        }
    });
}

#[test]
fn a_cancelled_evaluation_delivers_a_prefix() {
    with_jobs(|_, jobs| {
        let many: Vec<Job<'_>> = jobs.iter().copied().cycle().take(20_000).collect();
        let stop = Cancel::new();
        let mut seen = 0;
        let report = evaluate(&many, &EvalOptions::default(), &stop, |k, result| {
            assert_eq!((k, result.verdict), (seen, Verdict::Right));
            seen += 1;
            if seen >= 100 {
                stop.cancel();
            }
        });
        let delivered = report.runs;
        assert_eq!(delivered, seen);
        assert!((100..many.len()).contains(&delivered), "{delivered}");
    });
}

#[test]
fn no_jobs_give_no_results() {
    assert!(results(&[], &EvalOptions::default()).is_empty());
}

#[test]
fn verdicts_say_what_is_wrong() {
    let programs = programs(
        "def same(I):\n    return I\n\
         def pair(I):\n    return astuple(I, I)\n\
         def bools(I):\n    return apply(rbind(apply, identity), I)\n\
         def truth(I):\n    return ((T, F), (F, T))\n",
    );
    let grid = |rows: &[[u8; 2]]| batt_arc::Grid::from_rows(rows).expect("a grid");
    let input = grid(&[[1, 0], [0, 1]]);
    let judged = |k: usize, expected: Option<&batt_arc::Grid>| {
        let program = Compiled::new(&programs[k]);
        let job = Job {
            program: &program,
            sample: Sample {
                demos: &[],
                input: &input,
                expected,
            },
        };
        results(&[job], &EvalOptions::default()).remove(0).verdict
    };
    assert_eq!(judged(0, Some(&input)), Verdict::Right);
    assert_eq!(
        judged(0, Some(&grid(&[[1, 1], [0, 2]]))),
        Verdict::WrongCells(2)
    );
    assert_eq!(judged(0, Some(&grid(&[[1, 1]]))), Verdict::WrongShape(2, 2));
    assert_eq!(judged(0, None), Verdict::Unknown);
    assert_eq!(judged(1, Some(&input)), Verdict::NotAGrid);
    assert!(matches!(judged(2, Some(&input)), Verdict::Failed(_)));
    // In Python True == 1, so this is the right answer.
    assert_eq!(judged(3, Some(&input)), Verdict::Right);
}
