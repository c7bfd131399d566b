//! Waves do not change the results of mega-batches.

use std::num::NonZeroUsize;

use batt_arc::corpus;
use batt_dsl::{Dialect, Fault, Limits, OwnedValue, Run};
use batt_emulated::Emulated;
use batt_engine::Cancel;
use batt_engine::device::{Batch, Counts, Device, DeviceError, DeviceOptions, Launched, Reason};
use batt_engine::wave::{KernelTable, WaveBuffer, WaveDevice, WaveEngine, WaveLaunch};
use batt_engine::{
    BattEntry, CompiledBatt, MegaOptions, MegaReport, Sample, Shard, Verdict, mega_on,
};
use batt_lang::batt::BattFile;
use batt_lang::card::{self, CardDonor, CardOptions};
use batt_lang::{Batt, OnError, SolverFile};
use batt_wave::EmulatedWaves;

/// Solvers that fail on some samples, in several ways.
const FAILING: &str = "
def solve_0(I):
    return I

def solve_1(I):
    x1 = divide(TEN, ZERO)
    return I

def solve_2(I):
    x1 = objects(I, T, F, T)
    x2 = order(x1, size)
    O = first(x2)
    return O

def solve_3(I):
    x1 = objects(I, T, F, T)
    x2 = argmax(x1, size)
    x3 = extract(x1, square)
    x4 = subgrid(x3, I)
    O = hconcat(x4, x4)
    return O

def solve_4(I):
    x1 = objects(I, T, F, T)
    x2 = extract(x1, square)
    O = subgrid(x2, I)
    return O

def solve_5(I):
    O = palette(I)
    return O

def solve_6(I):
    x1 = ofcolor(I, ONE)
    x2 = center(x1)
    x3 = height(I)
    O = astuple(x2, x3)
    return O
";

/// A batt that uses all its parameters, and whose scores fail in several ways.
const PARAMETERS: &str = "
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = equality(I, C)
    o.append((1, False, 'a', I))
    s.append((1, 'a', 'd', t1))
    t2 = apply(first, S)
    t3 = mapply(palette, t2)
    o.append((3, False, 'b', t3))
    t4 = apply(last, S)
    t5 = first(t4)
    o.append((5, False, 'c', t5))
    t6 = palette(C)
    t7 = difference(t6, t3)
    s.append((7, 'b', 'd', t7))
    t8 = hconcat(I, t5)
    o.append((8, False, 'e', t8))
    t9 = size(t8)
    s.append((9, 'e', 'd', t9))
    o.append((9, False, 'f', S))
    return o, s
";

/// A comparison that ends with the fault of a later step: a score has executed that one, and the
/// earlier one is executed for the comparison alone.
const LATE: &str = "
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    o.append((0, False, 'a', I))
    t1 = palette(C)
    t2 = divide(TEN, ZERO)
    t3 = interval(ZERO, ZERO, ONE)
    t4 = first(t3)
    t5 = branch(t1, t2, t4)
    s.append((5, 'a', 'd', t5))
    t6 = identity(t4)
    s.append((6, 'a', 'e', t6))
    t7 = palette(I)
    t8 = size(t7)
    s.append((8, 'a', 'f', t8))
    return o, s
";

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

/// A batt of the other dialect.
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

fn merged(text: &str, differs: bool) -> Batt {
    let file = SolverFile::parse_in(text, "solvers.py", Some(Dialect::ArcDsl));
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
    let differs = match differs {
        true => card::differs(Dialect::ArcDsl),
        false => Vec::new(),
    };
    card::merge(&donors, &differs, &CardOptions::sharing_only())
        .expect("one dialect")
        .batt
}

fn batt_of(text: &str, dialect: Dialect) -> Batt {
    let mut file = BattFile::parse(text, "batt.py", Some(dialect));
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    file.batts.remove(0)
}

fn batts() -> Vec<CompiledBatt> {
    let simple = batt_of(SIMPLE, Dialect::ArcDsl);
    vec![
        CompiledBatt::new(&simple),
        CompiledBatt::new(&merged(FAILING, true)),
        CompiledBatt::new(&simple).on_error(OnError::Defaults),
        CompiledBatt::new(&batt_of(PARAMETERS, Dialect::ArcDsl)),
        CompiledBatt::new(&batt_of(TOKPIDJIN, Dialect::Tokpidjin)),
        CompiledBatt::new(&batt_of(LATE, Dialect::ArcDsl)),
        CompiledBatt::new(&merged(corpus::SOLVERS, false)),
        CompiledBatt::new(&merged(corpus::SOLVERS, true)),
    ]
}

