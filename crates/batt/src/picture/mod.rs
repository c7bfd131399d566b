//! Pictures: grids, tasks, values, solvers and runs as SVG and PNG.
//!
//! ```
//! use batt::picture::{self, PictureStyle, Theme};
//! use batt::{Limits, RunInput, Solvers, Tasks};
//!
//! let (tasks, solvers) = (Tasks::embedded(), Solvers::embedded());
//! let task = tasks.get("1673c3ec").unwrap();
//! let solver = solvers.get("solve_1673c3ec").unwrap();
//! let style = PictureStyle { theme: Theme::Light, ..PictureStyle::default() };
//! let svg = picture::task(task, &style);
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("task.svg");
//! std::fs::write(path, svg.as_str()).expect("the folder can be written to");
//!
//! let input = RunInput::new(task, &task.test[0]);
//! let steps = picture::steps(solver, "the test", &input, &Limits::default(), &style);
//! assert!(steps.as_str().contains("right"));
//! ```

mod text;

use batt_arc::text::name;
use batt_arc::{Pair, Task};
use batt_dsl::Limits;
use batt_engine::{JobResult, RunRecord, Verdict};
#[cfg(feature = "png")]
pub use batt_picture::PngError;
pub use batt_picture::{
    Palette, PictureStyle, RunOutcome, Svg, Theme, UnknownStyle, comparison, gallery, grid, pair,
    repr, run, source, task, terminal, trace, value,
};

pub use self::text::{answers_text, record_text};
use crate::error::Result;
use crate::run::RunResult;
use crate::solvers::Solver;
use crate::tasks::Tasks;
use crate::trace::RunInput;

/// Draws the source text of a solver, as it is in its file.
pub fn solver(solver: &Solver, style: &PictureStyle) -> Svg {
    let first = solver.program().lines().first.max(1);
    batt_picture::source(solver.name(), &solver.text(), first, style)
}

/// Runs a solver and draws every step. `input_name` is part of the title.
pub fn steps(
    solver: &Solver,
    input_name: &str,
    input: &RunInput,
    limits: &Limits,
    style: &PictureStyle,
) -> Svg {
    let result = solver.run_on(input, limits);
    let steps = solver.trace(input, limits);
    let title = format!("{} on {input_name}", solver.name());
    let error = error_of(solver, &result);
    let outcome = RunOutcome {
        expected: input.expected.as_ref(),
        value: result.value.as_ref(),
        error: error.as_deref(),
    };
    let program = solver.program();
    batt_picture::trace(&title, program, &input.grid, &steps, &outcome, style)
}

/// Runs a solver on the pairs of a task and draws the results.
pub fn answers(solver: &Solver, task: &Task, limits: &Limits, style: &PictureStyle) -> Svg {
    let pictures = task.pairs().map(|(at, pair)| {
        let result = solver.run_on(&RunInput::new(task, pair), limits);
        let error = error_of(solver, &result);
        let outcome = RunOutcome {
            expected: pair.output.as_ref(),
            value: result.value.as_ref(),
            error: error.as_deref(),
        };
        let svg = batt_picture::run(&at.to_string(), Some(&pair.input), &outcome, style);
        (String::new(), svg)
    });
    let title = format!("{} on {}", solver.name(), name(&task.id));
    gallery(&title, &pictures.collect::<Vec<_>>(), style)
}

fn error_of(solver: &Solver, result: &JobResult) -> Option<String> {
    match &result.verdict {
        Verdict::Failed(error) => Some(error.explain(solver.program(), solver.file())),
        _ => None,
    }
}

/// Draws a run: the input, the expected output, the solver's output and the difference. The value
/// is part of the picture if [`RunOptions::values`](crate::RunOptions::values) selected it.
pub fn result(result: &RunResult, style: &PictureStyle) -> Svg {
    let input = result.input();
    let error = match &result.verdict {
        Verdict::Failed(_) => result.reason(),
        _ => None,
    };
    let outcome = RunOutcome {
        expected: input.and_then(|pair| pair.output.as_ref()),
        value: result.value.as_ref(),
        error: error.as_deref(),
    };
    let (solver, task) = (result.solver().name(), &result.task().id);
    let title = format!("{solver} on {task} {}", result.pair);
    batt_picture::run(&title, input.map(|pair| &pair.input), &outcome, style)
}

/// Draws a run that was read from a file. Fails if its task or pair is not among the tasks.
pub fn record(record: &RunRecord, tasks: &Tasks, style: &PictureStyle) -> Result<Svg> {
    let pair = tasks.pair_of(record)?;
    let outcome = outcome_of(record, pair);
    let title = record.title();
    Ok(batt_picture::run(
        &title,
        Some(&pair.input),
        &outcome,
        style,
    ))
}

