//! The line of a run: writing and parsing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use batt_dsl::Run;
use batt_engine::{BattEntry, MegaResult, RunError};
use batt_lang::Batt;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use crate::sidecar::to_text;

/// How much detail a line has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The right candidates without their values, and the scores of their donors and of the input.
    #[default]
    Compact,
    /// All candidates with their values, and all scores.
    Full,
}

impl Detail {
    /// Returns the name of the form in settings.
    pub fn name(self) -> &'static str {
        match self {
            Detail::Compact => "compact",
            Detail::Full => "full",
        }
    }
}

/// Writes the lines of a batt. It prepares the text that precedes each value once for all lines.
///
/// A line is a JSON object:
///
/// | field | what it holds |
/// | --- | --- |
/// | `batt`, `task`, `pair` | the run: the batt's name, the task's id, `train[0]` or `test[0]` |
/// | `right` | the positions of the right candidates among those of the batt |
/// | `values`, `errors` | how many candidates have a value, and how many failed, by fault |
/// | `o` | candidates, as `[step, mutated, donor, value]` |
/// | `s` | scores, as `[step, donor, differ, value]` |
/// | `compared` | the scores computed with the known output, where a candidate is right |
///
/// The compact form has only the right candidates in `o`, without a value, since it is the known
/// output. Its scores are those of the input (donor `None`) and of the donors that are right.
///
/// A failed entry has `{"err": fault, "step": n}` instead of a value.
#[derive(Debug)]
pub struct LineWriter {
    detail: Detail,
    name: String,
    outputs: Vec<EntryPrefix>,
    scores: Vec<EntryPrefix>,
    numbers: Vec<u32>,
}

/// The text that precedes the value of an entry, and the entry's donor.
#[derive(Debug)]
struct EntryPrefix {
    text: String,
    donor: Option<String>,
}

impl LineWriter {
    /// Creates a writer for the lines of a batt. `name` is the batt's name in the results.
    pub fn new(name: &str, batt: &Batt, detail: Detail) -> LineWriter {
        let prefix = |fields: Json, donor: Option<&str>| EntryPrefix {
            text: fields.to_string().trim_end_matches(']').to_owned(),
            donor: donor.map(str::to_owned),
        };
        let outputs = batt.outputs.iter();
        let scores = batt.scores.iter();
        LineWriter {
            detail,
            name: name.to_owned(),
            outputs: outputs
                .map(|o| prefix(json!([o.number, o.mutated, o.donor]), Some(&o.donor)))
                .collect(),
            scores: scores
                .map(|s| {
                    let donor = s.donor.as_deref();
                    prefix(json!([s.number, donor.unwrap_or("None"), s.differ]), donor)
                })
                .collect(),
            numbers: batt.numbers.clone(),
        }
    }

    /// Returns whether lines depend on values. If not, devices need not send values.
    pub fn needs_values(&self) -> bool {
        self.detail == Detail::Full || !self.scores.is_empty()
    }

