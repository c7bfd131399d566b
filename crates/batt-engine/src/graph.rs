//! Values of a [`Graph`]: what several programs share is computed once.
//!
//! A search makes programs by the thousand, and most steps of one program occur in others as well.
//! A [`GraphWorker`] computes some values of a graph on a sample in one run. Each node has limits
//! of its own, so the result for one value does not depend on which others are computed with it.

use batt_dsl::{Fault, Limits, MemoryBudget, Outcome, Run, Value, Workspace};
use batt_lang::graph::{Graph, Node, Ref};

use crate::lower::{Instruction, Operands, Referent, Source, Steps, referent_in};
use crate::sample::{Sample, demos, grid};

/// When the values of a run take more memory than this, the remaining values are computed in
/// another run. The two runs share nothing.
const MEMORY_OF_RUN: usize = 8 << 20;

/// The number of parameters: `S`, `I` and `C`.
const PARAMS: usize = 3;

/// The buffers of one thread that computes values of graphs, reused from call to call.
#[derive(Default)]
pub struct GraphWorker {
    workspace: Workspace,
    plan: Plan,
    failed: Vec<Option<Fault>>,
}

/// The nodes to compute, in order.
#[derive(Default)]
struct Plan {
    /// The nodes as steps, each after those it refers to. Literals are their numbers in the graph.
    steps: Steps<u32>,
    /// The node of each step.
    nodes: Vec<u32>,
    places: Places,
    /// The source of each root, and the number of steps after which it is complete.
    roots: Vec<(Source, u32)>,
    waiting: Vec<u32>,
}

/// The nodes of a graph that a plan contains.
#[derive(Default)]
struct Places {
    /// The step and stamp of each node. The step is valid if the stamp is the current one.
    steps: Vec<(u32, u32)>,
    stamp: u32,
    uses_samples: bool,
}

impl Places {
    fn has(&self, node: u32) -> bool {
        self.steps[node as usize].0 == self.stamp
    }
}

/// Resolves the operands of a graph for a plan.
struct PlanOperands<'p> {
    graph: &'p Graph,
    places: &'p mut Places,
}

impl Operands for PlanOperands<'_> {
    type Operand = Ref;
    type Literal = u32;
    const SHARES_LITERALS: bool = true;

    fn referent(&mut self, value: Ref) -> Referent<u32> {
        let Places {
            steps,
            uses_samples,
            ..
        } = &mut *self.places;
        referent_in(
            self.graph,
            value,
            |node| steps[node as usize].1,
            |param| {
                *uses_samples |= param == 0;
                param
            },
        )
    }
}

impl Plan {
    /// Plans the computation of some values, one after the other. Each value adds the nodes it
    /// needs that are not planned yet.
    fn make(&mut self, graph: &Graph, roots: &[Ref]) {
        self.steps.begin(PARAMS);
        self.nodes.clear();
        self.roots.clear();
        self.places.uses_samples = false;
        self.places.stamp += 1;
        self.places.steps.resize(graph.len(), (0, 0));
        for &root in roots {
            if let Some(node) = root.as_node() {
                self.add(graph, node);
            }
            let places = &mut self.places;
            let source = self.steps.source(&mut PlanOperands { graph, places }, root);
            self.roots.push((source, self.nodes.len() as u32));
        }
        self.steps
            .finish(self.roots.iter_mut().map(|(source, _)| source));
    }

    fn add(&mut self, graph: &Graph, root: u32) {
        self.waiting.push(root);
        while let Some(&node) = self.waiting.last() {
            if self.places.has(node) {
                self.waiting.pop();
                continue;
            }
            let before = self.waiting.len();
            for operand in graph.operands(node) {
                if let Some(id) = operand.as_node()
                    && !self.places.has(id)
                {
                    self.waiting.push(id);
                }
            }
            if self.waiting.len() > before {
                continue;
            }
            self.waiting.pop();
            let places = &mut self.places;
            let operands = &mut PlanOperands { graph, places };
            match graph.node(node) {
                Node::Tuple(items) => self.steps.tuple(operands, items.iter().copied()),
                Node::Call { callee, args } => {
                    self.steps.call(operands, callee, args.iter().copied());
                }
            }
            self.places.steps[node as usize] = (self.places.stamp, self.nodes.len() as u32);
            self.nodes.push(node);
        }
    }
}

impl GraphWorker {
    /// Computes values of a graph on a sample and passes each value or fault to `look`, in order.
    /// `limits` hold for each node, and once more for each call of `look`.
    pub fn run(
        &mut self,
        graph: &Graph,
        roots: &[Ref],
        sample: &Sample<'_>,
        limits: &Limits,
        mut look: impl for<'r> FnMut(&mut Run<'r>, usize, Result<Value<'r>, Fault>),
    ) {
        let mut done = 0;
        while done < roots.len() {
            self.plan.make(graph, &roots[done..]);
            done += self.run_plan(graph, sample, limits, |run, at, value| {
                look(run, done + at, value);
            });
        }
    }

