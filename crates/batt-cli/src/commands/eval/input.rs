//! Where the input grid comes from.

use std::io::Read;
use std::path::Path;

use anyhow::Result;
use batt::{Grid, GridError, PairRef, RunInput, Split};

use crate::error::{advised, bad_file};
use crate::solvers::open_tasks;
use crate::ui::{Ui, counted};

/// What to run on, and what it is called.
pub struct Input {
    pub run: RunInput,
    pub name: String,
}

impl Input {
    /// The input of a pair: `PATH`, `PATH:train:0` or `PATH:train[0]`.
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

    /// A grid from a file, or from stdin.
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
        read.map_err(|error| bad_file("read", path, &error))?;
        let grid = parse(&String::from_utf8_lossy(&text)).map_err(|problem| {
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

/// The largest grid as generously spaced JSON is a fraction of this.
const LARGEST: u64 = 1 << 20;

/// Takes the pair off the end of a path, if one is named there.
fn split_pair(text: &str) -> (&str, Option<PairRef>) {
    if let Some((path, pair)) = text.rsplit_once(':') {
        if let Ok(pair) = pair.parse() {
            return (path, Some(pair));
        }
        if let Some((path, split)) = path.rsplit_once(':')
            && let Ok(pair) = format!("{split}[{pair}]").parse()
        {
            return (path, Some(pair));
        }
    }
    (text, None)
}

/// Reads a grid: JSON if it starts like JSON, else a row of digits on each line.
fn parse(text: &str) -> Result<Grid, String> {
    let text = text.trim();
    let rows: Vec<Vec<i64>> = if text.starts_with('[') {
        serde_json::from_str(text).map_err(|error| error.to_string())?
    } else {
        let row = |(k, line): (usize, &str)| {
            let cells = line.chars().filter(|c| !c.is_whitespace());
            let digit = |c: char| {
                let bad = || format!("line {}: '{}' is no digit", k + 1, c.escape_default());
                c.to_digit(10).map(i64::from).ok_or_else(bad)
            };
            cells.map(digit).collect()
        };
        text.lines()
            .enumerate()
            .map(row)
            .collect::<Result<_, _>>()?
    };
    let mut grid = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let colour = |(column, &value): (usize, &i64)| {
            u8::try_from(value).map_err(|_| {
                let row = i;
                GridError::Colour { row, column, value }.to_string()
            })
        };
        let row: Vec<u8> = row
            .iter()
            .enumerate()
            .map(colour)
            .collect::<Result<_, _>>()?;
        grid.push(row);
    }
    Grid::from_rows(&grid).map_err(|error| error.to_string())
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
    fn grids_come_in_two_spellings() {
        let grid = Grid::from_rows(&[[0, 1, 2], [3, 4, 0]]).unwrap();
        assert_eq!(parse("[[0, 1, 2], [3, 4, 0]]"), Ok(grid.clone()));
        assert_eq!(parse("012\n340\n"), Ok(grid.clone()));
        assert_eq!(parse(" 0 1 2\r\n 3 4 0\r\n"), Ok(grid));
        for bad in [
            "",
            "[]",
            "01\n2",
            "0a",
            "[[0, 10]]",
            "[[-1]]",
            "[[0.5]]",
            "[",
            "[[]]",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
