//! The memory budget of a GPU: how much this process may take, over all its logical devices.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// The state shared by all logical devices of one GPU.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    used: Mutex<u64>,
    lost: OnceLock<String>,
}

/// The percentage of free memory to use. The driver needs some of the rest for stacks, and other
/// processes need some, too.
const PERCENT: u64 = 80;

impl Budget {
    /// Creates the budget for this much free memory.
    pub fn new(free: u64) -> Budget {
        Budget {
            limit: free / 100 * PERCENT,
            used: Mutex::new(0),
            lost: OnceLock::new(),
        }
    }

    /// Returns the budget of a GPU. Only the first call measures the free memory, because later
    /// this process's own memory would count as used.
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

    /// Returns the most memory that may be used.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the memory that may still be used.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(*lock(&self.used))
    }

    /// Reserves memory. Returns `false` if that would exceed the limit.
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

    /// Returns reserved memory to the budget.
    pub fn give_back(&self, bytes: u64) {
        let mut used = lock(&self.used);
        *used = used.saturating_sub(bytes);
    }

    /// Returns the reason why the GPU is lost, if it is.
    pub fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    /// Marks the GPU as lost. The first reason is kept.
    pub fn lose(&self, why: String) {
        let _ = self.lost.set(why);
    }
}

/// Locks a mutex, even one poisoned by a panic, because the numbers behind it are always
/// consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_four_fifths_of_free_memory() {
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
    fn logical_devices_of_one_gpu_share_a_budget() {
        let free = |bytes| move || Ok::<u64, ()>(bytes);
        let first = Budget::of(1_000_000, free(1000)).unwrap();
        assert!(first.take(100));
        // Free memory is not measured again while the budget is in use.
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
