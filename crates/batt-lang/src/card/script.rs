//! Scripts: programs whose steps refer to the parameters of a batt.

use crate::batt::PARAMS;
use crate::program::{Operand, ParamId, Program, StepKind};

use super::CardError;

/// A program to merge. Its steps refer to each other by position, and to the batt's parameters.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub name: String,
    pub lines: Vec<StepKind>,
    pub result: Operand,
}

/// Maps the parameters of a program to those of a batt: by name, ignoring case. A single parameter
/// of any other name is the input.
pub(crate) fn roles(params: &[String]) -> Option<Vec<ParamId>> {
    const INPUT: ParamId = ParamId(1);
    if params.len() == 1 {
        // A single `S` or `C` keeps its meaning; `def differ(C)` is unusual, but clear.
        return Some(vec![role(&params[0]).unwrap_or(INPUT)]);
    }
    let roles: Vec<ParamId> = params
        .iter()
        .map(|name| role(name))
        .collect::<Option<_>>()?;
    let distinct = (1..roles.len()).all(|k| !roles[..k].contains(&roles[k]));
    distinct.then_some(roles)
}

fn role(name: &str) -> Option<ParamId> {
    let at = PARAMS.iter().position(|p| p.eq_ignore_ascii_case(name))?;
    Some(ParamId(at as u32))
}

impl Script {
    /// Converts a program to a script.
    pub fn of(program: &Program) -> Result<Script, CardError> {
        let Some(roles) = roles(program.params()) else {
            return Err(CardError::Parameters {
                function: program.name().to_owned(),
                params: program.params().to_vec(),
            });
        };
        let mapped = |mut operand: Operand| {
            if let Operand::Param(id) = &mut operand {
                *id = roles[id.index()];
            }
            operand
        };
        let lines = program.steps().iter().map(|step| {
            let mut kind = step.kind.clone();
            for operand in kind.operands_mut() {
                if let Operand::Param(id) = operand {
                    *id = roles[id.index()];
                }
            }
            kind
        });
        Ok(Script {
            name: program.name().to_owned(),
            lines: lines.collect(),
            result: mapped(program.result().clone()),
        })
    }
}

/// Replaces a reference to an earlier step with that step's value.
pub(super) fn follow(operand: &mut Operand, values: &[Operand]) {
    if let Operand::Step(id) = operand {
        *operand = values[id.index()].clone();
    }
}
