//! Checking the engine against results that the original Python computed.
//!
//! A vectors directory holds `ops/<function>.jsonl` (calls of one primitive) and
//! `programs/NNN.py` with `NNN.jsonl` (what those programs return); the same below `tokpidjin/`, in that
//! dialect; and `batts/NN.py` with `NN.jsonl`. A case passes when the value is
//! the same, kinds and set order included, or when both sides fail.

mod batts;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use batt_dsl::{Dialect, Fault, Limits, Outcome, OwnedValue, Run, Value, Workspace};
use batt_lang::SolverFile;
use serde_json::Value as Json;

use crate::compile::Compiled;

/// What a whole directory came to.
#[derive(Default, Debug)]
pub struct Report {
    /// Cases with the expected outcome.
    pub passed: usize,
    /// Cases with another outcome, in the order met.
    pub differences: Vec<Difference>,
    /// Failing cases on both sides whose exception class is not the expected one. The class is no
    /// part of the contract; it is counted for interest.
    pub other_class: usize,
}

/// A case whose outcome is not the expected one.
#[derive(Clone, Debug)]
pub struct Difference {
    /// File and line of the case.
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// What was run.
    pub what: String,
    /// The expected outcome, encoded.
    pub expected: String,
    /// Our outcome, encoded.
    pub got: String,
}

/// A vectors directory that cannot be read as one.
#[derive(Debug, thiserror::Error)]
pub enum VectorsError {
    /// A file or directory could not be read.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is nothing to run.
    #[error("{0}: no vectors here; expected ops/*.jsonl, programs/*.py or batts/*.py with *.jsonl")]
    Empty(PathBuf),
    /// A case that cannot be understood.
    #[error("{path}:{line}: {problem}")]
    Case {
        /// File.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

/// Runs a vectors directory. `progress` hears of every file that is finished.
pub fn run_directory(
    dir: &Path,
    mut progress: impl FnMut(&Path, &Report),
) -> Result<Report, VectorsError> {
    let mut report = Report::default();
    let mut files = 0;
    let mut workspace = Workspace::new();
    let dialects = [
        (dir.to_owned(), Dialect::ArcDsl),
        (dir.join("tokpidjin"), Dialect::Tokpidjin),
    ];
    for (dir, dialect) in &dialects {
        for path in listed(&dir.join("ops"), "jsonl")? {
            run_op_file(&mut workspace, &path, *dialect, &mut report)?;
            progress(&path, &report);
            files += 1;
        }
        for path in listed(&dir.join("programs"), "py")? {
            run_program_file(&mut workspace, &path, *dialect, &mut report)?;
            progress(&path, &report);
            files += 1;
        }
    }
    for path in listed(&dir.join("batts"), "py")? {
        batts::run_file(&path, &mut report)?;
        progress(&path, &report);
        files += 1;
    }
    if files == 0 {
        return Err(VectorsError::Empty(dir.to_owned()));
    }
    Ok(report)
}

/// The files of a directory with an extension, sorted; none when there is no such directory.
fn listed(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, VectorsError> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let io = |source| VectorsError::Io {
        path: dir.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|e| e == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String, VectorsError> {
    fs::read_to_string(path).map_err(|source| VectorsError::Io {
        path: path.to_owned(),
        source,
    })
}

/// The cases of a file with their line numbers.
fn cases(path: &Path) -> Result<Vec<(usize, Json)>, VectorsError> {
    let mut cases = Vec::new();
    for (k, line) in read(path)?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let json = serde_json::from_str(line).map_err(|e| bad(path, k + 1, e))?;
        cases.push((k + 1, json));
    }
    Ok(cases)
}

fn bad(path: &Path, line: usize, problem: impl ToString) -> VectorsError {
    VectorsError::Case {
        path: path.to_owned(),
        line,
        problem: problem.to_string(),
    }
}

/// An argument of an op case: a value that may contain functions.
enum Argument {
    Value(OwnedValue),
    Function(Compiled),
    Tuple(Vec<Argument>),
    Set(Vec<Argument>),
}

fn argument(json: &Json, dialect: Dialect) -> Result<Argument, String> {
    if let Some(text) = json.get("f").and_then(Json::as_str) {
        return expression(text, dialect).map(Argument::Function);
    }
    let many = |items: &[Json]| {
        let items = items.iter().map(|item| argument(item, dialect));
        items.collect::<Result<Vec<_>, _>>()
    };
    if let Some(items) = json.get("t").and_then(Json::as_array) {
        return many(items).map(Argument::Tuple);
    }
    if let Some(items) = json.get("s").and_then(Json::as_array) {
        return many(items).map(Argument::Set);
    }
    OwnedValue::from_json(json)
        .map(Argument::Value)
        .map_err(|e| e.to_string())
}

/// Compiles a DSL expression such as `rbind(greater, THREE)`; it is a program without inputs.
pub fn expression(text: &str, dialect: Dialect) -> Result<Compiled, String> {
    let source = format!("def expression():\n    return {text}\n");
    let file = SolverFile::parse_in(&source, "<expression>", Some(dialect));
    match file.programs.first() {
        Some(program) => Ok(Compiled::new(program)),
        None => Err(file
            .diagnostics
            .first()
            .map_or_else(|| "not an expression".to_owned(), |d| d.headline())),
    }
}

fn run_op_file(
    workspace: &mut Workspace,
    path: &Path,
    dialect: Dialect,
    report: &mut Report,
) -> Result<(), VectorsError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let op = dialect
        .op(&name)
        .ok_or_else(|| bad(path, 0, format!("no primitive '{name}'")))?;
    for (line, case) in cases(path)? {
        let arguments = |key: &str| -> Result<Option<Vec<Argument>>, VectorsError> {
            let Some(list) = case.get(key).and_then(Json::as_array) else {
                return Ok(None);
            };
            let list: Result<Vec<_>, _> = list.iter().map(|a| argument(a, dialect)).collect();
            list.map(Some).map_err(|e| bad(path, line, e))
        };
        let args = arguments("args")?.ok_or_else(|| bad(path, line, "no args"))?;
        let call = arguments("call")?;
        let expected = case
            .get("out")
            .ok_or_else(|| bad(path, line, "no expected outcome"))?;
        let got = workspace.run(dialect, &Limits::default(), |run| {
            let args = materialise(run, &args)?;
            let mut value = run.call(Value::Op(op), &args)?;
            if let Some(call) = &call {
                let call = materialise(run, call)?;
                value = run.call(value, &call)?;
            }
            run.to_owned(value)
        });
        let what = format!("{name}{}", case.get("args").unwrap_or(&Json::Null));
        compare(report, path, line, what, expected, got)?;
    }
    Ok(())
}

fn materialise<'r>(run: &mut Run<'r>, arguments: &[Argument]) -> Outcome<Vec<Value<'r>>> {
    arguments
        .iter()
        .map(|argument| match argument {
            Argument::Value(value) => run.from_owned(value),
            Argument::Function(compiled) => compiled.execute(run, &[]).map_err(|e| e.fault),
            Argument::Tuple(items) => {
                let items = materialise(run, items)?;
                run.make_tuple(&items)
            }
            Argument::Set(items) => {
                let items = materialise(run, items)?;
                run.make_set(&items)
            }
        })
        .collect()
}

