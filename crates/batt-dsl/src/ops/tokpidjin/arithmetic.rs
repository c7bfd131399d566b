//! Arithmetic. The empty tuple stands for a missing value and counts as the neutral element.

use crate::ops::arithmetic;
use crate::run::Run;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "arithmetic";

pub(super) const OPS: &[&Op] = &[
    &add::OP,
    &subtract::OP,
    &multiply::OP,
    &divide::OP,
    &invert::OP,
    &even::OP,
    &double::OP,
    &halve::OP,
    &increment::OP,
    &decrement::OP,
    &crement::OP,
    &sign::OP,
    &positive::OP,
    &toivec::OP,
    &tojvec::OP,
];

/// Returns `neutral` for the empty tuple, and any other value unchanged.
#[inline(always)]
fn or_neutral<'r>(run: &Run<'r>, v: Value<'r>, neutral: i64) -> Value<'r> {
    if run.tuple_len(v) == Some(0) {
        return Value::Int(neutral);
    }
    v
}

safe! {
    /// The sum of two numbers or vectors; `()` counts as 0.
    pub add(a: Numerical, b: Numerical) -> Numerical;
    |run| {
        let (a, b) = (or_neutral(run, a, 0), or_neutral(run, b, 0));
        arithmetic::add(run, a, b)
    }
}

safe! {
    /// The difference of two numbers or vectors; `()` counts as 0.
    pub subtract(a: Numerical, b: Numerical) -> Numerical;
    |run| {
        let (a, b) = (or_neutral(run, a, 0), or_neutral(run, b, 0));
        arithmetic::subtract(run, a, b)
    }
}

safe! {
    /// The product of two numbers, or of vectors component by component; `()` counts as 1.
    pub multiply(a: Numerical, b: Numerical) -> Numerical;
    |run| {
        let (a, b) = (or_neutral(run, a, 1), or_neutral(run, b, 1));
        arithmetic::multiply(run, a, b)
    }
}

safe! {
    /// The quotient of two numbers or vectors, rounded down; `()` counts as 1.
    pub divide(a: Numerical, b: Numerical) -> Numerical;
    |run| {
        let (a, b) = (or_neutral(run, a, 1), or_neutral(run, b, 1));
        arithmetic::divide(run, a, b)
    }
}

safe! {
    /// The number or vector with its sign reversed.
    pub invert(n: Numerical) -> Numerical = arithmetic::invert;
}

safe! {
    /// Whether a number is divisible by two. A float is divisible if its remainder is zero.
    pub even(n: Integer) -> Boolean;
    |run| {
        match n {
            Value::Float(x) => Ok(Value::bool(x.get() % 2.0 == 0.0)),
            _ => arithmetic::even(run, n),
        }
    }
}

safe! {
    /// Twice the number or vector.
    pub double(n: Numerical) -> Numerical = arithmetic::double;
}

safe! {
    /// Half of the number or vector, rounded down.
    pub halve(n: Numerical) -> Numerical = arithmetic::halve;
}

safe! {
    /// The number plus one; for a vector, both components plus one.
    pub increment(x: Numerical) -> Numerical = arithmetic::increment;
}

safe! {
    /// The number minus one; for a vector, both components minus one.
    pub decrement(x: Numerical) -> Numerical = arithmetic::decrement;
}

safe! {
    /// The number moved one step away from zero; for a vector, both components moved.
    pub crement(x: Numerical) -> Numerical = arithmetic::crement;
}

safe! {
    /// The sign of a number, `-1`, `0` or `1`; for a vector, of both components.
    pub sign(x: Numerical) -> Numerical = arithmetic::sign;
}

safe! {
    /// Whether a number, or a float, is greater than zero.
    pub positive(x: Integer) -> Boolean;
    |run| {
        match x {
            Value::Float(x) => Ok(Value::bool(x.get() > 0.0)),
            _ => arithmetic::positive(run, x),
        }
    }
}

safe! {
    /// The vector that points down by a number: `(i, 0)`.
    pub toivec(i: Integer) -> IJ = arithmetic::toivec;
}

safe! {
    /// The vector that points right by a number: `(0, j)`.
    pub tojvec(j: Integer) -> IJ = arithmetic::tojvec;
}
