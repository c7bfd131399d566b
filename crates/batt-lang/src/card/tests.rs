//! Tests of each rule of merging with small solvers.

use batt_dsl::{Dialect, OpId};

use super::*;
use crate::{Batt, Operand, Program, ProgramBuilder, SolverFile, StepKind};

fn programs(text: &str) -> Vec<Program> {
    let file = SolverFile::parse_in(text, "test.py", Some(Dialect::ArcDsl));
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    file.programs
}

fn donors(programs: &[Program]) -> Vec<CardDonor<'_>> {
    let donor = |program| CardDonor {
        id: Program::name(program).to_owned(),
        program,
        size: None,
        mutated: false,
    };
    programs.iter().map(donor).collect()
}

fn merge_all(programs: &[Program], differs: &[Program], options: &CardOptions) -> CardMerged {
    merge(&donors(programs), differs, options).expect("mergeable")
}

/// Returns a batt as text: steps, with `o donor value` and `s donor differ value` in between.
fn show(batt: &Batt) -> Vec<String> {
    let value = |value: &Operand| match value {
        Operand::Step(id) => format!("t{}", batt.numbers[id.index()]),
        Operand::Param(id) => crate::batt::PARAMS[id.index()].to_owned(),
        Operand::Const(constant) => constant.name().to_owned(),
        Operand::Literal(literal) => literal.to_string(),
        Operand::Op(op) => op.op().name.to_owned(),
    };
    let mut lines = Vec::new();
    for after in 0..=batt.numbers.len() {
        if after > 0 {
            let number = batt.numbers[after - 1];
            let text = batt.call_text(batt.step_numbered(number).expect("a step"));
            lines.push(format!("t{number} = {text}"));
        }
        // Between the same two steps, each output comes before its scores.
        let initial = batt.scores.iter().filter(|s| s.donor.is_none());
        let mut appends: Vec<String> = initial
            .filter(|s| s.after as usize == after)
            .map(|s| format!("s None {} {}", s.differ, value(&s.value)))
            .collect();
        for output in &batt.outputs {
            if output.after as usize == after {
                appends.push(format!("o {} {}", output.donor, value(&output.value)));
            }
            appends.extend(
                batt.scores
                    .iter()
                    .filter(|s| s.donor.as_ref() == Some(&output.donor))
                    .filter(|s| s.after as usize == after)
                    .map(|s| format!("s {} {} {}", output.donor, s.differ, value(&s.value))),
            );
        }
        lines.extend(appends);
    }
    lines
}

#[track_caller]
fn check(text: &str, options: &CardOptions, expected: &[&str]) -> CardMerged {
    let merged = merge_all(&programs(text), &[], options);
    assert_eq!(show(&merged.batt), expected);
    merged
}

fn only(set: impl FnOnce(&mut CardOptions)) -> CardOptions {
    let mut options = CardOptions::sharing_only();
    set(&mut options);
    options
}

fn numbers_of(steps: &[crate::StepId]) -> Vec<u32> {
    steps.iter().map(|id| id.0 + 1).collect()
}

#[test]
fn solvers_take_turns() {
    let merged = check(
        "def a(I):\n  x1 = hmirror(I)\n  x2 = vmirror(x1)\n  return trim(x2)\n\
         def b(I):\n  x1 = rot90(I)\n  return trim(x1)\n\
         def c(I):\n  return I\n",
        &CardOptions::default(),
        &[
            "t1 = hmirror(I)",
            "t2 = rot90(I)",
            "o c I",
            "t3 = vmirror(t1)",
            "t4 = trim(t2)",
            "o b t4",
            "t5 = trim(t3)",
            "o a t5",
        ],
    );
    assert_eq!(merged.batt.numbers, [1, 2, 3, 4, 5]);
    let outputs: Vec<(u32, Vec<u32>)> = merged
        .batt
        .outputs
        .iter()
        .map(|o| (o.number, numbers_of(&o.steps)))
        .collect();
    assert_eq!(
        outputs,
        [(0, vec![]), (4, vec![2, 4]), (5, vec![1, 3, 5])],
        "a value that is no step has the number 0"
    );
    let stats = merged.stats;
    assert_eq!((stats.before, stats.shared, stats.after), (5, 5, 5));
}

