//! The JSON form of a batt: the content of its Python text, and the steps that belong to each
//! entry.
//!
//! The types here mirror the file; [`to_json`] and [`from_json`] convert a [`Batt`] to them and
//! back. Reading checks everything.

use batt_dsl::Dialect;
use serde::{Deserialize, Serialize};

use super::{Batt, COMPARISON, DifferScore, INPUT, OnError, Output, PARAMS, SAMPLES};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Severity};
use crate::parse;
use crate::program::{Operand, ProgramBuilder, StepId, StepKind};
use crate::source::{SourceFile, Span};

/// The value of `format`.
const FORMAT: &str = "batt";
/// The value of `version`. It grows when old readers would misunderstand the file.
const VERSION: u32 = 1;

/// A batt as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BattJson {
    /// `batt`
    pub format: String,
    /// The version of the format, 1.
    pub version: u32,
    /// The name of the function.
    pub name: String,
    /// The name of the dialect.
    pub dialect: String,
    /// The effect of a step that fails: `poison` or `defaults`.
    pub on_error: String,
    /// The steps in order.
    pub steps: Vec<StepJson>,
    /// The candidates in order.
    pub outputs: Vec<OutputJson>,
    /// The scores of differs in order.
    pub scores: Vec<ScoreJson>,
}

/// A step as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepJson {
    /// Its number.
    pub number: u32,
    /// The callee, as spelt in the text; `null` for a tuple of the arguments.
    pub callee: Option<String>,
    /// The arguments, as spelt in the text.
    pub args: Vec<String>,
}

/// A candidate as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputJson {
    /// The step number given in the text.
    pub number: u32,
    /// Whether the solver was mutated.
    pub mutated: bool,
    /// The id of the solver.
    pub donor: String,
    /// The value, as spelt in the text.
    pub value: String,
    /// The numbers of all steps of the solver, in ascending order.
    pub steps: Vec<u32>,
    /// The number of steps before it.
    pub after: u32,
}

/// A score of a differ as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreJson {
    /// The step number given in the text.
    pub number: u32,
    /// The id of the solver, `null` for the input itself.
    pub donor: Option<String>,
    /// The name of the differ.
    pub differ: String,
    /// The value, as spelt in the text.
    pub value: String,
    /// The numbers of all steps of the differ and of the solver, in ascending order.
    pub steps: Vec<u32>,
    /// The number of steps before it.
    pub after: u32,
}

/// The reason why JSON is not a batt, and the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if place.is_empty() { String::new() } else { format!("{place}: ") })]
pub struct JsonError {
    /// The place, such as `steps[3].args[0]`; empty if the text is not even JSON of that form.
    pub place: String,
    /// The problem.
    pub message: String,
    /// Line and column, from 1, if the text is not JSON of that form.
    pub at: Option<(u32, u32)>,
}

impl JsonError {
    pub(super) fn at(place: impl Into<String>, message: impl Into<String>) -> JsonError {
        JsonError {
            place: place.into(),
            message: message.into(),
            at: None,
        }
    }

    /// Converts the error to a finding in a file.
    pub(super) fn diagnostic(&self, source: &SourceFile) -> Diagnostic {
        let (line, column) = self.at.unwrap_or_default();
        // A place outside the text has no source line to show.
        let there = line > 0 && (column as usize) <= source.line(line).len() + 1;
        let span = Span {
            line: if there { line } else { 0 },
            column: column.max(1),
            length: 1,
        };
        let (severity, code) = (Severity::Error, DiagnosticCode::BadJson);
        Diagnostic::new(severity, code, self.to_string(), Some(source), span)
    }
}

/// Converts a batt to its JSON form.
///
/// # Panics
///
/// If the numbers of the batt are fewer than its steps.
pub fn to_json(batt: &Batt) -> BattJson {
    let spelt = |operands: &[Operand]| operands.iter().map(|o| batt.spelling(o)).collect();
    let numbers = |steps: &[StepId]| steps.iter().map(|id| batt.numbers[id.index()]).collect();
    let steps = batt.program.iter().map(|(id, step)| {
        let (callee, args) = match &step.kind {
            StepKind::Call { callee, args } => (Some(batt.spelling(callee)), args),
            StepKind::Tuple(items) => (None, items),
        };
        StepJson {
            number: batt.numbers[id.index()],
            callee,
            args: spelt(args),
        }
    });
    let outputs = batt.outputs.iter().map(|output| OutputJson {
        number: output.number,
        mutated: output.mutated,
        donor: output.donor.clone(),
        value: batt.spelling(&output.value),
        steps: numbers(&output.steps),
        after: output.after,
    });
    let scores = batt.scores.iter().map(|score| ScoreJson {
        number: score.number,
        donor: score.donor.clone(),
        differ: score.differ.clone(),
        value: batt.spelling(&score.value),
        steps: numbers(&score.steps),
        after: score.after,
    });
    BattJson {
        format: FORMAT.to_owned(),
        version: VERSION,
        name: batt.program.name().to_owned(),
        dialect: batt.dialect().name().to_owned(),
        on_error: on_error_name(batt.on_error).to_owned(),
        steps: steps.collect(),
        outputs: outputs.collect(),
        scores: scores.collect(),
    }
}

