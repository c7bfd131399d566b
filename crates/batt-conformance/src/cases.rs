//! A case: the work to run, and its expected outcome.

use std::path::PathBuf;
use std::sync::Arc;

use batt_dsl::{Dialect, Fault, Limits, OpId, Outcome, OwnedValue, Run, Value, Workspace};
use batt_lang::{Program, SolverFile};
use serde_json::Value as Json;

use crate::files::bad;
use crate::{Conformance, Group, VectorsError};
use batt_engine::{BattWorker, Compiled, CompiledBatt, RunError, StepCount};

/// A case, and its position in a file.
pub(crate) struct Case {
    pub path: Arc<PathBuf>,
    pub line: usize,
    pub group: Group,
    /// Whether the result depends on the order in which sets iterate.
    pub order_dependent: bool,
    pub work: Work,
    pub expected: Expected,
}

/// The work of a case.
pub(crate) enum Work {
    /// A call of a primitive, and optionally a call of the function it returns.
    Op {
        dialect: Dialect,
        op: OpId,
        args: Vec<Argument>,
        call: Option<Vec<Argument>>,
    },
    Program {
        program: Arc<Compiled>,
        inputs: Vec<OwnedValue>,
    },
    Batt {
        batt: Arc<CompiledBatt>,
        inputs: Vec<OwnedValue>,
    },
}

/// The expected outcome.
pub(crate) enum Expected {
    /// One value or failure; `what` describes the case.
    One { what: String, out: Json },
    /// The lists of a batt.
    Lists {
        label: &'static str,
        case: Arc<Json>,
        headings: Arc<Headings>,
    },
}

/// The fields that precede the value of each entry of a batt.
pub(crate) struct Headings {
    pub outputs: Vec<Json>,
    pub scores: Vec<Json>,
}

/// An argument of a primitive: a value that may contain functions.
pub(crate) enum Argument {
    Value(OwnedValue),
    Function(Box<Function>),
    Tuple(Vec<Argument>),
    Set(Vec<Argument>),
}

/// A function, given by the expression that creates it.
pub(crate) struct Function {
    pub program: Program,
    compiled: Compiled,
}

impl Argument {
    pub fn read(json: &Json, dialect: Dialect) -> Result<Argument, String> {
        let plain = match OwnedValue::from_json(json) {
            Ok(value) => return Ok(Argument::Value(value)),
            Err(problem) => problem,
        };
        if let Some(text) = json.get("f").and_then(Json::as_str) {
            let program = program_of(text, dialect)?;
            let compiled = Compiled::new(&program);
            return Ok(Argument::Function(Box::new(Function { program, compiled })));
        }
        let many = |tag: &str| {
            let items = json.get(tag).and_then(Json::as_array)?.iter();
            let items = items.map(|item| Argument::read(item, dialect));
            Some(items.collect::<Result<Vec<_>, _>>())
        };
        if let Some(items) = many("t") {
            return items.map(Argument::Tuple);
        }
        match many("s") {
            Some(items) => items.map(Argument::Set),
            None => Err(plain.to_string()),
        }
    }

    fn make<'r>(&self, run: &mut Run<'r>) -> Outcome<Value<'r>> {
        match self {
            Argument::Value(value) => run.from_owned(value),
            Argument::Function(function) => {
                let made = function.compiled.execute(run, &[]);
                made.map_err(|e| e.fault)
            }
            Argument::Tuple(items) => {
                let items = Argument::make_all(items, run)?;
                run.make_tuple(&items)
            }
            Argument::Set(items) => {
                let items = Argument::make_all(items, run)?;
                run.make_set(&items)
            }
        }
    }

    fn make_all<'r>(arguments: &[Argument], run: &mut Run<'r>) -> Outcome<Vec<Value<'r>>> {
        arguments
            .iter()
            .map(|argument| argument.make(run))
            .collect()
    }
}

/// Parses a DSL expression into a program without inputs.
fn program_of(text: &str, dialect: Dialect) -> Result<Program, String> {
    let source = format!("def expression():\n    return {text}\n");
    let mut file = SolverFile::parse_in(&source, "<expression>", Some(dialect));
    if file.programs.is_empty() {
        let problem = file.diagnostics.first().map(|d| d.headline());
        return Err(problem.unwrap_or_else(|| "not an expression".to_owned()));
    }
    Ok(file.programs.swap_remove(0))
}

/// The workspaces of a thread that runs cases.
#[derive(Default)]
pub(crate) struct Cpu {
    workspace: Workspace,
    worker: BattWorker,
}

impl Case {
    /// Describes the case.
    pub fn what(&self) -> String {
        match &self.expected {
            Expected::One { what, .. } => what.clone(),
            Expected::Lists { label, .. } => format!("batt{label}"),
        }
    }

    pub fn dialect(&self) -> Dialect {
        match &self.work {
            Work::Op { dialect, .. } => *dialect,
            Work::Program { program, .. } => program.dialect(),
            Work::Batt { batt, .. } => batt.dialect(),
        }
    }

