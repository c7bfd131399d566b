//! `batt-bench prepare`.

use serde_json::Value as Json;

use crate::support::bench;

#[test]
fn preparing_programs_takes_time() {
    let ended = bench(&["prepare", "--count", "40", "--json"]).code(0);
    let found: Json = serde_json::from_str(&ended.stdout).unwrap();
    let times = found["times"].as_array().unwrap();
    assert_eq!(times.len(), 6, "{found}");
    assert!(
        times.iter().all(|row| row["us"].as_f64().unwrap() > 0.0),
        "{found}"
    );
    assert!(
        found["counting"][1]["ratio"].as_f64().unwrap() > 0.0,
        "{found}"
    );
    bench(&["prepare", "--count", "40"])
        .code(0)
        .out("merge a solver");
}
