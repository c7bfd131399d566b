//! Parts of runs: however a run is divided, merging gives what one machine writes.

use std::fs;
use std::path::{Path, PathBuf};

use batt::mega::{Detail, Existing, ResultsError};
use batt::{
    Batts, Control, Devices, Error, Grid, LineKind, Mega, MegaSummary, MergedResults, Pair,
    PartError, RunOptions, RunPart, RunScope, Shard, Solvers, Task, Tasks, merge_results,
};
use tempfile::TempDir;

/// Two batts: donors that are right on some tasks, one that fails, a donor with two candidates.
const BATTS: &str = "
def batt_one(S, I, C):
    s = []
    o = []
    t1 = hmirror(I)
    o.append((1, False, 'mirror', t1))
    t2 = identity(I)
    o.append((2, True, 'same', t2))
    t3 = crop(I, t2, t2)
    o.append((3, False, 'bad', t3))
    t4 = equality(t1, C)
    s.append((4, 'mirror', 'differ_same', t4))
    return o, s

def batt_two(S, I, C):
    s = []
    o = []
    t1 = vmirror(I)
    o.append((1, False, 'mirror', t1))
    t2 = hmirror(I)
    o.append((2, False, 'other', t2))
    t3 = hmirror(t2)
    o.append((3, True, 'mirror', t3))
    return o, s
";

const SOLVERS: &str = "
def solve_t0(I):
    return hmirror(I)

def solve_t1(I):
    return identity(I)

def other_t1(I):
    return first(difference(I, I))

def solve_t2(I):
    return vmirror(I)

def solve_t3(I):
    return palette(I)

def solve_elsewhere(I):
    return crop(I, I, I)
";

/// Tasks with one to five pairs, among them pairs and whole tasks without a known output.
fn tasks() -> Tasks {
    let grid = |rows: Vec<Vec<u8>>| Grid::from_rows(&rows).unwrap();
    let task = |number: usize| {
        let pair = |k: usize| {
            let rows: Vec<Vec<u8>> = (0..2 + k % 3)
                .map(|i| {
                    (0..3)
                        .map(|j| ((number + 2 * i + 3 * j + k) % 10) as u8)
                        .collect()
                })
                .collect();
            let mut output = rows.clone();
            match number % 4 {
                0 => output.reverse(),
                1 => {}
                2 => output.iter_mut().for_each(|row| row.reverse()),
                _ => output[0][0] ^= 1,
            }
            let known = number != 6 && (number + k) % 5 != 4;
            Pair {
                input: grid(rows),
                output: known.then(|| grid(output)),
            }
        };
        let pairs: Vec<Pair> = (0..1 + number * 3 % 5).map(pair).collect();
        let (train, test) = pairs.split_at(pairs.len() / 2);
        Task {
            id: format!("t{number}"),
            name: None,
            description: None,
            train: train.to_vec(),
            test: test.to_vec(),
        }
    };
    Tasks::new((0..9).map(task)).unwrap()
}

/// The numbers of parts: one, few, as many as samples, more than runs.
const COUNTS: [usize; 6] = [1, 2, 3, 7, 26, 90];

fn shards(count: usize) -> Vec<Shard> {
    let shard = |number| Shard::new(number, count).unwrap();
    (1..=count).map(shard).collect()
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn part(&self, shard: Shard) -> PathBuf {
        self.path(&format!(
            "part-{}-of-{}.jsonl",
            shard.number(),
            shard.count()
        ))
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of all files that are no finished parts.
    fn others(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with("part-")).collect();
        names.sort();
        names
    }
}

fn mega(detail: Detail, shard: Shard, path: &Path) -> MegaSummary {
    Mega::new(&Batts::parse(BATTS, "b.py"), &tasks())
        .detail(detail)
        .shard(shard)
        .write_to(path, Existing::Resume)
        .run(&Control::new())
        .unwrap()
}

fn merge(parts: &[PathBuf], target: &Path) -> Result<MergedResults, Error> {
    merge_results(parts, target, &Control::new()).map(Option::unwrap)
}

