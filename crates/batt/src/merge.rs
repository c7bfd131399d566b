//! Parts of runs: what identifies a run, and merging the results of its parts.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use batt_arc::Task;
use batt_dsl::Limits;
use batt_results::{MergedResults, fingerprint, merge};
use serde_json::{Value as Json, json};

use crate::control::Control;
use crate::error::Result;
use crate::tasks::Tasks;

/// Puts the files of all parts of a run together. The file is the one that a run without parts
/// writes: lines or, if its name ends in `.parquet`, the table of a mega-batch. Memory does not
/// grow with the files. Returns `None`, and writes nothing, if the work was cancelled.
///
/// ```
/// use batt::mega::Existing;
/// use batt::{Batts, Control, Mega, Shard, Solvers, Tasks, card, merge_results};
///
/// # let folder = std::env::temp_dir().join(format!("batt-merge-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// let tasks = Tasks::embedded();
/// let batts = Batts::from(card::merge(&Solvers::embedded(), Some(&tasks))?.batt);
/// let mut parts = Vec::new();
/// for number in 1..=3 {
///     let part = folder.join(format!("part-{number}.jsonl"));
///     Mega::new(&batts, &tasks)
///         .shard(Shard::new(number, 3).unwrap())
///         .write_to(&part, Existing::Resume)
///         .run(&Control::new())?;
///     parts.push(part);
/// }
/// let merged = merge_results(&parts, &folder.join("results.jsonl"), &Control::new())?;
/// assert_eq!(merged.unwrap().tasks_solved, 65);
/// # Ok::<(), batt::Error>(())
/// ```
pub fn merge_results(
    parts: &[PathBuf],
    target: &Path,
    control: &Control,
) -> Result<Option<MergedResults>> {
    let progress = |done, total| {
        control.report(done, total);
        !control.is_cancelled()
    };
    Ok(merge(parts, target, progress)?)
}

/// Returns the settings of every run: the version and the limits.
pub(crate) fn limit_settings(limits: &Limits) -> [(&'static str, Json); 5] {
    let time = limits.time.map(|time| time.as_secs_f64());
    [
        ("version", json!(env!("CARGO_PKG_VERSION"))),
        ("max-steps", json!(limits.steps)),
        ("max-size", json!(limits.size)),
        ("max-memory", json!(limits.memory)),
        ("max-time", json!(time)),
    ]
}

/// Returns a hash of all pairs of all tasks.
pub(crate) fn task_fingerprint(tasks: &Tasks) -> String {
    struct Pairs<'t>(&'t Tasks);

    impl Hash for Pairs<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            for task in self.0.iter() {
                task.id.hash(state);
                task.train.hash(state);
                task.test.hash(state);
            }
        }
    }

    fingerprint(Pairs(tasks))
}

/// Returns the names of the pairs without a known output, by task.
pub(crate) fn unknown_pairs<'t>(
    tasks: impl Iterator<Item = &'t Task>,
) -> BTreeMap<String, Vec<String>> {
    let unknown = tasks.map(|task| {
        let pairs = task.pairs().filter(|(_, pair)| pair.output.is_none());
        (
            task.id.clone(),
            pairs.map(|(pair, _)| pair.to_string()).collect::<Vec<_>>(),
        )
    });
    unknown.filter(|(_, pairs)| !pairs.is_empty()).collect()
}
