//! Ctrl-C: the first one asks, the second one insists.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use batt_engine::Cancel;

/// Asks long work to come to an end.
static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks the command to finish what it has and say so.
pub fn watch() {
    // Where no handler can be set, Ctrl-C ends the process as it always does.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        STOP.cancel();
    });
}

/// The token that long work looks at; cancelling it ends the work.
pub fn stop() -> &'static Cancel {
    &STOP
}

/// Returns whether Ctrl-C was pressed.
pub fn happened() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}
