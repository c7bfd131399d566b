//! Arithmetic. The empty tuple, a missing value, stands for the neutral element.

use crate::ops::arithmetic;
use crate::run::Run;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "arithmetic";

pub(super) const OPS: &[&Op] = &[&add::OP, &subtract::OP, &even::OP];

/// `neutral` for the empty tuple, anything else as it is.
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
    /// Whether a number is even.
    pub even(n: Integer) -> Boolean = arithmetic::even;
}
