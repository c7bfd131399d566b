//! Merging: what is refused, with which message and hint, and what stays on disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use batt_engine::Shard;
use batt_results::{
    Existing, FoundPart, Journal, LineKind, MegaTotals, MergedResults, Opened, PartError,
    ResultsError, ResultsHeader, RunSettings, merge,
};
use tempfile::TempDir;

/// The number of runs of the whole: five tasks with four pairs each.
const RUNS: usize = 20;

fn header(shard: Shard) -> ResultsHeader {
    ResultsHeader {
        lines: LineKind::Run,
        settings: RunSettings::new([("tasks", "a hash".into()), ("max-steps", 7.into())]),
        shard,
        runs: RUNS,
        tasks: 5,
        unknown: BTreeMap::from([("t1".to_owned(), vec!["train[3]".to_owned()])]),
    }
}

/// Returns the line of a run: the solver is wrong on two pairs of task 3.
fn line(run: usize) -> String {
    let (task, pair) = (run / 4, run % 4);
    let ok = match (task, pair) {
        (1, 3) => "null",
        (3, 1..=2) => "false",
        _ => "true",
    };
    format!(
        "{{\"solver\":\"s\",\"task\":\"t{task}\",\"pair\":\"train[{pair}]\",\"ok\":{ok},\"value\":1,\
         \"us\":{run}.5}}\n"
    )
}

struct Folder(TempDir);

