//! `batt archive` on real files.

use batt::Score;
use batt::archive::{Archive, Checkpoint, NewEntry, Retention, RunInfo};
use serde_json::Value as Json;

use crate::support::{Folder, command};

const SOLVERS: &str = "
def solve_aa11(I):
    O = hmirror(I)
    return O

def worse_aa11(I):
    x1 = hmirror(I)
    x2 = hmirror(x1)
    O = hmirror(x2)
    return O

def wrong_aa11(I):
    return vmirror(I)

def failing_aa11(I):
    x1 = size(I)
    return crop(I, x1, x1)

def solve_bb22(I):
    return vmirror(I)

def solve_nothing(I):
    return I
";

/// Creates a folder with tasks and an archive of the solvers above.
fn filled() -> Folder {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS);
    folder
        .batt(&["archive", "import", "s.py", "--tasks", "tasks"])
        .code(0)
        .out("tried 5 solvers: 3 solve all demonstrations, 1 fails on some; 5 kept")
        .err("solve_nothing");
    folder
}

fn lines(text: &str) -> Vec<Json> {
    let parse = |line: &str| serde_json::from_str(line).unwrap();
    text.lines().map(parse).collect()
}

/// Returns the hash of the best solver of a task.
fn best(folder: &Folder, task: &str) -> String {
    let shown = folder.batt(&["archive", "show", task, "--json"]).code(0);
    lines(&shown.stdout)[0]["hash"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_imported_is_listed() {
    let folder = filled();
    let listed = folder
        .batt(&["archive", "ls"])
        .code(0)
        .out("aa11")
        .out("2/2")
        .out("100.00%");
    assert_eq!(
        listed.last_line(),
        "2 tasks, 2 solved on the demonstrations; 4 solvers"
    );
    let unsolved = folder.batt(&["archive", "ls", "--unsolved"]).code(0);
    assert!(!unsolved.stdout.contains("aa11"));
    let json = lines(&folder.batt(&["archive", "ls", "--json"]).code(0).stdout);
    assert_eq!(json.len(), 2);
    assert_eq!(
        (&json[0]["task"], &json[0]["entries"]),
        (&"aa11".into(), &4.into())
    );
    assert_eq!(json[0]["best"]["size"], 1);
    assert_eq!(json[0]["best"]["solved"], true);

    // A second import finds all solvers known.
    folder
        .batt(&["archive", "import", "s.py", "--tasks", "tasks"])
        .code(0)
        .out("0 kept, 5 known, 0 refused");
    let top = folder.batt(&["archive", "top", "--json"]).code(0);
    let top = lines(&top.stdout);
    // Both solvers solve a task. The first has more demonstrations; the second was tried on two
    // tasks.
    assert_eq!(
        (&top[0]["solved"], &top[0]["demos_solved"]),
        (&1.into(), &2.into())
    );
    assert!(
        top.iter()
            .any(|one| one["tasks"] == 2 && one["solved"] == 1)
    );
    let of_task = folder
        .batt(&["archive", "top", "2", "--task", "aa11", "--json"])
        .code(0);
    let of_task = lines(&of_task.stdout);
    assert_eq!(of_task.len(), 2);
    assert_eq!(of_task[0]["score"]["size"], 1);
    assert_eq!(of_task[1]["score"]["size"], 3);
    folder
        .batt(&["archive", "top", "3"])
        .code(0)
        .out("tasks solved");
}

#[test]
fn fewer_are_kept_if_asked() {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS);
    let args = [
        "archive", "import", "s.py", "--tasks", "tasks", "--keep", "1",
    ];
    folder.batt(&args).code(0).out("2 kept, 0 known, 3 refused");
    let json = lines(&folder.batt(&["archive", "ls", "--json"]).code(0).stdout);
    assert_eq!(json[0]["entries"], 1);
    assert_eq!(json[0]["best"]["size"], 1);
    folder
        .batt(&[
            "archive", "import", "s.py", "--tasks", "tasks", "--keep", "0",
        ])
        .code(2);
}

#[test]
fn a_solver_is_shown_with_pictures() {
    let folder = filled();
    let hash = best(&folder, "aa11");
    let shown = folder
        .batt(&["archive", "show", "aa11", "--tasks", "tasks"])
        .code(0)
        .out(&hash)
        .out("def solve(I):\n    O = hmirror(I)\n    return O\n")
        .out("made by import in run 1")
        .out("train[0] input 2x2      output 2x2  solver\n12                  ->  34          right\n34                      12\n");
    assert!(!shown.stdout.contains("test[0]"));
    // The first digits of a hash suffice. The picture shows the answer to a test, but not the
    // expected output.
    folder
        .batt(&["archive", "show", &hash[..6], "--tasks", "tasks", "--tests"])
        .code(0)
        .out("test[0] input 2x1      solver 2x1\n7                  ->  8\n8                      7\n");
    let top = folder.batt(&["archive", "top", "9", "--task", "aa11", "--json"]);
    let all = lines(&top.stdout);
    let show = |k: usize| {
        let hash = all[k]["hash"].as_str().unwrap().to_owned();
        let args = ["archive", "show", hash.as_str(), "--tasks", "tasks"];
        folder.batt(&args).code(0)
    };
    show(2).out("diff 4 of 4");
    show(3).out("no grid").out("in crop");
    let colours = folder
        .batt(&[
            "--color", "always", "archive", "show", "aa11", "--tasks", "tasks",
        ])
        .code(0);
    assert!(colours.stdout.contains("\x1b[48;2;"));
}

#[test]
fn missing_things_are_errors_with_hints() {
    let folder = filled();
    folder.batt(&["archive", "show", "aa12"]).error(
        "neither a task nor a solver 'aa12'",
        "did you mean the task aa11?",
    );
    folder
        .batt(&["archive", "lineage", "ffffffffffff"])
        .error("neither a task nor a solver", "batt archive ls");
    folder
        .batt(&["archive", "top", "--task", "zz"])
        .error("'zz'", "batt archive ls");
    folder
        .batt(&["archive", "export", "--task", "zz"])
        .error("no task 'zz'", "batt archive ls");
    folder
        .batt(&["archive", "ls", "--archive", "none.sqlite"])
        .error("none.sqlite: there is no such archive", "check the path");
    assert!(!folder.path("none.sqlite").exists());
    folder
        .batt(&["archive", "ls", "--archive", "tasks"])
        .error("tasks: this is not a file", "name a file");
    folder
        .batt(&["archive", "ls", "--archive", "s.py"])
        .error("s.py: this is not an archive of solvers", "was not changed");
    folder
        .batt(&[
            "archive",
            "import",
            "s.py",
            "--tasks",
            "tasks",
            "--archive",
            "s.py",
        ])
        .error("not an archive", "was not changed");
    assert_eq!(folder.read("s.py"), SOLVERS);
    folder
        .batt(&["archive", "import", "--tasks", "tasks"])
        .code(2)
        .err("required");
    folder.write("none.py", "def f(I):\n    return I\n");
    folder
        .batt(&["archive", "import", "none.py", "--tasks", "tasks"])
        .error("no solver has a task", "<anything>_<task id>");
}

#[test]
fn exported_solvers_run_again() {
    let folder = filled();
    folder
        .batt(&["archive", "export", "--best", "-o", "best.py"])
        .code(0)
        .out("wrote 2 solvers of 2 tasks to best.py");
    assert_eq!(
        folder.read("best.py"),
        "from dsl import *\nfrom constants import *\n\n\ndef solve_aa11(I):\n    O = hmirror(I)\n    return O\n\n\ndef solve_bb22(I):\n    O = vmirror(I)\n    return O\n"
    );
    folder
        .batt(&["run", "best.py", "--tasks", "tasks"])
        .code(0)
        .out("solved 2 of 2 tasks");
    // All solvers of the task are exported, each under a name that still contains the task.
    let all = folder
        .batt(&["archive", "export", "--task", "aa11"])
        .code(0)
        .out("def solve_aa11(I):")
        .out("def solve2_aa11(I):")
        .out("def solve4_aa11(I):");
    folder.write("all.py", &all.stdout);
    let again = ["archive", "import", "all.py", "--tasks", "tasks"];
    folder.batt(&again).code(0).out("0 kept, 4 known");
    let solved = ["archive", "export", "--solved", "--json"];
    let solved = lines(&folder.batt(&solved).code(0).stdout);
    assert_eq!(solved.len(), 3);
    assert_eq!(solved[2]["name"], "solve_bb22");
    folder
        .batt(&["archive", "export", "--dialect", "tokpidjin"])
        .error("has no such solver", "batt archive ls");
    folder
        .batt(&["archive", "export", "-o", "batt.sqlite"])
        .error("one of the files to read", "another name");
}

#[test]
fn archives_are_merged() {
    let folder = filled();
    folder.write(
        "more.py",
        "def solve_aa11(I):\n    x1 = vmirror(I)\n    O = rot180(x1)\n    return O\n",
    );
    let more = [
        "archive",
        "import",
        "more.py",
        "--tasks",
        "tasks",
        "--archive",
        "two",
    ];
    folder.batt(&more).code(0);
    let merge = [
        "archive",
        "merge",
        "batt.sqlite",
        "two",
        "--archive",
        "all",
        "--json",
    ];
    let merged = lines(&folder.batt(&merge).code(0).stdout);
    assert_eq!(
        (&merged[0]["kept"], &merged[1]["kept"]),
        (&5.into(), &1.into())
    );
    let again = lines(&folder.batt(&merge).code(0).stdout);
    assert_eq!(
        (&again[0]["kept"], &again[1]["kept"]),
        (&0.into(), &0.into())
    );
    let listed = folder.batt(&["archive", "ls", "--archive", "all"]).code(0);
    assert_eq!(
        listed.last_line(),
        "2 tasks, 2 solved on the demonstrations; 5 solvers"
    );
    folder
        .batt(&["archive", "merge", "all", "--archive", "./all"])
        .error("into itself", "--archive");
    // A missing archive prevents the merge of the others.
    folder
        .batt(&["archive", "merge", "all", "none", "--archive", "new"])
        .error("none: there is no such archive", "check the path");
    assert!(!folder.path("new").exists());
}

#[test]
fn gc_removes_what_is_not_needed() {
    let folder = filled();
    folder
        .batt(&["archive", "gc", "--check"])
        .code(0)
        .out("removed 0 scores and 0 solvers")
        .err("has no damage");
    let json = folder
        .batt(&["archive", "gc", "--keep", "1", "--json"])
        .code(0);
    let json = &lines(&json.stdout)[0];
    assert_eq!((&json["scores"], &json["solvers"]), (&3.into(), &2.into()));
}

/// A damaged checkpoint and impossible scores are all printed, nothing is removed, and the exit
/// code is 1.
#[test]
fn a_check_finds_damaged_checkpoints_and_impossible_scores() {
    let folder = filled();
    let mut archive = Archive::open(&folder.path("batt.sqlite")).unwrap();
    let program = archive.best("aa11", None, 1).unwrap()[0].program().unwrap();
    let entry = |task: &str, demos_solved, closeness| NewEntry {
        program: program.clone(),
        parents: Vec::new(),
        mutation: "seed".into(),
        task: task.into(),
        task_hash: "0".into(),
        score: Score {
            demos_solved,
            demos: 2,
            closeness,
            size: 1,
            cost: 1,
        },
        outputs: 0,
    };
    let entries = [
        entry("more", 3, 1_000_000),
        entry("far", 2, 1_000_001),
        entry("unlike", 2, 999_999),
    ];
    let checkpoint = Checkpoint {
        generation: 4,
        state: b"{\"format\": 1, \"gener".to_vec(),
    };
    let run = archive.begin_run(&RunInfo::default()).unwrap();
    archive
        .save(run, &entries, &Retention::default(), Some(&checkpoint))
        .unwrap();
    drop(archive);
    let check = ["archive", "gc", "--check", "--keep", "1"];
    folder
        .batt(&check)
        .code(1)
        .out("on task more: more demonstrations solved than there are\n")
        .out("on task far: a closeness above 1,000,000\n")
        .out("on task unlike: all demonstrations solved, but a closeness below 1,000,000\n")
        .out("checkpoint of run 2: the stored state cannot be read")
        .out("4 findings\n")
        .err("batt.sqlite is damaged, and nothing was removed");
    let json = folder.batt(&[&check[..], &["--json"]].concat()).code(1);
    let findings = &lines(&json.stdout)[0]["findings"];
    assert_eq!(findings.as_array().unwrap().len(), 4);
    let listed = lines(&folder.batt(&["archive", "ls", "--json"]).code(0).stdout);
    assert_eq!(listed[0]["entries"], 4);
}

#[test]
fn lineage_of_a_solver_without_parents() {
    let folder = filled();
    let hash = best(&folder, "aa11");
    let tree = folder.batt(&["archive", "lineage", "aa11"]).code(0);
    assert_eq!(tree.stdout, format!("{}  import\n", &hash[..12]));
    let json = folder
        .batt(&["archive", "lineage", &hash, "--json"])
        .code(0);
    assert_eq!(lines(&json.stdout)[0]["depth"], 0);
}

/// The folder of the original system is imported as it is after a copy from another machine.
#[cfg(unix)]
#[test]
fn the_original_folder_is_imported() {
    use std::os::unix::fs::symlink;

    let folder = Folder::with_tasks();
    let head = "from dsl import *\nfrom constants import *\n\n";
    let md5 = |k: u8| format!("{k:02x}").repeat(16);
    let link = |task: &str, score: &str, time: &str, target: &str, name: &str| {
        let place = format!("old/solver_dir/solve_{task}/{score}/{time}");
        std::fs::create_dir_all(folder.path(&place)).unwrap();
        symlink(target, folder.path(&format!("{place}/{name}"))).unwrap();
    };
    let solver = |k: u8, body: &str| {
        let text = format!("{head}def solve(S, I, C):\n{body}");
        folder.write(&format!("old/solver_md5/{}.py", md5(k)), text);
    };
    // The name of the link says 9 of 3, and the link is dangling, as on every other machine. The
    // solver has two links.
    solver(1, "    O = mir_rot_t(I, R0)\n    return O\n");
    let away = |k: u8| format!("/kaggle/working/tokpidjin/solver_md5/{}.py", md5(k));
    link("aa11", "9", "13", &away(1), &format!("{}.py", md5(1)));
    link("aa11", "2", "20", &away(1), &format!("{}.py", md5(1)));
    // These solvers are broken, missing, of an unknown task, or have a wrong name; and some links
    // lead out of the folder.
    solver(2, "    O = no_such(I)\n    return O\n");
    link("aa11", "0", "13", &away(2), &format!("{}.py", md5(2)));
    link("aa11", "0", "13", &away(3), &format!("{}.py", md5(3)));
    link("ffff", "1", "13", &away(1), &format!("{}.py", md5(1)));
    link("aa11", "x", "13", &away(1), &format!("{}.py", md5(1)));
    link("aa11", "0", "13", "/etc/passwd", "passwd");
    folder.write(
        "secret.py",
        format!("{head}def solve(S, I, C):\n    return I\n"),
    );
    let secret = folder.path("secret.py").display().to_string();
    link("aa11", "0", "13", &secret, &format!("{}.py", md5(4)));
    symlink(
        &secret,
        folder.path(&format!("old/solver_md5/{}.py", md5(4))),
    )
    .unwrap();
    symlink(
        folder.path("tasks"),
        folder.path("old/solver_dir/solve_bb22"),
    )
    .unwrap();

    let args = ["archive", "import", "--original", "old", "--tasks", "tasks"];
    folder
        .batt(&args)
        .code(1)
        .out("tried 1 solver: 1 solves all demonstrations")
        .err("1 task not among these tasks: ffff")
        .err("2 links without a file")
        .err("1 file left out");
    let shown = folder.batt(&["archive", "show", "aa11", "--json"]).code(0);
    let shown = &lines(&shown.stdout)[0];
    assert_eq!(shown["dialect"], "tokpidjin");
    assert_eq!(shown["mutation"], format!("original {}", md5(1)));
    assert_eq!(shown["entries"][0]["score"]["demos_solved"], 2);
    folder
        .batt(&["archive", "export", "--best"])
        .code(0)
        .out("def solve_aa11(S, I, C):\n    O = mir_rot_t(I, R0)\n");
    folder
        .batt(&[
            "archive",
            "import",
            "--original",
            "tasks",
            "--tasks",
            "tasks",
        ])
        .error("no folder solver_dir", "original system");
}

/// Two processes can import into one archive at the same time.
#[test]
fn two_processes_import_at_once() {
    let folder = Folder::with_tasks();
    for part in 0..2 {
        let solvers: String = (0..40)
            .map(|k| {
                let n = part * 40 + k;
                format!("def f{n}_aa11(I):\n    return replace(I, 0, {n})\n\n")
            })
            .collect();
        folder.write(&format!("{part}.py"), solvers);
    }
    let start = |file: &str| {
        let args = [
            "archive", "import", file, "--tasks", "tasks", "--keep", "500",
        ];
        command(&folder.path(""), &args).spawn().unwrap()
    };
    let children = [start("0.py"), start("1.py")];
    for child in children {
        let ended = crate::support::Ended::from(child.wait_with_output().unwrap());
        ended.code(0).out("40 kept");
    }
    let json = lines(&folder.batt(&["archive", "ls", "--json"]).code(0).stdout);
    assert_eq!(json[0]["entries"], 80);
    folder.batt(&["archive", "gc", "--check"]).code(0);
}
