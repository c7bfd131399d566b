//! Typical mistakes of new users: each gives a clear message, the right exit code and no panic.

use std::time::{Duration, Instant};

use crate::support::{Folder, batt};

const GOOD: &str = "def solve_aa11(I):\n    return hmirror(I)\n";

#[test]
fn unknown_commands_and_options() {
    batt(&["frobnicate"])
        .code(2)
        .err("unrecognized subcommand 'frobnicate'");
    batt(&[]).code(2).err("Usage: batt");
    batt(&["run"]).code(2).err("required");
    batt(&["run", "a.py", "--tasks", "t", "--jobs", "0"])
        .code(2)
        .err("--jobs");
    batt(&["run", "a.py", "--tasks", "t", "--dialect", "x"])
        .code(2)
        .err("arc-dsl");
    batt(&["run", "a.py", "--tasks", "t", "--max-memory", "lots"])
        .code(2)
        .err("256M");
    batt(&["eval", "a.py::f"]).code(2).err("--task");
}

#[test]
fn missing_files() {
    let folder = Folder::with_tasks();
    folder.write("s.py", GOOD);
    let ended = folder.batt(&["run", "nope.py", "--tasks", "tasks"]).error(
        "cannot read nope.py: No such file or directory\n",
        "check the path",
    );
    assert_eq!(ended.stderr.matches("No such file").count(), 1);
    folder
        .batt(&["run", "s.py", "--tasks", "nope"])
        .error("nope: ", "check the path");
    folder
        .batt(&["run", "tasks", "--tasks", "tasks"])
        .error("cannot read tasks", "name a file, not a folder");
    folder
        .batt(&[
            "run",
            "s.py",
            "--tasks",
            "tasks",
            "--output",
            "no/such/dir.jsonl",
        ])
        .error("cannot write no/such/dir.jsonl", "check the path");
    for command in ["check", "fmt"] {
        folder
            .batt(&[command, "nope.py"])
            .error("cannot read nope.py", "check the path");
    }
    folder
        .batt(&["conformance", "nope"])
        .error("nope: no such folder", "check the path");
}

#[test]
fn a_folder_without_tasks() {
    let folder = Folder::new();
    folder.write("s.py", GOOD);
    folder.write("empty/readme.txt", "nothing here");
    folder
        .batt(&["run", "s.py", "--tasks", "empty"])
        .error("empty: no task files in this folder", "name a folder");
    folder
        .batt(&["conformance", "empty"])
        .error("no vectors here", "ops/");
}

#[test]
fn broken_task_files() {
    let folder = Folder::new();
    folder.write("s.py", GOOD);
    for (text, message) in [
        ("{\"train\": [", "t.json: line 1, column"),
        ("", "t.json: line 1, column 1"),
        (
            "[{\"input\": [[1], [2, 3]], \"output\": [[1]]}]",
            "train[0].input: row 1 has 2 cells",
        ),
        (
            "[{\"input\": [[11]], \"output\": [[1]]}]",
            "colours are 0 to 9",
        ),
        ("42", "not a file of tasks"),
    ] {
        folder.write("t.json", text);
        folder
            .batt(&["run", "s.py", "--tasks", "t.json"])
            .error(message, "");
    }
}

