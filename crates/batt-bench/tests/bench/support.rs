//! The benchmarks, run in a folder.

use std::ops::Deref;
use std::path::Path;
use std::process::Command;

use batt_testing::command::run;

pub use batt_testing::command::Ended;

/// A temporary folder in which benchmarks run.
pub struct Folder(batt_testing::command::Folder);

impl Folder {
    pub fn with_tasks() -> Folder {
        Folder(batt_testing::command::Folder::with_tasks())
    }

    /// Runs a benchmark in the folder.
    pub fn bench(&self, args: &[&str]) -> Ended {
        run(command(&self.path(""), args), "")
    }
}

impl Deref for Folder {
    type Target = batt_testing::command::Folder;

    fn deref(&self) -> &batt_testing::command::Folder {
        &self.0
    }
}

/// Runs a benchmark that needs no files.
pub fn bench(args: &[&str]) -> Ended {
    run(command(Path::new("."), args), "")
}

/// Returns the command, for tests that need more control.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    batt_testing::command::command(env!("CARGO_BIN_EXE_batt-bench"), folder, args)
}
