//! What the command does when memory runs out: it says so and ends with exit code 2.

use std::alloc::{GlobalAlloc, Layout};
use std::io::{self, Write};
use std::panic;

use mimalloc::MiMalloc;

/// What a command says that can get no more memory.
const MESSAGE: &[u8] = b"error: out of memory
hint: free some memory, raise its limit (`ulimit -v`), or use fewer threads (--jobs)
";

/// Mimalloc, except that a failed allocation ends the process with exit code 2. By default Rust
/// aborts.
///
/// Evolution makes and drops megabytes of graphs on every core at once. The system's allocator
/// returns them to the system each time.
pub struct Allocator;

// SAFETY: every method hands the call to mimalloc as it is. The pointers come back unchanged, or
// not at all if they are null.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that mimalloc needs.
        there_or_exit(unsafe { MiMalloc.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        there_or_exit(unsafe { MiMalloc.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`; `memory` came from mimalloc, as all memory here does.
        there_or_exit(unsafe { MiMalloc.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { MiMalloc.dealloc(memory, layout) }
    }
}

#[inline(always)]
fn there_or_exit(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        exit();
    }
    memory
}

/// Says that memory ran out and ends the process. Nothing here allocates.
#[cold]
#[inline(never)]
fn exit() -> ! {
    let _ = io::stderr().write_all(MESSAGE);
    // Not `std::process::exit`: that runs code which may need memory.
    #[cfg(unix)]
    signal_hook::low_level::exit(2);
    #[cfg(not(unix))]
    std::process::exit(2)
}

/// Ends the command with an error if a new thread gets no memory from the system. The standard
/// library panics there, before the thread's own code runs, and aborts.
pub fn watch_threads() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if info
            .payload_as_str()
            .is_some_and(is_of_a_thread_without_memory)
        {
            exit();
        }
        report(info);
    }));
}

/// Recognises the standard library's panics about the signal stack of a new thread.
fn is_of_a_thread_without_memory(message: &str) -> bool {
    message.starts_with("failed to allocate an alternative stack")
        || message.starts_with("failed to set up alternative stack guard page")
}
