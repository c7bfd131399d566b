//! Which primitives a device leaves to the processor.

use std::io::Write;

use anyhow::Result;
use batt_cuda::source;
use batt_dsl::{Dialect, OpId};
use serde_json::{Value as Json, json};

use crate::ui::{counted, grouped, table, table_text};

/// Primitives without a device body: dialect and name.
pub struct Missing {
    all: usize,
    found: Vec<(Dialect, &'static str)>,
}

impl Missing {
    /// As the device source says.
    pub fn new() -> Missing {
        let dispatch = source::VM.iter().find(|file| file.name == "dispatch.cuh");
        Missing {
            all: OpId::every().count(),
            found: missing(dispatch.map_or("", |file| file.text)),
        }
    }

    pub fn write(&self, out: &mut impl Write) -> Result<()> {
        if self.found.is_empty() {
            writeln!(
                out,
                "all {} primitives have a device body",
                grouped(self.all)
            )?;
            return Ok(());
        }
        writeln!(
            out,
            "{} of {} without a device body; the processor does runs that need them:",
            grouped(self.found.len()),
            counted(self.all, "primitive"),
        )?;
        let mut rows = table(&[], &[]);
        for (dialect, name) in &self.found {
            rows.add_row([*name, dialect.name()]);
        }
        write!(out, "{}", table_text(&rows))?;
        Ok(())
    }

    pub fn to_json(&self) -> Json {
        let found = self.found.iter();
        let found = found.map(|(dialect, name)| json!({"name": name, "dialect": dialect.name()}));
        json!({"primitives": self.all, "missing": found.collect::<Vec<_>>()})
    }
}

/// The generator of the switch over the bodies writes down what it had none for.
fn missing(dispatch: &'static str) -> Vec<(Dialect, &'static str)> {
    let lines = dispatch.lines();
    let names = lines.filter_map(|line| line.strip_prefix("// missing: "));
    let named = names.filter_map(|name| match name.trim().split_once('_')? {
        ("tok", name) => Some((Dialect::Tokpidjin, name)),
        ("op", name) => Some((Dialect::ArcDsl, name)),
        _ => None,
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISPATCH: &str = "\
  case 4: return op_invert(c, a);
// missing: op_frontiers
// missing: tok_get_nth_f
";

    #[test]
    fn names_and_dialects() {
        let found = missing(DISPATCH);
        let expected = [
            (Dialect::ArcDsl, "frontiers"),
            (Dialect::Tokpidjin, "get_nth_f"),
        ];
        assert_eq!(found, expected);
        assert_eq!(missing(""), []);
    }

    #[test]
    fn words_about_it() {
        let text = |found| {
            let mut out = Vec::new();
            let all = Missing { all: 1445, found };
            all.write(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(vec![]), "all 1,445 primitives have a device body\n");
        let some = text(missing(DISPATCH));
        assert!(some.starts_with("2 of 1,445 primitives without"), "{some}");
        assert!(some.contains("get_nth_f  tokpidjin"), "{some}");
    }
}
