//! A warp with all its lanes has the same results as one lane, in any order of lanes. Lanes that do
//! not wait for each other are found.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use batt_arc::corpus;
use batt_conformance::{Unfinished, check_on_device};
use batt_dsl::Dialect;
use batt_emulated::{Emulated, LaneFault, LaneOrder, PlantedFault};
use batt_engine::Cancel;
use batt_engine::device::{Device, DeviceReport, Reason, ScoreOptions, score_table};
use batt_engine::{Compiled, Judged, Sample, Verdict};
use batt_lang::SolverFile;
use tempfile::TempDir;

/// Returns a warp; `None`, with a message, if warps are not supported.
fn warp(order: LaneOrder) -> Option<Emulated> {
    let warp = Emulated::warp(order);
    if warp.is_none() {
        println!("skipped: lanes are switched on Linux on x86-64 alone");
    }
    warp
}

/// Returns the scores of each solver of the corpus on every `step`-th input of all tasks.
fn corpus_scores(device: Option<Emulated>, step: usize) -> (Vec<Judged>, Option<DeviceReport>) {
    let file = SolverFile::parse_in(corpus::SOLVERS, "solvers.py", Some(Dialect::ArcDsl));
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    let programs: Vec<Compiled> = file.programs.iter().map(Compiled::new).collect();
    let tasks = corpus::tasks();
    let pairs = tasks.pairs().step_by(step);
    let samples: Vec<Sample<'_>> = pairs
        .map(|(task, _, pair)| Sample::new(task, pair))
        .collect();
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    devices.extend(device.map(|device| -> Box<dyn Device> { Box::new(device) }));
    let options = ScoreOptions {
        threads: NonZeroUsize::new(1),
        ..ScoreOptions::default()
    };
    let stop = Cancel::new();
    let (all, report) = score_table(&mut devices, &programs, &samples, &options, &stop);
    (all, report.device)
}

fn corpus_in(order: LaneOrder) {
    let Some(device) = warp(order) else { return };
    let (expected, _) = corpus_scores(None, 1);
    assert!(expected.iter().any(|score| score.verdict == Verdict::Right));
    let (found, report) = corpus_scores(Some(device), 1);
    let report = report.expect("a device was used");
    assert_eq!(report.devices[0].errors, [""; 0]);
    let differing = found.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(differing, None, "{order:?}");
    // The device runs most of the solvers.
    assert!(report.runs.finished() > report.runs.total() / 2);
    assert_eq!(report.runs.left[Reason::Broken.index()], 0);
}

#[test]
fn the_corpus_with_lanes_going_up() {
    corpus_in(LaneOrder::Up);
}

#[test]
fn the_corpus_with_lanes_going_down() {
    corpus_in(LaneOrder::Down);
}

#[test]
fn the_corpus_with_lanes_in_any_order() {
    corpus_in(LaneOrder::Shuffled(1));
}

/// A skipped sync is found: through wrong values if all lanes skip it, and through lanes in
/// different places if some lanes do. Contexts that differ between lanes are found as well.
#[test]
fn planted_faults_are_found() {
    let (expected, _) = corpus_scores(None, 9);
    for order in [LaneOrder::Up, LaneOrder::Down, LaneOrder::Shuffled(5)] {
        let planted = |lanes, what| {
            let fault = PlantedFault {
                // Mirrors and others end with a sync, after all lanes have written their cells.
                function: c"grid_done",
                lanes,
                what,
            };
            let (found, report) = corpus_scores(Some(warp(order)?.with(fault)), 9);
            let mut report = report.expect("a device was used");
            let wrong = found.iter().zip(&expected).any(|(a, b)| a != b);
            Some((wrong, report.devices.remove(0).errors))
        };
        let Some((wrong, errors)) = planted(u32::MAX, LaneFault::SkipSync) else {
            return;
        };
        assert_eq!((wrong, errors.as_slice()), (true, &[] as &[String]));
        for (lanes, what, words) in [
            (1, LaneFault::SkipSync, "lane 0 is in"),
            (1 << 31, LaneFault::SkipSync, "lane 31 in"),
            (1 << 7, LaneFault::SpendFuel, "different contexts"),
        ] {
            let (wrong, errors) = planted(lanes, what).expect("there are warps");
            // The CPU has repeated these runs.
            assert!(!wrong);
            assert!(
                errors.iter().any(|error| error.contains(words)),
                "{order:?} {words}: {errors:?}"
            );
        }
        // A fault in a function that does not exist has no effect.
        let fault = PlantedFault {
            function: c"no_such_function",
            lanes: 1,
            what: LaneFault::SkipSync,
        };
        let device = warp(order).map(|device| device.with(fault));
        let (found, report) = corpus_scores(device, 9);
        assert!(found == expected);
        assert_eq!(
            report.expect("a device was used").devices[0].errors,
            [""; 0]
        );
    }
}

/// The approximate number of lines to take from each file of vectors.
const SAMPLE: usize = 40;

/// Copies some lines of each file of calls, spread over the file.
fn sample(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder of vectors") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("vectors");
        let step = (text.lines().count() / SAMPLE).max(1);
        let lines: Vec<&str> = text.lines().step_by(step).collect();
        let to = to.join(path.file_name().expect("a name"));
        fs::write(to, lines.join("\n") + "\n").expect("a file");
    }
}

/// Runs vectors without a fallback, so runs that the device does not complete are not counted.
/// Returns the number of passed cases.
fn conform(dir: &Path, order: LaneOrder) -> Option<usize> {
    let mut device = warp(order)?;
    let found = check_on_device(dir, &[], &mut device, false, |_, _| {}).expect("vectors");
    for d in found.report.differences.iter().take(10) {
        println!("{}:{} {}", d.file.display(), d.line, d.what);
        println!("  expected {}\n  got      {}", d.expected, d.got);
    }
    assert_eq!(found.errors, [""; 0], "{order:?}");
    assert_eq!(found.report.differences.len(), 0, "{order:?}");
    let broken = |u: &&Unfinished| u.reason.name() == "broken";
    assert_eq!(found.unfinished.iter().filter(broken).count(), 0);
    Some(found.report.passed)
}

#[test]
fn primitives_have_the_same_outcome_as_in_python() {
    let Some(shared) = batt_testing::shared("vectors") else {
        println!("skipped: no vectors directory (set BATT_SHARED)");
        return;
    };
    let sampled = TempDir::new().expect("a temporary directory");
    for ops in ["ops", "tokpidjin/ops"] {
        sample(&shared.join(ops), &sampled.path().join(ops));
    }
    if let Some(passed) = conform(sampled.path(), LaneOrder::Shuffled(3)) {
        assert!(passed > 3000, "only {passed} cases");
    }
}

/// Runs all vectors in three orders of lanes, which takes minutes.
#[test]
fn everything_has_the_same_outcome_as_in_python() {
    let Some(shared) = batt_testing::shared("vectors").filter(|_| batt_testing::heavy()) else {
        println!("skipped: no vectors directory (set BATT_SHARED), or BATT_HEAVY is not set");
        return;
    };
    for order in [LaneOrder::Up, LaneOrder::Down, LaneOrder::Shuffled(11)] {
        if let Some(passed) = conform(&shared, order) {
            assert!(passed > 10_000, "only {passed} cases");
        }
    }
}
