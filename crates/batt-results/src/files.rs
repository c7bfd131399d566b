//! Atomic writing of files.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::ResultsError;

/// A complete file under a temporary name beside its target. [`put`](Staged::put) renames it to the
/// target; dropping it removes it.
#[derive(Debug)]
pub struct Staged {
    temporary: PathBuf,
    target: PathBuf,
}

/// Writes some content to a temporary file beside its target, so that a full disk or a crash leaves the
/// target unchanged.
pub fn stage(target: &Path, content: &(impl AsRef<[u8]> + ?Sized)) -> Result<Staged, ResultsError> {
    // Renaming onto a link or a device would replace the link or the device itself.
    let place = match fs::metadata(target) {
        Ok(there) if there.is_file() => fs::canonicalize(target).unwrap_or(target.to_owned()),
        Ok(there) if there.is_dir() => {
            let error = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(ResultsError::file("write", target, error));
        }
        Ok(_) => {
            let path = target.to_owned();
            return Err(ResultsError::NotAFile { path });
        }
        Err(_) => target.to_owned(),
    };
    let mut name = OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let staged = Staged {
        temporary: place.with_file_name(name),
        target: place,
    };
    let written = staged.write(content.as_ref());
    written.map_err(|error| ResultsError::file("write", target, error))?;
    Ok(staged)
}

impl Staged {
    fn write(&self, content: &[u8]) -> io::Result<()> {
        let mut file = File::create(&self.temporary)?;
        file.write_all(content)?;
        if let Ok(there) = fs::metadata(&self.target) {
            file.set_permissions(there.permissions())?;
        }
        file.sync_all()
    }

    /// Renames the file to its target.
    pub fn put(self) -> Result<(), ResultsError> {
        let put = fs::rename(&self.temporary, &self.target);
        put.map_err(|error| ResultsError::file("write", &self.target, error))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After `put` the temporary file is gone, so an error here is expected.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Writes a file, or replaces it, atomically.
pub fn replace(target: &Path, content: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), ResultsError> {
    stage(target, content)?.put()
}

/// Refuses a target that is one of the input files, so that a typing error does not destroy an
/// input.
pub fn check_not_read<'p>(
    target: &Path,
    read: impl IntoIterator<Item = &'p Path>,
) -> Result<(), ResultsError> {
    let Ok(place) = fs::canonicalize(target) else {
        return Ok(());
    };
    let same = |path: &Path| fs::canonicalize(path).is_ok_and(|path| path == place);
    match read.into_iter().any(same) {
        true => Err(ResultsError::IsAnInput {
            path: target.to_owned(),
        }),
        false => Ok(()),
    }
}

/// Returns whether results are written to a file as Parquet.
pub(crate) fn is_parquet(target: &Path) -> bool {
    let extension = target.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Returns the path of the final file. Refuses a target that cannot become a file now, not after
/// hours of work.
pub(crate) fn resolve(target: &Path) -> Result<PathBuf, ResultsError> {
    let there = fs::metadata(target);
    let bytes = target.as_os_str().as_encoded_bytes();
    if bytes.ends_with(b"/") || there.as_ref().is_ok_and(fs::Metadata::is_dir) {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(ResultsError::file("write", target, error));
    }
    match there {
        Ok(there) if !there.is_file() => Err(ResultsError::NotAFile {
            path: target.to_owned(),
        }),
        // The results replace the file that the link points to, not the link.
        Ok(_) if target.is_symlink() => {
            let place = fs::canonicalize(target);
            place.map_err(|error| ResultsError::file("write", target, error))
        }
        Ok(_) => Ok(target.to_owned()),
        Err(error) => {
            let folder = target.parent().filter(|p| !p.as_os_str().is_empty());
            let found = folder.is_none_or(Path::is_dir);
            if error.kind() == io::ErrorKind::NotFound && found {
                return Ok(target.to_owned());
            }
            Err(ResultsError::file("write", target, error))
        }
    }
}

/// Locks the file, so that no two processes write to it.
pub(crate) fn lock(file: &File, part: &Path) -> Result<(), ResultsError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(ResultsError::Busy {
            path: part.to_owned(),
        }),
        // Some file systems have no locks. Runs still work there, but without this protection.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// A file that is removed on drop. After a rename the removal has no effect.
#[derive(Debug)]
pub(crate) struct Temporary(pub PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Appends a suffix to the name of a file.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
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

    #[test]
    fn an_input_file_is_not_a_target() {
        let folder = tempfile::tempdir().unwrap();
        let (input, other) = (folder.path().join("a.py"), folder.path().join("b.py"));
        fs::write(&input, "text").unwrap();
        let again = folder.path().join("../").join(&input);
        assert!(check_not_read(&again, [input.as_path()]).is_err());
        assert!(check_not_read(&other, [input.as_path()]).is_ok());
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
