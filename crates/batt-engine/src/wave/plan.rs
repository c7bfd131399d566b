//! Plans: the calls of many programs, shared where they are equal, sorted by level.
//!
//! Functions are evaluated when the plan is made, because programs know them before they run.
//! `apply(f, xs)` becomes an inner domain with an item for each element of `xs`, the calls of the
//! body of `f` for these items, and a call that collects the results.

use std::sync::Arc;

use batt_dsl::{Dialect, Fault, Limits, OpId, OwnedValue, Value, Workspace};
use batt_lang::Program;
use batt_lang::graph::{Graph, Node, Ref, Target};
use rustc_hash::FxHashMap as HashMap;

use super::closure::{Func, Val};
use super::table::{KernelTable, property_of};
use super::wire::{Encoded, fault_value, literal_value, op_value};
use crate::compile::Compiled;
use crate::lower::{CONSTANT, Constant, Instruction, Source};
use crate::sample::ParamRole;

/// The most calls that a program may become.
const MOST_CALLS: usize = 2_000;

/// Bounds of the CPU's steps, beside those of calls, for a run and for an element of a closure.
/// `tests/limits.rs` in `batt-wave` compares all bounds with the CPU.
pub(super) const START_STEPS: u32 = 20_000;
const ELEMENT_STEPS: u32 = 60;

/// The most that a run with the default limits may cost.
const MOST_COST: u32 = 3_000_000;

/// The ops whose results are often locations and go into closures.
const FLAT: [&str; 32] = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "invert",
    "double",
    "halve",
    "increment",
    "decrement",
    "crement",
    "sign",
    "toivec",
    "tojvec",
    "astuple",
    "branch",
    "shape",
    "center",
    "centerofmass",
    "position",
    "gravitate",
    "ulcorner",
    "lrcorner",
    "first",
    "last",
    "interval",
    "repeat",
    "totuple",
    "dedupe",
    "remove",
    "order",
    "collect_order",
    "members",
];

/// A set of items: the samples, the elements of containers, or a single item.
pub(super) type DomainId = u32;

/// The domain of a single item, for calls whose arguments are constants.
pub(super) const UNIT: DomainId = 0;

/// The domain of the samples.
pub(super) const SAMPLES: DomainId = 1;

/// How an inner domain comes about: `Spread` in `closures.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub(super) enum Spread {
    Each,
    Zip,
    Product,
}

/// An operand of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    /// The input grid.
    Input,
    /// The demonstrations of the sample's task.
    Demos,
    /// The expected grid.
    Expected,
    /// The value of a call, by its number in the plan.
    Call(u32),
    /// A constant, by its number.
    Constant(u32),
    /// The element of an item of an inner domain: the first or the second of a pair.
    Element(DomainId, u8),
}

/// A call of an op, for every item of its domain.
#[derive(Clone, Debug)]
pub(super) struct Call {
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
pub(super) enum Domain {
    Unit,
    Samples,
    /// The elements of containers in another domain.
    Inner(Inner),
}

/// An inner domain.
#[derive(Clone, Debug)]
pub(super) struct Inner {
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
pub(super) struct PlannedProgram {
    /// The calls of its steps, with the numbers of the steps.
    pub steps: Vec<(u32, Operand)>,
    pub result: Operand,
    /// What the result is compared with, if not the expected grid.
    pub expected: Option<Operand>,
    /// The cost of the calls outside closures.
    pub cost: u32,
    /// For each inner domain, the cost of an element beside that of the calls.
    pub charges: Vec<(DomainId, u32)>,
    /// The calls in closures, whose cost the device counts.
    pub inner: Vec<u32>,
}

/// Programs of one dialect for the same samples, ready to launch.
#[derive(Debug)]
pub struct WavePlan {
    pub(super) dialect: Dialect,
    pub(super) calls: Vec<Call>,
    pub(super) constants: Encoded,
    pub(super) domains: Vec<Domain>,
    /// The numbers of the calls, by level, then by kernel.
    pub(super) order: Vec<u32>,
    /// The most items of a sample in each domain. A sample with more costs each program too much.
    pub(super) most_items: Vec<u32>,
    /// The inner domains, by level.
    pub(super) opening: Vec<DomainId>,
    pub(super) programs: Vec<PlannedProgram>,
    /// The values that come back to the host.
    pub(super) values: Vec<Operand>,
    /// Whether a call takes the demonstrations.
    pub(super) uses_demos: bool,
    /// The place of each added program among `programs`; `None` if the device cannot run it.
    pub(super) places: Vec<Option<u32>>,
}

impl WavePlan {
    /// Returns the number of programs.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are no programs.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns for each program whether the device can run it.
    pub fn planned(&self) -> impl Iterator<Item = bool> {
        self.places.iter().map(Option::is_some)
    }

