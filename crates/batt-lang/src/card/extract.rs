//! Extraction: turns one step of a batt back into a solver, in canonical form.

use std::collections::HashMap;

use batt_dsl::Dialect;

use crate::batt::{Batt, INPUT, PARAMS};
use crate::program::{Operand, ParamId, Program, ProgramBuilder, StepId, StepKind};
use crate::source::Span;

use super::CardError;
use super::script::Script;
use super::share::Steps;

/// The reason why a step cannot be extracted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// There is no such step.
    #[error("the batt has no step t{number}{}", until(*last))]
    NoSuchStep {
        /// The requested number.
        number: u32,
        /// The greatest number in the batt.
        last: Option<u32>,
    },
}

fn until(last: Option<u32>) -> String {
    last.map_or_else(String::new, |last| format!("; the last is t{last}"))
}

/// Returns the program that computes one step of a batt, in [canonical form](canonical).
pub fn extract(batt: &Batt, number: u32, name: &str) -> Result<Program, ExtractError> {
    let Some(id) = batt.step_numbered(number) else {
        let last = batt.numbers.last().copied();
        return Err(ExtractError::NoSuchStep { number, last });
    };
    Ok(extract_value(batt, &Operand::Step(id), name))
}

/// Returns the program that computes one value of a batt, such as that of an output, in
/// [canonical form](canonical).
///
/// # Panics
///
/// If the value belongs to another batt.
pub fn extract_value(batt: &Batt, value: &Operand, name: &str) -> Program {
    let kind = |id: StepId| &batt.program.step(id).kind;
    rebuild(batt.dialect(), name, value, kind)
}

/// Returns the canonical form of a program: only the steps that its result needs, each call once.
/// The steps that a call needs come before it, first those of the callee, then those of the
/// arguments from left to right. Programs with the same [structural hash](super::structural_hash)
/// have the same canonical form, except for the spelling of constants.
///
/// As in the original, equal calls become one step. A program can observe the difference only by
/// comparing two functions that it made in the same way.
///
/// The canonical program takes `(S, I, C)`. In dialects other than tokpidjin it takes only `(I)` if
/// it needs neither `S` nor `C`.
pub fn canonical(program: &Program) -> Result<Program, CardError> {
    let script = Script::of(program)?;
    let kind = |id: StepId| &script.lines[id.index()];
    Ok(rebuild(
        program.dialect(),
        program.name(),
        &script.result,
        kind,
    ))
}

/// Builds a program from the steps that a value needs. The steps refer to the parameters of a batt.
fn rebuild<'k>(
    dialect: Dialect,
    name: &str,
    value: &Operand,
    kind: impl Fn(StepId) -> &'k StepKind,
) -> Program {
    let mut steps = Steps::new(dialect);
    let mut done: HashMap<StepId, Operand> = HashMap::new();
    // An explicit stack of unfinished steps, each with the number of its finished operands.
    // Programs can nest as deeply as they are long, too deep for recursion.
    let mut open: Vec<(StepId, usize)> = Vec::new();
    if let Operand::Step(id) = value {
        open.push((*id, 0));
    }
    while let Some((id, seen)) = open.last_mut() {
        match kind(*id).operands().nth(*seen) {
            Some(operand) => {
                *seen += 1;
                if let Operand::Step(needed) = operand
                    && !done.contains_key(needed)
                {
                    open.push((*needed, 0));
                }
            }
            None => {
                let mut rebuilt = kind(*id).clone();
                for operand in rebuilt.operands_mut() {
                    if let Operand::Step(needed) = operand {
                        *operand = done[needed].clone();
                    }
                }
                done.insert(*id, steps.add_structure(rebuilt));
                open.pop();
            }
        }
    }
    let mut result = match value {
        Operand::Step(id) => done[id].clone(),
        other => other.clone(),
    };
    let operands = steps.kinds.iter().flat_map(StepKind::operands);
    let only_input = operands
        .chain([&result])
        .all(|operand| !matches!(operand, Operand::Param(_)) || *operand == INPUT);
    let input_alone = only_input && dialect != Dialect::Tokpidjin;
    let mut builder = match input_alone {
        true => ProgramBuilder::new(name, ["I"]),
        false => ProgramBuilder::new(name, PARAMS),
    }
    .in_dialect(dialect);
    let place = |operand: &mut Operand| {
        if input_alone && *operand == INPUT {
            *operand = Operand::Param(ParamId(0));
        }
    };
    for mut kind in steps.kinds {
        kind.operands_mut().for_each(place);
        builder.push(kind, None, Span::default());
    }
    place(&mut result);
    builder.finish(result)
}
