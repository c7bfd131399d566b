//! `batt bench`: throughput, and the comparison with a Python checkout.

use std::process::Command;

use serde_json::Value as Json;

use crate::support::{Ended, Folder, batt, command};

#[test]
fn throughput_of_the_built_in_solvers() {
    let ended = batt(&["bench", "--seconds", "0.2", "--json"]).code(0);
    let json: Json = serde_json::from_str(&ended.stdout).unwrap();
    let cores = &json["cores"];
    assert_eq!(cores["runs"], 260);
    for rate in ["one_core_runs_per_second", "all_cores_runs_per_second"] {
        assert!(cores[rate].as_f64().unwrap() > 100.0, "{cores}");
    }
    assert_eq!(json["device"], Json::Null);
    batt(&["bench", "--seconds", "0.2"])
        .code(0)
        .out("260 runs, each solver on its task: ");
}

#[test]
fn throughput_of_files() {
    let folder = Folder::with_tasks();
    folder.write("s.py", "def solve_aa11(I):\n    return hmirror(I)\n");
    let bench = |tasks: &str| {
        let files = ["--solvers", "s.py", "--tasks", tasks];
        folder.batt(&[&["bench", "--seconds", "0.1"], &files[..]].concat())
    };
    bench("tasks")
        .code(0)
        .out("3 runs, each solver on its task");
    bench("nope").error("nope", "path");
    folder.write("other.py", "def solve_cc33(I):\n    return hmirror(I)\n");
    folder
        .batt(&["bench", "--solvers", "other.py", "--tasks", "tasks"])
        .error("none of the solvers has a task", "solve_<task id>");
}

#[test]
fn mistakes_in_solver_files_are_shown() {
    let folder = Folder::with_tasks();
    folder.write("s.py", "def solve_aa11(I):\n    return hmiror(I)\n");
    folder
        .batt(&["bench", "--solvers", "s.py", "--tasks", "tasks"])
        .error("did you mean 'hmirror'?", "correct what is reported above");
}

#[cfg(unix)]
#[test]
fn an_interrupted_measurement_has_no_figures_that_are_none() {
    let folder = Folder::new();
    let args = ["bench", "--seconds", "600", "--json"];
    let child = command(&folder.path("."), &args).spawn().unwrap();
    // The first half of the time is for one core.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let mut kill = Command::new("kill");
    let sent = kill.args(["-INT", &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    let ended = Ended::from(child.wait_with_output().unwrap()).code(130);
    let json: Json = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["cores"]["interrupted"], true);
    assert_eq!(json["cores"]["all_cores_runs_per_second"], Json::Null);
}

#[test]
fn throughput_on_a_device_needs_one() {
    batt(&["bench", "--device", "cpu"]).error("there is no device", "--device");
}

#[cfg(feature = "emulated")]
#[test]
fn throughput_on_a_device_is_compared_with_the_cores() {
    let folder = Folder::with_tasks();
    folder.write("s.py", "def solve_aa11(I):\n    return hmirror(I)\n");
    let args = [
        "--device",
        "emulated",
        "--solvers",
        "s.py",
        "--tasks",
        "tasks",
    ];
    let ended = folder
        .batt(&[&["bench", "--seconds", "0.1", "--json"], &args[..]].concat())
        .code(0);
    let json: Json = serde_json::from_str(&ended.stdout).unwrap();
    let device = &json["device"];
    assert_eq!(
        (&device["runs"], &device["differing"]),
        (&5.into(), &0.into())
    );
    assert_eq!(device["completed_on_device"], 1.0);
}

#[test]
fn a_folder_that_is_no_checkout() {
    let folder = Folder::with_tasks();
    let bench = |folder: &Folder| {
        folder.batt(&[
            "bench",
            "--against",
            ".",
            "--tasks",
            "tasks",
            "--seconds",
            "0.1",
        ])
    };
    bench(&folder).error("has no dsl.py", "arc-dsl");
    folder
        .batt(&["bench", "--against", "nowhere"])
        .error("nowhere: no such folder", "arc-dsl");
    folder.write("dsl.py", "");
    folder.write("safe_dsl.py", "");
    bench(&folder).error("has no constants.py", "tokpidjin");
    folder.write("constants.py", "");
    folder.write("solvers_pre.py", "");
    bench(&folder).error("this is a checkout of tokpidjin", "arc-dsl");
}

/// Writes a checkout whose library has one function, which batt has as well.
fn checkout(folder: &Folder) {
    folder.write("dsl.py", "def hmirror(grid):\n    return grid[::-1]\n");
    folder.write("constants.py", "");
    let solver = "from dsl import *\n\n\ndef solve_aa11(I):\n    O = hmirror(I)\n    return O\n";
    folder.write("solvers.py", solver);
}

const AGAINST: [&str; 7] = [
    "bench",
    "--against",
    ".",
    "--tasks",
    "tasks",
    "--seconds",
    "0.2",
];

#[test]
fn both_sides_are_compared() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3 to compare with");
        return;
    }
    let folder = Folder::with_tasks();
    checkout(&folder);
    folder.batt(&AGAINST).code(0).out("same answers     3 of 3");
    // A library with a mistake gives different answers.
    folder.write("dsl.py", "def hmirror(grid):\n    return grid\n");
    folder.batt(&AGAINST).code(1).out("differs: solve_aa11");
}

#[test]
fn a_python_that_does_not_exist() {
    let folder = Folder::with_tasks();
    checkout(&folder);
    folder
        .batt(&[&AGAINST[..], &["--python", "./no-python"]].concat())
        .error("cannot start ./no-python", "--python");
}
