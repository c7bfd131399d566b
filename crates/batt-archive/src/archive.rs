//! Opening an archive, and its queries.

use std::path::{Path, PathBuf};
use std::time::Duration;

use batt_arc::Score;
use batt_dsl::Dialect;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::connect::{Absent, PATIENCE, connect};
use crate::error::ArchiveError;
use crate::records::{
    ArchiveEntry, ArchivedRun, ArchivedSolver, Checkpoint, RunId, RunInfo, SolverSummary,
    TaskSummary,
};
use crate::text::is_hash_prefix;

/// Now, as it is stored.
pub(crate) const NOW: &str = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";

/// An archive of solvers: one SQLite file.
///
/// Several processes may use one file at the same time; writers wait for each other. What a call
/// has written when it returns is on the disk: it survives the end of the process at any moment, by
/// whatever means, and the loss of power as far as the disk keeps its word. A call that fails has
/// changed nothing.
///
/// While it is open there are two more files beside it, `-wal` and `-shm`. They belong to it: copy
/// or move all three, or close it first. It must not lie on a network drive that several machines
/// write to.
#[derive(Debug)]
pub struct Archive {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
    writable: bool,
    patience: Duration,
}

impl Archive {
    /// Opens an archive, or creates it. An archive of an earlier version is brought up to date.
    pub fn open(path: &Path) -> Result<Archive, ArchiveError> {
        Archive::connect(path, Absent::Create)
    }

    /// Opens an existing archive. One of an earlier version is brought up to date; one that cannot
    /// be written can still be read.
    pub fn open_existing(path: &Path) -> Result<Archive, ArchiveError> {
        Archive::connect(path, Absent::Refuse)
    }