#[test]
fn the_largest_task_comes_first() {
    let programs = programs(
        "def a(I):\n  return trim(I)\ndef b(I):\n  return rot90(I)\ndef c(I):\n  return rot180(I)\n",
    );
    let order = |sizes: [Option<usize>; 3]| {
        let mut donors = donors(&programs);
        for (donor, size) in donors.iter_mut().zip(sizes) {
            donor.size = size;
        }
        let merged = merge(&donors, &[], &CardOptions::default()).expect("mergeable");
        let ids = merged.batt.outputs.into_iter().map(|o| o.donor);
        ids.collect::<Vec<_>>()
    };
    assert_eq!(order([Some(5), None, Some(50)]), ["c", "a", "b"]);
    assert_eq!(order([None; 3]), ["a", "b", "c"]);
}

#[test]
fn equal_steps_are_made_once_and_still_take_a_turn() {
    let merged = check(
        "def a(I):\n  x1 = hmirror(I)\n  return trim(x1)\n\
         def b(I):\n  x1 = hmirror(I)\n  x2 = trim(x1)\n  return rot90(x2)\n",
        &CardOptions::default(),
        &[
            "t1 = hmirror(I)",
            "t2 = trim(t1)",
            "o a t2",
            "t3 = rot90(t2)",
            "o b t3",
        ],
    );
    let stats = merged.stats;
    assert_eq!((stats.before, stats.shared, stats.after), (5, 3, 3));
    let uses: Vec<(u32, u32)> = stats.uses.iter().map(|u| (u.number, u.donors)).collect();
    assert_eq!(uses, [(1, 2), (2, 2), (3, 1)]);
    assert_eq!(stats.ops.len(), 3);
    assert!(stats.ops.iter().all(|op| (op.called, op.passed) == (1, 0)));
}

#[test]
fn constants_are_compared_by_value_and_kind() {
    check(
        "def a(I):\n  return fill(I, ONE, I)\n\
         def b(I):\n  return fill(I, 1, I)\n\
         def c(I):\n  return fill(I, T, I)\n\
         def d(I):\n  return fill(I, True, I)\n\
         def e(I):\n  return (I, (1, 0))\n\
         def f(I):\n  return (I, DOWN)\n",
        &CardOptions::default(),
        &[
            "t1 = fill(I, ONE, I)",
            "o a t1",
            "o b t1",
            "t2 = fill(I, T, I)",
            "o c t2",
            "o d t2",
            "t3 = (I, (1, 0))",
            "o e t3",
            "o f t3",
        ],
    );
}

#[test]
fn a_closure_is_made_as_often_as_a_program_makes_it() {
    // In Python these are two different functions: the result is False.
    let twice =
        "def a(I):\n  x1 = rbind(add, ONE)\n  x2 = rbind(add, ONE)\n  return equality(x1, x2)\n";
    let other =
        "def b(I):\n  x1 = rbind(add, ONE)\n  x2 = rbind(add, ONE)\n  return (x2, x1, x1)\n";
    check(
        &format!("{twice}{other}"),
        &CardOptions::default(),
        &[
            "t1 = rbind(add, ONE)",
            "t2 = rbind(add, ONE)",
            "t3 = equality(t1, t2)",
            "o a t3",
            // The first closure of one program is shared with the first closure of another.
            "t4 = (t2, t1, t1)",
            "o b t4",
        ],
    );
    // A call of an unknown function may make a closure too; a selection does not.
    let calls = "def a(I):\n  f = first(I)\n  x1 = f(I)\n  x2 = f(I)\n  g = first(I)\n  return (x1, x2, g)\n";
    check(
        calls,
        &CardOptions::default(),
        &[
            "t1 = first(I)",
            "t2 = t1(I)",
            "t3 = t1(I)",
            "t4 = (t2, t3, t1)",
            "o a t4",
        ],
    );
}

