//! The device VM on the CPU, for tests: the device source, compiled for the host.
//!
//! It tests devices on machines without a GPU, and lets ordinary tools debug the device code. It is
//! no faster than the engine.
//!
//! ```text
//!   Batch ── Launch (addresses) ── batt_vm_host on each thread, jobs from one cursor ──> Launched
//! ```
//!
//! There are two modes. [`Emulated::new`] runs one lane on each thread. [`Emulated::warp`] runs the
//! 32 lanes of a warp as fibres and checks that they follow the rules of the device code; it is
//! slower. `device/warp.cpp` describes the rules.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Instant;
#[cfg(fibres)]
use std::{ffi::CStr, ptr};

use batt_engine::device::{Batch, Device, DeviceError, Launch, Launched, Times};
use batt_engine::wave::WaveEngine;
use batt_wave::EmulatedWaves;

unsafe extern "C" {
    /// Runs jobs on the calling thread until none are left.
    fn batt_vm_host(launch: *const Launch);
}

#[cfg(fibres)]
unsafe extern "C" {
    /// Runs jobs with 32 lanes until none are left. Returns `false` if the lanes broke a rule, and
    /// writes the rule to `message`.
    fn batt_vm_warp(
        launch: *const Launch,
        order: u32,
        planted: *const PlantedWords,
        message: *mut u8,
        room: u64,
    ) -> bool;
}

/// The layout of a planted fault, `Planted` in `device/warp.cpp`.
#[cfg(fibres)]
#[repr(C)]
struct PlantedWords {
    function: *const std::ffi::c_char,
    lanes: u32,
    what: u32,
}

/// The order in which the lanes of a warp run between two collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneOrder {
    /// From the first to the last.
    Up,
    /// From the last to the first.
    Down,
    /// A different order each time, determined by the seed.
    Shuffled(u16),
}

/// A fault that a test plants at the syncs of a device function, to check that the emulator finds
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlantedFault {
    /// The name of the function.
    pub function: &'static std::ffi::CStr,
    /// The lanes that misbehave, as one bit for each lane.
    pub lanes: u32,
    /// The misbehaviour of these lanes.
    pub what: LaneFault,
}

/// The misbehaviour of lanes at a sync; see [`PlantedFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneFault {
    /// The lanes skip the sync.
    SkipSync,
    /// The lanes spend fuel that the other lanes do not spend.
    SpendFuel,
}

/// How the lanes of a warp run.
#[cfg_attr(not(fibres), allow(dead_code, reason = "only fibres use it"))]
#[derive(Clone, Copy)]
struct Lanes {
    order: LaneOrder,
    planted: Option<PlantedFault>,
}

/// The element type of arenas, which determines their alignment.
type Unit = u128;

/// The status of a job that no thread reached.
const NOT_REACHED: u32 = 9;

/// The native stack of a thread. Nested calls and values use it.
const STACK: usize = 16 << 20;

/// The emulated device.
pub struct Emulated {
    /// The arena of each thread, kept from launch to launch.
    arenas: Vec<Vec<Unit>>,
    /// The mode of a whole warp; `None` runs one lane on each thread.
    lanes: Option<Lanes>,
    /// The engine that scores programs as waves.
    waves: Option<WaveEngine>,
}

impl Emulated {
    /// Creates a device with one warp per thread and one lane per warp.
    pub fn new(threads: NonZeroUsize) -> Emulated {
        Emulated {
            arenas: vec![Vec::new(); threads.get()],
            lanes: None,
            waves: None,
        }
    }

    /// Adds the emulated device of the waves, which then scores programs.
    pub fn with_waves(mut self) -> Result<Emulated, DeviceError> {
        self.waves = Some(WaveEngine::new(Box::new(EmulatedWaves))?);
        Ok(self)
    }

    /// Creates a device with one warp and all its lanes. A launch fails if lanes break a rule of
    /// the device code. Returns `None` except on Linux on x86-64, where fibres are implemented.
    pub fn warp(order: LaneOrder) -> Option<Emulated> {
        let lanes = Lanes {
            order,
            planted: None,
        };
        cfg!(fibres).then(|| Emulated {
            arenas: vec![Vec::new()],
            lanes: Some(lanes),
            waves: None,
        })
    }

    /// Adds a planted fault to a warp.
    pub fn with(mut self, fault: PlantedFault) -> Emulated {
        if let Some(lanes) = &mut self.lanes {
            lanes.planted = Some(fault);
        }
        self
    }
}

/// Runs jobs until none are left.
///
/// # Safety
///
/// Every address in the launch must be that of live memory with at least the size that
/// docs/device.md requires. The words of programs, inputs and jobs must come from the engine.
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
            // SAFETY: the caller guarantees the launch. `words` is live during the call, and
            // `message` has `room` bytes.
            if unsafe { batt_vm_warp(launch, order, &words, at, room) } {
                return Ok(());
            }
            let message = CStr::from_bytes_until_nul(&message).unwrap_or_default();
            Err(message.to_string_lossy().into_owned())
        }
        _ => {
            // SAFETY: the caller guarantees the launch.
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
        // The memory of the host that tests may use.
        4 << 30
    }

    fn waves(&mut self) -> Option<&mut WaveEngine> {
        self.waves.as_mut()
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
                // SAFETY: every address in the launch is that of a live buffer with the stated
                // size. Only these threads use the buffers until the scope joins the threads. Each
                // thread has its own arena, and all threads access jobs, room in the output and
                // counters atomically. The words of programs, inputs and jobs come from the engine,
                // as the VM requires.
                let work = move || unsafe { run_vm(&launch, lanes) };
                let thread = thread::Builder::new().stack_size(STACK);
                threads.push(thread.spawn_scoped(scope, work));
            }
            let ends = threads.into_iter().flatten().map(|thread| thread.join());
            // `join` never fails, because the VM returns its errors instead of panicking.
            ends.flatten().collect::<Vec<Result<(), String>>>()
        });
        // The launch succeeds if at least one thread started, because one thread can do all jobs.
        if ends.is_empty() {
            return Err(DeviceError::Launch("cannot start a thread".into()));
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
