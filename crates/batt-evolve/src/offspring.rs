//! The offspring of one generation, and what becomes of them.

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

/// New programs of a task that have not been run.
pub(crate) struct Offspring {
    /// The island's, which nobody changes while there is a offspring.
    pub pool: Arc<GenePool>,
    pub children: Vec<Child>,
    /// Programs that were made again and not run again.
    pub repeated: u64,
    pub tried: [u64; MutationKind::ALL.len()],
    /// Parts that were computed.
    pub computed: usize,
}

/// A new program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child {
    pub root: Ref,
    /// Calls it is made of.
    pub size: u32,
    /// How it was made; none for a donor's own program.
    pub kind: Option<MutationKind>,
    /// The place of its parent in the population.
    pub parent: Option<usize>,
    /// What it costs as a part, if it was assembled from parts.
    pub cost: Option<u32>,
}

impl Child {
    /// A program that nobody has changed.
    pub fn as_it_is(root: Ref) -> Child {
        Child {
            root,
            size: 0,
            kind: None,
            parent: None,
            cost: None,
        }
    }
}

/// What a program came to on all demonstrations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evaluation {
    pub failed: bool,
    pub solved: u32,
    /// Closeness on each demonstration.
    pub closeness: Vec<u32>,
    /// A hash of all outputs.
    pub outputs: u64,
}

impl Evaluation {
    /// Adds what the next demonstration came to.
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

    /// The average closeness, in parts of a million.
    pub fn mean(&self) -> u32 {
        let sum: u64 = self.closeness.iter().map(|&c| u64::from(c)).sum();
        (sum / self.closeness.len().max(1) as u64) as u32
    }
}

/// One hash from two.
pub(crate) fn combine(a: u64, b: u64) -> u64 {
    let mixed = (a.rotate_left(27) ^ b).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

/// Demonstrations that have an output, as samples.
pub(crate) fn samples(task: &Task) -> Vec<Sample<'_>> {
    let known = task.train.iter().filter(|pair| pair.output.is_some());
    known.map(|pair| Sample::new(task, pair)).collect()
}

/// The score of one output, and its hash; none if looking at it went beyond a limit.
fn look<'r>(run: &mut Run<'r>, value: Value<'r>, sample: &Sample<'_>) -> (Verdict, Option<u64>) {
    let verdict = judge(run, value, sample.expected);
    let hash = run.hash(value);
    (verdict, run.check_limits().is_ok().then_some(hash))
}

/// A program one step of which takes more than this part of what all may take is dear.
const DEAR_STEP: u64 = 12;

/// Runs programs on all demonstrations. One that fails on a demonstration is not run on the next.
///
/// `limits` are those of one program on one demonstration. Most are cheap: they are run together, with what they have in
/// common computed once, and with small limits for each step. The few that reach those are dear. They are run alone, so
/// that it is known what the program takes as a whole. What devices finish is within the limits, and so is not failed here
/// either way.
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
        steps: limits.steps / DEAR_STEP,
        ..*limits
    };
    let mut evaluations = vec![Evaluation::default(); roots.len()];
    let mut dear = vec![false; roots.len()];
    for sample in samples {
        if cancel.is_cancelled() {
            return None;
        }
        let alive = (0..roots.len()).filter(|&at| !evaluations[at].failed && !dear[at]);
        let alive: Vec<usize> = alive.collect();
        let wanted: Vec<Ref> = alive.iter().map(|&at| roots[at]).collect();
        let worker = &mut tools.worker;
        worker.run(&typed.graph, &wanted, sample, &small, |run, at, value| {
            let (evaluation, dear) = (&mut evaluations[alive[at]], &mut dear[alive[at]]);
            match value {
                Ok(value) => match look(run, value, sample) {
                    (verdict, Some(hash)) => {
                        let close = sample.expected.map_or(0, |e| closeness(&verdict, e));
                        evaluation.add(&verdict, Some(hash), close.min(WHOLE));
                    }
                    (_, None) => *dear = true,
                },
                Err(Fault::Steps) => *dear = true,
                Err(_) => evaluation.failed = true,
            }
        });
    }
    let started = tools.times.since(stage, started);
    for (at, evaluation) in evaluations
        .iter_mut()
        .enumerate()
        .filter(|(at, _)| dear[*at])
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

/// Runs a program on the demonstrations that are still missing, until it fails.
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

/// Hashes of values on all demonstrations; none of those that fail somewhere.
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
