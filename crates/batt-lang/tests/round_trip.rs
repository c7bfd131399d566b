//! Printing any program and reading it back gives the same program.

use batt_dsl::{ConstId, Dialect, Literal, OpId};
use batt_lang::{Operand, Program, ProgramBuilder, SolverFile, StepId, print_file};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn literal() -> impl Strategy<Value = Literal> {
    let plain = prop_oneof![
        Just(Literal::None),
        any::<bool>().prop_map(Literal::Bool),
        (-12i64..12).prop_map(Literal::Int),
        any::<i64>().prop_map(Literal::Int),
        Just(Literal::Int(i64::MIN)),
    ];
    plain.prop_recursive(3, 12, 4, |inner| vec(inner, 0..4).prop_map(Literal::Tuple))
}

/// An operand, before the number of steps and parameters to choose from is known.
#[derive(Clone, Debug)]
enum Choice {
    Value(Index),
    Fixed(Operand),
}

fn choice() -> impl Strategy<Value = Choice> {
    let ops: Vec<OpId> = OpId::all().collect();
    let constants: Vec<ConstId> = ConstId::all().collect();
    prop_oneof![
        4 => any::<Index>().prop_map(Choice::Value),
        2 => select(ops).prop_map(|op| Choice::Fixed(Operand::Op(op))),
        2 => select(constants).prop_map(|c| Choice::Fixed(Operand::Const(c))),
        1 => literal().prop_map(|l| Choice::Fixed(Operand::Literal(l))),
    ]
}

/// A callee, and more than enough operands; a primitive takes as many as it needs.
#[derive(Clone, Debug)]
enum Line {
    Op(OpId, Vec<Choice>),
    Value(Choice, Vec<Choice>),
    Tuple(Vec<Choice>),
}

fn line() -> impl Strategy<Value = Line> {
    let ops: Vec<OpId> = OpId::all().collect();
    prop_oneof![
        6 => (select(ops), vec(choice(), 4)).prop_map(|(op, args)| Line::Op(op, args)),
        1 => (choice(), vec(choice(), 0..4)).prop_map(|(f, args)| Line::Value(f, args)),
        1 => vec(choice(), 0..4).prop_map(Line::Tuple),
    ]
}

fn parameters() -> impl Strategy<Value = Vec<String>> {
    let names = ["I", "S", "C", "O", "x1", "x", "O_", "first", "T", "grid"];
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    proptest::sample::subsequence(names, 0..4).prop_shuffle()
}

prop_compose! {
    fn program()(
        name in "solve_[0-9a-f]{8}",
        params in parameters(),
        lines in vec(line(), 0..12),
        result in choice(),
    ) -> Program {
        let mut builder = ProgramBuilder::new(name, params.iter().cloned());
        // The possible operands so far: parameters, then steps.
        let mut values: Vec<Operand> = (0..params.len()).map(|k| builder.param(k)).collect();
        let pick = |choice: Choice, values: &[Operand]| match choice {
            Choice::Fixed(operand) => operand,
            Choice::Value(_) if values.is_empty() => Operand::Literal(Literal::None),
            Choice::Value(index) => index.get(values).clone(),
        };
        let mut steps = 0;
        for line in lines {
            let all = |args: Vec<Choice>| args.into_iter().map(|a| pick(a, &values)).collect();
            let value = match line {
                Line::Op(op, mut args) => {
                    args.truncate(op.op().params.len());
                    let args = all(args);
                    builder.call(Operand::Op(op), args)
                }
                Line::Value(callee, args) => match pick(callee, &values) {
                    // A primitive with the wrong number of arguments does not load.
                    Operand::Op(_) => continue,
                    callee => {
                        let args = all(args);
                        builder.call(callee, args)
                    }
                },
                Line::Tuple(items) => {
                    let items = all(items);
                    builder.tuple(items)
                }
            };
            if value == Operand::Step(StepId(steps)) {
                steps += 1;
                values.push(value);
            }
        }
        let result = pick(result, &values);
        builder.finish(result)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn print_then_parse_is_the_same_program(program in program()) {
        let text = program.to_string();
        let file = SolverFile::parse_in(&text, "printed.py", Some(Dialect::ArcDsl));
        prop_assert!(file.diagnostics.is_empty(), "{text}\n{:?}", file.diagnostics);
        prop_assert_eq!(&file.programs, &[program][..], "{}", text);
        prop_assert_eq!(file.programs[0].to_string(), text);
    }

    #[test]
    fn files_of_several_programs(mut programs in vec(program(), 0..5)) {
        programs.sort_by(|a, b| a.name().cmp(b.name()));
        programs.dedup_by(|a, b| a.name() == b.name());
        let file = SolverFile::parse_in(&print_file(&programs), "printed.py", Some(Dialect::ArcDsl));
        prop_assert_eq!(file.programs, programs);
    }

    #[test]
    fn checking_never_panics(program in program()) {
        let found = batt_lang::check::program(&program, None);
        prop_assert!(found.iter().all(|d| !d.is_error()));
    }
}
