//! scratch: cmp SOLVERS TASKS ORACLE dialect
use batt_engine::*;
use batt_dsl::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let file = batt_lang::SolverFile::load(&a[1]).unwrap();
    let data = batt_arc::Dataset::load(&a[2]).unwrap();
    let dialect = if a[4] == "re-arc" { Dialect::ReArc } else { Dialect::ArcDsl };
    let progs: std::collections::HashMap<_, _> = file.programs.iter().map(|p| (p.name().to_string(), Compiled::new(p))).collect();
    let mut ws = Workspace::new();
    let (mut ok, mut bad) = (0, 0);
    let mut total = 0.0;
    for line in std::fs::read_to_string(&a[3]).unwrap().lines() {
        let j: serde_json::Value = serde_json::from_str(line).unwrap();
        let task = data.get(j["task"].as_str().unwrap()).unwrap();
        let pr: batt_arc::PairRef = j["pair"].as_str().unwrap().parse().unwrap();
        let pair = task.pair(pr).unwrap();
        let job = Job { program: &progs[j["solver"].as_str().unwrap()], input: &pair.input, expected: None };
        let r = run_job(&mut ws, &job, &Options { dialect, values: Values::All, ..Options::default() });
        total += r.time.as_secs_f64();
        let got = match (&r.value, &r.verdict) { (Some(v), _) => v.to_json(), (None, Verdict::Failed(e)) => serde_json::json!({"err": e.fault.name()}), _ => unreachable!() };
        let same = got == j["out"] || (got.get("err").is_some() && j["out"].get("err").is_some());
        if same { ok += 1 } else { bad += 1; if bad < 10 { println!("{} {} {}\n  exp {}\n  got {}", j["solver"], j["task"], j["pair"], j["out"], got); } }
    }
    println!("{ok} same, {bad} differ, {total:.3}s");
}
