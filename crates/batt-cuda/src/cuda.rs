//! A device of CUDA's, as the engine sees it.

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
use crate::memory::{Buffer, Layout, Pinned, roomy};
use crate::nvrtc::Image;
use crate::source::{Source, VM};

/// The name of the kernel.
const KERNEL: &str = "batt_vm";
/// Arenas are laid out in multiples of this.
const ARENA_UNIT: usize = 256;
/// The status of a job that no warp has come to.
const NOT_REACHED: u32 = 9;

/// How devices are opened.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How to get the kernel.
    pub maker: Maker,
    /// How long a launch may take. A kernel cannot be ended: the device is lost then.
    pub timeout: Duration,
    /// Stack of one thread, in bytes. The VM calls itself, so the compiler cannot know.
    pub stack: usize,
}

impl Settings {
    /// The VM, and everything else as the environment has it.
    pub fn from_env() -> Settings {
        Settings::with_source(VM)
    }

    /// Another kernel than the VM.
    pub fn with_source(files: &'static [Source]) -> Settings {
        Settings {
            maker: Maker {
                link: Some(link),
                ..Maker::from_env(files)
            },
            timeout: Duration::from_secs(60),
            stack: 16 << 10,
        }
    }
}

/// What the compiler and the device made of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFacts {
    /// Where it is from.
    pub origin: Origin,
    /// How long it took to find or make it and to load it, once the device was open.
    pub ready: Duration,
    /// Its size in bytes.
    pub bytes: usize,
    /// Registers of a thread.
    pub registers: u32,
    /// Local memory of a thread in bytes, without what calls need.
    pub local: u32,
    /// Shared memory of the largest block in bytes.
    pub shared: u32,
    /// Warps of the largest block, of which a multiprocessor runs one at a time.
    pub warps_per_block: u32,
    /// Warps that the device runs at a time.
    pub warps: u64,
}

/// A logical device: a stream and buffers of its own on a device that others may use too.
pub struct Cuda {
    facts: DeviceFacts,
    kernel: KernelFacts,
    quota: u64,
    timeout: Duration,
    budget: Arc<Budget>,
    context: ManuallyDrop<Primary>,
    module: CUmodule,
    function: CUfunction,
    stream: CUstream,
    events: Events,
    buffers: Buffers,
    up: Pinned,
    down: Pinned,
    /// Which programs are on the device, and how many words they are.
    programs: Option<(u64, usize)>,
    /// Which inputs are.
    inputs: Option<(u64, usize)>,
}

// SAFETY: the driver's handles may be used by any thread that has made the context current, which every use does first; the
// pinned memory belongs to this value alone.
unsafe impl Send for Cuda {}

/// Logical devices that were opened together.
pub struct Opened {
    /// One for each number asked for, in that order.
    pub devices: Vec<Cuda>,
    /// What the user may want to know.
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

/// A device's primary context, which everybody in the process shares.
struct Primary {
    device: CUdevice,
    context: CUcontext,
}

impl Primary {
    fn retain(device: CUdevice) -> Result<Primary, DeviceError> {
        // SAFETY: the device was given by the driver.
        let context = unsafe { result::primary_ctx::retain(device) }
            .map_err(|error| failed("opening the device", error))?;
        let primary = Primary { device, context };
        primary.make_current()?;
        Ok(primary)
    }

