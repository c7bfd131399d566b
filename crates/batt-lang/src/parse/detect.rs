//! Detects the dialect of a file from its text.
//!
//! Names that only one dialect has are evidence for it. So is `(S, I, C)` or `(S, I)` as the
//! signature of most functions, since only tokpidjin's solvers see the demonstrations. RE-ARC has
//! arc-dsl's names; its functions are called `verify_<id>`. A file without evidence is arc-dsl.

use std::collections::HashMap;
use std::sync::OnceLock;

use batt_dsl::Dialect;

use super::scan::{Piece, Word};

/// Names of generated tokpidjin files that are not primitives.
const GENERATED: [&str; 3] = [
    "_get_safe_default",
    "batch_process_samples",
    "batch_process_samples_gpu",
];

/// The most names that a reason lists.
const NAMES_SHOWN: usize = 3;

/// The detected dialect, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub dialect: Dialect,
    /// The reason as text: `tokpidjin: it uses o_g and takes (S, I, C)`.
    pub reason: String,
}

/// The names that only one dialect has, numbered. RE-ARC counts as arc-dsl.
struct OwnNames {
    numbers: HashMap<&'static str, usize>,
    names: Vec<(&'static str, Dialect)>,
}

impl OwnNames {
    fn get() -> &'static OwnNames {
        static ALL: OnceLock<OwnNames> = OnceLock::new();
        ALL.get_or_init(|| {
            let (arc, tok) = (Dialect::ArcDsl, Dialect::Tokpidjin);
            let of = |own: Dialect, other: Dialect| {
                let names = names(own).filter(move |name| !knows(other, name));
                names.map(move |name| (name, own))
            };
            let generated = GENERATED.into_iter().map(|name| (name, tok));
            let names: Vec<_> = of(arc, tok).chain(of(tok, arc)).chain(generated).collect();
            let numbered = names.iter().enumerate();
            let numbers = numbered.map(|(k, (name, _))| (*name, k)).collect();
            OwnNames { numbers, names }
        })
    }
}

/// The names of a dialect: primitives and constants.
fn names(dialect: Dialect) -> impl Iterator<Item = &'static str> {
    let ops = dialect.ops().iter().map(|op| op.name);
    ops.chain(dialect.constants().map(|id| id.name()))
}

/// Returns whether a dialect has a primitive or constant of this name.
pub(super) fn knows(dialect: Dialect, name: &str) -> bool {
    dialect.op(name).is_some() || dialect.constant(name).is_some()
}

/// The evidence in the words of a file, gathered during the scan.
pub(super) struct Evidence<'t> {
    text: &'t str,
    own: &'static OwnNames,
    /// By number of the name: whether the file uses it, and whether it assigns it.
    seen: Vec<(bool, bool)>,
    /// The used names, in order of their first use.
    used: Vec<usize>,
}

impl<'t> Evidence<'t> {
    pub(super) fn new(text: &'t str) -> Evidence<'t> {
        let own = OwnNames::get();
        Evidence {
            text,
            own,
            seen: vec![(false, false); own.names.len()],
            used: Vec::new(),
        }
    }

    /// Records a word.
    pub(super) fn word(&mut self, word: &Word) {
        // A word beyond ASCII may be cut within a character. No name of a dialect has one.
        let Some(text) = self.text.get(word.range.clone()) else {
            return;
        };
        let Some(&number) = self.own.numbers.get(text) else {
            return;
        };
        let (used, assigned) = &mut self.seen[number];
        if word.assigned {
            *assigned = true;
        } else if !std::mem::replace(used, true) {
            self.used.push(number);
        }
    }

    /// Returns the dialect for which words and functions give the most evidence.
    pub(super) fn verdict(&self, pieces: &[Piece]) -> Verdict {
        // A name that the file assigns itself is no evidence.
        let of = |dialect: Dialect| -> Vec<&'static str> {
            let own = self.used.iter().filter(|&&number| !self.seen[number].1);
            let named = own.map(|&number| self.own.names[number]);
            named
                .filter(|(_, of)| *of == dialect)
                .map(|(name, _)| name)
                .collect()
        };
        let (arc, tok) = (of(Dialect::ArcDsl), of(Dialect::Tokpidjin));
        let functions = pieces.iter().filter(|piece| piece.name.is_some());
        let taking: Vec<_> = { functions.clone() }
            .filter_map(|piece| self.samples_signature(piece))
            .collect();
        let samples = taking
            .first()
            .filter(|_| 2 * taking.len() > functions.count());
        if tok.len() + usize::from(samples.is_some()) > arc.len() {
            let takes = samples.map(|signature| format!("takes {signature}"));
            let reasons: Vec<_> = uses(&tok).into_iter().chain(takes).collect();
            return Verdict::new(Dialect::Tokpidjin, &format!("it {}", reasons.join(" and ")));
        }
        let (mut verifiers, mut solvers) = (Vec::new(), 0);
        for name in pieces.iter().filter_map(|piece| piece.name.clone()) {
            let name = &self.text[name];
            if name.starts_with("verify_") {
                verifiers.push(name);
            } else if name.starts_with("solve_") {
                solvers += 1;
            }
        }
        if let Some(first) = verifiers.first().filter(|_| verifiers.len() > solvers) {
            let reason = format!("its functions are verifiers, such as {first}");
            return Verdict::new(Dialect::ReArc, &reason);
        }
        let reason = match uses(&arc) {
            Some(uses) => format!("it {uses}"),
            None => "no name in it belongs to another dialect".to_owned(),
        };
        Verdict::new(Dialect::ArcDsl, &reason)
    }

