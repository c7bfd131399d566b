//! The primitives that work on columns.

use std::cmp::Ordering;
use std::sync::OnceLock;

use crate::ops::{arithmetic, color, container, higher_order, lines, logic, measure, tokpidjin};
use crate::table::{Op, OpId};
use crate::value::{ClosureForm, Value};

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
pub(in crate::ops) enum ColumnOp {
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
static TABLE: &[(&Op, ColumnOp)] = &[
    (&logic::identity::OP, ColumnOp::Identity),
    (&logic::flip::OP, ColumnOp::Flip),
    (&logic::both::OP, ColumnOp::Both),
    (&logic::either::OP, ColumnOp::Either),
    (&logic::equality::OP, ColumnOp::Equality),
    (&logic::greater::OP, ColumnOp::Greater),
    (&arithmetic::invert::OP, ColumnOp::Unary(Unary::Invert)),
    (&arithmetic::double::OP, ColumnOp::Unary(Unary::Double)),
    (&arithmetic::halve::OP, ColumnOp::Unary(Unary::Halve)),
    (
        &arithmetic::increment::OP,
        ColumnOp::Unary(Unary::Increment),
    ),
    (
        &arithmetic::decrement::OP,
        ColumnOp::Unary(Unary::Decrement),
    ),
    (&arithmetic::sign::OP, ColumnOp::Unary(Unary::Sign)),
    (&arithmetic::add::OP, ColumnOp::Binary(Binary::Add)),
    (
        &arithmetic::subtract::OP,
        ColumnOp::Binary(Binary::Subtract),
    ),
    (
        &arithmetic::multiply::OP,
        ColumnOp::Binary(Binary::Multiply),
    ),
    (&arithmetic::even::OP, ColumnOp::Even),
    (&arithmetic::positive::OP, ColumnOp::Positive),
    (&arithmetic::toivec::OP, ColumnOp::Toivec),
    (&arithmetic::tojvec::OP, ColumnOp::Tojvec),
    (&arithmetic::astuple::OP, ColumnOp::Astuple),
    (&container::first::OP, ColumnOp::First),
    (&container::initset::OP, ColumnOp::Initset),
    (&measure::manhattan::OP, ColumnOp::Manhattan),
    (&container::last::OP, ColumnOp::Last),
    (&container::size::OP, ColumnOp::Size),
    (
        &container::maximum::OP,
        ColumnOp::Extreme(Ordering::Greater),
    ),
    (&container::minimum::OP, ColumnOp::Extreme(Ordering::Less)),
    (
        &container::valmax::OP,
        ColumnOp::ExtremeValue(Ordering::Greater),
    ),
    (
        &container::valmin::OP,
        ColumnOp::ExtremeValue(Ordering::Less),
    ),
    (
        &container::argmax::OP,
        ColumnOp::ExtremeArgument(Ordering::Greater),
    ),
    (
        &container::argmin::OP,
        ColumnOp::ExtremeArgument(Ordering::Less),
    ),
    (&higher_order::apply::OP, ColumnOp::Apply),
    (&higher_order::compose::OP, ColumnOp::Compose),
    (&higher_order::chain::OP, ColumnOp::Chain),
    (&higher_order::matcher::OP, ColumnOp::Matcher),
    (&higher_order::fork::OP, ColumnOp::Fork),
    (&higher_order::lbind::OP, ColumnOp::Lbind),
    (&higher_order::rbind::OP, ColumnOp::Rbind),
    (&lines::index::OP, ColumnOp::Index),
    (&measure::uppermost::OP, ColumnOp::Measure),
    (&measure::lowermost::OP, ColumnOp::Measure),
    (&measure::leftmost::OP, ColumnOp::Measure),
    (&measure::rightmost::OP, ColumnOp::Measure),
    (&measure::ulcorner::OP, ColumnOp::Measure),
    (&measure::urcorner::OP, ColumnOp::Measure),
    (&measure::llcorner::OP, ColumnOp::Measure),
    (&measure::lrcorner::OP, ColumnOp::Measure),
    (&measure::height::OP, ColumnOp::Measure),
    (&measure::width::OP, ColumnOp::Measure),
    (&measure::center::OP, ColumnOp::Measure),
    (&color::color::OP, ColumnOp::Measure),
];

/// Returns the operation of a primitive on columns, if it has one. The table is indexed by address,
/// because a loop looks up every part of every closure it calls.
pub(super) fn column_op(id: OpId) -> Option<ColumnOp> {
    const SLOTS: usize = 512;
    type Slots = [Option<(OpId, ColumnOp)>; SLOTS];
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
const MAX_INSPECTED_DEPTH: u32 = 12;

/// Returns whether a function is made of primitives that work on columns. Other primitives could
/// still be called on values that all elements share, but such attempts rarely pay.
pub(super) fn is_promising(function: Value<'_>, depth: u32) -> bool {
    let all = |parts: &[Value<'_>]| parts.iter().all(|&part| is_promising(part, depth + 1));
    match function {
        Value::Op(id) => column_op(id).is_some(),
        Value::Closure(closure) if depth < MAX_INSPECTED_DEPTH => match closure.form {
            ClosureForm::Compose(a, b) => all(&[a, b]),
            ClosureForm::Chain(a, b, c) | ClosureForm::Fork(a, b, c) => all(&[a, b, c]),
            ClosureForm::Matcher(f, _) | ClosureForm::Power(f, _) => all(&[f]),
            ClosureForm::Lbind(f, fixed) | ClosureForm::Rbind(f, fixed) => all(&[f, fixed]),
        },
        Value::Closure(_) => false,
        _ => true,
    }
}
