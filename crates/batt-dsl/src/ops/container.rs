//! Generic containers: tuples and frozensets of anything.

use std::cmp::Ordering;

use crate::dialect::Dialect;
use crate::fault::{Fault, Outcome};
use crate::op;
use crate::run::Run;
use crate::set::{Elems, Images, KeyIndex, Origin, Product, Set, Walk, same_form};
use crate::table::Op;
use crate::value::{Pair, Tuple, Value};

use super::columns::BLOCK;
use super::sort::sort;

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
    &order::OP,
    &repeat::OP,
    &merge::OP,
    &maximum::OP,
    &minimum::OP,
    &valmax::OP,
    &valmin::OP,
    &argmax::OP,
    &argmin::OP,
    &mostcommon::OP,
    &leastcommon::OP,
    &sfilter::OP,
    &mfilter::OP,
    &extract::OP,
    &interval::OP,
    &product::OP,
    &pair::OP,
    &sizefilter::OP,
];

/// The elements of a container by number, without asking a set for its order.
#[derive(Clone, Copy)]
pub(super) enum Members<'r> {
    Tuple(&'r [Value<'r>]),
    Set(&'r Set<'r>),
}

/// For so few elements it does not matter what calls leave behind; a longer loop around this one takes it back.
const FEW: usize = 3;

/// What the elements of a set were mapped to.
pub(super) enum Mapped<'r> {
    /// The images of all elements, by number.
    All(&'r [Value<'r>]),
    /// The set of the images, which are sets.
    Collapsed(&'r Set<'r>),
}

/// For so many elements a look at whether a function gives the same patch again and again costs little.
const MANY: usize = 128;
/// After so many elements it should have paid.
const TRIAL: usize = 32;

/// What a function has given so far, equals left out as they come: of hundreds of thousands of calls few may give something
/// new, and the memory of the others is free at once.
pub(super) struct Collected<'r> {
    pub values: Vec<Value<'r>>,
    index: KeyIndex,
    /// Have all values been patches, and equals the same in every respect?
    pub is_patches: bool,
    has_empty: bool,
}

impl<'r> Collected<'r> {
    pub fn new(run: &mut Run<'r>) -> Collected<'r> {
        let mut index = std::mem::take(&mut run.scratch.value_index);
        index.clear_for_some_of(TRIAL);
        Collected {
            values: Vec::new(),
            index,
            is_patches: true,
            has_empty: false,
        }
    }

    /// The values, and whether all were patches. Leaves the buffers to others.
    pub fn finish(self, run: &mut Run<'r>) -> (Vec<Value<'r>>, bool) {
        run.scratch.value_index = self.index;
        (self.values, self.is_patches)
    }

    /// Is the empty set among them?
    #[inline(always)]
    pub fn has_empty(&self) -> bool {
        self.has_empty
    }

    /// Is it worth going on after so many values?
    #[inline(always)]
    pub fn pays(&self, count: usize) -> bool {
        self.is_patches
            && (count < TRIAL || !count.is_power_of_two() || self.values.len() <= count / 4 * 3)
    }

    /// The number of a value, and whether there was one before that may stand for it.
    #[inline(always)]
    pub fn number_of(
        &mut self,
        run: &mut Run<'r>,
        value: Value<'r>,
        may_stand: impl FnOnce(Value<'r>, Value<'r>) -> bool,
    ) -> (u32, bool) {
        let new = self.values.len() as u32;
        if let Value::Set(set) = value
            && !matches!(set.elems, Elems::Values(_))
        {
            let key = set.fingerprint(run);
            let values = &self.values;
            let same = |k: u32| {
                let other = values[k as usize];
                other.as_set().is_some_and(|other| other.has_same_list(set))
                    || run.eq_member(other, value)
            };
            let number = self.index.find_or_insert(key, new, same);
            if number != new {
                if may_stand(values[number as usize], value) {
                    return (number, true);
                }
                self.is_patches = false;
            }
        } else {
            self.is_patches = false;
        }
        self.has_empty |= matches!(value, Value::Set(set) if set.len() == 0);
        self.values.push(value);
        self.index.make_room(self.values.len());
        (new, false)
    }
}

impl<'r> Members<'r> {
    pub fn of(run: &mut Run<'r>, container: Value<'r>) -> Outcome<Members<'r>> {
        Ok(match container {
            Value::Set(set) => {
                run.spend(set.len() / 4)?;
                Members::Set(set)
            }
            tuple => Members::Tuple(run.items(tuple)?),
        })
    }

