//! Formats numbers and tables.

use std::fmt::{Display, Write as _};
use std::io::{self, BufWriter, Write};

use anyhow::Result;
pub use batt_arc::text::{counted, grouped};
use batt_engine::device::Counts;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Value as Json, json};

/// Prints a report to stdout.
pub fn print(write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// Writes a note to stderr.
pub fn note(text: impl Display) {
    eprintln!("note: {text}");
}

/// Makes a table without lines. The columns in `numbers` are right-aligned.
pub fn table(header: &[&str], numbers: &[usize]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    if !header.is_empty() {
        table.set_header(header.iter().copied());
    }
    for column in numbers {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Returns the text of a table, without blanks at the ends of lines.
pub fn table_text(table: &Table) -> String {
    let mut out = String::new();
    for line in table.lines() {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// Formats microseconds in a suitable unit.
pub fn duration(micros: f64) -> String {
    match micros {
        _ if micros < 0.1 => format!("{:.1} ns", micros * 1e3),
        _ if micros < 1000.0 => format!("{micros:.2} us"),
        _ if micros < 1e6 => format!("{:.2} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}

/// Formats the number of solvers: `12 solvers (3 mutants)`.
pub fn solvers_and_mutants(solvers: usize, mutants: usize) -> String {
    let solvers = counted(solvers, "solver");
    match mutants {
        0 => solvers,
        mutants => format!("{solvers} ({})", counted(mutants, "mutant")),
    }
}

/// Returns ` (interrupted)` after Ctrl-C, otherwise nothing.
pub fn interrupted(interrupted: bool) -> &'static str {
    match interrupted {
        true => " (interrupted)",
        false => "",
    }
}

/// Formats a number of differences: `none differs`, `3 differ`.
pub fn differ(count: usize) -> String {
    match count {
        0 => "none differs".to_owned(),
        n => format!("{} differ", grouped(n)),
    }
}

/// Formats where runs were finished: `17 of 20 runs, 2 of them exact; left to the CPU: 3 missing`.
pub fn where_finished(counts: &Counts) -> String {
    let finished = grouped(counts.finished() as usize);
    let mut text = format!("{finished} of {}", counted(counts.total() as usize, "run"));
    // Writing to a string cannot fail.
    if counts.exact > 0 {
        let _ = write!(text, ", {} of them exact", grouped(counts.exact as usize));
    }
    let left = counts
        .reasons()
        .map(|(reason, count)| format!("{} {reason}", grouped(count as usize)));
    let left: Vec<String> = left.collect();
    if !left.is_empty() {
        let _ = write!(text, "; left to the CPU: {}", left.join(", "));
    }
    text
}

/// Returns where runs were finished, as JSON.
pub fn counts_json(counts: &Counts) -> Json {
    let left: serde_json::Map<String, Json> = counts
        .reasons()
        .map(|(reason, count)| (reason.name().to_owned(), json!(count)))
        .collect();
    json!({"first": counts.first, "exact": counts.exact, "left": left})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted() {
        assert_eq!(duration(0.04), "40.0 ns");
        assert_eq!(duration(0.95), "0.95 us");
        assert_eq!(duration(2_500_000.0), "2.50 s");
    }
}
