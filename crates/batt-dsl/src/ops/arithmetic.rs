//! Arithmetic on integers and on vectors. Operations on pairs work component by component.

use crate::fault::{Fault, Outcome};
use crate::op;
use crate::python::floor_div;
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
    &astuple::OP,
];

/// Applies a binary operation: two integers give one, anything with a tuple gives a pair made from
/// components 0 and 1. An integer stands for both components. `numbers` is the operation on plain
/// integers.
#[inline(always)]
fn binary<'r>(
    run: &mut Run<'r>,
    a: Value<'r>,
    b: Value<'r>,
    numbers: impl Fn(i64, i64) -> Outcome<i64>,
    operation: impl Fn(&mut Run<'r>, Value<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    // Plain integers and pairs of them come first, because nearly all arguments are of these kinds.
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => return numbers(a, b).map(Value::Int),
        (Value::Pair(a), Value::Pair(b)) => {
            let (a, b) = (a.get(), b.get());
            let i = numbers(a.i.into(), b.i.into())?;
            let j = numbers(a.j.into(), b.j.into())?;
            return run.int_pair(i, j);
        }
        (Value::Pair(a), Value::Int(b)) => {
            let a = a.get();
            let (i, j) = (numbers(a.i.into(), b)?, numbers(a.j.into(), b)?);
            return run.int_pair(i, j);
        }
        (Value::Int(a), Value::Pair(b)) => {
            let b = b.get();
            let (i, j) = (numbers(a, b.i.into())?, numbers(a, b.j.into())?);
            return run.int_pair(i, j);
        }
        _ => {}
    }
    let a_is_int = a.as_int().is_some();
    if a_is_int && b.as_int().is_some() {
        return operation(run, a, b);
    }
    // A left operand that is neither integer nor tuple cannot be indexed. A right operand that is
    // neither goes to the operation whole, because a set can be subtracted from sets.
    let fixed_a = a_is_int && b.is_tuple();
    let fixed_b = !b.is_tuple();
    let mut component = |k: i64| {
        let x = if fixed_a { a } else { run.at(a, k)? };
        let y = if fixed_b { b } else { run.at(b, k)? };
        operation(run, x, y)
    };
    let (first, second) = (component(0)?, component(1)?);
    run.pair(first, second)
}

/// Applies a unary operation to an integer, or to components 0 and 1 of a tuple. `numbers` is the
/// operation on plain integers.
#[inline(always)]
fn unary<'r>(
    run: &mut Run<'r>,
    x: Value<'r>,
    numbers: impl Fn(i64) -> Outcome<i64>,
    operation: impl Fn(&mut Run<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    match x {
        Value::Int(n) => return numbers(n).map(Value::Int),
        Value::Pair(pair) => {
            let pair = pair.get();
            let (i, j) = (numbers(pair.i.into())?, numbers(pair.j.into())?);
            return run.int_pair(i, j);
        }
        _ => {}
    }
    if x.as_int().is_some() {
        return operation(run, x);
    }
    let first = run.at(x, 0)?;
    let first = operation(run, first)?;
    let second = run.at(x, 1)?;
    let second = operation(run, second)?;
    run.pair(first, second)
}

/// Wraps an operation that may leave the 64-bit range.
fn checked(operation: fn(i64, i64) -> Option<i64>) -> impl Fn(i64, i64) -> Outcome<i64> {
    move |a, b| operation(a, b).ok_or(Fault::Overflow)
}

/// Returns the number, or the error that Python's comparison with 0 raises.
#[inline(always)]
fn number(v: Value<'_>) -> Outcome<i64> {
    v.as_int().ok_or(Fault::Type)
}

/// Returns the sign of a float by Python's comparisons. A nan is neither zero nor positive, so its
/// sign is -1.
fn toward(x: f64) -> i64 {
    if x == 0.0 {
        0
    } else if x > 0.0 {
        1
    } else {
        -1
    }
}

op! {
    /// The sum of two numbers or vectors.
    ///
    /// An integer is added to both components of a pair. Only the first two components of a tuple
    /// count, and the result has two. Components that are tuples themselves are joined end to end.
    /// Fails for sets, for functions, for `None` and for tuples of fewer than two components.
    pub add(a: Numerical, b: Numerical) -> Numerical;
    example "add(UNITY, (4, 5))" => "(5, 6)";
    fails "add(ONE, initset(TWO))";
    |run| { binary(run, a, b, checked(i64::checked_add), |run, x, y| run.add(x, y)) }
}

op! {
    /// The difference of two numbers or vectors.
    ///
    /// An integer pairs up with both components of a pair. Only the first two components of a tuple
    /// count, and the result has two. Components that are sets are subtracted as sets; a single set
    /// on the right is subtracted from both. Fails for other kinds and for tuples of fewer than two
    /// components.
    pub subtract(a: Numerical, b: Numerical) -> Numerical;
    example "subtract(TEN, UNITY)" => "(9, 9)";
    fails "subtract(initset(ONE), initset(ONE))";
    |run| { binary(run, a, b, checked(i64::checked_sub), |run, x, y| run.sub(x, y)) }
}

op! {
    /// The product of two numbers, or of vectors component by component.
    ///
    /// An integer pairs up with both components of a pair. Only the first two components of a tuple
    /// count, and the result has two. A component that is a tuple itself is repeated that many
    /// times. Fails for other kinds and for tuples of fewer than two components.
    pub multiply(a: Numerical, b: Numerical) -> Numerical;
    example "multiply(THREE, DOWN_LEFT)" => "(3, -3)";
    fails "multiply(UP, ())";
    |run| { binary(run, a, b, checked(i64::checked_mul), |run, x, y| run.mul(x, y)) }
}

