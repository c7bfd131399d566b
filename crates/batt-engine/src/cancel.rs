//! Cancellation of long work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A request to end long work early, by a call or by a deadline.
///
/// Clones share the request. A deadline belongs to one clone and to the clones made from it, so a
/// caller can give each task its own deadline and still cancel all tasks at once.
///
/// ```
/// use batt_engine::Cancel;
///
/// let cancel = Cancel::new();
/// let work = cancel.clone();
/// assert!(!work.is_cancelled());
/// cancel.cancel();
/// assert!(work.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    requested: Arc<AtomicBool>,
    deadline: Option<Instant>,
    parent: Option<Arc<Cancel>>,
}

impl Cancel {
    /// Creates a token that is not cancelled and has no deadline.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Returns a clone with a deadline. An earlier deadline of this token stays in force.
    pub fn with_deadline(&self, deadline: Instant) -> Cancel {
        Cancel {
            requested: Arc::clone(&self.requested),
            deadline: Some(self.deadline.map_or(deadline, |old| old.min(deadline))),
            parent: self.parent.clone(),
        }
    }

    /// Creates a token for a part of the work. Cancelling the child does not cancel this token;
    /// cancelling this token cancels the child.
    pub fn child(&self) -> Cancel {
        Cancel {
            requested: Arc::default(),
            deadline: self.deadline,
            parent: Some(Arc::new(self.clone())),
        }
    }

    /// Requests the end of all work that holds this token or a clone of it.
    pub fn cancel(&self) {
        self.requested.store(true, Ordering::SeqCst);
    }

    /// Returns whether the work should end: it was cancelled, or its deadline has passed.
    pub fn is_cancelled(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
            || self.is_late()
            || self
                .parent
                .as_ref()
                .is_some_and(|parent| parent.is_cancelled())
    }

    /// Returns whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns the deadline, if there is one.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_child_ends_with_its_parent_and_not_the_other_way_round() {
        let parent = Cancel::new();
        let [first, second] = [parent.child(), parent.child()];
        first.cancel();
        assert!(first.is_cancelled() && !second.is_cancelled() && !parent.is_cancelled());
        parent.cancel();
        assert!(second.is_cancelled());
    }

    #[test]
    fn a_deadline_ends_only_the_work_it_was_given_to() {
        let all = Cancel::new();
        let now = Instant::now();
        let late = all.with_deadline(now);
        assert!(late.is_cancelled() && late.is_late());
        assert!(!all.is_cancelled());
        let early = late.with_deadline(now + Duration::from_secs(60));
        assert_eq!(early.deadline(), Some(now));
    }

    #[test]
    fn a_cancelled_clone_cancels_all() {
        let all = Cancel::new();
        let one = all.with_deadline(Instant::now() + Duration::from_secs(60));
        one.cancel();
        assert!(all.is_cancelled() && !all.is_late());
    }
}
