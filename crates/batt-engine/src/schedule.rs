//! Worker threads: how many start, how they end, and how their results are put in order.
//!
//! ```text
//!   Team ─ start ─> worker: take a chunk ── results ──> sink, on the calling thread, in order
//!     └─ ends all of them: on a request, or when one of them panics
//! ```
//!
//! - [`Team`]: threads that end together. Every worker of the engine and of the search belongs to
//!   one.
//! - [`Schedule`]: numbered items that a team works on, with results delivered in order.
//!
//! Workers take chunks of consecutive items from a counter, so they never wait for each other, and
//! a slow item delays only the items of its own chunk. Finished chunks wait until all earlier
//! chunks are delivered. A worker pauses if it is too far ahead of the next item to be delivered,
//! so results do not pile up behind a slow one.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;

/// The native stack of a worker. Calls and containers nest at most a thousand deep, which needs an
/// eighth of this.
const STACK: usize = 16 << 20;

/// The time that a chunk should take: long enough that the queue costs little, short enough that a
/// slow run delays few others.
const CHUNK_TIME: Duration = Duration::from_micros(500);

/// The most workers per core. More would only cost memory and start-up time.
const WORKERS_PER_CORE: usize = 4;

/// The number of workers that is allowed on any machine, even with few cores.
const ALWAYS_ALLOWED: usize = 16;

/// Returns how many workers to start when `threads` are requested; `None` requests one per core.
/// The number is at most [`most_workers`].
pub fn workers(threads: Option<NonZeroUsize>) -> usize {
    threads
        .map_or(cores(), NonZeroUsize::get)
        .min(most_workers())
}

/// Returns the largest number of workers that start: four per core, or 16 on a machine with fewer
/// than four cores.
pub fn most_workers() -> usize {
    (cores() * WORKERS_PER_CORE).max(ALWAYS_ALLOWED)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// A group of threads that end together: when the caller cancels them, or when one of them panics.
pub struct Team<'c> {
    cancel: &'c Cancel,
    panicked: AtomicBool,
    stack: usize,
}

impl<'c> Team<'c> {
    /// Creates a team without threads, which `cancel` ends.
    pub fn new(cancel: &'c Cancel) -> Team<'c> {
        Team {
            cancel,
            panicked: AtomicBool::new(false),
            stack: STACK,
        }
    }

    /// Returns whether all threads of the team should end.
    pub fn has_ended(&self) -> bool {
        self.panicked.load(Ordering::Relaxed) || self.cancel.is_cancelled()
    }

    /// Starts a thread. Returns whether the system could start it; if not, the team works with the
    /// threads it has.
    pub fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        name: &str,
        work: impl FnOnce() + Send + 'scope,
    ) -> bool {
        let guarded = move || {
            let _alarm = self.alarm();
            work();
        };
        thread::Builder::new()
            .name(name.to_owned())
            .stack_size(self.stack)
            .spawn_scoped(scope, guarded)
            .is_ok()
    }

    /// Returns a guard that ends the team if the current thread panics while holding it. Threads of
    /// the team hold one already; the thread that waits for their results needs one, too.
    pub fn alarm(&self) -> Alarm<'_> {
        Alarm(&self.panicked)
    }
}

/// A guard that ends a team if its thread panics.
pub struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// The number of items that may be finished ahead of the next item to be delivered.
pub struct Window(AtomicUsize);

impl Window {
    /// Creates a window of this many items.
    pub fn new(items: usize) -> Window {
        Window(AtomicUsize::new(items))
    }

    /// Returns the number of items.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Changes the number of items. The schedule may be running.
    pub fn set(&self, items: usize) {
        self.0.store(items, Ordering::Relaxed);
    }
}

/// Numbered items, and how they are split over workers.
pub struct Schedule {
    /// The number of items.
    pub count: usize,
    /// The number of threads; `None` uses one per core.
    pub threads: Option<NonZeroUsize>,
    /// How many items may be finished ahead of the next one to be delivered.
    pub ahead: Window,
    /// The initial and the largest number of items in a chunk. Chunks grow and shrink with the time
    /// that they take.
    pub chunk: (usize, usize),
}

