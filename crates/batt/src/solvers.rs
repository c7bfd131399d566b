//! Solvers: loaded from files or text, compiled once, shared between threads.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use batt_arc::corpus;
use batt_dsl::Dialect;
use batt_engine::{Compiled, ParamRole};
use batt_lang::{Diagnostic, Program, SolverFile, SourceFile, print_file};

use crate::error::{Error, Result};

/// A solver, ready to run. Clones share the program.
#[derive(Clone)]
pub struct Solver(Arc<SolverParts>);

struct SolverParts {
    program: Program,
    /// Compiled when it runs for the first time: merging and checking do not need it.
    compiled: OnceLock<Compiled>,
    roles: Vec<ParamRole>,
    source: Arc<SourceFile>,
}

impl Solver {
    /// Makes a program a solver, such as one that was evolved or cut out of a batt. Its file is the
    /// canonical text.
    ///
    /// ```
    /// use batt::card::{extract_donor, merge};
    /// use batt::{Grid, Solver, Solvers};
    ///
    /// let batt = merge(&Solvers::parse("def solve_a(I): return hmirror(I)", "a.py"), None)?.batt;
    /// let solver = Solver::new(&extract_donor(&batt, "a", None)?.program)?;
    /// let input = Grid::from_rows(&[[1], [2]]).unwrap();
    /// assert_eq!(solver.run(&input).unwrap().to_string(), "((2,), (1,))");
    /// # Ok::<(), batt::Error>(())
    /// ```
    pub fn new(program: &Program) -> Result<Solver> {
        let name = program.name();
        let text = program.to_string();
        let file = SolverFile::parse_in(&text, name, Some(program.dialect()));
        if !file.is_clean() || file.program(name).is_none() {
            return Err(Error::request(
                format_args!("'{name}' cannot be the name of a solver"),
                "choose a name that Python and the library do not use, of letters, digits and _",
            ));
        }
        let solver = Solvers::from_files(vec![file]).get(name).cloned();
        solver.ok_or_else(|| {
            Error::request(
                format_args!("'{name}' takes ({})", program.params().join(", ")),
                "a solver takes one grid, or those of S, I and C that it needs",
            )
        })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.0.program
    }

    /// Returns the name of the function.
    pub fn name(&self) -> &str {
        self.0.program.name()
    }

    /// Returns the file of the solver, with its text.
    pub fn source(&self) -> &SourceFile {
        &self.0.source
    }

    /// Returns the name of the file of the solver.
    pub fn file(&self) -> &str {
        self.0.source.name()
    }

    /// Returns the text of the function as it is in the file.
    pub fn text(&self) -> String {
        let lines = self.program().lines();
        let lines = (lines.first..=lines.last).map(|line| self.source().line(line));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    /// Returns the role of each parameter.
    pub fn roles(&self) -> &[ParamRole] {
        &self.0.roles
    }

    /// Returns the compiled program.
    pub(crate) fn compiled(&self) -> &Compiled {
        let compiled = &self.0.compiled;
        compiled.get_or_init(|| Compiled::new(&self.0.program))
    }
}

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Solver({} of {})", self.name(), self.file())
    }
}

/// The solvers of some files, and the diagnostics of the files. Clones share them.
///
/// ```
/// let solvers = batt::Solvers::parse("def solve_a(I):\n    return hmiror(I)\n", "a.py");
/// assert!(solvers.is_empty());
/// let found = solvers.check();
/// assert!(found[0].to_string().contains("did you mean 'hmirror'?"));
/// ```
#[derive(Clone)]
pub struct Solvers(Arc<SolversParts>);

struct SolversParts {
    files: Vec<SolverFile>,
    solvers: Vec<Solver>,
}

