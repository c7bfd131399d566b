//! Compares a batt under tokpidjin's Python library with the same batt under this engine, in turns.

mod agree;
mod report;

use std::ffi::OsStr;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use batt_arc::{Dataset, Pair, PairRef, Task};
use batt_dsl::{Dialect, Limits, OwnedValue};
use batt_engine::{RunError, Sample};
use batt_lang::batt::{Form, write_batt};
use batt_lang::card::{CardOptions, differs, merge, select};
use batt_lang::{Batt, OnError};
use batt_reference::{Checkout, Original, Python, SCRIPT_PREAMBLE, median, rows};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use self::agree::Agreement;
use self::report::{to_json, write};
use crate::interrupt;
use crate::mega::Runner;
use crate::options::{Common, advised};
use crate::text::print;
use crate::turns::spread;

/// The script, which follows the preamble of every script.
const SCRIPT: &str = include_str!("child.py");

/// The number of samples that suffices for a steady figure.
const SAMPLES: usize = 600;

/// The most rounds of every side.
const ROUNDS: usize = 5;

/// The number of samples in a turn. Several samples keep each side's data in the CPU caches, and no
/// sample runs twice in a row, as in a mega-batch.
const TURN: usize = 16;

/// Compare a batt with the same batt under tokpidjin's own library, in turns
///
/// Solvers of the checkout are merged with the built-in differs. Python and this engine run the
/// batt on the same samples, and both lists are compared entry by entry. The library needs numpy.
#[derive(Args)]
pub struct TokpidjinArgs {
    /// A checkout of tokpidjin
    checkout: PathBuf,
    #[command(flatten)]
    common: Common,

    /// The Python to run [default: /usr/bin/python3, or the first on the PATH]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,

    /// The number of solvers in the batt
    #[arg(long, value_name = "N", default_value_t = 20)]
    count: usize,
}

/// Runs the benchmark. Returns whether all results agree.
pub fn main(args: &TokpidjinArgs) -> Result<bool> {
    let comparison = compare(args)?;
    print(|out| match args.common.json {
        true => Ok(writeln!(
            out,
            "{}",
            json!({"tokpidjin": to_json(&comparison)})
        )?),
        false => write(out, &comparison),
    })?;
    Ok(comparison.agreement.differ() == 0)
}

/// Options for the Python side.
#[derive(Clone)]
pub struct PythonOptions<'a> {
    pub checkout: &'a Checkout,
    pub python: Option<&'a Path>,
    pub seed: u64,
    pub time: Duration,
}

/// The result of the comparison.
pub struct Comparison {
    pub python: PathBuf,
    pub version: String,
    pub solvers: Vec<String>,
    pub seed: u64,
    pub steps: usize,
    pub samples: Vec<Measured>,
    pub rounds: usize,
    pub agreement: Agreement,
    /// Samples on which Python's call raised an error and so returned no lists.
    pub raised: Vec<String>,
    /// Samples that were left out because one call took Python too long.
    pub too_long: Vec<String>,
    /// The most seconds that one call of Python may take.
    pub patience: f64,
    pub interrupted: bool,
}

/// The times of one sample: microseconds of a call, the median over the rounds.
pub struct Measured {
    pub name: String,
    /// The unchanged checkout, with logging disabled.
    pub python: f64,
    /// The checkout without its log calls.
    pub quiet: f64,
    /// This engine, with both lists as values in the memory of the run, as in Python.
    pub ours: f64,
    /// This engine, with both lists copied out of the run.
    pub copied: f64,
}

/// Python's answer to a call.
#[derive(Deserialize)]
struct Answer {
    nanos: f64,
    error: Option<String>,
    #[serde(default)]
    o: Vec<Json>,
    #[serde(default)]
    s: Vec<Json>,
}

fn compare(args: &TokpidjinArgs) -> Result<Comparison> {
    let checkout = args.common.checkout(&args.checkout)?;
    if checkout.original != Original::Tokpidjin {
        return Err(advised(
            "this is no checkout of tokpidjin: it has no safe_dsl.py",
            "`batt bench --against` compares with arc-dsl",
        ));
    }
    let corpus = args.common.corpus(Some(&checkout))?;
    let all = corpus.donors();
    let wanted = PythonOptions {
        checkout: &checkout,
        python: args.python.as_deref(),
        seed: args.common.seed,
        time: args.common.time(),
    };
    let picked = select(&all, Some(args.count.min(all.len())), None, wanted.seed)?;
    let options = CardOptions {
        on_error: OnError::Defaults,
        ..CardOptions::default()
    };
    let batt = merge(&picked, &differs(Dialect::Tokpidjin), &options)?.batt;
    let solvers = picked.iter().map(|donor| donor.id.clone()).collect();
    compare_batt(&wanted, &batt, solvers, &corpus.data)
}

