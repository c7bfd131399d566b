//! Files of runs, as `batt run -o` writes them, read back.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use batt_engine::{RunRecord, RunRecordError};

use crate::error::{Error, Result};

/// A file of runs, one in a line. It yields the runs one after the other, so that a file may be
/// larger than the memory.
///
/// ```no_run
/// use batt::RunFile;
///
/// for run in RunFile::open("results.jsonl")? {
///     let run = run?;
///     println!("{} on {} {}: {:?}", run.solver, run.task, run.pair, run.ok);
/// }
/// # Ok::<(), batt::Error>(())
/// ```
#[derive(Debug)]
pub struct RunFile {
    path: PathBuf,
    lines: BufReader<File>,
    number: usize,
}

/// The runs of a file that are wrong.
#[derive(Clone, Debug, Default)]
pub struct WrongRuns {
    /// The first of them.
    pub first: Vec<RunRecord>,
    /// The number of all of them.
    pub wrong: usize,
    /// The number of all runs of the file.
    pub runs: usize,
}

impl RunFile {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>) -> Result<RunFile> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|error| Error::file("read", path, error))?;
        Ok(RunFile {
            path: path.to_owned(),
            lines: BufReader::with_capacity(1 << 16, file),
            number: 0,
        })
    }

    /// Returns whether a file begins with the line of a run, or of `batt mega`, which
    /// [`RunFile::open`] explains.
    pub fn recognises(path: impl AsRef<Path>) -> bool {
        let mut start = Vec::new();
        let read = File::open(path).and_then(|file| file.take(1 << 12).read_to_end(&mut start));
        let line = start.split(|byte| *byte == b'\n').next().unwrap_or(&start);
        // A long value ends the line beyond what was read, so this looks for names only.
        let has = |name: &str| line.windows(name.len()).any(|part| part == name.as_bytes());
        read.is_ok()
            && line.first() == Some(&b'{')
            && (has("\"solver\":") || has("\"batt\":"))
            && has("\"task\":")
            && has("\"pair\":\"")
    }

    /// Reads all runs and returns those that are wrong, of which at most `most` are kept.
    pub fn wrong(self, most: usize) -> Result<WrongRuns> {
        let mut out = WrongRuns::default();
        for run in self {
            let run = run?;
            out.runs += 1;
            if run.is_wrong() {
                out.wrong += 1;
                if out.first.len() < most {
                    out.first.push(run);
                }
            }
        }
        Ok(out)
    }

    fn bad_line(&self, line: &str, error: &RunRecordError) -> Error {
        let (path, number) = (self.path.display(), self.number);
        let is_mega = line.starts_with("{\"batt\":");
        let hint = match is_mega {
            true => {
                "these are results of `batt mega`; write those of solvers with `batt run -o FILE`"
            }
            false => "`batt run -o FILE` writes such lines; the last one may be cut off",
        };
        Error::request(format_args!("{path}:{number}: {error}"), hint)
    }
}

impl Iterator for RunFile {
    type Item = Result<RunRecord>;

    fn next(&mut self) -> Option<Result<RunRecord>> {
        loop {
            let mut line = Vec::new();
            match self.lines.read_until(b'\n', &mut line) {
                Ok(0) => return None,
                Ok(_) => self.number += 1,
                Err(error) => return Some(Err(Error::file("read", &self.path, error))),
            }
            let line = String::from_utf8_lossy(&line);
            if line.trim().is_empty() {
                continue;
            }
            let run = RunRecord::parse(&line);
            return Some(run.map_err(|error| self.bad_line(&line, &error)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_told_from_tasks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let is_runs = |text: &str| {
            std::fs::write(&path, text).unwrap();
            RunFile::recognises(&path)
        };
        let line = r#"{"solver":"f","task":"t","pair":"train[0]","ok":true,"us":1.0}"#;
        assert!(is_runs(line));
        assert!(is_runs(r#"{"batt":"b","task":"t","pair":"train[0]"}"#));
        for other in ["", "{", "[]", r#"{"train": [], "test": []}"#, "def f(I):\n"] {
            assert!(!is_runs(other), "{other}");
        }
        assert!(!RunFile::recognises(folder.path()));
        assert!(!RunFile::recognises(folder.path().join("none")));
    }

    #[test]
    fn broken_lines_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let line = r#"{"solver":"f","task":"t","pair":"train[0]","ok":false,"us":1.0}"#;
        std::fs::write(&path, format!("{line}\n\n{line}\n")).unwrap();
        let found = RunFile::open(&path).unwrap().wrong(1).unwrap();
        assert_eq!((found.first.len(), found.wrong, found.runs), (1, 2, 2));
        std::fs::write(&path, format!("{line}\n{}", &line[..20])).unwrap();
        let error = RunFile::open(&path).unwrap().wrong(9).unwrap_err();
        assert!(error.to_string().contains("a.jsonl:2: not JSON"), "{error}");
        assert!(error.hint().contains("cut off"));
    }
}
