//! Mutations: new programs from old ones.
//!
//! Each kind of mutation is a function that takes a program and returns another one, or `None` if it
//! does not apply. It works on the graph and makes only well-typed programs, so most of the results
//! run.

mod assemble;
mod constant;
mod function;
mod samples;
mod structure;
mod transplant;

use batt_dsl::OpId;
use batt_lang::graph::{Graph, Node, Ref};
use batt_lang::types::{ConstantRole, TypeId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::credit::Weights;
use crate::donors::Donors;
use crate::parts::PartIndex;
use crate::random::Chance;
use crate::typed::Typed;

pub(crate) use assemble::Assembly;

/// A kind of mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MutationKind {
    /// Replaces a constant by another one of its role.
    Constant,
    /// Replaces a primitive by another one that accepts the same arguments.
    Op,
    /// Replaces an argument by another value of the program, or by the input.
    Rewire,
    /// Inserts a call between a value and its use.
    Insert,
    /// Replaces a call by one of its arguments.
    Remove,
    /// Replaces a passed function by another one, or by a composition.
    Function,
    /// Replaces a value by one that a donor computes.
    Transplant,
    /// Replaces a value by one of another program of the population.
    Mate,
    /// Makes a new program from parts.
    Assemble,
    /// Takes a donor's program with other constants.
    Adopt,
    /// Replaces a colour by one that is computed from the demonstrations.
    Colour,
    /// Replaces a mirror or rotation by one that is computed from the demonstrations.
    Mirror,
}

impl MutationKind {
    /// All kinds.
    pub const ALL: [MutationKind; 12] = [
        MutationKind::Constant,
        MutationKind::Op,
        MutationKind::Rewire,
        MutationKind::Insert,
        MutationKind::Remove,
        MutationKind::Function,
        MutationKind::Transplant,
        MutationKind::Mate,
        MutationKind::Assemble,
        MutationKind::Adopt,
        MutationKind::Colour,
        MutationKind::Mirror,
    ];

    /// Returns the name in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MutationKind::Constant => "constant",
            MutationKind::Op => "op",
            MutationKind::Rewire => "rewire",
            MutationKind::Insert => "insert",
            MutationKind::Remove => "remove",
            MutationKind::Function => "function",
            MutationKind::Transplant => "transplant",
            MutationKind::Mate => "mate",
            MutationKind::Assemble => "assemble",
            MutationKind::Adopt => "adopt",
            MutationKind::Colour => "colour",
            MutationKind::Mirror => "mirror",
        }
    }

    /// Returns the kind with a name.
    pub fn named(name: &str) -> Option<MutationKind> {
        MutationKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// Returns the weight of the kind before there is any evidence.
    pub fn first_weight(self) -> f64 {
        match self {
            MutationKind::Assemble => 12.0,
            MutationKind::Constant | MutationKind::Transplant | MutationKind::Insert => 2.0,
            MutationKind::Op
            | MutationKind::Rewire
            | MutationKind::Function
            | MutationKind::Mate => 1.5,
            MutationKind::Remove | MutationKind::Adopt => 1.0,
            MutationKind::Colour | MutationKind::Mirror => 0.25,
        }
    }

    /// Returns whether the kind changes a program of the population instead of making a new one.
    pub(crate) fn has_parent(self) -> bool {
        !matches!(self, MutationKind::Assemble | MutationKind::Adopt)
    }

    /// Returns the position among all kinds.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// The most nodes of a program. Longer programs are slow, and fit the demonstrations rather than
/// the rule behind them.
pub(crate) const LARGEST: usize = 40;

/// The most operands of a call that is mutated. No primitive takes more.
const MOST_ARGS: usize = 8;

/// The state that strategies use during one breeding of an island.
pub(crate) struct Breeder<'a> {
    pub typed: &'a mut Typed,
    pub chance: Chance,
    pub donors: &'a Donors,
    pub parts: PartIndex,
    pub assembly: Assembly,
    /// The programs of the population.
    pub population: Vec<Ref>,
    /// The colours of the demonstrations, those of the outputs twice.
    pub colours: &'a [u8],
    /// The most nodes of a new program.
    pub largest: usize,
    /// The functions that fit each wanted type.
    pub functions: &'a mut FxHashMap<TypeId, Vec<Ref>>,
    /// A buffer for the nodes of a program.
    pub nodes: Vec<u32>,
}