    /// Runs the case on the CPU. A batt returns its outputs, then its scores; other cases return
    /// one value.
    pub fn run(&self, cpu: &mut Cpu) -> Vec<Outcome<OwnedValue>> {
        let limits = Limits::default();
        match &self.work {
            Work::Op {
                dialect,
                op,
                args,
                call,
            } => vec![cpu.workspace.run(*dialect, &limits, |run| {
                let args = Argument::make_all(args, run)?;
                let mut value = run.call(Value::Op(*op), &args)?;
                if let Some(call) = call {
                    let call = Argument::make_all(call, run)?;
                    value = run.call(value, &call)?;
                }
                run.to_owned(value)
            })],
            Work::Program { program, inputs } => {
                vec![cpu.workspace.run(program.dialect(), &limits, |run| {
                    let inputs = inputs.iter().map(|input| run.from_owned(input));
                    let inputs = inputs.collect::<Outcome<Vec<_>>>()?;
                    let value = program.execute(run, &inputs).map_err(|e| e.fault)?;
                    run.to_owned(value)
                })]
            }
            Work::Batt { batt, inputs } => {
                let mut counts = vec![StepCount::default(); batt.len()];
                let [samples, input, comparison] = &inputs[..] else {
                    return Vec::new();
                };
                batt.run_with(
                    &mut cpu.worker,
                    |run| {
                        Ok([
                            run.from_owned(samples)?,
                            run.from_owned(input)?,
                            run.from_owned(comparison)?,
                        ])
                    },
                    &limits,
                    &mut counts,
                    |run, entry| owned(run, entry.value),
                )
            }
        }
    }

    /// Compares the outcome with the expected one.
    pub fn compare(
        &self,
        mut got: Vec<Outcome<OwnedValue>>,
        report: &mut Conformance,
    ) -> Result<(), VectorsError> {
        match &self.expected {
            Expected::One { what, out } => {
                let got = got.pop().unwrap_or(Err(Fault::Type));
                self.compare_one(report, || what.clone(), out, got)
            }
            Expected::Lists { headings, .. } => {
                let scores = got.split_off(headings.outputs.len().min(got.len()));
                self.compare_list(report, "o", got, &headings.outputs)?;
                self.compare_list(report, "s", scores, &headings.scores)
            }
        }
    }

    /// Compares a list of a batt, entry by entry.
    fn compare_list(
        &self,
        report: &mut Conformance,
        key: &str,
        values: Vec<Outcome<OwnedValue>>,
        headings: &[Json],
    ) -> Result<(), VectorsError> {
        let Expected::Lists { label, case, .. } = &self.expected else {
            return Ok(());
        };
        let no_list = || self.bad(format!("'{key}' is not a list of entries"));
        let expected = case
            .get(key)
            .ok_or_else(|| self.bad(format!("no '{key}'")))?;
        let expected = expected.as_array().ok_or_else(no_list)?;
        if expected.len() != values.len() {
            let counts = [expected.len(), values.len()].map(|n| format!("{n} entries"));
            let [expected, got] = counts;
            self.differ(report, format!("{key}{label}"), expected, got);
            return Ok(());
        }
        let entries = expected.iter().zip(values).zip(headings);
        for (k, ((expected, got), heading)) in entries.enumerate() {
            let what = || format!("{key}[{k}]{label}");
            let Some([head @ .., value]) = expected.as_array().map(Vec::as_slice) else {
                return Err(no_list());
            };
            if heading.as_array().map(Vec::as_slice) == Some(head) {
                self.compare_one(report, what, value, got)?;
            } else {
                let expected = Json::from(head).to_string();
                self.differ(report, what(), expected, heading.to_string());
            }
        }
        Ok(())
    }

    fn compare_one(
        &self,
        report: &mut Conformance,
        what: impl Fn() -> String,
        expected: &Json,
        got: Outcome<OwnedValue>,
    ) -> Result<(), VectorsError> {
        let class = expected.get("err").and_then(Json::as_str);
        let same = match (class, &got) {
            // Reaching a limit does not count as a failure in Python.
            (Some(_), Err(fault)) => !matches!(fault, Fault::Steps | Fault::Size | Fault::Memory),
            (None, Ok(value)) => {
                *value == OwnedValue::from_json(expected).map_err(|e| self.bad(e))?
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
        self.differ(report, what(), expected.to_string(), got);
        Ok(())
    }

    /// Records a difference.
    pub fn differ(&self, report: &mut Conformance, what: String, expected: String, got: String) {
        report.differences.push(crate::Difference {
            file: self.path.to_path_buf(),
            line: self.line,
            what,
            expected,
            got,
        });
    }

    fn bad(&self, problem: impl ToString) -> VectorsError {
        bad(&self.path, self.line, problem)
    }
}

fn owned<'r>(run: &mut Run<'r>, entry: Result<Value<'r>, RunError>) -> Outcome<OwnedValue> {
    run.to_owned(entry.map_err(|error| error.fault)?)
}
