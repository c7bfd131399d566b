//! Items of collections: by number, by name, by slice or list, and one after the other.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};

/// The positions that an index selects.
pub enum Index {
    One(usize),
    Many(Vec<usize>),
}

/// Finds the position of a name, or raises an exception.
type Named<'n> = &'n dyn Fn(&str) -> PyResult<usize>;

/// Resolves a number, a slice, a list of numbers, or names if the items have names. `what` is the
/// noun of an item.
pub fn index(
    index: &Bound<'_, PyAny>,
    length: usize,
    what: &str,
    named: Option<Named<'_>>,
) -> PyResult<Index> {
    if let Ok(slice) = index.cast::<PySlice>() {
        let range = slice.indices(length as isize)?;
        let at = |k: usize| (range.start + k as isize * range.step) as usize;
        return Ok(Index::Many((0..range.slicelength).map(at).collect()));
    }
    if let Some(at) = one(index, length, what, named)? {
        return Ok(Index::One(at));
    }
    let name = if named.is_some() { "a name, " } else { "" };
    let wrong = || {
        let message = format!("a {what} is found by {name}a number, a slice or a list of these");
        PyTypeError::new_err(message)
    };
    let mut picked = Vec::new();
    for item in index.try_iter().map_err(|_| wrong())? {
        picked.push(one(&item?, length, what, named)?.ok_or_else(wrong)?);
    }
    Ok(Index::Many(picked))
}

/// Resolves a number or a name; `None` if the index is something else.
fn one(
    index: &Bound<'_, PyAny>,
    length: usize,
    what: &str,
    named: Option<Named<'_>>,
) -> PyResult<Option<usize>> {
    if let (Ok(name), Some(named)) = (index.cast::<PyString>(), named) {
        return named(&name.to_cow()?).map(Some);
    }
    let Ok(number) = index.extract::<isize>() else {
        return Ok(None);
    };
    let at = if number < 0 {
        number + length as isize
    } else {
        number
    };
    match usize::try_from(at).ok().filter(|&at| at < length) {
        Some(at) => Ok(Some(at)),
        None => Err(PyIndexError::new_err(format!(
            "there is no {what} {number} among {length}"
        ))),
    }
}

/// Creates the exception for a name that no item has.
pub fn unknown<'n>(what: &str, name: &str, names: impl Iterator<Item = &'n str> + Clone) -> PyErr {
    let count = names.clone().count();
    // A name often is the end of the one that is meant, as an id is of a solver's name.
    let ends = |known: &&str| name.len() > 3 && known.ends_with(name);
    let near = names.clone().find(ends);
    let message = match near.or_else(|| batt::nearest(name, names)) {
        Some(near) => format!("there is no {what} '{name}'; did you mean '{near}'?"),
        None => format!("there is no {what} '{name}' among {count}"),
    };
    PyKeyError::new_err(message)
}

/// Returns the position of an item in a collection, as the method `index` of a list does.
pub fn position(
    collection: &Bound<'_, PyAny>,
    wanted: &Bound<'_, PyAny>,
    start: isize,
    stop: Option<isize>,
) -> PyResult<usize> {
    let length = collection.len()? as isize;
    let bound = |at: isize| if at < 0 { at + length } else { at }.clamp(0, length);
    for at in bound(start)..bound(stop.unwrap_or(length)) {
        if collection.get_item(at)?.eq(wanted)? {
            return Ok(at as usize);
        }
    }
    let message = format!("{} is not here", wanted.repr()?);
    Err(PyValueError::new_err(message))
}

/// Returns how often an item is in a collection.
pub fn count(collection: &Bound<'_, PyAny>, wanted: &Bound<'_, PyAny>) -> PyResult<usize> {
    let mut count = 0;
    for item in collection.try_iter()? {
        count += usize::from(item?.eq(wanted)?);
    }
    Ok(count)
}

/// Returns a hash for Python.
pub fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The items of a collection, one after the other.
#[pyclass(module = "batt", name = "Items")]
pub struct Items {
    collection: Py<PyAny>,
    at: usize,
    length: usize,
}

impl Items {
    /// Returns the items of a collection that does not change.
    pub fn of(collection: &Bound<'_, PyAny>) -> Items {
        Items {
            collection: collection.clone().unbind(),
            at: 0,
            // The collections of this module have a length.
            length: collection.len().unwrap_or(0),
        }
    }
}

#[pymethods]
impl Items {
    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.at >= self.length {
            return Ok(None);
        }
        self.at += 1;
        self.collection.bind(py).get_item(self.at - 1).map(Some)
    }

    fn __length_hint__(&self) -> usize {
        self.length - self.at
    }
}
