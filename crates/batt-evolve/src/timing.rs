//! What the time of threads goes into: whoever wants it faster has to know.

use std::time::{Duration, Instant};

/// Something that threads are busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Making programs.
    Breed,
    /// Computing the values that programs are made from.
    Parts,
    /// Making bytecode of programs for devices.
    Encode,
    /// Putting together what devices are given.
    Send,
    /// Reading what devices give back.
    Read,
    /// Running programs on cores.
    Run,
    /// Running programs on cores that devices have left.
    Fallback,
    /// Running dear programs, one by one.
    Expensive,
    /// Choosing among offspring, and making the next population.
    Select,
    /// Looking closer at the best.
    Refine,
    /// Between two generations: what one thread does while the others wait.
    Between,
    /// Having nothing to do.
    Wait,
}

impl Stage {
    /// All stages.
    pub const ALL: [Stage; 12] = [
        Stage::Breed,
        Stage::Parts,
        Stage::Encode,
        Stage::Send,
        Stage::Read,
        Stage::Run,
        Stage::Fallback,
        Stage::Expensive,
        Stage::Select,
        Stage::Refine,
        Stage::Between,
        Stage::Wait,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Breed => "breed",
            Stage::Parts => "parts",
            Stage::Encode => "encode",
            Stage::Send => "send",
            Stage::Read => "read",
            Stage::Run => "run",
            Stage::Fallback => "fallback",
            Stage::Expensive => "expensive",
            Stage::Select => "select",
            Stage::Refine => "refine",
            Stage::Between => "between",
            Stage::Wait => "wait",
        }
    }
}

/// How long threads were busy with each stage, all together.
#[derive(Clone, Copy, Debug, Default)]
pub struct StageTimes([Duration; Stage::ALL.len()]);

impl StageTimes {
    /// Adds the time since some moment, and gives the moment that it is now.
    pub(crate) fn since(&mut self, stage: Stage, started: Instant) -> Instant {
        let now = Instant::now();
        self.0[stage as usize] += now.saturating_duration_since(started);
        now
    }

    /// The time of a stage.
    pub fn of(&self, stage: Stage) -> Duration {
        self.0[stage as usize]
    }

    /// Adds what other threads were busy with.
    pub fn add(&mut self, other: &StageTimes) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }
}
