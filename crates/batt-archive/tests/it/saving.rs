//! Saving, retention and lineage.

use batt_arc::Score;
use batt_archive::{ArchiveError, Checkpoint, GcOptions, Kept, Retention};

use crate::support::{Folder, assert_in_order, child, found, hash, info, numbered, program, score};

const BEST: Retention = Retention::Best { per_task: 3 };

fn kept(saved: &batt_archive::Saved) -> Vec<Kept> {
    saved.found.iter().map(|(_, kept)| *kept).collect()
}

#[test]
fn saved_solvers_are_there_after_reopening() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let checkpoint = Checkpoint {
        generation: 7,
        state: vec![0, 1, 255],
    };
    let one = child(1, &[5, 6], "a", score(2, 500_000, 3));
    archive
        .save(run, &[one], &Retention::default(), Some(&checkpoint))
        .unwrap();
    drop(archive);

    let (archive, second) = folder.archive();
    assert_ne!(run, second);
    let best = archive.best("a", Some("v1"), 10).unwrap();
    assert_eq!(best.len(), 1);
    let entry = &best[0];
    assert_eq!(entry.hash, hash(1));
    assert_eq!(entry.program().unwrap(), numbered(1).renamed("solve"));
    assert_eq!(entry.score, score(2, 500_000, 3));
    assert_eq!(entry.parents, [hash(5), hash(6)]);
    assert_eq!((entry.mutation.as_str(), entry.outputs), ("constant", 1));
    assert_eq!(entry.run, run);
    assert!(entry.when.starts_with("20") && entry.when.ends_with('Z'));
    assert_eq!(archive.best("a", Some("v2"), 10).unwrap(), []);
    assert_eq!(archive.best("b", None, 10).unwrap(), []);
    assert_eq!(archive.checkpoint(run).unwrap(), Some(checkpoint));
    assert_eq!(archive.checkpoint(second).unwrap(), None);
    let runs = archive.runs().unwrap();
    let mut saved = runs.into_iter().filter(|run| run.generation.is_some());
    let last = saved.next().unwrap();
    assert_eq!(
        (last.id, last.info, last.generation),
        (run, info(1), Some(7))
    );
    assert_eq!(saved.next(), None);
    assert_in_order(&archive);
}

#[test]
fn numbers_of_64_bits_come_back() {
    let folder = Folder::new();
    let (mut archive, _) = folder.archive();
    let run = archive.begin_run(&info(u64::MAX)).unwrap();
    let mut one = found(1, "a", score(0, 0, 0));
    one.outputs = u64::MAX - 5;
    one.score.cost = u64::MAX;
    archive
        .save(run, &[one], &Retention::default(), None)
        .unwrap();
    let entry = &archive.best("a", None, 1).unwrap()[0];
    assert_eq!(entry.outputs, u64::MAX - 5);
    assert_eq!(entry.score.cost, i64::MAX as u64);
    assert_eq!(archive.runs().unwrap()[0].info.seed, u64::MAX);
}

#[test]
fn the_best_come_first() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let scores = [
        score(1, 9, 5),
        score(4, 1, 9),
        score(1, 9, 4),
        Score {
            cost: 1,
            ..score(1, 9, 4)
        },
        score(1, 10, 50),
    ];
    let all: Vec<_> = (0..).zip(scores).map(|(n, s)| found(n, "a", s)).collect();
    archive
        .save(run, &all, &Retention::default(), None)
        .unwrap();
    let best = archive.best("a", None, 9).unwrap();
    let order: Vec<u64> = best.iter().map(|entry| entry.outputs).collect();
    assert_eq!(order, [1, 4, 3, 2, 0]);
    let mut sorted: Vec<Score> = scores.into();
    sorted.sort();
    assert_eq!(Vec::from_iter(best.iter().map(|e| e.score)), sorted);
    assert_eq!(archive.best("a", None, 2).unwrap(), best[..2]);
}

