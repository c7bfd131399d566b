//! The kinds of value that Python distinguishes, and what primitives certainly do with them.
//!
//! The DSL's type hints are conventions: the hint of `maximum` is an integer, but it returns any
//! element of the container. The table in this file has only facts that hold for every call:
//!
//! - If an argument has a kind that its parameter does not list, the call fails.
//! - If a call succeeds, the result has one of the kinds listed for it.
//!
//! A primitive without a row may accept and return anything, so a new primitive needs no row.

use std::fmt;
use std::ops::{BitAnd, BitOr};
use std::sync::OnceLock;

use batt_dsl::{Literal, OpId};

/// A set of kinds of value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kinds(u8);

impl Kinds {
    /// No kind: the value of a step that cannot succeed.
    pub const NOTHING: Kinds = Kinds(0);
    /// `None`.
    pub const NONE: Kinds = Kinds(1);
    /// Integers, and truth values, which are integers in Python.
    pub const INT: Kinds = Kinds(2);
    /// Tuples: grids, pairs, cells and all.
    pub const TUPLE: Kinds = Kinds(4);
    /// Frozensets: objects, indices and all.
    pub const SET: Kinds = Kinds(8);
    /// Functions.
    pub const FUNCTION: Kinds = Kinds(16);
    /// Every kind.
    pub const ANY: Kinds = Kinds(31);

    /// The kind of a literal.
    pub fn of(literal: &Literal) -> Kinds {
        match literal {
            Literal::None => Kinds::NONE,
            Literal::Bool(_) | Literal::Int(_) => Kinds::INT,
            Literal::Tuple(_) => Kinds::TUPLE,
        }
    }

