//! Truth, equality and choice.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "logic";

pub(super) const OPS: &[&Op] = &[];
