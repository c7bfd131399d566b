//! Common features of demonstrations: colours that appear and disappear, and mirrorings and
//! rotations that turn inputs into outputs.

// Keyword arguments use the parameter name `S`.
#![allow(non_snake_case)]

use super::container::{dedupe, difference_tuple, first, second};
use super::higher_order::{apply, mapply_t};
use super::mirror::mir_rot_t;
use crate::fault::Outcome;
use crate::ops::container;
use crate::run::Run;
use crate::set::{Elems, Set};
use crate::table::{Op, OpId};
use crate::value::Value;

const FAMILY: &str = "samples";

pub(super) const OPS: &[&Op] = &[
    &p_g::OP,
    &p_f::OP,
    &p_o::OP,
    &c_iz::OP,
    &c_zo::OP,
    &c_iz_n::OP,
    &c_zo_n::OP,
    &a_mr::OP,
];

safe! {
    /// The colours of a grid as a tuple, in the order of the set of colours.
    pub p_g(grid: Grid) -> IntegerSet;
    ordered "more than one colour";
    |run| {
        if let Some(grid) = run.as_grid(grid) {
            run.spend(grid.cells.len() / 8)?;
            let distinct = DistinctColors::of(grid.cells.iter().map(|&c| c.into()));
            return distinct.in_order(run);
        }
        let mut values = Vec::new();
        for &row in run.items(grid)? {
            values.extend_from_slice(run.items(row)?);
            run.check_len(values.len())?;
        }
        let set = run.build(&values)?;
        container::totuple(run, Value::Set(set))
    }
}

/// Distinct colours in the order in which they first occur.
struct DistinctColors {
    colors: Vec<i32>,
    /// One bit for each colour of ARC.
    few: u16,
}

impl DistinctColors {
    fn of(colors: impl Iterator<Item = i32>) -> DistinctColors {
        let mut distinct = DistinctColors {
            colors: Vec::with_capacity(10),
            few: 0,
        };
        for color in colors {
            let known = match color {
                0..=9 => distinct.few >> color & 1 == 1,
                _ => distinct.colors.contains(&color),
            };
            if !known {
                distinct.colors.push(color);
                if (0..=9).contains(&color) {
                    distinct.few |= 1 << color;
                }
            }
        }
        distinct
    }

    /// Returns whether the set is the same for every insertion order. Up to four colours share
    /// eight slots, where 0 collides with 8 and 1 with 9; five and more have a slot each.
    fn is_fixed(&self) -> bool {
        let both = |a: u32, b: u32| self.few >> a & self.few >> b & 1 == 1;
        let only_few = self.few.count_ones() as usize == self.colors.len();
        only_few && (self.colors.len() > 4 || !(both(0, 8) || both(1, 9)))
    }

    /// Returns the set of the colours.
    fn set<'r>(&self, run: &mut Run<'r>) -> Outcome<&'r Set<'r>> {
        let colors = self.colors.iter().map(|&c| Value::Int(c.into()));
        let colors = run.slice_from(colors)?;
        run.build(colors)
    }

    /// Returns the colours as a tuple, in the order of their set.
    fn in_order<'r>(mut self, run: &mut Run<'r>) -> Outcome<Value<'r>> {
        if !self.is_fixed() {
            let set = self.set(run)?;
            return container::totuple(run, Value::Set(set));
        }
        let slots = if self.colors.len() > 4 { 32 } else { 8 };
        self.colors.sort_unstable_by_key(|c| c % slots);
        let colors = run.slice_from(self.colors.iter().map(|&c| c as u8))?;
        run.row(colors)
    }
}

/// Returns the colours of an object in iteration order, if the object is in compact form.
fn distinct_colors_of<'r>(run: &mut Run<'r>, obj: Value<'r>) -> Outcome<Option<DistinctColors>> {
    if let Value::Set(set) = obj
        && let Elems::Cells(cells) = set.elems
    {
        run.spend(cells.len() / 4)?;
        let distinct = DistinctColors::of(cells.iter().map(|c| c.color));
        if distinct.colors.len() == 1 || distinct.is_fixed() {
            return Ok(Some(distinct));
        }
        let order = set.order(run)?;
        let distinct = DistinctColors::of(order.iter().map(|&k| cells[k as usize].color));
        return Ok(Some(distinct));
    }
    Ok(None)
}

