//! From the syntax tree of one function to a [`Batt`].
//!
//! The form is narrow, since such files are written by programs: steps, guarded or not, and entries for
//! the two lists. Whatever else occurs is an error, so that nothing of a batt is lost in silence.

use std::collections::HashSet;

use batt_dsl::Literal;
use ruff_python_ast::{self as ast, ExceptHandler, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::lower::{ERROR_LIMIT, FileContext, Lowering, plain_parameters};
use super::{FileKind, Lowered};
use crate::batt::{Batt, COMPARISON, Closures, INPUT, OnError, Output, PARAMS, SAMPLES, Score};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::program::{Operand, StepKind};

/// What a guard catches.
const CAUGHT: [&str; 3] = ["TypeError", "AttributeError", "ValueError"];
/// What gives the default of a step that failed.
const DEFAULT_OF: &str = "_get_safe_default";
/// The routine behind a line with four targets.
const SAMPLE_BATCH: [&str; 2] = ["batch_process_samples_gpu", "batch_process_samples"];
/// Parameters of a batt that no step can use.
const UNUSED_PARAMS: [&str; 2] = ["task_id", "log_path"];

const STEP_FORM: &str = "a step is one call assigned to one name, such as t3 = add(t1, t2)";
const OUTPUT_FORM: &str = "an entry is o.append((7, False, 'solver', t7))";
const SCORE_FORM: &str = "an entry is s.append((7, 'solver', 'differ', t7))";
const GUARD_FORM: &str = "a guard is 'try:' with one step, then 'except (TypeError, AttributeError, \
                          ValueError):' with 'tN = _get_safe_default(callee)'";

/// Batt files: every function with the signature of a batt, or with entries, is one.
pub(crate) enum Batts {}

impl FileKind for Batts {
    type Item = Batt;

    fn function(
        file: &FileContext<'_>,
        def: &ast::StmtFunctionDef,
        offset: usize,
    ) -> Lowered<Batt> {
        let mut assigned = HashSet::new();
        for stmt in &def.body {
            assigned_names(stmt, &mut assigned);
        }
        // The lists are no values: a step that uses one uses an unknown name.
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
            let message = format!("'{}' is no batt and is left out", def.name);
            let code = Code::IgnoredStatement;
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

/// Is the function called that way, or does it have a parameter that only batts have, or lists for
/// entries?
fn is_batt(def: &ast::StmtFunctionDef) -> bool {
    def.name.as_str() == "batt"
        || plain_parameters(def).any(|p| UNUSED_PARAMS.contains(&p.name().as_str()))
        || def.body.iter().any(|stmt| {
            append_of(stmt).is_some() || matches!(stmt, Stmt::Assign(a) if list_of(a).is_some())
        })
}

/// The names that a statement of a batt assigns.
fn assigned_names<'a>(stmt: &'a Stmt, names: &mut HashSet<&'a str>) {
    let assign = match stmt {
        Stmt::Assign(assign) => assign,
        Stmt::Try(guard) => match guard.body.first() {
            Some(Stmt::Assign(assign)) => assign,
            _ => return,
        },
        _ => return,
    };
    for target in &assign.targets {
        match target {
            Expr::Name(name) => {
                names.insert(name.id.as_str());
            }
            Expr::Tuple(tuple) => {
                let parts = tuple.elts.iter().filter_map(Expr::as_name_expr);
                names.extend(parts.map(|name| name.id.as_str()));
            }
            _ => {}
        }
    }
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

/// Which lists have been made so far.
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

/// The list that `o = []` or `s = []` makes.
fn list_of(assign: &ast::StmtAssign) -> Option<List> {
    match (assign.targets.as_slice(), &*assign.value) {
        ([Expr::Name(name)], Expr::List(list)) if list.elts.is_empty() => {
            List::named(name.id.as_str())
        }
        _ => None,
    }
}

/// The list and the arguments of `o.append(...)` or `s.append(...)`.
fn append_of(stmt: &Stmt) -> Option<(List, &ast::Arguments)> {
    let Stmt::Expr(expr) = stmt else {
        return None;
    };
    let call = expr.value.as_call_expr()?;
    let method = call.func.as_attribute_expr()?;
    let list = List::named(method.value.as_name_expr()?.id.as_str())?;
    (method.attr.as_str() == "append").then_some((list, &call.arguments))
}

/// Steps without a guard, in two kinds: how many, and where the first is.
#[derive(Default)]
struct Unguarded {
    /// Calls of something that can fail.
    open: Option<(usize, TextRange)>,
    /// Calls of primitives that never do.
    safe: Option<(usize, TextRange)>,
}

impl Unguarded {
    fn count(kind: &mut Option<(usize, TextRange)>, range: TextRange) {
        kind.get_or_insert((0, range)).0 += 1;
    }
}

/// The state of reading one batt; it goes on after an error, as [`Lowering`] does.
struct Reading<'f> {
    lowering: Lowering<'f>,
    numbers: Vec<u32>,
    outputs: Vec<Output>,
    scores: Vec<Score>,
    lists: Lists,
    guarded: usize,
    unguarded: Unguarded,
}

impl<'f> Reading<'f> {
    fn error(&mut self, code: Code, message: impl Into<String>, range: TextRange, hint: &str) {
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
                    self.error(Code::UnsupportedParameter, message, param.range(), hint);
                    self.lowering.variables.insert(name, None);
                    continue;
                }
            };
            if !seen.insert(name) {
                let message = format!("parameter '{name}' appears twice");
                self.error(Code::UnsupportedParameter, message, param.range(), "");
            }
            self.lowering.variables.insert(name, Some(value));
        }
        if !seen.contains("I") {
            let message = format!("batt '{}' has no parameter 'I'", def.name);
            let hint = "the parameters are task_id, S, I, C, log_path, or some of these";
            let code = Code::UnsupportedParameter;
            self.error(code, message, def.parameters.range(), hint);
        }
    }

    fn body(&mut self, def: &'f ast::StmtFunctionDef) {
        let mut returned = false;
        for stmt in &def.body {
            if self.lowering.diagnostics.len() >= ERROR_LIMIT {
                return;
            }
            if returned {
                let message = "statement after 'return' is never reached";
                self.error(Code::AfterReturn, message, stmt.range(), "");
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
            self.error(Code::MissingReturn, message, def.name.range(), hint);
        }
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
            let message = "a batt returns its two lists";
            let hint = "end the batt with 'return o, s'";
            self.error(Code::MissingReturn, message, ret.range(), hint);
            return;
        }
        for (list, name) in [(List::Outputs, "o"), (List::Scores, "s")] {
            self.list_is_made(list, name, ret.range());
        }
    }

    /// Complains if a list is used that was never made.
    fn list_is_made(&mut self, list: List, name: &str, range: TextRange) {
        // Once is enough for each.
        if !std::mem::replace(self.lists.made(list), true) {
            let message = format!("'{name}' is used before it has a value");
            let hint = format!("begin the batt with '{name} = []'");
            self.error(Code::UnboundVariable, message, range, &hint);
        }
    }

    fn statement(&mut self, stmt: &'f Stmt) {
        match stmt {
            Stmt::Assign(assign) => match list_of(assign) {
                Some(list) => {
                    if std::mem::replace(self.lists.made(list), true) {
                        let message = "a list is made once, at the beginning";
                        self.error(Code::BadStep, message, stmt.range(), "");
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
                    let message = "this statement has no place in a batt";
                    self.error(Code::UnsupportedStatement, message, stmt.range(), STEP_FORM);
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

    /// Reads `tN = callee(args)`; true if a step came of it.
    fn step(&mut self, assign: &'f ast::StmtAssign) -> bool {
        let [Expr::Name(target)] = assign.targets.as_slice() else {
            let message = "a step has one name";
            self.error(Code::BadStep, message, assign.range(), STEP_FORM);
            return false;
        };
        let name = target.id.as_str();
        if List::named(name).is_some() {
            let message = format!("'{name}' is a list, not the name of a step");
            self.error(Code::BadStep, message, target.range(), STEP_FORM);
            return false;
        }
        let before = self.lowering.builder.len();
        let value = self.lowering.value(&assign.value, name);
        // What comes after an error is read as if the step were there.
        self.lowering.variables.insert(name, None);
        let Some(value) = value else {
            return false;
        };
        if self.lowering.builder.len() != before + 1 {
            let nested = self.lowering.builder.len() > before;
            let (message, hint) = if nested {
                (
                    "a step is one call",
                    "give the inner call a step of its own",
                )
            } else {
                ("a step is a call", STEP_FORM)
            };
            self.error(Code::BadStep, message, assign.value.range(), hint);
            return false;
        }
        self.define(target, value)
    }

    /// Gives a step its number and makes its name known.
    fn define(&mut self, target: &'f ast::ExprName, value: Operand) -> bool {
        let name = target.id.as_str();
        let last = self.numbers.last().copied();
        let number = match step_number(name) {
            Some(number) => Some(number).filter(|&n| last.is_none_or(|last| last < n)),
            None => last.map_or(Some(1), |last| last.checked_add(1)),
        };
        let Some(number) = number else {
            let message = match last {
                Some(last) => format!("'{name}' comes after step {last}: step numbers must grow"),
                None => format!("'{name}' has no number"),
            };
            self.error(Code::StepNumber, message, target.range(), "");
            return false;
        };
        self.numbers.push(number);
        self.lowering.variables.insert(name, Some(value));
        true
    }

    /// Reads `ta, tb, tc, td = batch_process_samples_gpu(S)`: the inputs, the outputs, and the colours
    /// of both.
    fn sample_batch(&mut self, targets: &'f ast::ExprTuple, assign: &'f ast::StmtAssign) {
        let names = targets.elts.iter().filter_map(Expr::as_name_expr);
        let names: Vec<&ast::ExprName> = names.collect();
        for name in &names {
            self.lowering.variables.insert(name.id.as_str(), None);
        }
        let routine = assign.value.as_call_expr().filter(|call| {
            let name = call.func.as_name_expr().map(|name| name.id.as_str());
            name.is_some_and(|name| SAMPLE_BATCH.contains(&name))
        });
        let arguments = routine.map(|call| &call.arguments);
        let samples = arguments.filter(|a| a.keywords.is_empty() && a.args.len() == 1);
        let (Some(samples), 4, 4) = (samples, names.len(), targets.elts.len()) else {
            let message = "several names at once are for the sample batch alone";
            let hint = "the form is t1, t2, t3, t4 = batch_process_samples_gpu(S)";
            self.error(Code::BadStep, message, assign.range(), hint);
            return;
        };
        let before = self.lowering.builder.len();
        let samples = self.lowering.value(&samples.args[0], names[0].id.as_str());
        if self.lowering.builder.len() != before {
            let hint = "give the inner call a step of its own";
            self.error(Code::BadStep, "a step is one call", assign.range(), hint);
            return;
        }
        let Some(samples) = samples else {
            return;
        };
        let range = assign.value.range();
        let Some([apply, mapply, first, second, colors]) =
            self.primitives(["apply", "mapply", "first", "second", "p_g"], range)
        else {
            return;
        };
        let inputs = self.part(names[0], apply.clone(), vec![first, samples.clone()], range);
        let outputs = self.part(names[1], apply, vec![second, samples], range);
        for (name, grids) in [(names[2], inputs), (names[3], outputs)] {
            if let Some(grids) = grids {
                self.part(name, mapply.clone(), vec![colors.clone(), grids], range);
            }
        }
        Unguarded::count(&mut self.unguarded.safe, assign.range());
    }

    /// Primitives the sample batch is made of, as the dialect has them.
    fn primitives(&mut self, names: [&str; 5], range: TextRange) -> Option<[Operand; 5]> {
        let dialect = self.lowering.file.dialect;
        let known = names.map(|name| dialect.op(name).map(Operand::Op));
        if let Some(missing) = known.iter().position(Option::is_none) {
            let message = format!(
                "unknown name '{}', which the sample batch uses",
                names[missing]
            );
            let hint = format!("the dialect {} has no sample batch", dialect.name());
            self.error(Code::UnknownName, message, range, &hint);
            return None;
        }
        let known: Vec<Operand> = known.into_iter().flatten().collect();
        known.try_into().ok()
    }

    /// One of the four steps of the sample batch.
    fn part(
        &mut self,
        name: &'f ast::ExprName,
        callee: Operand,
        args: Vec<Operand>,
        range: TextRange,
    ) -> Option<Operand> {
        let kind = StepKind::Call { callee, args };
        let value = self.lowering.push_named(kind, name.id.as_str(), range);
        self.define(name, value.clone()).then_some(value)
    }

    fn guard(&mut self, guard: &'f ast::StmtTry) {
        let (step, handler) = match (guard.body.as_slice(), guard.handlers.as_slice()) {
            ([Stmt::Assign(step)], [ExceptHandler::ExceptHandler(handler)])
                if guard.orelse.is_empty() && guard.finalbody.is_empty() && !guard.is_star =>
            {
                (step, handler)
            }
            _ => {
                let message = "this 'try' is not the guard of one step";
                self.error(Code::BadGuard, message, guard.range(), GUARD_FORM);
                return;
            }
        };
        if !catches(handler) {
            let message = "a guard catches TypeError, AttributeError and ValueError";
            self.error(Code::BadGuard, message, handler.range(), GUARD_FORM);
        }
        if !self.step(step) {
            return;
        }
        self.guarded += 1;
        let [Stmt::Assign(default)] = handler.body.as_slice() else {
            let message = "a guard gives the step its default";
            self.error(Code::BadGuard, message, handler.range(), GUARD_FORM);
            return;
        };
        self.default_of(step, default);
    }

    /// Checks that a guard gives the step the default of what it calls.
    fn default_of(&mut self, step: &'f ast::StmtAssign, default: &'f ast::StmtAssign) {
        let name = |assign: &'f ast::StmtAssign| match assign.targets.as_slice() {
            [Expr::Name(name)] => Some(name.id.as_str()),
            _ => None,
        };
        if name(step) != name(default) {
            let message = "a guard gives a value to the step that failed";
            self.error(Code::BadGuard, message, default.range(), GUARD_FORM);
            return;
        }
        let call = default.value.as_call_expr().filter(|call| {
            let callee = call.func.as_name_expr();
            callee.is_some_and(|name| name.id.as_str() == DEFAULT_OF)
                && call.arguments.keywords.is_empty()
                && call.arguments.args.len() == 1
        });
        let Some(call) = call else {
            let message = "a guard gives the step its default";
            self.error(Code::BadGuard, message, default.value.range(), GUARD_FORM);
            return;
        };
        // A name means in the guard what it meant in the step: nothing was assigned in between, not
        // even where the step is `x = x(I)`.
        let named = &call.arguments.args[0];
        let callee = step.value.as_call_expr().map(|call| &*call.func);
        let same_name = match (callee.and_then(Expr::as_name_expr), named.as_name_expr()) {
            (Some(callee), Some(named)) => Some(callee.id == named.id),
            _ => None,
        };
        let same = same_name.unwrap_or_else(|| {
            let before = self.lowering.builder.len();
            let callee = self.lowering.builder.last_callee().cloned();
            let named = self.lowering.value(named, "_");
            named.is_some() && named == callee && self.lowering.builder.len() == before
        });
        if !same {
            let message = "the default is that of something else than the step calls";
            self.error(Code::BadGuard, message, default.value.range(), GUARD_FORM);
        }
    }

    /// The four parts of an entry.
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
            self.error(Code::BadAppend, "an entry has four parts", range, form);
        }
        parts
    }

    fn output(&mut self, arguments: &'f ast::Arguments, range: TextRange) {
        self.list_is_made(List::Outputs, "o", range);
        let Some([number, mutated, donor, value]) = self.entry(arguments, range, OUTPUT_FORM)
        else {
            return;
        };
        let number = self.number(number, OUTPUT_FORM);
        let mutated = match mutated {
            Expr::BooleanLiteral(mutated) => Some(mutated.value),
            _ => {
                let message = "the second part says whether the solver was mutated";
                self.error(Code::BadAppend, message, mutated.range(), OUTPUT_FORM);
                None
            }
        };
        let donor = self.text(donor, "the third part is the id of the solver", OUTPUT_FORM);
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

    fn score(&mut self, arguments: &'f ast::Arguments, range: TextRange) {
        self.list_is_made(List::Scores, "s", range);
        let Some([number, donor, differ, value]) = self.entry(arguments, range, SCORE_FORM) else {
            return;
        };
        let number = self.number(number, SCORE_FORM);
        let what = "the second part is the id of the solver, or 'None'";
        let donor = self.text(donor, what, SCORE_FORM);
        let differ = self.text(
            differ,
            "the third part is the name of the differ",
            SCORE_FORM,
        );
        let value = self.entry_value(value, SCORE_FORM);
        let after = self.lowering.builder.len() as u32;
        if let (Some(number), Some(donor), Some(differ), Some(value)) =
            (number, donor, differ, value)
        {
            self.scores.push(Score {
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
        let number = match super::literal::literal(expr) {
            Ok(Literal::Int(number)) => u32::try_from(number).ok(),
            _ => None,
        };
        if number.is_none() {
            let message = "the first part is the number of a step";
            self.error(Code::BadAppend, message, expr.range(), form);
        }
        number
    }

    fn text(&mut self, expr: &Expr, what: &str, form: &str) -> Option<String> {
        match expr {
            Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
            _ => {
                self.error(Code::BadAppend, what, expr.range(), form);
                None
            }
        }
    }

    /// The value of an entry: a step, a parameter, or something written out, but no call.
    fn entry_value(&mut self, expr: &'f Expr, form: &str) -> Option<Operand> {
        let before = self.lowering.builder.len();
        let value = self.lowering.value(expr, "_");
        if self.lowering.builder.len() != before {
            let message = "the fourth part is the value of a step";
            self.error(Code::BadAppend, message, expr.range(), form);
            return None;
        }
        value
    }

    fn finish(self, def: &ast::StmtFunctionDef) -> Lowered<Batt> {
        let warnings = self.warnings();
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
            let message = "the entries need too many steps, all together";
            let hint = "divide the batt into several";
            lowering.error(Code::TooLarge, message, def.name.range(), Some(hint.into()));
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

    /// What is to be said about steps without a guard among others that have one.
    fn warnings(&self) -> Vec<Diagnostic> {
        if self.guarded == 0 {
            return Vec::new();
        }
        let say = |kind: Option<(usize, TextRange)>, severity, why: &str| {
            let (count, range) = kind?;
            let message = match count {
                1 => format!("1 step has no guard, where others have one; {why}"),
                _ => format!("{count} steps have no guard, where others have one; {why}"),
            };
            let code = Code::UnguardedStep;
            Some(self.lowering.finding(severity, code, message, range, None))
        };
        let open = say(
            self.unguarded.open,
            Severity::Warning,
            "if it fails here the batt goes on, and in Python it does not",
        );
        let safe = say(
            self.unguarded.safe,
            Severity::Info,
            "it needs none, since the primitive never fails",
        );
        open.into_iter().chain(safe).collect()
    }
}

/// Does a handler catch exactly what guards catch?
fn catches(handler: &ast::ExceptHandlerExceptHandler) -> bool {
    let Some(Expr::Tuple(types)) = handler.type_.as_deref() else {
        return false;
    };
    let names = types.elts.iter().filter_map(Expr::as_name_expr);
    let mut names: Vec<&str> = names.map(|name| name.id.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut caught = CAUGHT;
    caught.sort_unstable();
    handler.name.is_none() && names == caught && types.elts.len() == caught.len()
}

/// The number in the name of a step, 12 for `t12`.
pub(crate) fn step_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('t')?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    let canonical = digits == "0" || !digits.starts_with('0');
    (plain && canonical).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use batt_dsl::Dialect;

    use super::*;
    use crate::batt::BattFile;
    use crate::program::StepId;

    fn read(body: &[&str]) -> BattFile {
        read_in(body, Dialect::Tokpidjin)
    }

    fn read_in(body: &[&str], dialect: Dialect) -> BattFile {
        let lines = ["s = []", "o = []"].iter().chain(body);
        let lines = lines.chain(&["return o, s"]);
        let lines: Vec<_> = lines.map(|line| format!("    {line}\n")).collect();
        let text = format!("def batt(task_id, S, I, C, log_path):\n{}", lines.concat());
        BattFile::parse(&text, "batt.py", Some(dialect))
    }

    fn batt(body: &[&str]) -> Batt {
        let file = read(body);
        assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
        file.batts.into_iter().next().expect("a batt")
    }

    /// What is said about a body, as `code: message`.
    fn said(body: &[&str]) -> Vec<String> {
        let file = read(body);
        assert_eq!(file.batts.is_empty(), !file.is_clean());
        let function = |d: &Diagnostic| d.function.as_deref() == Some("batt");
        assert!(file.diagnostics.iter().all(function));
        let found = file.diagnostics.iter();
        found
            .map(|d| format!("{}: {}", d.code, d.message))
            .collect()
    }

    fn guarded(target: &str, call: &str, callee: &str) -> [String; 4] {
        [
            "try:".to_owned(),
            format!("    {target} = {call}"),
            "except (TypeError, AttributeError, ValueError):".to_owned(),
            format!("    {target} = _get_safe_default({callee})"),
        ]
    }

    fn strs(lines: &[String]) -> Vec<&str> {
        lines.iter().map(String::as_str).collect()
    }

    #[test]
    fn steps_and_entries() {
        let batt = batt(&[
            "'''Text.'''",
            "o.append((0, False, 'same', I))",
            "# a comment",
            "t2 = add(I, F0)",
            "t3 = even(C)",
            "t7 = t2(S, t3, (BLACK, -1))",
            "o.append((7, True, 'abc', t7))",
            "s.append((3, 'None', 'd1', t3))",
            "s.append((3, 'abc', 'd2', t3))",
            "x = F0()",
        ]);
        assert_eq!(batt.numbers, [2, 3, 7, 8]);
        assert_eq!(batt.on_error, OnError::Poison);
        assert_eq!(batt.program.name(), "batt");
        assert_eq!(batt.program.steps()[2].name, "t7");
        assert_eq!(batt.program.steps()[2].span.line, 9);
        let [same, candidate] = batt.outputs.as_slice() else {
            panic!("{:?}", batt.outputs);
        };
        assert_eq!((same.number, same.after, &same.value), (0, 0, &INPUT));
        assert!(same.steps.is_empty() && !same.mutated);
        assert_eq!((candidate.number, candidate.after), (7, 3));
        assert!(candidate.mutated);
        assert_eq!(candidate.donor, "abc");
        assert_eq!(candidate.steps, [StepId(0), StepId(1), StepId(2)]);
        let donors: Vec<_> = batt.scores.iter().map(|s| s.donor.as_deref()).collect();
        assert_eq!(donors, [None, Some("abc")]);
        assert_eq!(batt.scores[1].differ, "d2");
        assert_eq!(batt.scores[1].steps, [StepId(1)]);
        assert_eq!(batt.step_numbered(7), Some(StepId(2)));
    }

    #[test]
    fn guards_mean_defaults() {
        let mut lines = Vec::new();
        lines.extend(guarded("t1", "add(I, F0)", "add"));
        lines.extend(guarded("t2", "t1(I)", "t1"));
        lines.extend(guarded("t3", "F0(I)", "F0"));
        lines.extend(guarded("t4", "(-1)(I)", "-1"));
        lines.extend(guarded("x", "even(I)", "even"));
        lines.extend(guarded("x", "x(I)", "x"));
        let batt = batt(&strs(&lines));
        assert_eq!(batt.on_error, OnError::Defaults);
        assert_eq!(batt.numbers, [1, 2, 3, 4, 5, 6]);
        let last = &batt.program.steps()[5].kind;
        let callee = last.operands().next();
        assert_eq!(callee, Some(&Operand::Step(StepId(4))));
    }

    #[test]
    fn steps_without_a_guard_are_noted_among_guarded_ones() {
        let mut lines = guarded("t1", "add(I, F0)", "add").to_vec();
        assert!(said(&strs(&lines)).is_empty());
        lines.push("t2 = (t1, I)".to_owned());
        assert!(said(&strs(&lines)).is_empty());
        lines.push("t3 = add(I, t2)".to_owned());
        let safe = "unguarded-step: 1 step has no guard, where others have one; it needs none, since \
                    the primitive never fails";
        assert_eq!(said(&strs(&lines)), [safe]);
        lines.push("t4 = t1(I)".to_owned());
        lines.push("t5 = t1(I)".to_owned());
        let found = read(&strs(&lines)).diagnostics;
        let severities: Vec<_> = found.iter().map(|d| (d.severity, d.span.line)).collect();
        assert_eq!(severities, [(Severity::Info, 9), (Severity::Warning, 10)]);
        assert!(found[1].message.starts_with("2 steps have no guard"));
    }

    #[test]
    fn other_guards_are_not_understood() {
        let good = guarded("t1", "add(I, F0)", "add").join("\n    ");
        assert!(said(&[&good]).is_empty());
        for (from, to) in [
            ("(TypeError, AttributeError, ValueError)", "Exception"),
            ("(TypeError, AttributeError, ValueError)", ""),
            ("TypeError, ", ""),
            ("TypeError, ", "KeyError, "),
            ("ValueError)", "ValueError) as e"),
            ("ValueError)", "ValueError, KeyError)"),
            ("default(add)", "default(even)"),
            ("default(add)", "default(add, add)"),
            ("default(add)", "default(add(I, I))"),
            ("_get_safe_default(add)", "add(I, I)"),
            ("t1 = _get", "t2 = _get"),
            ("t1 = _get_safe_default(add)", "pass"),
            ("F0)\n", "F0)\n        t2 = add(I, F0)\n"),
            ("default(add)", "default(add)\n    finally:\n        pass"),
            ("except (", "except* ("),
        ] {
            let bad = good.replace(from, to);
            assert_ne!(bad, good, "{from}");
            let said = said(&[&bad]);
            assert!(
                said.iter().any(|s| s.starts_with("bad-guard: ")),
                "{bad}\n{said:?}"
            );
        }
        let unknown = good.replace("add", "ad_d");
        assert_eq!(said(&[&unknown]), ["unknown-name: unknown name 'ad_d'"]);
    }

    #[test]
    fn the_sample_batch_is_four_steps() {
        let line = "t3, t4, t5, t9 = batch_process_samples_gpu(S)";
        let file = read(&[line, "t10 = add(t9, t3)"]);
        let names = ["apply", "mapply", "first", "second", "p_g"];
        if names
            .iter()
            .all(|name| Dialect::Tokpidjin.op(name).is_some())
        {
            assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
            let batt = &file.batts[0];
            assert_eq!(batt.numbers, [3, 4, 5, 9, 10]);
            let text = batt.program.to_string();
            assert!(
                text.contains("x1 = apply(first, S)\n    x2 = apply(second, S)"),
                "{text}"
            );
            assert!(
                text.contains("x3 = mapply(p_g, x1)\n    x4 = mapply(p_g, x2)"),
                "{text}"
            );
        } else {
            let messages: Vec<_> = file
                .diagnostics
                .iter()
                .map(|d| d.message.as_str())
                .collect();
            assert!(messages[0].starts_with("unknown name"), "{messages:?}");
            assert_eq!(messages.len(), 1, "{messages:?}");
        }
        let file = read_in(&[line], Dialect::ArcDsl);
        let hint = "the dialect arc-dsl has no sample batch";
        assert_eq!(file.diagnostics[0].hint.as_deref(), Some(hint));
        for line in [
            "t1, t2, t3 = batch_process_samples(S)",
            "t1, t2, t3, I.x = batch_process_samples(S)",
            "t1, t2, t3, t4 = batch_process_samples(S, S)",
            "t1, t2, t3, t4 = batch_process_samples",
            "t1, t2, t3, t4 = add(S)",
            "t1, t2, t3, t4 = batch_process_samples(add(S, S))",
        ] {
            let said = said(&[line]);
            assert!(said[0].starts_with("bad-step: "), "{line} {said:?}");
        }
    }

    #[test]
    fn what_is_no_step_is_an_error() {
        for (line, expected) in [
            ("t1 = I", "bad-step: a step is a call"),
            ("t1 = (1, 2)", "bad-step: a step is a call"),
            ("t1 = add(add(I, I), I)", "bad-step: a step is one call"),
            ("t1 = add((I, I), I)", "bad-step: a step is one call"),
            ("t1 = t2 = add(I, I)", "bad-step: a step has one name"),
            ("I.x = add(I, I)", "bad-step: a step has one name"),
            ("o = []", "bad-step: a list is made once, at the beginning"),
            (
                "o = add(I, I)",
                "bad-step: 'o' is a list, not the name of a step",
            ),
            ("t1 = add(o, I)", "unknown-name: unknown name 'o'"),
            (
                "t1 = add(task_id, I)",
                "unknown-name: unknown name 'task_id'",
            ),
            ("t1 = ad_d(I, I)", "unknown-name: unknown name 'ad_d'"),
            (
                "t1 = I + I",
                "unsupported-expression: operators are not supported",
            ),
            (
                "add(I, I)",
                "unsupported-statement: this statement has no place in a batt",
            ),
            (
                "if I: pass",
                "unsupported-statement: this statement has no place in a batt",
            ),
            (
                "t1 = add(t2, I)\n    t2 = add(I, I)",
                "unbound-variable: variable 't2' is used \
              before it has a value",
            ),
            (
                "t1 = add(t1, I)",
                "unbound-variable: variable 't1' is used before it has a value",
            ),
            (
                "t2 = add(I, I)\n    t1 = add(I, I)",
                "step-number: 't1' comes after step 2: step \
              numbers must grow",
            ),
            (
                "t1 = add(I, I)\n    t1 = add(I, I)",
                "step-number: 't1' comes after step 1: step \
              numbers must grow",
            ),
            (
                "return o, s\n    t1 = add(I, I)",
                "after-return: statement after 'return' is never \
              reached",
            ),
        ] {
            assert_eq!(said(&[line]), [expected], "{line}");
        }
    }

    #[test]
    fn entries_have_their_form() {
        for line in [
            "o.append(1)",
            "o.append((1, True, 'a'))",
            "o.append((1, True, 'a', I), 2)",
            "o.append((1, True, 'a', I, I))",
            "o.append(object=(1, True, 'a', I))",
            "o.append((-1, True, 'a', I))",
            "o.append((4294967296, True, 'a', I))",
            "o.append((True, True, 'a', I))",
            "o.append((1, 1, 'a', I))",
            "o.append((1, True, None, I))",
            "o.append((1, True, b'a', I))",
            "o.append((1, True, 'a', add(I, I)))",
            "s.append((1, None, 'a', I))",
            "s.append((1, 'a', 1, I))",
            "s.append((1, 'a', 'a', (I, I)))",
        ] {
            let said = said(&[line]);
            assert!(
                said.len() == 1 && said[0].starts_with("bad-append: "),
                "{line} {said:?}"
            );
        }
        assert_eq!(
            said(&["o.append((1, True, 'a', t1))"]),
            ["unknown-name: unknown name 't1'"]
        );
    }

    #[test]
    fn lists_are_made_used_and_returned() {
        let said = |text: &str| {
            let file = BattFile::parse(text, "batt.py", Some(Dialect::Tokpidjin));
            let found = file.diagnostics.iter();
            found
                .map(|d| format!("{}: {}", d.code, d.message))
                .collect::<Vec<_>>()
        };
        let missing = "unbound-variable: 's' is used before it has a value";
        assert_eq!(said("def batt(I):\n  o = []\n  return o, s"), [missing]);
        let text = "def batt(I):\n  o = []\n  s.append((1, 'None', 'd', I))\n  return o, s";
        assert_eq!(said(text), [missing]);
        let other = "missing-return: a batt returns its two lists";
        assert_eq!(
            said("def batt(I):\n  o = []\n  s = []\n  return s, o"),
            [other]
        );
        assert_eq!(
            said("def batt(I):\n  o = []\n  s = []\n  return o"),
            [other]
        );
        let none = "missing-return: 'batt' does not return its lists";
        assert_eq!(said("def batt(I):\n  o = []\n  s = []"), [none]);
    }

    #[test]
    fn signatures() {
        let parse = |params: &str| {
            let text = format!("def batt({params}):\n  o = []\n  s = []\n  return o, s");
            BattFile::parse(&text, "batt.py", Some(Dialect::Tokpidjin))
        };
        for params in ["I", "S, I, C", "log_path, I: Grid, task_id", "C, I"] {
            let file = parse(params);
            assert!(
                file.diagnostics.is_empty(),
                "{params} {:?}",
                file.diagnostics
            );
            assert_eq!(file.batts[0].program.params(), PARAMS);
        }
        for params in ["", "S", "I, x", "I=1", "I, I", "*I", "I, *, S"] {
            let file = parse(params);
            assert!(!file.is_clean() && file.batts.is_empty(), "{params}");
        }
    }

    #[test]
    fn other_functions_are_left_out() {
        let text = "import x\ndef f(I):\n  return I\ndef g(task_id, I):\n  o = []\n  s = []\n  \
                    return o, s\ndef batt(I):\n  return I\n";
        let file = BattFile::parse(text, "batt.py", None);
        let found: Vec<_> = file.diagnostics.iter().map(Diagnostic::headline).collect();
        assert_eq!(
            found,
            [
                "batt.py:2:5: warning[ignored-statement]: 'f' is no batt and is left out",
                "batt.py:9:3: error[missing-return]: a batt returns its two lists",
            ]
        );
        assert_eq!(file.batts.len(), 1);
        assert!(file.batt("g").is_some() && file.batt("batt").is_none());
    }

    #[test]
    fn a_wrong_number_of_arguments_is_no_error_where_nothing_fails() {
        assert!(said(&["t1 = add(I)", "t2 = even()", "t3 = even(t1, I, I, I, I)"]).is_empty());
        let file = read_in(&["t1 = add(I)"], Dialect::ArcDsl);
        assert_eq!(file.diagnostics[0].code, Code::WrongArity);
    }

    #[test]
    fn numbers_in_names() {
        for (name, number) in [
            ("t1", Some(1)),
            ("t0", Some(0)),
            ("t4294967295", Some(u32::MAX)),
            ("t4294967296", None),
            ("t01", None),
            ("t", None),
            ("t1a", None),
            ("T1", None),
            ("x1", None),
            ("t+1", None),
        ] {
            assert_eq!(step_number(name), number, "{name}");
        }
        let said = said(&["t4294967295 = add(I, I)", "x = add(I, I)"]);
        assert!(said[0].starts_with("step-number: "), "{said:?}");
    }
}
