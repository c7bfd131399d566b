//! A run that the device finishes does not reach a limit on the CPU: the CPU takes at most the steps
//! that the device charges, and memory in proportion.

#![cfg(feature = "emulated")]

use std::fmt::Write as _;
use std::path::Path;

use batt_arc::{Dataset, Grid, corpus};
use batt_dsl::{Dialect, Fault, Limits, OpId, Workspace};
use batt_engine::wave::{WaveBatch, WaveEnd, WaveEngine, WavePlan, WaveReason};
use batt_engine::{Cancel, Compiled, Job, Judged, Sample, Verdict, judge_job};
use batt_lang::{Program, SolverFile};
use batt_wave::EmulatedWaves;

/// Returns the colour of a cell, by its number. The first argument makes random numbers below a bound.
type Color<'f> = &'f mut dyn FnMut(&mut dyn FnMut(u64) -> u64, usize) -> u64;

/// Grids that make ops work hard.
fn hard_grids() -> Vec<Grid> {
    let mut seed = 12_345_u64;
    let mut random = move |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % n
    };
    let mut grid = |color: Color<'_>| {
        let cells: Vec<u8> = (0..900).map(|at| color(&mut random, at) as u8).collect();
        Grid::new(30, 30, cells).unwrap()
    };
    vec![
        grid(&mut |random, _| random(10)),
        grid(&mut |random, _| u64::from(random(8) == 0) * 8),
        grid(&mut |_, at| (at % 2 + at / 30 % 2) as u64 % 2 * 8),
        grid(&mut |_, _| 8),
    ]
}

/// Values for arguments, each with those that it needs.
const VALUES: [(&str, &str); 20] = [
    ("I", ""),
    ("EIGHT", ""),
    ("TWO", ""),
    ("UNITY", ""),
    ("T", ""),
    ("size", ""),
    ("ulcorner", ""),
    ("toindices", ""),
    ("b1", "    b1 = asobject(I)\n"),
    ("b2", "    b2 = asindices(I)\n"),
    ("b3", "    b3 = objects(I, T, F, F)\n"),
    ("b4", "    b4 = objects(I, F, T, T)\n"),
    ("b5", "    b5 = partition(I)\n"),
    (
        "b6",
        "    a2 = asindices(I)\n    b6 = order(a2, identity)\n",
    ),
    ("b7", "    b7 = hsplit(I, THREE)\n"),
    ("b8", "    b8 = ofcolor(I, EIGHT)\n"),
    ("b9", "    a5 = partition(I)\n    b9 = order(a5, color)\n"),
    (
        "b10",
        "    a7 = vsplit(I, THREE)\n    b10 = apply(asobject, a7)\n",
    ),
    (
        "b11",
        "    a2 = asindices(I)\n    b11 = apply(neighbors, a2)\n",
    ),
    (
        "b12",
        "    a12 = hconcat(I, I)\n    b12 = vconcat(a12, a12)\n",
    ),
];

/// Returns a random number below `n`.
fn next(seed: &mut u64, n: u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % n.max(1)
}

/// A combination of values as arguments, by its number.
fn arguments(number: usize, arity: usize) -> Vec<&'static str> {
    let digit = |place: u32| number / VALUES.len().pow(place) % VALUES.len();
    match arity {
        4 => vec![
            VALUES[digit(0)].0,
            ["F", "T"][digit(1) % 2],
            "F",
            ["F", "T"][digit(2) % 2],
        ],
        _ => (0..arity as u32)
            .map(|place| VALUES[digit(place)].0)
            .collect(),
    }
}

/// The lines that define values.
fn definitions(args: &[&str]) -> String {
    let mut lines: Vec<&str> = VALUES
        .iter()
        .filter(|value| args.contains(&value.0))
        .flat_map(|value| value.1.split_inclusive('\n'))
        .collect();
    lines.dedup();
    lines.concat()
}

/// The CPU's default limits, scaled to a number of steps.
fn limits_for(charge: u64) -> Limits {
    let Limits { steps, memory, .. } = Limits::default();
    let bytes = u128::from(charge) * memory as u128 / u128::from(steps);
    Limits {
        steps: charge.min(steps),
        memory: (bytes as usize).min(memory),
        ..Limits::default()
    }
}

fn is_limit(judged: &Judged) -> bool {
    let limits = [Fault::Steps, Fault::Size, Fault::Memory, Fault::Time];
    matches!(&judged.verdict, Verdict::Failed(error) if limits.contains(&error.fault))
}

