//! Counts which donors solve which tasks, while results arrive.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The donors of a batt that solve a task: each is right on all pairs of the task with a known
/// output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SolvedTask {
    /// The batt's name in the results.
    pub batt: String,
    /// The id of the task.
    pub task: String,
    /// The ids of the donors, in the order of the candidates.
    pub donors: Vec<String>,
}

/// Finds the donors that solve a task. Results must be added in order, task by task, so the counts
/// of only one task are in memory.
#[derive(Debug, Default)]
pub struct DonorTally {
    pairs: usize,
    right: BTreeMap<usize, usize>,
    solved: Vec<SolvedTask>,
}

impl DonorTally {
    /// Counts a run on one pair of a task. `known` says whether the pair's output is known; `right`
    /// are the positions of the right candidates.
    pub fn add(&mut self, known: bool, right: impl IntoIterator<Item = usize>) {
        self.pairs += usize::from(known);
        for output in right {
            *self.right.entry(output).or_default() += 1;
        }
    }

    /// Ends a task of a batt with this name, after all its pairs. `donor` returns the donor of a
    /// candidate that was right.
    pub fn end_task<'d>(&mut self, name: &str, task: &str, donor: impl Fn(usize) -> &'d str) {
        let pairs = std::mem::take(&mut self.pairs);
        let right = std::mem::take(&mut self.right);
        let mut donors: Vec<String> = Vec::new();
        for (output, _) in right.into_iter().filter(|(_, count)| *count == pairs) {
            let donor = donor(output);
            if !donors.iter().any(|other| other == donor) {
                donors.push(donor.to_owned());
            }
        }
        if !donors.is_empty() {
            self.solved.push(SolvedTask {
                batt: name.to_owned(),
                task: task.to_owned(),
                donors,
            });
        }
    }

    /// Returns all solved tasks, in the order of the runs. A task that was not ended is not among
    /// them.
    pub fn finish(self) -> Vec<SolvedTask> {
        self.solved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_solved_when_all_its_pairs_are() {
        let donor = |output: usize| ["a", "b", "a"][output];
        let mut tally = DonorTally::default();
        tally.add(true, [0, 1]);
        tally.add(true, [0, 2]);
        // The output of the test is not known.
        tally.add(false, []);
        tally.end_task("b", "t0", donor);
        tally.add(true, []);
        tally.end_task("b", "t1", donor);
        tally.add(true, [0, 1, 2]);
        tally.end_task("b", "t2", donor);
        // The work was cancelled before the last pair of this task.
        tally.add(true, [0]);
        let solved = tally.finish();
        let found: Vec<_> = solved
            .iter()
            .map(|s| (s.task.as_str(), s.donors.join("+")))
            .collect();
        assert_eq!(found, [("t0", "a".to_owned()), ("t2", "a+b".to_owned())]);
    }
}
