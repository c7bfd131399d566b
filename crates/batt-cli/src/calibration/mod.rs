//! From how many runs on devices are faster than cores: measured on this machine, and kept.

mod auto;
mod crossover;
mod kept;
mod measure;

use std::time::Duration;

pub use self::auto::open;
pub use self::crossover::{Measured, Outcome};
pub use self::kept::{Calibration, Machine, Store};
pub use self::measure::measure;

/// How long `--device auto` measures: it keeps somebody waiting.
pub const SHORT: Duration = Duration::from_secs(2);

/// How long to measure for somebody who asks for it.
pub const LONG: Duration = Duration::from_secs(5);

/// With fewer runs nothing is measured: a device's code may still have to be compiled, which takes longer than they do.
const WORTH_MEASURING: usize = 20_000;

/// The same where the result cannot be kept.
const WORTH_MEASURING_EACH_TIME: usize = 100_000;

/// What `--device auto` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Runs on the processor.
    Cpu,
    /// Runs on devices.
    Devices,
    /// Finds out first.
    Measure,
}

/// What to do with so many runs, by what was measured earlier.
pub fn decide(runs: usize, known: Option<Outcome>, can_keep: impl FnOnce() -> bool) -> Decision {
    match known {
        Some(outcome) if outcome.devices_win(runs) => Decision::Devices,
        Some(_) => Decision::Cpu,
        None if runs < WORTH_MEASURING => Decision::Cpu,
        None if runs >= WORTH_MEASURING_EACH_TIME || can_keep() => Decision::Measure,
        None => Decision::Cpu,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_auto_does() {
        let (yes, no) = (|| true, || false);
        for (runs, decision) in [
            (4_999, Decision::Cpu),
            (5_000, Decision::Devices),
            (1 << 40, Decision::Devices),
        ] {
            assert_eq!(decide(runs, Some(Outcome::From(5_000)), no), decision);
            assert_eq!(decide(runs, Some(Outcome::Never), yes), Decision::Cpu);
        }
        // Nothing is known yet.
        assert_eq!(decide(100, None, yes), Decision::Cpu);
        assert_eq!(decide(20_000, None, yes), Decision::Measure);
        assert_eq!(decide(99_999, None, no), Decision::Cpu);
        assert_eq!(decide(100_000, None, no), Decision::Measure);
    }
}
