//! Tests of the types of real programs.

use std::fs;
use std::path::{Path, PathBuf};

use batt_dsl::Dialect;
use batt_lang::types::{TypeId, Types};
use batt_lang::{Operand, Program, SolverFile, StepKind};

/// The solvers of the embedded corpus. This crate must not depend on `batt-arc`, which embeds them.
const SOLVERS: &str = include_str!("../../batt-arc/corpus/solvers.py");

fn programs(text: &str, dialect: Dialect) -> Vec<Program> {
    SolverFile::parse_in(text, "test.py", Some(dialect)).programs
}

/// Returns the number of steps, and the number of steps with a type.
fn typed(types: &mut Types, programs: &[Program]) -> (usize, usize) {
    let (mut all, mut good) = (0, 0);
    for program in programs {
        let steps = types.of_program(program);
        all += steps.len();
        good += steps.iter().flatten().count();
    }
    (all, good)
}

#[test]
fn steps_of_solvers_have_types() {
    for dialect in [Dialect::ArcDsl, Dialect::ReArc] {
        let mut types = Types::new(dialect);
        let (all, good) = typed(&mut types, &programs(SOLVERS, dialect));
        assert!(all > 300);
        assert!(good * 100 >= all * 97, "{good} of {all}");
    }
}

/// The type expected of an operand of a step, given the others: of the callee a function that takes
/// the arguments, of an argument what the callee takes, of an item of a tuple what it is.
fn wanted(
    types: &mut Types,
    program: &Program,
    steps: &[Option<TypeId>],
    step: usize,
    operand: usize,
) -> TypeId {
    let all = |types: &mut Types, operands: &[Operand]| -> Vec<TypeId> {
        let of = |operand| types.of_operand(program, steps, operand);
        operands.iter().map(of).collect()
    };
    match (&program.steps()[step].kind, operand) {
        (StepKind::Call { args, .. }, 0) => {
            let args = all(types, args);
            types.function(&args, steps[step].unwrap_or(TypeId::ANY))
        }
        (StepKind::Call { callee, args }, _) => {
            let callee = types.of_operand(program, steps, callee);
            let args = all(types, args);
            types.wanted_in(callee, &args, operand - 1, None)
        }
        (StepKind::Tuple(items), _) => types.of_operand(program, steps, &items[operand]),
    }
}

#[test]
fn operands_of_solvers_fit_the_expected_types() {
    let mut types = Types::new(Dialect::ArcDsl);
    let (mut all, mut good) = (0, 0);
    for program in programs(SOLVERS, Dialect::ArcDsl) {
        let steps = types.of_program(&program);
        for (k, step) in program.steps().iter().enumerate() {
            for (j, operand) in step.kind.operands().enumerate() {
                let is = types.of_operand(&program, &steps, operand);
                let wanted = wanted(&mut types, &program, &steps, k, j);
                all += 1;
                if types.fits(is, wanted) {
                    good += 1;
                } else {
                    println!(
                        "{}: {}: operand {j} is {}, wanted {}",
                        program.name(),
                        program.call_text(batt_lang::StepId(k as u32)),
                        types.show(is),
                        types.show(wanted)
                    );
                }
            }
        }
    }
    assert!(good * 100 >= all * 99, "{good} of {all}");
}

/// The directory of vectors, if there is one; see `docs/testing.md`.
fn shared_vectors() -> Option<PathBuf> {
    let shared = match std::env::var_os("BATT_SHARED") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    Some(shared.join("vectors")).filter(|dir| dir.is_dir())
}

/// The programs of the vectors are random and partly absurd on purpose, so fewer steps have a type.
#[test]
fn most_steps_of_random_programs_have_types() {
    let Some(vectors) = shared_vectors() else {
        println!("skipped: no vectors directory (set BATT_SHARED)");
        return;
    };
    for (dialect, folder) in [
        (Dialect::ArcDsl, "programs"),
        (Dialect::Tokpidjin, "tokpidjin/programs"),
    ] {
        let mut types = Types::new(dialect);
        let (mut all, mut good) = (0, 0);
        for entry in fs::read_dir(vectors.join(folder)).expect("a folder of programs") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|ext| ext == "py") {
                let text = fs::read_to_string(&path).expect("a readable file");
                let (a, g) = typed(&mut types, &programs(&text, dialect));
                (all, good) = (all + a, good + g);
            }
        }
        assert!(all > 10_000, "{all} steps in {folder}");
        assert!(good * 100 >= all * 95, "{good} of {all} in {folder}");
        // The table must not grow with the programs it sees.
        assert!(types.len() < all / 5, "{} types", types.len());
    }
}
