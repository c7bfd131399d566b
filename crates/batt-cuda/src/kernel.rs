//! The kernel of a device, from the cache or from the compiler.

use std::env;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use batt_engine::device::DeviceError;

use crate::arch::{Arch, Version};
use crate::cache::{Cache, Key};
use crate::nvrtc::{Compilation, Image, Nvrtc, NvrtcOptions, Places};
use crate::source::{Source, SourcePart};

/// Provides kernels: from the cache, otherwise from the compiler.
#[derive(Clone, Debug)]
pub struct Maker {
    /// The source, the main file first.
    pub files: &'static [Source],
    /// The parts of the source, if threads compile them at the same time; otherwise there are none.
    pub parts: &'static [SourcePart],
    /// The options of the compiler.
    pub options: NvrtcOptions,
    /// The cache of kernels.
    pub cache: Cache,
    /// The places to look for the compiler.
    pub places: Places,
    /// The linker for code that was compiled function by function; `None` compiles all at once.
    pub link: Option<Link>,
}

/// Links relocatable code.
pub type Link = fn(&[Image]) -> Result<Vec<u8>, DeviceError>;

/// A kernel in a form that the driver can load.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The code.
    pub image: Image,
    /// Its origin.
    pub origin: Origin,
}

/// The origin of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An entry of the cache.
    Cache(PathBuf),
    /// The compiler, with its version and the time that compiling took.
    Compiler(Version, Duration),
}

impl Maker {
    /// Configures the provider from the environment.
    pub fn from_env(files: &'static [Source]) -> Maker {
        Maker {
            files,
            parts: &[],
            options: NvrtcOptions {
                line_info: env::var_os("BATT_DEVICE_LINEINFO").is_some_and(|set| !set.is_empty()),
                ..NvrtcOptions::default()
            },
            cache: Cache::from_env(),
            places: Places::from_env(),
            link: None,
        }
    }

    /// Finds and loads the compiler.
    pub(crate) fn compiler(&self, driver: Option<Version>) -> Result<Nvrtc, DeviceError> {
        Nvrtc::find(&self.places, driver)
    }

    /// Returns the kernel for an architecture. Messages for the user go to `notes`.
    pub fn kernel(
        &self,
        arch: Arch,
        driver: Option<Version>,
        notes: &mut Vec<String>,
    ) -> Result<Kernel, DeviceError> {
        self.kernel_by(&self.compiler(driver), arch, driver, notes)
    }

    /// Returns the kernel as [`kernel`](Maker::kernel) does, with a loaded compiler. A cached
    /// kernel does not need the compiler.
    pub(crate) fn kernel_by(
        &self,
        nvrtc: &Result<Nvrtc, DeviceError>,
        arch: Arch,
        driver: Option<Version>,
        notes: &mut Vec<String>,
    ) -> Result<Kernel, DeviceError> {
        let options = NvrtcOptions {
            whole: self.options.whole || self.link.is_none(),
            ..self.options
        };
        let key = Key::new(self.files, options, arch);
        let compiler = nvrtc.as_ref().ok().map(Nvrtc::version);
        if let Some((image, path)) = self.cache.find(key, compiler, notes) {
            return Ok(Kernel {
                image,
                origin: Origin::Cache(path),
            });
        }
        let nvrtc = nvrtc.as_ref().map_err(DeviceError::clone)?;
        let made = self.compile(nvrtc, arch, options, notes)?;
        if let Some(driver) = driver.filter(|driver| driver.major < nvrtc.version().major) {
            notes.push(format!(
                "the driver is for CUDA {driver} and may reject code of NVRTC {}; recommended: {}",
                nvrtc.version(),
                crate::nvrtc::advice(Some(driver))
            ));
        }
        self.cache.store(key, nvrtc.version(), &made.image, notes);
        Ok(Kernel {
            image: made.image,
            origin: Origin::Compiler(nvrtc.version(), made.time),
        })
    }

