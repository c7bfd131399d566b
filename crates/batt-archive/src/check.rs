//! Checks an archive: its pages, references, solvers, scores and checkpoints.

use std::fmt;

use batt_arc::Score;
use batt_lang::card::structural_hash;
use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::archive::{Archive, dialect};
use crate::error::ArchiveError;
use crate::records::Checkpoint;
use crate::text;

/// What a column holds.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    Text,
}

impl Kind {
    fn fits(self, value: ValueRef<'_>) -> bool {
        match self {
            Kind::Number => matches!(value, ValueRef::Integer(_)),
            Kind::Text => value.as_str().is_ok(),
        }
    }
}

/// The columns of each table, except for those that the checks of solvers, scores and checkpoints
/// look at.
const COLUMNS: [(&str, &[(&str, Kind)]); 5] = [
    (
        "runs",
        &[
            ("id", Kind::Number),
            ("uid", Kind::Text),
            ("seed", Kind::Number),
            ("settings", Kind::Text),
            ("version", Kind::Text),
            ("dataset", Kind::Text),
            ("started", Kind::Text),
        ],
    ),
    (
        "solvers",
        &[
            ("id", Kind::Number),
            ("ops", Kind::Text),
            ("mutation", Kind::Text),
            ("run", Kind::Number),
            ("found", Kind::Text),
        ],
    ),
    (
        "parents",
        &[
            ("child", Kind::Number),
            ("position", Kind::Number),
            ("parent", Kind::Text),
        ],
    ),
    (
        "scores",
        &[
            ("task", Kind::Text),
            ("task_hash", Kind::Text),
            ("solver", Kind::Number),
            ("outputs", Kind::Number),
            ("run", Kind::Number),
            ("found", Kind::Text),
        ],
    ),
    (
        "checkpoints",
        &[("run", Kind::Number), ("saved", Kind::Text)],
    ),
];

/// A finding about damaged or impossible contents of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchiveFinding {
    /// SQLite finds an error in the file.
    File(String),
    /// Rows refer to rows that are missing.
    References {
        /// The table of the first of these rows.
        table: String,
        /// The number of such rows in all tables.
        count: usize,
    },
    /// Rows of a table cannot be read.
    Table {
        /// The table.
        table: &'static str,
        /// Why the rows cannot be read.
        why: String,
    },
    /// A solver does not match its hash.
    Solver {
        /// The structural hash under which the solver is stored.
        hash: String,
    },
    /// A score that no program can have.
    Score {
        /// The task.
        task: String,
        /// The structural hash of the solver.
        hash: String,
        /// Why the score is impossible.
        why: String,
    },
    /// A checkpoint from which a run cannot continue.
    Checkpoint {
        /// The number of the run.
        run: i64,
        /// Why the run cannot continue.
        why: String,
    },
}

impl fmt::Display for ArchiveFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveFinding::File(what) => write!(f, "the file: {what}"),
            ArchiveFinding::References { table, count: 1 } => {
                write!(f, "a row of table {table} refers to a missing row")
            }
            ArchiveFinding::References { table, count } => {
                write!(
                    f,
                    "{count} rows of table {table} and others refer to missing rows"
                )
            }
            ArchiveFinding::Table { table, why } => write!(f, "table {table}: {why}"),
            ArchiveFinding::Solver { hash } => {
                write!(f, "solver {hash}: its source has another hash")
            }
            ArchiveFinding::Score { task, hash, why } => {
                write!(f, "score of solver {hash} on task {task}: {why}")
            }
            ArchiveFinding::Checkpoint { run, why } => {
                write!(f, "checkpoint of run {run}: {why}")
            }
        }
    }
}

impl Archive {
    /// Checks everything in the archive and returns the findings. `check_checkpoint` interprets the
    /// state of a checkpoint and returns why a run could not continue from it.
    pub fn check(
        &self,
        check_checkpoint: impl Fn(&Checkpoint) -> Result<(), String>,
    ) -> Result<Vec<ArchiveFinding>, ArchiveError> {
        let pages: Vec<String> = self.rows("PRAGMA integrity_check(10)", [], |row| row.get(0))?;
        let mut findings: Vec<ArchiveFinding> = Vec::new();
        if pages != ["ok"] {
            findings.extend(pages.into_iter().map(ArchiveFinding::File));
        }
        let lost: Vec<String> = self.rows("PRAGMA foreign_key_check", [], |row| row.get(0))?;
        if let Some(table) = lost.first() {
            findings.push(ArchiveFinding::References {
                table: table.clone(),
                count: lost.len(),
            });
        }
        for (table, columns) in COLUMNS {
            findings.extend(self.check_table(table, columns)?);
        }
        findings.extend(self.check_solvers()?);
        findings.extend(self.check_scores()?);
        findings.extend(self.check_checkpoints(check_checkpoint)?);
        Ok(findings)
    }

