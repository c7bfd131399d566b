//! Whether this version of Python lays out sets as CPython 3.11 does.
//!
//! The algorithm is the same from CPython 3.7 to 3.14, so a set that is built as the original would
//! build it iterates as the simulation says. A later version may change that. Then every set is
//! compared with the simulation, and those that differ become sets that carry their order.

use batt_dsl::{Dialect, IntPair, Limits, OpId, Outcome, Run, Value, Workspace};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::objects::Objects;
use super::reading::{Originals, Stop};
use super::writing::Writer;

/// Returns whether Python makes the sets of the simulation. The first call tries it.
pub fn tables_agree(py: Python<'_>, objects: &'static Objects) -> PyResult<bool> {
    static AGREE: PyOnceLock<bool> = PyOnceLock::new();
    AGREE
        .get_or_try_init(py, || {
            let tried = Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
                let mut originals = Originals::default();
                originals.sort();
                let samples = samples(run)?;
                let mut writer = Writer::new(py, run, Dialect::ArcDsl, objects, &originals, true);
                for sample in samples {
                    if !writer.agrees(sample)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            });
            match tried {
                Ok(agree) => Ok(agree),
                Err(Stop::Raised(error)) => Err(error),
                Err(_) => Ok(false),
            }
        })
        .copied()
}

/// Makes sets of many sizes, in each of the ways in which primitives make sets.
fn samples<'r>(run: &mut Run<'r>) -> Outcome<Vec<Value<'r>>> {
    let op = |name| Value::Op(OpId::named(name).expect("a primitive of the DSL"));
    let mut sets = Vec::new();
    for side in [1, 2, 3, 4, 5, 7, 10, 16, 25, 30] {
        let cells: Vec<u8> = (0..side * side).map(|k| (k * k % 7) as u8).collect();
        let grid = run.input(side, side, &cells)?;
        let mut call = |name, args: &[Value<'r>]| -> Outcome<Value<'r>> {
            let made = run.call(op(name), args)?;
            sets.push(made);
            Ok(made)
        };
        let location = IntPair::new(side as i16, -1);
        let location = Value::pair(location);
        call("asobject", &[grid])?;
        let all = call("asindices", &[grid])?;
        let moved = call("shift", &[all, location])?;
        let inside = call("inbox", &[moved])?;
        call("delta", &[inside])?;
        call("palette", &[grid])?;
        call("partition", &[grid])?;
        call("neighbors", &[location])?;
        call("insert", &[location, all])?;
        let (yes, no) = (Value::bool(true), Value::bool(false));
        call("objects", &[grid, yes, yes, no])?;
    }
    Ok(sets)
}
