//! Behaviour that all commands share: limits, threads, names, signals, and write errors.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Ended, Folder, MIRROR, batt, command};

const SOLVER: &str = "def solve_aa11(I):\n    return hmirror(I)\n";

fn folder() -> Folder {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVER);
    folder
}

#[test]
fn too_many_threads_are_capped_with_a_note() {
    let folder = folder();
    let started = Instant::now();
    let run = |jobs| folder.batt(&["run", "s.py", "--tasks", "tasks", "-j", jobs]);
    let ended = run("20000").code(0).err("--jobs 20000 is too many for");
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(
        !ended.stderr.contains("on 20,000 threads"),
        "{}",
        ended.stderr
    );
    run("1").code(0).err("on 1 thread:");
    run("0").code(2);
}

#[test]
fn a_limit_of_nothing_is_refused() {
    let folder = folder();
    let refusals = [
        ("--max-steps", "write a whole number from 1 on"),
        ("--max-size", "write a whole number from 1 on"),
        ("--max-memory", "write at least 1"),
    ];
    for (limit, refusal) in refusals {
        folder
            .batt(&["run", "s.py", "--tasks", "tasks", limit, "0"])
            .code(2)
            .err(limit)
            .err(refusal);
    }
    folder
        .batt(&["run", "s.py", "--tasks", "tasks", "--max-steps", "many"])
        .code(2)
        .err("write a whole number from 1 on");
}

