//! Formats scores and solvers as text and as JSON.

use batt::Score;
use batt::archive::{ArchiveEntry, ArchivedSolver};
use serde_json::{Value as Json, json};

/// The number of digits of a hash in tables.
const SHOWN: usize = 12;

/// Returns the first digits of a hash.
pub fn short(hash: &str) -> &str {
    hash.get(..SHOWN).unwrap_or(hash)
}

/// Returns the number of demonstrations solved, as `3/4`.
pub fn demos(score: &Score) -> String {
    format!("{}/{}", score.demos_solved, score.demos)
}

/// Returns a closeness in percent. Only a complete one is shown as 100 %.
pub fn percent(parts: u32) -> String {
    let shown = match parts {
        1_000_000.. => 100.0,
        parts => (f64::from(parts) / 10_000.0).min(99.99),
    };
    format!("{shown:.2}%")
}

/// Returns a score as JSON.
pub fn score_json(score: &Score) -> Json {
    json!({
        "demos_solved": score.demos_solved,
        "demos": score.demos,
        "solved": score.is_solved(),
        "closeness": score.closeness,
        "size": score.size,
        "cost": score.cost,
    })
}

/// Returns an entry as JSON. The hash of the outputs is a string, because not every JSON reader
/// supports numbers of 64 bits.
pub fn entry_json(entry: &ArchiveEntry) -> Json {
    json!({
        "hash": entry.hash,
        "task": entry.task,
        "task_hash": entry.task_hash,
        "score": score_json(&entry.score),
        "outputs": format!("{:016x}", entry.outputs),
        "dialect": entry.dialect.name(),
        "mutation": entry.mutation,
        "parents": entry.parents,
        "run": entry.run.number(),
        "when": entry.when,
        "source": entry.source,
    })
}

/// Returns a solver as JSON.
pub fn solver_json(solver: &ArchivedSolver) -> Json {
    json!({
        "hash": solver.hash,
        "dialect": solver.dialect.name(),
        "mutation": solver.mutation,
        "parents": solver.parents,
        "run": solver.run.number(),
        "when": solver.when,
        "source": solver.source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_is_all() {
        assert_eq!(percent(1_000_000), "100.00%");
        assert_eq!(percent(999_999), "99.99%");
        assert_eq!(percent(0), "0.00%");
        assert_eq!(percent(123_456), "12.35%");
    }
}
