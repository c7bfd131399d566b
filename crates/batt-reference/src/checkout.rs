//! What kind of Python checkout a folder is.

use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_dsl::Dialect;

use crate::error::advised;

/// The systems we can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `solvers.py` with `solve_*(I)`.
    ArcDsl,
    /// A library whose functions never raise, and `solvers_pre.py` with `solve_*(S, I, C)`.
    Tokpidjin,
}

impl Kind {
    /// The solver files that are named, or the checkout's own.
    pub fn files(self, checkout: &Path, named: &[PathBuf]) -> Vec<PathBuf> {
        match named {
            [] => vec![checkout.join(self.solvers())],
            files => files.to_vec(),
        }
    }

    fn solvers(self) -> &'static str {
        match self {
            Kind::ArcDsl => "solvers.py",
            Kind::Tokpidjin => "solvers_pre.py",
        }
    }

    /// What its solvers are written in.
    pub fn dialect(self) -> Dialect {
        match self {
            Kind::ArcDsl => Dialect::ArcDsl,
            Kind::Tokpidjin => Dialect::Tokpidjin,
        }
    }

    /// Looks at the files of a folder. With solvers from elsewhere a checkout need not have any.
    pub fn of(checkout: &Path, has_solvers: bool) -> Result<Kind> {
        let kind = match checkout.join("safe_dsl.py").is_file() {
            true => Kind::Tokpidjin,
            false => Kind::ArcDsl,
        };
        let solvers = (kind == Kind::ArcDsl || !has_solvers).then_some(kind.solvers());
        for needed in ["dsl.py", "constants.py"].into_iter().chain(solvers) {
            if !checkout.join(needed).is_file() {
                return Err(advised(
                    format_args!("{} has no {needed}", checkout.display()),
                    "name a checkout of arc-dsl (dsl.py, constants.py, solvers.py) or of tokpidjin \
                     (dsl.py, constants.py, safe_dsl.py, solvers_pre.py)",
                ));
            }
        }
        Ok(kind)
    }
}