impl Breeder<'_> {
    /// Mutates a program. Returns `None` if that fails.
    pub fn mutate(&mut self, kind: MutationKind, parent: Ref) -> Option<Ref> {
        let child = match kind {
            MutationKind::Assemble => self.assemble().map(|(grid, _)| grid),
            MutationKind::Constant => constant::constant(self, parent),
            MutationKind::Op => structure::op(self, parent),
            MutationKind::Rewire => structure::rewire(self, parent),
            MutationKind::Insert => structure::insert(self, parent),
            MutationKind::Remove => structure::remove(self, parent),
            MutationKind::Function => function::function(self, parent),
            MutationKind::Transplant => transplant::transplant(self, parent),
            MutationKind::Mate => transplant::mate(self, parent),
            MutationKind::Adopt => transplant::adopt(self),
            MutationKind::Colour => samples::colour(self, parent),
            MutationKind::Mirror => samples::mirror(self, parent),
        }?;
        let ty = self.typed.type_of(child)?;
        let grid = self.typed.types.fits(ty, TypeId::GRID);
        let fine = child != parent && grid && self.size(child) <= self.largest;
        fine.then_some(child)
    }

    /// Mutates a program once and, at random, a few times more.
    pub fn change(
        &mut self,
        kind: MutationKind,
        parent: Ref,
        sums: &[f64],
        again: f64,
    ) -> Option<Ref> {
        let mut child = self.mutate(kind, parent)?;
        while self.chance.is(again) {
            let more = Weights::choose(sums, &mut self.chance);
            if more.has_parent() {
                child = self.mutate(more, child).unwrap_or(child);
            }
        }
        Some(child)
    }

    /// Makes a new program from parts. Also returns its cost.
    pub fn assemble(&mut self) -> Option<(Ref, u32)> {
        assemble::assemble(self)
    }

    /// Returns the number of calls in a program.
    pub fn size(&mut self, program: Ref) -> usize {
        self.typed.graph.reach_into(program, &mut self.nodes);
        self.nodes.len()
    }

    /// Chooses a node of a program.
    fn node_of(&mut self, program: Ref) -> Option<u32> {
        self.typed.graph.reach_into(program, &mut self.nodes);
        self.chance.one(&self.nodes).copied()
    }

    /// Chooses an argument of a call in a program. Returns the node and the position of the
    /// operand.
    fn argument_of(&mut self, program: Ref) -> Option<(u32, usize)> {
        let node = self.node_of(program)?;
        let operands = self.typed.graph.operands(node).len();
        match operands {
            0 | 1 => None,
            _ => Some((node, 1 + self.chance.below(operands - 1))),
        }
    }

    /// Returns the type that an operand of a call must have, given the other operands.
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

    /// Chooses a constant for a role. Colours are mostly those of the task.
    fn constant_for(&mut self, role: ConstantRole) -> Option<Ref> {
        let choices = role.choices(self.typed.graph.dialect());
        if role == ConstantRole::Colour && self.chance.is(0.9) {
            let colour = *self.chance.one(self.colours)?;
            return choices.get(usize::from(colour)).map(|&c| Ref::constant(c));
        }
        self.chance.one(choices).map(|&c| Ref::constant(c))
    }

    /// Chooses a value of a type: the input, or a part.
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

    /// Chooses a function of a type: a donor's, a primitive, or a new composition.
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

    /// Returns the donors' functions and the primitives that fit a wanted type.
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

    /// Chooses an argument for a primitive.
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

    /// Makes a call of a primitive. `given` holds some arguments; the others are chosen.
    fn call(&mut self, op: OpId, given: &[(usize, Ref)], result: Option<TypeId>) -> Option<Ref> {
        let arity = op.op().arity();
        let ty = self.typed.types.op(op);
        let (mut types, mut args) = ([TypeId::ANY; MOST_ARGS], [Ref::INPUT; MOST_ARGS]);
        let (types, args) = (types.get_mut(..arity)?, args.get_mut(..arity)?);
        for &(position, value) in given {
            args[position] = value;
            types[position] = self.typed.type_of(value)?;
        }
        // Functions are chosen last, because the values they are applied to decide which functions
        // fit.
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

/// Returns the role of an operand of a call, if it is known. A value that is bound to a primitive
/// has a role as well.
fn role(graph: &Graph, node: u32, position: usize) -> Option<ConstantRole> {
    let Node::Call { callee, args } = graph.node(node) else {
        return None;
    };
    let op = callee.as_op()?;
    let position = position.checked_sub(1)?;
    match (op.op().name, args) {
        ("lbind", [function, _]) if position == 1 => ConstantRole::of_param(function.as_op()?, 0),
        ("rbind", [function, _]) if position == 1 => {
            let function = function.as_op()?;
            ConstantRole::of_param(function, function.op().arity().checked_sub(1)?)
        }
        ("matcher", [function, _]) if position == 1 => ConstantRole::of_result(function.as_op()?),
        _ => ConstantRole::of_param(op, position),
    }
}

#[cfg(test)]
mod tests {
    use batt_arc::corpus;
    use batt_lang::graph::Target;
    use batt_lang::{Program, SolverFile};

    use super::*;

    /// The constants of programs and their roles.
    fn constants(programs: &[Program]) -> Vec<(String, Option<ConstantRole>, bool)> {
        let dialect = programs[0].dialect();
        let mut graph = Graph::new(dialect);
        for program in programs {
            graph.add_program(program);
        }
        let mut found = Vec::new();
        for node in 0..graph.len() as u32 {
            for (position, operand) in graph.operands(node).iter().enumerate() {
                if let Target::Const(constant) = operand.target() {
                    let role = role(&graph, node, position);
                    let is_choice =
                        role.is_some_and(|role| role.choices(dialect).contains(&constant));
                    found.push((constant.name().to_owned(), role, is_choice));
                }
            }
        }
        found
    }

    #[test]
    fn roles_follow_bound_functions() {
        let text = "
def f(I):
    x1 = rbind(colorfilter, FOUR)
    x2 = lbind(upscale, I)
    x3 = matcher(color, FIVE)
    x4 = rbind(shift, UP)
    x5 = upscale(I, TWO)
    x6 = crop(I, ORIGIN, THREE_BY_THREE)
    x7 = (x1, x2, x3, x4, x5, x6)
    return x7
";
        let file = SolverFile::parse(text, "f.py");
        let found = constants(&file.programs);
        let roles: Vec<_> = found
            .iter()
            .map(|(name, role, _)| (&**name, *role))
            .collect();
        let expected = [
            ("FOUR", ConstantRole::Colour),
            ("FIVE", ConstantRole::Colour),
            ("UP", ConstantRole::Direction),
            ("TWO", ConstantRole::Count),
            ("ORIGIN", ConstantRole::Location),
            ("THREE_BY_THREE", ConstantRole::Dimensions),
        ];
        assert_eq!(roles, expected.map(|(name, role)| (name, Some(role))));
    }

    #[test]
    fn constants_of_solvers_have_roles_and_are_among_their_choices() {
        let found = constants(&SolverFile::parse(corpus::SOLVERS, "solvers.py").programs);
        let all = found.len();
        let with_role = found.iter().filter(|(_, role, _)| role.is_some()).count();
        let among = found.iter().filter(|(.., is_choice)| *is_choice).count();
        assert!(with_role * 100 >= all * 85, "{with_role} of {all}");
        assert!(among * 100 >= with_role * 90, "{among} of {with_role}");
    }
}
