//! The errors of a comparison with Python, with hints.

use std::io;
use std::path::PathBuf;

/// An error of a comparison with Python. [`ReferenceError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// There is no folder where the checkout should be.
    #[error("{}: no such folder", .0.display())]
    NoFolder(PathBuf),
    /// A folder lacks a file that every checkout has.
    #[error("{} has no {file}", folder.display())]
    NoCheckout {
        /// The folder.
        folder: PathBuf,
        /// The missing file.
        file: &'static str,
    },
    /// There is no folder of tasks next to the checkout.
    #[error("no tasks to run the checkout's solvers on")]
    NoTasks,
    /// No solver has a task.
    #[error("none of the checkout's solvers has a task here")]
    NoPairs,
    /// Python cannot be started.
    #[error("cannot start {}: {source}", python.display())]
    Start {
        /// The program.
        python: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Python cannot import the checkout.
    #[error("{} cannot import the checkout: {error}", python.display())]
    Import {
        /// The program.
        python: PathBuf,
        /// The module that it cannot find.
        missing: String,
        /// Python's message.
        error: String,
    },
    /// Python ended early; its own message is on stderr.
    #[error("{} ended early; its message is above", .0.display())]
    Ended(PathBuf),
    /// Python wrote an answer that cannot be parsed. This is a bug.
    #[error("internal error: an answer of the Python child: {0}")]
    Answer(#[from] serde_json::Error),
}

impl ReferenceError {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> String {
        match self {
            ReferenceError::NoFolder(_) | ReferenceError::NoCheckout { .. } => {
                "name a checkout of arc-dsl (dsl.py, constants.py, solvers.py) or of tokpidjin \
                 (dsl.py, constants.py, safe_dsl.py, solvers_pre.py)"
                    .to_owned()
            }
            ReferenceError::NoTasks => {
                "name the folder of ARC's training tasks with --tasks PATH".to_owned()
            }
            ReferenceError::NoPairs => {
                "name the folder of the tasks they are for with --tasks".to_owned()
            }
            ReferenceError::Start { .. } => {
                "install Python 3, or name one with --python PATH".to_owned()
            }
            ReferenceError::Import {
                python, missing, ..
            } => format!(
                "install it with `{} -m pip install {missing}`, put it on the PYTHONPATH, or name a \
                 Python that has it with --python PATH",
                python.display()
            ),
            ReferenceError::Ended(_) => "the checkout needs dsl.py, constants.py and solvers that \
                                         this Python can import"
                .to_owned(),
            ReferenceError::Answer(_) => "please report this".to_owned(),
        }
    }
}
