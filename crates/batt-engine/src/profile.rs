//! Where the time of a batt goes: by primitive, by step, and along the longest chain of steps.

use std::time::{Duration, Instant};

use batt_dsl::{Limits, OpTimes, ProfileNode};
use batt_lang::{Batt, Operand, StepId};

use crate::batt::{BattWorker, CompiledBatt, Goal, StepCount};
use crate::cancel::Cancel;
use crate::sample::Sample;

/// The profile of a batt over some samples, on one thread.
pub struct BattProfile {
    /// Samples that were run.
    pub runs: usize,
    /// The primitives that were called, by name, the most expensive first.
    pub ops: Vec<(&'static str, OpTimes)>,
    /// Every path of calls that occurred, for flame graphs.
    pub tree: Vec<ProfileNode>,
    /// Time and counts of each step.
    pub steps: Vec<StepProfile>,
    /// The chain of steps, each needing the one before, that takes the longest time in total.
    pub critical_path: Vec<StepId>,
    /// Time of the same runs without profiling.
    pub plain: Duration,
    /// Time with profiling: the difference is what profiling costs.
    pub profiled: Duration,
    /// The time to read the clock, which is about that of a cheap step. It is subtracted from the
    /// times of steps; those of primitives are as measured.
    pub clock: Duration,
    /// The time of a run with counted steps relative to one without; 1 is no difference. Steps are
    /// always counted. This is the median over the runs, if there were enough of them.
    pub counting: Option<f64>,
}

/// One step over all runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepProfile {
    /// How often it was executed, failed, fell back.
    pub count: StepCount,
    /// Time of all its executions, without profiling inside and without what reading the clock
    /// takes.
    pub time: Duration,
}

impl BattProfile {
    /// Returns the number of calls of primitives in all runs.
    pub fn calls(&self) -> u64 {
        self.ops.iter().map(|(_, times)| times.calls).sum()
    }

    /// Returns the time of all steps together.
    pub fn of_steps(&self) -> Duration {
        self.steps.iter().map(|step| step.time).sum()
    }

    /// Returns the time of the steps on the critical path.
    pub fn of_critical_path(&self) -> Duration {
        let path = self.critical_path.iter();
        path.map(|id| self.steps[id.index()].time).sum()
    }

    /// Returns what profiling adds to each call of a primitive.
    pub fn cost_of_call(&self) -> Duration {
        self.by_call(self.profiled.saturating_sub(self.plain))
    }

    /// Returns how much of that is in the measured time of the call itself: primitives together
    /// seem to take this much longer than the steps that call them. The rest is in the time of the
    /// caller.
    pub fn cost_inside(&self) -> Duration {
        let own: Duration = self.ops.iter().map(|(_, times)| times.own).sum();
        let inside = self.by_call(own.saturating_sub(self.of_steps()));
        inside.min(self.cost_of_call())
    }

    fn by_call(&self, time: Duration) -> Duration {
        let nanos = time.as_nanos() / u128::from(self.calls().max(1));
        Duration::from_nanos(nanos as u64)
    }
}

/// Profiles a batt. Each sample is run plainly with and without counting, with the steps timed, and
/// with the primitives timed, one after the other, so that a busy machine disturbs all of them
/// alike. Cancelling ends the work early.
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
    // A warm-up: the first run finds cold caches, and asks the system for memory.
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
        // The clock is read twice for a step, and one reading is inside the measured time.
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

/// The least number of runs in either order that shows a difference of one percent.
const ENOUGH: usize = 50;

/// Runs with counting against runs without.
#[derive(Default)]
struct Comparison {
    /// Counted divided by uncounted time: where the counted run came first, and where it came
    /// second.
    ratios: [Vec<f64>; 2],
}

impl Comparison {
    /// Does both runs, in alternating order, and returns the time with counting.
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

    /// Returns the median ratio. The second run finds warmer caches; the mean of both orders
    /// cancels that out.
    fn ratio(mut self) -> Option<f64> {
        let enough = self.ratios.iter().all(|ratios| ratios.len() >= ENOUGH);
        let [first, second] = &mut self.ratios;
        enough.then(|| (median(first) * median(second)).sqrt())
    }
}

/// Returns the number of steps executed so far.
fn executed(counts: &[StepCount]) -> u64 {
    counts.iter().map(|count| count.executed).sum()
}

/// Returns the median of some numbers: a run that the system interrupted does not move it.
fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Returns the batt with every primitive replaced by its twin that measures time.
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
        // Every step is a candidate: others are not executed.
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
