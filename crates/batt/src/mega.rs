//! Mega-batches: batts on every sample of every task, with results that survive an interruption.

use std::collections::HashSet;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use batt_arc::{PairRef, Task};
use batt_dsl::Limits;
use batt_engine::device::{DeviceOptions, Mismatch};
use batt_engine::{CompiledBatt, MegaOptions, MegaResult, Sample, Shard, Verdict, mega_on};
use batt_lang::{Batt, OnError, Output, StepId};
use batt_results::{
    DonorTally, Journal, LineKind, LineWriter, MegaRecord, Opened, ResultSink, ResultsHeader,
    RunSettings, batt_fingerprint,
};
use serde_json::{Value as Json, json};

pub use batt_engine::{MegaReport, StepCount};
pub use batt_results::{Detail, Existing, MegaTotals, ResultsError, SolvedTask};

use crate::batts::Batts;
use crate::control::Control;
use crate::devices::{DeviceBug, DeviceChoice, Devices};
use crate::error::{Error, Result};
use crate::merge::{limit_settings, task_fingerprint, unknown_pairs};
use crate::tasks::Tasks;

/// A request to run batts on every sample of every task: all demonstrations, then all tests.
///
/// ```
/// use batt::{Batts, Control, Mega, Tasks};
///
/// let batts = Batts::parse("
/// def batt(S, I, C):
///     s = []
///     o = []
///     t1 = hmirror(I)
///     o.append((1, False, 'mirror', t1))
///     return o, s
/// ", "b.py");
/// let tasks = Tasks::embedded();
/// let summary = Mega::new(&batts, &tasks).run(&Control::new())?;
/// assert_eq!(summary.totals.runs, summary.samples);
/// assert_eq!(summary.totals.candidates(), summary.samples as u64);
/// # Ok::<(), batt::Error>(())
/// ```
pub struct Mega {
    batts: Batts,
    tasks: Tasks,
    options: MegaOptions,
    on_error: Option<OnError>,
    device: DeviceChoice,
    detail: Detail,
    output: Target,
    listener: Option<Listener>,
}

type Listener = Box<dyn FnMut(MegaOutcome) + Send>;

enum Target {
    Nowhere,
    Writer(Box<dyn Write + Send>),
    File(PathBuf, Existing),
}

impl Mega {
    /// Creates a request for all batts on all tasks, with default limits, on all cores.
    pub fn new(batts: &Batts, tasks: &Tasks) -> Mega {
        Mega {
            batts: batts.clone(),
            tasks: tasks.clone(),
            options: MegaOptions {
                device: DeviceOptions {
                    waves: true,
                    ..DeviceOptions::default()
                },
                ..MegaOptions::default()
            },
            on_error: None,
            device: DeviceChoice::Cpu,
            detail: Detail::default(),
            output: Target::Nowhere,
            listener: None,
        }
    }

    /// Sets the limits of each run. The default time limit is a minute.
    pub fn limits(mut self, limits: Limits) -> Mega {
        self.options.limits = limits;
        self
    }

    /// Sets the number of threads; `None` uses one per core.
    pub fn threads(mut self, threads: Option<NonZeroUsize>) -> Mega {
        self.options.threads = threads;
        self
    }

    /// Sets how many runs may be in progress or waiting for delivery, which bounds memory; `None`
    /// chooses it by the measured cost of runs.
    pub fn batch_size(mut self, size: Option<NonZeroUsize>) -> Mega {
        self.options.batch_size = size;
        self
    }

    /// Sets the mode for failing steps; `None` uses the mode of each batt.
    pub fn on_error(mut self, mode: Option<OnError>) -> Mega {
        self.on_error = mode;
        self
    }

    /// Sets the device for [`Mega::run`]. The default is the CPU.
    pub fn device(mut self, choice: DeviceChoice) -> Mega {
        self.device = choice;
        self
    }

    /// Sets the share of runs, 0 to 1, that devices complete and the CPU repeats for comparison.
    pub fn verify(mut self, share: f64) -> Mega {
        self.options.device.verify = share;
        self
    }

    /// Sets the detail of result lines.
    pub fn detail(mut self, detail: Detail) -> Mega {
        self.detail = detail;
        self
    }

