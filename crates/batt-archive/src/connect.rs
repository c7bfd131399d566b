//! Opens the file: checks that it is an archive of a known version, and sets how writes reach the
//! disk.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::ArchiveError;
use crate::schema;

/// How long to wait for another process by default. A save takes milliseconds, so a wait this long
/// means that something has gone wrong.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What to do if there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    Create,
    Refuse,
}

/// Opens a file, and brings it up to date. The second value says whether it can be written.
pub(crate) fn connect(path: &Path, absent: Absent) -> Result<(Connection, bool), ArchiveError> {
    look(path, absent)?;
    match open_to_write(path, absent) {
        Ok(db) => Ok((db, true)),
        // A folder that cannot be written has no room even for the lock file.
        Err(error) if is_refused(&error) && path.is_file() => match open_to_read(path) {
            Err(other) if is_refused(&other) => Err(error),
            opened => opened.map(|db| (db, false)),
        },
        Err(error) if is_refused(&error) && !path.exists() => Err(ArchiveError::NotMade {
            path: path.to_owned(),
        }),
        Err(error) => Err(error),
    }
}

/// Returns whether the file, or the files SQLite needs beside it, may not be written.
fn is_refused(error: &ArchiveError) -> bool {
    match error {
        ArchiveError::ReadOnly { .. } => true,
        ArchiveError::Sqlite {
            source: rusqlite::Error::SqliteFailure(failure, _),
            ..
        } => matches!(
            failure.code,
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied
        ),
        _ => false,
    }
}

/// Refuses what cannot be an archive before SQLite touches it.
fn look(path: &Path, absent: Absent) -> Result<(), ArchiveError> {
    let owned = || path.to_owned();
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => Err(ArchiveError::NotAFile { path: owned() }),
        Ok(there) if there.len() == 0 && absent == Absent::Refuse => {
            // A new archive before its first write looks like this, and so does any empty file.
            match fs::metadata(beside(path, "-wal")) {
                Ok(log) if log.len() > 0 => Ok(()),
                _ => Err(ArchiveError::NotAnArchive {
                    path: owned(),
                    holds: "an empty file".into(),
                }),
            }
        }
        // SQLite takes a file that is shorter than its header for a new database, and would write
        // over it.
        Ok(there) if there.len() > 0 && !starts_as_sqlite(path)? => {
            Err(ArchiveError::NotAnArchive {
                path: owned(),
                holds: "something that is not SQLite".into(),
            })
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match absent {
            Absent::Refuse => Err(ArchiveError::Missing { path: owned() }),
            Absent::Create => {
                let folder = path
                    .parent()
                    .filter(|folder| !folder.as_os_str().is_empty());
                match folder {
                    Some(folder) if !folder.is_dir() => {
                        Err(ArchiveError::NoFolder { path: owned() })
                    }
                    _ => Ok(()),
                }
            }
        },
        Err(source) => Err(ArchiveError::Io {
            path: owned(),
            source,
        }),
    }
}

fn starts_as_sqlite(path: &Path) -> Result<bool, ArchiveError> {
    const START: &[u8] = b"SQLite format 3\0";
    let read = || {
        let mut start = Vec::new();
        let file = fs::File::open(path)?;
        file.take(START.len() as u64).read_to_end(&mut start)?;
        Ok(start == START)
    };
    read().map_err(|source| ArchiveError::Io {
        path: path.to_owned(),
        source,
    })
}

fn open_to_write(path: &Path, absent: Absent) -> Result<Connection, ArchiveError> {
    let of = |error| ArchiveError::of(path, error);
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, absent == Absent::Create);
    let mut db = Connection::open_with_flags(path, flags).map_err(of)?;
    settle(&db).map_err(of)?;
    let version = identify(&db, path, absent)?;
    if db.is_readonly("main").map_err(of)? {
        return Err(ArchiveError::ReadOnly {
            path: path.to_owned(),
        });
    }
    patiently(|| use_log(&db)).map_err(of)?;
    if version < schema::VERSION {
        patiently(|| schema::migrate(&mut db)).map_err(of)?;
    }
    Ok(db)
}

/// Opens a file that we may not write.
fn open_to_read(path: &Path) -> Result<Connection, ArchiveError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = open_as_is(path, path, flags);
    // What the log has and the file has not would be missing.
    let pending = fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
    match opened {
        // No lock file can be made in that folder, so no process writes: SQLite needs no lock.
        Err(error) if is_refused(&error) && !pending => {
            let uri = format!("file:{}?immutable=1", percent_encoded(path));
            open_as_is(path, Path::new(&uri), flags | OpenFlags::SQLITE_OPEN_URI)
        }
        opened => opened,
    }
}

fn open_as_is(path: &Path, name: &Path, flags: OpenFlags) -> Result<Connection, ArchiveError> {
    let of = |error| ArchiveError::of(path, error);
    let db = Connection::open_with_flags(name, flags).map_err(of)?;
    settle(&db).map_err(of)?;
    let found = identify(&db, path, Absent::Refuse)?;
    if found < schema::VERSION {
        return Err(ArchiveError::OldAndReadOnly {
            path: path.to_owned(),
            found,
        });
    }
    Ok(db)
}

/// Sets what every connection needs.
fn settle(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(PATIENCE)?;
    db.set_prepared_statement_cache_capacity(64);
    db.pragma_update(None, "foreign_keys", true)?;
    // Files come from anywhere: what a schema says is not to be run, and pages are looked at before
    // they are used.
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "cell_size_check", true)
}

/// Writes go to a log beside the file, and are on the disk when a commit returns: a process that is
/// killed loses nothing it committed, and neither does a machine that loses power, if its disk does
/// as it says. `NORMAL` would leave the last commits to the operating system. A commit a second
/// does not make that worth it.
fn use_log(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "full")
}

/// Tries again while others have the file. SQLite waits by itself, but not in all places: changing
/// the way of journaling and recovering the log after a crash give up at once.
fn patiently<T>(mut act: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let started = Instant::now();
    loop {
        match act() {
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == ErrorCode::DatabaseBusy && started.elapsed() < PATIENCE =>
            {
                thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// The version of the file, if it is an archive or is to become one.
fn identify(db: &Connection, path: &Path, absent: Absent) -> Result<i64, ArchiveError> {
    let of = |error| ArchiveError::of(path, error);
    let (id, found, used) = patiently(|| {
        // One look at all three: another process may be making the archive just now.
        let moment = db.unchecked_transaction()?;
        Ok((
            schema::application_id(&moment)?,
            schema::version(&moment)?,
            schema::has_tables(&moment)?,
        ))
    })
    .map_err(of)?;
    if found > schema::VERSION && id == schema::APPLICATION_ID {
        return Err(ArchiveError::Newer {
            path: path.to_owned(),
            found,
            known: schema::VERSION,
        });
    }
    let is_ours = id == schema::APPLICATION_ID && found > 0;
    let is_new = id == 0 && found == 0 && !used;
    if is_ours || (is_new && absent == Absent::Create) {
        return Ok(found);
    }
    Err(ArchiveError::NotAnArchive {
        path: path.to_owned(),
        holds: match is_new {
            true => "an empty database".into(),
            false => "another program's database".into(),
        },
    })
}

/// The name of a file that SQLite keeps beside another one.
fn beside(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A path as part of a URI.
fn percent_encoded(path: &Path) -> String {
    let mut out = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
}
