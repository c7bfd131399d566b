//! Programs on a device and on the CPU: every built-in solver on every built-in input.

use std::time::Instant;

use batt_cuda::plumbing::Check;
use batt_engine::Cancel;
use batt_engine::device::{DeviceReport, ScoreOptions, score_table};
use batt_engine::{Compiled, Judged, Sample};
use serde_json::{Value, json};

use crate::corpus::Corpus;
use crate::device::{Devices, counts_json, where_finished};
use crate::ui::grouped;

/// What came of it.
pub struct Programs {
    /// The verdict.
    pub check: Check,
    runs: usize,
    device: DeviceReport,
    differing: usize,
    /// The first of those that differ.
    differences: Vec<String>,
}

/// Differences shown.
const SHOWN: usize = 10;

/// Runs all of it on devices and on the CPU, and compares every verdict and hash.
pub fn compare_with_cpu(mut devices: Devices) -> Programs {
    let corpus = Corpus::load();
    let programs: Vec<Compiled> = corpus.programs().iter().map(Compiled::new).collect();
    let samples = corpus.samples();
    let started = Instant::now();
    let (found, report) = scores(&mut devices, &programs, &samples);
    let time = started.elapsed();
    let (expected, _) = scores(&mut Devices::new(), &programs, &samples);
    let device = report.unwrap_or_default();
    let name = |run: usize| corpus.programs()[run / samples.len()].name();
    let mut differing = 0;
    let mut differences = Vec::new();
    for (run, (found, expected)) in found.iter().zip(&expected).enumerate() {
        if found != expected {
            differing += 1;
            if differences.len() < SHOWN {
                differences.push(difference(name(run), run % samples.len(), found, expected));
            }
        }
    }
    Programs {
        check: Check {
            name: "corpus",
            problem: problem(&device, differing, &differences),
            detail: format!(
                "{}; {} differing",
                where_finished(&device.runs),
                grouped(differing)
            ),
            time,
        },
        runs: expected.len(),
        device,
        differing,
        differences,
    }
}

impl Programs {
    /// The numbers, for programs.
    pub fn to_json(&self) -> Value {
        let mut all = counts_json(&self.device.runs);
        all["runs"] = json!(self.runs);
        all["differing"] = json!(self.differing);
        all["differences"] = json!(self.differences);
        all
    }
}

fn scores(
    devices: &mut Devices,
    programs: &[Compiled],
    samples: &[Sample<'_>],
) -> (Vec<Judged>, Option<DeviceReport>) {
    let (scores, report) = score_table(
        devices,
        programs,
        samples,
        &ScoreOptions::default(),
        // Half a comparison is none, so nothing ends it early.
        &Cancel::new(),
    );
    (scores, report.device)
}

fn difference(program: &str, input: usize, device: &Judged, cpu: &Judged) -> String {
    format!("{program} on input {input}: {device:?} on the device, {cpu:?} on the CPU")
}

/// What is wrong, if something is. That the CPU has stood in for a device that failed is no success of the device.
fn problem(device: &DeviceReport, differing: usize, differences: &[String]) -> Option<String> {
    let errors = device
        .devices
        .iter()
        .flat_map(|device| device.errors.clone());
    let mut lines: Vec<String> = errors.collect();
    lines.extend_from_slice(differences);
    if differing > differences.len() {
        lines.push(format!(
            "... and {} more",
            grouped(differing - differences.len())
        ));
    }
    if lines.is_empty() && device.runs.finished() == 0 {
        lines.push("the device finished nothing".to_owned());
    }
    (!lines.is_empty()).then(|| lines.join("\n  "))
}

#[cfg(test)]
mod tests {
    use batt_engine::Verdict;
    #[cfg(feature = "emulated")]
    use batt_engine::device::{Batch, Device, DeviceError, Launched};
    use batt_engine::device::{Counts, DeviceUsage};

    use super::*;

    fn report(errors: &[&str], first: u64) -> DeviceReport {
        DeviceReport {
            devices: vec![DeviceUsage {
                errors: errors.iter().map(|&error| error.to_owned()).collect(),
                ..DeviceUsage::default()
            }],
            runs: Counts {
                first,
                ..Counts::default()
            },
            ..DeviceReport::default()
        }
    }

    #[test]
    fn what_is_a_problem() {
        assert_eq!(problem(&report(&[], 5), 0, &[]), None);
        assert!(problem(&report(&[], 0), 0, &[]).is_some());
        let found = problem(&report(&["lost"], 5), 0, &[]);
        assert_eq!(found.as_deref(), Some("lost"));
        let found = problem(&report(&[], 5), 3, &["a".to_owned(), "b".to_owned()]);
        assert_eq!(found.as_deref(), Some("a\n  b\n  ... and 1 more"));
    }

    #[test]
    fn a_difference_names_all_there_is_to_know() {
        let score = |hash| Judged {
            verdict: Verdict::Right,
            hash: Some(hash),
        };
        let text = difference("solve_aa11", 7, &score(1), &score(2));
        assert!(text.starts_with("solve_aa11 on input 7: "), "{text}");
        assert!(
            text.contains("Some(1)") && text.contains("Some(2)"),
            "{text}"
        );
    }

    /// A device whose hashes are wrong.
    #[cfg(feature = "emulated")]
    struct Liar(batt_emulated::Emulated);

    #[cfg(feature = "emulated")]
    impl Device for Liar {
        fn name(&self) -> String {
            self.0.name()
        }

        fn memory(&self) -> u64 {
            self.0.memory()
        }

        fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
            let mut launched = self.0.run(batch)?;
            // Without values an entry is four words: fault, detail, hash.
            for entry in launched.output.chunks_exact_mut(4) {
                entry[2] ^= 1;
            }
            Ok(launched)
        }
    }

    #[cfg(feature = "emulated")]
    #[test]
    fn a_device_that_is_wrong_is_found_out() {
        let emulated = || batt_emulated::Emulated::new(std::num::NonZeroUsize::MIN);
        let good = compare_with_cpu(vec![Box::new(emulated())]);
        assert_eq!((good.differing, good.check.problem), (0, None));
        let bad = compare_with_cpu(vec![Box::new(Liar(emulated()))]);
        assert!(bad.differing > SHOWN);
        assert_eq!(bad.differences.len(), SHOWN);
        let problem = bad.check.problem.unwrap();
        assert!(problem.contains(" on input 0: "), "{problem}");
        assert!(problem.contains("... and "), "{problem}");
    }
}