    fn make_current(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is retained as long as this value lives.
        unsafe { result::ctx::set_current(self.context) }
            .map_err(|error| failed("turning to the device", error))
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        // SAFETY: retained once, released once.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// What an error of the driver is to the engine.
pub(crate) fn failed(doing: &str, error: DriverError) -> DeviceError {
    let words = describe(doing, error);
    if is_sticky(error) {
        DeviceError::Lost(words)
    } else {
        DeviceError::Launch(words)
    }
}

/// The free memory of a device, in bytes.
pub fn free_memory(driver: &Driver, ordinal: usize) -> Result<u64, DeviceError> {
    let _context = Primary::retain(device(driver, ordinal)?)?;
    free_here()
}

/// The free memory of the device whose context is current.
fn free_here() -> Result<u64, DeviceError> {
    let (free, _) =
        result::mem_get_info().map_err(|error| failed("asking for free memory", error))?;
    Ok(free as u64)
}

impl Cuda {
    /// Opens one logical device on a device.
    pub fn open(ordinal: usize, settings: &Settings) -> Result<(Cuda, Vec<String>), DeviceError> {
        let mut opened = Cuda::open_all(&[ordinal], settings)?;
        let device = opened
            .devices
            .pop()
            .ok_or_else(|| DeviceError::Missing("nothing was opened".to_owned()))?;
        Ok((device, opened.notes))
    }

    /// Opens logical devices, one for each number; a device that is named twice is shared by two.
    pub fn open_all(ordinals: &[usize], settings: &Settings) -> Result<Opened, DeviceError> {
        let driver = Driver::get()?;
        let mut notes = Vec::new();
        // One for each architecture, however many devices there are of it.
        let mut kernels: BTreeMap<Arch, Kernel> = BTreeMap::new();
        let mut devices = Vec::with_capacity(ordinals.len());
        // Loading the compiler, of which we have to know the version, takes about as long as opening a device.
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
            // The linker wants a context.
            context.make_current()?;
            let sharing = ordinals.iter().filter(|&&other| other == ordinal).count() as u64;
            let kernel = match kernels.entry(facts.arch) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(settings.maker.kernel_by(
                    &nvrtc,
                    facts.arch,
                    Some(driver.version),
                    &mut notes,
                )?),
            };
            devices.push(Cuda::open_one(
                &driver, context, facts, kernel, sharing, settings, started, &mut notes,
            )?);
        }
        Ok(Opened { devices, notes })
    }

    #[allow(clippy::too_many_arguments)]
    fn open_one(
        driver: &Driver,
        context: Primary,
        facts: DeviceFacts,
        kernel: &mut Kernel,
        sharing: u64,
        settings: &Settings,
        started: Instant,
        notes: &mut Vec<String>,
    ) -> Result<Cuda, DeviceError> {
        grow_stack(settings.stack)?;
        let budget = Budget::of(facts.ordinal, free_here)?;
        if let Some(why) = budget.lost() {
            return Err(DeviceError::Lost(why.to_owned()));
        }
        let module = load(kernel, &facts, driver.version, settings, notes)?;
        let opening = |error| failed("opening the device", error);
        // SAFETY: the module was just loaded.
        let function = unsafe { result::module::get_function(module, name()) }.map_err(opening)?;
        let kernel = kernel_facts(kernel, function, &facts, started.elapsed()).map_err(opening)?;
        let event = || result::event::create(CUevent_flags::CU_EVENT_DEFAULT).map_err(opening);
        Ok(Cuda {
            quota: budget.limit() / sharing.max(1),
            timeout: settings.timeout,
            module,
            function,
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
            context: ManuallyDrop::new(context),
            budget,
            facts,
            kernel,
        })
    }

    /// The device it is on.
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// The kernel.
    pub fn kernel(&self) -> &KernelFacts {
        &self.kernel
    }

    /// What this logical device may still take.
    fn room(&mut self) -> u64 {
        let own: u64 = self.buffers.all().iter().map(|buffer| buffer.bytes()).sum();
        self.quota.saturating_sub(own).min(self.budget.left())
    }

    /// Sees to it that everything has its place, and says how the warps are laid out.
    fn make_room(&mut self, batch: &Batch<'_>, arena: u64) -> Result<Layout, DeviceError> {
        match self.place(batch, arena, roomy) {
            Err(DeviceError::Memory { .. }) => {}
            other => return other,
        }
        // Buffers are larger than they have to be, and there may be holes between them: once more, from nothing.
        for buffer in self.buffers.all() {
            buffer.release(&self.budget);
        }
        self.programs = None;
        self.inputs = None;
        self.place(batch, arena, |bytes| bytes)
    }

    /// Gives every buffer its memory, by a rule for how much more than it needs. Arenas get what the rest leaves.
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
            // What was on the device is gone with the buffer it was in.
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
        loop {
            let (processors, most) = (self.facts.multiprocessors, self.kernel.warps_per_block);
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
            // Twice as many as before, so that growing batches do not grow them each time.
            let ahead = bytes.max(have.saturating_mul(2)).min(room);
            for size in [ahead, bytes] {
                if self.buffers.arenas.allocate(size, &self.budget)? {
                    return Ok(layout);
                }
            }
            // Within the budget, but somebody else has taken it meanwhile.
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
        // From here on an error is one of the kernel.
        let lost = |error| match error {
            DeviceError::Launch(why) => DeviceError::Lost(why),
            other => other,
        };
        self.record(self.events.ended).map_err(lost)?;
        self.wait().map_err(lost)?;
        let launched = self.collect(batch, times);
        launched.map_err(|error| lost(failed("copying from the device", error)))
    }

