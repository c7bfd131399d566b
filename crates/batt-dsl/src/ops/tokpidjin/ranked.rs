//! Elements by rank: 0 is the first, -1 the last.

use crate::fault::{Fault, Outcome};
use crate::ops::container::{frequencies, int_keys, keys};
use crate::ops::members::Members;
use crate::ops::sort::sort;
use crate::run::Run;
use crate::set::Elems;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "ranked";

pub(super) const OPS: &[&Op] = &[
    &get_nth_t::OP,
    &get_nth_f::OP,
    &get_nth_by_key_t::OP,
    &get_nth_by_key_f::OP,
    &get_rank::OP,
    &get_arg_rank::OP,
    &get_arg_rank_t::OP,
    &get_arg_rank_f::OP,
    &get_val_rank::OP,
    &get_val_rank_t::OP,
    &get_val_rank_f::OP,
    &get_common_rank::OP,
    &get_common_rank_t::OP,
    &get_common_rank_f::OP,
    &get_color_rank_t::OP,
    &get_color_rank_f::OP,
];

safe! {
    /// The element of a tuple at a rank, or nan when there is none.
    pub get_nth_t(container: Tuple, rank: FL) -> Any;
    |run| {
        let Some(len) = run.tuple_len(container) else {
            return Ok(Value::NAN);
        };
        match position(rank, len)? {
            Some(at) => run.item(container, at),
            None => Ok(Value::NAN),
        }
    }
}

safe! {
    /// The element at a rank in iteration order, or the empty set when there is none.
    pub get_nth_f(container: FrozenSet, rank: FL) -> Any;
    ordered "a set of several elements";
    |run| {
        let len = run.len(container)?;
        let rank = rank.as_int().ok_or(Fault::Type)?;
        let Some(at) = position(Value::Int(rank), len)? else {
            return Ok(Value::Set(run.empty_set()?));
        };
        match container {
            Value::Set(set) => Ok(set.elems.get(set.order(run)?[at] as usize)),
            _ => run.item(container, at),
        }
    }
}

