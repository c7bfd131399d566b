//! Reports of the measurements, as text and as JSON.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value as Json, json};

use batt::bench::{DeviceThroughput, Throughput};
use batt::{Comparison, SolverTimes};

use crate::interrupt;
use crate::ui::{BAD, GOOD, STRONG, Ui, counted, grouped, shown, table, table_text};

/// The task of the solver that takes nine tenths of Python's time.
const HEAVY: &str = "a64e4611";

/// The number of solvers that are listed with the smallest and with the largest ratios.
const WORST: usize = 10;
const BEST: usize = 5;

/// The bounds of the ranges in the distribution of ratios.
const BOUNDS: [f64; 5] = [10.0, 25.0, 50.0, 100.0, 200.0];

/// Writes the throughput of cores.
pub fn write_cores(out: &mut impl Write, found: &Throughput) -> Result<()> {
    let (runs, one_core) = (counted(found.runs, "run"), grouped(found.one_core as usize));
    write!(
        out,
        "{runs}, each solver on its task: {one_core} runs/s on one core"
    )?;
    if let Some(all_cores) = found.all_cores {
        let (rate, threads) = (
            grouped(all_cores as usize),
            counted(found.threads, "thread"),
        );
        write!(out, ", {rate} runs/s on {threads}")?;
    }
    if interrupt::happened() {
        write!(out, " (interrupted)")?;
    }
    Ok(writeln!(out)?)
}

/// Returns the throughput of cores as JSON.
pub fn cores_json(found: &Throughput) -> Json {
    json!({
        "runs": found.runs,
        "one_core_runs_per_second": found.one_core.round(),
        "threads": found.threads,
        "all_cores_runs_per_second": found.all_cores.map(f64::round),
        "interrupted": interrupt::happened(),
    })
}

/// Writes the throughput of a device.
pub fn write_device(out: &mut impl Write, found: &DeviceThroughput, ui: &Ui) -> Result<()> {
    writeln!(
        out,
        "{}, every solver on every input: {} runs/s on all cores, {} runs/s on {}",
        counted(found.runs, "run"),
        grouped(found.all_cores as usize),
        grouped(found.on_devices as usize),
        found.devices.join(", "),
    )?;
    let differ = match found.differing {
        0 => ui.out(GOOD, "no result differs"),
        n => ui.out(BAD, format_args!("{} differ", counted(n, "result"))),
    };
    let completed = 100.0 * found.completed;
    writeln!(
        out,
        "{completed:.1} % of the runs completed on the device; {differ}"
    )?;
    Ok(())
}

/// Returns the throughput of a device as JSON.
pub fn device_json(found: &DeviceThroughput) -> Json {
    json!({
        "devices": found.devices,
        "runs": found.runs,
        "all_cores_runs_per_second": found.all_cores.round(),
        "device_runs_per_second": found.on_devices.round(),
        "completed_on_device": found.completed,
        "differing": found.differing,
    })
}

/// Returns the solvers from the smallest ratio to the largest.
fn ranked(comparison: &Comparison) -> Vec<&SolverTimes> {
    let mut ranked: Vec<&SolverTimes> = comparison.solvers.iter().collect();
    ranked.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    ranked
}

