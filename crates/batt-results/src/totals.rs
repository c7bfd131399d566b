//! Totals over all runs.

use std::collections::BTreeMap;

use batt_dsl::Fault;
use batt_engine::MegaReport;
use serde::{Deserialize, Serialize};

use crate::record::MegaRecord;
use crate::tally::SolvedTask;

/// The totals of all runs of a mega-batch, including the runs before an interruption.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MegaTotals {
    /// The number of runs: one batt on one sample each.
    pub runs: usize,
    /// The number of right candidates.
    pub right: u64,
    /// The number of candidates with a value, right or not.
    pub values: u64,
    /// The number of failed candidates, by the name of the fault.
    pub errors: BTreeMap<String, u64>,
    /// The tasks that donors solve.
    pub solved: Vec<SolvedTask>,
}

impl MegaRecord<'_> {
    /// Adds a line of an earlier run to the totals.
    pub fn add_to(&self, totals: &mut MegaTotals) {
        totals.runs += 1;
        totals.right += self.right.len() as u64;
        totals.values += self.values;
        for (fault, count) in &self.errors {
            *totals.errors.entry(fault.clone()).or_default() += count;
        }
    }
}

impl MegaTotals {
    /// Adds a run of a solver, which counts as one candidate. `fault` is the name of its fault.
    pub fn add_run(&mut self, is_right: bool, fault: Option<&str>) {
        self.runs += 1;
        self.right += u64::from(is_right);
        match fault {
            Some(fault) => *self.errors.entry(fault.to_owned()).or_default() += 1,
            None => self.values += 1,
        }
    }

    /// Adds the runs of now.
    pub fn add_report(&mut self, report: &MegaReport) {
        self.runs += report.runs;
        self.right += report.right;
        self.values += report.values;
        for (fault, count) in &report.faults {
            *self.errors.entry(fault.name().to_owned()).or_default() += count;
        }
    }

    /// Returns the number of candidates, with a value or failed.
    pub fn candidates(&self) -> u64 {
        self.values + self.errors.values().sum::<u64>()
    }

    /// Returns the faults of candidates with their counts, in the order of [`Fault::ALL`].
    pub fn faults(&self) -> impl Iterator<Item = (Fault, u64)> {
        let count = |fault: Fault| Some((fault, *self.errors.get(fault.name())?));
        Fault::ALL.into_iter().filter_map(count)
    }
}