    /// Selects a part of the runs. The default is all of them. [`merge_results`] puts the files of
    /// all parts together; a part does not know which tasks are solved.
    ///
    /// [`merge_results`]: crate::merge_results
    pub fn shard(mut self, shard: Shard) -> Mega {
        self.options.shard = shard;
        self
    }

    /// Writes a JSON line for each run to a file, or a table if the file name ends in `.parquet`.
    pub fn write_to(mut self, path: impl Into<PathBuf>, existing: Existing) -> Mega {
        self.output = Target::File(path.into(), existing);
        self
    }

    /// Passes the line of each run to a writer, in order, at least twice a second.
    pub fn lines_to(mut self, writer: impl Write + Send + 'static) -> Mega {
        self.output = Target::Writer(Box::new(writer));
        self
    }

    /// Hands every result to a function as soon as it is there, in the order of the runs. Results of
    /// an earlier, interrupted run do not come again.
    ///
    /// ```
    /// use batt::{Batts, Control, Mega, Solvers, Tasks};
    /// use std::sync::mpsc;
    ///
    /// let tasks = Tasks::embedded();
    /// let merged = batt::card::merge(&Solvers::embedded(), Some(&tasks))?;
    /// let (sender, results) = mpsc::channel();
    /// Mega::new(&Batts::from(merged.batt), &tasks)
    ///     .on_result(move |result| {
    ///         let right = result.right().filter(|output| output.donor == result.task().id);
    ///         sender.send(right.count()).unwrap();
    ///     })
    ///     .run(&Control::new())?;
    /// assert!(results.iter().all(|right| right == 1), "every solver is right on its own task");
    /// # Ok::<(), batt::Error>(())
    /// ```
    pub fn on_result(mut self, listener: impl FnMut(MegaOutcome) + Send + 'static) -> Mega {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Runs everything that is not done yet. After a cancellation it returns the results so far.
    pub fn run(self, control: &Control) -> Result<MegaSummary> {
        let (choice, limits, threads) = (
            self.device.clone(),
            self.options.limits,
            self.options.threads,
        );
        let run = self.begin()?;
        let mut devices = Devices::open(&choice, run.remaining(), &limits, threads)?;
        run.finish(&mut devices, control)
    }

    /// Opens the output and reads the results of an earlier run.
    pub fn begin(mut self) -> Result<MegaRun> {
        let mut places = Vec::new();
        for (at, task) in self.tasks.iter().enumerate() {
            places.extend(task.pairs().map(|(pair, _)| (at, pair)));
        }
        if places.is_empty() {
            return Err(Error::request(
                "the tasks have no samples",
                "name tasks that have at least one pair",
            ));
        }
        let batts = self.batts.iter();
        let writers = batts.map(|(name, batt)| LineWriter::new(name, batt, self.detail));
        let output = std::mem::replace(&mut self.output, Target::Nowhere);
        let mut run = MegaRun {
            writers: writers.collect(),
            mega: self,
            places,
            sink: ResultSink::nowhere(),
            tally: DonorTally::default(),
            totals: MegaTotals::default(),
            finished: None,
        };
        run.sink = match output {
            Target::Nowhere => ResultSink::nowhere(),
            Target::Writer(writer) => ResultSink::writer(writer),
            Target::File(path, existing) => run.open(&path, existing)?,
        };
        Ok(run)
    }
}

/// The result of one batt on one sample.
#[derive(Clone, Debug)]
pub struct MegaOutcome {
    batts: Batts,
    tasks: Tasks,
    batt: usize,
    task: usize,
    /// The name of the sample's pair in its task.
    pub pair: PairRef,
    /// The verdict on each candidate, in the order of [`Batt::outputs`].
    pub verdicts: Vec<Verdict>,
    /// How long the run took.
    pub time: Duration,
}

impl MegaOutcome {
    /// The name of the batt, and the batt.
    pub fn batt(&self) -> (&str, &Batt) {
        self.batts.at(self.batt)
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.tasks.tasks()[self.task]
    }

