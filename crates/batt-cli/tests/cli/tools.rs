//! Commands that have no test file of their own.

use std::io::Read;

use crate::support::{Ended, Folder, batt, command};

#[test]
fn demo_solves_everything() {
    let ended = batt(&["demo"])
        .code(0)
        .out("Knights")
        .out("runs per second")
        .out("of 4");
    assert!(!ended.stdout.contains('\x1b'), "no colours in a pipe");
    let colours = batt(&["demo", "--color", "always"]).code(0);
    assert!(colours.stdout.contains("\x1b[48;2;"));
    let json: serde_json::Value =
        serde_json::from_str(&batt(&["demo", "--json"]).code(0).stdout).unwrap();
    assert_eq!(json["solved"], json["tasks"]);
}

#[test]
fn eval_prints_the_value() {
    let folder = Folder::with_tasks();
    folder.write(
        "s.py",
        "def f(I):\n    return hmirror(I)\n\ndef g_aa11(I):\n    return size(I)\n",
    );
    let grid = folder
        .batt_with(&["eval", "s.py::f", "--grid", "-"], "[[0, 1], [2, 3]]")
        .code(0);
    assert_eq!(grid.stdout, "23\n01\n");
    folder
        .batt(&["eval", "s.py::f", "--task", "tasks/aa11.json:test:0"])
        .code(0)
        .out("right on aa11 test[0]");
    folder
        .batt(&["eval", "s.py::g_aa11", "--task", "tasks:train:1"])
        .code(1)
        .out("wrong on aa11 train[1]: the integer 2 instead of a grid");
    let json = folder
        .batt(&["eval", "s.py::g_aa11", "--task", "tasks", "--json"])
        .code(1);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["value"], &json["ok"]), (&2.into(), &false.into()));
    folder
        .batt(&["eval", "s.py", "--task", "tasks"])
        .error("holds 2 solvers", "s.py::f");
}

#[test]
fn eval_gives_a_solver_what_it_asks_for() {
    let folder = Folder::with_tasks();
    let solver = "\
def solve_aa11(S, I, C):
    x1 = a_mr(S)
    O = mir_rot_t(I, x1)
    return O
";
    folder.write("s.py", solver);
    folder
        .batt(&["eval", "s.py", "--task", "tasks:test:0", "--trace"])
        .code(0)
        .out("I\n7\n8\n")
        .out("x1 = a_mr(S)  line 2, the integer 0\n")
        .out("8\n7\nright on aa11 test[0]");
    folder
        .batt_with(&["eval", "s.py", "--grid", "-"], "10\n02\n")
        .code(0)
        .err("S is empty");
    folder.write("t.py", "def f(I, J):\n    return hmirror(I)\n");
    folder
        .batt(&["eval", "t.py", "--task", "tasks/aa11.json"])
        .error("'f' takes (I, J)", "S, I and C");
}

#[test]
fn eval_traces_every_step() {
    let folder = Folder::with_tasks();
    folder.write(
        "s.py",
        "def f(I):\n    x1 = objects(I, T, F, F)\n    x2 = mapply(toindices, x1)\n    return crop(I, first(x2), THREE)\n",
    );
    folder
        .batt_with(&["eval", "s.py", "--grid", "-", "--trace"], "10\n02\n")
        .code(1)
        .out("x1 = objects(I, T, F, F)  line 2, a frozenset of 4\n")
        .out("x2 = mapply(toindices, x1)  line 3, a frozenset of 4\n2x2 at (0, 0)\nxx\nxx\n")
        .out("failed: TypeError in crop, s.py:4")
        .out("    4 |     return crop(I, first(x2), THREE)\n")
        .out("dims: THREE is 3\n");
}

#[test]
fn check_reports_and_counts() {
    let folder = Folder::new();
    folder.write(
        "s.py",
        "def f(I):\n    a = hmirror(I)\n    b = first(palette(I))\n    return I\n",
    );
    folder
        .batt(&["check", "s.py"])
        .code(0)
        .out("warning[unused-step]")
        .out("0 errors, 2 warnings");
    folder.batt(&["check", "s.py", "--strict"]).code(1);
    let json = folder.batt(&["check", "s.py", "--json", "--info"]).code(0);
    for line in json.stdout.lines() {
        let found: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(found["file"], "s.py");
    }
    assert!(json.stdout.contains("order-dependent"));
}

