//! The scan: finds where the top-level pieces of a file begin, and which pieces nest too deeply.
//!
//! Pieces are parsed one at a time, so an error in one function stays there and a large file never
//! has its whole syntax tree in memory. A piece that nests too deeply is not parsed at all: syntax
//! trees are built and freed recursively, and a hostile file must not exhaust the stack.

use std::ops::Range;

/// The deepest nesting of brackets, operators and indentation that is parsed. CPython itself
/// rejects more than 200 nested brackets.
pub(super) const DEPTH_LIMIT: usize = 200;

const FORM_FEED: u8 = 0x0c;

/// A top-level piece of a file: one statement, a function or class with its decorators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The bytes of the piece.
    pub range: Range<usize>,
    /// Whether it begins with `def`, `class` or a decorator.
    pub definition: bool,
    /// The bytes of the function's name, if it is one.
    pub name: Option<Range<usize>>,
    /// The reason why it must not be parsed, if there is one.
    pub trouble: Option<Trouble>,
}

/// Something that keeps a piece from being parsed, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It nests deeper than [`DEPTH_LIMIT`].
    TooDeep(usize),
    /// It has a formatted string, whose nesting only a full parser can see.
    FormattedString(usize),
}

/// A word of the code: a name, a keyword or a number, but nothing in a comment or string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The bytes of the word.
    pub range: Range<usize>,
    /// Whether the word is a name that gets a value here: a `=` follows, outside all brackets.
    pub assigned: bool,
}

/// Cuts a range of a text into pieces, which together cover everything but leading blank lines.
pub(super) fn pieces(text: &str, range: Range<usize>) -> Vec<Piece> {
    pieces_and_words(text, range, &mut |_| {})
}

/// Cuts a range of a text into pieces, as [`pieces`] does, and passes every word to `words`.
pub(super) fn pieces_and_words(
    text: &str,
    range: Range<usize>,
    words: &mut dyn FnMut(Word),
) -> Vec<Piece> {
    let mut scanner = Scanner {
        bytes: &text.as_bytes()[..range.end],
        at: range.start,
        words,
        pieces: Vec::new(),
        decorated: false,
        nesting: Nesting::default(),
        before: Before::Operator,
        no_triple: [false; 2],
    };
    scanner.run();
    scanner.pieces
}

/// Cuts a piece at every line that looks like the start of a function, even within a string. This
/// is for pieces with errors, where an unclosed quote may have swallowed the next function.
pub(super) fn pieces_by_line(text: &str, range: Range<usize>) -> Vec<Piece> {
    let mut cuts = vec![range.start];
    let lines = text[range.clone()].match_indices(['\n', '\r']);
    let starts = lines.map(|(k, _)| {
        let start = range.start + k + 1;
        (start, indentation(&text.as_bytes()[start..range.end]))
    });
    let top_level = starts.filter(|(_, indent)| indent.column == 0);
    let code = top_level.map(|(start, indent)| start + indent.bytes);
    cuts.extend(code.filter(|&at| definition(&text.as_bytes()[at..range.end]).is_some()));
    cuts.push(range.end);
    let parts = cuts.windows(2).filter(|w| w[0] < w[1]);
    parts.flat_map(|w| pieces(text, w[0]..w[1])).collect()
}

/// The kind of the token before the current one, as far as nesting is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Operator,
    Word,
    Closed,
}

/// An upper bound of the depth of the syntax tree at the current place. Each open bracket may add a
/// level, and so may each operator since the last comma in it.
#[derive(Default)]
struct Nesting {
    /// Operators since the last comma, outside all brackets and in each open one.
    chains: Vec<usize>,
    /// The sum of `chains` plus the open brackets.
    depth: usize,
}

impl Nesting {
    fn open(&mut self) {
        if self.chains.is_empty() {
            self.chains.push(0);
        }
        self.chains.push(0);
        self.depth += 1;
    }

    fn close(&mut self) {
        if self.brackets() > 0 {
            self.depth -= 1 + self.chains.pop().unwrap_or(0);
        }
    }

    fn operator(&mut self) {
        if self.chains.is_empty() {
            self.chains.push(0);
        }
        *self.chains.last_mut().expect("just filled") += 1;
        self.depth += 1;
    }

