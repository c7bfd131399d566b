//! The elements that satisfy a condition.

use crate::fault::Fault;
use crate::op;
use crate::ops::members::Members;
use crate::value::Value;

use super::{FAMILY, merge};

op! {
    /// The elements that satisfy a condition, in a container of the same kind.
    pub sfilter(container: Container, condition: Callable) -> Container;
    frames 2;
    example "sfilter((1, 2, 3, 4), even)" => "(2, 4)";
    fails "sfilter((1, 2), THREE)";
    |run| {
        let members = Members::of(run, container)?;
        let kept = members.select(run, condition)?;
        let left = members.keep(run, &kept);
        run.give_numbers(kept);
        left
    }
}

op! {
    /// The elements of all members that satisfy a condition, merged.
    ///
    /// The result is of the outer container's kind.
    pub mfilter(container: Container, function: Callable) -> FrozenSet;
    ordered "a tuple that holds a set of several elements";
    frames 1;
    example "mfilter(((1, 2), (3,), (4, 5)), matcher(size, TWO))" => "(1, 2, 4, 5)";
    fails "mfilter((1, 2), even)";
    |run| {
        let kept = sfilter(run, container, function)?;
        merge(run, kept)
    }
}

op! {
    /// The first element that satisfies a condition.
    ///
    /// Later elements are not tested. Fails when no element satisfies the condition.
    pub extract(container: Container, condition: Callable) -> Any;
    ordered "a set in which several elements satisfy the condition";
    frames 2;
    example "extract((1, 2, 3, 4), even)" => "2";
    fails "extract((1, 3), even)";
    |run| {
        let members = Members::of(run, container)?;
        // A set needs no order if just one element satisfies the condition and none fails. All
        // elements are tested even if the order is known, so that the cost does not depend on
        // whether another solver has computed it.
        if let Members::Set(set) = members
            && let Ok(kept) = members.select(run, condition)
        {
            match *kept {
                [] => return Err(Fault::StopIteration),
                [k] => return Ok(set.elems.get(k as usize)),
                _ => {
                    for &k in set.order(run)? {
                        if kept.contains(&k) {
                            return Ok(set.elems.get(k as usize));
                        }
                    }
                }
            }
        }
        let order = members.order(run)?;
        run.in_loop(|run, state| {
            for k in order {
                let element = members.get(k as usize);
                let accepted = run.test_in_loop(state, condition, element);
                if accepted.map_err(Fault::through_generator)? {
                    return Ok(element);
                }
            }
            Err(Fault::StopIteration)
        })
    }
}

op! {
    /// The members with a given number of elements, as a set.
    ///
    /// Fails when a member has no size.
    pub sizefilter(container: Container, n: Integer) -> FrozenSet;
    example "sizefilter(((1, 2), (3,), (4, 5)), ONE)" => "frozenset({(3,)})";
    fails "sizefilter((1, 2), ONE)";
    |run| {
        let members = Members::of(run, container)?;
        let mut kept = run.take_numbers();
        for k in 0..members.len() {
            let size = Value::Int(run.len(members.get(k))? as i64);
            if run.eq(size, n) {
                kept.push(k as u32);
            }
        }
        let filtered = members.keep_in_set(run, &kept);
        run.give_numbers(kept);
        filtered
    }
}
