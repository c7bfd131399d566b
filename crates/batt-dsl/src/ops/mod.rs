//! The primitives, family by family. The documentation, signature and code of each op are in one
//! place.
//!
//! A family's `OPS` lists its primitives, and the table is built from those lists. The dialect
//! tokpidjin has separate families, mostly of other names for these primitives.

mod arithmetic;
mod assembly;
mod color;
mod columns;
mod container;
mod higher_order;
mod lines;
mod logic;
mod measure;
mod members;
mod mirror;
mod patch;
mod segmentation;
mod sort;
pub(crate) mod tokpidjin;

use crate::table::Op;

pub(crate) use arithmetic::astuple;
pub(crate) use columns::ColumnCache;
pub(crate) use lines::neighborhood;
pub use segmentation::grid_ranks;
pub(crate) use segmentation::{Component, GridOrders};

/// The families in the order of the manual.
const FAMILIES: [&[&Op]; 11] = [
    arithmetic::OPS,
    logic::OPS,
    container::OPS,
    higher_order::OPS,
    patch::OPS,
    measure::OPS,
    lines::OPS,
    mirror::OPS,
    assembly::OPS,
    color::OPS,
    segmentation::OPS,
];

/// Every primitive of arc-dsl, family by family.
pub(crate) static ALL: [&Op; count(&FAMILIES)] = concat(&FAMILIES);

/// Returns the number of primitives in all families.
const fn count(families: &[&[&Op]]) -> usize {
    let mut count = 0;
    let mut family = 0;
    while family < families.len() {
        count += families[family].len();
        family += 1;
    }
    count
}

/// Returns the families' lists one after the other.
const fn concat<const COUNT: usize>(families: &[&[&'static Op]]) -> [&'static Op; COUNT] {
    let mut all = [families[0][0]; COUNT];
    let mut next = 0;
    let mut family = 0;
    while family < families.len() {
        let mut k = 0;
        while k < families[family].len() {
            all[next] = families[family][k];
            next += 1;
            k += 1;
        }
        family += 1;
    }
    all
}