/// Returns the set of the third components of triples.
fn thirds<'r>(run: &mut Run<'r>, container: Value<'r>) -> Outcome<&'r Set<'r>> {
    if let Some(distinct) = distinct_colors_of(run, container)? {
        return distinct.set(run);
    }
    let items = run.items(container)?;
    let mut values = Vec::with_capacity(items.len());
    for &cell in items {
        values.push(run.unpack3(cell)?[2]);
    }
    run.build(&values)
}

safe! {
    /// The set of the colours of an object.
    pub p_f(element: FrozenSet) -> IntegerSet;
    |run| {
        Ok(Value::Set(thirds(run, element)?))
    }
}

safe! {
    /// The colours of an object as a tuple, in the order of the set of colours.
    pub p_o(obj: Object) -> IntegerSet;
    ordered "more than one colour";
    |run| {
        if let Some(distinct) = distinct_colors_of(run, obj)? {
            return distinct.in_order(run);
        }
        let set = thirds(run, obj)?;
        container::totuple(run, Value::Set(set))
    }
}

/// Returns the distinct values that a function finds in the inputs, and those that it finds in the
/// outputs.
fn found<'r>(
    run: &mut Run<'r>,
    samples: Value<'r>,
    function: Value<'r>,
) -> Outcome<(Value<'r>, Value<'r>)> {
    let inputs = apply(run, Value::Op(OpId::of(&first::OP)), samples)?;
    let outputs = apply(run, Value::Op(OpId::of(&second::OP)), samples)?;
    let in_inputs = mapply_t(run, function, inputs)?;
    let in_outputs = mapply_t(run, function, outputs)?;
    Ok((dedupe(run, in_inputs)?, dedupe(run, in_outputs)?))
}

safe! {
    /// The values that a function finds in some input and in no output, in the order in which they
    /// are found.
    pub c_iz(S: Samples, function: Callable) -> Any;
    ordered "a function that gives sets of several elements";
    |run| {
        let (inputs, outputs) = found(run, S, function)?;
        difference_tuple(run, inputs, outputs)
    }
}

safe! {
    /// The values that a function finds in some output and in no input, in the order in which they
    /// are found.
    pub c_zo(S: Samples, function: Callable) -> Any;
    ordered "a function that gives sets of several elements";
    |run| {
        let (inputs, outputs) = found(run, S, function)?;
        difference_tuple(run, outputs, inputs)
    }
}

safe! {
    /// One of the values that a function finds in some input and in no output, chosen by another
    /// function.
    pub c_iz_n(S: Samples, function: Callable, pick: Callable) -> C_;
    ordered "a function that gives sets of several elements";
    |run| {
        let found = c_iz(run, S, function)?;
        run.call1(pick, found)
    }
}

safe! {
    /// One of the values that a function finds in some output and in no input, chosen by another
    /// function.
    pub c_zo_n(S: Samples, function: Callable, pick: Callable) -> C_;
    ordered "a function that gives sets of several elements";
    |run| {
        let found = c_zo(run, S, function)?;
        run.call1(pick, found)
    }
}

safe! {
    /// The code of the first mirroring or rotation that turns every input into its output; 7 if
    /// they are equal already, `None` if there is none.
    pub a_mr(S: Samples) -> A8;
    |run| {
        let samples = run.items(S)?;
        'code: for code in 0..8 {
            for &sample in samples {
                let (input, output) = run.unpack2(sample)?;
                let image = mir_rot_t(run, input, Value::Int(code))?;
                if !run.eq(output, image) {
                    continue 'code;
                }
            }
            return Ok(Value::Int(code));
        }
        Ok(Value::None)
    }
}
