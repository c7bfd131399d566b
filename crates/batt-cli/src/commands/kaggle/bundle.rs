//! `batt kaggle bundle`: makes a folder for upload with the program, a notebook and metadata.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use batt::archive::Archive;
use batt::kaggle::ProgramNeeds;
use clap::Args;
use serde_json::{Value as Json, json};

use super::notebook;
use crate::cli::Exit;
use crate::duration;
use crate::error::{advised, bad_file};
use crate::files::replace;
use crate::solvers;
use crate::ui::{Ui, shown, stdout};

/// The longest time that Kaggle allows a notebook.
const LONGEST: Duration = Duration::from_secs(12 * 3600);

/// The placeholder for the name of the user.
const UNNAMED: &str = "YOUR-KAGGLE-NAME";

/// Make a folder to upload: the program, a notebook that evolves and submits, and metadata
#[derive(Args)]
#[command(after_help = "\
Examples:
  batt kaggle bundle -o bundle --user me
  batt kaggle bundle -o bundle --user me --archive batt.sqlite --time 11h30m
  batt kaggle bundle -o bundle --binary target/x86_64-unknown-linux-gnu/release/batt

Then, with Kaggle's own command:
  kaggle datasets create -p bundle/dataset
  kaggle kernels push -p bundle/kernel

The exit code is 1 if the program will not start on Kaggle: it was built for another machine, or
needs a newer C library.")]
pub struct BundleArgs {
    /// The folder to create
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// How long the notebook runs in all; Kaggle allows 12h
    #[arg(long, value_name = "TIME", default_value = "11h", value_parser = duration::parse)]
    time: Duration,

    /// How long the notebook runs on a commit, when the tasks are placeholders
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::parse)]
    trial: Duration,

    /// An archive to start with
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,

    /// Solver files to start with
    #[arg(long, value_name = "FILE", num_args = 1..)]
    solvers: Vec<PathBuf>,

    /// The batt program to pack [default: this one]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,

    /// Your Kaggle name, as in the address of your profile
    #[arg(
        long,
        value_name = "NAME",
        default_value = UNNAMED,
        hide_default_value = true,
        value_parser = in_address
    )]
    user: String,

    /// Name of the notebook; the dataset is called NAME-program
    #[arg(long, value_name = "NAME", default_value = "batt-arc", value_parser = slug)]
    name: String,

    /// The competition, as in its web address
    #[arg(
        long,
        value_name = "NAME",
        default_value = "arc-prize-2026-arc-agi-2",
        value_parser = in_address
    )]
    competition: String,

    /// The machine, such as NvidiaTeslaT4 (two of them) or NvidiaL4 (four, in competitions that
    /// offer it)
    #[arg(long, value_name = "NAME", default_value = "NvidiaTeslaT4")]
    accelerator: String,
}

/// Runs the command.
pub fn main(args: &BundleArgs, ui: &Ui) -> Result<Exit> {
    let program = match &args.binary {
        Some(path) => path.clone(),
        None => std::env::current_exe()
            .map_err(|error| bad_file("find", Path::new("this program"), error))?,
    };
    // All inputs are checked before anything is written.
    let bytes = fs::read(&program).map_err(|error| bad_file("read", &program, error))?;
    if args.output == Path::new("-") {
        return Err(advised(
            "a bundle cannot be written to stdout",
            "name a folder",
        ));
    }
    check_empty(&args.output)?;
    if let Some(archive) = &args.archive {
        check_archive(archive)?;
    }
    if !args.solvers.is_empty() {
        solvers::open_solvers(&args.solvers, None, ui)?;
    }

    let bundle = Folder::new(&args.output)?;
    bundle.program(&program)?;
    if let Some(archive) = &args.archive {
        bundle.copy(archive, "dataset/seed.sqlite")?;
    }
    for (name, path) in flat_names(&args.solvers) {
        bundle.copy(path, &Path::new("dataset").join(name).to_string_lossy())?;
    }
    let script = notebook::script(&json!({
        "competition": args.competition,
        "seconds": args.time.as_secs(),
        "trial_seconds": args.trial.as_secs(),
        "device": "auto",
    }));
    bundle.json("kernel/batt.ipynb", &notebook::notebook(&script))?;
    bundle.write("kernel/batt.py", &script)?;
    bundle.json("kernel/kernel-metadata.json", &kernel_metadata(args))?;
    bundle.json("dataset/dataset-metadata.json", &dataset_metadata(args))?;
    bundle.write("README.md", &readme(args))?;

    let mut out = stdout();
    writeln!(
        out,
        "wrote {}: dataset/, kernel/, README.md",
        shown(&args.output)
    )?;
    out.flush()?;
    if args.time > LONGEST {
        ui.warn("Kaggle ends a notebook after 12 hours: choose a shorter --time");
    }
    if args.user == UNNAMED {
        ui.note(format_args!(
            "--user was not given: replace {UNNAMED} by your name in both metadata files"
        ));
    }
    let problem = ProgramNeeds::of(&bytes).problem();
    if let Some((problem, hint)) = &problem {
        ui.warn(problem);
        ui.note(hint);
    }
    Ok(Exit::findings(problem.is_some()))
}

