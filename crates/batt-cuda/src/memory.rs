//! Device memory, and pinned memory for transfers. Buffers grow and are reused.

use std::ffi::c_void;
use std::ptr;

use batt_engine::device::DeviceError;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{CUdeviceptr, CUresult};

use crate::budget::Budget;

/// The bounds of a buffer of pinned memory. Larger transfers take several parts. Pinned memory is
/// not available to other processes, so it is kept small.
const MAX_PINNED: usize = 64 << 20;
const MIN_PINNED: usize = 64 << 10;

/// Returns the preferred size of a buffer for this many bytes: a quarter more, so that a slightly
/// larger batch still fits.
pub(crate) fn with_spare_room(bytes: u64) -> u64 {
    (bytes + bytes / 4).next_multiple_of(64 << 10)
}

/// The layout of the warps of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub blocks: u32,
    pub warps_per_block: u32,
}

impl Layout {
    /// Returns the layout with as many warps as the jobs, the device and the memory for arenas
    /// allow. Few jobs are spread over all multiprocessors. Returns `None` if not even one warp
    /// fits.
    pub fn of(jobs: u64, processors: u32, most_per_block: u32, fitting: u64) -> Option<Layout> {
        let processors = u64::from(processors.max(1));
        let warps = jobs.min(fitting);
        if warps == 0 {
            return None;
        }
        let spread = match warps < jobs {
            true => warps / processors,
            false => warps.div_ceil(processors),
        };
        let per_block = spread.clamp(1, u64::from(most_per_block.max(1)));
        let blocks = (jobs.div_ceil(per_block)).min(fitting / per_block);
        Some(Layout {
            // Both numbers are small: a device has a few hundred multiprocessors.
            blocks: blocks.min(processors) as u32,
            warps_per_block: per_block as u32,
        })
    }

    pub fn warps(self) -> u64 {
        u64::from(self.blocks) * u64::from(self.warps_per_block)
    }
}

/// A buffer on the device. [`Buffer::release`] frees it; dropping does not, because freeing waits
/// for running kernels, and one may never end.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    address: CUdeviceptr,
    bytes: u64,
}

impl Buffer {
    pub fn address(&self) -> CUdeviceptr {
        self.address
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Grows to `size(bytes)` if possible, otherwise to at least `bytes`. Growing loses the
    /// content. `room` is the memory that the buffer's owner may still use.
    pub fn fit(
        &mut self,
        bytes: u64,
        size: fn(u64) -> u64,
        room: u64,
        budget: &Budget,
    ) -> Result<(), DeviceError> {
        // The kernel gets the address of an empty buffer as well, so it must be valid.
        let bytes = bytes.max(256);
        if bytes <= self.bytes {
            return Ok(());
        }
        let room = room.saturating_add(self.bytes);
        self.release(budget);
        for size in [size(bytes), bytes] {
            if size <= room && self.allocate(size, budget)? {
                return Ok(());
            }
        }
        Err(DeviceError::Memory {
            wanted: bytes,
            free: room.min(budget.left()),
        })
    }

    /// Allocates exactly this many bytes. Returns `false` if there is no room.
    pub fn allocate(&mut self, bytes: u64, budget: &Budget) -> Result<bool, DeviceError> {
        self.release(budget);
        let Ok(size) = usize::try_from(bytes) else {
            return Ok(false);
        };
        if !budget.take(bytes) {
            return Ok(false);
        }
        // SAFETY: the memory is uninitialised. Host code reads device memory only by copies of
        // ranges that the kernel, a fill or an earlier copy has written.
        match unsafe { result::malloc_sync(size) } {
            Ok(address) => {
                *self = Buffer { address, bytes };
                Ok(true)
            }
            Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                budget.give_back(bytes);
                Ok(false)
            }
            Err(error) => {
                budget.give_back(bytes);
                Err(crate::cuda::failed("taking memory", error))
            }
        }
    }

    /// Frees the memory. The caller must ensure that no kernel and no copy uses it.
    pub fn release(&mut self, budget: &Budget) {
        if self.bytes > 0 {
            // SAFETY: `bytes > 0` means that `allocate` set the address and nothing has freed it
            // since: the buffer is reset below. The caller ensures that no kernel or copy uses it.
            // The next call reports an error of the device again, so this one may be ignored.
            let _ = unsafe { result::free_sync(self.address) };
            budget.give_back(self.bytes);
        }
        *self = Buffer::default();
    }
}

/// Pinned memory of the host, which the device can access without the CPU.
#[derive(Debug)]
pub(crate) struct Pinned {
    pointer: *mut c_void,
    bytes: usize,
}

impl Default for Pinned {
    fn default() -> Pinned {
        Pinned {
            pointer: ptr::null_mut(),
            bytes: 0,
        }
    }
}

impl Pinned {
    pub fn pointer(&self) -> *mut c_void {
        self.pointer
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Grows to this many bytes, or as close as the limit and free memory allow.
    pub fn fit(&mut self, bytes: usize) -> Result<(), DeviceError> {
        let wanted = bytes
            .clamp(MIN_PINNED, MAX_PINNED)
            .next_power_of_two()
            .min(MAX_PINNED);
        if wanted <= self.bytes {
            return Ok(());
        }
        self.release();
        let mut size = wanted;
        loop {
            // SAFETY: the memory is uninitialised, and zeroed below before the first read.
            match unsafe { result::malloc_host(size, 0) } {
                Ok(pointer) => {
                    // SAFETY: `malloc_host` returned `size` writable bytes at this pointer.
                    unsafe { ptr::write_bytes(pointer.cast::<u8>(), 0, size) };
                    *self = Pinned {
                        pointer,
                        bytes: size,
                    };
                    return Ok(());
                }
                // A smaller buffer works as well, with more parts per transfer.
                Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) if size > MIN_PINNED => {
                    size /= 2;
                }
                Err(error) => return Err(crate::cuda::failed("locking memory", error)),
            }
        }
    }

    /// Frees the memory. The caller must ensure that no copy is in flight.
    pub fn release(&mut self) {
        if self.bytes > 0 {
            // SAFETY: `bytes > 0` means that `fit` allocated the pointer and nothing has freed it
            // since: the value is reset below. The caller ensures that no copy is in flight.
            let _ = unsafe { result::free_host(self.pointer) };
        }
        *self = Pinned::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_larger_than_needed() {
        assert_eq!(with_spare_room(1), 64 << 10);
        assert!(with_spare_room(1 << 20) > 1 << 20);
        assert!(with_spare_room(1 << 20) < 2 << 20);
    }

    #[test]
    fn the_scarcest_resource_limits_the_warps() {
        let layout = |jobs, fitting| {
            let layout = Layout::of(jobs, 10, 28, fitting)?;
            Some((layout.blocks, layout.warps_per_block))
        };
        // Jobs are the limit; they are spread over all multiprocessors.
        assert_eq!(layout(1, 1000), Some((1, 1)));
        assert_eq!(layout(10, 1000), Some((10, 1)));
        assert_eq!(layout(11, 1000), Some((6, 2)));
        // The warps that the device runs at a time are the limit.
        assert_eq!(layout(1 << 40, 1000), Some((10, 28)));
        // Memory for arenas is the limit.
        assert_eq!(layout(1000, 64), Some((10, 6)));
        assert_eq!(layout(1000, 7), Some((7, 1)));
        assert_eq!(layout(1000, 0), None);
    }
}
