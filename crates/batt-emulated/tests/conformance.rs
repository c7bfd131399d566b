//! Checks the emulated device against the vectors that CPython computed.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use batt_conformance::{DeviceConformance, Group, Unfinished, check_on_device};
use batt_dsl::Dialect;
use batt_emulated::Emulated;
use tempfile::TempDir;

fn run(dir: &Path, fallback: bool) -> DeviceConformance {
    let mut device = Emulated::new(NonZeroUsize::new(2).expect("not zero"));
    check_on_device(dir, &[], &mut device, fallback, |_, _| {}).expect("a vectors directory")
}

#[test]
fn no_outcome_differs_from_python() {
    let Some(dir) = batt_testing::shared("vectors") else {
        println!("skipped: no vectors directory (set BATT_SHARED)");
        return;
    };
    let found = run(&dir, true);
    let report = &found.report;
    for d in report.differences.iter().take(10) {
        println!("{}:{} {}", d.file.display(), d.line, d.what);
        println!("  expected {}\n  got      {}", d.expected, d.got);
    }
    assert_eq!(report.differences.len(), 0);
    assert!(report.passed > 10_000, "only {} cases", report.passed);
    assert_eq!(found.errors, [""; 0]);
    let broken = |u: &&Unfinished| u.reason.name() == "broken";
    assert_eq!(found.unfinished.iter().filter(broken).count(), 0);
}

/// A device takes functions inside tuples and sets, calls of results, programs, and batts.
#[test]
fn every_kind_of_case_can_be_sent() {
    let compose = r#"{"args":[{"f":"rbind(add, TWO)"},{"f":"double"}],"call":[4],"out":10}
{"args":[{"f":"identity"},{"f":"identity"}],"call":[{"t":[]}],"out":{"t":[]}}
{"args":[{"f":"identity"},{"f":"rbind(add, TWO)"}],"call":[null],"out":{"err":"TypeError"}}
"#;
    let rapply = r#"{"args":[{"t":[{"f":"double"},{"f":"rbind(add, ONE)"}]},3],"out":{"t":[6,4]}}
"#;
    let equality = r#"{"args":[{"s":[{"f":"double"}]},{"s":[1,{"t":[1,2]}]}],"out":false}
{"args":[{"s":[1,{"t":[1,2]}]},{"s":[{"t":[1,2]},1]}],"out":true}
"#;
    let program = "def case_a(I):\n    x1 = add(ONE, TWO)\n    return x1\n";
    let results = "{\"id\":\"a\",\"in\":{\"g\":[\"12\"]},\"out\":3,\"order_dependent\":true}\n";
    let dir = TempDir::new().expect("a temporary directory");
    for (name, text) in [
        ("ops/compose.jsonl", compose),
        ("ops/rapply.jsonl", rapply),
        ("ops/equality.jsonl", equality),
        ("programs/0.py", program),
        ("programs/0.jsonl", results),
    ] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    for fallback in [true, false] {
        let found = run(dir.path(), fallback);
        assert!(found.report.differences.is_empty(), "{:?}", found.report);
        let left = found.unfinished.len();
        assert_eq!(found.report.passed, if fallback { 7 } else { 7 - left });
        assert!(found.unfinished.iter().all(|u| u.reason.name() != "unsent"));
        let [all, ordered] = found.groups[&Group::Programs(Dialect::ArcDsl)];
        assert_eq!((all.first, ordered.total()), (1, 1));
    }
}
