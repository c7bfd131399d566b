//! The manual as one Markdown page.

use std::fmt::Write;

use batt_dsl::{ConstId, Op, ops};

use super::{doc, failure, families, signature, title};

/// The page; the same text for the same table.
pub fn markdown() -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_page(&mut out);
    out
}

fn write_page(out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "<!-- Generated from the op table by `batt ops --markdown`. Do not edit. -->\n"
    )?;
    writeln!(out, "# The primitives\n")?;
    writeln!(
        out,
        "{} primitives and {} constants. Types are conventions: nothing checks them, and what a \
         primitive does with other values is part of its meaning. `batt ops NAME` shows one entry \
         in the terminal.\n",
        ops().len(),
        ConstId::all().len()
    )?;
    for (family, ops) in families() {
        let names: Vec<String> = ops.iter().map(|op| link(op)).collect();
        let heading = heading(family);
        let anchor = heading.to_lowercase().replace(' ', "-");
        writeln!(out, "- [{heading}](#{anchor}): {}", names.join(", "))?;
    }
    writeln!(out, "- [Constants](#constants)")?;
    for (family, ops) in families() {
        writeln!(out, "\n## {}", heading(family))?;
        for op in ops {
            write_op(out, op)?;
        }
    }
    writeln!(out, "\n## Constants\n\n| name | value |\n| --- | --- |")?;
    for id in ConstId::all() {
        writeln!(out, "| `{}` | `{}` |", id.name(), id.value())?;
    }
    Ok(())
}

/// More than the family's name, which may also be that of a primitive: `color`.
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
    writeln!(out, "```python\n>>> {call}\n{result}\n```")?;
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
        let page = markdown();
        for op in ops() {
            assert!(
                page.contains(&format!("\n### {}\n", op.name)),
                "{}",
                op.name
            );
            assert!(
                op.fails.is_empty() || failure(op).is_some(),
                "{} does not fail",
                op.name
            );
        }
        for id in ConstId::all() {
            assert!(
                page.contains(&format!("| `{}` |", id.name())),
                "{}",
                id.name()
            );
        }
        assert_eq!(page, markdown());
    }
}
