//! Tests of reading batts: some load, and some are refused with a message.

use batt_dsl::Dialect;

use super::*;
use crate::batt::BattFile;
use crate::program::StepId;

fn read(body: &[&str]) -> BattFile {
    read_in(body, Dialect::Tokpidjin)
}

fn read_in(body: &[&str], dialect: Dialect) -> BattFile {
    let lines = ["s = []", "o = []"].iter().chain(body);
    let lines = lines.chain(&["return o, s"]);
    let lines: Vec<_> = lines.map(|line| format!("    {line}\n")).collect();
    let text = format!("def batt(task_id, S, I, C, log_path):\n{}", lines.concat());
    BattFile::parse(&text, "batt.py", Some(dialect))
}

fn batt(body: &[&str]) -> Batt {
    let file = read(body);
    assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
    file.batts.into_iter().next().expect("a batt")
}

/// The diagnostics of a body, as `code: message`.
fn said(body: &[&str]) -> Vec<String> {
    let file = read(body);
    assert_eq!(file.batts.is_empty(), !file.is_clean());
    let function = |d: &Diagnostic| d.function.as_deref() == Some("batt");
    assert!(file.diagnostics.iter().all(function));
    let found = file.diagnostics.iter();
    found
        .map(|d| format!("{}: {}", d.code, d.message))
        .collect()
}

fn guarded(target: &str, call: &str, callee: &str) -> [String; 4] {
    [
        "try:".to_owned(),
        format!("    {target} = {call}"),
        "except (TypeError, AttributeError, ValueError):".to_owned(),
        format!("    {target} = _get_safe_default({callee})"),
    ]
}

fn strs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

#[test]
fn steps_and_entries() {
    let batt = batt(&[
        "'''Text.'''",
        "o.append((0, False, 'same', I))",
        "# a comment",
        "t2 = add(I, F0)",
        "t3 = even(C)",
        "t7 = t2(S, t3, (BLACK, -1))",
        "o.append((7, True, 'abc', t7))",
        "s.append((3, 'None', 'd1', t3))",
        "s.append((3, 'abc', 'd2', t3))",
        "x = F0()",
    ]);
    assert_eq!(batt.numbers, [2, 3, 7, 8]);
    assert_eq!(batt.on_error, OnError::Poison);
    assert_eq!(batt.program.name(), "batt");
    assert_eq!(batt.program.steps()[2].name, "t7");
    assert_eq!(batt.program.steps()[2].span.line, 9);
    let [same, candidate] = batt.outputs.as_slice() else {
        panic!("{:?}", batt.outputs);
    };
    assert_eq!((same.number, same.after, &same.value), (0, 0, &INPUT));
    assert!(same.steps.is_empty() && !same.mutated);
    assert_eq!((candidate.number, candidate.after), (7, 3));
    assert!(candidate.mutated);
    assert_eq!(candidate.donor, "abc");
    assert_eq!(candidate.steps, [StepId(0), StepId(1), StepId(2)]);
    let donors: Vec<_> = batt.scores.iter().map(|s| s.donor.as_deref()).collect();
    assert_eq!(donors, [None, Some("abc")]);
    assert_eq!(batt.scores[1].differ, "d2");
    assert_eq!(batt.scores[1].steps, [StepId(1)]);
    assert_eq!(batt.step_numbered(7), Some(StepId(2)));
}

#[test]
fn guards_mean_defaults() {
    let mut lines = Vec::new();
    lines.extend(guarded("t1", "add(I, F0)", "add"));
    lines.extend(guarded("t2", "t1(I)", "t1"));
    lines.extend(guarded("t3", "F0(I)", "F0"));
    lines.extend(guarded("t4", "(-1)(I)", "-1"));
    lines.extend(guarded("x", "even(I)", "even"));
    lines.extend(guarded("x", "x(I)", "x"));
    let batt = batt(&strs(&lines));
    assert_eq!(batt.on_error, OnError::Defaults);
    assert_eq!(batt.numbers, [1, 2, 3, 4, 5, 6]);
    let last = &batt.program.steps()[5].kind;
    let callee = last.operands().next();
    assert_eq!(callee, Some(&Operand::Step(StepId(4))));
}

