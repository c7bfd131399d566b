//! NVRTC, the compiler of device source, as an optional library.
//!
//! cudarc has bindings for NVRTC, but they search only the loader's names, panic if there is no
//! library, and cannot pass headers. Binding ten functions here is less work than working around
//! that.

mod search;

use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::{Duration, Instant};

use batt_engine::device::DeviceError;
use libloading::Library;

pub use search::{Place, Places};

use crate::arch::{Arch, Version};
use crate::source::Source;

/// The most lines of the compiler's log in an error.
const LOG_LINES: usize = 20;

/// The options of the compiler besides the architecture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NvrtcOptions {
    /// Whether to include line numbers for profilers.
    pub line_info: bool,
    /// Whether to log the use of registers and memory.
    pub verbose: bool,
    /// Whether to stop at PTX, the intermediate form. Generating machine code takes nine tenths of
    /// the time.
    pub intermediate: bool,
    /// Whether to compile all functions at once. This needs no linking, but takes five times as
    /// long.
    pub whole: bool,
    /// Whether to unroll loops. The waves keep the planes of grids in registers that way.
    pub unroll: bool,
    /// An option that says which part of a source is compiled; `None` for all of it.
    pub part: Option<&'static str>,
}

impl NvrtcOptions {
    /// Returns the options as words for the compiler.
    pub fn words(self, arch: Arch) -> Vec<String> {
        // Wheels contain no CUDA headers, so the source includes none, and its functions have no
        // device markers. `BATT_ROLLED` is a marker that only changes the cache key: see `rolled`.
        let mut words = vec!["-std=c++17", "-default-device"];
        if !self.unroll {
            words.push("-DBATT_ROLLED");
        }
        if self.line_info {
            words.push("-lineinfo");
        }
        if self.verbose {
            words.push("--ptxas-options=-v");
        }
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        words.extend(self.part.map(str::to_owned));
        words.push(format!("-DWARPS_PER_BLOCK={}", arch.warps_per_block()));
        if !self.whole {
            words.push("-rdc=true".to_owned());
            words.push(format!("--maxrregcount={}", arch.registers()));
        }
        words
    }
}

/// Returns the source with loop unrolling turned off. Unrolling makes the code a fifth larger, and
/// the instruction cache limits the speed of the VM. Unrolling also makes compiling a fifth slower.
fn rolled(text: &str) -> String {
    text.replace("for (", "_Pragma(\"unroll 1\") for (")
}

/// The output of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Image {
    /// Machine code for one architecture.
    Cubin(Vec<u8>),
    /// An intermediate form, which the driver translates to machine code.
    Ptx(Vec<u8>),
}

impl Image {
    /// Returns the code as bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Image::Cubin(bytes) | Image::Ptx(bytes) => bytes,
        }
    }

    /// Returns the kind of the code, `cubin` or `ptx`.
    pub fn kind(&self) -> &'static str {
        match self {
            Image::Cubin(_) => "cubin",
            Image::Ptx(_) => "ptx",
        }
    }
}

/// The result of a compilation.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The code.
    pub image: Image,
    /// The log of the compiler: warnings, and resource use if requested.
    pub log: String,
    /// The time it took.
    pub time: Duration,
}

type Program = *mut c_void;
type Status = c_int;

/// The functions of the library that this crate calls.
struct Api {
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    destroy: unsafe extern "C" fn(*mut Program) -> Status,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status,
    log_size: SizeOf,
    log: Get,
    ptx_size: SizeOf,
    ptx: Get,
    cubin_size: SizeOf,
    cubin: Get,
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
}

type SizeOf = unsafe extern "C" fn(Program, *mut usize) -> Status;
type Get = unsafe extern "C" fn(Program, *mut c_char) -> Status;

/// A loaded NVRTC library.
pub struct Nvrtc {
    api: Api,
    version: Version,
    archs: Vec<Arch>,
    path: PathBuf,
    // Never unloaded: the library starts threads that keep using it.
    _library: ManuallyDrop<Library>,
}

