//! `batt profile`: its output, its files and its exit codes.

use serde_json::Value as Json;

use crate::support::{Ended, Folder, command};

/// A batt of two solvers that share their first step. In the second solver, a primitive calls
/// another one.
const BATT: &str = "\
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = hmirror(I)
    t2 = vmirror(t1)
    o.append((2, False, 'aa11', t2))
    t3 = fgpartition(I)
    t4 = mapply(toindices, t3)
    t5 = fill(t1, ONE, t4)
    o.append((5, False, 'bb22', t5))
    return o, s
";

fn folder() -> Folder {
    let folder = Folder::with_tasks();
    folder.write("b.py", BATT);
    folder
}

fn json(folder: &Folder, args: &[&str]) -> Json {
    let mut all = vec!["profile", "b.py", "--tasks", "tasks", "--json"];
    all.extend(args);
    let ended = folder.batt(&all).code(0);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn tables_for_people() {
    folder()
        .batt(&["profile", "b.py", "--tasks", "tasks", "--top", "3"])
        .code(0)
        .out("batt of b.py: 5 steps on 5 of 5 samples\n")
        .out(" p99 ")
        .out("... and 3 more (--top 6 lists all)")
        .out("fell back  call")
        .out("critical path: ")
        .out("one run is at most")
        .out("profiling made the runs take ")
        .out(" to each of ");
}

#[test]
fn everything_as_json() {
    let folder = folder();
    let json = json(&folder, &[]);
    assert_eq!((&json["runs"], &json["samples"]), (&5.into(), &5.into()));
    let calls = |op: &str| {
        let ops = json["ops"].as_array().unwrap().iter();
        let found = ops.clone().find(|found| found["op"] == op);
        found.map(|found| found["calls"].as_u64().unwrap())
    };
    assert_eq!(calls("hmirror"), Some(5));
    assert_eq!(calls("mapply"), Some(5));
    // The primitive is called once for each colour but the most common one.
    assert!(calls("toindices").is_some_and(|n| n >= 5));
    let steps = json["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 5);
    for step in steps {
        assert_eq!(step["executed"], 5, "{step}");
        assert_eq!(step["failed"], 0, "{step}");
    }
    assert_eq!(steps[0]["call"], "hmirror(I)");
    let path = &json["critical_path"];
    assert!(path["speedup_at_most"].as_f64().unwrap() >= 1.0, "{path}");
    assert!(!path["steps"].as_array().unwrap().is_empty(), "{path}");
    // A primitive that is called by another one has a parent.
    let tree = json["tree"].as_array().unwrap();
    let inner = tree.iter().find(|node| node["op"] == "toindices").unwrap();
    let parent = inner["parent"].as_u64().unwrap() as usize;
    assert_eq!(tree[parent]["op"], "mapply");
    // Five runs are too few to measure a cost of one percent.
    assert!(json["overhead"]["counting_ratio"].is_null());
    assert_eq!(json["interrupted"], false);
}

#[test]
fn a_number_of_samples() {
    let folder = folder();
    assert_eq!(json(&folder, &["--samples", "2"])["runs"], 2);
    let all = ["profile", "b.py", "--tasks", "tasks", "--samples", "99"];
    folder
        .batt(&all)
        .code(0)
        .err("note: the tasks have only 5 samples");
    folder
        .batt(&["profile", "b.py", "--tasks", "tasks", "--samples", "0"])
        .code(2)
        .err("--samples");
}

#[test]
fn a_flame_graph() {
    let folder = folder();
    let to = |file: &str| folder.batt(&["profile", "b.py", "--tasks", "tasks", "--svg", file]);
    to("flame.svg").code(0);
    let svg = folder.read("flame.svg");
    for text in ["<?xml", "batt in b.py, 5 samples", "toindices (", "</svg>"] {
        assert!(svg.contains(text), "no {text:?} in {svg}");
    }
    // The report is printed even if the picture cannot be written.
    to("no/flame.svg")
        .error("cannot write no/flame.svg", "check the path")
        .out("critical path: ");
}

#[cfg(unix)]
#[test]
fn the_name_of_the_file_is_escaped() {
    let folder = folder();
    folder.write("b\u{1b}.py", BATT);
    let args = [
        "profile",
        "b\u{1b}.py",
        "--tasks",
        "tasks",
        "--svg",
        "flame.svg",
    ];
    let ended = folder.batt(&args).code(0).out("batt of b\\u{1b}.py: ");
    assert!(!ended.stdout.contains('\u{1b}'), "{}", ended.stdout);
    let svg = folder.read("flame.svg");
    assert!(svg.contains("batt in b\\u{1b}.py") && !svg.contains('\u{1b}'));
}

#[test]
fn a_flame_graph_costs_no_file() {
    let folder = folder();
    let (batt, task) = (folder.read("b.py"), folder.read("tasks/aa11.json"));
    for svg in ["b.py", "tasks/aa11.json"] {
        folder
            .batt(&["profile", "b.py", "--tasks", "tasks", "--svg", svg])
            .error("it is one of the files to read", "choose another name");
    }
    folder
        .batt(&["profile", "b.py", "--tasks", "tasks", "--svg", "-"])
        .error("a flame graph cannot be written to stdout", "name a file");
    assert_eq!(folder.read("b.py"), batt);
    assert_eq!(folder.read("tasks/aa11.json"), task);
}

#[test]
fn one_of_several_batts() {
    let folder = folder();
    let other = BATT
        .replace("def batt(", "def batt_two(")
        .replace("hmirror", "dmirror");
    folder.write("b.py", format!("{BATT}\n\n{other}"));
    folder
        .batt(&["profile", "b.py", "--tasks", "tasks"])
        .code(0)
        .err("b.py holds 2 batts; profiling the first")
        .out("hmirror");
    folder
        .batt(&["profile", "b.py", "--tasks", "tasks", "--name", "batt_two"])
        .code(0)
        .out("batt_two of b.py: ")
        .out("dmirror");
    folder
        .batt(&["profile", "b.py", "--tasks", "tasks", "--name", "batt_tow"])
        .error("b.py has no batt 'batt_tow'", "did you mean 'batt_two'?");
    folder
        .batt(&["profile", "b.py", "--tasks", "tasks", "--name", "else"])
        .error("b.py has no batt 'else'", "it has batt, batt_two");
}

#[test]
fn missing_inputs_are_errors() {
    let folder = folder();
    folder
        .batt(&["profile", "nope.py", "--tasks", "tasks"])
        .error("cannot read nope.py", "check the path");
    folder
        .batt(&["profile", "b.py", "--tasks", "nope"])
        .error("nope: ", "check the path");
    folder.write("s.py", "def solve_aa11(I):\n    return hmirror(I)\n");
    folder
        .batt(&["profile", "s.py", "--tasks", "tasks"])
        .error("no batt in s.py", "");
}

/// After Ctrl-C the report covers everything done until then.
#[cfg(unix)]
#[test]
fn an_interrupted_profile_says_so() {
    let folder = Folder::new();
    let pair = r#"{"input": [[1]], "output": [[1]]}"#;
    folder.write("aa11.json", format!("[{}]", vec![pair; 300].join(", ")));
    // All steps are candidates and take minutes together; steps that no candidate needs would not
    // be executed.
    let mut steps = "    t1 = interval(ZERO, 300, ONE)\n".to_owned();
    for k in 2..40 {
        steps += &format!("    t{k} = product(t1, t1)\n    o.append(({k}, False, 'aa11', t{k}))\n");
    }
    let head = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n";
    folder.write("b.py", format!("{head}{steps}    return o, s\n"));
    let args = [
        "profile",
        "b.py",
        "--tasks",
        "aa11.json",
        "--samples",
        "300",
        "--json",
    ];
    let child = command(&folder.path(""), &args).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .unwrap();
    let ended = Ended::from(child.wait_with_output().unwrap()).code(130);
    let json: Json = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["interrupted"], true);
    assert!(json["runs"].as_u64().unwrap() < 300);
}
