//! `batt submit`: writing and checking submissions.

use std::path::{Path, PathBuf};
use std::process::Command;

use batt::Score;
use batt::archive::{Archive, NewEntry, Retention, RunInfo};
use batt::submission::Draft;
use batt::{SolverFile, corpus};
use serde_json::{Value as Json, json};

use crate::support::{Ended, Folder, MIRROR, command};

/// A solver for a task, with the number of demonstrations that it solves, and its closeness.
struct Solver<'s> {
    source: &'s str,
    task: &'s str,
    solved: u32,
    demos: u32,
    closeness: u32,
}

/// Creates an archive of solvers.
fn archive(path: &Path, solvers: &[Solver<'_>]) {
    let found = solvers.iter().map(|solver| {
        let file = SolverFile::parse(solver.source, "solver.py");
        let program = file.programs[0].clone();
        NewEntry {
            parents: Vec::new(),
            mutation: "seed".into(),
            task: solver.task.into(),
            task_hash: "0".into(),
            score: Score {
                demos_solved: solver.solved,
                demos: solver.demos,
                closeness: solver.closeness,
                size: program.steps().len() as u32,
                cost: 1,
            },
            // Distinct outputs keep the solvers from displacing each other.
            outputs: solver.source.len() as u64,
            program,
        }
    });
    let found: Vec<NewEntry> = found.collect();
    let mut archive = Archive::open(path).unwrap();
    let run = archive.begin_run(&RunInfo::default()).unwrap();
    archive
        .save(run, &found, &Retention::default(), None)
        .unwrap();
}

/// Creates an archive of one solver that solves everything.
pub fn archive_of(path: &Path, source: &str, task: &str) {
    archive(path, &[solver(source, task, 2)]);
}

fn solver<'s>(source: &'s str, task: &'s str, solved: u32) -> Solver<'s> {
    Solver {
        source,
        task,
        solved,
        demos: 2,
        closeness: solved * 500_000,
    }
}

const HMIRROR: &str = "def solve(I):\n    O = hmirror(I)\n    return O\n";
const ROT180: &str = "def solve(I):\n    O = rot180(I)\n    return O\n";
const LONG_HMIRROR: &str = "def solve(I):\n    x1 = vmirror(I)\n    x2 = rot180(x1)\n    x3 = hmirror(x2)\n    O = hmirror(x3)\n    return O\n";
const SIZE: &str = "def solve(I):\n    O = size(I)\n    return O\n";
const LARGE: &str =
    "def solve(I):\n    x1 = astuple(THREE, 31)\n    O = canvas(ZERO, x1)\n    return O\n";
const FAILS: &str = "def solve(I):\n    x1 = crop(I, ORIGIN, THREE)\n    return x1\n";

/// Parses a submission. Task `aa11` mirrors top to bottom; its test is `[[7], [8]]`.
fn submission(folder: &Folder, name: &str) -> Json {
    serde_json::from_str(&folder.read(name)).unwrap()
}

#[test]
fn fillers_where_there_is_no_archive() {
    let folder = Folder::with_tasks();
    folder
        .batt(&["submit", "--tasks", "tasks"])
        .code(0)
        .out("wrote submission.json: 2 outputs, all of them fillers\n");
    let filler = json!([[0, 0], [0, 0]]);
    let answer = json!([{"attempt_1": filler, "attempt_2": filler}]);
    assert_eq!(
        submission(&folder, "submission.json"),
        json!({"aa11": answer, "bb22": answer})
    );
    folder
        .batt(&["submit", "--check", "submission.json", "--tasks", "tasks"])
        .code(0)
        .out("valid: 2 tasks, 2 outputs\n");
}

#[test]
fn the_best_two_outputs_are_the_attempts() {
    let folder = Folder::with_tasks();
    // One solver solves all demonstrations and one solves none; the others return no grid.
    archive(
        &folder.path("a.sqlite"),
        &[
            solver(ROT180, "aa11", 1),
            solver(HMIRROR, "aa11", 2),
            solver(LARGE, "aa11", 0),
            solver(FAILS, "aa11", 0),
            solver(SIZE, "aa11", 0),
            solver(
                "def solve(I):\n    O = vmirror(I)\n    return O\n",
                "aa11",
                0,
            ),
        ],
    );
    let args = [
        "submit",
        "--tasks",
        "tasks",
        "--archive",
        "a.sqlite",
        "-o",
        "s.json",
        "--json",
    ];
    let summary: Json = serde_json::from_str(&folder.batt(&args).code(0).stdout).unwrap();
    // `vmirror` leaves the test as it is, so it gives the second best distinct answer.
    assert_eq!(
        submission(&folder, "s.json")["aa11"],
        json!([{"attempt_1": [[8], [7]], "attempt_2": [[7], [8]]}])
    );
    assert_eq!(summary["outputs"], 2);
    assert_eq!(summary["outputs_answered"], 1);
    assert_eq!(summary["outputs_answered_twice"], 1);
    assert_eq!(summary["tasks_with_demos_solved"], 1);
    assert_eq!(summary["solvers"], 6);
    assert_eq!(summary["interrupted"], false);
    folder
        .batt(&["submit", "--check", "s.json", "--tasks", "tasks"])
        .code(0);
}

#[test]
fn without_a_solver_of_all_demonstrations_the_best_ones_answer() {
    let folder = Folder::with_tasks();
    archive(&folder.path("a.sqlite"), &[solver(ROT180, "aa11", 1)]);
    folder
        .batt(&["submit", "--tasks", "tasks", "--archive", "a.sqlite"])
        .code(0)
        .out("solvers for 1 of 2 tasks, 0 tasks solved on all demonstrations\n")
        .out("2 outputs, 1 of them answered, 0 with two attempts\n");
    assert_eq!(
        submission(&folder, "submission.json")["aa11"],
        json!([{"attempt_1": [[8], [7]], "attempt_2": [[0, 0], [0, 0]]}])
    );
}

/// A score in the archive may belong to another version of the task.
#[test]
fn archived_scores_are_not_trusted() {
    let folder = Folder::with_tasks();
    archive(
        &folder.path("a.sqlite"),
        &[
            solver("def solve(I):\n    return vmirror(I)\n", "aa11", 2),
            solver(LONG_HMIRROR, "aa11", 0),
        ],
    );
    folder
        .batt(&["submit", "--tasks", "tasks", "--archive", "a.sqlite"])
        .code(0)
        .out("1 task solved on all demonstrations");
    let first = &submission(&folder, "submission.json")["aa11"][0]["attempt_1"];
    assert_eq!(first, &json!([[8], [7]]));
}

#[test]
fn test_outputs_are_never_looked_at() {
    let folder = Folder::with_tasks();
    let solvers = [solver(HMIRROR, "aa11", 2), solver(ROT180, "aa11", 1)];
    archive(&folder.path("a.sqlite"), &solvers);
    let (before, test) = MIRROR.split_at(MIRROR.find("\"test\"").unwrap());
    let submit = |output: &str| {
        let test = test.replace(", \"output\": [[8], [7]]", output);
        folder.write("t/aa11.json", format!("{before}{test}"));
        folder
            .batt(&[
                "submit",
                "--tasks",
                "t",
                "--archive",
                "a.sqlite",
                "-o",
                "s.json",
            ])
            .code(0);
        folder.read("s.json")
    };
    let known = submit(", \"output\": [[8], [7]]");
    assert_eq!(submit(", \"output\": [[1, 2, 3]]"), known);
    assert_eq!(submit(""), known);
}

#[test]
fn the_corpus_is_solved_from_an_archive_of_its_solvers() {
    let folder = Folder::new();
    let mut challenges = serde_json::Map::new();
    let mut solutions = serde_json::Map::new();
    for (id, text) in corpus::FILES {
        folder.write(&format!("tasks/{id}.json"), text);
        let mut task: Json = serde_json::from_str(text).unwrap();
        let output = task["test"][0]["output"].take();
        task["test"][0].as_object_mut().unwrap().remove("output");
        challenges.insert((*id).to_owned(), task);
        solutions.insert((*id).to_owned(), json!([output]));
    }
    folder.write("k/c_challenges.json", Json::from(challenges).to_string());
    folder.write("k/c_solutions.json", Json::from(solutions).to_string());
    let file = SolverFile::parse(corpus::SOLVERS, "solvers.py");
    let sources: Vec<(String, String)> = file
        .programs
        .iter()
        .map(|program| (program.name().replace("solve_", ""), program.to_string()))
        .collect();
    let solvers: Vec<Solver<'_>> = sources
        .iter()
        .map(|(task, source)| Solver {
            source,
            task,
            solved: 3,
            demos: 3,
            closeness: 1_000_000,
        })
        .collect();
    archive(&folder.path("a.sqlite"), &solvers);
    let mut texts = Vec::new();
    for (tasks, jobs) in [("tasks", "1"), ("k", "3"), ("k/c_challenges.json", "2")] {
        let args = [
            "submit",
            "--tasks",
            tasks,
            "--archive",
            "a.sqlite",
            "--jobs",
            jobs,
        ];
        folder
            .batt(&args)
            .code(0)
            .out("65 tasks solved on all demonstrations");
        folder
            .batt(&["submit", "--check", "submission.json", "--tasks", tasks])
            .code(0)
            .out("valid: 65 tasks, 65 outputs");
        folder
            .batt(&["score", "submission.json", "--tasks", tasks])
            .code(0)
            .out("100.00 %  65 of 65 tasks with all outputs right");
        texts.push(folder.read("submission.json"));
    }
    assert!(texts.iter().all(|text| *text == texts[0]));
}

#[test]
fn answers_in_the_file_can_be_kept() {
    let folder = Folder::with_tasks();
    archive(&folder.path("a.sqlite"), &[solver(HMIRROR, "aa11", 2)]);
    let five = json!([{"attempt_1": [[5]], "attempt_2": [[6]]}]);
    folder.write("s.json", json!({"aa11": five, "bb22": five}).to_string());
    let args = [
        "submit",
        "--tasks",
        "tasks",
        "--archive",
        "a.sqlite",
        "-o",
        "s.json",
    ];
    let keep = [args.as_slice(), &["--keep"]].concat();
    folder.batt(&keep).code(0);
    let kept = submission(&folder, "s.json");
    assert_eq!(kept["bb22"], five);
    assert_eq!(kept["aa11"][0]["attempt_1"], json!([[8], [7]]));
    // Without `--keep`, or if the file is invalid, the answers are replaced.
    folder.batt(&args).code(0);
    assert_eq!(
        submission(&folder, "s.json")["bb22"][0]["attempt_1"],
        json!([[0, 0], [0, 0]])
    );
    folder.write("s.json", json!({"bb22": five}).to_string());
    folder
        .batt(&keep)
        .code(0)
        .err("not a valid submission for these tasks");
    assert_eq!(
        submission(&folder, "s.json")["bb22"][0]["attempt_1"],
        json!([[0, 0], [0, 0]])
    );
}

#[test]
fn bad_archives_change_no_file() {
    let folder = Folder::with_tasks();
    let submit = |archive: &str| {
        folder.batt(&[
            "submit",
            "--tasks",
            "tasks",
            "--archive",
            archive,
            "-o",
            "s.json",
        ])
    };
    submit("nowhere.sqlite")
        .error("nowhere.sqlite: there is no such archive", "batt evolve")
        .err("s.json has only fillers");
    assert_eq!(submission(&folder, "s.json").as_object().unwrap().len(), 2);
    assert!(!folder.path("nowhere.sqlite").exists());
    // An existing file is not changed.
    folder.write("s.json", "mine");
    folder.write("text.sqlite", "this is no database, only some text");
    submit("text.sqlite").error("not an archive", "another file");
    submit("tasks").error("tasks", "");
    assert_eq!(folder.read("s.json"), "mine");

    archive(&folder.path("empty.sqlite"), &[]);
    submit("empty.sqlite")
        .code(0)
        .err("empty.sqlite has no solver for any of these tasks");
    folder
        .batt(&["submit", "--check", "s.json", "--tasks", "tasks"])
        .code(0);
}

/// A damaged solver or page in an archive is an error, and no file of fillers hides it.
#[test]
fn a_damaged_archive_is_an_error_and_nothing_is_written() {
    let folder = Folder::with_tasks();
    let submit = || {
        let args = ["submit", "--tasks", "tasks", "--archive", "a.sqlite"];
        folder.batt(&args)
    };
    archive(&folder.path("a.sqlite"), &[solver(HMIRROR, "aa11", 2)]);
    let good = std::fs::read(folder.path("a.sqlite")).unwrap();
    let replaced = |from: &[u8], to: &[u8]| {
        let mut bytes = good.clone();
        let at = bytes.windows(from.len()).position(|part| part == from);
        let at = at.expect("the text is in the file");
        bytes[at..at + to.len()].copy_from_slice(to);
        bytes
    };
    // A solver that cannot be parsed, and one that does not match its hash.
    for name in [b"hmirrxx", b"vmirror"] {
        folder.write("a.sqlite", replaced(b"hmirror(I)", name));
        submit().error("a.sqlite: the archive is damaged", "restore a copy");
        assert!(!folder.path("submission.json").exists());
    }
    // Damages every page but the first, one at a time.
    let page = 4096;
    for at in (page..good.len()).step_by(page) {
        let mut bytes = good.clone();
        bytes[at..at + 600].fill(0x5a);
        folder.write("a.sqlite", bytes);
        submit().error("a.sqlite", "restore a copy");
        assert!(!folder.path("submission.json").exists());
    }
    folder.write("a.sqlite", good);
    submit().code(0).out("1 task solved on all demonstrations");
}

#[test]
fn bad_outputs_are_refused() {
    let folder = Folder::with_tasks();
    let submit = |output: &str| folder.batt(&["submit", "--tasks", "tasks", "-o", output]);
    submit("no/such/folder/s.json").error("cannot write", "check the path");
    folder.write("folder/x", "");
    submit("folder").error("cannot write folder", "name a file");
    submit("-").error("cannot write -", "name a file");
    submit("/dev/null").error("it is not a file", "name a file");
    submit("tasks").error("one of the files to read", "another name");
    folder.write(
        "c.json",
        r#"{"a": {"train": [{"input": [[1]], "output": [[1]]}], "test": [{"input": [[1]]}]}}"#,
    );
    folder
        .batt(&["submit", "--tasks", "c.json", "-o", "c.json"])
        .error("one of the files to read", "another name");
    folder.write("pairs.json", r#"[{"input": [[1]], "output": [[2]]}]"#);
    folder
        .batt(&["submit", "--tasks", "pairs.json"])
        .error("none of these tasks has a test input", "");
    assert!(!folder.path("submission.json").exists());
    // Without tasks there must be a submission to check.
    folder.batt(&["submit"]).code(2).err("--tasks");
    folder
        .batt(&["submit", "--check", "s.json", "--archive", "a"])
        .code(2);
}

#[test]
fn the_checker_names_everything() {
    let folder = Folder::with_tasks();
    let check = |text: &str| {
        folder.write("s.json", text);
        folder.batt(&["submit", "--check", "s.json", "--tasks", "tasks"])
    };
    let good = r#"[{"attempt_1": [[1]], "attempt_2": [[2]]}]"#;
    check(&format!(r#"{{"aa11": {good}, "bb22": {good}}}"#))
        .code(0)
        .out("valid: 2 tasks");
    check(&format!(r#"{{"aa11": {good}, "cc33": {good}}}"#))
        .code(1)
        .out("s.json: task bb22: no answers to this task\n")
        .out("s.json: task cc33: there is no such task\n")
        .out("not valid: 2 findings, 2 tasks, 2 outputs\n");
    check(&format!(
        r#"{{"aa11": {good}, "bb22": [{{"attempt_1": [[1, 2], [3]]}}]}}"#
    ))
    .code(1)
    .out("s.json: task bb22, test[0].attempt_1: row 1 has 1 cell, row 0 has 2\n")
    .out("s.json: task bb22, test[0]: there is no \"attempt_2\"\n");
    check("[]").code(1).out("not a submission: s.json is");
    check("{}").code(1);
    check("{").error("s.json: line 1", "");

    // A submission can be checked on its own, with JSON output.
    folder.write("s.json", format!(r#"{{"cc33": {good}}}"#));
    folder
        .batt(&["submit", "--check", "s.json"])
        .code(0)
        .err("task ids are not checked");
    let args = ["submit", "--check", "s.json", "--tasks", "tasks", "--json"];
    let json: Json = serde_json::from_str(&folder.batt(&args).code(1).stdout).unwrap();
    assert_eq!(json["valid"], false);
    assert_eq!(json["findings"][0]["code"], "missing-task");
    folder
        .batt(&["submit", "--check", "nowhere.json"])
        .error("cannot read nowhere.json", "check the path");
}

/// After Ctrl-C the file is valid, and the exit code reports the interrupt.
#[cfg(unix)]
#[test]
fn an_interrupted_submission_is_valid() {
    let folder = Folder::new();
    let ids: Vec<String> = (0..60).map(|k| format!("t{k:02}")).collect();
    // Each solver takes some milliseconds, and all of them many seconds. Every step counts for the
    // result, because an archive drops the others.
    let slow = |k: usize| {
        let filtered: String = (0..3 + k)
            .map(|n| format!("    I = replace(I, size(sfilter(x2, matcher(first, {n}))), ZERO)\n"))
            .collect();
        format!(
            "def solve(I):\n    x1 = interval(ZERO, 400, ONE)\n    x2 = product(x1, x1)\n{filtered}    \
             return I\n"
        )
    };
    let slow: Vec<String> = (0..10).map(slow).collect();
    let mut solvers = Vec::new();
    for id in &ids {
        folder.write(&format!("tasks/{id}.json"), MIRROR);
        solvers.extend(slow.iter().map(|source| solver(source, id, 0)));
    }
    archive(&folder.path("a.sqlite"), &solvers);
    let args = [
        "submit",
        "--tasks",
        "tasks",
        "--archive",
        "a.sqlite",
        "--jobs",
        "1",
    ];
    let child = command(&folder.path(""), &args).spawn().unwrap();
    // The file exists before any solver has run.
    let waited = std::time::Instant::now();
    while !folder.path("submission.json").exists() {
        assert!(waited.elapsed().as_secs() < 30, "no submission");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let first = folder.read("submission.json");
    let pid = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &pid]).status();
    assert!(kill.unwrap().success());
    Ended::from(child.wait_with_output().unwrap())
        .code(130)
        .out("(interrupted)");
    let data = batt::Dataset::load(folder.path("tasks")).unwrap();
    for text in [first, folder.read("submission.json")] {
        let draft = Draft::from_json("submission.json", text.as_bytes()).unwrap();
        assert_eq!(draft.check(&data), []);
    }
    let files = std::fs::read_dir(folder.path("")).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    let is_left = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".tmp");
    assert!(!names.iter().any(is_left), "{names:?}");
}

/// Uses the published task sets if they are available; see `docs/testing.md`.
#[test]
fn fillers_for_published_tasks_are_valid() {
    let shared = match std::env::var_os("BATT_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    for (set, outputs) in [("arc-agi-1/evaluation", 419), ("arc-agi-2/evaluation", 167)] {
        let tasks = shared.join("data").join(set);
        if !tasks.is_dir() {
            eprintln!("skipped: no {}", tasks.display());
            continue;
        }
        let folder = Folder::new();
        let tasks = tasks.to_str().unwrap();
        folder.batt(&["submit", "--tasks", tasks]).code(0);
        let valid = format!("{outputs} outputs");
        folder
            .batt(&["submit", "--check", "submission.json", "--tasks", tasks])
            .code(0)
            .out("valid: ")
            .out(&valid);
        folder
            .batt(&["score", "submission.json", "--tasks", tasks])
            .code(0)
            .out("0.00 %");
    }
}
