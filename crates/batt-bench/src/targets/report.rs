//! The table of targets: as text, as JSON, and as Markdown.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value as Json, json};

use super::catalogue::{TARGETS, Target, View};
use super::limit::limit;
use super::{Finding, Table};
use crate::text::{counted, counts_json, differ, duration, interrupted};

/// A target with its measurement.
struct Row<'t> {
    target: &'t Target,
    finding: Option<&'t Finding>,
    /// Microseconds on one core, on all cores and on devices.
    times: Option<[f64; 3]>,
    python: Option<f64>,
    limit: Option<String>,
}

impl<'t> Row<'t> {
    fn of(target: &'t Target, table: &'t Table) -> Row<'t> {
        let finding = table.findings.get(&target.what);
        let timings = finding.and_then(|finding| finding.timings.as_ref());
        let scale = timings.map(|timings| {
            let (samples, steps) = (timings.samples as f64, timings.steps as f64);
            match target.view {
                View::Whole => 1.0,
                View::PerSample => 1.0 / samples,
                View::Samples(wanted) => wanted as f64 / samples,
                View::PerStep => 1.0 / (samples * steps),
            }
        });
        let scale = scale.unwrap_or(1.0);
        Row {
            target,
            finding,
            times: timings.map(|t| [t.one, t.all, t.device].map(|time| time * scale)),
            python: finding.and_then(|finding| Some(finding.python? * scale)),
            limit: timings.map(|timings| limit(timings, table.warps)),
        }
    }

    /// Returns the speed of devices relative to one core and to all cores.
    fn ratios(&self) -> Option<[f64; 2]> {
        let [one, all, device] = self.times?;
        Some([one, all].map(|time| time / device.max(1e-6)))
    }

    fn note(&self) -> String {
        let mut note = match self.finding {
            Some(finding) => finding.note.clone(),
            None => "not measured".to_owned(),
        };
        if let (Some(python), Some([_, _, device])) = (self.python, self.times) {
            note += &format!(
                "; Python {}, {:.0} times as long as the device",
                duration(python),
                python / device.max(1e-6)
            );
        }
        note
    }

    fn to_json(&self) -> Json {
        let ratios = self.ratios();
        let timings = self.finding.and_then(|finding| finding.timings.as_ref());
        let mut row = json!({
            "doc": self.target.doc,
            "target": self.target.name,
            "published": self.target.published,
            "cpu_one_us": self.times.map(|times| times[0]),
            "cpu_all_us": self.times.map(|times| times[1]),
            "device_us": self.times.map(|times| times[2]),
            "python_us": self.python,
            "ratio_one": ratios.map(|ratios| ratios[0]),
            "ratio_all": ratios.map(|ratios| ratios[1]),
            "limit": self.limit,
            "note": self.note(),
        });
        if let Some(timings) = timings {
            let parts = &timings.parts;
            row["measured"] = json!({
                "samples": timings.samples,
                "runs": timings.runs,
                "steps": timings.steps,
                "rounds": timings.rounds,
                "device_us": timings.device,
                "kernel_us": parts.kernel,
                "upload_us": parts.upload,
                "download_us": parts.download,
                "leftovers_us": parts.leftovers,
                "bytes_up": parts.bytes_up,
                "bytes_down": parts.bytes_down,
                "launches": parts.launches,
                "finished": counts_json(&timings.counts),
            });
        }
        row
    }
}

fn rows(table: &Table) -> impl Iterator<Item = Row<'_>> {
    TARGETS.iter().map(|target| Row::of(target, table))
}

/// Formats a ratio of speeds to at least two significant digits, since devices may be far slower.
fn times(ratio: f64) -> String {
    let digits = match ratio {
        _ if ratio >= 100.0 => 0,
        _ if ratio >= 0.1 => 2,
        _ => (1.0 - ratio.max(1e-9).log10()).ceil() as usize,
    };
    format!("{ratio:.digits$}")
}

