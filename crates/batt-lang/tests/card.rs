//! Merging changes no answer: each solver and each differ has the same value in a batt as on its
//! own.
//!
//! The programs are random, of arc-dsl. A small interpreter in this file runs them step by step.

use std::collections::HashMap;

use batt_dsl::{ConstId, Dialect, Limits, Literal, OpId, OwnedValue, Run, Value, Workspace};
use batt_lang::card::{self, CardDonor, CardOptions};
use batt_lang::{
    Batt, OnError, Operand, Program, ProgramBuilder, SolverFile, Step, StepId, StepKind, print_file,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

// ---- random programs
// ------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Line {
    /// A call of a primitive; each argument prefers functions or values, as the primitive does.
    Call(OpId, Vec<Index>),
    /// A call of a function made by an earlier step.
    Apply(Index, Vec<Index>),
    Tuple(Vec<Index>),
    /// A repetition of an earlier step, and a comparison of the two.
    Again(Index),
}

fn op(name: &str) -> OpId {
    OpId::named(name).expect("a primitive")
}

/// Primitives on numbers, grids and functions, so that many random calls succeed. The makers of
/// functions occur several times.
const OPS: &[&str] = &[
    "add",
    "subtract",
    "multiply",
    "divide",
    "invert",
    "even",
    "double",
    "halve",
    "increment",
    "crement",
    "sign",
    "positive",
    "toivec",
    "identity",
    "flip",
    "equality",
    "equality",
    "contained",
    "greater",
    "both",
    "branch",
    "astuple",
    "initset",
    "combine",
    "first",
    "last",
    "size",
    "repeat",
    "totuple",
    "palette",
    "hmirror",
    "rot90",
    "trim",
    "hconcat",
    "upscale",
    "numcolors",
    "objects",
    "apply",
    "mapply",
    "rapply",
    "sfilter",
    "argmax",
    "extract",
    "compose",
    "compose",
    "chain",
    "fork",
    "fork",
    "matcher",
    "lbind",
    "lbind",
    "rbind",
    "rbind",
    "power",
    "power",
];

fn line() -> impl Strategy<Value = Line> {
    let ops: Vec<OpId> = OPS.iter().map(|name| op(name)).collect();
    prop_oneof![
        7 => (select(ops), vec(any::<Index>(), 4)).prop_map(|(op, args)| Line::Call(op, args)),
        4 => (any::<Index>(), vec(any::<Index>(), 0..4)).prop_map(|(f, args)| Line::Apply(f, args)),
        1 => vec(any::<Index>(), 0..4).prop_map(Line::Tuple),
        1 => any::<Index>().prop_map(Line::Again),
    ]
}

fn constants() -> Vec<Operand> {
    let mut constants: Vec<Operand> = ["ZERO", "ONE", "TWO", "THREE", "T", "F", "UNITY"]
        .iter()
        .map(|name| Operand::Const(ConstId::named(name).expect("a constant")))
        .collect();
    constants.extend([1, 2, -3].map(|n| Operand::Literal(Literal::Int(n))));
    constants.push(Operand::Literal(Literal::None));
    constants
}

