//! Reading Python objects as values of a run.
//!
//! ```text
//!   int, bool, None, float, tuple, frozenset ─────────> values
//!   primitives and functions made by primitives ──────> functions of the run
//!   other callables ── "foreign" ─────────────────────> functions that the run cannot call
//!   anything else ────────────────────────────────────> Stop::Unsupported
//! ```
//!
//! The reader records which object each container came from. If a primitive returns one of its
//! arguments or an element of one, the caller gets the same object back.

use batt_dsl::{Cell, ClosureForm, Dialect, Fault, IntPair, Outcome, Run, SetTable, Value};
use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyFrozenSet, PyList, PySet, PyTuple};
use rustc_hash::FxHashMap;

use super::function::{Function, Kind};
use super::objects::Objects;
use super::primitive::Primitive;

/// The reason why a call ended without a value.
pub enum Stop {
    /// The run failed.
    Fault(Fault),
    /// Python raised an exception.
    Raised(PyErr),
    /// An argument contains an object that is not a value of the DSL.
    Unsupported(Py<PyAny>),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

impl From<PyErr> for Stop {
    fn from(error: PyErr) -> Stop {
        Stop::Raised(error)
    }
}

/// The depth to which objects are read. The engine has a similar limit.
const MAX_DEPTH: u32 = 1000;

/// The bits of the nans that come from Python: their sign differs from that of the run's own ones.
/// The low bits number them.
const FOREIGN_NAN: u64 = 0xFFF8_0000_0000_0000;

/// The objects from which values were read, by the address of the value. The objects belong to the
/// arguments, which outlive the call.
#[derive(Default)]
pub struct Originals {
    containers: Vec<(usize, *mut ffi::PyObject)>,
    nans: Vec<*mut ffi::PyObject>,
}

impl Originals {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.containers.clear();
        self.nans.clear();
    }

    fn add<T>(&mut self, value: &T, object: *mut ffi::PyObject) {
        self.containers
            .push((std::ptr::from_ref(value).addr(), object));
    }

    /// Prepares for lookups.
    pub fn sort(&mut self) {
        // Values are mostly allocated at ascending addresses, so this is one look at each.
        if !self.containers.is_sorted_by_key(|entry| entry.0) {
            self.containers.sort_unstable_by_key(|entry| entry.0);
        }
    }

    /// Returns the object from which a value was read; a borrowed reference.
    #[inline]
    pub fn of<T>(&self, value: &T) -> Option<*mut ffi::PyObject> {
        let address = std::ptr::from_ref(value).addr();
        let found = self
            .containers
            .binary_search_by_key(&address, |entry| entry.0);
        found.ok().map(|at| self.containers[at].1)
    }

    /// Returns the nan from which this one was read; a borrowed reference.
    pub fn nan(&self, bits: u64) -> Option<*mut ffi::PyObject> {
        let number = bits.checked_sub(FOREIGN_NAN)?;
        self.nans.get(usize::try_from(number).ok()?).copied()
    }
}

/// The values of some objects.
#[derive(Default)]
pub struct Shared<'r> {
    few: [Option<(*mut ffi::PyObject, Value<'r>)>; FEW],
    count: usize,
    others: FxHashMap<*mut ffi::PyObject, Value<'r>>,
}

/// The number of objects that are kept in an array.
const FEW: usize = 4;

impl<'r> Shared<'r> {
    fn get(&self, object: *mut ffi::PyObject) -> Option<Value<'r>> {
        let few = self.few[..self.count].iter().flatten();
        let found = few
            .filter(|(known, _)| *known == object)
            .map(|(_, value)| *value)
            .next();
        match found {
            None if !self.others.is_empty() => self.others.get(&object).copied(),
            found => found,
        }
    }

    fn insert(&mut self, object: *mut ffi::PyObject, value: Value<'r>) {
        match self.few.get_mut(self.count) {
            Some(place) => {
                *place = Some((object, value));
                self.count += 1;
            }
            None => {
                self.others.insert(object, value);
            }
        }
    }
}

