//! Primitives on columns of numbers, bools, locations and chosen members.

use super::column::{Chosen, Column, Number, Numbers};
use super::known::{Binary, Unary};
use super::{Attempt, End, Traversal, known_or_end};
use crate::table::OpId;
use crate::value::Value;

impl<'r> Traversal<'_, 'r> {
    /// Calls a primitive on the members chosen for the elements, once for each member.
    pub(super) fn measure(&mut self, id: OpId, x: &Column<'r>) -> Attempt<Column<'r>> {
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

    /// Applies arithmetic to numbers, or to both numbers of a tuple.
    pub(super) fn with_numbers(
        &mut self,
        x: &Column<'r>,
        mut operation: impl FnMut(&mut Self, Number) -> Attempt<Column<'r>>,
    ) -> Attempt<Column<'r>> {
        match known_or_end(x.numbers(self.cells()))? {
            Numbers::Single(n) => operation(self, n),
            Numbers::Double(i, j) => {
                let (i, j) = (operation(self, i)?, operation(self, j)?);
                Ok(self.two(i, j))
            }
        }
    }

    pub(super) fn number(&mut self, operation: Unary, n: Number) -> Attempt<Column<'r>> {
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
        // The bound fits, so no operation wraps.
        Ok(match operation {
            Unary::Invert => each!(|n: i32| n.wrapping_neg()),
            Unary::Double => each!(|n: i32| n.wrapping_mul(2)),
            Unary::Halve => each!(|n: i32| n >> 1),
            Unary::Increment => each!(|n: i32| n.wrapping_add(1)),
            Unary::Decrement => each!(|n: i32| n.wrapping_sub(1)),
            Unary::Sign => each!(|n: i32| n.signum()),
        })
    }

    pub(super) fn arithmetic(
        &mut self,
        operation: Binary,
        a: &Column<'r>,
        b: &Column<'r>,
    ) -> Attempt<Column<'r>> {
        use Numbers::{Double, Single};
        let (i, j) = match (
            known_or_end(a.numbers(self.cells()))?,
            known_or_end(b.numbers(self.cells()))?,
        ) {
            (Single(a), Single(b)) => return self.of_numbers(operation, &a, &b),
            (Double(i, j), Double(k, l)) => ((i, k), (j, l)),
            (Double(i, j), Single(n)) => ((i, n.clone()), (j, n)),
            (Single(n), Double(i, j)) => ((n.clone(), i), (n, j)),
        };
        let i = self.of_numbers(operation, &i.0, &i.1)?;
        let j = self.of_numbers(operation, &j.0, &j.1)?;
        Ok(self.two(i, j))
    }

    pub(super) fn of_numbers(
        &mut self,
        operation: Binary,
        a: &Number,
        b: &Number,
    ) -> Attempt<Column<'r>> {
        let bound = known_or_end(operation.bound(a.bound(), b.bound()))?;
        // Each operation gets a separate loop.
        match operation {
            Binary::Add => self.pairwise(a, b, bound, |a, b| Binary::Add.of(a, b)),
            Binary::Subtract => self.pairwise(a, b, bound, |a, b| Binary::Subtract.of(a, b)),
            Binary::Multiply => self.pairwise(a, b, bound, |a, b| Binary::Multiply.of(a, b)),
        }
    }

    #[inline(always)]
    pub(super) fn pairwise(
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
    pub(super) fn compare(
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

    pub(super) fn truths_of(
        &mut self,
        x: &Column<'r>,
        holds: impl Fn(i32) -> bool,
    ) -> Attempt<Column<'r>> {
        let number = known_or_end(x.number())?;
        self.compare(&number, &Number::One(0), |n, _| holds(n))
    }

    /// Joins bools, by *and* or by *or*.
    pub(super) fn joined(
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

    /// Returns `a == b`.
    pub(super) fn equality(&mut self, a: &Column<'r>, b: &Column<'r>) -> Attempt<Column<'r>> {
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
        let ([a, b], [c, d]) = (
            known_or_end(a.parts(self.cells()))?,
            known_or_end(b.parts(self.cells()))?,
        );
        let first = self.equality(&a, &c)?;
        let second = self.equality(&b, &d)?;
        match (&first, &second) {
            (Column::Same(Value::Bool(a)), Column::Same(Value::Bool(b))) => {
                Ok(Column::Same(Value::bool(a.get() && b.get())))
            }
            _ => self.joined(&first, &second, |a, b| a && b),
        }
    }

    /// Returns for each element whether the chosen member equals a value.
    pub(super) fn is_chosen(
        &mut self,
        chosen: &Chosen<'r>,
        value: Value<'r>,
    ) -> Attempt<Column<'r>> {
        self.spend(self.len + 4 * chosen.members.len())?;
        let members = 0..chosen.members.len();
        let is_equal: Vec<bool> = members
            .map(|k| self.run.eq(chosen.members.get(k), value))
            .collect();
        self.run.check_limits()?;
        let numbers = chosen.numbers.iter();
        Ok(Column::Truths(
            numbers.map(|&number| is_equal[number as usize]).collect(),
        ))
    }

    /// Returns the cells of a grid.
    pub(super) fn index(&mut self, grid: &Column<'r>, at: &Column<'r>) -> Attempt<Column<'r>> {
        let &Column::Same(Value::Grid(grid)) = grid else {
            return Err(End::OneByOne);
        };
        let [i, j] = known_or_end(at.two_numbers(self.cells()))?;
        self.spend(2 * self.len)?;
        let mut colors = Vec::with_capacity(self.len);
        for k in 0..self.len {
            let (i, j) = (i.get(k) as usize, j.get(k) as usize);
            // Negative numbers become huge ones, which lie outside the grid as well.
            if i >= grid.height || j >= grid.width {
                return Err(End::OneByOne);
            }
            colors.push(grid.get(i, j).into());
        }
        Ok(self.ints(colors, u8::MAX.into()))
    }

    /// Returns the distance between single locations or cells.
    pub(super) fn manhattan(&mut self, a: &Column<'r>, b: &Column<'r>) -> Attempt<Column<'r>> {
        let [i, j] = known_or_end(a.single_location(self.cells()))?;
        let [k, l] = known_or_end(b.single_location(self.cells()))?;
        let rows = self.distance(&i, &k)?;
        let columns = self.distance(&j, &l)?;
        self.arithmetic(Binary::Add, &rows, &columns)
    }

    pub(super) fn distance(&mut self, a: &Number, b: &Number) -> Attempt<Column<'r>> {
        let bound = known_or_end(a.bound().checked_add(b.bound()))?;
        self.pairwise(a, b, bound, |a, b| a.wrapping_sub(b).wrapping_abs())
    }
}
