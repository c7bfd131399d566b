//! `batt run`: matching, verdicts, JSON, order.

use serde_json::Value;

use crate::support::Folder;

const SOLVERS: &str = "
def solve_aa11(I):
    return hmirror(I)

def solve_bb22(I):
    return vmirror(I)
";

/// Returns the JSON lines without the times, which differ from run to run.
fn without_times(lines: &str) -> Vec<Value> {
    let parse = |line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        assert!(record["us"].is_f64(), "{record}");
        record.as_object_mut().unwrap().remove("us");
        record
    };
    lines.lines().map(parse).collect()
}

#[test]
fn all_solved() {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS);
    let ended = folder
        .batt(&["run", "s.py", "--tasks", "tasks"])
        .code(0)
        .err("runs/s");
    assert_eq!(ended.stdout, "solved 2 of 2 tasks, 4 of 4 pairs\n");
}

#[test]
fn failures_say_why() {
    let folder = Folder::with_tasks();
    folder.write(
        "s.py",
        "
def cells_aa11(I):
    return vmirror(I)

def shape_aa11(I):
    return tophalf(I)

def value_aa11(I):
    return palette(I)

def error_aa11(I):
    x1 = initset(I)
    x2 = crop(I, x1, UNITY)
    return x2
",
    );
    let ended = folder
        .batt(&["run", "s.py", "--tasks", "tasks"])
        .code(1)
        .out("cells_aa11  train[0]  4 of 4 cells wrong")
        .out("shape_aa11  train[1]  1x3 instead of 2x3")
        .out("value_aa11  test[0]   a frozenset of 2 instead of a grid")
        .out("TypeError in crop, s.py:13: a value of the wrong kind");
    assert_eq!(ended.last_line(), "solved 0 of 1 tasks, 0 of 3 pairs");
}

#[test]
fn long_lists_of_failures_are_cut() {
    let folder = Folder::with_tasks();
    let solvers: String = (0..10)
        .map(|k| format!("def s{k}_aa11(I):\n    return I\n"))
        .collect();
    folder.write("s.py", solvers);
    folder
        .batt(&["run", "s.py", "--tasks", "tasks"])
        .code(1)
        .out("... and 10 more (--verbose lists all)");
    let all = folder
        .batt(&["run", "s.py", "--tasks", "tasks", "--verbose"])
        .code(1);
    assert_eq!(all.stdout.matches("cells wrong").count(), 30);
}

#[test]
fn one_solver_that_solves_the_task_is_enough() {
    let folder = Folder::with_tasks();
    folder.write(
        "s.py",
        "def a_aa11(I):\n    return I\ndef b_aa11(I):\n    return hmirror(I)\n",
    );
    let ended = folder.batt(&["run", "s.py", "--tasks", "tasks"]).code(1);
    assert_eq!(ended.last_line(), "solved 1 of 1 tasks, 3 of 3 pairs");
}

#[test]
fn every_solver_on_every_pair() {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS.replace("bb22", "elsewhere"));
    let ended = folder
        .batt(&["run", "s.py", "--tasks", "tasks", "--all-pairs"])
        .code(0)
        .out("bb22  solve_elsewhere")
        .out("10 runs: ");
    assert_eq!(ended.last_line(), "solved 2 of 2 tasks, 4 of 4 pairs");
}

#[test]
fn json_lines_in_a_file() {
    let folder = Folder::with_tasks();
    folder.write(
        "s.py",
        format!("{SOLVERS}\ndef bad_bb22(I):\n    return first(frozenset_of(I))\n"),
    );
    folder.write(
        "t.py",
        "def bad_bb22(I):\n    return first(difference(I, I))\n",
    );
    folder
        .batt(&[
            "run",
            "s.py",
            "t.py",
            "--tasks",
            "tasks",
            "--output",
            "out.jsonl",
        ])
        .code(1)
        .err("unknown name 'frozenset_of'");
    let lines = without_times(&folder.read("out.jsonl"));
    assert_eq!(lines.len(), 7);
    assert_eq!(
        lines[0],
        serde_json::json!({
            "solver": "solve_aa11", "task": "aa11", "pair": "train[0]", "ok": true,
            "value": {"g": ["34", "12"]},
        })
    );
    assert_eq!(lines[4]["pair"], "test[0]");
    assert_eq!(lines[4]["ok"], Value::Null, "no output is known");
    assert_eq!(lines[4]["value"], serde_json::json!({"g": ["43"]}));
    let error = &lines[5]["error"];
    assert_eq!(error["kind"], "StopIteration");
    assert_eq!((&error["op"], &error["line"]), (&"first".into(), &2.into()));
    assert_eq!(lines[5]["ok"], false);
}

