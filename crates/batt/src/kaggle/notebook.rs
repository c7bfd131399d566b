//! The script that runs on Kaggle, as a script and as a notebook.
//!
//! Both come from one text, `run.py`. Its cells begin with `# %%`, which many editors know, and one
//! of its lines contains the settings of the bundle.

use serde_json::{Value as Json, json};

/// The script as it is in the repository.
const SCRIPT: &str = include_str!("run.py");

/// The beginning of the line with the settings.
const SETTINGS: &str = "BUNDLE = ";

/// Returns the script with the settings of a bundle.
pub fn script(settings: &Json) -> String {
    let line = |line: &str| match line.starts_with(SETTINGS) {
        true => format!("{SETTINGS}{settings}\n"),
        false => format!("{line}\n"),
    };
    SCRIPT.lines().map(line).collect()
}

/// Returns a script as a notebook, in nbformat 4.
pub fn notebook(script: &str) -> Json {
    let cells: Vec<Json> = cells(script)
        .iter()
        .enumerate()
        .map(|(at, cell)| cell.json(at))
        .collect();
    json!({
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    })
}

struct Cell {
    is_text: bool,
    lines: Vec<String>,
}

impl Cell {
    fn json(&self, at: usize) -> Json {
        // All lines but the last end in a newline.
        let source = self.lines.join("\n");
        let source: Vec<&str> = source.split_inclusive('\n').collect();
        let id = format!("cell-{at}");
        match self.is_text {
            true => json!({"cell_type": "markdown", "id": id, "metadata": {}, "source": source}),
            false => json!({
                "cell_type": "code",
                "execution_count": null,
                "id": id,
                "metadata": {},
                "outputs": [],
                "source": source,
            }),
        }
    }
}

fn cells(script: &str) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for line in script.lines() {
        if let Some(kind) = line.strip_prefix("# %%") {
            cells.push(Cell {
                is_text: kind.contains("[markdown]"),
                lines: Vec::new(),
            });
        } else if let Some(cell) = cells.last_mut() {
            let line = match cell.is_text {
                true => line.strip_prefix('#').unwrap_or(line).trim_start(),
                false => line,
            };
            cell.lines.push(line.to_owned());
        }
    }
    for cell in &mut cells {
        while cell.lines.last().is_some_and(String::is_empty) {
            cell.lines.pop();
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_are_in_one_line() {
        let script = script(&json!({"seconds": 7}));
        let settings: Vec<&str> = script.lines().filter(|l| l.starts_with(SETTINGS)).collect();
        assert_eq!(settings, ["BUNDLE = {\"seconds\":7}"]);
        assert_eq!(script.lines().count(), SCRIPT.lines().count());
    }

    #[test]
    fn the_notebook_is_the_script() {
        let notebook = notebook(SCRIPT);
        assert_eq!(
            (&notebook["nbformat"], &notebook["nbformat_minor"]),
            (&4.into(), &5.into())
        );
        let mut code = Vec::new();
        for cell in notebook["cells"].as_array().unwrap() {
            let source = cell["source"].as_array().unwrap();
            let text: String = source.iter().map(|line| line.as_str().unwrap()).collect();
            assert!(!text.is_empty() && cell["id"].is_string());
            match cell["cell_type"].as_str().unwrap() {
                "code" => code.extend(text.lines().map(str::to_owned)),
                kind => assert_eq!((kind, cell.get("outputs")), ("markdown", None)),
            }
        }
        // Comments before the first cell would be lost.
        assert!(SCRIPT.starts_with("# %% [markdown]\n"));
        let mut is_text = false;
        let lines = SCRIPT.lines().filter(|line| {
            if line.starts_with("# %%") {
                is_text = line.contains("[markdown]");
                return false;
            }
            !is_text
        });
        let filled = |line: &&str| !line.is_empty();
        let script: Vec<&str> = lines.filter(filled).collect();
        let code: Vec<&str> = code.iter().map(String::as_str).filter(filled).collect();
        assert_eq!(code, script);
    }
}
