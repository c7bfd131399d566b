//! The emulated device gives the CPU's verdicts, faults and hashes.

#![cfg(feature = "emulated")]

use batt_arc::corpus;
use batt_dsl::{Dialect, Fault, Limits, OpId, Type, Workspace};
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
    let (records, report) = engine.run(&[batch], &resident, &Limits::default(), &Cancel::new());
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

/// A generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// What arguments a parameter mostly gets: the types of one group take each other's values.
fn group(ty: Type) -> &'static str {
    use Type::*;
    match ty {
        Boolean => "truth",
        Integer | Numerical | C_ | FL | F_ | L_ | R_ | R4 | R8 | A4 | A8 | I_ | J_ => "number",
        IJ | Pair => "pair",
        Grid => "grid",
        Object | Indices | Patch | Element | Piece => "patch",
        Objects | IndicesSet | FrozenSet | IntegerSet => "set",
        Samples | Tuple | TupleTuple | TTT_iii => "tuple",
        _ => "any",
    }
}

const CONSTANTS: [(&str, &str); 21] = [
    ("truth", "T"),
    ("truth", "F"),
    ("number", "ZERO"),
    ("number", "ONE"),
    ("number", "TWO"),
    ("number", "THREE"),
    ("number", "FIVE"),
    ("number", "SEVEN"),
    ("number", "EIGHT"),
    ("number", "NEG_ONE"),
    ("number", "L1"),
    ("pair", "ORIGIN"),
    ("pair", "DOWN"),
    ("pair", "UP_RIGHT"),
    ("pair", "TWO_BY_TWO"),
    ("pair", "THREE_BY_THREE"),
    ("pair", "NEG_UNITY"),
    ("grid", "I"),
    ("grid", "I"),
    ("tuple", "I"),
    ("any", "I"),
];

/// A program of a few random steps.
fn random_program(random: &mut Random, ops: &[OpId], number: usize) -> String {
    let mut names: Vec<(&str, String)> = Vec::new();
    names.extend(CONSTANTS.map(|(group, name)| (group, name.to_owned())));
    names.extend([("patch", "P".to_owned()), ("set", "Q".to_owned())]);
    let (color, code) = (random.below(10), random.below(8));
    let mut text = format!(
        "def solve_{number}(I):\n    P = f_ofcolor(I, F{color})\n    Q = o_g(I, R{code})\n"
    );
    let steps = 2 + random.below(6);
    for step in 0..steps {
        let op = random.of(ops).op();
        let mut args = Vec::new();
        for param in op.params {
            let wanted = group(param.ty);
            let any = wanted == "any" || random.below(8) == 0;
            let fits = |known: &&(&str, String)| any || known.0 == wanted;
            let fitting: Vec<&(&str, String)> = names.iter().filter(fits).collect();
            // The steps before this one are more interesting than constants.
            let recent = fitting.len() - fitting.len().min(3);
            let at = match random.below(3) {
                0 => random.below(fitting.len()),
                _ => recent + random.below(fitting.len() - recent),
            };
            args.push(fitting[at].1.clone());
        }
        let name = match step + 1 == steps {
            true => "O".to_owned(),
            false => format!("x{}", step + 1),
        };
        text += &format!("    {name} = {}({})\n", op.name, args.join(", "));
        names.push((group(op.returns), name));
    }
    text + "    return O\n\n"
}

/// Programs of functions that do not take functions. `BATT_WAVE_PROGRAMS` and `BATT_WAVE_SEED` set
/// how many there are and which.
#[test]
fn random_programs_of_tokpidjin_end_as_on_the_cpu() {
    let number_in = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<usize>().ok())
    };
    let mut random = Random(number_in("BATT_WAVE_SEED").unwrap_or(1) as u64);
    let ops: Vec<OpId> = OpId::every()
        .filter(|op| op.op().dialect == Dialect::Tokpidjin && batt_wave::table().of(*op).is_some())
        .filter(|op| {
            op.op()
                .params
                .iter()
                .all(|param| param.ty != Type::Callable)
        })
        .collect();
    let tasks = corpus::tasks();
    let samples = corpus_samples(&tasks);
    for _ in 0..number_in("BATT_WAVE_PROGRAMS").unwrap_or(400) / 50 {
        let text: String = (0..50)
            .map(|n| random_program(&mut random, &ops, n))
            .collect();
        let file = SolverFile::parse_in(&text, "random.py", Some(Dialect::Tokpidjin));
        let programs: Vec<&Program> = file.programs.iter().collect();
        assert_eq!(programs.len(), 50, "{text}");
        let chosen: Vec<Sample<'_>> = (0..8).map(|_| random.of(&samples)).collect();
        eprintln!("{:?}", compare(&programs, &chosen).left);
    }
}
