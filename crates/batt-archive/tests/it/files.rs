//! Files that are not archives, are of another version, or cannot be written.

use std::fs;
use std::path::Path;

use batt_archive::{Archive, ArchiveError, ArchiveFinding, Checkpoint, Retention};
use rusqlite::Connection;

use crate::support::{Folder, assert_in_order, findings, found, hash, info, score};

#[test]
fn missing_files_are_errors() {
    let folder = Folder::new();
    let error = Archive::open_existing(&folder.path("none")).unwrap_err();
    assert!(matches!(error, ArchiveError::Missing { .. }), "{error}");
    assert!(!folder.path("none").exists());
    let error = Archive::open(&folder.path("no/folder/x.sqlite")).unwrap_err();
    assert!(matches!(error, ArchiveError::NoFolder { .. }), "{error}");
    for open in [Archive::open, Archive::open_existing] {
        let error = open(&folder.path("")).unwrap_err();
        assert!(matches!(error, ArchiveError::NotAFile { .. }), "{error}");
    }
}

#[test]
fn files_of_something_else_are_left_alone() {
    let folder = Folder::new();
    let long = "def solve(I):\n    return I\n".repeat(100);
    for text in ["x", "hello\n", long.as_str()] {
        let path = folder.path("some.txt");
        fs::write(&path, text).unwrap();
        for open in [Archive::open, Archive::open_existing] {
            let error = open(&path).unwrap_err();
            assert!(
                matches!(error, ArchiveError::NotAnArchive { .. }),
                "{error}"
            );
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let theirs = folder.path("theirs.sqlite");
    let db = Connection::open(&theirs).unwrap();
    db.execute_batch("CREATE TABLE mine (x); PRAGMA user_version = 1")
        .unwrap();
    let before = fs::read(&theirs).unwrap();
    for open in [Archive::open, Archive::open_existing] {
        let error = open(&theirs).unwrap_err();
        assert!(
            error.to_string().contains("another program's database"),
            "{error}"
        );
    }
    assert_eq!(fs::read(&theirs).unwrap(), before);
}

#[test]
fn an_empty_file_becomes_an_archive_only_if_asked_to() {
    let folder = Folder::new();
    let path = folder.path("empty");
    fs::write(&path, "").unwrap();
    let error = Archive::open_existing(&path).unwrap_err();
    assert!(error.to_string().contains("an empty file"), "{error}");
    Archive::open(&path).unwrap();
    Archive::open_existing(&path).unwrap();
}

#[test]
fn odd_names() {
    let folder = Folder::new();
    for name in ["a b?c#d%41.sqlite", "file:x", ":memory:", "é&=1"] {
        let path = folder.path(name);
        let mut archive = Archive::open(&path).unwrap();
        archive.begin_run(&info(1)).unwrap();
        drop(archive);
        assert!(path.is_file(), "{name}");
        assert_eq!(
            Archive::open_existing(&path).unwrap().runs().unwrap().len(),
            1
        );
    }
}

/// Writes a file of version 1, which had no checkpoints.
fn version_1(path: &Path) {
    let db = Connection::open(path).unwrap();
    db.execute_batch(&format!(
        "
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            uid TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(16)))),
            seed INTEGER NOT NULL, settings TEXT NOT NULL, version TEXT NOT NULL,
            dataset TEXT NOT NULL, started TEXT NOT NULL
        );
        CREATE TABLE solvers (
            id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, source TEXT NOT NULL,
            dialect TEXT NOT NULL, ops TEXT NOT NULL, mutation TEXT NOT NULL,
            run INTEGER NOT NULL REFERENCES runs, found TEXT NOT NULL
        );
        CREATE TABLE parents (
            child INTEGER NOT NULL REFERENCES solvers ON DELETE CASCADE,
            position INTEGER NOT NULL, parent TEXT NOT NULL, PRIMARY KEY (child, position)
        ) WITHOUT ROWID;
        CREATE TABLE scores (
            task TEXT NOT NULL, task_hash TEXT NOT NULL, solver INTEGER NOT NULL REFERENCES solvers,
            demos_solved INTEGER NOT NULL, demos INTEGER NOT NULL, closeness INTEGER NOT NULL,
            size INTEGER NOT NULL, cost INTEGER NOT NULL, outputs INTEGER NOT NULL,
            run INTEGER NOT NULL REFERENCES runs, found TEXT NOT NULL,
            PRIMARY KEY (task, task_hash, solver)
        ) WITHOUT ROWID;
        CREATE INDEX scores_of_solver ON scores (solver);
        INSERT INTO runs (seed, settings, version, dataset, started)
            VALUES (5, '{{}}', '0.0.9', 'd', '2025-01-01T00:00:00Z');
        INSERT INTO solvers (hash, source, dialect, ops, mutation, run, found) VALUES
            ('{}', 'def solve(I):\n    O = replace(I, 0, 1)\n    return O\n', 'arc-dsl', 'replace', 'seed', 1,
             '2025-01-01T00:00:00Z');
        INSERT INTO scores VALUES ('a', 'v1', 1, 3, 4, 750005, 6, 7, 8, 1, '2025-01-01T00:00:00Z');
        PRAGMA application_id = {};
        PRAGMA user_version = 1;",
        hash(1),
        0x6261_7474
    ))
    .unwrap();
}