/// Returns the position of a rank among `len` items; negative ranks count from the end. Returns
/// `None` for a rank outside. A float may be outside, but inside it is not a position and fails.
fn position(rank: Value<'_>, len: usize) -> Outcome<Option<usize>> {
    let len = len as i64;
    match (rank, rank.as_int()) {
        (_, Some(rank)) if (0..len).contains(&rank) => Ok(Some(rank as usize)),
        (_, Some(rank)) if (-len..0).contains(&rank) => Ok(Some((rank + len) as usize)),
        (_, Some(_)) => Ok(None),
        (Value::Float(x), _) if !(-len as f64..len as f64).contains(&x.get()) => Ok(None),
        _ => Err(Fault::Type),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Ascending,
    Descending,
}

use Direction::{Ascending, Descending};

/// Returns the number of the member at a rank when members are sorted by their keys, or `None` when
/// there are too few. Both directions keep the iteration order of members with equal keys.
fn ranked<'r>(
    run: &mut Run<'r>,
    members: Members<'r>,
    keys: &[Value<'r>],
    rank: Value<'r>,
    direction: Direction,
) -> Outcome<Option<usize>> {
    run.spend(keys.len())?;
    let Some(ints) = int_keys(keys) else {
        let mut numbers = members.order(run)?;
        // Python reverses the members, sorts them and reverses the result.
        if direction == Descending {
            numbers.reverse();
        }
        let mut sorted = sort(run, numbers, keys)?;
        if direction == Descending {
            sorted.reverse();
        }
        let at = position(rank, keys.len())?;
        return Ok(at.map(|at| sorted[at] as usize));
    };
    let Some(at) = position(rank, keys.len())? else {
        return Ok(None);
    };
    let key = |k: usize| match direction {
        Ascending => ints[k],
        Descending => !ints[k],
    };
    let mut all: Vec<i64> = (0..keys.len()).map(key).collect();
    let (before, &mut wanted, after) = all.select_nth_unstable(at);
    let less = before.iter().filter(|&&other| other < wanted).count();
    let is_tied = less < before.len() || after.contains(&wanted);
    if !is_tied || members.in_order() {
        let mut equals = (0..keys.len()).filter(|&k| key(k) == wanted);
        return Ok(equals.nth(at - less));
    }
    // Only a tie makes the order of a set matter.
    let order = members.order(run)?.into_iter().map(|k| k as usize);
    let mut tied = order.filter(|&k| key(k) == wanted);
    Ok(tied.nth(at - less))
}

safe! {
    /// The element at a rank when sorted by a key function, smallest first; `None` for an empty
    /// container.
    pub get_nth_by_key_t(container: Tuple, rank: FL, key: Any = None) -> Any;
    ordered "a set in which several elements tie";
    |run| {
        let members = Members::of(run, container)?;
        let keys = run.in_frames(2, |run| keys(run, members, key.unwrap_or(Value::None)))?;
        if members.len() == 0 {
            return Ok(Value::None);
        }
        match ranked(run, members, keys, rank, Ascending)? {
            Some(k) => Ok(members.get(k)),
            None => Err(Fault::Index),
        }
    }
}

safe! {
    /// The element at a rank when sorted by a key function, smallest first; `None` when there are
    /// too few. A negative rank means the first element.
    pub get_nth_by_key_f(container: FrozenSet, rank: F_, key: Any = None) -> Any;
    ordered "a set in which several elements tie";
    |run| {
        let members = Members::of(run, container)?;
        let keys = run.in_frames(2, |run| keys(run, members, key.unwrap_or(Value::None)))?;
        let rank = rank.as_int().ok_or(Fault::Type)?.max(0);
        let k = ranked(run, members, keys, Value::Int(rank), Ascending)?;
        Ok(k.map_or(Value::None, |k| members.get(k)))
    }
}

safe! {
    /// The element at a rank, largest first; 0 when there are too few.
    pub get_rank(container: IntegerSet, rank: FL) -> Integer;
    ordered "elements that are sets, which compare by inclusion";
    |run| {
        let members = Members::of(run, container)?;
        let keys = keys(run, members, Value::None)?;
        let k = ranked(run, members, keys, rank, Descending)?;
        Ok(k.map_or(Value::Int(0), |k| members.get(k)))
    }
}

safe! {
    /// The element at a rank when sorted by a function, largest first; an empty container of the
    /// same kind when there are too few.
    pub get_arg_rank(container: Container, compfunc: Callable, rank: FL) -> Any;
    ordered "a set in which several elements tie";
    |run| {
        match by_argument(run, container, compfunc, rank)? {
            Some(element) => Ok(element),
            None => nothing_like(run, container),
        }
    }
}

safe! {
    /// The element at a rank when sorted by a function, largest first; `()` when there are too few.
    pub get_arg_rank_t(container: Tuple, compfunc: Callable, rank: FL) -> Any;
    ordered "a set in which several elements tie";
    |run| {
        match by_argument(run, container, compfunc, rank)? {
            Some(element) => Ok(element),
            None => Ok(Value::EMPTY_TUPLE),
        }
    }
}

safe! {
    /// The element at a rank when sorted by a function, largest first; the empty set when there are
    /// too few.
    pub get_arg_rank_f(container: FrozenSet, compfunc: Callable, rank: FL) -> Any;
    ordered "a set in which several elements tie";
    |run| {
        match by_argument(run, container, compfunc, rank)? {
            Some(element) => Ok(element),
            None => Ok(Value::Set(run.empty_set()?)),
        }
    }
}

/// Returns the empty container of the same kind.
fn nothing_like<'r>(run: &mut Run<'r>, container: Value<'r>) -> Outcome<Value<'r>> {
    match container {
        Value::Set(_) => Ok(Value::Set(run.empty_set()?)),
        _ => Ok(Value::EMPTY_TUPLE),
    }
}

fn by_argument<'r>(
    run: &mut Run<'r>,
    container: Value<'r>,
    compfunc: Value<'r>,
    rank: Value<'r>,
) -> Outcome<Option<Value<'r>>> {
    let members = Members::of(run, container)?;
    let keys = run.in_frames(2, |run| keys(run, members, compfunc))?;
    let k = ranked(run, members, keys, rank, Descending)?;
    Ok(k.map(|k| members.get(k)))
}

safe! {
    /// The value at a rank among the values of a function on the elements, smallest first; the
    /// function's value on 0 when there are too few.
    pub get_val_rank(container: Container, compfunc: Callable, rank: FL) -> Any;
    ordered "values that are sets, which compare by inclusion";
    |run| {
        by_value(run, container, compfunc, rank)
    }
}

