//! Colours of grids and objects.

use std::cmp::Ordering;

use crate::fault::{Fault, Outcome};
use crate::op;
use crate::run::Run;
use crate::set::{Elems, Origin, Set};
use crate::table::Op;
use crate::value::{Cell, Value};

use super::container::{most_frequent, pick};
use super::members::Members;

const FAMILY: &str = "color";

pub(super) const OPS: &[&Op] = &[
    &mostcolor::OP,
    &leastcolor::OP,
    &colorcount::OP,
    &palette::OP,
    &numcolors::OP,
    &color::OP,
    &colorfilter::OP,
];

op! {
    /// The most frequent colour.
    ///
    /// If several colours are equally frequent, the first one in the iteration order of the set of
    /// colours counts. Fails when there are none.
    pub mostcolor(element: Element) -> Integer;
    ordered "several colours that are equally frequent";
    example "mostcolor(((1, 2), (2, 3)))" => "2";
    fails "mostcolor(())";
    |run| { color_by_frequency(run, element, Ordering::Greater) }
}

op! {
    /// The rarest colour.
    ///
    /// If several colours are equally rare, the first one in the iteration order of the set of
    /// colours counts. Fails when there are none.
    pub leastcolor(element: Element) -> Integer;
    ordered "several colours that are equally rare";
    example "leastcolor(((1, 2), (2, 2)))" => "1";
    fails "leastcolor(())";
    |run| { color_by_frequency(run, element, Ordering::Less) }
}

/// Charges the run for one look at every cell.
fn spend_for<'r>(run: &mut Run<'r>, element: Value<'r>) -> Outcome<()> {
    let work = match element {
        Value::Set(set) => set.len() / 4,
        _ => run.as_grid(element).map_or(0, |grid| grid.cells.len() / 16),
    };
    run.spend(work)
}

/// Counts the colours of ARC among at most [`MAX_PACKED`] cells. Returns `None` when there is
/// another colour.
///
/// All counters are in one register, six bits each.
fn count_packed(colors: impl ExactSizeIterator<Item = i32>) -> Option<[u32; ARC_COLORS]> {
    debug_assert!(colors.len() <= MAX_PACKED);
    // This is a table instead of a shift by the colour, because the compiler would vectorise the
    // shifts, which is slower.
    const ONE: [u64; ARC_COLORS + 1] = [
        1,
        1 << 6,
        1 << 12,
        1 << 18,
        1 << 24,
        1 << 30,
        1 << 36,
        1 << 42,
        1 << 48,
        1 << 54,
        0,
    ];
    let mut packed = 0u64;
    let mut highest = 0;
    for color in colors {
        let color = (color as u32 as usize).min(ARC_COLORS);
        highest = highest.max(color);
        packed += ONE[color];
    }
    (highest < ARC_COLORS).then(|| std::array::from_fn(|k| (packed >> (6 * k)) as u32 & 63))
}

/// The most cells that six-bit counters can count.
const MAX_PACKED: usize = 63;

