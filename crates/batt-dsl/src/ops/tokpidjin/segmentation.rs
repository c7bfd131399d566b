//! Objects and how grids fall apart into them.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "segmentation";

pub(super) const OPS: &[&Op] = &[];
