//! A run that a device finishes takes the CPU at most `STEPS_PER_FUEL` steps per unit of fuel.
//!
//! The lanes of a warp share work and therefore fuel, so the tests use all lanes.

use std::path::Path;

use batt_arc::{Dataset, Grid, corpus};
use batt_dsl::{Dialect, Limits, Op, Workspace};
use batt_emulated::{Emulated, LaneOrder};
use batt_engine::device::{
    Done, Inputs, JobAt, JobParam, LaunchSettings, Launcher, Programs, STEPS_PER_FUEL, Shapes,
};
use batt_engine::{Compiled, Sample, judge};
use batt_lang::SolverFile;

/// The cost of a run.
struct Cost {
    steps: u64,
    fuel: u64,
    /// Whether the run failed on the CPU.
    failed: bool,
}

/// Fuel added to every run, because the CPU may take some steps to detect that the first call
/// fails.
const START_FUEL: u64 = 8;

impl Cost {
    /// Returns the CPU's steps per unit of fuel.
    fn ratio(&self) -> u64 {
        self.steps.div_ceil(START_FUEL + self.fuel)
    }

    /// Returns the CPU's steps per unit of fuel for the part of another run that exceeds this one.
    fn ratio_beyond(&self, more: &Cost) -> u64 {
        let fuel = more.fuel.saturating_sub(self.fuel);
        (more.steps.saturating_sub(self.steps)).div_ceil(fuel.max(1))
    }
}

/// Programs on samples, with their results on a device.
struct Runs<'a> {
    programs: Vec<Compiled>,
    samples: &'a [Sample<'a>],
    done: Done,
}

impl<'a> Runs<'a> {
    /// Runs all programs of a text on all samples. Returns `None` if warps are not supported.
    fn new(dialect: Dialect, text: &str, samples: &'a [Sample<'a>]) -> Option<Runs<'a>> {
        let Some(mut device) = Emulated::warp(LaneOrder::Up) else {
            println!("skipped: lanes are switched on Linux on x86-64 alone");
            return None;
        };
        let file = SolverFile::parse_in(text, "solvers.py", Some(dialect));
        assert!(file.is_clean(), "{:?}", file.diagnostics.first());
        let compiled: Vec<Compiled> = file.programs.iter().map(Compiled::new).collect();
        let (programs, at) = Programs::of(&compiled, 1);
        let mut shapes = Shapes::default();
        let shape = shapes.add(&[JobParam::Input]);
        let mut inputs = Inputs::new();
        let places = inputs.push_samples(samples, &shapes);
        let job = |program, sample: usize| JobAt {
            expected: places[sample].expected,
            ..JobAt::new(program, places[sample].params(shape))
        };
        let jobs: Vec<JobAt> = at
            .into_iter()
            .flat_map(|at| (0..samples.len()).map(move |sample| (at, sample)))
            .map(|(at, sample)| job(at.expect("a program that can be sent"), sample))
            .collect();
        let settings = LaunchSettings {
            fuel: 10_000,
            values: false,
            ..LaunchSettings::default()
        };
        let done = Launcher::new(settings, 1)
            .run(&mut device, &programs, &inputs, &jobs)
            .expect("a launch");
        Some(Runs {
            programs: compiled,
            samples,
            done,
        })
    }

    /// Returns the cost of a program on a sample; `None` if the device did not finish it.
    fn cost(&self, program: usize, sample: usize) -> Option<Cost> {
        let at = program * self.samples.len() + sample;
        self.done.job(at).ok()?;
        let program = &self.programs[program];
        let Sample {
            input, expected, ..
        } = self.samples[sample];
        let (steps, failed) = Workspace::new().run(program.dialect(), &Limits::default(), |run| {
            let input = run.input(input.height(), input.width(), input.cells());
            let value = program.execute(run, &[input.expect("a grid of ARC")]);
            if let Ok(value) = value {
                judge(run, value, expected);
                run.hash(value);
            }
            (run.spent(), value.is_err())
        });
        Some(Cost {
            steps,
            fuel: self.done.spent(at).into(),
            failed,
        })
    }
}

fn is_heavy() -> bool {
    std::env::var_os("BATT_HEAVY").is_some_and(|value| value != "0")
}

