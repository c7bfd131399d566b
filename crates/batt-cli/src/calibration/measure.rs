//! Measures devices against cores.

use std::time::{Duration, Instant};

use batt_engine::device::{ScoreOptions, score_table};
use batt_engine::{Compiled, Sample};

use super::crossover::{Measured, Outcome};
use crate::corpus::Corpus;
use crate::device::Devices;
use crate::interrupt;

/// The fewest runs measured, about.
const FEWEST: usize = 100;

/// The most, about.
const MOST: usize = 2_000_000;

/// Runs the built-in solvers on more and more inputs, on devices and on all cores, until it is clear who wins or the
/// time is over. `opening` is what it took to open the devices; whoever uses them has to wait for that too.
pub fn measure(
    devices: &mut Devices,
    opening: Duration,
    time: Duration,
) -> Result<Vec<Measured>, String> {
    let corpus = Corpus::load();
    let programs: Vec<Compiled> = corpus.programs().iter().map(Compiled::new).collect();
    let inputs = corpus.samples();
    let started = Instant::now();
    let mut measured: Vec<Measured> = Vec::new();
    let mut count = FEWEST.div_ceil(programs.len().max(1));
    // What the last size took; the next one takes twice that.
    let mut last = Duration::ZERO;
    while count * programs.len() <= MOST
        && started.elapsed() + 2 * last <= time
        && !Outcome::is_clear(&measured)
    {
        let samples: Vec<Sample<'_>> = inputs.iter().cycle().take(count).copied().collect();
        let before = Instant::now();
        let on_devices = one(devices, &programs, &samples)?;
        let on_cores = one(&mut Devices::new(), &programs, &samples)?;
        last = before.elapsed();
        if interrupt::happened() {
            return Err("interrupted".to_owned());
        }
        measured.push(Measured {
            runs: programs.len() * samples.len(),
            devices: opening + on_devices,
            cores: on_cores,
        });
        count *= 2;
    }
    Ok(measured)
}

/// How long every program on every sample takes. A device that fails has not been measured: the cores have.
fn one(
    devices: &mut Devices,
    programs: &[Compiled],
    samples: &[Sample<'_>],
) -> Result<Duration, String> {
    let started = Instant::now();
    let (_, report) = score_table(
        devices,
        programs,
        samples,
        &ScoreOptions::default(),
        interrupt::stop(),
    );
    let time = started.elapsed();
    let failed = report.device.iter().flat_map(|device| &device.devices);
    let error = failed.flat_map(|device| device.errors.first()).next();
    error.cloned().map_or(Ok(time), Err)
}
