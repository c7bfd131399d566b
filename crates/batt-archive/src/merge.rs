//! Merges one archive into another.

use std::collections::HashMap;

use batt_lang::card::structural_hash;
use rusqlite::{Connection, OptionalExtension, params};

use crate::archive::{Archive, dialect, score};
use crate::error::ArchiveError;
use crate::records::RunId;
use crate::retention::Retention;
use crate::save::{ScoreRow, SolverRow, put};
use crate::text::{self, Text};

/// The result of a merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// The number of scores in the other archive.
    pub scores: usize,
    /// The number of these that are new or better.
    pub kept: usize,
    /// The number of solvers that this archive did not have.
    pub solvers: usize,
    /// The number of entries that retention removed.
    pub evicted: usize,
}

/// A run as it is stored.
struct RunRow {
    id: i64,
    uid: String,
    seed: i64,
    texts: [String; 4],
}

impl Archive {
    /// Adds the contents of another archive: solvers with their scores, their lineage, and the runs
    /// that found them. Checkpoints are not merged. Scores are trusted, but each solver must match
    /// its hash.
    ///
    /// Merging again changes nothing.
    pub fn merge(
        &mut self,
        other: &Archive,
        retention: &Retention,
    ) -> Result<MergeReport, ArchiveError> {
        // One transaction, so that all queries see the same state of the other archive.
        let view = other.db.unchecked_transaction().map_err(|e| other.of(e))?;
        let runs = other.run_rows()?;
        let mut solvers = other.solvers_to_merge()?;
        let mut scores = other.scores_to_merge()?;
        drop(view);
        if let Some(lost) = scores.iter().find(|new| !solvers.contains_key(&new.hash)) {
            return Err(ArchiveError::Damaged {
                path: other.path.clone(),
                what: format!("a score of {} has no solver", lost.hash),
            });
        }
        let count = scores.len();
        let saved = self.change(|change| {
            let mut numbers = HashMap::new();
            for run in &runs {
                numbers.insert(run.id, put_run(change, run)?);
            }
            // Every run is in `numbers`, because foreign keys hold in the other archive as well.
            let renumber = |run: &mut RunId| {
                let number = numbers.get(&run.0).copied();
                number
                    .map(|number| *run = number)
                    .ok_or(rusqlite::Error::QueryReturnedNoRows)
            };
            for solver in solvers.values_mut() {
                renumber(&mut solver.run)?;
            }
            for new in &mut scores {
                renumber(&mut new.run)?;
            }
            put(change, &solvers, &scores, retention)
        })?;
        Ok(MergeReport {
            scores: count,
            kept: saved.kept(),
            solvers: saved.solvers,
            evicted: saved.evicted,
        })
    }

    fn run_rows(&self) -> Result<Vec<RunRow>, ArchiveError> {
        let query = "SELECT id, uid, seed, settings, version, dataset, started FROM runs";
        self.rows(query, [], |row| {
            Ok(RunRow {
                id: row.get(0)?,
                uid: row.get(1)?,
                seed: row.get(2)?,
                texts: [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?],
            })
        })
    }

    fn solvers_to_merge(&self) -> Result<HashMap<String, SolverRow>, ArchiveError> {
        let query = "SELECT hash, source, dialect, mutation, run, found, id FROM solvers";
        let rows = self.rows(query, [], |row| {
            let (hash, source): (String, String) = (row.get(0)?, row.get(1)?);
            let solver = (
                text::read(&source, dialect(row, 2)?),
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
            );
            Ok((hash, solver, row.get(6)?))
        })?;
        let mut solvers = HashMap::new();
        for (hash, (program, mutation, run, when), id) in rows {
            let Some(program) = program.filter(|program| structural_hash(program) == hash) else {
                return Err(ArchiveError::Damaged {
                    path: self.path.clone(),
                    what: format!("solver {hash} is not what its hash says"),
                });
            };
            let solver = SolverRow {
                text: Text::of(&program)?,
                parents: self.parents(id)?,
                mutation,
                run: RunId(run),
                when: Some(when),
            };
            solvers.insert(hash, solver);
        }
        Ok(solvers)
    }

    fn scores_to_merge(&self) -> Result<Vec<ScoreRow>, ArchiveError> {
        let query = "
            SELECT hash, task, task_hash, demos_solved, demos, closeness, size, cost, outputs,
                scores.run, scores.found
            FROM scores JOIN solvers ON solvers.id = scores.solver
            ORDER BY task, task_hash, hash";
        self.rows(query, [], |row| {
            Ok(ScoreRow {
                hash: row.get(0)?,
                task: row.get(1)?,
                task_hash: row.get(2)?,
                score: score(row, 3)?,
                outputs: row.get::<_, i64>(8)? as u64,
                run: RunId(row.get(9)?),
                when: Some(row.get(10)?),
            })
        })
    }
}

/// Returns the number of a run in this archive, and adds the run if it is new. Runs with the same
/// `uid` are the same run.
fn put_run(db: &Connection, run: &RunRow) -> rusqlite::Result<RunId> {
    let query = "SELECT id FROM runs WHERE uid = ?";
    let there = db
        .query_row(query, [&run.uid], |row| row.get(0))
        .optional()?;
    if let Some(id) = there {
        return Ok(RunId(id));
    }
    let [settings, version, dataset, started] = &run.texts;
    db.execute(
        "INSERT INTO runs (uid, seed, settings, version, dataset, started) VALUES (?, ?, ?, ?, ?, ?)",
        params![run.uid, run.seed, settings, version, dataset, started],
    )?;
    Ok(RunId(db.last_insert_rowid()))
}
