//! The search for NVRTC.
//!
//! The system's loader finds some toolkits, but not all. Python wheels have their own folders.

use std::collections::HashSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The file names for the loader, the newest first. Only development packages install a name
/// without a number.
const NAMES: &[&str] = if cfg!(windows) {
    &[
        "nvrtc64_130_0.dll",
        "nvrtc64_120_0.dll",
        "nvrtc64_112_0.dll",
    ]
} else {
    &[
        "libnvrtc.so.13",
        "libnvrtc.so.12",
        "libnvrtc.so",
        "libnvrtc.so.11.2",
    ]
};

/// The subfolders of a toolkit that contain libraries.
const TOOLKIT: [&str; 4] = ["lib64", "lib", "targets/x86_64-linux/lib", "bin"];

/// The places to search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The file in `BATT_NVRTC`. If it is set, nothing else is searched.
    pub explicit: Option<PathBuf>,
    /// The places to search otherwise, in this order.
    pub list: Vec<Place>,
}

/// One place to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The loader's own folders.
    Loader,
    /// A toolkit folder, such as `/usr/local/cuda-12.8`.
    Toolkit(PathBuf),
    /// A Python installation, which contains `lib/python3*`.
    Python(PathBuf),
}

impl Places {
    /// Returns the places on this machine, according to its environment.
    pub fn from_env() -> Places {
        let mut places = Places::from_variables(|name| env::var_os(name));
        // If pip installed this binary, its Python environment is searched as well, activated or
        // not.
        let exe = env::current_exe().ok();
        places
            .list
            .extend(exe.and_then(|exe| prefix_of(&exe)).map(Place::Python));
        let toolkits = numbered(Path::new("/usr/local"), "cuda");
        places.list.extend(toolkits.into_iter().map(Place::Toolkit));
        for prefix in ["/usr/local", "/usr"] {
            places.list.push(Place::Python(PathBuf::from(prefix)));
        }
        places
    }

    /// Returns the places that environment variables name. The user's choice comes before the
    /// system's.
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Places {
        let folder = |name| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let mut list = Vec::new();
        for name in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
            list.extend(folder(name).map(Place::Python));
        }
        for name in ["CUDA_HOME", "CUDA_PATH"] {
            list.extend(folder(name).map(Place::Toolkit));
        }
        list.push(Place::Loader);
        list.extend(folder("HOME").map(|home| Place::Python(home.join(".local"))));
        Places {
            explicit: folder("BATT_NVRTC"),
            list,
        }
    }

    /// Returns the candidates for the loader in order: names, and existing files.
    pub fn candidates(&self) -> Vec<PathBuf> {
        if let Some(file) = &self.explicit {
            return vec![file.clone()];
        }
        let mut found: Vec<PathBuf> = self.list.iter().flat_map(Place::candidates).collect();
        let mut seen = HashSet::new();
        found.retain(|path| seen.insert(path.clone()));
        found
    }
}

impl Place {
    fn candidates(&self) -> Vec<PathBuf> {
        match self {
            Place::Loader => NAMES.iter().map(PathBuf::from).collect(),
            Place::Toolkit(root) => TOOLKIT
                .iter()
                .flat_map(|folder| libraries(&root.join(folder)))
                .collect(),
            Place::Python(prefix) => wheels(prefix),
        }
    }
}

/// Returns `/x` for `/x/bin/batt`.
fn prefix_of(exe: &Path) -> Option<PathBuf> {
    let folder = exe.parent()?;
    (folder.file_name()? == "bin").then(|| folder.parent().map(Path::to_owned))?
}

/// Returns the NVRTC libraries in the wheels of a Python installation: in `nvidia/cuda_nvrtc/lib`,
/// or since CUDA 13 in `nvidia/cu13/lib`.
fn wheels(prefix: &Path) -> Vec<PathBuf> {
    let mut pythons = numbered(&prefix.join("lib"), "python3");
    pythons.push(prefix.join("Lib"));
    let mut found = Vec::new();
    for python in pythons {
        for packages in ["site-packages", "dist-packages"] {
            for package in listed(&python.join(packages).join("nvidia")) {
                for folder in ["lib", "bin", "bin/x86_64"] {
                    found.extend(libraries(&package.join(folder)));
                }
            }
        }
    }
    found
}

