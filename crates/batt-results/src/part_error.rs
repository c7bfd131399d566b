//! The errors of parts and of merging them, with hints that name the part.

use std::borrow::Cow;
use std::path::PathBuf;

use batt_engine::Shard;

/// Parts of a run that cannot be merged, or a part that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// No part was named.
    #[error("no part to merge")]
    NoParts,
    /// A file has no record, so it was not written as a part.
    #[error(
        "{} is not a part of a run: {} is missing or damaged",
        path.display(),
        record.display()
    )]
    NotAPart {
        /// The file.
        path: PathBuf,
        /// The file that would describe it.
        record: PathBuf,
    },
    /// A part is not complete.
    #[error("part {shard} is unfinished: {} holds its lines so far", lines.display())]
    Unfinished {
        /// The part.
        shard: Shard,
        /// The unfinished lines.
        lines: PathBuf,
        /// The file that the part becomes.
        target: PathBuf,
    },
    /// A part is not what was written.
    #[error("{} is damaged or was changed: {problem}", path.display())]
    Damaged {
        /// The part.
        shard: Shard,
        /// Its file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Two files are parts of different runs.
    #[error(
        "{} and {} are parts of different runs: {} differ{}",
        path.display(),
        other.display(),
        differing.join(", "),
        if differing.len() == 1 { "s" } else { "" }
    )]
    OtherRun {
        /// The one file.
        path: PathBuf,
        /// The other file.
        other: PathBuf,
        /// The settings that differ.
        differing: Vec<String>,
    },
    /// Two files are the same part.
    #[error("{} and {} are both part {shard}", path.display(), other.display())]
    Twice {
        /// The part.
        shard: Shard,
        /// The one file.
        path: PathBuf,
        /// The other file.
        other: PathBuf,
    },
    /// Some parts were not named.
    #[error("{}", missing_text(shards, *more, found.as_ref()))]
    Missing {
        /// The first missing parts.
        shards: Vec<Shard>,
        /// How many more are missing.
        more: usize,
        /// A file in the folder of a part that holds the first missing part.
        found: Option<FoundPart>,
    },
    /// The name of a part ends in `.parquet`.
    #[error("cannot write a part as {}: parts are lines of JSON", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
    },
    /// The parts have lines of `batt run`, and the target ends in `.parquet`.
    #[error("cannot write {}: only results of `batt mega` become Parquet", path.display())]
    NoTable {
        /// The target.
        path: PathBuf,
    },
}

/// A file that holds a part that was not named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPart {
    /// The file, or the file that it becomes.
    pub target: PathBuf,
    /// Whether the part is complete.
    pub finished: bool,
}

fn missing_text(shards: &[Shard], more: usize, found: Option<&FoundPart>) -> String {
    let names: Vec<String> = shards.iter().map(ToString::to_string).collect();
    let names = names.join(", ");
    let mut text = match (shards.len(), more) {
        (1, 0) => format!("part {names} is missing"),
        (_, 0) => format!("parts {names} are missing"),
        _ => format!("parts {names} and {more} more are missing"),
    };
    if let (Some(FoundPart { target, finished }), Some(first)) = (found, shards.first()) {
        let target = target.display();
        text += &match finished {
            true => format!("; {target} is part {first}"),
            false => format!("; {target}.part holds unfinished lines of part {first}"),
        };
    }
    text
}

impl PartError {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> Cow<'static, str> {
        let again = |shard: &Shard, file: &PathBuf, option: &str| {
            let file = file.display();
            format!("run the command of this part again, with --shard {shard} -o {file} {option}")
        };
        match self {
            PartError::NoParts => "name the files of all parts".into(),
            PartError::NotAPart { .. } => {
                "name the files that --shard wrote, and keep each .meta.json beside its file".into()
            }
            PartError::Unfinished { shard, target, .. } => again(shard, target, "--resume").into(),
            PartError::Damaged { shard, path, .. } => again(shard, path, "--overwrite").into(),
            PartError::OtherRun { .. } => {
                "name parts of one run: the same files, options, limits and number of parts".into()
            }
            PartError::Twice { .. } => "name each part once".into(),
            PartError::Missing { shards, found, .. } => match (found, shards.first()) {
                (Some(found), _) if found.finished => "name the files of all parts".into(),
                (Some(found), Some(shard)) => again(shard, &found.target, "--resume").into(),
                (None, Some(shard)) => {
                    format!("run the command with --shard {shard}, or name the file of this part")
                        .into()
                }
                (_, None) => "name the files of all parts".into(),
            },
            PartError::Parquet { .. } => {
                "name a .jsonl file; `batt merge` can write Parquet".into()
            }
            PartError::NoTable { .. } => "name a .jsonl file".into(),
        }
    }
}
