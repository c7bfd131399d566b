//! Findings about solver files, and the exceptions and warnings that report them.

use batt::{Diagnostic, DiagnosticCode, Severity, Span};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::items::hash_of;
use crate::values::Pickled;
use crate::{errors, hints};

/// A finding about a solver file: an error, a warning or a remark, with its place.
///
///     >>> import batt
///     >>> found = batt.Solvers.parse("def solve(I):\n    return hmiror(I)\n", "a.py").check()[0]
///     >>> found.severity, found.code, found.line, found.hint
///     ('error', 'unknown-name', 2, "did you mean 'hmirror'?")
///     >>> print(found)
///     a.py:2:12: error[unknown-name]: unknown name 'hmiror'
///       |
///     2 |     return hmiror(I)
///       |            ^^^^^^
///       = hint: did you mean 'hmirror'?
#[pyclass(frozen, eq, module = "batt", name = "Diagnostic")]
#[derive(Clone, PartialEq, Eq)]
pub struct PyDiagnostic(pub Diagnostic);

/// The place of a finding: line, column, length, and the position in the shown line.
type Place = (u32, u32, u32, u32);

/// The texts of a finding: severity, code, message, file, shown line, hint and function.
type Texts = (
    String,
    String,
    String,
    String,
    String,
    Option<String>,
    Option<String>,
);

#[pymethods]
impl PyDiagnostic {
    /// Restores a pickled finding.
    #[staticmethod]
    fn _restore(py: Python<'_>, place: Place, texts: Texts) -> PyResult<PyDiagnostic> {
        let (line, column, length, caret) = place;
        let (severity, code, message, file, source_line, hint, function) = texts;
        let severities = [Severity::Error, Severity::Warning, Severity::Info];
        let severity = severities
            .into_iter()
            .find(|known| known.to_string() == severity);
        let code = DiagnosticCode::ALL
            .iter()
            .find(|known| known.as_str() == code);
        let (Some(severity), Some(&code)) = (severity, code) else {
            return Err(crate::stored::damaged(py));
        };
        Ok(PyDiagnostic(Diagnostic {
            severity,
            code,
            message,
            file,
            span: Span {
                line,
                column,
                length,
            },
            source_line,
            caret,
            hint,
            function,
        }))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, (Place, Texts)>> {
        let restore = py.get_type::<PyDiagnostic>().getattr("_restore")?;
        let found = self.0.clone();
        let span = found.span;
        let place = (span.line, span.column, span.length, found.caret);
        let texts = (
            found.severity.to_string(),
            found.code.as_str().to_owned(),
            found.message,
            found.file,
            found.source_line,
            found.hint,
            found.function,
        );
        Ok((restore, (place, texts)))
    }

    /// `error`, `warning` or `info`. A function with an error cannot run.
    #[getter]
    fn severity(&self) -> String {
        self.0.severity.to_string()
    }

    /// The kind of finding, such as `unknown-name`.
    #[getter]
    fn code(&self) -> &'static str {
        self.0.code.as_str()
    }

    /// The finding in one line.
    #[getter]
    fn message(&self) -> &str {
        &self.0.message
    }

    /// The name of the file.
    #[getter]
    fn file(&self) -> &str {
        &self.0.file
    }

    /// The line, from 1.
    #[getter]
    fn line(&self) -> u32 {
        self.0.span.line
    }

    /// The column, from 1.
    #[getter]
    fn column(&self) -> u32 {
        self.0.span.column
    }

    /// What to do about it.
    #[getter]
    fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The name of the function that it is about.
    #[getter]
    fn function(&self) -> Option<&str> {
        self.0.function.as_deref()
    }

    fn __hash__(&self) -> u64 {
        hash_of((&self.0.message, &self.0.file, self.0.span.line))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Diagnostic {}>", self.0.headline())
    }
}

/// Returns diagnostics as Python objects.
pub fn found<'d>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>) -> Vec<PyDiagnostic> {
    let diagnostics = diagnostics.into_iter().map(hints::of_finding);
    diagnostics.map(PyDiagnostic).collect()
}

/// The exception for solvers or batts that cannot be loaded.
pub fn not_loaded<'d>(
    py: Python<'_>,
    message: &str,
    hint: &str,
    file: &str,
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
) -> PyErr {
    let diagnostics = found(diagnostics);
    let mut text = message.to_owned();
    for found in &diagnostics {
        text += &format!("\n{}", found.0);
    }
    errors::located(py, "SolverError", &text, hint, |fields| {
        fields.set_item("file", file)?;
        fields.set_item("diagnostics", PyTuple::new(py, diagnostics)?)
    })
}

/// Warns that functions were left out because of errors.
pub fn warn_of<'d>(
    py: Python<'_>,
    diagnostics: impl Iterator<Item = &'d Diagnostic>,
) -> PyResult<()> {
    let errors: Vec<&Diagnostic> = diagnostics.filter(|found| found.is_error()).collect();
    let Some(first) = errors.first() else {
        return Ok(());
    };
    let headline = first.headline();
    let text = match errors.len() {
        1 => format!("a function was left out: {headline}"),
        count => format!("functions were left out because of {count} errors: {headline}, ..."),
    };
    let class = errors::of_module(py, "SolverWarning")?;
    py.import("warnings")?
        .call_method1("warn", (text, class))
        .map(drop)
}