/// Writes the table as text.
pub fn write(out: &mut dyn Write, table: &Table) -> Result<()> {
    writeln!(
        out,
        "{}, against one core and {}; {:.0} s{}",
        table.devices.join(", "),
        counted(table.threads, "thread"),
        table.elapsed.as_secs_f64(),
        interrupted(table.interrupted),
    )?;
    for row in rows(table) {
        let target = row.target;
        writeln!(
            out,
            "\n{} {}: {}",
            target.doc,
            target.name.replace('`', ""),
            target.published
        )?;
        if let (Some([one, all, device]), Some([to_one, to_all])) = (row.times, row.ratios()) {
            writeln!(
                out,
                "    one core {}, all cores {}, device {}: {} times the speed of one core, {} times that of all",
                duration(one),
                duration(all),
                duration(device),
                times(to_one),
                times(to_all),
            )?;
        }
        if let Some(limit) = &row.limit {
            writeln!(out, "    limited by {limit}")?;
        }
        writeln!(out, "    {}", row.note())?;
    }
    writeln!(
        out,
        "\nThe original's figures come from its documents and from other machines, except those\
         \nlabelled \"Python\", which were measured here."
    )?;
    let agreement = &table.agreement;
    for difference in &agreement.differences {
        writeln!(out, "differs: {difference}")?;
    }
    let differ = differ(agreement.differing);
    writeln!(
        out,
        "{} compared between device and CPU: {differ}",
        counted(agreement.compared, "result")
    )?;
    Ok(())
}

/// Returns the table as JSON, one object for each target.
pub fn to_json(table: &Table) -> Json {
    json!({
        "devices": table.devices,
        "warps": table.warps,
        "threads": table.threads,
        "seconds": table.elapsed.as_secs_f64(),
        "interrupted": table.interrupted,
        "compared": table.agreement.compared,
        "differing": table.agreement.differing,
        "differences": table.agreement.differences,
        "errors": table.errors,
        "rows": rows(table).map(|row| row.to_json()).collect::<Vec<_>>(),
    })
}

/// Writes the table as Markdown.
pub fn write_markdown(out: &mut dyn Write, table: &Table) -> Result<()> {
    writeln!(
        out,
        "| doc | target | published | one core, all cores, device | speed relative to one core, to all | limited by | remarks |"
    )?;
    writeln!(out, "| --- | --- | --- | --- | --- | --- | --- |")?;
    for row in rows(table) {
        let target = row.target;
        let measured = row.times.map(|times| times.map(duration).join(", "));
        let ratios = row.ratios().map(|ratios| ratios.map(times).join(", "));
        let cells = [
            target.doc.to_owned(),
            target.name.to_owned(),
            target.published.to_owned(),
            measured.unwrap_or_default(),
            ratios.unwrap_or_default(),
            row.limit.clone().unwrap_or_default(),
            row.note(),
        ];
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::Duration;

    use super::super::catalogue::Measurement;
    use super::super::harness::{Agreement, Timings};
    use super::*;

    fn table() -> Table {
        let timings = Timings {
            samples: 100,
            runs: 100,
            steps: 10,
            one: 1000.0,
            all: 200.0,
            device: 100.0,
            ..Timings::default()
        };
        let finding = Finding {
            timings: Some(timings),
            python: Some(50_000.0),
            note: "a note".to_owned(),
        };
        Table {
            devices: vec!["a device".to_owned()],
            warps: None,
            threads: 5,
            findings: HashMap::from([(Measurement::Batt, finding)]),
            agreement: Agreement::default(),
            errors: Vec::new(),
            elapsed: Duration::from_secs(1),
            interrupted: false,
        }
    }

    #[test]
    fn views_scale_a_measurement() {
        let json = to_json(&table());
        let device = |name: &str| {
            let rows = json["rows"].as_array().unwrap();
            let row = rows.iter().find(|row| row["target"] == name).unwrap();
            (
                row["device_us"].as_f64().unwrap(),
                row["python_us"].as_f64().unwrap(),
                row["ratio_one"].as_f64().unwrap(),
            )
        };
        assert_eq!(device("speedup"), (100.0, 50_000.0, 10.0));
        assert_eq!(device("time per sample"), (1.0, 500.0, 10.0));
        assert_eq!(device("4,000 samples"), (4000.0, 2e6, 10.0));
        assert_eq!(device("one step"), (0.1, 50.0, 10.0));
    }

    #[test]
    fn ratios_have_significant_digits() {
        let all = [12_345.6, 12.345, 0.5, 0.0123, 0.000_036_3];
        let text = ["12346", "12.35", "0.50", "0.012", "0.000036"];
        assert_eq!(all.map(times), text);
    }

    #[test]
    fn the_page_has_a_row_for_each_target() {
        let mut out = Vec::new();
        write_markdown(&mut out, &table()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 + TARGETS.len());
        let cells = lines[0].matches('|').count();
        assert!(lines.iter().all(|line| line.matches('|').count() == cells));
        assert!(
            text.contains("| 1.00 ms, 200.00 us, 100.00 us | 10.00, 2.00 |"),
            "{text}"
        );
        assert!(text.contains("not measured"));
    }
}
