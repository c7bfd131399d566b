//! Evolution: an iterator of events that goes on in the background.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use batt::evolve::{
    BestSolver, Change, Evolve, EvolveEvent, EvolveOptions, EvolveProgress, EvolveReport,
    EvolveRun, HoldOut, StopReason, TestAnswer,
};
use batt::{Control, Solver, Task};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::archive::of_score;
use crate::errors::{self, IntoPython};
use crate::solver::PySolver;
use crate::values::Pickled;
use crate::{devices, json, numbers, solvers, stored, tasks};

/// The time between two looks at signals while there is no event.
const PAUSE: Duration = Duration::from_millis(50);

/// A search for new solvers: an iterator of its events.
#[pyclass(frozen, module = "batt", name = "Evolution")]
pub struct PyEvolution {
    state: Mutex<State>,
    /// The tasks that evolve, from the first event that has them.
    tasks: OnceLock<Arc<[Task]>>,
}

enum State {
    /// Not begun: the first event begins it.
    Ready(Box<Evolve>, Option<Duration>),
    Running(Box<EvolveRun>),
    Ended(Json),
    Failed,
}

/// An event of an evolution: `kind` says what happened, `facts` has the details by name.
///
///     started       tasks, held_out, seed_solvers, seed, dialect, resumed
///     generation    the counts so far: generation, tasks, solved, offspring, runs, saved
///     improved      a better `solver` of `task`: change, score, hash, origin, source, saved
///     note          something worth knowing: text
///     save-delayed  the archive cannot be written at the moment: text
///
/// `change` is `simpler`, `closer` or `solved`. `saved` says whether the archive has the solver;
/// it is `None` without an archive.
///
///     >>> import batt
///     >>> for event in batt.evolve(batt.Tasks.embedded()[:2], generations=1, offspring=50):
///     ...     if event.kind == "started":
///     ...         print(event.facts["tasks"])
///     2
#[pyclass(frozen, module = "batt", name = "EvolveEvent")]
pub struct PyEvolveEvent {
    kind: &'static str,
    task: Option<String>,
    solver: Option<Solver>,
    /// The other facts, by name.
    facts: Json,
}

/// Searches for new solvers of tasks.
#[pyfunction]
#[pyo3(signature = (
    tasks, solvers=None, archive=None, *, time=None, generations=None, only=None, hold_out=0,
    seed=None, islands=None, population=None, offspring=None, device="auto", jobs=None,
    resume=false, report_tests=false
))]
#[allow(
    clippy::too_many_arguments,
    reason = "these are keyword arguments in Python"
)]
pub fn evolve(
    py: Python<'_>,
    tasks: &Bound<'_, PyAny>,
    solvers: Option<&Bound<'_, PyAny>>,
    archive: Option<PathBuf>,
    #[pyo3(from_py_with = numbers::seconds_or_none)] time: Option<Duration>,
    #[pyo3(from_py_with = numbers::whole_or_none)] generations: Option<u64>,
    #[pyo3(from_py_with = tasks::ids_or_none)] only: Option<Vec<String>>,
    #[pyo3(from_py_with = numbers::whole)] hold_out: usize,
    #[pyo3(from_py_with = numbers::whole_or_none)] seed: Option<u64>,
    #[pyo3(from_py_with = numbers::whole_or_none)] islands: Option<usize>,
    #[pyo3(from_py_with = numbers::whole_or_none)] population: Option<usize>,
    #[pyo3(from_py_with = numbers::whole_or_none)] offspring: Option<usize>,
    device: &str,
    #[pyo3(from_py_with = numbers::whole_or_none)] jobs: Option<usize>,
    resume: bool,
    report_tests: bool,
) -> PyResult<PyEvolution> {
    let positive = |name: &str, number: Option<usize>| match number {
        None => Ok(None),
        Some(number) => NonZeroUsize::new(number).map(Some).ok_or_else(|| {
            let message = format!("{name} is 0");
            errors::request(py, &message, "leave it out for the default")
        }),
    };
    let default = EvolveOptions::default();
    let options = EvolveOptions {
        tasks: only.unwrap_or_default(),
        hold_out: HoldOut::Exactly(hold_out),
        archive,
        resume,
        seed,
        generations,
        report_tests,
        islands: positive("islands", islands)?.unwrap_or(default.islands),
        population: positive("population", population)?
            .map_or(default.population, NonZeroUsize::get),
        offspring: positive("offspring", offspring)?,
        threads: devices::threads(py, jobs)?,
        ..default
    };
    let mut evolve = Evolve::new(&tasks::extract(tasks)?)
        .options(options)
        .device(devices::choice(py, device)?);
    if let Some(solvers) = solvers {
        evolve = evolve.solvers(&solvers::extract(solvers)?);
    }
    Ok(PyEvolution {
        state: Mutex::new(State::Ready(Box::new(evolve), time)),
        tasks: OnceLock::new(),
    })
}

