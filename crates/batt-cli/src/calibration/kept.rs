//! What was measured, in a file.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use batt_cuda::{Cache, DeviceFacts, Driver};
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher13};

use super::crossover::Outcome;

/// All that makes a measurement worthless when it changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Machine {
    /// The names of its devices.
    pub devices: Vec<String>,
    /// What the driver is for.
    pub driver: String,
    /// Cores of the processor.
    pub cores: usize,
    /// The version of batt.
    pub batt: String,
}

impl Machine {
    /// This machine with devices of these names.
    pub fn with_devices(devices: Vec<String>, driver: String) -> Machine {
        Machine {
            devices,
            driver,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            batt: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// This machine, if it has a device.
    pub fn of_driver() -> Option<Machine> {
        let driver = Driver::get().ok().filter(|driver| driver.devices > 0)?;
        let name = |device| DeviceFacts::of(&driver, device).map(|facts| facts.name);
        let devices: Result<Vec<String>, _> = (0..driver.devices).map(name).collect();
        Some(Machine::with_devices(
            devices.ok()?,
            driver.version.to_string(),
        ))
    }
}

/// What was measured on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// Where.
    pub machine: Machine,
    /// From how many runs on devices win; none if they never do.
    pub crossover: Option<usize>,
}

impl Calibration {
    /// What measurements on a machine come to.
    pub fn new(machine: Machine, outcome: Outcome) -> Calibration {
        Calibration {
            machine,
            crossover: match outcome {
                Outcome::From(runs) => Some(runs),
                Outcome::Never => None,
            },
        }
    }

    /// What it comes to.
    pub fn outcome(&self) -> Outcome {
        self.crossover.map_or(Outcome::Never, Outcome::From)
    }
}

/// Where calibrations are kept: the folder of compiled kernels.
pub struct Store {
    folder: Option<PathBuf>,
}

impl Store {
    /// The folder that the environment names.
    pub fn from_env() -> Store {
        Store {
            folder: Cache::from_env().folder().map(Path::to_owned),
        }
    }

    /// The file of a machine. Each has its own, since machines may share a home.
    fn path(&self, machine: &Machine) -> Option<PathBuf> {
        let name = format!("calibration-{}.json", hashed(machine));
        Some(self.folder.as_ref()?.join(name))
    }

    /// What is kept of a machine. A file that is damaged, or of another machine, is as good as none.
    pub fn read(&self, machine: &Machine) -> Option<Calibration> {
        let text = fs::read_to_string(self.path(machine)?).ok()?;
        let found: Calibration = serde_json::from_str(&text).ok()?;
        (found.machine == *machine).then_some(found)
    }

    /// Keeps a calibration, and says where.
    pub fn write(&self, calibration: &Calibration) -> io::Result<PathBuf> {
        let path = self
            .path(&calibration.machine)
            .ok_or_else(|| io::Error::other("there is no cache folder; set BATT_CACHE_DIR"))?;
        let mut text = serde_json::to_string_pretty(calibration)?;
        text.push('\n');
        write_whole(&path, &text)?;
        Ok(path)
    }

    /// Could something be kept? Only trying it out tells.
    pub fn is_writable(&self) -> bool {
        let Some(folder) = &self.folder else {
            return false;
        };
        let path = folder.join(format!("calibration-{}.try", process::id()));
        let written = write_whole(&path, "").is_ok();
        let _ = fs::remove_file(&path);
        written
    }
}

/// Writes a file that is there as a whole or not at all: others may be reading it.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let unfinished = path.with_extension(format!("{}.unfinished", process::id()));
    let result = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
    if result.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    result
}

/// A number that changes when something does, the same in every run of this version.
fn hashed(value: impl Hash) -> String {
    let mut hasher = SipHasher13::new();
    value.hash(&mut hasher);
    hasher.write_u8(0);
    format!("{:032x}", hasher.finish128().as_u128())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration() -> Calibration {
        let machine = Machine::with_devices(vec!["NVIDIA Test".to_owned()], "12.8".to_owned());
        Calibration::new(machine, Outcome::From(4_096))
    }

    fn at(folder: &Path) -> Store {
        Store {
            folder: Some(folder.to_owned()),
        }
    }

    #[test]
    fn what_is_kept_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        // The folder need not be there yet.
        let store = at(&folder.path().join("deep/cache"));
        let mut kept = calibration();
        assert_eq!(store.read(&kept.machine), None);
        store.write(&kept).unwrap();
        assert_eq!(store.read(&kept.machine), Some(kept.clone()));
        assert_eq!(kept.outcome(), Outcome::From(4_096));
        kept.crossover = None;
        let path = store.write(&kept).unwrap();
        assert_eq!(store.read(&kept.machine), Some(kept.clone()));
        assert_eq!(kept.outcome(), Outcome::Never);
        let files = fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(files.count(), 1, "nothing unfinished is left");
    }

    #[test]
    fn a_damaged_file_is_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let store = at(folder.path());
        let kept = calibration();
        let path = store.write(&kept).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        for text in ["", "{}", "null", "\u{0}", &whole[..whole.len() / 2]] {
            fs::write(&path, text).unwrap();
            assert_eq!(store.read(&kept.machine), None, "{text}");
        }
        store.write(&kept).unwrap();
        assert_eq!(store.read(&kept.machine), Some(kept));
    }

    #[test]
    fn other_machines_have_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let store = at(folder.path());
        let kept = calibration();
        let path = store.write(&kept).unwrap();
        let change: [fn(&mut Machine); 4] = [
            |machine| machine.devices.push("NVIDIA Other".to_owned()),
            |machine| machine.driver = "13.0".to_owned(),
            |machine| machine.cores += 1,
            |machine| machine.batt.push('1'),
        ];
        for change in change {
            let mut other = kept.machine.clone();
            change(&mut other);
            assert_eq!(store.read(&other), None);
            // Not even if the file is in its place.
            fs::copy(&path, store.path(&other).unwrap()).unwrap();
            assert_eq!(store.read(&other), None);
        }
    }

    #[test]
    fn where_nothing_can_be_kept() {
        let folder = tempfile::tempdir().unwrap();
        assert!(at(folder.path()).is_writable());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // A file is no folder.
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for store in [Store { folder: None }, at(&file)] {
            assert!(!store.is_writable());
            assert!(store.write(&calibration()).is_err());
            assert_eq!(store.read(&calibration().machine), None);
        }
    }
}
