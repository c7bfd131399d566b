//! What devices did.

use batt_dsl::OpId;

use super::backend::{DeviceError, Times};
use super::launch::LaunchPass;
use super::results::Reason;

/// Where runs were finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// By a device, in the first launch.
    pub first: u64,
    /// By a device, in the exact launch.
    pub exact: u64,
    /// Left to the CPU, by reason.
    pub left: [u64; Reason::ALL.len()],
}

impl Counts {
    /// Counts one.
    pub fn add(&mut self, ended: Result<LaunchPass, Reason>) {
        self.add_many(ended, 1);
    }

    /// Counts several.
    pub fn add_many(&mut self, ended: Result<LaunchPass, Reason>, count: u64) {
        match ended {
            Ok(LaunchPass::First) => self.first += count,
            Ok(LaunchPass::Exact) => self.exact += count,
            Err(reason) => self.left[reason.index()] += count,
        }
    }

    /// Adds the counts of others.
    pub fn add_all(&mut self, other: &Counts) {
        self.first += other.first;
        self.exact += other.exact;
        for (sum, more) in self.left.iter_mut().zip(other.left) {
            *sum += more;
        }
    }

    /// Those that a device finished.
    pub fn finished(&self) -> u64 {
        self.first + self.exact
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.finished() + self.left.iter().sum::<u64>()
    }

    /// Those left, with why.
    pub fn reasons(&self) -> impl Iterator<Item = (Reason, u64)> {
        let all = Reason::ALL.into_iter().zip(self.left);
        all.filter(|(_, count)| *count > 0)
    }
}

/// What devices did in a mega-batch or an evaluation.
#[derive(Clone, Debug, Default)]
pub struct DeviceReport {
    /// Each device.
    pub devices: Vec<DeviceUsage>,
    /// Where runs were finished.
    pub runs: Counts,
    /// Where outputs, scores and comparisons of batts were: a run that a device has finished may have left some of them.
    pub entries: Counts,
    /// Calls and clock cycles of each primitive, if they were counted, the most expensive first.
    pub ops: Vec<DeviceOpCount>,
    /// Finished runs that the CPU did again.
    pub verified: u64,
    /// How many of those differ.
    pub differing: u64,
    /// The first of those that differ.
    pub mismatches: Vec<Mismatch>,
}

/// What one device did.
#[derive(Clone, Debug, Default)]
pub struct DeviceUsage {
    /// What it is called.
    pub name: String,
    /// Runs it was given.
    pub runs: u64,
    /// What that took.
    pub times: Times,
    /// What went wrong, in the order in which it did; the CPU has done those runs.
    pub errors: Vec<String>,
    /// Was it given up?
    pub lost: bool,
}

impl DeviceUsage {
    /// Notes what went wrong.
    pub(crate) fn note(&mut self, error: &DeviceError) {
        self.errors.push(error.to_string());
        self.lost |= error.is_final();
    }
}

impl DeviceReport {
    /// What all devices together took.
    pub fn times(&self) -> Times {
        let mut times = Times::default();
        for device in &self.devices {
            times.add(&device.times);
        }
        times
    }
}

/// A primitive on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceOpCount {
    /// Which.
    pub op: OpId,
    /// How often it was called.
    pub calls: u64,
    /// Clock cycles of all calls, without those of the calls inside.
    pub cycles: u64,
}

/// A run that gave something else on a device than on the CPU: a bug of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The run.
    pub run: usize,
    /// The entry: outputs first, then scores, then comparisons.
    pub entry: usize,
    /// What it was on the device.
    pub device: String,
    /// What it was on the CPU.
    pub cpu: String,
}

/// Differing runs are kept up to this many: one is enough to see that something is wrong.
const KEPT: usize = 10;

impl DeviceReport {
    /// Notes runs that were done again, and what differs.
    pub(crate) fn note(&mut self, verified: u64, differing: u64, mismatches: Vec<Mismatch>) {
        self.verified += verified;
        self.differing += differing;
        self.mismatches.extend(mismatches);
        self.mismatches.sort_by_key(|m| (m.run, m.entry));
        self.mismatches.truncate(KEPT);
    }
}

/// What each primitive did, by their counters; the most expensive first.
pub(crate) fn op_counts(counters: &[u64]) -> Vec<DeviceOpCount> {
    let mut ops: Vec<DeviceOpCount> = OpId::every()
        .zip(counters.chunks_exact(2))
        .map(|(op, counters)| DeviceOpCount {
            op,
            calls: counters[0],
            cycles: counters[1],
        })
        .filter(|count| count.calls > 0)
        .collect();
    ops.sort_by_key(|count| std::cmp::Reverse(count.cycles));
    ops
}
