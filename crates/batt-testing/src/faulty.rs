//! A device that fails on request. It tests how the engine handles failing devices.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use batt_engine::device::{Batch, Device, DeviceError, Launched};
use batt_lang::SplitMix64;

/// A failure of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The device is out of memory. The next batch may fit.
    Memory,
    /// The launch fails. The next one may succeed.
    Launch,
    /// The device is lost, and stays lost.
    Lost,
    /// The kernel does not end, so the device is lost.
    Timeout,
    /// All results are random words.
    Garbage,
    /// Some results are missing.
    Short,
}

/// The failures by number of batch, counted from 0: `memory@2,lost@5`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script(BTreeMap<u64, Trouble>);

impl<const N: usize> From<[(u64, Trouble); N]> for Script {
    fn from(list: [(u64, Trouble); N]) -> Script {
        Script(list.into())
    }
}

impl FromStr for Script {
    type Err = String;

    fn from_str(text: &str) -> Result<Script, String> {
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let entry = |part: &str| {
            let (name, batch) = part.split_once('@')?;
            let trouble = match name {
                "memory" => Trouble::Memory,
                "launch" => Trouble::Launch,
                "lost" => Trouble::Lost,
                "timeout" => Trouble::Timeout,
                "garbage" => Trouble::Garbage,
                "short" => Trouble::Short,
                _ => return None,
            };
            Some((batch.parse().ok()?, trouble))
        };
        parts
            .map(|part| entry(part).ok_or_else(|| format!("{part:?} is not like memory@2")))
            .collect::<Result<_, _>>()
            .map(Script)
    }
}

/// A device that fails on request.
pub struct Faulty<C> {
    device: C,
    script: Script,
    batches: u64,
    lost: bool,
}

impl<C: Device> Faulty<C> {
    /// Wraps a device with a script of failures.
    pub fn new(device: C, script: impl Into<Script>) -> Faulty<C> {
        Faulty {
            device,
            script: script.into(),
            batches: 0,
            lost: false,
        }
    }

    /// Returns the number of batches that the device was given.
    pub fn batches(&self) -> u64 {
        self.batches
    }

    /// Returns the wrapped device.
    pub fn into_inner(self) -> C {
        self.device
    }
}

impl<C: Device> Device for Faulty<C> {
    fn name(&self) -> String {
        format!("{}, with faults", self.device.name())
    }

    fn memory(&self) -> u64 {
        self.device.memory()
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        let number = self.batches;
        self.batches += 1;
        let lost = || DeviceError::Lost("by request".to_owned());
        if self.lost {
            return Err(lost());
        }
        let trouble = self.script.0.get(&number).copied();
        match trouble {
            None => self.device.run(batch),
            Some(Trouble::Memory) => Err(DeviceError::Memory {
                wanted: self.device.memory().saturating_add(1),
                free: self.device.memory(),
            }),
            Some(Trouble::Launch) => Err(DeviceError::Launch("by request".to_owned())),
            Some(Trouble::Lost) => {
                self.lost = true;
                Err(lost())
            }
            Some(Trouble::Timeout) => {
                self.lost = true;
                Err(DeviceError::Timeout(Duration::from_secs(60)))
            }
            Some(Trouble::Garbage) => self
                .device
                .run(batch)
                .map(|launched| garbage(launched, number)),
            Some(Trouble::Short) => self.device.run(batch).map(short),
        }
    }
}

/// Replaces every word by a random one. The same seed gives the same words.
fn garbage(mut launched: Launched, seed: u64) -> Launched {
    let mut random = SplitMix64::new(seed);
    let mut next = || random.number();
    for (number, word) in launched.results.iter_mut().enumerate() {
        let random = next();
        *word = match number % 4 {
            // The status is mostly 0, so that the engine decodes the words that follow.
            0 => (random % 4) as u32 / 3 * (random >> 32) as u32,
            _ if random.is_multiple_of(2) => (random >> 32) as u32 % 64,
            _ => (random >> 32) as u32,
        };
    }
    for word in &mut launched.output {
        let random = next();
        *word = (random >> 32) as u32 >> (random % 32);
    }
    for counter in &mut launched.counters {
        *counter = next();
    }
    launched
}

/// Drops the last job's result, half of the output and a counter.
fn short(mut launched: Launched) -> Launched {
    launched
        .results
        .truncate(launched.results.len().saturating_sub(3));
    launched.output.truncate(launched.output.len() / 2);
    launched.counters.pop();
    launched
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::{Model, small_batch};

    fn faulty(script: &str) -> Faulty<Model> {
        Faulty::new(Model::default(), script.parse::<Script>().unwrap())
    }

    #[test]
    fn scripts() {
        let script: Script = " memory@2, lost@5,".parse().unwrap();
        assert_eq!(script, [(2, Trouble::Memory), (5, Trouble::Lost)].into());
        assert_eq!("".parse(), Ok(Script::default()));
        for bad in ["memory", "memory@", "memory@x", "fire@1", "@1"] {
            assert!(bad.parse::<Script>().is_err(), "{bad}");
        }
    }

    #[test]
    fn some_faults_pass_and_some_do_not() {
        let mut device = faulty("memory@0,launch@2,timeout@4");
        let blob = small_batch();
        let batch = blob.batch();
        assert!(matches!(
            device.run(&batch),
            Err(DeviceError::Memory { .. })
        ));
        assert!(device.run(&batch).is_ok());
        assert!(matches!(device.run(&batch), Err(DeviceError::Launch(_))));
        assert!(device.run(&batch).is_ok());
        assert!(matches!(device.run(&batch), Err(DeviceError::Timeout(_))));
        assert!(matches!(device.run(&batch), Err(DeviceError::Lost(_))));
        assert!(matches!(device.run(&batch), Err(DeviceError::Lost(_))));
        assert_eq!(device.batches(), 7);
    }

    #[test]
    fn garbage_has_the_shape_of_an_answer() {
        let blob = small_batch();
        let right = Model::default().run(&blob.batch()).unwrap();
        let mut device = faulty("garbage@0,short@1");
        let wrong = device.run(&blob.batch()).unwrap();
        assert_eq!(wrong.results.len(), right.results.len());
        assert_eq!(wrong.output.len(), right.output.len());
        assert_ne!(wrong.results, right.results);
        assert_ne!(wrong.output, right.output);
        let short = device.run(&blob.batch()).unwrap();
        assert!(short.results.len() < right.results.len());
    }
}
