//! Memory on the card and for transfers: it grows, and is used again.

use std::ffi::c_void;
use std::ptr;

use batt_engine::device::CardError;
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

/// Warps for a launch: as many as there are jobs, as the card runs at a time, and as have room for their arenas; whole
/// blocks. None if not even one block has room.
pub(crate) fn warps_for(jobs: u64, resident: u64, room: u64, arena: u64) -> Option<u64> {
    let wanted = jobs.min(resident).next_multiple_of(WARPS_PER_BLOCK);
    let fitting = room / arena.max(1) / WARPS_PER_BLOCK * WARPS_PER_BLOCK;
    Some(wanted.min(fitting)).filter(|&warps| warps > 0)
}

/// Warps in a block of 128 threads.
pub(crate) const WARPS_PER_BLOCK: u64 = 4;

/// A piece of the card's memory. It is given back by [`Buffer::release`], not when it is dropped: that could wait for a
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
    ) -> Result<(), CardError> {
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
        Err(CardError::Memory {
            wanted: bytes,
            free: room.min(budget.left()),
        })
    }

    /// Takes exactly so many bytes; false if there is no room.
    pub fn allocate(&mut self, bytes: u64, budget: &Budget) -> Result<bool, CardError> {
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

    /// Gives the memory back. Only when nothing on the card uses it.
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

/// Memory of the host that the card copies from and to by itself.
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
    pub fn fit(&mut self, bytes: usize) -> Result<(), CardError> {
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
        let mib = 1 << 20;
        // Jobs, in whole blocks.
        assert_eq!(warps_for(1, 1000, 64 * mib, mib), Some(4));
        assert_eq!(warps_for(5, 1000, 64 * mib, mib), Some(8));
        // What the card runs at a time.
        assert_eq!(warps_for(1 << 40, 40, 64 * mib, mib), Some(40));
        // Memory.
        assert_eq!(warps_for(1000, 1000, 64 * mib, mib), Some(64));
        assert_eq!(warps_for(1000, 1000, 7 * mib, mib), Some(4));
        assert_eq!(warps_for(1000, 1000, 3 * mib, mib), None);
        assert_eq!(warps_for(1000, 1000, 0, mib), None);
    }
}
