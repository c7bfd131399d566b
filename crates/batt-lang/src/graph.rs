//! Many programs as one graph, for searches that make programs by the thousand.
//!
//! A [`Program`] is easy to read, print and check, but slow to change. In a [`Graph`] every
//! distinct call is one *node*. A program is the node of its result, and a changed program shares
//! all unchanged nodes with its original. Two programs that compute the same thing in the same way
//! are the same node.
//!
//! A graph does not keep steps that the result does not need.
//!
//! ```
//! use batt_lang::SolverFile;
//! use batt_lang::graph::Graph;
//!
//! let file = SolverFile::parse("
//! def solve_a(I):
//!     x1 = vmirror(I)
//!     return hconcat(I, x1)
//!
//! def solve_b(I):
//!     return hconcat(I, vmirror(I))
//! ", "two.py");
//! let mut graph = Graph::new(file.programs[0].dialect());
//! let a = graph.add_program(&file.programs[0]);
//! assert_eq!(a, graph.add_program(&file.programs[1]));
//! assert_eq!(graph.len(), 2);
//! assert_eq!(graph.program(a.unwrap(), "solve").to_string(), "\
//! def solve(I):
//!     x1 = vmirror(I)
//!     O = hconcat(I, x1)
//!     return O
//! ");
//! ```

use std::fmt;
use std::sync::OnceLock;

use batt_dsl::{ConstId, Dialect, Literal, OpId};
use hashbrown::HashTable;

use crate::program::{Operand, ParamId, Program, ProgramBuilder, StepKind};

/// An operand of a node: another node, a primitive, a constant, a literal or a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref(u32);

const TAG: u32 = 29;
const NODE: u32 = 0;
const OP: u32 = 1;
const CONST: u32 = 2;
const LITERAL: u32 = 3;
const PARAM: u32 = 4;

/// The decoded form of a [`Ref`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A node, by number. Its operands have lower numbers.
    Node(u32),
    /// A primitive.
    Op(OpId),
    /// A named constant.
    Const(ConstId),
    /// A literal, by its number in the graph.
    Literal(u32),
    /// A parameter: `S`, `I` or `C`.
    Param(u32),
}

impl Ref {
    /// The demonstrations of the task.
    pub const SAMPLES: Ref = Ref::new(PARAM, 0);
    /// The input grid.
    pub const INPUT: Ref = Ref::new(PARAM, 1);
    /// The grid to compare with.
    pub const COMPARISON: Ref = Ref::new(PARAM, 2);
    /// A marker that stands in the place of the callee if the node is a tuple of its arguments.
    const TUPLE: Ref = Ref::new(PARAM, 3);

    const fn new(tag: u32, payload: u32) -> Ref {
        Ref(tag << TAG | payload)
    }

    /// A node.
    pub const fn node(number: u32) -> Ref {
        assert!(number < 1 << TAG);
        Ref::new(NODE, number)
    }

    /// A primitive.
    pub fn op(op: OpId) -> Ref {
        Ref::new(OP, op.index() as u32)
    }

    /// A named constant.
    pub fn constant(constant: ConstId) -> Ref {
        Ref::new(CONST, constant.index() as u32)
    }

    const fn payload(self) -> u32 {
        self.0 & ((1 << TAG) - 1)
    }

    /// Returns the number of the node, if the operand is one.
    #[inline]
    pub fn as_node(self) -> Option<u32> {
        (self.0 >> TAG == NODE).then_some(self.0)
    }

    /// Returns the primitive, if the operand is one.
    pub fn as_op(self) -> Option<OpId> {
        (self.0 >> TAG == OP).then(|| every_op()[self.payload() as usize])
    }

    /// Returns whether the operand is a constant or a literal.
    pub fn is_constant(self) -> bool {
        matches!(self.0 >> TAG, CONST | LITERAL)
    }

