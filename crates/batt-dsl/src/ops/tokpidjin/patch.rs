//! Patches: sets of locations or of cells.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "patch";

pub(super) const OPS: &[&Op] = &[];
