//! Launches of a search: many programs of many tasks at once, and their scores.

use std::ops::Range;

use super::encode::EncodedPrograms;
use super::prepared::Prepared;
use super::work::score_of;
use crate::device::backend::{Device, DeviceError, Times};
use crate::device::bytecode::Programs;
use crate::device::launch::{Done, JobAt, LaunchSettings, Launcher};
use crate::device::results::only_entry;
use crate::evaluate::Judged;
use batt_dsl::Limits;

/// Programs of several tasks, each with the samples of its task, for one launch.
pub struct SearchBatch {
    programs: Programs,
    jobs: Vec<JobAt>,
    /// The job of each run; [`UNSENT`] if there is none.
    numbers: Vec<u32>,
}

/// Stands for the job of a run that no device can do.
const UNSENT: u32 = u32::MAX;

impl SearchBatch {
    /// Puts together every program of each part on each of the samples of the part, which are given by their numbers. Runs are
    /// numbered part by part, program by program, sample by sample.
    ///
    /// # Panics
    ///
    /// If there is no such sample.
    pub fn new(samples: &Prepared<'_>, parts: &[(&EncodedPrograms, Range<usize>)]) -> SearchBatch {
        let runs = parts
            .iter()
            .map(|(programs, own)| programs.len() * own.len());
        let runs = runs.sum();
        let mut batch = SearchBatch {
            programs: Programs::new(),
            jobs: Vec::with_capacity(runs),
            numbers: Vec::with_capacity(runs),
        };
        let words = parts
            .iter()
            .map(|(programs, _)| programs.programs.words().len());
        batch.programs.reserve(words.sum());
        let encoded = samples.encoded();
        let (mut before, mut places) = (Vec::new(), Vec::new());
        for (programs, own) in parts {
            before.clear();
            before.extend(programs.places.iter().map(|(at, _)| *at));
            places.clear();
            batch
                .programs
                .append(&programs.programs, &before, &mut places);
            for (at, (_, roles)) in places.iter().zip(&programs.places) {
                let at = at.zip(samples.shape(roles));
                for sample in &encoded.places[own.clone()] {
                    let Some((program, shape)) = at else {
                        batch.numbers.push(UNSENT);
                        continue;
                    };
                    batch.numbers.push(batch.jobs.len() as u32);
                    batch.jobs.push(JobAt {
                        program,
                        params: sample.params(shape),
                        expected: sample.expected,
                        compares: false,
                    });
                }
            }
        }
        batch
    }
}

/// The fuel of a program of a search. Generations are short, and wait for the slowest program.
const FUEL: u64 = 4_000;

/// Launches batches on a device, one after the other, and learns from each how to launch the next.
pub struct Searcher {
    launcher: Launcher,
}

impl Searcher {
    /// For runs with these limits; `None` if they do not [allow](LaunchSettings::within) devices.
    pub fn new(limits: &Limits) -> Option<Searcher> {
        let settings = LaunchSettings {
            values: false,
            fuel: FUEL,
            ..LaunchSettings::default()
        };
        let settings = settings.within(limits)?;
        Some(Searcher {
            launcher: Launcher::new(settings, 1),
        })
    }

    /// Runs a batch on a device.
    pub fn launch(
        &mut self,
        device: &mut dyn Device,
        samples: &Prepared<'_>,
        batch: SearchBatch,
    ) -> Result<SearchScores, DeviceError> {
        let SearchBatch {
            programs,
            jobs,
            numbers,
        } = batch;
        let inputs = &samples.encoded().inputs;
        let done = self.launcher.run(device, &programs, inputs, &jobs)?;
        Ok(SearchScores { done, numbers })
    }
}

/// The scores of a batch.
pub struct SearchScores {
    done: Done,
    numbers: Vec<u32>,
}

impl SearchScores {
    /// Returns the score of a run; none if the device has not finished it.
    pub fn of(&self, run: usize) -> Option<Judged> {
        let job = *self.numbers.get(run).filter(|&&job| job != UNSENT)?;
        let finished = self.done.job(job as usize).ok()?;
        let entry = only_entry(finished.words, false).ok()?;
        Some(score_of(&entry))
    }

    /// Returns what the launches took.
    pub fn times(&self) -> Times {
        self.done.times()
    }

    /// Returns the error of a launch that failed, if one did.
    pub fn error(&self) -> Option<&DeviceError> {
        self.done.error.as_ref()
    }
}
