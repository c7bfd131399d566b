//! Colours of grids and objects.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "color";

pub(super) const OPS: &[&Op] = &[];
