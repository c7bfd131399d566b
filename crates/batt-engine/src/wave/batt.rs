//! Plans of batts: a program for each candidate and each score.
//!
//! All programs of a batt share its steps. A program fails with the first step that fails in the
//! order in which the CPU executes the steps of the solver. Comparisons have a plan of their own, for
//! the samples for which a candidate is right.

use batt_arc::{Grid, Pair};
use batt_dsl::{Dialect, OwnedValue};
use batt_lang::OnError;

use super::closure::{Func, Val};
use super::device::WaveBuffer;
use super::engine::{WaveEngine, WaveSamples, fits, stopped};
use super::layout::{RawValue, bytes_of};
use super::plan::{Call, Domain, DomainId, Operand, WavePlan, WavePlanner};
use super::report::WaveReason;
use super::table::KernelTable;
use super::wire::Encoded;
use crate::batt::{CompiledBatt, Goal, Solver, Work};
use crate::device::DeviceError;
use crate::lower::{CONSTANT, Instruction, Source, Steps};
use crate::sample::Sample;

/// The slots of the parameters.
const DEMOS: u32 = 0;
const INPUT: u32 = 1;
const COMPARISON: u32 = 2;
const EXPECTED: u32 = 3;

/// The most cells and elements of demonstrations: `MOST_MASS` in `kernels.cuh`.
const MOST_MASS: usize = 8192;

/// The plan of a batt.
pub(crate) struct BattPlan {
    /// The candidates and the scores, in their order.
    pub plan: WavePlan,
    /// The comparisons, if there are any.
    pub compared: Option<WavePlan>,
    /// All of them.
    pub entries: Vec<PlannedEntry>,
}

/// A candidate, a score or a comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlannedEntry {
    /// Its steps, in the order in which the CPU executes them. The step of a record is a place here.
    pub steps: Vec<u32>,
    /// For a comparison: how many of its steps a candidate or a score of the solver may execute first.
    pub early: usize,
    /// Other entries of the solver that share its limits. If one of them falls back to the CPU, so
    /// does this one.
    pub after: Vec<u32>,
    /// The place of its value among those that come back.
    pub value: Option<u32>,
}

impl BattPlan {
    /// Plans a batt. Returns `None` if the device can run no part of it. `values` says whether the
    /// values of the entries come back, `compares` whether to plan comparisons.
    pub fn new(
        table: &'static KernelTable,
        batt: &CompiledBatt,
        values: bool,
        compares: bool,
    ) -> Option<BattPlan> {
        // A default takes the place of a failed step, and tokpidjin's primitives return defaults of
        // their own. The counts of steps include both, but the device does not tell.
        let has_defaults = batt.mode() == OnError::Defaults || batt.dialect() == Dialect::Tokpidjin;
        if has_defaults {
            return None;
        }
        let (plan, mut entries) = planned(table, batt, Goal::Solve, values);
        let compared = (compares && batt.scores() > 0).then(|| {
            let (plan, comparisons) = planned(table, batt, Goal::Compare, values);
            entries.extend(comparisons);
            plan
        });
        (!plan.programs.is_empty()).then_some(BattPlan {
            plan,
            compared,
            entries,
        })
    }
}

/// Plans candidates and scores, or comparisons.
fn planned(
    table: &'static KernelTable,
    batt: &CompiledBatt,
    goal: Goal,
    values: bool,
) -> (WavePlan, Vec<PlannedEntry>) {
    let mut planner = WavePlanner::new(table, batt.dialect());
    let steps = &batt.plan.steps;
    let count = match goal {
        // The others are twins.
        Goal::Solve => batt.len(),
        _ => steps.instructions.len(),
    };
    let vals = planner.batt_steps(steps, count);
    let shown = batt.shown(goal);
    let mut entries = vec![PlannedEntry::default(); shown.len()];
    let mut programs = vec![None; shown.len()];
    for solver in &batt.plan.solvers {
        for (part, order) in orders(solver).into_iter().enumerate() {
            let number = solver.parts[part].entry as usize;
            let Some(place) = number
                .checked_sub(shown.start)
                .filter(|_| shown.contains(&number))
            else {
                continue;
            };
            let before = shared_parts(solver, part);
            let result = planner.batt_source(steps, batt.plan.values[number], &vals);
            let others = before
                .iter()
                .flat_map(|&part| solver.parts[part].work.iter().map(|work| work.step));
            programs[place] = result
                .zip(operands(order.iter().copied(), &vals))
                .zip(operands(others, &vals));
            entries[place] = PlannedEntry {
                steps: order,
                early: early_steps(solver, part),
                after: before
                    .iter()
                    .map(|&part| solver.parts[part].entry)
                    .collect(),
                value: None,
            };
        }
    }
    let nothing = planner.constant(&OwnedValue::None);
    for (place, program) in programs.into_iter().enumerate() {
        let planned = program.and_then(|((result, steps), others)| {
            let Val::Data(result) = result else {
                return None;
            };
            let others: Vec<Operand> = others.iter().map(|(_, operand)| *operand).collect();
            let (steps, result) = planner.until_failure(steps, result);
            let mut planned = planner.planned_with(steps, result, &others);
            // Only candidates have verdicts.
            let is_judged = shown.start + place < batt.outputs();
            if let (false, Some(Val::Data(nothing))) = (is_judged, &nothing) {
                planned.expected = Some(*nothing);
            }
            if values && !planner.is_failure(result) {
                entries[place].value = Some(value_number(&mut planner.plan.values, result));
            }
            Some(planned)
        });
        planner.push(planned);
    }
    let mut plan = planner.finish();
    prune(&mut plan);
    (plan, entries)
}

