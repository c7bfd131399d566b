//! A device does not change the results of evolution.

use std::num::NonZeroUsize;

use batt_arc::{Task, corpus};
use batt_dsl::Dialect;
use batt_emulated::Emulated;
use batt_engine::Cancel;
use batt_engine::device::Device;
use batt_evolve::{Evolution, EvolveSettings, EvolveTally, SeedSolver};
use batt_lang::SolverFile;
use batt_lang::card::structural_hash;

#[test]
fn evolution_has_the_same_results_with_a_device() {
    let ids = ["1b91133d", "33b64ef9", "8d3e25e2", "d66c1b89", "e73fc175"];
    let all = corpus::tasks();
    let tasks: Vec<Task> = ids.iter().filter_map(|id| all.get(id).cloned()).collect();
    let file = SolverFile::parse(corpus::SOLVERS, "solvers.py");
    let donors: Vec<SeedSolver> = file
        .programs
        .iter()
        .map(|program| SeedSolver {
            task: program.name().trim_start_matches("solve_").to_owned(),
            program: program.clone(),
        })
        .filter(|donor| !ids.contains(&donor.task.as_str()))
        .collect();
    let run = |devices: &mut [Box<dyn Device>]| {
        let settings = EvolveSettings {
            seed: 11,
            offspring: NonZeroUsize::new(250),
            ..EvolveSettings::default()
        };
        let mut evolution = Evolution::new(&tasks, Dialect::ArcDsl, donors.clone(), &[], settings);
        let mut found = Vec::new();
        let mut tally = EvolveTally::default();
        for _ in 0..3 {
            let round = evolution.round(devices, &Cancel::new());
            tally.add(&round.tally);
            for f in round.found {
                found.push((f.task, structural_hash(&f.program), f.outputs, f.score));
            }
        }
        (found, evolution.state(), tally)
    };
    let (found, state, tally) = run(&mut []);
    assert!(found.len() > 50);
    assert_eq!(tally.on_devices, 0);
    let waves = Emulated::default().with_waves().unwrap();
    for device in [Emulated::default(), waves] {
        let (on_device, device_state, device_tally) = run(&mut [Box::new(device)]);
        assert_eq!(found, on_device);
        assert_eq!(state, device_state);
        assert_eq!(tally.offspring, device_tally.offspring);
        assert_eq!(tally.failed, device_tally.failed);
        let share = device_tally.on_devices as f64 / device_tally.offspring as f64;
        assert!(
            share > 0.5,
            "{share:.2} of the offspring were run on the device"
        );
    }
}
