//! `batt-bench mega`.

use serde_json::Value as Json;

use crate::support::{Folder, bench};

#[test]
fn mega_measures_every_workload_and_finds_no_difference() {
    let ended = bench(&["mega", "--seconds", "1", "--json"]).code(0);
    let json: Json = serde_json::from_str(&ended.stdout).unwrap();
    let mega = &json["mega"];
    assert_eq!(
        (&mega["solvers"], &mega["samples"]),
        (&65.into(), &260.into())
    );
    assert_eq!(mega["disagreements"], 0);
    assert!(mega["compared"].as_u64().unwrap() > 100);
    let workloads = mega["workloads"].as_array().unwrap();
    let names: Vec<&str> = workloads
        .iter()
        .map(|w| w["name"].as_str().unwrap())
        .collect();
    for name in [
        "one by one",
        "one batt",
        "one by one, differs",
        "one batt, differs",
        "mega, one thread",
        "sample pattern, 3 samples",
        "sample pattern, 200 samples",
        "10 tasks in batches of 50, all cores",
        "200 tasks in batches of 1000, all cores",
    ] {
        assert!(names.contains(&name), "no {name:?} in {names:?}");
    }
    let ending = |end: &str| names.iter().filter(|name| name.ends_with(end)).count();
    for size in [
        "threads, batches of 1",
        "batches of 32",
        "threads, batches of 1000",
    ] {
        assert_eq!(ending(size), 1, "{size} in {names:?}");
    }
    for workload in workloads {
        assert!(
            workload["us_per_sample"].as_f64().unwrap() > 0.0,
            "{workload}"
        );
        let compared = !workload["baseline"].is_null();
        assert_eq!(compared, workload["ratio"].is_f64(), "{workload}");
    }
}

#[test]
fn mega_with_mutants() {
    let args = ["mega", "--seconds", "0.5", "--json"];
    let ended = bench(&[&args[..], &["--count", "5", "--mutants", "45"]].concat()).code(0);
    let json: Json = serde_json::from_str(&ended.stdout).unwrap();
    let mega = &json["mega"];
    assert_eq!(
        (&mega["solvers"], &mega["mutants"]),
        (&50.into(), &45.into())
    );
    assert_eq!(mega["disagreements"], 0);
    bench(&[&args[..], &["--count", "66"]].concat()).error("66", "--count");
}

#[test]
fn mega_on_named_solvers_and_tasks() {
    let folder = Folder::with_tasks();
    let solvers = "\
def solve_aa11(I):
    x1 = objects(I, T, F, T)
    O = hmirror(I)
    return O


def solve_bb22(I):
    x1 = objects(I, T, F, T)
    x2 = first(x1)
    O = vmirror(I)
    return O
";
    folder.write("s.py", solvers);
    let args = [
        "mega",
        "--solvers",
        "s.py",
        "--tasks",
        "tasks",
        "--seconds",
        "0.2",
    ];
    folder
        .bench(&args)
        .code(0)
        .out("2 solvers on 5 samples of 2 tasks")
        .out("original, as published")
        .out("none differs");
    folder
        .bench(&["mega", "--solvers", "none.py", "--seconds", "0.2"])
        .error("cannot read none.py", "check the path");
}
