//! Traces: the steps of one run.

use batt::{RunInput, Solver, TracedStep};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::items::{self, Index, Items};
use crate::solver::PySolver;
use crate::{grids, pictures, values};

/// The steps of one run of a solver, by number or by the name of their variable.
///
///     >>> import batt
///     >>> solve = batt.Solver.parse("def f(I):\n    x1 = hmirror(I)\n    return size(x1)\n")
///     >>> trace = solve.trace("12/34")
///     >>> trace
///     <Trace f | 2 steps>
///     >>> trace["x1"].value, trace.value
///     (((3, 4), (1, 2)), 2)
#[pyclass(frozen, module = "batt", name = "Trace", sequence)]
pub struct PyTrace {
    pub solver: Solver,
    pub input: RunInput,
    pub steps: Vec<TracedStep>,
    pub value: Option<batt::OwnedValue>,
    pub error: Option<String>,
}

/// One step of a run: a call and its value.
///
///     >>> import batt
///     >>> solve = batt.Solver.parse("def f(I):\n    x1 = hmirror(I)\n    return x1\n")
///     >>> step = solve.trace("12/34")[0]
///     >>> step.name, step.call, step.line, step.value
///     ('x1', 'hmirror(I)', 2, ((3, 4), (1, 2)))
#[pyclass(frozen, module = "batt", name = "TraceStep")]
pub struct PyTraceStep(pub TracedStep);

#[pymethods]
impl PyTrace {
    /// The solver that ran.
    #[getter]
    fn solver(&self) -> PySolver {
        PySolver(self.solver.clone())
    }

    /// The grid that it ran on.
    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(grids::to_array(py, &self.input.grid)?.into_any())
    }

    /// The value that the solver returned; `None` if it failed.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.value.as_ref();
        value.map(|value| values::to_python(py, value)).transpose()
    }

    /// Where and why the run failed; `None` if it did not.
    #[getter]
    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn __len__(&self) -> usize {
        self.steps.len()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let step = |at: usize| Bound::new(py, PyTraceStep(self.steps[at].clone()));
        let names = || self.steps.iter().map(|step| step.name.as_str());
        let named = |name: &str| {
            let at = names().position(|known| known == name);
            at.ok_or_else(|| items::unknown("step", name, names()))
        };
        match items::index(index, self.steps.len(), "step", Some(&named))? {
            Index::One(at) => Ok(step(at)?.into_any()),
            Index::Many(picked) => {
                let steps = picked.into_iter().map(step).collect::<PyResult<Vec<_>>>()?;
                Ok(PyList::new(py, steps)?.into_any())
            }
        }
    }

    fn __iter__(this: Bound<'_, Self>) -> Items {
        Items::of(this.as_any())
    }

    fn __str__(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let value = step.value.as_ref();
            let value = value.map_or("a value too large to copy".to_owned(), batt::describe);
            text += &format!("{} = {}  # {value}\n", step.name, step.call);
        }
        if let Some(error) = &self.error {
            text += error;
        }
        text.trim_end().to_owned()
    }

    fn _repr_svg_(this: &Bound<'_, Self>) -> PyResult<String> {
        pictures::shown(this.as_any())
    }

    fn __repr__(&self) -> String {
        let failed = if self.error.is_some() {
            " | failed"
        } else {
            ""
        };
        format!(
            "<Trace {} | {} steps{failed}>",
            self.solver.name(),
            self.steps.len()
        )
    }
}

#[pymethods]
impl PyTraceStep {
    /// The name of the variable.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The call as text.
    #[getter]
    fn call(&self) -> &str {
        &self.0.call
    }

    /// The line in the file.
    #[getter]
    fn line(&self) -> u32 {
        self.0.line
    }

    /// The value; `None` if it is too large to copy.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.0.value.as_ref();
        value.map(|value| values::to_python(py, value)).transpose()
    }

    fn __repr__(&self) -> String {
        let value = self.0.value.as_ref();
        let value = value.map_or("a value too large to copy".to_owned(), batt::describe);
        format!("<TraceStep {} = {} | {value}>", self.0.name, self.0.call)
    }
}