    /// Returns the parameters of a function as text, if they include the demonstrations.
    fn samples_signature(&self, piece: &Piece) -> Option<&'static str> {
        // Three parameters with annotations are short, so the beginning of the list suffices.
        let rest = &self.text.as_bytes()[piece.name.clone()?.end..piece.range.end];
        let (b'(', list) = rest.trim_ascii_start().split_first()? else {
            return None;
        };
        let list = &list[..list.len().min(200)];
        let end = list.iter().position(|&b| b == b')')?;
        let params = list[..end].split(|&b| b == b',').map(|param| {
            let name = param.split(|&b| b == b':').next().unwrap_or_default();
            name.trim_ascii()
        });
        if { params.clone() }.eq([b"S", b"I", b"C"]) {
            return Some("(S, I, C)");
        }
        params.eq([b"S", b"I"]).then_some("(S, I)")
    }
}

/// Returns text such as `uses a, b, c`; `None` if there are no names.
fn uses(names: &[&str]) -> Option<String> {
    let shown = &names[..names.len().min(NAMES_SHOWN)];
    let more = if names.len() > shown.len() {
        ", ..."
    } else {
        ""
    };
    (!shown.is_empty()).then(|| format!("uses {}{more}", shown.join(", ")))
}

impl Verdict {
    fn new(dialect: Dialect, reason: &str) -> Verdict {
        let reason = format!("{}: {reason}", dialect.name());
        Verdict { dialect, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SolverFile;

    /// Returns the detected dialect of a text, with the reason.
    fn detected(text: &str) -> (Dialect, String) {
        let file = SolverFile::parse(text, "f.py");
        (file.dialect, file.detected.expect("none was given"))
    }

    #[test]
    fn names_of_one_dialect_are_evidence_for_it() {
        let (dialect, reason) = detected("def f(I):\n  x = add(F0, L1)\n  return x");
        assert_eq!(dialect, Dialect::Tokpidjin);
        assert_eq!(reason, "tokpidjin: it uses F0, L1");
        let (dialect, reason) = detected("def f(I):\n  return hmirror(palette(I))");
        assert_eq!(dialect, Dialect::ArcDsl);
        assert_eq!(reason, "arc-dsl: it uses hmirror, palette");
        // The majority counts, and a tie is arc-dsl.
        let two_to_one = "def f(I):\n  x = hmirror(I, F0)\n  return colorcount(x)";
        assert_eq!(detected(two_to_one).0, Dialect::ArcDsl);
        let tie = "def f(S, I, C):\n  return hmirror(I)";
        assert_eq!(detected(tie).0, Dialect::ArcDsl);
    }

    #[test]
    fn the_signature_is_evidence_for_tokpidjin() {
        for params in ["S, I, C", " S ,I: Grid,\n C "] {
            let text = format!("def f({params}):\n  return I");
            let (dialect, reason) = detected(&text);
            assert_eq!(dialect, Dialect::Tokpidjin);
            assert_eq!(reason, "tokpidjin: it takes (S, I, C)");
        }
        for params in [
            "",
            "I",
            "I, S, C",
            "S, I, C, x",
            "task_id, S, I, C, log_path",
        ] {
            let text = format!("def f({params}):\n  return BLACK if I else I");
            assert_eq!(detected(&text).1, "tokpidjin: it uses BLACK", "{params}");
            let text = text.replace("BLACK", "ONE");
            assert_eq!(detected(&text).0, Dialect::ArcDsl, "{params}");
        }
    }

    #[test]
    fn verifiers_are_evidence_for_re_arc() {
        let (dialect, reason) = detected("def verify_00d62c1b(I):\n  return hmirror(I)");
        assert_eq!(dialect, Dialect::ReArc);
        let expected = "re-arc: its functions are verifiers, such as verify_00d62c1b";
        assert_eq!(reason, expected);
        let mixed = "def solve_a(I):\n  return I\ndef verify_a(I):\n  return I";
        assert_eq!(detected(mixed).0, Dialect::ArcDsl);
    }

    #[test]
    fn a_file_without_evidence_is_arc_dsl() {
        for text in [
            "",
            "# F0\n'L1'\n",
            "F0 = 1\ndef f(I):\n  return F0",
            "été = 1",
        ] {
            let (dialect, reason) = detected(text);
            assert_eq!(dialect, Dialect::ArcDsl, "{text}");
            assert_eq!(reason, "arc-dsl: no name in it belongs to another dialect");
        }
    }

    #[test]
    fn a_given_dialect_is_not_detected() {
        let text = "def f(I):\n  return hmirror(I)";
        let file = SolverFile::parse_in(text, "f.py", Some(Dialect::ReArc));
        assert_eq!((file.dialect, file.detected), (Dialect::ReArc, None));
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(uses(&[]), None);
        assert_eq!(uses(&["a"]).as_deref(), Some("uses a"));
        assert_eq!(uses(&["a", "b", "c"]).as_deref(), Some("uses a, b, c"));
        let four = uses(&["a", "b", "c", "d"]);
        assert_eq!(four.as_deref(), Some("uses a, b, c, ..."));
    }
}
