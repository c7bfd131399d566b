//! Calls of primitives, of closures that all elements share, and of closures made for each element.

use std::cmp::Ordering;
use std::rc::Rc;

use super::column::{Column, Made, MadeForm};
use super::extremes::Tie;
use super::known::{ColumnOp, column_op};
use super::remembered::{CachedCall, Call};
use super::{Attempt, End, Traversal, known_or_end};
use crate::calls::compositions_around;
use crate::fault::Outcome;
use crate::ops::higher_order;
use crate::run::Run;
use crate::table::OpId;
use crate::value::{Closure, Value};

/// The fewest primitives of a call that is worth caching.
const EXPENSIVE: u64 = 5;

/// Returns the end of a container that a rank denotes: `Less` for the first element, `Greater` for
/// the last.
fn end_of(rank: &Column<'_>) -> Option<Ordering> {
    match rank {
        Column::Same(Value::Int(0)) => Some(Ordering::Less),
        Column::Same(Value::Int(-1)) => Some(Ordering::Greater),
        _ => None,
    }
}

impl<'r> Traversal<'_, 'r> {
    /// Computes a value that is the same for all elements.
    pub(super) fn constant(
        &mut self,
        compute: impl FnOnce(&mut Run<'r>) -> Outcome<Value<'r>>,
    ) -> Attempt<Column<'r>> {
        let before = self.run.closures;
        let outcome = compute(self.run);
        let made = self.run.closures.wrapping_sub(before);
        self.closures = self.closures.wrapping_add(made);
        Ok(Column::Same(outcome?))
    }

    /// Returns a part of a tuple.
    fn part(&mut self, part: &Column<'r>) -> Attempt<Column<'r>> {
        self.spend(0)?;
        Ok(part.clone())
    }

    /// Makes a function for each element.
    pub(super) fn make(&mut self, arity: u8, form: MadeForm<'r>) -> Attempt<Column<'r>> {
        self.closures = self.closures.wrapping_add(1);
        let id = match self.construction_key(&form) {
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

    /// Returns a key that identifies how a function was made, if all of its parts stay.
    pub(super) fn construction_key(&self, form: &MadeForm<'r>) -> Option<[(u8, u64); 4]> {
        let nothing = Column::Same(Value::None);
        let (kind, parts) = match form {
            MadeForm::Compose(a, b) => (0, [a, b, &nothing]),
            MadeForm::Chain(a, b, c) => (1, [a, b, c]),
            MadeForm::Matcher(a, b) => (2, [a, b, &nothing]),
            MadeForm::Fork(a, b, c) => (3, [a, b, c]),
            MadeForm::Lbind(a, b) => (4, [a, b, &nothing]),
            MadeForm::Rbind(a, b) => (5, [a, b, &nothing]),
            // No primitive makes a power for each element.
            MadeForm::Power(..) => return None,
        };
        let home = self.run.home;
        let identity = |part: &Column<'r>| match part {
            Column::Same(value) => home.stay_for_good([*value]).then(|| value.identity()),
            _ => part.identity(),
        };
        let [a, b, c] = parts.map(identity);
        Some([(kind, 0), a?, b?, c?])
    }

    /// Runs `call` with the frame of a closure on Python's stack.
    pub(super) fn in_closure_frame<T>(
        &mut self,
        call: impl FnOnce(&mut Self) -> Attempt<T>,
    ) -> Attempt<T> {
        self.in_frames(1, call)
    }

    /// Runs `call` with this many more frames on Python's stack.
    fn in_frames<T>(
        &mut self,
        frames: u32,
        call: impl FnOnce(&mut Self) -> Attempt<T>,
    ) -> Attempt<T> {
        self.run.check_frames(frames)?;
        self.run.depth += frames;
        let outcome = call(self);
        self.run.depth -= frames;
        outcome
    }

    /// Runs `call` with the frames of a primitive that calls functions: see [`Run::in_frames`].
    pub(super) fn in_primitive<T>(
        &mut self,
        call: impl FnOnce(&mut Self) -> Attempt<T>,
    ) -> Attempt<T> {
        let frames = 2 + u32::from(self.run.dialect.never_fails());
        self.in_frames(frames, call)
    }

    /// Calls a function with one argument.
    pub(super) fn call1(&mut self, f: &Column<'r>, x: &Column<'r>) -> Attempt<Column<'r>> {
        match (f, x) {
            (&Column::Same(f), &Column::Same(x)) => self.constant(|run| run.call1(f, x)),
            (&Column::Same(Value::Op(id)), x) => self.unary(id, x),
            (&Column::Same(Value::Closure(closure)), x) => self.closure(closure, x),
            (Column::Made(made), x) if made.arity == 1 => {
                self.in_closure_frame(|walk| walk.made(&made.form, x))
            }
            _ => Err(End::OneByOne),
        }
    }

    /// Calls a function with two arguments.
    pub(super) fn call2(
        &mut self,
        f: &Column<'r>,
        a: &Column<'r>,
        b: &Column<'r>,
    ) -> Attempt<Column<'r>> {
        if let (&Column::Same(f), &Column::Same(a), &Column::Same(b)) = (f, a, b) {
            return self.constant(|run| run.call2(f, a, b));
        }
        match f {
            &Column::Same(Value::Op(id)) => self.binary(id, a, b),
            Column::Same(Value::Closure(closure)) if closure.arity == 2 => {
                self.in_closure_frame(|walk| walk.bound(&MadeForm::of(&closure.form), a, b))
            }
            Column::Made(made) if made.arity == 2 => {
                self.in_closure_frame(|walk| walk.bound(&made.form, a, b))
            }
            _ => Err(End::OneByOne),
        }
    }

    /// Calls a closure made by `lbind` or `rbind`, with two arguments.
    fn bound(
        &mut self,
        form: &MadeForm<'r>,
        a: &Column<'r>,
        b: &Column<'r>,
    ) -> Attempt<Column<'r>> {
        match form {
            MadeForm::Lbind(f, fixed) => self.call3(f, fixed, a, b),
            MadeForm::Rbind(f, fixed) => self.call3(f, a, b, fixed),
            _ => Err(End::OneByOne),
        }
    }

    /// Calls a primitive with three arguments.
    pub(super) fn call3(
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
        match known_or_end(column_op(id))? {
            ColumnOp::Chain => self.make(1, MadeForm::Chain(a, b, c)),
            ColumnOp::Fork => self.make(1, MadeForm::Fork(a, b, c)),
            // `get_val_rank` sorts the smallest value first.
            ColumnOp::ValueRank => self.extreme_value(known_or_end(end_of(&c))?, &a, &b),
            // `get_arg_rank` sorts the largest value first, and equal values keep their order.
            ColumnOp::ArgumentRank => match known_or_end(end_of(&c))? {
                Ordering::Less => self.extreme_argument(Ordering::Greater, Tie::First, &a, &b),
                _ => self.extreme_argument(Ordering::Less, Tie::Last, &a, &b),
            },
            _ => Err(End::OneByOne),
        }
    }

    /// Calls a closure that all elements share, unless its result is cached.
    pub(super) fn closure(
        &mut self,
        closure: &'r Closure<'r>,
        x: &Column<'r>,
    ) -> Attempt<Column<'r>> {
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
        let column = self.in_closure_frame(|walk| walk.made(&MadeForm::of(&closure.form), x))?;
        if let Some(call) = call
            && self.primitives >= primitives + EXPENSIVE
            && self.stays(closure, x, &column)
            && self.has_room_for(&column)
        {
            let remembered = CachedCall {
                column: column.clone(),
                closures: self.closures.wrapping_sub(closures),
                primitives: self.primitives - primitives,
                depth: self.run.depth,
            };
            self.columns.calls.insert(call, remembered);
        }
        Ok(column)
    }

    /// Returns whether a closure, its argument and its result stay to the end of the run.
    pub(super) fn stays(
        &self,
        closure: &'r Closure<'r>,
        x: &Column<'r>,
        column: &Column<'r>,
    ) -> bool {
        let home = self.run.home;
        home.stay_for_good([Value::Closure(closure)]) && x.stays(home) && column.stays(home)
    }

    /// Calls a function with one argument, by its form.
    pub(super) fn made(&mut self, form: &MadeForm<'r>, x: &Column<'r>) -> Attempt<Column<'r>> {
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
            MadeForm::Power(f, n) => {
                let mut y = x.clone();
                for k in 0..*n {
                    let around = compositions_around(*n, k);
                    y = self.in_frames(around, |walk| walk.call1(f, &y))?;
                }
                Ok(y)
            }
        }
    }

    /// Calls a primitive with one argument.
    pub(super) fn unary(&mut self, id: OpId, x: &Column<'r>) -> Attempt<Column<'r>> {
        match known_or_end(column_op(id))? {
            ColumnOp::Identity => Ok(x.clone()),
            known @ (ColumnOp::First | ColumnOp::Last | ColumnOp::Size | ColumnOp::Measure) => {
                match (known, x) {
                    (ColumnOp::First, Column::Two(two)) => self.part(&two.parts[0]),
                    (ColumnOp::Last, Column::Two(two)) => self.part(&two.parts[1]),
                    (ColumnOp::Size, Column::Two(_)) => Ok(Column::int(2)),
                    _ => self.measure(id, x),
                }
            }
            ColumnOp::Unary(operation) => self.with_numbers(x, |walk, n| walk.number(operation, n)),
            ColumnOp::Even => self.truths_of(x, |n| n & 1 == 0),
            ColumnOp::Positive => self.truths_of(x, |n| n > 0),
            ColumnOp::Flip => {
                let Column::Truths(truths) = x else {
                    return Err(End::OneByOne);
                };
                self.spend(self.len)?;
                Ok(Column::Truths(truths.iter().map(|&truth| !truth).collect()))
            }
            ColumnOp::Initset => {
                self.spend(0)?;
                Ok(Column::Single(Rc::new(x.clone())))
            }
            known @ (ColumnOp::Toivec | ColumnOp::Tojvec) => {
                known_or_end(x.number())?;
                self.spend(0)?;
                let zero = Column::int(0);
                Ok(match known {
                    ColumnOp::Toivec => self.two(x.clone(), zero),
                    _ => self.two(zero, x.clone()),
                })
            }
            ColumnOp::Extreme(direction) => self.extreme_of_two(direction, x),
            _ => Err(End::OneByOne),
        }
    }

    /// Returns the larger, or the smaller, of two numbers.
    fn extreme_of_two(&mut self, direction: Ordering, x: &Column<'r>) -> Attempt<Column<'r>> {
        let [a, b] = known_or_end(x.two_numbers(self.cells()))?;
        let bound = a.bound().max(b.bound());
        self.pairwise(&a, &b, bound, |a, b| match direction {
            Ordering::Greater => a.max(b),
            _ => a.min(b),
        })
    }

    /// Calls a primitive with two arguments.
    pub(super) fn binary(
        &mut self,
        id: OpId,
        a: &Column<'r>,
        b: &Column<'r>,
    ) -> Attempt<Column<'r>> {
        match known_or_end(column_op(id))? {
            ColumnOp::Binary(operation) => self.arithmetic(operation, a, b),
            ColumnOp::Astuple => {
                self.spend(0)?;
                Ok(self.two(a.clone(), b.clone()))
            }
            ColumnOp::Equality => self.equality(a, b),
            ColumnOp::Greater => {
                let (a, b) = (known_or_end(a.number())?, known_or_end(b.number())?);
                self.compare(&a, &b, |a, b| a > b)
            }
            ColumnOp::Both => self.joined(a, b, |a, b| a && b),
            ColumnOp::Either => self.joined(a, b, |a, b| a || b),
            ColumnOp::Manhattan => self.manhattan(a, b),
            ColumnOp::Index => self.index(a, b),
            ColumnOp::Apply => {
                let Column::Two(two) = b else {
                    return Err(End::OneByOne);
                };
                self.spend(0)?;
                self.in_primitive(|walk| {
                    let first = walk.call1(a, &two.parts[0])?;
                    let second = walk.call1(a, &two.parts[1])?;
                    Ok(walk.two(first, second))
                })
            }
            ColumnOp::ExtremeValue(direction) => self.extreme_value(direction, a, b),
            ColumnOp::ExtremeArgument(direction) => {
                self.extreme_argument(direction, Tie::First, a, b)
            }
            ColumnOp::Nth => match (a, known_or_end(end_of(b))?) {
                (Column::Two(two), Ordering::Less) => self.part(&two.parts[0]),
                (Column::Two(two), _) => self.part(&two.parts[1]),
                _ => Err(End::OneByOne),
            },
            // `get_rank` sorts the largest number first.
            ColumnOp::Rank => {
                let end = known_or_end(end_of(b))?;
                self.extreme_of_two(end.reverse(), a)
            }
            ColumnOp::Compose => self.make(1, MadeForm::Compose(a.clone(), b.clone())),
            ColumnOp::Matcher => self.make(1, MadeForm::Matcher(a.clone(), b.clone())),
            known @ (ColumnOp::Lbind | ColumnOp::Rbind) => {
                let arity = match a {
                    &Column::Same(f) => self.run.arity(f)?,
                    Column::Made(made) => made.arity.into(),
                    _ => return Err(End::OneByOne),
                };
                let arity = higher_order::bound_arity(arity);
                let (a, b) = (a.clone(), b.clone());
                match known {
                    ColumnOp::Lbind => self.make(arity, MadeForm::Lbind(a, b)),
                    _ => self.make(arity, MadeForm::Rbind(a, b)),
                }
            }
            _ => Err(End::OneByOne),
        }
    }
}