/// What became of runs.
#[derive(Debug, Default)]
struct Tally {
    finished: u64,
    left: [u64; WaveReason::ALL.len()],
    /// Finished runs that the CPU cannot do within what they were charged.
    exceeded: u64,
    /// Finished runs that end with a limit on the CPU.
    wrong: u64,
    /// Runs left for their limits that end with one on the CPU.
    limited: u64,
}

/// Runs programs on samples. The CPU gets the limits that a finished run was charged.
fn check(programs: &[&Program], samples: &[Sample<'_>]) -> Tally {
    let mut engine = WaveEngine::new(Box::new(EmulatedWaves)).unwrap();
    let resident = engine.load(samples).unwrap();
    let mut tally = Tally::default();
    let mut workspace = Workspace::new();
    for part in programs.chunks(50) {
        let compiled: Vec<Compiled> = part.iter().map(|program| Compiled::new(program)).collect();
        let plan = WavePlan::of(engine.table(), programs[0].dialect(), &compiled);
        let batch = WaveBatch {
            plan: &plan,
            first: 0,
            count: samples.len(),
        };
        let (records, report) = engine.run(&[batch], &resident, &Limits::default(), &Cancel::new());
        assert_eq!(report.errors, [] as [String; 0]);
        for (p, program) in compiled.iter().enumerate() {
            for (s, sample) in samples.iter().enumerate() {
                let job = Job {
                    program,
                    sample: *sample,
                };
                let end = records.end(0, p, s);
                if let WaveEnd::Left(reason) = end {
                    tally.left[reason as usize] += 1;
                    if reason == WaveReason::Limit {
                        let cpu = judge_job(&mut workspace, &job, &Limits::default());
                        tally.limited += u64::from(is_limit(&cpu));
                        if is_shown() {
                            eprintln!("left: {} on {s}: {:?}", part[p].name(), cpu.verdict);
                        }
                    }
                    continue;
                }
                tally.finished += 1;
                let charge = records.charge(0, p, s).unwrap();
                if is_limit(&judge_job(&mut workspace, &job, &limits_for(charge))) {
                    tally.exceeded += 1;
                    let cpu = judge_job(&mut workspace, &job, &Limits::default());
                    tally.wrong += u64::from(is_limit(&cpu));
                    if tally.exceeded < 20 {
                        let steps = (1..200)
                            .map(|k| charge * k / 4)
                            .find(|c| !is_limit(&judge_job(&mut workspace, &job, &limits_for(*c))));
                        eprintln!(
                            "charged {charge}, needed {steps:?}, sample {s}:\n{}",
                            part[p]
                        );
                    }
                }
            }
        }
        engine.reuse(records);
    }
    engine.release(resident);
    eprintln!("{tally:?}");
    assert_eq!((tally.exceeded, tally.wrong), (0, 0));
    tally
}

/// Returns a number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |n| n.parse().expect("a number"))
}

fn is_shown() -> bool {
    std::env::var_os("BATT_SHOW").is_some()
}

/// The embedded solvers on the inputs of all embedded tasks. For measurements, the solvers of the
/// file `BATT_SOLVERS` on the inputs of every `BATT_EVERY`th task of `BATT_TASKS`.
#[test]
fn solvers_cost_at_most_what_is_charged() {
    let text = match std::env::var("BATT_SOLVERS") {
        Ok(path) => std::fs::read_to_string(path).expect("a file of solvers"),
        Err(_) => corpus::SOLVERS.to_owned(),
    };
    let tasks = match std::env::var("BATT_TASKS") {
        Ok(path) => Dataset::load(Path::new(&path)).expect("tasks"),
        Err(_) => corpus::tasks(),
    };
    let every = number("BATT_EVERY", 1) as usize;
    let file = SolverFile::parse_in(&text, "solvers.py", Some(Dialect::ArcDsl));
    let programs: Vec<&Program> = file.programs.iter().collect();
    let samples: Vec<Sample<'_>> = (tasks.iter().step_by(every))
        .flat_map(|task| task.pairs().map(move |pair| Sample::new(task, pair.1)))
        .collect();
    assert!(check(&programs, &samples).finished > 0);
}

