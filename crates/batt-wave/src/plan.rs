//! Programs as waves: the calls of all programs, shared where they are equal, sorted by level.
//!
//! Functions are evaluated when the plan is made, because programs know them before they run.
//! `apply(f, xs)` becomes an inner domain with an item for each element of `xs`, the calls of the
//! body of `f` for these items, and a call that collects the results.

use std::collections::HashMap;
use std::rc::Rc;

use batt_dsl::{Dialect, OpId, OwnedValue};
use batt_lang::graph::Graph;
use batt_lang::graph::{Node, Ref, Target};

use crate::closure::{Func, Val};
use crate::ops::{Mapping, kernel_of, kernels, property_of, special};
use crate::wire::{Encoded, literal_value, op_value};

/// The most calls that a program may become.
const MOST_CALLS: usize = 2_000;

/// Bounds of the steps of the CPU that a call takes, by the mapping of its op. `tests/limits.rs`
/// compares them with the CPU.
const ROW_COST: u32 = 8_000;
const THREAD_COST: u32 = 60;

/// A set of items: the samples of a part, the elements of containers, or a single item.
pub(crate) type DomainId = u32;

/// The domain of a single item, for calls whose arguments are constants.
pub(crate) const UNIT: DomainId = 0;

/// How an inner domain comes about: `Spread` in `closures.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub(crate) enum Spread {
    Each,
    Zip,
    Product,
}

/// An operand of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operand {
    /// The input grid, for the samples of a part.
    Input(DomainId),
    /// The value of a call, by its number in the plan.
    Call(u32),
    /// A constant, by its number.
    Constant(u32),
    /// The element of an item of an inner domain: the first or the second of a pair.
    Element(DomainId, u8),
}

/// A call of an op, for every item of its domain.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub kernel: usize,
    pub args: Vec<Operand>,
    pub domain: DomainId,
    /// The level at which it runs: after those of its arguments.
    pub level: u32,
    /// What the op needs beside its arguments.
    pub extra: u32,
    /// For a call that collects: the inner domain, and the results of its items.
    pub results: Option<(DomainId, Operand)>,
}

/// A domain.
#[derive(Clone, Debug)]
pub(crate) enum Domain {
    Unit,
    /// The samples of a part, by its number.
    Samples(usize),
    /// The elements of containers in another domain.
    Inner(Inner),
}

/// An inner domain.
#[derive(Clone, Debug)]
pub(crate) struct Inner {
    pub parent: DomainId,
    pub spread: Spread,
    pub containers: Vec<Operand>,
    /// The level before which it is made.
    pub level: u32,
    /// The domains around it, the samples or the unit first, the parent last.
    pub around: Vec<DomainId>,
}

/// A program that the device can run.
#[derive(Clone, Debug)]
pub(crate) struct PlannedProgram {
    /// The number of the program among those of its part.
    pub number: usize,
    /// The calls of its steps, with the numbers of the steps.
    pub steps: Vec<(u32, Operand)>,
    pub result: Operand,
    /// The cost of the calls outside closures.
    pub cost: u32,
    /// For each inner domain, the cost of the calls for an element.
    pub charges: Vec<(DomainId, u32)>,
}

/// Programs of one dialect, ready to launch.
#[derive(Debug)]
pub(crate) struct Plan {
    pub dialect: Dialect,
    pub calls: Vec<Call>,
    pub constants: Encoded,
    pub domains: Vec<Domain>,
    /// The numbers of the calls, by level, then by kernel.
    pub order: Vec<u32>,
    /// The programs of each part.
    pub parts: Vec<Vec<PlannedProgram>>,
}

/// Builds a plan.
pub(crate) struct Planner {
    plan: Plan,
    calls: HashMap<(usize, u32, Vec<Operand>, Option<(DomainId, Operand)>), u32>,
    inner: HashMap<(Spread, Vec<Operand>), DomainId>,
    constants: HashMap<OwnedValue, Option<u32>>,
    ops: HashMap<usize, u32>,
    /// The calls that the program at hand has become.
    made: usize,
}