#[test]
fn worse_solvers_are_evicted() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let first: Vec<_> = (0..3)
        .map(|n| found(n, "a", score(1, n as u32, 1)))
        .collect();
    let saved = archive.save(run, &first, &BEST, None).unwrap();
    assert_eq!(kept(&saved), [Kept::New; 3]);
    assert_eq!((saved.solvers, saved.evicted), (3, 0));

    let second = [
        found(9, "a", score(0, 0, 1)),
        found(3, "a", score(2, 0, 1)),
        found(2, "a", score(1, 2, 1)),
        found(1, "a", score(3, 2, 1)),
    ];
    let saved = archive.save(run, &second, &BEST, None).unwrap();
    assert_eq!(
        kept(&saved),
        [Kept::Refused, Kept::New, Kept::Known, Kept::Better]
    );
    assert_eq!((saved.solvers, saved.evicted, saved.kept()), (1, 1, 2));
    let best = archive.best("a", None, 9).unwrap();
    assert_eq!(Vec::from_iter(best.iter().map(|e| e.outputs)), [1, 3, 2]);
    // The evicted solver is still stored; the refused one never was.
    assert!(archive.solver(&hash(0)).unwrap().is_some());
    assert!(archive.solver(&hash(9)).unwrap().is_none());

    // Of two scores the better one counts.
    let worse = [found(1, "a", score(0, 0, 1))];
    let saved = archive.save(run, &worse, &BEST, None).unwrap();
    assert_eq!(kept(&saved), [Kept::Known]);
    assert_eq!(archive.best("a", None, 1).unwrap()[0].score, score(3, 2, 1));
    assert_in_order(&archive);
}

#[test]
fn the_best_solver_is_never_lost() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let one = Retention::Best { per_task: 1 };
    let mut best = score(0, 0, 9);
    for n in 0..40 {
        // Scores that go up and down.
        let new = score((n * 7 % 5) as u32, (n * 13 % 11) as u32, 9);
        best = best.min(new);
        archive
            .save(run, &[found(n, "a", new)], &one, None)
            .unwrap();
        assert_eq!(archive.best("a", None, 5).unwrap().len(), 1);
        assert_eq!(archive.best("a", None, 1).unwrap()[0].score, best);
    }
}

#[test]
fn the_original_capacity() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let original = Retention::Original { capacity: 32 };
    for n in 0..40 {
        archive
            .save(run, &[found(n, "a", score(0, 0, 1))], &original, None)
            .unwrap();
    }
    assert_eq!(archive.best("a", None, 99).unwrap().len(), 33);
    // One save of all gives the same as one save after the other.
    let all: Vec<_> = (0..40).map(|n| found(n, "b", score(0, 0, 1))).collect();
    archive.save(run, &all, &original, None).unwrap();
    assert_eq!(
        Vec::from_iter(
            archive
                .best("b", None, 99)
                .unwrap()
                .iter()
                .map(|e| e.outputs)
        ),
        Vec::from_iter(
            archive
                .best("a", None, 99)
                .unwrap()
                .iter()
                .map(|e| e.outputs)
        ),
    );
    let better: Vec<_> = (50..90).map(|n| found(n, "a", score(1, 0, 1))).collect();
    archive.save(run, &better, &original, None).unwrap();
    let worse = archive
        .save(run, &[found(99, "a", score(0, 0, 1))], &original, None)
        .unwrap();
    assert_eq!(kept(&worse), [Kept::Refused]);
}

#[test]
fn versions_of_a_task_are_separate() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let old = found(1, "a", score(4, 0, 1));
    let mut new = found(1, "a", score(0, 0, 1));
    new.task_hash = "v2".into();
    archive
        .save(run, &[old, new], &Retention::Best { per_task: 1 }, None)
        .unwrap();
    assert_eq!(archive.best("a", None, 9).unwrap().len(), 2);
    assert_eq!(
        archive.best("a", Some("v2"), 9).unwrap()[0].score,
        score(0, 0, 1)
    );
    assert_eq!(archive.tasks().unwrap().len(), 2);
    assert_eq!(archive.solver_count().unwrap(), 1);
}

#[test]
fn unneeded_steps_are_not_stored() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let mut one = found(1, "a", score(4, 0, 1));
    one.program = program(
        "def f(grid):\n    a = size(grid)\n    b = hmirror(grid)\n    c = hmirror(grid)\n    return vconcat(b, c)\n",
    );
    archive
        .save(run, &[one], &Retention::default(), None)
        .unwrap();
    assert_eq!(
        archive.best("a", None, 1).unwrap()[0].source,
        "def solve(I):\n    x1 = hmirror(I)\n    O = vconcat(x1, x1)\n    return O\n"
    );
    assert_in_order(&archive);
}

