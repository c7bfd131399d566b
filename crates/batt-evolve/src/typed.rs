//! A graph with types, which rejects ill-typed calls.

use batt_dsl::Dialect;
use batt_lang::Program;
use batt_lang::graph::{Graph, Importer, Node, Ref, Target};
use batt_lang::types::{TypeId, Types};

/// A [`Graph`] with the type of every node.
#[derive(Clone)]
pub(crate) struct Typed {
    pub graph: Graph,
    pub types: Types,
    /// The type of each node; `None` for an ill-typed node of a given program.
    of_node: Vec<Option<TypeId>>,
    of_constant: Vec<TypeId>,
    buffers: Buffers,
}

/// Reused buffers.
#[derive(Clone, Default)]
struct Buffers {
    nodes: Vec<u32>,
    moved: Vec<(u32, Ref)>,
    operands: Vec<Ref>,
}

impl Typed {
    pub fn new(dialect: Dialect) -> Typed {
        let mut types = Types::new(dialect);
        let constants = Dialect::Tokpidjin.constants();
        let of_constant = constants.map(|c| types.constant(c)).collect();
        Typed {
            graph: Graph::new(dialect),
            types,
            of_node: Vec::new(),
            of_constant,
            buffers: Buffers::default(),
        }
    }

    /// Returns the type of a value; `None` if it is ill-typed.
    #[inline]
    pub fn type_of(&mut self, value: Ref) -> Option<TypeId> {
        match value.target() {
            Target::Node(node) => self.of_node[node as usize],
            Target::Op(op) => Some(self.types.op(op)),
            Target::Const(constant) => Some(self.of_constant[constant.index()]),
            Target::Literal(at) => {
                let literal = self.graph.literal_at(at)?.clone();
                Some(self.types.literal(&literal))
            }
            Target::Param(0) => Some(TypeId::SAMPLES),
            Target::Param(_) => Some(TypeId::GRID),
        }
    }

    /// Returns a call and makes it if it does not exist; `None` if it is ill-typed.
    pub fn call(&mut self, callee: Ref, args: &[Ref]) -> Option<Ref> {
        let ty = self.type_of_call(callee, args)?;
        let made = self.graph.call(callee, args);
        self.record(Some(ty));
        Some(made)
    }

    /// Returns the type that a call would have.
    pub fn type_of_call(&mut self, callee: Ref, args: &[Ref]) -> Option<TypeId> {
        let mut types = [TypeId::ANY; 8];
        let types = types.get_mut(..args.len())?;
        for (ty, &arg) in types.iter_mut().zip(args) {
            *ty = self.type_of(arg)?;
        }
        let callee = self.type_of(callee)?;
        self.types.call(callee, types)
    }

    /// Returns a node with other operands; `None` if that is ill-typed although the old node was
    /// not.
    pub fn with_operands(&mut self, old: u32, operands: &[Ref]) -> Option<Ref> {
        let ty = match (self.graph.node(old), operands) {
            (Node::Call { .. }, [callee, args @ ..]) => self.type_of_call(*callee, args),
            _ => self.of_node[old as usize],
        };
        if ty.is_none() && self.of_node[old as usize].is_some() {
            return None;
        }
        let made = self.graph.intern(operands);
        self.record(ty);
        Some(made)
    }

    /// Stores the type of the last node if the node is new.
    fn record(&mut self, ty: Option<TypeId>) {
        if self.graph.len() > self.of_node.len() {
            self.of_node.push(ty);
        }
    }

    /// Adds a program as it is written, even an ill-typed one.
    pub fn add_program(&mut self, program: &Program) -> Option<Ref> {
        let root = self.graph.add_program(program);
        self.catch_up();
        root
    }

    /// Copies a value from another graph.
    pub fn import(&mut self, importer: &mut Importer<'_>, value: Ref) -> Ref {
        let there = importer.import(&mut self.graph, value);
        self.catch_up();
        there
    }

    /// Infers the types of nodes that were added to the graph directly.
    fn catch_up(&mut self) {
        for node in self.of_node.len()..self.graph.len() {
            let operands = self.graph.operands(node as u32).to_vec();
            let ty = match self.graph.node(node as u32) {
                Node::Call { .. } => self.type_of_call(operands[0], &operands[1..]),
                Node::Tuple(_) => {
                    let items = operands[1..].iter().map(|&item| self.type_of(item));
                    let items: Option<Vec<TypeId>> = items.collect();
                    items.map(|items| self.types.tuple(&items))
                }
            };
            self.of_node.push(ty);
        }
    }

    /// Returns a program with one node replaced wherever it is used; `None` if that is ill-typed.
    pub fn replace(&mut self, root: Ref, old: u32, new: Ref) -> Option<Ref> {
        if root == Ref::node(old) {
            return Some(new);
        }
        let mut buffers = std::mem::take(&mut self.buffers);
        let replaced = self.replace_with(root, (old, new), &mut buffers);
        self.buffers = buffers;
        replaced
    }

    fn replace_with(&mut self, root: Ref, first: (u32, Ref), buffers: &mut Buffers) -> Option<Ref> {
        let Buffers {
            nodes,
            moved,
            operands,
        } = buffers;
        self.graph.reach_into(root, nodes);
        // The nodes above the replaced one and their replacements. They are few, so a list is fast
        // enough.
        moved.clear();
        moved.push(first);
        for &node in nodes.iter().filter(|&&node| node > first.0) {
            let mut changed = false;
            operands.clear();
            for &operand in self.graph.operands(node) {
                let to = operand.as_node().and_then(|id| {
                    let known = moved.iter().find(|(from, _)| *from == id);
                    known.map(|(_, to)| *to)
                });
                changed |= to.is_some();
                operands.push(to.unwrap_or(operand));
            }
            if changed {
                let made = self.with_operands(node, operands)?;
                moved.push((node, made));
            }
        }
        moved.last().map(|(_, to)| *to)
    }

    /// Returns a program with one operand of one node replaced.
    pub fn replace_operand(
        &mut self,
        root: Ref,
        node: u32,
        position: usize,
        new: Ref,
    ) -> Option<Ref> {
        let mut operands = std::mem::take(&mut self.buffers.operands);
        operands.clear();
        operands.extend_from_slice(self.graph.operands(node));
        let is_same = std::mem::replace(&mut operands[position], new) == new;
        let made = match is_same {
            true => None,
            false => self.with_operands(node, &operands),
        };
        self.buffers.operands = operands;
        self.replace(root, node, made?)
    }
}
