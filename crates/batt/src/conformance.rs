//! Comparison with results that CPython recorded.

use std::path::Path;

pub use batt_conformance::{
    Conformance, DeviceConformance, Difference, Group, Unfinished, VectorsError,
};

use crate::devices::Devices;
use crate::error::{Error, Result};

/// Checks a directory of recorded results on the CPU; if `ops` names primitives, only their calls.
/// Calls `progress` after each file.
pub fn check(
    dir: impl AsRef<Path>,
    ops: &[String],
    progress: impl FnMut(&Path, &Conformance),
) -> Result<Conformance> {
    Ok(batt_conformance::check(dir.as_ref(), ops, progress)?)
}

/// Checks a directory as [`check`] does, on the first device. With `fallback` the CPU runs what the
/// device does not complete.
pub fn check_on_device(
    dir: impl AsRef<Path>,
    ops: &[String],
    devices: &mut Devices,
    fallback: bool,
    progress: impl FnMut(&Path, &Conformance),
) -> Result<DeviceConformance> {
    let Some(device) = devices.as_mut().first_mut() else {
        return Err(Error::request(
            "there is no device to check",
            "name one with --device; `batt device` says what is missing",
        ));
    };
    let (dir, device) = (dir.as_ref(), device.as_mut());
    Ok(batt_conformance::check_on_device(
        dir, ops, device, fallback, progress,
    )?)
}
