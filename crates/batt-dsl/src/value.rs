//! Values: the kinds that a program can see, and their compact forms.
//!
//! A program sees `None`, bools, ints, tuples, frozensets and functions, and in the dialect
//! tokpidjin floats. Common tuples have compact forms ([`IntPair`], [`Cell`], [`Segment`],
//! [`GridView`], rows); a program cannot observe which form a value has. Two forms are canonical,
//! so code may test for them by variant: two plain integers that fit 16 bits are always a `Pair`,
//! and a plain 32-bit integer with such a pair is always a `Cell`. Booleans are not plain: `(True,
//! 0)` equals `(1, 0)` but is a general tuple. In a dialect whose cells are triples (see
//! [`Dialect`](crate::Dialect)) a `Cell` is the tuple `(i, j, colour)`, and no other form
//! represents three such integers. The run knows which of the two tuples a cell is; the cell itself
//! does not.
//!
//! Values are `Copy` and live in the arena of the run that made them.

use std::cell::Cell as Slot;

use crate::fault::{Fault, Outcome};
use crate::memo::MemoState;
use crate::set::Set;
use crate::table::OpId;

/// A location or vector: `(i, j)`, row first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(C, align(4))]
pub struct IntPair {
    /// The row, growing downward.
    pub i: i16,
    /// The column.
    pub j: i16,
}

impl IntPair {
    /// Makes the pair `(i, j)`.
    #[inline(always)]
    pub const fn new(i: i16, j: i16) -> IntPair {
        IntPair { i, j }
    }

    /// Makes a pair if both numbers fit.
    #[inline(always)]
    pub fn fit(i: i64, j: i64) -> Option<IntPair> {
        Some(IntPair::new(i.try_into().ok()?, j.try_into().ok()?))
    }

    #[inline(always)]
    pub(crate) fn key(self) -> u64 {
        u64::from(self.i as u16) << 16 | u64::from(self.j as u16)
    }
}

/// A coloured cell: `(colour, (i, j))`, or `(i, j, colour)` in a dialect of triples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C, align(8))]
pub struct Cell {
    /// The colour, or any other number that an op has put there.
    pub color: i32,
    /// The location.
    pub at: IntPair,
}

impl Cell {
    /// Makes a cell of this colour at a location.
    #[inline(always)]
    pub const fn new(color: i32, at: IntPair) -> Cell {
        Cell { color, at }
    }

    #[inline(always)]
    pub(crate) fn key(self) -> u64 {
        u64::from(self.color as u32) << 32 | self.at.key()
    }
}

/// A tuple of equally long, non-empty tuples of plain integers 0 to 255: bytes, row by row.
#[derive(Clone, Copy, Debug)]
pub struct GridView<'r> {
    /// The number of rows, at least 1.
    pub height: usize,
    /// The number of columns, at least 1.
    pub width: usize,
    /// `height * width` cells.
    pub cells: &'r [u8],
}

impl<'r> GridView<'r> {
    /// Returns row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &'r [u8] {
        &self.cells[i * self.width..(i + 1) * self.width]
    }

    /// All rows, top to bottom.
    #[inline]
    pub fn rows(&self) -> std::slice::ChunksExact<'r, u8> {
        self.cells.chunks_exact(self.width)
    }

    /// The value at a location inside the grid.
    #[inline(always)]
    pub fn get(&self, i: usize, j: usize) -> u8 {
        self.cells[i * self.width + j]
    }

    /// Returns the position in `cells` of a location, if it lies inside.
    #[inline(always)]
    pub fn offset(&self, at: IntPair) -> Option<usize> {
        // A negative coordinate becomes a huge unsigned one, so one comparison covers both ends.
        let (i, j) = (at.i as usize, at.j as usize);
        (i < self.height && j < self.width).then(|| i * self.width + j)
    }
}

/// A tuple in general form.
pub struct Tuple<'r> {
    pub(crate) items: &'r [Value<'r>],
    /// The nesting depth of containers, this one included.
    pub(crate) depth: u32,
    pub(crate) known: Slot<Option<&'r TupleKnown<'r>>>,
}

/// Facts cached about a tuple.
#[derive(Default)]
pub(crate) struct TupleKnown<'r> {
    pub hash: Slot<Option<u64>>,
    /// The same tuple as a grid; `Some(None)` if it is not one.
    pub grid: Slot<Option<Option<&'r GridView<'r>>>>,
    /// *Build* of the elements; `Some(None)` if they are not a patch.
    pub built: Slot<Option<Option<&'r Set<'r>>>>,
}

