//! The state of an evolution, as a checkpoint stores it.

use std::collections::HashMap;

use batt_archive::Checkpoint;
use batt_dsl::Dialect;
use batt_engine::Cancel;
use batt_lang::SolverFile;
use batt_lang::print_file;
use serde::{Deserialize, Serialize};

use crate::credit::Weights;
use crate::evolution::Evolution;

/// The version of the format.
const FORMAT: u32 = 1;

/// The name of evolution among the search strategies.
const STRATEGY: &str = "evolution";

/// The number of best programs stored for each task.
const BEST: usize = 24;

/// Why a state cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The bytes are not a state.
    #[error("the stored state cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The state is of another version.
    #[error("the stored state is of version {found}, this program knows version {FORMAT}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// The state is of another search strategy.
    #[error("the stored state is of the search '{found}', not of '{STRATEGY}'")]
    Strategy {
        /// The name of its strategy.
        found: String,
    },
}

/// The part of a state that says how to read the rest.
#[derive(Deserialize)]
struct Header {
    /// Checkpoints written before there was a choice of strategies do not name one.
    #[serde(default = "evolution")]
    strategy: String,
    format: u32,
}

fn evolution() -> String {
    STRATEGY.to_owned()
}

#[derive(Serialize, Deserialize)]
struct State {
    #[serde(default = "evolution")]
    strategy: String,
    format: u32,
    generation: u64,
    weights: Weights,
    tasks: Vec<Population>,
}

/// The best programs of a task on all islands.
#[derive(Serialize, Deserialize)]
struct Population {
    task: String,
    programs: String,
}

/// Returns `Ok` if a run can continue from a checkpoint; otherwise returns the reason.
pub fn check_checkpoint(checkpoint: &Checkpoint) -> Result<(), String> {
    let state: State = read_state(&checkpoint.state).map_err(|error| error.to_string())?;
    if state.generation != checkpoint.generation {
        return Err(format!(
            "the checkpoint is of generation {}, its state of generation {}",
            checkpoint.generation, state.generation
        ));
    }
    let is_readable = |text: &str| {
        let read = |dialect| SolverFile::parse_in(text, "checkpoint", Some(dialect)).is_clean();
        Dialect::ALL.into_iter().any(read)
    };
    let bad = state.tasks.iter().find(|task| !is_readable(&task.programs));
    bad.map_or(Ok(()), |bad| {
        Err(format!("the programs of task {} cannot be read", bad.task))
    })
}

fn read_state(state: &[u8]) -> Result<State, StateError> {
    let Header { strategy, format } = serde_json::from_slice(state)?;
    match format {
        _ if strategy != STRATEGY => Err(StateError::Strategy { found: strategy }),
        FORMAT => Ok(serde_json::from_slice(state)?),
        found => Err(StateError::Version { found }),
    }
}

impl Evolution<'_> {
    /// Returns the state from which a later run can continue: the best programs, the weights of
    /// mutations, and the generation. Parts and hashes of tried programs are not stored, so a
    /// resumed evolution differs a little from an uninterrupted one.
    pub fn state(&self) -> Vec<u8> {
        let population = |at: usize| {
            let programs = self.best_programs(at, BEST);
            let programs = programs.into_iter().enumerate();
            let named: Vec<_> = programs
                .map(|(k, program)| program.renamed(format!("solve_{k}")))
                .collect();
            Population {
                task: self.tasks()[at].id.clone(),
                programs: print_file(&named),
            }
        };
        let state = State {
            strategy: evolution(),
            format: FORMAT,
            generation: self.generation(),
            weights: self.weights().clone(),
            tasks: (0..self.tasks().len()).map(population).collect(),
        };
        // Strings and numbers always serialise.
        serde_json::to_vec(&state).unwrap_or_default()
    }

    /// Continues from a state. Tasks that are not in it start from scratch; tasks that are only in
    /// it are ignored.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        let state = read_state(state)?;
        let at: HashMap<&str, usize> = self
            .tasks()
            .iter()
            .enumerate()
            .map(|(at, task)| (task.id.as_str(), at))
            .collect();
        let mut programs = HashMap::new();
        for population in state.tasks {
            if let Some(&at) = at.get(population.task.as_str()) {
                let dialect = Some(self.dialect());
                let file = SolverFile::parse_in(&population.programs, "state", dialect);
                programs.insert(at, file.programs);
            }
        }
        self.add_programs(&programs, &Cancel::new());
        self.continue_from(state.generation, state.weights);
        Ok(())
    }
}
