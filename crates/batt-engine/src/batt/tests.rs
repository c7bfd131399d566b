use batt_arc::corpus;
use batt_dsl::{Dialect, Limits};
use batt_lang::SolverFile;
use batt_lang::batt::BattFile;
use batt_lang::card::{CardDonor, CardOptions, differs, merge};

use super::*;

/// Returns an entry as text: its value, or its fault and the failing step.
fn text<'r>(run: &mut Run<'r>, entry: BattEntry<'r>) -> String {
    let mut text = String::new();
    let written = entry.value.map(|value| run.write_json(value, &mut text));
    match written {
        Ok(Ok(())) => text,
        other => format!("{other:?}"),
    }
}

/// Compiles a batt in arc-dsl from its text.
fn compiled(text: &str) -> CompiledBatt {
    let file = BattFile::parse(text, "batt.py", Some(Dialect::ArcDsl));
    assert!(file.is_clean(), "{:?}", file.diagnostics);
    CompiledBatt::new(&file.batts[0])
}

/// Returns the entries of a run as texts.
fn texts(batt: &CompiledBatt, sample: &Sample<'_>, goal: Goal, limits: &Limits) -> Vec<String> {
    let mut worker = BattWorker::default();
    batt.run(&mut worker, sample, goal, limits, &mut [], text)
}

/// Runs a batt as a whole and each of its solvers alone, within `steps` steps, with and without
/// comparisons, and asserts that the results agree. Returns how many entries reached the limit.
fn limited_alike(batt: &CompiledBatt, sample: &Sample<'_>, steps: u64) -> usize {
    let limits = Limits {
        steps,
        ..Limits::default()
    };
    let mut worker = BattWorker::default();
    let all = texts(batt, sample, Goal::Both, &limits);
    for goal in [Goal::Solve, Goal::Compare] {
        let some = texts(batt, sample, goal, &limits);
        assert_eq!(some, all[batt.shown(goal)], "{steps} steps, {goal:?}");
        for number in 0..batt.plan.solvers.len() {
            let mut marked = vec![false; batt.plan.solvers.len()];
            marked[number] = true;
            batt.run_only(
                &mut worker,
                sample,
                goal,
                &marked,
                &limits,
                &mut [],
                |run, entry| {
                    let expected = &all[entry.number];
                    assert_eq!(text(run, entry), *expected, "{steps} steps, {goal:?}");
                },
            );
        }
    }
    all.iter().filter(|entry| entry.contains("Steps")).count()
}

/// Merges the built-in solvers and their differs into one batt.
fn with_differs() -> CompiledBatt {
    let file = SolverFile::parse_in(corpus::SOLVERS, "solvers.py", Some(Dialect::ArcDsl));
    let donor = |program| CardDonor {
        id: batt_lang::Program::name(program).to_owned(),
        program,
        size: None,
        mutated: false,
    };
    let donors: Vec<CardDonor<'_>> = file.programs.iter().map(donor).collect();
    let differs = differs(Dialect::ArcDsl);
    let batt = merge(&donors, &differs, &CardOptions::sharing_only());
    CompiledBatt::new(&batt.expect("one dialect").batt)
}

/// The limits of a solver depend neither on the other solvers of the batt, which may cache facts
/// about shared values, nor on whether the run compares.
#[test]
fn the_first_solver_pays_no_more_than_the_others() {
    let batt = with_differs();
    let tasks = corpus::tasks();
    let mut limited = 0;
    for (task, _, pair) in tasks.pairs().step_by(15) {
        for steps in [300, 1_000, 2_000, 4_000, 8_000] {
            limited += limited_alike(&batt, &Sample::new(task, pair), steps);
        }
    }
    assert!(limited > 1000, "{limited}");
}

#[test]
fn comparisons_are_scores_with_another_c() {
    let batt = with_differs();
    let limits = Limits::default();
    let tasks = corpus::tasks();
    let (mut values, mut differ) = (0, 0);
    for (task, _, pair) in tasks.pairs().step_by(7) {
        let sample = Sample::new(task, pair);
        let found = texts(&batt, &sample, Goal::Both, &limits);
        let expected = sample.expected.expect("the built-in outputs are known");
        let scores = batt.run_with(
            &mut BattWorker::default(),
            |run| {
                let inputs = [demos(run, sample.demos)?, grid(run, sample.input)?];
                Ok([inputs[0], inputs[1], grid(run, expected)?])
            },
            &limits,
            &mut [],
            text,
        );
        assert_eq!(
            found[batt.shown(Goal::Compare)],
            scores[batt.outputs()..],
            "{}",
            task.id
        );
        let compared = &found[batt.solved()..];
        values += compared
            .iter()
            .filter(|text| !text.contains("RunError"))
            .count();
        let scores = &found[batt.outputs()..batt.solved()];
        differ += compared.iter().zip(scores).filter(|(a, b)| a != b).count();
    }
    assert!(values > 1000 && differ > 1000, "{values}, {differ}");
}

