//! Functions that take or make functions.

use crate::fault::{Fault, Outcome};
use crate::op;
use crate::run::Run;
use crate::set::Walk;
use crate::table::Op;
use crate::value::{ClosureForm, Value};

use super::container::{merge, merge_tuple};
use super::lines::{are_in_line, connect};
use super::members::{Collected, Mapped, Members};

const FAMILY: &str = "higher order";

pub(super) const OPS: &[&Op] = &[
    &compose::OP,
    &chain::OP,
    &matcher::OP,
    &rbind::OP,
    &lbind::OP,
    &power::OP,
    &fork::OP,
    &apply::OP,
    &rapply::OP,
    &mapply::OP,
    &papply::OP,
    &mpapply::OP,
    &prapply::OP,
];

op! {
    /// The composition of two functions: the inner one is applied first.
    ///
    /// Nothing is checked before the result is called.
    pub compose(outer: Callable, inner: Callable) -> Callable;
    example "compose(double, increment)(THREE)" => "8";
    fails "compose(double, THREE)(ONE)";
    |run| { run.closure(1, ClosureForm::Compose(outer, inner)) }
}

op! {
    /// The composition of three functions: the last one is applied first.
    ///
    /// Nothing is checked before the result is called.
    pub chain(h: Callable, g: Callable, f: Callable) -> Callable;
    example "chain(invert, double, increment)(THREE)" => "-8";
    fails "chain(invert, double, THREE)(ONE)";
    |run| { run.closure(1, ClosureForm::Chain(h, g, f)) }
}

op! {
    /// The function that tests whether another function's value equals a target.
    ///
    /// Nothing is checked before the result is called.
    pub matcher(function: Callable, target: Any) -> Callable;
    example "matcher(size, TWO)((7, 8))" => "True";
    fails "matcher(size, TWO)(THREE)";
    |run| { run.closure(1, ClosureForm::Matcher(function, target)) }
}

/// Returns the arity of a function with one argument bound. Python's definition handles two and
/// three parameters; any other number, even one, becomes three.
pub(super) fn bound_arity(arity: usize) -> u8 {
    match arity {
        2 => 1,
        3 => 2,
        _ => 3,
    }
}

op! {
    /// The function with its last argument fixed.
    ///
    /// A function of one argument can be bound, but the result cannot be called. Fails at once for
    /// a value that is not a function.
    pub rbind(function: Callable, fixed: Any) -> Callable;
    example "rbind(subtract, ONE)(THREE)" => "2";
    fails "rbind(THREE, ONE)";
    |run| {
        let arity = run.arity(function)?;
        run.closure(bound_arity(arity), ClosureForm::Rbind(function, fixed))
    }
}

op! {
    /// The function with its first argument fixed.
    ///
    /// A function of one argument can be bound, but the result cannot be called. Fails at once for
    /// a value that is not a function.
    pub lbind(function: Callable, fixed: Any) -> Callable;
    example "lbind(subtract, ONE)(THREE)" => "-2";
    fails "lbind(THREE, ONE)";
    |run| {
        let arity = run.arity(function)?;
        run.closure(bound_arity(arity), ClosureForm::Lbind(function, fixed))
    }
}

op! {
    /// The function applied a number of times in a row.
    ///
    /// The number 1 gives the function itself. Fails for a number below 1, and for a number that
    /// fills Python's stack: in a step of a solver, 997 or more.
    pub power(function: Callable, n: Integer) -> Callable;
    example "power(double, THREE)(ONE)" => "8";
    fails "power(double, ZERO)";
    |run| {
        let one = Value::Int(1);
        if run.eq(n, one) {
            return Ok(function);
        }
        match n.as_int() {
            None => Err(Fault::Type),
            Some(n) if n < 1 || n > run.free_frames().into() => Err(Fault::Recursion),
            Some(n) => run.closure(1, ClosureForm::Power(function, n as u32)),
        }
    }
}

