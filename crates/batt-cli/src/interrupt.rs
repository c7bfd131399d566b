//! Handles Ctrl-C, SIGTERM and SIGHUP: the first signal asks the command to finish, the second ends
//! it.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

use batt::{Cancel, Control};
use indicatif::ProgressBar;

/// The token that cancels long work.
static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);

/// The exit code for the first signal; 0 if there was none.
static SIGNALLED: AtomicU8 = AtomicU8::new(0);

/// Installs handlers, so that a signal asks the command to finish and to report its results so far.
pub fn watch() {
    // If no handler can be installed, signals end the process as usual.
    let _ = on_signal(|code| {
        if SIGNALLED.swap(code, Ordering::SeqCst) != 0 {
            std::process::exit(i32::from(code));
        }
        STOP.cancel();
    });
}

/// Returns the token that cancels long work.
pub fn stop() -> &'static Cancel {
    &STOP
}

/// Returns the control of long work that a signal cancels.
pub fn control() -> Control {
    Control::new().with_cancel(STOP.clone())
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

/// Calls a function for each signal, with 128 plus its number.
#[cfg(unix)]
fn on_signal(mut handle: impl FnMut(u8) + Send + 'static) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            handle(128 + signal as u8);
        }
    })?;
    Ok(())
}

/// Calls a function for each Ctrl-C, with 130.
#[cfg(not(unix))]
fn on_signal(mut handle: impl FnMut(u8) + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || handle(130))
}