    fn separator(&mut self) {
        if let Some(chain) = self.chains.last_mut() {
            self.depth -= std::mem::take(chain);
        }
    }

    fn brackets(&self) -> usize {
        self.chains.len().saturating_sub(1)
    }

    fn reset(&mut self) {
        self.chains.clear();
        self.depth = 0;
    }
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    words: &'t mut dyn FnMut(Word),
    pieces: Vec<Piece>,
    /// Whether the current piece consists of decorators so far, so that the next definition belongs
    /// to it.
    decorated: bool,
    nesting: Nesting,
    before: Before,
    /// Whether no closing `'''` or `"""` lies ahead. Without this, a file full of unclosed quotes
    /// would be searched to its end for each of them.
    no_triple: [bool; 2],
}

impl Scanner<'_> {
    fn run(&mut self) {
        self.line_start(false);
        while let Some(&byte) = self.bytes.get(self.at) {
            let start = self.at;
            match byte {
                b'\n' | b'\r' => {
                    self.newline();
                    self.line_start(false);
                }
                b'\\' => {
                    self.at += 1;
                    if matches!(self.bytes.get(self.at), Some(b'\n' | b'\r')) {
                        self.newline();
                        self.line_start(true);
                    }
                }
                b'#' => self.skip_while(|b| b != b'\n' && b != b'\r'),
                b'\'' | b'"' => self.string(),
                b'(' | b'[' | b'{' => {
                    // This is the call or the subscript of a call: `f(1)(2)(3)` nests to the left.
                    if self.before == Before::Closed {
                        self.nesting.operator();
                    }
                    self.nesting.open();
                    self.token(Before::Operator);
                }
                b')' | b']' | b'}' => {
                    self.nesting.close();
                    self.token(Before::Closed);
                }
                b',' | b';' => {
                    self.nesting.separator();
                    self.token(Before::Operator);
                }
                _ if is_blank(byte) => self.at += 1,
                _ if is_word(byte) => self.word(),
                _ => {
                    self.nesting.operator();
                    self.token(Before::Operator);
                }
            }
            if self.nesting.depth > DEPTH_LIMIT {
                self.trouble(Trouble::TooDeep(start));
            }
        }
        if let Some(last) = self.pieces.last_mut() {
            last.range.end = self.bytes.len();
        }
    }

    /// Looks at the beginning of a line for the start of a piece.
    fn line_start(&mut self, continued: bool) {
        let line = self.at;
        let indent = indentation(&self.bytes[line..]);
        let start = line + indent.bytes;
        let blank = matches!(self.bytes.get(start), None | Some(b'\n' | b'\r' | b'#'));
        let inside = continued || self.nesting.brackets() > 0;
        if !inside {
            self.nesting.reset();
            self.before = Before::Operator;
        }
        if blank {
            return;
        }
        if indent.column > 0 {
            if self.pieces.is_empty() {
                // Python refuses a file that begins with an indented line. The parser will report
                // it.
                self.begin(false);
            }
            if !inside && indent.column > DEPTH_LIMIT {
                self.trouble(Trouble::TooDeep(line + DEPTH_LIMIT));
            }
            return;
        }
        self.at = start;
        // `def` and `class` cannot stand inside brackets. If one seems to, a bracket above was left
        // open. The function starts a piece of its own all the same.
        if let Some(name) = definition(&self.bytes[start..]) {
            if !self.decorated || inside {
                self.begin(true);
            }
            if let Some(piece) = self.pieces.last_mut() {
                piece.name = name.map(|n| start + n.start..start + n.end);
            }
            self.decorated = false;
        } else if !inside {
            let decorator = self.bytes[start] == b'@';
            let goes_on = match self.pieces.last() {
                Some(piece) if piece.definition => decorator && self.decorated,
                Some(_) => continues_block(&self.bytes[start..]),
                None => false,
            };
            if !goes_on {
                self.begin(decorator);
                self.decorated = decorator;
            }
        }
    }

    fn begin(&mut self, definition: bool) {
        if let Some(last) = self.pieces.last_mut() {
            last.range.end = self.at;
        }
        self.nesting.reset();
        self.before = Before::Operator;
        self.pieces.push(Piece {
            range: self.at..self.bytes.len(),
            definition,
            name: None,
            trouble: None,
        });
    }

    fn trouble(&mut self, trouble: Trouble) {
        if self.pieces.is_empty() {
            self.begin(false);
        }
        if let Some(piece) = self.pieces.last_mut() {
            piece.trouble.get_or_insert(trouble);
        }
    }

    fn token(&mut self, before: Before) {
        self.at += 1;
        self.before = before;
    }

    fn word(&mut self) {
        let start = self.at;
        self.skip_while(is_word);
        let word = &self.bytes[start..self.at];
        if matches!(self.bytes.get(self.at), Some(b'\'' | b'"')) && is_string_prefix(word) {
            if word.iter().any(|b| matches!(b, b'f' | b'F' | b't' | b'T')) {
                self.trouble(Trouble::FormattedString(start));
            }
            return;
        }
        let spaces = self.bytes[self.at..].iter();
        let next = self.at + spaces.take_while(|b| is_blank(**b)).count();
        let assigned = self.nesting.brackets() == 0
            && self.bytes.get(next) == Some(&b'=')
            && self.bytes.get(next + 1) != Some(&b'=');
        let range = start..self.at;
        (self.words)(Word { range, assigned });
        // Words side by side are keywords (`not not x`, `a if b else c`), which nest as well.
        if self.before == Before::Word {
            self.nesting.operator();
        }
        self.before = Before::Word;
    }

    fn string(&mut self) {
        let quote = self.bytes[self.at];
        self.before = Before::Closed;
        if self.bytes[self.at..].starts_with(&[quote; 3]) {
            self.at += 3;
            let kind = usize::from(quote == b'"');
            if !self.no_triple[kind] {
                match closing_triple(&self.bytes[self.at..], quote) {
                    Some(length) => self.at += length,
                    None => self.no_triple[kind] = true,
                }
            }
            return;
        }
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => {
                    let crlf = self.bytes[self.at..].starts_with(b"\\\r\n");
                    self.at += if crlf { 3 } else { 2 };
                }
                b'\n' | b'\r' => return,
                _ => {
                    self.at += 1;
                    if byte == quote {
                        return;
                    }
                }
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn newline(&mut self) {
        let crlf = self.bytes[self.at..].starts_with(b"\r\n");
        self.at += if crlf { 2 } else { 1 };
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&b| !wanted(b)).unwrap_or(rest.len());
    }
}

