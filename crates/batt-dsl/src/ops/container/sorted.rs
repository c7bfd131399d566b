//! Elements sorted by a key, and the computation of keys.

use std::cmp::Ordering;

use crate::fault::{Fault, Outcome};
use crate::op;
use crate::ops::members::Members;
use crate::ops::sort::sort;
use crate::run::Run;
use crate::value::Value;

use super::FAMILY;

op! {
    /// The elements as a tuple, sorted by a key function.
    ///
    /// The order is ascending, and equal keys keep their order. The function `None` sorts the
    /// elements themselves. Fails when two keys cannot be compared.
    pub order(container: Container, compfunc: Callable) -> Tuple;
    ordered "a set in which two elements have the same key";
    frames 2;
    example "order(((1, 2, 3), (4,), (5, 6)), size)" => "((4,), (5, 6), (1, 2, 3))";
    fails "order((1, (2, 3)), identity)";
    |run| {
        if let Value::Row(row) = container
            && is_identity(compfunc)
        {
            run.spend(row.cells.len())?;
            let cells = run.slice_filled(row.cells.len(), 0)?;
            cells.copy_from_slice(row.cells);
            cells.sort_unstable();
            return run.row(cells);
        }
        let members = Members::of(run, container)?;
        let keys = keys(run, members, compfunc)?;
        run.spend(keys.len())?;
        let sorted = match int_keys(keys) {
            Some(keys) => {
                let mut numbers: Vec<u32> = (0..keys.len() as u32).collect();
                numbers.sort_by_key(|&k| keys[k as usize]);
                let ties = numbers.windows(2).any(|w| keys[w[0] as usize] == keys[w[1] as usize]);
                if ties && !members.in_order() {
                    numbers = members.order(run)?;
                    numbers.sort_by_key(|&k| keys[k as usize]);
                }
                numbers
            }
            None => {
                let numbers = members.order(run)?;
                sort(run, numbers, keys)?
            }
        };
        let items: Vec<_> = sorted.iter().map(|&k| members.get(k as usize)).collect();
        run.tuple(&items)
    }
}

/// Returns whether a key function returns the elements unchanged.
fn is_identity(compfunc: Value<'_>) -> bool {
    match compfunc {
        Value::None => true,
        Value::Op(id) => {
            id.is(&crate::ops::logic::identity::OP)
                || std::ptr::eq(id.op(), &crate::ops::tokpidjin::identity::OP)
        }
        _ => false,
    }
}

/// Returns the keys of all elements, by number. If the function is `None`, the keys are the
/// elements themselves.
pub(in crate::ops) fn keys<'r>(
    run: &mut Run<'r>,
    members: Members<'r>,
    compfunc: Value<'r>,
) -> Outcome<&'r [Value<'r>]> {
    match members {
        Members::Tuple(items) if is_identity(compfunc) => Ok(items),
        _ if is_identity(compfunc) => run.slice_from((0..members.len()).map(|k| members.get(k))),
        _ => members.map(run, compfunc),
    }
}

/// Returns the keys of all elements for finding an extreme element.
pub(super) fn keys_to_compare<'r>(
    run: &mut Run<'r>,
    members: Members<'r>,
    compfunc: Value<'r>,
    direction: Ordering,
) -> Outcome<&'r [Value<'r>]> {
    if is_identity(compfunc) {
        return keys(run, members, compfunc);
    }
    if let Some(keys) = run.map_in_columns(members, compfunc) {
        return keys;
    }
    let keys = run.slice_filled(members.len(), Value::None)?;
    let mut failed = Vec::new();
    match members.map_into(run, compfunc, keys, &mut failed) {
        Ok(()) => Ok(keys),
        Err(fault) => {
            let key = |k: usize| match failed.binary_search_by_key(&k, |&(k, _)| k) {
                Ok(at) => Err(failed[at].1),
                Err(_) => Ok(keys[k]),
            };
            Err(first_fault_in_python(run, members, key, fault, direction))
        }
    }
}

/// Returns the fault that Python raises first when some keys cannot be computed. Python compares
/// each key with the best so far before it computes the next, so two earlier keys may be
/// incomparable. No key is computed again: if the function does the same inside, each level of
/// nesting would double the calls.
#[cold]
fn first_fault_in_python<'r>(
    run: &mut Run<'r>,
    members: Members<'r>,
    key: impl Fn(usize) -> Outcome<Value<'r>>,
    fault: Fault,
    direction: Ordering,
) -> Fault {
    if fault.is_limit() || fault == Fault::Type || run.dialect.never_fails() {
        return fault;
    }
    let is_number =
        |key: Outcome<Value<'_>>| key.is_err() || key.is_ok_and(|key| key.as_int().is_some());
    if !members.in_order() && (0..members.len()).all(|k| is_number(key(k))) {
        return fault;
    }
    let mut meet = || {
        let mut best: Option<Value<'r>> = None;
        for k in members.order(run)? {
            let key = key(k as usize)?;
            best = match best {
                Some(best) if run.extreme(&[best, key], direction)? == Some(0) => Some(best),
                _ => Some(key),
            };
        }
        Err(fault)
    };
    match meet() {
        Ok(()) => fault,
        Err(first) => first,
    }
}

/// Returns the keys as plain integers, if all are.
pub(in crate::ops) fn int_keys(keys: &[Value<'_>]) -> Option<Vec<i64>> {
    keys.iter()
        .map(|key| match key {
            Value::Int(n) => Some(*n),
            _ => None,
        })
        .collect()
}
