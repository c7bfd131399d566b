//! Runs plans: opens the domains of each level, and launches the calls of each level by op.

use std::time::Instant;

use super::device::{WaveBuffer, WaveDevice, WaveLaunch};
use super::engine::{WaveBatch, WaveEngine, WaveSamples};
use super::layout::{
    Ancestor, Arg, Charge, Heap, Node, Record, StepValues, Wave, bytes_of, bytes_of_mut,
};
use super::plan::{
    Call, Domain, DomainId, Inner, Operand, PlannedProgram, SAMPLES, UNIT, WavePlan,
};
use super::records::{Segment, WaveRecords};
use super::report::WaveReport;
use super::values::PackedValues;
use crate::cancel::Cancel;
use crate::device::DeviceError;

/// The share of memory for values and domains; the rest is for payloads of unknown size.
const VALUE_SHARE: f64 = 0.5;

/// The most bytes that one chunk takes, and the least that an engine begins with.
const MOST_BYTES: u64 = 24 << 30;
const LEAST_BYTES: u64 = 32 << 20;

/// The bytes that a run of a search takes, about.
const RUN_BYTES: u64 = 6 << 10;

/// The unit in which the device counts the cost of calls in closures: `CLOSURE_UNIT` in `kernels.cuh`.
const CLOSURE_UNIT: u32 = 16;

/// The bytes of facts beside those counted: parts of them begin at multiples of 256 bytes.
const SPARE_FACT_BYTES: u64 = 16 << 20;

/// The buffers that an engine keeps.
#[derive(Default)]
pub(super) struct Memory {
    /// Values, domains and the heap of the chunk that runs.
    arena: WaveBuffer,
    /// Nodes, constants, steps and the heap's structure.
    facts: WaveBuffer,
    records: WaveBuffer,
    /// Records of an earlier call.
    pub spare: Vec<Record>,
}

impl Memory {
    pub fn release(&mut self, device: &mut dyn WaveDevice) {
        for buffer in [&mut self.arena, &mut self.facts, &mut self.records] {
            device.free(std::mem::take(buffer));
        }
    }
}

/// Makes a buffer at least this large. Its content is lost.
fn grow(
    device: &mut dyn WaveDevice,
    buffer: &mut WaveBuffer,
    bytes: u64,
) -> Result<(), DeviceError> {
    if buffer.bytes < bytes {
        device.free(std::mem::take(buffer));
        *buffer = device.allocate(bytes)?;
    }
    Ok(())
}

/// Why a chunk did not end.
pub(super) enum Failure {
    /// It needs more memory.
    Room,
    Device(DeviceError),
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Failure {
        Failure::Device(error)
    }
}

/// Divides a buffer into parts.
pub(super) struct Parts {
    pub next: u64,
    pub end: u64,
}

impl Parts {
    pub fn take(&mut self, bytes: u64) -> Result<u64, Failure> {
        let at = self.next.next_multiple_of(256);
        let next = at.checked_add(bytes).ok_or(Failure::Room)?;
        if next > self.end {
            return Err(Failure::Room);
        }
        self.next = next;
        Ok(at)
    }
}

/// A batch of the chunk that runs: a range of its samples.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub batch: usize,
    /// The first sample of the batch, and how many there are.
    pub first: usize,
    pub count: usize,
}

