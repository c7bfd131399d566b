//! Literals: integers with or without sign, truth values, None, and tuples of literals.

use batt_dsl::Literal;
use ruff_python_ast::{self as ast, Expr};

/// The reason why an expression is not a literal.
pub(super) enum NotLiteral {
    /// It is an integer beyond 64 bits.
    TooLarge,
    /// It is something else.
    Other,
}

/// Returns the value of a literal: an integer with or without sign, a truth value, None, or a
/// tuple.
pub(super) fn literal(expr: &Expr) -> Result<Literal, NotLiteral> {
    match expr {
        Expr::NoneLiteral(_) => Ok(Literal::None),
        Expr::BooleanLiteral(bool) => Ok(Literal::Bool(bool.value)),
        Expr::NumberLiteral(_) | Expr::UnaryOp(_) => {
            let value = integer(expr)?;
            i64::try_from(value).map_or(Err(NotLiteral::TooLarge), |n| Ok(Literal::Int(n)))
        }
        Expr::Tuple(tuple) => {
            let items = tuple.elts.iter().map(literal).collect::<Result<_, _>>()?;
            Ok(Literal::Tuple(items))
        }
        _ => Err(NotLiteral::Other),
    }
}

/// Returns the value of an integer with any number of signs. The result is wider than 64 bits,
/// because the smallest 64-bit integer is written as minus a number that does not fit.
fn integer(expr: &Expr) -> Result<i128, NotLiteral> {
    match expr {
        Expr::NumberLiteral(number) => match &number.value {
            ast::Number::Int(int) => match int.as_u64() {
                Some(value) => Ok(value.into()),
                None => Err(NotLiteral::TooLarge),
            },
            _ => Err(NotLiteral::Other),
        },
        // A sign turns a truth value into an integer.
        Expr::UnaryOp(unary) => {
            let value = match &*unary.operand {
                Expr::BooleanLiteral(bool) => bool.value.into(),
                operand => integer(operand)?,
            };
            match unary.op {
                ast::UnaryOp::USub => Ok(-value),
                ast::UnaryOp::UAdd => Ok(value),
                _ => Err(NotLiteral::Other),
            }
        }
        _ => Err(NotLiteral::Other),
    }
}