/// Returns the place of a value among those that come back.
fn value_number(values: &mut Vec<Operand>, value: Operand) -> u32 {
    let known = values.iter().position(|known| *known == value);
    known.unwrap_or_else(|| {
        values.push(value);
        values.len() - 1
    }) as u32
}

/// Returns the steps of each part of a solver, in the order of their execution.
fn orders(solver: &Solver) -> Vec<Vec<u32>> {
    let mut orders = vec![Vec::new(); solver.parts.len()];
    for work in solver.parts.iter().flat_map(|part| &part.work) {
        for user in work.users.iter() {
            orders[user].push(work.step);
        }
    }
    orders
}

/// Returns how many steps of a comparison belong to candidates and scores.
fn early_steps(solver: &Solver, part: usize) -> usize {
    if part < solver.solving {
        return 0;
    }
    let parts = solver.parts[..solver.solving].iter();
    let uses = |work: &&Work| work.users.iter().any(|user| user == part);
    parts.flat_map(|part| &part.work).filter(uses).count()
}

/// Returns the earlier parts of a solver from whose limits a part takes: the first one, and those
/// that execute some of its steps.
fn shared_parts(solver: &Solver, part: usize) -> Vec<usize> {
    let uses = |earlier: usize| {
        let mut work = solver.parts[earlier].work.iter();
        work.any(|work| work.users.iter().any(|user| user == part))
    };
    (0..part)
        .filter(|&earlier| earlier == 0 || uses(earlier))
        .collect()
}

/// Returns what the values of steps are made of, with the places of the steps; `None` if the device
/// cannot run one of them.
fn operands(steps: impl Iterator<Item = u32>, vals: &[Option<Val>]) -> Option<Vec<(u32, Operand)>> {
    let mut operands = Vec::new();
    for (place, step) in (0..).zip(steps) {
        let val = vals.get(step as usize)?.as_ref()?;
        val.each_operand(&mut |operand| operands.push((place, operand)));
    }
    Some(operands)
}

impl WavePlanner {
    /// Drops what comes after a step that fails whatever the sample.
    fn until_failure(
        &self,
        mut steps: Vec<(u32, Operand)>,
        result: Operand,
    ) -> (Vec<(u32, Operand)>, Operand) {
        let failing = (steps.iter()).find(|(_, operand)| self.is_failure(*operand));
        let Some(&(place, failure)) = failing else {
            return (steps, result);
        };
        steps.retain(|(other, _)| *other <= place);
        (steps, failure)
    }

    /// Plans the first steps of a batt; `None` stands for a step that the device cannot run.
    fn batt_steps(&mut self, steps: &Steps, count: usize) -> Vec<Option<Val>> {
        let mut vals = Vec::with_capacity(count);
        for step in 0..count {
            self.made = 0;
            let val = self.batt_step(steps, step, &vals);
            vals.push(val);
        }
        vals
    }

    fn batt_step(&mut self, steps: &Steps, step: usize, vals: &[Option<Val>]) -> Option<Val> {
        let instruction = &steps.instructions[step];
        let mut args = Vec::with_capacity(instruction.args().len());
        for source in instruction.args() {
            args.push(self.batt_source(steps, *source, vals)?);
        }
        match (instruction, &steps.ops[step]) {
            (Instruction::Tuple(_), _) => None,
            (Instruction::Dynamic(callee, _), _) => {
                match self.batt_source(steps, *callee, vals)? {
                    Val::Func(callee) => self.apply(&callee, &args),
                    Val::Data(_) => None,
                }
            }
            (_, Some(op)) => self.apply(&Func::Op(*op), &args),
            (_, None) => None,
        }
    }

    fn batt_source(&mut self, steps: &Steps, source: Source, vals: &[Option<Val>]) -> Option<Val> {
        if source.slot == CONSTANT {
            return self.source_constant(source.constant);
        }
        let slot = source.slot as usize;
        if let Some(step) = slot.checked_sub(steps.first()) {
            return vals.get(step)?.clone();
        }
        match source.slot {
            DEMOS => {
                self.plan.uses_demos = true;
                Some(Val::Data(Operand::Demos))
            }
            INPUT => Some(Val::Data(Operand::Input)),
            EXPECTED => Some(Val::Data(Operand::Expected)),
            COMPARISON => self.constant(&OwnedValue::None),
            _ => {
                let literal = steps.literals.get(slot.checked_sub(steps.params)?)?;
                self.constant(&super::wire::literal_value(literal))
            }
        }
    }
}

