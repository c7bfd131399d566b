//! Retention: which solvers of a task an archive keeps when there are too many.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::str::FromStr;

use batt_arc::Score;

/// The number of solvers that an archive keeps for a task, and the rule that selects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// Keeps the best solvers. Solvers with the same grade (demonstrations solved and closeness)
    /// are equals. If not all equals fit, the archive keeps a diverse selection: it prefers
    /// different outputs, then different primitives, then smaller and cheaper solvers. The best
    /// solver always stays.
    Best {
        /// The number of solvers, at least one.
        per_task: usize,
    },
    /// The rule of the original system. While a task has *more* than `capacity` solvers before a
    /// save, its worst solver (fewest demonstrations solved, then highest cost) is removed. If the
    /// new solver solves fewer demonstrations than the worst one, the new one is refused instead.
    /// So a task can have one solver more than `capacity`, equals displace each other, and nothing
    /// is refused while there is room.
    Original {
        /// The number of solvers that a task may have before a save.
        capacity: usize,
    },
}

/// Parses a number of solvers such as `32`, or `original`.
impl FromStr for Retention {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Retention, &'static str> {
        /// The capacity of the original system.
        const CAPACITY: usize = 32;
        match (text, text.parse()) {
            ("original", _) => Ok(Retention::Original { capacity: CAPACITY }),
            (_, Ok(per_task @ 1..)) => Ok(Retention::Best { per_task }),
            _ => Err("write how many solvers of a task to keep, such as 32, or original"),
        }
    }
}

impl Default for Retention {
    fn default() -> Retention {
        Retention::Best { per_task: 32 }
    }
}

/// The properties of a solver that retention compares.
#[derive(Clone, Debug)]
pub(crate) struct Ranked<'a> {
    pub hash: &'a str,
    pub score: Score,
    pub outputs: u64,
    pub ops: &'a str,
}

