//! Batts survive writing and reading, as text and as JSON. Reading terminates on any input.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use batt_dsl::{Dialect, OpId};
use batt_lang::batt::{Form, PARAMS, from_json, from_json_text, to_json, to_json_text, write_batt};
use batt_lang::{
    Batt, BattFile, DiagnosticCode, DifferScore, OnError, Operand, Output, ProgramBuilder,
    Severity, StepId,
};

const TOKPIDJIN: Option<Dialect> = Some(Dialect::Tokpidjin);

/// A small random generator that is part of this test, so that failures are reproducible.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }

    fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

/// Makes a random batt of a dialect, with everything a batt can have.
fn generated(random: &mut Random, dialect: Dialect) -> Batt {
    let ops: Vec<OpId> = OpId::every()
        .filter(|id| dialect.op(id.op().name) == Some(*id))
        .collect();
    let constants: Vec<_> = dialect.constants().collect();
    let literals = ["-1", "0", "(1, -2)", "(T, ())", "None", "True", "(3,)"];
    let mut builder = ProgramBuilder::new("batt", PARAMS).in_dialect(dialect);
    let mut values: Vec<Operand> = (0..PARAMS.len()).map(|k| builder.param(k)).collect();
    let mut numbers = Vec::new();
    let mut number = 0;
    let mut outputs: Vec<Output> = Vec::new();
    let mut scores: Vec<DifferScore> = Vec::new();
    let donors = ["00d62c1b", "it's", "a\\b", "é\n\t\0\"", ""];
    for _ in 0..random.below(30) {
        let operand = |random: &mut Random| match random.below(10) {
            0..6 => random.of(&values),
            6 => Operand::Op(random.of(&ops)),
            7..9 => Operand::Const(random.of(&constants)),
            _ => literal(random.of(&literals), dialect),
        };
        let args = |random: &mut Random, count: usize| -> Vec<Operand> {
            (0..count).map(|_| operand(random)).collect()
        };
        let value = match random.below(8) {
            0 => {
                let count = random.below(4);
                let items = args(random, count);
                builder.tuple(items)
            }
            1 => match operand(random) {
                Operand::Op(op) if op.op().fallback.is_none() => continue,
                callee => {
                    let count = random.below(5);
                    let args = args(random, count);
                    builder.call(callee, args)
                }
            },
            _ => {
                let op = random.of(&ops);
                let args = args(random, op.op().params.len());
                builder.call(Operand::Op(op), args)
            }
        };
        if value == Operand::Step(StepId(numbers.len() as u32)) {
            values.push(value);
            number += 1 + random.below(3) as u32;
            numbers.push(number);
        }
        let after = numbers.len() as u32;
        for _ in 0..random.below(3) {
            let (number, value) = (random.below(100) as u32, random.of(&values));
            let (donor, steps) = (random.of(&donors).to_owned(), Vec::new());
            if random.below(2) == 0 {
                let mutated = random.below(2) == 0;
                outputs.push(Output {
                    number,
                    mutated,
                    donor,
                    value,
                    steps,
                    after,
                });
            } else {
                let donor = Some(donor).filter(|donor| !donor.is_empty());
                let differ = "differ_1".to_owned();
                scores.push(DifferScore {
                    number,
                    donor,
                    differ,
                    value,
                    steps,
                    after,
                });
            }
        }
    }
    let program = builder.finish(Operand::Literal(batt_dsl::Literal::None));
    let mut batt = Batt {
        program,
        numbers,
        outputs,
        scores,
        on_error: OnError::Poison,
    };
    for k in 0..batt.outputs.len() {
        batt.outputs[k].steps = batt.closure(&batt.outputs[k].value);
    }
    for k in 0..batt.scores.len() {
        batt.scores[k].steps = batt.closure(&batt.scores[k].value);
    }
    batt
}

/// A literal by its spelling.
fn literal(text: &str, dialect: Dialect) -> Operand {
    let source = format!("def f():\n  return {text}\n");
    let file = batt_lang::SolverFile::parse_in(&source, "literal.py", Some(dialect));
    file.programs[0].result().clone()
}

