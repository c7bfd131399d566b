//! `batt-bench tokpidjin` and `batt-bench mutants`: comparisons with Python checkouts.

use std::process::Command;

use crate::support::Folder;

#[test]
fn a_folder_without_a_checkout_is_an_error() {
    let folder = Folder::with_tasks();
    let compare =
        |folder: &Folder| folder.bench(&["tokpidjin", ".", "--tasks", "tasks", "--seconds", "0.1"]);
    compare(&folder).error("has no dsl.py", "arc-dsl");
    folder.write("dsl.py", "");
    folder.write("safe_dsl.py", "");
    compare(&folder).error("has no constants.py", "tokpidjin");
    folder.write("constants.py", "");
    compare(&folder).error("has no solvers_pre.py", "tokpidjin");
}

#[test]
fn mutants_that_differ_are_shown() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3 to compare with");
        return;
    }
    let folder = Folder::with_tasks();
    let args = ["mutants", ".", "--tasks", "tasks", "--count", "2"];
    // Empty libraries: every function that a mutant calls is missing.
    folder.write("dsl.py", "");
    folder.write("constants.py", "");
    let solver = "def solve_aa11(I):\n    O = hmirror(I)\n    return O\n";
    folder.write("solvers.py", solver);
    let ours = || folder.bench(&args).code(1).out("differs: aa11");
    ours().out("def solve_aa11(I):").out("NameError");
    folder.write("safe_dsl.py", "");
    let solver = "def solve_aa11(S, I, C):\n    O = hmirror_t(I)\n    return O\n";
    folder.write("solvers_pre.py", solver);
    ours().out("def solve_aa11(S, I, C):").out("NameError");
    folder.write("dsl.py", "import no_such_module\n");
    folder
        .bench(&args)
        .error("no_such_module", "pip install no_such_module");
}

#[test]
fn a_missing_python_is_an_error() {
    let folder = Folder::with_tasks();
    for file in ["dsl.py", "constants.py", "safe_dsl.py"] {
        folder.write(file, "");
    }
    let solver = "def solve_aa11(S, I, C):\n    O = mir_rot_t(I, R0)\n    return O\n";
    folder.write("solvers_pre.py", solver);
    let python = ["--python", "./no-python"];
    let args = [&["tokpidjin", ".", "--tasks", "tasks"][..], &python].concat();
    folder
        .bench(&args)
        .error("cannot start ./no-python", "--python");
}