impl Folder {
    /// Creates a folder with all parts of a run.
    fn with_parts(count: usize) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for number in 1..=count {
            folder.part(&header(Shard::new(number, count).unwrap()));
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a finished part and returns its file.
    fn part(&self, header: &ResultsHeader) -> PathBuf {
        let path = self.path(&format!("p{}.jsonl", header.shard.number()));
        let mut journal = open(&path, header);
        let mut totals = MegaTotals::default();
        for run in header.shard.runs_of(header.runs) {
            journal.write(&line(run)).unwrap();
            totals.add_run(true, None);
        }
        journal.finish(&totals).unwrap();
        path
    }

    fn parts(&self, numbers: impl IntoIterator<Item = usize>) -> Vec<PathBuf> {
        let numbers = numbers.into_iter();
        numbers
            .map(|number| self.path(&format!("p{number}.jsonl")))
            .collect()
    }

    fn merge(&self, numbers: impl IntoIterator<Item = usize>) -> Result<MergedResults, PartError> {
        self.merge_files(&self.parts(numbers))
    }

    fn merge_files(&self, parts: &[PathBuf]) -> Result<MergedResults, PartError> {
        let target = self.path("all.jsonl");
        let before = fs::read(&target).ok();
        match merge(parts, &target, |_, _| true) {
            Ok(merged) => Ok(merged.unwrap()),
            Err(ResultsError::Part(error)) => {
                assert_eq!(fs::read(&target).ok(), before, "nothing is written");
                assert!(!self.path("all.jsonl.merging").exists());
                assert!(!error.hint().is_empty());
                Err(error)
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Changes the text of a file.
    fn change(&self, name: &str, change: impl FnOnce(&str) -> String) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        let changed = change(&text);
        assert_ne!(text, changed);
        fs::write(self.path(name), changed).unwrap();
    }
}

fn open(path: &Path, header: &ResultsHeader) -> Journal {
    match Journal::open(path, header, Existing::Overwrite, |_, _| true) {
        Ok(Opened::Journal { journal, .. }) => journal,
        other => panic!("{other:?}"),
    }
}

fn whole() -> String {
    (0..RUNS).map(line).collect()
}

#[test]
fn the_parts_become_the_whole() {
    for count in [1, 3, 20, 33] {
        let folder = Folder::with_parts(count);
        fs::write(folder.path("all.jsonl"), "old").unwrap();
        // A merge was killed here.
        fs::write(folder.path("all.jsonl.merging"), "x".repeat(10_000)).unwrap();
        let merged = folder.merge((1..=count).rev()).unwrap();
        assert_eq!(
            fs::read_to_string(folder.path("all.jsonl")).unwrap(),
            whole()
        );
        assert_eq!(
            (merged.parts, merged.totals.runs, merged.totals.right),
            (count, RUNS, 17)
        );
        assert_eq!((merged.tasks_solved, merged.tasks), (4, 5));
        assert!(!folder.path("all.jsonl.merging").exists());
    }
}

#[test]
fn progress_is_told_and_can_end_the_work() {
    let folder = Folder::with_parts(2);
    let target = folder.path("all.jsonl");
    let mut told = Vec::new();
    let merged = merge(&folder.parts(1..=2), &target, |done, all| {
        told.push((done, all));
        true
    });
    assert!(merged.unwrap().is_some());
    assert_eq!(told, [(0, RUNS), (RUNS, RUNS)]);
    fs::remove_file(&target).unwrap();
    let merged = merge(&folder.parts(1..=2), &target, |_, _| false).unwrap();
    assert_eq!(merged, None);
    assert!(!target.exists() && !folder.path("all.jsonl.merging").exists());
}

#[test]
fn missing_parts_are_named() {
    let folder = Folder::with_parts(12);
    let missing = |numbers: &[usize]| {
        let error = folder.merge(numbers.iter().copied()).unwrap_err();
        let PartError::Missing {
            shards,
            more,
            found,
        } = &error
        else {
            panic!("{error}");
        };
        let shards: Vec<usize> = shards.iter().map(|shard| shard.number()).collect();
        (
            shards,
            *more,
            found.clone(),
            error.to_string(),
            error.hint().into_owned(),
        )
    };
    // It is in the folder, but was not named.
    let all_but_one: Vec<usize> = (1..=12).filter(|number| *number != 4).collect();
    let (shards, more, found, text, _) = missing(&all_but_one);
    assert_eq!((shards, more), (vec![4], 0));
    let target = folder.path("p4.jsonl");
    let finished = true;
    let there = FoundPart {
        target: target.clone(),
        finished,
    };
    assert_eq!(found, Some(there));
    assert!(text.starts_with("part 4/12 is missing; ") && text.ends_with("p4.jsonl is part 4/12"));

    let (shards, more, _, text, _) = missing(&[2, 12]);
    assert_eq!((shards, more), (vec![1, 3, 4, 5, 6], 5));
    assert!(
        text.starts_with("parts 1/12, 3/12, 4/12, 5/12, 6/12 and 5 more are missing"),
        "{text}"
    );
    assert!(
        missing(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
            .3
            .starts_with("parts 11/12, 12/12 are")
    );

    // It is unfinished: `*.jsonl` does not match its lines.
    fs::remove_file(&target).unwrap();
    let shard = Shard::new(4, 12).unwrap();
    drop(open(&target, &header(shard)));
    let (_, _, found, text, hint) = missing(&all_but_one);
    assert!(found.is_some_and(|found| !found.finished));
    assert!(
        text.contains("p4.jsonl.part holds unfinished lines of part 4/12"),
        "{text}"
    );
    assert!(
        hint.contains("--shard 4/12 -o ") && hint.ends_with("p4.jsonl --resume"),
        "{hint}"
    );

    // There is nothing of it. The unfinished lines are those of another run.
    let mut other = header(shard);
    other.settings = RunSettings::new([("tasks", "another hash".into())]);
    drop(open(&target, &other));
    let (_, _, found, text, hint) = missing(&all_but_one);
    assert_eq!(found, None);
    assert_eq!(text, "part 4/12 is missing");
    assert!(
        hint.starts_with("run the command with --shard 4/12"),
        "{hint}"
    );

    let one = Folder(tempfile::tempdir().unwrap());
    one.part(&header(Shard::new(1, usize::MAX).unwrap()));
    let error = one.merge([1]).unwrap_err();
    assert!(error.to_string().ends_with("more are missing"), "{error}");
}

#[test]
fn doubled_parts_are_refused() {
    let folder = Folder::with_parts(3);
    let error = folder.merge([1, 2, 3, 2]).unwrap_err();
    assert!(
        error.to_string().ends_with("p2.jsonl are both part 2/3"),
        "{error}"
    );
    for ending in ["", ".meta.json"] {
        let [from, to] = [2, 3].map(|number| folder.path(&format!("p{number}.jsonl{ending}")));
        fs::copy(from, to).unwrap();
    }
    let error = folder.merge([1, 2, 3]).unwrap_err();
    assert!(
        matches!(&error, PartError::Twice { shard, .. } if shard.number() == 2),
        "{error}"
    );
}

#[test]
fn parts_of_different_runs_are_refused() {
    let shard = Shard::new(2, 2).unwrap();
    let mut settings = header(shard);
    settings.settings = RunSettings::new([("tasks", "a hash".into()), ("more", 1.into())]);
    let mut command = header(shard);
    command.lines = LineKind::Mega;
    let count = header(Shard::new(2, 3).unwrap());
    for (other, differs) in [
        (settings, "more, max-steps differ"),
        (command, "the command differs"),
        (count, "the number of parts differs"),
    ] {
        let folder = Folder::with_parts(1);
        folder.part(&header(Shard::new(1, 2).unwrap()));
        folder.part(&other);
        let error = folder.merge([1, 2]).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("are parts of different runs: {differs}")),
            "{error}"
        );
        assert!(
            error.contains("p1.jsonl and ") && error.contains("p2.jsonl are"),
            "{error}"
        );
    }
}

#[test]
fn unfinished_parts_are_refused() {
    let folder = Folder::with_parts(3);
    let target = folder.path("p2.jsonl");
    fs::remove_file(&target).unwrap();
    let mut journal = open(&target, &header(Shard::new(2, 3).unwrap()));
    journal.write(&line(0)).unwrap();
    drop(journal);
    let lines = folder.path("p2.jsonl.part");
    for name in [&target, &lines] {
        let files = [
            folder.path("p1.jsonl"),
            name.clone(),
            folder.path("p3.jsonl"),
        ];
        let error = folder.merge_files(&files).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("part 2/3 is unfinished: "), "{text}");
        assert!(text.contains(lines.to_str().unwrap()), "{text}");
        let command = format!("--shard 2/3 -o {} --resume", target.display());
        assert!(error.hint().ends_with(&command), "{}", error.hint());
    }
}

#[test]
fn files_that_are_no_parts_are_refused() {
    let folder = Folder::with_parts(3);
    assert!(matches!(folder.merge_files(&[]), Err(PartError::NoParts)));
    fs::write(folder.path("other.jsonl"), whole()).unwrap();
    let error = folder
        .merge_files(&[folder.path("other.jsonl")])
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("other.jsonl is not a part of a run: "),
        "{text}"
    );
    assert!(
        text.ends_with("other.jsonl.meta.json is missing or damaged"),
        "{text}"
    );
    for record in ["", "{", "{}", "{\"settings\":{}}"] {
        fs::write(folder.path("p2.jsonl.meta.json"), record).unwrap();
        let error = folder.merge([1, 2, 3]).unwrap_err();
        assert!(
            matches!(error, PartError::NotAPart { .. }),
            "{record}: {error}"
        );
    }
    let target = folder.path("all.jsonl");
    let error = |part: &str| {
        let parts = [folder.path("p1.jsonl"), folder.path(part)];
        merge(&parts, &target, |_, _| true).unwrap_err().to_string()
    };
    assert!(error("nowhere.jsonl").starts_with("cannot read "));
    fs::create_dir(folder.path("folder")).unwrap();
    assert!(
        error("folder").ends_with("is a directory"),
        "{}",
        error("folder")
    );
}