    /// Returns whether some kind is in both sets.
    pub fn overlaps(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether every kind of this set is in the other.
    pub fn within(self, other: Kinds) -> bool {
        self.0 & !other.0 == 0
    }
}

impl BitOr for Kinds {
    type Output = Kinds;
    fn bitor(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

impl BitAnd for Kinds {
    type Output = Kinds;
    fn bitand(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }
}

impl fmt::Display for Kinds {
    /// Writes the kinds as text, such as `an integer or a tuple`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Kinds::NONE, "None"),
            (Kinds::INT, "an integer"),
            (Kinds::TUPLE, "a tuple"),
            (Kinds::SET, "a set"),
            (Kinds::FUNCTION, "a function"),
        ];
        let here = names.iter().filter(|(kind, _)| self.overlaps(*kind));
        for (k, (_, name)) in here.enumerate() {
            write!(f, "{}{name}", if k > 0 { " or " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The certain facts about a primitive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    /// The kinds that each parameter can work with.
    pub params: Vec<Kinds>,
    /// The kinds of the result.
    pub result: Kinds,
    /// The parameters that determine the kind of the result, which is the kind of one of them.
    /// Empty if `result` alone describes it.
    pub same: Vec<usize>,
}

impl Signature {
    /// The signature of a primitive.
    pub(super) fn of(op: OpId) -> &'static Signature {
        static ALL: OnceLock<Vec<Signature>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let every = OpId::every().map(Signature::look_up);
            // The last signature serves a primitive that `OpId::every` does not list.
            every.chain([Signature::unknown(0)]).collect()
        });
        &all[op.index().min(all.len() - 1)]
    }

    /// The signature of a primitive that may do anything.
    fn unknown(arity: usize) -> Signature {
        Signature {
            params: vec![Kinds::ANY; arity],
            result: Kinds::ANY,
            same: Vec::new(),
        }
    }

    fn look_up(op: OpId) -> Signature {
        let (name, arity) = (op.op().name, op.op().params.len());
        // The table describes arc-dsl. A primitive with a fallback never fails, whatever its
        // arguments, and its result need not have the kind that arc-dsl's primitive of that name
        // returns.
        if op.op().fallback.is_some() {
            return Signature::unknown(arity);
        }
        TABLE
            .iter()
            .find(|(names, _)| names.split_whitespace().any(|n| n == name))
            .and_then(|(_, row)| Signature::read(row))
            .filter(|signature| signature.params.len() == arity)
            .unwrap_or_else(|| Signature::unknown(arity))
    }

    /// Reads a row of the table.
    fn read(row: &str) -> Option<Signature> {
        let (params, result) = row.split_once(" -> ")?;
        let params = params.split(' ').map(read_kinds).collect::<Option<_>>()?;
        Some(match result.strip_prefix('=') {
            Some(same) => Signature {
                params,
                result: Kinds::ANY,
                same: same
                    .split('|')
                    .map(|k| k.parse().ok())
                    .collect::<Option<_>>()?,
            },
            None => Signature {
                params,
                result: read_kinds(result)?,
                same: Vec::new(),
            },
        })
    }
}

fn read_kinds(text: &str) -> Option<Kinds> {
    let kind = |c| match c {
        'n' => Some(Kinds::NONE),
        'i' => Some(Kinds::INT),
        't' => Some(Kinds::TUPLE),
        's' => Some(Kinds::SET),
        'f' => Some(Kinds::FUNCTION),
        'c' => Some(Kinds::TUPLE | Kinds::SET),
        '_' => Some(Kinds::ANY),
        _ => None,
    };
    text.chars()
        .try_fold(Kinds::NOTHING, |all, c| Some(all | kind(c)?))
}

/// The table of signatures: names of primitives, and the signature they share. `n` is None, `i`
/// integer, `t` tuple, `s` set, `f` function, `c` container (tuple or set), `_` anything, `=0` the
/// kind of argument 0. Letters combine: `its` is an integer, a tuple or a set.
///
/// A parameter that is used only when a container has elements counts as `_`: with an empty
/// container the call succeeds.
const TABLE: &[(&str, &str)] = &[
    // Arithmetic indexes its arguments, which sets do not allow. The parts of a pair may be sets,
    // though, from which `subtract` can take another set.
    ("add multiply divide vconcat", "it it -> it"),
    ("subtract", "it its -> it"),
    (
        "invert double halve increment decrement crement sign",
        "it -> =0",
    ),
    ("even positive", "i -> i"),
    ("toivec tojvec", "_ -> t"),
    ("astuple", "_ _ -> t"),
    // Logic
    ("identity", "_ -> =0"),
    ("flip", "_ -> i"),
    ("equality", "_ _ -> i"),
    ("greater", "its its -> i"),
    ("both either", "_ _ -> =0|1"),
    ("branch", "_ _ _ -> =1|2"),
    ("contained", "_ c -> i"),
    // Containers
    ("size", "c -> i"),
    ("totuple dedupe", "c -> t"),
    ("first last maximum minimum", "c -> _"),
    ("initset", "_ -> s"),
    ("insert", "_ s -> s"),
    ("remove", "_ c -> =1"),
    ("other", "c _ -> _"),
    ("combine", "c c -> =0"),
    ("intersection", "is is -> is"),
    ("difference sfilter mfilter", "c _ -> =0"),
    ("order", "c _ -> t"),
    ("repeat", "_ i -> t"),
    ("merge", "c -> =0"),
    ("valmax valmin extract", "c f -> _"),
    ("argmax argmin", "c fn -> _"),
    ("mostcommon leastcommon", "t -> _"),
    ("interval", "i i i -> t"),
    ("product", "_ c -> s"),
    ("pair", "c c -> t"),
    ("sizefilter", "c _ -> s"),
    // Functions
    ("compose matcher", "_ _ -> f"),
    ("chain fork", "_ _ _ -> f"),
    ("rbind lbind", "f _ -> f"),
    ("power", "_ i -> _"),
    ("apply mapply", "_ c -> =1"),
    ("rapply", "c _ -> =0"),
    ("papply mpapply", "_ c c -> t"),
    ("prapply", "_ _ c -> s"),
    // Patches
    ("toindices normalize box", "c -> c"),
    (
        "asindices asobject corners backdrop delta inbox outbox",
        "c -> s",
    ),
    ("toobject", "c t -> s"),
    ("recolor", "_ c -> s"),
    ("shift", "c _ -> c"),
    // Measures. Coordinates have whatever kind the patch holds.
    ("uppermost lowermost leftmost rightmost", "c -> _"),
    (
        "ulcorner urcorner llcorner lrcorner shape center centerofmass",
        "c -> t",
    ),
    (
        "height width portrait square vline hline hperiod vperiod",
        "c -> i",
    ),
    ("hmatching vmatching manhattan adjacent", "c c -> i"),
    ("bordering", "c _ -> i"),
    ("position gravitate", "c c -> t"),
    // Lines
    (
        "dneighbors ineighbors neighbors vfrontier hfrontier",
        "t -> s",
    ),
    ("connect", "c c -> s"),
    ("shoot", "t t -> s"),
    ("index", "t c -> _"),
    // Mirrors
    ("hmirror vmirror dmirror cmirror", "c -> =0"),
    ("rot90 rot180 rot270", "t -> t"),
    ("hupscale vupscale", "c _ -> t"),
    ("upscale", "c _ -> =0"),
    ("downscale", "t _ -> t"),
    // Grids
    ("crop", "t t t -> t"),
    ("subgrid", "c t -> t"),
    ("hconcat", "c c -> t"),
    ("hsplit vsplit", "t i -> t"),
    ("cellwise", "t _ _ -> t"),
    ("replace switch", "c _ _ -> t"),
    ("canvas", "_ t -> t"),
    ("fill underfill", "t _ c -> t"),
    ("paint underpaint cover", "t c -> t"),
    ("move", "t c _ -> t"),
    ("trim tophalf bottomhalf lefthalf righthalf", "t -> t"),
    ("compress", "c -> t"),
    // Colours
    ("mostcolor leastcolor color", "c -> _"),
    ("colorcount", "c _ -> i"),
    ("palette", "c -> s"),
    ("numcolors", "c -> i"),
    ("colorfilter ofcolor", "c _ -> s"),
    // Segmentation
    ("objects", "t _ _ _ -> s"),
    ("partition fgpartition", "c -> s"),
    ("occurrences", "t c -> s"),
    ("frontiers", "t -> s"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_row_fits_its_primitives() {
        let mut seen = HashSet::new();
        for (names, row) in TABLE {
            let signature = Signature::read(row).expect(row);
            assert!(
                signature.same.iter().all(|&k| k < signature.params.len()),
                "{row}"
            );
            for name in names.split_whitespace() {
                assert!(seen.insert(name), "{name} is listed twice");
                let op = OpId::named(name).unwrap_or_else(|| panic!("{name} is no primitive"));
                assert_eq!(signature.params.len(), op.op().params.len(), "{name}");
            }
        }
    }

    #[test]
    fn every_op_has_a_signature() {
        for op in OpId::every() {
            let signature = Signature::of(op);
            assert_eq!(signature.params.len(), op.op().params.len(), "{op:?}");
            let certain = signature.result != Kinds::ANY || !signature.same.is_empty();
            assert!(!certain || op.op().fallback.is_none(), "{op:?}");
        }
    }

    #[test]
    fn kinds_are_displayed_as_text() {
        assert_eq!((Kinds::INT | Kinds::SET).to_string(), "an integer or a set");
        assert_eq!(read_kinds("c"), Some(Kinds::TUPLE | Kinds::SET));
        assert_eq!(read_kinds("x"), None);
    }
}
