//! Truth, equality and choice.

use crate::ops::logic;
use crate::table::Op;

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
    &c_branch::OP,
];

safe! {
    /// The value itself.
    pub identity(x: Any) -> Any = logic::identity;
}

safe! {
    /// Whether a value counts as false.
    pub flip(b: Boolean) -> Boolean = logic::flip;
}

safe! {
    /// Whether two values are equal. A nan equals nothing, but a container that holds it equals
    /// itself.
    pub equality(a: Any, b: Any) -> Boolean = logic::equality;
}

safe! {
    /// Whether a container has an element equal to a value. The nan that stands for a missing
    /// number is found.
    pub contained(value: Any, container: Container) -> Boolean = logic::contained;
}

safe! {
    /// Whether the first value is greater than the second.
    pub greater(a: Integer, b: Integer) -> Boolean = logic::greater;
}

safe! {
    /// Logical and: the first value if it counts as false, otherwise the second.
    pub both(a: Boolean, b: Boolean) -> Boolean = logic::both;
}

safe! {
    /// Logical or: the first value if it counts as true, otherwise the second.
    pub either(a: Boolean, b: Boolean) -> Boolean = logic::either;
}

safe! {
    /// One of two values: the first if the condition counts as true, otherwise the second.
    pub branch(condition: Boolean, a: Any, b: Any) -> Any = logic::branch;
}

safe! {
    /// One of two colours: the first if the condition counts as true, otherwise the second.
    pub c_branch(condition: Boolean, a: C_, b: C_) -> Any = logic::branch;
}
