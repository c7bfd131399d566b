//! A CUDA GPU as a device of the engine.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::env;
use std::ffi::{CString, c_void};
use std::mem::{self, ManuallyDrop};
use std::ptr;
use std::slice;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use batt_engine::device::{Batch, Device, DeviceError, Launch, Launched, Times};
use batt_engine::wave::WaveEngine;
use cudarc::driver::result::stream::StreamKind;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdeviceptr, CUevent, CUevent_flags, CUfunction,
    CUfunction_attribute, CUlimit, CUmodule, CUresult, CUstream,
};

use crate::arch::{Arch, SCRATCH, Version};
use crate::budget::Budget;
use crate::driver::{DeviceFacts, Driver, describe, device, is_sticky};
use crate::kernel::{Kernel, Maker, Origin};
use crate::memory::{Buffer, Layout, Pinned, with_spare_room};
use crate::nvrtc::Image;
use crate::source::{Source, VM};
use crate::waves::CudaWaves;

/// The name of the kernel.
const KERNEL: &str = "batt_vm";
/// The size of an arena is a multiple of this.
const ARENA_UNIT: usize = 256;
/// The status of a job that no warp has reached.
const NOT_REACHED: u32 = 9;

/// Options for opening devices.
#[derive(Clone, Debug)]
pub struct CudaSettings {
    /// The provider of the kernel.
    pub maker: Maker,
    /// The longest time for a launch. A kernel cannot be stopped, so the device is lost after that.
    pub timeout: Duration,
    /// The stack of one thread in bytes. The compiler cannot compute it, because the VM is
    /// recursive.
    pub stack: usize,
    /// Whether to load the kernel only before its first launch. A search may never launch it.
    pub later: bool,
}

impl CudaSettings {
    /// Returns options for the VM, configured from the environment.
    pub fn from_env() -> CudaSettings {
        CudaSettings::with_source(VM)
    }

    /// Returns options for a kernel other than the VM.
    pub fn with_source(files: &'static [Source]) -> CudaSettings {
        CudaSettings {
            maker: Maker {
                link: Some(link),
                ..Maker::from_env(files)
            },
            timeout: Duration::from_secs(60),
            stack: 16 << 10,
            later: false,
        }
    }
}

/// The properties of a loaded kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFacts {
    /// Its origin.
    pub origin: Origin,
    /// The time to find or compile the kernel and to load it on an open device.
    pub ready: Duration,
    /// Its size in bytes.
    pub bytes: usize,
    /// The registers of a thread.
    pub registers: u32,
    /// The local memory of a thread in bytes, without the call stack.
    pub local: u32,
    /// The shared memory of the largest block in bytes.
    pub shared: u32,
    /// The number of warps in the largest block. A multiprocessor runs one such block at a time.
    pub warps_per_block: u32,
    /// The number of warps that the device runs at a time.
    pub warps: u64,
}

/// A logical device: a stream and buffers of its own on a GPU, which other logical devices may
/// share.
pub struct Cuda {
    facts: DeviceFacts,
    settings: CudaSettings,
    driver: Version,
    loaded: Option<Loaded>,
    quota: u64,
    budget: Arc<Budget>,
    context: ManuallyDrop<Primary>,
    stream: CUstream,
    events: Events,
    buffers: Buffers,
    up: Pinned,
    down: Pinned,
    /// The id of the programs on the device, and their number of words.
    programs: Option<(u64, usize)>,
    /// The id of the inputs on the device, and their number of words.
    inputs: Option<(u64, usize)>,
    /// The engine that scores programs as waves, once it was asked for; `None` inside if it cannot be
    /// opened.
    waves: Option<Option<WaveEngine>>,
}

/// A kernel on a device.
struct Loaded {
    facts: KernelFacts,
    module: CUmodule,
    function: CUfunction,
}

