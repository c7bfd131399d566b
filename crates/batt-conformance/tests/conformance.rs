//! Compares the engine with results of the original Python, and tests the comparison itself.

use std::fs;
use std::path::Path;

use batt_conformance::{Conformance, VectorsError, check};
use tempfile::TempDir;

#[test]
fn no_outcome_differs_from_python() {
    let Some(dir) = batt_testing::shared("vectors") else {
        println!("skipped: no vectors directory (set BATT_SHARED)");
        return;
    };
    let report = check(&dir, &[], |_, _| {}).expect("a vectors directory");
    for d in report.differences.iter().take(10) {
        println!("{}:{} {}", d.file.display(), d.line, d.what);
        println!("  expected {}\n  got      {}", d.expected, d.got);
    }
    assert_eq!(report.differences.len(), 0);
    assert_eq!(report.other_class, 0, "other exceptions than Python's");
    assert!(report.passed > 10_000, "only {} cases", report.passed);
}

/// Creates a vectors directory with these files.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().expect("a temporary directory");
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    dir
}

fn run(files: &[(&str, &str)]) -> Result<Conformance, VectorsError> {
    check(directory(files).path(), &[], |_, _| {})
}

const ADD: &str = r#"{"args":[1,2],"out":3}
{"args":[{"g":["12"]},1],"out":{"err":"IndexError"}}

{"args":[{"t":[1,2]},true],"out":{"t":[2,3]}}
"#;

#[test]
fn a_directory_that_agrees_passes() {
    let programs = "def case_a(I):\n    x1 = hmirror(I)\n    return x1\n\n\
                    def case_b(I):\n    x1 = first(ONE)\n    return I\n";
    let cases = r#"{"id":"a","in":{"g":["01","23"]},"out":{"g":["23","01"]},"us":3}
{"id":"b","in":{"g":["0"]},"out":{"err":"TypeError"}}
{"id":"a","in":{"g":["0"]},"out":{"g":["0"]},"order_dependent":true}"#;
    let rbind = r#"{"args":[{"f":"compose(add, identity)"},{"s":[1]}],"out":{"err":"TypeError"},"call":[1]}
{"args":[{"f":"subtract"},1],"call":[5],"out":4}"#;
    let files = [
        ("ops/add.jsonl", ADD),
        ("ops/rbind.jsonl", rbind),
        ("programs/000.py", programs),
        ("programs/000.jsonl", cases),
        ("notes.txt", "not a vector"),
        ("ops/README", "not a vector"),
    ];
    let dir = directory(&files);
    let mut heard = Vec::new();
    let report = check(dir.path(), &[], |path, _| {
        heard.push(path.file_name().expect("a file").to_owned());
    });
    let report = report.expect("a vectors directory");
    assert_eq!(
        (report.passed, report.differences.len()),
        (8, 0),
        "{:?}",
        report.differences
    );
    assert_eq!(heard, ["add.jsonl", "rbind.jsonl", "000.py"]);
}

