//! How much of a device's memory this process may take, over all logical devices on the device.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// What logical devices on one device have in common.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    used: Mutex<u64>,
    lost: OnceLock<String>,
}

/// The part of the free memory that we take, in percent. The driver needs some for stacks, others for screens.
const PERCENT: u64 = 80;

impl Budget {
    /// The budget for so much free memory.
    pub fn new(free: u64) -> Budget {
        Budget {
            limit: free / 100 * PERCENT,
            used: Mutex::new(0),
            lost: OnceLock::new(),
        }
    }

    /// The budget of a device, made by the first who asks. It is measured only then: what we took ourselves is not free.
    pub fn of<E>(ordinal: usize, free: impl FnOnce() -> Result<u64, E>) -> Result<Arc<Budget>, E> {
        static DEVICES: Mutex<Option<HashMap<usize, Weak<Budget>>>> = Mutex::new(None);
        let mut devices = lock(&DEVICES);
        let devices = devices.get_or_insert_default();
        if let Some(budget) = devices.get(&ordinal).and_then(Weak::upgrade) {
            return Ok(budget);
        }
        let budget = Arc::new(Budget::new(free()?));
        devices.insert(ordinal, Arc::downgrade(&budget));
        Ok(budget)
    }

    /// All that may be taken.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// What is left.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(*lock(&self.used))
    }

    /// Takes some, unless that is too much.
    pub fn take(&self, bytes: u64) -> bool {
        let mut used = lock(&self.used);
        let fits = used
            .checked_add(bytes)
            .is_some_and(|total| total <= self.limit);
        if fits {
            *used += bytes;
        }
        fits
    }

    /// Gives back what was taken.
    pub fn give_back(&self, bytes: u64) {
        let mut used = lock(&self.used);
        *used = used.saturating_sub(bytes);
    }

    /// Why nothing more can be done on the device.
    pub fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    /// Nothing more can be done on the device. The first reason stays.
    pub fn lose(&self, why: String) {
        let _ = self.lost.set(why);
    }
}

/// Numbers are whole whatever happened to the thread that held them.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_four_fifths() {
        let budget = Budget::new(1000);
        assert_eq!(budget.limit(), 800);
        assert!(budget.take(500));
        assert!(!budget.take(301));
        assert!(!budget.take(u64::MAX));
        assert_eq!(budget.left(), 300);
        assert!(budget.take(300));
        budget.give_back(800);
        assert_eq!(budget.left(), 800);
    }

    #[test]
    fn one_for_each_device() {
        let free = |bytes| move || Ok::<u64, ()>(bytes);
        let first = Budget::of(1_000_000, free(1000)).unwrap();
        assert!(first.take(100));
        // Not measured again while it is in use.
        let second = Budget::of(1_000_000, || Err(())).unwrap();
        assert_eq!(second.left(), 700);
        second.lose("a reason".to_owned());
        second.lose("another".to_owned());
        assert_eq!(first.lost(), Some("a reason"));
        let other = Budget::of(1_000_001, free(10_000)).unwrap();
        assert_eq!((other.limit(), other.lost()), (8000, None));
        drop((first, second));
        assert!(Budget::of(1_000_000, || Err(())).is_err());
    }
}
