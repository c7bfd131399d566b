//! scratch
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let t = std::time::Instant::now();
    let r = batt_engine::conformance::run_directory(dir.as_ref(), |_, _| {}).unwrap();
    for d in r.differences.iter().take(20) {
        println!(
            "{}:{}\n  {}\n  exp {}\n  got {}",
            d.file.display(),
            d.line,
            &d.what.chars().take(600).collect::<String>(),
            &d.expected.chars().take(600).collect::<String>(),
            &d.got.chars().take(600).collect::<String>()
        );
    }
    let mut by = std::collections::BTreeMap::new();
    for d in &r.differences {
        *by.entry(d.file.file_name().unwrap().to_string_lossy().to_string())
            .or_insert(0) += 1;
    }
    println!("{by:?}");
    println!(
        "{} passed, {} failed; other class {}; {:?}",
        r.passed,
        r.differences.len(),
        r.other_class,
        t.elapsed()
    );
}
