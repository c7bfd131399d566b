//! Runs the built command on real files, and checks its output and exit code.

mod archive;
mod bad_input;
mod bench;
mod card;
mod core;
#[cfg(feature = "emulated")]
mod emulated;
mod evolve;
mod kaggle;
mod mega;
mod profile;
mod readme;
mod run;
mod score;
mod shard;
mod show;
mod submit;
mod support;
mod tools;