    /// Returns the decoded form.
    pub fn target(self) -> Target {
        let payload = self.payload();
        match self.0 >> TAG {
            NODE => Target::Node(payload),
            OP => Target::Op(every_op()[payload as usize]),
            CONST => Target::Const(every_constant()[payload as usize]),
            LITERAL => Target::Literal(payload),
            _ => Target::Param(payload),
        }
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target() {
            Target::Node(node) => write!(f, "#{node}"),
            Target::Op(op) => write!(f, "{op:?}"),
            Target::Const(constant) => f.write_str(constant.name()),
            Target::Literal(literal) => write!(f, "literal {literal}"),
            Target::Param(param) => f.write_str(PARAMS.get(param as usize).unwrap_or(&"tuple")),
        }
    }
}

const PARAMS: [&str; 3] = crate::batt::PARAMS;

fn every_op() -> &'static [OpId] {
    static ALL: OnceLock<Vec<OpId>> = OnceLock::new();
    ALL.get_or_init(|| OpId::every().collect())
}

/// Returns all constants by index. Tokpidjin has the constants of all dialects.
fn every_constant() -> &'static [ConstId] {
    static ALL: OnceLock<Vec<ConstId>> = OnceLock::new();
    ALL.get_or_init(|| Dialect::Tokpidjin.constants().collect())
}

/// The operation of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node<'g> {
    /// `callee(args...)`
    Call {
        /// The callee.
        callee: Ref,
        /// The arguments.
        args: &'g [Ref],
    },
    /// `(items...)`
    Tuple(&'g [Ref]),
}

/// Programs that share their common nodes; see the [module](self).
#[derive(Clone)]
pub struct Graph {
    dialect: Dialect,
    /// The position of each node in `refs`: the callee, then the arguments.
    starts: Vec<u32>,
    refs: Vec<Ref>,
    hashes: Vec<u64>,
    index: HashTable<u32>,
    literals: Vec<Literal>,
    literal_hashes: Vec<u64>,
}

impl Graph {
    /// An empty graph for programs of a dialect.
    pub fn new(dialect: Dialect) -> Graph {
        Graph {
            dialect,
            starts: vec![0],
            refs: Vec::new(),
            hashes: Vec::new(),
            index: HashTable::new(),
            literals: Vec::new(),
            literal_hashes: Vec::new(),
        }
    }

