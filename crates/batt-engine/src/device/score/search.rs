//! Launches of a search: many programs of many tasks at once, and their scores.

use std::ops::Range;
use std::time::Instant;

use super::encode::EncodedPrograms;
use super::prepared::Prepared;
use super::work::score_of;
use crate::cancel::Cancel;
use crate::device::backend::{Device, DeviceError, Times};
use crate::device::bytecode::Programs;
use crate::device::launch::{Done, JobAt, LaunchSettings, Launcher};
use crate::device::results::only_entry;
use crate::evaluate::Judged;
use crate::wave::{WaveBatch, WaveEngine, WavePlan, WaveRecords};
use batt_dsl::Limits;

/// Programs of several tasks, each with the samples of its task, for one launch.
pub enum SearchBatch {
    /// For the VM.
    Jobs {
        /// The programs of all parts.
        programs: Programs,
        /// The jobs of all runs that can be sent.
        jobs: Vec<JobAt>,
        /// The job of each run; `u32::MAX` if there is none.
        numbers: Vec<u32>,
    },
    /// To run as waves: the plan of each part, with its samples.
    Waves(Vec<(WavePlan, Range<usize>)>),
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
    pub fn new(samples: &Prepared<'_>, parts: Vec<(EncodedPrograms, Range<usize>)>) -> SearchBatch {
        if parts.iter().all(|(programs, _)| programs.plan.is_some()) {
            let plan = |(programs, own): (EncodedPrograms, _)| Some((programs.plan?, own));
            return SearchBatch::Waves(parts.into_iter().filter_map(plan).collect());
        }
        let runs = parts
            .iter()
            .map(|(programs, own)| programs.len() * own.len());
        let runs = runs.sum();
        let mut all = Programs::new();
        let mut jobs = Vec::with_capacity(runs);
        let mut numbers = Vec::with_capacity(runs);
        let words = parts
            .iter()
            .map(|(programs, _)| programs.programs.words().len());
        all.reserve(words.sum());
        let encoded = samples.encoded();
        let (mut before, mut places) = (Vec::new(), Vec::new());
        for (programs, own) in &parts {
            before.clear();
            before.extend(programs.places.iter().map(|(at, _)| *at));
            places.clear();
            all.append(&programs.programs, &before, &mut places);
            for (at, (_, roles)) in places.iter().zip(&programs.places) {
                let at = at.zip(samples.shape(roles));
                for sample in &encoded.places[own.clone()] {
                    let Some((program, shape)) = at else {
                        numbers.push(UNSENT);
                        continue;
                    };
                    numbers.push(jobs.len() as u32);
                    jobs.push(JobAt {
                        program,
                        params: sample.params(shape),
                        expected: sample.expected,
                        compares: false,
                    });
                }
            }
        }
        SearchBatch::Jobs {
            programs: all,
            jobs,
            numbers,
        }
    }
}

/// The fuel of a program of a search. Generations are short, and wait for the slowest program.
const FUEL: u64 = 4_000;

/// Launches batches on a device, one after the other, and learns from each how to launch the next.
pub struct Searcher {
    launcher: Launcher,
    limits: Limits,
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
            limits: *limits,
        })
    }

    /// Runs a batch on a device.
    pub fn launch(
        &mut self,
        device: &mut dyn Device,
        samples: &Prepared<'_>,
        batch: SearchBatch,
    ) -> Result<SearchScores, DeviceError> {
        match batch {
            SearchBatch::Jobs {
                programs,
                jobs,
                numbers,
            } => {
                let inputs = &samples.encoded().inputs;
                let done = self.launcher.run(device, &programs, inputs, &jobs)?;
                Ok(SearchScores::Jobs { done, numbers })
            }
            SearchBatch::Waves(parts) => {
                let started = Instant::now();
                let engine = device.waves();
                let engine = engine.ok_or_else(|| DeviceError::Missing("no waves".to_owned()))?;
                run_waves(engine, samples, &parts, &self.limits, started)
            }
        }
    }
}

/// The most elements of a closure for one sample: what few programs need, most of them useless.
const MOST_ITEMS: u32 = 1 << 14;

/// Runs the plan of each part on its samples.
fn run_waves(
    engine: &mut WaveEngine,
    samples: &Prepared<'_>,
    parts: &[(WavePlan, Range<usize>)],
    limits: &Limits,
    started: Instant,
) -> Result<SearchScores, DeviceError> {
    let resident = engine.keep(samples.id(), samples.samples())?;
    let batch = |(plan, own): &(WavePlan, Range<usize>)| (plan.len(), own.len());
    let sizes = parts.iter().map(batch).collect();
    let batches: Vec<WaveBatch<'_>> = (parts.iter())
        .map(|(plan, own)| WaveBatch {
            plan,
            first: own.start,
            count: own.len(),
        })
        .collect();
    engine.leave_larger_than(MOST_ITEMS);
    let (records, report) = engine.run(&batches, &resident, limits, &Cancel::new());
    let mut firsts = Vec::with_capacity(parts.len());
    let mut next = 0;
    for (plan, own) in parts {
        firsts.push(next);
        next += plan.len() * own.len();
    }
    Ok(SearchScores::Waves {
        records,
        firsts,
        sizes,
        times: Times {
            kernel: started.elapsed(),
            launches: u32::try_from(report.launches).unwrap_or(u32::MAX),
            ..Times::default()
        },
        error: report.errors.into_iter().next().map(DeviceError::Launch),
    })
}

/// The scores of a batch.
pub enum SearchScores {
    /// Of the VM.
    Jobs {
        /// The results.
        done: Done,
        /// The job of each run.
        numbers: Vec<u32>,
    },
    /// Of waves.
    Waves {
        /// The ends of all runs.
        records: WaveRecords,
        /// The number of the first run of each part.
        firsts: Vec<usize>,
        /// The numbers of programs and samples of each part.
        sizes: Vec<(usize, usize)>,
        /// What it took.
        times: Times,
        /// The error, if the device failed.
        error: Option<DeviceError>,
    },
}

impl SearchScores {
    /// Returns the score of a run; none if the device has not finished it.
    pub fn of(&self, run: usize) -> Option<Judged> {
        match self {
            SearchScores::Jobs { done, numbers } => {
                let job = *numbers.get(run).filter(|&&job| job != UNSENT)?;
                let finished = done.job(job as usize).ok()?;
                let entry = only_entry(finished.words, false).ok()?;
                Some(score_of(&entry))
            }
            SearchScores::Waves {
                records,
                firsts,
                sizes,
                ..
            } => {
                // Parts without runs begin where the next part does.
                let part = firsts
                    .partition_point(|first| *first <= run)
                    .checked_sub(1)?;
                let (programs, samples) = sizes[part];
                let at = run - firsts[part];
                let (program, sample) = (at / samples.max(1), at % samples.max(1));
                (program < programs).then_some(())?;
                records.end(part, program, sample).judged().ok()
            }
        }
    }

    /// Returns what the launches took.
    pub fn times(&self) -> Times {
        match self {
            SearchScores::Jobs { done, .. } => done.times(),
            SearchScores::Waves { times, .. } => *times,
        }
    }

    /// Returns the error of a launch that failed, if one did.
    pub fn error(&self) -> Option<&DeviceError> {
        match self {
            SearchScores::Jobs { done, .. } => done.error.as_ref(),
            SearchScores::Waves { error, .. } => error.as_ref(),
        }
    }
}
