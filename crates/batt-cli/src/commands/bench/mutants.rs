//! Mutants of a checkout's solvers, by Python and by us: programs that nobody wrote, on real inputs, with all the faults
//! that nobody meant. What comes out has to be the same, bit for bit, fault for fault.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_arc::{Pair, Task};
use batt_dsl::{Fault, Limits, OwnedValue, Workspace};
use batt_engine::{Compiled, EvalOptions, Job, RunError, Sample, Values, Verdict, run_job};
use batt_lang::Program;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::against::task_folder;
use super::checkout::Kind;
use super::mega::setup::donors;
use super::python::{Python, rows};
use crate::donors::mutants;
use crate::interrupt;
use crate::solvers::{load_all, load_tasks, task_of};
use crate::ui::{BAD, GOOD, Ui, counted, grouped, table, table_text};

const SCRIPT: &str = concat!(include_str!("answers.py"), include_str!("mutants.py"));

/// Seconds that Python may take for one input.
const PATIENCE: f64 = 3.0;

/// Bytes that Python may take.
const MEMORY: u64 = 4 << 30;

/// Pythons that are asked where an answer differs, until one differs from the first. Functions and `None` have the hashes of their
/// addresses, which are others in each process, so the order of a set with them is undefined. Some answers depend on that in few cases only.
const WITNESSES: usize = 100;

/// Differences listed.
const LISTED: usize = 20;

/// What to compare.
pub struct Wanted<'a> {
    pub checkout: &'a Path,
    pub kind: Kind,
    pub python: Option<&'a Path>,
    /// Solver files; none for the checkout's own.
    pub solvers: &'a [PathBuf],
    pub tasks: Option<&'a Path>,
    pub count: usize,
    pub seed: u64,
    pub limits: Limits,
}

/// What the comparison found. Results are one for each input of the task that a mutant's parent is for.
#[derive(Default)]
pub struct Comparison {
    pub python: String,
    pub version: String,
    pub solvers: usize,
    pub mutants: usize,
    /// Values and errors that are the same.
    pub same: usize,
    /// How many of those are errors.
    pub errors: usize,
    /// Runs that reached a limit here.
    pub limited: usize,
    /// Runs that Python was not done with in time, or in the memory it had, or whose result is too long to be written.
    pub late: usize,
    /// Runs on which one Python differs from another.
    pub undefined: usize,
    pub differ: usize,
    /// The first that differ.
    pub differences: Vec<String>,
    pub interrupted: bool,
}

/// Python's results on all inputs.
#[derive(Deserialize)]
struct Answer {
    results: Vec<Json>,
}

/// Compares results, as many as there are.
pub fn compare(wanted: &Wanted<'_>, ui: &Ui) -> Result<Comparison> {
    let files = wanted.kind.files(wanted.checkout, wanted.solvers);
    let files = load_all(&files, Some(wanted.kind.dialect()), ui)?;
    let data = load_tasks(&task_folder(wanted.checkout, wanted.tasks)?, ui)?;
    let donors = donors(files.iter().flat_map(|file| &file.programs), &data);
    let mutants = mutants(&donors, wanted.count, wanted.seed);
    let start = |padding: usize| {
        let [memory, padding] = [MEMORY.to_string(), padding.to_string()];
        let args: [&OsStr; 3] = [
            wanted.checkout.as_os_str(),
            memory.as_ref(),
            padding.as_ref(),
        ];
        Python::start_script(wanted.python, SCRIPT, &args)
    };
    let mut python = start(0)?;
    let mut comparison = Comparison {
        python: python.path.display().to_string(),
        version: python.version.clone(),
        solvers: donors.len(),
        ..Comparison::default()
    };
    let mut workspace = Workspace::new();
    let bar = ui.progress(mutants.len(), "comparing");
    for mutant in &mutants {
        if interrupt::happened() {
            comparison.interrupted = true;
            break;
        }
        bar.inc(1);
        let program = &mutant.program;
        let Some(task) = task_of(program.name(), &data) else {
            continue;
        };
        comparison.mutants += 1;
        let ours = our_results(program, task, &wanted.limits, &mut workspace);
        let request = request(program, task);
        let Answer { results } = python.ask(&request)?;
        let mut witnesses: Vec<Answer> = Vec::new();
        for (at, (ours, theirs)) in ours.iter().zip(&results).enumerate() {
            let mut found = agree(ours, theirs);
            let mut witness = 0;
            while found == Agreement::Different && witness < WITNESSES {
                if witness == witnesses.len() {
                    witnesses.push(start(1 + witness)?.ask(&request)?);
                }
                if witnesses[witness].results[at] != *theirs {
                    found = Agreement::Undefined;
                }
                witness += 1;
            }
            comparison.count(found, || difference(program, task, at, ours, theirs));
        }
    }
    bar.finish_and_clear();
    Ok(comparison)
}

/// What Python is asked.
fn request(program: &Program, task: &Task) -> Json {
    let both = |pair: &Pair| {
        let output = pair.output.as_ref()?;
        Some(json!([rows(&pair.input), rows(output)]))
    };
    let inputs = task.pairs().map(|(_, pair)| rows(&pair.input));
    json!({
        "text": program.to_string(),
        "name": program.name(),
        "params": program.params(),
        "demos": task.train.iter().filter_map(both).collect::<Vec<_>>(),
        "inputs": inputs.collect::<Vec<_>>(),
        "limit": PATIENCE,
    })
}

type Ours = Result<OwnedValue, RunError>;

