//! `--device emulated` gives the same results, and reports where they were computed.

use serde_json::Value;

use crate::support::{Ended, Folder, command};

/// A solver that is right, one that fails, one that returns a set, and one that depends on the
/// order of a set.
const SOLVERS: &str = "
def solve_aa11(I):
    O = hmirror(I)
    return O

def solve_bb22(I):
    x1 = crop(I, I, I)
    return x1

def set_aa11(I):
    O = palette(I)
    return O

def order_aa11(I):
    x1 = asobject(I)
    O = first(x1)
    return O
";

fn folder() -> Folder {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS);
    folder.batt(&["card", "s.py", "-o", "b.py"]).code(0);
    folder
}

/// Returns the lines without the times, which differ from run to run.
fn without_times(lines: &str) -> Vec<Value> {
    let parse = |line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record.as_object_mut().unwrap().remove("us");
        record
    };
    lines.lines().map(parse).collect()
}

#[test]
fn mega_is_the_same() {
    let folder = folder();
    let mega = |more: &[&str]| {
        let args = [&["mega", "b.py", "--tasks", "tasks"], more].concat();
        folder.batt(&args).code(0)
    };
    for form in [&[][..], &["--full"]] {
        let written = |device: &[&str]| {
            let ended = mega(&[&["--output", "r.jsonl"], form, device].concat());
            (ended, folder.read("r.jsonl"))
        };
        let (plain, expected) = written(&["--device", "cpu"]);
        let (ended, results) = written(&["--device", "emulated", "--verify"]);
        assert_eq!(ended.stdout, plain.stdout);
        assert_eq!(results, expected);
        ended
            .err("on a device: ")
            .err(" samples/s")
            .err(" s computing, ")
            .err(" back in ")
            .err("repeated on the CPU, 0 differ");
    }
    // Without an output file, devices return only verdicts.
    let plain = mega(&["--device", "cpu"]);
    let ended = mega(&["--device", "emulated", "--verify=0.5"]);
    assert_eq!(ended.stdout, plain.stdout);
    let ended = mega(&["--device", "emulated", "--json"]);
    let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
    let device = &summary["device"];
    let runs = &device["runs"];
    let left: u64 = runs["left"]
        .as_object()
        .unwrap()
        .values()
        .map(|count| count.as_u64().unwrap())
        .sum();
    let done = runs["first"].as_u64().unwrap() + runs["exact"].as_u64().unwrap();
    assert_eq!(done + left, 5);
    let device = &device["devices"][0];
    assert!(device["launches"].as_u64().unwrap() > 0);
    for key in ["kernel_seconds", "upload_seconds", "download_seconds"] {
        assert!(device[key].is_number(), "{key}");
    }
    assert!(device["bytes_up"].is_number() && device["bytes_down"].is_number());
    assert!(summary["samples_per_second"].as_f64().unwrap() > 0.0);
    // Steps are counted on the device as on the CPU.
    let cpu: Value = serde_json::from_str(&mega(&["--device", "cpu", "--json"]).stdout).unwrap();
    assert_eq!(summary["steps"], cpu["steps"]);
    assert_eq!(cpu["device"], Value::Null);
}

#[test]
fn run_is_the_same() {
    let folder = folder();
    let run = |more: &[&str]| {
        let args = ["run", "s.py", "--tasks", "tasks", "--all-pairs"];
        folder.batt(&[&args, more].concat()).code(1)
    };
    let plain = run(&["-o", "cpu.jsonl", "--device", "cpu"]);
    let ended = run(&["-o", "dev.jsonl", "--device", "emulated"]).err("on a device: ");
    assert_eq!(ended.stdout, plain.stdout);
    let told = |name: &str| without_times(&folder.read(name));
    assert_eq!(told("dev.jsonl"), told("cpu.jsonl"));
    let ended = run(&["--device", "emulated", "--verify"]).err("0 differ");
    assert_eq!(ended.stdout, plain.stdout);
}

#[test]
fn limits_that_a_device_can_keep_or_not() {
    let folder = folder();
    let mega = |steps| {
        let args = ["mega", "b.py", "--tasks", "tasks", "--device", "emulated"];
        folder.batt(&[&args[..], &["--max-steps", steps]].concat())
    };
    mega("100000").code(0).err("on a device: 5 of 5 runs");
    mega("1000").code(0).err("the CPU runs everything");
}

#[test]
fn conformance_on_a_device() {
    let folder = Folder::new();
    folder.write("v/ops/add.jsonl", "{\"args\":[1,2],\"out\":3}\n");
    folder.write("v/ops/double.jsonl", "{\"args\":[1],\"out\":3}\n");
    let conformance = |more: &[&str]| {
        let args = ["conformance", "v", "--device", "emulated"];
        folder.batt(&[&args, more].concat())
    };
    conformance(&["--op", "add"])
        .code(0)
        .out("arc-dsl primitives")
        .out("1 passed, 0 failed");
    conformance(&["--no-fallback"])
        .code(1)
        .out("double.jsonl:1")
        .out("1 passed, 1 failed, 0 unfinished");
    conformance(&["--op", "nope"]).error("no vectors of 'nope'", "batt ops");
}