/// Returns the NVRTC libraries in a folder.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let mut found = listed(folder);
    found.retain(|path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(is_nvrtc)
    });
    found
}

/// Accepts `libnvrtc.so.12` and `nvrtc64_120_0.dll`, but not the builtins library or debug
/// variants.
fn is_nvrtc(name: &str) -> bool {
    let unix = name
        .strip_prefix("libnvrtc.so")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let windows = name
        .strip_prefix("nvrtc64_")
        .and_then(|rest| rest.strip_suffix(".dll"))
        .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'_'));
    unix || windows
}

/// Returns the entries of a folder that begin with a name, the newest first. For `cuda` it finds
/// `cuda-12.8`.
fn numbered(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = listed(folder);
    found.retain(|path| {
        path.file_name()
            .and_then(|found| found.to_str())
            .and_then(|found| found.strip_prefix(name))
            .is_some_and(|rest| {
                rest.bytes()
                    .all(|b| b.is_ascii_digit() || b == b'.' || b == b'-')
            })
    });
    found.sort_by_key(|path| std::cmp::Reverse(numbers(path)));
    found
}

/// Returns the numbers in a name, so that 3.12 sorts after 3.9.
fn numbers(path: &Path) -> Vec<u32> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

/// Returns the entries of a folder, sorted; empty if the folder cannot be read.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn touch(root: &Path, name: &str) -> PathBuf {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        path
    }

    #[test]
    fn an_explicit_file_is_the_only_one() {
        let places = Places::from_variables(|name| {
            (name == "BATT_NVRTC" || name == "HOME").then(|| "/somewhere/x.so".into())
        });
        assert_eq!(places.candidates(), [PathBuf::from("/somewhere/x.so")]);
    }

    #[test]
    fn the_users_choice_comes_before_the_systems() {
        let folder = TempDir::new().unwrap();
        let root = folder.path();
        let wheel = "nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
        let venv = touch(root, &format!("venv/lib/python3.11/site-packages/{wheel}"));
        touch(
            root,
            "venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.alt.so.12",
        );
        touch(
            root,
            "venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9",
        );
        let user = touch(
            root,
            "home/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
        );
        let older = touch(
            root,
            &format!("home/.local/lib/python3.9/site-packages/{wheel}"),
        );
        let toolkit = touch(root, "cuda-12.8/lib64/libnvrtc.so.12");
        let places = Places::from_variables(|name| {
            let path = match name {
                "VIRTUAL_ENV" => "venv",
                "HOME" => "home",
                "CUDA_PATH" => "cuda-12.8",
                _ => return None,
            };
            Some(root.join(path).into())
        });
        let mut wanted = vec![venv, toolkit];
        wanted.extend(NAMES.iter().map(PathBuf::from));
        wanted.extend([user, older]);
        assert_eq!(places.candidates(), wanted);
    }

    #[test]
    fn the_newest_toolkit_comes_first() {
        let folder = TempDir::new().unwrap();
        for name in [
            "cuda",
            "cuda-12.8",
            "cuda-13.0",
            "cuda-9.2",
            "cudnn",
            "cuda-docs",
        ] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let names: Vec<String> = numbered(folder.path(), "cuda")
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["cuda-13.0", "cuda-12.8", "cuda-9.2", "cuda"]);
    }

    #[test]
    fn missing_places_have_no_candidates() {
        let places = Places {
            explicit: None,
            list: vec![
                Place::Toolkit(PathBuf::from("/nowhere/at/all")),
                Place::Python(PathBuf::from("/nowhere/either")),
            ],
        };
        assert_eq!(places.candidates(), Vec::<PathBuf>::new());
        assert_eq!(
            prefix_of(Path::new("/x/bin/batt")),
            Some(PathBuf::from("/x"))
        );
        assert_eq!(prefix_of(Path::new("/x/target/debug/batt")), None);
    }
}
