//! The rules of style that a program can check.
//!
//! - A public type name is reachable from one crate only. Re-exports of another crate's type are
//!   fine.
//! - No Rust file has more than 1,000 lines of code, without blank lines and comments.
//! - No line of Markdown is wider than 100 columns.
//! - The source of the command has fewer than 9,000 lines without tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::root;

/// Type names that may be reachable from two crates. Each has its reason here and in
/// docs/architecture.md.
const SHARED_NAMES: &[(&str, &str)] = &[];

const MAX_CODE: usize = 1000;
const MAX_COLUMNS: usize = 100;
const COMMAND: &str = "crates/batt-cli/src/";
const MAX_COMMAND: usize = 9000;

/// Checks everything; the exit code is 1 if a rule is broken.
pub fn check() -> Result<ExitCode> {
    let mut problems = shared_names()?;
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

/// Returns messages about type names that are reachable from two crates.
fn shared_names() -> Result<Vec<String>> {
    let mut crates_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates"))? {
        let entry = entry?;
        let source = entry.path().join("src/lib.rs");
        if source.is_file() {
            let name = entry.file_name().to_string_lossy().into_owned();
            for reachable in reachable_types(&source)? {
                crates_of.entry(reachable).or_default().insert(name.clone());
            }
        }
    }
    let mut problems = Vec::new();
    for (name, crates) in &crates_of {
        let allowed = SHARED_NAMES.iter().any(|(allowed, _)| allowed == name);
        let crates: Vec<&str> = crates.iter().map(String::as_str).collect();
        if crates.len() > 1 && !allowed {
            let crates = crates.join(" and ");
            problems.push(format!("the type name {name} is reachable from {crates}"));
        }
    }
    for (name, _) in SHARED_NAMES {
        if crates_of.get(*name).is_none_or(|crates| crates.len() < 2) {
            problems.push(format!("the exception for {name} is not needed"));
        }
    }
    Ok(problems)
}

/// Returns the names of types that a crate defines and that its users can name.
fn reachable_types(lib: &Path) -> Result<BTreeSet<String>> {
    let mut found = Types::default();
    found.module(lib, true)?;
    let Types {
        mut reachable,
        hidden,
        exported,
    } = found;
    reachable.extend(hidden.intersection(&exported).cloned());
    Ok(reachable)
}

/// The types of a crate. The search relies on the layout of rustfmt: an item begins on a line of
/// its own.
#[derive(Default)]
struct Types {
    /// Public types in public modules.
    reachable: BTreeSet<String>,
    /// Public types in private modules.
    hidden: BTreeSet<String>,
    /// The names in `pub use` items of public modules.
    exported: BTreeSet<String>,
}

impl Types {
    fn module(&mut self, file: &Path, public: bool) -> Result<()> {
        let text = read(file)?;
        self.text(without_tests(&text), public);
        for (child, public) in children(without_tests(&text), public) {
            if let Some(path) = file_of(file, &child) {
                self.module(&path, public)?;
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str, public: bool) {
        let mut lines = text.lines().map(str::trim_start);
        while let Some(line) = lines.next() {
            let Some(item) = line.strip_prefix("pub ") else {
                continue;
            };
            if let Some(mut names) = item.strip_prefix("use ").map(str::to_owned) {
                while !names.contains(';') {
                    let Some(line) = lines.next() else { break };
                    names.push_str(line);
                }
                if public {
                    self.exported.extend(exported(&names));
                }
            }
            let item = item.strip_prefix("unsafe ").unwrap_or(item);
            let keywords = ["struct ", "enum ", "trait ", "union ", "type "];
            if let Some(rest) = keywords.iter().find_map(|word| item.strip_prefix(word)) {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                let name = &rest[..end.unwrap_or(rest.len())];
                // A macro has `$name` here.
                if !name.is_empty() {
                    let types = match public {
                        true => &mut self.reachable,
                        false => &mut self.hidden,
                    };
                    types.insert(name.to_owned());
                }
            }
        }
    }
}

/// Returns the modules that a text declares in other files, and whether they are public.
fn children(text: &str, public: bool) -> Vec<(String, bool)> {
    let mut children = Vec::new();
    for line in text.lines() {
        let (item, declared) = match line.strip_prefix("pub ") {
            Some(item) => (item, true),
            None => (line, false),
        };
        let item = item.strip_prefix("pub(crate) ").unwrap_or(item);
        let name = item.strip_prefix("mod ").and_then(|m| m.strip_suffix(';'));
        if let Some(name) = name {
            children.push((name.to_owned(), public && declared));
        }
    }
    children
}

/// Finds the file of a module declared in another file; `None` if a `path` attribute names it.
fn file_of(parent: &Path, module: &str) -> Option<PathBuf> {
    let stem = parent.file_stem()?.to_str()?;
    let folder = match stem {
        "lib" | "mod" => parent.parent()?.to_owned(),
        _ => parent.with_extension(""),
    };
    let candidates = [format!("{module}.rs"), format!("{module}/mod.rs")];
    let mut paths = candidates.iter().map(|name| folder.join(name));
    paths.find(|path| path.is_file())
}

/// Returns the names that a `use` item exports: the last names of its paths, without renamed ones.
fn exported(names: &str) -> Vec<String> {
    let separators = |c: char| matches!(c, '{' | '}' | ',' | ';');
    let paths = names.split(separators).map(str::trim);
    let renamed = paths.filter(|path| !path.contains(" as "));
    let last = renamed.filter_map(|path| path.rsplit("::").next());
    last.filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_names_are_the_last_of_their_paths() {
        assert_eq!(exported("a::b::C;"), ["C"]);
        assert_eq!(exported("a::{B, c::D, e::{F}, G as H};"), ["B", "D", "F"]);
    }

    #[test]
    fn types_are_reachable_through_public_modules_and_exports() {
        let mut types = Types::default();
        types.text(
            "pub struct A<T>(T);\npub use b::{\n    B,\n    C,\n};\n",
            true,
        );
        types.text(
            "pub enum B {}\npub(crate) enum C {}\npub type D = B;\n",
            false,
        );
        let names = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>();
        assert_eq!(names(&types.reachable), ["A"]);
        assert_eq!(names(&types.hidden), ["B", "D"]);
        let exported: Vec<_> = types.hidden.intersection(&types.exported).collect();
        assert_eq!(exported, ["B"]);
    }

    #[test]
    fn only_public_modules_of_public_modules_are_public() {
        let text = "mod a;\npub mod b;\npub(crate) mod c;\nmod d {\n";
        let found = |public| children(text, public);
        let named = |a: bool, b: bool, c: bool| {
            let named = [("a", a), ("b", b), ("c", c)];
            named.map(|(name, public)| (name.to_owned(), public))
        };
        assert_eq!(found(true), named(false, true, false));
        assert_eq!(found(false), named(false, false, false));
    }

    #[test]
    fn comments_blank_lines_and_test_modules_do_not_count() {
        let text = "//! A\n\nfn f() {\n    // b\n}\n\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(lines_of_code(text), 5);
        assert_eq!(without_tests(text).lines().count(), 5);
    }
}
