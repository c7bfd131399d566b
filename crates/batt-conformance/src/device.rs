//! Runs the cases on a device, with many programs in one blob and thousands of jobs in a launch.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use batt_dsl::{Dialect, Limits, OpId, Outcome, OwnedValue, Workspace};
use batt_lang::{Operand, Program, ProgramBuilder, StepKind};

use crate::cases::{Argument, Case, Cpu, Work};
use crate::{Conformance, Group, VectorFile, VectorsError};
use batt_engine::Compiled;
use batt_engine::device::{
    Counts, Device, DeviceEntry, Done, Inputs, JobAt, LaunchPass, LaunchSettings, Launcher,
    PieceAt, ProgramAt, Programs, Reason, Times, entries, wire,
};

/// The number of cases in a launch.
const CASES_PER_LAUNCH: usize = 1 << 14;

/// The number of entries of a case for which results have room. Batts have more, but a launch
/// contains few of them.
const MAX_ENTRIES: usize = 8;

/// The outcome of a directory on a device.
#[derive(Debug, Default)]
pub struct DeviceConformance {
    /// All cases that the device or the CPU completed.
    pub report: Conformance,
    /// Where the cases of each group were completed. The second counts cover only the cases marked
    /// as depending on the order of sets.
    pub groups: BTreeMap<Group, [Counts; 2]>,
    /// Cases that the device did not complete, in the order found. Without a fallback they are not
    /// in the report.
    pub unfinished: Vec<Unfinished>,
    /// The times of the launches.
    pub times: Times,
    /// Errors of the device.
    pub errors: Vec<String>,
}

/// A case that the device did not complete.
#[derive(Clone, Debug)]
pub struct Unfinished {
    /// The file of the case.
    pub file: PathBuf,
    /// The line number, from 1.
    pub line: usize,
    /// The description of the case.
    pub what: String,
    /// The group of the case.
    pub group: Group,
    /// The primitive, if the case is a call of one.
    pub op: Option<OpId>,
    /// Why the device did not complete it.
    pub reason: Reason,
}

/// Checks a vectors directory on a device. If `ops` names primitives, only their calls are checked.
/// With `fallback`, the CPU runs the cases that the device does not complete. Calls `progress`
/// after each file.
pub fn check_on_device(
    dir: &Path,
    ops: &[String],
    device: &mut dyn Device,
    fallback: bool,
    mut progress: impl FnMut(&Path, &Conformance),
) -> Result<DeviceConformance, VectorsError> {
    let mut check = DeviceCheck {
        device,
        fallback,
        // The report counts which cases need an exact launch, so launches must not learn from
        // earlier ones.
        launcher: Launcher::new(
            LaunchSettings {
                learn: false,
                ..LaunchSettings::default()
            },
            MAX_ENTRIES,
        ),
        cpu: Cpu::default(),
        workspace: Workspace::new(),
        found: DeviceConformance::default(),
    };
    let mut waiting = Vec::new();
    for file in VectorFile::all(dir, ops)? {
        waiting.extend(file.cases()?);
        if waiting.len() >= CASES_PER_LAUNCH {
            check.run(&std::mem::take(&mut waiting))?;
        }
        progress(&file.path, &check.found.report);
    }
    check.run(&waiting)?;
    Ok(check.found)
}

struct DeviceCheck<'d> {
    device: &'d mut dyn Device,
    fallback: bool,
    launcher: Launcher,
    cpu: Cpu,
    /// Decodes and hashes the returned values.
    workspace: Workspace,
    found: DeviceConformance,
}

