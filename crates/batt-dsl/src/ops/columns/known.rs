//! The primitives that work on columns.

use std::cmp::Ordering;
use std::sync::OnceLock;

use crate::ops::{arithmetic, color, container, higher_order, lines, logic, measure, tokpidjin};
use crate::table::{Op, OpId};
use crate::value::{Form, Value};

/// Arithmetic on two numbers.
#[derive(Clone, Copy)]
pub(in crate::ops) enum Binary {
    Add,
    Subtract,
    Multiply,
}

impl Binary {
    /// Returns a bound of the result.
    pub(super) fn bound(self, a: i32, b: i32) -> Option<i32> {
        match self {
            Binary::Add | Binary::Subtract => a.checked_add(b),
            Binary::Multiply => a.checked_mul(b),
        }
    }

    #[inline(always)]
    pub(super) fn of(self, a: i32, b: i32) -> i32 {
        // The bound of the result fits, so no operation wraps.
        match self {
            Binary::Add => a.wrapping_add(b),
            Binary::Subtract => a.wrapping_sub(b),
            Binary::Multiply => a.wrapping_mul(b),
        }
    }
}

/// Arithmetic on one number.
#[derive(Clone, Copy)]
pub(in crate::ops) enum Unary {
    Invert,
    Double,
    Halve,
    Increment,
    Decrement,
    Sign,
}

/// A primitive that works on columns.
#[derive(Clone, Copy)]
pub(in crate::ops) enum Known {
    Identity,
    Unary(Unary),
    Binary(Binary),
    Even,
    Positive,
    Flip,
    Both,
    Either,
    Equality,
    Greater,
    First,
    Last,
    Toivec,
    Tojvec,
    Astuple,
    Initset,
    Manhattan,
    Index,
    Size,
    Apply,
    /// `maximum` or `minimum`
    Extreme(Ordering),
    /// `valmax` or `valmin`
    ExtremeValue(Ordering),
    /// `argmax` or `argmin`
    ExtremeArgument(Ordering),
    /// `get_nth_f`: an element by its rank
    Nth,
    /// `get_rank`: a number by its rank, the largest first
    Rank,
    /// `get_val_rank`: the value of a function, the smallest first
    ValueRank,
    /// `get_arg_rank`: the element for which a function is largest first
    ArgumentRank,
    Compose,
    Chain,
    Matcher,
    Fork,
    Lbind,
    Rbind,
    /// A measure of a patch, which all elements share or which was chosen for each element
    Measure,
}

