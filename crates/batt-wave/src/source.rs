//! The device source, embedded in the binary.

use batt_cuda::source::Source;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(Source { name: $name, text: include_str!(concat!("../device/", $name)) }),*]
    };
}

/// All files, the main file first.
pub const WAVES: &[Source] = files![
    "waves.cu",
    "base.cuh",
    "rows.cuh",
    "value.cuh",
    "memory.cuh",
    "hash.cuh",
    "order.cuh",
    "judge.cuh",
    "ops/color.cuh",
    "ops/grid.cuh",
    "ops/objects.cuh",
    "kernels.cuh",
    "ops.inc",
];
