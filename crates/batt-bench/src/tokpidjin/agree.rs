//! Compares the lists of both sides.

use serde_json::Value as Json;

/// The counts of compared entries of `o` and `s`.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// The number of entries compared.
    pub entries: usize,
    /// The number of entries with the same value, including kinds and the order of sets.
    pub same: usize,
    /// The number of entries that differ only in the order of sets with functions or NaN. Python
    /// orders those by address.
    pub arbitrary: usize,
    /// The number of entries for which this engine reached a limit that Python does not have.
    pub limited: usize,
    /// The first differences.
    pub differences: Vec<String>,
}

/// The number of differences listed.
const LISTED: usize = 20;

impl Agreement {
    /// Returns the number of entries that differ for no known reason.
    pub fn differ(&self) -> usize {
        self.entries - self.same - self.arbitrary - self.limited
    }

    /// Compares an entry of this engine with Python's. `None` means that this engine reached a
    /// limit.
    pub fn entry(&mut self, place: &str, ours: Option<&Json>, theirs: &Json) {
        self.entries += 1;
        match ours {
            None => self.limited += 1,
            Some(ours) if ours == theirs => self.same += 1,
            Some(ours)
                if (has_address_hash(ours) || has_address_hash(theirs))
                    && unordered(ours) == unordered(theirs) =>
            {
                self.arbitrary += 1;
            }
            Some(ours) => {
                if self.differences.len() < LISTED {
                    let (ours, theirs) = (short(ours), short(theirs));
                    self.differences
                        .push(format!("{place}: Python {theirs}, batt {ours}"));
                }
            }
        }
    }
}

/// Returns whether the value contains anything that Python hashes by address.
fn has_address_hash(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.iter().any(has_address_hash),
        Json::Object(object) => object.iter().any(|(tag, inner)| {
            tag == "f" || (tag == "x" && inner.as_str() == Some("nan")) || has_address_hash(inner)
        }),
        _ => false,
    }
}

/// Returns a text of the value that does not depend on the order of sets.
fn unordered(value: &Json) -> String {
    let list = |items: &[Json], sorted: bool| {
        let mut items: Vec<String> = items.iter().map(unordered).collect();
        if sorted {
            items.sort_unstable();
        }
        items.join(",")
    };
    match value {
        Json::Array(items) => format!("[{}]", list(items, false)),
        Json::Object(object) => object
            .iter()
            .map(|(tag, inner)| match inner {
                Json::Array(items) => format!("{tag}({})", list(items, tag == "s")),
                other => format!("{tag}{}", unordered(other)),
            })
            .collect(),
        other => other.to_string(),
    }
}

fn short(value: &Json) -> String {
    const LENGTH: usize = 200;
    let text = value.to_string();
    match text.char_indices().nth(LENGTH) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_counts_unless_python_hashes_by_address() {
        let mut agreement = Agreement::default();
        let mut compare = |a: Json, b: Json| agreement.entry("x", Some(&a), &b);
        compare(json!({"s": [1, 2]}), json!({"s": [1, 2]}));
        compare(json!({"s": [1, 2]}), json!({"s": [2, 1]}));
        compare(
            json!({"s": [1, {"x": "nan"}]}),
            json!({"s": [{"x": "nan"}, 1]}),
        );
        compare(
            json!({"t": [1, {"x": "nan"}]}),
            json!({"t": [{"x": "nan"}, 1]}),
        );
        agreement.entry("x", None, &json!(1));
        let counts = (agreement.same, agreement.arbitrary, agreement.limited);
        assert_eq!((counts, agreement.differ()), ((1, 1, 1), 2));
    }
}