#[test]
fn merged_parts_are_the_results_of_one_machine() {
    for detail in [Detail::Compact, Detail::Full] {
        let folder = Folder::new();
        let whole = mega(detail, Shard::WHOLE, &folder.path("whole.jsonl"));
        mega(detail, Shard::WHOLE, &folder.path("whole.parquet"));
        assert!(whole.totals.solved.len() >= 6, "{:?}", whole.totals.solved);
        for count in COUNTS {
            let mut parts = Vec::new();
            let mut runs = 0;
            for shard in shards(count) {
                let path = folder.part(shard);
                let part = mega(detail, shard, &path);
                assert!(part.is_complete());
                assert_eq!(part.total, whole.planned);
                assert_eq!(part.totals.runs, shard.len(whole.planned));
                runs += part.totals.runs;
                // The order in which parts are named does not matter.
                parts.insert(parts.len() / 2, path);
            }
            assert_eq!(runs, whole.totals.runs);
            for name in ["merged.jsonl", "merged.parquet"] {
                let merged = merge(&parts, &folder.path(name)).unwrap();
                let one = name.replace("merged", "whole");
                assert!(
                    folder.read(name) == folder.read(&one),
                    "{name}, {count} parts"
                );
                assert_eq!(merged.totals, whole.totals);
                assert_eq!(merged.bytes, folder.read(name).len() as u64);
                assert_eq!(merged.tasks_solved, whole.tasks_solved());
                assert_eq!((merged.parts, merged.tasks), (count, 9));
                assert_eq!(merged.lines, LineKind::Mega);
            }
            let [merged, one] = ["merged", "whole"].map(|name| format!("{name}.jsonl.meta.json"));
            assert_eq!(folder.read(&merged), folder.read(&one));
        }
        // The merged file is a finished run.
        let again = mega(detail, Shard::WHOLE, &folder.path("merged.jsonl"));
        assert!(again.report.is_none() && again.totals == whole.totals);
        let names = folder.others();
        assert_eq!(names.len(), 6, "nothing else is left: {names:?}");
    }
}

/// Batts of the same name on one task are told apart.
#[test]
fn equal_names_do_not_mix() {
    let folder = Folder::new();
    let task = tasks().get("t1").unwrap().clone();
    let tasks = Tasks::new([task]).unwrap();
    let file = folder.path("b.py");
    fs::write(&file, BATTS).unwrap();
    let batts = Batts::load([&file, &file], None).unwrap();
    let run = |shard: Shard, name: &str| {
        let mega = Mega::new(&batts, &tasks).shard(shard);
        let mega = mega.write_to(folder.path(name), Existing::Resume);
        mega.run(&Control::new()).unwrap()
    };
    let whole = run(Shard::WHOLE, "whole.jsonl");
    let parts: Vec<PathBuf> = shards(2)
        .into_iter()
        .map(|shard| {
            let name = format!("part-{}.jsonl", shard.number());
            run(shard, &name);
            folder.path(&name)
        })
        .collect();
    let merged = merge(&parts, &folder.path("merged.jsonl")).unwrap();
    assert_eq!(merged.totals, whole.totals);
    assert_eq!(whole.totals.solved.len(), 4);
}

fn options(scope: RunScope, shard: Shard) -> RunOptions {
    RunOptions {
        scope,
        shard,
        ..RunOptions::default()
    }
}

fn run_part(scope: RunScope, shard: Shard, path: &Path) -> batt::RunReport {
    let (solvers, tasks) = (Solvers::parse(SOLVERS, "s.py"), tasks());
    let options = options(scope, shard);
    let part = RunPart::open(&solvers, &tasks, &options, path, Existing::Resume).unwrap();
    let (planned, resumed) = (part.planned(), part.resumed());
    let mut runs = 0;
    let each = |_| runs += 1;
    let report = part.finish(&mut Devices::none(), &Control::new(), each);
    assert_eq!(runs, planned - resumed);
    report.unwrap()
}

/// Returns the lines of a run without their times.
fn without_times(text: &[u8]) -> Vec<String> {
    let lines = str::from_utf8(text).unwrap().lines();
    lines
        .map(|line| line.rsplit_once(",\"us\":").unwrap().0.to_owned())
        .collect()
}

