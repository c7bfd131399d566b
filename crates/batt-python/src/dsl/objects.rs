//! Python objects that calls share: small integers, locations, cells, the empty set.
//!
//! Sharing immutable objects is what makes calls cheap: a grid of 900 cells needs 30 new tuples
//! instead of hundreds, and an object of the grid's cells needs none.

use std::cell::Cell as Slot;
use std::ptr::null_mut;

use batt_dsl::{Cell, IntPair};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFloat, PyFrozenSet, PyList, PyTuple};

/// The smallest shared coordinate, and the number of shared ones.
const LOW: i16 = -2;
const SIDE: usize = 64;

/// The number of colours and the side of the grids whose cells are shared.
const COLORS: usize = 10;
const CELL_SIDE: usize = 32;

/// The distance between small integers in the memory of CPython 3.11 and later.
const STRIDE: usize = 32;

/// The longest rows that are shared, and the number of places for them.
const ROW: usize = 30;
const ROWS: usize = 1024;

/// A row of a grid, and its tuple; an owned reference or null.
#[derive(Clone, Copy)]
struct SharedRow {
    cells: [u8; ROW],
    len: u8,
    tuple: *mut ffi::PyObject,
}

const NO_ROW: SharedRow = SharedRow {
    cells: [0; ROW],
    len: 0,
    tuple: null_mut(),
};

/// A lazily filled table of owned references.
type Cache = Box<[Slot<*mut ffi::PyObject>]>;

/// The shared objects of the process.
pub struct Objects {
    /// The integers 0 to 255.
    ints: [*mut ffi::PyObject; 256],
    /// The address of 0, if the integers 0 to 255 follow each other in memory; otherwise 1, from
    /// which no object is a multiple of the distance away.
    first_int: usize,
    pairs: Cache,
    cells: Cache,
    triples: Cache,
    /// Rows of grids, each in the place that its cells decide. A new row displaces an older one.
    rows: Box<[Slot<SharedRow>]>,
    /// The offset of the items of a tuple in memory, if it was found out.
    items_at: Option<usize>,
    /// `frozenset()`
    pub empty_set: Py<PyAny>,
    /// The nan that stands for a missing number.
    pub nan: Py<PyAny>,
}

// SAFETY: the raw pointers are owned references to immutable objects, and the caches are read and
// written only while attached to the interpreter, which one thread is at a time. Nothing is called
// between reading and writing a place that could let another thread run.
unsafe impl Send for Objects {}
// SAFETY: as for `Send`.
unsafe impl Sync for Objects {}

