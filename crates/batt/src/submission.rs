//! Submissions: the answers of solvers to the tests of tasks.
//!
//! ```
//! use batt::submission::{Candidates, Draft, Submission, SubmissionScore};
//! use batt::{Control, Solvers, Tasks};
//!
//! let tasks = Tasks::embedded();
//! let mut candidates = Candidates::none(&tasks);
//! candidates.add_solvers(&Solvers::embedded());
//! let fillers = Submission::fillers(&tasks);
//! let (submission, summary) = candidates.answer(fillers, None, &Control::new(), |_| true);
//! assert_eq!(summary.tasks_solved, 65);
//!
//! let draft = Draft::from(&submission);
//! assert!(draft.check(&tasks).is_empty());
//! assert_eq!(SubmissionScore::new(&draft, &tasks).by_output(), 1.0);
//! # Ok::<(), batt::Error>(())
//! ```

mod file;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;

use batt_arc::submission::score_now;
use batt_arc::{DatasetError, Grid, Score, Task};
use batt_archive::Archive;
use batt_engine::{Compiled, EvalOptions, Job, JobResult, Sample, Values, evaluate};

pub use self::file::SubmissionFile;
pub use batt_arc::submission::{
    ATTEMPTS, Attempts, Chosen, Draft, Finding, Flaw, Guess, Submission, SubmissionScore,
    TaskScore, choose,
};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::solvers::{Solver, Solvers};
use crate::tasks::Tasks;

/// Loads a submission from any source. Its findings say what is wrong with it.
pub fn load(path: impl AsRef<Path>) -> Result<Draft> {
    let path = path.as_ref();
    Draft::load(path).map_err(|error| match error {
        DatasetError::Io { source, .. } => Error::file("read", path, source),
        DatasetError::FileTooLarge { .. } => {
            Error::request(error, "a submission has a few megabytes at most")
        }
        other => other.into(),
    })
}

/// Parses a text as a submission from any source. Messages use `name` as its file name.
pub fn parse(name: impl AsRef<Path>, text: &[u8]) -> Result<Draft> {
    Ok(Draft::from_json(name, text)?)
}

/// Solvers that are candidates for the tests of tasks.
pub struct Candidates {
    tasks: Tasks,
    of_task: Vec<Vec<Candidate>>,
    unreadable: usize,
}

/// A solver that may answer a test.
struct Candidate {
    program: Compiled,
    /// The score when it was archived. The task may have changed since.
    archived: Score,
}

/// The result of [`Candidates::answer`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerSummary {
    /// The number of solvers that ran.
    pub solvers: usize,
    /// The number of runs, on demonstrations and tests.
    pub runs: usize,
    /// The number of tasks with a solver that solves all demonstrations.
    pub tasks_solved: usize,
    /// The number of test inputs with at least one guess.
    pub answered: usize,
    /// The number of test inputs with two guesses.
    pub answered_twice: usize,
    /// The number of test inputs whose first attempt comes from a solver that solves all
    /// demonstrations.
    pub outputs_solved: usize,
}

impl fmt::Debug for Candidates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count: usize = self.of_task.iter().map(Vec::len).sum();
        write!(f, "Candidates({count} for {} tasks)", self.tasks())
    }
}

impl Candidates {
    /// Creates a set without candidates: every answer is a filler.
    pub fn none(tasks: &Tasks) -> Candidates {
        Candidates {
            of_task: tasks.iter().map(|_| Vec::new()).collect(),
            tasks: tasks.clone(),
            unreadable: 0,
        }
    }

    /// Takes the best solvers of each task from an archive. A damaged archive is an error.
    pub fn archived(tasks: &Tasks, archive: &Archive) -> Result<Candidates> {
        let mut candidates = Candidates::none(tasks);
        for archived in archive.candidates(tasks)? {
            candidates.unreadable += archived.unreadable;
            let solvers = archived.solvers.iter();
            candidates.of_task[archived.task].extend(solvers.map(|(program, score)| Candidate {
                program: Compiled::new(program),
                archived: *score,
            }));
        }
        Ok(candidates)
    }

    /// Adds solvers whose names tell their tasks.
    pub fn add_solvers(&mut self, solvers: &Solvers) {
        for solver in solvers {
            if let Some(at) = self.tasks.position_of(solver.name()) {
                self.add_at(at, solver);
            }
        }
    }

    /// Adds a solver of a task, whatever its name. Returns false if there is no such task, or if
    /// the task has no test.
    ///
    /// ```
    /// use batt::submission::Candidates;
    /// use batt::{Solvers, Tasks};
    ///
    /// let mut candidates = Candidates::none(&Tasks::embedded());
    /// let solvers = Solvers::parse("def f(I): return hmirror(I)", "f.py");
    /// assert!(candidates.add("1673c3ec", solvers.get("f").unwrap()));
    /// assert_eq!(candidates.tasks(), 1);
    /// ```
    pub fn add(&mut self, task: &str, solver: &Solver) -> bool {
        let at = self.tasks.position(task);
        at.is_some_and(|at| self.add_at(at, solver))
    }