    /// Copies to the device what is not there; gives the bytes.
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

    /// Copies through the pinned memory, from its beginning whenever its end is reached.
    fn copy_up(&mut self, parts: &[(CUdeviceptr, &[u32])]) -> Result<(), DriverError> {
        let room = self.up.bytes() / 4;
        let mut at = 0;
        for (address, words) in parts {
            let mut done = 0;
            while done < words.len() {
                if at == room {
                    // SAFETY: the stream is alive.
                    unsafe { result::stream::synchronize(self.stream) }?;
                    at = 0;
                }
                let count = (words.len() - done).min(room - at);
                // SAFETY: `at + count` is at most the number of words there are, and no copy from this part of the
                // memory is in flight: the stream was idle when it was first used and each time it began anew.
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
        let mut parameters = [(&raw mut launch).cast::<c_void>()];
        // SAFETY: the kernel has one parameter of this layout, and all its addresses are of buffers that hold what the
        // contract says; they live until the kernel has ended, or for ever if it does not.
        unsafe {
            result::launch_kernel(
                self.function,
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
        // SAFETY: the buffer has at least so many words.
        unsafe { sys::cuMemsetD32Async(address, word, words, self.stream) }
            .result()
            .map_err(|error| failed("clearing memory of the device", error))
    }

    fn record(&self, event: CUevent) -> Result<(), DeviceError> {
        // SAFETY: event and stream are alive and of the same context.
        unsafe { result::event::record(event, self.stream) }
            .map_err(|error| failed("following the kernel", error))
    }

    /// Waits for the kernel, but not for ever.
    fn wait(&self) -> Result<(), DeviceError> {
        let start = Instant::now();
        loop {
            // SAFETY: the event is alive.
            match unsafe { result::event::query(self.events.ended) } {
                Ok(()) => return Ok(()),
                Err(DriverError(CUresult::CUDA_ERROR_NOT_READY)) => {}
                Err(error) => return Err(failed("running the kernel", error)),
            }
            let waited = start.elapsed();
            if waited > self.timeout {
                return Err(DeviceError::Timeout(self.timeout));
            }
            pause(waited);
        }
    }

    /// Copies back what the kernel made.
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
        // SAFETY: all three events were recorded on this stream, and the last has happened.
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
            // SAFETY: so many numbers fit the pinned memory, which is aligned to pages and was written when it was
            // allocated; nothing else uses it, and the copy has ended before it is read.
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

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        if let Some(why) = self.budget.lost() {
            return Err(DeviceError::Lost(why.to_owned()));
        }
        if !batch.jobs.len().is_multiple_of(4) {
            return Err(DeviceError::Launch(
                "a job is four words, and these do not come out even".to_owned(),
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
            // A copy may still be reading the pinned memory.
            // SAFETY: the stream is alive, and no kernel was started: only copies are waited for.
            Err(_) => drop(unsafe { result::stream::synchronize(self.stream) }),
        }
        ran
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // On a device that is lost a kernel may be running for ever, and to free memory would be to wait for it. Whoever opens
        // the device again is told: what is forgotten here keeps the budget, and with it the reason.
        if self.budget.lost().is_some() || self.context.make_current().is_err() {
            mem::forget(Arc::clone(&self.budget));
            return;
        }
        for buffer in self.buffers.all() {
            buffer.release(&self.budget);
        }
        self.up.release();
        self.down.release();
        // SAFETY: made by this value and destroyed once; nothing is in flight. Errors would change nothing.
        unsafe {
            let events = &self.events;
            for event in [events.begun, events.uploaded, events.ended] {
                let _ = result::event::destroy(event);
            }
            let _ = result::stream::destroy(self.stream);
            let _ = result::module::unload(self.module);
            ManuallyDrop::drop(&mut self.context);
        }
    }
}

/// Numbers that any bytes are.
///
/// # Safety
///
/// Every pattern of bits has to be a value.
unsafe trait Plain: Copy {}
// SAFETY: integers.
unsafe impl Plain for u32 {}
// SAFETY: integers.
unsafe impl Plain for u64 {}

fn name() -> CString {
    // The name has no zero byte.
    CString::new(KERNEL).unwrap_or_default()
}

fn millis(millis: f32) -> Duration {
    Duration::try_from_secs_f64(f64::from(millis) / 1000.0).unwrap_or_default()
}

/// Lets a moment pass: none at first, since many launches are short, then longer, so that waiting costs no core.
fn pause(waited: Duration) {
    if waited < Duration::from_micros(200) {
        std::hint::spin_loop();
    } else {
        thread::sleep((waited / 16).min(Duration::from_millis(1)));
    }
}

/// Sees to the stack of threads. The context is shared, so it is never made smaller.
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

/// Loads the kernel. One from the cache that the driver does not take is made anew.
fn load(
    kernel: &mut Kernel,
    facts: &DeviceFacts,
    driver: Version,
    settings: &Settings,
    notes: &mut Vec<String>,
) -> Result<CUmodule, DeviceError> {
    let refused = |error| {
        DeviceError::Compile(format!(
            "{}; the driver is for CUDA {driver}",
            describe("the driver does not take the kernel", error)
        ))
    };
    match (load_image(&kernel.image), &kernel.origin) {
        (Ok(module), _) => Ok(module),
        (Err(error), Origin::Compiler(..)) => Err(refused(error)),
        (Err(_), Origin::Cache(path)) => {
            notes.push(format!(
                "the driver did not take the compiled kernel {}; it is made anew",
                path.display()
            ));
            settings.maker.cache.discard(path);
            *kernel = settings.maker.kernel(facts.arch, Some(driver), notes)?;
            load_image(&kernel.image).map_err(refused)
        }
    }
}

/// Links relocatable machine code for the device whose context is current.
fn link(parts: &[u8]) -> Result<Vec<u8>, DeviceError> {
    let why = |error| DeviceError::Compile(describe("the driver does not link the kernel", error));
    let mut state = ptr::null_mut();
    // SAFETY: without options there are no lists of them; the state is valid from here on, and is destroyed once.
    unsafe { sys::cuLinkCreate_v2(0, ptr::null_mut(), ptr::null_mut(), &raw mut state) }
        .result()
        .map_err(why)?;
    let (mut linked, mut bytes) = (ptr::null_mut(), 0);
    // SAFETY: the driver only reads the parts, and only during this call. What it makes of them belongs to the state,
    // and is copied before that is destroyed.
    let made = unsafe {
        let input = sys::CUjitInputType::CU_JIT_INPUT_CUBIN;
        let (data, none) = (parts.as_ptr().cast_mut().cast(), ptr::null_mut());
        let name = name();
        sys::cuLinkAddData_v2(
            state,
            input,
            data,
            parts.len(),
            name.as_ptr(),
            0,
            none,
            none.cast(),
        )
        .result()
        .and_then(|()| sys::cuLinkComplete(state, &raw mut linked, &raw mut bytes).result())
        .map(|()| slice::from_raw_parts(linked.cast::<u8>(), bytes).to_vec())
    };
    // SAFETY: created above, destroyed once. An error changes nothing any more.
    let _ = unsafe { sys::cuLinkDestroy(state) };
    made.map_err(why)
}

fn load_image(image: &Image) -> Result<CUmodule, DriverError> {
    let mut bytes = image.bytes().to_vec();
    // The intermediate form is text, which ends in a zero byte; machine code says its own length.
    bytes.push(0);
    // SAFETY: the driver reads the image and checks it, and keeps nothing of it.
    unsafe { result::module::load_data(bytes.as_ptr().cast()) }
}

fn kernel_facts(
    kernel: &Kernel,
    function: CUfunction,
    facts: &DeviceFacts,
    ready: Duration,
) -> Result<KernelFacts, DriverError> {
    let attribute = |which| -> Result<u32, DriverError> {
        // SAFETY: the function is of a module that is loaded.
        let value = unsafe { result::function::get_function_attribute(function, which) }?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    let most = facts.arch.warps_per_block();
    // For trying out what is best on a device that nobody has measured.
    let wanted = env::var("BATT_DEVICE_WARPS").ok();
    let wanted = wanted.and_then(|wanted| wanted.parse().ok());
    let warps_per_block = wanted.unwrap_or(most).clamp(1, most);
    let scratch = warps_per_block * SCRATCH;
    let granted = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the function is of a module that is loaded.
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
