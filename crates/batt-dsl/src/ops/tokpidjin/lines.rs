//! Lines, boxes and single cells.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "lines";

pub(super) const OPS: &[&Op] = &[];