#[test]
fn steps_without_a_guard_among_guarded_ones_are_reported() {
    let mut lines = guarded("t1", "add(I, F0)", "add").to_vec();
    assert!(said(&strs(&lines)).is_empty());
    lines.push("t2 = (t1, I)".to_owned());
    assert!(said(&strs(&lines)).is_empty());
    lines.push("t3 = add(I, t2)".to_owned());
    let safe = "unguarded-step: 1 step has no guard although others have one; none is needed \
                because these primitives never fail";
    assert_eq!(said(&strs(&lines)), [safe]);
    lines.push("t4 = t1(I)".to_owned());
    lines.push("t5 = t1(I)".to_owned());
    let found = read(&strs(&lines)).diagnostics;
    let severities: Vec<_> = found.iter().map(|d| (d.severity, d.span.line)).collect();
    assert_eq!(severities, [(Severity::Info, 9), (Severity::Warning, 10)]);
    assert!(found[1].message.starts_with("2 steps have no guard"));
}

#[test]
fn other_guards_are_errors() {
    let good = guarded("t1", "add(I, F0)", "add").join("\n    ");
    assert!(said(&[&good]).is_empty());
    for (from, to) in [
        ("(TypeError, AttributeError, ValueError)", "Exception"),
        ("(TypeError, AttributeError, ValueError)", ""),
        ("TypeError, ", ""),
        ("TypeError, ", "KeyError, "),
        ("ValueError)", "ValueError) as e"),
        ("ValueError)", "ValueError, KeyError)"),
        ("default(add)", "default(even)"),
        ("default(add)", "default(add, add)"),
        ("default(add)", "default(add(I, I))"),
        ("_get_safe_default(add)", "add(I, I)"),
        ("t1 = _get", "t2 = _get"),
        ("t1 = _get_safe_default(add)", "pass"),
        ("F0)\n", "F0)\n        t2 = add(I, F0)\n"),
        ("default(add)", "default(add)\n    finally:\n        pass"),
        ("except (", "except* ("),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good, "{from}");
        let said = said(&[&bad]);
        assert!(
            said.iter().any(|s| s.starts_with("bad-guard: ")),
            "{bad}\n{said:?}"
        );
    }
    let unknown = good.replace("add", "ad_d");
    assert_eq!(said(&[&unknown]), ["unknown-name: unknown name 'ad_d'"]);
}

#[test]
fn the_sample_batch_is_four_steps() {
    let line = "t3, t4, t5, t9 = batch_process_samples_gpu(S)";
    let file = read(&[line, "t10 = add(t9, t3)"]);
    let names = ["apply", "mapply", "first", "second", "p_g"];
    if names
        .iter()
        .all(|name| Dialect::Tokpidjin.op(name).is_some())
    {
        assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
        let batt = &file.batts[0];
        assert_eq!(batt.numbers, [3, 4, 5, 9, 10]);
        let text = batt.program.to_string();
        assert!(
            text.contains("x1 = apply(first, S)\n    x2 = apply(second, S)"),
            "{text}"
        );
        assert!(
            text.contains("x3 = mapply(p_g, x1)\n    x4 = mapply(p_g, x2)"),
            "{text}"
        );
    } else {
        let messages: Vec<_> = file
            .diagnostics
            .iter()
            .map(|d| d.message.as_str())
            .collect();
        assert!(messages[0].starts_with("unknown name"), "{messages:?}");
        assert_eq!(messages.len(), 1, "{messages:?}");
    }
    let file = read_in(&[line], Dialect::ArcDsl);
    let hint = "the dialect arc-dsl has no sample batch";
    assert_eq!(file.diagnostics[0].hint.as_deref(), Some(hint));
    for line in [
        "t1, t2, t3 = batch_process_samples(S)",
        "t1, t2, t3, I.x = batch_process_samples(S)",
        "t1, t2, t3, t4 = batch_process_samples(S, S)",
        "t1, t2, t3, t4 = batch_process_samples",
        "t1, t2, t3, t4 = add(S)",
        "t1, t2, t3, t4 = batch_process_samples(add(S, S))",
    ] {
        let said = said(&[line]);
        assert!(said[0].starts_with("bad-step: "), "{line} {said:?}");
    }
}

