//! Primitives with unusual arguments, as CPython treats them.

use batt_dsl::{Fault, OwnedValue};
use batt_testing::eval;

#[test]
fn numcolors_counts_whatever_stands_in_the_place_of_a_colour() {
    let counted = [
        ("()", 0),
        ("((), ())", 0),
        ("((1, 2), (2,), ())", 2),
        // True == 1 and False == 0.
        ("((T, 1), (F, 0))", 2),
        ("((initset(1), initset(1)), (add, None))", 3),
        ("initset((1, 2))", 1),
        ("difference(initset(1), initset(1))", 0),
    ];
    for (element, count) in counted {
        let call = format!("numcolors({element})");
        assert_eq!(eval(&call), Ok(OwnedValue::Int(count)), "{call}");
    }
    for (element, fault) in [
        ("3", Fault::Type),
        ("(1, 2)", Fault::Type),
        ("initset(3)", Fault::Type),
        ("initset((1, 2, 3))", Fault::Value),
    ] {
        let call = format!("numcolors({element})");
        assert_eq!(eval(&call), Err(fault), "{call}");
    }
}
