//! Measures the gain of sharing steps: the same solvers one by one and merged, on the same samples,
//! on one thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;
use std::time::Duration;

use anyhow::Result;
use batt_dsl::{Fault, Limits, Run, Workspace};
use batt_engine::{
    BattEntry, BattWorker, Compiled, CompiledBatt, EvalOptions, Goal, Job, Sample, StepCount,
    Verdict, judge, run_job,
};
use batt_lang::Batt;
use batt_lang::card::CardDonor;

use super::{Agreement, Baseline, Workload};
use crate::corpus::merged;
use crate::turns::{Side, Times, take_turns};

/// A batt with the buffers that a thread reuses between runs.
pub struct Runner {
    batt: CompiledBatt,
    worker: BattWorker,
    counts: Vec<StepCount>,
}

impl Runner {
    pub fn new(batt: &Batt) -> Runner {
        let batt = CompiledBatt::new(batt);
        Runner {
            counts: vec![StepCount::default(); batt.len()],
            batt,
            worker: BattWorker::default(),
        }
    }

    /// Runs the batt on a sample, and returns the results of `look` for all entries.
    pub fn run<T>(
        &mut self,
        sample: &Sample<'_>,
        limits: &Limits,
        look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Vec<T> {
        let (worker, counts) = (&mut self.worker, &mut self.counts);
        self.batt
            .run(worker, sample, Goal::Solve, limits, counts, look)
    }

    /// Runs the batt, and returns the verdict on each candidate.
    pub fn verdicts(&mut self, sample: &Sample<'_>, limits: &Limits) -> Vec<Verdict> {
        let outputs = self.batt.outputs();
        let verdicts = self.run(sample, limits, |run, entry| {
            verdict_of(run, entry, outputs, sample)
        });
        verdicts.into_iter().flatten().collect()
    }

    /// Runs the batt, and returns the hashes of both lists.
    fn entries(&mut self, sample: &Sample<'_>, limits: &Limits) -> Entries {
        let mut outputs = self.run(sample, limits, hash_of);
        let scores = outputs.split_off(self.batt.outputs());
        Entries { outputs, scores }
    }
}

/// Compares separate programs with one batt of all solvers.
pub fn plain(
    donors: &[CardDonor<'_>],
    samples: &[Sample<'_>],
    options: &EvalOptions,
    time: Duration,
    agreement: &mut Agreement,
) -> Result<Vec<Workload>> {
    let merged = merged(donors, false)?;
    let place = places(donors, &merged.batt);
    let compiled: Vec<Compiled> = donors.iter().map(|d| Compiled::new(d.program)).collect();
    let workspace = RefCell::new(Workspace::new());
    let runner = RefCell::new(Runner::new(&merged.batt));
    let alone = |sample: usize, program: usize| {
        let job = Job {
            program: &compiled[program],
            sample: samples[sample],
        };
        run_job(&mut workspace.borrow_mut(), &job, options).verdict
    };
    let together = |sample: usize| {
        let mut runner = runner.borrow_mut();
        runner.verdicts(&samples[sample], &options.limits)
    };
    let one_by_one: Side<'_> = Box::new(|sample| {
        for program in 0..compiled.len() {
            black_box(alone(sample, program));
        }
    });
    let one_batt: Side<'_> = Box::new(|sample| {
        black_box(together(sample));
    });
    let first = |sample: usize| {
        for (k, verdict) in together(sample).iter().enumerate() {
            let donor = place[k];
            agreement.verdicts(&donors[donor].id, sample, &alone(sample, donor), verdict);
        }
    };
    let times = take_turns(samples.len(), time, first, &mut [one_by_one, one_batt]);
    let steps: usize = donors.iter().map(|d| d.program.steps().len()).sum();
    Ok(workloads(
        &times,
        ["one by one", "one batt"],
        [steps, merged.batt.program.steps().len()],
    ))
}

