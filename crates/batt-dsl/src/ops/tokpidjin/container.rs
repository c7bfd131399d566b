//! Tuples and frozensets of anything.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "container";

pub(super) const OPS: &[&Op] = &[];