/// The tuple of the elements of several patches, one patch after the other. The iteration order of
/// the patches is computed when the elements are read one by one.
pub struct Concat<'r> {
    pub(crate) len: usize,
    /// Sets of locations, or sets of cells.
    pub(crate) members: &'r [Value<'r>],
    /// The elements as a tuple, once computed.
    pub(crate) items: Slot<Option<&'r Tuple<'r>>>,
    /// *Build* of the elements, once computed.
    pub(crate) built: Slot<Option<&'r Set<'r>>>,
}

/// A function made by a primitive. It is equal only to itself.
pub struct Closure<'r> {
    /// The number of arguments of a call.
    pub(crate) arity: u8,
    /// The state of the closure in the memo.
    pub(crate) memo_state: MemoState,
    /// The closure's number in its run, a stable stand-in for its address.
    pub(crate) id: u32,
    pub(crate) form: ClosureForm<'r>,
}

/// The definition of a closure. As in Python, nothing is checked before the call.
#[derive(Clone, Copy)]
pub enum ClosureForm<'r> {
    /// `outer(inner(x))`
    Compose(Value<'r>, Value<'r>),
    /// `h(g(f(x)))`
    Chain(Value<'r>, Value<'r>, Value<'r>),
    /// `function(x) == target`
    Matcher(Value<'r>, Value<'r>),
    /// `outer(a(x), b(x))`
    Fork(Value<'r>, Value<'r>, Value<'r>),
    /// `function(fixed, ...)`
    Lbind(Value<'r>, Value<'r>),
    /// `function(..., fixed)`
    Rbind(Value<'r>, Value<'r>),
    /// `function` applied this many times
    Power(Value<'r>, u32),
}

impl<'r> Closure<'r> {
    /// The number of arguments of a call.
    pub fn arity(&self) -> usize {
        self.arity.into()
    }

    /// The definition.
    pub fn form(&self) -> ClosureForm<'r> {
        self.form
    }
}

/// A small value in a whole machine word.
///
/// Every variant of [`Value`] holds exactly one word, so that values travel in two registers. With
/// a field of another size the compiler copies values piece by piece through memory, and a load
/// that spans two recent stores waits for both. In programs of closures that took a third of the
/// time.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Word<T>(u64, std::marker::PhantomData<T>);

impl Word<bool> {
    /// The bool.
    #[inline(always)]
    pub fn get(self) -> bool {
        self.0 != 0
    }
}

impl Word<f64> {
    /// The float.
    #[inline(always)]
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// Returns whether both are the same object in Python. Every nan made by arithmetic is a
    /// separate object, identified by its bits.
    #[inline(always)]
    pub(crate) fn is(self, other: Word<f64>) -> bool {
        self.0 == other.0
    }
}

impl Word<IntPair> {
    /// The pair.
    #[inline(always)]
    pub fn get(self) -> IntPair {
        IntPair::new((self.0 >> 16) as i16, self.0 as i16)
    }
}

impl Word<Segment> {
    /// The two pairs.
    #[inline(always)]
    pub fn get(self) -> Segment {
        let pair = |bits: u64| IntPair::new((bits >> 16) as i16, bits as i16);
        Segment(pair(self.0 >> 32), pair(self.0))
    }

    #[inline(always)]
    pub(crate) fn key(self) -> u64 {
        self.0
    }
}

/// `((i, j), (k, l))`: two locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment(pub IntPair, pub IntPair);

impl Word<Cell> {
    /// The cell.
    #[inline(always)]
    pub fn get(self) -> Cell {
        let at = IntPair::new((self.0 >> 16) as i16, self.0 as i16);
        Cell::new((self.0 >> 32) as i32, at)
    }
}

/// The result of a call: a value or a fault, in two registers.
///
/// `Result<Value, Fault>` is as small, but the compiler returns it through memory.
#[derive(Clone, Copy)]
pub struct Returned<'r>(Value<'r>);

impl<'r> Returned<'r> {
    /// Packs an outcome.
    #[inline(always)]
    pub fn new(outcome: Outcome<Value<'r>>) -> Returned<'r> {
        Returned(match outcome {
            Ok(value) => value,
            Err(fault) => Value::Failed(fault),
        })
    }

    /// The outcome.
    #[inline(always)]
    pub fn outcome(self) -> Outcome<Value<'r>> {
        match self.0 {
            Value::Failed(fault) => Err(fault),
            value => Ok(value),
        }
    }
}