/// The totals of a [`Schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Items whose results were delivered: all, unless the work was cancelled.
    pub items: usize,
    /// Workers that took part. The system may start fewer than planned.
    pub workers: usize,
}

impl Schedule {
    /// Creates a schedule for few items that take long: every chunk is one item.
    pub fn one_by_one(count: usize, threads: Option<NonZeroUsize>) -> Schedule {
        Schedule {
            count,
            threads,
            ahead: Window::new(count),
            chunk: (1, 1),
        }
    }

    /// Returns how many workers are planned.
    pub fn workers(&self) -> usize {
        workers(self.threads).min(self.count.max(1))
    }

    /// Processes all items and passes each result to `sink`, in order. `worker` runs once on each
    /// thread and returns the function that processes one item. Cancellation ends the work early;
    /// the delivered results are then a prefix of the whole.
    ///
    /// If the system starts no thread at all, the calling thread does the work.
    ///
    /// # Panics
    ///
    /// Panics if `worker`, an item or `sink` panics, after all other threads have ended.
    pub fn run<T: Send, W: FnMut(usize) -> T>(
        &self,
        cancel: &Cancel,
        worker: impl Fn() -> W + Sync,
        sink: impl FnMut(usize, T),
    ) -> Delivered {
        self.run_by(&Team::new(cancel), worker, sink)
    }

    fn run_by<T: Send, W: FnMut(usize) -> T>(
        &self,
        team: &Team<'_>,
        worker: impl Fn() -> W + Sync,
        mut sink: impl FnMut(usize, T),
    ) -> Delivered {
        let planned = self.workers();
        let progress = Progress::default();
        let mut done = 0;
        let workers = thread::scope(|scope| {
            let _alarm = team.alarm();
            // The channel is bounded, so workers wait for a slow sink.
            let (sender, receiver) = mpsc::sync_channel::<(usize, Vec<T>)>(planned * 4);
            let mut started = 0;
            while started < planned {
                let (sender, worker, progress) = (sender.clone(), &worker, &progress);
                let work = move || self.work(planned, team, progress, worker(), &sender);
                if !team.start(scope, "batt-worker", work) {
                    break;
                }
                started += 1;
            }
            drop(sender);
            if started == 0 {
                let mut do_one = worker();
                while done < self.count && !team.has_ended() {
                    sink(done, do_one(done));
                    done += 1;
                }
                return 1;
            }
            // Chunks arrive in any order; each is delivered after all earlier chunks.
            let mut waiting = BTreeMap::new();
            for (start, results) in receiver {
                waiting.insert(start, results);
                while let Some(results) = waiting.remove(&done) {
                    for result in results {
                        sink(done, result);
                        done += 1;
                    }
                    progress.delivered.store(done, Ordering::Relaxed);
                }
            }
            started
        });
        Delivered {
            items: done,
            workers,
        }
    }

    /// Takes chunks until none are left or the team has ended.
    fn work<T>(
        &self,
        workers: usize,
        team: &Team<'_>,
        progress: &Progress,
        mut do_one: impl FnMut(usize) -> T,
        sender: &mpsc::SyncSender<(usize, Vec<T>)>,
    ) {
        let mut chunk = self.chunk.0.min(self.count.div_ceil(workers)).max(1);
        loop {
            let start = progress.next.fetch_add(chunk, Ordering::Relaxed);
            if start >= self.count {
                return;
            }
            let is_too_far =
                || start > progress.delivered.load(Ordering::Relaxed) + self.ahead.get();
            while is_too_far() && !team.has_ended() {
                thread::sleep(Duration::from_millis(1));
            }
            if team.has_ended() {
                return;
            }
            let end = (start + chunk).min(self.count);
            let started = Instant::now();
            let results = (start..end).map(&mut do_one).collect();
            chunk = match started.elapsed() {
                time if time * 2 < CHUNK_TIME => (chunk * 2).min(self.chunk.1),
                time if time > CHUNK_TIME * 2 => (chunk / 2).max(1),
                _ => chunk,
            };
            if sender.send((start, results)).is_err() {
                return;
            }
        }
    }
}