    /// Returns whether the samples need their demonstrations.
    pub(crate) fn uses_demos(&self) -> bool {
        self.uses_demos
    }

    /// Plans programs that have the same dialect.
    pub fn of<'c>(
        table: &'static KernelTable,
        dialect: Dialect,
        programs: impl IntoIterator<Item = &'c Compiled>,
    ) -> WavePlan {
        let mut planner = WavePlanner::new(table, dialect);
        for program in programs {
            planner.add_compiled(program);
        }
        planner.finish()
    }
}

/// An argument of a call of a primitive.
#[derive(Clone, Debug)]
pub enum WaveArg {
    /// A value.
    Value(OwnedValue),
    /// The value of a program without parameters, such as a function.
    Program(Program),
}

/// What a call is made of: equal ones are one call.
type CallKey = (usize, u32, Vec<Operand>, Option<(DomainId, Operand)>);

/// Builds a plan. Programs that come from a graph all come from the same one.
pub struct WavePlanner {
    table: &'static KernelTable,
    pub(super) plan: WavePlan,
    calls: HashMap<CallKey, u32>,
    inner: HashMap<(Spread, Vec<Operand>, DomainId), DomainId>,
    constants: HashMap<OwnedValue, Option<u32>>,
    ops: HashMap<usize, u32>,
    /// The faults that are constants, by the number of the fault.
    faults: HashMap<usize, u32>,
    /// The values of the graph that have been planned; `None` if the device has no form for one.
    known: HashMap<Ref, Option<Val>>,
    /// The calls that the program at hand has become.
    pub(super) made: usize,
    /// For each call, the program that it was last counted for.
    counted: Vec<u32>,
    /// The nodes of the program at hand.
    nodes: Vec<u32>,
}

impl WavePlanner {
    /// Begins a plan for a device with these kernels.
    pub fn new(table: &'static KernelTable, dialect: Dialect) -> WavePlanner {
        WavePlanner {
            table,
            plan: WavePlan {
                dialect,
                calls: Vec::new(),
                constants: Encoded::default(),
                domains: vec![Domain::Unit, Domain::Samples],
                order: Vec::new(),
                most_items: Vec::new(),
                opening: Vec::new(),
                programs: Vec::new(),
                values: Vec::new(),
                uses_demos: false,
                places: Vec::new(),
            },
            calls: HashMap::default(),
            inner: HashMap::default(),
            constants: HashMap::default(),
            ops: HashMap::default(),
            faults: HashMap::default(),
            known: HashMap::default(),
            made: 0,
            counted: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// Adds a program of the graph: a value with all that it is computed from.
    pub fn add_value(&mut self, graph: &Graph, value: Ref) {
        self.made = 0;
        let mut nodes = std::mem::take(&mut self.nodes);
        graph.reach_into(value, &mut nodes);
        let planned = match graph.params(value, &nodes) {
            [1] => self.program(graph, &nodes, value),
            _ => None,
        };
        self.nodes = nodes;
        self.push(planned);
    }

    /// Adds a program.
    pub fn add_compiled(&mut self, program: &Compiled) {
        self.made = 0;
        let is_own = program.dialect() == self.plan.dialect;
        let takes_input = program.roles() == Some(&[ParamRole::Input]);
        let planned = (is_own && takes_input)
            .then(|| self.compiled(program))
            .flatten();
        self.push(planned);
    }

    pub(super) fn push(&mut self, planned: Option<PlannedProgram>) {
        let place = planned.is_some().then_some(self.plan.programs.len() as u32);
        self.plan.places.push(place);
        self.plan.programs.extend(planned);
    }

    fn compiled(&mut self, program: &Compiled) -> Option<PlannedProgram> {
        let mut steps = Vec::with_capacity(program.steps.instructions.len());
        let result = self.compiled_value(program, &mut steps)?;
        let mut calls = Vec::with_capacity(steps.len());
        for (step, val) in steps.iter().enumerate() {
            val.each_operand(&mut |operand| calls.push((step as u32, operand)));
        }
        match result {
            Val::Data(result) => Some(self.planned(calls, result)),
            Val::Func(_) => None,
        }
    }

    /// Plans the steps of a program, and returns its result.
    fn compiled_value(&mut self, program: &Compiled, values: &mut Vec<Val>) -> Option<Val> {
        let steps = &program.steps;
        for (instruction, op) in steps.instructions.iter().zip(&steps.ops) {
            let mut args = Vec::with_capacity(instruction.args().len());
            for source in instruction.args() {
                args.push(self.source(program, *source, values)?);
            }
            let val = match (instruction, op) {
                (Instruction::Tuple(_), _) => return None,
                (Instruction::Dynamic(callee, _), _) => {
                    let Val::Func(callee) = self.source(program, *callee, values)? else {
                        return None;
                    };
                    self.apply(&callee, &args)?
                }
                (_, Some(op)) => self.apply(&Func::Op(*op), &args)?,
                (_, None) => return None,
            };
            values.push(val);
        }
        self.source(program, program.result, values)
    }

    fn source(&mut self, program: &Compiled, source: Source, values: &[Val]) -> Option<Val> {
        let steps = &program.steps;
        if source.slot == CONSTANT {
            return self.source_constant(source.constant);
        }
        let slot = source.slot as usize;
        if slot < steps.params {
            return Some(Val::Data(Operand::Input));
        }
        match slot.checked_sub(steps.first_step) {
            Some(step) => values.get(step).cloned(),
            None => self.constant(&literal_value(steps.literals.get(slot - steps.params)?)),
        }
    }

    /// Plans a constant of a program.
    pub(super) fn source_constant(&mut self, constant: Constant) -> Option<Val> {
        match constant {
            Constant::None => self.constant(&OwnedValue::None),
            Constant::Bool(value) => self.constant(&OwnedValue::Bool(value)),
            Constant::Int(number) => self.constant(&OwnedValue::Int(number)),
            Constant::Pair(pair) => {
                let parts = [pair.i, pair.j].map(|part| OwnedValue::Int(part.into()));
                self.constant(&OwnedValue::Tuple(parts.to_vec()))
            }
            Constant::Op(op) => Some(Val::Func(Arc::new(Func::Op(op)))),
        }
    }

    fn program(&mut self, graph: &Graph, steps: &[u32], result: Ref) -> Option<PlannedProgram> {
        let mut data = Vec::with_capacity(steps.len());
        for (step, node) in steps.iter().enumerate() {
            let val = self.value(graph, Ref::node(*node))?;
            val.each_operand(&mut |operand| data.push((step as u32, operand)));
        }
        let Val::Data(result) = self.value(graph, result)? else {
            return None;
        };
        Some(self.planned(data, result))
    }

    fn planned(&mut self, steps: Vec<(u32, Operand)>, result: Operand) -> PlannedProgram {
        self.planned_with(steps, result, &[])
    }

    /// The same for a run that also pays for other calls.
    pub(super) fn planned_with(
        &mut self,
        mut steps: Vec<(u32, Operand)>,
        result: Operand,
        others: &[Operand],
    ) -> PlannedProgram {
        // Inputs and most constants cannot fail.
        steps.retain(|(_, operand)| {
            matches!(operand, Operand::Call(_)) || self.is_failure(*operand)
        });
        let mut planned = PlannedProgram {
            steps,
            result,
            expected: None,
            cost: START_STEPS,
            charges: Vec::new(),
            inner: Vec::new(),
        };
        self.count_costs(&mut planned, others);
        planned
    }

    /// Adds a call of a primitive, or with `wrap` a call of that with its result.
    pub fn add_call(&mut self, op: OpId, args: &[WaveArg], wrap: Option<OpId>) {
        self.made = 0;
        let planned = self.value_of_call(op, args, wrap).map(|result| {
            let is_call = matches!(result, Operand::Call(_));
            let steps = is_call.then_some((0, result)).into_iter().collect();
            self.planned(steps, result)
        });
        self.push(planned);
    }

    fn value_of_call(&mut self, op: OpId, args: &[WaveArg], wrap: Option<OpId>) -> Option<Operand> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(match arg {
                WaveArg::Value(value) => self.constant(value)?,
                WaveArg::Program(program) => {
                    self.compiled_value(&Compiled::new(program), &mut Vec::new())?
                }
            });
        }
        let mut value = self.apply(&Func::Op(op), &values)?;
        if let Some(wrap) = wrap {
            value = self.apply(&Func::Op(wrap), &[value])?;
        }
        match value {
            Val::Data(result) => Some(result),
            Val::Func(_) => None,
        }
    }

