//! Running solvers on tests, and choosing among what they come to.

use std::num::NonZeroUsize;

use anyhow::Result;
use batt_arc::submission::{Chosen, Guess, Standing, choose};
use batt_arc::{Grid, Task};
use batt_archive::Score;
use batt_dsl::OwnedValue;
use batt_engine::{EvalOptions, Job, JobResult, Sample, Values, evaluate};

use super::candidates::{Candidate, Entrant};
use super::file::SubmissionFile;
use crate::interrupt;
use crate::ui::Ui;

/// What came of it, in numbers.
#[derive(Debug, Default)]
pub struct Tally {
    /// Solvers that ran.
    pub solvers: usize,
    /// Runs, on demonstrations and tests.
    pub runs: usize,
    /// Tasks of which a solver solves all demonstrations.
    pub tasks_solved: usize,
    /// Test inputs with at least one guess.
    pub answered: usize,
    /// Test inputs with two.
    pub answered_twice: usize,
    /// Test inputs whose first attempt comes from a solver of all demonstrations.
    pub outputs_solved: usize,
}

/// Answers every task, as far as nobody ends the work, and writes the answers as they come.
pub fn answer(
    entrants: &[Entrant<'_>],
    threads: Option<NonZeroUsize>,
    file: &mut SubmissionFile,
    ui: &Ui,
) -> Result<Tally> {
    let jobs: Vec<Job<'_>> = entrants.iter().flat_map(jobs).collect();
    let options = EvalOptions {
        threads,
        values: Values::All,
        ..EvalOptions::default()
    };
    let bar = ui.progress(entrants.len(), "answering");
    let stop = interrupt::stop();
    let mut tally = Tally::default();
    let mut failed = None;
    // Results come in the order of the jobs, so they are those of one task after the other.
    let mut waiting = entrants.iter().filter(|entrant| runs(entrant) > 0);
    let mut results: Vec<Outcome> = Vec::new();
    let mut current = waiting.next();
    evaluate(&jobs, &options, stop, |_, result| {
        let Some(entrant) = current.filter(|_| failed.is_none()) else {
            return;
        };
        results.push(Outcome::of(result));
        if results.len() == runs(entrant) {
            tally.add(entrant, &results, file);
            results.clear();
            current = waiting.next();
            bar.inc(1);
            if let Err(error) = file.save() {
                // Nobody will see the rest: stop working on it.
                failed = Some(error);
                stop.cancel();
            }
        }
    });
    bar.finish_and_clear();
    match failed {
        Some(error) => Err(error),
        None => Ok(tally),
    }
}

/// Every solver of a task on its demonstrations and its tests.
fn jobs<'a>(entrant: &'a Entrant<'_>) -> impl Iterator<Item = Job<'a>> {
    let candidates = entrant.candidates.iter();
    candidates.flat_map(|candidate| {
        samples(entrant.task).map(|sample| Job {
            program: &candidate.program,
            sample,
        })
    })
}

/// How many jobs that makes.
fn runs(entrant: &Entrant<'_>) -> usize {
    entrant.candidates.len() * entrant.task.pair_count()
}

/// Demonstrations, then tests. What is expected of a test is left out, even where the file tells: an answer
/// must not depend on it.
fn samples(task: &Task) -> impl Iterator<Item = Sample<'_>> {
    let demos = task.train.iter().map(|pair| Sample::new(task, pair));
    let tests = task.test.iter().map(|pair| Sample {
        expected: None,
        ..Sample::new(task, pair)
    });
    demos.chain(tests)
}

/// What a run came to, as far as it matters here.
struct Outcome {
    right: bool,
    output: Option<Grid>,
}

impl Outcome {
    fn of(result: JobResult) -> Outcome {
        Outcome {
            right: result.verdict.is_right(),
            output: result.value.as_ref().and_then(grid),
        }
    }
}

impl Tally {
    /// Chooses answers to a task from what its solvers came to, solver by solver.
    fn add(&mut self, entrant: &Entrant<'_>, results: &[Outcome], file: &mut SubmissionFile) {
        self.solvers += entrant.candidates.len();
        self.runs += results.len();
        let task = entrant.task;
        let mut solved = false;
        for (test, chosen) in choices(task, &entrant.candidates, results)
            .into_iter()
            .enumerate()
        {
            solved |= chosen.solves_demos;
            self.answered += usize::from(chosen.guessed >= 1);
            self.answered_twice += usize::from(chosen.guessed >= 2);
            self.outputs_solved += usize::from(chosen.solves_demos);
            if chosen.guessed > 0 {
                file.set(&task.id, test, chosen.attempts);
            }
        }
        self.tasks_solved += usize::from(solved);
    }
}

