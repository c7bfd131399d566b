//! Evolution: makes new solvers from old ones.
//!
//! ```
//! use batt::evolve::{Evolve, EvolveEvent, HoldOut};
//! use batt::{Control, Solvers, Tasks};
//!
//! // Evolves solvers of two embedded puzzles from the solvers of the other puzzles.
//! let report = Evolve::new(&Tasks::embedded())
//!     .solvers(&Solvers::embedded())
//!     .hold_out(HoldOut::Exactly(2))
//!     .offspring(200)
//!     .generations(2)
//!     .run(&Control::new(), |event| {
//!         if let EvolveEvent::Improved { improvement, .. } = event {
//!             println!("task {} has a better solver", improvement.task);
//!         }
//!     })?;
//! assert_eq!(report.progress.tasks.len(), 2);
//! assert!(report.progress.best[0].is_some());
//! # Ok::<(), batt::Error>(())
//! ```

mod run;

use std::num::NonZeroUsize;
use std::path::Path;

use batt_archive::Retention;
use batt_dsl::{Dialect, Limits};
use batt_lang::Program;

pub use batt_evolve::{
    BestSolver, Change, Credit, DeviceWork, EvolveError, EvolveEvent, EvolveOptions,
    EvolveProgress, EvolveReport, EvolveStart, EvolveTally, HoldOut, Improvement, MutationKind,
    ResumedRun, Stage, StageTimes, StateError, StopReason, TestAnswer, Weights,
};

pub use self::run::EvolveRun;
use crate::control::Control;
use crate::devices::{DeviceChoice, Devices};
use crate::error::Result;
use crate::solvers::Solvers;
use crate::tasks::Tasks;

/// An evolution that can be configured and run.
#[derive(Clone, Debug)]
pub struct Evolve {
    tasks: Tasks,
    solvers: Vec<Program>,
    options: EvolveOptions,
    device: DeviceChoice,
}

impl Evolve {
    /// Creates an evolution of all tasks, on the CPU, that runs until all tasks are done.
    pub fn new(tasks: &Tasks) -> Evolve {
        Evolve {
            tasks: tasks.clone(),
            solvers: Vec::new(),
            options: EvolveOptions::default(),
            device: DeviceChoice::Cpu,
        }
    }

    /// Replaces all options.
    pub fn options(mut self, options: EvolveOptions) -> Evolve {
        self.options = options;
        self
    }

    /// Adds solvers to learn from. Their names tell the tasks to which they belong.
    pub fn solvers(mut self, solvers: &Solvers) -> Evolve {
        let programs = solvers.functions().map(|(program, _)| program.clone());
        self.solvers.extend(programs);
        self
    }

    /// Sets an archive to learn from and to save to. It is created if it is missing.
    pub fn archive(mut self, path: impl AsRef<Path>) -> Evolve {
        self.options.archive = Some(path.as_ref().to_owned());
        self
    }

    /// Resumes the last run of the archive on the same tasks, if there is one.
    pub fn resume(mut self) -> Evolve {
        self.options.resume = true;
        self
    }

    /// Evolves only these tasks.
    pub fn only<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Evolve {
        self.options.tasks = ids.into_iter().map(Into::into).collect();
        self
    }

    /// Holds out the solvers of some tasks, and evolves only these tasks.
    pub fn hold_out(mut self, hold_out: HoldOut) -> Evolve {
        self.options.hold_out = hold_out;
        self
    }

    /// Compares the solutions with the test outputs at the end.
    pub fn report_tests(mut self) -> Evolve {
        self.options.report_tests = true;
        self
    }

    /// Sets the seed of all random choices. The same seed, data and generations give the same
    /// solvers.
    pub fn seed(mut self, seed: u64) -> Evolve {
        self.options.seed = Some(seed);
        self
    }

    /// Ends the run after this number of generations.
    pub fn generations(mut self, count: u64) -> Evolve {
        self.options.generations = Some(count);
        self
    }

    /// Sets the number of programs in a population.
    pub fn population(mut self, count: usize) -> Evolve {
        self.options.population = count;
        self
    }

    /// Sets the number of offspring of each population in a generation; 0 uses the default.
    pub fn offspring(mut self, count: usize) -> Evolve {
        self.options.offspring = NonZeroUsize::new(count);
        self
    }

    /// Fixes the weights of the kinds of mutation.
    pub fn weights(mut self, weights: Weights) -> Evolve {
        self.options.weights = Some(weights);
        self
    }

    /// Sets which solvers of a task the archive keeps.
    pub fn retention(mut self, retention: Retention) -> Evolve {
        self.options.retention = retention;
        self
    }

    /// Adds differs to the built-in ones for the closeness of outputs.
    pub fn differs(mut self, differs: impl IntoIterator<Item = Program>) -> Evolve {
        self.options.differs.extend(differs);
        self
    }

    /// Sets the dialect of all programs. The default is that of the first solver.
    pub fn dialect(mut self, dialect: Dialect) -> Evolve {
        self.options.dialect = Some(dialect);
        self
    }

    /// Sets the number of threads. The default is one per core.
    pub fn threads(mut self, threads: NonZeroUsize) -> Evolve {
        self.options.threads = Some(threads);
        self
    }

    /// Chooses the device for offspring. `Auto` is the CPU.
    pub fn device(mut self, device: DeviceChoice) -> Evolve {
        self.device = device;
        self
    }

    /// Evolves until all tasks are done, the generations are done, or `control` ends the run. Then
    /// everything found is saved. `listener` gets the events of the run.
    pub fn run(
        self,
        control: &Control,
        mut listener: impl FnMut(EvolveEvent),
    ) -> Result<EvolveReport> {
        let threads = self.options.threads;
        let setup = batt_evolve::EvolveSetup::new(&self.tasks, &self.solvers, self.options)?;
        listener(EvolveEvent::Started(setup.start().clone()));
        // Programs that a device cannot keep within the limits of evolution run on the CPU.
        let limits = Limits::default();
        // All cores are faster than one GPU here (docs/performance.md), so only a named GPU is used.
        let choice = match self.device {
            DeviceChoice::Auto => DeviceChoice::Cpu,
            named => named,
        };
        // Waves score offspring, so the VM is not needed.
        let mut devices = Devices::open_for(&choice, usize::MAX, &limits, threads, true)?;
        for note in devices.notes() {
            listener(EvolveEvent::Note(note.clone()));
        }
        Ok(setup.run(devices.as_mut(), control.token(), &mut listener)?)
    }

    /// Begins to evolve on a thread of its own, for callers that want to go through the events.
    pub fn start(self, control: &Control) -> Result<EvolveRun> {
        EvolveRun::start(self, control)
    }
}
