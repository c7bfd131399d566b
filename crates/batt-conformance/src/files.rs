//! The files of a vectors directory.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::VectorsError;

/// Returns the files in a directory with an extension, sorted; empty if there is no such directory.
pub(crate) fn listed(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, VectorsError> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let io = |source| VectorsError::Io {
        path: dir.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|e| e == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

pub(crate) fn read(path: &Path) -> Result<String, VectorsError> {
    fs::read_to_string(path).map_err(|source| VectorsError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Returns the JSON lines of a file with their numbers.
pub(crate) fn lines(path: &Path) -> Result<Vec<(usize, Json)>, VectorsError> {
    let mut cases = Vec::new();
    for (k, line) in read(path)?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let json = serde_json::from_str(line).map_err(|e| bad(path, k + 1, e))?;
        cases.push((k + 1, json));
    }
    Ok(cases)
}

pub(crate) fn bad(path: &Path, line: usize, problem: impl ToString) -> VectorsError {
    VectorsError::Case {
        path: path.to_owned(),
        line,
        problem: problem.to_string(),
    }
}
