//! Measures what happens before programs run: compiling, encoding for devices, merging. Also what
//! it costs to count the steps of a batt.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_arc::Grid;
use batt_dsl::Limits;
use batt_engine::device::{
    Batch, Device, DeviceError, Launched, Programs, ScoreOptions, score_table,
};
use batt_engine::{Cancel, Compiled, Sample, profile};
use batt_lang::card::{self, CardDonor, CardOptions};
use batt_lang::{BattFile, Program, SplitMix64};
use batt_testing::generate::{self, Choices};
use clap::Args;
use serde_json::{Value as Json, json};

use crate::corpus::Corpus;
use crate::memory::resident;
use crate::text::{duration, grouped, note, print, table, table_text};

/// Measure compiling, encoding for devices, merging, and counting steps
#[derive(Args)]
pub struct PrepareArgs {
    /// Solver files to compile [default: the built-in solvers]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    solvers: Vec<PathBuf>,

    /// Tasks [default: the built-in puzzles]
    #[arg(long, value_name = "PATH")]
    tasks: Option<PathBuf>,

    /// Programs that are compiled, and random ones that are merged
    #[arg(long, value_name = "N", default_value = "10000")]
    count: NonZeroUsize,

    /// The seed of the random solvers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Random bytes of a solver, enough for about 30 steps.
const BYTES: usize = 120;

/// Runs below which a profile does not tell what counting costs.
const FEWEST: usize = 100;

/// Tries, of which the fastest counts.
const TRIES: usize = 20;

/// Times in microseconds, with what they are of.
type Row = (String, f64);

/// Runs the measurements.
pub fn main(args: &PrepareArgs) -> Result<bool> {
    let count = args.count.get();
    let corpus = Corpus::load(&args.solvers, args.tasks.as_deref(), None)?;
    let mut rows = programs(&corpus, count);
    rows.extend(merging(count, args.seed)?);
    let counting = [("cheap", CHEAP), ("usual", USUAL)]
        .map(|(kind, steps)| (kind, counted(&steps, (count / 20).max(FEWEST))));
    print(|out| {
        if args.json {
            let times: Vec<Json> = rows
                .iter()
                .map(|(what, micros)| json!({"what": what, "us": micros}))
                .collect();
            let counting = counting.map(|(kind, ratio)| json!({"steps": kind, "ratio": ratio}));
            writeln!(out, "{}", json!({"times": times, "counting": counting}))?;
            return Ok(());
        }
        let mut times = table(&["", "time"], &[1]);
        for (what, micros) in &rows {
            times.add_row([what.clone(), duration(*micros)]);
        }
        writeln!(out, "{}", table_text(&times))?;
        for (kind, ratio) in counting {
            let ratio = ratio.map_or("unknown".to_owned(), |ratio| format!("{ratio:.4}"));
            writeln!(out, "counting {kind} steps: {ratio} times as long")?;
        }
        Ok(())
    })?;
    Ok(true)
}

/// Returns the time of one item, the best of several tries.
fn best(items: usize, mut work: impl FnMut()) -> f64 {
    let times = (0..TRIES).map(|_| {
        let started = Instant::now();
        work();
        started.elapsed()
    });
    let best = times.min().unwrap_or_default();
    1e6 * best.as_secs_f64() / items.max(1) as f64
}

/// Compiles and encodes solvers of five to fifteen steps, some of them several times, and measures
/// the work of the host around launches.
fn programs(corpus: &Corpus, count: usize) -> Vec<Row> {
    let typical = |program: &&Program| (5..=15).contains(&program.steps().len());
    let some: Vec<&Program> = corpus.programs().filter(typical).collect();
    let programs: Vec<&Program> = some.into_iter().cycle().take(count).collect();
    let all = || -> Vec<Compiled> { programs.iter().map(|p| Compiled::new(p)).collect() };
    let mut rows = vec![(
        "compile a program".to_owned(),
        best(count, || drop(black_box(all()))),
    )];
    let compiled = all();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    for threads in [1, cores] {
        let time = best(count, || drop(black_box(Programs::of(&compiled, threads))));
        rows.push((format!("encode it for a device, {threads} threads"), time));
    }
    let samples: Vec<Sample<'_>> = corpus.samples().into_iter().take(4).collect();
    let runs = compiled.len() * samples.len();
    let time = best(runs, || {
        let mut devices: Vec<Box<dyn Device>> = vec![Box::new(NoTime)];
        let (options, never) = (ScoreOptions::default(), Cancel::new());
        black_box(score_table(
            &mut devices,
            &compiled,
            &samples,
            &options,
            &never,
        ));
    });
    rows.push((
        "the host's work around a run, encoding included".to_owned(),
        time,
    ));
    rows
}

/// A device that takes no time and answers every run with a number.
struct NoTime;

impl Device for NoTime {
    fn name(&self) -> String {
        "no time".to_owned()
    }

