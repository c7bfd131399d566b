//! Primitives that take less time on Python's objects than reading their arguments would.
//!
//! `first` of a set of a thousand cells needs one of them. These functions do what the original
//! primitives do, with the same operations of Python, for arguments of the usual kinds. Otherwise
//! they return null, and the call goes through the engine. So they never raise, and what they accept
//! is no more than an optimisation: `LaidOutSet`, subclasses and foreign objects are left to others.

use std::ptr::null_mut;

use batt_dsl::{Dialect, Op};
use pyo3::ffi;
use pyo3::ffi::PyObject;

use super::objects::{Objects, new_reference, tuple};

/// Takes as many borrowed references as the primitive has parameters. Returns a new reference, or
/// null if the engine has to do the call; then an exception may be set, which means nothing.
pub type Shortcut = fn(&Objects, &[*mut PyObject]) -> *mut PyObject;

/// The largest container that a shortcut makes. The engine has a limit.
const MOST: usize = 100_000;

/// Returns the shortcut of a primitive.
pub fn of(op: &Op, dialect: Dialect) -> Option<Shortcut> {
    // Those of tokpidjin that do the same, or that differ only in what they do instead of failing.
    let shortcut: Shortcut = match op.name {
        "add" => |objects, args| of_ints(objects, args, |[a, b]| a + b),
        "subtract" => |objects, args| of_ints(objects, args, |[a, b]| a - b),
        "multiply" => |objects, args| of_ints(objects, args, |[a, b]| a * b),
        "invert" => |objects, args| of_ints(objects, args, |[a]| -a),
        "double" => |objects, args| of_ints(objects, args, |[a]| a * 2),
        "halve" => |objects, args| of_ints(objects, args, |[a]| a / 2),
        "increment" => |objects, args| of_ints(objects, args, |[a]| a + 1),
        "decrement" => |objects, args| of_ints(objects, args, |[a]| a - 1),
        "crement" => |objects, args| of_ints(objects, args, |[a]| a + i64::from(a > 0)),
        "sign" => |objects, args| of_ints(objects, args, |[a]| i64::from(a > 0)),
        "even" => |objects, args| test_of_int(objects, args, |a| a % 2 == 0),
        "positive" => |objects, args| test_of_int(objects, args, |a| a > 0),
        "identity" => |_, args| new_reference(args[0]),
        "flip" => flip,
        "equality" => |_, args| compare(args, ffi::Py_EQ),
        "greater" => |_, args| compare(args, ffi::Py_GT),
        "both" => |_, args| choose(args[0], args[1], args[0]),
        "either" => |_, args| choose(args[0], args[0], args[1]),
        "branch" | "c_branch" => |_, args| choose(args[0], args[1], args[2]),
        "contained" => contained,
        "size" | "size_t" | "size_f" => size,
        "totuple" => totuple,
        "first" => first,
        "last" => last,
        "initset" => initset,
        "insert" => insert,
        "remove" | "remove_f" => remove,
        "combine" => combine,
        "intersection" => intersection,
        "difference" | "difference_tuple" => difference,
        "merge" | "merge_t" | "merge_f" => merge,
        "astuple" => |_, args| tuple([new_reference(args[0]), new_reference(args[1])]),
        "sizefilter" => sizefilter,
        "vconcat" => vconcat,
        "tophalf" => |_, args| half(args[0], |len| (0, len / 2)),
        "bottomhalf" => |_, args| half(args[0], |len| (len / 2 + len % 2, len)),
        "colorfilter" if dialect != Dialect::Tokpidjin => colorfilter,
        "color" if dialect != Dialect::Tokpidjin => color,
        "toindices" if dialect != Dialect::Tokpidjin => toindices,
        "hmirror" if dialect != Dialect::Tokpidjin => hmirror,
        "index" if dialect != Dialect::Tokpidjin => index,
        _ => return None,
    };
    Some(shortcut)
}

fn is_tuple(object: *mut PyObject) -> bool {
    // SAFETY: callers pass live objects.
    unsafe { ffi::PyTuple_CheckExact(object) != 0 }
}

fn is_set(object: *mut PyObject) -> bool {
    // SAFETY: callers pass live objects.
    unsafe { ffi::PyFrozenSet_CheckExact(object) != 0 }
}

fn is_container(object: *mut PyObject) -> bool {
    is_tuple(object) || is_set(object)
}

