//! Merging: adds the differs on the input, then the solvers, which take turns of one step each.

use std::collections::HashSet;

use batt_dsl::Dialect;

use crate::batt::{Batt, DifferScore, INPUT, Output, PARAMS};
use crate::program::{Operand, Program, ProgramBuilder, StepId, StepKind};
use crate::source::Span;

use super::script::{Script, follow};
use super::share::{MAX_STEPS, Occurrences, Steps};
use super::simplify::Simplifier;
use super::{CardDonor, CardError, CardOptions, MergeStats};

/// A merged batt, with statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct CardMerged {
    /// The batt. Its steps are numbered from 1 without gaps. A candidate or score that is not a
    /// step (a solver that returns its input) has the number 0.
    pub batt: Batt,
    /// Statistics of the merge.
    pub stats: MergeStats,
}

/// Merges solvers into one batt, with differs on the input and on each candidate.
///
/// The differs on the input come first. Then the solvers take turns and add one step each. A
/// complete solver is followed at once by its output and by the differs that compare it. If several
/// differs have the same name, only the first is used.
///
/// Time and memory grow with the number of steps, not with the size of the expressions they stand
/// for.
pub fn merge(
    solvers: &[CardDonor<'_>],
    differs: &[Program],
    options: &CardOptions,
) -> Result<CardMerged, CardError> {
    let dialect = common_dialect(solvers, differs)?;
    let mut ids = HashSet::with_capacity(solvers.len());
    if let Some(twice) = solvers.iter().find(|donor| !ids.insert(&donor.id)) {
        return Err(CardError::DuplicateDonor {
            id: twice.id.clone(),
        });
    }
    let mut solvers: Vec<&CardDonor> = solvers.iter().collect();
    // The largest task first, solvers without a size last, equal ones as given.
    solvers.sort_by_key(|donor| std::cmp::Reverse(donor.size));
    let mut names = HashSet::new();
    let differs = differs.iter().filter(|differ| names.insert(differ.name()));
    let differs: Vec<Script> = differs.map(Script::of).collect::<Result<_, _>>()?;
    let scripts = solvers.iter().map(|donor| Script::of(donor.program));
    let scripts: Vec<Script> = scripts.collect::<Result<_, _>>()?;

    let solver_steps = scripts.iter().map(|script| script.lines.len()).sum();
    let before = total(&scripts, &differs)?;
    let plain = BattBuilder::new(dialect).interleave(&solvers, &scripts, &differs);
    let shared = plain.steps.kinds.len();
    let untouched = !(options.fold || options.resolve || options.drop_dead);
    let merged = if untouched {
        plain
    } else {
        drop(plain);
        let mut simplifier = Simplifier::new(dialect, options);
        let mut simplified = |scripts: Vec<Script>| -> Vec<Script> {
            scripts
                .into_iter()
                .map(|script| simplifier.simplify(script))
                .collect()
        };
        let (scripts, differs) = (simplified(scripts), simplified(differs));
        total(&scripts, &differs)?;
        BattBuilder::new(dialect).interleave(&solvers, &scripts, &differs)
    };
    let batt = merged.finish(dialect, options);
    let stats = MergeStats::of(&batt, solver_steps, before, shared);
    Ok(CardMerged { batt, stats })
}

/// Returns the most steps that the batt can have: the steps of all solvers, and the steps of all
/// differs once for each use.
fn total(solvers: &[Script], differs: &[Script]) -> Result<usize, CardError> {
    let lines = |scripts: &[Script]| -> u64 {
        let each = scripts.iter().map(|script| script.lines.len() as u64);
        each.sum()
    };
    let times = solvers.len() as u64 + 1;
    let steps = lines(solvers).saturating_add(lines(differs).saturating_mul(times));
    if steps >= MAX_STEPS {
        return Err(CardError::TooManySteps { steps });
    }
    Ok(steps as usize)
}

/// Returns the dialect that all programs share.
fn common_dialect(solvers: &[CardDonor<'_>], differs: &[Program]) -> Result<Dialect, CardError> {
    let programs = || {
        let solvers = solvers.iter().map(|donor| donor.program);
        solvers.chain(differs)
    };
    // The most frequent dialect. A tie goes to the dialect of the first program; without programs,
    // the result is arc-dsl.
    let first = programs().next().map(Program::dialect).unwrap_or_default();
    let frequency = |dialect| {
        let same = programs().filter(|p| p.dialect() == dialect).count();
        (same, dialect == first)
    };
    let [a, b, c] = Dialect::ALL;
    let most = [a, b, c].into_iter().max_by_key(|&d| frequency(d));
    let dialect = most.unwrap_or_default();
    let odd: Vec<(String, Dialect)> = programs()
        .filter(|program| program.dialect() != dialect)
        .map(|program| (program.name().to_owned(), program.dialect()))
        .collect();
    match odd.is_empty() {
        true => Ok(dialect),
        false => Err(CardError::MixedDialects { dialect, odd }),
    }
}

/// A solver that is taking its turns.
struct Turn<'s> {
    donor: &'s CardDonor<'s>,
    script: &'s Script,
    /// The values, in the batt, of the steps that the solver has added so far.
    values: Vec<Operand>,
    made: Occurrences,
}

/// A batt under construction.
struct BattBuilder {
    steps: Steps,
    outputs: Vec<Output>,
    scores: Vec<DifferScore>,
}

impl BattBuilder {
    fn new(dialect: Dialect) -> BattBuilder {
        BattBuilder {
            steps: Steps::new(dialect),
            outputs: Vec::new(),
            scores: Vec::new(),
        }
    }

    fn interleave(
        mut self,
        solvers: &[&CardDonor<'_>],
        scripts: &[Script],
        differs: &[Script],
    ) -> BattBuilder {
        self.compare(differs, &INPUT, None, &Occurrences::new());
        let turns = solvers.iter().zip(scripts).map(|(donor, script)| Turn {
            donor,
            script,
            values: Vec::with_capacity(script.lines.len()),
            made: Occurrences::new(),
        });
        let mut turns: Vec<Turn> = turns.collect();
        while !turns.is_empty() {
            turns.retain_mut(|turn| {
                let at = turn.values.len();
                if let Some(kind) = turn.script.lines.get(at) {
                    let value = self.line(kind, &turn.values, &INPUT, &mut turn.made, None);
                    turn.values.push(value);
                }
                let complete = turn.values.len() == turn.script.lines.len();
                if complete {
                    self.complete(turn, differs);
                }
                !complete
            });
        }
        self
    }

    /// Adds one step of a program. `values` are the values in the batt of its earlier steps.
    fn line(
        &mut self,
        kind: &StepKind,
        values: &[Operand],
        input: &Operand,
        made: &mut Occurrences,
        earlier: Option<&Occurrences>,
    ) -> Operand {
        let mut kind = kind.clone();
        for operand in kind.operands_mut() {
            place(operand, values, input);
        }
        self.steps.add(kind, made, earlier)
    }

    /// Adds the output of a complete solver, and the differs that compare it.
    fn complete(&mut self, turn: &Turn<'_>, differs: &[Script]) {
        let mut value = turn.script.result.clone();
        place(&mut value, &turn.values, &INPUT);
        self.outputs.push(Output {
            number: number(&value),
            mutated: turn.donor.mutated,
            donor: turn.donor.id.clone(),
            value: value.clone(),
            steps: step_set(&turn.values, &[]),
            after: self.after(),
        });
        self.compare(differs, &value, Some(&turn.donor.id), &turn.made);
    }

    /// Adds the differs on a grid: the input, or the last output.
    fn compare(
        &mut self,
        differs: &[Script],
        grid: &Operand,
        donor: Option<&str>,
        made: &Occurrences,
    ) {
        for differ in differs {
            let mut own = Occurrences::new();
            let mut values = Vec::with_capacity(differ.lines.len());
            for kind in &differ.lines {
                let value = self.line(kind, &values, grid, &mut own, Some(made));
                values.push(value);
            }
            let mut value = differ.result.clone();
            place(&mut value, &values, grid);
            let solver = donor.and_then(|_| self.outputs.last());
            let solver = solver.map_or(&[][..], |output| &output.steps);
            self.scores.push(DifferScore {
                number: number(&value),
                donor: donor.map(str::to_owned),
                differ: differ.name.clone(),
                value,
                steps: step_set(&values, solver),
                after: self.after(),
            });
        }
    }

    fn after(&self) -> u32 {
        self.steps.kinds.len() as u32
    }

    fn finish(self, dialect: Dialect, options: &CardOptions) -> Batt {
        let mut program = ProgramBuilder::new("batt", PARAMS).in_dialect(dialect);
        let numbers: Vec<u32> = (1..=self.after()).collect();
        for (kind, number) in self.steps.kinds.into_iter().zip(&numbers) {
            program.push(kind, Some(format!("t{number}")), Span::default());
        }
        Batt {
            program: program.finish(Batt::RESULT),
            numbers,
            outputs: self.outputs,
            scores: self.scores,
            on_error: options.on_error,
        }
    }
}

/// Replaces an operand of a script with its value in the batt.
fn place(operand: &mut Operand, values: &[Operand], input: &Operand) {
    if *operand == INPUT {
        operand.clone_from(input);
    } else {
        follow(operand, values);
    }
}

/// Returns the number of a value in the text; 0 if the value is not a step.
fn number(value: &Operand) -> u32 {
    match value {
        Operand::Step(id) => id.0 + 1,
        _ => 0,
    }
}

/// Returns the steps among `values` and all of `more`, in ascending order.
fn step_set(values: &[Operand], more: &[StepId]) -> Vec<StepId> {
    let steps = values.iter().filter_map(|value| match value {
        Operand::Step(id) => Some(*id),
        _ => None,
    });
    let mut steps: Vec<StepId> = steps.chain(more.iter().copied()).collect();
    steps.sort_unstable();
    steps.dedup();
    steps.shrink_to_fit();
    steps
}
