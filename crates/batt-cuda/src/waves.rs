//! A GPU that runs waves: a kernel for each op.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::mem::{self, ManuallyDrop};
use std::slice;
use std::sync::Arc;
use std::time::Instant;

use batt_engine::device::DeviceError;
use batt_engine::wave::{KernelTable, WaveBuffer, WaveDevice, WaveLaunch, WaveMapping};
use batt_wave::table;
use cudarc::driver::result::stream::StreamKind;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{
    self, CUdeviceptr, CUevent, CUevent_flags, CUevent_wait_flags, CUfunction, CUmodule, CUstream,
};

use crate::budget::Budget;
use crate::cuda::{CudaSettings, Primary, failed, free_in_context, load};
use crate::driver::{DeviceFacts, Driver, device};
use crate::memory::{Buffer, Pinned};
use crate::nvrtc::NvrtcOptions;
use crate::source::{wave_parts, waves};

/// The pinned memory for copies to the device.
const STAGING: usize = 32 << 20;

/// The pinned memory for copies from the device.
const RETURNED: usize = 64 << 20;

/// The number of kernels that run at the same time.
const STREAMS: usize = 16;

/// The warps of a block.
const WARPS: u32 = 8;

/// The most blocks of a launch. Each goes on with the next items when it has done its first ones.
const MOST_BLOCKS: u32 = 1 << 16;

/// A GPU that runs waves.
pub struct CudaWaves {
    facts: DeviceFacts,
    budget: Arc<Budget>,
    context: ManuallyDrop<Primary>,
    module: CUmodule,
    functions: Vec<CUfunction>,
    stream: CUstream,
    /// Streams for kernels that run at the same time, and the event that they wait for.
    sides: Vec<Side>,
    forked: CUevent,
    buffers: HashMap<u64, Buffer>,
    staging: Pinned,
    /// The bytes of the staging memory that copies in flight may use.
    staged: usize,
    returned: Pinned,
}

// SAFETY: the driver's handles may be used by any thread that has made the context current, which
// every method does before it uses a handle. The pinned memory belongs to this value alone.
unsafe impl Send for CudaWaves {}

impl CudaWaves {
    /// Opens a GPU. Returns messages for the user, too.
    pub fn open(ordinal: usize) -> Result<(CudaWaves, Vec<String>), DeviceError> {
        let driver = Driver::get()?;
        let mut settings = CudaSettings::with_source(waves());
        settings.maker.parts = wave_parts();
        settings.maker.options = NvrtcOptions {
            unroll: true,
            ..settings.maker.options
        };
        let mut notes = Vec::new();
        let context = Primary::retain(device(&driver, ordinal)?)?;
        let facts = DeviceFacts::of(&driver, ordinal)?;
        let budget = Budget::of(ordinal, free_in_context)?;
        if let Some(why) = budget.lost() {
            return Err(DeviceError::Lost(why.to_owned()));
        }
        let started = Instant::now();
        let version = Some(driver.version);
        let mut kernel = settings.maker.kernel(facts.arch, version, &mut notes)?;
        let module = load(&mut kernel, &facts, driver.version, &settings, &mut notes)?;
        notes.push(format!(
            "waves are ready after {:.1} s",
            started.elapsed().as_secs_f64()
        ));
        let mut functions = Vec::with_capacity(table().kernels().len());
        for kernel in table().kernels() {
            let name = CString::new(format!("wave_{}", kernel.name)).unwrap_or_default();
            // SAFETY: the module was just loaded in the current context.
            let function = unsafe { result::module::get_function(module, name) };
            functions.push(function.map_err(|error| failed("opening the device", error))?);
        }
        let opening = |error| failed("opening the device", error);
        let stream = || result::stream::create(StreamKind::NonBlocking).map_err(opening);
        let event =
            || result::event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(opening);
        let side = |_| {
            Ok(Side {
                stream: stream()?,
                done: event()?,
            })
        };
        let sides: Result<Vec<Side>, DeviceError> = (0..STREAMS).map(side).collect();
        let mut waves = CudaWaves {
            facts,
            budget,
            context: ManuallyDrop::new(context),
            module,
            functions,
            stream: stream()?,
            sides: sides?,
            forked: event()?,
            buffers: HashMap::new(),
            staging: Pinned::default(),
            staged: 0,
            returned: Pinned::default(),
        };
        waves.staging.fit(STAGING)?;
        waves.returned.fit(RETURNED)?;
        Ok((waves, notes))
    }

