//! Scores and hashes of many programs on many samples, without their values: what a search asks for.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use batt_dsl::{Limits, Workspace};

use super::DeviceOptions;
use super::card::Card;
use super::feed::{Runs, Taken, run_fed};
use super::report::DeviceReport;
use super::results::Entry;
use super::solo::Solo;
use super::verify::Seen;
use crate::compile::Compiled;
use crate::evaluate::{Job, Verdict, score_job};
use crate::sample::Sample;
use crate::schedule::{Schedule, Window};

/// What a program is worth on a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// Right, wrong or failed.
    pub verdict: Verdict,
    /// CPython's `hash()` of the value, if there is one. Equal values have equal hashes. That of a value in which
    /// there are functions, `None` or nan is by address in CPython, and means nothing here either.
    pub hash: Option<u64>,
}

/// What scoring came to.
#[derive(Clone, Debug, Default)]
pub struct ScoreReport {
    /// Scores delivered; fewer than asked for if the work was stopped.
    pub scores: usize,
    /// What devices did, if any were used.
    pub device: Option<DeviceReport>,
}

/// Scores wait for their turn up to this many: they are small.
const AHEAD: usize = 1 << 16;

/// Runs every program on every sample and hands each score to `sink`, program by program, with the numbers of program
/// and sample. What no card finishes, or all if there are none, is done on the CPU. Setting `stop` ends the work early.
#[allow(clippy::too_many_arguments)]
pub fn score(
    cards: &mut [Box<dyn Card>],
    programs: &[Compiled],
    samples: &[Sample<'_>],
    limits: &Limits,
    threads: Option<NonZeroUsize>,
    options: &DeviceOptions,
    stop: &AtomicBool,
    mut sink: impl FnMut(usize, usize, Score),
) -> ScoreReport {
    let solo = Solo::new(
        cards,
        programs.iter(),
        samples,
        Runs::From(0),
        false,
        limits,
        options,
    );
    let schedule = Schedule {
        count: programs.len() * samples.len(),
        threads,
        ahead: Window::fixed(AHEAD),
        chunk: (8, 1024),
    };
    let place = |at: usize| (at / samples.len(), at % samples.len());
    let worker = || {
        let mut workspace = Workspace::new();
        let mut helper = solo.worker();
        move |at: usize, taken: Option<&Taken>| {
            let (program, sample) = place(at);
            let job = Job {
                program: &programs[program],
                sample: samples[sample],
            };
            let Some(found) = helper.found(at, taken) else {
                return score_job(&mut workspace, &job, limits);
            };
            helper.count(Ok(found.pass));
            let score = Score {
                verdict: found.entry.verdict(),
                hash: match found.entry {
                    Entry::Value { hash, .. } => Some(hash),
                    _ => None,
                },
            };
            if !helper.is_done_again(at) {
                return score;
            }
            let (cpu, seen) = Seen::scored(&mut workspace, &job, limits);
            helper.compare(at, &seen, &Seen::judged(&score));
            cpu
        }
    };
    let scores = run_fed(cards, solo.feed(), &schedule, stop, worker, |at, score| {
        let (program, sample) = place(at);
        sink(program, sample, score);
    });
    ScoreReport {
        scores,
        device: solo.report(),
    }
}
