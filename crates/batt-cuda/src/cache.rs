//! The cache of compiled kernels on disk. Only the first start on a machine waits for the compiler.
//!
//! An entry is one file, `vm-sm_90-<fingerprint>-12.9.kernel`. The name has the architecture, a
//! fingerprint of source and options, and the version of the compiler. A line of text gives the
//! kind and the checksum of the code that follows. Entries are written under a temporary name and
//! renamed, so a reader sees a whole entry or none, even with concurrent writers.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use siphasher::sip128::{Hasher128, SipHasher13};

use crate::arch::{Arch, Version};
use crate::nvrtc::{Image, NvrtcOptions};
use crate::source::Source;

/// The first word of an entry. The number changes when the layout does.
const MAGIC: &str = "batt-kernel-1";
/// The ending of entries' names.
const ENTRY: &str = ".kernel";
/// The ending of unfinished files' names.
const UNFINISHED: &str = ".unfinished";

/// A folder of compiled kernels, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// The identity of a kernel: its architecture, source and options, but not the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    arch: Arch,
    fingerprint: u128,
}

impl Key {
    /// Makes the key of a kernel.
    pub fn new(files: &[Source], options: NvrtcOptions, arch: Arch) -> Key {
        let mut hasher = SipHasher13::new();
        let mut part = |text: &str| {
            // Lengths separate the parts: "ab", "c" is not "a", "bc".
            hasher.write_u64(text.len() as u64);
            hasher.write(text.as_bytes());
        };
        for file in files {
            part(file.name);
            part(file.text);
        }
        for word in options.words(arch) {
            part(&word);
        }
        part(&arch.to_string());
        Key {
            arch,
            fingerprint: hasher.finish128().as_u128(),
        }
    }

    /// Returns the beginning of the names of this key's entries.
    fn prefix(self) -> String {
        format!("vm-{}-{:032x}-", self.arch, self.fingerprint)
    }

    fn name(self, compiler: Version) -> String {
        format!("{}{compiler}{ENTRY}", self.prefix())
    }
}

/// A damaged entry.
#[derive(Debug, PartialEq, Eq)]
struct Corrupt;

/// The content of the folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The number of entries.
    pub entries: usize,
    /// Their total size.
    pub bytes: u64,
}

impl Cache {
    /// Returns the cache in the folder `BATT_CACHE_DIR`, otherwise in `batt` in `XDG_CACHE_HOME` or
    /// in `~/.cache`.
    pub fn from_env() -> Cache {
        Cache::from_variables(|name| env::var_os(name))
    }

    /// Returns the cache as [`from_env`](Cache::from_env) does, for the given variables.
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Cache {
        let set = |name| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let folder = set("BATT_CACHE_DIR")
            .or_else(|| set("XDG_CACHE_HOME").map(|base| base.join("batt")))
            .or_else(|| set("HOME").map(|home| home.join(".cache").join("batt")));
        Cache { folder }
    }

