//! Which solvers there are, whose they are, and which of them are merged.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use anyhow::Result;
use batt_arc::Dataset;
use batt_lang::SolverFile;
use batt_lang::card::{self, Donor};

use crate::donors::{Ids, cells, id_of};
use crate::error::advised;
use crate::solvers::{nearest, task_of};
use crate::ui::{Ui, counted};

/// The solvers of all files that can be merged.
pub struct Candidates<'f> {
    donors: Vec<Donor<'f>>,
    /// For each donor the task it is for.
    tasks: Vec<String>,
    /// The file of each donor, by its id.
    files: HashMap<String, &'f str>,
    /// Can all functions of the files be merged?
    pub complete: bool,
}

impl<'f> Candidates<'f> {
    /// Finds the solvers. A function with other parameters is reported and left out.
    pub fn new(files: &'f [SolverFile], data: Option<&Dataset>, ui: &Ui) -> Result<Candidates<'f>> {
        let mut found = Candidates {
            donors: Vec::new(),
            tasks: Vec::new(),
            files: HashMap::new(),
            complete: true,
        };
        let mut ids = Ids::default();
        let (mut without_task, mut renamed) = (Vec::new(), Vec::new());
        for file in files {
            for program in &file.programs {
                if let Err(error) = card::canonical(program) {
                    ui.warn(format_args!("{}: {error}; left out", file.source.name()));
                    found.complete = false;
                    continue;
                }
                let task = data.map(|data| task_of(program.name(), data));
                if task == Some(None) {
                    without_task.push(program.name());
                }
                let task = task.flatten();
                let task_id = id_of(program, task);
                let id = ids.take(task_id);
                if id != task_id {
                    renamed.push(id.clone());
                }
                found.files.insert(id.clone(), file.source.name());
                found.tasks.push(task_id.to_owned());
                found.donors.push(Donor {
                    id,
                    program,
                    size: task.map(cells),
                    mutated: false,
                });
            }
        }
        if found.donors.is_empty() {
            return Err(advised(
                "no solver that can be merged",
                "a solver takes one grid or (S, I, C): def solve_<task id>(I): ... return O",
            ));
        }
        ui.mention("without a task here", &without_task);
        let renamed: Vec<&str> = renamed.iter().map(String::as_str).collect();
        ui.mention("of a task that has one already", &renamed);
        Ok(found)
    }

    /// Those of one task or all, and of these all or some by chance.
    pub fn pick(
        &self,
        count: Option<NonZeroUsize>,
        task: Option<&str>,
        seed: u64,
    ) -> Result<Vec<Donor<'f>>> {
        let donors = self.donors.iter().zip(&self.tasks);
        let wanted = |id: &str, its: &str| task.is_none_or(|task| task == its || task == id);
        let donors: Vec<Donor> = donors
            .filter(|(donor, its)| wanted(&donor.id, its))
            .map(|(donor, _)| donor.clone())
            .collect();
        if let (Some(task), true) = (task, donors.is_empty()) {
            let hint = match nearest(task, self.tasks.iter().map(String::as_str)) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!(
                    "there are {}, the first for '{}'",
                    counted(self.donors.len(), "solver"),
                    self.tasks[0]
                ),
            };
            return Err(advised(format_args!("no solver for task '{task}'"), hint));
        }
        let count = count.map(NonZeroUsize::get);
        card::select(&donors, count, None, seed)
            .map_err(|error| advised(error, "ask for fewer with --count, or leave it out for all"))
    }

    /// The file a donor is from.
    pub fn file_of(&self, donor: &Donor<'_>) -> Option<&'f str> {
        self.files.get(&donor.id).copied()
    }
}
