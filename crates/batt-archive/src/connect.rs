//! Opens the file: checks that it is an archive of a known version, and configures how writes reach
//! the disk.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::ArchiveError;
use crate::schema;

/// How long to wait for another process by default. A save takes milliseconds, so a longer wait
/// means that something is wrong.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// The action if there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfMissing {
    Create,
    Refuse,
}

/// Opens a file and migrates it. Also returns whether the file can be written.
pub(crate) fn connect(
    path: &Path,
    if_missing: IfMissing,
) -> Result<(Connection, bool), ArchiveError> {
    refuse_non_archives(path, if_missing)?;
    match open_to_write(path, if_missing) {
        Ok(db) => Ok((db, true)),
        // SQLite cannot create its lock file in a folder that is not writable.
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

/// Returns whether the file, or one of the files that SQLite needs beside it, cannot be written.
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

/// Refuses files that cannot be archives before SQLite opens them.
fn refuse_non_archives(path: &Path, if_missing: IfMissing) -> Result<(), ArchiveError> {
    let owned = || path.to_owned();
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => Err(ArchiveError::NotAFile { path: owned() }),
        Ok(there) if there.len() == 0 && if_missing == IfMissing::Refuse => {
            // An empty file is a new archive only if the log beside it holds the first write.
            match fs::metadata(beside(path, "-wal")) {
                Ok(log) if log.len() > 0 => Ok(()),
                _ => Err(ArchiveError::NotAnArchive {
                    path: owned(),
                    holds: "an empty file".into(),
                }),
            }
        }
        // SQLite treats a file that is shorter than its header as a new database and would
        // overwrite it.
        Ok(there) if there.len() > 0 && !starts_as_sqlite(path)? => {
            Err(ArchiveError::NotAnArchive {
                path: owned(),
                holds: "something that is not SQLite".into(),
            })
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match if_missing {
            IfMissing::Refuse => Err(ArchiveError::Missing { path: owned() }),
            IfMissing::Create => {
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

fn open_to_write(path: &Path, if_missing: IfMissing) -> Result<Connection, ArchiveError> {
    let of = |error| ArchiveError::of(path, error);
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(
        OpenFlags::SQLITE_OPEN_CREATE,
        if_missing == IfMissing::Create,
    );
    let mut db = Connection::open_with_flags(path, flags).map_err(of)?;
    configure(&db).map_err(of)?;
    let version = identify(&db, path, if_missing)?;
    if db.is_readonly("main").map_err(of)? {
        return Err(ArchiveError::ReadOnly {
            path: path.to_owned(),
        });
    }
    retry_while_busy(|| use_log(&db)).map_err(of)?;
    if version < schema::VERSION {
        retry_while_busy(|| schema::migrate(&mut db)).map_err(of)?;
    }
    Ok(db)
}

/// Opens a file that is not writable.
fn open_to_read(path: &Path) -> Result<Connection, ArchiveError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = open_as_is(path, path, flags);
    // If the log holds commits that the file does not, reading without the log would miss them.
    let pending = fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
    match opened {
        // No process can make a lock file in that folder, so no process writes, and no lock is
        // needed.
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
    configure(&db).map_err(of)?;
    let found = identify(&db, path, IfMissing::Refuse)?;
    if found < schema::VERSION {
        return Err(ArchiveError::OldAndReadOnly {
            path: path.to_owned(),
            found,
        });
    }
    Ok(db)
}

/// Sets the options that every connection needs.
fn configure(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.set_prepared_statement_cache_capacity(64);
    db.pragma_update(None, "foreign_keys", true)?;
    // The file may come from anywhere, so SQLite must not run functions from its schema, and must
    // check pages before it uses them.
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "cell_size_check", true)
}

/// Turns on the write-ahead log, with a sync at every commit. A killed process loses nothing that
/// it committed, and neither does a machine that loses power, if its disk honours sync commands.
/// `NORMAL` would leave the last commits to the operating system; at one commit a second the gain
/// is not worth that.
fn use_log(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "full")
}

/// Retries an operation while other processes use the file. SQLite waits by itself in most places,
/// but it gives up at once when it changes the journal mode or recovers the log after a crash.
fn retry_while_busy<T>(mut act: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let started = Instant::now();
    loop {
        match act() {
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == ErrorCode::DatabaseBusy && started.elapsed() < BUSY_TIMEOUT =>
            {
                thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// Returns the version of the file if it is an archive, or if it is empty and may become one.
fn identify(db: &Connection, path: &Path, if_missing: IfMissing) -> Result<i64, ArchiveError> {
    let of = |error| ArchiveError::of(path, error);
    let (id, found, used) = retry_while_busy(|| {
        // One transaction reads all three, because another process may be creating the archive.
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
    if is_ours || (is_new && if_missing == IfMissing::Create) {
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

/// Returns the name of a file that SQLite keeps beside the database.
fn beside(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns a path as part of a URI.
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
