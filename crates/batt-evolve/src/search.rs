//! What a session needs of a search for solvers.

use std::collections::HashMap;

use batt_arc::Score;
use batt_engine::Cancel;
use batt_engine::device::Device;
use batt_lang::Program;

use crate::credit::Weights;
use crate::evolution::{Evolution, Round};
use crate::state::StateError;

/// A strategy that searches for solvers of some tasks, generation by generation. Tasks are given by
/// position.
pub trait Search {
    /// Runs programs and uses the best of each task. They come from the archive.
    fn add_programs(&mut self, programs: &HashMap<usize, Vec<Program>>, cancel: &Cancel);

    /// Searches for one generation and returns what was found. Cancellation cuts it short.
    fn round(&mut self, devices: &mut [Box<dyn Device>], cancel: &Cancel) -> Round;

    /// Returns whether no further generation is worth while.
    fn is_done(&self) -> bool;

    /// Returns the number of the next generation.
    fn generation(&self) -> u64;

    /// Returns the best score so far of a task.
    fn best(&self, task: usize) -> Option<Score>;

    /// Returns the best program so far of a task: the one with the best score.
    fn best_program(&self, task: usize) -> Option<Program>;

    /// Returns the weights of the kinds of mutation, for the report. A search without such kinds
    /// returns the default.
    fn weights(&self) -> &Weights;

    /// Replaces the weights of the kinds of mutation. A search without such kinds ignores them.
    fn set_weights(&mut self, weights: Weights);

    /// Returns the state for a checkpoint: a JSON object. Its `strategy` is the name of the search,
    /// by which [`check_checkpoint`](crate::check_checkpoint) recognises it.
    fn state(&self) -> Vec<u8>;

    /// Continues from a state.
    fn restore(&mut self, state: &[u8]) -> Result<(), StateError>;
}

impl Search for Evolution<'_> {
    fn add_programs(&mut self, programs: &HashMap<usize, Vec<Program>>, cancel: &Cancel) {
        self.add_programs(programs, cancel);
    }

    fn round(&mut self, devices: &mut [Box<dyn Device>], cancel: &Cancel) -> Round {
        self.round(devices, cancel)
    }

    fn is_done(&self) -> bool {
        self.is_done()
    }

    fn generation(&self) -> u64 {
        self.generation()
    }

    fn best(&self, task: usize) -> Option<Score> {
        self.best(task)
    }

    fn best_program(&self, task: usize) -> Option<Program> {
        self.best_program(task)
    }

    fn weights(&self) -> &Weights {
        self.weights()
    }

    fn set_weights(&mut self, weights: Weights) {
        self.set_weights(weights);
    }

    fn state(&self) -> Vec<u8> {
        self.state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        self.restore(state)
    }
}
