//! The report of an evolution, as text and as JSON.

use std::io::{self, Write};

use batt::evolve::{EvolveReport, MutationKind, Stage, TestAnswer};
use serde_json::{Value as Json, json};

use super::EvolveArgs;
use super::view::{clock, on_devices};
use crate::interrupt;
use crate::ui::{GOOD, Ui, counted, grouped, name, rest, shown, table, table_text};

/// The number of tasks listed without `--verbose`.
const LISTED: usize = 50;

/// The report of an evolution.
pub struct Report<'r> {
    pub args: &'r EvolveArgs,
    pub report: &'r EvolveReport,
    /// Whether everything found was saved.
    pub complete: bool,
}

impl Report<'_> {
    /// Writes the report in the requested form.
    pub fn write(&self, out: &mut impl Write, ui: &Ui) -> io::Result<()> {
        if self.args.json {
            return writeln!(out, "{}", self.json());
        }
        self.write_solved(out)?;
        self.write_kinds(out)?;
        self.write_totals(out, ui)?;
        self.write_next(out)
    }

    fn write_solved(&self, out: &mut impl Write) -> io::Result<()> {
        if self.report.progress.solved.is_empty() {
            return Ok(());
        }
        let mut header = vec!["task", "demos", "steps", "found by", "generation"];
        header.extend(self.report.answers.as_ref().map(|_| "tests"));
        let mut rows = table(&header, &[1, 2, 4]);
        let mut solved: Vec<_> = self.report.solved().collect();
        // Tasks solved by a seed solver come last.
        solved.sort_by_key(|(at, _, best)| (best.is_seed(), *at));
        let shown = if self.args.verbose {
            usize::MAX
        } else {
            LISTED
        };
        for &(at, task, best) in solved.iter().take(shown) {
            let mut row = vec![
                name(&task.id).into_owned(),
                best.score.demos.to_string(),
                best.score.size.to_string(),
                best.origin.clone(),
                match best.generation {
                    Some(generation) => generation.to_string(),
                    None => "earlier run".to_owned(),
                },
            ];
            if self.report.answers.is_some() {
                let answer = self.report.answer(at).unwrap_or(TestAnswer::Unknown);
                row.push(answer.name().to_owned());
            }
            rows.add_row(row);
        }
        write!(out, "{}", table_text(&rows))?;
        rest(out, solved.len(), shown)?;
        writeln!(out)
    }

    fn write_kinds(&self, out: &mut impl Write) -> io::Result<()> {
        let credit = &self.report.progress.tally.credit;
        let mut kinds = MutationKind::ALL;
        kinds.sort_by_key(|kind| std::cmp::Reverse(credit.paid[kind.index()]));
        let mut rows = table(&["change", "tried", "credit", "share now"], &[1, 2, 3]);
        for kind in kinds {
            rows.add_row([
                kind.name().to_owned(),
                grouped(credit.tried[kind.index()] as usize),
                grouped(credit.paid[kind.index()] as usize),
                format!("{:.1} %", 100.0 * self.report.progress.weights.share(kind)),
            ]);
        }
        writeln!(out, "{}", table_text(&rows))
    }

    fn write_totals(&self, out: &mut impl Write, ui: &Ui) -> io::Result<()> {
        let progress = &self.report.progress;
        let tally = &progress.tally;
        let solved = grouped(progress.solved.len());
        let all = counted(progress.tasks.len(), "task");
        let mut summary = match self.report.start.held_out {
            0 => format!("solved {solved} of {all} on the demonstrations"),
            _ => format!("of {all} held out, {solved} got solvers that fit the demonstrations"),
        };
        if let Some(right) = self.report.right_on_tests() {
            let are = if right == 1 { "is" } else { "are" };
            summary += &format!("; {} of these {are} right on the tests too", grouped(right));
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
            grouped(progress.per_minute(tally.offspring)),
            grouped(tally.runs as usize),
            grouped(progress.per_minute(tally.runs) / 60),
        )?;
        if self.report.devices > 0 {
            write!(
                out,
                "; {:.1} % fell back to the CPU",
                100.0 - on_devices(progress)
            )?;
        }
        writeln!(out)?;
        writeln!(
            out,
            "{:.1} % ran without error, {:.1} % gave outputs found before; {} more had run before and did not run again",
            progress.without_error(),
            progress.percent(tally.equal),
            grouped(tally.repeated as usize),
        )?;
        match self.args.verbose {
            true => self.write_stages(out),
            false => Ok(()),
        }
    }

    /// Writes the time of all threads by stage.
    fn write_stages(&self, out: &mut impl Write) -> io::Result<()> {
        let tally = &self.report.progress.tally;
        let stages = Stage::ALL.into_iter().filter_map(|stage| {
            let micros = 1e6 * tally.busy.of(stage).as_secs_f64();
            let each = micros / tally.offspring.max(1) as f64;
            (each >= 0.05).then(|| format!("{} {each:.1}", stage.name()))
        });
        let stages: Vec<String> = stages.collect();
        let stages = stages.join(", ");
        writeln!(
            out,
            "thread time for each offspring, in microseconds: {stages}"
        )
    }

    /// Writes where the solvers are, and what the user can do with them.
    fn write_next(&self, out: &mut impl Write) -> io::Result<()> {
        let progress = &self.report.progress;
        let Some(path) = &progress.archive else {
            return Ok(());
        };
        let path = shown(path);
        let saved = counted(progress.saved, "new solver");
        writeln!(out, "saved {saved} in {path}")?;
        if progress.not_storable > 0 {
            let count = counted(progress.not_storable, "program");
            writeln!(out, "{count} could not be stored")?;
        }
        writeln!(out, "\nnext: batt archive top --archive {path}")?;
        if let Some(tasks) = &self.args.tasks {
            let tasks = shown(tasks);
            let submit = "batt submit --tasks";
            writeln!(
                out,
                "      {submit} {tasks} --archive {path} -o submission.json"
            )?;
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let progress = &self.report.progress;
        let tally = &progress.tally;
        let tasks = progress.tasks.iter().zip(&progress.best).enumerate();
        let tasks: Vec<Json> = tasks
            .map(|(at, (task, best))| {
                let answer = self.report.answer(at);
                json!({
                    "task": task.id,
                    "solved": best.as_ref().is_some_and(|best| best.score.is_solved()),
                    "tests": answer.map(TestAnswer::name),
                    "best": best.as_ref().map(|best| json!({
                        "demos_solved": best.score.demos_solved,
                        "demos": best.score.demos,
                        "closeness": best.score.closeness,
                        "size": best.score.size,
                        "cost": best.score.cost,
                        "found_by": best.origin,
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
            "seed": self.report.start.seed,
            "dialect": self.report.start.dialect.name(),
            "held_out": self.report.start.held_out,
            "solved": progress.solved.len(),
            "right_on_tests": self.report.right_on_tests(),
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
            "archive": progress.archive.as_ref().map(|path| json!({
                "file": path.display().to_string(),
                "run": progress.run,
                "saved": progress.saved,
                "complete": self.complete,
            })),
            // Only this part differs between two runs with the same options.
            "time": {
                "seconds": progress.time().as_secs_f64(),
                // This excludes saving and display.
                "seconds_evolving": tally.time.as_secs_f64(),
                "offspring_per_minute": progress.per_minute(tally.offspring),
                "runs_per_second": progress.per_minute(tally.runs) / 60,
                "devices": self.report.devices,
                "on_devices": tally.on_devices,
                "seconds_on_devices": tally.devices.time.as_secs_f64(),
                "seconds_in_kernels": tally.devices.times.kernel.as_secs_f64(),
                "seconds_copying": (tally.devices.times.upload + tally.devices.times.download).as_secs_f64(),
                "launches": tally.devices.times.launches,
                // These are the times of all threads, added up.
                "seconds_in_stages": stages.collect::<serde_json::Map<_, _>>(),
            },
        })
    }
}
