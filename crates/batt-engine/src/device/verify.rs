//! Doing finished runs again on the CPU, to see that a device gives the same.

use std::fmt;

use batt_arc::Grid;
use batt_dsl::{Limits, OwnedValue, Run, Value, Workspace};
use batt_lang::SplitMix64;

use super::report::Mismatch;
use super::results::Entry;
use super::score::ScoredRun;
use crate::compile::RunError;
use crate::evaluate::{Job, Verdict, execute_job, judge, score_job};

/// Which runs are done again, and what came of it.
pub(crate) struct Verify {
    /// Of 2^64.
    threshold: Option<u64>,
    pub verified: u64,
    pub differing: u64,
    pub mismatches: Vec<Mismatch>,
}

/// An entry as far as it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Failed(RunError),
    Value(OwnedValue),
    /// Without full values: the verdict, and the hash, if it is the value's alone.
    Judged(Verdict, Option<u64>),
    /// The device has left it.
    Left,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seen::Failed(error) => match error.step {
                Some(step) => write!(f, "{} in step {}", error.fault.name(), step.0),
                None => f.write_str(error.fault.name()),
            },
            Seen::Value(value) => write!(f, "{value}"),
            Seen::Judged(verdict, Some(hash)) => write!(f, "{verdict:?}, hash {}", *hash as i64),
            Seen::Judged(verdict, None) => write!(f, "{verdict:?}"),
            Seen::Left => f.write_str("nothing"),
        }
    }
}

impl Seen {
    /// What the CPU has: its value, or without full values what can be said about it.
    pub fn here<'r>(
        run: &mut Run<'r>,
        entry: Result<Value<'r>, RunError>,
        full: bool,
        expected: Option<&Grid>,
    ) -> Seen {
        let value = match entry {
            Ok(value) => value,
            Err(error) => return Seen::Failed(error),
        };
        if full {
            // The copy is what asks for the order of sets, as the device was.
            return match run.to_owned(value) {
                Ok(owned) => Seen::Value(owned),
                Err(fault) => Seen::Failed(RunError { fault, step: None }),
            };
        }
        let (verdict, hash) = (judge(run, value, expected), run.hash(value));
        // What a function hashes to depends on how many were made before it. A copy that finds no room says nothing about the
        // value: nobody asked the device for one.
        let functions = run
            .to_owned(value)
            .is_ok_and(|owned| holds_function(&owned));
        Seen::Judged(verdict, (!functions).then_some(hash))
    }

    /// What the device has, given the value that was decoded.
    pub fn there<'r>(
        run: &mut Run<'r>,
        entry: &Entry,
        value: Result<Value<'r>, RunError>,
        full: bool,
    ) -> Seen {
        match entry {
            Entry::Left(_) => Seen::Left,
            Entry::Failed(error) => Seen::Failed(*error),
            Entry::Value { .. } if full => Seen::here(run, value, true, None),
            Entry::Value { verdict, hash, .. } => Seen::Judged(verdict.clone(), Some(*hash)),
        }
    }

    /// What the device says of a value that it does not send.
    pub fn judged(score: &ScoredRun) -> Seen {
        match (&score.verdict, score.hash) {
            (Verdict::Failed(error), _) => Seen::Failed(*error),
            (verdict, hash) => Seen::Judged(verdict.clone(), hash),
        }
    }

    /// A score of the CPU, and what of it is compared.
    pub fn scored(workspace: &mut Workspace, job: &Job<'_>, limits: &Limits) -> (ScoredRun, Seen) {
        let score = score_job(workspace, job, limits);
        let functions = execute_job(workspace, job, limits, |run, outcome| {
            let owned = outcome.ok().and_then(|value| run.to_owned(value).ok());
            owned.is_some_and(|owned| holds_function(&owned))
        });
        let hash = score.hash.filter(|_| !functions);
        let seen = Seen::judged(&ScoredRun {
            hash,
            ..score.clone()
        });
        (score, seen)
    }

    fn agrees(&self, device: &Seen) -> bool {
        match (self, device) {
            (_, Seen::Left) => true,
            (Seen::Judged(a, None), Seen::Judged(b, _)) => a == b,
            (here, there) => here == there,
        }
    }
}

fn holds_function(value: &OwnedValue) -> bool {
    match value {
        OwnedValue::Function => true,
        OwnedValue::Tuple(items) | OwnedValue::Set(items) => items.iter().any(holds_function),
        _ => false,
    }
}

impl Verify {
    /// Does this share of all runs again.
    pub fn new(share: f64) -> Verify {
        Verify {
            threshold: (share > 0.0).then_some((share.min(1.0) * u64::MAX as f64) as u64),
            verified: 0,
            differing: 0,
            mismatches: Vec::new(),
        }
    }

    /// Is this run done again? It depends on its number alone, so the same ones are every time.
    pub fn chooses(&self, run: usize) -> bool {
        self.threshold
            .is_some_and(|most| SplitMix64::new(run as u64).number() <= most)
    }

    /// Compares a run that was done again.
    pub fn compare(&mut self, run: usize, cpu: &[Seen], device: &[Seen]) {
        self.verified += 1;
        let differs = |(_, (here, there)): &(usize, (&Seen, &Seen))| !here.agrees(there);
        let found = cpu.iter().zip(device).enumerate().find(differs);
        if let Some((entry, (here, there))) = found {
            self.differing += 1;
            self.mismatches.push(Mismatch {
                run,
                entry,
                device: there.to_string(),
                cpu: here.to_string(),
            });
            self.mismatches.truncate(MOST);
        }
    }
}

/// A worker keeps no more than this many.
const MOST: usize = 100;

#[cfg(test)]
mod tests {
    use batt_dsl::Fault;

    use super::*;

    #[test]
    fn a_share_of_the_runs() {
        let count = |share| {
            let verify = Verify::new(share);
            (0..10_000).filter(|run| verify.chooses(*run)).count()
        };
        assert_eq!((count(0.0), count(1.0)), (0, 10_000));
        let some = count(0.1);
        assert!((900..1100).contains(&some), "{some}");
    }

    #[test]
    fn the_first_difference_of_a_run_is_kept() {
        let mut verify = Verify::new(1.0);
        let value = |n| Seen::Value(OwnedValue::Int(n));
        let failed = Seen::Failed(RunError {
            fault: Fault::Type,
            step: None,
        });
        verify.compare(1, &[value(1), failed.clone()], &[value(1), failed.clone()]);
        verify.compare(
            2,
            &[value(1), value(2), value(3)],
            &[value(1), failed, value(4)],
        );
        assert_eq!((verify.verified, verify.differing), (2, 1));
        let found = &verify.mismatches[0];
        assert_eq!((found.run, found.entry), (2, 1));
        assert_eq!(
            (found.cpu.as_str(), found.device.as_str()),
            ("2", "TypeError")
        );
        verify.compare(3, &[value(1)], &[Seen::Left]);
        let hashed = |hash| [Seen::Judged(Verdict::Right, hash)];
        verify.compare(4, &hashed(None), &hashed(Some(5)));
        assert_eq!(verify.differing, 1);
        verify.compare(5, &hashed(Some(4)), &hashed(Some(5)));
        assert_eq!(verify.differing, 2);
    }
}
