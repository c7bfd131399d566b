//! Element numbers by location, so that equal locations are found without hashing.

use super::Bounds;
use super::layout::EMPTY;
use crate::value::{Cell, IntPair};

/// A rectangle of the plane with room for one number per location.
///
/// Each entry carries the generation in which it was written, so a new use clears nothing.
#[derive(Default)]
pub(crate) struct Plane {
    entries: Vec<(u32, u32)>,
    generation: u32,
    origin: (i32, i32),
    width: usize,
}

/// The largest rectangle. Larger ones use hashing instead, because they would not stay in the CPU's
/// cache.
const MOST_CELLS: i64 = 1 << 14;

impl Plane {
    /// Prepares for the locations of a rectangle. Returns `None` if it is too large.
    #[inline]
    pub fn lay_out(&mut self, bounds: Bounds) -> Option<View<'_>> {
        let cells = bounds.height() * bounds.width();
        if cells > MOST_CELLS {
            return None;
        }
        if self.entries.len() < cells as usize {
            self.entries.resize(cells as usize, (0, 0));
        }
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.entries.fill((0, 0));
            self.generation = 1;
        }
        self.origin = (bounds.top.into(), bounds.left.into());
        self.width = bounds.width() as usize;
        Some(View {
            entries: &mut self.entries[..cells as usize],
            generation: self.generation,
            origin: self.origin,
            width: self.width,
        })
    }

    /// Returns the number stored for a location that has one.
    #[inline(always)]
    pub fn number(&self, p: IntPair) -> u32 {
        self.entries[position(self.origin, self.width, p)].1
    }
}

#[inline(always)]
fn position(origin: (i32, i32), width: usize, p: IntPair) -> usize {
    let (i, j) = (
        (i32::from(p.i) - origin.0) as usize,
        (i32::from(p.j) - origin.1) as usize,
    );
    i * width + j
}

/// A plane to write to. It copies the fields of the plane instead of referring to it, so that they
/// stay in registers.
pub(crate) struct View<'p> {
    entries: &'p mut [(u32, u32)],
    generation: u32,
    origin: (i32, i32),
    width: usize,
}

impl View<'_> {
    /// Returns the number stored for a location of the rectangle, or stores and returns `number`.
    #[inline(always)]
    pub fn find_or_insert(&mut self, p: IntPair, number: u32) -> u32 {
        let entry = &mut self.entries[position(self.origin, self.width, p)];
        if entry.0 != self.generation {
            *entry = (self.generation, number);
        }
        entry.1
    }
}

/// Cells by location, where a location may have several colours.
///
/// The plane has the number of the first cell at each location, and each cell leads to the next
/// one.
#[derive(Default)]
pub(crate) struct Chains {
    next: Vec<u32>,
    is_long: bool,
}

impl Chains {
    /// Removes all cells.
    pub fn begin(&mut self) -> &mut Chains {
        self.next.clear();
        self.is_long = false;
        self
    }

    /// Returns whether every location has at most one cell.
    pub fn are_short(&self) -> bool {
        !self.is_long
    }

    /// Returns the number of a cell in a list, after adding it if it is missing.
    #[inline(always)]
    pub fn find_or_insert(
        &mut self,
        plane: &mut View<'_>,
        list: &mut Vec<Cell>,
        cell: Cell,
    ) -> u32 {
        let new = list.len() as u32;
        let mut number = plane.find_or_insert(cell.at, new);
        if number != new {
            loop {
                if list[number as usize].color == cell.color {
                    return number;
                }
                match self.next[number as usize] {
                    EMPTY => break,
                    next => number = next,
                }
            }
            self.next[number as usize] = new;
            self.is_long = true;
        }
        list.push(cell);
        self.next.push(EMPTY);
        new
    }

    /// Returns the number of a cell that is in the list.
    #[inline(always)]
    pub fn number(&self, plane: &Plane, list: &[Cell], cell: Cell) -> u32 {
        let mut number = plane.number(cell.at);
        while list[number as usize].color != cell.color && self.next[number as usize] != EMPTY {
            number = self.next[number as usize];
        }
        number
    }
}