    fn connect(path: &Path, absent: Absent) -> Result<Archive, ArchiveError> {
        let (db, writable) = connect(path, absent)?;
        Ok(Archive {
            db,
            path: path.to_owned(),
            writable,
            patience: PATIENCE,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the archive can be written.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Sets how long to wait for another process that writes; a minute by default.
    pub fn set_patience(&mut self, patience: Duration) -> Result<(), ArchiveError> {
        self.db.busy_timeout(patience).map_err(|e| self.of(e))?;
        self.patience = patience;
        Ok(())
    }

    /// Limits the size of the file in bytes while it is open here. A save that needs more fails as
    /// on a full disk.
    pub fn limit_size(&mut self, bytes: u64) -> Result<(), ArchiveError> {
        let page = self.rows("PRAGMA page_size", [], |row| row.get::<_, i64>(0))?;
        let page = page.first().map_or(4096, |&page| page.max(1) as u64);
        let pages = i64::try_from(bytes / page).unwrap_or(i64::MAX).max(1);
        self.db
            .pragma_update(None, "max_page_count", pages)
            .map_err(|e| self.of(e))
    }

    /// Records that a run begins. Runs are never removed.
    pub fn begin_run(&mut self, run: &RunInfo) -> Result<RunId, ArchiveError> {
        let insert = format!(
            "INSERT INTO runs (seed, settings, version, dataset, started) VALUES (?, ?, ?, ?, {NOW})"
        );
        let values = params![run.seed as i64, run.settings, run.version, run.dataset];
        self.change(|change| {
            change.execute(&insert, values)?;
            Ok(RunId(change.last_insert_rowid()))
        })
    }

    /// The runs, the last one first.
    pub fn runs(&self) -> Result<Vec<ArchivedRun>, ArchiveError> {
        let query = "
            SELECT id, seed, settings, version, dataset, started, generation
            FROM runs LEFT JOIN checkpoints ON checkpoints.run = runs.id
            ORDER BY id DESC";
        self.rows(query, [], |row| {
            let generation: Option<i64> = row.get(6)?;
            Ok(ArchivedRun {
                id: RunId(row.get(0)?),
                info: RunInfo {
                    seed: row.get::<_, i64>(1)? as u64,
                    settings: row.get(2)?,
                    version: row.get(3)?,
                    dataset: row.get(4)?,
                },
                started: row.get(5)?,
                generation: generation.map(|n| n as u64),
            })
        })
    }

    /// Returns the last checkpoint of a run.
    pub fn checkpoint(&self, run: RunId) -> Result<Option<Checkpoint>, ArchiveError> {
        let query = "SELECT generation, state FROM checkpoints WHERE run = ?";
        let row = self.db.query_row(query, [run.0], |row| {
            Ok(Checkpoint {
                generation: row.get::<_, i64>(0)? as u64,
                state: row.get(1)?,
            })
        });
        row.optional().map_err(|e| self.of(e))
    }

    /// The best solvers of a task, best first; of all its versions, or of one.
    pub fn best(
        &self,
        task: &str,
        task_hash: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ArchiveEntry>, ArchiveError> {
        let query = format!(
            "{ENTRIES} WHERE task = ?1 AND (?2 IS NULL OR task_hash = ?2)
             ORDER BY {BEST_FIRST}, task_hash LIMIT ?3"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.entries(&query, params![task, task_hash, limit])
    }

    /// The entries of a solver, by task.
    pub fn entries_of(&self, hash: &str) -> Result<Vec<ArchiveEntry>, ArchiveError> {
        let query = format!("{ENTRIES} WHERE solvers.hash = ? ORDER BY task, task_hash");
        self.entries(&query, [hash])
    }

    /// The tasks that have solvers, by id.
    pub fn tasks(&self) -> Result<Vec<TaskSummary>, ArchiveError> {
        let query = format!(
            "SELECT * FROM (
                 SELECT task, task_hash, hash, demos_solved, demos, closeness, size, cost,
                     count(*) OVER (PARTITION BY task, task_hash) AS entries,
                     row_number() OVER (PARTITION BY task, task_hash ORDER BY {BEST_FIRST}) AS place
                 FROM scores JOIN solvers ON solvers.id = scores.solver
             ) WHERE place = 1 ORDER BY task, task_hash"
        );
        self.rows(&query, [], |row| {
            Ok(TaskSummary {
                task: row.get(0)?,
                task_hash: row.get(1)?,
                hash: row.get(2)?,
                best: score(row, 3)?,
                entries: row.get::<_, i64>(8)? as usize,
            })
        })
    }

    /// Returns the most useful solvers: by tasks solved, then by demonstrations solved, then by
    /// size.
    pub fn top(&self, limit: usize) -> Result<Vec<SolverSummary>, ArchiveError> {
        let query = "
            SELECT hash, dialect, mutation, count(*),
                sum(demos > 0 AND demos_solved >= demos) AS solved, sum(demos_solved) AS right, min(size) AS least
            FROM scores JOIN solvers ON solvers.id = scores.solver
            GROUP BY solver ORDER BY solved DESC, right DESC, least, hash LIMIT ?";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.rows(query, [limit], |row| {
            let count = |at| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at)? as usize);
            Ok(SolverSummary {
                hash: row.get(0)?,
                dialect: dialect(row, 1)?,
                mutation: row.get(2)?,
                tasks: count(3)?,
                solved: count(4)?,
                demos_solved: count(5)?,
                size: row.get(6)?,
            })
        })
    }

    /// A solver by its hash.
    pub fn solver(&self, hash: &str) -> Result<Option<ArchivedSolver>, ArchiveError> {
        let query = "
            SELECT hash, source, dialect, mutation, run, found, id FROM solvers WHERE hash = ?";
        let found = self.rows(query, [hash], |row| {
            let solver = ArchivedSolver {
                hash: row.get(0)?,
                source: row.get(1)?,
                dialect: dialect(row, 2)?,
                mutation: row.get(3)?,
                run: RunId(row.get(4)?),
                when: row.get(5)?,
                parents: Vec::new(),
            };
            Ok((solver, row.get(6)?))
        })?;
        let Some((mut solver, id)) = found.into_iter().next() else {
            return Ok(None);
        };
        solver.parents = self.parents(id)?;
        Ok(Some(solver))
    }

