//! Sharing: equal steps of different programs become one.

use std::collections::HashMap;

use batt_dsl::{Dialect, Literal, Type};

use crate::program::{Operand, StepId, StepKind};

/// How often a program has made each step that [is new each time](is_new_each_time). The key is the
/// first step of its structure.
pub(super) type Occurrences = HashMap<StepId, u32>;

/// The most steps or literals: a code has 32 bits, of which two are for the kind of operand.
pub(super) const MAX_STEPS: u64 = 1 << 30;

/// Steps under construction, without duplicates.
pub(super) struct Steps {
    dialect: Dialect,
    pub kinds: Vec<StepKind>,
    /// The first step of each structure.
    first: HashMap<Box<[u32]>, StepId>,
    /// Further steps of the same structure, by the first one and the number of the repetition.
    repeats: HashMap<(StepId, u32), StepId>,
    literals: HashMap<Literal, u32>,
    key: Vec<u32>,
}

impl Steps {
    pub fn new(dialect: Dialect) -> Steps {
        Steps {
            dialect,
            kinds: Vec::new(),
            first: HashMap::new(),
            repeats: HashMap::new(),
            literals: HashMap::new(),
            key: Vec::new(),
        }
    }

    /// Adds a step of a program, or finds an existing one. `own` counts the steps that the program
    /// has made so far; `earlier` counts those of a program whose values this one sees.
    pub fn add(
        &mut self,
        kind: StepKind,
        own: &mut Occurrences,
        earlier: Option<&Occurrences>,
    ) -> Operand {
        if let Some(literal) = literal_tuple(&kind) {
            return Operand::Literal(literal);
        }
        let occurs_once = !is_new_each_time(self.dialect, &kind);
        let first = match self.find(&kind) {
            Ok(first) => first,
            Err(key) => {
                let first = self.push(kind);
                self.first.insert(key, first);
                if !occurs_once {
                    own.insert(first, 1);
                }
                return Operand::Step(first);
            }
        };
        if occurs_once {
            return Operand::Step(first);
        }
        let before = earlier.and_then(|earlier| earlier.get(&first));
        let count = own.entry(first).or_default();
        let number = before.copied().unwrap_or_default() + *count;
        *count += 1;
        if number == 0 {
            return Operand::Step(first);
        }
        let step = match self.repeats.get(&(first, number)) {
            Some(&step) => step,
            None => {
                let step = self.push(kind);
                self.repeats.insert((first, number), step);
                step
            }
        };
        Operand::Step(step)
    }

    /// Adds a step, or finds an existing one of the same structure.
    pub fn add_structure(&mut self, kind: StepKind) -> Operand {
        if let Some(literal) = literal_tuple(&kind) {
            return Operand::Literal(literal);
        }
        let step = match self.find(&kind) {
            Ok(step) => step,
            Err(key) => {
                let step = self.push(kind);
                self.first.insert(key, step);
                step
            }
        };
        Operand::Step(step)
    }

    fn push(&mut self, kind: StepKind) -> StepId {
        let id = StepId(self.kinds.len() as u32);
        self.kinds.push(kind);
        id
    }

    /// Returns the first step of this structure, or the key for it.
    fn find(&mut self, kind: &StepKind) -> Result<StepId, Box<[u32]>> {
        /// Takes the place of the callee in the key of a tuple.
        const TUPLE: u32 = u32::MAX;
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        if let StepKind::Tuple(_) = kind {
            key.push(TUPLE);
        }
        key.extend(kind.operands().map(|operand| self.code(operand)));
        let found = match self.first.get(key.as_slice()) {
            Some(&first) => Ok(first),
            None => Err(key.as_slice().into()),
        };
        self.key = key;
        found
    }

    /// Returns the code of an operand, one word. Constants and literals of the same value and kind
    /// have the same code: `ONE`, `F1` and `1`, but not `True`.
    fn code(&mut self, operand: &Operand) -> u32 {
        const KIND: u32 = 30;
        match operand {
            Operand::Param(id) => id.0,
            Operand::Step(id) => 1 << KIND | id.0,
            Operand::Op(op) => 2 << KIND | op.index() as u32,
            Operand::Const(constant) => 3 << KIND | self.literal(&constant.value()),
            Operand::Literal(literal) => 3 << KIND | self.literal(literal),
        }
    }

    fn literal(&mut self, literal: &Literal) -> u32 {
        if let Some(&number) = self.literals.get(literal) {
            return number;
        }
        let number = self.literals.len() as u32;
        self.literals.insert(literal.clone(), number);
        number
    }
}

/// Returns the literal for a tuple that has only literals and constants as items. Such a tuple is
/// not a step, but a step can become one when its operands are replaced.
pub(super) fn literal_tuple(kind: &StepKind) -> Option<Literal> {
    match kind {
        StepKind::Tuple(items) => {
            let items: Option<Vec<Literal>> = items.iter().map(Operand::literal).collect();
            items.map(Literal::Tuple)
        }
        StepKind::Call { .. } => None,
    }
}

/// Returns whether a program can distinguish two runs of this step with the same operands.
///
/// Values are compared by content, with two exceptions. A closure is equal only to itself. A nan
/// made by arithmetic, inside a container, is also equal only to itself. `x1 = rbind(add, ONE)` and
/// `x2 = rbind(add, ONE)` are two functions, and `equality(x1, x2)` is false; with one shared step
/// it would be true. So within one program such a step is made as often as the program says.
/// *Different* programs never see each other's values, so the first occurrence in one program may
/// be shared with the first in another, the second with the second, and so on. A differ on a
/// candidate does see the solver's values, so its occurrences continue the solver's count.
///
/// Any call of a function may make such values, because the check does not look inside. In
/// tokpidjin any computation with numbers or coordinates may make them as well; only families that
/// merely select and arrange are exempt. The caution is cheap, because repetition within one
/// program is rare.
pub(super) fn is_new_each_time(dialect: Dialect, kind: &StepKind) -> bool {
    const ARRANGING: [&str; 6] = [
        "logic",
        "container",
        "ranked",
        "samples",
        "segmentation",
        "color",
    ];
    match kind {
        StepKind::Tuple(_) => false,
        StepKind::Call {
            callee: Operand::Op(op),
            ..
        } => {
            let op = op.op();
            let calls = op.family == "higher order"
                || op.params.iter().any(|param| param.ty == Type::Callable);
            // `combine_t` of two floats is their sum.
            let floats = dialect == Dialect::Tokpidjin
                && (!ARRANGING.contains(&op.family) || op.name == "combine_t");
            calls || floats
        }
        StepKind::Call { .. } => true,
    }
}
