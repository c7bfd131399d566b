//! `batt mega`: the results do not depend on how they were computed, and errors have clear
//! messages.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;

use crate::support::{Ended, Folder, MIRROR, command};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../batt-arc/corpus");

/// One candidate that is right on the first task, one that fails everywhere, and a differ.
const BATT: &str = "
def batt(task_id, S, I, C, log_path):
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

/// A batt with some milliseconds of work and 25 KB of results for every sample.
const SLOW: &str = "
def batt(S, I, C):
    s = []
    o = []
    t1 = interval(ZERO, 300, ONE)
    t2 = product(t1, t1)
    t3 = apply(first, t2)
    t4 = interval(ZERO, 5000, ONE)
    o.append((4, False, 'aa11', t4))
    t5 = hmirror(I)
    o.append((5, False, 'aa11', t5))
    t6 = size(t3)
    o.append((6, False, 'aa11', t6))
    return o, s
";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(json).collect()
}

/// Creates a folder with two tasks and a small batt.
fn small() -> Folder {
    let folder = Folder::with_tasks();
    folder.write("b.py", BATT);
    folder
}

/// Creates a folder with `count` samples that take some time each.
fn slow(count: usize) -> Folder {
    let folder = Folder::new();
    let pair = |k: usize| {
        let (a, b) = (k % 10, k / 10 % 10);
        format!("{{\"input\": [[{a}], [{b}]], \"output\": [[{b}], [{a}]]}}")
    };
    let pairs: Vec<String> = (0..count).map(pair).collect();
    folder.write("tasks/aa11.json", format!("[{}]", pairs.join(",")));
    folder.write("b.py", SLOW);
    folder
}

const RUN: [&str; 4] = ["mega", "b.py", "--tasks", "tasks"];

fn mega(folder: &Folder, more: &[&str]) -> Ended {
    folder.batt(&[&RUN, more].concat())
}

/// Runs `batt mega` with every value in the results.
fn full(folder: &Folder, more: &[&str]) -> Ended {
    mega(folder, &[&["--full"], more].concat())
}

