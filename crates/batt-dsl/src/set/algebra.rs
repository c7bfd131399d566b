//! Union, intersection, difference, filter and map of sets. Elements are computed at once, layouts
//! on demand.

use super::origin::{Collapse, Images, Merge, Names, Selection, Union, Walk, walk_order};
use super::{Bounds, Elems, Origin, Set};
use crate::fault::Outcome;
use crate::run::Run;
use crate::value::{Cell, IntPair, Value};

/// The kind of all elements of several patches.
#[derive(Clone, Copy)]
enum Kind {
    Pairs,
    Cells,
}

fn pairs_of<'r>(member: Value<'r>) -> Option<&'r [IntPair]> {
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

/// Returns the bounding box of all patches together.
fn bounds_of(members: &[Value<'_>]) -> Option<Bounds> {
    let all = members.iter().filter_map(|m| m.as_set()?.bounds());
    all.reduce(Bounds::union)
}

/// Returns whether two equal values are also indistinguishable. Equal sets may be laid out
/// differently, and bools equal integers, at any depth. Returns `false` if the answer would take
/// long.
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

/// The most construction steps of two sets that are compared.
const STEPS_COMPARED: usize = 4;

/// Returns whether two sets are known to be made from the same elements in the same way, so that
/// their tables are the same.
fn made_alike<'r>(mut a: &'r Set<'r>, mut b: &'r Set<'r>) -> bool {
    for _ in 0..STEPS_COMPARED {
        if std::ptr::eq(a, b) {
            return true;
        }
        if !a.has_same_list(b) {
            return false;
        }
        match (a.origin, b.origin) {
            // A single element has only one layout.
            _ if a.len() <= 1 => return true,
            (Origin::Build, Origin::Build)
            | (Origin::Frozen, Origin::Frozen)
            | (Origin::Neighbors, Origin::Neighbors) => return true,
            (Origin::Given { log2_size: a }, Origin::Given { log2_size: b }) => {
                return a.is_some() && a == b;
            }
            (Origin::Map(of_a), Origin::Map(of_b)) => (a, b) = (of_a, of_b),
            _ => return false,
        }
    }
    false
}

impl<'r> Run<'r> {
    /// *Copy*: makes a new set with the same elements, laid out as a copy is.
    pub(crate) fn set_copy(&mut self, a: &'r Set<'r>) -> Outcome<&'r Set<'r>> {
        self.set(a.elems, Origin::Copy(a))
    }

    /// Makes the set of the elements with these numbers, *built* in the order of the set `a`.
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