safe! {
    /// The value at a rank among the values of a function on the elements, smallest first; the
    /// function's value on 0 when there are too few.
    pub get_val_rank_t(container: Tuple, compfunc: Callable, rank: FL) -> Any;
    ordered "values that are sets, which compare by inclusion";
    |run| {
        by_value(run, container, compfunc, rank)
    }
}

safe! {
    /// The value at a rank among the values of a function on the elements, smallest first; the
    /// function's value on 0 when there are too few.
    pub get_val_rank_f(container: FrozenSet, compfunc: Callable, rank: FL) -> Any;
    ordered "values that are sets, which compare by inclusion";
    |run| {
        by_value(run, container, compfunc, rank)
    }
}

fn by_value<'r>(
    run: &mut Run<'r>,
    container: Value<'r>,
    compfunc: Value<'r>,
    rank: Value<'r>,
) -> Outcome<Value<'r>> {
    let members = Members::of(run, container)?;
    let keys = run.in_frames(2, |run| keys(run, members, compfunc))?;
    match ranked(run, members, keys, rank, Ascending)? {
        // The original calls the function once more on the winner. A function returns the same
        // value again. `None`, which sorts the elements themselves, cannot be called.
        Some(_) if matches!(compfunc, Value::None) => Err(Fault::Type),
        Some(k) => Ok(keys[k]),
        None => run.call1(compfunc, Value::Int(0)),
    }
}

safe! {
    /// The value of a tuple at a rank when sorted by frequency, rarest first; `()` when there are
    /// too few.
    pub get_common_rank(container: Container, rank: FL) -> Any;
    ordered "several elements that are equally frequent";
    |run| {
        common_in_tuple(run, container, rank)
    }
}

safe! {
    /// The value of a tuple at a rank when sorted by frequency, rarest first; `()` when there are
    /// too few.
    pub get_common_rank_t(container: Tuple, rank: FL) -> Any;
    ordered "several elements that are equally frequent";
    |run| {
        common_in_tuple(run, container, rank)
    }
}

fn common_in_tuple<'r>(
    run: &mut Run<'r>,
    container: Value<'r>,
    rank: Value<'r>,
) -> Outcome<Value<'r>> {
    if !container.is_tuple() {
        return Err(Fault::Attribute);
    }
    let items = run.items(container)?;
    let (set, counts) = frequencies(run, items)?;
    let k = ranked(run, Members::Set(set), counts, rank, Ascending)?;
    Ok(k.map_or(Value::EMPTY_TUPLE, |k| set.elems.get(k)))
}

safe! {
    /// The value at a rank when sorted by frequency, rarest first; the empty set when there are too
    /// few. In a set all elements are equally frequent, and they follow the order of a rebuilt set.
    pub get_common_rank_f(container: FrozenSet, rank: FL) -> Any;
    ordered "several elements that are equally frequent";
    |run| {
        let (set, k) = match container {
            Value::Set(set) => {
                let all = run.slice_from(0..set.len() as u32)?;
                let rebuilt = run.set_filter(set, all)?;
                let at = position(rank, set.len())?;
                let order = rebuilt.order(run)?;
                (rebuilt, at.map(|at| order[at] as usize))
            }
            _ => {
                let items = run.items(container)?;
                let (set, counts) = frequencies(run, items)?;
                (set, ranked(run, Members::Set(set), counts, rank, Ascending)?)
            }
        };
        match k {
            Some(k) => Ok(set.elems.get(k)),
            None => Ok(Value::Set(run.empty_set()?)),
        }
    }
}

safe! {
    /// The colour of a grid at a rank when sorted by frequency, most frequent first and ties in
    /// reading order; `()` when there are too few.
    pub get_color_rank_t(grid: Grid, rank: FL) -> C_;
    ordered "rows that are sets";
    |run| {
        if let Some(grid) = run.as_grid(grid) {
            run.spend(grid.cells.len() / 4)?;
            let tally = Tally::of(grid.cells.iter().map(|&c| c.into()));
            let at = position(rank, tally.counts.len())?;
            let color = at.map(|at| tally.at(at).0);
            return Ok(color.map_or(Value::EMPTY_TUPLE, |c| Value::Int(c.into())));
        }
        let mut values = Vec::new();
        for &row in run.items(grid)? {
            values.extend_from_slice(run.items(row)?);
            run.check_len(values.len())?;
        }
        Ok(by_count(run, &values, rank)?.unwrap_or(Value::EMPTY_TUPLE))
    }
}