/// Writes the report as text.
pub fn write(out: &mut impl Write, comparison: &Comparison, ui: &Ui) -> Result<()> {
    writeln!(
        out,
        "against {} ({}), one core each, {}{}",
        shown(&comparison.python),
        comparison.version,
        counted(comparison.solvers.len(), "solver"),
        if comparison.interrupted {
            " (interrupted)"
        } else {
            ""
        },
    )?;
    let ranked = ranked(comparison);
    let best = BEST.min(ranked.len().saturating_sub(WORST));
    let slow = &ranked[..ranked.len().min(WORST)];
    let fast = &ranked[ranked.len() - best..];
    for (title, solvers) in [("smallest ratios", slow), ("largest ratios", fast)] {
        if solvers.is_empty() {
            continue;
        }
        writeln!(out, "\n{}", ui.out(STRONG, title))?;
        let header = ["solver", "grids", "python us", "batt us", "ratio"];
        let mut rows = table(&header, &[1, 2, 3, 4]);
        for solver in solvers {
            rows.add_row([
                solver.name.clone(),
                solver.grids.to_string(),
                format!("{:.1}", solver.python),
                format!("{:.2}", solver.ours),
                format!("{:.1}", solver.ratio()),
            ]);
        }
        write!(out, "{}", table_text(&rows))?;
    }
    writeln!(out, "\n{}", ui.out(STRONG, "distribution of ratios"))?;
    let mut rows = table(&[], &[1]);
    for (range, count) in distribution(&ranked) {
        rows.add_row([range, count.to_string()]);
    }
    writeln!(out, "{}", table_text(&rows))?;

    let same = comparison.agreed == comparison.answers;
    for difference in comparison.differences.iter().take(5) {
        writeln!(out, "{} {difference}", ui.out(BAD, "differs:"))?;
    }
    let agreed = format!("{} of {}", comparison.agreed, comparison.answers);
    let style = if same { GOOD } else { BAD };
    writeln!(out, "same answers     {}", ui.out(style, agreed))?;
    let figures = comparison.ratios(HEAVY);
    let times = |ratio: Option<f64>| {
        ratio.map_or_else(|| "-".to_owned(), |r| format!("{r:.1} times faster"))
    };
    writeln!(out, "overall          {}", times(figures.overall))?;
    writeln!(out, "without {HEAVY} {}", times(figures.without))?;
    writeln!(out, "{HEAVY} alone   {}", times(figures.alone))?;
    writeln!(out, "median solver    {}", times(figures.median))?;
    writeln!(out, "slowest solver   {}", times(figures.smallest))?;
    Ok(())
}

fn distribution(ranked: &[&SolverTimes]) -> Vec<(String, usize)> {
    let mut rows = Vec::new();
    let mut low = 0.0;
    for high in BOUNDS.into_iter().chain([f64::INFINITY]) {
        let inside = |solver: &&&SolverTimes| (low..high).contains(&solver.ratio());
        let range = match (low, high) {
            (0.0, high) => format!("below {high}"),
            (low, high) if high.is_infinite() => format!("{low} and more"),
            (low, high) => format!("{low} to {high}"),
        };
        rows.push((range, ranked.iter().filter(inside).count()));
        low = high;
    }
    rows
}

/// Returns the comparison as JSON.
pub fn to_json(comparison: &Comparison) -> Json {
    let figures = comparison.ratios(HEAVY);
    let solvers: Vec<Json> = comparison
        .solvers
        .iter()
        .map(|solver| {
            json!({
                "solver": solver.name,
                "grids": solver.grids,
                "python_us": solver.python,
                "batt_us": solver.ours,
                "ratio": solver.ratio(),
            })
        })
        .collect();
    json!({
        "python": comparison.python,
        "version": comparison.version,
        "interrupted": comparison.interrupted,
        "answers": comparison.answers,
        "agreed": comparison.agreed,
        "differences": comparison.differences,
        "ratio": figures.overall,
        "ratio_without_a64e4611": figures.without,
        "ratio_a64e4611": figures.alone,
        "ratio_median": figures.median,
        "ratio_minimum": figures.smallest,
        "solvers": solvers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_counted_in_ranges() {
        let solver = |name: &str, python, ours| SolverTimes {
            name: name.into(),
            grids: 1,
            python,
            ours,
        };
        let solvers = [
            solver("solve_a", 100.0, 2.0),
            solver("solve_b", 90.0, 1.0),
            solver("solve_a64e4611", 9810.0, 97.0),
        ];
        let ranked: Vec<&SolverTimes> = solvers.iter().collect();
        let counts = distribution(&ranked).into_iter().map(|row| row.1);
        assert_eq!(counts.collect::<Vec<_>>(), [0, 0, 0, 2, 1, 0]);
    }
}
