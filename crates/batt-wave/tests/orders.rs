//! The elements of patches come in CPython's order, for the inputs of the embedded tasks.
//!
//! `BATT_ARC=FOLDER` takes the tasks of a folder instead.

#![cfg(feature = "emulated")]

use batt_arc::{Dataset, Task, corpus};
use batt_dsl::{Limits, Workspace};
use batt_engine::wave::{WaveBatch, WaveEnd, WaveEngine, WavePlan};
use batt_engine::{Cancel, Compiled, Job, Sample, judge_job};
use batt_lang::{Program, SolverFile};
use batt_wave::EmulatedWaves;

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
    bodies.extend(made_patches());
    let solver = |(k, body)| format!("def solve_{k}(I):\n    O = {body}\n    return O\n\n");
    bodies.iter().enumerate().map(solver).collect()
}

/// Tuples, first or last elements of patches that were made of others.
fn made_patches() -> Vec<String> {
    let patches = [
        "ofcolor(I, ONE)",
        "asindices(I)",
        "asobject(I)",
        "argmax(objects(I, T, T, T), size)",
        "argmax(objects(I, F, F, T), size)",
        "argmin(objects(I, F, T, T), size)",
        "neighbors(ulcorner(ofcolor(I, TWO)))",
        "outbox(ofcolor(I, THREE))",
        "backdrop(ofcolor(I, FOUR))",
        "shoot(ORIGIN, UNITY)",
        "recolor(THREE, connect(ORIGIN, DOWN))",
    ];
    let changes = [
        "{}",
        "shift({}, UNITY)",
        "normalize({})",
        "recolor(TWO, {})",
        "toindices({})",
        "toobject({}, I)",
        "toobject(shift({}, NEG_UNITY), I)",
        "hmirror({})",
        "vmirror({})",
        "dmirror({})",
        "cmirror({})",
        "corners({})",
        "delta({})",
        "box({})",
        "inbox({})",
        "outbox({})",
        "backdrop({})",
        "remove(first({}), {})",
        "remove(ORIGIN, {})",
        "insert(ORIGIN, {})",
        "insert(ORIGIN, delta({}))",
        "insert((100, 100), {})",
        "insert(last({}), {})",
        "combine({}, shift({}, RIGHT))",
        "combine(shift({}, DOWN), {})",
        "combine(recolor(TWO, {}), recolor(THREE, shift({}, RIGHT)))",
        "intersection({}, shift({}, RIGHT))",
        "intersection(shift({}, DOWN), {})",
        "intersection({}, {})",
        "difference({}, shift({}, UNITY))",
        "difference(toindices({}), corners({}))",
        "difference({}, asobject(I))",
        "sfilter({}, compose(even, last))",
        "sfilter(toindices({}), compose(even, last))",
        "sfilter(toindices({}), compose(even, first))",
        "apply(rbind(add, UNITY), toindices({}))",
        "apply(toivec, apply(first, toindices({})))",
        "apply(compose(halve, invert), toindices({}))",
        "apply(lbind(astuple, THREE), toindices({}))",
        "apply(last, toindices({}))",
        "apply(first, {})",
        "mapply(dneighbors, toindices({}))",
        "mapply(neighbors, toindices({}))",
        "mapply(ineighbors, corners({}))",
        "mapply(rbind(shoot, UNITY), corners({}))",
        "mapply(compose(lbind(recolor, THREE), rbind(shoot, UNITY)), corners({}))",
        "mapply(rbind(shift, UNITY), fgpartition(subgrid({}, I)))",
        "merge(objects(subgrid({}, I), T, T, F))",
        "merge(frontiers(subgrid({}, I)))",
        "merge(insert({}, initset(shift({}, UNITY))))",
        "product(apply(first, toindices({})), apply(last, toindices({})))",
        "insert({}, insert(shift({}, UNITY), insert(shift({}, DOWN), initset(shift({}, LEFT)))))",
        "papply(add, toindices({}), toindices(shift({}, UNITY)))",
        "pair({}, hmirror({}))",
        "mapply(lbind(shift, {}), corners({}))",
        "combine(delta({}), outbox({}))",
        "shift(delta({}), UNITY)",
        "dmirror(combine(box({}), inbox({})))",
        "upscale({}, TWO)",
        "initset(extract({}, compose(even, last)))",
        "initset(other({}, first({})))",
        "initset(argmax({}, last))",
        "initset(argmin({}, first))",
        "order({}, first)",
    ];
    let mut bodies = Vec::new();
    for patch in patches {
        for change in changes {
            let made = change.replace("{}", patch);
            for end in ["totuple", "first", "last"] {
                bodies.push(format!("{end}({made})"));
            }
        }
    }
    bodies
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
    let mut workspace = Workspace::new();
    let limits = Limits::default();
    let (mut wrong, mut finished, mut left) = (0, 0, [0; 8]);
    for samples in samples.chunks(40) {
        let resident = engine.load(samples).unwrap();
        for programs in programs.chunks(200) {
            let compiled: Vec<Compiled> = programs.iter().map(|p| Compiled::new(p)).collect();
            let plan = WavePlan::of(engine.table(), programs[0].dialect(), &compiled);
            let batch = WaveBatch {
                plan: &plan,
                first: 0,
                count: samples.len(),
            };
            let (records, report) =
                engine.run(&[batch], &resident, &Limits::default(), &Cancel::new());
            assert_eq!(report.errors, [] as [String; 0]);
            finished += report.finished;
            for (sum, own) in left.iter_mut().zip(report.left) {
                *sum += own;
            }
            for (p, program) in compiled.iter().enumerate() {
                for (s, sample) in samples.iter().enumerate() {
                    let WaveEnd::Value { hash, .. } = records.end(0, p, s) else {
                        continue;
                    };
                    let job = Job {
                        program,
                        sample: *sample,
                    };
                    if judge_job(&mut workspace, &job, &limits).hash != Some(hash) {
                        eprintln!("sample {s}: {}", programs[p]);
                        wrong += 1;
                    }
                }
            }
        }
        engine.release(resident);
    }
    eprintln!("{finished} finished, {left:?} left, {wrong} wrong");
    assert_eq!(wrong, 0);
}
