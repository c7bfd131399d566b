//! Reads a submission of any origin. The valid parts are read even if others are invalid.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{ATTEMPT_KEYS, ATTEMPTS, Attempts, Finding, Flaw, Submission};
use crate::error::{DatasetError, Problem};
use crate::load::{self, Node, Shape, kind};
use crate::{Dataset, Grid};

/// The answers to one test input; `None` in the place of an invalid one.
type ReadAttempts = [Option<Grid>; ATTEMPTS];

/// A submission of any origin: its valid parts, and a finding for each invalid one.
#[derive(Debug, Clone)]
pub struct Draft {
    path: PathBuf,
    answers: BTreeMap<String, Vec<ReadAttempts>>,
    findings: Vec<Finding>,
    /// A description of the file if it is not a submission at all.
    foreign: Option<String>,
}

impl Draft {
    /// Reads a file. Fails only if it cannot be read or is not JSON.
    pub fn load(path: impl AsRef<Path>) -> Result<Draft, DatasetError> {
        let path = path.as_ref();
        Ok(Draft::new(path, &load::read(path)?))
    }

    /// Reads a text; messages call it `name`.
    pub fn from_json(name: impl AsRef<Path>, text: &[u8]) -> Result<Draft, DatasetError> {
        let path = name.as_ref();
        Ok(Draft::new(path, &load::parse(path, text)?))
    }

    fn new(path: &Path, node: &Node) -> Draft {
        let foreign = match Shape::of(node) {
            Shape::Task | Shape::Pairs | Shape::Challenges | Shape::Bundle => {
                Some("a file of tasks".to_owned())
            }
            Shape::Solutions => Some(load::SOLUTIONS.to_owned()),
            Shape::Submission => None,
            // Either a submission without a valid part or something else; both get findings.
            Shape::Other => match node {
                Node::Map(_) => None,
                other => Some(other.describe()),
            },
        };
        let mut draft = Draft {
            path: path.to_owned(),
            answers: BTreeMap::new(),
            findings: Vec::new(),
            foreign,
        };
        match node {
            Node::Map(entries) if !entries.is_empty() => {
                for (id, answers) in entries {
                    draft.add(id, answers);
                }
            }
            other => {
                let flaw = kind("an object of answers by task id", other);
                draft.record(None, None, None, flaw);
            }
        }
        draft
    }

    fn add(&mut self, id: &str, node: &Node) {
        let mut answers = Vec::new();
        match node {
            Node::List(items) => {
                for (test, item) in items.iter().enumerate() {
                    answers.push(self.attempts(id, test, item));
                }
            }
            Node::Row(cells) if cells.is_empty() => {
                self.record(Some(id), None, None, Problem::EmptyList);
            }
            other => {
                let flaw = kind("a list of answers, one for each test input", other);
                self.record(Some(id), None, None, flaw);
            }
        }
        if self.answers.insert(id.to_owned(), answers).is_some() {
            self.record(Some(id), None, None, Flaw::RepeatedTask);
        }
    }

    fn attempts(&mut self, id: &str, test: usize, node: &Node) -> ReadAttempts {
        let Node::Map(_) = node else {
            let expected = "an answer {\"attempt_1\": grid, \"attempt_2\": grid}";
            self.record(Some(id), Some(test), None, kind(expected, node));
            return [None, None];
        };
        std::array::from_fn(|at| {
            let key = ATTEMPT_KEYS[at];
            let Some(attempt) = node.get(key) else {
                self.record(Some(id), Some(test), None, Problem::Missing { key });
                return None;
            };
            load::grid(attempt)
                .map_err(|problem| self.record(Some(id), Some(test), Some(at), problem))
                .ok()
        })
    }

    fn record(
        &mut self,
        task: Option<&str>,
        test: Option<usize>,
        attempt: Option<usize>,
        flaw: impl Into<Flaw>,
    ) {
        let found = self.finding(task, test, attempt, flaw.into());
        self.findings.push(found);
    }

    fn finding(
        &self,
        task: Option<&str>,
        test: Option<usize>,
        attempt: Option<usize>,
        flaw: Flaw,
    ) -> Finding {
        Finding {
            path: self.path.clone(),
            task: task.map(str::to_owned),
            test,
            attempt,
            flaw,
        }
    }

    /// A description of the file, such as `a solutions file`, if it is not a submission at all.
    pub fn foreign(&self) -> Option<&str> {
        self.foreign.as_deref()
    }

    /// The answers to a task, test by test; `None` in the place of an invalid one.
    pub fn get(&self, task: &str) -> Option<&[[Option<Grid>; ATTEMPTS]]> {
        self.answers.get(task).map(Vec::as_slice)
    }

