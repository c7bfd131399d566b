//! Prints programs as canonical text.
//!
//! Each line has one call. Variables are `x1`, `x2`, ... in evaluation order, and `O` for a last
//! step that is returned. Reading the text back gives an equal program, and printing that gives the
//! same text. The original Python library can run it.

use std::collections::HashSet;
use std::fmt;

use batt_dsl::Literal;

use crate::program::{Operand, Program, StepId, StepKind};

/// Returns the text of a whole solver file: the imports, then every program.
pub fn print_file<'p>(programs: impl IntoIterator<Item = &'p Program>) -> String {
    let mut out = String::from("from dsl import *\nfrom constants import *\n");
    for program in programs {
        out.push_str("\n\n");
        // Writing to a string does not fail.
        let _ = write_program(&mut out, program);
    }
    out
}

/// Writes one function.
pub(crate) fn write_program(out: &mut impl fmt::Write, program: &Program) -> fmt::Result {
    let names = Names::of(program);
    write!(out, "def {}(", program.name())?;
    separated(out, names.params.iter().map(String::as_str))?;
    writeln!(out, "):")?;
    for (id, step) in program.iter() {
        out.write_str("    ")?;
        names.step(out, id)?;
        out.write_str(" = ")?;
        let items = match &step.kind {
            StepKind::Call { callee, args } => {
                // The sign of `-1(x)` would apply to the call.
                if let Operand::Literal(Literal::Int(..0)) = callee {
                    write!(out, "(")?;
                    names.operand(out, callee)?;
                    write!(out, ")")?;
                } else {
                    names.operand(out, callee)?;
                }
                args
            }
            StepKind::Tuple(items) => items,
        };
        out.write_str("(")?;
        for (k, item) in items.iter().enumerate() {
            if k > 0 {
                out.write_str(", ")?;
            }
            names.operand(out, item)?;
        }
        let lone = matches!(step.kind, StepKind::Tuple(_)) && items.len() == 1;
        writeln!(out, "{}", if lone { ",)" } else { ")" })?;
    }
    out.write_str("    return ")?;
    names.operand(out, program.result())?;
    writeln!(out)
}

fn separated<'t>(out: &mut impl fmt::Write, items: impl Iterator<Item = &'t str>) -> fmt::Result {
    for (k, item) in items.enumerate() {
        if k > 0 {
            out.write_str(", ")?;
        }
        out.write_str(item)?;
    }
    Ok(())
}

/// The names in the printed text.
struct Names {
    params: Vec<String>,
    /// The prefix of step numbers: `x`, unless a parameter has a name such as `x1`.
    prefix: String,
    /// The returned last step, and its name.
    output: Option<(StepId, String)>,
}

impl Names {
    fn of(program: &Program) -> Names {
        let mut taken: HashSet<String> = HashSet::new();
        for operand in program.operands() {
            match operand {
                Operand::Op(op) => taken.insert(op.op().name.to_owned()),
                Operand::Const(constant) => taken.insert(constant.name().to_owned()),
                _ => continue,
            };
        }
        // A parameter keeps its name unless it would hide a primitive or constant that the steps
        // use.
        let mut params = Vec::with_capacity(program.params().len());
        for param in program.params() {
            let name = free(param.clone(), |name| taken.contains(name));
            taken.insert(name.clone());
            params.push(name);
        }
        let numbered = |prefix: &str| {
            params.iter().any(|param| {
                param
                    .strip_prefix(prefix)
                    .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            })
        };
        let prefix = free("x".to_owned(), numbered);
        let last = program.steps().len().checked_sub(1);
        let last = last.map(|k| StepId(k as u32));
        let output = last.filter(|&id| *program.result() == Operand::Step(id));
        let output = output.map(|id| (id, free("O".to_owned(), |name| taken.contains(name))));
        Names {
            params,
            prefix,
            output,
        }
    }

    fn step(&self, out: &mut impl fmt::Write, id: StepId) -> fmt::Result {
        match &self.output {
            Some((last, name)) if *last == id => out.write_str(name),
            _ => write!(out, "{}{}", self.prefix, u64::from(id.0) + 1),
        }
    }

