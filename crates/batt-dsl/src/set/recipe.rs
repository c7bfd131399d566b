//! Recipes: how Python makes a frozenset that has a given table.
//!
//! A caller outside of the run builds a real frozenset and wants it to iterate as the simulation
//! says, and to behave the same in later operations. Most sets are built of a known sequence, and
//! Python can build them in the same way; then nothing is simulated. Four more constructions reach
//! nearly every table that other operations of the DSL make:
//!
//! | [`SetSteps`] | in Python | size of the table for n elements |
//! | --- | --- | --- |
//! | `Insert` | elements added one by one | as it grows: 8, 32, 128, 512, ... |
//! | `Freeze` | `frozenset(set)`, the set built by adding elements | above 2n: 8, 16, 32, ... |
//! | `FromDict` | `frozenset(dict)`, more elements added | above 2n of the keys |
//! | `Union` | `frozenset(first).union(dict)` | above twice the sum of both lengths |
//! | `Difference` | `frozenset(dict) - removed` | as `FromDict`, with traces of the removed |
//!
//! `frozenset(dict)` makes a table of its final size and then inserts the keys in their order. Any
//! table without dummies can be filled in this way: first the elements that stand in the first slot
//! of their probe sequence, then the others, each after those that it avoids.

use super::layout::{DUMMY, EMPTY, Layout, Table};
use super::origin::{Product, Selection, place};
use super::{Elems, Origin, Set};
use crate::fault::Outcome;
use crate::run::Run;
use crate::value::Value;

/// The way to make a set outside of the run.
#[derive(Clone, Copy)]
pub struct SetRecipe<'r> {
    /// The elements in the sequence in which the steps use them.
    pub elements: &'r [Value<'r>],
    /// The steps; `None` if no construction is known that gives the table.
    pub steps: Option<SetSteps<'r>>,
}

/// A construction of a frozenset in Python from a sequence of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetSteps<'r> {
    /// Add the elements one by one to an empty frozenset.
    Insert,
    /// Add the elements one by one to an empty mutable set, and make a frozenset of it.
    Freeze,
    /// Make a frozenset of a dict whose keys are the first elements, and add the other elements.
    FromDict {
        /// The number of keys.
        keys: usize,
    },
    /// Make a frozenset by adding the first elements one by one, then its union with a dict whose
    /// keys are all elements.
    Union {
        /// The number of first elements.
        first: usize,
    },
    /// Make a frozenset of a dict whose keys are all elements, then its difference from the set of
    /// some of them.
    Difference {
        /// The positions of the elements to remove.
        removed: &'r [u32],
    },
}

