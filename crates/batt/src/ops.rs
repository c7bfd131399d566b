//! The table of primitives: their documentation, types and examples.

pub use batt_dsl::{ConstId, Fallback, Op, OpId, OpParam, Type};

use batt_dsl::{Dialect, Fault, Limits, Workspace};
use batt_engine::Compiled;
use batt_lang::SolverFile;

/// Runs the failing example of a primitive and returns its fault; `None` if the primitive never
/// fails.
///
/// ```
/// let first = batt::Dialect::ArcDsl.op("first").unwrap();
/// assert!(batt::ops::failure(first.op()).is_some());
/// ```
pub fn failure(op: &Op) -> Option<Fault> {
    if op.fails.is_empty() {
        return None;
    }
    let text = format!("def example():\n    return {}\n", op.fails);
    let file = SolverFile::parse_in(&text, "example", Some(op.dialect));
    let call = Compiled::new(file.programs.first()?);
    Workspace::new().run(op.dialect, &Limits::default(), |run| {
        call.execute(run, &[]).err().map(|error| error.fault)
    })
}

/// Returns the primitives without a device body, each with its dialect. Runs that need them fall
/// back to the CPU.
pub fn without_device_body() -> Vec<(Dialect, &'static str)> {
    let dispatch = batt_cuda::source::VM.iter();
    let dispatch = dispatch.filter(|file| file.name == "dispatch.cuh");
    dispatch.flat_map(|file| missing(file.text)).collect()
}

/// Parses the generated comments that list primitives without a device body.
fn missing(dispatch: &'static str) -> Vec<(Dialect, &'static str)> {
    let lines = dispatch.lines();
    let names = lines.filter_map(|line| line.strip_prefix("// missing: "));
    let named = names.filter_map(|name| match name.trim().split_once('_')? {
        ("tok", name) => Some((Dialect::Tokpidjin, name)),
        ("op", name) => Some((Dialect::ArcDsl, name)),
        _ => None,
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_bodies_are_read_from_the_generated_comments() {
        let found = missing(
            "  case 4: return op_invert(c, a);\n// missing: op_frontiers\n// missing: tok_get_nth_f\n",
        );
        let expected = [
            (Dialect::ArcDsl, "frontiers"),
            (Dialect::Tokpidjin, "get_nth_f"),
        ];
        assert_eq!(found, expected);
        assert_eq!(missing(""), []);
    }

    #[test]
    fn every_failing_example_fails() {
        for dialect in Dialect::ALL {
            for op in dialect.ops().iter().filter(|op| !op.fails.is_empty()) {
                assert!(failure(op).is_some(), "{}", op.name);
            }
        }
    }
}
