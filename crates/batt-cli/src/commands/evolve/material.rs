//! What there is to begin with: tasks, solvers to learn from, and which solvers are held out.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::Result;
use batt::card::DifferSet;
use batt_arc::{Dataset, Task, corpus};
use batt_dsl::Dialect;
use batt_engine::Role;
use batt_evolve::Donor;
use batt_lang::{Program, SolverFile, SplitMix64};

use super::EvolveArgs;
use super::keeper::Keeper;
use crate::error::advised;
use crate::solvers::{load, load_all, load_tasks, nearest, print_findings, task_of};
use crate::ui::{Ui, counted};

/// Tasks whose solvers are held out if the user brings none: few enough for each to get some time, and enough to
/// find something.
const HELD_OUT: usize = 16;

/// What evolution begins with.
pub struct Material {
    /// All tasks that the user named.
    data: Dataset,
    solvers: Vec<Solver>,
    /// The tasks to evolve.
    pub tasks: Vec<Task>,
    /// Solvers to learn from.
    pub donors: Vec<Donor>,
    pub differs: Vec<Program>,
    pub dialect: Dialect,
    /// How many of the tasks have solvers that were left out: all of them, or none.
    pub held_out: usize,
}

/// A function of a solver file.
struct Solver {
    /// The task it is for, if it is here.
    task: Option<String>,
    program: Program,
}

impl Material {
    /// Loads all that the user names.
    pub fn load(args: &EvolveArgs, ui: &Ui) -> Result<Material> {
        let data = match &args.tasks {
            Some(path) => load_tasks(path, ui)?,
            None => corpus::tasks(),
        };
        let files = match (args.solvers.is_empty(), args.embedded()) {
            (false, _) => load_all(&args.solvers, args.dialect.dialect(), ui)?,
            (true, true) => vec![SolverFile::parse_in(
                corpus::SOLVERS,
                "corpus/solvers.py",
                args.dialect.dialect(),
            )],
            (true, false) => Vec::new(),
        };
        let first = files.iter().flat_map(|file| &file.programs).next();
        let dialect = args.dialect.dialect().or(first.map(Program::dialect));
        let dialect = dialect.unwrap_or(Dialect::ArcDsl);
        let solvers = solvers(&files, &data, dialect, ui);
        let differs = match args.differs.is_empty() {
            // Those that are built in are always there.
            true => Vec::new(),
            false => collect_differs(&args.differs, dialect, ui)?,
        };
        Ok(Material {
            data,
            solvers,
            tasks: Vec::new(),
            donors: Vec::new(),
            differs,
            dialect,
            held_out: 0,
        })
    }

    /// A number for the tasks that the user named.
    pub fn dataset(&self) -> String {
        format!("{:016x}", self.data.shown_hash())
    }

    /// Chooses the tasks to evolve and whom to learn from. Chance has a say in which solvers are held out.
    pub fn choose(&mut self, args: &EvolveArgs, seed: u64) -> Result<()> {
        let mut wanted = self.wanted(&args.task)?;
        let held_out = self.held_out(args, &wanted, seed)?;
        if !held_out.is_empty() {
            wanted.retain(|task| held_out.contains(&task.id));
        }
        wanted.retain(|task| task.train.iter().any(|pair| pair.output.is_some()));
        if wanted.is_empty() {
            return Err(advised(
                "none of these tasks has a demonstration",
                "name tasks {\"train\": [{\"input\": ..., \"output\": ...}, ...], \"test\": [...]}",
            ));
        }
        let is_donor = |solver: &&Solver| match &solver.task {
            Some(task) => !held_out.contains(task),
            None => true,
        };
        let donor = |solver: &Solver| Donor {
            task: match &solver.task {
                Some(task) => task.clone(),
                None => solver.program.name().to_owned(),
            },
            program: solver.program.clone(),
        };
        self.donors = self.solvers.iter().filter(is_donor).map(donor).collect();
        self.held_out = held_out.len();
        self.tasks = wanted;
        Ok(())
    }

    /// The tasks that are asked for; all if none is.
    fn wanted(&self, ids: &[String]) -> Result<Vec<Task>> {
        for id in ids {
            if self.data.get(id).is_none() {
                let known = self.data.iter().map(|task| task.id.as_str());
                let hint = match nearest(id, known) {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!("there are {}", counted(self.data.len(), "task")),
                };
                return Err(advised(format_args!("there is no task '{id}'"), hint));
            }
        }
        let wanted = |task: &&Task| ids.is_empty() || ids.contains(&task.id);
        Ok(self.data.iter().filter(wanted).cloned().collect())
    }

