//! Measures the gain of more cores: one batt over all samples, on one thread and on all, in batches
//! of several sizes.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Result;
use batt_dsl::Limits;
use batt_engine::{CompiledBatt, MegaOptions, Sample, mega};
use batt_lang::card::CardDonor;

use super::{Agreement, Baseline, Workload};
use crate::corpus::merged;
use crate::interrupt;
use crate::turns::{Side, take_turns};

/// Batch sizes, in addition to the one chosen by cost.
const BATCHES: [usize; 3] = [1, 32, 1000];

/// The shortest pass that is timed. In shorter ones starting threads dominates.
const SHORTEST: Duration = Duration::from_millis(100);

const BASELINE: &str = "mega, one thread";

/// Measures the scaling of [`mega`].
pub fn measure(
    donors: &[CardDonor<'_>],
    samples: &[Sample<'_>],
    limits: &Limits,
    time: Duration,
    agreement: &mut Agreement,
) -> Result<Vec<Workload>> {
    let merged = merged(donors, true)?.batt;
    let batt = [CompiledBatt::new(&merged)];
    let pass = |samples: &[Sample<'_>], threads, batch| {
        let options = MegaOptions {
            limits: *limits,
            threads,
            batch_size: batch,
            ..MegaOptions::default()
        };
        mega(
            &batt,
            samples,
            0,
            &options,
            interrupt::stop(),
            |_, _, _| (),
            |_, _| (),
        )
    };
    let one = NonZeroUsize::new(1);
    // Finds how many samples fit several rounds of all passes.
    let mut fitting = samples[..1].to_vec();
    let passes = 5.0 * (BATCHES.len() + 2) as f64;
    loop {
        let cost = pass(&fitting, one, None).elapsed;
        let wanted = match cost {
            cost if cost < SHORTEST => fitting.len() * 4,
            _ => {
                (fitting.len() as f64 * (time.as_secs_f64() / passes / cost.as_secs_f64())) as usize
            }
        };
        // A few samples predict the rest poorly, so the number grows slowly.
        let wanted = wanted.min(fitting.len() * 4);
        let enough =
            cost >= SHORTEST && (wanted <= fitting.len() || fitting.len() >= samples.len());
        if enough || interrupt::happened() {
            break;
        }
        fitting = samples.iter().copied().cycle().take(wanted).collect();
    }
    let first = pass(&fitting, one, None);
    let cores = pass(&fitting, None, None);
    agreement.reports(&first, &cores);
    let batch = |size: usize| NonZeroUsize::new(size);
    let settings = [(one, None), (None, None)]
        .into_iter()
        .chain(BATCHES.map(|size| (None, batch(size))));
    let pass = &pass;
    let fitting = &fitting;
    let mut sides: Vec<Side<'_>> = settings
        .map(|(threads, batch)| -> Side<'_> {
            Box::new(move |_| {
                pass(fitting, threads, batch);
            })
        })
        .collect();
    let times = take_turns(1, time, |_| (), &mut sides);
    let threads = cores.workers;
    let names = [BASELINE.to_owned(), format!("mega, {threads} threads")]
        .into_iter()
        .chain(BATCHES.map(|size| format!("mega, {threads} threads, batches of {size}")));
    let workload = |(side, name): (usize, String)| Workload {
        name,
        steps: Some(merged.program.steps().len()),
        samples: fitting.len(),
        rounds: times.rounds,
        mean: times.total(side) / fitting.len() as f64,
        median: None,
        baseline: (side > 0).then(|| Baseline {
            name: BASELINE,
            ratio: times.total(0) / times.total(side).max(1e-6),
            median: None,
        }),
        published: None,
    };
    Ok(names.enumerate().map(workload).collect())
}
