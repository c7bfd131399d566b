//! CPython's set table, simulated slot by slot.
//!
//! The simulation works on element *numbers*: a set keeps its distinct elements in an array, and
//! the table holds positions in that array. Elements are equal exactly when their numbers are, so
//! the simulation never compares keys, and it looks hashes up by number.

/// A slot that never held anything.
pub(crate) const EMPTY: u32 = u32::MAX;
/// A slot whose element was removed. Lookups step over it and it is never used again.
pub(crate) const DUMMY: u32 = u32::MAX - 1;

/// The number of neighbouring slots that CPython tries before it jumps.
const LINEAR_PROBES: usize = 9;

/// Returns the slots that CPython tries for an element of this hash, without an end.
pub(super) fn probes(hash: u64, size: usize) -> impl Iterator<Item = usize> {
    let mask = size - 1;
    let (mut at, mut perturb, mut linear) = (hash as usize & mask, hash, 0);
    std::iter::from_fn(move || {
        let slot = at + linear;
        if linear < LINEAR_PROBES && at + LINEAR_PROBES <= mask {
            linear += 1;
        } else {
            perturb >>= 5;
            let next = at.wrapping_mul(5).wrapping_add(1);
            at = next.wrapping_add(perturb as usize) & mask;
            linear = 0;
        }
        Some(slot)
    })
}

/// Returns a bit for each free slot among those that CPython tries before it jumps.
#[inline(always)]
fn free_in(window: &[u32; 1 + LINEAR_PROBES]) -> u32 {
    let bits = (0..)
        .zip(window)
        .map(|(k, &slot)| u32::from(slot == EMPTY) << k);
    bits.fold(0, |free, bit| free | bit)
}

/// Moves the live elements to the front, in their order, and returns their number. There is no
/// branch per slot, because it would be mostly mispredicted.
fn take_live(slots: &mut [u32]) -> usize {
    let mut live = 0;
    for at in 0..slots.len() {
        let element = slots[at];
        slots[live] = element;
        live += usize::from(element < DUMMY);
    }
    live
}

/// A finished table.
pub(crate) struct Layout<'r> {
    /// The number of live elements and dummies.
    pub fill: u32,
    /// Element numbers, [`EMPTY`] or [`DUMMY`].
    pub slots: &'r [u32],
    /// Element numbers in iteration order.
    pub order: &'r [u32],
}

/// A table under construction. Its buffers are reused for the next construction.
#[derive(Default)]
pub(crate) struct Table {
    pub slots: Vec<u32>,
    pub fill: usize,
    pub used: usize,
    spare: Vec<u32>,
}

