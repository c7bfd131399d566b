//! Work spread over threads, with the results in order.
//!
//! Workers take chunks of consecutive items from a counter, so nobody waits for anybody, and a slow item holds
//! back only the few that share its chunk. Finished chunks wait for their turn. Workers that are too far
//! ahead of the next item to be delivered pause, so results do not pile up behind a slow one.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::cancel::Cancel;

/// Native stack of a worker. Calls and containers nest at most a thousand deep, which fits in an
/// eighth of this.
const STACK: usize = 16 << 20;

/// How long a chunk should take: long enough to make the queue cheap, short enough that a slow run
/// holds little else back.
const CHUNK_TIME: Duration = Duration::from_micros(500);

/// How many items may be finished ahead of the next one to be delivered.
pub(crate) struct Window(AtomicUsize);

impl Window {
    pub fn fixed(items: usize) -> Window {
        Window(AtomicUsize::new(items))
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub fn set(&self, items: usize) {
        self.0.store(items, Ordering::Relaxed);
    }
}

/// How to spread work.
pub(crate) struct Schedule {
    /// Number of items.
    pub count: usize,
    /// Threads; `None` for one per core.
    pub threads: Option<NonZeroUsize>,
    /// How far results may run ahead.
    pub ahead: Window,
    /// Items a worker takes at a time: to begin with, and at the most. In between it goes by the clock.
    pub chunk: (usize, usize),
}

/// Tells the others when a thread goes down with a bug of ours: they would wait for its results for ever.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Schedule {
    /// How many threads will work.
    pub fn workers(&self) -> usize {
        self.threads
            .or_else(|| thread::available_parallelism().ok())
            .map_or(1, NonZeroUsize::get)
            .min(self.count.max(1))
    }

    /// Does all items and hands each result to `sink`, in order. `worker` makes what a thread needs and
    /// gives the function that does one item. Setting `stop` ends the work early; what was delivered by then
    /// is a prefix of the whole. Returns how many were delivered.
    pub fn run<T: Send, W: FnMut(usize) -> T>(
        &self,
        stop: &Cancel,
        worker: impl Fn() -> W + Sync,
        mut sink: impl FnMut(usize, T),
    ) -> usize {
        let workers = self.workers();
        let next = AtomicUsize::new(0);
        let delivered = AtomicUsize::new(0);
        let panicked = AtomicBool::new(false);
        let mut done = 0;
        thread::scope(|scope| {
            // Bounded: workers wait for a sink that is slower than they are.
            let (sender, receiver) = mpsc::sync_channel::<(usize, Vec<T>)>(workers * 4);
            for _ in 0..workers {
                let (sender, next, delivered) = (sender.clone(), &next, &delivered);
                let worker = &worker;
                let panicked = &panicked;
                let work = move || {
                    let _alarm = Alarm(panicked);
                    let mut do_one = worker();
                    let mut chunk = self.chunk.0.min(self.count.div_ceil(workers)).max(1);
                    loop {
                        let start = next.fetch_add(chunk, Ordering::Relaxed);
                        if start >= self.count {
                            return;
                        }
                        let ended = || stop.is_cancelled() || panicked.load(Ordering::Relaxed);
                        while start > delivered.load(Ordering::Relaxed) + self.ahead.get()
                            && !ended()
                        {
                            thread::sleep(Duration::from_millis(1));
                        }
                        if ended() {
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
                };
                thread::Builder::new()
                    .name("batt-worker".into())
                    .stack_size(STACK)
                    .spawn_scoped(scope, work)
                    .expect("the system gives us a thread");
            }
            drop(sender);
            // Chunks come in any order; each goes out when all before it have.
            let mut waiting = BTreeMap::new();
            for (start, results) in receiver {
                waiting.insert(start, results);
                while let Some(results) = waiting.remove(&done) {
                    for result in results {
                        sink(done, result);
                        done += 1;
                    }
                    delivered.store(done, Ordering::Relaxed);
                }
            }
        });
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(count: usize, threads: usize, ahead: usize) -> Schedule {
        Schedule {
            count,
            threads: NonZeroUsize::new(threads),
            ahead: Window::fixed(ahead),
            chunk: (3, 8),
        }
    }

    #[test]
    fn results_come_in_order_whatever_the_window() {
        for (threads, ahead) in [(1, 1), (2, 0), (7, 1), (3, 1000)] {
            let mut seen = Vec::new();
            let stop = Cancel::new();
            let done =
                schedule(100, threads, ahead).run(&stop, || |at| at * 2, |k, v| seen.push((k, v)));
            assert_eq!(done, 100);
            assert!(
                seen.iter()
                    .enumerate()
                    .all(|(k, &(at, v))| at == k && v == 2 * k)
            );
        }
        let nothing = schedule(0, 2, 1).run(&Cancel::new(), || |at| at, |_, _| panic!());
        assert_eq!(nothing, 0);
    }

    #[test]
    fn a_panic_ends_the_work() {
        let run = || {
            let stop = Cancel::new();
            let work = || |at: usize| assert!(at != 5, "a bug");
            schedule(10_000, 3, 1).run(&stop, work, |_, ()| {})
        };
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