#[test]
fn a_differ_does_not_reuse_the_closures_of_the_solver_it_compares() {
    let solver = programs("def a(I):\n  return rbind(add, ONE)\n");
    let differ = programs("def d(S, I, C):\n  x1 = rbind(add, ONE)\n  return equality(x1, I)\n");
    let merged = merge_all(&solver, &differ, &CardOptions::default());
    assert_eq!(
        show(&merged.batt),
        [
            "t1 = rbind(add, ONE)",
            "t2 = equality(t1, I)",
            "s None d t2",
            "o a t1",
            "t3 = rbind(add, ONE)",
            "t4 = equality(t3, t1)",
            "s a d t4",
        ]
    );
}

#[test]
fn arithmetic_of_tokpidjin_may_make_a_nan_each_time() {
    let op = |name| Dialect::Tokpidjin.op(name).map(Operand::Op);
    let (add, even) = (op("add").expect("there"), op("even").expect("there"));
    let mut builder = ProgramBuilder::new("a", ["S", "I", "C"]).in_dialect(Dialect::Tokpidjin);
    let input = builder.param(1);
    let sums = [0, 1].map(|_| builder.call(add.clone(), vec![input.clone(), input.clone()]));
    let result = builder.tuple(sums.to_vec());
    builder.call(even, vec![input]);
    let program = builder.finish(result);
    let merged = merge_all(&[program], &[], &CardOptions::default());
    assert_eq!(
        show(&merged.batt),
        [
            "t1 = add(I, I)",
            "t2 = add(I, I)",
            "t3 = (t1, t2)",
            "o a t3"
        ],
        "the last step is dropped: no primitive of tokpidjin fails"
    );
}

#[test]
fn a_dead_step_that_may_fail_stays() {
    let text = "def a(I):\n  x1 = hmirror(I)\n  x2 = palette(x1)\n  x3 = first(x2)\n  \
                x4 = astuple(I, I)\n  x5 = compose(x4, I)\n  x6 = rbind(fill, I)\n  x7 = rbind(x2, I)\n  \
                x8 = power(trim, TWO)\n  x9 = power(trim, ZERO)\n  return I\n";
    let merged = check(
        text,
        &CardOptions::default(),
        &[
            "t1 = hmirror(I)",
            "t2 = palette(t1)",
            "t3 = first(t2)",
            // A set has no arity, and `power` with exponent 0 fails.
            "t4 = rbind(t2, I)",
            "t5 = power(trim, ZERO)",
            "o a I",
        ],
    );
    assert_eq!(
        numbers_of(&merged.batt.outputs[0].steps),
        [1, 2, 3, 4, 5],
        "the solver fails with any of them"
    );
}

#[test]
fn a_step_belongs_only_to_solvers_that_need_it() {
    let merged = check(
        "def a(I):\n  x1 = astuple(I, I)\n  return x1\n\
         def b(I):\n  x1 = astuple(I, I)\n  return trim(I)\n",
        &CardOptions::default(),
        &["t1 = astuple(I, I)", "o a t1", "t2 = trim(I)", "o b t2"],
    );
    assert_eq!(numbers_of(&merged.batt.outputs[1].steps), [2]);
}

#[test]
fn calls_of_constants_are_folded() {
    let text = "def a(I):\n  x1 = add(ONE, TWO)\n  x2 = astuple(x1, 40)\n  x3 = interval(ZERO, x1, ONE)\n  \
                x4 = (x2, x3)\n  return (x4, I)\n";
    check(
        text,
        &only(|o| o.fold = true),
        &["t1 = (((3, 40), (0, 1, 2)), I)", "o a t1"],
    );
    // A value with a name is written by its name.
    check(
        "def a(I):\n  x1 = add(ONE, TWO)\n  x2 = subtract(UNITY, RIGHT)\n  x3 = even(x1)\n  \
         x4 = upscale(I, x1)\n  x5 = shoot(x2, x2)\n  return (x3, x4, x5)\n",
        &only(|o| o.fold = true),
        &[
            "t1 = upscale(I, THREE)",
            "t2 = shoot(DOWN, DOWN)",
            "t3 = (F, t1, t2)",
            "o a t3",
        ],
    );
}