fn check_on_hard_grids(text: &str) {
    let file = SolverFile::parse_in(text, "x.py", Some(Dialect::ArcDsl));
    let programs: Vec<&Program> = file.programs.iter().collect();
    let grids = hard_grids();
    let sample = |input| Sample {
        demos: &[],
        input,
        expected: None,
    };
    let samples: Vec<Sample<'_>> = grids.iter().take(2).map(sample).collect();
    let _ = check(&programs, &samples);
}

/// Every op, for all combinations of some values, on its own and in a closure.
#[test]
fn calls_cost_at_most_what_is_charged() {
    let mut seed = number("BATT_SEED", 1);
    for op in OpId::every().filter(|op| op.op().dialect == Dialect::ArcDsl) {
        let (name, arity) = (op.op().name, op.op().arity());
        let mut text = String::new();
        let all = VALUES.len().pow(arity.min(3) as u32);
        for number in (0..all)
            .filter(|_| all < 20 || next(&mut seed, all as u64 / number("BATT_CALLS", 8)) == 0)
        {
            let args = arguments(number, arity);
            let base = definitions(&args);
            let all = args.join(", ");
            let _ = write!(
                text,
                "def solve_{number}(I):\n{base}    O = {name}({all})\n    return O\n\n"
            );
            // The emulated device takes long to insert values into many large sets.
            let large = ["b3", "b11"];
            if arity == 2 && !args.iter().any(|arg| large.contains(arg)) {
                let (first, second) = (args[0], args[1]);
                let _ = write!(
                    text,
                    "def solve_{number}_0(I):\n{base}    f = rbind({name}, {second})\n    \
                     O = apply(f, {first})\n    return O\n\n\
                     def solve_{number}_1(I):\n{base}    f = lbind({name}, {first})\n    \
                     O = apply(f, {second})\n    return O\n\n"
                );
            }
            if arity == 1 {
                let _ = write!(
                    text,
                    "def solve_{number}_0(I):\n{base}    O = apply({name}, {all})\n    return O\n\n\
                     def solve_{number}_1(I):\n{base}    x = order({all}, {name})\n    \
                     O = merge(x)\n    return O\n\n"
                );
            }
        }
        eprintln!("{name}");
        check_on_hard_grids(&text);
    }
}

