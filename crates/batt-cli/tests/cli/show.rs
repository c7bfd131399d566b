//! `batt show`: what it draws, where it writes it, and what it refuses.

use std::fs;

use crate::support::{Folder, batt};

/// Right on `aa11`, but not if a grid has more than one row; fails on a grid of one column.
const SOLVERS: &str = "\
def solve_aa11(I):
    x1 = hmirror(I)
    return x1

def wrong_aa11(I):
    return I

def fail_aa11(I):
    x1 = ofcolor(I, SEVEN)
    return crop(I, x1, x1)

def number_aa11(I):
    return height(I)
";

/// The width and the height of a PNG, from its header.
fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "not a PNG");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// The number in an attribute of the first element of an SVG.
fn attribute(svg: &str, name: &str) -> u32 {
    let start = svg.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
    svg[start..].split('"').next().unwrap().parse().unwrap()
}

fn folder() -> Folder {
    let folder = Folder::with_tasks();
    folder.write("s.py", SOLVERS);
    folder
}

#[test]
fn tasks_are_shown_in_the_terminal() {
    let folder = folder();
    let whole = "aa11\n\ntrain[0] input 2x2      output 2x2\n12                  ->  34\n";
    for what in ["tasks:aa11", "tasks/aa11.json", "tasks/aa11.json:aa11"] {
        folder.batt(&["show", what]).code(0).out(whole);
    }
    let pair = folder.batt(&["show", "tasks:bb22:test:0"]).code(0);
    assert_eq!(
        pair.stdout,
        "test[0] input 1x2      output\n34                 ->  ?\n"
    );
    let all = folder.batt(&["show", "tasks"]).code(0);
    all.out("aa11\n").out("\nbb22\n");
    let first = folder.batt(&["show", "tasks", "--top", "1"]).code(0);
    let first = first.out("... and 1 more (--top shows more)");
    assert!(!first.stdout.contains("bb22"));
    batt(&["show", "1673c3ec"]).code(0).out("Peel the onion");
}

