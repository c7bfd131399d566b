//! Files that are written as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::error::{advised, bad_file};

/// A file under another name beside its place, until it is put there. Dropped, it is gone.
pub struct Staged {
    beside: PathBuf,
    target: PathBuf,
}

/// Writes a text beside the place it is for. A full disk or a crash must not eat what is there.
pub fn stage(target: &Path, text: &str) -> Result<Staged> {
    // What is renamed onto a link or a device would take its place.
    let place = match fs::metadata(target) {
        Ok(there) if there.is_file() => fs::canonicalize(target).unwrap_or(target.to_owned()),
        Ok(there) if there.is_dir() => {
            let error = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(bad_file("write", target, &error));
        }
        Ok(_) => {
            return Err(advised(
                format_args!("cannot write {}: it is not a file", target.display()),
                "name a file, or - for stdout",
            ));
        }
        Err(_) => target.to_owned(),
    };
    let mut name = std::ffi::OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let staged = Staged {
        beside: place.with_file_name(name),
        target: place,
    };
    let written = staged.write(text);
    written.map_err(|error| bad_file("write", target, &error))?;
    Ok(staged)
}

impl Staged {
    fn write(&self, text: &str) -> io::Result<()> {
        let mut file = File::create(&self.beside)?;
        file.write_all(text.as_bytes())?;
        if let Ok(there) = fs::metadata(&self.target) {
            file.set_permissions(there.permissions())?;
        }
        file.sync_all()
    }

    /// Puts the file in its place.
    pub fn put(self) -> Result<()> {
        let put = fs::rename(&self.beside, &self.target);
        put.map_err(|error| bad_file("write", &self.target, &error))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Once it is in its place there is nothing left to remove.
        let _ = fs::remove_file(&self.beside);
    }
}

/// Keeps a slip of the hand from costing a file: what is read is not replaced.
pub fn check_not_read<'p>(target: &Path, read: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    let Ok(place) = fs::canonicalize(target) else {
        return Ok(());
    };
    let same = |path: &Path| fs::canonicalize(path).is_ok_and(|path| path == place);
    if read.into_iter().any(same) {
        return Err(advised(
            format_args!(
                "cannot write {}: it is one of the files to read",
                target.display()
            ),
            "choose another name",
        ));
    }
    Ok(())
}

/// Writes a file, in the place of one that may be there.
pub fn replace(target: &Path, text: &str) -> Result<()> {
    stage(target, text)?.put()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_stays_until_the_new_one_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.py");
        replace(&target, "old").unwrap();
        let staged = stage(&target, "new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        drop(staged);
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        replace(&target, "new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn folders_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let error = replace(folder.path(), "text").unwrap_err();
        assert!(error.to_string().contains("cannot write"), "{error}");
        assert!(folder.path().is_dir());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("a.py"), folder.path().join("b.py"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        replace(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        let error = replace(Path::new("/dev/null"), "text").err();
        assert!(error.is_some_and(|e| e.to_string().contains("not a file")));
    }
}
