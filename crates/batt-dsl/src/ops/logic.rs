//! Truth, equality and comparison.

use crate::op;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "logic";

pub(super) const OPS: &[&Op] = &[
    &identity::OP,
    &flip::OP,
    &equality::OP,
    &contained::OP,
    &greater::OP,
    &both::OP,
    &either::OP,
    &branch::OP,
];

op! {
    /// The value itself.
    ///
    /// Never fails.
    pub identity(x: Any) -> Any;
    example "identity(THREE)" => "3";
    |_run| { Ok(x) }
}

op! {
    /// Whether a value counts as false.
    ///
    /// `F`, zero, `None` and empty containers count as false; everything else counts as true,
    /// functions too. Never fails.
    pub flip(b: Boolean) -> Boolean;
    example "flip(F)" => "True";
    |run| { Ok(Value::bool(!run.truth(b))) }
}

op! {
    /// Whether two values are equal.
    ///
    /// Sets are equal when they have the same elements in any order; `T` equals one and `F` zero; a
    /// function equals only itself. Values of different kinds are unequal. Never fails.
    pub equality(a: Any, b: Any) -> Boolean;
    example "equality(initset(ONE), initset(T))" => "True";
    |run| { Ok(Value::bool(run.eq(a, b))) }
}

op! {
    /// Whether a container has an element equal to a value.
    ///
    /// Only direct elements count. Fails when the container is neither a tuple nor a set.
    pub contained(value: Any, container: Container) -> Boolean;
    example "contained(TWO, (1, 2, 3))" => "True";
    fails "contained(ONE, ONE)";
    |run| { Ok(Value::bool(run.contains(value, container)?)) }
}

op! {
    /// Whether the first value is greater than the second.
    ///
    /// Tuples are compared like words in a dictionary. A set is greater than another one when it
    /// contains all of its elements and more. Fails for values of different kinds, for `None` and
    /// for functions.
    pub greater(a: Integer, b: Integer) -> Boolean;
    example "greater(THREE, TWO)" => "True";
    fails "greater(ONE, UNITY)";
    |run| { Ok(Value::bool(run.lt(b, a)?)) }
}

op! {
    /// Logical and: the first value if it counts as false, otherwise the second.
    ///
    /// The result is one of the two values unchanged, not necessarily a boolean. Never fails.
    pub both(a: Boolean, b: Boolean) -> Boolean;
    example "both(T, F)" => "False";
    |run| { Ok(if run.truth(a) { b } else { a }) }
}

op! {
    /// Logical or: the first value if it counts as true, otherwise the second.
    ///
    /// The result is one of the two values unchanged, not necessarily a boolean. Never fails.
    pub either(a: Boolean, b: Boolean) -> Boolean;
    example "either(T, F)" => "True";
    |run| { Ok(if run.truth(a) { a } else { b }) }
}

op! {
    /// One of two values: the first if the condition counts as true, otherwise the second.
    ///
    /// Both values are computed before the call, so the call does not avoid a failure of either.
    /// The call itself never fails.
    pub branch(condition: Boolean, a: Any, b: Any) -> Any;
    example "branch(F, ONE, TWO)" => "2";
    |run| { Ok(if run.truth(condition) { a } else { b }) }
}
