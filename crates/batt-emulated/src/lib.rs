//! The device VM on the processor: the device's own source, compiled for the host with one lane.
//!
//! It is no faster than the engine itself. It is there so that everything around a device can be tested where there
//! is none, and so that the device's code can be looked at with ordinary tools.
//!
//! ```text
//!   Batch ── Launch (addresses) ── batt_vm_host on each thread, jobs from one cursor ──> Launched
//! ```
//!
//! [`Emulated::warp`] has the 32 lanes of a warp instead, as fibres, and checks that they keep to the rules of the
//! device's code: `device/warp.cpp` says how. It is slower still.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Instant;
#[cfg(fibres)]
use std::{ffi::CStr, ptr};

use batt_engine::device::{Batch, Device, DeviceError, Launch, Launched, Times};

unsafe extern "C" {
    /// Runs jobs until there are none left, on the calling thread.
    fn batt_vm_host(launch: *const Launch);
}

#[cfg(fibres)]
unsafe extern "C" {
    /// The same with 32 lanes. False if they broke a rule: the message says which.
    fn batt_vm_warp(
        launch: *const Launch,
        order: u32,
        planted: *const PlantedWords,
        message: *mut u8,
        room: u64,
    ) -> bool;
}

/// A [`Planted`], as `device/warp.cpp` has it.
#[cfg(fibres)]
#[repr(C)]
struct PlantedWords {
    function: *const std::ffi::c_char,
    lanes: u32,
    what: u32,
}

/// In which order the lanes of a warp run from one collective to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneOrder {
    /// From the first to the last.
    Up,
    /// From the last to the first.
    Down,
    /// Another order each time; the same ones for the same seed.
    Shuffled(u16),
}

/// A fault that a test plants, to see that it is found: what lanes do at the syncs of a function of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planted {
    /// Name of the function.
    pub function: &'static std::ffi::CStr,
    /// The lanes that do something else, one bit for each.
    pub lanes: u32,
    /// What they do.
    pub what: Misdeed,
}

/// See [`Planted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misdeed {
    /// They do not wait.
    PassBy,
    /// They spend fuel that others do not spend.
    Spend,
}

/// How lanes run.
#[cfg_attr(not(fibres), allow(dead_code))]
#[derive(Clone, Copy)]
struct Lanes {
    order: LaneOrder,
    planted: Option<Planted>,
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
    /// Of a warp with all its lanes.
    lanes: Option<Lanes>,
}

impl Emulated {
    /// A device of as many warps as there are threads.
    pub fn new(threads: NonZeroUsize) -> Emulated {
        Emulated {
            arenas: vec![Vec::new(); threads.get()],
            lanes: None,
        }
    }

    /// A device of one warp with all its lanes. A launch fails if lanes break a rule of the device's code. There is
    /// one on Linux on x86-64 alone.
    pub fn warp(order: LaneOrder) -> Option<Emulated> {
        let lanes = Lanes {
            order,
            planted: None,
        };
        cfg!(fibres).then(|| Emulated {
            arenas: vec![Vec::new()],
            lanes: Some(lanes),
        })
    }

    /// The same warp with a fault in it.
    pub fn with(mut self, fault: Planted) -> Emulated {
        if let Some(lanes) = &mut self.lanes {
            lanes.planted = Some(fault);
        }
        self
    }
}

/// Runs jobs until there are none left.
///
/// # Safety
///
/// As for any launch: its addresses are those of memory of the sizes that it says, its words the engine's.
unsafe fn run_vm(launch: &Launch, lanes: Option<Lanes>) -> Result<(), String> {
    match lanes {
        #[cfg(fibres)]
        Some(Lanes { order, planted }) => {
            let words = PlantedWords {
                function: planted.map_or(ptr::null(), |planted| planted.function.as_ptr()),
                lanes: planted.map_or(0, |planted| planted.lanes),
                what: planted.map_or(0, |planted| planted.what as u32),
            };
            let order = match order {
                LaneOrder::Up => 0,
                LaneOrder::Down => 1,
                LaneOrder::Shuffled(seed) => u32::from(seed) + 2,
            };
            let mut message = [0u8; 512];
            let (at, room) = (message.as_mut_ptr(), message.len() as u64);
            // SAFETY: the launch is the caller's; the message has that room and ends with a zero.
            if unsafe { batt_vm_warp(launch, order, &words, at, room) } {
                return Ok(());
            }
            let message = CStr::from_bytes_until_nul(&message).unwrap_or_default();
            Err(message.to_string_lossy().into_owned())
        }
        _ => {
            // SAFETY: the launch is the caller's.
            unsafe { batt_vm_host(launch) };
            Ok(())
        }
    }
}

impl Default for Emulated {
    fn default() -> Emulated {
        Emulated::new(NonZeroUsize::MIN)
    }
}

impl Device for Emulated {
    fn name(&self) -> String {
        match self.arenas.len() {
            _ if self.lanes.is_some() => "emulated, 32 lanes".to_owned(),
            1 => "emulated".to_owned(),
            threads => format!("emulated, {threads} threads"),
        }
    }

    fn memory(&self) -> u64 {
        // Of what the host has this much is ours to use; nobody needs more for testing.
        4 << 30
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        let jobs = batch.jobs.len() / 4;
        let arena_bytes = batch.arena_bytes.next_multiple_of(256);
        if u32::try_from(arena_bytes).is_err() {
            return Err(DeviceError::Launch(format!(
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
            work: batch.work,
            flags: batch.flags,
            warps: self.arenas.len() as u32,
        };
        let started = Instant::now();
        let lanes = self.lanes;
        let ends = thread::scope(|scope| {
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
                let work = move || unsafe { run_vm(&launch, lanes) };
                let thread = thread::Builder::new().stack_size(STACK);
                threads.push(thread.spawn_scoped(scope, work));
            }
            let ends = threads.into_iter().flatten().map(|thread| thread.join());
            // What happens on a thread panics nowhere.
            ends.flatten().collect::<Vec<Result<(), String>>>()
        });
        // One thread is enough to do all jobs.
        if ends.is_empty() {
            return Err(DeviceError::Launch("the system gives us no thread".into()));
        }
        if let Some(broken) = ends.into_iter().find_map(Result::err) {
            return Err(DeviceError::Launch(broken));
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
