//! The summary of a mega-batch, as text and as JSON.

use std::io::{self, Write};

use batt::mega::StepDefaults;
use batt::{Batts, MegaSummary};
use serde_json::{Value as Json, json};

use super::MegaArgs;
use crate::ui::{counted, grouped, name, rest, table, table_text};
use crate::units::bytes;

/// The number of rows listed without `--verbose`.
const LISTED: usize = 20;

/// The summary of a mega-batch.
pub struct Report<'s> {
    pub args: &'s MegaArgs,
    pub batts: &'s Batts,
    pub summary: &'s MegaSummary,
}

impl Report<'_> {
    /// Writes the summary in the requested form.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.args.json {
            return writeln!(out, "{}", self.json());
        }
        let shown = if self.args.verbose {
            usize::MAX
        } else {
            LISTED
        };
        let (summary, totals) = (self.summary, &self.summary.totals);
        if !totals.solved.is_empty() {
            let mut rows = table(&["task", "solved by"], &[]);
            for solved in totals.solved.iter().take(shown) {
                let donors: Vec<_> = solved.donors.iter().map(|donor| name(donor)).collect();
                rows.add_row([name(&solved.task).into_owned(), donors.join(", ")]);
            }
            write!(out, "{}", table_text(&rows))?;
            rest(out, totals.solved.len(), shown)?;
            writeln!(out)?;
        }
        if self.args.strict {
            self.write_defaults(out, shown)?;
        }
        let steps = self
            .batts
            .iter()
            .map(|(_, batt)| batt.program.steps().len());
        writeln!(
            out,
            "{} of {} on {}: {}, {} right",
            counted(steps.sum(), "step"),
            counted(self.batts.len(), "batt"),
            match summary.is_complete() && summary.shard.is_whole() {
                true => counted(summary.samples, "sample"),
                false => counted(totals.runs, "run"),
            },
            counted(totals.candidates() as usize, "candidate"),
            grouped(totals.right as usize),
        )?;
        let faults: Vec<String> = totals
            .faults()
            .map(|(fault, n)| format!("{} {}", grouped(n as usize), fault.name()))
            .collect();
        if !faults.is_empty() {
            writeln!(out, "errors: {}", faults.join(", "))?;
        }
        if let (Some(size), Some(file)) = (summary.bytes, self.args.file()) {
            let file = file.display().to_string();
            let form = match self.args.full {
                true => "",
                false => ", without the values of candidates (--full writes them)",
            };
            writeln!(out, "results in {}: {}{form}", name(&file), bytes(size))?;
        }
        match summary.shard.is_whole() {
            true => {
                let all = counted(summary.tasks, "task");
                write!(out, "solved {} of {all}", grouped(summary.tasks_solved()))?;
            }
            false => {
                let (runs, total) = (grouped(summary.planned), counted(summary.total, "run"));
                write!(out, "part {}, {runs} of {total}", summary.shard)?;
            }
        }
        if !summary.is_complete() {
            let (done, runs) = (grouped(totals.runs), counted(summary.planned, "run"));
            write!(out, " (interrupted after {done} of {runs})")?;
        }
        writeln!(out)
    }

    /// Writes the steps that fell back to a default, the most frequent first.
    fn write_defaults(&self, out: &mut impl Write, shown: usize) -> io::Result<()> {
        let found = self.summary.defaults(self.batts);
        if self.summary.resumed > 0 {
            writeln!(out, "of the runs since the work was resumed:")?;
        }
        if found.is_empty() {
            return writeln!(out, "no step fell back to a default\n");
        }
        let mut rows = table(&["step", "fell back", "of", "call"], &[1, 2]);
        for StepDefaults { name, call, count } in found.iter().take(shown) {
            let numbers = [count.fallbacks, count.executed].map(|n| grouped(n as usize));
            let [fallbacks, executed] = numbers;
            rows.add_row([name.clone(), fallbacks, executed, call.clone()]);
        }
        write!(out, "{}", table_text(&rows))?;
        rest(out, found.len(), shown)?;
        writeln!(out)
    }

    fn json(&self) -> Json {
        let report = self.summary.report.as_ref();
        let device = report.and_then(|report| report.device.as_ref());
        let mut json = self.summary.to_json();
        json["device"] = json!(device.map(crate::device::to_json));
        json
    }
}
