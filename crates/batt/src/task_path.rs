//! Tasks and pairs as a user names them.

use std::path::Path;

use batt_arc::text::counted;
use batt_arc::{Pair, PairRef, Split, Task};
use batt_lang::nearest;

use crate::error::{Error, Result};
use crate::tasks::Tasks;
use crate::trace::RunInput;

/// Tasks that a user names in one word, and the pair if the word names one.
///
/// | text | tasks |
/// | --- | --- |
/// | `PATH` | those of a file or folder of any known format |
/// | `PATH:ID` | one of them |
/// | `ID` | a task that comes with the library, if there is no such file |
///
/// Each of them may end in a pair, such as `:train:0` or `:test[1]`.
///
/// ```
/// use batt::TaskPath;
///
/// let found = TaskPath::load("1673c3ec:test:0")?;
/// assert_eq!(found.tasks.len(), 1);
/// assert_eq!(found.pair.unwrap().to_string(), "test[0]");
/// let (input, name) = found.input("solve_1673c3ec")?;
/// assert_eq!(name, "1673c3ec test[0]");
/// assert!(input.expected.is_some());
/// # Ok::<(), batt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TaskPath {
    path: String,
    /// The tasks.
    pub tasks: Tasks,
    /// The pair, if one is named.
    pub pair: Option<PairRef>,
}

impl TaskPath {
    /// Loads the tasks that a text names.
    pub fn load(text: &str) -> Result<TaskPath> {
        let (path, pair) = match Path::new(text).exists() {
            true => (text, None),
            false => split_pair(text),
        };
        let found = |path: &str, tasks: Tasks| TaskPath {
            path: path.to_owned(),
            tasks,
            pair,
        };
        if Path::new(path).exists() {
            return Ok(found(path, Tasks::load(path)?));
        }
        let id = path.rmatch_indices(':').map(|(at, _)| path.split_at(at));
        let id = id.map(|(before, id)| (before, &id[1..]));
        if let Some((before, id)) = id
            .into_iter()
            .find(|(before, _)| Path::new(before).exists())
        {
            let tasks = Tasks::load(before)?;
            let task = tasks.get(id).ok_or_else(|| unknown(before, id, &tasks))?;
            return Ok(found(path, Tasks::new([task.clone()])?));
        }
        let embedded = Tasks::embedded();
        if let Some(task) = embedded.get(path) {
            return Ok(found(path, Tasks::new([task.clone()])?));
        }
        match Tasks::load(path) {
            Err(error) if is_word(path) => {
                let near = nearest(path, embedded.iter().map(|task| task.id.as_str()));
                let hint = match near {
                    Some(near) => format!("check the path; is it the built-in task {near}?"),
                    None => {
                        "check the path, or name a built-in task; `batt demo` lists them".into()
                    }
                };
                let message = format!("{error}, and no built-in task has that id");
                Err(Error::request(message, hint))
            }
            loaded => Ok(found(path, loaded?)),
        }
    }

    /// The text without the pair.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the pair that is named, with its task. Returns `None` if none is named, and fails if
    /// there is no such pair.
    pub fn named_pair(&self) -> Result<Option<(&Task, PairRef, &Pair)>> {
        let Some(name) = self.pair else {
            return Ok(None);
        };
        let task = match self.tasks.tasks() {
            [only] => only,
            tasks => return Err(self.ambiguous(tasks, "")),
        };
        let pair = task.pair(name).ok_or_else(|| no_pair(task, name))?;
        Ok(Some((task, name, pair)))
    }

    /// Returns the only task, or the one that a solver is named after.
    pub fn task_of(&self, solver: &str) -> Result<&Task> {
        let tasks = self.tasks.tasks();
        if let [only] = tasks {
            return Ok(only);
        }
        let found = self.tasks.task_of(solver);
        found.ok_or_else(|| self.ambiguous(tasks, &format!(", none for '{solver}'")))
    }