/// Counts the colours of ARC. Returns `None` when there is another colour.
///
/// Compares sixteen cells at a time with every colour. A counter per cell in memory would be stored
/// and loaded again for every cell of the most common colour.
fn count_arc_colors(cells: &[u8]) -> Option<[u32; ARC_COLORS]> {
    if cells.len() <= MAX_PACKED {
        return count_packed(cells.iter().map(|&c| c.into()));
    }
    const LANES: usize = 16;
    let mut counts = [0u32; ARC_COLORS];
    // Lanes count up to 255, so the sums are taken after that many blocks.
    for block in cells.chunks(LANES * 255) {
        let mut lanes = [[0u8; LANES]; ARC_COLORS];
        let mut chunks = block.chunks_exact(LANES);
        for chunk in &mut chunks {
            for (color, lane) in (0u8..).zip(&mut lanes) {
                for (count, &cell) in lane.iter_mut().zip(chunk) {
                    *count += u8::from(cell == color);
                }
            }
        }
        for (count, lane) in counts.iter_mut().zip(&lanes) {
            *count += lane.iter().map(|&n| u32::from(n)).sum::<u32>();
        }
        // The last block is padded with cells of no colour.
        let mut rest = [u8::MAX; LANES];
        rest[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        for (color, count) in (0u8..).zip(&mut counts) {
            *count += rest
                .iter()
                .map(|&cell| u32::from(cell == color))
                .sum::<u32>();
        }
    }
    let counted: u32 = counts.iter().sum();
    (counted as usize == cells.len()).then_some(counts)
}

/// The number of colours of ARC.
const ARC_COLORS: usize = 10;

fn count_bytes(cells: &[u8]) -> [u32; 256] {
    let mut counts = [0; 256];
    for &c in cells {
        counts[c as usize] += 1;
    }
    counts
}

/// Returns the most (or least) frequent byte, if it can be found without building the set of bytes.
pub(super) fn winner_of(cells: &[u8], direction: Ordering) -> Option<u8> {
    match count_arc_colors(cells) {
        Some(counts) => winner(&counts, direction),
        None => clear_winner(&count_bytes(cells), direction),
    }
}

/// Counts the colours of an object's cells. Returns `None` when one is not a colour of ARC.
fn count_cells(cells: &[Cell]) -> Option<[u32; ARC_COLORS]> {
    if cells.len() <= MAX_PACKED {
        return count_packed(cells.iter().map(|c| c.color));
    }
    let mut counts = [0; ARC_COLORS];
    for cell in cells {
        *counts.get_mut(usize::try_from(cell.color).ok()?)? += 1;
    }
    Some(counts)
}

/// Returns the most (or least) frequent colour; if several tie, the first one in the iteration
/// order of the set of colours. Returns `None` if that depends on how the set was built.
fn winner(counts: &[u32; ARC_COLORS], direction: Ordering) -> Option<u8> {
    if let Some(winner) = clear_winner(counts, direction) {
        return Some(winner);
    }
    let bits = |wanted: &dyn Fn(u32) -> bool| {
        (0..ARC_COLORS).fold(0u16, |bits, c| bits | u16::from(wanted(counts[c])) << c)
    };
    let present = bits(&|n| n > 0);
    let best = *pick(counts.iter().filter(|&&n| n > 0), direction)?;
    let tied = bits(&|n| n == best);
    if !insertion_order_is_irrelevant(present) {
        return None;
    }
    // A set of up to four colours has eight slots, where 8 and 9 come before 2.
    let place = |c: u8| if present.count_ones() > 4 { c } else { c % 8 };
    (0..ARC_COLORS as u8)
        .filter(|&c| tied >> c & 1 == 1)
        .min_by_key(|&c| place(c))
}

/// Returns the most (or least) frequent colour, if there is no tie.
fn clear_winner(counts: &[u32], direction: Ordering) -> Option<u8> {
    let mut winner = None;
    let mut tie = false;
    for (c, &n) in counts.iter().enumerate().filter(|&(_, &n)| n > 0) {
        match winner {
            Some((_, best)) if n == best => tie = true,
            Some((_, best)) if n.cmp(&best) != direction => {}
            _ => (winner, tie) = (Some((c as u8, n)), false),
        }
    }
    winner.filter(|_| !tie).map(|(c, _)| c)
}

fn color_by_frequency<'r>(
    run: &mut Run<'r>,
    element: Value<'r>,
    direction: Ordering,
) -> Outcome<Value<'r>> {
    if let Some(winner) = quick_winner(run, element, direction)? {
        return Ok(winner);
    }
    let values = values(run, element)?;
    most_frequent(run, &values, direction)
}

/// Returns the most (or least) frequent colour of a grid or object in compact form, if it can be
/// found without building the set of colours.
#[inline(always)]
pub(super) fn quick_winner<'r>(
    run: &mut Run<'r>,
    element: Value<'r>,
    direction: Ordering,
) -> Outcome<Option<Value<'r>>> {
    spend_for(run, element)?;
    let winner = match element {
        Value::Set(set) => match set.elems {
            Elems::Cells(cells) => count_cells(cells).and_then(|counts| winner(&counts, direction)),
            _ => None,
        },
        _ => run
            .as_grid(element)
            .and_then(|grid| winner_of(grid.cells, direction)),
    };
    Ok(winner.map(|color| Value::Int(color.into())))
}

