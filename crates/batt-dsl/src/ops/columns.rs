//! A function on many elements at once, primitive by primitive.
//!
//! `sfilter(indices, condition)` calls a closure on hundreds of locations, and what it does to each are a dozen steps on small
//! numbers: calling takes longer than computing. Here the closure is gone through once, with a [`Column`] in the place of each value:
//! the values of one expression for all elements, numbers side by side, so that a primitive is a loop over numbers.
//!
//! ```text
//!   sfilter(x, fork(greater, compose(first, f), last))
//!
//!   elements   (0, 4) (2, 3) ...      Two(Ints [0, 2, ...], Ints [4, 3, ...])
//!   first      0      2               Ints [0, 2, ...]
//!   greater    True   False           Truths [true, false, ...]
//! ```
//!
//! A column may also be the same value for all elements, or a function made for each of them (`lbind(astuple, location)`), or the
//! element of a container that was chosen for each (`argmin`). What is the same for all is computed once.
//!
//! Few primitives are known here, and of those only what they do with numbers and tuples of two. Whatever else comes up, faults
//! above all, ends the attempt: nothing has happened then, and the function is called on one element after the other. So a program
//! cannot tell which way it went:
//!
//! - Functions have no side effects but what the run counts. The closures that calls would have made are counted (their numbers
//!   stand for addresses); where one is hashed, or a primitive falls back to a default, the attempt ends.
//! - Numbers are never larger than a column can hold: each column has a bound, and where that is too large, the attempt ends.
//!
//! Steps are measures of time, so a column costs much less than as many calls, and a run may succeed that would
//! reach the limit otherwise.
//!
//! An outer loop asks the same of all elements again and again: "how far is each location from this object?". So what a closure
//! gives for a column is remembered, under the same conditions as in the [memo](crate::memo): closure and arguments stay.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::rc::Rc;

use std::sync::OnceLock;

use crate::fault::{Fault, Outcome};
use crate::run::{MAX_DEPTH, Run};
use crate::set::{Elems, Origin, Selection, Set};
use crate::table::{Op, OpId};
use crate::value::{Cell, Closure, Form, Pair, Value};

use super::container::Members;
use super::{arithmetic, color, container, higher_order, lines, logic, measure};

/// For fewer elements it takes as long to go through a closure once as to call it for each.
const LEAST: usize = 24;
/// As many elements are taken at once: of more, the caches do not hold several columns.
pub(super) const BLOCK: usize = 4096;
/// With fewer members left, it takes as long to look at all of them.
const FEW_OTHERS: usize = 4;
/// Tuples of tuples that are seen through.
const NESTED: u32 = 3;

/// A call that took so many primitives is worth remembering.
const DEAR: u64 = 5;
/// Bytes of remembered columns. When they are used up, no more is remembered.
const ROOM: usize = 8 << 20;

/// The values of one expression for all elements.
#[derive(Clone)]
enum Column<'r> {
    /// The same for all.
    Same(Value<'r>),
    /// Plain integers.
    Ints(Rc<Ints>),
    /// Bools.
    Truths(Rc<[bool]>),
    /// Tuples of two.
    Two(Rc<Two<'r>>),
    /// Functions.
    Made(Rc<Made<'r>>),
    /// Elements of a container.
    Chosen(Rc<Chosen<'r>>),
    /// Sets that hold just one value.
    Single(Rc<Column<'r>>),
}

struct Ints {
    id: u64,
    items: Vec<i32>,
    /// No number is farther from zero.
    bound: i32,
}

struct Two<'r> {
    id: u64,
    parts: [Column<'r>; 2],
}

struct Chosen<'r> {
    members: Members<'r>,
    /// For each element, the number of the member.
    numbers: Vec<u32>,
}

/// A function that was made for each element, of parts that may differ.
struct Made<'r> {
    /// Functions that were made alike have the same.
    id: u64,
    arity: u8,
    form: MadeForm<'r>,
}

/// As [`Form`], of columns.
enum MadeForm<'r> {
    Compose(Column<'r>, Column<'r>),
    Chain(Column<'r>, Column<'r>, Column<'r>),
    Matcher(Column<'r>, Column<'r>),
    Fork(Column<'r>, Column<'r>, Column<'r>),
    Lbind(Column<'r>, Column<'r>),
    Rbind(Column<'r>, Column<'r>),
}

/// Why there is no column.
enum End {
    /// The elements have to be taken one after the other.
    OneByOne,
    /// The run has reached a limit.
    Limit(Fault),
}

type Attempt<T> = Result<T, End>;

/// What has been remembered in a run.
#[derive(Default)]
pub(crate) struct Columns<'r> {
    /// The elements of sets.
    elements: HashMap<u64, Column<'r>, BuildHasherDefault<Mixer>>,
    calls: HashMap<Call, Remembered<'r>, BuildHasherDefault<Mixer>>,
    /// Functions by how they were made.
    made: HashMap<[(u8, u64); 4], u64, BuildHasherDefault<Mixer>>,
    /// What functions say of all members of a set but one.
    others: HashMap<[u64; 3], Option<Rc<Others>>, BuildHasherDefault<Mixer>>,
    bytes: usize,
    /// How many columns there have been: each has a number.
    count: u64,
}

struct Remembered<'r> {
    column: Column<'r>,
    /// Closures that the call makes for each element.
    closures: u32,
    /// Primitives that it calls for each element.
    primitives: u64,
    /// How deep it was: deeper down it might have failed.
    depth: u32,
}

/// The extreme of what a function says of the members of a set, whichever of them is left out.
struct Others {
    best: Vec<i32>,
    /// Of which member.
    number: Vec<u32>,
    second: Vec<i32>,
    bound: i32,
    /// Closures that are made for each member, and primitives that are called; and those for all.
    costs: Vec<(u32, u64)>,
    total: (u32, u64),
}

/// A call of a closure on a column: the closure's address, and kinds and words of the argument or its two parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Call {
    closure: u64,
    kinds: u64,
    words: [u64; 2],
}

/// A hash for words that are well spread already.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// Arithmetic on two numbers.
#[derive(Clone, Copy)]
enum Binary {
    Add,
    Subtract,
    Multiply,
}

/// Arithmetic on one.
#[derive(Clone, Copy)]
enum Unary {
    Invert,
    Double,
    Halve,
    Increment,
    Decrement,
    Sign,
}

/// A primitive that is known here.
#[derive(Clone, Copy)]
enum Known {
    Identity,
    Unary(Unary),
    Binary(Binary),
    Even,
    Positive,
    Flip,
    Both,
    Either,
    Equality,
    Greater,
    First,
    Last,
    Toivec,
    Tojvec,
    Astuple,
    Initset,
    Manhattan,
    Index,
    Size,
    Apply,
    /// `maximum` or `minimum`
    Extreme(Ordering),
    /// `valmax` or `valmin`
    ExtremeValue(Ordering),
    /// `argmax` or `argmin`
    ExtremeArgument(Ordering),
    Compose,
    Chain,
    Matcher,
    Fork,
    Lbind,
    Rbind,
    /// A measure of a patch, which is the same for all elements or chosen for each.
    Measure,
}

