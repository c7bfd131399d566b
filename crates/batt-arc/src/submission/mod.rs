//! Submissions: the answers to the tests of many tasks, in the format of the competition.
//!
//! ```text
//!   {"00576224": [{"attempt_1": grid, "attempt_2": grid}, ...one for each test input...], ...}
//!
//!   Dataset -- Submission::fillers --> Submission -- set, answer by answer -- to_json --> file
//!                                          ^
//!   guesses of solvers ---- choose --------+
//!
//!   file -- Draft::load --> Draft -- check --> Finding, ...
//!                             \---- SubmissionScore::new --> SubmissionScore
//! ```
//!
//! - [`Submission`]: the answers Batt writes, complete and valid by construction.
//! - [`Draft`]: a file as it was read, with its valid parts and a [`Finding`] for each invalid one.
//! - [`SubmissionScore`]: the right answers, by the three rules in use.
//! - [`choose`]: picks the two answers among the outputs of many solvers.

mod choose;
mod draft;
mod finding;
mod score;

pub use choose::{Choice, Chosen, Guess, choose, rank, score_now};
pub use draft::Draft;
pub use finding::{Finding, Flaw};
pub use score::{SubmissionScore, TaskScore};

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::{Dataset, Grid};

/// Answers allowed for each test input.
pub const ATTEMPTS: usize = 2;

/// The names of the answers in the file.
pub const ATTEMPT_KEYS: [&str; ATTEMPTS] = ["attempt_1", "attempt_2"];

/// The two answers for one test input.
pub type Attempts = [Grid; ATTEMPTS];

/// Two answers for every test input of every task.
///
/// ```
/// use batt_arc::submission::{Draft, Submission};
/// use batt_arc::{Dataset, Grid};
///
/// let json = br#"{"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}]}"#;
/// let data = Dataset::from_json("aa11.json", json)?;
/// let mut submission = Submission::fillers(&data);
/// let answer = Grid::from_rows(&[[4]])?;
/// assert!(submission.set("aa11", 0, [answer, Submission::filler()]));
/// assert_eq!(
///     submission.to_json(),
///     "{\n\"aa11\": [{\"attempt_1\": [[4]], \"attempt_2\": [[0, 0], [0, 0]]}]\n}\n"
/// );
///
/// let draft = Draft::from_json("submission.json", submission.to_json().as_bytes())?;
/// assert!(draft.check(&data).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Submission {
    answers: BTreeMap<String, Vec<Attempts>>,
}

impl Submission {
    /// The answer to an unsolved test: `[[0, 0], [0, 0]]`, as in the sample of the competition.
    pub fn filler() -> Grid {
        Grid::from_rows(&[[0, 0], [0, 0]]).expect("internal error: the filler is a grid")
    }

    /// Returns fillers for every test input. A task without tests has no place in a submission.
    pub fn fillers(data: &Dataset) -> Submission {
        let blank = [Submission::filler(), Submission::filler()];
        let tested = data.iter().filter(|task| !task.test.is_empty());
        let answers = tested.map(|task| (task.id.clone(), vec![blank.clone(); task.test.len()]));
        Submission {
            answers: answers.collect(),
        }
    }

    /// The answers to a task, test by test.
    pub fn get(&self, task: &str) -> Option<&[Attempts]> {
        self.answers.get(task).map(Vec::as_slice)
    }

    /// Replaces the answers to a test. Returns false if there is no such test.
    pub fn set(&mut self, task: &str, test: usize, attempts: Attempts) -> bool {
        let place = self.answers.get_mut(task).and_then(|t| t.get_mut(test));
        match place {
            Some(place) => {
                *place = attempts;
                true
            }
            None => false,
        }
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.answers.len()
    }

    /// The number of test inputs of all tasks.
    pub fn outputs(&self) -> usize {
        self.answers.values().map(Vec::len).sum()
    }

    /// Returns whether every answer is a filler.
    pub fn is_blank(&self) -> bool {
        let filler = Submission::filler();
        let mut attempts = self.answers.values().flatten().flatten();
        attempts.all(|attempt| *attempt == filler)
    }

    /// Returns the text of the file, a line for each task.
    pub fn to_json(&self) -> String {
        let mut out = String::from("{");
        for (at, (id, tests)) in self.answers.iter().enumerate() {
            out.push_str(if at == 0 { "\n" } else { ",\n" });
            // An id is any text, so serde_json quotes it.
            let _ = write!(out, "{}: [", serde_json::Value::from(id.as_str()));
            for (test, attempts) in tests.iter().enumerate() {
                out.push_str(if test == 0 { "{" } else { ", {" });
                for (k, (key, grid)) in ATTEMPT_KEYS.iter().zip(attempts).enumerate() {
                    let comma = if k == 0 { "" } else { ", " };
                    let _ = write!(out, "{comma}\"{key}\": ");
                    write_grid(&mut out, grid);
                }
                out.push('}');
            }
            out.push(']');
        }
        out.push_str("\n}\n");
        out
    }
}

fn write_grid(out: &mut String, grid: &Grid) {
    out.push('[');
    for (i, row) in grid.rows().enumerate() {
        out.push_str(if i == 0 { "[" } else { ", [" });
        for (j, cell) in row.iter().enumerate() {
            if j > 0 {
                out.push_str(", ");
            }
            let _ = write!(out, "{cell}");
        }
        out.push(']');
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_answer_every_test_of_every_task() {
        let data = crate::corpus::tasks();
        let submission = Submission::fillers(&data);
        assert_eq!(submission.tasks(), data.len());
        assert_eq!(submission.outputs(), data.len());
        let text = submission.to_json();
        let draft = Draft::from_json("s.json", text.as_bytes()).unwrap();
        assert_eq!(draft.check(&data), []);
        assert_eq!(draft.submission(&data), Some(submission));
    }

    #[test]
    fn a_task_without_tests_is_left_out() {
        let json = br#"[{"input": [[1]], "output": [[2]]}]"#;
        let data = Dataset::from_json("pairs.json", json).unwrap();
        let submission = Submission::fillers(&data);
        assert_eq!((submission.tasks(), submission.outputs()), (0, 0));
        assert_eq!(submission.to_json(), "{\n}\n");
    }

    #[test]
    fn answers_have_a_place_or_are_refused() {
        let data = crate::corpus::tasks();
        let mut submission = Submission::fillers(&data);
        let id = &data.tasks()[0].id;
        let attempts = [Submission::filler(), Grid::from_rows(&[[7]]).unwrap()];
        assert!(submission.is_blank());
        assert!(submission.set(id, 0, attempts.clone()));
        assert!(!submission.is_blank());
        assert_eq!(submission.get(id), Some([attempts.clone()].as_slice()));
        assert!(!submission.set(id, 1, attempts.clone()));
        assert!(!submission.set("nowhere", 0, attempts));
        assert_eq!(submission.get("nowhere"), None);
    }

    #[test]
    fn ids_are_quoted() {
        let json = br#"{"a\"b\\": {"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}]}}"#;
        let data = Dataset::from_json("c.json", json).unwrap();
        let text = Submission::fillers(&data).to_json();
        let draft = Draft::from_json("s.json", text.as_bytes()).unwrap();
        assert_eq!(draft.check(&data), []);
    }
}
