//! Runs a plan: opens the domains of each level, and launches the calls of each level by op.

use std::ops::Range;

use batt_engine::Cancel;
use batt_engine::device::DeviceError;

use crate::device::{Buffer, WaveDevice};
use crate::engine::{WaveEngine, WaveSamples};
use crate::layout::{
    Ancestor, Arg, Charge, Heap, Node, Record, StepValues, Wave, bytes_of, bytes_of_mut,
};
use crate::ops::{kernels, special};
use crate::plan::{Call, Domain, DomainId, Inner, Operand, Plan, UNIT};
use crate::report::WaveReport;

/// The share of memory for values and domains; the rest is for payloads of unknown size.
const VALUE_SHARE: f64 = 0.5;

/// The most bytes that one chunk takes, and the least that an engine begins with.
const MOST_BYTES: u64 = 24 << 30;
const LEAST_BYTES: u64 = 32 << 20;

/// The bytes of facts that are sent to the device: nodes, constants, steps.
const FACT_BYTES: u64 = 64 << 20;

/// The buffers that an engine keeps.
#[derive(Default)]
pub(crate) struct Memory {
    /// Values, domains and the heap of the chunk that runs.
    arena: Buffer,
    /// Nodes, constants, steps and the heap's structure.
    facts: Buffer,
    records: Buffer,
}

impl Memory {
    pub fn release(&mut self, device: &mut dyn WaveDevice) {
        for buffer in [&mut self.arena, &mut self.facts, &mut self.records] {
            device.free(std::mem::take(buffer));
        }
    }
}

/// Makes a buffer at least this large. Its content is lost.
fn grow(device: &mut dyn WaveDevice, buffer: &mut Buffer, bytes: u64) -> Result<(), DeviceError> {
    if buffer.bytes < bytes {
        device.free(std::mem::take(buffer));
        *buffer = device.allocate(bytes)?;
    }
    Ok(())
}

