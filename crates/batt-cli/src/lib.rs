//! The `batt` command as a library: a thin shell over the library `batt`.
//!
//! ```text
//!   arguments --- cli (parsing does no work) ---> commands::<name> ---> batt
//!                                                     |
//!                        stdout: data     stderr: notes, progress, diagnostics
//!                        exit: 0 good, 1 findings, 2 error, 130/143/129 ended by a signal
//! ```
//!
//! The program `batt` calls [`run`] and nothing else. Another program can do the same, such as a
//! Python package that contains the command. Programs that want results and not a command use the
//! library `batt`.

mod batts;
mod cli;
mod commands;
mod device;
mod duration;
mod error;
mod interrupt;
mod memory;
mod numbers;
#[cfg(unix)]
mod signals;
mod solvers;
mod submissions;
mod ui;
mod units;

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::thread;

use batt::files;

pub use memory::Allocator;

/// The stack size of the main thread. Values and calls may nest a thousand deep, and printing and
/// dropping them recurses as deep, but some systems give the main thread a small stack.
const STACK: usize = 32 << 20;

/// Runs the command and returns its exit code. The first argument is the name of the program.
///
/// The command runs on a thread of its own, and calls wait for each other. It behaves as the
/// program `batt` does, so it takes over parts of the process:
///
/// - **Signals.** On Unix, the caller's handlers of SIGINT, SIGTERM and SIGHUP are replaced until
///   this function returns, and then restored. Commands that can finish early do so at the first
///   signal and return 130, 143 or 129; the second signal ends the process. Other commands have no
///   handler, so a signal ends the process. In Python no `KeyboardInterrupt` follows: the exit code
///   is all that the caller sees. On other systems, the handler of Ctrl-C is not restored.
/// - **Panics.** A panic becomes exit code 2. The hook of the caller still reports it.
/// - **Memory.** With [`Allocator`] as the global allocator, the process ends with code 2 if memory
///   runs out. It also ends if the system has no memory for the stack of a new thread.
///
/// In all other cases this function returns, and the caller can clean up. Output to a pipe that its
/// reader has closed ends the command with 0. For that, SIGPIPE must be ignored, as it is in Rust
/// and Python programs.
///
/// ```
/// let args = ["batt", "ops", "hmirror"].map(Into::into);
/// assert_eq!(batt_cli::run(args), 0);
/// ```
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    static RUNNING: Mutex<()> = Mutex::new(());
    let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    memory::watch_threads();
    let _signals = interrupt::begin();
    let args: Vec<OsString> = args.into_iter().collect();
    let command = thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || cli::main(args));
    let code = match command.map(|command| command.join()) {
        Ok(Ok(code)) => code,
        // The panic has been reported already. For the caller it is an error.
        Ok(Err(_)) => 2,
        Err(error) => {
            ui::say(format_args!(
                "error: cannot start a thread: {}\n\
                 hint: raise the limits of memory and processes (`ulimit -v`, `ulimit -u`)",
                files::io_message(&error)
            ));
            2
        }
    };
    // Only Rust programs flush this buffer at their end. The command has reported write errors.
    let _ = io::stdout().flush();
    code
}
