//! The largest and smallest values of a function on the members of a container, for all elements at
//! once.

use std::cmp::Ordering;
use std::rc::Rc;

use super::column::{Chosen, Column, Number};
use super::remembered::{LeaveOneOut, MAX_BYTES};
use super::{Attempt, End, Traversal, known_or_end};
use crate::ops::members::Members;
use crate::set::{Origin, Selection, Set};
use crate::value::Value;

/// The choice among several members with the same key.
#[derive(Clone, Copy)]
pub(super) enum Tie {
    First,
    Last,
}

/// The fewest remaining members for which leave-one-out results pay. With fewer, evaluating all of
/// them is as fast.
const MIN_OTHERS: usize = 4;

impl<'r> Traversal<'_, 'r> {
    /// Returns the members of a container that all elements share and that is not empty.
    pub(super) fn members(&mut self, container: &Column<'r>) -> Attempt<Members<'r>> {
        let &Column::Same(container) = container else {
            return Err(End::OneByOne);
        };
        let members = Members::of(self.run, container)?;
        match members.len() {
            0 => Err(End::OneByOne),
            _ => Ok(members),
        }
    }

    /// Returns the function's value for a member, as numbers.
    pub(super) fn key(&mut self, function: &Column<'r>, member: Value<'r>) -> Attempt<Number> {
        let key = self.in_primitive(|walk| walk.call1(function, &Column::Same(member)))?;
        known_or_end(key.number())
    }

    /// Returns the largest, or smallest, value of the function on the members.
    pub(super) fn extreme_value(
        &mut self,
        direction: Ordering,
        container: &Column<'r>,
        function: &Column<'r>,
    ) -> Attempt<Column<'r>> {
        if let Some(column) = self.extreme_leaving_one_out(direction, container, function)? {
            return Ok(column);
        }
        let members = self.members(container)?;
        let first = self.key(function, members.get(0))?;
        let mut bound = first.bound();
        let mut best: Vec<i32> = (0..self.len).map(|k| first.get(k)).collect();
        for m in 1..members.len() {
            let key = self.key(function, members.get(m))?;
            bound = bound.max(key.bound());
            self.run.spend(2 + self.len / 64)?;
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

    /// Returns the extreme value on all members of a set but one, as in `remove(object, objects)`.
    /// An outer loop usually leaves out one member after the other, so the results for all of them
    /// are computed together and cached.
    pub(super) fn extreme_leaving_one_out(
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
            || kept.len() < MIN_OTHERS
            || !self.run.home.stay_for_good([Value::Set(source)])
        {
            return Ok(None);
        }
        let (_, address) = Value::Set(source).identity();
        // A call that succeeds at one depth may be too deep at another.
        let at = u64::from(self.run.depth) << 8 | u64::from(direction as i8 as u8);
        let key = [address, made.id, at];
        let others = match self.columns.left_out.get(&key) {
            Some(others) => others.clone(),
            None => {
                let (closures, primitives) = (self.closures, self.primitives);
                let others = match self.leave_one_out(direction, source, function) {
                    Ok(others) => Some(Rc::new(others)),
                    // The function may fail for the very member that is left out.
                    Err(End::OneByOne) => None,
                    Err(limit) => return Err(limit),
                };
                (self.closures, self.primitives) = (closures, primitives);
                let bytes = self.columns.bytes + 12 * self.len;
                if bytes <= MAX_BYTES {
                    self.columns.bytes = bytes;
                    self.columns.left_out.insert(key, others.clone());
                }
                others
            }
        };
        let Some(others) = others else {
            return Ok(None);
        };
        // The numbers ascend, so every number after the missing one is off its own position.
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

    /// Evaluates the function on all members and keeps the best and the second best.
    pub(super) fn leave_one_out(
        &mut self,
        direction: Ordering,
        source: &'r Set<'r>,
        function: &Column<'r>,
    ) -> Attempt<LeaveOneOut> {
        let is_better = |new: i32, old: i32| match direction {
            Ordering::Less => new < old,
            _ => new > old,
        };
        let worst = match direction {
            Ordering::Less => i32::MAX,
            _ => i32::MIN,
        };
        let mut others = LeaveOneOut {
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
            self.run.spend(2 + self.len / 16)?;
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

    /// Returns the member for which the function is largest, or smallest.
    pub(super) fn extreme_argument(
        &mut self,
        direction: Ordering,
        tie: Tie,
        container: &Column<'r>,
        function: &Column<'r>,
    ) -> Attempt<Column<'r>> {
        let members = self.members(container)?;
        let order = members.order(self.run)?;
        let first = self.key(function, members.get(order[0] as usize))?;
        let mut best: Vec<i32> = (0..self.len).map(|k| first.get(k)).collect();
        let mut numbers = vec![order[0]; self.len];
        for &number in &order[1..] {
            let key = self.key(function, members.get(number as usize))?;
            self.run.spend(2 + self.len / 32)?;
            for (k, (old, place)) in best.iter_mut().zip(&mut numbers).enumerate() {
                let new = key.get(k);
                let is_better = match (direction, tie) {
                    (Ordering::Less, Tie::First) => new < *old,
                    (Ordering::Less, Tie::Last) => new <= *old,
                    (_, Tie::First) => new > *old,
                    (_, Tie::Last) => new >= *old,
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