#[test]
fn names_reach_the_terminal_escaped() {
    let folder = Folder::new();
    let id = "ev\u{1b}[2Jil\nerror: fake";
    let json = serde_json::json!({ id: serde_json::from_str::<Value>(MIRROR).unwrap() });
    folder.write("tasks.json", json.to_string());
    folder.write("s.py", "def f(I):\n    return hmirror(I)\n");
    let args = ["run", "s.py", "--tasks", "tasks.json", "--all-pairs"];
    let ended = folder.batt(&args).code(0);
    assert!(
        ended.stdout.contains("ev\\u{1b}[2Jil\\nerror: fake"),
        "{}",
        ended.stdout
    );
    assert!(!ended.stdout.contains('\u{1b}') && !ended.stderr.contains('\u{1b}'));
    // For programs the name is exact.
    let lines = folder
        .batt(&[&args[..], &["--output", "-"]].concat())
        .code(0);
    let line: Value = serde_json::from_str(lines.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(line["task"], id);

    let eval = ["eval", "s.py", "--task", "tasks.json:test:9"];
    let ended = folder
        .batt(&eval)
        .code(2)
        .err("ev\\u{1b}[2Jil\\nerror: fake");
    assert!(!ended.stderr.contains('\u{1b}'), "{}", ended.stderr);
}

#[cfg(unix)]
#[test]
fn paths_and_arguments_reach_the_terminal_escaped() {
    let folder = folder();
    let ended = folder
        .batt(&["card", "s.py", "-o", "b\u{1b}[2J\r.py"])
        .code(0);
    assert!(
        ended.stdout.contains("wrote b\\u{1b}[2J\\r.py"),
        "{}",
        ended.stdout
    );
    assert!(!ended.stdout.contains(['\u{1b}', '\r']));
    for args in [
        &["run", "--x\r\nerror: fake"][..],
        &["archive", "top", "\r\nerror: fake"],
        &["x\r\nerror: fake"],
    ] {
        let ended = folder.batt(args).code(2).err("\\r\\nerror: fake");
        assert!(!ended.stderr.contains('\r'), "{}", ended.stderr);
    }
}

#[test]
fn a_message_about_a_line_of_code_is_escaped() {
    let folder = Folder::new();
    folder.write("s.py", "def f(I):\n    return hmiror(I)  # \u{1b}[31mred\n");
    let ended = folder
        .batt(&["check", "s.py"])
        .code(1)
        .out("did you mean 'hmirror'?");
    assert!(!ended.stdout.contains('\u{1b}'), "{}", ended.stdout);
}

#[test]
fn long_names_are_cut() {
    let folder = Folder::new();
    let id = "x".repeat(5_000);
    let json = serde_json::json!({ &id: serde_json::from_str::<Value>(MIRROR).unwrap() });
    folder.write("tasks.json", json.to_string());
    folder.write("s.py", "def f(I):\n    return hmirror(I)\n");
    let args = ["run", "s.py", "--tasks", "tasks.json", "--all-pairs"];
    let ended = folder.batt(&args).code(0).out("xxx…");
    assert!(!ended.stdout.contains(&"x".repeat(100)), "{}", ended.stdout);
    let answers = serde_json::json!({ &id: [] });
    folder.write("submission.json", answers.to_string());
    let ended = folder.batt(&[
        "submit",
        "--check",
        "submission.json",
        "--tasks",
        "tasks.json",
    ]);
    let ended = ended.code(1).out("xxx…");
    assert!(!ended.stdout.contains(&"x".repeat(100)), "{}", ended.stdout);
    let ended = folder.batt(&["eval", "s.py", "--task", "tasks.json:test:9"]);
    assert!(
        ended.code(2).stderr.len() < 1_000,
        "a message of pages is not read"
    );
}

#[test]
fn counts_of_one_are_in_the_singular() {
    let folder = Folder::new();
    folder.write("aa11.json", MIRROR);
    folder.write("s.py", "def solve_bb22(I):\n    return hmirror(I)\n");
    let ended = folder.batt(&["run", "s.py", "--tasks", "aa11.json"]).error(
        "no solver is named after a task here (1 solver, 1 task)",
        "--all-pairs",
    );
    assert!(!ended.stderr.contains("these 1"), "{}", ended.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["run", "--help"],
        &["completions", "bash"],
        &["ops"],
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let mut command = command(std::path::Path::new("."), args);
        let output = command.stdin(Stdio::null()).stdout(full).output().unwrap();
        Ended::from(output).code(2).error(
            "cannot write the output: No space left on device\n",
            "stdout",
        );
    }
    batt(&["--help"]).code(0).out("Exit codes:").out("143");
}

#[cfg(unix)]
#[test]
fn signals_end_a_run_with_what_it_has() {
    let folder = Folder::new();
    for task in 0..300 {
        folder.write(&format!("tasks/task{task}.json"), MIRROR);
    }
    // The values are so large that lines are written at once, and the runs take minutes.
    let solver =
        |k| format!("def f{k}(I):\n    x = interval(0, 30000, 1)\n    return order(x, invert)\n");
    let solvers: String = (0..100).map(solver).collect();
    folder.write("s.py", solvers);
    for (signal, code) in [("-TERM", 143), ("-HUP", 129), ("-INT", 130)] {
        let args = [
            "run",
            "s.py",
            "--tasks",
            "tasks",
            "--all-pairs",
            "-j",
            "1",
            "--output",
            "out",
        ];
        let child = command(&folder.path("."), &args).spawn().unwrap();
        let started = Instant::now();
        let written = || std::fs::metadata(folder.path("out")).is_ok_and(|file| file.len() > 0);
        while !written() && started.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(20));
        }
        let mut kill = std::process::Command::new("kill");
        kill.args([signal, &child.id().to_string()]);
        assert!(kill.status().unwrap().success());
        let ended = Ended::from(child.wait_with_output().unwrap()).code(code);
        let ended = ended.out("(interrupted after").out("of 90000 runs)");
        let lines = folder.read("out");
        let complete = lines
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok());
        assert!(complete && lines.ends_with('\n'));
        assert!(ended.last_line().starts_with("solved 0 of 300 tasks"));
        std::fs::remove_file(folder.path("out")).unwrap();
    }
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let folder = Folder::new();
    folder.batt(&["completions", "--man", "man/man1"]).code(0);
    let page = folder.read("man/man1/batt.1");
    assert!(
        page.contains(".TH batt 1") && page.contains("SIGTERM"),
        "{page}"
    );
    assert!(folder.read("man/man1/batt-run.1").contains("all\\-pairs"));
    folder.batt(&["completions"]).code(2);
    folder.write("file", "");
    folder
        .batt(&["completions", "--man", "file"])
        .error("cannot write manual pages to file", "name a folder");
}

