//! Reads the input grid of a run.

use std::io::Read;
use std::path::Path;

use anyhow::Result;
use batt::{Grid, ParamRole, RunInput, Solver, TaskPath};

use crate::error::{advised, bad_file};
use crate::solvers::mention_skipped;
use crate::ui::Ui;

/// The input of a run, and its name in messages.
pub struct Input {
    pub run: RunInput,
    pub name: String,
}

impl Input {
    /// Returns the input that the options `--task` and `--grid` name, if one is given.
    pub fn of(
        task: Option<&str>,
        grid: Option<&Path>,
        solver: &Solver,
        ui: &Ui,
    ) -> Result<Option<Input>> {
        if grid.is_some() && solver.roles().contains(&ParamRole::Samples) {
            ui.note("a grid alone has no demonstrations, so S is empty; --task gives the solver those of a task");
        }
        match (task, grid) {
            (Some(task), _) => Input::of_task(task, solver.name(), ui).map(Some),
            (None, Some(grid)) => Input::of_grid(grid).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Returns the input of a pair, given as `PATH`, `PATH:ID`, or either with `:train:0`.
    fn of_task(text: &str, solver: &str, ui: &Ui) -> Result<Input> {
        let path = TaskPath::load(text)?;
        mention_skipped(&path.tasks, ui);
        let (run, name) = path.input(solver)?;
        Ok(Input { run, name })
    }

    /// Reads a grid from a file, or from stdin.
    fn of_grid(path: &Path) -> Result<Input> {
        let mut text = Vec::new();
        let (read, name) = if path == Path::new("-") {
            (
                std::io::stdin().take(LARGEST).read_to_end(&mut text),
                "stdin".to_owned(),
            )
        } else {
            let read = std::fs::File::open(path)
                .and_then(|file| file.take(LARGEST).read_to_end(&mut text));
            (read, path.display().to_string())
        };
        read.map_err(|error| bad_file("read", path, error))?;
        let grid: Result<Grid, _> = String::from_utf8_lossy(&text).parse();
        let grid = grid.map_err(|problem| {
            advised(
                format_args!("{name}: {problem}"),
                "write a grid as [[0, 1], [2, 3]] or as lines of digits, at most 30x30",
            )
        })?;
        Ok(Input {
            run: grid.into(),
            name,
        })
    }
}

/// The most bytes of a grid file. JSON of the largest grid needs only a fraction of this, even with
/// generous spacing.
const LARGEST: u64 = 1 << 20;