impl Loaded {
    fn of(
        kernel: &mut Kernel,
        facts: &DeviceFacts,
        driver: Version,
        settings: &CudaSettings,
        started: Instant,
        notes: &mut Vec<String>,
    ) -> Result<Loaded, DeviceError> {
        grow_stack(settings.stack)?;
        let module = load(kernel, facts, driver, settings, notes)?;
        let opening = |error| failed("opening the device", error);
        // SAFETY: the module was just loaded in the current context.
        let function = unsafe { result::module::get_function(module, name()) }.map_err(opening)?;
        let facts = kernel_facts(kernel, function, facts, started.elapsed()).map_err(opening)?;
        Ok(Loaded {
            facts,
            module,
            function,
        })
    }
}

// SAFETY: the driver's handles may be used by any thread that has made the context current. `run`
// and `drop` do so before they use a handle. The pinned memory belongs to this value alone.
unsafe impl Send for Cuda {}

/// Logical devices that were opened together.
pub struct OpenedDevices {
    /// The devices in the order of the requested numbers.
    pub devices: Vec<Cuda>,
    /// Messages for the user.
    pub notes: Vec<String>,
}

#[derive(Default)]
struct Buffers {
    programs: Buffer,
    inputs: Buffer,
    jobs: Buffer,
    results: Buffer,
    output: Buffer,
    counters: Buffer,
    cursor: Buffer,
    arenas: Buffer,
}

impl Buffers {
    fn all(&mut self) -> [&mut Buffer; 8] {
        [
            &mut self.programs,
            &mut self.inputs,
            &mut self.jobs,
            &mut self.results,
            &mut self.output,
            &mut self.counters,
            &mut self.cursor,
            &mut self.arenas,
        ]
    }
}

struct Events {
    begun: CUevent,
    uploaded: CUevent,
    ended: CUevent,
}

/// The primary context of a GPU, which the whole process shares.
pub(crate) struct Primary {
    device: CUdevice,
    context: CUcontext,
}

// SAFETY: the handles are numbers to us, and the driver takes them from any thread.
unsafe impl Sync for Primary {}

impl Primary {
    pub(crate) fn retain(device: CUdevice) -> Result<Primary, DeviceError> {
        // SAFETY: the handle came from `cuDeviceGet`, and such handles stay valid.
        let context = unsafe { result::primary_ctx::retain(device) }
            .map_err(|error| failed("opening the device", error))?;
        let primary = Primary { device, context };
        primary.make_current()?;
        Ok(primary)
    }

