//! Results of mega-batches on disk, which survive a kill at any moment.
//!
//! ```text
//!  a run's entries --- LineWriter::entry (on the worker) ---> JSON texts
//!                                                                |
//!  MegaResult ---------- LineWriter::line <----------------------+
//!                             |
//!                             v
//!                        ResultSink ---> Journal: FILE.part, FILE.part.json
//!                             |             |  all runs are done
//!                             v             v
//!                      a writer (stdout)   FILE and FILE.meta.json, or FILE.parquet
//! ```
//!
//! The types to know:
//!
//! - [`LineWriter`] makes the line of a run, in the requested [`Detail`]; [`MegaRecord`] is a
//!   parsed line.
//! - [`Journal`] holds the lines of an unfinished run, and recognises a finished run by its
//!   [`ResultsHeader`].
//! - [`merge`] puts the parts of a run together; [`PartError`] says why that is impossible.
//! - [`MegaTotals`] counts runs; [`DonorTally`] finds the donors that solve a task.
//! - [`ResultSink`] is the destination of lines.
//! - [`ResultsError`] is the error type. [`ResultsError::hint`] says what to do.
//!
//! [`replace`] and [`Staged`] write any file atomically.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use batt_engine::Shard;
//! use batt_results::{
//!     Existing, Journal, LineKind, MegaTotals, Opened, ResultsHeader, RunSettings,
//! };
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("results.jsonl");
//! let header = ResultsHeader {
//!     lines: LineKind::Mega,
//!     settings: RunSettings::new([("batts", "a hash of the batts".into())]),
//!     shard: Shard::WHOLE,
//!     runs: 2,
//!     tasks: 1,
//!     unknown: BTreeMap::new(),
//! };
//!
//! // The first run is interrupted after one line.
//! let Opened::Journal { mut journal, .. } =
//!     Journal::open(&file, &header, Existing::Refuse, |_, _| true)?
//! else {
//!     unreachable!("there are no results yet")
//! };
//! journal.write("{\"line\":1}\n")?;
//! drop(journal);
//!
//! // The second run continues after this line, and finishes.
//! let Opened::Journal { mut journal, lines } =
//!     Journal::open(&file, &header, Existing::Resume, |_, _| true)?
//! else {
//!     unreachable!("the results are not complete")
//! };
//! assert_eq!(lines, 1);
//! journal.write("{\"line\":2}\n")?;
//! journal.finish(&MegaTotals { runs: 2, ..MegaTotals::default() })?;
//! assert_eq!(std::fs::read_to_string(&file)?, "{\"line\":1}\n{\"line\":2}\n");
//!
//! // The third run finds complete results.
//! let opened = Journal::open(&file, &header, Existing::Resume, |_, _| true)?;
//! assert!(matches!(opened, Opened::Finished { totals, .. } if totals.runs == 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod files;
mod fingerprint;
mod header;
mod journal;
mod merge;
mod parquet;
mod part;
mod part_error;
mod record;
mod settings;
mod sidecar;
mod sink;
mod tally;
mod totals;

pub use error::{ResultsError, io_hint, io_message, without_numbers};
pub use files::{Staged, check_not_read, replace, stage};
pub use fingerprint::{batt_fingerprint, fingerprint};
pub use header::{LineKind, ResultsHeader};
pub use journal::{Existing, Journal, Opened, each_line};
pub use merge::{MergedResults, merge};
pub use part_error::{FoundPart, PartError};
pub use record::{Detail, LineWriter, MegaRecord, OutputEntry, ScoreEntry};
pub use settings::RunSettings;
pub use sink::ResultSink;
pub use tally::{DonorTally, SolvedTask};
pub use totals::MegaTotals;
