//! Lowers the syntax tree of one function to a [`Batt`].
//!
//! Programs write such files, so the accepted form is narrow: steps, guarded or not, and entries
//! for the two lists. Anything else is an error, so that no part of a batt is lost silently.

mod entries;
mod guard;
mod sample_batch;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::lower::{ERROR_LIMIT, FileContext, Lowering, plain_parameters};
use super::{FileKind, Lowered, bindings};
use crate::batt::{
    Batt, COMPARISON, Closures, DifferScore, INPUT, OnError, Output, PARAMS, SAMPLES,
};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Severity};
use crate::program::Operand;

/// Parameters of a batt that no step can use.
const UNUSED_PARAMS: [&str; 2] = ["task_id", "log_path"];

const STEP_FORM: &str = "a step is one call assigned to one name, such as t3 = add(t1, t2)";

/// Batt files. Every function with the signature of a batt, or with entries, is a batt.
pub(crate) enum Batts {}

impl FileKind for Batts {
    type Item = Batt;

    fn function(
        file: &FileContext<'_>,
        def: &ast::StmtFunctionDef,
        offset: usize,
    ) -> Lowered<Batt> {
        let mut assigned = bindings::names(&def.body);
        // The lists are not values. A step that uses a list uses an unknown name.
        assigned.retain(|name| List::named(name).is_none());
        let mut reading = Reading {
            lowering: Lowering::new(file, def, offset, &PARAMS, assigned),
            numbers: Vec::new(),
            outputs: Vec::new(),
            scores: Vec::new(),
            lists: Lists::default(),
            guarded: 0,
            unguarded: Unguarded::default(),
        };
        if !is_batt(def) {
            let message = format!("'{}' is not a batt and is ignored", def.name);
            let code = DiagnosticCode::IgnoredStatement;
            let name = def.name.range();
            let lowering = &reading.lowering;
            let found = lowering.finding(Severity::Warning, code, message, name, None);
            return Lowered {
                item: None,
                diagnostics: vec![found],
            };
        }
        reading.parameters(def);
        reading.body(def);
        reading.finish(def)
    }
}

/// Returns whether a function is meant as a batt: by its name, by a parameter that only batts have,
/// or by lists for entries.
fn is_batt(def: &ast::StmtFunctionDef) -> bool {
    def.name.as_str() == "batt"
        || plain_parameters(def).any(|p| UNUSED_PARAMS.contains(&p.name().as_str()))
        || def.body.iter().any(|stmt| {
            append_of(stmt).is_some() || matches!(stmt, Stmt::Assign(a) if list_of(a).is_some())
        })
}

/// The two lists of a batt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Outputs,
    Scores,
}

impl List {
    fn named(name: &str) -> Option<List> {
        match name {
            "o" => Some(List::Outputs),
            "s" => Some(List::Scores),
            _ => None,
        }
    }
}

/// The lists that have been made so far.
#[derive(Default)]
struct Lists {
    outputs: bool,
    scores: bool,
}

impl Lists {
    fn made(&mut self, list: List) -> &mut bool {
        match list {
            List::Outputs => &mut self.outputs,
            List::Scores => &mut self.scores,
        }
    }
}

/// Returns the list that `o = []` or `s = []` makes.
fn list_of(assign: &ast::StmtAssign) -> Option<List> {
    match (assign.targets.as_slice(), &*assign.value) {
        ([Expr::Name(name)], Expr::List(list)) if list.elts.is_empty() => {
            List::named(name.id.as_str())
        }
        _ => None,
    }
}

/// Returns the list and the arguments of `o.append(...)` or `s.append(...)`.
fn append_of(stmt: &Stmt) -> Option<(List, &ast::Arguments)> {
    let Stmt::Expr(expr) = stmt else {
        return None;
    };
    let call = expr.value.as_call_expr()?;
    let method = call.func.as_attribute_expr()?;
    let list = List::named(method.value.as_name_expr()?.id.as_str())?;
    (method.attr.as_str() == "append").then_some((list, &call.arguments))
}

/// The steps without a guard, of two kinds: their number, and the place of the first one.
#[derive(Default)]
struct Unguarded {
    /// Calls that can fail.
    open: Option<(usize, TextRange)>,
    /// Calls of primitives that never fail.
    safe: Option<(usize, TextRange)>,
}

impl Unguarded {
    fn count(kind: &mut Option<(usize, TextRange)>, range: TextRange) {
        kind.get_or_insert((0, range)).0 += 1;
    }
}

/// The state of lowering one batt. Lowering goes on after an error, as in [`Lowering`].
struct Reading<'f> {
    lowering: Lowering<'f>,
    numbers: Vec<u32>,
    outputs: Vec<Output>,
    scores: Vec<DifferScore>,
    lists: Lists,
    guarded: usize,
    unguarded: Unguarded,
}

