//! Handles Ctrl-C. The first one ends the benchmark with the results so far; the second ends the
//! process.

use std::sync::LazyLock;

use batt::Cancel;

static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);

/// Installs the handler of Ctrl-C.
pub fn watch() {
    // If no handler can be installed, Ctrl-C ends the process as usual.
    let _ = ctrlc::set_handler(|| {
        if STOP.is_cancelled() {
            std::process::exit(130);
        }
        STOP.cancel();
    });
}

/// Returns the token that cancels long work.
pub fn stop() -> &'static Cancel {
    &STOP
}

/// Returns whether Ctrl-C was pressed.
pub fn happened() -> bool {
    STOP.is_cancelled()
}
