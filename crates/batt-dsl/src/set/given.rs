//! Sets of the outside, which are given by their iteration order and the size of their table.
//!
//! Most primitives need only the order. The slots matter to copies and unions, and follow from the
//! order: [`Table::place`] looks for the table that Python has. Without dummies, an element stands
//! in the first slot of its probe sequence that no other element takes.

use super::layout::{EMPTY, Table, probes};
use super::table_view::LARGEST;
use super::{Elems, Origin};
use crate::fault::{Fault, Outcome};
use crate::run::Run;
use crate::value::Value;

/// The slots of an element's probe sequence that are tried.
const MOST_PROBES: usize = 100;

impl<'r> Run<'r> {
    /// Makes a set of the outside from its elements in iteration order and the binary logarithm of
    /// the size of its table. The elements must be distinct, which is not checked. A table that is
    /// too small is a fault.
    ///
    /// The set behaves like the original. Where elements hash by address, as functions do, or where
    /// other elements have been removed, its table may differ, but not its order.
    ///
    /// Few primitives need the size of the table. A caller may leave it out, and has to run again
    /// with the size if [`lacks_table`](Run::lacks_table) says afterwards that it was needed.
    pub fn set_in_order(
        &mut self,
        elements: &[Value<'r>],
        log2_size: Option<u32>,
    ) -> Outcome<Value<'r>> {
        if log2_size.is_some_and(|log2_size| {
            !(3..=LARGEST).contains(&log2_size) || elements.len() >= 1 << log2_size
        }) {
            return Err(Fault::Value);
        }
        self.spend(elements.len())?;
        let origin = Origin::Given { log2_size };
        let elems = match elements.first() {
            None => Elems::Pairs(&[]),
            Some(Value::Pair(_)) if elements.iter().all(|v| v.as_pair().is_some()) => {
                let pairs = elements.iter().filter_map(|v| v.as_pair());
                let pairs: Vec<_> = pairs.collect();
                Elems::Pairs(self.slice(&pairs)?)
            }
            Some(Value::Cell(_)) => {
                let elements = self.slice(elements)?;
                self.compact(elements)?
            }
            Some(_) => Elems::Values(self.slice(elements)?),
        };
        Ok(Value::Set(self.set(elems, origin)?))
    }

    /// Returns whether the run needed the size of a table that was left out.
    pub fn lacks_table(&self) -> bool {
        self.lacks_table
    }
}

impl Table {
    /// Makes a table of this size whose iteration order is 0, 1, 2 and so on.
    ///
    /// If no construction without removals gives this order, the elements stand in the first slots.
    pub fn place(&mut self, hashes: &[u64], size: usize) {
        self.insert_in_order(hashes, size);
        if self.slots.iter().filter(|&&e| e != EMPTY).is_sorted() {
            return;
        }
        let slots = Search::new(hashes, size).slots();
        self.slots.fill(EMPTY);
        match slots {
            Some(slots) => {
                for (element, slot) in (0..).zip(slots) {
                    self.slots[slot] = element;
                }
            }
            None => {
                let places = self.slots.iter_mut().take(hashes.len());
                places
                    .zip(0..)
                    .for_each(|(place, element)| *place = element);
            }
        }
    }

    /// Makes a table of this size by inserting 0, 1, 2 and so on, without growing.
    pub(super) fn insert_in_order(&mut self, hashes: &[u64], size: usize) {
        self.slots.clear();
        self.slots.resize(size, EMPTY);
        self.fill = hashes.len();
        self.used = hashes.len();
        for element in 0..hashes.len() as u32 {
            Table::insert_clean(&mut self.slots, hashes[element as usize], element);
        }
    }
}

