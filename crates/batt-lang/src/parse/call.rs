//! Lowering of calls: the order of evaluation, and the assignment of arguments to parameters.

use batt_dsl::OpId;
use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::lower::Lowering;
use crate::diagnostic::DiagnosticCode;
use crate::program::{Operand, StepKind};

impl<'f> Lowering<'f> {
    pub(super) fn call(&mut self, call: &'f ast::ExprCall, outermost: bool) -> Option<Operand> {
        let callee = self.expression(&call.func, false);
        let mut args: Vec<Option<Operand>> = Vec::with_capacity(call.arguments.args.len());
        for arg in &call.arguments.args {
            args.push(self.expression(arg, false));
        }
        // A keyword argument comes after all positional ones, in text and in evaluation.
        let mut keywords = Vec::with_capacity(call.arguments.keywords.len());
        for keyword in &call.arguments.keywords {
            keywords.push((keyword, self.expression(&keyword.value, false)));
        }
        let callee = callee?;
        let range = call.range();
        match &callee {
            Operand::Op(op) => args = self.bind_arguments(*op, args, keywords, call)?,
            _ => {
                if let Some((keyword, _)) = keywords.first() {
                    let message = "keyword arguments need a primitive to be called by its name";
                    let hint = "pass the argument by position".to_owned();
                    self.error(
                        DiagnosticCode::BadKeyword,
                        message,
                        keyword.range(),
                        Some(hint),
                    );
                    return None;
                }
            }
        }
        let args = args.into_iter().collect::<Option<_>>()?;
        Some(self.push(StepKind::Call { callee, args }, range, outermost))
    }

    /// Puts the arguments of a primitive in positional order, as Python does.
    fn bind_arguments(
        &mut self,
        op: OpId,
        mut args: Vec<Option<Operand>>,
        keywords: Vec<(&'f ast::Keyword, Option<Operand>)>,
        call: &'f ast::ExprCall,
    ) -> Option<Vec<Option<Operand>>> {
        let op = op.op();
        let form = || Some(format!("the primitive is {}", op.call_form()));
        let (arity, given) = (op.params.len(), args.len() + keywords.len());
        if keywords.is_empty() {
            // A primitive with a fallback also returns it for a wrong number of arguments.
            if arity != given && op.fallback.is_none() {
                let message = format!("{} takes {}, not {given}", op.name, arguments(arity));
                self.error(DiagnosticCode::WrongArity, message, call.range(), form());
                return None;
            }
            return Some(args);
        }
        let positional = args.len();
        let mut bound: Vec<Option<Option<Operand>>> = args.drain(..).map(Some).collect();
        if positional > arity {
            let message = format!("{} takes {}, not {given}", op.name, arguments(arity));
            self.error(DiagnosticCode::WrongArity, message, call.range(), form());
            return None;
        }
        bound.resize(arity, None);
        for (keyword, value) in keywords {
            let Some(name) = keyword.arg.as_ref().map(|arg| arg.as_str()) else {
                let message = "unpacking with ** is not supported";
                self.error(
                    DiagnosticCode::UnsupportedExpression,
                    message,
                    keyword.range(),
                    None,
                );
                return None;
            };
            let message = match op.params.iter().position(|p| p.name == name) {
                None => format!("{} has no parameter '{name}'", op.name),
                Some(at) if bound[at].is_some() => {
                    format!("{} gets more than one value for '{name}'", op.name)
                }
                Some(at) => {
                    bound[at] = Some(value);
                    continue;
                }
            };
            self.error(DiagnosticCode::BadKeyword, message, keyword.range(), form());
            return None;
        }
        if let Some(missing) = bound.iter().position(Option::is_none) {
            let message = format!(
                "{} gets no value for '{}'",
                op.name, op.params[missing].name
            );
            self.error(DiagnosticCode::WrongArity, message, call.range(), form());
            return None;
        }
        bound.into_iter().collect()
    }
}

fn arguments(count: usize) -> String {
    match count {
        1 => "1 argument".to_owned(),
        _ => format!("{count} arguments"),
    }
}
