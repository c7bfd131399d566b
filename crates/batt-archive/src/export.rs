//! Exports archived solvers as the functions of a solver file.

use std::collections::{BTreeMap, HashSet};

use batt_dsl::Dialect;
use batt_lang::{Program, print_file};

use crate::archive::Archive;
use crate::error::ArchiveError;
use crate::records::ArchiveEntry;

/// Selects the solvers to export.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Only these tasks; empty for all tasks.
    pub tasks: Vec<String>,
    /// Only the best solver of each task.
    pub best: bool,
    /// Only solvers that solve all demonstrations.
    pub solved: bool,
    /// The dialect of the file; `None` for the most frequent one.
    pub dialect: Option<Dialect>,
}

/// Solvers for a file. The best solver of a task is named `solve_<task>`, the others
/// `solve2_<task>` and so on.
#[derive(Clone, Debug)]
pub struct Export {
    /// The dialect of the file.
    pub dialect: Dialect,
    /// The entries with their programs, renamed for the file, task by task, the best first.
    pub solvers: Vec<(ArchiveEntry, Program)>,
    /// The number of solvers that were left out because of their dialect.
    pub other_dialect: usize,
}

impl Export {
    /// Returns the text of the solver file.
    pub fn to_source(&self) -> String {
        print_file(self.solvers.iter().map(|(_, program)| program))
    }
}

impl Archive {
    /// Exports solvers.
    pub fn export(&self, options: &ExportOptions) -> Result<Export, ArchiveError> {
        let entries = self.entries_to_export(options)?;
        let dialect = options.dialect.unwrap_or_else(|| most_common(&entries));
        let other_dialect = entries.iter().filter(|e| e.dialect != dialect).count();
        let entries = entries.into_iter().filter(|e| e.dialect == dialect);
        let mut solvers: Vec<(ArchiveEntry, Program)> = Vec::new();
        let mut names = HashSet::new();
        let mut of_task = 0;
        for entry in entries {
            let Some(program) = entry.program() else {
                continue;
            };
            match solvers.last() {
                Some((last, _)) if last.task == entry.task => of_task += 1,
                _ => of_task = 1,
            }
            if options.best && of_task > 1 {
                continue;
            }
            let number = match of_task {
                1 => String::new(),
                n => n.to_string(),
            };
            let mut name = format!("solve{number}_{}", identifier(&entry.task));
            // Two task ids may be the same without their special characters.
            while !names.insert(name.clone()) {
                name = name.replacen("solve", "solve_", 1);
            }
            solvers.push((entry, program.renamed(name)));
        }
        Ok(Export {
            dialect,
            solvers,
            other_dialect,
        })
    }

    /// Returns the selected entries, task by task, best first.
    fn entries_to_export(
        &self,
        options: &ExportOptions,
    ) -> Result<Vec<ArchiveEntry>, ArchiveError> {
        let mut tasks = options.tasks.clone();
        if tasks.is_empty() {
            tasks = self.tasks()?.into_iter().map(|task| task.task).collect();
            tasks.dedup();
        }
        let mut chosen = Vec::new();
        for task in &tasks {
            let mut entries = self.best(task, None, usize::MAX)?;
            if entries.is_empty() {
                return Err(ArchiveError::NoTask {
                    path: self.path.clone(),
                    task: task.clone(),
                });
            }
            // A solver may have scores on several versions of a task.
            let mut seen = HashSet::new();
            entries.retain(|entry| {
                (!options.solved || entry.score.is_solved()) && seen.insert(entry.hash.clone())
            });
            chosen.extend(entries);
        }
        Ok(chosen)
    }
}

/// Returns the most frequent dialect. Of equally frequent ones it returns the first.
fn most_common(entries: &[ArchiveEntry]) -> Dialect {
    let mut counts: BTreeMap<Dialect, usize> = BTreeMap::new();
    for entry in entries {
        *counts.entry(entry.dialect).or_default() += 1;
    }
    let by_count = |(dialect, count): &(Dialect, usize)| (*count, std::cmp::Reverse(*dialect));
    let most = counts.into_iter().max_by_key(by_count);
    most.map(|(dialect, _)| dialect).unwrap_or_default()
}

/// Returns the id of a task as part of a Python name.
fn identifier(task: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    task.chars().map(word).collect()
}
