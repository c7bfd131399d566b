//! Measures mega-batches: the gain of sharing steps and of using all cores, and the workloads for
//! which the original system published figures.

mod cores;
mod costs;
mod report;
mod sharing;
pub mod targets;

use anyhow::Result;
use batt_engine::{EvalOptions, MegaReport, Verdict};
use clap::Args;
use serde_json::json;

use self::costs::BattCosts;
use self::report::{to_json, write};
pub use self::sharing::{Entry, Runner, hash_of, verdict_of};
use crate::corpus::{add_mutants, drawn, mutants};
use crate::interrupt;
use crate::options::Common;
use crate::text::print;

/// One row of the table.
pub struct Workload {
    pub name: String,
    /// Steps of the programs or the batt.
    pub steps: Option<usize>,
    pub samples: usize,
    pub rounds: usize,
    /// Mean microseconds per sample.
    pub mean: f64,
    /// Microseconds of the median sample, if samples were timed one by one.
    pub median: Option<f64>,
    pub baseline: Option<Baseline>,
    /// The original's published figure, from another machine.
    pub published: Option<&'static str>,
}

/// The workload that another one is compared with, measured in the same rounds.
pub struct Baseline {
    pub name: &'static str,
    /// How many times faster the workload is, over all samples.
    pub ratio: f64,
    /// The median of the samples' own ratios.
    pub median: Option<f64>,
}

/// The counts of a comparison between two sides.
#[derive(Default)]
pub struct Agreement {
    /// The number of results compared.
    pub compared: usize,
    /// The number of results that differ.
    pub differ: usize,
    /// The number of results for which a side reached a limit. The sides may reach it at different
    /// points, because a batt caches facts about shared values.
    pub limited: usize,
    /// The first differences.
    pub differences: Vec<String>,
}

/// The number of differences listed.
const LISTED: usize = 20;

impl Agreement {
    fn count(&mut self, limited: bool, same: bool, what: impl FnOnce() -> String) {
        self.compared += 1;
        self.limited += usize::from(limited);
        if !limited && !same {
            self.differ += 1;
            if self.differences.len() < LISTED {
                self.differences.push(what());
            }
        }
    }

    fn verdicts(&mut self, donor: &str, sample: usize, a: &Verdict, b: &Verdict) {
        let limit = |v: &Verdict| matches!(v, Verdict::Failed(error) if error.fault.is_limit());
        // A batt numbers its steps differently, so errors agree even if their steps differ.
        let failed = |v: &Verdict| matches!(v, Verdict::Failed(_));
        let same = a == b || (failed(a) && failed(b));
        self.count(limit(a) || limit(b), same, || {
            format!("{donor} on sample {sample}: {a:?} alone, {b:?} in the batt")
        });
    }

    fn entries(&mut self, entry: &str, sample: usize, a: &Entry, b: &Entry) {
        let limit = |e: &Entry| matches!(e, Err(fault) if fault.is_limit());
        let same = a == b || (a.is_err() && b.is_err());
        self.count(limit(a) || limit(b), same, || {
            format!("{entry} on sample {sample}: {a:?} alone, {b:?} in the batt")
        });
    }

    fn reports(&mut self, a: &MegaReport, b: &MegaReport) {
        let figures = |r: &MegaReport| (r.runs, r.right, r.values, r.faults.clone());
        self.count(false, figures(a) == figures(b), || {
            format!(
                "mega: {:?} on one thread, {:?} on all",
                figures(a),
                figures(b)
            )
        });
    }
}

/// All measurements, and whether the sides agree.
pub struct Megabench {
    pub solvers: usize,
    /// The number of solvers that are mutants.
    pub mutants: usize,
    pub tasks: usize,
    pub pairs: usize,
    pub workloads: Vec<Workload>,
    pub agreement: Agreement,
    pub costs: BattCosts,
    pub interrupted: bool,
}

/// Measure mega-batches: what merging solvers and using all cores gains
///
/// Solvers run one by one and merged into one batt, on one core and on all, and on workloads of the
/// sizes that the original system published. Both sides take turns on every sample, and all results
/// are compared. With --mutants, random variants of the solvers are merged as well, as in a search.
#[derive(Args)]
pub struct MegaArgs {
    #[command(flatten)]
    common: Common,

    /// Draw this many solvers [default: all]
    #[arg(long, value_name = "N")]
    count: Option<usize>,

    /// Add this many mutants of the solvers
    #[arg(long, value_name = "N", default_value_t = 0)]
    mutants: usize,
}

/// Runs the benchmark. Returns whether all results agree.
pub fn main(args: &MegaArgs) -> Result<bool> {
    let bench = measure(args)?;
    print(|out| match args.common.json {
        true => Ok(writeln!(out, "{}", json!({"mega": to_json(&bench)}))?),
        false => write(out, &bench),
    })?;
    Ok(bench.agreement.differ == 0)
}

fn measure(args: &MegaArgs) -> Result<Megabench> {
    let corpus = args.common.corpus(None)?;
    let mut donors = drawn(&corpus.donors(), args.count, args.common.seed)?;
    let mutants = mutants(&donors, args.mutants, args.common.seed);
    add_mutants(&mut donors, &mutants);
    let samples = corpus.samples();
    let (options, time) = (&EvalOptions::default(), args.common.time());
    let limits = &options.limits;
    let mut agreement = Agreement::default();
    let share = time / 5;
    let mut workloads = sharing::plain(&donors, &samples, options, share, &mut agreement)?;
    workloads.extend(sharing::with_differs(
        &donors,
        &samples,
        limits,
        share,
        &mut agreement,
    )?);
    workloads.extend(cores::measure(
        &donors,
        &samples,
        limits,
        share,
        &mut agreement,
    )?);
    workloads.extend(targets::measure(
        &corpus,
        &donors,
        &samples,
        limits,
        share,
        &mut agreement,
    )?);
    let costs = costs::find(&donors, &samples, limits, share)?;
    Ok(Megabench {
        solvers: donors.len(),
        mutants: mutants.len(),
        tasks: corpus.data.len(),
        pairs: samples.len(),
        workloads,
        agreement,
        costs,
        interrupted: interrupt::happened(),
    })
}