/// Why a chunk did not end.
enum Failure {
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
struct Parts {
    next: u64,
    end: u64,
}

impl Parts {
    fn take(&mut self, bytes: u64) -> Result<u64, Failure> {
        let at = self.next.next_multiple_of(256);
        let next = at.checked_add(bytes).ok_or(Failure::Room)?;
        if next > self.end {
            return Err(Failure::Room);
        }
        self.next = next;
        Ok(at)
    }
}

/// A domain of the chunk that runs.
#[derive(Clone, Debug, Default)]
struct Live {
    items: u32,
    /// For an item of the parent, its first item here.
    starts: u64,
    elements: [u64; 2],
    /// For each domain around it, the numbers of items there.
    maps: Vec<(DomainId, u64)>,
    /// The number of items of each sample.
    counts: u64,
}

impl WaveEngine {
    /// Runs a plan on the samples of each part, a chunk after the other.
    pub(crate) fn execute(
        &mut self,
        plan: &Plan,
        samples: &WaveSamples,
        parts: &[Range<usize>],
        records: &mut [&mut [Record]],
        report: &mut WaveReport,
        cancel: &Cancel,
    ) -> Result<(), DeviceError> {
        let mut chunks: Vec<Vec<Range<usize>>> = vec![parts.to_vec()];
        let mut bytes = LEAST_BYTES;
        let room = self.device.memory().min(MOST_BYTES);
        while let Some(chunk) = chunks.pop() {
            if cancel.is_cancelled() {
                return Ok(());
            }
            let mut starts = Vec::with_capacity(parts.len());
            for (part, range) in parts.iter().zip(&chunk) {
                starts.push(range.start - part.start);
            }
            bytes = bytes.max(self.memory.arena.bytes);
            let mut run = Chunk {
                engine: self,
                plan,
                samples,
                ranges: &chunk,
                report,
                live: Vec::new(),
                values: Vec::new(),
            };
            match run.run(bytes, parts, &starts, records) {
                Ok(()) => {}
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

/// Divides the samples of a chunk in two; nothing if a chunk has a single sample.
fn halves(chunk: Vec<Range<usize>>) -> Vec<Vec<Range<usize>>> {
    let total: usize = chunk.iter().map(Range::len).sum();
    if total < 2 {
        return Vec::new();
    }
    let mut left = total / 2;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for range in chunk {
        let own = range.len().min(left);
        left -= own;
        let middle = range.start + own;
        first.push(range.start..middle);
        second.push(middle..range.end);
    }
    vec![second, first]
}

/// A chunk that runs.
struct Chunk<'e> {
    engine: &'e mut WaveEngine,
    plan: &'e Plan,
    samples: &'e WaveSamples,
    /// The samples of each part.
    ranges: &'e [Range<usize>],
    report: &'e mut WaveReport,
    /// The domains, by number.
    live: Vec<Live>,
    /// The address of the values of each call; 0 if it has not run.
    values: Vec<u64>,
}

/// Where things are.
struct Room {
    values: Parts,
    facts: Parts,
    heap: u64,
    constants: u64,
}

impl Chunk<'_> {
    fn run(
        &mut self,
        bytes: u64,
        parts: &[Range<usize>],
        starts: &[usize],
        records: &mut [&mut [Record]],
    ) -> Result<(), Failure> {
        let mut room = self.prepare(bytes)?;
        let plan = self.plan;
        let mut domains: Vec<DomainId> = (0..plan.domains.len() as DomainId)
            .filter(|&domain| matches!(plan.domains[domain as usize], Domain::Inner(_)))
            .collect();
        domains.sort_by_key(|&domain| std::cmp::Reverse(self.inner(domain).level));
        let mut at = 0;
        while at < plan.order.len() || !domains.is_empty() {
            let level = match plan.order.get(at) {
                Some(&call) => plan.calls[call as usize].level,
                None => u32::MAX,
            };
            let mut opened = Vec::new();
            while domains
                .last()
                .is_some_and(|&domain| self.inner(domain).level <= level)
            {
                opened.extend(domains.pop());
            }
            // A domain may be around another one that opens at the same level.
            while !opened.is_empty() {
                let (now, later): (Vec<DomainId>, Vec<DomainId>) = opened
                    .iter()
                    .partition(|&&domain| !opened.contains(&self.inner(domain).parent));
                self.open(&now, &mut room)?;
                opened = later;
            }
            let end = at
                + plan.order[at..]
                    .iter()
                    .take_while(|&&call| plan.calls[call as usize].level == level)
                    .count();
            self.launch_level(&plan.order[at..end], &mut room)?;
            at = end;
        }
        self.judge(&mut room, parts, starts, records)
    }

    fn inner(&self, domain: DomainId) -> &'_ Inner {
        match &self.plan.domains[domain as usize] {
            Domain::Inner(inner) => inner,
            _ => unreachable!("only inner domains are opened"),
        }
    }

    /// Divides the memory, and sends constants and the heap.
    fn prepare(&mut self, bytes: u64) -> Result<Room, Failure> {
        let WaveEngine { device, memory, .. } = &mut *self.engine;
        grow(device.as_mut(), &mut memory.arena, bytes)?;
        grow(device.as_mut(), &mut memory.facts, FACT_BYTES)?;
        let arena = memory.arena;
        let values = (arena.bytes as f64 * VALUE_SHARE) as u64 & !255;
        let heap = Heap {
            used: 0,
            size: arena.bytes - values,
            base: arena.address + values,
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
            constants: 0,
        };
        let constants = &self.plan.constants;
        room.heap = room.facts.take(size_of::<Heap>() as u64)?;
        room.constants = room.facts.take(constants.len() as u64 * 16)?;
        let payloads = room.facts.take(constants.payload_bytes())?;
        let (raw, words) = constants.placed(payloads);
        device.upload(room.heap, bytes_of(&[heap]))?;
        device.upload(room.constants, bytes_of(&raw))?;
        device.upload(payloads, bytes_of(&words))?;
        self.values = vec![0; self.plan.calls.len()];
        self.live = vec![Live::default(); self.plan.domains.len()];
        for (live, domain) in self.live.iter_mut().zip(&self.plan.domains) {
            live.items = match domain {
                Domain::Unit => 1,
                Domain::Samples(part) => self.ranges[*part].len() as u32,
                Domain::Inner(_) => 0,
            };
        }
        Ok(room)
    }

    /// Opens inner domains whose containers are there.
    fn open(&mut self, domains: &[DomainId], room: &mut Room) -> Result<(), Failure> {
        let some: Vec<DomainId> = domains
            .iter()
            .copied()
            .filter(|&domain| self.live[self.inner(domain).parent as usize].items > 0)
            .collect();
        if some.is_empty() {
            return Ok(());
        }
        let totals_at = room.values.take(8 * some.len() as u64)?;
        self.engine.device.clear(totals_at, 8 * some.len() as u64)?;
        let mut nodes = Vec::with_capacity(some.len());
        for (k, &domain) in some.iter().enumerate() {
            let inner = self.inner(domain).clone();
            let parent = inner.parent;
            let starts = room
                .values
                .take(4 * u64::from(self.live[parent as usize].items))?;
            self.live[domain as usize].starts = starts;
            let mut node = Node {
                out: starts,
                payload: totals_at + 8 * k as u64,
                items: self.live[parent as usize].items,
                extra: inner.spread as u32,
                ..Node::default()
            };
            self.containers(&inner, room, &mut node);
            nodes.push(node);
        }
        self.launch(special("count"), &nodes, room)?;
        let mut totals = vec![0_u64; some.len()];
        self.engine
            .device
            .download(totals_at, bytes_of_mut(&mut totals))?;
        let mut fill = Vec::with_capacity(some.len());
        for ((&domain, mut node), total) in some.iter().zip(nodes).zip(totals) {
            let items = u32::try_from(total).map_err(|_| Failure::Room)?;
            self.live[domain as usize].items = items;
            if items == 0 {
                continue;
            }
            let inner = self.inner(domain).clone();
            let mut elements = [0; 2];
            for (to, _) in elements.iter_mut().zip(&inner.containers) {
                *to = room.values.take(16 * u64::from(items))?;
            }
            let mut ancestors = Vec::with_capacity(inner.around.len());
            let mut maps = Vec::with_capacity(inner.around.len());
            for &outer in &inner.around {
                let to = room.values.take(4 * u64::from(items))?;
                let known = self.live[inner.parent as usize].maps.iter();
                let from = known.clone().find(|(known, _)| *known == outer);
                ancestors.push(Ancestor {
                    from: from.map_or(0, |(_, map)| *map),
                    to,
                });
                maps.push((outer, to));
            }
            let samples = inner.around[0];
            let counts = room
                .values
                .take(4 * u64::from(self.live[samples as usize].items))?;
            let count_bytes = 4 * u64::from(self.live[samples as usize].items);
            self.engine.device.clear(counts, count_bytes)?;
            let ancestors_at = room.facts.take(size_of_val(&*ancestors) as u64)?;
            self.engine
                .device
                .upload(ancestors_at, bytes_of(&ancestors))?;
            node.args[2] = Arg {
                values: self.live[domain as usize].starts,
                map: counts,
                each: 0,
                unused: ancestors.len() as u32,
            };
            node.args[3] = Arg {
                values: ancestors_at,
                map: ancestors[0].from,
                ..Arg::default()
            };
            node.out = elements[0];
            node.payload = elements[1];
            let live = &mut self.live[domain as usize];
            live.elements = elements;
            live.maps = maps;
            live.counts = counts;
            fill.push(node);
        }
        self.launch(special("spread"), &fill, room)
    }

    /// Sets the containers of a node of `count` or `spread`.
    fn containers(&self, inner: &Inner, room: &Room, node: &mut Node) {
        let first = self.arg(inner.containers[0], inner.parent, room);
        node.args[0] = first;
        node.args[1] = match inner.containers.get(1) {
            Some(second) => self.arg(*second, inner.parent, room),
            None => first,
        };
    }

    /// Returns where an operand of a call in a domain is.
    fn arg(&self, operand: Operand, domain: DomainId, room: &Room) -> Arg {
        let (values, own) = match operand {
            Operand::Input(samples) => {
                let first = match self.plan.domains[samples as usize] {
                    Domain::Samples(part) => self.ranges[part].start,
                    _ => 0,
                };
                (self.samples.values.address + 16 * first as u64, samples)
            }
            Operand::Call(call) => {
                let own = self.plan.calls[call as usize].domain;
                (self.values[call as usize], own)
            }
            Operand::Constant(number) => (room.constants + 16 * u64::from(number), UNIT),
            Operand::Element(own, which) => {
                (self.live[own as usize].elements[usize::from(which)], own)
            }
        };
        let maps = &self.live[domain as usize].maps;
        let map = maps.iter().find(|(outer, _)| *outer == own);
        Arg {
            values,
            map: map.map_or(0, |(_, map)| *map),
            each: u32::from(own != UNIT),
            unused: 0,
        }
    }

    /// Launches the calls of a level, which are sorted by kernel.
    fn launch_level(&mut self, calls: &[u32], room: &mut Room) -> Result<(), Failure> {
        let plan = self.plan;
        for same in
            calls.chunk_by(|a, b| plan.calls[*a as usize].kernel == plan.calls[*b as usize].kernel)
        {
            let kernel = plan.calls[same[0] as usize].kernel;
            let mut nodes = Vec::with_capacity(same.len());
            for &number in same {
                let call = &plan.calls[number as usize];
                if self.live[call.domain as usize].items > 0 {
                    nodes.push(self.node(number, call, room)?);
                }
            }
            self.launch(kernel, &nodes, room)?;
        }
        Ok(())
    }

    fn node(&mut self, number: u32, call: &Call, room: &mut Room) -> Result<Node, Failure> {
        let items = self.live[call.domain as usize].items;
        let out = room.values.take(16 * u64::from(items))?;
        self.values[number as usize] = out;
        // Inner values are many, and take from the heap what they need.
        let own = kernels()[call.kernel].room;
        let payload = match self.plan.domains[call.domain as usize] {
            Domain::Samples(_) if own > 0 => room.values.take(own * u64::from(items))?,
            _ => 0,
        };
        let mut node = Node {
            out,
            payload,
            items,
            extra: call.extra,
            ..Node::default()
        };
        match call.results {
            None => {
                for (to, from) in node.args.iter_mut().zip(&call.args) {
                    *to = self.arg(*from, call.domain, room);
                }
            }
            Some((domain, results)) => {
                node.args[0] = self.arg(call.args[0], call.domain, room);
                node.args[3] = match call.args.get(1) {
                    Some(second) => self.arg(*second, call.domain, room),
                    None => node.args[0],
                };
                node.args[1] = self.arg(results, domain, room);
                node.args[2].values = self.live[domain as usize].starts;
            }
        }
        Ok(node)
    }

    fn launch(&mut self, kernel: usize, nodes: &[Node], room: &mut Room) -> Result<(), Failure> {
        if nodes.is_empty() {
            return Ok(());
        }
        let items: u64 = nodes.iter().map(|node| u64::from(node.items)).sum();
        self.report.launches += 1;
        self.report.items += items;
        let nodes_at = room.facts.take(size_of_val(nodes) as u64)?;
        let WaveEngine {
            device, tables_at, ..
        } = &mut *self.engine;
        device.upload(nodes_at, bytes_of(nodes))?;
        let most = nodes.iter().map(|node| node.items).max().unwrap_or(0);
        let wave = Wave {
            nodes: nodes_at,
            heap: room.heap,
            tables: *tables_at,
            node_count: nodes.len() as u32,
            dialect: self.plan.dialect as u32,
        };
        device.launch(kernel, &wave, most)?;
        Ok(())
    }

    /// Returns what the elements of a domain cost; nothing if there are none.
    fn charge(&self, domain: DomainId, weight: u32) -> Option<Charge> {
        let outermost = self.inner(domain).around[0];
        let counts = self.live[domain as usize].counts;
        (counts != 0).then_some(Charge {
            counts,
            weight,
            each: u32::from(outermost != UNIT),
        })
    }

    /// Judges all runs, and copies the records.
    fn judge(
        &mut self,
        room: &mut Room,
        parts: &[Range<usize>],
        starts: &[usize],
        records: &mut [&mut [Record]],
    ) -> Result<(), Failure> {
        let plan = self.plan;
        let runs = |(programs, range): (&Vec<_>, &Range<usize>)| programs.len() * range.len();
        let total: usize = plan.parts.iter().zip(self.ranges).map(runs).sum();
        let WaveEngine { device, memory, .. } = &mut *self.engine;
        grow(
            device.as_mut(),
            &mut memory.records,
            (16 * total as u64).max(16),
        )?;
        let base = memory.records.address;
        let mut steps = Vec::new();
        let mut charges = Vec::new();
        for program in plan.parts.iter().flatten() {
            for &(step, operand) in &program.steps {
                let domain = match operand {
                    Operand::Call(call) => plan.calls[call as usize].domain,
                    _ => UNIT,
                };
                let values = self.arg(operand, domain, room);
                steps.push(StepValues {
                    values: values.values,
                    each: values.each,
                    step,
                });
            }
            for &(domain, weight) in &program.charges {
                charges.extend(self.charge(domain, weight));
            }
        }
        let steps_at = room.facts.take(size_of_val(&*steps) as u64)?;
        let charges_at = room.facts.take(size_of_val(&*charges) as u64)?;
        let device = &mut self.engine.device;
        device.upload(steps_at, bytes_of(&steps))?;
        device.upload(charges_at, bytes_of(&charges))?;
        let (mut step, mut charge, mut out) = (0_u64, 0_u64, base);
        let mut nodes = Vec::new();
        for (number, programs) in plan.parts.iter().enumerate() {
            let range = &self.ranges[number];
            let domain = plan.domains.iter();
            let samples = domain
                .clone()
                .position(|d| matches!(d, Domain::Samples(part) if *part == number));
            let samples = samples.map_or(UNIT, |at| at as DomainId);
            let expected = (self.samples.len() + range.start) as u64;
            for program in programs {
                let own_steps = program.steps.len();
                let own_charges = program.charges.iter();
                let own_charges = own_charges
                    .filter_map(|(domain, weight)| self.charge(*domain, *weight))
                    .count();
                if !range.is_empty() {
                    nodes.push(Node {
                        args: [
                            self.arg(program.result, samples, room),
                            Arg {
                                values: self.samples.values.address + 16 * expected,
                                each: 1,
                                ..Arg::default()
                            },
                            Arg {
                                values: steps_at + 16 * step,
                                each: own_steps as u32,
                                ..Arg::default()
                            },
                            Arg {
                                values: charges_at + 16 * charge,
                                each: own_charges as u32,
                                ..Arg::default()
                            },
                        ],
                        out,
                        payload: 0,
                        items: range.len() as u32,
                        extra: program.cost,
                    });
                }
                step += own_steps as u64;
                charge += own_charges as u64;
                out += 16 * range.len() as u64;
            }
        }
        self.launch(special("judge"), &nodes, room)?;
        let mut heap = [Heap::default()];
        self.engine
            .device
            .download(room.heap, bytes_of_mut(&mut heap))?;
        let samples: usize = self.ranges.iter().map(Range::len).sum();
        // With a single sample there is nothing left to divide.
        if heap[0].used > heap[0].size && samples > 1 {
            return Err(Failure::Room);
        }
        let mut from = base;
        for ((programs, range), (part, (start, records))) in
            (plan.parts.iter().zip(self.ranges)).zip(parts.iter().zip(starts.iter().zip(records)))
        {
            for program in programs {
                if range.is_empty() {
                    continue;
                }
                let to = program.number * part.len() + start;
                let to = &mut records[to..to + range.len()];
                self.engine.device.download(from, bytes_of_mut(to))?;
                from += 16 * range.len() as u64;
            }
        }
        Ok(())
    }
}