impl DeviceCheck<'_> {
    fn run(&mut self, cases: &[Case]) -> Result<(), VectorsError> {
        if cases.is_empty() {
            return Ok(());
        }
        let mut contents = LaunchContents::default();
        let workspace = &mut self.workspace;
        let jobs = cases.iter().map(|case| contents.add(case, workspace));
        let jobs: Vec<Option<Jobs>> = jobs.collect();
        let (programs, inputs) = (&contents.programs, &contents.inputs);
        let launched = self
            .launcher
            .run(self.device, programs, inputs, &contents.jobs);
        let done = match launched {
            Ok(done) => {
                self.found.times.add(&done.times());
                self.found
                    .errors
                    .extend(done.error.iter().map(ToString::to_string));
                Some(done)
            }
            Err(error) => {
                self.found.errors.push(error.to_string());
                None
            }
        };
        for (case, job) in cases.iter().zip(jobs) {
            let ended = match (job, &done) {
                (None, _) => Err(Reason::Unsent),
                (_, None) => Err(Reason::Device),
                (Some(jobs), Some(done)) => self.values(case, &jobs, done),
            };
            let (ended, values) = match ended {
                Ok((pass, values)) => (Ok(pass), Some(values)),
                Err(reason) => (Err(reason), None),
            };
            let counts = self.found.groups.entry(case.group).or_default();
            counts[0].add(ended);
            if case.order_dependent {
                counts[1].add(ended);
            }
            if let Err(reason) = ended {
                self.found.unfinished.push(Unfinished {
                    file: case.path.to_path_buf(),
                    line: case.line,
                    what: case.what(),
                    group: case.group,
                    op: match &case.work {
                        Work::Op { op, .. } => Some(*op),
                        _ => None,
                    },
                    reason,
                });
            }
            let values = match values {
                Some(values) => values,
                None if self.fallback => case.run(&mut self.cpu),
                None => continue,
            };
            case.compare(values, &mut self.found.report)?;
        }
        Ok(())
    }

    /// Returns the values of a completed case, and the launch that completed the last of its jobs.
    /// Records a wrong hash as a separate difference.
    fn values(
        &mut self,
        case: &Case,
        jobs: &Jobs,
        done: &Done,
    ) -> Result<(LaunchPass, Vec<Outcome<OwnedValue>>), Reason> {
        let dialect = case.dialect();
        let mut pass = LaunchPass::First;
        let mut values = Vec::new();
        for (job, piece) in (jobs.first..).zip(jobs.pieces.iter()) {
            let finished = done.job(job)?;
            pass = pass.max(finished.pass);
            let numbers = piece.entries();
            let found = entries(finished.words, piece.solved, true)?.0;
            for (entry, &number) in found.iter().zip(numbers) {
                values.push((number, self.value(case, dialect, entry, finished.words)?));
            }
        }
        values.sort_by_key(|(number, _)| *number);
        Ok((pass, values.into_iter().map(|(_, value)| value).collect()))
    }

    fn value(
        &mut self,
        case: &Case,
        dialect: Dialect,
        entry: &DeviceEntry,
        words: &[u32],
    ) -> Result<Outcome<OwnedValue>, Reason> {
        let (hash, at) = match *entry {
            DeviceEntry::Value { at: None, .. } => return Err(Reason::Broken),
            DeviceEntry::Left(reason) => return Err(reason),
            DeviceEntry::Failed(error) => return Ok(Err(error.fault)),
            DeviceEntry::Value {
                hash, at: Some(at), ..
            } => (hash, at),
        };
        let (value, _) = wire::decode_owned(words, at, dialect)?;
        let expected = self.workspace.run(dialect, &Limits::default(), |run| {
            let (value, _) = wire::decode(run, words, at)?;
            Ok::<_, Reason>(run.hash(value))
        })?;
        // The hash of a function depends on how many functions were created before it.
        if hash != expected && !holds_function(&value) {
            let what = format!("hash of {}", case.what());
            let [expected, got] = [expected, hash].map(|h| (h as i64).to_string());
            case.differ(&mut self.found.report, what, expected, got);
        }
        Ok(Ok(value))
    }
}

fn holds_function(value: &OwnedValue) -> bool {
    match value {
        OwnedValue::Function => true,
        OwnedValue::Tuple(items) | OwnedValue::Set(items) => items.iter().any(holds_function),
        _ => false,
    }
}

/// The programs, inputs and jobs of one launch.
#[derive(Default)]
struct LaunchContents {
    programs: Programs,
    inputs: Inputs,
    jobs: Vec<JobAt>,
    /// Programs that call a primitive, by content. Many cases share one.
    made: HashMap<Program, Option<ProgramAt>>,
    /// Programs of program cases, by address.
    shared: HashMap<usize, Option<ProgramAt>>,
    /// Batts, by address.
    batts: HashMap<usize, Option<Arc<[PieceAt]>>>,
}

/// The jobs of a case, which are adjacent.
struct Jobs {
    first: usize,
    pieces: Arc<[PieceAt]>,
}

