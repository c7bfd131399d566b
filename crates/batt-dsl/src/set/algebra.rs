//! Union, intersection, difference, filter and map of sets: elements now, layout later.

use super::origin::{Collapse, Images, Merge, Names, Selection, Union, Walk, walk_order};
use super::{Bounds, Elems, Origin, Set};
use crate::fault::Outcome;
use crate::run::Run;
use crate::value::{Cell, Pair, Value};

/// What all elements of several patches are.
#[derive(Clone, Copy)]
enum Kind {
    Pairs,
    Cells,
}

fn pairs_of<'r>(member: Value<'r>) -> Option<&'r [Pair]> {
    match member.as_set()?.elems {
        Elems::Pairs(pairs) => Some(pairs),
        _ => None,
    }
}

fn cells_of<'r>(member: Value<'r>) -> Option<&'r [Cell]> {
    match member.as_set()?.elems {
        Elems::Cells(cells) => Some(cells),
        _ => None,
    }
}

/// The bounding box of all patches together.
fn bounds_of(members: &[Value<'_>]) -> Option<Bounds> {
    let all = members.iter().filter_map(|m| m.as_set()?.bounds());
    all.reduce(Bounds::union)
}

/// Are two equal values also indistinguishable? Equal sets may be laid out differently and bools
/// equal integers, at any depth. `false` where it would take long to find out.
pub(crate) fn same_form<'r>(a: Value<'r>, b: Value<'r>) -> bool {
    match (a, b) {
        (Value::None, Value::None)
        | (Value::Op(_), Value::Op(_))
        | (Value::Int(_), Value::Int(_))
        | (Value::Bool(_), Value::Bool(_))
        | (Value::Pair(_), Value::Pair(_))
        | (Value::Cell(_), Value::Cell(_))
        | (Value::Segment(_), Value::Segment(_))
        | (Value::Row(_), Value::Row(_))
        | (Value::Grid(_), Value::Grid(_)) => true,
        (Value::Set(a), Value::Set(b)) => made_alike(a, b),
        (Value::Tuple(a), Value::Tuple(b)) => {
            std::ptr::eq(a, b)
                || (a.items.len() == b.items.len()
                    && a.items.iter().zip(b.items).all(|(&a, &b)| same_form(a, b)))
        }
        _ => false,
    }
}

/// So many steps of two sets' making are compared.
const STEPS_COMPARED: usize = 4;

/// Are two sets made from the same elements in the same way, so that their tables are the same?
fn made_alike<'r>(mut a: &'r Set<'r>, mut b: &'r Set<'r>) -> bool {
    for _ in 0..STEPS_COMPARED {
        if std::ptr::eq(a, b) {
            return true;
        }
        if !a.has_same_list(b) {
            return false;
        }
        match (a.origin, b.origin) {
            // There is one way to lay out a single element.
            _ if a.len() <= 1 => return true,
            (Origin::Build, Origin::Build)
            | (Origin::Frozen, Origin::Frozen)
            | (Origin::Neighbors, Origin::Neighbors) => return true,
            (Origin::Map(of_a), Origin::Map(of_b)) => (a, b) = (of_a, of_b),
            _ => return false,
        }
    }
    false
}

impl<'r> Run<'r> {
    /// *Copy*: a new set with the same elements, laid out as a copy is.
    pub(crate) fn set_copy(&mut self, a: &'r Set<'r>) -> Outcome<&'r Set<'r>> {
        self.set(a.elems, Origin::Copy(a))
    }

    /// The elements with these numbers, *built* in the order of the set they come from.
    pub(crate) fn set_filter(&mut self, a: &'r Set<'r>, kept: &[u32]) -> Outcome<&'r Set<'r>> {
        self.select(a, kept, Origin::Filter)
    }

    fn select(
        &mut self,
        a: &'r Set<'r>,
        kept: &[u32],
        origin: fn(&'r Selection<'r>) -> Origin<'r>,
    ) -> Outcome<&'r Set<'r>> {
        self.spend(kept.len())?;
        let kept = self.slice(kept)?;
        let numbers = kept.iter().map(|&k| k as usize);
        let elems = match a.elems {
            Elems::Pairs(pairs) => Elems::Pairs(self.slice_from(numbers.map(|k| pairs[k]))?),
            Elems::Cells(_) if kept.is_empty() => Elems::Pairs(&[]),
            Elems::Cells(cells) => Elems::Cells(self.slice_from(numbers.map(|k| cells[k]))?),
            Elems::Values(values) => {
                let values = self.slice_from(numbers.map(|k| values[k]))?;
                self.compact(values)?
            }
        };
        let selection = self.alloc(Selection { source: a, kept })?;
        let set = self.set(elems, origin(selection))?;
        if a.known_one_color_each() == Some(true) {
            set.with_one_color_each(Some(true));
        }
        Ok(set)
    }