/// A value of a run.
#[derive(Clone, Copy)]
pub enum Value<'r> {
    /// A fault on its way to the caller, never seen by a program; see [`Returned`]
    #[doc(hidden)]
    Failed(Fault),
    /// `None`
    None,
    /// `True`, `False`
    Bool(Word<bool>),
    /// An integer
    Int(i64),
    /// A float: nan, an infinity, or the result of arithmetic on them
    Float(Word<f64>),
    /// `(i, j)`: a tuple of two plain integers
    Pair(Word<IntPair>),
    /// `(colour, (i, j))`, or `(i, j, colour)` in a dialect of triples
    Cell(Word<Cell>),
    /// `((i, j), (k, l))`: a tuple of two pairs
    Segment(Word<Segment>),
    /// A tuple of plain integers 0 to 255, usually a row of a grid. Never of length 2, nor of
    /// length 3 in a dialect of triples.
    Row(&'r Row<'r>),
    /// A grid
    Grid(&'r GridView<'r>),
    /// The elements of several patches
    Concat(&'r Concat<'r>),
    /// Any other tuple
    Tuple(&'r Tuple<'r>),
    /// A frozenset
    Set(&'r Set<'r>),
    /// A primitive
    Op(OpId),
    /// A closure
    Closure(&'r Closure<'r>),
}

/// The cells of a row: a tuple of plain integers 0 to 255.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    pub(crate) cells: &'r [u8],
}

impl<'r> Row<'r> {
    /// The cells.
    pub fn cells(&self) -> &'r [u8] {
        self.cells
    }
}

// The nesting depths of compact forms.
const PAIR_DEPTH: u32 = 1;
const CELL_DEPTH: u32 = 2;
const CONCAT_DEPTH: u32 = 3;

impl<'r> Value<'r> {
    /// The empty tuple.
    pub const EMPTY_TUPLE: Value<'r> = Value::Row(&Row { cells: &[] });