/// Returns all values of a grid, or the colours of a set's cells, in order.
fn values<'r>(run: &mut Run<'r>, element: Value<'r>) -> Outcome<Vec<Value<'r>>> {
    if element.is_tuple() {
        grid_values(run, element)
    } else {
        cell_colors(run, element)
    }
}

/// Returns all values of the members of a container, row by row.
pub(super) fn grid_values<'r>(run: &mut Run<'r>, grid: Value<'r>) -> Outcome<Vec<Value<'r>>> {
    let mut values = Vec::new();
    for &row in run.items(grid)? {
        values.extend_from_slice(run.items(row)?);
    }
    Ok(values)
}

/// Returns the colours of the cells in a container, in order.
pub(super) fn cell_colors<'r>(run: &mut Run<'r>, cells: Value<'r>) -> Outcome<Vec<Value<'r>>> {
    let mut colors = Vec::new();
    for &cell in run.items(cells)? {
        colors.push(if run.triples() {
            run.unpack3(cell)?[2]
        } else {
            run.unpack2(cell)?.0
        });
    }
    Ok(colors)
}

op! {
    /// The number of cells of a colour.
    pub colorcount(element: Element, value: Integer) -> Integer;
    example "colorcount(((1, 2), (2, 3)), TWO)" => "2";
    fails "colorcount(THREE, TWO)";
    |run| {
        let wanted = value.integral();
        if let Some(grid) = run.as_grid(element) {
            let wanted = wanted.and_then(|n| u8::try_from(n).ok());
            run.spend(grid.cells.len() / 16)?;
            let count = wanted.map_or(0, |w| grid.cells.iter().filter(|&&c| c == w).count());
            return Ok(Value::Int(count as i64));
        }
        if let Value::Set(set) = element
            && let Elems::Cells(cells) = set.elems
        {
            run.spend(cells.len() / 4)?;
            let count = cells.iter().filter(|c| Some(i64::from(c.color)) == wanted).count();
            return Ok(Value::Int(count as i64));
        }
        if element.is_tuple() {
            return count_in_rows(run, element, value);
        }
        count_among_cells(run, element, value)
    }
}

/// Counts a value in the tuples of a container.
pub(super) fn count_in_rows<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    value: Value<'r>,
) -> Outcome<Value<'r>> {
    let mut count = 0;
    for &row in run.items(grid)? {
        if !row.is_tuple() {
            return Err(Fault::Attribute);
        }
        for &v in run.items(row)? {
            count += i64::from(run.eq_member(v, value));
        }
    }
    Ok(Value::Int(count))
}

/// Counts the cells of a colour in a container.
pub(super) fn count_among_cells<'r>(
    run: &mut Run<'r>,
    cells: Value<'r>,
    value: Value<'r>,
) -> Outcome<Value<'r>> {
    let mut count = 0;
    for color in cell_colors(run, cells)? {
        count += i64::from(run.eq(color, value));
    }
    Ok(Value::Int(count))
}

op! {
    /// The set of colours.
    pub palette(element: Element) -> IntegerSet;
    example "palette(((1, 2), (2, 3)))" => "frozenset({1, 2, 3})";
    fails "palette(THREE)";
    |run| { Ok(Value::Set(palette_set(run, element)?)) }
}

/// Does what `palette` does, and returns the set itself.
pub(super) fn palette_set<'r>(run: &mut Run<'r>, element: Value<'r>) -> Outcome<&'r Set<'r>> {
    if let Some(colors) = quick_palette(run, element, Origin::Frozen)? {
        return Ok(colors);
    }
    let values = values(run, element)?;
    run.build_frozen(&values)
}

