//! Twins: copies of steps that read another parameter.

use std::collections::HashMap;

use crate::lower::{CONSTANT, Source, Steps};

/// The twins of the steps that depend on a parameter. A twin does the same as its original, with a
/// new parameter in place of that one. Twins come after all other steps.
pub(crate) struct Twins {
    /// The original of each twin.
    pub of: Vec<u32>,
    /// The slot of the twin for each slot that has one. The twin of the old parameter is the new
    /// parameter.
    slots: HashMap<u32, u32>,
    /// The slot of the first step.
    first: u32,
}

impl Twins {
    /// Adds the new parameter after all other parameters, and the twins. This moves slots, so
    /// `values` are corrected.
    pub fn add(steps: &mut Steps, param: u32, values: &mut [Source]) -> Twins {
        let new = steps.params as u32;
        let make_room = |source: &mut Source| {
            if source.slot != CONSTANT && source.slot >= new {
                source.slot += 1;
            }
        };
        for instruction in &mut steps.instructions {
            instruction.sources_mut(make_room);
        }
        values.iter_mut().for_each(make_room);
        steps.params += 1;
        steps.first_step += 1;
        let mut twins = Twins {
            of: Vec::new(),
            slots: HashMap::from([(param, new)]),
            first: steps.first() as u32,
        };
        for step in 0..steps.instructions.len() {
            let mut depends = false;
            steps.instructions[step]
                .sources(|source| depends |= twins.slots.contains_key(&source.slot));
            if depends {
                let mut twin = steps.instructions[step].clone();
                twin.sources_mut(|source| *source = twins.value(*source));
                let number = steps.instructions.len();
                steps.instructions.push(twin);
                steps.ops.push(steps.ops[step]);
                let slot = |step: usize| twins.first + step as u32;
                twins.slots.insert(slot(step), slot(number));
                twins.of.push(step as u32);
            }
        }
        twins
    }

    /// Returns the twin of a step, or the step itself if it has none.
    pub fn step(&self, step: u32) -> u32 {
        match self.slots.get(&(self.first + step)) {
            Some(slot) => slot - self.first,
            None => step,
        }
    }

    /// Returns the source of a value's twin, or the source itself if the value has none.
    pub fn value(&self, value: Source) -> Source {
        match self.slots.get(&value.slot) {
            Some(&slot) => Source { slot, ..value },
            None => value,
        }
    }
}