#[test]
fn pictures_are_written_to_files() {
    let folder = folder();
    let args = ["show", "tasks:aa11", "--svg", "a.svg", "--png", "a.png"];
    let ended = folder.batt(&[&args[..], &["--scale", "3", "--theme", "dark"]].concat());
    assert_eq!(ended.code(0).stdout, "wrote a.svg\nwrote a.png\n");
    let svg = folder.read("a.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains(">aa11</text>") && svg.contains("#0d1117"));
    let png = fs::read(folder.path("a.png")).unwrap();
    let size = (attribute(&svg, "width") * 3, attribute(&svg, "height") * 3);
    assert_eq!(png_size(&png), size);
    // On stdout, a picture stands alone.
    let args = [
        "show",
        "tasks:aa11",
        "--svg",
        "-",
        "--png",
        "b.png",
        "--theme",
        "dark",
    ];
    assert_eq!(folder.batt(&args).code(0).stdout, svg);
    let palette = |name: &str| {
        let args = ["show", "tasks:aa11", "--svg", "-", "--palette", name];
        folder.batt(&args).code(0).stdout
    };
    assert!(palette("official").contains("#0074d9"));
    assert!(palette("arcprize").contains("#1e93ff"));
    assert_eq!(palette("colorblind"), palette("colour-blind"));
    let cells = [
        "show",
        "tasks:aa11",
        "--svg",
        "-",
        "--cell",
        "50",
        "--width",
        "300",
    ];
    assert!(folder.batt(&cells).code(0).stdout.contains("scale(50)"));
}

#[test]
fn solvers_are_shown_with_their_steps() {
    let folder = folder();
    let text = folder.batt(&["show", "s.py::solve_aa11"]).code(0);
    assert_eq!(
        text.stdout,
        "def solve_aa11(I):\n    x1 = hmirror(I)\n    return x1\n"
    );
    folder
        .batt(&["show", "s.py"])
        .error("s.py holds 4 solvers", "name one: s.py::solve_aa11");
    let args = ["show", "s.py::solve_aa11", "--task", "tasks:test:0"];
    let trace = folder.batt(&args).code(0);
    let eval = folder
        .batt(&["eval", args[1], args[2], args[3], "--trace"])
        .code(0);
    assert_eq!(trace.stdout, eval.stdout);
    let draw = |name: &str, input: [&str; 2]| {
        let what = format!("s.py::{name}");
        let args = ["show", &what, input[0], input[1], "--svg", "-"];
        folder.batt_with(&args, "12\n34\n").code(0).stdout
    };
    let right = draw("solve_aa11", ["--task", "tasks:aa11:train:1"]);
    for text in [
        "solve_aa11 on aa11 train[1]",
        ">x1<",
        "hmirror(I)",
        ">right<",
    ] {
        assert!(right.contains(text), "no {text}");
    }
    // A wrong answer is shown; it is not a finding.
    let wrong = draw("wrong_aa11", ["--task", "tasks"]);
    assert!(wrong.contains("4 of 4 cells wrong") && wrong.contains(">difference<"));
    let failed = draw("fail_aa11", ["--task", "tasks"]);
    assert!(failed.contains(">failed<") && failed.contains("TypeError in crop"));
    let from_grid = draw("solve_aa11", ["--grid", "-"]);
    assert!(from_grid.contains("solve_aa11 on stdin") && !from_grid.contains(">right<"));
    let source = folder
        .batt(&["show", "s.py::wrong_aa11", "--svg", "-"])
        .code(0);
    source.out(">def</tspan>");
}

#[test]
fn failed_runs_are_shown() {
    let folder = folder();
    let run = ["run", "s.py", "--tasks", "tasks", "-o", "r.jsonl"];
    folder.batt(&run).code(1);
    folder
        .batt(&["show", "r.jsonl"])
        .error("r.jsonl names its tasks", "--tasks PATH");
    let args = ["show", "r.jsonl", "--tasks", "tasks"];
    let text = folder.batt(&args).code(0);
    let text = text
        .out("wrong_aa11 on aa11 train[0]\n")
        .out("expected 2x2  got 2x2  diff 4 of 4\n")
        .out("TypeError in crop, line 10: ")
        .out("the integer 2 instead of a grid");
    assert!(!text.stdout.contains("solve_aa11"));
    let svg = folder
        .batt(&[&args[..], &["--svg", "-"]].concat())
        .code(0)
        .stdout;
    assert!(svg.contains(">9 wrong runs<") && !svg.contains("solve_aa11"));
    assert_eq!(svg.matches(" instead of a grid</text>").count(), 3);
    assert_eq!(svg.matches(">failed<").count(), 3);
    let few = [&args[..], &["--top", "2", "--svg", "-"]].concat();
    folder.batt(&few).code(0).out("2 of 9 wrong runs");
    folder.write("good.py", "def solve_aa11(I):\n    return hmirror(I)\n");
    let run = ["run", "good.py", "--tasks", "tasks", "-o", "good.jsonl"];
    folder.batt(&run).code(0);
    let args = [
        "show",
        "good.jsonl",
        "--tasks",
        "tasks",
        "--svg",
        "none.svg",
    ];
    folder
        .batt(&args)
        .code(0)
        .err("none of 3 runs in good.jsonl is wrong");
    assert!(!folder.path("none.svg").exists());
    // The tasks must be those of the runs.
    folder.write("other/cc33.json", r#"[{"input": [[1]], "output": [[2]]}]"#);
    folder
        .batt(&["show", "r.jsonl", "--tasks", "other"])
        .error("the runs are on task aa11", "the solvers ran on");
    folder.write("cut.jsonl", &folder.read("r.jsonl")[..700]);
    folder
        .batt(&["show", "cut.jsonl", "--tasks", "tasks"])
        .error("not JSON", "cut off");
    let mega = r#"{"batt":"b","task":"aa11","pair":"train[0]"}"#;
    folder.write("mega.jsonl", mega);
    folder
        .batt(&["show", "mega.jsonl", "--tasks", "tasks"])
        .error("mega.jsonl:1: ", "batt mega");
}

#[test]
fn inputs_are_never_overwritten() {
    let folder = folder();
    folder.write("grid.txt", "12\n");
    for (args, output) in [
        (&["tasks/aa11.json"][..], "tasks/aa11.json"),
        (&["tasks:aa11"], "tasks/bb22.json"),
        (&["tasks/aa11.json:test:0"], "./tasks/aa11.json"),
        (&["s.py::solve_aa11"], "s.py"),
        (
            &["s.py::solve_aa11", "--task", "tasks/aa11.json:test:0"],
            "tasks/aa11.json",
        ),
        (&["s.py::solve_aa11", "--grid", "grid.txt"], "grid.txt"),
    ] {
        let before = folder.read(output);
        for option in ["--svg", "--png"] {
            let args = [&["show"], args, &[option, output]].concat();
            folder
                .batt(&args)
                .error("it is one of the files to read", "another name");
        }
        assert_eq!(folder.read(output), before);
    }
    folder
        .batt(&["show", "tasks", "--svg", "a.svg", "--png", "a.svg"])
        .error("the same target", "name two files");
}

#[test]
fn what_cannot_be_shown() {
    let folder = folder();
    let show = |args: &[&str]| folder.batt(&[&["show"], args].concat());
    show(&["nowhere"]).error("cannot read nowhere: No such file", "name a built-in task");
    show(&["1673c3ed"]).error("no built-in task", "1673c3ec");
    show(&["tasks:aa12"]).error("'aa12' is neither a task", "did you mean tasks:aa11?");
    show(&["tasks:aa11:test:7"]).error("task aa11 has no test[7]", "2 train and 1 test");
    show(&["tasks:train:0"]).error("tasks holds 2 tasks", "tasks:aa11");
    show(&["s.py::nothing"]).error("no solver 'nothing'", "batt check s.py");
    show(&["s.py::solve_aa11", "--task", "tasks", "--grid", "-"]).code(2);
    show(&["tasks", "--task", "tasks"]).error("--task is for a solver", "leave --task out");
    show(&["tasks", "--tasks", "tasks"]).error("--tasks is for results", "leave --tasks out");
    show(&["tasks", "--theme", "dark"])
        .code(2)
        .err("--svg <FILE|->|--png <FILE|->");
    show(&["tasks", "--svg", "a.svg", "--scale", "2"])
        .code(2)
        .err("--png");
    show(&["tasks", "--svg", "a.svg", "--palette", "grey"])
        .code(2)
        .err("colour-blind");
    show(&["tasks", "--svg", "a.svg", "--cell", "0"]).code(2);
    show(&["tasks", "--svg", "no/folder/a.svg"]).error("cannot write no/folder/a.svg", "");
    for scale in ["0", "nan", "1e9"] {
        show(&["tasks", "--png", "a.png", "--scale", scale])
            .code(2)
            .err("scale");
    }
    assert!(!folder.path("a.png").exists() && !folder.path("a.svg").exists());
}

#[test]
fn names_from_files_are_harmless() {
    let folder = Folder::new();
    let tasks = r#"{"<script>\u001b[31m&": {"train": [{"input": [[1]], "output": [[2]]}],
        "test": [{"input": [[3]]}]}}"#;
    folder.write("tasks.json", tasks);
    let svg = folder
        .batt(&["show", "tasks.json", "--svg", "-"])
        .code(0)
        .stdout;
    assert!(svg.contains("&lt;script&gt;\\u{1b}[31m&amp;"), "{svg}");
    assert!(!svg.contains("<script"));
    let text = folder.batt(&["show", "tasks.json"]).code(0).stdout;
    assert!(!text.contains('\u{1b}'), "{text:?}");
}
