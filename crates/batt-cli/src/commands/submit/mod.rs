//! `batt submit`: writes the answers of archived solvers to a submission that is valid at every
//! moment.

mod check;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use batt::archive::{Archive, ArchiveError};
use batt::submission::{AnswerSummary, Candidates, Submission, SubmissionFile};
use batt::{Error, Tasks};
use clap::Args;
use serde_json::json;

use crate::cli::{Exit, Jobs};
use crate::error::advised;
use crate::files::check_not_read;
use crate::interrupt;
use crate::solvers::open_tasks;
use crate::submissions;
use crate::ui::{Ui, counted, shown, stdout};

/// Write or check a submission
#[derive(Args)]
#[command(after_help = "\
First the command writes a file of fillers [[0, 0], [0, 0]]. It replaces the whole file whenever
tasks are done, so the file is valid at every moment.

The archived solvers of a task run on its demonstrations and test inputs. Solvers with the same
output support it together. The two best outputs are the attempts. They are ranked by
demonstrations solved, then by closeness, then by the votes of their solvers; votes of simple
solvers weigh more. Test outputs are never read. If the archive is damaged, nothing is written.

--check writes nothing. It prints the findings about a file, and the exit code is 1 if there are
any.

Examples:
  batt submit --tasks arc-agi_test_challenges.json --archive batt.sqlite -o submission.json
  batt submit --tasks data/evaluation -o submission.json        writes only fillers
  batt submit --check submission.json --tasks arc-agi_test_challenges.json
  batt score submission.json --tasks data/evaluation            scores it against known answers")]
pub struct SubmitArgs {
    /// Tasks to answer: a folder or a file, in any format batt reads
    #[arg(long, value_name = "PATH", required_unless_present = "check")]
    tasks: Option<PathBuf>,

    /// The archive with the solvers; without it all answers are fillers
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,

    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "submission.json")]
    output: PathBuf,

    /// Start with the answers in the file instead of fillers, if the file is valid
    #[arg(long)]
    keep: bool,

    #[command(flatten)]
    jobs: Jobs,

    /// Check a submission instead: on its own, or as answers to --tasks
    #[arg(long, value_name = "FILE", conflicts_with_all = ["archive", "output", "keep", "jobs"])]
    check: Option<PathBuf>,

    /// Print a summary as one JSON object
    #[arg(long)]
    json: bool,

    /// List all findings of --check
    #[arg(short, long, requires = "check")]
    verbose: bool,
}

/// Runs the command.
pub fn main(args: &SubmitArgs, ui: &Ui) -> Result<Exit> {
    let tasks = args.tasks.as_deref();
    let data = tasks.map(|path| open_tasks(path, ui)).transpose()?;
    if let Some(file) = &args.check {
        if data.is_none() {
            ui.note("task ids are not checked; --tasks PATH names the tasks to check against");
        }
        return check::check(file, data.as_deref(), args.json, args.verbose);
    }
    // The parser requires tasks unless there is a submission to check.
    submit(args, &data.unwrap_or_default(), ui)
}

fn submit(args: &SubmitArgs, tasks: &Tasks, ui: &Ui) -> Result<Exit> {
    SubmissionFile::check_place(&args.output)?;
    let read = [&args.tasks, &args.archive].into_iter().flatten();
    check_not_read(&args.output, read.map(PathBuf::as_path))?;
    let fillers = Submission::fillers(tasks);
    if fillers.tasks() == 0 {
        return Err(advised(
            "none of these tasks has a test input",
            "a submission answers tests: name tasks {\"train\": [...], \"test\": [...]}",
        ));
    }
    interrupt::watch();
    let candidates = match candidates(args, tasks) {
        Ok(candidates) => candidates,
        // Replacing existing answers by fillers would hide the damage.
        Err(error @ Error::Archive(ArchiveError::Damaged { .. })) => return Err(error.into()),
        Err(error) => {
            if !args.output.exists() {
                SubmissionFile::create(&args.output, fillers)?;
                let file = args.output.display();
                ui.note(format_args!("{file} has only fillers"));
            }
            return Err(error.into());
        }
    };
    let first = kept(args, tasks, ui).unwrap_or(fillers);
    let mut file = SubmissionFile::create(&args.output, first.clone())?;
    let bar = ui.progress(candidates.tasks(), "answering");
    let control = interrupt::control_with(&bar);
    let mut saved = Ok(());
    let (submission, summary) =
        candidates.answer(first, args.jobs.threads(ui), &control, |submission| {
            saved = file.save(submission);
            saved.is_ok()
        });
    bar.finish_and_clear();
    saved?;
    file.finish(&submission)?;
    report(args, &submission, &candidates, &summary, ui)?;
    Ok(match interrupt::happened() {
        true => Exit::Interrupted,
        false => Exit::Good,
    })
}

