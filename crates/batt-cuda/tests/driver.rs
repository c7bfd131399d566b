//! Tests of the host side with a fake driver, `tests/driver/libcuda.c`, which needs no GPU.
//!
//! A process loads the driver when it first needs it, so each case runs in its own process. This
//! test program starts itself with the name of the case and with the fake driver first in the
//! library path. The tests need a C compiler, which linking Rust needs as well.

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

/// A case: its name, its environment variables, and its test.
type Case = (&'static str, &'static [(&'static str, &'static str)], fn());

const CASES: [Case; 12] = [
    ("everything", &[], everything),
    ("sharing", &[], sharing),
    ("small_memory", &[("FAKE_MEMORY", "3000000")], small_memory),
    ("scarce", &[("FAKE_SCARCE", "1")], everything),
    ("launch", &[("FAKE_FAIL", "launch:1:701")], one_launch_fails),
    ("upload", &[("FAKE_FAIL", "upload:4:1")], one_launch_fails),
    ("query", &[("FAKE_FAIL", "query:1:719")], device_lost),
    ("download", &[("FAKE_FAIL", "download:5:1")], device_lost),
    ("sticky", &[("FAKE_FAIL", "upload:4:700")], device_lost),
    (
        "kernel_rejected",
        &[("FAKE_FAIL", "load:0:200")],
        kernel_rejected,
    ),
    ("timeout_passes", &[], timeout_passes),
    ("wrong_numbers", &[], wrong_numbers),
];

#[test]
fn every_case() {
    let folder = TempDir::new().unwrap();
    // The file is not named libcuda.so.1, because NVRTC would load it by that name and call
    // functions that the fake driver does not have.
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

/// Runs one case; `every_case` starts it in its own process.
#[test]
#[ignore = "needs the driver that every_case builds"]
fn one_case() {
    let Ok(name) = env::var("FAKE_CASE") else {
        return;
    };
    let (_, _, case) = CASES.into_iter().find(|(case, ..)| *case == name).unwrap();
    case();
}

/// Returns settings with a kernel in the cache. The fake driver does not read the kernel.
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
            parts: &[],
            link: None,
        },
        timeout: Duration::from_secs(20),
        stack: 8 << 10,
        later: false,
    }
}

fn open(ordinals: &[usize]) -> Vec<Cuda> {
    let folder = TempDir::new().unwrap();
    let opened = Cuda::open_all(ordinals, &settings(&folder)).unwrap();
    assert_eq!(opened.notes, Vec::<String>::new());
    opened.devices
}

fn assert_passed(checks: &[Check]) {
    for check in checks {
        assert_eq!(check.problem, None, "{}", check.name);
    }
}

/// Returns the counters of the fake driver: memory in use, most memory in use, contexts, streams,
/// events, modules, pinned memory, launches.
fn state() -> [u64; 8] {
    let mut state = [0; 8];
    // SAFETY: the library is loaded already, so no initialiser runs. `fake_state` has this type and
    // writes eight numbers, the length of `state`.
    unsafe {
        let library = libloading::Library::new("libcuda.so").unwrap();
        let get = library
            .get::<unsafe extern "C" fn(*mut u64)>("fake_state")
            .unwrap();
        get(state.as_mut_ptr());
    }
    state
}

/// Asserts that everything was released.
fn assert_all_released() {
    let [used, _, rest @ .., _] = state();
    assert_eq!((used, rest), (0, [0; 5]));
}

fn most_used() -> u64 {
    state()[1]
}

fn everything() {
    let mut devices = open(&[0]);
    assert_eq!(devices[0].name(), "cuda:0 Nothing 0");
    let kernel = devices[0].kernel().expect("it is loaded");
    assert_eq!(kernel.warps, 4 * 28);
    assert!(matches!(kernel.origin, Origin::Cache(_)));
    assert_passed(&plumbing::check(&mut devices[0]));
    assert!(most_used() <= (1 << 30) / 100 * 80, "{}", most_used());
    drop(devices);
    assert_all_released();
}

fn sharing() {
    let devices = open(&[0, 1, 0]);
    let memory: Vec<u64> = devices.iter().map(Device::memory).collect();
    assert_eq!(memory[0] * 2, memory[1]);
    assert_eq!(memory[0], memory[2]);
    thread::scope(|scope| {
        for (number, mut device) in devices.into_iter().enumerate() {
            // The two fake devices share one memory, so only the logical devices on one of them are
            // checked.
            if number != 1 {
                scope.spawn(move || assert_passed(&plumbing::check(&mut device)));
            }
        }
    });
    assert!(most_used() <= (1 << 30) / 100 * 80, "{}", most_used());
    assert_all_released();
}

/// Batches that are too large fail, and smaller ones succeed.
fn small_memory() {
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
    assert_all_released();
}

/// One launch fails, and the others succeed.
fn one_launch_fails() {
    let mut devices = open(&[0]);
    let checks = plumbing::check(&mut devices[0]);
    let failed: Vec<&Check> = checks.iter().filter(|c| c.problem.is_some()).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    let problem = failed[0].problem.as_deref().unwrap();
    assert!(problem.starts_with("the launch failed"), "{problem}");
    assert_passed(&plumbing::check(&mut devices[0]));
    drop(devices);
    assert_all_released();
}

/// After an error that destroys the context, no logical device of the GPU launches anything.
fn device_lost() {
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
    assert_passed(&plumbing::check(&mut devices[2]));
    drop(devices);
    let folder = TempDir::new().unwrap();
    let again = Cuda::open(0, &settings(&folder)).err();
    assert!(matches!(again, Some(DeviceError::Lost(_))), "{again:?}");
}

/// A cached kernel that the driver rejects is deleted.
fn kernel_rejected() {
    let folder = TempDir::new().unwrap();
    let settings = settings(&folder);
    // There is no compiler to make another kernel.
    let error = Cuda::open(0, &settings).err();
    assert!(matches!(error, Some(DeviceError::Compile(_))), "{error:?}");
    assert_eq!(settings.maker.cache.contents().entries, 0);
    assert_all_released();
}

fn timeout_passes() {
    let folder = TempDir::new().unwrap();
    let settings = CudaSettings {
        timeout: Duration::from_millis(50),
        ..settings(&folder)
    };
    let (mut device, _) = Cuda::open(0, &settings).unwrap();
    assert_passed(&[plumbing::check_clock(&mut device)]);
    // Memory that a kernel may still use is not freed.
    drop(device);
    assert!(state()[0] > 0);
    let again = Cuda::open(0, &settings).err();
    assert!(matches!(again, Some(DeviceError::Lost(_))), "{again:?}");
}

fn wrong_numbers() {
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
    assert_all_released();
}
