//! Mirrors, rotations and scaling.

use crate::table::Op;

#[allow(dead_code)]
const FAMILY: &str = "mirror";

pub(super) const OPS: &[&Op] = &[];