/// Reads the arguments of a call.
pub struct Reader<'a, 'r> {
    pub py: Python<'a>,
    pub run: &'a mut Run<'r>,
    pub dialect: Dialect,
    pub objects: &'static Objects,
    pub originals: &'a mut Originals,
    /// A buffer for the cells of grids.
    pub bytes: &'a mut Vec<u8>,
    /// Whether to read the sizes of the tables of sets.
    pub with_tables: bool,
    /// Whether there is a callable that the run cannot call.
    pub has_foreign: bool,
    /// The elements of the containers being read.
    pub pending: Vec<Value<'r>>,
    /// The values of objects that may occur several times and whose identity matters: sets and
    /// functions.
    pub shared: Shared<'r>,
    /// Objects that have to live as long as the call.
    pub kept: &'a mut Vec<Py<PyAny>>,
    pub depth: u32,
}

type Read<T> = Result<T, Stop>;

impl<'r> Reader<'_, 'r> {
    /// Reads an object.
    #[inline]
    pub fn read(&mut self, object: *mut ffi::PyObject) -> Read<Value<'r>> {
        if let Some(n) = self.objects.small_int(object) {
            return Ok(Value::Int(n.into()));
        }
        // SAFETY: arguments and what they contain are live objects. The types are static.
        let kind = unsafe { ffi::Py_TYPE(object) };
        if kind == &raw mut ffi::PyTuple_Type {
            return self.tuple(object);
        }
        if kind == &raw mut ffi::PyFrozenSet_Type {
            return self.set(object);
        }
        self.read_rest(object, kind)
    }

    fn read_rest(
        &mut self,
        object: *mut ffi::PyObject,
        kind: *mut ffi::PyTypeObject,
    ) -> Read<Value<'r>> {
        // SAFETY: `object` is a live object, the thread is attached, and the singletons and types
        // are static.
        unsafe {
            if kind == &raw mut ffi::PyLong_Type {
                return self.int(object);
            }
            if object == ffi::Py_None() {
                return Ok(Value::None);
            }
            if object == ffi::Py_True() || object == ffi::Py_False() {
                return Ok(Value::bool(object == ffi::Py_True()));
            }
            if kind == &raw mut ffi::PyFloat_Type {
                return Ok(self.float(object));
            }
        }
        self.read_object(object)
    }

    /// Reads an integer that may have any size.
    fn int(&mut self, object: *mut ffi::PyObject) -> Read<Value<'r>> {
        // SAFETY: `object` is live and the thread is attached.
        let n = unsafe { ffi::PyLong_AsLongLong(object) };
        if n == -1
            && let Some(error) = PyErr::take(self.py)
        {
            return Err(match error.is_instance_of::<PyOverflowError>(self.py) {
                true => Stop::Fault(Fault::Overflow),
                false => Stop::Raised(error),
            });
        }
        Ok(Value::Int(n))
    }

    fn float(&mut self, object: *mut ffi::PyObject) -> Value<'r> {
        // SAFETY: `object` is a float.
        let x = unsafe { ffi::PyFloat_AsDouble(object) };
        if !x.is_nan() {
            return Value::float(x);
        }
        if object == self.objects.nan.as_ptr() {
            return Value::NAN;
        }
        let nans = &mut self.originals.nans;
        let known = nans.iter().position(|&nan| nan == object);
        let number = known.unwrap_or_else(|| {
            nans.push(object);
            nans.len() - 1
        });
        Value::float(f64::from_bits(FOREIGN_NAN + number as u64))
    }

    /// Counts a level of nesting while an object is read.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Stop::Fault(Fault::Recursion));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Reads a tuple.
    fn tuple(&mut self, object: *mut ffi::PyObject) -> Read<Value<'r>> {
        let len = length(object);
        let items = self.objects.items(object, len);
        let item = |k: usize| match items {
            Some(items) => items[k],
            // SAFETY: `object` is a tuple, and the positions are inside of it.
            None => unsafe { ffi::PyTuple_GetItem(object, k as ffi::Py_ssize_t) },
        };
        if len == 0 {
            return Ok(Value::EMPTY_TUPLE);
        }
        let first = item(0);
        if let Some(n) = self.objects.small_int(first) {
            if len == 2 {
                let value = self.pair_from(n, item(1))?;
                self.remember(value, object);
                return Ok(value);
            }
            if self.row(object, len) {
                let row = self.run.make_row(self.bytes)?;
                self.remember(row, object);
                return Ok(row);
            }
        } else if is_tuple(first) {
            let width = length(first);
            if width > 0 && (len, width) != (2, 2) && self.grid(object, len, width) {
                let grid = self.run.input(len, width, self.bytes)?;
                self.remember(grid, object);
                return Ok(grid);
            }
        }
        self.nested(|reader| {
            let start = reader.pending.len();
            for k in 0..len {
                let value = reader.read(item(k))?;
                reader.pending.push(value);
            }
            let value = reader.run.make_tuple(&reader.pending[start..])?;
            reader.pending.truncate(start);
            reader.remember(value, object);
            Ok(value)
        })
    }

    /// Reads the tuple of a small integer and another object: a location or a cell, mostly.
    #[inline]
    fn pair_from(&mut self, n: u8, second: *mut ffi::PyObject) -> Read<Value<'r>> {
        if let Some(m) = self.objects.small_int(second) {
            return Ok(Value::pair(IntPair::new(n.into(), m.into())));
        }
        let second = self.nested(|reader| reader.read(second))?;
        if let Some(at) = second.as_pair()
            && !self.dialect.cells_are_triples()
        {
            return Ok(Value::cell(Cell::new(n.into(), at)));
        }
        Ok(self.run.make_tuple(&[Value::Int(n.into()), second])?)
    }

    /// Puts the elements of a tuple into the buffer. Returns whether all are integers 0 to 255.
    fn row(&mut self, tuple: *mut ffi::PyObject, len: usize) -> bool {
        self.bytes.clear();
        self.objects.push_row(tuple, len, self.bytes)
    }

    /// Puts the cells of a grid into the buffer. Returns whether the tuple is a grid.
    fn grid(&mut self, tuple: *mut ffi::PyObject, height: usize, width: usize) -> bool {
        let (objects, bytes) = (self.objects, &mut *self.bytes);
        bytes.clear();
        bytes.reserve(height * width);
        (0..height).all(|i| {
            // SAFETY: `tuple` is a tuple with `height` items.
            let row = unsafe { ffi::PyTuple_GetItem(tuple, i as ffi::Py_ssize_t) };
            is_tuple(row) && length(row) == width && objects.push_row(row, width, bytes)
        })
    }

    /// Reads a frozenset.
    fn set(&mut self, object: *mut ffi::PyObject) -> Read<Value<'r>> {
        // SAFETY: `object` is a live set. A set with one reference occurs once in the arguments.
        let (len, occurs_once) = unsafe {
            (
                ffi::PySet_Size(object) as usize,
                ffi::Py_REFCNT(object) == 1,
            )
        };
        if !occurs_once && let Some(known) = self.shared.get(object) {
            return Ok(known);
        }
        let value = self.nested(|reader| {
            let start = reader.pending.len();
            reader.pending.reserve(len);
            reader.elements(object)?;
            let value = reader.made_of(object, start)?;
            reader.pending.truncate(start);
            Ok(value)
        })?;
        if !occurs_once {
            self.shared.insert(object, value);
        }
        self.remember(value, object);
        Ok(value)
    }

    /// Reads the elements of a set or list in iteration order and appends them to the pending ones.
    /// The container must keep its elements alive until the call ends.
    fn elements(&mut self, set: *mut ffi::PyObject) -> Read<()> {
        // SAFETY: the thread is attached, `set` is a live set, and `from_owned_ptr_or_err` takes
        // the new reference.
        let iterator =
            unsafe { Bound::from_owned_ptr_or_err(self.py, ffi::PyObject_GetIter(set))? };
        loop {
            // SAFETY: `iterator` is an iterator. The set keeps its elements alive, so the element
            // may be used after its reference is released.
            let element = unsafe {
                let element = ffi::PyIter_Next(iterator.as_ptr());
                if element.is_null() {
                    break;
                }
                ffi::Py_DECREF(element);
                element
            };
            let value = self.read(element)?;
            self.pending.push(value);
        }
        match PyErr::take(self.py) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Makes the set of the pending values from a position on, with the table of a frozenset.
    fn made_of(&mut self, object: *mut ffi::PyObject, start: usize) -> Read<Value<'r>> {
        let elements = &self.pending[start..];
        if !self.with_tables {
            return Ok(self.run.set_in_order(elements, None)?);
        }
        // SAFETY: `object` is a live object.
        let set = unsafe { Borrowed::from_ptr(self.py, object) };
        let log2_size = table_size(&set)?.ilog2();
        if !leaves_traces(&set, 1 << log2_size)? {
            return Ok(self.run.set_in_order(elements, Some(log2_size))?);
        }
        // The slots themselves do not matter to a copy then, only their order.
        let slots: Vec<u32> = (0..elements.len() as u32).collect();
        let table = SetTable {
            elements,
            slots: &slots,
            log2_size,
            dummies: true,
        };
        Ok(self.run.set_with_table(&table)?)
    }

    /// Reads an object that is not of one of the common types.
    fn read_object(&mut self, object: *mut ffi::PyObject) -> Read<Value<'r>> {
        // SAFETY: the arguments outlive the call, and with them what they contain.
        let object = unsafe { Borrowed::from_ptr(self.py, object) };
        if let Ok(primitive) = object.cast::<Primitive>() {
            let primitive = primitive.get();
            return match primitive.dialect == self.dialect {
                true => Ok(Value::Op(primitive.id)),
                false => self.foreign(object.as_ptr()),
            };
        }
        if let Ok(function) = object.cast::<Function>() {
            return match function.get().dialect == self.dialect {
                true => self.nested(|reader| reader.function(function.get(), object.as_ptr())),
                false => self.foreign(object.as_ptr()),
            };
        }
        self.read_other(&object)
    }

    fn read_other(&mut self, object: &Bound<'_, PyAny>) -> Read<Value<'r>> {
        let py = self.py;
        if object.is_instance_of::<PyFrozenSet>() || object.is_instance_of::<PySet>() {
            return self.unusual_set(object);
        }
        if object.is_instance_of::<PyTuple>() {
            return self.tuple(object.as_ptr());
        }
        if object.is_callable() {
            return self.foreign(object.as_ptr());
        }
        if object.is_instance_of::<PyFloat>() {
            return Ok(self.float(object.as_ptr()));
        }
        // Integers of numpy and the like. Arrays refuse to be an index.
        // SAFETY: `object` is live, and the result is a new reference or null.
        let index = unsafe {
            match ffi::PyIndex_Check(object.as_ptr()) {
                0 => None,
                _ => Bound::from_owned_ptr_or_opt(py, ffi::PyNumber_Index(object.as_ptr())),
            }
        };
        if let Some(index) = index {
            return self.int(index.as_ptr());
        }
        PyErr::take(py);
        Err(Stop::Unsupported(object.clone().unbind()))
    }

    /// Reads a mutable set, or an object of a subclass of frozenset.
    fn unusual_set(&mut self, object: &Bound<'_, PyAny>) -> Read<Value<'r>> {
        if let Some(known) = self.shared.get(object.as_ptr()) {
            return Ok(known);
        }
        let value = match object.getattr("_table") {
            Ok(table) => self.laid_out_set(&table)?,
            Err(_) => {
                // Other code may change the set during the call, or make its elements on the fly.
                let elements = PyList::empty(self.py);
                for element in object.try_iter()? {
                    elements.append(element?)?;
                }
                self.kept.push(elements.clone().into_any().unbind());
                self.nested(|reader| {
                    let start = reader.pending.len();
                    reader.elements(elements.as_ptr())?;
                    let value = reader.made_of(object.as_ptr(), start)?;
                    reader.pending.truncate(start);
                    Ok(value)
                })?
            }
        };
        self.shared.insert(object.as_ptr(), value);
        self.remember(value, object.as_ptr());
        Ok(value)
    }

    /// Reads a set that carries its table: the elements in iteration order, their slots, the binary
    /// logarithm of the size, and whether there are traces of removed elements.
    fn laid_out_set(&mut self, table: &Bound<'_, PyAny>) -> Read<Value<'r>> {
        let (elements, slots, log2_size, dummies): (Bound<'_, PyTuple>, Vec<u32>, u32, bool) =
            table.extract()?;
        self.kept.push(elements.clone().into_any().unbind());
        self.nested(|reader| {
            let start = reader.pending.len();
            for element in elements.iter_borrowed() {
                let value = reader.read(element.as_ptr())?;
                reader.pending.push(value);
            }
            let elements = &reader.pending[start..];
            let table = SetTable {
                elements,
                slots: &slots,
                log2_size,
                dummies,
            };
            let value = reader.run.set_with_table(&table)?;
            reader.pending.truncate(start);
            Ok(value)
        })
    }

    /// Reads a function that a primitive has made.
    fn function(&mut self, function: &Function, object: *mut ffi::PyObject) -> Read<Value<'r>> {
        if let Some(known) = self.shared.get(object) {
            return Ok(known);
        }
        let mut parts = [Value::None; 3];
        for (place, part) in parts.iter_mut().zip(&function.parts) {
            *place = self.read(part.as_ptr())?;
        }
        let [a, b, c] = parts;
        let form = match function.kind {
            Kind::Compose => ClosureForm::Compose(a, b),
            Kind::Chain => ClosureForm::Chain(a, b, c),
            Kind::Matcher => ClosureForm::Matcher(a, b),
            Kind::Fork => ClosureForm::Fork(a, b, c),
            Kind::Lbind => ClosureForm::Lbind(a, b),
            Kind::Rbind => ClosureForm::Rbind(a, b),
            Kind::Power(count) => ClosureForm::Power(a, count),
        };
        let closure = self.run.closure(function.arity, form);
        self.known_function(closure, object)
    }

    /// Makes a function that stands for a callable of Python.
    fn foreign(&mut self, object: *mut ffi::PyObject) -> Read<Value<'r>> {
        self.has_foreign = true;
        if let Some(known) = self.shared.get(object) {
            return Ok(known);
        }
        let stand_in = self.run.unknown_function();
        self.known_function(stand_in, object)
    }

    fn known_function(
        &mut self,
        made: Outcome<Value<'r>>,
        object: *mut ffi::PyObject,
    ) -> Read<Value<'r>> {
        let made = made?;
        self.shared.insert(object, made);
        self.remember(made, object);
        Ok(made)
    }

    /// Remembers from which object a value was read.
    #[inline]
    fn remember(&mut self, value: Value<'r>, object: *mut ffi::PyObject) {
        match value {
            Value::Row(row) => self.originals.add(row, object),
            Value::Grid(grid) => self.originals.add(grid, object),
            Value::Tuple(tuple) => self.originals.add(tuple, object),
            Value::Set(set) => self.originals.add(set, object),
            Value::Closure(closure) => self.originals.add(closure, object),
            _ => {}
        }
    }
}

