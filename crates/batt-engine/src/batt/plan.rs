//! The plan of a batt: the steps to execute, solver by solver, for each entry.
//!
//! Entries are the outputs, the scores, and the *comparisons*: the scores computed once more, with
//! the expected grid as `C`. Scores and comparisons share the steps that do not depend on `C`; the
//! other steps have [twins](Twins).

use std::collections::HashMap;

use batt_lang::{Batt, Operand};

use super::twins::Twins;
use crate::lower::{CONSTANT, Instruction, Source, Steps};

/// The plan of a batt.
pub(crate) struct Plan {
    /// The steps of the batt, followed by the twins.
    pub steps: Steps,
    pub twins: Twins,
    /// The solvers in the order in which they run.
    pub solvers: Vec<Solver>,
    /// The sources of the entries' values.
    pub values: Vec<Source>,
    /// The steps of each entry, in the order of the batt.
    pub steps_of_entry: Lists,
    /// For each entry, the first entry of its solver if that entry has steps that this one does not
    /// need; otherwise the entry itself.
    pub leads: Vec<u32>,
}

/// One solver of a batt, with the differs that score its candidate.
pub(crate) struct Solver {
    /// The work for each entry of the solver, in order. Comparisons come last.
    pub parts: Vec<Part>,
    /// The number of parts that belong to the candidate and the scores.
    pub solving: usize,
    /// The slots of the inputs and literals that the solver uses. Its own slots start with copies
    /// of them.
    pub given: Vec<u32>,
    /// The number of own slots: one for each given value and one for each step.
    pub slots: usize,
}

/// The work of a solver for one entry, without the steps that earlier entries need as well.
pub(crate) struct Part {
    pub entry: u32,
    pub work: Vec<Work>,
    /// The source of the entry's value, in the slots of the solver.
    pub value: Source,
}

/// A step, and the slot of the solver that takes its value.
pub(crate) struct Work {
    pub step: u32,
    /// The parts of the solver that need the step.
    pub users: PartSet,
    pub slot: usize,
    /// The instruction with the solver's slots; `None` if several solvers share the step.
    pub own: Option<Instruction>,
}

/// The position of `C` among the parameters.
const COMPARISON: u32 = 2;

impl Plan {
    /// Plans a batt.
    pub fn new(batt: &Batt) -> Plan {
        let (mut steps, mut values) = Steps::new(&batt.program, entry_values(batt));
        let twins = Twins::add(&mut steps, COMPARISON, &mut values);
        let of_outputs = batt.outputs.iter().map(|output| &output.steps);
        let of_scores = batt.scores.iter().map(|score| &score.steps);
        let mut lists: Vec<Vec<u32>> = of_outputs
            .chain(of_scores)
            .map(|steps| steps.iter().map(|id| id.0).collect())
            .collect();
        for score in batt.outputs.len()..lists.len() {
            lists.push(lists[score].iter().map(|&step| twins.step(step)).collect());
            values.push(twins.value(values[score]));
        }
        let steps_of_entry = Lists::new(lists.into_iter().map(Vec::into_iter));
        let solvers = grouped(batt);
        let shared = shared_steps(&solvers, &steps_of_entry, steps.instructions.len());
        let solved = batt.outputs.len() + batt.scores.len();
        let solver = |entries: &Vec<u32>| {
            Solver::new(entries, &steps, &values, &steps_of_entry, &shared, solved)
        };
        Plan {
            leads: leads(&solvers, &steps_of_entry),
            solvers: solvers.iter().map(solver).collect(),
            steps,
            twins,
            values,
            steps_of_entry,
        }
    }
}

/// Returns for each step whether several solvers need it.
fn shared_steps(solvers: &[Vec<u32>], steps_of_entry: &Lists, count: usize) -> Vec<bool> {
    let mut first_solver = vec![u32::MAX; count];
    let mut shared = vec![false; count];
    for (number, entries) in (0u32..).zip(solvers) {
        let steps = entries
            .iter()
            .flat_map(|&entry| steps_of_entry.get(entry as usize));
        for &step in steps {
            let first = &mut first_solver[step as usize];
            *first = number.min(*first);
            shared[step as usize] |= *first != number;
        }
    }
    shared
}

