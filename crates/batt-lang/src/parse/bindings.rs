//! The names that a function binds, and the effect of statements after `return` on the code before
//! them.
//!
//! Python decides when it compiles a function which names are its local variables. Statements that
//! never run count as well: a name assigned only after `return` is local everywhere, and a `yield`
//! there makes the whole function a generator.

use std::collections::HashSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, Comprehension, ExceptHandler, Expr, ExprContext, Pattern, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::diagnostic::DiagnosticCode;

/// The names that statements bind in the scope of their function.
pub(super) fn names(body: &[Stmt]) -> HashSet<&str> {
    let mut bindings = Bindings::default();
    bindings.visit_body(body);
    bindings.names
}

/// Divides a body after its first `return`, into the statements that run and those that never do.
pub(super) fn split_at_return(body: &[Stmt]) -> (&[Stmt], &[Stmt]) {
    let returns = body.iter().position(Stmt::is_return_stmt);
    body.split_at(returns.map_or(body.len(), |at| at + 1))
}

/// A reason why statements that never run cannot be ignored.
pub(super) struct Conflict {
    pub code: DiagnosticCode,
    pub message: &'static str,
    pub range: TextRange,
}

/// Finds the first thing in statements after `return` that changes or forbids the code before it.
pub(super) fn conflict(unreached: &[Stmt]) -> Option<Conflict> {
    let mut bindings = Bindings::default();
    bindings.visit_body(unreached);
    bindings.conflict
}

#[derive(Default)]
struct Bindings<'a> {
    names: HashSet<&'a str>,
    conflict: Option<Conflict>,
    /// The number of loops around the statement.
    loops: usize,
}

impl<'a> Bindings<'a> {
    fn conflict(&mut self, code: DiagnosticCode, message: &'static str, range: TextRange) {
        self.conflict.get_or_insert(Conflict {
            code,
            message,
            range,
        });
    }

    fn import(&mut self, alias: &'a Alias, range: TextRange) {
        let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
        if name == "*" {
            let message = "'import *' is only allowed at the top of a file";
            self.conflict(DiagnosticCode::Syntax, message, range);
        }
        self.names.insert(name.split('.').next().unwrap_or(name));
    }

    fn loop_body(&mut self, body: &'a [Stmt], or_else: &'a [Stmt]) {
        self.loops += 1;
        self.visit_body(body);
        self.loops -= 1;
        self.visit_body(or_else);
    }
}

impl<'a> Visitor<'a> for Bindings<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            // The bodies of functions and classes are scopes of their own.
            Stmt::FunctionDef(def) => {
                self.names.insert(def.name.as_str());
                for decorator in &def.decorator_list {
                    self.visit_decorator(decorator);
                }
                self.visit_parameters(&def.parameters);
                if let Some(returns) = &def.returns {
                    self.visit_annotation(returns);
                }
            }
            Stmt::ClassDef(class) => {
                self.names.insert(class.name.as_str());
                for decorator in &class.decorator_list {
                    self.visit_decorator(decorator);
                }
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
            }
            Stmt::Import(import) => {
                let range = import.range();
                { import.names.iter() }.for_each(|alias| self.import(alias, range));
            }
            Stmt::ImportFrom(import) => {
                let range = import.range();
                { import.names.iter() }.for_each(|alias| self.import(alias, range));
            }
            Stmt::For(each) => {
                if each.is_async {
                    self.conflict(DiagnosticCode::Syntax, OUTSIDE_ASYNC, each.range());
                }
                self.visit_expr(&each.iter);
                self.visit_expr(&each.target);
                self.loop_body(&each.body, &each.orelse);
            }
            Stmt::While(repeat) => {
                self.visit_expr(&repeat.test);
                self.loop_body(&repeat.body, &repeat.orelse);
            }
            Stmt::Break(_) | Stmt::Continue(_) if self.loops == 0 => {
                let message = "'break' and 'continue' are only allowed in a loop";
                self.conflict(DiagnosticCode::Syntax, message, stmt.range());
            }
            Stmt::With(with) if with.is_async => {
                self.conflict(DiagnosticCode::Syntax, OUTSIDE_ASYNC, with.range());
                visitor::walk_stmt(self, stmt);
            }
            Stmt::Global(_) | Stmt::Nonlocal(_) => {
                let message = "'global' and 'nonlocal' are not supported";
                self.conflict(DiagnosticCode::UnsupportedStatement, message, stmt.range());
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                if matches!(name.ctx, ExprContext::Store | ExprContext::Del) {
                    self.names.insert(name.id.as_str());
                }
            }
            // The body of a lambda is a scope of its own; its defaults are not.
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.visit_parameters(parameters);
                }
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                let message = "'yield' makes the function a generator, even after 'return'";
                self.conflict(DiagnosticCode::AfterReturn, message, expr.range());
                visitor::walk_expr(self, expr);
            }
            Expr::Await(_) => {
                self.conflict(DiagnosticCode::Syntax, OUTSIDE_ASYNC, expr.range());
                visitor::walk_expr(self, expr);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    /// A comprehension keeps its loop variables to itself.
    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        if comprehension.is_async {
            self.conflict(DiagnosticCode::Syntax, OUTSIDE_ASYNC, comprehension.range());
        }
        self.visit_expr(&comprehension.iter);
        for condition in &comprehension.ifs {
            self.visit_expr(condition);
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(named) = handler;
        self.names.extend(named.name.as_ref().map(|n| n.as_str()));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        self.names.extend(name.map(|n| n.as_str()));
        visitor::walk_pattern(self, pattern);
    }
}

const OUTSIDE_ASYNC: &str = "'async' and 'await' are only allowed in an async function";
