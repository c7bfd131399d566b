//! Generic containers: tuples and frozensets of anything.

mod extremes;
mod filter;
mod sorted;

use crate::fault::{Fault, Outcome};
use crate::op;
use crate::run::Run;
use crate::set::{Elems, Origin, Product, Set, Walk};
use crate::table::Op;
use crate::value::{IntPair, Tuple, Value};

use super::members::Members;

pub(super) use extremes::{
    argmax, argmin, frequencies, leastcommon, maximum, minimum, most_frequent, mostcommon, pick,
    valmax, valmin,
};
pub(super) use filter::{extract, sfilter, sizefilter};
pub(super) use sorted::{int_keys, keys, order};

const FAMILY: &str = "container";

pub(super) const OPS: &[&Op] = &[
    &size::OP,
    &totuple::OP,
    &first::OP,
    &last::OP,
    &initset::OP,
    &insert::OP,
    &remove::OP,
    &other::OP,
    &combine::OP,
    &intersection::OP,
    &difference::OP,
    &dedupe::OP,
    &sorted::order::OP,
    &repeat::OP,
    &merge::OP,
    &extremes::maximum::OP,
    &extremes::minimum::OP,
    &extremes::valmax::OP,
    &extremes::valmin::OP,
    &extremes::argmax::OP,
    &extremes::argmin::OP,
    &extremes::mostcommon::OP,
    &extremes::leastcommon::OP,
    &filter::sfilter::OP,
    &filter::mfilter::OP,
    &filter::extract::OP,
    &interval::OP,
    &product::OP,
    &pair::OP,
    &filter::sizefilter::OP,
];

op! {
    /// The number of elements.
    pub size(container: Container) -> Integer;
    example "size((7, 7, 7))" => "3";
    fails "size(ONE)";
    |run| { Ok(Value::Int(run.len(container)? as i64)) }
}

op! {
    /// The elements as a tuple; those of a set in its iteration order.
    pub totuple(container: FrozenSet) -> Tuple;
    ordered "a set of several elements";
    example "totuple(initset(ONE))" => "(1,)";
    fails "totuple(ONE)";
    |run| {
        match container {
            Value::Set(set) => {
                let values = set.values(run)?;
                run.spend(values.len() / 16)?;
                run.tuple_of(values)
            }
            _ if container.is_tuple() => Ok(container),
            _ => Err(Fault::Type),
        }
    }
}

op! {
    /// The first element in iteration order.
    ///
    /// Fails for an empty container.
    pub first(container: Container) -> Any;
    ordered "a set of several elements";
    example "first((7, 8, 9))" => "7";
    fails "first(())";
    |run| {
        match container {
            Value::Segment(ends) => Ok(Value::pair(ends.get().0)),
            Value::Pair(pair) => Ok(Value::Int(pair.get().i.into())),
            Value::Cell(cell) => Ok(Value::Int(cell.get().color.into())),
            Value::Tuple(tuple) => tuple.items.first().copied().ok_or(Fault::StopIteration),
            Value::Set(set) => set.first(run)?.ok_or(Fault::StopIteration),
            _ => match run.len(container)? {
                0 => Err(Fault::StopIteration),
                _ => run.item(container, 0),
            },
        }
    }
}

op! {
    /// The last element in iteration order.
    ///
    /// Fails for an empty container.
    pub last(container: Container) -> Any;
    ordered "a set of several elements";
    example "last((7, 8, 9))" => "9";
    fails "last(())";
    |run| {
        match container {
            Value::Segment(ends) => Ok(Value::pair(ends.get().1)),
            Value::Pair(pair) => Ok(Value::Int(pair.get().j.into())),
            Value::Cell(cell) => Ok(Value::pair(cell.get().at)),
            Value::Tuple(tuple) => tuple.items.last().copied().ok_or(Fault::Value),
            Value::Set(set) => match set.order(run)?.last() {
                Some(&k) => Ok(set.elems.get(k as usize)),
                None => Err(Fault::Value),
            },
            _ => match run.len(container)? {
                0 => Err(Fault::Value),
                n => run.item(container, n - 1),
            },
        }
    }
}