#[pymethods]
impl PyEvolution {
    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyEvolveEvent>> {
        loop {
            // Another thread may hold the lock while it waits.
            let next = errors::guarded(py, || self.poll())?;
            match next.or_raise(py)? {
                Poll::Ready(Some(event)) => return Ok(Some(self.event(event))),
                Poll::Ready(None) => {
                    self.finish(py)?;
                    return Ok(None);
                }
                Poll::Pending => {
                    if let Err(interrupt) = py.check_signals() {
                        // Everything found is saved before the exception leaves.
                        self.cancel(py);
                        self.finish(py)?;
                        return Err(interrupt);
                    }
                }
            }
        }
    }

    /// Ends the search. What it has found is saved; the iterator ends after the events that are on
    /// their way.
    fn cancel(&self, py: Python<'_>) {
        py.detach(|| {
            if let State::Running(run) = &*self.lock() {
                run.cancel();
            }
        });
    }

    /// Goes through all events and returns the report.
    fn run<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        while self.__next__(py)?.is_some() {}
        self.report(py)
    }

    /// Returns the report of an evolution that has ended.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ended = py.detach(|| match &*self.lock() {
            State::Ended(report) => Ok(report.clone()),
            State::Failed => Err(("the evolution has failed", "start another")),
            _ => Err((
                "the evolution has not ended",
                "go through its events, or call run()",
            )),
        });
        match ended {
            Ok(report) => json::to_python(py, &report),
            Err((message, hint)) => Err(errors::request(py, message, hint)),
        }
    }

    fn __enter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.cancel(py);
        self.finish(py)
    }

    fn __repr__(&self, py: Python<'_>) -> &'static str {
        py.detach(|| match &*self.lock() {
            State::Ready(..) => "<Evolution | not begun>",
            State::Running(_) => "<Evolution | running>",
            State::Ended(_) => "<Evolution | ended>",
            State::Failed => "<Evolution | failed>",
        })
    }
}

impl PyEvolution {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the evolution if it has not begun, and waits a moment for its next event.
    fn poll(&self) -> batt::Result<Poll<Option<EvolveEvent>>> {
        let mut state = self.lock();
        if let State::Ready(..) = &*state {
            let State::Ready(evolve, time) = std::mem::replace(&mut *state, State::Failed) else {
                unreachable!("the state was looked at");
            };
            let control = match time {
                Some(time) => Control::new().deadline_in(time),
                None => Control::new(),
            };
            *state = State::Running(Box::new(evolve.start(&control)?));
        }
        match &mut *state {
            State::Running(run) => Ok(run.poll(PAUSE)),
            _ => Ok(Poll::Ready(None)),
        }
    }

    /// Waits for the end and keeps the report.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let ended = errors::guarded(py, || {
            let mut state = self.lock();
            match std::mem::replace(&mut *state, State::Failed) {
                State::Running(run) => run.finish().map(|report| {
                    *state = State::Ended(of_report(&report));
                }),
                other => {
                    *state = other;
                    Ok(())
                }
            }
        })?;
        ended.or_raise(py)
    }

    /// Returns an event as a Python object.
    fn event(&self, event: EvolveEvent) -> PyEvolveEvent {
        let (mut task, mut solver) = (None, None);
        let (kind, facts) = match event {
            EvolveEvent::Started(start) => (
                "started",
                json!({
                    "tasks": start.tasks,
                    "held_out": start.held_out,
                    "seed_solvers": start.seed_solvers,
                    "seed": start.seed,
                    "dialect": start.dialect.name(),
                    "resumed": start.resumed.is_some(),
                }),
            ),
            EvolveEvent::Note(note) => ("note", json!({"text": note})),
            EvolveEvent::SaveDelayed(why) => ("save-delayed", json!({"text": why})),
            EvolveEvent::Generation(progress) => {
                self.tasks.get_or_init(|| Arc::clone(&progress.tasks));
                ("generation", of_progress(&progress))
            }
            EvolveEvent::Improved { improvement, saved } => {
                let mut facts = of_solver(&improvement.best);
                facts["change"] = json!(match improvement.change {
                    Change::Simpler => "simpler",
                    Change::Closer => "closer",
                    Change::Solved => "solved",
                });
                facts["saved"] = json!(saved);
                // The first event of a generation comes before the first improvement.
                let tasks = self.tasks.get();
                task = tasks.map(|tasks| tasks[improvement.task].id.clone());
                solver = Solver::new(&improvement.best.program).ok();
                ("improved", facts)
            }
            // An event of a later version of the library.
            _ => ("other", json!({})),
        };
        PyEvolveEvent {
            kind,
            task,
            solver,
            facts,
        }
    }
}

