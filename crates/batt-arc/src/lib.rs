//! ARC tasks for Batt: loading them from every file format in use, showing them in a terminal, and
//! a corpus of puzzles that comes with the library.
//!
//! ```text
//!   task.json   folder/   *_challenges.json   pairs.json   bundle.json      corpus (embedded)
//!        \         |        + *_solutions.json    |            /                  |
//!         +--------+--------------+-------------+------------+                   |
//!                                 | Dataset::load                                | corpus::tasks
//!                                 v                                              v
//!                    Dataset: tasks sorted by id, each id once  <----------------+
//!                                 |
//!                    Task: train and test pairs of grids
//!                       |                          |
//!                       v                          v
//!              cells for the engine        render: text, in colour or plain
//! ```
//!
//! The types to know:
//!
//! - [`Dataset`]: many tasks. [`Dataset::load`] recognises the format by content.
//! - [`Task`]: one puzzle, and [`Pair`]: one input with its output, named by a [`PairRef`].
//! - [`Grid`]: a checked rectangle of colours; nothing here holds an invalid one.
//! - [`submission`]: answers to tests, written, checked and scored.
//! - [`DatasetError`]: what is wrong with a file, where, and how to fix it.
//!
//! This crate does not depend on programs or the engine; cells are plain bytes.
//!
//! ```
//! use batt_arc::Dataset;
//! use batt_arc::render::{self, Color};
//!
//! let json = br#"{"train": [{"input": [[1, 0]], "output": [[0, 1]]}],
//!                 "test":  [{"input": [[2, 0]]}]}"#;
//! let data = Dataset::from_json("swap.json", json)?;
//! let task = data.get("swap").expect("the id is the stem of the file name");
//! assert_eq!(task.train[0].input.cells(), [1, 0]);
//! assert_eq!(
//!     render::task(task, Color::Never),
//!     "swap\n\n\
//!      train[0] input 1x2      output 1x2\n\
//!      10                  ->  01\n\n\
//!      test[0] input 1x2      output\n\
//!      20                 ->  ?\n"
//! );
//!
//! let error = Dataset::from_json("bad.json", br#"[{"input": [[1, 0], [2]]}]"#).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "bad.json: task bad, train[0].input: row 1 has 1 cell, row 0 has 2"
//! );
//! # Ok::<(), batt_arc::DatasetError>(())
//! ```

pub mod corpus;
mod dataset;
mod error;
mod grid;
mod grid_text;
mod load;
pub mod render;
mod score;
pub mod submission;
mod task;
pub mod text;

pub use dataset::{Dataset, DuplicateTask, Skipped};
pub use error::{DatasetError, Problem};
pub use grid::{COLOURS, Grid, GridError, MAX_SIDE};
pub use grid_text::GridTextError;
pub use score::Score;
pub use task::{Pair, PairRef, PairRefError, Split, Task};