    pub fn len(self) -> usize {
        match self {
            Members::Tuple(items) => items.len(),
            Members::Set(set) => set.len(),
        }
    }

    #[inline(always)]
    pub fn get(self, k: usize) -> Value<'r> {
        match self {
            Members::Tuple(items) => items[k],
            Members::Set(set) => set.elems.get(k),
        }
    }

    /// Does going by number mean going in iteration order?
    pub fn in_order(self) -> bool {
        match self {
            Members::Tuple(_) => true,
            Members::Set(set) => set.len() <= 1,
        }
    }

    /// Element numbers in iteration order.
    pub fn order(self, run: &mut Run<'r>) -> Outcome<Vec<u32>> {
        Ok(match self {
            Members::Tuple(items) => (0..items.len() as u32).collect(),
            Members::Set(set) => set.order(run)?.to_vec(),
        })
    }

    /// The images of all elements under a function, by number.
    pub fn map(self, run: &mut Run<'r>, function: Value<'r>) -> Outcome<&'r [Value<'r>]> {
        if let Some(images) = run.map_in_columns(self, function) {
            return images;
        }
        let images = run.slice_filled(self.len(), Value::None)?;
        self.map_into(run, function, images)?;
        Ok(images)
    }

    /// Calls a function on one element after the other. Where one fails, the images of others are there all the same.
    fn map_into(
        self,
        run: &mut Run<'r>,
        function: Value<'r>,
        images: &mut [Value<'r>],
    ) -> Outcome<()> {
        if images.len() <= FEW {
            return self.each(run, 0, |run, k| {
                images[k] = run.call1(function, self.get(k))?;
                Ok(())
            });
        }
        run.in_turns(|run, turns| {
            self.each(run, 0, |run, k| {
                images[k] = run.turn1(turns, function, self.get(k))?;
                Ok(())
            })
        })
    }

    /// Does something with the number of each element, from one on.
    #[inline(always)]
    pub fn each(
        self,
        run: &mut Run<'r>,
        from: usize,
        mut visit: impl FnMut(&mut Run<'r>, usize) -> Outcome<()>,
    ) -> Outcome<()> {
        for k in from..self.len() {
            if let Err(fault) = visit(run, k) {
                return Err(self.first_fault(run, (k, fault), visit));
            }
        }
        Ok(())
    }

    /// The fault that Python meets first, where the one we met first is that of an element of this number. We go through a set by
    /// number, and Python in its order: that matters only if its elements fail in different ways, and somebody hears of it.
    #[cold]
    pub fn first_fault(
        self,
        run: &mut Run<'r>,
        (number, fault): (usize, Fault),
        mut visit: impl FnMut(&mut Run<'r>, usize) -> Outcome<()>,
    ) -> Fault {
        let Members::Set(set) = self else {
            return fault;
        };
        if fault.is_limit() || run.dialect.never_fails() {
            return fault;
        }
        // To visit all takes less time than to work out an order that is seldom needed. Whether it is known already must not matter:
        // what visits make is numbered.
        let mut met = vec![(number, fault)];
        for k in number + 1..set.len() {
            match visit(run, k) {
                Ok(()) => {}
                Err(limit) if limit.is_limit() => return limit,
                Err(other) => met.push((k, other)),
            }
        }
        if met.iter().all(|(_, other)| *other == fault) {
            return fault;
        }
        let of = |k: &u32| met.iter().find(|(number, _)| *number == *k as usize);
        match set.order(run) {
            Ok(order) => order.iter().find_map(of).map_or(fault, |(_, first)| *first),
            Err(limit) => limit,
        }
    }

    /// The images of all elements of a set under a function, to be collected in a set.
    pub fn map_set(
        run: &mut Run<'r>,
        source: &'r Set<'r>,
        function: Value<'r>,
    ) -> Outcome<Mapped<'r>> {
        let members = Members::Set(source);
        if source.len() < MANY {
            return members.map(run, function).map(Mapped::All);
        }
        // Of more, images that collapse as they come take less memory.
        if source.len() <= BLOCK
            && let Some(images) = run.map_in_columns(members, function)
        {
            return images.map(Mapped::All);
        }
        let mut collected = Collected::new(run);
        let mut numbers = Vec::new();
        let rest = run.in_turns(|run, turns| {
            for k in 0..source.len() {
                if !collected.pays(k) {
                    let images = run.slice_filled(source.len(), Value::None)?;
                    members.each(run, k, |run, k| {
                        images[k] = run.turn1(turns, function, members.get(k))?;
                        Ok(())
                    })?;
                    return Ok(Some(images));
                }
                let call = |run: &mut Run<'r>| run.call1(function, members.get(k));
                // SAFETY: `collected` keeps what it has not had before.
                let number = unsafe {
                    run.turn_to_collect(turns, call, |run, image| {
                        collected.number_of(run, image, same_form)
                    })
                };
                numbers.push(number.map_err(|fault| {
                    members.first_fault(run, (k, fault), |run, k| {
                        run.turn1(turns, function, members.get(k)).map(drop)
                    })
                })?);
            }
            Ok(None)
        })?;
        let (values, is_patches) = collected.finish(run);
        if is_patches && rest.is_none() {
            let numbers = run.slice(&numbers)?;
            let elements = Elems::Values(run.slice(&values)?);
            let set = run.set_collapsed(source, elements, Images::Numbers(numbers))?;
            return Ok(Mapped::Collapsed(set));
        }
        let images = match rest {
            Some(images) => images,
            None => run.slice_filled(source.len(), Value::None)?,
        };
        for (image, &number) in images.iter_mut().zip(&numbers) {
            *image = values[number as usize];
        }
        Ok(Mapped::All(images))
    }

    /// The numbers of the elements that satisfy a condition.
    pub fn select(self, run: &mut Run<'r>, condition: Value<'r>) -> Outcome<Vec<u32>> {
        if let Some(kept) = run.select_in_columns(self, condition) {
            return kept;
        }
        let mut kept = run.take_numbers();
        run.in_turns(|run, turns| {
            self.each(run, 0, |run, k| {
                if run.test(turns, condition, self.get(k))? {
                    kept.push(k as u32);
                }
                Ok(())
            })
        })
        .map_err(Fault::through_generator)?;
        Ok(kept)
    }

    /// The elements with these ascending numbers, in a container of the same kind.
    fn keep(self, run: &mut Run<'r>, kept: &[u32]) -> Outcome<Value<'r>> {
        match self {
            Members::Set(set) => Ok(Value::Set(run.set_filter(set, kept)?)),
            Members::Tuple(items) => {
                let kept: Vec<_> = kept.iter().map(|&k| items[k as usize]).collect();
                run.tuple(&kept)
            }
        }
    }

    /// The elements with these ascending numbers, in a set: *built* in iteration order.
    pub fn keep_in_set(self, run: &mut Run<'r>, kept: &[u32]) -> Outcome<Value<'r>> {
        Ok(Value::Set(match self {
            Members::Set(set) => run.set_filter(set, kept)?,
            Members::Tuple(items) => {
                let kept: Vec<_> = kept.iter().map(|&k| items[k as usize]).collect();
                run.build(&kept)?
            }
        }))
    }
}

op! {
    /// Number of elements.
    pub size(container: Container) -> Integer;
    example "size((7, 7, 7))" => "3";
    fails "size(ONE)";
    |run| { Ok(Value::Int(run.len(container)? as i64)) }
}

op! {
    /// The elements as a tuple, a set's in its iteration order.
    pub totuple(container: FrozenSet) -> Tuple;
    ordered "a set of several";
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
    /// Fails when there is none.
    pub first(container: Container) -> Any;
    ordered "a set of several";
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
    /// Fails when there is none.
    pub last(container: Container) -> Any;
    ordered "a set of several";
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
    /// The set that holds just this value.
    ///
    /// Never fails.
    pub initset(value: Any) -> FrozenSet;
    example "initset(THREE)" => "frozenset({3})";
    |run| { Ok(Value::Set(run.single(value)?)) }
}

op! {
    /// The set with one more value.
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
    /// The container without a value, wherever it occurs.
    ///
    /// A value that is not there changes nothing.
    pub remove(value: Any, container: Container) -> Container;
    example "remove(ONE, (1, 2, 1, 3))" => "(2, 3)";
    fails "remove(ONE, TWO)";
    |run| {
        match container {
            Value::Set(set) => {
                // Elements are compared with `!=`, and nan differs from itself.
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

/// The tuple of the elements that do not equal a value.
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
    /// The first element that is not the given value.
    ///
    /// Fails when nothing else is there.
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
    /// Both containers' elements, in a container of the first one's kind.
    ///
    /// Two tuples are joined; a set takes the other's elements in.
    pub combine(a: Container, b: Container) -> Container;
    ordered "a tuple combined with a set of several";
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
    /// Two integers give their bitwise *and*. Tuples fail.
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
    /// The result is of the first one's kind. The second is not looked at when the first is empty.
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

/// So many rows are compared each with each; hashing them would take longer.
const FEW_ROWS: usize = 64;

op! {
    /// The elements as a tuple, sorted by what a function says of them.
    ///
    /// Ascending; equal keys keep their order. `None` as function sorts the elements themselves. Fails when
    /// two keys cannot be compared.
    pub order(container: Container, compfunc: Callable) -> Tuple;
    ordered "a set in which two elements have the same key";
    frames 2;
    example "order(((1, 2, 3), (4,), (5, 6)), size)" => "((4,), (5, 6), (1, 2, 3))";
    fails "order((1, (2, 3)), identity)";
    |run| {
        if let Value::Row(row) = container
            && is_identity(compfunc)
        {
            run.spend(row.cells.len())?;
            let cells = run.slice_filled(row.cells.len(), 0)?;
            cells.copy_from_slice(row.cells);
            cells.sort_unstable();
            return run.row(cells);
        }
        let members = Members::of(run, container)?;
        let keys = keys(run, members, compfunc)?;
        run.spend(keys.len())?;
        let sorted = match int_keys(keys) {
            Some(keys) => {
                let mut numbers: Vec<u32> = (0..keys.len() as u32).collect();
                numbers.sort_by_key(|&k| keys[k as usize]);
                let ties = numbers.windows(2).any(|w| keys[w[0] as usize] == keys[w[1] as usize]);
                if ties && !members.in_order() {
                    numbers = members.order(run)?;
                    numbers.sort_by_key(|&k| keys[k as usize]);
                }
                numbers
            }
            None => {
                let numbers = members.order(run)?;
                sort(run, numbers, keys)?
            }
        };
        let items: Vec<_> = sorted.iter().map(|&k| members.get(k as usize)).collect();
        run.tuple(&items)
    }
}

/// Does a key function leave the elements as they are?
fn is_identity(compfunc: Value<'_>) -> bool {
    match compfunc {
        Value::None => true,
        Value::Op(id) => {
            id.is(&super::logic::identity::OP)
                || std::ptr::eq(id.op(), &super::tokpidjin::identity::OP)
        }
        _ => false,
    }
}

/// The keys of all elements by number; a function of `None` means the elements themselves.
pub(super) fn keys<'r>(
    run: &mut Run<'r>,
    members: Members<'r>,
    compfunc: Value<'r>,
) -> Outcome<&'r [Value<'r>]> {
    match members {
        Members::Tuple(items) if is_identity(compfunc) => Ok(items),
        _ if is_identity(compfunc) => run.slice_from((0..members.len()).map(|k| members.get(k))),
        _ => members.map(run, compfunc),
    }
}

/// The keys of all elements, to find an extreme one.
fn keys_to_compare<'r>(
    run: &mut Run<'r>,
    members: Members<'r>,
    compfunc: Value<'r>,
    direction: Ordering,
) -> Outcome<&'r [Value<'r>]> {
    if is_identity(compfunc) {
        return keys(run, members, compfunc);
    }
    if let Some(keys) = run.map_in_columns(members, compfunc) {
        return keys;
    }
    let keys = run.slice_filled(members.len(), Value::None)?;
    match members.map_into(run, compfunc, keys) {
        Ok(()) => Ok(keys),
        Err(fault) => Err(fault_in_turns(
            run, members, compfunc, keys, fault, direction,
        )),
    }
}

/// The fault that Python meets first, where some keys cannot be computed. It compares each key with the best so far before it
/// asks for the next one, so there may be two before that cannot be compared.
#[cold]
fn fault_in_turns<'r>(
    run: &mut Run<'r>,
    members: Members<'r>,
    compfunc: Value<'r>,
    keys: &[Value<'r>],
    fault: Fault,
    direction: Ordering,
) -> Fault {
    if fault.is_limit() || fault == Fault::Type || run.dialect.never_fails() {
        return fault;
    }
    // Where the key is missing there is `None`, which may also be a key.
    let key = |run: &mut Run<'r>, k: usize| match keys[k] {
        Value::None => run.call1(compfunc, members.get(k)),
        key => Ok(key),
    };
    let is_number =
        |key: Outcome<Value<'_>>| key.is_err() || key.is_ok_and(|key| key.as_int().is_some());
    if !members.in_order() && (0..keys.len()).all(|k| is_number(key(run, k))) {
        return fault;
    }
    let mut meet = || {
        let mut best: Option<Value<'r>> = None;
        for k in members.order(run)? {
            let key = key(run, k as usize)?;
            best = match best {
                Some(best) if run.extreme(&[best, key], direction)? == Some(0) => Some(best),
                _ => Some(key),
            };
        }
        Err(fault)
    };
    match meet() {
        Ok(()) => fault,
        Err(first) => first,
    }
}

/// The keys as plain integers, if all are.
pub(super) fn int_keys(keys: &[Value<'_>]) -> Option<Vec<i64>> {
    keys.iter()
        .map(|key| match key {
            Value::Int(n) => Some(*n),
            _ => None,
        })
        .collect()
}

op! {
    /// A tuple of the same item, so many times.
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
    /// All members' elements in one container of the outer one's kind.
    ///
    /// A tuple of sets gives a tuple, repetitions included; a set of tuples gives a set. Fails when a
    /// member is no container.
    pub merge(containers: ContainerContainer) -> Container;
    ordered "a tuple that holds a set of several";
    example "merge(((1, 2), (2, 3)))" => "(1, 2, 2, 3)";
    fails "merge((1, 2))";
    |run| {
        match containers {
            Value::Set(set) => {
                let members = match set.elems {
                    Elems::Values(values) => values,
                    // Members are pairs or cells: short tuples.
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

/// The elements of all members, one after the other, as a tuple.
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

/// The number of elements, if all members are sets of locations or all are sets of cells, and
/// there are enough of them for waiting to pay.
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
    /// The largest element, 0 when there is none.
    ///
    /// Fails when two elements cannot be compared.
    pub maximum(container: Container) -> Any;
    ordered "elements that are sets, which compare by inclusion";
    example "maximum((3, 9, 4))" => "9";
    fails "maximum((1, (2, 3)))";
    |run| { extreme_element(run, container, Ordering::Greater) }
}

op! {
    /// The smallest element, 0 when there is none.
    ///
    /// Fails when two elements cannot be compared.
    pub minimum(container: Container) -> Any;
    ordered "elements that are sets, which compare by inclusion";
    example "minimum((3, 9, 4))" => "3";
    fails "minimum((1, (2, 3)))";
    |run| { extreme_element(run, container, Ordering::Less) }
}

/// The largest item, or the smallest.
pub(super) fn pick<T: Ord>(items: impl Iterator<Item = T>, direction: Ordering) -> Option<T> {
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

/// The number of the first extreme element in iteration order. Keys go by number; without keys
/// the elements themselves are compared.
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
    // Plain integers need no order unless the extreme is met twice.
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
    /// The largest value that a function takes on the elements.
    ///
    /// For an empty container it is the function's value on 0. Fails when two values cannot be compared.
    pub valmax(container: Container, compfunc: Callable) -> Any;
    ordered "values that are sets, which compare by inclusion";
    frames 2;
    example "valmax(((1, 2), (3,)), size)" => "2";
    fails "valmax((), size)";
    |run| { extreme_value(run, container, compfunc, Ordering::Greater) }
}

op! {
    /// The smallest value that a function takes on the elements.
    ///
    /// For an empty container it is the function's value on 0. Fails when two values cannot be compared.
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
    // As a key `None` stands for the elements themselves, but then it is called.
    if matches!(compfunc, Value::None) {
        return Err(Fault::Type);
    }
    if members.len() == 0 {
        return run.call1(compfunc, Value::Int(0));
    }
    let keys = keys_to_compare(run, members, compfunc, direction)?;
    if let Some(ints) = int_keys(keys) {
        // Python calls the function once more on the winner; it says the same again.
        let extreme = pick(ints.iter(), direction);
        return Ok(Value::Int(extreme.copied().unwrap_or_default()));
    }
    match first_extreme(run, members, Some(keys), direction)? {
        Some(k) => run.call1(compfunc, members.get(k)),
        None => Err(Fault::Value),
    }
}

op! {
    /// The element on which a function is largest; the first of several.
    ///
    /// `None` as function compares the elements themselves. Fails on an empty container (in the re-arc
    /// dialect that gives `None`) and when two values cannot be compared.
    pub argmax(container: Container, compfunc: Callable) -> Any;
    ordered "a set in which several elements tie";
    frames 2;
    example "argmax(((1,), (2, 3), (4,)), size)" => "(2, 3)";
    fails "argmax((), size)";
    |run| { extreme_argument(run, container, compfunc, Ordering::Greater) }
}

op! {
    /// The element on which a function is smallest; the first of several.
    ///
    /// `None` as function compares the elements themselves. Fails on an empty container (in the re-arc
    /// dialect that gives `None`) and when two values cannot be compared.
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
    /// Among equally frequent ones it is the first in the iteration order of the set of elements, not in the
    /// tuple. Fails for a set and for an empty tuple.
    pub mostcommon(container: Container) -> Any;
    ordered "several elements that are equally frequent";
    example "mostcommon((1, 2, 2, 3))" => "2";
    fails "mostcommon(())";
    |run| { by_frequency(run, container, Ordering::Greater) }
}

op! {
    /// The rarest element of a tuple.
    ///
    /// Among equally rare ones it is the first in the iteration order of the set of elements, not in the
    /// tuple. Fails for a set and for an empty tuple.
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
        && let Some(winner) = super::color::winner_of(row.cells, direction)
    {
        run.spend(row.cells.len() / 16)?;
        return Ok(Value::Int(winner.into()));
    }
    let items = run.items(container)?;
    most_frequent(run, items, direction)
}

/// The value that occurs most (or least) often; ties go by the table order of the set of values.
pub(super) fn most_frequent<'r>(
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

/// The set of the values, numbered as they are first met, and how often each of them occurs.
pub(super) fn frequencies<'r>(
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

op! {
    /// The elements that satisfy a condition, in a container of the same kind.
    pub sfilter(container: Container, condition: Callable) -> Container;
    frames 2;
    example "sfilter((1, 2, 3, 4), even)" => "(2, 4)";
    fails "sfilter((1, 2), THREE)";
    |run| {
        let members = Members::of(run, container)?;
        let kept = members.select(run, condition)?;
        let left = members.keep(run, &kept);
        run.give_numbers(kept);
        left
    }
}

op! {
    /// The elements of all members that satisfy a condition, merged.
    ///
    /// The result is of the outer container's kind.
    pub mfilter(container: Container, function: Callable) -> FrozenSet;
    ordered "a tuple that holds a set of several";
    frames 1;
    example "mfilter(((1, 2), (3,), (4, 5)), matcher(size, TWO))" => "(1, 2, 4, 5)";
    fails "mfilter((1, 2), even)";
    |run| {
        let kept = sfilter(run, container, function)?;
        merge(run, kept)
    }
}

op! {
    /// The first element that satisfies a condition.
    ///
    /// Later elements are not looked at. Fails when none does.
    pub extract(container: Container, condition: Callable) -> Any;
    ordered "a set in which several elements satisfy the condition";
    frames 2;
    example "extract((1, 2, 3, 4), even)" => "2";
    fails "extract((1, 3), even)";
    |run| {
        let members = Members::of(run, container)?;
        // Without order: if just one element satisfies the condition and none fails, it is the one. The same where the order is
        // known, so that what it takes does not depend on who has asked for the order before.
        if let Members::Set(set) = members
            && let Ok(kept) = members.select(run, condition)
        {
            match *kept {
                [] => return Err(Fault::StopIteration),
                [k] => return Ok(set.elems.get(k as usize)),
                _ => {
                    for &k in set.order(run)? {
                        if kept.contains(&k) {
                            return Ok(set.elems.get(k as usize));
                        }
                    }
                }
            }
        }
        let order = members.order(run)?;
        run.in_turns(|run, turns| {
            for k in order {
                let element = members.get(k as usize);
                let accepted = run.test(turns, condition, element);
                if accepted.map_err(Fault::through_generator)? {
                    return Ok(element);
                }
            }
            Err(Fault::StopIteration)
        })
    }
}

op! {
    /// The integers from a start up to, not including, a stop, in steps.
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
    /// All pairs of an element of the first and an element of the second container.
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
                pairs.extend(rows.iter().map(|&i| Pair::new(i, j)));
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

/// The product of two sets: all pairs are different, and their order can wait.
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
        // Every pair is a tuple of its own. If there is no room for all, it need not be tried.
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
    /// The elements of two containers side by side, as a tuple of pairs.
    ///
    /// The longer container's surplus is dropped.
    pub pair(a: Tuple, b: Tuple) -> TupleTuple;
    ordered "a set of several";
    example "pair((1, 2, 3), (7, 8))" => "((1, 7), (2, 8))";
    fails "pair((1, 2), THREE)";
    |run| {
        if let (Value::Row(a), Value::Row(b)) = (a, b) {
            run.spend(a.cells.len())?;
            let both = a.cells.iter().zip(b.cells);
            let pairs = run.slice_from(
                both.map(|(&x, &y)| Value::pair(Pair::new(x.into(), y.into()))),
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

op! {
    /// The members with just so many elements, as a set.
    ///
    /// Fails when a member has no size.
    pub sizefilter(container: Container, n: Integer) -> FrozenSet;
    example "sizefilter(((1, 2), (3,), (4, 5)), ONE)" => "frozenset({(3,)})";
    fails "sizefilter((1, 2), ONE)";
    |run| {
        let members = Members::of(run, container)?;
        let mut kept = run.take_numbers();
        for k in 0..members.len() {
            let size = Value::Int(run.len(members.get(k))? as i64);
            if run.eq(size, n) {
                kept.push(k as u32);
            }
        }
        let filtered = members.keep_in_set(run, &kept);
        run.give_numbers(kept);
        filtered
    }
}
