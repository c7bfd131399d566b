//! The archive on real files.

mod faults;
mod files;
mod kill;
mod queries;
mod saving;
mod support;
