//! The native part of the Python package `batt`.
//!
//! ```text
//!   batt (Python): documentation, conversions, progress bars, notebooks
//!     └─ batt._native (this crate): classes around the types of the library
//!          └─ door: long work on a thread of its own, without the GIL
//!               └─ batt (Rust)
//! ```

mod archive;
mod card;
mod devices;
mod door;
mod dsl;
mod errors;
mod evolve;
mod findings;
mod grids;
mod hints;
mod items;
mod json;
mod kept;
mod limits;
mod mega;
mod numbers;
mod parts;
mod pictures;
mod run;
mod show;
mod solver;
mod solvers;
mod stored;
mod submission;
mod table;
mod tasks;
mod trace;
mod values;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Serves the Rust code of the package. Evolution allocates much on all cores, and where memory runs
/// out, the process ends with a message.
#[global_allocator]
static ALLOCATOR: batt_cli::Allocator = batt_cli::Allocator;

/// Runs the command `batt` and returns its exit code. The first argument is the name of the program.
#[pyfunction]
fn command(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| batt_cli::run(args))
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::archive::{PyArchive, PyArchiveEntry};
    #[pymodule_export]
    use crate::card::{_batts, PyBatt, card};
    #[pymodule_export]
    use crate::command;
    #[pymodule_export]
    use crate::devices::devices;
    #[pymodule_export]
    use crate::dsl::{Function, Primitive};
    #[pymodule_export]
    use crate::evolve::{PyEvolution, PyEvolveEvent, evolve};
    #[pymodule_export]
    use crate::findings::PyDiagnostic;
    #[pymodule_export]
    use crate::grids::PyGrid;
    #[pymodule_export]
    use crate::limits::PyLimits;
    #[pymodule_export]
    use crate::mega::{PyMegaResult, PyMegaResults, mega};
    #[pymodule_export]
    use crate::parts::{_rows, _together, merge_results};
    #[pymodule_export]
    use crate::pictures::{PyPicture, picture};
    #[pymodule_export]
    use crate::run::{PyResult1, PyResults, run};
    #[pymodule_export]
    use crate::solver::PySolver;
    #[pymodule_export]
    use crate::solvers::PySolvers;
    #[pymodule_export]
    use crate::submission::{PySubmission, score, submit};
    #[pymodule_export]
    use crate::tasks::{PyTask, PyTasks};
    #[pymodule_export]
    use crate::trace::{PyTrace, PyTraceStep};
    #[pymodule_export]
    use crate::values::ReturnedFunction;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
