//! `batt evolve`: the same seed gives the same solvers, and everything reported as saved is saved,
//! whatever happens.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use batt::archive::{self, Archive};
use serde_json::Value;

use crate::support::{Ended, Folder, batt, command};

/// Solvers to learn from. One of them nearly solves the first task.
const SOLVERS: &str = "
def solve_other(I):
    x1 = vmirror(I)
    x2 = hmirror(x1)
    return x2

def solve_another(I):
    x1 = replace(I, ONE, TWO)
    O = trim(x1)
    return O
";

/// Few offspring, so that a generation takes milliseconds.
const SMALL: [&str; 5] = ["evolve", "--offspring", "200", "--population", "16"];

fn small(folder: &Folder, more: &[&str]) -> Ended {
    folder.batt(&[&SMALL, more].concat())
}

/// Creates a folder with two small tasks and some solvers.
fn folder() -> Folder {
    let folder = Folder::with_tasks();
    folder.write("solvers.py", SOLVERS);
    folder
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Returns the output without the parts that depend on the clock.
fn timeless(ended: &Ended) -> Value {
    let mut json = json(ended);
    json["time"] = Value::Null;
    json
}

/// Returns the contents of an archive without times, and checks that the archive is valid.
fn contents(path: &Path) -> BTreeSet<String> {
    let archive = Archive::open_existing(path).unwrap();
    assert_eq!(archive::check(&archive).unwrap(), []);
    let tasks = archive.tasks().unwrap();
    let entries = tasks
        .iter()
        .flat_map(|task| archive.best(&task.task, None, usize::MAX).unwrap());
    entries
        .map(|e| {
            let (score, parents) = (e.score, e.parents);
            format!(
                "{} {} {} {score:?} {parents:?} {}",
                e.task, e.task_hash, e.hash, e.mutation
            )
        })
        .collect()
}

#[test]
fn a_small_task_is_solved_and_saved() {
    let folder = folder();
    let ended = small(
        &folder,
        &[
            "--tasks",
            "tasks",
            "--solvers",
            "solvers.py",
            "--generations",
            "20",
        ],
    )
    .code(0)
    .err("note: searching for solvers of 2 tasks, starting from 2 solvers")
    .err("note: saving to batt.sqlite")
    .err("solved aa11: 1 step, ")
    .out(" aa11      2      1  ")
    .out("solved 2 of 2 tasks on the demonstrations\n")
    .out(" distinct offspring, ")
    .out("next: batt archive top --archive batt.sqlite\n")
    .out("batt submit --tasks tasks --archive batt.sqlite -o submission.json\n");
    assert!(!ended.stdout.contains("tests"), "{}", ended.stdout);
    let archive = Archive::open_existing(&folder.path("batt.sqlite")).unwrap();
    let best = archive.best("aa11", None, 1).unwrap();
    assert_eq!(
        best[0].source,
        "def solve(I):\n    O = hmirror(I)\n    return O\n"
    );
    assert_eq!(best[0].task_hash.len(), 16);
}

#[test]
fn the_embedded_puzzles_need_nothing() {
    let folder = Folder::new();
    let args = ["--generations", "2", "--hold-out", "4", "--seed", "3"];
    small(&folder, &args)
        .code(0)
        .err("note: searching for solvers of 4 tasks of the 65 embedded ones, starting from 61 solvers")
        .err("note: nothing is saved; --archive FILE saves the solvers found")
        .out("of 4 tasks held out, ")
        .out(" right on the tests too");
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 0);
}

/// The report of held-out solvers has two numbers: the solvers that fit the demonstrations, and
/// those of them that are right on the tests.
#[test]
fn the_report_of_held_out_solvers_has_both_numbers() {
    let folder = folder();
    // A solver can fit the demonstrations and fail the test, which has another colour.
    folder.write(
        "tasks/cc33.json",
        r#"{"train": [{"input": [[1, 2], [3, 4]], "output": [[3, 4], [1, 2]]}],
            "test": [{"input": [[5], [6]], "output": [[9], [9]]}]}"#,
    );
    let own =
        "def solve_aa11(I):\n    return hmirror(I)\n\ndef solve_cc33(I):\n    return hmirror(I)\n";
    folder.write("own.py", own);
    let args = ["--tasks", "tasks", "--solvers", "own.py", "solvers.py"];
    let args = [&args[..], &["--hold-out", "2", "--generations", "20"]].concat();
    small(&folder, &args).code(0).out(
        "of 2 tasks held out, 2 got solvers that fit the demonstrations; \
         1 of these is right on the tests too\n",
    );
}