    /// The number of tasks with answers, valid or not.
    pub fn tasks(&self) -> usize {
        self.answers.len()
    }

    /// The number of test inputs with answers.
    pub fn outputs(&self) -> usize {
        self.answers.values().map(Vec::len).sum()
    }

    /// The findings that do not depend on the tasks, in the order of the file.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns all findings of the submission as answers to these tasks: first those of the file
    /// itself, then tasks without answers, answers without a task, and wrong numbers of answers.
    pub fn check(&self, data: &Dataset) -> Vec<Finding> {
        let mut findings = self.findings.clone();
        let mut find = |id: &str, flaw| findings.push(self.finding(Some(id), None, None, flaw));
        for task in data.iter().filter(|task| !task.test.is_empty()) {
            let tests = task.test.len();
            match self.get(&task.id) {
                None => find(&task.id, Flaw::MissingTask),
                Some(answers) if answers.len() != tests && !self.is_flawed(&task.id) => {
                    let answers = answers.len();
                    find(&task.id, Flaw::OutputCount { answers, tests });
                }
                Some(_) => {}
            }
        }
        let is_known = |id: &str| data.get(id).is_some_and(|task| !task.test.is_empty());
        for id in self.answers.keys().filter(|id| !is_known(id)) {
            find(id, Flaw::UnknownTask);
        }
        findings
    }

    /// Returns whether the answers to a task are invalid as a whole. In that case their number is
    /// not reported as well.
    fn is_flawed(&self, id: &str) -> bool {
        let whole = |found: &&Finding| found.task.as_deref() == Some(id) && found.test.is_none();
        let flaws = self.findings.iter().filter(whole);
        flaws
            .map(|found| &found.flaw)
            .any(|flaw| *flaw != Flaw::RepeatedTask)
    }

    /// Returns the submission, if it is valid for these tasks.
    pub fn submission(&self, data: &Dataset) -> Option<Submission> {
        if !self.check(data).is_empty() {
            return None;
        }
        let complete = |read: &ReadAttempts| -> Option<Attempts> {
            let [first, second] = read;
            Some([first.clone()?, second.clone()?])
        };
        let answers = self.answers.iter().map(|(id, tests)| {
            let tests: Option<Vec<Attempts>> = tests.iter().map(complete).collect();
            Some((id.clone(), tests?))
        });
        let answers: Option<BTreeMap<_, _>> = answers.collect();
        answers.map(|answers| Submission { answers })
    }
}