    fn ambiguous(&self, tasks: &[Task], detail: &str) -> Error {
        let path = &self.path;
        let example = tasks.first().map_or("ID", |task| &task.id);
        Error::request(
            format_args!("{path} holds {}{detail}", counted(tasks.len(), "task")),
            format!("name one of the tasks, such as {path}:{example}"),
        )
    }

    /// Returns the input for a run of a solver, and its name. Without a named pair it is the first
    /// demonstration.
    pub fn input(&self, solver: &str) -> Result<(RunInput, String)> {
        let task = self.task_of(solver)?;
        let first = PairRef {
            split: Split::Train,
            index: 0,
        };
        let pair = self.pair.unwrap_or(first);
        let input = RunInput::of_pair(task, pair).ok_or_else(|| no_pair(task, pair))?;
        Ok((input, format!("{} {pair}", task.id)))
    }
}

/// The error for a pair that a task does not have.
pub(crate) fn no_pair(task: &Task, pair: PairRef) -> Error {
    let (train, test) = (task.train.len(), task.test.len());
    Error::request(
        format_args!("task {} has no {pair}", task.id),
        format!("it has {train} train and {test} test pairs, counted from 0"),
    )
}

/// The error for a text after a path that names nothing.
fn unknown(path: &str, text: &str, tasks: &Tasks) -> Error {
    let near = nearest(text, tasks.iter().map(|task| task.id.as_str()));
    let hint = match near {
        Some(near) => format!("did you mean {path}:{near}?"),
        None => format!(
            "write the id of a task, or train:N or test:N counted from 0, as in {path}:train:0"
        ),
    };
    Error::request(
        format_args!("'{text}' is neither a task nor a pair of {path}"),
        hint,
    )
}

/// Returns whether a text looks like an id and not like a path.
fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !text.is_empty() && text.chars().all(is_part)
}

/// Splits the name of a pair from the end of a path, if there is one.
fn split_pair(text: &str) -> (&str, Option<PairRef>) {
    // `train:0` has a colon of its own, `train[0]` has none.
    for (colon, _) in text.rmatch_indices(':').take(2) {
        if let Ok(pair) = text[colon + 1..].parse() {
            return (&text[..colon], Some(pair));
        }
    }
    (text, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_taken_off_the_path() {
        let split = |text| {
            let (path, pair) = split_pair(text);
            (path, pair.map(|pair| pair.to_string()))
        };
        assert_eq!(split("a/b.json"), ("a/b.json", None));
        assert_eq!(split("a.json:test:1"), ("a.json", Some("test[1]".into())));
        assert_eq!(
            split("a.json:train[2]"),
            ("a.json", Some("train[2]".into()))
        );
        assert_eq!(split("c:\\a.json"), ("c:\\a.json", None));
        assert_eq!(split("a:eval:1"), ("a:eval:1", None));
    }

    #[test]
    fn files_come_before_built_in_tasks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1673c3ec:x.json");
        let task = r#"[{"input": [[1]], "output": [[2]]}]"#;
        std::fs::write(&path, task).unwrap();
        let path = path.to_str().unwrap();
        for text in [path.to_owned(), format!("{path}:1673c3ec:x")] {
            let found = TaskPath::load(&text).unwrap();
            assert_eq!(found.tasks.tasks()[0].id, "1673c3ec:x");
            assert_eq!(found.pair, None);
        }
        let error = TaskPath::load(&format!("{path}:1673c3ec:y")).unwrap_err();
        assert!(
            error.to_string().starts_with("'1673c3ec:y' is neither"),
            "{error}"
        );
        let found = TaskPath::load(&format!("{path}:train:7")).unwrap();
        let error = found.input("f").unwrap_err();
        assert!(error.to_string().ends_with("has no train[7]"), "{error}");
    }

    #[test]
    fn similar_ids_are_suggested() {
        let error = TaskPath::load("1673c3ed").unwrap_err();
        assert!(error.to_string().contains("no built-in task"), "{error}");
        assert!(error.hint().contains("1673c3ec"), "{}", error.hint());
    }
}