/// The program of these lines. Values and functions are kept separate, and sometimes mixed.
fn build(name: &str, params: &[&str], lines: &[Line], result: Index) -> Program {
    let mut builder = ProgramBuilder::new(name, params.iter().copied());
    let mut values: Vec<Operand> = (0..params.len()).map(|k| builder.param(k)).collect();
    values.extend(constants());
    let names = [
        "increment",
        "double",
        "identity",
        "size",
        "first",
        "add",
        "equality",
        "astuple",
        "hmirror",
        "hconcat",
    ];
    let mut functions: Vec<Operand> = names.iter().map(|name| Operand::Op(op(name))).collect();
    // The calls so far, with their values.
    let mut calls: Vec<(Operand, Vec<Operand>, Operand)> = Vec::new();
    for line in lines {
        let mixed: Vec<Operand> = values.iter().chain(&functions).cloned().collect();
        // Recent values are more likely.
        let late = |from: &[Operand], index: &Index| -> Operand {
            let at = index.index(from.len() * 2);
            let recent = from.len() - 1 - at % from.len().min(6);
            from.get(at).unwrap_or(&from[recent]).clone()
        };
        let value = match line {
            Line::Call(op, args) => {
                let params = op.op().params.iter().zip(args);
                let args = params.map(|(param, index)| match param.ty {
                    batt_dsl::Type::Callable if index.index(9) == 0 => late(&values, index),
                    batt_dsl::Type::Callable => late(&functions, index),
                    batt_dsl::Type::Any => late(&mixed, index),
                    _ => late(&values, index),
                });
                let args: Vec<Operand> = args.collect();
                let value = builder.call(Operand::Op(*op), args.clone());
                calls.push((Operand::Op(*op), args, value.clone()));
                value
            }
            Line::Apply(function, args) => {
                let callee = late(&functions, function);
                let args: Vec<Operand> = args.iter().map(|index| late(&values, index)).collect();
                match callee {
                    // A primitive with a wrong number of arguments would not load.
                    Operand::Op(op) if op.op().arity() != args.len() => continue,
                    callee => {
                        let value = builder.call(callee.clone(), args.clone());
                        calls.push((callee, args, value.clone()));
                        value
                    }
                }
            }
            Line::Again(index) => {
                if calls.is_empty() {
                    continue;
                }
                let (callee, args, value) = index.get(&calls).clone();
                let again = builder.call(callee, args);
                builder.call(Operand::Op(op("equality")), vec![value, again])
            }
            Line::Tuple(items) => {
                let items = items.iter().map(|index| late(&mixed, index)).collect();
                builder.tuple(items)
            }
        };
        let makes =
            matches!(line, Line::Call(op, _) if op.op().returns == batt_dsl::Type::Callable);
        if makes { &mut functions } else { &mut values }.push(value);
    }
    let all: Vec<Operand> = values.iter().chain(&functions).cloned().collect();
    let last = |from: &[Operand]| from[from.len() - 1].clone();
    let result = match result.index(10) {
        0 => result.get(&all).clone(),
        1 => last(&functions),
        _ => last(&values),
    };
    builder.finish(result)
}

fn lines() -> impl Strategy<Value = (Vec<Line>, Index)> {
    (vec(line(), 0..14), any::<Index>())
}

/// Several programs with common beginnings.
fn solvers() -> impl Strategy<Value = Vec<Program>> {
    (lines(), vec((0usize..14, lines()), 1..5)).prop_map(|(common, others)| {
        others
            .iter()
            .enumerate()
            .map(|(k, (keep, (lines, result)))| {
                let mut all: Vec<Line> = common.0.iter().take(*keep).cloned().collect();
                all.extend(lines.iter().cloned());
                let params: &[&str] = if k % 2 == 0 { &["I"] } else { &["S", "I", "C"] };
                build(&format!("solve_{k}"), params, &all, *result)
            })
            .collect()
    })
}

fn differs() -> impl Strategy<Value = Vec<Program>> {
    vec(lines(), 0..3).prop_map(|differs| {
        let mut programs: Vec<Program> = differs
            .iter()
            .enumerate()
            .map(|(k, (lines, result))| {
                build(&format!("differ_{k}"), &["S", "I", "C"], lines, *result)
            })
            .collect();
        programs.push(card::differs(Dialect::ArcDsl).remove(2));
        programs
    })
}

fn donors(programs: &[Program]) -> Vec<CardDonor<'_>> {
    let donor = |program| CardDonor {
        id: Program::name(program).to_owned(),
        program,
        size: Some(Program::name(program).len()),
        mutated: false,
    };
    programs.iter().map(donor).collect()
}

fn merge(solvers: &[Program], differs: &[Program], options: &CardOptions) -> Batt {
    card::merge(&donors(solvers), differs, options)
        .expect("mergeable")
        .batt
}

// ---- structure
// ------------------------------------------------------------------------------------