/// Returns the length of a tuple or frozenset.
fn len(container: *mut PyObject) -> usize {
    // SAFETY: callers pass live containers.
    unsafe { ffi::PyObject_Size(container) as usize }
}

/// Returns an item of a tuple that has one at this position; a borrowed reference.
fn item(tuple: *mut PyObject, at: usize) -> *mut PyObject {
    // SAFETY: callers pass live tuples.
    unsafe { ffi::PyTuple_GetItem(tuple, at as ffi::Py_ssize_t) }
}

fn bool(value: bool) -> *mut PyObject {
    // SAFETY: the singletons are static.
    new_reference(unsafe {
        if value {
            ffi::Py_True()
        } else {
            ffi::Py_False()
        }
    })
}

/// A new reference that is released when it is dropped.
struct Owned(*mut PyObject);

impl Owned {
    /// Gives the reference away.
    fn release(self) -> *mut PyObject {
        let object = self.0;
        std::mem::forget(self);
        object
    }

    fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the reference is owned or null, and the thread is attached.
        unsafe { ffi::Py_XDECREF(self.0) };
    }
}

/// Calls a function with each element of a container, in iteration order, until it returns `None`.
/// Returns `None` then.
fn each(
    container: *mut PyObject,
    mut visit: impl FnMut(*mut PyObject) -> Option<()>,
) -> Option<()> {
    if is_tuple(container) {
        return (0..len(container)).try_for_each(|k| visit(item(container, k)));
    }
    // SAFETY: `container` is a live frozenset, the thread is attached, and references are released.
    unsafe {
        let iterator = Owned(ffi::PyObject_GetIter(container));
        if iterator.is_null() {
            return None;
        }
        loop {
            let element = Owned(ffi::PyIter_Next(iterator.0));
            if element.is_null() {
                return ffi::PyErr_Occurred().is_null().then_some(());
            }
            visit(element.0)?;
        }
    }
}

/// A container under construction, of the kind of another one: `type(container)(...)`.
enum Builder {
    Tuple(Owned),
    Set(Owned),
}

impl Builder {
    fn like(container: *mut PyObject) -> Builder {
        // SAFETY: the thread is attached.
        unsafe {
            match is_tuple(container) {
                true => Builder::Tuple(Owned(ffi::PyList_New(0))),
                false => Builder::Set(Owned(ffi::PyFrozenSet_New(null_mut()))),
            }
        }
    }

    fn add(&mut self, element: *mut PyObject) -> Option<()> {
        // SAFETY: the list and the frozenset are new and have no other owner, and they take
        // references of their own.
        let failed = unsafe {
            match self {
                Builder::Tuple(list) => ffi::PyList_Append(list.0, element),
                Builder::Set(set) => ffi::PySet_Add(set.0, element),
            }
        };
        (failed == 0).then_some(())
    }

    fn finish(self) -> *mut PyObject {
        match self {
            // SAFETY: the list is live.
            Builder::Tuple(list) => unsafe { ffi::PyList_AsTuple(list.0) },
            Builder::Set(set) => set.release(),
        }
    }
}

/// Builds a container of the kind of another one. Returns null if `fill` returns `None`.
fn build(container: *mut PyObject, fill: impl FnOnce(&mut Builder) -> Option<()>) -> *mut PyObject {
    let mut builder = Builder::like(container);
    match fill(&mut builder) {
        Some(()) => builder.finish(),
        None => null_mut(),
    }
}

/// Computes an integer from integers 0 to 255.
fn of_ints<const N: usize>(
    objects: &Objects,
    args: &[*mut PyObject],
    compute: impl FnOnce([i64; N]) -> i64,
) -> *mut PyObject {
    let mut values = [0; N];
    for (value, &arg) in values.iter_mut().zip(args) {
        match objects.small_int(arg) {
            Some(n) => *value = n.into(),
            None => return null_mut(),
        }
    }
    objects.int(compute(values))
}

/// Computes a bool from an integer 0 to 255.
fn test_of_int(
    objects: &Objects,
    args: &[*mut PyObject],
    test: impl FnOnce(u8) -> bool,
) -> *mut PyObject {
    objects
        .small_int(args[0])
        .map_or(null_mut(), |n| bool(test(n)))
}

fn flip(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    // SAFETY: arguments are live objects.
    match unsafe { ffi::PyObject_IsTrue(args[0]) } {
        -1 => null_mut(),
        truth => bool(truth == 0),
    }
}

