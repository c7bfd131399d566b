//! Evolution on the embedded tasks.

use std::num::NonZeroUsize;
use std::thread;
use std::time::{Duration, Instant};

use batt_arc::{Task, corpus};
use batt_archive::Checkpoint;
use batt_dsl::Dialect;
use batt_engine::Cancel;
use batt_engine::{Compiled, EvalOptions, Job, Sample, evaluate};
use batt_evolve::{
    Evolution, EvolveSettings, EvolveTally, MutationKind, Round, SeedSolver, Weights,
    check_checkpoint,
};
use batt_lang::card::structural_hash;
use batt_lang::{Program, SolverFile};

/// Returns some tasks, and the solvers of all other tasks.
fn held_out(ids: &[&str]) -> (Vec<Task>, Vec<SeedSolver>) {
    let tasks = corpus::tasks();
    let file = SolverFile::parse(corpus::SOLVERS, "solvers.py");
    let task = |program: &Program| program.name().trim_start_matches("solve_").to_owned();
    let donors = file.programs.iter().map(|program| SeedSolver {
        task: task(program),
        program: program.clone(),
    });
    let donors = donors.filter(|donor| !ids.contains(&donor.task.as_str()));
    let tasks = ids.iter().filter_map(|id| tasks.get(id).cloned()).collect();
    (tasks, donors.collect())
}

fn settings(seed: u64, offspring: usize) -> EvolveSettings {
    EvolveSettings {
        seed,
        offspring: NonZeroUsize::new(offspring),
        ..EvolveSettings::default()
    }
}

fn rounds(evolution: &mut Evolution<'_>, count: usize) -> Vec<Round> {
    let stop = Cancel::new();
    (0..count)
        .map(|_| evolution.round(&mut [], &stop))
        .collect()
}

fn found(rounds: &[Round]) -> Vec<(usize, String, u64)> {
    let all = rounds.iter().flat_map(|round| &round.found);
    all.map(|f| (f.task, structural_hash(&f.program), f.outputs))
        .collect()
}

#[test]
fn a_solver_is_found_again() {
    let (tasks, donors) = held_out(&["1b91133d", "f92937ab", "46efe71b"]);
    let mut evolution = Evolution::new(&tasks, Dialect::ArcDsl, donors, &[], settings(1, 1000));
    let stop = Cancel::new();
    for _ in 0..40 {
        if evolution.is_done() {
            break;
        }
        evolution.round(&mut [], &stop);
    }
    let solved = (0..tasks.len()).filter(|&at| evolution.best(at).is_some_and(|b| b.is_solved()));
    assert!(solved.count() >= 2);
    // The printed program solves the demonstrations that its score claims.
    for (at, task) in tasks.iter().enumerate() {
        let Some(best) = evolution.best(at) else {
            continue;
        };
        let program = evolution.best_program(at).expect("there is a score");
        let text = program.to_string();
        let file = SolverFile::parse_in(&text, "found.py", Some(Dialect::ArcDsl));
        let compiled = Compiled::new(&file.programs[0]);
        let jobs: Vec<Job<'_>> = task
            .train
            .iter()
            .map(|pair| Job {
                program: &compiled,
                sample: Sample::new(task, pair),
            })
            .collect();
        let mut right = 0;
        evaluate(&jobs, &EvalOptions::default(), &stop, |_, result| {
            right += u32::from(result.verdict.is_right());
        });
        assert_eq!(right, best.demos_solved, "{text}");
    }
}

#[test]
fn threads_make_no_difference() {
    let ids = ["1b91133d", "33b64ef9", "8d3e25e2", "d66c1b89", "e73fc175"];
    let (tasks, donors) = held_out(&ids);
    let run = |threads: usize, islands: usize| {
        let settings = EvolveSettings {
            threads: NonZeroUsize::new(threads),
            islands: NonZeroUsize::new(islands).expect("not zero"),
            ..settings(7, 150)
        };
        let mut evolution = Evolution::new(&tasks, Dialect::ArcDsl, donors.clone(), &[], settings);
        let rounds = rounds(&mut evolution, 9);
        (found(&rounds), evolution.state())
    };
    let one = run(1, 2);
    assert!(one.0.len() > 100);
    assert_eq!(one, run(3, 2));
    assert_ne!(one.0, run(1, 1).0);
}

