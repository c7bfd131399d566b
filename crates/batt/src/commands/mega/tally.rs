//! Who solves what, counted as results come.

use std::collections::BTreeMap;

use batt_lang::Batt;

/// The donors that solve a task: all its pairs that have an output.
pub struct Solved {
    /// The position of the batt.
    pub batt: usize,
    /// The position of the task.
    pub task: usize,
    /// The donors' ids, in the order of the candidates.
    pub donors: Vec<String>,
}

/// Counts right candidates, task by task. Results have to come in order; only the counts of one task
/// are kept at a time.
pub struct Tally<'b> {
    batts: Vec<&'b Batt>,
    current: Option<(usize, usize)>,
    pairs: usize,
    right: BTreeMap<usize, usize>,
    solved: Vec<Solved>,
}

impl<'b> Tally<'b> {
    /// Nothing counted yet.
    pub fn new(batts: Vec<&'b Batt>) -> Tally<'b> {
        Tally {
            batts,
            current: None,
            pairs: 0,
            right: BTreeMap::new(),
            solved: Vec::new(),
        }
    }

    /// Counts one run; `known` says whether the expected output is.
    pub fn add(
        &mut self,
        batt: usize,
        task: usize,
        known: bool,
        right: impl Iterator<Item = usize>,
    ) {
        if self.current != Some((batt, task)) {
            self.close();
            self.current = Some((batt, task));
        }
        self.pairs += usize::from(known);
        for output in right {
            *self.right.entry(output).or_default() += 1;
        }
    }

    /// Ends the task under way.
    fn close(&mut self) {
        let Some((batt, task)) = self.current.take() else {
            return;
        };
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

    /// All tasks that somebody solves, in the order of the runs.
    pub fn finish(mut self) -> Vec<Solved> {
        self.close();
        self.solved
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
        tally.add(0, 0, true, [0, 1].into_iter());
        tally.add(0, 0, true, [0, 2].into_iter());
        // Nobody knows the output of the test.
        tally.add(0, 0, false, [].into_iter());
        tally.add(0, 1, true, [].into_iter());
        tally.add(0, 2, true, [0, 1, 2].into_iter());
        let solved = tally.finish();
        let found: Vec<_> = solved
            .iter()
            .map(|s| (s.task, s.donors.join("+")))
            .collect();
        assert_eq!(found, [(0, "a".to_owned()), (2, "a+b".to_owned())]);
    }
}
