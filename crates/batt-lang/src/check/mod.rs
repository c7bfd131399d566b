//! Checks of loaded programs: superfluous steps, calls that always fail, and steps whose value
//! depends on the order of sets.
//!
//! No finding here is an error. The finding that a step always fails is a proof, though: it relies
//! on Python's rules alone, not on the DSL's type hints.

mod facts;
mod kinds;
mod order;

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, DiagnosticCode, Severity};
use crate::parse::SolverFile;
use crate::program::{Operand, Program, Step, StepId, StepKind};
use crate::source::SourceFile;

use facts::Facts;
use kinds::Kinds;

/// Checks one program. `source` is the file it came from, for the lines in messages.
///
/// ```
/// use batt_lang::{SolverFile, check};
///
/// let file = SolverFile::parse("def f(I):\n  x = hmirror(THREE)\n  return I\n", "f.py");
/// let found = check::program(&file.programs[0], Some(&file.source));
/// let codes: Vec<_> = found.iter().map(|d| d.code.as_str()).collect();
/// assert_eq!(codes, ["unused-step", "always-fails"]);
/// ```
pub fn program(program: &Program, source: Option<&SourceFile>) -> Vec<Diagnostic> {
    let mut checker = Checker {
        program,
        source,
        facts: Facts::of(program),
        found: Vec::new(),
    };
    checker.unused();
    checker.repeated();
    for (_, step) in program.iter() {
        checker.failing(step);
        checker.order_dependent(step);
    }
    checker
        .found
        .sort_by_key(|d| (d.span.line, d.span.column, d.code));
    checker.found
}

impl SolverFile {
    /// Checks every program of the file; see [`check::program`](program).
    pub fn check(&self) -> Vec<Diagnostic> {
        let programs = self.programs.iter();
        programs
            .flat_map(|p| program(p, Some(&self.source)))
            .collect()
    }
}

