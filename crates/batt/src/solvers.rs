//! Solvers: read from files or text, compiled once, shared between threads.

use std::path::Path;
use std::sync::Arc;

use batt_arc::corpus;
use batt_dsl::Dialect;
use batt_engine::{Compiled, ParamRole};
use batt_lang::{Diagnostic, Program, SolverFile};

use crate::error::{Error, Result};

/// A solver, ready to run. Clones share the program.
#[derive(Clone)]
pub struct Solver {
    program: Arc<Program>,
    compiled: Arc<Compiled>,
    file: Arc<str>,
}

impl Solver {
    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The name of the function.
    pub fn name(&self) -> &str {
        self.program.name()
    }

    /// The file it is from.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The program, ready to run.
    pub(crate) fn compiled(&self) -> &Compiled {
        &self.compiled
    }
}

/// The solvers of some files, and what is wrong with those files. Clones share them.
///
/// ```
/// let solvers = batt::Solvers::parse("def solve_a(I):\n    return hmiror(I)\n", "a.py");
/// assert!(solvers.is_empty());
/// assert!(solvers.files()[0].diagnostics[0].to_string().contains("did you mean 'hmirror'?"));
/// ```
#[derive(Clone)]
pub struct Solvers {
    files: Arc<[SolverFile]>,
    solvers: Arc<[Solver]>,
}

impl Solvers {
    /// Reads solver files, in a dialect or in the one that each seems to be written in. A function that cannot be
    /// loaded is not there; [`Solvers::files`] says why.
    pub fn load<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        dialect: Option<Dialect>,
    ) -> Result<Solvers> {
        let files = paths
            .into_iter()
            .map(|path| SolverFile::load(path.as_ref(), dialect).map_err(Error::from));
        Ok(Solvers::from_files(files.collect::<Result<Vec<_>>>()?))
    }

    /// Reads a text as a solver file of a name.
    pub fn parse(text: &str, name: &str) -> Solvers {
        Solvers::from_files(vec![SolverFile::parse(text, name)])
    }

    /// The solvers of the puzzles that come with the library.
    pub fn embedded() -> Solvers {
        Solvers::parse(corpus::SOLVERS, "corpus/solvers.py")
    }

    /// The solvers of files that have been read.
    pub fn from_files(files: Vec<SolverFile>) -> Solvers {
        let mut solvers = Vec::new();
        for file in &files {
            let name: Arc<str> = file.source.name().into();
            let runs = |program: &&Program| ParamRole::of(program.params()).is_some();
            solvers.extend(file.programs.iter().filter(runs).map(|program| Solver {
                compiled: Arc::new(Compiled::new(program)),
                program: Arc::new(program.clone()),
                file: Arc::clone(&name),
            }));
        }
        Solvers {
            files: files.into(),
            solvers: solvers.into(),
        }
    }

    /// The solvers, in the order of the files.
    pub fn iter(&self) -> std::slice::Iter<'_, Solver> {
        self.solvers.iter()
    }

    /// The number of solvers.
    pub fn len(&self) -> usize {
        self.solvers.len()
    }

    /// Returns whether there is no solver.
    pub fn is_empty(&self) -> bool {
        self.solvers.is_empty()
    }

    /// The solver of a name.
    pub fn get(&self, name: &str) -> Option<&Solver> {
        self.solvers.iter().find(|solver| solver.name() == name)
    }

    /// The files, with what is wrong with each.
    pub fn files(&self) -> &[SolverFile] {
        &self.files
    }

    /// What is wrong with the files, and remarks about them.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.files.iter().flat_map(|file| &file.diagnostics)
    }

    /// Functions that loaded but take neither a grid nor `(S, I, C)`, so they cannot run on a task.
    pub fn left_out(&self) -> impl Iterator<Item = &Program> {
        let programs = self.files.iter().flat_map(|file| &file.programs);
        programs.filter(|program| ParamRole::of(program.params()).is_none())
    }
}

impl<'s> IntoIterator for &'s Solvers {
    type Item = &'s Solver;
    type IntoIter = std::slice::Iter<'s, Solver>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
