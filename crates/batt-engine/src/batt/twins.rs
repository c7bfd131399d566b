//! Steps once more, on another parameter.

use std::collections::HashMap;

use crate::compile::{CONSTANT, Source, Steps};

/// The twins of those steps that depend on a parameter: they do the same with one more parameter instead. They come behind
/// all other steps.
pub(crate) struct Twins {
    /// The step that each is the twin of.
    pub of: Vec<u32>,
    /// From a step to its twin.
    steps: HashMap<u32, u32>,
    /// The same for slots, that of the parameter included.
    slots: HashMap<u32, u32>,
}

impl Twins {
    /// Adds the new parameter, behind all others, and the twins. `values` are changed to where they are found then.
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
            steps: HashMap::new(),
            slots: HashMap::from([(param, new)]),
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
                let slot = |step: usize| (steps.first_step + step) as u32;
                twins.slots.insert(slot(step), slot(number));
                twins.steps.insert(step as u32, number as u32);
                twins.of.push(step as u32);
            }
        }
        twins
    }

    /// The twin of a step, or the step itself if it has none.
    pub fn step(&self, step: u32) -> u32 {
        *self.steps.get(&step).unwrap_or(&step)
    }

    /// Where a value is that depends on the new parameter instead.
    pub fn value(&self, value: Source) -> Source {
        match self.slots.get(&value.slot) {
            Some(&slot) => Source { slot, ..value },
            None => value,
        }
    }
}
