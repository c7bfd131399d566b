//! Saving: solvers, lineage, scores and the checkpoint, in one transaction.

use std::collections::{BTreeMap, HashMap, HashSet};

use batt_arc::Score;
use rusqlite::{Connection, OptionalExtension, params};

use crate::archive::{Archive, NOW, score};
use crate::error::ArchiveError;
use crate::records::{Checkpoint, Kept, NewEntry, RunId, Saved};
use crate::retention::{Ranked, Retention};
use crate::text::{Text, is_hash};

/// A solver to be stored.
pub(crate) struct SolverRow {
    pub text: Text,
    pub parents: Vec<String>,
    pub mutation: String,
    pub run: RunId,
    /// When it was found; `None` for the current time.
    pub when: Option<String>,
}

/// A score to be stored.
pub(crate) struct ScoreRow {
    pub hash: String,
    pub task: String,
    pub task_hash: String,
    pub score: Score,
    pub outputs: u64,
    pub run: RunId,
    /// When it was measured; `None` for the current time.
    pub when: Option<String>,
}

impl Archive {
    /// Saves solvers with their lineage and scores, removes those that retention does not keep, and
    /// replaces the checkpoint of the run if a new one is given. On an error nothing changes.
    ///
    /// A solver that is in the archive keeps its lineage. Of two scores on one task the better one
    /// counts. A refused solver is stored nevertheless if a kept solver descends from it. Evicted
    /// solvers keep their lineage until [`gc`](Archive::gc) finds that no solver needs it.
    pub fn save(
        &mut self,
        run: RunId,
        found: &[NewEntry],
        retention: &Retention,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Saved, ArchiveError> {
        let mut solvers: HashMap<String, SolverRow> = HashMap::new();
        let mut scores = Vec::with_capacity(found.len());
        // This is outside the transaction, so that other writers do not wait for it.
        for found in found {
            let text = Text::of(&found.program)?;
            let hash = text.hash.clone();
            scores.push(ScoreRow {
                hash: hash.clone(),
                task: found.task.clone(),
                task_hash: found.task_hash.clone(),
                score: found.score,
                outputs: found.outputs,
                run,
                when: None,
            });
            if solvers.contains_key(&hash) {
                continue;
            }
            if let Some(odd) = found.parents.iter().find(|parent| !is_hash(parent)) {
                return Err(ArchiveError::Program {
                    why: format!("its parent '{odd}' is not a structural hash"),
                });
            }
            let others = found.parents.iter().filter(|parent| **parent != hash);
            let solver = SolverRow {
                parents: others.cloned().collect(),
                mutation: found.mutation.clone(),
                text,
                run,
                when: None,
            };
            solvers.insert(hash, solver);
        }
        let there = self.rows("SELECT 1 FROM runs WHERE id = ?", [run.0], |_| Ok(()))?;
        if there.is_empty() {
            return Err(ArchiveError::NoRun {
                path: self.path.clone(),
                run: run.0,
            });
        }
        self.change(|change| {
            let saved = put(change, &solvers, &scores, retention)?;
            if let Some(checkpoint) = checkpoint {
                let replace = format!(
                    "INSERT OR REPLACE INTO checkpoints (run, generation, state, saved)
                     VALUES (?, ?, ?, {NOW})"
                );
                let values = params![run.0, checkpoint.generation as i64, checkpoint.state];
                change.execute(&replace, values)?;
            }
            Ok(saved)
        })
    }
}

/// A score that is in the archive.
struct OldScore {
    id: i64,
    hash: String,
    score: Score,
    outputs: u64,
    ops: String,
}

/// The changes to the scores of one task.
#[derive(Default)]
struct ScoreChanges<'n> {
    put: Vec<&'n ScoreRow>,
    remove: Vec<i64>,
}