impl LaunchContents {
    /// Adds a case and returns its jobs, if it can be sent.
    fn add(&mut self, case: &Case, workspace: &mut Workspace) -> Option<Jobs> {
        let alone = |at: ProgramAt| -> Arc<[PieceAt]> { [PieceAt::program(at)].into() };
        let (pieces, inputs) = match &case.work {
            Work::Op {
                dialect,
                op,
                args,
                call,
            } => {
                let (program, inputs) = as_program(*dialect, *op, args, call.as_deref())?;
                let programs = &mut self.programs;
                let at = *self.made.entry(program).or_insert_with_key(|program| {
                    programs.push_program(&Compiled::new(program)).ok()
                });
                (alone(at?), inputs)
            }
            Work::Program { program, inputs } => {
                let programs = &mut self.programs;
                let key = Arc::as_ptr(program) as usize;
                let at = *self
                    .shared
                    .entry(key)
                    .or_insert_with(|| programs.push_program(program).ok());
                (alone(at?), inputs.iter().collect())
            }
            Work::Batt { batt, inputs } => {
                let programs = &mut self.programs;
                let key = Arc::as_ptr(batt) as usize;
                let pieces = self
                    .batts
                    .entry(key)
                    .or_insert_with(|| PieceAt::all_of(programs, batt).map(Arc::from));
                (pieces.clone()?, inputs.iter().collect::<Vec<_>>())
            }
        };
        let places = inputs
            .into_iter()
            .map(|input| self.inputs.push_value(workspace, case.dialect(), input));
        let mut places: Vec<u32> = places.collect::<Outcome<_>>().ok()?;
        // A batt's last parameter is the expected grid, which only comparisons use.
        places.push(wire::NOTHING);
        let params = self.inputs.push_list(&places);
        let first = self.jobs.len();
        let jobs = pieces.iter().map(|piece| JobAt::new(piece.at, params));
        self.jobs.extend(jobs);
        Some(Jobs { first, pieces })
    }
}

/// Converts a call into a program: functions become steps, and plain arguments become inputs.
/// Returns `None` for a set of functions that no program can create.
fn as_program<'a>(
    dialect: Dialect,
    op: OpId,
    args: &'a [Argument],
    call: Option<&'a [Argument]>,
) -> Option<(Program, Vec<&'a OwnedValue>)> {
    let mut inputs = Vec::new();
    for argument in args.iter().chain(call.unwrap_or_default()) {
        plain_values(argument, &mut inputs);
    }
    let params = (0..inputs.len()).map(|k| format!("a{k}"));
    let mut maker = ProgramMaker {
        builder: ProgramBuilder::new("case", params).in_dialect(dialect),
        dialect,
        next: 0,
        steps: 0,
    };
    let operands = maker.all(args)?;
    let mut value = maker.call(Operand::Op(op), operands);
    if let Some(call) = call {
        let operands = maker.all(call)?;
        value = maker.call(value, operands);
    }
    Some((maker.builder.finish(value), inputs))
}

/// Collects the plain values in an argument, in the order of the parameters.
fn plain_values<'a>(argument: &'a Argument, values: &mut Vec<&'a OwnedValue>) {
    match argument {
        Argument::Value(value) => values.push(value),
        Argument::Function(_) => {}
        Argument::Tuple(items) | Argument::Set(items) => {
            items.iter().for_each(|item| plain_values(item, values));
        }
    }
}

struct ProgramMaker {
    builder: ProgramBuilder,
    dialect: Dialect,
    /// The number of the next parameter.
    next: usize,
    /// The number of steps so far.
    steps: u32,
}

impl ProgramMaker {
    fn all(&mut self, arguments: &[Argument]) -> Option<Vec<Operand>> {
        arguments
            .iter()
            .map(|argument| self.make(argument))
            .collect()
    }

    fn make(&mut self, argument: &Argument) -> Option<Operand> {
        match argument {
            Argument::Value(_) => {
                self.next += 1;
                Some(self.builder.param(self.next - 1))
            }
            Argument::Function(function) => Some(self.splice(&function.program)),
            Argument::Tuple(items) => {
                let items = self.all(items)?;
                Some(self.tuple(items))
            }
            Argument::Set(items) => {
                let mut items = self.all(items)?.into_iter();
                let mut set = self.call(self.op("initset")?, vec![items.next()?]);
                for item in items {
                    set = self.call(self.op("insert")?, vec![item, set]);
                }
                Some(set)
            }
        }
    }

    fn op(&self, name: &str) -> Option<Operand> {
        self.dialect.op(name).map(Operand::Op)
    }

    fn call(&mut self, callee: Operand, args: Vec<Operand>) -> Operand {
        let operand = self.builder.call(callee, args);
        self.count(operand)
    }

    fn tuple(&mut self, items: Vec<Operand>) -> Operand {
        let operand = self.builder.tuple(items);
        self.count(operand)
    }

    fn count(&mut self, operand: Operand) -> Operand {
        if let Operand::Step(id) = operand {
            self.steps = id.0 + 1;
        }
        operand
    }

    /// Appends the steps of an expression.
    fn splice(&mut self, program: &Program) -> Operand {
        let first = self.steps;
        let moved = |operand: &Operand| match operand {
            Operand::Step(id) => Operand::Step(batt_lang::StepId(id.0 + first)),
            other => other.clone(),
        };
        for step in program.steps() {
            match &step.kind {
                StepKind::Call { callee, args } => {
                    let args = args.iter().map(moved).collect();
                    self.call(moved(callee), args)
                }
                StepKind::Tuple(items) => {
                    let items = items.iter().map(moved).collect();
                    self.tuple(items)
                }
            };
        }
        moved(program.result())
    }
}
