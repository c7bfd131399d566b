//! The archive of solvers: one SQLite file.
//!
//! ```
//! use batt::archive::{Archive, ExportOptions, Import};
//! use batt::{Control, Solvers, Tasks};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("batt.sqlite");
//! let mut archive = Archive::open(&path)?;
//! let import = Import::new(&Tasks::embedded(), &Solvers::embedded());
//! let report = import.run(&mut archive, &Control::new())?;
//! assert_eq!(report.solving, 65);
//! assert_eq!(archive.export(&ExportOptions::default())?.solvers.len(), 65);
//! assert!(batt::archive::check(&archive)?.is_empty());
//! # Ok::<(), batt::Error>(())
//! ```

use std::num::NonZeroUsize;
use std::path::Path;

use batt_engine::ParamRole;
use batt_evolve::{ImportCandidate, ImportOptions, check_checkpoint, read_original};
use batt_lang::card::canonical;

pub use batt_archive::{
    Ancestor, Archive, ArchiveEntry, ArchiveError, ArchiveFinding, ArchivedCandidates, ArchivedRun,
    ArchivedSolver, Checkpoint, Export, ExportOptions, GcOptions, GcReport, Kept, Lookup,
    MergeReport, NewEntry, Retention, RunId, RunInfo, SHORTEST_PREFIX, Saved, SolverSummary,
    TaskSummary,
};
pub use batt_evolve::{ImportReport, OriginalError, OriginalSkips};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::solvers::Solvers;
use crate::tasks::Tasks;

/// Checks everything in an archive, including checkpoints, and returns the findings.
pub fn check(archive: &Archive) -> Result<Vec<ArchiveFinding>> {
    Ok(archive.check(check_checkpoint)?)
}

/// A request to try solvers on their tasks and save them in an archive.
#[derive(Clone, Debug)]
pub struct Import {
    tasks: Tasks,
    candidates: Vec<ImportCandidate>,
    options: ImportOptions,
    without_task: Vec<String>,
    not_solvers: Vec<String>,
}

impl Import {
    /// Creates an import of the solvers whose names tell their tasks.
    pub fn new(tasks: &Tasks, solvers: &Solvers) -> Import {
        let mut import = Import::empty(tasks);
        for (program, _) in solvers.functions() {
            let is_solver = ParamRole::of(program.params()).is_some();
            let canonical = is_solver.then(|| canonical(program).ok()).flatten();
            match (canonical, tasks.position_of(program.name())) {
                (None, _) => import.not_solvers.push(program.name().to_owned()),
                (Some(_), None) => import.without_task.push(program.name().to_owned()),
                (Some(program), Some(task)) => import.candidates.push(ImportCandidate {
                    program,
                    task,
                    origin: "import".to_owned(),
                }),
            }
        }
        let files = solvers.files().iter();
        import.from(files.map(|file| file.source.name().to_owned()).collect());
        import
    }

    /// Creates an import of the solvers in the folder of the original system.
    pub fn original(tasks: &Tasks, folder: impl AsRef<Path>) -> Result<(Import, OriginalSkips)> {
        let folder = folder.as_ref();
        let (candidates, skips) = read_original(folder, tasks).map_err(|error| match error {
            OriginalError::Read { path, source } => Error::file("read", &path, source),
            other => Error::request(other, "name the folder in which the original system ran"),
        })?;
        let mut import = Import::empty(tasks);
        import.candidates = candidates;
        import.from(vec![folder.display().to_string()]);
        Ok((import, skips))
    }

    fn empty(tasks: &Tasks) -> Import {
        Import {
            tasks: tasks.clone(),
            candidates: Vec::new(),
            options: ImportOptions::default(),
            without_task: Vec::new(),
            not_solvers: Vec::new(),
        }
    }

    /// Records the sources of the solvers.
    fn from(&mut self, from: Vec<String>) {
        let settings = serde_json::json!({"command": "archive import", "from": from});
        self.options.info = RunInfo {
            seed: 0,
            settings: settings.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dataset: format!("{:016x}", self.tasks.shown_hash()),
        };
    }

    /// Sets which solvers of a task the archive keeps.
    pub fn retention(mut self, retention: Retention) -> Import {
        self.options.retention = retention;
        self
    }

    /// Sets the number of threads; `None`, the default, uses one per core.
    pub fn threads(mut self, threads: Option<NonZeroUsize>) -> Import {
        self.options.threads = threads;
        self
    }

    /// Returns the number of solvers to try.
    pub fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Returns whether there are no solvers to try.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Returns the names of solvers that belong to none of the tasks.
    pub fn without_task(&self) -> &[String] {
        &self.without_task
    }

    /// Returns the names of functions that take neither a grid nor `(S, I, C)`.
    pub fn not_solvers(&self) -> &[String] {
        &self.not_solvers
    }

    /// Runs every solver on the demonstrations of its task and saves it with its score.
    pub fn run(&self, archive: &mut Archive, control: &Control) -> Result<ImportReport> {
        let total = self.candidates.len();
        Ok(batt_evolve::import(
            archive,
            self.tasks.tasks(),
            &self.candidates,
            &self.options,
            control.token(),
            &mut |done| control.report(done, total),
        )?)
    }
}
