//! The origin of a set, and the replay of its construction on a simulated table.

use std::cell::Cell as Slot;

use super::layout::{DUMMY, EMPTY, Layout, Table};
use super::recipe::presized;
use super::{Chains, Elems, KeyIndex, Plane, Set};
use crate::fault::{Fault, Outcome};
use crate::hash;
use crate::run::Run;
use crate::value::{Cell, GridView, IntPair, Value};

/// The construction of a set. The [module of sets](super) defines the words in italics. "Elements"
/// means the set's own array of distinct elements.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'r> {
    /// *Build* of the elements, in the sequence of the array.
    Build,
    /// *Freeze(Build)* of the elements.
    Frozen,
    /// *Build* of the images of the source's elements, in the source's iteration order.
    /// Element `k` is the image of element `k` of the source.
    Map(&'r Set<'r>),
    /// As `Map`, if several elements of the source have the same image.
    Collapse(&'r Collapse<'r>),
    /// *Build* of some elements of the source, in its order. Element `k` was number `kept[k]`.
    Filter(&'r Selection<'r>),
    /// *Copy* of a set with the same element numbers.
    Copy(&'r Set<'r>),
    /// *Copy* of the source in which all but the kept elements became dummies.
    Minus(&'r Selection<'r>),
    /// *Union*: element `k` of the left set is number `k`, of the right set `rename[k]`.
    Union(&'r Union<'r>),
    /// *Build* of the elements of all members.
    Merge(&'r Merge<'r>),
    /// *Build* of all pairs `(x, y)` of two sets' elements, y in the outer loop. The pair of
    /// elements `x` and `y` is number `y * inner.len() + x`.
    Product(&'r Product<'r>),
    /// Four direct and four diagonal neighbours, in that sequence: the union of two frozen sets.
    Neighbors,
    /// The frame of a rectangle: `box`, `inbox`, `outbox`.
    Frame { from: IntPair, to: IntPair },
    /// An object found by the flood fill of `objects`: the object whose cells are the elements.
    Flood(&'r Flood<'r>),
    /// A set of the outside, given by its iteration order, which is the sequence of the array, and
    /// by the size of its table, if that was said.
    Given { log2_size: Option<u32> },
}

/// Some elements of a set.
pub(crate) struct Selection<'r> {
    pub source: &'r Set<'r>,
    /// Their numbers in the source, ascending.
    pub kept: &'r [u32],
}

/// The images of a set's elements, some of which are equal. Equal images are indistinguishable.
pub(crate) struct Collapse<'r> {
    pub source: &'r Set<'r>,
    pub images: Images<'r>,
}

/// The images of a set's elements, by number.
#[derive(Clone, Copy)]
pub(crate) enum Images<'r> {
    /// Locations only, cells only, or pairs of locations only.
    Values(&'r [Value<'r>]),
    /// Numbers of elements of the set of images.
    Numbers(&'r [u32]),
}

/// The operands of a union.
pub(crate) struct Union<'r> {
    pub left: &'r Set<'r>,
    pub right: &'r Set<'r>,
    /// The numbers of the right set's elements in the union.
    pub rename: &'r [u32],
}

/// The operands of a product.
pub(crate) struct Product<'r> {
    pub inner: &'r Set<'r>,
    pub outer: &'r Set<'r>,
}

/// A set flattened from the members of several containers.
pub(crate) struct Merge<'r> {
    /// The order in which the members are walked.
    pub walk: Walk<'r>,
    /// The merged containers. Sets are walked in their own iteration order.
    pub members: &'r [Value<'r>],
    pub names: Names<'r>,
    /// The new elements that each member adds, once computed.
    plan: Slot<Option<&'r Plan<'r>>>,
}

