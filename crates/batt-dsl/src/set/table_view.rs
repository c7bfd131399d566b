//! Sets with their tables, for callers that store sets outside a run. The iteration order is the
//! order of the slots, and the results of set operations depend on the size of the table.

use super::layout::{DUMMY, EMPTY, Layout};
use super::origin::place;
use super::{Origin, Set};
use crate::fault::{Fault, Outcome};
use crate::run::Run;
use crate::value::Value;

/// A set in the form that it has in CPython's memory.
#[derive(Clone, Copy)]
pub struct SetTable<'a, 'r> {
    /// The elements in iteration order.
    pub elements: &'a [Value<'r>],
    /// The slot of each element in the table, ascending.
    pub slots: &'a [u32],
    /// The binary logarithm of the size of the table.
    pub log2_size: u32,
    /// Whether the table has dummies in place of removed elements. Their places never matter,
    /// because frozensets do not grow, and copies are made of the elements alone.
    pub dummies: bool,
}

/// The binary logarithm of the largest table that is accepted.
pub(super) const LARGEST: u32 = 31;

impl<'r> Run<'r> {
    /// Returns the table of a set, computing the iteration order if needed.
    pub fn set_table(&mut self, set: &'r Set<'r>) -> Outcome<SetTable<'r, 'r>> {
        set.layout(self)?;
        let layout = place(self, set)?;
        let live = layout.slots.iter().enumerate();
        let live: Vec<u32> = live
            .filter(|(_, element)| **element < DUMMY)
            .map(|(slot, _)| slot as u32)
            .collect();
        Ok(SetTable {
            elements: set.values(self)?,
            slots: self.slice(&live)?,
            log2_size: layout.slots.len().trailing_zeros(),
            dummies: layout.fill as usize > live.len(),
        })
    }

    /// Makes a set with a known table. The elements must be distinct, which is not checked.
    /// Impossible slots are a fault.
    pub fn set_with_table(&mut self, table: &SetTable<'_, 'r>) -> Outcome<Value<'r>> {
        let SetTable {
            elements,
            slots,
            log2_size,
            dummies,
        } = *table;
        let growing = slots.windows(2).all(|two| two[0] < two[1]);
        if elements.len() != slots.len() || !growing || !(3..=LARGEST).contains(&log2_size) {
            return Err(Fault::Value);
        }
        let size = 1usize << log2_size;
        if slots.last().is_some_and(|last| *last as usize >= size) {
            return Err(Fault::Value);
        }
        self.spend(elements.len())?;
        let elements = self.slice(elements)?;
        let elems = self.compact(elements)?;
        let log2_size = Some(log2_size);
        let set = self.set(elems, Origin::Given { log2_size })?;
        let places = self.slice_filled(size, EMPTY)?;
        for (k, &slot) in slots.iter().enumerate() {
            places[slot as usize] = k as u32;
        }
        let layout = Layout {
            fill: (slots.len() + usize::from(dummies)) as u32,
            slots: places,
            order: self.slice_from(0..slots.len() as u32)?,
        };
        let layout = self.alloc(layout)?;
        set.set_layout(self, layout)?;
        Ok(Value::Set(set))
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::Dialect;
    use crate::run::{Limits, Workspace};

    use super::*;

    fn in_run<T>(body: impl for<'r> FnOnce(&mut Run<'r>) -> T) -> T {
        Workspace::new().run(Dialect::ArcDsl, &Limits::default(), body)
    }

    #[test]
    fn a_set_made_with_its_table_is_the_same() {
        in_run(|run| {
            // A copy of this set iterates differently, so the elements alone do not determine it.
            let items = [33, 1, 9, 17, 64].map(Value::Int);
            let set = run.make_set(&items).expect("a set");
            let table = run.set_table(set.as_set().expect("a set")).expect("room");
            assert_eq!((table.log2_size, table.dummies), (5, false));
            assert_eq!(table.slots, [0, 1, 2, 9, 17]);
            let again = run.set_with_table(&table).expect("a set");
            assert!(run.equal(set, again));
            assert_eq!(run.hash(set), run.hash(again));
            assert_eq!(run.to_owned(set), run.to_owned(again));
            let empty = run.make_set(&[]).expect("a set");
            let table = run.set_table(empty.as_set().expect("a set")).expect("room");
            assert_eq!((table.log2_size, table.slots.len()), (3, 0));
            let again = run.set_with_table(&table).expect("a set");
            assert!(run.equal(empty, again));
        });
    }

    #[test]
    fn an_impossible_table_is_a_fault() {
        in_run(|run| {
            let elements = [1, 2].map(Value::Int);
            let mut try_slots = |slots: &[u32], log2_size| {
                let table = SetTable {
                    elements: &elements,
                    slots,
                    log2_size,
                    dummies: false,
                };
                run.set_with_table(&table).map(|_| ()).err()
            };
            assert_eq!(try_slots(&[1, 2], 3), None);
            for (slots, log2_size) in [
                (&[1][..], 3),
                (&[2, 1], 3),
                (&[1, 1], 3),
                (&[1, 8], 3),
                (&[1, 2], 2),
                (&[1, 2], 60),
            ] {
                assert_eq!(try_slots(slots, log2_size), Some(Fault::Value), "{slots:?}");
            }
        });
    }
}
