//! Grids as text: in colour for a terminal, as digits elsewhere.

use batt::render::{self, Color, Panel};
use batt::{Grid, Task};
use pyo3::prelude::*;

/// Returns the way to draw cells.
fn way(color: bool) -> Color {
    match color {
        true => Color::Always,
        false => Color::Never,
    }
}

/// Returns text without the newline at its end, which `print` adds.
fn trimmed(mut text: String) -> String {
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Draws a grid.
pub fn grid(grid: &Grid, color: bool) -> String {
    trimmed(render::grid(grid, way(color)))
}

/// Draws the pairs of a task.
pub fn task(task: &Task, color: bool) -> String {
    trimmed(render::task(task, way(color)))
}

/// Draws a run: the input, the expected output, the output, and where the two differ.
pub fn run(input: &Grid, expected: Option<&Grid>, output: Option<&Grid>, color: bool) -> String {
    let mut panels = vec![Panel::grid("input", input)];
    panels.push(match expected {
        Some(expected) => Panel::grid("expected", expected),
        None => Panel::note("expected", "?"),
    });
    if let Some(output) = output {
        panels.push(Panel::grid("got", output));
    }
    if let (Some(expected), Some(output)) = (expected, output) {
        panels.push(Panel::diff(expected, output));
    }
    trimmed(render::layout(&panels, way(color)))
}

/// Shows an object as Python does: as a picture in a notebook, as text elsewhere.
pub fn show(shown: &Bound<'_, PyAny>, color: Option<bool>) -> PyResult<()> {
    let show = shown.py().import("batt._show")?.getattr("show")?;
    show.call1((shown, color)).map(drop)
}
