//! The engine: a device with samples and buffers that stay there.

use batt_arc::Grid;
use batt_dsl::Limits;

use super::device::{WaveBuffer, WaveDevice, WaveLaunch};
use super::execute::Memory;
use super::layout::{Kind, Node, RawValue, Wave, bytes_of};
use super::plan::WavePlan;
use super::records::WaveRecords;
use super::report::{WaveReason, WaveReport};
use super::table::KernelTable;
use super::wire::GRID_WORDS;
use crate::cancel::Cancel;
use crate::device::DeviceError;
use crate::sample::Sample;

/// Grids of samples are at most this high and wide. The ranks of larger ones are not on the device.
const SIDE: usize = 30;

/// Samples on a device, until they are released.
#[derive(Clone, Copy, Debug)]
pub struct WaveSamples {
    /// The input grids, then the expected grids, as values.
    pub(super) values: WaveBuffer,
    pub(super) payloads: WaveBuffer,
    /// The demonstrations as values, and their payloads, if they are loaded.
    pub(super) demos: WaveBuffer,
    pub(super) demo_payloads: WaveBuffer,
    pub(super) count: usize,
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

/// Programs with the samples that they run on.
#[derive(Clone, Copy)]
pub struct WaveBatch<'p> {
    /// The programs.
    pub plan: &'p WavePlan,
    /// The number of the first sample.
    pub first: usize,
    /// The number of samples.
    pub count: usize,
}

/// The engine: a device with its resident tables and buffers.
pub struct WaveEngine {
    pub(super) device: Box<dyn WaveDevice>,
    /// The ranks, and the structure that says where they are.
    tables: WaveBuffer,
    pub(super) tables_at: u64,
    pub(super) memory: Memory,
    /// The samples that stay, with their id.
    resident: Option<(u64, WaveSamples)>,
    pub(super) profiled: bool,
    /// The most items of a sample in a domain.
    pub(super) most_items: u32,
}

impl WaveEngine {
    /// Opens an engine on a device.
    pub fn new(mut device: Box<dyn WaveDevice>) -> Result<WaveEngine, DeviceError> {
        let (tables, tables_at) = load_tables(device.as_mut())?;
        Ok(WaveEngine {
            device,
            tables,
            tables_at,
            memory: Memory::default(),
            resident: None,
            profiled: false,
            most_items: u32::MAX,
        })
    }

    /// Returns the name of the device.
    pub fn name(&self) -> String {
        self.device.name()
    }

