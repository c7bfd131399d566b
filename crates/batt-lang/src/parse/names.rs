//! Suggestions for unknown names.

use batt_dsl::Dialect;

use super::detect::knows;

/// Names from Python and other libraries, with the primitive that does the same.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("concat", "hconcat"),
    ("filter", "sfilter"),
    ("flatten", "merge"),
    ("frozenset", "initset"),
    ("len", "size"),
    ("map", "apply"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("neg", "invert"),
    ("negate", "invert"),
    ("partial", "lbind"),
    ("range", "interval"),
    ("rotate", "rot90"),
    ("set", "initset"),
    ("sorted", "order"),
    ("transpose", "dmirror"),
    ("tuple", "totuple"),
    ("unique", "dedupe"),
    ("zip", "pair"),
];

/// The longest name that is compared with known names. A longer name is not a typing error, and the
/// comparison would take long.
const LENGTH_LIMIT: usize = 60;

/// Returns the known name closest to an unknown one, if any is close enough to be a likely
/// intention. Among equally close names the first wins.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > LENGTH_LIMIT {
        return None;
    }
    // A third of the letters may differ: `objcts` is `objects`, but `x9` is not `x1`.
    let allowed = name.chars().count() / 3;
    let mut best: Option<(usize, &str)> = None;
    for known in known {
        let distance = if known.eq_ignore_ascii_case(name) {
            0
        } else {
            distance(name, known)
        };
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, known));
        }
    }
    best.map(|(_, known)| known)
}

/// Returns the nearest name among those of a function and of its dialect, as [`nearest`] does. The
/// names of the function itself win ties, since a misspelt variable is the most common mistake.
pub(super) fn nearest_in<'n>(
    name: &str,
    dialect: Dialect,
    local: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let other = |&&(word, _): &&(&str, &str)| word == name;
    if let Some((_, here)) = OTHER_WORDS.iter().find(other)
        && dialect.op(here).is_some()
    {
        return Some(here);
    }
    let ops = dialect.ops().iter().map(|op| op.name);
    let constants = dialect.constants().map(|id| id.name());
    nearest(name, local.chain(ops).chain(constants))
}

/// Returns the hint for a name that is unknown here and known in another dialect.
pub(super) fn of_another_dialect(name: &str, here: Dialect) -> Option<String> {
    // RE-ARC has arc-dsl's names, so the first dialect that has the name will do.
    let there = Dialect::ALL.into_iter().find(|d| knows(*d, name))?.name();
    let mut hint = format!("'{name}' is a name of the dialect {there}; run with --dialect {there}");
    let counterparts = counterparts(name, here);
    if !counterparts.is_empty() {
        hint.push_str(&format!(", or use {}", counterparts.join(" or ")));
    }
    Some(hint)
}

/// Finds the counterparts of a name of another dialect, by the rule that most of them follow: a
/// letter before or after the word says what it takes (`palette_t`, `f_ofcolor`).
fn counterparts(name: &str, here: Dialect) -> Vec<&'static str> {
    let ops = here.ops().iter().map(|op| op.name);
    let mut found: Vec<_> = ops
        .filter(|known| stems(known).any(|stem| stem == name) || stems(name).any(|s| s == *known))
        .collect();
    found.sort_unstable();
    found
}

/// Returns a name without the letter that says what it takes.
fn stems(name: &str) -> impl Iterator<Item = &str> {
    let letter = |text: &str| text.len() == 1 && text.as_bytes()[0].is_ascii_lowercase();
    let before = name.split_once('_').filter(|(start, _)| letter(start));
    let after = name.rsplit_once('_').filter(|(_, end)| letter(end));
    let stems = before.map(|(_, rest)| rest).into_iter();
    stems.chain(after.map(|(rest, _)| rest))
}

/// Returns the number of edits (insert, delete, replace, swap neighbours) that turn one word into
/// the other.
fn distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > LENGTH_LIMIT {
        return usize::MAX;
    }
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    // Only three rows of the distance table are kept: the one before the previous, the previous
    // one, and the current one.
    let mut older: Vec<usize> = Vec::new();
    let mut old: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = old[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replace.min(old[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(older[j - 2] + 1);
            }
            row.push(least);
        }
        older = std::mem::replace(&mut old, row);
    }
    old[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, edits) in [
            ("", "abc", 3),
            ("objcts", "objects", 1),
            ("hmirorr", "hmirror", 1),
            ("same", "same", 0),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
            assert_eq!(distance(b, a), edits, "{b} {a}");
        }
    }

    #[test]
    fn near_names_are_suggested_far_ones_are_not() {
        const ARC: Dialect = Dialect::ArcDsl;
        let none = || std::iter::empty();
        assert_eq!(nearest_in("objcts", ARC, none()), Some("objects"));
        assert_eq!(nearest_in("three", ARC, none()), Some("THREE"));
        assert_eq!(nearest_in("len", ARC, none()), Some("size"));
        assert_eq!(
            nearest_in("bakcground", ARC, ["background"].into_iter()),
            Some("background")
        );
        assert_eq!(nearest_in("x9", ARC, ["x1"].into_iter()), None);
        assert_eq!(nearest_in("something_else", ARC, none()), None);
        assert_eq!(nearest_in(&"x".repeat(100_000), ARC, none()), None);
    }

    #[test]
    fn names_of_other_dialects_are_known_as_such() {
        let hint = |name, here| of_another_dialect(name, here);
        let expected = "'F0' is a name of the dialect tokpidjin; run with --dialect tokpidjin";
        assert_eq!(hint("F0", Dialect::ArcDsl).as_deref(), Some(expected));
        assert_eq!(hint("F0", Dialect::ReArc).as_deref(), Some(expected));
        let mirror = hint("hmirror", Dialect::Tokpidjin).expect("a name of arc-dsl");
        assert!(mirror.contains("run with --dialect arc-dsl"), "{mirror}");
        assert_eq!(hint("hmiror", Dialect::Tokpidjin), None);
    }

    #[test]
    fn counterparts_differ_by_a_letter() {
        let stems = |name| stems(name).collect::<Vec<_>>();
        assert_eq!(stems("palette_t"), ["palette"]);
        assert_eq!(stems("f_ofcolor"), ["ofcolor"]);
        assert_eq!(stems("get_nth_f"), ["get_nth"]);
        assert_eq!(stems("o_g"), ["g", "o"]);
        assert!(stems("size").is_empty() && stems("get_nth").is_empty() && stems("_").is_empty());
        assert_eq!(counterparts("mostcolor_t", Dialect::ArcDsl), ["mostcolor"]);
        assert_eq!(counterparts("f_ofcolor", Dialect::ArcDsl), ["ofcolor"]);
        assert!(counterparts("get_nth_f", Dialect::ArcDsl).is_empty());
        // Every counterpart contains the name.
        for op in Dialect::ArcDsl.ops() {
            let found = counterparts(op.name, Dialect::Tokpidjin);
            assert!(found.iter().all(|f| f.contains(op.name)), "{found:?}");
        }
    }

    #[test]
    fn other_words_lead_to_primitives() {
        for (word, here) in OTHER_WORDS {
            assert!(Dialect::ArcDsl.op(here).is_some(), "{here}");
            assert!(
                Dialect::ArcDsl.op(word).is_none(),
                "{word} is a name already"
            );
        }
    }
}
