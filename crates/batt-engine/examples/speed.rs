//! scratch: speed SOLVERS TASKS ORACLE [only]
use batt_engine::*;
use batt_dsl::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let file = batt_lang::SolverFile::load(&a[1]).unwrap();
    let data = batt_arc::Dataset::load(&a[2]).unwrap();
    let progs: std::collections::HashMap<_, _> = file.programs.iter().map(|p| (p.name().to_string(), Compiled::new(p))).collect();
    let mut ws = Workspace::new();
    let mut per: std::collections::BTreeMap<String, (f64, f64)> = Default::default();
    let only = a.get(4).cloned();
    let reps: usize = a.get(5).map_or(20, |s| s.parse().unwrap());
    for line in std::fs::read_to_string(&a[3]).unwrap().lines() {
        let j: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = j["task"].as_str().unwrap();
        if let Some(o) = &only { if o != "all" && o != id { continue } }
        let task = data.get(id).unwrap();
        let pr: batt_arc::PairRef = j["pair"].as_str().unwrap().parse().unwrap();
        let pair = task.pair(pr).unwrap();
        let job = Job { program: &progs[j["solver"].as_str().unwrap()], input: &pair.input, expected: None };
        let o = Options::default();
        let reps = if a.get(6).is_some() { let t = std::time::Instant::now(); run_job(&mut ws, &job, &o); run_job(&mut ws, &job, &o); (1000.0 / (t.elapsed().as_secs_f64() * 1e6)) as usize + 1 } else { reps };
        let mut best = f64::MAX;
        for _ in 0..5 {
        let t = std::time::Instant::now();
        for _ in 0..reps { ws.run(o.dialect, &o.limits, |run| { let i = run.input(job.input.height(), job.input.width(), job.input.cells()).unwrap(); let _ = job.program.execute(run, &[i]); }); }
        best = best.min(t.elapsed().as_secs_f64() * 1e6 / reps as f64);
        }
        let e = per.entry(id.to_string()).or_default();
        e.0 += j["us"].as_f64().unwrap(); e.1 += best;
    }
    let mut v: Vec<_> = per.iter().map(|(k, (p, o))| (p / o, k.clone(), *p, *o)).collect();
    v.sort_by(|a, b| a.0.total_cmp(&b.0));
    for x in v.iter().take(25) { println!("{:.1} {} py {:.0} ours {:.2}", x.0, x.1, x.2, x.3); }
    let (mut p, mut o) = (0.0, 0.0);
    for x in &v { if x.1 != "a64e4611" { p += x.2; o += x.3 } else { println!("a64e4611 {:.1}", x.0) } }
    let mut w = v.clone(); w.sort_by(|a, b| b.3.total_cmp(&a.3));
    println!("heaviest:"); for x in w.iter().take(12) { println!("  {} ours {:.1} ratio {:.1}", x.1, x.3, x.0); }
    println!("overall {:.1} (py {:.0} ours {:.0}), median {:.1}, min {:.1}", p / o, p, o, v[v.len() / 2].0, v[0].0);
}
