//! An evolution on a thread of its own, as an iterator of its events.

use std::fmt;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use batt_evolve::{EvolveEvent, EvolveReport};

use super::Evolve;
use crate::control::Control;
use crate::error::{Error, Result};

/// Events that may wait. Beyond this evolution waits for the reader.
const WAITING: usize = 64;

/// Native stack of the thread. Programs nest up to a thousand deep, and so does dropping them.
const STACK: usize = 32 << 20;

/// An evolution that goes on in the background. It is an iterator of its events; dropping it
/// cancels the evolution and waits for its end.
///
/// ```
/// use batt::evolve::{Evolve, EvolveEvent, HoldOut};
/// use batt::{Control, Solvers, Tasks};
///
/// let evolve = Evolve::new(&Tasks::embedded())
///     .solvers(&Solvers::embedded())
///     .hold_out(HoldOut::Exactly(2))
///     .offspring(200);
/// let mut run = evolve.start(&Control::new())?;
/// for event in &mut run {
///     if let EvolveEvent::Generation(progress) = event && progress.generation == 2 {
///         break;
///     }
/// }
/// run.cancel();
/// assert!(run.finish()?.progress.generation >= 2);
/// # Ok::<(), batt::Error>(())
/// ```
pub struct EvolveRun {
    /// `None` once nobody listens. The mutex makes the type `Sync`; it is never locked.
    events: Option<Mutex<Receiver<EvolveEvent>>>,
    control: Control,
    thread: Option<JoinHandle<Result<EvolveReport>>>,
}

impl EvolveRun {
    pub(super) fn start(evolve: Evolve, control: &Control) -> Result<EvolveRun> {
        let (sender, events) = mpsc::sync_channel(WAITING);
        let control = control.child();
        let own = control.clone();
        let work = move || {
            // A reader that is gone has cancelled the evolution.
            evolve.run(&own, |event| drop(sender.send(event)))
        };
        let thread = thread::Builder::new().name("batt-evolve".to_owned());
        let thread = thread
            .stack_size(STACK)
            .spawn(work)
            .map_err(Error::Thread)?;
        Ok(EvolveRun {
            events: Some(Mutex::new(events)),
            control,
            thread: Some(thread),
        })
    }

    /// Asks the evolution to end. It saves what it has found.
    pub fn cancel(&self) {
        self.control.token().cancel();
    }

    /// Waits for the next event, but not longer than `wait`: [`Poll::Pending`] if none came. A caller
    /// that has to look at something else now and then goes through the events in this way.
    pub fn poll(&mut self, wait: Duration) -> Poll<Option<EvolveEvent>> {
        let Some(events) = &mut self.events else {
            return Poll::Ready(None);
        };
        let events = events.get_mut().unwrap_or_else(PoisonError::into_inner);
        match events.recv_timeout(wait) {
            Ok(event) => Poll::Ready(Some(event)),
            Err(RecvTimeoutError::Timeout) => Poll::Pending,
            Err(RecvTimeoutError::Disconnected) => Poll::Ready(None),
        }
    }

    /// Passes over the events that are left and returns the report.
    ///
    /// # Panics
    ///
    /// If the thread has panicked.
    pub fn finish(mut self) -> Result<EvolveReport> {
        self.by_ref().for_each(drop);
        let ended = self.thread.take().map(JoinHandle::join);
        match ended.expect("only this function takes the thread of a run that still exists") {
            Ok(report) => report,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Iterator for EvolveRun {
    type Item = EvolveEvent;

    /// Waits for the next event; `None` after the end.
    fn next(&mut self) -> Option<EvolveEvent> {
        let events = self.events.as_mut()?.get_mut();
        events.unwrap_or_else(PoisonError::into_inner).recv().ok()
    }
}

impl Drop for EvolveRun {
    fn drop(&mut self) {
        self.cancel();
        // The thread may be waiting for the reader.
        self.events = None;
        if let Some(thread) = self.thread.take() {
            // A panic has been reported already.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for EvolveRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvolveRun")
            .field("control", &self.control)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evolve::{HoldOut, StopReason};
    use crate::solvers::Solvers;
    use crate::tasks::Tasks;

    fn evolve() -> Evolve {
        Evolve::new(&Tasks::embedded())
            .solvers(&Solvers::embedded())
            .hold_out(HoldOut::Exactly(2))
            .offspring(100)
    }

    #[test]
    fn the_events_are_those_of_a_run_that_is_waited_for() {
        let kinds = |event: &EvolveEvent| match event {
            EvolveEvent::Started(start) => format!("{} tasks", start.tasks),
            EvolveEvent::Generation(progress) => format!("generation {}", progress.generation),
            EvolveEvent::Improved { improvement, .. } => improvement.best.hash.clone(),
            other => format!("{other:?}"),
        };
        let mut heard = Vec::new();
        let expected = evolve().generations(3);
        let expected = expected.run(&Control::new(), |event| heard.push(kinds(&event)));
        let expected = expected.unwrap();
        let mut run = evolve().generations(3).start(&Control::new()).unwrap();
        let mut events = Vec::new();
        loop {
            match run.poll(Duration::from_millis(5)) {
                Poll::Ready(Some(event)) => events.push(kinds(&event)),
                Poll::Ready(None) => break,
                Poll::Pending => {}
            }
        }
        assert_eq!(events, heard);
        let report = run.finish().unwrap();
        assert_eq!(report.stop, StopReason::Generations);
        assert_eq!(report.progress.tally.runs, expected.progress.tally.runs);
    }

    #[test]
    fn a_run_that_is_dropped_or_cancelled_ends_and_leaves_the_control_alone() {
        let control = Control::new();
        drop(evolve().start(&control).unwrap());
        let run = evolve().start(&control).unwrap();
        run.cancel();
        assert_eq!(run.finish().unwrap().stop, StopReason::Cancelled);
        assert!(!control.is_cancelled());
        let run = evolve().start(&control).unwrap();
        control.cancel_token().cancel();
        assert_eq!(run.finish().unwrap().stop, StopReason::Cancelled);
    }

    #[test]
    fn errors_come_from_the_end() {
        let run = evolve().only(["nowhere"]).start(&Control::new()).unwrap();
        assert!(run.finish().is_err());
    }
}
