//! Runs programs as waves over samples that stay on the device.

use std::collections::HashMap;
use std::ops::Range;

use batt_arc::Grid;
use batt_dsl::{Dialect, OpId, OwnedValue};
use batt_engine::device::DeviceError;
use batt_engine::{Cancel, Sample};
use batt_lang::Program;
use batt_lang::graph::Graph;

use crate::closure::Func;
use crate::device::{Buffer, WaveDevice};
use crate::execute::Memory;
use crate::layout::{Kind, RawValue, Record, bytes_of};
use crate::plan::{Plan, Planner};
use crate::report::{Reason, WaveReport};
use crate::wire::GRID_WORDS;

/// Grids of samples are at most this high and wide. The ranks of larger ones are not on the device.
const SIDE: usize = 30;

/// Samples on a device.
pub struct WaveSamples {
    /// The input grids, then the expected grids, as values.
    pub(crate) values: Buffer,
    payloads: Buffer,
    count: usize,
}

impl WaveSamples {
    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// The engine: a device with its resident tables and buffers.
pub struct WaveEngine {
    pub(crate) device: Box<dyn WaveDevice>,
    /// The ranks, and the structure that says where they are.
    tables: Buffer,
    pub(crate) tables_at: u64,
    pub(crate) memory: Memory,
}

/// Programs with the samples that they run on.
#[derive(Clone, Copy)]
pub struct WavePart<'p> {
    /// The programs.
    pub programs: &'p [&'p Program],
    /// The number of the first sample.
    pub first: usize,
    /// The number of samples.
    pub count: usize,
}

/// The ends of the runs of a part: that of program `p` on its sample `s` is record
/// `p * samples + s`.
pub struct WaveRecords {
    records: Vec<Record>,
    samples: usize,
}

/// How a run ended on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveEnd {
    /// With a value.
    Value {
        /// The verdict, coded as in `judge.cuh`.
        verdict: u32,
        /// CPython's hash of the value.
        hash: u64,
    },
    /// With a fault, by its place in [`batt_dsl::Fault::ALL`], at a step.
    Fault {
        /// The number of the fault.
        fault: u8,
        /// The step.
        step: u32,
    },
    /// The CPU must run it.
    Left(Reason),
}

impl WaveRecords {
    /// Returns how a program ended on a sample.
    pub fn end(&self, program: usize, sample: usize) -> WaveEnd {
        self.records[program * self.samples + sample].end()
    }
}

impl Record {
    pub(crate) fn left(reason: Reason) -> Record {
        Record {
            end: 2,
            which: reason as u8,
            ..Record::default()
        }
    }

    fn end(&self) -> WaveEnd {
        match self.end {
            0 => WaveEnd::Value {
                verdict: self.detail,
                hash: self.hash,
            },
            1 => WaveEnd::Fault {
                fault: self.which,
                step: self.detail,
            },
            _ => {
                let known = Reason::ALL.get(usize::from(self.which)).copied();
                WaveEnd::Left(known.unwrap_or(Reason::Device))
            }
        }
    }
}

impl WaveEngine {
    /// Opens an engine on a device.
    pub fn new(mut device: Box<dyn WaveDevice>) -> Result<WaveEngine, DeviceError> {
        let ranks = ranks();
        let tables = device.allocate(size_of_val(&*ranks) as u64 + 256)?;
        let ranks_at = tables.address + 256;
        device.upload(ranks_at, bytes_of(&ranks))?;
        device.upload(tables.address, bytes_of(&[ranks_at]))?;
        Ok(WaveEngine {
            device,
            tables,
            tables_at: tables.address,
            memory: Memory::default(),
        })
    }

    /// Returns the name of the device.
    pub fn name(&self) -> String {
        self.device.name()
    }