#[test]
fn calls_that_fail_or_have_no_literal_are_not_folded() {
    let text = "def a(I):\n  x1 = divide(ONE, ZERO)\n  x2 = initset(ONE)\n  x3 = interval(ZERO, 17, ONE)\n  \
                x4 = identity(None)\n  x5 = rbind(add, ONE)\n  return (x1, x2, x3, x4, x5)\n";
    check(
        text,
        &only(|o| o.fold = true),
        &[
            "t1 = divide(ONE, ZERO)",
            "t2 = initset(ONE)",
            "t3 = interval(ZERO, 17, ONE)",
            "t4 = identity(None)",
            "t5 = rbind(add, ONE)",
            "t6 = (t1, t2, t3, t4, t5)",
            "o a t6",
        ],
    );
}

#[test]
fn a_folded_result_is_an_output_without_a_step() {
    let merged = check(
        "def a(I):\n  return add(ONE, TEN)\n",
        &CardOptions::default(),
        &["o a 11"],
    );
    let output = &merged.batt.outputs[0];
    assert_eq!((output.number, output.steps.len()), (0, 0));
}

#[track_caller]
fn resolves(body: &str, expected: &[&str]) {
    let options = only(|o| (o.resolve, o.drop_dead) = (true, true));
    let text = format!("def a(I):\n  {}\n", body.replace("; ", "\n  "));
    check(&text, &options, expected);
}

#[test]
fn bound_functions_are_resolved() {
    resolves(
        "x1 = rbind(upscale, TWO); return x1(I)",
        &["t1 = upscale(I, TWO)", "o a t1"],
    );
    resolves(
        "x1 = lbind(hconcat, I); x2 = trim(I); return x1(x2)",
        &["t1 = trim(I)", "t2 = hconcat(I, t1)", "o a t2"],
    );
    // A function of three parameters becomes one of two, one of four becomes one of three.
    resolves(
        "x1 = lbind(fill, I); x2 = rbind(x1, I); return x2(ONE)",
        &["t1 = fill(I, ONE, I)", "o a t1"],
    );
    resolves(
        "x1 = rbind(objects, T); return x1(I, F, T)",
        &["t1 = objects(I, F, T, T)", "o a t1"],
    );
    // A function of one parameter cannot be called once its parameter is bound.
    resolves(
        "x1 = rbind(trim, T); return x1(I)",
        &["t1 = rbind(trim, T)", "t2 = t1(I)", "o a t2"],
    );
    // A call with a wrong number of arguments is kept and fails.
    resolves(
        "x1 = rbind(upscale, TWO); return x1(I, I)",
        &["t1 = rbind(upscale, TWO)", "t2 = t1(I, I)", "o a t2"],
    );
}

#[test]
fn composed_functions_are_resolved() {
    resolves(
        "x1 = compose(trim, rot90); return x1(I)",
        &["t1 = rot90(I)", "t2 = trim(t1)", "o a t2"],
    );
    resolves(
        "x1 = chain(trim, rot90, hmirror); return x1(I)",
        &[
            "t1 = hmirror(I)",
            "t2 = rot90(t1)",
            "t3 = trim(t2)",
            "o a t3",
        ],
    );
    resolves(
        "x1 = fork(hconcat, identity, rot90); return x1(I)",
        &["t1 = rot90(I)", "t2 = hconcat(I, t1)", "o a t2"],
    );
    resolves(
        "x1 = matcher(numcolors, TWO); return x1(I)",
        &["t1 = numcolors(I)", "t2 = equality(t1, TWO)", "o a t2"],
    );
    resolves(
        "x1 = rbind(upscale, TWO); x2 = compose(x1, trim); x3 = fork(hconcat, x2, x2); return x3(I)",
        &[
            "t1 = trim(I)",
            "t2 = upscale(t1, TWO)",
            "t3 = hconcat(t2, t2)",
            "o a t3",
        ],
    );
}

