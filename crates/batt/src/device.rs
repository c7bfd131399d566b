//! Devices on the command line: which to use, and what to do when they are not there.

use std::num::NonZeroUsize;
use std::str::FromStr;

use anyhow::Result;
use batt_engine::device::{Card, CardError};

use crate::error::advised;

/// Where to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// On cards if there are any
    Auto,
    /// On the processor's cores
    Cpu,
    /// On these cards, or on all
    Cuda(Vec<usize>),
    /// On the emulated device
    Emulated,
}

/// How the values of `--device` are written.
pub const VALUES: &str = "auto|cpu|cuda[:N,...]|emulated";

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Device, String> {
        match text {
            "auto" => return Ok(Device::Auto),
            "cpu" => return Ok(Device::Cpu),
            "cuda" => return Ok(Device::Cuda(Vec::new())),
            "emulated" => return Ok(Device::Emulated),
            _ => {}
        }
        let numbers = text.strip_prefix("cuda:").map(|list| {
            let numbers = list.split(',').map(|number| number.trim().parse());
            numbers.collect::<Result<Vec<usize>, _>>()
        });
        match numbers {
            // The same card may be named twice: two logical devices share it.
            Some(Ok(numbers)) => Ok(Device::Cuda(numbers)),
            _ => Err("write auto, cpu, cuda, cuda:0, cuda:0,1 or emulated".to_owned()),
        }
    }
}

/// Cards that were asked for.
pub type Cards = Vec<Box<dyn Card>>;

impl Device {
    /// The cards to use; none for the processor alone. `threads` is how many an emulated device may take.
    pub fn open(&self, threads: Option<NonZeroUsize>) -> Result<Cards> {
        match self {
            Device::Cpu => Ok(Vec::new()),
            // Without cards nothing is lost but time.
            Device::Auto => Ok(cuda(&[]).unwrap_or_default()),
            Device::Cuda(numbers) => cuda(numbers).map_err(|error| {
                advised(
                    &error,
                    "leave --device out, or use --device cpu, to run on the processor",
                )
            }),
            Device::Emulated => emulated(threads),
        }
    }
}

/// CUDA cards: those with these numbers, or all.
fn cuda(numbers: &[usize]) -> Result<Cards, CardError> {
    let all: Vec<usize> = match numbers.is_empty() {
        true => (0..batt_cuda::Driver::get()?.cards).collect(),
        false => numbers.to_vec(),
    };
    if all.is_empty() {
        return Err(CardError::Missing("the driver sees no card".into()));
    }
    let opened = batt_cuda::Cuda::open_all(&all, &batt_cuda::Settings::from_env())?;
    for note in &opened.notes {
        anstream::eprintln!("note: {note}");
    }
    let boxed = opened
        .cards
        .into_iter()
        .map(|card| Box::new(card) as Box<dyn Card>);
    Ok(boxed.collect())
}

#[cfg(feature = "emulated")]
fn emulated(threads: Option<NonZeroUsize>) -> Result<Cards> {
    let threads = threads.or_else(|| std::thread::available_parallelism().ok());
    let card = batt_emulated::Emulated::new(threads.unwrap_or(NonZeroUsize::MIN));
    Ok(vec![Box::new(card)])
}

#[cfg(not(feature = "emulated"))]
fn emulated(_: Option<NonZeroUsize>) -> Result<Cards> {
    Err(advised(
        "this batt was built without the emulated device",
        "build it with `--features emulated`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_name() {
        let device = |text: &str| text.parse::<Device>();
        assert_eq!(device("auto"), Ok(Device::Auto));
        assert_eq!(device("cuda"), Ok(Device::Cuda(vec![])));
        assert_eq!(device("cuda:1"), Ok(Device::Cuda(vec![1])));
        assert_eq!(device("cuda:3,0,3"), Ok(Device::Cuda(vec![3, 0, 3])));
        for bad in ["", "gpu", "cuda:", "cuda:x", "cuda:0;1", "cpu:0"] {
            assert!(device(bad).is_err(), "{bad}");
        }
    }
}
