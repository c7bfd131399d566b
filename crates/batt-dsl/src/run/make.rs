//! Making values: allocation, tuples, and concatenations of patches.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::arena::ALIGN;
use crate::fault::{Fault, Outcome};
use crate::set::{Set, Walk};
use crate::table::Literal;
use crate::value::{Cell, Concat, IntPair, Row, Tuple, TupleKnown, Value};

use super::Run;

impl<'r> Run<'r> {
    /// Takes bytes from the memory budget.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, bytes: usize) -> Outcome<()> {
        match self.memory.checked_sub(bytes) {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => Err(self.reach(Fault::Memory)),
        }
    }

    #[inline(always)]
    pub(crate) fn alloc<T>(&mut self, value: T) -> Outcome<&'r T> {
        const { assert!(!std::mem::needs_drop::<T>()) };
        const { assert!(align_of::<T>() <= ALIGN) };
        let place = self.allocate(size_of::<T>())?.cast::<T>();
        // SAFETY: `allocate` returned `size_of::<T>()` bytes aligned to `ALIGN`, which suffices for
        // `T` (asserted above). No other allocation overlaps them, and they stay valid while the
        // arena is borrowed for `'r`: releasing them earlier is unsafe (`Arena::rewind`).
        unsafe {
            place.write(value);
            Ok(place.as_ref())
        }
    }

    /// Allocates bytes in the arena and takes them from the memory budget.
    #[inline(always)]
    fn allocate(&mut self, bytes: usize) -> Outcome<NonNull<u8>> {
        self.reserve(bytes)?;
        match self.arena.allocate(bytes) {
            Some(room) => Ok(room),
            None => Err(self.reach(Fault::Memory)),
        }
    }

    #[inline(always)]
    pub(crate) fn slice<T: Copy>(&mut self, items: &[T]) -> Outcome<&'r [T]> {
        let places = self.uninit(items.len())?;
        Ok(places.write_copy_of_slice(items))
    }

    /// Copies the items of an iterator to the arena.
    #[inline(always)]
    pub(crate) fn slice_from<T: Copy>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
    ) -> Outcome<&'r [T]> {
        let places = self.uninit(items.len())?;
        let mut written = 0;
        for (place, item) in places.iter_mut().zip(items) {
            place.write(item);
            written += 1;
        }
        let places: &'r [MaybeUninit<T>] = &places[..written];
        // SAFETY: the loop has written the first `written` places, and `MaybeUninit<T>` has the
        // layout of `T`.
        Ok(unsafe { &*(std::ptr::from_ref(places) as *const [T]) })
    }

    /// Copies two slices to the arena, one after the other.
    #[inline(always)]
    pub(crate) fn concat<T: Copy>(&mut self, parts: [&[T]; 2]) -> Outcome<&'r [T]> {
        let [a, b] = parts;
        let places = self.uninit(a.len() + b.len())?;
        let (first, second) = places.split_at_mut(a.len());
        first.write_copy_of_slice(a);
        second.write_copy_of_slice(b);
        let places: &'r [MaybeUninit<T>] = places;
        // SAFETY: `first` and `second` cover all places, both have just been written in full, and
        // `MaybeUninit<T>` has the layout of `T`.
        Ok(unsafe { &*(std::ptr::from_ref(places) as *const [T]) })
    }

    /// Allocates `len` items, which are not yet written.
    #[inline(always)]
    pub(super) fn uninit<T: Copy>(&mut self, len: usize) -> Outcome<&'r mut [MaybeUninit<T>]> {
        self.check_len(len)?;
        self.places(len)
    }

    /// Does what [`uninit`](Run::uninit) does, for a length that has been checked.
    #[inline(always)]
    fn places<T: Copy>(&mut self, len: usize) -> Outcome<&'r mut [MaybeUninit<T>]> {
        const { assert!(align_of::<T>() <= ALIGN) };
        let room = self.allocate(len.saturating_mul(size_of::<T>()))?;
        let room = room.cast::<MaybeUninit<T>>();
        // SAFETY: `allocate` returned `len * size_of::<T>()` bytes (a saturated product exceeds
        // every budget and fails) aligned to `ALIGN`, which suffices for `T` (asserted above). No
        // other allocation overlaps them, and they stay valid while the arena is borrowed for `'r`.
        // `MaybeUninit` may be uninitialised.
        Ok(unsafe { std::slice::from_raw_parts_mut(room.as_ptr(), len) })
    }

    #[inline(always)]
    pub(crate) fn slice_filled<T: Copy>(&mut self, len: usize, item: T) -> Outcome<&'r mut [T]> {
        // The tables of a set hold up to five slots per element.
        self.check_len(len / 8)?;
        let places = self.places(len)?;
        places.fill(MaybeUninit::new(item));
        // SAFETY: `fill` has just written every place.
        Ok(unsafe { places.assume_init_mut() })
    }

    /// Makes a tuple of these values, in its canonical form.
    pub(crate) fn tuple(&mut self, items: &[Value<'r>]) -> Outcome<Value<'r>> {
        if let [a, b] = *items {
            return self.pair(a, b);
        }
        let items = self.slice(items)?;
        self.tuple_of(items)
    }

    /// Makes a tuple of values that are in the arena already. For two values see [`Run::pair`].
    pub(crate) fn tuple_of(&mut self, items: &'r [Value<'r>]) -> Outcome<Value<'r>> {
        if items.is_empty() {
            return Ok(Value::EMPTY_TUPLE);
        }
        if let [a, b] = *items {
            return self.pair(a, b);
        }
        self.general_tuple(items)
    }

    fn general_tuple(&mut self, items: &'r [Value<'r>]) -> Outcome<Value<'r>> {
        if let [Value::Int(i), Value::Int(j), Value::Int(color)] = *items
            && self.triples()
            && let (Some(at), Ok(color)) = (IntPair::fit(i, j), color.try_into())
        {
            return Ok(Value::cell(Cell::new(color, at)));
        }
        let depth = 1 + items.iter().map(|v| v.depth()).max().unwrap_or_default();
        self.check_depth(depth)?;
        Ok(Value::Tuple(self.alloc(Tuple {
            items,
            depth,
            known: None.into(),
        })?))
    }

    /// Returns the notes about a tuple.
    pub(crate) fn tuple_known(&mut self, tuple: &'r Tuple<'r>) -> Outcome<&'r TupleKnown<'r>> {
        if let Some(known) = tuple.known.get() {
            return Ok(known);
        }
        let known = self.make_note(tuple, |run| run.alloc(TupleKnown::default()))?;
        tuple.known.set(Some(known));
        Ok(known)
    }

    /// Makes the tuple of the elements of several patches, one patch after the other.
    pub(crate) fn concatenation(
        &mut self,
        len: usize,
        members: &'r [Value<'r>],
    ) -> Outcome<Value<'r>> {
        self.check_len(len)?;
        Ok(Value::Concat(self.alloc(Concat {
            len,
            members,
            items: None.into(),
            built: None.into(),
        })?))
    }

    /// Returns the elements of a concatenation one by one.
    pub(crate) fn concat_items(&mut self, concat: &'r Concat<'r>) -> Outcome<&'r Tuple<'r>> {
        if let Some(items) = concat.items.get() {
            return Ok(items);
        }
        let mut gathered = Vec::with_capacity(concat.len);
        for &member in concat.members {
            gathered.extend_from_slice(self.items(member)?);
        }
        let tuple = self.make_note(concat, |run| {
            let items = run.slice(&gathered)?;
            run.alloc(Tuple {
                items,
                depth: Value::Concat(concat).depth(),
                known: None.into(),
            })
        })?;
        concat.items.set(Some(tuple));
        Ok(tuple)
    }

    /// Returns the set built of a tuple's elements, if all are locations or all are cells.
    pub(crate) fn built(&mut self, tuple: Value<'r>) -> Outcome<Option<&'r Set<'r>>> {
        match tuple {
            Value::Concat(concat) => {
                if concat.built.get().is_none() {
                    let merge = |run: &mut Run<'r>| run.set_merge(Walk::Listed, concat.members);
                    let built = self.make_note(concat, merge)?;
                    concat.built.set(Some(built));
                }
                Ok(concat.built.get())
            }
            Value::Segment(_) => {
                let (a, b) = self.unpack2(tuple)?;
                Ok(Some(self.build(&[a, b])?))
            }
            Value::Tuple(tuple) => {
                let known = self.tuple_known(tuple)?;
                if let Some(built) = known.built.get() {
                    return Ok(built);
                }
                let of_one_kind = tuple.items.iter().all(|v| matches!(v, Value::Pair(_)))
                    || tuple.items.iter().all(|v| matches!(v, Value::Cell(_)));
                let built = if of_one_kind {
                    Some(self.make_note(tuple, |run| run.build(tuple.items))?)
                } else {
                    None
                };
                known.built.set(Some(built));
                Ok(built)
            }
            _ => Ok(None),
        }
    }

    /// Makes the tuple `(a, b)`.
    #[inline(always)]
    pub(crate) fn pair(&mut self, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
        match (a, b) {
            (Value::Int(i), Value::Int(j)) => {
                if let Some(pair) = IntPair::fit(i, j) {
                    return Ok(Value::pair(pair));
                }
            }
            (Value::Pair(a), Value::Pair(b)) => return Ok(Value::segment(a.get(), b.get())),
            (Value::Int(color), Value::Pair(at)) if !self.triples() => {
                if let Ok(color) = color.try_into() {
                    return Ok(Value::cell(Cell::new(color, at.get())));
                }
            }
            _ => {}
        }
        self.general_pair(a, b)
    }

    fn general_pair(&mut self, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
        let items = self.slice(&[a, b])?;
        self.general_tuple(items)
    }

    /// Makes the tuple `(i, j)` of any two numbers.
    #[inline]
    pub(crate) fn int_pair(&mut self, i: i64, j: i64) -> Outcome<Value<'r>> {
        match IntPair::fit(i, j) {
            Some(pair) => Ok(Value::pair(pair)),
            None => self.pair(Value::Int(i), Value::Int(j)),
        }
    }

    /// Makes a tuple of plain integers 0 to 255.
    #[inline]
    pub(crate) fn row(&mut self, cells: &'r [u8]) -> Outcome<Value<'r>> {
        if let [a, b] = *cells {
            return Ok(Value::pair(IntPair::new(a.into(), b.into())));
        }
        if let [i, j, color] = *cells
            && self.triples()
        {
            let at = IntPair::new(i.into(), j.into());
            return Ok(Value::cell(Cell::new(color.into(), at)));
        }
        Ok(Value::Row(self.alloc(Row { cells })?))
    }

    /// Allocates slots for a program's inputs and the values of its steps.
    pub fn slots(&mut self, len: usize) -> Outcome<&'r mut [Value<'r>]> {
        self.spend(len)?;
        self.slice_filled(len, Value::None)
    }

    /// Borrows an empty list of numbers. The caller returns it with
    /// [`give_numbers`](Run::give_numbers).
    pub(crate) fn take_numbers(&mut self) -> Vec<u32> {
        let mut numbers = std::mem::take(&mut self.scratch.numbers);
        numbers.clear();
        numbers
    }

    /// Takes back a list borrowed with [`take_numbers`](Run::take_numbers), so that its memory is
    /// used again.
    pub(crate) fn give_numbers(&mut self, numbers: Vec<u32>) {
        self.scratch.numbers = numbers;
    }

    /// Makes the value of a literal in a program's text.
    pub fn literal(&mut self, literal: &Literal) -> Outcome<Value<'r>> {
        Ok(match literal {
            Literal::None => Value::None,
            Literal::Bool(b) => Value::bool(*b),
            Literal::Int(n) => Value::Int(*n),
            Literal::Tuple(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.literal(item)?);
                }
                self.tuple(&values)?
            }
        })
    }

    /// Makes a grid value. `cells` holds `height * width` colours, row by row.
    pub fn input(&mut self, height: usize, width: usize, cells: &[u8]) -> Outcome<Value<'r>> {
        let cells = self.slice(cells)?;
        self.grid(height, width, cells)
    }
}
