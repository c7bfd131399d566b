//! The destination of result lines.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::error::ResultsError;
use crate::journal::Journal;
use crate::totals::MegaTotals;

/// The longest time that lines may wait in memory.
const FLUSH_EVERY: Duration = Duration::from_millis(500);

/// The destination of the lines of a run.
pub struct ResultSink {
    place: Place,
    flushed: Instant,
}

enum Place {
    Nowhere,
    Writer(Box<dyn Write + Send>),
    File(Journal),
}

impl ResultSink {
    fn new(place: Place) -> ResultSink {
        ResultSink {
            place,
            flushed: Instant::now(),
        }
    }

    /// Creates a sink that drops all lines.
    pub fn nowhere() -> ResultSink {
        ResultSink::new(Place::Nowhere)
    }

    /// Creates a sink that passes lines to a writer and flushes it at least twice a second.
    pub fn writer(writer: Box<dyn Write + Send>) -> ResultSink {
        ResultSink::new(Place::Writer(writer))
    }

    /// Creates a sink that writes lines to a file.
    pub fn file(journal: Journal) -> ResultSink {
        ResultSink::new(Place::File(journal))
    }

    /// Returns whether lines are kept.
    pub fn is_wanted(&self) -> bool {
        !matches!(self.place, Place::Nowhere)
    }

    /// Writes a line, which must end in a newline.
    pub fn write(&mut self, line: &str) -> Result<(), ResultsError> {
        match &mut self.place {
            Place::Nowhere => return Ok(()),
            Place::Writer(writer) => writer.write_all(line.as_bytes()).map_err(writer_failed)?,
            Place::File(journal) => journal.write(line)?,
        }
        if self.flushed.elapsed() >= FLUSH_EVERY {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ResultsError> {
        self.flushed = Instant::now();
        match &mut self.place {
            Place::Nowhere => Ok(()),
            Place::Writer(writer) => writer.flush().map_err(writer_failed),
            Place::File(journal) => journal.flush(),
        }
    }

    /// Flushes the lines of an unfinished run and keeps them for resuming.
    pub fn keep(mut self) -> Result<(), ResultsError> {
        self.flush()
    }

    /// Completes the results and returns the size of the file, if there is one.
    pub fn finish(mut self, totals: &MegaTotals) -> Result<Option<u64>, ResultsError> {
        self.flush()?;
        match self.place {
            Place::File(journal) => journal.finish(totals).map(Some),
            Place::Nowhere | Place::Writer(_) => Ok(None),
        }
    }
}

impl fmt::Debug for ResultSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.place {
            Place::Nowhere => "ResultSink::Nowhere",
            Place::Writer(_) => "ResultSink::Writer",
            Place::File(_) => "ResultSink::File",
        })
    }
}

fn writer_failed(source: io::Error) -> ResultsError {
    ResultsError::Writer { source }
}
