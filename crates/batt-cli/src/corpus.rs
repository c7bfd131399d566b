//! The embedded puzzles, ready to run and to time.

use std::time::{Duration, Instant};

use batt_arc::{Dataset, Task, corpus};
use batt_dsl::Workspace;
use batt_engine::{Compiled, Job, JobResult, Options, Sample, run_job};
use batt_lang::{Program, SolverFile};

use crate::interrupt;

/// The puzzles and their solvers.
pub struct Corpus {
    data: Dataset,
    file: SolverFile,
    /// One for each program of the file.
    compiled: Vec<Compiled>,
}

/// A puzzle with its solver.
pub struct Puzzle<'a> {
    pub task: &'a Task,
    pub program: &'a Program,
    /// A run for each pair, demonstrations first.
    pub jobs: Vec<Job<'a>>,
}

impl Corpus {
    /// Loads what is built in.
    pub fn load() -> Corpus {
        let file = SolverFile::parse(corpus::SOLVERS, "corpus/solvers.py");
        Corpus {
            data: corpus::tasks(),
            compiled: file.programs.iter().map(Compiled::new).collect(),
            file,
        }
    }

    /// The solvers.
    pub fn programs(&self) -> &[Program] {
        &self.file.programs
    }

    /// Every input, with what is expected.
    pub fn samples(&self) -> Vec<Sample<'_>> {
        samples(&self.data)
    }

    /// All puzzles, sorted by id.
    pub fn puzzles(&self) -> Vec<Puzzle<'_>> {
        let solvers = self.file.programs.iter().zip(&self.compiled);
        let puzzle = |(program, compiled)| {
            let task = self.data.task_of(Program::name(program))?;
            let jobs = task.pairs().map(|(_, pair)| Job {
                program: compiled,
                sample: Sample::new(task, pair),
            });
            Some(Puzzle {
                task,
                program,
                jobs: jobs.collect(),
            })
        };
        solvers.filter_map(puzzle).collect()
    }
}

/// Every input of some tasks, with what is expected.
pub fn samples(data: &Dataset) -> Vec<Sample<'_>> {
    let pairs = data
        .iter()
        .flat_map(|task| task.pairs().map(move |(_, pair)| Sample::new(task, pair)));
    pairs.collect()
}

impl Puzzle<'_> {
    /// Runs the solver on every pair.
    pub fn run(&self, workspace: &mut Workspace, options: &Options) -> Vec<JobResult> {
        let run = |job| run_job(workspace, job, options);
        self.jobs.iter().map(run).collect()
    }
}

/// How long the solvers of the corpus take on one core.
pub struct Timing {
    /// Median microseconds of one run, puzzle by puzzle.
    pub micros: Vec<f64>,
    /// How many runs were timed.
    pub runs: usize,
    /// How long they took together.
    pub time: Duration,
}

/// Runs the whole corpus again and again, for about this long.
pub fn measure(puzzles: &[Puzzle<'_>], options: &Options, at_least: Duration) -> Timing {
    let mut workspace = Workspace::new();
    let mut samples = vec![Vec::new(); puzzles.len()];
    let mut runs = 0;
    let started = Instant::now();
    // The first round warms caches and is not counted in the medians.
    let mut warm = false;
    while started.elapsed() < at_least || !warm {
        for (puzzle, samples) in puzzles.iter().zip(&mut samples) {
            let start = Instant::now();
            for job in &puzzle.jobs {
                std::hint::black_box(run_job(&mut workspace, job, options));
            }
            let micros = start.elapsed().as_secs_f64() * 1e6 / puzzle.jobs.len() as f64;
            if warm {
                samples.push(micros);
            }
            runs += puzzle.jobs.len();
        }
        warm = true;
        if interrupt::happened() {
            break;
        }
    }
    Timing {
        micros: samples.iter_mut().map(|s| median(s)).collect(),
        runs,
        time: started.elapsed(),
    }
}

/// The middle of some numbers; 0 of none.
pub fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    match samples.len() {
        0 => 0.0,
        n if n % 2 == 1 => samples[n / 2],
        n => (samples[n / 2 - 1] + samples[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_puzzle_has_its_solver() {
        let corpus = Corpus::load();
        assert!(corpus.file.is_clean());
        let puzzles = corpus.puzzles();
        assert_eq!(puzzles.len(), corpus.data.len());
        assert!(puzzles.iter().all(|p| p.jobs.len() == p.task.pair_count()));
    }

    #[test]
    fn medians() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
