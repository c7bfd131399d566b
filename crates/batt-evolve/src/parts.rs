//! Parts: intermediate values that differ from each other on the demonstrations.

use batt_dsl::Limits;
use batt_engine::{Cancel, GraphWorker, Sample};
use batt_lang::graph::Ref;
use batt_lang::types::TypeId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::offspring::run_parts;
use crate::typed::Typed;

/// The most parts that an island keeps.
const MAX_PARTS: usize = 6_000;

/// The most values that may wait to be computed.
const MAX_WAITING: usize = 20_000;

/// The number of offspring per value that is computed in a generation. Only the cheapest values are
/// needed soon.
pub(crate) const OFFSPRING_PER_PART: usize = 6;

/// A value from which programs of a task can be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub value: Ref,
    /// The sum of the costs of its calls. Rare primitives cost more.
    pub cost: u32,
    /// The number of groups of primitives with which it has been tried, the common primitives
    /// first.
    pub expanded: u8,
}

/// The parts of an island.
#[derive(Clone, Default)]
pub(crate) struct Parts {
    /// The parts by cost, the cheapest first.
    pub ready: Vec<Part>,
    /// Values that have not been computed yet, with their costs.
    waiting: Vec<(Ref, u32)>,
    /// The hashes of the parts' values on all demonstrations.
    known: FxHashSet<u64>,
}

impl Parts {
    /// Adds values to compute later, if they are among the cheapest then.
    pub fn defer(&mut self, values: impl IntoIterator<Item = (Ref, u32)>) {
        self.waiting.extend(values);
    }

    /// Adds a computed value as a part, unless an equal part is known.
    pub fn admit(&mut self, value: Ref, cost: u32, outputs: u64) {
        if self.known.insert(outputs) {
            self.ready.push(Part {
                value,
                cost,
                expanded: 0,
            });
        }
    }

    /// Computes the cheapest waiting values. Returns their number, or `None` if `cancel` is set
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
        self.waiting.truncate(MAX_WAITING);
        let values: Vec<Ref> = now.iter().map(|(value, _)| *value).collect();
        // An expensive part would make every program expensive that uses it.
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
        self.trim();
        Some(now.len())
    }

    /// Drops the most expensive parts if there are too many.
    fn trim(&mut self) {
        self.ready.sort_by_key(|part| part.cost);
        self.ready.truncate(MAX_PARTS);
        if self.known.len() > 64 * MAX_PARTS {
            self.known.clear();
        }
    }

    /// Moves the parts to another graph.
    pub fn move_to(&mut self, to: &mut dyn FnMut(Ref) -> Ref) {
        self.trim();
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

    /// Returns the parts that fit a wanted type.
    pub fn fitting(&mut self, typed: &mut Typed, wanted: TypeId) -> &[Ref] {
        let by_type = &self.by_type;
        self.fitting.entry(wanted).or_insert_with(|| {
            let fits = |(ty, _): &&(TypeId, Vec<Ref>)| typed.types.fits(*ty, wanted);
            let lists = by_type.iter().filter(fits);
            lists.flat_map(|(_, list)| list).copied().collect()
        })
    }
}
