//! Jobs in two launches: one in which sets have no order, and an exact one for those to which order matters.

use super::bytecode::{ProgramAt, Programs};
use super::card::{Batch, Card, CardError, Launched, Times};
use super::inputs::Inputs;
use super::results::Reason;
use super::wire::NOTHING;

/// The flags of a launch.
const FULL_VALUES: u32 = 1;
const EXACT: u32 = 2;
const TIMED: u32 = 4;

/// What one run may do on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Work, counted about as the CPU counts its steps and far below its default limit: what a device finishes, the
    /// CPU would, too.
    pub fuel: u64,
    /// Bytes of values.
    pub arena_bytes: usize,
    /// The same in the second launch, which few runs need.
    pub large_arena_bytes: usize,
    /// Are full values wanted, or only verdicts and hashes?
    pub values: bool,
    /// Count calls and cycles of each primitive?
    pub ops: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            fuel: 3_000_000,
            arena_bytes: 1 << 20,
            large_arena_bytes: 8 << 20,
            values: true,
            ops: false,
        }
    }
}

/// One job: a program on inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobAt {
    /// The program.
    pub program: ProgramAt,
    /// The list of its parameters.
    pub params: u32,
    /// The expected grid; [`NOTHING`] if there is none.
    pub expected: u32,
    /// Are scores alone wanted?
    pub scores_alone: bool,
}

impl JobAt {
    /// A job with nothing to compare with.
    pub fn new(program: ProgramAt, params: u32) -> JobAt {
        JobAt {
            program,
            params,
            expected: NOTHING,
            scores_alone: false,
        }
    }

    fn words(&self) -> [u32; 4] {
        [
            self.program.offset,
            self.params,
            self.expected,
            self.scores_alone.into(),
        ]
    }
}

/// In which launch a job was finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchPass {
    /// The first: sets without order.
    First,
    /// The second: CPython's order of every set, and more room.
    Exact,
}

/// A finished job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished<'a> {
    /// In which launch.
    pub pass: LaunchPass,
    /// The words of its entries.
    pub words: &'a [u32],
}

/// What became of some jobs.
pub struct Done {
    first: Launched,
    exact: Option<Launched>,
    /// For each job its number in the exact launch.
    again: Vec<Option<u32>>,
    /// What stood in the way of the exact launch; its jobs are left to the CPU.
    pub error: Option<CardError>,
    values: bool,
}

impl Done {
    /// How many jobs there were.
    pub fn len(&self) -> usize {
        self.again.len()
    }

    /// Were there none?
    pub fn is_empty(&self) -> bool {
        self.again.is_empty()
    }

    /// What became of a job.
    pub fn job(&self, k: usize) -> Result<Finished<'_>, Reason> {
        let (pass, words) = match (self.again[k], &self.exact) {
            (Some(again), Some(exact)) => (LaunchPass::Exact, exact.job(again as usize)),
            _ => (LaunchPass::First, self.first.job(k)),
        };
        words.map(|words| Finished { pass, words })
    }

    /// Why the first launch left a job, if it did.
    pub fn first_reason(&self, k: usize) -> Option<Reason> {
        self.first.job(k).err()
    }

    /// Did the launches give full values?
    pub fn has_values(&self) -> bool {
        self.values
    }

    /// The counters of finished jobs: three for each step of the programs, then two for each primitive.
    pub fn counters(&self) -> Vec<u64> {
        let mut counters = self.first.counters.clone();
        if let Some(exact) = &self.exact {
            for (sum, more) in counters.iter_mut().zip(&exact.counters) {
                *sum += more;
            }
        }
        counters
    }

    /// What both launches took.
    pub fn times(&self) -> Times {
        let mut times = self.first.times;
        if let Some(exact) = &self.exact {
            times.add(&exact.times);
        }
        times
    }
}

/// Launches batches and learns how much room their output takes.
pub struct Launcher {
    settings: Settings,
    /// Words that a job wrote on average, as far as known.
    words_per_job: usize,
}

/// What a job is taken to write while nothing is known.
const FIRST_GUESS: usize = 1 << 10;

