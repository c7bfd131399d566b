//! Lowers the syntax tree of one function to a [`Program`].

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use batt_dsl::{Dialect, Literal};
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;

use super::globals::{Global, Globals};
use super::literal::{NotLiteral, literal};
use super::{Lowered, bindings, names, unsupported};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Severity};
use crate::program::{Operand, Program, ProgramBuilder, StepKind};
use crate::source::{LineRange, Locator};

/// The most errors reported for one function. A function with more is not solver code.
pub(super) const ERROR_LIMIT: usize = 20;

/// The facts about a file that lowering needs.
pub(crate) struct FileContext<'f> {
    pub(super) locator: &'f Locator<'f>,
    pub(super) dialect: Dialect,
    pub(super) globals: &'f Globals,
    /// The number of suggestions that may still be made. Each compares a name with the whole table,
    /// which would take long for a file of nothing but unknown names.
    pub(super) suggestions: Cell<usize>,
}

/// Lowers one function, whose syntax tree counts bytes from `offset`.
pub(super) fn function(
    file: &FileContext<'_>,
    def: &ast::StmtFunctionDef,
    offset: usize,
) -> Lowered<Program> {
    let assigned = bindings::names(&def.body);
    let params: Vec<&str> = plain_parameters(def).map(|p| p.name().as_str()).collect();
    let mut lowering = Lowering::new(file, def, offset, &params, assigned);
    lowering.header(def);
    for (position, name) in params.into_iter().enumerate() {
        let operand = lowering.builder.param(position);
        if lowering.variables.insert(name, Some(operand)).is_some() {
            let message = format!("parameter '{name}' appears twice");
            lowering.error(
                DiagnosticCode::UnsupportedParameter,
                message,
                def.parameters.range(),
                None,
            );
        }
    }
    let result = lowering.body(def);
    let result = result.filter(|_| lowering.diagnostics.is_empty());
    lowering.diagnostics.extend(lowering.unreached);
    Lowered {
        item: result.map(|result| lowering.builder.finish(result)),
        diagnostics: lowering.diagnostics,
    }
}

/// Returns the parameters that a caller can pass by position.
pub(super) fn plain_parameters(
    def: &ast::StmtFunctionDef,
) -> impl Iterator<Item = &ast::ParameterWithDefault> {
    def.parameters
        .posonlyargs
        .iter()
        .chain(&def.parameters.args)
}

/// The state of lowering one function. Lowering goes on after an error, to report more than one. A
/// value that depends on an error is `None` and is not reported again.
pub(super) struct Lowering<'f> {
    pub(super) file: &'f FileContext<'f>,
    offset: usize,
    pub(super) function: &'f str,
    pub(super) variables: HashMap<&'f str, Option<Operand>>,
    /// Every name the function assigns anywhere.
    assigned: HashSet<&'f str>,
    pub(super) builder: ProgramBuilder,
    /// The target of the current assignment, which names its steps.
    target: &'f str,
    /// The number of nested calls of the current statement so far.
    nested: usize,
    /// The errors so far.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The warning about statements after `return`, which does not keep the function from loading.
    pub(super) unreached: Option<Diagnostic>,
}