impl Objects {
    /// Returns the shared objects.
    pub fn get(py: Python<'_>) -> PyResult<&'static Objects> {
        static OBJECTS: PyOnceLock<Objects> = PyOnceLock::new();
        OBJECTS.get_or_try_init(py, || Objects::new(py))
    }

    fn new(py: Python<'_>) -> PyResult<Objects> {
        let mut ints = [null_mut(); 256];
        for (value, place) in (0..).zip(&mut ints) {
            *place = i64::into_pyobject(value, py)?
                .into_any()
                .unbind()
                .into_ptr();
        }
        let address = |k: usize| ints[k] as usize;
        let in_a_row = (0..256).all(|k| address(k) == address(0).wrapping_add(k * STRIDE));
        let cache = |len| -> Cache { (0..len).map(|_| Slot::new(null_mut())).collect() };
        let empty_set = py.get_type::<PyFrozenSet>().call0()?;
        Ok(Objects {
            ints,
            first_int: if in_a_row { address(0) } else { 1 },
            pairs: cache(SIDE * SIDE),
            cells: cache(COLORS * CELL_SIDE * CELL_SIDE),
            triples: cache(COLORS * CELL_SIDE * CELL_SIDE),
            rows: (0..ROWS).map(|_| Slot::new(NO_ROW)).collect(),
            items_at: offset_of_items(py)?,
            empty_set: empty_set.unbind(),
            nan: PyFloat::new(py, f64::NAN).into_any().unbind(),
        })
    }

    /// Returns the value of an integer 0 to 255 if its object is the shared one.
    #[inline(always)]
    pub fn small_int(&self, object: *mut ffi::PyObject) -> Option<u8> {
        let offset = (object as usize).wrapping_sub(self.first_int);
        (offset < 256 * STRIDE && offset.is_multiple_of(STRIDE)).then_some((offset / STRIDE) as u8)
    }

    /// Returns the items of a tuple as borrowed references, if their place in memory is known.
    #[inline(always)]
    pub fn items<'a>(
        &self,
        tuple: *mut ffi::PyObject,
        len: usize,
    ) -> Option<&'a [*mut ffi::PyObject]> {
        let offset = self.items_at?;
        // SAFETY: callers pass a live tuple of this length, which they keep alive. `offset_of_items`
        // has checked that the items of tuples lie at this offset.
        Some(unsafe {
            let items = tuple.cast::<u8>().add(offset).cast::<*mut ffi::PyObject>();
            std::slice::from_raw_parts(items, len)
        })
    }

    /// Appends the elements of a tuple. Returns whether all are integers 0 to 255.
    #[inline]
    pub fn push_row(&self, tuple: *mut ffi::PyObject, len: usize, bytes: &mut Vec<u8>) -> bool {
        let Some(items) = self.items(tuple, len) else {
            return (0..len).all(|k| {
                // SAFETY: `tuple` is a tuple of this length.
                let item = unsafe { ffi::PyTuple_GetItem(tuple, k as ffi::Py_ssize_t) };
                let value = self.small_int(item);
                bytes.extend(value);
                value.is_some()
            });
        };
        // Without a branch for each item, the compiler handles several at a time. The offset of an
        // integer 0 to 255 has bits only where the numbers of the integers are.
        let mut wrong = 0;
        bytes.extend(items.iter().map(|&item| {
            let offset = (item as usize).wrapping_sub(self.first_int);
            wrong |= offset & !(255 * STRIDE);
            (offset / STRIDE) as u8
        }));
        wrong == 0
    }

    /// Returns a new reference to a tuple of integers 0 to 255.
    pub fn row(&self, cells: &[u8]) -> *mut ffi::PyObject {
        if cells.len() > ROW || cells.is_empty() {
            return self.new_row(cells);
        }
        let mut row = NO_ROW;
        row.cells[..cells.len()].copy_from_slice(cells);
        row.len = cells.len() as u8;
        let hash = row.cells.chunks(8).fold(0, |hash: u64, part| {
            let part = part
                .iter()
                .rev()
                .fold(0, |word, &cell| word << 8 | u64::from(cell));
            (hash.rotate_left(23) ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        });
        let place = &self.rows[(hash >> 54) as usize];
        let known = place.get();
        if known.cells == row.cells && known.len == row.len {
            return new_reference(known.tuple);
        }
        row.tuple = self.new_row(cells);
        if !row.tuple.is_null() {
            place.set(SharedRow {
                tuple: new_reference(row.tuple),
                ..row
            });
            // SAFETY: the place owned a reference to the displaced tuple, or had none.
            unsafe { ffi::Py_XDECREF(known.tuple) };
        }
        row.tuple
    }

    fn new_row(&self, cells: &[u8]) -> *mut ffi::PyObject {
        // SAFETY: the thread is attached. Each place of the new tuple is filled once, with an owned
        // reference.
        unsafe {
            let made = ffi::PyTuple_New(cells.len() as ffi::Py_ssize_t);
            if !made.is_null() {
                for (k, &cell) in (0..).zip(cells) {
                    ffi::PyTuple_SetItem(made, k, self.byte(cell));
                }
            }
            made
        }
    }

    /// Returns a new reference to an integer 0 to 255.
    #[inline(always)]
    pub fn byte(&self, value: u8) -> *mut ffi::PyObject {
        new_reference(self.ints[value as usize])
    }

    /// Returns a new reference to an integer.
    pub fn int(&self, value: i64) -> *mut ffi::PyObject {
        match u8::try_from(value) {
            Ok(value) => self.byte(value),
            // SAFETY: the thread is attached. The result is null only if memory is exhausted.
            Err(_) => unsafe { ffi::PyLong_FromLongLong(value) },
        }
    }

    /// Returns a new reference to the tuple of a location.
    #[inline]
    pub fn pair(&self, at: IntPair) -> *mut ffi::PyObject {
        let (i, j) = (
            at.i.wrapping_sub(LOW) as usize,
            at.j.wrapping_sub(LOW) as usize,
        );
        let make = || tuple([self.int(at.i.into()), self.int(at.j.into())]);
        match i < SIDE && j < SIDE {
            true => shared(&self.pairs[i * SIDE + j], make),
            false => make(),
        }
    }

    /// Returns a new reference to the tuple of a cell.
    #[inline]
    pub fn cell(&self, cell: Cell, as_triple: bool) -> *mut ffi::PyObject {
        let (i, j) = (cell.at.i as usize, cell.at.j as usize);
        let color = cell.color as usize;
        let make = || match as_triple {
            true => tuple([
                self.int(cell.at.i.into()),
                self.int(cell.at.j.into()),
                self.int(cell.color.into()),
            ]),
            false => tuple([self.int(cell.color.into()), self.pair(cell.at)]),
        };
        if i >= CELL_SIDE || j >= CELL_SIDE || color >= COLORS {
            return make();
        }
        let cache = if as_triple {
            &self.triples
        } else {
            &self.cells
        };
        shared(&cache[(color * CELL_SIDE + i) * CELL_SIDE + j], make)
    }
}