/// Compares a batt whose failing steps have defaults, as in Python.
pub fn compare_batt(
    wanted: &PythonOptions<'_>,
    batt: &Batt,
    solvers: Vec<String>,
    data: &Dataset,
) -> Result<Comparison> {
    let folder = TempDir::new().context("no temporary folder")?;
    let file = folder.path().join("batt_bench.py");
    fs::write(file, write_batt(batt, Form::Guarded)).context("cannot write the batt")?;
    let script = format!("{SCRIPT_PREAMBLE}{SCRIPT}");
    let patience = (wanted.time.as_secs_f64() / 6.0).clamp(1.0, 10.0);
    let start = |mode: &str| {
        let seconds = patience.to_string();
        let args: [&OsStr; 4] = [
            wanted.checkout.path.as_os_str(),
            folder.path().as_os_str(),
            mode.as_ref(),
            seconds.as_ref(),
        ];
        Python::start_script(wanted.python, &script, &args)
    };
    let pythons = [start("as it is")?, start("quiet")?];
    let mut sides = Sides {
        comparison: Comparison {
            python: pythons[0].path.clone(),
            version: pythons[0].version.clone(),
            solvers,
            seed: wanted.seed,
            steps: batt.program.steps().len(),
            samples: Vec::new(),
            rounds: 0,
            agreement: Agreement::default(),
            raised: Vec::new(),
            too_long: Vec::new(),
            patience,
            interrupted: false,
        },
        pythons,
        ours: Runner::new(batt),
        batt,
        limits: Limits::default(),
    };
    let chosen = sides.choose(data, wanted.time)?;
    sides.time(&chosen, wanted.time)?;
    Ok(sides.comparison)
}

/// A sample with its task and pair, which name it.
struct Chosen<'a> {
    task: &'a Task,
    pair: PairRef,
    sample: Sample<'a>,
}

impl Chosen<'_> {
    fn name(&self) -> String {
        format!("{} {}", self.task.id, self.pair)
    }

    fn request(&self, results: bool) -> Json {
        let both = |pair: &Pair| json!([rows(&pair.input), pair.output.as_ref().map(rows)]);
        let demos = self
            .sample
            .demos
            .iter()
            .filter(|pair| pair.output.is_some());
        json!({
            "task": self.task.id,
            "demos": demos.map(both).collect::<Vec<_>>(),
            "input": rows(self.sample.input),
            "results": results,
        })
    }
}

/// The sides that take turns, and the outcome.
struct Sides<'b> {
    comparison: Comparison,
    /// Python on the unchanged checkout, and on the checkout without its log calls.
    pythons: [Python; 2],
    ours: Runner,
    batt: &'b Batt,
    limits: Limits,
}