    /// Returns a cache in the given folder.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            folder: Some(folder.into()),
        }
    }

    /// Returns a cache that stores nothing.
    pub fn none() -> Cache {
        Cache::default()
    }

    /// Returns the folder, which need not exist.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Finds the kernel for a key, made by the given compiler or, for `None`, by any. Deletes
    /// damaged entries, with a note.
    pub fn find(
        &self,
        key: Key,
        compiler: Option<Version>,
        notes: &mut Vec<String>,
    ) -> Option<(Image, PathBuf)> {
        let folder = self.folder()?;
        let mut names = match compiler {
            Some(compiler) => vec![key.name(compiler)],
            None => self.names(|name| name.starts_with(&key.prefix()) && name.ends_with(ENTRY)),
        };
        // If any compiler will do, the last name in sorted order makes the choice deterministic.
        names.sort();
        for name in names.into_iter().rev() {
            let path = folder.join(&name);
            let Ok(bytes) = fs::read(&path) else {
                continue;
            };
            match decode(&name, &bytes) {
                Ok(image) => return Some((image, path)),
                Err(Corrupt) => {
                    notes.push(format!(
                        "the compiled kernel {} was damaged; it is compiled again",
                        path.display()
                    ));
                    self.discard(&path);
                }
            }
        }
        None
    }

    /// Stores a kernel. A failure only adds a note: the next start compiles again.
    pub fn store(&self, key: Key, compiler: Version, image: &Image, notes: &mut Vec<String>) {
        let Some(folder) = self.folder() else {
            notes.push(
                "compiled kernels are not cached: none of BATT_CACHE_DIR, XDG_CACHE_HOME and HOME is set"
                    .to_owned(),
            );
            return;
        };
        let name = key.name(compiler);
        if let Err(error) = write(folder, &name, &encode(&name, image)) {
            notes.push(format!(
                "compiled kernels cannot be cached in {} ({error}); set BATT_CACHE_DIR to a folder that can be written",
                folder.display()
            ));
        }
    }

    /// Deletes an unusable entry.
    pub fn discard(&self, entry: &Path) {
        // Another process may have deleted it, or the folder may be read-only. The entry is not
        // used in either case.
        let _ = fs::remove_file(entry);
    }

    /// Returns the number and size of the entries.
    pub fn contents(&self) -> Contents {
        let mut contents = Contents::default();
        for name in self.names(|name| name.ends_with(ENTRY)) {
            let size = self
                .folder()
                .and_then(|folder| fs::metadata(folder.join(name)).ok())
                .map_or(0, |found| found.len());
            contents.entries += 1;
            contents.bytes += size;
        }
        contents
    }

    /// Deletes all entries and unfinished files. Returns the deleted entries.
    pub fn clear(&self) -> io::Result<Contents> {
        let contents = self.contents();
        if let Some(folder) = self.folder() {
            for name in self.names(|name| name.ends_with(ENTRY) || name.ends_with(UNFINISHED)) {
                match fs::remove_file(folder.join(name)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(contents)
    }

    /// Returns the names of this cache's files in the folder.
    fn names(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        self.folder()
            .and_then(|folder| fs::read_dir(folder).ok())
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with("vm-") && wanted(name))
            .collect()
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    fs::create_dir_all(folder)?;
    let number = WRITES.fetch_add(1, Ordering::Relaxed);
    let unfinished = folder.join(format!("{name}.{}-{number}{UNFINISHED}", process::id()));
    let result =
        fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, folder.join(name)));
    if result.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    result
}

/// Returns the checksum of an entry. It includes the name, so a renamed entry counts as damaged.
fn checksum(name: &str, kind: &str, bytes: &[u8]) -> String {
    let mut hasher = SipHasher13::new();
    for part in [name.as_bytes(), kind.as_bytes(), bytes] {
        hasher.write_u64(part.len() as u64);
        hasher.write(part);
    }
    format!("{:032x}", hasher.finish128().as_u128())
}

fn encode(name: &str, image: &Image) -> Vec<u8> {
    let (kind, bytes) = (image.kind(), image.bytes());
    let mut entry = format!("{MAGIC} {kind} {}\n", checksum(name, kind, bytes)).into_bytes();
    entry.extend_from_slice(bytes);
    entry
}

