//! Making grids, and reading other values as grids.

use std::mem::MaybeUninit;

use crate::fault::{Fault, Outcome};
use crate::value::{GridView, Tuple, Value};

use super::Run;

impl<'r> Run<'r> {
    /// Makes a grid of these cells; an empty one is a tuple of empty tuples, as in Python.
    #[inline(always)]
    pub(crate) fn grid(
        &mut self,
        height: usize,
        width: usize,
        cells: &'r [u8],
    ) -> Outcome<Value<'r>> {
        if height == 0 || width == 0 {
            return self.empty_rows(height);
        }
        Ok(Value::Grid(self.alloc(GridView {
            height,
            width,
            cells,
        })?))
    }

    /// Makes a grid whose row `i` is `row(i)`: two parts side by side with `width` cells in total.
    #[inline(always)]
    pub(crate) fn grid_of_rows<'a>(
        &mut self,
        height: usize,
        width: usize,
        row: impl Fn(usize) -> (&'a [u8], &'a [u8]),
    ) -> Outcome<Value<'r>> {
        let len = height.checked_mul(width).ok_or(Fault::Size)?;
        self.spend(len / 8)?;
        let places = self.uninit(len)?;
        // Rows are split off one by one: an iterator over chunks begins with a division, which
        // takes as long as the copying.
        let mut rest = &mut *places;
        for i in 0..height {
            let (left, right) = row(i);
            let (first, others) = rest.split_at_mut(left.len());
            let (second, others) = others.split_at_mut(right.len());
            copy_row(first, left);
            copy_row(second, right);
            rest = others;
        }
        assert!(rest.is_empty(), "the rows fill the grid");
        let places: &'r [MaybeUninit<u8>] = places;
        // SAFETY: each row was split off `rest` and copied into in full (`copy_row` asserts the
        // lengths), and `rest` is empty now, so every place has been written. `MaybeUninit<u8>` has
        // the layout of `u8`.
        let cells = unsafe { &*(std::ptr::from_ref(places) as *const [u8]) };
        self.grid(height, width, cells)
    }

    /// Makes a grid of the rows of another one from the last to the first. Returns `None` if
    /// [`allocate_small_grid`](Run::allocate_small_grid) does.
    #[inline(always)]
    pub(crate) fn quick_rows_upward(&mut self, grid: &GridView<'_>) -> Option<Value<'r>> {
        let GridView {
            height,
            width,
            cells,
        } = *grid;
        let (head, places) = self.allocate_small_grid(cells.len())?;
        // One loop per width, so that the compiler knows the length of a row.
        macro_rules! by_width {
            ($($known:literal)*) => {
                match width {
                    $($known => copy_rows_upward::<$known>(places, cells),)*
                    _ => copy_long_rows_upward(places, cells, width),
                }
            };
        }
        let cells = by_width!(
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
        );
        Some(Value::Grid(head.write(GridView {
            height,
            width,
            cells,
        })))
    }

    /// Makes a grid of two grids of one width, one above the other. Returns `None` if
    /// [`allocate_small_grid`](Run::allocate_small_grid) does or if a grid is large.
    #[inline(always)]
    pub(crate) fn quick_stack(
        &mut self,
        above: &GridView<'_>,
        below: &GridView<'_>,
    ) -> Option<Value<'r>> {
        let height = above.height.checked_add(below.height)?;
        let (a, b) = (above.cells, below.cells);
        if a.len().max(b.len()) > SHORT {
            return None;
        }
        let (head, places) = self.allocate_small_grid(a.len() + b.len())?;
        let (first, second) = places.split_at_mut(a.len());
        copy_row(first, a);
        copy_row(second, b);
        // SAFETY: `first` and `second` cover all places, and `copy_row` has written both in full.
        let cells = unsafe { places.assume_init_ref() };
        Some(Value::Grid(head.write(GridView {
            height,
            width: above.width,
            cells,
        })))
    }

    /// Allocates a small grid, head and cells together, and charges the run for it. Returns `None`,
    /// without any effect, if a limit is near or the chunk is full. An operation that neither
    /// raises faults nor allocates chunks needs no stack frame, so a solver of one or two steps
    /// takes a third less time.
    #[inline(always)]
    fn allocate_small_grid(
        &mut self,
        cells: usize,
    ) -> Option<(GridHead<'r>, &'r mut [MaybeUninit<u8>])> {
        const HEAD: usize = size_of::<GridView<'_>>();
        if cells > QUICK || cells > self.limits.size {
            return None;
        }
        let fuel = self.fuel.checked_sub(cells as u64 / 8)?;
        let memory = self.memory.checked_sub(HEAD + cells)?;
        let room = self.arena.allocate_in_chunk(HEAD + cells)?;
        (self.fuel, self.memory) = (fuel, memory);
        // SAFETY: the arena returned `HEAD + cells` bytes, aligned to a word, which suffices for
        // the head. No other allocation overlaps them, and they stay valid while the arena is
        // borrowed for `'r`. Head and cells are disjoint parts of them. `MaybeUninit` may be
        // uninitialised.
        unsafe {
            let places = room.add(HEAD).cast().as_ptr();
            Some((
                room.cast().as_mut(),
                std::slice::from_raw_parts_mut(places, cells),
            ))
        }
    }

    #[cold]
    fn empty_rows(&mut self, height: usize) -> Outcome<Value<'r>> {
        self.check_len(height)?;
        let rows = self.slice_from((0..height).map(|_| Value::EMPTY_TUPLE))?;
        self.tuple_of(rows)
    }

    /// Makes a grid whose cell at `(i, j)` is `cell(i, j)`.
    #[inline(always)]
    pub(crate) fn grid_from(
        &mut self,
        height: usize,
        width: usize,
        mut cell: impl FnMut(usize, usize) -> u8,
    ) -> Outcome<Value<'r>> {
        let len = height.checked_mul(width).ok_or(Fault::Size)?;
        self.check_len(len)?;
        self.spend(len / 8)?;
        let cells = self.slice_filled(len, 0u8)?;
        if len > 0 {
            for (i, row) in cells.chunks_exact_mut(width).enumerate() {
                for (j, place) in row.iter_mut().enumerate() {
                    *place = cell(i, j);
                }
            }
        }
        self.grid(height, width, cells)
    }

    /// Returns the value as a grid in compact form, if it is a grid.
    #[inline(always)]
    pub(crate) fn as_grid(&mut self, v: Value<'r>) -> Option<&'r GridView<'r>> {
        match v {
            Value::Grid(grid) => Some(grid),
            _ => self.other_as_grid(v),
        }
    }

    /// Returns the compact form of a grid that has another form.
    #[inline(never)]
    fn other_as_grid(&mut self, v: Value<'r>) -> Option<&'r GridView<'r>> {
        match v {
            Value::Tuple(tuple) => self.tuple_as_grid(tuple),
            Value::Segment(_) => {
                let (a, b) = self.unpack2(v).ok()?;
                self.gather_grid(&[a, b])
            }
            Value::Concat(concat) => {
                let tuple = self.concat_items(concat).ok()?;
                self.tuple_as_grid(tuple)
            }
            _ => None,
        }
    }

    fn tuple_as_grid(&mut self, tuple: &'r Tuple<'r>) -> Option<&'r GridView<'r>> {
        let known = self.tuple_known(tuple).ok()?;
        if let Some(grid) = known.grid.get() {
            return grid;
        }
        let grid = self.make_note(tuple, |run| run.gather_grid(tuple.items));
        known.grid.set(Some(grid));
        grid
    }

    /// Copies rows into a compact grid, if they have equal lengths and hold only integers 0 to 255.
    fn gather_grid(&mut self, rows: &[Value<'r>]) -> Option<&'r GridView<'r>> {
        let width = self.tuple_len(*rows.first()?)?;
        if width == 0 {
            return None;
        }
        let triples = self.triples();
        let mut bytes = std::mem::take(&mut self.scratch.bytes);
        bytes.clear();
        let complete = rows.iter().all(|&row| {
            self.tuple_len(row) == Some(width) && append_bytes(&mut bytes, row, triples)
        });
        let grid = if complete {
            self.slice(&bytes).ok().and_then(|cells| {
                self.alloc(GridView {
                    height: rows.len(),
                    width,
                    cells,
                })
                .ok()
            })
        } else {
            None
        };
        self.scratch.bytes = bytes;
        grid
    }
}