    fn begin(&self) -> Result<(), DeviceError> {
        if let Some(why) = self.budget.lost() {
            return Err(DeviceError::Lost(why.to_owned()));
        }
        self.context.make_current()
    }

    /// Waits for all work.
    fn wait(&mut self) -> Result<(), DriverError> {
        self.staged = 0;
        // SAFETY: this value owns the stream until it is dropped.
        unsafe { result::stream::synchronize(self.stream) }
    }

    fn copy_up(&mut self, to: CUdeviceptr, bytes: &[u8]) -> Result<(), DriverError> {
        let mut done = 0;
        while done < bytes.len() {
            let room = self.staging.bytes();
            if self.staged == room {
                self.wait()?;
            }
            let count = (bytes.len() - done).min(room - self.staged);
            // SAFETY: `staged + count` is at most the size of the staging memory. No copy in flight
            // uses this part, because `staged` starts again at 0 only after `wait`. The engine
            // copies only into buffers that it has allocated here.
            unsafe {
                let staged = self.staging.pointer().cast::<u8>().add(self.staged);
                staged.copy_from_nonoverlapping(bytes[done..].as_ptr(), count);
                let part = slice::from_raw_parts(staged, count);
                result::memcpy_htod_async(to + done as CUdeviceptr, part, self.stream)?;
            }
            // Later parts stay aligned.
            self.staged = (self.staged + count).next_multiple_of(64).min(room);
            done += count;
        }
        Ok(())
    }

    fn copy_down(&mut self, from: CUdeviceptr, into: &mut [u8]) -> Result<(), DriverError> {
        let room = self.returned.bytes();
        for (number, part) in into.chunks_mut(room).enumerate() {
            let address = from + (number * room) as CUdeviceptr;
            // SAFETY: the part fits the pinned memory, which was zeroed when it was allocated and
            // which nothing else uses. The copy has ended before the bytes are read.
            unsafe {
                let pinned =
                    slice::from_raw_parts_mut(self.returned.pointer().cast::<u8>(), part.len());
                result::memcpy_dtoh_async(pinned, address, self.stream)?;
                self.wait()?;
                part.copy_from_slice(pinned);
            }
        }
        Ok(())
    }

    /// Starts kernels on several streams, behind all work so far and before all that follows.
    fn start_all(&self, launches: &[WaveLaunch]) -> Result<(), DriverError> {
        let sides = &self.sides[..launches.len().min(self.sides.len())];
        // SAFETY: this value owns the streams and events until it is dropped.
        unsafe {
            result::event::record(self.forked, self.stream)?;
            for side in sides {
                wait_for(side.stream, self.forked)?;
            }
            for (launch, side) in launches.iter().zip(sides.iter().cycle()) {
                self.start(launch, side.stream)?;
            }
            for side in sides {
                result::event::record(side.done, side.stream)?;
                wait_for(self.stream, side.done)?;
            }
        }
        Ok(())
    }

    fn start(&self, launch: &WaveLaunch, stream: CUstream) -> Result<(), DriverError> {
        let &WaveLaunch {
            kernel,
            mut wave,
            items,
        } = launch;
        let warps = match table().kernels()[kernel].mapping {
            WaveMapping::Row => items,
            WaveMapping::Thread => items.div_ceil(32),
        };
        let block = warps.next_power_of_two().clamp(1, WARPS);
        let nodes = wave.node_count.clamp(1, 65_535);
        let blocks = warps
            .div_ceil(block)
            .clamp(1, (MOST_BLOCKS / nodes).max(16));
        let mut parameters = [(&raw mut wave).cast::<c_void>()];
        // SAFETY: the kernel has one parameter with the layout of `Wave`. The addresses in it are
        // those of buffers that the engine has allocated here, as large as its plan says.
        unsafe {
            result::launch_kernel(
                self.functions[kernel],
                (blocks, nodes, 1),
                (32 * block, 1, 1),
                0,
                stream,
                &mut parameters,
            )
        }
    }

