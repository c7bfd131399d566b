//! The primitives as Python objects.

use std::ptr::null_mut;
use std::sync::{Mutex, OnceLock, PoisonError};

use batt_dsl::{Dialect, OpId};
use pyo3::PyTraverseError;
use pyo3::exceptions::PyValueError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};

use super::agreement::tables_agree;
use super::call::{self, Called};
use super::function::{Function, Kind};
use super::objects::Objects;
use super::shortcuts::{self, Shortcut};

// A primitive of the DSL. This is no doc comment, because the class would hide the documentation of
// its objects then.
#[pyclass(frozen, weakref, module = "batt.dsl")]
pub struct Primitive {
    pub dialect: Dialect,
    pub id: OpId,
    /// The Python function that declares and documents it.
    wrapped: Py<PyAny>,
    shortcut: Option<Shortcut>,
}

/// A number of calls that `power` certainly allows. The engine decides about larger ones.
const SURELY_SHALLOW: u32 = 500;

/// The primitives of each dialect, by [`OpId::index`].
static REGISTRY: Mutex<[Vec<Option<Py<Primitive>>>; 3]> = Mutex::new([const { Vec::new() }; 3]);

fn declare(
    py: Python<'_>,
    dialect: Dialect,
    id: OpId,
    wrapped: Py<PyAny>,
) -> PyResult<Bound<'_, Primitive>> {
    let primitive = Primitive {
        dialect,
        id,
        wrapped,
        shortcut: shortcuts::of(id.op(), dialect),
    };
    let primitive = Bound::new(py, primitive)?;
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    let of_dialect = &mut registry[dialect as usize];
    let index = id.index();
    if of_dialect.len() <= index {
        of_dialect.resize_with(index + 1, || None);
    }
    of_dialect[index] = Some(primitive.clone().unbind());
    Ok(primitive)
}

/// Returns a primitive as a Python object.
pub fn of<'py>(py: Python<'py>, dialect: Dialect, id: OpId) -> PyResult<Bound<'py, PyAny>> {
    let known = || {
        let registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
        let primitive = registry[dialect as usize].get(id.index())?.as_ref();
        primitive.map(|primitive| primitive.bind(py).clone().into_any())
    };
    if let Some(primitive) = known() {
        return Ok(primitive);
    }
    // Only the default function of tokpidjin is not declared by its module.
    let wrapped = py.import("batt.dsl._calls")?.getattr("default_function")?;
    Ok(declare(py, dialect, id, wrapped.unbind())?.into_any())
}

