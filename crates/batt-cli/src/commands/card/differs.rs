//! The differs of a card: those built in, and those of the user.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Result;
use batt_dsl::Dialect;
use batt_lang::batt::PARAMS;
use batt_lang::{Program, card};

use crate::error::advised;
use crate::solvers::{load, print_findings};
use crate::ui::Ui;

/// Differs, in order.
pub struct Differs {
    pub programs: Vec<Program>,
    /// Is every function of the files among them?
    pub complete: bool,
}

impl Default for Differs {
    fn default() -> Differs {
        Differs {
            programs: Vec::new(),
            complete: true,
        }
    }
}

/// The built-in differs, then those of the files.
///
/// The files are read in the dialect of the solvers: that they take (S, I, C) would make them look like tokpidjin.
pub fn collect(paths: &[PathBuf], dialect: Dialect, ui: &Ui) -> Result<Differs> {
    let mut differs = Differs {
        programs: card::differs(dialect),
        complete: true,
    };
    let hash = |differ: &Program| (differ.name().to_owned(), card::structural_hash(differ));
    let mut known: HashMap<String, String> = differs.programs.iter().map(hash).collect();
    for path in paths {
        let file = load(path, Some(dialect))?;
        let name = file.source.name();
        print_findings(name, &file.diagnostics, ui);
        differs.complete &= file.is_clean();
        let mut any = false;
        for program in &file.programs {
            if !is_differ(program) {
                ui.warn(format_args!(
                    "{name}: '{}' takes ({}); a differ takes (S, I, C); left out",
                    program.name(),
                    program.params().join(", ")
                ));
                differs.complete = false;
                continue;
            }
            any = true;
            let (differ, hash) = hash(program);
            match known.get(&differ) {
                None => {
                    known.insert(differ, hash);
                    differs.programs.push(program.clone());
                }
                // The file of the original holds those that are built in.
                Some(same) if *same == hash => {}
                Some(_) => {
                    ui.warn(format_args!(
                        "{name}: another differ is called '{differ}'; left out"
                    ));
                    differs.complete = false;
                }
            }
        }
        if !any {
            return Err(advised(
                format_args!("no differ in {name}"),
                "a differ compares two grids: def differ_<name>(S, I, C): ... return O",
            ));
        }
    }
    Ok(differs)
}

/// Does a function take (S, I, C), in whatever order?
fn is_differ(program: &Program) -> bool {
    let params = program.params();
    let has = |name: &&str| params.iter().any(|p| p.eq_ignore_ascii_case(name));
    params.len() == PARAMS.len() && PARAMS.iter().all(has)
}