    /// The candidates that are right.
    pub fn right(&self) -> impl Iterator<Item = &Output> {
        let candidates = self.batt().1.outputs.iter().zip(&self.verdicts);
        candidates
            .filter(|(_, verdict)| verdict.is_right())
            .map(|(candidate, _)| candidate)
    }
}

/// A mega-batch whose output is open.
pub struct MegaRun {
    mega: Mega,
    /// The task and the pair of each sample.
    places: Vec<(usize, PairRef)>,
    writers: Vec<LineWriter>,
    sink: ResultSink,
    tally: DonorTally,
    /// The totals, at first those of an earlier, interrupted run.
    totals: MegaTotals,
    /// The size of the file, if an earlier run has finished it.
    finished: Option<u64>,
}

impl MegaRun {
    /// Returns the number of runs: every batt on every sample, or those of the part.
    pub fn planned(&self) -> usize {
        self.shard().len(self.total())
    }

    /// Returns the number of runs of all parts.
    pub fn total(&self) -> usize {
        self.mega.batts.len() * self.places.len()
    }

    /// Returns the part of the runs.
    pub fn shard(&self) -> Shard {
        self.mega.options.shard
    }

    /// Returns the number of runs that an earlier, interrupted run has done.
    pub fn resumed(&self) -> usize {
        self.totals.runs
    }

    /// Returns the number of runs still to do.
    pub fn remaining(&self) -> usize {
        self.planned() - self.resumed().min(self.planned())
    }

    /// Returns whether an earlier run with the same settings has finished the file.
    pub fn was_finished(&self) -> bool {
        self.finished.is_some()
    }

    fn open(&mut self, path: &Path, existing: Existing) -> Result<ResultSink> {
        let header = ResultsHeader {
            lines: LineKind::Mega,
            settings: self.settings(),
            shard: self.shard(),
            runs: self.total(),
            tasks: self.mega.tasks.len(),
            unknown: unknown_pairs(self.mega.tasks.iter()),
        };
        let keep = |at: usize, line: &str| self.take_over(at, line).is_some();
        match Journal::open(path, &header, existing, keep)? {
            Opened::Journal { journal, .. } => Ok(ResultSink::file(journal)),
            // The record of a finished run is damaged: it begins again.
            Opened::Finished { totals, .. } if totals.runs != self.planned() => {
                self.open(path, Existing::Overwrite)
            }
            Opened::Finished { totals, bytes } => {
                self.totals = totals;
                self.finished = Some(bytes);
                Ok(ResultSink::nowhere())
            }
        }
    }

    /// Returns the settings on which the results depend, by the names of the options. Resuming
    /// requires the same settings.
    fn settings(&self) -> RunSettings {
        let limits = &self.mega.options.limits;
        let batts = || self.mega.batts.iter();
        let hashes: Vec<String> = batts().map(|(_, batt)| batt_fingerprint(batt)).collect();
        let names: Vec<&str> = batts().map(|(name, _)| name).collect();
        let modes = batts().map(|(_, batt)| self.mega.on_error.unwrap_or(batt.on_error));
        let modes: Vec<String> = modes.map(|mode| format!("{mode:?}")).collect();
        let settings = [
            ("batts", json!(hashes)),
            ("names", json!(names)),
            ("tasks", json!(task_fingerprint(&self.mega.tasks))),
            ("form", json!(self.mega.detail.name())),
            ("on-error", json!(modes)),
        ];
        RunSettings::new(settings.into_iter().chain(limit_settings(limits)))
    }

    /// Returns the batt and the sample of a run of the part.
    fn run_at(&self, at: usize) -> (usize, usize) {
        let run = self.shard().run(at);
        (run / self.places.len(), run % self.places.len())
    }

    /// Returns the id of the task and the name of the pair of a sample.
    fn place(&self, sample: usize) -> (&str, String) {
        let (task, pair) = self.places[sample];
        (&self.mega.tasks.tasks()[task].id, pair.to_string())
    }

    /// Counts a line of an earlier run. Returns `None` if it is not the line of run `at`.
    fn take_over(&mut self, at: usize, line: &str) -> Option<()> {
        let record: MegaRecord<'_> = serde_json::from_str(line).ok()?;
        if at >= self.planned() {
            return None;
        }
        let (batt, sample) = self.run_at(at);
        let (task, pair) = self.place(sample);
        if !self.writers[batt].is_own(&record, task, &pair) {
            return None;
        }
        record.add_to(&mut self.totals);
        self.count(at, record.right.iter().copied());
        Some(())
    }