#[test]
fn merged_parts_of_a_run_have_the_same_lines() {
    let (solvers, tasks) = (Solvers::parse(SOLVERS, "s.py"), tasks());
    for scope in [RunScope::OwnTask, RunScope::AllPairs] {
        let folder = Folder::new();
        let mut lines = Vec::new();
        let whole = batt::run(
            &solvers,
            &tasks,
            &RunOptions {
                values: batt::Values::All,
                ..options(scope, Shard::WHOLE)
            },
            &mut Devices::none(),
            &Control::new(),
            |result| result.write_json(&mut lines).unwrap(),
        );
        let whole = whole.unwrap();
        for count in COUNTS {
            let (mut parts, mut failed, mut right) = (Vec::new(), 0, 0);
            for shard in shards(count) {
                let report = run_part(scope, shard, &folder.part(shard));
                assert!(report.is_complete() && report.total == whole.planned);
                failed += report.summary.failed();
                let kinds = report.summary.kinds().into_iter();
                right += kinds
                    .filter(|(kind, _)| *kind == "right")
                    .map(|k| k.1)
                    .sum::<usize>();
                parts.push(folder.part(shard));
            }
            assert_eq!(failed, whole.summary.failed());
            let target = folder.path("merged.jsonl");
            let merged = merge(&parts, &target).unwrap();
            let found = without_times(&folder.read("merged.jsonl"));
            assert_eq!(found, without_times(&lines), "{count} parts");
            assert_eq!((merged.lines, merged.parts), (LineKind::Run, count));
            let solved = (merged.tasks_solved, merged.tasks);
            assert_eq!(solved, whole.summary.tasks());
            assert_eq!(merged.totals.right, right as u64);
            assert_eq!(merged.totals.runs, whole.planned);
        }
        // Its lines are no table.
        let error = merge(&[folder.part(Shard::WHOLE)], &folder.path("x.parquet")).unwrap_err();
        assert!(
            error.to_string().contains("only results of `batt mega`"),
            "{error}"
        );
    }
}