    /// Plans a value of the graph. Operands have lower numbers than the nodes that use them, so the
    /// recursion ends; steps come in order, so it is not deep.
    fn value(&mut self, graph: &Graph, value: Ref) -> Option<Val> {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        let val = self.new_value(graph, value);
        self.known.insert(value, val.clone());
        val
    }

    fn new_value(&mut self, graph: &Graph, value: Ref) -> Option<Val> {
        Some(match value.target() {
            Target::Node(node) => match graph.node(node) {
                Node::Call { callee, args } => {
                    let Val::Func(callee) = self.value(graph, callee)? else {
                        return None;
                    };
                    let args: Vec<Val> = (args.iter())
                        .map(|arg| self.value(graph, *arg))
                        .collect::<Option<_>>()?;
                    self.apply(&callee, &args)?
                }
                Node::Tuple(_) => return None,
            },
            _ if value == Ref::INPUT => Val::Data(Operand::Input),
            Target::Param(_) => return None,
            Target::Op(op) => Val::Func(Arc::new(Func::Op(op))),
            Target::Const(constant) => self.constant(&literal_value(&constant.value()))?,
            Target::Literal(number) => self.constant(&literal_value(graph.literal_at(number)?))?,
        })
    }

    /// Returns the operand through which closures go: that of a location or a cell is a tuple.
    pub(super) fn members(&mut self, items: Operand) -> Option<Operand> {
        if !self.may_be_flat(items) {
            return Some(items);
        }
        match self.call(self.table.op_named("members"), vec![items], 0, None)? {
            Val::Data(members) => Some(members),
            Val::Func(_) => None,
        }
    }

