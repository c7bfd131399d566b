//! How runs ended.

use batt_dsl::Fault;
use batt_lang::StepId;

use super::layout::Record;
use super::report::WaveReason;
use super::values::PackedValues;
use crate::device::{Reason, verdict_of};
use crate::evaluate::{Judged, Verdict};
use crate::interpret::RunError;

/// How a run ended on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveEnd {
    /// With a value.
    Value {
        /// The verdict, coded as in `judge.cuh`.
        verdict: u32,
        /// CPython's hash of the value.
        hash: u64,
    },
    /// With a fault, by its place in [`batt_dsl::Fault::ALL`], at a step.
    Fault {
        /// The number of the fault.
        fault: u8,
        /// The step.
        step: u32,
    },
    /// The CPU must run it.
    Left(WaveReason),
}

impl WaveEnd {
    /// Returns the score of the run, or why it falls back to the CPU.
    pub fn judged(self) -> Result<Judged, Reason> {
        match self {
            WaveEnd::Value { verdict, hash } => Ok(Judged {
                verdict: verdict_of(verdict),
                hash: Some(hash),
            }),
            WaveEnd::Fault { fault, step } => {
                let fault = *Fault::ALL.get(usize::from(fault)).ok_or(Reason::Broken)?;
                let step = Some(StepId(step));
                Ok(Judged {
                    verdict: Verdict::Failed(RunError { fault, step }),
                    hash: None,
                })
            }
            WaveEnd::Left(reason) => Err(reason.into()),
        }
    }
}

/// Records of the programs of a batch on some of its samples: for each planned program, one a sample.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub batch: usize,
    /// The first sample of the batch, and how many there are.
    pub first: usize,
    pub count: usize,
    /// The number of the first record.
    pub start: usize,
    /// The chunk with its values, and the number of the first one.
    pub chunk: usize,
    pub values: usize,
}

/// The ends of all runs of a call.
#[derive(Default)]
pub struct WaveRecords {
    pub(super) records: Vec<Record>,
    /// The segments of each batch.
    pub(super) segments: Vec<Vec<Segment>>,
    /// For each batch, the place of each program among those that were planned.
    pub(super) places: Vec<Vec<Option<u32>>>,
    /// The values of each chunk.
    pub(super) packed: Vec<PackedValues>,
}

impl WaveRecords {
    /// Returns how a program of a batch ended on one of its samples.
    pub fn end(&self, batch: usize, program: usize, sample: usize) -> WaveEnd {
        match self.place(batch, program) {
            None => WaveEnd::Left(WaveReason::Missing),
            Some(place) => (self.record(batch, place, sample))
                .map_or(WaveEnd::Left(WaveReason::Device), Record::end),
        }
    }

    /// Returns whether a program of a batch returned the expected grid of a sample.
    pub(crate) fn is_right(&self, batch: usize, program: usize, sample: usize) -> bool {
        matches!(
            self.end(batch, program, sample),
            WaveEnd::Value { verdict: 0, .. }
        )
    }

    /// Returns what the device charged for a finished run: at least the steps that the CPU takes.
    pub fn charge(&self, batch: usize, program: usize, sample: usize) -> Option<u64> {
        let record = self.record(batch, self.place(batch, program)?, sample)?;
        (record.end < 2).then_some(64 * u64::from(record.charge))
    }

    /// Returns the place of a program among those that were planned.
    fn place(&self, batch: usize, program: usize) -> Option<u32> {
        *self.places.get(batch)?.get(program)?
    }

    /// Returns the segment with a sample of a batch.
    pub(super) fn segment(&self, batch: usize, sample: usize) -> Option<&Segment> {
        let holds = |s: &&Segment| (s.first..s.first + s.count).contains(&sample);
        self.segments.get(batch)?.iter().find(holds)
    }

    fn record(&self, batch: usize, place: u32, sample: usize) -> Option<&Record> {
        let segment = self.segment(batch, sample)?;
        let at = segment.start + place as usize * segment.count + (sample - segment.first);
        self.records.get(at)
    }
}

impl Record {
    fn end(&self) -> WaveEnd {
        match self.end {
            0 => WaveEnd::Value {
                verdict: self.detail,
                hash: self.hash,
            },
            1 => WaveEnd::Fault {
                fault: self.which,
                step: self.detail,
            },
            _ => {
                let known = WaveReason::ALL.get(usize::from(self.which)).copied();
                WaveEnd::Left(known.unwrap_or(WaveReason::Device))
            }
        }
    }
}
