//! The built-in differs: four comparisons of a grid with the expected grid.

use batt_dsl::{Dialect, OpId};

use crate::batt::PARAMS;
use crate::program::{Operand, Program, ProgramBuilder};

/// Returns the built-in differs of a dialect, by name. Each takes `(S, I, C)` and reports how the
/// grid `I` differs from `C`.
///
/// In tokpidjin they are the differs of the original system, under its names; the value is the
/// number of differences and one of them. In arc-dsl they make the same comparisons, and the value
/// is the number and the set of the differences.
///
/// A differ is left out if the dialect does not have its primitives.
pub fn differs(dialect: Dialect) -> Vec<Program> {
    let made = match dialect {
        Dialect::ArcDsl | Dialect::ReArc => [
            arc_cells(dialect, "differ_cells_added", [C, I]),
            arc_cells(dialect, "differ_cells_removed", [I, C]),
            arc_colors(dialect, "differ_colors_added", [C, I]),
            arc_colors(dialect, "differ_colors_removed", [I, C]),
        ],
        Dialect::Tokpidjin => [
            tok_colors("differ_c59e6ae069a9205b311cf67a15473d64", C),
            tok_cells("differ_d50e4f6db9fab7b53f413af7de3a35da", I),
            tok_cells("differ_f4a4346405e974b919a4b5a52f28e40c", C),
            tok_colors("differ_fc9e44c913711da609a9e25126b4b296", I),
        ],
    };
    made.into_iter().flatten().collect()
}

/// Positions of the grids among the parameters.
const I: usize = 1;
const C: usize = 2;

/// Makes a differ for the colours of one grid that the other does not have.
fn arc_colors(dialect: Dialect, name: &str, [of, missing_in]: [usize; 2]) -> Option<Program> {
    let mut differ = Differ::new(dialect, name);
    let grids = [differ.param(of), differ.param(missing_in)];
    let [a, b] = differ.on_both("palette", grids, &[])?;
    let only = differ.call("difference", &[a, b])?;
    let count = differ.call("size", std::slice::from_ref(&only))?;
    differ.finish(&[count, only])
}

/// Makes a differ for the one-cell objects of one grid that the other does not have.
fn arc_cells(dialect: Dialect, name: &str, [of, missing_in]: [usize; 2]) -> Option<Program> {
    let mut differ = Differ::new(dialect, name);
    let grids = [differ.param(of), differ.param(missing_in)];
    let [yes, no, one] = ["T", "F", "ONE"].map(|name| differ.constant(name));
    let (yes, no, one) = (yes?, no?, one?);
    let objects = differ.on_both("objects", grids, &[yes.clone(), no, yes])?;
    let [a, b] = differ.on_both("sizefilter", objects, &[one])?;
    let only = differ.call("difference", &[a, b])?;
    let count = differ.call("size", std::slice::from_ref(&only))?;
    differ.finish(&[count, only])
}

/// Makes a differ for the colours of one grid that the other does not have, with an example.
fn tok_colors(name: &str, of: usize) -> Option<Program> {
    let mut differ = Differ::new(Dialect::Tokpidjin, name);
    let colors = differ.op("p_g")?;
    let colors = differ.call("identity", &[colors])?;
    let [i, c] = differ.call_on_grids(&colors);
    let [a, b] = if of == I { [i, c] } else { [c, i] };
    let only = differ.call("difference_tuple", &[a, b])?;
    let count = differ.call("size", std::slice::from_ref(&only))?;
    let rank = differ.constant("F0")?;
    let example = differ.call("get_nth_t", &[only, rank])?;
    differ.finish(&[count, example])
}

/// Makes a differ for the one-cell objects of one grid that the other does not have, with an
/// example.
fn tok_cells(name: &str, of: usize) -> Option<Program> {
    let mut differ = Differ::new(Dialect::Tokpidjin, name);
    let (objects, code) = (differ.op("o_g")?, differ.constant("R5")?);
    let objects = differ.call("rbind", &[objects, code])?;
    let [i, c] = differ.call_on_grids(&objects);
    let (filter, one) = (differ.op("sizefilter")?, differ.constant("ONE")?);
    let filter = differ.call("rbind", &[filter, one])?;
    let [i, c] = [i, c].map(|objects| differ.builder.call(filter.clone(), vec![objects]));
    let [a, b] = if of == I { [i, c] } else { [c, i] };
    let only = differ.call("difference", &[a, b])?;
    let count = differ.call("size", std::slice::from_ref(&only))?;
    let rank = differ.constant("F0")?;
    let example = differ.call("get_nth_f", &[only, rank])?;
    differ.finish(&[count, example])
}

/// A differ under construction. Methods return `None` for names that the dialect does not have.
struct Differ {
    dialect: Dialect,
    builder: ProgramBuilder,
}