op! {
    /// The quotient of two numbers, or of vectors component by component, rounded down.
    ///
    /// Rounding is toward minus infinity. An integer pairs up with both components of a pair. Only
    /// the first two components of a tuple count, and the result has two. Fails for a divisor of
    /// zero, for anything but integers, and for tuples of fewer than two components.
    pub divide(a: Numerical, b: Numerical) -> Numerical;
    example "divide((-7, 7), TWO)" => "(-4, 3)";
    fails "divide(UNITY, RIGHT)";
    |run| { binary(run, a, b, floor_div, |run, x, y| run.fdiv(x, y)) }
}

op! {
    /// The number or vector with its sign reversed.
    ///
    /// Only the first two components of a tuple count. Fails for anything but an integer or a tuple
    /// that starts with two integers.
    pub invert(n: Numerical) -> Numerical;
    example "invert(DOWN_LEFT)" => "(-1, 1)";
    fails "invert(initset(ONE))";
    |run| { unary(run, n, |n| n.checked_neg().ok_or(Fault::Overflow), |run, x| run.neg(x)) }
}

op! {
    /// Whether a number is divisible by two.
    ///
    /// Fails for anything but an integer.
    pub even(n: Integer) -> Boolean;
    example "even(SIX)" => "True";
    fails "even(UNITY)";
    |_run| { Ok(Value::bool(number(n)? & 1 == 0)) }
}

op! {
    /// Twice the number or vector.
    ///
    /// Only the first two components of a tuple count; one that is a tuple itself is repeated.
    /// Fails for other kinds and for tuples of fewer than two components.
    pub double(n: Numerical) -> Numerical;
    example "double((2, -3))" => "(4, -6)";
    fails "double(())";
    |run| { unary(run, n, |n| checked(i64::checked_mul)(n, 2), |run, x| run.mul(x, Value::Int(2))) }
}

op! {
    /// Half of the number or vector, rounded down.
    ///
    /// Rounding is toward minus infinity. Only the first two components of a tuple count. Fails for
    /// anything but an integer or a tuple that starts with two integers.
    pub halve(n: Numerical) -> Numerical;
    example "halve((5, -3))" => "(2, -2)";
    fails "halve(initset(TWO))";
    |run| { unary(run, n, |n| floor_div(n, 2), |run, x| run.fdiv(x, Value::Int(2))) }
}

op! {
    /// The number plus one; for a vector, both components plus one.
    ///
    /// Only the first two components of a tuple count. Fails for anything but an integer or a tuple
    /// that starts with two integers.
    pub increment(x: Numerical) -> Numerical;
    example "increment(TWO_BY_ZERO)" => "(3, 1)";
    fails "increment(())";
    |run| { unary(run, x, |n| checked(i64::checked_add)(n, 1), |run, x| run.add(x, Value::Int(1))) }
}

op! {
    /// The number minus one; for a vector, both components minus one.
    ///
    /// Only the first two components of a tuple count. Fails for anything but an integer or a tuple
    /// that starts with two integers.
    pub decrement(x: Numerical) -> Numerical;
    example "decrement(TWO_BY_ZERO)" => "(1, -1)";
    fails "decrement(())";
    |run| { unary(run, x, |n| checked(i64::checked_sub)(n, 1), |run, x| run.sub(x, Value::Int(1))) }
}

op! {
    /// The number moved one step away from zero; for a vector, both components moved.
    ///
    /// Zero stays zero. Only the first two components of a tuple count. Fails for anything but an
    /// integer or a tuple that starts with two integers.
    pub crement(x: Numerical) -> Numerical;
    example "crement((-2, 0))" => "(-3, 0)";
    fails "crement(initset(ONE))";
    |run| {
        let step = |n: i64| n.checked_add(n.signum()).ok_or(Fault::Overflow);
        unary(run, x, step, |run, x| match x {
            Value::Float(float) => match toward(float.get()) {
                0 => Ok(Value::Int(0)),
                step => run.add(x, Value::Int(step)),
            },
            _ => step(number(x)?).map(Value::Int),
        })
    }
}

op! {
    /// The sign of a number, `-1`, `0` or `1`; for a vector, of both components.
    ///
    /// Only the first two components of a tuple count. Fails for anything but an integer or a tuple
    /// that starts with two integers.
    pub sign(x: Numerical) -> Numerical;
    example "sign((-5, 3))" => "(-1, 1)";
    fails "sign(initset(ONE))";
    |run| {
        unary(run, x, |n| Ok(n.signum()), |_, x| match x {
            Value::Float(x) => Ok(Value::Int(toward(x.get()))),
            _ => Ok(Value::Int(number(x)?.signum())),
        })
    }
}

op! {
    /// Whether a number is greater than zero.
    ///
    /// Fails for anything but an integer.
    pub positive(x: Integer) -> Boolean;
    example "positive(NEG_ONE)" => "False";
    fails "positive(UNITY)";
    |_run| { Ok(Value::bool(number(x)? > 0)) }
}

op! {
    /// The vector that points down by a number: `(i, 0)`.
    ///
    /// Takes any value and never fails.
    pub toivec(i: Integer) -> Pair;
    example "toivec(THREE)" => "(3, 0)";
    |run| { run.pair(i, Value::Int(0)) }
}

op! {
    /// The vector that points right by a number: `(0, j)`.
    ///
    /// Takes any value and never fails.
    pub tojvec(j: Integer) -> Pair;
    example "tojvec(THREE)" => "(0, 3)";
    |run| { run.pair(Value::Int(0), j) }
}

op! {
    /// The pair of two values.
    ///
    /// Takes any values and never fails.
    pub astuple(a: Any, b: Any) -> Pair;
    example "astuple(TWO, FIVE)" => "(2, 5)";
    |run| { run.pair(a, b) }
}
