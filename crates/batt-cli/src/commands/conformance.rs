//! `batt conformance`: checks the engine against results that CPython computed.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::conformance::{
    Conformance, DeviceConformance, Difference, Group, Unfinished, check, check_on_device,
};
use batt::{Counts, DeviceChoice, Devices, Limits, Reason};
use clap::Args;

use crate::cli::Exit;
use crate::device::launches;
use crate::error::advised;
use crate::numbers;
use crate::ui::{BAD, DIM, Ui, WARN, counted, grouped, shown, stdout, table, table_text};

/// Check the engine against results that CPython computed
#[derive(Args)]
#[command(after_help = "\
DIR has ops/<function>.jsonl, calls of one primitive with their results, or programs/NNN.py with
programs/NNN.jsonl, programs with their results. A case passes if batt gives the same value, kinds
and the order of sets included, or if both Python and batt fail.

On a device the cases run in large batches. Cases that the device cannot complete run on the CPU,
or, with --no-fallback, are listed with the reason.

Examples:
  batt conformance vectors
  batt conformance vectors --limit 100
  batt conformance vectors --op hmirror
  batt conformance vectors --device emulated --op objects,partition --no-fallback")]
pub struct ConformanceArgs {
    /// The folder of vectors
    dir: PathBuf,

    /// Print this many differences in full
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = numbers::from_zero::<usize>)]
    limit: usize,

    /// Check only the calls of these primitives
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    op: Vec<String>,

    /// The device on which the cases run
    #[arg(long, value_name = DeviceChoice::FORMS, default_value = "cpu")]
    device: DeviceChoice,

    /// List the cases that a device cannot complete, and do not run them on the CPU
    #[arg(long)]
    no_fallback: bool,
}

/// Runs the command.
pub fn main(args: &ConformanceArgs, ui: &Ui) -> Result<Exit> {
    let mut devices = Devices::open(&args.device, usize::MAX, &Limits::default(), None)?;
    ui.device_notes(&devices);
    let device_name = devices.names().into_iter().next().unwrap_or_default();
    let bar = ui.spinner();
    let progress = |path: &Path, report: &Conformance| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let done = report.passed + report.differences.len();
        bar.set_message(format!("{name}, {} so far", counted(done, "case")));
    };
    let (dir, ops) = (&args.dir, &args.op);
    if devices.is_empty() {
        if args.no_fallback {
            return Err(advised(
                "--no-fallback needs a device",
                "name one with --device, or leave --no-fallback out",
            ));
        }
        let report = check(dir, ops, progress);
        bar.finish_and_clear();
        let mut out = stdout();
        let report = report?;
        write_report(&mut out, &report, args, ui)?;
        let failed = report.differences.len();
        writeln!(out, "{} passed, {failed} failed", report.passed)?;
        out.flush()?;
        return Ok(Exit::findings(failed > 0));
    }
    let found = check_on_device(dir, ops, &mut devices, !args.no_fallback, progress);
    bar.finish_and_clear();
    write_device_report(&found?, &device_name, args, ui)
}

/// Writes the differences, and notes about other cases.
fn write_report(
    out: &mut impl Write,
    report: &Conformance,
    args: &ConformanceArgs,
    ui: &Ui,
) -> Result<()> {
    for difference in report.differences.iter().take(args.limit) {
        write_difference(out, difference, ui)?;
    }
    let failed = report.differences.len();
    if failed > args.limit {
        let rest = grouped(failed - args.limit);
        writeln!(out, "... and {rest} more (--limit prints more of them)\n")?;
    }
    if report.other_class > 0 {
        ui.remark(format_args!(
            "{} with another exception than Python's, counted as passed",
            counted(report.other_class, "failure"),
        ));
    }
    Ok(())
}