impl Sides<'_> {
    /// Compares the results on as many samples as fit the time, and returns those to be timed.
    fn choose<'d>(&mut self, data: &'d Dataset, time: Duration) -> Result<Vec<Chosen<'d>>> {
        let all: Vec<_> = data.pairs().collect();
        let mut chosen = Vec::new();
        let started = Instant::now();
        for (task, pair, grids) in spread(all.len()).map(|k| all[k]) {
            let next = Chosen {
                task,
                pair,
                sample: Sample::new(task, grids),
            };
            if chosen.is_empty() {
                // The first call warms Python up.
                for python in &mut self.pythons {
                    let _: Answer = python.ask(&next.request(false))?;
                }
            }
            let answer: Answer = self.pythons[0].ask(&next.request(true))?;
            match answer.error.as_deref() {
                Some("too long") => self.comparison.too_long.push(next.name()),
                Some(error) => {
                    let raised = format!("{}: {error}", next.name());
                    self.comparison.raised.push(raised);
                }
                None => {
                    self.agree(&next, &answer);
                    chosen.push(next);
                }
            }
            let enough = started.elapsed() > time / 7 || chosen.len() >= SAMPLES;
            if (enough && !chosen.is_empty()) || interrupt::happened() {
                break;
            }
        }
        if chosen.is_empty() && !interrupt::happened() {
            return Err(advised(
                "Python finished none of the samples in time",
                "give it more with --seconds, or choose other solvers with --seed or --count",
            ));
        }
        Ok(chosen)
    }

    /// Compares both lists of a sample, entry by entry.
    fn agree(&mut self, chosen: &Chosen<'_>, theirs: &Answer) {
        let mut outputs = self.ours.run(&chosen.sample, &self.limits, |run, entry| {
            let owned = run.to_owned(entry.value?);
            owned.map_err(|fault| RunError { fault, step: None })
        });
        let scores = outputs.split_off(self.batt.outputs.len());
        let json = |value: Result<OwnedValue, RunError>, fields: Json| {
            let value = match value {
                Ok(value) => value.to_json(),
                Err(error) if error.fault.is_limit() => return None,
                Err(error) => json!({"err": error.fault.name()}),
            };
            let mut entry = fields;
            if let Json::Array(items) = &mut entry {
                items.push(value);
            }
            Some(entry)
        };
        let ours_o = self.batt.outputs.iter().zip(outputs);
        let ours_o = ours_o.map(|(o, value)| json(value, json!([o.number, o.mutated, o.donor])));
        let ours_s = self.batt.scores.iter().zip(scores).map(|(s, value)| {
            let donor = s.donor.as_deref().unwrap_or("None");
            json(value, json!([s.number, donor, s.differ]))
        });
        let agreement = &mut self.comparison.agreement;
        let lists = [
            ("o", ours_o.collect::<Vec<_>>(), &theirs.o),
            ("s", ours_s.collect(), &theirs.s),
        ];
        for (list, ours, theirs) in lists {
            // A missing entry counts as null, so it differs from any other.
            for k in 0..ours.len().max(theirs.len()) {
                let nothing = Some(Json::Null);
                let place = format!("{}, {list}[{k}]", chosen.name());
                let ours = ours.get(k).unwrap_or(&nothing);
                let theirs = theirs.get(k).unwrap_or(&Json::Null);
                agreement.entry(&place, ours.as_ref(), theirs);
            }
        }
    }

    /// Times all sides on the chosen samples, in turns.
    fn time(&mut self, chosen: &[Chosen<'_>], time: Duration) -> Result<()> {
        let started = Instant::now();
        let time = time.mul_f64(6.0 / 7.0);
        let mut all: Vec<[Vec<f64>; 4]> = vec![Default::default(); chosen.len()];
        let mut longest = Duration::ZERO;
        let mut rounds = 0;
        'rounds: while rounds < ROUNDS && (rounds == 0 || started.elapsed() + longest <= time) {
            let round = Instant::now();
            for (chosen, all) in chosen.chunks(TURN).zip(all.chunks_mut(TURN)) {
                for k in 0..self.pythons.len() {
                    for (chosen, all) in chosen.iter().zip(&mut *all) {
                        let answer: Answer = self.pythons[k].ask(&chosen.request(false))?;
                        all[k].push(answer.nanos / 1e3);
                    }
                    let copied = k == 1;
                    self.time_ours(&chosen[0], copied);
                    for (chosen, all) in chosen.iter().zip(&mut *all) {
                        all[2 + k].push(self.time_ours(chosen, copied));
                    }
                }
                if interrupt::happened() {
                    self.comparison.interrupted = true;
                    break 'rounds;
                }
            }
            longest = longest.max(round.elapsed());
            rounds += 1;
        }
        self.comparison.rounds = rounds.max(1);
        for (chosen, all) in chosen.iter().zip(all) {
            if all[3].is_empty() {
                break;
            }
            let [python, quiet, ours, copied] = all.map(|mut side| median(&mut side));
            self.comparison.samples.push(Measured {
                name: chosen.name(),
                python,
                quiet,
                ours,
                copied,
            });
        }
        Ok(())
    }

    /// Returns the microseconds of a run of this engine, from the grids of a task to both lists.
    fn time_ours(&mut self, chosen: &Chosen<'_>, copied: bool) -> f64 {
        let start = Instant::now();
        let made = self.ours.run(&chosen.sample, &self.limits, |run, entry| {
            let value = black_box(entry.value).ok()?;
            copied.then(|| run.to_owned(value).ok()).flatten()
        });
        black_box(made);
        start.elapsed().as_secs_f64() * 1e6
    }
}
