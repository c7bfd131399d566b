//! Single runs of a solver, with their steps.

use batt_arc::{Grid, Pair, PairRef, Task};
use batt_dsl::{Limits, OwnedValue, Workspace};
use batt_engine::{
    EvalOptions, Job, JobResult, RunError, Sample, TracedStep, Values, Verdict, explain_step,
    run_job,
};

use crate::solvers::Solver;

/// The input of a run: a grid, the demonstrations of its task, and the expected output if it is
/// known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInput {
    /// The input grid.
    pub grid: Grid,
    /// The demonstrations, for solvers that use them.
    pub demos: Vec<Pair>,
    /// The expected output. Solvers do not see it.
    pub expected: Option<Grid>,
}

impl RunInput {
    /// The input of a pair of a task.
    pub fn new(task: &Task, pair: &Pair) -> RunInput {
        RunInput {
            grid: pair.input.clone(),
            demos: task.train.clone(),
            expected: pair.output.clone(),
        }
    }

    /// The input of a pair that is given by its name, if the task has that pair.
    pub fn of_pair(task: &Task, pair: PairRef) -> Option<RunInput> {
        Some(RunInput::new(task, task.pair(pair)?))
    }

    fn job<'a>(&'a self, solver: &'a Solver) -> Job<'a> {
        Job {
            program: solver.compiled(),
            sample: Sample {
                demos: &self.demos,
                input: &self.grid,
                expected: self.expected.as_ref(),
            },
        }
    }
}

impl From<Grid> for RunInput {
    /// Wraps a grid without demonstrations and without a known output.
    fn from(grid: Grid) -> RunInput {
        RunInput {
            grid,
            demos: Vec::new(),
            expected: None,
        }
    }
}

impl Solver {
    /// Runs the solver on a grid, within the default limits.
    ///
    /// ```
    /// use batt::{Grid, Solvers};
    ///
    /// let solvers = Solvers::parse("def flip(I): return hmirror(I)", "flip.py");
    /// let value = solvers.get("flip").unwrap().run(&Grid::from_rows(&[[1], [2]])?);
    /// assert_eq!(value.unwrap().to_string(), "((2,), (1,))");
    /// # Ok::<(), batt::GridError>(())
    /// ```
    pub fn run(&self, input: &Grid) -> Result<OwnedValue, RunError> {
        let input = RunInput::from(input.clone());
        let result = self.run_on(&input, &Limits::default());
        match (result.verdict, result.value) {
            (Verdict::Failed(error), _) => Err(error),
            (_, value) => Ok(value.expect("all values are asked for")),
        }
    }

    /// Runs the solver and compares its value with the expected output.
    pub fn run_on(&self, input: &RunInput, limits: &Limits) -> JobResult {
        let options = EvalOptions {
            limits: *limits,
            values: Values::All,
            ..EvalOptions::default()
        };
        run_job(&mut Workspace::new(), &input.job(self), &options)
    }

    /// Runs the solver and returns the value of every step that succeeds.
    ///
    /// ```
    /// use batt::{Grid, Limits, RunInput, Solvers};
    ///
    /// let solvers = Solvers::parse("def f(I):\n    x = hmirror(I)\n    return crop(x, 1, 2)\n", "f.py");
    /// let solver = solvers.get("f").unwrap();
    /// let input = RunInput::from(Grid::from_rows(&[[1], [2]])?);
    /// let steps = solver.trace(&input, &Limits::default());
    /// assert_eq!(steps.len(), 1, "`crop` fails");
    /// assert_eq!(steps[0].call, "hmirror(I)");
    /// # Ok::<(), batt::GridError>(())
    /// ```
    pub fn trace(&self, input: &RunInput, limits: &Limits) -> Vec<TracedStep> {
        // A separate run, so that watching cannot change the result.
        batt_engine::trace(self.program(), &input.job(self), limits)
    }

    /// Quotes the line of the failing step and describes its arguments, from a trace of the run.
    /// Returns `None` if no single step failed, as when the run's value is too large to return.
    ///
    /// ```
    /// use batt::{Grid, Limits, RunInput, Solvers, Verdict};
    ///
    /// let text = "def f(I):\n    x1 = hmirror(I)\n    O = crop(x1, ONE, TWO)\n    return O\n";
    /// let solvers = Solvers::parse(text, "f.py");
    /// let (solver, limits) = (solvers.get("f").unwrap(), Limits::default());
    /// let input = RunInput::from(Grid::from_rows(&[[1], [2]])?);
    /// let Verdict::Failed(error) = solver.run_on(&input, &limits).verdict else {
    ///     panic!("a number is not a location");
    /// };
    /// let steps = solver.trace(&input, &limits);
    /// let why = solver.explain(&error, &steps).unwrap();
    /// assert!(why.contains("O = crop(x1, ONE, TWO)"), "{why}");
    /// # Ok::<(), batt::GridError>(())
    /// ```
    pub fn explain(&self, error: &RunError, steps: &[TracedStep]) -> Option<String> {
        let failed = error.step?;
        Some(explain_step(self.program(), failed, steps, self.source()))
    }
}
