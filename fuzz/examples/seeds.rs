//! Writes the seeds of the fuzz corpora: the embedded puzzles and solvers, cut into pieces of a
//! size that a fuzzer can use. Run `cargo run --example seeds` in this folder.

use std::fs;
use std::io::Result;
use std::path::Path;

use batt_arc::corpus;

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let [parser, loader, program, forms] =
        ["parser", "loader", "program", "forms"].map(|name| root.join(name));
    for dir in [&parser, &loader, &program, &forms] {
        fs::create_dir_all(dir)?;
    }
    for (k, solver) in corpus::SOLVERS.split("\n\n\n").enumerate() {
        fs::write(parser.join(format!("solver-{k:02}")), solver)?;
    }
    for (id, text) in corpus::FILES {
        fs::write(loader.join(format!("task-{id}")), text)?;
    }
    // A small file of every format that the loader recognises.
    let pair = r#"{"input": [[1, 0]], "output": [[0, 1]]}"#;
    let formats = [
        (
            "task",
            format!(r#"{{"train": [{pair}], "test": [{pair}]}}"#),
        ),
        ("pairs", format!("[{pair}, {pair}]")),
        (
            "challenges",
            format!(r#"{{"00d62c1b": {{"train": [{pair}], "test": [{{"input": [[2]]}}]}}}}"#),
        ),
        ("solutions", r#"{"00d62c1b": [[[3, 4]]]}"#.to_owned()),
    ];
    for (name, text) in formats {
        fs::write(loader.join(name), text)?;
    }
    // Programs are decoded from bytes, so any bytes are seeds. Each starts with another op,
    // followed by noise.
    for k in 0..=255u8 {
        let mut state = u32::from(k);
        let noise = (0..64).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let bytes: Vec<u8> = [14, 0x11, 0x20, 0x03, 0x10, 0x11, 0x01, k]
            .into_iter()
            .chain(noise)
            .collect();
        // In the corpus of single primitives, the first byte chooses the primitive.
        fs::write(forms.join(format!("noise-{k:03}")), &bytes[7..])?;
        fs::write(program.join(format!("noise-{k:03}")), bytes)?;
    }
    Ok(())
}
