//! The rules of style that a program can check.
//!
//! - A public type has one name, and a public name stands for one type. See `names.rs`.
//! - No Rust file has more than 1,000 lines of code, without blank lines and comments.
//! - No line of Markdown is wider than 100 columns.
//! - The source of the command has fewer than 9,000 lines without tests.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::names::{self, Crate};
use crate::root;

const MAX_CODE: usize = 1000;
const MAX_COLUMNS: usize = 100;
const COMMAND: &str = "crates/batt-cli/src/";
const MAX_COMMAND: usize = 9000;

/// Checks everything; the exit code is 1 if a rule is broken.
pub fn check() -> Result<ExitCode> {
    let mut problems = ambiguous_names()?;
    problems.extend(long_files()?);
    for problem in &problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => println!("style: no findings"),
        count => eprintln!("style: {count} findings"),
    }
    Ok(ExitCode::from(u8::from(!problems.is_empty())))
}

/// Returns messages about files and lines that are too long.
fn long_files() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut command = 0;
    for file in files()? {
        let path = root().join(&file);
        match path.extension().and_then(|end| end.to_str()) {
            Some("rs") => {
                let text = read(&path)?;
                let code = lines_of_code(&text);
                if code > MAX_CODE {
                    problems.push(format!(
                        "{file}: {code} lines of code, at most {MAX_CODE} are allowed"
                    ));
                }
                if file.starts_with(COMMAND) && !is_test_file(&file) {
                    command += without_tests(&text).lines().count();
                }
            }
            Some("md") => {
                for (number, line) in read(&path)?.lines().enumerate() {
                    let columns = line.chars().count();
                    if columns > MAX_COLUMNS {
                        problems.push(format!("{file}:{}: {columns} columns", number + 1));
                    }
                }
            }
            _ => {}
        }
    }
    if command >= MAX_COMMAND {
        problems.push(format!(
            "{COMMAND}: {command} lines without tests, fewer than {MAX_COMMAND} are allowed"
        ));
    }
    Ok(problems)
}

/// Lists the files of the repository, as paths from its root.
fn files() -> Result<Vec<String>> {
    let output = Command::new("git")
        .current_dir(root())
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .output()
        .context("cannot start git")?;
    if !output.status.success() {
        bail!("git ls-files failed: {}", output.status);
    }
    let listed = String::from_utf8(output.stdout).context("a path is not UTF-8")?;
    let files = listed.lines().map(str::to_owned);
    // A deleted file is listed until the deletion is committed.
    Ok(files.filter(|file| root().join(file).is_file()).collect())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn lines_of_code(text: &str) -> usize {
    let lines = text.lines().map(str::trim_start);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

fn is_test_file(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.contains("/tests/")
}

/// Returns a source text up to its test module, which stands last.
fn without_tests(text: &str) -> &str {
    let tests = text.find("\n#[cfg(test)]\nmod tests {");
    tests.map_or(text, |at| &text[..at])
}

/// Public names that stand for two types, and types with two public names.
fn ambiguous_names() -> Result<Vec<String>> {
    let mut crates = Vec::new();
    for entry in fs::read_dir(root().join("crates"))? {
        let entry = entry?;
        let lib = entry.path().join("src/lib.rs");
        if lib.is_file() {
            crates.push(Crate::read(&entry.file_name().to_string_lossy(), &lib)?);
        }
    }
    Ok(names::ambiguous(&crates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_test_modules_do_not_count() {
        let text = "//! A\n\nfn f() {\n    // b\n}\n\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(lines_of_code(text), 5);
        assert_eq!(without_tests(text).lines().count(), 5);
    }
}
