//! The embedded corpus: puzzles made for this project, with their solvers.
//!
//! It serves for trying and testing without a download. Together the solvers use every primitive
//! and every constant of the DSL. Each task has a name, its rule in words, three demonstrations and
//! a test with its answer.
//!
//! Only two rules depend on the iteration order of a set, on purpose: `The lucky dot` and
//! `Tie break`.
//!
//! ```
//! let tasks = batt_arc::corpus::tasks();
//! let task = &tasks.tasks()[0];
//! assert!(task.description.is_some());
//! assert!(batt_arc::corpus::SOLVERS.contains(&format!("def solve_{}(I):", task.id)));
//! ```

use crate::Dataset;

/// The solvers, one `solve_<task id>` for each task, as the text of a Python file.
pub const SOLVERS: &str = include_str!("../corpus/solvers.py");

macro_rules! files {
    ($($id:literal,)*) => {
        /// The task files: id and JSON text, sorted by id.
        pub const FILES: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../corpus/tasks/", $id, ".json"))),)*];
    };
}

// A build script could list the folder, but would slow down every build to save this table;
// a test compares the two.
#[rustfmt::skip]
files! {
    "002e3123", "0f995f90", "1673c3ec", "17de12d9", "18f7b29f", "19052d22",
    "1b91133d", "2120d3af", "23e33718", "2498803a", "2e708028", "30c45629",
    "33b64ef9", "343bb5f3", "346517f2", "3470f492", "3a3265fd", "3b2e454a",
    "3bd82c66", "424e76d1", "46efe71b", "4b2d86c5", "516c26bb", "51bd4c62",
    "541ebf37", "59938dad", "60cdbe1d", "6a229efe", "6faa2351", "71fb66c4",
    "7aa34ab3", "7e5335ee", "8108c5f2", "832b8cb4", "8484b47d", "87dbabaa",
    "88d9434f", "8d3e25e2", "99a36d2b", "a14c3282", "a231bee0", "a4310bde",
    "a5eecb84", "a75d64c5", "aabed0aa", "aefab048", "af59e06f", "b803c0b9",
    "b9832b5b", "be9e1fc8", "bf7b6d9d", "cdd75e46", "d66c1b89", "da3bd076",
    "dae41a63", "db8712d1", "dc8f2a9b", "ddf7d84c", "decfe7a7", "e24aa73e",
    "e73fc175", "e89a5dd5", "ec786e12", "f92937ab", "fc032018",
}

/// The tasks of the corpus.
pub fn tasks() -> Dataset {
    let load = |(id, text): &(&str, &str)| {
        let data = Dataset::from_json(format!("{id}.json"), text.as_bytes());
        // Only an edit of the corpus can break this, and the tests below detect it.
        data.expect("internal error: a corpus file is broken")
            .into_tasks()
    };
    Dataset::new(FILES.iter().flat_map(load).collect())
        .expect("internal error: a corpus id is used twice")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/tasks");
        let data = Dataset::load(folder).unwrap();
        assert!(data.skipped().is_empty());
        assert_eq!(data, tasks());
    }

    #[test]
    fn every_task_is_complete() {
        let mut seen = HashSet::new();
        for task in &tasks() {
            let id = &task.id;
            assert!(
                id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit()),
                "{id}"
            );
            assert_eq!((task.train.len(), task.test.len()), (3, 1), "{id}");
            assert!(
                seen.insert(task.name.clone().expect(id)),
                "{id}: the name is taken"
            );
            assert!(task.description.as_ref().expect(id).ends_with('.'), "{id}");
            let mut inputs = HashSet::new();
            for (name, pair) in task.pairs() {
                let output = pair.output.as_ref().expect(id);
                assert_ne!(&pair.input, output, "{id} {name}: nothing to do");
                assert!(inputs.insert(&pair.input), "{id} {name}: the input repeats");
            }
        }
        assert_eq!(seen.len(), FILES.len());
    }

    #[test]
    fn every_task_has_a_solver() {
        let solvers: Vec<&str> = SOLVERS
            .lines()
            .filter_map(|line| line.strip_prefix("def solve_")?.strip_suffix("(I):"))
            .collect();
        let tasks: Vec<&str> = FILES.iter().map(|(id, _)| *id).collect();
        assert_eq!(solvers, tasks);
    }

    #[test]
    fn every_line_of_a_solver_is_used() {
        for solver in SOLVERS.split("\n\n\n").skip(1) {
            let steps: Vec<(&str, &str)> = solver
                .lines()
                .filter_map(|line| line.trim_start().split_once(" = "))
                .collect();
            let uses = |name: &str| {
                steps.iter().any(|(_, call)| {
                    call.split(|c: char| !c.is_alphanumeric() && c != '_')
                        .any(|word| word == name)
                })
            };
            for (name, call) in &steps {
                assert!(
                    *name == "O" || uses(name),
                    "{name} = {call} is not used:\n{solver}"
                );
            }
        }
    }
}