impl<'f> Lowering<'f> {
    /// Begins to lower a function. `params` are the parameters of the program, `assigned` all names
    /// that the function assigns.
    pub(super) fn new(
        file: &'f FileContext<'f>,
        def: &'f ast::StmtFunctionDef,
        offset: usize,
        params: &[&str],
        assigned: HashSet<&'f str>,
    ) -> Lowering<'f> {
        let name = def.name.as_str();
        let mut lowering = Lowering {
            file,
            offset,
            function: name,
            variables: HashMap::new(),
            assigned,
            builder: ProgramBuilder::new(name, params.iter().copied()).in_dialect(file.dialect),
            target: "",
            nested: 0,
            diagnostics: Vec::new(),
            unreached: None,
        };
        let source = file.locator.source();
        let bytes = lowering.bytes(def.range());
        lowering.builder.set_lines(LineRange {
            first: source.line_of(bytes.start),
            last: source.line_of(bytes.end.saturating_sub(1).max(bytes.start)),
        });
        lowering
    }

    /// Reports everything in the `def` line that is more than a name and parameters.
    pub(super) fn header(&mut self, def: &'f ast::StmtFunctionDef) {
        if let Some(decorator) = def.decorator_list.first() {
            let hint = "a solver is a plain function; remove the decorator";
            let message = "decorated functions are not supported";
            self.error(
                DiagnosticCode::Decorator,
                message,
                decorator.range(),
                Some(hint.into()),
            );
        }
        if def.is_async {
            let message = "async functions are not supported";
            self.error(
                DiagnosticCode::UnsupportedStatement,
                message,
                def.name.range(),
                None,
            );
        }
        if let Some(types) = &def.type_params {
            let message = "type parameters are not supported";
            self.error(
                DiagnosticCode::UnsupportedParameter,
                message,
                types.range(),
                None,
            );
        }
        let params = &def.parameters;
        let variadic = params.vararg.iter().chain(&params.kwarg).map(|p| p.range());
        let keyword_only = params.kwonlyargs.iter().map(|p| p.range());
        if let Some(range) = variadic.chain(keyword_only).next() {
            let message = "only plain positional parameters are supported";
            self.error(DiagnosticCode::UnsupportedParameter, message, range, None);
        }
        for param in plain_parameters(def) {
            if let Some(default) = param.default() {
                let message = format!("parameter '{}' has a default value", param.name());
                self.error(
                    DiagnosticCode::UnsupportedParameter,
                    message,
                    default.range(),
                    None,
                );
            }
        }
    }

    /// Lowers the statements and returns the operand of `return`.
    fn body(&mut self, def: &'f ast::StmtFunctionDef) -> Option<Operand> {
        let mut result = None;
        let mut returned = false;
        let (body, unreached) = bindings::split_at_return(&def.body);
        for stmt in body {
            if self.diagnostics.len() >= ERROR_LIMIT {
                return None;
            }
            match stmt {
                Stmt::Return(ret) => {
                    returned = true;
                    match ret.value.as_deref() {
                        Some(value) => result = self.value(value, "return"),
                        None => {
                            let message = "'return' without a value";
                            self.error(DiagnosticCode::MissingReturn, message, stmt.range(), None);
                        }
                    }
                }
                _ => self.statement(stmt),
            }
        }
        if !returned {
            let message = format!("'{}' does not return a value", self.function);
            let hint = "end the function with 'return O'";
            self.error(
                DiagnosticCode::MissingReturn,
                message,
                def.name.range(),
                Some(hint.into()),
            );
        }
        self.unreached(unreached);
        result
    }

    /// Ignores the statements after `return`, unless they change what Python makes of the function.
    pub(super) fn unreached(&mut self, statements: &'f [Stmt]) {
        let Some(first) = statements.first() else {
            return;
        };
        match bindings::conflict(statements) {
            Some(conflict) => self.error(conflict.code, conflict.message, conflict.range, None),
            None => {
                let (severity, code) = (Severity::Warning, DiagnosticCode::AfterReturn);
                let message = "code after 'return' never runs and is ignored";
                self.unreached = Some(self.finding(severity, code, message, first.range(), None));
            }
        }
    }

    fn statement(&mut self, stmt: &'f Stmt) {
        match stmt {
            Stmt::Assign(assign) => {
                let named = assign.targets.iter().find_map(Expr::as_name_expr);
                let value = self.value(&assign.value, named.map_or("_", |n| n.id.as_str()));
                for target in &assign.targets {
                    self.bind(target, value.clone());
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    let named = assign.target.as_name_expr();
                    let value = self.value(value, named.map_or("_", |n| n.id.as_str()));
                    self.bind(&assign.target, value);
                }
            }
            // A docstring, or a string used as a comment.
            Stmt::Expr(expr) if expr.value.is_string_literal_expr() => {}
            Stmt::Expr(expr) => {
                self.value(&expr.value, "_");
            }
            Stmt::Pass(_) => {}
            _ => {
                let (what, hint) = unsupported::statement(stmt);
                let message = format!("{what} not supported");
                let hint = hint.map(str::to_owned);
                self.error(
                    DiagnosticCode::UnsupportedStatement,
                    message,
                    stmt.range(),
                    hint,
                );
                // In Python these names now have a value, so using them is not another mistake.
                let names = bindings::names(std::slice::from_ref(stmt));
                self.variables
                    .extend(names.into_iter().map(|name| (name, None)));
            }
        }
    }

    fn bind(&mut self, target: &'f Expr, value: Option<Operand>) {
        match target {
            Expr::Name(name) => {
                self.variables.insert(name.id.as_str(), value);
            }
            _ => {
                let message = "only a single name can be assigned to";
                let hint = target.is_tuple_expr().then(|| {
                    "assign the tuple to one name, then take its parts with first and last".into()
                });
                self.error(
                    DiagnosticCode::UnsupportedStatement,
                    message,
                    target.range(),
                    hint,
                );
                // In Python the parts now have a value, so using them is not another mistake.
                if let Expr::Tuple(tuple) = target {
                    for name in tuple.elts.iter().filter_map(Expr::as_name_expr) {
                        self.variables.insert(name.id.as_str(), None);
                    }
                }
            }
        }
    }

    /// Lowers the right side of a statement.
    pub(super) fn value(&mut self, expr: &'f Expr, target: &'f str) -> Option<Operand> {
        (self.target, self.nested) = (target, 0);
        self.expression(expr, true)
    }

    /// Lowers an expression in Python's order of evaluation. The recursion is safe, because the
    /// scan refuses functions that nest too deeply.
    pub(super) fn expression(&mut self, expr: &'f Expr, outermost: bool) -> Option<Operand> {
        match expr {
            Expr::Name(name) => self.name(name),
            Expr::Call(call) => self.call(call, outermost),
            Expr::Tuple(tuple) => {
                let items: Vec<_> = tuple
                    .elts
                    .iter()
                    .map(|e| self.expression(e, false))
                    .collect();
                let items: Vec<_> = items.into_iter().collect::<Option<_>>()?;
                match items.iter().map(Operand::literal).collect() {
                    Some(literals) => Some(Operand::Literal(Literal::Tuple(literals))),
                    None => Some(self.push(StepKind::Tuple(items), expr.range(), outermost)),
                }
            }
            _ => match literal(expr) {
                Ok(literal) => Some(Operand::Literal(literal)),
                Err(NotLiteral::TooLarge) => {
                    let message = "integer does not fit 64 bits";
                    self.error(DiagnosticCode::IntegerRange, message, expr.range(), None);
                    None
                }
                Err(NotLiteral::Other) => {
                    let (what, hint) = unsupported::expression(expr);
                    let message = format!("{what} not supported");
                    let hint = hint.map(str::to_owned);
                    self.error(
                        DiagnosticCode::UnsupportedExpression,
                        message,
                        expr.range(),
                        hint,
                    );
                    None
                }
            },
        }
    }

    fn name(&mut self, name: &'f ast::ExprName) -> Option<Operand> {
        let id = name.id.as_str();
        let dialect = self.file.dialect;
        if let Some(bound) = self.variables.get(id) {
            return bound.clone();
        }
        if self.assigned.contains(id) {
            let message = format!("variable '{id}' is used before it has a value");
            let hint = (dialect.op(id).is_some() || dialect.constant(id).is_some()).then(|| {
                format!("'{id}' is assigned in this function, which hides the '{id}' of the DSL")
            });
            self.error(DiagnosticCode::UnboundVariable, message, name.range(), hint);
            return None;
        }
        match self.file.globals.get(id) {
            Some(Global::Value(operand)) => return Some(operand.clone()),
            Some(Global::Function(line)) => {
                let message = format!("'{id}' is the function of line {line}, not a primitive");
                let hint = "functions of the file cannot be used; write the steps out".to_owned();
                self.error(
                    DiagnosticCode::UnsupportedGlobal,
                    message,
                    name.range(),
                    Some(hint),
                );
                return None;
            }
            Some(Global::Opaque(line)) => {
                let message = format!("'{id}' is set in line {line} to something unsupported");
                let hint = "only literals can be used from outside the function".to_owned();
                self.error(
                    DiagnosticCode::UnsupportedGlobal,
                    message,
                    name.range(),
                    Some(hint),
                );
                return None;
            }
            None => {}
        }
        if let Some(op) = dialect.op(id) {
            return Some(Operand::Op(op));
        }
        if let Some(constant) = dialect.constant(id) {
            return Some(Operand::Const(constant));
        }
        let hint = self.suggestion(id);
        self.error(
            DiagnosticCode::UnknownName,
            format!("unknown name '{id}'"),
            name.range(),
            hint,
        );
        None
    }

    fn suggestion(&mut self, name: &str) -> Option<String> {
        let left = self.file.suggestions.get();
        self.file.suggestions.set(left.saturating_sub(1));
        if left == 0 {
            return None;
        }
        if let Some(hint) = names::of_another_dialect(name, self.file.dialect) {
            return Some(hint);
        }
        // The names are sorted, because the order of a hash map would resolve ties differently
        // every time.
        let mut known: Vec<&str> = self.variables.keys().copied().collect();
        known.extend(self.file.globals.values());
        known.sort_unstable();
        let near = names::nearest_in(name, self.file.dialect, known.into_iter())?;
        Some(format!("did you mean '{near}'?"))
    }

    pub(super) fn push(
        &mut self,
        kind: StepKind,
        range: ruff_text_size::TextRange,
        outermost: bool,
    ) -> Operand {
        let name = if outermost {
            self.target.to_owned()
        } else {
            // A dot cannot stand in a Python name, so this is never the name of something else.
            self.nested += 1;
            format!("{}.{}", self.target, self.nested)
        };
        self.push_named(kind, name, range)
    }

    /// Adds a step under a given name.
    pub(super) fn push_named(
        &mut self,
        kind: StepKind,
        name: impl Into<String>,
        range: ruff_text_size::TextRange,
    ) -> Operand {
        let span = self.file.locator.span(self.bytes(range));
        self.builder.push(kind, Some(name.into()), span)
    }

    pub(super) fn error(
        &mut self,
        code: DiagnosticCode,
        message: impl Into<String>,
        range: ruff_text_size::TextRange,
        hint: Option<String>,
    ) {
        if self.diagnostics.len() >= ERROR_LIMIT {
            return;
        }
        let diagnostic = self.finding(Severity::Error, code, message, range, hint);
        self.diagnostics.push(diagnostic);
    }

    /// Makes a finding in this function.
    pub(super) fn finding(
        &self,
        severity: Severity,
        code: DiagnosticCode,
        message: impl Into<String>,
        range: ruff_text_size::TextRange,
        hint: Option<String>,
    ) -> Diagnostic {
        let locator = self.file.locator;
        let span = locator.span(self.bytes(range));
        let mut diagnostic = Diagnostic::new(severity, code, message, Some(locator.source()), span)
            .in_function(self.function);
        diagnostic.hint = hint;
        diagnostic
    }

    fn bytes(&self, range: ruff_text_size::TextRange) -> Range<usize> {
        self.offset + range.start().to_usize()..self.offset + range.end().to_usize()
    }
}
