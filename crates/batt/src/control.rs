//! Progress and cancellation of long work.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use batt_engine::Cancel;

/// The progress of long work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of items that are done.
    pub done: usize,
    /// The number of all items.
    pub total: usize,
}

type Listener = Arc<dyn Fn(Progress) + Send + Sync>;

/// Observes long work and ends it early. Clones share the cancellation.
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
    /// Creates a control without a deadline and without a progress listener.
    pub fn new() -> Control {
        Control::default()
    }

    /// Sets the cancellation token.
    pub fn with_cancel(mut self, cancel: Cancel) -> Control {
        self.cancel = cancel;
        self
    }

    /// Sets a deadline that ends the work.
    pub fn deadline(mut self, deadline: Instant) -> Control {
        self.cancel = self.cancel.with_deadline(deadline);
        self
    }

    /// Sets a deadline after some time. A time that overflows the clock sets no deadline.
    pub fn deadline_in(self, time: Duration) -> Control {
        match Instant::now().checked_add(time) {
            Some(deadline) => self.deadline(deadline),
            None => self,
        }
    }

    /// Sets a function that is called now and then during the work, on the thread that started the
    /// work.
    pub fn on_progress(mut self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Control {
        self.progress = Some(Arc::new(listener));
        self
    }

    /// Returns the token that ends the work.
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

    /// Reports progress to the listener.
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
