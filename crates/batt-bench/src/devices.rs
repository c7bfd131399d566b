//! Opens devices, with a number of logical devices for each GPU.

use anyhow::Result;
use batt::{DeviceChoice, Devices};
use batt_cuda::Driver;
use batt_dsl::Limits;
#[cfg(feature = "emulated")]
use batt_engine::device::Device;

use crate::options::advised;
use crate::text::note;

/// The number of logical devices on each GPU. One computes while the results of the other are
/// copied.
const PER_GPU: usize = 2;

/// Opens at least one device. If the choice is all GPUs, each is opened as two logical devices.
pub fn open(choice: &DeviceChoice) -> Result<Devices> {
    match choice {
        DeviceChoice::Cuda(numbers) if numbers.is_empty() => open_logical(choice, PER_GPU),
        _ => opened(choice),
    }
}

/// Opens each GPU of a device as a number of logical devices.
pub fn open_logical(choice: &DeviceChoice, count: usize) -> Result<Devices> {
    match choice {
        DeviceChoice::Cuda(_) => opened(&DeviceChoice::Cuda(ordinals(choice).repeat(count))),
        #[cfg(feature = "emulated")]
        DeviceChoice::Emulated if count > 1 => {
            let threads = std::thread::available_parallelism()?;
            let device = |_| Box::new(batt_emulated::Emulated::new(threads)) as Box<dyn Device>;
            Ok(Devices::from((0..count).map(device).collect::<Vec<_>>()))
        }
        other => opened(other),
    }
}

fn opened(choice: &DeviceChoice) -> Result<Devices> {
    let devices = Devices::open(choice, usize::MAX, &Limits::default(), None)?;
    devices.notes().iter().for_each(note);
    match devices.is_empty() {
        false => Ok(devices),
        true => Err(advised(
            "there is no device to measure",
            "name one with --device; `batt device` lists what is missing",
        )),
    }
}

/// Returns the numbers of the chosen GPUs, each once.
pub fn ordinals(choice: &DeviceChoice) -> Vec<usize> {
    let mut all = match choice {
        DeviceChoice::Cuda(numbers) if !numbers.is_empty() => numbers.clone(),
        DeviceChoice::Cuda(_) | DeviceChoice::Auto => {
            (0..Driver::get().map_or(0, |driver| driver.devices)).collect()
        }
        DeviceChoice::Cpu | DeviceChoice::Emulated => Vec::new(),
    };
    all.sort_unstable();
    all.dedup();
    all
}