/// Our results on all inputs of a task.
fn our_results(
    program: &Program,
    task: &Task,
    limits: &Limits,
    workspace: &mut Workspace,
) -> Vec<Ours> {
    let options = EvalOptions {
        values: Values::All,
        limits: *limits,
        ..EvalOptions::default()
    };
    let program = &Compiled::new(program);
    let result = |(_, pair)| {
        let sample = Sample::new(task, pair);
        let result = run_job(workspace, &Job { program, sample }, &options);
        match (result.value, result.verdict) {
            (_, Verdict::Failed(error)) => Err(error),
            (Some(value), _) => Ok(value),
            // There was no room to copy it.
            (None, _) => Err(RunError {
                fault: Fault::Memory,
                step: None,
            }),
        }
    };
    task.pairs().map(result).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    SameValue,
    SameError,
    Limited,
    Late,
    Undefined,
    Different,
}

/// Is a result of Python's what we found?
fn agree(ours: &Ours, theirs: &Json) -> Agreement {
    let same = match (ours, theirs.get("err")) {
        _ if theirs.get("late").is_some() => return Agreement::Late,
        (Err(error), _) if error.fault.is_limit() => return Agreement::Limited,
        (Err(error), Some(theirs)) if theirs == error.fault.name() => return Agreement::SameError,
        // As JSON: functions have no value that could be read.
        (Ok(ours), None) => ours.to_json() == *theirs,
        _ => false,
    };
    match same {
        true => Agreement::SameValue,
        false => Agreement::Different,
    }
}

fn difference(program: &Program, task: &Task, at: usize, ours: &Ours, theirs: &Json) -> String {
    let ours = match ours {
        Ok(value) => value.to_json().to_string(),
        Err(error) => json!({"err": error.fault.name()}).to_string(),
    };
    let pair = task.pairs().nth(at).map(|(pair, _)| pair.to_string());
    let (id, pair) = (&task.id, pair.unwrap_or_default());
    format!("{id} {pair}: Python {theirs}, batt {ours}\n{program}")
}

impl Comparison {
    fn count(&mut self, found: Agreement, describe: impl FnOnce() -> String) {
        match found {
            Agreement::SameValue => self.same += 1,
            Agreement::SameError => {
                self.same += 1;
                self.errors += 1;
            }
            Agreement::Limited => self.limited += 1,
            Agreement::Late => self.late += 1,
            Agreement::Undefined => self.undefined += 1,
            Agreement::Different => {
                self.differ += 1;
                if self.differences.len() < LISTED {
                    self.differences.push(describe());
                }
            }
        }
    }
}

/// Writes the report for people.
pub fn write(out: &mut impl Write, comparison: &Comparison, ui: &Ui) -> Result<()> {
    writeln!(
        out,
        "{} of {} on the inputs of their tasks, by {} ({}) and by batt{}",
        counted(comparison.mutants, "mutant"),
        counted(comparison.solvers, "solver"),
        comparison.python,
        comparison.version,
        if comparison.interrupted {
            " (interrupted)"
        } else {
            ""
        },
    )?;
    let mut rows = table(&["result", "runs", ""], &[1]);
    let errors = format!("{} of them errors", grouped(comparison.errors));
    for (result, runs, note) in [
        ("same", comparison.same, errors.as_str()),
        ("differs", comparison.differ, ""),
        (
            "undefined",
            comparison.undefined,
            "one Python differs from another: functions and None have no order",
        ),
        ("limit", comparison.limited, "reached here"),
        ("late", comparison.late, "Python was given up"),
    ] {
        rows.add_row([result, &grouped(runs), note]);
    }
    write!(out, "{}", table_text(&rows))?;
    for difference in &comparison.differences {
        writeln!(out, "\n{} {difference}", ui.out(BAD, "differs:"))?;
    }
    if comparison.differ == 0 && !comparison.interrupted {
        writeln!(out, "{}", ui.out(GOOD, "nothing differs"))?;
    }
    Ok(())
}

/// The report as JSON.
pub fn to_json(comparison: &Comparison) -> Json {
    json!({
        "python": comparison.python,
        "version": comparison.version,
        "solvers": comparison.solvers,
        "mutants": comparison.mutants,
        "same": comparison.same,
        "errors": comparison.errors,
        "differ": comparison.differ,
        "undefined": comparison.undefined,
        "limited": comparison.limited,
        "late": comparison.late,
        "differences": comparison.differences,
        "interrupted": comparison.interrupted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_apart() {
        let failed = |fault| Err(RunError { fault, step: None });
        let value = |json: Json| Ok(OwnedValue::from_json(&json).expect("a value"));
        for (ours, theirs, found) in [
            (value(json!(3)), json!(3), Agreement::SameValue),
            (value(json!(1)), json!(true), Agreement::Different),
            (
                value(json!({"s": [1, 8]})),
                json!({"s": [8, 1]}),
                Agreement::Different,
            ),
            (
                failed(Fault::Type),
                json!({"err": "TypeError"}),
                Agreement::SameError,
            ),
            (
                failed(Fault::Type),
                json!({"err": "ValueError"}),
                Agreement::Different,
            ),
            (failed(Fault::Type), json!(3), Agreement::Different),
            (
                value(json!(3)),
                json!({"err": "TypeError"}),
                Agreement::Different,
            ),
            (failed(Fault::Steps), json!(3), Agreement::Limited),
            (value(json!(3)), json!({"late": "time"}), Agreement::Late),
        ] {
            assert_eq!(agree(&ours, &theirs), found, "{ours:?}, {theirs}");
        }
    }
}
