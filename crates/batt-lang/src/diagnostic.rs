//! Diagnostics: what is wrong with a solver file, where, and how to fix it.

use std::fmt::{self, Write as _};

use crate::source::{SourceFile, Span};

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing to fix.
    Info,
    /// Probably a mistake, but the program runs.
    Warning,
    /// The function was not loaded.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// The kind of a [`Diagnostic`]. The text form is stable, for filters and tests.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DiagnosticCode {
            $($(#[$doc])* #[doc = concat!("(`", $text, "`)")] $variant,)*
        }

        impl DiagnosticCode {
            /// All codes.
            pub const ALL: &[DiagnosticCode] = &[$(DiagnosticCode::$variant,)*];

            /// The stable short text, such as `unknown-name`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(DiagnosticCode::$variant => $text,)*
                }
            }
        }
    };
}

codes! {
    /// The text is not Python.
    Syntax = "syntax",
    /// Brackets, operators or blocks nest too deeply.
    TooDeep = "too-deep",
    /// The file contains a null byte, which Python refuses.
    NulByte = "nul-byte",
    /// The file is larger than the parser takes.
    TooLarge = "too-large",
    /// A statement that is not part of the language, such as a loop.
    UnsupportedStatement = "unsupported-statement",
    /// An expression that is not part of the language, such as a subscript.
    UnsupportedExpression = "unsupported-expression",
    /// A parameter that is more than a name, such as one with a default.
    UnsupportedParameter = "unsupported-parameter",
    /// A function with a decorator.
    Decorator = "decorator",
    /// A function that does not return a value.
    MissingReturn = "missing-return",
    /// Code after `return`. It never runs, but a `yield` in it still makes a generator.
    AfterReturn = "after-return",
    /// A name that is neither a primitive, a constant, a parameter nor a variable.
    UnknownName = "unknown-name",
    /// A variable that gets its value only later.
    UnboundVariable = "unbound-variable",
    /// A name that the file itself defines as something that a solver cannot use.
    UnsupportedGlobal = "unsupported-global",
    /// A primitive called with the wrong number of arguments.
    WrongArity = "wrong-arity",
    /// A keyword argument for no parameter, or for one that already has a value.
    BadKeyword = "bad-keyword",
    /// An integer that does not fit 64 bits.
    IntegerRange = "integer-range",
    /// A statement of a batt that is not a step, that is, one call assigned to one name.
    BadStep = "bad-step",
    /// A `try` statement that is not the guard of one step.
    BadGuard = "bad-guard",
    /// An entry of `o` or `s` without its four parts.
    BadAppend = "bad-append",
    /// A step whose number does not grow.
    StepNumber = "step-number",
    /// A JSON file that does not describe a batt.
    BadJson = "bad-json",
    /// A function that a later one of the same name replaces.
    DuplicateFunction = "duplicate-function",
    /// A statement outside functions that has no effect here.
    IgnoredStatement = "ignored-statement",
    /// A step without a guard in a batt that has guards.
    UnguardedStep = "unguarded-step",
    /// A JSON file beside a batt that describes a different one.
    Provenance = "provenance",
    /// A step whose value is never used.
    UnusedStep = "unused-step",
    /// A step that computes the same value as an earlier one.
    RepeatedStep = "repeated-step",
    /// A step that fails for every input.
    AlwaysFails = "always-fails",
    /// A step whose value can depend on the iteration order of a set.
    OrderDependent = "order-dependent",
}

impl fmt::Display for DiagnosticCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One finding in a solver file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity of the finding.
    pub severity: Severity,
    /// The kind of finding.
    pub code: DiagnosticCode,
    /// The finding in one line.
    pub message: String,
    /// The name of the file; empty for a program that came from no file.
    pub file: String,
    /// The place: line, column, length. Line 0 means no particular place.
    pub span: Span,
    /// The source line, or the part of a very long one around the place.
    pub source_line: String,
    /// The number of characters of `source_line` before the place.
    pub caret: u32,
    /// Advice on how to fix it, if there is any.
    pub hint: Option<String>,
    /// The function that contains the place, if any.
    pub function: Option<String>,
}

/// The longest source line, in bytes, that is kept whole. A longer line is cut to a window around
/// the place.
const LINE_LIMIT: usize = 160;

impl Diagnostic {
    /// Makes a finding at a place in a file, or without one for a program that came from no file.
    pub fn new(
        severity: Severity,
        code: DiagnosticCode,
        message: impl Into<String>,
        source: Option<&SourceFile>,
        span: Span,
    ) -> Diagnostic {
        let (source_line, caret) = source.map_or_else(Default::default, |s| excerpt(s, span));
        Diagnostic {
            severity,
            code,
            message: message.into(),
            file: source.map_or_else(String::new, |s| s.name().to_owned()),
            span,
            source_line,
            caret,
            hint: None,
            function: None,
        }
    }

