//! The host side against a driver without a device, `tests/driver/libcuda.c`.
//!
//! The driver is looked for when a process first needs it, so each case is a process of its own:
//! this test program, run again with the case to run and that driver in front of any other. Needs a
//! C compiler, which linking Rust needs as well.

#![cfg(target_os = "linux")]

use std::env;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use batt_cuda::source::PROBE;
use batt_cuda::{
    Arch, Cache, Cuda, CudaSettings, Driver, Image, Key, Maker, NvrtcOptions, Origin, Places,
    Version,
};
use batt_engine::device::{Device, DeviceError};
use batt_testing::plumbing::{self, Check};
use tempfile::TempDir;

/// A case: its name, what the environment is, what is tried.
type Case = (&'static str, &'static [(&'static str, &'static str)], fn());

const CASES: [Case; 12] = [
    ("everything", &[], everything),
    ("sharing", &[], sharing),
    ("little", &[("FAKE_MEMORY", "3000000")], little),
    ("scarce", &[("FAKE_SCARCE", "1")], everything),
    ("launch", &[("FAKE_FAIL", "launch:1:701")], passing),
    ("upload", &[("FAKE_FAIL", "upload:4:1")], passing),
    ("query", &[("FAKE_FAIL", "query:1:719")], lost),
    ("download", &[("FAKE_FAIL", "download:5:1")], lost),
    ("sticky", &[("FAKE_FAIL", "upload:4:700")], lost),
    ("refused", &[("FAKE_FAIL", "load:0:200")], refused),
    ("late", &[], late),
    ("numbers", &[], numbers),
];

