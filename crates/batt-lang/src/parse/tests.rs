//! Tests of the parser as a whole: files that load, files that do not, and the messages about them.

use batt_dsl::{ConstId, Literal, OpId};

use super::*;
use crate::program::{Operand, ParamId, StepId, StepKind};

fn parse(text: &str) -> SolverFile {
    SolverFile::parse(text, "test.py")
}

/// Returns the only program of a text that must load cleanly.
fn program(text: &str) -> Program {
    let mut file = parse(text);
    assert!(file.diagnostics.is_empty(), "{:#?}", file.diagnostics);
    assert_eq!(file.programs.len(), 1);
    file.programs.remove(0)
}

/// Returns a program with this body and input `I`.
fn body(lines: &str) -> Program {
    program(&format!("def f(I):\n{}", indent(lines)))
}

fn indent(lines: &str) -> String {
    lines.lines().map(|line| format!("    {line}\n")).collect()
}

/// Returns the headlines of all findings, without the file name.
fn findings(text: &str) -> Vec<String> {
    let found = parse(text).diagnostics;
    let headline = |d: &Diagnostic| d.headline()["test.py:".len()..].to_owned();
    found.iter().map(headline).collect()
}

/// Returns the codes of the findings for a function body.
fn codes(lines: &str) -> Vec<&'static str> {
    let file = parse(&format!("def f(I):\n{}", indent(lines)));
    assert!(file.programs.is_empty(), "{lines} loads");
    file.diagnostics.iter().map(|d| d.code.as_str()).collect()
}

fn op(name: &str) -> Operand {
    Operand::Op(OpId::named(name).expect("a primitive"))
}

fn constant(name: &str) -> Operand {
    Operand::Const(ConstId::named(name).expect("a constant"))
}

fn int(n: i64) -> Operand {
    Operand::Literal(Literal::Int(n))
}

fn step(n: u32) -> Operand {
    Operand::Step(StepId(n))
}

const INPUT: Operand = Operand::Param(ParamId(0));

fn call(callee: Operand, args: impl IntoIterator<Item = Operand>) -> StepKind {
    let args = args.into_iter().collect();
    StepKind::Call { callee, args }
}

fn kinds(program: &Program) -> Vec<StepKind> {
    program.steps().iter().map(|s| s.kind.clone()).collect()
}

#[test]
fn a_plain_solver() {
    let text = "from dsl import *\n\n# comment\ndef solve_1(I):\n    \"\"\"Doc.\"\"\"\n    \
                x1 = objects(I, T, F, T)  # all\n    O = first(x1)\n    return O\n";
    let program = program(text);
    assert_eq!(program.name(), "solve_1");
    assert_eq!(program.params(), ["I"]);
    let flags = [constant("T"), constant("F"), constant("T")];
    assert_eq!(
        kinds(&program),
        [
            call(op("objects"), std::iter::once(INPUT).chain(flags)),
            call(op("first"), [step(0)])
        ]
    );
    assert_eq!(*program.result(), step(1));
    let first = &program.steps()[0];
    assert_eq!(first.name, "x1");
    assert_eq!(
        (first.span.line, first.span.column, first.span.length),
        (6, 10, 19)
    );
    assert_eq!((program.lines().first, program.lines().last), (4, 8));
}

#[test]
fn annotations_and_several_parameters() {
    let program = program(
        "def solve(S: Samples, I: 'Grid', C, /) -> Grid:\n  x: Grid = hmirror(C)\n  y: Grid\n  return x",
    );
    assert_eq!(program.params(), ["S", "I", "C"]);
    assert_eq!(
        kinds(&program),
        [call(op("hmirror"), [Operand::Param(ParamId(2))])]
    );
}

#[test]
fn nested_calls_are_steps_in_evaluation_order() {
    let program =
        body("x = compose(first, rbind(add, ONE))(astuple(size(I), height(I)))\nreturn x");
    assert_eq!(
        kinds(&program),
        [
            call(op("rbind"), [op("add"), constant("ONE")]),
            call(op("compose"), [op("first"), step(0)]),
            call(op("size"), [INPUT]),
            call(op("height"), [INPUT]),
            call(op("astuple"), [step(2), step(3)]),
            call(step(1), [step(4)]),
        ]
    );
    let names: Vec<_> = program.steps().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["x.1", "x.2", "x.3", "x.4", "x.5", "x"]);
}

