//! How a caller follows long work and ends it early.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use batt_engine::Cancel;

/// How far long work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Items that are done.
    pub done: usize,
    /// Items there are.
    pub total: usize,
}

type Listener = Arc<dyn Fn(Progress) + Send + Sync>;

/// Follows long work and ends it early. Clones share the cancellation.
///
/// ```
/// use std::time::Duration;
///
/// let control = batt::Control::new()
///     .deadline_in(Duration::from_secs(60))
///     .on_progress(|at| eprintln!("{} of {}", at.done, at.total));
/// let from_another_thread = control.cancel_token();
/// from_another_thread.cancel();
/// assert!(control.is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct Control {
    cancel: Cancel,
    progress: Option<Listener>,
}

impl Control {
    /// Work without a deadline, and without a listener for its progress.
    pub fn new() -> Control {
        Control::default()
    }

    /// Uses a cancellation token that the caller already has.
    pub fn with_cancel(mut self, cancel: Cancel) -> Control {
        self.cancel = cancel;
        self
    }

    /// Ends the work at a moment.
    pub fn deadline(mut self, deadline: Instant) -> Control {
        self.cancel = self.cancel.with_deadline(deadline);
        self
    }

    /// Ends the work after some time. A time beyond all clocks is no limit.
    pub fn deadline_in(self, time: Duration) -> Control {
        match Instant::now().checked_add(time) {
            Some(deadline) => self.deadline(deadline),
            None => self,
        }
    }

    /// Calls a function now and then while the work goes on, from the thread that asked for the
    /// work.
    pub fn on_progress(mut self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Control {
        self.progress = Some(Arc::new(listener));
        self
    }

    /// The token that ends this work.
    pub fn cancel_token(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Returns whether the work should end.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// A control for a part of the work. Cancelling it leaves the rest alone; it is cancelled with
    /// this one.
    pub(crate) fn child(&self) -> Control {
        Control {
            cancel: self.cancel.child(),
            progress: self.progress.clone(),
        }
    }

    /// The token, for the crates that do the work.
    pub(crate) fn token(&self) -> &Cancel {
        &self.cancel
    }

    /// Tells the listener how far the work has come.
    pub(crate) fn report(&self, done: usize, total: usize) {
        if let Some(listener) = &self.progress {
            listener(Progress { done, total });
        }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("cancel", &self.cancel)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}
