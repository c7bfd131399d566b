//! Malformed files: every message, word for word.

use std::time::Instant;

use super::{CHALLENGES, SOLVED, TASK};
use crate::Dataset;

/// The message for a file called `foo.json` with this text.
fn refused(text: &str) -> String {
    Dataset::from_json("foo.json", text.as_bytes())
        .expect_err(text)
        .to_string()
}

/// The message for a task whose third demonstration has this output.
fn refused_grid(grid: &str) -> String {
    let good = r#"{"input": [[1]], "output": [[1]]}"#;
    let text = format!(
        r#"{{"train": [{good}, {good}, {{"input": [[1]], "output": {grid}}}], "test": [{good}]}}"#
    );
    let message = refused(&text);
    let place = "foo.json: task foo, train[2].output: ";
    message
        .strip_prefix(place)
        .unwrap_or_else(|| panic!("{message}"))
        .to_owned()
}

#[test]
fn broken_grids() {
    let cases = [
        (
            "[[1,2,3,4,5],[1,2,3,4,5],[1,2,3,4,5],[1,2,3,4]]",
            "row 3 has 4 cells, row 0 has 5",
        ),
        (
            "[[1, 2], [3, 10]]",
            "row 1, column 1 is 10, colours are 0 to 9",
        ),
        ("[[-1]]", "row 0, column 0 is -1, colours are 0 to 9"),
        (
            "[[1.0]]",
            "row 0, column 0 is the number 1.0, cells are whole numbers from 0 to 9",
        ),
        (
            "[[1, null]]",
            "row 0, column 1 is null, cells are whole numbers from 0 to 9",
        ),
        (
            "[[true]]",
            "row 0, column 0 is true, cells are whole numbers from 0 to 9",
        ),
        ("[]", "the grid has no rows"),
        ("[[]]", "row 0 has no cells"),
        ("[[1], []]", "row 1 has no cells"),
        (
            "[1, 2]",
            "expected a grid, a list of rows, found a list of numbers",
        ),
        (
            "[[1], 2]",
            "expected a grid, a list of rows, found the number 2",
        ),
        (
            "\"x\"",
            "expected a grid, a list of rows, found the text \"x\"",
        ),
        (
            "{}",
            "expected a grid, a list of rows, found an empty object",
        ),
    ];
    for (grid, message) in cases {
        assert_eq!(refused_grid(grid), message, "{grid}");
    }
    let tall = format!("[{}[1]]", "[1],".repeat(30));
    assert_eq!(
        refused_grid(&tall),
        "the grid is 31x1, the largest allowed is 30x30"
    );
}

#[test]
fn broken_tasks() {
    let pair = r#"{"input": [[1]], "output": [[1]]}"#;
    let cases = [
        (
            format!(r#"{{"train": [{pair}]}}"#),
            "foo.json: task foo: there is no \"test\"",
        ),
        (
            format!(r#"{{"test": [{pair}]}}"#),
            "foo.json: task foo: there is no \"train\"",
        ),
        (
            format!(r#"{{"train": [], "test": [{pair}]}}"#),
            "foo.json: task foo, train: the list is empty",
        ),
        (
            format!(r#"{{"train": [{pair}], "test": []}}"#),
            "foo.json: task foo, test: the list is empty",
        ),
        (
            format!(r#"{{"train": [{pair}], "test": 3}}"#),
            "foo.json: task foo, test: expected a list of pairs, found the number 3",
        ),
        (
            format!(r#"{{"train": [{pair}], "test": [{pair}, [1]]}}"#),
            "foo.json: task foo, test[1]: expected a pair {\"input\": ..., \"output\": ...}, \
             found a list of numbers",
        ),
        (
            format!(r#"{{"train": [{{"input": [[1]]}}], "test": [{pair}]}}"#),
            "foo.json: task foo, train[0]: there is no \"output\"",
        ),
        (
            format!(r#"{{"train": [{pair}], "test": [{{"output": [[1]]}}]}}"#),
            "foo.json: task foo, test[0]: there is no \"input\"",
        ),
        (
            format!(r#"{{"x": {{"train": [{pair}], "test": [{pair}]}}, "y": 3}}"#),
            "foo.json: task y: expected an object with \"train\" and \"test\", found the number 3",
        ),
        (
            format!(r#"[{pair}, {{"input": [[1], [2, 3]], "output": [[1]]}}]"#),
            "foo.json: task foo, train[1].input: row 1 has 2 cells, row 0 has 1",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(refused(&text), message, "{text}");
    }
}

#[test]
fn files_of_something_else() {
    let cases = [
        ("[]", "an empty list"),
        ("{}", "an empty object"),
        ("7", "the number 7"),
        ("null", "null"),
        ("[[1]]", "a list of lists"),
        (r#"[{"a": 1}]"#, "a list of objects"),
        (r#"{"a": [{"attempt_1": [[0]]}]}"#, "a submission file"),
    ];
    for (text, holds) in cases {
        assert_eq!(
            refused(text),
            format!("foo.json: this is {holds}, not a file of tasks")
        );
    }
}

#[test]
fn broken_json_is_shown_by_line_and_column() {
    assert_eq!(
        refused("{\"train\": [\n  {\"input\": [[1, 2]"),
        "foo.json: line 2, column 19: EOF while parsing a list"
    );
    assert_eq!(
        refused("{\n 'a': 1}"),
        "foo.json: line 2, column 2: key must be a string"
    );
    assert_eq!(
        refused(""),
        "foo.json: line 1, column 1: EOF while parsing a value"
    );
    assert_eq!(
        refused("{} x"),
        "foo.json: line 1, column 4: trailing characters"
    );
    let deep = "[".repeat(100_000);
    assert_eq!(
        refused(&deep),
        "foo.json: line 1, column 128: recursion limit exceeded"
    );
    let error = Dataset::from_json("foo.json", b"[1,").unwrap_err();
    assert_eq!(
        error.hint(),
        "the file ends too early: download or write it again"
    );
    // Bytes that are not text.
    assert!(Dataset::from_json("foo.json", b"{\"\xff\": 1}").is_err());
}

#[test]
fn one_long_line_is_read_quickly() {
    let pair = r#"{"input": [[1, 2], [3, 4]], "output": [[4, 3], [2, 1]]},"#;
    let text = format!("[{}", pair.repeat(10_000_000 / pair.len()));
    let start = Instant::now();
    let whole = text[..text.len() - 1].to_owned() + "]";
    let data = Dataset::from_json("big.json", whole.as_bytes()).unwrap();
    assert_eq!(data.pair_count(), 10_000_000 / pair.len());
    // Cut off at the end, and with a fault in the last pair.
    assert!(refused(&text).contains("EOF"));
    assert!(refused(&format!("{text}{{}}]")).contains("there is no \"input\""));
    // The limit is generous: a quadratic step would take hours.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// Loading returns tasks or an error for any file.
#[test]
fn damaged_files_never_panic() {
    for text in [TASK, CHALLENGES, SOLVED] {
        for at in 0..text.len() {
            let _ = Dataset::from_json("foo.json", &text.as_bytes()[..at]);
            let mut bytes = text.as_bytes().to_vec();
            for byte in *b"[]{},:\"-9e.n \\\xff\0" {
                bytes[at] = byte;
                if let Err(error) = Dataset::from_json("foo.json", &bytes) {
                    assert!(error.to_string().starts_with("foo.json: "), "{error}");
                    assert!(!error.hint().is_empty());
                }
            }
        }
    }
}