#[test]
fn powers_and_identities_are_resolved() {
    resolves(
        "x1 = power(trim, TWO); return x1(I)",
        &["t1 = trim(I)", "t2 = trim(t1)", "o a t2"],
    );
    resolves(
        "x1 = power(hconcat, ONE); return x1(I, I)",
        &["t1 = hconcat(I, I)", "o a t1"],
    );
    resolves(
        "x1 = identity(palette); x2 = identity(x1); return x2(I)",
        &["t1 = palette(I)", "o a t1"],
    );
    resolves("x1 = identity(I); return x1", &["o a I"]);
    resolves("x1 = compose(identity, identity); return x1(I)", &["o a I"]);
    // A primitive called by its own name with wrong arguments would not load.
    resolves(
        "x1 = identity(trim); return x1(I, I)",
        &["t1 = identity(trim)", "t2 = t1(I, I)", "o a t2"],
    );
    resolves(
        "x1 = power(trim, 100); return x1(I)",
        &["t1 = power(trim, 100)", "t2 = t1(I)", "o a t2"],
    );
}

#[test]
fn unknown_functions_are_not_resolved() {
    resolves(
        "x1 = first(I); x2 = compose(trim, x1); return x2(I)",
        &[
            "t1 = first(I)",
            "t2 = compose(trim, t1)",
            "t3 = t2(I)",
            "o a t3",
        ],
    );
    resolves(
        "x1 = compose(trim, THREE); return x1(I)",
        &["t1 = compose(trim, THREE)", "t2 = t1(I)", "o a t2"],
    );
}

#[test]
fn closures_that_double_are_not_resolved() {
    let mut body = "x0 = compose(trim, trim); ".to_owned();
    for k in 1..60 {
        body += &format!("x{k} = compose(x{}, x{}); ", k - 1, k - 1);
    }
    let text = format!("def a(I):\n  {}return x59(I)\n", body.replace("; ", "\n  "));
    let merged = merge_all(&programs(&text), &[], &CardOptions::default());
    assert_eq!(merged.stats.after, 61);
}

#[test]
fn with_defaults_only_the_last_call_may_fail() {
    let options = CardOptions {
        on_error: OnError::Defaults,
        ..CardOptions::default()
    };
    check(
        "def a(I):\n  x1 = compose(trim, rot90)\n  x2 = rbind(upscale, TWO)\n  x3 = x1(I)\n  return x2(x3)\n",
        &options,
        &[
            "t1 = compose(trim, rot90)",
            "t2 = t1(I)",
            "t3 = upscale(t2, TWO)",
            "o a t3",
        ],
    );
}

#[test]
fn differs_come_first_and_after_each_output() {
    let mut differs = programs(
        "def d(S, I, C):\n  x1 = palette(I)\n  x2 = palette(C)\n  return difference(x1, x2)\n\
         def e(S, I, C):\n  return equality(I, C)\n",
    );
    // A second differ of the same name is ignored.
    differs.extend(programs("def d(S, I, C):\n  return I\n"));
    let solvers = programs(
        "def a(I):\n  x1 = rot90(I)\n  return trim(x1)\ndef b(S, I, C):\n  return rot90(I)\n",
    );
    let merged = merge_all(&solvers, &differs, &CardOptions::default());
    assert_eq!(
        show(&merged.batt),
        [
            "t1 = palette(I)",
            "t2 = palette(C)",
            "t3 = difference(t1, t2)",
            "s None d t3",
            "t4 = equality(I, C)",
            "s None e t4",
            "t5 = rot90(I)",
            "o b t5",
            "t6 = palette(t5)",
            "t7 = difference(t6, t2)",
            "s b d t7",
            "t8 = equality(t5, C)",
            "s b e t8",
            "t9 = trim(t5)",
            "o a t9",
            "t10 = palette(t9)",
            "t11 = difference(t10, t2)",
            "s a d t11",
            "t12 = equality(t9, C)",
            "s a e t12",
        ]
    );
    let scores = &merged.batt.scores;
    assert_eq!(numbers_of(&scores[0].steps), [1, 2, 3]);
    assert_eq!(numbers_of(&scores[2].steps), [2, 5, 6, 7]);
    assert_eq!(numbers_of(&scores[5].steps), [5, 9, 12]);
    assert_eq!((scores[2].number, scores[2].after), (7, 7));
    let stats = merged.stats;
    assert_eq!((stats.solvers, stats.differs), (2, 2));
    assert_eq!((stats.solver_steps, stats.before), (3, 3 + 3 * 4));
}

