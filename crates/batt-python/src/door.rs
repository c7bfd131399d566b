//! The door through which all long work goes: it releases the GIL and heeds Ctrl-C.
//!
//! ```text
//!   Python thread                           worker thread
//!     work(...) ── spawns ────────────────>   the library's call
//!     waits without the GIL                     |
//!     20 times a second: signals, progress      |
//!     an exception? ── cancels ────────────>  ends soon
//!     returns or raises  <────────────────────  result
//! ```

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use batt::Control;
use pyo3::prelude::*;

use crate::errors::{self, IntoPython};

/// The time between two looks at signals and progress.
const PAUSE: Duration = Duration::from_millis(50);

/// The stack of the worker. Values and calls may nest a thousand deep.
const STACK: usize = 32 << 20;

/// What a caller can ask of long work.
#[derive(Default)]
pub struct Request<'py> {
    /// A function that is called with the number of finished items and the number of all items.
    pub progress: Option<Bound<'py, PyAny>>,
    /// The time after which the work ends.
    pub time: Option<Duration>,
}

/// Runs work on a thread of its own, without the GIL, until it ends. An exception from a signal
/// handler or from the progress function cancels the work; it is raised when the work has ended.
/// The last progress is always reported.
pub fn work<T: Send>(
    py: Python<'_>,
    request: Request<'_>,
    work: impl FnOnce(&Control) -> batt::Result<T> + Send,
) -> PyResult<T> {
    let mut control = Control::new();
    if let Some(time) = request.time {
        control = control.deadline_in(time);
    }
    let at = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    if request.progress.is_some() {
        let at = Arc::clone(&at);
        control = control.on_progress(move |progress| {
            at.1.store(progress.total, Ordering::Relaxed);
            at.0.store(progress.done, Ordering::Relaxed);
        });
    }
    let mut told = 0;
    let mut tick = || -> PyResult<()> {
        py.check_signals()?;
        let done = at.0.load(Ordering::Relaxed);
        match &request.progress {
            Some(progress) if done != told => {
                told = done;
                progress.call1((done, at.1.load(Ordering::Relaxed)))?;
                Ok(())
            }
            _ => Ok(()),
        }
    };
    let (sender, ended) = mpsc::sync_channel(1);
    let ended = Mutex::new(ended);
    let mut raised = None;
    let result = thread::scope(|scope| {
        let thread = thread::Builder::new().name("batt".to_owned());
        let spawned = thread.stack_size(STACK).spawn_scoped(scope, || {
            let result = work(&control);
            // The receiver lives as long as this thread.
            let _ = sender.send(());
            drop(sender);
            result
        });
        let worker = spawned.map_err(batt::Error::Thread).or_raise(py)?;
        loop {
            let wait = || {
                let ended = ended.lock().expect("only this thread locks it");
                ended.recv_timeout(PAUSE)
            };
            match py.detach(wait) {
                Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                    if let Err(error) = tick() {
                        control.cancel_token().cancel();
                        raised = Some(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The work has ended, or its thread has panicked.
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        py.detach(|| worker.join())
            .map_err(|panic| errors::internal(py, &*panic))?
            .or_raise(py)
    });
    match raised {
        Some(error) => return Err(error),
        // The work may have ended between two looks, or before the first one.
        None if result.is_ok() => tick()?,
        None => {}
    }
    result
}
