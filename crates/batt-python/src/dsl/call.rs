//! One call of a primitive or function: reading the arguments, the run, making the result.
//!
//! ```text
//!   arguments ── Reader ──> values ── Run ──> value ── Writer ──> result
//!       │                                 └── fault ──> exception of batt.errors
//!       └── a foreign callable, or an object that is not a value?
//!             └──> batt.dsl._calls, where the primitives that call functions are plain Python
//! ```
//!
//! Few primitives need the sizes of the tables of sets, and reading these takes time. So a call is
//! tried without them first.
//!
//! The GIL is not released. That would take 25 ns of a call that may take 50, and the values are read
//! and made while holding it.

use std::cell::Cell;

use batt_dsl::{Dialect, Fault, Limits, Outcome, Run, Value, Workspace};
use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::agreement::tables_agree;
use super::function::Function;
use super::objects::Objects;
use super::primitive::Primitive;
use super::reading::{Originals, Reader, Shared, Stop};
use super::writing::Writer;

/// What is called.
#[derive(Clone, Copy)]
pub enum Called<'a, 'py> {
    Primitive(&'a Bound<'py, Primitive>),
    Function(&'a Bound<'py, Function>),
}

impl Called<'_, '_> {
    fn name(self) -> &'static str {
        match self {
            Called::Primitive(primitive) => primitive.get().name(),
            Called::Function(function) => function.get().kind.name(),
        }
    }
}

/// The memory for the calls of one thread.
#[derive(Default)]
struct Space {
    workspace: Workspace,
    limits: Limits,
    originals: Originals,
    bytes: Vec<u8>,
    kept: Vec<Py<PyAny>>,
    /// An empty buffer.
    pending: Vec<Value<'static>>,
}

thread_local! {
    /// The space while no call uses it. Comparing and hashing foreign objects can call a primitive
    /// within a call; the inner call gets a space of its own.
    static SPACE: Cell<Option<Box<Space>>> = const { Cell::new(None) };
}

/// The end of one attempt.
enum End {
    Value(Py<PyAny>),
    Stop(Stop),
    /// The run needs the sizes of the tables of sets.
    LacksTable,
    /// The arguments contain a callable that the run cannot call.
    Foreign,
}

/// Calls a primitive or function.
pub fn call<'py>(
    py: Python<'py>,
    dialect: Dialect,
    called: Called<'_, 'py>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut space = SPACE.take().unwrap_or_default();
    let mut end = attempt(py, &mut space, dialect, called, args, false);
    if let End::LacksTable = end {
        end = attempt(py, &mut space, dialect, called, args, true);
    }
    SPACE.set(Some(space));
    // Plain Python also handles objects that are not values of the DSL.
    let leave_to_python = match &end {
        End::Value(_) | End::LacksTable => false,
        End::Foreign | End::Stop(Stop::Unsupported(_)) => true,
        End::Stop(Stop::Fault(Fault::Overflow)) => args.iter().any(|arg| is_foreign(&arg)),
        End::Stop(_) => false,
    };
    if leave_to_python && let Some(value) = in_python(py, dialect, called, args)? {
        return Ok(value);
    }
    match end {
        End::Value(value) => Ok(value.into_bound(py)),
        End::Stop(Stop::Fault(fault)) => Err(fault_of(py, fault, called.name())),
        End::Stop(Stop::Raised(error)) => Err(error),
        End::Stop(Stop::Unsupported(object)) => {
            Err(unsupported(py, called.name(), object.bind(py)))
        }
        End::Foreign | End::LacksTable => Err(crate::errors::bug("a call without an end")),
    }
}