    /// Returns the kernels that plans may use.
    pub fn table(&self) -> &'static KernelTable {
        self.device.table()
    }

    /// Sets whether reports have the time of each kernel. Each kernel then waits for the one before.
    pub fn profile(&mut self, on: bool) {
        self.profiled = on;
    }

    /// Sets how many elements a closure may have for one sample. Runs with more are left to the CPU, so
    /// that a few heavy programs do not take the memory of all.
    pub fn leave_larger_than(&mut self, most_items: u32) {
        self.most_items = most_items;
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
            demos: WaveBuffer::default(),
            demo_payloads: WaveBuffer::default(),
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

    /// Returns samples that stay on the device until others are kept. An id stands for the same
    /// samples each time.
    pub fn keep(&mut self, id: u64, samples: &[Sample<'_>]) -> Result<WaveSamples, DeviceError> {
        match self.resident {
            Some((known, resident)) if known == id => Ok(resident),
            _ => {
                if let Some((_, old)) = self.resident.take() {
                    self.release(old);
                }
                let loaded = self.load(samples)?;
                self.resident = Some((id, loaded));
                Ok(loaded)
            }
        }
    }

    /// Frees the memory of samples.
    pub fn release(&mut self, samples: WaveSamples) {
        self.device.free(samples.values);
        self.device.free(samples.payloads);
        self.device.free(samples.demos);
        self.device.free(samples.demo_payloads);
    }

    /// Runs the programs of each batch on its samples. Runs that the device does not finish have
    /// records that say why; so do all runs that an error or a cancellation leaves. A finished run
    /// ends within the limits on the CPU, too.
    ///
    /// # Panics
    ///
    /// If there are no such samples.
    pub fn run(
        &mut self,
        batches: &[WaveBatch<'_>],
        samples: &WaveSamples,
        limits: &Limits,
        cancel: &Cancel,
    ) -> (WaveRecords, WaveReport) {
        let mut report = WaveReport::default();
        let mut records = WaveRecords {
            records: std::mem::take(&mut self.memory.spare),
            segments: vec![Vec::new(); batches.len()],
            places: batches
                .iter()
                .map(|batch| batch.plan.places.clone())
                .collect(),
            packed: Vec::new(),
        };
        records.records.clear();
        let mut planned = 0;
        for batch in batches {
            assert!(
                batch.first + batch.count <= samples.count,
                "there are such samples"
            );
            assert!(
                !batch.plan.uses_demos || samples.demos.address != 0,
                "the demonstrations are loaded"
            );
            report.nodes += batch.plan.calls.len();
            let missing = batch.plan.len() - batch.plan.programs.len();
            report.left[WaveReason::Missing as usize] += (missing * batch.count) as u64;
            planned += batch.plan.programs.len() * batch.count;
        }
        let most_cost = most_cost(limits);
        let done = self.execute(
            batches,
            samples,
            &mut records,
            &mut report,
            most_cost,
            cancel,
        );
        if let Err(error) = done {
            report.errors.push(error.to_string());
        }
        let done = records.records.len();
        report.left[WaveReason::Device as usize] += (planned - done) as u64;
        let left: u64 = report.left.iter().sum();
        let all: usize = batches
            .iter()
            .map(|batch| batch.plan.len() * batch.count)
            .sum();
        report.finished = all as u64 - left;
        (records, report)
    }

    /// Takes records back when they have been read, for the memory of the next ones.
    pub fn reuse(&mut self, records: WaveRecords) {
        if records.records.capacity() > self.memory.spare.capacity() {
            self.memory.spare = records.records;
        }
    }
}

/// Returns the most that a run may cost. Costs stand for memory, too, as much of it as the default
/// limits have for so many steps.
fn most_cost(limits: &Limits) -> u32 {
    let default = Limits::default();
    let is_large = limits.size >= default.size && limits.memory >= default.memory;
    let steps = if is_large {
        limits.steps.min(default.steps)
    } else {
        0
    };
    u32::try_from(steps).unwrap_or(u32::MAX)
}

impl Drop for WaveEngine {
    fn drop(&mut self) {
        self.device.free(self.tables);
        if let Some((_, resident)) = self.resident.take() {
            self.release(resident);
        }
        self.memory.release(self.device.as_mut());
    }
}

/// The bytes of the table of neighbours: `Neighbors` in `replay.cuh`, for each cell and each of 8 cases.
const NEIGHBOR_BYTES: u64 = 16;
const NEIGHBORS: u32 = (SIDE * SIDE * 8) as u32;

/// Makes the tables that all calls use. Returns them, and where the structure is that says where each is.
fn load_tables(device: &mut dyn WaveDevice) -> Result<(WaveBuffer, u64), DeviceError> {
    let ranks = ranks();
    let neighbors_bytes = NEIGHBOR_BYTES * u64::from(NEIGHBORS);
    let bytes = 512 + neighbors_bytes + size_of_val(&*ranks) as u64;
    let tables = device.allocate(bytes)?;
    let at = tables.address;
    let (node_at, neighbors_at, ranks_at) = (at + 256, at + 512, at + 512 + neighbors_bytes);
    let node = Node {
        out: neighbors_at,
        items: NEIGHBORS,
        ..Node::default()
    };
    let launch = WaveLaunch {
        kernel: device.table().special("tables"),
        wave: Wave {
            nodes: node_at,
            tables: at,
            node_count: 1,
            ..Wave::default()
        },
        items: NEIGHBORS,
    };
    let made = (device.upload(ranks_at, bytes_of(&ranks)))
        .and_then(|()| device.upload(at, bytes_of(&[ranks_at, neighbors_at])))
        .and_then(|()| device.upload(node_at, bytes_of(&[node])))
        .and_then(|()| device.launch(&[launch]));
    match made {
        Ok(()) => Ok((tables, at)),
        Err(error) => {
            device.free(tables);
            Err(error)
        }
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

/// The value that stands for one that the device has no form for.
pub(super) fn stopped(reason: WaveReason) -> RawValue {
    RawValue {
        kind: Kind::Stopped as u8,
        a: reason as u8,
        ..RawValue::default()
    }
}

/// Returns whether the device has a form for a grid.
pub(super) fn fits(grid: &Grid) -> bool {
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
        false => stopped(WaveReason::Size),
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
