//! Devices do not change the results of solvers: values, verdicts and hashes.

use std::num::NonZeroUsize;

use batt_arc::corpus;
use batt_dsl::{Dialect, Limits, OwnedValue};
use batt_emulated::Emulated;
use batt_engine::Cancel;
use batt_engine::device::{Device, DeviceOptions, DeviceReport, ScoreOptions, score_table};
use batt_engine::{Compiled, EvalOptions, Job, Judged, Sample, Values, Verdict, evaluate_on};
use batt_lang::SolverFile;

/// Solvers in addition to the corpus, with parameters in any order and with an unknown parameter.
const MORE: &str = "
def odd_one(C, I):
    x1 = equality(C, I)
    return (x1, I)

def needs_more(a, b):
    return a

def nothing(I):
    return ()
";

fn with_corpus<T>(body: impl FnOnce(&[Compiled], &[Sample<'_>]) -> T) -> T {
    let mut programs = Vec::new();
    for text in [corpus::SOLVERS, MORE] {
        let file = SolverFile::parse_in(text, "solvers.py", Some(Dialect::ArcDsl));
        assert!(file.is_clean(), "{:?}", file.diagnostics);
        programs.extend(file.programs.iter().map(Compiled::new));
    }
    let tasks = corpus::tasks();
    let pairs = tasks.pairs().step_by(7);
    let mut samples: Vec<Sample<'_>> = pairs
        .map(|(task, _, pair)| Sample::new(task, pair))
        .collect();
    for sample in samples.iter_mut().step_by(5) {
        sample.expected = None;
    }
    body(&programs, &samples)
}

fn devices(count: usize) -> Vec<Box<dyn Device>> {
    let device = || -> Box<dyn Device> { Box::new(Emulated::default()) };
    (0..count).map(|_| device()).collect()
}

fn device(chunk: usize, verify: f64) -> DeviceOptions {
    DeviceOptions {
        chunk: NonZeroUsize::new(chunk),
        verify,
        ..DeviceOptions::default()
    }
}

type Evaluated = (Verdict, Option<OwnedValue>);

fn run(
    count: usize,
    values: Values,
    chunk: usize,
    verify: f64,
) -> (Vec<Evaluated>, Option<DeviceReport>) {
    with_corpus(|programs, samples| {
        // The order of the jobs differs from the order in which devices get programs.
        let jobs: Vec<Job<'_>> = samples
            .iter()
            .flat_map(|sample| {
                programs.iter().map(|program| Job {
                    program,
                    sample: *sample,
                })
            })
            .collect();
        let options = EvalOptions {
            values,
            device: device(chunk, verify),
            ..EvalOptions::default()
        };
        let mut told = Vec::new();
        let stop = Cancel::new();
        let report = evaluate_on(&mut devices(count), &jobs, &options, &stop, |at, result| {
            assert_eq!(at, told.len());
            told.push((result.verdict, result.value));
        });
        assert_eq!(report.runs, jobs.len());
        (told, report.device)
    })
}

#[test]
fn evaluating_with_devices_changes_nothing() {
    for values in [Values::All, Values::Wrong, Values::None] {
        let (expected, report) = run(0, values, 0, 0.0);
        assert!(report.is_none());
        for (count, chunk, verify) in [(1, 0, 0.0), (2, 100, 0.0), (1, 333, 1.0)] {
            let (told, report) = run(count, values, chunk, verify);
            assert!(told == expected, "{count} devices, chunks of {chunk}");
            let report = report.expect("devices were used");
            assert_eq!(report.runs.total() as usize, told.len());
            let finished = report.runs.finished();
            assert!(finished > 0);
            assert_eq!(report.verified, if verify > 0.0 { finished } else { 0 });
            assert_eq!(report.mismatches, []);
        }
    }
}

fn options(chunk: usize, verify: f64) -> ScoreOptions {
    ScoreOptions {
        threads: NonZeroUsize::new(2),
        device: device(chunk, verify),
        ..ScoreOptions::default()
    }
}

fn scores(count: usize, chunk: usize, verify: f64) -> (Vec<Judged>, Option<DeviceReport>) {
    with_corpus(|programs, samples| {
        let options = options(chunk, verify);
        let stop = Cancel::new();
        let (all, report) = score_table(&mut devices(count), programs, samples, &options, &stop);
        assert_eq!(report.scores, all.len());
        assert_eq!(all.len(), programs.len() * samples.len());
        assert_eq!(report.device.is_some(), count > 0);
        (all, report.device)
    })
}

#[test]
fn scores_are_the_same() {
    let (expected, _) = scores(0, 0, 0.0);
    assert!(expected.iter().any(|score| score.verdict == Verdict::Right));
    for (count, chunk, verify) in [(1, 700, 0.0), (2, 0, 0.0), (3, 500, 0.0), (1, 500, 0.3)] {
        let (all, report) = scores(count, chunk, verify);
        let mut pairs = all.iter().zip(&expected).enumerate();
        assert_eq!(pairs.find(|(_, (a, b))| a != b), None);
        let report = report.expect("devices were used");
        assert!(report.runs.finished() > 0);
        assert_eq!(report.runs.total() as usize, all.len());
        assert_eq!((report.differing, report.mismatches.len()), (0, 0));
        assert_eq!(report.verified > 0, verify > 0.0);
    }
}

#[test]
fn scores_of_waves_are_the_same() {
    with_corpus(|programs, samples| {
        for steps in [3_000_000, 300_000, 1_000] {
            let limits = Limits {
                steps,
                ..Limits::default()
            };
            let mut options = ScoreOptions {
                limits,
                ..options(0, 0.2)
            };
            options.device.waves = true;
            let stop = Cancel::new();
            let (expected, _) = score_table(&mut [], programs, samples, &options, &stop);
            let waves =
                || -> Box<dyn Device> { Box::new(Emulated::default().with_waves().unwrap()) };
            let mut devices = [waves(), waves()];
            let (all, report) = score_table(&mut devices, programs, samples, &options, &stop);
            assert!(all == expected, "{steps} steps");
            let finished = report.device.map_or(0, |report| report.runs.finished());
            assert_eq!(finished > 0, steps > 1_000);
        }
    });
}

/// If the CPU has fewer steps, devices have less fuel, and the results are the same. With very few
/// steps, devices are not used.
#[test]
fn scores_within_fewer_steps() {
    with_corpus(|programs, samples| {
        let scores = |count: usize, steps: u64| {
            let options = ScoreOptions {
                limits: Limits {
                    steps,
                    ..Limits::default()
                },
                ..options(0, 0.0)
            };
            let stop = Cancel::new();
            score_table(&mut devices(count), programs, samples, &options, &stop)
        };
        for (steps, used) in [(1_000_000, true), (150_000, true), (1_000, false)] {
            let (expected, _) = scores(0, steps);
            let (found, report) = scores(1, steps);
            assert!(found == expected, "{steps} steps");
            let finished = report.device.map(|device| device.runs.finished());
            assert_eq!(finished.is_some_and(|count| count > 0), used);
        }
    });
}