    fn operand(&self, out: &mut impl fmt::Write, operand: &Operand) -> fmt::Result {
        match operand {
            Operand::Param(id) => out.write_str(&self.params[id.index()]),
            Operand::Step(id) => self.step(out, *id),
            Operand::Op(op) => out.write_str(op.op().name),
            Operand::Const(constant) => out.write_str(constant.name()),
            Operand::Literal(literal) => write!(out, "{literal}"),
        }
    }
}

/// Returns a step as text; `name` names the other steps.
pub(crate) fn call_text(program: &Program, id: StepId, name: impl Fn(StepId) -> String) -> String {
    let operand = |operand: &Operand| operand_text(program, operand, &name);
    let list = |items: &[Operand]| items.iter().map(operand).collect::<Vec<_>>().join(", ");
    match &program.step(id).kind {
        StepKind::Call { callee, args } => format!("{}({})", operand(callee), list(args)),
        StepKind::Tuple(items) if items.len() == 1 => format!("({},)", list(items)),
        StepKind::Tuple(items) => format!("({})", list(items)),
    }
}

/// Returns an operand as text; `name` names the steps.
pub(crate) fn operand_text(
    program: &Program,
    operand: &Operand,
    name: impl Fn(StepId) -> String,
) -> String {
    match operand {
        Operand::Param(id) => program.params()[id.index()].clone(),
        Operand::Step(id) => name(*id),
        Operand::Op(op) => op.op().name.to_owned(),
        Operand::Const(constant) => constant.name().to_owned(),
        Operand::Literal(literal) => literal.to_string(),
    }
}

fn free(mut name: String, taken: impl Fn(&str) -> bool) -> String {
    while taken(&name) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use crate::SolverFile;

    use super::*;

    fn printed(text: &str) -> String {
        let file = SolverFile::parse(text, "test.py");
        assert!(file.is_clean(), "{:?}", file.diagnostics);
        let text = file.programs[0].to_string();
        let again = SolverFile::parse(&text, "test.py");
        assert_eq!(again.programs, file.programs[..1]);
        assert_eq!(again.programs[0].to_string(), text);
        text
    }

    #[test]
    fn canonical_form() {
        let text = "def f(I: Grid) -> Grid:\n    a = fill(I, patch=asindices(I), value=-3)\n    \
                    b = (a, ONE, (2,))\n    c = (first)(b)\n    d = c\n    return hconcat(a, d)\n";
        assert_eq!(
            printed(text),
            "def f(I):\n    x1 = asindices(I)\n    x2 = fill(I, -3, x1)\n    \
             x3 = (x2, ONE, (2,))\n    x4 = first(x3)\n    O = hconcat(x2, x4)\n    return O\n"
        );
    }

    #[test]
    fn a_result_that_is_not_the_last_step_keeps_its_number() {
        let text = "def f(I):\n    x = hmirror(I)\n    y = vmirror(I)\n    return x\n";
        assert!(printed(text).ends_with("x2 = vmirror(I)\n    return x1\n"));
        assert_eq!(
            printed("def f():\n  return first"),
            "def f():\n    return first\n"
        );
        assert_eq!(
            printed("def f(I):\n  return (-1, T)"),
            "def f(I):\n    return (-1, True)\n"
        );
    }

    #[test]
    fn parameters_do_not_clash_with_variables_or_primitives() {
        let text = "def f(x1, O):\n    a = hmirror(x1)\n    b = vmirror(O)\n    return b\n";
        assert_eq!(
            printed(text),
            "def f(x1, O):\n    x_1 = hmirror(x1)\n    O_ = vmirror(O)\n    return O_\n"
        );
    }

    #[test]
    fn a_call_of_a_negative_number_is_parenthesised() {
        assert!(printed("def f(I):\n    return (-1)(I)").contains("O = (-1)(I)\n"));
    }

    #[test]
    fn a_tuple_of_one_item_has_a_comma() {
        assert_eq!(
            printed("def f(I):\n    return (I,)"),
            "def f(I):\n    O = (I,)\n    return O\n"
        );
    }

    #[test]
    fn a_file_has_imports() {
        let file = SolverFile::parse("def f(I):\n  return I\ndef g(I):\n  return I", "t.py");
        assert_eq!(
            print_file(&file.programs),
            "from dsl import *\nfrom constants import *\n\n\n\
             def f(I):\n    return I\n\n\ndef g(I):\n    return I\n"
        );
    }
}