impl<'r> Run<'r> {
    /// Returns how to make a set in Python, computing its iteration order if needed.
    pub fn set_recipe(&mut self, set: &'r Set<'r>) -> Outcome<SetRecipe<'r>> {
        self.spend(set.len())?;
        if let Some(recipe) = self.natural_recipe(set)? {
            return Ok(recipe);
        }
        set.layout(self)?;
        let layout = place(self, set)?;
        let hashes = set.element_hashes(self)?;
        if is_small_and_plain(layout, hashes) {
            let elements = set.values(self)?;
            let steps = Some(SetSteps::Insert);
            return Ok(SetRecipe { elements, steps });
        }
        let has_dummies = layout.fill as usize > set.len();
        let found = find_steps(self, hashes, layout.order, layout.slots, |steps| {
            let removals_matter = has_dummies && !steps.fill_gaps();
            match removals_matter {
                true => None,
                false => steps.find(),
            }
        });
        match (found, set.origin) {
            (None, Origin::Minus(selection)) => self.difference_recipe(selection),
            (None, _) => Ok(SetRecipe {
                elements: set.values(self)?,
                steps: None,
            }),
            (Some((sequence, shape)), _) => {
                let numbers = sequence.iter().map(|&at| layout.order[at as usize]);
                let elements = numbers.map(|number| set.elems.get(number as usize));
                let elements = self.slice_from(elements)?;
                let steps = Some(match shape {
                    Shape::Insert => SetSteps::Insert,
                    Shape::FromDict(keys) => SetSteps::FromDict { keys },
                    Shape::Union(first) => SetSteps::Union { first },
                });
                Ok(SetRecipe { elements, steps })
            }
        }
    }

    /// Returns the recipe of a set that was built of a sequence which is known.
    fn natural_recipe(&mut self, set: &'r Set<'r>) -> Outcome<Option<SetRecipe<'r>>> {
        let steps = match set.origin {
            Origin::Frozen => SetSteps::Freeze,
            _ => SetSteps::Insert,
        };
        let elements = match set.origin {
            Origin::Build | Origin::Frozen => match set.elems {
                Elems::Values(values) => values,
                elems => self.slice_from((0..elems.len()).map(|k| elems.get(k)))?,
            },
            Origin::Map(source) => {
                let order = source.order(self)?;
                self.slice_from(order.iter().map(|&k| set.elems.get(k as usize)))?
            }
            Origin::Filter(&Selection { source, kept }) => {
                let order = source.order(self)?;
                let mut renamed = vec![EMPTY; source.len()];
                for (number, &element) in (0..).zip(kept) {
                    renamed[element as usize] = number;
                }
                let numbers = order.iter().map(|&element| renamed[element as usize]);
                let numbers: Vec<u32> = numbers.filter(|&number| number != EMPTY).collect();
                self.slice_from(numbers.iter().map(|&k| set.elems.get(k as usize)))?
            }
            Origin::Product(&Product { inner, outer }) => {
                let (width, columns) = (inner.len(), inner.order(self)?);
                let rows = outer.order(self)?.iter();
                let numbers = rows.flat_map(|&y| columns.iter().map(move |&x| (y, x)));
                let numbers = numbers.map(|(y, x)| y as usize * width + x as usize);
                let elements: Vec<_> = numbers.map(|number| set.elems.get(number)).collect();
                self.slice(&elements)?
            }
            _ => return Ok(None),
        };
        let steps = Some(steps);
        Ok(Some(SetRecipe { elements, steps }))
    }

    /// Returns how to make a set in which elements have been removed from a copy of another set.
    fn difference_recipe(&mut self, selection: &'r Selection<'r>) -> Outcome<SetRecipe<'r>> {
        let Selection { source, kept } = *selection;
        let layout = place(self, source)?;
        self.spend(source.len())?;
        let hashes = source.element_hashes(self)?;
        let mut copy = Table::default();
        copy.clear();
        copy.merge(hashes, layout, |element| element);
        let order: Vec<u32> = copy.iter().collect();
        let sequence = find_steps(self, hashes, &order, &copy.slots, |steps| {
            match steps.size == presized(order.len()) {
                true => steps.sequence(true),
                false => None,
            }
        });
        let Some(sequence) = sequence else {
            return Ok(SetRecipe {
                elements: &[],
                steps: None,
            });
        };
        let numbers: Vec<u32> = sequence.iter().map(|&at| order[at as usize]).collect();
        let elements = numbers
            .iter()
            .map(|&number| source.elems.get(number as usize));
        let elements = self.slice_from(elements)?;
        let removed = (0..)
            .zip(&numbers)
            .filter(|(_, e)| kept.binary_search(e).is_err());
        let removed: Vec<u32> = removed.map(|(at, _)| at).collect();
        let removed = self.slice(&removed)?;
        let steps = Some(SetSteps::Difference { removed });
        Ok(SetRecipe { elements, steps })
    }
}

