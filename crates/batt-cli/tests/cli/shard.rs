//! `--shard` and `batt merge`: parts in files, on several machines as far as the command knows.

use std::fs;

use serde_json::Value;

use crate::support::{Ended, Folder};

/// One candidate that is right on the first task, one that fails everywhere, and a differ.
const BATT: &str = "
def batt(S, I, C):
    s = []
    o = []
    t1 = hmirror(I)
    o.append((1, False, 'aa11', t1))
    t2 = palette(I)
    t3 = crop(I, t2, t2)
    o.append((3, True, 'bad', t3))
    t4 = equality(t1, C)
    s.append((4, 'aa11', 'differ_same', t4))
    return o, s
";

/// Some milliseconds of work and 25 KB of results for every sample.
const SLOW: &str = "
def batt(S, I, C):
    s = []
    o = []
    t1 = interval(ZERO, 300, ONE)
    t2 = product(t1, t1)
    t3 = size(t2)
    o.append((3, False, 'aa11', t3))
    t4 = interval(ZERO, 5000, ONE)
    o.append((4, False, 'aa11', t4))
    t5 = hmirror(I)
    o.append((5, False, 'aa11', t5))
    return o, s
";

const SOLVERS: &str = "
def solve_aa11(I):
    return hmirror(I)

def solve_bb22(I):
    return vmirror(I)

def bad_aa11(I):
    x1 = crop(I, I, I)
    return x1
";

/// Creates a folder with two tasks, five samples in all, a small batt and some solvers.
fn small() -> Folder {
    let folder = Folder::with_tasks();
    folder.write("b.py", BATT);
    folder.write("s.py", SOLVERS);
    folder
}

fn mega(folder: &Folder, more: &[&str]) -> Ended {
    folder.batt(&[&["mega", "b.py", "--tasks", "tasks"], more].concat())
}

fn run(folder: &Folder, more: &[&str]) -> Ended {
    folder.batt(&[&["run", "s.py", "--tasks", "tasks"], more].concat())
}

/// Does all parts of a mega-batch, and returns their files.
fn parts(folder: &Folder, count: usize, more: &[&str]) -> Vec<String> {
    let part = |number: usize| {
        let (shard, file) = (format!("{number}/{count}"), format!("p{number}.jsonl"));
        let args = [&["--shard", &shard, "-o", &file], more].concat();
        mega(folder, &args).code(0);
        file
    };
    (1..=count).map(part).collect()
}

fn merge(folder: &Folder, parts: &[String], target: &str) -> Ended {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    folder.batt(&[&["merge"], &parts[..], &["-o", target]].concat())
}

#[test]
fn merged_files_are_those_of_one_machine() {
    let folder = small();
    let read = |name: &str| fs::read(folder.path(name)).unwrap();
    for more in [&[][..], &["--full"]] {
        for name in ["whole.jsonl", "whole.parquet"] {
            mega(&folder, &[&["-o", name], more].concat()).code(0);
        }
        for count in [1, 2, 3, 7] {
            let parts = parts(&folder, count, more);
            for (name, whole) in [("m.jsonl", "whole.jsonl"), ("m.parquet", "whole.parquet")] {
                let ended = merge(&folder, &parts, name)
                    .code(0)
                    .out("5 runs, 10 candidates, 3 right\n")
                    .out(&format!("results in {name}: "));
                assert_eq!(ended.last_line(), "solved 1 of 2 tasks");
                assert!(read(name) == read(whole), "{count} parts, {name}");
            }
        }
    }
    // The merged file is a finished run.
    mega(&folder, &["--full", "-o", "m.jsonl", "--resume"])
        .code(0)
        .err("nothing to do: the file has the results of all 5 runs");
}