#[test]
fn keyword_arguments_go_to_their_parameters_in_order_of_evaluation() {
    let program = body("return fill(I, patch=asindices(I), value=mostcolor(I))");
    assert_eq!(
        kinds(&program),
        [
            call(op("asindices"), [INPUT]),
            call(op("mostcolor"), [INPUT]),
            call(op("fill"), [INPUT, step(1), step(0)]),
        ]
    );
    let alias = body("f = fill\nreturn f(grid=I, patch=I, value=1)");
    assert_eq!(kinds(&alias), [call(op("fill"), [INPUT, int(1), INPUT])]);
}

#[test]
fn aliases_are_not_steps_and_names_can_be_reused() {
    let program = body("a = I\nx = hmirror(a)\nb = x\nx = vmirror(x)\nO = astuple(b, x)\nreturn O");
    assert_eq!(
        kinds(&program),
        [
            call(op("hmirror"), [INPUT]),
            call(op("vmirror"), [step(0)]),
            call(op("astuple"), [step(0), step(1)]),
        ]
    );
    assert_eq!(*body("O = I\nreturn O").result(), INPUT);
    assert_eq!(*body("x = y = hmirror(I)\nreturn y").result(), step(0));
}

#[test]
fn literals() {
    let program = body("x = (-1, +2, True, None, (), (3,), --4, -True)\nreturn x");
    assert!(program.steps().is_empty());
    let [one, two, three, four] = [-1, 2, 3, 4].map(Literal::Int);
    let expected = vec![
        one,
        two,
        Literal::Bool(true),
        Literal::None,
        Literal::Tuple(vec![]),
        Literal::Tuple(vec![three]),
        four,
        Literal::Int(-1),
    ];
    assert_eq!(
        *program.result(),
        Operand::Literal(Literal::Tuple(expected))
    );
    assert_eq!(*body("return -9223372036854775808").result(), int(i64::MIN));
    assert_eq!(*body("return 0x1F").result(), int(31));
    let display = body("return (ONE, (I, 2))");
    assert_eq!(
        kinds(&display),
        [
            StepKind::Tuple(vec![INPUT, int(2)]),
            StepKind::Tuple(vec![constant("ONE"), step(0)])
        ]
    );
}

#[test]
fn unused_lines_and_bare_calls_stay() {
    let program = body("x = first(I)\nhmirror(I)\npass\nreturn I");
    assert_eq!(
        kinds(&program),
        [call(op("first"), [INPUT]), call(op("hmirror"), [INPUT])]
    );
}

#[test]
fn parameters_and_variables_hide_primitives() {
    let program = program("def f(size):\n  T = size(ONE)\n  return first(T)");
    assert_eq!(
        kinds(&program),
        [call(INPUT, [constant("ONE")]), call(op("first"), [step(0)])]
    );
}

#[test]
fn constants_of_the_file() {
    let text = "SEVENTEEN = 17\nPAIR: Pair = (1, -2)\nONE = 1\nTWO = 22\n\
                def f(I):\n    return (SEVENTEEN, PAIR, ONE, TWO, I)\n";
    let pair = Literal::Tuple(vec![Literal::Int(1), Literal::Int(-2)]);
    let items = vec![
        int(17),
        Operand::Literal(pair),
        constant("ONE"),
        int(22),
        INPUT,
    ];
    assert_eq!(kinds(&program(text)), [StepKind::Tuple(items)]);
}

#[test]
fn imports_under_another_name() {
    let text = "from dsl import hmirror as vmirror, ONE as uno\nimport numpy as first\n\
                def f(I):\n    return astuple(vmirror(I), uno)\n";
    let program = program(text);
    assert_eq!(kinds(&program)[0], call(op("hmirror"), [INPUT]));
    assert_eq!(
        kinds(&program)[1],
        call(op("astuple"), [step(0), constant("ONE")])
    );
    let text = "import numpy as first\ndef f(I):\n    return first(I)\n";
    assert_eq!(
        parse(text).diagnostics[0].code,
        DiagnosticCode::UnsupportedGlobal
    );
}

#[test]
fn a_broken_line_outside_functions_does_not_hide_its_neighbours() {
    let text = "A = 1\nprint(f'{A}')\nx = = 2\nB = 2\ndef f(I):\n    return (A, B)\n";
    let file = parse(text);
    let codes: Vec<_> = file.diagnostics.iter().map(|d| d.code.as_str()).collect();
    assert_eq!(codes, ["ignored-statement", "syntax"]);
    assert_eq!(file.programs.len(), 1);
}