#[test]
fn fmt_prints_checks_and_writes() {
    let folder = Folder::new();
    let canonical = "from dsl import *\nfrom constants import *\n\n\ndef f(I):\n    x1 = shape(I)\n    O = canvas(ZERO, x1)\n    return O\n";
    folder.write(
        "s.py",
        "def f(I): # a comment\n  return canvas(ZERO, shape(I))\n",
    );
    assert_eq!(folder.batt(&["fmt", "s.py"]).code(0).stdout, canonical);
    assert_eq!(
        folder.batt(&["fmt", "s.py", "--check"]).code(1).stdout,
        "s.py\n"
    );
    folder.batt(&["fmt", "s.py", "--write"]).code(0);
    assert_eq!(folder.read("s.py"), canonical);
    folder.batt(&["fmt", "s.py", "--check"]).code(0);
}

#[test]
fn a_file_without_solvers_is_not_formatted() {
    let folder = Folder::new();
    for text in ["{\"a\": 1}\n", "", "# notes\n"] {
        folder.write("notes", text);
        for mode in [&[][..], &["--write"], &["--check"]] {
            let ended = folder.batt(&[&["fmt", "notes"], mode].concat());
            let ended = ended.code(1).err("no solver in notes; it is left alone");
            assert_eq!(ended.stdout, "");
        }
        assert_eq!(folder.read("notes"), text);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_stays_a_link() {
    let folder = Folder::new();
    folder.write("real.py", "def f(I):\n    return hmirror(I)  # up\n");
    std::os::unix::fs::symlink("real.py", folder.path("link.py")).unwrap();
    folder.batt(&["fmt", "link.py", "--write"]).code(0);
    assert!(folder.path("link.py").is_symlink());
    assert!(folder.read("real.py").contains("O = hmirror(I)"));
}

#[test]
fn check_and_fmt_take_a_dialect() {
    let folder = Folder::new();
    folder.write("s.py", "def f(S, I, C):\n    return get_nth_t(S, 1)\n");
    folder.batt(&["check", "s.py"]).code(0);
    folder
        .batt(&["check", "s.py", "--dialect", "arc-dsl"])
        .code(1)
        .out("'get_nth_t' is a name of the dialect tokpidjin");
    folder.batt(&["fmt", "s.py"]).code(0);
    folder
        .batt(&["fmt", "s.py", "--dialect", "arc-dsl"])
        .code(1)
        .err("'get_nth_t' is a name of the dialect tokpidjin");
}

#[test]
fn ops_explains() {
    batt(&["ops"])
        .code(0)
        .out("hmirror(piece) -> Piece")
        .out("NEG_UNITY");
    batt(&["ops", "objects"])
        .code(0)
        .out("objects(grid: Grid, ")
        .out("example");
    batt(&["ops", "THREE"]).code(0).out("THREE = 3");
    batt(&["ops", "objcts"]).error("no primitive 'objcts'", "did you mean 'objects'?");
    batt(&["ops", "--markdown"])
        .code(0)
        .out("Do not edit")
        .out("### hmirror");
    let json: serde_json::Value =
        serde_json::from_str(&batt(&["ops", "--json"]).code(0).stdout).unwrap();
    let ops = batt::Dialect::ArcDsl.ops();
    assert_eq!(json["ops"].as_array().unwrap().len(), ops.len());
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    let mut child = command(&folder.path(""), &["ops", "--markdown"])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(
        (child.wait().unwrap().code(), stderr.as_str()),
        (Some(0), "")
    );
}

#[test]
fn conformance_counts() {
    let folder = Folder::new();
    folder.write(
        "v/ops/add.jsonl",
        "{\"args\":[1,2],\"out\":3}\n{\"args\":[1,{\"s\":[]}],\"out\":{\"err\":\"TypeError\"}}\n",
    );
    let ended = folder.batt(&["conformance", "v"]).code(0);
    assert_eq!(ended.stdout, "2 passed, 0 failed\n");
    folder.write(
        "v/programs/000.py",
        "def case_x(I):\n    O = hmirror(I)\n    return O\n",
    );
    folder.write(
        "v/programs/000.jsonl",
        "{\"id\":\"x\",\"in\":{\"g\":[\"1\",\"2\"]},\"out\":{\"g\":[\"1\",\"2\"]}}\n",
    );
    let ended = folder
        .batt(&["conformance", "v"])
        .code(1)
        .out("{\"g\":[\"2\",\"1\"]}");
    assert_eq!(ended.last_line(), "2 passed, 1 failed");
    folder.write("v/ops/add.jsonl", "{\"args\":");
    folder.batt(&["conformance", "v"]).error("add.jsonl:1", "");
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        batt(&["completions", shell]).code(0).out("conformance");
    }
    batt(&["completions", "dos"]).code(2);
}

#[test]
fn help_and_version() {
    batt(&["--version"]).code(0).out("batt ");
    batt(&["--help"]).code(0).out("Examples:").out("Exit codes");
    batt(&["run", "--help"])
        .code(0)
        .out("batt run solvers.py --tasks");
}

#[test]
fn bench_measures_the_corpus() {
    let ended = batt(&["bench", "--seconds", "0.05", "--json"]).code(0);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(json["cores"]["one_core_runs_per_second"].as_f64().unwrap() > 0.0);
    let folder = Folder::new();
    folder
        .batt(&["bench", "--seconds", "0.05", "--against", "."])
        .error("has no dsl.py", "arc-dsl");
}

/// After Ctrl-C the results so far are delivered, and the summary says so.
#[cfg(unix)]
#[test]
fn an_interrupted_run_says_so() {
    let folder = Folder::with_tasks();
    // The solvers have enough work for minutes.
    let solvers: String = (0..2000)
        .map(|k| format!("def s{k}_aa11(I):\n    a = interval(ZERO, 400, ONE)\n    b = product(a, a)\n    return size(apply(first, b))\n"))
        .collect();
    folder.write("s.py", solvers);
    let args = [
        "run",
        "s.py",
        "--tasks",
        "tasks",
        "--all-pairs",
        "--output",
        "out.jsonl",
        "--jobs",
        "1",
    ];
    let child = command(&folder.path(""), &args).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .unwrap();
    let ended = crate::support::Ended::from(child.wait_with_output().unwrap()).code(130);
    assert!(
        ended.last_line().contains("(interrupted after "),
        "{}",
        ended.stdout
    );
    for line in folder.read("out.jsonl").lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn device_says_what_there_is() {
    let folder = Folder::new();
    let cache = folder.path("cache").display().to_string();
    let device = |args: &[&str]| {
        let mut words = vec!["device"];
        words.extend(args);
        let output = command(&folder.path("."), &words)
            .env("BATT_CACHE_DIR", &cache)
            .output();
        Ended::from(output.unwrap())
    };
    // The command succeeds with a device and without.
    device(&[]).code(0).out("driver").out("NVRTC").out(&cache);
    let found: serde_json::Value =
        serde_json::from_str(&device(&["--json"]).code(0).stdout).unwrap();
    assert_eq!(found["cache"]["folder"], cache.as_str());
    assert_eq!(found["cache"]["entries"], 0);
    let devices = found["devices"].as_array().unwrap();
    assert_eq!(devices.is_empty(), found["driver"].is_null());
    if devices.is_empty() {
        assert!(!found["missing"].as_array().unwrap().is_empty());
        device(&["--self-test"]).error("there is no device to test", "batt device");
    }

    folder.write("cache/vm-sm_90-0-12.9.kernel", "anything");
    device(&[]).code(0).out("1 kernel");
    device(&["--clear-cache"])
        .code(0)
        .out("1 compiled kernel deleted");
    device(&[]).code(0).out("empty");
}

#[test]
fn ops_that_a_device_lacks() {
    batt(&["ops", "--device"]).code(0).out("device body");
    let json: serde_json::Value =
        serde_json::from_str(&batt(&["ops", "--device", "--json"]).code(0).stdout).unwrap();
    let all = json["primitives"].as_u64().unwrap();
    assert!(all > 160);
    assert!(json["missing"].as_array().unwrap().len() < all as usize);
}

/// A terminal that does not know its size says that it has no columns.
#[cfg(target_os = "linux")]
#[test]
fn tables_fit_a_terminal_of_unknown_size() {
    let folder = Folder::with_tasks();
    folder.write("s.py", "def solve_aa11(I):\n    return I\n");
    let batt = env!("CARGO_BIN_EXE_batt");
    let line = format!("{batt} run s.py --tasks tasks --color never");
    let mut script = std::process::Command::new("script");
    script
        .args(["-qec", &format!("stty cols 0; {line}"), "/dev/null"])
        .current_dir(folder.path("."))
        .stdin(std::process::Stdio::null());
    let Ok(output) = script.output() else {
        eprintln!("skipped: there is no command `script` to make a terminal with");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("solve_aa11  train[0]  4 of 4 cells wrong"),
        "{text}"
    );
}
