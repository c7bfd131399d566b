//! The primitives, family by family. Each op's documentation, signature and code stand together.
//!
//! A family's `OPS` lists its primitives; the table is put together from those lists.

mod arithmetic;
mod assembly;
mod color;
mod container;
mod higher_order;
mod lines;
mod logic;
mod measure;
mod mirror;
mod patch;
mod segmentation;

use crate::table::Op;

pub(crate) use lines::neighborhood;
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

const COUNT: usize = {
    let mut count = 0;
    let mut family = 0;
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

/// Every primitive, family by family.
pub(crate) static ALL: [&Op; COUNT] = {
    let mut all = [FAMILIES[1][0]; COUNT];
    let mut next = 0;
    let mut family = 0;
    while family < FAMILIES.len() {
        let mut k = 0;
        while k < FAMILIES[family].len() {
            all[next] = FAMILIES[family][k];
            next += 1;
            k += 1;
        }
        family += 1;
    }
    all
};
