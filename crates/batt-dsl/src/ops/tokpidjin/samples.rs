//! What the demonstrations of a task have in common.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "samples";

pub(super) const OPS: &[&Op] = &[];