    /// Returns whether a container is often a location or a cell.
    fn may_be_flat(&self, items: Operand) -> bool {
        match items {
            Operand::Input | Operand::Demos | Operand::Expected | Operand::Element(..) => false,
            Operand::Constant(number) => self.plan.constants.is_flat(number as usize),
            Operand::Call(call) => {
                let call = &self.plan.calls[call as usize];
                let name = self.table.kernels()[call.kernel].name;
                // A map over such a container often makes another one.
                let is_map = name == "collect_each";
                FLAT.contains(&name)
                    || (is_map && call.args.iter().any(|arg| self.may_be_flat(*arg)))
            }
        }
    }

    /// Returns a constant, or `None` if the device has no form for it.
    pub(super) fn constant(&mut self, value: &OwnedValue) -> Option<Val> {
        let WavePlanner {
            plan, constants, ..
        } = self;
        let number = *constants.entry(value.clone()).or_insert_with(|| {
            let number = plan.constants.push(plan.dialect, value)?;
            Some(number as u32)
        });
        number.map(|number| Val::Data(Operand::Constant(number)))
    }

    /// Returns the number that an operand is, if it is a constant.
    pub(super) fn int_of(&self, operand: Operand) -> Option<i64> {
        match operand {
            Operand::Constant(number) => self.plan.constants.int_at(number as usize),
            _ => None,
        }
    }

