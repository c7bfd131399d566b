//! A device: whatever runs the device VM. The engine knows no more about it than this.

use std::time::Duration;

use crate::wave::WaveEngine;

/// The parameter of the kernel: what `docs/device.md` has under Launch. Addresses are the device's.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // the page says what each field is
pub struct Launch {
    pub programs: u64,
    pub inputs: u64,
    pub jobs: u64,
    pub results: u64,
    pub output: u64,
    pub arenas: u64,
    pub counters: u64,
    pub cursor: u64,
    pub job_count: u64,
    pub output_words: u64,
    pub arena_bytes: u64,
    pub fuel: u64,
    pub work: u64,
    pub flags: u32,
    pub warps: u32,
}

const _: () = assert!(size_of::<Launch>() == 112);

/// What one launch is given. All blobs as `docs/device.md` has them.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The programs blob.
    pub programs: &'a [u32],
    /// A number that changes when the programs blob does: a device keeps the last one it was sent.
    pub programs_id: u64,
    /// The inputs blob.
    pub inputs: &'a [u32],
    /// Which inputs blob it is, as for programs (samples are often run again); 0: never kept.
    pub inputs_id: u64,
    /// Four words a job.
    pub jobs: &'a [u32],
    /// How many words of output there is room for.
    pub output_words: usize,
    /// The flags of the launch.
    pub flags: u32,
    /// Work that one run may do, one thing after the other.
    pub fuel: u64,
    /// What its lanes may do beside one another, in addition.
    pub work: u64,
    /// Bytes of one run's arena; a device may have room for fewer warps then.
    pub arena_bytes: usize,
    /// Number of counters (`u64`) wanted back, 0 for none.
    pub counters: usize,
}

/// What a launch gave back.
#[derive(Clone, Debug, Default)]
pub struct Launched {
    /// Four words a job.
    pub results: Vec<u32>,
    /// The words of output that were used.
    pub output: Vec<u32>,
    /// As many counters as were wanted.
    pub counters: Vec<u64>,
    /// What it took.
    pub times: Times,
}

/// What launches took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Copying to the device.
    pub upload: Duration,
    /// The kernel itself.
    pub kernel: Duration,
    /// Copying back.
    pub download: Duration,
    /// Bytes copied to the device.
    pub bytes_up: u64,
    /// Bytes copied back.
    pub bytes_down: u64,
    /// How many launches it were.
    pub launches: u32,
}

impl Times {
    /// Adds what other launches took.
    pub fn add(&mut self, other: &Times) {
        self.upload += other.upload;
        self.kernel += other.kernel;
        self.download += other.download;
        self.bytes_up += other.bytes_up;
        self.bytes_down += other.bytes_down;
        self.launches += other.launches;
    }
}

/// A launch that gave nothing back. What it was to do is done by the CPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The device has no room for the launch.
    #[error("the device has no room: {wanted} bytes wanted, {free} free")]
    Memory {
        /// Bytes the launch needs.
        wanted: u64,
        /// Bytes there are.
        free: u64,
    },
    /// The launch failed; the next one may not.
    #[error("the launch failed: {0}")]
    Launch(String),
    /// The device is not usable any more.
    #[error("the device is lost: {0}")]
    Lost(String),
    /// The launch did not end in time.
    #[error("the launch did not end within {0:?}")]
    Timeout(Duration),
    /// The device code could not be compiled for the device.
    #[error("the device code does not compile: {0}")]
    Compile(String),
    /// There is no such device, or no driver for it.
    #[error("no device: {0}")]
    Missing(String),
}

impl DeviceError {
    /// Is the device of no use from now on?
    pub fn is_final(&self) -> bool {
        !matches!(self, DeviceError::Memory { .. } | DeviceError::Launch(_))
    }
}

/// Something that runs the device VM.
pub trait Device: Send {
    /// What to call it in reports.
    fn name(&self) -> String;

    /// Free device memory in bytes, as a device may use it.
    fn memory(&self) -> u64;

    /// Runs a batch of jobs, whole programs each.
    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError>;

    /// Returns the engine that runs one op at a time, if the device has one. It scores programs faster.
    fn waves(&mut self) -> Option<&mut WaveEngine> {
        None
    }
}