op! {
    /// The function that applies an outer function to the values of two inner ones.
    ///
    /// Nothing is checked before the result is called.
    pub fork(outer: Callable, a: Callable, b: Callable) -> Callable;
    example "fork(add, double, increment)(THREE)" => "10";
    fails "fork(add, double, THREE)(ONE)";
    |run| { run.closure(1, ClosureForm::Fork(outer, a, b)) }
}

op! {
    /// The values of a function on all elements, in a container of the same kind.
    ///
    /// In a set equal values collapse.
    pub apply(function: Callable, container: Container) -> Container;
    frames 2;
    example "apply(double, (1, 2, 3))" => "(2, 4, 6)";
    fails "apply(double, THREE)";
    |run| {
        if let Some(pair) = container.as_pair() {
            let mut image = |n: i16| {
                run.call1(function, Value::Int(n.into()))
                    .map_err(Fault::through_generator)
            };
            let (a, b) = (image(pair.i)?, image(pair.j)?);
            return run.pair(a, b);
        }
        let members = Members::of(run, container)?;
        if let Members::Set(set) = members {
            let images = Members::map_set(run, set, function).map_err(Fault::through_generator)?;
            return Ok(Value::Set(match images {
                Mapped::All(images) => run.set_map(set, images)?,
                Mapped::Collapsed(images) => images,
            }));
        }
        let images = members
            .map(run, function)
            .map_err(Fault::through_generator)?;
        run.tuple_of(images)
    }
}

op! {
    /// The values of several functions on one argument, in a container of the functions' kind.
    pub rapply(functions: Container, value: Any) -> Container;
    frames 2;
    example "rapply((double, increment), THREE)" => "(6, 4)";
    fails "rapply(THREE, FOUR)";
    |run| {
        let members = Members::of(run, functions)?;
        let images = run.slice_filled(members.len(), Value::None)?;
        run.in_loop(|run, state| {
            members.each(run, 0, |run, k| {
                images[k] = run.call1_in_loop(state, members.get(k), value)?;
                Ok(())
            })
        })
        .map_err(Fault::through_generator)?;
        match members {
            Members::Set(set) => Ok(Value::Set(run.set_map(set, images)?)),
            Members::Tuple(_) => run.tuple_of(images),
        }
    }
}

op! {
    /// The values of a function on all elements, merged into one container.
    ///
    /// The result is of the container's kind. Fails when a value is not a container.
    pub mapply(function: Callable, container: ContainerContainer) -> FrozenSet;
    ordered "a tuple whose elements the function maps to sets of several elements";
    frames 3;
    example "mapply(lbind(repeat, SEVEN), (1, 2))" => "(7, 7, 7)";
    fails "mapply(double, (1, 2))";
    |run| {
        let members = Members::of(run, container)?;
        if let Members::Set(set) = members {
            let images = Members::map_set(run, set, function).map_err(Fault::through_generator)?;
            return match images {
                Mapped::All(images) => run.set_merge(Walk::Mapped(set), images).map(Value::Set),
                Mapped::Collapsed(images) => merge(run, Value::Set(images)),
            };
        }
        let images = members
            .map(run, function)
            .map_err(Fault::through_generator)?;
        merge_tuple(run, images)
    }
}

op! {
    /// The values of a function on the elements of two containers paired by position, as a tuple.
    ///
    /// The longer container's extra elements are dropped.
    pub papply(function: Callable, a: Tuple, b: Tuple) -> Tuple;
    ordered "a set of several elements";
    frames 2;
    example "papply(add, (1, 2), (3, 4))" => "(4, 6)";
    fails "papply(add, THREE, (3, 4))";
    |run| {
        let images = side_by_side(run, function, a, b)?;
        run.tuple(&images)
    }
}

fn side_by_side<'r>(
    run: &mut Run<'r>,
    function: Value<'r>,
    a: Value<'r>,
    b: Value<'r>,
) -> Outcome<Vec<Value<'r>>> {
    let (a, b) = (run.items(a)?, run.items(b)?);
    run.in_loop(|run, state| {
        let images = a.iter().zip(b);
        let images = images.map(|(&x, &y)| run.call2_in_loop(state, function, x, y));
        images.collect::<Outcome<_>>()
    })
    .map_err(Fault::through_generator)
}