/// The correspondence between elements of members and elements of the merged set.
#[derive(Clone, Copy)]
pub(crate) enum Names<'r> {
    /// The numbers of all elements of all members, member after member, and the number of distinct
    /// elements.
    Listed(&'r [u32], usize),
    /// The merged elements: all members are patches of one kind. The set itself may have other
    /// elements, which are images of these, one for each.
    Elements(Elems<'r>),
}

impl<'r> Merge<'r> {
    pub fn new(walk: Walk<'r>, members: &'r [Value<'r>], names: Names<'r>) -> Merge<'r> {
        Merge {
            walk,
            members,
            names,
            plan: Slot::new(None),
        }
    }

    /// Returns the new elements that each member adds. The order of the set that the walk follows
    /// must be known.
    ///
    /// This is a note about the merge and not about the current set, because sets of images share
    /// the merge of their sources.
    fn plan(&'r self, run: &mut Run<'r>) -> Outcome<&'r Plan<'r>> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let plan = run.make_note(self, |run| {
            let walked = walk_order(run, self.walk, self.members)?;
            let numbering = Numbering::of(run, self)?;
            let (mut steps, mut new) = (Vec::new(), Vec::new());
            let mut first_times = FirstTimes::new(numbering.len());
            for member in walked {
                let before = new.len();
                numbering.each(self, member as usize, |k, number| {
                    if first_times.is_new(number) {
                        new.push((k, number));
                    }
                });
                if new.len() > before {
                    let end = new.len() as u32;
                    steps.push(Step { member, end });
                }
                if first_times.left == 0 {
                    break;
                }
            }
            numbering.give_back(run);
            let (steps, new) = (run.slice(&steps)?, run.slice(&new)?);
            run.alloc(Plan { steps, new })
        })?;
        self.plan.set(Some(plan));
        Ok(plan)
    }
}

/// The new elements that each member of a merge adds.
struct Plan<'r> {
    /// The members that add new elements, in the order of the walk.
    steps: &'r [Step],
    /// The new elements, step after step: their positions in the member, ascending, and their
    /// numbers in the merged set.
    new: &'r [(u32, u32)],
}

/// A member of a merge that adds new elements.
#[derive(Clone, Copy)]
struct Step {
    member: u32,
    /// The end of its part of [`Plan::new`].
    end: u32,
}

impl<'r> Plan<'r> {
    /// Returns the members and the new elements that they add.
    fn steps(&self) -> impl Iterator<Item = (usize, &'r [(u32, u32)])> {
        let mut start = 0;
        self.steps.iter().map(move |step| {
            let new = &self.new[start..step.end as usize];
            start = step.end as usize;
            (step.member as usize, new)
        })
    }
}

/// The order in which members are merged.
#[derive(Clone, Copy)]
pub(crate) enum Walk<'r> {
    /// In the given order.
    Listed,
    /// In the iteration order of a set with the same element numbers.
    Of(&'r Set<'r>),
    /// In the iteration order of the set of the members themselves. The members are the images of
    /// this set's elements, so equal members collapse.
    Mapped(&'r Set<'r>),
}

/// The result of the flood fill of `objects`, shared by the objects it found.
pub(crate) struct Flood<'r> {
    pub grid: &'r GridView<'r>,
    pub diagonal: bool,
    pub univalued: bool,
    /// The background colour, if cells of that colour are left out.
    pub background: Option<u8>,
    /// The objects in the order in which they were found; the fill of each began with its first
    /// cell.
    pub objects: &'r [&'r [Cell]],
}

/// Computes the layout of `set` and of all sets from which it was made.
///
/// A program can make chains of origins of any length, so this function uses an explicit stack
/// instead of recursion.
pub(crate) fn force<'r>(run: &mut Run<'r>, set: &'r Set<'r>) -> Outcome<()> {
    let mut stack = vec![set];
    while let Some(&top) = stack.last() {
        if top.known_layout().is_some() {
            stack.pop();
            continue;
        }
        let waiting = stack.len();
        push_sources(run, top, &mut stack)?;
        if stack.len() == waiting {
            run.make_note(top, |run| replay(run, top))?;
            stack.pop();
        }
    }
    Ok(())
}

fn push_sources<'r>(
    run: &mut Run<'r>,
    set: &'r Set<'r>,
    stack: &mut Vec<&'r Set<'r>>,
) -> Outcome<()> {
    let mut need = |source: &'r Set<'r>| {
        if source.known_layout().is_none() {
            stack.push(source);
        }
    };
    match set.origin {
        Origin::Build
        | Origin::Frozen
        | Origin::Neighbors
        | Origin::Frame { .. }
        | Origin::Flood(..)
        | Origin::Given { .. } => {}
        Origin::Map(source) | Origin::Copy(source) => need(source),
        Origin::Collapse(collapse) => need(collapse.source),
        Origin::Filter(selection) | Origin::Minus(selection) => need(selection.source),
        Origin::Union(union) => {
            need(union.left);
            need(union.right);
        }
        Origin::Product(product) => {
            need(product.inner);
            need(product.outer);
        }
        Origin::Merge(merge) => {
            if let Walk::Of(outer) | Walk::Mapped(outer) = merge.walk
                && outer.len() > 1
                && outer.known_layout().is_none()
            {
                // The other sources follow from the order of `outer`.
                need(outer);
                return Ok(());
            }
            // The order of a member matters if it adds several elements.
            for (member, new) in merge.plan(run)?.steps() {
                if let Value::Set(member) = merge.members[member]
                    && new.len() > 1
                {
                    need(member);
                }
            }
        }
    }
    Ok(())
}