#[test]
fn parameters_are_matched_by_name() {
    let merged = merge_all(
        &programs(
            "def a(grid):\n  return trim(grid)\ndef b(c, i):\n  return hconcat(i, c)\ndef d():\n  return ONE\n\
             def e(S):\n  return first(S)\n",
        ),
        &[],
        &CardOptions::default(),
    );
    assert_eq!(
        show(&merged.batt),
        [
            "t1 = trim(I)",
            "o a t1",
            "t2 = hconcat(I, C)",
            "o b t2",
            "o d ONE",
            "t3 = first(S)",
            "o e t3"
        ]
    );
}

#[test]
fn errors_name_the_program() {
    let error = |programs: &[Program]| {
        let options = CardOptions::default();
        let error = merge(&donors(programs), &[], &options).expect_err("an error");
        error.to_string()
    };
    assert_eq!(
        error(&programs("def f(I, x):\n  return I\n")),
        "'f' takes (I, x); a solver takes (I) or some of (S, I, C)"
    );
    assert_eq!(
        error(&programs("def f(I, i):\n  return I\n")),
        "'f' takes (I, i); a solver takes (I) or some of (S, I, C)"
    );
    let odd = ProgramBuilder::new("odd", ["I"]).in_dialect(Dialect::Tokpidjin);
    let mut mixed = vec![odd.finish(Operand::Literal(batt_dsl::Literal::None))];
    mixed.extend(programs("def f(I):\n  return I\ndef g(I):\n  return I\n"));
    assert_eq!(
        error(&mixed),
        "most programs are arc-dsl, but one is not: 'odd' (tokpidjin)"
    );
    let twice = [0, 1].map(|_| programs("def f(I):\n  return I\n").remove(0));
    assert_eq!(error(&twice), "two donors are called 'f'");
}

#[test]
fn an_empty_merge_is_an_empty_batt() {
    let merged = merge(&[], &[], &CardOptions::default()).expect("mergeable");
    assert!(merged.batt.numbers.is_empty());
    let differs = differs(Dialect::ArcDsl);
    let merged = merge(&[], &differs, &CardOptions::default()).expect("mergeable");
    assert_eq!(merged.batt.scores.len(), 4);
}

#[test]
fn an_extracted_solver_is_canonical() {
    let text = "def a(I):\n  x1 = palette(I)\n  x2 = hmirror(I)\n  x3 = trim(x2)\n  x4 = hmirror(I)\n  \
                x5 = first(x1)\n  x6 = x5(x4, x3)\n  return (x6, x3)\n";
    let programs = programs(text);
    let merged = merge_all(&programs, &[], &CardOptions::sharing_only());
    let number = merged.batt.outputs[0].number;
    let cut = extract(&merged.batt, number, "solve").expect("there");
    let expected = "def solve(I):\n    x1 = palette(I)\n    x2 = first(x1)\n    x3 = hmirror(I)\n    \
                    x4 = trim(x3)\n    x5 = x2(x3, x4)\n    O = (x5, x4)\n    return O\n";
    assert_eq!(cut.to_string(), expected);
    let canonical = canonical(&programs[0]).expect("its parameters are known");
    assert_eq!(canonical.clone().renamed("solve"), cut);
    assert_eq!(structural_hash(&cut), structural_hash(&programs[0]));
    assert_eq!(
        extract(&merged.batt, 99, "solve")
            .expect_err("there is none")
            .to_string(),
        "the batt has no step t99; the last is t6"
    );
}