impl<'f> Reading<'f> {
    fn error(
        &mut self,
        code: DiagnosticCode,
        message: impl Into<String>,
        range: TextRange,
        hint: &str,
    ) {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        self.lowering.error(code, message, range, hint);
    }

    fn parameters(&mut self, def: &'f ast::StmtFunctionDef) {
        self.lowering.header(def);
        let mut seen = HashSet::new();
        for param in plain_parameters(def) {
            let name = param.name().as_str();
            let value = match name {
                "S" => SAMPLES,
                "I" => INPUT,
                "C" => COMPARISON,
                _ if UNUSED_PARAMS.contains(&name) => continue,
                _ => {
                    let message = format!("a batt has no parameter '{name}'");
                    let hint = "the parameters are task_id, S, I, C, log_path, or some of these";
                    self.error(
                        DiagnosticCode::UnsupportedParameter,
                        message,
                        param.range(),
                        hint,
                    );
                    self.lowering.variables.insert(name, None);
                    continue;
                }
            };
            if !seen.insert(name) {
                let message = format!("parameter '{name}' appears twice");
                self.error(
                    DiagnosticCode::UnsupportedParameter,
                    message,
                    param.range(),
                    "",
                );
            }
            self.lowering.variables.insert(name, Some(value));
        }
        if !seen.contains("I") {
            let message = format!("batt '{}' has no parameter 'I'", def.name);
            let hint = "the parameters are task_id, S, I, C, log_path, or some of these";
            let code = DiagnosticCode::UnsupportedParameter;
            self.error(code, message, def.parameters.range(), hint);
        }
    }

    fn body(&mut self, def: &'f ast::StmtFunctionDef) {
        let mut returned = false;
        let (body, unreached) = bindings::split_at_return(&def.body);
        for stmt in body {
            if self.lowering.diagnostics.len() >= ERROR_LIMIT {
                return;
            }
            match stmt {
                Stmt::Return(ret) => {
                    returned = true;
                    self.result(ret);
                }
                _ => self.statement(stmt),
            }
        }
        if !returned {
            let message = format!("'{}' does not return its lists", def.name);
            let hint = "end the batt with 'return o, s'";
            self.error(
                DiagnosticCode::MissingReturn,
                message,
                def.name.range(),
                hint,
            );
        }
        self.lowering.unreached(unreached);
    }

    fn result(&mut self, ret: &'f ast::StmtReturn) {
        let lists: Option<Vec<_>> = match ret.value.as_deref() {
            Some(Expr::Tuple(tuple)) => {
                let names = tuple
                    .elts
                    .iter()
                    .map(|e| Some(e.as_name_expr()?.id.as_str()));
                names.collect()
            }
            _ => None,
        };
        if lists.as_deref() != Some(&["o", "s"]) {
            let message = "a batt must return its two lists";
            let hint = "end the batt with 'return o, s'";
            self.error(DiagnosticCode::MissingReturn, message, ret.range(), hint);
            return;
        }
        for (list, name) in [(List::Outputs, "o"), (List::Scores, "s")] {
            self.list_is_made(list, name, ret.range());
        }
    }

    /// Reports a list that is used but was never made, once for each list.
    fn list_is_made(&mut self, list: List, name: &str, range: TextRange) {
        if !std::mem::replace(self.lists.made(list), true) {
            let message = format!("'{name}' is used before it has a value");
            let hint = format!("begin the batt with '{name} = []'");
            self.error(DiagnosticCode::UnboundVariable, message, range, &hint);
        }
    }

    fn statement(&mut self, stmt: &'f Stmt) {
        match stmt {
            Stmt::Assign(assign) => match list_of(assign) {
                Some(list) => {
                    if std::mem::replace(self.lists.made(list), true) {
                        let message = "a list can be made only once, at the beginning";
                        self.error(DiagnosticCode::BadStep, message, stmt.range(), "");
                    }
                }
                None => {
                    if let [Expr::Tuple(targets)] = assign.targets.as_slice() {
                        self.sample_batch(targets, assign);
                        return;
                    }
                    let before = self.lowering.builder.len();
                    self.step(assign);
                    self.count_unguarded(before, stmt.range());
                }
            },
            Stmt::Try(guard) => self.guard(guard),
            // Docstrings, and strings used as comments.
            Stmt::Expr(expr) if expr.value.is_string_literal_expr() => {}
            Stmt::Pass(_) => {}
            _ => match append_of(stmt) {
                Some((List::Outputs, arguments)) => self.output(arguments, stmt.range()),
                Some((List::Scores, arguments)) => self.score(arguments, stmt.range()),
                None => {
                    let message = "this statement is not supported in a batt";
                    self.error(
                        DiagnosticCode::UnsupportedStatement,
                        message,
                        stmt.range(),
                        STEP_FORM,
                    );
                }
            },
        }
    }