#[test]
fn a_statement_that_is_not_a_step_is_an_error() {
    for (line, expected) in [
        ("t1 = I", "bad-step: a step must be a call"),
        ("t1 = (1, 2)", "bad-step: a step must be a call"),
        (
            "t1 = add(add(I, I), I)",
            "bad-step: a step must be one call",
        ),
        ("t1 = add((I, I), I)", "bad-step: a step must be one call"),
        ("t1 = t2 = add(I, I)", "bad-step: a step must have one name"),
        ("I.x = add(I, I)", "bad-step: a step must have one name"),
        (
            "o = []",
            "bad-step: a list can be made only once, at the beginning",
        ),
        (
            "o = add(I, I)",
            "bad-step: 'o' is a list, not the name of a step",
        ),
        ("t1 = add(o, I)", "unknown-name: unknown name 'o'"),
        (
            "t1 = add(task_id, I)",
            "unknown-name: unknown name 'task_id'",
        ),
        ("t1 = ad_d(I, I)", "unknown-name: unknown name 'ad_d'"),
        (
            "t1 = I + I",
            "unsupported-expression: operators are not supported",
        ),
        (
            "add(I, I)",
            "unsupported-statement: this statement is not supported in a batt",
        ),
        (
            "if I: pass",
            "unsupported-statement: this statement is not supported in a batt",
        ),
        (
            "t1 = add(t2, I)\n    t2 = add(I, I)",
            "unbound-variable: variable 't2' is used \
          before it has a value",
        ),
        (
            "t1 = add(t1, I)",
            "unbound-variable: variable 't1' is used before it has a value",
        ),
        (
            "t2 = add(I, I)\n    t1 = add(I, I)",
            "step-number: 't1' comes after step 2; step numbers must grow",
        ),
        (
            "t1 = add(I, I)\n    t1 = add(I, I)",
            "step-number: 't1' comes after step 1; step numbers must grow",
        ),
    ] {
        assert_eq!(said(&[line]), [expected], "{line}");
    }
}

#[test]
fn code_after_return_is_ignored() {
    let file = read(&["t1 = add(I, I)", "return o, s", "t2 = nothing(I)"]);
    let found: Vec<_> = file.diagnostics.iter().map(Diagnostic::headline).collect();
    let warning =
        "batt.py:6:5: warning[after-return]: code after 'return' never runs and is ignored";
    assert_eq!(found, [warning]);
    assert_eq!(file.batts[0].numbers, [1]);
    let before = said(&["t1 = add(I, I)", "return o, s", "yield"]);
    let generator = "after-return: 'yield' makes the function a generator, even after 'return'";
    assert_eq!(before, [generator]);
}

#[test]
fn malformed_entries_are_errors() {
    for line in [
        "o.append(1)",
        "o.append((1, True, 'a'))",
        "o.append((1, True, 'a', I), 2)",
        "o.append((1, True, 'a', I, I))",
        "o.append(object=(1, True, 'a', I))",
        "o.append((-1, True, 'a', I))",
        "o.append((4294967296, True, 'a', I))",
        "o.append((True, True, 'a', I))",
        "o.append((1, 1, 'a', I))",
        "o.append((1, True, None, I))",
        "o.append((1, True, b'a', I))",
        "o.append((1, True, 'a', add(I, I)))",
        "s.append((1, None, 'a', I))",
        "s.append((1, 'a', 1, I))",
        "s.append((1, 'a', 'a', (I, I)))",
    ] {
        let said = said(&[line]);
        assert!(
            said.len() == 1 && said[0].starts_with("bad-append: "),
            "{line} {said:?}"
        );
    }
    assert_eq!(
        said(&["o.append((1, True, 'a', t1))"]),
        ["unknown-name: unknown name 't1'"]
    );
}

