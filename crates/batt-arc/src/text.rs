//! Numbers and names in messages and pictures.

use std::borrow::Cow;

/// Returns a count with its noun: `1 task`, `2 tasks`.
pub fn counted(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", grouped(n)),
    }
}

/// Returns a number with thousands separators: `687,200`.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a name from a file, such as a task id, in a printable form: without control characters,
/// and cut if it is very long.
pub fn name(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 60;
    let text = escaped(text, &[]);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => text,
    }
}

/// Escapes the control characters in a text, except for those in `keep`. A name must not be able to
/// move the cursor, change colours or begin a new line.
pub fn escaped<'t>(text: &'t str, keep: &[char]) -> Cow<'t, str> {
    let moves = |c: char| {
        // Besides control characters, there are marks that change the direction of text or are
        // invisible, and two that XML does not allow.
        let marks = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fffe}' | '\u{ffff}');
        (c.is_control() || marks) && !keep.contains(&c)
    };
    if !text.contains(moves) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match moves(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1234567, "1,234,567"),
        ] {
            assert_eq!(grouped(n), text);
        }
        assert_eq!(counted(1, "pair"), "1 pair");
        assert_eq!(counted(2000, "pair"), "2,000 pairs");
    }

    #[test]
    fn names_cannot_control_the_terminal() {
        assert_eq!(name("solve_1673c3ec"), "solve_1673c3ec");
        assert_eq!(name("grün 网格"), "grün 网格");
        assert_eq!(name("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\\nc");
        assert_eq!(name("\u{9b}2J\u{202e}"), "\\u{9b}2J\\u{202e}");
        let long = "é".repeat(100);
        assert_eq!(name(&long).chars().count(), 61);
        assert_eq!(escaped("a\n\tb\r", &['\n', '\t']), "a\n\tb\\r");
    }
}