#[test]
fn every_kind_of_difference_is_seen() {
    let cases = [
        // Another value; a bool for an int; an int for a bool.
        ("identity", r#"{"args":[1],"out":2}"#),
        ("identity", r#"{"args":[1],"out":true}"#),
        ("flip", r#"{"args":[false],"out":1}"#),
        // A set for a tuple, another order of a set.
        ("identity", r#"{"args":[{"t":[1]}],"out":{"s":[1]}}"#),
        ("identity", r#"{"args":[{"s":[1,2]}],"out":{"s":[2,1]}}"#),
        // A value for a failure and the other way round.
        ("identity", r#"{"args":[1],"out":{"err":"TypeError"}}"#),
        ("first", r#"{"args":[1],"out":1}"#),
        // Reaching a limit does not count as a failure in Python.
        (
            "canvas",
            r#"{"args":[1,{"t":[1000000,1000000]}],"out":{"err":"MemoryError"}}"#,
        ),
    ];
    for (op, case) in cases {
        let name = format!("ops/{op}.jsonl");
        let text = format!("\n{case}\n");
        let report = run(&[(&name, &text)]).expect("a vectors directory");
        assert_eq!((report.passed, report.differences.len()), (0, 1), "{case}");
        let difference = &report.differences[0];
        assert!(difference.file.ends_with(&name));
        assert_eq!(difference.line, 2);
        assert!(difference.what.starts_with(op), "{}", difference.what);
        assert_ne!(difference.expected, difference.got);
    }
}

#[test]
fn another_class_of_exception_is_counted_but_passes() {
    let case = r#"{"args":[1],"out":{"err":"ValueError"}}"#;
    let report = run(&[("ops/first.jsonl", case)]).expect("a vectors directory");
    assert_eq!((report.passed, report.other_class), (1, 1));
}

#[test]
fn bad_files_are_errors_with_their_place() {
    let program = ("programs/000.py", "def case_a(I):\n    return I\n");
    let unreadable: [(&[(&str, &str)], &str); 10] = [
        (
            &[("ops/add.jsonl", "{\"args\":[1,2],\"out\":3}\n{\"args\":[1,")],
            "add.jsonl:2: ",
        ),
        (&[("ops/add.jsonl", "{\"out\":3}")], "add.jsonl:1: no args"),
        (
            &[("ops/add.jsonl", "{\"args\":[1,2]}")],
            "add.jsonl:1: no expected outcome",
        ),
        (
            &[("ops/add.jsonl", "{\"args\":[1.5,2],\"out\":3}")],
            "add.jsonl:1: not a value: 1.5",
        ),
        (
            &[("ops/add.jsonl", "{\"args\":[{\"f\":\"addd\"},2],\"out\":3}")],
            "add.jsonl:1: ",
        ),
        (
            &[("ops/add.jsonl", "{\"args\":[1,2],\"out\":{\"x\":[]}}")],
            "add.jsonl:1: not a value",
        ),
        (
            &[("ops/addd.jsonl", "{\"args\":[1,2],\"out\":3}")],
            "no primitive 'addd'",
        ),
        (
            &[
                ("programs/000.py", "def case_a(I):\n    return I +\n"),
                ("programs/000.jsonl", ""),
            ],
            "000.py:2: ",
        ),
        (
            &[
                program,
                ("programs/000.jsonl", "\n{\"id\":\"b\",\"in\":1,\"out\":1}"),
            ],
            "000.jsonl:2: no program case_b",
        ),
        (
            &[program, ("programs/000.jsonl", "{\"id\":\"a\",\"out\":1}")],
            "000.jsonl:1: no 'in'",
        ),
    ];
    for (files, expected) in unreadable {
        let error = run(files).expect_err(expected).to_string();
        assert!(error.contains(expected), "{expected:?} is not in {error:?}");
    }
    let error = run(&[program]).expect_err("the results are missing");
    assert!(matches!(error, VectorsError::Io { .. }), "{error}");
    assert!(error.to_string().contains("000.jsonl"), "{error}");
}

#[test]
fn nothing_to_run_is_an_error() {
    let error = run(&[("ops/README", "")]).expect_err("no vectors");
    assert!(matches!(error, VectorsError::Empty(_)), "{error}");
    let error = check(Path::new("/no/such/folder"), &[], |_, _| {}).expect_err("no folder");
    assert!(error.to_string().contains("/no/such/folder"), "{error}");
}

#[test]
fn the_vectors_of_one_primitive() {
    let dir = directory(&[
        ("ops/add.jsonl", ADD),
        ("ops/double.jsonl", "{\"args\":[1],\"out\":3}\n"),
    ]);
    let run = |ops: &[&str]| {
        let ops: Vec<String> = ops.iter().map(ToString::to_string).collect();
        check(dir.path(), &ops, |_, _| {})
    };
    let passed = |ops: &[&str]| run(ops).map(|report| (report.passed, report.differences.len()));
    assert!(matches!(passed(&["add"]), Ok((3, 0))));
    assert!(matches!(passed(&["add", "double"]), Ok((3, 1))));
    assert!(matches!(run(&["add", "halve"]), Err(VectorsError::NoOp(_, op)) if op == "halve"));
}