    /// Compiles function by function and links. Compiles all at once if linking fails.
    fn compile(
        &self,
        nvrtc: &Nvrtc,
        arch: Arch,
        options: NvrtcOptions,
        notes: &mut Vec<String>,
    ) -> Result<Compilation, DeviceError> {
        let start = Instant::now();
        let Some(link) = self.link.filter(|_| !options.whole) else {
            return nvrtc.compile(self.files, arch, options);
        };
        let images = match self.parts {
            [] => {
                let made = nvrtc.compile(self.files, arch, options)?;
                if matches!(made.image, Image::Ptx(_)) {
                    // The driver translates and links it.
                    return Ok(made);
                }
                vec![made.image]
            }
            parts => compile_parts(nvrtc, parts, arch, options)?,
        };
        let image = match link(&images) {
            Ok(linked) => Image::Cubin(linked),
            Err(error) => {
                notes.push(format!(
                    "{error}; compiling as one module, which takes longer"
                ));
                let options = NvrtcOptions {
                    whole: true,
                    ..options
                };
                nvrtc.compile(self.files, arch, options)?.image
            }
        };
        Ok(Compilation {
            image,
            log: String::new(),
            time: start.elapsed(),
        })
    }
}

/// Compiles all parts of a source, on all cores.
fn compile_parts(
    nvrtc: &Nvrtc,
    parts: &[SourcePart],
    arch: Arch,
    options: NvrtcOptions,
) -> Result<Vec<Image>, DeviceError> {
    let next = AtomicUsize::new(0);
    let made: Vec<Mutex<Option<Result<Compilation, DeviceError>>>> =
        parts.iter().map(|_| Mutex::default()).collect();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((part, place)) = parts.get(index).zip(made.get(index)) else {
                break;
            };
            let options = NvrtcOptions {
                part: Some(part.word),
                ..options
            };
            let compiled = nvrtc.compile(&part.files, arch, options);
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(compiled);
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        for _ in 1..threads.min(parts.len()) {
            // Without the thread, this one does its work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let ended = || DeviceError::Compile("a thread of the compiler ended".into());
    made.into_iter()
        .map(|place| {
            let made = place.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok(made.ok_or_else(ended)??.image)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::source::PROBE;

    const COMPILER: Version = Version {
        major: 12,
        minor: 9,
    };

    fn maker(cache: Cache) -> Maker {
        Maker {
            files: PROBE,
            parts: &[],
            options: NvrtcOptions::default(),
            cache,
            places: Places::default(),
            link: None,
        }
    }

    #[test]
    fn a_cached_kernel_needs_no_compiler() {
        let folder = TempDir::new().unwrap();
        let maker = maker(Cache::at(folder.path()));
        let mut notes = Vec::new();
        let missing = maker.kernel(Arch(90), None, &mut notes).unwrap_err();
        assert!(matches!(missing, DeviceError::Compile(_)), "{missing}");

        let options = NvrtcOptions {
            whole: true,
            ..NvrtcOptions::default()
        };
        let key = Key::new(PROBE, options, Arch(90));
        let image = Image::Cubin(vec![1, 2, 3]);
        maker.cache.store(key, COMPILER, &image, &mut notes);
        let kernel = maker.kernel(Arch(90), None, &mut notes).unwrap();
        assert_eq!(kernel.image, image);
        assert!(matches!(kernel.origin, Origin::Cache(_)));
        assert!(maker.kernel(Arch(80), None, &mut notes).is_err());
        assert_eq!(notes, Vec::<String>::new());
    }

    /// Returns the real compiler, if it is installed.
    fn nvrtc() -> Option<Nvrtc> {
        let found = Nvrtc::find(&Places::from_env(), None).ok();
        if found.is_none() {
            eprintln!("no NVRTC here: nothing is compiled");
        }
        found
    }

    #[test]
    fn a_kernel_is_compiled_once_then_cached() {
        if nvrtc().is_none() {
            return;
        }
        let folder = TempDir::new().unwrap();
        let maker = Maker {
            places: Places::from_env(),
            ..maker(Cache::at(folder.path()))
        };
        let mut notes = Vec::new();
        let first = maker.kernel(Arch(90), None, &mut notes).unwrap();
        let again = maker.kernel(Arch(90), None, &mut notes).unwrap();
        assert!(matches!(first.origin, Origin::Compiler(..)));
        assert!(matches!(again.origin, Origin::Cache(_)));
        assert_eq!(first.image, again.image);
        assert!(first.image.bytes().starts_with(b"\x7fELF"));
        assert_eq!(notes, Vec::<String>::new());

        // Without a cache it is compiled each time.
        let uncached = Maker {
            cache: Cache::none(),
            ..maker
        };
        let kernel = uncached.kernel(Arch(90), None, &mut notes).unwrap();
        assert!(matches!(kernel.origin, Origin::Compiler(..)));
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn a_kernel_is_compiled_all_at_once_if_linking_fails() {
        if nvrtc().is_none() {
            return;
        }
        let with = |link: Link| Maker {
            places: Places::from_env(),
            link: Some(link),
            ..maker(Cache::none())
        };
        let mut notes = Vec::new();
        let linked = with(|parts| Ok(parts[0].bytes()[..4].to_vec()));
        let kernel = linked.kernel(Arch(90), None, &mut notes).unwrap();
        assert_eq!(kernel.image.bytes(), b"\x7fELF");
        let unlinked = with(|_| Err(DeviceError::Compile("no linker".to_owned())));
        let kernel = unlinked.kernel(Arch(90), None, &mut notes).unwrap();
        assert!(kernel.image.bytes().len() > 4);
        assert!(
            notes.iter().any(|note| note.contains("no linker")),
            "{notes:?}"
        );
    }

    #[test]
    fn a_device_newer_than_the_compiler_gets_the_intermediate_form() {
        let Some(nvrtc) = nvrtc() else { return };
        let made = nvrtc
            .compile(PROBE, Arch(999), NvrtcOptions::default())
            .unwrap();
        assert!(matches!(made.image, Image::Ptx(_)));
        let error = nvrtc
            .compile(PROBE, Arch(10), NvrtcOptions::default())
            .unwrap_err();
        assert!(error.to_string().contains("as old as sm_10"), "{error}");
    }

    #[test]
    fn the_compiler_knows_every_option() {
        let Some(nvrtc) = nvrtc() else { return };
        let options = NvrtcOptions {
            part: None,
            line_info: true,
            verbose: true,
            intermediate: false,
            whole: true,
            unroll: true,
        };
        let made = nvrtc.compile(PROBE, Arch(90), options).unwrap();
        assert!(matches!(made.image, Image::Cubin(_)));
        assert!(made.log.contains("registers"), "{}", made.log);
        let options = NvrtcOptions {
            intermediate: true,
            ..NvrtcOptions::default()
        };
        let made = nvrtc.compile(PROBE, Arch(90), options).unwrap();
        assert!(matches!(made.image, Image::Ptx(_)));
    }

    #[test]
    fn errors_in_the_source_come_with_their_place() {
        let Some(nvrtc) = nvrtc() else { return };
        const WRONG: &[Source] = &[
            Source {
                name: "main.cu",
                text: "#include \"part.cuh\"\n",
            },
            Source {
                name: "part.cuh",
                text: "int x = nonsense;\n",
            },
        ];
        let error = nvrtc
            .compile(WRONG, Arch(90), NvrtcOptions::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("part.cuh(1)"), "{error}");
        assert!(error.contains("nonsense"), "{error}");
        let none = nvrtc.compile(&[], Arch(90), NvrtcOptions::default());
        assert!(matches!(none, Err(DeviceError::Compile(_))));
    }
}