/// Looks for steps that lead to a table. For them, the number of an element is its position in
/// iteration order.
fn find_steps<T>(
    run: &mut Run<'_>,
    hashes: &[u64],
    order: &[u32],
    slots: &[u32],
    find: impl FnOnce(&mut Steps<'_>) -> T,
) -> T {
    let hashes: Vec<u64> = order.iter().map(|&e| hashes[e as usize]).collect();
    let occupied = (0..).zip(slots).filter(|(_, e)| **e < DUMMY);
    let mut places = Vec::with_capacity(order.len());
    places.extend(occupied.map(|(slot, _)| slot));
    let scratch = &mut run.scratch;
    let mut steps = Steps {
        hashes: &hashes,
        places,
        size: slots.len(),
        table: &mut scratch.table,
        spare: &mut scratch.spare_table,
    };
    find(&mut steps)
}

/// Returns whether a set has a table of 8 slots and gets it when its elements are inserted in
/// iteration order.
fn is_small_and_plain(layout: &Layout<'_>, hashes: &[u64]) -> bool {
    let count = layout.order.len();
    if layout.slots.len() != 8 || count > 4 || layout.fill as usize != count {
        return false;
    }
    let mut slots = [EMPTY; 8];
    for &element in layout.order {
        let at = Table::probe(&slots, hashes[element as usize], EMPTY);
        slots[at] = element;
    }
    slots == layout.slots
}

/// The construction that fits, and the length of its first part.
enum Shape {
    Insert,
    FromDict(usize),
    Union(usize),
}

/// The table to reach.
struct Steps<'a> {
    /// The hashes of the elements in iteration order.
    hashes: &'a [u64],
    /// Their slots.
    places: Vec<usize>,
    size: usize,
    table: &'a mut Table,
    spare: &'a mut Table,
}

impl Steps<'_> {
    /// Puts the elements into the slots that they get when they are inserted again in iteration
    /// order, so that no slot is left to removed elements. Returns whether the order stays.
    fn fill_gaps(&mut self) -> bool {
        self.table.insert_in_order(self.hashes, self.size);
        self.places.clear();
        let slots = self.table.slots.iter().enumerate();
        self.places
            .extend(slots.filter(|(_, e)| **e != EMPTY).map(|(slot, _)| slot));
        self.table.iter().is_sorted()
    }

    fn find(&mut self) -> Option<(Vec<u32>, Shape)> {
        let count = self.hashes.len();
        let sequence = self.sequence(true)?;
        if self.size <= presized(count) && self.size != grown_size(count) {
            return self
                .keys_of_dict()
                .map(|keys| (sequence, Shape::FromDict(keys)));
        }
        // The table grows on the way, and not every sequence survives that. With few collisions the
        // first one does.
        if let Some(shape) = self.shape(&sequence) {
            return Some((sequence, shape));
        }
        let sequence = self.sequence(false)?;
        self.shape(&sequence).map(|shape| (sequence, shape))
    }

    /// Returns the construction by which a sequence leads to the table.
    fn shape(&mut self, sequence: &[u32]) -> Option<Shape> {
        let count = self.hashes.len();
        if self.size == grown_size(count) && self.is_built_by_inserting(sequence) {
            return Some(Shape::Insert);
        }
        if self.size <= presized(count) {
            return self.keys_of_dict().map(Shape::FromDict);
        }
        // The sums of both lengths that give this size.
        let (least, most) = (self.size / 4, self.size / 2 - 1);
        let mut firsts = least.saturating_sub(count).max(1)..=count.min(most - count);
        let first = firsts.find(|&first| self.is_built_by_union(sequence, first));
        first.map(Shape::Union)
    }

    /// Returns the most keys for which a dict gives this size, if the other elements do not make
    /// the table grow.
    fn keys_of_dict(&self) -> Option<usize> {
        let count = self.hashes.len();
        let keys = (self.size / 2 - 1).min(count);
        let fits = presized(keys) == self.size && (keys == count || !self.grows_at(count));
        fits.then_some(keys)
    }

    /// Returns a sequence in which the elements can be inserted into an empty table of this size so
    /// that each gets its slot. `None` if there is none. The elements that stand in the first slot
    /// of their probe sequence may all come first.
    fn sequence(&mut self, undisturbed_first: bool) -> Option<Vec<u32>> {
        let mask = self.size - 1;
        let slots = &mut self.table.slots;
        slots.clear();
        slots.resize(self.size, EMPTY);
        let mut sequence = Vec::with_capacity(self.hashes.len());
        let mut left = Vec::new();
        for (element, (&hash, &place)) in (0..).zip(self.hashes.iter().zip(&self.places)) {
            let is_undisturbed = hash as usize & mask == place;
            if is_undisturbed || !undisturbed_first && Table::probe(slots, hash, EMPTY) == place {
                slots[place] = element;
                sequence.push(element);
            } else {
                left.push(element);
            }
        }
        while !left.is_empty() {
            let before = left.len();
            left.retain(|&element| {
                let place = self.places[element as usize];
                let at = Table::probe(slots, self.hashes[element as usize], EMPTY);
                if at == place {
                    slots[place] = element;
                    sequence.push(element);
                }
                at != place
            });
            if left.len() == before {
                return None;
            }
        }
        Some(sequence)
    }

    /// Returns whether the table grows when this element is inserted as the last one.
    fn grows_at(&self, count: usize) -> bool {
        count * 5 >= (self.size - 1) * 3
    }

    fn is_built_by_inserting(&mut self, sequence: &[u32]) -> bool {
        self.table.clear();
        self.table.add_new(self.hashes, sequence.iter().copied());
        self.is_reached()
    }

    fn is_built_by_union(&mut self, sequence: &[u32], first: usize) -> bool {
        self.spare.clear();
        self.spare
            .add_new(self.hashes, sequence[..first].iter().copied());
        self.table.clear();
        self.table.merge_table(self.hashes, self.spare);
        self.table.merge_keys(self.hashes, sequence);
        self.is_reached()
    }

    /// Returns whether the constructed table is the wanted one.
    fn is_reached(&self) -> bool {
        let slots = &self.table.slots;
        slots.len() == self.size && (0..).zip(&self.places).all(|(e, &place)| slots[place] == e)
    }
}

