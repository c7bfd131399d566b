//! A random primitive on random values, each made in two ways: which way never shows.
#![no_main]

mod support {
    #[path = "../../../crates/batt-engine/tests/support/forms.rs"]
    pub mod forms;
    #[path = "../../../crates/batt-engine/tests/support/generate.rs"]
    pub mod generate;
}

use libfuzzer_sys::fuzz_target;
use support::forms;
use support::generate::Choices;

fuzz_target!(|bytes: &[u8]| {
    if let Err(difference) = forms::check(&mut Choices::new(bytes)) {
        panic!("{difference}");
    }
});