    /// Runs the plan until it is complete or takes too much memory. Returns the number of roots
    /// passed to `look`.
    fn run_plan(
        &mut self,
        graph: &Graph,
        sample: &Sample<'_>,
        limits: &Limits,
        mut look: impl for<'r> FnMut(&mut Run<'r>, usize, Result<Value<'r>, Fault>),
    ) -> usize {
        let GraphWorker {
            workspace,
            plan,
            failed,
        } = self;
        failed.clear();
        failed.resize(plan.steps.instructions.len(), None);
        workspace.run(graph.dialect(), limits, |run| {
            let mut memory = MemoryBudget::unlimited(limits);
            let first = plan.steps.first();
            let slots = match prepare(run, graph, plan, sample) {
                Ok(slots) => slots,
                // If the inputs do not fit, every root fails.
                Err(fault) => {
                    (0..plan.roots.len()).for_each(|at| look(run, at, Err(fault)));
                    return plan.roots.len();
                }
            };
            let mut next = 0;
            for (at, (source, end)) in plan.roots.iter().enumerate() {
                for k in next..*end as usize {
                    let instruction = &plan.steps.instructions[k];
                    match instruction.first_failed(first, failed) {
                        Some(fault) => failed[k] = Some(fault),
                        None => {
                            run.begin_step(&mut memory);
                            // The order of a set of functions must not depend on which other nodes
                            // are computed.
                            run.begin_closures(plan.nodes[k]);
                            let outcome = instruction.execute(run, slots).outcome();
                            match outcome.and_then(|value| run.check_limits().map(|()| value)) {
                                Ok(value) => slots[first + k] = value,
                                Err(fault) => failed[k] = Some(fault),
                            }
                        }
                    }
                }
                next = *end as usize;
                run.begin_step(&mut memory);
                let value = match failed_at(*source, first, failed) {
                    Some(fault) => Err(fault),
                    None => Ok(source.get(slots)),
                };
                look(run, at, value);
                if usize::MAX - memory.left() > MEMORY_OF_RUN {
                    return at + 1;
                }
            }
            plan.roots.len()
        })
    }
}

/// Makes the slots and fills in parameters and literals.
fn prepare<'r>(
    run: &mut Run<'r>,
    graph: &Graph,
    plan: &Plan,
    sample: &Sample<'_>,
) -> Outcome<&'r mut [Value<'r>]> {
    let slots = run.slots(plan.steps.slots())?;
    if plan.places.uses_samples {
        slots[0] = demos(run, sample.demos)?;
    }
    slots[1] = grid(run, sample.input)?;
    for (slot, &at) in slots[PARAMS..].iter_mut().zip(&plan.steps.literals) {
        if let Some(literal) = graph.literal_at(at) {
            *slot = run.literal(literal)?;
        }
    }
    Ok(slots)
}

fn failed_at(source: Source, first: usize, failed: &[Option<Fault>]) -> Option<Fault> {
    let node = (source.slot as usize).checked_sub(first)?;
    failed.get(node).copied().flatten()
}

impl Instruction {
    /// Returns the fault of the first operand that has no value.
    #[inline]
    fn first_failed(&self, first: usize, failed: &[Option<Fault>]) -> Option<Fault> {
        let callee = match self {
            Instruction::Dynamic(callee, _) => failed_at(*callee, first, failed),
            _ => None,
        };
        callee.or_else(|| {
            let mut args = self.args().iter();
            args.find_map(|source| failed_at(*source, first, failed))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compiled, Job, judge_job};
    use batt_arc::corpus;
    use batt_lang::SolverFile;

    /// Values of a graph equal those of the programs run one by one.
    #[test]
    fn values_are_those_of_programs_run_one_by_one() {
        let file = SolverFile::parse(corpus::SOLVERS, "solvers.py");
        let tasks = corpus::tasks();
        let mut graph = Graph::new(file.programs[0].dialect());
        let roots: Vec<Ref> = file
            .programs
            .iter()
            .filter_map(|program| graph.add_program(program))
            .collect();
        assert_eq!(roots.len(), file.programs.len());
        let compiled: Vec<Compiled> = file.programs.iter().map(Compiled::new).collect();
        let (mut worker, mut workspace) = (GraphWorker::default(), Workspace::new());
        let limits = Limits::default();
        let mut failed = 0;
        for task in tasks.iter().take(12) {
            let sample = Sample::new(task, &task.train[0]);
            let mut seen = Vec::new();
            worker.run(&graph, &roots, &sample, &limits, |run, at, value| {
                assert_eq!(at, seen.len());
                seen.push(value.ok().map(|value| run.hash(value)));
            });
            for (program, seen) in compiled.iter().zip(seen) {
                let job = Job { program, sample };
                let score = judge_job(&mut workspace, &job, &limits);
                assert_eq!(seen, score.hash);
                failed += usize::from(seen.is_none());
            }
        }
        assert!(failed > 0, "foreign solvers fail somewhere");
    }

    #[test]
    fn large_values_are_split_over_several_runs() {
        let text = "def solve(I):\n    x1 = upscale(I, TEN)\n    return hconcat(x1, x1)\n";
        let file = SolverFile::parse(text, "large.py");
        let mut graph = Graph::new(file.programs[0].dialect());
        let mut roots = vec![graph.add_program(&file.programs[0]).expect("takes I")];
        let op = |name| Ref::op(batt_dsl::OpId::named(name).expect("a primitive"));
        for _ in 0..400 {
            let next = graph.call(op("hmirror"), &[roots[roots.len() - 1]]);
            let next = graph.call(op("asobject"), &[next]);
            roots.push(next);
            let next = graph.call(op("vmirror"), &[roots[roots.len() - 2]]);
            roots.push(next);
        }
        let tasks = corpus::tasks();
        let task = &tasks.tasks()[0];
        let sample = Sample::new(task, &task.train[0]);
        let mut worker = GraphWorker::default();
        let mut together = Vec::new();
        let limits = Limits::default();
        worker.run(&graph, &roots, &sample, &limits, |run, _, value| {
            together.push(value.map(|value| run.hash(value)));
        });
        assert_eq!(together.len(), roots.len());
        for at in [0, 1, 2, 17, roots.len() - 1] {
            worker.run(
                &graph,
                &roots[at..=at],
                &sample,
                &limits,
                |run, _, value| {
                    assert_eq!(value.map(|value| run.hash(value)), together[at]);
                },
            );
        }
    }
}
