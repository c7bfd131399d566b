//! `batt-bench targets` and `batt-bench soak`, on the emulated device.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::support::{Ended, Folder, bench, command};

const SOLVERS: &str = "\
def solve_aa11(I):
    O = hmirror(I)
    return O


def solve_bb22(I):
    x1 = objects(I, T, F, T)
    x2 = apply(size, x1)
    O = vmirror(I)
    return O


def set_aa11(I):
    O = palette(I)
    return O
";

const FILES: [&str; 4] = ["--solvers", "s.py", "--tasks", "tasks"];

fn folder() -> Folder {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS);
    folder
}

fn run(folder: &Folder, what: &str, more: &[&str]) -> Ended {
    let args = [what, "--device", "emulated"];
    folder.bench(&[&args, &FILES[..], more].concat())
}

fn json(ended: &Ended) -> Json {
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn every_target_is_measured() {
    let ended = run(&folder(), "targets", &["--seconds", "2", "--json"]).code(0);
    let table = &json(&ended)["targets"];
    assert_eq!(table["differing"], 0);
    assert!(table["compared"].as_u64().unwrap() > 100);
    assert!(table["errors"].as_array().unwrap().is_empty());
    let rows = table["rows"].as_array().unwrap();
    for row in rows {
        for key in ["doc", "target", "published", "note"] {
            assert!(row[key].is_string(), "{key} of {row}");
        }
        assert_ne!(row["note"], "not measured", "{row}");
        let timed = row["device_us"].is_number();
        for key in ["cpu_one_us", "cpu_all_us", "ratio_one", "ratio_all"] {
            assert_eq!(row[key].is_number(), timed, "{key} of {row}");
        }
        assert_eq!(row["limit"].is_string(), timed, "{row}");
        if timed {
            let us = |key: &str| row[key].as_f64().unwrap();
            assert!(us("device_us") > 0.0 && us("cpu_one_us") > 0.0, "{row}");
            let ratio = us("cpu_one_us") / us("device_us");
            assert!((us("ratio_one") / ratio - 1.0).abs() < 1e-6, "{row}");
            assert!(
                row["measured"]["launches"].as_f64().unwrap() >= 1.0,
                "{row}"
            );
        }
    }
    let row = |target: &str| {
        let found = rows.iter().find(|row| row["target"] == target);
        found.unwrap_or_else(|| panic!("no {target}"))
    };
    // Some targets are timed; the others have only a remark.
    for target in [
        "sample pattern, 200 samples",
        "whole batt of 5 patterns, 50 samples a task",
        "a batt of 650 steps",
        "200 tasks, batches of 1,000",
        "best batch of one GPU; several from",
        "simple operations, 400 calls",
        "80 grids, 10 operations",
        "launch",
        "speedup on four L4",
    ] {
        assert!(row(target)["device_us"].is_number(), "{target}");
    }
    let note = |target: &str| row(target)["note"].as_str().unwrap();
    assert!(note("operations covered").contains(" primitives; "));
    assert!(note("correctness").contains(" 0 differ"));
    assert!(note("warm-up").contains("with a cached kernel"));
    assert!(note("CPU below").contains("than all cores"));
    assert!(note("80 grids in one batch").contains("up "));
    assert_eq!(row("80 grids in one batch")["measured"]["runs"], 80);
}

#[test]
fn targets_print_text_and_markdown() {
    let folder = folder();
    run(&folder, "targets", &["--seconds", "1"])
        .code(0)
        .out("sample pattern, 3 samples: 0.35 ms on the CPU")
        .out("limited by ")
        .out("none differs");
    let ended = run(&folder, "targets", &["--seconds", "1", "--markdown"]).code(0);
    let mut lines = ended.stdout.lines();
    assert!(lines.next().unwrap().starts_with("| doc | target |"));
    let row = lines.find(|line| line.starts_with("| C | 80 grids, 10 operations |"));
    assert_eq!(row.unwrap().matches(" | ").count(), 6);
}

#[test]
fn a_benchmark_on_a_device_needs_one() {
    let cpu = ["--device", "cpu"];
    for what in ["targets", "soak", "device"] {
        bench(&[&[what][..], &cpu].concat()).error("there is no device", "--device");
    }
    bench(&["soak", "--verify", "2"]).code(2).err("fraction");
    bench(&["soak", "--seconds", "soon"]).code(2).err("seconds");
    bench(&["targets", "--json", "--markdown"])
        .code(2)
        .err("--markdown");
}

#[test]
fn device_and_cpu_agree() {
    let ended = run(&folder(), "device", &["--seconds", "1", "--json"]).code(0);
    let device = &json(&ended)["device"];
    assert_eq!(device["differing"], 0);
    assert_eq!(device["runs"], 15);
    assert!(device["finished_first"].as_u64().unwrap() > 0, "{device}");
}

#[test]
fn a_soak_ends_after_its_time() {
    let started = Instant::now();
    let ended = run(
        &folder(),
        "soak",
        &["--seconds", "2", "--verify", "0.5", "--json"],
    )
    .code(0);
    assert!(started.elapsed() < Duration::from_secs(60));
    let soak = &json(&ended)["soak"];
    for key in ["mega_batches", "batt_runs", "program_runs", "verified"] {
        assert!(soak[key].as_u64().unwrap() > 0, "{key} of {soak}");
    }
    assert_eq!(soak["differing"], 0);
    assert_eq!(
        (&soak["good"], &soak["interrupted"]),
        (&true.into(), &false.into())
    );
    assert!(soak["memory"].as_array().unwrap().len() >= 3);
    assert!(soak["process"]["max"].as_u64() >= soak["process"]["first"].as_u64());
    // A short soak cannot detect growth.
    assert_eq!(soak["process"]["growth"], Json::Null);
    assert_eq!(soak["device_memory"], Json::Null);
}

/// A lost device is a failure, even if all its runs fell back to the CPU.
#[test]
fn a_soak_fails_on_a_lost_device() {
    let folder = folder();
    let args = ["soak", "--device", "emulated", "--seconds", "1"];
    let mut command = command(&folder.path("."), &[&args, &FILES[..]].concat());
    command.env("BATT_DEVICE_FAULTS", "lost@1");
    Ended::from(command.output().unwrap())
        .code(1)
        .out("a device was lost")
        .out("none differs");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_soak_with_its_summary() {
    let folder = folder();
    let args = ["soak", "--device", "emulated", "--seconds", "600"];
    let child = command(&folder.path("."), &[&args, &FILES[..]].concat())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let id = child.id().to_string();
    let status = Command::new("kill").args(["-INT", &id]).status();
    assert!(status.unwrap().success());
    Ended::from(child.wait_with_output().unwrap())
        .code(130)
        .out("(interrupted)")
        .out("memory of this process")
        .out("none differs");
}