impl Nvrtc {
    /// Loads the first suitable library of all places. A driver accepts code from compilers up to
    /// its own major version, so such a compiler is preferred.
    pub fn find(places: &Places, driver: Option<Version>) -> Result<Nvrtc, DeviceError> {
        let mut failed = Vec::new();
        let mut too_new = None;
        for path in places.candidates() {
            match Nvrtc::load(&path) {
                Ok(found) if driver.is_none_or(|driver| found.version.major <= driver.major) => {
                    return Ok(found);
                }
                Ok(found) => too_new = too_new.or(Some(found)),
                Err(error) => failed.push((path, error)),
            }
        }
        too_new.ok_or_else(|| DeviceError::Compile(missing(places, driver, &failed)))
    }

    /// Loads one library.
    pub fn load(path: &Path) -> Result<Nvrtc, String> {
        // SAFETY: NVRTC's initialisers may run at any time on any thread. Like the system's loader,
        // this trusts that a file of this name is NVRTC.
        let library = unsafe { Library::new(path) }.map_err(|error| reason(&error))?;
        // SAFETY: the library is NVRTC, as its name says.
        let (api, version, archs) = unsafe { symbols(&library) }
            .map_err(|error| format!("not NVRTC 11.2 or later: {error}"))?;
        Ok(Nvrtc {
            api,
            version,
            archs,
            path: path.to_owned(),
            _library: ManuallyDrop::new(library),
        })
    }

    /// Returns the version of CUDA to which the library belongs.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the file of the library; a bare name if the system's loader found it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the architectures for which it makes machine code.
    pub fn archs(&self) -> &[Arch] {
        &self.archs
    }

    /// Compiles the first of the files for an architecture. It can include the other files.
    pub fn compile(
        &self,
        files: &[Source],
        arch: Arch,
        options: NvrtcOptions,
    ) -> Result<Compilation, DeviceError> {
        let Some((main, headers)) = files.split_first() else {
            return Err(DeviceError::Compile(
                "this build of batt has no device source".to_owned(),
            ));
        };
        let (target, is_ptx) = self.target(arch, options.intermediate)?;
        let start = Instant::now();
        let program = self.create(main, headers, options.unroll)?;
        let words: Vec<CString> = options
            .words(arch)
            .iter()
            .map(String::as_str)
            .chain(self.parallel(options).iter().copied())
            .chain([target.as_str()])
            .map(c_string)
            .collect::<Result<_, _>>()?;
        let pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        // SAFETY: the program is alive, and the `words` behind the pointers outlive the call.
        let status =
            unsafe { (self.api.compile)(program.0, pointers.len() as c_int, pointers.as_ptr()) };
        let log = self
            .text(&program, self.api.log_size, self.api.log)
            .map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
            .unwrap_or_default();
        if status != 0 {
            return Err(DeviceError::Compile(format!(
                "NVRTC {} for {arch}: {}\n{}",
                self.version,
                self.words_for(status),
                first_lines(&log)
            )));
        }
        let image = if is_ptx {
            Image::Ptx(self.text(&program, self.api.ptx_size, self.api.ptx)?)
        } else {
            Image::Cubin(self.text(&program, self.api.cubin_size, self.api.cubin)?)
        };
        Ok(Compilation {
            image,
            log,
            time: start.elapsed(),
        })
    }

