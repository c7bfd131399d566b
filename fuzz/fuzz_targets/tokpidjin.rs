//! Runs a random program in tokpidjin on a random grid with tight limits. It ends soon, always with
//! the same outcome.
#![no_main]

use batt_dsl::Dialect;
use batt_testing::generate::{self, Choices};
use batt_testing::oracle;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let grid = generate::grid(&mut choices);
    let program = generate::program_in(Dialect::Tokpidjin, &mut choices);
    if let Err(finding) = oracle::check(&program, &grid) {
        panic!("{finding}\n{program}\non {grid:?}");
    }
});
