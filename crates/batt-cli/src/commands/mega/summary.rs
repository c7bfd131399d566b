//! What it all came to, for people and for programs.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::tally::Totals;
use super::{Done, MegaArgs, Work};
use crate::ui::{counted, grouped, rest, table, table_text};

/// Rows listed without `--verbose`.
const LISTED: usize = 20;

/// What it all came to.
pub struct Summary<'s, 'a> {
    pub args: &'s MegaArgs,
    pub work: &'s Work<'a>,
    pub done: Done,
}

impl Summary<'_, '_> {
    /// Are all runs done?
    pub fn is_complete(&self) -> bool {
        self.totals().runs == self.work.len()
    }

    fn totals(&self) -> Totals {
        self.done.earlier.and(&self.done.report)
    }

    /// Writes it the way the arguments want it.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.args.json {
            return writeln!(out, "{}", self.json());
        }
        let shown = if self.args.verbose {
            usize::MAX
        } else {
            LISTED
        };
        let (work, solved) = (self.work, &self.done.solved);
        if !solved.is_empty() {
            let mut rows = table(&["task", "solved by"], &[]);
            for solved in solved.iter().take(shown) {
                let task = &work.data.tasks()[solved.task].id;
                rows.add_row([task, &solved.donors.join(", ")]);
            }
            write!(out, "{}", table_text(&rows))?;
            rest(out, solved.len(), shown)?;
            writeln!(out)?;
        }
        if self.args.strict {
            self.write_defaults(out, shown)?;
        }
        let totals = self.totals();
        let candidates = totals.values + totals.faults.iter().map(|(_, n)| n).sum::<u64>();
        let steps = work.batts.iter().map(|b| b.program.steps().len()).sum();
        writeln!(
            out,
            "{} of {} on {}: {}, {} right",
            counted(steps, "step"),
            counted(work.batts.len(), "batt"),
            match self.is_complete() {
                true => counted(work.samples.len(), "sample"),
                false => counted(totals.runs, "run"),
            },
            counted(candidates as usize, "candidate"),
            grouped(totals.right as usize),
        )?;
        if !totals.faults.is_empty() {
            let faults = totals.faults.iter();
            let faults: Vec<String> = faults
                .map(|(fault, n)| format!("{} {fault}", grouped(*n as usize)))
                .collect();
            writeln!(out, "errors: {}", faults.join(", "))?;
        }
        let tasks: BTreeSet<usize> = solved.iter().map(|s| s.task).collect();
        let all = counted(work.data.len(), "task");
        write!(out, "solved {} of {all}", grouped(tasks.len()))?;
        if !self.is_complete() {
            let runs = counted(work.len(), "run");
            write!(
                out,
                " (interrupted after {} of {runs})",
                grouped(totals.runs)
            )?;
        }
        writeln!(out)
    }

    /// The steps that fell back to a default, the most frequent first.
    fn write_defaults(&self, out: &mut impl Write, shown: usize) -> io::Result<()> {
        let mut found = Vec::new();
        for (batt, counts) in self.work.batts.iter().zip(&self.done.report.steps) {
            for (id, step) in batt.program.iter() {
                let count = counts[id.index()];
                if count.fallbacks > 0 {
                    found.push((count, step.name.clone(), batt.call_text(id)));
                }
            }
        }
        found.sort_by_key(|(count, ..)| std::cmp::Reverse(count.fallbacks));
        if self.done.earlier.runs > 0 {
            writeln!(out, "of the runs since the work was resumed:")?;
        }
        if found.is_empty() {
            return writeln!(out, "no step fell back to a default\n");
        }
        let mut rows = table(&["step", "fell back", "of", "call"], &[1, 2]);
        for (count, name, call) in found.iter().take(shown) {
            let numbers = [count.fallbacks, count.executed].map(|n| grouped(n as usize));
            let [fallbacks, executed] = numbers;
            rows.add_row([name.clone(), fallbacks, executed, call.clone()]);
        }
        write!(out, "{}", table_text(&rows))?;
        rest(out, found.len(), shown)?;
        writeln!(out)
    }

    fn json(&self) -> Json {
        let (work, report, totals) = (self.work, &self.done.report, self.totals());
        let faults = totals.faults.into_iter();
        let faults: serde_json::Map<String, Json> = faults
            .map(|(fault, n)| (fault.to_owned(), json!(n)))
            .collect();
        let solved = self.done.solved.iter();
        let solved: Vec<Json> = solved
            .map(|solved| {
                json!({
                    "batt": work.names[solved.batt],
                    "task": work.data.tasks()[solved.task].id,
                    "donors": solved.donors,
                })
            })
            .collect();
        let sum = |of: fn(&batt_engine::StepCount) -> u64| -> u64 {
            report.steps.iter().flatten().map(of).sum()
        };
        json!({
            "runs": totals.runs,
            "resumed": self.done.earlier.runs,
            "samples": work.samples.len(),
            "tasks": work.data.len(),
            "right": totals.right,
            "values": totals.values,
            "errors": faults,
            "solved": solved,
            "steps": {
                "executed": sum(|s| s.executed),
                "failed": sum(|s| s.failed),
                "fallbacks": sum(|s| s.fallbacks),
            },
            "device": report.device.as_ref().map(crate::device::to_json),
            "batch_size": report.batch_size,
            "threads": report.workers,
            "seconds": report.elapsed.as_secs_f64(),
            "samples_per_second": report.runs as f64 / report.elapsed.as_secs_f64().max(1e-9),
            "interrupted": !self.is_complete(),
        })
    }
}
