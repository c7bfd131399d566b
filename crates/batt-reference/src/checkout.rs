//! Checkouts of the original libraries.

use std::path::{Path, PathBuf};

use batt_dsl::Dialect;

use crate::error::ReferenceError;

/// The original systems with which this one is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Original {
    /// arc-dsl: `solve_*(I)` in `solvers.py`.
    ArcDsl,
    /// tokpidjin: a library whose functions never raise, with `solve_*(S, I, C)` in
    /// `solvers_pre.py`.
    Tokpidjin,
}

/// A folder with one of the original libraries.
#[derive(Clone, Debug)]
pub struct Checkout {
    /// The folder.
    pub path: PathBuf,
    /// The library in the folder.
    pub original: Original,
}

impl Checkout {
    /// Recognises a checkout by its files. A tokpidjin checkout needs no solvers unless
    /// `own_solvers` is set.
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

    /// Returns the named solver files, or those of the checkout.
    pub fn solver_files(&self, named: &[PathBuf]) -> Vec<PathBuf> {
        match named {
            [] => vec![self.path.join(self.solvers())],
            files => files.to_vec(),
        }
    }

    /// Returns the named folder of tasks, or the training tasks next to or in the checkout.
    pub fn tasks(&self, named: Option<&Path>) -> Result<PathBuf, ReferenceError> {
        if let Some(tasks) = named {
            return Ok(tasks.to_owned());
        }
        let places = ["../data/training", "data/training"].map(|place| self.path.join(place));
        let found = places.into_iter().find(|place| place.is_dir());
        found.ok_or(ReferenceError::NoTasks)
    }

    /// Returns the dialect of the checkout's solvers.
    pub fn dialect(&self) -> Dialect {
        match self.original {
            Original::ArcDsl => Dialect::ArcDsl,
            Original::Tokpidjin => Dialect::Tokpidjin,
        }
    }
}