#[test]
fn each_unsupported_construct_has_its_code() {
    for (line, code) in [
        ("for x in I: pass", "unsupported-statement"),
        ("while I: pass", "unsupported-statement"),
        ("if I: pass", "unsupported-statement"),
        ("x += 1", "unsupported-statement"),
        ("def g(): pass", "unsupported-statement"),
        ("class g: pass", "unsupported-statement"),
        ("global x", "unsupported-statement"),
        ("import os", "unsupported-statement"),
        ("a, b = I", "unsupported-statement"),
        ("I.x = I", "unsupported-statement"),
        ("x = lambda y: y", "unsupported-expression"),
        ("x = [I]", "unsupported-expression"),
        ("x = {I}", "unsupported-expression"),
        ("x = [y for y in I]", "unsupported-expression"),
        ("x = I[0]", "unsupported-expression"),
        ("x = I.a", "unsupported-expression"),
        ("x = I + I", "unsupported-expression"),
        ("x = -I", "unsupported-expression"),
        ("x = not I", "unsupported-expression"),
        ("x = I == I", "unsupported-expression"),
        ("x = I and I", "unsupported-expression"),
        ("x = 1 if I else 2", "unsupported-expression"),
        ("x = 'a'", "unsupported-expression"),
        ("x = f'{I}'", "unsupported-expression"),
        ("x = 1.5", "unsupported-expression"),
        ("x = 2j", "unsupported-expression"),
        ("x = ...", "unsupported-expression"),
        ("x = first(*I)", "unsupported-expression"),
        ("x = first(**I)", "unsupported-expression"),
        ("x = first(y := I)", "unsupported-expression"),
        ("x = 9223372036854775808", "integer-range"),
        ("x = -9223372036854775809", "integer-range"),
        ("x = 99999999999999999999999999", "integer-range"),
        ("x = nothing_like_it(I)", "unknown-name"),
        ("x = y\ny = I", "unbound-variable"),
        ("size = size(I)", "unbound-variable"),
        ("x = first(I, I)", "wrong-arity"),
        ("x = first()", "wrong-arity"),
        ("x = fill(I, value=1)", "wrong-arity"),
        ("x = first(containr=I)", "bad-keyword"),
        ("x = first(I, container=I)", "bad-keyword"),
        ("x = hmirror\ny = x(I)\nz = y(a=I)", "bad-keyword"),
        ("x = f(I)", "unsupported-global"),
    ] {
        assert_eq!(codes(&format!("{line}\nreturn I")), [code], "{line}");
    }
    assert_eq!(codes("x = I"), ["missing-return"]);
    assert_eq!(codes("return"), ["missing-return"]);
}

/// CPython 3.11 runs each of these functions and gets the input.
#[test]
fn code_after_return_is_ignored() {
    let plain = body("x = size(I)\nreturn I");
    for unreached in [
        "y = nothing_like_it",
        "return ONE",
        "for y in I: break",
        "y: Grid",
        "print('done')",
        "def size_of(a): return (yield a)",
        "z = [size for size in I]",
        "z = lambda size: (size := 1)",
        "from dsl import size as s",
        "try: pass\nexcept ValueError as e: pass",
        "class C:\n    size = 1\n    def f(self): nonlocal_ = 1",
    ] {
        let lines = format!("x = size(I)\nreturn I\n{unreached}");
        let file = parse(&format!("def f(I):\n{}", indent(&lines)));
        let [warning] = file.diagnostics.as_slice() else {
            panic!("{unreached}: {:?}", file.diagnostics);
        };
        assert_eq!(
            warning.headline(),
            "test.py:4:5: warning[after-return]: code after 'return' never runs and is ignored"
        );
        assert_eq!(file.programs, std::slice::from_ref(&plain), "{unreached}");
    }
}