impl Retention {
    /// Decides which solvers to keep. The first `old` are in the archive, in no particular order;
    /// the others are new, in the order in which they are saved.
    pub(crate) fn keep(&self, all: &[Ranked<'_>], old: usize) -> Vec<bool> {
        match *self {
            Retention::Best { per_task } => best(all, per_task.max(1)),
            Retention::Original { capacity } => original(all, old, capacity),
        }
    }

    /// Decides which solvers of the archive to keep.
    pub(crate) fn shrink(&self, all: &[Ranked<'_>]) -> Vec<bool> {
        match *self {
            Retention::Best { per_task } => best(all, per_task.max(1)),
            Retention::Original { capacity } => {
                let mut keep = vec![false; all.len()];
                let mut order: Vec<usize> = (0..all.len()).collect();
                order.sort_by_key(|&k| original_order(&all[k]));
                for &k in order.iter().take(capacity.max(1)) {
                    keep[k] = true;
                }
                keep
            }
        }
    }
}

fn best(all: &[Ranked<'_>], room: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&k| (all[k].score, all[k].hash));
    let mut keep = vec![false; all.len()];
    let mut left = room;
    let mut outputs = HashSet::new();
    let mut ops = HashSet::new();
    for equals in order.chunk_by(|&a, &b| all[a].score.grade() == all[b].score.grade()) {
        let mut waiting = equals.to_vec();
        while left > 0 && !waiting.is_empty() {
            // Chooses the first of those that differ most. The order does not matter while all have
            // room.
            let rank =
                |k: usize| match (outputs.contains(&all[k].outputs), ops.contains(all[k].ops)) {
                    (false, _) => 0,
                    (true, false) => 1,
                    (true, true) => 2,
                };
            let next = match waiting.len() <= left {
                true => 0,
                false => (0..waiting.len())
                    .min_by_key(|&at| rank(waiting[at]))
                    .unwrap_or(0),
            };
            let chosen = waiting.remove(next);
            keep[chosen] = true;
            outputs.insert(all[chosen].outputs);
            ops.insert(all[chosen].ops);
            left -= 1;
        }
    }
    keep
}

/// Returns the key of the original's order, the worst solver last. The original leaves ties to the
/// file system.
fn original_order<'a>(one: &Ranked<'a>) -> (Reverse<u32>, u64, u32, &'a str) {
    let Score {
        demos_solved,
        cost,
        size,
        ..
    } = one.score;
    (Reverse(demos_solved), cost, size, one.hash)
}

fn original(all: &[Ranked<'_>], old: usize, capacity: usize) -> Vec<bool> {
    let mut there: Vec<usize> = (0..old).collect();
    there.sort_by_key(|&k| original_order(&all[k]));
    for new in old..all.len() {
        let mut refused = false;
        while there.len() > capacity {
            let Some(&worst) = there.last() else { break };
            if all[new].score.demos_solved < all[worst].score.demos_solved {
                refused = true;
                break;
            }
            there.pop();
        }
        if !refused {
            let at =
                there.partition_point(|&k| original_order(&all[k]) < original_order(&all[new]));
            there.insert(at, new);
        }
    }
    let mut keep = vec![false; all.len()];
    for k in there {
        keep[k] = true;
    }
    keep
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(solved: u32, closeness: u32, size: u32) -> Score {
        Score {
            demos_solved: solved,
            demos: 4,
            closeness,
            size,
            cost: u64::from(size) * 10,
        }
    }

    fn ranked(
        hash: &'static str,
        score: Score,
        outputs: u64,
        ops: &'static str,
    ) -> Ranked<'static> {
        Ranked {
            hash,
            score,
            outputs,
            ops,
        }
    }

    fn kept<'a>(retention: Retention, all: &[Ranked<'a>], old: usize) -> Vec<&'a str> {
        let keep = retention.keep(all, old);
        let both = all.iter().zip(keep);
        both.filter(|(_, keep)| *keep)
            .map(|(one, _)| one.hash)
            .collect()
    }

    #[test]
    fn texts_of_retention() {
        assert_eq!("7".parse(), Ok(Retention::Best { per_task: 7 }));
        let original = Retention::Original { capacity: 32 };
        assert_eq!("original".parse(), Ok(original));
        for bad in ["0", "-1", "all", ""] {
            assert!(bad.parse::<Retention>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_best_stay() {
        let all = [
            ranked("bad", score(0, 5, 1), 1, "f"),
            ranked("good", score(4, 1_000_000, 9), 2, "f"),
            ranked("close", score(0, 900_000, 9), 3, "f"),
            ranked("some", score(1, 100, 9), 4, "f"),
        ];
        let best = |per_task| kept(Retention::Best { per_task }, &all, 2);
        assert_eq!(best(1), ["good"]);
        assert_eq!(best(2), ["good", "some"]);
        assert_eq!(best(3), ["good", "close", "some"]);
        assert_eq!(best(9).len(), 4);
        assert_eq!(best(0), ["good"], "the best one always stays");
    }

    #[test]
    fn equals_that_differ_stay() {
        let solved = score(4, 1_000_000, 3);
        let longer = score(4, 1_000_000, 30);
        let all = [
            ranked("a", solved, 7, "f g"),
            ranked("b", solved, 7, "f g"),
            ranked("c", longer, 7, "f h"),
            ranked("d", longer, 8, "f g"),
            ranked("e", score(3, 0, 1), 9, "z"),
        ];
        let best = |per_task| kept(Retention::Best { per_task }, &all, 0);
        assert_eq!(best(1), ["a"], "the smaller one");
        assert_eq!(best(2), ["a", "d"], "other outputs");
        assert_eq!(best(3), ["a", "c", "d"], "other primitives");
        assert_eq!(best(4), ["a", "b", "c", "d"], "not by a worse one");
    }

    #[test]
    fn the_original_rule() {
        let of = |hash, solved, cost| {
            let score = Score {
                cost,
                ..score(solved, 0, 1)
            };
            ranked(hash, score, 0, "")
        };
        let original = Retention::Original { capacity: 2 };
        // One more than the capacity fits, even with a score of 0.
        let three = [of("a", 2, 5), of("b", 1, 5), of("c", 0, 5)];
        assert_eq!(kept(original, &three, 2), ["a", "b", "c"]);
        // The fourth solver displaces the worst one.
        let four = [of("a", 2, 5), of("b", 1, 5), of("c", 0, 5), of("d", 0, 9)];
        assert_eq!(kept(original, &four, 3), ["a", "b", "d"]);
        // Cost breaks ties of score, and equals displace each other.
        let ties = [of("a", 1, 5), of("b", 1, 7), of("c", 1, 6), of("d", 1, 9)];
        assert_eq!(kept(original, &ties, 3), ["a", "c", "d"]);
        // A solver with a strictly lower score is refused.
        let less = [of("a", 2, 5), of("b", 2, 5), of("c", 1, 5), of("d", 0, 1)];
        assert_eq!(kept(original, &less, 3), ["a", "b", "c"]);
        // Saving removes solvers from an archive that is far above the capacity.
        let many = [
            of("a", 1, 5),
            of("b", 1, 6),
            of("c", 1, 7),
            of("d", 1, 8),
            of("e", 2, 1),
        ];
        assert_eq!(kept(original, &many, 4), ["a", "b", "e"]);
    }
}