#[test]
fn a_part_says_which_it_is() {
    let folder = small();
    let ended = mega(&folder, &["--shard", "1/3", "-o", "p.jsonl"])
        .code(0)
        .out("4 steps of 1 batt on 2 runs: 4 candidates")
        .out("results in p.jsonl: ");
    assert_eq!(ended.last_line(), "part 1/3, 2 of 5 runs");
    let ended = mega(
        &folder,
        &["--shard", "1/3", "-o", "p.jsonl", "--resume", "--json"],
    )
    .code(0)
    .err("nothing to do: the file has the results of all 2 runs");
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&json["shard"], &json["runs"]), (&"1/3".into(), &2.into()));
    assert_eq!(json["solved"], Value::Null);
    // More parts than runs: some have nothing to do.
    let files = parts(&folder, 7, &["--json"]);
    let empty = files.iter().filter(|file| folder.read(file).is_empty());
    assert_eq!(empty.count(), 2);
}

#[test]
fn parts_of_a_run_are_merged() {
    let folder = small();
    run(&folder, &["-o", "whole.jsonl"]).code(1);
    let without_times = |name: &str| -> Vec<String> {
        let text = folder.read(name);
        let lines = text
            .lines()
            .map(|line| line.rsplit_once(",\"us\":").unwrap().0);
        lines.map(str::to_owned).collect()
    };
    let mut codes = Vec::new();
    let part = |number: usize, more: &[&str]| {
        let (shard, file) = (format!("{number}/3"), format!("p{number}.jsonl"));
        run(&folder, &[&["--shard", &shard, "-o", &file], more].concat())
    };
    for number in 1..=3 {
        let ended = part(number, &[]);
        let line = ended.last_line();
        assert!(line.starts_with(&format!("part {number}/3, ")), "{line}");
        assert!(
            line.contains(" of 8 runs: ") && line.ends_with(" pairs right"),
            "{line}"
        );
        // A part with a failed run has a finding, and tells it again when it is resumed.
        let again = part(number, &["--resume"]).err("nothing to do: the file has the results");
        assert_eq!((again.code, again.last_line()), (ended.code, line));
        codes.push(ended.code);
    }
    assert!(codes.contains(&Some(1)), "{codes:?}");
    let files: Vec<String> = (1..=3).map(|number| format!("p{number}.jsonl")).collect();
    let ended = merge(&folder, &files, "m.jsonl")
        .code(0)
        .out("merged 3 parts: 8 runs, 4 right\n");
    assert_eq!(ended.last_line(), "solved 2 of 2 tasks");
    assert_eq!(without_times("m.jsonl"), without_times("whole.jsonl"));

    let ended = part(2, &["--json", "--overwrite"]);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&json["shard"], &json["planned"]),
        (&"2/3".into(), &3.into())
    );
    assert_eq!(
        (&json["tasks_solved"], &json["resumed"]),
        (&Value::Null, &0.into())
    );

    merge(&folder, &files, "m.parquet").error("only results of `batt mega`", ".jsonl");
    part(2, &["--resume", "--max-steps", "5"])
        .error("another run: max-steps changed", "--overwrite");
    folder.write("s.py", format!("\n{SOLVERS}"));
    part(2, &["--resume"]).error("another run: solvers changed", "--overwrite");
}

#[test]
fn bad_parts_are_refused() {
    let folder = small();
    for (text, message) in [
        ("0/3", "there is no part 0 of 3; parts are numbered from 1"),
        ("4/3", "there is no part 4 of 3"),
        ("3", "'3' is not a part such as 3/10"),
        ("a/b", "'a/b' is not a part"),
    ] {
        let args = ["--shard", text, "-o", "p.jsonl"];
        for ended in [mega(&folder, &args), run(&folder, &args)] {
            ended
                .code(2)
                .err(&format!("invalid value '{text}' for '--shard"))
                .err(message);
        }
    }
    mega(&folder, &["--shard", "1/3"]).code(2).err("--output");
    run(&folder, &["--shard", "1/3"]).code(2).err("--output");
    run(&folder, &["--resume", "-o", "p.jsonl"])
        .code(2)
        .err("--shard");
    for ended in [
        mega(&folder, &["--shard", "1/3", "-o", "-"]),
        run(&folder, &["--shard", "1/3", "-o", "-"]),
    ] {
        ended.error("--shard needs a file", "name a file with --output");
    }
    for ended in [
        mega(&folder, &["--shard", "1/3", "-o", "p.parquet"]),
        run(&folder, &["--shard", "1/3", "-o", "p.parquet"]),
    ] {
        ended.error(
            "cannot write a part as p.parquet",
            "`batt merge` can write Parquet",
        );
    }
    run(&folder, &["--shard", "1/3", "-o", "s.py"])
        .error("one of the files to read", "another name");
    assert!(!folder.path("p.jsonl").exists());
}

