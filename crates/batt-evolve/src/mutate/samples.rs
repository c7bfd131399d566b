//! Values computed from the demonstrations. They turn a literal that is right for one task into a
//! rule that is right for many.

use batt_dsl::Dialect;
use batt_lang::graph::{Node, Ref};
use batt_lang::types::ConstantRole;

use super::{Breeder, constant, role};

/// Replaces a literal colour by a colour that is in the inputs but in no output, or the other way
/// round.
pub(super) fn colour(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let (node, position) = literal(b, parent, |role| role == ConstantRole::Colour)?;
    let inputs_less_outputs = b.chance.is(0.5);
    let rank = b.chance.low(3);
    let colour = match b.typed.graph.dialect() {
        Dialect::Tokpidjin => ranked(b, inputs_less_outputs, rank),
        _ => sorted(b, inputs_less_outputs, rank),
    }?;
    b.typed.replace_operand(parent, node, position, colour)
}

/// Chooses a constant of a program that has a certain role.
fn literal(
    b: &mut Breeder<'_>,
    program: Ref,
    wanted: impl Fn(ConstantRole) -> bool,
) -> Option<(u32, usize)> {
    let mut places = constant::places(&b.typed.graph, program);
    places.retain(|&(node, position)| role(&b.typed.graph, node, position).is_some_and(&wanted));
    b.chance.one(&places).copied()
}

fn op(b: &Breeder<'_>, name: &str) -> Option<Ref> {
    b.typed.graph.dialect().op(name).map(Ref::op)
}

/// Makes the colours of one side of the demonstrations that the other side does not have, in the
/// eight steps of the original.
fn difference(b: &mut Breeder<'_>, inputs_less_outputs: bool, names: [&str; 4]) -> Option<Ref> {
    let [last, palette, unique, difference] = names;
    let mut sides = Vec::new();
    for side in ["first", last] {
        let side = op(b, side)?;
        let grids = b.typed.call(op(b, "apply")?, &[side, Ref::SAMPLES])?;
        let palette = op(b, palette)?;
        let colours = b.typed.call(op(b, "mapply")?, &[palette, grids])?;
        sides.push(b.typed.call(op(b, unique)?, &[colours])?);
    }
    if !inputs_less_outputs {
        sides.reverse();
    }
    b.typed.call(op(b, difference)?, &sides)
}

/// Makes one of these colours, chosen by rank as tokpidjin does.
fn ranked(b: &mut Breeder<'_>, inputs_less_outputs: bool, rank: usize) -> Option<Ref> {
    let names = ["second", "p_g", "dedupe", "difference_tuple"];
    let colours = difference(b, inputs_less_outputs, names)?;
    let rank = b.typed.graph.dialect().constant(&format!("F{rank}"))?;
    b.typed
        .call(op(b, "get_nth_t")?, &[colours, Ref::constant(rank)])
}

/// Makes the first or the last of these colours in numerical order, since arc-dsl has no ranks.
fn sorted(b: &mut Breeder<'_>, inputs_less_outputs: bool, rank: usize) -> Option<Ref> {
    let colours = difference(
        b,
        inputs_less_outputs,
        ["last", "palette", "dedupe", "difference"],
    )?;
    let sorted = b
        .typed
        .call(op(b, "order")?, &[colours, op(b, "identity")?])?;
    let end = op(b, if rank == 0 { "first" } else { "last" })?;
    b.typed.call(end, &[sorted])
}

/// The mirrors and rotations of arc-dsl, which are primitives in that dialect.
const MIRRORS: [&str; 7] = [
    "identity", "hmirror", "vmirror", "dmirror", "cmirror", "rot90", "rot180",
];

/// Replaces a literal mirror or rotation by the one that turns the inputs into the outputs.
pub(super) fn mirror(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    match b.typed.graph.dialect() {
        Dialect::Tokpidjin => coded_mirror(b, parent),
        _ => named_mirror(b, parent),
    }
}

/// Replaces a constant `R0` to `R7` by `a_mr(S)`.
fn coded_mirror(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let is_mirror = |role| matches!(role, ConstantRole::Mirror8 | ConstantRole::Mirror4);
    let (node, position) = literal(b, parent, is_mirror)?;
    let inferred = b.typed.call(op(b, "a_mr")?, &[Ref::SAMPLES])?;
    b.typed.replace_operand(parent, node, position, inferred)
}

/// Replaces `hmirror(x)` by `extract((identity, hmirror, ...), f)(x)`, where `f` returns whether a
/// mirror turns the first demonstration's input into its output.
fn named_mirror(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let mut places = Vec::new();
    for node in b.typed.graph.reach(parent) {
        if let Node::Call { callee, args } = b.typed.graph.node(node)
            && let (Some(op), [_]) = (callee.as_op(), args)
            && MIRRORS.contains(&op.op().name)
        {
            places.push(node);
        }
    }
    let &node = b.chance.one(&places)?;
    let (first, last) = (op(b, "first")?, op(b, "last")?);
    let demo = b.typed.call(first, &[Ref::SAMPLES])?;
    let (input, output) = (b.typed.call(first, &[demo])?, b.typed.call(last, &[demo])?);
    // The list of functions is built from calls, because no constant holds functions.
    let mut list: Option<Ref> = None;
    for pair in MIRRORS.chunks(2) {
        let functions: Vec<Ref> = pair.iter().filter_map(|name| op(b, name)).collect();
        let two = match functions[..] {
            [a, c] => b.typed.call(op(b, "astuple")?, &[a, c])?,
            [a] => b.typed.call(
                op(b, "repeat")?,
                &[a, Ref::constant(batt_dsl::ConstId::named("ONE")?)],
            )?,
            _ => return None,
        };
        list = Some(match list {
            None => two,
            Some(list) => b.typed.call(op(b, "combine")?, &[list, two])?,
        });
    }
    let results = b.typed.call(op(b, "rapply")?, &[list?, input])?;
    let pairs = b.typed.call(op(b, "pair")?, &[results, list?])?;
    let right = b.typed.call(op(b, "matcher")?, &[first, output])?;
    let found = b.typed.call(op(b, "extract")?, &[pairs, right])?;
    let mirror = b.typed.call(last, &[found])?;
    b.typed.replace_operand(parent, node, 0, mirror)
}
