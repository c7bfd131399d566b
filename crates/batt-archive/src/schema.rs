//! The tables, and the migration of files of earlier versions.
//!
//! ```text
//!   runs <---- solvers <---- parents (child; the parent by its hash, which need not be here)
//!     ^           ^
//!     |           +-------- scores (solver, task, task_hash)
//!     +-- checkpoints
//! ```
//!
//! The version is in `user_version`. [`MIGRATIONS`] has one script for each step to the next
//! version, and a new file goes through all of them like an old one. A script never changes once a
//! released version has used it.

use rusqlite::{Connection, TransactionBehavior};

/// `batt` in ASCII: the application id, which marks the file as an archive and which `file` shows.
pub(crate) const APPLICATION_ID: i32 = 0x6261_7474;

/// The migration scripts. The first creates version 1, the second makes version 2 from version 1,
/// and so on.
pub(crate) const MIGRATIONS: [&str; 2] = [
    // Version 1. Unsigned numbers of 64 bits (seeds, hashes of outputs) are stored bit by bit as
    // SQLite's signed ones. Costs must sort, so they are capped at 2^63 - 1.
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
    // Version 2: checkpoints, so that runs can be resumed.
    "
    CREATE TABLE checkpoints (
        run        INTEGER PRIMARY KEY REFERENCES runs,
        generation INTEGER NOT NULL,
        state      BLOB NOT NULL,
        saved      TEXT NOT NULL
    );
    ",
];

/// The version that this program reads and writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Returns the version of a file.
pub(crate) fn version(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Returns the id of the application that owns the file; 0 if there is none.
pub(crate) fn application_id(db: &Connection) -> rusqlite::Result<i32> {
    db.query_row("PRAGMA application_id", [], |row| row.get(0))
}

/// Returns whether the file has a table.
pub(crate) fn has_tables(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| {
        row.get(0)
    })
}

/// Migrates a file to the current version, in one transaction. If the process is killed, the file
/// is unchanged.
pub(crate) fn migrate(db: &mut Connection) -> rusqlite::Result<()> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated the file in the meantime.
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
