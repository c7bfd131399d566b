//! Properties of all programs, all values and all numbers of threads.

use std::num::NonZeroUsize;
use std::time::Duration;

use batt_arc::Grid;
use batt_dsl::{Dialect, Limits, Workspace};
use batt_engine::Cancel;
use batt_engine::{Compiled, EvalOptions, Job, Sample, Values, evaluate, run_job};
use batt_lang::Program;
use batt_testing::generate::{self, Choices};
use batt_testing::{forms, heavy, oracle, within};
use proptest::collection::vec;
use proptest::prelude::*;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: if heavy() { 100 * cases } else { cases },
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..ProptestConfig::default()
    }
}

/// Generates a program and a grid.
fn subject() -> impl Strategy<Value = (Program, Grid)> {
    vec(any::<u8>(), 0..260).prop_map(|bytes| {
        let mut choices = Choices::new(&bytes);
        let grid = generate::grid(&mut choices);
        (generate::program(&mut choices), grid)
    })
}

proptest! {
    #![proptest_config(config(3_000))]

    /// A value behaves the same in whichever form it is represented.
    #[test]
    fn forms_do_not_show(bytes in vec(any::<u8>(), 0..400)) {
        if let Err(difference) = forms::check(&mut Choices::new(&bytes)) {
            return Err(TestCaseError::fail(difference));
        }
    }

    /// A program's outcome is the same in a fresh and in a used workspace, watched or not, with the
    /// grid as bytes or as tuples.
    #[test]
    fn programs_are_deterministic(bytes in vec(any::<u8>(), 0..260)) {
        let mut choices = Choices::new(&bytes);
        let grid = generate::grid(&mut choices);
        let program = generate::program(&mut choices);
        if let Err(finding) = oracle::check(&program, &grid) {
            return Err(TestCaseError::fail(format!("{finding}\n{program}\non {grid:?}")));
        }
    }

    /// Programs in tokpidjin are deterministic, too.
    #[test]
    fn tokpidjin_programs_are_deterministic(bytes in vec(any::<u8>(), 0..260)) {
        let mut choices = Choices::new(&bytes);
        let grid = generate::grid(&mut choices);
        let program = generate::program_in(Dialect::Tokpidjin, &mut choices);
        if let Err(finding) = oracle::check(&program, &grid) {
            return Err(TestCaseError::fail(format!("{finding}\n{program}\non {grid:?}")));
        }
    }

    /// A run within limits of any size ends soon, in a value or a fault.
    #[test]
    fn tiny_limits_end_quickly(
        (program, grid) in subject(),
        steps in 0u64..1_000,
        size in 0usize..1_000,
        memory in prop_oneof![Just(0usize), Just(1 << 10), Just(64 << 10), Just(1 << 20)],
    ) {
        let limits = Limits {
            steps,
            size,
            memory,
            time: None,
        };
        let compiled = Compiled::new(&program);
        within(Duration::from_secs(1), "a run of a thousand steps", || {
            _ = oracle::ending(&mut Workspace::new(), &compiled, &grid, &limits);
        });
    }

    /// A printed program parses to the same program.
    #[test]
    fn printed_programs_are_read_again((program, _) in subject()) {
        let text = program.to_string();
        let again = batt_lang::SolverFile::parse_in(&text, "printed.py", Some(program.dialect()));
        // The parser rejects calls of primitives with a wrong number of arguments.
        if again.diagnostics.iter().all(|d| !d.is_error()) {
            prop_assert_eq!(&again.programs[..], &[program][..]);
        }
    }
}

proptest! {
    #![proptest_config(config(12))]

    /// Many runs at once give the same as each run alone, in order, for every number of threads.
    #[test]
    fn threads_change_nothing(subjects in vec(subject(), 1..400)) {
        let compiled: Vec<Compiled> = subjects.iter().map(|(p, _)| Compiled::new(p)).collect();
        let jobs: Vec<Job<'_>> = compiled
            .iter()
            .zip(&subjects)
            .map(|(program, (_, input))| Job { program, sample: Sample { demos: &[], input, expected: Some(input) } })
            .collect();
        for values in [Values::All, Values::None] {
            let options = |threads| EvalOptions {
                limits: oracle::TIGHT,
                threads: NonZeroUsize::new(threads),
                values,
                ..EvalOptions::default()
            };
            let alone: Vec<_> = jobs
                .iter()
                .map(|job| {
                    let result = run_job(&mut Workspace::new(), job, &options(1));
                    (result.verdict, result.value)
                })
                .collect();
            for threads in [1, 2, 5] {
                let mut together = Vec::new();
                evaluate(&jobs, &options(threads), &Cancel::new(), |_, result| {
                    together.push((result.verdict, result.value));
                });
                prop_assert_eq!(&together, &alone, "{} threads", threads);
            }
        }
    }
}
