//! The op table: name, parameters and meaning of every primitive and constant.
//!
//! Each op is declared once, beside its code, with the [`op!`](crate::op) macro. The families list
//! their ops, and everything else (parser names, arity, `batt ops`, the manual) derives from the
//! table. The [`Dialect`] decides which names a solver file may use.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use crate::dialect::Dialect;
use crate::run::Run;
use crate::value::{Returned, Value};

/// Type hints of parameters and results. They are conventions of the DSL, which never checks them.
///
/// Names with an underscore or a number are hints of tokpidjin. They tell which constants are
/// meant, so that a search can vary them.
#[allow(
    missing_docs,
    non_camel_case_types,
    reason = "the names are those of the DSL"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Any,
    Boolean,
    Integer,
    Numerical,
    Pair,
    Cell,
    Grid,
    Object,
    Objects,
    Indices,
    IntegerSet,
    Patch,
    Element,
    Piece,
    Tuple,
    TupleTuple,
    FrozenSet,
    Container,
    ContainerContainer,
    Callable,
    /// A location or vector in tokpidjin.
    IJ,
    /// The demonstration pairs of a task.
    Samples,
    IndicesSet,
    /// A rank from either end, from the first, from the last.
    FL,
    F_,
    L_,
    /// A symbol with 10, 4, 8 values.
    R_,
    R4,
    R8,
    /// A mirror or rotation, of 4 or 8.
    A4,
    A8,
    /// A tuple of tuples of cells.
    TTT_iii,
    /// A colour.
    C_,
    /// A row, a column.
    I_,
    J_,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A parameter of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpParam {
    /// The name, which is also that of the keyword argument.
    pub name: &'static str,
    /// The expected type, by convention.
    pub ty: Type,
}

/// The CPU code of a primitive, by arity.
#[derive(Clone, Copy)]
pub enum OpCode {
    /// One argument.
    One(for<'r> fn(&mut Run<'r>, Value<'r>) -> Returned<'r>),
    /// Two arguments.
    Two(for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>) -> Returned<'r>),
    /// Three arguments.
    Three(for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>, Value<'r>) -> Returned<'r>),
    /// Four arguments.
    Four(for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>, Value<'r>, Value<'r>) -> Returned<'r>),
    /// Three arguments, of which the last may be omitted. `lbind` and `rbind` count three.
    TwoOrThree(for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>, Option<Value<'r>>) -> Returned<'r>),
    /// Any arguments, all of which are ignored; the result is `()`. `lbind` and `rbind` count none.
    Anything,
}

/// The value that a primitive returns instead of failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fallback {
    /// `()`
    EmptyTuple,
    /// `frozenset()`
    EmptySet,
    /// `0`
    Zero,
    /// `False`
    False,
    /// A function that takes anything and gives `()`
    Function,
}

impl Fallback {
    /// Returns tokpidjin's fallback, which follows from the hints of a function. Tokpidjin's type
    /// file does not define the symbols with 4 and 8 values. Such a hint makes its lookup fail, and
    /// then the fallback is `()`.
    pub const fn of(params: &[OpParam], returns: Type) -> Fallback {
        let mut k = 0;
        while k < params.len() {
            if params[k].ty.is_undefined() {
                return Fallback::EmptyTuple;
            }
            k += 1;
        }
        match returns {
            Type::FrozenSet
            | Type::Indices
            | Type::IndicesSet
            | Type::IntegerSet
            | Type::Object
            | Type::Objects
            | Type::Patch => Fallback::EmptySet,
            Type::Integer | Type::C_ | Type::FL | Type::R_ | Type::I_ | Type::J_ => Fallback::Zero,
            Type::Boolean => Fallback::False,
            Type::Callable => Fallback::Function,
            _ => Fallback::EmptyTuple,
        }
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fallback::EmptyTuple => "()",
            Fallback::EmptySet => "frozenset()",
            Fallback::Zero => "0",
            Fallback::False => "False",
            Fallback::Function => "a function that gives ()",
        })
    }
}