/// The expression behind a value, with parameters by name and constants by value. Long expressions
/// are cut, because a few lines that double would fill the memory.
fn expression(params: &[String], steps: &[Step], value: &Operand) -> String {
    const LONGEST: usize = 2000;
    let mut texts: Vec<String> = Vec::new();
    let text = |operand: &Operand, texts: &[String]| match operand {
        Operand::Param(id) => params[id.index()].clone(),
        Operand::Step(id) => texts[id.index()].clone(),
        Operand::Op(op) => op.op().name.to_owned(),
        other => other.literal().expect("a constant").to_string(),
    };
    for step in steps {
        let mut all: Vec<String> = step.kind.operands().map(|o| text(o, &texts)).collect();
        let head = match step.kind {
            StepKind::Call { .. } => all.remove(0),
            StepKind::Tuple(_) => "tuple".to_owned(),
        };
        let mut whole = format!("{head}({})", all.join(", "));
        if whole.len() > LONGEST {
            whole.truncate(LONGEST);
            whole.push_str("...");
        }
        texts.push(whole);
    }
    text(value, &texts)
}

// ---- runs
// -----------------------------------------------------------------------------------------

/// The outcome of a step: its value, or `None` if it failed.
type Slot<'r> = Option<Value<'r>>;

fn step<'r>(
    run: &mut Run<'r>,
    on_error: OnError,
    params: &[Slot<'r>],
    slots: &[Slot<'r>],
    kind: &StepKind,
) -> Slot<'r> {
    let mut values = Vec::new();
    for operand in kind.operands() {
        values.push(match operand {
            Operand::Param(id) => params[id.index()]?,
            Operand::Step(id) => slots[id.index()]?,
            Operand::Op(op) => Value::Op(*op),
            other => run.literal(&other.literal().expect("a constant")).ok()?,
        });
    }
    match kind {
        StepKind::Tuple(_) => run.make_tuple(&values).ok(),
        StepKind::Call { .. } => match (run.call(values[0], &values[1..]), on_error) {
            (Ok(value), _) => Some(value),
            (Err(_), OnError::Poison) => None,
            (Err(_), OnError::Defaults) => run.default_of(values[0]).ok(),
        },
    }
}

fn steps<'r>(
    run: &mut Run<'r>,
    on_error: OnError,
    params: &[Slot<'r>],
    program: &Program,
) -> Vec<Slot<'r>> {
    let mut slots = Vec::new();
    for s in program.steps() {
        let slot = step(run, on_error, params, &slots, &s.kind);
        slots.push(slot);
    }
    slots
}

fn value<'r>(
    run: &mut Run<'r>,
    params: &[Slot<'r>],
    slots: &[Slot<'r>],
    value: &Operand,
) -> Slot<'r> {
    match value {
        Operand::Param(id) => params[id.index()],
        Operand::Step(id) => slots[id.index()],
        Operand::Op(op) => Some(Value::Op(*op)),
        other => run.literal(&other.literal().expect("a constant")).ok(),
    }
}

/// Runs a program on its own. It fails when any of its steps fails.
fn alone<'r>(
    run: &mut Run<'r>,
    on_error: OnError,
    program: &Program,
    batt_params: &[Slot<'r>],
) -> Slot<'r> {
    let params: Vec<Slot> = match program.params() {
        [_] => vec![batt_params[1]],
        _ => batt_params.to_vec(),
    };
    let slots = steps(run, on_error, &params, program);
    if slots.iter().any(Option::is_none) {
        return None;
    }
    value(run, &params, &slots, program.result())
}

/// Small limits, because random programs often double their values.
fn limits() -> Limits {
    Limits {
        steps: 3_000_000,
        memory: 32 << 20,
        ..Limits::default()
    }
}

type Answers = HashMap<(Option<String>, Option<String>), Option<OwnedValue>>;