    /// Returns an error if the file is damaged, as far as SQLite can tell: pages, indexes, the order
    /// of rows.
    pub fn check_pages(&self) -> Result<(), ArchiveError> {
        let pages: Vec<String> = self.rows("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        match pages.as_slice() {
            [only] if only == "ok" => Ok(()),
            damaged => Err(ArchiveError::Damaged {
                path: self.path.clone(),
                what: damaged.join("; "),
            }),
        }
    }

    /// Checks that the columns of a table are there, and that each value is of its type.
    fn check_table(
        &self,
        table: &'static str,
        columns: &[(&str, Kind)],
    ) -> Result<Vec<ArchiveFinding>, ArchiveError> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let mut wrong = vec![0_usize; columns.len()];
        let query = format!("SELECT {} FROM {table}", names.join(", "));
        let read = self.rows(&query, [], |row| {
            for (at, (_, kind)) in columns.iter().enumerate() {
                wrong[at] += usize::from(!kind.fits(row.get_ref(at)?));
            }
            Ok(())
        });
        let finding = |why| ArchiveFinding::Table { table, why };
        match read {
            Ok(_) => {}
            Err(ArchiveError::Damaged { what, .. }) => return Ok(vec![finding(what)]),
            Err(error) => return Err(error),
        }
        let wrong = names.iter().zip(wrong).filter(|(_, count)| *count > 0);
        let found = wrong.map(|(name, count)| match count {
            1 => finding(format!("1 row has no valid {name}")),
            _ => finding(format!("{count} rows have no valid {name}")),
        });
        Ok(found.collect())
    }

    fn check_solvers(&self) -> Result<Vec<ArchiveFinding>, ArchiveError> {
        let query = "SELECT hash, source, dialect FROM solvers";
        let findings = self.rows(query, [], |row| {
            let hash = text_of(row, 0);
            let program = match (row.get::<_, String>(1), dialect(row, 2)) {
                (Ok(source), Ok(dialect)) => text::read(&source, dialect),
                _ => None,
            };
            let is_right = program.is_some_and(|program| structural_hash(&program) == hash);
            Ok((!is_right).then_some(ArchiveFinding::Solver { hash }))
        })?;
        Ok(findings.into_iter().flatten().collect())
    }

    fn check_scores(&self) -> Result<Vec<ArchiveFinding>, ArchiveError> {
        let query = "
            SELECT task, hash, demos_solved, demos, closeness, size, cost
            FROM scores LEFT JOIN solvers ON solvers.id = scores.solver ORDER BY task, hash";
        let findings = self.rows(query, [], |row| {
            let finding = |why: String| ArchiveFinding::Score {
                task: text_of(row, 0),
                hash: text_of(row, 1),
                why,
            };
            Ok(why_impossible(row, 2).map(finding))
        })?;
        Ok(findings.into_iter().flatten().collect())
    }

    fn check_checkpoints(
        &self,
        check_checkpoint: impl Fn(&Checkpoint) -> Result<(), String>,
    ) -> Result<Vec<ArchiveFinding>, ArchiveError> {
        let query = "SELECT run, generation, state FROM checkpoints ORDER BY run";
        let findings = self.rows(query, [], |row| {
            let checked = match (row.get::<_, i64>(1), row.get::<_, Vec<u8>>(2)) {
                (Ok(generation), Ok(state)) => check_checkpoint(&Checkpoint {
                    generation: generation as u64,
                    state,
                }),
                _ => Err("it has values of another type".to_owned()),
            };
            let run = row.get(0)?;
            Ok(checked
                .err()
                .map(|why| ArchiveFinding::Checkpoint { run, why }))
        })?;
        Ok(findings.into_iter().flatten().collect())
    }
}

/// Returns the text of a column, or `?` if the column holds something else.
fn text_of(row: &Row<'_>, at: usize) -> String {
    row.get(at).unwrap_or_else(|_| "?".to_owned())
}

/// Returns why a score is impossible, or `None` if it is possible.
fn why_impossible(row: &Row<'_>, at: usize) -> Option<String> {
    let number = |at| match row.get_ref(at) {
        Ok(ValueRef::Integer(number)) => u64::try_from(number).ok(),
        _ => None,
    };
    let small = |at| number(at).and_then(|number| u32::try_from(number).ok());
    let score = (|| {
        Some(Score {
            demos_solved: small(at)?,
            demos: small(at + 1)?,
            closeness: small(at + 2)?,
            size: small(at + 3)?,
            cost: number(at + 4)?,
        })
    })();
    match score {
        Some(score) => score.contradiction().map(str::to_owned),
        None => Some("a value that is not a number, is negative, or is too large".to_owned()),
    }
}
