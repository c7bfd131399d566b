//! The parser of solver files and batt files: the only place that knows the Python grammar.
//!
//! A file is cut into its top-level pieces ([`scan`]), each piece is parsed on its own, and each
//! function is lowered: to a [`Program`] ([`lower`]), or to a [`Batt`](crate::Batt) ([`steps`]). An
//! error in one function is reported for it alone; the others load.

mod bindings;
mod call;
mod detect;
mod globals;
mod literal;
mod lower;
mod names;
mod scan;
mod steps;
#[cfg(test)]
mod tests;
mod unsupported;

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use batt_dsl::{Dialect, Literal};
use ruff_python_ast::{PySourceType, Stmt, StmtFunctionDef};
use ruff_python_parser::{parse_expression, parse_unchecked_source};
use ruff_text_size::Ranged;

use self::detect::Evidence;
use self::globals::Globals;
use self::lower::FileContext;
pub use self::names::nearest;
use self::scan::{Piece, Trouble};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Severity};
use crate::program::Program;
use crate::source::{Locator, SourceFile, Span};

pub(crate) use self::steps::{Batts, step_number};

/// The most suggestions for unknown names in one file. A file with more is not solver code, and
/// each suggestion compares the name with the whole table.
const SUGGESTION_LIMIT: usize = 500;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A parsed solver file: its programs, and what the parser reports about it.
#[derive(Clone, Debug)]
pub struct SolverFile {
    /// The text.
    pub source: SourceFile,
    /// The dialect in which its names were looked up.
    pub dialect: Dialect,
    /// Why this dialect was detected, as text that begins with its name; `None` if the caller gave
    /// the dialect.
    pub detected: Option<String>,
    /// The functions that could be loaded, in file order.
    pub programs: Vec<Program>,
    /// What the parser found, sorted by line.
    pub diagnostics: Vec<Diagnostic>,
}

/// The reason why a file could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file system reported an error.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// The file is not text.
    #[error(
        "{file}:{line}:{column}: not valid UTF-8 (byte 0x{byte:02x}); solver files are UTF-8 text"
    )]
    NotUtf8 {
        /// The file.
        file: String,
        /// The line of the first bad byte, from 1.
        line: usize,
        /// Its column, from 1.
        column: usize,
        /// The byte.
        byte: u8,
    },
}

impl SolverFile {
    /// Reads a file from disk.
    pub fn load(
        path: impl AsRef<Path>,
        dialect: Option<Dialect>,
    ) -> Result<SolverFile, SourceError> {
        let path = path.as_ref();
        let bytes = read_bytes(path)?;
        SolverFile::parse_bytes(&bytes, &path.to_string_lossy(), dialect)
    }

    /// Reads the bytes of a file; `file_name` is for messages.
    pub fn parse_bytes(
        bytes: &[u8],
        file_name: &str,
        dialect: Option<Dialect>,
    ) -> Result<SolverFile, SourceError> {
        let text = utf8(bytes, file_name)?;
        Ok(SolverFile::parse_in(text, file_name, dialect))
    }

    /// Reads a text; `file_name` is for messages.
    ///
    /// This never fails as a whole. A function that cannot be loaded is missing from `programs` and
    /// explained in `diagnostics`.
    pub fn parse(text: &str, file_name: &str) -> SolverFile {
        SolverFile::parse_in(text, file_name, None)
    }

    /// Reads a text in a given dialect. `None` detects the dialect, as [`parse`](SolverFile::parse)
    /// does.
    pub fn parse_in(text: &str, file_name: &str, dialect: Option<Dialect>) -> SolverFile {
        let read = read_text::<Solvers>(text, file_name, dialect);
        SolverFile {
            source: read.source,
            dialect: read.dialect,
            detected: read.detected,
            programs: read.items,
            diagnostics: read.diagnostics,
        }
    }

    /// The program with this name.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|program| program.name() == name)
    }

    /// Returns whether every function of the file loaded.
    pub fn is_clean(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads the bytes of a file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, SourceError> {
    std::fs::read(path).map_err(|source| SourceError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Decodes the bytes of a file.
pub(crate) fn utf8<'b>(bytes: &'b [u8], file_name: &str) -> Result<&'b str, SourceError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (good, bad) = bytes.split_at(error.valid_up_to());
        let line_start = good.iter().rposition(|&b| b == b'\n').map_or(0, |k| k + 1);
        let column = String::from_utf8_lossy(&good[line_start..]).chars().count() + 1;
        SourceError::NotUtf8 {
            file: file_name.to_owned(),
            line: good.iter().filter(|&&b| b == b'\n').count() + 1,
            column,
            byte: bad.first().copied().unwrap_or_default(),
        }
    })
}

