//! Generic containers. The suffixes `_t` and `_f` mean tuple and frozenset, but not every function
//! with such a suffix requires that kind.

// Keyword arguments use the parameter name `S`.
#![allow(non_snake_case)]

use crate::fault::{Fault, Outcome};
use crate::memory::LoopState;
use crate::ops::members::Members;
use crate::ops::{arithmetic, container};
use crate::run::Run;
use crate::set::Set;
use crate::table::Op;
use crate::value::{Cell, Value};

const FAMILY: &str = "container";

pub(super) const OPS: &[&Op] = &[
    &first::OP,
    &first_t::OP,
    &first_f::OP,
    &second::OP,
    &last::OP,
    &last_t::OP,
    &last_f::OP,
    &size::OP,
    &size_t::OP,
    &size_f::OP,
    &totuple::OP,
    &initset::OP,
    &insert::OP,
    &remove::OP,
    &remove_t::OP,
    &remove_f::OP,
    &other::OP,
    &other_t::OP,
    &other_f::OP,
    &combine::OP,
    &combine_t::OP,
    &combine_f::OP,
    &intersection::OP,
    &difference::OP,
    &difference_tuple::OP,
    &difference_t::OP,
    &dedupe::OP,
    &dedupe_pair_tuple::OP,
    &order::OP,
    &repeat::OP,
    &merge::OP,
    &merge_f::OP,
    &merge_t::OP,
    &maximum::OP,
    &minimum::OP,
    &valmax::OP,
    &valmax_t::OP,
    &valmax_f::OP,
    &valmin::OP,
    &valmin_t::OP,
    &valmin_f::OP,
    &argmax::OP,
    &argmax_t::OP,
    &argmax_f::OP,
    &argmin::OP,
    &argmin_t::OP,
    &argmin_f::OP,
    &mostcommon::OP,
    &mostcommon_t::OP,
    &mostcommon_f::OP,
    &leastcommon::OP,
    &leastcommon_t::OP,
    &leastcommon_f::OP,
    &sfilter::OP,
    &sfilter_t::OP,
    &sfilter_f::OP,
    &mfilter::OP,
    &mfilter_t::OP,
    &mfilter_f::OP,
    &extract::OP,
    &interval::OP,
    &astuple::OP,
    &ascell::OP,
    &toij::OP,
    &astriple::OP,
    &product::OP,
    &pair::OP,
    &celltuple::OP,
    &sizefilter::OP,
    &sizefilter_t::OP,
];

safe! {
    /// The first element in iteration order, or `None` when there is none.
    pub first(container: Container) -> Any;
    ordered "a set of several elements";
    |run| {
        match container {
            Value::Set(set) => Ok(set.first(run)?.unwrap_or(Value::None)),
            _ => match run.len(container)? {
                0 => Ok(Value::None),
                _ => run.item(container, 0),
            },
        }
    }
}

safe! {
    /// The first element of a tuple; `()` for a value that counts as false.
    pub first_t(container: Tuple) -> Any;
    |run| {
        match run.truth(container) {
            true => run.at(container, 0),
            false => Ok(Value::EMPTY_TUPLE),
        }
    }
}

safe! {
    /// The first element in iteration order; the empty set for a value that counts as false.
    pub first_f(container: FrozenSet) -> Any;
    ordered "a set of several elements";
    |run| {
        match run.truth(container) {
            true => first_of(run, container),
            false => Ok(Value::Set(run.empty_set()?)),
        }
    }
}

/// Returns `next(iter(container))`, and fails for an empty container.
fn first_of<'r>(run: &mut Run<'r>, container: Value<'r>) -> Outcome<Value<'r>> {
    match container {
        Value::Set(set) => set.first(run)?.ok_or(Fault::StopIteration),
        _ => run.at(container, 0),
    }
}

