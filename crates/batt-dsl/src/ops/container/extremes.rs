//! The largest and smallest elements, and the most and least frequent ones.

use std::cmp::Ordering;

use crate::dialect::Dialect;
use crate::fault::{Fault, Outcome};
use crate::op;
use crate::run::Run;
use crate::set::{Elems, Set};
use crate::value::Value;

use super::FAMILY;
use super::sorted::{int_keys, keys_to_compare};
use crate::ops::members::Members;

op! {
    /// The largest element, or 0 when there is none.
    ///
    /// Fails when two elements cannot be compared.
    pub maximum(container: Container) -> Any;
    ordered "elements that are sets, which compare by inclusion";
    example "maximum((3, 9, 4))" => "9";
    fails "maximum((1, (2, 3)))";
    |run| { extreme_element(run, container, Ordering::Greater) }
}

op! {
    /// The smallest element, or 0 when there is none.
    ///
    /// Fails when two elements cannot be compared.
    pub minimum(container: Container) -> Any;
    ordered "elements that are sets, which compare by inclusion";
    example "minimum((3, 9, 4))" => "3";
    fails "minimum((1, (2, 3)))";
    |run| { extreme_element(run, container, Ordering::Less) }
}

/// Returns the largest item, or the smallest.
pub(in crate::ops) fn pick<T: Ord>(
    items: impl Iterator<Item = T>,
    direction: Ordering,
) -> Option<T> {
    match direction {
        Ordering::Greater => items.max(),
        _ => items.min(),
    }
}

fn extreme_element<'r>(
    run: &mut Run<'r>,
    container: Value<'r>,
    direction: Ordering,
) -> Outcome<Value<'r>> {
    if let Some(pair) = container.as_pair() {
        let extreme = pick([pair.i, pair.j].into_iter(), direction);
        return Ok(Value::Int(extreme.unwrap_or_default().into()));
    }
    if let Value::Row(row) = container {
        let extreme = pick(row.cells.iter(), direction);
        return Ok(Value::Int(extreme.copied().unwrap_or_default().into()));
    }
    if let Value::Set(set) = container
        && let Elems::Pairs(pairs) = set.elems
        && !pairs.is_empty()
    {
        let extreme = pick(pairs.iter(), direction);
        return Ok(extreme.map_or(Value::Int(0), |&p| Value::pair(p)));
    }
    let members = Members::of(run, container)?;
    Ok(match first_extreme(run, members, None, direction)? {
        Some(k) => members.get(k),
        None => Value::Int(0),
    })
}

/// Returns the number of the first extreme element in iteration order. `keys` are indexed by the
/// numbers of elements; without keys the elements themselves are compared.
fn first_extreme<'r>(
    run: &mut Run<'r>,
    members: Members<'r>,
    keys: Option<&[Value<'r>]>,
    direction: Ordering,
) -> Outcome<Option<usize>> {
    let key = |k: usize| keys.map_or_else(|| members.get(k), |keys| keys[k]);
    let len = members.len();
    if len == 0 {
        return Ok(None);
    }
    // Plain integers need no order unless the extreme occurs twice.
    let mut best = 0;
    let mut tie = false;
    let mut plain = true;
    for k in 0..len {
        let (Value::Int(new), Value::Int(old)) = (key(k), key(best)) else {
            plain = false;
            break;
        };
        match new.cmp(&old) {
            Ordering::Equal => tie |= k != best,
            better if better == direction => (best, tie) = (k, false),
            _ => {}
        }
    }
    if plain && (!tie || members.in_order()) {
        return Ok(Some(best));
    }
    if plain && let Members::Set(set) = members {
        let Value::Int(extreme) = key(best) else {
            return Ok(Some(best));
        };
        let is_extreme = |k: usize| matches!(key(k), Value::Int(n) if n == extreme);
        let mut order = set.order(run)?.iter().map(|&k| k as usize);
        return Ok(order.find(|&k| is_extreme(k)));
    }
    let order = members.order(run)?;
    let ordered: Vec<_> = order.iter().map(|&k| key(k as usize)).collect();
    Ok(run
        .extreme(&ordered, direction)?
        .map(|at| order[at] as usize))
}

op! {
    /// The largest value of a function on the elements.
    ///
    /// An empty container gives the function's value on 0. Fails when two values cannot be
    /// compared.
    pub valmax(container: Container, compfunc: Callable) -> Any;
    ordered "values that are sets, which compare by inclusion";
    frames 2;
    example "valmax(((1, 2), (3,)), size)" => "2";
    fails "valmax((), size)";
    |run| { extreme_value(run, container, compfunc, Ordering::Greater) }
}

op! {
    /// The smallest value of a function on the elements.
    ///
    /// An empty container gives the function's value on 0. Fails when two values cannot be
    /// compared.
    pub valmin(container: Container, compfunc: Callable) -> Any;
    ordered "values that are sets, which compare by inclusion";
    frames 2;
    example "valmin(((1, 2), (3,)), size)" => "1";
    fails "valmin((), size)";
    |run| { extreme_value(run, container, compfunc, Ordering::Less) }
}

