//! If several elements of a set fail, the reported fault is the one that Python meets first when it
//! iterates over the set in its order.

use batt_dsl::Fault::{self, Index, Runtime, StopIteration, Type};
use batt_testing::eval;

/// Calls and the faults that correspond to CPython 3.11's exceptions.
const RAISED: [(&str, Fault); 25] = [
    // The empty tuple comes before 5 in a set of both, in either order of insertion.
    ("apply(first, insert(5, initset(())))", Runtime),
    ("apply(first, insert((), initset(5)))", Runtime),
    ("sfilter(insert(5, initset(())), first)", Runtime),
    ("sfilter(insert((), initset(5)), first)", Runtime),
    ("mapply(first, insert(5, initset(())))", Runtime),
    ("mapply(first, insert((), initset(5)))", Runtime),
    ("order(insert((), initset(5)), first)", StopIteration),
    ("argmin(insert((), initset(5)), first)", StopIteration),
    ("extract(insert((), initset(5)), first)", Runtime),
    // In these sets the order of insertion decides which element comes first.
    (
        "colorfilter(insert(initset(5), initset(initset(()))), ONE)",
        Type,
    ),
    (
        "colorfilter(insert(repeat(5, 1), initset(())), ONE)",
        Runtime,
    ),
    (
        "colorfilter(insert((), initset(repeat(5, 1))), ONE)",
        Runtime,
    ),
    // Keys are compared in the order of the elements.
    ("argmax(((1,), ((2,),), ()), first)", Type),
    ("valmax(((1,), ((2,),), ()), first)", Type),
    ("argmax(((1,), (), ((2,),)), first)", StopIteration),
    ("valmax(((1,), (2,), ()), first)", StopIteration),
    (
        "valmin(insert((), insert(((2,),), initset((1,)))), first)",
        StopIteration,
    ),
    ("argmin(insert((), insert((2,), initset(5))), first)", Type),
    // Without a function the elements themselves are compared, and then the result is called.
    ("valmin((3, 1), None)", Type),
    ("valmax(initset(5), None)", Type),
    ("valmax((), None)", Type),
    // The keys are `None`, which cannot be compared with `None`.
    (
        "argmin((canvas(1, (1, 1)), canvas(2, (1, 1)), ()), rbind(index, NEG_UNITY))",
        Type,
    ),
    (
        "argmin((canvas(1, (1, 1)), (), canvas(2, (1, 1))), rbind(index, NEG_UNITY))",
        Index,
    ),
    (
        "argmin(insert((), insert(canvas(2, (1, 1)), initset(canvas(3, (1, 1))))), rbind(index, NEG_UNITY))",
        Index,
    ),
    (
        "argmin(insert((), insert(canvas(9, (1, 2)), initset(canvas(8, (2, 1))))), rbind(index, NEG_UNITY))",
        Type,
    ),
];

#[test]
fn the_first_fault_is_that_of_python() {
    for (call, fault) in RAISED {
        assert_eq!(eval(call).unwrap_err(), fault, "{call}");
    }
}

/// The rule also holds in large sets. The empty tuple is added to numbers in two ways; in the
/// first, numbers can take its place in the table, and then it comes after some of them.
#[test]
fn the_first_fault_in_a_large_set_is_that_of_python() {
    let numbers = |from: usize, to: usize| format!("merge(initset(interval({from}, {to}, 1)))");
    for (from, to, combined, inserted) in [
        (28, 32, StopIteration, StopIteration),
        (600, 900, Type, StopIteration),
    ] {
        let numbers = numbers(from, to);
        for (set, fault) in [
            (format!("combine(initset(()), {numbers})"), combined),
            (format!("insert((), {numbers})"), inserted),
        ] {
            // A generator turns `StopIteration` into `RuntimeError`.
            let inside = if fault == StopIteration {
                Runtime
            } else {
                fault
            };
            for (call, fault) in [
                (format!("apply(first, {set})"), inside),
                (format!("mapply(first, {set})"), inside),
                (format!("sfilter({set}, first)"), inside),
                (format!("argmax({set}, first)"), fault),
            ] {
                assert_eq!(eval(&call).unwrap_err(), fault, "{call}");
            }
        }
    }
}
