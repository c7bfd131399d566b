//! The elements of a container as a column.

use std::ops::Range;

use super::column::{Cells, Column};
use super::{Attempt, End, Traversal, known_or_end};
use crate::ops::members::Members;
use crate::set::Elems;
use crate::value::{Cell, IntPair, Value};

/// The nesting depth up to which tuples of tuples are split into columns.
const MAX_SPLIT_DEPTH: u32 = 3;

impl<'r> Traversal<'_, 'r> {
    /// Makes a column and computes its bound.
    pub(super) fn measured(&mut self, items: Vec<i32>) -> Attempt<Column<'r>> {
        let most = items.iter().map(|n| n.unsigned_abs()).max();
        let bound = i32::try_from(most.unwrap_or_default()).map_err(|_| End::OneByOne)?;
        Ok(self.ints(items, bound))
    }

    pub(super) fn locations(
        &mut self,
        pairs: impl Iterator<Item = IntPair> + Clone,
    ) -> Attempt<Column<'r>> {
        let i = self.measured(pairs.clone().map(|pair| pair.i.into()).collect())?;
        let j = self.measured(pairs.map(|pair| pair.j.into()).collect())?;
        Ok(self.two(i, j))
    }

    pub(super) fn of_cells(
        &mut self,
        cells: impl Iterator<Item = Cell> + Clone,
    ) -> Attempt<Column<'r>> {
        if self.cells() == Cells::Triples {
            return Err(End::OneByOne);
        }
        let at = self.locations(cells.clone().map(|cell| cell.at))?;
        let colors = self.measured(cells.map(|cell| cell.color).collect())?;
        Ok(self.two(colors, at))
    }

    /// Makes a column of values of one kind: integers, locations, cells, or tuples of two of those.
    pub(super) fn values(&mut self, values: &[Value<'r>], depth: u32) -> Attempt<Column<'r>> {
        self.spend(2 * self.len)?;
        /// Returns all values if they are of one kind.
        fn all<'r, T>(
            values: &[Value<'r>],
            of: impl Fn(Value<'r>) -> Option<T>,
        ) -> Attempt<Vec<T>> {
            known_or_end(values.iter().map(|&value| of(value)).collect())
        }
        match values.first() {
            Some(Value::Int(_)) => {
                let ints = all(values, |value| match value {
                    Value::Int(n) => i32::try_from(n).ok(),
                    _ => None,
                })?;
                self.measured(ints)
            }
            Some(Value::Pair(_)) => {
                let pairs = all(values, Value::as_pair)?;
                self.locations(pairs.iter().copied())
            }
            Some(Value::Cell(_)) => {
                let cells = all(values, |value| match value {
                    Value::Cell(cell) => Some(cell.get()),
                    _ => None,
                })?;
                self.of_cells(cells.iter().copied())
            }
            Some(Value::Segment(_)) => {
                let ends = all(values, |value| match value {
                    Value::Segment(ends) => Some(ends.get()),
                    _ => None,
                })?;
                let first = self.locations(ends.iter().map(|ends| ends.0))?;
                let last = self.locations(ends.iter().map(|ends| ends.1))?;
                Ok(self.two(first, last))
            }
            Some(Value::Tuple(_)) if depth < MAX_SPLIT_DEPTH => {
                let twos = all(values, |value| match value {
                    Value::Tuple(tuple) => <[Value<'r>; 2]>::try_from(tuple.items).ok(),
                    _ => None,
                })?;
                let (first, last): (Vec<_>, Vec<_>) = twos.into_iter().map(|[a, b]| (a, b)).unzip();
                let first = self.values(&first, depth + 1)?;
                let last = self.values(&last, depth + 1)?;
                Ok(self.two(first, last))
            }
            _ => Err(End::OneByOne),
        }
    }

    /// Makes the column of a container's elements.
    pub(super) fn elements(
        &mut self,
        members: Members<'r>,
        block: Range<usize>,
    ) -> Attempt<Column<'r>> {
        let set = match members {
            Members::Set(set) => set,
            Members::Tuple(items) => return self.values(&items[block], 0),
        };
        let value = Value::Set(set);
        let (_, address) = value.identity();
        let is_whole = block.len() == members.len();
        if is_whole && let Some(elements) = self.columns.elements.get(&address) {
            return Ok(elements.clone());
        }
        self.spend(2 * self.len)?;
        let elements = match set.elems {
            Elems::Pairs(pairs) => self.locations(pairs[block].iter().copied())?,
            Elems::Cells(cells) => self.of_cells(cells[block].iter().copied())?,
            Elems::Values(values) => self.values(&values[block], 0)?,
        };
        if is_whole && self.run.home.stay_for_good([value]) && self.has_room_for(&elements) {
            self.columns.elements.insert(address, elements.clone());
        }
        Ok(elements)
    }
}
