//! Where lines go.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::journal::Journal;
use super::parquet;
use crate::error::{advised, bad_file, reason};
use crate::ui::stdout;

/// How long finished lines may wait in memory.
const FLUSH_EVERY: Duration = Duration::from_millis(500);

/// Where lines go.
pub struct Sink {
    place: Place,
    flushed: Instant,
}

enum Place {
    Nowhere,
    Stdout(Box<dyn Write>),
    File(PathBuf, Journal),
}

impl Sink {
    fn new(place: Place) -> Sink {
        Sink {
            place,
            flushed: Instant::now(),
        }
    }

    /// Nobody wants them.
    pub fn nowhere() -> Sink {
        Sink::new(Place::Nowhere)
    }

    /// To whoever reads our output.
    pub fn stdout() -> Sink {
        Sink::new(Place::Stdout(Box::new(stdout())))
    }

    /// To a file, by way of its journal.
    pub fn file(path: &Path, journal: Journal) -> Sink {
        Sink::new(Place::File(path.to_owned(), journal))
    }

    /// Does anybody want lines?
    pub fn is_wanted(&self) -> bool {
        !matches!(self.place, Place::Nowhere)
    }

    /// Writes a line, which ends in a newline.
    pub fn write(&mut self, line: &str) -> Result<()> {
        let late = self.flushed.elapsed() >= FLUSH_EVERY;
        match &mut self.place {
            Place::Nowhere => return Ok(()),
            Place::Stdout(out) => out.write_all(line.as_bytes()).map_err(not_printed)?,
            Place::File(_, journal) => {
                let written = journal.write(line);
                written.map_err(|error| kept(&journal.part(), &error))?;
            }
        }
        if late {
            self.flush()?;
        }
        Ok(())
    }

    /// Hands everything to the system.
    fn flush(&mut self) -> Result<()> {
        self.flushed = Instant::now();
        match &mut self.place {
            Place::Nowhere => Ok(()),
            Place::Stdout(out) => out.flush().map_err(not_printed),
            Place::File(_, journal) => {
                let written = journal.flush();
                written.map_err(|error| kept(&journal.part(), &error))
            }
        }
    }

    /// No more lines come; `complete` says whether that is because all are there.
    pub fn finish(mut self, complete: bool) -> Result<()> {
        self.flush()?;
        match self.place {
            Place::File(path, journal) if complete => {
                let parquet = path
                    .extension()
                    .is_some_and(|e| e.eq_ignore_ascii_case("parquet"));
                journal.finish(parquet.then_some(parquet::convert))
            }
            _ => Ok(()),
        }
    }
}

/// Results that cannot be written; those before are on disk.
pub fn kept(path: &Path, error: &io::Error) -> anyhow::Error {
    advised(
        bad_file("write", path, error),
        "make room or choose another place; what was written so far is kept, and the same command \
         with --resume goes on",
    )
}

/// Results that cannot be printed. A closed pipe has to stay one: it ends us quietly.
fn not_printed(error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return error.into();
    }
    advised(
        format_args!("cannot write to stdout: {}", reason(&error)),
        "check where the output goes, or name a file with --out",
    )
}
