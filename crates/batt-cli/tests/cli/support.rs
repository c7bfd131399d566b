//! A temporary folder, and the command that runs in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A task whose rule is to mirror top to bottom.
pub const MIRROR: &str = r#"{
  "train": [
    {"input": [[1, 2], [3, 4]], "output": [[3, 4], [1, 2]]},
    {"input": [[5, 5, 5], [0, 0, 0]], "output": [[0, 0, 0], [5, 5, 5]]}
  ],
  "test": [{"input": [[7], [8]], "output": [[8], [7]]}]
}"#;

/// A task whose test has no known output.
pub const OPEN: &str = r#"{
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
    pub fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    /// Creates a folder with the tasks `aa11` (mirror) and `bb22` (open) in `tasks/`.
    pub fn with_tasks() -> Folder {
        let folder = Folder::new();
        folder.write("tasks/aa11.json", MIRROR);
        folder.write("tasks/bb22.json", OPEN);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs `batt` in the folder.
    pub fn batt(&self, args: &[&str]) -> Ended {
        batt_in(self.0.path(), args, "")
    }

    /// Runs `batt` in the folder with this input on stdin.
    pub fn batt_with(&self, args: &[&str], stdin: &str) -> Ended {
        batt_in(self.0.path(), args, stdin)
    }
}

/// Runs `batt` in the current folder, for commands that need no files.
pub fn batt(args: &[&str]) -> Ended {
    batt_in(Path::new("."), args, "")
}

/// Returns the command, for tests that need more control.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_batt"));
    command
        .args(args)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn batt_in(folder: &Path, args: &[&str], stdin: &str) -> Ended {
    let mut child = command(folder, args).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // A command that does not read its input may have ended already.
    let _ = pipe.write_all(stdin.as_bytes());
    drop(pipe);
    Ended::from(child.wait_with_output().unwrap())
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

    /// Returns the last line of stdout.
    pub fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }
}
