//! Merging solvers into one program, a *batt*, and cutting solvers out of it again.
//!
//! ```
//! use batt::card::{self, DonorPool};
//! use batt::{Control, Solvers, Tasks};
//!
//! let tasks = Tasks::embedded();
//! let mut donors = DonorPool::new(&Solvers::embedded(), Some(&tasks))?.pick(None, Some(10), 7)?;
//! donors.add_mutants(5, 7, &Control::new());
//! let differs = card::DifferSet::built_in(donors.dialect());
//! let merged = donors.merge(&differs, None)?;
//! assert_eq!(merged.stats.solvers, 15);
//!
//! let donor = &donors.iter().next().unwrap().id;
//! let cut = card::extract_donor(&merged.batt, donor, None)?;
//! assert!(cut.source.contains(&format!("def solve_{donor}(I):")));
//! # Ok::<(), batt::Error>(())
//! ```

use std::path::{Path, PathBuf};

use batt_arc::Task;
use batt_arc::text::counted;
use batt_dsl::Dialect;
use batt_lang::batt::{is_json_form, to_json_text, write_batt};
use batt_lang::card::{
    self, CardDonor, CardMerged, CardOptions, DonorIds, ExtractError, donor_id, mutant_id,
};
use batt_lang::{
    Batt, BattFile, OnError, Operand, Output, Program, SolverFile, nearest, print_file,
};

pub use batt_lang::batt::Form;
pub use batt_lang::card::{CardError, DifferSet, MergeStats, OpUse, StepUse, structural_hash};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::solvers::Solvers;
use crate::tasks::Tasks;

/// A solver in a [`DonorPool`].
#[derive(Clone, Debug)]
pub struct PooledDonor {
    /// Its name in the batt: the id of its task, or an id from its function name.
    pub id: String,
    /// The solver.
    pub program: Program,
    /// Its file; `None` for a mutant.
    pub file: Option<String>,
    /// The number of cells in all grids of its task, if the task is known.
    pub cells: Option<usize>,
    /// The id of its parent and the kind of mutation; `None` if it is not a mutant.
    pub mutant_of: Option<(String, &'static str)>,
    /// The id of its task, or the id that its function name tells.
    task: String,
}

/// Solvers to merge, each with a unique id.
#[derive(Clone, Debug, Default)]
pub struct DonorPool {
    donors: Vec<PooledDonor>,
    /// Functions that cannot be merged, each with the reason in words.
    pub left_out: Vec<String>,
    /// Names of functions whose task is not among the tasks.
    pub without_task: Vec<String>,
    /// Ids with an added number, because another solver of the task has the id.
    pub renamed: Vec<String>,
}

impl DonorPool {
    /// Collects every solver that can be merged. If tasks are given, the solver of the largest task
    /// is merged first.
    pub fn new(solvers: &Solvers, tasks: Option<&Tasks>) -> Result<DonorPool> {
        let mut pool = DonorPool::default();
        let mut ids = DonorIds::default();
        for (program, file) in solvers.functions() {
            if let Err(error) = card::canonical(program) {
                pool.left_out.push(format!("{file}: {error}"));
                continue;
            }
            let task = tasks.map(|tasks| tasks.task_of(program.name()));
            if task == Some(None) {
                pool.without_task.push(program.name().to_owned());
            }
            let task = task.flatten();
            let wanted = task.map_or(donor_id(program.name()), |task| &task.id);
            let id = ids.take(wanted);
            if id != wanted {
                pool.renamed.push(id.clone());
            }
            pool.donors.push(PooledDonor {
                id,
                program: program.clone(),
                file: Some(file.to_owned()),
                cells: task.map(cells),
                mutant_of: None,
                task: wanted.to_owned(),
            });
        }
        match pool.donors.is_empty() {
            true => Err(Error::request(
                "no solver that can be merged",
                "a solver takes one grid or (S, I, C): def solve_<task id>(I): ... return O",
            )),
            false => Ok(pool),
        }
    }

    /// Keeps the solvers of one task or of all, and of these a random selection of `count`, or all.
    /// The same seed selects the same solvers.
    pub fn pick(
        mut self,
        task: Option<&str>,
        count: Option<usize>,
        seed: u64,
    ) -> Result<DonorPool> {
        if let Some(task) = task {
            let is_wanted = |donor: &PooledDonor| donor.task == task || donor.id == task;
            if !self.donors.iter().any(is_wanted) {
                let hint = match nearest(task, self.donors.iter().map(|donor| donor.task.as_str()))
                {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!(
                        "there are {}, the first for '{}'",
                        counted(self.donors.len(), "solver"),
                        self.donors[0].task
                    ),
                };
                return Err(Error::request(
                    format_args!("no solver for task '{task}'"),
                    hint,
                ));
            }
            self.donors.retain(is_wanted);
        }
        let picked = card::select(&self.as_donors(), count, None, seed).map_err(|error| {
            Error::request(error, "ask for fewer with --count, or leave it out for all")
        })?;
        let mut picked: Vec<String> = picked.into_iter().map(|donor| donor.id).collect();
        picked.reverse();
        // The selected donors keep their order.
        self.donors
            .retain(|donor| picked.pop_if(|next| *next == donor.id).is_some());
        Ok(self)
    }

