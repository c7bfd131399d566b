//! What it came to, for people and as JSON.

use std::io::{self, Write};

use batt_arc::Task;
use batt_evolve::{MutationKind, Stage};
use serde_json::{Value as Json, json};

use super::EvolveArgs;
use super::answers::{Answer, Answers};
use super::keeper::Keeper;
use super::material::Material;
use super::progress::{Best, DONOR, Progress};
use super::view::{clock, on_devices};
use crate::interrupt;
use crate::ui::{GOOD, Ui, counted, grouped, rest, table, table_text};

/// Tasks listed without `--verbose`.
const LISTED: usize = 50;

/// What it came to.
pub struct Report<'r> {
    pub args: &'r EvolveArgs,
    pub material: &'r Material,
    pub keeper: &'r Keeper,
    pub progress: &'r Progress<'r>,
    /// What the tests say, if they were looked at.
    pub answers: Option<Answers>,
    pub seed: u64,
    pub devices: usize,
    /// Is all of it in the archive, if there is one?
    pub saved: bool,
}

impl Report<'_> {
    /// Writes it as the user wants it.
    pub fn write(&self, out: &mut impl Write, ui: &Ui) -> io::Result<()> {
        if self.args.json {
            return writeln!(out, "{}", self.json());
        }
        self.write_solved(out)?;
        self.write_kinds(out)?;
        self.write_totals(out, ui)?;
        self.write_next(out)
    }

    /// The tasks that are solved, with their best programs.
    fn solved(&self) -> impl Iterator<Item = (usize, &Task, &Best)> {
        let tasks = self.progress.tasks.iter().zip(&self.progress.best);
        tasks.enumerate().filter_map(|(at, (task, best))| {
            let best = best.as_ref().filter(|best| best.score.is_complete())?;
            Some((at, task, best))
        })
    }

    fn write_solved(&self, out: &mut impl Write) -> io::Result<()> {
        if self.progress.solved.is_empty() {
            return Ok(());
        }
        let mut header = vec!["task", "demos", "steps", "found by", "generation"];
        header.extend(self.answers.as_ref().map(|_| "tests"));
        let mut rows = table(&header, &[1, 2, 4]);
        let mut solved: Vec<_> = self.solved().collect();
        // What was there before is no news.
        solved.sort_by_key(|(at, _, best)| (best.how == DONOR, *at));
        let shown = if self.args.verbose {
            usize::MAX
        } else {
            LISTED
        };
        for &(at, task, best) in solved.iter().take(shown) {
            let mut row = vec![
                task.id.clone(),
                best.score.demos.to_string(),
                best.score.size.to_string(),
                best.how.clone(),
                match best.generation {
                    Some(generation) => generation.to_string(),
                    None => "earlier".to_owned(),
                },
            ];
            if let Some(answers) = &self.answers {
                let answer = answers.answer(at).unwrap_or(Answer::Unknown);
                row.push(answer.name().to_owned());
            }
            rows.add_row(row);
        }
        write!(out, "{}", table_text(&rows))?;
        rest(out, solved.len(), shown)?;
        writeln!(out)
    }

    fn write_kinds(&self, out: &mut impl Write) -> io::Result<()> {
        let credit = &self.progress.tally.credit;
        let mut kinds = MutationKind::ALL;
        kinds.sort_by_key(|kind| std::cmp::Reverse(credit.paid[kind.index()]));
        let mut rows = table(&["change", "tried", "credit", "share now"], &[1, 2, 3]);
        for kind in kinds {
            rows.add_row([
                kind.name().to_owned(),
                grouped(credit.tried[kind.index()] as usize),
                grouped(credit.paid[kind.index()] as usize),
                format!("{:.1} %", 100.0 * self.progress.weights.share(kind)),
            ]);
        }
        writeln!(out, "{}", table_text(&rows))
    }

    fn write_totals(&self, out: &mut impl Write, ui: &Ui) -> io::Result<()> {
        let progress = self.progress;
        let tally = &progress.tally;
        let solved = grouped(progress.solved.len());
        let all = counted(progress.tasks.len(), "task");
        let mut summary = match self.material.held_out {
            0 => format!("solved {solved} of {all} on the demonstrations"),
            _ => format!("found solvers of {solved} of {all} held out"),
        };
        if let Some(answers) = &self.answers {
            summary += &format!(", {} right on the tests too", grouped(answers.right()));
        }
        if interrupt::happened() {
            summary += " (interrupted)";
        }
        writeln!(out, "{}", ui.out(GOOD, summary))?;
        write!(
            out,
            "{} in {}: {} distinct offspring, {} a minute; {} runs, {} a second",
            counted(tally.generations as usize, "generation"),
            clock(progress.time()),
            grouped(tally.offspring as usize),
            grouped(progress.a_minute(tally.offspring)),
            grouped(tally.runs as usize),
            grouped(progress.a_minute(tally.runs) / 60),
        )?;
        if self.devices > 0 {
            write!(
                out,
                "; {:.1} % left by devices",
                100.0 - on_devices(progress)
            )?;
        }
        writeln!(out)?;
        writeln!(
            out,
            "{:.1} % ran without error, {:.1} % had known outputs; {} more were made again and not run",
            progress.without_error(),
            progress.percent(tally.equal),
            grouped(tally.repeated as usize),
        )?;
        match self.args.verbose {
            true => self.write_stages(out),
            false => Ok(()),
        }
    }

    /// What the time of all threads went into.
    fn write_stages(&self, out: &mut impl Write) -> io::Result<()> {
        let tally = &self.progress.tally;
        let stages = Stage::ALL.into_iter().filter_map(|stage| {
            let micros = 1e6 * tally.busy.of(stage).as_secs_f64();
            let each = micros / tally.offspring.max(1) as f64;
            (each >= 0.05).then(|| format!("{} {each:.1}", stage.name()))
        });
        let stages: Vec<String> = stages.collect();
        let stages = stages.join(", ");
        writeln!(out, "microseconds of thread time an offspring: {stages}")
    }

    /// Where it is, and what to do with it.
    fn write_next(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(path) = self.keeper.path() else {
            return Ok(());
        };
        let path = path.display();
        let saved = counted(self.keeper.saved(), "new solver");
        writeln!(out, "saved {saved} in {path}")?;
        if self.keeper.left_out() > 0 {
            let count = counted(self.keeper.left_out(), "program");
            writeln!(out, "{count} could not be stored")?;
        }
        writeln!(out, "\nnext: batt archive top --archive {path}")?;
        if let Some(tasks) = &self.args.tasks {
            let tasks = tasks.display();
            let submit = "batt submit --tasks";
            writeln!(
                out,
                "      {submit} {tasks} --archive {path} -o submission.json"
            )?;
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let progress = self.progress;
        let tally = &progress.tally;
        let tasks = progress.tasks.iter().zip(&progress.best).enumerate();
        let tasks: Vec<Json> = tasks
            .map(|(at, (task, best))| {
                let answer = self.answers.as_ref().and_then(|all| all.answer(at));
                json!({
                    "task": task.id,
                    "solved": best.as_ref().is_some_and(|best| best.score.is_complete()),
                    "tests": answer.map(Answer::name),
                    "best": best.as_ref().map(|best| json!({
                        "demos_solved": best.score.solved,
                        "demos": best.score.demos,
                        "closeness": best.score.closeness,
                        "size": best.score.size,
                        "cost": best.score.cost,
                        "found_by": best.how,
                        "generation": best.generation,
                        "hash": best.hash,
                        "source": best.program.to_string(),
                    })),
                })
            })
            .collect();
        let kinds: Vec<Json> = MutationKind::ALL
            .into_iter()
            .map(|kind| {
                json!({
                    "kind": kind.name(),
                    "tried": tally.credit.tried[kind.index()],
                    "credit": tally.credit.paid[kind.index()],
                    "share": progress.weights.share(kind),
                })
            })
            .collect();
        let stages = Stage::ALL.into_iter().map(|stage| {
            let seconds = tally.busy.of(stage).as_secs_f64();
            (stage.name().to_owned(), json!(seconds))
        });
        json!({
            "seed": self.seed,
            "dialect": self.material.dialect.name(),
            "held_out": self.material.held_out,
            "solved": progress.solved.len(),
            "right_on_tests": self.answers.as_ref().map(Answers::right),
            "tasks": tasks,
            "generation": progress.generation,
            "generations": tally.generations,
            "offspring": tally.offspring,
            "runs": tally.runs,
            "failed": tally.failed,
            "known_outputs": tally.equal,
            "repeated": tally.repeated,
            "parts": tally.parts,
            "kinds": kinds,
            "interrupted": interrupt::happened(),
            "archive": self.keeper.path().map(|path| json!({
                "file": path.display().to_string(),
                "run": self.keeper.run(),
                "saved": self.keeper.saved(),
                "complete": self.saved,
            })),
            // All that differs between two runs that were told the same.
            "time": {
                "seconds": progress.time().as_secs_f64(),
                // Without saving and showing.
                "seconds_evolving": tally.time.as_secs_f64(),
                "offspring_per_minute": progress.a_minute(tally.offspring),
                "runs_per_second": progress.a_minute(tally.runs) / 60,
                "devices": self.devices,
                "on_devices": tally.on_devices,
                "seconds_on_devices": tally.devices.time.as_secs_f64(),
                "seconds_in_kernels": tally.devices.times.kernel.as_secs_f64(),
                "seconds_copying": (tally.devices.times.upload + tally.devices.times.download).as_secs_f64(),
                "launches": tally.devices.times.launches,
                // Of all threads together.
                "seconds_in_stages": stages.collect::<serde_json::Map<_, _>>(),
            },
        })
    }
}
