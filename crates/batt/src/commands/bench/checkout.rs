//! What kind of Python checkout a folder is.

use std::path::Path;

use anyhow::Result;

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
    /// Looks at the files of a folder. With solvers from elsewhere a checkout need not have any.
    pub fn of(checkout: &Path, has_solvers: bool) -> Result<Kind> {
        let (kind, solvers) = match checkout.join("safe_dsl.py").is_file() {
            true => (Kind::Tokpidjin, "solvers_pre.py"),
            false => (Kind::ArcDsl, "solvers.py"),
        };
        let solvers = (kind == Kind::ArcDsl || !has_solvers).then_some(solvers);
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
