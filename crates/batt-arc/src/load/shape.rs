//! Converts JSON to tasks: recognises the format and checks the content.

use super::json::Node;
use crate::error::Problem;
use crate::{Grid, GridError, Pair, Task};

/// The format of a file, recognised by its content alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `{"train": [...], "test": [...]}`
    Task,
    /// `[{"input": grid, "output": grid}, ...]`
    Pairs,
    /// `{id: task, ...}`
    Challenges,
    /// `{id: [grid, ...], ...}`
    Solutions,
    /// `{"train": {id: task, ...}, "eval": {...}}`
    Bundle,
    /// `{id: [{"attempt_1": grid, ...}, ...], ...}`
    Submission,
    /// None of these.
    Other,
}

/// The description of a solutions file in messages.
pub(crate) const SOLUTIONS: &str = "a solutions file";

impl Shape {
    pub(crate) fn of(node: &Node) -> Shape {
        match node {
            Node::List(items) if matches!(items.first(), Some(Node::Map(_))) => {
                let is_pair = |item: &Node| item.get("input").or(item.get("output")).is_some();
                if items.iter().any(is_pair) {
                    Shape::Pairs
                } else {
                    Shape::Other
                }
            }
            Node::Map(entries) => {
                // One matching entry decides; malformed entries beside it are reported later.
                let any = |test: fn(&Node) -> bool| entries.iter().any(|(_, value)| test(value));
                let lists = [node.get("train"), node.get("test")];
                if lists
                    .iter()
                    .flatten()
                    .any(|list| !matches!(list, Node::Map(_)))
                {
                    Shape::Task
                } else if any(is_task) {
                    Shape::Challenges
                } else if any(|value| Shape::of_inner(value) == Some(Shape::Challenges)) {
                    Shape::Bundle
                } else {
                    entries
                        .iter()
                        .find_map(|(_, value)| Shape::of_answers(value))
                        .unwrap_or(Shape::Other)
                }
            }
            _ => Shape::Other,
        }
    }

    /// Recognises challenges one level down, without looking deeper.
    fn of_inner(node: &Node) -> Option<Shape> {
        match node {
            Node::Map(entries) if entries.iter().any(|(_, value)| is_task(value)) => {
                Some(Shape::Challenges)
            }
            _ => None,
        }
    }

    /// Recognises solutions or a submission by the list of one id.
    fn of_answers(node: &Node) -> Option<Shape> {
        let Node::List(answers) = node else {
            return None;
        };
        match answers.first()? {
            answer @ Node::Map(_) if answer.get("attempt_1").is_some() => Some(Shape::Submission),
            Node::List(rows) if matches!(rows.first(), Some(Node::Row(_))) => {
                Some(Shape::Solutions)
            }
            _ => None,
        }
    }
}

fn is_task(node: &Node) -> bool {
    node.get("train")
        .or(node.get("test"))
        .is_some_and(|list| !matches!(list, Node::Map(_)))
}

/// A problem, and its place in the task.
#[derive(Debug)]
pub(crate) struct PlacedProblem {
    pub(crate) place: String,
    pub(crate) problem: Problem,
}

impl PlacedProblem {
    fn at(place: impl Into<String>) -> impl FnOnce(Problem) -> PlacedProblem {
        let place = place.into();
        move |problem| PlacedProblem { place, problem }
    }
}

/// Reads `{"train": [...], "test": [...]}`.
pub(crate) fn task(id: &str, node: &Node) -> Result<Task, PlacedProblem> {
    if !matches!(node, Node::Map(_)) {
        return Err(PlacedProblem::at("")(kind(
            "an object with \"train\" and \"test\"",
            node,
        )));
    }
    Ok(Task {
        id: id.to_owned(),
        name: node.text("name").map(str::to_owned),
        description: node.text("description").map(str::to_owned),
        train: list(node, "train", true)?,
        test: list(node, "test", false)?,
    })
}

/// Reads a bare list of pairs: all of them are demonstrations.
pub(crate) fn pairs_task(id: &str, node: &Node) -> Result<Task, PlacedProblem> {
    let train = pairs(node, "train", true)?;
    Ok(Task {
        id: id.to_owned(),
        name: None,
        description: None,
        train,
        test: Vec::new(),
    })
}

/// Puts the answers of a solutions file into the tests that have none.
pub(crate) fn solve(task: &mut Task, answers: &Node) -> Result<(), PlacedProblem> {
    let expected = "a list of grids";
    let mismatch = |solutions| Problem::SolutionCount {
        solutions,
        tests: task.test.len(),
    };
    let answers = match answers {
        Node::List(answers) if answers.len() == task.test.len() => answers,
        Node::List(answers) => return Err(PlacedProblem::at("")(mismatch(answers.len()))),
        Node::Row(cells) if cells.is_empty() => return Err(PlacedProblem::at("")(mismatch(0))),
        other => return Err(PlacedProblem::at("")(kind(expected, other))),
    };
    for (index, (pair, answer)) in task.test.iter_mut().zip(answers).enumerate() {
        let answer = grid(answer).map_err(PlacedProblem::at(format!("test[{index}].output")))?;
        pair.output.get_or_insert(answer);
    }
    Ok(())
}