/// Returns the colours of a grid or object in compact form, if the order of insertion cannot
/// matter.
pub(super) fn quick_palette<'r>(
    run: &mut Run<'r>,
    element: Value<'r>,
    origin: Origin<'r>,
) -> Outcome<Option<&'r Set<'r>>> {
    spend_for(run, element)?;
    let present = match element {
        Value::Set(set) => match set.elems {
            Elems::Cells(cells) => small_colors(cells.iter().map(|c| c.color)),
            _ => None,
        },
        _ => match run.as_grid(element) {
            Some(grid) => small_colors(grid.cells.iter().map(|&c| c.into())),
            None => None,
        },
    };
    let Some(present) = present.filter(|&p| insertion_order_is_irrelevant(p)) else {
        return Ok(None);
    };
    let mut colors = [Value::None; ARC_COLORS];
    let mut count = 0;
    for color in (0..ARC_COLORS).filter(|c| present >> c & 1 == 1) {
        colors[count] = Value::Int(color as i64);
        count += 1;
    }
    let colors = run.slice(&colors[..count])?;
    run.set(Elems::Values(colors), origin).map(Some)
}

/// Returns the colours as bits, if all are 0 to 9 and there is at least one.
fn small_colors(colors: impl Iterator<Item = i32>) -> Option<u16> {
    let mut present = 0;
    let mut beyond = 0;
    for color in colors {
        beyond |= u32::from(!(0..10).contains(&color));
        present |= 1u16 << (color & 15);
    }
    (beyond == 0 && present != 0).then_some(present)
}

/// Returns whether the table of these colours is the same for every insertion order. Up to four
/// colours share eight slots, where 0 collides with 8 and 1 with 9; five and more have a slot each.
fn insertion_order_is_irrelevant(present: u16) -> bool {
    let both = |a: u32, b: u32| present >> a & present >> b & 1 == 1;
    present.count_ones() > 4 || !(both(0, 8) || both(1, 9))
}

op! {
    /// The number of different colours.
    // The hint of the original, although the result is an integer.
    pub numcolors(element: Element) -> IntegerSet;
    example "numcolors(((1, 2), (2, 3)))" => "3";
    fails "numcolors(THREE)";
    |run| {
        if let Value::Set(set) = element
            && let Elems::Cells(cells) = set.elems
            && let Some(counts) = count_cells(cells)
        {
            run.spend(cells.len() / 4)?;
            let count = counts.iter().filter(|&&n| n > 0).count();
            return Ok(Value::Int(count as i64));
        }
        Ok(Value::Int(palette_set(run, element)?.len() as i64))
    }
}

op! {
    /// The colour of an object, which is the colour of its first cell.
    ///
    /// For a grid it is the top left value. Fails for anything empty.
    pub color(obj: Object) -> Integer;
    ordered "an object of several colours";
    example "color(recolor(THREE, initset(ORIGIN)))" => "3";
    fails "color(())";
    |run| { first_color(run, obj) }
}

/// Returns the first component of the first element; the third one if cells are triples.
pub(super) fn first_color<'r>(run: &mut Run<'r>, container: Value<'r>) -> Outcome<Value<'r>> {
    if let Value::Set(set) = container {
        run.spend(set.len() / 4)?;
        if let Elems::Cells(cells) = set.elems
            && cells.iter().all(|c| c.color == cells[0].color)
        {
            return Ok(Value::Int(cells[0].color.into()));
        }
    }
    let first = super::container::first(run, container)?;
    run.at(first, if run.triples() { 2 } else { 0 })
}

op! {
    /// The objects of a colour, as a set.
    ///
    /// Only the first cell of each object is read. Fails when an object is empty.
    pub colorfilter(objs: Objects, value: Integer) -> Objects;
    ordered "an object of several colours";
    example "colorfilter(fgpartition(((1, 0), (0, 0))), ONE)" => "frozenset({frozenset({(1, (0, 0))})})";
    fails "colorfilter(initset(()), ONE)";
    |run| {
        let members = Members::of(run, objs)?;
        let mut kept = run.take_numbers();
        let visited = members.each(run, 0, |run, k| {
            let color = first_color(run, members.get(k))?;
            if run.eq(color, value) {
                kept.push(k as u32);
            }
            Ok(())
        });
        visited.map_err(Fault::through_generator)?;
        let filtered = members.keep_in_set(run, &kept);
        run.give_numbers(kept);
        filtered
    }
}
