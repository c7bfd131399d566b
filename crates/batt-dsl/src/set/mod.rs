//! Frozensets, whose iteration order is computed on demand.
//!
//! CPython's iteration order follows from the hashes and from the way a set was made. Most sets are
//! never read in order, so a [`Set`] keeps its distinct elements in any convenient sequence,
//! together with its [`Origin`], which is enough to replay the construction on a simulated table.
//! The first order-sensitive read replays it, and the set caches the result.
//!
//! ```text
//!   elements (distinct, any sequence) ──┐
//!                                       ├─ force ─> Layout: slots, iteration order
//!   origin (Build, map, filter, ...) ───┘
//! ```
//!
//! Comments name constructions in italics. *Build* inserts elements one after the other into an
//! empty set, *Freeze* makes a frozenset of a mutable set, and *Copy* copies a set. A frozen set or
//! a copy may be laid out differently from its source. *Union*, *Inter* and *Diff* are `a | b`,
//! `a & b` and `a - b`.

mod algebra;
mod bounds;
mod build;
mod given;
mod index;
mod layout;
mod line;
mod origin;
mod plane;
mod recipe;
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
pub use recipe::{SetRecipe, SetSteps};
pub use table_view::SetTable;

/// The distinct elements of a set, in the most compact form that they allow.
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
/// It takes one cache line, because programs make sets by the thousand and read few of them
/// closely. Facts that need more computation are cached in a separate record.
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
/// The largest area of a bounding box whose locations are stored as bits.
const MOST_BITS: i64 = 1 << 16;
/// The largest set that is searched linearly.
const LINEAR_SEARCH: usize = 12;
impl<'r> Set<'r> {
    /// The number of elements.
    #[inline(always)]
    #[allow(
        clippy::len_without_is_empty,
        reason = "nobody asks whether a set is empty"
    )]
    pub fn len(&self) -> usize {
        self.elems.len()
    }

    /// Returns the notes about this set.
    fn known(&self, run: &mut Run<'r>) -> Outcome<&'r Known<'r>> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let known = run.make_note(self, |run| run.alloc(Known::default()))?;
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
        // If memory runs out, only the note is lost here. The run has recorded the limit and will
        // fail.
        if let Ok(known) = self.known(run) {
            known.hash.set(Some(hash));
        }
        hash
    }

    /// Returns a number that is equal for equal sets. It is cheaper than the hash and tells most
    /// different sets apart.
    pub(crate) fn fingerprint(&self, run: &mut Run<'r>) -> u64 {
        let of_keys =
            |sum: u64| (sum ^ (self.len() as u64) << 56).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        match self.elems {
            Elems::Pairs(pairs) if line::is_laid_out(pairs) => of_keys(sum_of_line(pairs)),
            Elems::Pairs(pairs) => of_keys(sum_of(pairs.iter().map(|&p| location_code(p)))),
            Elems::Cells(cells) => of_keys(sum_of(cells.iter().map(|&c| cell_code(c)))),
            // In general form some elements may equal pairs or cells, as (True, 0) does.
            Elems::Values(values) => {
                let pairs = values.iter().map(|&v| numeric_pair(v).map(location_code));
                let cells = values.iter().map(|&v| run.numeric_cell(v).map(cell_code));
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
        let hashes = run.make_note(self, |run| self.hash_elements(run))?;
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

    /// Returns the hashes of the elements if the sets from which this one was made have cached
    /// theirs. No order is computed for that.
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

    /// Returns whether the iteration order is known already.
    pub(crate) fn is_ordered(&self) -> bool {
        self.len() <= 1
            || matches!(self.origin, Origin::Given { .. })
            || self.known_layout().is_some()
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
        if let (Origin::Given { .. }, Elems::Values(values)) = (self.origin, self.elems) {
            return Ok(values);
        }
        let order = self.order(run)?;
        let ordered = order.iter().map(|&k| self.elems.get(k as usize));
        let values = run.make_note(self, |run| run.slice_from(ordered))?;
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
        let table = run.make_note(self, |run| run.slice_filled(size, EMPTY).ok())?;
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

    /// Returns the locations of the set as bits. Returns `None` if it is not a set of locations, or
    /// if the locations are too few or too far apart.
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

    /// Returns one bit per location of the bounding box, unless the box is too large.
    fn bits(&self, run: &mut Run<'r>, pairs: &[IntPair], b: Bounds) -> Option<&'r [u64]> {
        if let Some(bits) = self.noted(|known| known.bits.get()) {
            return Some(bits);
        }
        let area = b.height() * b.width();
        if area > MOST_BITS {
            return None;
        }
        let words = (area as usize).div_ceil(64);
        let bits = run.make_note(self, |run| run.slice_filled(words, 0u64).ok())?;
        for &p in pairs {
            let at = b.position(p);
            bits[at / 64] |= 1 << (at % 64);
        }
        self.known(run).ok()?.bits.set(Some(bits));
        Some(bits)
    }

    /// Returns whether the set contains an element equal to `v`.
    pub(crate) fn contains(&self, run: &mut Run<'r>, v: Value<'r>) -> bool {
        self.find(run, v).is_some()
    }

    /// Returns whether every element of this set is in the other.
    pub(crate) fn is_subset(&self, run: &mut Run<'r>, other: &Set<'r>) -> bool {
        self.len() <= other.len() && (0..self.len()).all(|k| other.contains(run, self.elems.get(k)))
    }

    /// Returns whether both sets are patches whose elements are stored in the same sequence.
    pub(crate) fn has_same_list(&self, other: &Set<'r>) -> bool {
        match (self.elems, other.elems) {
            (Elems::Pairs(a), Elems::Pairs(b)) => a == b,
            (Elems::Cells(a), Elems::Cells(b)) => a == b,
            _ => false,
        }
    }

    /// Returns whether both sets have the same elements.
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

    /// Caches bounds that the caller knows already.
    pub(crate) fn with_bounds(&self, bounds: Option<Bounds>) {
        self.bounds.set(bounds);
    }

    /// Returns whether every location of a set of cells occurs only once.
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

    /// Returns whether every location occurs only once, if that is known already.
    pub(crate) fn known_one_color_each(&self) -> Option<bool> {
        self.one_color_each.get()
    }

    /// Caches whether every location occurs only once, if the caller knows that already.
    pub(crate) fn with_one_color_each(&self, known: Option<bool>) {
        self.one_color_each.set(known);
    }

    fn set_layout(&self, run: &mut Run<'r>, layout: &'r Layout<'r>) -> Outcome<()> {
        self.known(run)?.layout.set(Some(layout));
        Ok(())
    }

    /// Returns whether finding an element is fast without preparation.
    fn is_searchable(&self) -> bool {
        self.len() <= LINEAR_SEARCH
            || self.noted(|known| known.lookup.get()).is_some()
            || self.noted(|known| known.bits.get()).is_some()
    }
}
/// Returns the code of a location for fingerprints. A fingerprint is a sum of squared codes,
/// because the plain sum would be the same for all lines of one length around one centre. Codes
/// have 32 bits, so that the compiler multiplies two at a time.
#[inline(always)]
fn location_code(p: IntPair) -> u32 {
    u32::from(p.i as u16) | u32::from(p.j as u16) << 16
}
/// Returns the code of a cell for fingerprints. The colour takes bits that locations of grids do
/// not use.
#[inline(always)]
fn cell_code(c: Cell) -> u32 {
    let color = c.color as u32;
    location_code(c.at) ^ color << 8 ^ color << 24
}
#[inline(always)]
fn square(code: u32) -> u64 {
    u64::from(code) * u64::from(code)
}
#[inline(always)]
fn sum_of(codes: impl Iterator<Item = u32>) -> u64 {
    codes.fold(0, |sum, code| sum.wrapping_add(square(code)))
}
/// Returns the sum of squared codes for a line that is [laid out](line). Its codes are equally
/// spaced.
fn sum_of_line(pairs: &[IntPair]) -> u64 {
    let n = pairs.len() as i64;
    let first = i64::from(location_code(pairs[0]));
    let step = pairs
        .get(1)
        .map_or(0, |&p| i64::from(location_code(p)) - first);
    // The sums of 0, 1, ..., n - 1 and of their squares. Codes of laid-out locations have 21 bits,
    // so nothing overflows.
    let numbers = n * (n - 1) / 2;
    let squares = n * (n - 1) * (2 * n - 1) / 6;
    (n * first * first + 2 * numbers * first * step + squares * step * step) as u64
}
fn sum_if_all(codes: impl Iterator<Item = Option<u32>>) -> Option<u64> {
    let mut sum = 0u64;
    for code in codes {
        sum = sum.wrapping_add(square(code?));
    }
    Some(sum)
}
#[inline(always)]
fn spread(key: u64, size: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - size.trailing_zeros())) as usize
}
