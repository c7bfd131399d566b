//! A small hash index from packed keys to element numbers, for finding equal elements.

use super::layout::EMPTY;

/// Finds equal keys. Cleared for each use; the buffer is kept.
#[derive(Default)]
pub(crate) struct KeyIndex {
    slots: Vec<(u64, u32)>,
    shift: u32,
}

impl KeyIndex {
    /// Makes room for `n` keys and forgets all others.
    pub fn clear(&mut self, n: usize) {
        let size = (n * 2).next_power_of_two().max(16);
        self.shift = 64 - size.trailing_zeros();
        self.slots.clear();
        self.slots.resize(size, (0, EMPTY));
    }

    #[inline(always)]
    fn start(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// The number stored for a key that satisfies `same`, or `number`, newly stored.
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

    /// The number stored for an exact key.
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
}
