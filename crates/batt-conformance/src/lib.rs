//! Checks the engine against results that CPython computed with the original library.
//!
//! A vectors directory holds
//!
//! - `ops/<function>.jsonl`: calls of one primitive
//! - `programs/NNN.py` with `NNN.jsonl`: programs and their results
//! - `batts/NN.py` with `NN.jsonl`: batts and their two lists
//!
//! The folder `tokpidjin/` contains the first two again, in that dialect. A case passes if the
//! value is the same, including kinds and set order, or if both sides fail.

mod batts;
mod cases;
mod device;
mod files;
mod programs;

use std::fmt;
use std::path::{Path, PathBuf};

use batt_dsl::Dialect;

pub use self::device::{DeviceConformance, Unfinished, check_on_device};

use self::cases::{Case, Cpu};
use self::files::listed;

/// The outcome of a vectors directory.
#[derive(Default, Debug)]
pub struct Conformance {
    /// The number of cases with the expected outcome.
    pub passed: usize,
    /// Cases with another outcome, in the order found.
    pub differences: Vec<Difference>,
    /// The number of cases that fail on both sides, but with different exception classes. They
    /// count as passed, because callers only see that a run failed. No known vector is such a case.
    pub other_class: usize,
}

/// A case whose outcome is not the expected one.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The file of the case.
    pub file: PathBuf,
    /// The line number, from 1.
    pub line: usize,
    /// The description of the case.
    pub what: String,
    /// The expected outcome, as JSON.
    pub expected: String,
    /// The outcome of this engine, as JSON.
    pub got: String,
}

/// An error in a vectors directory.
#[derive(Debug, thiserror::Error)]
pub enum VectorsError {
    /// A file or directory cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The directory does not exist.
    #[error("{0}: no such folder")]
    Missing(PathBuf),
    /// The directory has no vectors.
    #[error("{0}: no vectors here; expected ops/*.jsonl, programs/*.py or batts/*.py with *.jsonl")]
    Empty(PathBuf),
    /// The directory contains no vectors of a requested primitive.
    #[error("{0}: no vectors of '{1}'; expected ops/{1}.jsonl or tokpidjin/ops/{1}.jsonl")]
    NoOp(PathBuf, String),
    /// A malformed case.
    #[error("{path}:{line}: {problem}")]
    Case {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
}

impl VectorsError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            VectorsError::Io { .. } => "check that the file can be read",
            VectorsError::Missing(_) => "check the path",
            VectorsError::Empty(_) => "name the folder that holds ops/ or programs/",
            VectorsError::NoOp(..) => "`batt ops` lists the primitives",
            VectorsError::Case { .. } => "download the vectors again, or correct that line",
        }
    }
}

/// Cases that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Primitives of a dialect.
    Ops(Dialect),
    /// Programs of a dialect.
    Programs(Dialect),
    /// Batts.
    Batts,
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Group::Ops(dialect) => write!(f, "{} primitives", dialect.name()),
            Group::Programs(dialect) => write!(f, "{} programs", dialect.name()),
            Group::Batts => f.write_str("batts"),
        }
    }
}

/// Checks a vectors directory on the CPU. If `ops` names primitives, only their calls are checked.
/// Calls `progress` after each file.
pub fn check(
    dir: &Path,
    ops: &[String],
    mut progress: impl FnMut(&Path, &Conformance),
) -> Result<Conformance, VectorsError> {
    let mut report = Conformance::default();
    let mut cpu = Cpu::default();
    for file in VectorFile::all(dir, ops)? {
        for case in file.cases()? {
            case.compare(case.run(&mut cpu), &mut report)?;
        }
        progress(&file.path, &report);
    }
    Ok(report)
}

/// A file of cases.
struct VectorFile {
    path: PathBuf,
    group: Group,
}

impl VectorFile {
    /// Returns the files of a directory, or only those of some primitives.
    fn all(dir: &Path, ops: &[String]) -> Result<Vec<VectorFile>, VectorsError> {
        if !dir.exists() {
            return Err(VectorsError::Missing(dir.to_owned()));
        }
        let mut files = Vec::new();
        let mut add = |folder: PathBuf, extension: &str, group: Group| {
            let found = listed(&folder, extension)?.into_iter();
            let wanted = found.filter(|path| {
                let named = ops.iter().any(|op| path.file_stem() == Some(op.as_ref()));
                ops.is_empty() || named && matches!(group, Group::Ops(_))
            });
            files.extend(wanted.map(|path| VectorFile { path, group }));
            Ok(())
        };
        let dialects = [
            (dir.to_owned(), Dialect::ArcDsl),
            (dir.join("tokpidjin"), Dialect::Tokpidjin),
        ];
        for (dir, dialect) in &dialects {
            add(dir.join("ops"), "jsonl", Group::Ops(*dialect))?;
            add(dir.join("programs"), "py", Group::Programs(*dialect))?;
        }
        add(dir.join("batts"), "py", Group::Batts)?;
        let is_there = |op: &str| {
            let mut files = files.iter();
            files.any(|file: &VectorFile| file.path.file_stem() == Some(op.as_ref()))
        };
        if let Some(op) = ops.iter().find(|op| !is_there(op)) {
            return Err(VectorsError::NoOp(dir.to_owned(), op.clone()));
        }
        match files.is_empty() {
            true => Err(VectorsError::Empty(dir.to_owned())),
            false => Ok(files),
        }
    }

    fn cases(&self) -> Result<Vec<Case>, VectorsError> {
        match self.group {
            Group::Ops(dialect) => programs::op_cases(&self.path, dialect),
            Group::Programs(dialect) => programs::program_cases(&self.path, dialect),
            Group::Batts => batts::batt_cases(&self.path),
        }
    }
}
