//! The sample batch: one line that stands for four steps.

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::{Reading, Unguarded};
use crate::diagnostic::DiagnosticCode;
use crate::program::{Operand, StepKind};

/// The functions that a line with four targets may call.
const SAMPLE_BATCH: [&str; 2] = ["batch_process_samples_gpu", "batch_process_samples"];

impl<'f> Reading<'f> {
    /// Reads `ta, tb, tc, td = batch_process_samples_gpu(S)`: the inputs, the outputs, and the
    /// colours of both.
    pub(super) fn sample_batch(
        &mut self,
        targets: &'f ast::ExprTuple,
        assign: &'f ast::StmtAssign,
    ) {
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
            let message = "only the sample batch can assign several names at once";
            let hint = "the form is t1, t2, t3, t4 = batch_process_samples_gpu(S)";
            self.error(DiagnosticCode::BadStep, message, assign.range(), hint);
            return;
        };
        let before = self.lowering.builder.len();
        let samples = self.lowering.value(&samples.args[0], names[0].id.as_str());
        if self.lowering.builder.len() != before {
            let hint = "give the inner call a step of its own";
            self.error(
                DiagnosticCode::BadStep,
                "a step must be one call",
                assign.range(),
                hint,
            );
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
        for _ in &names {
            Unguarded::count(&mut self.unguarded.safe, assign.range());
        }
    }

    /// Returns the primitives of the sample batch, if the dialect has them all.
    fn primitives(&mut self, names: [&str; 5], range: TextRange) -> Option<[Operand; 5]> {
        let dialect = self.lowering.file.dialect;
        let known = names.map(|name| dialect.op(name).map(Operand::Op));
        if let Some(missing) = known.iter().position(Option::is_none) {
            let message = format!(
                "unknown name '{}', which the sample batch uses",
                names[missing]
            );
            let hint = format!("the dialect {} has no sample batch", dialect.name());
            self.error(DiagnosticCode::UnknownName, message, range, &hint);
            return None;
        }
        let known: Vec<Operand> = known.into_iter().flatten().collect();
        known.try_into().ok()
    }

    /// Adds one of the four steps of the sample batch.
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
}
