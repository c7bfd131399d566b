//! Parts: values on the way to an output that differ from each other on some demonstration.

use std::collections::HashMap;

use batt_lang::graph::Ref;
use batt_lang::types::TypeId;

use crate::typed::Typed;

/// A value that programs of a task can be made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub value: Ref,
    /// Hash of what it is on all demonstrations.
    pub outputs: u64,
    /// How many calls it takes.
    pub size: u32,
}

/// Parts by type, in a graph of the moment.
pub(crate) struct PartIndex {
    by_type: Vec<(TypeId, Vec<Ref>)>,
    fitting: HashMap<TypeId, Vec<Ref>>,
}

impl PartIndex {
    /// Sorts parts by type, the small ones first.
    pub fn new(typed: &mut Typed, parts: &[Part]) -> PartIndex {
        let mut at: HashMap<TypeId, usize> = HashMap::new();
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
            fitting: HashMap::new(),
        }
    }

    /// Parts that can stand where this type is wanted.
    pub fn fitting(&mut self, typed: &mut Typed, wanted: TypeId) -> &[Ref] {
        let by_type = &self.by_type;
        self.fitting.entry(wanted).or_insert_with(|| {
            let fits = |(ty, _): &&(TypeId, Vec<Ref>)| typed.types.fits(*ty, wanted);
            let lists = by_type.iter().filter(fits);
            lists.flat_map(|(_, list)| list).copied().collect()
        })
    }
}
