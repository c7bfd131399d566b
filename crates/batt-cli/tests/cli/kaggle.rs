//! `batt kaggle bundle`: the contents of the folder, and a run as on Kaggle.

use std::process::{Command, Stdio};

use batt::archive::{Archive, RunInfo};
use serde_json::Value as Json;

use crate::support::{Ended, Folder, MIRROR};

fn json(folder: &Folder, name: &str) -> Json {
    serde_json::from_str(&folder.read(name)).unwrap()
}

const SOLVER: &str = "def solve_aa11(I):\n    O = hmirror(I)\n    return O\n";

#[test]
fn a_bundle_is_complete() {
    let folder = Folder::new();
    folder.write("one/s.py", SOLVER);
    folder.write("two/s.py", SOLVER);
    drop(Archive::open(&folder.path("a.sqlite")).unwrap());
    let args = [
        "kaggle",
        "bundle",
        "-o",
        "bundle",
        "--user",
        "me",
        "--time",
        "11h30m",
        "--archive",
        "a.sqlite",
        "--solvers",
        "one/s.py",
        "two/s.py",
        "--accelerator",
        "NvidiaL4",
    ];
    // The exit code is 1 if the tests run with a newer C library than Kaggle's.
    let ended = folder.batt(&args);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    ended.out("wrote bundle: dataset/, kernel/, README.md");

    let mut dataset: Vec<String> = std::fs::read_dir(folder.path("bundle/dataset"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    dataset.sort();
    assert_eq!(
        dataset,
        [
            "batt",
            "dataset-metadata.json",
            "s-2.py",
            "s.py",
            "seed.sqlite"
        ]
    );
    let own = std::fs::metadata(env!("CARGO_BIN_EXE_batt")).unwrap();
    let copy = std::fs::metadata(folder.path("bundle/dataset/batt")).unwrap();
    assert_eq!(copy.len(), own.len());

    let kernel = json(&folder, "bundle/kernel/kernel-metadata.json");
    assert_eq!(kernel["id"], "me/batt-arc");
    assert_eq!(kernel["enable_gpu"], true);
    assert_eq!(kernel["enable_internet"], false);
    assert_eq!(kernel["machine_shape"], "NvidiaL4");
    let data = json(&folder, "bundle/dataset/dataset-metadata.json");
    assert_eq!(kernel["dataset_sources"][0], data["id"]);
    let code_file = kernel["code_file"].as_str().unwrap();
    let notebook = json(&folder, &format!("bundle/kernel/{code_file}"));
    assert_eq!(notebook["nbformat"], 4);
    let script = folder.read("bundle/kernel/batt.py");
    assert!(script.contains("\"seconds\":41400"), "{script}");
    let readme = folder.read("bundle/README.md");
    assert!(readme.contains("11 h 30 min of the 12 hours"), "{readme}");
    assert!(
        !readme.contains('{') && !readme.contains("YOUR"),
        "{readme}"
    );

    // A second bundle would mix with the first.
    folder
        .batt(&args)
        .error("bundle is not empty", "new folder");
}

#[test]
fn bad_bundles_are_refused_before_anything_is_written() {
    let folder = Folder::new();
    let bundle = |more: &[&str]| folder.batt(&[&["kaggle", "bundle", "-o", "b"], more].concat());
    bundle(&["--binary", "nowhere"]).error("cannot read nowhere", "check the path");
    bundle(&["--archive", "nowhere"]).error("there is no such archive", "check the path");
    // The last saves are not in the file yet.
    crate::submit::archive_of(&folder.path("open.sqlite"), SOLVER, "aa11");
    let mut open = Archive::open(&folder.path("open.sqlite")).unwrap();
    open.begin_run(&RunInfo::default()).unwrap();
    bundle(&["--archive", "open.sqlite"]).error("another process", "wait until that process ends");
    drop(open);
    bundle(&["--solvers", "nowhere.py"]).error("nowhere.py", "check the path");
    folder.write("empty.py", "");
    bundle(&["--solvers", "empty.py"]).error("no solver in empty.py", "");
    bundle(&["--time", "soon"]).code(2).err("11h");
    bundle(&["--name", "My Notebook"]).code(2).err("hyphens");
    for option in ["--user", "--competition"] {
        bundle(&[option, "../me"]).code(2).err("letters, digits");
    }
    assert!(!folder.path("b").exists());
    folder.write("file", "");
    folder
        .batt(&["kaggle", "bundle", "-o", "file"])
        .error("cannot write file", "");

    // This is not a program for Kaggle. The bundle is written, with a warning.
    folder.write("script", "#!/bin/sh\n");
    bundle(&["--binary", "script", "--time", "13h"])
        .code(1)
        .err("not built for Linux on x86-64")
        .err("--binary")
        .err("Kaggle ends a notebook after 12 hours")
        .err("--user was not given");
    assert!(folder.read("b/README.md").contains("YOUR-KAGGLE-NAME"));
}

/// A machine like Kaggle's: a dataset and the data of a competition under `input/`, and an empty
/// `working/`.
#[cfg(unix)]
struct Machine {
    folder: Folder,
}

#[cfg(unix)]
impl Machine {
    /// Creates a machine whose program passes all calls on to the real one, except that it evolves
    /// with the given script.
    fn new(competition: &str, evolve: &str) -> Option<Machine> {
        if Command::new("python3").arg("--version").output().is_err() {
            eprintln!("skipped: no python3");
            return None;
        }
        let folder = Folder::new();
        let stub = format!(
            "#!/bin/sh\necho \"$@\" >> calls\ncase \"$1\" in\nevolve)\n{evolve}\n;;\n*) exec {} \"$@\" ;;\nesac\n",
            env!("CARGO_BIN_EXE_batt")
        );
        folder.write("stub", stub);
        folder.write("s.py", SOLVER);
        let args = [
            "kaggle",
            "bundle",
            "-o",
            "b",
            "--binary",
            "stub",
            "--solvers",
            "s.py",
        ];
        folder.batt(&args).code(1);
        // An upload loses execute permissions.
        for file in ["batt", "s.py"] {
            folder.write(
                &format!("input/my-data/{file}"),
                std::fs::read(folder.path("b/dataset").join(file)).unwrap(),
            );
        }
        let task: Json = serde_json::from_str(MIRROR).unwrap();
        let challenges = serde_json::json!({"aa11": task}).to_string();
        let challenges = challenges.replace(",\"output\":[[8],[7]]", "");
        folder.write(
            &format!("input/{competition}/arc-agi_test_challenges.json"),
            challenges,
        );
        // Other datasets are there as well and must be ignored.
        folder.write("input/aaa/arc-agi_training_challenges.json", "{");
        Some(Machine { folder })
    }

    /// Runs the script for some seconds.
    fn run(&self, seconds: &str, rerun: bool) -> Ended {
        let folder = &self.folder;
        let mut command = Command::new("python3");
        command
            .arg(folder.path("b/kernel/batt.py"))
            .current_dir(folder.path(""))
            .env("BATT_KAGGLE_INPUT", folder.path("input"))
            .env("BATT_KAGGLE_WORKING", folder.path("working"))
            .env("BATT_KAGGLE_PROGRAM", folder.path("program"))
            .env("BATT_KAGGLE_SECONDS", seconds)
            .env("BATT_KAGGLE_SUBMIT_EVERY", "1")
            .env_remove("KAGGLE_IS_COMPETITION_RERUN")
            .stdin(Stdio::null());
        if rerun {
            command.env("KAGGLE_IS_COMPETITION_RERUN", "1");
        }
        Ended::from(command.output().unwrap())
    }

    fn calls(&self) -> Vec<String> {
        self.folder
            .read("calls")
            .lines()
            .map(str::to_owned)
            .collect()
    }

    fn answer(&self) -> Json {
        json(&self.folder, "working/submission.json")["aa11"][0]["attempt_1"].clone()
    }
}

/// Creates an archive with the solver of the task.
#[cfg(unix)]
fn found(folder: &Folder) {
    crate::submit::archive_of(&folder.path("found.sqlite"), SOLVER, "aa11");
}

#[cfg(unix)]
#[test]
fn it_runs_as_on_kaggle() {
    let competition = "competitions/arc-prize-2026-arc-agi-2";
    // Evolution finds a solver and continues until it is interrupted.
    let evolve = "trap 'echo stopped >> calls; exit 130' INT\ncp found.sqlite \"$5\"\necho generation 1\n\
                  while true; do sleep 0.1; done";
    let Some(machine) = Machine::new(competition, evolve) else {
        return;
    };
    found(&machine.folder);
    machine
        .run("5", true)
        .code(0)
        .out("competition rerun for 5 s")
        .out("   generation 1\n")
        .out("valid: 1 task, 1 output\n")
        .out("1 of 1 outputs answered");
    assert_eq!(machine.answer(), serde_json::json!([[8], [7]]));
    let calls = machine.calls();
    let working = machine.folder.path("working").display().to_string();
    let input = machine.folder.path("input").display().to_string();
    let tasks = format!("{input}/{competition}/arc-agi_test_challenges.json");
    // Fillers come before evolution, answers during evolution, and the check comes last.
    assert_eq!(calls[0], "--version");
    assert_eq!(
        calls[1],
        format!("submit --tasks {tasks} -o {working}/submission.json --keep")
    );
    let evolve = calls
        .iter()
        .position(|call| call.starts_with("evolve"))
        .unwrap();
    assert_eq!(
        calls[evolve],
        format!(
            "evolve --tasks {tasks} --archive {working}/batt.sqlite --device auto --time 4s \
             --solvers {input}/my-data/s.py"
        )
    );
    let stopped = calls.iter().position(|call| call == "stopped").unwrap();
    let submits = |calls: &[String]| {
        calls
            .iter()
            .filter(|call| call.contains("--archive"))
            .count()
    };
    assert!(submits(&calls[evolve + 1..stopped]) >= 1, "{calls:?}");
    assert_eq!(submits(&calls[stopped..]), 1, "{calls:?}");
    assert!(calls[calls.len() - 1].starts_with("submit --check"));
}

#[cfg(unix)]
#[test]
fn evolution_that_fails_is_tried_again_and_the_submission_stays_valid() {
    let Some(machine) = Machine::new("arc-prize-2026-arc-agi-2", "echo no device\nexit 2") else {
        return;
    };
    // The answers use the seed archive nevertheless.
    found(&machine.folder);
    let seed = std::fs::read(machine.folder.path("found.sqlite")).unwrap();
    machine.folder.write("input/my-data/seed.sqlite", seed);
    machine
        .run("30", false)
        .code(0)
        .out("trial run")
        .out("   no device\n")
        .out("giving up on evolution")
        .out("valid: 1 task, 1 output\n");
    assert_eq!(machine.answer(), serde_json::json!([[8], [7]]));
    let calls = machine.calls();
    let evolves: Vec<&String> = calls
        .iter()
        .filter(|call| call.starts_with("evolve"))
        .collect();
    assert_eq!(evolves.len(), 3);
    assert!(!evolves[0].contains("--resume") && evolves[1].contains("--resume"));
    assert!(evolves[1].contains("--device auto") && evolves[2].contains("--device cpu"));
}

#[cfg(unix)]
#[test]
fn missing_inputs_are_reported() {
    let Some(machine) = Machine::new("arc-prize-2026-arc-agi-2", "exit 0") else {
        return;
    };
    let data = machine.folder.path("input/my-data");
    let moved = machine.folder.path("moved");
    std::fs::rename(&data, &moved).unwrap();
    machine
        .run("5", true)
        .code(1)
        .err("add the dataset of the bundle");
    std::fs::rename(&moved, &data).unwrap();
    let competition = machine.folder.path("input/arc-prize-2026-arc-agi-2");
    std::fs::rename(competition, &moved).unwrap();
    machine
        .run("5", true)
        .code(1)
        .err("add the data of the competition");
}
