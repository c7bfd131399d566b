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
mod draw;
mod duration;
mod error;
mod interrupt;
mod memory;
mod solvers;
mod submissions;
mod ui;
mod units;

use std::process::ExitCode;
use std::thread;

use batt::files;
use memory::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Values and calls of a program may nest a thousand deep, and so do printing and dropping them.
/// The main thread's stack is small on some systems.
const STACK: usize = 32 << 20;

fn main() -> ExitCode {
    memory::watch_threads();
    let thread = thread::Builder::new().stack_size(STACK).spawn(cli::main);
    match thread.map(|thread| thread.join()) {
        Ok(Ok(code)) => code,
        // The panic has been reported already. It is our bug, and an error to the caller.
        Ok(Err(_)) => ExitCode::from(2),
        Err(error) => {
            ui::say(format_args!(
                "error: cannot start a thread: {}\n\
                 hint: raise the limits of memory and processes (`ulimit -v`, `ulimit -u`)",
                error::reason(&error)
            ));
            ExitCode::from(2)
        }
    }
}