/// Parses a literal such as `-3` or `(1, 2)`; `None` if the text is anything else.
pub(crate) fn literal_of(text: &str) -> Option<Literal> {
    let pieces = scan::pieces(text, 0..text.len());
    let [Piece { trouble: None, .. }] = pieces.as_slice() else {
        return None;
    };
    let parsed = parse_expression(text).ok()?;
    literal::literal(&parsed.syntax().body).ok()
}

/// A kind of file. It determines what each function is lowered to.
pub(crate) trait FileKind {
    /// A lowered function.
    type Item;

    /// Lowers one function, whose syntax tree counts bytes from `offset`.
    fn function(
        file: &FileContext<'_>,
        def: &StmtFunctionDef,
        offset: usize,
    ) -> Lowered<Self::Item>;
}

/// A lowered function, or the reasons why it could not be lowered.
pub(crate) struct Lowered<T> {
    item: Option<T>,
    diagnostics: Vec<Diagnostic>,
}

/// Solver files: every function is a program.
enum Solvers {}

impl FileKind for Solvers {
    type Item = Program;

    fn function(file: &FileContext<'_>, def: &StmtFunctionDef, offset: usize) -> Lowered<Program> {
        lower::function(file, def, offset)
    }
}

/// A parsed file of any kind.
pub(crate) struct ReadFile<T> {
    pub source: SourceFile,
    pub dialect: Dialect,
    pub detected: Option<String>,
    pub items: Vec<T>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a text as a file of kind `K`.
pub(crate) fn read_text<K: FileKind>(
    text: &str,
    file_name: &str,
    dialect: Option<Dialect>,
) -> ReadFile<K::Item> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if u32::try_from(text.len()).is_err() {
        let source = SourceFile::new(file_name, "".into());
        let message = "the file is larger than 4 GiB";
        let found = Diagnostic::new(
            Severity::Error,
            DiagnosticCode::TooLarge,
            message,
            Some(&source),
            Span::default(),
        );
        return ReadFile {
            source,
            dialect: dialect.unwrap_or_default(),
            detected: None,
            items: Vec::new(),
            diagnostics: vec![found],
        };
    }
    let source = SourceFile::new(file_name, text.into());
    let text = source.text();
    let (pieces, dialect, detected) = match dialect {
        Some(dialect) => (scan::pieces(text, 0..text.len()), dialect, None),
        None => {
            let mut evidence = Evidence::new(text);
            let mut take = |word| evidence.word(&word);
            let pieces = scan::pieces_and_words(text, 0..text.len(), &mut take);
            let verdict = evidence.verdict(&pieces);
            (pieces, verdict.dialect, Some(verdict.reason))
        }
    };
    let (items, diagnostics) = Reader::<K>::new(&source, dialect).read(&pieces);
    ReadFile {
        source,
        dialect,
        detected,
        items,
        diagnostics,
    }
}

/// A function's position among the loaded ones, and the place of its definition.
struct Definition {
    /// `None` if it could not be loaded.
    item: Option<usize>,
    span: Span,
}

