//! The report of the comparison with a tokpidjin checkout.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value as Json, json};

use super::{Comparison, Measured};
use crate::text::{counted, duration, grouped, interrupted, table, table_text};
use batt_reference::median;

/// Selects the time of one side on a sample.
type Side = fn(&Measured) -> f64;

/// The time of one side.
struct Figures {
    /// Microseconds of the mean sample.
    mean: f64,
    /// Microseconds of the median sample.
    median: f64,
}

impl Figures {
    fn of(comparison: &Comparison, side: Side) -> Figures {
        let mut all: Vec<f64> = comparison.samples.iter().map(side).collect();
        Figures {
            mean: all.iter().sum::<f64>() / all.len().max(1) as f64,
            median: median(&mut all),
        }
    }
}

/// The factors by which this engine is faster: over all samples, on the median sample, and on the
/// worst sample.
struct Ratios {
    overall: f64,
    median: f64,
    minimum: f64,
}

impl Ratios {
    fn of(comparison: &Comparison, theirs: Side, ours: Side) -> Ratios {
        let samples = || comparison.samples.iter();
        let mut ratios: Vec<f64> = samples().map(|s| theirs(s) / ours(s).max(1e-6)).collect();
        Ratios {
            overall: samples().map(theirs).sum::<f64>()
                / samples().map(ours).sum::<f64>().max(1e-6),
            median: median(&mut ratios),
            minimum: ratios.first().copied().unwrap_or_default(),
        }
    }

    fn json(&self) -> Json {
        json!({"overall": self.overall, "median": self.median, "minimum": self.minimum})
    }
}

const HOW: &str = "\
Python: S and I are made before the clock starts. Imports and a first call are not timed. Logging is
disabled, but the library still formats its messages; \"without log calls\" removes those calls when
the library is loaded.
batt: one thread, from the grids of the task to both lists, as values of the run or copied out.";

/// Writes the report as text.
pub fn write(out: &mut dyn Write, comparison: &Comparison) -> Result<()> {
    writeln!(
        out,
        "against {} ({}), one core each: a batt of {} and 4 differs, {}, seed {}, on {}, {}{}",
        comparison.python.display(),
        comparison.version,
        counted(comparison.solvers.len(), "solver"),
        counted(comparison.steps, "step"),
        comparison.seed,
        counted(comparison.samples.len(), "sample"),
        counted(comparison.rounds, "round"),
        interrupted(comparison.interrupted),
    )?;
    writeln!(out, "{HOW}")?;
    writeln!(out, "\ntime per sample")?;
    let mut rows = table(&["", "mean", "median"], &[1, 2]);
    let sides: [(&str, Side); 4] = [
        ("Python, as it is", |s| s.python),
        ("Python, without log calls", |s| s.quiet),
        ("batt", |s| s.ours),
        ("batt, lists copied out", |s| s.copied),
    ];
    for (name, side) in sides {
        let figures = Figures::of(comparison, side);
        rows.add_row([
            name.to_owned(),
            duration(figures.mean),
            duration(figures.median),
        ]);
    }
    write!(out, "{}", table_text(&rows))?;
    writeln!(out, "\ntimes faster")?;
    let header = ["", "over all samples", "median sample", "worst sample"];
    let mut rows = table(&header, &[1, 2, 3]);
    for (name, ratios) in ratios(comparison) {
        rows.add_row([
            name.to_owned(),
            format!("{:.0}", ratios.overall),
            format!("{:.0}", ratios.median),
            format!("{:.0}", ratios.minimum),
        ]);
    }
    writeln!(out, "{}", table_text(&rows))?;
    let agreement = &comparison.agreement;
    for difference in agreement.differences.iter().take(5) {
        writeln!(out, "differs: {difference}")?;
    }
    let same = format!(
        "{} of {}",
        grouped(agreement.same),
        grouped(agreement.entries)
    );
    writeln!(out, "same entries     {}", same)?;
    let remarks = [
        (
            "only order       ",
            agreement.arbitrary,
            "entries whose sets hold functions or nan, which Python orders by address",
        ),
        (
            "limits of batt   ",
            agreement.limited,
            "entries without a value here",
        ),
        (
            "raised           ",
            comparison.raised.len(),
            "samples on which Python's call raised an error; not timed",
        ),
        (
            "too long         ",
            comparison.too_long.len(),
            "samples on which one call of Python took too long; not timed",
        ),
    ];
    for (name, count, what) in remarks.into_iter().filter(|remark| remark.1 > 0) {
        writeln!(out, "{name}{}: {what}", grouped(count))?;
    }
    Ok(())
}

fn ratios(comparison: &Comparison) -> [(&'static str, Ratios); 4] {
    [
        (
            "than Python",
            Ratios::of(comparison, |s| s.python, |s| s.ours),
        ),
        (
            "than Python, lists copied out",
            Ratios::of(comparison, |s| s.python, |s| s.copied),
        ),
        (
            "than Python without log calls",
            Ratios::of(comparison, |s| s.quiet, |s| s.ours),
        ),
        (
            "than Python without log calls, lists copied out",
            Ratios::of(comparison, |s| s.quiet, |s| s.copied),
        ),
    ]
}

/// Returns the comparison as JSON.
pub fn to_json(comparison: &Comparison) -> Json {
    let samples: Vec<Json> = comparison
        .samples
        .iter()
        .map(|sample| {
            json!({
                "sample": sample.name,
                "python_us": sample.python,
                "python_without_log_calls_us": sample.quiet,
                "batt_us": sample.ours,
                "batt_copied_us": sample.copied,
            })
        })
        .collect();
    let [plain, copied, quiet, quiet_copied] = ratios(comparison).map(|(_, ratios)| ratios.json());
    let agreement = &comparison.agreement;
    json!({
        "kind": "tokpidjin",
        "python": comparison.python,
        "version": comparison.version,
        "solvers": comparison.solvers,
        "seed": comparison.seed,
        "steps": comparison.steps,
        "rounds": comparison.rounds,
        "interrupted": comparison.interrupted,
        "ratio": plain,
        "ratio_copied": copied,
        "ratio_without_log_calls": quiet,
        "ratio_without_log_calls_copied": quiet_copied,
        "entries": agreement.entries,
        "same": agreement.same,
        "arbitrary_order": agreement.arbitrary,
        "limited": agreement.limited,
        "differ": agreement.differ(),
        "differences": agreement.differences,
        "raised": comparison.raised,
        "too_long": comparison.too_long,
        "seconds_of_a_call": comparison.patience,
        "samples": samples,
    })
}