#[test]
fn every_case() {
    let folder = TempDir::new().unwrap();
    // Not libcuda.so.1: NVRTC, should it be about, looks for that one and wants to know more than
    // we have.
    let built = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-pthread", "-o"])
        .arg(folder.path().join("libcuda.so"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/driver/libcuda.c"))
        .status();
    let Ok(status) = built else {
        eprintln!("no C compiler: nothing is tried");
        return;
    };
    assert!(status.success(), "the driver does not compile");
    for (name, variables, _) in CASES {
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "one_case", "--ignored", "--nocapture"])
            .env("FAKE_CASE", name)
            .env("LD_LIBRARY_PATH", folder.path())
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{name}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Run by `every_case`, in a process of its own.
#[test]
#[ignore = "needs the driver that every_case builds"]
fn one_case() {
    let Ok(name) = env::var("FAKE_CASE") else {
        return;
    };
    let (_, _, case) = CASES.into_iter().find(|(case, ..)| *case == name).unwrap();
    case();
}

/// The settings, with a kernel in the cache: the driver does not look at it.
fn settings(folder: &TempDir) -> CudaSettings {
    let cache = Cache::at(folder.path());
    let compiler = Version {
        major: 12,
        minor: 9,
    };
    let options = NvrtcOptions {
        whole: true,
        ..NvrtcOptions::default()
    };
    let key = Key::new(PROBE, options, Arch(90));
    let mut notes = Vec::new();
    cache.store(key, compiler, &Image::Cubin(vec![1]), &mut notes);
    assert_eq!(notes, Vec::<String>::new());
    CudaSettings {
        maker: Maker {
            files: PROBE,
            options: NvrtcOptions::default(),
            cache,
            places: Places::default(),
            link: None,
        },
        timeout: Duration::from_secs(20),
        stack: 8 << 10,
    }
}

fn open(ordinals: &[usize]) -> Vec<Cuda> {
    let folder = TempDir::new().unwrap();
    let opened = Cuda::open_all(ordinals, &settings(&folder)).unwrap();
    assert_eq!(opened.notes, Vec::<String>::new());
    opened.devices
}

fn good(checks: &[Check]) {
    for check in checks {
        assert_eq!(check.problem, None, "{}", check.name);
    }
}

/// What the driver has: memory in use, most memory in use, contexts, streams, events, modules,
/// pinned memory, launches.
fn state() -> [u64; 8] {
    let mut state = [0; 8];
    // SAFETY: the library is loaded already, and the function writes eight numbers.
    unsafe {
        let library = libloading::Library::new("libcuda.so").unwrap();
        let get = library
            .get::<unsafe extern "C" fn(*mut u64)>("fake_state")
            .unwrap();
        get(state.as_mut_ptr());
    }
    state
}

/// Nothing is left of what was made.
fn all_given_back() {
    let [used, _, rest @ .., _] = state();
    assert_eq!((used, rest), (0, [0; 5]));
}

fn most_used() -> u64 {
    state()[1]
}

fn everything() {
    let mut devices = open(&[0]);
    assert_eq!(devices[0].name(), "cuda:0 Nothing 0");
    assert_eq!(devices[0].kernel().warps, 4 * 28);
    assert!(matches!(devices[0].kernel().origin, Origin::Cache(_)));
    good(&plumbing::check(&mut devices[0]));
    assert!(most_used() <= (1 << 30) / 100 * 80, "{}", most_used());
    drop(devices);
    all_given_back();
}

fn sharing() {
    let devices = open(&[0, 1, 0]);
    let memory: Vec<u64> = devices.iter().map(Device::memory).collect();
    assert_eq!(memory[0] * 2, memory[1]);
    assert_eq!(memory[0], memory[2]);
    thread::scope(|scope| {
        for (number, mut device) in devices.into_iter().enumerate() {
            // The devices have one memory here, so only those on one device are tried.
            if number != 1 {
                scope.spawn(move || good(&plumbing::check(&mut device)));
            }
        }
    });
    assert!(most_used() <= (1 << 30) / 100 * 80, "{}", most_used());
    all_given_back();
}

/// Batches that do not fit fail, and those that fit do not.
fn little() {
    let mut devices = open(&[0]);
    for check in plumbing::check(&mut devices[0]) {
        if let Some(problem) = check.problem {
            assert!(problem.contains("no room"), "{}: {problem}", check.name);
            assert_ne!(check.name, "a small batch");
            assert_ne!(check.name, "no room");
        }
    }
    assert!(most_used() <= 2_400_000, "{}", most_used());
    drop(devices);
    all_given_back();
}

/// One launch fails, the others do not.
fn passing() {
    let mut devices = open(&[0]);
    let checks = plumbing::check(&mut devices[0]);
    let failed: Vec<&Check> = checks.iter().filter(|c| c.problem.is_some()).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    let problem = failed[0].problem.as_deref().unwrap();
    assert!(problem.starts_with("the launch failed"), "{problem}");
    good(&plumbing::check(&mut devices[0]));
    drop(devices);
    all_given_back();
}

/// After an error that a context does not survive nothing more is tried, on any logical device of
/// the device.
fn lost() {
    let mut devices = open(&[0, 0, 1]);
    let checks = plumbing::check(&mut devices[0]);
    let problem = checks[1].problem.as_deref().unwrap();
    assert!(
        problem.starts_with("the device is lost") && problem.contains("made up"),
        "{problem}"
    );
    let launches = state()[7];
    assert!(plumbing::check(&mut devices[1])[1].problem.is_some());
    assert_eq!(state()[7], launches);
    good(&plumbing::check(&mut devices[2]));
    drop(devices);
    let folder = TempDir::new().unwrap();
    let again = Cuda::open(0, &settings(&folder)).err();
    assert!(matches!(again, Some(DeviceError::Lost(_))), "{again:?}");
}

/// A kernel from the cache that the driver does not take is thrown away.
fn refused() {
    let folder = TempDir::new().unwrap();
    let settings = settings(&folder);
    // There is no compiler to make another.
    let error = Cuda::open(0, &settings).err();
    assert!(matches!(error, Some(DeviceError::Compile(_))), "{error:?}");
    assert_eq!(settings.maker.cache.contents().entries, 0);
    all_given_back();
}

fn late() {
    let folder = TempDir::new().unwrap();
    let settings = CudaSettings {
        timeout: Duration::from_millis(50),
        ..settings(&folder)
    };
    let (mut device, _) = Cuda::open(0, &settings).unwrap();
    good(&[plumbing::check_clock(&mut device)]);
    // What a kernel may still be using is not freed.
    drop(device);
    assert!(state()[0] > 0);
    let again = Cuda::open(0, &settings).err();
    assert!(matches!(again, Some(DeviceError::Lost(_))), "{again:?}");
}

fn numbers() {
    let driver = Driver::get().unwrap();
    assert_eq!(
        (driver.devices, driver.version.to_string().as_str()),
        (2, "12.8")
    );
    let folder = TempDir::new().unwrap();
    for ordinal in [2, 1000, usize::MAX] {
        let error = Cuda::open(ordinal, &settings(&folder)).err();
        assert!(matches!(error, Some(DeviceError::Missing(_))), "{error:?}");
    }
    all_given_back();
}
