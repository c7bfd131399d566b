mod support;
use std::time::Instant;
use batt_dsl::*;
#[test]
fn scratch() {
    let big = ["repeat((), 100000)", "repeat(ONE, 100000)", "repeat(T, 100000)", "repeat((1,), 100000)", "repeat((T,), 100000)", "repeat((1, 2), 100000)", "repeat((T, 2), 100000)", "repeat(add, 100000)",
      "canvas(ONE, (300, 300))", "canvas(T, (300, 300))", "canvas(ONE, (1, 100000))", "canvas(ONE, (100000, 1))", "canvas(300, (300, 300))", "asindices(canvas(ONE, (300, 300)))", "asobject(canvas(ONE, (300, 300)))", "asobject(canvas(T, (300, 300)))",
      "apply(initset, interval(0, 100000, 1))", "prapply(branch2, (None,), interval(0, 100000, 1))", "insert(ONE, asindices(canvas(ONE, (300, 300))))", "shift(asindices(canvas(ONE, (300, 300))), (40000, 0))", "repeat(asindices(canvas(ONE, TWO_BY_TWO)), 100000)", "repeat(initset(ONE), 100000)", "repeat(initset(()), 100000)", "repeat(canvas(1, TWO_BY_TWO), 100000)", "repeat(asobject(canvas(1, TWO_BY_TWO)), 100000)"];
    let small = ["ONE", "T", "ORIGIN", "()", "canvas(ONE, TWO_BY_TWO)", "initset(ORIGIN)", "initset(astuple(ONE, ORIGIN))", "identity", "size", "lbind(either, T)", "(ONE, T)"];
    let fix = |s: &str| s.replace("branch2", "lbind(branch, F)");
    let limits = Limits { steps: 1 << 40, size: 4_000_000, memory: 4 << 30 };
    let mut bad = std::collections::BTreeMap::<String, (f64, String)>::new();
    let mut all: Vec<String> = big.iter().map(|s| fix(s)).collect();
    let nbig = all.len();
    all.extend(small.iter().map(|s| s.to_string()));
    for id in OpId::all() {
        let ar = id.op().arity();
        let n = all.len();
        let start = Instant::now();
        for combo in 0..n.pow(ar.min(2) as u32) {
            let (a, b) = (combo % n, combo / n);
            if a >= nbig && (ar == 1 || b >= nbig) { continue }
            // both big only when cheap
            if ar >= 2 && a < nbig && b < nbig && a != b { continue }
            if ["product", "prapply", "vupscale"].contains(&id.op().name) && a < nbig && b < nbig { continue }
            let mut args = vec![all[a].clone()];
            if ar >= 2 { args.push(all[b].clone()); }
            if ar >= 3 { args.push("ONE".into()); }
            if ar >= 4 { args.push("F".into()); }
            let e: Vec<_> = args.iter().map(|a| batt_engine::conformance::expression(a).unwrap()).collect();
            Workspace::new().run(Dialect::ArcDsl, &limits, |run| {
                let vals: Vec<_> = e.iter().map(|e| e.execute(run, &[]).map_err(|_| args.clone()).unwrap()).collect();
                // the second call shows what notes do not save
                let _ = run.call(Value::Op(id), &vals);
                let before = run.spent();
                let t = Instant::now();
                let _ = run.call(Value::Op(id), &vals);
                let ns = t.elapsed().as_nanos() as f64;
                let spent = (run.spent() - before) as f64;
                let rate = ns / (spent + 1.0);
                if ns > 20_000.0 && rate > 100.0 {
                    let entry = bad.entry(id.op().name.to_string()).or_insert((0.0, String::new()));
                    if rate > entry.0 { *entry = (rate, format!("{} {:.0}us spent {}", args.join(" ; "), ns / 1e3, spent)); }
                }
            });
        }
        if start.elapsed().as_secs() > 10 { println!("slow {} {:?}", id.op().name, start.elapsed()); }
    }
    for (k, (rate, what)) in &bad { println!("{k}: {rate:.0} ns a unit: {what}"); }
}