fn write_device_report(
    found: &DeviceConformance,
    device: &str,
    args: &ConformanceArgs,
    ui: &Ui,
) -> Result<Exit> {
    let mut out = stdout();
    let left = &found.unfinished;
    if args.no_fallback {
        for case in left.iter().take(args.limit) {
            write_unfinished(&mut out, case, ui)?;
        }
        if left.len() > args.limit {
            let rest = grouped(left.len() - args.limit);
            writeln!(out, "... and {rest} more unfinished\n")?;
        }
    }
    write_report(&mut out, &found.report, args, ui)?;
    for error in &found.errors {
        ui.warn(format_args!("{device}: {error}"));
    }
    if args.op.len() != 1 && args.no_fallback {
        write_ops(&mut out, left)?;
    }
    let mut rows = table(&["", "cases", "first", "exact", "left"], &[1, 2, 3]);
    for (group, [all, ordered]) in &found.groups {
        rows.add_row(row(&group.to_string(), all));
        if ordered.total() > 0 {
            rows.add_row(row("  that depend on order", ordered));
        }
    }
    writeln!(out, "{}", table_text(&rows))?;
    let times = &found.times;
    ui.remark(format_args!(
        "{}: {} of {:.2} s together, {} MB sent, {} MB back",
        device,
        launches(times.launches),
        times.kernel.as_secs_f64(),
        times.bytes_up >> 20,
        times.bytes_down >> 20,
    ));
    let failed = found.report.differences.len();
    write!(out, "{} passed, {failed} failed", found.report.passed)?;
    if args.no_fallback {
        write!(out, ", {} unfinished", left.len())?;
    }
    writeln!(out)?;
    out.flush()?;
    let unfinished = args.no_fallback && !left.is_empty();
    Ok(Exit::findings(failed > 0 || unfinished))
}

/// Returns a row with the counts of where the cases of a group were completed.
fn row(name: &str, counts: &Counts) -> [String; 5] {
    let left = counts.reasons();
    let left: Vec<String> = left
        .map(|(reason, count)| format!("{} {reason}", grouped(count as usize)))
        .collect();
    [
        name.to_owned(),
        grouped(counts.total() as usize),
        grouped(counts.first as usize),
        grouped(counts.exact as usize),
        left.join(", "),
    ]
}

/// Writes the primitives that the device did not complete, with the reasons.
fn write_ops(out: &mut impl Write, left: &[Unfinished]) -> Result<()> {
    let mut ops: BTreeMap<(Group, &str), [u64; Reason::ALL.len()]> = BTreeMap::new();
    for case in left {
        if let Some(op) = case.op {
            let counts = ops.entry((case.group, op.op().name)).or_default();
            counts[case.reason.index()] += 1;
        }
    }
    if ops.is_empty() {
        return Ok(());
    }
    let mut rows = table(&["primitive", "", "left"], &[]);
    for ((group, name), left) in ops {
        let counts = Counts {
            left,
            ..Counts::default()
        };
        let [.., left] = row(name, &counts);
        let dialect = match group {
            Group::Ops(dialect) => dialect.name(),
            _ => "",
        };
        rows.add_row([name, dialect, &left]);
    }
    writeln!(out, "{}", table_text(&rows))?;
    Ok(())
}

fn write_unfinished(out: &mut impl Write, case: &Unfinished, ui: &Ui) -> Result<()> {
    let (file, line) = (shown(&case.file), case.line);
    let label = ui.out(WARN, format_args!("unfinished ({}):", case.reason));
    writeln!(out, "{label} {file}:{line}")?;
    writeln!(out, "  {} {}", ui.out(DIM, "    case"), case.what)?;
    writeln!(out)?;
    Ok(())
}

fn write_difference(out: &mut impl Write, difference: &Difference, ui: &Ui) -> Result<()> {
    let (file, line) = (shown(&difference.file), difference.line);
    writeln!(out, "{} {file}:{line}", ui.out(BAD, "differs:"))?;
    for (label, text) in [
        ("case", &difference.what),
        ("expected", &difference.expected),
        ("got", &difference.got),
    ] {
        writeln!(out, "  {} {text}", ui.out(DIM, format_args!("{label:>8}")))?;
    }
    writeln!(out)?;
    Ok(())
}
