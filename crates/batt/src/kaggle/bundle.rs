//! A folder for upload to Kaggle: the program, a notebook and metadata.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{ProgramNeeds, notebook};
use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::files::replace;

/// The placeholder for the name of the user, in metadata that names none.
pub const NO_KAGGLE_USER: &str = "YOUR-KAGGLE-NAME";

/// A request to make a folder for upload to Kaggle: `dataset/` with the program, `kernel/` with a
/// notebook that evolves and submits, and a README.
#[derive(Clone, Debug)]
pub struct KaggleBundle {
    /// The program `batt` to pack.
    pub program: PathBuf,
    /// An archive to start with.
    pub archive: Option<PathBuf>,
    /// Solver files to start with.
    pub solvers: Vec<PathBuf>,
    /// The user's name on Kaggle; `None` writes [`NO_KAGGLE_USER`].
    pub user: Option<String>,
    /// The name of the notebook; the dataset is called `<name>-program`.
    pub name: String,
    /// The competition, as in its web address.
    pub competition: String,
    /// The machine, such as `NvidiaTeslaT4`.
    pub accelerator: String,
    /// How long the notebook runs in all.
    pub time: Duration,
    /// How long the notebook runs on a commit, when the tasks are placeholders.
    pub trial: Duration,
}

impl KaggleBundle {
    /// Creates the folder, which must be new or empty, and returns what the program needs. All
    /// inputs are checked before anything is written.
    pub fn write(&self, folder: &Path) -> Result<ProgramNeeds> {
        let program = fs::read(&self.program);
        let program = program.map_err(|error| Error::file("read", &self.program, error))?;
        check_empty(folder)?;
        if let Some(archive) = &self.archive {
            check_archive(archive)?;
        }
        let folder = Folder::new(folder)?;
        folder.program(&self.program)?;
        if let Some(archive) = &self.archive {
            folder.copy(archive, "dataset/seed.sqlite")?;
        }
        for (name, path) in flat_names(&self.solvers) {
            folder.copy(path, &Path::new("dataset").join(name).to_string_lossy())?;
        }
        let script = notebook::script(&json!({
            "competition": self.competition,
            "seconds": self.time.as_secs(),
            "trial_seconds": self.trial.as_secs(),
            "device": "auto",
        }));
        folder.json("kernel/batt.ipynb", &notebook::notebook(&script))?;
        folder.write("kernel/batt.py", &script)?;
        folder.json("kernel/kernel-metadata.json", &self.kernel_metadata())?;
        folder.json("dataset/dataset-metadata.json", &self.dataset_metadata())?;
        folder.write("README.md", &self.readme())?;
        Ok(ProgramNeeds::of(&program))
    }

    fn user(&self) -> &str {
        self.user.as_deref().unwrap_or(NO_KAGGLE_USER)
    }

    fn kernel_metadata(&self) -> Json {
        let (user, name) = (self.user(), &self.name);
        json!({
            "id": format!("{user}/{name}"),
            // Kaggle derives the address from the title, and the two must match.
            "title": name,
            "code_file": "batt.ipynb",
            "language": "python",
            "kernel_type": "notebook",
            "is_private": true,
            "enable_gpu": true,
            "enable_tpu": false,
            "enable_internet": false,
            "machine_shape": self.accelerator,
            "dataset_sources": [format!("{user}/{name}-program")],
            "competition_sources": [self.competition],
            "kernel_sources": [],
            "model_sources": [],
        })
    }

    fn dataset_metadata(&self) -> Json {
        let (user, name) = (self.user(), &self.name);
        json!({
            "id": format!("{user}/{name}-program"),
            "title": format!("{name}-program"),
            "licenses": [{"name": "other"}],
        })
    }

    fn readme(&self) -> String {
        let note = match self.user {
            None => format!(
                "**First** replace `{NO_KAGGLE_USER}` by your Kaggle name in both metadata files.\n\n"
            ),
            Some(_) => String::new(),
        };
        include_str!("bundle-readme.md")
            .replace("{user_note}", &note)
            .replace("{competition}", &self.competition)
            .replace("{time}", &words(self.time))
            .replace("{trial}", &words(self.trial))
    }
}

/// Refuses a folder that contains files, because they would be uploaded as well.
fn check_empty(folder: &Path) -> Result<()> {
    match fs::read_dir(folder).map(|mut entries| entries.next()) {
        Ok(Some(_)) => Err(Error::request(
            format_args!("{} is not empty", folder.display()),
            "name a new folder, or remove this one first",
        )),
        Ok(None) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::file("write", folder, error)),
    }
}

/// Refuses a file that is not an archive, and an archive whose last saves are still in the log
/// beside it.
fn check_archive(path: &Path) -> Result<()> {
    Archive::open_existing(path)?;
    let mut log = OsString::from(path);
    log.push("-wal");
    match fs::metadata(&log) {
        Ok(there) if there.len() > 0 => Err(Error::request(
            format_args!("{}: another process has the archive open", path.display()),
            "wait until that process ends, or copy the archive with `batt archive merge`",
        )),
        _ => Ok(()),
    }
}

/// Returns distinct names for files that go into one folder.
fn flat_names(files: &[PathBuf]) -> Vec<(String, &Path)> {
    let mut taken = HashSet::new();
    let name = |path: &Path| {
        let stem = path
            .file_stem()
            .unwrap_or(path.as_os_str())
            .to_string_lossy();
        let numbered = (2..).map(|k| format!("{stem}-{k}.py"));
        std::iter::once(format!("{stem}.py"))
            .chain(numbered)
            .find(|name| taken.insert(name.clone()))
    };
    let names: Vec<Option<String>> = files.iter().map(|path| path.as_path()).map(name).collect();
    let named = names.into_iter().zip(files);
    named
        .filter_map(|(name, path)| Some((name?, path.as_path())))
        .collect()
}

/// The folder of the bundle.
struct Folder<'p>(&'p Path);

impl<'p> Folder<'p> {
    fn new(path: &'p Path) -> Result<Folder<'p>> {
        for part in ["dataset", "kernel"] {
            let part = path.join(part);
            fs::create_dir_all(&part).map_err(|error| Error::file("make", &part, error))?;
        }
        Ok(Folder(path))
    }

    fn program(&self, from: &Path) -> Result<()> {
        self.copy(from, "dataset/batt")?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let target = self.0.join("dataset/batt");
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&target, executable)
                .map_err(|error| Error::file("write", &target, error))?;
        }
        Ok(())
    }

    fn copy(&self, from: &Path, name: &str) -> Result<()> {
        let copied = fs::copy(from, self.0.join(name));
        copied.map_err(|error| Error::file("copy", from, error))?;
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        replace(&self.0.join(name), text)
    }

    fn json(&self, name: &str, value: &Json) -> Result<()> {
        self.write(name, &format!("{value:#}\n"))
    }
}

/// Formats a time: `11 h 30 min`.
fn words(time: Duration) -> String {
    let seconds = time.as_secs();
    let parts = [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let parts = parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, unit)| format!("{n} {unit}"));
    parts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_clash() {
        let files = ["a/s.py", "b/s.py", "s-2.py", "t.txt"].map(PathBuf::from);
        let names: Vec<String> = flat_names(&files)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["s.py", "s-2.py", "s-2-2.py", "t.py"]);
    }

    #[test]
    fn times_in_words() {
        assert_eq!(words(Duration::from_secs(39600)), "11 h");
        assert_eq!(words(Duration::from_secs(41_705)), "11 h 35 min 5 s");
    }
}
