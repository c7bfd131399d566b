//! Calls of single ops give the results that CPython recorded.
//!
//! `BATT_WAVE_OPS=shift,objects` runs only these, and prints the calls that the device left.

#![cfg(feature = "emulated")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use batt_arc::Grid;
use batt_dsl::{Dialect, Fault, Limits, OpId, OwnedValue, Workspace};
use batt_engine::wave::{WaveArg, WaveBatch, WaveEnd, WaveEngine, WavePlanner};
use batt_engine::{Cancel, Sample};
use batt_lang::{Program, SolverFile};
use batt_wave::EmulatedWaves;
use serde_json::Value as Json;

/// A recorded call.
struct Case {
    line: usize,
    args: Vec<WaveArg>,
    out: Json,
    text: String,
}

fn vectors() -> Option<PathBuf> {
    let shared = match std::env::var_os("BATT_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let vectors = shared.join("vectors");
    vectors.is_dir().then_some(vectors)
}

fn program_of(text: &str, dialect: Dialect) -> Option<Program> {
    let source = format!("def expression():\n    return {text}\n");
    let mut file = SolverFile::parse_in(&source, "<expression>", Some(dialect));
    (!file.programs.is_empty()).then(|| file.programs.swap_remove(0))
}

fn argument(json: &Json, dialect: Dialect) -> Option<WaveArg> {
    match json.get("f").and_then(Json::as_str) {
        Some(text) => program_of(text, dialect).map(WaveArg::Program),
        None => OwnedValue::from_json(json).ok().map(WaveArg::Value),
    }
}

/// The calls of a file that return no function.
fn cases(path: &Path, dialect: Dialect) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap();
    let read = |(line, text): (usize, &str)| {
        let json: Json = serde_json::from_str(text).unwrap();
        let args = json["args"].as_array().unwrap();
        let args: Option<Vec<WaveArg>> = args.iter().map(|arg| argument(arg, dialect)).collect();
        Some(Case {
            line: line + 1,
            args: args.filter(|_| json.get("call").is_none())?,
            out: json["out"].clone(),
            text: text.chars().take(400).collect(),
        })
    };
    text.lines().enumerate().filter_map(read).collect()
}

/// CPython's hash of a value, which does not depend on the order of sets.
fn hash(workspace: &mut Workspace, dialect: Dialect, value: &OwnedValue) -> u64 {
    let limits = Limits::default();
    let hashed = workspace.run(dialect, &limits, |run| {
        let value = run.from_owned(value)?;
        Ok::<u64, Fault>(run.hash(value))
    });
    hashed.unwrap()
}

/// Runs calls, or `wrap` of the result of each.
fn ends_of(
    engine: &mut WaveEngine,
    dialect: Dialect,
    calls: &[(OpId, Vec<WaveArg>)],
    wrap: Option<OpId>,
) -> Vec<WaveEnd> {
    let mut planner = WavePlanner::new(engine.table(), dialect);
    for (op, args) in calls {
        planner.add_call(*op, args, wrap);
    }
    let plan = planner.finish();
    let input = Grid::from_rows(&[[0]]).unwrap();
    let sample = Sample {
        demos: &[],
        input: &input,
        expected: None,
    };
    let samples = engine.load(&[sample]).unwrap();
    let batch = WaveBatch {
        plan: &plan,
        first: 0,
        count: 1,
    };
    let (records, report) = engine.run(&[batch], &samples, &Limits::default(), &Cancel::new());
    assert_eq!(report.errors, [] as [String; 0]);
    engine.release(samples);
    (0..calls.len())
        .map(|call| records.end(0, call, 0))
        .collect()
}

#[derive(Default)]
struct Count {
    calls: usize,
    finished: usize,
    wrong: usize,
}

/// Runs the calls of each op. Returns the counts by name.
fn run(dir: &Path, dialect: Dialect, wanted: Option<&str>) -> BTreeMap<String, Count> {
    let mut engine = WaveEngine::new(Box::new(EmulatedWaves)).unwrap();
    let mut workspace = Workspace::new();
    let mut counts = BTreeMap::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if wanted.is_some_and(|wanted| wanted.split(',').all(|one| one != name)) {
            continue;
        }
        let op = dialect.op(&name).unwrap();
        let cases = cases(&path, dialect);
        let calls: Vec<(OpId, Vec<WaveArg>)> = cases.iter().map(|c| (op, c.args.clone())).collect();
        let ends = ends_of(&mut engine, dialect, &calls, None);
        // The order of a set shows in its tuple.
        let to_tuple = dialect.op("totuple");
        let tuples = ends_of(&mut engine, dialect, &calls, to_tuple);
        let count: &mut Count = counts.entry(name.clone()).or_default();
        for ((case, end), tuple) in cases.iter().zip(ends).zip(tuples) {
            count.calls += 1;
            let expected = OwnedValue::from_json(&case.out).ok();
            let error = case.out.get("err").and_then(Json::as_str);
            let right = match (end, &expected) {
                (WaveEnd::Left(reason), _) => {
                    if wanted.is_some() {
                        eprintln!(
                            "left ({}): {name}:{} {}",
                            reason.name(),
                            case.line,
                            case.text
                        );
                    }
                    continue;
                }
                (WaveEnd::Value { hash: got, .. }, Some(value)) => {
                    got == hash(&mut workspace, dialect, value)
                }
                (WaveEnd::Fault { fault, .. }, None) => {
                    error == Some(Fault::ALL[usize::from(fault)].name())
                }
                _ => false,
            };
            count.finished += 1;
            let in_order = match (tuple, &expected) {
                (WaveEnd::Value { hash: got, .. }, Some(OwnedValue::Set(items))) => {
                    let tuple = OwnedValue::Tuple(items.clone());
                    got == hash(&mut workspace, dialect, &tuple)
                }
                _ => true,
            };
            if !right || !in_order {
                count.wrong += 1;
                let why = if right { "other order" } else { "wrong" };
                eprintln!("{why}: {name}:{} {end:?} {}", case.line, case.text);
            }
        }
    }
    counts
}

fn check(dir: &Path, dialect: Dialect) {
    let wanted = std::env::var("BATT_WAVE_OPS").ok();
    let counts = run(dir, dialect, wanted.as_deref());
    let (mut calls, mut finished, mut wrong) = (0, 0, 0);
    for (name, count) in &counts {
        eprintln!(
            "{name:20} {:5} calls {:5} finished {:3} wrong",
            count.calls, count.finished, count.wrong
        );
        calls += count.calls;
        finished += count.finished;
        wrong += count.wrong;
    }
    eprintln!("{calls} calls, {finished} finished, {wrong} wrong");
    assert_eq!(wrong, 0);
}

#[test]
fn calls_of_arc_dsl_are_right() {
    let Some(vectors) = vectors() else {
        eprintln!("skipped: no vectors");
        return;
    };
    check(&vectors.join("ops"), Dialect::ArcDsl);
}

#[test]
fn calls_of_tokpidjin_are_right() {
    let Some(vectors) = vectors() else {
        eprintln!("skipped: no vectors");
        return;
    };
    check(&vectors.join("tokpidjin/ops"), Dialect::Tokpidjin);
}
