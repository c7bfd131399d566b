//! Messages about the parts of Python that solvers do not have, with what to use instead.

use ruff_python_ast::{BoolOp, CmpOp, Expr, Operator, Stmt, UnaryOp};

type Words = (&'static str, Option<&'static str>);

/// Returns the message for a statement, up to "not supported", and a hint.
pub(super) fn statement(stmt: &Stmt) -> Words {
    match stmt {
        Stmt::For(_) | Stmt::While(_) => (
            "loops are",
            Some("use apply, mapply or power to repeat a function"),
        ),
        Stmt::If(_) | Stmt::Match(_) => (
            "conditional statements are",
            Some("use branch(condition, a, b)"),
        ),
        Stmt::FunctionDef(_) => (
            "functions inside functions are",
            Some("build functions with compose, chain, fork, lbind, rbind or matcher"),
        ),
        Stmt::ClassDef(_) => ("classes are", None),
        Stmt::AugAssign(_) => (
            "augmented assignment is",
            Some("assign the result of a call"),
        ),
        Stmt::Global(_) | Stmt::Nonlocal(_) => ("'global' and 'nonlocal' are", None),
        Stmt::Import(_) | Stmt::ImportFrom(_) => (
            "imports inside functions are",
            Some("imports at the top of the file are accepted and ignored"),
        ),
        Stmt::Try(_) | Stmt::Raise(_) | Stmt::Assert(_) => ("exception handling is", None),
        Stmt::With(_) => ("'with' is", None),
        Stmt::Delete(_) => ("'del' is", None),
        _ => ("this statement is", None),
    }
}

/// Returns the message for an expression, up to "not supported", and a hint.
pub(super) fn expression(expr: &Expr) -> Words {
    match expr {
        Expr::BinOp(op) => (
            "operators are",
            match op.op {
                Operator::Add => Some("use add(a, b), or combine(a, b) for containers"),
                Operator::Sub => Some("use subtract(a, b), or difference(a, b) for containers"),
                Operator::Mult => Some("use multiply(a, b)"),
                Operator::Div | Operator::FloorDiv => Some("use divide(a, b)"),
                Operator::BitAnd => Some("use intersection(a, b)"),
                Operator::BitOr => Some("use combine(a, b)"),
                _ => None,
            },
        ),
        Expr::UnaryOp(op) => (
            "operators are",
            match op.op {
                UnaryOp::Not => Some("use flip(b)"),
                UnaryOp::USub => Some("use invert(n)"),
                _ => None,
            },
        ),
        Expr::BoolOp(op) => (
            "operators are",
            match op.op {
                BoolOp::And => Some("use both(a, b)"),
                BoolOp::Or => Some("use either(a, b)"),
            },
        ),
        Expr::Compare(compare) => (
            "comparisons are",
            match compare.ops.first() {
                Some(CmpOp::Eq | CmpOp::Is) => Some("use equality(a, b)"),
                Some(CmpOp::NotEq | CmpOp::IsNot) => Some("use flip(equality(a, b))"),
                Some(CmpOp::In) => Some("use contained(value, container)"),
                Some(_) => Some("use greater(a, b)"),
                None => None,
            },
        ),
        Expr::If(_) => (
            "conditional expressions are",
            Some("use branch(condition, a, b)"),
        ),
        Expr::Lambda(_) => (
            "lambdas are",
            Some("build functions with compose, chain, fork, lbind, rbind or matcher"),
        ),
        Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => (
            "comprehensions are",
            Some("use apply(function, container) or sfilter(container, condition)"),
        ),
        Expr::Subscript(_) => (
            "subscripts are",
            Some("use first, last or extract for containers, index or crop for grids"),
        ),
        Expr::Attribute(_) => (
            "attributes are",
            Some("import the primitives with 'from dsl import *'"),
        ),
        Expr::List(_) => ("lists are", Some("write a tuple")),
        Expr::Set(_) => (
            "set displays are",
            Some("use initset(value) and insert(value, container)"),
        ),
        Expr::Dict(_) => ("dictionaries are", None),
        Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::FString(_) | Expr::TString(_) => {
            ("strings are", None)
        }
        Expr::NumberLiteral(_) => ("numbers that are not integers are", None),
        Expr::Starred(_) => ("unpacking with * is", None),
        Expr::Named(_) => ("assignments inside expressions are", None),
        Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_) => ("'await' and 'yield' are", None),
        Expr::EllipsisLiteral(_) => ("'...' is", None),
        _ => ("this expression is", None),
    }
}