impl Planner {
    pub fn new(dialect: Dialect) -> Planner {
        Planner {
            plan: Plan {
                dialect,
                calls: Vec::new(),
                constants: Encoded::default(),
                domains: vec![Domain::Unit],
                order: Vec::new(),
                parts: Vec::new(),
            },
            calls: HashMap::new(),
            inner: HashMap::new(),
            constants: HashMap::new(),
            ops: HashMap::new(),
            made: 0,
        }
    }

    /// Adds a part: samples with programs of their own. Returns the domain of the samples.
    pub fn add_part(&mut self) -> DomainId {
        let number = self.plan.parts.len();
        self.plan.parts.push(Vec::new());
        self.plan.domains.push(Domain::Samples(number));
        self.plan.domains.len() as DomainId - 1
    }

    /// Adds a program to the last part. Returns whether the device can run it.
    pub fn add(
        &mut self,
        samples: DomainId,
        number: usize,
        graph: &Graph,
        steps: &[Ref],
        result: Ref,
    ) -> bool {
        self.made = 0;
        let Some(planned) = self.program(samples, number, graph, steps, result) else {
            return false;
        };
        let part = self.plan.parts.last_mut();
        part.expect("a part was added").push(planned);
        true
    }

    fn program(
        &mut self,
        samples: DomainId,
        number: usize,
        graph: &Graph,
        steps: &[Ref],
        result: Ref,
    ) -> Option<PlannedProgram> {
        let mut known = HashMap::new();
        let mut data = Vec::with_capacity(steps.len());
        for (step, value) in steps.iter().enumerate() {
            match self.value(samples, graph, *value, &mut known)? {
                Val::Data(operand @ Operand::Call(_)) => data.push((step as u32, operand)),
                // These cannot fail.
                Val::Data(_) | Val::Func(_) => {}
            }
        }
        let Val::Data(result) = self.value(samples, graph, result, &mut known)? else {
            return None;
        };
        let (cost, charges) = self.costs(&data, result);
        Some(PlannedProgram {
            number,
            steps: data,
            result,
            cost,
            charges,
        })
    }

    /// Plans a value of a graph. Operands have lower numbers than the nodes that use them, so the
    /// recursion ends; steps come in order, so it is not deep.
    pub fn value(
        &mut self,
        samples: DomainId,
        graph: &Graph,
        value: Ref,
        known: &mut HashMap<Ref, Val>,
    ) -> Option<Val> {
        if let Some(val) = known.get(&value) {
            return Some(val.clone());
        }
        let val = match value.target() {
            Target::Node(node) => match graph.node(node) {
                Node::Call { callee, args } => {
                    let Val::Func(callee) = self.value(samples, graph, callee, known)? else {
                        return None;
                    };
                    let args = args.to_vec();
                    let args: Vec<Val> = (args.into_iter())
                        .map(|arg| self.value(samples, graph, arg, known))
                        .collect::<Option<_>>()?;
                    self.apply(&callee, &args)?
                }
                Node::Tuple(_) => return None,
            },
            _ if value == Ref::INPUT => Val::Data(Operand::Input(samples)),
            Target::Param(_) => return None,
            Target::Op(op) => Val::Func(Rc::new(Func::Op(op))),
            Target::Const(constant) => self.constant(&literal_value(&constant.value()))?,
            Target::Literal(number) => self.constant(&literal_value(graph.literal_at(number)?))?,
        };
        known.insert(value, val.clone());
        Some(val)
    }

    /// Returns a constant, or `None` if the device has no form for it.
    pub fn constant(&mut self, value: &OwnedValue) -> Option<Val> {
        let Planner {
            plan, constants, ..
        } = self;
        let number = *constants.entry(value.clone()).or_insert_with(|| {
            let number = plan.constants.push(plan.dialect, value)?;
            Some(number as u32)
        });
        number.map(|number| Val::Data(Operand::Constant(number)))
    }