fn run_program_file(
    workspace: &mut Workspace,
    path: &Path,
    dialect: Dialect,
    report: &mut Report,
) -> Result<(), VectorsError> {
    let file = SolverFile::parse_in(&read(path)?, &path.to_string_lossy(), Some(dialect));
    if let Some(diagnostic) = file.diagnostics.iter().find(|d| d.is_error()) {
        return Err(bad(
            path,
            diagnostic.span.line as usize,
            diagnostic.headline(),
        ));
    }
    let programs: HashMap<&str, Compiled> = file
        .programs
        .iter()
        .map(|p| (p.name(), Compiled::new(p)))
        .collect();
    let results = path.with_extension("jsonl");
    for (line, case) in cases(&results)? {
        let missing = |key: &str| bad(&results, line, format!("no '{key}'"));
        let id = case
            .get("id")
            .and_then(Json::as_str)
            .ok_or_else(|| missing("id"))?;
        let name = format!("case_{id}");
        let program = programs.get(name.as_str()).ok_or_else(|| {
            bad(
                &results,
                line,
                format!("no program {name} in {}", path.display()),
            )
        })?;
        let names: &[&str] = match dialect {
            Dialect::ArcDsl | Dialect::ReArc => &["in"],
            Dialect::Tokpidjin => &["S", "I", "C"],
        };
        let inputs = names.iter().map(|name| {
            let input = case.get(*name).ok_or_else(|| missing(name))?;
            OwnedValue::from_json(input).map_err(|e| bad(&results, line, e))
        });
        let inputs: Vec<OwnedValue> = inputs.collect::<Result<_, _>>()?;
        let expected = case.get("out").ok_or_else(|| missing("out"))?;
        let got = workspace.run(dialect, &Limits::default(), |run| {
            let inputs = inputs.iter().map(|input| run.from_owned(input));
            let inputs = inputs.collect::<Outcome<Vec<_>>>()?;
            let value = program.execute(run, &inputs).map_err(|e| e.fault)?;
            run.to_owned(value)
        });
        compare(report, &results, line, name, expected, got)?;
    }
    Ok(())
}

impl Report {
    fn differ(&mut self, file: &Path, line: usize, what: String, expected: String, got: String) {
        self.differences.push(Difference {
            file: file.to_owned(),
            line,
            what,
            expected,
            got,
        });
    }
}

fn compare(
    report: &mut Report,
    path: &Path,
    line: usize,
    what: String,
    expected: &Json,
    got: Outcome<OwnedValue>,
) -> Result<(), VectorsError> {
    let class = expected.get("err").and_then(Json::as_str);
    let same = match (class, &got) {
        // A limit of ours is no agreement with a failure of Python's.
        (Some(_), Err(fault)) => !matches!(fault, Fault::Steps | Fault::Size | Fault::Memory),
        (None, Ok(value)) => {
            *value == OwnedValue::from_json(expected).map_err(|e| bad(path, line, e))?
        }
        _ => false,
    };
    if same {
        report.passed += 1;
        if let (Some(class), Err(fault)) = (class, got) {
            report.other_class += usize::from(class != fault.name());
        }
        return Ok(());
    }
    let got = match got {
        Ok(value) => value.to_json().to_string(),
        Err(fault) => format!("{{\"err\":\"{}\"}}", fault.name()),
    };
    report.differ(path, line, what, expected.to_string(), got);
    Ok(())
}