fn replay<'r>(run: &mut Run<'r>, set: &'r Set<'r>) -> Outcome<()> {
    run.spend(set.len())?;
    if let Origin::Given { .. } = set.origin {
        // The order is known. The slots follow when they are needed (`place`).
        let layout = Layout {
            fill: set.len() as u32,
            slots: &[],
            order: run.slice_from(0..set.len() as u32)?,
        };
        let layout = run.alloc(layout)?;
        return set.set_layout(run, layout);
    }
    construct_layout(run, set)
}

/// Returns the layout of a set whose order is known, with its slots.
pub(super) fn place<'r>(run: &mut Run<'r>, set: &'r Set<'r>) -> Outcome<&'r Layout<'r>> {
    // `force` has given every source its layout.
    let layout = set.known_layout().ok_or(Fault::Memory)?;
    if !layout.slots.is_empty() {
        return Ok(layout);
    }
    run.spend(set.len())?;
    if let Origin::Given { log2_size: None } = set.origin {
        run.lacks_table = true;
    }
    run.make_note(set, |run| construct_layout(run, set))?;
    set.known_layout().ok_or(Fault::Memory)
}

fn construct_layout<'r>(run: &mut Run<'r>, set: &'r Set<'r>) -> Outcome<()> {
    match set.origin {
        Origin::Copy(source) => {
            place(run, source)?;
        }
        Origin::Minus(selection) => {
            place(run, selection.source)?;
        }
        Origin::Union(union) => {
            place(run, union.left)?;
            place(run, union.right)?;
        }
        _ => {}
    }
    let hashes = set.element_hashes(run)?;
    let mut table = std::mem::take(&mut run.scratch.table);
    let mut spare = std::mem::take(&mut run.scratch.spare_table);
    let outcome = construct(run, set, hashes, &mut table, &mut spare);
    let layout = outcome.and_then(|()| finish(run, &table));
    run.scratch.table = table;
    run.scratch.spare_table = spare;
    set.set_layout(run, layout?)
}