#[test]
fn a_written_batt_reads_back_equal() {
    let mut random = Random(7);
    for round in 0..400 {
        let dialect = [Dialect::Tokpidjin, Dialect::ArcDsl][round % 2];
        let mut batt = generated(&mut random, dialect);
        let text = write_batt(&batt, Form::Plain);
        let file = BattFile::parse(&text, "written.py", Some(dialect));
        assert!(
            file.diagnostics.is_empty(),
            "{text}\n{:?}",
            file.diagnostics
        );
        assert_eq!(file.batts, [batt.clone()], "{text}");
        assert_eq!(write_batt(&file.batts[0], Form::Plain), text);
        assert_eq!(from_json(&to_json(&batt)).as_ref(), Ok(&batt));
        if dialect == Dialect::Tokpidjin {
            let calls = batt.program.steps().iter();
            let calls = calls.filter(|s| matches!(s.kind, batt_lang::StepKind::Call { .. }));
            if calls.count() > 0 {
                batt.on_error = OnError::Defaults;
            }
            let text = write_batt(&batt, Form::Guarded);
            let file = BattFile::parse(&text, "written.py", Some(dialect));
            assert!(
                file.diagnostics.is_empty(),
                "{text}\n{:?}",
                file.diagnostics
            );
            assert_eq!(file.batts, [batt.clone()], "{text}");
        }
        let json = to_json_text(&batt);
        assert_eq!(from_json_text(&json).as_ref(), Ok(&batt), "{json}");
        let file = BattFile::parse_json(&json, "written.json", Some(dialect));
        assert_eq!(file.batts, [batt]);
    }
}

const SMALL: &str = "\
from dsl import *
from safe_dsl import _get_safe_default


