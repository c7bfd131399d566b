//! Detects growth of memory in samples of its use.

/// The change of the memory in use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    pub first: u64,
    pub last: u64,
    pub largest: u64,
    /// The second and the last fifth of the time, if there are enough samples and rounds to judge.
    pub fifths: Option<[Part; 2]>,
}

/// The memory in use during a part of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    pub least: u64,
    pub mean: f64,
    pub most: u64,
}

impl Part {
    /// Summarises samples. Returns `None` if there are none.
    fn of(seen: &[u64]) -> Option<Part> {
        Some(Part {
            least: seen.iter().copied().min()?,
            mean: seen.iter().map(|&bytes| bytes as f64).sum::<f64>() / seen.len() as f64,
            most: seen.iter().copied().max()?,
        })
    }
}

/// The fewest samples that are judged.
const LEAST: usize = 25;

/// The largest increase that is not growth, as a fraction.
const TOLERANCE: f64 = 0.02;

impl Growth {
    /// Summarises samples in order of time, taken during a number of rounds of the same work.
    /// Returns `None` if no sample is known.
    pub fn of(seen: impl Iterator<Item = Option<u64>>, rounds: usize) -> Option<Growth> {
        let seen: Vec<u64> = seen.flatten().collect();
        let (first, last) = (*seen.first()?, *seen.last()?);
        let fifth = |k: usize| Part::of(&seen[k * seen.len() / 5..(k + 1) * seen.len() / 5]);
        let enough = seen.len() >= LEAST && rounds >= 5;
        Some(Growth {
            first,
            last,
            largest: seen.iter().copied().max()?,
            // By the second fifth all caches have their size. With fewer than five rounds the two
            // fifths would see different work.
            fifths: fifth(1)
                .zip(fifth(4))
                .filter(|_| enough)
                .map(|(second, last)| [second, last]),
        })
    }

    /// Returns the relative increase of the mean. Single runs may need much memory for a moment, so
    /// the maximum does not tell.
    pub fn share(&self) -> Option<f64> {
        self.share_of(|part| part.mean)
    }

    fn share_of(&self, what: impl Fn(&Part) -> f64) -> Option<f64> {
        let [second, last] = self.fifths.as_ref()?.each_ref().map(what);
        Some(last / second.max(1.0) - 1.0)
    }

    /// Returns whether the minimum, the mean and the maximum all grew. A leak raises all three;
    /// where memory fluctuates with the work, one or two may be larger by chance.
    pub fn is_too_much(&self) -> bool {
        let shares = [
            self.share_of(|part| part.least as f64),
            self.share(),
            self.share_of(|part| part.most as f64),
        ];
        let grown = |share: Option<f64>| share.is_some_and(|share| share > TOLERANCE);
        shares.into_iter().all(grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(seen: impl Iterator<Item = u64>) -> Growth {
        Growth::of(seen.map(Some), 5).unwrap()
    }

    #[test]
    fn warm_up_is_not_growth() {
        let warm = growth((0..100).map(|at| 1000 + 100 * at.min(19)));
        assert_eq!((warm.first, warm.last, warm.largest), (1000, 2900, 2900));
        assert!(!warm.is_too_much());
        let spike = growth((0..100).map(|at| if at == 90 { 1300 } else { 1000 }));
        assert!(!spike.is_too_much(), "{spike:?}");
        let saw = growth((0..100).map(|at| match at {
            80.. => 1000 + 30 * (at % 20),
            _ => 1000 + 29 * (at % 20) * (at % 2),
        }));
        assert!(saw.share().unwrap() > 0.02 && !saw.is_too_much(), "{saw:?}");
    }

    #[test]
    fn a_leak_is_found() {
        let leak = growth((0..300).map(|at| 10_000 + 2 * at));
        assert!(leak.is_too_much(), "{leak:?}");
        assert!(leak.share().unwrap() > 0.03);
        // A leak is also found if memory fluctuates, and fluctuation alone is not growth.
        let wave = |at: u64| 5_000 + 4_000 * (at % 7) + at % 3;
        let leak = growth((0..300).map(|at| wave(at) + 10 * at));
        assert!(leak.is_too_much(), "{leak:?}");
        let level = growth((0..300).map(|at| match at {
            252 => wave(at) * 21 / 20 - 2_000,
            240.. => wave(at) * 21 / 20,
            _ => wave(at),
        }));
        assert!(
            level.share().unwrap() > 0.02 && !level.is_too_much(),
            "{level:?}"
        );
    }

    #[test]
    fn few_samples_or_rounds_are_not_judged() {
        assert_eq!(Growth::of([None, None].into_iter(), 5), None);
        let short = growth([100, 200, 300].into_iter());
        assert_eq!(short.share(), None);
        assert!(!short.is_too_much());
        // The last fifth may run other work than the second.
        let one_round = Growth::of((0..100).map(Some), 4).unwrap();
        assert_eq!(one_round.share(), None);
    }
}
