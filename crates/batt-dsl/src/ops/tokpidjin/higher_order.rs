//! Functions that take or make functions. A closure fails as in arc-dsl, and the primitive that
//! calls it falls back.

use crate::fault::{Fault, Outcome};
use crate::ops::container::{self, merge_tuple};
use crate::ops::higher_order;
use crate::ops::members::Members;
use crate::run::Run;
use crate::set::Walk;
use crate::table::{Fallback, Op};
use crate::value::{ClosureForm, Value};

const FAMILY: &str = "higher order";

pub(super) const OPS: &[&Op] = &[
    &compose::OP,
    &chain::OP,
    &matcher::OP,
    &rbind::OP,
    &lbind::OP,
    &power::OP,
    &fork::OP,
    &apply::OP,
    &apply_t::OP,
    &apply_f::OP,
    &rapply::OP,
    &rapply_t::OP,
    &rapply_f::OP,
    &mapply::OP,
    &mapply_t::OP,
    &mapply_f::OP,
    &papply::OP,
    &mpapply::OP,
    &prapply::OP,
];

safe! {
    /// The composition of two functions: the inner one is applied first.
    pub compose(outer: Callable, inner: Callable) -> Callable = higher_order::compose;
}

safe! {
    /// The composition of three functions: the last one is applied first.
    pub chain(h: Callable, g: Callable, f: Callable) -> Callable = higher_order::chain;
}

safe! {
    /// The function that tests whether another function's value equals a target.
    pub matcher(function: Callable, target: Any) -> Callable = higher_order::matcher;
}

safe! {
    /// The function with its last argument fixed.
    pub rbind(function: Callable, fixed: Any) -> Callable = higher_order::rbind;
}

safe! {
    /// The function with its first argument fixed.
    pub lbind(function: Callable, fixed: Any) -> Callable = higher_order::lbind;
}

safe! {
    /// The function applied a number of times in a row. A number below one, or one that is too
    /// large, gives a function that fails.
    pub power(function: Callable, n: Integer) -> Callable;
    |run| {
        match (n.integral(), n) {
            (Some(1), _) => Ok(function),
            (Some(n), _) if (2..MOST_TIMES).contains(&n) => {
                run.closure(1, ClosureForm::Power(function, n as u32))
            }
            // The original counts down until its stack is full. The innermost call then returns
            // `()`, which is not a function, and `()` becomes the innermost function of the
            // composition.
            (Some(_), _) | (None, Value::Float(_)) => {
                run.closure(1, ClosureForm::Compose(function, Value::EMPTY_TUPLE))
            }
            _ => Err(Fault::Type),
        }
    }
}

/// The first number from which counting down fills the stack: CPython's limit is a thousand frames,
/// and each step takes two.
const MOST_TIMES: i64 = 495;

safe! {
    /// The function that applies an outer function to the values of two inner ones.
    pub fork(outer: Callable, a: Callable, b: Callable) -> Callable = higher_order::fork;
}

safe! {
    /// The values of a function on all elements, in a container of the same kind.
    pub apply(function: Callable, container: Container) -> Container = higher_order::apply;
}

safe! {
    /// The values of a function on all elements, always as a tuple.
    pub apply_t(function: Callable, container: Tuple) -> Tuple;
    ordered "a set of several elements";
    |run| {
        if container.is_tuple() {
            return higher_order::apply(run, function, container);
        }
        let images = images_in_order(run, function, container)?;
        run.tuple_of(images)
    }
}

/// Returns the values of a function on all elements, in iteration order.
fn images_in_order<'r>(
    run: &mut Run<'r>,
    function: Value<'r>,
    container: Value<'r>,
) -> Outcome<&'r [Value<'r>]> {
    let items = run.items(container)?;
    run.in_frames(2, |run| Members::Tuple(items).map(run, function))
}

safe! {
    /// The values of a function on all elements, in a container of the same kind.
    pub apply_f(function: Callable, container: FrozenSet) -> FrozenSet = higher_order::apply;
}

safe! {
    /// The values of several functions on one argument, in a container of the functions' kind.
    pub rapply(functions: Container, value: Any) -> Container = higher_order::rapply;
}

safe! {
    /// The values of several functions on one argument, always as a tuple.
    pub rapply_t(functions: Tuple, value: Any) -> Tuple;
    ordered "a set of several elements";
    |run| {
        let functions = container::totuple(run, functions)?;
        higher_order::rapply(run, functions, value)
    }
}

safe! {
    /// The values of several functions on one argument, in a container of the functions' kind.
    pub rapply_f(functions: FrozenSet, value: Any) -> FrozenSet = higher_order::rapply;
}

