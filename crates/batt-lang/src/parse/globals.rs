//! The names that a file defines outside its functions.
//!
//! Python looks such names up when a function runs, after the whole file has been executed, so the
//! last definition counts for every function of the file, and goes before the DSL's own names.

use std::collections::HashMap;

use batt_dsl::{Dialect, Literal};
use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_python_ast::{Alias, Expr, Stmt};

use super::literal::literal;
use crate::program::Operand;

/// The meaning of a name at the end of the file.
#[derive(Clone, Debug)]
pub(super) enum Global {
    /// A literal, or a name of the DSL: a constant that the file repeats, or an import under a new
    /// name.
    Value(Operand),
    /// A function that is defined in this line.
    Function(u32),
    /// Something else that is set in this line.
    Opaque(u32),
}

/// The names of a file.
#[derive(Debug)]
pub(super) struct Globals {
    dialect: Dialect,
    names: HashMap<String, Global>,
}

impl Globals {
    pub(super) fn new(dialect: Dialect) -> Globals {
        Globals {
            dialect,
            names: HashMap::new(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Global> {
        self.names.get(name)
    }

    /// The names that a function can use.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        let usable = self
            .names
            .iter()
            .filter(|(_, global)| matches!(global, Global::Value(_)));
        usable.map(|(name, _)| name.as_str())
    }

    pub(super) fn function(&mut self, name: &str, line: u32) {
        self.names.insert(name.to_owned(), Global::Function(line));
    }

    /// Records a statement outside functions. Returns true if its whole effect is recorded.
    pub(super) fn statement(&mut self, stmt: &Stmt, line: u32) -> bool {
        let (targets, value) = match stmt {
            Stmt::Import(import) => {
                self.renamed(&import.names, line);
                return true;
            }
            Stmt::ImportFrom(import) => {
                self.renamed(&import.names, line);
                return true;
            }
            Stmt::Pass(_) => return true,
            Stmt::Expr(expr) if expr.value.is_string_literal_expr() => return true,
            Stmt::Assign(assign) => (assign.targets.as_slice(), Some(&*assign.value)),
            Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => (std::slice::from_ref(&*assign.target), Some(&**value)),
                None => return true,
            },
            _ => {
                Rebound {
                    globals: self,
                    line,
                }
                .visit_stmt(stmt);
                return false;
            }
        };
        let known = value.and_then(|value| literal(value).ok());
        let plain = targets.iter().all(Expr::is_name_expr);
        for target in targets {
            self.assign(target, known.as_ref().filter(|_| plain), line);
        }
        plain && known.is_some()
    }

    /// Records the new names that an import gives with `as`. Other imports have no effect, because
    /// the DSL is always available.
    fn renamed(&mut self, names: &[Alias], line: u32) {
        for alias in names {
            let Some(new) = &alias.asname else {
                continue;
            };
            let name = alias.name.as_str();
            let op = self.dialect.op(name).map(Operand::Op);
            let known = op.or_else(|| self.dialect.constant(name).map(Operand::Const));
            let global = known.map_or(Global::Opaque(line), Global::Value);
            self.names.insert(new.to_string(), global);
        }
    }

    fn assign(&mut self, target: &Expr, value: Option<&Literal>, line: u32) {
        match target {
            Expr::Name(name) => {
                let id = name.id.as_str();
                let global = match (value, self.dialect.constant(id)) {
                    (Some(value), Some(constant)) if constant.value() == *value => {
                        Global::Value(Operand::Const(constant))
                    }
                    (Some(value), _) => Global::Value(Operand::Literal(value.clone())),
                    (None, _) => Global::Opaque(line),
                };
                self.names.insert(id.to_owned(), global);
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|e| self.assign(e, None, line)),
            Expr::List(list) => list.elts.iter().for_each(|e| self.assign(e, None, line)),
            Expr::Starred(starred) => self.assign(&starred.value, None, line),
            _ => {}
        }
    }
}

/// A visitor that marks every name a compound statement may set as opaque.
struct Rebound<'g> {
    globals: &'g mut Globals,
    line: u32,
}

impl<'a> StatementVisitor<'a> for Rebound<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let line = self.line;
        match stmt {
            Stmt::FunctionDef(def) => {
                self.globals
                    .names
                    .insert(def.name.to_string(), Global::Opaque(line));
                return;
            }
            Stmt::ClassDef(class) => {
                self.globals
                    .names
                    .insert(class.name.to_string(), Global::Opaque(line));
                return;
            }
            Stmt::Assign(assign) => {
                let targets = &assign.targets;
                targets
                    .iter()
                    .for_each(|t| self.globals.assign(t, None, line));
            }
            Stmt::AnnAssign(assign) => self.globals.assign(&assign.target, None, line),
            Stmt::AugAssign(assign) => self.globals.assign(&assign.target, None, line),
            Stmt::For(each) => self.globals.assign(&each.target, None, line),
            Stmt::Delete(delete) => {
                let targets = &delete.targets;
                targets
                    .iter()
                    .for_each(|t| self.globals.assign(t, None, line));
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }
}