/// The progress of a schedule.
#[derive(Default)]
struct Progress {
    /// The next item to be taken.
    next: AtomicUsize,
    /// Items that have been delivered.
    delivered: AtomicUsize,
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn schedule(count: usize, threads: usize, ahead: usize) -> Schedule {
        Schedule {
            count,
            threads: NonZeroUsize::new(threads),
            ahead: Window::new(ahead),
            chunk: (3, 8),
        }
    }

    #[test]
    fn results_come_in_order_for_every_window() {
        for (threads, ahead) in [(1, 1), (2, 0), (7, 1), (3, 1000)] {
            let mut seen = Vec::new();
            let stop = Cancel::new();
            let done =
                schedule(100, threads, ahead).run(&stop, || |at| at * 2, |k, v| seen.push((k, v)));
            assert_eq!((done.items, done.workers), (100, threads));
            assert!(
                seen.iter()
                    .enumerate()
                    .all(|(k, &(at, v))| at == k && v == 2 * k)
            );
        }
        let nothing = schedule(0, 2, 1).run(&Cancel::new(), || |at| at, |_, _| panic!());
        assert_eq!(nothing.items, 0);
    }

    #[test]
    fn a_panic_in_a_worker_ends_the_work() {
        let run = || {
            let stop = Cancel::new();
            let work = || |at: usize| assert!(at != 5, "a bug");
            schedule(10_000, 3, 1).run(&stop, work, |_, ()| {})
        };
        assert!(catch_unwind(run).is_err());
    }

    /// Workers wait for items to be delivered, which would never happen after a panic on the
    /// delivering thread.
    #[test]
    fn a_panic_in_the_sink_ends_the_work() {
        let run = || {
            let stop = Cancel::new();
            let sink = |at: usize, ()| assert!(at != 5, "a bug");
            schedule(10_000, 3, 1).run(&stop, || |_| (), sink)
        };
        assert!(catch_unwind(run).is_err());
    }

    #[test]
    fn the_calling_thread_works_where_no_thread_can_be_started() {
        let cancel = Cancel::new();
        let team = Team {
            // No machine can allocate a stack of this size.
            stack: 1 << 60,
            ..Team::new(&cancel)
        };
        let mut seen = Vec::new();
        let work = || |at: usize| at + 1;
        let done = schedule(20, 4, 1).run_by(&team, work, |_, v| seen.push(v));
        assert_eq!((done.items, done.workers), (20, 1));
        assert!(seen.into_iter().eq(1..=20));
        let bug = || schedule(20, 4, 1).run_by(&team, work, |at, _| assert!(at != 5, "a bug"));
        assert!(catch_unwind(AssertUnwindSafe(bug)).is_err());
        assert!(team.has_ended());
    }

    #[test]
    fn cancelling_ends_the_work_after_a_prefix() {
        let cancel = Cancel::new();
        let mut seen = Vec::new();
        let sink = |at, ()| {
            seen.push(at);
            if at == 50 {
                cancel.cancel();
            }
        };
        let done = schedule(1_000_000, 2, 10).run(&cancel, || |_| (), sink);
        assert!((51..1_000_000).contains(&done.items));
        assert!(seen.into_iter().eq(0..done.items));
    }

    #[test]
    fn absurd_numbers_of_threads_are_capped() {
        let cores = workers(None);
        assert_eq!(workers(NonZeroUsize::new(1)), 1);
        assert_eq!(workers(NonZeroUsize::new(16)), 16);
        assert_eq!(workers(NonZeroUsize::new(1 << 30)), (4 * cores).max(16));
    }
}
