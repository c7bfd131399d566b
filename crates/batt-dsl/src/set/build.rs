//! Making sets.

use std::cell::Cell as Slot;

use crate::fault::Outcome;
use crate::run::Run;
use crate::value::{Cell, IntPair, Value};

use super::line::between;
use super::{Bounds, Elems, Origin, Set, same_form};

/// Returns the pair that a tuple equals, if any. Bools count as numbers here.
pub(crate) fn numeric_pair(v: Value<'_>) -> Option<IntPair> {
    match v {
        Value::Pair(p) => Some(p.get()),
        Value::Tuple(t) => match *t.items {
            [i, j] => IntPair::fit(i.integral()?, j.integral()?),
            _ => None,
        },
        _ => None,
    }
}

impl<'r> Run<'r> {
    /// Returns the cell that a tuple equals, if any.
    pub(crate) fn numeric_cell(&self, v: Value<'r>) -> Option<Cell> {
        let color = |v: Value<'r>| v.integral()?.try_into().ok();
        match v {
            Value::Cell(c) => Some(c.get()),
            Value::Tuple(t) => match *t.items {
                [c, at] if !self.triples() => Some(Cell::new(color(c)?, numeric_pair(at)?)),
                [i, j, c] if self.triples() => Some(Cell::new(
                    color(c)?,
                    IntPair::fit(i.integral()?, j.integral()?)?,
                )),
                _ => None,
            },
            _ => None,
        }
    }
}

impl<'r> Run<'r> {
    /// Makes a set. The function is inlined so that the parts are stored in place. Otherwise the
    /// compiler passes them on as whole structures and copies them in pieces that do not match the
    /// preceding stores, and the copy waits for the stores.
    #[inline(always)]
    pub(crate) fn set(&mut self, elems: Elems<'r>, origin: Origin<'r>) -> Outcome<&'r Set<'r>> {
        let depth = match elems {
            Elems::Pairs(_) => 2,
            Elems::Cells(_) => 3,
            Elems::Values(values) => self.depth_of(values)?,
        };
        self.alloc(Set {
            elems,
            origin,
            known: Slot::new(None),
            depth,
            bounds: Slot::new(None),
            one_color_each: Slot::new(None),
        })
    }