    /// Adds mutants: donors with random, well-typed changes, one donor after the other in turn.
    /// Returns their number, which may be below `count` because short solvers have few mutants.
    /// After a cancellation the mutants so far are added.
    pub fn add_mutants(&mut self, count: usize, seed: u64, control: &Control) -> usize {
        if !self.is_uniform() {
            return 0;
        }
        let programs: Vec<&Program> = self.iter().map(|donor| &donor.program).collect();
        let mutants = batt_evolve::mutants(&programs, count, seed, control.token());
        let mut counts = vec![0; self.donors.len()];
        let made = mutants.len();
        for mutant in mutants {
            let parent = &self.donors[mutant.parent];
            let count = &mut counts[mutant.parent];
            *count += 1;
            self.donors.push(PooledDonor {
                id: mutant_id(&parent.id, *count),
                program: mutant.program,
                file: None,
                cells: parent.cells,
                mutant_of: Some((parent.id.clone(), mutant.kind.name())),
                task: parent.task.clone(),
            });
        }
        made
    }

    /// Returns the donors.
    pub fn iter(&self) -> std::slice::Iter<'_, PooledDonor> {
        self.donors.iter()
    }

    /// Returns the number of donors.
    pub fn len(&self) -> usize {
        self.donors.len()
    }

    /// Returns whether there are no donors.
    pub fn is_empty(&self) -> bool {
        self.donors.is_empty()
    }

    /// Returns the dialect of the first donor.
    pub fn dialect(&self) -> Dialect {
        let first = self.donors.first();
        first.map_or(Dialect::default(), |donor| donor.program.dialect())
    }

    /// Returns whether all donors have the same dialect, as merging requires.
    pub fn is_uniform(&self) -> bool {
        let mut donors = self.donors.iter();
        donors.all(|donor| donor.program.dialect() == self.dialect())
    }

    /// Merges the donors, and scores each with every differ. Without a form, the form that suits
    /// the dialect is used.
    pub fn merge(&self, differs: &DifferSet, form: Option<Form>) -> Result<MergedBatt> {
        let form = match (self.dialect(), form) {
            (_, Some(Form::Plain)) => Form::Plain,
            (Dialect::Tokpidjin, _) => Form::Guarded,
            (_, None) => Form::Plain,
            (dialect, Some(Form::Guarded)) => {
                return Err(Error::request(
                    format_args!("{} has no guarded form", dialect.name()),
                    "guards need the defaults of tokpidjin; leave --guarded out",
                ));
            }
        };
        let options = CardOptions {
            on_error: match form {
                Form::Guarded => OnError::Defaults,
                Form::Plain => OnError::Poison,
            },
            ..CardOptions::default()
        };
        let CardMerged { batt, stats } =
            card::merge(&self.as_donors(), &differs.programs, &options)?;
        Ok(MergedBatt { batt, stats, form })
    }

    fn as_donors(&self) -> Vec<CardDonor<'_>> {
        let donors = self.donors.iter().map(|donor| CardDonor {
            id: donor.id.clone(),
            program: &donor.program,
            size: donor.cells,
            mutated: donor.mutant_of.is_some(),
        });
        donors.collect()
    }
}

/// Merges all solvers with the built-in differs.
pub fn merge(solvers: &Solvers, tasks: Option<&Tasks>) -> Result<MergedBatt> {
    let donors = DonorPool::new(solvers, tasks)?;
    donors.merge(&DifferSet::built_in(donors.dialect()), None)
}

/// Solvers merged into one batt.
#[derive(Clone, Debug)]
pub struct MergedBatt {
    /// The batt.
    pub batt: Batt,
    /// The counts of the merge.
    pub stats: MergeStats,
    /// The form in which its steps are written.
    pub form: Form,
}

impl MergedBatt {
    /// Returns the Python text.
    pub fn text(&self) -> String {
        text(&self.batt, self.form)
    }

    /// Writes the Python text to a file and the JSON form beside it, as [`save`] does.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        save(&self.batt, self.form, path)
    }
}

/// Returns the form in which the steps of a batt are written: guarded if they fall back to
/// defaults.
pub fn form_of(batt: &Batt) -> Form {
    match batt.on_error {
        OnError::Defaults => Form::Guarded,
        OnError::Poison => Form::Plain,
    }
}

/// Returns the Python text of a batt.
pub fn text(batt: &Batt, form: Form) -> String {
    write_batt(batt, form)
}

/// Writes the Python text of a batt to a file and the JSON form beside it. Both are complete before
/// either replaces an old file.
pub fn save(batt: &Batt, form: Form, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let text = batt_results::stage(path, &text(batt, form))?;
    let json = batt_results::stage(&json_beside(path), &to_json_text(batt))?;
    text.put()?;
    Ok(json.put()?)
}

/// Returns the path of the JSON form of a batt file. Loading looks for it there.
pub fn json_beside(path: &Path) -> PathBuf {
    path.with_extension("json")
}