#[test]
fn an_older_archive_is_brought_up_to_date() {
    let folder = Folder::new();
    let path = folder.path("old.sqlite");
    version_1(&path);
    let mut archive = Archive::open_existing(&path).unwrap();
    assert_in_order(&archive);
    assert_eq!(archive.best("a", None, 1).unwrap()[0].hash, hash(1));
    let run = archive.runs().unwrap()[0].clone();
    assert_eq!((run.info.seed, run.generation), (5, None));
    let checkpoint = batt_archive::Checkpoint {
        generation: 1,
        state: vec![],
    };
    archive
        .save(run.id, &[], &Retention::default(), Some(&checkpoint))
        .unwrap();
    let version: i64 = Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, 2);
}

#[test]
fn several_bring_an_older_archive_up_to_date_at_once() {
    let folder = Folder::new();
    let path = folder.path("old.sqlite");
    version_1(&path);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Archive::open(&path).unwrap().tasks().unwrap());
        }
    });
    assert_in_order(&Archive::open(&path).unwrap());
}

#[test]
fn a_newer_archive_is_left_alone() {
    let folder = Folder::new();
    let (archive, _) = folder.archive();
    drop(archive);
    let path = folder.path("batt.sqlite");
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 999)
        .unwrap();
    for open in [Archive::open, Archive::open_existing] {
        let error = open(&path).unwrap_err();
        assert!(
            matches!(error, ArchiveError::Newer { found: 999, .. }),
            "{error}"
        );
        assert!(error.hint().contains("later"));
    }
}

#[test]
fn damage_is_noticed() {
    let folder = Folder::new();
    let path = folder.path("batt.sqlite");
    let fill = || {
        let (mut archive, run) = folder.archive();
        let all: Vec<_> = (0..200)
            .map(|n| found(n, &format!("t{}", n / 20), score(0, 0, 1)))
            .collect();
        archive
            .save(run, &all, &Retention::default(), None)
            .unwrap();
        assert_in_order(&archive);
    };
    fill();
    // A source that does not match its hash.
    let db = Connection::open(&path).unwrap();
    db.execute(
        "UPDATE solvers SET source = 'def solve(I):\n    return I\n' WHERE hash = ?",
        [hash(7)],
    )
    .unwrap();
    drop(db);
    let damaged = Archive::open_existing(&path).unwrap();
    let solver = ArchiveFinding::Solver { hash: hash(7) };
    assert_eq!(findings(&damaged).unwrap(), [solver]);
    let mut other = Archive::open(&folder.path("other.sqlite")).unwrap();
    let error = other.merge(&damaged, &Retention::default()).unwrap_err();
    assert!(matches!(error, ArchiveError::Damaged { .. }), "{error}");
    assert_eq!(other.solver_count().unwrap(), 0);
    drop(damaged);

    // A score without its solver.
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM solvers WHERE id = 8")
        .unwrap();
    drop(db);
    let damaged = Archive::open_existing(&path).unwrap();
    let found = findings(&damaged).unwrap();
    let is_lost = |found: &ArchiveFinding| matches!(found, ArchiveFinding::References { .. });
    assert!(found.iter().any(is_lost), "{found:?}");
    drop(damaged);

    // Damaged bytes anywhere may or may not give an error, but never a panic, and never a solver
    // that was not saved.
    let bytes = fs::read(&path).unwrap();
    let other = folder.path("tableless.sqlite");
    fs::copy(&path, &other).unwrap();
    let db = Connection::open(&other).unwrap();
    db.execute_batch("PRAGMA foreign_keys = OFF; DROP TABLE runs")
        .unwrap();
    drop(db);
    let damaged = Archive::open_existing(&other).unwrap();
    let error = damaged.runs().unwrap_err();
    assert!(matches!(error, ArchiveError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("no such table"), "{error}");
    drop(damaged);
    let mut noticed = 0;
    for k in 0..40 {
        let mut bad = bytes.clone();
        let at = bytes.len() * k / 40;
        let end = (at + 600).min(bad.len());
        bad[at..end].fill(0x5a);
        let path = folder.path("bad.sqlite");
        fs::write(&path, &bad).unwrap();
        noticed += usize::from(match Archive::open_existing(&path) {
            Ok(archive) => !findings(&archive).is_ok_and(|found| found.is_empty()),
            Err(error) => {
                assert!(error.to_string().contains("bad.sqlite"), "{error}");
                true
            }
        });
    }
    assert_eq!(noticed, 40);
}

/// The check finds every impossible score and every checkpoint that no run could continue from.
#[test]
fn impossible_scores_and_damaged_checkpoints_are_found() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    let new = (0..5).map(|n| found(n, &format!("t{n}"), score(4, 1_000_000, 1)));
    let checkpoint = Checkpoint {
        generation: 3,
        state: b"state".to_vec(),
    };
    let new: Vec<_> = new.collect();
    archive
        .save(run, &new, &Retention::default(), Some(&checkpoint))
        .unwrap();
    assert_in_order(&archive);
    drop(archive);
    let db = Connection::open(folder.path("batt.sqlite")).unwrap();
    for (task, change) in [
        ("t0", "demos_solved = 5"),
        ("t1", "closeness = 1000001"),
        ("t2", "closeness = 999999"),
        ("t3", "cost = -1"),
        ("t4", "size = 'large'"),
    ] {
        let update = format!("UPDATE scores SET {change} WHERE task = '{task}'");
        assert_eq!(db.execute(&update, []).unwrap(), 1);
    }
    drop(db);
    let archive = Archive::open_existing(&folder.path("batt.sqlite")).unwrap();
    let found = archive
        .check(|checkpoint| match checkpoint.state.as_slice() {
            b"state" => Err("no state".to_owned()),
            _ => Ok(()),
        })
        .unwrap();
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 6, "{texts:#?}");
    for (text, why) in texts.iter().zip([
        "more demonstrations",
        "above",
        "below",
        "negative",
        "not a number",
        "checkpoint of run 1: no state",
    ]) {
        assert!(text.contains(why), "{text}");
    }
}

