//! Where two series of times cross.

use std::time::Duration;

/// The same runs on devices and on all cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// How many runs.
    pub runs: usize,
    /// On devices, with all that belongs to it: they have to be opened first.
    pub devices: Duration,
    /// On all cores.
    pub cores: Duration,
}

impl Measured {
    fn devices_win(&self) -> bool {
        self.devices < self.cores
    }
}

/// What measurements come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Devices are faster from so many runs on.
    From(usize),
    /// The cores are always faster.
    Never,
}

impl Outcome {
    /// Are devices faster with so many runs?
    pub fn devices_win(self, runs: usize) -> bool {
        matches!(self, Outcome::From(least) if runs >= least)
    }

    /// What measurements, the smallest first, come to: the smallest number of runs from which devices win in all
    /// larger measurements. Where they win in none, time may have run out before they made up for being opened; then
    /// it is where the two would meet if they went on as between the last two.
    pub fn of(measured: &[Measured]) -> Outcome {
        let winning = measured.iter().rev().take_while(|m| m.devices_win());
        match winning.last() {
            Some(first) => Outcome::From(first.runs),
            None => projected(measured).map_or(Outcome::Never, Outcome::From),
        }
    }

    /// Have devices won so clearly that more runs would not change it?
    pub fn is_clear(measured: &[Measured]) -> bool {
        let last = &measured[measured.len().saturating_sub(CLEAR_TWICE)..];
        last.len() == CLEAR_TWICE && last.iter().all(|m| 2 * m.devices < m.cores)
    }
}

/// So many clear measurements one after the other are no accident.
const CLEAR_TWICE: usize = 2;

/// A run more has to cost devices at most this share of what it costs the cores: less is lost in noise.
const CHEAPER: f64 = 0.8;

/// Nobody has more runs than this times those measured, and no line is straight for that long.
const REACH: f64 = 64.0;

/// Where the lines through the last two measurements meet, if devices gain on the cores.
fn projected(measured: &[Measured]) -> Option<usize> {
    let [.., a, b] = measured else { return None };
    let more = (b.runs - a.runs.min(b.runs)) as f64;
    let a_run = |from: Duration, to: Duration| (to.as_secs_f64() - from.as_secs_f64()) / more;
    let devices = a_run(a.devices, b.devices).max(0.0);
    let cores = a_run(a.cores, b.cores);
    // Not a number, if both have as many runs, is no gain either.
    let gains = cores > 0.0 && devices < CHEAPER * cores;
    let behind = b.devices.saturating_sub(b.cores).as_secs_f64();
    let runs = b.runs as f64 + behind / (cores - devices);
    (gains && runs <= REACH * b.runs as f64).then(|| runs.round() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(all: &[(usize, u64, u64)]) -> Vec<Measured> {
        let measured = |&(runs, devices, cores): &(usize, u64, u64)| Measured {
            runs,
            devices: Duration::from_millis(devices),
            cores: Duration::from_millis(cores),
        };
        all.iter().map(measured).collect()
    }

    fn outcome(all: &[(usize, u64, u64)]) -> Outcome {
        Outcome::of(&series(all))
    }

    #[test]
    fn the_smallest_from_which_devices_win_for_good() {
        let all = [(100, 50, 5), (200, 50, 10), (400, 51, 80), (800, 52, 160)];
        assert_eq!(outcome(&all), Outcome::From(400));
        // A win among losses is an accident.
        let all = [(100, 1, 5), (200, 50, 10), (400, 51, 80)];
        assert_eq!(outcome(&all), Outcome::From(400));
        assert_eq!(outcome(&[(100, 1, 5), (200, 2, 10)]), Outcome::From(100));
    }

    #[test]
    fn devices_that_never_win() {
        assert_eq!(outcome(&[]), Outcome::Never);
        assert_eq!(outcome(&[(100, 5, 5)]), Outcome::Never);
        assert_eq!(outcome(&[(100, 50, 5), (200, 100, 10)]), Outcome::Never);
        // The last one counts.
        assert_eq!(outcome(&[(100, 1, 5), (200, 100, 10)]), Outcome::Never);
        // They gain too little to ever get there.
        assert_eq!(
            outcome(&[(100, 50_000, 5), (200, 50_000, 10)]),
            Outcome::Never
        );
        assert_eq!(outcome(&[(100, 9, 5), (100, 9, 5)]), Outcome::Never);
    }

    #[test]
    fn where_time_ran_out_before_devices_won() {
        // 10 runs a millisecond on the cores, for nothing on the device: 480 ms behind after 200 runs.
        let all = [(100, 500, 10), (200, 500, 20)];
        assert_eq!(outcome(&all), Outcome::From(5_000));
    }

    #[test]
    fn when_it_is_clear() {
        let clear = |all: &[(usize, u64, u64)]| Outcome::is_clear(&series(all));
        assert!(!clear(&[]));
        assert!(!clear(&[(100, 1, 5)]));
        assert!(clear(&[(100, 9, 5), (200, 1, 5), (400, 1, 5)]));
        assert!(!clear(&[(200, 1, 5), (400, 3, 5)]));
    }
}
