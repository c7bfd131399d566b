//! What came of jobs: finished, with an entry for each output and score, or left to the CPU.

use std::fmt;

use batt_dsl::Fault;
use batt_lang::StepId;

use super::backend::Launched;
use super::wire::{self, WireError};
use crate::batt::StepCount;
use crate::evaluate::Verdict;
use crate::interpret::RunError;

/// Why a run is left to the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// The iteration order of a set mattered and was not known.
    Order = 1,
    /// A value too large for its layout.
    Size,
    /// The run's memory was full.
    Arena,
    /// Too much work.
    Fuel,
    /// Calls or values nested too deeply.
    Depth,
    /// A primitive without a body on the device.
    Missing,
    /// There was no room for the output.
    Output,
    /// Several elements of a set without order failed in different ways.
    Faults,
    /// The launch was cut short.
    NotReached,
    /// Arguments of a kind that a body does not take.
    Odd,
    /// The words that came back make no sense, which is a bug of the device.
    Broken,
    /// The program or its inputs could not be sent.
    Unsent,
    /// The device failed.
    Device,
}

impl Reason {
    /// Every reason, for tables and statistics.
    pub const ALL: [Reason; 13] = [
        Reason::Order,
        Reason::Size,
        Reason::Arena,
        Reason::Fuel,
        Reason::Depth,
        Reason::Missing,
        Reason::Output,
        Reason::Faults,
        Reason::NotReached,
        Reason::Odd,
        Reason::Broken,
        Reason::Unsent,
        Reason::Device,
    ];

    /// The reason of a status; `None` for 0, finished.
    fn of_status(status: u32) -> Option<Reason> {
        match status {
            0 => None,
            1..=10 => Some(Reason::ALL[status as usize - 1]),
            _ => Some(Reason::Broken),
        }
    }

    /// The position in [`Reason::ALL`].
    pub fn index(self) -> usize {
        self as usize - 1
    }

    /// A word for reports.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Order => "order",
            Reason::Size => "size",
            Reason::Arena => "arena",
            Reason::Fuel => "fuel",
            Reason::Depth => "depth",
            Reason::Missing => "missing",
            Reason::Output => "output",
            Reason::Faults => "faults",
            Reason::NotReached => "not reached",
            Reason::Odd => "odd",
            Reason::Broken => "broken",
            Reason::Unsent => "unsent",
            Reason::Device => "device",
        }
    }
}