    /// Returns a primitive as an argument of an op.
    pub(super) fn op_operand(&mut self, op: OpId) -> Operand {
        let constants = &mut self.plan.constants;
        let number = *self
            .ops
            .entry(op.index())
            .or_insert_with(|| constants.push_raw(op_value(property_of(op))) as u32);
        Operand::Constant(number)
    }

    /// Plans a call of a primitive on data.
    pub(super) fn call_op(&mut self, op: OpId, args: Vec<Operand>) -> Option<Val> {
        let kernel = self.table.of(op)?;
        (args.len() == op.op().arity()).then_some(())?;
        if let Some(failure) = self.failure(op, &args) {
            return Some(Val::Data(failure));
        }
        self.call(kernel, args, 0, None)
    }

    /// Returns the fault of a call with `None` if all arguments are constants. Few ops have a body for
    /// `None`, and scores take it in place of a grid to compare with.
    fn failure(&mut self, op: OpId, args: &[Operand]) -> Option<Operand> {
        let none = *self.constants.get(&OwnedValue::None)?;
        let is_none = |arg: &Operand| matches!(arg, Operand::Constant(arg) if Some(*arg) == none);
        if !args.iter().any(is_none) || op.op().dialect == Dialect::Tokpidjin {
            return None;
        }
        let value_of = |arg: &Operand| match arg {
            Operand::Constant(number) => {
                let mut known = self.constants.iter();
                known.find(|(_, known)| **known == Some(*number))
            }
            _ => None,
        };
        let values: Vec<&OwnedValue> = (args.iter())
            .map(|arg| value_of(arg).map(|(value, _)| value))
            .collect::<Option<_>>()?;
        let limits = Limits::default();
        let fault = Workspace::new().run(self.plan.dialect, &limits, |run| {
            let values = values.into_iter().map(|value| run.from_owned(value));
            let values: Vec<_> = values.collect::<Result<_, _>>().ok()?;
            run.call(Value::Op(op), &values).err()
        })?;
        let code = Fault::ALL.iter().position(|known| *known == fault)?;
        (!fault.is_limit()).then_some(())?;
        let constants = &mut self.plan.constants;
        let number = *(self.faults.entry(code))
            .or_insert_with(|| constants.push_raw(fault_value(code as u8)) as u32);
        Some(Operand::Constant(number))
    }

    /// Returns whether an operand is a fault, whatever the sample.
    pub(super) fn is_failure(&self, operand: Operand) -> bool {
        let Operand::Constant(number) = operand else {
            return false;
        };
        self.faults.values().any(|fault| *fault == number)
    }

