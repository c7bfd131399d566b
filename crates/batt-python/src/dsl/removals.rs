//! Frozensets from which elements were removed.
//!
//! A removed element leaves a trace in the table, which matters when the set is copied and which
//! Python does not show. So the tables of such sets are remembered for as long as the sets live. A
//! few primitives make them, such as `delta`, and only some of these tables matter.

use std::sync::{Mutex, PoisonError};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use rustc_hash::FxHashMap;

/// The tables, by the address of the set.
static TABLES: Mutex<Option<FxHashMap<usize, Removal>>> = Mutex::new(None);

struct Removal {
    set: Py<PyWeakrefReference>,
    slots: Vec<u32>,
    log2_size: u32,
}

/// The number of tables from which on those of dead sets are dropped.
const MANY: usize = 256;

/// Remembers the table of a set: the slots of its elements and the binary logarithm of its size.
pub fn remember(set: &Bound<'_, PyAny>, slots: &[u32], log2_size: u32) -> PyResult<()> {
    let py = set.py();
    let entry = Removal {
        set: PyWeakrefReference::new(set)?.unbind(),
        slots: slots.to_vec(),
        log2_size,
    };
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let tables = tables.get_or_insert_default();
    if tables.len() >= MANY && tables.len().is_power_of_two() {
        tables.retain(|_, entry| entry.set.bind(py).upgrade().is_some());
    }
    tables.insert(set.as_ptr().addr(), entry);
    Ok(())
}

/// Passes the slots and the size of a remembered table on.
pub fn table_of<T>(
    py: Python<'_>,
    set: *mut ffi::PyObject,
    make: impl FnOnce(&[u32], u32) -> T,
) -> Option<T> {
    let tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = tables.as_ref()?.get(&set.addr())?;
    let alive = entry.set.bind(py).upgrade()?;
    (alive.as_ptr() == set).then(|| make(&entry.slots, entry.log2_size))
}
