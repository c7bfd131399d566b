//! Parts: intermediate values, no two of them equal on all demonstrations.

use batt_dsl::Limits;
use batt_engine::{Cancel, GraphWorker, Sample};
use batt_lang::graph::Ref;
use batt_lang::types::TypeId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::offspring::run_parts;
use crate::typed::Typed;

/// Parts that an island keeps.
const PARTS: usize = 6_000;

/// Values that may wait to be computed.
const WAITING: usize = 20_000;

/// Offspring per value that is computed in a generation: only the cheapest values are needed soon.
pub(crate) const OFFSPRING_A_PART: usize = 6;

/// A value that programs of a task can be made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub value: Ref,
    /// The sum of the costs of its calls. Rare primitives cost more.
    pub cost: u32,
    /// The number of groups of primitives it has been tried with, the common primitives first.
    pub expanded: u8,
}

/// The parts of an island.
#[derive(Clone, Default)]
pub(crate) struct Parts {
    /// The cheapest first.
    pub ready: Vec<Part>,
    /// Values that have not been computed, with their costs.
    waiting: Vec<(Ref, u32)>,
    /// Hashes of the values that parts have on all demonstrations.
    known: FxHashSet<u64>,
}

impl Parts {
    /// Adds values to be computed later, if they turn out to be among the cheapest.
    pub fn wait(&mut self, values: impl IntoIterator<Item = (Ref, u32)>) {
        self.waiting.extend(values);
    }

    /// Adds a value that has been computed, unless an equal one is known.
    pub fn admit(&mut self, value: Ref, cost: u32, outputs: u64) {
        if self.known.insert(outputs) {
            self.ready.push(Part {
                value,
                cost,
                expanded: 0,
            });
        }
    }

    /// Computes the cheapest values that wait. Returns how many, or none if `cancel` is set
    /// meanwhile.
    pub fn compute(
        &mut self,
        count: usize,
        typed: &Typed,
        samples: &[Sample<'_>],
        worker: &mut GraphWorker,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Option<usize> {
        self.waiting.sort_by_key(|(_, cost)| *cost);
        let later = self.waiting.split_off(count.min(self.waiting.len()));
        let now = std::mem::replace(&mut self.waiting, later);
        self.waiting.truncate(WAITING);
        let values: Vec<Ref> = now.iter().map(|(value, _)| *value).collect();
        // A part that is expensive to compute makes every program expensive that uses it.
        let limits = Limits {
            steps: limits.steps / 20,
            ..*limits
        };
        let hashes = run_parts(typed, &values, samples, worker, &limits, cancel);
        let Some(hashes) = hashes else {
            self.waiting.extend(now);
            return None;
        };
        for (&(value, cost), hash) in now.iter().zip(hashes) {
            if let Some(outputs) = hash {
                self.admit(value, cost, outputs);
            }
        }
        self.tidy();
        Some(now.len())
    }

    /// Drops the most costly parts if there are too many.
    fn tidy(&mut self) {
        self.ready.sort_by_key(|part| part.cost);
        self.ready.truncate(PARTS);
        if self.known.len() > 64 * PARTS {
            self.known.clear();
        }
    }

    /// Moves the parts to another graph.
    pub fn move_to(&mut self, to: &mut dyn FnMut(Ref) -> Ref) {
        self.tidy();
        for part in &mut self.ready {
            part.value = to(part.value);
        }
        for (value, _) in &mut self.waiting {
            *value = to(*value);
        }
    }
}

/// Parts by type, for one breeding.
pub(crate) struct PartIndex {
    by_type: Vec<(TypeId, Vec<Ref>)>,
    fitting: FxHashMap<TypeId, Vec<Ref>>,
}

impl PartIndex {
    /// Groups parts by type, in their order.
    pub fn new(typed: &mut Typed, parts: &[Part]) -> PartIndex {
        let mut at: FxHashMap<TypeId, usize> = FxHashMap::default();
        let mut by_type: Vec<(TypeId, Vec<Ref>)> = Vec::new();
        for part in parts {
            let Some(ty) = typed.type_of(part.value) else {
                continue;
            };
            let place = *at.entry(ty).or_insert_with(|| {
                by_type.push((ty, Vec::new()));
                by_type.len() - 1
            });
            by_type[place].1.push(part.value);
        }
        PartIndex {
            by_type,
            fitting: FxHashMap::default(),
        }
    }

    /// Returns the parts that fit where this type is wanted.
    pub fn fitting(&mut self, typed: &mut Typed, wanted: TypeId) -> &[Ref] {
        let by_type = &self.by_type;
        self.fitting.entry(wanted).or_insert_with(|| {
            let fits = |(ty, _): &&(TypeId, Vec<Ref>)| typed.types.fits(*ty, wanted);
            let lists = by_type.iter().filter(fits);
            lists.flat_map(|(_, list)| list).copied().collect()
        })
    }
}
