//! Columns: the values of one expression for all elements.

use std::rc::Rc;

use crate::memory::Memory;
use crate::ops::members::Members;
use crate::value::{ClosureForm, IntPair, Value};

/// The values of one expression for all elements.
#[derive(Clone)]
pub(super) enum Column<'r> {
    /// One value for all elements.
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
    /// Sets of one value each.
    Single(Rc<Column<'r>>),
}

pub(super) struct Ints {
    pub(super) id: u64,
    pub(super) items: Vec<i32>,
    /// An upper bound of the absolute values.
    pub(super) bound: i32,
}

pub(super) struct Two<'r> {
    pub(super) id: u64,
    pub(super) parts: [Column<'r>; 2],
}

pub(super) struct Chosen<'r> {
    pub(super) members: Members<'r>,
    /// The member number of each element's choice.
    pub(super) numbers: Vec<u32>,
}

/// A function made for each element, from parts that may differ.
pub(super) struct Made<'r> {
    /// A number that functions made in the same way share.
    pub(super) id: u64,
    pub(super) arity: u8,
    pub(super) form: MadeForm<'r>,
}

/// A [`ClosureForm`](crate::value::ClosureForm) over columns.
pub(super) enum MadeForm<'r> {
    Compose(Column<'r>, Column<'r>),
    Chain(Column<'r>, Column<'r>, Column<'r>),
    Matcher(Column<'r>, Column<'r>),
    Fork(Column<'r>, Column<'r>, Column<'r>),
    Lbind(Column<'r>, Column<'r>),
    Rbind(Column<'r>, Column<'r>),
    Power(Column<'r>, u32),
}

impl<'r> MadeForm<'r> {
    /// Returns the form of a function that all elements share.
    pub(super) fn of(form: &ClosureForm<'r>) -> MadeForm<'r> {
        let same = Column::Same;
        match *form {
            ClosureForm::Compose(a, b) => MadeForm::Compose(same(a), same(b)),
            ClosureForm::Chain(a, b, c) => MadeForm::Chain(same(a), same(b), same(c)),
            ClosureForm::Matcher(a, b) => MadeForm::Matcher(same(a), same(b)),
            ClosureForm::Fork(a, b, c) => MadeForm::Fork(same(a), same(b), same(c)),
            ClosureForm::Lbind(a, b) => MadeForm::Lbind(same(a), same(b)),
            ClosureForm::Rbind(a, b) => MadeForm::Rbind(same(a), same(b)),
            ClosureForm::Power(f, n) => MadeForm::Power(same(f), n),
        }
    }
}

/// The form of cells in this run's dialect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cells {
    /// `(colour, (i, j))`
    Twos,
    /// `(i, j, colour)`, which no column holds.
    Triples,
}

/// One number, or a column of them.
#[derive(Clone)]
pub(super) enum Number {
    One(i32),
    All(Rc<Ints>),
}

/// The operands of arithmetic: one number, or the two of a tuple.
pub(super) enum Numbers {
    Single(Number),
    Double(Number, Number),
}

impl<'r> Column<'r> {
    pub(super) fn int(n: i32) -> Column<'r> {
        Column::Same(Value::Int(n.into()))
    }

    /// Returns rows and columns of locations, or of the locations of cells.
    pub(super) fn location(&self, cells: Cells) -> Option<[Number; 2]> {
        let [a, b] = self.parts(cells)?;
        match (a.number(), b.number()) {
            (Some(i), Some(j)) => Some([i, j]),
            (Some(_), None) => b.two_numbers(cells),
            _ => None,
        }
    }

    /// Returns rows and columns for sets of one location or cell.
    pub(super) fn single_location(&self, cells: Cells) -> Option<[Number; 2]> {
        match self {
            Column::Single(value) => value.location(cells),
            Column::Same(Value::Set(set)) if set.len() == 1 => {
                Column::Same(set.elems.get(0)).location(cells)
            }
            _ => None,
        }
    }

    /// Returns the two parts of a tuple of two.
    pub(super) fn parts(&self, cells: Cells) -> Option<[Column<'r>; 2]> {
        match self {
            Column::Two(two) => Some(two.parts.clone()),
            Column::Same(Value::Pair(pair)) => {
                let pair = pair.get();
                Some([Column::int(pair.i.into()), Column::int(pair.j.into())])
            }
            Column::Same(Value::Cell(cell)) if cells == Cells::Twos => {
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

    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Column::Ints(ints) => Some(Number::All(Rc::clone(ints))),
            // Bools are excluded. They are numbers too, but arithmetic turns them into integers.
            Column::Same(Value::Int(n)) => {
                let n = i32::try_from(*n).ok()?;
                n.checked_abs().map(|_| Number::One(n))
            }
            _ => None,
        }
    }

    pub(super) fn numbers(&self, cells: Cells) -> Option<Numbers> {
        if let Some(number) = self.number() {
            return Some(Numbers::Single(number));
        }
        let [a, b] = self.two_numbers(cells)?;
        Some(Numbers::Double(a, b))
    }

    /// Returns the two numbers of a tuple.
    pub(super) fn two_numbers(&self, cells: Cells) -> Option<[Number; 2]> {
        let [a, b] = self.parts(cells)?;
        Some([a.number()?, b.number()?])
    }

    /// Returns a kind and a word that identify the column, if it can be identified. A single value
    /// for all elements is identified as in the memo.
    pub(super) fn identity(&self) -> Option<(u8, u64)> {
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
    pub(super) fn write(&self, values: &mut [Value<'r>]) -> Option<()> {
        match self {
            Column::Same(value @ (Value::Int(_) | Value::Bool(_) | Value::Pair(_))) => {
                values.fill(*value);
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
                let [i, j] = [two.parts[0].number()?, two.parts[1].number()?];
                let fits = |bound: i32| bound <= i16::MAX.into();
                if !fits(i.bound()) || !fits(j.bound()) {
                    return None;
                }
                for (k, value) in values.iter_mut().enumerate() {
                    // The bounds were checked, so both numbers fit 16 bits.
                    *value = Value::pair(IntPair::new(i.get(k) as i16, j.get(k) as i16));
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns whether all values in the column stay to the end of the run. Returns false for
    /// functions and sets, which are not inspected.
    pub(super) fn stays(&self, home: &Memory) -> bool {
        match self {
            Column::Same(value) => home.stay_for_good([*value]),
            Column::Ints(_) | Column::Truths(_) => true,
            Column::Two(two) => two.parts.iter().all(|part| part.stays(home)),
            Column::Chosen(chosen) => match chosen.members {
                Members::Set(set) => home.stay_for_good([Value::Set(set)]),
                Members::Tuple(_) => false,
            },
            Column::Made(_) | Column::Single(_) => false,
        }
    }

    /// Returns the number of bytes that the cached column takes.
    pub(super) fn bytes(&self) -> usize {
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
    pub(super) fn get(&self, k: usize) -> i32 {
        match self {
            Number::One(n) => *n,
            Number::All(ints) => ints.items[k],
        }
    }

    pub(super) fn bound(&self) -> i32 {
        match self {
            // The constructor has checked that the absolute value exists.
            Number::One(n) => n.saturating_abs(),
            Number::All(ints) => ints.bound,
        }
    }
}
