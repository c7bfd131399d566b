//! Solvers with the help of cards give what they give without: values, verdicts and hashes.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use batt_arc::corpus;
use batt_dsl::{Dialect, Limits, OwnedValue};
use batt_emulated::Emulated;
use batt_engine::device::{Card, DeviceOptions, DeviceReport, Score, score, score_table};
use batt_engine::{Compiled, Job, Options, Sample, Values, Verdict, evaluate_on};
use batt_lang::SolverFile;

/// Besides those of the corpus: parameters in any order, and one that nobody can give.
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

fn cards(count: usize) -> Vec<Box<dyn Card>> {
    let card = || -> Box<dyn Card> { Box::new(Emulated::default()) };
    (0..count).map(|_| card()).collect()
}

fn device(chunk: usize, verify: f64) -> DeviceOptions {
    DeviceOptions {
        chunk: NonZeroUsize::new(chunk),
        verify,
        ..DeviceOptions::default()
    }
}

type Told = (Verdict, Option<OwnedValue>);

fn run(
    count: usize,
    values: Values,
    chunk: usize,
    verify: f64,
) -> (Vec<Told>, Option<DeviceReport>) {
    with_corpus(|programs, samples| {
        // Not in the order in which cards are given programs.
        let jobs: Vec<Job<'_>> = samples
            .iter()
            .flat_map(|sample| {
                programs.iter().map(|program| Job {
                    program,
                    sample: *sample,
                })
            })
            .collect();
        let options = Options {
            values,
            device: device(chunk, verify),
            ..Options::default()
        };
        let mut told = Vec::new();
        let stop = AtomicBool::new(false);
        let (done, report) =
            evaluate_on(&mut cards(count), &jobs, &options, &stop, |at, result| {
                assert_eq!(at, told.len());
                told.push((result.verdict, result.value));
            });
        assert_eq!(done, jobs.len());
        (told, report)
    })
}

#[test]
fn evaluating_with_cards_changes_nothing() {
    for values in [Values::All, Values::Wrong, Values::None] {
        let (expected, report) = run(0, values, 0, 0.0);
        assert!(report.is_none());
        for (count, chunk, verify) in [(1, 0, 0.0), (2, 100, 0.0), (1, 333, 1.0)] {
            let (told, report) = run(count, values, chunk, verify);
            assert!(told == expected, "{count} cards, chunks of {chunk}");
            let report = report.expect("cards were used");
            assert_eq!(report.runs.total() as usize, told.len());
            let finished = report.runs.finished();
            assert!(finished > 0);
            assert_eq!(report.verified, if verify > 0.0 { finished } else { 0 });
            assert_eq!(report.mismatches, []);
        }
    }
}

fn scores(count: usize, verify: f64) -> (Vec<Score>, Option<DeviceReport>) {
    with_corpus(|programs, samples| {
        let mut all = Vec::new();
        let stop = AtomicBool::new(false);
        let report = score(
            &mut cards(count),
            programs,
            samples,
            &Limits::default(),
            NonZeroUsize::new(2),
            &device(500, verify),
            &stop,
            |program, sample, score| {
                assert_eq!(program * samples.len() + sample, all.len());
                all.push(score);
            },
        );
        assert_eq!(report.scores, all.len());
        assert_eq!(all.len(), programs.len() * samples.len());
        (all, report.device)
    })
}

#[test]
fn scores_are_the_same() {
    let (expected, _) = scores(0, 0.0);
    assert!(expected.iter().any(|score| score.verdict == Verdict::Right));
    for (count, verify) in [(1, 0.0), (3, 0.0), (1, 0.3)] {
        let (all, report) = scores(count, verify);
        let differing = all
            .iter()
            .zip(&expected)
            .enumerate()
            .find(|(_, (a, b))| a != b);
        assert_eq!(differing, None);
        let report = report.expect("cards were used");
        assert!(report.runs.finished() > 0);
        assert_eq!((report.differing, report.mismatches.len()), (0, 0));
        assert_eq!(report.verified > 0, verify > 0.0);
    }
}

#[test]
fn a_table_has_the_same_scores() {
    let (expected, _) = scores(0, 0.0);
    for (count, chunk) in [(0, 0), (1, 700), (2, 0)] {
        let found = with_corpus(|programs, samples| {
            let (table, report) = score_table(
                &mut cards(count),
                programs,
                samples,
                &Limits::default(),
                NonZeroUsize::new(2),
                &device(chunk, 0.0),
                &AtomicBool::new(false),
            );
            assert_eq!(report.scores, table.len());
            assert_eq!(report.device.is_some(), count > 0);
            table
        });
        assert!(found == expected, "{count} cards, chunks of {chunk}");
    }
}