/// Removes the calls and domains that no program needs.
fn prune(plan: &mut WavePlan) {
    let mut calls = vec![false; plan.calls.len()];
    let mut domains = vec![false; plan.domains.len()];
    let mut open: Vec<Operand> = Vec::new();
    for program in &plan.programs {
        open.extend(program.steps.iter().map(|(_, operand)| *operand));
        open.push(program.result);
        let inner = program.inner.iter().map(|&call| Operand::Call(call));
        open.extend(inner);
    }
    while let Some(operand) = open.pop() {
        let domain = match operand {
            Operand::Call(number) => {
                if std::mem::replace(&mut calls[number as usize], true) {
                    continue;
                }
                let Call {
                    args,
                    domain,
                    results,
                    ..
                } = &plan.calls[number as usize];
                open.extend(args);
                if let Some((inner, results)) = results {
                    open.push(*results);
                    need(plan, *inner, &mut domains, &mut open);
                }
                *domain
            }
            Operand::Element(domain, _) => domain,
            _ => continue,
        };
        need(plan, domain, &mut domains, &mut open);
    }
    plan.order.retain(|&call| calls[call as usize]);
    plan.opening.retain(|&domain| domains[domain as usize]);
}

/// Marks a domain, and those around it, as needed.
fn need(plan: &WavePlan, domain: DomainId, domains: &mut [bool], open: &mut Vec<Operand>) {
    if std::mem::replace(&mut domains[domain as usize], true) {
        return;
    }
    if let Domain::Inner(inner) = &plan.domains[domain as usize] {
        open.extend(&inner.containers);
        for &outer in &inner.around {
            need(plan, outer, domains, open);
        }
    }
}

impl WaveEngine {
    /// Copies samples to the device, with their demonstrations.
    pub fn load_with_demos(&mut self, samples: &[Sample<'_>]) -> Result<WaveSamples, DeviceError> {
        let mut loaded = self.load(samples)?;
        match self.load_demos(samples, &mut loaded) {
            Ok(()) => Ok(loaded),
            Err(error) => {
                self.release(loaded);
                Err(error)
            }
        }
    }

    fn load_demos(
        &mut self,
        samples: &[Sample<'_>],
        loaded: &mut WaveSamples,
    ) -> Result<(), DeviceError> {
        let mut encoded = Encoded::default();
        // Samples of a task stand together, and have the same demonstrations.
        let mut places: Vec<usize> = Vec::with_capacity(samples.len());
        for (at, sample) in samples.iter().enumerate() {
            let is_known = at > 0 && std::ptr::eq(samples[at - 1].demos, sample.demos);
            let place = match is_known {
                true => places[at - 1],
                false => push_demos(&mut encoded, sample.demos),
            };
            places.push(place);
        }
        let bytes = |bytes: u64| bytes.max(16);
        loaded.demos = self.device.allocate(bytes(16 * samples.len() as u64))?;
        loaded.demo_payloads = self.device.allocate(bytes(encoded.payload_bytes()))?;
        let (mut values, mut words) = (Vec::new(), Vec::new());
        encoded.place(loaded.demo_payloads.address, &mut values, &mut words);
        let values: Vec<RawValue> = places.iter().map(|&place| values[place]).collect();
        let WaveBuffer { address, .. } = loaded.demos;
        self.device.upload(address, bytes_of(&values))?;
        self.device
            .upload(loaded.demo_payloads.address, bytes_of(&words))
    }
}

/// Adds the tuple of demonstrations, without those that have no output. Returns its number.
fn push_demos(encoded: &mut Encoded, demos: &[Pair]) -> usize {
    let pairs = || {
        let pairs = demos.iter();
        pairs.filter_map(|pair| Some([&pair.input, pair.output.as_ref()?]))
    };
    if !pairs().flatten().all(fits) {
        return encoded.push_raw(stopped(WaveReason::Size));
    }
    let mass = |grid: &Grid| 1 + grid.cells().len() / 4;
    let whole: usize = pairs().map(|pair| 1 + mass(pair[0]) + mass(pair[1])).sum();
    if whole >= MOST_MASS {
        return encoded.push_raw(stopped(WaveReason::Limit));
    }
    let grid = |grid: &Grid| OwnedValue::grid(grid.cells().chunks_exact(grid.width()));
    let pair = |pair: [&Grid; 2]| OwnedValue::Tuple(pair.map(grid).to_vec());
    let value = OwnedValue::Tuple(pairs().map(pair).collect());
    // Grids have the same form in all dialects.
    let number = encoded.push(Dialect::ArcDsl, &value);
    number.unwrap_or_else(|| encoded.push_raw(stopped(WaveReason::Odd)))
}
