//! The report of a merge, as text and as JSON.

use std::io::{self, Write};

use batt::OnError;
use batt::card::{DonorPool, Form, MergedBatt, StepUse, json_beside, structural_hash};
use serde_json::{Value as Json, json};

use super::CardArgs;
use crate::ui::{counted, escaped, grouped, rest, table, table_text};

/// The number of rows listed without `--verbose`.
const LISTED: usize = 20;

/// The report of a merge.
pub struct Report<'r> {
    pub args: &'r CardArgs,
    pub merged: &'r MergedBatt,
    pub donors: &'r DonorPool,
    /// The number of donors that are mutants.
    pub mutants: usize,
}

impl Report<'_> {
    /// Writes the report in the requested form.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.args.json {
            return writeln!(out, "{}", self.json());
        }
        if self.args.stats {
            self.write_tables(out)?;
        }
        let stats = &self.merged.stats;
        writeln!(
            out,
            "merged {} and {}: {}, {} after sharing, {} after simplification",
            match self.mutants {
                0 => counted(stats.solvers, "solver"),
                n => format!(
                    "{} ({})",
                    counted(stats.solvers, "solver"),
                    counted(n, "mutant")
                ),
            },
            counted(stats.differs, "differ"),
            counted(stats.before, "step"),
            grouped(stats.shared),
            grouped(stats.after),
        )?;
        if self.args.to_stdout() {
            return Ok(());
        }
        let files = self.files();
        let [python, provenance] = files.each_ref().map(|file| escaped(file, &[]));
        writeln!(out, "wrote {python} and {provenance}")
    }

    fn files(&self) -> [String; 2] {
        let python = &self.args.output;
        [python, &json_beside(python)].map(|path| path.display().to_string())
    }

    fn write_tables(&self, out: &mut impl Write) -> io::Result<()> {
        let stats = &self.merged.stats;
        let shown = if self.args.verbose {
            usize::MAX
        } else {
            LISTED
        };
        // Only steps of several solvers are listed.
        let shared = stats.uses.partition_point(|step| step.donors > 1);
        if shared > 0 {
            let mut rows = table(&["step", "solvers", "call"], &[1]);
            for step in stats.uses[..shared].iter().take(shown) {
                let donors = grouped(step.donors as usize);
                rows.add_row([format!("t{}", step.number), donors, self.call(step)]);
            }
            write!(out, "{}", table_text(&rows))?;
            rest(out, shared, shown)?;
            writeln!(out)?;
        }
        if !stats.ops.is_empty() {
            let mut rows = table(&["primitive", "called", "passed on"], &[1, 2]);
            for count in stats.ops.iter().take(shown) {
                let [called, passed] = [count.called, count.passed].map(grouped);
                rows.add_row([count.op.op().name.to_owned(), called, passed]);
            }
            write!(out, "{}", table_text(&rows))?;
            rest(out, stats.ops.len(), shown)?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Returns the call of a step.
    fn call(&self, step: &StepUse) -> String {
        let batt = &self.merged.batt;
        let id = batt.step_numbered(step.number);
        id.map(|id| batt.call_text(id)).unwrap_or_default()
    }

    fn json(&self) -> Json {
        let (args, batt, stats) = (self.args, &self.merged.batt, &self.merged.stats);
        let donors = self.donors.iter().map(|donor| {
            let mutant = donor.mutant_of.as_ref();
            json!({
                "id": donor.id,
                "mutant_of": mutant.map(|(parent, _)| parent),
                "change": mutant.map(|(_, change)| change),
                "function": donor.program.name(),
                "file": donor.file,
                "cells": donor.cells,
                "hash": structural_hash(&donor.program),
            })
        });
        let uses = stats.uses.iter().map(|step| {
            json!({"step": format!("t{}", step.number), "call": self.call(step), "donors": step.donors})
        });
        let ops = stats.ops.iter().map(|count| {
            json!({"op": count.op.op().name, "called": count.called, "passed": count.passed})
        });
        json!({
            "solvers": stats.solvers,
            "mutants": self.mutants,
            "differs": stats.differs,
            "dialect": batt.dialect().name(),
            "form": match self.merged.form {
                Form::Plain => "plain",
                Form::Guarded => "guarded",
            },
            "on_error": match batt.on_error {
                OnError::Poison => "poison",
                OnError::Defaults => "defaults",
            },
            "seed": args.count.or(args.mutants).map(|_| args.seed),
            "steps": {
                "solvers": stats.solver_steps,
                "before": stats.before,
                "shared": stats.shared,
                "after": stats.after,
            },
            "donors": donors.collect::<Vec<_>>(),
            "uses": uses.collect::<Vec<_>>(),
            "ops": ops.collect::<Vec<_>>(),
            "files": (!args.to_stdout()).then(|| self.files()),
        })
    }
}