    /// Returns the text of an entry of a run. The worker that holds the value calls it.
    pub fn entry<'r>(&self, run: &mut Run<'r>, entry: BattEntry<'r>) -> String {
        let prefix = match entry.number.checked_sub(self.outputs.len()) {
            // `line` writes the right candidates; it is not known here which they are.
            None if self.detail == Detail::Compact => return String::new(),
            None => &self.outputs[entry.number],
            // Comparisons have the same prefixes as scores.
            Some(score) => &self.scores[score % self.scores.len()],
        };
        let mut text = format!("{},", prefix.text);
        let start = text.len();
        let written = entry.value.and_then(|value| {
            let written = run.write_json(value, &mut text);
            written.map_err(|fault| RunError { fault, step: None })
        });
        if let Err(error) = written {
            text.truncate(start);
            self.error(&error, &mut text);
        }
        text.push(']');
        text
    }

    fn error(&self, error: &RunError, text: &mut String) {
        let fault = error.fault.name();
        // Writing to a string cannot fail.
        let _ = match error.step {
            Some(step) => {
                let number = self.numbers[step.index()];
                write!(text, "{{\"err\":\"{fault}\",\"step\":{number}}}")
            }
            None => write!(text, "{{\"err\":\"{fault}\"}}"),
        };
    }

    /// Returns the line of a run. It holds no times, so that the same work gives the same file.
    pub fn line(&self, task: &str, pair: &str, result: &MegaResult<Option<String>>) -> String {
        let right: Vec<usize> = result.right().collect();
        let mut errors: BTreeMap<&str, u64> = BTreeMap::new();
        for error in result.errors() {
            *errors.entry(error.fault.name()).or_default() += 1;
        }
        let values = result.verdicts.len() as u64 - errors.values().sum::<u64>();
        let donors: Vec<&str> = right
            .iter()
            .filter_map(|k| self.outputs[*k].donor.as_deref())
            .collect();
        let is_kept = |score: &EntryPrefix| match (self.detail, &score.donor) {
            (Detail::Full, _) | (_, None) => true,
            (Detail::Compact, Some(donor)) => donors.contains(&donor.as_str()),
        };
        let scores = |entries: &[Option<String>]| {
            let entries = entries.iter().zip(&self.scores);
            let kept = entries.filter(|(_, score)| is_kept(score));
            list(kept.filter_map(|(entry, _)| entry.as_deref()))
        };
        // There is one verdict per candidate; the scores come after the candidates.
        let (o, s) = result.solved.split_at(result.verdicts.len());
        let o = match self.detail {
            Detail::Full => list(o.iter().flatten().map(String::as_str)),
            Detail::Compact => {
                let right = right.iter().map(|k| format!("{}]", self.outputs[*k].text));
                list(right.collect::<Vec<_>>().iter().map(String::as_str))
            }
        };
        let head = Head {
            batt: &self.name,
            task,
            pair,
            right: &right,
            values,
            errors: &errors,
        };
        let mut line = to_text(&head);
        // The lists of entries are JSON text already, so they are inserted before the closing
        // brace.
        line.pop();
        // Writing to a string cannot fail.
        let _ = write!(line, ",\"o\":[{o}],\"s\":[{}]", scores(s));
        if let Some(compared) = &result.compared {
            let _ = write!(line, ",\"compared\":[{}]", scores(compared));
        }
        line.push_str("}\n");
        line
    }

    /// Returns whether a line belongs to this batt, task and pair, and has all entries.
    pub fn is_own(&self, record: &MegaRecord<'_>, task: &str, pair: &str) -> bool {
        let (outputs, scores) = (self.outputs.len(), self.scores.len());
        let complete = match self.detail {
            Detail::Full => (record.o.len(), record.s.len()) == (outputs, scores),
            Detail::Compact => record.o.len() == record.right.len() && record.s.len() <= scores,
        };
        let errors: u64 = record.errors.values().sum();
        (&*record.batt, &*record.task, &*record.pair) == (self.name.as_str(), task, pair)
            && complete
            && record.right.iter().all(|k| *k < outputs)
            && record.values + errors == outputs as u64
    }
}

fn list<'e>(entries: impl Iterator<Item = &'e str>) -> String {
    entries.collect::<Vec<_>>().join(",")
}

/// The first fields of a line.
#[derive(Serialize)]
struct Head<'a> {
    batt: &'a str,
    task: &'a str,
    pair: &'a str,
    right: &'a [usize],
    values: u64,
    errors: &'a BTreeMap<&'a str, u64>,
}

/// A parsed line.
#[derive(Debug, Deserialize)]
pub struct MegaRecord<'a> {
    /// The batt's name in the results.
    #[serde(borrow)]
    pub batt: Cow<'a, str>,
    /// The id of the task.
    #[serde(borrow)]
    pub task: Cow<'a, str>,
    /// The name of the pair.
    #[serde(borrow)]
    pub pair: Cow<'a, str>,
    /// The positions of the right candidates.
    pub right: Vec<usize>,
    /// The number of candidates that have a value.
    pub values: u64,
    /// The number of candidates that failed, by the name of the fault.
    pub errors: BTreeMap<String, u64>,
    /// The candidates: all, or only the right ones.
    #[serde(borrow)]
    pub o: Vec<OutputEntry<'a>>,
    /// The scores.
    #[serde(borrow)]
    pub s: Vec<ScoreEntry<'a>>,
    /// The scores computed with the known output.
    #[serde(borrow, default)]
    pub compared: Vec<ScoreEntry<'a>>,
}

impl MegaRecord<'_> {
    /// Returns the positions and the donors of the right candidates; `None` if the line lacks one.
    pub fn right_donors(&self) -> Option<Vec<(usize, &str)>> {
        // The compact form has only the right candidates.
        let is_compact = self.o.len() == self.right.len();
        let donors = self.right.iter().enumerate().map(|(k, &at)| {
            let output = self.o.get(if is_compact { k } else { at })?;
            Some((at, output.donor.as_str()))
        });
        donors.collect()
    }
}

/// A score in a line: step, donor, differ, value.
pub type ScoreEntry<'a> = (u32, String, String, &'a RawValue);