    pub(crate) fn make_current(&self) -> Result<(), DeviceError> {
        // SAFETY: this value retains the context until it is dropped.
        unsafe { result::ctx::set_current(self.context) }
            .map_err(|error| failed("selecting the device", error))
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        // SAFETY: `retain` retained it once, and only this releases it.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// Converts an error of the driver.
pub(crate) fn failed(doing: &str, error: DriverError) -> DeviceError {
    let words = describe(doing, error);
    if is_sticky(error) {
        DeviceError::Lost(words)
    } else {
        DeviceError::Launch(words)
    }
}

/// Returns the free memory of a device, in bytes.
pub fn free_memory(driver: &Driver, ordinal: usize) -> Result<u64, DeviceError> {
    let _context = Primary::retain(device(driver, ordinal)?)?;
    free_in_context()
}

/// Returns the free memory of the device whose context is current.
pub(crate) fn free_in_context() -> Result<u64, DeviceError> {
    let (free, _) =
        result::mem_get_info().map_err(|error| failed("asking for free memory", error))?;
    Ok(free as u64)
}

impl Cuda {
    /// Opens one logical device on a GPU.
    pub fn open(
        ordinal: usize,
        settings: &CudaSettings,
    ) -> Result<(Cuda, Vec<String>), DeviceError> {
        let mut opened = Cuda::open_all(&[ordinal], settings)?;
        let device = opened
            .devices
            .pop()
            .ok_or_else(|| DeviceError::Missing("nothing was opened".to_owned()))?;
        Ok((device, opened.notes))
    }

    /// Opens logical devices, one for each number. Naming a GPU twice makes two logical devices on
    /// it.
    pub fn open_all(
        ordinals: &[usize],
        settings: &CudaSettings,
    ) -> Result<OpenedDevices, DeviceError> {
        let driver = Driver::get()?;
        let mut notes = Vec::new();
        // Each architecture needs one kernel, for any number of devices.
        let mut kernels: BTreeMap<Arch, Kernel> = BTreeMap::new();
        let mut devices = Vec::with_capacity(ordinals.len());
        // Loading the compiler takes about as long as opening a GPU, so both happen at the same
        // time. The compiler's version is needed to look up the cache.
        let (contexts, nvrtc) = thread::scope(|scope| {
            let nvrtc = scope.spawn(|| settings.maker.compiler(Some(driver.version)));
            let open = |&ordinal| Primary::retain(device(&driver, ordinal)?);
            let contexts: Result<Vec<Primary>, DeviceError> = ordinals.iter().map(open).collect();
            let broken = |_| Err(DeviceError::Compile("NVRTC does not load".to_owned()));
            (contexts, nvrtc.join().unwrap_or_else(broken))
        });
        for (&ordinal, context) in ordinals.iter().zip(contexts?) {
            let started = Instant::now();
            let facts = DeviceFacts::of(&driver, ordinal)?;
            // The linker needs a current context.
            context.make_current()?;
            let sharing = ordinals.iter().filter(|&&other| other == ordinal).count() as u64;
            let loaded = if settings.later {
                None
            } else {
                let kernel = match kernels.entry(facts.arch) {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => entry.insert(settings.maker.kernel_by(
                        &nvrtc,
                        facts.arch,
                        Some(driver.version),
                        &mut notes,
                    )?),
                };
                let version = driver.version;
                Some(Loaded::of(
                    kernel, &facts, version, settings, started, &mut notes,
                )?)
            };
            devices.push(Cuda::open_one(
                driver.version,
                context,
                facts,
                loaded,
                sharing,
                settings,
            )?);
        }
        Ok(OpenedDevices { devices, notes })
    }

    fn open_one(
        driver: Version,
        context: Primary,
        facts: DeviceFacts,
        loaded: Option<Loaded>,
        sharing: u64,
        settings: &CudaSettings,
    ) -> Result<Cuda, DeviceError> {
        let budget = Budget::of(facts.ordinal, free_in_context)?;
        if let Some(why) = budget.lost() {
            return Err(DeviceError::Lost(why.to_owned()));
        }
        let opening = |error| failed("opening the device", error);
        let event = || result::event::create(CUevent_flags::CU_EVENT_DEFAULT).map_err(opening);
        Ok(Cuda {
            quota: budget.limit() / sharing.max(1),
            stream: result::stream::create(StreamKind::NonBlocking).map_err(opening)?,
            events: Events {
                begun: event()?,
                uploaded: event()?,
                ended: event()?,
            },
            buffers: Buffers::default(),
            up: Pinned::default(),
            down: Pinned::default(),
            programs: None,
            inputs: None,
            waves: None,
            context: ManuallyDrop::new(context),
            settings: settings.clone(),
            driver,
            loaded,
            budget,
            facts,
        })
    }

    /// Returns the kernel, and loads it if that was left for later.
    fn loaded(&mut self) -> Result<&Loaded, DeviceError> {
        let (started, mut notes) = (Instant::now(), Vec::new());
        let loaded = match self.loaded.take() {
            Some(loaded) => loaded,
            None => {
                let maker = &self.settings.maker;
                let mut kernel = maker.kernel(self.facts.arch, Some(self.driver), &mut notes)?;
                let (facts, settings) = (&self.facts, &self.settings);
                Loaded::of(
                    &mut kernel,
                    facts,
                    self.driver,
                    settings,
                    started,
                    &mut notes,
                )?
            }
        };
        Ok(self.loaded.insert(loaded))
    }

    /// Returns the properties of the GPU.
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Returns the properties of the kernel, if it is loaded.
    pub fn kernel(&self) -> Option<&KernelFacts> {
        Some(&self.loaded.as_ref()?.facts)
    }

    /// Returns the memory that this logical device may still use.
    fn room(&mut self) -> u64 {
        let own: u64 = self.buffers.all().iter().map(|buffer| buffer.bytes()).sum();
        self.quota.saturating_sub(own).min(self.budget.left())
    }

    /// Allocates the buffers for a batch. Returns the layout of the warps.
    fn make_room(&mut self, batch: &Batch<'_>, arena: u64) -> Result<Layout, DeviceError> {
        match self.place(batch, arena, with_spare_room) {
            Err(DeviceError::Memory { .. }) => {}
            other => return other,
        }
        // Buffers may be larger than needed, and memory may be fragmented, so release all buffers
        // and try once more.
        for buffer in self.buffers.all() {
            buffer.release(&self.budget);
        }
        self.programs = None;
        self.inputs = None;
        self.place(batch, arena, |bytes| bytes)
    }

    /// Allocates every buffer; `size` computes the spare room. Arenas get the rest.
    fn place(
        &mut self,
        batch: &Batch<'_>,
        arena: u64,
        size: fn(u64) -> u64,
    ) -> Result<Layout, DeviceError> {
        let jobs = batch.jobs.len() as u64 / 4;
        let words = |count: usize| (count as u64).saturating_mul(4);
        let wanted = [
            words(batch.programs.len()),
            words(batch.inputs.len()),
            words(batch.jobs.len()),
            jobs.saturating_mul(16),
            words(batch.output_words),
            (batch.counters as u64).saturating_mul(8),
            16,
        ];
        let growing: u64 = self
            .buffers
            .all()
            .iter()
            .zip(wanted)
            .filter(|(buffer, wanted)| *wanted > buffer.bytes())
            .fold(0_u64, |sum, (buffer, wanted)| {
                sum.saturating_add(wanted - buffer.bytes())
            });
        if growing > self.room() {
            self.buffers.arenas.release(&self.budget);
        }
        for (number, wanted) in wanted.into_iter().enumerate() {
            let room = self.room();
            let buffer = &mut *self.buffers.all()[number];
            let before = buffer.address();
            let fits = buffer.fit(wanted, size, room, &self.budget);
            // Moving a buffer loses its content.
            if buffer.address() != before || fits.is_err() {
                match number {
                    0 => self.programs = None,
                    1 => self.inputs = None,
                    _ => {}
                }
            }
            fits?;
        }
        self.make_arenas(jobs, arena)
    }

    fn make_arenas(&mut self, jobs: u64, arena: u64) -> Result<Layout, DeviceError> {
        let have = self.buffers.arenas.bytes();
        let mut room = self.room().saturating_add(have);
        let most = self.loaded()?.facts.warps_per_block;
        loop {
            let processors = self.facts.multiprocessors;
            let Some(layout) = Layout::of(jobs, processors, most, room / arena.max(1)) else {
                return Err(DeviceError::Memory {
                    wanted: arena,
                    free: room,
                });
            };
            let bytes = layout.warps() * arena;
            if bytes <= self.buffers.arenas.bytes() {
                return Ok(layout);
            }
            // Double the size, so that growing batches do not reallocate each time.
            let ahead = bytes.max(have.saturating_mul(2)).min(room);
            for size in [ahead, bytes] {
                if self.buffers.arenas.allocate(size, &self.budget)? {
                    return Ok(layout);
                }
            }
            // Another process has taken memory of the budget meanwhile.
            room = bytes / 2;
        }
    }

    fn launch(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        let arena = batch.arena_bytes.max(1).next_multiple_of(ARENA_UNIT);
        let layout = self.make_room(batch, arena as u64)?;
        let mut times = Times {
            launches: 1,
            ..Times::default()
        };
        self.record(self.events.begun)?;
        times.bytes_up = self.upload(batch)?;
        self.record(self.events.uploaded)?;
        self.start(batch, arena as u64, layout)?;
        // From here on, an error means that the kernel has failed.
        let lost = |error| match error {
            DeviceError::Launch(why) => DeviceError::Lost(why),
            other => other,
        };
        self.record(self.events.ended).map_err(lost)?;
        self.wait().map_err(lost)?;
        let launched = self.collect(batch, times);
        launched.map_err(|error| lost(failed("copying from the device", error)))
    }

    /// Copies the parts of a batch that are not on the device yet. Returns the number of bytes
    /// copied.
    fn upload(&mut self, batch: &Batch<'_>) -> Result<u64, DeviceError> {
        let programs = (batch.programs_id, batch.programs.len());
        let inputs = (batch.inputs_id, batch.inputs.len());
        let mut parts = Vec::with_capacity(3);
        if self.programs != Some(programs) {
            self.programs = None;
            parts.push((self.buffers.programs.address(), batch.programs));
        }
        if self.inputs != Some(inputs) {
            self.inputs = None;
            parts.push((self.buffers.inputs.address(), batch.inputs));
        }
        parts.push((self.buffers.jobs.address(), batch.jobs));
        let bytes: usize = parts
            .iter()
            .map(|(_, words)| mem::size_of_val(*words))
            .sum();
        self.up.fit(bytes)?;
        self.down
            .fit(batch.jobs.len().max(batch.output_words).saturating_mul(4))?;
        self.copy_up(&parts)
            .map_err(|error| failed("copying to the device", error))?;
        self.programs = Some(programs);
        self.inputs = (batch.inputs_id != 0).then_some(inputs);
        Ok(bytes as u64)
    }

    /// Copies words to the device through the pinned memory. When the pinned memory is full, it
    /// waits for the copies and starts again at the beginning.
    fn copy_up(&mut self, parts: &[(CUdeviceptr, &[u32])]) -> Result<(), DriverError> {
        let room = self.up.bytes() / 4;
        let mut at = 0;
        for (address, words) in parts {
            let mut done = 0;
            while done < words.len() {
                if at == room {
                    // SAFETY: this value owns the stream and destroys it only on drop.
                    unsafe { result::stream::synchronize(self.stream) }?;
                    at = 0;
                }
                let count = (words.len() - done).min(room - at);
                // SAFETY: `at + count` is at most `room`, the number of words in the pinned memory.
                // No copy from this part is in flight: the stream was idle at the start, and the
                // code above waits for it before a part is used again. The device buffer has room
                // for all words.
                unsafe {
                    let pinned = self.up.pointer().cast::<u32>().add(at);
                    pinned.copy_from_nonoverlapping(words[done..].as_ptr(), count);
                    let part = slice::from_raw_parts(pinned, count);
                    let to = address + done as CUdeviceptr * 4;
                    result::memcpy_htod_async(to, part, self.stream)?;
                }
                at += count;
                done += count;
            }
        }
        Ok(())
    }

    /// Starts the kernel.
    fn start(&mut self, batch: &Batch<'_>, arena: u64, layout: Layout) -> Result<(), DeviceError> {
        let jobs = batch.jobs.len() / 4;
        self.fill(self.buffers.cursor.address(), 0, 4)?;
        self.fill(self.buffers.results.address(), NOT_REACHED, jobs * 4)?;
        self.fill(self.buffers.counters.address(), 0, batch.counters * 2)?;
        let mut launch = Launch {
            programs: self.buffers.programs.address(),
            inputs: self.buffers.inputs.address(),
            jobs: self.buffers.jobs.address(),
            results: self.buffers.results.address(),
            output: self.buffers.output.address(),
            arenas: self.buffers.arenas.address(),
            counters: match batch.counters {
                0 => 0,
                _ => self.buffers.counters.address(),
            },
            cursor: self.buffers.cursor.address(),
            job_count: jobs as u64,
            output_words: batch.output_words as u64,
            arena_bytes: arena,
            fuel: batch.fuel,
            work: batch.work,
            flags: batch.flags,
            warps: u32::try_from(layout.warps()).unwrap_or(u32::MAX),
        };
        let function = self.loaded()?.function;
        let mut parameters = [(&raw mut launch).cast::<c_void>()];
        // SAFETY: the kernel has one parameter with the layout of `Launch`. Every address in it is
        // that of a buffer with at least the size that docs/device.md requires. The buffers are
        // released only after the kernel has ended. If it does not end, the device is lost and they
        // are never released.
        unsafe {
            result::launch_kernel(
                function,
                (layout.blocks, 1, 1),
                (32 * layout.warps_per_block, 1, 1),
                SCRATCH * layout.warps_per_block,
                self.stream,
                &mut parameters,
            )
        }
        .map_err(|error| failed("starting the kernel", error))
    }

    fn fill(&self, address: CUdeviceptr, word: u32, words: usize) -> Result<(), DeviceError> {
        if words == 0 {
            return Ok(());
        }
        // SAFETY: `address` is in a buffer that `place` made large enough for these words.
        unsafe { sys::cuMemsetD32Async(address, word, words, self.stream) }
            .result()
            .map_err(|error| failed("clearing memory of the device", error))
    }

    fn record(&self, event: CUevent) -> Result<(), DeviceError> {
        // SAFETY: this value owns the event and the stream until it is dropped, and both belong to
        // its context.
        unsafe { result::event::record(event, self.stream) }
            .map_err(|error| failed("following the kernel", error))
    }

    /// Waits for the kernel, but not longer than the timeout.
    fn wait(&self) -> Result<(), DeviceError> {
        let start = Instant::now();
        loop {
            // SAFETY: this value owns the event until it is dropped.
            match unsafe { result::event::query(self.events.ended) } {
                Ok(()) => return Ok(()),
                Err(DriverError(CUresult::CUDA_ERROR_NOT_READY)) => {}
                Err(error) => return Err(failed("running the kernel", error)),
            }
            let waited = start.elapsed();
            if waited > self.settings.timeout {
                return Err(DeviceError::Timeout(self.settings.timeout));
            }
            pause(waited);
        }
    }

    /// Copies the results of the kernel to the host.
    fn collect(&mut self, batch: &Batch<'_>, mut times: Times) -> Result<Launched, DriverError> {
        let start = Instant::now();
        let cursor: Vec<u64> = self.download(self.buffers.cursor.address(), 2)?;
        let used = cursor.get(1).copied().unwrap_or(0);
        let used = usize::try_from(used).map_or(batch.output_words, |n| n.min(batch.output_words));
        let results: Vec<u32> = self.download(self.buffers.results.address(), batch.jobs.len())?;
        let counters: Vec<u64> = self.download(self.buffers.counters.address(), batch.counters)?;
        let output: Vec<u32> = self.download(self.buffers.output.address(), used)?;
        times.bytes_down =
            16 + (results.len() + output.len()) as u64 * 4 + counters.len() as u64 * 8;
        // SAFETY: all three events were recorded on this stream, and `wait` has seen the last one
        // complete.
        unsafe {
            times.upload = millis(result::event::elapsed(
                self.events.begun,
                self.events.uploaded,
            )?);
            times.kernel = millis(result::event::elapsed(
                self.events.uploaded,
                self.events.ended,
            )?);
        }
        times.download = start.elapsed();
        Ok(Launched {
            results,
            output,
            counters,
            times,
        })
    }

    /// Copies numbers from the device.
    fn download<T: Plain>(
        &mut self,
        from: CUdeviceptr,
        count: usize,
    ) -> Result<Vec<T>, DriverError> {
        let size = mem::size_of::<T>();
        let room = self.down.bytes() / size;
        let mut all = Vec::with_capacity(count);
        while all.len() < count {
            let part = (count - all.len()).min(room);
            let address = from + (all.len() * size) as CUdeviceptr;
            // SAFETY: `part` numbers fit the pinned memory, which is aligned to pages and was
            // zeroed when it was allocated. Nothing else uses it, and the copy has ended before the
            // numbers are read.
            let part = unsafe {
                let part = slice::from_raw_parts_mut(self.down.pointer().cast::<T>(), part);
                result::memcpy_dtoh_async(part, address, self.stream)?;
                result::stream::synchronize(self.stream)?;
                part
            };
            all.extend_from_slice(part);
        }
        Ok(all)
    }
}

impl Device for Cuda {
    fn name(&self) -> String {
        format!("cuda:{} {}", self.facts.ordinal, self.facts.name)
    }

    fn memory(&self) -> u64 {
        self.quota
    }

    fn waves(&mut self) -> Option<&mut WaveEngine> {
        let ordinal = self.facts.ordinal;
        let open = || {
            let (device, _) = CudaWaves::open(ordinal).ok()?;
            WaveEngine::new(Box::new(device)).ok()
        };
        // Tests compile other kernels than the VM.
        match std::ptr::eq(self.settings.maker.files, VM) {
            true => self.waves.get_or_insert_with(open).as_mut(),
            false => None,
        }
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        if let Some(why) = self.budget.lost() {
            return Err(DeviceError::Lost(why.to_owned()));
        }
        if !batch.jobs.len().is_multiple_of(4) {
            return Err(DeviceError::Launch(
                "a job has four words, and the length is not a multiple of four".to_owned(),
            ));
        }
        if batch.jobs.is_empty() {
            return Ok(Launched {
                counters: vec![0; batch.counters],
                ..Launched::default()
            });
        }
        let ran = self
            .context
            .make_current()
            .and_then(|()| self.launch(batch));
        match &ran {
            Ok(_) => {}
            Err(DeviceError::Lost(why)) => self.budget.lose(why.clone()),
            Err(error @ DeviceError::Timeout(_)) => self.budget.lose(error.to_string()),
            // A copy may still be reading the pinned memory. No kernel was started, so this waits
            // only for copies.
            // SAFETY: this value owns the stream until it is dropped.
            Err(_) => drop(unsafe { result::stream::synchronize(self.stream) }),
        }
        ran
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // On a lost device a kernel may run for ever, and freeing memory would wait for it, so
        // nothing is freed. The forgotten reference keeps the budget alive, and with it the reason
        // why the next opening fails.
        if self.budget.lost().is_some() || self.context.make_current().is_err() {
            mem::forget(Arc::clone(&self.budget));
            return;
        }
        for buffer in self.buffers.all() {
            buffer.release(&self.budget);
        }
        self.up.release();
        self.down.release();
        // SAFETY: this value created the handles, and only this function destroys them. Every `run`
        // waits for its kernel and copies, so nothing is in flight. An error has no consequence
        // here.
        unsafe {
            let events = &self.events;
            for event in [events.begun, events.uploaded, events.ended] {
                let _ = result::event::destroy(event);
            }
            let _ = result::stream::destroy(self.stream);
            if let Some(loaded) = &self.loaded {
                let _ = result::module::unload(loaded.module);
            }
            ManuallyDrop::drop(&mut self.context);
        }
    }
}

/// A type for which any bytes are a valid value.
///
/// # Safety
///
/// Every pattern of bits must be a value.
unsafe trait Plain: Copy {}
// SAFETY: every pattern of 32 bits is an integer.
unsafe impl Plain for u32 {}
// SAFETY: every pattern of 64 bits is an integer.
unsafe impl Plain for u64 {}

fn name() -> CString {
    // The name has no zero byte.
    CString::new(KERNEL).unwrap_or_default()
}

fn millis(millis: f32) -> Duration {
    Duration::try_from_secs_f64(f64::from(millis) / 1000.0).unwrap_or_default()
}

/// Waits a moment. It spins at first, because many launches are short, and then sleeps, so that
/// waiting does not occupy a core.
fn pause(waited: Duration) {
    if waited < Duration::from_micros(200) {
        std::hint::spin_loop();
    } else {
        thread::sleep((waited / 16).min(Duration::from_millis(1)));
    }
}

/// Grows the stack of device threads. It never shrinks, because the context is shared.
fn grow_stack(bytes: usize) -> Result<(), DeviceError> {
    let limit = CUlimit::CU_LIMIT_STACK_SIZE;
    let grow = || {
        if result::ctx::get_limit(limit)? < bytes {
            result::ctx::set_limit(limit, bytes)?;
        }
        Ok(())
    };
    grow().map_err(|error| failed("making room for stacks", error))
}

/// Loads the kernel. If the driver rejects a cached kernel, the kernel is compiled again.
pub(crate) fn load(
    kernel: &mut Kernel,
    facts: &DeviceFacts,
    driver: Version,
    settings: &CudaSettings,
    notes: &mut Vec<String>,
) -> Result<CUmodule, DeviceError> {
    let refused = |error| {
        DeviceError::Compile(format!(
            "{}; the driver is for CUDA {driver}",
            describe("the driver rejects the kernel", error)
        ))
    };
    match (load_image(&kernel.image), &kernel.origin) {
        (Ok(module), _) => Ok(module),
        (Err(error), Origin::Compiler(..)) => Err(refused(error)),
        (Err(_), Origin::Cache(path)) => {
            notes.push(format!(
                "the driver rejected the compiled kernel {}; it is compiled again",
                path.display()
            ));
            settings.maker.cache.discard(path);
            *kernel = settings.maker.kernel(facts.arch, Some(driver), notes)?;
            load_image(&kernel.image).map_err(refused)
        }
    }
}

/// Links relocatable machine code for the device whose context is current.
fn link(images: &[Image]) -> Result<Vec<u8>, DeviceError> {
    let why = |error| DeviceError::Compile(describe("the driver cannot link the kernel", error));
    let mut state = ptr::null_mut();
    // SAFETY: the number of options is zero, so the option lists may be null. `state` is a live
    // variable.
    unsafe { sys::cuLinkCreate_v2(0, ptr::null_mut(), ptr::null_mut(), &raw mut state) }
        .result()
        .map_err(why)?;
    let add = |image: &Image| {
        let (kind, bytes) = with_end(image);
        let none = ptr::null_mut();
        // SAFETY: the state is valid until it is destroyed below. The driver reads the code only
        // during the call. The number of options is zero, so the option lists may be null.
        unsafe {
            sys::cuLinkAddData_v2(
                state,
                kind,
                bytes.as_ptr().cast_mut().cast(),
                bytes.len(),
                name().as_ptr(),
                0,
                none,
                none.cast(),
            )
        }
        .result()
    };
    let (mut linked, mut bytes) = (ptr::null_mut(), 0);
    let made = images.iter().try_for_each(add).and_then(|()| {
        // SAFETY: the state is valid until it is destroyed below. The linked code belongs to it and
        // is copied before.
        unsafe {
            sys::cuLinkComplete(state, &raw mut linked, &raw mut bytes)
                .result()
                .map(|()| slice::from_raw_parts(linked.cast::<u8>(), bytes).to_vec())
        }
    });
    // SAFETY: the state was created above and is destroyed only here. An error has no consequence
    // here.
    let _ = unsafe { sys::cuLinkDestroy(state) };
    made.map_err(why)
}

/// Returns code as the driver's linker takes it: with a zero byte at the end if it is a text.
fn with_end(image: &Image) -> (sys::CUjitInputType, Cow<'_, [u8]>) {
    match image {
        Image::Cubin(bytes) => (
            sys::CUjitInputType::CU_JIT_INPUT_CUBIN,
            Cow::Borrowed(bytes),
        ),
        Image::Ptx(bytes) => {
            let mut text = bytes.clone();
            text.push(0);
            (sys::CUjitInputType::CU_JIT_INPUT_PTX, Cow::Owned(text))
        }
    }
}

fn load_image(image: &Image) -> Result<CUmodule, DriverError> {
    let mut bytes = image.bytes().to_vec();
    // PTX is text that must end in a zero byte; machine code contains its own length.
    bytes.push(0);
    // SAFETY: the image is complete, PTX with its zero byte. The driver reads it only during the
    // call.
    unsafe { result::module::load_data(bytes.as_ptr().cast()) }
}

fn kernel_facts(
    kernel: &Kernel,
    function: CUfunction,
    facts: &DeviceFacts,
    ready: Duration,
) -> Result<KernelFacts, DriverError> {
    let attribute = |which| -> Result<u32, DriverError> {
        // SAFETY: the function belongs to a loaded module.
        let value = unsafe { result::function::get_function_attribute(function, which) }?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    let most = facts.arch.warps_per_block();
    // The variable serves to measure the best number on a new kind of GPU.
    let wanted = env::var("BATT_DEVICE_WARPS").ok();
    let wanted = wanted.and_then(|wanted| wanted.parse().ok());
    let warps_per_block = wanted.unwrap_or(most).clamp(1, most);
    let scratch = warps_per_block * SCRATCH;
    let granted = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the function belongs to a loaded module.
    unsafe { result::function::set_function_attribute(function, granted, scratch as i32) }?;
    Ok(KernelFacts {
        origin: kernel.origin.clone(),
        ready,
        bytes: kernel.image.bytes().len(),
        registers: attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
        local: attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        shared: scratch + attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        warps_per_block,
        warps: u64::from(warps_per_block) * u64::from(facts.multiprocessors),
    })
}
