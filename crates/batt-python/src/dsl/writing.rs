//! Making Python objects of the values of a run.

use batt_dsl::{Closure, ClosureForm, Dialect, OpId, Run, Set, SetSteps, Value};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySet};
use rustc_hash::FxHashMap;

use super::function::{Function, Kind};
use super::objects::{Objects, new_reference, tuple};
use super::primitive;
use super::reading::{Originals, Stop, table_size};

/// Makes the result of a call.
pub struct Writer<'py, 'a, 'r> {
    py: Python<'py>,
    run: &'a mut Run<'r>,
    dialect: Dialect,
    objects: &'static Objects,
    originals: &'a Originals,
    /// Whether sets that are built as the original builds them need no check.
    tables_agree: bool,
    /// The objects made so far, by the address of the value. A value that occurs several times
    /// becomes one object, as in Python; otherwise the result could be exponentially large.
    made: FxHashMap<usize, Py<PyAny>>,
    /// The number of containers around the value being written.
    depth: u32,
}

/// A new reference or the reason why there is none.
type Made = Result<*mut ffi::PyObject, Stop>;

impl<'py, 'a, 'r> Writer<'py, 'a, 'r> {
    /// Prepares to write results. The originals must be sorted.
    pub fn new(
        py: Python<'py>,
        run: &'a mut Run<'r>,
        dialect: Dialect,
        objects: &'static Objects,
        originals: &'a Originals,
        tables_agree: bool,
    ) -> Writer<'py, 'a, 'r> {
        Writer {
            py,
            run,
            dialect,
            objects,
            originals,
            tables_agree,
            made: FxHashMap::default(),
            depth: 0,
        }
    }

    /// Makes an object; the caller owns the reference.
    pub fn write(&mut self, value: Value<'r>) -> Made {
        match value {
            Value::Failed(fault) => Err(fault.into()),
            // SAFETY: the singletons are static.
            Value::None => Ok(new_reference(unsafe { ffi::Py_None() })),
            Value::Bool(b) => Ok(new_reference(match b.get() {
                // SAFETY: as above.
                true => unsafe { ffi::Py_True() },
                // SAFETY: as above.
                false => unsafe { ffi::Py_False() },
            })),
            Value::Int(n) => self.checked(self.objects.int(n)),
            Value::Float(x) => self.float(x.get()),
            Value::Pair(at) => self.checked(self.objects.pair(at.get())),
            Value::Cell(cell) => {
                let as_triple = self.dialect.cells_are_triples();
                self.checked(self.objects.cell(cell.get(), as_triple))
            }
            Value::Segment(segment) => {
                let ends = segment.get();
                self.checked(tuple([
                    self.objects.pair(ends.0),
                    self.objects.pair(ends.1),
                ]))
            }
            Value::Row(row) => self.container(row, |writer| writer.row(row.cells())),
            Value::Grid(grid) => self.container(grid, |writer| {
                writer.tuple_of(grid.height, |writer, i| writer.row(grid.row(i)))
            }),
            Value::Tuple(general) => self.container(general, |writer| writer.items(value)),
            Value::Concat(concat) => self.container(concat, |writer| writer.items(value)),
            Value::Set(set) => self.container(set, |writer| writer.set(set)),
            Value::Op(id) => self.primitive(id),
            Value::Closure(closure) => self.container(closure, |writer| writer.function(closure)),
        }
    }

    /// Passes a new reference on, or the exception that Python has set.
    #[inline(always)]
    fn checked(&self, object: *mut ffi::PyObject) -> Made {
        match object.is_null() {
            true => Err(PyErr::fetch(self.py).into()),
            false => Ok(object),
        }
    }

    fn float(&self, x: f64) -> Made {
        if x.is_nan() {
            if x.to_bits() == f64::NAN.to_bits() {
                return Ok(new_reference(self.objects.nan.as_ptr()));
            }
            if let Some(original) = self.originals.nan(x.to_bits()) {
                return Ok(new_reference(original));
            }
        }
        // SAFETY: the thread is attached.
        self.checked(unsafe { ffi::PyFloat_FromDouble(x) })
    }

    /// Returns the object of a value that was read or written before; otherwise makes one.
    #[inline]
    fn container<T>(&mut self, value: &T, make: impl FnOnce(&mut Self) -> Made) -> Made {
        if let Some(original) = self.originals.of(value) {
            return Ok(new_reference(original));
        }
        let address = std::ptr::from_ref(value).addr();
        if !self.made.is_empty()
            && let Some(known) = self.made.get(&address)
        {
            return Ok(new_reference(known.as_ptr()));
        }
        self.depth += 1;
        let made = make(self)?;
        self.depth -= 1;
        if self.depth > 0 {
            // SAFETY: `made` is a live object.
            let kept = unsafe { Borrowed::from_ptr(self.py, made) };
            self.made.insert(address, kept.to_owned().unbind());
        }
        Ok(made)
    }

    /// Makes a tuple of this length.
    fn tuple_of(&mut self, len: usize, mut item: impl FnMut(&mut Self, usize) -> Made) -> Made {
        // SAFETY: the thread is attached. Each place of the new tuple is filled once, with an owned
        // reference. If there is none, the tuple and what it holds are released.
        unsafe {
            let made = self.checked(ffi::PyTuple_New(len as ffi::Py_ssize_t))?;
            for k in 0..len {
                match item(self, k) {
                    Ok(item) => ffi::PyTuple_SetItem(made, k as ffi::Py_ssize_t, item),
                    Err(stop) => {
                        ffi::Py_DECREF(made);
                        return Err(stop);
                    }
                };
            }
            Ok(made)
        }
    }

    fn row(&mut self, cells: &[u8]) -> Made {
        self.checked(self.objects.row(cells))
    }

    fn items(&mut self, value: Value<'r>) -> Made {
        let items = self.run.items(value)?;
        self.tuple_of(items.len(), |writer, k| writer.write(items[k]))
    }

    /// Makes a frozenset that has the table of the set.
    fn set(&mut self, set: &'r Set<'r>) -> Made {
        if set.len() == 0 {
            return Ok(new_reference(self.objects.empty_set.as_ptr()));
        }
        let recipe = self.run.set_recipe(set)?;
        let Some(steps) = recipe.steps else {
            return self.laid_out_set(set);
        };
        let made = self.follow(recipe.elements, steps)?;
        match self.tables_agree || self.is_laid_out(&made, set)? {
            true => Ok(made.into_ptr()),
            false => self.laid_out_set(set),
        }
    }

    /// Returns whether Python makes a set as the simulation says, if the value is one.
    pub fn agrees(&mut self, value: Value<'r>) -> Result<bool, Stop> {
        let Some(set) = value.as_set().filter(|set| set.len() > 0) else {
            return Ok(true);
        };
        let recipe = self.run.set_recipe(set)?;
        let Some(steps) = recipe.steps else {
            return Ok(false);
        };
        let made = self.follow(recipe.elements, steps)?;
        self.is_laid_out(&made, set)
    }

    /// Follows the steps of a recipe.
    fn follow(
        &mut self,
        elements: &[Value<'r>],
        steps: SetSteps<'r>,
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let py = self.py;
        match steps {
            SetSteps::Insert => {
                let set = frozenset(py, None)?;
                self.insert(&set, elements)?;
                Ok(set)
            }
            SetSteps::Freeze if elements.len() == 1 => self.follow(elements, SetSteps::Insert),
            SetSteps::Freeze => {
                let set = PySet::empty(py)?.into_any();
                self.insert(&set, elements)?;
                Ok(frozenset(py, Some(&set))?)
            }
            SetSteps::FromDict { keys } => {
                let (keys, others) = elements.split_at(keys);
                let set = frozenset(py, Some(&self.dict(keys)?))?;
                self.insert(&set, others)?;
                Ok(set)
            }
            SetSteps::Union { first } => {
                let set = frozenset(py, None)?;
                self.insert(&set, &elements[..first])?;
                Ok(set.call_method1("union", (self.dict(elements)?,))?)
            }
            SetSteps::Difference { removed } => {
                let set = frozenset(py, Some(&self.dict(elements)?))?;
                let removed: Vec<_> = removed.iter().map(|&at| elements[at as usize]).collect();
                let without = frozenset(py, None)?;
                self.insert(&without, &removed)?;
                Ok(set.sub(without)?)
            }
        }
    }

    /// Adds elements to a set, or to a new frozenset that has no other owner.
    fn insert(&mut self, set: &Bound<'_, PyAny>, elements: &[Value<'r>]) -> Result<(), Stop> {
        for &element in elements {
            let element = self.write(element)?;
            // SAFETY: `set` is mutable or a new frozenset with one owner, which may be changed. It
            // takes a reference of its own, and `element` is released.
            let failed = unsafe {
                let failed = ffi::PySet_Add(set.as_ptr(), element) != 0;
                ffi::Py_DECREF(element);
                failed
            };
            if failed {
                return Err(PyErr::fetch(self.py).into());
            }
        }
        Ok(())
    }

    /// Makes a dict with these keys.
    fn dict(&mut self, keys: &[Value<'r>]) -> Result<Bound<'py, PyAny>, Stop> {
        let dict = PyDict::new(self.py);
        for &key in keys {
            let key = self.write(key)?;
            // SAFETY: the dict takes references of its own, and `key` is released.
            let failed = unsafe {
                let failed = ffi::PyDict_SetItem(dict.as_ptr(), key, ffi::Py_None()) != 0;
                ffi::Py_DECREF(key);
                failed
            };
            if failed {
                return Err(PyErr::fetch(self.py).into());
            }
        }
        Ok(dict.into_any())
    }

    /// Returns whether a frozenset has the iteration order and the table size of a set.
    fn is_laid_out(&mut self, made: &Bound<'_, PyAny>, set: &'r Set<'r>) -> Result<bool, Stop> {
        let table = self.run.set_table(set)?;
        if table_size(made)? != 1 << table.log2_size {
            return Ok(false);
        }
        let mut elements = made.try_iter()?;
        for &wanted in table.elements {
            let wanted = self.owned(wanted)?;
            let is_wanted = match elements.next() {
                // A nan equals only itself.
                Some(element) => {
                    let element = element?;
                    element.is(&wanted) || element.eq(wanted)?
                }
                None => false,
            };
            if !is_wanted {
                return Ok(false);
            }
        }
        Ok(elements.next().is_none())
    }

    /// Makes a frozenset that carries its table.
    fn laid_out_set(&mut self, set: &'r Set<'r>) -> Made {
        let table = self.run.set_table(set)?;
        let elements = self.tuple_of(table.elements.len(), |writer, k| {
            writer.write(table.elements[k])
        })?;
        // SAFETY: `elements` is a new reference.
        let elements = unsafe { Bound::from_owned_ptr(self.py, elements) };
        let class = self.py.import("batt.dsl._sets")?.getattr("LaidOutSet")?;
        let table = (
            elements,
            table.slots.to_vec(),
            table.log2_size,
            table.dummies,
        );
        Ok(class.call1(table)?.into_ptr())
    }

    fn owned(&mut self, value: Value<'r>) -> Result<Bound<'py, PyAny>, Stop> {
        let made = self.write(value)?;
        // SAFETY: `made` is a new reference.
        Ok(unsafe { Bound::from_owned_ptr(self.py, made) })
    }

    fn primitive(&self, id: OpId) -> Made {
        Ok(primitive::of(self.py, self.dialect, id)?.into_ptr())
    }

    /// Makes the object of a function that a primitive has made.
    fn function(&mut self, closure: &'r Closure<'r>) -> Made {
        let (kind, parts) = match closure.form() {
            ClosureForm::Compose(outer, inner) => (Kind::Compose, vec![outer, inner]),
            ClosureForm::Chain(h, g, f) => (Kind::Chain, vec![h, g, f]),
            ClosureForm::Matcher(function, target) => (Kind::Matcher, vec![function, target]),
            ClosureForm::Fork(outer, a, b) => (Kind::Fork, vec![outer, a, b]),
            ClosureForm::Lbind(function, fixed) => (Kind::Lbind, vec![function, fixed]),
            ClosureForm::Rbind(function, fixed) => (Kind::Rbind, vec![function, fixed]),
            ClosureForm::Power(function, count) => (Kind::Power(count), vec![function]),
        };
        let parts = parts.into_iter().map(|part| Ok(self.owned(part)?.unbind()));
        let parts = parts.collect::<Result<_, Stop>>()?;
        let function = Function {
            dialect: self.dialect,
            kind,
            arity: closure.arity() as u8,
            parts,
        };
        Ok(Bound::new(self.py, function)?.into_any().into_ptr())
    }
}

/// Makes a frozenset of a set or of the keys of a dict, or an empty one that nothing else refers
/// to.
fn frozenset<'py>(
    py: Python<'py>,
    elements: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let elements = elements.map_or(std::ptr::null_mut(), |elements| elements.as_ptr());
    // SAFETY: the thread is attached, and `elements` is a live object or null. The result is a new
    // reference or null.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyFrozenSet_New(elements)) }
}
