//! Checks the host side of a real GPU: transfers, cached blobs, arenas, limits, the clock. The
//! tests run the same checks against a driver without a GPU.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use batt_cuda::{Cuda, CudaSettings, source};
use batt_testing::plumbing::{self, Check};
use clap::Args;
use serde_json::{Value as Json, json};

use crate::text::{note, print, table, table_text};

/// Check the host side of a GPU: transfers, cached blobs, arenas, limits, the clock
///
/// The GPU runs a small kernel in place of the engine's, alone and as two logical devices at a
/// time.
#[derive(Args)]
pub struct HostArgs {
    /// The number of the GPU
    #[arg(default_value_t = 0)]
    gpu: usize,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The time limit for the check in which a kernel exceeds it.
const SHORT_TIMEOUT: Duration = Duration::from_millis(100);

/// Runs the checks. Returns whether all pass.
pub fn main(args: &HostArgs) -> Result<bool> {
    let checks = checks(args.gpu)?;
    let good = checks.iter().all(|(_, check)| check.problem.is_none());
    print(|out| {
        if args.json {
            let all: Vec<Json> = checks.iter().map(to_json).collect();
            writeln!(out, "{}", json!({"host": all, "good": good}))?;
            return Ok(());
        }
        let mut rows = table(&["part", "check", "", "time", ""], &[3]);
        for (part, check) in &checks {
            let problem = check.problem.as_deref();
            rows.add_row([
                (*part).to_owned(),
                check.name.to_owned(),
                problem.map_or("good", |_| "wrong").to_owned(),
                format!("{:.1} ms", check.time.as_secs_f64() * 1e3),
                problem.unwrap_or(&check.detail).to_owned(),
            ]);
        }
        Ok(write!(out, "{}", table_text(&rows))?)
    })?;
    Ok(good)
}

fn checks(gpu: usize) -> Result<Vec<(&'static str, Check)>> {
    let probe = CudaSettings::with_source(source::PROBE);
    let (mut cuda, notes) = Cuda::open(gpu, &probe)?;
    notes.iter().for_each(note);
    let mut all: Vec<_> = plumbing::check(&mut cuda)
        .into_iter()
        .map(|check| ("alone", check))
        .collect();
    drop(cuda);
    let pair = Cuda::open_all(&[gpu, gpu], &probe)?.devices;
    thread::scope(|scope| {
        let check = |mut cuda: Cuda| scope.spawn(move || plumbing::check(&mut cuda));
        let running: Vec<_> = pair.into_iter().map(check).collect();
        // A panic of a thread has been reported.
        let results = running.into_iter().filter_map(|thread| thread.join().ok());
        all.extend(results.flatten().map(|check| ("two at a time", check)));
    });
    // This check comes last, since it loses the device.
    let short_timeout = CudaSettings {
        timeout: SHORT_TIMEOUT,
        ..probe
    };
    let (mut cuda, _) = Cuda::open(gpu, &short_timeout)?;
    all.push(("time limit", plumbing::check_clock(&mut cuda)));
    Ok(all)
}

fn to_json((part, check): &(&'static str, Check)) -> Json {
    json!({
        "part": part,
        "name": check.name,
        "good": check.problem.is_none(),
        "problem": check.problem,
        "detail": check.detail,
        "seconds": check.time.as_secs_f64(),
    })
}
