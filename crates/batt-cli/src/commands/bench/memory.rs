//! Memory of this process and of cards, looked at again and again while something else is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use batt_cuda::{CardFacts, Driver, free_memory};

use crate::device::Device;

/// Resident memory of this process in bytes, where the system tells.
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The memory of the cards that a device stands for; an emulated one has none of its own.
#[derive(Clone, Debug)]
pub struct CardMemory {
    driver: Driver,
    ordinals: Vec<usize>,
    /// All of it.
    pub total: u64,
}

impl CardMemory {
    pub fn of(device: &Device) -> Option<CardMemory> {
        let (Device::Auto | Device::Cuda(_)) = device else {
            return None;
        };
        let driver = Driver::get().ok()?;
        let ordinals = ordinals(device, driver.cards);
        let total = |&ordinal: &usize| Some(CardFacts::of(&driver, ordinal).ok()?.memory);
        let total = ordinals.iter().map(total).sum::<Option<u64>>()?;
        (!ordinals.is_empty()).then_some(CardMemory {
            driver,
            ordinals,
            total,
        })
    }

    /// What is used of it, by whomever.
    pub fn used(&self) -> Option<u64> {
        let free = |&ordinal: &usize| free_memory(&self.driver, ordinal).ok();
        let free = self.ordinals.iter().map(free).sum::<Option<u64>>()?;
        Some(self.total.saturating_sub(free))
    }
}

/// The cards that a device stands for, each once.
pub fn ordinals(device: &Device, cards: usize) -> Vec<usize> {
    let mut all = match device {
        Device::Cuda(numbers) if !numbers.is_empty() => numbers.clone(),
        Device::Cuda(_) | Device::Auto => (0..cards).collect(),
        Device::Cpu | Device::Emulated => Vec::new(),
    };
    all.sort_unstable();
    all.dedup();
    all
}

/// How much memory was in use at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// Seconds since the beginning.
    pub at: f64,
    pub process: Option<u64>,
    pub cards: Option<u64>,
}

/// Somebody who looks at memory on a thread of its own.
pub struct Watch {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Used>>,
}

/// How long it takes to notice that something has ended.
const PATIENCE: Duration = Duration::from_millis(20);

impl Watch {
    /// Looks every so often. `tick` is called much more often than that.
    pub fn start(
        cards: Option<CardMemory>,
        every: Duration,
        mut tick: impl FnMut() + Send + 'static,
    ) -> Watch {
        let ended = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ended);
        let thread = thread::spawn(move || {
            let started = Instant::now();
            let mut seen: Vec<Used> = Vec::new();
            loop {
                let last = flag.load(Ordering::SeqCst);
                if last || started.elapsed() >= every * seen.len() as u32 {
                    seen.push(Used {
                        at: started.elapsed().as_secs_f64(),
                        process: resident(),
                        cards: cards.as_ref().and_then(CardMemory::used),
                    });
                }
                if last {
                    return seen;
                }
                tick();
                thread::sleep(PATIENCE.min(every));
            }
        });
        Watch { ended, thread }
    }

    /// Ends it, and gives what it saw: once at the beginning and once at the end at least.
    pub fn finish(self) -> Vec<Used> {
        self.ended.store(true, Ordering::SeqCst);
        // A thread that panicked has said so.
        self.thread.join().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_by_number() {
        let cuda = |numbers: &[usize]| Device::Cuda(numbers.to_vec());
        assert_eq!(ordinals(&cuda(&[]), 2), [0, 1]);
        assert_eq!(ordinals(&cuda(&[3, 0, 3]), 4), [0, 3]);
        assert!(ordinals(&Device::Emulated, 1).is_empty());
        assert!(CardMemory::of(&Device::Emulated).is_none());
    }

    #[test]
    fn memory_is_watched() {
        let watch = Watch::start(None, Duration::from_millis(5), || ());
        thread::sleep(Duration::from_millis(40));
        let seen = watch.finish();
        assert!(seen.len() >= 3, "{seen:?}");
        assert!(seen.windows(2).all(|pair| pair[0].at <= pair[1].at));
        if cfg!(target_os = "linux") {
            assert!(seen.iter().all(|used| used.process > Some(1 << 20)));
        }
    }
}