fn construct<'r>(
    run: &mut Run<'r>,
    set: &'r Set<'r>,
    hashes: &'r [u64],
    table: &mut Table,
    spare: &mut Table,
) -> Outcome<()> {
    // `force` has given every source its layout.
    let known = |source: &'r Set<'r>| source.known_layout().ok_or(Fault::Memory);
    table.clear();
    match set.origin {
        Origin::Build => table.add_new(hashes, 0..set.len() as u32),
        Origin::Frozen => {
            table.add_new(hashes, 0..set.len() as u32);
            table.freeze(hashes, spare);
        }
        Origin::Map(source) => table.add_new(hashes, known(source)?.order.iter().copied()),
        Origin::Collapse(collapse) => {
            let order = known(collapse.source)?.order.iter();
            let mut first_times = FirstTimes::new(set.len());
            match collapse.images {
                Images::Numbers(numbers) => {
                    let numbers = order.map(|&e| numbers[e as usize]);
                    table.add_new(hashes, numbers.filter(|&e| first_times.is_new(e)));
                }
                Images::Values(images) => {
                    run.spend(images.len() / 4)?;
                    let index = &mut run.scratch.index;
                    index.clear(set.len());
                    for k in 0..set.len() {
                        index.find_or_insert(compact_key(set.elems.get(k)), k as u32, |_| true);
                    }
                    let numbers = order.filter_map(|&e| index.get(compact_key(images[e as usize])));
                    table.add_new(hashes, numbers.filter(|&e| first_times.is_new(e)));
                }
            }
        }
        Origin::Filter(&Selection { source, kept }) => {
            let mut renamed = vec![EMPTY; source.len()];
            for (k, &e) in kept.iter().enumerate() {
                renamed[e as usize] = k as u32;
            }
            let order = known(source)?.order.iter();
            let order = order.map(|&e| renamed[e as usize]);
            table.add_new(hashes, order.filter(|&e| e != EMPTY));
        }
        Origin::Copy(source) => table.merge(hashes, known(source)?, |e| e),
        Origin::Minus(&Selection { source, kept }) => {
            // Copies the source under its own numbers, then renames them. Elements that were not
            // kept become dummies.
            let source_hashes = source.element_hashes(run)?;
            table.merge(source_hashes, known(source)?, |e| e);
            let mut renamed = vec![DUMMY; source.len()];
            for (k, &e) in kept.iter().enumerate() {
                renamed[e as usize] = k as u32;
            }
            for slot in &mut table.slots {
                if *slot != EMPTY {
                    *slot = renamed[*slot as usize];
                }
            }
            table.used = kept.len();
        }
        Origin::Union(&Union {
            left,
            right,
            rename,
        }) => {
            table.merge(hashes, known(left)?, |e| e);
            table.merge(hashes, known(right)?, |e| rename[e as usize]);
        }
        Origin::Product(product) => {
            let width = product.inner.len() as u32;
            for &y in known(product.outer)?.order {
                let row = known(product.inner)?.order.iter();
                table.add_new(hashes, row.map(|&x| y * width + x));
            }
        }
        Origin::Merge(merge) => return construct_merge(run, merge, hashes, table),
        Origin::Neighbors => {
            // Both halves have four elements, so their frozen copies keep all slots in place.
            (0..4).for_each(|e| table.add(hashes, e));
            spare.clear();
            spare.merge_table(hashes, table);
            table.clear();
            (4..8).for_each(|e| table.add(hashes, e));
            spare.merge_table(hashes, table);
            std::mem::swap(table, spare);
        }
        Origin::Frame { from, to } => return construct_frame(run, set, from, to, hashes, table),
        Origin::Flood(flood) => return construct_flood(run, flood, set, hashes, table),
        Origin::Given { log2_size } => {
            let size = log2_size.map_or_else(|| presized(set.len()), |log2_size| 1 << log2_size);
            table.place(hashes, size);
        }
    }
    Ok(())
}

/// The record of elements that have occurred.
struct FirstTimes {
    met: Vec<bool>,
    /// The number of elements that have not occurred yet.
    left: usize,
}

impl FirstTimes {
    fn new(elements: usize) -> FirstTimes {
        FirstTimes {
            met: vec![false; elements],
            left: elements,
        }
    }

    /// Returns whether an element occurs for the first time, and records it.
    #[inline(always)]
    fn is_new(&mut self, element: u32) -> bool {
        let is_new = !std::mem::replace(&mut self.met[element as usize], true);
        self.left -= usize::from(is_new);
        is_new
    }
}

