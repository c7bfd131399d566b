//! Ctrl-C, SIGTERM and SIGHUP: the first one asks the command to finish, the second one ends it.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

use batt::{Cancel, Control};
use indicatif::ProgressBar;

/// Asks long work to come to an end.
static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);

/// The exit code of the signal that came first; 0 for none.
static SIGNALLED: AtomicU8 = AtomicU8::new(0);

/// From now on a signal asks the command to finish what it has and say so.
pub fn watch() {
    // Where no handler can be set, signals end the process as they always do.
    let _ = on_signal(|code| {
        if SIGNALLED.swap(code, Ordering::SeqCst) != 0 {
            std::process::exit(i32::from(code));
        }
        STOP.cancel();
    });
}

/// The token that long work looks at; cancelling it ends the work.
pub fn stop() -> &'static Cancel {
    &STOP
}

/// Long work that a signal cancels.
pub fn control() -> Control {
    Control::new().with_cancel(STOP.clone())
}

/// Long work that a signal cancels and that moves a bar.
pub fn control_with(bar: &ProgressBar) -> Control {
    let bar = bar.clone();
    control().on_progress(move |at| bar.set_position(at.done as u64))
}

/// Returns whether Ctrl-C was pressed or another signal came.
pub fn happened() -> bool {
    SIGNALLED.load(Ordering::SeqCst) != 0
}

/// The exit code for the signal that came: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
pub fn exit_code() -> u8 {
    match SIGNALLED.load(Ordering::SeqCst) {
        0 => 130,
        code => code,
    }
}

/// Calls a function with 128 plus the number of each signal that comes.
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

/// Calls a function with 130 for each Ctrl-C.
#[cfg(not(unix))]
fn on_signal(mut handle: impl FnMut(u8) + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || handle(130))
}