impl Type {
    const fn is_undefined(self) -> bool {
        matches!(self, Type::R4 | Type::R8 | Type::A4 | Type::A8)
    }
}

/// The table entry of a primitive: everything the project knows about it.
pub struct Op {
    /// The name in solver files.
    pub name: &'static str,
    /// The dialect that has the name: tokpidjin, or arc-dsl for both arc-dsl and RE-ARC.
    pub dialect: Dialect,
    /// The value that it returns instead of failing; `None` if it may fail.
    pub fallback: Option<Fallback>,
    /// The family (module) it belongs to, for the manual.
    pub family: &'static str,
    /// Parameters in positional order.
    pub params: &'static [OpParam],
    /// The type of the result, by convention.
    pub returns: Type,
    /// Whether the result can depend on the iteration order of a set. The order of a resulting set
    /// does not count.
    pub order_sensitive: bool,
    /// The condition for that, in words; empty if `order_sensitive` is false.
    pub order: &'static str,
    /// The documentation in Markdown: what it does and when it fails. The first sentence is the
    /// summary.
    pub doc: &'static str,
    /// A call that works and its result, in Python syntax; empty if only vectors test it.
    pub example: (&'static str, &'static str),
    /// A call that fails; empty for primitives that never do.
    pub fails: &'static str,
    /// The code.
    pub code: OpCode,
    /// The profiled version, which does the same and measures the time.
    pub profiled: &'static Op,
}

impl Op {
    /// The number of parameters.
    pub fn arity(&self) -> usize {
        self.params.len()
    }

