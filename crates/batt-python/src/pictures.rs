//! Pictures of everything that has one.

use std::path::{Path, PathBuf};

use batt::picture::{self as drawing, Palette, PictureStyle, RunOutcome, Svg, Theme};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::archive::PyArchiveEntry;
use crate::door;
use crate::errors::{self, IntoPython};
use crate::grids::{self, PyGrid};
use crate::run::{PyResult1, PyResults};
use crate::solver::PySolver;
use crate::tasks::{PyTask, PyTasks};
use crate::trace::PyTrace;
use crate::values::Pickled;

/// The number of tasks or failures in one picture. More make a picture that no browser likes.
const MOST: usize = 24;

/// A picture, the result of `batt.picture`. A notebook shows it.
///
///     >>> import batt
///     >>> shown = batt.picture(batt.load("examples/tasks")["d00d1e55"], theme="light")
///     >>> shown
///     <Picture 581x416>
///     >>> shown.svg[:4], shown.png()[1:4]
///     ('<svg', b'PNG')
#[pyclass(frozen, module = "batt", name = "Picture")]
pub struct PyPicture {
    svg: Svg,
    /// What is drawn, and how, to draw it again in another process.
    what: Py<PyAny>,
    style: PictureStyle,
}

/// The width of a cell's output in a notebook on a small screen.
const NOTEBOOK: u32 = 840;

/// The arguments that make a picture.
type Request<'py> = (
    Bound<'py, PyAny>,
    &'static str,
    &'static str,
    Option<u32>,
    u32,
);

#[pymethods]
impl PyPicture {
    /// Restores a pickled picture.
    #[staticmethod]
    fn _restore(
        what: &Bound<'_, PyAny>,
        palette: &str,
        theme: &str,
        cell: Option<u32>,
        width: u32,
    ) -> PyResult<PyPicture> {
        picture(what.py(), what, palette, theme, cell, Some(width))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, Request<'py>>> {
        let restore = py.get_type::<PyPicture>().getattr("_restore")?;
        let PictureStyle {
            palette,
            theme,
            cell,
            width,
        } = self.style;
        let what = self.what.bind(py).clone();
        Ok((restore, (what, palette.name(), theme.name(), cell, width)))
    }

    /// The width in pixels.
    #[getter]
    fn width(&self) -> u32 {
        self.svg.width()
    }

    /// The height in pixels.
    #[getter]
    fn height(&self) -> u32 {
        self.svg.height()
    }

    /// The text of an SVG file.
    #[getter]
    fn svg(&self) -> &str {
        self.svg.as_str()
    }

    /// Returns the bytes of a PNG file.
    #[pyo3(signature = (scale=2.0))]
    fn png<'py>(&self, py: Python<'py>, scale: f32) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.to_png(py, scale)?))
    }

    /// Writes a file: PNG if its name ends in `.png`, else SVG.
    #[pyo3(signature = (path, *, scale=2.0))]
    fn save(&self, py: Python<'_>, path: PathBuf, scale: f32) -> PyResult<()> {
        let is_png = Path::extension(&path).is_some_and(|end| end.eq_ignore_ascii_case("png"));
        let bytes = match is_png {
            true => self.to_png(py, scale)?,
            false => self.svg.as_str().as_bytes().to_vec(),
        };
        batt::files::replace(&path, &bytes).or_raise(py)
    }

    fn _repr_svg_(&self) -> &str {
        self.svg.as_str()
    }

    fn __repr__(&self) -> String {
        format!("<Picture {}x{}>", self.svg.width(), self.svg.height())
    }
}

impl PyPicture {
    fn to_png(&self, py: Python<'_>, scale: f32) -> PyResult<Vec<u8>> {
        let made = py.detach(|| self.svg.to_png(scale));
        made.map_err(|error| {
            errors::request(
                py,
                &error.to_string(),
                "choose a smaller scale, or write SVG",
            )
        })
    }
}

/// Draws a task, tasks, a grid, a solver, a trace, a result, failures, or an archived solver.
///
/// Palettes are `official`, `arcprize` and `colour-blind`; themes are `light`, `dark` and `auto`,
/// which follows the browser. `cell` is the size of a cell, `width` that of the picture at most.
///
///     >>> import batt
///     >>> batt.picture(batt.Grid("12/34"), palette="colour-blind", cell=20)
///     <Picture 65x83>
#[pyfunction]
#[pyo3(signature = (what, *, palette="official", theme="auto", cell=None, width=None))]
pub fn picture(
    py: Python<'_>,
    what: &Bound<'_, PyAny>,
    palette: &str,
    theme: &str,
    cell: Option<u32>,
    width: Option<u32>,
) -> PyResult<PyPicture> {
    let names = |names: Vec<&str>| format!("write one of {}", names.join(", "));
    let palette: Palette = palette.parse().map_err(|_| {
        let all = Palette::ALL.iter().map(|palette| palette.name()).collect();
        errors::request(py, &format!("no palette '{palette}'"), &names(all))
    })?;
    let theme: Theme = theme.parse().map_err(|_| {
        let all = Theme::ALL.iter().map(|theme| theme.name()).collect();
        errors::request(py, &format!("no theme '{theme}'"), &names(all))
    })?;
    let default = PictureStyle::default();
    let style = PictureStyle {
        palette,
        theme,
        cell,
        width: width.unwrap_or(default.width),
    };
    Ok(PyPicture {
        svg: draw(what, &style)?,
        what: what.clone().unbind(),
        style,
    })
}

/// Draws a value with the default style, for notebooks.
pub fn shown(what: &Bound<'_, PyAny>) -> PyResult<String> {
    let style = PictureStyle {
        theme: Theme::Auto,
        width: NOTEBOOK,
        ..PictureStyle::default()
    };
    draw(what, &style).map(String::from)
}

fn draw(what: &Bound<'_, PyAny>, style: &PictureStyle) -> PyResult<Svg> {
    let py = what.py();
    if let Ok(grid) = what.cast::<PyGrid>() {
        return Ok(drawing::grid(&grid.get().0, style));
    }
    if let Ok(task) = what.cast::<PyTask>() {
        return Ok(drawing::task(&task.get().0, style));
    }
    if let Ok(tasks) = what.cast::<PyTasks>() {
        let tasks = &tasks.get().0;
        let title = format!("{} tasks", tasks.len());
        return Ok(drawing::tasks(&title, tasks.tasks(), MOST, style));
    }
    if let Ok(solver) = what.cast::<PySolver>() {
        return Ok(drawing::solver(&solver.get().0, style));
    }
    if let Ok(trace) = what.cast::<PyTrace>() {
        let trace = trace.get();
        let outcome = RunOutcome {
            expected: trace.input.expected.as_ref(),
            value: trace.value.as_ref(),
            error: trace.error.as_deref(),
        };
        let (solver, grid) = (&trace.solver, &trace.input.grid);
        let draw = || {
            drawing::trace(
                solver.name(),
                solver.program(),
                grid,
                &trace.steps,
                &outcome,
                style,
            )
        };
        return door::work(py, door::Request::default(), |_| Ok(draw()));
    }
    if let Ok(result) = what.cast::<PyResult1>() {
        return Ok(result.get().picture(style));
    }
    if let Ok(results) = what.cast::<PyResults>() {
        let (title, pictures) = results.get().pictures(MOST, style);
        return Ok(drawing::gallery(&title, &pictures, style));
    }
    if let Ok(entry) = what.cast::<PyArchiveEntry>() {
        let (title, source) = entry.get().title_and_source();
        return Ok(drawing::source(&title, source, 1, style));
    }
    Ok(drawing::grid(&grids::extract(what)?, style))
}