/// CPython 3.11 refuses each of these functions, raises `UnboundLocalError` or makes a generator.
#[test]
fn code_after_return_that_changes_the_function_is_an_error() {
    for (unreached, code) in [
        ("size = 1", "unbound-variable"),
        ("size: int", "unbound-variable"),
        ("for size in I: pass", "unbound-variable"),
        ("with I as size: pass", "unbound-variable"),
        ("import size.of", "unbound-variable"),
        ("def size(): pass", "unbound-variable"),
        ("class size: pass", "unbound-variable"),
        ("del size", "unbound-variable"),
        ("first(size := 1)", "unbound-variable"),
        ("y = [(size := z) for z in I]", "unbound-variable"),
        (
            "try: pass\nexcept ValueError as size: pass",
            "unbound-variable",
        ),
        ("match I:\n  case [1, *size]: pass", "unbound-variable"),
        ("yield", "after-return"),
        ("x = [(yield from I)]", "after-return"),
        ("global x", "unsupported-statement"),
        ("break", "syntax"),
        ("while I: pass\nelse: continue", "syntax"),
        ("await I", "syntax"),
        ("async for y in I: pass", "syntax"),
        ("from dsl import *", "syntax"),
    ] {
        let lines = format!("x = size(I)\nreturn I\n{unreached}");
        assert_eq!(codes(&lines)[0], code, "{unreached}");
    }
}

#[test]
fn headers_with_more_than_plain_parameters_are_errors() {
    for (header, code) in [
        ("def f(I=1):", "unsupported-parameter"),
        ("def f(*I):", "unsupported-parameter"),
        ("def f(**I):", "unsupported-parameter"),
        ("def f(*, I):", "unsupported-parameter"),
        ("def f(I, I):", "unsupported-parameter"),
        ("def f[A](I):", "unsupported-parameter"),
        ("async def f(I):", "unsupported-statement"),
        ("@cache\ndef f(I):", "decorator"),
    ] {
        let file = parse(&format!("{header}\n    return (1,)\n"));
        assert!(file.programs.is_empty(), "{header}");
        let codes: Vec<_> = file.diagnostics.iter().map(|d| d.code.as_str()).collect();
        assert_eq!(codes, [code], "{header}");
        assert_eq!(file.diagnostics[0].function.as_deref(), Some("f"));
    }
}

#[test]
fn every_error_is_reported_once() {
    let text =
        "def f(I):\n  x = objcts(I, T, F, T)\n  y = size(x)\n  z = argmx(y, size)\n  return z\n";
    assert_eq!(
        findings(text),
        [
            "2:7: error[unknown-name]: unknown name 'objcts'",
            "4:7: error[unknown-name]: unknown name 'argmx'",
        ]
    );
}

#[test]
fn rendered_findings() {
    let text = "def f(I):\n    bacground = mostcolor(I)\n    x1 = fill(I, background, I)\n    \
                x2 = fill(I, bacground)\n    return x2[0]\n";
    let found = parse(text).diagnostics;
    let rendered: Vec<_> = found.iter().map(Diagnostic::render).collect();
    assert_eq!(
        rendered.concat(),
        "\
test.py:3:18: error[unknown-name]: unknown name 'background'
  |
3 |     x1 = fill(I, background, I)
  |                  ^^^^^^^^^^
  = hint: did you mean 'bacground'?
test.py:4:10: error[wrong-arity]: fill takes 3 arguments, not 2
  |
4 |     x2 = fill(I, bacground)
  |          ^^^^^^^^^^^^^^^^^^
  = hint: the primitive is fill(grid, value, patch)
test.py:5:12: error[unsupported-expression]: subscripts are not supported
  |
5 |     return x2[0]
  |            ^^^^^
  = hint: use first, last or extract for containers, index or crop for grids
"
    );
}

#[test]
fn a_syntax_error_stays_in_its_function() {
    for broken in [
        "def b(I):\n    x = first(I\n    return x\n",
        "def b(I):\n    x = = 1\n    return x\n",
        "def b(I:\n    return x\n",
        "def b(I):\nreturn x\n",
        "def b(I):\n    '''doc\n    return x\n",
        "def b(I):\n    x = 'abc\n    return x\n",
        "def b(I):\n    x = $\n    return x\n",
        "def b(I):\n    x = \0\n    return x\n",
        "def\n",
        "def b(I):\n    x = )))\n    return x\n",
        "x = (((\n",
    ] {
        let good = "def {}(I):\n    return hmirror(I)\n";
        let (a, c) = (good.replace("{}", "a"), good.replace("{}", "c"));
        let text = format!("{a}{broken}{c}");
        let file = parse(&text);
        let names: Vec<_> = file.programs.iter().map(Program::name).collect();
        assert_eq!(names, ["a", "c"], "{broken}");
        assert!(!file.is_clean(), "{broken}");
        let line = file.diagnostics[0].span.line;
        assert!(
            (3..=5).contains(&line),
            "{broken} is reported in line {line}"
        );
        let last = file.programs.last().map(|p| p.lines().last);
        assert_eq!(last, Some(text.lines().count() as u32));
    }
}

