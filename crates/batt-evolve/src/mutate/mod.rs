//! New programs from old ones. Every kind of change is a small strategy of its own.
//!
//! A strategy gets a program and gives another one, or nothing where it does not apply. It works on the graph and asks the
//! types what can be meant, so most of what comes out runs.

mod assemble;
mod constant;
mod function;
mod samples;
mod structure;
mod transplant;

use batt_dsl::OpId;
use batt_lang::graph::{Node, Ref};
use batt_lang::types::{ConstantRole, TypeId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::credit::Weights;
use crate::donors::Donors;
use crate::parts::PartIndex;
use crate::random::Chance;
use crate::typed::Typed;

pub(crate) use assemble::Assembly;

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A constant becomes another one of its role.
    Constant,
    /// A primitive becomes another one that takes the same.
    Op,
    /// An argument becomes another value of the program, or the input.
    Rewire,
    /// A call is put between a value and its use.
    Insert,
    /// A call gives way to one of its arguments.
    Remove,
    /// A function that is passed becomes another one, or a composition.
    Function,
    /// A value becomes one that a donor computes.
    Transplant,
    /// A value becomes one of another program of the population.
    Mate,
    /// A new program from parts.
    Assemble,
    /// A donor's program with other constants.
    Adopt,
    /// A colour becomes one that the demonstrations tell.
    Colour,
    /// A mirror or rotation becomes the one that the demonstrations tell.
    Mirror,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 12] = [
        Kind::Constant,
        Kind::Op,
        Kind::Rewire,
        Kind::Insert,
        Kind::Remove,
        Kind::Function,
        Kind::Transplant,
        Kind::Mate,
        Kind::Assemble,
        Kind::Adopt,
        Kind::Colour,
        Kind::Mirror,
    ];

    /// The name in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Constant => "constant",
            Kind::Op => "op",
            Kind::Rewire => "rewire",
            Kind::Insert => "insert",
            Kind::Remove => "remove",
            Kind::Function => "function",
            Kind::Transplant => "transplant",
            Kind::Mate => "mate",
            Kind::Assemble => "assemble",
            Kind::Adopt => "adopt",
            Kind::Colour => "colour",
            Kind::Mirror => "mirror",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// How often it is tried before anything is known about what pays.
    pub fn first_weight(self) -> f64 {
        match self {
            Kind::Assemble => 12.0,
            Kind::Constant | Kind::Transplant | Kind::Insert => 2.0,
            Kind::Op | Kind::Rewire | Kind::Function | Kind::Mate => 1.5,
            Kind::Remove | Kind::Adopt => 1.0,
            Kind::Colour | Kind::Mirror => 0.25,
        }
    }

    /// Does it change a program, or make a new one?
    pub(crate) fn has_parent(self) -> bool {
        !matches!(self, Kind::Assemble | Kind::Adopt)
    }

    /// The number among all kinds.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Nodes a program may have. A longer one takes long, and fits the demonstrations rather than the rule behind them.
pub(crate) const LARGEST: usize = 40;

/// Arguments that a call may have to be changed: no primitive takes more.
const MOST_ARGS: usize = 8;

/// What strategies work with: one task, one moment.
pub(crate) struct Breeder<'a> {
    pub typed: &'a mut Typed,
    pub chance: Chance,
    pub donors: &'a Donors,
    pub parts: PartIndex,
    pub assembly: Assembly,
    /// The programs of the population.
    pub population: Vec<Ref>,
    /// Colours of the demonstrations, those of the outputs twice.
    pub colours: &'a [u8],
    /// Nodes a new program may have.
    pub largest: usize,
    /// Functions that can stand where a type is wanted.
    pub functions: &'a mut FxHashMap<TypeId, Vec<Ref>>,
    /// Room for the nodes of a program.
    pub nodes: Vec<u32>,
}

