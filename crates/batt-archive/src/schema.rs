//! The tables, and how a file of an earlier version becomes one of this.
//!
//! ```text
//!   runs <---- solvers <---- parents (child; the parent by its hash, which need not be here)
//!     ^           ^
//!     |           +-------- scores (solver, task, task_hash)
//!     +-- checkpoints
//! ```
//!
//! The version is in `user_version`. [`MIGRATIONS`] has one script for each step to the next
//! version, so a new file goes the same way as an old one, and a script is never changed once a
//! file may have been made with it.

use rusqlite::{Connection, TransactionBehavior};

/// `batt` in letters: says whose file it is. `file` shows it, too.
pub(crate) const APPLICATION_ID: i32 = 0x6261_7474;

/// The scripts. The first makes version 1 of nothing, the second version 2 of version 1, and so on.
pub(crate) const MIGRATIONS: [&str; 2] = [
    // Version 1. Numbers of 64 bits without sign (seeds, hashes of outputs) are stored as SQLite's
    // signed ones, bit by bit; costs must sort, so they end at 2^63 - 1.
    "
    CREATE TABLE runs (
        id       INTEGER PRIMARY KEY,
        uid      TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(16)))),
        seed     INTEGER NOT NULL,
        settings TEXT NOT NULL,
        version  TEXT NOT NULL,
        dataset  TEXT NOT NULL,
        started  TEXT NOT NULL
    );
    CREATE TABLE solvers (
        id       INTEGER PRIMARY KEY,
        hash     TEXT NOT NULL UNIQUE,
        source   TEXT NOT NULL,
        dialect  TEXT NOT NULL,
        ops      TEXT NOT NULL,
        mutation TEXT NOT NULL,
        run      INTEGER NOT NULL REFERENCES runs,
        found    TEXT NOT NULL
    );
    CREATE TABLE parents (
        child    INTEGER NOT NULL REFERENCES solvers ON DELETE CASCADE,
        position INTEGER NOT NULL,
        parent   TEXT NOT NULL,
        PRIMARY KEY (child, position)
    ) WITHOUT ROWID;
    CREATE TABLE scores (
        task         TEXT NOT NULL,
        task_hash    TEXT NOT NULL,
        solver       INTEGER NOT NULL REFERENCES solvers,
        demos_solved INTEGER NOT NULL,
        demos        INTEGER NOT NULL,
        closeness    INTEGER NOT NULL,
        size         INTEGER NOT NULL,
        cost         INTEGER NOT NULL,
        outputs      INTEGER NOT NULL,
        run          INTEGER NOT NULL REFERENCES runs,
        found        TEXT NOT NULL,
        PRIMARY KEY (task, task_hash, solver)
    ) WITHOUT ROWID;
    CREATE INDEX scores_of_solver ON scores (solver);
    ",
    // Version 2: where a run stands, so that it can go on.
    "
    CREATE TABLE checkpoints (
        run        INTEGER PRIMARY KEY REFERENCES runs,
        generation INTEGER NOT NULL,
        state      BLOB NOT NULL,
        saved      TEXT NOT NULL
    );
    ",
];

/// The version this program reads and writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// The version of a file.
pub(crate) fn version(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// The application that owns the file; 0 if it names none.
pub(crate) fn application_id(db: &Connection) -> rusqlite::Result<i32> {
    db.query_row("PRAGMA application_id", [], |row| row.get(0))
}

/// Returns whether the file has a table.
pub(crate) fn has_tables(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| {
        row.get(0)
    })
}

/// Brings a file to our version, in one transaction: killed in the midst, it is what it was.
pub(crate) fn migrate(db: &mut Connection) -> rusqlite::Result<()> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while we waited.
    let found = version(&change)?;
    for (k, script) in MIGRATIONS.iter().enumerate() {
        if k as i64 >= found {
            change.execute_batch(script)?;
        }
    }
    if found < VERSION {
        change.pragma_update(None, "application_id", APPLICATION_ID)?;
        change.pragma_update(None, "user_version", VERSION)?;
    }
    change.commit()
}