impl Differ {
    fn new(dialect: Dialect, name: &str) -> Differ {
        Differ {
            dialect,
            builder: ProgramBuilder::new(name, PARAMS).in_dialect(dialect),
        }
    }

    fn param(&self, position: usize) -> Operand {
        self.builder.param(position)
    }

    fn op(&self, name: &str) -> Option<Operand> {
        self.dialect.op(name).map(Operand::Op)
    }

    fn constant(&self, name: &str) -> Option<Operand> {
        self.dialect.constant(name).map(Operand::Const)
    }

    fn call(&mut self, name: &str, args: &[Operand]) -> Option<Operand> {
        let op: OpId = self.dialect.op(name)?;
        Some(self.builder.call(Operand::Op(op), args.to_vec()))
    }

    /// Calls a primitive on each of two values, with the same further arguments.
    fn on_both(
        &mut self,
        name: &str,
        [a, b]: [Operand; 2],
        more: &[Operand],
    ) -> Option<[Operand; 2]> {
        let mut on = |first: Operand| {
            let args: Vec<Operand> = [first].into_iter().chain(more.iter().cloned()).collect();
            self.call(name, &args)
        };
        Some([on(a)?, on(b)?])
    }

    /// Calls a function on `I`, then on `C`.
    fn call_on_grids(&mut self, function: &Operand) -> [Operand; 2] {
        [I, C].map(|grid| {
            let grid = self.param(grid);
            self.builder.call(function.clone(), vec![grid])
        })
    }

    /// Finishes the differ with this pair as its result.
    fn finish(mut self, pair: &[Operand]) -> Option<Program> {
        let pair = self.call("astuple", pair)?;
        Some(self.builder.finish(pair))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arc_dsl_has_four_differs() {
        let differs = differs(Dialect::ArcDsl);
        let names: Vec<&str> = differs.iter().map(Program::name).collect();
        assert_eq!(
            names,
            [
                "differ_cells_added",
                "differ_cells_removed",
                "differ_colors_added",
                "differ_colors_removed"
            ]
        );
        assert_eq!(
            differs[0].to_string(),
            "def differ_cells_added(S, I, C):\n    \
             x1 = objects(C, T, F, T)\n    x2 = objects(I, T, F, T)\n    \
             x3 = sizefilter(x1, ONE)\n    x4 = sizefilter(x2, ONE)\n    \
             x5 = difference(x3, x4)\n    x6 = size(x5)\n    \
             O = astuple(x6, x5)\n    return O\n"
        );
        assert_eq!(
            differs[3].to_string(),
            "def differ_colors_removed(S, I, C):\n    \
             x1 = palette(I)\n    x2 = palette(C)\n    x3 = difference(x1, x2)\n    \
             x4 = size(x3)\n    O = astuple(x4, x3)\n    return O\n"
        );
    }

    #[test]
    fn re_arc_has_the_same_differs() {
        assert!(
            differs(Dialect::ReArc)
                .iter()
                .all(|differ| differ.dialect() == Dialect::ReArc)
        );
        assert_eq!(differs(Dialect::ReArc).len(), 4);
    }

    #[test]
    fn tokpidjin_has_the_differs_of_the_original_system() {
        let differs = differs(Dialect::Tokpidjin);
        assert!(differs.is_sorted_by_key(|differ| differ.name()));
        for differ in &differs {
            let text = differ.to_string();
            let (_, body) = text.split_once('\n').expect("a head and a body");
            let expected = match differ.name() {
                "differ_c59e6ae069a9205b311cf67a15473d64" => colors("x3, x2"),
                "differ_fc9e44c913711da609a9e25126b4b296" => colors("x2, x3"),
                "differ_d50e4f6db9fab7b53f413af7de3a35da" => cells("x5, x6"),
                "differ_f4a4346405e974b919a4b5a52f28e40c" => cells("x6, x5"),
                name => panic!("{name} is no differ of the original"),
            };
            assert_eq!(body, expected);
        }
    }

    fn colors(order: &str) -> String {
        format!(
            "    x1 = identity(p_g)\n    x2 = x1(I)\n    x3 = x1(C)\n    \
             x4 = difference_tuple({order})\n    x5 = size(x4)\n    \
             x6 = get_nth_t(x4, F0)\n    O = astuple(x5, x6)\n    return O\n"
        )
    }

    fn cells(order: &str) -> String {
        format!(
            "    x1 = rbind(o_g, R5)\n    x2 = x1(I)\n    x3 = x1(C)\n    \
             x4 = rbind(sizefilter, ONE)\n    x5 = x4(x2)\n    x6 = x4(x3)\n    \
             x7 = difference({order})\n    x8 = size(x7)\n    \
             x9 = get_nth_f(x7, F0)\n    O = astuple(x8, x9)\n    return O\n"
        )
    }
}
