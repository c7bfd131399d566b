//! Frozensets: elements now, iteration order on demand.
//!
//! CPython's iteration order follows from the hashes and from the way a set was made. Most sets are
//! never read in order, so a [`Set`] keeps its distinct elements in any convenient sequence,
//! together with its [`Origin`]: enough to replay the construction on a simulated table. The first
//! order-sensitive read replays it, and the set caches the result.
//!
//! ```text
//!   elements (distinct, any sequence) ──┐
//!                                       ├─ force ─> Layout: slots, iteration order
//!   origin (Build, map, filter, ...) ───┘
//! ```

mod algebra;
mod bounds;
mod build;
mod index;
mod layout;
mod line;
mod origin;
mod plane;
mod table_view;

use std::cell::Cell as Slot;

use crate::fault::{Fault, Outcome};
use crate::hash;
use crate::run::Run;
use crate::value::{Cell, IntPair, Value};

pub(crate) use algebra::same_form;
pub use bounds::Bounds;
pub(crate) use bounds::Locations;
pub(crate) use build::numeric_pair;
pub(crate) use index::KeyIndex;
pub(crate) use layout::{EMPTY, Layout, Table};
pub(crate) use line::between;
pub(crate) use origin::{
    Flood, Images, NeighborOrders, Origin, Product, Selection, Walk, flood_sequence,
};
pub(crate) use plane::{Chains, Plane};
pub use table_view::SetTable;

/// The distinct elements of a set, in the compact form they allow.
#[derive(Clone, Copy)]
pub(crate) enum Elems<'r> {
    /// Locations only (an *Indices*), or nothing.
    Pairs(&'r [IntPair]),
    /// Coloured cells only (an *Object*).
    Cells(&'r [Cell]),
    /// Anything else.
    Values(&'r [Value<'r>]),
}
impl<'r> Elems<'r> {
    pub fn len(self) -> usize {
        match self {
            Elems::Pairs(pairs) => pairs.len(),
            Elems::Cells(cells) => cells.len(),
            Elems::Values(values) => values.len(),
        }
    }

    /// Returns the bounding box of locations or cells.
    fn bounds(self) -> Option<Bounds> {
        match self {
            Elems::Pairs(pairs) => Bounds::of(pairs.iter().copied()),
            Elems::Cells(cells) => Bounds::of(cells.iter().map(|c| c.at)),
            Elems::Values(_) => None,
        }
    }

