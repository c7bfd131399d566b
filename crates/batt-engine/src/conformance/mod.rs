//! Checking the engine against results that the original Python computed.
//!
//! A vectors directory holds `ops/<function>.jsonl` (calls of one primitive) and
//! `programs/NNN.py` with `NNN.jsonl` (what those programs return); the same below `tokpidjin/`, in that
//! dialect; and `batts/NN.py` with `NN.jsonl`. A case passes when the value is
//! the same, kinds and set order included, or when both sides fail.

mod batts;
mod cases;
mod device;
mod files;
mod programs;

use std::fmt;
use std::path::{Path, PathBuf};

use batt_dsl::Dialect;

pub use self::cases::expression;
pub use self::device::{DeviceReport, Unfinished, run_on_device};

use self::cases::{Case, Cpu};
use self::files::listed;

/// What a whole directory came to.
#[derive(Default, Debug)]
pub struct Report {
    /// Cases with the expected outcome.
    pub passed: usize,
    /// Cases with another outcome, in the order met.
    pub differences: Vec<Difference>,
    /// Failing cases on both sides whose exception class is not the expected one: passed, but counted, as a run that fails
    /// is one that fails. Of those we know there is none.
    pub other_class: usize,
}

/// A case whose outcome is not the expected one.
#[derive(Clone, Debug)]
pub struct Difference {
    /// File and line of the case.
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// What was run.
    pub what: String,
    /// The expected outcome, encoded.
    pub expected: String,
    /// Our outcome, encoded.
    pub got: String,
}

/// A vectors directory that cannot be read as one.
#[derive(Debug, thiserror::Error)]
pub enum VectorsError {
    /// A file or directory could not be read.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is nothing to run.
    #[error("{0}: no vectors here; expected ops/*.jsonl, programs/*.py or batts/*.py with *.jsonl")]
    Empty(PathBuf),
    /// There is nothing of the primitive that was asked for.
    #[error("{0}: no vectors of '{1}'; expected ops/{1}.jsonl or tokpidjin/ops/{1}.jsonl")]
    NoOp(PathBuf, String),
    /// A case that cannot be understood.
    #[error("{path}:{line}: {problem}")]
    Case {
        /// File.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
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

/// Runs a vectors directory on the CPU; if `ops` names any, then of it the calls of those primitives alone. `progress`
/// hears of every file that is finished.
pub fn run_directory(
    dir: &Path,
    ops: &[String],
    mut progress: impl FnMut(&Path, &Report),
) -> Result<Report, VectorsError> {
    let mut report = Report::default();
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
    /// The files of a directory, or those of some primitives.
    fn all(dir: &Path, ops: &[String]) -> Result<Vec<VectorFile>, VectorsError> {
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
