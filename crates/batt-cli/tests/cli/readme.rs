//! Runs the README's examples on a copy of the files that they use.

use std::fs;
use std::path::Path;

use crate::support::Folder;

const README: &str = include_str!("../../../../README.md");

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => _ = fs::copy(entry.path(), &to).unwrap(),
        }
    }
}

/// Runs every line `$ batt ...` of the README. The lines below it, except `...`, must be in the
/// output.
#[test]
fn commands_print_what_the_readme_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Folder::new();
    for part in ["examples", "crates/batt-arc/corpus"] {
        copy(&root.join(part), &folder.path(part));
    }
    let mut printed = None;
    let mut commands = 0;
    let mut shown = 0;
    for line in README.lines().filter(|line| !line.trim().is_empty()) {
        let Some(line) = line.strip_prefix("    ") else {
            printed = None;
            continue;
        };
        if let Some(command) = line.strip_prefix("$ batt ") {
            let args: Vec<&str> = command.split_whitespace().collect();
            let ended = folder.batt(&args);
            assert_ne!(ended.code, Some(2), "{command}: {}", ended.stderr);
            printed = Some((command, ended.stdout + &ended.stderr));
            commands += 1;
        } else if let Some((command, printed)) = &printed
            && line != "..."
        {
            let found = printed.lines().any(|other| other.trim_end() == line);
            assert!(found, "{command} does not print {line:?} but\n{printed}");
            shown += 1;
        }
    }
    assert!(
        commands >= 6 && shown >= 30,
        "{commands} commands, {shown} lines"
    );
}