    /// Returns the number that an operand is, if it is a constant.
    pub fn int_of(&self, operand: Operand) -> Option<i64> {
        match operand {
            Operand::Constant(number) => self.plan.constants.int_at(number as usize),
            _ => None,
        }
    }

    /// Returns a primitive as an argument of an op.
    pub fn op_operand(&mut self, op: OpId) -> Operand {
        let constants = &mut self.plan.constants;
        let number = *self
            .ops
            .entry(op.index())
            .or_insert_with(|| constants.push_raw(op_value(property_of(op))) as u32);
        Operand::Constant(number)
    }

    /// Plans a call of a primitive on data.
    pub fn call_op(&mut self, op: OpId, args: Vec<Operand>) -> Option<Val> {
        let kernel = kernel_of(op)?;
        (args.len() == op.op().arity()).then_some(())?;
        self.call(kernel, args, 0, None)
    }

    /// Plans a call that collects the results of an inner domain.
    pub fn collect(
        &mut self,
        kernel: &str,
        domain: DomainId,
        how: u32,
        results: Operand,
    ) -> Option<Val> {
        let Domain::Inner(inner) = &self.plan.domains[domain as usize] else {
            return None;
        };
        let own = match results {
            Operand::Call(call) => self.plan.calls[call as usize].domain,
            Operand::Element(domain, _) => domain,
            _ => UNIT,
        };
        // Results that are the same for all elements are rare.
        (own == domain).then_some(())?;
        let extra = inner.spread as u32 | how << 8;
        let containers = inner.containers.clone();
        self.call(special(kernel), containers, extra, Some((domain, results)))
    }

    fn call(
        &mut self,
        kernel: usize,
        args: Vec<Operand>,
        extra: u32,
        results: Option<(DomainId, Operand)>,
    ) -> Option<Val> {
        let key = (kernel, extra, args, results);
        if let Some(call) = self.calls.get(&key) {
            return Some(Val::Data(Operand::Call(*call)));
        }
        self.made += 1;
        (self.made <= MOST_CALLS).then_some(())?;
        let args = key.2.clone();
        let mut domain = UNIT;
        let mut level = 0;
        for arg in &args {
            domain = self.deeper(domain, self.domain_of(*arg))?;
            level = level.max(self.level_of(*arg));
        }
        if let Some((_, results)) = results {
            level = level.max(self.level_of(results));
        }
        let number = self.plan.calls.len() as u32;
        self.plan.calls.push(Call {
            kernel,
            args,
            domain,
            level,
            extra,
            results,
        });
        self.calls.insert(key, number);
        Some(Val::Data(Operand::Call(number)))
    }

    /// Returns the domain with an item for each element of a container, or for each pair of
    /// elements of two.
    pub fn spread(&mut self, spread: Spread, containers: &[Operand]) -> Option<DomainId> {
        let key = (spread, containers.to_vec());
        if let Some(domain) = self.inner.get(&key) {
            return Some(*domain);
        }
        let (mut parent, mut level) = (UNIT, 0);
        for container in containers {
            parent = self.deeper(parent, self.domain_of(*container))?;
            level = level.max(self.level_of(*container));
        }
        let mut around = match &self.plan.domains[parent as usize] {
            Domain::Inner(inner) => inner.around.clone(),
            Domain::Unit | Domain::Samples(_) => Vec::new(),
        };
        around.push(parent);
        self.plan.domains.push(Domain::Inner(Inner {
            parent,
            spread,
            containers: key.1.clone(),
            level,
            around,
        }));
        let domain = self.plan.domains.len() as DomainId - 1;
        self.inner.insert(key, domain);
        Some(domain)
    }

    fn domain_of(&self, operand: Operand) -> DomainId {
        match operand {
            Operand::Input(domain) | Operand::Element(domain, _) => domain,
            Operand::Call(call) => self.plan.calls[call as usize].domain,
            Operand::Constant(_) => UNIT,
        }
    }

