//! The commands, one module each. A module begins with the arguments; the code that runs the
//! command follows.

pub mod archive;
pub mod bench;
pub mod card;
pub mod check;
pub mod completions;
pub mod conformance;
pub mod demo;
pub mod device;
pub mod eval;
pub mod evolve;
pub mod extract;
pub mod fmt;
pub mod kaggle;
pub mod mega;
pub mod merge;
pub mod ops;
pub mod profile;
pub mod run;
pub mod score;
pub mod show;
pub mod submit;
