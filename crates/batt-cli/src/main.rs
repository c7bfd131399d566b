//! The `batt` command: a thin shell over the library `batt`.
//!
//! ```text
//!   arguments --- cli (parsing does no work) ---> commands::<name> ---> batt
//!                                                     |
//!                        stdout: data     stderr: notes, progress, diagnostics
//!                        exit: 0 good, 1 findings, 2 error, 130/143/129 ended by a signal
//! ```

mod batts;
mod cli;
mod commands;
mod device;
mod duration;
mod error;
mod interrupt;
mod memory;
mod numbers;
mod solvers;
mod submissions;
mod ui;
mod units;

use std::process::ExitCode;
use std::thread;

use batt::files;
use memory::Allocator;

/// The allocator. Evolution allocates and frees megabytes of graphs on every core at once, and the
/// system's allocator would return them to the system each time.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The stack size of the main thread. Values and calls may nest a thousand deep, and printing and
/// dropping them recurses as deep, but some systems give the main thread a small stack.
const STACK: usize = 32 << 20;

fn main() -> ExitCode {
    memory::watch_threads();
    let thread = thread::Builder::new().stack_size(STACK).spawn(cli::main);
    match thread.map(|thread| thread.join()) {
        Ok(Ok(code)) => code,
        // The panic has been reported already. For the caller it is an error.
        Ok(Err(_)) => ExitCode::from(2),
        Err(error) => {
            ui::say(format_args!(
                "error: cannot start a thread: {}\n\
                 hint: raise the limits of memory and processes (`ulimit -v`, `ulimit -u`)",
                files::io_message(&error)
            ));
            ExitCode::from(2)
        }
    }
}