/// The lookup from elements of members to numbers in the merged set.
enum Numbering<'r> {
    /// The numbers, the start of each member's part, and the number of merged elements.
    Listed(&'r [u32], Vec<usize>, usize),
    /// Locations.
    Plane(Plane, usize),
    /// Cells by location.
    Chains(Plane, Chains, &'r [Cell]),
    /// Locations or cells by key.
    Index(KeyIndex, usize),
}

impl<'r> Numbering<'r> {
    fn of(run: &mut Run<'r>, merge: &'r Merge<'r>) -> Outcome<Numbering<'r>> {
        let elems = match merge.names {
            Names::Elements(elems) => elems,
            Names::Listed(names, len) => {
                let mut start = 0;
                let mut starts = vec![0];
                for &member in merge.members {
                    start += run.len(member)?;
                    starts.push(start);
                }
                return Ok(Numbering::Listed(names, starts, len));
            }
        };
        let mut plane = std::mem::take(&mut run.scratch.plane);
        let laid_out = elems.bounds().and_then(|b| plane.lay_out(b));
        Ok(match (elems, laid_out) {
            (Elems::Pairs(pairs), Some(mut laid_out)) => {
                for (k, &p) in (0..).zip(pairs) {
                    laid_out.find_or_insert(p, k);
                }
                Numbering::Plane(plane, pairs.len())
            }
            (Elems::Cells(cells), Some(mut laid_out)) => {
                let mut chains = std::mem::take(&mut run.scratch.chains);
                let mut list = std::mem::take(&mut run.scratch.cells);
                list.clear();
                chains.begin();
                for &c in cells {
                    chains.find_or_insert(&mut laid_out, &mut list, c);
                }
                run.scratch.cells = list;
                Numbering::Chains(plane, chains, cells)
            }
            _ => {
                run.scratch.plane = plane;
                let mut index = std::mem::take(&mut run.scratch.index);
                index.clear(elems.len());
                for k in 0..elems.len() {
                    index.find_or_insert(compact_key(elems.get(k)), k as u32, |_| true);
                }
                Numbering::Index(index, elems.len())
            }
        })
    }

    /// The number of elements of the merged set.
    fn len(&self) -> usize {
        match self {
            Numbering::Listed(.., len) | Numbering::Plane(_, len) | Numbering::Index(_, len) => {
                *len
            }
            Numbering::Chains(.., cells) => cells.len(),
        }
    }

    /// Reports the positions and numbers of all elements of a member.
    #[inline(always)]
    fn each(&self, merge: &Merge<'r>, member: usize, mut say: impl FnMut(u32, u32)) {
        let elems = merge.members[member].as_set().map(|set| set.elems);
        match (self, elems) {
            (Numbering::Listed(names, starts, _), _) => {
                let names = &names[starts[member]..starts[member + 1]];
                (0..).zip(names).for_each(|(k, &number)| say(k, number));
            }
            (Numbering::Plane(plane, _), Some(Elems::Pairs(pairs))) => {
                let pairs = (0..).zip(pairs);
                pairs.for_each(|(k, &p)| say(k, plane.number(p)));
            }
            (Numbering::Chains(plane, chains, list), Some(Elems::Cells(cells))) => {
                let cells = (0..).zip(cells);
                cells.for_each(|(k, &c)| say(k, chains.number(plane, list, c)));
            }
            (Numbering::Index(index, _), Some(elems)) => {
                for k in 0..elems.len() {
                    if let Some(number) = index.get(compact_key(elems.get(k))) {
                        say(k as u32, number);
                    }
                }
            }
            // Empty members.
            _ => {}
        }
    }

    /// Returns the borrowed buffers to the run.
    fn give_back(self, run: &mut Run<'_>) {
        match self {
            Numbering::Listed(..) => {}
            Numbering::Plane(plane, _) => run.scratch.plane = plane,
            Numbering::Chains(plane, chains, _) => {
                run.scratch.plane = plane;
                run.scratch.chains = chains;
            }
            Numbering::Index(index, _) => run.scratch.index = index,
        }
    }
}

/// Returns a key that identifies a location, a cell or a pair of locations among others of its
/// kind.
fn compact_key(v: Value<'_>) -> u64 {
    match v {
        Value::Pair(p) => p.get().key(),
        Value::Cell(c) => c.get().key(),
        Value::Segment(s) => s.key(),
        _ => 0,
    }
}

/// Replays a merge. The order of its members has been computed if it matters.
fn construct_merge<'r>(
    run: &mut Run<'r>,
    merge: &'r Merge<'r>,
    hashes: &[u64],
    table: &mut Table,
) -> Outcome<()> {
    let mut numbers = run.take_numbers();
    for (member, new) in merge.plan(run)?.steps() {
        let layout = match merge.members[member] {
            Value::Set(set) if new.len() > 1 => Some(set.known_layout().ok_or(Fault::Memory)?),
            _ => None,
        };
        match layout {
            None => table.add_new(hashes, new.iter().map(|&(_, number)| number)),
            Some(layout) if layout.order.len() == new.len() => {
                let order = layout.order.iter();
                table.add_new(hashes, order.map(|&k| new[k as usize].1));
            }
            Some(layout) => {
                numbers.clear();
                numbers.resize(layout.order.len(), EMPTY);
                for &(k, number) in new {
                    numbers[k as usize] = number;
                }
                let order = layout.order.iter().map(|&k| numbers[k as usize]);
                table.add_new(hashes, order.filter(|&number| number != EMPTY));
            }
        }
    }
    run.give_numbers(numbers);
    Ok(())
}

/// Returns the order in which members are merged, as positions among them.
pub(super) fn walk_order<'r>(
    run: &mut Run<'r>,
    walk: Walk<'r>,
    members: &[Value<'r>],
) -> Outcome<Vec<u32>> {
    Ok(match walk {
        Walk::Listed => (0..members.len() as u32).collect(),
        Walk::Of(outer) => outer.order(run)?.to_vec(),
        Walk::Mapped(source) => {
            let order = source.order(run)?;
            let results: Vec<_> = order.iter().map(|&m| members[m as usize]).collect();
            let kept = build_nested(run, &results)?;
            kept.into_iter().map(|k| order[k as usize]).collect()
        }
    })
}

/// Returns the iteration order of *Build(values)*, as positions in `values`. It uses separate
/// tables, because the shared ones are in use when this is called.
fn build_nested<'r>(run: &mut Run<'r>, values: &[Value<'r>]) -> Outcome<Vec<u32>> {
    run.spend(values.len())?;
    let mut index = super::KeyIndex::default();
    index.clear(values.len());
    let mut hashes = Vec::with_capacity(values.len());
    let mut table = Table::default();
    table.clear();
    for (k, &v) in values.iter().enumerate() {
        let hash = run.hash(v);
        hashes.push(hash);
        let k = k as u32;
        if index.find_or_insert(hash, k, |other| run.eq_member(values[other as usize], v)) == k {
            table.add(&hashes, k);
        }
        run.check_limits()?;
    }
    Ok(table.iter().collect())
}

fn construct_frame<'r>(
    run: &mut Run<'r>,
    set: &'r Set<'r>,
    from: IntPair,
    to: IntPair,
    hashes: &[u64],
    table: &mut Table,
) -> Outcome<()> {
    let Elems::Pairs(elements) = set.elems else {
        return Ok(());
    };
    run.spend(elements.len() * 4)?;
    let mut index = std::mem::take(&mut run.scratch.index);
    index.clear(elements.len());
    for (k, p) in elements.iter().enumerate() {
        index.find_or_insert(p.key(), k as u32, |_| true);
    }
    let number = |p: IntPair| index.get(p.key()).unwrap_or(EMPTY);
    let line = |pairs: &mut dyn Iterator<Item = IntPair>| {
        let mut line = Table::default();
        line.clear();
        pairs.for_each(|p| line.add(hashes, number(p)));
        line
    };
    let union = |a: &Table, b: &Table| {
        let mut both = Table::default();
        both.clear();
        both.merge_table(hashes, a);
        both.merge_table(hashes, b);
        both
    };
    let column = |j: i16| line(&mut (from.i..=to.i).map(|i| IntPair::new(i, j)));
    let row = |i: i16| line(&mut (from.j..=to.j).map(|j| IntPair::new(i, j)));
    let vertical = union(&column(from.j), &column(to.j));
    let horizontal = union(&row(from.i), &row(to.i));
    let frame = union(&vertical, &horizontal);
    table.merge_table(hashes, &frame);
    run.scratch.index = index;
    Ok(())
}