/// The answers to each test of a task.
fn choices(task: &Task, candidates: &[Candidate], results: &[Outcome]) -> Vec<Chosen> {
    let mut guesses: Vec<Vec<Guess>> = vec![Vec::new(); task.test.len()];
    for (candidate, results) in candidates.iter().zip(results.chunks(task.pair_count())) {
        let (demos, tests) = results.split_at(task.train.len());
        let solved = demos.iter().filter(|result| result.right).count();
        let standing = standing(&candidate.recorded, solved, demos.len());
        for (guesses, result) in guesses.iter_mut().zip(tests) {
            let guess = |output: &Grid| Guess {
                output: output.clone(),
                standing,
            };
            guesses.extend(result.output.as_ref().map(guess));
        }
    }
    guesses.iter().map(|guesses| choose(guesses)).collect()
}

/// How good a solver is on the demonstrations as they are now. Closeness is taken from the archive if the rest of
/// the record holds; if not, it was another version of the task.
fn standing(recorded: &Score, demos_solved: usize, demos: usize) -> Standing {
    let holds = (recorded.demos_solved as usize, recorded.demos as usize) == (demos_solved, demos);
    let least = 1_000_000 * demos_solved / demos.max(1);
    Standing {
        demos_solved,
        demos,
        closeness: match holds {
            true => recorded.closeness,
            false => least as u32,
        },
        size: recorded.size as usize,
    }
}

/// The grid a value is, if it may be in a submission. `True` is 1 there, as it is in a comparison.
fn grid(value: &OwnedValue) -> Option<Grid> {
    let OwnedValue::Tuple(rows) = value else {
        return None;
    };
    let cell = |value: &OwnedValue| match value {
        OwnedValue::Int(n) => u8::try_from(*n).ok(),
        OwnedValue::Bool(b) => Some(u8::from(*b)),
        _ => None,
    };
    let row = |value: &OwnedValue| match value {
        OwnedValue::Tuple(cells) => cells.iter().map(cell).collect::<Option<Vec<u8>>>(),
        _ => None,
    };
    let rows: Option<Vec<Vec<u8>>> = rows.iter().map(row).collect();
    Grid::from_rows(&rows?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: serde_json::Value) -> OwnedValue {
        OwnedValue::from_json(&json).unwrap()
    }

    #[test]
    fn only_grids_are_answers() {
        let json = |json| grid(&value(json)).map(|grid| grid.to_string());
        assert_eq!(
            json(serde_json::json!({"g": ["01", "23"]})).unwrap(),
            "01\n23"
        );
        let bools = serde_json::json!({"t": [{"t": [true, 2]}, {"t": [false, 3]}]});
        assert_eq!(json(bools).unwrap(), "12\n03");
        for other in [
            serde_json::json!(3),
            serde_json::json!({"t": []}),
            serde_json::json!({"t": [1, 2]}),
            serde_json::json!({"t": [{"t": []}]}),
            serde_json::json!({"t": [{"t": [1, 10]}]}),
            serde_json::json!({"t": [{"t": [-1]}]}),
            serde_json::json!({"t": [{"t": [1, 2]}, {"t": [1]}]}),
            serde_json::json!({"s": [{"t": [1, 2]}]}),
            serde_json::json!({"t": vec![serde_json::json!({"t": [1]}); 31]}),
        ] {
            assert_eq!(json(other.clone()), None, "{other}");
        }
    }

    #[test]
    fn a_record_that_does_not_hold_is_not_believed() {
        let recorded = Score {
            demos_solved: 3,
            demos: 3,
            closeness: 1_000_000,
            size: 4,
            cost: 1,
        };
        let now = standing(&recorded, 3, 3);
        assert_eq!((now.closeness, now.is_complete()), (1_000_000, true));
        let now = standing(&recorded, 1, 4);
        assert_eq!((now.demos_solved, now.closeness, now.size), (1, 250_000, 4));
        assert!(!standing(&recorded, 0, 0).is_complete());
    }
}
