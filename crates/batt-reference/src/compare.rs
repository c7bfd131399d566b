//! Compares Python and this library: runs the same solvers on the same grids, alternating.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use batt_arc::{Dataset, Grid};
use batt_dsl::{Dialect, Limits, OwnedValue, Workspace};
use batt_engine::{Cancel, Compiled, EvalOptions, Job, Sample, Values, Verdict, run_job};
use batt_lang::{Program, SolverFile};
use serde_json::Value as Json;

use crate::checkout::Checkout;
use crate::error::ReferenceError;
use crate::python::Python;

/// The number of rounds of each side, unless a solver is slow.
const ROUNDS: usize = 7;

/// The shortest time that is measured in one piece, so that reading the clock does not matter.
const MIN_TIMED: Duration = Duration::from_micros(200);

/// The outcome of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The Python that was used.
    pub python: PathBuf,
    /// The implementation and version of Python.
    pub version: String,
    /// The times of each solver.
    pub solvers: Vec<SolverTimes>,
    /// The number of answers that are the same on both sides.
    pub agreed: usize,
    /// The number of answers compared.
    pub answers: usize,
    /// Descriptions of the answers that differ.
    pub differences: Vec<String>,
    /// Whether the comparison was cancelled.
    pub interrupted: bool,
}

/// The times of one solver, in microseconds, added up over all its grids.
#[derive(Clone, Debug)]
pub struct SolverTimes {
    /// The name of the solver.
    pub name: String,
    /// The number of grids on which it ran.
    pub grids: usize,
    /// The time of Python.
    pub python: f64,
    /// The time of this library.
    pub ours: f64,
}

impl SolverTimes {
    /// Returns Python's time divided by this library's.
    pub fn ratio(&self) -> f64 {
        self.python / self.ours.max(1e-6)
    }
}

/// Options of [`compare`].
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// The Python to start; `None` uses the system's.
    pub python: Option<PathBuf>,
    /// The approximate time of the whole comparison.
    pub time: Duration,
}

/// Runs the solvers of an arc-dsl checkout on the inputs of their tasks, with Python and with this
/// library, alternating. `file` is the checkout's `solvers.py`. Calls `progress` with the number of
/// steps done and their total. A cancelled comparison contains the solvers that both sides have
/// completed.
pub fn compare(
    checkout: &Checkout,
    file: &SolverFile,
    data: &Dataset,
    options: &CompareOptions,
    cancel: &Cancel,
    mut progress: impl FnMut(usize, usize),
) -> Result<Comparison, ReferenceError> {
    let work = pairings(file, data);
    if work.is_empty() {
        return Err(ReferenceError::NoPairs);
    }
    let mut python = Python::start(options.python.as_deref(), &checkout.path)?;
    let mut comparison = Comparison {
        python: python.path.clone(),
        version: python.version.clone(),
        solvers: Vec::new(),
        agreed: 0,
        answers: 0,
        differences: Vec::new(),
        interrupted: false,
    };
    let total = work.len() * (ROUNDS + 1);
    let mut done = 0;
    let mut step = || {
        done += 1;
        progress(done, total);
    };
    // Python gets half of the time.
    let share = options.time.div_f64(2.0 * work.len() as f64);
    let mut workspace = Workspace::new();
    let mut timings = Vec::new();
    for (program, grids) in &work {
        if cancel.is_cancelled() {
            break;
        }
        timings.push(comparison.first_call(&mut python, &mut workspace, program, grids, share)?);
        step();
    }
    // Each round runs all solvers. A short disturbance of the machine then affects one round of
    // several solvers, which their medians ignore, instead of all rounds of one solver.
    for round in 0..ROUNDS {
        for timing in &mut timings {
            if cancel.is_cancelled() {
                break;
            }
            timing.round(round, &mut python, &mut workspace)?;
            step();
        }
    }
    comparison.interrupted = cancel.is_cancelled();
    comparison.solvers = timings.into_iter().filter_map(Timing::measured).collect();
    Ok(comparison)
}

/// The factors by which this library is faster than Python.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratios {
    /// Python's total time divided by ours, over all solvers.
    pub overall: Option<f64>,
    /// The same ratio without the heavy solver.
    pub without: Option<f64>,
    /// The ratio of the heavy solver.
    pub alone: Option<f64>,
    /// The median of the solvers' ratios.
    pub median: Option<f64>,
    /// The smallest ratio of a solver.
    pub smallest: Option<f64>,
}

impl Comparison {
    /// Summarises the times. `heavy` is the task of a solver that dominates the total, so it is
    /// also reported separately.
    pub fn ratios(&self, heavy: &str) -> Ratios {
        let is_heavy = |solver: &&SolverTimes| solver.name.ends_with(heavy);
        let all = || self.solvers.iter();
        let mut ratios: Vec<f64> = all().map(SolverTimes::ratio).collect();
        Ratios {
            overall: total(all()),
            without: total(all().filter(|solver| !is_heavy(solver))),
            alone: total(all().filter(is_heavy)),
            median: (!ratios.is_empty()).then(|| median(&mut ratios)),
            smallest: ratios.into_iter().min_by(f64::total_cmp),
        }
    }
}

