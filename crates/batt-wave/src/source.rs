//! The device source, embedded in the binary.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../device/", $name)))),*]
    };
}

/// The names and texts of all files, the main file first.
pub const WAVES: &[(&str, &str)] = files![
    "waves.cu",
    "base.cuh",
    "rows.cuh",
    "value.cuh",
    "memory.cuh",
    "hash.cuh",
    "order.cuh",
    "walk.cuh",
    "sets.cuh",
    "build.cuh",
    "judge.cuh",
    "ops/color.cuh",
    "ops/grid.cuh",
    "ops/patch.cuh",
    "ops/numbers.cuh",
    "ops/container.cuh",
    "ops/objects.cuh",
    "ops/tok_patch.cuh",
    "ops/tok_numbers.cuh",
    "ops/tok_container.cuh",
    "ops/tok_grid.cuh",
    "ops/closures.cuh",
    "kernels.cuh",
    "ops.inc",
    "ops/grid.inc",
    "ops/patch.inc",
    "ops/numbers.inc",
    "ops/container.inc",
    "ops/objects.inc",
    "ops/tok_patch.inc",
    "ops/tok_numbers.inc",
    "ops/tok_container.inc",
    "ops/tok_grid.inc",
];