op! {
    /// The set with one value as its only element.
    ///
    /// Never fails.
    pub initset(value: Any) -> FrozenSet;
    example "initset(THREE)" => "frozenset({3})";
    |run| { Ok(Value::Set(run.single(value)?)) }
}

op! {
    /// The set with one value added.
    ///
    /// Fails for a tuple.
    pub insert(value: Any, container: FrozenSet) -> FrozenSet;
    example "insert(ONE, initset(TWO))" => "frozenset({1, 2})";
    fails "insert(ONE, (2, 3))";
    |run| {
        let Value::Set(set) = container else {
            return Err(Fault::Attribute);
        };
        let single = run.single(value)?;
        Ok(Value::Set(run.set_union(set, single)?))
    }
}

op! {
    /// The container without any element equal to a value.
    ///
    /// A value that does not occur changes nothing.
    pub remove(value: Any, container: Container) -> Container;
    example "remove(ONE, (1, 2, 1, 3))" => "(2, 3)";
    fails "remove(ONE, TWO)";
    |run| {
        match container {
            Value::Set(set) => {
                // Python compares elements with `!=`, and a nan differs from itself.
                let gone = match value.is_nan() {
                    true => None,
                    false => set.find(run, value),
                };
                let mut kept = run.take_numbers();
                kept.extend((0..set.len() as u32).filter(|&k| Some(k) != gone));
                let left = run.set_filter(set, &kept);
                run.give_numbers(kept);
                Ok(Value::Set(left?))
            }
            _ => tuple_without(run, value, container),
        }
    }
}

/// Returns the tuple of the elements that do not equal a value.
pub(super) fn tuple_without<'r>(
    run: &mut Run<'r>,
    value: Value<'r>,
    container: Value<'r>,
) -> Outcome<Value<'r>> {
    let items = run.items(container)?;
    let mut kept = Vec::with_capacity(items.len());
    for &item in items {
        if !run.eq(item, value) {
            kept.push(item);
        }
    }
    run.tuple(&kept)
}

op! {
    /// The first element that differs from a given value.
    ///
    /// Fails when there is none.
    pub other(container: Container, value: Any) -> Any;
    ordered "a set with several other elements";
    example "other((3, 5), THREE)" => "5";
    fails "other((3, 3), THREE)";
    |run| {
        if let Value::Set(set) = container
            && set.len() == 2
            && let Some(gone) = set.find(run, value)
        {
            return Ok(set.elems.get(1 - gone as usize));
        }
        let rest = remove(run, value, container)?;
        first(run, rest)
    }
}

op! {
    /// The elements of two containers, in a container of the first one's kind.
    ///
    /// Two tuples are joined; a set adds the other container's elements.
    pub combine(a: Container, b: Container) -> Container;
    ordered "a tuple combined with a set of several elements";
    example "combine((1, 2), (2, 3))" => "(1, 2, 2, 3)";
    fails "combine(ONE, (2, 3))";
    |run| {
        match a {
            Value::Set(_) => {
                let members = run.slice(&[a, b])?;
                Ok(Value::Set(run.set_merge(Walk::Listed, members)?))
            }
            _ => {
                let (a, b) = (run.items(a)?, run.items(b)?);
                run.check_len(a.len() + b.len())?;
                run.spend(a.len() + b.len())?;
                run.tuple(&[a, b].concat())
            }
        }
    }
}

