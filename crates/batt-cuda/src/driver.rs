//! The CUDA driver and its devices.
//!
//! cudarc loads the driver on its first call, and panics if the driver or one of its functions is
//! missing. So all code in this crate first calls [`Driver::get`], which checks without a panic.

use std::ffi::CStr;
use std::sync::OnceLock;

use batt_engine::device::DeviceError;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute, CUresult};

use crate::arch::{Arch, Version};

/// Every function of the driver that this crate calls, directly or through cudarc.
const FUNCTIONS: &[&str] = &[
    "cuCtxGetLimit",
    "cuCtxSetCurrent",
    "cuCtxSetLimit",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventQuery",
    "cuEventRecord",
    "cuFuncGetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD32Async",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuFuncSetAttribute",
    "cuLinkCreate_v2",
    "cuLinkAddData_v2",
    "cuLinkComplete",
    "cuLinkDestroy",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
];

/// The loaded and initialised driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driver {
    /// The newest version of CUDA that the driver supports.
    pub version: Version,
    /// The number of devices.
    pub devices: usize,
}

impl Driver {
    /// Returns the driver of this machine. It is loaded once.
    pub fn get() -> Result<Driver, DeviceError> {
        static DRIVER: OnceLock<Result<Driver, DeviceError>> = OnceLock::new();
        DRIVER.get_or_init(start).clone()
    }
}

/// The properties of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Its ordinal, by which the driver numbers devices.
    pub ordinal: usize,
    /// The vendor's name for it.
    pub name: String,
    /// Its architecture.
    pub arch: Arch,
    /// The number of its multiprocessors.
    pub multiprocessors: u32,
    /// Its total memory in bytes.
    pub memory: u64,
}

impl DeviceFacts {
    /// Reads the properties of a device from the driver.
    pub fn of(driver: &Driver, ordinal: usize) -> Result<DeviceFacts, DeviceError> {
        let device = device(driver, ordinal)?;
        facts(device, ordinal).map_err(|error| DeviceError::Missing(describe("asking", error)))
    }
}

/// Returns the driver's handle of a device.
pub(crate) fn device(driver: &Driver, ordinal: usize) -> Result<CUdevice, DeviceError> {
    let number = i32::try_from(ordinal)
        .ok()
        .filter(|_| ordinal < driver.devices)
        .ok_or_else(|| {
            DeviceError::Missing(match driver.devices {
                1 => format!("there is no device {ordinal}, only device 0"),
                n => format!(
                    "there is no device {ordinal}; the last one is {}",
                    n.max(1) - 1
                ),
            })
        })?;
    result::device::get(number).map_err(|error| DeviceError::Missing(describe("asking", error)))
}

fn facts(device: CUdevice, ordinal: usize) -> Result<DeviceFacts, DriverError> {
    // SAFETY: `device` came from `cuDeviceGet`, and such handles stay valid.
    let attribute = |which| unsafe { result::device::get_attribute(device, which) };
    let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let processors = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    // SAFETY: `device` came from `cuDeviceGet`, and such handles stay valid.
    let memory = unsafe { result::device::total_mem(device) }?;
    Ok(DeviceFacts {
        ordinal,
        name: result::device::get_name(device)?,
        arch: Arch(u32::try_from(major * 10 + minor).unwrap_or(0)),
        multiprocessors: u32::try_from(processors).unwrap_or(0),
        memory: memory as u64,
    })
}

fn start() -> Result<Driver, DeviceError> {
    // SAFETY: loading libcuda runs its initialisers, which may run at any time on any thread.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::Missing(
            "the NVIDIA driver (libcuda) is not installed".to_owned(),
        ));
    }
    // SAFETY: libcuda's initialisers may run at any time on any thread. `culib` panics if the
    // library is missing, which was just ruled out.
    let library = unsafe { sys::culib() };
    for name in FUNCTIONS {
        // SAFETY: the symbol is looked up, but never called, so its type does not matter.
        if unsafe { library.get::<unsafe extern "C" fn()>(*name) }.is_err() {
            return Err(DeviceError::Missing(format!(
                "the NVIDIA driver is too old: it has no {name}; a driver for CUDA 11 or later is needed"
            )));
        }
    }
    let asked = || -> Result<Driver, DriverError> {
        result::init()?;
        let mut number = 0;
        // SAFETY: the function only writes one integer to the pointer, and the pointer is to a live
        // integer.
        unsafe { sys::cuDriverGetVersion(&mut number) }.result()?;
        Ok(Driver {
            version: Version::from_number(u32::try_from(number).unwrap_or(0)),
            devices: usize::try_from(result::device::get_count()?).unwrap_or(0),
        })
    };
    match asked() {
        Ok(driver) if driver.devices == 0 => Err(none_seen()),
        Ok(driver) => Ok(driver),
        Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)) => Err(none_seen()),
        Err(error) => Err(DeviceError::Missing(describe(
            "starting the NVIDIA driver",
            error,
        ))),
    }
}

fn none_seen() -> DeviceError {
    DeviceError::Missing("the NVIDIA driver is installed but finds no GPU".to_owned())
}

/// Describes an error in the driver's words.
pub(crate) fn describe(doing: &str, error: DriverError) -> String {
    let text = |found: Result<&CStr, DriverError>| {
        found.map_or_else(
            |_| format!("error {}", error.0 as u32),
            |text| text.to_string_lossy().into_owned(),
        )
    };
    format!(
        "{doing}: {} ({})",
        text(error.error_string()),
        text(error.error_name())
    )
}

/// Returns whether the device is unusable after an error. A fault in a kernel destroys its context.
pub(crate) fn is_sticky(error: DriverError) -> bool {
    use CUresult::*;
    matches!(
        error.0,
        CUDA_ERROR_DEINITIALIZED
            | CUDA_ERROR_DEVICE_UNAVAILABLE
            | CUDA_ERROR_ECC_UNCORRECTABLE
            | CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUDA_ERROR_CONTAINED
            | CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUDA_ERROR_ASSERT
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_LAUNCH_FAILED
            | CUDA_ERROR_TENSOR_MEMORY_LEAK
            | CUDA_ERROR_EXTERNAL_DEVICE
            | CUDA_ERROR_UNKNOWN
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_driver_is_an_error_value() {
        match Driver::get() {
            Ok(driver) => assert!(driver.devices > 0),
            Err(error) => assert!(matches!(error, DeviceError::Missing(_)), "{error}"),
        }
        // A second call returns the same result.
        assert_eq!(Driver::get().is_ok(), Driver::get().is_ok());
    }
}