/// Starts a run and sends it a signal once the first lines are in the part.
#[cfg(unix)]
fn signalled(folder: &Folder, out: &str, signal: &str) -> Ended {
    let part = folder.path(&format!("{out}.part"));
    // On a busy machine, the run may end before the test looks, so there are several attempts.
    for _ in 0..5 {
        let more = ["--full", "--output", out, "--jobs", "2", "--overwrite"];
        let args = [&RUN[..], &more].concat();
        let mut child = command(&folder.path(""), &args).spawn().unwrap();
        let begun = Instant::now();
        while fs::metadata(&part).map_or(0, |part| part.len()) == 0 && is_running(&mut child) {
            assert!(begun.elapsed() < Duration::from_secs(60), "no line came");
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut kill = Command::new("kill");
        kill.args([signal, &child.id().to_string()]);
        // The process may have ended already.
        kill.stderr(Stdio::null()).status().unwrap();
        let ended = Ended::from(child.wait_with_output().unwrap());
        if part.exists() {
            return ended;
        }
    }
    panic!("the run always ended too early");
}

fn is_running(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_none()
}

#[test]
fn the_lines_say_what_the_batt_returned() {
    let folder = small();
    let ended = full(&folder, &["--output", "r.jsonl"])
        .code(0)
        .out(" aa11  aa11\n")
        .out("4 steps of 1 batt on 5 samples: 10 candidates, 3 right\n")
        .out("errors: 5 TypeError\n");
    assert_eq!(ended.last_line(), "solved 1 of 2 tasks");
    let lines = lines(&folder.read("r.jsonl"));
    let places: Vec<String> = lines
        .iter()
        .map(|line| format!("{} {}", line["task"], line["pair"]).replace('"', ""))
        .collect();
    let wanted = [
        "aa11 train[0]",
        "aa11 train[1]",
        "aa11 test[0]",
        "bb22 train[0]",
        "bb22 test[0]",
    ];
    assert_eq!(places, wanted);
    assert_eq!(
        lines[0],
        serde_json::json!({
            "batt": "b.py", "task": "aa11", "pair": "train[0]",
            "o": [[1, false, "aa11", {"g": ["34", "12"]}], [3, true, "bad", {"err": "TypeError", "step": 3}]],
            "s": [[4, "aa11", "differ_same", false]],
            "compared": [[4, "aa11", "differ_same", true]],
            "right": [0],
            "values": 1,
            "errors": {"TypeError": 1},
        })
    );
    assert_eq!(lines[3]["right"], serde_json::json!([]));
    assert_eq!(lines[3].get("compared"), None);
    assert!(!folder.path("r.jsonl.part").exists() && !folder.path("r.jsonl.part.json").exists());
}

/// The default form omits wrong candidates, and the summary has the size of the file.
#[test]
fn the_compact_form_keeps_what_is_right() {
    let folder = small();
    mega(&folder, &["--output", "r.jsonl"])
        .code(0)
        .out("\nresults in r.jsonl: ")
        .out("without the values of candidates (--full writes them)");
    let found = lines(&folder.read("r.jsonl"));
    assert_eq!(found.len(), 5);
    assert_eq!(
        found[0],
        serde_json::json!({
            "batt": "b.py", "task": "aa11", "pair": "train[0]", "right": [0],
            "values": 1, "errors": {"TypeError": 1},
            "o": [[1, false, "aa11"]],
            "s": [[4, "aa11", "differ_same", false]],
            "compared": [[4, "aa11", "differ_same", true]],
        })
    );
    assert_eq!(
        found[3],
        serde_json::json!({
            "batt": "b.py", "task": "bb22", "pair": "train[0]", "right": [],
            "values": 1, "errors": {"TypeError": 1}, "o": [], "s": [],
        })
    );
    let summary = full(&folder, &["--output", "f.jsonl", "--json"]).code(0);
    let size = |name: &str| fs::metadata(folder.path(name)).unwrap().len();
    assert_eq!(json(&summary.stdout)["bytes"], size("f.jsonl"));
    assert!(size("r.jsonl") < size("f.jsonl"));
    full(&folder, &[]).code(2).err("--output");

    mega(&folder, &["--output", "r.parquet"]).code(0);
    let file = fs::File::open(folder.path("r.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    // There are five runs, and three right candidates, each with a score and a comparison.
    let rows = reader.get_row_iter(None).unwrap().count();
    assert_eq!(rows, 5 + 3 * 3);
}

/// Resuming a finished run must not run everything again.
#[test]
fn resuming_a_finished_run_does_nothing() {
    let folder = slow(20);
    for (out, more) in [
        ("r.jsonl", &[][..]),
        ("r.parquet", &[]),
        ("f.jsonl", &["--full"]),
    ] {
        let run = |options: &[&str]| {
            let args = [&["--output", out][..], more, options].concat();
            mega(&folder, &args)
        };
        let first = run(&["--resume"]).code(0);
        let written = |name: &str| {
            let modified = fs::metadata(folder.path(name)).unwrap().modified();
            (modified.unwrap(), fs::read(folder.path(name)).unwrap())
        };
        let before = written(out);
        let again = run(&["--resume"])
            .code(0)
            .err("nothing to do: the file has the results of all 20 runs");
        assert_eq!(again.stdout, first.stdout, "the same summary");
        let summary = json(&run(&["--resume", "--json"]).code(0).stdout);
        assert_eq!(
            (&summary["runs"], &summary["resumed"]),
            (&20.into(), &20.into())
        );
        assert_eq!(summary["seconds"], 0.0);
        assert!(written(out) == before);
        run(&["--resume", "--max-steps", "1000"]).error(
            "the finished results belong to another run: max-steps changed",
            "--overwrite",
        );
        assert!(written(out) == before);
        assert!(!folder.path(&format!("{out}.part")).exists());
    }
    mega(&folder, &["--output", "f.jsonl", "--resume"]).error(
        "the finished results belong to another run: form changed",
        "--overwrite",
    );
    // A file that has changed since is not the finished one.
    folder.write("r.jsonl", "other\n");
    mega(&folder, &["--output", "r.jsonl", "--resume"])
        .code(0)
        .err("there are no unfinished results");
    assert_eq!(lines(&folder.read("r.jsonl")).len(), 20);
}

/// Wrong candidates are no finding, because a mega-batch runs all donors on all tasks.
#[test]
fn wrong_candidates_are_no_findings() {
    let folder = small();
    folder.write("b.py", BATT.replace("hmirror(I)", "dmirror(I)"));
    mega(&folder, &[])
        .code(0)
        .out("0 right")
        .out("solved 0 of 2 tasks");
    let help = folder.batt(&["mega", "--help"]).code(0);
    assert!(help.stdout.contains("0 all samples ran"), "{}", help.stdout);
}

#[test]
fn a_batt_in_every_file_and_several_in_one() {
    let folder = small();
    folder.write(
        "c.py",
        format!("{BATT}{}", BATT.replace("def batt(", "def batt_two(")),
    );
    let ended = folder.batt(&[
        "mega", "b.py", "c.py", "--tasks", "tasks", "--output", "-", "-q",
    ]);
    let found = lines(&ended.code(0).err("of 3 batts on 5 samples").stdout);
    let batts: Vec<&str> = found.iter().map(|l| l["batt"].as_str().unwrap()).collect();
    assert_eq!(batts.len(), 15);
    assert_eq!(
        [batts[0], batts[5], batts[10]],
        ["b.py", "c.py::batt", "c.py::batt_two"]
    );
}

#[test]
fn threads_and_batches_do_not_change_the_results() {
    let folder = Folder::new();
    let [solvers, tasks] = ["solvers.py", "tasks"].map(|name| format!("{CORPUS}/{name}"));
    let device = [
        "card", &solvers, "-o", "b.py", "--tasks", &tasks, "--count", "20",
    ];
    folder.batt(&device).code(0);
    let results = |more: &[&str]| {
        let args = [
            "mega", "b.py", "--tasks", &tasks, "--full", "--output", "r.jsonl",
        ];
        folder.batt(&[&args[..], more].concat()).code(0);
        folder.read("r.jsonl")
    };
    let first = results(&["--jobs", "1"]);
    for jobs in ["1", "2", "4"] {
        for batch in ["1", "7", "1000"] {
            let other = results(&["--jobs", jobs, "--batch-size", batch]);
            assert!(first == other, "--jobs {jobs} --batch-size {batch}");
        }
        assert!(first == results(&["--jobs", jobs]), "--jobs {jobs}");
    }
    let batt = batt::BattFile::load(folder.path("b.py"), None).unwrap();
    let batt = &batt.batts[0];
    let found = lines(&first);
    assert_eq!(found.len(), 260);
    for line in &found {
        let list = |name: &str| line[name].as_array().unwrap().clone();
        assert_eq!(list("o").len(), batt.outputs.len());
        assert_eq!(list("s").len(), batt.scores.len());
        let right = list("right");
        assert_eq!(line.get("compared").is_some(), !right.is_empty());
        for at in right {
            let candidate = &list("o")[at.as_u64().unwrap() as usize];
            assert_eq!(candidate[3].get("err"), None);
        }
    }
    let own = found.iter().flat_map(|line| {
        let right = line["right"].as_array().unwrap().iter();
        right.map(|at| line["o"][at.as_u64().unwrap() as usize][2] == line["task"])
    });
    assert_eq!(own.filter(|own| *own).count(), 20 * 4);
}

#[cfg(unix)]
#[test]
fn a_killed_run_resumes_to_the_same_results() {
    let folder = slow(100);
    full(&folder, &["--output", "whole.jsonl"]).code(0);
    let whole = folder.read("whole.jsonl");
    let ended = signalled(&folder, "r.jsonl", "-KILL");
    assert_eq!(ended.code, None, "{}", ended.stderr);

    full(&folder, &["--output", "r.jsonl"]).error(
        "r.jsonl.part holds the unfinished results of an earlier run",
        "add --resume to continue it, or --overwrite to start again",
    );
    let part = folder.read("r.jsonl.part");
    assert!(whole.starts_with(&part) && part.len() < whole.len());
    let about = folder.read("r.jsonl.part.json");
    let resume = |kept: usize| {
        let ended = full(&folder, &["--output", "r.jsonl", "--resume", "--json"]).code(0);
        assert!(folder.read("r.jsonl") == whole);
        let summary = json(&ended.stdout);
        assert_eq!(
            (&summary["runs"], &summary["resumed"]),
            (&100.into(), &kept.into())
        );
        assert_eq!(
            (&summary["values"], &summary["right"]),
            (&300.into(), &100.into())
        );
        assert_eq!(summary["solved"][0]["donors"][0], "aa11");
        fs::remove_file(folder.path("r.jsonl")).unwrap();
        for name in ["r.jsonl.part", "r.jsonl.part.json"] {
            assert!(!folder.path(name).exists());
        }
    };
    resume(part.matches('\n').count());

    // The results are the same from any point at which the run may have stopped.
    let unfinished = |text: &[u8]| {
        folder.write("r.jsonl.part", text);
        folder.write("r.jsonl.part.json", &about);
    };
    let ends: Vec<usize> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    for (kept, end) in [
        (95, ends[95] - 1),
        (95, ends[94] + 1),
        (99, ends[98]),
        (100, ends[99]),
    ] {
        unfinished(&whole.as_bytes()[..end]);
        resume(kept);
    }
    // After a power failure the file may end in zeros, in another line, or in more lines than runs.
    let first = &whole[..ends[0]];
    for (kept, tail) in [(97, "\0\0\0\n"), (97, first), (97, "{\"right\":[7]}\n")] {
        unfinished(&[&whole.as_bytes()[..ends[96]], tail.as_bytes()].concat());
        resume(kept);
    }
    unfinished(format!("{whole}{first}").as_bytes());
    resume(100);
}

#[cfg(unix)]
#[test]
fn a_killed_run_resumes_to_the_same_table() {
    let folder = slow(60);
    full(&folder, &["--output", "whole.parquet"]).code(0);
    signalled(&folder, "r.parquet", "-KILL");
    full(&folder, &["--output", "r.parquet", "--resume"])
        .code(0)
        .err("note: continuing after ")
        .err(" of 60 runs");
    let rows = |name: &str| -> Vec<String> {
        let file = fs::File::open(folder.path(name)).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().to_string()).collect()
    };
    let whole = rows("whole.parquet");
    // There is a row for each run and for each of its three candidates.
    assert_eq!(whole.len(), 60 + 180);
    assert!(whole == rows("r.parquet"));
    let mut names: Vec<_> = fs::read_dir(folder.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["b.py", "r.parquet", "tasks", "whole.parquet"]);
}

/// After Ctrl-C the finished lines are kept, the summary says so, and the run can be resumed.
#[cfg(unix)]
#[test]
fn an_interrupted_run_can_be_resumed() {
    let folder = slow(100);
    full(&folder, &["--output", "whole.jsonl"]).code(0);
    let ended = signalled(&folder, "r.jsonl", "-INT")
        .code(130)
        .out("6 steps of 1 batt on ")
        .out("solved 0 of 1 task (interrupted after ")
        .out(" of 100 runs)")
        .err("note: the results so far are kept; the same command with --resume continues");
    let done = folder.read("r.jsonl.part");
    assert!(done.ends_with('\n'));
    let count = done.matches('\n').count();
    let said = format!("on {count} run");
    assert!(ended.stdout.contains(&said), "{said}: {}", ended.stdout);
    full(&folder, &["--output", "r.jsonl", "--resume"])
        .code(0)
        .err(&format!("continuing after {count} of 100 runs"))
        .out("6 steps of 1 batt on 100 samples: 300 candidates, 100 right")
        .out("solved 1 of 1 task");
    assert!(folder.read("r.jsonl") == folder.read("whole.jsonl"));
}

#[cfg(unix)]
#[test]
fn resuming_requires_the_same_work() {
    let folder = slow(60);
    signalled(&folder, "r.jsonl", "-KILL");
    let part = folder.read("r.jsonl.part");
    let resume = |more: &[&str]| {
        full(
            &folder,
            &[&["--output", "r.jsonl", "--resume"], more].concat(),
        )
    };
    let refused = |more: &[&str], what: &str| {
        let message = format!("the unfinished results belong to another run: {what} changed");
        resume(more).error(&message, "the same files, options and limits");
        assert_eq!(folder.read("r.jsonl.part"), part, "nothing is lost");
    };
    refused(&["--max-steps", "1000"], "max-steps");
    refused(
        &["--max-time", "5", "--max-size", "9"],
        "max-size, max-time",
    );
    refused(&["--on-error", "defaults"], "on-error");
    folder.write("b.py", SLOW.replace("5000", "5001"));
    refused(&[], "batts");
    folder.write("b.py", SLOW);
    let tasks = folder.read("tasks/aa11.json");
    folder.write(
        "tasks/aa11.json",
        tasks.replacen("[[0], [0]]", "[[0], [1]]", 1),
    );
    refused(&[], "tasks");
    folder.write("tasks/aa11.json", tasks);
    let about = folder.read("r.jsonl.part.json");
    folder.write("r.jsonl.part.json", &about[..20]);
    resume(&[]).error("r.jsonl.part.json is missing or damaged", "--overwrite");
    folder.write("r.jsonl.part.json", about);
    // Threads and batches do not change the results.
    resume(&["--jobs", "1", "--batch-size", "3"]).code(0);
    resume(&[]).code(0).err("nothing to do");
    fs::remove_file(folder.path("r.jsonl")).unwrap();
    resume(&[])
        .code(0)
        .err("note: there are no unfinished results");
    folder.write("r.jsonl.part", "rubbish");
    full(&folder, &["--output", "r.jsonl", "--overwrite"]).code(0);
    assert_eq!(lines(&folder.read("r.jsonl")).len(), 60);
    full(&folder, &["--resume"]).code(2).err("--output");
    full(&folder, &["--output", "-", "--resume"]).error("go to stdout", "name a file");
}

#[test]
fn lines_on_stdout_leave_the_summary_to_stderr() {
    let folder = small();
    let ended = mega(&folder, &["--output", "-", "--json", "-q"]).code(0);
    assert_eq!(lines(&ended.stdout).len(), 5);
    assert_eq!(json(&ended.stderr)["runs"], 5);
    mega(&folder, &["--output", "-"])
        .code(0)
        .err("solved 1 of 2 tasks");
}

/// The first line comes long before the last.
#[test]
fn lines_stream() {
    let folder = slow(3000);
    let args = [&RUN[..], &["--output", "-"]].concat();
    let mut child = command(&folder.path(""), &args).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert_eq!(json(&line)["pair"], "train[0]");
    assert!(is_running(&mut child));
    // A reader that closes the pipe ends the command without a message.
    drop(lines);
    let mut errors = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{errors}");
    assert!(!errors.contains("error"), "{errors}");
}

#[cfg(target_os = "linux")]
#[test]
fn stdout_that_is_full_is_an_error() {
    let folder = small();
    let args = [&RUN[..], &["--output", "-"]].concat();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(&folder.path(""), &args).stdout(full).output();
    Ended::from(output.unwrap()).error("cannot write the results: No space left", "--output");
}

#[test]
fn the_summary_for_programs() {
    let folder = small();
    let ended = mega(&folder, &["--json", "--jobs", "2", "--batch-size", "3"]).code(0);
    let summary = json(&ended.stdout);
    let wanted = serde_json::json!({
        "runs": 5, "resumed": 0, "samples": 5, "tasks": 2, "values": 5, "right": 3,
        "errors": {"TypeError": 5}, "batch_size": 3, "threads": 2, "interrupted": false,
        "solved": [{"batt": "b.py", "task": "aa11", "donors": ["aa11"]}],
    });
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&summary[key], value, "{key}");
    }
    // A run executes four steps, and the differ's step once more if the candidate is right.
    assert_eq!(summary["steps"]["failed"], 5);
    assert_eq!(summary["steps"]["fallbacks"], 0);
    assert!(summary["steps"]["executed"].as_u64().unwrap() >= 20);
    assert!(summary["seconds"].as_f64().unwrap() > 0.0);
    assert!(summary["samples_per_second"].as_f64().unwrap() > 0.0);
}

