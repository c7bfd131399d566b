//! The elements of a container, and the values of functions on them.

use crate::fault::{Fault, Outcome};
use crate::run::Run;
use crate::set::{Elems, Images, KeyIndex, Set, same_form};
use crate::value::Value;

use super::columns::BLOCK;

/// The elements of a container by number, without computing the order of a set.
#[derive(Clone, Copy)]
pub(super) enum Members<'r> {
    Tuple(&'r [Value<'r>]),
    Set(&'r Set<'r>),
}

/// The most elements for which the memory that calls leave behind does not matter. A longer loop
/// around this one releases it.
const MAX_UNRELEASED: usize = 3;

/// The result of mapping the elements of a set.
pub(super) enum Mapped<'r> {
    /// The images of all elements, by number.
    All(&'r [Value<'r>]),
    /// The set of the images, which are sets.
    Collapsed(&'r Set<'r>),
}

/// The fewest elements for which it costs little to test whether a function returns the same
/// patches repeatedly.
const MIN_COLLECTED: usize = 128;

/// The number of elements after which collecting stops unless it pays.
const TRIAL: usize = 32;

/// The distinct values of a function so far. Often only few of hundreds of thousands of calls give
/// a new value; the memory of the other calls is released at once.
pub(super) struct Collected<'r> {
    pub values: Vec<Value<'r>>,
    index: KeyIndex,
    /// Whether all values were patches, and equal values also had the same form.
    pub is_patches: bool,
    has_empty: bool,
}

impl<'r> Collected<'r> {
    pub fn new(run: &mut Run<'r>) -> Collected<'r> {
        let mut index = std::mem::take(&mut run.scratch.value_index);
        index.clear_for_some_of(TRIAL);
        Collected {
            values: Vec::new(),
            index,
            is_patches: true,
            has_empty: false,
        }
    }

    /// Returns the values, and whether all were patches. Returns the buffers to the run.
    pub fn finish(self, run: &mut Run<'r>) -> (Vec<Value<'r>>, bool) {
        run.scratch.value_index = self.index;
        (self.values, self.is_patches)
    }

    /// Returns whether the empty set is among the values.
    #[inline(always)]
    pub fn has_empty(&self) -> bool {
        self.has_empty
    }

    /// Returns whether collecting still pays after this many values.
    #[inline(always)]
    pub fn pays(&self, count: usize) -> bool {
        self.is_patches
            && (count < TRIAL || !count.is_power_of_two() || self.values.len() <= count / 4 * 3)
    }

    /// Returns the number of a value, and whether an earlier value replaces it.
    #[inline(always)]
    pub fn number_of(
        &mut self,
        run: &mut Run<'r>,
        value: Value<'r>,
        may_stand: impl FnOnce(Value<'r>, Value<'r>) -> bool,
    ) -> (u32, bool) {
        let new = self.values.len() as u32;
        if let Value::Set(set) = value
            && !matches!(set.elems, Elems::Values(_))
        {
            let key = set.fingerprint(run);
            let values = &self.values;
            let same = |k: u32| {
                let other = values[k as usize];
                other.as_set().is_some_and(|other| other.has_same_list(set))
                    || run.eq_member(other, value)
            };
            let number = self.index.find_or_insert(key, new, same);
            if number != new {
                if may_stand(values[number as usize], value) {
                    return (number, true);
                }
                self.is_patches = false;
            }
        } else {
            self.is_patches = false;
        }
        self.has_empty |= matches!(value, Value::Set(set) if set.len() == 0);
        self.values.push(value);
        self.index.make_room(self.values.len());
        (new, false)
    }
}

impl<'r> Members<'r> {
    pub fn of(run: &mut Run<'r>, container: Value<'r>) -> Outcome<Members<'r>> {
        Ok(match container {
            Value::Set(set) => {
                run.spend(set.len() / 4)?;
                Members::Set(set)
            }
            tuple => Members::Tuple(run.items(tuple)?),
        })
    }

