//! A device: memory, and kernels that run one after the other.

use crate::device::DeviceError;

use super::layout::Wave;
use super::table::KernelTable;

/// Memory on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveBuffer {
    /// The address.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
}

/// A kernel to start.
#[derive(Clone, Copy, Debug)]
pub struct WaveLaunch {
    /// Its number in the table.
    pub kernel: usize,
    /// Its parameter.
    pub wave: Wave,
    /// The largest number of items of a node.
    pub items: u32,
}

/// Something that runs waves. Work is done in the order of the calls, and may be finished only when
/// `download` returns.
pub trait WaveDevice: Send {
    /// Returns the name for reports.
    fn name(&self) -> String;

    /// Returns the kernels that the device has.
    fn table(&self) -> &'static KernelTable;

    /// Returns the bytes that all buffers together may take.
    fn memory(&self) -> u64;

    /// Allocates memory. Its content is undefined.
    fn allocate(&mut self, bytes: u64) -> Result<WaveBuffer, DeviceError>;

    /// Frees memory. No work in progress may use it.
    fn free(&mut self, buffer: WaveBuffer);

    /// Copies bytes to the device.
    fn upload(&mut self, to: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Starts kernels that do not depend on each other. They may run at the same time.
    fn launch(&mut self, launches: &[WaveLaunch]) -> Result<(), DeviceError>;

    /// Fills memory with zeros.
    fn clear(&mut self, at: u64, bytes: u64) -> Result<(), DeviceError>;

    /// Waits for all work, and copies bytes from the device.
    fn download(&mut self, from: u64, into: &mut [u8]) -> Result<(), DeviceError>;
}