    #[inline(always)]
    pub fn get(self, k: usize) -> Value<'r> {
        match self {
            Elems::Pairs(pairs) => Value::pair(pairs[k]),
            Elems::Cells(cells) => Value::cell(cells[k]),
            Elems::Values(values) => values[k],
        }
    }
}
/// A frozenset.
///
/// It takes one cache line: programs make sets by the thousand and read few of them closely. Facts
/// that only a closer look finds are cached in a separate record.
pub struct Set<'r> {
    pub(crate) elems: Elems<'r>,
    pub(crate) origin: Origin<'r>,
    known: Slot<Option<&'r Known<'r>>>,
    bounds: Slot<Option<Bounds>>,
    /// The nesting depth of containers, this one included.
    pub(crate) depth: u16,
    /// For cells: whether every location occurs once; `None` if unknown.
    one_color_each: Slot<Option<bool>>,
}
const _: () = assert!(size_of::<Set<'_>>() <= 64);
/// Facts cached about a set.
#[derive(Default)]
struct Known<'r> {
    layout: Slot<Option<&'r Layout<'r>>>,
    hash: Slot<Option<u64>>,
    /// Hashes of the elements, by number.
    hashes: Slot<Option<&'r [u64]>>,
    /// The elements in iteration order.
    ordered: Slot<Option<&'r [Value<'r>]>>,
    /// A hash table for finding elements.
    lookup: Slot<Option<&'r [u32]>>,
    /// For locations: one bit per location of the bounding box.
    bits: Slot<Option<&'r [u64]>>,
}
/// Bounding boxes up to this area get a bit per location.
const MOST_BITS: i64 = 1 << 16;
/// Sets up to this size are searched linearly.
const LINEAR_SEARCH: usize = 12;
impl<'r> Set<'r> {
    /// Number of elements.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.elems.len()
    }

    /// Returns the notes about this set.
    fn known(&self, run: &mut Run<'r>) -> Outcome<&'r Known<'r>> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let known = run.noting(self, |run| run.alloc(Known::default()))?;
        self.known.set(Some(known));
        Ok(known)
    }

    /// Returns a note about this set, if it has been made.
    #[inline(always)]
    fn noted<T>(&self, note: impl FnOnce(&'r Known<'r>) -> Option<T>) -> Option<T> {
        self.known.get().and_then(note)
    }

    /// Returns CPython's hash of the set.
    pub(crate) fn hash(&self, run: &mut Run<'r>) -> u64 {
        if let Some(hash) = self.noted(|known| known.hash.get()) {
            return hash;
        }
        let hash = match self.elems {
            Elems::Pairs(pairs) => hash::set(pairs.iter().map(|p| hash::pair(p.i, p.j))),
            Elems::Cells(cells) => {
                let hash = run.cell_hash();
                hash::set(cells.iter().map(|&c| hash(c)))
            }
            Elems::Values(values) => match self.noted(|known| known.hashes.get()) {
                Some(hashes) => hash::set(hashes.iter().copied()),
                None => hash::set(values.iter().map(|&v| run.hash(v))),
            },
        };
        // Out of memory only loses the note. The run has recorded the limit and will fail.
        if let Ok(known) = self.known(run) {
            known.hash.set(Some(hash));
        }
        hash
    }

    /// Returns a number that equal sets share, cheaper than the hash, to tell sets from one
    /// another.
    pub(crate) fn fingerprint(&self, run: &mut Run<'r>) -> u64 {
        let of_keys =
            |sum: u64| (sum ^ (self.len() as u64) << 56).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        match self.elems {
            Elems::Pairs(pairs) if line::is_laid_out(pairs) => of_keys(sum_of_line(pairs)),
            Elems::Pairs(pairs) => of_keys(sum_of(pairs.iter().map(|&p| print(p)))),
            Elems::Cells(cells) => of_keys(sum_of(cells.iter().map(|&c| print_cell(c)))),
            // In general form some elements may equal pairs or cells, as (True, 0) does.
            Elems::Values(values) => {
                let pairs = values.iter().map(|&v| numeric_pair(v).map(print));
                let cells = values.iter().map(|&v| run.numeric_cell(v).map(print_cell));
                let keys = sum_if_all(pairs).or_else(|| sum_if_all(cells));
                keys.map_or_else(|| self.hash(run), of_keys)
            }
        }
    }

    /// Returns the hashes of the elements, by element number.
    fn element_hashes(&self, run: &mut Run<'r>) -> Outcome<&'r [u64]> {
        let known = self.known(run)?;
        if let Some(hashes) = known.hashes.get() {
            return Ok(hashes);
        }
        let hashes = run.noting(self, |run| self.hash_elements(run))?;
        known.hashes.set(Some(hashes));
        Ok(hashes)
    }

    fn hash_elements(&self, run: &mut Run<'r>) -> Outcome<&'r [u64]> {
        match self.elems {
            Elems::Pairs(pairs) => run.slice_from(pairs.iter().map(|p| hash::pair(p.i, p.j))),
            Elems::Cells(cells) => {
                let hash = run.cell_hash();
                run.slice_from(cells.iter().map(|&c| hash(c)))
            }
            Elems::Values(values) => {
                if let Some(hashes) = self.hashes_by_origin(run)? {
                    return Ok(hashes);
                }
                let hashes = run.slice_filled(values.len(), 0)?;
                for (place, &v) in hashes.iter_mut().zip(values) {
                    *place = run.hash(v);
                }
                Ok(hashes)
            }
        }
    }

    /// Returns the hashes of the elements if the sets that this one was made from have them. This
    /// asks for no order.
    fn hashes_by_origin(&self, run: &mut Run<'r>) -> Outcome<Option<&'r [u64]>> {
        let gathered = |source: &'r Set<'r>| source.noted(|known| known.hashes.get());
        match self.origin {
            Origin::Product(product) => {
                let inner = product.inner.element_hashes(run)?;
                let outer = product.outer.element_hashes(run)?;
                let starts: Vec<u64> = inner.iter().map(|&x| hash::begin_pair(x)).collect();
                let hashes = run.slice_filled(self.len(), 0)?;
                for (row, &y) in hashes.chunks_mut(starts.len().max(1)).zip(outer) {
                    for (place, &start) in row.iter_mut().zip(&starts) {
                        *place = hash::end_pair(start, y);
                    }
                }
                Ok(Some(hashes))
            }
            Origin::Filter(selection) | Origin::Minus(selection) => {
                let Some(hashes) = gathered(selection.source) else {
                    return Ok(None);
                };
                let kept = selection.kept.iter().map(|&k| hashes[k as usize]);
                run.slice_from(kept).map(Some)
            }
            Origin::Copy(source) => Ok(gathered(source)),
            _ => Ok(None),
        }
    }

    /// Returns the simulated table; the first call replays the construction.
    pub(crate) fn layout(&'r self, run: &mut Run<'r>) -> Outcome<&'r Layout<'r>> {
        if self.known_layout().is_none() {
            origin::force(run, self)?;
        }
        // `force` has set the layout of this set.
        self.known_layout().ok_or(Fault::Memory)
    }

    /// Says whether the iteration order has been computed already.
    pub(crate) fn is_ordered(&self) -> bool {
        self.len() <= 1 || self.known_layout().is_some()
    }

    #[inline(always)]
    fn known_layout(&self) -> Option<&'r Layout<'r>> {
        self.noted(|known| known.layout.get())
    }

    /// Returns element numbers in iteration order.
    pub(crate) fn order(&'r self, run: &mut Run<'r>) -> Outcome<&'r [u32]> {
        match self.len() {
            0 => Ok(&[]),
            1 => Ok(&[0]),
            _ => Ok(self.layout(run)?.order),
        }
    }

    /// Returns the elements in iteration order.
    pub(crate) fn values(&'r self, run: &mut Run<'r>) -> Outcome<&'r [Value<'r>]> {
        if let Some(values) = self.noted(|known| known.ordered.get()) {
            return Ok(values);
        }
        let order = self.order(run)?;
        let ordered = order.iter().map(|&k| self.elems.get(k as usize));
        let values = run.noting(self, |run| run.slice_from(ordered))?;
        self.known(run)?.ordered.set(Some(values));
        Ok(values)
    }

    /// Returns the first element in iteration order.
    pub(crate) fn first(&'r self, run: &mut Run<'r>) -> Outcome<Option<Value<'r>>> {
        Ok(self
            .order(run)?
            .first()
            .map(|&k| self.elems.get(k as usize)))
    }

    /// Returns the number of the element equal to `v`.
    pub(crate) fn find(&self, run: &mut Run<'r>, v: Value<'r>) -> Option<u32> {
        match self.elems {
            Elems::Pairs(pairs) => {
                let wanted = numeric_pair(v)?;
                self.find_by(
                    run,
                    wanted.key(),
                    |k| pairs[k] == wanted,
                    |k| pairs[k].key(),
                )
            }
            Elems::Cells(cells) => {
                let wanted = run.numeric_cell(v)?;
                self.find_by(
                    run,
                    wanted.key(),
                    |k| cells[k] == wanted,
                    |k| cells[k].key(),
                )
            }
            Elems::Values(values) => {
                if values.len() <= LINEAR_SEARCH && v.integral().is_some() {
                    let wanted = v.integral();
                    return values
                        .iter()
                        .position(|v| v.integral() == wanted)
                        .map(|k| k as u32);
                }
                let hash = run.hash(v);
                let hashes = self.element_hashes(run).ok()?;
                let mut at = 0;
                if values.len() > LINEAR_SEARCH {
                    return self.find_hashed(run, hash, hashes, values, v);
                }
                while at < values.len() {
                    if hashes[at] == hash && run.eq_member(values[at], v) {
                        return Some(at as u32);
                    }
                    at += 1;
                }
                None
            }
        }
    }

    #[inline(always)]
    fn find_by(
        &self,
        run: &mut Run<'r>,
        key: u64,
        same: impl Fn(usize) -> bool,
        key_of: impl Fn(usize) -> u64,
    ) -> Option<u32> {
        let n = self.len();
        if n <= LINEAR_SEARCH {
            return (0..n).find(|&k| same(k)).map(|k| k as u32);
        }
        let table = self.lookup_table(run, key_of)?;
        let mask = table.len() - 1;
        let mut at = spread(key, table.len());
        loop {
            match table[at] {
                EMPTY => return None,
                k if same(k as usize) => return Some(k),
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn find_hashed(
        &self,
        run: &mut Run<'r>,
        hash: u64,
        hashes: &'r [u64],
        values: &'r [Value<'r>],
        v: Value<'r>,
    ) -> Option<u32> {
        let table = self.lookup_table(run, |k| hashes[k])?;
        let mask = table.len() - 1;
        let mut at = spread(hash, table.len());
        loop {
            match table[at] {
                EMPTY => return None,
                k if hashes[k as usize] == hash && run.eq_member(values[k as usize], v) => {
                    return Some(k);
                }
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Returns an open-addressing table over the elements. `None` only when memory is exhausted,
    /// which the next allocation of the run reports.
    fn lookup_table(&self, run: &mut Run<'r>, key_of: impl Fn(usize) -> u64) -> Option<&'r [u32]> {
        if let Some(table) = self.noted(|known| known.lookup.get()) {
            return Some(table);
        }
        let size = (self.len() * 2).next_power_of_two();
        let table = run.noting(self, |run| run.slice_filled(size, EMPTY).ok())?;
        for k in 0..self.len() {
            let mut at = spread(key_of(k), size);
            while table[at] != EMPTY {
                at = (at + 1) & (size - 1);
            }
            table[at] = k as u32;
        }
        self.known(run).ok()?.lookup.set(Some(table));
        Some(table)
    }

    /// Returns the locations of the set as bits. `None` if it is not a set of locations, or they
    /// are too few for that, or too far apart.
    #[inline]
    pub(crate) fn locations(&self, run: &mut Run<'r>) -> Option<Locations<'r>> {
        let Elems::Pairs(pairs) = self.elems else {
            return None;
        };
        if pairs.len() <= LINEAR_SEARCH {
            return None;
        }
        let bounds = self.bounds()?;
        let bits = self.bits(run, pairs, bounds)?;
        Some(Locations { bounds, bits })
    }

    /// Returns one bit per location of the bounding box, unless that is too large.
    fn bits(&self, run: &mut Run<'r>, pairs: &[IntPair], b: Bounds) -> Option<&'r [u64]> {
        if let Some(bits) = self.noted(|known| known.bits.get()) {
            return Some(bits);
        }
        let area = b.height() * b.width();
        if area > MOST_BITS {
            return None;
        }
        let words = (area as usize).div_ceil(64);
        let bits = run.noting(self, |run| run.slice_filled(words, 0u64).ok())?;
        for &p in pairs {
            let at = b.position(p);
            bits[at / 64] |= 1 << (at % 64);
        }
        self.known(run).ok()?.bits.set(Some(bits));
        Some(bits)
    }

    /// Says whether the set contains an element equal to `v`.
    pub(crate) fn contains(&self, run: &mut Run<'r>, v: Value<'r>) -> bool {
        self.find(run, v).is_some()
    }

    /// Says whether every element of this set is in the other.
    pub(crate) fn is_subset(&self, run: &mut Run<'r>, other: &Set<'r>) -> bool {
        self.len() <= other.len() && (0..self.len()).all(|k| other.contains(run, self.elems.get(k)))
    }

    /// Says whether both are patches with the same elements in the same sequence.
    pub(crate) fn has_same_list(&self, other: &Set<'r>) -> bool {
        match (self.elems, other.elems) {
            (Elems::Pairs(a), Elems::Pairs(b)) => a == b,
            (Elems::Cells(a), Elems::Cells(b)) => a == b,
            _ => false,
        }
    }

    /// Says whether both sets have the same elements.
    pub(crate) fn eq(&self, run: &mut Run<'r>, other: &Set<'r>) -> bool {
        if std::ptr::eq(self, other) {
            return true;
        }
        if self.len() != other.len() {
            return false;
        }
        if self.has_same_list(other) {
            return true;
        }
        self.fingerprint(run) == other.fingerprint(run) && self.is_subset(run, other)
    }

    /// Returns the bounding box of a non-empty patch in compact form.
    #[inline]
    pub(crate) fn bounds(&self) -> Option<Bounds> {
        if let Some(bounds) = self.bounds.get() {
            return Some(bounds);
        }
        let bounds = self.elems.bounds();
        self.bounds.set(bounds);
        bounds
    }

    /// Caches bounds that the maker knows already.
    pub(crate) fn with_bounds(&self, bounds: Option<Bounds>) {
        self.bounds.set(bounds);
    }

    /// For cells: says whether every location occurs only once.
    pub(crate) fn one_color_each(&self, run: &mut Run<'r>) -> bool {
        if let Some(known) = self.one_color_each.get() {
            return known;
        }
        let known = match self.elems {
            Elems::Cells(cells) => {
                let bounds = self.bounds();
                match bounds.and_then(|bounds| run.scratch.plane.lay_out(bounds)) {
                    Some(mut plane) => cells
                        .iter()
                        .enumerate()
                        .all(|(k, c)| plane.find_or_insert(c.at, k as u32) == k as u32),
                    None => {
                        let index = &mut run.scratch.index;
                        index.clear(cells.len());
                        cells.iter().enumerate().all(|(k, c)| {
                            let k = k as u32;
                            index.find_or_insert(c.at.key(), k, |_| true) == k
                        })
                    }
                }
            }
            _ => true,
        };
        self.one_color_each.set(Some(known));
        known
    }

    /// Returns what is known so far about locations occurring once.
    pub(crate) fn known_one_color_each(&self) -> Option<bool> {
        self.one_color_each.get()
    }

    /// Caches whether every location occurs once, as the maker knows.
    pub(crate) fn with_one_color_each(&self, known: Option<bool>) {
        self.one_color_each.set(known);
    }

    fn set_layout(&self, run: &mut Run<'r>, layout: &'r Layout<'r>) -> Outcome<()> {
        self.known(run)?.layout.set(Some(layout));
        Ok(())
    }

    /// Says whether finding an element is fast without preparation.
    fn is_searchable(&self) -> bool {
        self.len() <= LINEAR_SEARCH
            || self.noted(|known| known.lookup.get()).is_some()
            || self.noted(|known| known.bits.get()).is_some()
    }
}
/// Returns a location's part of a set's fingerprint, which is a sum of squares: the plain sum would
/// be the same for all lines of one length around one centre. The numbers have 32 bits, so that two
/// are multiplied at a time.
#[inline(always)]
fn print(p: IntPair) -> u32 {
    u32::from(p.i as u16) | u32::from(p.j as u16) << 16
}
/// Does the same for a cell. The colour takes bits that locations of grids do not use.
#[inline(always)]
fn print_cell(c: Cell) -> u32 {
    let color = c.color as u32;
    print(c.at) ^ color << 8 ^ color << 24
}
#[inline(always)]
fn square(print: u32) -> u64 {
    u64::from(print) * u64::from(print)
}
#[inline(always)]
fn sum_of(prints: impl Iterator<Item = u32>) -> u64 {
    prints.fold(0, |sum, print| sum.wrapping_add(square(print)))
}
/// Does the same for a line that is [laid out](line): its prints are equally far apart.
fn sum_of_line(pairs: &[IntPair]) -> u64 {
    let n = pairs.len() as i64;
    let first = i64::from(print(pairs[0]));
    let step = pairs.get(1).map_or(0, |&p| i64::from(print(p)) - first);
    // The sums of 0, 1, ..., n - 1 and of their squares. Prints have 21 bits, so nothing overflows.
    let numbers = n * (n - 1) / 2;
    let squares = n * (n - 1) * (2 * n - 1) / 6;
    (n * first * first + 2 * numbers * first * step + squares * step * step) as u64
}
fn sum_if_all(prints: impl Iterator<Item = Option<u32>>) -> Option<u64> {
    let mut sum = 0u64;
    for print in prints {
        sum = sum.wrapping_add(square(print?));
    }
    Some(sum)
}
#[inline(always)]
fn spread(key: u64, size: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - size.trailing_zeros())) as usize
}
