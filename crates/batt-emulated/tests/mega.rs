//! Devices do not change the results of mega-batches.

use std::num::NonZeroUsize;

use batt_arc::{Grid, corpus};
use batt_dsl::{Dialect, Fault, Limits, OwnedValue, Run};
use batt_emulated::{Emulated, LaneOrder};
use batt_engine::Cancel;
use batt_engine::device::{
    Batch, Device, DeviceError, DeviceOptions, LaunchSettings, Launched, Reason,
};
use batt_engine::{
    BattEntry, CompiledBatt, MegaOptions, MegaReport, Sample, Shard, Verdict, mega_on,
};
use batt_lang::batt::BattFile;
use batt_lang::card::{self, CardDonor, CardOptions};
use batt_lang::{Batt, OnError, SolverFile};

/// Solvers that are hard for a device.
const SOLVERS: &str = "
def solve_0(I):
    return I

def solve_1(I):
    O = hmirror(I)
    return O

def solve_2(I):
    x1 = divide(TEN, ZERO)
    return I

def solve_3(I):
    x1 = asobject(I)
    O = argmax(x1, first)
    return O

def solve_4(I):
    x1 = objects(I, T, F, T)
    x2 = order(x1, size)
    O = first(x2)
    return O
";

fn batt() -> Batt {
    let file = SolverFile::parse_in(SOLVERS, "solvers.py", Some(Dialect::ArcDsl));
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    let donors: Vec<CardDonor<'_>> = file
        .programs
        .iter()
        .map(|program| CardDonor {
            id: program.name().to_owned(),
            program,
            size: None,
            mutated: false,
        })
        .collect();
    let differs = card::differs(Dialect::ArcDsl);
    card::merge(&donors, &differs, &CardOptions::sharing_only())
        .expect("one dialect")
        .batt
}

/// A small batt in which some solvers fail.
const SIMPLE: &str = "
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = add(ONE, TWO)
    t2 = compose(decrement, double)
    t3 = equality(I, C)
    s.append((3, 'None', 'd', t3))
    t4 = t2(t1)
    o.append((4, False, 'a', t4))
    o.append((4, False, 'b', I))
    t5 = divide(TEN, ZERO)
    o.append((5, False, 'c', t5))
    t6 = (I, (1, 2, 3), T)
    o.append((6, False, 'd', t6))
    t7 = t1(I)
    o.append((7, False, 'e', t7))
    t8 = add(t7, t1)
    o.append((8, False, 'f', t8))
    t9 = equality(t4, C)
    s.append((9, 'a', 'd', t9))
    return o, s
";

/// A batt that uses all its parameters.
const TOKPIDJIN: &str = "
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = equality(I, C)
    o.append((1, False, 'a', I))
    s.append((1, 'a', 'd', t1))
    t2 = equality(S, I)
    o.append((2, False, 'b', S))
    t3 = t2(S)
    o.append((3, False, 'c', t3))
    return o, s
";

/// A batt of which a device returns parts to the CPU: they need too much memory, have too large
/// values, or use unsupported locations. The device still runs the steps that other solvers share.
const LARGE: &str = "
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = hmirror(I)
    o.append((1, False, 'a', t1))
    t2 = interval(ZERO, 300000, ONE)
    t3 = size(t2)
    o.append((3, False, 'b', t3))
    t4 = canvas(ZERO, (3000, 3000))
    o.append((4, False, 'c', t4))
    t5 = vconcat(t1, I)
    o.append((5, False, 'd', t5))
    t6 = astuple(70000, ONE)
    t7 = initset(t6)
    t8 = asindices(t1)
    t9 = manhattan(t7, t8)
    t10 = astuple(t9, t1)
    o.append((10, False, 'e', t10))
    t11 = divide(t9, ZERO)
    o.append((11, False, 'f', t11))
    t12 = equality(t5, C)
    s.append((12, 'd', 'd', t12))
    t13 = equality(t3, C)
    s.append((13, 'b', 'd', t13))
    return o, s
";