/// The memory for a grid, without its cells.
type GridHead<'r> = &'r mut MaybeUninit<GridView<'r>>;

/// The most cells of a small grid: more than any grid of ARC has, and few enough that no sum
/// overflows.
const QUICK: usize = 1024;

/// The most bytes of a short copy. The compiler turns a longer copy into a call.
const SHORT: usize = 32;

/// Copies rows of `W` cells, the last one first.
#[inline(always)]
fn copy_rows_upward<'r, const W: usize>(to: &'r mut [MaybeUninit<u8>], from: &[u8]) -> &'r [u8] {
    let (places, rest) = to.as_chunks_mut::<W>();
    let rows = from.as_chunks::<W>().0;
    assert!(rest.is_empty() && places.len() == rows.len());
    for (place, row) in places.iter_mut().zip(rows.iter().rev()) {
        *place = row.map(MaybeUninit::new);
    }
    // SAFETY: `as_chunks_mut` has left no rest and there are as many rows as places (both
    // asserted), so the loop has written every place.
    unsafe { to.assume_init_ref() }
}

/// Does what [`copy_rows_upward`] does, for rows of any length.
#[inline(never)]
fn copy_long_rows_upward<'r>(to: &'r mut [MaybeUninit<u8>], from: &[u8], width: usize) -> &'r [u8] {
    let mut rest = &mut *to;
    for row in from.rchunks_exact(width) {
        let (place, below) = rest.split_at_mut(width);
        place.write_copy_of_slice(row);
        rest = below;
    }
    assert!(rest.is_empty());
    // SAFETY: every place up to `rest` has been written, row by row, and `rest` is empty
    // (asserted).
    unsafe { to.assume_init_ref() }
}