    /// The first sentence of the documentation, on one line.
    pub fn summary(&self) -> String {
        let text = self.doc.trim().replace('\n', " ");
        let end = text.find(". ").map_or(text.len(), |at| at + 1);
        text[..end].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the form of a call, `name(param, ...)`.
    pub fn call_form(&self) -> String {
        let params: Vec<_> = self.params.iter().map(|p| p.name).collect();
        format!("{}({})", self.name, params.join(", "))
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A primitive. In memory it is a pointer to its table entry, so that a call finds the code
/// directly; files use names. It is one word wide, as every part of a [`Value`] is.
#[derive(Clone, Copy)]
pub struct OpId(&'static Op);

impl PartialEq for OpId {
    fn eq(&self, other: &OpId) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for OpId {}

impl Hash for OpId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for OpId {
    fn partial_cmp(&self, other: &OpId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OpId {
    fn cmp(&self, other: &OpId) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl OpId {
    /// Looks a primitive of arc-dsl up by name; see [`Dialect::op`] for other dialects.
    pub fn named(name: &str) -> Option<OpId> {
        Dialect::ArcDsl.op(name)
    }

    /// All primitives of arc-dsl, family by family.
    pub fn all() -> impl ExactSizeIterator<Item = OpId> {
        ops().iter().map(|&op| OpId(op))
    }

    /// All primitives of all dialects; the position in this sequence is the [`index`](OpId::index).
    pub fn every() -> impl Iterator<Item = OpId> {
        let tokpidjin = crate::ops::tokpidjin::ALL.iter();
        ops().iter().chain(tokpidjin).map(|&op| OpId(op))
    }

    /// The primitive of a table entry.
    pub(crate) const fn of(op: &'static Op) -> OpId {
        OpId(op)
    }

    /// The table entry.
    #[inline]
    pub fn op(self) -> &'static Op {
        self.0
    }

    /// Returns whether it is this primitive or its profiled version.
    pub(crate) fn is(self, op: &'static Op) -> bool {
        std::ptr::eq(self.0, op) || std::ptr::eq(self.0, op.profiled)
    }

    /// Returns the number in the table of all dialects, for arrays indexed by op.
    pub fn index(self) -> usize {
        static INDEX: OnceLock<HashMap<(Dialect, &'static str), usize>> = OnceLock::new();
        let index = INDEX.get_or_init(|| {
            let numbered = OpId::every().enumerate();
            numbered.map(|(k, id)| (id.key(), k)).collect()
        });
        // The fallback function has an id without being in the table.
        index.get(&self.key()).copied().unwrap_or(index.len())
    }

    fn key(self) -> (Dialect, &'static str) {
        (self.0.dialect, self.0.name)
    }
}

impl fmt::Debug for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.op().name)
    }
}

/// The table of arc-dsl, family by family.
pub fn ops() -> &'static [&'static Op] {
    &crate::ops::ALL
}

/// A plain value in a program's text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// An integer
    Int(i64),
    /// A tuple display
    Tuple(Vec<Literal>),
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::None => f.write_str("None"),
            Literal::Bool(true) => f.write_str("True"),
            Literal::Bool(false) => f.write_str("False"),
            Literal::Int(n) => write!(f, "{n}"),
            Literal::Tuple(items) => {
                f.write_str("(")?;
                for (k, item) in items.iter().enumerate() {
                    if k > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}

/// The value of a named constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Constant {
    Bool(bool),
    Int(i64),
    Pair(i64, i64),
}

use Constant::{Bool, Int, Pair};

/// The number of constants of arc-dsl, which come first because every dialect has them.
const SHARED: usize = 28;

const CONSTANTS: [(&str, Constant); SHARED + 64] = [
    ("F", Bool(false)),
    ("T", Bool(true)),
    ("ZERO", Int(0)),
    ("ONE", Int(1)),
    ("TWO", Int(2)),
    ("THREE", Int(3)),
    ("FOUR", Int(4)),
    ("FIVE", Int(5)),
    ("SIX", Int(6)),
    ("SEVEN", Int(7)),
    ("EIGHT", Int(8)),
    ("NINE", Int(9)),
    ("TEN", Int(10)),
    ("NEG_ONE", Int(-1)),
    ("NEG_TWO", Int(-2)),
    ("DOWN", Pair(1, 0)),
    ("RIGHT", Pair(0, 1)),
    ("UP", Pair(-1, 0)),
    ("LEFT", Pair(0, -1)),
    ("ORIGIN", Pair(0, 0)),
    ("UNITY", Pair(1, 1)),
    ("NEG_UNITY", Pair(-1, -1)),
    ("UP_RIGHT", Pair(-1, 1)),
    ("DOWN_LEFT", Pair(1, -1)),
    ("ZERO_BY_TWO", Pair(0, 2)),
    ("TWO_BY_ZERO", Pair(2, 0)),
    ("TWO_BY_TWO", Pair(2, 2)),
    ("THREE_BY_THREE", Pair(3, 3)),
    ("F0", Int(0)),
    ("F1", Int(1)),
    ("F2", Int(2)),
    ("F3", Int(3)),
    ("F4", Int(4)),
    ("F5", Int(5)),
    ("F6", Int(6)),
    ("F7", Int(7)),
    ("F8", Int(8)),
    ("F9", Int(9)),
    ("L1", Int(-1)),
    ("L2", Int(-2)),
    ("L3", Int(-3)),
    ("L4", Int(-4)),
    ("L5", Int(-5)),
    ("L6", Int(-6)),
    ("L7", Int(-7)),
    ("L8", Int(-8)),
    ("L9", Int(-9)),
    ("L10", Int(-10)),
    ("R0", Int(0)),
    ("R1", Int(1)),
    ("R2", Int(2)),
    ("R3", Int(3)),
    ("R4", Int(4)),
    ("R5", Int(5)),
    ("R6", Int(6)),
    ("R7", Int(7)),
    ("R8", Int(8)),
    ("R9", Int(9)),
    ("A0", Int(0)),
    ("A1", Int(1)),
    ("A2", Int(2)),
    ("A3", Int(3)),
    ("A4", Int(4)),
    ("A5", Int(5)),
    ("A6", Int(6)),
    ("A7", Int(7)),
    ("A8", Int(8)),
    ("A9", Int(9)),
    ("SM2", Int(2)),
    ("SM3", Int(3)),
    ("SD2", Int(-2)),
    ("SD3", Int(-3)),
    ("BLACK", Int(0)),
    ("BLUE", Int(1)),
    ("RED", Int(2)),
    ("GREEN", Int(3)),
    ("YELLOW", Int(4)),
    ("GRAY", Int(5)),
    ("MAGENTA", Int(6)),
    ("ORANGE", Int(7)),
    ("CYAN", Int(8)),
    ("BURGUNDY", Int(9)),
    ("NEG_THREE", Int(-3)),
    ("NEG_FOUR", Int(-4)),
    ("NEG_FIVE", Int(-5)),
    ("NEG_SIX", Int(-6)),
    ("NEG_SEVEN", Int(-7)),
    ("NEG_EIGHT", Int(-8)),
    ("NEG_NINE", Int(-9)),
    ("NEG_TEN", Int(-10)),
    ("HUNDRED", Int(100)),
    ("THOUSAND", Int(1000)),
];

/// Returns the number of constants of a dialect.
pub(crate) const fn constant_count(dialect: Dialect) -> usize {
    match dialect {
        Dialect::ArcDsl | Dialect::ReArc => SHARED,
        Dialect::Tokpidjin => CONSTANTS.len(),
    }
}

/// A named constant, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(u16);

impl ConstId {
    /// Looks a constant of arc-dsl up by name; see [`Dialect::constant`] for other dialects.
    pub fn named(name: &str) -> Option<ConstId> {
        Dialect::ArcDsl.constant(name)
    }

    /// All constants of arc-dsl.
    pub fn all() -> impl ExactSizeIterator<Item = ConstId> {
        Dialect::ArcDsl.constants()
    }

    /// The first constants, as many as a dialect has.
    pub(crate) fn first(count: usize) -> impl ExactSizeIterator<Item = ConstId> {
        (0..count as u16).map(ConstId)
    }

    /// The name in solver files.
    pub fn name(self) -> &'static str {
        CONSTANTS[self.0 as usize].0
    }

    /// The number among the constants of all dialects.
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// The value.
    pub fn value(self) -> Literal {
        match CONSTANTS[self.0 as usize].1 {
            Bool(b) => Literal::Bool(b),
            Int(n) => Literal::Int(n),
            Pair(i, j) => Literal::Tuple(vec![Literal::Int(i), Literal::Int(j)]),
        }
    }
}

impl fmt::Debug for ConstId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns an identifier without the `r#` that Rust's keywords need, as in `box`.
pub(crate) const fn unescaped(ident: &'static str) -> &'static str {
    match ident.as_bytes() {
        [b'r', b'#', ..] => ident.split_at(2).1,
        _ => ident,
    }
}

/// Declares one primitive: its documentation, signature and code in one place.
///
/// ```ignore
/// op! {
///     /// The mirror image, top to bottom. Fails for an empty set.
///     pub hmirror(piece: Piece) -> Piece;
///     example "hmirror(((1, 2), (3, 4)))" => "((3, 4), (1, 2))";
///     fails "hmirror(ONE)";
///     |run| { ... }
/// }
/// ```
///
/// This expands to a function `hmirror(run, piece)` and a table entry `hmirror::OP`. Optional
/// parts, in this order:
///
/// - `#[inline(always)]` before the signature, for the few primitives that take no longer than a
///   call: a result that comes back through memory would cost as much again
/// - `ordered "a set of several elements";` after the signature, if the iteration order of a set matters,
///   and when
/// - `frames 2;` after that, if the primitive calls functions: the frames of Python's stack between
///   its caller and the function (`calls.rs`)
macro_rules! op {
    (
        $(#[doc = $doc:literal])+
        $(#[inline($inline:ident)])?
        pub $name:ident($($param:ident: $ty:ident),+) -> $returns:ident;
        $(ordered $order:literal;)?
        $(frames $frames:literal;)?
        example $call:literal => $result:literal;
        $(fails $fails:literal;)?
        |$run:ident| $body:block
    ) => {
        $(#[doc = $doc])+
        #[inline$(($inline))?]
        pub fn $name<'r>(
            $run: &mut $crate::run::Run<'r>,
            $($param: $crate::value::Value<'r>),+
        ) -> $crate::fault::Outcome<$crate::value::Value<'r>> {
            $crate::op!(@body $run $($frames)? $body)
        }

        #[doc(hidden)]
        pub mod $name {
            use $crate::table::{OpCode, Op, OpParam, Type};
            use $crate::value::Returned;
            /// The table entry.
            pub static OP: Op = Op {
                name: $crate::table::unescaped(stringify!($name)),
                dialect: $crate::dialect::Dialect::ArcDsl,
                fallback: None,
                family: super::FAMILY,
                params: &[$(OpParam { name: stringify!($param), ty: Type::$ty }),+],
                returns: Type::$returns,
                order_sensitive: !$crate::op!(@text $($order)?).is_empty(),
                order: $crate::op!(@text $($order)?),
                doc: concat!($($doc, "\n"),+),
                example: ($call, $result),
                fails: $crate::op!(@text $($fails)?),
                code: $crate::op!(@code super::$name, $($param),+),
                profiled: &PROFILED,
            };
            static PROFILED: Op = Op {
                code: $crate::op!(@profiled $($param),+),
                ..OP
            };
        }
    };
    (@profiled $a:ident) => {
        OpCode::One(|run, $a| run.profiled(&OP, |run| match OP.code {
            OpCode::One(code) => code(run, $a),
            _ => Returned::new(Err($crate::fault::Fault::Type)),
        }))
    };
    (@profiled $a:ident, $b:ident) => {
        OpCode::Two(|run, $a, $b| run.profiled(&OP, |run| match OP.code {
            OpCode::Two(code) => code(run, $a, $b),
            _ => Returned::new(Err($crate::fault::Fault::Type)),
        }))
    };
    (@profiled $a:ident, $b:ident, $c:ident) => {
        OpCode::Three(|run, $a, $b, $c| run.profiled(&OP, |run| match OP.code {
            OpCode::Three(code) => code(run, $a, $b, $c),
            _ => Returned::new(Err($crate::fault::Fault::Type)),
        }))
    };
    (@profiled $a:ident, $b:ident, $c:ident, $d:ident) => {
        OpCode::Four(|run, $a, $b, $c, $d| run.profiled(&OP, |run| match OP.code {
            OpCode::Four(code) => code(run, $a, $b, $c, $d),
            _ => Returned::new(Err($crate::fault::Fault::Type)),
        }))
    };
    (@body $run:ident $frames:literal $body:block) => {
        $run.in_frames($frames, |$run: &mut $crate::run::Run<'r>| $body)
    };
    (@body $run:ident $body:block) => { $body };
    (@text) => { "" };
    (@text $text:literal) => { $text };
    (@code $f:path, $a:ident) => {
        OpCode::One(|run, $a| Returned::new($f(run, $a)))
    };
    (@code $f:path, $a:ident, $b:ident) => {
        OpCode::Two(|run, $a, $b| Returned::new($f(run, $a, $b)))
    };
    (@code $f:path, $a:ident, $b:ident, $c:ident) => {
        OpCode::Three(|run, $a, $b, $c| Returned::new($f(run, $a, $b, $c)))
    };
    (@code $f:path, $a:ident, $b:ident, $c:ident, $d:ident) => {
        OpCode::Four(|run, $a, $b, $c, $d| Returned::new($f(run, $a, $b, $c, $d)))
    };
}

pub(crate) use op;
