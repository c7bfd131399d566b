//! A temporary folder, and the command to run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A task that mirrors top to bottom.
const MIRROR: &str = r#"{
  "train": [
    {"input": [[1, 2], [3, 4]], "output": [[3, 4], [1, 2]]},
    {"input": [[5, 5, 5], [0, 0, 0]], "output": [[0, 0, 0], [5, 5, 5]]}
  ],
  "test": [{"input": [[7], [8]], "output": [[8], [7]]}]
}"#;

/// A task whose test has no known output.
const OPEN: &str = r#"{
  "train": [{"input": [[1, 2]], "output": [[2, 1]]}],
  "test": [{"input": [[3, 4]]}]
}"#;

/// A temporary folder.
pub struct Folder(TempDir);

/// The exit code and the output of a command.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    /// Creates a folder with two tasks in `tasks/`.
    pub fn with_tasks() -> Folder {
        let folder = Folder(TempDir::new().unwrap());
        folder.write("tasks/aa11.json", MIRROR);
        folder.write("tasks/bb22.json", OPEN);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs a benchmark in the folder.
    pub fn bench(&self, args: &[&str]) -> Ended {
        Ended::from(command(self.0.path(), args).output().unwrap())
    }
}

/// Runs a benchmark that needs no files.
pub fn bench(args: &[&str]) -> Ended {
    Ended::from(command(Path::new("."), args).output().unwrap())
}

/// Returns the command, for tests that need more control.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_batt-bench"));
    command
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// Asserts the exit code. A failure shows all output.
    #[track_caller]
    pub fn code(self, code: i32) -> Ended {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Asserts that stdout contains a text.
    #[track_caller]
    pub fn out(self, text: &str) -> Ended {
        assert!(
            self.stdout.contains(text),
            "no {text:?} in:\n{}",
            self.stdout
        );
        self
    }

    /// Asserts that stderr contains a text.
    #[track_caller]
    pub fn err(self, text: &str) -> Ended {
        assert!(
            self.stderr.contains(text),
            "no {text:?} in:\n{}",
            self.stderr
        );
        self
    }

    /// Asserts an error with exit code 2, a message and a hint.
    #[track_caller]
    pub fn error(self, message: &str, hint: &str) -> Ended {
        self.code(2)
            .err("error: ")
            .err(message)
            .err("hint: ")
            .err(hint)
    }
}
