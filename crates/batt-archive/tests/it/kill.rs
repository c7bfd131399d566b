//! Kills processes that save, and checks that everything they reported as saved is in the archive.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use batt_archive::{Archive, Checkpoint, Retention};
use batt_lang::SplitMix64;

use crate::support::{Folder, assert_in_order, child, hash, info, score};

/// Saves and reports each save until it is killed. This is not a test but the process that the
/// tests kill.
#[test]
fn child_process() {
    let Ok(path) = std::env::var("BATT_TEST_SAVE_INTO") else {
        return;
    };
    let first: u64 = std::env::var("BATT_TEST_FIRST").unwrap().parse().unwrap();
    let mut archive = Archive::open(Path::new(&path)).unwrap();
    let run = archive.begin_run(&info(first)).unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "run {run}").unwrap();
    // On this task every solver is better than the one before, so none is refused.
    let task = format!("task-{first}");
    for n in first.. {
        let found = [child(
            n,
            &[n.saturating_sub(1)],
            &task,
            score(0, n as u32, 1),
        )];
        let checkpoint = Checkpoint {
            generation: n,
            state: n.to_le_bytes().repeat(2000),
        };
        archive
            .save(run, &found, &Retention::default(), Some(&checkpoint))
            .unwrap();
        writeln!(out, "saved {n} {}", hash(n)).unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn killed_at_any_moment_nothing_reported_is_lost() {
    let kills = match std::env::var_os("BATT_HEAVY") {
        Some(_) => 50,
        None => 5,
    };
    let folder = Folder::new();
    let path = folder.path("batt.sqlite");
    let mut random = SplitMix64::new(std::process::id().into());
    let mut reported = HashSet::new();
    for round in 0..kills {
        // Two processes at once, killed one after the other.
        let mut children: Vec<_> = (0..2)
            .map(|k| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "kill::child_process", "--nocapture"])
                    .env("BATT_TEST_SAVE_INTO", &path)
                    .env("BATT_TEST_FIRST", (round * 2 + k).to_string() + "00000")
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let mut lines = Vec::new();
        for child in &mut children {
            std::thread::sleep(Duration::from_micros(random.below(200_000)));
            child.kill().unwrap();
        }
        for child in children {
            let output = child.wait_with_output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!errors.contains("panicked"), "{errors}");
            // The last line may be cut short.
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            lines.extend(BufReader::new(whole.as_bytes()).lines().map(Result::unwrap));
        }
        let archive = match Archive::open(&path) {
            Ok(archive) => archive,
            Err(error) => panic!("round {round}: {error}"),
        };
        assert_in_order(&archive);
        for line in &lines {
            if let Some(saved) = line.strip_prefix("saved ") {
                let (n, hash) = saved.split_once(' ').unwrap();
                reported.insert((n.to_owned(), hash.to_owned()));
            }
        }
        for (n, hash) in &reported {
            let there = archive.solver(hash).unwrap();
            assert!(there.is_some(), "round {round}: {n} is lost");
        }
        // A checkpoint is never older than the last reported save, and never torn.
        for run in archive.runs().unwrap() {
            let Some(checkpoint) = archive.checkpoint(run.id).unwrap() else {
                continue;
            };
            let n = checkpoint.generation;
            assert_eq!(checkpoint.state, n.to_le_bytes().repeat(2000));
            assert!(archive.solver(&hash(n)).unwrap().is_some());
            assert!(!reported.contains(&((n + 1).to_string(), hash(n + 1))));
        }
    }
    println!(
        "{kills} kills of two processes, {} saves reported",
        reported.len()
    );
    assert!(!reported.is_empty() || kills < 50);
}
