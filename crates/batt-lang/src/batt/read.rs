//! Batt files: Python text, JSON, or both side by side.

use std::io::ErrorKind;
use std::path::Path;

use batt_dsl::Dialect;

use super::json::{self, JsonError};
use super::{Batt, DifferScore, Output};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Severity};
use crate::parse::{self, Batts, SourceError};
use crate::source::{SourceFile, Span};

/// A parsed batt file: its batts, and what the parser reports about it.
///
/// ```
/// use batt_lang::batt::{BattFile, OnError};
///
/// let file = BattFile::parse("
/// def batt(task_id, S, I, C, log_path):
///     s = []
///     o = []
///     t1 = add(I, F0)
///     t3 = even(t1)
///     o.append((3, False, '00d62c1b', t3))
///     return o, s
/// ", "batt.py", None);
/// assert!(file.is_clean());
/// let batt = &file.batts[0];
/// assert_eq!(batt.numbers, [1, 3]);
/// assert_eq!(batt.outputs[0].steps.len(), 2);
/// assert_eq!(batt.on_error, OnError::Poison);
/// ```
#[derive(Clone, Debug)]
pub struct BattFile {
    /// The text.
    pub source: SourceFile,
    /// The dialect in which its names were looked up.
    pub dialect: Dialect,
    /// Why this dialect was detected, as text that begins with its name; `None` if the caller gave
    /// the dialect.
    pub detected: Option<String>,
    /// The batts that could be loaded, in file order.
    pub batts: Vec<Batt>,
    /// What the parser found, sorted by line.
    pub diagnostics: Vec<Diagnostic>,
}

impl From<Batt> for BattFile {
    /// Wraps a batt that did not come from a file. The text of the result is empty.
    fn from(batt: Batt) -> BattFile {
        let name = batt.program.name().to_owned();
        BattFile::named(batt, &name)
    }
}

impl BattFile {
    /// Wraps a batt that did not come from a file, under a name of its own in results. The text of
    /// the result is empty.
    pub fn named(batt: Batt, name: &str) -> BattFile {
        BattFile {
            source: SourceFile::new(name, "".into()),
            dialect: batt.dialect(),
            detected: None,
            batts: vec![batt],
            diagnostics: Vec::new(),
        }
    }

