//! Failures of devices do not change the results of runs, and the report counts them.

use std::num::NonZeroUsize;

use batt_arc::{Grid, corpus};
use batt_dsl::Dialect;
use batt_emulated::{Emulated, LaneOrder};
use batt_engine::Cancel;
use batt_engine::device::{
    Device, DeviceOptions, DeviceUsage, Inputs, JobAt, JobParam, LaunchSettings, Launcher,
    Programs, Reason, ScoreOptions, Shapes, score_table,
};
use batt_engine::{Compiled, Judged, Sample};
use batt_lang::SolverFile;
use batt_testing::{Faulty, Script};

fn options(chunk: usize, verify: f64) -> ScoreOptions {
    ScoreOptions {
        threads: NonZeroUsize::new(2),
        device: DeviceOptions {
            chunk: NonZeroUsize::new(chunk),
            verify,
            ..DeviceOptions::default()
        },
        ..ScoreOptions::default()
    }
}

/// Returns the scores of the corpus on some inputs, in chunks of a given size, and the use of the
/// device.
fn scores(faults: Option<&str>, chunk: usize, verify: f64) -> (Vec<Judged>, Option<DeviceUsage>) {
    let file = SolverFile::parse_in(corpus::SOLVERS, "solvers.py", Some(Dialect::ArcDsl));
    let programs: Vec<Compiled> = file.programs.iter().map(Compiled::new).collect();
    let tasks = corpus::tasks();
    let pairs = tasks.pairs().step_by(40);
    let samples: Vec<Sample<'_>> = pairs
        .map(|(task, _, pair)| Sample::new(task, pair))
        .collect();
    let device = faults.map(|faults| -> Box<dyn Device> {
        let script: Script = faults.parse().expect("a script");
        Box::new(Faulty::new(Emulated::default(), script))
    });
    let options = options(chunk, verify);
    let stop = Cancel::new();
    let (all, report) = score_table(
        &mut Vec::from_iter(device),
        &programs,
        &samples,
        &options,
        &stop,
    );
    assert_eq!(all.len(), programs.len() * samples.len());
    (
        all,
        report.device.map(|mut device| device.devices.remove(0)),
    )
}

#[test]
fn faults_change_nothing() {
    let (expected, _) = scores(None, 100, 0.0);
    for (faults, errors, lost) in [
        ("", 0, false),
        ("memory@0,memory@3", 2, false),
        ("launch@0,launch@1,launch@2", 3, false),
        ("short@1,short@4", 2, false),
        ("lost@0", 1, true),
        ("lost@3", 1, true),
        ("timeout@2", 1, true),
        ("memory@1,launch@2,timeout@4", 3, true),
    ] {
        let (found, device) = scores(Some(faults), 100, 0.0);
        assert!(found == expected, "{faults}");
        let device = device.expect("it is in the report");
        assert_eq!(device.errors.len(), errors, "{faults}: {:?}", device.errors);
        assert_eq!(device.lost, lost, "{faults}");
    }
}

/// The CPU does the runs of a failing device, and the report counts them.
#[test]
fn runs_that_a_failing_device_leaves_are_counted() {
    for (faults, finished) in [("launch@1", 1), ("lost@1", 0)] {
        let script: Script = faults.parse().expect("a script");
        let mut devices: Vec<Box<dyn Device>> =
            vec![Box::new(Faulty::new(Emulated::default(), script))];
        let file = SolverFile::parse_in(corpus::SOLVERS, "solvers.py", Some(Dialect::ArcDsl));
        let programs: Vec<Compiled> = file.programs.iter().map(Compiled::new).collect();
        let tasks = corpus::tasks();
        let (task, _, pair) = tasks.pairs().next().expect("a task");
        let samples = [Sample::new(task, pair)];
        let stop = Cancel::new();
        let (scores, report) =
            score_table(&mut devices, &programs, &samples, &options(10, 0.0), &stop);
        assert_eq!(scores.len(), programs.len());
        let counts = report.device.expect("a device was used").runs;
        assert_eq!(counts.total() as usize, programs.len());
        assert!(counts.left[Reason::Device.index()] >= 10, "{faults}");
        assert!(counts.finished() >= finished, "{faults}");
    }
}

/// Only verification finds well-formed wrong answers.
#[test]
fn garbage_results_do_no_harm_if_verified() {
    let (expected, _) = scores(None, 100, 0.0);
    let faults: Vec<String> = (0..100).map(|k| format!("garbage@{k}")).collect();
    for faults in ["garbage@0", "garbage@1,garbage@2,lost@4", &faults.join(",")] {
        let (found, _) = scores(Some(faults), 100, 1.0);
        assert!(found == expected, "{faults}");
    }
}

#[test]
fn one_giant_batch() {
    let (expected, _) = scores(None, 100, 0.0);
    for faults in ["", "memory@0", "lost@1"] {
        let (found, device) = scores(Some(faults), usize::MAX, 0.0);
        assert!(found == expected, "{faults}");
        let errors = device.expect("it is in the report").errors;
        assert_eq!(errors.is_empty(), faults.is_empty(), "{errors:?}");
    }
}

/// A device takes batches without jobs, with one job, and with more output than there is room for.
#[test]
fn batches_of_any_size() {
    let text = "def same(I):\n    return I\n";
    let file = SolverFile::parse_in(text, "test.py", Some(Dialect::ArcDsl));
    let mut programs = Programs::new();
    let program = programs.push_program(&Compiled::new(&file.programs[0]));
    let program = program.expect("a program");
    let rows = vec![vec![7; 30]; 30];
    let grid = Grid::from_rows(&rows).expect("a grid");
    let sample = Sample {
        demos: &[],
        input: &grid,
        expected: Some(&grid),
    };
    let mut shapes = Shapes::default();
    let alone = shapes.add(&[JobParam::Input]);
    let mut inputs = Inputs::new();
    let at = inputs.push_samples(&[sample], &shapes)[0];
    let job = JobAt {
        expected: at.expected,
        ..JobAt::new(program, at.params(alone))
    };
    let mut devices = vec![(Emulated::default(), 20_000)];
    devices.extend(Emulated::warp(LaneOrder::Down).map(|device| (device, 6_000)));
    for (mut device, most) in devices {
        for count in [0, 1, most] {
            let mut launcher = Launcher::new(LaunchSettings::default(), 1);
            let jobs = vec![job; count];
            let done = launcher
                .run(&mut device, &programs, &inputs, &jobs)
                .expect("a launch");
            assert_eq!(done.len(), count);
            assert!(done.error.is_none());
            assert!((0..count).all(|k| done.job(k).is_ok()));
            // The first launch only has room for outputs of the usual size.
            let launches = done.times().launches;
            assert_eq!(launches, if count == most { 2 } else { 1 });
        }
    }
}
