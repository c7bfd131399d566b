//! Profiles of batts: time by primitive, by step, and along the longest chain of steps.

use std::time::{Duration, Instant};

use batt_dsl::{Limits, OpTimes, ProfileNode};
use batt_lang::{Batt, Operand, StepId};

use crate::batt::{BattWorker, CompiledBatt, Goal, StepCount};
use crate::cancel::Cancel;
use crate::sample::Sample;

/// The profile of a batt over some samples, on one thread.
#[derive(Clone, Debug)]
pub struct BattProfile {
    /// The number of samples that were run.
    pub runs: usize,
    /// The primitives that were called, by name, the most expensive first.
    pub ops: Vec<(&'static str, OpTimes)>,
    /// Every call path that occurred, for flame graphs.
    pub tree: Vec<ProfileNode>,
    /// Time and counts of each step.
    pub steps: Vec<StepProfile>,
    /// The chain of dependent steps that takes the longest time in total.
    pub critical_path: Vec<StepId>,
    /// The time of the runs without profiling.
    pub plain: Duration,
    /// The time of the same runs with profiling; the difference is the cost of profiling.
    pub profiled: Duration,
    /// The time to read the clock once, which is about the time of a cheap step. It is subtracted
    /// from the times of steps, but not from the times of primitives.
    pub clock: Duration,
    /// The time of a run that counts steps relative to one that does not; 1 means no difference.
    /// This is the median over the runs, or `None` if there were too few. Steps are always counted
    /// outside this measurement.
    pub counting: Option<f64>,
}

/// The profile of one step over all runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepProfile {
    /// How often the step was executed, failed, or fell back to a default.
    pub count: StepCount,
    /// The time of all executions, without the profiling of primitives and without reading the
    /// clock.
    pub time: Duration,
}

impl BattProfile {
    /// Returns the number of calls of primitives in all runs.
    pub fn calls(&self) -> u64 {
        self.ops.iter().map(|(_, times)| times.calls).sum()
    }

    /// Returns the total time of all primitives, each without the primitives it calls.
    pub fn of_primitives(&self) -> Duration {
        self.ops.iter().map(|(_, times)| times.own).sum()
    }

    /// Returns the steps that were executed, the slowest first.
    pub fn slowest(&self) -> Vec<StepId> {
        let executed = |(_, step): &(u32, &StepProfile)| step.count.executed > 0;
        let mut steps: Vec<_> = (0..).zip(&self.steps).filter(executed).collect();
        steps.sort_by_key(|(_, step)| std::cmp::Reverse(step.time));
        steps
            .into_iter()
            .map(|(number, _)| StepId(number))
            .collect()
    }

    /// Returns the factor by which a run could be faster if all steps off the critical path took no
    /// time; `None` if the path took none.
    pub fn speedup_at_most(&self) -> Option<f64> {
        let (all, critical) = (self.of_steps(), self.of_critical_path());
        (!critical.is_zero()).then(|| all.as_secs_f64() / critical.as_secs_f64())
    }

    /// Returns the total time of all steps.
    pub fn of_steps(&self) -> Duration {
        self.steps.iter().map(|step| step.time).sum()
    }

    /// Returns the total time of the steps on the critical path.
    pub fn of_critical_path(&self) -> Duration {
        let path = self.critical_path.iter();
        path.map(|id| self.steps[id.index()].time).sum()
    }

    /// Returns the time that profiling adds to each call of a primitive.
    pub fn cost_of_call(&self) -> Duration {
        self.by_call(self.profiled.saturating_sub(self.plain))
    }

    /// Returns how much of [`cost_of_call`](BattProfile::cost_of_call) is in the measured time of
    /// the call itself. It is estimated by how much longer all primitives seem to take than the
    /// steps that call them. The rest is in the time of the caller.
    pub fn cost_inside(&self) -> Duration {
        let inside = self.by_call(self.of_primitives().saturating_sub(self.of_steps()));
        inside.min(self.cost_of_call())
    }

    fn by_call(&self, time: Duration) -> Duration {
        let nanos = time.as_nanos() / u128::from(self.calls().max(1));
        Duration::from_nanos(nanos as u64)
    }
}