#[test]
fn failing_steps_have_two_modes() {
    let folder = Folder::with_tasks();
    folder.write(
        "tok.py",
        "def solve_aa11(S, I, C):\n    x1 = crop(I, I, I)\n    O = hmirror_t(x1)\n    return O\n\
         def solve_bb22(S, I, C):\n    x1 = rbind(subgrid, I)\n    O = apply(x1, I)\n    return O\n",
    );
    folder
        .batt(&["card", "tok.py", "-o", "b.py", "--no-differs"])
        .code(0);
    mega(&folder, &["--strict", "--jobs", "1"])
        .code(0)
        .out(" step  fell back  of  call")
        .out("5   5  crop(I, I, I)")
        .out("solved 0 of 2 tasks");
    // Plain solvers raise exceptions, which become errors or defaults.
    let folder = small();
    mega(&folder, &["--strict"])
        .code(0)
        .out("no step fell back to a default")
        .out("errors: 5 TypeError");
    mega(&folder, &["--on-error", "poison"])
        .code(0)
        .out("errors: 5 TypeError");
    let ended = mega(&folder, &["--on-error", "defaults", "--strict"])
        .code(0)
        .out("5   5  crop(I, t2, t2)");
    assert!(!ended.stdout.contains("errors:"), "{}", ended.stdout);
    mega(&folder, &["--on-error", "panic"])
        .code(2)
        .err("poison, defaults");
}

