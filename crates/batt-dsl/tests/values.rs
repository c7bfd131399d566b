//! Tests of values that enter and leave a run, as text and as JSON.

use batt_dsl::{Dialect, Limits, OwnedValue, Workspace};
use proptest::collection::vec;
use proptest::prelude::*;

/// Returns any value that can come from outside. Numbers lie around the limits of the compact
/// forms.
fn value() -> impl Strategy<Value = OwnedValue> {
    let number = prop_oneof![
        8 => -2i64..11,
        1 => prop::sample::select(vec![255, 256, 32_767, 32_768, -32_769, 1 << 31, i64::MAX, i64::MIN]),
    ];
    let plain = prop_oneof![
        1 => Just(OwnedValue::None),
        2 => any::<bool>().prop_map(OwnedValue::Bool),
        9 => number.prop_map(OwnedValue::Int),
    ];
    plain.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            2 => vec(inner.clone(), 2).prop_map(OwnedValue::Tuple),
            1 => vec(inner.clone(), 0..6).prop_map(OwnedValue::Tuple),
            1 => vec(inner, 0..6).prop_map(OwnedValue::Set),
        ]
    })
}

/// Takes a value into a run and out again.
fn through(value: &OwnedValue) -> OwnedValue {
    Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
        let value = run.from_owned(value).expect("a small value");
        run.to_owned(value).expect("a small value")
    })
}

fn has_sets(value: &OwnedValue) -> bool {
    match value {
        OwnedValue::Set(_) => true,
        OwnedValue::Tuple(items) => items.iter().any(has_sets),
        _ => false,
    }
}

/// Compares values as Python's `==` does, in the slow and obvious way.
fn equal(a: &OwnedValue, b: &OwnedValue) -> bool {
    use OwnedValue::{Bool, Int, None, Set, Tuple};
    let number = |v: &OwnedValue| match v {
        Int(n) => Some(*n),
        Bool(b) => Some(i64::from(*b)),
        _ => Option::None,
    };
    let within =
        |a: &[OwnedValue], b: &[OwnedValue]| a.iter().all(|x| b.iter().any(|y| equal(x, y)));
    match (a, b) {
        (None, None) => true,
        (Tuple(a), Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Set(a), Set(b)) => within(a, b) && within(b, a),
        _ => number(a).is_some() && number(a) == number(b),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tuples_survive_a_run(value in value()) {
        let out = through(&value);
        prop_assert!(equal(&out, &value), "{} became {}", value, out);
        if !has_sets(&value) {
            prop_assert_eq!(out, value);
        }
    }

    #[test]
    fn json_keeps_everything(value in value()) {
        let text = value.to_json().to_string();
        let json = serde_json::from_str(&text).expect("JSON");
        prop_assert_eq!(OwnedValue::from_json(&json), Ok(value), "{}", text);
    }

    /// Equality in a run agrees with Python's, whatever forms the two values have, and equal values
    /// are one element of a set.
    #[test]
    fn equality_is_pythons(a in value(), b in value()) {
        let plain = |v: &OwnedValue| unbooled(v);
        for (a, b) in [(a.clone(), b), (a.clone(), plain(&a))] {
            let expected = equal(&a, &b);
            let (same, len) = Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
                let (a, b) = (run.from_owned(&a).expect("small"), run.from_owned(&b).expect("small"));
                let set = run.make_set(&[a, b]).expect("small");
                (run.equal(a, b), run.unordered(set).expect("a set").len())
            });
            prop_assert_eq!(same, expected, "{} == {}", a, b);
            prop_assert_eq!(len, if expected { 1 } else { 2 }, "{{{}, {}}}", a, b);
        }
    }
}

/// Replaces the bools of a value with numbers. The result is equal, but often has another form.
fn unbooled(value: &OwnedValue) -> OwnedValue {
    match value {
        OwnedValue::Bool(b) => OwnedValue::Int((*b).into()),
        OwnedValue::Tuple(items) => OwnedValue::Tuple(items.iter().map(unbooled).collect()),
        OwnedValue::Set(items) => OwnedValue::Set(items.iter().map(unbooled).collect()),
        other => other.clone(),
    }
}

#[test]
fn text_is_pythons_repr() {
    use OwnedValue::{Bool, Function, Int, None, Set, Tuple};
    let cases = [
        (None, "None"),
        (Bool(true), "True"),
        (Int(-3), "-3"),
        (Tuple(vec![]), "()"),
        (Tuple(vec![Int(1)]), "(1,)"),
        (Tuple(vec![Int(1), Bool(false)]), "(1, False)"),
        (Set(vec![]), "frozenset()"),
        (Set(vec![Int(1), Tuple(vec![])]), "frozenset({1, ()})"),
        (Function, "<function>"),
    ];
    for (value, text) in cases {
        assert_eq!(value.to_string(), text);
    }
}

#[test]
fn invalid_values_are_refused() {
    for text in [
        "1.5",
        "\"x\"",
        "[]",
        "{}",
        r#"{"t":1}"#,
        r#"{"x":[]}"#,
        r#"{"g":["1x"]}"#,
        r#"{"g":[12]}"#,
        r#"{"s":[[1]]}"#,
        "9223372036854775808",
        "1e3",
        r#"{"f":"add"}"#,
    ] {
        let json = serde_json::from_str(text).expect("JSON");
        assert!(OwnedValue::from_json(&json).is_err(), "{text}");
    }
    let function = OwnedValue::Tuple(vec![OwnedValue::Function]);
    let refused = Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
        run.from_owned(&function).is_err()
    });
    assert!(refused, "functions cannot come from outside");
}