op! {
    /// The elements that two sets share.
    ///
    /// Two integers give their bitwise *and*. Fails for tuples.
    pub intersection(a: FrozenSet, b: FrozenSet) -> FrozenSet;
    example "intersection(initset(ONE), insert(TWO, initset(ONE)))" => "frozenset({1})";
    fails "intersection((1, 2), (2, 3))";
    |run| {
        match (a, b) {
            (Value::Set(a), Value::Set(b)) => Ok(Value::Set(run.set_inter(a, b)?)),
            (Value::Bool(a), Value::Bool(b)) => Ok(Value::bool(a.get() && b.get())),
            _ => match (a.as_int(), b.as_int()) {
                (Some(a), Some(b)) => Ok(Value::Int(a & b)),
                _ => Err(Fault::Type),
            },
        }
    }
}

op! {
    /// The elements of the first container that are not in the second.
    ///
    /// The result is of the first container's kind. The second is not read when the first is empty.
    pub difference(a: Container, b: Container) -> Container;
    example "difference((1, 2, 3, 2), (2, 5))" => "(1, 3)";
    fails "difference((1, 2), THREE)";
    |run| {
        if let (Value::Set(a), Value::Set(b)) = (a, b) {
            let kept = run.numbers_not_in(a, b);
            let left = run.set_filter(a, &kept);
            run.give_numbers(kept);
            return Ok(Value::Set(left?));
        }
        let members = Members::of(run, a)?;
        let mut kept = run.take_numbers();
        for k in 0..members.len() {
            if !run.contains(members.get(k), b)? {
                kept.push(k as u32);
            }
        }
        let left = members.keep(run, &kept);
        run.give_numbers(kept);
        left
    }
}

op! {
    /// The tuple without repetitions: the first of equal elements stays.
    ///
    /// Fails for a non-empty set.
    pub dedupe(tup: Tuple) -> Tuple;
    example "dedupe((3, 1, 3, 2, 1))" => "(3, 1, 2)";
    fails "dedupe(initset(ONE))";
    |run| {
        match tup {
            Value::Set(set) if set.len() == 0 => Ok(Value::EMPTY_TUPLE),
            Value::Set(_) => Err(Fault::Attribute),
            Value::Row(row) => {
                run.spend(row.cells.len())?;
                let mut seen = [0u64; 4];
                let kept = run.slice_filled(row.cells.len(), 0)?;
                let mut count = 0;
                for &c in row.cells {
                    let (word, bit) = (c as usize / 64, 1 << (c % 64));
                    if seen[word] & bit == 0 {
                        seen[word] |= bit;
                        kept[count] = c;
                        count += 1;
                    }
                }
                run.row(&kept[..count])
            }
            Value::Grid(grid) if grid.height <= FEW_ROWS => {
                run.spend(grid.cells.len() * grid.height / 16)?;
                let mut kept: Vec<&[u8]> = Vec::with_capacity(grid.height);
                for row in grid.rows() {
                    if !kept.contains(&row) {
                        kept.push(row);
                    }
                }
                let cells = run.slice(&kept.concat())?;
                run.grid(kept.len(), grid.width, cells)
            }
            _ => {
                let items = run.items(tup)?;
                let (kept, _) = run.distinct(items)?;
                let kept: Vec<_> = (0..kept.len()).map(|k| kept.get(k)).collect();
                run.tuple(&kept)
            }
        }
    }
}

/// Up to this many rows are compared pairwise; hashing them would take longer.
const FEW_ROWS: usize = 64;

op! {
    /// A tuple that repeats an item a number of times.
    ///
    /// Zero or less gives the empty tuple.
    pub repeat(item: Any, num: Integer) -> Tuple;
    example "repeat(SEVEN, THREE)" => "(7, 7, 7)";
    fails "repeat(SEVEN, UNITY)";
    |run| {
        let count = num.as_int().ok_or(Fault::Type)?.max(0);
        let count = usize::try_from(count).map_err(|_| Fault::Size)?;
        run.check_len(count)?;
        run.spend(count)?;
        let items = run.slice_filled(count, item)?;
        run.tuple_of(items)
    }
}

