//! Writes the text of a batt, as a Python file that runs with the original library.

use std::fmt::{self, Write as _};

use batt_dsl::{Dialect, Literal};

use super::Batt;
use crate::program::{Operand, StepKind};

/// The form in which steps are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// `t1 = identity(I)`
    #[default]
    Plain,
    /// The same assignment in a `try` statement, whose handler gives the step the default value of
    /// the called primitive. Only tokpidjin has defaults, so a batt of another dialect is written
    /// in the plain form.
    Guarded,
}

/// Returns the text of a batt: imports, steps, and entries where they are appended.
///
/// Reading the text gives the batt back, with two exceptions. The plain form is read as
/// [`OnError::Poison`](super::OnError), the guarded one as `Defaults`. Entries get the closure of
/// their value as their steps; [`to_json`](super::to_json) keeps the real ones.
///
/// ```
/// use batt_dsl::Dialect;
/// use batt_lang::batt::{BattFile, Form, write_batt};
///
/// let text = "\
/// from dsl import *
/// from constants import *
///
///
/// def batt(task_id, S, I, C, log_path):
///     s = []
///     o = []
///     t1 = add(I, F0)
///     o.append((1, False, 'mine', t1))
///     return o, s
/// ";
/// let file = BattFile::parse(text, "batt.py", Some(Dialect::Tokpidjin));
/// assert_eq!(write_batt(&file.batts[0], Form::Plain), text);
/// ```
///
/// # Panics
///
/// If the numbers of the batt are fewer than its steps.
pub fn write_batt(batt: &Batt, form: Form) -> String {
    let guarded = form == Form::Guarded && batt.dialect() == Dialect::Tokpidjin;
    let mut out = String::from("from dsl import *\nfrom constants import *\n");
    if guarded {
        out.push_str("from safe_dsl import _get_safe_default\n");
    }
    let writer = Writer { batt, guarded };
    // Writing to a string does not fail.
    let _ = writer.function(&mut out);
    out
}

struct Writer<'b> {
    batt: &'b Batt,
    guarded: bool,
}

impl Writer<'_> {
    fn function(&self, out: &mut String) -> fmt::Result {
        let batt = self.batt;
        writeln!(
            out,
            "\n\ndef {}(task_id, S, I, C, log_path):",
            batt.program.name()
        )?;
        out.push_str("    s = []\n    o = []\n");
        let (mut outputs, mut scores) = (batt.outputs.iter(), batt.scores.iter());
        let mut entries = |out: &mut String, steps: usize| -> fmt::Result {
            let due = |after: u32| after as usize <= steps;
            while let Some(output) = next_if(&mut outputs, |output| due(output.after)) {
                let mutated = if output.mutated { "True" } else { "False" };
                let (donor, value) = (quoted(&output.donor), batt.spelling(&output.value));
                let number = output.number;
                writeln!(out, "    o.append(({number}, {mutated}, {donor}, {value}))")?;
            }
            while let Some(score) = next_if(&mut scores, |score| due(score.after)) {
                let donor = quoted(score.donor.as_deref().unwrap_or("None"));
                let (differ, value) = (quoted(&score.differ), batt.spelling(&score.value));
                writeln!(
                    out,
                    "    s.append(({}, {donor}, {differ}, {value}))",
                    score.number
                )?;
            }
            Ok(())
        };
        entries(out, 0)?;
        for (k, step) in batt.program.steps().iter().enumerate() {
            self.step(out, batt.numbers[k], &step.kind)?;
            entries(out, k + 1)?;
        }
        entries(out, usize::MAX)?;
        out.push_str("    return o, s\n");
        Ok(())
    }

    fn step(&self, out: &mut String, number: u32, kind: &StepKind) -> fmt::Result {
        match kind {
            StepKind::Call { callee, .. } if self.guarded => {
                writeln!(out, "    try:\n        t{number} = {}", self.value(kind))?;
                out.push_str("    except (TypeError, AttributeError, ValueError):\n");
                let callee = self.batt.spelling(callee);
                writeln!(out, "        t{number} = _get_safe_default({callee})")
            }
            // A tuple display cannot fail.
            _ => writeln!(out, "    t{number} = {}", self.value(kind)),
        }
    }

    /// Returns the right side of a step's assignment.
    fn value(&self, kind: &StepKind) -> String {
        let list = |items: &[Operand]| {
            let items: Vec<String> = items.iter().map(|item| self.batt.spelling(item)).collect();
            items.join(", ")
        };
        match kind {
            StepKind::Call { callee, args } => {
                let name = self.batt.spelling(callee);
                match callee {
                    // The sign of `-1(x)` would apply to the call.
                    Operand::Literal(Literal::Int(..0)) => format!("({name})({})", list(args)),
                    _ => format!("{name}({})", list(args)),
                }
            }
            StepKind::Tuple(items) if items.len() == 1 => format!("({},)", list(items)),
            StepKind::Tuple(items) => format!("({})", list(items)),
        }
    }
}

/// Takes the next item if `wanted` returns true for it.
fn next_if<'t, T>(
    items: &mut std::slice::Iter<'t, T>,
    wanted: impl Fn(&T) -> bool,
) -> Option<&'t T> {
    let first = items.as_slice().first().filter(|item| wanted(item))?;
    items.next();
    Some(first)
}

/// Returns a string as Python writes it: in single quotes, on one line.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            // Writing to a string does not fail.
            _ if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batt::{BattFile, OnError};

    fn read(text: &str, dialect: Dialect) -> Batt {
        let file = BattFile::parse(text, "batt.py", Some(dialect));
        assert!(file.is_clean(), "{:?}", file.diagnostics);
        file.batts.into_iter().next().expect("a batt")
    }

    const BODY: &str = "def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    s.append((0, 'None', 'first', I))
    t2 = add(I, F0)
    t5 = t2(BLACK, (1, -2))
    t6 = (t2,)
    t7 = (-1)(t6)
    o.append((5, True, 'it\\'s', t5))
    s.append((6, 'a', 'd', t6))
    return o, s
";

    #[test]
    fn the_plain_form() {
        let batt = read(BODY, Dialect::Tokpidjin);
        let text = write_batt(&batt, Form::Plain);
        let imports = "from dsl import *\nfrom constants import *\n\n\n";
        assert_eq!(text, format!("{imports}{BODY}"));
        assert_eq!(read(&text, Dialect::Tokpidjin), batt);
    }

    #[test]
    fn the_guarded_form() {
        let mut batt = read(BODY, Dialect::Tokpidjin);
        let text = write_batt(&batt, Form::Guarded);
        assert!(text.contains("\nfrom safe_dsl import _get_safe_default\n"));
        assert!(text.contains(
            "    try:\n        t7 = (-1)(t6)\n    \
             except (TypeError, AttributeError, ValueError):\n        \
             t7 = _get_safe_default(-1)\n"
        ));
        assert!(text.contains("\n    t6 = (t2,)\n"));
        batt.on_error = OnError::Defaults;
        assert_eq!(read(&text, Dialect::Tokpidjin), batt);
    }

    #[test]
    fn other_dialects_have_no_guards() {
        let batt = read(
            &BODY.replace("F0", "ONE").replace("BLACK", "T"),
            Dialect::ArcDsl,
        );
        assert_eq!(
            write_batt(&batt, Form::Guarded),
            write_batt(&batt, Form::Plain)
        );
    }

    #[test]
    fn strings_are_quoted_as_in_python() {
        assert_eq!(quoted("a'b\\c\n\0\u{85}é"), r"'a\'b\\c\n\u0000\u0085é'");
    }
}
