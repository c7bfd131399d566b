//! Is an archive in order?

use batt_lang::card::structural_hash;

use crate::archive::{Archive, dialect};
use crate::error::ArchiveError;
use crate::text;

impl Archive {
    /// Looks at everything: the pages of the file, the references between tables, and whether every solver has the hash of
    /// its source.
    pub fn check(&self) -> Result<(), ArchiveError> {
        let damaged = |what: String| ArchiveError::Damaged {
            path: self.path.clone(),
            what,
        };
        let found: Vec<String> = self.rows("PRAGMA integrity_check(10)", [], |row| row.get(0))?;
        if found != ["ok"] {
            return Err(damaged(found.join("; ")));
        }
        let lost: Vec<String> = self.rows("PRAGMA foreign_key_check", [], |row| row.get(0))?;
        if let Some(table) = lost.first() {
            return Err(damaged(format!(
                "{} of table {table} and others refer to nothing",
                lost.len()
            )));
        }
        let query = "SELECT hash, source, dialect FROM solvers";
        let odd = self.rows(query, [], |row| {
            let (hash, source): (String, String) = (row.get(0)?, row.get(1)?);
            let program = text::read(&source, dialect(row, 2)?);
            let is_right = program.is_some_and(|program| structural_hash(&program) == hash);
            Ok((!is_right).then_some(hash))
        })?;
        match odd.into_iter().flatten().next() {
            Some(hash) => Err(damaged(format!("solver {hash} is not what its hash says"))),
            None => Ok(()),
        }
    }
}