safe! {
    /// The second element in iteration order, or `None` when there is only one.
    pub second(container: Container) -> Any;
    ordered "a set of several elements";
    |run| {
        if let Value::Set(set) = container {
            return match *set.order(run)? {
                [] => Err(Fault::StopIteration),
                [_] => Ok(Value::None),
                [_, k, ..] => Ok(set.elems.get(k as usize)),
            };
        }
        match run.len(container)? {
            0 => Err(Fault::StopIteration),
            1 => Ok(Value::None),
            _ => run.item(container, 1),
        }
    }
}

safe! {
    /// The last element in iteration order; `()` for a value that counts as false.
    pub last(container: Container) -> Any;
    ordered "a set of several elements";
    |run| {
        match run.truth(container) {
            true => last_of(run, container),
            false => Ok(Value::EMPTY_TUPLE),
        }
    }
}

/// Returns the last element in iteration order of a container that is not empty.
fn last_of<'r>(run: &mut Run<'r>, container: Value<'r>) -> Outcome<Value<'r>> {
    match container {
        Value::Set(_) => container::last(run, container),
        _ => run.at(container, -1),
    }
}

safe! {
    /// The last element of a tuple; `()` for a value that counts as false.
    pub last_t(container: Tuple) -> Any;
    |run| {
        match run.truth(container) {
            true => run.at(container, -1),
            false => Ok(Value::EMPTY_TUPLE),
        }
    }
}

safe! {
    /// The last element in iteration order; the empty set for a value that counts as false.
    pub last_f(container: FrozenSet) -> Any;
    ordered "a set of several elements";
    |run| {
        match run.truth(container) {
            true => last_of(run, container),
            false => Ok(Value::Set(run.empty_set()?)),
        }
    }
}

safe! {
    /// The number of elements.
    pub size(container: Container) -> Integer = container::size;
}

safe! {
    /// The number of elements. Takes any container, although the name says tuple.
    pub size_t(container: Tuple) -> Integer = container::size;
}

safe! {
    /// The number of elements. Takes any container, although the name says set.
    pub size_f(container: FrozenSet) -> Integer = container::size;
}

safe! {
    /// The elements as a tuple; the elements of a set are in its iteration order.
    pub totuple(container: FrozenSet) -> Tuple = container::totuple;
    ordered "a set of several elements";
}

safe! {
    /// The set with one value as its only element.
    pub initset(value: Any) -> FrozenSet = container::initset;
}

safe! {
    /// The set with one value added.
    pub insert(value: Any, container: FrozenSet) -> FrozenSet = container::insert;
}

safe! {
    /// The container without any element equal to a value. A nan equals nothing, so it is never
    /// removed.
    pub remove(value: Any, container: Container) -> Container = container::remove;
}

safe! {
    /// The elements that differ from a value, always as a tuple.
    pub remove_t(value: Any, container: Tuple) -> Tuple;
    ordered "a set of several elements";
    |run| {
        if container.is_tuple() {
            return container::remove(run, value, container);
        }
        container::tuple_without(run, value, container)
    }
}

safe! {
    /// The container without any element equal to a value, of the same kind.
    pub remove_f(value: Any, container: FrozenSet) -> FrozenSet = container::remove;
}

safe! {
    /// The first element that differs from a given value, or `None` when there is none.
    pub other(container: Container, value: Any) -> Any;
    ordered "a set with several other elements";
    |run| {
        if let Some(other) = other_of_two(run, container, value) {
            return Ok(other);
        }
        let rest = remove(run, value, container)?;
        first(run, rest)
    }
}

/// Returns the other element of a set of two, which needs no order.
fn other_of_two<'r>(
    run: &mut Run<'r>,
    container: Value<'r>,
    value: Value<'r>,
) -> Option<Value<'r>> {
    let set = container.as_set().filter(|set| set.len() == 2)?;
    let gone = match value.is_nan() {
        true => None,
        false => set.find(run, value),
    }?;
    Some(set.elems.get(1 - gone as usize))
}