    fn count(&mut self, at: usize, right: impl Iterator<Item = usize>) {
        // The pairs of a task are in several parts, so a part cannot tell whether it is solved.
        if !self.shard().is_whole() {
            return;
        }
        let (batt, sample) = self.run_at(at);
        let (task, pair) = self.places[sample];
        let task_of = |place: &(usize, PairRef)| place.0;
        let is_last = self.places.get(sample + 1).map(task_of) != Some(task);
        let task = &self.mega.tasks.tasks()[task];
        let known = task.pair(pair).is_some_and(|pair| pair.output.is_some());
        self.tally.add(known, right);
        if is_last {
            let (name, batt) = self.mega.batts.at(batt);
            self.tally
                .end_task(name, &task.id, |output| &batt.outputs[output].donor);
        }
    }

    /// Runs everything that is not done yet and completes the output. After a cancellation it
    /// returns the results so far. The written lines stay, and the same request with
    /// [`Existing::Resume`] continues.
    pub fn finish(mut self, devices: &mut Devices, control: &Control) -> Result<MegaSummary> {
        let (resumed, planned) = (self.resumed(), self.planned());
        let (samples, tasks) = (self.places.len(), self.mega.tasks.len());
        let (shard, total) = (self.shard(), self.total());
        let summary = |totals, bytes, report, bugs| MegaSummary {
            totals,
            shard,
            total,
            planned,
            resumed,
            samples,
            tasks,
            bytes,
            report,
            bugs,
        };
        if let Some(bytes) = self.finished {
            return Ok(summary(self.totals, Some(bytes), None, Vec::new()));
        }
        let (batts, tasks) = (self.mega.batts.clone(), self.mega.tasks.clone());
        let compile = |batt: &Batt| match self.mega.on_error {
            Some(mode) => CompiledBatt::new(batt).on_error(mode),
            None => CompiledBatt::new(batt),
        };
        let compiled: Vec<CompiledBatt> = batts.iter().map(|(_, batt)| compile(batt)).collect();
        let samples = samples_of(&tasks);
        let wanted = self.sink.is_wanted();
        let writers = std::mem::take(&mut self.writers);
        let options = MegaOptions {
            values: wanted && writers.iter().any(LineWriter::needs_values),
            ..self.mega.options.clone()
        };
        // A child token, so that a write error cancels this work but not other work of the caller.
        let stop = control.token().child();
        let mut failed = None;
        let mut listener = self.mega.listener.take();
        let report = mega_on(
            devices.as_mut(),
            &compiled,
            &samples,
            resumed,
            &options,
            &stop,
            |batt, run, entry| wanted.then(|| writers[batt].entry(run, entry)),
            |at, result| {
                if wanted && failed.is_none() {
                    let (batt, sample) = self.run_at(at);
                    let (task, pair) = self.place(sample);
                    let line = writers[batt].line(task, &pair, &result);
                    if let Err(error) = self.sink.write(&line) {
                        failed = Some(error);
                        stop.cancel();
                    }
                }
                self.count(at, result.right());
                if let Some(listener) = &mut listener {
                    listener(self.outcome(at, result));
                }
                control.report(at + 1, planned);
            },
        );
        if let Some(error) = failed {
            return Err(error.into());
        }
        let mismatches = report.device.iter().flat_map(|device| &device.mismatches);
        let bugs = mismatches
            .map(|mismatch| self.bug(mismatch, &samples))
            .collect();
        let mut totals = self.totals;
        totals.add_report(&report);
        totals.solved = self.tally.finish();
        let bytes = match totals.runs == planned {
            true => self.sink.finish(&totals)?,
            false => {
                self.sink.keep()?;
                None
            }
        };
        Ok(summary(totals, bytes, Some(report), bugs))
    }

    fn outcome<T>(&self, at: usize, result: MegaResult<T>) -> MegaOutcome {
        let (batt, sample) = self.run_at(at);
        let (task, pair) = self.places[sample];
        MegaOutcome {
            batts: self.mega.batts.clone(),
            tasks: self.mega.tasks.clone(),
            batt,
            task,
            pair,
            verdicts: result.verdicts,
            time: result.time,
        }
    }