/// Returns a new reference to an object.
#[inline(always)]
pub fn new_reference(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: callers pass live objects, and the thread is attached.
    unsafe { ffi::Py_INCREF(object) };
    object
}

/// Returns a new reference to the object of a place, after making it if there is none.
#[inline(always)]
fn shared(
    place: &Slot<*mut ffi::PyObject>,
    make: impl FnOnce() -> *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    if place.get().is_null() {
        place.set(make());
        if place.get().is_null() {
            return null_mut();
        }
    }
    new_reference(place.get())
}

/// Makes a tuple of owned references, which it takes. Null if one of them is null or memory is
/// exhausted; then a Python exception is set.
pub fn tuple<const N: usize>(items: [*mut ffi::PyObject; N]) -> *mut ffi::PyObject {
    // SAFETY: the thread is attached. `PyTuple_SetItem` fills the places of a new tuple with owned
    // references, each once. On failure every reference is released.
    unsafe {
        let made = ffi::PyTuple_New(N as ffi::Py_ssize_t);
        if made.is_null() || items.iter().any(|item| item.is_null()) {
            items.iter().for_each(|&item| ffi::Py_XDECREF(item));
            ffi::Py_XDECREF(made);
            return null_mut();
        }
        for (k, item) in (0..).zip(items) {
            ffi::PyTuple_SetItem(made, k, item);
        }
        made
    }
}

/// Returns the offset of the items of a tuple in memory.
///
/// The stable ABI does not tell it, and calling a function for each item takes most of the time of
/// reading a grid. CPython stores the items where the fixed part of a tuple ends. This function
/// compares the items that lie there with those of some tuples; if one differs, the result is
/// `None`.
fn offset_of_items(py: Python<'_>) -> PyResult<Option<usize>> {
    let class = py.get_type::<PyTuple>();
    let size = |name: &str| class.getattr(name)?.extract::<usize>();
    let (offset, item_size) = (size("__basicsize__")?, size("__itemsize__")?);
    if item_size != size_of::<*mut ffi::PyObject>() || !offset.is_multiple_of(item_size) {
        return Ok(None);
    }
    for len in [1, 2, 3, 30, 1000] {
        let objects: Vec<_> = (0..len).map(|_| PyList::empty(py)).collect();
        let tuple = PyTuple::new(py, &objects)?;
        let same = objects.iter().enumerate().all(|(k, object)| {
            // SAFETY: a tuple of `len` items has a size of `offset + len * item_size` bytes, as its
            // class says, and the read is aligned.
            let item = unsafe {
                let items = tuple.as_ptr().cast::<u8>().add(offset);
                items.cast::<*mut ffi::PyObject>().add(k).read()
            };
            item == object.as_ptr()
        });
        if !same {
            return Ok(None);
        }
    }
    Ok(Some(offset))
}
