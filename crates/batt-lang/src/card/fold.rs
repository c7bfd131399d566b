//! Folding: computes calls whose arguments are all constants while merging.

use std::collections::HashMap;

use batt_dsl::{ConstId, Dialect, Limits, Literal, OpId, Outcome, OwnedValue, Value, Workspace};

use crate::program::Operand;

/// The limits of one folded call. Larger calls are not worth folding.
const LIMITS: Limits = Limits {
    steps: 100_000,
    size: 1_000,
    memory: 1 << 20,
    time: None,
};

/// The most elements a folded value may have in total. A larger value is longer than the call.
const MAX_ELEMENTS: usize = 16;

/// Computes calls whose arguments are all constants, and caches the results.
pub(super) struct Folder {
    dialect: Dialect,
    workspace: Workspace,
    known: HashMap<(OpId, Vec<Literal>), Option<Operand>>,
    /// The name of each value in the dialect: the first constant with that value.
    names: HashMap<Literal, ConstId>,
}

impl Folder {
    pub fn new(dialect: Dialect) -> Folder {
        let mut names = HashMap::new();
        for constant in dialect.constants() {
            names.entry(constant.value()).or_insert(constant);
        }
        Folder {
            dialect,
            workspace: Workspace::new(),
            known: HashMap::new(),
            names,
        }
    }

    /// Returns the value of a call, if its arguments are constants and the value is a literal.
    ///
    /// A call that fails is not folded: the step stays and fails in its run. A call that falls back
    /// is not folded either, so that a run can still report it. Folded values contain no functions
    /// and no floats, so making them once or several times is the same. Sets cannot be written as
    /// literals, so they are not folded.
    pub fn fold(&mut self, op: OpId, args: &[Operand]) -> Option<Operand> {
        if args.len() != op.op().arity() {
            return None;
        }
        let args: Vec<Literal> = args.iter().map(Operand::literal).collect::<Option<_>>()?;
        let call = (op, args);
        if let Some(known) = self.known.get(&call) {
            return known.clone();
        }
        let folded = self.compute(op, &call.1).map(|literal| {
            let name = self.names.get(&literal);
            name.map_or(Operand::Literal(literal), |&name| Operand::Const(name))
        });
        self.known.insert(call, folded.clone());
        folded
    }

    fn compute(&mut self, op: OpId, args: &[Literal]) -> Option<Literal> {
        let run = self.workspace.run(self.dialect, &LIMITS, |run| {
            let args: Outcome<Vec<Value>> = args.iter().map(|arg| run.literal(arg)).collect();
            let value = run.call(Value::Op(op), &args?)?;
            let value = run.to_owned(value)?;
            Ok::<_, batt_dsl::Fault>((value, run.fallbacks()))
        });
        match run {
            Ok((value, 0)) => to_literal(&value, &mut MAX_ELEMENTS.clone()),
            _ => None,
        }
    }
}

/// Returns the literal of a value, if it has one; `room` is the number of elements that it may
/// still have.
fn to_literal(value: &OwnedValue, room: &mut usize) -> Option<Literal> {
    match value {
        OwnedValue::Bool(b) => Some(Literal::Bool(*b)),
        OwnedValue::Int(n) => Some(Literal::Int(*n)),
        OwnedValue::Tuple(items) => {
            *room = room.checked_sub(items.len())?;
            let items: Option<_> = items.iter().map(|item| to_literal(item, room)).collect();
            items.map(Literal::Tuple)
        }
        OwnedValue::None | OwnedValue::Float(_) | OwnedValue::Set(_) | OwnedValue::Function => None,
    }
}