    /// Copies samples to the device.
    pub fn load(&mut self, samples: &[Sample<'_>]) -> Result<WaveSamples, DeviceError> {
        let count = samples.len();
        let values = self.device.allocate((32 * count as u64).max(16))?;
        let bytes = (8 * GRID_WORDS * count) as u64;
        let payloads = match self.device.allocate(bytes.max(16)) {
            Ok(payloads) => payloads,
            Err(error) => {
                self.device.free(values);
                return Err(error);
            }
        };
        let mut words = Vec::with_capacity(2 * GRID_WORDS * count);
        let mut raw = Vec::with_capacity(2 * count);
        let inputs = samples.iter().map(|sample| Some(sample.input));
        let expected = samples.iter().map(|sample| sample.expected);
        for grid in inputs.chain(expected) {
            let address = payloads.address + words.len() as u64 * 4;
            raw.push(grid.map_or_else(no_grid, |grid| grid_value(grid, address)));
            pack(grid, &mut words);
        }
        let loaded = WaveSamples {
            values,
            payloads,
            count,
        };
        let copied = (self.device.upload(values.address, bytes_of(&raw)))
            .and_then(|()| self.device.upload(payloads.address, bytes_of(&words)));
        match copied {
            Ok(()) => Ok(loaded),
            Err(error) => {
                self.release(loaded);
                Err(error)
            }
        }
    }

    /// Frees the memory of samples.
    pub fn release(&mut self, samples: WaveSamples) {
        self.device.free(samples.values);
        self.device.free(samples.payloads);
    }

    /// Runs every program on every sample. Runs that the device does not finish are records that say
    /// why.
    pub fn run(
        &mut self,
        programs: &[&Program],
        samples: &WaveSamples,
        cancel: &Cancel,
    ) -> (WaveRecords, WaveReport) {
        let part = WavePart {
            programs,
            first: 0,
            count: samples.count,
        };
        let (mut records, report) = self.run_parts(&[part], samples, cancel);
        (records.remove(0), report)
    }

    /// Runs the programs of each part on its samples.
    ///
    /// # Panics
    ///
    /// If there are no such samples.
    pub fn run_parts(
        &mut self,
        parts: &[WavePart<'_>],
        samples: &WaveSamples,
        cancel: &Cancel,
    ) -> (Vec<WaveRecords>, WaveReport) {
        let mut report = WaveReport::default();
        let mut all: Vec<WaveRecords> = (parts.iter())
            .map(|part| WaveRecords {
                records: vec![Record::left(Reason::Missing); part.programs.len() * part.count],
                samples: part.count,
            })
            .collect();
        for dialect in [Dialect::ArcDsl, Dialect::ReArc, Dialect::Tokpidjin] {
            let is_own = |program: &Program| program.dialect() == dialect;
            if !parts
                .iter()
                .any(|part| part.programs.iter().any(|p| is_own(p)))
            {
                continue;
            }
            let plan = plan_of(dialect, parts);
            report.nodes += plan.calls.len();
            let ranges: Vec<Range<usize>> = (parts.iter())
                .map(|part| part.first..part.first + part.count)
                .collect();
            let mut records: Vec<&mut [Record]> =
                all.iter_mut().map(|r| &mut r.records[..]).collect();
            if let Err(error) =
                self.execute(&plan, samples, &ranges, &mut records, &mut report, cancel)
            {
                report.errors.push(error.to_string());
            }
        }
        for record in all.iter().flat_map(|records| &records.records) {
            match record.end() {
                WaveEnd::Left(reason) => report.left[reason as usize] += 1,
                _ => report.finished += 1,
            }
        }
        (all, report)
    }
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub enum WaveArg {
    /// A value.
    Value(OwnedValue),
    /// The value of a program without parameters, such as a function.
    Program(Program),
}

impl WaveEngine {
    /// Runs calls of primitives: `wrap` of the result of each, if it is given. A call that no plan can
    /// have ends with [`Reason::Missing`].
    pub fn call(
        &mut self,
        dialect: Dialect,
        calls: &[(OpId, Vec<WaveArg>)],
        wrap: Option<OpId>,
    ) -> Result<Vec<WaveEnd>, DeviceError> {
        let mut planner = Planner::new(dialect);
        let mut graph = Graph::new(dialect);
        let samples = planner.add_part();
        let planned = |planner: &mut Planner, op: &OpId, args: &[WaveArg]| {
            let mut values = Vec::with_capacity(args.len());
            for arg in args {
                values.push(match arg {
                    WaveArg::Value(value) => planner.constant(value)?,
                    WaveArg::Program(program) => {
                        let (_, result) = graph.add_steps(program)?;
                        planner.value(samples, &graph, result, &mut HashMap::new())?
                    }
                });
            }
            let value = planner.apply(&Func::Op(*op), &values)?;
            match wrap {
                Some(wrap) => planner.apply(&Func::Op(wrap), &[value]),
                None => Some(value),
            }
        };
        let mut planned = planned;
        for (number, (op, args)) in calls.iter().enumerate() {
            if let Some(value) = planned(&mut planner, op, args) {
                planner.add_value(number, &value);
            }
        }
        let plan = planner.finish();
        let grid = Grid::from_rows(&[[0]]).ok();
        let sample = grid.iter().map(|input| Sample {
            demos: &[],
            input,
            expected: None,
        });
        let samples = self.load(&sample.collect::<Vec<_>>())?;
        let mut records = vec![Record::left(Reason::Missing); calls.len()];
        let done = self.execute(
            &plan,
            &samples,
            &[0..1],
            &mut [&mut records],
            &mut WaveReport::default(),
            &Cancel::new(),
        );
        self.release(samples);
        done.map(|()| records.iter().map(Record::end).collect())
    }
}

/// Plans the programs of a dialect.
fn plan_of(dialect: Dialect, parts: &[WavePart<'_>]) -> Plan {
    let mut planner = Planner::new(dialect);
    let mut graph = Graph::new(dialect);
    for part in parts {
        let domain = planner.add_part();
        for (number, program) in part.programs.iter().enumerate() {
            if let Some((steps, result)) = graph.add_steps(program) {
                planner.add(domain, number, &graph, &steps, result);
            }
        }
    }
    planner.finish()
}

impl Drop for WaveEngine {
    fn drop(&mut self) {
        self.device.free(self.tables);
        self.memory.release(self.device.as_mut());
    }
}

/// The ranks of the cells of all grids of up to 30 x 30: see `ranks_of` in `order.cuh`.
fn ranks() -> Vec<u16> {
    let sizes = (1..=SIDE).flat_map(|height| (1..=SIDE).map(move |width| (height, width)));
    sizes
        .flat_map(|(height, width)| batt_dsl::grid_ranks(height, width))
        .map(|rank| rank as u16)
        .collect()
}

/// The value that stands for a missing grid.
fn no_grid() -> RawValue {
    RawValue {
        kind: Kind::None as u8,
        ..RawValue::default()
    }
}

fn fits(grid: &Grid) -> bool {
    grid.height() <= SIDE && grid.width() <= SIDE && grid.cells().iter().all(|&cell| cell < 16)
}

fn grid_value(grid: &Grid, address: u64) -> RawValue {
    match fits(grid) {
        true => RawValue {
            kind: Kind::Grid as u8,
            a: grid.height() as u8,
            b: grid.width() as u8,
            c: 0,
            len: 0,
            bits: address,
        },
        false => RawValue {
            kind: Kind::Stopped as u8,
            a: Reason::Size as u8,
            ..RawValue::default()
        },
    }
}

/// Appends the planes of a grid.
fn pack(grid: Option<&Grid>, words: &mut Vec<u32>) {
    let start = words.len();
    words.resize(start + GRID_WORDS, 0);
    let Some(grid) = grid.filter(|grid| fits(grid)) else {
        return;
    };
    for (row, cells) in grid.cells().chunks_exact(grid.width()).enumerate() {
        for (column, &cell) in cells.iter().enumerate() {
            for plane in 0..4 {
                words[start + 32 * plane + row] |= u32::from(cell >> plane & 1) << column;
            }
        }
    }
}
