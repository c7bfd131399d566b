//! The manual as one Markdown page.

use std::fmt::Write;

use batt::Dialect;
use batt::ops::{Op, failure};

use super::{doc, families, signature, title};

/// Returns the page. It depends only on the op table.
pub fn markdown(dialect: Dialect) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_page(&mut out, dialect);
    fold(&out)
}

/// The number of columns of a line of prose.
const COLUMNS: usize = 100;

/// Folds lines of prose at [`COLUMNS`]. Code, tables and headings stay as they are.
fn fold(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    let mut is_code = false;
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        let indent = if line.starts_with("- ") { "  " } else { "" };
        let mut column = 0;
        for (k, word) in line.split(' ').enumerate() {
            let width = word.chars().count();
            let fixed = is_code || line.starts_with(['|', '#', '<']);
            if k > 0 && !fixed && column + 1 + width > COLUMNS {
                out.push('\n');
                out.push_str(indent);
                column = indent.len();
            } else if k > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += width;
        }
        out.push('\n');
    }
    out
}

fn write_page(out: &mut String, dialect: Dialect) -> std::fmt::Result {
    let name = dialect.name();
    writeln!(
        out,
        "<!-- Generated from the op table by `batt ops --markdown --dialect {name}`. Do not edit. -->\n"
    )?;
    writeln!(out, "# The primitives of {name}\n")?;
    writeln!(
        out,
        "{} primitives and {} constants. Types are conventions: nothing checks them, and most primitives also \
         accept some values of other types. `batt ops NAME` shows one entry in the terminal.\n",
        dialect.ops().len(),
        dialect.constants().len()
    )?;
    if dialect == Dialect::Tokpidjin {
        writeln!(
            out,
            "No primitive fails: where the original's code would raise an exception, the primitive gives \
             the value named in its entry. Cells are `(i, j, colour)`.\n"
        )?;
    }
    for (family, ops) in families(dialect) {
        let names: Vec<String> = ops.iter().map(|op| link(op)).collect();
        let heading = heading(family);
        let anchor = heading.to_lowercase().replace(' ', "-");
        writeln!(out, "- [{heading}](#{anchor}): {}", names.join(", "))?;
    }
    writeln!(out, "- [Constants](#constants)")?;
    for (family, ops) in families(dialect) {
        writeln!(out, "\n## {}", heading(family))?;
        for op in ops {
            write_op(out, op)?;
        }
    }
    writeln!(out, "\n## Constants\n\n| name | value |\n| --- | --- |")?;
    for id in dialect.constants() {
        writeln!(out, "| `{}` | `{}` |", id.name(), id.value())?;
    }
    Ok(())
}

/// Returns the heading of a family. It is longer than the family's name, which may also be the name
/// of a primitive, such as `color`.
fn heading(family: &str) -> String {
    title(family) + " primitives"
}

fn link(op: &Op) -> String {
    format!("[{0}](#{0})", op.name)
}

fn write_op(out: &mut String, op: &Op) -> std::fmt::Result {
    writeln!(out, "\n### {}\n", op.name)?;
    writeln!(out, "```python\n{}\n```\n", signature(op))?;
    writeln!(out, "{}\n", doc(op))?;
    let (call, result) = op.example;
    if !call.is_empty() {
        writeln!(out, "```python\n>>> {call}\n{result}\n```")?;
    }
    if let Some(fallback) = op.fallback {
        writeln!(out, "Instead of failing, it gives `{fallback}`.")?;
    }
    if let Some(error) = failure(op) {
        writeln!(out, "\n`{}` fails with {error}.", op.fails)?;
    }
    if op.order_sensitive {
        writeln!(
            out,
            "\nDepends on the order of a set: {}.",
            op.order.trim_end_matches('.')
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_primitive_and_constant_is_in_the_manual() {
        for dialect in Dialect::ALL {
            let page = markdown(dialect);
            for op in dialect.ops() {
                let name = op.name;
                assert!(page.contains(&format!("\n### {name}\n")), "{name}");
                let fails = op.fails.is_empty() || failure(op).is_some();
                assert!(fails, "{name} does not fail");
            }
            for id in dialect.constants() {
                let name = id.name();
                assert!(page.contains(&format!("| `{name}` |")), "{name}");
            }
            assert_eq!(page, markdown(dialect));
        }
    }

    #[test]
    fn prose_is_folded_and_code_is_not() {
        let word = "word ".repeat(30);
        let long = word.trim_end();
        let page = fold(&format!("- {long}\n```\n{long}\n```\n| {long} |\n"));
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines.len(), 6, "{page}");
        assert!(lines[0].chars().count() <= COLUMNS);
        assert!(lines[1].starts_with("  word"));
        assert_eq!(lines[3], long);
        assert_eq!(lines[5], format!("| {long} |"));
    }
}