/// The blanks at the beginning of a line.
struct Indentation {
    bytes: usize,
    /// Blanks since the last form feed, which takes Python back to the first column.
    column: usize,
}

fn indentation(line: &[u8]) -> Indentation {
    let bytes = line.iter().position(|&b| !is_blank(b));
    let bytes = bytes.unwrap_or(line.len());
    let form_feed = line[..bytes].iter().rposition(|&b| b == FORM_FEED);
    Indentation {
        bytes,
        column: bytes - form_feed.map_or(0, |at| at + 1),
    }
}

/// Returns `Some` if the text begins with `def`, `async def` or `class`; for a function, with the
/// bytes of its name.
fn definition(text: &[u8]) -> Option<Option<Range<usize>>> {
    let word = |from: usize| {
        let spaces = text[from..].iter().take_while(|b| is_blank(**b));
        let start = from + spaces.count();
        start..start + text[start..].iter().take_while(|b| is_word(**b)).count()
    };
    let mut first = word(0);
    if first.start > 0 {
        return None;
    }
    if &text[first.clone()] == b"async" {
        first = word(first.end);
    }
    match &text[first.clone()] {
        b"class" => Some(None),
        b"def" => Some(Some(word(first.end))),
        _ => None,
    }
}

/// Returns whether an unindented line continues the compound statement above it.
fn continues_block(text: &[u8]) -> bool {
    let end = text.iter().position(|&b| !is_word(b)).unwrap_or(text.len());
    matches!(&text[..end], b"else" | b"elif" | b"except" | b"finally")
}

fn closing_triple(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\\' {
            at += 2;
        } else if text[at..].starts_with(&[quote; 3]) {
            return Some(at + 3);
        } else {
            at += 1;
        }
    }
    None
}