impl From<WireError> for Reason {
    fn from(error: WireError) -> Reason {
        match error {
            WireError::TooLarge { .. } | WireError::Fault(_) => Reason::Size,
            WireError::Broken { .. } | WireError::Unordered { .. } => Reason::Broken,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An output, a score or a comparison of a finished job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceEntry {
    /// It has a value.
    Value {
        /// Of outputs against the expected grid; of others [`Verdict::Unknown`].
        verdict: Verdict,
        /// CPython's `hash()` of the value.
        hash: u64,
        /// Where its words begin, if the device sent them.
        at: Option<usize>,
    },
    /// It failed.
    Failed(RunError),
    /// It is left to the CPU.
    Left(Reason),
}

impl DeviceEntry {
    /// What it came to.
    pub fn verdict(&self) -> Verdict {
        match self {
            DeviceEntry::Value { verdict, .. } => verdict.clone(),
            DeviceEntry::Failed(error) => Verdict::Failed(*error),
            DeviceEntry::Left(_) => Verdict::Unknown,
        }
    }
}

/// Words of an entry before its value.
const HEAD: usize = 4;

/// What stands in the place of the fault of an entry that is left to the CPU.
const LEFT: u32 = 254;

impl Launched {
    /// The words that a job wrote, if it is finished.
    pub fn job(&self, k: usize) -> Result<&[u32], Reason> {
        let [status, at, len, _] = self.result(k).ok_or(Reason::NotReached)?;
        if let Some(reason) = Reason::of_status(status) {
            return Err(reason);
        }
        let (at, len) = (at as usize, len as usize);
        self.output.get(at..at + len).ok_or(Reason::Broken)
    }

    /// The work that a job spent.
    pub fn spent(&self, k: usize) -> u32 {
        self.result(k).map_or(0, |[.., spent]| spent)
    }

    fn result(&self, k: usize) -> Option<[u32; 4]> {
        let words = self.results.get(4 * k..4 * k + 4)?;
        Some([words[0], words[1], words[2], words[3]])
    }
}

/// The entries that a finished job wrote, and the words behind them: what the steps of a piece of a batt did. `full` says whether
/// values are there.
pub fn entries(
    words: &[u32],
    count: usize,
    full: bool,
) -> Result<(Vec<DeviceEntry>, &[u32]), WireError> {
    let mut entries = Vec::with_capacity(count);
    let mut at = 0;
    for _ in 0..count {
        let (entry, next) = entry(words, at, full)?;
        entries.push(entry);
        at = next;
    }
    Ok((entries, &words[at..]))
}

/// What a step did in a job, by the words behind its entries.
pub(crate) fn step_mark(words: &[u32], step: usize) -> StepMark {
    let mark = words[step / 4] >> (8 * (step % 4));
    StepMark {
        executed: mark & 1 != 0,
        failed: mark & 2 != 0,
        fell_back: mark & 4 != 0,
    }
}

/// See [`step_mark`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StepMark {
    pub executed: bool,
    pub failed: bool,
    pub fell_back: bool,
}

impl StepMark {
    /// What a step did here.
    pub fn of(count: &StepCount) -> StepMark {
        StepMark {
            executed: count.executed > 0,
            failed: count.failed > 0,
            fell_back: count.fallbacks > 0,
        }
    }

    /// What the same step did for somebody else.
    pub fn add(&mut self, other: StepMark) {
        self.executed |= other.executed;
        self.failed |= other.failed;
        self.fell_back |= other.fell_back;
    }
}

/// The one entry that a finished job wrote; `full` says whether its value is there.
pub fn only_entry(words: &[u32], full: bool) -> Result<DeviceEntry, WireError> {
    let (entry, at) = entry(words, 0, full)?;
    match entry {
        // Then the job is.
        DeviceEntry::Left(_) => Err(WireError::Broken {
            at,
            what: "the only entry is left",
        }),
        entry if at == words.len() => Ok(entry),
        _ => Err(WireError::Broken {
            at,
            what: "more than its entry",
        }),
    }
}

/// The entry at a place, and where the next one begins.
fn entry(words: &[u32], start: usize, full: bool) -> Result<(DeviceEntry, usize), WireError> {
    let broken = |what| WireError::Broken { at: start, what };
    let head = words.get(start..start + HEAD);
    let &[fault, detail, low, high] = head.ok_or_else(|| broken("no entry"))? else {
        return Err(broken("no entry"));
    };
    let at = start + HEAD;
    let failed = match fault {
        0 => {
            let entry = DeviceEntry::Value {
                verdict: verdict(detail),
                hash: u64::from(low) | u64::from(high) << 32,
                at: full.then_some(at),
            };
            if full {
                return Ok((entry, wire::skip(words, at)?));
            }
            if is_cut_short(detail) {
                return Err(WireError::TooLarge { at: start });
            }
            return Ok((entry, at));
        }
        LEFT => {
            let reason = Reason::of_status(detail).ok_or_else(|| broken("left for no reason"))?;
            return Ok((DeviceEntry::Left(reason), at));
        }
        fault => Fault::ALL.get(fault as usize - 1).copied(),
    };
    let error = RunError {
        fault: failed.ok_or_else(|| broken("an unknown fault"))?,
        step: (detail != u32::MAX).then_some(StepId(detail)),
    };
    Ok((DeviceEntry::Failed(error), at))
}

/// The longest side that a verdict has room for.
const LONGEST: u32 = 0x7fff;

/// Is it the verdict on a shape that it has no room for?
fn is_cut_short(detail: u32) -> bool {
    let shape = detail >> 31 != 0 && detail < u32::MAX - 1;
    shape && ((detail >> 16) & LONGEST == LONGEST || detail & 0xffff == LONGEST)
}

/// What a value was judged to be.
pub(crate) fn verdict(detail: u32) -> Verdict {
    match detail {
        0 => Verdict::Right,
        u32::MAX => Verdict::Unknown,
        0xffff_fffe => Verdict::NotAGrid,
        shape if shape >> 31 != 0 => {
            Verdict::WrongShape((shape >> 16 & 0x7fff) as usize, (shape & 0xffff) as usize)
        }
        wrong => Verdict::WrongCells(wrong as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_their_numbers() {
        for (k, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason.index(), k);
        }
        assert_eq!(Reason::of_status(0), None);
        assert_eq!(Reason::of_status(1), Some(Reason::Order));
        assert_eq!(Reason::of_status(9), Some(Reason::NotReached));
        assert_eq!(Reason::of_status(11), Some(Reason::Broken));
    }

    #[test]
    fn jobs_and_their_entries() {
        let none = [0, u32::MAX, 7, 0, 0];
        let failed = [2, 3, 0, 0];
        let launched = Launched {
            results: vec![0, 1, 9, 5, 6, 0, 0, 0, 0, 100, 9, 0],
            output: [&[99][..], &none, &failed].concat(),
            ..Launched::default()
        };
        let words = launched.job(0).expect("a finished job");
        let (found, more) = entries(words, 2, true).expect("two entries");
        assert!(more.is_empty());
        let value = DeviceEntry::Value {
            verdict: Verdict::Unknown,
            hash: 7,
            at: Some(4),
        };
        let error = RunError {
            fault: Fault::Index,
            step: Some(StepId(3)),
        };
        assert_eq!(found, [value, DeviceEntry::Failed(error)]);
        assert_eq!(launched.spent(0), 5);
        assert_eq!(launched.job(1), Err(Reason::Missing));
        assert_eq!(launched.job(2), Err(Reason::Broken));
        assert_eq!(launched.job(3), Err(Reason::NotReached));
        assert!(only_entry(words, true).is_err());
        assert!(entries(words, 3, true).is_err());
        assert!(entries(&[40, 0, 0, 0], 1, false).is_err());
    }

    #[test]
    fn entries_are_followed_by_what_steps_did() {
        let words = [254, 10, 0, 0, 2, 3, 0, 0, 0x0301_0001, 4];
        let (found, marks) = entries(&words, 2, true).expect("two entries");
        assert_eq!(found[0], DeviceEntry::Left(Reason::Odd));
        assert!(matches!(found[1], DeviceEntry::Failed(_)));
        let marks: Vec<u32> = (0..5)
            .map(|step| step_mark(marks, step))
            .map(|m| u32::from(m.executed) | u32::from(m.failed) << 1 | u32::from(m.fell_back) << 2)
            .collect();
        assert_eq!(marks, [1, 0, 1, 3, 4]);
        assert!(entries(&[254, 0, 0, 0], 1, true).is_err());
        assert!(only_entry(&[254, 10, 0, 0], true).is_err());
    }

    #[test]
    fn verdicts() {
        assert_eq!(verdict(0), Verdict::Right);
        assert_eq!(verdict(5), Verdict::WrongCells(5));
        assert_eq!(verdict(0x8003_0004), Verdict::WrongShape(3, 4));
        assert_eq!(verdict(u32::MAX - 1), Verdict::NotAGrid);
        let cut = [
            0x8003_0004,
            0x8003_7fff,
            0xffff_0001,
            5,
            0,
            u32::MAX,
            u32::MAX - 1,
        ];
        let cut = cut.map(is_cut_short);
        assert_eq!(cut, [false, true, true, false, false, false, false]);
        assert!(entries(&[0, 0x8003_7fff, 0, 0], 1, false).is_err());
    }
}
