//! Random batts of random solvers and differs have the same results on devices and on the CPU, for
//! any number of threads.

use std::num::NonZeroUsize;

use batt_arc::{Grid, Pair};
use batt_cuda::{Cuda, CudaSettings};
use batt_dsl::{Dialect, Limits, OwnedValue};
use batt_emulated::{Emulated, LaneOrder};
use batt_engine::Cancel;
use batt_engine::device::Device;
use batt_engine::{CompiledBatt, MegaOptions, RunError, Sample, Verdict, mega_on};
use batt_lang::card::{self, CardDonor, CardOptions};
use batt_lang::{Batt, OnError, Operand, Program, ProgramBuilder, SplitMix64, StepId, StepKind};
use batt_testing::generate::{self, Choices};

/// Returns the number of batts, each run on a few samples.
fn count() -> u64 {
    match std::env::var_os("BATT_HEAVY") {
        Some(_) => 20_000,
        None => 400,
    }
}

/// Returns the number of the first batt. `BATT_SEED` selects other batts.
fn first() -> u64 {
    let seed = std::env::var("BATT_SEED").ok();
    seed.map_or(0, |seed| seed.parse().expect("BATT_SEED is a number"))
}

/// Returns two emulated devices with one lane. `BATT_DEVICE=warp` selects all lanes of a warp in a
/// random order, and `BATT_DEVICE=cuda` two logical devices on a GPU.
fn two_devices() -> Vec<Box<dyn Device>> {
    fn boxed(device: impl Device + 'static) -> Box<dyn Device> {
        Box::new(device)
    }
    let named = std::env::var("BATT_DEVICE").ok();
    match named.as_deref() {
        None => (0..2).map(|_| boxed(Emulated::default())).collect(),
        Some("warp") => {
            let warp = |seed| Emulated::warp(LaneOrder::Shuffled(seed)).expect("Linux on x86-64");
            (1..3).map(|seed| boxed(warp(seed))).collect()
        }
        Some("cuda") => {
            let opened = Cuda::open_all(&[0, 0], &CudaSettings::from_env()).expect("a device");
            opened.devices.into_iter().map(boxed).collect()
        }
        Some(other) => panic!("BATT_DEVICE is warp or cuda, not {other}"),
    }
}

fn bytes(random: &mut SplitMix64, most: u64) -> Vec<u8> {
    let len = random.below(most + 1);
    (0..len).map(|_| random.number() as u8).collect()
}

/// Returns a program for each step of a program, with the value of that step as its result, so that
/// a failure shows the first wrong step.
fn values_of_steps(program: &Program) -> Vec<Program> {
    let number = |operand: &Operand| match operand {
        Operand::Step(id) => Some(id.index()),
        _ => None,
    };
    let slices = (0..program.steps().len()).map(|last| {
        // The operands of a step come before it, so one pass from the end finds all needed steps.
        let mut needed = vec![false; last + 1];
        needed[last] = true;
        for step in (0..=last).rev() {
            if needed[step] {
                let earlier = program.steps()[step].kind.operands().filter_map(number);
                earlier.for_each(|step| needed[step] = true);
            }
        }
        let mut builder = ProgramBuilder::new("slice", program.params().iter().cloned())
            .in_dialect(program.dialect());
        let mut made: Vec<Option<Operand>> = vec![None; last + 1];
        for step in (0..=last).filter(|step| needed[*step]) {
            let take = |operand: &Operand| match number(operand) {
                Some(step) => made[step].clone().expect("it comes before"),
                None => operand.clone(),
            };
            made[step] = Some(match &program.steps()[step].kind {
                StepKind::Call { callee, args } => {
                    builder.call(take(callee), args.iter().map(take).collect())
                }
                StepKind::Tuple(items) => builder.tuple(items.iter().map(take).collect()),
            });
        }
        let result = made[last].clone().expect("it is needed");
        builder.finish(result)
    });
    slices.collect()
}

/// Returns a batt of random solvers and one solver that returns the input. The differs are random
/// as well if random programs of the dialect use `C`.
fn batt(random: &mut SplitMix64, dialect: Dialect) -> (Batt, OnError) {
    let mut programs = |count: u64| -> Vec<Program> {
        let programs = 0..random.below(count);
        programs
            .map(|_| generate::program_in(dialect, &mut Choices::new(&bytes(random, 160))))
            .collect()
    };
    let mut solvers: Vec<Program> = programs(4).iter().flat_map(values_of_steps).collect();
    let params = match dialect {
        Dialect::Tokpidjin => &["S", "I", "C"][..],
        _ => &["I"],
    };
    let builder = ProgramBuilder::new("same", params.iter().copied()).in_dialect(dialect);
    let input = builder.param(params.len() / 2);
    solvers.push(builder.finish(input));
    let differs = match dialect {
        Dialect::Tokpidjin => programs(5),
        _ => card::differs(dialect),
    };
    let donors: Vec<CardDonor<'_>> = (0..)
        .zip(&solvers)
        .map(|(k, program)| CardDonor {
            id: format!("s{k}"),
            program,
            size: None,
            mutated: false,
        })
        .collect();
    let merged = card::merge(&donors, &differs, &CardOptions::default());
    let on_error = [OnError::Poison, OnError::Defaults][random.below(2) as usize];
    (merged.expect("one dialect").batt, on_error)
}