#[test]
fn programs_that_are_not_solvers_are_refused_and_nothing_is_saved() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let mut odd = found(2, "a", score(0, 0, 1));
    odd.program = program("def f(a, b):\n    return add(a, b)\n");
    let both = [found(1, "a", score(0, 0, 1)), odd];
    let error = archive.save(run, &both, &BEST, None).unwrap_err();
    assert!(matches!(error, ArchiveError::Program { .. }), "{error}");
    let mut orphan = found(2, "a", score(0, 0, 1));
    orphan.parents = vec!["../../etc".into()];
    let error = archive.save(run, &[orphan], &BEST, None).unwrap_err();
    assert!(
        error.to_string().contains("not a structural hash"),
        "{error}"
    );
    assert_eq!(archive.solver_count().unwrap(), 0);

    let (mut other, _) = Folder::new().archive();
    let unknown = archive.begin_run(&info(2)).unwrap();
    let error = other.save(unknown, &[], &BEST, None).unwrap_err();
    assert!(matches!(error, ArchiveError::NoRun { .. }), "{error}");
}

#[test]
fn lineage_is_kept_while_it_is_needed() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let one = Retention::Best { per_task: 1 };
    let save = |archive: &mut batt_archive::Archive, found: &[batt_archive::NewEntry]| {
        archive.save(run, found, &one, None).unwrap();
    };
    save(&mut archive, &[found(1, "a", score(1, 0, 1))]);
    save(&mut archive, &[child(2, &[1], "a", score(2, 0, 1))]);
    // Solver 3 is refused, but 4 descends from it. Solver 5 is refused and has no descendant. Only
    // the hash of 77 is known.
    let family = [
        child(3, &[2, 77], "a", score(0, 0, 1)),
        child(4, &[3, 2], "a", score(3, 0, 1)),
        child(5, &[2], "a", score(0, 0, 1)),
    ];
    save(&mut archive, &family);
    let listed = archive.lineage(&hash(4), usize::MAX).unwrap();
    let shape: Vec<_> = listed
        .iter()
        .map(|a| (a.depth, a.hash.clone(), a.solver.is_some(), a.repeated))
        .collect();
    assert_eq!(
        shape,
        [
            (0, hash(4), true, false),
            (1, hash(3), true, false),
            (2, hash(2), true, false),
            (3, hash(1), true, false),
            (2, hash(77), false, false),
            (1, hash(2), true, true),
        ]
    );
    assert_eq!(archive.lineage(&hash(4), 1).unwrap().len(), 3);
    assert!(archive.solver(&hash(5)).unwrap().is_none());

    // An evicted solver without descendants is removed; its ancestors stay.
    save(&mut archive, &[found(8, "b", score(1, 0, 1))]);
    save(&mut archive, &[found(9, "b", score(2, 0, 1))]);
    let collected = archive.gc(&GcOptions::default()).unwrap();
    assert_eq!((collected.solvers, collected.scores), (1, 0));
    assert!(archive.solver(&hash(8)).unwrap().is_none());
    assert_eq!(archive.lineage(&hash(4), 9).unwrap(), listed);
    let options = GcOptions {
        ancestors: Some(1),
        ..GcOptions::default()
    };
    assert_eq!(archive.gc(&options).unwrap().solvers, 1);
    assert!(archive.solver(&hash(1)).unwrap().is_none());
    assert_in_order(&archive);
}

#[test]
fn lineage_in_a_circle_ends() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let circle = [
        child(1, &[2, 1], "a", score(1, 0, 1)),
        child(2, &[1], "a", score(1, 0, 1)),
    ];
    archive.save(run, &circle, &BEST, None).unwrap();
    let listed = archive.lineage(&hash(1), usize::MAX).unwrap();
    assert_eq!(listed.len(), 3);
    assert!(listed[2].repeated);
    assert_eq!(
        archive.solver(&hash(1)).unwrap().unwrap().parents,
        [hash(2)]
    );
    archive.gc(&GcOptions::default()).unwrap();
    assert_eq!(archive.solver_count().unwrap(), 2);
}
