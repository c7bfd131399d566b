//! A small hash index from packed keys to element numbers, for finding equal elements.

use super::layout::EMPTY;

/// The most keys for which an index is cleared quickly.
const SOME: usize = 2048;
/// The most keys for which the index is made large enough at once. A larger one grows with the
/// number of different keys.
const MANY: usize = 1 << 14;

/// An index that finds equal keys. It is cleared for each use, and its buffer is kept.
#[derive(Default)]
pub(crate) struct KeyIndex {
    slots: Vec<(u64, u32)>,
    shift: u32,
    /// The buffer of the table before it grew.
    spare: Vec<(u64, u32)>,
}

impl KeyIndex {
    /// Removes all keys and makes room for `n` keys.
    pub fn clear(&mut self, n: usize) {
        let size = (n * 2).next_power_of_two().max(16);
        self.shift = 64 - size.trailing_zeros();
        self.slots.clear();
        self.slots.resize(size, (0, EMPTY));
    }

    /// Removes all keys, and prepares for `n` keys of which most may be equal. The caller has to
    /// [make room](KeyIndex::make_room) after every insertion.
    pub fn clear_for_some_of(&mut self, n: usize) {
        self.clear(n.min(SOME));
    }

    /// Makes room for one more key, given the present number of keys.
    #[inline(always)]
    pub fn make_room(&mut self, keys: usize) {
        if keys * 2 >= self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        std::mem::swap(&mut self.slots, &mut self.spare);
        self.clear(self.spare.len() * 2);
        let mask = self.slots.len() - 1;
        for &(key, number) in self.spare.iter().filter(|slot| slot.1 != EMPTY) {
            let mut at = self.start(key);
            while self.slots[at].1 != EMPTY {
                at = (at + 1) & mask;
            }
            self.slots[at] = (key, number);
        }
    }

    #[inline(always)]
    fn start(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// Returns the number stored for a key that satisfies `same`, or stores and returns `number`.
    #[inline(always)]
    pub fn find_or_insert(
        &mut self,
        key: u64,
        number: u32,
        mut same: impl FnMut(u32) -> bool,
    ) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = self.start(key);
        loop {
            let (k, n) = self.slots[at];
            if n == EMPTY {
                self.slots[at] = (key, number);
                return number;
            }
            if k == key && same(n) {
                return n;
            }
            at = (at + 1) & mask;
        }
    }

    /// Gathers the different items of several lists, and reports the number of each item through
    /// `name`, with positions counted list after list. `total` is the number of items in all lists.
    pub fn gather<'a, T: Copy + 'a>(
        &mut self,
        lists: impl Iterator<Item = &'a [T]>,
        total: usize,
        kept: &mut Vec<T>,
        key: impl Fn(T) -> u64,
        mut name: impl FnMut(usize, u32),
    ) {
        self.clear(total.min(MANY));
        let mut at = 0;
        for list in lists {
            for &item in list {
                let new = kept.len() as u32;
                let number = self.find_or_insert(key(item), new, |_| true);
                if number == new {
                    kept.push(item);
                    self.make_room(kept.len());
                }
                name(at, number);
                at += 1;
            }
        }
    }

    /// Returns the number stored for an exact key.
    #[inline(always)]
    pub fn get(&self, key: u64) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = self.start(key);
        loop {
            let (k, n) = self.slots[at];
            if n == EMPTY {
                return None;
            }
            if k == key {
                return Some(n);
            }
            at = (at + 1) & mask;
        }
    }

    /// Removes repeated items, in place and in order.
    pub(crate) fn dedupe<T: Copy>(&mut self, items: &mut Vec<T>, key: impl Fn(T) -> u64) {
        // For a handful of items quadratic comparison is faster than filling a table.
        if items.len() <= 8 {
            let mut kept = 0;
            for at in 0..items.len() {
                let item = items[at];
                if !items[..kept].iter().any(|&other| key(other) == key(item)) {
                    items[kept] = item;
                    kept += 1;
                }
            }
            items.truncate(kept);
            return;
        }
        self.clear(items.len());
        let mut kept = 0;
        for at in 0..items.len() {
            let item = items[at];
            let number = kept as u32;
            if self.find_or_insert(key(item), number, |_| true) == number {
                items[kept] = item;
                kept += 1;
            }
        }
        items.truncate(kept);
    }
}
