//! CPython's `list.sort`, comparison by comparison.
//!
//! Any stable sort gives the same result if keys are totally ordered. Sets, which compare by
//! inclusion, and nan are not totally ordered. Then the result depends on which keys are compared,
//! and in which order. So this module follows CPython 3.11: natural runs, binary insertion up to
//! the shortest wanted run, merges in the order of the powers of the boundaries, and galloping.

use crate::fault::Outcome;
use crate::run::Run;
use crate::value::Value;

/// The number of consecutive wins of one side after which a merge gallops.
const MIN_GALLOP: usize = 7;

/// The shortest list that is merged. Shorter lists are sorted by binary insertion alone.
const MIN_MERGE: usize = 64;

/// Sorts numbers by their keys, in ascending order. Numbers with equal keys keep their order.
pub(super) fn sort<'r>(
    run: &mut Run<'r>,
    numbers: Vec<u32>,
    keys: &[Value<'r>],
) -> Outcome<Vec<u32>> {
    if numbers.len() >= MIN_MERGE {
        let levels = numbers.len().next_power_of_two().ilog2() as usize;
        run.spend(numbers.len().saturating_mul(levels))?;
    }
    run.in_loop(|run, state| {
        let mut sorter = Sorter {
            list: numbers,
            less: |a: u32, b: u32| run.lt_in_loop(state, keys[a as usize], keys[b as usize]),
            min_gallop: MIN_GALLOP,
        };
        sorter.sort()?;
        Ok(sorter.list)
    })
}

/// A sorted stretch of the list.
#[derive(Clone, Copy)]
struct Stretch {
    base: usize,
    len: usize,
    /// The power of the boundary to the next stretch.
    power: u32,
}

struct Sorter<F> {
    list: Vec<u32>,
    less: F,
    min_gallop: usize,
}

impl<F: FnMut(u32, u32) -> Outcome<bool>> Sorter<F> {
    fn sort(&mut self) -> Outcome<()> {
        let len = self.list.len();
        if len < 2 {
            return Ok(());
        }
        let shortest = shortest_run(len);
        let mut pending: Vec<Stretch> = Vec::new();
        let mut base = 0;
        while base < len {
            let mut run = self.natural_run(base)?;
            if run < shortest {
                let forced = shortest.min(len - base);
                self.insert(base, base + run, base + forced)?;
                run = forced;
            }
            if let Some(last) = pending.last() {
                let power = power(last.base, last.len, run, len);
                while let [.., before, _] = *pending
                    && before.power > power
                {
                    let at = pending.len() - 2;
                    self.merge_at(&mut pending, at)?;
                }
                if let Some(last) = pending.last_mut() {
                    last.power = power;
                }
            }
            pending.push(Stretch {
                base,
                len: run,
                power: 0,
            });
            base += run;
        }
        while pending.len() > 1 {
            let mut at = pending.len() - 2;
            if at > 0 && pending[at - 1].len < pending[at + 1].len {
                at -= 1;
            }
            self.merge_at(&mut pending, at)?;
        }
        Ok(())
    }

    /// Returns the length of the natural run that begins here, and reverses a descending one.
    fn natural_run(&mut self, base: usize) -> Outcome<usize> {
        let rest = &mut self.list[base..];
        if rest.len() < 2 {
            return Ok(rest.len());
        }
        let mut len = 2;
        let descending = (self.less)(rest[1], rest[0])?;
        while len < rest.len() && (self.less)(rest[len], rest[len - 1])? == descending {
            len += 1;
        }
        if descending {
            rest[..len].reverse();
        }
        Ok(len)
    }

