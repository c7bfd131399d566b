//! Programs on samples with the help of devices, for evaluating them in order.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use batt_dsl::Limits;

use super::DeviceOptions;
use super::backend::Device;
use super::bytecode::Programs;
use super::feed::{Feed, Load, PieceAt, Runs, Subject, Taken};
use super::inputs::{JobParam, Shapes};
use super::launch::{LaunchPass, LaunchSettings};
use super::report::{Counts, DeviceReport};
use super::results::{DeviceEntry, Reason, only_entry};
use super::verify::{Seen, Verify};
use crate::compile::Compiled;
use crate::sample::Sample;

/// Programs on samples with the help of devices, or without.
pub(crate) struct Solo<'a> {
    feed: Option<Feed<'a>>,
    values: bool,
    verify: f64,
    report: Mutex<DeviceReport>,
}

impl<'a> Solo<'a> {
    /// Prepares what is sent. Nothing is if there are no devices, or if the limits do not allow it.
    #[allow(clippy::too_many_arguments)]
    pub fn new<'p>(
        devices: &[Box<dyn Device>],
        programs: impl Iterator<Item = &'p Compiled>,
        samples: &'a [Sample<'a>],
        runs: Runs<'a>,
        values: bool,
        limits: &Limits,
        options: &DeviceOptions,
    ) -> Solo<'a> {
        let settings = options.settings.within(limits);
        let feed = settings.filter(|_| !devices.is_empty()).map(|settings| {
            let mut sent = Programs::new();
            let mut shapes = Shapes::default();
            let subject = |program: &Compiled| {
                let roles = program.roles();
                let params = roles.unwrap_or_default().iter();
                let params: Vec<JobParam> = params.map(|role| JobParam::from(*role)).collect();
                // One whose parameters have no role fails before its first step: no work for a device.
                let at = roles.and_then(|_| sent.push_program(program).ok());
                Subject {
                    pieces: at.map(PieceAt::program).into_iter().collect(),
                    params: shapes.add(&params),
                    compares: false,
                    waves: None,
                }
            };
            let subjects = programs.map(subject).collect();
            let load = Load {
                programs: sent,
                subjects,
                shapes,
                samples,
                runs,
            };
            let settings = LaunchSettings { values, ..settings };
            let chunk = options.chunk.map(NonZeroUsize::get);
            Feed::new(load, settings, devices.len(), chunk)
        });
        Solo {
            feed,
            values,
            verify: options.verify,
            report: Mutex::default(),
        }
    }

    /// What the devices are fed from.
    pub fn feed(&self) -> Option<&Feed<'a>> {
        self.feed.as_ref()
    }

    /// What a thread needs.
    pub fn worker(&self) -> SoloWorker<'_> {
        SoloWorker {
            values: self.values,
            runs: Counts::default(),
            verify: Verify::new(self.verify),
            report: &self.report,
        }
    }

    /// What devices did, if any were used.
    pub fn report(self) -> Option<DeviceReport> {
        let report = self.report.into_inner().unwrap_or_else(|e| e.into_inner());
        self.feed.map(|feed| DeviceReport {
            devices: feed.devices(),
            ops: feed.op_counts(),
            ..report
        })
    }
}

/// One thread at work. What it has counted is added up when it is done.
pub(crate) struct SoloWorker<'s> {
    values: bool,
    runs: Counts,
    verify: Verify,
    report: &'s Mutex<DeviceReport>,
}

/// What a device made of a program.
pub(crate) struct Found<'t> {
    pub pass: LaunchPass,
    pub entry: DeviceEntry,
    pub words: &'t [u32],
}

impl SoloWorker<'_> {
    /// What a device made of a run, if it finished it.
    pub fn found<'t>(&mut self, at: usize, taken: Option<&'t Taken>) -> Option<Found<'t>> {
        let found = taken?.piece(at, 0).and_then(|finished| {
            Ok(Found {
                pass: finished.pass,
                entry: only_entry(finished.words, self.values)?,
                words: finished.words,
            })
        });
        found.map_err(|reason| self.count(Err(reason))).ok()
    }

    /// Counts a run.
    pub fn count(&mut self, ended: Result<LaunchPass, Reason>) {
        self.runs.add(ended);
    }

    /// Is this run to be done again?
    pub fn is_done_again(&self, at: usize) -> bool {
        self.verify.chooses(at)
    }

    /// Compares a run that was done again.
    pub fn compare(&mut self, at: usize, cpu: &Seen, device: &Seen) {
        let (cpu, device) = (std::slice::from_ref(cpu), std::slice::from_ref(device));
        self.verify.compare(at, cpu, device);
    }
}

impl Drop for SoloWorker<'_> {
    fn drop(&mut self) {
        if let Ok(mut report) = self.report.lock() {
            report.runs.add_all(&self.runs);
            let verify = &mut self.verify;
            let mismatches = std::mem::take(&mut verify.mismatches);
            report.note(verify.verified, verify.differing, mismatches);
        }
    }
}