/// Runs the solvers of the corpus on inputs of all tasks. For measurements, runs those of the file
/// `BATT_SOLVERS` on one of `BATT_EVERY` inputs of the tasks in `BATT_TASKS`.
#[test]
fn solvers_stay_within_the_steps_for_their_fuel() {
    let text = match std::env::var("BATT_SOLVERS") {
        Ok(path) => std::fs::read_to_string(path).expect("a file of solvers"),
        Err(_) => corpus::SOLVERS.to_owned(),
    };
    let tasks = match std::env::var("BATT_TASKS") {
        Ok(path) => Dataset::load(Path::new(&path)).expect("tasks"),
        Err(_) => corpus::tasks(),
    };
    let every = std::env::var("BATT_EVERY").map_or(10, |n| n.parse().expect("a number"));
    let samples: Vec<Sample<'_>> = tasks
        .pairs()
        .step_by(every)
        .map(|(task, _, pair)| Sample::new(task, pair))
        .collect();
    let Some(runs) = Runs::new(Dialect::ArcDsl, &text, &samples) else {
        return;
    };
    let mut most = (0, 0);
    let mut fuel = Vec::new();
    for program in 0..runs.programs.len() {
        for sample in 0..samples.len() {
            let Some(cost) = runs.cost(program, sample) else {
                continue;
            };
            if cost.ratio() > STEPS_PER_FUEL {
                println!(
                    "program {program}, sample {sample}: {} steps, fuel {}",
                    cost.steps, cost.fuel
                );
            }
            most = (most.0.max(cost.ratio()), most.1.max(cost.steps));
            fuel.push(cost.fuel);
        }
    }
    fuel.sort_unstable();
    let part = |share: usize| fuel[(fuel.len() - 1) * share / 1000];
    println!(
        "{} runs: at most {} steps for a unit of fuel, {} steps; fuel: half need {}, 99 % {}, 99.9 % {}",
        fuel.len(),
        most.0,
        most.1,
        part(500),
        part(990),
        part(999)
    );
    assert!(most.0 <= STEPS_PER_FUEL);
}

/// Arguments, most of them far larger than those in solvers.
const ARGUMENTS: [&str; 29] = [
    "I",
    "upscale(I, FOUR)",
    "upscale(I, TEN)",
    "asindices(I)",
    "asobject(I)",
    "objects(I, T, F, F)",
    "objects(I, F, F, F)",
    "partition(I)",
    "asindices(upscale(I, THREE))",
    "asobject(upscale(I, THREE))",
    "interval(ZERO, 900, ONE)",
    "hsplit(I, THREE)",
    "ONE",
    "TEN",
    "T",
    "(1, 1)",
    "(300, 300)",
    "size",
    "identity",
    "toindices",
    "lbind(add, ONE)",
    "initset(upscale(I, FOUR))",
    "repeat(upscale(I, FOUR), TEN)",
    "repeat(asindices(I), TEN)",
    "totuple(asobject(I))",
    // Functions with lane bodies that iterate over their argument.
    "numcolors",
    "uppermost",
    "matcher(identity, asindices(I))",
    "rbind(contained, totuple(asobject(I)))",
];

/// Returns the same argument in tokpidjin.
fn in_tokpidjin(argument: &str) -> String {
    match argument {
        "objects(I, T, F, F)" => "o_g(I, R4)".to_owned(),
        "objects(I, F, F, F)" => "o_g(I, R0)".to_owned(),
        "numcolors" => "numcolors_f".to_owned(),
        other => other.replace("upscale", "upscale_t"),
    }
}

/// The positions of the arguments that are tried with primitives of many parameters.
const FEWER_ARGUMENTS: [usize; 12] = [0, 1, 3, 4, 5, 10, 12, 13, 15, 17, 18, 23];

/// Returns two programs for each choice of arguments: one calls the primitive once, the other
/// twice.
fn calls(op: &Op, every: usize) -> (String, Vec<String>) {
    let (name, arity) = (op.name, op.arity() as u32);
    let spelt = |k: usize| match op.dialect {
        Dialect::Tokpidjin => in_tokpidjin(ARGUMENTS[k]),
        _ => ARGUMENTS[k].to_owned(),
    };
    let arguments: Vec<String> = match arity {
        ..3 => (0..ARGUMENTS.len()).map(spelt).collect(),
        _ => FEWER_ARGUMENTS.map(spelt).to_vec(),
    };
    let (mut text, mut calls) = (String::new(), Vec::new());
    for choice in (0..arguments.len().pow(arity)).step_by(every) {
        let digit = |place: u32| choice / arguments.len().pow(place) % arguments.len();
        let chosen: Vec<&str> = (0..arity).map(|place| &*arguments[digit(place)]).collect();
        let made = chosen.iter().enumerate();
        let made: String = made.map(|(k, a)| format!("    a{k} = {a}\n")).collect();
        let names: Vec<String> = (0..arity).map(|k| format!("a{k}")).collect();
        let call = format!("{name}({})", names.join(", "));
        for (letter, again) in [("p", ""), ("q", &*format!("    y = {call}\n"))] {
            text +=
                &format!("def {letter}{choice}(I):\n{made}    x = {call}\n{again}    return I\n\n");
        }
        calls.push(format!("{name}({})", chosen.join(", ")));
    }
    (text, calls)
}