fn with_work<T>(body: impl FnOnce(&[CompiledBatt], &[Sample<'_>]) -> T) -> T {
    let tasks = corpus::tasks();
    let pairs = tasks.pairs().take(40);
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
    body(&batts(), &samples)
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
    let mut lines = Vec::new();
    let report = with_work(|batts, samples| {
        mega_on(
            devices,
            batts,
            samples,
            from,
            options,
            &Cancel::new(),
            |_, run, entry| match options.values {
                true => owned(run, entry),
                false => Ok(OwnedValue::None),
            },
            |at, result| lines.push((at, result.verdicts, result.solved, result.compared)),
        )
    });
    (report, lines)
}

fn emulated(count: usize) -> Vec<Box<dyn Device>> {
    let device = || -> Box<dyn Device> {
        let device = Emulated::default().with_waves();
        Box::new(device.expect("waves are emulated"))
    };
    (0..count).map(|_| device()).collect()
}

fn options(threads: usize, chunk: usize) -> MegaOptions {
    MegaOptions {
        limits: Limits::default(),
        threads: NonZeroUsize::new(threads),
        device: DeviceOptions {
            chunk: NonZeroUsize::new(chunk),
            waves: true,
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

/// Compares the lines, and shows the first that differs.
fn assert_lines(found: &[Line], expected: &[Line]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn waves_change_nothing() {
    let (expected, lines) = run(&mut [], &options(2, 1), 0);
    assert!(
        lines.iter().any(|line| line.3.is_some()),
        "no batt compares"
    );
    for (devices, threads, chunk) in [(1, 1, 0), (1, 3, 7), (2, 2, 31)] {
        let (report, found) = run(&mut emulated(devices), &options(threads, chunk), 0);
        assert_lines(&found, &lines);
        assert_same(&report, &expected);
        let device = report.device.expect("devices were used");
        assert_eq!(device.runs.total() as usize, report.runs);
        assert!(device.runs.finished() > 0, "{:?}", device.runs);
        assert_eq!(device.devices.len(), devices);
        assert!(device.times().launches > 0);
        let left = |reason: Reason| device.entries.left[reason.index()];
        assert_eq!(left(Reason::Broken), 0);
        assert!(left(Reason::Faults) > 0, "{:?}", device.entries);
        assert!(device.entries.finished() * 10 > device.entries.total() * 9);
        assert!(device.devices.iter().all(|device| device.errors.is_empty()));
    }
    let (_, rest) = run(&mut emulated(1), &options(2, 10), 77);
    assert_lines(&rest, &lines[77..]);
}

/// The runs of a part stand apart, so the samples of a chunk do, too.
#[test]
fn parts_give_the_same_results() {
    let (_, lines) = run(&mut [], &options(2, 1), 0);
    for shard in Shard::all(NonZeroUsize::new(3).expect("not 0")) {
        let runs: Vec<usize> = shard.runs_of(lines.len()).collect();
        let options = MegaOptions {
            shard,
            ..options(2, 10)
        };
        let (report, found) = run(&mut emulated(1), &options, 9);
        assert_eq!(report.runs, runs.len() - 9);
        for (at, line) in found.iter().enumerate() {
            let whole = &lines[runs[9 + at]];
            assert_eq!(
                (line.0, &line.1, &line.2, &line.3),
                (9 + at, &whole.1, &whole.2, &whole.3)
            );
        }
    }
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

#[test]
fn verdicts_alone_are_the_same() {
    let values = |values, devices| {
        let options = MegaOptions {
            values,
            ..options(2, 50)
        };
        run(&mut emulated(devices), &options, 0)
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
fn low_limits_are_kept() {
    for steps in [4_000, 50_000, 200_000] {
        let mut options = options(2, 40);
        options.limits.steps = steps;
        let (expected, lines) = run(&mut [], &options, 0);
        let (report, found) = run(&mut emulated(1), &options, 0);
        assert_lines(&found, &lines);
        assert_same(&report, &expected);
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

/// Emulated waves whose launches fail at regular intervals.
struct FailingWaves {
    waves: EmulatedWaves,
    launches: usize,
    fails: usize,
}

impl WaveDevice for FailingWaves {
    fn name(&self) -> String {
        "failing waves".to_owned()
    }

    fn table(&self) -> &'static KernelTable {
        self.waves.table()
    }

    fn memory(&self) -> u64 {
        self.waves.memory()
    }

    fn allocate(&mut self, bytes: u64) -> Result<WaveBuffer, DeviceError> {
        self.waves.allocate(bytes)
    }

    fn free(&mut self, buffer: WaveBuffer) {
        self.waves.free(buffer);
    }

    fn upload(&mut self, to: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.waves.upload(to, bytes)
    }

    fn clear(&mut self, at: u64, bytes: u64) -> Result<(), DeviceError> {
        self.waves.clear(at, bytes)
    }

    fn launch(&mut self, launches: &[WaveLaunch]) -> Result<(), DeviceError> {
        // The first launch makes the tables of the engine.
        let number = self.launches;
        self.launches += 1;
        match number > 0 && number.is_multiple_of(self.fails) {
            true => Err(DeviceError::Launch("an illegal address".into())),
            false => self.waves.launch(launches),
        }
    }

    fn download(&mut self, from: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.waves.download(from, into)
    }
}

/// A device with such waves.
struct Failing(Emulated, WaveEngine);

impl Device for Failing {
    fn name(&self) -> String {
        "failing".to_owned()
    }

    fn memory(&self) -> u64 {
        self.0.memory()
    }

    fn waves(&mut self) -> Option<&mut WaveEngine> {
        Some(&mut self.1)
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        self.0.run(batch)
    }
}

#[test]
fn waves_that_fail_change_nothing() {
    let (expected, lines) = run(&mut [], &options(2, 1), 0);
    for fails in [1, 30, 200] {
        let waves = FailingWaves {
            waves: EmulatedWaves,
            launches: 0,
            fails,
        };
        let engine = WaveEngine::new(Box::new(waves)).expect("an engine");
        let device = Failing(Emulated::default(), engine);
        let (report, found) = run(&mut [Box::new(device)], &options(2, 9), 0);
        assert_lines(&found, &lines);
        assert_same(&report, &expected);
        let device = report.device.expect("devices were used");
        assert!(!device.devices[0].errors.is_empty());
        let left = |counts: &Counts| counts.left[Reason::Device.index()];
        assert!(left(&device.runs) + left(&device.entries) > 0);
        assert_eq!(device.runs.total() as usize, report.runs);
    }
}
