//! Parses any text as a batt file. It never panics, and a batt that loads can be written and read
//! again.
#![no_main]

use batt_lang::batt::{BattFile, Form, from_json_text, to_json_text, write_batt};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let _ = from_json_text(text);
    let file = BattFile::parse(text, "batt.py", None);
    for diagnostic in &file.diagnostics {
        let _ = diagnostic.render();
    }
    for batt in &file.batts {
        for form in [Form::Plain, Form::Guarded] {
            let text = write_batt(batt, form);
            let again = BattFile::parse(&text, "again.py", Some(batt.dialect()));
            assert_eq!(again.batts.len(), 1, "{text}");
            assert_eq!(again.batts[0].outputs, batt.outputs, "{text}");
            assert_eq!(again.batts[0].scores, batt.scores, "{text}");
        }
        assert_eq!(from_json_text(&to_json_text(batt)).as_ref(), Ok(batt));
    }
});
