//! Guards: `try` statements around one step.

use ruff_python_ast::{self as ast, ExceptHandler, Expr, Stmt};
use ruff_text_size::Ranged;

use super::Reading;
use crate::diagnostic::DiagnosticCode;

/// The exceptions that a guard catches.
const CAUGHT: [&str; 3] = ["TypeError", "AttributeError", "ValueError"];
/// The function that returns the default of a failed step.
const DEFAULT_OF: &str = "_get_safe_default";
const GUARD_FORM: &str = "a guard is 'try:' with one step, then 'except (TypeError, AttributeError, \
                          ValueError):' with 'tN = _get_safe_default(callee)'";

impl<'f> Reading<'f> {
    /// Reads a step in its guard.
    pub(super) fn guard(&mut self, guard: &'f ast::StmtTry) {
        let (step, handler) = match (guard.body.as_slice(), guard.handlers.as_slice()) {
            ([Stmt::Assign(step)], [ExceptHandler::ExceptHandler(handler)])
                if guard.orelse.is_empty() && guard.finalbody.is_empty() && !guard.is_star =>
            {
                (step, handler)
            }
            _ => {
                let message = "this 'try' is not the guard of one step";
                self.error(DiagnosticCode::BadGuard, message, guard.range(), GUARD_FORM);
                return;
            }
        };
        if !catches(handler) {
            let message = "a guard must catch TypeError, AttributeError and ValueError";
            self.error(
                DiagnosticCode::BadGuard,
                message,
                handler.range(),
                GUARD_FORM,
            );
        }
        if !self.step(step) {
            return;
        }
        self.guarded += 1;
        let [Stmt::Assign(default)] = handler.body.as_slice() else {
            let message = "a guard must assign the default to the step";
            self.error(
                DiagnosticCode::BadGuard,
                message,
                handler.range(),
                GUARD_FORM,
            );
            return;
        };
        self.default_of(step, default);
    }

    /// Checks that a guard gives the step the default of the called function.
    fn default_of(&mut self, step: &'f ast::StmtAssign, default: &'f ast::StmtAssign) {
        let name = |assign: &'f ast::StmtAssign| match assign.targets.as_slice() {
            [Expr::Name(name)] => Some(name.id.as_str()),
            _ => None,
        };
        if name(step) != name(default) {
            let message = "a guard must assign to the step that it guards";
            self.error(
                DiagnosticCode::BadGuard,
                message,
                default.range(),
                GUARD_FORM,
            );
            return;
        }
        let call = default.value.as_call_expr().filter(|call| {
            let callee = call.func.as_name_expr();
            callee.is_some_and(|name| name.id.as_str() == DEFAULT_OF)
                && call.arguments.keywords.is_empty()
                && call.arguments.args.len() == 1
        });
        let Some(call) = call else {
            let message = "a guard must assign the default to the step";
            self.error(
                DiagnosticCode::BadGuard,
                message,
                default.value.range(),
                GUARD_FORM,
            );
            return;
        };
        // A name in the guard has the same meaning as in the step: the failed step assigned
        // nothing, even if it is `x = x(I)`.
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
            let message = "the default must be that of the function the step calls";
            self.error(
                DiagnosticCode::BadGuard,
                message,
                default.value.range(),
                GUARD_FORM,
            );
        }
    }
}

/// Returns whether a handler catches exactly the exceptions of a guard.
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
