//! The emulated device: the device source, compiled for the host.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr;

use batt_engine::device::DeviceError;
use batt_engine::wave::{KernelTable, Wave, WaveBuffer, WaveDevice, WaveLaunch};

unsafe extern "C" {
    /// Runs a kernel to its end.
    fn batt_wave_host(kernel: u32, wave: *const Wave);
    #[cfg(test)]
    safe fn batt_wave_host_kernels() -> u32;
}

/// Returns the number of kernels of the source.
#[cfg(test)]
pub fn kernel_count() -> usize {
    batt_wave_host_kernels() as usize
}

/// The memory that tests may use.
const MEMORY: u64 = 256 << 20;

/// The emulated device.
#[derive(Debug, Default)]
pub struct EmulatedWaves;

fn layout(bytes: u64) -> Option<Layout> {
    Layout::from_size_align(usize::try_from(bytes.max(16)).ok()?, 256).ok()
}

impl WaveDevice for EmulatedWaves {
    fn name(&self) -> String {
        "emulated waves".to_owned()
    }

    fn table(&self) -> &'static KernelTable {
        crate::table()
    }

    fn memory(&self) -> u64 {
        MEMORY
    }

    fn allocate(&mut self, bytes: u64) -> Result<WaveBuffer, DeviceError> {
        let no_room = DeviceError::Memory {
            wanted: bytes,
            free: MEMORY,
        };
        let layout = layout(bytes).ok_or_else(|| no_room.clone())?;
        // SAFETY: the layout has at least 16 bytes.
        let address = unsafe { alloc_zeroed(layout) };
        match address.is_null() {
            true => Err(no_room),
            false => Ok(WaveBuffer {
                address: address as u64,
                bytes,
            }),
        }
    }

    fn free(&mut self, buffer: WaveBuffer) {
        if let (true, Some(layout)) = (buffer.address != 0, layout(buffer.bytes)) {
            // SAFETY: `allocate` made the buffer with this layout, and the caller gives it up.
            unsafe { dealloc(buffer.address as *mut u8, layout) }
        }
    }

    fn upload(&mut self, to: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: the engine copies only into buffers that it has allocated here.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
        Ok(())
    }

    fn clear(&mut self, at: u64, bytes: u64) -> Result<(), DeviceError> {
        // SAFETY: the engine clears only parts of buffers that it has allocated here.
        unsafe { ptr::write_bytes(at as *mut u8, 0, bytes as usize) };
        Ok(())
    }

    fn launch(&mut self, launches: &[WaveLaunch]) -> Result<(), DeviceError> {
        for launch in launches {
            // SAFETY: the number is one of the table of kernels, and the addresses of the wave are
            // those of buffers that the engine has allocated here, as large as the plan says.
            unsafe { batt_wave_host(launch.kernel as u32, &raw const launch.wave) };
        }
        Ok(())
    }

    fn download(&mut self, from: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        // SAFETY: the engine copies only from buffers that it has allocated here.
        unsafe { ptr::copy_nonoverlapping(from as *const u8, into.as_mut_ptr(), into.len()) };
        Ok(())
    }
}
