//! The operations of Python of which primitives are made: equality, order, truth, arithmetic,
//! indexing, iteration.

use std::cmp::Ordering;

use crate::fault::{Fault, Outcome};
use crate::hash;
use crate::run::Run;
use crate::value::Value;

impl<'r> Run<'r> {
    /// Returns `hash(v)`.
    pub fn hash(&mut self, v: Value<'r>) -> u64 {
        match v {
            // CPython hashes these by address; any stable number serves.
            Value::None | Value::Failed(_) => 0x5bd1_e995,
            Value::Op(id) => 0x9747_b28c + 64 * id.index() as u64,
            Value::Closure(closure) => {
                self.home.memo.borrow_mut().note_hash();
                0x1b87_3593 + 64 * u64::from(closure.id)
            }
            Value::Bool(b) => hash::int(b.get().into()),
            Value::Int(n) => hash::int(n),
            Value::Float(x) => match v.integral() {
                Some(n) => hash::int(n),
                None => hash::float(x.get()),
            },
            Value::Pair(p) => hash::pair(p.get().i, p.get().j),
            Value::Cell(c) => {
                let hash = self.cell_hash();
                hash(c.get())
            }
            Value::Segment(s) => {
                let ends = s.get();
                let hashes = [
                    hash::pair(ends.0.i, ends.0.j),
                    hash::pair(ends.1.i, ends.1.j),
                ];
                hash::tuple(hashes.into_iter())
            }
            Value::Concat(concat) => match self.concat_items(concat) {
                Ok(tuple) => self.hash(Value::Tuple(tuple)),
                Err(_) => 0,
            },
            Value::Row(row) => hash::tuple(row.cells.iter().map(|&c| c.into())),
            Value::Grid(grid) => hash::tuple(
                grid.rows()
                    .map(|row| hash::tuple(row.iter().map(|&c| c.into()))),
            ),
            Value::Tuple(tuple) => {
                if let Some(hash) = tuple.known.get().and_then(|known| known.hash.get()) {
                    return hash;
                }
                let hash = hash::tuple(tuple.items.iter().map(|&item| self.hash(item)));
                // If memory runs out, only the note is lost here. The run has recorded the limit
                // and will fail.
                if let Ok(known) = self.tuple_known(tuple) {
                    known.hash.set(Some(hash));
                }
                hash
            }
            Value::Set(set) => set.hash(self),
        }
    }

