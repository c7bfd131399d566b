//! Devices: choosing and opening them.

mod self_test;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use batt_cuda::{Cache, Contents, Cuda, CudaSettings, Driver, KernelFacts, Places, Survey};
use batt_dsl::Limits;
use batt_engine::device::{Device, DeviceError, DeviceOptions};

pub use self::self_test::SelfTest;
use crate::error::{Error, Result};

/// The number of runs from which [`DeviceChoice::Auto`] uses devices.
///
/// Measured on one H200 beside 16 cores (`docs/performance.md`): opening a GPU takes 0.1 to 0.4 s,
/// and 1,400,000 runs then take 1.5 s instead of 2.5 s, 0.7 µs less for each run. So opening the
/// GPU pays off after 150,000 to 600,000 runs.
pub const RUNS_WORTH_A_DEVICE: usize = 500_000;

/// The number of logical devices on each GPU if the caller names no GPU. One computes while the
/// results of the other are copied.
const LOGICAL_PER_GPU: usize = 2;

/// The same where all of them run waves: the slowest items of one keep few multiprocessors busy, and
/// the others use the rest.
const WAVES_PER_GPU: usize = 4;

/// The choice of where to run. As text: `auto`, `cpu`, `cuda`, `cuda:0`, `cuda:0,1` or `emulated`.
///
/// ```
/// use batt::DeviceChoice;
///
/// assert_eq!("cuda:0,1".parse(), Ok(DeviceChoice::Cuda(vec![0, 1])));
/// assert_eq!(DeviceChoice::Cuda(vec![0, 1]).to_string(), "cuda:0,1");
/// assert!("gpu".parse::<DeviceChoice>().is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// All GPUs if there are any and the work is large enough ([`RUNS_WORTH_A_DEVICE`]), otherwise
    /// the CPU. Evolution always takes the CPU.
    #[default]
    Auto,
    /// The cores of the CPU.
    Cpu,
    /// The GPUs with these numbers; empty for all GPUs. Naming a GPU twice makes two logical
    /// devices.
    Cuda(Vec<usize>),
    /// The emulated device, for tests. Needs the feature `emulated`.
    Emulated,
}

impl DeviceChoice {
    /// The forms that [`DeviceChoice::from_str`] accepts.
    pub const FORMS: &str = "auto|cpu|cuda[:N,...]|emulated";
}

/// A text that is not a [`DeviceChoice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write auto, cpu, cuda, cuda:0, cuda:0,1 or emulated")]
pub struct DeviceChoiceError;

impl FromStr for DeviceChoice {
    type Err = DeviceChoiceError;

    fn from_str(text: &str) -> Result<DeviceChoice, DeviceChoiceError> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda(Vec::new())),
            "emulated" => Ok(DeviceChoice::Emulated),
            _ => {
                let list = text.strip_prefix("cuda:").ok_or(DeviceChoiceError)?;
                let numbers = list.split(',').map(|number| number.trim().parse());
                let numbers: Result<_, _> = numbers.collect();
                numbers
                    .map(DeviceChoice::Cuda)
                    .map_err(|_| DeviceChoiceError)
            }
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Emulated => f.write_str("emulated"),
            DeviceChoice::Cuda(numbers) => {
                f.write_str("cuda")?;
                for (at, number) in numbers.iter().enumerate() {
                    write!(f, "{}{number}", if at == 0 { ':' } else { ',' })?;
                }
                Ok(())
            }
        }
    }
}

/// Opened devices. An empty set runs everything on the CPU, with the same results.
#[derive(Default)]
pub struct Devices {
    devices: Vec<Box<dyn Device>>,
    kernels: Vec<KernelFacts>,
    notes: Vec<String>,
}

impl Devices {
    /// Returns an empty set: the CPU runs everything.
    pub fn none() -> Devices {
        Devices::default()
    }

    /// Opens the chosen devices for a number of runs within limits. `threads` is the number of
    /// threads that an emulated device may use; `None` uses one per core.
    ///
    /// Returns no devices if the CPU is chosen, if `Auto` finds no GPU or too few runs, or if a
    /// device cannot keep the limits. [`Devices::notes`] says what the user should know.
    pub fn open(
        choice: &DeviceChoice,
        runs: usize,
        limits: &Limits,
        threads: Option<NonZeroUsize>,
    ) -> Result<Devices> {
        Devices::open_for(choice, runs, limits, threads, false)
    }

