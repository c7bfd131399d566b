//! Commands run in a temporary folder, and assertions about what they print.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A task whose rule is to mirror top to bottom.
pub const MIRROR: &str = r#"{
  "train": [
    {"input": [[1, 2], [3, 4]], "output": [[3, 4], [1, 2]]},
    {"input": [[5, 5, 5], [0, 0, 0]], "output": [[0, 0, 0], [5, 5, 5]]}
  ],
  "test": [{"input": [[7], [8]], "output": [[8], [7]]}]
}"#;

/// A task whose answer to the test is not known.
pub const OPEN: &str = r#"{
  "train": [{"input": [[1, 2]], "output": [[2, 1]]}],
  "test": [{"input": [[3, 4]]}]
}"#;

/// A temporary folder, removed when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder.
    pub fn new() -> Folder {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("batt-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // A process of the same number may have been killed.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    /// A folder with the tasks [`MIRROR`] and [`OPEN`] as `aa11` and `bb22` in `tasks/`.
    pub fn with_tasks() -> Folder {
        let folder = Folder::new();
        folder.write("tasks/aa11.json", MIRROR);
        folder.write("tasks/bb22.json", OPEN);
        folder
    }

    /// The place of a file, which may not exist.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file and the folders it is in.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        let parent = path.parent().expect("the temporary folder at least");
        std::fs::create_dir_all(parent).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file that can be read")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Default for Folder {
    fn default() -> Folder {
        Folder::new()
    }
}

/// A program to be run in a folder, with all its streams caught and colours as they are by default.
pub fn command(program: &str, folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    use_default_signals(&mut command);
    command
}

/// Gives a program the default actions of signals. If the tests run in the background of a script or
/// under `nohup`, their programs would inherit that some signals are ignored.
#[cfg(unix)]
fn use_default_signals(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: the function runs between fork and exec, where `signal` may be called.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

#[cfg(not(unix))]
fn use_default_signals(_: &mut Command) {}

/// Runs a [`command`] with something on stdin.
pub fn run(mut command: Command, stdin: &str) -> Ended {
    let mut child = command.spawn().expect("the program starts");
    let mut pipe = child.stdin.take().expect("stdin is a pipe");
    // A command that does not read its input may be gone already.
    let _ = pipe.write_all(stdin.as_bytes());
    drop(pipe);
    Ended::from(child.wait_with_output().expect("the program ends"))
}

/// How a command ended.
pub struct Ended {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
        Ended {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Ended {
    /// Asserts the exit code, showing everything if it is another.
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

    /// The last line of stdout.
    pub fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }
}
