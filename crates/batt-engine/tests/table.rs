//! Checks that everything the op table says about its primitives is true.

use std::collections::{BTreeMap, BTreeSet};

use batt_dsl::{ConstId, Literal, OpId, OwnedValue, ops};
use batt_testing::eval;

#[test]
fn names_are_unique_and_found_again() {
    assert_eq!(
        ops().len(),
        160,
        "after adding an op, raise the counts of this file"
    );
    assert_eq!(ConstId::all().len(), 28);
    let mut names = BTreeSet::new();
    for id in OpId::all() {
        let name = id.op().name;
        assert!(names.insert(name), "{name} is given twice");
        assert_eq!(OpId::named(name), Some(id));
    }
    for id in ConstId::all() {
        assert!(names.insert(id.name()), "{} is given twice", id.name());
        assert_eq!(ConstId::named(id.name()), Some(id));
    }
    for (k, id) in OpId::all().enumerate() {
        assert_eq!(id.index(), k);
    }
    assert_eq!(OpId::named("box").map(|id| id.op().name), Some("box"));
    assert_eq!(OpId::named("r#box"), None);
    assert_eq!(OpId::named(""), None);
}

#[test]
fn arities_are_those_of_the_language() {
    let mut of_arity: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for op in ops() {
        of_arity.entry(op.arity()).or_default().insert(op.name);
    }
    let counts: Vec<_> = of_arity
        .iter()
        .map(|(n, names)| (*n, names.len()))
        .collect();
    // After adding an op, raise the count of its arity.
    assert_eq!(counts, [(1, 79), (2, 66), (3, 14), (4, 1)]);
    let three = "interval branch chain fork papply mpapply prapply crop fill underfill cellwise \
                 replace switch move";
    assert_eq!(of_arity[&3], three.split_whitespace().collect());
    assert_eq!(of_arity[&4], BTreeSet::from(["objects"]));
}

#[test]
fn every_op_is_documented() {
    for op in ops() {
        let name = op.name;
        assert!(
            op.summary().ends_with(['.', '?']),
            "{name}: {:?}",
            op.summary()
        );
        assert!(op.summary().len() > 10, "{name}: {:?}", op.summary());
        assert!(!op.family.is_empty(), "{name} has no family");
        assert!(
            op.example.0.contains(&format!("{name}(")),
            "{name}: the example shows another"
        );
        assert_eq!(op.order_sensitive, !op.order.is_empty(), "{name}");
        let params: BTreeSet<_> = op.params.iter().map(|p| p.name).collect();
        assert_eq!(
            params.len(),
            op.arity(),
            "{name}: two parameters of one name"
        );
        assert!(
            op.call_form().starts_with(&format!("{name}(")),
            "{}",
            op.call_form()
        );
    }
}

#[test]
fn every_example_gives_what_it_says() {
    let wrong: Vec<String> = ops()
        .iter()
        .filter_map(|op| {
            let (call, expected) = op.example;
            let got = match eval(call) {
                Ok(value) => value.to_string(),
                Err(fault) => fault.to_string(),
            };
            (got != expected).then(|| format!("{call}\n  says  {expected}\n  gives {got}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_failing_example_fails() {
    for op in ops().iter().filter(|op| !op.fails.is_empty()) {
        match eval(op.fails) {
            Ok(value) => panic!("{} gives {value}", op.fails),
            Err(fault) => assert!(!fault.is_limit(), "{}: {fault}", op.fails),
        }
    }
}

#[test]
fn ops_that_name_no_failure_take_anything() {
    let anything = [
        "None",
        "T",
        "3",
        "-3",
        "()",
        "(1, 2)",
        "((1, 2), (3, 4))",
        "initset(ONE)",
        "add",
    ];
    for op in ops().iter().filter(|op| op.fails.is_empty()) {
        for value in anything {
            let call = format!("{}({})", op.name, vec![value; op.arity()].join(", "));
            assert!(
                eval(&call).is_ok(),
                "{call} fails, but no failing call is documented"
            );
        }
    }
}

#[test]
fn keyword_arguments_are_the_documented_parameters() {
    for op in ops() {
        let positional = vec!["ORIGIN"; op.arity()].join(", ");
        let keywords: Vec<_> = op
            .params
            .iter()
            .map(|p| format!("{}=ORIGIN", p.name))
            .collect();
        let positional = eval(&format!("{}({positional})", op.name));
        let keyword = eval(&format!("{}({})", op.name, keywords.join(", ")));
        assert_eq!(keyword, positional, "{}", op.name);
    }
}

#[test]
fn constants_have_their_values() {
    let value = |name: &str| ConstId::named(name).expect("a constant").value();
    let pair = |i, j| Literal::Tuple(vec![Literal::Int(i), Literal::Int(j)]);
    assert_eq!(value("F"), Literal::Bool(false));
    assert_eq!(value("T"), Literal::Bool(true));
    let numbers = "ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN";
    for (n, name) in numbers.split_whitespace().enumerate() {
        assert_eq!(value(name), Literal::Int(n as i64), "{name}");
    }
    assert_eq!(value("NEG_ONE"), Literal::Int(-1));
    assert_eq!(value("NEG_TWO"), Literal::Int(-2));
    let pairs = [
        ("DOWN", 1, 0),
        ("RIGHT", 0, 1),
        ("UP", -1, 0),
        ("LEFT", 0, -1),
        ("ORIGIN", 0, 0),
        ("UNITY", 1, 1),
        ("NEG_UNITY", -1, -1),
        ("UP_RIGHT", -1, 1),
        ("DOWN_LEFT", 1, -1),
        ("ZERO_BY_TWO", 0, 2),
        ("TWO_BY_ZERO", 2, 0),
        ("TWO_BY_TWO", 2, 2),
        ("THREE_BY_THREE", 3, 3),
    ];
    for (name, i, j) in pairs {
        assert_eq!(value(name), pair(i, j), "{name}");
    }
    assert_eq!(2 + 11 + 2 + pairs.len(), ConstId::all().len());
}

#[test]
fn a_function_is_a_value_but_which_one_stays_in_the_run() {
    assert_eq!(eval("identity(add)"), Ok(OwnedValue::Function));
    assert_eq!(eval("equality(add, add)"), Ok(OwnedValue::Bool(true)));
    assert_eq!(eval("equality(add, subtract)"), Ok(OwnedValue::Bool(false)));
    let two = "equality(rbind(add, ONE), rbind(add, ONE))";
    assert_eq!(
        eval(two),
        Ok(OwnedValue::Bool(false)),
        "closures are equal only to themselves"
    );
}
