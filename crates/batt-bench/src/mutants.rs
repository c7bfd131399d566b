//! Compares random variants of a checkout's solvers under Python and under this engine, on real
//! inputs. They reach faults that no hand-written solver does. Values and errors must be the same.

use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use batt_arc::{Pair, Task};
use batt_dsl::{Fault, Limits, OwnedValue, Workspace};
use batt_engine::{Compiled, EvalOptions, Job, RunError, Sample, Values, Verdict, run_job};
use batt_lang::Program;
use batt_reference::{Python, SCRIPT_PREAMBLE, rows};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::corpus::mutants;
use crate::interrupt;
use crate::options::Common;
use crate::text::{counted, grouped, interrupted, print, table, table_text};

/// The script, which follows the preamble of every script.
const SCRIPT: &str = include_str!("mutants.py");

/// The seconds that Python may take for one input.
const PYTHON_SECONDS: f64 = 3.0;

/// The bytes of memory that Python may use.
const MEMORY: u64 = 4 << 30;

/// The most Python processes that repeat a differing run to find out whether Python itself is
/// deterministic. Functions and `None` hash by address, so the order of a set that holds them
/// changes with the process. Some answers depend on that order in only a few processes.
const WITNESSES: usize = 100;

/// The number of differences listed.
const LISTED: usize = 20;

/// Compare random variants of a checkout's solvers with Python, value by value and error by error
///
/// Each mutant runs once on either side, on the inputs of the task that its parent solves.
#[derive(Args)]
pub struct MutantsArgs {
    /// A checkout of arc-dsl or tokpidjin
    checkout: PathBuf,
    #[command(flatten)]
    common: Common,

    /// The Python to run [default: /usr/bin/python3, or the first on the PATH]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,

    /// How many mutants to compare
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: usize,
}

/// Runs the benchmark. Returns whether all results agree.
pub fn main(args: &MutantsArgs) -> Result<bool> {
    let comparison = compare(args)?;
    print(|out| match args.common.json {
        true => Ok(writeln!(
            out,
            "{}",
            json!({"mutants": to_json(&comparison)})
        )?),
        false => write(out, &comparison),
    })?;
    Ok(comparison.differ == 0)
}

/// The result of the comparison. There is one result for each input of the task that a mutant's
/// parent solves.
#[derive(Default)]
pub struct Comparison {
    pub python: String,
    pub version: String,
    pub solvers: usize,
    pub mutants: usize,
    /// The number of results that are the same: values and errors.
    pub same: usize,
    /// The number of these that are errors.
    pub errors: usize,
    /// The number of runs that reached a limit of this engine.
    pub limited: usize,
    /// The number of runs for which Python exceeded its time or memory, or whose result is too long
    /// to write.
    pub late: usize,
    /// The number of runs whose result differs between Python processes.
    pub undefined: usize,
    pub differ: usize,
    /// The first differences.
    pub differences: Vec<String>,
    pub interrupted: bool,
}

/// Python's results on all inputs.
#[derive(Deserialize)]
struct Answer {
    results: Vec<Json>,
}

fn compare(args: &MutantsArgs) -> Result<Comparison> {
    let checkout = args.common.checkout(&args.checkout)?;
    let corpus = args.common.corpus(Some(&checkout))?;
    let data = &corpus.data;
    let donors = corpus.donors();
    let mutants = mutants(&donors, args.count, args.common.seed);
    let limits = Limits::default();
    let script = format!("{SCRIPT_PREAMBLE}{SCRIPT}");
    let start = |padding: usize| {
        let [memory, padding] = [MEMORY.to_string(), padding.to_string()];
        let folder = checkout.path.as_os_str();
        let params: [&OsStr; 3] = [folder, memory.as_ref(), padding.as_ref()];
        Python::start_script(args.python.as_deref(), &script, &params)
    };
    let mut python = start(0)?;
    let mut comparison = Comparison {
        python: python.path.display().to_string(),
        version: python.version.clone(),
        solvers: donors.len(),
        ..Comparison::default()
    };
    let mut workspace = Workspace::new();
    for mutant in &mutants {
        if interrupt::happened() {
            comparison.interrupted = true;
            break;
        }
        let program = &mutant.program;
        let Some(task) = data.task_of(program.name()) else {
            continue;
        };
        comparison.mutants += 1;
        let ours = our_results(program, task, &limits, &mut workspace);
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
    Ok(comparison)
}

/// Returns the request to Python for a program on all inputs of a task.
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
        "limit": PYTHON_SECONDS,
    })
}

type Ours = Result<OwnedValue, RunError>;

/// Runs a program in this engine on all inputs of a task.
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
            // There was no memory to copy the value.
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

/// Compares a result of this engine with Python's.
fn agree(ours: &Ours, theirs: &Json) -> Agreement {
    let same = match (ours, theirs.get("err")) {
        _ if theirs.get("late").is_some() => return Agreement::Late,
        (Err(error), _) if error.fault.is_limit() => return Agreement::Limited,
        (Err(error), Some(theirs)) if theirs == error.fault.name() => return Agreement::SameError,
        // Compared as JSON, since functions cannot be read back as values.
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

/// Writes the report as text.
pub fn write(out: &mut dyn Write, comparison: &Comparison) -> Result<()> {
    writeln!(
        out,
        "{} of {} on the inputs of their tasks, by {} ({}) and by batt{}",
        counted(comparison.mutants, "mutant"),
        counted(comparison.solvers, "solver"),
        comparison.python,
        comparison.version,
        interrupted(comparison.interrupted),
    )?;
    let mut rows = table(&["result", "runs", ""], &[1]);
    let errors = format!("{} of them errors", grouped(comparison.errors));
    for (result, runs, note) in [
        ("same", comparison.same, errors.as_str()),
        ("differs", comparison.differ, ""),
        (
            "undefined",
            comparison.undefined,
            "differs between Python processes: functions and None hash by address",
        ),
        ("limit", comparison.limited, "batt reached a limit"),
        ("late", comparison.late, "Python reached a limit"),
    ] {
        rows.add_row([result, &grouped(runs), note]);
    }
    write!(out, "{}", table_text(&rows))?;
    for difference in &comparison.differences {
        writeln!(out, "\ndiffers: {difference}")?;
    }
    if comparison.differ == 0 && !comparison.interrupted {
        writeln!(out, "nothing differs")?;
    }
    Ok(())
}

/// Returns the report as JSON.
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
    fn kinds_of_agreement_are_distinguished() {
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