#[test]
fn a_note_says_why_devices_are_not_used() {
    let folder = folder();
    let run = |device: &str, more: &[&str]| {
        let args = ["run", "s.py", "--tasks", "tasks", "--device", device];
        folder.batt(&[&args, more].concat())
    };
    run("cuda:99999", &[]).error("device", "--device cpu runs on the CPU");
    run("gpu", &[]).code(2).err("cuda:0,1");
    run("cuda", &["--max-steps", "1000"])
        .code(0)
        .err("a device cannot enforce limits this low; the CPU runs everything");
    let ended = run("auto", &[]).code(0);
    assert!(!ended.stderr.contains("device"), "{}", ended.stderr);
}

/// Runs `batt` in the folder after a shell command such as `prlimit --nproc=6`, and returns how it
/// ended. A command that hangs fails the test instead of blocking it.
#[cfg(target_os = "linux")]
fn limited(folder: &Folder, shell: &str, args: &[&str], user: Option<u32>) -> Ended {
    use std::os::unix::process::CommandExt;

    let batt = command(&folder.path("."), args);
    let mut command = std::process::Command::new("timeout");
    command
        .args(["60", "sh", "-c", &format!("{shell} \"$0\" \"$@\"")])
        .arg(batt.get_program())
        .args(batt.get_args())
        .current_dir(folder.path("."));
    if let Some(user) = user {
        command.uid(user);
    }
    let ended = Ended::from(command.output().unwrap());
    assert_ne!(ended.code, Some(124), "it hangs: {}", ended.stderr);
    ended
}

#[cfg(target_os = "linux")]
#[test]
fn with_fewer_threads_than_asked_for_all_work_is_done() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// A user without other processes, so that a limit on processes is exact.
    const NOBODY: u32 = 65534;

    let folder = folder();
    if std::fs::metadata(folder.path(".")).unwrap().uid() != 0 {
        eprintln!("skipped: only root can run a command as a user without other processes");
        return;
    }
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path("."), open).unwrap();
    let args = ["run", "s.py", "--tasks", "tasks", "--all-pairs", "-j", "4"];
    let as_nobody = |shell: &str| limited(&folder, shell, &args, Some(NOBODY));
    let whole = folder.batt(&args);
    if as_nobody("exec").stdout != whole.stdout {
        eprintln!("skipped: another user cannot run the command here");
        return;
    }
    for processes in [2, 3, 4, 6] {
        let shell = format!("prlimit --nproc={processes}");
        let ended = as_nobody(&shell);
        // With too few processes for its own thread, the command reports that.
        match processes {
            2 | 3 => assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr),
            _ => assert_eq!(
                (ended.code, ended.stdout),
                (whole.code, whole.stdout.clone()),
                "{}",
                ended.stderr
            ),
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_ends_the_command() {
    let folder = folder();
    let card = ["card", "s.py", "-o", "batt.py"];
    folder.batt(&card).code(0);
    let args = ["mega", "batt.py", "--tasks", "tasks", "-j", "16"];
    // There is enough memory for the data, but not for the stacks of 16 threads.
    limited(&folder, "ulimit -v 200000;", &args, None).code(0);
    // With less the system cannot load the program.
    for kilobytes in (30_000..200_000).step_by(7_000) {
        let ended = limited(&folder, &format!("ulimit -v {kilobytes};"), &args, None);
        let is_clear = match ended.code {
            Some(0) => true,
            Some(2) => ended.stderr.contains("error: ") && ended.stderr.contains("hint: "),
            // The C library ends a process if a thread cannot even begin.
            Some(134) => ended.stderr.contains("out of memory"),
            _ => false,
        };
        assert!(is_clear, "{kilobytes}: {:?} {}", ended.code, ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    }
}