/// Returns the size of a table to which this many elements have been added one by one.
fn grown_size(count: usize) -> usize {
    let mut size: usize = 8;
    loop {
        // The number of elements at which a table of this size grows.
        let full = ((size - 1) * 3).div_ceil(5);
        if count < full {
            return size;
        }
        let factor = if full > 50_000 { 2 } else { 4 };
        size = (full * factor + 1).next_power_of_two();
    }
}

/// Returns the size of the table of `frozenset(dict)` for a dict of this many keys.
pub(super) fn presized(count: usize) -> usize {
    match count {
        0..=4 => 8,
        _ => (count * 2 + 1).next_power_of_two(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::hash;
    use crate::run::{Limits, Workspace};

    fn in_run<T>(body: impl for<'r> FnOnce(&mut Run<'r>) -> T) -> T {
        Workspace::new().run(Dialect::ArcDsl, &Limits::default(), body)
    }

    /// Follows the recipe as Python would and returns the table, with positions in the recipe.
    fn follow(recipe: &SetRecipe<'_>, hashes: &[u64]) -> Table {
        let all: Vec<u32> = (0..hashes.len() as u32).collect();
        let mut table = Table::default();
        table.clear();
        let mut other = Table::default();
        other.clear();
        match recipe.steps.expect("there are steps") {
            SetSteps::Insert => all.iter().for_each(|&e| table.add(hashes, e)),
            SetSteps::Freeze => {
                all.iter().for_each(|&e| table.add(hashes, e));
                table.freeze(hashes, &mut other);
            }
            SetSteps::FromDict { keys } => {
                table.merge_keys(hashes, &all[..keys]);
                all[keys..].iter().for_each(|&e| table.add(hashes, e));
            }
            SetSteps::Union { first } => {
                all[..first].iter().for_each(|&e| other.add(hashes, e));
                table.merge_table(hashes, &other);
                table.merge_keys(hashes, &all);
            }
            SetSteps::Difference { removed } => {
                other.merge_keys(hashes, &all);
                assert!(all.len() / 4 > removed.len());
                table.merge_table(hashes, &other);
                removed.iter().for_each(|&e| table.discard(hashes, e));
            }
        }
        table
    }

    /// Returns whether the recipe of a set leads to its table; `None` if it has no recipe.
    fn leads_back<'r>(run: &mut Run<'r>, set: &'r Set<'r>) -> Option<bool> {
        let recipe = run.set_recipe(set).expect("room");
        recipe.steps?;
        let hashes: Vec<u64> = recipe.elements.iter().map(|&v| run.hash(v)).collect();
        let wanted = run.set_table(set).expect("room");
        let made = follow(&recipe, &hashes);
        let order: Vec<Value<'_>> = made.iter().map(|e| recipe.elements[e as usize]).collect();
        let order = order.iter().map(|v| v.as_int());
        let occupied = (0..).zip(&made.slots).filter(|(_, e)| **e < DUMMY);
        let slots: Vec<u32> = occupied.map(|(slot, _)| slot).collect();
        let is_exact = slots == wanted.slots && (made.fill > made.used) == wanted.dummies;
        Some(
            made.slots.len() == 1 << wanted.log2_size
                && order.eq(wanted.elements.iter().map(|v| v.as_int()))
                && (is_exact || wanted.dummies),
        )
    }

    fn numbers<'r>(seed: u64, count: usize) -> Vec<Value<'r>> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            Value::Int((state >> 40) as i64 % [50, 3_000, 1 << 24][seed as usize % 3])
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn sizes_are_those_of_cpython() {
        let grown = [
            (4, 8),
            (5, 32),
            (18, 32),
            (19, 128),
            (76, 128),
            (77, 512),
            (78_643, 262_144),
        ];
        for (count, size) in grown {
            assert_eq!(grown_size(count), size, "{count} elements");
        }
        for (count, size) in [
            (0, 8),
            (4, 8),
            (5, 16),
            (7, 16),
            (8, 32),
            (15, 32),
            (16, 64),
        ] {
            assert_eq!(presized(count), size, "{count} elements");
        }
    }

    #[test]
    fn a_dict_gives_a_table_of_its_final_size() {
        let hashes: Vec<u64> = (0..20).map(hash::int).collect();
        for count in 0..20 {
            let keys: Vec<u32> = (0..count).collect();
            let mut table = Table::default();
            table.clear();
            table.merge_keys(&hashes, &keys);
            assert_eq!(table.slots.len(), presized(count as usize));
        }
    }

    #[test]
    fn recipes_lead_to_the_tables_of_sets() {
        let (mut made, mut unknown) = (0, 0);
        for seed in 0..3000 {
            in_run(|run| {
                let a = run
                    .build(&numbers(seed, seed as usize % 100))
                    .expect("room");
                let b = run
                    .build(&numbers(seed + 1, seed as usize % 30))
                    .expect("room");
                let few = run.build(&numbers(seed, 3)).expect("room");
                let set = match seed % 9 {
                    0 => Ok(a),
                    1 => run.build_frozen(&numbers(seed, seed as usize % 130)),
                    2 => run.set_union(a, b),
                    3 => run.set_union(a, few),
                    4 => run.set_minus(a, b),
                    5 => run.set_minus(a, few),
                    6 => run.set_inter(a, b),
                    7 => run.set_copy(a),
                    _ => {
                        let images: Vec<_> = numbers(seed + 2, a.len()).into_iter().collect();
                        let images = run.slice(&images).expect("room");
                        run.set_map(a, images)
                    }
                };
                match leads_back(run, set.expect("room")) {
                    None => unknown += 1,
                    Some(same) => {
                        assert!(same, "seed {seed}");
                        made += 1;
                    }
                }
            });
        }
        assert_eq!((made, unknown), (3000, 0));
    }

    #[test]
    fn removed_elements_are_removed_again_where_they_matter() {
        in_run(|run| {
            // 0 and 64 share their first slot, so 64 stands elsewhere, also without 0.
            let all: Vec<_> = [0, 64, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11]
                .map(Value::Int)
                .into();
            let all = run.build(&all).expect("room");
            let zero = run.build(&[Value::Int(0)]).expect("room");
            let rest = run.set_minus(all, zero).expect("room");
            let recipe = run.set_recipe(rest).expect("room");
            assert!(matches!(recipe.steps, Some(SetSteps::Difference { .. })));
            assert_eq!(leads_back(run, rest), Some(true));
        });
    }
}
