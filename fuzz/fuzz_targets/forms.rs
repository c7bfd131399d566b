//! Calls a random primitive on random values, each made in two ways. The outcomes must be equal.
#![no_main]

use batt_testing::forms;
use batt_testing::generate::Choices;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(difference) = forms::check(&mut Choices::new(bytes)) {
        panic!("{difference}");
    }
});
