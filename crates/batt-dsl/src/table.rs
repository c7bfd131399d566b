//! The op table: what every primitive and constant is called, takes and means.
//!
//! Each op is declared once, beside its code, with the [`op!`](crate::op) macro; the families list
//! their ops, and everything else (parser names, arity, `batt ops`, the manual) derives from here.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use crate::run::Run;
use crate::value::{Returned, Value};

/// Type hints of parameters and results: conventions of the DSL, never checked by it.
#[allow(missing_docs)]
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
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A parameter of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name, as usable in a keyword argument.
    pub name: &'static str,
    /// What is expected, by convention.
    pub ty: Type,
}

/// The CPU code of a primitive, by arity.
#[derive(Clone, Copy)]
pub enum Code {
    /// One argument.
    One(for<'r> fn(&mut Run<'r>, Value<'r>) -> Returned<'r>),
    /// Two arguments.
    Two(for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>) -> Returned<'r>),
    /// Three arguments.
    Three(for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>, Value<'r>) -> Returned<'r>),
    /// Four arguments.
    Four(for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>, Value<'r>, Value<'r>) -> Returned<'r>),
}

/// A primitive: everything the project knows about it.
pub struct Op {
    /// The name in solver files.
    pub name: &'static str,
    /// The family (module) it belongs to, for the manual.
    pub family: &'static str,
    /// Parameters in positional order.
    pub params: &'static [Param],
    /// What comes back, by convention.
    pub returns: Type,
    /// Can the abstract result depend on the iteration order of a set?
    pub order_sensitive: bool,
    /// If so, when.
    pub order: &'static str,
    /// What it does and when it fails, in Markdown; the first sentence is the summary.
    pub doc: &'static str,
    /// A call that works, and its result, in Python syntax.
    pub example: (&'static str, &'static str),
    /// A call that fails; empty for the few primitives that never do.
    pub fails: &'static str,
    /// The code.
    pub code: Code,
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

    /// `name(param, ...)`.
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

/// A primitive. In memory it is its table entry; files use names.
/// A whole word wide, as every part of a [`Value`] is, and a pointer, so that a call finds the code
/// without a detour.
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
        self.0.name.hash(state);
    }
}

impl PartialOrd for OpId {
    fn partial_cmp(&self, other: &OpId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OpId {
    fn cmp(&self, other: &OpId) -> Ordering {
        self.0.name.cmp(other.0.name)
    }
}

impl OpId {
    /// Looks a primitive up by name.
    pub fn named(name: &str) -> Option<OpId> {
        static INDEX: OnceLock<HashMap<&'static str, OpId>> = OnceLock::new();
        INDEX
            .get_or_init(|| OpId::all().map(|id| (id.op().name, id)).collect())
            .get(name)
            .copied()
    }

    /// All primitives, family by family.
    pub fn all() -> impl ExactSizeIterator<Item = OpId> {
        ops().iter().map(|&op| OpId(op))
    }

    /// The table entry.
    #[inline]
    pub fn op(self) -> &'static Op {
        self.0
    }

    /// The number in the table, for arrays indexed by op.
    pub fn index(self) -> usize {
        static INDEX: OnceLock<HashMap<&'static str, usize>> = OnceLock::new();
        let index = INDEX.get_or_init(|| {
            let numbered = ops().iter().enumerate();
            numbered.map(|(k, op)| (op.name, k)).collect()
        });
        // Every op that has an id is in the table.
        index.get(self.0.name).copied().unwrap_or_default()
    }
}

impl fmt::Debug for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.op().name)
    }
}

/// The whole table, family by family.
pub fn ops() -> &'static [&'static Op] {
    &crate::ops::ALL
}

/// A plain value as it can stand in a program's text.
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

const CONSTANTS: [(&str, Constant); 28] = [
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
];

/// A named constant, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(u16);

impl ConstId {
    /// Looks a constant up by name.
    pub fn named(name: &str) -> Option<ConstId> {
        let at = CONSTANTS.iter().position(|(n, _)| *n == name)?;
        Some(ConstId(at as u16))
    }

    /// All constants.
    pub fn all() -> impl ExactSizeIterator<Item = ConstId> {
        (0..CONSTANTS.len() as u16).map(ConstId)
    }

    /// The name in solver files.
    pub fn name(self) -> &'static str {
        CONSTANTS[self.0 as usize].0
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

/// An identifier without the `r#` that Rust's own keywords need: `box` is one.
#[doc(hidden)]
pub const fn unescaped(ident: &'static str) -> &'static str {
    match ident.as_bytes() {
        [b'r', b'#', ..] => ident.split_at(2).1,
        _ => ident,
    }
}

/// Declares one primitive: its documentation, signature and code in one place.
///
/// ```ignore
/// op! {
///     /// The mirror image, top to bottom. An empty set fails.
///     pub hmirror(piece: Piece) -> Piece;
///     example "hmirror(((1, 2), (3, 4)))" => "((3, 4), (1, 2))";
///     fails "hmirror(ONE)";
///     |run| { ... }
/// }
/// ```
///
/// expands to a function `hmirror(run, piece)` and a table entry `hmirror::OP`. Order-sensitive
/// primitives say when order matters before their example: `ordered "a set of several";`.
#[macro_export]
macro_rules! op {
    (
        $(#[doc = $doc:literal])+
        pub $name:ident($($param:ident: $ty:ident),+) -> $returns:ident;
        $(ordered $order:literal;)?
        example $call:literal => $result:literal;
        $(fails $fails:literal;)?
        |$run:ident| $body:block
    ) => {
        $(#[doc = $doc])+
        #[inline]
        pub fn $name<'r>(
            $run: &mut $crate::run::Run<'r>,
            $($param: $crate::value::Value<'r>),+
        ) -> $crate::fault::Outcome<$crate::value::Value<'r>> $body

        #[doc(hidden)]
        pub mod $name {
            use $crate::table::{Code, Op, Param, Type};
            use $crate::value::Returned;
            /// The table entry.
            pub static OP: Op = Op {
                name: $crate::table::unescaped(stringify!($name)),
                family: super::FAMILY,
                params: &[$(Param { name: stringify!($param), ty: Type::$ty }),+],
                returns: Type::$returns,
                order_sensitive: !$crate::op!(@text $($order)?).is_empty(),
                order: $crate::op!(@text $($order)?),
                doc: concat!($($doc, "\n"),+),
                example: ($call, $result),
                fails: $crate::op!(@text $($fails)?),
                code: $crate::op!(@code super::$name, $($param),+),
            };
        }
    };
    (@text) => { "" };
    (@text $text:literal) => { $text };
    (@code $f:path, $a:ident) => {
        Code::One(|run, $a| Returned::new($f(run, $a)))
    };
    (@code $f:path, $a:ident, $b:ident) => {
        Code::Two(|run, $a, $b| Returned::new($f(run, $a, $b)))
    };
    (@code $f:path, $a:ident, $b:ident, $c:ident) => {
        Code::Three(|run, $a, $b, $c| Returned::new($f(run, $a, $b, $c)))
    };
    (@code $f:path, $a:ident, $b:ident, $c:ident, $d:ident) => {
        Code::Four(|run, $a, $b, $c, $d| Returned::new($f(run, $a, $b, $c, $d)))
    };
}