/// The same kind of batt with a set of closures, whose order depends on their numbers.
const CLOSURES: &str = "
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = lbind(lbind, multiply)
    t2 = interval(ZERO, 5, ONE)
    t3 = apply(t1, t2)
    t4 = size(t3)
    o.append((4, False, 'a', t4))
    t5 = lbind(lbind, add)
    t6 = interval(ZERO, 30, ONE)
    t7 = apply(t5, t6)
    t8 = initset(t5)
    t9 = last(t7)
    t10 = insert(t9, t8)
    t11 = first(t7)
    t12 = insert(t11, t10)
    t13 = remove(t5, t12)
    t14 = totuple(t13)
    t15 = rapply(t14, ONE)
    o.append((15, False, 'b', t15))
    return o, s
";

/// A batt whose candidate uses up the limit of steps while solving. In the comparison it would fail
/// earlier, but no steps are left for the comparison.
const EXPENSIVE: &str = "
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    o.append((0, False, 'same', I))
    t1 = branch(C, FIVE, identity)
    t2 = t1(I)
    t3 = interval(ZERO, 3000, ONE)
    t4 = (t3, t2)
    t5 = get_nth_t(t4, ZERO)
    t6 = rbind(contained, t5)
    t7 = apply(t6, t5)
    o.append((7, False, 'long', t7))
    t8 = equality(t7, C)
    s.append((8, 'long', 'd', t8))
    return o, s
";

/// Python compares each key before it computes the next one. So it fails at the second key, which
/// is not a number, before it computes the third, which fails as well.
const FAULTS: &str = "
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = valmin((1, (11, 12), (), (8, 10, 7)), decrement)
    o.append((1, False, 'a', t1))
    t2 = argmax((1, 2, (), (8, 10, 7)), decrement)
    o.append((2, False, 'b', t2))
    return o, s
";

fn batt_of(text: &str, dialect: Dialect) -> Batt {
    let mut file = BattFile::parse(text, "batt.py", Some(dialect));
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    file.batts.remove(0)
}

