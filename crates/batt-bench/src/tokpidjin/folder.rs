//! A temporary folder, gone when it is dropped.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use anyhow::Result;

use crate::error::bad_file;

/// The folder.
pub struct Folder(PathBuf);

impl Folder {
    /// A new folder that nobody else has.
    pub fn new() -> Result<Folder> {
        for attempt in 0.. {
            let path = env::temp_dir().join(format!("batt-bench-{}-{attempt}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(bad_file("make", &path, &error)),
            }
        }
        unreachable!("there are numbers enough")
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(|error| bad_file("write", &path, &error))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is the system's to clean up.
        let _ = fs::remove_dir_all(&self.0);
    }
}
