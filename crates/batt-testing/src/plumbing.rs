//! Checks of the host side of a device: transfers, cached blobs, growth, arenas, counters, full
//! output, and the time limit.
//!
//! The device runs a small kernel, `batt_cuda::source::PROBE`, instead of the VM. [`Model`] is the
//! same kernel in Rust. A device must return the results of the model.

use std::time::{Duration, Instant};

use batt_engine::device::{Batch, Device, DeviceError, Launched, Times};

/// The flag that keeps the probe busy for `fuel` ticks.
const BUSY: u32 = 1 << 31;

/// The outcome of one check.
#[derive(Clone, Debug)]
pub struct Check {
    /// The name of the check.
    pub name: &'static str,
    /// The problem, if there is one.
    pub problem: Option<String>,
    /// Measurements, for the report.
    pub detail: String,
    /// The time that the check took.
    pub time: Duration,
}

/// The blobs of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Blobs {
    programs: Vec<u32>,
    programs_id: u64,
    inputs: Vec<u32>,
    inputs_id: u64,
    jobs: Vec<u32>,
    output_words: usize,
    flags: u32,
    fuel: u64,
    arena_bytes: usize,
    counters: usize,
}

impl Blobs {
    /// Makes blobs with a number of jobs and a number of words, all different.
    fn new(jobs: usize, words: usize, id: u64) -> Blobs {
        let scatter = |n: usize| (n as u32).wrapping_mul(0x9e37_79b1);
        let salt = id as u32;
        let place = |n: usize| scatter(n) % words.max(1) as u32;
        Blobs {
            programs: (0..words).map(|n| scatter(n) ^ salt).collect(),
            programs_id: id,
            inputs: (0..words)
                .map(|n| scatter(n + 1).rotate_left(7) ^ salt)
                .collect(),
            inputs_id: id,
            jobs: (0..jobs)
                .flat_map(|n| [place(n), place(n + 7), scatter(n + 3), n as u32])
                .collect(),
            output_words: jobs * 2,
            flags: 0,
            fuel: 1000 + id,
            arena_bytes: 4096,
            counters: 3,
        }
    }

    pub fn batch(&self) -> Batch<'_> {
        Batch {
            programs: &self.programs,
            programs_id: self.programs_id,
            inputs: &self.inputs,
            inputs_id: self.inputs_id,
            jobs: &self.jobs,
            output_words: self.output_words,
            flags: self.flags,
            fuel: self.fuel,
            work: 0,
            arena_bytes: self.arena_bytes,
            counters: self.counters,
        }
    }
}

/// Returns a batch of ten jobs.
#[cfg(test)]
pub(crate) fn small_batch() -> Blobs {
    Blobs::new(10, 20, 1)
}

/// The probe kernel in Rust, without a device.
#[derive(Clone, Debug)]
pub struct Model {
    memory: u64,
    programs: Option<(u64, Vec<u32>)>,
    inputs: Option<(u64, Vec<u32>)>,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            memory: 1 << 30,
            programs: None,
            inputs: None,
        }
    }
}

impl Device for Model {
    fn name(&self) -> String {
        "the model of a device".to_owned()
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        if !batch.jobs.len().is_multiple_of(4) {
            return Err(DeviceError::Launch("jobs do not come out even".to_owned()));
        }
        let wanted = batch.arena_bytes as u64;
        if wanted > self.memory {
            return Err(DeviceError::Memory {
                wanted,
                free: self.memory,
            });
        }
        let mut counters = vec![0_u64; batch.counters];
        if batch.jobs.is_empty() {
            return Ok(Launched {
                counters,
                ..Launched::default()
            });
        }
        let (programs, up) = keep(&mut self.programs, batch.programs_id, batch.programs);
        let mut bytes_up = up;
        let id = batch.inputs_id;
        let (inputs, up) = keep(&mut self.inputs, id, batch.inputs);
        bytes_up += up + batch.jobs.len() as u64 * 4;
        let mut results = Vec::with_capacity(batch.jobs.len());
        let mut output = Vec::new();
        for (number, job) in batch.jobs.as_chunks::<4>().0.iter().enumerate() {
            let at = number * 2;
            let full = at + 2 > batch.output_words;
            if !full {
                output.extend(answer(programs, inputs, number, job));
            }
            results.extend([if full { 7 } else { 0 }, at as u32, 2, batch.fuel as u32]);
            if let Some(counter) = counters.get_mut(number % 3) {
                *counter += 1;
            }
        }
        if id == 0 {
            self.inputs = None;
        }
        Ok(Launched {
            results,
            output,
            counters,
            times: Times {
                bytes_up,
                launches: 1,
                ..Times::default()
            },
        })
    }
}