fn outcome_of<'a>(record: &'a RunRecord, pair: &'a Pair) -> RunOutcome<'a> {
    RunOutcome {
        expected: pair.output.as_ref(),
        value: record.value.as_ref(),
        error: record.error.as_deref(),
    }
}

/// Draws runs that were read from a file, below each other.
pub fn records(
    title: &str,
    records: &[RunRecord],
    tasks: &Tasks,
    style: &PictureStyle,
) -> Result<Svg> {
    let pictures = records
        .iter()
        .map(|one| Ok((String::new(), record(one, tasks, style)?)));
    Ok(gallery(
        title,
        &pictures.collect::<Result<Vec<_>>>()?,
        style,
    ))
}

/// Draws the first few of many tasks, as small pictures.
pub fn tasks(title: &str, tasks: &[Task], most: usize, style: &PictureStyle) -> Svg {
    let small = PictureStyle {
        width: style.width.min(470),
        ..*style
    };
    let shown = tasks.iter().take(most);
    let pictures = shown.map(|task| (String::new(), batt_picture::task(task, &small)));
    gallery(title, &pictures.collect::<Vec<_>>(), style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Devices, RunOptions, Solvers, Values, run as run_solvers};

    const TEXT: &str = "\
def good_1673c3ec(I):
    return I

def failing_1673c3ec(I):
    x1 = height(I)
    return crop(I, x1, x1)
";

    #[test]
    fn results_are_drawn_as_runs_do_and_as_files_do() {
        let (tasks, solvers) = (Tasks::embedded(), Solvers::parse(TEXT, "a.py"));
        let options = RunOptions {
            values: Values::All,
            ..RunOptions::default()
        };
        let style = PictureStyle::default();
        let (mut drawn, mut lines) = (Vec::new(), Vec::new());
        let (mut devices, control) = (Devices::none(), Control::new());
        run_solvers(&solvers, &tasks, &options, &mut devices, &control, |run| {
            drawn.push(result(&run, &style));
            let mut line = Vec::new();
            run.write_json(&mut line).unwrap();
            lines.push(RunRecord::parse(&String::from_utf8(line).unwrap()).unwrap());
        })
        .unwrap();
        assert_eq!(drawn.len(), 8);
        let text = drawn[0].as_str();
        assert!(text.contains("good_1673c3ec on 1673c3ec train[0]"));
        assert!(text.contains("6x7 instead of 4x5"));
        // What was read back looks the same, except for the file of the error.
        assert_eq!(record(&lines[0], &tasks, &style).unwrap(), drawn[0]);
        for text in [
            drawn[4].as_str(),
            record(&lines[4], &tasks, &style).unwrap().as_str(),
        ] {
            assert!(text.contains(">failed<") && text.contains("TypeError in crop"));
        }
        let all = records("wrong", &lines, &tasks, &style).unwrap();
        assert_eq!(all.as_str().matches(">failed<").count(), 4);
        let other = Tasks::new([]).unwrap();
        let error = record(&lines[0], &other, &style).unwrap_err();
        assert!(error.to_string().contains("not among the tasks"), "{error}");
    }

    #[test]
    fn a_solver_is_drawn_at_work() {
        let (tasks, solvers) = (Tasks::embedded(), Solvers::parse(TEXT, "a.py"));
        let (task_of, style) = (tasks.get("1673c3ec").unwrap(), PictureStyle::default());
        let failing = solvers.get("failing_1673c3ec").unwrap();
        let text = solver(failing, &style);
        assert!(text.as_str().contains(">failing_1673c3ec<"));
        assert!(!text.as_str().contains("good_1673c3ec"));
        let input = RunInput::new(task_of, &task_of.train[0]);
        let limits = Limits::default();
        let trace = steps(failing, "train[0]", &input, &limits, &style);
        // The step before the one that fails, and the error.
        assert!(trace.as_str().contains("height(I)") && trace.as_str().contains(">6<"));
        assert!(trace.as_str().contains("TypeError in crop, a.py:6"));
        let all = answers(failing, task_of, &limits, &style);
        assert_eq!(all.as_str().matches("TypeError in crop").count(), 4);
        let wall = super::tasks("some", tasks.tasks(), 3, &style);
        let ids = tasks.iter().filter(|task| wall.as_str().contains(&task.id));
        assert_eq!(ids.count(), 3);
    }
}