safe! {
    /// The values of a function on all elements, merged into one container of the container's kind.
    pub mapply(function: Callable, container: ContainerContainer) -> FrozenSet;
    ordered "a tuple whose elements the function maps to sets of several elements";
    |run| {
        // Both `apply` and `merge` fall back to `()`, and `()` merged is `()` again.
        match higher_order::mapply(run, function, container) {
            Ok(merged) => Ok(merged),
            Err(fault) => run.fall_back(fault, Fallback::EmptyTuple),
        }
    }
}

safe! {
    /// The values of a function on all elements, merged into a tuple.
    pub mapply_t(function: Callable, container: Tuple) -> Tuple;
    ordered "a set of several elements, given or produced";
    |run| {
        let images = images_in_order(run, function, container)?;
        merge_tuple(run, images)
    }
}

safe! {
    /// The values of a function on all elements, merged into one container of the container's kind.
    pub mapply_f(function: Callable, container: FrozenSet) -> FrozenSet;
    ordered "a tuple whose elements the function maps to sets of several elements";
    |run| {
        let members = Members::of(run, container)?;
        // A missing value makes `apply_f` fall back to the empty set; a value that is not a
        // container makes `merge_f` fall back to `()`.
        let images = run.in_frames(3, |run| members.map(run, function))?;
        let merged = match members {
            Members::Set(set) => run.set_merge(Walk::Mapped(set), images).map(Value::Set),
            Members::Tuple(_) => merge_tuple(run, images),
        };
        match merged {
            Ok(merged) => Ok(merged),
            Err(fault) => run.fall_back(fault, Fallback::EmptyTuple),
        }
    }
}

safe! {
    /// The values of a function on the elements of two containers paired by position, as a tuple.
    pub papply(function: Callable, a: Tuple, b: Tuple) -> Tuple = higher_order::papply;
    ordered "a set of several elements";
}

safe! {
    /// The values of a function on the elements of two containers paired by position, merged into a
    /// tuple.
    pub mpapply(function: Callable, a: Tuple, b: Tuple) -> Tuple = higher_order::mpapply;
    ordered "a set of several elements, given or produced";
}

safe! {
    /// The values of a function on all pairs of elements of two containers, as a set.
    pub prapply(function: Any, a: Container, b: Container) -> FrozenSet = higher_order::prapply;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::ops::tokpidjin::arithmetic::increment;
    use crate::owned::OwnedFloat;
    use crate::owned::OwnedValue::{self, Bool, Float, Int, Tuple};
    use crate::run::{Limits, Workspace};
    use crate::table::OpId;

    /// Evaluates `power(increment, n)(0)`.
    fn raised(n: OwnedValue) -> Outcome<Option<i64>> {
        Workspace::new().run(Dialect::Tokpidjin, &Limits::default(), |run| {
            let n = run.from_owned(&n)?;
            let function = power(run, Value::Op(OpId::of(&increment::OP)), n)?;
            Ok(run.call1(function, Value::Int(0))?.as_int())
        })
    }

    #[test]
    fn power_counts_down_to_one_or_never_stops() {
        for (n, times) in [(1, 1), (2, 2), (6, 6)] {
            assert_eq!(raised(Int(n)), Ok(Some(times)));
        }
        assert_eq!(raised(Bool(true)), Ok(Some(1)));
        assert_eq!(raised(Float(OwnedFloat::new(3.0))), Ok(Some(3)));
        // The original fills its stack and returns a function that fails.
        for n in [0, -1, 1_000_000] {
            assert_eq!(raised(Int(n)), Err(Fault::Type));
        }
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.5] {
            assert_eq!(raised(Float(OwnedFloat::new(x))), Err(Fault::Type));
        }
        // Any other value is an error at once, so the result is the function that returns `()`.
        assert_eq!(raised(OwnedValue::None), Ok(None));
        assert_eq!(raised(Tuple(Vec::new())), Ok(None));
    }

    #[test]
    fn binding_a_value_that_is_not_a_function_gives_the_fallback() {
        Workspace::new()
            .run(Dialect::Tokpidjin, &Limits::default(), |run| {
                let fallback = rbind(run, Value::Int(5), Value::Int(1))?;
                assert_eq!(run.arity(fallback)?, 0);
                let bound = lbind(run, fallback, Value::Int(1))?;
                assert_eq!(run.arity(bound)?, 3);
                let result = run.call3(bound, Value::None, Value::None, Value::None)?;
                assert_eq!(run.tuple_len(result), Some(0));
                Ok::<_, Fault>(())
            })
            .unwrap();
    }

    #[test]
    fn a_limit_is_not_replaced_by_a_fallback() {
        Workspace::new()
            .run(Dialect::Tokpidjin, &Limits::default(), |run| {
                let huge = run.int_pair(i64::MAX, 0)?;
                let outcome = apply(run, Value::Op(OpId::of(&increment::OP)), huge);
                assert_eq!(outcome.err(), Some(Fault::Overflow));
                assert_eq!(run.fallbacks(), 0);
                Ok::<_, Fault>(())
            })
            .unwrap();
    }
}