/// Returns a number of steps, and memory in proportion, that the CPU needs for a run.
fn need(workspace: &mut Workspace, job: &Job<'_>) -> u64 {
    let (mut low, mut high) = (0, Limits::default().steps);
    while high - low > 8 {
        let middle = u64::midpoint(low, high);
        match is_limit(&judge_job(workspace, job, &limits_for(middle))) {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// A call on a grid of 64 x 64 that the device finishes costs the CPU at most the bound of its op.
#[test]
fn calls_on_wide_grids_cost_at_most_the_bounds_of_their_ops() {
    let head = "    a = crop(I, (0, 0), (16, 16))\n    G = upscale(a, 4)\n    p = asobject(I)\n    \
                q = asindices(I)\n    s = totuple(q)\n    z = (1, (60, 60))\n    \
                t = insert(z, p)\n    w = ((1, (2, 3)), (2, (2, 3)))\n    y = repeat(G, 4)\n    \
                b = crop(G, (0, 0), (64, 16))\n    g = asindices(b)\n    h = asobject(b)\n    \
                k = ofcolor(b, 8)\n";
    let values = [
        "G", "G", "I", "8", "0", "-3", "(1, 1)", "(40, 33)", "p", "q", "s", "t", "w", "y", "g",
        "h", "k",
    ];
    let table = batt_wave::table();
    let mut engine = WaveEngine::new(Box::new(EmulatedWaves)).unwrap();
    let mut workspace = Workspace::new();
    let grids = hard_grids();
    let mut seed = number("BATT_SEED", 5);
    let mut finished = 0;
    for op in OpId::every().filter(|op| op.op().dialect == Dialect::ArcDsl) {
        let (name, arity) = (op.op().name, op.op().arity());
        let Some(kernel) = table.of(op) else { continue };
        let bound = u64::from(table.kernels()[kernel].steps);
        let mut text = format!("def solve_0(I):\n{head}    O = size(G)\n    return O\n\n");
        for number in 0..values.len().pow(arity as u32).min(40_000) {
            let arg = |place: u32| values[number / values.len().pow(place) % values.len()];
            let args: Vec<&str> = (0..arity as u32).map(arg).collect();
            let is_wide = args.contains(&"G") || args.contains(&"y");
            if is_wide && (arity < 3 || next(&mut seed, 8) == 0) {
                let args = args.join(", ");
                let body = format!("{head}    O = {name}({args})\n");
                let _ = write!(text, "def solve_{}(I):\n{body}    return O\n\n", number + 1);
            }
        }
        let file = SolverFile::parse_in(&text, "x.py", Some(Dialect::ArcDsl));
        let programs: Vec<Compiled> = file.programs.iter().map(Compiled::new).collect();
        let samples = [&grids[0], &grids[3]].map(|input| Sample {
            demos: &[],
            input,
            expected: None,
        });
        let resident = engine.load(&samples).unwrap();
        let plan = WavePlan::of(engine.table(), Dialect::ArcDsl, &programs);
        let batch = WaveBatch {
            plan: &plan,
            first: 0,
            count: samples.len(),
        };
        let (records, report) = engine.run(&[batch], &resident, &Limits::default(), &Cancel::new());
        assert_eq!(report.errors, [] as [String; 0]);
        for (s, sample) in samples.iter().enumerate() {
            let job = |p: usize| Job {
                program: &programs[p],
                sample: *sample,
            };
            let needed = need(&mut workspace, &job(0));
            for p in 1..programs.len() {
                let most = match records.end(0, p, s) {
                    WaveEnd::Left(_) => continue,
                    // A run has one fault at most, so it matters less what it costs.
                    WaveEnd::Fault { .. } => bound.max(20_000),
                    WaveEnd::Value { .. } => bound,
                };
                finished += 1;
                let limits = limits_for(needed + most);
                let fits = !is_limit(&judge_job(&mut workspace, &job(p), &limits));
                assert!(fits, "more than {most} steps:\n{}", file.programs[p]);
            }
        }
        engine.reuse(records);
        engine.release(resident);
    }
    eprintln!("{finished} finished");
    assert!(finished > 1_000);
}

/// Chains of random calls, maps in maps and powers.
#[test]
fn adversarial_programs_cost_at_most_what_is_charged() {
    let unary = [
        "asobject",
        "asindices",
        "toindices",
        "totuple",
        "first",
        "last",
        "merge",
        "backdrop",
        "box",
        "outbox",
        "inbox",
        "delta",
        "corners",
        "normalize",
        "neighbors",
        "dneighbors",
        "hmirror",
        "dmirror",
        "rot90",
        "partition",
        "fgpartition",
        "frontiers",
        "palette",
        "initset",
        "dedupe",
        "ulcorner",
        "center",
        "vfrontier",
        "hfrontier",
        "compress",
        "trim",
        "mostcommon",
        "hperiod",
        "shape",
        "size",
        "tophalf",
    ];
    let binary = [
        "combine",
        "difference",
        "intersection",
        "insert",
        "remove",
        "astuple",
        "product",
        "pair",
        "manhattan",
        "gravitate",
        "adjacent",
        "hmatching",
        "shift",
        "toobject",
        "recolor",
        "paint",
        "cover",
        "hconcat",
        "vconcat",
        "connect",
        "shoot",
        "equality",
        "contained",
        "upscale",
        "hsplit",
        "occurrences",
        "subgrid",
        "ofcolor",
        "colorfilter",
        "sizefilter",
        "repeat",
        "position",
        "sfilter",
        "apply",
        "mapply",
        "order",
        "argmax",
        "extract",
    ];
    let programs: u64 = number("BATT_PROGRAMS", 200);
    let mut seed = number("BATT_SEED", 7);
    let mut text = String::new();
    for program in 0..programs {
        let _ = writeln!(text, "def solve_{program}(I):");
        let names: Vec<&str> = (VALUES.iter().map(|value| value.0))
            .filter(|name| !["b3", "b11"].contains(name))
            .collect();
        // Programs fail where one value does, so only some of them are there.
        let mut kept = vec!["I"];
        for _ in 0..3 {
            kept.push(names[next(&mut seed, names.len() as u64) as usize]);
        }
        text += &definitions(&kept);
        let mut values: Vec<String> = kept.into_iter().map(str::to_owned).collect();
        for step in 0..3 + next(&mut seed, 12) {
            let mut pick = || {
                let from = next(&mut seed, 3).min(1) * (values.len() as u64).saturating_sub(3);
                let at = from + next(&mut seed, values.len() as u64 - from);
                values[at as usize].clone()
            };
            let (a, b) = (pick(), pick());
            let one = unary[next(&mut seed, unary.len() as u64) as usize];
            let other = unary[next(&mut seed, unary.len() as u64) as usize];
            let two = binary[next(&mut seed, binary.len() as u64) as usize];
            let x = format!("x{step}");
            let _ = match next(&mut seed, 9) {
                0 | 1 => writeln!(text, "    {x} = {one}({a})"),
                2 | 3 => writeln!(text, "    {x} = {two}({a}, {b})"),
                4 => writeln!(text, "    {x} = apply({one}, {a})"),
                5 => write!(
                    text,
                    "    f{step} = rbind({two}, {b})\n    {x} = apply(f{step}, {a})\n"
                ),
                6 => write!(
                    text,
                    "    f{step} = compose({one}, {other})\n    {x} = mapply(f{step}, {a})\n"
                ),
                7 => write!(
                    text,
                    "    f{step} = power({one}, {})\n    {x} = f{step}({a})\n",
                    1 + next(&mut seed, 20)
                ),
                _ => write!(
                    text,
                    "    f{step} = lbind(apply, {one})\n    {x} = apply(f{step}, {a})\n"
                ),
            };
            values.push(x);
        }
        let last = values.last().unwrap();
        let _ = writeln!(text, "    return {last}\n");
    }
    check_on_hard_grids(&text);
}

/// Programs that come near the limits, or exceed them by a single call.
#[test]
fn runs_near_the_limits_cost_at_most_what_is_charged() {
    let mut text = String::new();
    let mut add = |lines: &[String]| {
        let number = text.len();
        let _ = writeln!(text, "def solve_{number}(I):");
        for line in lines {
            let _ = writeln!(text, "    {line}");
        }
        text += "    return O\n\n";
    };
    let order = "x0 = asindices(I)\n    y = order(x0, identity)\n    z = asobject(I)";
    for call in [
        "gravitate(z, y)",
        "gravitate(y, z)",
        "manhattan(y, z)",
        "adjacent(y, z)",
        "difference(z, y)",
        "difference(y, y)",
        "product(y, y)",
        "pair(y, y)",
        "contained(y, y)",
        "equality(y, y)",
        "combine(y, y)",
        "manhattan(z, z)",
        "gravitate(z, z)",
    ] {
        add(&[order.to_owned(), format!("O = {call}")]);
    }
    for length in [10, 60, 100, 140, 200] {
        for (first, chain) in [
            ("x0 = hmirror(I)", "hmirror"),
            ("x0 = asobject(I)", "cmirror"),
            ("x0 = asobject(I)", "normalize"),
            ("x0 = asindices(I)", "toindices"),
        ] {
            let mut lines = vec![first.to_owned()];
            lines.extend((1..length).map(|k| format!("x{k} = {chain}(x{})", k - 1)));
            lines.push(format!("O = {chain}(x{})", length - 1));
            add(&lines);
        }
        let mut lines: Vec<String> = vec!["x0 = objects(I, T, F, F)".to_owned()];
        for k in 1..length {
            lines.push(format!(
                "c{k} = add({k}, TWO)\n    f{k} = lbind(recolor, c{k})"
            ));
            lines.push(format!("x{k} = apply(f{k}, x{})", k - 1));
        }
        lines.push(format!("O = merge(x{})", length - 1));
        add(&lines);
    }
    for n in [1, 5, 10, 20, 40] {
        for outer in ["outbox", "backdrop", "normalize", "toindices", "hmirror"] {
            add(&[
                format!("f = power({outer}, {n})"),
                "x = objects(I, T, F, T)".to_owned(),
                "y = apply(f, x)".to_owned(),
                "O = merge(y)".to_owned(),
            ]);
            add(&[
                format!("f = power({outer}, {n})"),
                "g = lbind(apply, f)".to_owned(),
                "p = partition(I)\n    q = hsplit(I, THREE)".to_owned(),
                "h = compose(g, fgpartition)".to_owned(),
                "O = mapply(h, q)".to_owned(),
            ]);
        }
    }
    for call in ["connect", "astuple", "add", "manhattan", "shoot"] {
        add(&[
            "x = ofcolor(I, EIGHT)".to_owned(),
            format!("O = prapply({call}, x, x)"),
        ]);
        add(&[
            "x = frontiers(I)\n    y = palette(I)".to_owned(),
            format!("O = prapply({call}, y, y)"),
        ]);
    }
    check_on_hard_grids(&text);
}
