//! Elements by rank.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "ranked";

pub(super) const OPS: &[&Op] = &[];