/// Checks a target of [`MergedBatt::save`]. Refuses a target that would replace an input file, or a
/// JSON file of another kind.
pub fn check_target<'p>(path: &Path, read: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    let json = json_beside(path);
    if json == path {
        return Err(Error::request(
            format_args!(
                "cannot write {}: the JSON form has this name",
                path.display()
            ),
            "name the Python file; the .json is written beside it",
        ));
    }
    batt_results::check_not_read(path, read)?;
    let text = || std::fs::read(&json).unwrap_or_default();
    if json.is_file() && !is_json_form(&text()) {
        return Err(Error::request(
            format_args!(
                "cannot write {}: it exists and is not the JSON form of a batt",
                json.display()
            ),
            "choose another name, or move that file away",
        ));
    }
    Ok(())
}

/// Returns the dialect that a parser detects in a batt's text.
pub fn dialect_of_text(text: &str) -> Dialect {
    BattFile::parse(text, "batt", None).dialect
}

/// A solver extracted from a batt, in canonical form.
#[derive(Clone, Debug)]
pub struct ExtractedSolver {
    /// The program.
    pub program: Program,
    /// The structural hash of the program.
    pub hash: String,
    /// The text of a solver file, with the hash in a comment.
    pub source: String,
}

impl ExtractedSolver {
    /// Prints the program and parses the text again, which fails if the name is not a valid
    /// function name.
    fn new(program: Program) -> Result<ExtractedSolver> {
        let hash = structural_hash(&program);
        let source = format!("# hash {hash}\n{}", print_file([&program]));
        let again = SolverFile::parse_in(&source, "", Some(program.dialect()));
        if !again.is_clean() || again.program(program.name()).is_none() {
            return Err(Error::request(
                format_args!("'{}' cannot be the name of a solver", program.name()),
                "choose a name that Python and the library do not use, of letters, digits and _",
            ));
        }
        Ok(ExtractedSolver {
            program,
            hash,
            source,
        })
    }

    /// Returns the dialect that a parser detects in the text.
    pub fn dialect_of_text(&self) -> Dialect {
        SolverFile::parse(&self.source, "").dialect
    }
}

/// Extracts the solver that computes a step.
pub fn extract_step(batt: &Batt, number: u32, name: &str) -> Result<ExtractedSolver> {
    let program = card::extract(batt, number, name).map_err(|error| {
        let ExtractError::NoSuchStep { .. } = error;
        let after = batt.numbers.partition_point(|&n| n < number);
        let before = after.checked_sub(1).map(|k| batt.numbers[k]);
        let hint = match (before, batt.numbers.get(after)) {
            (Some(a), Some(b)) => format!("the nearest are t{a} and t{b}"),
            (Some(only), None) => format!("the nearest is t{only}"),
            (None, Some(only)) => format!("the nearest is t{only}"),
            (None, None) => "it has no steps; --donor cuts out the candidate of a donor".to_owned(),
        };
        Error::request(format_args!("the batt has no step t{number}"), hint)
    })?;
    ExtractedSolver::new(program)
}

/// Extracts the solver that computes the first candidate of a donor. Its default name is `solve_`
/// followed by the donor's id.
pub fn extract_donor(batt: &Batt, donor: &str, name: Option<&str>) -> Result<ExtractedSolver> {
    let Some(output) = candidates_of(batt, donor).next() else {
        let donors = || batt.outputs.iter().map(|output| output.donor.as_str());
        let hint = match (nearest(donor, donors()), donors().next()) {
            (Some(near), _) => format!("did you mean '{near}'?"),
            (None, Some(first)) => format!(
                "it has {}, the first of '{first}'",
                counted(batt.outputs.len(), "candidate")
            ),
            (None, None) => "it has no candidates; --step cuts out any step".to_owned(),
        };
        return Err(Error::request(
            format_args!("the batt has no candidate of '{donor}'"),
            hint,
        ));
    };
    let name = name.map_or_else(|| function_name(donor), str::to_owned);
    extract_value(batt, &output.value, &name)
}

/// Returns the candidates of a donor.
pub fn candidates_of<'b>(batt: &'b Batt, donor: &str) -> impl Iterator<Item = &'b Output> {
    batt.outputs
        .iter()
        .filter(move |output| output.donor == donor)
}

/// Extracts the solver that computes a value of a batt, such as that of a candidate.
pub fn extract_value(batt: &Batt, value: &Operand, name: &str) -> Result<ExtractedSolver> {
    ExtractedSolver::new(card::extract_value(batt, value, name))
}

/// Returns a function name for the solver of a donor, from which `batt run` can tell the task.
fn function_name(donor: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let donor: String = donor.chars().map(word).collect();
    format!("solve_{donor}")
}

/// Returns the size of a task: the number of cells in all its grids.
fn cells(task: &Task) -> usize {
    let pairs = task.pairs().map(|(_, pair)| {
        let output = pair.output.as_ref().map_or(0, |grid| grid.cells().len());
        pair.input.cells().len() + output
    });
    pairs.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn donors_make_function_names() {
        assert_eq!(function_name("1673c3ec"), "solve_1673c3ec");
        assert_eq!(function_name("a.2 é"), "solve_a_2__");
    }
}
