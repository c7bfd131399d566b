//! The archive on real files.

mod asking;
mod faults;
mod files;
mod kill;
mod saving;
mod support;