#[test]
fn files_without_batts() {
    let folder = small();
    let run = |batts: &[&str]| folder.batt(&[&["mega", "--tasks", "tasks"], batts].concat());
    run(&["nope.py"]).error("cannot read nope.py", "check the path");
    run(&["tasks"]).error("cannot read tasks", "name a file, not a folder");
    folder.write("syntax.py", "def batt(S, I, C:\n    return o, s\n");
    run(&["syntax.py"])
        .error("no batt in syntax.py", "correct the errors reported above")
        .err("syntax.py:2:5: ")
        .err("error[syntax]");
    folder.write("unknown.py", BATT.replace("hmirror(", "hmiror("));
    run(&["unknown.py"])
        .error("no batt in unknown.py", "correct")
        .err("unknown.py:5:10: error[unknown-name]: unknown name 'hmiror'")
        .err("did you mean 'hmirror'?");
    // Valid batts are run, and the exit code reports the others.
    run(&["b.py", "unknown.py"])
        .code(1)
        .err("did you mean 'hmirror'?")
        .out("solved 1 of 2 tasks");
    folder.write(
        "solvers.py",
        "def solve_aa11(I):\n    return hmirror(I)\n".repeat(40),
    );
    for batts in [&["solvers.py"][..], &["b.py", "solvers.py"]] {
        let ended = run(batts).error(
            "no batt in solvers.py",
            "`batt card` makes one from solvers",
        );
        assert!(ended.stderr.lines().count() <= 3, "{}", ended.stderr);
    }
    folder.write("empty.py", "");
    run(&["empty.py"]).error("no batt in empty.py", "batt card");
    folder.write("binary.py", b"\xff\xfe\0");
    run(&["binary.py"]).error("binary.py", "UTF-8");

    let long = format!("[{}]", vec!["[1,2,3]"; 1_300_000].join(","));
    folder.write("long.json", &long);
    let ended = run(&["long.json"]).error("no batt in long.json", "correct");
    assert!(ended.stderr.len() < 2000, "{}", ended.stderr);
    folder.write("deep.json", "[".repeat(10_000_000));
    run(&["deep.json"]).error("no batt in deep.json", "correct");

    folder.write("s.py", "def solve_aa11(I):\n    return hmirror(I)\n");
    folder.batt(&["card", "s.py", "-o", "c.py"]).code(0);
    let text = folder.read("c.json");
    folder.write("c.json", &text[..text.len() / 2]);
    run(&["c.py"])
        .code(0)
        .err("c.json: warning[provenance]: the JSON file beside the batt is ignored")
        .out("solved 1 of 2 tasks");
    run(&["c.json"]).error("no batt in c.json", "correct");
}