/// Profiles a batt. Each sample runs plainly with and without counting, then with timed steps, then
/// with timed primitives, one directly after the other, so that a busy machine disturbs all of them
/// alike. Cancellation ends the work early.
pub fn profile(
    batt: &Batt,
    samples: &[Sample<'_>],
    limits: &Limits,
    stop: &Cancel,
    mut progress: impl FnMut(usize),
) -> BattProfile {
    let plain = CompiledBatt::new(batt);
    let inside = CompiledBatt::new(&with_twins(batt));
    let mut worker = BattWorker::default();
    let mut watched = BattWorker::default();
    let mut result = BattProfile {
        runs: 0,
        ops: Vec::new(),
        tree: Vec::new(),
        steps: Vec::new(),
        critical_path: Vec::new(),
        plain: Duration::ZERO,
        profiled: Duration::ZERO,
        clock: Duration::ZERO,
        counting: None,
    };
    let mut counts = vec![StepCount::default(); plain.len()];
    let mut ignored = vec![StepCount::default(); plain.len()];
    let mut times = vec![Duration::ZERO; plain.len()];
    let mut clock = Vec::new();
    let mut counting = Comparison::default();
    // Warm-up: the first run finds cold caches and requests memory from the system.
    if let Some(sample) = samples.first() {
        let solve = Goal::Solve;
        plain.run(&mut worker, sample, solve, limits, &mut [], |_, _| ());
    }
    for sample in samples {
        if stop.is_cancelled() {
            break;
        }
        let run = |batt: &CompiledBatt, worker: &mut BattWorker, counts: &mut [StepCount]| {
            let started = Instant::now();
            batt.run(worker, sample, Goal::Solve, limits, counts, |_, _| ());
            started.elapsed()
        };
        let before = executed(&counts);
        let without = counting.compare(&mut worker, |worker, counted| {
            let counts = if counted { &mut counts[..] } else { &mut [] };
            run(&plain, worker, counts)
        });
        let started = Instant::now();
        plain.run_timed(&mut worker, sample, limits, &mut times, &mut ignored);
        let with = started.elapsed();
        // Each step reads the clock twice, and one reading is inside the measured time.
        let readings = 2 * (executed(&counts) - before).max(1);
        clock.push((with.as_secs_f64() - without.as_secs_f64()) / readings as f64);
        result.plain += without;
        result.profiled += run(&inside, &mut watched, &mut ignored);
        result.runs += 1;
        progress(result.runs);
    }
    if !clock.is_empty() {
        result.clock = Duration::from_secs_f64(median(&mut clock).max(0.0));
    }
    let steps = counts.into_iter().zip(times);
    result.steps = steps
        .map(|(count, time)| {
            let reading = result.clock.as_nanos() as u64 * count.executed;
            let time = time.saturating_sub(Duration::from_nanos(reading));
            StepProfile { count, time }
        })
        .collect();
    let profile = watched.profile();
    result.ops = profile
        .ops()
        .map(|(op, times)| (op, times.clone()))
        .collect();
    result
        .ops
        .sort_by_key(|(op, times)| (std::cmp::Reverse(times.own), *op));
    result.tree = profile.tree().to_vec();
    result.critical_path = critical_path(batt, &result.steps);
    result.counting = counting.ratio();
    result
}

/// The number of runs in each order that is enough to show a difference of one percent.
const MIN_RUNS: usize = 50;

/// The times of runs with counting relative to runs without.
#[derive(Default)]
struct Comparison {
    /// The ratio of counted to uncounted time of each comparison: first those where the counted run
    /// came first, then those where it came second.
    ratios: [Vec<f64>; 2],
}

impl Comparison {
    /// Makes both runs, in alternating order. Returns the time with counting.
    fn compare<S>(
        &mut self,
        state: &mut S,
        mut run: impl FnMut(&mut S, bool) -> Duration,
    ) -> Duration {
        let second = usize::from(self.ratios[0].len() > self.ratios[1].len());
        let (counted, uncounted) = if second == 0 {
            let counted = run(state, true);
            (counted, run(state, false))
        } else {
            let uncounted = run(state, false);
            (run(state, true), uncounted)
        };
        let uncounted = uncounted.as_secs_f64().max(1e-9);
        self.ratios[second].push(counted.as_secs_f64() / uncounted);
        counted
    }

    /// Returns the median ratio. The second run of a comparison finds warmer caches; the mean over
    /// both orders cancels this effect.
    fn ratio(mut self) -> Option<f64> {
        let enough = self.ratios.iter().all(|ratios| ratios.len() >= MIN_RUNS);
        let [first, second] = &mut self.ratios;
        enough.then(|| (median(first) * median(second)).sqrt())
    }
}

/// Returns the number of steps executed so far.
fn executed(counts: &[StepCount]) -> u64 {
    counts.iter().map(|count| count.executed).sum()
}

/// Returns the median of some numbers. A run that the system interrupted does not move it.
fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Returns the batt with every primitive replaced by its variant that measures time.
fn with_twins(batt: &Batt) -> Batt {
    let mut twin = batt.clone();
    twin.program = batt.program.clone().with_operands(|operand| {
        if let Operand::Op(id) = operand {
            *id = id.profiled();
        }
    });
    twin
}

/// Returns the chain of steps that takes the longest time in total, first step first.
fn critical_path(batt: &Batt, steps: &[StepProfile]) -> Vec<StepId> {
    let mut longest: Vec<(Duration, Option<StepId>)> = Vec::with_capacity(steps.len());
    for (id, step) in batt.program.iter() {
        let before = step.kind.operands().filter_map(|operand| match operand {
            Operand::Step(earlier) => Some((longest[earlier.index()].0, *earlier)),
            _ => None,
        });
        let (time, from) = match before.max() {
            Some((time, from)) => (time, Some(from)),
            None => (Duration::ZERO, None),
        };
        longest.push((time + steps[id.index()].time, from));
    }
    let last = (0..longest.len()).max_by_key(|&k| longest[k].0);
    let mut path = Vec::new();
    let mut next = last.map(|k| StepId(k as u32));
    while let Some(id) = next {
        path.push(id);
        next = longest[id.index()].1;
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use batt_arc::Grid;
    use batt_lang::BattFile;

    use super::*;

    fn batt(steps: &[&str]) -> Batt {
        let mut text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n".to_owned();
        // Every step is a candidate, because only needed steps are executed.
        for (k, step) in (1..).zip(steps) {
            text += &format!("    t{k} = {step}\n    o.append(({k}, False, 'aa11', t{k}))\n");
        }
        text += "    return o, s\n";
        let mut file = BattFile::parse(&text, "b.py", None);
        assert!(file.is_clean(), "{:?}", file.diagnostics);
        file.batts.remove(0)
    }

    fn profile_of(batt: &Batt, input: &Grid, runs: usize) -> BattProfile {
        let sample = Sample {
            demos: &[],
            input,
            expected: None,
        };
        let stop = Cancel::new();
        profile(batt, &vec![sample; runs], &Limits::default(), &stop, |_| ())
    }

    #[test]
    fn the_critical_path_is_the_slow_chain() {
        let batt = batt(&[
            "identity(I)",
            "interval(ZERO, 300, ONE)",
            "product(t2, t2)",
            "hmirror(t1)",
            "size(t3)",
        ]);
        let input = Grid::from_rows(&[[1, 2], [3, 4]]).unwrap();
        let found = profile_of(&batt, &input, 3);
        let path: Vec<u32> = found.critical_path.iter().map(|id| id.0).collect();
        assert!(path.starts_with(&[1, 2]), "{path:?}");
        assert!(found.of_critical_path() <= found.of_steps());
        assert_eq!(found.runs, 3);
        assert_eq!(found.calls(), 15);
        assert!(found.steps.iter().all(|step| step.count.executed == 3));
    }

    #[test]
    fn a_profile_of_no_runs_is_empty() {
        let batt = batt(&["identity(I)"]);
        let input = Grid::from_rows(&[[1]]).unwrap();
        let found = profile_of(&batt, &input, 0);
        assert_eq!((found.runs, found.calls()), (0, 0));
        assert_eq!(found.cost_of_call(), Duration::ZERO);
        assert_eq!(found.counting, None);
    }
}
