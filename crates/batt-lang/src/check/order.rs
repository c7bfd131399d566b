//! Finds steps whose value can depend on the iteration order of a set.

use batt_dsl::{Literal, OpId};

use super::facts::Facts;
use super::kinds::Kinds;
use crate::program::{Operand, StepKind};

/// Primitives that depend on the order of a set only through the arguments in these positions. If
/// those arguments are tuples, the primitives do not depend on it.
const SET_ARGUMENTS: &[(&str, &[usize])] = &[
    ("first", &[0]),
    ("last", &[0]),
    ("totuple", &[0]),
    ("other", &[0]),
    ("extract", &[0]),
    ("argmax", &[0]),
    ("argmin", &[0]),
    ("order", &[0]),
    ("maximum", &[0]),
    ("minimum", &[0]),
    ("valmax", &[0]),
    ("valmin", &[0]),
    ("color", &[0]),
    ("pair", &[0, 1]),
    ("papply", &[1, 2]),
    ("paint", &[1]),
];

/// Returns messages about how a step depends on order, through its callee and through the functions
/// that it passes on.
pub(super) fn dependences(kind: &StepKind, facts: &Facts) -> Vec<String> {
    let StepKind::Call { callee, args } = kind else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let Operand::Op(op) = callee
        && op.op().order_sensitive
        && may_matter(*op, args, facts)
    {
        found.push(sentence(*op));
    }
    for arg in args {
        if let Operand::Op(op) = arg
            && op.op().order_sensitive
        {
            found.push(sentence(*op));
        }
    }
    found.dedup();
    found
}

fn sentence(op: OpId) -> String {
    let (name, when) = (op.op().name, op.op().order);
    if when.is_empty() {
        format!("{name} can depend on the order of a set")
    } else {
        format!("{name} can depend on the order of a set: {when}")
    }
}

/// Returns whether the order can matter for these arguments.
fn may_matter(op: OpId, args: &[Operand], facts: &Facts) -> bool {
    let kinds = |k: usize| args.get(k).map_or(Kinds::ANY, |arg| facts.kinds(arg));
    let name = op.op().name;
    match name {
        // A set of containers merges to a set, which does not expose the order.
        "merge" | "mfilter" => kinds(0).overlaps(Kinds::TUPLE),
        "mapply" => kinds(1).overlaps(Kinds::TUPLE),
        "combine" => kinds(0).overlaps(Kinds::TUPLE) && kinds(1).overlaps(Kinds::SET),
        // `objects` looks up the background colour only to leave it out.
        "objects" => args.get(3).and_then(Operand::literal) != Some(Literal::Bool(false)),
        _ => match SET_ARGUMENTS.iter().find(|(listed, _)| *listed == name) {
            Some((_, positions)) => positions.iter().any(|&k| kinds(k).overlaps(Kinds::SET)),
            None => true,
        },
    }
}

#[cfg(test)]
mod tests {
    use crate::{DiagnosticCode, SolverFile};

    /// The primitives reported for `return ...`.
    fn reported(expr: &str) -> Vec<String> {
        let file = SolverFile::parse(&format!("def f(I):\n  return {expr}\n"), "f.py");
        assert!(file.is_clean(), "{:?}", file.diagnostics);
        let all = file.check();
        let order = all
            .iter()
            .filter(|d| d.code == DiagnosticCode::OrderDependent);
        let name = |m: &str| m.split(' ').next().unwrap_or_default().to_owned();
        order.map(|d| name(&d.message)).collect()
    }

    #[test]
    fn only_sets_are_reported() {
        assert_eq!(reported("first(palette(I))"), ["first"]);
        assert_eq!(reported("first((I, I))"), [""; 0]);
        assert_eq!(reported("first(I)"), ["first"]);
        assert_eq!(reported("mostcolor((I, I))"), ["mostcolor"]);
        assert_eq!(reported("merge(partition(I))"), [""; 0]);
        assert_eq!(reported("merge((palette(I), I))"), ["merge"]);
        assert_eq!(reported("objects(I, T, T, F)"), [""; 0]);
        assert_eq!(reported("objects(I, T, T, T)"), ["objects"]);
        assert_eq!(reported("size(palette(I))"), [""; 0]);
    }

    #[test]
    fn functions_passed_as_arguments_count() {
        assert_eq!(reported("apply(first, I)"), ["first"]);
        assert_eq!(
            reported("compose(first, mostcolor)"),
            ["first", "mostcolor"]
        );
    }

    #[test]
    fn the_list_names_primitives() {
        for (name, positions) in super::SET_ARGUMENTS {
            let op = batt_dsl::OpId::named(name).expect(name).op();
            assert!(op.order_sensitive, "{name}");
            assert!(positions.iter().all(|&k| k < op.params.len()), "{name}");
        }
    }
}
