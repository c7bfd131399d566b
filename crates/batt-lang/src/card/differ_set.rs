//! The differs of a card: the built-in ones and the ones from files.

use std::collections::HashMap;

use batt_dsl::Dialect;

use super::{CardError, differs, structural_hash};
use crate::batt::PARAMS;
use crate::parse::SolverFile;
use crate::program::Program;

/// Differs of one dialect in order: first the built-in ones, then the ones from files.
#[derive(Clone, Debug)]
pub struct DifferSet {
    /// The differs.
    pub programs: Vec<Program>,
    /// Messages about functions that were left out: which function of which file, and why.
    pub left_out: Vec<String>,
}

impl DifferSet {
    /// Returns the built-in differs of a dialect.
    pub fn built_in(dialect: Dialect) -> DifferSet {
        DifferSet {
            programs: differs(dialect),
            left_out: Vec::new(),
        }
    }

    /// Returns an empty set.
    pub fn none() -> DifferSet {
        DifferSet {
            programs: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Adds the differs of a file. A file without any is an error. The file must have been read in
    /// the dialect of the solvers, because the parameters (S, I, C) would be detected as tokpidjin.
    pub fn add_file(&mut self, file: &SolverFile) -> Result<(), CardError> {
        let name = file.source.name();
        let mut known: HashMap<&str, String> = HashMap::new();
        for differ in &self.programs {
            known.insert(differ.name(), structural_hash(differ));
        }
        let mut added = Vec::new();
        let mut any = false;
        for program in &file.programs {
            let differ = program.name();
            if !is_differ(program) {
                let params = program.params().join(", ");
                self.left_out.push(format!(
                    "{name}: '{differ}' takes ({params}); a differ takes (S, I, C)"
                ));
                continue;
            }
            any = true;
            let hash = structural_hash(program);
            match known.get(differ) {
                None => {
                    known.insert(differ, hash);
                    added.push(program.clone());
                }
                // The differ file of the original system repeats the built-in differs.
                Some(same) if *same == hash => {}
                Some(_) => self
                    .left_out
                    .push(format!("{name}: another differ is called '{differ}'")),
            }
        }
        self.programs.extend(added);
        match any {
            true => Ok(()),
            false => Err(CardError::NoDiffer {
                file: name.to_owned(),
            }),
        }
    }
}

/// Returns whether a function takes S, I and C, in any order.
fn is_differ(program: &Program) -> bool {
    let params = program.params();
    let has = |name: &&str| params.iter().any(|p| p.eq_ignore_ascii_case(name));
    params.len() == PARAMS.len() && PARAMS.iter().all(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> SolverFile {
        SolverFile::parse_in(text, "d.py", Some(Dialect::ArcDsl))
    }

    #[test]
    fn differs_of_files_follow_the_built_in_ones() {
        let mut set = DifferSet::built_in(Dialect::ArcDsl);
        let built_in = set.programs.len();
        let mine = "def differ_mine(S, I, C):\n    return equality(I, C)\n";
        set.add_file(&file(mine)).unwrap();
        set.add_file(&file(mine)).unwrap();
        assert_eq!(set.programs.len(), built_in + 1);
        assert_eq!(set.programs[built_in].name(), "differ_mine");
        assert!(set.left_out.is_empty(), "the same differ twice is one");
        set.add_file(&file(
            "def differ_mine(S, I, C):\n    return C\ndef helper(I):\n    return I\n",
        ))
        .unwrap();
        assert_eq!(
            set.left_out,
            [
                "d.py: another differ is called 'differ_mine'",
                "d.py: 'helper' takes (I); a differ takes (S, I, C)"
            ]
        );
        let none = set.add_file(&file("def helper(I):\n    return I\n"));
        assert_eq!(none.unwrap_err().to_string(), "no differ in d.py");
    }
}