def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    try:
        t1 = add(I, F0)
    except (TypeError, AttributeError, ValueError):
        t1 = _get_safe_default(add)
    # é
    t2 = t1(I, (1, -2))
    o.append((2, True, 'it\\'s', t2))
    s.append((1, 'None', 'differ_1', t1))
    t4, t5, t6, t7 = batch_process_samples_gpu(S)
    return o, s
";

fn small() -> Batt {
    let text = SMALL.replace("    t4, t5, t6, t7 = batch_process_samples_gpu(S)\n", "");
    let file = BattFile::parse(&text, "small.py", TOKPIDJIN);
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    file.batts[0].clone()
}

/// Reads a text as both forms, and reads the written result again.
fn read(text: &str) {
    for dialect in [None, TOKPIDJIN, Some(Dialect::ArcDsl)] {
        let file = BattFile::parse(text, "any.py", dialect);
        for found in &file.diagnostics {
            let shown = found.render();
            assert!(shown.ends_with('\n'), "{shown}");
            let line = found.span.line as usize;
            assert!(line <= file.source.line_count() + 1, "{shown}\n---\n{text}");
        }
        for batt in &file.batts {
            let written = write_batt(batt, Form::Plain);
            let again = BattFile::parse(&written, "again.py", Some(file.dialect));
            let mut plain = batt.clone();
            plain.on_error = OnError::Poison;
            assert_eq!(again.batts, [plain], "{text}\n---\n{written}");
            assert_eq!(from_json(&to_json(batt)).as_ref(), Ok(batt), "{text}");
        }
    }
    read_json(text);
}

fn read_json(text: &str) {
    let file = BattFile::parse_json(text, "any.json", None);
    assert_eq!(file.is_clean(), !file.batts.is_empty());
    for found in &file.diagnostics {
        assert!(found.render().ends_with('\n'));
        assert!(
            found.code == DiagnosticCode::BadJson && found.message.len() > 5,
            "{found}"
        );
    }
}

#[test]
fn every_prefix_and_suffix() {
    for (end, _) in SMALL.char_indices() {
        read(&SMALL[..end]);
        read(&SMALL[end..]);
    }
    let json = to_json_text(&small());
    for (end, _) in json.char_indices() {
        read_json(&json[..end]);
        read_json(&json[end..]);
    }
}

#[test]
fn mutations() {
    let words = [
        "(",
        ")",
        "[",
        "]",
        "'",
        "\"",
        "'''",
        "\\",
        "\n",
        "\r",
        " ",
        "#",
        ":",
        ";",
        ",",
        "=",
        "-",
        "*",
        ".",
        "@",
        "def ",
        "try:",
        "except ",
        "return ",
        "lambda ",
        "if ",
        "f'{",
        "0x",
        "1e9",
        "\0",
        "é",
        "t1",
        "t2",
        "I",
        "o",
        "s",
        "o.append(",
        "[]",
        "99999999999",
        "_get_safe_default(",
        "async ",
        "True",
        "None",
        "{",
        "}",
        "    ",
        "finally:",
    ];
    let json = to_json_text(&small());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..4000 {
        let mut text = if round % 3 == 0 {
            json.clone()
        } else {
            SMALL.to_owned()
        };
        for _ in 0..=random.below(4) {
            let cuts: Vec<usize> = text.char_indices().map(|(k, _)| k).collect();
            if cuts.is_empty() {
                break;
            }
            let (a, b) = (random.of(&cuts), random.of(&cuts));
            let (a, b) = (a.min(b), a.max(b).min(a.min(b) + 40));
            let b = (b..).find(|b| text.is_char_boundary(*b)).unwrap_or(a);
            match random.below(4) {
                0 => text.replace_range(a..b, ""),
                1 => {
                    let copy = text[a..b].to_owned();
                    text.insert_str(random.of(&cuts), &copy);
                }
                _ => text.insert_str(a, random.of(&words)),
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
        read(&String::from_utf8_lossy(&bytes));
        let printable: String = bytes.iter().map(|b| char::from(b % 96 + 32)).collect();
        read(&printable);
    }
}

/// Files that would take minutes if any part of reading were quadratic.
#[test]
fn large_files_take_linear_time() {
    let file = |body: &str| {
        format!(
            "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n{body}    return o, s\n"
        )
    };
    let chain = |steps: usize| -> String {
        let first = "    t0 = add(I, F0)\n".to_owned();
        let rest = (1..steps).map(|k| format!("    t{k} = add(t{}, F0)\n", k - 1));
        std::iter::once(first).chain(rest).collect()
    };
    let outputs = |entries: usize, of: &str| -> String {
        let one = format!("    o.append((1, False, 'a', {of}))\n");
        one.repeat(entries)
    };
    let long = file(&chain(50_000));
    let entries = file(&(chain(10_000) + &outputs(400, "t9999")));
    let too_many = file(&(chain(30_000) + &outputs(30_000, "t29999")));
    let unknown: String = (0..50_000)
        .map(|k| format!("    t{k} = g{k}(I)\n"))
        .collect();
    let guards = "    try:\n        pass\n    except:\n        pass\n".repeat(20_000);
    let targets = format!("    {} = f(I)\n", vec!["t1"; 50_000].join(", "));
    let functions = "def batt(I):\n    o = []\n    s = []\n    return o, s\n".repeat(5_000);
    for text in [
        long,
        entries,
        too_many,
        file(&unknown),
        file(&guards),
        file(&targets),
        functions,
        file(&"    t1 = (".repeat(50_000)),
    ] {
        let start = Instant::now();
        let read = BattFile::parse(&text, "large.py", TOKPIDJIN);
        let taken = start.elapsed();
        assert!(
            taken < Duration::from_secs(20),
            "{taken:?} for {:.90}",
            text
        );
        assert!(read.diagnostics.len() < 5_001);
    }
}

#[test]
fn provenance_is_read_from_the_json_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let (py, json) = (dir.path().join("x.py"), dir.path().join("x.json"));
    let mut batt = small();
    batt.on_error = OnError::Poison;
    let text = write_batt(&batt, Form::Plain);
    fs::write(&py, &text).expect("a file");
    let load = || BattFile::load(&py, TOKPIDJIN).expect("it is there");
    assert!(load().diagnostics.is_empty());
    assert_eq!(load().batts, [batt.clone()]);

    // A solver with a step that its value does not need.
    let closure = batt.scores[0].steps.clone();
    batt.scores[0].steps = vec![StepId(0), StepId(1)];
    assert_ne!(batt.scores[0].steps, closure);
    fs::write(&json, to_json_text(&batt)).expect("a file");
    assert!(load().diagnostics.is_empty());
    assert_eq!(load().batts, [batt.clone()]);
    let direct = BattFile::load(&json, None).expect("it is there");
    assert_eq!(
        (direct.dialect, direct.detected),
        (Dialect::Tokpidjin, None)
    );
    assert_eq!(direct.batts, [batt.clone()]);
    let other = BattFile::load(&json, Some(Dialect::ArcDsl)).expect("it is there");
    assert_eq!(
        other.diagnostics[0].message,
        "dialect: it is 'tokpidjin', not 'arc-dsl'"
    );

    // JSON of another batt.
    let good = to_json_text(&batt);
    for (from, to, why) in [
        ("\"F0\"", "\"F1\"", "step t1 is not t1 of the text"),
        (
            "\"number\":2,\"callee\"",
            "\"number\":3,\"callee\"",
            "outputs[0].value",
        ),
        (
            "\"mutated\":true",
            "\"mutated\":false",
            "its outputs differ",
        ),
        ("differ_1", "differ_2", "its scores differ"),
        (
            "\"name\": \"batt\"",
            "\"name\": \"other\"",
            "it describes a batt 'other'",
        ),
        ("{", "", "expected"),
        (
            "\"format\": \"batt\"",
            "\"format\": \"task\"",
            "format: it must be 'batt'",
        ),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        fs::write(&json, bad).expect("a file");
        let file = load();
        let [found] = file.diagnostics.as_slice() else {
            panic!("{:?}", file.diagnostics);
        };
        assert_eq!(
            (found.severity, found.code),
            (Severity::Warning, DiagnosticCode::Provenance)
        );
        assert!(found.message.contains(why), "{found}");
        assert!(found.file.ends_with("x.json"));
        assert_eq!(file.batts[0].scores[0].steps, closure);
    }
    fs::write(&json, b"\xff").expect("a file");
    assert!(load().diagnostics[0].message.ends_with("not valid UTF-8"));
    assert!(BattFile::load(&json, None).is_err());
    assert!(BattFile::load(dir.path().join("none.py"), None).is_err());
}

#[test]
fn errors_in_json_name_the_place() {
    let good = to_json_text(&small());
    let error = |from: &str, to: &str| {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        from_json_text(&bad).expect_err(to).to_string()
    };
    for (from, to, expected) in [
        (
            "\"version\": 1",
            "\"version\": 2",
            "version: 2 is not supported, only 1 is",
        ),
        (
            "\"name\": \"batt\"",
            "\"name\": \"a b\"",
            "name: it is not a function name",
        ),
        (
            "\"tokpidjin\"",
            "\"pidgin\"",
            "dialect: there is no dialect 'pidgin'",
        ),
        (
            "\"defaults\"",
            "\"stop\"",
            "on_error: it must be 'poison' or 'defaults'",
        ),
        (
            "\"F0\"",
            "\"F 0\"",
            "steps[0].args[1]: 'F 0' is neither a name nor a literal",
        ),
        (
            "\"F0\"",
            "\"((((1\"",
            "steps[0].args[1]: '((((1' is neither a name nor a literal",
        ),
        (
            "\"F0\"",
            "\"t1\"",
            "steps[0].args[1]: there is no step 't1' yet",
        ),
        (
            "\"add\"",
            "\"ad_d\"",
            "steps[0].callee: 'ad_d' is neither a name nor a literal",
        ),
        (
            "\"number\":2,\"callee\"",
            "\"number\":1,\"callee\"",
            "steps[1].number: 1 comes after 1; numbers must grow",
        ),
        (
            "\"value\":\"t2\"",
            "\"value\":\"t9\"",
            "outputs[0].value: there is no step 't9' yet",
        ),
        (
            "\"steps\":[1,2]",
            "\"steps\":[2]",
            "outputs[0].steps[0]: step 2 needs step 1, which is not listed",
        ),
        (
            "\"steps\":[1,2]",
            "\"steps\":[1]",
            "outputs[0].steps: the step of the value is not listed",
        ),
        (
            "\"steps\":[1,2]",
            "\"steps\":[1,1]",
            "outputs[0].steps[1]: the numbers must grow",
        ),
        (
            "\"steps\":[1,2]",
            "\"steps\":[7]",
            "outputs[0].steps[0]: there is no step 7",
        ),
        (
            "\"after\":2",
            "\"after\":1",
            "outputs[0].after: an entry cannot come after 1 step here",
        ),
        (
            "\"after\":2",
            "\"after\":3",
            "outputs[0].after: an entry cannot come after 3 steps here",
        ),
        (
            "\"donor\":null",
            "\"donor\":\"None\"",
            "scores[0].donor: 'None' is not an id; without a solver it must be null",
        ),
    ] {
        assert_eq!(error(from, to), expected);
    }
    assert!(error("\"donor\":\"", "\"doner\":\"").contains("missing field `donor` at line 12"));
    let deep = format!("\"{}1\"", "(".repeat(100_000));
    assert!(error("\"F0\"", &deep).starts_with("steps[0].args[1]: '(((("));
    let arity = good
        .replace("tokpidjin", "arc-dsl")
        .replacen("\"F0\"", "\"ONE\",\"ONE\"", 1);
    let error = from_json_text(&arity).expect_err("arity").to_string();
    assert_eq!(error, "steps[0].args: add takes 2 arguments, not 3");
}

/// The Python files of a folder of the shared vectors; empty without vectors.
fn vectors(folder: &str) -> Vec<PathBuf> {
    let root = match std::env::var_os("BATT_SHARED") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let Ok(entries) = fs::read_dir(root.join("vectors").join(folder)) else {
        println!("skipped: no vectors directory (set BATT_SHARED)");
        return Vec::new();
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "py"))
        .collect();
    paths.sort();
    paths
}

/// The batts of the vectors. Odd files are guarded, even ones are not.
#[test]
fn the_batts_of_the_vectors() {
    let (mut bytes, mut taken) = (0, Duration::ZERO);
    for (k, path) in vectors("batts").iter().enumerate() {
        let text = fs::read_to_string(path).expect("a text");
        let start = Instant::now();
        let file = BattFile::parse(&text, "vector.py", None);
        taken += start.elapsed();
        bytes += text.len();
        assert!(file.diagnostics.is_empty(), "{}", file.diagnostics[0]);
        assert_eq!(file.dialect, Dialect::Tokpidjin);
        let [batt] = file.batts.as_slice() else {
            panic!("{} batts in {}", file.batts.len(), path.display());
        };
        let (on_error, form) = match k % 2 {
            0 => (OnError::Poison, Form::Plain),
            _ => (OnError::Defaults, Form::Guarded),
        };
        assert_eq!(batt.on_error, on_error);
        let indent = " ".repeat(if k % 2 == 0 { 4 } else { 8 });
        let guard = " = _get_safe_default(";
        let is_step = |line: &&str| {
            let target = line.strip_prefix(&indent).unwrap_or_default();
            target.starts_with('t') && line.contains(" = ") && !line.contains(guard)
        };
        assert_eq!(batt.numbers.len(), text.lines().filter(is_step).count());
        assert_eq!(batt.outputs.len(), text.matches("\n    o.append(").count());
        assert_eq!(batt.scores.len(), text.matches("\n    s.append(").count());
        let written = write_batt(batt, form);
        let again = BattFile::parse(&written, "written.py", None);
        assert_eq!(again.batts, file.batts);
        assert_eq!(from_json(&to_json(batt)).as_ref(), Ok(batt));
        // Except for header and comments, the written text is the one that was read.
        let body = |text: &str| -> Vec<String> {
            let lines = text.lines().skip_while(|line| !line.starts_with("def "));
            let code = lines.filter(|line| !line.trim_start().starts_with('#'));
            code.map(str::to_owned).collect()
        };
        assert_eq!(body(&written), body(&text));
    }
    println!("{bytes} bytes in {taken:?}");
}

#[test]
fn the_dialects_of_the_vectors() {
    for (folder, dialect) in [
        ("programs", Dialect::ArcDsl),
        ("tokpidjin/programs", Dialect::Tokpidjin),
    ] {
        for path in vectors(folder) {
            let file = batt_lang::SolverFile::load(&path, None).expect("a text");
            assert_eq!(file.dialect, dialect, "{:?} {:?}", path, file.detected);
            assert!(file.is_clean(), "{}", file.diagnostics[0]);
            for found in file.check() {
                let ok = dialect == Dialect::ArcDsl || found.code != DiagnosticCode::AlwaysFails;
                assert!(ok || found.message.contains("not a function"), "{found}");
            }
        }
    }
}
