//! Programs have the same outcome on the emulated device as on the CPU.

use std::num::NonZeroUsize;

use batt_arc::Grid;
use batt_dsl::{Dialect, Limits, OwnedValue, Workspace};
use batt_emulated::Emulated;
use batt_engine::device::{
    DeviceEntry, Inputs, JobAt, JobParam, LaunchSettings, Launcher, Programs, Shapes, entries, wire,
};
use batt_engine::{Compiled, RunError, Sample, Verdict};
use batt_lang::SolverFile;

/// Programs that take one grid.
const PROGRAMS: &str = "
def a(I):
    x1 = add(ONE, TWO)
    x2 = multiply(x1, (3, 4))
    return x2

def b(I):
    x1 = add(ONE, TWO)
    x2 = divide(x1, ZERO)
    return x2

def c(I):
    return I

def d(I):
    x1 = rbind(add, TWO)
    x2 = x1(x1)
    return x2

def e(I):
    x1 = rbind(add, TWO)
    x2 = compose(x1, x1)
    x3 = x2(FIVE)
    x4 = (x3, (1, 2, 3), T, ())
    return x4
";

fn on_cpu(program: &Compiled, grid: &Grid) -> Result<OwnedValue, RunError> {
    Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
        let fault = |fault| RunError { fault, step: None };
        let input = run.input(grid.height(), grid.width(), grid.cells());
        let value = program.execute(run, &[input.map_err(fault)?])?;
        run.to_owned(value).map_err(fault)
    })
}

#[test]
fn programs_have_the_same_outcome_as_on_the_cpu() {
    let file = SolverFile::parse_in(PROGRAMS, "test.py", Some(Dialect::ArcDsl));
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    let compiled: Vec<Compiled> = file.programs.iter().map(Compiled::new).collect();
    let grid = Grid::from_rows(&[[1, 2, 3], [4, 5, 6]]).expect("a grid");
    let mut programs = Programs::new();
    let places = compiled
        .iter()
        .map(|program| programs.push_program(program));
    let places: Vec<_> = places.collect::<Result<_, _>>().expect("programs");
    let sample = Sample {
        demos: &[],
        input: &grid,
        expected: Some(&grid),
    };
    let mut inputs = Inputs::new();
    let mut shapes = Shapes::default();
    let alone = shapes.add(&[JobParam::Input]);
    let at = inputs.push_samples(&[sample], &shapes)[0];
    let jobs = |copies: usize| -> Vec<JobAt> {
        let one = places.iter().map(|program| JobAt {
            expected: at.expected,
            ..JobAt::new(*program, at.params(alone))
        });
        let one: Vec<JobAt> = one.collect();
        one.repeat(copies)
    };
    for (threads, copies) in [(1, 1), (3, 200)] {
        let mut device = Emulated::new(NonZeroUsize::new(threads).expect("not zero"));
        let mut launcher = Launcher::new(LaunchSettings::default(), 1);
        let jobs = jobs(copies);
        let done = launcher
            .run(&mut device, &programs, &inputs, &jobs)
            .expect("a launch");
        assert_eq!(done.len(), jobs.len());
        for k in 0..done.len() {
            let finished = done.job(k).expect("a finished job");
            let entry = &entries(finished.words, 1, true).expect("an entry").0[0];
            let expected = on_cpu(&compiled[k % places.len()], &grid);
            match (entry, expected) {
                (DeviceEntry::Value { at, verdict, .. }, Ok(expected)) => {
                    let at = at.expect("a launch for full values");
                    let value = wire::decode_owned(finished.words, at, Dialect::ArcDsl);
                    assert_eq!(value.expect("a value").0, expected);
                    let right = expected == OwnedValue::grid(grid.cells().chunks(3));
                    assert_eq!(*verdict == Verdict::Right, right);
                }
                (DeviceEntry::Failed(error), Err(expected)) => assert_eq!(*error, expected),
                (entry, expected) => panic!("{entry:?} instead of {expected:?}"),
            }
        }
        assert!(done.times().kernel.as_nanos() > 0);
    }
}
