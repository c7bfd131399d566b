//! The `batt` command.
fn main() {}
