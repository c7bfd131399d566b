//! Evaluation with devices. The results are those of [`evaluate`].

use std::collections::HashMap;
use std::time::Instant;

use batt_dsl::Workspace;

use crate::cancel::Cancel;
use crate::compile::Compiled;
use crate::device::{Device, DeviceEntry, Found, Reason, Runs, Seen, Solo, Taken, run_fed, wire};
use crate::evaluate::{
    EvalOptions, EvalReport, Job, JobResult, Values, Verdict, evaluate, run_job, schedule,
};
use crate::sample::Sample;

/// Evaluates as [`evaluate`] does, with the same results, and uses devices.
///
/// Devices are not used if the limits do not [allow](crate::device::LaunchSettings::within) it. The
/// report then has no device part.
pub fn evaluate_on(
    devices: &mut [Box<dyn Device>],
    jobs: &[Job<'_>],
    options: &EvalOptions,
    cancel: &Cancel,
    sink: impl FnMut(usize, JobResult),
) -> EvalReport {
    if devices.is_empty() || !options.device.keep(&options.limits) {
        return evaluate(jobs, options, cancel, sink);
    }
    let schedule = schedule(jobs.len(), options);
    let unique = DeviceJobs::of(jobs);
    let solo = Solo::new(
        devices,
        unique.programs.iter().copied(),
        &unique.samples,
        Runs::Listed(&unique.runs),
        options.values != Values::None,
        &options.limits,
        &options.device,
    );
    let worker = || {
        let mut workspace = Workspace::new();
        let mut helper = solo.worker();
        move |at: usize, taken: Option<&Taken>| {
            let job = &jobs[at];
            let Some(found) = helper.found(at, taken) else {
                return run_job(&mut workspace, job, options);
            };
            let again = helper.is_done_again(at);
            match job_result(job, &found, options, again) {
                Err(reason) => {
                    helper.count(Err(reason));
                    run_job(&mut workspace, job, options)
                }
                Ok(result) => {
                    helper.count(Ok(found.pass));
                    if !again {
                        return result;
                    }
                    let (cpu, seen) = done_again(&mut workspace, job, options);
                    let device = match (&found.entry, options.values) {
                        (DeviceEntry::Value { hash, .. }, Values::None) => {
                            Seen::Judged(result.verdict, Some(*hash))
                        }
                        _ => seen_of(&result),
                    };
                    helper.compare(at, &seen, &device);
                    cpu
                }
            }
        }
    };
    let done = run_fed(devices, solo.feed(), &schedule, cancel, worker, sink);
    EvalReport {
        device: solo.report(),
        ..EvalReport::of(done)
    }
}

/// Jobs in the form that devices take: each program and each sample once.
struct DeviceJobs<'a> {
    programs: Vec<&'a Compiled>,
    samples: Vec<Sample<'a>>,
    runs: Vec<(u32, u32)>,
}

impl<'a> DeviceJobs<'a> {
    fn of(jobs: &[Job<'a>]) -> DeviceJobs<'a> {
        let mut unique = DeviceJobs {
            programs: Vec::new(),
            samples: Vec::new(),
            runs: Vec::new(),
        };
        let mut programs = HashMap::new();
        let mut samples = HashMap::new();
        for job in jobs {
            let program = *programs
                .entry(std::ptr::from_ref(job.program))
                .or_insert_with(|| {
                    unique.programs.push(job.program);
                    unique.programs.len() as u32 - 1
                });
            let Sample {
                demos,
                input,
                expected,
            } = job.sample;
            let key = (
                std::ptr::from_ref(demos),
                std::ptr::from_ref(input),
                expected.map(std::ptr::from_ref),
            );
            let sample = *samples.entry(key).or_insert_with(|| {
                unique.samples.push(job.sample);
                unique.samples.len() as u32 - 1
            });
            unique.runs.push((program, sample));
        }
        unique
    }
}

/// Returns the result of a job that a device has finished. It has a value if the options ask for it
/// or `always` is set.
fn job_result(
    job: &Job<'_>,
    found: &Found<'_>,
    options: &EvalOptions,
    always: bool,
) -> Result<JobResult, Reason> {
    let started = Instant::now();
    let verdict = found.entry.verdict();
    let value = match found.entry {
        DeviceEntry::Value { at: Some(at), .. } if always || options.values.wants(&verdict) => {
            let dialect = job.program.dialect();
            Some(wire::decode_owned(found.words, at, dialect)?.0)
        }
        _ => None,
    };
    Ok(JobResult {
        verdict,
        value,
        time: started.elapsed(),
    })
}

/// Repeats on the CPU a job that a device has finished. Also returns the outcome to compare with
/// the device's.
fn done_again(
    workspace: &mut Workspace,
    job: &Job<'_>,
    options: &EvalOptions,
) -> (JobResult, Seen) {
    let started = Instant::now();
    if options.values == Values::None {
        let (judged, seen) = Seen::scored(workspace, job, &options.limits);
        let result = JobResult {
            verdict: judged.verdict,
            value: None,
            time: started.elapsed(),
        };
        return (result, seen);
    }
    let mut result = run_job(workspace, job, &options.with_values());
    let seen = seen_of(&result);
    if !options.values.wants(&result.verdict) {
        result.value = None;
    }
    (result, seen)
}

/// Returns the part of a result that is compared: its value, or the error.
fn seen_of(result: &JobResult) -> Seen {
    match (&result.verdict, &result.value) {
        (Verdict::Failed(error), _) => Seen::Failed(*error),
        (_, Some(value)) => Seen::Value(value.clone()),
        (verdict, None) => Seen::Judged(verdict.clone(), None),
    }
}