impl Solvers {
    /// Loads solver files, in a given dialect or in the detected dialect of each file. A function
    /// that cannot be loaded is left out; [`Solvers::diagnostics`] says why.
    pub fn load<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        dialect: Option<Dialect>,
    ) -> Result<Solvers> {
        let files = paths
            .into_iter()
            .map(|path| SolverFile::load(path.as_ref(), dialect).map_err(Error::from));
        Ok(Solvers::from_files(files.collect::<Result<Vec<_>>>()?))
    }

    /// Parses a text as a solver file with this name.
    pub fn parse(text: &str, name: &str) -> Solvers {
        Solvers::from_files(vec![SolverFile::parse(text, name)])
    }

    /// Returns the solvers of the puzzles that come with the library.
    pub fn embedded() -> Solvers {
        Solvers::parse(corpus::SOLVERS, "corpus/solvers.py")
    }

    /// Collects the solvers of parsed files.
    pub fn from_files(files: Vec<SolverFile>) -> Solvers {
        let mut solvers = Vec::new();
        for file in &files {
            let source = Arc::new(file.source.clone());
            solvers.extend(file.programs.iter().filter_map(|program| {
                Some(Solver(Arc::new(SolverParts {
                    roles: ParamRole::of(program.params())?,
                    compiled: OnceLock::new(),
                    program: program.clone(),
                    source: Arc::clone(&source),
                })))
            }));
        }
        Solvers(Arc::new(SolversParts { files, solvers }))
    }

    /// Returns the solvers, in the order of the files.
    pub fn iter(&self) -> std::slice::Iter<'_, Solver> {
        self.0.solvers.iter()
    }

    /// Returns the number of solvers.
    pub fn len(&self) -> usize {
        self.0.solvers.len()
    }

    /// Returns whether there are no solvers.
    pub fn is_empty(&self) -> bool {
        self.0.solvers.is_empty()
    }

    /// Returns the solver with a name.
    pub fn get(&self, name: &str) -> Option<&Solver> {
        self.iter().find(|solver| solver.name() == name)
    }

    /// Returns the solver at a position.
    pub(crate) fn at(&self, position: usize) -> &Solver {
        &self.0.solvers[position]
    }

    /// Returns the files.
    pub fn files(&self) -> &[SolverFile] {
        &self.0.files
    }

    /// Returns whether every function of the files could be loaded.
    pub fn is_clean(&self) -> bool {
        self.0.files.iter().all(SolverFile::is_clean)
    }

    /// Returns the reasons why functions could not be loaded, and warnings about the files.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.files.iter().flat_map(|file| &file.diagnostics)
    }

    /// Returns all diagnostics of the files, including those that need an analysis of the programs:
    /// unused and repeated steps, calls that always fail, results that depend on the order of a
    /// set. They are in the order of the files and lines.
    pub fn check(&self) -> Vec<Diagnostic> {
        let of_file = |file: &SolverFile| {
            let mut found = file.diagnostics.clone();
            found.extend(file.check());
            found.sort_by_key(|found| (found.span.line, found.span.column));
            found
        };
        self.0.files.iter().flat_map(of_file).collect()
    }

    /// Returns the solvers in canonical form, as the text of one file. Comments are lost.
    ///
    /// ```
    /// let solvers = batt::Solvers::parse("def f(I): return hmirror(vmirror(I))", "f.py");
    /// assert!(
    ///     solvers
    ///         .format()
    ///         .ends_with("def f(I):\n    x1 = vmirror(I)\n    O = hmirror(x1)\n    return O\n")
    /// );
    /// ```
    pub fn format(&self) -> String {
        print_file(self.functions().map(|(program, _)| program))
    }

    /// Every function of the files that loaded, also those that cannot run on a task, with the name
    /// of its file; the solvers, if they were selected from others.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (&Program, &str)> {
        let of_files = self.0.files.iter().flat_map(|file| {
            let name = file.source.name();
            file.programs.iter().map(move |program| (program, name))
        });
        let selected = self.iter().filter(|_| self.0.files.is_empty());
        of_files.chain(selected.map(|solver| (solver.program(), solver.file())))
    }

    /// Returns functions that were loaded but take neither a grid nor `(S, I, C)`, so they cannot
    /// run on a task.
    pub fn left_out(&self) -> impl Iterator<Item = &Program> {
        let programs = self.0.files.iter().flat_map(|file| &file.programs);
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

impl FromIterator<Solver> for Solvers {
    /// A selection of solvers. It has no files, so there is nothing to check.
    fn from_iter<T: IntoIterator<Item = Solver>>(solvers: T) -> Solvers {
        Solvers(Arc::new(SolversParts {
            files: Vec::new(),
            solvers: solvers.into_iter().collect(),
        }))
    }
}

impl fmt::Debug for Solvers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Import;
    use crate::tasks::Tasks;

    #[test]
    fn a_selection_counts_as_files_do() {
        let all = Solvers::embedded();
        let selected: Solvers = all.iter().take(3).cloned().collect();
        assert_eq!(Import::new(&Tasks::embedded(), &selected).len(), 3);
        assert_eq!(Solvers::parse(&selected.format(), "again.py").len(), 3);
    }

    #[test]
    fn programs_that_cannot_run_on_a_task_are_no_solvers() {
        let file = SolverFile::parse("def f(a, b): return add(a, b)", "f.py");
        let program = &file.programs[0];
        assert!(Solver::new(program).is_err());
        let keyword = Solvers::parse("def f(I): return I", "f.py");
        let keyword = keyword.get("f").unwrap().program().clone().renamed("class");
        assert!(Solver::new(&keyword).is_err());
    }
}