    /// Returns the options that use all cores, because compiling all at once takes over a minute on
    /// one core. They do not change the result, so they are not part of the cache key. Older
    /// compilers do not know them.
    fn parallel(&self, options: NvrtcOptions) -> &'static [&'static str] {
        let known = Version {
            major: 12,
            minor: 9,
        };
        match self.version >= known && options.part.is_none() {
            true => &["--split-compile=0", "--ptxas-options=--split-compile=0"],
            false => &[],
        }
    }

    /// Returns the option for the target, and whether the output is PTX.
    fn target(&self, arch: Arch, intermediate: bool) -> Result<(String, bool), DeviceError> {
        if self.archs.contains(&arch) {
            return Ok(match intermediate {
                true => (format!("--gpu-architecture=compute_{}", arch.0), true),
                false => (format!("--gpu-architecture={arch}"), false),
            });
        }
        // If the device is newer than the compiler, the driver translates PTX for an older device.
        match self.archs.iter().filter(|&&known| known < arch).max() {
            Some(older) => Ok((format!("--gpu-architecture=compute_{}", older.0), true)),
            None => Err(DeviceError::Compile(format!(
                "NVRTC {} cannot compile for devices as old as {arch}; {}",
                self.version,
                advice(Some(Version {
                    major: 12,
                    minor: 0
                }))
            ))),
        }
    }

    fn create(
        &self,
        main: &Source,
        headers: &[Source],
        unroll: bool,
    ) -> Result<NvrtcProgram<'_>, DeviceError> {
        let text_of = |file: &Source| match unroll {
            true => c_string(file.text),
            false => c_string(&rolled(file.text)),
        };
        let text = text_of(main)?;
        let name = c_string(main.name)?;
        let texts: Vec<CString> = headers.iter().map(text_of).collect::<Result<_, _>>()?;
        let names: Vec<CString> = headers
            .iter()
            .map(|file| c_string(file.name))
            .collect::<Result<_, _>>()?;
        let text_pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let name_pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let mut program: Program = ptr::null_mut();
        // SAFETY: all strings outlive the call, which copies them, and both lists have
        // `headers.len()` entries.
        let status = unsafe {
            (self.api.create)(
                &mut program,
                text.as_ptr(),
                name.as_ptr(),
                headers.len() as c_int,
                text_pointers.as_ptr(),
                name_pointers.as_ptr(),
            )
        };
        self.check(status)?;
        Ok(NvrtcProgram(program, &self.api))
    }

    /// Returns a text of a program. It first asks for the size and then for the bytes.
    fn text(
        &self,
        program: &NvrtcProgram<'_>,
        size_of: SizeOf,
        get: Get,
    ) -> Result<Vec<u8>, DeviceError> {
        let mut size = 0;
        // SAFETY: the program is alive, and `size` is a live integer.
        self.check(unsafe { size_of(program.0, &mut size) })?;
        let mut bytes = vec![0_u8; size];
        // SAFETY: the program is alive, and `bytes` has the size that it reported.
        self.check(unsafe { get(program.0, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }

    fn check(&self, status: Status) -> Result<(), DeviceError> {
        match status {
            0 => Ok(()),
            _ => Err(DeviceError::Compile(format!(
                "NVRTC {}: {}",
                self.version,
                self.words_for(status)
            ))),
        }
    }

    fn words_for(&self, status: Status) -> String {
        // SAFETY: the function accepts every number.
        let words = unsafe { (self.api.error_string)(status) };
        if words.is_null() {
            return format!("error {status}");
        }
        // SAFETY: `nvrtcGetErrorString` returns a static string that ends in zero.
        unsafe { CStr::from_ptr(words) }
            .to_string_lossy()
            .into_owned()
    }
}

/// A program of the compiler, which is destroyed on drop.
struct NvrtcProgram<'a>(Program, &'a Api);

impl Drop for NvrtcProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: `create` of the same library made the program, and only this function destroys
        // it. The status has no consequence here.
        unsafe { (self.1.destroy)(&mut self.0) };
    }
}

/// Looks up all functions, and reads the version and the architectures.
///
/// # Safety
///
/// The library must be NVRTC.
unsafe fn symbols(library: &Library) -> Result<(Api, Version, Vec<Arch>), String> {
    /// # Safety
    ///
    /// `T` must be the type of the function.
    unsafe fn get<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
        // SAFETY: the caller guarantees the type.
        unsafe { library.get::<T>(name) }
            .map(|symbol| *symbol)
            .map_err(|error| reason(&error))
    }
    // SAFETY: each function has its type in nvrtc.h, which has not changed since CUDA 11.2. The
    // pointers passed are to live integers or to a list of `count` integers.
    unsafe {
        let version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status =
            get(library, "nvrtcVersion")?;
        let arch_count: unsafe extern "C" fn(*mut c_int) -> Status =
            get(library, "nvrtcGetNumSupportedArchs")?;
        let arch_list: unsafe extern "C" fn(*mut c_int) -> Status =
            get(library, "nvrtcGetSupportedArchs")?;
        let api = Api {
            create: get(library, "nvrtcCreateProgram")?,
            destroy: get(library, "nvrtcDestroyProgram")?,
            compile: get(library, "nvrtcCompileProgram")?,
            log_size: get(library, "nvrtcGetProgramLogSize")?,
            log: get(library, "nvrtcGetProgramLog")?,
            ptx_size: get(library, "nvrtcGetPTXSize")?,
            ptx: get(library, "nvrtcGetPTX")?,
            cubin_size: get(library, "nvrtcGetCUBINSize")?,
            cubin: get(library, "nvrtcGetCUBIN")?,
            error_string: get(library, "nvrtcGetErrorString")?,
        };
        let (mut major, mut minor, mut count) = (0, 0, 0);
        if version(&mut major, &mut minor) != 0 || arch_count(&mut count) != 0 {
            return Err("it does not report its version".to_owned());
        }
        let mut archs: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        if !archs.is_empty() && arch_list(archs.as_mut_ptr()) != 0 {
            return Err("it does not report its architectures".to_owned());
        }
        let number = |value: c_int| u32::try_from(value).unwrap_or(0);
        let version = Version {
            major: number(major),
            minor: number(minor),
        };
        Ok((
            api,
            version,
            archs.into_iter().map(|arch| Arch(number(arch))).collect(),
        ))
    }
}

