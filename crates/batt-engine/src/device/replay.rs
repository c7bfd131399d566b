//! A run that a device has finished, as if it had been done here.

use batt_dsl::{Limits, MemoryBudget, Run, Value};

use super::results::{Entry, entries};
use super::wire::{self, WireError};
use crate::batt::{BattRun, BattWorker, CompiledBatt, MEMORY_OF_ALL};

/// Hands the values of a finished run to `finish`, with what the device said about them. Without full values, and
/// where nobody wanted one, they are `None`.
pub(crate) fn replay<T>(
    batt: &CompiledBatt,
    worker: &mut BattWorker,
    words: &[u32],
    full: bool,
    limits: &Limits,
    finish: impl for<'r> FnOnce(&mut Run<'r>, &BattRun<'_, 'r>, &[Entry]) -> T,
) -> Result<T, WireError> {
    let found = entries(words, batt.outputs() + batt.scores(), full)?;
    let failed = found.iter().map(|entry| match entry {
        Entry::Failed(error) => Some(*error),
        _ => None,
    });
    let failed: Vec<_> = failed.collect();
    worker.workspace.run(batt.dialect(), limits, |run| {
        // The values take memory as they would if steps had made them; whoever looks has a budget of its own.
        let mut memory = MemoryBudget::new(limits, MEMORY_OF_ALL);
        let mut values = Vec::with_capacity(found.len());
        for entry in &found {
            run.begin_step(&mut memory);
            values.push(match entry {
                Entry::Value { at, .. } if full => wire::decode(run, words, *at)?.0,
                _ => Value::None,
            });
        }
        run.begin_step(&mut memory);
        let done = BattRun::elsewhere(batt, &values, &failed);
        Ok(finish(run, &done, &found))
    })
}