/// Returns the words that are now on the device, and the number of bytes sent.
fn keep<'a>(kept: &'a mut Option<(u64, Vec<u32>)>, id: u64, words: &[u32]) -> (&'a [u32], u64) {
    let known = matches!(kept, Some((known, there)) if *known == id && there.len() == words.len());
    if !known {
        *kept = None;
    }
    let (_, there) = kept.get_or_insert_with(|| (id, words.to_vec()));
    (there, if known { 0 } else { words.len() as u64 * 4 })
}

/// Returns the two words that a job writes.
fn answer(programs: &[u32], inputs: &[u32], number: usize, job: &[u32; 4]) -> [u32; 2] {
    let word = |blob: &[u32], at: u32| blob.get(at as usize).copied().unwrap_or(0);
    [
        word(programs, job[0]).wrapping_add(word(inputs, job[1])),
        (job[2] ^ number as u32).wrapping_add(job[3] & 63),
    ]
}

/// Returns the difference between the results and those of the probe, if there is one. Jobs may run
/// in any order, so each job is found by its result.
fn problem(batch: &Batch<'_>, launched: &Launched) -> Option<String> {
    let jobs = batch.jobs.as_chunks::<4>().0;
    let results = launched.results.as_chunks::<4>().0;
    if results.len() != jobs.len() || launched.results.len() != batch.jobs.len() {
        return Some(format!(
            "{} words of results for {} jobs",
            launched.results.len(),
            jobs.len()
        ));
    }
    let room = batch.output_words / 2;
    let mut finished = 0;
    let mut seen = vec![false; jobs.len()];
    for (number, (job, result)) in jobs.iter().zip(results).enumerate() {
        let [status, at, words, fuel] = *result;
        let slot = at as usize / 2;
        if words != 2 || fuel != batch.fuel as u32 {
            return Some(format!("job {number}: result {result:?}"));
        }
        // Jobs share the output, but each place belongs to one job.
        match seen.get_mut(slot) {
            Some(seen) if at.is_multiple_of(2) && !*seen => *seen = true,
            _ => return Some(format!("job {number}: output at {at}")),
        }
        if status == 7 && slot >= room {
            continue;
        }
        let wanted = answer(batch.programs, batch.inputs, number, job);
        let at = at as usize;
        let found = launched.output.get(at..at + 2);
        if status != 0 || found != Some(&wanted[..]) {
            return Some(format!(
                "job {number}: status {status}, {found:?} in place of {wanted:?}"
            ));
        }
        finished += 1;
    }
    let most = room.min(jobs.len());
    if finished != most || launched.output.len() != most * 2 {
        return Some(format!(
            "{finished} jobs finished with {} words of output, not {most}",
            launched.output.len()
        ));
    }
    let counted = |n: usize| (jobs.len() + 2 - n) as u64 / 3;
    let wanted: Vec<u64> = (0..batch.counters.min(3)).map(counted).collect();
    if launched.counters != wanted {
        return Some(format!("counters {:?}, not {wanted:?}", launched.counters));
    }
    None
}

/// Runs a batch and compares its results.
fn run(device: &mut dyn Device, blobs: &Blobs) -> Result<Launched, String> {
    let batch = blobs.batch();
    let launched = device.run(&batch).map_err(|error| error.to_string())?;
    match problem(&batch, &launched) {
        None => Ok(launched),
        Some(problem) => Err(problem),
    }
}