#[test]
fn paths_without_tasks() {
    let folder = small();
    let run = |tasks: &str| folder.batt(&["mega", "b.py", "--tasks", tasks]);
    run("nope").error("nope: ", "check the path");
    fs::create_dir(folder.path("empty")).unwrap();
    run("empty").error("no task files in this folder", "name a folder");
    folder.write("text/a.txt", "not a task");
    run("text").error("no task files in this folder", "name a folder");
    run("b.py").code(2).err("hint: ");
    for (name, text) in [
        ("no.json", "{\"train\": [], \"test\": []}"),
        ("list.json", "[]"),
        ("object.json", "{}"),
        ("torn.json", &MIRROR[..40]),
    ] {
        folder.write(name, text);
        run(name).error(name, "");
    }
    folder.batt(&["mega", "b.py"]).code(2).err("--tasks");
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = small();
    let out = |out: &str| mega(&folder, &["--output", out]);
    out("no/such/r.jsonl").error("cannot write no/such/r.jsonl", "check the path");
    out("b.py/r.jsonl").error("cannot write b.py/r.jsonl", "check the path");
    fs::create_dir(folder.path("there")).unwrap();
    out("there").error(
        "cannot write there: is a directory",
        "name a file, not a folder",
    );
    out("new/").error("cannot write new/", "name a file, not a folder");
    out("tasks/aa11.json").error("it is one of the files to read", "choose another name");
    out("b.py").error("it is one of the files to read", "choose another name");
    folder.write("all.json", MIRROR);
    folder
        .batt(&[
            "mega",
            "b.py",
            "--tasks",
            "all.json",
            "--output",
            "./all.json",
        ])
        .error("it is one of the files to read", "choose another name");
    fs::create_dir(folder.path("r.jsonl.part")).unwrap();
    out("r.jsonl").error("cannot write r.jsonl.part", "name a file, not a folder");
    fs::remove_dir(folder.path("r.jsonl.part")).unwrap();
    #[cfg(unix)]
    {
        out("/dev/null").error("cannot write /dev/null: it is not a file", "- for stdout");
        // The results replace the file behind a link, not the link.
        folder.write("there.jsonl", "old");
        let link = folder.path("link.jsonl");
        std::os::unix::fs::symlink(folder.path("there.jsonl"), &link).unwrap();
        out("link.jsonl").code(0);
        assert!(link.is_symlink());
        assert_eq!(lines(&folder.read("there.jsonl")).len(), 5);
    }
}

