//! Programs of a search, encoded for devices straight from the graph they were made in.

use batt_dsl::Literal;
use batt_lang::graph::{Graph, Node, Ref};

use crate::device::bytecode::{Pen, ProgramAt, Programs};
use crate::lower::{Constant, Operands, Referent, Source, Steps, referent_in};
use crate::sample::ParamRole;
use crate::wave::{KernelTable, WavePlan, WavePlanner};

/// Programs encoded for devices, to run on the same samples.
pub struct EncodedPrograms {
    pub(super) programs: Programs,
    /// Where each is, if it can be sent at all, and its parameters.
    pub(super) places: Vec<(Option<ProgramAt>, &'static [ParamRole])>,
    /// The plan, if the programs run as waves; then there is nothing else.
    pub(super) plan: Option<WavePlan>,
}

impl Default for EncodedPrograms {
    fn default() -> EncodedPrograms {
        EncodedPrograms {
            programs: Programs::piece(),
            places: Vec::new(),
            plan: None,
        }
    }
}

impl EncodedPrograms {
    /// Returns the number of programs.
    pub fn len(&self) -> usize {
        self.plan.as_ref().map_or(self.places.len(), WavePlan::len)
    }

    /// Returns whether there are no programs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Encodes programs one after the other, in the same memory.
#[derive(Default)]
pub struct Encoder {
    nodes: Vec<u32>,
    steps: Steps,
    pen: Pen,
}

impl Encoder {
    /// A new encoder.
    pub fn new() -> Encoder {
        Encoder::default()
    }

    /// Encodes values of a graph as programs, with the same result as if each were [compiled](crate::Compiled) alone.
    pub fn encode(
        &mut self,
        graph: &Graph,
        values: impl IntoIterator<Item = Ref>,
    ) -> EncodedPrograms {
        let mut encoded = EncodedPrograms::default();
        for value in values {
            let (result, roles) = self.compile(graph, value);
            let pen = &mut self.pen;
            let programs = &mut encoded.programs;
            let made = programs.push_steps(graph.dialect(), &self.steps, &result, pen);
            encoded.places.push((made.ok(), roles));
        }
        encoded
    }

    /// Plans values of a graph as programs that run as waves.
    pub fn plan(
        table: &'static KernelTable,
        graph: &Graph,
        values: impl IntoIterator<Item = Ref>,
    ) -> EncodedPrograms {
        let mut planner = WavePlanner::new(table, graph.dialect());
        for value in values {
            planner.add_value(graph, value);
        }
        EncodedPrograms {
            plan: Some(planner.finish()),
            ..EncodedPrograms::default()
        }
    }

    /// Makes the steps of a value. Returns where the value is then, and the parameters.
    fn compile(&mut self, graph: &Graph, value: Ref) -> (Source, &'static [ParamRole]) {
        graph.reach_into(value, &mut self.nodes);
        let params = graph.params(value, &self.nodes);
        let Encoder { nodes, steps, .. } = self;
        let mut operands = OfValue {
            graph,
            nodes,
            params,
        };
        steps.begin(params.len());
        for &node in nodes.iter() {
            match graph.node(node) {
                Node::Call { callee, args } => {
                    steps.call(&mut operands, callee, args.iter().copied());
                }
                Node::Tuple(items) => steps.tuple(&mut operands, items.iter().copied()),
            }
        }
        let mut result = steps.source(&mut operands, value);
        steps.finish(std::iter::once(&mut result));
        (result, roles(params))
    }
}

/// What the parameters of a program of a graph are for.
fn roles(params: &[u32]) -> &'static [ParamRole] {
    match params {
        [1] => &[ParamRole::Input],
        [0, 1] => &[ParamRole::Samples, ParamRole::Input],
        _ => &[ParamRole::Samples, ParamRole::Input, ParamRole::Comparison],
    }
}

/// The operands of a value of a graph, as a program.
struct OfValue<'g> {
    graph: &'g Graph,
    /// The nodes it is made of, in ascending order.
    nodes: &'g [u32],
    params: &'g [u32],
}

impl Operands for OfValue<'_> {
    type Operand = Ref;
    type Literal = Literal;
    const SHARES_LITERALS: bool = false;

    fn referent(&mut self, value: Ref) -> Referent<Literal> {
        let step = |node: u32| self.nodes.binary_search(&node).unwrap_or_default() as u32;
        let param = |param: u32| {
            let at = self.params.iter().position(|&known| known == param);
            at.unwrap_or_default() as u32
        };
        match referent_in(self.graph, value, step, param) {
            Referent::Param(slot) => Referent::Param(slot),
            Referent::Step(step) => Referent::Step(step),
            Referent::Constant(constant) => Referent::Constant(constant),
            Referent::Literal(at) => match self.graph.literal_at(at) {
                Some(literal) => Referent::Literal(literal.clone()),
                None => Referent::Constant(Constant::None),
            },
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
        let encoded = Encoder::new().encode(&graph, roots.iter().copied());
        let mut expected = Programs::piece();
        for (&root, (at, roles)) in roots.iter().zip(&encoded.places) {
            let compiled = Compiled::new(&graph.program(root, "solve"));
            assert_eq!(expected.push_program(&compiled).ok(), *at);
            assert_eq!(compiled.roles(), Some(*roles));
        }
        assert_eq!(encoded.programs.words(), expected.words());
    }
}