impl WaveEngine {
    /// Runs batches, a chunk of samples after the other.
    pub(super) fn execute(
        &mut self,
        batches: &[WaveBatch<'_>],
        samples: &WaveSamples,
        records: &mut WaveRecords,
        report: &mut WaveReport,
        most_cost: u32,
        cancel: &Cancel,
    ) -> Result<(), DeviceError> {
        let whole = batches.iter().enumerate().map(|(number, batch)| Slice {
            batch: number,
            first: 0,
            count: batch.count,
        });
        let is_work =
            |slice: &Slice| slice.count > 0 && !batches[slice.batch].plan.programs.is_empty();
        let mut chunks: Vec<Vec<Slice>> = vec![whole.filter(is_work).collect()];
        let mut room = self.device.memory().min(MOST_BYTES);
        let runs: usize = (batches.iter())
            .map(|batch| batch.plan.programs.len() * batch.count)
            .sum();
        let mut bytes = (runs as u64 * RUN_BYTES).clamp(LEAST_BYTES, room.max(LEAST_BYTES));
        while let Some(chunk) = chunks.pop() {
            if cancel.is_cancelled() {
                return Ok(());
            }
            if chunk.is_empty() {
                continue;
            }
            bytes = bytes.max(self.memory.arena.bytes);
            let run = Chunk {
                batches,
                samples,
                slices: &chunk,
                report,
                most_cost,
                live: Vec::new(),
                engine: self,
            };
            match run.run(bytes, records) {
                Ok(()) => {}
                // Other engines of the device may have taken the rest.
                Err(Failure::Device(DeviceError::Memory { .. })) if bytes > LEAST_BYTES => {
                    room = (bytes / 4).max(LEAST_BYTES);
                    bytes = room;
                    chunks.push(chunk);
                }
                Err(Failure::Device(error)) => return Err(error),
                Err(Failure::Room) if bytes < room => {
                    bytes = (bytes * 4).min(room);
                    chunks.push(chunk);
                }
                Err(Failure::Room) => chunks.extend(halves(chunk)),
            }
        }
        Ok(())
    }
}

/// Returns the bytes of facts that a plan takes at most, about.
fn fact_bytes(plan: &WavePlan) -> usize {
    let of_program = |program: &PlannedProgram| {
        size_of::<Node>()
            + program.steps.len() * size_of::<StepValues>()
            + (program.charges.len() + program.inner.len()) * size_of::<Charge>()
    };
    let programs: usize = plan.programs.iter().map(of_program).sum();
    let domains = plan.domains.len() * (2 * size_of::<Node>() + 4 * size_of::<Ancestor>());
    let constants = 16 * plan.constants.len() + plan.constants.payload_bytes() as usize;
    programs + domains + constants + plan.calls.len() * size_of::<Node>()
}

/// Divides the samples of a chunk in two; nothing if there is a single one.
fn halves(chunk: Vec<Slice>) -> Vec<Vec<Slice>> {
    let total: usize = chunk.iter().map(|slice| slice.count).sum();
    if total < 2 {
        return Vec::new();
    }
    let mut left = total / 2;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for slice in chunk {
        let own = slice.count.min(left);
        left -= own;
        if own > 0 {
            first.push(Slice {
                count: own,
                ..slice
            });
        }
        if own < slice.count {
            second.push(Slice {
                first: slice.first + own,
                count: slice.count - own,
                ..slice
            });
        }
    }
    vec![second, first]
}

/// A domain of the chunk that runs.
#[derive(Clone, Debug, Default)]
struct LiveDomain {
    items: u32,
    /// For an item of the parent, its first item here.
    starts: u64,
    elements: [u64; 2],
    /// For each domain around it, the numbers of items there.
    maps: Vec<(DomainId, u64)>,
    /// The number of items of each sample.
    counts: u64,
}

/// A plan of the chunk that runs.
#[derive(Clone, Debug, Default)]
struct Live {
    domains: Vec<LiveDomain>,
    /// The address of the values of each call; 0 if it has not run.
    values: Vec<u64>,
    /// The address of the costs of each call in a closure: one a sample.
    costs: Vec<u64>,
    /// The address of the input grids of the samples, and of the expected ones.
    inputs: u64,
    expected: u64,
    /// The address of the demonstrations of the samples, if they are loaded.
    demos: u64,
    constants: u64,
    /// The calls that have run, and the domains that have been opened.
    done: usize,
    opened: usize,
}

/// A chunk that runs.
pub(super) struct Chunk<'e, 'p> {
    batches: &'e [WaveBatch<'p>],
    samples: &'e WaveSamples,
    pub slices: &'e [Slice],
    report: &'e mut WaveReport,
    most_cost: u32,
    /// What is there of each slice.
    live: Vec<Live>,
    pub engine: &'e mut WaveEngine,
}