/// Runs all checks on a device with the probe kernel. The device remains usable.
pub fn check(device: &mut dyn Device) -> Vec<Check> {
    type Try = fn(&mut dyn Device) -> Result<String, String>;
    let list: [(&'static str, Try); 10] = [
        ("no jobs, no launch", no_jobs),
        ("a small batch", small),
        ("cached blobs", resident),
        ("batches that grow and shrink", growing),
        ("a large batch", large),
        ("full output", full_output),
        ("large arenas", few_arenas),
        ("too little memory", no_room),
        ("a malformed batch", no_job),
        ("many small batches", many),
    ];
    list.into_iter()
        .map(|(name, attempt)| {
            let start = Instant::now();
            let result = attempt(device);
            let (problem, detail) = match result {
                Ok(detail) => (None, detail),
                Err(problem) => (Some(problem), String::new()),
            };
            Check {
                name,
                problem,
                detail,
                time: start.elapsed(),
            }
        })
        .collect()
}

fn no_jobs(device: &mut dyn Device) -> Result<String, String> {
    let launched = run(device, &Blobs::new(0, 10, 2))?;
    match launched.times.launches {
        0 => Ok(String::new()),
        n => Err(format!("{n} launches")),
    }
}

fn small(device: &mut dyn Device) -> Result<String, String> {
    for jobs in [1, 3, 4, 5, 1000] {
        run(device, &Blobs::new(jobs, 100, 3))?;
    }
    // The second batch has no counters.
    let mut blobs = Blobs::new(10, 100, 3);
    blobs.counters = 0;
    run(device, &blobs)?;
    Ok(String::new())
}

/// A device receives a blob again only if its number changes.
fn resident(device: &mut dyn Device) -> Result<String, String> {
    let words = 100_000;
    let mut blobs = Blobs::new(100, words, 4);
    let jobs = blobs.jobs.len() as u64 * 4;
    let blob = words as u64 * 4;
    let expect = |launched: Launched, wanted: u64| match launched.times.bytes_up {
        found if found == wanted => Ok(()),
        found => Err(format!("{found} bytes were sent, not {wanted}")),
    };
    expect(run(device, &blobs)?, jobs + 2 * blob)?;
    expect(run(device, &blobs)?, jobs)?;
    blobs.programs = Blobs::new(1, words, 5).programs;
    blobs.programs_id = 5;
    expect(run(device, &blobs)?, jobs + blob)?;
    // Inputs with the number 0 are never kept.
    blobs.inputs_id = 0;
    for salt in [6, 7] {
        blobs.inputs = Blobs::new(1, words, salt).inputs;
        expect(run(device, &blobs)?, jobs + blob)?;
    }
    Ok(String::new())
}

fn growing(device: &mut dyn Device) -> Result<String, String> {
    for (number, jobs) in [1, 10, 100, 5000, 50, 20_000, 3].into_iter().enumerate() {
        let mut blobs = Blobs::new(jobs, jobs * 3, 10 + number as u64);
        blobs.arena_bytes = 1000 * (number + 1);
        run(device, &blobs)?;
    }
    Ok(String::new())
}

/// Transfers that exceed the pinned buffer.
fn large(device: &mut dyn Device) -> Result<String, String> {
    let words =
        usize::try_from(device.memory() / 16 / 4).map_or(30 << 20, |most| most.min(30 << 20));
    let blobs = Blobs::new(500_000.min(words), words, 20);
    let launched = run(device, &blobs)?;
    let rate = |bytes: u64, time: Duration| bytes as f64 / time.as_secs_f64().max(1e-9) / 1e9;
    let times = launched.times;
    Ok(format!(
        "up {:.1} GB/s, down {:.1} GB/s, kernel {:.2} ms",
        rate(times.bytes_up, times.upload),
        rate(times.bytes_down, times.download),
        times.kernel.as_secs_f64() * 1e3
    ))
}

fn full_output(device: &mut dyn Device) -> Result<String, String> {
    for words in [0, 2, 500] {
        let mut blobs = Blobs::new(1000, 100, 21);
        blobs.output_words = words;
        run(device, &blobs)?;
    }
    Ok(String::new())
}

/// Arenas are so large that few warps fit.
fn few_arenas(device: &mut dyn Device) -> Result<String, String> {
    let mut blobs = Blobs::new(1000, 100, 22);
    let arena = device.memory() / 20;
    blobs.arena_bytes = usize::try_from(arena).unwrap_or(usize::MAX) / 256 * 256;
    run(device, &blobs)?;
    Ok(format!("{} MiB each", arena >> 20))
}

fn no_room(device: &mut dyn Device) -> Result<String, String> {
    let mut blobs = Blobs::new(10, 100, 23);
    blobs.arena_bytes = usize::try_from(device.memory().saturating_mul(2)).unwrap_or(usize::MAX);
    match device.run(&blobs.batch()) {
        Err(DeviceError::Memory { .. }) => {}
        Err(other) => return Err(format!("not an error of memory: {other}")),
        Ok(_) => return Err("it was run all the same".to_owned()),
    }
    // The device still works.
    run(device, &Blobs::new(10, 100, 24))?;
    Ok(String::new())
}

fn no_job(device: &mut dyn Device) -> Result<String, String> {
    let mut blobs = Blobs::new(10, 100, 25);
    blobs.jobs.pop();
    match device.run(&blobs.batch()) {
        Err(DeviceError::Launch(_)) => Ok(String::new()),
        Err(other) => Err(format!("not an error of the launch: {other}")),
        Ok(_) => Err("it was run all the same".to_owned()),
    }
}

/// Measures the overhead of a launch.
fn many(device: &mut dyn Device) -> Result<String, String> {
    const BATCHES: u32 = 500;
    let blobs = Blobs::new(16, 100, 26);
    run(device, &blobs)?;
    let start = Instant::now();
    for _ in 0..BATCHES {
        run(device, &blobs)?;
    }
    let each = start.elapsed() / BATCHES;
    Ok(format!("{:.1} us each", each.as_secs_f64() * 1e6))
}

/// Checks that the host gives up a kernel that exceeds its time limit. The device must have been
/// opened with a limit of at most 100 ms, and is lost afterwards. The kernel ends after some
/// seconds.
pub fn check_clock(device: &mut dyn Device) -> Check {
    let start = Instant::now();
    let mut blobs = Blobs::new(1, 10, 30);
    blobs.flags = BUSY;
    // The clock of devices ticks about once per nanosecond.
    blobs.fuel = 3_000_000_000;
    let first = device.run(&blobs.batch());
    let waited = start.elapsed();
    blobs.flags = 0;
    let second = device.run(&blobs.batch());
    let problem = match (first, second) {
        (Err(DeviceError::Timeout(_)), Err(DeviceError::Lost(_))) if waited.as_secs() < 2 => None,
        (Err(DeviceError::Timeout(_)), Err(DeviceError::Lost(_))) => {
            Some(format!("it took {waited:?} to give up"))
        }
        (Err(DeviceError::Timeout(_)), _) => Some("the device was used again".to_owned()),
        (Err(other), _) => Some(format!("another error: {other}")),
        (Ok(_), _) => Some("it was waited for".to_owned()),
    };
    Check {
        name: "a kernel that takes too long",
        problem,
        detail: format!("given up after {} ms", waited.as_millis()),
        time: start.elapsed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faulty::{Faulty, Script, Trouble};

    #[test]
    fn the_model_passes() {
        for check in check(&mut Model::default()) {
            assert_eq!(check.problem, None, "{}", check.name);
        }
    }

    #[test]
    fn differences_are_found() {
        let blobs = small_batch();
        for trouble in [Trouble::Garbage, Trouble::Short, Trouble::Launch] {
            let mut device = Faulty::new(Model::default(), [(0, trouble)]);
            assert!(run(&mut device, &blobs).is_err(), "{trouble:?}");
            assert!(run(&mut device, &blobs).is_ok(), "{trouble:?}");
        }
        // A device that keeps old programs.
        let mut model = Model::default();
        run(&mut model, &blobs).unwrap();
        let mut other = blobs.clone();
        other.programs[0] ^= 1;
        other.jobs[0] = 0;
        assert!(run(&mut model, &other).is_err());
    }

    #[test]
    fn the_clock_is_checked() {
        let script: Script = "timeout@0".parse().unwrap();
        let check = check_clock(&mut Faulty::new(Model::default(), script));
        assert_eq!(check.problem, None);
        assert!(check_clock(&mut Model::default()).problem.is_some());
    }
}