fn list(node: &Node, key: &'static str, need_output: bool) -> Result<Vec<Pair>, PlacedProblem> {
    let list = node
        .get(key)
        .ok_or_else(|| PlacedProblem::at("")(Problem::Missing { key }))?;
    pairs(list, key, need_output)
}

fn pairs(node: &Node, key: &str, need_output: bool) -> Result<Vec<Pair>, PlacedProblem> {
    let items = match node {
        Node::List(items) => items,
        Node::Row(cells) if cells.is_empty() => {
            return Err(PlacedProblem::at(key)(Problem::EmptyList));
        }
        other => return Err(PlacedProblem::at(key)(kind("a list of pairs", other))),
    };
    let read = |(index, item)| pair(item, need_output, || format!("{key}[{index}]"));
    items.iter().enumerate().map(read).collect()
}

/// Reads one pair. `place` is called only for errors.
fn pair(node: &Node, need_output: bool, place: impl Fn() -> String) -> Result<Pair, PlacedProblem> {
    let Node::Map(_) = node else {
        return Err(PlacedProblem::at(place())(kind(
            "a pair {\"input\": ..., \"output\": ...}",
            node,
        )));
    };
    let side = |key: &'static str| match node.get(key) {
        None | Some(Node::Null) => Ok(None),
        Some(side) => grid(side).map(Some).map_err(|problem| PlacedProblem {
            place: format!("{}.{key}", place()),
            problem,
        }),
    };
    let missing = |key| PlacedProblem::at(place())(Problem::Missing { key });
    let input = side("input")?.ok_or_else(|| missing("input"))?;
    let output = side("output")?;
    if need_output && output.is_none() {
        return Err(missing("output"));
    }
    Ok(Pair { input, output })
}

/// Reads a list of rows.
pub(crate) fn grid(node: &Node) -> Result<Grid, Problem> {
    let rows = match node {
        Node::List(rows) => rows,
        Node::Row(cells) if cells.is_empty() => return Err(GridError::NoRows.into()),
        other => return Err(kind("a grid, a list of rows", other)),
    };
    let mut packed: Vec<&[u8]> = Vec::with_capacity(rows.len());
    for (row, node) in rows.iter().enumerate() {
        match node {
            Node::Row(cells) if cells.is_empty() => return Err(GridError::EmptyRow { row }.into()),
            Node::Row(cells) => packed.push(cells),
            other => return Err(bad_row(row, other)),
        }
    }
    Ok(Grid::from_rows(&packed)?)
}

/// Returns the reason why a list is not a row of colours.
fn bad_row(row: usize, node: &Node) -> Problem {
    let Node::List(cells) = node else {
        return kind("a grid, a list of rows", node);
    };
    for (column, cell) in cells.iter().enumerate() {
        match cell {
            Node::Int(0..=9) => {}
            Node::Int(value) => {
                return GridError::Colour {
                    row,
                    column,
                    value: *value,
                }
                .into();
            }
            other => {
                return Problem::Cell {
                    row,
                    column,
                    found: other.describe(),
                };
            }
        }
    }
    // The JSON reader packs every list of colours, so the loop always returns.
    kind("a row of colours", node)
}

/// The problem of a value of another kind.
pub(crate) fn kind(expected: &'static str, found: &Node) -> Problem {
    Problem::Kind {
        expected,
        found: found.describe(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::parse;
    use super::*;

    #[test]
    fn the_format_shows_in_the_content() {
        let of = |text: &str| Shape::of(&parse(text.as_bytes()).unwrap());
        assert_eq!(of(r#"{"train": [], "test": []}"#), Shape::Task);
        assert_eq!(of(r#"{"name": "x", "train": 7}"#), Shape::Task);
        assert_eq!(of(r#"[{"input": [[1]]}]"#), Shape::Pairs);
        assert_eq!(of(r#"{"a": {"train": []}, "b": 3}"#), Shape::Challenges);
        assert_eq!(of(r#"{"a": [[[1]]]}"#), Shape::Solutions);
        assert_eq!(
            of(r#"{"train": {"a": {"train": []}}, "eval": {}}"#),
            Shape::Bundle
        );
        assert_eq!(of(r#"{"a": [{"attempt_1": [[0]]}]}"#), Shape::Submission);
        for other in [
            "{}",
            "[]",
            "3",
            "null",
            "[[1]]",
            r#"[{"x": 1}]"#,
            r#"{"a": {"runtime": 1}}"#,
        ] {
            assert_eq!(of(other), Shape::Other, "{other}");
        }
    }

    #[test]
    fn a_task_called_train_is_still_a_task() {
        let text = r#"{"train": {"train": [], "test": []}}"#;
        assert_eq!(
            Shape::of(&parse(text.as_bytes()).unwrap()),
            Shape::Challenges
        );
    }
}
