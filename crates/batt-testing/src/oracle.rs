//! Properties that hold for every program on every grid.

use std::time::{Duration, Instant};

use batt_arc::{Grid, Pair};
use batt_dsl::{Fault, Limits, OwnedValue, Run, Value, Workspace};
use batt_engine::{Compiled, EvalOptions, Job, RunError, Sample, Values, Verdict, inputs, run_job};
use batt_lang::{Program, StepId};

/// Tight limits: a program without end stops at once, but typical programs complete.
pub const TIGHT: Limits = Limits {
    steps: 100_000,
    size: 10_000,
    memory: 2 << 20,
    time: None,
};

/// Limits twice as high.
const DOUBLED: Limits = Limits {
    steps: 2 * TIGHT.steps,
    size: 2 * TIGHT.size,
    memory: 2 * TIGHT.memory,
    time: None,
};

/// The longest time of a run within such limits. Runs take milliseconds.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// The outcome of a run: a value, or the fault with the failing step.
pub type Ending = Result<OwnedValue, (Fault, Option<StepId>)>;

/// Checks one program on one grid. The error names the property that does not hold.
pub fn check(program: &Program, grid: &Grid) -> Result<(), String> {
    let compiled = Compiled::new(program);
    let mut workspace = Workspace::new();
    let started = Instant::now();
    let expected = ending(&mut workspace, &compiled, grid, &TIGHT);
    let took = started.elapsed();
    if took > TIME_LIMIT {
        return Err(format!("took {took:?}"));
    }
    let same = |what: &str, got: &Ending| {
        if *got == expected {
            return Ok(());
        }
        Err(format!(
            "{what}\n  first {}\n  then  {}",
            show(&expected),
            show(got)
        ))
    };

    // A used workspace does not affect the next run.
    same(
        "differs in a used workspace",
        &ending(&mut workspace, &compiled, grid, &TIGHT),
    )?;

    // Inspecting every intermediate value, including the order of sets, changes nothing. It costs
    // steps and memory, so the runs are not comparable near limits.
    if !reached_a_limit(&expected) {
        let watched = watched(&mut workspace, &compiled, grid, &generous());
        same("differs when watched", &watched)?;
    }

    // A limit can only end a run. It never changes a value, and never looks like a failure of the
    // program.
    if !reached_a_limit(&expected) {
        let doubled = ending(&mut workspace, &compiled, grid, &DOUBLED);
        same("differs with higher limits", &doubled)?;
    }

    // Every form of the input is the same tuple of tuples.
    let as_tuples = general_form(&mut workspace, &compiled, grid, &generous());
    if !reached_a_limit(&expected) && !reached_a_limit(&as_tuples) {
        same("differs with the grid in general form", &as_tuples)?;
    }

    // The engine returns the same as the run.
    let options = EvalOptions {
        limits: TIGHT,
        values: Values::All,
        ..EvalOptions::default()
    };
    let demos = demos(grid);
    let job = Job {
        program: &compiled,
        sample: sample(grid, &demos),
    };
    let result = run_job(&mut workspace, &job, &options);
    let through_engine = match (result.verdict, result.value) {
        (Verdict::Failed(RunError { fault, step }), _) => Err((fault, step)),
        (_, Some(value)) => Ok(value),
        (verdict, None) => return Err(format!("{verdict:?} without a value")),
    };
    same("differs through the engine", &through_engine)
}

/// Runs a program.
pub fn ending(
    workspace: &mut Workspace,
    program: &Compiled,
    grid: &Grid,
    limits: &Limits,
) -> Ending {
    workspace.run(program.dialect(), limits, |run| {
        let input = run.input(grid.height(), grid.width(), grid.cells());
        finish(run, input, |run, input| {
            let inputs = inputs(run, program, &sample(grid, &demos(grid)), input)?;
            program.execute(run, &inputs)
        })
    })
}

fn watched(workspace: &mut Workspace, program: &Compiled, grid: &Grid, limits: &Limits) -> Ending {
    workspace.run(program.dialect(), limits, |run| {
        let input = run.input(grid.height(), grid.width(), grid.cells());
        finish(run, input, |run, input| {
            let inputs = inputs(run, program, &sample(grid, &demos(grid)), input)?;
            program.execute_watched(run, &inputs, |run, _, value| {
                let _ = run.to_owned(value);
            })
        })
    })
}

fn general_form(
    workspace: &mut Workspace,
    program: &Compiled,
    grid: &Grid,
    limits: &Limits,
) -> Ending {
    workspace.run(program.dialect(), limits, |run| {
        let input = run.from_owned(&OwnedValue::grid(grid.rows()));
        finish(run, input, |run, input| {
            let inputs = inputs(run, program, &sample(grid, &demos(grid)), input)?;
            program.execute(run, &inputs)
        })
    })
}

/// Returns a demonstration, for programs that use them.
fn demos(grid: &Grid) -> [Pair; 1] {
    [Pair {
        input: grid.clone(),
        output: Some(grid.clone()),
    }]
}

fn sample<'a>(grid: &'a Grid, demos: &'a [Pair]) -> Sample<'a> {
    Sample {
        demos,
        input: grid,
        expected: None,
    }
}

fn finish<'r>(
    run: &mut Run<'r>,
    input: Result<Value<'r>, Fault>,
    execute: impl FnOnce(&mut Run<'r>, Value<'r>) -> Result<Value<'r>, RunError>,
) -> Ending {
    let input = input.map_err(|fault| (fault, None))?;
    let value = execute(run, input).map_err(|e| (e.fault, e.step))?;
    run.to_owned(value).map_err(|fault| (fault, None))
}

/// Returns limits for runs that do the same at a higher cost.
fn generous() -> Limits {
    Limits {
        steps: 40 * TIGHT.steps,
        size: 4 * TIGHT.size,
        memory: 32 * TIGHT.memory,
        time: None,
    }
}

/// Returns whether a limit ended the run. Overflow does not count, because it does not depend on
/// the limits.
pub fn reached_a_limit(ending: &Ending) -> bool {
    matches!(ending, Err((Fault::Steps | Fault::Size | Fault::Memory, _)))
}

fn show(ending: &Ending) -> String {
    match ending {
        Ok(value) => value.to_string(),
        Err((fault, Some(step))) => format!("{} in step {}", fault.name(), step.0 + 1),
        Err((fault, None)) => fault.name().to_owned(),
    }
}
