//! The offspring of an island in one generation, and their evaluation.

use std::sync::Arc;
use std::time::Instant;

use batt_arc::Task;
use batt_dsl::{Fault, Limits, Run, Value, Workspace};
use batt_engine::{Cancel, Compiled, GraphWorker, Job, Sample, Verdict, judge, judge_job};
use batt_lang::graph::Ref;

use crate::gene_pool::GenePool;
use crate::generation::Tools;
use crate::mutate::MutationKind;
use crate::score::{WHOLE, closeness};
use crate::timing::Stage;
use crate::typed::Typed;

/// New programs of a task, before they are run.
pub(crate) struct Offspring {
    /// The island's gene pool. It does not change while offspring refer to it.
    pub pool: Arc<GenePool>,
    pub children: Vec<Child>,
    /// The number of programs that had been made before, and are not run again.
    pub repeated: u64,
    /// The number of offspring by kind of mutation.
    pub tried: [u64; MutationKind::ALL.len()],
    /// The number of parts that were computed.
    pub computed: usize,
}

/// A new program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child {
    pub root: Ref,
    /// The number of calls in the program.
    pub size: u32,
    /// The mutation that made it; `None` for an unchanged program of a donor.
    pub kind: Option<MutationKind>,
    /// The position of its parent in the population.
    pub parent: Option<usize>,
    /// Its cost as a part, if it was assembled from parts.
    pub cost: Option<u32>,
}

impl Child {
    /// Returns a child that no mutation has changed.
    pub fn unchanged(root: Ref) -> Child {
        Child {
            root,
            size: 0,
            kind: None,
            parent: None,
            cost: None,
        }
    }
}

/// The results of a program on the demonstrations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evaluation {
    pub failed: bool,
    /// The number of demonstrations that the program solves.
    pub solved: u32,
    /// Closeness on each demonstration.
    pub closeness: Vec<u32>,
    /// A hash of all outputs.
    pub outputs: u64,
}

impl Evaluation {
    /// Adds the result of the next demonstration.
    pub fn add(&mut self, verdict: &Verdict, hash: Option<u64>, close: u32) {
        match hash {
            Some(hash) if !matches!(verdict, Verdict::Failed(_)) => {
                self.solved += u32::from(verdict.is_right());
                self.closeness.push(close);
                self.outputs = combine(self.outputs, hash);
            }
            _ => self.failed = true,
        }
    }

    /// Returns the average closeness, in parts of a million.
    pub fn mean(&self) -> u32 {
        let sum: u64 = self.closeness.iter().map(|&c| u64::from(c)).sum();
        (sum / self.closeness.len().max(1) as u64) as u32
    }
}

/// Combines two hashes into one.
pub(crate) fn combine(a: u64, b: u64) -> u64 {
    let mixed = (a.rotate_left(27) ^ b).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

/// Returns the demonstrations that have an output, as samples.
pub(crate) fn samples(task: &Task) -> Vec<Sample<'_>> {
    let known = task.train.iter().filter(|pair| pair.output.is_some());
    known.map(|pair| Sample::new(task, pair)).collect()
}

/// Returns the verdict on an output, and its hash unless computing it exceeded a limit.
fn judge_and_hash<'r>(
    run: &mut Run<'r>,
    value: Value<'r>,
    sample: &Sample<'_>,
) -> (Verdict, Option<u64>) {
    let verdict = judge(run, value, sample.expected);
    let hash = run.hash(value);
    (verdict, run.check_limits().is_ok().then_some(hash))
}

/// A program is expensive if one of its calls takes more steps than the limit divided by this
/// number.
const EXPENSIVE_STEP: u64 = 12;

