//! Memory on the device and for transfers: it grows, and is used again.

use std::ffi::c_void;
use std::ptr;

use batt_engine::device::DeviceError;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{CUdeviceptr, CUresult};

use crate::budget::Budget;

/// Pinned memory in one piece, at most: what is larger goes in several. Locked memory is taken from everybody.
const PINNED_MOST: usize = 64 << 20;
const PINNED_LEAST: usize = 64 << 10;

/// What a buffer is given that has to hold so much, where there is room: some more, so that the next batch, a little
/// larger, fits as well.
pub(crate) fn roomy(bytes: u64) -> u64 {
    (bytes + bytes / 4).next_multiple_of(64 << 10)
}

/// How the warps of a launch are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub blocks: u32,
    pub warps_per_block: u32,
}

impl Layout {
    /// As many warps as there are jobs, as the device runs at a time, and as have room for their arenas. Few jobs are spread
    /// over all multiprocessors. None if not even one warp has room.
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
            // Both are small: there are some hundred processors.
            blocks: blocks.min(processors) as u32,
            warps_per_block: per_block as u32,
        })
    }

    pub fn warps(self) -> u64 {
        u64::from(self.blocks) * u64::from(self.warps_per_block)
    }
}

/// A piece of the device's memory. It is given back by [`Buffer::release`], not when it is dropped: that could wait for a
/// kernel that never ends.
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

    /// Makes it hold so many bytes at least, better the `size` of them; what was in it is lost if it grows. `room` is what
    /// its owner may still take.
    pub fn fit(
        &mut self,
        bytes: u64,
        size: fn(u64) -> u64,
        room: u64,
        budget: &Budget,
    ) -> Result<(), DeviceError> {
        // Addresses are handed to the kernel, used or not.
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

    /// Takes exactly so many bytes; false if there is no room.
    pub fn allocate(&mut self, bytes: u64, budget: &Budget) -> Result<bool, DeviceError> {
        self.release(budget);
        let Ok(size) = usize::try_from(bytes) else {
            return Ok(false);
        };
        if !budget.take(bytes) {
            return Ok(false);
        }
        // SAFETY: nobody reads the memory before the kernel or a copy has written it.
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

    /// Gives the memory back. Only when nothing on the device uses it.
    pub fn release(&mut self, budget: &Budget) {
        if self.bytes > 0 {
            // SAFETY: allocated above, freed once, and nothing is in flight. An error here is one that the next call
            // gives as well.
            let _ = unsafe { result::free_sync(self.address) };
            budget.give_back(self.bytes);
        }
        *self = Buffer::default();
    }
}

/// Memory of the host that the device copies from and to by itself.
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

    /// Grows to so many bytes, or to as many as it may have, or as there are.
    pub fn fit(&mut self, bytes: usize) -> Result<(), DeviceError> {
        let wanted = bytes
            .clamp(PINNED_LEAST, PINNED_MOST)
            .next_power_of_two()
            .min(PINNED_MOST);
        if wanted <= self.bytes {
            return Ok(());
        }
        self.release();
        let mut size = wanted;
        loop {
            // SAFETY: it is written below before anybody reads it.
            match unsafe { result::malloc_host(size, 0) } {
                Ok(pointer) => {
                    // SAFETY: so many bytes were just allocated there.
                    unsafe { ptr::write_bytes(pointer.cast::<u8>(), 0, size) };
                    *self = Pinned {
                        pointer,
                        bytes: size,
                    };
                    return Ok(());
                }
                // Less does as well, in more pieces.
                Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) if size > PINNED_LEAST => {
                    size /= 2;
                }
                Err(error) => return Err(crate::cuda::failed("locking memory", error)),
            }
        }
    }

    /// Gives the memory back. Only when no copy is in flight.
    pub fn release(&mut self) {
        if self.bytes > 0 {
            // SAFETY: allocated above, freed once, and no copy is in flight.
            let _ = unsafe { result::free_host(self.pointer) };
        }
        *self = Pinned::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_grow_ahead() {
        assert_eq!(roomy(1), 64 << 10);
        assert!(roomy(1 << 20) > 1 << 20);
        assert!(roomy(1 << 20) < 2 << 20);
    }

    #[test]
    fn warps_by_what_is_scarce() {
        let layout = |jobs, fitting| {
            let layout = Layout::of(jobs, 10, 28, fitting)?;
            Some((layout.blocks, layout.warps_per_block))
        };
        // Jobs, spread out.
        assert_eq!(layout(1, 1000), Some((1, 1)));
        assert_eq!(layout(10, 1000), Some((10, 1)));
        assert_eq!(layout(11, 1000), Some((6, 2)));
        // What the device runs at a time.
        assert_eq!(layout(1 << 40, 1000), Some((10, 28)));
        // Memory.
        assert_eq!(layout(1000, 64), Some((10, 6)));
        assert_eq!(layout(1000, 7), Some((7, 1)));
        assert_eq!(layout(1000, 0), None);
    }
}