#[test]
fn damaged_parts_are_refused() {
    type Change = fn(&str) -> String;
    let changes: [(&str, Change, &str); 7] = [
        (
            "p2.jsonl",
            |text| text[..text.len() - 9].to_owned(),
            "bytes, and",
        ),
        ("p2.jsonl", |text| format!("{text}{text}"), "bytes, and"),
        // The size is the same.
        (
            "p2.jsonl",
            |text| text.replacen("true", "null", 1),
            "its checksum is wrong",
        ),
        (
            "p2.jsonl",
            |text| text.replacen("{\"", "[\"", 1),
            "line 1: ",
        ),
        ("p2.jsonl", |text| text.replacen("}\n", "}}", 1), "line "),
        (
            "p2.jsonl",
            |text| text.replacen("}\n{", "\n\n{", 1),
            "line ",
        ),
        (
            "p2.jsonl.meta.json",
            |text| text.replace("\"checksum\":\"", "\"checksum\":\"0"),
            "checksum",
        ),
    ];
    for (name, change, problem) in changes {
        let folder = Folder::with_parts(3);
        fs::write(folder.path("all.jsonl"), "old").unwrap();
        folder.change(name, change);
        let error = folder.merge(1..=3).unwrap_err();
        let PartError::Damaged { shard, path, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!((shard.number(), path), (2, &folder.path("p2.jsonl")));
        assert!(error.to_string().contains(problem), "{error}");
        let hint = error.hint();
        assert!(
            hint.contains("--shard 2/3 -o ") && hint.ends_with("--overwrite"),
            "{hint}"
        );
    }
    // Bytes that are no text.
    let folder = Folder::with_parts(3);
    let path = folder.path("p3.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes[12] = 0xff;
    fs::write(&path, bytes).unwrap();
    let error = folder.merge(1..=3).unwrap_err();
    assert!(error.to_string().contains("line 1 is not UTF-8"), "{error}");
}

/// A part has another number of lines than its record says.
#[test]
fn parts_with_missing_and_additional_lines_are_refused() {
    for (run, problem) in [(None, "a line is missing"), (Some(0), "too many lines")] {
        let folder = Folder::with_parts(3);
        let header = header(Shard::new(2, 3).unwrap());
        let mut journal = open(&folder.path("p2.jsonl"), &header);
        let own: Vec<usize> = header.shard.runs_of(RUNS).collect();
        let kept = if run.is_none() {
            own.len() - 1
        } else {
            own.len()
        };
        for run in own[..kept].iter().copied().chain(run) {
            journal.write(&line(run)).unwrap();
        }
        journal.finish(&MegaTotals::default()).unwrap();
        let error = folder.merge(1..=3).unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
    }
}

#[test]
fn targets_that_are_inputs_are_refused() {
    let folder = Folder::with_parts(2);
    let error = |target: &str| {
        let merged = merge(&folder.parts(1..=2), &folder.path(target), |_, _| true);
        merged.unwrap_err().to_string()
    };
    for input in ["p2.jsonl", "p1.jsonl.meta.json"] {
        assert!(
            error(input).ends_with("it is one of the files to read"),
            "{}",
            error(input)
        );
    }
    assert!(error("all.parquet").contains("only results of `batt mega` become Parquet"));
    assert!(error("no/such/folder.jsonl").starts_with("cannot write "));
    fs::create_dir(folder.path("folder")).unwrap();
    assert!(error("folder").ends_with("is a directory"));
    assert!(folder.merge(1..=2).is_ok(), "the parts are as before");
}

#[test]
fn two_merges_do_not_write_the_same_file() {
    let folder = Folder::with_parts(2);
    let (parts, target) = (folder.parts(1..=2), folder.path("all.jsonl"));
    let merged = merge(&parts, &target, |done, _| {
        if done == 0 {
            let second = merge(&parts, &target, |_, _| true);
            assert!(
                matches!(second, Err(ResultsError::Busy { .. })),
                "{second:?}"
            );
        }
        true
    });
    assert!(merged.is_ok());
    assert_eq!(fs::read_to_string(&target).unwrap(), whole());
}