/// Returns the JSON form as text, with a line for each step and entry.
///
/// # Panics
///
/// If the numbers of the batt are fewer than its steps.
pub fn to_json_text(batt: &Batt) -> String {
    fn line<T: Serialize>(value: &T) -> String {
        serde_json::to_string(value).expect("strings and numbers can always be written")
    }
    fn lines<T: Serialize>(items: &[T]) -> String {
        let items: Vec<String> = items
            .iter()
            .map(|item| format!("\n    {}", line(item)))
            .collect();
        let end = if items.is_empty() { "" } else { "\n  " };
        format!("[{}{end}]", items.join(","))
    }
    let json = to_json(batt);
    format!(
        "{{\n  \"format\": {},\n  \"version\": {},\n  \"name\": {},\n  \"dialect\": {},\n  \
         \"on_error\": {},\n  \"steps\": {},\n  \"outputs\": {},\n  \"scores\": {}\n}}\n",
        line(&json.format),
        json.version,
        line(&json.name),
        line(&json.dialect),
        line(&json.on_error),
        lines(&json.steps),
        lines(&json.outputs),
        lines(&json.scores),
    )
}

/// Returns whether a file's bytes are the JSON form of a batt, of any version.
pub fn is_json_form(bytes: &[u8]) -> bool {
    let json = serde_json::from_slice::<serde_json::Value>(bytes);
    json.is_ok_and(|json| json["format"] == FORMAT)
}

/// Reads a batt from JSON text.
pub fn from_json_text(text: &str) -> Result<Batt, JsonError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The format is checked first. In a file of another format, missing parts are not the problem.
    #[derive(Deserialize)]
    struct Head {
        format: String,
        version: u32,
    }
    let misfit = |error: serde_json::Error| {
        let place = (error.line() as u32, error.column() as u32);
        JsonError {
            place: String::new(),
            message: error.to_string(),
            at: Some(place),
        }
    };
    let head: Head = serde_json::from_str(text).map_err(misfit)?;
    check_format(&head.format, head.version)?;
    from_json(&serde_json::from_str(text).map_err(misfit)?)
}

/// Converts the JSON form to a batt. Everything is checked; an error names the place.
pub fn from_json(json: &BattJson) -> Result<Batt, JsonError> {
    check_format(&json.format, json.version)?;
    if !is_identifier(&json.name) {
        return Err(JsonError::at("name", "it is not a function name"));
    }
    let dialect = Dialect::named(&json.dialect).ok_or_else(|| {
        let message = format!("there is no dialect '{}'", json.dialect);
        JsonError::at("dialect", message)
    })?;
    let named = [OnError::Poison, OnError::Defaults].into_iter();
    let on_error = { named }.find(|o| on_error_name(*o) == json.on_error);
    let on_error =
        on_error.ok_or_else(|| JsonError::at("on_error", "it must be 'poison' or 'defaults'"))?;
    let mut reading = Reading {
        dialect,
        numbers: Vec::with_capacity(json.steps.len()),
    };
    let mut builder = ProgramBuilder::new(json.name.as_str(), PARAMS).in_dialect(dialect);
    for (k, step) in json.steps.iter().enumerate() {
        let kind = reading.step(step, &format!("steps[{k}]"))?;
        match kind {
            StepKind::Call { callee, args } => builder.call(callee, args),
            StepKind::Tuple(items) => builder.tuple(items),
        };
        reading.numbers.push(step.number);
    }
    let mut batt = Batt {
        program: builder.finish(Batt::RESULT),
        numbers: reading.numbers.clone(),
        outputs: Vec::with_capacity(json.outputs.len()),
        scores: Vec::with_capacity(json.scores.len()),
        on_error,
    };
    let mut earlier = 0;
    for (k, output) in json.outputs.iter().enumerate() {
        let place = format!("outputs[{k}]");
        let value = reading.entry_value(&output.value, output.after, &mut earlier, &place)?;
        batt.outputs.push(Output {
            number: output.number,
            mutated: output.mutated,
            donor: output.donor.clone(),
            steps: reading.provenance(&batt, &output.steps, &value, &place)?,
            value,
            after: output.after,
        });
    }
    earlier = 0;
    for (k, score) in json.scores.iter().enumerate() {
        let place = format!("scores[{k}]");
        let value = reading.entry_value(&score.value, score.after, &mut earlier, &place)?;
        if score.donor.as_deref() == Some("None") {
            let message = "'None' is not an id; without a solver it must be null";
            return Err(JsonError::at(format!("{place}.donor"), message));
        }
        batt.scores.push(DifferScore {
            number: score.number,
            donor: score.donor.clone(),
            differ: score.differ.clone(),
            steps: reading.provenance(&batt, &score.steps, &value, &place)?,
            value,
            after: score.after,
        });
    }
    Ok(batt)
}

fn on_error_name(on_error: OnError) -> &'static str {
    match on_error {
        OnError::Poison => "poison",
        OnError::Defaults => "defaults",
    }
}

