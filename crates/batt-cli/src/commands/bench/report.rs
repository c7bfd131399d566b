//! What the comparison with Python says.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value as Json, json};

use super::against::{Comparison, Measured};
use crate::corpus::median;
use crate::ui::{BAD, GOOD, STRONG, Ui, table, table_text};

/// The task whose solver is a hundred times slower in Python than the rest: with it in, it is
/// half of every total.
const HEAVY: &str = "a64e4611";

/// Solvers listed from the slow end and from the fast end.
const WORST: usize = 10;
const BEST: usize = 5;

/// Bounds of the distribution of ratios.
const BOUNDS: [f64; 5] = [10.0, 25.0, 50.0, 100.0, 200.0];

/// The figures of a comparison.
struct Figures {
    overall: Option<f64>,
    without_heavy: Option<f64>,
    heavy: Option<f64>,
    median: f64,
    minimum: f64,
}

impl Figures {
    fn of(comparison: &Comparison) -> Figures {
        let heavy = |solver: &&Measured| solver.name.ends_with(HEAVY);
        let all = || comparison.solvers.iter();
        let mut ratios: Vec<f64> = all().map(Measured::ratio).collect();
        Figures {
            overall: total(all()),
            without_heavy: total(all().filter(|solver| !heavy(solver))),
            heavy: total(all().filter(heavy)),
            median: median(&mut ratios),
            minimum: ratios.first().copied().unwrap_or_default(),
        }
    }
}

/// Total Python time over total time of ours; none of no solvers.
fn total<'a>(solvers: impl Iterator<Item = &'a Measured>) -> Option<f64> {
    let (python, ours) = solvers.fold((0.0, 0.0), |(python, ours), solver| {
        (python + solver.python, ours + solver.ours)
    });
    (ours > 0.0).then(|| python / ours)
}

/// Solvers from the smallest ratio to the largest.
fn ranked(comparison: &Comparison) -> Vec<&Measured> {
    let mut ranked: Vec<&Measured> = comparison.solvers.iter().collect();
    ranked.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    ranked
}

/// Writes the report for people.
pub fn write(out: &mut impl Write, comparison: &Comparison, ui: &Ui) -> Result<()> {
    writeln!(
        out,
        "against {} ({}), one core each, {} solvers{}",
        comparison.python.display(),
        comparison.version,
        comparison.solvers.len(),
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
    let figures = Figures::of(comparison);
    let times = |ratio: Option<f64>| {
        ratio.map_or_else(|| "-".to_owned(), |r| format!("{r:.1} times faster"))
    };
    writeln!(out, "overall          {}", times(figures.overall))?;
    writeln!(out, "without {HEAVY} {}", times(figures.without_heavy))?;
    writeln!(out, "{HEAVY} alone   {}", times(figures.heavy))?;
    writeln!(out, "median solver    {}", times(Some(figures.median)))?;
    writeln!(out, "slowest solver   {}", times(Some(figures.minimum)))?;
    Ok(())
}

fn distribution(ranked: &[&Measured]) -> Vec<(String, usize)> {
    let mut rows = Vec::new();
    let mut low = 0.0;
    for high in BOUNDS.into_iter().chain([f64::INFINITY]) {
        let inside = |solver: &&&Measured| (low..high).contains(&solver.ratio());
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

/// The comparison for JSON.
pub fn to_json(comparison: &Comparison) -> Json {
    let figures = Figures::of(comparison);
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
        "ratio_without_a64e4611": figures.without_heavy,
        "ratio_a64e4611": figures.heavy,
        "ratio_median": figures.median,
        "ratio_minimum": figures.minimum,
        "solvers": solvers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_three_solvers() {
        let solver = |name: &str, python, ours| Measured {
            name: name.into(),
            grids: 1,
            python,
            ours,
        };
        let comparison = Comparison {
            python: "python3".into(),
            version: "CPython 3".into(),
            solvers: vec![
                solver("solve_a", 100.0, 2.0),
                solver("solve_b", 90.0, 1.0),
                solver("solve_a64e4611", 9810.0, 97.0),
            ],
            agreed: 3,
            answers: 3,
            differences: Vec::new(),
            interrupted: false,
        };
        let figures = Figures::of(&comparison);
        assert_eq!(figures.overall, Some(100.0));
        assert!((figures.without_heavy.unwrap() - 190.0 / 3.0).abs() < 1e-9);
        assert!((figures.heavy.unwrap() - 9810.0 / 97.0).abs() < 1e-9);
        assert_eq!((figures.median, figures.minimum), (90.0, 50.0));
        let counts: Vec<usize> = distribution(&ranked(&comparison))
            .iter()
            .map(|row| row.1)
            .collect();
        assert_eq!(counts, [0, 0, 0, 2, 1, 0]);
    }
}