/// Compares batts of one solver each with one batt of all solvers, all with the differs.
pub fn with_differs(
    donors: &[CardDonor<'_>],
    samples: &[Sample<'_>],
    limits: &Limits,
    time: Duration,
    agreement: &mut Agreement,
) -> Result<Vec<Workload>> {
    let all = merged(donors, true)?.batt;
    let place = places(donors, &all);
    let alone: Vec<Batt> = donors
        .iter()
        .map(|donor| Ok(merged(std::slice::from_ref(donor), true)?.batt))
        .collect::<Result<_>>()?;
    let runners: RefCell<Vec<Runner>> = RefCell::new(alone.iter().map(Runner::new).collect());
    let runner = RefCell::new(Runner::new(&all));
    let one_by_one: Side<'_> = Box::new(|sample| {
        for runner in runners.borrow_mut().iter_mut() {
            black_box(runner.verdicts(&samples[sample], limits));
        }
    });
    let one_batt: Side<'_> = Box::new(|sample| {
        black_box(runner.borrow_mut().verdicts(&samples[sample], limits));
    });
    let first = |number: usize| {
        let sample = &samples[number];
        let merged = runner.borrow_mut().entries(sample, limits);
        let mut runners = runners.borrow_mut();
        let parts: Vec<Entries> = runners
            .iter_mut()
            .map(|runner| runner.entries(sample, limits))
            .collect();
        for (k, output) in merged.outputs.iter().enumerate() {
            let donor = place[k];
            agreement.entries(&donors[donor].id, number, &parts[donor].outputs[0], output);
        }
        let mut scores: HashMap<(Option<&str>, &str), &Entry> = HashMap::new();
        for (batt, part) in alone.iter().zip(&parts) {
            for (score, value) in batt.scores.iter().zip(&part.scores) {
                scores.insert((score.donor.as_deref(), &score.differ), value);
            }
        }
        for (score, value) in all.scores.iter().zip(&merged.scores) {
            let key = (score.donor.as_deref(), score.differ.as_str());
            agreement.entries(&format!("{key:?}"), number, scores[&key], value);
        }
    };
    let times = take_turns(samples.len(), time, first, &mut [one_by_one, one_batt]);
    let steps: usize = alone.iter().map(|batt| batt.program.steps().len()).sum();
    Ok(workloads(
        &times,
        ["one by one, differs", "one batt, differs"],
        [steps, all.program.steps().len()],
    ))
}

/// The hash of an entry's value, or its fault.
pub type Entry = Result<u64, Fault>;

/// The hashes of both lists of a run.
struct Entries {
    outputs: Vec<Entry>,
    scores: Vec<Entry>,
}

/// Returns the hash of an entry's text. A hash suffices, since thousands are compared at a time.
pub fn hash_of<'r>(run: &mut Run<'r>, entry: BattEntry<'r>) -> Entry {
    let value = entry.value.map_err(|error| error.fault)?;
    let mut text = String::new();
    run.write_json(value, &mut text)?;
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    Ok(hasher.finish())
}

/// Judges a candidate. Returns `None` for a score.
pub fn verdict_of<'r>(
    run: &mut Run<'r>,
    entry: BattEntry<'r>,
    outputs: usize,
    sample: &Sample<'_>,
) -> Option<Verdict> {
    // The value of a score is only computed. There is no verdict on it.
    let value = black_box(entry.value);
    (entry.number < outputs).then(|| match value {
        Ok(value) => judge(run, value, sample.expected),
        Err(error) => Verdict::Failed(error),
    })
}

/// Returns the index of each candidate's donor.
fn places(donors: &[CardDonor<'_>], batt: &Batt) -> Vec<usize> {
    let places = donors.iter().enumerate().map(|(k, d)| (d.id.as_str(), k));
    let places: HashMap<&str, usize> = places.collect();
    let outputs = batt.outputs.iter();
    outputs
        .map(|output| places[output.donor.as_str()])
        .collect()
}

fn workloads(times: &Times, [slow, fast]: [&'static str; 2], steps: [usize; 2]) -> Vec<Workload> {
    let workload = |side: usize, name: &str| Workload {
        name: name.to_owned(),
        steps: Some(steps[side]),
        samples: times.samples(),
        rounds: times.rounds,
        mean: times.mean(side),
        median: Some(times.median(side)),
        baseline: None,
        published: None,
    };
    let mut merged = workload(1, fast);
    merged.baseline = Some(Baseline {
        name: slow,
        ratio: times.total(0) / times.total(1).max(1e-6),
        median: Some(times.median_ratio(0, 1)),
    });
    vec![workload(0, slow), merged]
}