impl Breeder<'_> {
    /// Changes a program in some way of this kind; `None` if that came to nothing.
    pub fn mutate(&mut self, kind: Kind, parent: Ref) -> Option<Ref> {
        let child = match kind {
            Kind::Assemble => self.assemble().map(|(grid, _)| grid),
            Kind::Constant => constant::constant(self, parent),
            Kind::Op => structure::op(self, parent),
            Kind::Rewire => structure::rewire(self, parent),
            Kind::Insert => structure::insert(self, parent),
            Kind::Remove => structure::remove(self, parent),
            Kind::Function => function::function(self, parent),
            Kind::Transplant => transplant::transplant(self, parent),
            Kind::Mate => transplant::mate(self, parent),
            Kind::Adopt => transplant::adopt(self),
            Kind::Colour => samples::colour(self, parent),
            Kind::Mirror => samples::mirror(self, parent),
        }?;
        let ty = self.typed.type_of(child)?;
        let grid = self.typed.types.fits(ty, TypeId::GRID);
        let fine = child != parent && grid && self.size(child) <= self.largest;
        fine.then_some(child)
    }

    /// Changes a program in some way of this kind, and by chance once or a few times more.
    pub fn change(&mut self, kind: Kind, parent: Ref, sums: &[f64], again: f64) -> Option<Ref> {
        let mut child = self.mutate(kind, parent)?;
        while self.chance.is(again) {
            let more = Weights::choose(sums, &mut self.chance);
            if more.has_parent() {
                child = self.mutate(more, child).unwrap_or(child);
            }
        }
        Some(child)
    }

    /// A new program from parts, and what it costs.
    pub fn assemble(&mut self) -> Option<(Ref, u32)> {
        assemble::assemble(self)
    }

    /// The calls that a program is made of.
    pub fn size(&mut self, program: Ref) -> usize {
        self.typed.graph.reach_into(program, &mut self.nodes);
        self.nodes.len()
    }

    /// Some node of a program.
    fn node_of(&mut self, program: Ref) -> Option<u32> {
        self.typed.graph.reach_into(program, &mut self.nodes);
        self.chance.one(&self.nodes).copied()
    }

    /// Some operand of a program: its node, and the position there. Arguments only; a callee is no argument.
    fn argument_of(&mut self, program: Ref) -> Option<(u32, usize)> {
        let node = self.node_of(program)?;
        let operands = self.typed.graph.operands(node).len();
        match operands {
            0 | 1 => None,
            _ => Some((node, 1 + self.chance.below(operands - 1))),
        }
    }

    /// The type wanted at an operand of a call, as far as the others tell.
    fn wanted(&mut self, node: u32, position: usize) -> Option<TypeId> {
        let Node::Call { callee, args } = self.typed.graph.node(node) else {
            return None;
        };
        let count = args.len();
        let mut given = [Ref::INPUT; MOST_ARGS];
        given.get_mut(..count)?.copy_from_slice(args);
        let mut types = [TypeId::ANY; MOST_ARGS];
        for (ty, &arg) in types.iter_mut().zip(&given[..count]) {
            *ty = self.typed.type_of(arg)?;
        }
        let callee = self.typed.type_of(callee)?;
        let result = self.typed.type_of(Ref::node(node));
        let hole = position.checked_sub(1)?;
        let types = &types[..count];
        Some(self.typed.types.wanted_in(callee, types, hole, result))
    }

    /// What an operand of a call is for, if it can be told: also of a value that is bound to a primitive.
    fn role(&self, node: u32, position: usize) -> Option<ConstantRole> {
        let Node::Call { callee, args } = self.typed.graph.node(node) else {
            return None;
        };
        let op = callee.as_op()?;
        let position = position.checked_sub(1)?;
        match (op.op().name, args) {
            ("lbind", [function, _]) if position == 1 => {
                ConstantRole::of_param(function.as_op()?, 0)
            }
            ("rbind", [function, _]) if position == 1 => {
                let function = function.as_op()?;
                ConstantRole::of_param(function, function.op().arity().checked_sub(1)?)
            }
            ("matcher", [function, _]) if position == 1 => {
                ConstantRole::of_result(function.as_op()?)
            }
            _ => ConstantRole::of_param(op, position),
        }
    }

    /// A constant for a role; colours are mostly those of the task.
    fn constant_for(&mut self, role: ConstantRole) -> Option<Ref> {
        let choices = role.choices(self.typed.graph.dialect());
        if role == ConstantRole::Colour && self.chance.is(0.9) {
            let colour = *self.chance.one(self.colours)?;
            return choices.get(usize::from(colour)).map(|&c| Ref::constant(c));
        }
        self.chance.one(choices).map(|&c| Ref::constant(c))
    }

    /// A value of a type: the input, or a part.
    fn value(&mut self, wanted: TypeId) -> Option<Ref> {
        if wanted == TypeId::GRID && self.chance.is(0.5) {
            return Some(Ref::INPUT);
        }
        if wanted == TypeId::SAMPLES {
            return Some(Ref::SAMPLES);
        }
        let parts = self.parts.fitting(self.typed, wanted);
        let at = self.chance.low(parts.len());
        parts.get(at).copied()
    }

    /// A function of a type: a donor's, a primitive, or a new composition.
    fn function(&mut self, wanted: TypeId) -> Option<Ref> {
        if self.chance.is(0.2)
            && let Some(made) = function::compose(self, wanted)
        {
            return Some(made);
        }
        let count = self.functions_for(wanted).len();
        let at = self.chance.below(count);
        self.functions_for(wanted).get(at).copied()
    }

    /// Donors' functions and primitives that can stand where a type is wanted.
    fn functions_for(&mut self, wanted: TypeId) -> &[Ref] {
        self.functions.entry(wanted).or_insert_with(|| {
            let mut list = Vec::new();
            for (ty, functions) in self.donors.functions() {
                if self.typed.types.fits(*ty, wanted) {
                    list.extend_from_slice(functions);
                }
            }
            list
        })
    }

    /// Something to pass to a primitive.
    fn argument(&mut self, op: OpId, position: usize, wanted: TypeId) -> Option<Ref> {
        if self.typed.types.is_function(wanted) {
            return self.function(wanted);
        }
        if let Some(role) = ConstantRole::of_param(op, position) {
            let constant = match role {
                ConstantRole::Colour => 0.75,
                ConstantRole::Flag => 0.95,
                ConstantRole::Number | ConstantRole::Location => 0.4,
                _ => 0.6,
            };
            if self.chance.is(constant)
                && let Some(constant) = self.constant_for(role)
            {
                return Some(constant);
            }
        }
        self.value(wanted)
    }

    /// A call of a primitive, with some arguments given and the others found.
    fn call(&mut self, op: OpId, given: &[(usize, Ref)], result: Option<TypeId>) -> Option<Ref> {
        let arity = op.op().arity();
        let ty = self.typed.types.op(op);
        let (mut types, mut args) = ([TypeId::ANY; MOST_ARGS], [Ref::INPUT; MOST_ARGS]);
        let (types, args) = (types.get_mut(..arity)?, args.get_mut(..arity)?);
        for &(position, value) in given {
            args[position] = value;
            types[position] = self.typed.type_of(value)?;
        }
        // Functions come last: what they are applied to says which ones will do.
        let params = self.donors.params_of(op);
        let is_function = |b: &Breeder<'_>, k: usize| {
            params.get(k).is_some_and(|&p| b.typed.types.is_function(p))
        };
        for functions in [false, true] {
            for k in 0..arity {
                let is_given = given.iter().any(|&(position, _)| position == k);
                if is_given || is_function(self, k) != functions {
                    continue;
                }
                let wanted = self.typed.types.wanted_in(ty, types, k, result);
                let value = self.argument(op, k, wanted)?;
                args[k] = value;
                types[k] = self.typed.type_of(value)?;
            }
        }
        self.typed.call(Ref::op(op), args)
    }
}
