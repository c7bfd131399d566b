//! Parses any bytes as a solver file. It never panics, and a program that loads can be printed and
//! read again.
#![no_main]

use batt_lang::{SolverFile, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = SolverFile::parse_bytes(bytes, "solvers.py", None) else {
        return;
    };
    for diagnostic in file.check().iter().chain(&file.diagnostics) {
        let _ = diagnostic.render();
    }
    for program in &file.programs {
        let text = program.to_string();
        let again = SolverFile::parse_in(&text, "printed.py", Some(program.dialect()));
        assert_eq!(again.programs, [program.clone()], "{text}");
        assert_eq!(again.programs[0].to_string(), text);
        check::program(program, None);
    }
});
