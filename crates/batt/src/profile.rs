//! Profiles of batts: time by primitive, by step, and along the longest chain of steps.

use std::num::NonZeroUsize;
use std::time::Duration;

use batt_dsl::Limits;
use batt_engine::device::{DeviceOptions, LaunchSettings};
use batt_engine::{CompiledBatt, MegaOptions, MegaReport, Sample, mega_on};
use batt_lang::Batt;

pub use batt_dsl::{OpTimes, ProfileNode};
pub use batt_engine::{BattProfile, StepProfile};

use crate::control::Control;
use crate::devices::Devices;
use crate::error::{Error, Result};
use crate::mega::samples_of;
use crate::tasks::Tasks;

/// The time that profiling takes if no number of samples is given.
const DEFAULT_TIME: Duration = Duration::from_secs(5);

/// The longest time of one run.
const MAX_RUN_TIME: Duration = Duration::from_secs(60);

/// Options of [`profile`] and [`profile_on`].
#[derive(Clone, Debug, Default)]
pub struct ProfileOptions {
    /// The number of samples to run; `None` runs as many as take about 5 seconds.
    pub samples: Option<NonZeroUsize>,
    /// The limits of each run.
    pub limits: Limits,
}

/// Profiles a batt on one thread of the CPU, without comparisons, on samples spread over the tasks.
/// After a cancellation it returns the profile so far.
///
/// ```
/// use batt::profile::{ProfileOptions, profile};
///
/// let tasks = batt::Tasks::embedded();
/// let merged = batt::card::merge(&batt::Solvers::embedded(), Some(&tasks))?;
/// let options = ProfileOptions {
///     samples: std::num::NonZeroUsize::new(3),
///     ..ProfileOptions::default()
/// };
/// let found = profile(&merged.batt, &tasks, &options, &batt::Control::new())?;
/// assert_eq!(found.runs, 3);
/// assert!(!found.ops.is_empty());
/// # Ok::<(), batt::Error>(())
/// ```
pub fn profile(
    batt: &Batt,
    tasks: &Tasks,
    options: &ProfileOptions,
    control: &Control,
) -> Result<BattProfile> {
    let samples = chosen(tasks, options)?;
    let bounded = options.bound(control);
    let progress = |done| control.report(done, samples.len());
    let (limits, stop) = (options.limits(), bounded.token());
    Ok(batt_engine::profile(
        batt, &samples, &limits, stop, progress,
    ))
}

/// Runs a batt on devices that count the cycles of every primitive. The counts are in the device
/// part of the report, which is missing if the limits allow no device.
pub fn profile_on(
    batt: &Batt,
    tasks: &Tasks,
    options: &ProfileOptions,
    devices: &mut Devices,
    control: &Control,
) -> Result<MegaReport> {
    let samples = chosen(tasks, options)?;
    let bounded = options.bound(control);
    let mega = MegaOptions {
        limits: options.limits(),
        // As on the CPU, nothing is compared and values are not used.
        compare: false,
        values: false,
        device: DeviceOptions {
            settings: LaunchSettings {
                ops: true,
                ..LaunchSettings::default()
            },
            ..DeviceOptions::default()
        },
        ..MegaOptions::default()
    };
    Ok(mega_on(
        devices.as_mut(),
        &[CompiledBatt::new(batt)],
        &samples,
        0,
        &mega,
        bounded.token(),
        |_, _, _| (),
        |at, _| control.report(at + 1, samples.len()),
    ))
}

/// Returns the largest number of samples that a profile of some tasks runs.
pub fn sample_count(tasks: &Tasks, options: &ProfileOptions) -> usize {
    let wanted = options.samples.map_or(usize::MAX, NonZeroUsize::get);
    wanted.min(tasks.pair_count())
}

impl ProfileOptions {
    fn limits(&self) -> Limits {
        Limits {
            time: Some(MAX_RUN_TIME),
            ..self.limits
        }
    }

    /// Returns the control, with a deadline if no number of samples is given.
    fn bound(&self, control: &Control) -> Control {
        match self.samples {
            Some(_) => control.clone(),
            None => control.clone().deadline_in(DEFAULT_TIME),
        }
    }
}

/// Returns the samples to run, in an order in which the first few are spread over all tasks,
/// because neighbouring samples are similar.
fn chosen<'t>(tasks: &'t Tasks, options: &ProfileOptions) -> Result<Vec<Sample<'t>>> {
    let all = samples_of(tasks);
    if all.is_empty() {
        return Err(Error::request(
            "the tasks have no samples",
            "name tasks that have at least one pair",
        ));
    }
    let count = sample_count(tasks, options);
    Ok(order(all.len()).take(count).map(|at| all[at]).collect())
}

/// Returns the numbers below `n` in an order in which successive numbers are far apart.
fn order(n: usize) -> impl Iterator<Item = usize> {
    // Steps of about the golden ratio leave no large gap. A step without a common divisor with `n`
    // reaches every number.
    let golden = (n as f64 * 0.618_034) as usize;
    let step = (golden.max(1)..).find(|&step| gcd(step, n) == 1);
    let step = step.unwrap_or(1);
    (0..n).map(move |k| k * step % n)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_has_every_sample_once_and_jumps() {
        for n in [0, 1, 2, 3, 4, 6, 100, 1718] {
            let mut seen: Vec<usize> = order(n).collect();
            if n >= 100 {
                let mut first: Vec<usize> = seen[..10].to_vec();
                first.sort_unstable();
                let far = first.windows(2).all(|w| w[1] - w[0] >= n / 20);
                assert!(far, "{n}: {first:?}");
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..n), "{n}");
        }
    }
}