#[test]
fn most_offspring_run_and_every_kind_is_tried() {
    let ids = [
        "0f995f90", "2498803a", "3470f492", "516c26bb", "a5eecb84", "cdd75e46", "b803c0b9",
    ];
    let (tasks, donors) = held_out(&ids);
    let mut evolution = Evolution::new(&tasks, Dialect::ArcDsl, donors, &[], settings(3, 400));
    let mut tally = EvolveTally::default();
    for round in rounds(&mut evolution, 6) {
        tally.add(&round.tally);
    }
    let fine = 1.0 - tally.failed as f64 / tally.offspring as f64;
    assert!(fine >= 0.7, "{:.1} % run without error", 100.0 * fine);
    for kind in MutationKind::ALL {
        assert!(tally.credit.tried[kind.index()] > 0, "{}", kind.name());
    }
}

#[test]
fn weights_can_be_fixed() {
    let (tasks, donors) = held_out(&["46efe71b"]);
    let mut only = [0.0; MutationKind::ALL.len()];
    only[MutationKind::Constant.index()] = 1.0;
    let settings = EvolveSettings {
        weights: Weights::new(only, true),
        ..settings(3, 50)
    };
    let mut evolution = Evolution::new(&tasks, Dialect::ArcDsl, donors, &[], settings);
    for round in rounds(&mut evolution, 3) {
        let tried = round.tally.credit.tried;
        let constants = tried[MutationKind::Constant.index()];
        assert_eq!(constants, tried.iter().sum::<u64>());
    }
}

#[test]
fn an_evolution_continues_from_a_state() {
    let (tasks, donors) = held_out(&["1b91133d", "d66c1b89"]);
    let new = || {
        Evolution::new(
            &tasks,
            Dialect::ArcDsl,
            donors.clone(),
            &[],
            settings(5, 300),
        )
    };
    let mut first = new();
    rounds(&mut first, 4);
    let state = first.state();
    let mut second = new();
    second.restore(&state).expect("our own state");
    assert_eq!(second.generation(), 4);
    for at in 0..tasks.len() {
        assert_eq!(second.best(at), first.best(at));
    }
    rounds(&mut second, 1);
    // The better score sorts first.
    assert!(second.best(0) <= first.best(0));
    assert!(new().restore(b"{}").is_err());
    assert!(new().restore(b"not a state").is_err());
}

#[test]
fn states_of_other_versions_of_the_program_are_read_or_refused() {
    let (tasks, donors) = held_out(&["1b91133d"]);
    let new = || {
        Evolution::new(
            &tasks,
            Dialect::ArcDsl,
            donors.clone(),
            &[],
            settings(5, 100),
        )
    };
    let mut first = new();
    rounds(&mut first, 2);
    let state: serde_json::Value = serde_json::from_slice(&first.state()).expect("JSON");
    let check = |state: &serde_json::Value| {
        let state = state.to_string().into_bytes();
        let checked = check_checkpoint(&Checkpoint {
            generation: 2,
            state: state.clone(),
        });
        let mut evolution = new();
        let restored = evolution.restore(&state).map_err(|error| error.to_string());
        assert_eq!(checked, restored);
        if restored.is_ok() {
            rounds(&mut evolution, 2);
        }
        restored
    };
    assert_eq!(check(&state), Ok(()));

    // Checkpoints of earlier versions name no strategy.
    let mut earlier = state.clone();
    earlier
        .as_object_mut()
        .expect("an object")
        .remove("strategy");
    assert_eq!(check(&earlier), Ok(()));

    let mut foreign = state.clone();
    foreign["strategy"] = "annealing".into();
    let error = check(&foreign).unwrap_err();
    assert!(error.contains("'annealing'"), "{error}");

    for list in ["weights", "tried", "paid"] {
        let mut short = state.clone();
        short["weights"][list] = serde_json::json!([0.5]);
        let error = check(&short).unwrap_err();
        assert!(error.contains("differ in length"), "{error}");
    }
    for kinds in [1, MutationKind::ALL.len() - 1, MutationKind::ALL.len() + 1] {
        let mut other = state.clone();
        for list in ["weights", "tried", "paid"] {
            other["weights"][list] = vec![0.5; kinds].into();
        }
        assert_eq!(check(&other), Ok(()), "{kinds} kinds");
    }
}

#[test]
fn evolution_needs_neither_donors_nor_demonstrations() {
    let (mut tasks, _) = held_out(&["f92937ab", "46efe71b"]);
    tasks[1].train.clear();
    let mut evolution = Evolution::new(&tasks, Dialect::ArcDsl, Vec::new(), &[], settings(1, 200));
    let rounds = rounds(&mut evolution, 3);
    assert!(
        rounds
            .iter()
            .map(|round| round.tally.offspring)
            .sum::<u64>()
            > 100
    );
    assert!(evolution.best(0).is_some());
    assert_eq!(evolution.best(1), None);
}