op! {
    /// The elements of all members, in one container of the outer container's kind.
    ///
    /// A tuple of sets gives a tuple, repetitions included; a set of tuples gives a set. Fails when
    /// a member is not a container.
    pub merge(containers: ContainerContainer) -> Container;
    ordered "a tuple that holds a set of several elements";
    example "merge(((1, 2), (2, 3)))" => "(1, 2, 2, 3)";
    fails "merge((1, 2))";
    |run| {
        match containers {
            Value::Set(set) => {
                let members = match set.elems {
                    Elems::Values(values) => values,
                    // These members are pairs or cells, which are short tuples.
                    _ => run.slice_from((0..set.len()).map(|k| set.elems.get(k)))?,
                };
                Ok(Value::Set(run.set_merge(Walk::Of(set), members)?))
            }
            _ => {
                let members = run.items(containers)?;
                merge_tuple(run, members)
            }
        }
    }
}

/// Returns the elements of all members, one member after the other, as a tuple.
pub(super) fn merge_tuple<'r>(run: &mut Run<'r>, members: &'r [Value<'r>]) -> Outcome<Value<'r>> {
    if let Some(len) = patches_len(members) {
        run.spend(members.len())?;
        return run.concatenation(len, members);
    }
    let mut merged = Vec::new();
    for &member in members {
        let items = run.items(member)?;
        run.check_values(merged.len() + items.len())?;
        run.spend(items.len())?;
        merged.extend_from_slice(items);
    }
    run.tuple(&merged)
}