impl Table {
    /// Begins a new set with 8 empty slots.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.slots.resize(8, EMPTY);
        self.fill = 0;
        self.used = 0;
    }

    #[inline(always)]
    fn mask(&self) -> usize {
        self.slots.len() - 1
    }

    /// Follows the probe sequence to `element` or to the empty slot that ends it.
    #[inline(always)]
    pub(super) fn probe(slots: &[u32], hash: u64, element: u32) -> usize {
        let mask = slots.len() - 1;
        let mut perturb = hash;
        let mut i = hash as usize & mask;
        let ends = |slot: u32| slot == EMPTY || slot == element;
        loop {
            if ends(slots[i]) {
                return i;
            }
            if i + LINEAR_PROBES <= mask {
                let next = &slots[i + 1..=i + LINEAR_PROBES];
                if let Some(step) = next.iter().position(|&slot| ends(slot)) {
                    return i + 1 + step;
                }
            }
            perturb >>= 5;
            i = i
                .wrapping_mul(5)
                .wrapping_add(1)
                .wrapping_add(perturb as usize)
                & mask;
        }
    }

    /// Adds an element unless it is present, growing like CPython.
    #[inline(always)]
    pub fn add(&mut self, hashes: &[u64], element: u32) {
        let at = Table::probe(&self.slots, hashes[element as usize], element);
        if self.slots[at] == element {
            return;
        }
        self.slots[at] = element;
        self.fill += 1;
        self.used += 1;
        if self.fill * 5 >= self.mask() * 3 {
            self.grow(hashes);
        }
    }

    /// Adds elements known to be absent, growing like CPython.
    #[inline(always)]
    pub fn add_new(&mut self, hashes: &[u64], elements: impl Iterator<Item = u32>) {
        // The elements are absent, so only a free slot is needed. `room` stays in a register and
        // counts the elements that fit before the table grows.
        let mut room = self.room();
        for element in elements {
            Table::insert_clean(&mut self.slots, hashes[element as usize], element);
            self.used += 1;
            room -= 1;
            if room == 0 {
                self.fill = self.used;
                self.grow(hashes);
                room = self.room();
            }
        }
        self.fill = self.used;
    }

    /// Returns the number of elements that can be added until the table grows, including the one
    /// that makes it grow. The table must have no dummies.
    #[inline(always)]
    fn room(&self) -> usize {
        (self.mask() * 3).div_ceil(5) - self.used
    }

    #[inline(never)]
    fn grow(&mut self, hashes: &[u64]) {
        let factor = if self.used > 50_000 { 2 } else { 4 };
        self.resize(hashes, self.used * factor);
    }

    /// Places an element known to be absent, without growing.
    #[inline(always)]
    pub(super) fn insert_clean(slots: &mut [u32], hash: u64, element: u32) {
        let home = hash as usize & (slots.len() - 1);
        let at = match slots[home] {
            EMPTY => home,
            _ => Table::beyond(slots, hash, home),
        };
        slots[at] = element;
    }

    /// Returns the free slot for an element whose first slot is taken.
    #[inline(always)]
    fn beyond(slots: &[u32], hash: u64, home: usize) -> usize {
        let free = slots[home..].first_chunk().map_or(0, free_in);
        match free {
            0 => Table::probe(slots, hash, EMPTY),
            free => home + free.trailing_zeros() as usize,
        }
    }

    fn resize(&mut self, hashes: &[u64], wanted: usize) {
        let mut size = 8;
        while size <= wanted {
            size *= 2;
        }
        if size == 8 && self.slots.len() == 8 && self.fill == self.used {
            return;
        }
        std::mem::swap(&mut self.slots, &mut self.spare);
        self.slots.clear();
        self.slots.resize(size, EMPTY);
        let live = take_live(&mut self.spare);
        for &element in &self.spare[..live] {
            Table::insert_clean(&mut self.slots, hashes[element as usize], element);
        }
        self.fill = self.used;
    }

    /// Adds the elements of another table, as CPython's `set_merge` does. Element `e` of the other
    /// table has the number `rename(e)` in this one.
    pub fn merge(&mut self, hashes: &[u64], other: &Layout<'_>, rename: impl Fn(u32) -> u32) {
        let (live, fill) = (other.order.len(), other.fill as usize);
        self.merge_slots(hashes, other.slots, live, fill, rename);
    }

    /// Adds the elements of another table under construction, as [`merge`](Table::merge) does for a
    /// finished one.
    pub fn merge_table(&mut self, hashes: &[u64], other: &Table) {
        self.merge_slots(hashes, &other.slots, other.used, other.fill, |e| e);
    }

    #[inline(always)]
    fn merge_slots(
        &mut self,
        hashes: &[u64],
        theirs: &[u32],
        live: usize,
        fill: usize,
        rename: impl Fn(u32) -> u32,
    ) {
        if live == 0 {
            return;
        }
        if (self.fill + live) * 5 >= self.mask() * 3 {
            self.resize(hashes, (self.used + live) * 2);
        }
        let elements = theirs.iter().filter(|&&e| e < DUMMY).map(|&e| rename(e));
        if self.fill > 0 {
            elements.for_each(|e| self.add(hashes, e));
            return;
        }
        if self.slots.len() == theirs.len() && live == fill {
            // With no dummies and the same size, CPython copies slot by slot.
            for (ours, &theirs) in self.slots.iter_mut().zip(theirs) {
                *ours = match theirs {
                    EMPTY => EMPTY,
                    e => rename(e),
                };
            }
        } else {
            elements.for_each(|e| Table::insert_clean(&mut self.slots, hashes[e as usize], e));
        }
        self.fill = live;
        self.used = live;
    }

    /// Adds the keys of a dict, as CPython does: it first makes room for all of them.
    pub fn merge_keys(&mut self, hashes: &[u64], keys: &[u32]) {
        if (self.fill + keys.len()) * 5 >= self.mask() * 3 {
            self.resize(hashes, (self.used + keys.len()) * 2);
        }
        keys.iter().for_each(|&key| self.add(hashes, key));
    }

    /// Removes an element if it is present, leaving a dummy.
    pub fn discard(&mut self, hashes: &[u64], element: u32) {
        let at = Table::probe(&self.slots, hashes[element as usize], element);
        if self.slots[at] == element {
            self.slots[at] = DUMMY;
            self.used -= 1;
        }
    }

    /// The live elements in iteration order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().copied().filter(|&e| e < DUMMY)
    }

    /// Writes the live elements in iteration order to a slice whose length is their number.
    pub fn write_order(&self, order: &mut [u32]) {
        let mut at = 0;
        for &element in &self.slots {
            // A slot without an element is overwritten by the next one.
            let Some(place) = order.get_mut(at) else {
                return;
            };
            *place = element;
            at += usize::from(element < DUMMY);
        }
    }

    /// Replaces the table with the copy that `frozenset(set)` makes, in the size that a copy gets.
    pub fn freeze(&mut self, hashes: &[u64], scratch: &mut Table) {
        scratch.clear();
        scratch.merge_table(hashes, self);
        std::mem::swap(&mut self.slots, &mut scratch.slots);
        self.fill = scratch.fill;
        self.used = scratch.used;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    /// Builds a table of these integers and returns it with the hashes of the integers.
    fn build(items: &[i64]) -> (Table, Vec<u64>) {
        let hashes: Vec<u64> = items.iter().map(|&n| hash::int(n)).collect();
        let mut table = Table::default();
        table.clear();
        for k in 0..items.len() {
            table.add(&hashes, k as u32);
        }
        (table, hashes)
    }

    fn order(table: &Table, items: &[i64]) -> Vec<i64> {
        table.iter().map(|e| items[e as usize]).collect()
    }

    #[test]
    fn insertion_order_decides_collisions() {
        let items = [8, 0, 16, 1];
        assert_eq!(order(&build(&items).0, &items), [8, 0, 16, 1]);
        let items = [0, 8, 16, 1];
        assert_eq!(order(&build(&items).0, &items), [0, 8, 16, 1]);
        let items = [-1, -2, 5];
        assert_eq!(order(&build(&items).0, &items), [5, -1, -2]);
    }

    #[test]
    fn a_copy_may_iterate_differently() {
        let items = [33, 1, 9, 17, 64];
        let (mut table, hashes) = build(&items);
        assert_eq!(table.slots.len(), 32);
        assert_eq!(order(&table, &items), [64, 33, 1, 9, 17]);
        table.freeze(&hashes, &mut Table::default());
        assert_eq!(table.slots.len(), 16);
        assert_eq!(order(&table, &items), [64, 33, 1, 17, 9]);
    }

    /// CPython's `set_add_entry` as written, one slot after the other.
    fn place(slots: &mut [u32], hash: u64, element: u32) {
        let mask = slots.len() - 1;
        let (mut i, mut perturb) = (hash as usize & mask, hash);
        loop {
            let probes = if i + LINEAR_PROBES <= mask {
                LINEAR_PROBES
            } else {
                0
            };
            if let Some(free) = (i..=i + probes).find(|&at| slots[at] == EMPTY) {
                slots[free] = element;
                return;
            }
            perturb >>= 5;
            i = (5 * i + 1).wrapping_add(perturb as usize) & mask;
        }
    }

    #[test]
    fn slots_are_found_as_in_cpython_for_any_hashes() {
        let mut seed = 1u64;
        for round in 0..200 {
            // The fewer different hashes, the more collisions.
            let different = [3, 20, 1_000, u64::MAX][round % 4];
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ((seed >> 20) % different).wrapping_mul(0x1_0000_0001)
            };
            let hashes: Vec<u64> = (0..300).map(|_| next()).collect();
            let mut table = Table::default();
            table.clear();
            let mut slots = vec![EMPTY; 8];
            for element in 0..hashes.len() as u32 {
                table.add_new(&hashes, std::iter::once(element));
                place(&mut slots, hashes[element as usize], element);
                let used = element as usize + 1;
                if used * 5 >= (slots.len() - 1) * 3 {
                    let old = std::mem::take(&mut slots);
                    slots = vec![EMPTY; (4 * used + 1).next_power_of_two()];
                    for &live in old.iter().filter(|&&e| e != EMPTY) {
                        place(&mut slots, hashes[live as usize], live);
                    }
                }
                assert_eq!(table.slots, slots);
            }
            let mut order = vec![0; hashes.len()];
            table.write_order(&mut order);
            assert!(order.into_iter().eq(table.iter()));
        }
    }

    #[test]
    fn tables_grow_as_in_cpython() {
        for (n, size) in [(4, 8), (5, 32), (18, 32), (19, 128), (76, 128), (77, 512)] {
            let items: Vec<i64> = (0..n).collect();
            assert_eq!(build(&items).0.slots.len(), size, "{n} elements");
        }
    }
}