/// Returns whether a byte is whitespace within a line. In Python a vertical tab is an error.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | FORM_FEED)
}

/// Returns whether a byte is part of a name or number. Bytes beyond ASCII count as letters here;
/// the parser decides later.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_string_prefix(word: &[u8]) -> bool {
    word.len() <= 2 && word.iter().all(|b| b"rRbBuUfFtT".contains(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let all = pieces(text, 0..text.len());
        all.into_iter().map(|p| &text[p.range]).collect()
    }

    #[test]
    fn functions_are_pieces() {
        let text = "import a\nb = 1\ndef f(I):\n    return I\n\nc = 2\n@d\ndef g(I):\n  return I\n";
        assert_eq!(
            texts(text),
            [
                "import a\n",
                "b = 1\n",
                "def f(I):\n    return I\n\n",
                "c = 2\n",
                "@d\ndef g(I):\n  return I\n"
            ]
        );
    }

    #[test]
    fn strings_and_brackets_hide_lines_but_open_brackets_do_not_hide_functions() {
        assert_eq!(texts("x = '''\ndef f():\n'''\ny = (\n1)\n").len(), 2);
        assert_eq!(
            texts("if x:\n  y\nelif z:\n  y\nelse:\n  y\nx = 1\\\n+ 2").len(),
            2
        );
        assert_eq!(texts("def f(I):\n  x = (\ndef g(I):\n  return I").len(), 2);
        assert_eq!(texts("def f(I):\n  '''\ndef g(I):\n  return I").len(), 2);
    }

    #[test]
    fn names_are_found() {
        let text = "async def  été (I): 0\nclass C: 0\ndef";
        let names: Vec<_> = pieces(text, 0..text.len())
            .into_iter()
            .map(|p| p.name.map(|n| &text[n]))
            .collect();
        assert_eq!(names, [Some("été"), None, Some("")]);
    }

    #[test]
    fn words_are_seen_but_not_in_strings_and_comments() {
        let text = "a1 = f(b, k=c) # no\n'no' == 12; d\t= r'no'\nif e == g: h";
        let mut seen = Vec::new();
        pieces_and_words(text, 0..text.len(), &mut |word: Word| {
            seen.push((&text[word.range], word.assigned));
        });
        let names: Vec<_> = seen.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            ["a1", "f", "b", "k", "c", "12", "d", "if", "e", "g", "h"]
        );
        let assigned: Vec<_> = seen.iter().filter(|s| s.1).map(|s| s.0).collect();
        assert_eq!(assigned, ["a1", "d"]);
    }

    #[test]
    fn deep_nesting_is_seen_in_every_form() {
        let many = 300;
        let deep = [
            format!("x = {}1{}", "(".repeat(many), ")".repeat(many)),
            format!("x = {}1", "-".repeat(many)),
            format!("x = {}1", "not ".repeat(many)),
            format!("x = a{}", ".b".repeat(many)),
            format!("x = f{}", "(1, 2)".repeat(many)),
            format!("x = {}1", "lambda: ".repeat(many)),
            format!("x = {}1", "1 if 2 else ".repeat(many)),
            format!("x = 1{}", " + \\\n1".repeat(many)),
            format!("{}x = 1", " ".repeat(many)),
        ];
        for text in deep {
            let found = pieces(&text, 0..text.len());
            assert!(
                matches!(found[0].trouble, Some(Trouble::TooDeep(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn wide_expressions_are_not_deep() {
        let wide = [
            format!("x = ({})", "-1, ".repeat(5000)),
            format!("x = f({})", "g(x), ".repeat(5000)),
            format!("x = {{{}}}", "'a': -1, ".repeat(5000)),
            "x = -f(1)\n".repeat(5000),
            "x = 1; ".repeat(5000),
        ];
        for text in wide {
            assert_eq!(pieces(&text, 0..text.len())[0].trouble, None, "{text:.40}");
        }
    }

    #[test]
    fn formatted_strings_are_refused() {
        let text = "x = b''\ny = rf'{1}'";
        let found = pieces(text, 0..text.len());
        assert_eq!(found[0].trouble, None);
        assert_eq!(found[1].trouble, Some(Trouble::FormattedString(12)));
    }
}