    /// Sets the function that contains the place.
    #[must_use]
    pub fn in_function(mut self, name: impl Into<String>) -> Diagnostic {
        self.function = Some(name.into());
        self
    }

    /// Returns whether the finding is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The finding as text: a headline, the source line with a caret, and the hint.
    ///
    /// ```text
    /// solvers.py:12:10: error[unknown-name]: unknown name 'objcts'
    ///    |
    /// 12 |     x1 = objcts(I, T, F, T)
    ///    |          ^^^^^^
    ///    = hint: did you mean 'objects'?
    /// ```
    pub fn render(&self) -> String {
        let mut out = self.headline();
        out.push('\n');
        let number = self.span.line.to_string();
        let margin = " ".repeat(number.len());
        if self.span.line > 0 && !self.source_line.is_empty() {
            // A tab would shift the line against the caret below it.
            let line = self.source_line.replace('\t', " ");
            let room = line.chars().count().saturating_sub(self.caret as usize);
            let carets = "^".repeat((self.span.length as usize).min(room).max(1));
            let indent = " ".repeat(self.caret as usize);
            let _ = write!(
                out,
                "{margin} |\n{number} | {line}\n{margin} | {indent}{carets}\n"
            );
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, "{margin} = hint: {hint}");
        }
        out
    }

    /// The first line of [`render`](Self::render): place, severity, code and message.
    pub fn headline(&self) -> String {
        let mut out = String::new();
        if !self.file.is_empty() {
            let _ = write!(out, "{}:", self.file);
        }
        if self.span.line > 0 {
            let _ = write!(out, "{}:{}:", self.span.line, self.span.column);
        }
        if !out.is_empty() {
            out.push(' ');
        }
        let _ = write!(out, "{}[{}]: {}", self.severity, self.code, self.message);
        out
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render().trim_end())
    }
}

/// Returns the source line of a place, and the number of its characters before the place. Only a
/// window of a long line is returned, because otherwise a file of one line would be copied into
/// each of its findings.
fn excerpt(source: &SourceFile, span: Span) -> (String, u32) {
    let line = source.line(span.line);
    let before = (span.column as usize).saturating_sub(1);
    if line.len() <= LINE_LIMIT {
        return (line.to_owned(), before as u32);
    }
    let skipped = before.saturating_sub(LINE_LIMIT / 4);
    let (mut text, mut caret) = (String::new(), before - skipped);
    if skipped > 0 {
        text.push('…');
        caret += 1;
    }
    let mut rest = source.tail_of_line(span.line, skipped).chars();
    text.extend(rest.by_ref().take(LINE_LIMIT));
    if rest.next().is_some() {
        text.push('…');
    }
    (text, caret as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32, length: u32) -> Span {
        Span {
            line,
            column,
            length,
        }
    }

    #[test]
    fn rendering_points_at_the_place() {
        let source = SourceFile::new("a.py", "def f(I):\n\tx1 = objcts(I)\n".into());
        let mut found = Diagnostic::new(
            Severity::Error,
            DiagnosticCode::UnknownName,
            "unknown name 'objcts'",
            Some(&source),
            at(2, 7, 6),
        );
        found.hint = Some("did you mean 'objects'?".to_owned());
        assert_eq!(
            found.render(),
            "a.py:2:7: error[unknown-name]: unknown name 'objcts'\n  \
             |\n2 |  x1 = objcts(I)\n  |       ^^^^^^\n  = hint: did you mean 'objects'?\n"
        );
    }

    #[test]
    fn a_place_without_a_file_is_just_the_message() {
        let found = Diagnostic::new(
            Severity::Info,
            DiagnosticCode::UnusedStep,
            "x1 is never used",
            None,
            Span::default(),
        );
        assert_eq!(found.render(), "info[unused-step]: x1 is never used\n");
    }

    #[test]
    fn a_very_long_line_is_shown_in_part() {
        let text = format!("{}BAD{}", "é".repeat(5000), "-".repeat(5000));
        let source = SourceFile::new("a.py", text.into());
        let found = Diagnostic::new(
            Severity::Error,
            DiagnosticCode::Syntax,
            "",
            Some(&source),
            at(1, 5001, 3),
        );
        assert!(found.source_line.chars().count() < 200);
        let shown: String = found
            .source_line
            .chars()
            .skip(found.caret as usize)
            .take(3)
            .collect();
        assert_eq!(shown, "BAD");
    }

    #[test]
    fn codes_are_unique() {
        let mut texts: Vec<_> = DiagnosticCode::ALL.iter().map(|c| c.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), DiagnosticCode::ALL.len());
    }
}