/// Tries a call in the engine.
fn attempt(
    py: Python<'_>,
    space: &mut Space,
    dialect: Dialect,
    called: Called<'_, '_>,
    args: &Bound<'_, PyTuple>,
    with_tables: bool,
) -> End {
    let shared = Objects::get(py).and_then(|objects| Ok((objects, tables_agree(py, objects)?)));
    let (objects, agree) = match shared {
        Ok(shared) => shared,
        Err(error) => return End::Stop(error.into()),
    };
    let Space {
        workspace,
        limits,
        originals,
        bytes,
        kept,
        pending,
    } = space;
    originals.clear();
    kept.clear();
    workspace.run(dialect, limits, |run| {
        let mut reader = Reader {
            py,
            run,
            dialect,
            objects,
            originals,
            bytes,
            with_tables,
            has_foreign: false,
            pending: recycled(std::mem::take(pending)),
            shared: Shared::default(),
            kept,
            depth: 0,
        };
        let mut values = [Value::None; 4];
        let function = read(&mut reader, called, args, &mut values);
        let has_foreign = reader.has_foreign;
        *pending = recycled(reader.pending);
        let outcome = match function {
            Ok(_) if has_foreign && is_called(py, dialect, called) => return End::Foreign,
            Ok(function) => invoke(run, function, &values, args.len()),
            Err(stop) => return End::Stop(stop),
        };
        originals.sort();
        let mut writer = Writer::new(py, run, dialect, objects, originals, agree);
        let written = match outcome {
            Ok(value) => writer.write(value),
            Err(fault) => Err(fault.into()),
        };
        drop(writer);
        // SAFETY: the writer returns a new reference.
        let written = written.map(|object| unsafe { Bound::from_owned_ptr(py, object).unbind() });
        match written {
            _ if run.lacks_table() => End::LacksTable,
            Ok(value) => End::Value(value),
            Err(stop) => End::Stop(stop),
        }
    })
}

/// Empties a buffer so that values of another lifetime fit. The standard library reuses the memory.
fn recycled<'b>(mut buffer: Vec<Value<'_>>) -> Vec<Value<'b>> {
    buffer.clear();
    buffer.into_iter().map(|_| Value::None).collect()
}

/// Reads the arguments and returns the function to call. Too many arguments are not read.
fn read<'r>(
    reader: &mut Reader<'_, 'r>,
    called: Called<'_, '_>,
    args: &Bound<'_, PyTuple>,
    values: &mut [Value<'r>; 4],
) -> Result<Value<'r>, Stop> {
    let function = match called {
        Called::Primitive(primitive) => Value::Op(primitive.get().id),
        Called::Function(function) => reader.read(function.as_ptr())?,
    };
    if args.len() <= values.len() {
        for (place, arg) in values.iter_mut().zip(args.iter_borrowed()) {
            *place = reader.read(arg.as_ptr())?;
        }
    }
    Ok(function)
}

/// Calls a function of the run with the first values, as many as there are arguments.
fn invoke<'r>(
    run: &mut Run<'r>,
    function: Value<'r>,
    values: &[Value<'r>; 4],
    count: usize,
) -> Outcome<Value<'r>> {
    let none = [Value::None; 5];
    let value = run.call(function, values.get(..count).unwrap_or(&none))?;
    run.check_limits()?;
    Ok(value)
}

/// Returns whether a primitive may call the functions among its arguments.
fn is_called(py: Python<'_>, dialect: Dialect, called: Called<'_, '_>) -> bool {
    match called {
        Called::Primitive(primitive) => {
            in_plain_python(py, dialect, primitive.get().name()).is_ok_and(|it| it.is_some())
        }
        Called::Function(_) => true,
    }
}

/// Returns the plain Python version of a primitive that calls functions.
fn in_plain_python<'py>(
    py: Python<'py>,
    dialect: Dialect,
    name: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let table = match dialect {
        Dialect::ArcDsl => intern!(py, "ARC_DSL"),
        Dialect::ReArc => intern!(py, "RE_ARC"),
        Dialect::Tokpidjin => intern!(py, "TOKPIDJIN"),
    };
    let table = py.import(intern!(py, "batt.dsl._calls"))?.getattr(table)?;
    table.cast_into::<PyDict>()?.get_item(name)
}

