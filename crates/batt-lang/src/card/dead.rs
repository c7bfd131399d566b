//! Dead code: drops unused steps that cannot fail.

use batt_dsl::Literal;

use crate::program::{Operand, StepId, StepKind};

use super::resolve::{direct_call, is_function};
use super::script::{Script, follow};

/// Drops the unused steps of a script, unless they might fail.
///
/// In Python a failing line fails the solver, even if its value is unused. So a step that may fail
/// stays, with every step that it needs.
pub(super) fn drop_dead(script: Script) -> Script {
    let Script {
        name,
        lines,
        mut result,
    } = script;
    let mut kept = vec![false; lines.len()];
    let need = |kept: &mut [bool], operand: &Operand| {
        if let Operand::Step(id) = operand {
            kept[id.index()] = true;
        }
    };
    need(&mut kept, &result);
    for (k, kind) in lines.iter().enumerate().rev() {
        kept[k] |= !never_fails(&lines, kind);
        if kept[k] {
            kind.operands().for_each(|o| need(&mut kept, o));
        }
    }
    let mut values: Vec<Operand> = Vec::with_capacity(lines.len());
    let mut live = Vec::with_capacity(lines.len());
    for (mut kind, kept) in lines.into_iter().zip(kept) {
        // A dropped step gets an entry too, to which no operand refers.
        values.push(Operand::Step(StepId(live.len() as u32)));
        if kept {
            kind.operands_mut().for_each(|o| follow(o, &values));
            live.push(kind);
        }
    }
    follow(&mut result, &values);
    Script {
        name,
        lines: live,
        result,
    }
}

/// Returns whether a step certainly succeeds, given that its operands have values. Limits of a run
/// do not count.
fn never_fails(lines: &[StepKind], kind: &StepKind) -> bool {
    let op = match kind {
        StepKind::Tuple(_) => return true,
        StepKind::Call {
            callee: Operand::Op(op),
            ..
        } => op.op(),
        StepKind::Call { .. } => return false,
    };
    if op.fallback.is_some() {
        return true;
    }
    match direct_call(kind) {
        // These only make a function and check nothing. The failures in the op table happen when
        // that function is called.
        Some(("compose" | "chain" | "fork" | "matcher", _)) => true,
        // These ask their argument for its arity, which fails unless it is a function.
        Some(("lbind" | "rbind", [function, _])) => is_function(lines, function),
        // A larger exponent could reach the recursion limit.
        Some(("power", [_, times])) => matches!(
            times.literal(),
            Some(Literal::Int(1..=500) | Literal::Bool(true))
        ),
        Some(_) => op.fails.is_empty(),
        None => false,
    }
}
