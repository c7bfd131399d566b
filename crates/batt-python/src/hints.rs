//! Hints in the words of Python: the library's hints name the options of the command.

use std::path::Path;

use batt::archive::ArchiveError;
use batt::evolve::EvolveError;
use batt::mega::ResultsError;
use batt::{DatasetError, Diagnostic, Error};

/// Words of the command, each with those of the package. Longer words come first.
const WORDS: &[(&str, &str)] = &[
    (
        "`batt evolve` and `batt archive import`",
        "batt.evolve and Archive.add",
    ),
    ("`batt archive gc`", "Archive.gc()"),
    ("`batt archive ls`", "Archive.tasks()"),
    ("`batt device`", "batt.devices()"),
    ("--device cpu", "device='cpu'"),
    ("--archive FILE", "archive=FILE"),
    ("--all-pairs", "all_pairs=True"),
    ("--hold-out", "hold_out"),
    ("--islands ", "islands="),
    ("--count", "count"),
    ("--dialect", "dialect"),
    ("--donor", "donor"),
    ("--guarded", "guarded"),
    ("--solvers", "solvers"),
    ("--step", "step"),
];

/// Words about the file of a mega-batch.
const RESULTS: &[(&str, &str)] = &[
    ("--resume", "existing='resume'"),
    ("--overwrite", "existing='overwrite'"),
    ("--output", "output"),
    (", or - for stdout", ""),
];

/// Words about an evolution.
const EVOLVE: &[(&str, &str)] = &[("leave --resume out", "leave resume=True out")];

/// Returns the hint of an error.
pub fn in_python(error: &Error) -> String {
    let own = match error {
        Error::Results(_) => RESULTS,
        Error::Evolve(_) => EVOLVE,
        _ => &[],
    };
    let words = own.iter().chain(WORDS);
    words.fold(error.hint(), |hint, (from, to)| hint.replace(from, to))
}

/// Returns a finding with its hint in the words of Python.
pub fn of_finding(finding: &Diagnostic) -> Diagnostic {
    const OPTION: &str = "run with --dialect ";
    let mut finding = finding.clone();
    if let Some((before, dialect)) = finding.hint.as_deref().and_then(|h| h.split_once(OPTION)) {
        finding.hint = Some(format!("{before}pass dialect='{dialect}'"));
    }
    finding
}

/// Returns the file that an error is about, and the line.
pub fn place(error: &Error) -> (Option<&Path>, Option<usize>) {
    match error {
        Error::Tasks(error) => of_tasks(error),
        Error::Archive(error) | Error::Evolve(EvolveError::Unsaved(error)) => {
            (of_archive(error), None)
        }
        Error::Evolve(EvolveError::Checkpoint { path, .. }) => (Some(path), None),
        Error::Results(error) => of_results(error),
        _ => (None, None),
    }
}

fn of_tasks(error: &DatasetError) -> (Option<&Path>, Option<usize>) {
    match error {
        DatasetError::Json { path, line, .. } => (Some(path), Some(*line)),
        DatasetError::Io { path, .. }
        | DatasetError::FileTooLarge { path, .. }
        | DatasetError::NoTaskFile { path, .. }
        | DatasetError::Task { path, .. }
        | DatasetError::Duplicate { second: path, .. }
        | DatasetError::EmptyFolder { path, .. } => (Some(path), None),
    }
}

fn of_archive(error: &ArchiveError) -> Option<&Path> {
    match error {
        ArchiveError::Missing { path }
        | ArchiveError::NoFolder { path }
        | ArchiveError::NotMade { path }
        | ArchiveError::NotAFile { path }
        | ArchiveError::NotAnArchive { path, .. }
        | ArchiveError::Newer { path, .. }
        | ArchiveError::OldAndReadOnly { path, .. }
        | ArchiveError::Damaged { path, .. }
        | ArchiveError::Busy { path, .. }
        | ArchiveError::DiskFull { path }
        | ArchiveError::OutOfMemory { path }
        | ArchiveError::ReadOnly { path }
        | ArchiveError::Io { path, .. }
        | ArchiveError::Sqlite { path, .. }
        | ArchiveError::NoTask { path, .. } => Some(path),
        _ => None,
    }
}

fn of_results(error: &ResultsError) -> (Option<&Path>, Option<usize>) {
    match error {
        ResultsError::Damaged { path, line, .. } => (Some(path), Some(*line)),
        ResultsError::NotAFile { path }
        | ResultsError::IsAnInput { path }
        | ResultsError::Unfinished { path }
        | ResultsError::Busy { path }
        | ResultsError::NoSettings { path } => (Some(path), None),
        _ => (None, None),
    }
}