    fn add_at(&mut self, at: usize, solver: &Solver) -> bool {
        if self.tasks.tasks()[at].test.is_empty() {
            return false;
        }
        self.of_task[at].push(Candidate {
            program: Compiled::new(solver.program()),
            archived: Score {
                size: solver.program().steps().len() as u32,
                ..Score::default()
            },
        });
        true
    }

    /// The number of tasks with a candidate.
    pub fn tasks(&self) -> usize {
        self.of_task.iter().filter(|all| !all.is_empty()).count()
    }

    /// Returns the number of archived solvers that this version cannot read.
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// Runs the candidates of each task on its demonstrations and tests, and puts the two best
    /// answers to each test into a submission. Test outputs are not used. `save` gets the
    /// submission after each task; if it returns `false`, `control` is cancelled.
    pub fn answer(
        &self,
        mut submission: Submission,
        threads: Option<NonZeroUsize>,
        control: &Control,
        mut save: impl FnMut(&Submission) -> bool,
    ) -> (Submission, AnswerSummary) {
        let tasks = || {
            let all = self.tasks.iter().zip(&self.of_task);
            all.filter(|(_, candidates)| !candidates.is_empty())
        };
        let jobs: Vec<Job<'_>> = tasks().flat_map(|(task, all)| jobs(task, all)).collect();
        let options = EvalOptions {
            threads,
            values: Values::All,
            ..EvalOptions::default()
        };
        let total = tasks().count();
        let mut summary = AnswerSummary::default();
        let mut done = 0;
        // Results come in the order of the jobs, and so task by task.
        let mut waiting = tasks();
        let mut current = waiting.next();
        let mut outcomes: Vec<Outcome> = Vec::new();
        evaluate(&jobs, &options, control.token(), |_, result| {
            let Some((task, candidates)) = current else {
                return;
            };
            outcomes.push(Outcome::of(result));
            if outcomes.len() < candidates.len() * task.pair_count() {
                return;
            }
            summary.add(task, candidates, &outcomes, &mut submission);
            outcomes.clear();
            current = waiting.next();
            done += 1;
            control.report(done, total);
            if !save(&submission) {
                current = None;
                control.token().cancel();
            }
        });
        (submission, summary)
    }
}

/// Returns a job for every candidate of a task on each demonstration and test.
fn jobs<'j>(task: &'j Task, candidates: &'j [Candidate]) -> impl Iterator<Item = Job<'j>> {
    let demos = task.train.iter().map(|pair| Sample::new(task, pair));
    // An answer must not depend on the expected output, even if the file contains it.
    let tests = task.test.iter().map(|pair| Sample {
        expected: None,
        ..Sample::new(task, pair)
    });
    let samples: Vec<Sample<'j>> = demos.chain(tests).collect();
    candidates.iter().flat_map(move |candidate| {
        let job = |sample| Job {
            program: &candidate.program,
            sample,
        };
        samples.clone().into_iter().map(job)
    })
}

/// The result of a run.
struct Outcome {
    right: bool,
    output: Option<Grid>,
}

impl Outcome {
    fn of(result: JobResult) -> Outcome {
        Outcome {
            right: result.verdict.is_right(),
            output: result.output(),
        }
    }
}

impl AnswerSummary {
    /// Chooses the answers to a task from the outcomes, which are in the order of the candidates.
    fn add(
        &mut self,
        task: &Task,
        candidates: &[Candidate],
        outcomes: &[Outcome],
        submission: &mut Submission,
    ) {
        self.solvers += candidates.len();
        self.runs += outcomes.len();
        let mut guesses: Vec<Vec<Guess>> = vec![Vec::new(); task.test.len()];
        for (candidate, outcomes) in candidates.iter().zip(outcomes.chunks(task.pair_count())) {
            let (demos, tests) = outcomes.split_at(task.train.len());
            let solved = demos.iter().filter(|outcome| outcome.right).count();
            let score = score_now(&candidate.archived, solved, demos.len());
            for (guesses, outcome) in guesses.iter_mut().zip(tests) {
                guesses.extend(outcome.output.clone().map(|output| Guess { output, score }));
            }
        }
        let mut solved = false;
        for (test, guesses) in guesses.iter().enumerate() {
            let chosen = choose(guesses);
            solved |= chosen.solves_demos;
            self.answered += usize::from(chosen.guessed >= 1);
            self.answered_twice += usize::from(chosen.guessed >= 2);
            self.outputs_solved += usize::from(chosen.solves_demos);
            if chosen.guessed > 0 {
                submission.set(&task.id, test, chosen.attempts);
            }
        }
        self.tasks_solved += usize::from(solved);
    }
}