/// The search for ascending slots in which each element can stand.
///
/// It chooses slots for the elements one after the other and goes back where no slot is left. An
/// element that passes a slot by requires that another element stands there.
struct Search<'h> {
    hashes: &'h [u64],
    size: usize,
    /// The slot of each element so far.
    slots: Vec<usize>,
    /// The number of slots in its probe sequence that each element passed by.
    passed: Vec<usize>,
    is_taken: Vec<bool>,
    /// The number of elements that require each slot to be taken.
    required: Vec<u32>,
    /// The slots that may still be tried before the search gives up.
    budget: usize,
}

impl Search<'_> {
    fn new(hashes: &[u64], size: usize) -> Search<'_> {
        Search {
            hashes,
            size,
            slots: Vec::with_capacity(hashes.len()),
            passed: Vec::with_capacity(hashes.len()),
            is_taken: vec![false; size],
            required: vec![0; size],
            budget: 1000 + 50 * hashes.len(),
        }
    }

    fn slots(mut self) -> Option<Vec<usize>> {
        let mut from = 0;
        loop {
            if self.slots.len() == self.hashes.len() && self.is_complete() {
                return Some(self.slots);
            }
            if self.slots.len() < self.hashes.len() && self.place_next(from)? {
                from = 0;
                continue;
            }
            from = self.take_back()? + 1;
        }
    }

    /// Returns whether all required slots are taken.
    fn is_complete(&self) -> bool {
        let behind = self.slots.last().map_or(0, |last| last + 1);
        self.required[behind..].iter().all(|&count| count == 0)
    }

    /// Places the next element in the first possible slot from number `from` of its probe sequence
    /// on, and returns whether there is one; `None` if the search gives up.
    fn place_next(&mut self, from: usize) -> Option<bool> {
        let element = self.slots.len();
        let free_from = self.slots.last().map_or(0, |last| last + 1);
        let probes = probes(self.hashes[element], self.size).take(MOST_PROBES);
        // The lowest of the passed slots that later elements have to take.
        let mut lowest_passed = self.size;
        for (number, slot) in probes.enumerate() {
            self.budget = self.budget.checked_sub(1)?;
            if slot < free_from {
                match self.is_taken[slot] {
                    true => continue,
                    false => return Some(false),
                }
            }
            let skips_required = || {
                self.required[free_from..slot]
                    .iter()
                    .any(|&count| count > 0)
            };
            if number >= from && slot < lowest_passed && !skips_required() {
                self.require(element, number, free_from, 1);
                self.slots.push(slot);
                self.passed.push(number);
                self.is_taken[slot] = true;
                return Some(true);
            }
            lowest_passed = lowest_passed.min(slot);
        }
        Some(false)
    }

    /// Takes back the last element and returns how many slots it had passed by.
    fn take_back(&mut self) -> Option<usize> {
        let (slot, passed) = (self.slots.pop()?, self.passed.pop()?);
        self.is_taken[slot] = false;
        let free_from = self.slots.last().map_or(0, |last| last + 1);
        self.require(self.slots.len(), passed, free_from, u32::MAX);
        Some(passed)
    }

    /// Adds to the number of elements that require the slots that an element passed by.
    fn require(&mut self, element: usize, passed: usize, free_from: usize, change: u32) {
        for slot in probes(self.hashes[element], self.size).take(passed) {
            if slot >= free_from {
                self.required[slot] = self.required[slot].wrapping_add(change);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::DUMMY;
    use super::*;
    use crate::dialect::Dialect;
    use crate::run::{Limits, Workspace};

    fn in_run<T>(body: impl for<'r> FnOnce(&mut Run<'r>) -> T) -> T {
        Workspace::new().run(Dialect::ArcDsl, &Limits::default(), body)
    }

    /// Returns the hashes of numbered elements that collide often.
    fn hashes(seed: u64, count: usize, different: u64) -> Vec<u64> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 20) % different).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        };
        (0..count).map(|_| next()).collect()
    }

    /// Renumbers the elements of a table by its iteration order.
    fn in_order(table: &Table, hashes: &[u64]) -> (Vec<u32>, Vec<u64>) {
        let mut slots = table.slots.clone();
        let live = slots.iter_mut().filter(|slot| **slot < DUMMY);
        let mut renamed = Vec::new();
        for (number, slot) in (0..).zip(live) {
            renamed.push(hashes[*slot as usize]);
            *slot = number;
        }
        (slots, renamed)
    }

    #[test]
    fn the_table_follows_from_its_order_and_size() {
        let (mut placed, mut different, mut searched) = (0, 0, 0);
        for seed in 0..4000 {
            let count = seed as usize % 90;
            let hashes = hashes(seed, count, [40, 1_000, u64::MAX][seed as usize % 3]);
            let mut table = Table::default();
            table.clear();
            table.add_new(&hashes, 0..count as u32);
            if seed % 2 == 0 {
                table.freeze(&hashes, &mut Table::default());
            }
            let (slots, hashes) = in_order(&table, &hashes);
            let mut again = Table::default();
            again.insert_in_order(&hashes, slots.len());
            searched += usize::from(again.slots != slots);
            again.place(&hashes, slots.len());
            let live = again.slots.iter().filter(|&&e| e != EMPTY);
            assert!(live.copied().eq(0..count as u32), "seed {seed}");
            placed += 1;
            different += usize::from(again.slots != slots);
        }
        assert!(searched > 100, "the search is tested: {searched}");
        // The same order can come from two tables, but that is rare.
        assert!(
            different * 100 < placed,
            "{different} of {placed} tables differ"
        );
    }

    #[test]
    fn an_impossible_order_is_kept() {
        // Elements with distinct slots of their own, in the wrong order.
        let hashes = [5, 3, 1];
        let mut table = Table::default();
        table.place(&hashes, 8);
        assert!(table.iter().eq(0..3));
    }

    #[test]
    fn a_given_set_behaves_like_the_original() {
        in_run(|run| {
            let items = [33, 1, 9, 17, 64].map(Value::Int);
            let original = run.make_set(&items).expect("a set");
            let table = run
                .set_table(original.as_set().expect("a set"))
                .expect("room");
            let (elements, log2_size, slots) = (table.elements, table.log2_size, table.slots);
            let given = run.set_in_order(elements, Some(log2_size)).expect("a set");
            assert!(run.equal(original, given));
            assert_eq!(run.to_owned(original), run.to_owned(given));
            let copies = [original, given].map(|set| {
                let copy = run.set_copy(set.as_set().expect("a set")).expect("room");
                run.to_owned(Value::Set(copy)).expect("room")
            });
            assert_eq!(copies[0], copies[1]);
            assert_ne!(Ok(&copies[0]), run.to_owned(given).as_ref());
            let again = run.set_table(given.as_set().expect("a set")).expect("room");
            assert_eq!(again.slots, slots);
        });
    }

    #[test]
    fn a_run_says_whether_it_needed_the_size_of_a_table() {
        in_run(|run| {
            let items = [5, 1, 2].map(Value::Int);
            let given = run.set_in_order(&items, None).expect("a set");
            let set = given.as_set().expect("a set");
            let filtered = run.set_filter(set, &[0, 2]).expect("room");
            let filtered = run.to_owned(Value::Set(filtered)).expect("room");
            assert_eq!(filtered.to_string(), "frozenset({2, 5})");
            assert!(!run.lacks_table());
            let copy = run.set_copy(set).expect("room");
            assert!(!run.lacks_table());
            run.to_owned(Value::Set(copy)).expect("room");
            assert!(run.lacks_table());
        });
    }

    #[test]
    fn a_table_without_room_is_a_fault() {
        in_run(|run| {
            let items: Vec<_> = (0..8).map(Value::Int).collect();
            assert!(run.set_in_order(&items[..7], Some(3)).is_ok());
            for (items, log2_size) in [(&items[..], 3), (&items[..2], 2), (&items[..2], 32)] {
                let made = run.set_in_order(items, Some(log2_size));
                assert_eq!(made.err(), Some(Fault::Value));
            }
        });
    }
}
