//! `batt card`, `batt mega` and `batt extract`: merging solvers into a batt, and extracting them.

use std::collections::HashSet;

use batt::BattFile;
use serde_json::Value;

use crate::support::{Ended, Folder};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../batt-arc/corpus");

const SOLVERS: &str = "
def solve_aa11(I):
    x1 = hmirror(I)
    return x1

def solve_bb22(I):
    x1 = hmirror(I)
    x2 = vmirror(x1)
    return hmirror(x2)
";

const TOKPIDJIN: &str = "
def solve_aa11(S, I, C):
    x1 = o_g(I, R5)
    x2 = get_nth_f(x1, F0)
    O = subgrid(x2, I)
    return O
";

/// Returns the paths of the corpus's solvers and tasks.
fn corpus() -> [String; 2] {
    ["solvers.py", "tasks"].map(|name| format!("{CORPUS}/{name}"))
}

/// Creates a folder with two tasks and their solvers.
fn two() -> Folder {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS);
    folder
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap()
}

fn files_in(folder: &Folder) -> HashSet<String> {
    let entries = std::fs::read_dir(folder.path("")).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn the_corpus_is_merged_and_extracted() {
    let folder = Folder::new();
    let [solvers, tasks] = &corpus();
    let ended = folder
        .batt(&["card", solvers, "-o", "batt.py", "--tasks", tasks])
        .code(0)
        .out("merged 65 solvers and 4 differs: ");
    assert_eq!(ended.last_line(), "wrote batt.py and batt.json");
    assert_eq!(
        ended.stderr.lines().count(),
        1,
        "only which dialect it is: {}",
        ended.stderr
    );

    let file = BattFile::load(folder.path("batt.py"), None).unwrap();
    assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
    assert_eq!(file.batts[0].outputs.len(), 65);

    let mega = json(
        &folder
            .batt(&["mega", "batt.py", "--tasks", tasks, "--json"])
            .code(0),
    );
    let solved = mega["solved"].as_array().unwrap();
    let own = solved.iter().filter(|solved| {
        let donors = solved["donors"].as_array().unwrap();
        donors.contains(&solved["task"])
    });
    assert_eq!(own.count(), 65);

    let mut run = vec!["run".to_owned(), "--tasks".to_owned(), tasks.clone()];
    for output in &file.batts[0].outputs {
        let (donor, name) = (&output.donor, format!("{}.py", output.donor));
        let args = ["extract", "batt.py", "--donor", donor, "-o", &name];
        folder.batt(&args).code(0).out(&name);
        run.push(name);
    }
    let run: Vec<&str> = run.iter().map(String::as_str).collect();
    let ended = folder.batt(&run).code(0);
    assert_eq!(ended.last_line(), "solved 65 of 65 tasks, 260 of 260 pairs");
}

#[test]
fn the_same_seed_writes_the_same_file() {
    let folder = Folder::new();
    let [solvers, tasks] = &corpus();
    let card = |out: &str, seed: &str| {
        let args = ["card", solvers, "--tasks", tasks, "--count", "10"];
        let ended = folder.batt(&[&args[..], &["--seed", seed, "-o", out]].concat());
        ended.code(0).out("merged 10 solvers");
    };
    card("a.py", "7");
    card("b.py", "7");
    card("c.py", "8");
    assert_eq!(folder.read("a.py"), folder.read("b.py"));
    assert_eq!(folder.read("a.json"), folder.read("b.json"));
    assert_ne!(folder.read("a.py"), folder.read("c.py"));
    let printed = folder.batt(&[
        "card", solvers, "--tasks", tasks, "--count", "10", "--seed", "7", "-o", "-",
    ]);
    let printed = printed.code(0).err("merged 10 solvers");
    assert_eq!(printed.stdout, folder.read("a.py"));
}

#[test]
fn mutants_join_their_parents() {
    let folder = Folder::new();
    let [solvers, tasks] = &corpus();
    let card = |out: &str, more: &[&str]| {
        let args = [
            "card", solvers, "--tasks", tasks, "--count", "10", "-o", out,
        ];
        folder.batt(&[&args[..], more].concat())
    };
    let mutants = ["--mutants", "40", "--json"];
    let report = json(&card("a.py", &mutants).code(0));
    card("b.py", &mutants).code(0);
    card("c.py", &["--mutants", "40", "--seed", "1"])
        .code(0)
        .out("merged 50 solvers (40 mutants) and 4 differs: ");
    assert_eq!(folder.read("a.py"), folder.read("b.py"));
    assert_ne!(folder.read("a.py"), folder.read("c.py"));
    assert_eq!(report["solvers"], 50);
    assert_eq!(report["mutants"], 40);
    let donors = report["donors"].as_array().unwrap();
    let parents: Vec<&Value> = donors[..10].iter().map(|donor| &donor["id"]).collect();
    for (at, donor) in donors.iter().enumerate() {
        let (id, parent) = (donor["id"].as_str().unwrap(), &donor["mutant_of"]);
        assert_eq!(parent.is_null(), at < 10, "{donor}");
        assert_eq!(donor["change"].is_null(), at < 10, "{donor}");
        if at >= 10 {
            assert!(parents.contains(&parent), "{donor}");
            let prefix = format!("{}.m", parent.as_str().unwrap());
            assert!(id.starts_with(&prefix), "{donor}");
        }
    }

    // The batt marks mutants and runs, and the extracted mutants are solvers again.
    let file = BattFile::load(folder.path("a.py"), None).unwrap();
    assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
    for output in &file.batts[0].outputs {
        assert_eq!(output.mutated, output.donor.contains(".m"), "{output:?}");
    }
    let mega = json(
        &folder
            .batt(&["mega", "a.py", "--tasks", tasks, "--json"])
            .code(0),
    );
    assert!(mega["solved"].as_array().unwrap().len() >= 10);
    let mutant = donors[10]["id"].as_str().unwrap();
    folder
        .batt(&["extract", "a.py", "--donor", mutant])
        .code(0)
        .out("def solve");
}

#[test]
fn fewer_mutants_than_requested() {
    let folder = Folder::new();
    folder.write(
        "s.py",
        "def solve_aa11(I):\n    O = identity(I)\n    return O\n",
    );
    folder
        .batt(&[
            "card",
            "s.py",
            "-o",
            "b.py",
            "--no-differs",
            "--mutants",
            "100000",
        ])
        .code(0)
        .err("of 100000 could be made");
}

#[test]
fn the_largest_task_goes_first() {
    let folder = two();
    let first = |more: &[&str]| {
        let args = ["card", "s.py", "-o", "-", "--no-differs"];
        let text = folder.batt(&[&args[..], more].concat()).code(0).stdout;
        let lines: Vec<&str> = text.lines().filter(|l| l.contains(" = h")).collect();
        (lines.len(), text)
    };
    let (steps, text) = first(&["--tasks", "tasks"]);
    assert_eq!(steps, 2, "hmirror(I) is shared:\n{text}");
    let donors = json(
        &folder
            .batt(&["card", "s.py", "-o", "b.py", "--tasks", "tasks", "--json"])
            .code(0),
    );
    assert_eq!(donors["donors"][0]["cells"], 24);
    assert_eq!(donors["donors"][1]["cells"], 6);
    // The file has the solvers in the other order, and one whose task is missing, which goes last.
    folder.write(
        "s.py",
        "def solve_cc33(I):\n    return rot90(I)\ndef solve_bb22(I):\n    return vmirror(I)\n\
         def solve_aa11(I):\n    return hmirror(I)\n",
    );
    let (_, text) = first(&["--tasks", "tasks"]);
    let calls = ["hmirror", "vmirror", "rot90"].map(|call| text.find(call).unwrap());
    assert!(calls.is_sorted(), "{text}");
    let (_, text) = first(&[]);
    assert!(text.find("rot90") < text.find("hmirror"), "{text}");
    folder
        .batt(&["card", "s.py", "-o", "-", "--tasks", "tasks"])
        .code(0)
        .err("1 solver without a task in --tasks: solve_cc33");
}

#[test]
fn numbers_for_people_and_for_programs() {
    let folder = two();
    let ended = folder
        .batt(&["card", "s.py", "-o", "b.py", "--no-differs", "--stats"])
        .code(0)
        .out(" t1          2  hmirror(I)")
        .out(" hmirror         2          0");
    let summary = "merged 2 solvers and 0 differs: 4 steps, 3 after sharing, 3 after simplification\n\
                   wrote b.py and b.json\n";
    assert!(ended.stdout.ends_with(summary), "{}", ended.stdout);
    let all = json(
        &folder
            .batt(&["card", "s.py", "-o", "b.py", "--json"])
            .code(0),
    );
    assert_eq!(all["solvers"], 2);
    assert_eq!(all["differs"], 4);
    assert_eq!(all["dialect"], "arc-dsl");
    assert_eq!(all["form"], "plain");
    assert_eq!(all["on_error"], "poison");
    assert_eq!(all["steps"]["solvers"], 4);
    assert_eq!(all["uses"][0]["call"], "hmirror(I)");
    assert_eq!(all["donors"][0]["function"], "solve_aa11");
    assert_eq!(all["donors"][0]["file"], "s.py");
    assert_eq!(all["files"][1], "b.json");
}

#[test]
fn one_task_and_its_solvers() {
    let folder = two();
    folder.write("t.py", "def solver_aa11(I):\n    return vmirror(I)\n");
    let ended = folder
        .batt(&["card", "s.py", "t.py", "-o", "-", "--task", "aa11"])
        .code(0)
        .err("1 solver got a number, because the task has another solver: aa11.2")
        .out("'aa11', t19))")
        .out("'aa11.2', ")
        .err("merged 2 solvers");
    assert!(!ended.stdout.contains("bb22"));
    folder
        .batt(&["card", "s.py", "-o", "b.py", "--task", "aa12"])
        .error("no solver for task 'aa12'", "did you mean 'aa11'?");
    folder
        .batt(&["card", "s.py", "-o", "b.py", "--task", "00000000"])
        .error("no solver for task '00000000'", "there are 2 solvers");
}

#[test]
fn forms() {
    let folder = two();
    folder.write("tok.py", TOKPIDJIN);
    let on_error = |args: &[&str]| {
        let ended = folder.batt(&[&["card", "-o", "b.py", "--json"], args].concat());
        let on_error = json(&ended.code(0))["on_error"].clone();
        let text = folder.read("b.py");
        assert_eq!(text.contains("_get_safe_default("), on_error == "defaults");
        assert_eq!(text.contains("try:"), on_error == "defaults");
        let file = BattFile::load(folder.path("b.py"), None).unwrap();
        assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
        on_error
    };
    assert_eq!(on_error(&["s.py"]), "poison");
    assert_eq!(on_error(&["tok.py"]), "defaults");
    assert_eq!(on_error(&["tok.py", "--guarded"]), "defaults");
    assert_eq!(on_error(&["tok.py", "--plain"]), "poison");
    folder
        .batt(&["card", "s.py", "-o", "b.py", "--guarded"])
        .error("arc-dsl has no guarded form", "leave --guarded out");
    // A batt for RE-ARC's library looks like one for the original.
    folder
        .batt(&["card", "s.py", "-o", "b.py", "--dialect", "re-arc"])
        .code(0)
        .err("run it with --dialect re-arc");
}

#[test]
fn differs_from_files() {
    let folder = two();
    folder.write(
        "d.py",
        "def differ_mine(S, I, C):\n    return equality(I, C)\n",
    );
    folder
        .batt(&["card", "s.py", "-o", "-", "--differs", "d.py"])
        .code(0)
        .out("'differ_colors_removed', ")
        .out("'None', 'differ_mine', ")
        .out("'aa11', 'differ_mine', ")
        .err("and 5 differs");
    let without = folder
        .batt(&["card", "s.py", "-o", "-", "--no-differs"])
        .code(0);
    assert!(!without.stdout.contains("s.append"));

    // One of these two functions has other parameters, and one has the name of a built-in differ.
    folder.write(
        "d.py",
        "def differ_mine(S, I, C):\n    return equality(I, C)\ndef helper(I):\n    return I\n\
         def differ_cells_added(S, I, C):\n    return C\n",
    );
    folder
        .batt(&["card", "s.py", "-o", "b.py", "--differs", "d.py"])
        .code(1)
        .err("'helper' takes (I); a differ takes (S, I, C); left out")
        .err("another differ is called 'differ_cells_added'; left out")
        .out("and 5 differs");
    folder.write("d.py", "def helper(I):\n    return I\n");
    folder
        .batt(&["card", "s.py", "-o", "b.py", "--differs", "d.py"])
        .error("no differ in d.py", "def differ_<name>(S, I, C)");
    folder
        .batt(&["card", "s.py", "-o", "b.py", "--differs", "nope.py"])
        .error("cannot read nope.py", "check the path");
}

#[test]
fn solvers_that_cannot_be_merged_are_left_out() {
    let folder = Folder::new();
    folder.write(
        "s.py",
        "def solve_a(I):\n    return trim(I)\ndef solve_b(I):\n    return trm(I)\n\
         def solve_c(I, k):\n    return upscale(I, k)\n",
    );
    folder
        .batt(&["card", "s.py", "-o", "b.py"])
        .code(1)
        .err("did you mean 'trim'?")
        .err("'solve_c' takes (I, k); a solver takes (I) or some of (S, I, C); left out")
        .out("merged 1 solver and 4 differs");
    folder.write("s.py", "def f(I, k):\n    return upscale(I, k)\n");
    folder
        .batt(&["card", "s.py", "-o", "b.py"])
        .error("no solver that can be merged", "a solver takes");
}

#[test]
fn wrong_inputs() {
    let folder = two();
    let card = |args: &[&str]| folder.batt(&[&["card"], args].concat());
    card(&["s.py"]).code(2).err("--output");
    card(&["nope.py", "-o", "b.py"]).error("cannot read nope.py", "check the path");
    card(&["s.py", "-o", "b.py", "--tasks", "nope"]).error("nope: ", "check the path");
    card(&["s.py", "-o", "b.py", "--count", "3"]).error(
        "3 solvers requested, but there are only 2",
        "ask for fewer with --count",
    );
    card(&["s.py", "-o", "b.py", "--count", "0"])
        .code(2)
        .err("--count");
    folder.write("tok.py", TOKPIDJIN);
    card(&["s.py", "tok.py", "-o", "b.py"]).error(
        "most programs are arc-dsl, but one is not: 'solve_aa11' (tokpidjin)",
        "--dialect",
    );
    card(&["s.py", "tok.py", "-o", "b.py", "--task", "bb22"]).code(0);
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = two();
    let before = files_in(&folder);
    let card = |out: &str| folder.batt(&["card", "s.py", "-o", out]);
    card("no/such/b.py").error("cannot write no/such/b.py", "check the path");
    card("tasks").error("cannot write tasks", "name a file, not a folder");
    card("b.json").error("the JSON form has this name", "name the Python file");
    card("./s.py").error("it is one of the files to read", "choose another name");
    // The JSON form would replace a task with the same name.
    card("tasks/aa11.py").error(
        "cannot write tasks/aa11.json: it exists and is not the JSON form of a batt",
        "move that file away",
    );
    std::fs::create_dir(folder.path("d.json")).unwrap();
    card("d.py").error("cannot write d.json", "name a file, not a folder");
    std::fs::remove_dir(folder.path("d.json")).unwrap();
    assert_eq!(files_in(&folder), before, "nothing is left behind");
    card("b.py").code(0);
    card("b.py").code(0);
}

#[test]
fn a_step_is_extracted() {
    let folder = two();
    folder
        .batt(&["card", "s.py", "-o", "b.py", "--no-differs"])
        .code(0);
    let ended = folder.batt(&["extract", "b.py", "--step", "t2"]).code(0);
    let (comment, text) = ended.stdout.split_once('\n').unwrap();
    let hash = comment.strip_prefix("# hash ").unwrap();
    assert_eq!(hash.len(), 32);
    assert_eq!(
        text,
        "from dsl import *\nfrom constants import *\n\n\ndef solve(I):\n    \
         x1 = hmirror(I)\n    O = vmirror(x1)\n    return O\n"
    );
    folder.write("x.py", &ended.stdout);
    folder.batt(&["check", "x.py"]).code(0).out("1 solver");

    let args = ["extract", "b.py", "--step", "2", "--name", "mine", "--json"];
    let cut = json(&folder.batt(&args).code(0));
    assert_eq!((&cut["hash"], &cut["name"]), (&hash.into(), &"mine".into()));
    assert!(cut["source"].as_str().unwrap().contains("def mine(I):"));
    let args = ["extract", "b.json", "--step", "t2", "-o", "y.py"];
    let ended = folder.batt(&args).code(0);
    assert_eq!(ended.stdout, format!("{hash}  y.py\n"));
    assert_eq!(folder.read("y.py"), folder.read("x.py"));
}

#[test]
fn all_candidates_are_extracted() {
    let folder = two();
    folder.write("t.py", "def verify_aa11(G):\n    return hmirror(G)\n");
    folder
        .batt(&["card", "s.py", "t.py", "-o", "b.py", "--dialect", "arc-dsl"])
        .code(0);
    let ended = folder
        .batt(&["extract", "b.py", "--all", "new/folder"])
        .code(0);
    assert_eq!(
        ended.stdout,
        "cut 2 distinct solvers out of 3 candidates into new/folder\n"
    );
    let index = folder.read("new/folder/index.jsonl");
    let lines: Vec<Value> = index
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let donors: Vec<&str> = lines.iter().map(|l| l["donor"].as_str().unwrap()).collect();
    assert_eq!(donors, ["aa11", "aa11.2", "bb22"]);
    assert_eq!(lines[0]["hash"], lines[1]["hash"]);
    let text = folder.read(&format!(
        "new/folder/{}",
        lines[2]["file"].as_str().unwrap()
    ));
    assert!(text.contains(lines[2]["hash"].as_str().unwrap()));
}

#[test]
fn unknown_steps_and_donors_are_errors() {
    let folder = two();
    folder
        .batt(&["card", "s.py", "-o", "b.py", "--no-differs"])
        .code(0);
    let extract = |args: &[&str]| folder.batt(&[&["extract", "b.py"], args].concat());
    extract(&["--step", "t99"]).error("the batt has no step t99", "the nearest is t3");
    extract(&["--step", "x"])
        .code(2)
        .err("write the number of a step");
    extract(&["--donor", "aa12"]).error(
        "the batt has no candidate of 'aa12'",
        "did you mean 'aa11'?",
    );
    extract(&["--step", "t1", "--name", "not a name"]).error("cannot be the name", "letters");
    extract(&["--step", "t1", "--name", "lambda"]).error("cannot be the name", "Python");
    extract(&["--step", "t1", "-o", "no/such.py"]).error("cannot write no/such.py", "check");
    extract(&["--step", "t1", "-o", "b.py"]).error("one of the files to read", "another name");
    extract(&["--all", "s.py"]).error("cannot make s.py", "");
    extract(&[]).code(2).err("--step").err("--donor");
    // In every command `--output` takes a file.
    extract(&["--output", "aa11"]).code(2).err("--donor");
    folder
        .batt(&["extract", "nope.py", "--step", "t1"])
        .error("cannot read nope.py", "check the path");
    folder
        .batt(&["extract", "s.py", "--step", "t1"])
        .error("no batt in s.py", "batt card");
    folder
        .batt(&["extract", "b.py::bat", "--step", "t1"])
        .error("b.py has no batt 'bat'", "did you mean 'batt'?");
    // The numbers of the steps have gaps, and one solver has two candidates.
    folder.write(
        "gaps.py",
        "def batt(S, I, C):\n    s = []\n    o = []\n    t2 = hmirror(I)\n    \
         o.append((2, False, 'a', t2))\n    t7 = trim(I)\n    o.append((7, True, 'a', t7))\n    \
         return o, s\n",
    );
    let gaps = |args: &[&str]| {
        folder.batt(&[&["extract", "gaps.py", "--dialect", "arc-dsl"], args].concat())
    };
    gaps(&["--step", "t4"]).error("no step t4", "the nearest are t2 and t7");
    gaps(&["--donor", "a"])
        .code(0)
        .out("def solve_a(I):")
        .out("hmirror(I)")
        .err("'a' has 2 candidates; this is the first");
}