/// The primitives that work on columns. The primitives of tokpidjin are in
/// [`tokpidjin::IN_COLUMNS`]. The profiled versions of primitives are missing, so that a profile
/// sees each of their calls.
static TABLE: &[(&Op, Known)] = &[
    (&logic::identity::OP, Known::Identity),
    (&logic::flip::OP, Known::Flip),
    (&logic::both::OP, Known::Both),
    (&logic::either::OP, Known::Either),
    (&logic::equality::OP, Known::Equality),
    (&logic::greater::OP, Known::Greater),
    (&arithmetic::invert::OP, Known::Unary(Unary::Invert)),
    (&arithmetic::double::OP, Known::Unary(Unary::Double)),
    (&arithmetic::halve::OP, Known::Unary(Unary::Halve)),
    (&arithmetic::increment::OP, Known::Unary(Unary::Increment)),
    (&arithmetic::decrement::OP, Known::Unary(Unary::Decrement)),
    (&arithmetic::sign::OP, Known::Unary(Unary::Sign)),
    (&arithmetic::add::OP, Known::Binary(Binary::Add)),
    (&arithmetic::subtract::OP, Known::Binary(Binary::Subtract)),
    (&arithmetic::multiply::OP, Known::Binary(Binary::Multiply)),
    (&arithmetic::even::OP, Known::Even),
    (&arithmetic::positive::OP, Known::Positive),
    (&arithmetic::toivec::OP, Known::Toivec),
    (&arithmetic::tojvec::OP, Known::Tojvec),
    (&arithmetic::astuple::OP, Known::Astuple),
    (&container::first::OP, Known::First),
    (&container::initset::OP, Known::Initset),
    (&measure::manhattan::OP, Known::Manhattan),
    (&container::last::OP, Known::Last),
    (&container::size::OP, Known::Size),
    (&container::maximum::OP, Known::Extreme(Ordering::Greater)),
    (&container::minimum::OP, Known::Extreme(Ordering::Less)),
    (
        &container::valmax::OP,
        Known::ExtremeValue(Ordering::Greater),
    ),
    (&container::valmin::OP, Known::ExtremeValue(Ordering::Less)),
    (
        &container::argmax::OP,
        Known::ExtremeArgument(Ordering::Greater),
    ),
    (
        &container::argmin::OP,
        Known::ExtremeArgument(Ordering::Less),
    ),
    (&higher_order::apply::OP, Known::Apply),
    (&higher_order::compose::OP, Known::Compose),
    (&higher_order::chain::OP, Known::Chain),
    (&higher_order::matcher::OP, Known::Matcher),
    (&higher_order::fork::OP, Known::Fork),
    (&higher_order::lbind::OP, Known::Lbind),
    (&higher_order::rbind::OP, Known::Rbind),
    (&lines::index::OP, Known::Index),
    (&measure::uppermost::OP, Known::Measure),
    (&measure::lowermost::OP, Known::Measure),
    (&measure::leftmost::OP, Known::Measure),
    (&measure::rightmost::OP, Known::Measure),
    (&measure::ulcorner::OP, Known::Measure),
    (&measure::urcorner::OP, Known::Measure),
    (&measure::llcorner::OP, Known::Measure),
    (&measure::lrcorner::OP, Known::Measure),
    (&measure::height::OP, Known::Measure),
    (&measure::width::OP, Known::Measure),
    (&measure::center::OP, Known::Measure),
    (&color::color::OP, Known::Measure),
];

/// Returns the operation of a primitive on columns, if it has one. The table is indexed by address,
/// because a loop looks up every part of every closure it calls.
pub(super) fn known(id: OpId) -> Option<Known> {
    const SLOTS: usize = 512;
    type Slots = [Option<(OpId, Known)>; SLOTS];
    static INDEX: OnceLock<Box<Slots>> = OnceLock::new();
    let slot_of = |id: OpId| {
        let address = std::ptr::from_ref(id.op()).addr();
        (address / align_of::<Op>()).wrapping_mul(0x9e37_79b9) >> 8 & (SLOTS - 1)
    };
    let index = INDEX.get_or_init(|| {
        let mut slots: Box<Slots> = Box::new([None; SLOTS]);
        for &(op, known) in TABLE.iter().chain(tokpidjin::IN_COLUMNS) {
            let id = OpId::of(op);
            let mut slot = slot_of(id);
            while slots[slot].is_some() {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = Some((id, known));
        }
        slots
    });
    let mut slot = slot_of(id);
    // Most slots are empty, so this loop ends.
    while let Some((other, known)) = index[slot] {
        if other == id {
            return Some(known);
        }
        slot = (slot + 1) % SLOTS;
    }
    None
}

/// The nesting depth up to which closures are inspected before the attempt.
const LOOK: u32 = 12;

/// Returns whether a function is made of primitives that work on columns. Other primitives could
/// still be called on values that all elements share, but such attempts rarely pay.
pub(super) fn is_promising(function: Value<'_>, depth: u32) -> bool {
    let all = |parts: &[Value<'_>]| parts.iter().all(|&part| is_promising(part, depth + 1));
    match function {
        Value::Op(id) => known(id).is_some(),
        Value::Closure(closure) if depth < LOOK => match closure.form {
            Form::Compose(a, b) => all(&[a, b]),
            Form::Chain(a, b, c) | Form::Fork(a, b, c) => all(&[a, b, c]),
            Form::Matcher(f, _) | Form::Power(f, _) => all(&[f]),
            Form::Lbind(f, fixed) | Form::Rbind(f, fixed) => all(&[f, fixed]),
        },
        Value::Closure(_) => false,
        _ => true,
    }
}
