//! A part of a run whose lines go to a file.

use std::path::Path;

use batt_engine::{RunFields, RunPlan, RunSummary, Values, Verdict};
use batt_results::{
    Existing, Journal, LineKind, MegaTotals, Opened, ResultSink, ResultsHeader, RunSettings,
    each_line, fingerprint,
};
use serde_json::json;

use super::{RunOptions, RunReport, RunResult, plan, run_planned};
use crate::control::Control;
use crate::devices::Devices;
use crate::error::Result;
use crate::merge::{limit_settings, task_fingerprint, unknown_pairs};
use crate::solvers::Solvers;
use crate::tasks::Tasks;

/// A part of a run whose file is open. The file survives an interruption, and [`merge_results`]
/// puts the files of all parts together.
///
/// ```
/// use batt::mega::Existing;
/// use batt::{Control, Devices, RunOptions, RunPart, Shard, Solvers, Tasks};
///
/// # let path = std::env::temp_dir().join(format!("batt-part-{}.jsonl", std::process::id()));
/// let options = RunOptions {
///     shard: Shard::new(2, 10).unwrap(),
///     ..RunOptions::default()
/// };
/// let (solvers, tasks) = (Solvers::embedded(), Tasks::embedded());
/// let part = RunPart::open(&solvers, &tasks, &options, &path, Existing::Resume)?;
/// let report = part.finish(&mut Devices::none(), &Control::new(), |_| ())?;
/// assert_eq!((report.summary.runs(), report.total), (26, 260));
/// # Ok::<(), batt::Error>(())
/// ```
///
/// [`merge_results`]: crate::merge_results
pub struct RunPart {
    solvers: Solvers,
    tasks: Tasks,
    options: RunOptions,
    planned: usize,
    /// The counts of the lines that an earlier run has written.
    summary: RunSummary,
    totals: MegaTotals,
    sink: ResultSink,
    finished: bool,
}

impl RunPart {
    /// Opens the file of the part [`RunOptions::shard`] and reads the lines of an earlier run. All
    /// values are written, whatever [`RunOptions::values`] is.
    pub fn open(
        solvers: &Solvers,
        tasks: &Tasks,
        options: &RunOptions,
        path: &Path,
        existing: Existing,
    ) -> Result<RunPart> {
        let plan = plan(solvers, tasks, options)?;
        let header = ResultsHeader {
            lines: LineKind::Run,
            settings: settings(solvers, tasks, options),
            shard: options.shard,
            runs: plan.total(),
            tasks: plan.planned_tasks().count(),
            unknown: unknown_pairs(plan.planned_tasks()),
        };
        let mut lines = Lines::new(&plan, solvers);
        let opened = Journal::open(path, &header, existing, |_, line| lines.take_over(line))?;
        let (sink, finished) = match opened {
            Opened::Journal { journal, .. } => (ResultSink::file(journal), false),
            Opened::Finished { .. } => {
                each_line(path, |_, line| lines.take_over(line))?;
                if lines.totals.runs < plan.len() {
                    // The record of a finished run is damaged: it begins again.
                    return RunPart::open(solvers, tasks, options, path, Existing::Overwrite);
                }
                (ResultSink::nowhere(), true)
            }
        };
        let options = RunOptions {
            values: Values::All,
            ..options.clone()
        };
        Ok(RunPart {
            solvers: solvers.clone(),
            tasks: tasks.clone(),
            options,
            planned: plan.len(),
            summary: lines.summary,
            totals: lines.totals,
            sink,
            finished,
        })
    }

    /// Returns the number of runs of the part.
    pub fn planned(&self) -> usize {
        self.planned
    }

    /// Returns the number of runs that an earlier, interrupted run has done.
    pub fn resumed(&self) -> usize {
        self.totals.runs
    }

    /// Returns the number of runs still to do.
    pub fn remaining(&self) -> usize {
        self.planned - self.resumed()
    }

    /// Returns whether an earlier run with the same settings has finished the file.
    pub fn was_finished(&self) -> bool {
        self.finished
    }