struct Reader<'s, K: FileKind> {
    source: &'s SourceFile,
    locator: Locator<'s>,
    dialect: Dialect,
    globals: Globals,
    definitions: HashMap<String, Definition>,
    /// Functions in file order; `None` where a later one has the same name.
    items: Vec<Option<K::Item>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'s, K: FileKind> Reader<'s, K> {
    fn new(source: &'s SourceFile, dialect: Dialect) -> Reader<'s, K> {
        Reader {
            source,
            locator: Locator::new(source),
            dialect,
            globals: Globals::new(dialect),
            definitions: HashMap::new(),
            items: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    fn read(mut self, pieces: &[Piece]) -> (Vec<K::Item>, Vec<Diagnostic>) {
        let text = self.source.text();
        // Functions see the names of the whole file, so the names are collected first.
        for piece in pieces {
            match &piece.name {
                Some(name) => {
                    let line = self.source.line_of(name.start);
                    self.globals.function(&text[name.clone()], line);
                }
                None => self.piece(piece, true),
            }
        }
        for piece in pieces.iter().filter(|piece| piece.name.is_some()) {
            self.piece(piece, true);
        }
        self.diagnostics
            .sort_by_key(|d| (d.span.line, d.span.column));
        (self.items.into_iter().flatten().collect(), self.diagnostics)
    }

    /// Parses one piece. With `retry`, a piece with syntax errors is cut up further.
    fn piece(&mut self, piece: &Piece, retry: bool) {
        let text = &self.source.text()[piece.range.clone()];
        let offset = piece.range.start;
        if let Some(nul) = text.find('\0') {
            let message = "null byte in the source";
            self.failed(
                piece,
                DiagnosticCode::NulByte,
                message,
                offset + nul..offset + nul + 1,
            );
            return;
        }
        if text.starts_with(BYTE_ORDER_MARK) {
            // The parser would skip this mark, because it takes the start of the piece for the
            // start of the file.
            let message = "byte order mark after the start of the file";
            let mark = offset..offset + BYTE_ORDER_MARK.len_utf8();
            self.failed(piece, DiagnosticCode::Syntax, message, mark);
            return;
        }
        match piece.trouble {
            Some(Trouble::TooDeep(at)) => {
                let message = format!("nested more than {} deep", scan::DEPTH_LIMIT);
                self.failed(piece, DiagnosticCode::TooDeep, message, at..at + 1);
                return;
            }
            Some(Trouble::FormattedString(at)) => {
                let code = if piece.definition {
                    DiagnosticCode::UnsupportedExpression
                } else {
                    DiagnosticCode::IgnoredStatement
                };
                self.failed(piece, code, "strings are not supported", at..at + 1);
                return;
            }
            None => {}
        }
        let parsed = parse_unchecked_source(text, PySourceType::Python);
        if let Some(error) = parsed.errors().first() {
            let parts = match retry {
                true => scan::pieces_by_line(self.source.text(), piece.range.clone()),
                false => Vec::new(),
            };
            if parts.len() > 1 {
                for part in &parts {
                    self.piece(part, false);
                }
                return;
            }
            let start = offset + error.location.start().to_usize();
            let end = offset + error.location.end().to_usize();
            let message = sentence(&error.error.to_string());
            self.failed(piece, DiagnosticCode::Syntax, message, start..end);
            return;
        }
        for stmt in &parsed.syntax().body {
            self.statement(stmt, offset);
        }
    }

    fn statement(&mut self, stmt: &Stmt, offset: usize) {
        let range = stmt.range();
        let bytes = offset + range.start().to_usize()..offset + range.end().to_usize();
        let Stmt::FunctionDef(def) = stmt else {
            let line = self.source.line_of(bytes.start);
            if !self.globals.statement(stmt, line) {
                let message = "statement outside functions is ignored";
                self.report(
                    Severity::Warning,
                    DiagnosticCode::IgnoredStatement,
                    message,
                    bytes,
                );
            }
            return;
        };
        let context = FileContext {
            locator: &self.locator,
            dialect: self.dialect,
            globals: &self.globals,
            suggestions: Cell::new(SUGGESTION_LIMIT.saturating_sub(self.diagnostics.len())),
        };
        let lowered = K::function(&context, def, offset);
        let name = def.name.range();
        let span = self
            .locator
            .span(offset + name.start().to_usize()..offset + name.end().to_usize());
        self.diagnostics.extend(lowered.diagnostics);
        let item = lowered.item.map(|item| {
            self.items.push(Some(item));
            self.items.len() - 1
        });
        self.define(def.name.as_str(), Definition { item, span });
    }

    /// Records a function under its name. As in Python, the last definition of a name wins, even if
    /// it could not be loaded.
    fn define(&mut self, name: &str, definition: Definition) {
        let line = definition.span.line;
        if let Some(earlier) = self.definitions.insert(name.to_owned(), definition) {
            if let Some(index) = earlier.item {
                self.items[index] = None;
            }
            let message =
                format!("'{name}' is defined again in line {line}, which replaces this one");
            let source = Some(self.source);
            let code = DiagnosticCode::DuplicateFunction;
            self.diagnostics.push(
                Diagnostic::new(Severity::Warning, code, message, source, earlier.span)
                    .in_function(name),
            );
        }
    }

    /// Reports why a piece could not be parsed.
    fn failed(
        &mut self,
        piece: &Piece,
        code: DiagnosticCode,
        message: impl Into<String>,
        at: Range<usize>,
    ) {
        let severity = match code {
            DiagnosticCode::IgnoredStatement => Severity::Warning,
            _ => Severity::Error,
        };
        self.report(severity, code, message, at);
        let Some(range) = piece.name.clone().filter(|name| !name.is_empty()) else {
            return;
        };
        let name = &self.source.text()[range.clone()];
        if let Some(last) = self.diagnostics.last_mut() {
            last.function = Some(name.to_owned());
        }
        let span = self.locator.span(range);
        self.define(name, Definition { item: None, span });
    }

    fn report(
        &mut self,
        severity: Severity,
        code: DiagnosticCode,
        message: impl Into<String>,
        bytes: Range<usize>,
    ) {
        let span = self.locator.span(bytes);
        let source = Some(self.source);
        self.diagnostics
            .push(Diagnostic::new(severity, code, message, source, span));
    }
}

/// Returns a parser message in the style of the other diagnostics, without a capital at the start.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