impl From<&Submission> for Draft {
    /// A submission that is in no file, to be scored.
    fn from(submission: &Submission) -> Draft {
        let read = |attempts: &Attempts| attempts.clone().map(Some);
        let answers = submission.answers.iter();
        Draft {
            path: PathBuf::from("submission"),
            answers: answers
                .map(|(id, tests)| (id.clone(), tests.iter().map(read).collect()))
                .collect(),
            findings: Vec::new(),
            foreign: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Task `one` has one test, `two` has two.
    fn data() -> Dataset {
        let json = r#"{
            "one": {"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}]},
            "two": {"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}, {"input": [[4]]}]}
        }"#;
        Dataset::from_json("c.json", json.as_bytes()).unwrap()
    }

    fn draft(text: &str) -> Draft {
        Draft::from_json("s.json", text.as_bytes()).unwrap()
    }

    fn messages(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    const GOOD: &str = r#"{"attempt_1": [[1]], "attempt_2": [[2, 3]]}"#;

    #[test]
    fn a_valid_submission_has_no_findings() {
        let draft = draft(&format!(r#"{{"one": [{GOOD}], "two": [{GOOD}, {GOOD}]}}"#));
        assert_eq!(draft.check(&data()), []);
        assert_eq!((draft.tasks(), draft.outputs()), (2, 3));
        assert_eq!(draft.foreign(), None);
        assert_eq!(draft.submission(&data()).unwrap().outputs(), 3);
    }

    #[test]
    fn a_submission_is_a_draft_without_a_file() {
        let text = format!(r#"{{"one": [{GOOD}], "two": [{GOOD}, {GOOD}]}}"#);
        let submission = draft(&text).submission(&data()).unwrap();
        let again = Draft::from(&submission);
        assert_eq!(again.submission(&data()), Some(submission));
    }

    #[test]
    fn ids_and_counts_are_checked_against_the_tasks() {
        let draft = draft(&format!(r#"{{"two": [{GOOD}], "three": [{GOOD}]}}"#));
        assert_eq!(draft.findings(), []);
        assert_eq!(
            messages(&draft.check(&data())),
            [
                "s.json: task one: no answers to this task",
                "s.json: task two: 1 answer for 2 test inputs",
                "s.json: task three: there is no such task",
            ]
        );
        assert_eq!(draft.submission(&data()), None);
    }

    #[test]
    fn every_bad_part_is_named() {
        let cases: &[(&str, &str)] = &[
            (
                r#"[{"attempt_1": [[1]]}]"#,
                "task one, test[0]: there is no \"attempt_2\"",
            ),
            (
                r#"[{"attempt_1": [[1]], "attempt_2": [[1, 2], [3]]}]"#,
                "task one, test[0].attempt_2: row 1 has 1 cell, row 0 has 2",
            ),
            (
                r#"[{"attempt_1": [[1, 10]], "attempt_2": [[1]]}]"#,
                "task one, test[0].attempt_1: row 0, column 1 is 10, colours are 0 to 9",
            ),
            (
                r#"[{"attempt_1": [[-1]], "attempt_2": [[1]]}]"#,
                "task one, test[0].attempt_1: row 0, column 0 is -1, colours are 0 to 9",
            ),
            (
                r#"[{"attempt_1": [[1.0]], "attempt_2": [[1]]}]"#,
                "task one, test[0].attempt_1: row 0, column 0 is the number 1.0, cells are whole numbers from 0 to 9",
            ),
            (
                r#"[{"attempt_1": [[true]], "attempt_2": [[1]]}]"#,
                "task one, test[0].attempt_1: row 0, column 0 is true, cells are whole numbers from 0 to 9",
            ),
            (
                r#"[{"attempt_1": [], "attempt_2": [[1]]}]"#,
                "task one, test[0].attempt_1: the grid has no rows",
            ),
            (
                r#"[{"attempt_1": [[]], "attempt_2": [[1]]}]"#,
                "task one, test[0].attempt_1: row 0 has no cells",
            ),
            (
                r#"[{"attempt_1": null, "attempt_2": [[1]]}]"#,
                "task one, test[0].attempt_1: expected a grid, a list of rows, found null",
            ),
            (
                "[[[1]]]",
                "task one, test[0]: expected an answer {\"attempt_1\": grid, \"attempt_2\": grid}, found a list of lists",
            ),
            ("[]", "task one: the list is empty"),
            (
                "{}",
                "task one: expected a list of answers, one for each test input, found an empty object",
            ),
        ];
        for (answers, message) in cases {
            let text = format!(r#"{{"two": [{GOOD}, {GOOD}], "one": {answers}}}"#);
            let found = messages(&draft(&text).check(&data()));
            assert_eq!(found, [format!("s.json: {message}")], "{answers}");
        }
        let row = format!("[{}]", vec!["0"; 31].join(","));
        let text = format!(r#"{{"one": [{{"attempt_1": [{row}], "attempt_2": [[1]]}}]}}"#);
        let found = messages(draft(&text).findings());
        assert!(found[0].ends_with("the grid is 1x31, the largest allowed is 30x30"));
    }

    #[test]
    fn valid_parts_are_kept() {
        let draft = draft(r#"{"one": [{"attempt_1": [[7]], "attempt_2": 3}]}"#);
        let seven = Grid::from_rows(&[[7]]).unwrap();
        assert_eq!(draft.get("one"), Some([[Some(seven), None]].as_slice()));
        assert_eq!(draft.findings().len(), 1);
    }

    #[test]
    fn a_task_answered_twice() {
        let two = r#"{"attempt_1": [[5]], "attempt_2": [[5]]}"#;
        let draft = draft(&format!(
            r#"{{"one": [{GOOD}], "one": [{two}], "two": [{GOOD}, {GOOD}]}}"#
        ));
        let found = draft.check(&data());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].flaw.code(), "repeated-task");
        let five = Grid::from_rows(&[[5]]).unwrap();
        assert_eq!(draft.get("one").unwrap()[0][0], Some(five));
    }

    #[test]
    fn other_files_are_recognised() {
        assert_eq!(
            draft(r#"{"one": [[[1]]]}"#).foreign(),
            Some("a solutions file")
        );
        assert_eq!(
            draft(r#"{"train": [], "test": []}"#).foreign(),
            Some("a file of tasks")
        );
        assert_eq!(draft("[1]").foreign(), Some("a list of numbers"));
        assert_eq!(draft("{}").foreign(), None);
        let found = messages(draft("[]").findings());
        assert_eq!(
            found,
            ["s.json: expected an object of answers by task id, found an empty list"]
        );
        let found = messages(draft("{}").findings());
        assert!(found[0].ends_with("found an empty object"), "{found:?}");
    }
}