    /// Runs everything that is not done yet, passes the new results to a function, and completes
    /// the file. After a cancellation it returns the results so far. The written lines stay, and the
    /// same part continues with [`Existing::Resume`]. The report counts earlier lines, too.
    pub fn finish(
        self,
        devices: &mut Devices,
        control: &Control,
        mut each: impl FnMut(RunResult),
    ) -> Result<RunReport> {
        let RunPart {
            mut sink,
            mut totals,
            ..
        } = self;
        let plan = plan(&self.solvers, &self.tasks, &self.options)?;
        // A child, so that a write error cancels this work but not other work of the caller.
        let stop = control.child();
        let mut failed = None;
        let mut line = Vec::new();
        let report = run_planned(
            (&self.solvers, &self.tasks, &self.options),
            &plan,
            self.summary,
            devices,
            &stop,
            |result| {
                let fault = match &result.verdict {
                    Verdict::Failed(error) => Some(error.fault.name()),
                    _ => None,
                };
                line.clear();
                // Writing to memory cannot fail, and the text is JSON.
                let _ = result.write_json(&mut line);
                let text = str::from_utf8(&line).unwrap_or_default();
                if failed.is_none() {
                    match sink.write(text) {
                        Ok(()) => totals.add_run(result.verdict.is_right(), fault),
                        Err(error) => {
                            failed = Some(error);
                            stop.cancel_token().cancel();
                        }
                    }
                }
                each(result);
            },
        );
        if let Some(error) = failed {
            return Err(error.into());
        }
        match report.is_complete() {
            true => drop(sink.finish(&totals)?),
            false => sink.keep()?,
        }
        Ok(report)
    }
}

/// The lines of an earlier run.
struct Lines<'p> {
    plan: &'p RunPlan<'p>,
    solvers: &'p Solvers,
    summary: RunSummary,
    totals: MegaTotals,
}

impl<'p> Lines<'p> {
    fn new(plan: &'p RunPlan<'p>, solvers: &'p Solvers) -> Lines<'p> {
        Lines {
            plan,
            solvers,
            summary: plan.summary(),
            totals: MegaTotals::default(),
        }
    }

    /// Counts the next line. Returns whether it is the line of the next run.
    fn take_over(&mut self, line: &str) -> bool {
        self.read(line).is_some()
    }

    fn read(&mut self, line: &str) -> Option<()> {
        let at = self.totals.runs;
        let record: RunFields<'_> = serde_json::from_str(line).ok()?;
        if at >= self.plan.len() {
            return None;
        }
        let run = self.plan.run(at);
        let solver = self.solvers.at(run.solver).name();
        let is_own = (&*record.solver, &*record.task) == (solver, run.task.id.as_str())
            && record.pair == run.name.to_string();
        let verdict = record
            .verdict(run.pair.output.as_ref())
            .filter(|_| is_own)?;
        run.add_to(&mut self.summary, &verdict);
        let fault = record.error.as_ref().map(|error| &*error.kind);
        self.totals.add_run(record.is_right(), fault);
        Some(())
    }
}

/// Returns the settings on which the lines depend, by the names of the options.
fn settings(solvers: &Solvers, tasks: &Tasks, options: &RunOptions) -> RunSettings {
    let solvers = solvers.iter().map(|solver| {
        let program = solver.program();
        // Faults in the lines name lines of the file.
        let steps = program.steps().iter().map(|step| step.span.line);
        let steps: Vec<u32> = steps.collect();
        fingerprint((program.to_string(), program.dialect().name(), steps))
    });
    let solvers: Vec<String> = solvers.collect();
    let settings = [
        ("solvers", json!(fingerprint(solvers))),
        ("tasks", json!(task_fingerprint(tasks))),
        (
            "all-pairs",
            json!(options.scope == batt_engine::RunScope::AllPairs),
        ),
    ];
    RunSettings::new(settings.into_iter().chain(limit_settings(&options.limits)))
}