/// The memory of a chunk.
pub(super) struct Room {
    pub values: Parts,
    pub facts: Parts,
    heap: u64,
}

impl<'p> Chunk<'_, 'p> {
    fn run(mut self, bytes: u64, records: &mut WaveRecords) -> Result<(), Failure> {
        let mut room = self.prepare(bytes)?;
        let mut waves: Vec<Vec<Node>> = vec![Vec::new(); self.engine.table().kernels().len()];
        while let Some(level) = self.next_level() {
            self.open_level(level, &mut room)?;
            for slice in 0..self.slices.len() {
                self.add_calls(slice, level, &mut waves, &mut room)?;
            }
            let launches: Vec<(usize, &[Node])> = (waves.iter().enumerate())
                .map(|(kernel, nodes)| (kernel, nodes.as_slice()))
                .collect();
            self.launch(&launches, &mut room)?;
            waves.iter_mut().for_each(Vec::clear);
        }
        self.judge(&mut room, records)
    }

    pub fn batch(&self, slice: usize) -> WaveBatch<'p> {
        self.batches[self.slices[slice].batch]
    }

    fn inner(&self, slice: usize, domain: DomainId) -> &'p Inner {
        match &self.batch(slice).plan.domains[domain as usize] {
            Domain::Inner(inner) => inner,
            _ => unreachable!("only inner domains are opened"),
        }
    }

    /// Returns the lowest level at which something is left to do.
    fn next_level(&self) -> Option<u32> {
        let of_slice = |(slice, live): (usize, &Live)| {
            let plan = self.batch(slice).plan;
            let call = plan
                .order
                .get(live.done)
                .map(|&call| plan.calls[call as usize].level);
            let domain = plan
                .opening
                .get(live.opened)
                .map(|&domain| self.inner(slice, domain).level);
            call.into_iter().chain(domain).min()
        };
        self.live.iter().enumerate().filter_map(of_slice).min()
    }

    /// Divides the memory, and sends constants and the heap.
    fn prepare(&mut self, bytes: u64) -> Result<Room, Failure> {
        let WaveEngine { device, memory, .. } = &mut *self.engine;
        grow(device.as_mut(), &mut memory.arena, bytes)?;
        let facts: usize = (self.slices.iter())
            .map(|slice| fact_bytes(self.batches[slice.batch].plan))
            .sum();
        grow(
            device.as_mut(),
            &mut memory.facts,
            facts as u64 + SPARE_FACT_BYTES,
        )?;
        let arena = memory.arena;
        let values = (arena.bytes as f64 * VALUE_SHARE) as u64 & !255;
        let heap = Heap {
            size: arena.bytes - values,
            base: arena.address + values,
            ..Heap::default()
        };
        let mut room = Room {
            values: Parts {
                next: arena.address,
                end: arena.address + values,
            },
            facts: Parts {
                next: memory.facts.address,
                end: memory.facts.address + memory.facts.bytes,
            },
            heap: 0,
        };
        room.heap = room.facts.take(size_of::<Heap>() as u64)?;
        device.upload(room.heap, bytes_of(&[heap]))?;
        let (mut raw, mut words) = (Vec::new(), Vec::new());
        let constants = |slice: &Slice| &self.batches[slice.batch].plan.constants;
        let count: usize = self.slices.iter().map(|slice| constants(slice).len()).sum();
        let payload_bytes: u64 = self
            .slices
            .iter()
            .map(|slice| constants(slice).payload_bytes())
            .sum();
        let constants_at = room.facts.take(16 * count as u64)?;
        let payloads_at = room.facts.take(payload_bytes)?;
        for slice in self.slices {
            let WaveBatch { plan, first, .. } = self.batches[slice.batch];
            let mut live = Live {
                domains: vec![LiveDomain::default(); plan.domains.len()],
                values: vec![0; plan.calls.len()],
                costs: vec![0; plan.calls.len()],
                inputs: self.samples.values.address + 16 * (first + slice.first) as u64,
                constants: constants_at + 16 * raw.len() as u64,
                ..Live::default()
            };
            live.expected = live.inputs + 16 * self.samples.len() as u64;
            live.demos = self.samples.demos.address + 16 * (first + slice.first) as u64;
            live.domains[UNIT as usize].items = 1;
            live.domains[SAMPLES as usize].items = slice.count as u32;
            plan.constants.place(payloads_at, &mut raw, &mut words);
            let inner =
                plan.calls
                    .iter()
                    .zip(&mut live.costs)
                    .filter_map(|(call, cost)| match &plan.domains[call.domain as usize] {
                        Domain::Inner(inner) => {
                            Some((cost, live.domains[inner.around[0] as usize].items))
                        }
                        _ => None,
                    });
            let mut bytes = 0;
            for (cost, items) in inner {
                *cost = bytes;
                bytes += 4 * u64::from(items);
            }
            if bytes > 0 {
                let costs_at = room.values.take(bytes)?;
                device.clear(costs_at, bytes)?;
                live.costs.iter_mut().for_each(|cost| *cost += costs_at);
            }
            self.live.push(live);
        }
        device.upload(constants_at, bytes_of(&raw))?;
        device.upload(payloads_at, bytes_of(&words))?;
        Ok(room)
    }

    /// Opens the domains of a level. A domain may be around another one of the same level, which is
    /// opened after it.
    fn open_level(&mut self, level: u32, room: &mut Room) -> Result<(), Failure> {
        loop {
            let mut now: Vec<(usize, DomainId)> = Vec::new();
            for slice in 0..self.slices.len() {
                let plan = self.batch(slice).plan;
                let start = now.len();
                while let Some(&domain) = plan.opening.get(self.live[slice].opened) {
                    let inner = self.inner(slice, domain);
                    let waits = now[start..]
                        .iter()
                        .any(|(_, open)| inner.around.contains(open));
                    if inner.level > level || waits {
                        break;
                    }
                    now.push((slice, domain));
                    self.live[slice].opened += 1;
                }
            }
            if now.is_empty() {
                return Ok(());
            }
            now.retain(|&(slice, domain)| {
                let parent = self.inner(slice, domain).parent;
                self.live[slice].domains[parent as usize].items > 0
            });
            if !now.is_empty() {
                self.open(&now, room)?;
            }
        }
    }

    /// Opens inner domains whose containers are there.
    fn open(&mut self, domains: &[(usize, DomainId)], room: &mut Room) -> Result<(), Failure> {
        let table = self.engine.table();
        let items_of = |run: &Chunk<'_, '_>, slice: usize, domain: DomainId| {
            u64::from(run.live[slice].domains[domain as usize].items)
        };
        // The number of items of each domain, then the numbers of items of each of its samples.
        let mut zeros = 8 * domains.len() as u64;
        let counts: Vec<u64> = (domains.iter())
            .map(|&(slice, domain)| {
                let at = zeros;
                zeros += 4 * items_of(self, slice, self.inner(slice, domain).around[0]);
                zeros = zeros.next_multiple_of(8);
                at
            })
            .collect();
        let totals_at = room.values.take(zeros)?;
        self.engine.device.clear(totals_at, zeros)?;
        let mut nodes = Vec::with_capacity(domains.len());
        for (k, (&(slice, domain), counts)) in domains.iter().zip(counts).enumerate() {
            let inner = self.inner(slice, domain);
            let plan = self.batch(slice).plan;
            let items = items_of(self, slice, inner.parent);
            let starts = room.values.take(4 * items)?;
            let live = &mut self.live[slice].domains[domain as usize];
            live.starts = starts;
            live.counts = totals_at + counts;
            let counts = live.counts;
            let first = self.arg(slice, inner.containers[0], inner.parent);
            let second = inner.containers.get(1);
            let second = second.map_or(first, |second| self.arg(slice, *second, inner.parent));
            let maps = &self.live[slice].domains[inner.parent as usize].maps;
            let to_samples = maps.iter().find(|(outer, _)| *outer == inner.around[0]);
            nodes.push(Node {
                args: [
                    first,
                    second,
                    Arg {
                        map: counts,
                        unused: plan.most_items[domain as usize].min(self.engine.most_items),
                        ..Arg::default()
                    },
                    Arg {
                        map: to_samples.map_or(0, |(_, map)| *map),
                        ..Arg::default()
                    },
                ],
                out: starts,
                payload: totals_at + 8 * k as u64,
                items: items as u32,
                extra: inner.spread as u32,
                dialect: plan.dialect as u32,
                ..Node::default()
            });
        }
        self.launch(&[(table.special("count"), &nodes)], room)?;
        let mut totals = vec![0_u64; domains.len()];
        self.engine
            .device
            .download(totals_at, bytes_of_mut(&mut totals))?;
        let mut fill = Vec::with_capacity(domains.len());
        let mut ancestors: Vec<Ancestor> = Vec::new();
        for ((&(slice, domain), mut node), total) in domains.iter().zip(nodes).zip(totals) {
            let items = u32::try_from(total).map_err(|_| Failure::Room)?;
            self.live[slice].domains[domain as usize].items = items;
            if items == 0 {
                continue;
            }
            let inner = self.inner(slice, domain);
            let mut elements = [0; 2];
            for (to, _) in elements.iter_mut().zip(&inner.containers) {
                *to = room.values.take(16 * u64::from(items))?;
            }
            let mut maps = Vec::with_capacity(inner.around.len());
            let before = ancestors.len();
            for &outer in &inner.around {
                let to = room.values.take(4 * u64::from(items))?;
                let known = &self.live[slice].domains[inner.parent as usize].maps;
                let from = known.iter().find(|(known, _)| *known == outer);
                ancestors.push(Ancestor {
                    from: from.map_or(0, |(_, map)| *map),
                    to,
                });
                maps.push((outer, to));
            }
            let live = &mut self.live[slice].domains[domain as usize];
            node.args[2] = Arg {
                values: live.starts,
                map: 0,
                each: 0,
                unused: inner.around.len() as u32,
            };
            node.args[3] = Arg {
                values: 16 * before as u64,
                ..Arg::default()
            };
            node.out = elements[0];
            node.payload = elements[1];
            live.elements = elements;
            live.maps = maps;
            fill.push(node);
        }
        let ancestors_at = room.facts.take(size_of_val(&*ancestors) as u64)?;
        self.engine
            .device
            .upload(ancestors_at, bytes_of(&ancestors))?;
        for node in &mut fill {
            node.args[3].values += ancestors_at;
        }
        self.launch(&[(table.special("spread"), &fill)], room)
    }

    /// Returns where an operand of a call in a domain is.
    pub fn arg(&self, slice: usize, operand: Operand, domain: DomainId) -> Arg {
        let live = &self.live[slice];
        let (values, own) = match operand {
            Operand::Input => (live.inputs, SAMPLES),
            Operand::Demos => (live.demos, SAMPLES),
            Operand::Expected => (live.expected, SAMPLES),
            Operand::Call(call) => {
                let own = self.batch(slice).plan.calls[call as usize].domain;
                (live.values[call as usize], own)
            }
            Operand::Constant(number) => (live.constants + 16 * u64::from(number), UNIT),
            Operand::Element(own, which) => {
                (live.domains[own as usize].elements[usize::from(which)], own)
            }
        };
        let maps = &live.domains[domain as usize].maps;
        let map = maps.iter().find(|(outer, _)| *outer == own);
        Arg {
            values,
            map: map.map_or(0, |(_, map)| *map),
            each: u32::from(own != UNIT),
            unused: 0,
        }
    }

    /// Adds the calls of a level to the waves of their kernels.
    fn add_calls(
        &mut self,
        slice: usize,
        level: u32,
        waves: &mut [Vec<Node>],
        room: &mut Room,
    ) -> Result<(), Failure> {
        let plan = self.batch(slice).plan;
        while let Some(&number) = plan.order.get(self.live[slice].done) {
            let call = &plan.calls[number as usize];
            if call.level > level {
                break;
            }
            self.live[slice].done += 1;
            if self.live[slice].domains[call.domain as usize].items > 0 {
                let node = self.node(slice, number, call, room)?;
                waves[call.kernel].push(node);
            }
        }
        Ok(())
    }

    fn node(
        &mut self,
        slice: usize,
        number: u32,
        call: &Call,
        room: &mut Room,
    ) -> Result<Node, Failure> {
        let plan = self.batch(slice).plan;
        let items = self.live[slice].domains[call.domain as usize].items;
        let out = room.values.take(16 * u64::from(items))?;
        self.live[slice].values[number as usize] = out;
        // Inner values are many, and take from the heap what they need.
        let own = self.engine.table().kernels()[call.kernel].room;
        let payload = match call.domain == SAMPLES && own > 0 {
            true => room.values.take(own * u64::from(items))?,
            false => 0,
        };
        let mut node = Node {
            out,
            payload,
            items,
            extra: call.extra,
            dialect: plan.dialect as u32,
            ..Node::default()
        };
        if let Domain::Inner(inner) = &plan.domains[call.domain as usize] {
            let live = &self.live[slice];
            let maps = &live.domains[call.domain as usize].maps;
            let owners = maps.iter().find(|(outer, _)| *outer == inner.around[0]);
            node.costs = live.costs[number as usize];
            node.owners = owners.map_or(0, |(_, map)| *map);
        }
        match call.results {
            None => {
                for (to, from) in node.args.iter_mut().zip(&call.args) {
                    *to = self.arg(slice, *from, call.domain);
                }
            }
            Some((domain, results)) => {
                node.args[0] = self.arg(slice, call.args[0], call.domain);
                let second = call.args.get(1);
                let second = second.map(|second| self.arg(slice, *second, call.domain));
                node.args[3] = second.unwrap_or(node.args[0]);
                node.args[1] = self.arg(slice, results, domain);
                node.args[2].values = self.live[slice].domains[domain as usize].starts;
            }
        }
        Ok(node)
    }

    /// Launches kernels, each for some nodes. No node depends on another one.
    pub fn launch(&mut self, waves: &[(usize, &[Node])], room: &mut Room) -> Result<(), Failure> {
        let waves = || waves.iter().filter(|(_, nodes)| !nodes.is_empty());
        let all: Vec<Node> = waves().flat_map(|(_, nodes)| *nodes).copied().collect();
        if all.is_empty() {
            return Ok(());
        }
        let mut nodes_at = room.facts.take(size_of_val(&*all) as u64)?;
        let WaveEngine {
            device,
            tables_at,
            profiled,
            ..
        } = &mut *self.engine;
        device.upload(nodes_at, bytes_of(&all))?;
        let mut launches = Vec::new();
        for &(kernel, nodes) in waves() {
            let items: u64 = nodes.iter().map(|node| u64::from(node.items)).sum();
            self.report.launches += 1;
            self.report.items += items;
            launches.push(WaveLaunch {
                kernel,
                wave: Wave {
                    nodes: nodes_at,
                    heap: room.heap,
                    tables: *tables_at,
                    node_count: nodes.len() as u32,
                    most_cost: self.most_cost,
                },
                items: nodes.iter().map(|node| node.items).max().unwrap_or(0),
            });
            nodes_at += size_of_val(nodes) as u64;
            if *profiled {
                let started = Instant::now();
                device.launch(&launches)?;
                launches.clear();
                // Waits for the kernel.
                device.download(room.heap, &mut [0; 8])?;
                self.report
                    .count(kernel, nodes.len(), items, started.elapsed());
            }
        }
        Ok(device.launch(&launches)?)
    }

    /// Returns what the elements of a domain cost; nothing if there are none.
    fn charge(&self, slice: usize, domain: DomainId, weight: u32) -> Option<Charge> {
        let outermost = self.inner(slice, domain).around[0];
        let counts = self.live[slice].domains[domain as usize].counts;
        (counts != 0).then_some(Charge {
            counts,
            weight,
            each: u32::from(outermost != UNIT),
        })
    }

    /// Judges all runs, and copies the records.
    fn judge(&mut self, room: &mut Room, records: &mut WaveRecords) -> Result<(), Failure> {
        let (mut steps, mut charges, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        let mut segments = Vec::with_capacity(self.slices.len());
        let (mut total, mut values) = (0, 0);
        for (slice, part) in self.slices.iter().enumerate() {
            let plan = self.batch(slice).plan;
            segments.push(Segment {
                batch: part.batch,
                first: part.first,
                count: part.count,
                start: records.records.len() + total,
                chunk: records.packed.len(),
                values,
            });
            values += plan.values.len() * part.count;
            for program in &plan.programs {
                let (first_step, first_charge) = (steps.len(), charges.len());
                steps.extend(program.steps.iter().map(|&(step, operand)| {
                    let values = self.arg(slice, operand, SAMPLES);
                    StepValues {
                        values: values.values,
                        each: values.each,
                        step,
                    }
                }));
                let charge =
                    |(domain, weight): &(DomainId, u32)| self.charge(slice, *domain, *weight);
                charges.extend(program.charges.iter().filter_map(charge));
                charges.extend(program.inner.iter().map(|&call| {
                    let inner = self.inner(slice, plan.calls[call as usize].domain);
                    Charge {
                        counts: self.live[slice].costs[call as usize],
                        weight: CLOSURE_UNIT,
                        each: u32::from(inner.around[0] != UNIT),
                    }
                }));
                // Addresses are completed below.
                nodes.push(Node {
                    args: [
                        self.arg(slice, program.result, SAMPLES),
                        match program.expected {
                            Some(operand) => self.arg(slice, operand, SAMPLES),
                            None => Arg {
                                values: self.live[slice].expected,
                                each: 1,
                                ..Arg::default()
                            },
                        },
                        Arg {
                            values: 16 * first_step as u64,
                            each: (steps.len() - first_step) as u32,
                            ..Arg::default()
                        },
                        Arg {
                            values: 16 * first_charge as u64,
                            each: (charges.len() - first_charge) as u32,
                            ..Arg::default()
                        },
                    ],
                    out: 16 * total as u64,
                    payload: 0,
                    items: part.count as u32,
                    extra: program.cost,
                    dialect: plan.dialect as u32,
                    ..Node::default()
                });
                total += part.count;
            }
        }
        let steps_at = room.facts.take(size_of_val(&*steps) as u64)?;
        let charges_at = room.facts.take(size_of_val(&*charges) as u64)?;
        let WaveEngine { device, memory, .. } = &mut *self.engine;
        grow(
            device.as_mut(),
            &mut memory.records,
            (16 * total as u64).max(16),
        )?;
        let base = memory.records.address;
        device.upload(steps_at, bytes_of(&steps))?;
        device.upload(charges_at, bytes_of(&charges))?;
        for node in &mut nodes {
            node.args[2].values += steps_at;
            node.args[3].values += charges_at;
            node.out += base;
        }
        let judge = self.engine.table().special("judge");
        self.launch(&[(judge, &nodes)], room)?;
        let packing = self.pack(room)?;
        let mut heap = [Heap::default()];
        self.engine
            .device
            .download(room.heap, bytes_of_mut(&mut heap))?;
        let samples: usize = self.slices.iter().map(|slice| slice.count).sum();
        // With a single sample there is nothing left to divide.
        if heap[0].used > heap[0].size && samples > 1 {
            return Err(Failure::Room);
        }
        let packed = match &packing {
            Some(packing) => self.unpack(packing, samples)?,
            None => PackedValues::default(),
        };
        for (sum, left) in self.report.left.iter_mut().zip(heap[0].left) {
            *sum += left;
        }
        let start = records.records.len();
        records.records.resize(start + total, Record::default());
        let new = &mut records.records[start..];
        if let Err(error) = self.engine.device.download(base, bytes_of_mut(new)) {
            records.records.truncate(start);
            return Err(error.into());
        }
        records.packed.push(packed);
        for segment in segments {
            records.segments[segment.batch].push(segment);
        }
        Ok(())
    }
}