    /// Inserts the elements from `start` to `end` into the sorted ones before them, by binary
    /// search.
    fn insert(&mut self, base: usize, start: usize, end: usize) -> Outcome<()> {
        for at in start..end {
            let pivot = self.list[at];
            let (mut low, mut high) = (base, at);
            while low < high {
                let middle = low + (high - low) / 2;
                if (self.less)(pivot, self.list[middle])? {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            self.list.copy_within(low..at, low + 1);
            self.list[low] = pivot;
        }
        Ok(())
    }

    /// Merges a stretch with the next.
    fn merge_at(&mut self, pending: &mut Vec<Stretch>, at: usize) -> Outcome<()> {
        let (a, b) = (pending[at], pending.remove(at + 1));
        pending[at].len = a.len + b.len;
        let list = std::mem::take(&mut self.list);
        let (left, right) = (&list[a.base..b.base], &list[b.base..b.base + b.len]);
        // Elements at either end that are in place already stay there.
        let from = self.gallop_right(right[0], left, 0)?;
        let to = match left.last() {
            Some(&last) if from < left.len() => self.gallop_left(last, right, right.len() - 1)?,
            _ => 0,
        };
        self.list = list;
        let (from, len_a) = (a.base + from, a.len - from);
        if len_a == 0 || to == 0 {
            return Ok(());
        }
        if len_a <= to {
            self.merge_low(from, len_a, to)
        } else {
            self.merge_high(from, len_a, to)
        }
    }

    /// Returns the position of a key in a sorted list, before equal keys. The search starts at
    /// `hint`.
    fn gallop_left(&mut self, key: u32, list: &[u32], hint: usize) -> Outcome<usize> {
        let (mut low, mut high);
        let mut step = 1;
        let mut last = 0;
        if (self.less)(list[hint], key)? {
            let most = list.len() - hint;
            while step < most && (self.less)(list[hint + step], key)? {
                last = step;
                step = 2 * step + 1;
            }
            (low, high) = (hint + last + 1, hint + step.min(most));
        } else {
            let most = hint + 1;
            while step < most && !(self.less)(list[hint - step], key)? {
                last = step;
                step = 2 * step + 1;
            }
            (low, high) = (hint + 1 - step.min(most), hint - last);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if (self.less)(list[middle], key)? {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(high)
    }

    /// Returns the position of a key in a sorted list, after equal keys. The search starts at
    /// `hint`.
    fn gallop_right(&mut self, key: u32, list: &[u32], hint: usize) -> Outcome<usize> {
        let (mut low, mut high);
        let mut step = 1;
        let mut last = 0;
        if (self.less)(key, list[hint])? {
            let most = hint + 1;
            while step < most && (self.less)(key, list[hint - step])? {
                last = step;
                step = 2 * step + 1;
            }
            (low, high) = (hint + 1 - step.min(most), hint - last);
        } else {
            let most = list.len() - hint;
            while step < most && !(self.less)(key, list[hint + step])? {
                last = step;
                step = 2 * step + 1;
            }
            (low, high) = (hint + last + 1, hint + step.min(most));
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if (self.less)(key, list[middle])? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(high)
    }

    /// Merges two neighbouring stretches from the front. The first one is not the longer one.
    fn merge_low(&mut self, base: usize, len_a: usize, len_b: usize) -> Outcome<()> {
        let left = self.list[base..base + len_a].to_vec();
        let end = base + len_a + len_b;
        // The next element of either side, and its destination.
        let (mut a, mut b, mut to) = (0, base + len_a, base);
        self.list[to] = self.list[b];
        (b, to) = (b + 1, to + 1);
        // The last element of the left side is greater than all of the right side and needs no
        // comparison.
        let done = |a: usize, b: usize| b == end || len_a - a <= 1;
        let mut min_gallop = self.min_gallop;
        'merge: while !done(a, b) {
            let (mut wins_a, mut wins_b) = (0, 0);
            while wins_a < min_gallop && wins_b < min_gallop {
                if (self.less)(self.list[b], left[a])? {
                    self.list[to] = self.list[b];
                    (b, wins_b, wins_a) = (b + 1, wins_b + 1, 0);
                } else {
                    self.list[to] = left[a];
                    (a, wins_a, wins_b) = (a + 1, wins_a + 1, 0);
                }
                to += 1;
                if done(a, b) {
                    break 'merge;
                }
            }
            min_gallop += 1;
            loop {
                min_gallop = (min_gallop - 1).max(1);
                self.min_gallop = min_gallop;
                let count_a = self.gallop_right(self.list[b], &left[a..], 0)?;
                self.list[to..to + count_a].copy_from_slice(&left[a..a + count_a]);
                (a, to) = (a + count_a, to + count_a);
                if count_a > 0 && done(a, b) {
                    break 'merge;
                }
                self.list[to] = self.list[b];
                (b, to) = (b + 1, to + 1);
                if b == end {
                    break 'merge;
                }
                let list = std::mem::take(&mut self.list);
                let count_b = self.gallop_left(left[a], &list[b..end], 0);
                self.list = list;
                let count_b = count_b?;
                self.list.copy_within(b..b + count_b, to);
                (b, to) = (b + count_b, to + count_b);
                if b == end {
                    break 'merge;
                }
                self.list[to] = left[a];
                (a, to) = (a + 1, to + 1);
                if done(a, b) {
                    break 'merge;
                }
                if count_a < MIN_GALLOP && count_b < MIN_GALLOP {
                    break;
                }
            }
            min_gallop += 1;
            self.min_gallop = min_gallop;
        }
        if b < end && len_a - a == 1 {
            self.list.copy_within(b..end, to);
            self.list[end - 1] = left[a];
        } else {
            let rest = &left[a..];
            self.list[to..to + rest.len()].copy_from_slice(rest);
        }
        Ok(())
    }

    /// Merges two neighbouring stretches from the back. The second one is the shorter one.
    fn merge_high(&mut self, base: usize, len_a: usize, len_b: usize) -> Outcome<()> {
        let right = self.list[base + len_a..base + len_a + len_b].to_vec();
        // The remaining elements of either side; the next destination is behind all of them.
        let (mut a, mut b) = (len_a, len_b);
        let last = |a: usize, b: usize| base + a + b - 1;
        self.list[last(a, b)] = self.list[base + a - 1];
        a -= 1;
        // The first element of the right side is less than all of the left side and needs no
        // comparison.
        let done = |a: usize, b: usize| a == 0 || b <= 1;
        let mut min_gallop = self.min_gallop;
        'merge: while !done(a, b) {
            let (mut wins_a, mut wins_b) = (0, 0);
            while wins_a < min_gallop && wins_b < min_gallop {
                if (self.less)(right[b - 1], self.list[base + a - 1])? {
                    self.list[last(a, b)] = self.list[base + a - 1];
                    (a, wins_a, wins_b) = (a - 1, wins_a + 1, 0);
                } else {
                    self.list[last(a, b)] = right[b - 1];
                    (b, wins_b, wins_a) = (b - 1, wins_b + 1, 0);
                }
                if done(a, b) {
                    break 'merge;
                }
            }
            min_gallop += 1;
            loop {
                min_gallop = (min_gallop - 1).max(1);
                self.min_gallop = min_gallop;
                let list = std::mem::take(&mut self.list);
                let kept = self.gallop_right(right[b - 1], &list[base..base + a], a - 1);
                self.list = list;
                let kept = kept?;
                let count_a = a - kept;
                self.list
                    .copy_within(base + kept..base + a, base + kept + b);
                a = kept;
                if a == 0 {
                    break 'merge;
                }
                self.list[last(a, b)] = right[b - 1];
                b -= 1;
                if b == 1 {
                    break 'merge;
                }
                let kept = self.gallop_left(self.list[base + a - 1], &right[..b], b - 1)?;
                let count_b = b - kept;
                self.list[base + a + kept..base + a + b].copy_from_slice(&right[kept..b]);
                b = kept;
                if count_b > 0 && b <= 1 {
                    break 'merge;
                }
                self.list[last(a, b)] = self.list[base + a - 1];
                a -= 1;
                if a == 0 {
                    break 'merge;
                }
                if count_a < MIN_GALLOP && count_b < MIN_GALLOP {
                    break;
                }
            }
            min_gallop += 1;
            self.min_gallop = min_gallop;
        }
        if a > 0 && b == 1 {
            self.list.copy_within(base..base + a, base + 1);
            self.list[base] = right[0];
        } else {
            self.list[base + a..base + a + b].copy_from_slice(&right[..b]);
        }
        Ok(())
    }
}

/// Returns the length to which shorter runs are extended by insertion. It makes the number of runs
/// a power of two, or slightly less.
fn shortest_run(mut len: usize) -> usize {
    let mut rest = 0;
    while len >= MIN_MERGE {
        rest |= len & 1;
        len >>= 1;
    }
    len + rest
}

/// Returns the depth of the boundary between two neighbouring runs in a balanced tree of merges.
fn power(base: usize, len_a: usize, len_b: usize, total: usize) -> u32 {
    let mut a = 2 * base + len_a;
    let mut b = a + len_a + len_b;
    let mut power = 1;
    loop {
        if a >= total {
            a -= total;
            b -= total;
        } else if b >= total {
            return power;
        }
        a *= 2;
        b *= 2;
        power += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::run::{Limits, Workspace};

    /// Returns the numbers of the keys in sorted order.
    fn sorted(keys: impl for<'r> FnOnce(&mut Run<'r>) -> Outcome<Vec<Value<'r>>>) -> Vec<u32> {
        Workspace::new()
            .run(Dialect::Tokpidjin, &Limits::default(), |run| {
                let keys = keys(run)?;
                sort(run, (0..keys.len() as u32).collect(), &keys)
            })
            .unwrap()
    }

    #[test]
    fn equal_keys_keep_their_order() {
        // Runs up and down with many equals, long enough for merges in both directions and
        // galloping.
        for len in [2, 63, 64, 65, 200, 1000, 3000] {
            for shape in 0..6i64 {
                let key = |k: i64| match shape {
                    0 => k * 7919 % 101,
                    1 => (k % 90 - 45).abs(),
                    2 => k / 100 * 31 % 17 * 1000 + k % 100,
                    3 => -k / 3,
                    4 => (k * k) % 1009 + k,
                    _ => i64::from(k > len / 3) * (k % 7),
                };
                let found = sorted(|_| Ok((0..len).map(|k| Value::Int(key(k))).collect()));
                let mut expected: Vec<u32> = (0..len as u32).collect();
                expected.sort_by_key(|&k| key(k.into()));
                assert_eq!(found, expected, "{len} of shape {shape}");
            }
        }
    }

    #[test]
    fn nan_is_sorted_as_in_cpython() {
        let short = [3.0, f64::NAN, 1.0, 2.0, f64::NAN, 0.0];
        let found = sorted(|_| Ok(short.into_iter().map(Value::float).collect()));
        assert_eq!(found, [0, 1, 2, 3, 4, 5]);
        fn key<'r>(k: i64) -> Value<'r> {
            match k % 11 {
                5 => Value::NAN,
                _ => Value::Int(k * 37 % 101),
            }
        }
        let found = sorted(|_| Ok((0..100).map(key).collect()));
        let found: Vec<_> = found.iter().map(|&k| key(k.into()).as_int()).collect();
        let nans: Vec<_> = (0..100).filter(|&at| found[at].is_none()).collect();
        assert_eq!(nans, [26, 39, 45, 48, 49, 90, 92, 96, 98]);
        let around = [40, 43, 46, 47, 57, 74, 49].map(Some);
        assert_eq!((&found[20..26], found[27]), (&around[..6], around[6]));
        assert_eq!(found[99], Some(91));
    }

    #[test]
    fn sets_are_sorted_as_in_cpython() {
        let found = sorted(|run| {
            let mut keys = Vec::new();
            for k in 0..80 {
                let from = k * 7 % 5;
                let members: Vec<_> = (from..from + k * 3 % 4).map(Value::Int).collect();
                keys.push(Value::Set(run.build(&members)?));
            }
            Ok(keys)
        });
        let expected = [
            0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 7, 1, 2,
            3, 11, 23, 31, 5, 39, 6, 14, 9, 15, 10, 18, 19, 13, 27, 22, 17, 21, 30, 25, 26, 34, 29,
            33, 35, 47, 41, 42, 37, 43, 51, 63, 71, 38, 45, 79, 46, 54, 49, 55, 50, 58, 59, 53, 67,
            62, 57, 61, 70, 65, 66, 74, 69, 73, 75, 77, 78,
        ];
        assert_eq!(found, expected);
    }
}
