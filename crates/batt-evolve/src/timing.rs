//! The time of the threads by stage.

use std::time::{Duration, Instant};

/// A stage of a generation, or between generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Making programs.
    Breed,
    /// Computing parts: the values that programs are made from.
    Parts,
    /// Encoding programs for devices.
    Encode,
    /// Collecting programs for a launch.
    Send,
    /// Reading the scores that devices return.
    Read,
    /// Running programs on the CPU.
    Run,
    /// Running programs on the CPU that devices could not complete.
    Fallback,
    /// Running expensive programs one by one.
    Expensive,
    /// Selecting among offspring, and making the next population.
    Select,
    /// Taking a closer look at the best offspring.
    Refine,
    /// Between two generations, on one thread.
    Between,
    /// Waiting for work.
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

    /// Returns the name in reports.
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

/// The time that all threads together spent on each stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct StageTimes([Duration; Stage::ALL.len()]);

impl StageTimes {
    /// Adds the time since `started` to a stage. Returns the current moment.
    pub(crate) fn since(&mut self, stage: Stage, started: Instant) -> Instant {
        let now = Instant::now();
        self.0[stage as usize] += now.saturating_duration_since(started);
        now
    }

    /// Returns the time of a stage.
    pub fn of(&self, stage: Stage) -> Duration {
        self.0[stage as usize]
    }

    /// Adds the times of other threads.
    pub fn add(&mut self, other: &StageTimes) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }
}
