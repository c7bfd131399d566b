//! The dialect tokpidjin: a fork of arc-dsl made for search.
//!
//! Most functions are functions of arc-dsl under another name. Three things hold for all of them:
//!
//! - They never fail. If the body fails, the result is the [`Fallback`] that follows from the
//!   hints. A body that calls another function of the dialect gets that function's fallback. The
//!   [`safe!`] macro ensures both. Limits of a run still end the run.
//! - Cells are `(i, j, colour)`. The run knows this ([`Run::triples`](crate::run::Run)); compact
//!   cells and all code over them are shared with arc-dsl.
//! - Floats occur: nan and the infinities stand for missing values.
//!
//! A function written as `= path` does exactly what the function at that path does. If a function
//! differs from arc-dsl's only for unusual arguments, its body passes ordinary arguments to
//! arc-dsl's code and handles the unusual ones itself.

use super::{concat, count};
use crate::table::Op;

/// Declares a primitive that never fails. [`op!`](crate::op) declares primitives that may fail.
///
/// ```ignore
/// safe! {
///     /// The number of elements.
///     pub size_t(container: Tuple) -> Integer = container::size;
/// }
/// safe! {
///     /// The first element, `None` when there is none.
///     pub first(container: Container) -> Any;
///     |run| { ... }
/// }
/// ```
///
/// expands to a function `size_t(run, container)` whose only faults are the limits of the run, and
/// a table entry `size_t::OP`. The last of three parameters may be one that callers can leave out,
/// `key: Any = None`; the body gets an `Option`.
macro_rules! safe {
    (
        $(#[doc = $doc:literal])+
        pub $name:ident($($param:ident: $ty:ident),+) -> $returns:ident = $same:path;
        $(ordered $order:literal;)?
    ) => {
        safe! {
            $(#[doc = $doc])+
            pub $name($($param: $ty),+) -> $returns;
            $(ordered $order;)?
            |run| { $same(run, $($param),+) }
        }
    };
    (
        $(#[doc = $doc:literal])+
        pub $name:ident($a:ident: $a_ty:ident, $b:ident: $b_ty:ident, $c:ident: $c_ty:ident = None)
            -> $returns:ident;
        $(ordered $order:literal;)?
        |$run:ident| $body:block
    ) => {
        safe! {
            @declare [$(#[doc = $doc])+]
            $name [
                $a: $a_ty, $crate::value::Value<'r>;
                $b: $b_ty, $crate::value::Value<'r>;
                $c: $c_ty, Option<$crate::value::Value<'r>>
            ] $returns [$($order)?]
            [OpCode::TwoOrThree(|run, $a, $b, $c| Returned::new(super::$name(run, $a, $b, $c)))]
            [OpCode::TwoOrThree(|run, $a, $b, $c| {
                run.profiled(&OP, |run| Returned::new(super::$name(run, $a, $b, $c)))
            })]
            $run $body
        }
    };
    (
        $(#[doc = $doc:literal])+
        pub $name:ident($($param:ident: $ty:ident),+) -> $returns:ident;
        $(ordered $order:literal;)?
        |$run:ident| $body:block
    ) => {
        safe! {
            @declare [$(#[doc = $doc])+]
            $name [$($param: $ty, $crate::value::Value<'r>);+] $returns [$($order)?]
            [$crate::op!(@code super::$name, $($param),+)]
            [$crate::op!(@profiled $($param),+)]
            $run $body
        }
    };
    (
        @declare [$(#[doc = $doc:literal])+]
        $name:ident [$($param:ident: $ty:ident, $value:ty);+] $returns:ident [$($order:literal)?]
        [$code:expr] [$profiled:expr]
        $run:ident $body:block
    ) => {
        $(#[doc = $doc])+
        #[inline]
        pub fn $name<'r>(
            $run: &mut $crate::run::Run<'r>,
            $($param: $value),+
        ) -> $crate::fault::Outcome<$crate::value::Value<'r>> {
            #[inline(always)]
            fn body<'r>(
                $run: &mut $crate::run::Run<'r>,
                $($param: $value),+
            ) -> $crate::fault::Outcome<$crate::value::Value<'r>> $body
            match body($run, $($param),+) {
                Ok(value) => Ok(value),
                Err(fault) => $run.fall_back(fault, $name::FALLBACK),
            }
        }

        #[doc(hidden)]
        pub mod $name {
            use $crate::table::{OpCode, Fallback, Op, OpParam, Type};
            use $crate::value::Returned;
            const PARAMS: &[OpParam] = &[$(OpParam {
                name: $crate::table::unescaped(stringify!($param)),
                ty: Type::$ty,
            }),+];
            pub(super) const FALLBACK: Fallback = Fallback::of(PARAMS, Type::$returns);
            /// The table entry.
            pub static OP: Op = Op {
                name: $crate::table::unescaped(stringify!($name)),
                dialect: $crate::dialect::Dialect::Tokpidjin,
                fallback: Some(FALLBACK),
                family: super::FAMILY,
                params: PARAMS,
                returns: Type::$returns,
                order_sensitive: !$crate::op!(@text $($order)?).is_empty(),
                order: $crate::op!(@text $($order)?),
                doc: concat!($($doc, "\n"),+),
                example: ("", ""),
                fails: "",
                code: $code,
                profiled: &PROFILED,
            };
            static PROFILED: Op = Op {
                code: $profiled,
                ..OP
            };
        }
    };
}

mod arithmetic;
mod assembly;
mod color;
mod container;
mod extremes;
mod higher_order;
mod in_columns;
mod lines;
mod logic;
mod measure;
mod mirror;
mod patch;
mod ranked;
mod samples;
mod segmentation;

pub(super) use in_columns::IN_COLUMNS;
pub(super) use logic::identity;

const FAMILIES: [&[&Op]; 14] = [
    arithmetic::OPS,
    logic::OPS,
    container::OPS,
    ranked::OPS,
    higher_order::OPS,
    samples::OPS,
    segmentation::OPS,
    patch::OPS,
    extremes::OPS,
    measure::OPS,
    lines::OPS,
    mirror::OPS,
    assembly::OPS,
    color::OPS,
];

/// Every primitive, family by family.
pub(crate) static ALL: &[&Op] = &TABLE;

static TABLE: [&Op; count(&FAMILIES)] = concat(&FAMILIES);
