//! Sizes of patches, and how patches lie to one another.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "measure";

pub(super) const OPS: &[&Op] = &[];
