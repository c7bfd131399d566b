//! Memory of this process and of devices, looked at again and again while something else is done.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use batt_cuda::{DeviceFacts, Driver, free_memory};

use crate::device::DeviceName;
use batt_engine::Cancel;

/// Resident memory of this process in bytes, where the system tells.
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The memory of the devices that a device stands for; an emulated one has none of its own.
#[derive(Clone, Debug)]
pub struct DeviceMemory {
    driver: Driver,
    ordinals: Vec<usize>,
    /// All of it.
    pub total: u64,
}

impl DeviceMemory {
    pub fn of(device: &DeviceName) -> Option<DeviceMemory> {
        let (DeviceName::Auto | DeviceName::Cuda(_)) = device else {
            return None;
        };
        let driver = Driver::get().ok()?;
        let ordinals = ordinals(device, driver.devices);
        let total = |&ordinal: &usize| Some(DeviceFacts::of(&driver, ordinal).ok()?.memory);
        let total = ordinals.iter().map(total).sum::<Option<u64>>()?;
        (!ordinals.is_empty()).then_some(DeviceMemory {
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

/// The devices that a device stands for, each once.
pub fn ordinals(device: &DeviceName, devices: usize) -> Vec<usize> {
    let mut all = match device {
        DeviceName::Cuda(numbers) if !numbers.is_empty() => numbers.clone(),
        DeviceName::Cuda(_) | DeviceName::Auto => (0..devices).collect(),
        DeviceName::Cpu | DeviceName::Emulated => Vec::new(),
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
    pub devices: Option<u64>,
}

/// Somebody who looks at memory on a thread of its own.
pub struct Watch {
    ended: Cancel,
    thread: JoinHandle<Vec<Used>>,
}

/// How long it takes to notice that something has ended.
const PATIENCE: Duration = Duration::from_millis(20);

impl Watch {
    /// Looks every so often. `tick` is called much more often than that.
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
                thread::sleep(PATIENCE.min(every));
            }
        });
        Watch { ended, thread }
    }

    /// Ends it, and gives what it saw: once at the beginning and once at the end at least.
    pub fn finish(self) -> Vec<Used> {
        self.ended.cancel();
        // A thread that panicked has said so.
        self.thread.join().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_number() {
        let cuda = |numbers: &[usize]| DeviceName::Cuda(numbers.to_vec());
        assert_eq!(ordinals(&cuda(&[]), 2), [0, 1]);
        assert_eq!(ordinals(&cuda(&[3, 0, 3]), 4), [0, 3]);
        assert!(ordinals(&DeviceName::Emulated, 1).is_empty());
        assert!(DeviceMemory::of(&DeviceName::Emulated).is_none());
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