#[test]
fn an_unclosed_docstring_does_not_swallow_the_rest() {
    let text = "def a(I):\n  '''doc\n  return I\ndef b(I):\n  '''doc'''\n  return I\n\
                def c(I):\n  return I\n";
    let file = parse(text);
    let names: Vec<_> = file.programs.iter().map(Program::name).collect();
    assert_eq!(names, ["b", "c"]);
}

#[test]
fn the_last_function_of_a_name_wins() {
    let file = parse("def f(I):\n  return I\ndef g(I):\n  return I\ndef f(I):\n  return ONE\n");
    let names: Vec<_> = file.programs.iter().map(Program::name).collect();
    assert_eq!(names, ["g", "f"]);
    assert_eq!(*file.programs[1].result(), constant("ONE"));
    assert_eq!(
        file.diagnostics[0].headline(),
        "test.py:1:5: warning[duplicate-function]: \
         'f' is defined again in line 5, which replaces this one"
    );
    let broken = parse("def f(I):\n  return I\ndef f(I):\n  return I +\n");
    assert!(broken.programs.is_empty());
}

#[test]
fn names_of_the_file_hide_names_of_the_dsl() {
    let text = "def f(I):\n  return hmirror(I)\ndef hmirror(I):\n  return I\n";
    assert_eq!(
        findings(text),
        ["2:10: error[unsupported-global]: 'hmirror' is the function of line 3, not a primitive"]
    );
    let text = "ONE = one()\nfor TWO in x: pass\ndef f(I):\n  return astuple(ONE, TWO)\n";
    assert_eq!(
        findings(text),
        [
            "1:1: warning[ignored-statement]: statement outside functions is ignored",
            "2:1: warning[ignored-statement]: statement outside functions is ignored",
            "4:18: error[unsupported-global]: 'ONE' is set in line 1 to something unsupported",
            "4:23: error[unsupported-global]: 'TWO' is set in line 2 to something unsupported",
        ]
    );
}

#[test]
fn line_ends_tabs_and_byte_order_marks() {
    let windows = program("\u{feff}def f(I):\r\n\tx = hmirror(I)\r\n\treturn x\r\n");
    let span = windows.steps()[0].span;
    assert_eq!((span.line, span.column), (2, 6));
    assert_eq!(body("x = hmirror(\\\nI)\nreturn x").steps().len(), 1);
    assert_eq!(program("def f(I):\r  return I\r").lines().last, 2);
}

/// CPython 3.11 defines `f` in each of these.
#[test]
fn form_feeds_are_ignored_as_in_python() {
    for text in [
        "\x0cdef f(I):\n  return I\n",
        "\x0c\ndef f(I):\n  return I\n",
        "  \t \x0cdef f(I):\n  return I\n",
        "\u{feff}\x0cdef f(I):\n  return I\n",
        "x = 1\n\x0cdef f(I):\r\x0c  return I\n",
        "def f(I):\n\t\x0c  x = I\n  return x\x0c\n\x0c",
        "def\x0cf(I): return I\n",
    ] {
        let file = parse(text);
        assert!(file.is_clean(), "{text:?} {:?}", file.diagnostics);
        assert!(file.program("f").is_some(), "{text:?}");
    }
    let decorated = parse("\x0c@d\n\x0cdef f(I): return I\n");
    assert_eq!(decorated.diagnostics[0].code, DiagnosticCode::Decorator);
}

#[test]
fn a_function_after_a_form_feed_is_a_piece_of_its_own() {
    // The error of the first function does not reach the second.
    let file = parse("def f(I):\n  return (\n\x0cdef g(I):\n  return I\n");
    assert!(file.program("g").is_some() && file.program("f").is_none());
    let file = parse("def f(I):\n  '''\n\x0cdef g(I):\n  return I\n");
    assert!(file.program("g").is_some() && file.program("f").is_none());
    // The first function knows that the file defines the second.
    let text = "def f(I):\n  return hmirror(I)\n\x0cdef hmirror(I):\n  return I\n";
    assert_eq!(
        parse(text).diagnostics[0].code,
        DiagnosticCode::UnsupportedGlobal
    );
}