op! {
    /// The values of a function on the elements of two containers paired by position, merged into a
    /// tuple.
    ///
    /// The longer container's extra elements are dropped. Fails when a value is not a container.
    pub mpapply(function: Callable, a: Tuple, b: Tuple) -> Tuple;
    ordered "a set of several elements, given or produced";
    frames 3;
    example "mpapply(repeat, (7, 8), (1, 2))" => "(7, 8, 8)";
    fails "mpapply(add, (1, 2), (3, 4))";
    |run| {
        let images = side_by_side(run, function, a, b)?;
        let images = run.slice(&images)?;
        merge_tuple(run, images)
    }
}

op! {
    /// The values of a function on all pairs of elements of two containers, as a set.
    pub prapply(function: Callable, a: Container, b: Container) -> FrozenSet;
    frames 2;
    example "prapply(add, (1, 2), (3, 4))" => "frozenset({4, 5, 6})";
    fails "prapply(add, THREE, (3, 4))";
    |run| {
        let outer = run.items(b)?;
        if outer.is_empty() {
            return Ok(Value::Set(run.empty_set()?));
        }
        let inner = run.items(a)?;
        let known = KnownLines::of(function, inner, outer);
        let mut images = Collected::new(run);
        run.in_loop(|run, state| {
            let numbers = (0..outer.len()).flat_map(|y| (0..inner.len()).map(move |x| (y, x)));
            for (count, (m, n)) in numbers.enumerate() {
                let (y, x) = (outer[m], inner[n]);
                if let Some(known) = &known {
                    if n == 0 {
                        run.spend(inner.len() / 4)?;
                    }
                    if known.has(x, y, n < m, images.has_empty()) {
                        continue;
                    }
                }
                if images.pays(count) {
                    let call = |run: &mut Run<'r>| run.call2(function, x, y);
                    // SAFETY: `number_of` returns `true` only for an image equal to one in
                    // `values`, and then stores neither the image nor any part of it: the index has
                    // numbers only. The first of equal images stays.
                    unsafe { run.collect_in_loop(state, call, |run, image| images.number_of(run, image, |_, _| true)) }
                        .map_err(Fault::through_generator)?;
                } else {
                    images.is_patches = false;
                    let image = run.call2_in_loop(state, function, x, y);
                    images.values.push(image.map_err(Fault::through_generator)?);
                }
                run.check_values(images.values.len())?;
            }
            Ok(())
        })?;
        let (images, _) = images.finish(run);
        Ok(Value::Set(run.build(&images)?))
    }
}

/// The lines between all pairs of locations. Most of them are known before they are drawn: the line
/// between locations that are not in line is empty, and a line is the same in both directions.
struct KnownLines {
    /// Whether both sides have the same locations.
    is_symmetric: bool,
}