#[test]
fn bench_compares_both() {
    let folder = folder();
    let args = ["bench", "--device", "emulated", "--json"];
    let more = ["--solvers", "s.py", "--tasks", "tasks"];
    let ended = folder.batt(&[&args[..], &more].concat()).code(0);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    let device = &json["device"];
    assert_eq!(device["runs"], 4 * 5);
    assert!(device["device_runs_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(device["differing"], 0);
}

/// Runs `batt mega` on a device with faults.
fn mega_with(folder: &Folder, faults: &str, more: &[&str]) -> Ended {
    let args = ["mega", "b.py", "--tasks", "tasks", "--device", "emulated"];
    let mut command = command(&folder.path("."), &[&args, more].concat());
    command.env("BATT_DEVICE_FAULTS", faults);
    Ended::from(command.output().unwrap())
}

#[test]
fn a_device_that_fails_changes_nothing() {
    let folder = folder();
    let args = ["mega", "b.py", "--tasks", "tasks", "--device", "cpu"];
    let plain = folder
        .batt(&[&args[..], &["--full", "--output", "r.jsonl"]].concat())
        .code(0);
    let expected = folder.read("r.jsonl");
    // All runs are in one batch of several launches, so from the second launch on, the fault comes
    // in the middle of the batch.
    for (faults, words) in [
        ("memory@0", "the device has no room"),
        ("memory@1", "the device has no room"),
        ("launch@0", "the launch failed"),
        ("launch@1", "the launch failed"),
        (
            "memory@0,memory@1,launch@2,launch@3",
            "the device has no room",
        ),
        ("lost@0", "the device is lost"),
        ("lost@1", "the device is lost"),
        ("timeout@0", "did not end within 60s"),
        ("timeout@1", "did not end within 60s"),
        ("short@0", "another number of results"),
        ("short@1", "another number of results"),
    ] {
        let ended = mega_with(&folder, faults, &["--full", "--output", "r.jsonl"])
            .code(0)
            .err(words)
            .err("the CPU ran those runs")
            .err("on a device: ");
        let lost = faults.starts_with("lost") || faults.starts_with("timeout");
        assert_eq!(ended.stderr.contains("not used again"), lost, "{faults}");
        assert_eq!(ended.stdout, plain.stdout, "{faults}");
        assert_eq!(folder.read("r.jsonl"), expected);
        std::fs::remove_file(folder.path("r.jsonl")).unwrap();
    }
    // A fault after the last launch has no effect.
    mega_with(&folder, "lost@99", &["--verify"])
        .code(0)
        .err("0 differ");
}

/// Garbage is detected because the jobs seem to have written more than there is.
#[test]
fn garbage_from_a_device_changes_nothing() {
    let folder = folder();
    let args = ["mega", "b.py", "--tasks", "tasks", "--device", "cpu"];
    let cpu = |more: &[&str]| folder.batt(&[&args[..], more].concat()).code(0);
    let steps = |ended: &Ended| -> Value {
        let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
        summary["steps"].clone()
    };
    let expected = steps(&cpu(&["--full", "--output", "r.jsonl", "--json"]));
    let results = folder.read("r.jsonl");
    for faults in ["garbage@0", "garbage@1", "garbage@0,garbage@1,garbage@2"] {
        let more = ["--full", "--output", "r.jsonl", "--json"];
        let ended = mega_with(&folder, faults, &more)
            .code(0)
            .err("it wrote less than it says");
        assert_eq!(steps(&ended), expected);
        assert_eq!(folder.read("r.jsonl"), results);
        std::fs::remove_file(folder.path("r.jsonl")).unwrap();
    }
}

#[test]
fn unknown_faults_are_errors() {
    let folder = folder();
    mega_with(&folder, "fire@1", &[]).error("\"fire@1\" is not like memory@2", "memory@0,lost@2");
}

#[test]
fn the_self_test_compares_with_the_cpu() {
    let folder = Folder::new();
    let test = |more: &[&str]| {
        let args = ["device", "--self-test", "--emulated"];
        folder.batt(&[&args, more].concat()).code(0)
    };
    let json: Value = serde_json::from_str(&test(&["--json"]).stdout).unwrap();
    let compared = &json["self_test"]["compared"];
    assert_eq!(compared["differing"], 0);
    let left = compared["left"].as_object().unwrap().values();
    let ended = left.chain([&compared["first"], &compared["exact"]]);
    let sum: u64 = ended.map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(compared["runs"], sum);
    assert_eq!(json["self_test"]["good"], true);
}

#[test]
fn profile_counts_cycles() {
    let folder = folder();
    let profile = |more: &[&str]| {
        let args = [
            "profile", "b.py", "--tasks", "tasks", "--device", "emulated",
        ];
        folder.batt(&[&args, more].concat()).code(0)
    };
    profile(&[])
        .out("by their own cycles")
        .out("hmirror")
        .out("on a device: ")
        .out("kernels: ");
    let json: Value = serde_json::from_str(&profile(&["--json"]).stdout).unwrap();
    assert_eq!(json["runs"], 5);
    let ops = json["device"]["ops"].as_array().unwrap();
    let shares: f64 = ops.iter().map(|op| op["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    // One solver depends on the order of a set, so it is launched twice and counts twice.
    let calls = |name: &str| {
        let count = ops.iter().find(|op| op["op"] == name).unwrap();
        count["calls"].as_u64().unwrap()
    };
    assert_eq!(json["device"]["runs"]["exact"], 5);
    assert_eq!((calls("hmirror"), calls("first")), (5, 10));
}
