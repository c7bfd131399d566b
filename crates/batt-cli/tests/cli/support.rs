//! A temporary folder, and the command that runs in it.

use std::ops::Deref;
use std::path::Path;
use std::process::Command;

use batt_testing::command::run;

pub use batt_testing::command::{Ended, MIRROR};

/// A temporary folder in which `batt` runs.
pub struct Folder(batt_testing::command::Folder);

impl Folder {
    pub fn new() -> Folder {
        Folder(batt_testing::command::Folder::new())
    }

    /// Creates a folder with the tasks `aa11` (mirror) and `bb22` (open) in `tasks/`.
    pub fn with_tasks() -> Folder {
        Folder(batt_testing::command::Folder::with_tasks())
    }

    /// Runs `batt` in the folder.
    pub fn batt(&self, args: &[&str]) -> Ended {
        self.batt_with(args, "")
    }

    /// Runs `batt` in the folder with this input on stdin.
    pub fn batt_with(&self, args: &[&str], stdin: &str) -> Ended {
        run(command(&self.path(""), args), stdin)
    }
}

impl Deref for Folder {
    type Target = batt_testing::command::Folder;

    fn deref(&self) -> &batt_testing::command::Folder {
        &self.0
    }
}

/// Runs `batt` in the current folder, for commands that need no files.
pub fn batt(args: &[&str]) -> Ended {
    run(command(Path::new("."), args), "")
}

/// Returns the command, for tests that need more control.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    batt_testing::command::command(env!("CARGO_BIN_EXE_batt"), folder, args)
}
