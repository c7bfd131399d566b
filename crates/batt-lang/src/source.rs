//! Source text and places in it.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// A place in a source file: its start, and its length on that line.
///
/// Lines and columns count from 1, columns in characters. A program that came from no file has
/// spans of line 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The number of characters, not beyond the end of the line.
    pub length: u32,
}

/// Lines of a file, first and last, counted from 1; both 0 for "no file".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LineRange {
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl LineRange {
    /// The number of lines.
    pub fn count(self) -> u32 {
        if self.first == 0 {
            0
        } else {
            self.last - self.first + 1
        }
    }
}

/// The text of a file, with an index of its lines.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: Arc<str>,
    /// Byte offset of every line's first byte.
    starts: Vec<u32>,
    /// Whether every byte is a character, so that columns need no counting.
    ascii: bool,
}

impl SourceFile {
    /// Indexes a text. Lines end as in Python: at `\n`, `\r\n` or a lone `\r`.
    ///
    /// The text must be shorter than 4 GiB, which the parser checks first.
    pub(crate) fn new(name: &str, text: Arc<str>) -> SourceFile {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (k, &byte) in bytes.iter().enumerate() {
            let lone_return = byte == b'\r' && bytes.get(k + 1) != Some(&b'\n');
            if byte == b'\n' || lone_return {
                starts.push(k as u32 + 1);
            }
        }
        SourceFile {
            name: name.to_owned(),
            ascii: text.is_ascii(),
            text,
            starts,
        }
    }

    /// The name of the file, as given when it was read.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, without a byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of lines. The empty line after a final newline does not count.
    pub fn line_count(&self) -> usize {
        let ends_open = self.starts.last() != Some(&(self.text.len() as u32));
        self.starts.len() - usize::from(!ends_open)
    }

    /// One line without its end, counted from 1; empty if there is none.
    pub fn line(&self, line: u32) -> &str {
        let Some(range) = self.line_bytes(line) else {
            return "";
        };
        self.text[range].trim_end_matches(['\n', '\r'])
    }

    /// Returns the rest of a line after the first `skipped` characters.
    pub(crate) fn tail_of_line(&self, line: u32, skipped: usize) -> &str {
        let line = self.line(line);
        if self.ascii {
            return line.get(skipped..).unwrap_or("");
        }
        let at = line.char_indices().nth(skipped).map_or(line.len(), |c| c.0);
        &line[at..]
    }

    /// The line that contains a byte, counted from 1.
    pub(crate) fn line_of(&self, offset: usize) -> u32 {
        self.starts.partition_point(|&s| s as usize <= offset) as u32
    }

    fn line_bytes(&self, line: u32) -> Option<Range<usize>> {
        let start = *self.starts.get((line as usize).checked_sub(1)?)?;
        let end = self
            .starts
            .get(line as usize)
            .map_or(self.text.len(), |&end| end as usize);
        Some(start as usize..end)
    }

    fn chars(&self, range: Range<usize>) -> usize {
        if self.ascii {
            range.len()
        } else {
            self.text.get(range).map_or(0, |text| text.chars().count())
        }
    }
}

/// Turns byte ranges of one file into spans.
///
/// The locator remembers its last answer. The next range is nearly always close by, so even a file
/// of one enormous line takes linear time.
#[derive(Debug)]
pub(crate) struct Locator<'s> {
    source: &'s SourceFile,
    /// Byte offset and column of the last answer; column 0 means there was none.
    last: Cell<(usize, u32)>,
}

impl<'s> Locator<'s> {
    pub(crate) fn new(source: &'s SourceFile) -> Locator<'s> {
        Locator {
            source,
            last: Cell::new((0, 0)),
        }
    }

    pub(crate) fn source(&self) -> &'s SourceFile {
        self.source
    }

    /// Returns the place of a byte range, cut at the end of its first line.
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        let source = self.source;
        let start = range.start.min(source.text.len());
        let line = source.line_of(start);
        let line_start = source.starts[line as usize - 1] as usize;
        let line_end = line_start + source.line(line).len();
        let end = range.end.clamp(start, line_end.max(start));
        Span {
            line,
            column: self.column(line, line_start, start),
            length: source.chars(start..end) as u32,
        }
    }

    fn column(&self, line: u32, line_start: usize, offset: usize) -> u32 {
        let source = self.source;
        if source.ascii {
            return (offset - line_start) as u32 + 1;
        }
        let (last, last_column) = self.last.get();
        let known = last_column > 0 && last >= line_start;
        let column = if known && last <= offset {
            last_column + source.chars(last..offset) as u32
        } else if known && last - offset < offset - line_start && source.line_of(last) == line {
            last_column - source.chars(offset..last) as u32
        } else {
            source.chars(line_start..offset) as u32 + 1
        };
        self.last.set((offset, column));
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_in_python() {
        let file = SourceFile::new("f", "a\r\nbb\rccc\n".into());
        assert_eq!(file.line_count(), 3);
        assert_eq!(
            (
                file.line(1),
                file.line(2),
                file.line(3),
                file.line(4),
                file.line(0)
            ),
            ("a", "bb", "ccc", "", "")
        );
        assert_eq!(file.line_of(3), 2);
    }

    #[test]
    fn columns_count_characters() {
        let file = SourceFile::new("f", "# é\nx = été(a, b)\n".into());
        let (text, locator) = (file.text(), Locator::new(&file));
        for needle in ["b)", "été", "a, ", "x", "b)", "#"] {
            let at = text.find(needle).expect("needle");
            let span = locator.span(at..at + needle.len());
            let line_start = text[..at].rfind('\n').map_or(0, |n| n + 1);
            assert_eq!(
                span.column as usize,
                text[line_start..at].chars().count() + 1
            );
            assert_eq!(span.length as usize, needle.chars().count());
        }
    }

    #[test]
    fn spans_stay_on_their_line() {
        let file = SourceFile::new("f", "ab\ncd".into());
        let locator = Locator::new(&file);
        assert_eq!(
            locator.span(1..5),
            Span {
                line: 1,
                column: 2,
                length: 1
            }
        );
        assert_eq!(
            locator.span(5..9),
            Span {
                line: 2,
                column: 3,
                length: 0
            }
        );
    }
}