/// A generation that would take hours ends at the time limit, and everything found by then is
/// saved.
#[test]
fn the_time_ends_a_generation() {
    let folder = folder();
    let started = Instant::now();
    let args = ["evolve", "--tasks", "tasks", "--solvers", "solvers.py"];
    let long = [
        "--offspring",
        "100000000",
        "--time",
        "2s",
        "--device",
        "cpu",
    ];
    folder
        .batt(&[&args[..], &long].concat())
        .code(0)
        .out("batt.sqlite");
    let time = started.elapsed();
    assert!(time < Duration::from_secs(15), "{time:?}");
    contents(&folder.path("batt.sqlite"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_generation() {
    let folder = folder();
    let args = ["evolve", "--tasks", "tasks", "--offspring", "100000000"];
    let child = command(&folder.path(""), &[&args[..], &["--time", "1h"]].concat())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(1));
    signal(&child, "-INT");
    let started = Instant::now();
    Ended::from(child.wait_with_output().unwrap())
        .code(130)
        .err("the same command with --resume continues");
    let time = started.elapsed();
    assert!(time < Duration::from_secs(15), "{time:?}");
}

#[test]
fn the_same_seed_finds_the_same() {
    let folder = Folder::new();
    let run = |name: &str, more: &[&str]| {
        let args = [
            "--generations",
            "3",
            "--hold-out",
            "5",
            "--archive",
            "a.sqlite",
            "--json",
        ];
        let ended = small(&folder, &[&args, more].concat()).code(0);
        let to = folder.path(name);
        fs::rename(folder.path("a.sqlite"), &to).unwrap();
        (timeless(&ended), contents(&to))
    };
    let (first, saved) = run("first", &["--seed", "7", "--jobs", "1"]);
    assert!(!saved.is_empty());
    assert_eq!(first["tasks"].as_array().unwrap().len(), 5);
    assert_eq!(first["generations"], 3);
    let (second, again) = run("second", &["--seed", "7", "--jobs", "3"]);
    assert_eq!(first, second);
    assert_eq!(saved, again);
    let (other, _) = run("other", &["--seed", "8", "--jobs", "3"]);
    assert_ne!(first["tasks"], other["tasks"]);
}

#[test]
fn solvers_that_are_held_out_are_not_learnt_from() {
    let folder = folder();
    folder.write(
        "own.py",
        "def solve_aa11(I):\n    x1 = hmirror(I)\n    x2 = identity(x1)\n    return x2\n",
    );
    let all = [
        "--tasks",
        "tasks",
        "--solvers",
        "own.py",
        "solvers.py",
        "--generations",
        "1",
        "--json",
        "--archive",
        "own.sqlite",
    ];
    let with = json(&small(&folder, &all).code(0));
    assert_eq!(with["tasks"][0]["solved"], true);
    assert_eq!(with["right_on_tests"], Value::Null);
    let held = [
        &all[..8],
        &["--hold-out", "1", "--weights", "colour=1,others=0"],
    ]
    .concat();
    let without = json(&small(&folder, &held).code(0).err("from 2 solvers"));
    assert_eq!(without["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(without["tasks"][0]["task"], "aa11");
    assert_eq!(without["tasks"][0]["solved"], false);
    assert_eq!(without["right_on_tests"], 0);
    // Held-out solvers are not learnt from an archive either.
    let held = [&held, &["--archive", "own.sqlite"][..]].concat();
    let without = json(&small(&folder, &held).code(0));
    assert_eq!(without["tasks"][0]["solved"], false);
}

#[test]
fn the_archive_is_learnt_from() {
    let folder = folder();
    let solved = ["--tasks", "tasks", "--solvers", "solvers.py"];
    small(&folder, &[&solved[..], &["--generations", "20"]].concat()).code(0);
    // There is no solver file, and hardly a chance to find anything.
    let again = small(
        &folder,
        &[
            "--tasks",
            "tasks",
            "--generations",
            "1",
            "--weights",
            "colour=1,others=0",
            "--report-tests",
            "--json",
        ],
    )
    .code(0)
    .err("and solvers of 2 tasks to learn from");
    let found = json(&again);
    assert_eq!(found["solved"], 2);
    assert_eq!(found["right_on_tests"], 1);
    assert_eq!(found["tasks"][0]["tests"], "right");
    assert_eq!(found["tasks"][1]["tests"], "unknown");
    assert_eq!(found["archive"]["saved"], 0);
    assert_ne!(found["tasks"][0]["best"]["found_by"], "donor");
    assert_eq!(found["tasks"][0]["best"]["generation"], Value::Null);
}

#[test]
fn a_run_is_resumed() {
    let folder = Folder::new();
    let args = ["--hold-out", "3", "--archive", "a.sqlite", "--json"];
    let run = |more: &[&str]| small(&folder, &[&args, more].concat());
    run(&["--generations", "2", "--resume"])
        .code(0)
        .err("note: there is no earlier run on these tasks; starting from the beginning");
    let first = run(&["--generations", "2", "--seed", "5"]).code(0);
    assert_eq!(json(&first)["generation"], 2);
    let before = contents(&folder.path("a.sqlite"));
    let second = run(&["--generations", "3", "--resume"])
        .code(0)
        .err("note: continuing run 2 of ")
        .err(" at generation 2\n");
    let (first, second) = (json(&first), json(&second));
    assert_eq!(second["generation"], 5);
    assert_eq!(second["seed"], 5);
    assert_eq!(second["archive"]["run"], 2);
    let score = |json: &Value, at: usize| {
        let best = &json["tasks"][at]["best"];
        let [solved, closeness] = ["demos_solved", "closeness"].map(|name| best[name].as_u64());
        (
            json["tasks"][at]["task"].clone().to_string(),
            solved,
            closeness,
        )
    };
    for at in 0..3 {
        let (before, after) = (score(&first, at), score(&second, at));
        assert_eq!(before.0, after.0, "the same tasks");
        assert!((after.1, after.2) >= (before.1, before.2));
    }
    assert!(!before.is_empty());
    assert!(contents(&folder.path("a.sqlite")).len() >= before.len().min(90));
    // Other tasks make another run.
    run(&["--generations", "1", "--resume", "--seed", "6"])
        .code(0)
        .err("there is no earlier run");
}

#[test]
fn impossible_requests_are_errors() {
    let folder = folder();
    let tasks = ["--tasks", "tasks", "--generations", "1"];
    let with = |more: &[&str]| small(&folder, &[&tasks, more].concat());
    small(&folder, &["--tasks", "nowhere"]).error("nowhere", "check the path");
    folder.write("empty/readme.json", "[1]");
    small(&folder, &["--tasks", "empty"]).code(2).err("hint: ");
    with(&["--solvers", "nobody.py"]).error("cannot read nobody.py", "check the path");
    with(&["--task", "aa12"]).error("there is no task 'aa12'", "did you mean 'aa11'?");
    with(&["--hold-out", "1"]).error(
        "cannot hold out the solvers of 1 task: 0 tasks have one here",
        "--solvers",
    );
    with(&["--differs", "solvers.py"]).error("no differ in solvers.py", "a differ compares");
    for (option, value, why) in [
        ("--time", "soon", "write a time such as"),
        ("--time", "1h30", "write a time such as"),
        ("--time", "0s", "write a time such as"),
        ("--weights", "opp=1", "did you mean 'op'?"),
        ("--weights", "op=1,op=1", "twice"),
        ("--capacity", "0", "or original"),
        ("--islands", "0", "--islands"),
        ("--device", "gpu", "cuda"),
    ] {
        with(&[option, value]).code(2).err(why);
    }
    with(&["--islands", "100000000000"])
        .code(2)
        .err("invalid value '100000000000' for '--islands <N>': write a number from 1 to 1,000");
    batt(&["evolve", "--resume"]).error("there is no archive to resume from", "--archive FILE");
    // No archive was made on the way.
    assert!(!folder.path("batt.sqlite").exists());
}

#[test]
fn files_that_are_not_archives_are_left_alone() {
    let folder = folder();
    let with = |archive: &str| {
        let args = [
            "--tasks",
            "tasks",
            "--generations",
            "1",
            "--archive",
            archive,
        ];
        small(&folder, &args)
    };
    folder.write(
        "text.sqlite",
        "these are my notes, and they are not a database at all",
    );
    with("text.sqlite").error("this is not an archive of solvers", "was not changed");
    assert!(folder.read("text.sqlite").starts_with("these are my notes"));
    with("tasks").error("this is not a file", "name a file");
    with("no/where.sqlite").error(
        "the folder of the archive does not exist",
        "make the folder",
    );
}

/// Permissions do not bind root, so this is a folder to which no user can write.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written() {
    let folder = folder();
    let args = ["--tasks", "tasks", "--generations", "1", "--archive"];
    let ended = small(&folder, &[&args[..], &["/proc/batt.sqlite"]].concat());
    ended.code(2).err("/proc/batt.sqlite: ").err("hint: ");
}

/// Starts a run that takes a while and reports what it saves.
fn start(folder: &Folder, archive: &str, seed: &str, log: &str) -> Child {
    let args = [
        &SMALL[..],
        &["--hold-out", "6", "--archive", archive, "--time", "60s"],
        &["--seed", seed, "--jobs", "2", "--verbose", "--resume"],
    ]
    .concat();
    let log = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.path(log))
        .unwrap();
    command(&folder.path(""), &args)
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// Waits until a log contains a text.
fn wait_for(child: &mut Child, log: &Path, text: &str) {
    for _ in 0..600 {
        if fs::read_to_string(log).is_ok_and(|log| log.contains(text)) {
            return;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never said {text:?}");
}

/// Checks that an archive is valid and contains all solvers that a log reports as saved. Returns
/// their number.
fn check_saved(archive: &Path, log: &str) -> usize {
    let archive = Archive::open_existing(archive).unwrap();
    assert_eq!(archive::check(&archive).unwrap(), []);
    let hashes: BTreeSet<&str> = log
        .lines()
        .filter_map(|line| line.split_once("; saved as ").map(|(_, hash)| hash))
        // The last line may be incomplete.
        .filter(|hash| hash.len() == 32)
        .collect();
    for hash in &hashes {
        let solver = archive.solver(hash).unwrap();
        assert!(solver.is_some(), "{hash} was reported as saved");
    }
    hashes.len()
}

/// Returns the number of solvers that the process reports as saved in the last lines of a log.
fn counted_in(log: &str) -> usize {
    let line = log.lines().rev().find_map(|line| {
        let (_, count) = line.split_once("; saved ")?;
        count.split(' ').next()?.replace(',', "").parse().ok()
    });
    line.unwrap_or(0)
}

#[cfg(unix)]
fn signal(child: &Child, signal: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_says_how_to_resume() {
    let folder = Folder::new();
    let log = folder.path("log");
    let mut child = start(&folder, "a.sqlite", "1", "log");
    wait_for(&mut child, &log, "; saved as ");
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let text = folder.read("log");
    assert!(
        text.contains(
            "note: the solvers found are saved; the same command with --resume continues"
        )
    );
    assert!(check_saved(&folder.path("a.sqlite"), &text) > 0);
    let archive = Archive::open_existing(&folder.path("a.sqlite")).unwrap();
    assert!(archive.solver_count().unwrap() >= counted_in(&text));
}

/// A killed process loses nothing that it reported as saved. `BATT_HEAVY=1` kills it 50 times.
#[cfg(unix)]
#[test]
fn killed_at_any_moment_nothing_saved_is_lost() {
    let heavy = std::env::var_os("BATT_HEAVY").is_some_and(|value| value == "1");
    let kills = if heavy { 50 } else { 5 };
    let folder = Folder::new();
    let (path, mut total) = (folder.path("a.sqlite"), 0);
    let (mut reported, mut resumed) = (0, 0);
    for kill in 0..kills {
        let log = format!("log{kill}");
        let mut child = start(&folder, "a.sqlite", "1", &log);
        // The times of the kills are the same in every test run, but the state of the process is
        // not.
        std::thread::sleep(Duration::from_millis(100 + (kill + 1) * 787 % 1400));
        child.kill().unwrap();
        child.wait().unwrap();
        let text = folder.read(&log);
        assert!(!text.contains("error: "), "{text}");
        resumed += usize::from(text.contains("continuing run 1 "));
        total += counted_in(&text);
        if !path.exists() {
            continue;
        }
        reported += check_saved(&path, &text);
        let archive = Archive::open_existing(&path).unwrap();
        assert!(archive.solver_count().unwrap() >= total, "{text}");
    }
    assert!(reported > 0 && total > 0, "nothing was ever reported");
    assert!(resumed > 0, "it never went on");
    let all: String = (0..kills)
        .map(|k| folder.read(&format!("log{k}")))
        .collect();
    check_saved(&path, &all);
    let args = ["--hold-out", "6", "--archive", "a.sqlite", "--seed", "1"];
    small(
        &folder,
        &[&args[..], &["--generations", "1", "--resume"]].concat(),
    )
    .code(0)
    .err("note: continuing run 1 ");
    eprintln!(
        "{kills} kills: {reported} programs reported as saved, {total} solvers, {resumed} times gone on"
    );
}

#[test]
fn two_processes_share_an_archive() {
    let folder = Folder::new();
    let run = |seed: &str, log: &str| {
        let args = [
            &SMALL[..],
            &["--task", "002e3123", "0f995f90", "1673c3ec", "--time", "3s"],
            &[
                "--archive",
                "a.sqlite",
                "--seed",
                seed,
                "--jobs",
                "1",
                "--verbose",
            ],
        ]
        .concat();
        let log = fs::File::create(folder.path(log)).unwrap();
        let mut command = command(&folder.path(""), &args);
        command.stdout(Stdio::null()).stderr(log).spawn().unwrap()
    };
    let mut children = [run("1", "one"), run("2", "two")];
    for child in &mut children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let logs = ["one", "two"].map(|log| folder.read(log));
    let path = folder.path("a.sqlite");
    for log in &logs {
        assert!(check_saved(&path, log) > 0, "{log}");
    }
    // Each process counts only solvers that were new to the archive.
    let archive = Archive::open_existing(&path).unwrap();
    let counted = counted_in(&logs[0]) + counted_in(&logs[1]);
    assert!(archive.solver_count().unwrap() >= counted);
    assert_eq!(archive.runs().unwrap().len(), 2);
}

/// On a full disk the command reports the error, and everything saved before is intact.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_loses_nothing_saved() {
    let folder = Folder::new();
    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    let Some(_mounted) = Mounted::tmpfs(&disk, "400k") else {
        eprintln!("skipped: a small file system cannot be mounted here");
        return;
    };
    let args = [
        &["evolve", "--hold-out", "6", "--time", "60s", "--verbose"][..],
        &["--archive", "disk/a.sqlite", "--capacity", "10000"],
        &["--population", "500", "--offspring", "1000"],
    ]
    .concat();
    let ended = folder.batt(&args);
    let log = ended.stderr.clone();
    ended
        .error("the disk is full", "make room on the disk")
        .err("all earlier saves are intact")
        .out(" tasks held out");
    let path = disk.join("a.sqlite");
    // The disk is still full, so the test checks a copy.
    for name in ["a.sqlite", "a.sqlite-wal"] {
        if disk.join(name).exists() {
            fs::copy(disk.join(name), folder.path(name)).unwrap();
        }
    }
    assert!(path.exists());
    check_saved(&folder.path("a.sqlite"), &log);
    let archive = Archive::open_existing(&folder.path("a.sqlite")).unwrap();
    assert!(archive.solver_count().unwrap() >= counted_in(&log));
}

/// A mounted file system, which is unmounted on drop.
#[cfg(target_os = "linux")]
struct Mounted<'p>(&'p Path);

#[cfg(target_os = "linux")]
impl<'p> Mounted<'p> {
    fn tmpfs(place: &'p Path, size: &str) -> Option<Mounted<'p>> {
        let size = format!("size={size}");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(place)
            .stderr(Stdio::null())
            .status();
        mount.ok()?.success().then_some(Mounted(place))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[cfg(feature = "emulated")]
#[test]
fn a_device_finds_the_same() {
    let folder = Folder::new();
    let run = |device: &str| {
        let args = ["--generations", "3", "--hold-out", "4", "--json"];
        let ended = small(&folder, &[&args[..], &["--device", device]].concat()).code(0);
        let on_devices = json(&ended)["time"]["on_devices"].as_u64().unwrap();
        (timeless(&ended), on_devices)
    };
    let (cpu, none) = run("cpu");
    let (device, some) = run("emulated");
    assert_eq!(none, 0);
    assert!(some > 0, "the device ran nothing");
    assert_eq!(cpu, device);
}