/// Returns Python's total time divided by ours; `None` if there are no solvers.
fn total<'a>(solvers: impl Iterator<Item = &'a SolverTimes>) -> Option<f64> {
    let (python, ours) = solvers.fold((0.0, 0.0), |(python, ours), solver| {
        (python + solver.python, ours + solver.ours)
    });
    (ours > 0.0).then(|| python / ours)
}

/// Returns the median of some numbers; 0 if there are none.
pub fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    match samples.len() {
        0 => 0.0,
        n if n % 2 == 1 => samples[n / 2],
        n => (samples[n / 2 - 1] + samples[n / 2]) / 2.0,
    }
}

/// Returns the solvers that have a task, each with the inputs of the task.
fn pairings<'a>(file: &'a SolverFile, data: &'a Dataset) -> Vec<(&'a Program, Vec<&'a Grid>)> {
    file.programs
        .iter()
        .filter(|program| program.params().len() == 1)
        .filter_map(|program| {
            let task = data.task_of(program.name())?;
            Some((program, task.pairs().map(|(_, pair)| &pair.input).collect()))
        })
        .collect()
}

/// A solver while it is timed on both sides.
struct Timing<'a> {
    name: &'a str,
    compiled: Compiled,
    grids: &'a [&'a Grid],
    /// The number of calls in a round in Python, and the number of rounds.
    repetitions: usize,
    rounds: usize,
    /// Python's times of the first call, if one call takes the whole share of time.
    first_only: Option<Vec<f64>>,
    /// Python's and this library's nanoseconds, by grid and round.
    theirs: Vec<Vec<f64>>,
    ours: Vec<Vec<f64>>,
}

impl Timing<'_> {
    /// Runs one round of each side.
    fn round(
        &mut self,
        round: usize,
        python: &mut Python,
        workspace: &mut Workspace,
    ) -> Result<(), ReferenceError> {
        if round >= self.rounds {
            return Ok(());
        }
        let nanos = match self.first_only.take() {
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

    /// Returns the median times; `None` if the solver had no round.
    fn measured(mut self) -> Option<SolverTimes> {
        let micros = |samples: &mut [Vec<f64>]| -> f64 {
            samples.iter_mut().map(|s| median(s)).sum::<f64>() / 1000.0
        };
        let timed = self.ours.iter().all(|samples| !samples.is_empty());
        timed.then(|| SolverTimes {
            name: self.name.to_owned(),
            grids: self.grids.len(),
            python: micros(&mut self.theirs),
            ours: micros(&mut self.ours),
        })
    }
}

impl Comparison {
    /// Calls a solver once on each side. This warms both up, measures their speed and compares the
    /// answers.
    fn first_call<'a>(
        &mut self,
        python: &mut Python,
        workspace: &mut Workspace,
        program: &'a Program,
        grids: &'a [&'a Grid],
        share: Duration,
    ) -> Result<Timing<'a>, ReferenceError> {
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
            first_only: (passes < 2.0).then_some(first.nanos),
            theirs: vec![Vec::new(); grids.len()],
            ours: vec![Vec::new(); grids.len()],
        })
    }

    /// Compares answers: they agree if the values are the same, including kinds and set order, or
    /// if both sides fail.
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

/// Returns the nanoseconds of one run in this library. As in Python, converting the input and the
/// result is not timed.
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
        if time >= MIN_TIMED {
            return time.as_nanos() as f64 / f64::from(repetitions);
        }
        repetitions *= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_three_solvers() {
        let solver = |name: &str, python, ours| SolverTimes {
            name: name.into(),
            grids: 1,
            python,
            ours,
        };
        let comparison = Comparison {
            python: "python3".into(),
            version: "CPython 3".into(),
            solvers: vec![
                solver("solve_a", 100.0, 2.0),
                solver("solve_b", 90.0, 1.0),
                solver("solve_a64e4611", 9810.0, 97.0),
            ],
            agreed: 3,
            answers: 3,
            differences: Vec::new(),
            interrupted: false,
        };
        let ratios = comparison.ratios("a64e4611");
        assert_eq!(ratios.overall, Some(100.0));
        assert!((ratios.without.unwrap() - 190.0 / 3.0).abs() < 1e-9);
        assert!((ratios.alone.unwrap() - 9810.0 / 97.0).abs() < 1e-9);
        assert_eq!((ratios.median, ratios.smallest), (Some(90.0), Some(50.0)));
        // Interrupted before any solver had a turn.
        let none = Comparison {
            solvers: Vec::new(),
            ..comparison
        };
        let ratios = none.ratios("a64e4611");
        assert_eq!((ratios.median, ratios.smallest), (None, None));
    }

    #[test]
    fn medians() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