    /// Returns the first level at which a value is there.
    fn level_of(&self, operand: Operand) -> u32 {
        match operand {
            Operand::Input(_) | Operand::Constant(_) => 0,
            Operand::Call(call) => self.plan.calls[call as usize].level + 1,
            Operand::Element(domain, _) => match &self.plan.domains[domain as usize] {
                Domain::Inner(inner) => inner.level,
                _ => 0,
            },
        }
    }

    /// Returns the inner one of two domains, of which one is around the other.
    fn deeper(&self, a: DomainId, b: DomainId) -> Option<DomainId> {
        let is_around = |outer: DomainId, inner: DomainId| {
            outer == UNIT
                || outer == inner
                || match &self.plan.domains[inner as usize] {
                    Domain::Inner(inner) => inner.around.contains(&outer),
                    _ => false,
                }
        };
        match () {
            () if is_around(a, b) => Some(b),
            () if is_around(b, a) => Some(a),
            () => None,
        }
    }

    /// Returns the cost of the calls of a program: outside closures, and for an element of each
    /// inner domain.
    fn costs(&self, steps: &[(u32, Operand)], result: Operand) -> (u32, Vec<(DomainId, u32)>) {
        let mut open: Vec<Operand> = steps.iter().map(|step| step.1).collect();
        open.push(result);
        let mut seen = std::collections::HashSet::new();
        let mut costs: HashMap<DomainId, u32> = HashMap::new();
        while let Some(operand) = open.pop() {
            if !seen.insert(operand) {
                continue;
            }
            match operand {
                Operand::Call(call) => {
                    let call = &self.plan.calls[call as usize];
                    let cost = match kernels()[call.kernel].mapping {
                        Mapping::Row => ROW_COST,
                        Mapping::Thread => THREAD_COST,
                    };
                    let sum = costs.entry(call.domain).or_default();
                    *sum = sum.saturating_add(cost);
                    open.extend(&call.args);
                    if let Some((domain, results)) = call.results {
                        open.push(results);
                        open.push(Operand::Element(domain, 0));
                    }
                }
                Operand::Element(domain, which) => {
                    if let Domain::Inner(inner) = &self.plan.domains[domain as usize] {
                        open.extend(&inner.containers);
                        if which == 0 {
                            let sum = costs.entry(domain).or_default();
                            *sum = sum.saturating_add(THREAD_COST);
                        } else {
                            open.push(Operand::Element(domain, 0));
                        }
                    }
                }
                Operand::Input(_) | Operand::Constant(_) => {}
            }
        }
        let is_inner =
            |domain: DomainId| matches!(self.plan.domains[domain as usize], Domain::Inner(_));
        let outside = costs.iter().filter(|(domain, _)| !is_inner(**domain));
        let base = outside.fold(0_u32, |sum, (_, cost)| sum.saturating_add(*cost));
        let mut charges: Vec<_> = costs
            .into_iter()
            .filter(|(domain, _)| is_inner(*domain))
            .collect();
        charges.sort_unstable();
        (base, charges)
    }

    /// Adds a program given by its value.
    pub fn add_value(&mut self, number: usize, result: &Val) -> bool {
        let Val::Data(result) = *result else {
            return false;
        };
        let steps = match result {
            Operand::Call(_) => vec![(0, result)],
            _ => Vec::new(),
        };
        let (cost, charges) = self.costs(&steps, result);
        let planned = PlannedProgram {
            number,
            steps,
            result,
            cost,
            charges,
        };
        let part = self.plan.parts.last_mut();
        part.expect("a part was added").push(planned);
        true
    }

    /// Sorts the calls by level and kernel.
    pub fn finish(self) -> Plan {
        let mut plan = self.plan;
        plan.order = (0..plan.calls.len() as u32).collect();
        plan.order.sort_by_key(|&call| {
            let call = &plan.calls[call as usize];
            (call.level, call.kernel)
        });
        plan
    }
}
