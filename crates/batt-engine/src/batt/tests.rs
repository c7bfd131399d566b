use batt_arc::corpus;
use batt_dsl::{Dialect, Limits};
use batt_lang::SolverFile;
use batt_lang::batt::BattFile;
use batt_lang::card::{CardOptions, Donor, differs, merge};

use super::*;

/// An entry as text: its value, or its fault and the step that has it.
fn text<'r>(run: &mut Run<'r>, entry: BattEntry<'r>) -> String {
    let mut text = String::new();
    let written = entry.value.map(|value| run.write_json(value, &mut text));
    match written {
        Ok(Ok(())) => text,
        other => format!("{other:?}"),
    }
}

/// Runs a batt as a whole and each of its solvers alone, within so many steps. Gives how many entries reached the limit.
fn limited_alike(batt: &CompiledBatt, sample: &Sample<'_>, pass: Pass<'_>, steps: u64) -> usize {
    let limits = Limits {
        steps,
        ..Limits::default()
    };
    let first = batt.wanted(pass).start;
    let mut worker = BattWorker::default();
    let mut counts = vec![StepCount::default(); batt.len()];
    let all = batt.run(&mut worker, sample, pass, &limits, &mut counts, text);
    for solver in &batt.solvers {
        let mut marked = vec![false; batt.values.len()];
        for part in &solver.parts {
            marked[part.entry as usize] = part.entry as usize >= first;
        }
        batt.run_only(
            &mut worker,
            sample,
            pass,
            &marked,
            &limits,
            &mut counts,
            |run, entry| {
                let expected = &all[entry.number - first];
                assert_eq!(text(run, entry), *expected, "{steps} steps");
            },
        );
    }
    all.iter().filter(|entry| entry.contains("Steps")).count()
}

/// What a solver may do does not depend on who else is in the batt, and has found out something about what they share.
#[test]
fn whoever_comes_first_pays_no_more() {
    let file = SolverFile::parse_in(corpus::SOLVERS, "solvers.py", Some(Dialect::ArcDsl));
    let donor = |program| Donor {
        id: batt_lang::Program::name(program).to_owned(),
        program,
        size: None,
    };
    let donors: Vec<Donor<'_>> = file.programs.iter().map(donor).collect();
    let differs = differs(Dialect::ArcDsl);
    let batt = merge(&donors, &differs, &CardOptions::sharing_only());
    let batt = CompiledBatt::new(&batt.expect("one dialect").batt);
    let tasks = corpus::tasks();
    let mut limited = 0;
    for (task, _, pair) in tasks.pairs().step_by(15) {
        for steps in [300, 1_000, 2_000, 4_000, 8_000] {
            let sample = Sample::new(task, pair);
            for pass in [Pass::Solve, Pass::Compare(sample.input)] {
                limited += limited_alike(&batt, &sample, pass, steps);
            }
        }
    }
    assert!(limited > 1000, "{limited}");
}

/// The same for what is shared and made from what is shared: here the order of all locations, for which one solver asks by
/// itself and two by a step that they share.
#[test]
fn nor_does_what_is_shared_cost_more() {
    let text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n    t1 = asindices(I)\n    \
                t2 = totuple(t1)\n    o.append((2, False, 'a', t2))\n    t3 = first(t1)\n    \
                o.append((3, False, 'b', t3))\n    t4 = double(t3)\n    o.append((4, False, 'c', t4))\n    \
                return o, s\n";
    let file = BattFile::parse(text, "batt.py", Some(Dialect::ArcDsl));
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    let batt = CompiledBatt::new(&file.batts[0]);
    let tasks = corpus::tasks();
    let mut limited = 0;
    for (task, _, pair) in tasks.pairs().step_by(15) {
        for steps in (10..600).step_by(10) {
            limited += limited_alike(&batt, &Sample::new(task, pair), Pass::Solve, steps);
        }
    }
    assert!(limited > 100, "{limited}");
}

/// A solver fails where it would alone, although others have come to a step that fails, too, and that it would come to later.
#[test]
fn a_solver_fails_in_its_own_turn() {
    let text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n    t1 = size(I)\n    \
                t2 = divide(t1, ZERO)\n    t3 = first(ZERO)\n    t4 = astuple(t1, t3)\n    \
                o.append((4, False, 'a', t4))\n    t5 = astuple(t2, t3)\n    o.append((5, False, 'b', t5))\n    \
                t6 = hmirror(t1)\n    s.append((6, 'a', 'd', t6))\n    s.append((1, 'b', 'd', t1))\n    \
                return o, s\n";
    let file = BattFile::parse(text, "batt.py", Some(Dialect::ArcDsl));
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    let batt = CompiledBatt::new(&file.batts[0]);
    let tasks = corpus::tasks();
    let (task, _, pair) = tasks.pairs().next().expect("a pair");
    let sample = Sample::new(task, pair);
    let mut counts = vec![StepCount::default(); batt.len()];
    let failed = |_: &mut Run<'_>, entry: BattEntry<'_>| {
        let error = entry.value.err()?;
        Some((error.fault, error.step?.0))
    };
    let found = batt.run(
        &mut BattWorker::default(),
        &sample,
        Pass::Solve,
        &Limits::default(),
        &mut counts,
        failed,
    );
    let in_turn = [
        Some((Fault::Type, 2)),
        Some((Fault::ZeroDivision, 1)),
        Some((Fault::Type, 5)),
        None,
    ];
    assert_eq!(found, in_turn);
    // Nobody comes to the fourth and fifth.
    let executed: Vec<u64> = counts.iter().map(|count| count.executed).collect();
    assert_eq!(executed, [1, 1, 1, 0, 0, 1]);
}