/// Copies the first and the last `N` bytes, which overlap.
#[inline(always)]
fn copy_ends<const N: usize>(to: &mut [MaybeUninit<u8>], from: &[u8]) {
    let len = from.len();
    to[..N].write_copy_of_slice(&from[..N]);
    to[len - N..].write_copy_of_slice(&from[len - N..]);
}

/// Copies a row of a grid. Rows are short, and a copy of unknown length would become a call.
#[inline(always)]
fn copy_row(to: &mut [MaybeUninit<u8>], from: &[u8]) {
    assert_eq!(to.len(), from.len());
    match from.len() {
        16..=SHORT => copy_ends::<16>(to, from),
        8..16 => copy_ends::<8>(to, from),
        4..8 => copy_ends::<4>(to, from),
        2..4 => copy_ends::<2>(to, from),
        _ => {
            to.write_copy_of_slice(from);
        }
    }
}

/// Appends the elements of a tuple if all are plain integers 0 to 255.
fn append_bytes(bytes: &mut Vec<u8>, tuple: Value<'_>, triples: bool) -> bool {
    let mut push = |n: i64| u8::try_from(n).map(|b| bytes.push(b)).is_ok();
    match tuple {
        Value::Pair(p) => push(p.get().i.into()) && push(p.get().j.into()),
        Value::Cell(c) if triples => {
            let c = c.get();
            push(c.at.i.into()) && push(c.at.j.into()) && push(c.color.into())
        }
        Value::Row(row) => {
            bytes.extend_from_slice(row.cells);
            true
        }
        Value::Tuple(tuple) => tuple.items.iter().all(|v| match v {
            Value::Int(n) => push(*n),
            _ => false,
        }),
        _ => false,
    }
}
