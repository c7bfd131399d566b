//! The first of several faults is reported: the one that Python meets first when it iterates over
//! sets in their order.

use batt_dsl::Fault::{self, Index, Runtime, StopIteration, Type};
use batt_testing::eval;

/// What CPython 3.11 raises.
const RAISED: [(&str, Fault); 25] = [
    // An empty tuple comes before a five in a set of both, in either order of insertion.
    ("apply(first, insert(5, initset(())))", Runtime),
    ("apply(first, insert((), initset(5)))", Runtime),
    ("sfilter(insert(5, initset(())), first)", Runtime),
    ("sfilter(insert((), initset(5)), first)", Runtime),
    ("mapply(first, insert(5, initset(())))", Runtime),
    ("mapply(first, insert((), initset(5)))", Runtime),
    ("order(insert((), initset(5)), first)", StopIteration),
    ("argmin(insert((), initset(5)), first)", StopIteration),
    ("extract(insert((), initset(5)), first)", Runtime),
    // Here the first one stays first.
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
    // Keys are compared as they come.
    ("argmax(((1,), ((2,),), ()), first)", Type),
    ("valmax(((1,), ((2,),), ()), first)", Type),
    ("argmax(((1,), (), ((2,),)), first)", StopIteration),
    ("valmax(((1,), (2,), ()), first)", StopIteration),
    (
        "valmin(insert((), insert(((2,),), initset((1,)))), first)",
        StopIteration,
    ),
    ("argmin(insert((), insert((2,), initset(5))), first)", Type),
    // Without a function the elements themselves are compared, but the result is called.
    ("valmin((3, 1), None)", Type),
    ("valmax(initset(5), None)", Type),
    ("valmax((), None)", Type),
    // `None` is a key, and cannot be compared with itself.
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

/// The same in large sets. The empty tuple among numbers, made in two ways: in the first it comes
/// after some of the numbers, since they had taken its place.
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
            // A generator passes it on as another one.
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
