//! Times one batt on batches of several sizes, to find the size from which a device is faster.

use std::time::{Duration, Instant};

use anyhow::Result;
use batt_dsl::Limits;
use batt_engine::device::{Device, DeviceOptions, LaunchSettings};
use batt_engine::{CompiledBatt, MegaOptions, Sample, mega_on};
use batt_lang::Program;
use batt_lang::card::CardDonor;

use crate::corpus::merged;
use crate::interrupt;

/// The number of solvers in the batt.
const SOLVERS: usize = 32;

/// The batch sizes, in samples.
const SIZES: [usize; 5] = [1, 10, 100, 1_000, 10_000];

/// The number of times that each batch is timed. The median is reported.
const ROUNDS: usize = 5;

/// The times of one batch size.
pub struct Batches {
    pub samples: usize,
    pub device: Duration,
    pub cores: Duration,
}

/// Measures one batt, merged from some of the programs.
pub fn measure(
    programs: &[Program],
    samples: &[Sample<'_>],
    devices: &mut [Box<dyn Device>],
    limits: &Limits,
) -> Result<Vec<Batches>> {
    let stride = (programs.len() / SOLVERS).max(1);
    let donors: Vec<CardDonor<'_>> = programs
        .iter()
        .step_by(stride)
        .take(SOLVERS)
        .map(|program| CardDonor {
            id: program.name().into(),
            program,
            size: None,
            mutated: false,
        })
        .collect();
    let batt = [CompiledBatt::new(&merged(&donors, false)?.batt)];
    let mut found = Vec::new();
    for size in SIZES {
        if interrupt::happened() {
            break;
        }
        let chosen: Vec<Sample<'_>> = samples.iter().copied().cycle().take(size).collect();
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            times[0].push(pass(&batt, &chosen, devices, limits));
            times[1].push(pass(&batt, &chosen, &mut [], limits));
        }
        let [device, cores] = times.map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2]
        });
        found.push(Batches {
            samples: size,
            device,
            cores,
        });
    }
    Ok(found)
}

fn pass(
    batt: &[CompiledBatt],
    samples: &[Sample<'_>],
    devices: &mut [Box<dyn Device>],
    limits: &Limits,
) -> Duration {
    let options = MegaOptions {
        limits: *limits,
        compare: false,
        values: false,
        device: DeviceOptions {
            settings: LaunchSettings {
                values: false,
                ..LaunchSettings::default()
            },
            ..DeviceOptions::default()
        },
        ..MegaOptions::default()
    };
    let started = Instant::now();
    mega_on(
        devices,
        batt,
        samples,
        0,
        &options,
        interrupt::stop(),
        |_, _, _| (),
        |_, _| (),
    );
    started.elapsed()
}
