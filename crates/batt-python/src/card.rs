//! Merging solvers into a batt, and cutting solvers out of it.

use std::path::PathBuf;

use batt::card::{self as merging, DifferSet, DonorPool, Form};
use batt::{Batt, BattFile, Batts, Solver};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::errors::{self, IntoPython};
use crate::findings::{not_loaded, warn_of};
use crate::solver::{PySolver, split_name};
use crate::values::Pickled;
use crate::{json, numbers, solvers, tasks};

/// Many solvers merged into one program: the result of `batt.card`, or read from a file.
///
///     >>> import batt
///     >>> merged = batt.card("examples/solvers.py", "examples/tasks")
///     >>> merged
///     <Batt batt | 4 candidates | 20 scores | 91 steps>
///     >>> merged.donors
///     ['a1c0ffee', 'b0a710ad', 'c0de5eed', 'd00d1e55']
///     >>> merged.extract("a1c0ffee")
///     <Solver solve_a1c0ffee | 2 steps | arc-dsl>
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
    tasks: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = numbers::whole_or_none)] count: Option<usize>,
    #[pyo3(from_py_with = numbers::whole)] mutants: usize,
    #[pyo3(from_py_with = numbers::whole)] seed: u64,
    differs: bool,
) -> PyResult<PyBatt> {
    let solvers = solvers::extract(solvers)?;
    let tasks = tasks.map(tasks::extract).transpose()?;
    let merged = door::work(py, Request::default(), |control| {
        let mut donors = DonorPool::new(&solvers, tasks.as_ref())?.pick(None, count, seed)?;
        donors.add_mutants(mutants, seed, control);
        if control.is_cancelled() {
            return Ok(None);
        }
        let differs = match differs {
            true => DifferSet::built_in(donors.dialect()),
            false => DifferSet {
                programs: Vec::new(),
                ..DifferSet::built_in(donors.dialect())
            },
        };
        Ok(Some((donors.merge(&differs, None)?, donors.left_out)))
    })?;
    let (merged, left_out) = merged.ok_or_else(|| errors::bug("an exception is lost"))?;
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
    /// Loads the only batt of a file; of several, the path names one with `::name` at its end.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyBatt> {
        let (path, name) = split_name(path, None);
        let batts = door::work(py, Request::default(), |_| Batts::load([&path], None))?;
        PyBatt::of(py, &batts, name.as_deref(), &path.display().to_string())
    }

    /// Reads a text with one batt; `file` stands for the name of the file in messages and results.
    ///
    ///     >>> merged = batt.card("examples/solvers.py", "examples/tasks")
    ///     >>> Batt.parse(merged.source, "again.py")
    ///     <Batt again.py | 4 candidates | 20 scores | 91 steps>
    #[staticmethod]
    #[pyo3(signature = (text, file="<text>"))]
    fn parse(py: Python<'_>, text: &str, file: &str) -> PyResult<PyBatt> {
        let batts = py.detach(|| Batts::parse(text, file));
        PyBatt::of(py, &batts, None, file)
    }

    /// Restores a pickled batt.
    #[staticmethod]
    fn _restore(py: Python<'_>, text: &str, name: &str, stats: &str) -> PyResult<PyBatt> {
        let mut batt = PyBatt::parse(py, text, name)?;
        batt.stats = serde_json::from_str(stats).unwrap_or_default();
        Ok(batt)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, (String, String, String)>> {
        let restore = py.get_type::<PyBatt>().getattr("_restore")?;
        let parts = (self.source(), self.name.clone(), self.stats.to_string());
        Ok((restore, parts))
    }

    /// Its name in results: the name of its file, or `batt`.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The Python text. The original library runs it, too.
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
    ///
    ///     >>> batt.card("examples/solvers.py", "examples/tasks").stats["steps_before"]
    ///     134
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.stats)
    }

    /// Writes the Python text to a file, and the JSON form beside it.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        merging::check_target(&path, []).or_raise(py)?;
        door::work(py, Request::default(), |_| {
            merging::save(&self.batt, self.form, &path)
        })
    }

    /// Cuts out the solver of a donor, or the solver that computes a step. `name` is the name of its
    /// function.
    #[pyo3(signature = (donor=None, *, step=None, name=None))]
    fn extract(
        &self,
        py: Python<'_>,
        donor: Option<&str>,
        #[pyo3(from_py_with = numbers::whole_or_none)] step: Option<u32>,
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
        let errors = || batts.diagnostics().filter(|found| found.is_error());
        if batts.is_empty() && errors().next().is_some() {
            let message = format!("{file} has no batt");
            return Err(not_loaded(py, &message, "", file, errors()));
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

/// Reads batts: one, several, or paths of files.
pub fn extract(data: &Bound<'_, PyAny>) -> PyResult<Batts> {
    const HINT: &str = "pass a Batt, several of them, or paths of batt files";
    let py = data.py();
    if let Ok(path) = data.extract::<PathBuf>() {
        return load(py, &[path]);
    }
    let file = |batt: &PyBatt| BattFile::named(batt.batt.clone(), &batt.name);
    if let Ok(batt) = data.cast::<PyBatt>() {
        return Ok(Batts::from_files(vec![file(batt.get())]));
    }
    let (mut files, mut paths) = (Vec::new(), Vec::new());
    let items = data.try_iter();
    for item in items.map_err(|_| errors::wrong_kind(data, "batts", HINT))? {
        let item = item?;
        if let Ok(batt) = item.cast::<PyBatt>() {
            files.push(file(batt.get()));
        } else if let Ok(path) = item.extract::<PathBuf>() {
            paths.push(path);
        } else {
            return Err(errors::wrong_kind(&item, "a batt", HINT));
        }
    }
    match (files.is_empty(), paths.is_empty()) {
        (true, true) => Err(errors::request(py, "there is no batt to run", HINT)),
        (true, false) => load(py, &paths),
        (false, true) => Ok(Batts::from_files(files)),
        (false, false) => {
            let message = "batts and paths are mixed";
            let hint = "load the files first with Batt.load";
            Err(errors::request(py, message, hint))
        }
    }
}

/// Loads batt files, and warns if batts were left out. No batt at all is an error.
fn load(py: Python<'_>, paths: &[PathBuf]) -> PyResult<Batts> {
    let batts = door::work(py, Request::default(), |_| Batts::load(paths, None))?;
    let file = paths
        .first()
        .map_or(String::new(), |path| path.display().to_string());
    if batts.is_empty() {
        let errors = batts.diagnostics().filter(|found| found.is_error());
        let hint = "batt.card makes a batt of solvers";
        return Err(not_loaded(
            py,
            &format!("{file} has no batt"),
            hint,
            &file,
            errors,
        ));
    }
    warn_of(py, batts.diagnostics())?;
    Ok(batts)
}

/// Reads batts into a list of them, for other machines.
#[pyfunction]
pub fn _batts(data: &Bound<'_, PyAny>) -> PyResult<Vec<PyBatt>> {
    let batts = extract(data)?;
    let batt = |(name, batt): (&str, &Batt)| PyBatt {
        batt: batt.clone(),
        name: name.to_owned(),
        form: merging::form_of(batt),
        stats: Json::Null,
    };
    Ok(batts.iter().map(batt).collect())
}