#[test]
fn an_extracted_solver_takes_only_the_parameters_it_needs() {
    let merged = merge_all(
        &programs("def a(S, I, C):\n  return first(S)\ndef b(S, I, C):\n  return I\n"),
        &[],
        &CardOptions::default(),
    );
    let batt = &merged.batt;
    let cut = |donor: &str| {
        let output = batt.outputs.iter().find(|o| o.donor == donor);
        extract_value(batt, &output.expect("there").value, "solve").to_string()
    };
    assert_eq!(
        cut("a"),
        "def solve(S, I, C):\n    O = first(S)\n    return O\n"
    );
    assert_eq!(cut("b"), "def solve(I):\n    return I\n");
}

#[test]
fn extraction_does_not_recurse() {
    let mut builder = ProgramBuilder::new("deep", ["I"]);
    let trim = Operand::Op(OpId::named("trim").expect("a primitive"));
    let mut x = builder.param(0);
    for _ in 0..200_000 {
        x = builder.call(trim.clone(), vec![x]);
    }
    let program = builder.finish(x);
    let merged = merge_all(std::slice::from_ref(&program), &[], &CardOptions::default());
    let cut = extract(&merged.batt, 200_000, "deep").expect("there");
    assert_eq!(cut, program);
    assert_eq!(structural_hash(&cut), structural_hash(&program));
}

fn hash(text: &str) -> String {
    structural_hash(&programs(text)[0])
}

#[test]
fn the_hash_depends_only_on_the_expression() {
    let plain = hash("def a(I):\n  x = trim(I)\n  return fill(x, ONE, x)\n");
    for same in [
        "def other(grid):\n  y = trim(grid)\n  return fill(y, 1, y)\n",
        "def a(S, I, C):\n  return fill(trim(I), ONE, trim(I))\n",
        "def a(I):\n  z = first(I)\n  x = trim(I)\n  return fill(x, ONE, x)\n",
    ] {
        assert_eq!(hash(same), plain, "{same}");
    }
    for other in [
        "def a(I):\n  x = trim(I)\n  return fill(x, T, x)\n",
        "def a(I):\n  x = trim(I)\n  return fill(x, TWO, x)\n",
        "def a(I):\n  x = trim(I)\n  return fill(I, ONE, x)\n",
        "def a(C):\n  x = trim(C)\n  return fill(x, ONE, x)\n",
        "def a(I):\n  x = trim(I)\n  return (fill, x, ONE, x)\n",
    ] {
        assert_ne!(hash(other), plain, "{other}");
    }
    // A tuple is the same as a literal or as a display of constants.
    assert_eq!(
        hash("def a(I):\n  return (I, DOWN)\n"),
        hash("def a(I):\n  return (I, (1, 0))\n")
    );
}

#[test]
fn the_hash_stays_the_same() {
    // Archives store these hashes: a change here is a change of the format.
    assert_eq!(
        hash("def a(I):\n  x = trim(I)\n  return fill(x, ONE, (x, None, (T, -7)))\n"),
        "15717accab8865de6024ac7363b263ca"
    );
    assert_eq!(
        hash("def a(I):\n  return I\n"),
        "5ddea9df71bb94b9bcc427ad1478ebaf"
    );
}

#[test]
fn a_tuple_of_one_item_is_shown_with_a_comma() {
    let merged = merge_all(
        &programs("def a(I):\n  return (I,)\n"),
        &[],
        &CardOptions::default(),
    );
    assert!(matches!(
        merged.batt.program.steps()[0].kind,
        StepKind::Tuple(_)
    ));
    assert_eq!(merged.batt.call_text(crate::StepId(0)), "(I,)");
}
