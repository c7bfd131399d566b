//! The `batt` command: a thin shell over the library.
//!
//! ```text
//!   arguments --- cli (parsing does no work) ---> commands::<name> ---> batt-* crates
//!                                                     |
//!                        stdout: data     stderr: notes, progress, diagnostics
//!                        exit: 0 good, 1 findings, 2 error, 130 interrupted
//! ```

mod batts;
mod calibration;
mod cli;
mod commands;
mod corpus;
mod device;
mod donors;
mod draw;
mod duration;
mod error;
mod files;
mod interrupt;
mod outcome;
mod solvers;
mod submissions;
mod ui;

use std::process::ExitCode;
use std::thread;

use mimalloc::MiMalloc;

/// Evolution makes and drops megabytes of graphs on every core at once, and the system's allocator hands them back to the
/// system each time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Values and calls of a program may nest a thousand deep, and so do printing and dropping them.
/// The main thread's stack is small on some systems.
const STACK: usize = 32 << 20;

fn main() -> ExitCode {
    let thread = thread::Builder::new().stack_size(STACK).spawn(cli::main);
    match thread.map(|thread| thread.join()) {
        Ok(Ok(code)) => code,
        // The panic has been reported already; it is our bug, and an error to whoever called us.
        Ok(Err(_)) => ExitCode::from(2),
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            ExitCode::from(2)
        }
    }
}