#[test]
fn files_that_do_not_fit_together_are_refused() {
    let folder = small();
    let files = parts(&folder, 3, &[]);
    let refused = |parts: &[&str], message: &str, hint: &str| {
        let parts: Vec<String> = parts.iter().map(|part| part.to_string()).collect();
        merge(&folder, &parts, "m.jsonl").error(message, hint);
        assert!(!folder.path("m.jsonl").exists() && !folder.path("m.jsonl.merging").exists());
    };
    refused(
        &["p1.jsonl", "p3.jsonl"],
        "part 2/3 is missing; p2.jsonl is part 2/3",
        "all parts",
    );
    refused(
        &["p1.jsonl", "p2.jsonl", "p3.jsonl", "./p2.jsonl"],
        "p2.jsonl and ./p2.jsonl are both part 2/3",
        "name each part once",
    );
    refused(
        &["p1.jsonl", "nowhere.jsonl"],
        "cannot read nowhere.jsonl",
        "check the path",
    );
    refused(
        &["p1.jsonl", "p1.jsonl.meta.json"],
        "p1.jsonl.meta.json is not a part of a run",
        "the files that --shard wrote",
    );
    merge(&folder, &files, "p2.jsonl").error("one of the files to read", "another name");
    merge(&folder, &files, "-").error("cannot be written to stdout", "--output");
    folder
        .batt(&["merge", "-o", "m.jsonl"])
        .code(2)
        .err("<PART>");

    mega(
        &folder,
        &["--shard", "2/3", "-o", "p2.jsonl", "--max-steps", "9999"],
    )
    .code(0);
    refused(
        &["p1.jsonl", "p2.jsonl", "p3.jsonl"],
        "p1.jsonl and p2.jsonl are parts of different runs: max-steps differs",
        "parts of one run",
    );
    mega(&folder, &["--shard", "2/3", "-o", "p2.jsonl"]).code(0);
    let text = folder.read("p2.jsonl");
    folder.write("p2.jsonl", text.replacen("aa11", "aa22", 1));
    refused(
        &["p1.jsonl", "p2.jsonl", "p3.jsonl"],
        "p2.jsonl is damaged or was changed: its checksum is wrong",
        "--shard 2/3 -o p2.jsonl --overwrite",
    );
    folder.write("p2.jsonl", &text[1..]);
    refused(
        &["p1.jsonl", "p2.jsonl", "p3.jsonl"],
        "p2.jsonl is damaged or was changed: it has",
        "--shard 2/3 -o p2.jsonl --overwrite",
    );
    // The hint says what to do.
    mega(
        &folder,
        &["--shard", "2/3", "-o", "p2.jsonl", "--overwrite"],
    )
    .code(0);
    merge(&folder, &files, "m.jsonl").code(0);
}