impl KnownLines {
    fn of<'r>(function: Value<'r>, a: &[Value<'r>], b: &[Value<'r>]) -> Option<KnownLines> {
        let is_same = |(a, b): (&Value<'r>, &Value<'r>)| {
            a.as_pair().is_some_and(|pair| b.as_pair() == Some(pair))
        };
        matches!(function, Value::Op(id) if std::ptr::eq(id.op(), &connect::OP)).then(|| {
            KnownLines {
                is_symmetric: a.len() == b.len() && a.iter().zip(b).all(is_same),
            }
        })
    }

    /// Returns whether the line need not be drawn: it has been drawn from the other end, or it is
    /// empty and not the first empty one.
    #[inline(always)]
    fn has(&self, a: Value<'_>, b: Value<'_>, from_other_end: bool, has_empty: bool) -> bool {
        let (Some(a), Some(b)) = (a.as_pair(), b.as_pair()) else {
            return false;
        };
        (self.is_symmetric && from_other_end) || (has_empty && !are_in_line(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::ops::container::{first, last, product};
    use crate::ops::patch::{recolor, shift};
    use crate::run::{Limits, Workspace};
    use crate::set::Set;
    use crate::table::OpId;
    use crate::value::{Cell, IntPair};

    fn in_run(body: impl for<'r> FnOnce(&mut Run<'r>) -> Outcome<()>) {
        let outcome = Workspace::new().run(Dialect::ArcDsl, &Limits::default(), body);
        assert_eq!(outcome, Ok(()));
    }

    fn op<'r>(op: &'static Op) -> Value<'r> {
        Value::Op(OpId::of(op))
    }

    /// Returns the locations of a rectangle except every third one.
    fn locations<'r>(run: &mut Run<'r>, height: i16, width: i16) -> Outcome<&'r Set<'r>> {
        let all = (0..height).flat_map(|i| (0..width).map(move |j| IntPair::new(i, j)));
        let some: Vec<_> = all.filter(|p| (p.i + p.j) % 3 != 0).collect();
        run.build_distinct_pairs(&some)
    }

    /// Asserts the same value, in the same order.
    fn assert_same<'r>(run: &mut Run<'r>, a: Value<'r>, b: Value<'r>) -> Outcome<()> {
        assert_eq!(run.to_owned(a)?, run.to_owned(b)?);
        Ok(())
    }

    #[test]
    fn equal_images_collapse_into_the_set_that_python_builds() {
        // Few and many elements take different paths.
        for (height, width) in [(3, 4), (6, 7)] {
            in_run(|run| {
                let places = locations(run, height, width)?;
                let both = product(run, Value::Set(places), Value::Set(places))?;
                let function = fork(run, op(&connect::OP), op(&first::OP), op(&last::OP))?;
                let lines = apply(run, function, both)?;
                let merged = mapply(run, function, both)?;
                let mut images = Vec::new();
                let mut elements = Vec::new();
                for &ends in run.items(both)? {
                    images.push(run.call1(function, ends)?);
                }
                let expected = Value::Set(run.build(&images)?);
                for &line in run.items(expected)? {
                    elements.extend_from_slice(run.items(line)?);
                }
                let expected_elements = Value::Set(run.build(&elements)?);
                assert_same(run, lines, expected)?;
                assert_same(run, merged, expected_elements)
            });
        }
    }

    #[test]
    fn images_of_a_merged_tuple_are_built_in_its_sequence() {
        in_run(|run| {
            let mut members = Vec::new();
            for color in 1..4 {
                // The members overlap in part, in different colours.
                let places = locations(run, 4, 5)?;
                let cells = places.values(run)?.iter().filter_map(|v| v.as_pair());
                let cells = cells.map(|p| Cell::new(color, IntPair::new(p.i + color as i16, p.j)));
                members.push(Value::Set(
                    run.build_distinct_cells(&cells.collect::<Vec<_>>())?,
                ));
            }
            let members = run.slice(&members)?;
            let all = merge_tuple(run, members)?;
            let by = Value::pair(IntPair::new(2, -1));
            let moved = shift(run, all, by)?;
            let painted = recolor(run, Value::Int(7), all)?;
            let (mut cells, mut seven) = (Vec::new(), Vec::new());
            for &cell in run.items(all)? {
                let (color, at) = run.unpack2(cell)?;
                let (Value::Int(color), Some(p)) = (color, at.as_pair()) else {
                    continue;
                };
                let to = IntPair::new(p.i + 2, p.j - 1);
                cells.push(Value::cell(Cell::new(color as i32, to)));
                seven.push(at);
            }
            let expected = Value::Set(run.build(&cells)?);
            assert_same(run, moved, expected)?;
            // `recolor` follows the order of the set of the locations.
            let places = run.build(&seven)?;
            let sevens: Vec<_> = places
                .values(run)?
                .iter()
                .filter_map(|v| v.as_pair())
                .collect();
            let sevens: Vec<_> = sevens.iter().map(|&p| Cell::new(7, p)).collect();
            let expected = Value::Set(run.build_distinct_cells(&sevens)?);
            assert_same(run, painted, expected)
        });
    }
}
