mod support;
use std::time::Instant;
use support::generate::*;
#[test]
fn scratch() {
    let bytes =
        std::fs::read("/tmp/t/art/program2-timeout-73963795bd1db4a16ebb232e0a3f22a00699b9ea")
            .unwrap();
    let mut c = Choices::new(&bytes);
    let g = grid(&mut c);
    let p = program(&mut c);
    println!("{g:?}\n{p}");
    let compiled = batt_engine::Compiled::new(&p);
    for limits in [
        support::oracle::TIGHT,
        batt_dsl::Limits {
            steps: 4_000_000,
            size: 40_000,
            memory: 64 << 20,
        },
    ] {
        let t = Instant::now();
        let e = support::oracle::ending(&mut batt_dsl::Workspace::new(), &compiled, &g, &limits);
        println!("{:?} {:?}", t.elapsed(), e.map(|v| v.to_string().len()));
        let t = Instant::now();
        batt_dsl::Workspace::new().run(batt_dsl::Dialect::ArcDsl, &limits, |run| {
            let i = run
                .from_owned(&batt_dsl::OwnedValue::grid(g.rows()))
                .unwrap();
            let mut last = Instant::now();
            let mut before = 0;
            let r = compiled.execute_watched(run, &[i], |run, s, _| {
                println!(
                    "  step {} {:?} spent {}",
                    s.0 + 1,
                    last.elapsed(),
                    run.spent() - before
                );
                last = Instant::now();
                before = run.spent();
            });
            println!("{:?} end {:?} {:?}", last.elapsed(), r.is_ok(), r.err());
        });
        println!("general {:?}", t.elapsed());
    }
}