/// Refuses a folder that contains files, because they would be uploaded as well.
fn check_empty(folder: &Path) -> Result<()> {
    match fs::read_dir(folder).map(|mut entries| entries.next()) {
        Ok(Some(_)) => Err(advised(
            format_args!("{} is not empty", folder.display()),
            "name a new folder, or remove this one first",
        )),
        Ok(None) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(bad_file("write", folder, error)),
    }
}

/// Refuses a file that is not an archive, and an archive whose last saves are still in the log
/// beside it.
fn check_archive(path: &Path) -> Result<()> {
    let archive = Archive::open_existing(path);
    archive.map_err(batt::Error::from)?;
    let mut log = OsString::from(path);
    log.push("-wal");
    match fs::metadata(&log) {
        Ok(there) if there.len() > 0 => Err(advised(
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
            fs::create_dir_all(&part).map_err(|error| bad_file("make", &part, error))?;
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
                .map_err(|error| bad_file("write", &target, error))?;
        }
        Ok(())
    }

    fn copy(&self, from: &Path, name: &str) -> Result<()> {
        let copied = fs::copy(from, self.0.join(name));
        copied.map_err(|error| bad_file("copy", from, error))?;
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        Ok(replace(&self.0.join(name), text)?)
    }

    fn json(&self, name: &str, value: &Json) -> Result<()> {
        self.write(name, &format!("{value:#}\n"))
    }
}

fn kernel_metadata(args: &BundleArgs) -> Json {
    let BundleArgs { user, name, .. } = args;
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
        "machine_shape": args.accelerator,
        "dataset_sources": [format!("{user}/{name}-program")],
        "competition_sources": [args.competition],
        "kernel_sources": [],
        "model_sources": [],
    })
}

fn dataset_metadata(args: &BundleArgs) -> Json {
    let BundleArgs { user, name, .. } = args;
    json!({
        "id": format!("{user}/{name}-program"),
        "title": format!("{name}-program"),
        "licenses": [{"name": "other"}],
    })
}

fn readme(args: &BundleArgs) -> String {
    let note = match args.user == UNNAMED {
        true => {
            format!("**First** replace `{UNNAMED}` by your Kaggle name in both metadata files.\n\n")
        }
        false => String::new(),
    };
    include_str!("bundle-readme.md")
        .replace("{user_note}", &note)
        .replace("{competition}", &args.competition)
        .replace("{time}", &words(args.time))
        .replace("{trial}", &words(args.trial))
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

/// Parses a name for a web address.
fn in_address(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match !text.is_empty() && text.bytes().all(fits) {
        true => Ok(text.to_owned()),
        false => Err("write it as in the web address, with letters, digits and hyphens".to_owned()),
    }
}

/// Parses a name for a web address.
fn slug(text: &str) -> Result<String, String> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    // Together with `-program` it is a title, for which Kaggle requires 6 to 50 characters.
    match (5..=42).contains(&text.len()) && text.bytes().all(allowed) {
        true => Ok(text.to_owned()),
        false => Err("use 5 to 42 small letters, digits and hyphens".to_owned()),
    }
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

    #[test]
    fn names_for_addresses() {
        assert!(slug("batt-arc").is_ok());
        for bad in ["", "batt", "Batt-Arc", "batt arc", &"b".repeat(43)] {
            assert!(slug(bad).is_err(), "{bad}");
        }
    }
}
