//! Differs: small programs that measure how an output differs from the expected one.

use batt_arc::Grid;
use batt_dsl::{Dialect, Run, Value};
use batt_engine::{Compiled, ParamRole, Sample, inputs};
use batt_lang::Program;
use batt_lang::card::differs;

/// The compiled differs of a dialect.
pub(crate) struct Differs(Vec<Compiled>);

impl Differs {
    /// Compiles the built-in differs and `more`, without those that ignore `C`: they do not compare
    /// outputs.
    pub fn new(dialect: Dialect, more: &[Program]) -> Differs {
        let built_in = differs(dialect);
        let all = built_in.iter().chain(more).map(Compiled::new);
        let compares = |differ: &Compiled| {
            let roles = differ.roles().unwrap_or_default();
            differ.dialect() == dialect && roles.contains(&ParamRole::Comparison)
        };
        Differs(all.filter(compares).collect())
    }

    /// Returns a small addition to the closeness of a wrong output: the fewer differences, the
    /// larger.
    pub fn refinement<'r>(
        &self,
        run: &mut Run<'r>,
        sample: &Sample<'_>,
        expected: &Grid,
        output: Value<'r>,
    ) -> u32 {
        let sum = self.sum(run, sample, expected, output);
        (sum.unwrap_or_default() / self.0.len().max(1) as f64 * 10_000.0) as u32
    }

    fn sum<'r>(
        &self,
        run: &mut Run<'r>,
        sample: &Sample<'_>,
        expected: &Grid,
        output: Value<'r>,
    ) -> Option<f64> {
        let expected = run
            .input(expected.height(), expected.width(), expected.cells())
            .ok()?;
        let mut sum = 0.0;
        for differ in &self.0 {
            let mut given = inputs(run, differ, sample, output).ok()?;
            for (place, role) in given.iter_mut().zip(differ.roles().unwrap_or_default()) {
                if *role == ParamRole::Comparison {
                    *place = expected;
                }
            }
            // A differ that fails on this output counts as no similarity.
            let Ok(found) = differ.execute(run, &given) else {
                continue;
            };
            if let Ok([Value::Int(count), ..]) = run.items(found) {
                sum += 1.0 / (1.0 + count.unsigned_abs() as f64);
            }
        }
        Some(sum)
    }
}
