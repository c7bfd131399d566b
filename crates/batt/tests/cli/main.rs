//! The built command on real files: what it prints, and how it ends.

mod bad_input;
mod bench;
mod card;
mod profile;
mod run;
mod support;
mod tools;