fn check_format(format: &str, version: u32) -> Result<(), JsonError> {
    if format != FORMAT {
        return Err(JsonError::at("format", format!("it must be '{FORMAT}'")));
    }
    if version != VERSION {
        let message = format!("{version} is not supported, only {VERSION} is");
        return Err(JsonError::at("version", message));
    }
    Ok(())
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// The state of reading: the steps so far.
struct Reading {
    dialect: Dialect,
    numbers: Vec<u32>,
}

impl Reading {
    fn step(&self, step: &StepJson, place: &str) -> Result<StepKind, JsonError> {
        if let Some(last) = self.numbers.last()
            && step.number <= *last
        {
            let message = format!("{} comes after {last}; numbers must grow", step.number);
            return Err(JsonError::at(format!("{place}.number"), message));
        }
        let mut args = Vec::with_capacity(step.args.len());
        for (k, arg) in step.args.iter().enumerate() {
            args.push(self.operand(arg, || format!("{place}.args[{k}]"))?);
        }
        let Some(callee) = &step.callee else {
            if args.iter().all(|arg| arg.literal().is_some()) {
                let message = "a tuple of literals alone is a literal, not a step";
                return Err(JsonError::at(place, message));
            }
            return Ok(StepKind::Tuple(args));
        };
        let callee = self.operand(callee, || format!("{place}.callee"))?;
        if let Operand::Op(op) = &callee
            && op.op().fallback.is_none()
            && op.op().params.len() != args.len()
        {
            let (name, arity) = (op.op().name, op.op().params.len());
            let s = if arity == 1 { "" } else { "s" };
            let message = format!("{name} takes {arity} argument{s}, not {}", args.len());
            return Err(JsonError::at(format!("{place}.args"), message));
        }
        Ok(StepKind::Call { callee, args })
    }

    /// Parses the spelling of an operand.
    fn operand(&self, text: &str, place: impl Fn() -> String) -> Result<Operand, JsonError> {
        if let Some(number) = parse::step_number(text) {
            return match self.numbers.binary_search(&number) {
                Ok(at) => Ok(Operand::Step(StepId(at as u32))),
                Err(_) => Err(JsonError::at(
                    place(),
                    format!("there is no step '{text}' yet"),
                )),
            };
        }
        let param = PARAMS.iter().position(|param| *param == text);
        if let Some(position) = param {
            return Ok([SAMPLES, INPUT, COMPARISON][position].clone());
        }
        let op = self.dialect.op(text).map(Operand::Op);
        let known = op.or_else(|| self.dialect.constant(text).map(Operand::Const));
        let operand = known.or_else(|| parse::literal_of(text).map(Operand::Literal));
        operand.ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            JsonError::at(
                place(),
                format!("'{shown}' is neither a name nor a literal"),
            )
        })
    }

    /// Parses the value of an entry. The entry must come after the step of the value and after the
    /// previous entry.
    fn entry_value(
        &self,
        text: &str,
        after: u32,
        earlier: &mut u32,
        place: &str,
    ) -> Result<Operand, JsonError> {
        let value = self.operand(text, || format!("{place}.value"))?;
        let first = match &value {
            Operand::Step(id) => id.0 + 1,
            _ => 0,
        };
        if after as usize > self.numbers.len() || after < first.max(*earlier) {
            let s = if after == 1 { "" } else { "s" };
            let message = format!("an entry cannot come after {after} step{s} here");
            return Err(JsonError::at(format!("{place}.after"), message));
        }
        *earlier = after;
        Ok(value)
    }

    /// Parses the steps of an entry. They must be in ascending order and include every step that
    /// they or the value need.
    fn provenance(
        &self,
        batt: &Batt,
        numbers: &[u32],
        value: &Operand,
        place: &str,
    ) -> Result<Vec<StepId>, JsonError> {
        let mut steps: Vec<StepId> = Vec::with_capacity(numbers.len());
        for (k, number) in numbers.iter().enumerate() {
            let place = || format!("{place}.steps[{k}]");
            let at = self.numbers.binary_search(number);
            let at =
                at.map_err(|_| JsonError::at(place(), format!("there is no step {number}")))?;
            let id = StepId(at as u32);
            if steps.last().is_some_and(|last| *last >= id) {
                return Err(JsonError::at(place(), "the numbers must grow"));
            }
            let needed = batt.program.step(id).kind.operands();
            if let Some(missing) = missing(&steps, needed) {
                let missing = self.numbers[missing.index()];
                let message = format!("step {number} needs step {missing}, which is not listed");
                return Err(JsonError::at(place(), message));
            }
            steps.push(id);
        }
        if missing(&steps, std::iter::once(value)).is_some() {
            let message = "the step of the value is not listed";
            return Err(JsonError::at(format!("{place}.steps"), message));
        }
        Ok(steps)
    }
}

/// Returns the first step among the operands that is not listed.
fn missing<'o>(
    steps: &[StepId],
    mut operands: impl Iterator<Item = &'o Operand>,
) -> Option<StepId> {
    operands.find_map(|operand| match operand {
        Operand::Step(id) if steps.binary_search(id).is_err() => Some(*id),
        _ => None,
    })
}