impl Primitive {
    /// The name.
    pub fn name(&self) -> &'static str {
        self.id.op().name
    }

    /// The names of the parameters.
    fn parameters(&self) -> &'static [&'static str] {
        static NAMES: OnceLock<Vec<Vec<&'static str>>> = OnceLock::new();
        let names = NAMES.get_or_init(|| {
            let of_op = |id: OpId| id.op().params.iter().map(|param| param.name).collect();
            OpId::every().map(of_op).collect()
        });
        names.get(self.id.index()).map_or(&[], Vec::as_slice)
    }

    /// Does the call on Python's objects. Returns `None` if the engine has to do it.
    fn take_shortcut<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(shortcut) = self.shortcut else {
            return Ok(None);
        };
        let count = args.len();
        if count != self.id.op().arity() {
            return Ok(None);
        }
        let objects = Objects::get(py)?;
        let mut given = [null_mut(); 4];
        for (place, arg) in given.iter_mut().zip(args.iter_borrowed()) {
            *place = arg.as_ptr();
        }
        let done = shortcut(objects, &given[..count]);
        if done.is_null() {
            // The engine finds out what is wrong.
            PyErr::take(py);
            return Ok(None);
        }
        // SAFETY: a shortcut returns a new reference.
        Ok(Some(unsafe { Bound::from_owned_ptr(py, done) }))
    }

    /// Makes the function that this primitive makes, without a run. Returns `None` for other
    /// primitives and for arguments that do not fit.
    fn make<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let kind = match self.id.op().name {
            "compose" => Kind::Compose,
            "chain" => Kind::Chain,
            "matcher" => Kind::Matcher,
            "fork" => Kind::Fork,
            "lbind" => Kind::Lbind,
            "rbind" => Kind::Rbind,
            "power" if args.len() == 2 => {
                let small = |count: &u32| (2..=SURELY_SHALLOW).contains(count);
                let count = args.get_borrowed_item(1)?;
                let count = count
                    .is_exact_instance_of::<PyInt>()
                    .then(|| count.extract().ok());
                match count.flatten().filter(small) {
                    Some(count) => Kind::Power(count),
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        if args.len() != self.id.op().arity() {
            return Ok(None);
        }
        let arity = match kind {
            Kind::Lbind | Kind::Rbind => match call::arity(&args.get_item(0)?, self.name()) {
                Ok(2) => 1,
                Ok(3) => 2,
                Ok(_) => 3,
                Err(error) => return Err(error),
            },
            _ => 1,
        };
        // `power` has its number in the kind.
        let parts = args
            .iter()
            .take(if let Kind::Power(_) = kind { 1 } else { 3 });
        let parts = parts.map(Bound::unbind).collect();
        let function = Function {
            dialect: self.dialect,
            kind,
            arity,
            parts,
        };
        Ok(Some(Bound::new(py, function)?.into_any()))
    }
}

#[pymethods]
impl Primitive {
    /// Declares the primitive of a dialect that has the name of a function.
    #[staticmethod]
    #[pyo3(name = "declare")]
    fn declare_wrapped<'py>(
        dialect: &str,
        function: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Primitive>> {
        let name: String = function.getattr("__name__")?.extract()?;
        let unknown = || PyValueError::new_err(format!("{dialect} has no primitive '{name}'"));
        let dialect = Dialect::named(dialect).ok_or_else(unknown)?;
        let id = dialect.op(&name).ok_or_else(unknown)?;
        declare(function.py(), dialect, id, function.clone().unbind())
    }

    /// Whether this version of Python lays out sets as CPython 3.11 does, for tests.
    #[staticmethod]
    fn _tables_agree(py: Python<'_>) -> PyResult<bool> {
        tables_agree(py, Objects::get(py)?)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Primitive>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let primitive = slf.get();
        let by_position;
        let args = match kwargs {
            None => args,
            Some(kwargs) => {
                by_position = match call::bind(primitive.parameters(), args, kwargs) {
                    Ok(args) => args,
                    // A call with arguments that do not fit gives the fallback.
                    Err(_) if primitive.dialect.never_fails() => PyTuple::empty(py),
                    Err(message) => return Err(call::type_fault(py, primitive.name(), &message)),
                };
                &by_position
            }
        };
        if let Some(done) = primitive.take_shortcut(py, args)? {
            return Ok(done);
        }
        match primitive.make(py, args) {
            Ok(Some(made)) => return Ok(made),
            Err(_) if primitive.dialect.never_fails() => {
                // A call without arguments gives the fallback.
                let nothing = PyTuple::empty(py);
                return call::call(py, primitive.dialect, Called::Primitive(slf), &nothing);
            }
            Err(error) => return Err(error),
            Ok(None) => {}
        }
        call::call(py, primitive.dialect, Called::Primitive(slf), args)
    }

    #[getter]
    fn __name__(&self) -> &'static str {
        self.name()
    }

    #[getter]
    fn __qualname__(&self) -> &'static str {
        self.name()
    }

    #[getter]
    fn __module__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.wrapped.bind(py).getattr("__module__")
    }

    #[getter]
    fn __doc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.wrapped.bind(py).getattr("__doc__")
    }

    /// The Python function that declares the primitive. It has the signature and no code.
    #[getter]
    fn __wrapped__<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.wrapped.bind(py).clone()
    }

    #[getter]
    fn __annotations__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.wrapped.bind(py).getattr("__annotations__")
    }

    /// What `lbind` and `rbind` of the original libraries ask of a function.
    #[getter]
    fn __code__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.wrapped.bind(py).getattr("__code__")
    }

    /// The name of the dialect.
    #[getter]
    fn dialect(&self) -> &'static str {
        self.dialect.name()
    }

    /// Pickles the primitive by its name.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.id.op().params.is_empty() {
            false => self.wrapped.bind(py).getattr("__name__"),
            // The default function has no name. The function that gives it does.
            true => {
                let function = py
                    .import("batt.dsl._calls")?
                    .getattr("find_default_function")?;
                Ok((function, PyTuple::empty(py)).into_pyobject(py)?.into_any())
            }
        }
    }

    fn __repr__(&self) -> String {
        format!("<primitive {}>", self.id.op().call_form())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.wrapped)
    }
}
