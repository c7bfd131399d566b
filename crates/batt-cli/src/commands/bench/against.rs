//! The same solvers on the same grids by Python and by us, in turns.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_arc::{Dataset, Grid};
use batt_dsl::{Dialect, Limits, OwnedValue, Workspace};
use batt_engine::{Compiled, EvalOptions, Job, Sample, Values, Verdict, run_job};
use batt_lang::{Program, SolverFile};
use serde_json::Value as Json;

use super::python::Python;
use crate::corpus::median;
use crate::error::advised;
use crate::interrupt;
use crate::solvers::{load_all, load_tasks, task_of};
use crate::ui::Ui;

/// Rounds of each side, unless a solver is slow.
const ROUNDS: usize = 7;

/// A batch of ours is at least this long, so that reading the clock does not count.
const BATCH: Duration = Duration::from_micros(200);

/// What the comparison found.
pub struct Comparison {
    pub python: PathBuf,
    pub version: String,
    pub solvers: Vec<Measured>,
    /// How many answers are the same on both sides.
    pub agreed: usize,
    /// Answers compared.
    pub answers: usize,
    /// The first answers that differ.
    pub differences: Vec<String>,
    pub interrupted: bool,
}

/// One solver: microseconds for all its grids together.
pub struct Measured {
    pub name: String,
    pub grids: usize,
    pub python: f64,
    pub ours: f64,
}

impl Measured {
    /// How many times faster we are.
    pub fn ratio(&self) -> f64 {
        self.python / self.ours.max(1e-6)
    }
}

/// Compares with the solvers of a checkout for about as long as said.
pub fn compare(
    checkout: &Path,
    python: Option<&Path>,
    tasks: Option<&Path>,
    time: Duration,
    ui: &Ui,
) -> Result<Comparison> {
    let files = load_all(&[checkout.join("solvers.py")], Some(Dialect::ArcDsl), ui)?;
    let data = load_tasks(&task_folder(checkout, tasks)?, ui)?;
    let work = pairings(&files[0], &data);
    if work.is_empty() {
        return Err(advised(
            "none of the checkout's solvers has a task here",
            "name the folder of the tasks they are for with --tasks",
        ));
    }
    let mut python = Python::start(python, checkout)?;
    let mut comparison = Comparison {
        python: python.path.clone(),
        version: python.version.clone(),
        solvers: Vec::new(),
        agreed: 0,
        answers: 0,
        differences: Vec::new(),
        interrupted: false,
    };
    // A first call of each solver, and then the rounds.
    let bar = ui.progress(work.len() * (ROUNDS + 1), "comparing");
    // Half of the time is Python's.
    let share = time.div_f64(2.0 * work.len() as f64);
    let mut workspace = Workspace::new();
    let mut timings = Vec::new();
    for (program, grids) in &work {
        if interrupt::happened() {
            break;
        }
        bar.set_message(program.name().to_owned());
        timings.push(comparison.first_call(&mut python, &mut workspace, program, grids, share)?);
        bar.inc(1);
    }
    // Round by round over all solvers, not solver by solver: what disturbs the machine for a moment then spoils one
    // round of several solvers, which the median does not see, instead of every round of one.
    for round in 0..ROUNDS {
        for timing in &mut timings {
            if interrupt::happened() {
                break;
            }
            bar.set_message(timing.name.to_owned());
            timing.round(round, &mut python, &mut workspace)?;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    comparison.interrupted = interrupt::happened();
    comparison.solvers = timings.into_iter().filter_map(Timing::measured).collect();
    Ok(comparison)
}

/// Where the tasks are, if nobody says.
pub fn task_folder(checkout: &Path, tasks: Option<&Path>) -> Result<PathBuf> {
    if let Some(tasks) = tasks {
        return Ok(tasks.to_owned());
    }
    let places = [
        checkout.join("../data/training"),
        checkout.join("data/training"),
    ];
    places
        .into_iter()
        .find(|place| place.is_dir())
        .ok_or_else(|| {
            advised(
                "no tasks to run the checkout's solvers on",
                "name the folder of ARC's training tasks with --tasks PATH",
            )
        })
}

/// The solvers that have a task, with its inputs.
fn pairings<'a>(file: &'a SolverFile, data: &'a Dataset) -> Vec<(&'a Program, Vec<&'a Grid>)> {
    file.programs
        .iter()
        .filter(|program| program.params().len() == 1)
        .filter_map(|program| {
            let task = task_of(program.name(), data)?;
            Some((program, task.pairs().map(|(_, pair)| &pair.input).collect()))
        })
        .collect()
}

/// A solver being timed on both sides.
struct Timing<'a> {
    name: &'a str,
    compiled: Compiled,
    grids: &'a [&'a Grid],
    /// How often Python calls it in a round, and how many rounds there are.
    repetitions: usize,
    rounds: usize,
    /// Python's times of the first call, where one call takes the whole share.
    only: Option<Vec<f64>>,
    /// Nanoseconds, by grid and round.
    theirs: Vec<Vec<f64>>,
    ours: Vec<Vec<f64>>,
}

