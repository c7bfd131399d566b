//! Entries of the lists: candidates and scores.

use batt_dsl::Literal;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::{List, Reading};
use crate::batt::{DifferScore, Output};
use crate::diagnostic::DiagnosticCode;
use crate::parse::literal::literal;
use crate::program::Operand;

const OUTPUT_FORM: &str = "an entry is o.append((7, False, 'solver', t7))";
const SCORE_FORM: &str = "an entry is s.append((7, 'solver', 'differ', t7))";

impl<'f> Reading<'f> {
    /// Returns the four parts of an entry.
    fn entry(
        &mut self,
        arguments: &'f ast::Arguments,
        range: TextRange,
        form: &str,
    ) -> Option<&'f [Expr; 4]> {
        let parts = match (&*arguments.args, arguments.keywords.is_empty()) {
            ([Expr::Tuple(tuple)], true) => tuple.elts.as_slice().try_into().ok(),
            _ => None,
        };
        if parts.is_none() {
            self.error(
                DiagnosticCode::BadAppend,
                "an entry must have four parts",
                range,
                form,
            );
        }
        parts
    }

    /// Reads `o.append(...)`.
    pub(super) fn output(&mut self, arguments: &'f ast::Arguments, range: TextRange) {
        self.list_is_made(List::Outputs, "o", range);
        let Some([number, mutated, donor, value]) = self.entry(arguments, range, OUTPUT_FORM)
        else {
            return;
        };
        let number = self.number(number, OUTPUT_FORM);
        let mutated = match mutated {
            Expr::BooleanLiteral(mutated) => Some(mutated.value),
            _ => {
                let message =
                    "the second part must be True or False: whether the solver was mutated";
                self.error(
                    DiagnosticCode::BadAppend,
                    message,
                    mutated.range(),
                    OUTPUT_FORM,
                );
                None
            }
        };
        let donor = self.text(
            donor,
            "the third part must be the id of the solver",
            OUTPUT_FORM,
        );
        let value = self.entry_value(value, OUTPUT_FORM);
        let after = self.lowering.builder.len() as u32;
        if let (Some(number), Some(mutated), Some(donor), Some(value)) =
            (number, mutated, donor, value)
        {
            self.outputs.push(Output {
                number,
                mutated,
                donor,
                value,
                steps: Vec::new(),
                after,
            });
        }
    }

    /// Reads `s.append(...)`.
    pub(super) fn score(&mut self, arguments: &'f ast::Arguments, range: TextRange) {
        self.list_is_made(List::Scores, "s", range);
        let Some([number, donor, differ, value]) = self.entry(arguments, range, SCORE_FORM) else {
            return;
        };
        let number = self.number(number, SCORE_FORM);
        let what = "the second part must be the id of the solver, or 'None'";
        let donor = self.text(donor, what, SCORE_FORM);
        let differ = self.text(
            differ,
            "the third part must be the name of the differ",
            SCORE_FORM,
        );
        let value = self.entry_value(value, SCORE_FORM);
        let after = self.lowering.builder.len() as u32;
        if let (Some(number), Some(donor), Some(differ), Some(value)) =
            (number, donor, differ, value)
        {
            self.scores.push(DifferScore {
                number,
                donor: Some(donor).filter(|donor| donor != "None"),
                differ,
                value,
                steps: Vec::new(),
                after,
            });
        }
    }

    fn number(&mut self, expr: &Expr, form: &str) -> Option<u32> {
        let number = match literal(expr) {
            Ok(Literal::Int(number)) => u32::try_from(number).ok(),
            _ => None,
        };
        if number.is_none() {
            let message = "the first part must be the number of a step";
            self.error(DiagnosticCode::BadAppend, message, expr.range(), form);
        }
        number
    }

    fn text(&mut self, expr: &Expr, what: &str, form: &str) -> Option<String> {
        match expr {
            Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
            _ => {
                self.error(DiagnosticCode::BadAppend, what, expr.range(), form);
                None
            }
        }
    }

    /// The value of an entry: a step, a parameter or a literal, but not a call.
    fn entry_value(&mut self, expr: &'f Expr, form: &str) -> Option<Operand> {
        let before = self.lowering.builder.len();
        let value = self.lowering.value(expr, "_");
        if self.lowering.builder.len() != before {
            let message = "the fourth part must be the value of a step";
            self.error(DiagnosticCode::BadAppend, message, expr.range(), form);
            return None;
        }
        value
    }
}
