//! Reads the input grid of a run.

use std::io::Read;
use std::path::Path;

use anyhow::Result;
use batt::{Grid, PairRef, RunInput, Split};

use crate::error::{advised, bad_file};
use crate::solvers::open_tasks;
use crate::ui::{Ui, counted};

/// The input of a run, and its name in messages.
pub struct Input {
    pub run: RunInput,
    pub name: String,
}

impl Input {
    /// Returns the input of a pair, given as `PATH`, `PATH:train:0` or `PATH:train[0]`.
    pub fn of_task(text: &str, solver: &str, ui: &Ui) -> Result<Input> {
        let (path, pair) = split_pair(text);
        if let (None, Some((before, after))) = (pair, text.split_once(':'))
            && !Path::new(path).exists()
            && Path::new(before).exists()
        {
            return Err(advised(
                format_args!("'{after}' is not a pair of {before}"),
                format!("write train:N or test:N, counted from 0, as in {before}:train:0"),
            ));
        }
        let data = open_tasks(Path::new(path), ui)?;
        let task = match data.tasks() {
            [only] => only,
            tasks => data.task_of(solver).ok_or_else(|| {
                advised(
                    format_args!(
                        "{path} holds {}, none for '{solver}'",
                        counted(tasks.len(), "task")
                    ),
                    format!("name one task file, such as {path}/{}.json", tasks[0].id),
                )
            })?,
        };
        let name = pair.unwrap_or(PairRef {
            split: Split::Train,
            index: 0,
        });
        let run = RunInput::of_pair(task, name).ok_or_else(|| {
            let (train, test) = (task.train.len(), task.test.len());
            advised(
                format_args!("task {} has no {name}", task.id),
                format!("it has {train} train and {test} test pairs, counted from 0"),
            )
        })?;
        Ok(Input {
            run,
            name: format!("{} {name}", task.id),
        })
    }

    /// Reads a grid from a file, or from stdin.
    pub fn of_grid(path: &Path) -> Result<Input> {
        let mut text = Vec::new();
        let (read, name) = if path == Path::new("-") {
            (
                std::io::stdin().take(LARGEST).read_to_end(&mut text),
                "stdin".to_owned(),
            )
        } else {
            let read = std::fs::File::open(path)
                .and_then(|file| file.take(LARGEST).read_to_end(&mut text));
            (read, path.display().to_string())
        };
        read.map_err(|error| bad_file("read", path, error))?;
        let grid: Result<Grid, _> = String::from_utf8_lossy(&text).parse();
        let grid = grid.map_err(|problem| {
            advised(
                format_args!("{name}: {problem}"),
                "write a grid as [[0, 1], [2, 3]] or as lines of digits, at most 30x30",
            )
        })?;
        Ok(Input {
            run: grid.into(),
            name,
        })
    }
}

/// The most bytes of a grid file. JSON of the largest grid needs only a fraction of this, even with
/// generous spacing.
const LARGEST: u64 = 1 << 20;

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
}
