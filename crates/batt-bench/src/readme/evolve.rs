//! Measures evolution: on built-in puzzles whose solvers are held out, and on unknown tasks.

use std::path::Path;

use anyhow::{Context, Result};
use batt::archive::Archive;
use batt::evolve::{Evolve, HoldOut};
use batt::submission::{self, Candidates, Submission, SubmissionScore};
use batt::{Control, Solvers, Tasks};
use serde_json::json;
use tempfile::TempDir;

use super::{Figures, ReadmeArgs, control};

/// Evolves solvers of held-out built-in puzzles from the solvers of the others.
pub fn held_out(args: &ReadmeArgs, figures: &mut Figures) -> Result<()> {
    let report = Evolve::new(&Tasks::embedded())
        .solvers(&Solvers::embedded())
        .hold_out(HoldOut::Exactly(16))
        .seed(0)
        .generations(args.generations)
        .report_tests()
        .run(&control(), |_| ())?;
    let command = "batt evolve --generations N";
    figures.add("evolve: generations", args.generations, command);
    let progress = &report.progress;
    let seconds = progress.time().as_secs_f64();
    figures.add("evolve: seconds", json!(seconds), command);
    let offspring = progress.per_minute(progress.tally.offspring);
    figures.add("evolve: distinct offspring a minute", offspring, command);
    figures.add(
        "evolve: tasks held out",
        report.progress.tasks.len(),
        command,
    );
    figures.add(
        "evolve: right on demonstrations",
        report.solved().count(),
        command,
    );
    figures.add(
        "evolve: right on tests",
        json!(report.right_on_tests()),
        command,
    );
    Ok(())
}

/// Evolves solvers of unknown tasks into an archive, submits the best, and scores the submission.
pub fn unknown_tasks(args: &ReadmeArgs, tasks: &Path, figures: &mut Figures) -> Result<()> {
    let folder = TempDir::new().context("no temporary folder")?;
    let file = folder.path().join("batt.sqlite");
    let tasks = Tasks::load(tasks)?;
    let report = Evolve::new(&tasks)
        .solvers(&Solvers::load(&args.solvers, None)?)
        .archive(&file)
        .seed(0)
        .generations(args.evaluation_generations)
        .run(&control(), |_| ())?;
    let archive = Archive::open(&file)?;
    let candidates = Candidates::archived(&tasks, &archive)?;
    let fillers = Submission::fillers(&tasks);
    let (submission, _) = candidates.answer(fillers, None, &Control::new(), |_| true);
    let text = submission.to_json();
    let draft = submission::parse("submission.json", text.as_bytes())?;
    let score = SubmissionScore::new(&draft, &tasks);
    let command = "batt evolve, submit, score";
    for (name, count) in [
        ("generations", args.evaluation_generations as usize),
        ("tasks", tasks.len()),
        ("tasks solved, two attempts", score.solved()),
        ("outputs", score.outputs()),
        ("outputs right, two attempts", score.right()),
        ("right on demonstrations", report.solved().count()),
    ] {
        figures.add(format!("evaluation: {name}"), count, command);
    }
    Ok(())
}