/// Values of another type than the schema says, in any column.
#[test]
fn values_that_cannot_be_read_are_found() {
    let folder = Folder::new();
    let path = folder.path("batt.sqlite");
    for (change, finding) in [
        (
            "UPDATE scores SET found = x'ff'",
            "table scores: 2 rows have no valid found",
        ),
        (
            "UPDATE scores SET outputs = 0.5 WHERE task = 'a'",
            "table scores: 1 row has no valid outputs",
        ),
        (
            "UPDATE solvers SET mutation = CAST(x'61ff' AS TEXT) WHERE id = 1",
            "table solvers: 1 row has no valid mutation",
        ),
        (
            "UPDATE runs SET settings = x'00'",
            "table runs: 1 row has no valid settings",
        ),
        (
            "ALTER TABLE solvers RENAME mutation TO motation",
            "table solvers: no such column: mutation",
        ),
    ] {
        let (mut archive, run) = folder.archive();
        let new = [found(1, "a", score(0, 0, 1)), found(2, "b", score(0, 0, 1))];
        archive
            .save(run, &new, &Retention::default(), None)
            .unwrap();
        assert_in_order(&archive);
        drop(archive);
        let db = Connection::open(&path).unwrap();
        db.execute_batch(change).unwrap();
        drop(db);
        let damaged = Archive::open_existing(&path).unwrap();
        let texts = findings(&damaged).unwrap();
        let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
        assert_eq!(texts, [finding], "{change}");
        drop(damaged);
        fs::remove_file(&path).unwrap();
    }
}

/// Permissions do not bind root, so the test runs as another user, in its own process.
#[cfg(unix)]
#[test]
fn an_archive_that_cannot_be_written_can_be_read() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let folder = Folder::new();
    if let Ok(place) = std::env::var("BATT_TEST_READ_ONLY") {
        for part in ["file", "folder"] {
            let path = Path::new(&place).join(part).join("batt.sqlite");
            for open in [Archive::open, Archive::open_existing] {
                let mut archive = open(&path).unwrap();
                assert_eq!(archive.best("a", None, 9).unwrap().len(), 1);
                assert_in_order(&archive);
                assert!(!archive.is_writable());
                let error = archive.begin_run(&info(1)).unwrap_err();
                assert!(matches!(error, ArchiveError::ReadOnly { .. }), "{error}");
            }
            let old = Path::new(&place).join(part).join("old.sqlite");
            let error = Archive::open_existing(&old).unwrap_err();
            assert!(
                matches!(error, ArchiveError::OldAndReadOnly { .. }),
                "{error}"
            );
        }
        let closed = Path::new(&place).join("folder/none.sqlite");
        let error = Archive::open(&closed).unwrap_err();
        assert!(error.to_string().contains("none.sqlite"), "{error}");
        println!("read without writing");
        return;
    }
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&folder.path(""), 0o755);
    for (part, mode_of_folder) in [("file", 0o777), ("folder", 0o555)] {
        let inner = folder.path(part);
        fs::create_dir(&inner).unwrap();
        let path = inner.join("batt.sqlite");
        let mut archive = Archive::open(&path).unwrap();
        let run = archive.begin_run(&info(1)).unwrap();
        archive
            .save(
                run,
                &[found(1, "a", score(0, 0, 1))],
                &Retention::default(),
                None,
            )
            .unwrap();
        drop(archive);
        version_1(&inner.join("old.sqlite"));
        mode(&path, 0o444);
        mode(&inner.join("old.sqlite"), 0o444);
        mode(&inner, mode_of_folder);
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "files::an_archive_that_cannot_be_written_can_be_read",
            "--nocapture",
        ])
        .env("BATT_TEST_READ_ONLY", folder.path(""));
    // The user id of `nobody`.
    if fs::metadata(folder.path("")).unwrap().uid() == 0 {
        command.uid(65534).gid(65534);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: no process of another user can be started: {error}");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    assert!(text.contains("read without writing"), "{text}\n{errors}");
    mode(&folder.path("folder"), 0o755);
}