#[test]
fn numbers_that_make_no_sense() {
    let folder = small();
    for (option, value) in [
        ("--max-time", "0"),
        ("--max-time", "-1"),
        ("--max-time", "nan"),
        ("--max-time", "inf"),
        ("--max-time", "1e300"),
        ("--max-time", "soon"),
        ("--batch-size", "0"),
        ("--jobs", "0"),
        ("--max-memory", "much"),
        ("--device", "gpu"),
    ] {
        mega(&folder, &[option, value])
            .code(2)
            .err(&format!("invalid value '{value}' for '{option}"));
    }
    mega(&folder, &["--max-time", "1e9", "--jobs", "999"]).code(0);
    // A run that exceeds its time is an error of its candidates, not of the command.
    mega(&folder, &["--max-time", "1e-9"])
        .code(0)
        .out("solved ");
    mega(&folder, &["--max-steps", "1"]).code(0).out("errors: ");
}

/// A disk of 256 KB. If it cannot be mounted, the test prints a message and passes.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    let folder = slow(60);
    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&disk);
        let output = mount.output();
        output.is_ok_and(|output| output.status.success())
    };
    if !mount("size=256k") {
        println!("skipped: no tmpfs can be mounted here");
        return;
    }
    let _mounted = Mounted(&disk);
    let disk_full = |out: &str| {
        full(&folder, &["--output", out]).error(
            &format!("cannot write {out}"),
            "make room or choose another place; what was written so far is kept",
        );
    };
    disk_full("disk/r.jsonl");
    assert!(folder.read("disk/r.jsonl.part").len() > 100_000);
    assert!(mount("remount,size=16m"), "there is more room now");
    full(&folder, &["--output", "disk/r.jsonl", "--resume"])
        .code(0)
        .err("continuing after ");
    full(&folder, &["--output", "whole.jsonl"]).code(0);
    assert!(folder.read("disk/r.jsonl") == folder.read("whole.jsonl"));

    // There is no room for the table beside the lines.
    let lines = fs::metadata(folder.path("disk/r.jsonl")).unwrap().len();
    for name in ["disk/r.jsonl", "disk/r.jsonl.meta.json"] {
        fs::remove_file(folder.path(name)).unwrap();
    }
    assert!(mount(&format!("remount,size={}k", lines / 1024 + 16)));
    disk_full("disk/r.parquet");
    assert!(!folder.path("disk/r.parquet").exists());
    assert_eq!(
        fs::read_dir(&disk).unwrap().count(),
        2,
        "the lines and what they are"
    );
    assert!(mount("remount,size=16m"));
    full(&folder, &["--output", "disk/r.parquet", "--resume"]).code(0);
    full(&folder, &["--output", "whole.parquet"]).code(0);
    let read = |name: &str| fs::read(folder.path(name)).unwrap();
    assert!(read("disk/r.parquet") == read("whole.parquet"));
}

/// A file system that is unmounted on drop, even if the test fails.
#[cfg(target_os = "linux")]
struct Mounted<'a>(&'a std::path::Path);

#[cfg(target_os = "linux")]
impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}