    /// The dialect of the programs.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns the operation of a node.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    #[inline]
    pub fn node(&self, node: u32) -> Node<'_> {
        match self.operands(node) {
            [Ref::TUPLE, items @ ..] => Node::Tuple(items),
            [callee, args @ ..] => Node::Call {
                callee: *callee,
                args,
            },
            [] => unreachable!("a node has a callee"),
        }
    }

    /// The callee of a node and its arguments. The callee of a tuple is a marker, equal to no
    /// operand.
    #[inline]
    pub fn operands(&self, node: u32) -> &[Ref] {
        let node = node as usize;
        &self.refs[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Adds a call, or finds an existing one.
    ///
    /// # Panics
    ///
    /// If an operand is a node that does not exist, or there are 2^29 nodes.
    pub fn call(&mut self, callee: Ref, args: &[Ref]) -> Ref {
        let mut operands = [Ref::TUPLE; 9];
        match args.len() {
            0..=8 => {
                operands[0] = callee;
                operands[1..=args.len()].copy_from_slice(args);
                self.intern(&operands[..=args.len()])
            }
            _ => self.intern(&[&[callee], args].concat()),
        }
    }

    /// Adds a node with these operands, the callee first as in [`operands`](Graph::operands), or
    /// finds an existing one.
    ///
    /// # Panics
    ///
    /// Under the same conditions as [`call`](Graph::call).
    pub fn intern(&mut self, operands: &[Ref]) -> Ref {
        let hash = self.hash_of(operands);
        let Graph {
            index,
            starts,
            refs,
            hashes,
            ..
        } = self;
        let same = |&node: &u32| {
            let node = node as usize;
            hashes[node] == hash
                && refs[starts[node] as usize..starts[node + 1] as usize] == *operands
        };
        if let Some(&node) = index.find(hash, same) {
            return Ref::node(node);
        }
        let node = hashes.len() as u32;
        for operand in operands {
            assert!(
                operand.as_node().is_none_or(|id| id < node),
                "an operand does not exist"
            );
        }
        refs.extend_from_slice(operands);
        starts.push(refs.len() as u32);
        hashes.push(hash);
        index.insert_unique(hash, node, |&node| hashes[node as usize]);
        Ref::node(node)
    }

    /// Returns a hash of the expression behind a value, the same in every graph.
    #[inline]
    pub fn hash(&self, value: Ref) -> u64 {
        match value.0 >> TAG {
            NODE => self.hashes[value.payload() as usize],
            LITERAL => self.literal_hashes[value.payload() as usize],
            _ => mix(u64::from(value.0)),
        }
    }

    fn hash_of(&self, operands: &[Ref]) -> u64 {
        let combine = |hash: u64, operand: &Ref| mix(hash ^ self.hash(*operand)).rotate_left(23);
        operands.iter().fold(operands.len() as u64, combine)
    }

    /// Returns the operand for a literal: a constant if one has its value, otherwise the literal
    /// itself.
    pub fn literal(&mut self, literal: Literal) -> Ref {
        let named = self.dialect.constants().find(|c| c.value() == literal);
        if let Some(constant) = named {
            return Ref::constant(constant);
        }
        let known = self.literals.iter().position(|known| *known == literal);
        let at = known.unwrap_or_else(|| {
            self.literal_hashes.push(literal_hash(&literal));
            self.literals.push(literal);
            self.literals.len() - 1
        });
        Ref::new(LITERAL, at as u32)
    }

    /// A literal, by its number.
    pub fn literal_at(&self, number: u32) -> Option<&Literal> {
        self.literals.get(number as usize)
    }

    /// Adds a program and returns its result. Returns `None` if the program has another dialect, or
    /// if its parameters are neither a single grid nor some of `S`, `I` and `C`.
    pub fn add_program(&mut self, program: &Program) -> Option<Ref> {
        if program.dialect() != self.dialect {
            return None;
        }
        let roles = crate::card::roles(program.params())?;
        let params: Vec<Ref> = roles.iter().map(|id| Ref::new(PARAM, id.0)).collect();
        let mut values: Vec<Ref> = Vec::with_capacity(program.steps().len());
        let mut operands = Vec::new();
        for step in program.steps() {
            operands.clear();
            if matches!(step.kind, StepKind::Tuple(_)) {
                operands.push(Ref::TUPLE);
            }
            for operand in step.kind.operands() {
                operands.push(self.place(operand, &params, &values));
            }
            values.push(self.intern(&operands));
        }
        Some(self.place(program.result(), &params, &values))
    }

    fn place(&mut self, operand: &Operand, params: &[Ref], values: &[Ref]) -> Ref {
        match operand {
            Operand::Param(id) => params[id.index()],
            Operand::Step(id) => values[id.index()],
            Operand::Op(op) => Ref::op(*op),
            Operand::Const(constant) => Ref::constant(*constant),
            Operand::Literal(literal) => self.literal(literal.clone()),
        }
    }

    /// Returns the nodes that a value is computed from, itself included, each after its operands.
    pub fn reach(&self, value: Ref) -> Vec<u32> {
        let mut nodes = Vec::with_capacity(32);
        self.reach_into(value, &mut nodes);
        nodes
    }

    /// Does the same as [`reach`](Graph::reach), but fills an existing list, which it clears first.
    pub fn reach_into(&self, value: Ref, nodes: &mut Vec<u32>) {
        nodes.clear();
        nodes.extend(value.as_node());
        // Programs are short: a linear search is faster than any set. A small bit filter avoids
        // even that for most nodes.
        let mut marks = [0u64; 4];
        let mut at = 0;
        while let Some(&node) = nodes.get(at) {
            at += 1;
            for id in self.operands(node).iter().filter_map(|r| r.as_node()) {
                let mark = id.wrapping_mul(0x9E37_79B1) >> 24;
                let (word, bit) = ((mark >> 6) as usize, 1 << (mark & 63));
                if marks[word] & bit == 0 || !nodes.contains(&id) {
                    marks[word] |= bit;
                    nodes.push(id);
                }
            }
        }
        // A node has a higher number than its operands, so sorting puts operands first.
        nodes.sort_unstable();
    }

    /// Returns the parameters of the program for a value, by their numbers among `S`, `I` and `C`.
    /// `nodes` are the nodes that the value [reaches](Graph::reach).
    pub fn params(&self, value: Ref, nodes: &[u32]) -> &'static [u32] {
        let used = |param: Ref| {
            let mut operands = nodes.iter().flat_map(|&node| self.operands(node));
            value == param || operands.any(|operand| *operand == param)
        };
        // Solvers of the original library take only the input.
        match self.dialect {
            Dialect::Tokpidjin => &[0, 1, 2],
            _ if used(Ref::COMPARISON) => &[0, 1, 2],
            _ if used(Ref::SAMPLES) => &[0, 1],
            _ => &[1],
        }
    }

    /// Returns a value as a program, with only the steps that it is computed from.
    pub fn program(&self, value: Ref, name: &str) -> Program {
        let nodes = self.reach(value);
        let params = self.params(value, &nodes);
        let names = params.iter().map(|&param| PARAMS[param as usize]);
        let mut builder = ProgramBuilder::new(name, names).in_dialect(self.dialect);
        let mut steps: Vec<Operand> = Vec::with_capacity(nodes.len());
        let operand = |value: Ref, steps: &[Operand]| match value.target() {
            Target::Node(node) => match nodes.binary_search(&node) {
                Ok(at) => steps[at].clone(),
                Err(_) => unreachable!("all nodes are reached"),
            },
            Target::Op(op) => Operand::Op(op),
            Target::Const(constant) => Operand::Const(constant),
            Target::Literal(at) => Operand::Literal(self.literals[at as usize].clone()),
            Target::Param(param) => {
                let at = params.iter().position(|&known| known == param);
                Operand::Param(ParamId(at.unwrap_or_default() as u32))
            }
        };
        for &node in &nodes {
            let placed = |refs: &[Ref]| refs.iter().map(|&r| operand(r, &steps)).collect();
            let step = match self.node(node) {
                Node::Call { callee, args } => {
                    let (callee, args) = (operand(callee, &steps), placed(args));
                    builder.call(callee, args)
                }
                Node::Tuple(items) => {
                    let items = placed(items);
                    builder.tuple(items)
                }
            };
            steps.push(step);
        }
        let result = operand(value, &steps);
        builder.finish(result)
    }
}

