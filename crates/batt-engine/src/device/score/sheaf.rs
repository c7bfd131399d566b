//! Programs of a search as words, straight from the graph they were made in.

use std::sync::OnceLock;

use batt_dsl::Dialect;
use batt_lang::graph::{Graph, Node, Ref, Target};

use crate::compile::{CONSTANT, Constant, Instruction, Source, Steps, constant, instruction};
use crate::device::bytecode::{Pen, ProgramAt, Programs};
use crate::sample::Role;

/// Programs made ready for devices, to be run on the same samples.
pub struct Sheaf {
    pub(super) programs: Programs,
    /// Where each is, if it can be sent at all, and its parameters.
    pub(super) places: Vec<(Option<ProgramAt>, &'static [Role])>,
}

impl Default for Sheaf {
    fn default() -> Sheaf {
        Sheaf {
            programs: Programs::piece(),
            places: Vec::new(),
        }
    }
}

impl Sheaf {
    /// The number of programs.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

/// Makes [sheaves](Sheaf), one program after the other, with the same memory.
#[derive(Default)]
pub struct Encoder {
    nodes: Vec<u32>,
    steps: Steps,
    sources: Vec<Source>,
    pen: Pen,
}

impl Encoder {
    /// Nothing has been made yet.
    pub fn new() -> Encoder {
        Encoder::default()
    }

    /// Values of a graph as programs, the same as if each were [compiled](crate::Compiled) by itself.
    pub fn encode(&mut self, graph: &Graph, values: impl IntoIterator<Item = Ref>) -> Sheaf {
        let mut sheaf = Sheaf::default();
        for value in values {
            let (result, roles) = self.compile(graph, value);
            let pen = &mut self.pen;
            let programs = &mut sheaf.programs;
            let made = programs.push_steps(graph.dialect(), &self.steps, &result, pen);
            sheaf.places.push((made.ok(), roles));
        }
        sheaf
    }

    /// Makes the steps of a value. Gives where it is then, and the parameters.
    fn compile(&mut self, graph: &Graph, value: Ref) -> (Source, &'static [Role]) {
        graph.reach_into(value, &mut self.nodes);
        let params = graph.params(value, &self.nodes);
        let Encoder {
            nodes,
            steps,
            sources,
            ..
        } = self;
        steps.params = params.len();
        steps.literals.clear();
        steps.instructions.clear();
        steps.ops.clear();
        // Steps come after the literals, so those are counted first.
        let operands = nodes.iter().flat_map(|&node| graph.operands(node));
        let literals = operands.chain([&value]).filter_map(|operand| {
            let literal = literal(graph, *operand)?;
            constant(literal).is_none().then(|| literal.clone())
        });
        steps.literals.extend(literals);
        steps.first_step = params.len() + steps.literals.len();
        let mut place = Place {
            graph,
            nodes,
            params,
            first_step: steps.first_step as u32,
            next_literal: params.len() as u32,
        };
        for &node in nodes.iter() {
            let (made, op) = match graph.node(node) {
                Node::Call { callee, args } => {
                    let callee = place.source(callee);
                    sources.clear();
                    sources.extend(args.iter().map(|&arg| place.source(arg)));
                    instruction(callee, sources)
                }
                Node::Tuple(items) => {
                    let items = items.iter().map(|&item| place.source(item)).collect();
                    (Instruction::Tuple(items), None)
                }
            };
            steps.instructions.push(made);
            steps.ops.push(op);
        }
        (place.source(value), roles(params))
    }
}

/// A literal that is no named constant.
fn literal(graph: &Graph, value: Ref) -> Option<&batt_dsl::Literal> {
    match value.target() {
        Target::Literal(at) => graph.literal_at(at),
        _ => None,
    }
}

/// The named constants of all dialects, by their numbers: every one is one word.
fn named() -> &'static [Constant] {
    static NAMED: OnceLock<Vec<Constant>> = OnceLock::new();
    NAMED.get_or_init(|| {
        let all = Dialect::Tokpidjin.constants();
        all.map(|id| constant(&id.value()).unwrap_or(Constant::None))
            .collect()
    })
}

/// What the parameters of a program of a graph are for.
fn roles(params: &[u32]) -> &'static [Role] {
    match params {
        [1] => &[Role::Input],
        [0, 1] => &[Role::Samples, Role::Input],
        _ => &[Role::Samples, Role::Input, Role::Comparison],
    }
}

/// Where the operands of a program are.
struct Place<'g> {
    graph: &'g Graph,
    nodes: &'g [u32],
    params: &'g [u32],
    first_step: u32,
    next_literal: u32,
}

impl Place<'_> {
    fn source(&mut self, value: Ref) -> Source {
        let known = |constant| Source {
            slot: CONSTANT,
            constant,
        };
        match value.target() {
            Target::Node(node) => {
                let at = self.nodes.binary_search(&node).unwrap_or_default();
                Source::slot(self.first_step + at as u32)
            }
            Target::Op(op) => known(Constant::Op(op)),
            Target::Const(id) => known(named()[id.index()]),
            Target::Literal(at) => match self.graph.literal_at(at).and_then(constant) {
                Some(constant) => known(constant),
                // Literals are met here in the sequence in which they were collected.
                None => {
                    self.next_literal += 1;
                    Source::slot(self.next_literal - 1)
                }
            },
            Target::Param(param) => {
                let at = self.params.iter().position(|&known| known == param);
                Source::slot(at.unwrap_or_default() as u32)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use batt_arc::corpus;
    use batt_lang::SolverFile;

    use super::*;
    use crate::Compiled;

    /// The words are those of the programs, compiled one by one.
    #[test]
    fn the_words_of_programs() {
        let more = "def solve(I):\n    x1 = lbind(shift, (3, 4, 5))\n    x2 = (x1, I, 70)\n    return x2\n\
                    def a(S, I):\n    return S\n";
        let mut file = SolverFile::parse(corpus::SOLVERS, "solvers.py");
        file.programs
            .extend(SolverFile::parse(more, "more.py").programs);
        let mut graph = Graph::new(file.programs[0].dialect());
        let roots = file.programs.iter().filter_map(|p| graph.add_program(p));
        let roots: Vec<Ref> = roots.collect();
        assert_eq!(roots.len(), file.programs.len());
        let sheaf = Encoder::new().encode(&graph, roots.iter().copied());
        let mut expected = Programs::piece();
        for (&root, (at, roles)) in roots.iter().zip(&sheaf.places) {
            let compiled = Compiled::new(&graph.program(root, "solve"));
            assert_eq!(expected.push_program(&compiled).ok(), *at);
            assert_eq!(compiled.roles(), Some(*roles));
        }
        assert_eq!(sheaf.programs.words(), expected.words());
    }
}