/// Computes [`Plan::leads`].
fn leads(solvers: &[Vec<u32>], steps_of_entry: &Lists) -> Vec<u32> {
    let mut leads = vec![0; steps_of_entry.len()];
    for entries in solvers {
        let first = steps_of_entry.get(entries[0] as usize);
        for &entry in entries {
            let mut own = steps_of_entry.get(entry as usize).to_vec();
            own.sort_unstable();
            let has_all = first.iter().all(|step| own.binary_search(step).is_ok());
            leads[entry as usize] = if has_all { entry } else { entries[0] };
        }
    }
    leads
}

impl Solver {
    /// Returns all parts, or those without comparisons.
    pub fn parts(&self, compares: bool) -> &[Part] {
        match compares {
            true => &self.parts,
            false => &self.parts[..self.solving],
        }
    }

    /// Plans the work for some entries. Entries numbered `solved` and above are comparisons.
    fn new(
        entries: &[u32],
        steps: &Steps,
        values: &[Source],
        steps_of_entry: &Lists,
        shared: &[bool],
        solved: usize,
    ) -> Solver {
        let first = steps.first() as u32;
        // Each step is executed for the first entry that needs it.
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut users: HashMap<u32, PartSet> = HashMap::new();
        let mut lists = Vec::with_capacity(entries.len());
        for (part, &entry) in entries.iter().enumerate() {
            let mut list = steps_of_entry.get(entry as usize).to_vec();
            for &step in &list {
                users.entry(step).or_default().insert(part);
            }
            list.retain(|&step| {
                let next = places.len() as u32;
                *places.entry(step).or_insert(next) == next
            });
            lists.push(list);
        }
        let mut given: Vec<u32> = Vec::new();
        let mut outer = |source: &Source| {
            if source.slot < first && !given.contains(&source.slot) {
                given.push(source.slot);
            }
        };
        for step in lists
            .iter()
            .flatten()
            .filter(|&&step| !shared[step as usize])
        {
            steps.instructions[*step as usize].sources(&mut outer);
        }
        entries
            .iter()
            .for_each(|&entry| outer(&values[entry as usize]));
        let local = |source: &mut Source| {
            if source.slot == CONSTANT {
                return;
            }
            source.slot = match source.slot.checked_sub(first) {
                Some(step) => given.len() as u32 + places[&step],
                None => {
                    let at = given.iter().position(|&slot| slot == source.slot);
                    at.unwrap_or_default() as u32
                }
            };
        };
        let mut work = |step: u32| Work {
            step,
            // Each step is in exactly one list, so this takes its users.
            users: users.remove(&step).unwrap_or_default(),
            slot: given.len() + places[&step] as usize,
            own: (!shared[step as usize]).then(|| {
                let mut own = steps.instructions[step as usize].clone();
                own.sources_mut(local);
                own
            }),
        };
        let parts = entries.iter().zip(lists).map(|(&entry, list)| {
            let mut value = values[entry as usize];
            local(&mut value);
            Part {
                entry,
                work: list.into_iter().map(&mut work).collect(),
                value,
            }
        });
        Solver {
            parts: parts.collect(),
            solving: entries.partition_point(|&entry| (entry as usize) < solved),
            slots: given.len() + places.len(),
            given,
        }
    }
}