    fn memory(&self) -> u64 {
        0
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        let jobs = batch.jobs.len() as u32 / 4;
        Ok(Launched {
            results: (0..jobs).flat_map(|k| [0, 4 * k, 4, 1]).collect(),
            output: (0..jobs).flat_map(|k| [0, 7, k, 0]).collect(),
            ..Launched::default()
        })
    }
}

/// Merges random solvers, and cuts each of them out again.
fn merging(count: usize, seed: u64) -> Result<Vec<Row>> {
    let mut random = SplitMix64::new(seed);
    let programs: Vec<Program> = (0..count)
        .map(|_| {
            let bytes: Vec<u8> = (0..BYTES).map(|_| random.below(256) as u8).collect();
            generate::program(&mut Choices::new(&bytes))
        })
        .collect();
    let donors: Vec<CardDonor<'_>> = (0..)
        .zip(&programs)
        .map(|(number, program)| CardDonor {
            id: format!("random{number}"),
            program,
            size: None,
            mutated: false,
        })
        .collect();
    let differs = card::differs(programs[0].dialect());
    let before = resident().unwrap_or_default();
    let started = Instant::now();
    let merged = card::merge(&donors, &differs, &CardOptions::default())?;
    let merging = started.elapsed();
    let memory = resident().unwrap_or_default().saturating_sub(before) >> 20;
    let stats = &merged.stats;
    note(format_args!(
        "{} random solvers: {} steps, {} after merging, {memory} MiB more in use",
        grouped(count),
        grouped(stats.before),
        grouped(stats.after),
    ));
    let started = Instant::now();
    for output in &merged.batt.outputs {
        let cut = card::extract_value(&merged.batt, &output.value, "solve");
        black_box(card::structural_hash(&cut));
    }
    let each = |time: Duration| 1e6 * time.as_secs_f64() / count as f64;
    Ok(vec![
        ("merge a solver".to_owned(), each(merging)),
        ("cut it out and hash it".to_owned(), each(started.elapsed())),
    ])
}

/// Steps that do next to nothing: the worst case for counting.
const CHEAP: [&str; 4] = [
    "identity(I)",
    "height(I)",
    "hmirror(I)",
    "astuple(ONE, TWO)",
];

/// Steps as batts have them.
const USUAL: [&str; 4] = [
    "palette(I)",
    "objects(I, T, F, F)",
    "rot90(I)",
    "ofcolor(I, ONE)",
];

/// Returns how many times as long a batt of these steps takes while they are counted, which they
/// always are: the median of several profiles.
fn counted(steps: &[&str], runs: usize) -> Option<f64> {
    let mut text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n".to_owned();
    // Every step is a candidate: others are not executed.
    for (k, step) in (1..).zip(steps.repeat(200)) {
        text += &format!("    t{k} = {step}\n    o.append(({k}, False, 'aa11', t{k}))\n");
    }
    text += "    return o, s\n";
    let file = BattFile::parse(&text, "b.py", None);
    let batt = file.batts.first()?;
    let input = Grid::from_rows(&[[1, 2, 0], [3, 4, 0], [0, 0, 5]]).ok()?;
    let sample = Sample {
        demos: &[],
        input: &input,
        expected: None,
    };
    let ratio = || {
        profile(
            batt,
            &vec![sample; runs],
            &Limits::default(),
            &Cancel::new(),
            |_| (),
        )
        .counting
    };
    let mut ratios: Vec<f64> = (0..9).filter_map(|_| ratio()).collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied()
}