    /// A run that a device got wrong.
    fn bug(&self, mismatch: &Mismatch, samples: &[Sample<'_>]) -> DeviceBug {
        let (at, sample) = self.run_at(mismatch.run);
        let (task, pair) = self.place(sample);
        let (name, batt) = self.mega.batts.at(at);
        let (outputs, scores) = (batt.outputs.len(), batt.scores.len());
        let (entry, steps, value) = match mismatch.entry.checked_sub(outputs) {
            None => {
                let output = &batt.outputs[mismatch.entry];
                let entry = format!("candidate {} ({})", mismatch.entry, output.donor);
                (entry, &output.steps, &output.value)
            }
            Some(k) => {
                let score = &batt.scores[k % scores];
                let kind = if k < scores { "score" } else { "comparison" };
                let entry = format!("{kind} {} ({})", k % scores, score.differ);
                (entry, &score.steps, &score.value)
            }
        };
        let line = |id: &StepId| format!("t{} = {}", batt.numbers[id.index()], batt.call_text(*id));
        let mut program: Vec<String> = steps.iter().map(line).collect();
        program.push(format!("value: {}", batt.program.operand_text(value)));
        DeviceBug {
            place: format!("{entry} of {name} on {task} {pair}"),
            program: program.join("\n"),
            input: samples[sample].input.to_string(),
            cpu: mismatch.cpu.clone(),
            device: mismatch.device.clone(),
        }
    }
}

/// The summary of a mega-batch.
#[derive(Clone, Debug)]
pub struct MegaSummary {
    /// The totals of all runs, including those before an interruption.
    pub totals: MegaTotals,
    /// The part of the runs.
    pub shard: Shard,
    /// The number of runs of all parts: every batt on every sample.
    pub total: usize,
    /// The number of planned runs: those of the part.
    pub planned: usize,
    /// The number of runs that an earlier, interrupted run has done.
    pub resumed: usize,
    /// The number of samples.
    pub samples: usize,
    /// The number of tasks.
    pub tasks: usize,
    /// The size of the finished file, if there is one.
    pub bytes: Option<u64>,
    /// The report of the engine; `None` if an earlier run had finished everything.
    pub report: Option<MegaReport>,
    /// Runs that devices got wrong.
    pub bugs: Vec<DeviceBug>,
}

/// How often a step fell back to the default of what it calls.
#[derive(Clone, Debug)]
pub struct StepDefaults {
    /// The step.
    pub name: String,
    /// What it calls.
    pub call: String,
    /// How often it was executed and fell back.
    pub count: StepCount,
}

impl MegaSummary {
    /// The number of tasks that some donor solves.
    pub fn tasks_solved(&self) -> usize {
        let solved = self.totals.solved.iter();
        let ids: HashSet<&str> = solved.map(|solved| solved.task.as_str()).collect();
        ids.len()
    }

    /// What all steps of all batts did, in the runs of now.
    pub fn steps(&self) -> StepCount {
        let mut all = StepCount::default();
        let report = self.report.iter();
        let steps = report.flat_map(|report| &report.steps).flatten();
        steps.for_each(|count| all.add(count));
        all
    }

    /// The steps that fell back to a default in the runs of now, the most frequent first. `batts`
    /// are those that ran.
    pub fn defaults(&self, batts: &Batts) -> Vec<StepDefaults> {
        let counts = self.report.iter().flat_map(|report| &report.steps);
        let mut found: Vec<StepDefaults> = batts
            .iter()
            .zip(counts)
            .flat_map(|((_, batt), counts)| {
                let steps = batt.program.iter().zip(counts);
                let defaulted = steps.filter(|(_, count)| count.fallbacks > 0);
                defaulted.map(|((id, step), count)| StepDefaults {
                    name: step.name.clone(),
                    call: batt.call_text(id),
                    count: *count,
                })
            })
            .collect();
        found.sort_by_key(|found| std::cmp::Reverse(found.count.fallbacks));
        found
    }

    /// Returns whether all runs are done.
    pub fn is_complete(&self) -> bool {
        self.totals.runs == self.planned
    }

