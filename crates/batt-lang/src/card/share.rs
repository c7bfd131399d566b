//! Sharing: a step that is there already is not made again.

use std::collections::HashMap;

use batt_dsl::{Dialect, Literal, Type};

use crate::program::{Operand, StepId, StepKind};

/// How often a program has made each step that is its own every time, by the first such step.
pub(super) type Occurrences = HashMap<StepId, u32>;

/// Positions of steps and literals have to leave two bits of 32 for what they are.
pub(super) const MAX_STEPS: u64 = 1 << 30;

/// Steps under construction, none of them twice.
pub(super) struct Steps {
    dialect: Dialect,
    pub kinds: Vec<StepKind>,
    /// The first step of each structure.
    first: HashMap<Box<[u32]>, StepId>,
    /// Further ones of the same structure, by the first one and their number.
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

    /// A step of a program: a new one, or one that is there. `own` counts what the program has made so far,
    /// `earlier` what was made by a program whose values this one sees.
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

    /// A step that shares with any other of the same structure.
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

    /// The first step of this structure, or the key to put it under.
    fn find(&mut self, kind: &StepKind) -> Result<StepId, Box<[u32]>> {
        /// Stands before the items of a tuple, where a call has its callee.
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

    /// An operand in one word. Constants and literals of the same value and kind have the same one: `ONE`, `F1`
    /// and `1`, but not `True`.
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

/// A tuple of nothing but literals and constants is a literal, not a step. It can become one when operands
/// are replaced.
pub(super) fn literal_tuple(kind: &StepKind) -> Option<Literal> {
    match kind {
        StepKind::Tuple(items) => {
            let items: Option<Vec<Literal>> = items.iter().map(Operand::literal).collect();
            items.map(Literal::Tuple)
        }
        StepKind::Call { .. } => None,
    }
}

/// Can a program tell two runs of this step apart, given the same operands?
///
/// Values are compared by what they are, with two exceptions. A closure is equal only to itself, and so, inside
/// a container, is a nan that arithmetic made. `x1 = rbind(add, ONE)` and `x2 = rbind(add, ONE)` are two functions, and
/// `equality(x1, x2)` is false: made once, it would be true. So within one program such a step is made as often as
/// the program says. *Different* programs never meet each other's values, so the first occurrence of one may be the
/// first of the other, the second the second, and so on. A differ that looks at a candidate does meet
/// the solver's values: its occurrences are counted on from there.
///
/// Anything that calls functions may make such values, and we do not look inside. In tokpidjin, so may
/// whatever computes with numbers or coordinates; only families that merely select and arrange are
/// exempt. It costs little to be careful: repetition within one program is rare.
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