/// Calls every primitive with large arguments, in all combinations (`BATT_HEAVY`) or some. No call
/// may take the CPU more steps than its fuel allows. Neither may a second call, which finds filled
/// caches. For measurements, `BATT_OPS` selects primitives.
fn calls_stay_within_the_steps_for_their_fuel(dialect: Dialect) {
    let cells = |cell: fn(usize, usize) -> usize| {
        let row = |i| (0..30).map(|j| cell(i, j) as u8).collect();
        let rows: Vec<Vec<u8>> = (0..30).map(row).collect();
        Grid::from_rows(&rows).expect("a grid")
    };
    let grids = [
        cells(|i, j| (i * 7 + j * 13 + i * j) % 10),
        cells(|i, j| ((i / 3 + j / 3) % 2) * (i / 3 % 9 + 1)),
    ];
    let samples = grids.each_ref().map(|input| Sample {
        demos: &[],
        input,
        expected: None,
    });
    // The worst call of each primitive.
    let mut found: Vec<(u64, String)> = Vec::new();
    let mut measured = 0;
    let alone = std::env::var("BATT_OPS").ok();
    let wanted = |name| (alone.as_ref()).is_none_or(|names| names.split(',').any(|n| n == name));
    let ops = dialect.ops().iter();
    for op in ops.filter(|op| (1..=4).contains(&op.arity()) && wanted(op.name)) {
        let every = match (is_heavy(), op.arity()) {
            (true, ..4) => 1,
            (true, _) => 5,
            (false, 1) => 3,
            (false, 2) => 61,
            (false, _) => 701,
        };
        let (text, calls) = calls(op, every);
        let Some(runs) = Runs::new(dialect, &text, &samples) else {
            return;
        };
        let mut worst = (0, format!("{}, never finished", op.name));
        for (k, call) in calls.into_iter().enumerate() {
            for sample in 0..samples.len() {
                let once = runs.cost(2 * k, sample);
                let twice = runs.cost(2 * k + 1, sample);
                let (Some(once), Some(twice)) = (once, twice) else {
                    continue;
                };
                let mut ratio = once.ratio();
                if !twice.failed {
                    ratio = ratio.max(once.ratio_beyond(&twice));
                }
                measured += 1;
                if ratio >= worst.0 {
                    let more = [&once, &twice].map(|c| format!("{} / {}", c.steps, c.fuel));
                    worst = (ratio, format!("{call}: {}", more.join(", twice ")));
                }
            }
        }
        found.push(worst);
    }
    found.sort_by_key(|(ratio, _)| std::cmp::Reverse(*ratio));
    let beyond = found.partition_point(|(ratio, _)| *ratio > STEPS_PER_FUEL);
    for (ratio, call) in &found[..found.len().min(beyond.max(20))] {
        println!("{ratio} steps for a unit of fuel: {call}");
    }
    assert!(measured > 1000 || alone.is_some());
    assert!(found[0].0 <= STEPS_PER_FUEL, "{}", found[0].1);
}

#[test]
fn calls_in_arc_dsl_stay_within_the_steps_for_their_fuel() {
    calls_stay_within_the_steps_for_their_fuel(Dialect::ArcDsl);
}

#[test]
fn calls_in_tokpidjin_stay_within_the_steps_for_their_fuel() {
    calls_stay_within_the_steps_for_their_fuel(Dialect::Tokpidjin);
}

/// The CPU searches a tuple from its beginning for each value. However a device searches, it must
/// pay fuel for that or give up the run.
#[test]
fn a_search_through_a_tuple_costs_fuel() {
    let rows: Vec<Vec<u8>> = (0..30).map(|i| vec![i % 10; 30]).collect();
    let input = Grid::from_rows(&rows).expect("a grid");
    let samples = [Sample {
        demos: &[],
        input: &input,
        expected: None,
    }];
    let text = "def p(I):\n    a = upscale(I, FOUR)\n    b = repeat(a, TEN)\n    x = difference(b, a)\n    return I\n";
    let Some(runs) = Runs::new(Dialect::ArcDsl, text, &samples) else {
        return;
    };
    if let Some(cost) = runs.cost(0, 0) {
        let (steps, fuel) = (cost.steps, cost.fuel);
        assert!(cost.ratio() <= STEPS_PER_FUEL, "{steps} / {fuel}");
    }
}