    /// Plans a call that collects the results of an inner domain.
    pub(super) fn collect(
        &mut self,
        kernel: &str,
        domain: DomainId,
        how: u32,
        results: Operand,
    ) -> Option<Val> {
        let Domain::Inner(inner) = &self.plan.domains[domain as usize] else {
            return None;
        };
        // Results that are the same for all elements are rare.
        (self.domain_of(results) == domain).then_some(())?;
        let extra = inner.spread as u32 | how << 8;
        let containers = inner.containers.clone();
        self.call(
            self.table.special(kernel),
            containers,
            extra,
            Some((domain, results)),
        )
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
        if let Some((inner, results)) = results {
            // The function may have bound values of a deeper domain than those of the containers.
            if let Domain::Inner(inner) = &self.plan.domains[inner as usize] {
                domain = inner.parent;
            }
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

    /// Plans the choice between two values, of which only the chosen one may fail.
    pub(super) fn select(&mut self, condition: Operand, a: Operand, b: Operand) -> Option<Val> {
        self.call(self.table.special("select"), vec![condition, a, b], 0, None)
    }

    /// Returns the domain with an item for each element of a container, or for each pair of
    /// elements of two. It lies inside of all that the function has bound.
    pub(super) fn spread(
        &mut self,
        spread: Spread,
        containers: &[Operand],
        function: &Func,
    ) -> Option<DomainId> {
        let (mut parent, mut level) = (UNIT, 0);
        for container in containers {
            parent = self.deeper(parent, self.domain_of(*container))?;
            level = level.max(self.level_of(*container));
        }
        let mut bound = Vec::new();
        function.each_operand(&mut |operand| bound.push(operand));
        for operand in bound {
            parent = self.deeper(parent, self.domain_of(operand))?;
        }
        // A domain is made when its parent is.
        if let Domain::Inner(inner) = &self.plan.domains[parent as usize] {
            level = level.max(inner.level);
        }
        let key = (spread, containers.to_vec(), parent);
        if let Some(domain) = self.inner.get(&key) {
            return Some(*domain);
        }
        let mut around = match &self.plan.domains[parent as usize] {
            Domain::Inner(inner) => inner.around.clone(),
            Domain::Unit | Domain::Samples => Vec::new(),
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
            Operand::Input | Operand::Demos | Operand::Expected => SAMPLES,
            Operand::Element(domain, _) => domain,
            Operand::Call(call) => self.plan.calls[call as usize].domain,
            Operand::Constant(_) => UNIT,
        }
    }

    /// Returns the first level at which a value is there.
    fn level_of(&self, operand: Operand) -> u32 {
        match operand {
            Operand::Input | Operand::Demos | Operand::Expected | Operand::Constant(_) => 0,
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

    /// Counts the cost of the calls of a program.
    fn count_costs(&mut self, planned: &mut PlannedProgram, others: &[Operand]) {
        let WavePlanner {
            plan,
            table,
            counted,
            ..
        } = self;
        counted.resize(plan.calls.len(), u32::MAX);
        let program = plan.programs.len() as u32;
        let mut open: Vec<Operand> = planned.steps.iter().map(|step| step.1).collect();
        open.push(planned.result);
        open.extend(others);
        while let Some(operand) = open.pop() {
            let Operand::Call(number) = operand else {
                // The elements of a domain are counted with the call that collects their results.
                continue;
            };
            if std::mem::replace(&mut counted[number as usize], program) == program {
                continue;
            }
            let call = &plan.calls[number as usize];
            match plan.domains[call.domain as usize] {
                Domain::Inner(_) => planned.inner.push(number),
                _ => planned.cost += table.kernels()[call.kernel].steps,
            }
            open.extend(&call.args);
            if let Some((domain, results)) = call.results {
                open.push(results);
                match (planned.charges.iter_mut()).find(|(known, _)| *known == domain) {
                    Some((_, weight)) => *weight += ELEMENT_STEPS,
                    None => planned.charges.push((domain, ELEMENT_STEPS)),
                }
            }
        }
    }

    /// Sorts the calls by level and kernel.
    pub fn finish(self) -> WavePlan {
        let mut plan = self.plan;
        plan.order = (0..plan.calls.len() as u32).collect();
        plan.order.sort_by_key(|&call| {
            let call = &plan.calls[call as usize];
            (call.level, call.kernel)
        });
        let mut least = vec![u32::MAX; plan.domains.len()];
        for (domain, cost) in plan.programs.iter().flat_map(|program| &program.charges) {
            let known = &mut least[*domain as usize];
            *known = (*known).min(*cost);
        }
        plan.most_items = least
            .iter()
            .map(|cost| MOST_COST / (*cost).max(1))
            .collect();
        plan.opening = (0..plan.domains.len() as DomainId)
            .filter(|&domain| matches!(plan.domains[domain as usize], Domain::Inner(_)))
            .collect();
        // A domain comes after those around it, which have lower numbers.
        plan.opening
            .sort_by_key(|&domain| match &plan.domains[domain as usize] {
                Domain::Inner(inner) => inner.level,
                _ => 0,
            });
        plan
    }
}