    /// Makes the set of the images of a set's elements, *built* in the order of the source.
    /// `images` has one image per element, by number. Equal images collapse, and the first one in
    /// that order stays.
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
                let (elems, distinguishable_equals) = numbered?;
                if distinguishable_equals {
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

    /// Makes the set *built* of the images of a set's elements in the set's order. `elems` lacks
    /// the repetitions, which are indistinguishable from the images that stay.
    pub(crate) fn set_collapsed(
        &mut self,
        source: &'r Set<'r>,
        elems: Elems<'r>,
        images: Images<'r>,
    ) -> Outcome<&'r Set<'r>> {
        let collapse = self.alloc(Collapse { source, images })?;
        self.set(elems, Origin::Collapse(collapse))
    }

    /// Does what [`set_map`](Run::set_map) does, but computes the source's order at once, because
    /// the order decides which of several equal images stays.
    fn build_in_order(
        &mut self,
        source: &'r Set<'r>,
        images: &[Value<'r>],
    ) -> Outcome<&'r Set<'r>> {
        let order = source.order(self)?;
        let images: Vec<_> = order.iter().map(|&k| images[k as usize]).collect();
        self.build(&images)
    }

    /// *Union*: makes `a | b`.
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

    /// *Inter*: makes `a & b`.
    pub(crate) fn set_inter(&mut self, a: &'r Set<'r>, b: &'r Set<'r>) -> Outcome<&'r Set<'r>> {
        if std::ptr::eq(a, b) {
            return self.set_copy(a);
        }
        // CPython iterates over the smaller operand, or over the right one if the sizes are equal.
        let (walked, other) = if a.len() < b.len() { (a, b) } else { (b, a) };
        self.spend(walked.len())?;
        let mut kept = self.take_numbers();
        self.search(walked, other, true, &mut kept);
        let shared = self.set_filter(walked, &kept);
        self.give_numbers(kept);
        shared
    }

    /// *Diff*: makes `a - b`.
    pub(crate) fn set_minus(&mut self, a: &'r Set<'r>, b: &'r Set<'r>) -> Outcome<&'r Set<'r>> {
        self.spend(a.len())?;
        let kept = self.numbers_not_in(a, b);
        // CPython copies the set and deletes elements when there are few to delete.
        let origin = if a.len() / 4 > b.len() {
            Origin::Minus
        } else {
            Origin::Filter
        };
        let left = self.select(a, &kept, origin);
        self.give_numbers(kept);
        left
    }

    /// Returns the numbers of the elements of `a` that are not in `b`.
    pub(crate) fn numbers_not_in(&mut self, a: &'r Set<'r>, b: &'r Set<'r>) -> Vec<u32> {
        let mut kept = self.take_numbers();
        if let Origin::Filter(part) | Origin::Minus(part) = b.origin
            && std::ptr::eq(part.source, a)
        {
            // `b` was made from `a`, so the result has the elements that were left out.
            let mut gone = part.kept.iter().peekable();
            kept.extend((0..a.len() as u32).filter(|k| gone.next_if_eq(&k).is_none()));
            return kept;
        }
        // A large `b` may be searched again, so it gets a table. A `b` of about the size of `a` is
        // walked instead.
        if b.is_searchable() || !a.is_searchable() || b.len() > 2 * a.len() {
            self.search(a, b, false, &mut kept);
        } else {
            // Walk over `b` and strike out its elements.
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

    /// Finds the numbers of the elements of a set that another set contains, or that it does not
    /// contain, as `contained` says.
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
            // Membership is unpredictable, so there is no branch: each number is written, and the
            // next number overwrites it if it is not wanted.
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

    /// Makes the set *built* of the elements of all members, walked in the order `walk`.
    pub(crate) fn set_merge(
        &mut self,
        walk: Walk<'r>,
        members: &'r [Value<'r>],
    ) -> Outcome<&'r Set<'r>> {
        let (total, kind) = self.kind_of_members(members)?;
        if let Some(kind) = kind {
            // The correspondence between elements of members and numbers can be computed later,
            // when the order is needed.
            let (elems, one_color_each) = self.flatten_patches(kind, total, members, |_, _| {})?;
            let merge = self.alloc(Merge::new(walk, members, Names::Elements(elems)))?;
            let set = self.set(elems, Origin::Merge(merge))?;
            set.with_one_color_each(one_color_each);
            return Ok(set);
        }
        let rename = self.slice_filled(total, 0u32)?;
        let (elems, distinguishable_equals) = self.flatten_values(members, rename)?;
        if distinguishable_equals && !matches!(walk, Walk::Listed) {
            // The walk decides which of two equal elements stays, so it has to happen at once.
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

    /// Returns the distinct elements of both sets, and the numbers of the second set's elements
    /// among them.
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

    /// Returns the number of elements of all members together, and their kind if they are all
    /// locations or all cells.
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

    /// Returns the distinct elements of all members, and whether every location occurs once, if
    /// that is known. Reports the number of each element of each member through `name`, with
    /// positions counted member after member. If a position is reported twice, the last report
    /// counts.
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
        // The limits bound the number of distinct elements. If there are many members, most
        // elements are equal.
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
                        .gather(lists, total, &mut kept, IntPair::key, name),
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
        let mut distinguishable_equals = false;
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
                    distinguishable_equals =
                        distinguishable_equals || !same_form(elements[found as usize], v);
                }
                rename[at] = found;
                at += 1;
                // See `distinct_values`.
                self.check_limits()?;
            }
        }
        self.scratch.value_index = index;
        let elements = self.slice(&elements)?;
        Ok((self.compact(elements)?, distinguishable_equals))
    }
}