impl Timing<'_> {
    /// One turn of each side.
    fn round(
        &mut self,
        round: usize,
        python: &mut Python,
        workspace: &mut Workspace,
    ) -> Result<()> {
        if round >= self.rounds {
            return Ok(());
        }
        let nanos = match self.only.take() {
            Some(nanos) => nanos,
            None => {
                python
                    .time(self.name, self.grids, self.repetitions, false)?
                    .nanos
            }
        };
        for (samples, nanos) in self.theirs.iter_mut().zip(nanos) {
            samples.push(nanos);
        }
        for (samples, grid) in self.ours.iter_mut().zip(self.grids) {
            samples.push(time_ours(workspace, &self.compiled, grid));
        }
        Ok(())
    }

    /// The medians; none if it has not had a turn.
    fn measured(mut self) -> Option<Measured> {
        let micros = |samples: &mut [Vec<f64>]| -> f64 {
            samples.iter_mut().map(|s| median(s)).sum::<f64>() / 1000.0
        };
        let timed = self.ours.iter().all(|samples| !samples.is_empty());
        timed.then(|| Measured {
            name: self.name.to_owned(),
            grids: self.grids.len(),
            python: micros(&mut self.theirs),
            ours: micros(&mut self.ours),
        })
    }
}

impl Comparison {
    /// The first call of each side warms it up, shows how slow it is and gives the answers.
    fn first_call<'a>(
        &mut self,
        python: &mut Python,
        workspace: &mut Workspace,
        program: &'a Program,
        grids: &'a [&'a Grid],
        share: Duration,
    ) -> Result<Timing<'a>> {
        let name = program.name();
        let compiled = Compiled::new(program);
        let first = python.time(name, grids, 1, true)?;
        let one_pass: f64 = first.nanos.iter().sum::<f64>() / 1e9;
        let passes = share.as_secs_f64() / one_pass.max(1e-9);
        let rounds = (passes as usize).clamp(1, ROUNDS);
        self.agree(workspace, &compiled, program, grids, &first.results);
        Ok(Timing {
            name,
            compiled,
            grids,
            repetitions: (passes as usize / rounds).clamp(1, 10_000),
            rounds,
            only: (passes < 2.0).then_some(first.nanos),
            theirs: vec![Vec::new(); grids.len()],
            ours: vec![Vec::new(); grids.len()],
        })
    }

    /// Compares answers: the same value, kinds and set order included, or an error on both sides.
    fn agree(
        &mut self,
        workspace: &mut Workspace,
        compiled: &Compiled,
        program: &Program,
        grids: &[&Grid],
        theirs: &[Json],
    ) {
        let options = EvalOptions {
            values: Values::All,
            ..EvalOptions::default()
        };
        for (k, (input, theirs)) in grids.iter().zip(theirs).enumerate() {
            let job = Job {
                program: compiled,
                sample: Sample {
                    demos: &[],
                    input,
                    expected: None,
                },
            };
            let result = run_job(workspace, &job, &options);
            let failed = theirs.get("err").is_some();
            let same = match (&result.value, &result.verdict) {
                (Some(value), _) => {
                    !failed && OwnedValue::from_json(theirs).is_ok_and(|theirs| theirs == *value)
                }
                (None, Verdict::Failed(error)) => failed && !error.fault.is_limit(),
                _ => false,
            };
            self.answers += 1;
            self.agreed += usize::from(same);
            if !same {
                let ours = match (&result.value, &result.verdict) {
                    (Some(value), _) => value.to_json().to_string(),
                    (_, Verdict::Failed(error)) => error.fault.to_string(),
                    _ => "nothing".to_owned(),
                };
                let name = program.name();
                let text = format!("{name}, input {k}: Python {theirs}, batt {ours}");
                self.differences.push(text);
            }
        }
    }
}

/// Nanoseconds of one run of ours. As in Python the input is there already and the result stays
/// where it is.
fn time_ours(workspace: &mut Workspace, compiled: &Compiled, grid: &Grid) -> f64 {
    let limits = Limits::default();
    let input = batt_engine::input_grid(grid);
    let mut batch = |repetitions: u32| {
        let start = Instant::now();
        for _ in 0..repetitions {
            workspace.run_on(&input, Dialect::ArcDsl, &limits, |run, input| {
                black_box(compiled.execute_on(run, input).is_ok());
            });
        }
        start.elapsed()
    };
    let mut repetitions = 1;
    loop {
        let time = batch(repetitions);
        if time >= BATCH {
            return time.as_nanos() as f64 / f64::from(repetitions);
        }
        repetitions *= 4;
    }
}
