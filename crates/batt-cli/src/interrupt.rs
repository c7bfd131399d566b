//! Ctrl-C: the first one asks, the second one insists.

use std::sync::atomic::{AtomicBool, Ordering};

/// Asks long work to come to an end.
static STOP: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks the command to finish what it has and say so.
pub fn watch() {
    // Where no handler can be set, Ctrl-C ends the process as it always does.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        STOP.store(true, Ordering::SeqCst);
    });
}

/// The flag that long work looks at; setting it ends the work.
pub fn stop() -> &'static AtomicBool {
    &STOP
}

/// Has somebody pressed Ctrl-C?
pub fn happened() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}