    /// Returns `a == b`. Python's comparison never fails. When this one reaches a limit of the run
    /// it returns `false`, and the run as a whole fails ([`Run::check_limits`]).
    #[inline]
    pub(crate) fn eq(&mut self, a: Value<'r>, b: Value<'r>) -> bool {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Pair(a), Value::Pair(b)) => a == b,
            (Value::Cell(a), Value::Cell(b)) => a == b,
            (Value::Segment(a), Value::Segment(b)) => a == b,
            _ => self.eq_general(a, b),
        }
    }

    fn eq_general(&mut self, a: Value<'r>, b: Value<'r>) -> bool {
        match (a, b) {
            (Value::None, Value::None) => true,
            (Value::Float(_), _) | (_, Value::Float(_)) => match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
            // As in Python, an object equals itself whatever it contains.
            (Value::Tuple(a), Value::Tuple(b)) if std::ptr::eq(a, b) => true,
            (Value::Op(a), Value::Op(b)) => a == b,
            (Value::Closure(a), Value::Closure(b)) => std::ptr::eq(a, b),
            (Value::Set(a), Value::Set(b)) => self.spend(a.len() / 8 + 32).is_ok() && a.eq(self, b),
            (Value::Row(a), Value::Row(b)) => a.cells == b.cells,
            (Value::Grid(a), Value::Grid(b)) => {
                self.spend(a.cells.len() / 64).is_ok() && a.height == b.height && a.cells == b.cells
            }
            _ => {
                if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
                    return a == b;
                }
                match (self.tuple_len(a), self.tuple_len(b)) {
                    (Some(2), Some(2)) => {
                        // Compact forms are common here, so the elements are not copied.
                        let (Ok((a, b)), Ok((c, d))) = (self.unpack2(a), self.unpack2(b)) else {
                            return false;
                        };
                        self.spend(8).is_ok() && self.eq_member(a, c) && self.eq_member(b, d)
                    }
                    (Some(n), Some(m)) if n == m => {
                        let (Ok(a), Ok(b)) = (self.items(a), self.items(b)) else {
                            return false;
                        };
                        self.spend(n + 8).is_ok()
                            && a.iter().zip(b).all(|(&a, &b)| self.eq_member(a, b))
                    }
                    _ => false,
                }
            }
        }
    }

    /// Returns `a is b or a == b`, which is how Python compares elements of containers. It differs
    /// from `==` only for nan.
    #[inline]
    pub(crate) fn eq_member(&mut self, a: Value<'r>, b: Value<'r>) -> bool {
        match (a, b) {
            (Value::Float(a), Value::Float(b)) if a.is(b) => true,
            _ => self.eq(a, b),
        }
    }

    /// Returns `a < b`. Tuples are compared lexicographically, sets by proper inclusion.
    pub(crate) fn lt(&mut self, a: Value<'r>, b: Value<'r>) -> Outcome<bool> {
        if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
            return Ok(a < b);
        }
        match (a, b) {
            (Value::Pair(a), Value::Pair(b)) => Ok(a.get() < b.get()),
            (Value::Segment(a), Value::Segment(b)) => Ok(a.get() < b.get()),
            (Value::Cell(a), Value::Cell(b)) if self.triples() => {
                let (a, b) = (a.get(), b.get());
                Ok((a.at, a.color) < (b.at, b.color))
            }
            (Value::Row(a), Value::Row(b)) => Ok(a.cells < b.cells),
            (Value::Set(a), Value::Set(b)) => Ok(a.len() < b.len() && a.is_subset(self, b)),
            (Value::Float(_), _) | (_, Value::Float(_)) => match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => Ok(a < b),
                _ => Err(Fault::Type),
            },
            _ if a.is_tuple() && b.is_tuple() => {
                let (a, b) = (self.items(a)?, self.items(b)?);
                for (&x, &y) in a.iter().zip(b) {
                    if !self.eq_member(x, y) {
                        return self.lt(x, y);
                    }
                }
                Ok(a.len() < b.len())
            }
            _ => Err(Fault::Type),
        }
    }

    /// Returns `bool(v)`.
    #[inline]
    pub(crate) fn truth(&self, v: Value<'r>) -> bool {
        match v {
            Value::None => false,
            Value::Bool(b) => b.get(),
            Value::Int(n) => n != 0,
            Value::Float(x) => x.get() != 0.0,
            Value::Row(row) => !row.cells.is_empty(),
            Value::Tuple(tuple) => !tuple.items.is_empty(),
            Value::Set(set) => set.len() > 0,
            _ => true,
        }
    }

    /// Returns `len(v)`.
    #[inline]
    pub(crate) fn len(&self, v: Value<'r>) -> Outcome<usize> {
        match v {
            Value::Set(set) => Ok(set.len()),
            _ => self.tuple_len(v).ok_or(Fault::Type),
        }
    }

    /// Returns the number of elements of a tuple.
    #[inline(always)]
    pub(crate) fn tuple_len(&self, v: Value<'r>) -> Option<usize> {
        Some(match v {
            Value::Pair(_) | Value::Segment(_) => 2,
            Value::Cell(_) if self.triples() => 3,
            Value::Cell(_) => 2,
            Value::Row(row) => row.cells.len(),
            Value::Grid(grid) => grid.height,
            Value::Concat(concat) => concat.len,
            Value::Tuple(tuple) => tuple.items.len(),
            _ => return None,
        })
    }

    /// Returns the three parts of a cell, in the order of a triple.
    #[inline(always)]
    fn triple(cell: crate::value::Cell) -> [Value<'r>; 3] {
        let part = |n: i64| Value::Int(n);
        [
            part(cell.at.i.into()),
            part(cell.at.j.into()),
            part(cell.color.into()),
        ]
    }

    /// Returns the hash function for cells in this run's dialect.
    #[inline(always)]
    pub(crate) fn cell_hash(&self) -> impl Fn(crate::value::Cell) -> u64 + Copy + use<> {
        let triples = self.triples();
        move |c| match triples {
            false => hash::cell(c.color, c.at.i, c.at.j),
            true => hash::triple(c.at.i, c.at.j, c.color),
        }
    }

    /// Returns `v[k]` for a position in range.
    #[inline(always)]
    pub(crate) fn item(&mut self, v: Value<'r>, k: usize) -> Outcome<Value<'r>> {
        match v {
            Value::Pair(p) => {
                let p = p.get();
                Ok(Value::Int(if k == 0 { p.i } else { p.j }.into()))
            }
            Value::Cell(c) if self.triples() => Ok(Run::triple(c.get())[k]),
            Value::Cell(c) if k == 0 => Ok(Value::Int(c.get().color.into())),
            Value::Cell(c) => Ok(Value::pair(c.get().at)),
            Value::Row(row) => Ok(Value::Int(row.cells[k].into())),
            Value::Grid(grid) => self.row(grid.row(k)),
            Value::Tuple(tuple) => Ok(tuple.items[k]),
            Value::Segment(s) => {
                let ends = s.get();
                Ok(Value::pair(if k == 0 { ends.0 } else { ends.1 }))
            }
            Value::Concat(concat) => Ok(self.concat_items(concat)?.items[k]),
            _ => Err(Fault::Type),
        }
    }

    /// Returns `v[k]` by Python's rules: negative positions count from the end.
    pub(crate) fn at(&mut self, v: Value<'r>, k: i64) -> Outcome<Value<'r>> {
        let len = self.tuple_len(v).ok_or(Fault::Type)? as i64;
        let k = if k < 0 { k.saturating_add(len) } else { k };
        if (0..len).contains(&k) {
            self.item(v, k as usize)
        } else {
            Err(Fault::Index)
        }
    }

    /// Returns the elements of a tuple in order, or of a set in table order.
    pub fn items(&mut self, v: Value<'r>) -> Outcome<&'r [Value<'r>]> {
        // Callers walk over the elements, so the run is charged for the walk here.
        let items = match v {
            Value::Tuple(tuple) => {
                self.spend(tuple.items.len() / 2 + 1)?;
                return Ok(tuple.items);
            }
            Value::Concat(concat) => {
                self.spend(concat.len / 2 + 1)?;
                return Ok(self.concat_items(concat)?.items);
            }
            Value::Set(set) => {
                self.spend(set.len() / 2 + 1)?;
                return set.values(self);
            }
            Value::Cell(c) if self.triples() => self.slice(&Run::triple(c.get()))?,
            Value::Pair(_) | Value::Cell(_) | Value::Segment(_) => {
                let (a, b) = self.unpack2(v)?;
                self.slice(&[a, b])?
            }
            Value::Row(row) => self.slice_from(row.cells.iter().map(|&c| Value::Int(c.into())))?,
            Value::Grid(grid) => {
                let rows = self.slice_filled(grid.height, Value::None)?;
                for (place, row) in rows.iter_mut().zip(grid.rows()) {
                    *place = self.row(row)?;
                }
                rows
            }
            _ => return Err(Fault::Type),
        };
        self.spend(items.len() + 1)?;
        Ok(items)
    }

    /// Unpacks `a, b = v`.
    #[inline]
    pub(crate) fn unpack2(&mut self, v: Value<'r>) -> Outcome<(Value<'r>, Value<'r>)> {
        match v {
            Value::Pair(p) => {
                let p = p.get();
                Ok((Value::Int(p.i.into()), Value::Int(p.j.into())))
            }
            Value::Cell(c) if !self.triples() => {
                let c = c.get();
                Ok((Value::Int(c.color.into()), Value::pair(c.at)))
            }
            Value::Segment(s) => {
                let ends = s.get();
                Ok((Value::pair(ends.0), Value::pair(ends.1)))
            }
            _ => match *self.items(v)? {
                [a, b] => Ok((a, b)),
                _ => Err(Fault::Value),
            },
        }
    }

    /// Unpacks `a, b, c = v`.
    pub(crate) fn unpack3(&mut self, v: Value<'r>) -> Outcome<[Value<'r>; 3]> {
        match v {
            Value::Cell(c) if self.triples() => Ok(Run::triple(c.get())),
            _ => match *self.items(v)? {
                [a, b, c] => Ok([a, b, c]),
                _ => Err(Fault::Value),
            },
        }
    }

    /// Unpacks `v, (i, j) = cell`, or `i, j, v = cell` if cells are triples. Returns `(v, i, j)`.
    pub(crate) fn uncell(&mut self, cell: Value<'r>) -> Outcome<(Value<'r>, Value<'r>, Value<'r>)> {
        if self.triples() {
            let [i, j, v] = self.unpack3(cell)?;
            return Ok((v, i, j));
        }
        let (v, at) = self.unpack2(cell)?;
        let (i, j) = self.unpack2(at)?;
        Ok((v, i, j))
    }

    /// Makes the cell `(v, (i, j))`, or `(i, j, v)` if cells are triples.
    pub(crate) fn recell(
        &mut self,
        v: Value<'r>,
        i: Value<'r>,
        j: Value<'r>,
    ) -> Outcome<Value<'r>> {
        if self.triples() {
            return self.tuple(&[i, j, v]);
        }
        let at = self.pair(i, j)?;
        self.pair(v, at)
    }

    /// Returns `a + b`.
    pub(crate) fn add(&mut self, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
        if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
            return a.checked_add(b).map(Value::Int).ok_or(Fault::Overflow);
        }
        if let Some((a, b)) = floats(a, b) {
            return Ok(self.new_float(a + b));
        }
        if let (Value::Row(a), Value::Row(b)) = (a, b) {
            self.check_len(a.cells.len() + b.cells.len())?;
            self.spend(a.cells.len() + b.cells.len())?;
            let joined = self.slice(&[a.cells, b.cells].concat())?;
            return self.row(joined);
        }
        if a.is_tuple() && b.is_tuple() {
            let (a, b) = (self.items(a)?, self.items(b)?);
            self.check_len(a.len() + b.len())?;
            return self.tuple(&[a, b].concat());
        }
        Err(Fault::Type)
    }

    /// Returns `a - b`.
    pub(crate) fn sub(&mut self, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
        if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
            return a.checked_sub(b).map(Value::Int).ok_or(Fault::Overflow);
        }
        if let Some((a, b)) = floats(a, b) {
            return Ok(self.new_float(a - b));
        }
        match (a, b) {
            (Value::Set(a), Value::Set(b)) => Ok(Value::Set(self.set_minus(a, b)?)),
            _ => Err(Fault::Type),
        }
    }

    /// Returns `a * b`.
    pub(crate) fn mul(&mut self, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
        if let Some((a, b)) = floats(a, b) {
            return Ok(self.new_float(a * b));
        }
        match (a.as_int(), b.as_int()) {
            (Some(a), Some(b)) => a.checked_mul(b).map(Value::Int).ok_or(Fault::Overflow),
            (None, Some(n)) if a.is_tuple() => self.repeat(a, n),
            (Some(n), None) if b.is_tuple() => self.repeat(b, n),
            _ => Err(Fault::Type),
        }
    }

    fn repeat(&mut self, tuple: Value<'r>, n: i64) -> Outcome<Value<'r>> {
        let items = self.items(tuple)?;
        let n = usize::try_from(n.max(0)).map_err(|_| Fault::Size)?;
        let len = items.len().checked_mul(n).ok_or(Fault::Size)?;
        self.check_len(len)?;
        self.spend(len)?;
        self.tuple(&items.repeat(n))
    }

    /// Returns `a // b`.
    pub(crate) fn fdiv(&mut self, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
        if let Some((a, b)) = floats(a, b) {
            return Ok(self.new_float(float_floor_div(a, b)?));
        }
        let (a, b) = (
            a.as_int().ok_or(Fault::Type)?,
            b.as_int().ok_or(Fault::Type)?,
        );
        floor_div(a, b).map(Value::Int)
    }

    /// Returns `-a`.
    pub(crate) fn neg(&mut self, a: Value<'r>) -> Outcome<Value<'r>> {
        if let Value::Float(x) = a {
            return Ok(self.new_float(-x.get()));
        }
        let a = a.as_int().ok_or(Fault::Type)?;
        a.checked_neg().map(Value::Int).ok_or(Fault::Overflow)
    }

    /// Makes a float from arithmetic. Each nan is a separate object, with its number in its bits.
    fn new_float(&mut self, x: f64) -> Value<'r> {
        if !x.is_nan() {
            return Value::float(x);
        }
        self.closures = self.closures.wrapping_add(1);
        Value::float(f64::from_bits(
            f64::NAN.to_bits() | u64::from(self.closures),
        ))
    }

    /// Returns `v in container`.
    pub(crate) fn contains(&mut self, v: Value<'r>, container: Value<'r>) -> Outcome<bool> {
        match container {
            Value::Set(set) => Ok(set.contains(self, v)),
            Value::Row(row) => {
                let wanted = v.integral();
                Ok(wanted.is_some_and(|n| row.cells.iter().any(|&c| i64::from(c) == n)))
            }
            _ if container.is_tuple() => {
                let items = self.items(container)?;
                self.spend(items.len())?;
                Ok(items.iter().any(|&item| self.eq_member(item, v)))
            }
            _ => Err(Fault::Type),
        }
    }

    /// Returns `v[a:b]`; an absent bound is `None`.
    pub(crate) fn slice_tuple(
        &mut self,
        v: Value<'r>,
        from: Option<i64>,
        to: Option<i64>,
    ) -> Outcome<Value<'r>> {
        let len = self.tuple_len(v).ok_or(Fault::Type)?;
        let (from, to) = slice_bounds(len, from, to);
        match v {
            Value::Grid(grid) => {
                let cells = &grid.cells[from * grid.width..to * grid.width];
                self.grid(to - from, grid.width, cells)
            }
            Value::Row(row) => self.row(&row.cells[from..to]),
            _ => {
                let items = self.items(v)?;
                self.tuple_of(&items[from..to])
            }
        }
    }

    /// Returns the columns of `zip(*v)`, cut to the shortest row.
    pub(crate) fn columns(&mut self, v: Value<'r>) -> Outcome<Vec<Vec<Value<'r>>>> {
        let mut rows = Vec::new();
        for &row in self.items(v)? {
            rows.push(self.items(row)?);
        }
        let width = rows.iter().map(|row| row.len()).min().unwrap_or_default();
        self.check_len(width * rows.len())?;
        self.spend(width * rows.len())?;
        Ok((0..width)
            .map(|j| rows.iter().map(|row| row[j]).collect())
            .collect())
    }

    /// Returns the position of the first extreme item, as `max(items, key)` or `min(items, key)`
    /// finds it.
    pub(crate) fn extreme(
        &mut self,
        keys: &[Value<'r>],
        direction: Ordering,
    ) -> Outcome<Option<usize>> {
        // Comparisons of numbers and other one-word values allocate nothing.
        let best = if keys.first().is_none_or(|key| key.address().is_none()) {
            self.extreme_by(keys, direction, Run::lt)?
        } else {
            self.in_loop(|run, state| {
                run.extreme_by(keys, direction, |run, a, b| run.lt_in_loop(state, a, b))
            })?
        };
        Ok((!keys.is_empty()).then_some(best))
    }

    /// Does what [`extreme`](Run::extreme) does, with a given comparison; returns 0 if there are no
    /// items.
    #[inline(always)]
    fn extreme_by(
        &mut self,
        keys: &[Value<'r>],
        direction: Ordering,
        mut lt: impl FnMut(&mut Run<'r>, Value<'r>, Value<'r>) -> Outcome<bool>,
    ) -> Outcome<usize> {
        let mut best = 0;
        for at in 1..keys.len() {
            let (small, large) = match direction {
                Ordering::Greater => (best, at),
                _ => (at, best),
            };
            if lt(self, keys[small], keys[large])? {
                best = at;
            }
        }
        Ok(best)
    }
}

/// Returns two numbers as floats, if at least one of them is a float.
fn floats(a: Value<'_>, b: Value<'_>) -> Option<(f64, f64)> {
    match (a, b) {
        (Value::Float(_), _) | (_, Value::Float(_)) => Some((a.as_f64()?, b.as_f64()?)),
        _ => None,
    }
}

/// Returns `a // b` for floats, computed from the remainder as in CPython, so that infinities give
/// the same results.
fn float_floor_div(a: f64, b: f64) -> Outcome<f64> {
    if b == 0.0 {
        return Err(Fault::ZeroDivision);
    }
    let mut remainder = a % b;
    let mut quotient = (a - remainder) / b;
    if remainder != 0.0 && ((b < 0.0) != (remainder < 0.0)) {
        remainder += b;
        quotient -= 1.0;
    }
    if remainder.is_nan() {
        return Ok(f64::NAN);
    }
    Ok(if quotient == 0.0 {
        0.0f64.copysign(a / b)
    } else {
        let floor = quotient.floor();
        if quotient - floor > 0.5 {
            floor + 1.0
        } else {
            floor
        }
    })
}

/// Returns `a // b` for integers.
pub(crate) fn floor_div(a: i64, b: i64) -> Outcome<i64> {
    if b == 0 {
        return Err(Fault::ZeroDivision);
    }
    let quotient = a.checked_div(b).ok_or(Fault::Overflow)?;
    Ok(if a % b != 0 && ((a < 0) != (b < 0)) {
        quotient - 1
    } else {
        quotient
    })
}

/// Returns `a % b` for integers.
pub(crate) fn floor_mod(a: i64, b: i64) -> Outcome<i64> {
    if b == 0 {
        return Err(Fault::ZeroDivision);
    }
    let remainder = a.wrapping_rem(b);
    Ok(if remainder != 0 && ((remainder < 0) != (b < 0)) {
        remainder + b
    } else {
        remainder
    })
}

/// Returns the half-open range of positions that `[from:to]` selects among `len`.
pub(crate) fn slice_bounds(len: usize, from: Option<i64>, to: Option<i64>) -> (usize, usize) {
    let n = len as i64;
    let clamp = |bound: i64| {
        let bound = if bound < 0 {
            bound.saturating_add(n)
        } else {
            bound
        };
        bound.clamp(0, n) as usize
    };
    let from = from.map_or(0, clamp);
    let to = to.map_or(len, clamp);
    (from, to.max(from))
}
