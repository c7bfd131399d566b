//! `batt submit`: the answers of archived solvers as a submission, valid at every moment.
//!
//! ```text
//!   tasks ---- fillers ----> file
//!     |                        ^  as tasks are done
//!   archive -- candidates -- answer (run on the tests, choose two)
//! ```

mod answer;
mod candidates;
mod check;
mod file;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_arc::Dataset;
use batt_arc::submission::Submission;
use batt_archive::Archive;
use clap::Args;
use serde_json::json;

use crate::cli::Exit;
use crate::error::{advised, bad_archive};
use crate::files::check_not_read;
use crate::interrupt;
use crate::solvers::load_tasks;
use crate::submissions;
use crate::ui::{Ui, counted, stdout};
use answer::{Tally, answer};
use candidates::{Entrant, candidates};
use file::SubmissionFile;

/// Write or check a submission
#[derive(Args)]
#[command(after_help = "\
The file is there from the first moment, with fillers [[0, 0], [0, 0]], and is replaced as a
whole when tasks are done: whenever the command is ended, the file is valid. Archived solvers of
a task run on its demonstrations and test inputs. Those that come to the same output stand for it
together; the two best outputs are the attempts: by demonstrations solved, closeness, and the
votes of the solvers, of which simple ones weigh more. Test outputs are never looked at.

With --check nothing is written: what is wrong with a file is printed, and the exit code is 1 if
there is something.

Examples:
  batt submit --tasks arc-agi_test_challenges.json --archive batt.sqlite -o submission.json
  batt submit --tasks data/evaluation -o submission.json        fillers only
  batt submit --check submission.json --tasks arc-agi_test_challenges.json
  batt score submission.json --tasks data/evaluation            where the answers are known")]
pub struct SubmitArgs {
    /// Tasks to answer: a folder or a file, in any format batt reads
    #[arg(long, value_name = "PATH", required_unless_present = "check")]
    tasks: Option<PathBuf>,

    /// The archive with the solvers; without it there are only fillers
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,

    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "submission.json")]
    output: PathBuf,

    /// Begin with the answers that are in the file instead of fillers, if it is in order
    #[arg(long)]
    keep: bool,

    /// Threads; all cores if not given
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Check a submission instead: by itself, or as the answers to --tasks
    #[arg(long, value_name = "FILE", conflicts_with_all = ["archive", "output", "keep", "jobs"])]
    check: Option<PathBuf>,

    /// Print a summary as one JSON object
    #[arg(long)]
    json: bool,

    /// List everything that --check finds
    #[arg(short, long, requires = "check")]
    verbose: bool,
}

/// Runs the command.
pub fn main(args: &SubmitArgs, ui: &Ui) -> Result<Exit> {
    let tasks = args.tasks.as_deref();
    let data = tasks.map(|path| load_tasks(path, ui)).transpose()?;
    if let Some(file) = &args.check {
        if data.is_none() {
            ui.note("task ids are not checked; --tasks PATH says which there are");
        }
        return check::check(file, data.as_ref(), args.json, args.verbose);
    }
    // The parser asks for tasks where there is nothing to check.
    submit(args, &data.unwrap_or_default(), ui)
}

fn submit(args: &SubmitArgs, data: &Dataset, ui: &Ui) -> Result<Exit> {
    check_place(&args.output)?;
    let read = [&args.tasks, &args.archive].into_iter().flatten();
    check_not_read(&args.output, read.map(PathBuf::as_path))?;
    let fillers = Submission::fillers(data);
    if fillers.tasks() == 0 {
        return Err(advised(
            "none of these tasks has a test input",
            "a submission answers tests: name tasks {\"train\": [...], \"test\": [...]}",
        ));
    }
    interrupt::watch();
    // A submission comes first. One that is there stays until we know that the archive is in order.
    let is_new = !args.output.exists();
    if is_new {
        SubmissionFile::create(&args.output, fillers.clone())?;
    }
    let entrants = entrants(args, data).inspect_err(|_| {
        if is_new {
            let file = args.output.display();
            ui.note(format_args!("{file} has only fillers"));
        }
    })?;
    let first = kept(args, data, ui).unwrap_or(fillers);
    let mut file = SubmissionFile::create(&args.output, first)?;
    let tally = answer(&entrants, args.jobs, &mut file, ui)?;
    file.finish()?;
    report(args, &file, &entrants, &tally, ui)?;
    Ok(match interrupt::happened() {
        true => Exit::Interrupted,
        false => Exit::Good,
    })
}

