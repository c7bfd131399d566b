//! Concurrent writers, and full disks.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use batt_archive::{Archive, ArchiveError, Checkpoint, Retention};
use rusqlite::Connection;

use crate::support::{Folder, assert_in_order, found, hash, info, score};

#[test]
fn writers_at_once_lose_nothing() {
    const WRITERS: u64 = 4;
    const SAVES: u64 = 25;
    let folder = Folder::new();
    let path = folder.path("batt.sqlite");
    let all = Retention::Best { per_task: 1000 };
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let path = &path;
            scope.spawn(move || {
                // The first connection creates the archive.
                let mut archive = Archive::open(path).unwrap();
                let run = archive.begin_run(&info(writer)).unwrap();
                for k in 0..SAVES {
                    let n = writer * SAVES + k;
                    let both = [found(n, "a", score(0, 0, 1)), found(n, "b", score(1, 0, 1))];
                    let checkpoint = Checkpoint {
                        generation: k,
                        state: vec![writer as u8; 5000],
                    };
                    archive.save(run, &both, &all, Some(&checkpoint)).unwrap();
                    assert!(!archive.best("a", None, 5).unwrap().is_empty());
                }
            });
        }
    });
    let archive = Archive::open_existing(&path).unwrap();
    assert_in_order(&archive);
    assert_eq!(archive.solver_count().unwrap() as u64, WRITERS * SAVES);
    for task in ["a", "b"] {
        let entries = archive.best(task, None, usize::MAX).unwrap();
        assert_eq!(entries.len() as u64, WRITERS * SAVES);
    }
    let runs = archive.runs().unwrap();
    assert_eq!(runs.len() as u64, WRITERS);
    for run in runs {
        let checkpoint = archive.checkpoint(run.id).unwrap().unwrap();
        assert_eq!(checkpoint.generation, SAVES - 1);
        assert_eq!(checkpoint.state, vec![run.info.seed as u8; 5000]);
    }
}

#[test]
fn waiting_for_another_process_ends() {
    let folder = Folder::new();
    let (mut archive, run) = folder.archive();
    archive
        .set_busy_timeout(Duration::from_millis(200))
        .unwrap();
    let other = Connection::open(folder.path("batt.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let one = [found(1, "a", score(0, 0, 1))];
    let started = Instant::now();
    let error = archive
        .save(run, &one, &Retention::default(), None)
        .unwrap_err();
    assert!(error.is_busy(), "{error}");
    assert!(error.to_string().contains("another process"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20));
    // Reading needs no lock.
    assert_eq!(archive.tasks().unwrap(), []);
    other.execute_batch("ROLLBACK").unwrap();
    archive
        .save(run, &one, &Retention::default(), None)
        .unwrap();
}

/// Saves until the disk is full, and asserts that only the last save is missing.
fn fill(archive: &mut Archive) {
    let run = archive.begin_run(&info(1)).unwrap();
    let all = Retention::Best { per_task: 1000 };
    let mut saved = 0;
    let error = loop {
        let one = [found(saved, "a", score(0, 0, 1))];
        let checkpoint = Checkpoint {
            generation: saved,
            state: vec![saved as u8; 20_000],
        };
        match archive.save(run, &one, &all, Some(&checkpoint)) {
            Ok(_) => saved += 1,
            Err(error) => break error,
        }
        assert!(saved < 100_000, "the disk is never full");
        // A save alone may fit into the pages of the previous one, but the runs table grows.
        for _ in 0..3 {
            if archive.begin_run(&info(saved)).is_err() {
                break;
            }
        }
    };
    assert!(matches!(error, ArchiveError::DiskFull { .. }), "{error}");
    assert!(
        error.to_string().contains("sqlite: the disk is full"),
        "{error}"
    );
    assert_in_order(archive);
    assert_eq!(archive.solver_count().unwrap() as u64, saved);
    let checkpoint = archive.checkpoint(run).unwrap();
    assert_eq!(checkpoint.map(|c| c.generation), saved.checked_sub(1));
    assert!(archive.find(&hash(saved), 1).unwrap().is_empty());
}

#[test]
fn a_file_that_may_not_grow() {
    let folder = Folder::new();
    let (archive, _) = folder.archive();
    drop(archive);
    let path = folder.path("batt.sqlite");
    let mut archive = Archive::open(&path).unwrap();
    archive.limit_size(60 * 4096).unwrap();
    fill(&mut archive);
    drop(archive);
    let mut archive = Archive::open(&path).unwrap();
    assert_in_order(&archive);
    let run = archive.begin_run(&info(9)).unwrap();
    let more = [found(1 << 20, "b", score(0, 0, 1))];
    archive
        .save(run, &more, &Retention::default(), None)
        .unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full() {
    let folder = Folder::new();
    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=512k", "tmpfs"])
        .arg(&disk)
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: a small file system cannot be mounted here");
        return;
    }
    struct Mounted<'a>(&'a std::path::Path);
    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(self.0).status();
        }
    }
    let mounted = Mounted(&disk);
    let path = disk.join("batt.sqlite");
    let mut archive = Archive::open(&path).unwrap();
    fill(&mut archive);
    drop(archive);
    // After it is closed and opened again on the full disk, the archive is intact.
    let archive = Archive::open_existing(&path).unwrap();
    assert_in_order(&archive);
    assert!(archive.solver_count().unwrap() > 0);
    drop(archive);
    drop(mounted);
}
