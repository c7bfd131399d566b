//! Outermost rows, columns and corners of a patch.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "extremes";

pub(super) const OPS: &[&Op] = &[];
