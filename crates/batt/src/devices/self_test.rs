//! The self-test of devices: runs every built-in solver on every built-in input and compares with
//! the CPU.

use std::time::{Duration, Instant};

use batt_engine::device::{DeviceReport, ScoreOptions, score_table};
use batt_engine::{Cancel, Compiled, Sample};

use super::Devices;
use crate::solvers::Solvers;
use crate::tasks::Tasks;

/// The result of a self-test of devices.
#[derive(Clone, Debug)]
pub struct SelfTest {
    /// The number of runs.
    pub runs: usize,
    /// The number of runs whose verdict or hash differs from the CPU's.
    pub differing: usize,
    /// The first of those runs, in words.
    pub differences: Vec<String>,
    /// The report of the devices.
    pub report: DeviceReport,
    /// The time that the devices took.
    pub time: Duration,
}

/// The number of differences that are described.
const MAX_DESCRIBED: usize = 10;

impl SelfTest {
    /// Describes the problem with the devices, if there is one. A failed launch is a problem,
    /// although the CPU repeats its runs.
    pub fn problem(&self) -> Option<String> {
        let devices = self.report.devices.iter();
        let mut lines: Vec<String> = devices.flat_map(|device| device.errors.clone()).collect();
        lines.extend_from_slice(&self.differences);
        let more = self.differing - self.differences.len();
        if more > 0 {
            lines.push(format!("... and {more} more"));
        }
        if lines.is_empty() && self.report.runs.finished() == 0 {
            lines.push("the device finished nothing".to_owned());
        }
        (!lines.is_empty()).then(|| lines.join("\n  "))
    }
}

impl Devices {
    /// Runs every built-in solver on every built-in input on these devices and on the CPU, and
    /// compares every verdict and hash.
    pub fn self_test(&mut self) -> SelfTest {
        let (solvers, tasks) = (Solvers::embedded(), Tasks::embedded());
        let compiled = solvers.iter().map(|solver| Compiled::new(solver.program()));
        let programs: Vec<Compiled> = compiled.collect();
        let pairs = tasks.pairs();
        let samples: Vec<Sample<'_>> = pairs
            .map(|(task, _, pair)| Sample::new(task, pair))
            .collect();
        let scores = |devices: &mut Devices| {
            // Nothing cancels the comparison, because half of it would prove nothing.
            let (options, never) = (ScoreOptions::default(), Cancel::new());
            score_table(devices.as_mut(), &programs, &samples, &options, &never)
        };
        let started = Instant::now();
        let (found, report) = scores(self);
        let time = started.elapsed();
        let (expected, _) = scores(&mut Devices::none());
        let differ = found.iter().zip(&expected).enumerate();
        let differ = differ.filter(|(_, (found, expected))| found != expected);
        let texts = differ.clone().map(|(run, (found, expected))| {
            let (solver, input) = (solvers.at(run / samples.len()), run % samples.len());
            let name = solver.name();
            format!("{name} on input {input}: {found:?} on the device, {expected:?} on the CPU")
        });
        SelfTest {
            runs: expected.len(),
            differing: differ.clone().count(),
            differences: texts.take(MAX_DESCRIBED).collect(),
            report: report.device.unwrap_or_default(),
            time,
        }
    }
}

#[cfg(test)]
mod tests {
    use batt_engine::device::{Counts, DeviceUsage};

    use super::*;

    fn found(errors: &[&str], finished: u64, differing: usize, differences: &[&str]) -> SelfTest {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        SelfTest {
            runs: 5,
            differing,
            differences: owned(differences),
            report: DeviceReport {
                devices: vec![DeviceUsage {
                    errors: owned(errors),
                    ..DeviceUsage::default()
                }],
                runs: Counts {
                    first: finished,
                    ..Counts::default()
                },
                ..DeviceReport::default()
            },
            time: Duration::ZERO,
        }
    }

    #[test]
    fn errors_differences_and_idle_devices_are_problems() {
        assert_eq!(found(&[], 5, 0, &[]).problem(), None);
        assert!(found(&[], 0, 0, &[]).problem().is_some());
        let lost = found(&["lost"], 5, 0, &[]).problem();
        assert_eq!(lost.as_deref(), Some("lost"));
        let wrong = found(&[], 5, 3, &["a", "b"]).problem();
        assert_eq!(wrong.as_deref(), Some("a\n  b\n  ... and 1 more"));
    }

    #[test]
    fn a_self_test_without_devices_finds_nothing() {
        let found = Devices::none().self_test();
        assert!(found.runs > 1_000 && found.differing == 0);
        assert!(found.problem().is_some());
    }

    /// A device that returns wrong hashes.
    #[cfg(feature = "emulated")]
    struct WrongHashes(batt_emulated::Emulated);

    #[cfg(feature = "emulated")]
    impl batt_engine::device::Device for WrongHashes {
        fn name(&self) -> String {
            self.0.name()
        }

        fn memory(&self) -> u64 {
            self.0.memory()
        }

        fn run(
            &mut self,
            batch: &batt_engine::device::Batch<'_>,
        ) -> Result<batt_engine::device::Launched, batt_engine::device::DeviceError> {
            let mut launched = self.0.run(batch)?;
            // Without values, an entry has four words, and the third is part of the hash.
            for entry in launched.output.chunks_exact_mut(4) {
                entry[2] ^= 1;
            }
            Ok(launched)
        }
    }

    #[cfg(feature = "emulated")]
    #[test]
    fn a_device_with_wrong_results_is_found_out() {
        let emulated = || batt_emulated::Emulated::new(std::num::NonZeroUsize::MIN);
        let mut good = Devices::from(vec![Box::new(emulated()) as Box<_>]);
        let good = good.self_test();
        assert_eq!((good.differing, good.problem()), (0, None));
        let mut bad = Devices::from(vec![Box::new(WrongHashes(emulated())) as Box<_>]);
        let bad = bad.self_test();
        assert!(bad.differing > MAX_DESCRIBED && bad.differences.len() == MAX_DESCRIBED);
        assert!(bad.differences[0].contains(" on input 0: "), "{bad:?}");
        assert!(bad.problem().unwrap().contains("... and "));
    }
}