    /// The tasks whose solvers are held out.
    fn held_out(&self, args: &EvolveArgs, wanted: &[Task], seed: u64) -> Result<HashSet<String>> {
        let wanted: HashSet<&str> = wanted.iter().map(|task| task.id.as_str()).collect();
        let mut seen = HashSet::new();
        // In the order of the solvers.
        let mut solved: Vec<&str> = self
            .solvers
            .iter()
            .filter_map(|solver| solver.task.as_deref())
            .filter(|task| wanted.contains(task) && seen.insert(*task))
            .collect();
        let count = match args.hold_out {
            Some(count) if count > solved.len() => {
                return Err(advised(
                    format_args!(
                        "cannot hold out the solvers of {}: {} here",
                        counted(count, "task"),
                        match solved.len() {
                            1 => "1 task has one".to_owned(),
                            n => format!("{n} tasks have one"),
                        }
                    ),
                    "ask for fewer with --hold-out, or give more with --solvers",
                ));
            }
            Some(count) => count,
            None if !args.embedded() || !args.solvers.is_empty() => 0,
            // Whoever asks for tasks by name wants to see those.
            None if !args.task.is_empty() => solved.len(),
            None => HELD_OUT.min(solved.len()),
        };
        let mut chance = SplitMix64::new(seed);
        for at in (1..solved.len()).rev() {
            solved.swap(at, chance.below(at as u64 + 1) as usize);
        }
        Ok(solved.into_iter().take(count).map(str::to_owned).collect())
    }

    /// About how many runs a device gets at a time.
    pub fn runs_at_once(&self, args: &EvolveArgs) -> usize {
        let populations = self.tasks.len() * args.islands.get();
        let offspring = match args.offspring {
            Some(offspring) => populations.saturating_mul(offspring.get()),
            // What a generation has by default, whatever the number of populations.
            None => 32_768,
        };
        let demos: usize = self.tasks.iter().map(|task| task.train.len()).sum();
        offspring.saturating_mul(demos) / self.tasks.len().max(1)
    }

    /// Says what is about to happen.
    pub fn say(&self, args: &EvolveArgs, keeper: &Keeper, ui: &Ui) {
        let tasks = counted(self.tasks.len(), "task");
        let donors = counted(self.donors.len(), "solver");
        ui.note(match (args.embedded(), self.held_out > 0) {
            (true, true) => format!(
                "{tasks} of the {} embedded ones, without their solvers, from {donors} of the others",
                self.data.len()
            ),
            (_, true) => format!("{tasks} without their solvers, from {donors} of others"),
            (_, false) => format!("{tasks}, from {donors}"),
        });
        match keeper.path() {
            Some(path) => ui.note(format_args!("saving to {}", path.display())),
            None => ui.note("nothing is saved; --archive FILE keeps what is found"),
        }
    }
}

/// The differs that are built in and those of files.
fn collect_differs(paths: &[PathBuf], dialect: Dialect, ui: &Ui) -> Result<Vec<Program>> {
    let mut differs = DifferSet::built_in(dialect);
    for path in paths {
        let file = load(path, Some(dialect))?;
        print_findings(file.source.name(), &file.diagnostics, ui);
        let added = differs.add_file(&file);
        for why in differs.left_out.drain(..) {
            ui.warn(format_args!("{why}; left out"));
        }
        added.map_err(batt::Error::from)?;
    }
    Ok(differs.programs)
}

/// The solvers of some files, with their tasks. What cannot be learnt from is mentioned and left out.
fn solvers(files: &[SolverFile], data: &Dataset, dialect: Dialect, ui: &Ui) -> Vec<Solver> {
    let (mut solvers, mut others, mut foreign) = (Vec::new(), Vec::new(), Vec::new());
    for program in files.iter().flat_map(|file| &file.programs) {
        if Role::of(program.params()).is_none() {
            others.push(program.name());
        } else if program.dialect() != dialect {
            foreign.push(program.name());
        } else {
            solvers.push(Solver {
                task: task_of(program.name(), data).map(|task| task.id.clone()),
                program: program.clone(),
            });
        }
    }
    ui.mention(
        "left out, not a function of one grid or of (S, I, C)",
        &others,
    );
    let name = dialect.name();
    ui.mention(&format!("left out, not {name} as the others"), &foreign);
    solvers
}