/// Returns the number of elements if all members are sets of locations, or all are sets of cells,
/// and there are enough elements for a lazy merge to pay.
fn patches_len(members: &[Value<'_>]) -> Option<usize> {
    let (mut pairs, mut cells) = (0, 0);
    for member in members {
        match member.as_set()?.elems {
            Elems::Pairs(elements) => pairs += elements.len(),
            Elems::Cells(elements) => cells += elements.len(),
            Elems::Values(_) => return None,
        }
    }
    (pairs + cells > 2 && (pairs == 0 || cells == 0)).then_some(pairs + cells)
}

op! {
    /// The integers from a start up to but not including a stop, in steps.
    ///
    /// Fails for a step of zero.
    pub interval(start: Integer, stop: Integer, step: Integer) -> Tuple;
    example "interval(ONE, SEVEN, TWO)" => "(1, 3, 5)";
    fails "interval(ONE, SEVEN, ZERO)";
    |run| {
        let bounds = (start.as_int(), stop.as_int(), step.as_int());
        let (Some(start), Some(stop), Some(step)) = bounds else {
            return Err(Fault::Type);
        };
        if step == 0 {
            return Err(Fault::Value);
        }
        let span = i128::from(stop) - i128::from(start);
        let step_wide = i128::from(step);
        let count = if (span > 0) == (step > 0) && span != 0 {
            (span.abs() + step_wide.abs() - 1) / step_wide.abs()
        } else {
            0
        };
        let count = usize::try_from(count).map_err(|_| Fault::Size)?;
        run.check_len(count)?;
        run.spend(count)?;
        let numbers = run.slice_from(
            (0..count).map(|k| Value::Int(start.wrapping_add((k as i64).wrapping_mul(step)))),
        )?;
        run.tuple_of(numbers)
    }
}

op! {
    /// All pairs of an element of the first and an element of the second container, as a set.
    pub product(a: Container, b: Container) -> FrozenSet;
    example "product((0, 1), (5,))" => "frozenset({(0, 5), (1, 5)})";
    fails "product((0, 1), FIVE)";
    |run| {
        if let (Value::Set(inner), Value::Set(outer)) = (a, b) {
            return Ok(Value::Set(product_of_sets(run, inner, outer)?));
        }
        let outer = run.items(b)?;
        if outer.is_empty() {
            return Ok(Value::Set(run.empty_set()?));
        }
        let inner = run.items(a)?;
        let len = inner.len().checked_mul(outer.len()).ok_or(Fault::Size)?;
        run.check_len(len)?;
        run.spend(len)?;
        let small = |v: &Value<'_>| match v {
            Value::Int(n) => i16::try_from(*n).ok(),
            _ => None,
        };
        let narrow = |items: &[Value<'_>]| items.iter().map(small).collect::<Option<Vec<i16>>>();
        if let (Some(rows), Some(columns)) = (narrow(inner), narrow(outer)) {
            let mut pairs = std::mem::take(&mut run.scratch.pairs);
            pairs.clear();
            for &j in &columns {
                pairs.extend(rows.iter().map(|&i| IntPair::new(i, j)));
            }
            run.scratch.index.dedupe(&mut pairs, |p| p.key());
            let set = run.build_distinct_pairs(&pairs);
            run.scratch.pairs = pairs;
            return Ok(Value::Set(set?));
        }
        let mut pairs = Vec::with_capacity(len);
        for &y in outer {
            for &x in inner {
                pairs.push(run.pair(x, y)?);
            }
        }
        Ok(Value::Set(run.build(&pairs)?))
    }
}

/// Returns the product of two sets: all pairs are different, and their order is computed on demand.
fn product_of_sets<'r>(
    run: &mut Run<'r>,
    inner: &'r Set<'r>,
    outer: &'r Set<'r>,
) -> Outcome<&'r Set<'r>> {
    let len = inner.len().checked_mul(outer.len()).ok_or(Fault::Size)?;
    run.check_len(len)?;
    run.spend(len)?;
    let product = run.alloc(Product { inner, outer })?;
    if let (Elems::Pairs(xs), Elems::Pairs(ys)) = (inner.elems, outer.elems)
        && len > 0
    {
        let (mut x, mut y) = (0, 0);
        let segments = run.slice_from((0..len).map(|_| {
            let segment = Value::segment(xs[x], ys[y]);
            x += 1;
            if x == xs.len() {
                (x, y) = (0, y + 1);
            }
            segment
        }))?;
        return run.set(Elems::Values(segments), Origin::Product(product));
    }
    if let Elems::Cells(_) = inner.elems {
        // Every pair is a tuple of its own. If there is no room for all of them, the attempt is
        // useless.
        let budget = run.budget();
        run.reserve(len.saturating_mul(size_of::<Tuple<'_>>() + 3 * size_of::<Value<'_>>()))?;
        run.set_budget(budget);
    }
    let pairs = run.slice_filled(len, Value::None)?;
    let mut places = pairs.iter_mut();
    for y in 0..outer.len() {
        let y = outer.elems.get(y);
        for x in 0..inner.len() {
            if let Some(place) = places.next() {
                *place = run.pair(inner.elems.get(x), y)?;
            }
        }
    }
    let elems = run.compact(pairs)?;
    run.set(elems, Origin::Product(product))
}

op! {
    /// The elements of two containers paired by position, as a tuple of pairs.
    ///
    /// The longer container's extra elements are dropped.
    pub pair(a: Tuple, b: Tuple) -> TupleTuple;
    ordered "a set of several elements";
    example "pair((1, 2, 3), (7, 8))" => "((1, 7), (2, 8))";
    fails "pair((1, 2), THREE)";
    |run| {
        if let (Value::Row(a), Value::Row(b)) = (a, b) {
            run.spend(a.cells.len())?;
            let both = a.cells.iter().zip(b.cells);
            let pairs = run.slice_from(
                both.map(|(&x, &y)| Value::pair(IntPair::new(x.into(), y.into()))),
            )?;
            return run.tuple_of(pairs);
        }
        let (a, b) = (run.items(a)?, run.items(b)?);
        let mut pairs = Vec::with_capacity(a.len().min(b.len()));
        run.spend(pairs.capacity())?;
        for (&x, &y) in a.iter().zip(b) {
            pairs.push(run.pair(x, y)?);
        }
        run.tuple(&pairs)
    }
}
