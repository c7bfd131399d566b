//! What a search does again and again: many programs of many tasks in one launch, and their scores.

use std::ops::Range;

use super::ScoredRun;
use super::prepared::Prepared;
use super::sheaf::Sheaf;
use super::work::score_of;
use crate::device::backend::{Device, DeviceError, Times};
use crate::device::bytecode::Programs;
use crate::device::launch::{Done, JobAt, Launcher, Settings};
use crate::device::results::only_entry;
use batt_dsl::Limits;

/// Programs of several tasks, each with the samples of its own, put together for one launch.
pub struct Shipment {
    programs: Programs,
    jobs: Vec<JobAt>,
    /// The job of each run; [`UNSENT`] if there is none.
    numbers: Vec<u32>,
}

/// In the place of a job: the run is none for a device.
const UNSENT: u32 = u32::MAX;

impl Shipment {
    /// Every program of every sheaf on each of the samples, which are given by their numbers. Runs are numbered in this
    /// order: sheaf by sheaf, program by program, sample by sample.
    ///
    /// # Panics
    ///
    /// If there is no such sample.
    pub fn new(samples: &Prepared<'_>, sheaves: &[(&Sheaf, Range<usize>)]) -> Shipment {
        let runs = sheaves.iter().map(|(sheaf, own)| sheaf.len() * own.len());
        let runs = runs.sum();
        let mut shipment = Shipment {
            programs: Programs::new(),
            jobs: Vec::with_capacity(runs),
            numbers: Vec::with_capacity(runs),
        };
        let words = sheaves
            .iter()
            .map(|(sheaf, _)| sheaf.programs.words().len());
        shipment.programs.reserve(words.sum());
        let encoded = samples.encoded();
        let (mut before, mut places) = (Vec::new(), Vec::new());
        for (sheaf, own) in sheaves {
            before.clear();
            before.extend(sheaf.places.iter().map(|(at, _)| *at));
            places.clear();
            shipment
                .programs
                .append(&sheaf.programs, &before, &mut places);
            for (at, (_, roles)) in places.iter().zip(&sheaf.places) {
                let at = at.zip(samples.shape(roles));
                for sample in &encoded.places[own.clone()] {
                    let Some((program, shape)) = at else {
                        shipment.numbers.push(UNSENT);
                        continue;
                    };
                    shipment.numbers.push(shipment.jobs.len() as u32);
                    shipment.jobs.push(JobAt {
                        program,
                        params: sample.params(shape),
                        expected: sample.expected,
                        compares: false,
                    });
                }
            }
        }
        shipment
    }
}

/// What a program of a search gets. Generations are short, and wait for the slowest program.
const FUEL: u64 = 4_000;

/// Launches shipments on a device, one after the other, and learns from them.
pub struct Searcher {
    launcher: Launcher,
}

impl Searcher {
    /// For runs with these limits; `None` if they do not [allow](Settings::within) devices.
    pub fn new(limits: &Limits) -> Option<Searcher> {
        let settings = Settings {
            values: false,
            fuel: FUEL,
            ..Settings::default()
        };
        let settings = settings.within(limits)?;
        Some(Searcher {
            launcher: Launcher::new(settings, 1),
        })
    }

    /// Runs a shipment on a device.
    pub fn launch(
        &mut self,
        device: &mut dyn Device,
        samples: &Prepared<'_>,
        shipment: Shipment,
    ) -> Result<Scores, DeviceError> {
        let Shipment {
            programs,
            jobs,
            numbers,
        } = shipment;
        let inputs = &samples.encoded().inputs;
        let done = self.launcher.run(device, &programs, inputs, &jobs)?;
        Ok(Scores { done, numbers })
    }
}

/// The scores of a shipment.
pub struct Scores {
    done: Done,
    numbers: Vec<u32>,
}

impl Scores {
    /// The score of a run; none if the device has left it.
    pub fn of(&self, run: usize) -> Option<ScoredRun> {
        let job = *self.numbers.get(run).filter(|&&job| job != UNSENT)?;
        let finished = self.done.job(job as usize).ok()?;
        let entry = only_entry(finished.words, false).ok()?;
        Some(score_of(&entry))
    }

    /// What the launches took.
    pub fn times(&self) -> Times {
        self.done.times()
    }

    /// What stood in the way of one of the launches, if anything did.
    pub fn error(&self) -> Option<&DeviceError> {
        self.done.error.as_ref()
    }
}