safe! {
    /// The first element that differs from a given value, or `()` when there is none.
    pub other_t(container: Tuple, value: Any) -> Any;
    ordered "a set with several other elements";
    |run| {
        if let Some(other) = other_of_two(run, container, value) {
            return Ok(other);
        }
        for &item in run.items(container)? {
            if !run.eq(item, value) {
                return Ok(item);
            }
        }
        Ok(Value::EMPTY_TUPLE)
    }
}

safe! {
    /// The first element that differs from a given value, or the empty set when there is none.
    pub other_f(container: FrozenSet, value: Any) -> Any;
    ordered "a set with several other elements";
    |run| {
        if let Some(other) = other_of_two(run, container, value) {
            return Ok(other);
        }
        let rest = remove_f(run, value, container)?;
        match run.truth(rest) {
            true => first_of(run, rest),
            false => Ok(Value::Set(run.empty_set()?)),
        }
    }
}

safe! {
    /// The elements of two containers, in a container of the first one's kind.
    pub combine(a: Container, b: Container) -> Container = container::combine;
    ordered "a tuple combined with a set of several elements";
}

safe! {
    /// Two tuples joined end to end; two numbers are added.
    pub combine_t(a: Tuple, b: Tuple) -> Tuple;
    |run| {
        run.add(a, b)
    }
}

safe! {
    /// The union of two sets; two integers give their bitwise *or*.
    pub combine_f(a: FrozenSet, b: FrozenSet) -> FrozenSet;
    |run| {
        match (a, b) {
            (Value::Set(a), Value::Set(b)) => Ok(Value::Set(run.set_union(a, b)?)),
            (Value::Bool(a), Value::Bool(b)) => Ok(Value::bool(a.get() || b.get())),
            _ => match (a.as_int(), b.as_int()) {
                (Some(a), Some(b)) => Ok(Value::Int(a | b)),
                _ => Err(Fault::Type),
            },
        }
    }
}

safe! {
    /// The elements that two sets share.
    pub intersection(a: FrozenSet, b: FrozenSet) -> FrozenSet = container::intersection;
}

safe! {
    /// The elements of the first container that are not in the second, in a container of the same
    /// kind.
    pub difference(a: FrozenSet, b: FrozenSet) -> FrozenSet = container::difference;
}

safe! {
    /// The elements of the first container that are not in the second, in a container of the same
    /// kind.
    pub difference_tuple(a: Tuple, b: Tuple) -> Tuple = container::difference;
}

safe! {
    /// The same function as `difference_tuple`.
    pub difference_t(a: Tuple, b: Tuple) -> Tuple = difference_tuple;
}

safe! {
    /// The tuple without repetitions: the first of equal elements stays.
    pub dedupe(tup: Tuple) -> Tuple = container::dedupe;
}

safe! {
    /// The pairs whose halves differ, as a tuple.
    pub dedupe_pair_tuple(S: Samples) -> Samples;
    ordered "a set of several elements";
    |run| {
        let mut kept = Vec::new();
        for &sample in run.items(S)? {
            let (a, b) = run.unpack2(sample)?;
            if !run.eq(a, b) {
                kept.push(run.pair(a, b)?);
            }
        }
        run.tuple(&kept)
    }
}

safe! {
    /// The elements as a tuple, sorted by a key function; equal keys keep their order.
    pub order(container: Container, compfunc: Callable) -> Tuple = container::order;
    ordered "a set in which two elements have the same key";
}

safe! {
    /// A tuple that repeats an item a number of times.
    pub repeat(item: Any, num: C_) -> Tuple = container::repeat;
}

safe! {
    /// The elements of all members, in one container of the outer container's kind.
    pub merge(containers: ContainerContainer) -> Container = container::merge;
    ordered "a tuple that holds a set of several elements";
}

safe! {
    /// The elements of all members, in one container of the outer container's kind.
    pub merge_f(containers: ContainerContainer) -> Container = container::merge;
    ordered "a tuple that holds a set of several elements";
}

safe! {
    /// The elements of all members, in one container of the outer container's kind.
    pub merge_t(containers: ContainerContainer) -> Container = container::merge;
    ordered "a tuple that holds a set of several elements";
}