fn extreme_value<'r>(
    run: &mut Run<'r>,
    container: Value<'r>,
    compfunc: Value<'r>,
    direction: Ordering,
) -> Outcome<Value<'r>> {
    let members = Members::of(run, container)?;
    // For `max` a key `None` means the elements themselves, but here Python also calls it.
    if matches!(compfunc, Value::None) {
        return Err(Fault::Type);
    }
    if members.len() == 0 {
        return run.call1(compfunc, Value::Int(0));
    }
    let keys = keys_to_compare(run, members, compfunc, direction)?;
    if let Some(ints) = int_keys(keys) {
        // Python calls the function once more on the winner, with the same result.
        let extreme = pick(ints.iter(), direction);
        return Ok(Value::Int(extreme.copied().unwrap_or_default()));
    }
    match first_extreme(run, members, Some(keys), direction)? {
        Some(k) => run.call1(compfunc, members.get(k)),
        None => Err(Fault::Value),
    }
}

op! {
    /// The element with the largest value of a function; the first one of a tie.
    ///
    /// The function `None` compares the elements themselves. Fails on an empty container (in the
    /// re-arc dialect that gives `None`) and when two values cannot be compared.
    pub argmax(container: Container, compfunc: Callable) -> Any;
    ordered "a set in which several elements tie";
    frames 2;
    example "argmax(((1,), (2, 3), (4,)), size)" => "(2, 3)";
    fails "argmax((), size)";
    |run| { extreme_argument(run, container, compfunc, Ordering::Greater) }
}

op! {
    /// The element with the smallest value of a function; the first one of a tie.
    ///
    /// The function `None` compares the elements themselves. Fails on an empty container (in the
    /// re-arc dialect that gives `None`) and when two values cannot be compared.
    pub argmin(container: Container, compfunc: Callable) -> Any;
    ordered "a set in which several elements tie";
    frames 2;
    example "argmin(((1,), (2, 3), (4,)), size)" => "(1,)";
    fails "argmin((), size)";
    |run| { extreme_argument(run, container, compfunc, Ordering::Less) }
}

fn extreme_argument<'r>(
    run: &mut Run<'r>,
    container: Value<'r>,
    compfunc: Value<'r>,
    direction: Ordering,
) -> Outcome<Value<'r>> {
    let members = Members::of(run, container)?;
    if members.len() == 0 && run.dialect == Dialect::ReArc {
        return Ok(Value::None);
    }
    let keys = keys_to_compare(run, members, compfunc, direction)?;
    match first_extreme(run, members, Some(keys), direction)? {
        Some(k) => Ok(members.get(k)),
        None => Err(Fault::Value),
    }
}

op! {
    /// The most frequent element of a tuple.
    ///
    /// If several are equally frequent, the first one in the iteration order of the set of elements
    /// counts, not the first one in the tuple. Fails for a set and for an empty tuple.
    pub mostcommon(container: Container) -> Any;
    ordered "several elements that are equally frequent";
    example "mostcommon((1, 2, 2, 3))" => "2";
    fails "mostcommon(())";
    |run| { by_frequency(run, container, Ordering::Greater) }
}

op! {
    /// The rarest element of a tuple.
    ///
    /// If several are equally rare, the first one in the iteration order of the set of elements
    /// counts, not the first one in the tuple. Fails for a set and for an empty tuple.
    pub leastcommon(container: Container) -> Any;
    ordered "several elements that are equally rare";
    example "leastcommon((1, 2, 2, 1, 3))" => "3";
    fails "leastcommon(())";
    |run| { by_frequency(run, container, Ordering::Less) }
}

fn by_frequency<'r>(
    run: &mut Run<'r>,
    container: Value<'r>,
    direction: Ordering,
) -> Outcome<Value<'r>> {
    match container {
        Value::Set(_) => return Err(Fault::Attribute),
        _ if !container.is_tuple() => return Err(Fault::Type),
        _ => {}
    }
    if let Value::Row(row) = container
        && let Some(winner) = crate::ops::color::winner_of(row.cells, direction)
    {
        run.spend(row.cells.len() / 16)?;
        return Ok(Value::Int(winner.into()));
    }
    let items = run.items(container)?;
    most_frequent(run, items, direction)
}

/// Returns the value that occurs most (or least) often; ties follow the table order of the set of
/// values.
pub(in crate::ops) fn most_frequent<'r>(
    run: &mut Run<'r>,
    items: &[Value<'r>],
    direction: Ordering,
) -> Outcome<Value<'r>> {
    if items.is_empty() {
        return Err(Fault::Value);
    }
    let (set, keys) = frequencies(run, items)?;
    match first_extreme(run, Members::Set(set), Some(keys), direction)? {
        Some(k) => Ok(set.elems.get(k)),
        None => Err(Fault::Value),
    }
}

/// Returns the set of the values, numbered in order of first occurrence, and the number of
/// occurrences of each.
pub(in crate::ops) fn frequencies<'r>(
    run: &mut Run<'r>,
    items: &[Value<'r>],
) -> Outcome<(&'r Set<'r>, &'r [Value<'r>])> {
    let set = run.build(items)?;
    let counts = run.slice_filled(set.len(), 0i64)?;
    for &item in items {
        if let Some(k) = set.find(run, item) {
            counts[k as usize] += 1;
        }
    }
    let counts = run.slice_from(counts.iter().map(|&n| Value::Int(n)))?;
    Ok((set, counts))
}