/// The primitives that are known here. Profiled ones are not among them, so that each of their calls is seen.
static TABLE: &[(&Op, Known)] = &[
    (&logic::identity::OP, Known::Identity),
    (&logic::flip::OP, Known::Flip),
    (&logic::both::OP, Known::Both),
    (&logic::either::OP, Known::Either),
    (&logic::equality::OP, Known::Equality),
    (&logic::greater::OP, Known::Greater),
    (&arithmetic::invert::OP, Known::Unary(Unary::Invert)),
    (&arithmetic::double::OP, Known::Unary(Unary::Double)),
    (&arithmetic::halve::OP, Known::Unary(Unary::Halve)),
    (&arithmetic::increment::OP, Known::Unary(Unary::Increment)),
    (&arithmetic::decrement::OP, Known::Unary(Unary::Decrement)),
    (&arithmetic::sign::OP, Known::Unary(Unary::Sign)),
    (&arithmetic::add::OP, Known::Binary(Binary::Add)),
    (&arithmetic::subtract::OP, Known::Binary(Binary::Subtract)),
    (&arithmetic::multiply::OP, Known::Binary(Binary::Multiply)),
    (&arithmetic::even::OP, Known::Even),
    (&arithmetic::positive::OP, Known::Positive),
    (&arithmetic::toivec::OP, Known::Toivec),
    (&arithmetic::tojvec::OP, Known::Tojvec),
    (&arithmetic::astuple::OP, Known::Astuple),
    (&container::first::OP, Known::First),
    (&container::initset::OP, Known::Initset),
    (&measure::manhattan::OP, Known::Manhattan),
    (&container::last::OP, Known::Last),
    (&container::size::OP, Known::Size),
    (&container::maximum::OP, Known::Extreme(Ordering::Greater)),
    (&container::minimum::OP, Known::Extreme(Ordering::Less)),
    (
        &container::valmax::OP,
        Known::ExtremeValue(Ordering::Greater),
    ),
    (&container::valmin::OP, Known::ExtremeValue(Ordering::Less)),
    (
        &container::argmax::OP,
        Known::ExtremeArgument(Ordering::Greater),
    ),
    (
        &container::argmin::OP,
        Known::ExtremeArgument(Ordering::Less),
    ),
    (&higher_order::apply::OP, Known::Apply),
    (&higher_order::compose::OP, Known::Compose),
    (&higher_order::chain::OP, Known::Chain),
    (&higher_order::matcher::OP, Known::Matcher),
    (&higher_order::fork::OP, Known::Fork),
    (&higher_order::lbind::OP, Known::Lbind),
    (&higher_order::rbind::OP, Known::Rbind),
    (&lines::index::OP, Known::Index),
    (&measure::uppermost::OP, Known::Measure),
    (&measure::lowermost::OP, Known::Measure),
    (&measure::leftmost::OP, Known::Measure),
    (&measure::rightmost::OP, Known::Measure),
    (&measure::ulcorner::OP, Known::Measure),
    (&measure::urcorner::OP, Known::Measure),
    (&measure::llcorner::OP, Known::Measure),
    (&measure::lrcorner::OP, Known::Measure),
    (&measure::height::OP, Known::Measure),
    (&measure::width::OP, Known::Measure),
    (&measure::center::OP, Known::Measure),
    (&color::color::OP, Known::Measure),
];

