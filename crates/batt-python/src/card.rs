//! Merging solvers into a batt, and cutting solvers out of it.

use std::path::PathBuf;

use batt::card::{self as merging, DifferSet, DonorPool, Form};
use batt::{Batt, BattFile, Batts, Solver};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::errors::{self, IntoPython};
use crate::json;
use crate::solvers::{self, PySolver};
use crate::tasks::PyTasks;

/// Many solvers merged into one program.
#[pyclass(frozen, module = "batt", name = "Batt")]
pub struct PyBatt {
    pub batt: Batt,
    /// Its name in results.
    pub name: String,
    form: Form,
    /// The counts of the merge; null for a batt from a file.
    stats: Json,
}

/// Merges solvers into one program that computes shared steps once.
#[pyfunction]
#[pyo3(signature = (solvers, tasks=None, *, count=None, mutants=0, seed=0, differs=true))]
pub fn card(
    py: Python<'_>,
    solvers: &Bound<'_, PyAny>,
    tasks: Option<&Bound<'_, PyTasks>>,
    count: Option<usize>,
    mutants: usize,
    seed: u64,
    differs: bool,
) -> PyResult<PyBatt> {
    let solvers = solvers::extract(solvers)?;
    let tasks = tasks.map(|tasks| tasks.get().0.clone());
    let (merged, left_out) = door::work(py, Request::default(), |_| {
        let mut donors = DonorPool::new(&solvers, tasks.as_ref())?.pick(None, count, seed)?;
        donors.add_mutants(mutants, seed);
        let differs = match differs {
            true => DifferSet::built_in(donors.dialect()),
            false => DifferSet {
                programs: Vec::new(),
                ..DifferSet::built_in(donors.dialect())
            },
        };
        Ok((donors.merge(&differs, None)?, donors.left_out))
    })?;
    let stats = &merged.stats;
    let stats = json!({
        "solvers": stats.solvers,
        "differs": stats.differs,
        "steps_before": stats.before,
        "steps_shared": stats.shared,
        "steps": stats.after,
        "left_out": left_out,
    });
    Ok(PyBatt {
        name: merged.batt.program.name().to_owned(),
        batt: merged.batt,
        form: merged.form,
        stats,
    })
}

#[pymethods]
impl PyBatt {
    /// Loads the only batt of a file, or one that is named as `FILE::NAME`.
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<PyBatt> {
        let (path, name) = match path.split_once("::") {
            Some((path, name)) => (path, Some(name)),
            None => (path, None),
        };
        let batts = door::work(py, Request::default(), |_| Batts::load([path], None))?;
        PyBatt::of(py, &batts, name, path)
    }

    #[staticmethod]
    #[pyo3(signature = (text, file="<text>"))]
    fn parse(py: Python<'_>, text: &str, file: &str) -> PyResult<PyBatt> {
        PyBatt::of(py, &Batts::parse(text, file), None, file)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let parse = py.get_type::<PyBatt>().getattr("parse")?;
        Ok((parse, (self.source(), self.name.clone())))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The Python text.
    #[getter]
    fn source(&self) -> String {
        merging::text(&self.batt, self.form)
    }

    /// The number of steps.
    #[getter]
    fn steps(&self) -> usize {
        self.batt.program.steps().len()
    }

    /// The names of the solvers in the batt, one for each candidate.
    #[getter]
    fn donors(&self) -> Vec<String> {
        self.batt
            .outputs
            .iter()
            .map(|output| output.donor.clone())
            .collect()
    }

    /// The counts of the merge; `None` for a batt from a file.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.stats)
    }

    /// Writes the Python text, and the JSON form beside it.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        merging::check_target(&path, []).or_raise(py)?;
        door::work(py, Request::default(), |_| {
            merging::save(&self.batt, self.form, &path)
        })
    }

    /// Cuts out the solver of a donor, or the solver that computes a step.
    #[pyo3(signature = (donor=None, *, step=None, name=None))]
    fn extract(
        &self,
        py: Python<'_>,
        donor: Option<&str>,
        step: Option<u32>,
        name: Option<&str>,
    ) -> PyResult<PySolver> {
        let cut = match (donor, step) {
            (Some(donor), None) => merging::extract_donor(&self.batt, donor, name),
            (None, Some(step)) => merging::extract_step(&self.batt, step, name.unwrap_or("solve")),
            _ => {
                let message = "name either a donor or a step";
                return Err(errors::request(py, message, "batt.extract('1673c3ec')"));
            }
        };
        let cut = cut.or_raise(py)?;
        Solver::new(&cut.program).map(PySolver).or_raise(py)
    }

    fn __len__(&self) -> usize {
        self.batt.outputs.len()
    }

    fn __repr__(&self) -> String {
        let Batt {
            outputs, scores, ..
        } = &self.batt;
        format!(
            "<Batt {} | {} candidates | {} scores | {} steps>",
            self.name,
            outputs.len(),
            scores.len(),
            self.steps()
        )
    }
}

impl PyBatt {
    fn of(py: Python<'_>, batts: &Batts, name: Option<&str>, file: &str) -> PyResult<PyBatt> {
        let errors: Vec<String> = batts
            .diagnostics()
            .filter(|found| found.is_error())
            .map(ToString::to_string)
            .collect();
        if batts.is_empty() && !errors.is_empty() {
            return Err(errors::exception(py, "SolverError", &errors.join("\n"), ""));
        }
        let batt = match name {
            Some(name) => batts.get(name),
            None => batts.only(),
        };
        let batt = batt.or_raise(py)?;
        Ok(PyBatt {
            form: merging::form_of(batt),
            batt: batt.clone(),
            name: file.to_owned(),
            stats: Json::Null,
        })
    }
}

/// Reads batts: one, a sequence of them, or the path of a file.
pub fn extract(data: &Bound<'_, PyAny>) -> PyResult<Batts> {
    let py = data.py();
    if let Ok(path) = data.extract::<PathBuf>() {
        return door::work(py, Request::default(), |_| Batts::load([&path], None));
    }
    let file = |batt: &PyBatt| BattFile::named(batt.batt.clone(), &batt.name);
    if let Ok(batt) = data.cast::<PyBatt>() {
        return Ok(Batts::from_files(vec![file(batt.get())]));
    }
    let mut files = Vec::new();
    for item in data.try_iter()? {
        let item = item?;
        let Ok(batt) = item.cast::<PyBatt>() else {
            let message = format!("{} is not a batt", item.repr()?);
            return Err(errors::request(
                py,
                &message,
                "pass Batt objects or the path of a file",
            ));
        };
        files.push(file(batt.get()));
    }
    Ok(Batts::from_files(files))
}
