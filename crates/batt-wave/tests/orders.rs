//! The elements of patches come in CPython's order, for the inputs of the embedded tasks.
//!
//! `BATT_ARC=FOLDER` takes the tasks of a folder instead.

#![cfg(feature = "emulated")]

use batt_arc::{Dataset, Task, corpus};
use batt_dsl::{Limits, Workspace};
use batt_engine::{Cancel, Compiled, Job, Sample, judge_job};
use batt_lang::{Program, SolverFile};
use batt_wave::{EmulatedWaves, WaveEnd, WaveEngine};

/// Programs whose values show the iteration order of patches.
fn programs() -> String {
    let mut sources: Vec<String> = (0..8)
        .map(|mode| {
            let flag = |bit: usize| if mode >> bit & 1 == 1 { "T" } else { "F" };
            format!("objects(I, {}, {}, {})", flag(2), flag(1), flag(0))
        })
        .collect();
    sources.extend(["partition(I)", "fgpartition(I)", "frontiers(I)"].map(String::from));
    let functions = [
        "totuple",
        "chain(totuple, rbind(shift, UNITY), normalize)",
        "chain(totuple, rbind(shift, NEG_UNITY), lbind(recolor, THREE))",
        "chain(totuple, lbind(recolor, EIGHT), toindices)",
        "color",
        "mostcolor",
        "leastcolor",
    ];
    let mut bodies = Vec::new();
    for source in &sources {
        for function in functions {
            bodies.push(format!("apply({function}, totuple({source}))"));
        }
        bodies.push(format!(
            "apply(totuple, totuple(colorfilter({source}, TWO)))"
        ));
    }
    bodies.extend((0..10).map(|color| format!("totuple(ofcolor(I, {color}))")));
    let solver = |(k, body)| format!("def solve_{k}(I):\n    O = {body}\n    return O\n\n");
    bodies.iter().enumerate().map(solver).collect()
}

#[test]
fn patches_iterate_as_on_the_cpu() {
    let tasks = match std::env::var_os("BATT_ARC") {
        Some(folder) => Dataset::load(folder).unwrap(),
        None => corpus::tasks(),
    };
    let file = SolverFile::parse(&programs(), "orders.py");
    let programs: Vec<&Program> = file.programs.iter().collect();
    // A tuple is not compared with a grid here.
    let sample = |task, pair| Sample {
        expected: None,
        ..Sample::new(task, pair)
    };
    let samples: Vec<Sample<'_>> = tasks
        .iter()
        .flat_map(|task| Task::pairs(task).map(move |pair| sample(task, pair.1)))
        .collect();
    let mut engine = WaveEngine::new(Box::new(EmulatedWaves)).unwrap();
    let resident = engine.load(&samples).unwrap();
    let (records, report) = engine.run(&programs, &resident, &Cancel::new());
    eprintln!("{} programs, {report:?}", programs.len());
    let mut workspace = Workspace::new();
    let limits = Limits::default();
    let mut wrong = 0;
    for (p, program) in programs.iter().enumerate() {
        let compiled = Compiled::new(program);
        for (s, sample) in samples.iter().enumerate() {
            let WaveEnd::Value { hash, .. } = records.end(p, s) else {
                continue;
            };
            let job = Job {
                program: &compiled,
                sample: *sample,
            };
            if judge_job(&mut workspace, &job, &limits).hash != Some(hash) {
                eprintln!("sample {s}: {program}");
                wrong += 1;
            }
        }
    }
    assert_eq!(wrong, 0);
}