safe! {
    /// The largest element, or 0 when there is none.
    pub maximum(container: IntegerSet) -> Integer = container::maximum;
    ordered "elements that are sets, which compare by inclusion";
}

safe! {
    /// The smallest element, or 0 when there is none.
    pub minimum(container: IntegerSet) -> Integer = container::minimum;
    ordered "elements that are sets, which compare by inclusion";
}

safe! {
    /// The largest value of a function on the elements, or its value on 0 when there are none.
    pub valmax(container: Container, compfunc: Callable) -> Integer = container::valmax;
    ordered "values that are sets, which compare by inclusion";
}

safe! {
    /// The largest value of a function on the elements, or its value on 0 when there are none.
    pub valmax_t(container: Tuple, compfunc: Callable) -> Integer = container::valmax;
    ordered "values that are sets, which compare by inclusion";
}

safe! {
    /// The largest value of a function on the elements, or its value on 0 when there are none.
    pub valmax_f(container: FrozenSet, compfunc: Callable) -> Integer = container::valmax;
    ordered "values that are sets, which compare by inclusion";
}

safe! {
    /// The smallest value of a function on the elements, or its value on 0 when there are none.
    pub valmin(container: Container, compfunc: Callable) -> Integer = container::valmin;
    ordered "values that are sets, which compare by inclusion";
}

safe! {
    /// The smallest value of a function on the elements, or its value on 0 when there are none.
    pub valmin_t(container: Tuple, compfunc: Callable) -> Integer = container::valmin;
    ordered "values that are sets, which compare by inclusion";
}

safe! {
    /// The smallest value of a function on the elements, or its value on 0 when there are none.
    pub valmin_f(container: FrozenSet, compfunc: Callable) -> Integer = container::valmin;
    ordered "values that are sets, which compare by inclusion";
}

safe! {
    /// The element with the largest value of a function; the first one of a tie.
    pub argmax(container: Container, compfunc: Callable) -> Any = container::argmax;
    ordered "a set in which several elements tie";
}

safe! {
    /// The element with the largest value of a function; the first one of a tie.
    pub argmax_t(container: Tuple, compfunc: Callable) -> Any = container::argmax;
    ordered "a set in which several elements tie";
}

safe! {
    /// The element with the largest value of a function; the first one of a tie.
    pub argmax_f(container: FrozenSet, compfunc: Callable) -> Any = container::argmax;
    ordered "a set in which several elements tie";
}

safe! {
    /// The element with the smallest value of a function; the first one of a tie.
    pub argmin(container: Container, compfunc: Callable) -> Any = container::argmin;
    ordered "a set in which several elements tie";
}

safe! {
    /// The element with the smallest value of a function; the first one of a tie.
    pub argmin_t(container: Tuple, compfunc: Callable) -> Any = container::argmin;
    ordered "a set in which several elements tie";
}

safe! {
    /// The element with the smallest value of a function; the first one of a tie.
    pub argmin_f(container: FrozenSet, compfunc: Callable) -> Any = container::argmin;
    ordered "a set in which several elements tie";
}

safe! {
    /// The most frequent element of a tuple; ties follow the order of the set of its elements.
    pub mostcommon(container: Container) -> Any = container::mostcommon;
    ordered "several elements that are equally frequent";
}

safe! {
    /// The most frequent element of a tuple; ties follow the order of the set of its elements.
    pub mostcommon_t(container: Tuple) -> Any = container::mostcommon;
    ordered "several elements that are equally frequent";
}

safe! {
    /// The most frequent element. In a set all elements are equally frequent, and the result is the
    /// first of a rebuilt set.
    pub mostcommon_f(container: FrozenSet) -> Any;
    ordered "several elements that are equally frequent";
    |run| {
        match container {
            Value::Set(set) => first_of_rebuilt(run, set),
            _ => container::mostcommon(run, container),
        }
    }
}

safe! {
    /// The rarest element of a tuple; ties follow the order of the set of its elements.
    pub leastcommon(container: Container) -> Any = container::leastcommon;
    ordered "several elements that are equally rare";
}

