//! The parser of solver files: the only place that knows the Python grammar.
//!
//! A file is cut into its top-level pieces ([`scan`]), each piece is parsed on its own, and each
//! function is lowered to a [`Program`] ([`lower`]). What cannot be loaded is reported for that
//! function alone; the others load regardless.

mod call;
mod globals;
mod literal;
mod lower;
mod names;
mod scan;
#[cfg(test)]
mod tests;
mod unsupported;

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use batt_dsl::Dialect;
use ruff_python_ast::{PySourceType, Stmt};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::Ranged;

use self::globals::Globals;
use self::lower::FileContext;
use self::scan::{Piece, Trouble};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::program::Program;
use crate::source::{Locator, SourceFile, Span};

/// Suggestions for unknown names per file; beyond that the names are not slips any more.
const SUGGESTION_LIMIT: usize = 500;

/// A solver file, read: its programs, and what is to be said about it.
#[derive(Clone, Debug)]
pub struct SolverFile {
    /// The text.
    pub source: SourceFile,
    /// The dialect its names were looked up in.
    pub dialect: Dialect,
    /// The functions that could be loaded, in file order.
    pub programs: Vec<Program>,
    /// What was found on the way, by line.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why a file could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file system said no.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What it said.
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
    pub fn load(path: impl AsRef<Path>, dialect: Option<Dialect>) -> Result<SolverFile, LoadError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|source| LoadError::Read {
            path: path.to_owned(),
            source,
        })?;
        SolverFile::parse_bytes(&bytes, &path.to_string_lossy(), dialect)
    }

    /// Reads the bytes of a file; `file_name` is for messages.
    pub fn parse_bytes(
        bytes: &[u8],
        file_name: &str,
        dialect: Option<Dialect>,
    ) -> Result<SolverFile, LoadError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(SolverFile::parse_in(text, file_name, dialect)),
            Err(error) => {
                let (good, bad) = bytes.split_at(error.valid_up_to());
                let line_start = good.iter().rposition(|&b| b == b'\n').map_or(0, |k| k + 1);
                let column = String::from_utf8_lossy(&good[line_start..]).chars().count() + 1;
                Err(LoadError::NotUtf8 {
                    file: file_name.to_owned(),
                    line: good.iter().filter(|&&b| b == b'\n').count() + 1,
                    column,
                    byte: bad.first().copied().unwrap_or_default(),
                })
            }
        }
    }

    /// Reads a text; `file_name` is for messages.
    ///
    /// This never fails as a whole: functions that cannot be loaded are missing from `programs` and
    /// explained in `diagnostics`.
    pub fn parse(text: &str, file_name: &str) -> SolverFile {
        SolverFile::parse_in(text, file_name, None)
    }

    /// As [`parse`](SolverFile::parse), in a given dialect; `None` to find out which it is.
    pub fn parse_in(text: &str, file_name: &str, dialect: Option<Dialect>) -> SolverFile {
        let dialect = dialect.unwrap_or_default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if u32::try_from(text.len()).is_err() {
            let source = SourceFile::new(file_name, "".into());
            let message = "the file is larger than 4 GiB";
            let found = Diagnostic::new(
                Severity::Error,
                Code::TooLarge,
                message,
                Some(&source),
                Span::default(),
            );
            return SolverFile {
                source,
                dialect,
                programs: Vec::new(),
                diagnostics: vec![found],
            };
        }
        let source = SourceFile::new(file_name, text.into());
        let (programs, diagnostics) = Reader::new(&source, dialect).read();
        SolverFile {
            source,
            dialect,
            programs,
            diagnostics,
        }
    }

    /// The program with this name.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|program| program.name() == name)
    }

    /// Is every function of the file loaded?
    pub fn is_clean(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Where a function stands in the list of programs, and where its definition is.
struct Definition {
    /// None if it could not be loaded.
    program: Option<usize>,
    span: Span,
}

struct Reader<'s> {
    source: &'s SourceFile,
    locator: Locator<'s>,
    dialect: Dialect,
    globals: Globals,
    definitions: HashMap<String, Definition>,
    /// Functions in file order; None where a later one took the name.
    programs: Vec<Option<Program>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'s> Reader<'s> {
    fn new(source: &'s SourceFile, dialect: Dialect) -> Reader<'s> {
        Reader {
            source,
            locator: Locator::new(source),
            dialect,
            globals: Globals::new(dialect),
            definitions: HashMap::new(),
            programs: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    fn read(mut self) -> (Vec<Program>, Vec<Diagnostic>) {
        let text = self.source.text();
        let pieces = scan::pieces(text, 0..text.len());
        // Functions see the names of the whole file, so these come first.
        for piece in &pieces {
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
        (
            self.programs.into_iter().flatten().collect(),
            self.diagnostics,
        )
    }

    /// Parses one piece. With `retry`, one with syntax errors is cut up further.
    fn piece(&mut self, piece: &Piece, retry: bool) {
        let text = &self.source.text()[piece.range.clone()];
        let offset = piece.range.start;
        if let Some(nul) = text.find('\0') {
            let message = "null byte in the source";
            self.failed(
                piece,
                Code::NulByte,
                message,
                offset + nul..offset + nul + 1,
            );
            return;
        }
        match piece.trouble {
            Some(Trouble::TooDeep(at)) => {
                let message = format!("nested more than {} deep", scan::DEPTH_LIMIT);
                self.failed(piece, Code::TooDeep, message, at..at + 1);
                return;
            }
            Some(Trouble::FormattedString(at)) => {
                let code = if piece.definition {
                    Code::UnsupportedExpression
                } else {
                    Code::IgnoredStatement
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
            self.failed(piece, Code::Syntax, message, start..end);
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
                self.report(Severity::Warning, Code::IgnoredStatement, message, bytes);
            }
            return;
        };
        let context = FileContext {
            locator: &self.locator,
            dialect: self.dialect,
            globals: &self.globals,
            suggestions: Cell::new(SUGGESTION_LIMIT.saturating_sub(self.diagnostics.len())),
        };
        let lowered = lower::function(&context, def, offset);
        let name = def.name.range();
        let span = self
            .locator
            .span(offset + name.start().to_usize()..offset + name.end().to_usize());
        let program = match lowered {
            Ok(program) => {
                self.programs.push(Some(program));
                Some(self.programs.len() - 1)
            }
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                None
            }
        };
        self.define(def.name.as_str(), Definition { program, span });
    }

    /// Enters a function under its name. As in Python, the last one of a name wins, even if it is
    /// one that could not be loaded.
    fn define(&mut self, name: &str, definition: Definition) {
        let line = definition.span.line;
        if let Some(earlier) = self.definitions.insert(name.to_owned(), definition) {
            if let Some(index) = earlier.program {
                self.programs[index] = None;
            }
            let message =
                format!("'{name}' is defined again in line {line}, which replaces this one");
            let source = Some(self.source);
            let code = Code::DuplicateFunction;
            self.diagnostics.push(
                Diagnostic::new(Severity::Warning, code, message, source, earlier.span)
                    .in_function(name),
            );
        }
    }

    /// Reports why a piece could not be parsed.
    fn failed(&mut self, piece: &Piece, code: Code, message: impl Into<String>, at: Range<usize>) {
        let severity = match code {
            Code::IgnoredStatement => Severity::Warning,
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
        self.define(
            name,
            Definition {
                program: None,
                span,
            },
        );
    }

    fn report(
        &mut self,
        severity: Severity,
        code: Code,
        message: impl Into<String>,
        bytes: Range<usize>,
    ) {
        let span = self.locator.span(bytes);
        let source = Some(self.source);
        self.diagnostics
            .push(Diagnostic::new(severity, code, message, source, span));
    }
}

/// A parser message in the style of the other diagnostics: no capital at the start.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
