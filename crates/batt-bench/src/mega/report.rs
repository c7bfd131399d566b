//! The table of workloads, as text and as JSON.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value as Json, json};

use super::costs::{BattCosts, Part};
use super::{Agreement, Megabench, Workload};
use crate::text::{
    counted, differ, duration, grouped, interrupted, solvers_and_mutants, table, table_text,
};

/// Writes the report as text.
pub fn write(out: &mut dyn Write, bench: &Megabench) -> Result<()> {
    writeln!(
        out,
        "{} on {} of {}{}",
        solvers_and_mutants(bench.solvers, bench.mutants),
        counted(bench.pairs, "sample"),
        counted(bench.tasks, "task"),
        interrupted(bench.interrupted),
    )?;
    writeln!(out, "\ntime per sample")?;
    let header = [
        "workload",
        "steps",
        "samples",
        "rounds",
        "mean",
        "median",
        "ratio",
        "median ratio",
        "to",
    ];
    let mut rows = table(&header, &[1, 2, 3, 4, 5, 6, 7]);
    let (ours, targets): (Vec<&Workload>, Vec<&Workload>) =
        bench.workloads.iter().partition(|w| w.published.is_none());
    for workload in ours {
        let baseline = workload.baseline.as_ref();
        let times = |ratio: Option<f64>| ratio.map_or_else(String::new, |r| format!("{r:.2}"));
        rows.add_row([
            workload.name.clone(),
            steps(workload),
            grouped(workload.samples),
            workload.rounds.to_string(),
            duration(workload.mean),
            workload.median.map_or_else(String::new, duration),
            times(baseline.map(|b| b.ratio)),
            times(baseline.and_then(|b| b.median)),
            baseline.map_or("", |b| b.name).to_owned(),
        ]);
    }
    write!(out, "{}", table_text(&rows))?;
    let title = "sizes of the original's targets";
    writeln!(out, "\n{title}")?;
    let header = [
        "workload",
        "steps",
        "samples",
        "here",
        "original, as published",
    ];
    let mut rows = table(&header, &[1, 2, 3, 4]);
    for workload in targets {
        rows.add_row([
            workload.name.clone(),
            steps(workload),
            grouped(workload.samples),
            duration(workload.mean),
            workload.published.unwrap_or_default().to_owned(),
        ]);
    }
    write!(out, "{}", table_text(&rows))?;
    writeln!(
        out,
        "The original's figures come from its documents and from another machine."
    )?;
    write_costs(out, &bench.costs)?;
    writeln!(out)?;
    write_agreement(out, &bench.agreement)
}

fn steps(workload: &Workload) -> String {
    workload.steps.map_or_else(String::new, grouped)
}

fn write_costs(out: &mut dyn Write, found: &BattCosts) -> Result<()> {
    let title = "time of one batt by step";
    writeln!(out, "\n{title}")?;
    let mut rows = table(&["steps of", "steps", "share", "time"], &[1, 2, 3]);
    let mut row = |name: &str, part: &Part| {
        rows.add_row([
            name.to_owned(),
            grouped(part.steps),
            percent(part.steps as f64 / found.steps.max(1) as f64),
            percent(part.time),
        ]);
    };
    let names = ["one solver", "2 to 9 solvers", "10 solvers and more"];
    for (name, part) in names.into_iter().zip(&found.by_users) {
        row(name, part);
    }
    row("no input (the same on every sample)", &found.independent);
    let hundredth = Part {
        steps: found.steps.div_ceil(100),
        time: found.hundredth,
    };
    row("the most expensive hundredth", &hundredth);
    writeln!(out, "{}", table_text(&rows))?;
    let mut rows = table(&["most expensive steps", "solvers", "time"], &[1, 2]);
    for step in &found.top {
        rows.add_row([
            format!("t{} = {}", step.number, step.call),
            step.donors.to_string(),
            percent(step.time),
        ]);
    }
    write!(out, "{}", table_text(&rows))?;
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn write_agreement(out: &mut dyn Write, agreement: &Agreement) -> Result<()> {
    for difference in agreement.differences.iter().take(5) {
        writeln!(out, "differs: {difference}")?;
    }
    let differ = differ(agreement.differ);
    writeln!(
        out,
        "{} compared between the sides: {differ}; {} not judged because a side reached a limit",
        counted(agreement.compared, "result"),
        grouped(agreement.limited),
    )?;
    Ok(())
}

/// Returns the report as JSON.
pub fn to_json(bench: &Megabench) -> Json {
    let workload = |w: &Workload| {
        json!({
            "name": w.name,
            "steps": w.steps,
            "samples": w.samples,
            "rounds": w.rounds,
            "us_per_sample": w.mean,
            "us_median_sample": w.median,
            "baseline": w.baseline.as_ref().map(|b| b.name),
            "ratio": w.baseline.as_ref().map(|b| b.ratio),
            "ratio_median_sample": w.baseline.as_ref().and_then(|b| b.median),
            "original_as_published": w.published,
        })
    };
    let found = &bench.costs;
    let part = |part: &Part| json!({"steps": part.steps, "time_share": part.time});
    let top = found.top.iter().map(|step| {
        json!({
            "step": step.number,
            "call": step.call,
            "solvers": step.donors,
            "time_share": step.time,
        })
    });
    json!({
        "solvers": bench.solvers,
        "mutants": bench.mutants,
        "tasks": bench.tasks,
        "samples": bench.pairs,
        "interrupted": bench.interrupted,
        "workloads": bench.workloads.iter().map(workload).collect::<Vec<_>>(),
        "compared": bench.agreement.compared,
        "disagreements": bench.agreement.differ,
        "limited": bench.agreement.limited,
        "differences": bench.agreement.differences,
        "profile": {
            "samples": found.samples,
            "steps": found.steps,
            "us_per_sample": found.micros,
            "one_solver": part(&found.by_users[0]),
            "two_to_nine_solvers": part(&found.by_users[1]),
            "ten_solvers_and_more": part(&found.by_users[2]),
            "no_input": part(&found.independent),
            "most_expensive_hundredth": found.hundredth,
            "most_expensive": top.collect::<Vec<_>>(),
        },
    })
}
