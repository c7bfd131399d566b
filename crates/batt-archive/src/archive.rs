//! Opening an archive, and its queries.

use std::path::{Path, PathBuf};
use std::time::Duration;

use batt_arc::Score;
use batt_dsl::Dialect;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::connect::{BUSY_TIMEOUT, IfMissing, connect};
use crate::error::ArchiveError;
use crate::records::{
    ArchiveEntry, ArchivedRun, ArchivedSolver, Checkpoint, RunId, RunInfo, SolverSummary,
    TaskSummary,
};
use crate::text::is_hash_prefix;

/// The current time in the format in which the archive stores times.
pub(crate) const NOW: &str = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";

/// An archive of solvers: one SQLite file.
///
/// Several processes may use one file at the same time; writers wait for each other. When a call
/// returns, its changes are on the disk: they survive any end of the process, and a power failure
/// if the disk honours its sync commands. A call that fails changes nothing.
///
/// While the archive is open, two more files are beside it, `-wal` and `-shm`. They belong to it:
/// copy or move all three, or close the archive first. The file must not be on a network drive that
/// several machines write to.
#[derive(Debug)]
pub struct Archive {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
    writable: bool,
    busy_timeout: Duration,
}

impl Archive {
    /// Opens an archive, or creates it. Migrates an archive of an earlier version.
    pub fn open(path: &Path) -> Result<Archive, ArchiveError> {
        Archive::connect(path, IfMissing::Create)
    }

    /// Opens an existing archive. Migrates one of an earlier version. An archive that cannot be
    /// written is opened for reading.
    pub fn open_existing(path: &Path) -> Result<Archive, ArchiveError> {
        Archive::connect(path, IfMissing::Refuse)
    }

    fn connect(path: &Path, if_missing: IfMissing) -> Result<Archive, ArchiveError> {
        let (db, writable) = connect(path, if_missing)?;
        Ok(Archive {
            db,
            path: path.to_owned(),
            writable,
            busy_timeout: BUSY_TIMEOUT,
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the archive can be written.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Sets how long to wait for another process that is writing; the default is a minute.
    pub fn set_busy_timeout(&mut self, busy_timeout: Duration) -> Result<(), ArchiveError> {
        self.db.busy_timeout(busy_timeout).map_err(|e| self.of(e))?;
        self.busy_timeout = busy_timeout;
        Ok(())
    }

    /// Limits the size of the file in bytes, for this connection. A save that needs more fails as
    /// on a full disk.
    pub fn limit_size(&mut self, bytes: u64) -> Result<(), ArchiveError> {
        let page = self.rows("PRAGMA page_size", [], |row| row.get::<_, i64>(0))?;
        let page = page.first().map_or(4096, |&page| page.max(1) as u64);
        let pages = i64::try_from(bytes / page).unwrap_or(i64::MAX).max(1);
        self.db
            .pragma_update(None, "max_page_count", pages)
            .map_err(|e| self.of(e))
    }

    /// Records the start of a run. Runs are never removed.
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

    /// Returns the runs, the latest first.
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

    /// Returns the latest checkpoint of a run.
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

    /// Returns the best solvers of a task, best first: for one version of the task, or for all
    /// versions.
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

    /// Returns the entries of a solver, by task.
    pub fn entries_of(&self, hash: &str) -> Result<Vec<ArchiveEntry>, ArchiveError> {
        let query = format!("{ENTRIES} WHERE solvers.hash = ? ORDER BY task, task_hash");
        self.entries(&query, [hash])
    }

    /// Returns the tasks that have solvers, by id.
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

    /// Returns a solver by its hash.
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

    /// Returns the hashes that begin with these digits, sorted, at most `limit`.
    pub fn find(&self, prefix: &str, limit: usize) -> Result<Vec<String>, ArchiveError> {
        if !is_hash_prefix(prefix) {
            return Ok(Vec::new());
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        // `g` sorts after every hexadecimal digit.
        let query =
            "SELECT hash FROM solvers WHERE hash >= ?1 AND hash < ?1 || 'g' ORDER BY hash LIMIT ?2";
        self.rows(query, params![prefix, limit], |row| row.get(0))
    }

    /// Returns the number of solvers, including those without scores.
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

    /// Returns all rows of a query.
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

    /// Changes the archive in one transaction.
    pub(crate) fn change<T>(
        &mut self,
        act: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, ArchiveError> {
        if !self.writable {
            return Err(ArchiveError::ReadOnly {
                path: self.path.clone(),
            });
        }
        // The transaction takes the write lock at once, because upgrading a read transaction fails
        // if another process has written in the meantime.
        let run = || {
            let change = self
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = act(&change)?;
            change.commit()?;
            Ok(done)
        };
        run().map_err(|error| ArchiveError::after(self.busy_timeout, &self.path, error))
    }

    /// Converts an error of SQLite.
    pub(crate) fn of(&self, error: rusqlite::Error) -> ArchiveError {
        ArchiveError::after(self.busy_timeout, &self.path, error)
    }
}

/// The query that returns the columns of an entry.
pub(crate) const ENTRIES: &str = "
    SELECT hash, source, dialect, mutation, task, task_hash, demos_solved, demos, closeness, size, cost,
        outputs, scores.run, scores.found, solvers.id
    FROM scores JOIN solvers ON solvers.id = scores.solver";

/// The SQL order of scores. The hash makes the order deterministic.
pub(crate) const BEST_FIRST: &str = "demos_solved DESC, closeness DESC, size, cost, demos, hash";

/// Reads a score from the columns that begin at `at`.
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