/// Runs programs on all demonstrations. A program that fails on a demonstration is not run on the
/// next.
///
/// `limits` hold for one program on one demonstration. Most programs are cheap. They run together,
/// so shared calls are computed once, with small limits for each call. The few expensive programs
/// that reach these limits run again one by one within the full limits. A program that a device
/// finishes is within the limits, so it does not fail here either.
///
/// Returns `None` if `cancel` is set meanwhile.
pub(crate) fn run_programs(
    typed: &Typed,
    roots: &[Ref],
    samples: &[Sample<'_>],
    tools: &mut Tools,
    stage: Stage,
    limits: &Limits,
    cancel: &Cancel,
) -> Option<Vec<Evaluation>> {
    let started = Instant::now();
    let small = Limits {
        steps: limits.steps / EXPENSIVE_STEP,
        ..*limits
    };
    let mut evaluations = vec![Evaluation::default(); roots.len()];
    let mut expensive = vec![false; roots.len()];
    for sample in samples {
        if cancel.is_cancelled() {
            return None;
        }
        let alive = (0..roots.len()).filter(|&at| !evaluations[at].failed && !expensive[at]);
        let alive: Vec<usize> = alive.collect();
        let wanted: Vec<Ref> = alive.iter().map(|&at| roots[at]).collect();
        let worker = &mut tools.worker;
        worker.run(&typed.graph, &wanted, sample, &small, |run, at, value| {
            let (evaluation, expensive) = (&mut evaluations[alive[at]], &mut expensive[alive[at]]);
            match value {
                Ok(value) => match judge_and_hash(run, value, sample) {
                    (verdict, Some(hash)) => {
                        let close = sample.expected.map_or(0, |e| closeness(&verdict, e));
                        evaluation.add(&verdict, Some(hash), close.min(WHOLE));
                    }
                    (_, None) => *expensive = true,
                },
                Err(Fault::Steps) => *expensive = true,
                Err(_) => evaluation.failed = true,
            }
        });
    }
    let started = tools.times.since(stage, started);
    for (at, evaluation) in evaluations
        .iter_mut()
        .enumerate()
        .filter(|(at, _)| expensive[*at])
    {
        if cancel.is_cancelled() {
            return None;
        }
        let program = Compiled::new(&typed.graph.program(roots[at], "solve"));
        run_alone(&program, samples, &mut tools.workspace, limits, evaluation);
    }
    tools.times.since(Stage::Expensive, started);
    Some(evaluations)
}

/// Runs a program on the remaining demonstrations, until it fails.
fn run_alone(
    program: &Compiled,
    samples: &[Sample<'_>],
    workspace: &mut Workspace,
    limits: &Limits,
    evaluation: &mut Evaluation,
) {
    for &sample in &samples[evaluation.closeness.len()..] {
        let score = judge_job(workspace, &Job { program, sample }, limits);
        let close = sample.expected.map_or(0, |e| closeness(&score.verdict, e));
        evaluation.add(&score.verdict, score.hash, close);
        if evaluation.failed {
            return;
        }
    }
}

/// Returns a hash of each value on all demonstrations; `None` for a value that fails on a
/// demonstration. Returns `None` for all if `cancel` is set meanwhile.
pub(crate) fn run_parts(
    typed: &Typed,
    values: &[Ref],
    samples: &[Sample<'_>],
    worker: &mut GraphWorker,
    limits: &Limits,
    cancel: &Cancel,
) -> Option<Vec<Option<u64>>> {
    let mut hashes: Vec<Option<u64>> = vec![Some(0); values.len()];
    for sample in samples {
        if cancel.is_cancelled() {
            return None;
        }
        let alive: Vec<usize> = (0..values.len())
            .filter(|&at| hashes[at].is_some())
            .collect();
        let wanted: Vec<Ref> = alive.iter().map(|&at| values[at]).collect();
        worker.run(&typed.graph, &wanted, sample, limits, |run, at, value| {
            let place = &mut hashes[alive[at]];
            let hash = value.ok().and_then(|value| {
                let hash = run.hash(value);
                run.check_limits().is_ok().then_some(hash)
            });
            *place = hash.and_then(|hash| place.map(|before| combine(before, hash)));
        });
    }
    Some(hashes)
}