/// The number of cells of each colour, in the order in which colours first occur.
struct Tally {
    counts: Vec<(i32, u32)>,
}

impl Tally {
    fn of(colors: impl Iterator<Item = i32>) -> Tally {
        let mut counts: Vec<(i32, u32)> = Vec::with_capacity(10);
        // Neighbours tend to have the same colour.
        let mut latest = 0;
        for color in colors {
            if counts.get(latest).is_none_or(|known| known.0 != color) {
                latest = match counts.iter().position(|known| known.0 == color) {
                    Some(at) => at,
                    None => {
                        counts.push((color, 0));
                        counts.len() - 1
                    }
                };
            }
            counts[latest].1 += 1;
        }
        Tally { counts }
    }

    /// Returns the colour at a position, the most frequent colour first, and whether another colour
    /// is as frequent.
    fn at(mut self, at: usize) -> (i32, bool) {
        self.counts.sort_by_key(|known| std::cmp::Reverse(known.1));
        let (color, count) = self.counts[at];
        let equals = self.counts.iter().filter(|known| known.1 == count);
        (color, equals.count() > 1)
    }
}

/// Returns the value at a rank, the most frequent value first. Ties are in the order of first
/// occurrence.
fn by_count<'r>(
    run: &mut Run<'r>,
    values: &[Value<'r>],
    rank: Value<'r>,
) -> Outcome<Option<Value<'r>>> {
    // The set's elements are numbered in the order of first occurrence, which decides ties.
    let (set, counts) = frequencies(run, values)?;
    let met = run.slice_from((0..set.len()).map(|k| set.elems.get(k)))?;
    let k = ranked(run, Members::Tuple(met), counts, rank, Descending)?;
    Ok(k.map(|k| met[k]))
}

safe! {
    /// The colour of an object at a rank when sorted by frequency, most frequent first and ties in
    /// iteration order; the empty set when there are too few.
    pub get_color_rank_f(obj: Object, rank: FL) -> C_;
    ordered "several colours that are equally frequent";
    |run| {
        if let Value::Set(set) = obj
            && let Elems::Cells(cells) = set.elems
        {
            run.spend(cells.len() / 2)?;
            let tally = Tally::of(cells.iter().map(|c| c.color));
            let Some(at) = position(rank, tally.counts.len())? else {
                return Ok(Value::Set(run.empty_set()?));
            };
            let (mut color, tied) = tally.at(at);
            if tied {
                let order = set.order(run)?;
                (color, _) = Tally::of(order.iter().map(|&k| cells[k as usize].color)).at(at);
            }
            return Ok(Value::Int(color.into()));
        }
        let items = run.items(obj)?;
        let mut values = Vec::with_capacity(items.len());
        for &cell in items {
            values.push(run.unpack3(cell)?[2]);
        }
        match by_count(run, &values, rank)? {
            Some(color) => Ok(color),
            None => Ok(Value::Set(run.empty_set()?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, Limits, Value, Workspace};

    /// `sorted` accepts `None` as a key function, but `None` cannot be called on the winner.
    #[test]
    fn none_is_a_key_but_cannot_be_called() {
        for (name, expected) in [
            ("get_arg_rank_t", "8"),
            ("get_val_rank", "{\"t\":[]}"),
            ("get_val_rank_t", "{\"t\":[]}"),
            ("get_val_rank_f", "{\"t\":[]}"),
        ] {
            let op = Dialect::Tokpidjin.op(name).expect("a primitive");
            let found = Workspace::new().run(Dialect::Tokpidjin, &Limits::default(), |run| {
                let container = run.make_tuple(&[Value::Int(7), Value::Int(8)])?;
                let args = [container, Value::None, Value::Int(0)];
                let value = run.call(Value::Op(op), &args)?;
                let mut text = String::new();
                run.write_json(value, &mut text).map(|()| text)
            });
            assert_eq!(found.as_deref(), Ok(expected), "{name}");
        }
    }
}