    /// Converts an error of the driver, and remembers that a device is lost.
    fn failed(&self, doing: &str, error: DriverError) -> DeviceError {
        let error = failed(doing, error);
        if let DeviceError::Lost(why) = &error {
            self.budget.lose(why.clone());
        }
        error
    }
}

/// A stream with an event at its end.
struct Side {
    stream: CUstream,
    done: CUevent,
}

/// Makes a stream wait for an event.
///
/// # Safety
///
/// Both must be alive.
unsafe fn wait_for(stream: CUstream, event: CUevent) -> Result<(), DriverError> {
    let flags = CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
    // SAFETY: the caller owns both.
    unsafe { result::stream::wait_event(stream, event, flags) }
}

impl WaveDevice for CudaWaves {
    fn name(&self) -> String {
        format!("cuda:{} {}", self.facts.ordinal, self.facts.name)
    }

    fn table(&self) -> &'static KernelTable {
        table()
    }

    fn memory(&self) -> u64 {
        self.budget.limit()
    }

    fn allocate(&mut self, bytes: u64) -> Result<WaveBuffer, DeviceError> {
        self.begin()?;
        let bytes = bytes.max(256);
        let mut buffer = Buffer::default();
        if !buffer.allocate(bytes, &self.budget)? {
            return Err(DeviceError::Memory {
                wanted: bytes,
                free: self.budget.left(),
            });
        }
        let address = buffer.address();
        self.buffers.insert(address, buffer);
        Ok(WaveBuffer { address, bytes })
    }

    fn free(&mut self, buffer: WaveBuffer) {
        // The memory of a lost device is given up.
        if self.begin().is_err() || self.wait().is_err() {
            return;
        }
        if let Some(mut buffer) = self.buffers.remove(&buffer.address) {
            buffer.release(&self.budget);
        }
    }

    fn upload(&mut self, to: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.begin()?;
        let copied = self.copy_up(to, bytes);
        copied.map_err(|error| self.failed("copying to the device", error))
    }

    fn clear(&mut self, at: u64, bytes: u64) -> Result<(), DeviceError> {
        self.begin()?;
        // SAFETY: the engine clears only parts of buffers that it has allocated here.
        let cleared = unsafe { sys::cuMemsetD32Async(at, 0, bytes as usize / 4, self.stream) };
        let cleared = cleared.result();
        cleared.map_err(|error| self.failed("clearing memory of the device", error))
    }

    fn launch(&mut self, launches: &[WaveLaunch]) -> Result<(), DeviceError> {
        self.begin()?;
        let started = match launches {
            [] => Ok(()),
            [launch] => self.start(launch, self.stream),
            several => self.start_all(several),
        };
        started.map_err(|error| self.failed("starting a kernel", error))
    }

    fn download(&mut self, from: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.begin()?;
        let copied = self.copy_down(from, into);
        copied.map_err(|error| self.failed("running the kernels", error))
    }
}

impl Drop for CudaWaves {
    fn drop(&mut self) {
        // Nothing of a lost device is freed: see `Cuda`.
        if self.begin().is_err() || self.wait().is_err() {
            mem::forget(Arc::clone(&self.budget));
            return;
        }
        for mut buffer in mem::take(&mut self.buffers).into_values() {
            buffer.release(&self.budget);
        }
        self.staging.release();
        self.returned.release();
        // SAFETY: this value created the handles, and only this function destroys them. `wait` has
        // seen the end of all work. An error has no consequence here.
        unsafe {
            for side in &self.sides {
                let _ = result::stream::destroy(side.stream);
                let _ = result::event::destroy(side.done);
            }
            let _ = result::event::destroy(self.forked);
            let _ = result::stream::destroy(self.stream);
            let _ = result::module::unload(self.module);
            ManuallyDrop::drop(&mut self.context);
        }
    }
}