#[test]
fn tokpidjin_evolves_as_well() {
    let (tasks, _) = held_out(&["f92937ab", "2120d3af"]);
    let text = "
def solve_a(S, I, C):
    x1 = mir_rot_t(I, R2)
    O = hconcat(I, x1)
    return O

def solve_b(S, I, C):
    x1 = o_g(I, R5)
    x2 = merge_f(x1)
    O = fill(I, RED, x2)
    return O
";
    let file = SolverFile::parse_in(text, "tok.py", Some(Dialect::Tokpidjin));
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    let donors = file.programs.iter().map(|program| SeedSolver {
        task: program.name().to_owned(),
        program: program.clone(),
    });
    let donors = donors.collect();
    let mut evolution = Evolution::new(&tasks, Dialect::Tokpidjin, donors, &[], settings(2, 300));
    let mut tally = EvolveTally::default();
    for round in rounds(&mut evolution, 4) {
        tally.add(&round.tally);
        for found in round.found {
            let text = found.program.to_string();
            let again = SolverFile::parse_in(&text, "found.py", Some(Dialect::Tokpidjin));
            assert_eq!(again.programs[0], found.program);
        }
    }
    assert!(tally.offspring > 1000);
    assert!(tally.credit.tried[MutationKind::Mirror.index()] > 0);
    assert!(tally.credit.tried[MutationKind::Colour.index()] > 0);
}

#[test]
fn a_deadline_ends_a_generation_of_any_size() {
    let (tasks, donors) = held_out(&["1b91133d", "33b64ef9"]);
    let settings = settings(5, 100_000_000);
    let mut evolution = Evolution::new(&tasks, Dialect::ArcDsl, donors, &[], settings);
    let started = Instant::now();
    let stop = Cancel::new().with_deadline(started + Duration::from_millis(300));
    let round = evolution.round(&mut [], &stop);
    assert!(round.stopped);
    let time = started.elapsed();
    assert!(time < Duration::from_secs(5), "{time:?}");
}

#[test]
fn a_cancellation_ends_settling() {
    let (tasks, donors) = held_out(&["1b91133d", "33b64ef9"]);
    let programs = vec![donors[0].program.clone()];
    let all = (0..tasks.len()).map(|at| (at, programs.clone())).collect();
    let mut evolution = Evolution::new(&tasks, Dialect::ArcDsl, donors, &[], settings(5, 100));
    let stop = Cancel::new();
    stop.cancel();
    evolution.add_programs(&all, &stop);
    assert_eq!((evolution.best(0), evolution.best(1)), (None, None));
    evolution.add_programs(&all, &Cancel::new());
    assert!(evolution.best(0).is_some() && evolution.best(1).is_some());
}

#[test]
fn a_large_generation_is_bred_in_several_passes() {
    let (tasks, donors) = held_out(&["1b91133d"]);
    let run = |threads: usize| {
        let settings = EvolveSettings {
            threads: NonZeroUsize::new(threads),
            ..settings(6, 70_000)
        };
        let mut evolution = Evolution::new(&tasks, Dialect::ArcDsl, donors.clone(), &[], settings);
        let rounds = rounds(&mut evolution, 1);
        assert!(!rounds[0].stopped);
        assert!(
            rounds[0].tally.offspring > 66_000,
            "{}",
            rounds[0].tally.offspring
        );
        found(&rounds)
    };
    assert_eq!(run(1), run(2));
}

/// A cancellation loses only the offspring in progress.
#[test]
fn a_generation_can_be_cancelled_at_any_moment() {
    let ids = [
        "1b91133d", "33b64ef9", "8d3e25e2", "d66c1b89", "e73fc175", "db8712d1",
    ];
    let (tasks, donors) = held_out(&ids);
    let mut evolution = Evolution::new(&tasks, Dialect::ArcDsl, donors, &[], settings(4, 1500));
    let mut best = vec![None; tasks.len()];
    let mut cut_short = 0;
    for pause in (0..40).map(|n| Duration::from_millis(n * 7 % 120)) {
        let stop = Cancel::new();
        let round = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(pause);
                stop.cancel();
            });
            evolution.round(&mut [], &stop)
        });
        cut_short += usize::from(round.stopped);
        for (at, before) in best.iter_mut().enumerate() {
            let now = evolution.best(at);
            assert!(before.is_none_or(|before| now.is_some_and(|now| now <= before)));
            assert_eq!(now.is_some(), evolution.best_program(at).is_some());
            *before = now;
        }
    }
    assert!(cut_short > 0);
    assert!(!rounds(&mut evolution, 1)[0].stopped);
}