/// What a primitive is here. A table by address: it is asked for every part of every closure that a loop calls.
fn known(id: OpId) -> Option<Known> {
    const SLOTS: usize = 256;
    type Slots = [Option<(OpId, Known)>; SLOTS];
    static INDEX: OnceLock<Box<Slots>> = OnceLock::new();
    let slot_of = |id: OpId| {
        let address = std::ptr::from_ref(id.op()).addr();
        (address / align_of::<Op>()).wrapping_mul(0x9e37_79b9) >> 8 & (SLOTS - 1)
    };
    let index = INDEX.get_or_init(|| {
        let mut slots: Box<Slots> = Box::new([None; SLOTS]);
        for &(op, known) in TABLE {
            let id = OpId::of(op);
            let mut slot = slot_of(id);
            while slots[slot].is_some() {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = Some((id, known));
        }
        slots
    });
    let mut slot = slot_of(id);
    // Most slots are empty, so this ends.
    while let Some((other, known)) = index[slot] {
        if other == id {
            return Some(known);
        }
        slot = (slot + 1) % SLOTS;
    }
    None
}

/// One number, or a column of them.
#[derive(Clone)]
enum Number {
    One(i32),
    All(Rc<Ints>),
}

/// What arithmetic works on: a number, or the two of a tuple.
enum Numbers {
    Single(Number),
    Double(Number, Number),
}

impl<'r> Column<'r> {
    fn int(n: i32) -> Column<'r> {
        Column::Same(Value::Int(n.into()))
    }

    /// Rows and columns of locations, or of the locations of cells.
    fn location(&self) -> Option<[Number; 2]> {
        let [a, b] = self.parts()?;
        match (a.number(), b.number()) {
            (Some(i), Some(j)) => Some([i, j]),
            (Some(_), None) => {
                let [i, j] = b.parts()?;
                Some([i.number()?, j.number()?])
            }
            _ => None,
        }
    }

    /// The same of sets that hold one.
    fn single_location(&self) -> Option<[Number; 2]> {
        match self {
            Column::Single(value) => value.location(),
            Column::Same(Value::Set(set)) if set.len() == 1 => {
                Column::Same(set.elems.get(0)).location()
            }
            _ => None,
        }
    }

    /// The two parts of a tuple of two.
    fn parts(&self) -> Option<[Column<'r>; 2]> {
        match self {
            Column::Two(two) => Some(two.parts.clone()),
            Column::Same(Value::Pair(pair)) => {
                let pair = pair.get();
                Some([Column::int(pair.i.into()), Column::int(pair.j.into())])
            }
            // Where cells are triples we do not get here.
            Column::Same(Value::Cell(cell)) => {
                let cell = cell.get();
                let color = Column::int(cell.color);
                Some([color, Column::Same(Value::pair(cell.at))])
            }
            Column::Same(Value::Segment(ends)) => {
                let ends = ends.get();
                Some([ends.0, ends.1].map(|end| Column::Same(Value::pair(end))))
            }
            _ => None,
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            Column::Ints(ints) => Some(Number::All(Rc::clone(ints))),
            // Bools are numbers, too, but arithmetic makes others of them.
            Column::Same(Value::Int(n)) => {
                let n = i32::try_from(*n).ok()?;
                n.checked_abs().map(|_| Number::One(n))
            }
            _ => None,
        }
    }

    fn numbers(&self) -> Option<Numbers> {
        if let Some(number) = self.number() {
            return Some(Numbers::Single(number));
        }
        let [a, b] = self.parts()?;
        Some(Numbers::Double(a.number()?, b.number()?))
    }

    /// Which column it is, if it can be told: kind and word. Values for all elements are told apart as in the memo.
    fn identity(&self) -> Option<(u8, u64)> {
        const COLUMN: u8 = 15;
        match self {
            Column::Same(value) => Some(value.identity()),
            Column::Ints(ints) => Some((COLUMN, ints.id)),
            Column::Two(two) => Some((COLUMN, two.id)),
            Column::Made(made) => Some((COLUMN, made.id)),
            _ => None,
        }
    }

    /// Writes the values of all elements, if they are numbers, bools or locations.
    fn write(&self, values: &mut [Value<'r>]) -> Option<()> {
        match self {
            Column::Same(Value::Int(_) | Value::Bool(_) | Value::Pair(_)) => {
                let Column::Same(value) = *self else {
                    return None;
                };
                values.fill(value);
            }
            Column::Ints(ints) => {
                for (value, &n) in values.iter_mut().zip(&ints.items) {
                    *value = Value::Int(n.into());
                }
            }
            Column::Truths(truths) => {
                for (value, &truth) in values.iter_mut().zip(truths.iter()) {
                    *value = Value::bool(truth);
                }
            }
            Column::Two(two) => {
                let (i, j) = (two.parts[0].number()?, two.parts[1].number()?);
                let fits = |bound: i32| bound <= i16::MAX.into();
                if !fits(i.bound()) || !fits(j.bound()) {
                    return None;
                }
                for (k, value) in values.iter_mut().enumerate() {
                    // Both fit 16 bits.
                    *value = Value::pair(Pair::new(i.get(k) as i16, j.get(k) as i16));
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Bytes that it takes to keep it.
    fn bytes(&self) -> usize {
        match self {
            Column::Ints(ints) => 4 * ints.items.len(),
            Column::Truths(truths) => truths.len(),
            Column::Two(two) => two.parts.iter().map(Column::bytes).sum(),
            Column::Chosen(chosen) => 4 * chosen.numbers.len(),
            _ => 0,
        }
    }
}

impl Number {
    fn get(&self, k: usize) -> i32 {
        match self {
            Number::One(n) => *n,
            Number::All(ints) => ints.items[k],
        }
    }

    fn bound(&self) -> i32 {
        match self {
            // Whoever makes one sees to it that there is one.
            Number::One(n) => n.saturating_abs(),
            Number::All(ints) => ints.bound,
        }
    }
}

impl Binary {
    /// A bound of the result.
    fn bound(self, a: i32, b: i32) -> Option<i32> {
        match self {
            Binary::Add | Binary::Subtract => a.checked_add(b),
            Binary::Multiply => a.checked_mul(b),
        }
    }

    #[inline(always)]
    fn of(self, a: i32, b: i32) -> i32 {
        // The bound of the result fits, so nothing wraps.
        match self {
            Binary::Add => a.wrapping_add(b),
            Binary::Subtract => a.wrapping_sub(b),
            Binary::Multiply => a.wrapping_mul(b),
        }
    }
}

impl<'r> Run<'r> {
    /// The numbers of the elements that satisfy a condition. None: they have to be asked one by one.
    pub(super) fn select_in_columns(
        &mut self,
        members: Members<'r>,
        condition: Value<'r>,
    ) -> Option<Outcome<Vec<u32>>> {
        let mut kept = Vec::new();
        let outcome = self.in_columns(members, condition, |column, block| {
            let numbers = block.clone().map(|k| k as u32);
            match column {
                Column::Same(Value::Bool(truth)) if truth.get() => kept.extend(numbers),
                Column::Same(Value::Bool(_)) => {}
                Column::Truths(truths) => {
                    kept.extend(
                        numbers
                            .zip(truths.iter())
                            .filter_map(|(k, &is)| is.then_some(k)),
                    );
                }
                _ => return None,
            }
            Some(())
        })?;
        Some(outcome.map(|()| kept))
    }

    /// The values of a function on all elements, which are numbers, bools or locations. None: it has to be called on one after
    /// the other.
    pub(super) fn map_in_columns(
        &mut self,
        members: Members<'r>,
        function: Value<'r>,
    ) -> Option<Outcome<&'r [Value<'r>]>> {
        let mut images = Vec::new();
        let outcome = self.in_columns(members, function, |column, block| {
            images.resize(block.end, Value::None);
            column.write(&mut images[block])
        })?;
        Some(outcome.and_then(|()| self.slice(&images)))
    }

    /// Calls a function on all elements, and takes what is wanted of its values.
    #[inline(always)]
    fn in_columns(
        &mut self,
        members: Members<'r>,
        function: Value<'r>,
        take: impl FnMut(&Column<'r>, Range<usize>) -> Option<()>,
    ) -> Option<Outcome<()>> {
        let Value::Closure(closure) = function else {
            return None;
        };
        #[cfg(test)]
        let least = self.scratch.least_in_columns.unwrap_or(LEAST);
        #[cfg(not(test))]
        let least = LEAST;
        if members.len() < least || self.triples() || !is_promising(function, 0) {
            return None;
        }
        self.walk(members, closure, take)
    }

    fn walk(
        &mut self,
        members: Members<'r>,
        closure: &'r Closure<'r>,
        mut take: impl FnMut(&Column<'r>, Range<usize>) -> Option<()>,
    ) -> Option<Outcome<()>> {
        let (depth, closures, fallbacks) = (self.depth, self.closures, self.fallbacks);
        let hashed = self.home.memo.borrow().hashed();
        let mut walk = Walk {
            columns: self.columns.take().unwrap_or_default(),
            run: self,
            len: 0,
            closures: 0,
            primitives: 0,
        };
        let function = Column::Same(Value::Closure(closure));
        let mut made = 0u32;
        let mut outcome = Ok(());
        for from in (0..members.len()).step_by(BLOCK) {
            let block = from..(from + BLOCK).min(members.len());
            (walk.len, walk.closures, walk.primitives) = (block.len(), 0, 0);
            let column = walk.elements(members, block.clone());
            outcome = column
                .and_then(|elements| walk.call1(&function, &elements))
                .and_then(|column| known_or_end(take(&column, block)));
            if outcome.is_err() {
                break;
            }
            made = made.wrapping_add(walk.closures.wrapping_mul(walk.len as u32));
            walk.run.calls_at_once += walk.primitives * walk.len as u64;
        }
        self.columns = Some(walk.columns);
        let is_clean = self.fallbacks == fallbacks && self.home.memo.borrow().hashed() == hashed;
        (self.depth, self.closures, self.fallbacks) = (depth, closures, fallbacks);
        match outcome {
            Err(End::Limit(fault)) => Some(Err(fault)),
            Ok(()) if is_clean => {
                #[cfg(test)]
                {
                    self.scratch.walks += 1;
                }
                self.closures = closures.wrapping_add(made);
                Some(Ok(()))
            }
            _ => None,
        }
    }
}

/// How deeply closures nest that are looked at before the attempt.
const LOOK: u32 = 12;

/// Is a function made of what is known here? What it does with values that are the same for all elements might be anything, but
/// mostly it is not worth trying then.
fn is_promising(function: Value<'_>, depth: u32) -> bool {
    let all = |parts: &[Value<'_>]| parts.iter().all(|&part| is_promising(part, depth + 1));
    match function {
        Value::Op(id) => known(id).is_some(),
        Value::Closure(closure) if depth < LOOK => match closure.form {
            Form::Compose(a, b) => all(&[a, b]),
            Form::Chain(a, b, c) | Form::Fork(a, b, c) => all(&[a, b, c]),
            Form::Matcher(f, _) | Form::Power(f, _) => all(&[f]),
            Form::Lbind(f, fixed) | Form::Rbind(f, fixed) => all(&[f, fixed]),
        },
        Value::Closure(_) => false,
        _ => true,
    }
}

/// A closure on its way through the elements.
struct Walk<'a, 'r> {
    run: &'a mut Run<'r>,
    columns: Box<Columns<'r>>,
    /// How many elements there are.
    len: usize,
    /// Closures that have been made for each element.
    closures: u32,
    /// Primitives so far, for each element.
    primitives: u64,
}

/// The attempt ends unless there is a value.
fn known_or_end<T>(value: Option<T>) -> Attempt<T> {
    value.ok_or(End::OneByOne)
}

impl<'r> Walk<'_, 'r> {
    /// Takes steps for a primitive, and for a loop over numbers if there is one.
    fn spend(&mut self, numbers: usize) -> Attempt<()> {
        self.primitives += 1;
        self.run.spend(2 + numbers / 16).map_err(End::Limit)
    }

    fn new_id(&mut self) -> u64 {
        self.columns.count += 1;
        self.columns.count
    }

    fn ints(&mut self, items: Vec<i32>, bound: i32) -> Column<'r> {
        let id = self.new_id();
        Column::Ints(Rc::new(Ints { id, items, bound }))
    }

    fn two(&mut self, a: Column<'r>, b: Column<'r>) -> Column<'r> {
        let id = self.new_id();
        Column::Two(Rc::new(Two { id, parts: [a, b] }))
    }

    /// A column whose bound is not known.
    fn measured(&mut self, items: Vec<i32>) -> Attempt<Column<'r>> {
        let most = items.iter().map(|n| n.unsigned_abs()).max();
        let bound = i32::try_from(most.unwrap_or_default()).map_err(|_| End::OneByOne)?;
        Ok(self.ints(items, bound))
    }

    fn locations(&mut self, pairs: impl Iterator<Item = Pair> + Clone) -> Attempt<Column<'r>> {
        let i = self.measured(pairs.clone().map(|pair| pair.i.into()).collect())?;
        let j = self.measured(pairs.map(|pair| pair.j.into()).collect())?;
        Ok(self.two(i, j))
    }

    fn cells(&mut self, cells: impl Iterator<Item = Cell> + Clone) -> Attempt<Column<'r>> {
        let at = self.locations(cells.clone().map(|cell| cell.at))?;
        let colors = self.measured(cells.map(|cell| cell.color).collect())?;
        Ok(self.two(colors, at))
    }

    /// Values of one kind: integers, locations, cells, or tuples of two of those.
    fn values(&mut self, values: &[Value<'r>], depth: u32) -> Attempt<Column<'r>> {
        self.spend(2 * self.len)?;
        /// All of them, if they are of the kind.
        fn all<'r, T>(
            values: &[Value<'r>],
            of: impl Fn(Value<'r>) -> Option<T>,
        ) -> Attempt<Vec<T>> {
            known_or_end(values.iter().map(|&value| of(value)).collect())
        }
        match values.first() {
            Some(Value::Int(_)) => {
                let ints = all(values, |value| match value {
                    Value::Int(n) => i32::try_from(n).ok(),
                    _ => None,
                })?;
                self.measured(ints)
            }
            Some(Value::Pair(_)) => {
                let pairs = all(values, Value::as_pair)?;
                self.locations(pairs.iter().copied())
            }
            Some(Value::Cell(_)) => {
                let cells = all(values, |value| match value {
                    Value::Cell(cell) => Some(cell.get()),
                    _ => None,
                })?;
                self.cells(cells.iter().copied())
            }
            Some(Value::Segment(_)) => {
                let ends = all(values, |value| match value {
                    Value::Segment(ends) => Some(ends.get()),
                    _ => None,
                })?;
                let first = self.locations(ends.iter().map(|ends| ends.0))?;
                let last = self.locations(ends.iter().map(|ends| ends.1))?;
                Ok(self.two(first, last))
            }
            Some(Value::Tuple(_)) if depth < NESTED => {
                let twos = all(values, |value| match value {
                    Value::Tuple(tuple) => <[Value<'r>; 2]>::try_from(tuple.items).ok(),
                    _ => None,
                })?;
                let (first, last): (Vec<_>, Vec<_>) = twos.into_iter().map(|[a, b]| (a, b)).unzip();
                let first = self.values(&first, depth + 1)?;
                let last = self.values(&last, depth + 1)?;
                Ok(self.two(first, last))
            }
            _ => Err(End::OneByOne),
        }
    }

    /// Elements of a container.
    fn elements(&mut self, members: Members<'r>, block: Range<usize>) -> Attempt<Column<'r>> {
        let set = match members {
            Members::Set(set) => set,
            Members::Tuple(items) => return self.values(&items[block], 0),
        };
        let value = Value::Set(set);
        let (_, address) = value.identity();
        let is_whole = block.len() == members.len();
        if is_whole && let Some(elements) = self.columns.elements.get(&address) {
            return Ok(elements.clone());
        }
        self.spend(2 * self.len)?;
        let elements = match set.elems {
            Elems::Pairs(pairs) => self.locations(pairs[block].iter().copied())?,
            Elems::Cells(cells) => self.cells(cells[block].iter().copied())?,
            Elems::Values(values) => self.values(&values[block], 0)?,
        };
        if is_whole && self.run.home.stay_for_good([value]) && self.has_room_for(&elements) {
            self.columns.elements.insert(address, elements.clone());
        }
        Ok(elements)
    }

    fn has_room_for(&mut self, column: &Column<'r>) -> bool {
        let bytes = self.columns.bytes + column.bytes();
        let fits = bytes <= ROOM;
        if fits {
            self.columns.bytes = bytes;
        }
        fits
    }

    /// What is the same for all elements.
    fn constant(
        &mut self,
        compute: impl FnOnce(&mut Run<'r>) -> Outcome<Value<'r>>,
    ) -> Attempt<Column<'r>> {
        let before = self.run.closures;
        let outcome = compute(self.run);
        let made = self.run.closures.wrapping_sub(before);
        self.closures = self.closures.wrapping_add(made);
        match outcome {
            Ok(value) => Ok(Column::Same(value)),
            Err(fault) if fault.is_limit() => Err(End::Limit(fault)),
            // All elements fail, and one by one it shows with which first.
            Err(_) => Err(End::OneByOne),
        }
    }

    /// A function that is made for each element.
    fn make(&mut self, arity: u8, form: MadeForm<'r>) -> Attempt<Column<'r>> {
        self.closures = self.closures.wrapping_add(1);
        let id = match self.way_of_making(&form) {
            Some(way) => {
                let new = self.columns.count + 1;
                let id = *self.columns.made.entry(way).or_insert(new);
                self.columns.count = self.columns.count.max(id);
                id
            }
            None => self.new_id(),
        };
        Ok(Column::Made(Rc::new(Made { id, arity, form })))
    }

    /// What tells how a function was made from all other ways, if what it was made of stays.
    fn way_of_making(&self, form: &MadeForm<'r>) -> Option<[(u8, u64); 4]> {
        let nothing = Column::Same(Value::None);
        let (kind, parts) = match form {
            MadeForm::Compose(a, b) => (0, [a, b, &nothing]),
            MadeForm::Chain(a, b, c) => (1, [a, b, c]),
            MadeForm::Matcher(a, b) => (2, [a, b, &nothing]),
            MadeForm::Fork(a, b, c) => (3, [a, b, c]),
            MadeForm::Lbind(a, b) => (4, [a, b, &nothing]),
            MadeForm::Rbind(a, b) => (5, [a, b, &nothing]),
        };
        let home = self.run.home;
        let identity = |part: &Column<'r>| match part {
            Column::Same(value) => home.stay_for_good([*value]).then(|| value.identity()),
            _ => part.identity(),
        };
        let [a, b, c] = parts.map(identity);
        Some([(kind, 0), a?, b?, c?])
    }

    /// Calls closures nested in closures.
    fn deeper<T>(&mut self, call: impl FnOnce(&mut Self) -> Attempt<T>) -> Attempt<T> {
        if self.run.depth >= MAX_DEPTH {
            return Err(End::OneByOne);
        }
        self.run.depth += 1;
        let outcome = call(self);
        self.run.depth -= 1;
        outcome
    }

    /// Calls a function with one argument.
    fn call1(&mut self, f: &Column<'r>, x: &Column<'r>) -> Attempt<Column<'r>> {
        match (f, x) {
            (&Column::Same(f), &Column::Same(x)) => self.constant(|run| run.call1(f, x)),
            (&Column::Same(Value::Op(id)), x) => self.unary(id, x),
            (&Column::Same(Value::Closure(closure)), x) => self.closure(closure, x),
            (Column::Made(made), x) if made.arity == 1 => {
                self.deeper(|walk| walk.made(&made.form, x))
            }
            _ => Err(End::OneByOne),
        }
    }

    /// Calls a function with two arguments.
    fn call2(&mut self, f: &Column<'r>, a: &Column<'r>, b: &Column<'r>) -> Attempt<Column<'r>> {
        if let (&Column::Same(f), &Column::Same(a), &Column::Same(b)) = (f, a, b) {
            return self.constant(|run| run.call2(f, a, b));
        }
        match f {
            &Column::Same(Value::Op(id)) => self.binary(id, a, b),
            Column::Same(Value::Closure(closure)) if closure.arity == 2 => {
                let (f, fixed) = match closure.form {
                    Form::Lbind(f, fixed) | Form::Rbind(f, fixed) => (f, fixed),
                    _ => return Err(End::OneByOne),
                };
                let (f, fixed) = (Column::Same(f), Column::Same(fixed));
                self.deeper(|walk| match closure.form {
                    Form::Lbind(..) => walk.call3(&f, &fixed, a, b),
                    _ => walk.call3(&f, a, b, &fixed),
                })
            }
            Column::Made(made) if made.arity == 2 => self.deeper(|walk| match &made.form {
                MadeForm::Lbind(f, fixed) => walk.call3(f, fixed, a, b),
                MadeForm::Rbind(f, fixed) => walk.call3(f, a, b, fixed),
                _ => Err(End::OneByOne),
            }),
            _ => Err(End::OneByOne),
        }
    }

    /// Calls a primitive with three arguments.
    fn call3(
        &mut self,
        f: &Column<'r>,
        a: &Column<'r>,
        b: &Column<'r>,
        c: &Column<'r>,
    ) -> Attempt<Column<'r>> {
        let &Column::Same(f) = f else {
            return Err(End::OneByOne);
        };
        if let (&Column::Same(a), &Column::Same(b), &Column::Same(c)) = (a, b, c) {
            return self.constant(|run| run.call3(f, a, b, c));
        }
        let Value::Op(id) = f else {
            return Err(End::OneByOne);
        };
        self.spend(0)?;
        let [a, b, c] = [a, b, c].map(Column::clone);
        match known(id) {
            Some(Known::Chain) => self.make(1, MadeForm::Chain(a, b, c)),
            Some(Known::Fork) => self.make(1, MadeForm::Fork(a, b, c)),
            _ => Err(End::OneByOne),
        }
    }

    /// Calls a closure that is the same for all elements, unless it is known what it gives.
    fn closure(&mut self, closure: &'r Closure<'r>, x: &Column<'r>) -> Attempt<Column<'r>> {
        if closure.arity != 1 {
            return Err(End::OneByOne);
        }
        let call = Call::new(closure, x);
        if let Some(known) = call.and_then(|call| self.columns.calls.get(&call))
            && self.run.depth <= known.depth
        {
            let column = known.column.clone();
            self.closures = self.closures.wrapping_add(known.closures);
            self.primitives += known.primitives;
            self.spend(0)?;
            return Ok(column);
        }
        let (primitives, closures) = (self.primitives, self.closures);
        let column = self.deeper(|walk| walk.form(closure, x))?;
        if let Some(call) = call
            && self.primitives >= primitives + DEAR
            && self.stays(closure, x, &column)
            && self.has_room_for(&column)
        {
            let remembered = Remembered {
                column: column.clone(),
                closures: self.closures.wrapping_sub(closures),
                primitives: self.primitives - primitives,
                depth: self.run.depth,
            };
            self.columns.calls.insert(call, remembered);
        }
        Ok(column)
    }

    /// Do a closure, its argument and what it gives stay to the end of the run?
    fn stays(&self, closure: &'r Closure<'r>, x: &Column<'r>, column: &Column<'r>) -> bool {
        let home = self.run.home;
        let part_stays = |part: &Column<'r>| match *part {
            Column::Same(value) => home.stay_for_good([value]),
            _ => true,
        };
        let parts_stay = |column: &Column<'r>| match column {
            Column::Two(two) => two.parts.iter().all(part_stays),
            Column::Chosen(chosen) => match chosen.members {
                Members::Set(set) => home.stay_for_good([Value::Set(set)]),
                Members::Tuple(_) => false,
            },
            Column::Made(_) | Column::Single(_) => false,
            _ => part_stays(column),
        };
        home.stay_for_good([Value::Closure(closure)]) && parts_stay(x) && parts_stay(column)
    }

    fn form(&mut self, closure: &'r Closure<'r>, x: &Column<'r>) -> Attempt<Column<'r>> {
        let same = Column::Same;
        match closure.form {
            Form::Compose(outer, inner) => {
                let y = self.call1(&same(inner), x)?;
                self.call1(&same(outer), &y)
            }
            Form::Chain(h, g, f) => {
                let y = self.call1(&same(f), x)?;
                let z = self.call1(&same(g), &y)?;
                self.call1(&same(h), &z)
            }
            Form::Matcher(f, target) => {
                let y = self.call1(&same(f), x)?;
                self.equality(&y, &same(target))
            }
            Form::Fork(outer, a, b) => {
                let a = self.call1(&same(a), x)?;
                let b = self.call1(&same(b), x)?;
                self.call2(&same(outer), &a, &b)
            }
            Form::Lbind(f, fixed) => self.call2(&same(f), &same(fixed), x),
            Form::Rbind(f, fixed) => self.call2(&same(f), x, &same(fixed)),
            Form::Power(f, n) => {
                let mut y = x.clone();
                for _ in 0..n {
                    y = self.call1(&same(f), &y)?;
                }
                Ok(y)
            }
        }
    }

    fn made(&mut self, form: &MadeForm<'r>, x: &Column<'r>) -> Attempt<Column<'r>> {
        match form {
            MadeForm::Compose(outer, inner) => {
                let y = self.call1(inner, x)?;
                self.call1(outer, &y)
            }
            MadeForm::Chain(h, g, f) => {
                let y = self.call1(f, x)?;
                let z = self.call1(g, &y)?;
                self.call1(h, &z)
            }
            MadeForm::Matcher(f, target) => {
                let y = self.call1(f, x)?;
                self.equality(&y, target)
            }
            MadeForm::Fork(outer, a, b) => {
                let a = self.call1(a, x)?;
                let b = self.call1(b, x)?;
                self.call2(outer, &a, &b)
            }
            MadeForm::Lbind(f, fixed) => self.call2(f, fixed, x),
            MadeForm::Rbind(f, fixed) => self.call2(f, x, fixed),
        }
    }

    /// A primitive with one argument.
    fn unary(&mut self, id: OpId, x: &Column<'r>) -> Attempt<Column<'r>> {
        match known_or_end(known(id))? {
            Known::Identity => Ok(x.clone()),
            Known::First | Known::Last if !matches!(x, Column::Two(_)) => self.measure(id, x),
            Known::First => self.part(x, 0),
            Known::Last => self.part(x, 1),
            Known::Size => match x {
                Column::Two(_) => Ok(Column::int(2)),
                _ => self.measure(id, x),
            },
            Known::Measure => self.measure(id, x),
            Known::Unary(operation) => self.with_numbers(x, |walk, n| walk.number(operation, n)),
            Known::Even => self.truths_of(x, |n| n & 1 == 0),
            Known::Positive => self.truths_of(x, |n| n > 0),
            Known::Flip => {
                let Column::Truths(truths) = x else {
                    return Err(End::OneByOne);
                };
                self.spend(self.len)?;
                Ok(Column::Truths(truths.iter().map(|&truth| !truth).collect()))
            }
            Known::Initset => {
                self.spend(0)?;
                Ok(Column::Single(Rc::new(x.clone())))
            }
            Known::Toivec | Known::Tojvec => {
                known_or_end(x.number())?;
                self.spend(0)?;
                let zero = Column::int(0);
                Ok(match known(id) {
                    Some(Known::Toivec) => self.two(x.clone(), zero),
                    _ => self.two(zero, x.clone()),
                })
            }
            Known::Extreme(direction) => {
                let [a, b] = known_or_end(x.parts())?;
                let (a, b) = (known_or_end(a.number())?, known_or_end(b.number())?);
                let bound = a.bound().max(b.bound());
                self.pairwise(&a, &b, bound, |a, b| match direction {
                    Ordering::Greater => a.max(b),
                    _ => a.min(b),
                })
            }
            _ => Err(End::OneByOne),
        }
    }

    /// A primitive with two arguments.
    fn binary(&mut self, id: OpId, a: &Column<'r>, b: &Column<'r>) -> Attempt<Column<'r>> {
        match known_or_end(known(id))? {
            Known::Binary(operation) => self.arithmetic(operation, a, b),
            Known::Astuple => {
                self.spend(0)?;
                Ok(self.two(a.clone(), b.clone()))
            }
            Known::Equality => self.equality(a, b),
            Known::Greater => {
                let (a, b) = (known_or_end(a.number())?, known_or_end(b.number())?);
                self.compare(&a, &b, |a, b| a > b)
            }
            Known::Both => self.joined(a, b, |a, b| a && b),
            Known::Either => self.joined(a, b, |a, b| a || b),
            Known::Manhattan => self.manhattan(a, b),
            Known::Index => self.index(a, b),
            Known::Apply => {
                let Column::Two(two) = b else {
                    return Err(End::OneByOne);
                };
                self.spend(0)?;
                let first = self.call1(a, &two.parts[0])?;
                let second = self.call1(a, &two.parts[1])?;
                Ok(self.two(first, second))
            }
            Known::ExtremeValue(direction) => self.extreme_value(direction, a, b),
            Known::ExtremeArgument(direction) => self.extreme_argument(direction, a, b),
            Known::Compose => self.make(1, MadeForm::Compose(a.clone(), b.clone())),
            Known::Matcher => self.make(1, MadeForm::Matcher(a.clone(), b.clone())),
            Known::Lbind | Known::Rbind => {
                let arity = match a {
                    &Column::Same(f) => self.run.arity(f).map_err(|_| End::OneByOne)?,
                    Column::Made(made) => made.arity.into(),
                    _ => return Err(End::OneByOne),
                };
                let arity = higher_order::bound_arity(arity);
                let (a, b) = (a.clone(), b.clone());
                match known(id) {
                    Some(Known::Lbind) => self.make(arity, MadeForm::Lbind(a, b)),
                    _ => self.make(arity, MadeForm::Rbind(a, b)),
                }
            }
            _ => Err(End::OneByOne),
        }
    }

    fn part(&mut self, x: &Column<'r>, k: usize) -> Attempt<Column<'r>> {
        self.spend(0)?;
        let parts = known_or_end(x.parts())?;
        Ok(parts[k].clone())
    }

    /// Calls a primitive on what was chosen for the elements, once for each member.
    fn measure(&mut self, id: OpId, x: &Column<'r>) -> Attempt<Column<'r>> {
        let Column::Chosen(chosen) = x else {
            return Err(End::OneByOne);
        };
        let mut values = vec![None; chosen.members.len()];
        let mut images = Vec::with_capacity(self.len);
        for &number in &chosen.numbers {
            let value = match values[number as usize] {
                Some(value) => value,
                None => {
                    let member = chosen.members.get(number as usize);
                    let made = self.run.closures;
                    let value = self.constant(|run| run.call1(Value::Op(id), member))?;
                    let Column::Same(Value::Int(n)) = value else {
                        return Err(End::OneByOne);
                    };
                    let n = i32::try_from(n).map_err(|_| End::OneByOne)?;
                    if self.run.closures != made {
                        return Err(End::OneByOne);
                    }
                    *values[number as usize].insert(n)
                }
            };
            images.push(value);
        }
        self.spend(self.len)?;
        self.measured(images)
    }

    /// Arithmetic on numbers, or on the two of a tuple.
    fn with_numbers(
        &mut self,
        x: &Column<'r>,
        mut operation: impl FnMut(&mut Self, Number) -> Attempt<Column<'r>>,
    ) -> Attempt<Column<'r>> {
        match known_or_end(x.numbers())? {
            Numbers::Single(n) => operation(self, n),
            Numbers::Double(i, j) => {
                let (i, j) = (operation(self, i)?, operation(self, j)?);
                Ok(self.two(i, j))
            }
        }
    }

    fn number(&mut self, operation: Unary, n: Number) -> Attempt<Column<'r>> {
        let bound = match operation {
            Unary::Invert | Unary::Halve => Some(n.bound()),
            Unary::Double => n.bound().checked_mul(2),
            Unary::Increment | Unary::Decrement => n.bound().checked_add(1),
            Unary::Sign => Some(1),
        };
        let bound = known_or_end(bound)?;
        self.spend(self.len)?;
        macro_rules! each {
            ($of:expr) => {
                match &n {
                    Number::One(n) => Column::int($of(*n)),
                    Number::All(ints) => {
                        let items = ints.items.iter().map(|&n| $of(n)).collect();
                        self.ints(items, bound)
                    }
                }
            };
        }
        // The bound fits, so nothing wraps.
        Ok(match operation {
            Unary::Invert => each!(|n: i32| n.wrapping_neg()),
            Unary::Double => each!(|n: i32| n.wrapping_mul(2)),
            Unary::Halve => each!(|n: i32| n >> 1),
            Unary::Increment => each!(|n: i32| n.wrapping_add(1)),
            Unary::Decrement => each!(|n: i32| n.wrapping_sub(1)),
            Unary::Sign => each!(|n: i32| n.signum()),
        })
    }

    fn arithmetic(
        &mut self,
        operation: Binary,
        a: &Column<'r>,
        b: &Column<'r>,
    ) -> Attempt<Column<'r>> {
        use Numbers::{Double, Single};
        let (i, j) = match (known_or_end(a.numbers())?, known_or_end(b.numbers())?) {
            (Single(a), Single(b)) => return self.of_numbers(operation, &a, &b),
            (Double(i, j), Double(k, l)) => ((i, k), (j, l)),
            (Double(i, j), Single(n)) => ((i, n.clone()), (j, n)),
            (Single(n), Double(i, j)) => ((n.clone(), i), (n, j)),
        };
        let i = self.of_numbers(operation, &i.0, &i.1)?;
        let j = self.of_numbers(operation, &j.0, &j.1)?;
        Ok(self.two(i, j))
    }

    fn of_numbers(&mut self, operation: Binary, a: &Number, b: &Number) -> Attempt<Column<'r>> {
        let bound = known_or_end(operation.bound(a.bound(), b.bound()))?;
        // One loop for each operation.
        match operation {
            Binary::Add => self.pairwise(a, b, bound, |a, b| Binary::Add.of(a, b)),
            Binary::Subtract => self.pairwise(a, b, bound, |a, b| Binary::Subtract.of(a, b)),
            Binary::Multiply => self.pairwise(a, b, bound, |a, b| Binary::Multiply.of(a, b)),
        }
    }

    #[inline(always)]
    fn pairwise(
        &mut self,
        a: &Number,
        b: &Number,
        bound: i32,
        of: impl Fn(i32, i32) -> i32,
    ) -> Attempt<Column<'r>> {
        self.spend(self.len)?;
        let items = match (a, b) {
            (Number::One(a), Number::One(b)) => return Ok(Column::int(of(*a, *b))),
            (Number::All(a), Number::One(b)) => a.items.iter().map(|&a| of(a, *b)).collect(),
            (Number::One(a), Number::All(b)) => b.items.iter().map(|&b| of(*a, b)).collect(),
            (Number::All(a), Number::All(b)) => {
                let pairs = a.items.iter().zip(&b.items);
                pairs.map(|(&a, &b)| of(a, b)).collect()
            }
        };
        Ok(self.ints(items, bound))
    }

    #[inline(always)]
    fn compare(
        &mut self,
        a: &Number,
        b: &Number,
        holds: impl Fn(i32, i32) -> bool,
    ) -> Attempt<Column<'r>> {
        self.spend(self.len)?;
        Ok(Column::Truths(match (a, b) {
            (Number::One(a), Number::One(b)) => {
                return Ok(Column::Same(Value::bool(holds(*a, *b))));
            }
            (Number::All(a), Number::One(b)) => a.items.iter().map(|&a| holds(a, *b)).collect(),
            (Number::One(a), Number::All(b)) => b.items.iter().map(|&b| holds(*a, b)).collect(),
            (Number::All(a), Number::All(b)) => {
                let pairs = a.items.iter().zip(&b.items);
                pairs.map(|(&a, &b)| holds(a, b)).collect()
            }
        }))
    }

    fn truths_of(&mut self, x: &Column<'r>, holds: impl Fn(i32) -> bool) -> Attempt<Column<'r>> {
        let number = known_or_end(x.number())?;
        self.compare(&number, &Number::One(0), |n, _| holds(n))
    }

    /// `and` or `or` of bools.
    fn joined(
        &mut self,
        a: &Column<'r>,
        b: &Column<'r>,
        join: impl Fn(bool, bool) -> bool,
    ) -> Attempt<Column<'r>> {
        self.spend(self.len)?;
        let (truths, other) = match (a, b) {
            (Column::Truths(a), Column::Truths(b)) => {
                let pairs = a.iter().zip(b.iter());
                return Ok(Column::Truths(pairs.map(|(&a, &b)| join(a, b)).collect()));
            }
            (Column::Truths(truths), Column::Same(Value::Bool(other)))
            | (Column::Same(Value::Bool(other)), Column::Truths(truths)) => (truths, other.get()),
            _ => return Err(End::OneByOne),
        };
        Ok(Column::Truths(
            truths.iter().map(|&truth| join(truth, other)).collect(),
        ))
    }

    /// `a == b`
    fn equality(&mut self, a: &Column<'r>, b: &Column<'r>) -> Attempt<Column<'r>> {
        if let (&Column::Same(a), &Column::Same(b)) = (a, b) {
            return self.constant(|run| Ok(Value::bool(run.eq(a, b))));
        }
        if let (Some(a), Some(b)) = (a.number(), b.number()) {
            return self.compare(&a, &b, |a, b| a == b);
        }
        if let (Column::Chosen(chosen), &Column::Same(value))
        | (&Column::Same(value), Column::Chosen(chosen)) = (a, b)
        {
            return self.is_chosen(chosen, value);
        }
        let ([a, b], [c, d]) = (known_or_end(a.parts())?, known_or_end(b.parts())?);
        let first = self.equality(&a, &c)?;
        let second = self.equality(&b, &d)?;
        match (&first, &second) {
            (Column::Same(Value::Bool(a)), Column::Same(Value::Bool(b))) => {
                Ok(Column::Same(Value::bool(a.get() && b.get())))
            }
            _ => self.joined(&first, &second, |a, b| a && b),
        }
    }

    /// For which elements was a value chosen?
    fn is_chosen(&mut self, chosen: &Chosen<'r>, value: Value<'r>) -> Attempt<Column<'r>> {
        self.spend(self.len + 4 * chosen.members.len())?;
        let members = 0..chosen.members.len();
        let is_equal: Vec<bool> = members
            .map(|k| self.run.eq(chosen.members.get(k), value))
            .collect();
        self.run.check_limits().map_err(End::Limit)?;
        let numbers = chosen.numbers.iter();
        Ok(Column::Truths(
            numbers.map(|&number| is_equal[number as usize]).collect(),
        ))
    }

    /// The cells of a grid.
    fn index(&mut self, grid: &Column<'r>, at: &Column<'r>) -> Attempt<Column<'r>> {
        let &Column::Same(Value::Grid(grid)) = grid else {
            return Err(End::OneByOne);
        };
        let [i, j] = known_or_end(at.parts())?;
        let (i, j) = (known_or_end(i.number())?, known_or_end(j.number())?);
        self.spend(2 * self.len)?;
        let mut colors = Vec::with_capacity(self.len);
        for k in 0..self.len {
            let (i, j) = (i.get(k) as usize, j.get(k) as usize);
            // Negative numbers become huge ones.
            if i >= grid.height || j >= grid.width {
                return Err(End::OneByOne);
            }
            colors.push(grid.get(i, j).into());
        }
        Ok(self.ints(colors, u8::MAX.into()))
    }

    /// The distance between single locations or cells.
    fn manhattan(&mut self, a: &Column<'r>, b: &Column<'r>) -> Attempt<Column<'r>> {
        let [i, j] = known_or_end(a.single_location())?;
        let [k, l] = known_or_end(b.single_location())?;
        let rows = self.distance(&i, &k)?;
        let columns = self.distance(&j, &l)?;
        self.arithmetic(Binary::Add, &rows, &columns)
    }

    fn distance(&mut self, a: &Number, b: &Number) -> Attempt<Column<'r>> {
        let bound = known_or_end(a.bound().checked_add(b.bound()))?;
        self.pairwise(a, b, bound, |a, b| a.wrapping_sub(b).wrapping_abs())
    }

    /// The members of a container that is the same for all elements, and not empty.
    fn members(&mut self, container: &Column<'r>) -> Attempt<Members<'r>> {
        let &Column::Same(container) = container else {
            return Err(End::OneByOne);
        };
        let members = Members::of(self.run, container).map_err(|fault| match fault.is_limit() {
            true => End::Limit(fault),
            false => End::OneByOne,
        })?;
        match members.len() {
            0 => Err(End::OneByOne),
            _ => Ok(members),
        }
    }

    /// What a function gives for a member, as numbers.
    fn key(&mut self, function: &Column<'r>, member: Value<'r>) -> Attempt<Number> {
        let key = self.call1(function, &Column::Same(member))?;
        known_or_end(key.number())
    }

    /// The largest, or smallest, that a function gives for the members.
    fn extreme_value(
        &mut self,
        direction: Ordering,
        container: &Column<'r>,
        function: &Column<'r>,
    ) -> Attempt<Column<'r>> {
        if let Some(column) = self.extreme_of_others(direction, container, function)? {
            return Ok(column);
        }
        let members = self.members(container)?;
        let first = self.key(function, members.get(0))?;
        let mut bound = first.bound();
        let mut best: Vec<i32> = (0..self.len).map(|k| first.get(k)).collect();
        for m in 1..members.len() {
            let key = self.key(function, members.get(m))?;
            bound = bound.max(key.bound());
            self.run.spend(2 + self.len / 64).map_err(End::Limit)?;
            let least = direction == Ordering::Less;
            let better = |old: i32, new: i32| if least { old.min(new) } else { old.max(new) };
            match &key {
                Number::One(key) => best.iter_mut().for_each(|old| *old = better(*old, *key)),
                Number::All(key) if least => {
                    let pairs = best.iter_mut().zip(&key.items);
                    pairs.for_each(|(old, &new)| *old = (*old).min(new));
                }
                Number::All(key) => {
                    let pairs = best.iter_mut().zip(&key.items);
                    pairs.for_each(|(old, &new)| *old = (*old).max(new));
                }
            }
        }
        self.spend(self.len)?;
        Ok(self.ints(best, bound))
    }

    /// The same for all members of a set but one (`remove(object, objects)`): an outer loop leaves out one after the other.
    fn extreme_of_others(
        &mut self,
        direction: Ordering,
        container: &Column<'r>,
        function: &Column<'r>,
    ) -> Attempt<Option<Column<'r>>> {
        let (&Column::Same(Value::Set(set)), Column::Made(made)) = (container, function) else {
            return Ok(None);
        };
        let Origin::Filter(&Selection { source, kept }) = set.origin else {
            return Ok(None);
        };
        if kept.len() + 1 != source.len()
            || kept.len() < FEW_OTHERS
            || !self.run.home.stay_for_good([Value::Set(source)])
        {
            return Ok(None);
        }
        let (_, address) = Value::Set(source).identity();
        let key = [address, made.id, direction as i8 as u64];
        let others = match self.columns.others.get(&key) {
            Some(others) => others.clone(),
            None => {
                let (closures, primitives) = (self.closures, self.primitives);
                let others = match self.others(direction, source, function) {
                    Ok(others) => Some(Rc::new(others)),
                    // Perhaps it fails for the very one that is left out.
                    Err(End::OneByOne) => None,
                    Err(limit) => return Err(limit),
                };
                (self.closures, self.primitives) = (closures, primitives);
                let bytes = self.columns.bytes + 12 * self.len;
                if bytes <= ROOM {
                    self.columns.bytes = bytes;
                    self.columns.others.insert(key, others.clone());
                }
                others
            }
        };
        let Some(others) = others else {
            return Ok(None);
        };
        // The numbers ascend, so those after the one that is left out are not at their own place.
        let left_out = (0..kept.len()).position(|k| kept[k] as usize != k);
        let left_out = left_out.unwrap_or(kept.len()) as u32;
        let (closures, primitives) = others.costs[left_out as usize];
        self.closures = self
            .closures
            .wrapping_add(others.total.0.wrapping_sub(closures));
        self.primitives += others.total.1 - primitives;
        self.spend(self.len)?;
        let bests = others.best.iter().zip(&others.second).zip(&others.number);
        let items = bests.map(|((&best, &second), &number)| match number == left_out {
            true => second,
            false => best,
        });
        Ok(Some(self.ints(items.collect(), others.bound)))
    }

    /// What a function says of all members: the best and the second best.
    fn others(
        &mut self,
        direction: Ordering,
        source: &'r Set<'r>,
        function: &Column<'r>,
    ) -> Attempt<Others> {
        let is_better = |new: i32, old: i32| match direction {
            Ordering::Less => new < old,
            _ => new > old,
        };
        let worst = match direction {
            Ordering::Less => i32::MAX,
            _ => i32::MIN,
        };
        let mut others = Others {
            best: vec![worst; self.len],
            number: vec![0; self.len],
            second: vec![worst; self.len],
            bound: 0,
            costs: Vec::with_capacity(source.len()),
            total: (0, 0),
        };
        let before = (self.closures, self.primitives);
        for number in 0..source.len() {
            let (closures, primitives) = (self.closures, self.primitives);
            let key = self.key(function, source.elems.get(number))?;
            self.run.spend(2 + self.len / 16).map_err(End::Limit)?;
            let costs = (
                self.closures.wrapping_sub(closures),
                self.primitives - primitives,
            );
            others.costs.push(costs);
            others.bound = others.bound.max(key.bound());
            for k in 0..self.len {
                let new = key.get(k);
                let (best, second) = (others.best[k], others.second[k]);
                if is_better(new, best) {
                    (others.best[k], others.second[k]) = (new, best);
                    others.number[k] = number as u32;
                } else if is_better(new, second) {
                    others.second[k] = new;
                }
            }
        }
        others.total = (
            self.closures.wrapping_sub(before.0),
            self.primitives - before.1,
        );
        Ok(others)
    }

    /// The member for which a function is largest, or smallest; the first of several.
    fn extreme_argument(
        &mut self,
        direction: Ordering,
        container: &Column<'r>,
        function: &Column<'r>,
    ) -> Attempt<Column<'r>> {
        let members = self.members(container)?;
        let order = members
            .order(self.run)
            .map_err(|fault| match fault.is_limit() {
                true => End::Limit(fault),
                false => End::OneByOne,
            })?;
        let first = self.key(function, members.get(order[0] as usize))?;
        let mut best: Vec<i32> = (0..self.len).map(|k| first.get(k)).collect();
        let mut numbers = vec![order[0]; self.len];
        for &number in &order[1..] {
            let key = self.key(function, members.get(number as usize))?;
            self.run.spend(2 + self.len / 32).map_err(End::Limit)?;
            for (k, (old, place)) in best.iter_mut().zip(&mut numbers).enumerate() {
                let new = key.get(k);
                let is_better = match direction {
                    Ordering::Less => new < *old,
                    _ => new > *old,
                };
                (*old, *place) = match is_better {
                    true => (new, number),
                    false => (*old, *place),
                };
            }
        }
        self.spend(self.len)?;
        Ok(Column::Chosen(Rc::new(Chosen { members, numbers })))
    }
}

