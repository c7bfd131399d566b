//! Samples the memory of this process and of devices while other work runs.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use batt_cuda::{DeviceFacts, Driver, free_memory};

use batt::{Cancel, DeviceChoice};

use crate::devices::ordinals;

/// Returns the resident memory of this process in bytes, if the system reports it.
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The memory of some GPUs. An emulated device has none of its own.
#[derive(Clone, Debug)]
pub struct DeviceMemory {
    driver: Driver,
    ordinals: Vec<usize>,
    /// The total memory in bytes.
    pub total: u64,
}

impl DeviceMemory {
    /// Returns `None` without GPUs or without a driver.
    pub fn of(device: &DeviceChoice) -> Option<DeviceMemory> {
        let driver = Driver::get().ok()?;
        let ordinals = ordinals(device);
        let total = |&ordinal: &usize| Some(DeviceFacts::of(&driver, ordinal).ok()?.memory);
        let total = ordinals.iter().map(total).sum::<Option<u64>>()?;
        (!ordinals.is_empty()).then_some(DeviceMemory {
            driver,
            ordinals,
            total,
        })
    }

    /// Returns the bytes in use, by all processes.
    pub fn used(&self) -> Option<u64> {
        let free = |&ordinal: &usize| free_memory(&self.driver, ordinal).ok();
        let free = self.ordinals.iter().map(free).sum::<Option<u64>>()?;
        Some(self.total.saturating_sub(free))
    }
}

/// The memory in use at one moment, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// Seconds since sampling began.
    pub at: f64,
    pub process: Option<u64>,
    pub devices: Option<u64>,
}

/// Samples memory on a thread of its own.
pub struct Watch {
    ended: Cancel,
    thread: JoinHandle<Vec<Used>>,
}

/// The interval at which the thread checks whether to end.
const CHECK_EVERY: Duration = Duration::from_millis(20);

impl Watch {
    /// Starts to sample at an interval. `tick` is called about every 20 ms.
    pub fn start(
        devices: Option<DeviceMemory>,
        every: Duration,
        mut tick: impl FnMut() + Send + 'static,
    ) -> Watch {
        let ended = Cancel::new();
        let flag = ended.clone();
        let thread = thread::spawn(move || {
            let started = Instant::now();
            let mut seen: Vec<Used> = Vec::new();
            loop {
                let last = flag.is_cancelled();
                if last || started.elapsed() >= every * seen.len() as u32 {
                    seen.push(Used {
                        at: started.elapsed().as_secs_f64(),
                        process: resident(),
                        devices: devices.as_ref().and_then(DeviceMemory::used),
                    });
                }
                if last {
                    return seen;
                }
                tick();
                thread::sleep(CHECK_EVERY.min(every));
            }
        });
        Watch { ended, thread }
    }

    /// Stops sampling and returns the samples, including one at the end.
    pub fn finish(self) -> Vec<Used> {
        self.ended.cancel();
        // A panic of the thread has been reported.
        self.thread.join().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_number() {
        assert_eq!(ordinals(&DeviceChoice::Cuda(vec![3, 0, 3])), [0, 3]);
        assert!(ordinals(&DeviceChoice::Emulated).is_empty());
        assert!(DeviceMemory::of(&DeviceChoice::Emulated).is_none());
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
