//! The folder of the original system, read without believing anything in it.
//!
//! ```text
//!   solver_dir/solve_<task>/<score>/<time>/<md5>.py   links, to where the files were on another machine
//!   solver_md5/<md5>.py                               the files
//! ```
//!
//! Links say which solver is for which task, by their names; they are not followed, and neither are links to folders.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_arc::Dataset;
use batt_dsl::Dialect;
use batt_lang::card::canonical;
use batt_lang::{Program, SolverFile};

use super::Candidate;
use crate::error::{advised, bad_file};
use crate::ui::{Ui, counted};

/// The original deletes solvers above 10 KiB; nothing here is larger by right.
const LARGEST: u64 = 256 << 10;

/// What was left out, and why.
#[derive(Default)]
struct Left {
    names: usize,
    missing: usize,
    unreadable: usize,
    tasks: BTreeSet<String>,
}

/// The solvers of the folder, and whether all could be taken.
pub fn candidates<'d>(
    folder: &Path,
    data: &'d Dataset,
    ui: &Ui,
) -> Result<(Vec<Candidate<'d>>, bool)> {
    let links = folder.join("solver_dir");
    if !is_folder(&links) {
        return Err(advised(
            format_args!("{} has no folder solver_dir", folder.display()),
            "name the folder in which the original system ran",
        ));
    }
    let mut left = Left::default();
    let mut programs: HashMap<PathBuf, Option<Program>> = HashMap::new();
    let mut candidates = Vec::new();
    for task_folder in entries(&links)? {
        let Some(id) = name(&task_folder).and_then(|name| name.strip_prefix("solve_")) else {
            left.names += 1;
            continue;
        };
        let Some(task) = data.get(id) else {
            left.tasks.insert(id.to_owned());
            continue;
        };
        // A solver may stand under several scores and times.
        let mut md5s: BTreeSet<String> = BTreeSet::new();
        let mut files: HashMap<String, PathBuf> = HashMap::new();
        for score in numbered(&task_folder, &mut left)? {
            for time in numbered(&score, &mut left)? {
                for link in entries(&time)? {
                    let Some(md5) = name(&link).and_then(md5) else {
                        left.names += 1;
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
            // A copy of the folder may have files in place of the links.
            let stored = folder.join("solver_md5").join(format!("{md5}.py"));
            let file = match is_folder(&folder.join("solver_md5")) && is_file(&stored) {
                true => Some(stored),
                false => files.remove(&md5),
            };
            let Some(file) = file else {
                left.missing += 1;
                continue;
            };
            let program = programs.entry(file).or_insert_with_key(|file| read(file));
            match program {
                Some(program) => candidates.push(Candidate {
                    program: program.clone(),
                    task,
                    origin: format!("original {md5}"),
                }),
                None => left.unreadable += 1,
            }
        }
    }
    left.say(ui);
    if candidates.is_empty() {
        return Err(advised(
            format_args!(
                "{} has no solver for these {}",
                folder.display(),
                counted(data.len(), "task")
            ),
            "check that the tasks are those the solvers were made for, and that solver_md5 is there",
        ));
    }
    Ok((candidates, left.is_clean()))
}

impl Left {
    fn is_clean(&self) -> bool {
        self.missing + self.unreadable == 0
    }

    fn say(&self, ui: &Ui) {
        if !self.tasks.is_empty() {
            let first: Vec<&str> = self.tasks.iter().take(5).map(String::as_str).collect();
            ui.note(format_args!(
                "{} not among these tasks: {}",
                counted(self.tasks.len(), "task"),
                first.join(", ")
            ));
        }
        if self.names > 0 {
            ui.note(format_args!(
                "{} that the original does not make",
                counted(self.names, "name")
            ));
        }
        if self.missing > 0 {
            ui.warn(format_args!(
                "{} without a file in solver_md5",
                counted(self.missing, "link")
            ));
        }
        if self.unreadable > 0 {
            ui.warn(format_args!(
                "{} left out: not one function of (S, I, C) in tokpidjin",
                counted(self.unreadable, "file")
            ));
        }
    }
}

/// What a folder holds, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let mut paths = fs::read_dir(folder)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    read().map_err(|error| bad_file("read", folder, &error))
}

/// The folders in a folder that are called by a number.
fn numbered(folder: &Path, left: &mut Left) -> Result<Vec<PathBuf>> {
    if !is_folder(folder) {
        left.names += 1;
        return Ok(Vec::new());
    }
    let mut folders = entries(folder)?;
    folders.retain(|path| {
        // Times of very slow runs are below zero.
        let number = name(path).is_some_and(|name| name.parse::<i32>().is_ok());
        let fits = number && is_folder(path);
        left.names += usize::from(!fits);
        fits
    });
    Ok(folders)
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The hash in `<md5>.py`.
fn md5(name: &str) -> Option<&str> {
    let hash = name.strip_suffix(".py")?;
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (hash.len() == 32 && hash.bytes().all(digit)).then_some(hash)
}

/// Is it a folder, and not a link to one?
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.is_dir())
}

/// Is it a file, and not a link to one?
fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.is_file())
}

/// The solver in a file, in canonical form.
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
