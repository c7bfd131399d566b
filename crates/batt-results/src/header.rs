//! The header of results: which run they belong to, and which part of it they are.

use std::collections::BTreeMap;

use batt_engine::Shard;
use serde::{Deserialize, Serialize};

use crate::error::ResultsError;
use crate::settings::RunSettings;

/// The kind of lines of a results file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    /// Lines of solvers on tasks, as `batt run` writes them.
    Run,
    /// Lines of batts on samples, as `batt mega` writes them.
    Mega,
}

/// What results are of. It is on disk beside the lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultsHeader {
    /// The kind of lines.
    pub lines: LineKind,
    /// The settings of the run, the same for all its parts.
    pub settings: RunSettings,
    /// The part whose lines the file holds.
    pub shard: Shard,
    /// The number of runs of all parts.
    pub runs: usize,
    /// The number of tasks of all parts.
    pub tasks: usize,
    /// The pairs without a known output, by task: no donor or solver can be right there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown: BTreeMap<String, Vec<String>>,
}

impl ResultsHeader {
    /// Returns the number of lines of the part.
    pub fn len(&self) -> usize {
        self.shard.len(self.runs)
    }

    /// Returns whether the part has no lines.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the header of all parts together.
    pub(crate) fn whole(&self) -> ResultsHeader {
        ResultsHeader {
            shard: Shard::WHOLE,
            ..self.clone()
        }
    }

    /// Checks that earlier results are those of the same part of the same run.
    pub(crate) fn check(
        &self,
        (settings, shard): (&RunSettings, Shard),
        finished: bool,
    ) -> Result<(), ResultsError> {
        let mut changed = self.settings.changed_since(settings);
        if self.shard != shard {
            changed.push("shard".to_owned());
        }
        match changed.is_empty() {
            true => Ok(()),
            false => Err(ResultsError::OtherRun { finished, changed }),
        }
    }
}