fn decode(name: &str, entry: &[u8]) -> Result<Image, Corrupt> {
    let end = entry.iter().position(|&b| b == b'\n').ok_or(Corrupt)?;
    let head = std::str::from_utf8(&entry[..end]).map_err(|_| Corrupt)?;
    let bytes = &entry[end + 1..];
    let words: Vec<&str> = head.split(' ').collect();
    let [MAGIC, kind, sum] = words[..] else {
        return Err(Corrupt);
    };
    if sum != checksum(name, kind, bytes) {
        return Err(Corrupt);
    }
    match kind {
        "cubin" => Ok(Image::Cubin(bytes.to_vec())),
        "ptx" => Ok(Image::Ptx(bytes.to_vec())),
        _ => Err(Corrupt),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tempfile::TempDir;

    use super::*;

    const FILES: &[Source] = &[Source {
        name: "vm.cu",
        text: "text",
    }];
    const COMPILER: Version = Version {
        major: 12,
        minor: 9,
    };

    fn key() -> Key {
        Key::new(FILES, NvrtcOptions::default(), Arch(90))
    }

    fn image(byte: u8) -> Image {
        Image::Cubin(vec![byte; 10_000])
    }

    #[test]
    fn the_folder_follows_the_environment() {
        let with = |set: &[(&str, &str)]| {
            let cache = Cache::from_variables(|name| {
                let found = set.iter().find(|(n, _)| *n == name);
                found.map(|(_, value)| value.into())
            });
            cache.folder().map(|folder| folder.display().to_string())
        };
        let home = ("HOME", "/h");
        let xdg = ("XDG_CACHE_HOME", "/x");
        assert_eq!(
            with(&[home, xdg, ("BATT_CACHE_DIR", "/b")]).as_deref(),
            Some("/b")
        );
        assert_eq!(
            with(&[home, xdg, ("BATT_CACHE_DIR", "")]).as_deref(),
            Some("/x/batt")
        );
        assert_eq!(with(&[home]).as_deref(), Some("/h/.cache/batt"));
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn source_options_and_architecture_change_the_key() {
        let line_info = NvrtcOptions {
            line_info: true,
            ..NvrtcOptions::default()
        };
        let other: &[Source] = &[Source {
            name: "vm.cut",
            text: "ext",
        }];
        assert_ne!(key(), Key::new(FILES, line_info, Arch(90)));
        assert_ne!(key(), Key::new(FILES, NvrtcOptions::default(), Arch(80)));
        assert_ne!(key(), Key::new(other, NvrtcOptions::default(), Arch(90)));
        assert_eq!(key(), Key::new(FILES, NvrtcOptions::default(), Arch(90)));
    }

    #[test]
    fn stored_kernels_are_found() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(folder.path().join("deep").join("er"));
        let mut notes = Vec::new();
        assert_eq!(cache.find(key(), Some(COMPILER), &mut notes), None);
        cache.store(key(), COMPILER, &image(1), &mut notes);
        let found = |compiler| {
            cache
                .find(key(), compiler, &mut Vec::new())
                .map(|(image, _)| image)
        };
        assert_eq!(found(Some(COMPILER)), Some(image(1)));
        // Each compiler has its own entry. Without a compiler, any entry will do.
        let other = Version {
            major: 13,
            minor: 0,
        };
        assert_eq!(found(Some(other)), None);
        assert_eq!(found(None), Some(image(1)));
        assert_eq!(notes, Vec::<String>::new());
        assert_eq!(cache.contents().entries, 1);
        assert!(cache.contents().bytes > 10_000);
        assert_eq!(cache.clear().unwrap().entries, 1);
        assert_eq!(cache.contents(), Contents::default());
    }

    #[test]
    fn a_damaged_entry_is_noticed_and_deleted() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(folder.path());
        let name = key().name(COMPILER);
        let whole = encode(&name, &image(7));
        let mut flipped = whole.clone();
        flipped[500] ^= 1;
        let mut longer = whole.clone();
        longer.push(0);
        let renamed = encode("vm-sm_90-another-12.9.kernel", &image(7));
        let bad: [&[u8]; 6] = [
            &flipped,
            &longer,
            &whole[..whole.len() - 1],
            &whole[..20],
            b"",
            &renamed,
        ];
        for bytes in bad {
            fs::write(folder.path().join(&name), bytes).unwrap();
            let mut notes = Vec::new();
            assert_eq!(cache.find(key(), None, &mut notes), None);
            assert_eq!(notes.len(), 1, "{notes:?}");
            assert!(notes[0].contains("damaged"));
            assert_eq!(cache.contents().entries, 0);
        }
    }

    #[test]
    fn writers_do_not_disturb_each_other() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(folder.path());
        thread::scope(|scope| {
            for byte in 0..4 {
                let cache = &cache;
                scope.spawn(move || {
                    let mut notes = Vec::new();
                    for _ in 0..50 {
                        cache.store(key(), COMPILER, &image(byte), &mut notes);
                        // The entry is complete, whichever thread wrote it.
                        let found = cache.find(key(), Some(COMPILER), &mut notes);
                        assert!(found.is_some());
                    }
                    assert_eq!(notes, Vec::<String>::new());
                });
            }
        });
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_a_note() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for cache in [Cache::at(file.path()), Cache::at(file.path().join("sub"))] {
            let mut notes = Vec::new();
            cache.store(key(), COMPILER, &image(1), &mut notes);
            assert_eq!(notes.len(), 1);
            assert!(notes[0].contains("BATT_CACHE_DIR"), "{notes:?}");
            assert_eq!(cache.find(key(), None, &mut notes), None);
            assert_eq!(notes.len(), 1);
        }
        let mut notes = Vec::new();
        Cache::none().store(key(), COMPILER, &image(1), &mut notes);
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn clearing_deletes_unfinished_files() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(folder.path());
        fs::write(
            folder.path().join("vm-sm_90-x-12.9.kernel.1-0.unfinished"),
            "",
        )
        .unwrap();
        fs::write(folder.path().join("something-else"), "").unwrap();
        cache.clear().unwrap();
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