/// Returns whether an object is a tuple and not of a subclass.
#[inline(always)]
fn is_tuple(object: *mut ffi::PyObject) -> bool {
    // SAFETY: callers pass live objects.
    unsafe { ffi::Py_TYPE(object) == &raw mut ffi::PyTuple_Type }
}

/// Returns the length of a tuple.
#[inline(always)]
fn length(tuple: *mut ffi::PyObject) -> usize {
    // SAFETY: callers pass live tuples.
    unsafe { ffi::PyTuple_Size(tuple) as usize }
}

/// Returns the size of the table of a set.
pub fn table_size(set: &Bound<'_, PyAny>) -> PyResult<usize> {
    let py = set.py();
    let bytes: usize = set.call_method0(intern!(py, "__sizeof__"))?.extract()?;
    let class = set.get_type();
    let without_table: usize = class.getattr(intern!(py, "__basicsize__"))?.extract()?;
    // A table of 8 slots lies inside of the set. Larger tables have 16 bytes for each slot.
    Ok((bytes.saturating_sub(without_table) / 16).max(8))
}

/// Returns whether removed elements have left traces in the table of a set. Python does not show
/// them, but the order of a copy does: without traces, a copy in a table of the same size keeps all
/// slots.
fn leaves_traces(set: &Bound<'_, PyAny>, size: usize) -> PyResult<bool> {
    // SAFETY: `set` is a live set. The result is a new reference or null.
    let copy = unsafe { Bound::from_owned_ptr_or_err(set.py(), ffi::PySet_New(set.as_ptr()))? };
    if table_size(&copy)? != size {
        // A copy of another size ignores the slots.
        return Ok(false);
    }
    for (original, copied) in set.try_iter()?.zip(copy.try_iter()?) {
        if !original?.is(&copied?) {
            return Ok(true);
        }
    }
    Ok(false)
}
