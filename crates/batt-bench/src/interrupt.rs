//! Ctrl-C: the first one ends the benchmark with what it has, the second one ends the process.

use std::sync::LazyLock;

use batt::Cancel;

static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);

/// Starts to listen to Ctrl-C.
pub fn watch() {
    // Where no handler can be set, Ctrl-C ends the process as usual.
    let _ = ctrlc::set_handler(|| {
        if STOP.is_cancelled() {
            std::process::exit(130);
        }
        STOP.cancel();
    });
}

/// The token that ends long work.
pub fn stop() -> &'static Cancel {
    &STOP
}

/// Returns whether Ctrl-C was pressed.
pub fn happened() -> bool {
    STOP.is_cancelled()
}
