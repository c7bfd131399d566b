//! Handles Ctrl-C, SIGTERM and SIGHUP: the first signal asks the command to finish, the second ends
//! it.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{LazyLock, Mutex, Once, PoisonError};

use batt::{Cancel, Control};
use indicatif::ProgressBar;

#[cfg(unix)]
use crate::signals;

/// The token that cancels long work of the current command.
static STOP: LazyLock<Mutex<Cancel>> = LazyLock::new(Mutex::default);

/// The exit code for the first signal during the current command; 0 if there was none.
static SIGNALLED: AtomicU8 = AtomicU8::new(0);

/// Whether the current command finishes after a signal.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// A command that runs. Dropping this restores the caller's signal handlers.
pub struct Watch {
    #[cfg(unix)]
    _actions: signals::Actions,
}

/// Begins a command. Until [`watch`], signals end the process.
pub fn begin() -> Watch {
    *STOP.lock().unwrap_or_else(PoisonError::into_inner) = Cancel::new();
    SIGNALLED.store(0, Ordering::SeqCst);
    Watch {
        #[cfg(unix)]
        _actions: signals::use_defaults(),
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHED.store(false, Ordering::SeqCst);
    }
}

/// Lets a signal ask the current command to finish and to report its results so far. If that is
/// impossible, signals end the process as usual.
pub fn watch() {
    static FIRST: Once = Once::new();
    WATCHED.store(true, Ordering::SeqCst);
    #[cfg(unix)]
    {
        FIRST.call_once(|| drop(signals::listen(handle)));
        signals::use_handler();
    }
    #[cfg(not(unix))]
    FIRST.call_once(|| drop(ctrlc::set_handler(|| handle(130))));
}

/// Handles a signal. `code` is its exit code.
fn handle(code: u8) {
    let is_watched = WATCHED.load(Ordering::SeqCst);
    // On Unix a signal that comes between commands has another handler.
    if cfg!(unix) && !is_watched {
        return;
    }
    if !is_watched || SIGNALLED.swap(code, Ordering::SeqCst) != 0 {
        std::process::exit(i32::from(code));
    }
    stop().cancel();
}

/// Returns the token that cancels long work.
pub fn stop() -> Cancel {
    let stop = STOP.lock().unwrap_or_else(PoisonError::into_inner);
    stop.clone()
}

/// Returns the control of long work that a signal cancels.
pub fn control() -> Control {
    Control::new().with_cancel(stop())
}

/// Returns the control of long work that a signal cancels and that moves a bar.
pub fn control_with(bar: &ProgressBar) -> Control {
    let bar = bar.clone();
    control().on_progress(move |at| bar.set_position(at.done as u64))
}

/// Returns whether Ctrl-C was pressed or another signal arrived.
pub fn happened() -> bool {
    SIGNALLED.load(Ordering::SeqCst) != 0
}

/// Returns the exit code for the signal that arrived: 130 for Ctrl-C, 143 for SIGTERM, 129 for
/// SIGHUP.
pub fn exit_code() -> u8 {
    match SIGNALLED.load(Ordering::SeqCst) {
        0 => 130,
        code => code,
    }
}