/// Returns advice for a missing or unsuitable NVRTC.
pub fn advice(driver: Option<Version>) -> &'static str {
    match driver {
        Some(driver) if driver.major >= 13 => {
            "`pip install nvidia-cuda-nvrtc` (version 13, or nvidia-cuda-nvrtc-cu12), or install the CUDA toolkit, \
             or set BATT_NVRTC to the file libnvrtc.so.13"
        }
        _ => {
            "`pip install nvidia-cuda-nvrtc-cu12`, or install the CUDA toolkit, or set BATT_NVRTC to the file \
             libnvrtc.so.12"
        }
    }
}

fn missing(places: &Places, driver: Option<Version>, failed: &[(PathBuf, String)]) -> String {
    if let (Some(file), Some((_, error))) = (&places.explicit, failed.first()) {
        return format!(
            "BATT_NVRTC is {}, which cannot be loaded: {error}",
            file.display()
        );
    }
    // Names that the loader does not know are expected. Files that do not load are reported.
    let broken: Vec<String> = failed
        .iter()
        .filter(|(path, _)| path.is_absolute())
        .map(|(path, error)| format!("{} cannot be loaded: {error}; ", path.display()))
        .collect();
    format!(
        "NVRTC, the compiler for GPUs, was not found; {}{}",
        broken.concat(),
        advice(driver)
    )
}

/// Returns the loader's own message, which is the source of the error.
fn reason(error: &libloading::Error) -> String {
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

fn c_string(text: &str) -> Result<CString, DeviceError> {
    CString::new(text).map_err(|_| DeviceError::Compile("a zero byte in the source".to_owned()))
}

/// Returns the first lines of a log. Later errors mostly follow from the first.
fn first_lines(log: &str) -> String {
    let mut lines: Vec<&str> = log
        .trim_end_matches('\0')
        .lines()
        .take(LOG_LINES + 1)
        .collect();
    if lines.len() > LOG_LINES {
        lines[LOG_LINES] = "...";
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_comes_with_advice() {
        let error = |driver| {
            Nvrtc::find(&Places::default(), driver)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        assert!(error(None).contains("pip install nvidia-cuda-nvrtc-cu12"));
        let thirteen = Some(Version {
            major: 13,
            minor: 0,
        });
        assert!(error(thirteen).contains("libnvrtc.so.13"));
        assert!(error(thirteen).contains("BATT_NVRTC"));
    }

    #[test]
    fn a_file_that_is_not_a_library_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let places = Places {
            explicit: Some(file.path().to_owned()),
            ..Places::default()
        };
        let error = Nvrtc::find(&places, None).err().unwrap().to_string();
        assert!(error.contains("BATT_NVRTC is"), "{error}");
        assert!(error.contains("cannot be loaded"), "{error}");
    }

    #[test]
    fn long_logs_are_cut() {
        let log = "line\n".repeat(100);
        assert_eq!(first_lines(&log).lines().count(), LOG_LINES + 1);
        assert!(first_lines(&log).ends_with("..."));
        assert_eq!(first_lines("one\ntwo\0"), "one\ntwo");
    }
}