/// Comparisons also match where a candidate depends on `C`.
#[test]
fn a_candidate_may_look_at_c() {
    let text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n    t1 = hmirror(I)\n    t2 = cover(C, t1)\n    \
                t3 = hmirror(t1)\n    t4 = vconcat(t2, t3)\n    o.append((4, False, 'a', t4))\n    t5 = asobject(t3)\n    \
                t6 = order(t5, first)\n    s.append((6, 'a', 'd', t6))\n    t7 = equality(t4, C)\n    \
                s.append((7, 'a', 'e', t7))\n    return o, s\n";
    let batt = compiled(text);
    let tasks = corpus::tasks();
    let mut limited = 0;
    for (task, _, pair) in tasks.pairs().step_by(25) {
        for steps in (10..2_000).step_by(30) {
            limited += limited_alike(&batt, &Sample::new(task, pair), steps);
        }
    }
    assert!(limited > 100, "{limited}");
}

/// Limits do not depend on facts about shared values that other shared values need. Here the fact
/// is the order of all locations: one solver needs it in its own step, and two solvers need it in a
/// step that they share.
#[test]
fn facts_about_shared_values_cost_no_solver_more() {
    let text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n    t1 = asindices(I)\n    \
                t2 = totuple(t1)\n    o.append((2, False, 'a', t2))\n    t3 = first(t1)\n    \
                o.append((3, False, 'b', t3))\n    t4 = double(t3)\n    o.append((4, False, 'c', t4))\n    \
                return o, s\n";
    let batt = compiled(text);
    let tasks = corpus::tasks();
    let mut limited = 0;
    for (task, _, pair) in tasks.pairs().step_by(15) {
        for steps in (10..600).step_by(10) {
            limited += limited_alike(&batt, &Sample::new(task, pair), steps);
        }
    }
    assert!(limited > 100, "{limited}");
}

/// A solver fails at the step at which it would fail alone, even if another solver has already
/// executed a later step of it that fails as well.
#[test]
fn a_solver_fails_in_its_own_turn() {
    let text = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n    t1 = size(I)\n    \
                t2 = divide(t1, ZERO)\n    t3 = first(ZERO)\n    t4 = astuple(t1, t3)\n    \
                o.append((4, False, 'a', t4))\n    t5 = astuple(t2, t3)\n    o.append((5, False, 'b', t5))\n    \
                t6 = hmirror(t1)\n    s.append((6, 'a', 'd', t6))\n    s.append((1, 'b', 'd', t1))\n    \
                return o, s\n";
    let batt = compiled(text);
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
        Goal::Solve,
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
    // The fourth and fifth steps are skipped.
    let executed: Vec<u64> = counts.iter().map(|count| count.executed).collect();
    assert_eq!(executed, [1, 1, 1, 0, 0, 1]);
}

/// A solver may have more than 64 entries, the bits of one word.
#[test]
fn a_solver_with_many_differs() {
    const COUNT: usize = 150;
    let scores: String = (0..COUNT)
        .map(|k| {
            let number = k + 2;
            let step = match k % 3 {
                0 => "equality(t1, C)",
                1 => "first(ZERO)",
                _ => "size(C)",
            };
            format!("    t{number} = {step}\n    s.append(({number}, 'a', 'd', t{number}))\n")
        })
        .collect();
    let text = format!(
        "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n    t1 = hmirror(I)\n    \
         o.append((1, False, 'a', t1))\n{scores}    return o, s\n"
    );
    let batt = compiled(&text);
    let tasks = corpus::tasks();
    let (task, _, pair) = tasks.pairs().next().expect("a pair");
    let found = texts(
        &batt,
        &Sample::new(task, pair),
        Goal::Both,
        &Limits::default(),
    );
    assert_eq!(found.len(), 1 + 2 * COUNT);
    let failed: Vec<bool> = found[1..].iter().map(|t| t.contains("Type")).collect();
    // `size` fails on `None`, but not on the expected grid.
    let expected = (0..2 * COUNT).map(|k| k % 3 == 1 || (k % 3 == 2 && k < COUNT));
    assert_eq!(failed, expected.collect::<Vec<_>>());
    assert_eq!(found[1], "false");
}

#[test]
fn a_set_of_parts_may_be_larger_than_a_word() {
    let mut set = PartSet::default();
    assert!(set.is_empty());
    for part in [3, 64, 200] {
        set.insert(part);
    }
    assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 200]);
    let mut live: PartSet = (0..201).collect();
    assert!(set.intersects(&live));
    assert!(!set.intersects(&(0..3).collect()));
    let mut one = PartSet::default();
    one.insert(3);
    live.remove_all(&one);
    assert!(set.intersects(&live) && !one.intersects(&live));
    live.remove_all(&set);
    assert!(!set.intersects(&live));
    assert_eq!(live.iter().count(), 198);
}