/// Room for output, in units of what is expected.
const MARGIN: usize = 2;

/// The least room for output: small batches vary more.
const LEAST_OUTPUT: usize = 1 << 20;

/// The most room for output, in words: a gigabyte.
const MOST_OUTPUT: usize = 1 << 28;

impl Launcher {
    /// A launcher that knows nothing yet.
    pub fn new(settings: Settings) -> Launcher {
        Launcher {
            settings,
            words_per_job: FIRST_GUESS,
        }
    }

    /// How many jobs there is room for in one launch, as far as known.
    pub fn most_jobs(&self) -> usize {
        (MOST_OUTPUT / (MARGIN * self.words_per_job.max(1))).max(1)
    }

    /// Runs jobs on a card: once, and those to whom order mattered, or for whom there was no room, once more.
    pub fn run(
        &mut self,
        card: &mut dyn Card,
        programs: &Programs,
        inputs: &Inputs,
        jobs: &[JobAt],
        counters: Counting,
    ) -> Result<Done, CardError> {
        let words: Vec<[u32; 4]> = jobs.iter().map(JobAt::words).collect();
        let first = self.launch(card, programs, inputs, &words, counters, LaunchPass::First)?;
        let finished = |k: &usize| first.job(*k).is_ok();
        let count = (0..jobs.len()).filter(finished).count();
        if count > 0 && self.settings.values {
            let words = first.output.len() / count;
            self.words_per_job = (self.words_per_job / 2).max(words);
        }
        let mut again = vec![None; jobs.len()];
        let mut rest = Vec::new();
        for (k, job) in words.iter().enumerate() {
            if first.job(k).is_err_and(Reason::may_be_retried) {
                again[k] = Some(rest.len() as u32);
                rest.push(*job);
            }
        }
        let mut done = Done {
            first,
            exact: None,
            again,
            error: None,
            values: self.settings.values,
        };
        if !rest.is_empty() {
            match self.launch(card, programs, inputs, &rest, counters, LaunchPass::Exact) {
                Ok(exact) => done.exact = Some(exact),
                Err(error) => done.error = Some(error),
            }
        }
        Ok(done)
    }

    fn launch(
        &self,
        card: &mut dyn Card,
        programs: &Programs,
        inputs: &Inputs,
        jobs: &[[u32; 4]],
        counting: Counting,
        pass: LaunchPass,
    ) -> Result<Launched, CardError> {
        let settings = &self.settings;
        let (exact, arena_bytes, margin) = match pass {
            LaunchPass::First => (0, settings.arena_bytes, MARGIN),
            // Those that come here are the long ones.
            LaunchPass::Exact => (EXACT, settings.large_arena_bytes, 8),
        };
        let words = jobs.len().saturating_mul(self.words_per_job);
        let output_words = words.saturating_mul(margin);
        let values = settings.values;
        let steps = 3 * programs.steps();
        let (ops, counters) = match counting {
            Counting::Nothing => (false, 0),
            Counting::Steps if settings.ops => (true, steps + 2 * op_count()),
            Counting::Steps => (false, steps),
        };
        let batch = Batch {
            programs: programs.words(),
            programs_id: programs.id(),
            inputs: inputs.words(),
            inputs_id: inputs.id(),
            jobs: jobs.as_flattened(),
            output_words: output_words.clamp(LEAST_OUTPUT, MOST_OUTPUT),
            flags: exact | if values { FULL_VALUES } else { 0 } | if ops { TIMED } else { 0 },
            fuel: settings.fuel,
            arena_bytes,
            counters,
            op_counters: if ops { steps } else { 0 },
        };
        let launched = card.run(&batch)?;
        if launched.results.len() != 4 * jobs.len() || launched.counters.len() != batch.counters {
            return Err(CardError::Launch(
                "it gave back another number of results".into(),
            ));
        }
        Ok(launched)
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Nothing.
    Nothing,
    /// What each step did, and each primitive if the settings say so.
    Steps,
}

/// How many primitives there are counters for: all, and the one that stands for no primitive.
fn op_count() -> usize {
    batt_dsl::OpId::every().count() + 1
}