/// Groups the entries by solver: a candidate, then the scores of the differs that look at it, then
/// the comparisons. The text of a batt interleaves the steps of all solvers; in this order a value
/// is used soon after it is made, while it is in the cache. A score of the input belongs to no
/// solver, and forms a group of its own.
fn grouped(batt: &Batt) -> Vec<Vec<u32>> {
    let outputs = batt.outputs.iter();
    let outputs = outputs.map(|o| (o.after, 0, Some(o.donor.as_str())));
    let scores = batt.scores.iter();
    let scores = scores.map(|s| (s.after, 1, s.donor.as_deref()));
    let mut entries: Vec<_> = outputs.chain(scores).zip(0u32..).collect();
    entries.sort_by_key(|((after, kind, _), _)| (*after, *kind));
    let mut solvers: Vec<Vec<u32>> = Vec::new();
    let mut solver_of_score = vec![0; batt.scores.len()];
    let mut known: HashMap<&str, usize> = HashMap::new();
    for ((_, _, donor), entry) in entries {
        let next = solvers.len();
        let solver = donor.map_or(next, |donor| *known.entry(donor).or_insert(next));
        if solver == next {
            solvers.push(Vec::new());
        }
        solvers[solver].push(entry);
        if let Some(score) = (entry as usize).checked_sub(batt.outputs.len()) {
            solver_of_score[score] = solver;
        }
    }
    let comparisons = (batt.outputs.len() + batt.scores.len()) as u32..;
    for (comparison, solver) in comparisons.zip(solver_of_score) {
        solvers[solver].push(comparison);
    }
    solvers
}

/// Returns the values of the entries: the outputs, then the scores.
pub(super) fn entry_values(batt: &Batt) -> impl Iterator<Item = &Operand> + Clone {
    let outputs = batt.outputs.iter().map(|output| &output.value);
    outputs.chain(batt.scores.iter().map(|score| &score.value))
}

/// A set of parts of a solver. Every step checks such a set, and few solvers have more than 64
/// parts, so the first 64 are bits of one word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartSet {
    first: u64,
    more: Vec<u64>,
}

impl PartSet {
    pub fn insert(&mut self, part: usize) {
        let bit = 1 << (part % 64);
        match (part / 64).checked_sub(1) {
            None => self.first |= bit,
            Some(at) => {
                self.more.resize(self.more.len().max(at + 1), 0);
                self.more[at] |= bit;
            }
        }
    }

    /// Removes all parts of another set.
    pub fn remove_all(&mut self, parts: &PartSet) {
        self.first &= !parts.first;
        for (mine, theirs) in self.more.iter_mut().zip(&parts.more) {
            *mine &= !theirs;
        }
    }

    /// Returns whether the sets have a part in common.
    #[inline]
    pub fn intersects(&self, other: &PartSet) -> bool {
        let more = || self.more.iter().zip(&other.more).any(|(a, b)| a & b != 0);
        self.first & other.first != 0 || more()
    }

    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.more.iter().all(|&bits| bits == 0)
    }

    /// Returns the parts in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let words = std::iter::once(&self.first).chain(&self.more);
        words.enumerate().flat_map(|(at, &bits)| {
            let set = (0..64).filter(move |bit| bits >> bit & 1 == 1);
            set.map(move |bit| 64 * at + bit)
        })
    }
}

impl FromIterator<usize> for PartSet {
    fn from_iter<I: IntoIterator<Item = usize>>(parts: I) -> PartSet {
        let mut set = PartSet::default();
        parts.into_iter().for_each(|part| set.insert(part));
        set
    }
}

/// Lists of numbers, stored one after the other in one allocation.
pub(crate) struct Lists {
    pub starts: Vec<u32>,
    pub numbers: Vec<u32>,
}

impl Lists {
    pub fn new(lists: impl Iterator<Item = impl Iterator<Item = u32>>) -> Lists {
        let mut all = Lists {
            starts: vec![0],
            numbers: Vec::new(),
        };
        for list in lists {
            all.numbers.extend(list);
            all.starts.push(all.numbers.len() as u32);
        }
        all
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn get(&self, k: usize) -> &[u32] {
        &self.numbers[self.starts[k] as usize..self.starts[k + 1] as usize]
    }
}