/// The report of a resumed part counts what was written before.
#[test]
fn a_part_of_a_run_is_resumed_from_any_line() {
    let folder = Folder::new();
    let (scope, shard) = (RunScope::AllPairs, Shard::new(2, 3).unwrap());
    let path = folder.path("part.jsonl");
    let first = run_part(scope, shard, &path);
    let (record, whole) = (
        folder.path("part.jsonl.meta.json"),
        fs::read(&path).unwrap(),
    );
    let kinds = first.summary.kinds();
    assert!(kinds.len() >= 4, "{kinds:?}");
    // Nothing is left to do, and the report is the same.
    let again = run_part(scope, shard, &path);
    assert_eq!(
        (again.resumed, again.summary.kinds()),
        (first.planned, kinds.clone())
    );
    assert_eq!(again.summary.has_findings(), first.summary.has_findings());
    assert!(fs::read(&path).unwrap() == whole);

    let header = fs::read_to_string(&record).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();
    for (lines, cut) in [
        (0, 0),
        (0, 5),
        (1, ends[0] + 1),
        (7, ends[6] + 30),
        (9, ends[8] + 1),
    ] {
        fs::remove_file(&path).unwrap();
        fs::write(folder.path("part.jsonl.part"), &whole[..cut]).unwrap();
        fs::write(folder.path("part.jsonl.part.json"), &header).unwrap();
        let report = run_part(scope, shard, &path);
        assert_eq!(
            (report.resumed, report.summary.runs()),
            (lines, first.planned)
        );
        assert_eq!(report.summary.kinds(), kinds, "{lines} lines");
        assert_eq!(report.summary.pairs(), first.summary.pairs());
        let found = fs::read(&path).unwrap();
        assert_eq!(without_times(&found), without_times(&whole));
        let kept = ends.get(lines.wrapping_sub(1)).map_or(0, |end| end + 1);
        assert!(found[..kept] == whole[..kept], "the lines keep their times");
    }
    // A damaged line is done again, with all that follow.
    fs::remove_file(&path).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    for (good, bad) in [("\"ok\":true", "\"ok\":1"), ("train[0]", "train[8]")] {
        fs::write(folder.path("part.jsonl.part"), text.replacen(good, bad, 1)).unwrap();
        fs::write(folder.path("part.jsonl.part.json"), &header).unwrap();
        let report = run_part(scope, shard, &path);
        assert!(report.resumed < first.planned && report.is_complete());
        assert_eq!(
            without_times(&fs::read(&path).unwrap()),
            without_times(&whole)
        );
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn an_interrupted_part_of_a_run_goes_on() {
    let folder = Folder::new();
    let (solvers, tasks) = (Solvers::embedded(), Tasks::embedded());
    let options = options(RunScope::AllPairs, Shard::new(2, 3).unwrap());
    let path = folder.path("part.jsonl");
    let open = |existing| RunPart::open(&solvers, &tasks, &options, &path, existing);
    let control = Control::new();
    let token = control.cancel_token();
    let mut seen = 0;
    let part = open(Existing::Refuse).unwrap();
    let report = part.finish(&mut Devices::none(), &control, |_| {
        seen += 1;
        if seen == 30 {
            token.cancel();
        }
    });
    let report = report.unwrap();
    assert!(!report.is_complete() && seen >= 30);
    let error = merge(std::slice::from_ref(&path), &folder.path("x.jsonl")).unwrap_err();
    let Error::Results(ResultsError::Part(PartError::Unfinished { shard, .. })) = &error else {
        panic!("{error}");
    };
    assert_eq!(*shard, options.shard);
    assert!(error.hint().contains("--shard 2/3") && error.hint().contains("--resume"));
    assert!(open(Existing::Refuse).is_err());
    let part = open(Existing::Resume).unwrap();
    assert_eq!(part.resumed(), seen);
    let report = part.finish(&mut Devices::none(), &Control::new(), |_| ());
    assert!(report.unwrap().is_complete());
    assert!(open(Existing::Resume).unwrap().was_finished());
}

#[test]
fn an_interrupted_part_of_a_mega_batch_goes_on() {
    let folder = Folder::new();
    let tasks = Tasks::embedded();
    let merged = batt::card::merge(&Solvers::embedded(), Some(&tasks)).unwrap();
    let batts = Batts::from(merged.batt);
    let mega = |shard: Shard, name: &str| {
        let mega = Mega::new(&batts, &tasks).shard(shard).detail(Detail::Full);
        mega.write_to(folder.path(name), Existing::Resume)
    };
    let names = ["part-1.jsonl", "part-2.jsonl"];
    let shards = shards(2);
    mega(shards[0], names[0]).run(&Control::new()).unwrap();
    let control = Control::new();
    let token = control.cancel_token();
    let control = control.on_progress(move |at| {
        if at.done == 9 {
            token.cancel();
        }
    });
    let first = mega(shards[1], names[1]).run(&control).unwrap();
    assert!(!first.is_complete());
    let parts = names.map(|name| folder.path(name));
    let error = merge(&parts, &folder.path("merged.jsonl")).unwrap_err();
    assert!(
        error.to_string().contains("part 2/2 is unfinished"),
        "{error}"
    );
    // Neither another part nor the whole run continues it.
    for other in [shards[0], Shard::WHOLE] {
        let error = mega(other, names[1]).run(&Control::new()).unwrap_err();
        assert!(
            error.to_string().contains("another run: shard changed"),
            "{error}"
        );
    }
    let second = mega(shards[1], names[1]).run(&Control::new()).unwrap();
    assert_eq!(second.resumed, first.totals.runs);
    let merged = merge(&parts, &folder.path("merged.jsonl")).unwrap();
    let whole = mega(Shard::WHOLE, "whole.jsonl")
        .run(&Control::new())
        .unwrap();
    assert_eq!(merged.totals, whole.totals);
    assert!(folder.read("merged.jsonl") == folder.read("whole.jsonl"));
}

#[test]
fn a_cancelled_merge_writes_nothing() {
    let folder = Folder::new();
    let parts: Vec<PathBuf> = shards(2)
        .into_iter()
        .map(|shard| folder.part(shard))
        .collect();
    for (shard, path) in shards(2).into_iter().zip(&parts) {
        mega(Detail::Compact, shard, path);
    }
    let control = Control::new();
    control.cancel_token().cancel();
    let merged = merge_results(&parts, &folder.path("merged.jsonl"), &control).unwrap();
    assert_eq!(merged, None);
    assert_eq!(folder.others(), [""; 0]);
}

#[test]
fn parts_are_not_written_as_parquet() {
    let folder = Folder::new();
    let mega = Mega::new(&Batts::parse(BATTS, "b.py"), &tasks())
        .shard(Shard::new(1, 2).unwrap())
        .write_to(folder.path("part.parquet"), Existing::Refuse);
    let Err(error) = mega.begin() else {
        panic!("a part is no table");
    };
    assert!(
        error.to_string().contains("parts are lines of JSON"),
        "{error}"
    );
    assert!(error.hint().contains("`batt merge` can write Parquet"));
    assert_eq!(folder.others(), [""; 0]);
}