/// Copies values from one graph to another, each node once.
pub struct Importer<'g> {
    from: &'g Graph,
    /// The copy of each node.
    copied: Vec<Option<Ref>>,
    /// The copy of each literal.
    literals: Vec<Option<Ref>>,
    /// Nodes that wait for their operands.
    waiting: Vec<u32>,
    operands: Vec<Ref>,
}

impl<'g> Importer<'g> {
    /// Makes an importer that copies from a graph.
    pub fn new(from: &'g Graph) -> Importer<'g> {
        Importer {
            from,
            copied: Vec::new(),
            literals: vec![None; from.literals.len()],
            waiting: Vec::new(),
            operands: Vec::new(),
        }
    }

    /// Copies a value with everything it is computed from. `to` must be the same graph every time.
    pub fn import(&mut self, to: &mut Graph, value: Ref) -> Ref {
        match value.target() {
            Target::Literal(at) => self.literal(to, at),
            Target::Node(node) => {
                if self.copied.is_empty() {
                    self.copied.resize(self.from.len(), None);
                }
                self.import_node(to, node)
            }
            _ => value,
        }
    }

    fn literal(&mut self, to: &mut Graph, at: u32) -> Ref {
        let from = self.from;
        *self.literals[at as usize]
            .get_or_insert_with(|| to.literal(from.literals[at as usize].clone()))
    }

    fn import_node(&mut self, to: &mut Graph, root: u32) -> Ref {
        let from = self.from;
        self.waiting.push(root);
        while let Some(&node) = self.waiting.last() {
            if self.copied[node as usize].is_some() {
                self.waiting.pop();
                continue;
            }
            let before = self.waiting.len();
            let operands = from.operands(node).iter().filter_map(|r| r.as_node());
            let missing = operands.filter(|&id| self.copied[id as usize].is_none());
            self.waiting.extend(missing);
            if self.waiting.len() > before {
                continue;
            }
            self.waiting.pop();
            self.operands.clear();
            for &operand in from.operands(node) {
                let there = match operand.target() {
                    // All node operands have been copied.
                    Target::Node(id) => self.copied[id as usize].unwrap_or(Ref::INPUT),
                    Target::Literal(at) => self.literal(to, at),
                    _ => operand,
                };
                self.operands.push(there);
            }
            self.copied[node as usize] = Some(to.intern(&self.operands));
        }
        self.copied[root as usize].unwrap_or(Ref::INPUT)
    }
}

/// Spreads the bits of a number by a bijection, the finalizer of SplitMix64.
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn literal_hash(literal: &Literal) -> u64 {
    let bytes = literal.to_string();
    bytes
        .bytes()
        .fold(LITERAL.into(), |hash, byte| mix(hash ^ u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SolverFile;
    use crate::card::structural_hash;

    fn programs(text: &str) -> Vec<Program> {
        let file = SolverFile::parse(text, "test.py");
        assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
        file.programs
    }

    #[test]
    fn programs_survive_a_round_trip() {
        let text = "\
def solve(I):
    x1 = objects(I, T, F, T)
    x2 = lbind(shift, (3, 4, 5))
    x3 = apply(x2, x1)
    x4 = (x3, I, 70)
    x5 = last(x4)
    O = fill(I, x5, x3)
    return O
";
        let [program] = &programs(text)[..] else {
            panic!("one program")
        };
        let mut graph = Graph::new(program.dialect());
        let root = graph.add_program(program).expect("takes I");
        assert_eq!(graph.program(root, "solve"), *program);
        let mut other = Graph::new(program.dialect());
        other.literal(Literal::Int(77));
        let copy = Importer::new(&graph).import(&mut other, root);
        assert_eq!(other.program(copy, "solve"), *program);
        assert_eq!(other.hash(copy), graph.hash(root));
    }

    #[test]
    fn unused_steps_are_dropped() {
        let both = programs(
            "def a(I):\n    x = hmirror(I)\n    y = vmirror(I)\n    return y\n\ndef b(I):\n    return vmirror(I)\n",
        );
        let mut graph = Graph::new(Dialect::ArcDsl);
        let roots: Vec<_> = both.iter().map(|p| graph.add_program(p)).collect();
        assert_eq!(roots[0], roots[1]);
        let out = graph.program(roots[0].expect("takes I"), "b");
        assert_eq!(structural_hash(&out), structural_hash(&both[1]));
    }

    #[test]
    fn a_program_without_steps() {
        let [program] = &programs("def a(S, I):\n    return S\n")[..] else {
            panic!("one program")
        };
        let mut graph = Graph::new(program.dialect());
        let root = graph.add_program(program).expect("takes S and I");
        assert_eq!(root, Ref::SAMPLES);
        let out = graph.program(root, "a");
        assert_eq!(structural_hash(&out), structural_hash(program));
    }

    #[test]
    fn different_programs_have_different_hashes() {
        let mut graph = Graph::new(Dialect::ArcDsl);
        let op = |name| Ref::op(OpId::named(name).expect("a primitive"));
        let mut seen = std::collections::HashSet::new();
        for name in ["hmirror", "vmirror", "dmirror", "cmirror", "rot90"] {
            let once = graph.call(op(name), &[Ref::INPUT]);
            for next in ["hmirror", "vmirror", "trim", "rot90"] {
                let twice = graph.call(op(next), &[once]);
                assert!(seen.insert(graph.hash(twice)));
                let joined = graph.call(op("hconcat"), &[once, twice]);
                assert!(seen.insert(graph.hash(joined)));
                let joined = graph.call(op("hconcat"), &[twice, once]);
                assert!(seen.insert(graph.hash(joined)));
            }
        }
        assert_eq!(graph.len(), 5 + 5 * 4 * 3);
    }
}