/// Does the call in plain Python. Returns `None` for a primitive that calls no functions.
fn in_python<'py>(
    py: Python<'py>,
    dialect: Dialect,
    called: Called<'_, 'py>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match called {
        Called::Primitive(primitive) => {
            let plain = in_plain_python(py, dialect, primitive.get().name())?;
            plain.map(|plain| plain.call1(args)).transpose()
        }
        Called::Function(function) => {
            let function = function.get();
            match args.len() == usize::from(function.arity) {
                true => function.call_in_python(args).map(Some),
                false => Err(fault_of(py, Fault::Type, function.kind.name())),
            }
        }
    }
}

/// Returns whether an object is a callable that the engine does not know.
fn is_foreign(object: &Bound<'_, PyAny>) -> bool {
    object.is_callable() && !object.is_instance_of::<Primitive>()
}

/// Returns the number of parameters of a function that is given to `op`: `lbind` or `rbind`.
pub fn arity(function: &Bound<'_, PyAny>, op: &str) -> PyResult<usize> {
    if let Ok(primitive) = function.cast::<Primitive>() {
        return Ok(primitive.get().id.op().arity());
    }
    if let Ok(function) = function.cast::<Function>() {
        return Ok(function.get().arity.into());
    }
    let py = function.py();
    match function.getattr(intern!(py, "__code__")) {
        Ok(code) => code.getattr(intern!(py, "co_argcount"))?.extract(),
        Err(error) if error.is_instance_of::<PyAttributeError>(py) && !function.is_callable() => {
            Err(fault_of(py, Fault::Attribute, op))
        }
        Err(error) => Err(error),
    }
}

/// Puts keyword arguments into the positions of their parameters; the error is a message.
pub fn bind<'py>(
    names: &[&str],
    args: &Bound<'py, PyTuple>,
    kwargs: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyTuple>, String> {
    let py = args.py();
    let mut values: Vec<Option<Bound<'py, PyAny>>> = args.iter().map(Some).collect();
    values.resize(names.len().max(values.len()), None);
    for (name, value) in kwargs {
        let name = name.to_string();
        let Some(at) = names.iter().position(|known| *known == name) else {
            return Err(format!("got an unexpected keyword argument '{name}'"));
        };
        if values[at].replace(value).is_some() {
            return Err(format!("got multiple values for argument '{name}'"));
        }
    }
    while values.last().is_some_and(Option::is_none) {
        values.pop();
    }
    if let Some(at) = values.iter().position(Option::is_none) {
        return Err(format!("missing argument '{}'", names[at]));
    }
    let values: Vec<_> = values.into_iter().flatten().collect();
    PyTuple::new(py, values).map_err(|error| error.to_string())
}

/// The exception of a run that failed.
fn fault_of(py: Python<'_>, fault: Fault, op: &str) -> PyErr {
    let message = format!("{op}: {}", fault.explain());
    exception(py, fault.name(), &message, None, op)
}

/// The exception of a call with arguments that do not fit.
pub fn type_fault(py: Python<'_>, op: &str, message: &str) -> PyErr {
    exception(
        py,
        Fault::Type.name(),
        &format!("{op}: {message}"),
        None,
        op,
    )
}

/// The exception for an object that is not a value of the DSL.
fn unsupported(py: Python<'_>, op: &str, object: &Bound<'_, PyAny>) -> PyErr {
    let class = object.get_type();
    let class = class
        .name()
        .map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let message = format!("{op}: an object of type '{class}' is not a value of the DSL");
    let hint = "values are ints, bools, None, floats, tuples, frozensets and functions; \
                a grid is a tuple of tuples";
    exception(py, Fault::Type.name(), &message, Some(hint), op)
}

/// Makes an exception of the class for a kind of fault.
fn exception(py: Python<'_>, kind: &str, message: &str, hint: Option<&str>, op: &str) -> PyErr {
    let made = (|| {
        let class = py
            .import(intern!(py, "batt.errors"))?
            .getattr(intern!(py, "call_fault"))?;
        let fields = PyDict::new(py);
        fields.set_item("op", op)?;
        class.call1((kind,))?.call((message, hint), Some(&fields))
    })();
    made.map_or_else(|error: PyErr| error, PyErr::from_value)
}