    /// Opens the chosen devices as [`open`](Devices::open) does. With `later`, GPUs load the VM only
    /// when it first runs.
    pub(crate) fn open_for(
        choice: &DeviceChoice,
        runs: usize,
        limits: &Limits,
        threads: Option<NonZeroUsize>,
        later: bool,
    ) -> Result<Devices> {
        let is_auto = *choice == DeviceChoice::Auto;
        if *choice == DeviceChoice::Cpu || is_auto && runs < RUNS_WORTH_A_DEVICE {
            return Ok(Devices::none());
        }
        if !DeviceOptions::default().keep(limits) {
            return Ok(match is_auto {
                true => Devices::none(),
                false => Devices::on_cpu("a device cannot enforce limits this low"),
            });
        }
        match choice {
            DeviceChoice::Cpu => Ok(Devices::none()),
            DeviceChoice::Emulated => Devices::emulated(threads),
            DeviceChoice::Cuda(numbers) => Ok(Devices::cuda(numbers, later)?),
            DeviceChoice::Auto => match Devices::cuda(&[], later) {
                Ok(devices) => Ok(devices),
                // A missing GPU is no reason for a note.
                Err(DeviceError::Missing(_)) => Ok(Devices::none()),
                Err(error) => Ok(Devices::on_cpu(error)),
            },
        }
    }

    /// Returns notes for the user about opening the devices, such as why the CPU runs everything.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the names of the devices, for reports.
    pub fn names(&self) -> Vec<String> {
        self.devices.iter().map(|device| device.name()).collect()
    }

    /// Returns facts about the compiled device code of each GPU.
    pub fn kernels(&self) -> &[KernelFacts] {
        &self.kernels
    }

    /// Returns the number of logical devices.
    pub fn len(&self) -> usize {
        self.devices.len()
    }

    /// Returns whether the CPU runs everything.
    pub fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Returns an empty set with the reason as a note.
    fn on_cpu(why: impl fmt::Display) -> Devices {
        Devices {
            notes: vec![format!("{why}; the CPU runs everything")],
            ..Devices::default()
        }
    }

    /// Opens the GPUs with these numbers, or all.
    fn cuda(numbers: &[usize], later: bool) -> Result<Devices, DeviceError> {
        let all: Vec<usize>;
        let numbers = match numbers {
            [] => {
                let gpus = 0..Driver::get()?.devices;
                let logical = if later {
                    WAVES_PER_GPU
                } else {
                    LOGICAL_PER_GPU
                };
                all = gpus.flat_map(|gpu| vec![gpu; logical]).collect();
                &all
            }
            some => some,
        };
        if numbers.is_empty() {
            return Err(DeviceError::Missing("the driver sees none".into()));
        }
        let settings = CudaSettings {
            later,
            ..CudaSettings::from_env()
        };
        let opened = Cuda::open_all(numbers, &settings)?;
        let kernels = opened.devices.iter().filter_map(Cuda::kernel).cloned();
        let kernels: Vec<KernelFacts> = kernels.collect();
        let boxed = |device: Cuda| -> Box<dyn Device> { Box::new(device) };
        Ok(Devices {
            kernels,
            devices: opened.devices.into_iter().map(boxed).collect(),
            notes: opened.notes,
        })
    }

    #[cfg(feature = "emulated")]
    fn emulated(threads: Option<NonZeroUsize>) -> Result<Devices> {
        /// The environment variable that lists which launches of the emulated device fail, and how.
        const FAULTS: &str = "BATT_DEVICE_FAULTS";

        let threads = NonZeroUsize::new(batt_engine::schedule::workers(threads));
        let device = batt_emulated::Emulated::new(threads.unwrap_or(NonZeroUsize::MIN));
        let device = device.with_waves()?;
        let Some(script) = std::env::var_os(FAULTS) else {
            return Ok(Devices::from(vec![Box::new(device) as Box<dyn Device>]));
        };
        let script: batt_testing::Script =
            script.to_string_lossy().parse().map_err(|error: String| {
                Error::request(
                    format_args!("{FAULTS}: {error}"),
                    "name a fault and the launch it strikes, such as memory@0,lost@2; the faults are \
                     memory, launch, lost, timeout, garbage and short",
                )
            })?;
        let faulty = batt_testing::Faulty::new(device, script);
        Ok(Devices::from(vec![Box::new(faulty) as Box<dyn Device>]))
    }

