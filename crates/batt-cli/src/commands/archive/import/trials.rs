//! Trying many solvers, on all cores.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use batt_dsl::Dialect;
use batt_evolve::{Judge, Trial};
use indicatif::ProgressBar;

use super::Candidate;
use crate::interrupt;

/// Values and calls of a program may nest a thousand deep.
const STACK: usize = 32 << 20;

/// What each solver came to; `None` for those that were not tried because somebody pressed Ctrl-C.
pub fn try_all(
    candidates: &[Candidate<'_>],
    threads: Option<NonZeroUsize>,
    bar: &ProgressBar,
) -> Vec<Option<Trial>> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = threads.map_or(cores, NonZeroUsize::get);
    let next = AtomicUsize::new(0);
    let trials = Mutex::new(vec![None; candidates.len()]);
    let work = || {
        let mut judges: HashMap<Dialect, Judge> = HashMap::new();
        while !interrupt::happened() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(candidate) = candidates.get(at) else {
                break;
            };
            let dialect = candidate.program.dialect();
            let judge = judges.entry(dialect).or_insert_with(|| Judge::new(dialect));
            let trial = judge.try_on(&candidate.program, candidate.task);
            if let Ok(mut trials) = trials.lock() {
                trials[at] = Some(trial);
            }
            bar.inc(1);
        }
    };
    thread::scope(|scope| {
        let mut started = 0;
        for _ in 0..threads.min(candidates.len()) {
            let builder = thread::Builder::new().stack_size(STACK);
            started += usize::from(builder.spawn_scoped(scope, work).is_ok());
        }
        // Where no thread can be had, this one does it all.
        if started == 0 {
            work();
        }
    });
    trials.into_inner().unwrap_or_default()
}