/// Returns the steps of an entry as text, for failure messages.
fn steps_of(batt: &Batt, entry: usize) -> String {
    let outputs = batt.outputs.iter().map(|o| (&o.steps, &o.value));
    let scores = batt.scores.iter().map(|s| (&s.steps, &s.value));
    let (steps, value) = outputs
        .chain(scores.clone())
        .chain(scores)
        .nth(entry)
        .expect("an entry");
    let line = |id: &StepId| format!("x{} = {}\n", id.0 + 1, batt.program.call_text(*id));
    let lines: String = steps.iter().map(line).collect();
    lines + &batt.program.operand_text(value)
}

type Entries = Vec<Result<OwnedValue, RunError>>;
type Line = (Vec<Verdict>, Entries, Option<Entries>);

#[test]
fn random_batts_are_the_same_everywhere() {
    let (mut compared, mut on_devices, mut left) = (0, 0, 0);
    let mut all_devices = two_devices();
    for round in first()..first() + count() {
        let mut random = SplitMix64::new(round);
        let dialect = [Dialect::ArcDsl, Dialect::Tokpidjin][(round % 2) as usize];
        let (batt, on_error) = batt(&mut random, dialect);
        let batts = [CompiledBatt::new(&batt).on_error(on_error)];
        let grids: Vec<Grid> = (0..4)
            .map(|_| generate::grid(&mut Choices::new(&bytes(&mut random, 40))))
            .collect();
        let demos = [Pair {
            input: grids[0].clone(),
            output: Some(grids[1].clone()),
        }];
        // In one sample the input is the expected output, in one it is not, and one has no known
        // output.
        let expected = [Some(&grids[1]), Some(&grids[0]), None];
        let samples: Vec<Sample<'_>> = grids[1..]
            .iter()
            .zip(expected)
            .map(|(input, expected)| Sample {
                demos: &demos,
                input,
                expected,
            })
            .collect();
        let run = |devices: &mut [Box<dyn Device>], threads: usize, verify: f64| {
            let mut options = MegaOptions {
                limits: Limits::default(),
                threads: NonZeroUsize::new(threads),
                ..MegaOptions::default()
            };
            options.device.verify = verify;
            let mut lines: Vec<Line> = Vec::new();
            let report = mega_on(
                devices,
                &batts,
                &samples,
                0,
                &options,
                &Cancel::new(),
                |_, run, entry| {
                    let owned = run.to_owned(entry.value?);
                    owned.map_err(|fault| RunError { fault, step: None })
                },
                |_, result| lines.push((result.verdicts, result.solved, result.compared)),
            );
            (report, lines)
        };
        let (cores, expected) = run(&mut [], 1, 0.0);
        for (devices, threads, verify) in [(0, 2, 0.0), (1, 1, 0.0), (2, 2, 1.0)] {
            let (report, lines) = run(&mut all_devices[..devices], threads, verify);
            let program = &batt.program;
            for (sample, (there, here)) in lines.iter().zip(&expected).enumerate() {
                let entries =
                    |line: &Line| [&line.1[..], line.2.as_deref().unwrap_or(&[])].concat();
                let pairs = entries(there).into_iter().zip(entries(here));
                for (entry, (there, here)) in pairs.enumerate() {
                    let steps = steps_of(&batt, entry);
                    let on = samples[sample].input;
                    assert_eq!(there, here, "round {round}, on {on:?}\n{steps}");
                }
            }
            assert_eq!(lines, expected, "round {round}\n{program}");
            let steps = report.steps[0].iter().zip(&cores.steps[0]).enumerate();
            for (step, (there, here)) in steps {
                let text = program.call_text(StepId(step as u32));
                assert_eq!(
                    there,
                    here,
                    "x{} = {text} in round {round}\n{program}",
                    step + 1
                );
            }
            if let Some(device) = report.device {
                assert_eq!(device.mismatches, [], "round {round}\n{program}");
                on_devices += device.entries.finished();
                left += device.entries.total() - device.entries.finished();
            }
        }
        compared += expected.iter().filter(|line| line.2.is_some()).count() as u64;
    }
    assert!(compared > count() / 2, "{compared}");
    assert!(
        on_devices > 5 * left,
        "{on_devices} on devices, {left} left"
    );
}
