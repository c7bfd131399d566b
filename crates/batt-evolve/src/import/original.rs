//! Reads the folder of the original system. Its names and links are not trusted.
//!
//! ```text
//!   solver_dir/solve_<task>/<score>/<time>/<md5>.py   links to the files of another machine
//!   solver_md5/<md5>.py                               the files
//! ```
//!
//! The names of the links tell which solver belongs to which task. No link is followed.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use batt_arc::Dataset;
use batt_dsl::Dialect;
use batt_lang::card::canonical;
use batt_lang::{Program, SolverFile};

use super::ImportCandidate;

/// The most bytes of a solver file. The original deletes solvers above 10 KiB, so valid files are
/// smaller.
const LARGEST: u64 = 256 << 10;

/// An error while reading the folder of the original system.
#[derive(Debug, thiserror::Error)]
pub enum OriginalError {
    /// The folder is not that of the original system.
    #[error("{} has no folder solver_dir", .0.display())]
    NoSolverDir(PathBuf),
    /// A folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// Counts of skipped entries in the folder of the original system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginalSkips {
    /// Names that the original does not use.
    pub names: usize,
    /// Links without a file.
    pub missing: usize,
    /// Files that are not one function of `(S, I, C)` in tokpidjin.
    pub unreadable: usize,
    /// Tasks that are not in the dataset.
    pub tasks: BTreeSet<String>,
}

impl OriginalSkips {
    /// Returns whether every solver of the tasks could be read.
    pub fn is_complete(&self) -> bool {
        self.missing + self.unreadable == 0
    }
}

/// Reads the solvers in the folder whose tasks are in a dataset.
pub fn read_original(
    folder: &Path,
    data: &Dataset,
) -> Result<(Vec<ImportCandidate>, OriginalSkips), OriginalError> {
    let links = folder.join("solver_dir");
    if !is_folder(&links) {
        return Err(OriginalError::NoSolverDir(folder.to_owned()));
    }
    let mut skips = OriginalSkips::default();
    let mut programs: HashMap<PathBuf, Option<Program>> = HashMap::new();
    let mut candidates = Vec::new();
    for task_folder in entries(&links)? {
        let Some(id) = name(&task_folder).and_then(|name| name.strip_prefix("solve_")) else {
            skips.names += 1;
            continue;
        };
        let Some(task) = data.position(id) else {
            skips.tasks.insert(id.to_owned());
            continue;
        };
        // A solver may be listed under several scores and times.
        let mut md5s: BTreeSet<String> = BTreeSet::new();
        let mut files: HashMap<String, PathBuf> = HashMap::new();
        for score in numbered(&task_folder, &mut skips)? {
            for time in numbered(&score, &mut skips)? {
                for link in entries(&time)? {
                    let Some(md5) = name(&link).and_then(md5) else {
                        skips.names += 1;
                        continue;
                    };
                    if is_file(&link) {
                        files.insert(md5.to_owned(), link.clone());
                    }
                    md5s.insert(md5.to_owned());
                }
            }
        }
        for md5 in md5s {
            // A copy of the folder may contain files in place of the links.
            let stored = folder.join("solver_md5").join(format!("{md5}.py"));
            let file = match is_folder(&folder.join("solver_md5")) && is_file(&stored) {
                true => Some(stored),
                false => files.remove(&md5),
            };
            let Some(file) = file else {
                skips.missing += 1;
                continue;
            };
            let program = programs.entry(file).or_insert_with_key(|file| read(file));
            match program {
                Some(program) => candidates.push(ImportCandidate {
                    program: program.clone(),
                    task,
                    origin: format!("original {md5}"),
                }),
                None => skips.unreadable += 1,
            }
        }
    }
    Ok((candidates, skips))
}

/// Returns the paths in a folder, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, OriginalError> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let mut paths = fs::read_dir(folder)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    read().map_err(|source| OriginalError::Read {
        path: folder.to_owned(),
        source,
    })
}

/// Returns the folders in a folder whose names are numbers.
fn numbered(folder: &Path, skips: &mut OriginalSkips) -> Result<Vec<PathBuf>, OriginalError> {
    if !is_folder(folder) {
        skips.names += 1;
        return Ok(Vec::new());
    }
    let mut folders = entries(folder)?;
    folders.retain(|path| {
        // The original uses negative times for very slow runs.
        let number = name(path).is_some_and(|name| name.parse::<i32>().is_ok());
        let fits = number && is_folder(path);
        skips.names += usize::from(!fits);
        fits
    });
    Ok(folders)
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// Returns the hash in `<md5>.py`.
fn md5(name: &str) -> Option<&str> {
    let hash = name.strip_suffix(".py")?;
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (hash.len() == 32 && hash.bytes().all(digit)).then_some(hash)
}

/// Returns whether a path is a folder and not a link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.is_dir())
}

/// Returns whether a path is a file and not a link to one.
fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.is_file())
}

/// Reads the solver in a file, in canonical form.
fn read(path: &Path) -> Option<Program> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > LARGEST {
        return None;
    }
    let name = path.to_string_lossy();
    let file = SolverFile::parse_bytes(&bytes, &name, Some(Dialect::Tokpidjin)).ok()?;
    match file.programs.as_slice() {
        [only] if file.is_clean() => canonical(only).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let hash = "0123456789abcdef0123456789abcdef";
        assert_eq!(md5(&format!("{hash}.py")), Some(hash));
        for bad in [
            "",
            ".py",
            "x.py",
            hash,
            &format!("../{hash}.py"),
            &format!("{hash}0.py"),
        ] {
            assert_eq!(md5(bad), None, "{bad}");
        }
    }
}