safe! {
    /// The rarest element of a tuple; ties follow the order of the set of its elements.
    pub leastcommon_t(container: Tuple) -> Any = container::leastcommon;
    ordered "several elements that are equally rare";
}

safe! {
    /// The rarest element. In a set all elements are equally frequent, and the result is the first
    /// of a rebuilt set.
    pub leastcommon_f(container: FrozenSet) -> Any;
    ordered "several elements that are equally rare";
    |run| {
        match container {
            Value::Set(set) => first_of_rebuilt(run, set),
            _ => container::leastcommon(run, container),
        }
    }
}

/// Returns the first element of a set rebuilt from a set's elements.
fn first_of_rebuilt<'r>(run: &mut Run<'r>, set: &'r Set<'r>) -> Outcome<Value<'r>> {
    let all = run.slice_from(0..set.len() as u32)?;
    let rebuilt = run.set_filter(set, all)?;
    rebuilt.first(run)?.ok_or(Fault::Value)
}

safe! {
    /// The elements that satisfy a condition, in a container of the same kind.
    pub sfilter(container: Container, condition: Callable) -> Container = container::sfilter;
}

safe! {
    /// The elements that satisfy a condition, always as a tuple.
    pub sfilter_t(container: Tuple, condition: Callable) -> Tuple;
    ordered "a set of several elements";
    |run| {
        if container.is_tuple() {
            return container::sfilter(run, container, condition);
        }
        let items = run.items(container)?;
        let mut kept = Vec::new();
        let select = |run: &mut Run<'r>, state: &mut LoopState| {
            for &item in items {
                if run.test_in_loop(state, condition, item)? {
                    kept.push(item);
                }
            }
            Ok(())
        };
        run.in_frames(2, |run| run.in_loop(select))?;
        run.tuple(&kept)
    }
}

safe! {
    /// The elements that satisfy a condition, always as a set.
    pub sfilter_f(container: FrozenSet, condition: Callable) -> FrozenSet;
    |run| {
        accepted(run, container, condition)
    }
}

/// Returns the elements that satisfy a condition, as a set.
fn accepted<'r>(
    run: &mut Run<'r>,
    container: Value<'r>,
    condition: Value<'r>,
) -> Outcome<Value<'r>> {
    let members = Members::of(run, container)?;
    let kept = run.in_frames(2, |run| members.select(run, condition))?;
    let accepted = members.keep_in_set(run, &kept);
    run.give_numbers(kept);
    accepted
}

safe! {
    /// The elements of all members that satisfy a condition, merged. The result is of the outer
    /// container's kind.
    pub mfilter(container: Container, function: Callable) -> FrozenSet;
    ordered "a tuple that holds a set of several elements";
    |run| {
        let kept = sfilter(run, container, function)?;
        merge_f(run, kept)
    }
}

safe! {
    /// The members that satisfy a condition, as a set; nothing is merged.
    pub mfilter_t(container: Tuple, function: Callable) -> FrozenSet;
    |run| {
        accepted(run, container, function)
    }
}

safe! {
    /// The elements of all members that satisfy a condition, merged. The result is of the outer
    /// container's kind.
    pub mfilter_f(container: FrozenSet, function: Callable) -> FrozenSet;
    ordered "a tuple that holds a set of several elements";
    |run| {
        let kept = sfilter(run, container, function)?;
        merge_f(run, kept)
    }
}

safe! {
    /// The first element that satisfies a condition, or the empty set when there is none.
    pub extract(container: Container, condition: Callable) -> Any;
    ordered "a set in which several elements satisfy the condition";
    |run| {
        match container::extract(run, container, condition) {
            Err(Fault::StopIteration) => Ok(Value::Set(run.empty_set()?)),
            outcome => outcome,
        }
    }
}

safe! {
    /// The integers from a start up to but not including a stop, in steps.
    pub interval(start: Integer, stop: Integer, step: Integer) -> Tuple = container::interval;
}