/// CPython 3.11 refuses each of these files.
#[test]
fn a_function_that_python_refuses_is_reported() {
    for text in [
        "    def f(I):\n        return I\n",
        "\x0c def f(I):\n  return I\n",
        "\x0bdef f(I):\n  return I\n",
        "\u{feff}\u{feff}def f(I):\n  return I\n",
        "x = 1\n\u{feff}def f(I):\n  return I\n",
        "def f(I):\n\tx = I\n        return x\n",
    ] {
        let file = parse(text);
        assert!(!file.is_clean() && file.programs.is_empty(), "{text:?}");
    }
}

#[test]
fn a_wide_blank_line_is_not_deep() {
    let wide = " ".repeat(300);
    let text = format!("def f(I):\n{wide}\n{wide}# {wide}\n    return I\n");
    assert!(program(&text).steps().is_empty());
}

#[test]
fn bytes_that_are_not_text_are_errors() {
    let bytes = b"def f(I):\n  x = \xff\n";
    let error = SolverFile::parse_bytes(bytes, "t.py", None).expect_err("bad bytes");
    assert_eq!(
        error.to_string(),
        "t.py:2:7: not valid UTF-8 (byte 0xff); solver files are UTF-8 text"
    );
    let missing = SolverFile::load("no/such/file.py", None).expect_err("no file");
    assert!(
        missing
            .to_string()
            .starts_with("cannot read no/such/file.py: ")
    );
    assert_eq!(
        findings("def f(I):\n  # \0\n  return I\n"),
        ["2:5: error[nul-byte]: null byte in the source"]
    );
}

#[test]
fn deep_nesting_is_refused_before_parsing() {
    for depth in [60, 190, 210, 100_000] {
        let text = format!(
            "def f(I):\n  return {}I{}\ndef g(I):\n  return I\n",
            "hmirror(".repeat(depth),
            ")".repeat(depth)
        );
        let file = parse(&text);
        assert!(file.program("g").is_some());
        match file.program("f") {
            Some(f) => assert!(f.steps().len() == depth && depth <= 200),
            None => assert_eq!(
                (file.diagnostics[0].code, depth > 200),
                (DiagnosticCode::TooDeep, true)
            ),
        }
    }
    for deep in [
        "-",
        "not ",
        "(",
        "[",
        "{",
        "lambda: ",
        "1 + ",
        "1 if 1 else ",
        "a.",
        "await ",
        "*",
        "f(",
    ] {
        parse(&format!("def f(I):\n  return {}1\n", deep.repeat(100_000)));
        parse(&format!("x = {}1\n", deep.repeat(100_000)));
    }
    parse(&format!("x = f{}", "()".repeat(100_000)));
    parse(&format!("x = f{}", "[0]".repeat(100_000)));
    parse(&"f'{".repeat(100_000));
    let blocks: String = (0..2000)
        .map(|k| format!("{}if 1:\n", " ".repeat(k)))
        .collect();
    parse(&format!("{blocks}{}pass", " ".repeat(2000)));
}

#[test]
fn names_of_another_dialect_have_a_hint() {
    let hint = |text: &str, dialect: Dialect| {
        let file = SolverFile::parse_in(text, "f.py", Some(dialect));
        let found = &file.diagnostics[0];
        assert_eq!(found.code, DiagnosticCode::UnknownName);
        found.hint.clone().expect("a hint")
    };
    assert_eq!(
        hint("def f(I):\n  return add(I, F0)", Dialect::ArcDsl),
        "'F0' is a name of the dialect tokpidjin; run with --dialect tokpidjin"
    );
    assert_eq!(
        hint("def f(I):\n  return palette(I)", Dialect::Tokpidjin),
        "'palette' is a name of the dialect arc-dsl; run with --dialect arc-dsl, or use palette_f \
         or palette_t"
    );
    assert_eq!(
        hint("def f(I):\n  return mostcolor_t(I)", Dialect::ReArc),
        "'mostcolor_t' is a name of the dialect tokpidjin; run with --dialect tokpidjin, or use \
         mostcolor"
    );
    assert!(hint("def f(I):\n  return ofcolor(I, ONE)", Dialect::Tokpidjin).ends_with("f_ofcolor"));
    assert_eq!(
        hint("def f(I):\n  return hmiror(I)", Dialect::ArcDsl),
        "did you mean 'hmirror'?"
    );
}
