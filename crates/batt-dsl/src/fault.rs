//! Faults: the reasons why a run ends without a value.

use std::fmt;

/// A failed run: the exception that Python would raise, or the limit that was reached.
///
/// It is small and `Copy` because faults are ordinary results of a search, produced by the million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u64)] // a whole word, so that an outcome is copied like a value
pub enum Fault {
    /// A value of the wrong kind, a call with the wrong number of arguments (`TypeError`).
    Type,
    /// A position outside a tuple (`IndexError`).
    Index,
    /// A position that Python looks up in a dictionary without finding it (`KeyError`).
    Key,
    /// A value without the requested method (`AttributeError`).
    Attribute,
    /// An empty `max`/`min`, a failed unpacking, a zero step (`ValueError`).
    Value,
    /// `first` or a similar primitive applied to an empty container (`StopIteration`).
    StopIteration,
    /// A `StopIteration` that crossed a generator expression (`RuntimeError`).
    Runtime,
    /// Division or remainder by zero (`ZeroDivisionError`).
    ZeroDivision,
    /// Calls deeper than Python's stack allows, or values nested too deeply (`RecursionError`).
    Recursion,
    /// An integer left the 64-bit range, where Python would continue with a larger one.
    Overflow,
    /// The run spent its step budget.
    Steps,
    /// One value grew past the size limit.
    Size,
    /// The run's values together grew past the memory limit.
    Memory,
    /// The run took longer than the clock allows.
    Time,
}

impl Fault {
    /// Every fault, for tables and statistics.
    pub const ALL: [Fault; 14] = [
        Fault::Type,
        Fault::Index,
        Fault::Key,
        Fault::Attribute,
        Fault::Value,
        Fault::StopIteration,
        Fault::Runtime,
        Fault::ZeroDivision,
        Fault::Recursion,
        Fault::Overflow,
        Fault::Steps,
        Fault::Size,
        Fault::Memory,
        Fault::Time,
    ];

    /// Returns the name used in reports: Python's exception class, or a name of our own for a
    /// limit.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Type => "TypeError",
            Fault::Index => "IndexError",
            Fault::Key => "KeyError",
            Fault::Attribute => "AttributeError",
            Fault::Value => "ValueError",
            Fault::StopIteration => "StopIteration",
            Fault::Runtime => "RuntimeError",
            Fault::ZeroDivision => "ZeroDivisionError",
            Fault::Recursion => "RecursionError",
            Fault::Overflow => "IntegerOverflow",
            Fault::Steps => "StepLimit",
            Fault::Size => "SizeLimit",
            Fault::Memory => "MemoryLimit",
            Fault::Time => "TimeLimit",
        }
    }

    /// Returns whether the fault is not an exception of Python but a limit: of the run, or of
    /// 64-bit integers.
    pub fn is_limit(self) -> bool {
        matches!(
            self,
            Fault::Overflow | Fault::Steps | Fault::Size | Fault::Memory | Fault::Time
        )
    }

    /// Returns a phrase that explains the fault.
    pub fn explain(self) -> &'static str {
        match self {
            Fault::Type => "a value of the wrong kind, or a wrong number of arguments",
            Fault::Index => "a position outside the tuple",
            Fault::Key => "a corner that a grid of more than two columns does not have",
            Fault::Attribute => "a value of the wrong kind",
            Fault::Value => "an empty container, one of the wrong size, or a step of zero",
            Fault::StopIteration => "there is no first element",
            Fault::Runtime => "there is no first element, inside a loop",
            Fault::ZeroDivision => "division by zero",
            Fault::Recursion => "nested too deeply",
            Fault::Overflow => "an integer left the 64-bit range",
            Fault::Steps => "the run spent its step budget",
            Fault::Size => "a value grew past the size limit",
            Fault::Memory => "the run grew past its memory limit",
            Fault::Time => "the run took longer than its time limit",
        }
    }

    /// Returns the fault as it leaves a Python generator expression (PEP 479).
    pub(crate) fn through_generator(self) -> Fault {
        match self {
            Fault::StopIteration => Fault::Runtime,
            other => other,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.explain())
    }
}

impl std::error::Error for Fault {}

/// The result of a primitive.
pub type Outcome<T> = Result<T, Fault>;
