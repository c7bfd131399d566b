//! What became of runs.

/// Why a run was left to the CPU. The first ones are `Reason` in `value.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
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

impl Reason {
    /// All reasons.
    pub const ALL: [Reason; 7] = [
        Reason::Order,
        Reason::Size,
        Reason::Memory,
        Reason::Odd,
        Reason::Limit,
        Reason::Missing,
        Reason::Device,
    ];

    /// Returns the name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Order => "set order",
            Reason::Size => "size",
            Reason::Memory => "memory",
            Reason::Odd => "rare arguments",
            Reason::Limit => "limits",
            Reason::Missing => "no device code",
            Reason::Device => "device error",
        }
    }
}

/// The totals of a call.
#[derive(Clone, Debug, Default)]
pub struct WaveReport {
    /// Runs that the device finished.
    pub finished: u64,
    /// Runs left to the CPU, by [`Reason`].
    pub left: [u64; Reason::ALL.len()],
    /// Distinct calls of ops, after sharing between programs.
    pub nodes: usize,
    /// Kernels started.
    pub launches: u64,
    /// Values that the kernels computed.
    pub items: u64,
    /// Errors of the device.
    pub errors: Vec<String>,
}

impl WaveReport {
    /// Returns the runs left to the CPU, with the reasons.
    pub fn reasons(&self) -> impl Iterator<Item = (Reason, u64)> {
        let all = Reason::ALL.into_iter().zip(self.left);
        all.filter(|(_, count)| *count > 0)
    }
}
