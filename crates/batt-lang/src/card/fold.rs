//! Folding: calls of constants alone, computed while merging.

use std::collections::HashMap;

use batt_dsl::{ConstId, Dialect, Limits, Literal, OpId, Outcome, OwnedValue, Value, Workspace};

use crate::program::Operand;

/// What one folded call may use: such calls are tiny, or not worth folding.
const LIMITS: Limits = Limits {
    steps: 100_000,
    size: 1_000,
    memory: 1 << 20,
    time: None,
};

/// How many elements a folded value may have in all. A larger one costs more to write than the call.
const MAX_ELEMENTS: usize = 16;

/// Computes calls of constants, each once.
pub(super) struct Folder {
    dialect: Dialect,
    workspace: Workspace,
    known: HashMap<(OpId, Vec<Literal>), Option<Operand>>,
    /// What to call a value in the dialect: the first constant that has it.
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

    /// The value of a call, if its arguments are constants and the value can be written down.
    ///
    /// A call that fails is not folded, so the step stays and fails in its run; nor is one that falls back,
    /// so that a run can still report it. Values hold no functions and no floats, so it does not
    /// matter how often they are made. Sets have no literals.
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
            Ok((value, 0)) => written(&value, &mut MAX_ELEMENTS.clone()),
            _ => None,
        }
    }
}

/// The literal of a value, if it has one; `room` is how many elements it may still have.
fn written(value: &OwnedValue, room: &mut usize) -> Option<Literal> {
    match value {
        OwnedValue::Bool(b) => Some(Literal::Bool(*b)),
        OwnedValue::Int(n) => Some(Literal::Int(*n)),
        OwnedValue::Tuple(items) => {
            *room = room.checked_sub(items.len())?;
            let items: Option<_> = items.iter().map(|item| written(item, room)).collect();
            items.map(Literal::Tuple)
        }
        OwnedValue::None | OwnedValue::Float(_) | OwnedValue::Set(_) | OwnedValue::Function => None,
    }
}