/// Stores the entries that retention keeps.
pub(crate) fn put(
    db: &Connection,
    solvers: &HashMap<String, SolverRow>,
    scores: &[ScoreRow],
    retention: &Retention,
) -> rusqlite::Result<Saved> {
    let mut by_task: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (k, new) in scores.iter().enumerate() {
        by_task
            .entry((&new.task, &new.task_hash))
            .or_default()
            .push(k);
    }
    let mut kept = vec![Kept::Refused; scores.len()];
    let mut changes: Vec<((&str, &str), ScoreChanges<'_>)> = Vec::new();
    for (task, new) in by_task {
        let old = old_scores(db, task)?;
        changes.push((
            task,
            decide(&old, &new, scores, solvers, retention, &mut kept),
        ));
    }

    let wanted = changes
        .iter()
        .flat_map(|(_, changes)| &changes.put)
        .map(|score| score.hash.as_str());
    let needed = with_ancestors(wanted, solvers);
    let mut ids = HashMap::new();
    let mut saved = Saved::default();
    for hash in needed {
        let (id, is_new) = put_solver(db, &solvers[hash])?;
        ids.insert(hash, id);
        saved.solvers += usize::from(is_new);
    }
    for ((task, task_hash), changes) in &changes {
        for id in &changes.remove {
            let delete = "DELETE FROM scores WHERE task = ? AND task_hash = ? AND solver = ?";
            db.prepare_cached(delete)?
                .execute(params![task, task_hash, id])?;
            saved.evicted += 1;
        }
        for new in &changes.put {
            put_score(db, new, ids[new.hash.as_str()])?;
        }
    }
    let hashes = scores.iter().map(|new| new.hash.clone());
    saved.found = hashes.zip(kept).collect();
    Ok(saved)
}

/// Returns the scores of a task.
fn old_scores(db: &Connection, (task, task_hash): (&str, &str)) -> rusqlite::Result<Vec<OldScore>> {
    let query = "
        SELECT solver, hash, demos_solved, demos, closeness, size, cost, outputs, ops
        FROM scores JOIN solvers ON solvers.id = scores.solver
        WHERE task = ? AND task_hash = ? ORDER BY hash";
    let mut statement = db.prepare_cached(query)?;
    let rows = statement.query_map([task, task_hash], |row| {
        Ok(OldScore {
            id: row.get(0)?,
            hash: row.get(1)?,
            score: score(row, 2)?,
            outputs: row.get::<_, i64>(7)? as u64,
            ops: row.get(8)?,
        })
    })?;
    rows.collect()
}

/// Decides which scores of a task to keep, and records in `kept` what happens to each new score.
fn decide<'n>(
    old: &[OldScore],
    new: &[usize],
    scores: &'n [ScoreRow],
    solvers: &HashMap<String, SolverRow>,
    retention: &Retention,
    kept: &mut [Kept],
) -> ScoreChanges<'n> {
    let mut all: Vec<Ranked<'_>> = old
        .iter()
        .map(|old| Ranked {
            hash: &old.hash,
            score: old.score,
            outputs: old.outputs,
            ops: &old.ops,
        })
        .collect();
    // `places` maps each solver to its position in `all`. `source` holds for each position the new
    // score that counts, or `None` for the old one.
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, old) in old.iter().enumerate() {
        places.insert(&old.hash, place);
    }
    let mut source: Vec<Option<usize>> = vec![None; old.len()];
    for &k in new {
        let ScoreRow {
            hash,
            score,
            outputs,
            ..
        } = &scores[k];
        match places.get(hash.as_str()) {
            Some(&place) => {
                if *score < all[place].score {
                    (all[place].score, all[place].outputs) = (*score, *outputs);
                    source[place] = Some(k);
                }
            }
            None => {
                places.insert(hash, all.len());
                all.push(Ranked {
                    hash,
                    score: *score,
                    outputs: *outputs,
                    ops: &solvers[hash].text.ops,
                });
                source.push(Some(k));
            }
        }
    }
    let keep = retention.keep(&all, old.len());
    for &k in new {
        let place = places[scores[k].hash.as_str()];
        kept[k] = match (keep[place], source[place] == Some(k)) {
            (false, _) => Kept::Refused,
            (true, false) => Kept::Known,
            (true, true) if place < old.len() => Kept::Better,
            (true, true) => Kept::New,
        };
    }
    let mut changes = ScoreChanges::default();
    for (place, keep) in keep.into_iter().enumerate() {
        match (keep, source[place]) {
            (true, Some(k)) => changes.put.push(&scores[k]),
            (false, _) if place < old.len() => changes.remove.push(old[place].id),
            _ => {}
        }
    }
    changes
}

/// Returns these solvers and their ancestors as far as they are among `solvers`. Ancestors come
/// first, in the order in which the solvers were made.
fn with_ancestors<'s>(
    wanted: impl Iterator<Item = &'s str>,
    solvers: &'s HashMap<String, SolverRow>,
) -> Vec<&'s str> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut order = Vec::new();
    for hash in wanted {
        let mut open = vec![(hash, false)];
        while let Some((hash, done)) = open.pop() {
            if done {
                order.push(hash);
                continue;
            }
            let Some((hash, solver)) = solvers.get_key_value(hash) else {
                continue;
            };
            if seen.insert(hash) {
                open.push((hash, true));
                open.extend(solver.parents.iter().map(|parent| (parent.as_str(), false)));
            }
        }
    }
    order
}

/// Stores a solver unless it is in the archive. Returns its number and whether it is new.
fn put_solver(db: &Connection, solver: &SolverRow) -> rusqlite::Result<(i64, bool)> {
    let Text {
        hash,
        source,
        dialect,
        ops,
    } = &solver.text;
    let query = "SELECT id FROM solvers WHERE hash = ?";
    let there = db
        .prepare_cached(query)?
        .query_row([hash], |row| row.get(0))
        .optional()?;
    if let Some(id) = there {
        return Ok((id, false));
    }
    let insert = format!(
        "INSERT INTO solvers (hash, source, dialect, ops, mutation, run, found)
         VALUES (?, ?, ?, ?, ?, ?, coalesce(?, {NOW}))"
    );
    db.prepare_cached(&insert)?.execute(params![
        hash,
        source,
        dialect.name(),
        ops,
        solver.mutation,
        solver.run.0,
        solver.when
    ])?;
    let id = db.last_insert_rowid();
    for (position, parent) in solver.parents.iter().enumerate() {
        let insert = "INSERT INTO parents (child, position, parent) VALUES (?, ?, ?)";
        db.prepare_cached(insert)?
            .execute(params![id, position as i64, parent])?;
    }
    Ok((id, true))
}

fn put_score(db: &Connection, new: &ScoreRow, solver: i64) -> rusqlite::Result<()> {
    let replace = format!(
        "INSERT OR REPLACE INTO scores
             (task, task_hash, solver, demos_solved, demos, closeness, size, cost, outputs, run, found)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, {NOW}))"
    );
    let Score {
        demos_solved,
        demos,
        closeness,
        size,
        cost,
    } = new.score;
    db.prepare_cached(&replace)?.execute(params![
        new.task,
        new.task_hash,
        solver,
        demos_solved,
        demos,
        closeness,
        size,
        i64::try_from(cost).unwrap_or(i64::MAX),
        new.outputs as i64,
        new.run.0,
        new.when
    ])?;
    Ok(())
}
