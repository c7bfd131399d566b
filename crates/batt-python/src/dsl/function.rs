//! Functions that primitives make: `compose`, `lbind` and so on.

use batt_dsl::Dialect;
use pyo3::PyTraverseError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::call::{self, Called};
use super::primitive;

/// The primitive that made a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Compose,
    Chain,
    Matcher,
    Fork,
    Lbind,
    Rbind,
    /// With the number of calls.
    Power(u32),
}

impl Kind {
    /// Returns the name of the primitive.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Compose => "compose",
            Kind::Chain => "chain",
            Kind::Matcher => "matcher",
            Kind::Fork => "fork",
            Kind::Lbind => "lbind",
            Kind::Rbind => "rbind",
            Kind::Power(_) => "power",
        }
    }
}

/// A function that a primitive of the DSL has made. It remembers how, so that primitives which call
/// it run at full speed.
#[pyclass(frozen, weakref, module = "batt.dsl")]
pub struct Function {
    pub dialect: Dialect,
    pub kind: Kind,
    pub arity: u8,
    /// The arguments of the primitive, without the number of `power`.
    pub parts: Vec<Py<PyAny>>,
}

/// The names of the parameters, as in the original.
const PARAMETERS: [&str; 3] = ["x", "y", "z"];

#[pymethods]
impl Function {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Function>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let function = slf.get();
        let names = &PARAMETERS[..usize::from(function.arity).min(3)];
        let bound = match kwargs {
            Some(kwargs) => &call::bind(names, args, kwargs)
                .map_err(|message| call::type_fault(py, function.kind.name(), &message))?,
            None => args,
        };
        call::call(py, function.dialect, Called::Function(slf), bound)
    }

    /// The arguments that the primitive was called with.
    #[getter]
    fn args<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut args: Vec<Bound<'py, PyAny>> = self
            .parts
            .iter()
            .map(|part| part.bind(py).clone())
            .collect();
        if let Kind::Power(count) = self.kind {
            args.push(count.into_pyobject(py)?.into_any());
        }
        PyTuple::new(py, args)
    }

    /// The primitive that made the function.
    #[getter]
    fn func<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let maker = self.dialect.op(self.kind.name());
        primitive::of(
            py,
            self.dialect,
            maker.expect("a primitive of every dialect"),
        )
    }

    #[getter]
    fn __name__(&self) -> &'static str {
        self.kind.name()
    }

    /// What `lbind` and `rbind` of the original libraries ask of a function.
    #[getter]
    fn __code__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fields = PyDict::new(py);
        fields.set_item("co_argcount", self.arity)?;
        fields.set_item("co_varnames", &PARAMETERS[..usize::from(self.arity).min(3)])?;
        py.import("types")?
            .getattr("SimpleNamespace")?
            .call((), Some(&fields))
    }

    #[getter]
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let inspect = py.import("inspect")?;
        let parameter = inspect.getattr("Parameter")?;
        let by_name = parameter.getattr("POSITIONAL_OR_KEYWORD")?;
        let parameters = PARAMETERS[..usize::from(self.arity).min(3)].iter();
        let parameters = parameters.map(|name| parameter.call1((*name, &by_name)));
        let parameters = PyTuple::new(py, parameters.collect::<PyResult<Vec<_>>>()?)?;
        inspect.getattr("Signature")?.call1((parameters,))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        Ok((self.func(py)?, self.args(py)?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let args = self.args(py)?;
        let mut shown = Vec::new();
        for arg in args.iter() {
            let name = arg
                .getattr("__name__")
                .and_then(|name| name.extract::<String>());
            shown.push(match (arg.cast::<Function>(), name) {
                (Err(_), Ok(name)) => name,
                _ => shortened(&arg.repr()?.to_string()),
            });
        }
        Ok(format!("{}({})", self.kind.name(), shown.join(", ")))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.parts.iter().try_for_each(|part| visit.call(part))
    }
}

/// Shortens a long text in the middle.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let count = text.chars().count();
    if count <= MOST {
        return text.to_owned();
    }
    let start: String = text.chars().take(MOST / 2).collect();
    let end: String = text.chars().skip(count - MOST / 2).collect();
    format!("{start}...{end}")
}

impl Function {
    /// Calls the function as Python would, part by part. Its parts include callables that the
    /// engine cannot call.
    pub fn call_in_python<'py>(&self, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let part = |k: usize| self.parts[k].bind(py);
        let x = || args.get_item(0);
        match self.kind {
            Kind::Compose => part(0).call1((part(1).call1((x()?,))?,)),
            Kind::Chain => part(0).call1((part(1).call1((part(2).call1((x()?,))?,))?,)),
            Kind::Matcher => {
                let value = part(0).call1((x()?,))?;
                value.rich_compare(part(1), pyo3::basic::CompareOp::Eq)
            }
            Kind::Fork => {
                let (a, b) = (part(1).call1((x()?,))?, part(2).call1((x()?,))?);
                part(0).call1((a, b))
            }
            Kind::Lbind => {
                let fixed = PyTuple::new(py, [part(1)])?;
                part(0).call1(fixed.add(args)?.cast::<PyTuple>()?)
            }
            Kind::Rbind => {
                let fixed = PyTuple::new(py, [part(1)])?;
                part(0).call1(args.add(fixed)?.cast::<PyTuple>()?)
            }
            Kind::Power(count) => (0..count).try_fold(x()?, |x, _| part(0).call1((x,))),
        }
    }
}