/// Replays the layered flood fill that made one object, including its tables.
fn construct_flood<'r>(
    run: &mut Run<'r>,
    flood: &'r Flood<'r>,
    set: &'r Set<'r>,
    hashes: &[u64],
    table: &mut Table,
) -> Outcome<()> {
    let grid = flood.grid;
    let position = |c: &Cell| c.at.i as usize * grid.width + c.at.j as usize;
    let Elems::Cells(cells) = set.elems else {
        return Ok(());
    };
    // The flood fill gave this list of cells to the object, so its address identifies the object.
    let earlier = flood
        .objects
        .iter()
        .take_while(|object| !std::ptr::eq(object.as_ptr(), cells.as_ptr()));
    let mut occupied = vec![false; grid.cells.len()];
    let mut count = 0;
    for cell in earlier.copied().flatten() {
        occupied[position(cell)] = true;
        count += 1;
    }
    let mut number = vec![EMPTY; grid.cells.len()];
    for (k, cell) in cells.iter().enumerate() {
        number[position(cell)] = k as u32;
    }
    let start = position(&cells[0]) as u32;
    let value = grid.cells[start as usize];
    let sequence = flood_sequence(
        run,
        (grid.height, grid.width),
        flood.diagonal,
        start,
        &mut occupied,
        &mut count,
        |_, p| {
            let color = grid.cells[p as usize];
            Ok(if flood.univalued {
                color == value
            } else {
                Some(color) != flood.background
            })
        },
    )?;
    for p in sequence {
        table.add(hashes, number[p as usize]);
    }
    table.freeze(hashes, &mut Table::default());
    Ok(())
}