safe! {
    /// The pair of two values.
    pub astuple(a: Any, b: Any) -> Tuple = arithmetic::astuple;
}

safe! {
    /// The cell at a location with a colour.
    pub ascell(ij: IJ, c: C_) -> Tuple;
    |run| {
        if let (Value::Pair(at), Value::Int(color)) = (ij, c)
            && let Ok(color) = color.try_into()
        {
            return Ok(Value::cell(Cell::new(color, at.get())));
        }
        let (i, j) = (run.at(ij, 0)?, run.at(ij, 1)?);
        run.tuple(&[i, j, c])
    }
}

safe! {
    /// The location of a cell: the first two components of a tuple.
    pub toij(c: Cell) -> IJ;
    |run| {
        if let Value::Cell(cell) = c {
            return Ok(Value::pair(cell.get().at));
        }
        let (i, j) = (run.at(c, 0)?, run.at(c, 1)?);
        run.pair(i, j)
    }
}

safe! {
    /// The tuple of three values: a cell from row, column and colour.
    pub astriple(i: I_, j: J_, c: C_) -> Tuple;
    |run| {
        run.tuple(&[i, j, c])
    }
}

safe! {
    /// All pairs of an element of the first and an element of the second container, as a set.
    pub product(a: Container, b: Container) -> FrozenSet = container::product;
}

safe! {
    /// The elements of two containers paired by position, as a tuple of pairs.
    pub pair(a: Tuple, b: Tuple) -> TupleTuple = container::pair;
    ordered "a set of several elements";
}

safe! {
    /// Locations and colours paired by position, as a tuple of cells.
    pub celltuple(a: Tuple, b: Tuple) -> TupleTuple;
    ordered "a set of several elements";
    |run| {
        let (a, b) = (run.items(a)?, run.items(b)?);
        let mut cells = Vec::with_capacity(a.len().min(b.len()));
        run.spend(cells.capacity())?;
        for (&at, &z) in a.iter().zip(b) {
            let (x, y) = run.unpack2(at)?;
            cells.push(run.tuple(&[x, y, z])?);
        }
        run.tuple(&cells)
    }
}

safe! {
    /// The members with a given number of elements, as a set.
    pub sizefilter(container: Container, n: Integer) -> Object = container::sizefilter;
}

safe! {
    /// The members with a given number of elements, as a tuple.
    pub sizefilter_t(container: Tuple, n: Integer) -> Tuple;
    ordered "a set of several elements";
    |run| {
        let mut kept = Vec::new();
        for &member in run.items(container)? {
            let size = Value::Int(run.len(member)? as i64);
            if run.eq(size, n) {
                kept.push(member);
            }
        }
        run.tuple(&kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::ops::tokpidjin::ranked::get_nth_t;
    use crate::run::{Limits, Workspace};

    #[test]
    fn a_missing_number_is_found_but_never_removed() {
        Workspace::new()
            .run(Dialect::Tokpidjin, &Limits::default(), |run| {
                let missing = get_nth_t(run, Value::EMPTY_TUPLE, Value::Int(0))?;
                let twice = run.tuple(&[missing, missing, Value::Int(1)])?;
                // A membership test compares identities first, but removal uses `!=`.
                assert!(run.contains(missing, twice)?);
                let left = remove(run, missing, twice)?;
                assert_eq!(run.tuple_len(left), Some(3));
                let once = dedupe(run, twice)?;
                assert_eq!(run.tuple_len(once), Some(2));
                let set = Value::Set(run.build(&[missing, missing])?);
                let left = remove_f(run, missing, set)?;
                assert_eq!((run.len(set)?, run.len(left)?), (1, 1));
                let rest = difference(run, set, twice)?;
                assert_eq!(run.len(rest)?, 0);
                // A nan made by arithmetic is another object.
                let made = run.add(missing, Value::Int(1))?;
                assert!(!run.contains(made, twice)?);
                Ok::<_, Fault>(())
            })
            .unwrap();
    }
}
