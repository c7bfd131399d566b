//! The device VM on the processor: the device's own source, compiled for the host with one lane.
//!
//! It is no faster than the engine itself. It is there so that everything around a device can be tested where there
//! is none, and so that the device's code can be looked at with ordinary tools.
//!
//! ```text
//!   Batch ── Launch (addresses) ── batt_vm_host on each thread, jobs from one cursor ──> Launched
//! ```

use std::num::NonZeroUsize;
use std::thread;
use std::time::Instant;

use batt_engine::device::{Batch, Card, CardError, Launched, Times};

/// The structure that a launch is given, as `docs/device.md` has it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Launch {
    programs: u64,
    inputs: u64,
    jobs: u64,
    results: u64,
    output: u64,
    arenas: u64,
    counters: u64,
    cursor: u64,
    job_count: u64,
    output_words: u64,
    arena_bytes: u64,
    fuel: u64,
    flags: u32,
    warps: u32,
    op_counters: u64,
}

unsafe extern "C" {
    /// Runs jobs until there are none left, on the calling thread.
    fn batt_vm_host(launch: *const Launch);
}

/// Arenas are aligned to this: a unit of memory that is.
type Unit = u128;

/// The status of a job that no thread came to.
const NOT_REACHED: u32 = 9;

/// Native stack of a thread: calls and values nest on it.
const STACK: usize = 16 << 20;

/// The emulated device.
pub struct Emulated {
    /// One for each thread, kept from launch to launch.
    arenas: Vec<Vec<Unit>>,
}

impl Emulated {
    /// A device of as many warps as there are threads.
    pub fn new(threads: NonZeroUsize) -> Emulated {
        Emulated {
            arenas: vec![Vec::new(); threads.get()],
        }
    }
}

impl Default for Emulated {
    fn default() -> Emulated {
        Emulated::new(NonZeroUsize::MIN)
    }
}

impl Card for Emulated {
    fn name(&self) -> String {
        match self.arenas.len() {
            1 => "emulated".to_owned(),
            threads => format!("emulated, {threads} threads"),
        }
    }

    fn memory(&self) -> u64 {
        // Of what the host has this much is ours to use; nobody needs more for testing.
        4 << 30
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, CardError> {
        let jobs = batch.jobs.len() / 4;
        let arena_bytes = batch.arena_bytes.next_multiple_of(256);
        if u32::try_from(arena_bytes).is_err() {
            return Err(CardError::Launch(format!(
                "an arena of {arena_bytes} bytes is larger than its offsets"
            )));
        }
        let mut results = [NOT_REACHED, 0, 0, 0].repeat(jobs);
        let mut output = vec![0u32; batch.output_words];
        let mut counters = vec![0u64; batch.counters];
        let mut cursor = [0u64; 2];
        let launch = Launch {
            programs: batch.programs.as_ptr() as u64,
            inputs: batch.inputs.as_ptr() as u64,
            jobs: batch.jobs.as_ptr() as u64,
            results: results.as_mut_ptr() as u64,
            output: output.as_mut_ptr() as u64,
            arenas: 0,
            counters: match counters.is_empty() {
                true => 0,
                false => counters.as_mut_ptr() as u64,
            },
            cursor: cursor.as_mut_ptr() as u64,
            job_count: jobs as u64,
            output_words: batch.output_words as u64,
            arena_bytes: arena_bytes as u64,
            fuel: batch.fuel,
            flags: batch.flags,
            warps: self.arenas.len() as u32,
            op_counters: batch.op_counters as u64,
        };
        let started = Instant::now();
        let done = thread::scope(|scope| {
            let mut threads = Vec::new();
            for arena in &mut self.arenas {
                arena.resize(arena_bytes / size_of::<Unit>(), 0);
                let launch = Launch {
                    arenas: arena.as_mut_ptr() as u64,
                    ..launch
                };
                // SAFETY: the addresses are those of live memory of the sizes that the launch says, which nobody
                // else touches before the threads are joined; each thread has an arena of its own, and jobs, room in
                // the output and counts are taken atomically. The words of programs, inputs and jobs are the
                // engine's, which the VM trusts.
                let work = move || unsafe { batt_vm_host(&launch) };
                let thread = thread::Builder::new().stack_size(STACK);
                threads.push(thread.spawn_scoped(scope, work));
            }
            // One thread is enough to do all jobs.
            threads.into_iter().filter(Result::is_ok).count()
        });
        if done == 0 {
            return Err(CardError::Launch("the system gives us no thread".into()));
        }
        let kernel = started.elapsed();
        output.truncate(usize::try_from(cursor[1]).unwrap_or(usize::MAX));
        let bytes = |words: usize| words as u64 * 4;
        let times = Times {
            kernel,
            bytes_up: bytes(batch.programs.len() + batch.inputs.len() + batch.jobs.len()),
            bytes_down: bytes(results.len() + output.len() + 2 * counters.len()),
            launches: 1,
            ..Times::default()
        };
        Ok(Launched {
            results,
            output,
            counters,
            times,
        })
    }
}
