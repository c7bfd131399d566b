//! A temporary folder with an archive, and solvers to save.

use std::path::PathBuf;

use batt_arc::Score;
use batt_archive::{Archive, ArchiveError, ArchiveFinding, NewEntry, RunId, RunInfo};
use batt_lang::card::structural_hash;
use batt_lang::{Program, SolverFile};
use tempfile::TempDir;

/// A temporary folder.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Creates the archive of the folder, and begins a run.
    pub fn archive(&self) -> (Archive, RunId) {
        let mut archive = Archive::open(&self.path("batt.sqlite")).unwrap();
        let run = archive.begin_run(&info(1)).unwrap();
        (archive, run)
    }
}

/// Returns the findings of a check that accepts every checkpoint.
pub fn findings(archive: &Archive) -> Result<Vec<ArchiveFinding>, ArchiveError> {
    archive.check(|_| Ok(()))
}

#[track_caller]
pub fn assert_in_order(archive: &Archive) {
    assert_eq!(findings(archive).unwrap(), []);
}

pub fn info(seed: u64) -> RunInfo {
    RunInfo {
        seed,
        settings: "{}".into(),
        version: "0.1.0".into(),
        dataset: "d".into(),
    }
}

pub fn program(text: &str) -> Program {
    let file = SolverFile::parse(text, "test.py");
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    file.programs[0].clone()
}

/// Returns a different solver for every number.
pub fn numbered(n: u64) -> Program {
    program(&format!("def f(I):\n    return replace(I, 0, {n})\n"))
}

pub fn hash(n: u64) -> String {
    structural_hash(&numbered(n))
}

/// Returns a possible score. Each solved demonstration of four counts a quarter; `more` is spread
/// over the others.
pub fn score(solved: u32, more: u32, size: u32) -> Score {
    Score {
        demos_solved: solved,
        demos: 4,
        closeness: match solved {
            4 => Score::WHOLE,
            solved => (solved * (Score::WHOLE / 4) + more).min(Score::WHOLE - 1),
        },
        size,
        cost: 100,
    }
}

/// Returns solver `n`, tried on a task.
pub fn found(n: u64, task: &str, score: Score) -> NewEntry {
    NewEntry {
        program: numbered(n),
        parents: vec![],
        mutation: "seed".into(),
        task: task.into(),
        task_hash: "v1".into(),
        score,
        outputs: n,
    }
}

/// Returns solver `n`, a child of other solvers, tried on a task.
pub fn child(n: u64, parents: &[u64], task: &str, score: Score) -> NewEntry {
    NewEntry {
        parents: parents.iter().map(|&n| hash(n)).collect(),
        mutation: "constant".into(),
        ..found(n, task, score)
    }
}