fn of_solver(best: &BestSolver) -> Json {
    json!({
        "hash": best.hash,
        "origin": best.origin,
        "source": best.program.to_string(),
        "score": of_score(&best.score),
    })
}

/// The counts of an evolution so far.
fn of_progress(progress: &EvolveProgress) -> Json {
    let solved = progress
        .best
        .iter()
        .flatten()
        .filter(|best| best.score.is_solved());
    json!({
        "generation": progress.generation,
        "tasks": progress.tasks.len(),
        "solved": solved.count(),
        "offspring": progress.tally.offspring,
        "runs": progress.tally.runs,
        "saved": progress.saved,
    })
}

fn of_report(report: &EvolveReport) -> Json {
    let progress = &report.progress;
    let tasks = progress.tasks.iter().zip(&progress.best).enumerate();
    let best = tasks.filter_map(|(at, (task, best))| {
        let best = best.as_ref()?;
        let mut entry = of_solver(best);
        entry["task"] = json!(task.id);
        entry["solved"] = json!(best.score.is_solved());
        entry["right_on_tests"] = match report.answer(at) {
            Some(answer) => json!(answer == TestAnswer::Right),
            None => Json::Null,
        };
        Some(entry)
    });
    let mut json = of_progress(progress);
    json["best"] = best.collect();
    json["stop"] = json!(match report.stop {
        StopReason::Done => "done",
        StopReason::Generations => "generations",
        StopReason::Deadline => "deadline",
        StopReason::Cancelled => "cancelled",
        StopReason::SaveFailed => "save-failed",
    });
    json["seconds"] = json!(progress.tally.time.as_secs_f64());
    json["archive"] = json!(progress.archive);
    json["save_error"] = json!(report.save_error.as_ref().map(ToString::to_string));
    json["right_on_tests"] = json!(report.right_on_tests());
    json
}

/// The kinds of events.
const KINDS: [&str; 6] = [
    "started",
    "generation",
    "improved",
    "note",
    "save-delayed",
    "other",
];

#[pymethods]
impl PyEvolveEvent {
    /// Restores a pickled event.
    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        kind: &str,
        task: Option<String>,
        solver: Option<&PySolver>,
        facts: &str,
    ) -> PyResult<PyEvolveEvent> {
        let kind = KINDS.into_iter().find(|known| *known == kind);
        Ok(PyEvolveEvent {
            kind: kind.ok_or_else(|| stored::damaged(py))?,
            task,
            solver: solver.map(|solver| solver.0.clone()),
            facts: serde_json::from_str(facts).map_err(|_| stored::damaged(py))?,
        })
    }

    #[allow(
        clippy::type_complexity,
        reason = "the arguments are those of _restore"
    )]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Pickled<'py, (&'static str, Option<String>, Option<PySolver>, String)>> {
        let restore = py.get_type::<PyEvolveEvent>().getattr("_restore")?;
        let facts = self.facts.to_string();
        Ok((
            restore,
            (self.kind, self.task.clone(), self.solver(), facts),
        ))
    }

    /// `started`, `generation`, `improved`, `note` or `save-delayed`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.kind
    }

    /// The id of the task that has a better solver.
    #[getter]
    fn task(&self) -> Option<&str> {
        self.task.as_deref()
    }

    /// The better solver.
    #[getter]
    fn solver(&self) -> Option<PySolver> {
        self.solver.clone().map(PySolver)
    }

    /// The other facts of the event, by name.
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.facts)
    }

    fn __repr__(&self) -> String {
        let Json::Object(facts) = &self.facts else {
            return format!("<EvolveEvent {}>", self.kind);
        };
        let shown = facts
            .iter()
            .filter(|(_, fact)| fact.is_number() || fact.is_boolean());
        let task = self.task.iter().map(|task| format!("task={task}"));
        let facts = task.chain(shown.map(|(name, fact)| format!("{name}={fact}")));
        format!(
            "<EvolveEvent {} | {}>",
            self.kind,
            facts.collect::<Vec<_>>().join(" ")
        )
    }
}
