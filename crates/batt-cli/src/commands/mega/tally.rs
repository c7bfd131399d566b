//! Who solves what, counted as results come.

use std::collections::BTreeMap;

use batt_dsl::Fault;
use batt_engine::MegaReport;
use batt_lang::Batt;

use super::record::{Record, failure};

/// The donors that solve a task: all its pairs that have an output.
pub struct Solved {
    /// The position of the batt.
    pub batt: usize,
    /// The position of the task.
    pub task: usize,
    /// The donors' ids, in the order of the candidates.
    pub donors: Vec<String>,
}

/// A pair of a task, as far as it matters here.
#[derive(Clone, Copy)]
pub struct PairOf {
    /// Is its output known?
    pub known: bool,
    /// Is it the last one of its task?
    pub last: bool,
}

/// Counts right candidates, task by task. Results have to come in order; only the counts of one task
/// are kept at a time.
pub struct Tally<'b> {
    batts: Vec<&'b Batt>,
    pairs: usize,
    right: BTreeMap<usize, usize>,
    solved: Vec<Solved>,
}

impl<'b> Tally<'b> {
    /// Nothing counted yet.
    pub fn new(batts: Vec<&'b Batt>) -> Tally<'b> {
        Tally {
            batts,
            pairs: 0,
            right: BTreeMap::new(),
            solved: Vec::new(),
        }
    }

    /// Counts one run of a batt on a pair of a task.
    pub fn add(
        &mut self,
        batt: usize,
        task: usize,
        pair: PairOf,
        right: impl Iterator<Item = usize>,
    ) {
        self.pairs += usize::from(pair.known);
        for output in right {
            *self.right.entry(output).or_default() += 1;
        }
        if pair.last {
            self.close(batt, task);
        }
    }

    /// All pairs of a task are there.
    fn close(&mut self, batt: usize, task: usize) {
        let pairs = std::mem::take(&mut self.pairs);
        let right = std::mem::take(&mut self.right);
        let complete = right.into_iter().filter(|(_, count)| *count == pairs);
        let mut donors: Vec<String> = Vec::new();
        for (output, _) in complete {
            let donor = &self.batts[batt].outputs[output].donor;
            if !donors.contains(donor) {
                donors.push(donor.clone());
            }
        }
        if !donors.is_empty() {
            self.solved.push(Solved { batt, task, donors });
        }
    }

    /// All tasks that somebody solves, in the order of the runs. One whose last pairs never came is not
    /// among them.
    pub fn finish(self) -> Vec<Solved> {
        self.solved
    }
}

/// What the lines of an earlier run, which is gone on with, came to.
#[derive(Default)]
pub struct Earlier {
    /// How many they are.
    pub runs: usize,
    right: u64,
    values: u64,
    faults: BTreeMap<String, u64>,
}

/// What all runs came to, the earlier ones too.
pub struct Totals {
    /// Runs.
    pub runs: usize,
    /// Candidates that are right.
    pub right: u64,
    /// Candidates that have a value.
    pub values: u64,
    /// Candidates that failed, by the name of the fault.
    pub faults: Vec<(&'static str, u64)>,
}

impl Earlier {
    /// Counts a line.
    pub fn add(&mut self, record: &Record<'_>) {
        self.runs += 1;
        self.right += record.right.len() as u64;
        for (.., value) in &record.o {
            match failure(value) {
                Some(fault) => *self.faults.entry(fault).or_default() += 1,
                None => self.values += 1,
            }
        }
    }

    /// These and the runs of now.
    pub fn and(&self, report: &MegaReport) -> Totals {
        let count = |fault: Fault| {
            let now = report.faults.iter().find(|(f, _)| *f == fault);
            let before = self.faults.get(fault.name());
            now.map_or(0, |(_, n)| *n) + before.copied().unwrap_or(0)
        };
        let faults = Fault::ALL.into_iter().map(|f| (f.name(), count(f)));
        Totals {
            runs: self.runs + report.runs,
            right: self.right + report.right,
            values: self.values + report.values,
            faults: faults.filter(|(_, n)| *n > 0).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use batt_dsl::Literal;
    use batt_lang::{OnError, Operand, Output, ProgramBuilder, batt};

    use super::*;

    #[test]
    fn a_task_is_solved_when_all_its_pairs_are() {
        let output = |donor: &str| Output {
            number: 0,
            mutated: false,
            donor: donor.to_owned(),
            value: batt::INPUT,
            steps: Vec::new(),
            after: 0,
        };
        let program = ProgramBuilder::new("batt", batt::PARAMS);
        let batt = Batt {
            program: program.finish(Operand::Literal(Literal::None)),
            numbers: Vec::new(),
            outputs: vec![output("a"), output("b"), output("a")],
            scores: Vec::new(),
            on_error: OnError::Poison,
        };
        let mut tally = Tally::new(vec![&batt]);
        let pair = |known, last| PairOf { known, last };
        tally.add(0, 0, pair(true, false), [0, 1].into_iter());
        tally.add(0, 0, pair(true, false), [0, 2].into_iter());
        // Nobody knows the output of the test.
        tally.add(0, 0, pair(false, true), [].into_iter());
        tally.add(0, 1, pair(true, true), [].into_iter());
        tally.add(0, 2, pair(true, true), [0, 1, 2].into_iter());
        // The work was stopped before the last pair of this one.
        tally.add(0, 3, pair(true, false), [0].into_iter());
        let solved = tally.finish();
        let found: Vec<_> = solved
            .iter()
            .map(|s| (s.task, s.donors.join("+")))
            .collect();
        assert_eq!(found, [(0, "a".to_owned()), (2, "a+b".to_owned())]);
    }
}
