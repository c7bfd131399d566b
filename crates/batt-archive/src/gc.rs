//! Removes solvers and scores that are no longer needed.

use std::collections::{HashMap, HashSet};

use batt_arc::Score;
use rusqlite::{Connection, params};

use crate::archive::{Archive, score};
use crate::error::ArchiveError;
use crate::retention::{Ranked, Retention};

/// Selects what to remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcOptions {
    /// Which solvers of each task to keep; `None` keeps all that have a score.
    pub retention: Option<Retention>,
    /// How many generations of ancestors to keep; `None` keeps all.
    pub ancestors: Option<usize>,
}

/// The result of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Scores that were removed by retention.
    pub scores: usize,
    /// Solvers that were removed: they have no score, and no solver with a score descends from
    /// them.
    pub solvers: usize,
    /// The size of the file before, in bytes.
    pub before: u64,
    /// The size of the file after, in bytes.
    pub after: u64,
    /// Whether the file was compacted. Compaction needs room for a copy, and no other process may
    /// write.
    pub shrunk: bool,
}

impl Archive {
    /// Removes scores by retention, then solvers without a score and without scored descendants,
    /// and compacts the file.
    pub fn gc(&mut self, options: &GcOptions) -> Result<GcReport, ArchiveError> {
        let before = self.bytes()?;
        let mut collected = self.change(|change| {
            let scores = match &options.retention {
                Some(retention) => remove_scores(change, retention)?,
                None => 0,
            };
            let solvers = remove_solvers(change, options.ancestors)?;
            Ok(GcReport {
                scores,
                solvers,
                ..GcReport::default()
            })
        })?;
        // The removal is committed even if the file cannot be compacted now.
        collected.shrunk = match self.db.execute_batch("VACUUM").map_err(|e| self.of(e)) {
            Ok(()) => true,
            Err(ArchiveError::Busy { .. } | ArchiveError::DiskFull { .. }) => false,
            Err(error) => return Err(error),
        };
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        (collected.before, collected.after) = (before, self.bytes()?);
        Ok(collected)
    }

    /// Returns the size of the archive in bytes.
    fn bytes(&self) -> Result<u64, ArchiveError> {
        let query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        let bytes = self.rows(query, [], |row| row.get::<_, i64>(0))?;
        Ok(bytes.first().map_or(0, |&n| n as u64))
    }
}

fn remove_scores(db: &Connection, retention: &Retention) -> rusqlite::Result<usize> {
    let query = "
        SELECT task, task_hash, solver, hash, demos_solved, demos, closeness, size, cost, outputs, ops
        FROM scores JOIN solvers ON solvers.id = scores.solver
        ORDER BY task, task_hash";
    struct Row {
        task: String,
        task_hash: String,
        solver: i64,
        hash: String,
        score: Score,
        outputs: u64,
        ops: String,
    }
    let rows: Vec<Row> = db
        .prepare(query)?
        .query_map([], |row| {
            Ok(Row {
                task: row.get(0)?,
                task_hash: row.get(1)?,
                solver: row.get(2)?,
                hash: row.get(3)?,
                score: score(row, 4)?,
                outputs: row.get::<_, i64>(9)? as u64,
                ops: row.get(10)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    let mut removed = 0;
    let same_task = |a: &Row, b: &Row| (&a.task, &a.task_hash) == (&b.task, &b.task_hash);
    for task in rows.chunk_by(same_task) {
        let ranked: Vec<Ranked<'_>> = task
            .iter()
            .map(|row| Ranked {
                hash: &row.hash,
                score: row.score,
                outputs: row.outputs,
                ops: &row.ops,
            })
            .collect();
        let keep = retention.shrink(&ranked);
        for (row, _) in task.iter().zip(keep).filter(|(_, keep)| !keep) {
            db.execute(
                "DELETE FROM scores WHERE task = ? AND task_hash = ? AND solver = ?",
                params![row.task, row.task_hash, row.solver],
            )?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn remove_solvers(db: &Connection, ancestors: Option<usize>) -> rusqlite::Result<usize> {
    let ids = |query: &str| -> rusqlite::Result<Vec<i64>> {
        db.prepare(query)?
            .query_map([], |row| row.get(0))?
            .collect()
    };
    let mut parents: HashMap<i64, Vec<i64>> = HashMap::new();
    let query = "SELECT child, solvers.id FROM parents JOIN solvers ON solvers.hash = parent";
    let mut statement = db.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        parents.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    let mut generation = ids("SELECT DISTINCT solver FROM scores")?;
    let mut needed: HashSet<i64> = generation.iter().copied().collect();
    let mut left = ancestors.unwrap_or(usize::MAX);
    while left > 0 && !generation.is_empty() {
        let back = generation.iter().filter_map(|id| parents.get(id)).flatten();
        generation = back.copied().filter(|&id| needed.insert(id)).collect();
        left -= 1;
    }
    let mut removed = 0;
    for id in ids("SELECT id FROM solvers")? {
        if !needed.contains(&id) {
            removed += db.execute("DELETE FROM solvers WHERE id = ?", [id])?;
        }
    }
    Ok(removed)
}