    /// Images of a set's elements, one per element and in the same sequence. *Build* in the order
    /// of the source; equal images collapse and the first in that order stays.
    pub(crate) fn set_map(
        &mut self,
        source: &'r Set<'r>,
        images: &'r [Value<'r>],
    ) -> Outcome<&'r Set<'r>> {
        let (elems, collapsed) = match images.first() {
            Some(Value::Pair(_) | Value::Cell(_) | Value::Segment(_)) => {
                let (elems, all_distinct) = self.distinct(images)?;
                let of_one_kind = matches!(
                    (elems, images.first()),
                    (Elems::Pairs(_) | Elems::Cells(_), _) | (_, Some(Value::Segment(_)))
                );
                match all_distinct {
                    true => (elems, None),
                    false if of_one_kind => (elems, Some(Images::Values(images))),
                    false => return self.build_in_order(source, images),
                }
            }
            _ => {
                let mut names = self.take_numbers();
                let numbered = self.number_values(images, |number| names.push(number));
                let (elems, equals_met) = numbered?;
                if equals_met {
                    return self.build_in_order(source, images);
                }
                let collapsed = match elems.len() == images.len() {
                    true => None,
                    false => Some(Images::Numbers(self.slice(&names)?)),
                };
                self.give_numbers(names);
                (elems, collapsed)
            }
        };
        let Some(images) = collapsed else {
            return self.set(elems, Origin::Map(source));
        };
        self.set_collapsed(source, elems, images)
    }

    /// *Build* of the images of a set's elements in the set's order: `elems` without the repetitions, which
    /// are indistinguishable from what stays.
    pub(crate) fn set_collapsed(
        &mut self,
        source: &'r Set<'r>,
        elems: Elems<'r>,
        images: Images<'r>,
    ) -> Outcome<&'r Set<'r>> {
        let collapse = self.alloc(Collapse { source, images })?;
        self.set(elems, Origin::Collapse(collapse))
    }

    /// The same now: which of several equal images stays depends on the source's order.
    fn build_in_order(
        &mut self,
        source: &'r Set<'r>,
        images: &[Value<'r>],
    ) -> Outcome<&'r Set<'r>> {
        let order = source.order(self)?;
        let images: Vec<_> = order.iter().map(|&k| images[k as usize]).collect();
        self.build(&images)
    }

    /// *Union*.
    pub(crate) fn set_union(&mut self, a: &'r Set<'r>, b: &'r Set<'r>) -> Outcome<&'r Set<'r>> {
        if std::ptr::eq(a, b) {
            return self.set_copy(a);
        }
        let total = a.len() + b.len();
        self.check_len(total)?;
        self.spend(total)?;
        let (elems, rename) = self.flatten_two(a, b)?;
        let union = self.alloc(Union {
            left: a,
            right: b,
            rename,
        })?;
        self.set(elems, Origin::Union(union))
    }

    /// *Inter*.
    pub(crate) fn set_inter(&mut self, a: &'r Set<'r>, b: &'r Set<'r>) -> Outcome<&'r Set<'r>> {
        if std::ptr::eq(a, b) {
            return self.set_copy(a);
        }
        // CPython walks the smaller operand, on equal sizes the right one.
        let (walked, other) = if a.len() < b.len() { (a, b) } else { (b, a) };
        self.spend(walked.len())?;
        let mut kept = self.take_numbers();
        self.search(walked, other, true, &mut kept);
        let shared = self.set_filter(walked, &kept);
        self.give_numbers(kept);
        shared
    }

    /// *Diff*: `a - b`.
    pub(crate) fn set_minus(&mut self, a: &'r Set<'r>, b: &'r Set<'r>) -> Outcome<&'r Set<'r>> {
        self.spend(a.len())?;
        let kept = self.numbers_not_in(a, b);
        // CPython copies and deletes when there is little to delete.
        let origin = if a.len() / 4 > b.len() {
            Origin::Minus
        } else {
            Origin::Filter
        };
        let left = self.select(a, &kept, origin);
        self.give_numbers(kept);
        left
    }

    /// The numbers of the elements of `a` that are not in `b`.
    pub(crate) fn numbers_not_in(&mut self, a: &'r Set<'r>, b: &'r Set<'r>) -> Vec<u32> {
        let mut kept = self.take_numbers();
        if let Origin::Filter(part) | Origin::Minus(part) = b.origin
            && std::ptr::eq(part.source, a)
        {
            // What was left out when `b` was made from `a`.
            let mut gone = part.kept.iter().peekable();
            kept.extend((0..a.len() as u32).filter(|k| gone.next_if_eq(&k).is_none()));
            return kept;
        }
        // A large `b` may be searched again and gets its table; one of the size of `a` is walked.
        if b.is_searchable() || !a.is_searchable() || b.len() > 2 * a.len() {
            self.search(a, b, false, &mut kept);
        } else {
            // The other way round: strike out what `b` has.
            kept.extend(0..a.len() as u32);
            for k in 0..b.len() {
                if let Some(at) = a.find(self, b.elems.get(k)) {
                    kept[at as usize] = u32::MAX;
                }
            }
            kept.retain(|&k| k != u32::MAX);
        }
        kept
    }

    /// The numbers of the elements of a set that another one contains, or of those that it does not.
    fn search(
        &mut self,
        walked: &'r Set<'r>,
        other: &'r Set<'r>,
        contained: bool,
        kept: &mut Vec<u32>,
    ) {
        if let Elems::Pairs(pairs) = walked.elems
            && let Some(locations) = other.locations(self)
        {
            // Whether it is there is as good as chance: each number is written, and the next one over it if it is not wanted.
            kept.resize(pairs.len(), 0);
            let mut count = 0;
            for (k, &p) in (0..).zip(pairs) {
                kept[count] = k;
                count += usize::from(locations.contain(p) == contained);
            }
            kept.truncate(count);
            return;
        }
        kept.extend((0..walked.len() as u32).filter(|&k| {
            let element = walked.elems.get(k as usize);
            other.contains(self, element) == contained
        }));
    }

    /// *Build* of the members of the members, walked as `walk` says.
    pub(crate) fn set_merge(
        &mut self,
        walk: Walk<'r>,
        members: &'r [Value<'r>],
    ) -> Outcome<&'r Set<'r>> {
        let (total, kind) = self.kind_of_members(members)?;
        if let Some(kind) = kind {
            // Which element of which member is which of ours can be found out later by whoever wants the order.
            let (elems, one_color_each) = self.flatten_patches(kind, total, members, |_, _| {})?;
            let merge = self.alloc(Merge::new(walk, members, Names::Elements(elems)))?;
            let set = self.set(elems, Origin::Merge(merge))?;
            set.with_one_color_each(one_color_each);
            return Ok(set);
        }
        let rename = self.slice_filled(total, 0u32)?;
        let (elems, equals_met) = self.flatten_values(members, rename)?;
        if equals_met && !matches!(walk, Walk::Listed) {
            // Which of two equal elements stays depends on the walk, so it has to be done now.
            let order = walk_order(self, walk, members)?;
            let members = self.slice_from(order.iter().map(|&m| members[m as usize]))?;
            return self.set_merge(Walk::Listed, members);
        }
        let merge = self.alloc(Merge::new(
            walk,
            members,
            Names::Listed(rename, elems.len()),
        ))?;
        self.set(elems, Origin::Merge(merge))
    }

    /// The distinct elements of both sets, and the numbers that the elements of the second one have among them.
    fn flatten_two(&mut self, a: &'r Set<'r>, b: &'r Set<'r>) -> Outcome<(Elems<'r>, &'r [u32])> {
        let members = [Value::Set(a), Value::Set(b)];
        let (total, kind) = self.kind_of_members(&members)?;
        let rename = self.slice_filled(total, 0u32)?;
        let elems = match kind {
            Some(kind) => {
                let name = |at: usize, number| rename[at] = number;
                self.flatten_patches(kind, total, &members, name)?.0
            }
            None => self.flatten_values(&members, rename)?.0,
        };
        Ok((elems, &rename[a.len()..]))
    }

    /// How many elements all members have together, and what they are if they are all locations or all cells.
    fn kind_of_members(&mut self, members: &[Value<'r>]) -> Outcome<(usize, Option<Kind>)> {
        let mut total = 0;
        let (mut pairs_only, mut cells_only) = (true, true);
        for &member in members {
            total += self.len(member)?;
            match member {
                Value::Set(set) if set.len() == 0 => {}
                Value::Set(set) => match set.elems {
                    Elems::Pairs(_) => cells_only = false,
                    Elems::Cells(_) => pairs_only = false,
                    Elems::Values(_) => (pairs_only, cells_only) = (false, false),
                },
                _ => (pairs_only, cells_only) = (false, false),
            }
        }
        self.check_len(total)?;
        self.spend(total)?;
        let kind = match (pairs_only, cells_only) {
            (true, _) => Some(Kind::Pairs),
            (_, true) => Some(Kind::Cells),
            _ => None,
        };
        Ok((total, kind))
    }

    /// The distinct elements of all members, and whether every location occurs once, if that is known. Says of each
    /// element of each member, counted member after member, which number it has; the last word counts.
    #[inline(always)]
    fn flatten_patches(
        &mut self,
        kind: Kind,
        total: usize,
        members: &[Value<'r>],
        mut name: impl FnMut(usize, u32),
    ) -> Outcome<(Elems<'r>, Option<bool>)> {
        let Some(bounds) = bounds_of(members) else {
            return Ok((Elems::Pairs(&[]), None));
        };
        // What is gathered is not more than fits: of many members most elements are the same.
        let plane = self.scratch.plane.lay_out(bounds);
        Ok(match kind {
            Kind::Pairs => {
                let mut kept = std::mem::take(&mut self.scratch.pairs);
                kept.clear();
                let lists = members.iter().filter_map(|m| pairs_of(*m));
                match plane {
                    Some(mut plane) => {
                        let mut at = 0;
                        for list in lists {
                            for &p in list {
                                let number = plane.find_or_insert(p, kept.len() as u32);
                                if number as usize == kept.len() {
                                    kept.push(p);
                                }
                                name(at, number);
                                at += 1;
                            }
                        }
                    }
                    None => self
                        .scratch
                        .index
                        .gather(lists, total, &mut kept, Pair::key, name),
                }
                let elements = self.slice(&kept);
                self.scratch.pairs = kept;
                (Elems::Pairs(elements?), None)
            }
            Kind::Cells => {
                let mut kept = std::mem::take(&mut self.scratch.cells);
                kept.clear();
                let mut one_color_each = None;
                let lists = members.iter().filter_map(|m| cells_of(*m));
                match plane {
                    Some(mut plane) => {
                        let chains = self.scratch.chains.begin();
                        let mut at = 0;
                        for list in lists {
                            for &c in list {
                                let number = chains.find_or_insert(&mut plane, &mut kept, c);
                                name(at, number);
                                at += 1;
                            }
                        }
                        one_color_each = Some(chains.are_short());
                    }
                    None => self
                        .scratch
                        .index
                        .gather(lists, total, &mut kept, Cell::key, name),
                }
                let elements = self.slice(&kept);
                self.scratch.cells = kept;
                (Elems::Cells(elements?), one_color_each)
            }
        })
    }

    fn flatten_values(
        &mut self,
        members: &[Value<'r>],
        rename: &mut [u32],
    ) -> Outcome<(Elems<'r>, bool)> {
        let mut equals_met = false;
        let mut index = std::mem::take(&mut self.scratch.value_index);
        index.clear_for_some_of(rename.len());
        let mut elements: Vec<Value<'r>> = Vec::new();
        let mut at = 0;
        for &member in members {
            let items: Vec<Value<'r>> = match member {
                Value::Set(set) => (0..set.len()).map(|k| set.elems.get(k)).collect(),
                tuple => self.items(tuple)?.to_vec(),
            };
            for v in items {
                let hash = match v {
                    Value::Set(set) => set.fingerprint(self),
                    _ => self.hash(v),
                };
                let number = elements.len() as u32;
                let found =
                    index.find_or_insert(hash, number, |k| self.eq_member(elements[k as usize], v));
                if found == number {
                    elements.push(v);
                    index.make_room(elements.len());
                } else {
                    equals_met = equals_met || !same_form(elements[found as usize], v);
                }
                rename[at] = found;
                at += 1;
                // As in `distinct_values`.
                self.check_limits()?;
            }
        }
        self.scratch.value_index = index;
        let elements = self.slice(&elements)?;
        Ok((self.compact(elements)?, equals_met))
    }
}
