//! Checkouts of the original libraries.

use std::path::{Path, PathBuf};

use batt_dsl::Dialect;

use crate::error::ReferenceError;

/// The systems that ours is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Original {
    /// arc-dsl: `solvers.py` with `solve_*(I)`.
    ArcDsl,
    /// tokpidjin: a library whose functions never raise, and `solvers_pre.py` with
    /// `solve_*(S, I, C)`.
    Tokpidjin,
}

/// A folder that holds one of the original libraries.
#[derive(Clone, Debug)]
pub struct Checkout {
    /// The folder.
    pub path: PathBuf,
    /// The library it holds.
    pub original: Original,
}

impl Checkout {
    /// Recognises a checkout by its files. A checkout whose own solvers are not used need not have
    /// any, if it is tokpidjin's.
    pub fn open(path: &Path, own_solvers: bool) -> Result<Checkout, ReferenceError> {
        if !path.is_dir() {
            return Err(ReferenceError::NoFolder(path.to_owned()));
        }
        let original = match path.join("safe_dsl.py").is_file() {
            true => Original::Tokpidjin,
            false => Original::ArcDsl,
        };
        let checkout = Checkout {
            path: path.to_owned(),
            original,
        };
        let solvers = (original == Original::ArcDsl || own_solvers).then_some(checkout.solvers());
        for file in ["dsl.py", "constants.py"].into_iter().chain(solvers) {
            if !path.join(file).is_file() {
                return Err(ReferenceError::NoCheckout {
                    folder: path.to_owned(),
                    file,
                });
            }
        }
        Ok(checkout)
    }

    fn solvers(&self) -> &'static str {
        match self.original {
            Original::ArcDsl => "solvers.py",
            Original::Tokpidjin => "solvers_pre.py",
        }
    }

    /// Returns the solver files that are named, or the checkout's own.
    pub fn solver_files(&self, named: &[PathBuf]) -> Vec<PathBuf> {
        match named {
            [] => vec![self.path.join(self.solvers())],
            files => files.to_vec(),
        }
    }

    /// Returns the folder of tasks that is named, or the training tasks beside or in the checkout.
    pub fn tasks(&self, named: Option<&Path>) -> Result<PathBuf, ReferenceError> {
        if let Some(tasks) = named {
            return Ok(tasks.to_owned());
        }
        let places = ["../data/training", "data/training"].map(|place| self.path.join(place));
        let found = places.into_iter().find(|place| place.is_dir());
        found.ok_or(ReferenceError::NoTasks)
    }

    /// The dialect of its solvers.
    pub fn dialect(&self) -> Dialect {
        match self.original {
            Original::ArcDsl => Dialect::ArcDsl,
            Original::Tokpidjin => Dialect::Tokpidjin,
        }
    }
}
