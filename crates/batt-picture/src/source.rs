//! Pictures of source texts.

use batt_arc::text::counted;

use crate::layout::{Align, Block, Font, short};
use crate::style::{Ink, PictureStyle};
use crate::svg::Svg;

/// The most lines of a picture.
const LINES: usize = 300;
/// The most characters of a line.
const COLUMNS: usize = 120;

/// Words of Python.
const KEYWORDS: [&str; 14] = [
    "and", "as", "def", "else", "for", "from", "if", "import", "in", "is", "lambda", "not", "or",
    "return",
];

/// Draws the text of a solver, with the numbers of its lines from `first_line` on.
pub fn source(title: &str, text: &str, first_line: u32, style: &PictureStyle) -> Svg {
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[..lines.len().min(LINES)];
    let last = first_line as usize + shown.len();
    let gutter = last.to_string().len();
    let mut state = State::Code;
    let mut blocks: Vec<Block> = Vec::with_capacity(shown.len() + 1);
    for (k, line) in shown.iter().enumerate() {
        let number = format!("{:>gutter$}  ", first_line as usize + k);
        let line = line.replace('\t', "    ");
        let cut = line.char_indices().nth(COLUMNS).map(|(at, _)| at);
        let line = match cut {
            Some(at) => format!("{}…", &line[..at]),
            None => line,
        };
        let mut spans = vec![(number.as_str(), Ink::Dim)];
        spans.extend(state.spans(&line));
        blocks.push(Block::spans(&spans, Font::BODY));
    }
    if lines.len() > shown.len() {
        let more = counted(lines.len() - shown.len(), "more line");
        blocks.push(Block::text(&format!("… and {more}"), Font::DETAIL));
    }
    let parts = [
        Block::title(title, Font::TITLE, style.room()),
        Block::column(blocks, 3, Align::Start),
    ];
    let label = format!(
        "source of {}, {}",
        short(title),
        counted(lines.len(), "line")
    );
    Svg::of(&Block::column(parts, 10, Align::Start), &label, style)
}

/// What a line begins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Code,
    /// A string of several lines that ends with this.
    Text(&'static str),
}

impl State {
    /// Splits a line of Python into parts of different colours.
    fn spans<'l>(&mut self, line: &'l str) -> Vec<(&'l str, Ink)> {
        let mut out = Vec::new();
        let mut rest = line;
        while !rest.is_empty() {
            let (length, ink) = self.next(rest);
            let (span, later) = rest.split_at(length);
            out.push((span, ink));
            rest = later;
        }
        out
    }

    /// The length and the colour of the part that a text begins with.
    fn next(&mut self, text: &str) -> (usize, Ink) {
        if let State::Text(end) = *self {
            return match text.find(end) {
                Some(at) => {
                    *self = State::Code;
                    (at + end.len(), Ink::Dim)
                }
                None => (text.len(), Ink::Dim),
            };
        }
        let long = ["\"\"\"", "'''"].into_iter().find(|q| text.starts_with(q));
        if let Some(quote) = long {
            *self = State::Text(quote);
            return (quote.len(), Ink::Dim);
        }
        // `text` is not empty.
        let first = text.chars().next().unwrap_or(' ');
        let while_in = |is: fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
        match first {
            '#' => (text.len(), Ink::Dim),
            '"' | '\'' => {
                let end = text[1..].find(first).map_or(text.len(), |at| at + 2);
                (end, Ink::Constant)
            }
            c if c.is_ascii_digit() => (while_in(|c| c.is_alphanumeric()), Ink::Constant),
            c if c.is_alphabetic() || c == '_' => {
                let length = while_in(|c| c.is_alphanumeric() || c == '_');
                (length, word(&text[..length], &text[length..]))
            }
            _ => (
                while_in(|c| !(c.is_alphanumeric() || matches!(c, '_' | '#' | '"' | '\'')))
                    .max(first.len_utf8()),
                Ink::Text,
            ),
        }
    }
}

/// The colour of a name, from what follows it.
fn word(word: &str, rest: &str) -> Ink {
    let is_constant = || {
        let upper = word.chars().all(|c| !c.is_lowercase());
        // One letter is a variable, such as `I` and `O`, except for the two truth values.
        matches!(word, "T" | "F" | "True" | "False" | "None") || upper && word.len() > 1
    };
    match word {
        _ if KEYWORDS.contains(&word) => Ink::Keyword,
        _ if rest.trim_start().starts_with('(') => Ink::Call,
        _ if is_constant() => Ink::Constant,
        _ => Ink::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_without_loss() {
        let mut state = State::Code;
        for line in [
            "def f(I): # why",
            "    x1 = fill(I, TWO, 'a', -3) ",
            "    \"\"\"begins",
            "ends\"\"\" return O",
            "'open",
            "é = 网(\u{1b})",
        ] {
            let spans = state.spans(line);
            let text: String = spans.iter().map(|(text, _)| *text).collect();
            assert_eq!(text, line);
        }
        assert_eq!(state, State::Code);
    }

    #[test]
    fn words_have_colours() {
        let ink = |line: &str, text: &str| {
            let spans = State::Code.spans(line);
            let found = spans.iter().find(|(span, _)| *span == text);
            found.map(|(_, ink)| *ink)
        };
        let line = "    return fill(I, TWO, x1)";
        assert_eq!(ink(line, "return"), Some(Ink::Keyword));
        assert_eq!(ink(line, "fill"), Some(Ink::Call));
        assert_eq!(ink(line, "TWO"), Some(Ink::Constant));
        assert_eq!(ink(line, "I"), Some(Ink::Text));
        assert_eq!(ink("T", "T"), Some(Ink::Constant));
    }
}