/// Only a file can be replaced as a whole.
fn check_place(output: &Path) -> Result<()> {
    let is_stream = output == Path::new("-");
    let is_other = || output.exists() && !output.is_file() && !output.is_dir();
    match is_stream || is_other() {
        false => Ok(()),
        true => Err(advised(
            format_args!("cannot write {}: it is not a file", output.display()),
            "name a file: it is replaced as a whole whenever there are new answers",
        )),
    }
}

/// The solvers of the archive, task by task.
fn entrants<'d>(args: &SubmitArgs, data: &'d Dataset) -> Result<Vec<Entrant<'d>>> {
    let Some(path) = &args.archive else {
        return Ok(Vec::new());
    };
    let archive = Archive::open_existing(path).map_err(bad_archive)?;
    candidates(&archive, data)
}

/// The answers that are in the file already, if they are wanted and in order.
fn kept(args: &SubmitArgs, data: &Dataset, ui: &Ui) -> Option<Submission> {
    if !args.keep || !args.output.exists() {
        return None;
    }
    let old = submissions::load(&args.output).ok();
    let old = old.and_then(|draft| draft.submission(data));
    if old.is_none() {
        let file = args.output.display();
        ui.warn(format_args!(
            "{file} is no valid submission for these tasks: it begins with fillers"
        ));
    }
    old
}

/// Says what became of it.
fn report(
    args: &SubmitArgs,
    file: &SubmissionFile,
    entrants: &[Entrant<'_>],
    tally: &Tally,
    ui: &Ui,
) -> Result<()> {
    let (tasks, outputs) = (file.submission().tasks(), file.submission().outputs());
    let unloaded: usize = entrants.iter().map(|entrant| entrant.unloaded).sum();
    if unloaded > 0 {
        ui.warn(format_args!(
            "{} of the archive left out: this version of batt does not load them",
            counted(unloaded, "solver")
        ));
    }
    if let Some(archive) = &args.archive {
        nothing_there(archive, entrants, ui);
    }
    let mut out = stdout();
    if args.json {
        let summary = json!({
            "file": args.output.display().to_string(),
            "tasks": tasks,
            "outputs": outputs,
            "tasks_with_solvers": entrants.len(),
            "tasks_with_demos_solved": tally.tasks_solved,
            "outputs_answered": tally.answered,
            "outputs_answered_twice": tally.answered_twice,
            "outputs_with_demos_solved": tally.outputs_solved,
            "solvers": tally.solvers,
            "unloaded": unloaded,
            "runs": tally.runs,
            "interrupted": interrupt::happened(),
        });
        writeln!(out, "{summary}")?;
    } else {
        if args.archive.is_some() {
            writeln!(
                out,
                "solvers for {} of {}, {} solved on all demonstrations",
                entrants.len(),
                counted(tasks, "task"),
                counted(tally.tasks_solved, "task"),
            )?;
        }
        let answers = match (tally.answered, tally.answered_twice) {
            (0, _) if file.submission().is_blank() => "all of them fillers".to_owned(),
            (0, _) => "none of them new".to_owned(),
            (once, twice) => format!("{once} of them answered, {twice} with two attempts"),
        };
        let (file, outputs) = (args.output.display(), counted(outputs, "output"));
        let stopped = match interrupt::happened() {
            true => " (interrupted)",
            false => "",
        };
        writeln!(out, "wrote {file}: {outputs}, {answers}{stopped}")?;
    }
    out.flush()?;
    Ok(())
}

/// An archive that knows none of the tasks is most likely the wrong one.
fn nothing_there(archive: &Path, entrants: &[Entrant<'_>], ui: &Ui) {
    if entrants.is_empty() {
        ui.warn(format_args!(
            "{} has no solver for any of these tasks: all answers are fillers",
            archive.display()
        ));
    }
}