    /// A bool.
    #[inline(always)]
    pub fn bool(b: bool) -> Value<'r> {
        Value::Bool(Word(b.into(), std::marker::PhantomData))
    }

    /// The nan that stands for a missing number. In Python it is a single object.
    pub const NAN: Value<'r> = Value::float(f64::NAN);

    /// A float.
    #[inline(always)]
    pub const fn float(x: f64) -> Value<'r> {
        Value::Float(Word(x.to_bits(), std::marker::PhantomData))
    }

    /// A location or vector.
    #[inline(always)]
    pub fn pair(pair: IntPair) -> Value<'r> {
        Value::Pair(Word(pair.key(), std::marker::PhantomData))
    }

    /// Two locations.
    #[inline(always)]
    pub fn segment(a: IntPair, b: IntPair) -> Value<'r> {
        Value::Segment(Word(a.key() << 32 | b.key(), std::marker::PhantomData))
    }

    /// A coloured cell.
    #[inline(always)]
    pub fn cell(cell: Cell) -> Value<'r> {
        Value::Cell(Word(cell.key(), std::marker::PhantomData))
    }

    /// Returns the location, if the value is a location in compact form.
    #[inline(always)]
    pub fn as_pair(self) -> Option<IntPair> {
        match self {
            Value::Pair(pair) => Some(pair.get()),
            _ => None,
        }
    }

    /// Returns the number, if the value is an integer or a bool.
    #[inline(always)]
    pub fn as_int(self) -> Option<i64> {
        match self {
            Value::Int(n) => Some(n),
            Value::Bool(b) => Some(b.get().into()),
            _ => None,
        }
    }

    /// Returns the integer that the value equals, if there is one. A float may equal an integer.
    pub(crate) fn integral(self) -> Option<i64> {
        match self {
            Value::Float(x) => {
                let x = x.get();
                let n = x as i64;
                // Beyond 2^53 the conversion rounds.
                (n as f64 == x && x.abs() < (1u64 << 53) as f64).then_some(n)
            }
            _ => self.as_int(),
        }
    }

    /// Returns the number as a float, if the value is a number.
    pub(crate) fn as_f64(self) -> Option<f64> {
        match self {
            Value::Float(x) => Some(x.get()),
            _ => self.as_int().map(|n| n as f64),
        }
    }

    /// Returns whether the value is a nan, which is not even equal to itself.
    #[inline(always)]
    pub(crate) fn is_nan(self) -> bool {
        matches!(self, Value::Float(x) if x.get().is_nan())
    }

    /// Returns the set, if the value is a set.
    #[inline(always)]
    pub fn as_set(self) -> Option<&'r Set<'r>> {
        match self {
            Value::Set(set) => Some(set),
            _ => None,
        }
    }

    /// Returns whether the value is a tuple, in any form.
    #[inline(always)]
    pub fn is_tuple(self) -> bool {
        matches!(
            self,
            Value::Pair(_)
                | Value::Cell(_)
                | Value::Segment(_)
                | Value::Row(_)
                | Value::Grid(_)
                | Value::Concat(_)
                | Value::Tuple(_)
        )
    }

    /// Returns the nesting depth of containers.
    pub(crate) fn depth(self) -> u32 {
        match self {
            Value::Pair(_) | Value::Row(_) => PAIR_DEPTH,
            Value::Cell(_) | Value::Segment(_) | Value::Grid(_) => CELL_DEPTH,
            Value::Concat(_) => CONCAT_DEPTH,
            Value::Tuple(tuple) => tuple.depth,
            Value::Set(set) => set.depth.into(),
            _ => 0,
        }
    }

    /// Returns the kind of the value, a number below 16, and its word. Together they identify the
    /// value.
    #[inline(always)]
    pub(crate) fn identity(self) -> (u8, u64) {
        fn at<T>(place: &T) -> u64 {
            std::ptr::from_ref(place).expose_provenance() as u64
        }
        match self {
            Value::Failed(fault) => (0, fault as u64),
            Value::None => (1, 0),
            Value::Bool(b) => (2, b.0),
            Value::Int(n) => (3, n as u64),
            Value::Float(x) => (4, x.0),
            Value::Pair(p) => (5, p.0),
            Value::Cell(c) => (6, c.0),
            Value::Segment(s) => (7, s.0),
            Value::Row(row) => (8, at(row)),
            Value::Grid(grid) => (9, at(grid)),
            Value::Concat(concat) => (10, at(concat)),
            Value::Tuple(tuple) => (11, at(tuple)),
            Value::Set(set) => (12, at(set)),
            Value::Op(id) => (13, at(id.op())),
            Value::Closure(closure) => (14, at(closure)),
        }
    }

    /// Returns the value of this [identity](Value::identity).
    ///
    /// # Safety
    ///
    /// `kind` and `word` came from [`identity`](Value::identity) of a value that is not a fault. If
    /// that value has an address, the object at that address is alive and unmoved for `'r`.
    #[inline(always)]
    pub(crate) unsafe fn from_identity(kind: u8, word: u64) -> Value<'r> {
        use std::marker::PhantomData;
        /// # Safety
        ///
        /// `word` is the exposed address of a `T` that stays alive and unmoved for `'a`.
        unsafe fn at<'a, T>(word: u64) -> &'a T {
            // SAFETY: the caller promises that a `T` is at this address; `identity` has exposed its
            // provenance.
            unsafe { &*std::ptr::with_exposed_provenance(word as usize) }
        }
        // SAFETY: by the contract of this function `identity` paired this kind with the address of
        // a value of this type, which lives for `'r`.
        unsafe {
            match kind {
                2 => Value::Bool(Word(word, PhantomData)),
                3 => Value::Int(word as i64),
                4 => Value::Float(Word(word, PhantomData)),
                5 => Value::Pair(Word(word, PhantomData)),
                6 => Value::Cell(Word(word, PhantomData)),
                7 => Value::Segment(Word(word, PhantomData)),
                8 => Value::Row(at(word)),
                9 => Value::Grid(at(word)),
                10 => Value::Concat(at(word)),
                11 => Value::Tuple(at(word)),
                12 => Value::Set(at(word)),
                13 => Value::Op(OpId::of(at(word))),
                14 => Value::Closure(at(word)),
                _ => Value::None,
            }
        }
    }

    /// Returns the kind in one word, for messages.
    pub fn kind(self) -> &'static str {
        match self {
            Value::None => "None",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Set(_) => "frozenset",
            Value::Op(_) | Value::Closure(_) => "function",
            Value::Failed(fault) => fault.name(),
            _ => "tuple",
        }
    }
}
