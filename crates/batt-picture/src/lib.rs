//! Pictures of everything Batt shows: grids, tasks, values, runs, traces and sources.
//!
//! ```text
//!   Grid, Pair, Task ──────────┐
//!   OwnedValue ────────────────┤                                  ┌─> as_str, Display: SVG
//!   input, expected, value ────┼── one function each ──> Svg ─────┤
//!   Program, TracedStep ───────┤         ^               │ ^      └─> to_png (feature `png`)
//!   source text ───────────────┘    PictureStyle         └─┘
//!                                                      gallery
//! ```
//!
//! The types to know:
//!
//! - [`PictureStyle`]: the [`Palette`] of cells, the [`Theme`] around them, and sizes
//! - [`Svg`]: a picture, to write to a file, put into HTML, or turn into a PNG
//! - [`RunOutcome`]: what a run returned, and what was expected
//!
//! Pictures contain text from files, such as the ids of tasks. It is escaped, and cut if it is very
//! long. A picture has no ids, scripts or references, so many of them can be part of one HTML page.
//! A title and a role describe it to people who cannot see it.
//!
//! Where things are:
//!
//! - `task`, `run`, `value`, `trace`, `source`, `gallery`: one kind of picture each
//! - `cells`, `words`: which values are pictures, and the text of the others
//! - `layout`, `board`: rectangles of drawings, and cells in few bytes
//! - `style`, `svg`, `png`: colours, the written text, and pixels
//! - [`terminal`]: values as text, for a terminal
//!
//! ```
//! use batt_arc::corpus;
//! use batt_picture::{PictureStyle, Theme};
//!
//! let tasks = corpus::tasks();
//! let style = PictureStyle { theme: Theme::Light, ..PictureStyle::default() };
//! let svg = batt_picture::task(tasks.get("1673c3ec").unwrap(), &style);
//! assert!(svg.as_str().starts_with("<svg "));
//! assert!(svg.width() <= 1000 && svg.as_str().len() < 100_000);
//! ```

mod board;
mod cells;
mod gallery;
mod layout;
#[cfg(feature = "png")]
mod png;
mod run;
mod source;
mod style;
mod svg;
mod task;
pub mod terminal;
mod trace;
mod value;
mod words;

pub use gallery::gallery;
#[cfg(feature = "png")]
pub use png::PngError;
pub use run::{RunOutcome, comparison, run};
pub use source::source;
pub use style::{Palette, PictureStyle, Theme, UnknownStyle};
pub use svg::Svg;
pub use task::{grid, pair, task};
pub use trace::trace;
pub use value::value;
pub use words::repr;
