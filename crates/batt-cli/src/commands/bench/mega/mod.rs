//! `batt bench --mega`: what sharing and cores are worth, and the sizes of the original's targets.

mod cores;
mod report;
pub mod setup;
mod sharing;
pub mod targets;
mod whereabouts;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use batt_dsl::Dialect;
use batt_engine::{EvalOptions, MegaReport, Verdict};

pub use self::report::{duration, to_json, write};
use self::setup::Material;
pub use self::sharing::{Entry, Runner, hash_of, verdict_of};
use self::whereabouts::Whereabouts;
use crate::donors::{add_mutants, mutants};
use crate::interrupt;
use crate::ui::Ui;

/// One line of the table.
pub struct Workload {
    pub name: String,
    /// Steps of what was run.
    pub steps: Option<usize>,
    pub samples: usize,
    pub rounds: usize,
    /// Microseconds per sample over all samples.
    pub mean: f64,
    /// Microseconds of the median sample, where samples were timed one by one.
    pub median: Option<f64>,
    pub baseline: Option<Baseline>,
    /// What the original's documents say, about another machine.
    pub published: Option<&'static str>,
}

/// What a workload is compared with: another one of the same rounds.
pub struct Baseline {
    pub name: &'static str,
    /// How many times faster the workload is, over all samples.
    pub ratio: f64,
    /// The median of the samples' own ratios.
    pub median: Option<f64>,
}

/// Do the sides of a comparison do the same work?
#[derive(Default)]
pub struct Agreement {
    /// Results compared.
    pub compared: usize,
    /// Those that differ.
    pub differ: usize,
    /// Those where a side reached a limit, which the sides may do at different points: what is known about shared
    /// values need not be found out again in a batt.
    pub limited: usize,
    /// The first that differ.
    pub differences: Vec<String>,
}

/// Differences listed.
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
        // Steps have other places in a batt.
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

/// All that was measured.
pub struct Megabench {
    pub solvers: usize,
    /// How many of them are mutants.
    pub mutants: usize,
    pub tasks: usize,
    pub pairs: usize,
    pub workloads: Vec<Workload>,
    pub agreement: Agreement,
    pub whereabouts: Whereabouts,
    pub interrupted: bool,
}

/// What to measure.
pub struct Wanted<'a> {
    pub solvers: &'a [PathBuf],
    pub tasks: Option<&'a PathBuf>,
    pub dialect: Option<Dialect>,
    /// How many solvers to draw; none for all.
    pub count: Option<usize>,
    /// How many mutants of them to add.
    pub mutants: usize,
    pub seed: u64,
    pub options: &'a EvalOptions,
    /// About how long to measure.
    pub time: Duration,
}

/// Measures for about as long as said.
pub fn measure(wanted: &Wanted<'_>, ui: &Ui) -> Result<Megabench> {
    let material = Material::load(wanted.solvers, wanted.tasks, wanted.dialect, ui)?;
    let mut donors = setup::drawn(&material.donors()?, wanted.count, wanted.seed)?;
    let mutants = mutants(&donors, wanted.mutants, wanted.seed);
    add_mutants(&mut donors, &mutants);
    let samples = material.samples();
    let (options, time) = (wanted.options, wanted.time);
    let limits = &options.limits;
    let mut agreement = Agreement::default();
    let bar = ui.spinner();
    let say = |text: &'static str| {
        bar.set_message(text);
        bar.tick();
    };
    let share = time / 5;
    say("one by one and in one batt");
    let mut workloads = sharing::plain(&donors, &samples, options, share, &mut agreement)?;
    say("the same with differs");
    workloads.extend(sharing::with_differs(
        &donors,
        &samples,
        limits,
        share,
        &mut agreement,
    )?);
    say("on all cores");
    workloads.extend(cores::measure(
        &donors,
        &samples,
        limits,
        share,
        &mut agreement,
    )?);
    say("the sizes of the original's targets");
    workloads.extend(targets::measure(
        &material,
        &donors,
        &samples,
        limits,
        share,
        &mut agreement,
    )?);
    say("where the time goes");
    let whereabouts = whereabouts::find(&donors, &samples, limits, share)?;
    bar.finish_and_clear();
    Ok(Megabench {
        solvers: donors.len(),
        mutants: mutants.len(),
        tasks: material.data.len(),
        pairs: samples.len(),
        workloads,
        agreement,
        whereabouts,
        interrupted: interrupt::happened(),
    })
}