struct Checker<'p> {
    program: &'p Program,
    source: Option<&'p SourceFile>,
    facts: Facts,
    found: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn report(&mut self, severity: Severity, code: DiagnosticCode, step: &Step, message: String) {
        let found = Diagnostic::new(severity, code, message, self.source, step.span);
        self.found.push(found.in_function(self.program.name()));
    }

    fn unused(&mut self) {
        let uses = self.program.uses();
        for (id, step) in self.program.iter() {
            if uses.step(id) == 0 {
                let message = format!("the value of {} is never used", step.name);
                self.report(Severity::Warning, DiagnosticCode::UnusedStep, step, message);
            }
        }
    }

    /// Reports steps that repeat an earlier call. Arguments count as equal if they are the same
    /// operand or if one step repeats the other.
    fn repeated(&mut self) {
        let mut first_of: Vec<StepId> = Vec::with_capacity(self.program.steps().len());
        let mut seen: HashMap<StepKind, StepId> = HashMap::new();
        for (id, step) in self.program.iter() {
            let mut kind = step.kind.clone();
            for operand in kind.operands_mut() {
                match operand {
                    Operand::Step(earlier) => *earlier = first_of[earlier.index()],
                    Operand::Const(constant) => *operand = Operand::Literal(constant.value()),
                    _ => {}
                }
            }
            let first = *seen.entry(kind).or_insert(id);
            first_of.push(first);
            if first != id {
                let earlier = &self.program.step(first).name;
                let message = format!("{} computes the same as {earlier}", step.name);
                self.report(Severity::Info, DiagnosticCode::RepeatedStep, step, message);
            }
        }
    }

    fn failing(&mut self, step: &Step) {
        let StepKind::Call { callee, args } = &step.kind else {
            return;
        };
        if let Some(why) = self.why_call_fails(callee, args) {
            let message = format!("this call always fails: {why}");
            self.report(
                Severity::Warning,
                DiagnosticCode::AlwaysFails,
                step,
                message,
            );
        }
    }

    fn why_call_fails(&self, callee: &Operand, args: &[Operand]) -> Option<String> {
        let function = self.facts.fact(callee);
        let what = self.name(callee);
        if !function.callable_with(args.len()) {
            return Some(match function.arity {
                _ if !function.kinds.overlaps(Kinds::FUNCTION) => {
                    format!("{what} is {}, not a function", function.kinds)
                }
                Some(arity) if usize::from(arity) != args.len() => {
                    format!("{what} takes {arity} and gets {}", args.len())
                }
                _ => format!("the functions in {what} do not accept their arguments"),
            });
        }
        let Operand::Op(op) = callee else {
            return None;
        };
        if op.op().fallback.is_some() {
            return None;
        }
        let signature = kinds::Signature::of(*op);
        for ((arg, wanted), param) in args.iter().zip(&signature.params).zip(op.op().params) {
            let fact = self.facts.fact(arg);
            if !fact.kinds.overlaps(*wanted) {
                let (name, kinds) = (param.name, fact.kinds);
                return Some(format!("'{name}' must be {wanted}, and is {kinds}"));
            }
            // A parameter that accepts only functions is called with one element at a time. Only
            // the binding primitives keep the function without calling it.
            let called = wanted.within(Kinds::FUNCTION | Kinds::NONE)
                && !matches!(op.op().name, "lbind" | "rbind");
            if called && fact.kinds.within(Kinds::FUNCTION) && !fact.callable_with(1) {
                let name = self.name(arg);
                return Some(format!("{name} cannot be called with 1 argument"));
            }
        }
        None
    }

    fn order_dependent(&mut self, step: &Step) {
        for message in order::dependences(&step.kind, &self.facts) {
            self.report(
                Severity::Info,
                DiagnosticCode::OrderDependent,
                step,
                message,
            );
        }
    }

    fn name(&self, operand: &Operand) -> String {
        match operand {
            Operand::Param(id) => self.program.params()[id.index()].clone(),
            Operand::Step(id) => self.program.step(*id).name.clone(),
            Operand::Op(op) => op.op().name.to_owned(),
            Operand::Const(constant) => constant.name().to_owned(),
            Operand::Literal(literal) => literal.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use batt_dsl::Dialect;

    use super::*;

    /// Codes and messages for a function body, in the form `code: message`.
    fn found(lines: &[&str]) -> Vec<String> {
        let text = format!("def f(I):\n    {}\n", lines.join("\n    "));
        let file = SolverFile::parse(&text, "f.py");
        assert!(file.is_clean(), "{:?}", file.diagnostics);
        let all = file.check();
        assert!(all.iter().all(|d| d.function.as_deref() == Some("f")));
        all.iter()
            .map(|d| format!("{}: {}", d.code, d.message))
            .collect()
    }

    /// Returns why the call `x = ...` always fails after the given lines.
    fn failure(lines: &[&str], call: &str) -> Option<String> {
        let call = format!("x = {call}");
        let lines: Vec<_> = lines
            .iter()
            .copied()
            .chain([call.as_str(), "return x"])
            .collect();
        let prefix = "always-fails: this call always fails: ";
        let all = found(&lines);
        all.iter()
            .find_map(|d| d.strip_prefix(prefix))
            .map(str::to_owned)
    }

    #[test]
    fn unused_and_repeated_steps() {
        assert_eq!(
            found(&[
                "a = size(I)",
                "b = hmirror(I)",
                "c = hmirror(I)",
                "d = hconcat(b, c)",
                "e = hconcat(c, b)",
                "return astuple(d, e)"
            ]),
            [
                "unused-step: the value of a is never used",
                "repeated-step: c computes the same as b",
                "repeated-step: e computes the same as d",
            ]
        );
        assert_eq!(
            found(&["return astuple(canvas(ONE, UNITY), canvas(1, (1, 1)))"]),
            ["repeated-step: return.2 computes the same as return.1"]
        );
        assert!(found(&["return astuple(canvas(T, UNITY), canvas(1, UNITY))"]).is_empty());
    }

    #[test]
    fn calls_of_values_that_are_not_functions_always_fail() {
        let fails = |call: &str| failure(&[], call).unwrap_or_default();
        assert_eq!(fails("ONE(I)"), "ONE is an integer, not a function");
        assert_eq!(fails("(1, I)(I)"), "x.1 is a tuple, not a function");
        assert_eq!(fails("palette(I)(I)"), "x.1 is a set, not a function");
        assert_eq!(failure(&[], "I(I)"), None);
        assert_eq!(failure(&[], "first(I)(I)"), None);
    }

    #[test]
    fn calls_of_closures_with_the_wrong_arity_always_fail() {
        let fails = |f: &str, args: &str| failure(&[&format!("f = {f}")], &format!("f({args})"));
        for (f, good) in [
            ("lbind(fill, I)", "I, I"),
            ("rbind(rbind(rbind(objects, T), T), T)", "I"),
            ("lbind(add, ONE)", "I"),
            ("compose(size, first)", "I"),
            ("chain(size, first, first)", "I"),
            ("fork(add, size, size)", "I"),
            ("matcher(size, I)", "I"),
            ("power(add, ONE)", "I, I"),
            ("power(first, I)", "I"),
            ("power(I, TWO)", "I"),
            ("lbind(lbind, add)", "I"),
            ("branch(I, first, last)", "I"),
            ("lbind(I, ONE)", "I"),
            ("lbind(I, ONE)", "I, I, I"),
        ] {
            assert_eq!(fails(f, good), None, "{f}({good})");
            assert!(fails(f, "I, I, I, I, I").is_some(), "{f}");
        }
        assert_eq!(
            fails("lbind(fill, I)", "I").unwrap(),
            "f takes 2 and gets 1"
        );
        let inner = Some("the functions in f do not accept their arguments".to_owned());
        assert_eq!(fails("compose(add, first)", "I"), inner);
        assert_eq!(fails("compose(first, ONE)", "I"), inner);
        assert_eq!(fails("fork(first, size, size)", "I"), inner);
        // Binding a function of one parameter gives one of three that cannot be called.
        assert_eq!(
            fails("lbind(first, I)", "I").unwrap(),
            "f takes 3 and gets 1"
        );
        assert_eq!(fails("lbind(first, I)", "I, I, I"), inner);
        assert_eq!(fails("power(add, TWO)", "I"), inner);
    }

    #[test]
    fn primitives_that_never_fail_take_anything() {
        let found = |lines: &str| {
            let text = format!("def f(S, I, C):\n  x = {lines}\n  return x\n");
            let file = SolverFile::parse_in(&text, "f.py", Some(Dialect::Tokpidjin));
            assert!(file.is_clean(), "{:?}", file.diagnostics);
            let all = file.check().into_iter();
            let fails = { all }.filter(|d| d.code == DiagnosticCode::AlwaysFails);
            fails.map(|d| d.message).collect::<Vec<_>>()
        };
        for call in [
            "add(I)",
            "add(I, I, I, I, I, I, I, I, I, I)",
            "even(even, ())",
            "even()",
            "even(I)(I)",
            "C(I)",
            "I(F0)",
        ] {
            assert_eq!(found(call), [""; 0], "{call}");
        }
        // A value that is not a function still fails when it is called.
        let why = "this call always fails: F0 is an integer, not a function";
        assert_eq!(found("F0(I)"), [why]);
    }

    #[test]
    fn arguments_of_a_kind_that_never_works() {
        let fails = |call: &str| failure(&[], call);
        for (call, why) in [
            (
                "hmirror(THREE)",
                "'piece' must be a tuple or a set, and is an integer",
            ),
            (
                "size(ONE)",
                "'container' must be a tuple or a set, and is an integer",
            ),
            (
                "size(size(I))",
                "'container' must be a tuple or a set, and is an integer",
            ),
            ("rot90(palette(I))", "'grid' must be a tuple, and is a set"),
            (
                "lbind(ONE, I)",
                "'function' must be a function, and is an integer",
            ),
            (
                "argmax(I, ONE)",
                "'compfunc' must be None or a function, and is an integer",
            ),
            ("extract(I, add)", "add cannot be called with 1 argument"),
            (
                "insert(I, (I,))",
                "'container' must be a set, and is a tuple",
            ),
            (
                "size(branch(I, ONE, first))",
                "'container' must be a tuple or a set, and is an integer or a function",
            ),
        ] {
            assert_eq!(fails(call).as_deref(), Some(why), "{call}");
        }
        for call in [
            "hmirror(first(I))",
            "apply(ONE, I)",
            "order(I, ONE)",
            "argmax(I, None)",
            "size(branch(I, ONE, I))",
            "add(T, (1, 2))",
            "fill(I, palette(I), ())",
            "sfilter(I, add)",
            "rbind(first, I)",
            "size(maximum(I))",
        ] {
            assert_eq!(fails(call), None, "{call}");
        }
    }
}
