//! Answers the embedded puzzles with their solvers, checks the submission and scores it.
//!
//!     cargo run --release --package batt --example submission

use batt::submission::{self, Candidates, Submission, SubmissionScore};
use batt::{Control, Solvers, Tasks};

fn main() -> batt::Result<()> {
    let tasks = Tasks::embedded();
    let mut candidates = Candidates::none(&tasks);
    candidates.add_solvers(&Solvers::embedded());
    // Tests without an answer get the competition's filler.
    let fillers = Submission::fillers(&tasks);
    let (submission, summary) = candidates.answer(fillers, None, &Control::new(), |_| true);
    println!("{} runs answered {} tests", summary.runs, summary.answered);

    let draft = submission::parse("submission.json", submission.to_json().as_bytes())?;
    println!("{} findings", draft.check(&tasks).len());
    let score = SubmissionScore::new(&draft, &tasks);
    println!(
        "{:.1} % of the outputs are right",
        100.0 * score.by_output()
    );
    Ok(())
}
