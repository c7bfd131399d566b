//! Ends the command with a message and exit code 2 when memory runs out.

use std::alloc::{GlobalAlloc, Layout};
use std::io::{self, Write};
use std::panic;
use std::sync::Once;

use mimalloc::MiMalloc;

/// The message of a command that gets no more memory.
const MESSAGE: &[u8] = b"error: out of memory
hint: free some memory, raise its limit (`ulimit -v`), or use fewer threads (--jobs)
";

/// Mimalloc, except that a failed allocation ends the process with a message and exit code 2. By
/// default, Rust aborts.
///
/// A program that calls [`run`](crate::run) makes it its global allocator. A shared library can do
/// the same: then it serves the Rust code of that library alone.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: batt_cli::Allocator = batt_cli::Allocator;
/// ```
pub struct Allocator;

// SAFETY: every method passes its arguments to mimalloc unchanged and returns mimalloc's pointer,
// except that the process ends instead of returning null.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller gives a layout of nonzero size, which is all that mimalloc requires.
        or_exit(unsafe { MiMalloc.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        or_exit(unsafe { MiMalloc.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`; `memory` came from mimalloc, because this is the only allocator.
        or_exit(unsafe { MiMalloc.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { MiMalloc.dealloc(memory, layout) }
    }
}

#[inline(always)]
fn or_exit(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        exit();
    }
    memory
}

/// Prints the message and ends the process, without allocating.
#[cold]
#[inline(never)]
fn exit() -> ! {
    let _ = io::stderr().write_all(MESSAGE);
    // `std::process::exit` would run code that may need memory.
    #[cfg(unix)]
    // SAFETY: this function has no preconditions.
    unsafe {
        libc::_exit(2)
    };
    #[cfg(not(unix))]
    std::process::exit(2)
}

/// Ends the command with an error if the system has no memory for a new thread. The standard
/// library panics there before the code of the thread runs, and aborts.
pub fn watch_threads() {
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let message = info.payload_as_str();
            if message.is_some_and(is_of_a_thread_without_memory) {
                exit();
            }
            report(info);
        }));
    });
}

/// Recognises the standard library's panics about the signal stack of a new thread.
fn is_of_a_thread_without_memory(message: &str) -> bool {
    message.starts_with("failed to allocate an alternative stack")
        || message.starts_with("failed to set up alternative stack guard page")
}