#[test]
fn a_ten_megabyte_line_of_json() {
    let folder = Folder::new();
    folder.write("s.py", GOOD);
    folder.write("t.json", format!("[{}0]", "0,".repeat(5 << 20)));
    let started = Instant::now();
    let ended = folder.batt(&["run", "s.py", "--tasks", "t.json"]).code(2);
    assert!(ended.stderr.len() < 2000, "the message is a page long");
    folder.write("s.py", format!("x = {}", "(".repeat(10 << 20)));
    let ended = folder.batt(&["check", "s.py"]).code(1);
    assert!(ended.stdout.len() < 5000, "the message is a page long");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn errors_in_one_function_leave_the_others() {
    for (body, message) in [
        ("return hmirror(I", "error[syntax]"),
        ("return hmiror(I)", "did you mean 'hmirror'?"),
        ("return hmirror(I, I)", "error[wrong-arity]"),
        ("for x in I: pass", "error[unsupported-statement]"),
    ] {
        let folder = Folder::with_tasks();
        folder.write("s.py", format!("{GOOD}\ndef solve_bb22(I):\n    {body}\n"));
        let ended = folder
            .batt(&["run", "s.py", "--tasks", "tasks"])
            .code(1)
            .err(message);
        assert_eq!(ended.last_line(), "solved 1 of 1 tasks, 3 of 3 pairs");
        folder.batt(&["check", "s.py"]).code(1).out(message);
        folder
            .batt(&["fmt", "s.py"])
            .code(1)
            .err("s.py is not changed");
    }
}

#[test]
fn files_without_solvers() {
    let folder = Folder::with_tasks();
    folder.write("s.py", "");
    folder
        .batt(&["run", "s.py", "--tasks", "tasks"])
        .error("no solver in s.py", "def solve_");
    folder
        .batt(&["check", "s.py"])
        .code(0)
        .out("0 solvers in 1 file");
    folder.write("s.py", "def solve_aa11(I):\n    return hmiror(I)\n");
    folder
        .batt(&["run", "s.py", "--tasks", "tasks"])
        .error("no solver in s.py", "above");
    folder.write("s.py", "def solve_cc33(I):\n    return I\n");
    folder.batt(&["run", "s.py", "--tasks", "tasks"]).error(
        "no solver is named after a task here (1 solver, 2 tasks)",
        "--all-pairs",
    );
}

#[test]
fn a_file_that_is_not_text() {
    let folder = Folder::with_tasks();
    folder.write("s.py", b"def f(I):\n    return I  # \xff\xfe\n");
    folder
        .batt(&["run", "s.py", "--tasks", "tasks"])
        .error("s.py:2:17: not valid UTF-8", "save the file as UTF-8");
}

#[test]
fn programs_that_exceed_limits() {
    let folder = Folder::with_tasks();
    let folder = &folder;
    for (body, fault) in [
        // A billion cells in one call.
        (
            "a = multiply(multiply(TEN, TEN), TEN)\n    b = multiply(a, a)\n    return canvas(ZERO, astuple(b, a))",
            "SizeLimit in canvas, s.py:4",
        ),
        // Forty times doubling.
        (
            "f = power(fork(vconcat, identity, identity), 40)\n    return f(I)",
            "Limit in f, s.py:3",
        ),
        // Ten billion elements.
        (
            "a = interval(ZERO, 100000, ONE)\n    return product(a, a)",
            "SizeLimit in product",
        ),
        // Endless nesting.
        (
            "f = power(rbind(astuple, ONE), 100000)\n    return f(I)",
            "RecursionError in",
        ),
        (
            "a = multiply(9223372036854775807, TWO)\n    return a",
            "IntegerOverflow in multiply",
        ),
    ] {
        folder.write("s.py", format!("def s_aa11(I):\n    {body}\n"));
        let started = Instant::now();
        folder
            .batt(&["run", "s.py", "--tasks", "tasks"])
            .code(1)
            .out(fault);
        assert!(started.elapsed() < Duration::from_secs(20), "{body}");
        folder
            .batt(&["eval", "s.py", "--task", "tasks"])
            .code(1)
            .out("failed: ");
    }
}

#[test]
fn limits_can_be_set() {
    let folder = Folder::with_tasks();
    folder.write("s.py", "def s_aa11(I):\n    a = interval(ZERO, 1000, ONE)\n    b = product(a, (1, 2, 3))\n    return hmirror(I)\n");
    let run = |args: &[&str]| folder.batt(&[&["run", "s.py", "--tasks", "tasks"], args].concat());
    run(&[]).code(0);
    run(&["--max-size", "100"])
        .code(1)
        .out("SizeLimit in interval");
    run(&["--max-steps", "100"]).code(1).out("StepLimit in");
    run(&["--max-memory", "4K"]).code(1).out("MemoryLimit in");
}

#[test]
fn bad_grids_and_pairs() {
    let folder = Folder::with_tasks();
    folder.write("s.py", GOOD);
    for (grid, message) in [
        ("", "no rows"),
        ("01\n2", "row 1 has 1 cell"),
        ("0a", "'a' is no digit"),
        ("[[1, 2", "EOF"),
        ("[[77]]", "colours are 0 to 9"),
    ] {
        folder
            .batt_with(&["eval", "s.py", "--grid", "-"], grid)
            .error(message, "lines of digits");
    }
    folder
        .batt(&["eval", "s.py", "--task", "tasks/aa11.json:test:5"])
        .error("task aa11 has no test[5]", "2 train and 1 test");
    folder
        .batt(&["eval", "s.py::solve_aa12", "--task", "tasks"])
        .error("no solver 'solve_aa12'", "did you mean 'solve_aa11'?");
}

#[test]
fn devices_that_are_not_there() {
    let folder = Folder::with_tasks();
    folder.write("s.py", "def solve_aa11(I):\n    return hmirror(I)\n");
    let run = |device: &str| folder.batt(&["run", "s.py", "--tasks", "tasks", "--device", device]);
    run("cuda:99").error("no device", "batt device");
    run("gpu").code(2).err("write auto, cpu, cuda");
    folder
        .batt(&["conformance", "tasks", "--no-fallback"])
        .error("--no-fallback needs a device", "--device");
    if cfg!(not(feature = "emulated")) {
        run("emulated").error("without the emulated device", "--features emulated");
    }
}

#[test]
fn a_pair_that_is_none() {
    let folder = Folder::with_tasks();
    folder.write("s.py", GOOD);
    let eval = |task: &str| folder.batt(&["eval", "s.py", "--task", task]);
    for pair in ["eval:0", "test:last", "test:99999999999999999999", "1"] {
        eval(&format!("tasks:{pair}")).error(
            &format!("'{pair}' is neither a task nor a pair of tasks"),
            "tasks:train:0",
        );
    }
    eval("tasks:aa12").error("'aa12' is neither a task", "did you mean tasks:aa11?");
    eval("nowhere:test:0").error("cannot read nowhere: No such file", "check the path");
    eval("nowhere:1").error("cannot read nowhere:1: No such file", "check the path");
}

#[test]
fn a_batt_in_place_of_solvers() {
    let folder = Folder::with_tasks();
    folder.write("s.py", GOOD);
    folder.batt(&["card", "s.py", "-o", "batt.py"]).code(0);
    folder
        .batt(&["run", "batt.py", "--tasks", "tasks"])
        .error("no solver in batt.py", "`batt mega` runs it");
}

#[test]
fn numbers_that_are_none() {
    for (args, message) in [
        (
            &["card", "s.py", "-o", "b.py", "--seed", "-1"][..],
            "invalid value '-1' for '--seed <N>': write a whole number from 0 on",
        ),
        (
            &["card", "s.py", "-o", "b.py", "--count", "0"],
            "write a whole number from 1 on",
        ),
        (
            &[
                "card",
                "s.py",
                "-o",
                "b.py",
                "--mutants",
                "18446744073709551615",
            ],
            "write a number from 1 to 1,000,000",
        ),
        (
            &["run", "s.py", "--tasks", "t", "-j", "-1"],
            "invalid value '-1' for '--jobs <N>': write a whole number from 1 on",
        ),
        (
            &["evolve", "--islands", "1000000"],
            "write a number from 1 to 1,000",
        ),
        (
            &["evolve", "--generations", "99999999999999999999"],
            "that is too large",
        ),
        (
            &["archive", "top", "-1"],
            "invalid value '-1' for '[N]': write a whole number from 0 on",
        ),
        (
            &["bench", "--seconds", "-1"],
            "write a number of seconds, such as 10 or 0.5",
        ),
    ] {
        batt(args).code(2).err(message);
    }
    // An option that takes nothing is still one.
    batt(&["demo", "-1"])
        .code(2)
        .err("unexpected argument '-1'");
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_made() {
    let folder = Folder::with_tasks();
    folder.write("s.py", GOOD);
    folder.write("file", "");
    folder.batt(&["card", "s.py", "-o", "b.py"]).code(0);
    folder
        .batt(&["extract", "b.py", "--all", "file"])
        .error("cannot make file", "name a folder, not a file");
    folder
        .batt(&["completions", "--man", "file"])
        .error("cannot write manual pages to file", "name a folder");
    folder
        .batt(&["kaggle", "bundle", "-o", "-"])
        .error("a bundle cannot be written to stdout", "name a folder");
}