    /// Returns the summary as one JSON object, without the part of devices. A part has no solved
    /// tasks.
    pub fn to_json(&self) -> Json {
        let (totals, report) = (&self.totals, self.report.as_ref());
        let is_whole = self.shard.is_whole();
        let steps = self.steps();
        let seconds = report.map_or(0.0, |report| report.elapsed.as_secs_f64());
        let runs = report.map_or(0, |report| report.runs);
        json!({
            "shard": (!is_whole).then_some(self.shard),
            "runs": totals.runs,
            "resumed": self.resumed,
            "samples": self.samples,
            "tasks": self.tasks,
            "right": totals.right,
            "values": totals.values,
            "errors": totals.errors,
            "solved": is_whole.then_some(&totals.solved),
            "steps": {
                "executed": steps.executed,
                "failed": steps.failed,
                "fallbacks": steps.fallbacks,
            },
            "bytes": self.bytes,
            "batch_size": report.map(|report| report.batch_size),
            "threads": report.map(|report| report.workers),
            "seconds": seconds,
            "samples_per_second": runs as f64 / seconds.max(1e-9),
            "interrupted": !self.is_complete(),
        })
    }
}

/// Returns every sample of every task, the demonstrations of each task first.
pub(crate) fn samples_of(tasks: &Tasks) -> Vec<Sample<'_>> {
    let pairs = tasks
        .iter()
        .flat_map(|task| task.pairs().map(move |(_, pair)| Sample::new(task, pair)));
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::card;
    use crate::solvers::Solvers;

    fn corpus() -> (Batts, Tasks) {
        let tasks = Tasks::embedded();
        let merged = card::merge(&Solvers::embedded(), Some(&tasks)).unwrap();
        (Batts::from(merged.batt), tasks)
    }

    #[test]
    fn an_interrupted_run_resumes_and_a_finished_one_is_left_alone() {
        let (batts, tasks) = corpus();
        let folder = tempfile::tempdir().unwrap();
        let [whole, parts] = ["whole.jsonl", "parts.jsonl"].map(|name| folder.path().join(name));
        let mega = |path: &Path| Mega::new(&batts, &tasks).write_to(path, Existing::Resume);
        let expected = mega(&whole).run(&Control::new()).unwrap();
        assert!(expected.is_complete() && expected.resumed == 0);
        assert_eq!(
            expected.bytes,
            Some(std::fs::metadata(&whole).unwrap().len())
        );
        assert_eq!(expected.totals.solved.len(), tasks.len());

        let control = Control::new();
        let token = control.cancel_token();
        let control = control.on_progress(move |at| {
            if at.done == 20 {
                token.cancel();
            }
        });
        let first = mega(&parts).run(&control).unwrap();
        assert!(!first.is_complete() && first.totals.runs >= 20);
        let second = mega(&parts).run(&Control::new()).unwrap();
        assert_eq!(second.resumed, first.totals.runs);
        assert_eq!(second.totals, expected.totals);
        assert_eq!(
            std::fs::read(&parts).unwrap(),
            std::fs::read(&whole).unwrap()
        );

        let run = mega(&parts).begin().unwrap();
        assert!(run.was_finished() && run.remaining() == 0);
        let third = run.finish(&mut Devices::none(), &Control::new()).unwrap();
        assert!(third.report.is_none());
        assert_eq!(
            (third.totals, third.bytes),
            (expected.totals.clone(), expected.bytes)
        );

        // The record of the finished run has another number of runs.
        let record = folder.path().join("parts.jsonl.meta.json");
        let text = std::fs::read_to_string(&record).unwrap();
        let runs = format!("\"runs\":{}", expected.totals.runs);
        assert!(text.contains(&runs));
        std::fs::write(&record, text.replace(&runs, "\"runs\":1")).unwrap();
        let run = mega(&parts).begin().unwrap();
        assert!(!run.was_finished() && run.resumed() == 0);
        let fourth = run.finish(&mut Devices::none(), &Control::new()).unwrap();
        assert!(fourth.is_complete() && fourth.totals == expected.totals);
    }

    #[test]
    fn a_failing_writer_ends_only_its_own_work() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (batts, tasks) = corpus();
        let control = Control::new();
        let error = Mega::new(&batts, &tasks)
            .lines_to(Full)
            .run(&control)
            .unwrap_err();
        assert!(
            matches!(error, Error::Results(ResultsError::Writer { .. })),
            "{error}"
        );
        assert!(!control.is_cancelled());
    }
}