/// Returns the positions that the flood fill of `objects` accepts, in the order of the fill: layer
/// by layer, each layer in the iteration order of a set. Marks the positions as occupied.
pub(crate) fn flood_sequence<'r>(
    run: &mut Run<'r>,
    (height, width): (usize, usize),
    diagonal: bool,
    start: u32,
    occupied: &mut [bool],
    occupied_count: &mut usize,
    mut accept: impl FnMut(&mut Run<'r>, u32) -> Outcome<bool>,
) -> Outcome<Vec<u32>> {
    let place = |p: usize| IntPair::new((p / width) as i16, (p % width) as i16);
    let places: Vec<u64> = (0..height * width)
        .map(|p| hash::pair((p / width) as i16, (p % width) as i16))
        .collect();
    let (mut candidates, mut reach, mut around, mut spare) = (
        Table::default(),
        Table::default(),
        Table::default(),
        Table::default(),
    );
    let mut sequence = Vec::new();
    candidates.clear();
    candidates.add(&places, start);
    while candidates.used > 0 {
        run.spend(candidates.used * 4)?;
        reach.clear();
        for at in 0..candidates.slots.len() {
            let c = candidates.slots[at];
            if c >= DUMMY || !accept(run, c)? {
                continue;
            }
            sequence.push(c);
            occupied[c as usize] = true;
            *occupied_count += 1;
            around.clear();
            let here = place(c as usize);
            let neighbors = crate::ops::neighborhood(here);
            let order = run.scratch.neighbor_orders.of(here, diagonal, &mut spare);
            for p in order.iter().map(|&e| neighbors[e as usize]) {
                let (i, j) = (p.i as usize, p.j as usize);
                if i < height && j < width {
                    around.add(&places, (i * width + j) as u32);
                }
            }
            reach.merge_table(&places, &around);
        }
        // candidates = reach - occupied
        candidates.clear();
        if reach.used / 4 > *occupied_count {
            candidates.merge_table(&places, &reach);
            // Discarding in any order leaves the same dummies.
            for p in reach.iter().filter(|&p| occupied[p as usize]) {
                candidates.discard(&places, p);
            }
        } else {
            for p in reach.iter().filter(|&p| !occupied[p as usize]) {
                candidates.add(&places, p);
            }
        }
    }
    Ok(sequence)
}

/// A cache of the iteration orders of `dneighbors` and `neighbors`.
#[derive(Default)]
pub(crate) struct NeighborOrders {
    /// Two entries per location: direct neighbours, all neighbours. Empty until needed.
    known: Vec<[u8; 8]>,
    scratch: [u8; 8],
}

/// An exclusive bound of both coordinates of the locations whose orders are cached.
const REMEMBERED: usize = 64;

/// The mark of an order that has not been computed.
const UNKNOWN: [u8; 8] = [0; 8];

impl NeighborOrders {
    /// Returns positions in [`neighborhood`](crate::ops::neighborhood), in iteration order.
    fn of(&mut self, at: IntPair, diagonal: bool, spare: &mut Table) -> &[u8] {
        let count = if diagonal { 8 } else { 4 };
        let (i, j) = (at.i as usize, at.j as usize);
        if i >= REMEMBERED || j >= REMEMBERED {
            self.scratch = neighbor_order(at, diagonal, spare);
            return &self.scratch[..count];
        }
        if self.known.is_empty() {
            self.known.resize(REMEMBERED * REMEMBERED * 2, UNKNOWN);
        }
        let entry = &mut self.known[(i * REMEMBERED + j) * 2 + usize::from(diagonal)];
        if *entry == UNKNOWN {
            *entry = neighbor_order(at, diagonal, spare);
        }
        &entry[..count]
    }
}

fn neighbor_order(at: IntPair, diagonal: bool, table: &mut Table) -> [u8; 8] {
    let hashes = crate::ops::neighborhood(at).map(|p| hash::pair(p.i, p.j));
    table.clear();
    (0..4).for_each(|e| table.add(&hashes, e));
    if diagonal {
        let mut corners = Table::default();
        corners.clear();
        (4..8).for_each(|e| corners.add(&hashes, e));
        table.merge_table(&hashes, &corners);
    }
    let mut order = [0; 8];
    for (place, e) in order.iter_mut().zip(table.iter()) {
        *place = e as u8;
    }
    order
}

fn finish<'r>(run: &mut Run<'r>, table: &Table) -> Outcome<&'r Layout<'r>> {
    let slots = run.slice_filled(table.slots.len(), EMPTY)?;
    slots.copy_from_slice(&table.slots);
    let order = run.slice_filled(table.used, 0)?;
    table.write_order(order);
    run.alloc(Layout {
        fill: table.fill as u32,
        slots,
        order,
    })
}
