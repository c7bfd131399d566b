//! The source of the wave engine's device code, and the emulated device, which is that source
//! compiled for the CPU.
//!
//! [`batt_engine::wave`] has the host side. `docs/waves.md` explains the design.
//!
//! - [`table`]: the kernels of the source
//! - [`source::WAVES`]: its files
//! - `EmulatedWaves`: the emulated device, with the feature `emulated`

#[cfg(feature = "emulated")]
mod host;
pub mod source;

use std::sync::OnceLock;

use batt_engine::wave::KernelTable;

#[cfg(feature = "emulated")]
pub use host::EmulatedWaves;

/// Returns the kernels of the source.
pub fn table() -> &'static KernelTable {
    static TABLE: OnceLock<KernelTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        // In the order in which `device/ops.inc` includes them.
        KernelTable::parse(&[
            include_str!("../device/ops/grid.inc"),
            include_str!("../device/ops/patch.inc"),
            include_str!("../device/ops/numbers.inc"),
            include_str!("../device/ops/container.inc"),
            include_str!("../device/ops/objects.inc"),
            include_str!("../device/ops/tok_patch.inc"),
            include_str!("../device/ops/tok_numbers.inc"),
            include_str!("../device/ops/tok_container.inc"),
            include_str!("../device/ops/tok_grid.inc"),
        ])
    })
}

#[cfg(test)]
mod tests {
    use batt_dsl::OpId;

    use super::*;

    #[test]
    fn every_op_of_the_table_is_a_primitive_with_its_arguments() {
        for (number, kernel) in table().ops().iter().enumerate() {
            let is_known = OpId::every().any(|op| table().of(op) == Some(number));
            // Plans call it before closures.
            let is_helper = kernel.name == "members";
            assert!(is_known || is_helper, "{kernel:?}");
        }
    }

    #[cfg(feature = "emulated")]
    #[test]
    fn the_emulated_device_has_every_kernel() {
        assert_eq!(host::kernel_count(), table().kernels().len());
    }
}