fn compare(args: &[*mut PyObject], operation: i32) -> *mut PyObject {
    // SAFETY: arguments are live objects.
    unsafe { ffi::PyObject_RichCompare(args[0], args[1], operation) }
}

/// Returns one of two objects.
fn choose(
    condition: *mut PyObject,
    if_true: *mut PyObject,
    if_false: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: arguments are live objects.
    match unsafe { ffi::PyObject_IsTrue(condition) } {
        -1 => null_mut(),
        0 => new_reference(if_false),
        _ => new_reference(if_true),
    }
}

fn contained(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    if !is_container(args[1]) {
        return null_mut();
    }
    // SAFETY: arguments are live objects.
    match unsafe { ffi::PySequence_Contains(args[1], args[0]) } {
        -1 => null_mut(),
        found => bool(found == 1),
    }
}

fn size(objects: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    match is_container(args[0]) {
        true => objects.int(len(args[0]) as i64),
        false => null_mut(),
    }
}

fn totuple(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    match is_container(args[0]) {
        // SAFETY: arguments are live objects.
        true => unsafe { ffi::PySequence_Tuple(args[0]) },
        false => null_mut(),
    }
}

/// Returns a new reference to the first element of a container, or null if there is none.
fn first_of(container: *mut PyObject) -> *mut PyObject {
    let mut found = null_mut();
    each(container, |element| {
        found = new_reference(element);
        None
    });
    found
}

fn first(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    match is_container(args[0]) {
        true => first_of(args[0]),
        false => null_mut(),
    }
}

fn last(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let container = args[0];
    if !is_container(container) || len(container) == 0 {
        return null_mut();
    }
    if is_tuple(container) {
        return new_reference(item(container, len(container) - 1));
    }
    let mut found = Owned(null_mut());
    match each(container, |element| {
        found = Owned(new_reference(element));
        Some(())
    }) {
        Some(()) => found.release(),
        None => null_mut(),
    }
}

fn initset(objects: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    // One element has one table, however the set is made.
    build(objects.empty_set.as_ptr(), |set| set.add(args[0]))
}

fn insert(objects: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    if !is_set(args[1]) {
        return null_mut();
    }
    let single = Owned(initset(objects, args));
    match single.is_null() {
        true => null_mut(),
        // SAFETY: both are live frozensets.
        false => unsafe { ffi::PyNumber_Or(args[1], single.0) },
    }
}

fn remove(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let (value, container) = (args[0], args[1]);
    if !is_container(container) {
        return null_mut();
    }
    build(container, |kept| {
        each(container, |element| {
            // Not `PyObject_RichCompareBool`, which says that every object equals itself.
            // SAFETY: both are live objects.
            let differs = unsafe {
                let differs = Owned(ffi::PyObject_RichCompare(element, value, ffi::Py_NE));
                match differs.is_null() {
                    true => -1,
                    false => ffi::PyObject_IsTrue(differs.0),
                }
            };
            match differs {
                -1 => None,
                0 => Some(()),
                _ => kept.add(element),
            }
        })
    })
}

fn combine(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let (a, b) = (args[0], args[1]);
    if !is_container(a) || !is_container(b) || len(a) + len(b) > MOST {
        return null_mut();
    }
    build(a, |all| {
        each(a, |element| all.add(element))?;
        each(b, |element| all.add(element))
    })
}

fn intersection(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    match is_set(args[0]) && is_set(args[1]) {
        // SAFETY: both are live frozensets.
        true => unsafe { ffi::PyNumber_And(args[0], args[1]) },
        false => null_mut(),
    }
}

fn difference(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let (a, b) = (args[0], args[1]);
    if !is_container(a) || !is_container(b) {
        return null_mut();
    }
    build(a, |kept| {
        each(a, |element| {
            // SAFETY: both are live objects.
            match unsafe { ffi::PySequence_Contains(b, element) } {
                -1 => None,
                0 => kept.add(element),
                _ => Some(()),
            }
        })
    })
}

fn merge(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let containers = args[0];
    if !is_container(containers) {
        return null_mut();
    }
    let mut room = MOST;
    build(containers, |all| {
        each(containers, |container| {
            if !is_container(container) {
                return None;
            }
            room = room.checked_sub(len(container))?;
            each(container, |element| all.add(element))
        })
    })
}