impl Call {
    fn new<'r>(closure: &'r Closure<'r>, x: &Column<'r>) -> Option<Call> {
        let (_, address) = Value::Closure(closure).identity();
        let (a, b) = match x {
            Column::Two(two) => (two.parts[0].identity()?, two.parts[1].identity()?),
            // No part of a tuple is of this kind.
            _ => (x.identity()?, (16, 0)),
        };
        Some(Call {
            closure: address,
            kinds: u64::from(a.0) << 8 | u64::from(b.0),
            words: [a.1, b.1],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::memo::tests::{OFF, Trace, nearer, nearest, random_run, run};
    use crate::owned::OwnedValue;
    use crate::run::{Limits, Workspace};

    /// Functions are called on all elements at once from so many on.
    fn workspace(least: usize) -> Workspace {
        let mut workspace = Workspace::new();
        *workspace.columns().0 = Some(least);
        workspace.memo().threshold = OFF;
        workspace
    }

    #[test]
    fn a_loop_in_a_loop_gives_the_same_in_fewer_steps() {
        let programs: [for<'r> fn(&mut Run<'r>) -> Outcome<Value<'r>>; 2] = [nearest, nearer];
        for program in programs {
            let (value, steps, closures) = run(&mut workspace(usize::MAX), OFF, program);
            let mut workspace = workspace(LEAST);
            let found = run(&mut workspace, OFF, program);
            assert!(value.is_ok());
            assert_eq!((&found.0, found.2), (&value, closures));
            assert!(found.1 * 30 < steps, "{} of {steps}", found.1);
            assert!(workspace.columns().1 > 10);
            // And nothing is left from one run to the next.
            assert_eq!(run(&mut workspace, OFF, program), found);
        }
    }

    #[test]
    fn whoever_begins_anew_with_the_limits_begins_without_columns() {
        workspace(LEAST).run(Dialect::ArcDsl, &Limits::default(), |run| {
            let mut costs = Vec::new();
            for _ in 0..3 {
                run.apart(|run, _| {
                    nearest(run).map(|_| ()).expect("a value");
                    costs.push(run.spent());
                });
                run.renew();
                nearest(run).map(|_| ()).expect("a value");
                costs.push(run.spent());
            }
            assert!(costs.iter().all(|cost| *cost == costs[0]), "{costs:?}");
        });
    }

    #[test]
    fn programs_of_any_kind_cannot_tell() {
        let (mut plain, mut eager) = (workspace(usize::MAX), workspace(1));
        for seed in 0..2000 {
            let dialect = match seed % 4 {
                0 => Dialect::ReArc,
                _ => Dialect::ArcDsl,
            };
            let expected = random_run(&mut plain, seed, dialect);
            let found = random_run(&mut eager, seed, dialect);
            assert_same(&expected, &found, seed);
        }
        assert_eq!(plain.columns().1, 0);
        let walks = eager.columns().1;
        assert!(walks > 20, "{walks}");
    }

    /// The same values, closures and fallbacks, up to where a limit was reached.
    fn assert_same(expected: &Trace, found: &Trace, seed: u64) {
        let is_cut = |trace: &Trace| trace.0.last() == Some(&Err(Fault::Steps));
        if is_cut(expected) || is_cut(found) {
            // At once it takes fewer steps, and may go on; attempts that end take some more.
            let known = expected.0.len().min(found.0.len()) - 1;
            assert_eq!(found.0[..known], expected.0[..known], "seed {seed}");
        } else {
            assert_eq!(found, expected, "seed {seed}");
        }
    }

    /// Makes functions of what is known here, at random.
    struct Maker<'a, 'r> {
        run: &'a mut Run<'r>,
        seed: u64,
        /// Values to bind.
        values: Vec<Value<'r>>,
        /// Containers to choose from.
        containers: Vec<Value<'r>>,
    }

    impl<'r> Maker<'_, 'r> {
        fn below(&mut self, n: usize) -> usize {
            self.seed = self
                .seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.seed >> 33) as usize % n
        }

        fn op(&mut self, names: &[&str]) -> Value<'r> {
            let name = names[self.below(names.len())];
            Value::Op(Dialect::ArcDsl.op(name).expect(name))
        }

        fn call(&mut self, name: &str, args: &[Value<'r>]) -> Outcome<Value<'r>> {
            let op = self.op(&[name]);
            self.run.call(op, args)
        }

        /// A function of one argument.
        fn function(&mut self, depth: usize) -> Outcome<Value<'r>> {
            const ONE: &[&str] = &[
                "first",
                "last",
                "first",
                "last",
                "identity",
                "invert",
                "double",
                "halve",
                "increment",
                "decrement",
                "sign",
                "even",
                "positive",
                "toivec",
                "tojvec",
                "maximum",
                "minimum",
                "flip",
                "size",
                "center",
                "color",
                "initset",
            ];
            const TWO: &[&str] = &[
                "add",
                "subtract",
                "multiply",
                "astuple",
                "equality",
                "greater",
                "both",
                "either",
                "index",
                "manhattan",
            ];
            if depth == 0 {
                return Ok(self.op(ONE));
            }
            let kind = self.below(12);
            let f = self.function(depth - 1)?;
            let g = self.function(depth - 1)?;
            let two = self.op(TWO);
            let k = self.below(self.values.len());
            let value = self.values[k];
            let k = self.below(self.containers.len());
            let container = self.containers[k];
            match kind {
                0..3 => self.call("compose", &[f, g]),
                3..6 => self.call("fork", &[two, f, g]),
                6 => self.call("lbind", &[two, value]),
                7 => self.call("rbind", &[two, value]),
                8 => self.call("matcher", &[f, value]),
                9 => {
                    let apply = self.op(&["apply"]);
                    self.call("lbind", &[apply, f])
                }
                10 => self.call("power", &[f, Value::Int(2)]),
                _ => {
                    // x -> g(extreme(container, y -> f((x, y))))
                    let astuple = self.op(&["astuple"]);
                    let (lbind, compose) = (self.op(&["lbind"]), self.op(&["compose"]));
                    let from = self.call("lbind", &[lbind, astuple])?;
                    let after = self.call("lbind", &[compose, f])?;
                    let measure = self.call("compose", &[after, from])?;
                    let extreme = self.op(&["valmin", "valmax", "argmin", "argmax"]);
                    let find = self.call("lbind", &[extreme, container])?;
                    let found = self.call("compose", &[find, measure])?;
                    self.call("compose", &[g, found])
                }
            }
        }
    }

    /// What some functions say of the elements of sets, and how many closures were made.
    fn functions(workspace: &mut Workspace, seed: u64) -> (Vec<Outcome<OwnedValue>>, u32) {
        workspace.run(Dialect::ArcDsl, &Limits::default(), |run| {
            let cells: Vec<u8> = (0..64).map(|k| ((k * k + seed * k) % 5) as u8).collect();
            let grid = run.input(8, 8, &cells).expect("room");
            let location = Value::pair(Pair::new(2, -1));
            let mut maker = Maker {
                run,
                seed,
                values: vec![
                    Value::Int(1),
                    Value::Int(-3),
                    Value::Int(40_000),
                    Value::bool(true),
                    location,
                    grid,
                ],
                containers: Vec::new(),
            };
            let (t, f) = (Value::bool(true), Value::bool(false));
            let places = maker.call("asindices", &[grid]).expect("a set");
            let cells = maker.call("asobject", &[grid]).expect("a set");
            let things = maker.call("objects", &[grid, t, f, f]).expect("a set");
            maker.containers = vec![places, cells, things, location];
            let mut trace = Vec::new();
            for k in 0..6 {
                let set = [places, cells][k % 2];
                let depth = 1 + maker.below(4);
                let Ok(function) = maker.function(depth) else {
                    break;
                };
                for (name, args) in [
                    ("sfilter", [set, function]),
                    ("apply", [function, set]),
                    ("argmin", [set, function]),
                ] {
                    let value = maker.call(name, &args);
                    trace.push(value.and_then(|value| maker.run.to_owned(value)));
                }
            }
            (trace, run.closures)
        })
    }

    #[test]
    fn functions_of_what_is_known_here_say_the_same() {
        let (mut plain, mut eager) = (workspace(usize::MAX), workspace(1));
        let mut values = 0;
        for seed in 0..3000 {
            let expected = functions(&mut plain, seed);
            let found = functions(&mut eager, seed);
            values += expected.0.iter().filter(|value| value.is_ok()).count();
            if !expected.0.contains(&Err(Fault::Steps)) {
                assert_eq!(found, expected, "seed {seed}");
            }
        }
        let walks = eager.columns().1;
        assert!(
            values > 5_000 && walks > 3_000,
            "{values} values, {walks} at once"
        );
    }
}