/// The part of a machine that was switched off is resumed, and the result is the same.
#[cfg(unix)]
#[test]
fn a_killed_part_is_resumed() {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use crate::support::command;

    let folder = small();
    folder.write("b.py", SLOW);
    let pair = |k: usize| {
        let (a, b) = (k % 10, k / 10 % 10);
        format!("{{\"input\": [[{a}], [{b}]], \"output\": [[{b}], [{a}]]}}")
    };
    let pairs: Vec<String> = (0..1000).map(pair).collect();
    fs::remove_dir_all(folder.path("tasks")).unwrap();
    folder.write("tasks/aa11.json", format!("[{}]", pairs.join(",")));
    let lines = folder.path("p2.jsonl.part");
    // On a busy machine, the run may end before the signal comes, so there are several attempts.
    let ended_by = |signal: &str| {
        for _ in 0..5 {
            let args = "mega b.py --tasks tasks --full --shard 2/2 -o p2.jsonl --overwrite -j 1";
            let args: Vec<&str> = args.split(' ').collect();
            // Lines of an earlier attempt would be taken for new ones.
            let _ = fs::remove_file(&lines);
            let child = command(&folder.path(""), &args).spawn().unwrap();
            let begun = Instant::now();
            while fs::metadata(&lines).map_or(0, |lines| lines.len()) == 0 {
                assert!(begun.elapsed() < Duration::from_secs(60), "no line came");
                std::thread::sleep(Duration::from_millis(1));
            }
            let mut kill = Command::new("kill");
            kill.args([signal, &child.id().to_string()])
                .status()
                .unwrap();
            let ended = Ended::from(child.wait_with_output().unwrap());
            if lines.exists() {
                return ended.code;
            }
            fs::remove_file(folder.path("p2.jsonl")).unwrap();
        }
        panic!("the run always ended too early");
    };
    assert_eq!(ended_by("-KILL"), None);
    assert_eq!(ended_by("-TERM"), Some(143));
    let full = |more: &[&str]| mega(&folder, &[&["--full"], more].concat());
    full(&["--shard", "1/2", "-o", "p1.jsonl"]).code(0);
    // As the shell writes `p*.jsonl`.
    merge(&folder, &["p1.jsonl".into()], "m.jsonl").error(
        "part 2/2 is missing; p2.jsonl.part holds unfinished lines of part 2/2",
        "--shard 2/2 -o p2.jsonl --resume",
    );
    merge(&folder, &["p1.jsonl".into(), "p2.jsonl".into()], "m.jsonl").error(
        "part 2/2 is unfinished: p2.jsonl.part holds its lines so far",
        "--shard 2/2 -o p2.jsonl --resume",
    );
    full(&["--shard", "2/2", "-o", "p2.jsonl"]).error("p2.jsonl.part", "--resume");
    for (other, changed) in [("1/2", "shard changed"), ("2/3", "shard changed")] {
        full(&["--shard", other, "-o", "p2.jsonl", "--resume"]).error(changed, "overwrite");
    }
    full(&["-o", "p2.jsonl", "--resume"]).error("shard changed", "--overwrite");
    full(&["--shard", "2/2", "-o", "p2.jsonl", "--resume"])
        .code(0)
        .err("continuing after ")
        .err(" of 500 runs");
    let files = [1, 2].map(|number| format!("p{number}.jsonl"));
    merge(&folder, &files, "m.jsonl").code(0);
    full(&["-o", "whole.jsonl"]).code(0);
    assert!(folder.read("m.jsonl") == folder.read("whole.jsonl"));
}

#[test]
fn the_summary_of_a_merge_for_programs() {
    let folder = small();
    let files = parts(&folder, 2, &[]);
    let ended = folder
        .batt(&["merge", &files[0], &files[1], "-o", "m.jsonl", "--json"])
        .code(0);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    let expected = serde_json::json!({
        "parts": 2, "runs": 5, "tasks": 2, "tasks_solved": 1, "right": 3, "values": 5,
        "errors": {"TypeError": 5}, "bytes": folder.read("m.jsonl").len(),
    });
    assert_eq!(json, expected);
    assert_eq!(ended.stderr, "");
}

/// A disk of 4 KB. If it cannot be mounted, the test prints a message and passes.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_half_file() {
    use std::process::Command;

    let folder = small();
    let files = parts(&folder, 2, &["--full"]);
    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    let mut mount = Command::new("mount");
    mount
        .args(["-t", "tmpfs", "-o", "size=4k", "tmpfs"])
        .arg(&disk);
    if !mount.output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no tmpfs can be mounted here");
        return;
    }
    // The disk has room for one file, which is another one.
    let big = fs::write(disk.join("other"), vec![0; 4096]);
    let ended = merge(&folder, &files, "disk/m.jsonl");
    let left = fs::read_dir(&disk).unwrap().count();
    let unmounted = Command::new("umount").arg(&disk).status();
    assert!(big.is_ok() && unmounted.unwrap().success());
    ended.error(
        "cannot write disk/m.jsonl: No space left",
        "make room on the disk",
    );
    assert_eq!(left, 1);
}