fn with_inputs<T>(body: impl for<'r> FnOnce(&mut Run<'r>, [Slot<'r>; 3]) -> T) -> T {
    Workspace::new().run(Dialect::ArcDsl, &limits(), |run| {
        let input = run.input(2, 3, &[1, 0, 2, 0, 3, 3]).expect("room");
        let target = run.input(2, 2, &[1, 0, 4, 4]).expect("room");
        let pair = run.make_tuple(&[input, target]).expect("room");
        let samples = run.make_tuple(&[pair]).expect("room");
        body(run, [Some(samples), Some(input), Some(target)])
    })
}

/// Returns the answers of all programs, run one by one; `None` if a limit was reached.
fn one_by_one(solvers: &[Program], differs: &[Program], on_error: OnError) -> Option<Answers> {
    let mut answers = Answers::new();
    for donor in [None].into_iter().chain(solvers.iter().map(Some)) {
        let id = donor.map(|d| d.name().to_owned());
        for differ in [None].into_iter().chain(differs.iter().map(Some)) {
            if donor.is_none() && differ.is_none() {
                continue;
            }
            let answer = with_inputs(|run, [s, i, c]| {
                let grid = match donor {
                    Some(solver) => alone(run, on_error, solver, &[s, i, c]),
                    None => i,
                };
                let answer = match (grid, differ) {
                    (Some(_), Some(differ)) => alone(run, on_error, differ, &[s, grid, c]),
                    _ => grid,
                };
                let answer = answer.map(|value| run.to_owned(value));
                run.check_limits().ok()?;
                answer.transpose().ok()
            });
            answers.insert((id.clone(), differ.map(|d| d.name().to_owned())), answer?);
        }
    }
    Some(answers)
}

/// Returns the answers of a batt; `None` if a limit was reached.
fn together(batt: &Batt) -> Option<Answers> {
    with_inputs(|run, params| {
        let slots = steps(run, batt.on_error, &params, &batt.program);
        let mut answers = Answers::new();
        let failed = |steps: &[StepId]| steps.iter().any(|id| slots[id.index()].is_none());
        let outputs = batt
            .outputs
            .iter()
            .map(|o| ((Some(o.donor.clone()), None), &o.value, &o.steps));
        let scores = batt.scores.iter().map(|s| {
            (
                (s.donor.clone(), Some(s.differ.clone())),
                &s.value,
                &s.steps,
            )
        });
        for (key, operand, steps) in outputs.chain(scores) {
            let answer = match failed(steps) {
                true => None,
                false => value(run, &params, &slots, operand),
            };
            let answer = answer.map(|value| run.to_owned(value)).transpose().ok()?;
            answers.insert(key, answer);
        }
        run.check_limits().ok()?;
        Some(answers)
    })
}

// ---- properties
// -----------------------------------------------------------------------------------

fn options() -> impl Strategy<Value = CardOptions> {
    (any::<[bool; 3]>()).prop_map(|[fold, resolve, drop_dead]| CardOptions {
        fold,
        resolve,
        drop_dead,
        ..CardOptions::default()
    })
}

fn well_formed(batt: &Batt) {
    let steps = batt.program.steps().len() as u32;
    assert_eq!(batt.numbers, (1..=steps).collect::<Vec<_>>());
    let lists = batt
        .outputs
        .iter()
        .map(|o| (&o.steps, &o.value, o.number, o.after));
    let lists = lists.chain(
        batt.scores
            .iter()
            .map(|s| (&s.steps, &s.value, s.number, s.after)),
    );
    for (list, value, number, after) in lists {
        assert!(list.is_sorted_by(|a, b| a < b));
        assert!(
            list.iter().all(|id| id.0 < after),
            "steps come before the append"
        );
        match value {
            Operand::Step(id) => assert_eq!((number, list.contains(id)), (id.0 + 1, true)),
            _ => assert_eq!(number, 0),
        }
        // The operands of a step belong to the same solver.
        for id in list {
            for operand in batt.program.step(*id).kind.operands() {
                if let Operand::Step(needed) = operand {
                    assert!(needed < id && list.contains(needed));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sharing_keeps_every_expression(solvers in solvers(), differs in differs()) {
        let batt = merge(&solvers, &differs, &CardOptions::sharing_only());
        well_formed(&batt);
        let params: Vec<String> = batt.program.params().to_vec();
        prop_assert_eq!(batt.outputs.len(), solvers.len());
        for output in &batt.outputs {
            let solver = solvers.iter().find(|s| s.name() == output.donor).expect("a donor");
            let there = expression(&params, batt.program.steps(), &output.value);
            let here = expression(solver.params(), solver.steps(), solver.result());
            prop_assert_eq!(there, here);
            // Every step of the solver is one of the batt's.
            prop_assert!(output.steps.len() <= solver.steps().len());
            let cut = card::extract_value(&batt, &output.value, solver.name());
            prop_assert_eq!(card::structural_hash(&cut), card::structural_hash(solver));
            let canonical = card::canonical(solver).expect("known parameters");
            prop_assert_eq!(card::structural_hash(&canonical), card::structural_hash(solver));
            prop_assert_eq!(cut.steps().len(), canonical.steps().len());
        }
        prop_assert_eq!(batt.scores.len(), differs.len() * (solvers.len() + 1));
    }

    #[test]
    fn a_batt_answers_as_its_solvers_do(
        solvers in solvers(),
        differs in differs(),
        options in options(),
        defaults in any::<bool>(),
    ) {
        let on_error = if defaults { OnError::Defaults } else { OnError::Poison };
        let batt = merge(&solvers, &differs, &CardOptions { on_error, ..options });
        well_formed(&batt);
        let expected = one_by_one(&solvers, &differs, on_error);
        let answers = together(&batt);
        // A run that reaches a limit has no answer to compare.
        if let (Some(expected), Some(answers)) = (expected, answers) {
            prop_assert_eq!(answers, expected, "{}\n{}", print_file(&solvers), batt.program);
        }
    }

    #[test]
    fn an_extracted_solver_can_be_written_and_read(solvers in solvers(), options in options()) {
        let batt = merge(&solvers, &[], &options);
        for output in &batt.outputs {
            let cut = card::extract_value(&batt, &output.value, "solve");
            let file = SolverFile::parse_in(&cut.to_string(), "cut.py", Some(cut.dialect()));
            prop_assert!(file.is_clean(), "{cut}\n{:?}", file.diagnostics);
            prop_assert_eq!(&file.programs[0], &cut);
        }
    }
}

// ---- size
// -----------------------------------------------------------------------------------------

/// 10,000 solvers of 30 steps with four differs take seconds, and memory linear in the distinct
/// steps.
///
/// `cargo test -p batt-lang --release --test card -- --ignored --nocapture`
#[test]
#[ignore = "prints a measurement"]
fn ten_thousand_solvers() {
    const SOLVERS: usize = 10_000;
    const STEPS: usize = 30;
    // Any scattered numbers suffice.
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let ops: Vec<OpId> = OPS.iter().map(|name| op(name)).collect();
    let constants = constants();
    let functions: Vec<Operand> = ["increment", "trim", "size", "hconcat", "add", "palette"]
        .map(|name| Operand::Op(op(name)))
        .to_vec();
    let programs: Vec<Program> = (0..SOLVERS)
        .map(|k| {
            let mut builder = ProgramBuilder::new(format!("solve_{k}"), ["I"]);
            let mut values = vec![builder.param(0)];
            let mut closures = functions.clone();
            while values.len() + closures.len() <= STEPS + functions.len() {
                let op = ops[below(ops.len())];
                let args = op.op().params.iter().map(|param| {
                    let from = match param.ty {
                        batt_dsl::Type::Callable => &closures,
                        _ if below(3) == 0 => &constants,
                        _ => &values,
                    };
                    from[below(from.len())].clone()
                });
                let args = args.collect();
                let value = builder.call(Operand::Op(op), args);
                match op.op().returns {
                    batt_dsl::Type::Callable => closures.push(value),
                    _ => values.push(value),
                }
            }
            let result = values[values.len() - 1].clone();
            builder.finish(result)
        })
        .collect();
    let donors = donors(&programs);
    let differs = card::differs(Dialect::ArcDsl);
    let memory = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = |key: &str| {
            let line = status.lines().find(|line| line.starts_with(key));
            line.unwrap_or_default().to_owned()
        };
        format!("{}, {}", line("VmRSS"), line("VmHWM"))
    };
    println!("before: {}", memory());
    let start = std::time::Instant::now();
    let merged = card::merge(&donors, &differs, &CardOptions::default()).expect("mergeable");
    println!("{:?} to merge", start.elapsed());
    println!("after: {}", memory());
    let stats = &merged.stats;
    println!(
        "{} steps, {} after sharing, {} after simplification",
        stats.before, stats.shared, stats.after
    );
    assert_eq!(merged.batt.outputs.len(), SOLVERS);
    let start = std::time::Instant::now();
    for output in &merged.batt.outputs {
        let cut = card::extract_value(&merged.batt, &output.value, "solve");
        assert_eq!(card::structural_hash(&cut).len(), 32);
    }
    println!("{:?} to cut out and hash every solver", start.elapsed());
}