    fn count_unguarded(&mut self, before: usize, range: TextRange) {
        if self.lowering.builder.len() == before {
            return;
        }
        match self.lowering.builder.last_callee() {
            // A tuple display cannot fail.
            None => {}
            Some(Operand::Op(op)) if op.op().fallback.is_some() => {
                Unguarded::count(&mut self.unguarded.safe, range);
            }
            Some(_) => Unguarded::count(&mut self.unguarded.open, range),
        }
    }

    /// Reads `tN = callee(args)`. Returns true if it added a step.
    fn step(&mut self, assign: &'f ast::StmtAssign) -> bool {
        let [Expr::Name(target)] = assign.targets.as_slice() else {
            let message = "a step must have one name";
            self.error(DiagnosticCode::BadStep, message, assign.range(), STEP_FORM);
            return false;
        };
        let name = target.id.as_str();
        if List::named(name).is_some() {
            let message = format!("'{name}' is a list, not the name of a step");
            self.error(DiagnosticCode::BadStep, message, target.range(), STEP_FORM);
            return false;
        }
        let before = self.lowering.builder.len();
        let value = self.lowering.value(&assign.value, name);
        // Later statements are read as if the step existed, even after an error.
        self.lowering.variables.insert(name, None);
        let Some(value) = value else {
            return false;
        };
        if self.lowering.builder.len() != before + 1 {
            let nested = self.lowering.builder.len() > before;
            let (message, hint) = if nested {
                (
                    "a step must be one call",
                    "give the inner call a step of its own",
                )
            } else {
                ("a step must be a call", STEP_FORM)
            };
            self.error(DiagnosticCode::BadStep, message, assign.value.range(), hint);
            return false;
        }
        self.define(target, value)
    }

    /// Gives a step its number and binds its name.
    fn define(&mut self, target: &'f ast::ExprName, value: Operand) -> bool {
        let name = target.id.as_str();
        let last = self.numbers.last().copied();
        let number = match step_number(name) {
            Some(number) => Some(number).filter(|&n| last.is_none_or(|last| last < n)),
            None => last.map_or(Some(1), |last| last.checked_add(1)),
        };
        let Some(number) = number else {
            let message = match last {
                Some(last) => format!("'{name}' comes after step {last}; step numbers must grow"),
                None => format!("'{name}' has no number"),
            };
            self.error(DiagnosticCode::StepNumber, message, target.range(), "");
            return false;
        };
        self.numbers.push(number);
        self.lowering.variables.insert(name, Some(value));
        true
    }

    fn finish(self, def: &ast::StmtFunctionDef) -> Lowered<Batt> {
        let mut warnings = self.warnings();
        let Reading {
            mut lowering,
            numbers,
            outputs,
            scores,
            guarded,
            ..
        } = self;
        if !lowering.diagnostics.is_empty() {
            return Lowered {
                item: None,
                diagnostics: lowering.diagnostics,
            };
        }
        warnings.extend(lowering.unreached.take());
        let on_error = match guarded {
            0 => OnError::Poison,
            _ => OnError::Defaults,
        };
        let builder =
            std::mem::replace(&mut lowering.builder, crate::ProgramBuilder::new("", [""]));
        let mut batt = Batt {
            program: builder.finish(Batt::RESULT),
            numbers,
            outputs,
            scores,
            on_error,
        };
        if Closures::fill_in(&mut batt).is_err() {
            let message = "the entries need too many steps in total";
            let hint = "divide the batt into several";
            lowering.error(
                DiagnosticCode::TooLarge,
                message,
                def.name.range(),
                Some(hint.into()),
            );
            return Lowered {
                item: None,
                diagnostics: lowering.diagnostics,
            };
        }
        Lowered {
            item: Some(batt),
            diagnostics: warnings,
        }
    }

    /// Returns warnings about steps without a guard among steps with one.
    fn warnings(&self) -> Vec<Diagnostic> {
        if self.guarded == 0 {
            return Vec::new();
        }
        let say = |kind: Option<(usize, TextRange)>, severity, why: &str| {
            let (count, range) = kind?;
            let message = match count {
                1 => format!("1 step has no guard although others have one; {why}"),
                _ => format!("{count} steps have no guard although others have one; {why}"),
            };
            let code = DiagnosticCode::UnguardedStep;
            Some(self.lowering.finding(severity, code, message, range, None))
        };
        let open = say(
            self.unguarded.open,
            Severity::Warning,
            "in Python a failure there ends the whole batt, here it does not",
        );
        let safe = say(
            self.unguarded.safe,
            Severity::Info,
            "none is needed because these primitives never fail",
        );
        open.into_iter().chain(safe).collect()
    }
}

/// Returns the number in the name of a step, 12 for `t12`.
pub(crate) fn step_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('t')?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    let canonical = digits == "0" || !digits.starts_with('0');
    (plain && canonical).then(|| digits.parse().ok())?
}