#[test]
fn lists_are_made_used_and_returned() {
    let said = |text: &str| {
        let file = BattFile::parse(text, "batt.py", Some(Dialect::Tokpidjin));
        let found = file.diagnostics.iter();
        found
            .map(|d| format!("{}: {}", d.code, d.message))
            .collect::<Vec<_>>()
    };
    let missing = "unbound-variable: 's' is used before it has a value";
    assert_eq!(said("def batt(I):\n  o = []\n  return o, s"), [missing]);
    let text = "def batt(I):\n  o = []\n  s.append((1, 'None', 'd', I))\n  return o, s";
    assert_eq!(said(text), [missing]);
    let other = "missing-return: a batt must return its two lists";
    assert_eq!(
        said("def batt(I):\n  o = []\n  s = []\n  return s, o"),
        [other]
    );
    assert_eq!(
        said("def batt(I):\n  o = []\n  s = []\n  return o"),
        [other]
    );
    let none = "missing-return: 'batt' does not return its lists";
    assert_eq!(said("def batt(I):\n  o = []\n  s = []"), [none]);
}

#[test]
fn signatures() {
    let parse = |params: &str| {
        let text = format!("def batt({params}):\n  o = []\n  s = []\n  return o, s");
        BattFile::parse(&text, "batt.py", Some(Dialect::Tokpidjin))
    };
    for params in ["I", "S, I, C", "log_path, I: Grid, task_id", "C, I"] {
        let file = parse(params);
        assert!(
            file.diagnostics.is_empty(),
            "{params} {:?}",
            file.diagnostics
        );
        assert_eq!(file.batts[0].program.params(), PARAMS);
    }
    for params in ["", "S", "I, x", "I=1", "I, I", "*I", "I, *, S"] {
        let file = parse(params);
        assert!(!file.is_clean() && file.batts.is_empty(), "{params}");
    }
}

#[test]
fn functions_that_are_not_batts_are_ignored() {
    let text = "import x\ndef f(I):\n  return I\ndef g(task_id, I):\n  o = []\n  s = []\n  \
                return o, s\ndef batt(I):\n  return I\n";
    let file = BattFile::parse(text, "batt.py", None);
    let found: Vec<_> = file.diagnostics.iter().map(Diagnostic::headline).collect();
    assert_eq!(
        found,
        [
            "batt.py:2:5: warning[ignored-statement]: 'f' is not a batt and is ignored",
            "batt.py:9:3: error[missing-return]: a batt must return its two lists",
        ]
    );
    assert_eq!(file.batts.len(), 1);
    assert!(file.batt("g").is_some() && file.batt("batt").is_none());
}

#[test]
fn a_wrong_number_of_arguments_is_accepted_where_primitives_have_fallbacks() {
    assert!(said(&["t1 = add(I)", "t2 = even()", "t3 = even(t1, I, I, I, I)"]).is_empty());
    let file = read_in(&["t1 = add(I)"], Dialect::ArcDsl);
    assert_eq!(file.diagnostics[0].code, DiagnosticCode::WrongArity);
}

#[test]
fn numbers_in_names() {
    for (name, number) in [
        ("t1", Some(1)),
        ("t0", Some(0)),
        ("t4294967295", Some(u32::MAX)),
        ("t4294967296", None),
        ("t01", None),
        ("t", None),
        ("t1a", None),
        ("T1", None),
        ("x1", None),
        ("t+1", None),
    ] {
        assert_eq!(step_number(name), number, "{name}");
    }
    let said = said(&["t4294967295 = add(I, I)", "x = add(I, I)"]);
    assert!(said[0].starts_with("step-number: "), "{said:?}");
}
