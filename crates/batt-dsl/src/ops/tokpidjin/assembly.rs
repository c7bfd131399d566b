//! Putting grids together and editing them.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "assembly";

pub(super) const OPS: &[&Op] = &[];