/// A candidate in a line.
#[derive(Debug)]
pub struct OutputEntry<'a> {
    /// The number of its step.
    pub step: u32,
    /// Whether the solver was mutated.
    pub mutated: bool,
    /// The id of the solver.
    pub donor: String,
    /// The value; `None` in the compact form.
    pub value: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for OutputEntry<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OutputEntry<'a>, D::Error> {
        struct Entry;

        impl<'de> Visitor<'de> for Entry {
            type Value = OutputEntry<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a candidate: [step, mutated, donor] or [step, mutated, donor, value]")
            }

            fn visit_seq<S: SeqAccess<'de>>(
                self,
                mut list: S,
            ) -> Result<OutputEntry<'de>, S::Error> {
                let missing = |at| S::Error::invalid_length(at, &self);
                Ok(OutputEntry {
                    step: list.next_element()?.ok_or_else(|| missing(0))?,
                    mutated: list.next_element()?.ok_or_else(|| missing(1))?,
                    donor: list.next_element()?.ok_or_else(|| missing(2))?,
                    value: list.next_element()?,
                })
            }
        }

        deserializer.deserialize_seq(Entry)
    }
}

/// Returns the name of the fault if a value is an error.
pub(crate) fn failure(value: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Failure {
        err: String,
    }
    // Checks the prefix first, because most values are long. Values that are objects have other
    // keys.
    let text = value.get();
    text.starts_with("{\"err\"").then_some(())?;
    let failure: Failure = serde_json::from_str(text).ok()?;
    Some(failure.err)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use batt_dsl::Fault;
    use batt_engine::{RunError, Verdict};
    use batt_lang::BattFile;

    use super::*;

    const BATT: &str = "
def batt(S, I, C):
    s = []
    o = []
    t1 = hmirror(I)
    o.append((1, False, 'a', t1))
    t2 = vmirror(I)
    o.append((2, True, 'b', t2))
    t3 = crop(I, I, I)
    o.append((3, False, 'c', t3))
    t4 = equality(I, C)
    s.append((4, 'None', 'd', t4))
    t5 = equality(t1, C)
    s.append((5, 'a', 'd', t5))
    t6 = equality(t2, C)
    s.append((6, 'b', 'd', t6))
    return o, s
";

    #[test]
    fn both_forms_are_read_again() {
        let batt = BattFile::parse(BATT, "b.py", None).batts.remove(0);
        let error = RunError {
            fault: Fault::Type,
            step: None,
        };
        let entries = |list: [&str; 6]| list.map(|entry| Some(entry.to_owned())).to_vec();
        let compared = [
            r#"[4,"None","d",true]"#,
            r#"[5,"a","d",true]"#,
            r#"[6,"b","d",true]"#,
        ];
        let compared = compared.map(|entry| Some(entry.to_owned()));
        let result = MegaResult {
            verdicts: vec![
                Verdict::Right,
                Verdict::WrongShape(1, 1),
                Verdict::Failed(error),
            ],
            solved: entries([
                r#"[1,false,"a",[1]]"#,
                r#"[2,true,"b",null]"#,
                r#"[3,false,"c",{"err":"TypeError"}]"#,
                r#"[4,"None","d",false]"#,
                r#"[5,"a","d",false]"#,
                r#"[6,"b","d",false]"#,
            ]),
            compared: Some(compared.to_vec()),
            time: Duration::ZERO,
        };
        for (detail, candidates, scores) in [(Detail::Compact, 1, 2), (Detail::Full, 3, 3)] {
            let writer = LineWriter::new("b.py", &batt, detail);
            let line = writer.line("t", "test[0]", &result);
            let record: MegaRecord<'_> = serde_json::from_str(&line).unwrap();
            assert!(writer.is_own(&record, "t", "test[0]"), "{line}");
            assert!(!writer.is_own(&record, "t", "test[1]"));
            assert_eq!(record.right, [0]);
            assert_eq!(record.right_donors(), Some(vec![(0, "a")]));
            assert_eq!((record.values, record.errors["TypeError"]), (2, 1));
            assert_eq!(record.o.len(), candidates);
            assert_eq!((record.s.len(), record.compared.len()), (scores, scores));
            assert_eq!(record.o[0].value.is_some(), detail == Detail::Full);
            let missing = line.replace("\"values\":2", "\"values\":1");
            let record: MegaRecord<'_> = serde_json::from_str(&missing).unwrap();
            assert!(!writer.is_own(&record, "t", "test[0]"));
        }
    }
}