    fn depth_of(&mut self, values: &[Value<'r>]) -> Outcome<u16> {
        let depth = 1 + values.iter().map(|v| v.depth()).max().unwrap_or_default();
        self.check_depth(depth)?;
        Ok(depth as u16)
    }

    /// Makes the empty set.
    pub(crate) fn empty_set(&mut self) -> Outcome<&'r Set<'r>> {
        self.set(Elems::Pairs(&[]), Origin::Build)
    }

    /// *Build*: makes the set of locations known to be distinct, in this insertion order.
    pub(crate) fn build_distinct_pairs(&mut self, pairs: &[IntPair]) -> Outcome<&'r Set<'r>> {
        let pairs = self.slice(pairs)?;
        self.set(Elems::Pairs(pairs), Origin::Build)
    }

    /// *Build*: makes the set of cells known to be distinct, in this insertion order.
    pub(crate) fn build_distinct_cells(&mut self, cells: &[Cell]) -> Outcome<&'r Set<'r>> {
        if cells.is_empty() {
            return self.empty_set();
        }
        let cells = self.slice(cells)?;
        self.set(Elems::Cells(cells), Origin::Build)
    }

    /// *Build*: makes a set by inserting the values one after the other into an empty set.
    pub(crate) fn build(&mut self, values: &[Value<'r>]) -> Outcome<&'r Set<'r>> {
        self.spend(values.len())?;
        let (elems, _) = self.distinct(values)?;
        self.set(elems, Origin::Build)
    }

    /// *Freeze(Build)*: inserts the values into a mutable set and makes a frozenset of it, which
    /// may be laid out differently.
    pub(crate) fn build_frozen(&mut self, values: &[Value<'r>]) -> Outcome<&'r Set<'r>> {
        self.spend(values.len())?;
        let (elems, _) = self.distinct(values)?;
        self.set(elems, Origin::Frozen)
    }

    /// *Freeze(Build)*: makes the set of one value.
    #[inline(always)]
    pub(crate) fn single(&mut self, value: Value<'r>) -> Outcome<&'r Set<'r>> {
        self.spend(1)?;
        let (elems, at) = match value {
            Value::Pair(p) => {
                let at = p.get();
                let pairs = match between(at, at) {
                    Some(pairs) => pairs,
                    None => self.slice(&[at])?,
                };
                (Elems::Pairs(pairs), Some(at))
            }
            Value::Cell(c) => (Elems::Cells(self.slice(&[c.get()])?), Some(c.get().at)),
            _ => (Elems::Values(self.slice(&[value])?), None),
        };
        let set = self.set(elems, Origin::Frozen)?;
        set.with_bounds(at.map(Bounds::at));
        Ok(set)
    }

    /// Returns the distinct values, with the first one of equal values, and whether all were
    /// distinct.
    pub(crate) fn distinct(&mut self, values: &[Value<'r>]) -> Outcome<(Elems<'r>, bool)> {
        let total = values.len();
        let Some(first) = values.first() else {
            return Ok((Elems::Pairs(&[]), true));
        };
        match first {
            Value::Pair(_) if values.iter().all(|v| matches!(v, Value::Pair(_))) => {
                let mut pairs = std::mem::take(&mut self.scratch.pairs);
                pairs.clear();
                pairs.extend(values.iter().filter_map(|v| match v {
                    Value::Pair(p) => Some(p.get()),
                    _ => None,
                }));
                self.scratch.index.dedupe(&mut pairs, |p| p.key());
                let slice = self.slice(&pairs);
                self.scratch.pairs = pairs;
                let slice = slice?;
                Ok((Elems::Pairs(slice), slice.len() == total))
            }
            Value::Cell(_) if values.iter().all(|v| matches!(v, Value::Cell(_))) => {
                let mut cells = std::mem::take(&mut self.scratch.cells);
                cells.clear();
                cells.extend(values.iter().filter_map(|v| match v {
                    Value::Cell(c) => Some(c.get()),
                    _ => None,
                }));
                self.scratch.index.dedupe(&mut cells, |c| c.key());
                let slice = self.slice(&cells);
                self.scratch.cells = cells;
                let slice = slice?;
                Ok((Elems::Cells(slice), slice.len() == total))
            }
            Value::Segment(_) if values.iter().all(|v| matches!(v, Value::Segment(_))) => {
                let mut kept = values.to_vec();
                self.scratch.index.dedupe(&mut kept, |v| match v {
                    Value::Segment(s) => s.key(),
                    _ => 0,
                });
                let kept = self.slice(&kept)?;
                Ok((Elems::Values(kept), kept.len() == total))
            }
            _ => self.distinct_values(values),
        }
    }

    fn distinct_values(&mut self, values: &[Value<'r>]) -> Outcome<(Elems<'r>, bool)> {
        let (elems, _) = self.number_values(values, |_| {})?;
        Ok((elems, elems.len() == values.len()))
    }

    /// Returns the distinct values, with the first one of equal values, and whether some equal
    /// values could be distinguished. Reports the number of each value among the distinct ones.
    pub(super) fn number_values(
        &mut self,
        values: &[Value<'r>],
        mut say: impl FnMut(u32),
    ) -> Outcome<(Elems<'r>, bool)> {
        // The index is taken out while elements are compared, because comparing sets uses it too.
        let mut index = std::mem::take(&mut self.scratch.value_index);
        index.clear_for_some_of(values.len());
        let mut kept: Vec<Value<'r>> = Vec::new();
        let mut distinguishable_equals = false;
        for &v in values {
            let hash = match v {
                Value::Set(set) => set.fingerprint(self),
                _ => self.hash(v),
            };
            let number = kept.len() as u32;
            let found = index.find_or_insert(hash, number, |k| self.eq_member(kept[k as usize], v));
            if found == number {
                kept.push(v);
                index.make_room(kept.len());
            } else {
                distinguishable_equals =
                    distinguishable_equals || !same_form(kept[found as usize], v);
            }
            say(found);
            // After a limit is reached no two values compare equal, and keeping all of them would
            // make every search longer.
            self.check_limits()?;
        }
        self.scratch.value_index = index;
        let kept = self.slice(&kept)?;
        Ok((self.compact(kept)?, distinguishable_equals))
    }

    /// Returns distinct values in the most compact form, which depends on the elements alone.
    pub(crate) fn compact(&mut self, values: &'r [Value<'r>]) -> Outcome<Elems<'r>> {
        let origin = IntPair::new(0, 0);
        if values.iter().all(|v| matches!(v, Value::Pair(_))) {
            let pairs = values.iter().map(|v| match v {
                Value::Pair(p) => p.get(),
                _ => origin,
            });
            return Ok(Elems::Pairs(self.slice_from(pairs)?));
        }
        if values.iter().all(|v| matches!(v, Value::Cell(_))) {
            let cells = values.iter().map(|v| match v {
                Value::Cell(c) => c.get(),
                _ => Cell::new(0, origin),
            });
            return Ok(Elems::Cells(self.slice_from(cells)?));
        }
        Ok(Elems::Values(values))
    }
}