/// The solvers of the archive.
fn candidates(args: &SubmitArgs, tasks: &Tasks) -> batt::Result<Candidates> {
    match &args.archive {
        Some(path) => Candidates::archived(tasks, &Archive::open_existing(path)?),
        None => Ok(Candidates::none(tasks)),
    }
}

/// Returns the answers in the existing file, if they are wanted and valid.
fn kept(args: &SubmitArgs, tasks: &Tasks, ui: &Ui) -> Option<Submission> {
    if !args.keep || !args.output.exists() {
        return None;
    }
    let old = submissions::load(&args.output).ok();
    let old = old.and_then(|draft| draft.submission(tasks));
    if old.is_none() {
        let file = args.output.display();
        ui.warn(format_args!(
            "{file} is not a valid submission for these tasks: starting with fillers"
        ));
    }
    old
}

/// Prints what was written.
fn report(
    args: &SubmitArgs,
    submission: &Submission,
    candidates: &Candidates,
    summary: &AnswerSummary,
    ui: &Ui,
) -> Result<()> {
    let (tasks, outputs) = (submission.tasks(), submission.outputs());
    if candidates.unreadable() > 0 {
        ui.warn(format_args!(
            "{} of the archive cannot be read and gave no answers; `batt archive gc --check` looks for \
             damage",
            counted(candidates.unreadable(), "solver")
        ));
    }
    if let Some(archive) = args.archive.as_ref().filter(|_| candidates.tasks() == 0) {
        // An archive without solvers for the tasks is most likely the wrong one.
        ui.warn(format_args!(
            "{} has no solver for any of these tasks: all answers are fillers",
            archive.display()
        ));
    }
    let mut out = stdout();
    if args.json {
        let json = json!({
            "file": args.output.display().to_string(),
            "tasks": tasks,
            "outputs": outputs,
            "tasks_with_solvers": candidates.tasks(),
            "tasks_with_demos_solved": summary.tasks_solved,
            "outputs_answered": summary.answered,
            "outputs_answered_twice": summary.answered_twice,
            "outputs_with_demos_solved": summary.outputs_solved,
            "solvers": summary.solvers,
            "unloaded": candidates.unreadable(),
            "runs": summary.runs,
            "interrupted": interrupt::happened(),
        });
        writeln!(out, "{json}")?;
    } else {
        if args.archive.is_some() {
            writeln!(
                out,
                "solvers for {} of {}, {} solved on all demonstrations",
                candidates.tasks(),
                counted(tasks, "task"),
                counted(summary.tasks_solved, "task"),
            )?;
        }
        let answers = match (summary.answered, summary.answered_twice) {
            (0, _) if submission.is_blank() => "all of them fillers".to_owned(),
            (0, _) => "none of them new".to_owned(),
            (once, twice) => format!("{once} of them answered, {twice} with two attempts"),
        };
        let (file, outputs) = (shown(&args.output), counted(outputs, "output"));
        let stopped = match interrupt::happened() {
            true => " (interrupted)",
            false => "",
        };
        writeln!(out, "wrote {file}: {outputs}, {answers}{stopped}")?;
    }
    out.flush()?;
    Ok(())
}