    /// Reads a file from disk: `.json` is the JSON form, anything else Python text.
    ///
    /// Python text may have its JSON form beside it, under the same name. If the JSON describes the
    /// same batt, the steps of each entry are taken from it. Otherwise a warning is reported.
    pub fn load(path: impl AsRef<Path>, dialect: Option<Dialect>) -> Result<BattFile, SourceError> {
        let path = path.as_ref();
        let name = path.to_string_lossy();
        let bytes = parse::read_bytes(path)?;
        let text = parse::utf8(&bytes, &name)?;
        if path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("json"))
        {
            return Ok(BattFile::parse_json(text, &name, dialect));
        }
        let mut file = BattFile::parse(text, &name, dialect);
        file.take_provenance(&path.with_extension("json"));
        Ok(file)
    }

    /// Reads Python text; `file_name` is for messages. `None` detects the dialect, as for solver
    /// files.
    ///
    /// This never fails as a whole. A batt that cannot be loaded is missing from `batts` and
    /// explained in `diagnostics`.
    pub fn parse(text: &str, file_name: &str, dialect: Option<Dialect>) -> BattFile {
        let read = parse::read_text::<Batts>(text, file_name, dialect);
        BattFile {
            source: read.source,
            dialect: read.dialect,
            detected: read.detected,
            batts: read.items,
            diagnostics: read.diagnostics,
        }
    }

    /// Reads the JSON form; `file_name` is for messages. The file names its dialect, which must
    /// match the given one, if any.
    pub fn parse_json(text: &str, file_name: &str, dialect: Option<Dialect>) -> BattFile {
        // The line index of `SourceFile` has 32-bit offsets. Longer text is read, but messages do
        // not quote it.
        let shown = if u32::try_from(text.len()).is_ok() {
            text
        } else {
            ""
        };
        let source = SourceFile::new(file_name, shown.into());
        let read = json::from_json_text(text).and_then(|batt| match dialect {
            Some(given) if given != batt.dialect() => {
                let named = batt.dialect().name();
                let message = format!("it is '{named}', not '{}'", given.name());
                Err(JsonError::at("dialect", message))
            }
            _ => Ok(batt),
        });
        let (batts, diagnostics) = match read {
            Ok(batt) => (vec![batt], Vec::new()),
            Err(error) => (Vec::new(), vec![error.diagnostic(&source)]),
        };
        BattFile {
            dialect: batts
                .first()
                .map_or(dialect.unwrap_or_default(), Batt::dialect),
            detected: None,
            source,
            batts,
            diagnostics,
        }
    }

    /// The batt with this name.
    pub fn batt(&self, name: &str) -> Option<&Batt> {
        self.batts.iter().find(|batt| batt.program.name() == name)
    }

    /// Returns whether every batt of the file loaded.
    pub fn is_clean(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Copies the steps of the entries from the JSON file at `path`, if there is one.
    fn take_provenance(&mut self, path: &Path) {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            Err(error) => return self.no_provenance(path, &error.to_string()),
        };
        let name = path.to_string_lossy();
        let read = match parse::utf8(&bytes, &name) {
            Ok(text) => json::from_json_text(text).map_err(|error| error.to_string()),
            Err(_) => Err("it is not valid UTF-8".to_owned()),
        };
        let adopted = read.and_then(|known| {
            let name = known.program.name();
            let here = self.batts.iter_mut().find(|b| b.program.name() == name);
            let here =
                here.ok_or_else(|| format!("it describes a batt '{name}', which is not here"))?;
            adopt(here, known)
        });
        if let Err(why) = adopted {
            self.no_provenance(path, &why);
        }
    }

    fn no_provenance(&mut self, path: &Path, why: &str) {
        let message = format!("the JSON file beside the batt is ignored: {why}");
        let (severity, code) = (Severity::Warning, DiagnosticCode::Provenance);
        let mut found = Diagnostic::new(severity, code, message, None, Span::default());
        found.file = path.to_string_lossy().into_owned();
        found.hint = Some("write it again, or remove it".to_owned());
        self.diagnostics.push(found);
    }
}

/// Copies the steps of all entries from `known` if it is the same batt; otherwise returns the
/// difference.
fn adopt(here: &mut Batt, known: Batt) -> Result<(), String> {
    if here.dialect() != known.dialect() {
        return Err(format!("its dialect is {}", known.dialect().name()));
    }
    let steps = |batt: &Batt| batt.numbers.len();
    let pairs = here.program.steps().iter().zip(known.program.steps());
    let numbers = here.numbers.iter().zip(&known.numbers);
    for ((a, b), (number, other)) in pairs.zip(numbers) {
        if number != other || a.kind != b.kind {
            return Err(format!("step t{other} is not t{number} of the text"));
        }
    }
    if steps(here) != steps(&known) {
        return Err(format!(
            "it has {} steps, not {}",
            steps(&known),
            steps(here)
        ));
    }
    let plain_output = |output: &Output| Output {
        steps: Vec::new(),
        ..output.clone()
    };
    let plain_score = |score: &DifferScore| DifferScore {
        steps: Vec::new(),
        ..score.clone()
    };
    let outputs = here.outputs.iter().map(plain_output);
    let scores = here.scores.iter().map(plain_score);
    if !outputs.eq(known.outputs.iter().map(plain_output)) {
        return Err("its outputs differ".to_owned());
    }
    if !scores.eq(known.scores.iter().map(plain_score)) {
        return Err("its scores differ".to_owned());
    }
    here.outputs = known.outputs;
    here.scores = known.scores;
    Ok(())
}
