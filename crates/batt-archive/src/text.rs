//! The stored form of programs: canonical source, hash, and the primitives they use.

use std::collections::BTreeSet;

use batt_dsl::Dialect;
use batt_lang::card::{canonical, structural_hash};
use batt_lang::{Operand, Program, SolverFile};

use crate::error::ArchiveError;

/// The name of every stored function.
pub(crate) const NAME: &str = "solve";

/// A program in its stored form.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub hash: String,
    pub source: String,
    pub dialect: Dialect,
    /// The names of the primitives, sorted and separated by blanks.
    pub ops: String,
}

impl Text {
    /// Returns the stored form of a program, without steps that its result does not need. The hash
    /// ignores these steps as well.
    pub fn of(program: &Program) -> Result<Text, ArchiveError> {
        let refused = |why: String| ArchiveError::Program { why };
        let short = canonical(program)
            .map_err(|error| refused(error.to_string()))?
            .renamed(NAME);
        let hash = structural_hash(program);
        let source = short.to_string();
        // The stored program must be the one that was scored. A program that no file can express is
        // refused rather than changed.
        let again = read(&source, program.dialect()).map(|again| structural_hash(&again));
        if again.as_ref() != Some(&hash) {
            return Err(refused(format!("its text means something else:\n{source}")));
        }
        Ok(Text {
            hash,
            source,
            dialect: program.dialect(),
            ops: ops(&short),
        })
    }
}

/// Parses a stored program. Returns `None` if the text is not one program.
pub(crate) fn read(source: &str, dialect: Dialect) -> Option<Program> {
    let file = SolverFile::parse_in(source, "archive", Some(dialect));
    match (file.is_clean(), file.programs.as_slice()) {
        (true, [only]) => Some(only.clone()),
        _ => None,
    }
}

/// Returns the primitives of a program.
fn ops(program: &Program) -> String {
    let name = |operand: &Operand| match operand {
        Operand::Op(op) => Some(op.op().name),
        _ => None,
    };
    let names: BTreeSet<&str> = program.operands().filter_map(name).collect();
    Vec::from_iter(names).join(" ")
}

/// Returns whether the text has the form of a structural hash.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 32 && is_hash_prefix(text)
}

/// Returns whether the text can be the beginning of a structural hash.
pub(crate) fn is_hash_prefix(text: &str) -> bool {
    let digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.as_bytes().iter().all(digit)
}