    /// The hashes that begin with these digits, sorted, at most `limit`.
    pub fn find(&self, prefix: &str, limit: usize) -> Result<Vec<String>, ArchiveError> {
        if !is_hash_prefix(prefix) {
            return Ok(Vec::new());
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        // `g` comes after every digit.
        let query =
            "SELECT hash FROM solvers WHERE hash >= ?1 AND hash < ?1 || 'g' ORDER BY hash LIMIT ?2";
        self.rows(query, params![prefix, limit], |row| row.get(0))
    }

    /// How many solvers there are, with scores or without.
    pub fn solver_count(&self) -> Result<usize, ArchiveError> {
        let count = self.rows("SELECT count(*) FROM solvers", [], |row| {
            row.get::<_, i64>(0)
        })?;
        Ok(count.first().map_or(0, |&n| n as usize))
    }

    pub(crate) fn parents(&self, id: i64) -> Result<Vec<String>, ArchiveError> {
        let query = "SELECT parent FROM parents WHERE child = ? ORDER BY position";
        self.rows(query, [id], |row| row.get(0))
    }

    pub(crate) fn entries(
        &self,
        query: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<ArchiveEntry>, ArchiveError> {
        let mut found = self.rows(query, values, |row| {
            let entry = ArchiveEntry {
                hash: row.get(0)?,
                source: row.get(1)?,
                dialect: dialect(row, 2)?,
                mutation: row.get(3)?,
                task: row.get(4)?,
                task_hash: row.get(5)?,
                score: score(row, 6)?,
                outputs: row.get::<_, i64>(11)? as u64,
                run: RunId(row.get(12)?),
                when: row.get(13)?,
                parents: Vec::new(),
            };
            Ok((entry, row.get(14)?))
        })?;
        for (entry, id) in &mut found {
            entry.parents = self.parents(*id)?;
        }
        Ok(found.into_iter().map(|(entry, _)| entry).collect())
    }

    /// All rows of a query.
    pub(crate) fn rows<T>(
        &self,
        query: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, ArchiveError> {
        let run = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.db.prepare_cached(query)?;
            statement.query_map(values, read)?.collect()
        };
        run().map_err(|e| self.of(e))
    }

    /// Changes the archive: all of it or, with an error, not at all.
    pub(crate) fn change<T>(
        &mut self,
        act: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, ArchiveError> {
        if !self.writable {
            return Err(ArchiveError::ReadOnly {
                path: self.path.clone(),
            });
        }
        // A writer takes the lock at once: a reader that becomes a writer later may come too late.
        let run = || {
            let change = self
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = act(&change)?;
            change.commit()?;
            Ok(done)
        };
        run().map_err(|error| ArchiveError::after(self.patience, &self.path, error))
    }

    /// Turns an error of SQLite into ours.
    pub(crate) fn of(&self, error: rusqlite::Error) -> ArchiveError {
        ArchiveError::after(self.patience, &self.path, error)
    }
}

/// The columns of an entry.
pub(crate) const ENTRIES: &str = "
    SELECT hash, source, dialect, mutation, task, task_hash, demos_solved, demos, closeness, size, cost,
        outputs, scores.run, scores.found, solvers.id
    FROM scores JOIN solvers ON solvers.id = scores.solver";

/// The order of scores, in SQL; hashes make it the same everywhere.
pub(crate) const BEST_FIRST: &str = "demos_solved DESC, closeness DESC, size, cost, demos, hash";

/// A score, from this column on.
pub(crate) fn score(row: &Row<'_>, at: usize) -> rusqlite::Result<Score> {
    let cost: i64 = row.get(at + 4)?;
    Ok(Score {
        demos_solved: row.get(at)?,
        demos: row.get(at + 1)?,
        closeness: row.get(at + 2)?,
        size: row.get(at + 3)?,
        cost: cost.max(0) as u64,
    })
}

pub(crate) fn dialect(row: &Row<'_>, at: usize) -> rusqlite::Result<Dialect> {
    let name: String = row.get(at)?;
    Dialect::named(&name).ok_or_else(|| {
        let text = format!("no dialect is called '{name}'");
        rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, text.into())
    })
}
