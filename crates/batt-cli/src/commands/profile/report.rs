//! The report of a profile, as text and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use batt::profile::BattProfile;
use batt::{Batt, StepId};
use serde_json::{Value as Json, json};

use crate::interrupt;
use crate::ui::{counted, escaped, grouped, name, table, table_text};
use crate::units::{bytes, mean, percent, share, time};

/// A profile of a batt on the CPU.
pub struct Report<'a> {
    /// The file of the batt.
    pub file: &'a str,
    /// The batt.
    pub batt: &'a Batt,
    /// The measurements.
    pub profile: &'a BattProfile,
    /// The number of samples in the tasks.
    pub samples: usize,
    /// The number of rows in each table.
    pub top: usize,
}

impl Report<'_> {
    /// Writes tables and a few sentences.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let profile = self.profile;
        write!(
            out,
            "{} of {}: {} on {} of {}",
            name(self.batt.program.name()),
            escaped(self.file, &[]),
            counted(profile.steps.len(), "step"),
            grouped(profile.runs),
            counted(self.samples, "sample"),
        )?;
        if interrupt::happened() {
            write!(out, " (interrupted)")?;
        }
        writeln!(out)?;
        if profile.runs == 0 {
            return Ok(());
        }
        self.write_ops(out)?;
        self.write_steps(out)?;
        self.write_critical_path(out)?;
        self.write_overhead(out)
    }

    fn write_ops(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nprimitives, by their own time:")?;
        let header = [
            "op", "calls", "total", "self", "share", "mean", "p99", "bytes",
        ];
        let mut rows = table(&header, &[1, 2, 3, 4, 5, 6, 7]);
        let all = self.profile.of_primitives();
        for (op, times) in self.profile.ops.iter().take(self.top) {
            rows.add_row([
                (*op).to_owned(),
                grouped(times.calls as usize),
                time(times.total),
                time(times.own),
                percent(share(times.own, all)),
                time(mean(times.total, times.calls)),
                time(times.quantile(0.99)),
                bytes(times.bytes),
            ]);
        }
        write!(out, "{}", table_text(&rows))?;
        self.rest(out, self.profile.ops.len())
    }

    fn write_steps(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nslowest steps:")?;
        let header = [
            "step",
            "runs",
            "total",
            "mean",
            "share",
            "failed",
            "fell back",
            "call",
        ];
        let mut rows = table(&header, &[1, 2, 3, 4, 5, 6]);
        let slowest = self.profile.slowest();
        for &id in slowest.iter().take(self.top) {
            let step = &self.profile.steps[id.index()];
            rows.add_row([
                self.name(id).to_owned(),
                grouped(step.count.executed as usize),
                time(step.time),
                time(mean(step.time, step.count.executed)),
                percent(self.share_of_steps(step.time)),
                grouped(step.count.failed as usize),
                grouped(step.count.fallbacks as usize),
                self.batt.call_text(id),
            ]);
        }
        write!(out, "{}", table_text(&rows))?;
        self.rest(out, slowest.len())
    }

    fn write_critical_path(&self, out: &mut impl Write) -> io::Result<()> {
        let profile = self.profile;
        let path = &profile.critical_path;
        let whole = profile.of_critical_path();
        writeln!(
            out,
            "\ncritical path: {}, {} of {} a run ({}); with more cores, one run is at most {} times as fast",
            counted(path.len(), "step"),
            time(mean(whole, profile.runs as u64)),
            time(mean(profile.of_steps(), profile.runs as u64)),
            percent(self.share_of_steps(whole)),
            profile
                .speedup_at_most()
                .map_or("-".to_owned(), |n| format!("{n:.1}")),
        )?;
        let mut rows = table(&["step", "a run", "share", "call"], &[1, 2]);
        for &id in path.iter().take(self.top) {
            let step = &profile.steps[id.index()];
            rows.add_row([
                self.name(id).to_owned(),
                time(mean(step.time, profile.runs as u64)),
                percent(self.share_of_steps(step.time)),
                self.batt.call_text(id),
            ]);
        }
        write!(out, "{}", table_text(&rows))?;
        self.rest(out, path.len())
    }

    fn write_overhead(&self, out: &mut impl Write) -> io::Result<()> {
        let profile = self.profile;
        writeln!(
            out,
            "\nprofiling made the runs take {:.1} times as long ({} instead of {})\n\
             it added about {} to each of {}: {} to the own time of the call, the rest to that of its caller",
            share(profile.profiled, profile.plain),
            time(profile.profiled),
            time(profile.plain),
            time(profile.cost_of_call()),
            counted(profile.calls() as usize, "call"),
            time(profile.cost_inside()),
        )?;
        let Some(ratio) = profile.counting else {
            return Ok(());
        };
        writeln!(
            out,
            "counting steps is always on and makes a run take {ratio:.3} times as long",
        )
    }

    fn rest(&self, out: &mut impl Write, all: usize) -> io::Result<()> {
        match all.saturating_sub(self.top) {
            0 => Ok(()),
            more => writeln!(
                out,
                " ... and {} more (--top {all} lists all)",
                grouped(more)
            ),
        }
    }

    /// Returns the whole profile as JSON, with times in nanoseconds.
    pub fn json(&self) -> Json {
        let profile = self.profile;
        let all = self.profile.of_primitives();
        let ops = profile.ops.iter().map(|(op, times)| {
            json!({
                "op": op,
                "calls": times.calls,
                "total_ns": nanos(times.total),
                "self_ns": nanos(times.own),
                "self_share": share(times.own, all),
                "mean_ns": nanos(mean(times.total, times.calls)),
                "p99_ns": nanos(times.quantile(0.99)),
                "bytes": times.bytes,
            })
        });
        let steps = self.batt.program.iter().map(|(id, _)| {
            let step = &profile.steps[id.index()];
            json!({
                "step": self.name(id),
                "call": self.batt.call_text(id),
                "executed": step.count.executed,
                "failed": step.count.failed,
                "fallbacks": step.count.fallbacks,
                "total_ns": nanos(step.time),
                "mean_ns": nanos(mean(step.time, step.count.executed)),
                "share": self.share_of_steps(step.time),
            })
        });
        let tree = profile.tree.iter().map(|node| {
            json!({
                "op": node.op,
                "parent": node.parent,
                "calls": node.calls,
                "self_ns": nanos(node.own),
            })
        });
        let path = profile.critical_path.iter().map(|&id| self.name(id));
        let critical = profile.of_critical_path();
        json!({
            "batt": self.batt.program.name(),
            "file": self.file,
            "runs": profile.runs,
            "samples": self.samples,
            "ops": ops.collect::<Vec<_>>(),
            "steps": steps.collect::<Vec<_>>(),
            "critical_path": {
                "steps": path.collect::<Vec<_>>(),
                "total_ns": nanos(critical),
                "share": self.share_of_steps(critical),
                "speedup_at_most": profile.speedup_at_most(),
            },
            "tree": tree.collect::<Vec<_>>(),
            "overhead": {
                "plain_ns": nanos(profile.plain),
                "profiled_ns": nanos(profile.profiled),
                "ratio": share(profile.profiled, profile.plain),
                "calls": profile.calls(),
                "call_ns": nanos(profile.cost_of_call()),
                "call_self_ns": nanos(profile.cost_inside()),
                "clock_ns": nanos(profile.clock),
                "counting_ratio": profile.counting,
            },
            "interrupted": interrupt::happened(),
        })
    }

    fn name(&self, id: StepId) -> &str {
        &self.batt.program.step(id).name
    }

    fn share_of_steps(&self, part: Duration) -> f64 {
        share(part, self.profile.of_steps())
    }
}

fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}