    #[cfg(not(feature = "emulated"))]
    fn emulated(_: Option<NonZeroUsize>) -> Result<Devices> {
        Err(Error::request(
            "this batt was built without the emulated device",
            "build it with `--features emulated`",
        ))
    }
}

impl From<Vec<Box<dyn Device>>> for Devices {
    /// Uses devices that the caller has opened.
    fn from(devices: Vec<Box<dyn Device>>) -> Devices {
        Devices {
            devices,
            ..Devices::default()
        }
    }
}

impl AsMut<[Box<dyn Device>]> for Devices {
    fn as_mut(&mut self) -> &mut [Box<dyn Device>] {
        &mut self.devices
    }
}

impl fmt::Debug for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Devices").field(&self.names()).finish()
    }
}

/// A run whose result on a device differs from the CPU's. This is a bug in Batt; the fields contain
/// everything that a bug report needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceBug {
    /// The solver or batt, the task and the pair.
    pub place: String,
    /// The program.
    pub program: String,
    /// The input of the run.
    pub input: String,
    /// The result of the CPU, which was used.
    pub cpu: String,
    /// The result of the device.
    pub device: String,
}

/// Examines the GPUs of this machine, the driver, the compiler and the cache of compiled kernels.
///
/// ```
/// for (gpu, _) in &batt::survey().devices {
///     println!("{}: {}", gpu.ordinal, gpu.name);
/// }
/// ```
pub fn survey() -> Survey {
    Survey::new(&Places::from_env(), &Cache::from_env())
}

/// Deletes the cached kernels from the disk. Returns the folder and its former contents.
pub fn clear_kernels() -> Result<(Option<PathBuf>, Contents)> {
    let cache = Cache::from_env();
    let folder = cache.folder().map(ToOwned::to_owned);
    match cache.clear() {
        Ok(gone) => Ok((folder, gone)),
        Err(source) => Err(Error::file("clear", &folder.unwrap_or_default(), source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_written_alike() {
        for text in ["auto", "cpu", "cuda", "cuda:1", "cuda:3,0,3", "emulated"] {
            let choice: DeviceChoice = text.parse().unwrap();
            assert_eq!(choice.to_string(), text);
        }
        for bad in ["", "gpu", "cuda:", "cuda:x", "cuda:0;1", "cpu:0"] {
            assert_eq!(bad.parse::<DeviceChoice>(), Err(DeviceChoiceError), "{bad}");
        }
    }

    #[test]
    fn small_work_and_the_cpu_open_no_device() {
        let limits = Limits::default();
        let open = |choice, runs| Devices::open(&choice, runs, &limits, None).unwrap();
        let few = RUNS_WORTH_A_DEVICE - 1;
        for devices in [
            open(DeviceChoice::Auto, few),
            open(DeviceChoice::Cpu, usize::MAX),
        ] {
            assert!(devices.is_empty() && devices.notes().is_empty());
        }
    }

    #[test]
    fn limits_that_no_device_keeps_leave_the_work_to_the_cpu() {
        let low = Limits {
            steps: 1_000,
            ..Limits::default()
        };
        let open = |choice| Devices::open(&choice, usize::MAX, &low, None).unwrap();
        assert!(open(DeviceChoice::Auto).notes().is_empty());
        let devices = open(DeviceChoice::Cuda(vec![0]));
        assert!(devices.is_empty());
        assert!(devices.notes()[0].contains("limits"));
    }

    #[test]
    fn a_gpu_that_is_not_there_is_an_error_with_a_hint() {
        let choice = DeviceChoice::Cuda(vec![1_000_000]);
        let error = Devices::open(&choice, 1, &Limits::default(), None).unwrap_err();
        assert!(matches!(error, Error::Device(_)), "{error}");
        assert!(error.hint().contains("--device cpu"));
    }
}
