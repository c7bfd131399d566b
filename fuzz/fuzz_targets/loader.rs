//! Loads any bytes as a task file. The result is tasks or a printable error, never a panic.
#![no_main]

use batt_arc::render::{self, Color};
use batt_arc::{Dataset, MAX_SIDE};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match Dataset::from_json("tasks.json", bytes) {
        Err(error) => {
            assert!(error.to_string().contains("tasks.json"), "{error}");
        }
        Ok(data) => {
            for (task, name, pair) in data.pairs() {
                assert_eq!(task.pair(name), Some(pair));
                for grid in [Some(&pair.input), pair.output.as_ref()]
                    .into_iter()
                    .flatten()
                {
                    assert!((1..=MAX_SIDE).contains(&grid.height()));
                    assert!((1..=MAX_SIDE).contains(&grid.width()));
                    assert_eq!(grid.cells().len(), grid.height() * grid.width());
                    assert!(grid.cells().iter().all(|&c| c < 10));
                }
            }
            for task in &data {
                let _ = render::task(task, Color::Always);
            }
            let _ = data.content_hash();
        }
    }
});
