//! The survey of a machine: the parts that GPUs need, and the missing ones.

use std::path::PathBuf;

use crate::arch::{Arch, Version};
use crate::cache::{Cache, Contents};
use crate::cuda::free_memory;
use crate::driver::{DeviceFacts, Driver};
use crate::nvrtc::{Nvrtc, Places};

/// The parts of this machine that programs on GPUs need.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The newest version of CUDA that the driver supports, or why there is no driver.
    pub driver: Result<Version, String>,
    /// The devices, each with its free memory or the reason why that is unknown.
    pub devices: Vec<(DeviceFacts, Result<u64, String>)>,
    /// The compiler, or why there is none.
    pub compiler: Result<Compiler, String>,
    /// The folder of the kernel cache.
    pub cache: Option<PathBuf>,
    /// The contents of the kernel cache.
    pub kept: Contents,
}

/// The compiler of this machine.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// Its version.
    pub version: Version,
    /// Its library.
    pub path: PathBuf,
    /// The architectures for which it makes machine code.
    pub archs: Vec<Arch>,
}

impl Survey {
    /// Examines the machine. A missing part is a finding, never an error.
    pub fn new(places: &Places, cache: &Cache) -> Survey {
        let driver = Driver::get();
        let mut devices = Vec::new();
        if let Ok(driver) = &driver {
            for ordinal in 0..driver.devices {
                // Devices that do not answer are left out.
                if let Ok(facts) = DeviceFacts::of(driver, ordinal) {
                    let free = free_memory(driver, ordinal).map_err(|error| error.to_string());
                    devices.push((facts, free));
                }
            }
        }
        let version = driver.as_ref().ok().map(|driver| driver.version);
        let compiler = Nvrtc::find(places, version)
            .map(|found| Compiler {
                version: found.version(),
                path: found.path().to_owned(),
                archs: found.archs().to_vec(),
            })
            .map_err(|error| words(&error));
        Survey {
            driver: driver
                .map(|driver| driver.version)
                .map_err(|error| words(&error)),
            devices,
            compiler,
            cache: cache.folder().map(ToOwned::to_owned),
            kept: cache.contents(),
        }
    }

    /// Returns advice about missing parts.
    pub fn advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        if let Err(why) = &self.driver {
            advice.push(format!(
                "{why}: programs run on the CPU; a GPU needs the NVIDIA driver, and a container needs access to it \
                 (`docker run --gpus all`)"
            ));
        }
        if let (Ok(_), Err(why)) = (&self.driver, &self.compiler) {
            advice.push(why.clone());
        }
        if let (Ok(driver), Ok(compiler)) = (&self.driver, &self.compiler)
            && compiler.version.major > driver.major
        {
            advice.push(format!(
                "NVRTC {} is newer than the driver, which is for CUDA {driver}: {}",
                compiler.version,
                crate::nvrtc::advice(Some(*driver))
            ));
        }
        if self.cache.is_none() {
            advice
                .push("compiled kernels are not cached: set BATT_CACHE_DIR to a folder".to_owned());
        }
        advice
    }
}

/// Returns the reason of an error, without its prefix.
fn words(error: &batt_engine::device::DeviceError) -> String {
    use batt_engine::device::DeviceError::{Compile, Missing};
    match error {
        Compile(why) | Missing(why) => why.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survey_never_fails() {
        let survey = Survey::new(&Places::default(), &Cache::none());
        assert!(survey.compiler.is_err());
        assert_eq!(survey.driver.is_err(), survey.devices.is_empty());
        assert!(
            survey
                .advice()
                .iter()
                .any(|line| line.contains("BATT_CACHE_DIR"))
        );
    }
}