fn sizefilter(objects: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let (container, wanted) = (args[0], objects.small_int(args[1]));
    let Some(wanted) = wanted.filter(|_| is_container(container)) else {
        return null_mut();
    };
    build(objects.empty_set.as_ptr(), |kept| {
        each(container, |element| {
            if !is_container(element) {
                return None;
            }
            match len(element) == usize::from(wanted) {
                true => kept.add(element),
                false => Some(()),
            }
        })
    })
}

fn vconcat(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let (a, b) = (args[0], args[1]);
    match is_tuple(a) && is_tuple(b) && len(a) + len(b) <= MOST {
        // SAFETY: both are live tuples.
        true => unsafe { ffi::PySequence_Concat(a, b) },
        false => null_mut(),
    }
}

/// Returns a part of a tuple.
fn half(grid: *mut PyObject, part: impl FnOnce(usize) -> (usize, usize)) -> *mut PyObject {
    if !is_tuple(grid) {
        return null_mut();
    }
    let (start, end) = part(len(grid));
    // SAFETY: `grid` is a live tuple.
    unsafe { ffi::PyTuple_GetSlice(grid, start as ffi::Py_ssize_t, end as ffi::Py_ssize_t) }
}

fn hmirror(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let grid = args[0];
    if !is_tuple(grid) {
        return null_mut();
    }
    let height = len(grid);
    // SAFETY: the thread is attached, and each place of the new tuple is filled once, with an owned
    // reference.
    unsafe {
        let made = ffi::PyTuple_New(height as ffi::Py_ssize_t);
        if !made.is_null() {
            for k in 0..height {
                let row = new_reference(item(grid, height - 1 - k));
                ffi::PyTuple_SetItem(made, k as ffi::Py_ssize_t, row);
            }
        }
        made
    }
}

/// Returns the colour of an object's first cell as a new reference, or null.
fn color_of(object: *mut PyObject) -> *mut PyObject {
    if !is_set(object) {
        return null_mut();
    }
    let cell = Owned(first_of(object));
    match !cell.is_null() && is_tuple(cell.0) && len(cell.0) > 0 {
        true => new_reference(item(cell.0, 0)),
        false => null_mut(),
    }
}

fn color(_: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    color_of(args[0])
}

fn colorfilter(objects: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let (objs, wanted) = (args[0], objects.small_int(args[1]));
    if !is_container(objs) || wanted.is_none() {
        return null_mut();
    }
    build(objects.empty_set.as_ptr(), |kept| {
        each(objs, |object| {
            let color = Owned(color_of(object));
            // Another kind of number may equal the colour.
            match objects.small_int(color.0) {
                None => None,
                found if found == wanted => kept.add(object),
                Some(_) => Some(()),
            }
        })
    })
}

fn toindices(objects: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let patch = args[0];
    if !is_set(patch) {
        return null_mut();
    }
    if len(patch) == 0 {
        return new_reference(objects.empty_set.as_ptr());
    }
    let first = Owned(first_of(patch));
    if !is_tuple(first.0) || len(first.0) < 2 {
        return null_mut();
    }
    let second = item(first.0, 1);
    if objects.small_int(second).is_some() {
        return new_reference(patch);
    }
    if !is_tuple(second) {
        return null_mut();
    }
    build(patch, |locations| {
        each(patch, |cell| match is_tuple(cell) && len(cell) == 2 {
            true => locations.add(item(cell, 1)),
            false => None,
        })
    })
}

fn index(objects: &Objects, args: &[*mut PyObject]) -> *mut PyObject {
    let (grid, location) = (args[0], args[1]);
    if !is_tuple(grid) || !is_tuple(location) || len(grid) == 0 || len(location) != 2 {
        return null_mut();
    }
    let coordinate = |k| objects.small_int(item(location, k)).map(usize::from);
    let (Some(i), Some(j)) = (coordinate(0), coordinate(1)) else {
        return null_mut();
    };
    let first = item(grid, 0);
    if !is_tuple(first) {
        return null_mut();
    }
    if i >= len(grid) || j >= len(first) {
        // SAFETY: the singleton is static.
        return new_reference(unsafe { ffi::Py_None() });
    }
    let row = item(grid, i);
    match is_tuple(row) && j < len(row) {
        true => new_reference(item(row, j)),
        false => null_mut(),
    }
}
