//! Splits the time of a pass on devices into parts, and names the part that limits it.

use std::time::Duration;

use batt_engine::device::{Counts, DeviceReport, Times};

use super::harness::{Timings, micros};
use crate::text::{counted, grouped};

/// The parts of a pass on devices, in microseconds. Devices work in parallel, so the times are
/// those of the device that was busy longest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// The time from start to end.
    pub elapsed: f64,
    pub kernel: f64,
    pub upload: f64,
    pub download: f64,
    /// The time of runs that fell back to the CPU.
    pub leftovers: f64,
    /// Bytes to and from all devices.
    pub bytes_up: u64,
    pub bytes_down: u64,
    pub launches: u32,
}

impl Parts {
    /// Returns the parts that a report states.
    pub fn of(report: Option<&DeviceReport>, elapsed: Duration) -> Parts {
        let busy = |times: &Times| times.kernel + times.upload + times.download;
        let devices = report.iter().flat_map(|report| &report.devices);
        let busiest = devices.map(|device| device.times).max_by_key(busy);
        let busiest = busiest.unwrap_or_default();
        let all = report.map(DeviceReport::times).unwrap_or_default();
        Parts {
            elapsed: micros(elapsed),
            kernel: micros(busiest.kernel),
            upload: micros(busiest.upload),
            download: micros(busiest.download),
            leftovers: 0.0,
            bytes_up: all.bytes_up,
            bytes_down: all.bytes_down,
            launches: all.launches,
        }
    }

    /// Adds the parts of a later pass.
    pub fn add(&mut self, other: &Parts) {
        self.elapsed += other.elapsed;
        self.kernel += other.kernel;
        self.upload += other.upload;
        self.download += other.download;
        self.leftovers += other.leftovers;
        self.bytes_up += other.bytes_up;
        self.bytes_down += other.bytes_down;
        self.launches += other.launches;
    }

    /// Returns the parts of the pass that took the median time. Medians of single parts would not
    /// add up.
    pub fn median(mut all: Vec<Parts>) -> Parts {
        all.sort_by(|a, b| a.elapsed.total_cmp(&b.elapsed));
        all.get(all.len() / 2).copied().unwrap_or_default()
    }
}

/// Bytes per microsecond. Every device bus is faster than this, so slower transfers are limited by
/// latency, not by their size.
const SLOW: f64 = 4_000.0;

/// Describes what limits a measurement: the part that takes longest. `warps` is the number of runs
/// that the device executes at a time.
pub fn limit(timings: &Timings, warps: Option<u64>) -> String {
    let parts = &timings.parts;
    let elapsed = parts.elapsed.max(1e-6);
    let transfers = parts.upload + parts.download;
    // Fallback runs may overlap with the device. Only the time outside the device counts against
    // them.
    let outside = (elapsed - parts.kernel - transfers).max(0.0);
    let leftovers = parts.leftovers.min(outside);
    let host = outside - leftovers;
    let percent = |part: f64| 100.0 * part / elapsed;
    let dominant = [(parts.kernel, 0), (transfers, 1), (leftovers, 2), (host, 3)]
        .into_iter()
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(3, |(_, which)| which);
    let runs = timings.runs / timings.calls.max(1);
    match dominant {
        0 => {
            let share = percent(parts.kernel);
            match warps {
                Some(warps) if (runs as u64) < warps => format!(
                    "occupancy: kernel {share:.0} %, {} where {} fit",
                    counted(runs, "run"),
                    grouped(warps as usize)
                ),
                _ => format!("kernel {share:.0} %: instructions and divergence"),
            }
        }
        1 => {
            let share = percent(transfers);
            let bytes = parts.bytes_up + parts.bytes_down;
            match (bytes as f64) < SLOW * transfers {
                true => format!("latency of transfers {share:.0} %"),
                false => format!(
                    "bytes: transfers {share:.0} %, {} kB",
                    grouped((bytes / 1000) as usize)
                ),
            }
        }
        2 => format!(
            "runs left to the CPU {:.0} %{}",
            percent(leftovers),
            reasons(&timings.counts)
        ),
        _ => format!("launch and host {:.0} %, not the device", percent(host)),
    }
}

/// Formats how many runs fell back, and why: `: 3 of 200, 2 fuel, 1 size`.
fn reasons(counts: &Counts) -> String {
    let left: Vec<String> = counts
        .reasons()
        .map(|(reason, count)| format!("{} {}", grouped(count as usize), reason.name()))
        .collect();
    match left.is_empty() {
        true => ": parts of batts".to_owned(),
        false => format!(
            ": {} of {}, {}",
            grouped((counts.total() - counts.finished()) as usize),
            grouped(counts.total() as usize),
            left.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timings(kernel: f64, upload: f64, leftovers: f64, bytes_up: u64) -> Timings {
        Timings {
            runs: 10,
            parts: Parts {
                elapsed: 100.0,
                kernel,
                upload,
                leftovers,
                bytes_up,
                launches: 1,
                ..Parts::default()
            },
            ..Timings::default()
        }
    }

    #[test]
    fn the_longest_part_is_the_limit() {
        let said = |t: &Timings, warps| limit(t, warps);
        let kernel = timings(80.0, 10.0, 0.0, 0);
        assert!(said(&kernel, None).starts_with("kernel 80 %"));
        assert!(said(&kernel, Some(5)).starts_with("kernel 80 %"));
        let few = "occupancy: kernel 80 %, 10 runs where 3,696 fit";
        assert_eq!(said(&kernel, Some(3696)), few);
        let latency = timings(10.0, 60.0, 0.0, 100);
        assert_eq!(said(&latency, None), "latency of transfers 60 %");
        let bytes = timings(10.0, 60.0, 0.0, 1_000_000_000);
        assert_eq!(said(&bytes, None), "bytes: transfers 60 %, 1,000,000 kB");
        let host = timings(10.0, 10.0, 0.0, 0);
        assert_eq!(said(&host, None), "launch and host 80 %, not the device");
        // Leftovers that overlap with the device count no more than the time outside it.
        let mut left = timings(20.0, 0.0, 500.0, 0);
        left.counts.first = 9;
        left.counts.left[0] = 1;
        let words = said(&left, None);
        assert!(
            words.starts_with("runs left to the CPU 80 %: 1 of 10, 1 "),
            "{words}"
        );
    }

    #[test]
    fn several_devices_overlap() {
        use batt_engine::device::DeviceUsage;
        let device = |kernel: u64| DeviceUsage {
            times: Times {
                kernel: Duration::from_micros(kernel),
                launches: 2,
                bytes_up: 10,
                ..Times::default()
            },
            ..DeviceUsage::default()
        };
        let report = DeviceReport {
            devices: vec![device(80), device(0)],
            ..DeviceReport::default()
        };
        let parts = Parts::of(Some(&report), Duration::from_micros(100));
        assert!((parts.kernel - 80.0).abs() < 1e-9);
        assert_eq!((parts.launches, parts.bytes_up), (4, 20));
        let other = |micros| Parts::of(None, Duration::from_micros(micros));
        let median = Parts::median(vec![other(5), parts, other(500)]);
        assert_eq!(median, parts);
    }
}
