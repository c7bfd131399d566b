//! Where the time of a batt goes: by primitive, by step, and along the longest chain of steps.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use batt_dsl::{Limits, Node, OpTimes};
use batt_lang::{Batt, Operand, StepId};

use crate::batt::{BattWorker, CompiledBatt, Pass, StepCount};
use crate::sample::Sample;

/// The profile of a batt over some samples, on one thread.
pub struct BattProfile {
    /// Samples that were run.
    pub runs: usize,
    /// The primitives that were called, by name, the most expensive first.
    pub ops: Vec<(&'static str, OpTimes)>,
    /// Every path of calls that occurred, for flame graphs.
    pub tree: Vec<Node>,
    /// What each step took and did.
    pub steps: Vec<StepProfile>,
    /// The chain of steps, each needing the one before, that takes longest together.
    pub critical_path: Vec<StepId>,
    /// Time of the same runs without profiling.
    pub plain: Duration,
    /// Time with profiling: the difference is what profiling costs.
    pub profiled: Duration,
}

/// One step over all runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepProfile {
    /// How often it was executed, failed, fell back.
    pub count: StepCount,
    /// Time of all its executions, without profiling inside.
    pub time: Duration,
}

/// Profiles a batt. Each sample is run plainly, with the steps timed, and with the primitives timed, one after
/// the other, so that a busy machine disturbs all three alike. Setting `stop` ends the work early.
pub fn profile(
    batt: &Batt,
    samples: &[Sample<'_>],
    limits: &Limits,
    stop: &AtomicBool,
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
        steps: vec![StepProfile::default(); plain.len()],
        critical_path: Vec::new(),
        plain: Duration::ZERO,
        profiled: Duration::ZERO,
    };
    let mut counts = vec![StepCount::default(); plain.len()];
    let mut ignored = vec![StepCount::default(); plain.len()];
    let mut times = vec![Duration::ZERO; plain.len()];
    for sample in samples {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let run = |batt: &CompiledBatt, worker: &mut BattWorker, counts: &mut [StepCount]| {
            let started = Instant::now();
            batt.run(worker, sample, Pass::Solve, limits, counts, |_, _| ());
            started.elapsed()
        };
        result.plain += run(&plain, &mut worker, &mut counts);
        result.profiled += run(&inside, &mut watched, &mut ignored);
        plain.run_timed(&mut worker, sample, limits, &mut times, &mut ignored);
        result.runs += 1;
        progress(result.runs);
    }
    for (step, (count, time)) in result.steps.iter_mut().zip(counts.into_iter().zip(times)) {
        *step = StepProfile { count, time };
    }
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
    result
}

/// The batt with every primitive replaced by the twin that takes the time.
fn with_twins(batt: &Batt) -> Batt {
    let mut twin = batt.clone();
    twin.program = batt.program.clone().with_operands(|operand| {
        if let Operand::Op(id) = operand {
            *id = id.profiled();
        }
    });
    twin
}

/// The chain of steps that takes longest together, first step first.
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
