//! The settings of a run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// The settings on which a run's results depend, by the names that users know. A run is resumed
/// only with equal settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunSettings(Map<String, Json>);

impl RunSettings {
    /// Creates settings from names and values.
    pub fn new<'n>(settings: impl IntoIterator<Item = (&'n str, Json)>) -> RunSettings {
        let settings = settings.into_iter();
        RunSettings(
            settings
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    }

    /// Returns the names of the settings that differ from the earlier ones.
    pub fn changed_since(&self, before: &RunSettings) -> Vec<String> {
        let removed = before.0.keys().filter(|name| !self.0.contains_key(*name));
        let changed = self
            .0
            .iter()
            .filter(|(name, value)| before.0.get(*name) != Some(value));
        let names = changed.map(|(name, _)| name).chain(removed);
        names.cloned().collect()
    }
}
