//! Parts of runs, for other machines.

use std::path::PathBuf;

use batt::{RunOptions, Shard, ShardError, Verdict};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::run::{self, PyResults, Row};
use crate::solvers::PySolvers;
use crate::tasks::PyTasks;
use crate::{errors, json, stored};

/// Reads a part such as `3/10`; `None` stands for the whole run.
pub fn shard(py: Python<'_>, shard: Option<&str>) -> PyResult<Shard> {
    let Some(text) = shard else {
        return Ok(Shard::WHOLE);
    };
    text.parse()
        .map_err(|error: ShardError| errors::request(py, &error.to_string(), &error.hint()))
}

/// Returns the rows of results as text.
#[pyfunction]
pub fn _rows(py: Python<'_>, results: &Bound<'_, PyResults>) -> String {
    let results = results.get();
    py.detach(|| stored::to_text(results.rows()))
}

/// Puts the rows of all parts of a run together, in the order of the parts.
#[pyfunction]
pub fn _together(
    py: Python<'_>,
    solvers: &PySolvers,
    tasks: &PyTasks,
    parts: Vec<String>,
    all_pairs: bool,
    seconds: f64,
    threads: usize,
) -> PyResult<PyResults> {
    let (solvers, tasks) = (solvers.0.clone(), tasks.0.clone());
    let options = RunOptions {
        scope: run::scope(all_pairs),
        ..RunOptions::default()
    };
    let joined = door::work(py, Request::default(), |_| {
        let parts = parts.iter().map(|part| stored::from_text(part));
        let rows = parts.collect::<Option<Vec<_>>>().and_then(in_order);
        let is_known = |row: &Row| PyResults::can_have(&solvers, &tasks, row);
        let Some(rows) = rows.filter(|rows| rows.iter().all(is_known)) else {
            return Ok(None);
        };
        let verdicts: Vec<&Verdict> = rows.iter().map(|row| &row.verdict).collect();
        let report = batt::report_of(&solvers, &tasks, &options, verdicts)?;
        let summary = run::summary(&report, &tasks);
        Ok(Some((rows, summary)))
    })?;
    let (rows, mut summary) = joined.ok_or_else(|| stored::damaged(py))?;
    summary["resumed"] = json!(0);
    summary["seconds"] = json!(seconds);
    summary["threads"] = json!(threads);
    Ok(PyResults::new(solvers, tasks, rows, summary))
}

/// Puts the rows of all parts into the order of the whole run; `None` if they are not those of such
/// parts.
fn in_order(parts: Vec<Vec<Row>>) -> Option<Vec<Row>> {
    let total = parts.iter().map(Vec::len).sum();
    let shards: Vec<Shard> = Shard::all(parts.len().try_into().ok()?).collect();
    let mut rows: Vec<Option<Row>> = (0..total).map(|_| None).collect();
    for (shard, part) in shards.into_iter().zip(parts) {
        if part.len() != shard.len(total) {
            return None;
        }
        for (at, row) in shard.runs_of(total).zip(part) {
            rows[at] = Some(row);
        }
    }
    rows.into_iter().collect()
}

/// Puts the files of all parts of a run together. The file is the one that a run without parts
/// writes. Any number of machines can make the parts.
///
///     >>> import batt
///     >>> tasks = batt.load("examples/tasks")
///     >>> merged = batt.card("examples/solvers.py", tasks)
///     >>> parts = [f"part-{number}.jsonl" for number in (1, 2, 3)]
///     >>> for number, part in enumerate(parts, 1):
///     ...     _ = batt.mega(merged, tasks, part, shard=f"{number}/3")
///     >>> batt.merge_results(parts, "results.jsonl")["tasks_solved"]
///     3
#[pyfunction]
#[pyo3(signature = (parts, output, *, progress=None))]
pub fn merge_results<'py>(
    py: Python<'py>,
    parts: Vec<PathBuf>,
    output: PathBuf,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let request = Request {
        progress,
        time: None,
    };
    let merged = door::work(py, request, |control| {
        batt::merge_results(&parts, &output, control)
    })?;
    let merged = merged.ok_or_else(|| errors::bug("an exception is lost"))?;
    let totals = &merged.totals;
    let solved = totals.solved.iter();
    let solved =
        solved.map(|found| json!({"batt": found.batt, "task": found.task, "donors": found.donors}));
    let summary: Json = json!({
        "parts": merged.parts,
        "runs": totals.runs,
        "tasks": merged.tasks,
        "tasks_solved": merged.tasks_solved,
        "right": totals.right,
        "errors": totals.errors,
        "solved": solved.collect::<Vec<_>>(),
        "output": output,
        "bytes": merged.bytes,
    });
    json::to_python(py, &summary)
}
