//! Functions that make or call functions.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "higher order";

pub(super) const OPS: &[&Op] = &[];
