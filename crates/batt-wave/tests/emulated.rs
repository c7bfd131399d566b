//! The emulated device gives the CPU's verdicts, faults and hashes.

#![cfg(feature = "emulated")]

use batt_arc::corpus;
use batt_dsl::{Fault, Limits, Workspace};
use batt_engine::wave::{WaveBatch, WaveEnd, WaveEngine, WavePlan, WaveReason, WaveReport};
use batt_engine::{Cancel, Compiled, Job, Judged, Sample, Verdict, judge_job};
use batt_lang::{Program, SolverFile};
use batt_wave::EmulatedWaves;

/// Runs programs on samples on the device, and compares every finished run with the CPU.
fn compare(programs: &[&Program], samples: &[Sample<'_>]) -> WaveReport {
    let mut engine = WaveEngine::new(Box::new(EmulatedWaves)).unwrap();
    let resident = engine.load(samples).unwrap();
    let compiled: Vec<Compiled> = programs
        .iter()
        .map(|program| Compiled::new(program))
        .collect();
    let plan = WavePlan::of(engine.table(), programs[0].dialect(), &compiled);
    let batch = WaveBatch {
        plan: &plan,
        first: 0,
        count: samples.len(),
    };
    let (records, report) = engine.run(&[batch], &resident, &Cancel::new());
    assert_eq!(report.errors, [] as [String; 0]);
    let mut workspace = Workspace::new();
    let limits = Limits::default();
    for (p, program) in programs.iter().enumerate() {
        let program = Compiled::new(program);
        for (s, sample) in samples.iter().enumerate() {
            let end = records.end(0, p, s);
            if matches!(end, WaveEnd::Left(_)) {
                continue;
            }
            let job = Job {
                program: &program,
                sample: *sample,
            };
            let cpu = judge_job(&mut workspace, &job, &limits);
            assert_eq!(judged(&end), shown(&cpu), "{}\nsample {s}", programs[p]);
        }
    }
    report
}

fn judged(end: &WaveEnd) -> String {
    match end {
        WaveEnd::Value { verdict, hash } => {
            let verdict = match *verdict {
                0 => Verdict::Right,
                u32::MAX => Verdict::Unknown,
                0xffff_fffe => Verdict::NotAGrid,
                code if code >> 31 == 1 => {
                    Verdict::WrongShape((code >> 16 & 0x7fff) as usize, (code & 0xffff) as usize)
                }
                wrong => Verdict::WrongCells(wrong as usize),
            };
            format!("{verdict:?} {hash:x}")
        }
        WaveEnd::Fault { fault, step } => {
            format!("{} at {step}", Fault::ALL[usize::from(*fault)].name())
        }
        WaveEnd::Left(reason) => reason.name().to_owned(),
    }
}

fn shown(judged: &Judged) -> String {
    match (&judged.verdict, judged.hash) {
        (Verdict::Failed(error), _) => {
            let step = error.step.map_or(u32::MAX, |step| step.index() as u32);
            format!("{} at {step}", error.fault.name())
        }
        (verdict, hash) => format!("{verdict:?} {:x}", hash.unwrap_or_default()),
    }
}

fn corpus_samples(tasks: &batt_arc::Dataset) -> Vec<Sample<'_>> {
    let pairs = |task| batt_arc::Task::pairs(task).map(move |pair| Sample::new(task, pair.1));
    tasks.iter().flat_map(pairs).collect()
}

/// The programs of the fixed workload of `batt-bench waves`, a few of them.
fn five_ops() -> String {
    let mut text = String::new();
    for mode in 0..8 {
        let flag = |bit: usize| if mode >> bit & 1 == 1 { "T" } else { "F" };
        for (number, (pick, key, mirror, join)) in [
            ("argmax", "size", "vmirror", "hconcat"),
            ("argmin", "height", "hmirror", "vconcat"),
            ("argmax", "width", "dmirror", "hconcat"),
            ("argmin", "size", "cmirror", "vconcat"),
        ]
        .into_iter()
        .enumerate()
        {
            text += &format!(
                "def solve_{mode}_{number}(I):\n    x1 = objects(I, {}, {}, {})\n    \
                 x2 = {pick}(x1, {key})\n    x3 = subgrid(x2, I)\n    x4 = {mirror}(x3)\n    \
                 O = {join}(x3, x4)\n    return O\n\n",
                flag(2),
                flag(1),
                flag(0)
            );
        }
    }
    text
}

#[test]
fn five_op_programs_end_as_on_the_cpu() {
    let file = SolverFile::parse(&five_ops(), "five.py");
    let programs: Vec<&Program> = file.programs.iter().collect();
    assert_eq!(programs.len(), 32);
    let tasks = corpus::tasks();
    let report = compare(&programs, &corpus_samples(&tasks));
    eprintln!("{report:?}");
    let runs = report.finished + report.left.iter().sum::<u64>();
    assert!(report.finished * 100 > runs * 97, "{report:?}");
    assert_eq!(report.left[WaveReason::Missing as usize], 0);
}

#[test]
fn embedded_solvers_end_as_on_the_cpu() {
    let file = SolverFile::parse(corpus::SOLVERS, "solvers.py");
    let programs: Vec<&Program> = file.programs.iter().collect();
    let tasks = corpus::tasks();
    let report = compare(&programs, &corpus_samples(&tasks));
    eprintln!("{report:?}");
}
