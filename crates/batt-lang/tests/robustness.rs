//! Reading terminates without a panic on any input.

use std::time::{Duration, Instant};

use batt_lang::SolverFile;

const GOOD: &str = "\
from dsl import *
from constants import *

SEVENTEEN = 17


def solve_a(I: Grid) -> Grid:
    \"\"\"Keeps the largest object.\"\"\"
    x1 = objects(I, T, F, without_bg=T)
    x2 = argmax(x1, compose(size, identity))
    O = subgrid(x2, I)  # été
    return O


def solve_b(S, I, C):
    x1 = lbind(fill, I)
    x2 = x1(-1, ((0, 1), (2, 3)))
    return (x2, SEVENTEEN)[0]
";

/// A small random generator that is part of this test, so that failures are reproducible.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

fn read(text: &str) {
    let file = SolverFile::parse(text, "mutated.py");
    for found in file.diagnostics.iter().chain(&file.check()) {
        let shown = found.render();
        assert!(shown.ends_with('\n'), "{shown}");
        let line = found.span.line as usize;
        assert!(line <= file.source.line_count() + 1, "{shown}\n---\n{text}");
    }
    for program in &file.programs {
        let printed = program.to_string();
        // One function alone may have less evidence of its dialect than its file.
        let again = SolverFile::parse_in(&printed, "printed.py", Some(file.dialect));
        assert_eq!(again.programs, std::slice::from_ref(program), "{text}");
    }
}

#[test]
fn every_prefix() {
    for (end, _) in GOOD.char_indices() {
        read(&GOOD[..end]);
        read(&GOOD[end..]);
    }
}

#[test]
fn mutations() {
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "'''",
        "\"\"\"",
        "\\",
        "\n",
        "\r",
        "\t",
        " ",
        "#",
        ":",
        ";",
        ",",
        "=",
        "==",
        "-",
        "*",
        "**",
        ".",
        "@",
        "def ",
        "def f(I):\n",
        "class ",
        "async ",
        "return ",
        "lambda ",
        "if ",
        "for ",
        "not ",
        "f'{",
        "rb'",
        "0x",
        "1e9",
        "99999999999999999999",
        "\0",
        "\u{feff}",
        "é",
        "\u{2028}",
        "x1",
        "I",
        "O",
        "objcts",
        "import ",
        "global ",
        "%",
        "?",
        "$",
        "!",
        "`",
        "await ",
        "match I:\n",
        "case _:",
        "...",
        ":=",
        "->",
        "\u{c}",
        "|",
        "_",
    ];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..4000 {
        let mut text = GOOD.to_owned();
        for _ in 0..=random.below(6) {
            let cuts: Vec<usize> = text.char_indices().map(|(k, _)| k).collect();
            let at = cuts.get(random.below(cuts.len())).copied().unwrap_or(0);
            match random.below(4) {
                0 => text.truncate(at),
                1 => {
                    let from = random.below(cuts.len());
                    let to = (from + random.below(40)).min(cuts.len() - 1);
                    text.replace_range(cuts[from]..cuts[to], "");
                }
                2 => {
                    let end = cuts[random.below(cuts.len())];
                    let copy = text[at.min(end)..at.max(end)].to_owned();
                    text.insert_str(at, &copy);
                }
                _ => text.insert_str(at, pieces[random.below(pieces.len())]),
            }
            if text.is_empty() {
                break;
            }
        }
        read(&text);
    }
}

#[test]
fn random_bytes() {
    let mut random = Random(42);
    for _ in 0..500 {
        let bytes: Vec<u8> = (0..random.below(200))
            .map(|_| random.below(256) as u8)
            .collect();
        if let Ok(file) = SolverFile::parse_bytes(&bytes, "bytes.py", None) {
            read(file.source.text());
        }
        let printable: String = bytes.iter().map(|b| char::from(b % 96 + 32)).collect();
        read(&printable);
    }
}

/// Files that would take minutes if any part of reading were quadratic.
#[test]
fn large_files_take_linear_time() {
    let names: String = (0..100_000)
        .map(|k| format!("x{k} = hmirror(I); "))
        .collect();
    let one_line = format!("def f(I):\n  {names}\n  return I\n");
    let accented = one_line.replace("x", "é");
    let nested: String = "astuple(hmirror(I), é)".to_owned() + ", ";
    let tuple = format!("def f(I, é):\n  return ({})\n", nested.repeat(50_000));
    let functions: String = (0..20_000)
        .map(|k| format!("def f{k}(I):\n  return I\n"))
        .collect();
    let open = "def f(I):\n  '''\n".repeat(20_000);
    let quotes = "'''a\"\"\"".repeat(20_001);
    let unknown: String = (0..20_000)
        .map(|k| format!("def f{k}(I):\n  return g{k}(I)\n"))
        .collect();
    let same = "def f(I):\n  return I\n".repeat(20_000);
    let brackets = "(".repeat(2_000_000);
    let blank = "\n".repeat(2_000_000);
    let globals: String = (0..50_000).map(|k| format!("A{k} = {k}\n")).collect();
    for text in [
        one_line, accented, tuple, functions, open, quotes, unknown, same, brackets, blank, globals,
    ] {
        let start = Instant::now();
        SolverFile::parse(&text, "large.py");
        let taken = start.elapsed();
        assert!(
            taken < Duration::from_secs(20),
            "{taken:?} for {:.60}",
            text
        );
    }
}
