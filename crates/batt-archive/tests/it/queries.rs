//! Queries across tasks, merging and compaction.

use batt_archive::{Archive, GcOptions, Retention};

use crate::support::{Folder, assert_in_order, child, found, hash, score};

#[test]
fn tasks_are_summed_up() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    assert_eq!(archive.tasks().unwrap(), []);
    let all = [
        found(1, "b", score(1, 0, 1)),
        found(2, "b", score(4, 0, 1)),
        found(3, "a", score(0, 10, 1)),
    ];
    archive
        .save(run, &all, &Retention::default(), None)
        .unwrap();
    let tasks = archive.tasks().unwrap();
    let summary: Vec<_> = tasks
        .iter()
        .map(|t| (t.task.as_str(), t.entries, t.best, t.hash.clone()))
        .collect();
    assert_eq!(
        summary,
        [
            ("a", 1, score(0, 10, 1), hash(3)),
            ("b", 2, score(4, 0, 1), hash(2))
        ]
    );
}

#[test]
fn the_top_is_what_solves_most() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let all = [
        found(1, "a", score(4, 0, 9)),
        found(1, "b", score(1, 0, 9)),
        found(2, "a", score(4, 0, 3)),
        found(3, "a", score(3, 0, 3)),
        found(3, "b", score(3, 0, 3)),
        found(4, "a", score(4, 0, 9)),
        found(4, "c", score(4, 0, 9)),
    ];
    archive
        .save(run, &all, &Retention::default(), None)
        .unwrap();
    let top = archive.top(9).unwrap();
    let hashes: Vec<_> = top.iter().map(|standing| standing.hash.clone()).collect();
    assert_eq!(hashes, [hash(4), hash(1), hash(2), hash(3)]);
    let first = &top[0];
    assert_eq!((first.tasks, first.solved, first.demos_solved), (2, 2, 8));
    assert_eq!(archive.top(1).unwrap(), top[..1]);
}

#[test]
fn solvers_are_found_by_the_first_digits() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let all: Vec<_> = (0..20).map(|n| found(n, "a", score(0, 0, 1))).collect();
    archive
        .save(run, &all, &Retention::default(), None)
        .unwrap();
    assert_eq!(archive.find(&hash(3), 5).unwrap(), [hash(3)]);
    assert_eq!(archive.find(&hash(3)[..12], 5).unwrap(), [hash(3)]);
    assert_eq!(archive.find("", 5).unwrap().len(), 5);
    assert_eq!(archive.find("", 99).unwrap().len(), 20);
    for odd in ["x", "%", "'; --", "A"] {
        assert_eq!(archive.find(odd, 5).unwrap().len(), 0, "{odd}");
    }
    assert_eq!(archive.entries_of(&hash(3)).unwrap()[0].task, "a");
}

#[test]
fn merging_is_a_union_and_can_be_repeated() {
    let folder = Folder::new();
    let (mut one, run) = folder.archive();
    let mut two = Archive::open(&folder.path("two.sqlite")).unwrap();
    let run_two = two.begin_run(&crate::support::info(2)).unwrap();
    let keep = Retention::Best { per_task: 2 };
    one.save(
        run,
        &[
            found(1, "a", score(1, 0, 1)),
            child(2, &[1], "a", score(2, 0, 1)),
        ],
        &keep,
        None,
    )
    .unwrap();
    two.save(
        run_two,
        &[
            found(2, "a", score(2, 5, 1)),
            child(3, &[8], "a", score(3, 0, 1)),
            child(4, &[3], "b", score(4, 0, 1)),
        ],
        &keep,
        None,
    )
    .unwrap();
    let merged = one.merge(&two, &keep).unwrap();
    assert_eq!(
        (merged.scores, merged.kept, merged.solvers, merged.evicted),
        (3, 3, 2, 1)
    );
    let best = one.best("a", None, 9).unwrap();
    assert_eq!(Vec::from_iter(best.iter().map(|e| e.outputs)), [3, 2]);
    assert_eq!(best[1].score, score(2, 5, 1));
    assert_eq!(best[1].parents, [hash(1)], "the first lineage stays");
    let b = &one.best("b", None, 1).unwrap()[0];
    assert_eq!(b.parents, [hash(3)]);
    // The run was merged as well, under a new number.
    let runs = one.runs().unwrap();
    assert_eq!(runs.len(), 2);
    let theirs = runs.iter().find(|run| run.id == b.run).unwrap();
    assert_eq!(theirs.info.seed, 2);
    assert_eq!(b.when, two.best("b", None, 1).unwrap()[0].when);

    let before = one.tasks().unwrap();
    let again = one.merge(&two, &keep).unwrap();
    assert_eq!((again.kept, again.solvers, again.evicted), (0, 0, 0));
    assert_eq!(one.tasks().unwrap(), before);
    assert_eq!(one.runs().unwrap().len(), 2);
    assert_in_order(&one);

    // Merging in the other order gives the same.
    let mut all = Archive::open(&folder.path("all.sqlite")).unwrap();
    all.merge(&two, &keep).unwrap();
    all.merge(&one, &keep).unwrap();
    assert_eq!(all.tasks().unwrap(), before);
}

#[test]
fn gc_applies_another_retention() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let all: Vec<_> = (0..300)
        .map(|n| found(n, "a", score(0, n as u32, 1)))
        .collect();
    archive
        .save(run, &all, &Retention::Best { per_task: 1000 }, None)
        .unwrap();
    for retention in [
        Retention::Best { per_task: 5 },
        Retention::Original { capacity: 5 },
    ] {
        let options = GcOptions {
            retention: Some(retention),
            ancestors: None,
        };
        let collected = archive.gc(&options).unwrap();
        assert!(collected.shrunk && collected.after <= collected.before);
        assert_eq!(archive.best("a", None, 999).unwrap().len(), 5);
        assert_eq!(archive.solver_count().unwrap(), 5);
    }
    assert_eq!(archive.best("a", None, 1).unwrap()[0].score.closeness, 299);
}