#[test]
fn json_on_stdout_leaves_the_rest_to_stderr() {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS);
    let ended = folder
        .batt(&["run", "s.py", "--tasks", "tasks", "-o", "-"])
        .code(0)
        .err("solved 2 of 2 tasks, 4 of 4 pairs");
    assert_eq!(without_times(&ended.stdout).len(), 5);
}

#[test]
fn the_summary_for_programs() {
    let folder = Folder::with_tasks();
    folder.write("s.py", format!("{SOLVERS}\ndef other(I):\n    return I\n"));
    let run = |more: &[&str]| {
        let args = ["run", "s.py", "--tasks", "tasks", "--json"];
        folder.batt(&[&args, more].concat()).code(0)
    };
    let mut json: Value = serde_json::from_str(&run(&[]).stdout).unwrap();
    let fields = json.as_object_mut().unwrap();
    assert!(fields.remove("seconds").unwrap().is_f64());
    assert!(fields.remove("threads").unwrap().is_u64());
    assert_eq!(
        json,
        serde_json::json!({
            "runs": 5, "planned": 5, "tasks": 2, "tasks_solved": 2, "pairs": 4, "pairs_right": 4,
            "kinds": {"right": 4, "without a known output": 1}, "also_solved": [],
            "without_task": ["other"], "device": null, "shard": null, "resumed": 0,
        })
    );
    // With the lines on stdout it goes where it does not mix with them.
    let ended = run(&["--output", "-", "--quiet"]);
    assert_eq!(without_times(&ended.stdout).len(), 5);
    let json: Value = serde_json::from_str(&ended.stderr).unwrap();
    assert_eq!(json["runs"], 5);
    let also = "def solve_cc33(I):\n    return hmirror(I)\n";
    folder.write("s.py", format!("{SOLVERS}\n{also}"));
    let json: Value = serde_json::from_str(&run(&["--all-pairs"]).stdout).unwrap();
    let expected = serde_json::json!([{"task": "aa11", "solver": "solve_cc33"}]);
    assert_eq!(json["also_solved"], expected);
}

#[test]
fn a_file_that_is_read_is_not_written() {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS);
    let task = folder.read("tasks/aa11.json");
    for output in ["s.py", "./s.py", "tasks/aa11.json"] {
        folder
            .batt(&["run", "s.py", "--tasks", "tasks", "-o", output])
            .error("it is one of the files to read", "choose another name");
    }
    assert_eq!(folder.read("s.py"), SOLVERS);
    assert_eq!(folder.read("tasks/aa11.json"), task);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_with_the_name_of_the_file() {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS);
    folder
        .batt(&["run", "s.py", "--tasks", "tasks", "-o", "/dev/full"])
        .error(
            "cannot write /dev/full: No space left on device\n",
            "make room on the disk",
        );
}

#[test]
fn threads_do_not_change_the_output() {
    let folder = Folder::with_tasks();
    let solvers: String = [
        "hmirror(I)",
        "vmirror(I)",
        "palette(I)",
        "first(I)",
        "crop(I, I, I)",
    ]
    .iter()
    .cycle()
    .take(100)
    .enumerate()
    .map(|(k, call)| format!("def s{k}_aa11(I):\n    return {call}\n"))
    .collect();
    folder.write("s.py", solvers);
    let lines = |jobs| {
        let args = [
            "run",
            "s.py",
            "--tasks",
            "tasks",
            "--all-pairs",
            "--output",
            "-",
            "--jobs",
            jobs,
        ];
        without_times(&folder.batt(&args).code(0).stdout)
    };
    let one = lines("1");
    assert_eq!(one.len(), 500);
    assert_eq!(one, lines("4"));
}

#[test]
fn dialects_differ() {
    let folder = Folder::with_tasks();
    folder.write(
        "s.py",
        "def s_aa11(I):\n    x = argmax(difference(palette(I), palette(I)), identity)\n    return hmirror(I)\n",
    );
    let run = |dialect| folder.batt(&["run", "s.py", "--tasks", "tasks", "--dialect", dialect]);
    run("re-arc").code(0);
    run("arc-dsl").code(1).out("ValueError in argmax, s.py:2");
}

#[test]
fn what_does_not_run_is_mentioned() {
    let folder = Folder::with_tasks();
    folder.write(
        "s.py",
        format!("{SOLVERS}\ndef other(I):\n    return I\ndef two_aa11(A, B):\n    return A\n"),
    );
    folder
        .batt(&["run", "s.py", "--tasks", "tasks"])
        .code(0)
        .err("note: 1 solver without a task in --tasks: other")
        .err("note: 1 solver left out, because a solver takes one grid or (S, I, C): two_aa11");
    let quiet = folder
        .batt(&["run", "s.py", "--tasks", "tasks", "-q"])
        .code(0);
    assert_eq!(quiet.stderr, "");
}