    pub fn len(self) -> usize {
        match self {
            Members::Tuple(items) => items.len(),
            Members::Set(set) => set.len(),
        }
    }

    #[inline(always)]
    pub fn get(self, k: usize) -> Value<'r> {
        match self {
            Members::Tuple(items) => items[k],
            Members::Set(set) => set.elems.get(k),
        }
    }

    /// Returns whether numbers follow the iteration order.
    pub fn in_order(self) -> bool {
        match self {
            Members::Tuple(_) => true,
            Members::Set(set) => set.len() <= 1,
        }
    }

    /// Returns element numbers in iteration order.
    pub fn order(self, run: &mut Run<'r>) -> Outcome<Vec<u32>> {
        Ok(match self {
            Members::Tuple(items) => (0..items.len() as u32).collect(),
            Members::Set(set) => set.order(run)?.to_vec(),
        })
    }

    /// Returns the images of all elements under a function, by number.
    pub fn map(self, run: &mut Run<'r>, function: Value<'r>) -> Outcome<&'r [Value<'r>]> {
        if let Some(images) = run.map_in_columns(self, function) {
            return images;
        }
        let images = run.slice_filled(self.len(), Value::None)?;
        self.map_into(run, function, images, &mut Vec::new())?;
        Ok(images)
    }

    /// Calls a function on one element after the other. If a call fails, its number and fault are
    /// added to `failed`, in ascending order, and the images of other calls are still written.
    pub fn map_into(
        self,
        run: &mut Run<'r>,
        function: Value<'r>,
        images: &mut [Value<'r>],
        failed: &mut Vec<(usize, Fault)>,
    ) -> Outcome<()> {
        let mut keep = |k: usize, image: Outcome<Value<'r>>| {
            images[k] = image.inspect_err(|&fault| failed.push((k, fault)))?;
            Ok(())
        };
        if self.len() <= MAX_UNRELEASED {
            return self.each(run, 0, |run, k| keep(k, run.call1(function, self.get(k))));
        }
        run.in_loop(|run, state| {
            self.each(run, 0, |run, k| {
                keep(k, run.call1_in_loop(state, function, self.get(k)))
            })
        })
    }

    /// Visits the number of each element, from one on.
    #[inline(always)]
    pub fn each(
        self,
        run: &mut Run<'r>,
        from: usize,
        mut visit: impl FnMut(&mut Run<'r>, usize) -> Outcome<()>,
    ) -> Outcome<()> {
        for k in from..self.len() {
            if let Err(fault) = visit(run, k) {
                return Err(self.first_fault(run, (k, fault), visit));
            }
        }
        Ok(())
    }

    /// Returns the fault that Python raises first, given the fault of one element. Sets are visited
    /// by number here and in iteration order by Python, which matters only if elements fail in
    /// different ways and the fault is observable.
    #[cold]
    pub fn first_fault(
        self,
        run: &mut Run<'r>,
        (number, fault): (usize, Fault),
        mut visit: impl FnMut(&mut Run<'r>, usize) -> Outcome<()>,
    ) -> Fault {
        let Members::Set(set) = self else {
            return fault;
        };
        if fault.is_limit() || run.dialect.never_fails() {
            return fault;
        }
        // Visiting all elements takes less time than computing an order that is seldom needed. All
        // elements are visited even if the order is known, because visits make closures, whose
        // numbers must not depend on that.
        let mut met = vec![(number, fault)];
        for k in number + 1..set.len() {
            match visit(run, k) {
                Ok(()) => {}
                Err(limit) if limit.is_limit() => return limit,
                Err(other) => met.push((k, other)),
            }
        }
        if met.iter().all(|(_, other)| *other == fault) {
            return fault;
        }
        let of = |k: &u32| met.iter().find(|(number, _)| *number == *k as usize);
        match set.order(run) {
            Ok(order) => order.iter().find_map(of).map_or(fault, |(_, first)| *first),
            Err(limit) => limit,
        }
    }

    /// Returns the images of all elements of a set under a function, to be collected in a set.
    pub fn map_set(
        run: &mut Run<'r>,
        source: &'r Set<'r>,
        function: Value<'r>,
    ) -> Outcome<Mapped<'r>> {
        let members = Members::Set(source);
        if source.len() < MIN_COLLECTED {
            return members.map(run, function).map(Mapped::All);
        }
        // With more elements, collapsing images as they come takes less memory.
        if source.len() <= BLOCK
            && let Some(images) = run.map_in_columns(members, function)
        {
            return images.map(Mapped::All);
        }
        let mut collected = Collected::new(run);
        let mut numbers = Vec::new();
        let rest = run.in_loop(|run, state| {
            for k in 0..source.len() {
                if !collected.pays(k) {
                    let images = run.slice_filled(source.len(), Value::None)?;
                    members.each(run, k, |run, k| {
                        images[k] = run.call1_in_loop(state, function, members.get(k))?;
                        Ok(())
                    })?;
                    return Ok(Some(images));
                }
                let call = |run: &mut Run<'r>| run.call1(function, members.get(k));
                // SAFETY: `number_of` returns `true` only for an image equal to one in `values`,
                // and then stores neither the image nor any part of it: the index has numbers only.
                let number = unsafe {
                    run.collect_in_loop(state, call, |run, image| {
                        collected.number_of(run, image, same_form)
                    })
                };
                numbers.push(number.map_err(|fault| {
                    members.first_fault(run, (k, fault), |run, k| {
                        run.call1_in_loop(state, function, members.get(k)).map(drop)
                    })
                })?);
            }
            Ok(None)
        })?;
        let (values, is_patches) = collected.finish(run);
        if is_patches && rest.is_none() {
            let numbers = run.slice(&numbers)?;
            let elements = Elems::Values(run.slice(&values)?);
            let set = run.set_collapsed(source, elements, Images::Numbers(numbers))?;
            return Ok(Mapped::Collapsed(set));
        }
        let images = match rest {
            Some(images) => images,
            None => run.slice_filled(source.len(), Value::None)?,
        };
        for (image, &number) in images.iter_mut().zip(&numbers) {
            *image = values[number as usize];
        }
        Ok(Mapped::All(images))
    }

    /// Returns the numbers of the elements that satisfy a condition.
    pub fn select(self, run: &mut Run<'r>, condition: Value<'r>) -> Outcome<Vec<u32>> {
        if let Some(kept) = run.select_in_columns(self, condition) {
            return kept;
        }
        let mut kept = run.take_numbers();
        run.in_loop(|run, state| {
            self.each(run, 0, |run, k| {
                if run.test_in_loop(state, condition, self.get(k))? {
                    kept.push(k as u32);
                }
                Ok(())
            })
        })
        .map_err(Fault::through_generator)?;
        Ok(kept)
    }

    /// Returns the elements with these ascending numbers, in a container of the same kind.
    pub fn keep(self, run: &mut Run<'r>, kept: &[u32]) -> Outcome<Value<'r>> {
        match self {
            Members::Set(set) => Ok(Value::Set(run.set_filter(set, kept)?)),
            Members::Tuple(items) => {
                let kept: Vec<_> = kept.iter().map(|&k| items[k as usize]).collect();
                run.tuple(&kept)
            }
        }
    }

    /// Returns the elements with these ascending numbers, in a set *built* in iteration order.
    pub fn keep_in_set(self, run: &mut Run<'r>, kept: &[u32]) -> Outcome<Value<'r>> {
        Ok(Value::Set(match self {
            Members::Set(set) => run.set_filter(set, kept)?,
            Members::Tuple(items) => {
                let kept: Vec<_> = kept.iter().map(|&k| items[k as usize]).collect();
                run.build(&kept)?
            }
        }))
    }
}
