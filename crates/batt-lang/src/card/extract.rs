//! Extraction: the solver behind one step of a batt, in canonical form.

use std::collections::HashMap;

use batt_dsl::Dialect;

use crate::batt::{Batt, INPUT, PARAMS};
use crate::program::{Operand, ParamId, Program, ProgramBuilder, StepId, StepKind};
use crate::source::Span;

use super::CardError;
use super::script::Script;
use super::share::Steps;

/// Why nothing can be cut out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// There is no such step.
    #[error("the batt has no step t{number}{}", until(*last))]
    NoSuchStep {
        /// The number asked for.
        number: u32,
        /// The last number there is.
        last: Option<u32>,
    },
}

fn until(last: Option<u32>) -> String {
    last.map_or_else(String::new, |last| format!("; the last is t{last}"))
}

/// The program that computes one step of a batt, in [canonical form](canonical).
pub fn extract(batt: &Batt, number: u32, name: &str) -> Result<Program, ExtractError> {
    let Some(id) = batt.step_numbered(number) else {
        let last = batt.numbers.last().copied();
        return Err(ExtractError::NoSuchStep { number, last });
    };
    Ok(extract_value(batt, &Operand::Step(id), name))
}

/// The program that computes one value of a batt, such as that of an output, in [canonical form](canonical).
///
/// # Panics
///
/// If the value is of another batt.
pub fn extract_value(batt: &Batt, value: &Operand, name: &str) -> Program {
    let kind = |id: StepId| &batt.program.step(id).kind;
    rebuild(batt.dialect(), name, value, kind)
}

/// The canonical form of a program: the steps its result needs, from the inside out, callee first and then the
/// arguments from left to right, each call once. Programs with the same
/// [structural hash](super::structural_hash) have the same one, but for the spelling of constants.
///
/// As in the original, what is written twice and means the same is one step here. A program can tell the difference
/// only by comparing functions it has made twice in the same way.
///
/// In tokpidjin it takes `(S, I, C)`; in other dialects `(I)`, if that is all it needs.
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

/// Writes the steps behind a value anew. Steps refer to the parameters of a batt.
fn rebuild<'k>(
    dialect: Dialect,
    name: &str,
    value: &Operand,
    kind: impl Fn(StepId) -> &'k StepKind,
) -> Program {
    let mut steps = Steps::new(dialect);
    let mut done: HashMap<StepId, Operand> = HashMap::new();
    // Steps begun, each with how many of its operands have been seen to: programs nest as deeply as they are
    // long, so the stack is not the machine's.
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
    let alone = only_input && dialect != Dialect::Tokpidjin;
    let mut builder = match alone {
        true => ProgramBuilder::new(name, ["I"]),
        false => ProgramBuilder::new(name, PARAMS),
    }
    .in_dialect(dialect);
    let place = |operand: &mut Operand| {
        if alone && *operand == INPUT {
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