fn with_work<T>(body: impl FnOnce(&[CompiledBatt], &[Sample<'_>]) -> T) -> T {
    let simple = batt_of(SIMPLE, Dialect::ArcDsl);
    let batts = [
        CompiledBatt::new(&simple),
        CompiledBatt::new(&batt()),
        CompiledBatt::new(&simple).on_error(OnError::Defaults),
        CompiledBatt::new(&batt_of(TOKPIDJIN, Dialect::Tokpidjin)),
        CompiledBatt::new(&batt_of(LARGE, Dialect::ArcDsl)),
        CompiledBatt::new(&batt_of(LARGE, Dialect::ArcDsl)).on_error(OnError::Defaults),
        CompiledBatt::new(&batt_of(CLOSURES, Dialect::ArcDsl)),
    ];
    let tasks = corpus::tasks();
    let pairs = tasks.pairs().take(60);
    let mut samples: Vec<Sample<'_>> = pairs
        .map(|(task, _, pair)| Sample::new(task, pair))
        .collect();
    // Some samples have their input as the output, and some have no known output.
    for sample in samples.iter_mut().step_by(3) {
        sample.expected = Some(sample.input);
    }
    for sample in samples.iter_mut().skip(1).step_by(7) {
        sample.expected = None;
    }
    body(&batts, &samples)
}

type Lists = Vec<Result<OwnedValue, Fault>>;
type Line = (usize, Vec<Verdict>, Lists, Option<Lists>);

fn owned<'r>(run: &mut Run<'r>, entry: BattEntry<'r>) -> Result<OwnedValue, Fault> {
    run.to_owned(entry.value.map_err(|error| error.fault)?)
}

fn run(
    devices: &mut [Box<dyn Device>],
    options: &MegaOptions,
    from: usize,
) -> (MegaReport, Vec<Line>) {
    with_work(|batts, samples| run_batts(batts, samples, devices, options, from))
}

fn run_batts(
    batts: &[CompiledBatt],
    samples: &[Sample<'_>],
    devices: &mut [Box<dyn Device>],
    options: &MegaOptions,
    from: usize,
) -> (MegaReport, Vec<Line>) {
    let mut lines = Vec::new();
    let stop = Cancel::new();
    let report = mega_on(
        devices,
        batts,
        samples,
        from,
        options,
        &stop,
        |_, run, entry| match options.values {
            true => owned(run, entry),
            false => Ok(OwnedValue::None),
        },
        |at, result| lines.push((at, result.verdicts, result.solved, result.compared)),
    );
    (report, lines)
}

fn emulated(count: usize) -> Vec<Box<dyn Device>> {
    let device = || -> Box<dyn Device> { Box::new(Emulated::default()) };
    (0..count).map(|_| device()).collect()
}

fn options(threads: usize, chunk: usize) -> MegaOptions {
    MegaOptions {
        limits: Limits::default(),
        threads: NonZeroUsize::new(threads),
        device: DeviceOptions {
            chunk: NonZeroUsize::new(chunk),
            // Large values need this much fuel.
            settings: LaunchSettings {
                fuel: 300_000,
                ..LaunchSettings::default()
            },
            ..DeviceOptions::default()
        },
        ..MegaOptions::default()
    }
}

fn assert_same(report: &MegaReport, expected: &MegaReport) {
    assert_eq!(report.runs, expected.runs);
    assert_eq!(report.steps, expected.steps);
    assert_eq!(
        (report.right, report.values),
        (expected.right, expected.values)
    );
    assert_eq!(report.faults, expected.faults);
}

#[test]
fn devices_chunks_and_batches_change_nothing() {
    let (expected, lines) = run(&mut [], &options(2, 1), 0);
    assert!(expected.device.is_none());
    assert!(
        lines.iter().any(|line| line.3.is_some()),
        "no batt compares"
    );
    for (devices, threads, chunk, batch_size) in [
        (1, 1, 1, 1),
        (1, 3, 7, 1),
        (3, 2, 11, 64),
        (2, 2, 1000, 5),
        (1, 2, 0, 0),
    ] {
        let options = MegaOptions {
            batch_size: NonZeroUsize::new(batch_size),
            ..options(threads, chunk)
        };
        let (report, found) = run(&mut emulated(devices), &options, 0);
        assert!(found == lines, "{devices} devices, chunks of {chunk}");
        assert_same(&report, &expected);
        let device = report.device.expect("devices were used");
        assert_eq!(device.runs.total() as usize, report.runs);
        assert!(device.runs.finished() > 0, "{:?}", device.runs);
        assert_eq!(device.devices.len(), devices);
        assert!(device.times().launches > 0);
        assert_eq!(device.runs.left[Reason::Broken.index()], 0);
    }
    let (_, rest) = run(&mut emulated(1), &options(2, 10), 77);
    assert!(rest == lines[77..]);
}

/// The runs of a part stand apart, and a part may begin in the middle.
#[test]
fn parts_give_the_same_results() {
    let (_, lines) = run(&mut [], &options(2, 1), 0);
    for shard in Shard::all(NonZeroUsize::new(3).expect("not 0")) {
        let runs: Vec<usize> = shard.runs_of(lines.len()).collect();
        for (devices, from) in [(0, 0), (1, 0), (2, 9)] {
            let options = MegaOptions {
                shard,
                ..options(2, 10)
            };
            let (report, found) = run(&mut emulated(devices), &options, from);
            assert_eq!(report.runs, runs.len() - from);
            let same = |(at, line): (usize, &Line)| {
                let whole = &lines[runs[from + at]];
                line.0 == from + at && (&line.1, &line.2, &line.3) == (&whole.1, &whole.2, &whole.3)
            };
            assert!(
                found.iter().enumerate().all(same),
                "{shard}, {devices} devices"
            );
            let finished = report.device.map_or(0, |device| device.runs.finished());
            assert_eq!(finished > 0, devices > 0);
        }
    }
}

#[test]
fn a_comparison_has_the_rest_of_its_candidates_limits() {
    let batts =
        [CompiledBatt::new(&batt_of(EXPENSIVE, Dialect::Tokpidjin)).on_error(OnError::Poison)];
    let tasks = corpus::tasks();
    let (task, _, pair) = tasks.pairs().next().expect("a task");
    let mut sample = Sample::new(task, pair);
    sample.expected = Some(sample.input);
    let on = |devices: &mut [Box<dyn Device>]| {
        let (report, lines) = run_batts(&batts, &[sample], devices, &options(1, 0), 0);
        (report.device.map(|device| device.entries.finished()), lines)
    };
    let (_, lines) = on(&mut []);
    let (_, _, solved, compared) = &lines[0];
    assert_eq!(solved[1], Err(Fault::Steps));
    assert_eq!(compared.as_deref(), Some(&[Err(Fault::Steps)][..]));
    let (finished, found) = on(&mut emulated(1));
    assert!(found == lines, "{found:?}");
    assert_eq!(finished, Some(1));
}

#[test]
fn lanes_report_the_first_of_several_faults() {
    let batts = [CompiledBatt::new(&batt_of(FAULTS, Dialect::ArcDsl))];
    let tasks = corpus::tasks();
    let (task, _, pair) = tasks.pairs().next().expect("a task");
    let sample = Sample::new(task, pair);
    let solved = |devices: &mut [Box<dyn Device>]| {
        let (_, mut lines) = run_batts(&batts, &[sample], devices, &options(1, 0), 0);
        lines.remove(0).2
    };
    assert_eq!(solved(&mut []), [Err(Fault::Type), Err(Fault::Index)]);
    let down =
        Emulated::warp(LaneOrder::Down).map(|device| -> Box<dyn Device> { Box::new(device) });
    for device in devices_of_all_kinds().into_iter().chain(down) {
        assert_eq!(solved(&mut [device]), [Err(Fault::Type), Err(Fault::Index)]);
    }
}

#[test]
fn a_device_leaves_only_the_unsupported_parts_of_a_batt() {
    let (report, _) = run(&mut emulated(1), &options(2, 0), 0);
    let device = report.device.expect("devices were used");
    assert_eq!(device.runs.total(), device.runs.finished());
    let left = |reason: Reason| device.entries.left[reason.index()];
    // Each of the two batts runs on 60 samples. Too large values and their scores are left ...
    let large = [Reason::Arena, Reason::Fuel, Reason::Size].map(left);
    let large = large.iter().sum::<u64>();
    assert!(large >= 3 * 2 * 60, "{:?}", device.entries);
    // ... and unsupported locations, and a set of closures.
    assert_eq!(left(Reason::Odd), (2 * 2 + 1) * 60);
}

/// All lanes agree on the parts that they leave to the CPU.
#[test]
fn a_warp_changes_nothing() {
    let Some(device) = Emulated::warp(LaneOrder::Shuffled(7)) else {
        println!("skipped: lanes are switched on Linux on x86-64 alone");
        return;
    };
    let (expected, lines) = run(&mut [], &options(2, 1), 0);
    let (report, found) = run(&mut [Box::new(device)], &options(2, 0), 0);
    assert!(found == lines);
    assert_same(&report, &expected);
    let device = report.device.expect("devices were used");
    assert_eq!(device.devices[0].errors, [""; 0]);
    assert!(device.entries.finished() < device.entries.total());
}

#[test]
fn verdicts_alone_are_the_same() {
    let values = |values, device| {
        let options = MegaOptions {
            values,
            ..options(2, 50)
        };
        run(&mut emulated(device), &options, 0)
    };
    let (expected, with_values) = values(true, 0);
    let (report, without) = values(false, 1);
    assert_same(&report, &expected);
    let verdicts = |lines: &[Line]| -> Vec<(Vec<Verdict>, bool)> {
        let line = |line: &Line| (line.1.clone(), line.3.is_some());
        lines.iter().map(line).collect()
    };
    assert_eq!(verdicts(&without), verdicts(&with_values));
}

#[test]
fn repeated_runs_have_the_same_results() {
    for values in [true, false] {
        let mut options = options(2, 40);
        options.values = values;
        options.device.verify = 1.0;
        let (report, _) = run(&mut emulated(1), &options, 0);
        let device = report.device.expect("devices were used");
        assert_eq!(device.mismatches, []);
        let finished = device.runs.finished();
        assert_eq!((device.verified, device.differing), (finished, 0));
        let (expected, _) = run(&mut [], &options, 0);
        assert_eq!(report.steps, expected.steps);
    }
}

/// A device whose launches fail at regular intervals, and that may be lost after some launches.
struct Faulty {
    device: Emulated,
    launches: usize,
    fails: usize,
    lost_after: usize,
}

impl Device for Faulty {
    fn name(&self) -> String {
        "faulty".to_owned()
    }

    fn memory(&self) -> u64 {
        self.device.memory()
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        self.launches += 1;
        if self.launches > self.lost_after {
            return Err(DeviceError::Lost("it fell off the bus".into()));
        }
        if self.launches.is_multiple_of(self.fails) {
            return Err(DeviceError::Launch("an illegal address".into()));
        }
        self.device.run(batch)
    }
}

#[test]
fn a_device_that_fails_changes_nothing() {
    let (expected, lines) = run(&mut [], &options(2, 1), 0);
    for (fails, lost_after, good) in [(2, 100, 0), (3, 4, 0), (100, 0, 0), (5, 3, 1)] {
        let mut devices = emulated(good);
        devices.push(Box::new(Faulty {
            device: Emulated::default(),
            launches: 0,
            fails,
            lost_after,
        }));
        let (report, found) = run(&mut devices, &options(2, 9), 0);
        assert!(
            found == lines,
            "every {fails}th fails, lost after {lost_after}"
        );
        assert_same(&report, &expected);
        let device = report.device.expect("devices were used");
        let faulty = device.devices.iter().find(|device| device.name == "faulty");
        let faulty = faulty.expect("it is in the report");
        assert!(!faulty.errors.is_empty());
        assert_eq!(faulty.lost, lost_after < 100);
    }
}

/// A device that returns wrong results, as if it had a bug.
struct Wrong(Emulated);

impl Device for Wrong {
    fn name(&self) -> String {
        "wrong".to_owned()
    }

    fn memory(&self) -> u64 {
        self.0.memory()
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        let mut launched = self.0.run(batch)?;
        // Changes the fault and the hash of the first entry in each job's output.
        for job in 0..launched.results.len() / 4 {
            if launched.results[4 * job] == 0 {
                let at = launched.results[4 * job + 1] as usize;
                if (1..14).contains(&launched.output[at]) {
                    launched.output[at] += 1;
                }
                launched.output[at + 2] ^= 1;
            }
        }
        Ok(launched)
    }
}

#[test]
fn wrong_answers_are_found() {
    let mut options = options(2, 40);
    options.values = false;
    options.device.verify = 1.0;
    let mut devices: Vec<Box<dyn Device>> = vec![Box::new(Wrong(Emulated::default()))];
    let (report, found) = run(&mut devices, &options, 0);
    let device = report.device.expect("devices were used");
    assert!(device.differing > 0);
    assert!(!device.mismatches.is_empty() && device.mismatches.len() <= 10);
    // The CPU's results count.
    let (_, lines) = run(&mut [], &options, 0);
    assert!(found == lines);
}

#[test]
fn runs_with_malformed_results_fall_back_to_the_cpu() {
    struct Malformed(Emulated);
    impl Device for Malformed {
        fn name(&self) -> String {
            "garbled".to_owned()
        }
        fn memory(&self) -> u64 {
            self.0.memory()
        }
        fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
            let mut launched = self.0.run(batch)?;
            for word in launched.output.iter_mut().step_by(5) {
                *word ^= 0x5555;
            }
            Ok(launched)
        }
    }
    let mut devices: Vec<Box<dyn Device>> = vec![Box::new(Malformed(Emulated::default()))];
    let (report, found) = run(&mut devices, &options(2, 40), 0);
    assert_eq!(found.len(), report.runs);
    let device = report.device.expect("devices were used");
    assert!(device.runs.left[Reason::Broken.index()] > 0);
}

/// Returns devices with one lane and, if supported, with all lanes.
fn devices_of_all_kinds() -> Vec<Box<dyn Device>> {
    let mut devices = emulated(1);
    match Emulated::warp(LaneOrder::Up) {
        Some(device) => devices.push(Box::new(device)),
        None => println!("skipped: lanes are switched on Linux on x86-64 alone"),
    }
    devices
}

#[test]
fn low_limits_are_kept() {
    for steps in [4_000, 10_000, 50_000] {
        let mut options = options(2, 40);
        options.limits.steps = steps;
        let (expected, lines) = run(&mut [], &options, 0);
        let fault = |fault| expected.faults.iter().any(|(f, _)| *f == fault);
        assert!(fault(Fault::Steps), "{:?}", expected.faults);
        for device in devices_of_all_kinds() {
            let name = device.name();
            let (report, found) = run(&mut [device], &options, 0);
            assert!(found == lines, "{steps} steps on {name}");
            assert_same(&report, &expected);
            let device = report.device.expect("devices were used");
            assert!(device.entries.finished() > 0, "{:?}", device.entries);
        }
    }
}

#[test]
fn impossible_limits_keep_devices_unused() {
    let mut options = options(2, 40);
    options.limits.steps = 1000;
    let (report, _) = run(&mut emulated(1), &options, 0);
    assert!(report.device.is_none());
}

/// Returns a batt of one solver with many cheap steps, and of solvers that do nothing but add their
/// limits to those of the run.
fn many_cheap_steps(steps: usize) -> Batt {
    let mut text =
        "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n    t1 = asindices(I)\n"
            .to_owned();
    let last = steps + 2;
    for t in 2..last {
        text += &format!("    t{t} = manhattan(t1, t1)\n");
    }
    let all: Vec<String> = (2..last).map(|t| format!("t{t}")).collect();
    text += &format!("    t{last} = ({})\n", all.join(", "));
    text += &format!("    o.append(({last}, False, 'a', t{last}))\n");
    for k in 0..200 {
        text += &format!("    o.append((0, False, 'b{k}', I))\n");
    }
    batt_of(&(text + "    return o, s\n"), Dialect::ArcDsl)
}

/// The CPU has limits for each solver. A run on a device has the sum of its solvers' limits, but no
/// solver may exceed its own.
#[test]
fn no_solver_uses_the_limits_of_others() {
    let grids = [3, 6, 9, 11].map(|side| {
        let rows = vec![vec![1; side]; side];
        Grid::from_rows(&rows).expect("a grid")
    });
    let samples = grids.each_ref().map(|input| Sample {
        demos: &[],
        input,
        expected: None,
    });
    let batts = [CompiledBatt::new(&many_cheap_steps(8000))];
    let options = options(2, 40);
    let (expected, lines) = run_batts(&batts, &samples, &mut [], &options, 0);
    // The candidates of the solver on the two larger grids.
    assert_eq!(expected.faults, [(Fault::Steps, 2)]);
    for device in devices_of_all_kinds() {
        let name = device.name();
        let (report, found) = run_batts(&batts, &samples, &mut [device], &options, 0);
        assert!(found == lines, "{name}");
        assert_same(&report, &expected);
        let device = report.device.expect("devices were used");
        assert_eq!(device.runs.finished(), 4);
        assert!(device.entries.left[Reason::Fuel.index()] >= 2);
    }
}

#[test]
fn cancelling_delivers_a_prefix() {
    let (_, lines) = run(&mut [], &options(2, 1), 0);
    with_work(|batts, samples| {
        let stop = Cancel::new();
        let mut delivered = Vec::new();
        let report = mega_on(
            &mut emulated(2),
            batts,
            samples,
            0,
            &options(2, 5),
            &stop,
            |_, run, entry| owned(run, entry),
            |at, result| {
                delivered.push(result.solved);
                if at == 20 {
                    stop.cancel();
                }
            },
        );
        assert_eq!(report.runs, delivered.len());
        assert!((21..=lines.len()).contains(&delivered.len()));
        assert!(delivered.iter().zip(&lines).all(|(a, b)| *a == b.2));
    });
}

#[test]
fn primitives_are_counted_if_wanted() {
    let mut options = options(2, 40);
    options.device.settings = LaunchSettings {
        ops: true,
        ..LaunchSettings::default()
    };
    let (report, _) = run(&mut emulated(1), &options, 0);
    let ops = report.device.expect("devices were used").ops;
    let add = ops.iter().find(|count| count.op.op().name == "add");
    assert!(add.is_some_and(|count| count.calls > 0), "{ops:?}");
}
