//! What became of runs.

use std::time::Duration;

use crate::device::Reason;

/// Why a run was left to the CPU. The first ones are `WaveReason` in `value.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum WaveReason {
    /// The iteration order of a set matters and is not known.
    Order,
    /// A value is too large for its layout.
    Size,
    /// The memory for payloads is full.
    Memory,
    /// Rare arguments.
    Odd,
    /// The CPU may reach a limit.
    Limit,
    /// A step that the device cannot run: an op without a body, a call of a computed function, an
    /// argument without a form there, too many steps.
    Missing,
    /// The device failed.
    Device,
}

impl WaveReason {
    /// All reasons.
    pub const ALL: [WaveReason; 7] = [
        WaveReason::Order,
        WaveReason::Size,
        WaveReason::Memory,
        WaveReason::Odd,
        WaveReason::Limit,
        WaveReason::Missing,
        WaveReason::Device,
    ];

    /// Returns the name for reports.
    pub fn name(self) -> &'static str {
        match self {
            WaveReason::Order => "set order",
            WaveReason::Size => "size",
            WaveReason::Memory => "memory",
            WaveReason::Odd => "rare arguments",
            WaveReason::Limit => "limits",
            WaveReason::Missing => "no device code",
            WaveReason::Device => "device error",
        }
    }
}

impl From<WaveReason> for Reason {
    fn from(reason: WaveReason) -> Reason {
        match reason {
            WaveReason::Order => Reason::Order,
            WaveReason::Size => Reason::Size,
            WaveReason::Memory => Reason::Arena,
            WaveReason::Odd => Reason::Odd,
            WaveReason::Limit => Reason::Fuel,
            WaveReason::Missing => Reason::Missing,
            WaveReason::Device => Reason::Device,
        }
    }
}

/// The totals of a call.
#[derive(Clone, Debug, Default)]
pub struct WaveReport {
    /// Runs that the device finished.
    pub finished: u64,
    /// Runs left to the CPU, by [`WaveReason`].
    pub left: [u64; WaveReason::ALL.len()],
    /// Distinct calls of ops, after sharing between programs.
    pub nodes: usize,
    /// Kernels started.
    pub launches: u64,
    /// Values that the kernels computed.
    pub items: u64,
    /// The work of each kernel, by its number, if it was [profiled](super::WaveEngine::profile).
    pub kernels: Vec<KernelWork>,
    /// Errors of the device.
    pub errors: Vec<String>,
}

/// The work of a kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelWork {
    /// How often it was launched.
    pub launches: u64,
    /// The calls of its op in plans.
    pub calls: u64,
    /// The values it computed.
    pub items: u64,
    /// The time it took.
    pub time: Duration,
}

impl WaveReport {
    /// Counts a launch of a kernel.
    pub(super) fn count(&mut self, kernel: usize, calls: usize, items: u64, time: Duration) {
        if self.kernels.len() <= kernel {
            self.kernels.resize(kernel + 1, KernelWork::default());
        }
        let work = &mut self.kernels[kernel];
        work.launches += 1;
        work.calls += calls as u64;
        work.items += items;
        work.time += time;
    }

    /// Returns the runs left to the CPU, with the reasons.
    pub fn reasons(&self) -> impl Iterator<Item = (WaveReason, u64)> {
        let all = WaveReason::ALL.into_iter().zip(self.left);
        all.filter(|(_, count)| *count > 0)
    }
}
