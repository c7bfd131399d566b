//! Shows a running evolution: a live picture on a terminal, lines elsewhere.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use batt::Score;
use batt::evolve::{BestSolver, Change, EvolveEvent, EvolveProgress, Improvement, MutationKind};
use console::{Term, truncate_str};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::EvolveArgs;
use super::picture;
use crate::ui::{DIM, GOOD, STRONG, Ui, counted, grouped, name, shown};

/// The least time between two lines about generations.
const LINES: Duration = Duration::from_secs(5);

/// The number of tasks in the list of those solved last.
const LAST: usize = 4;

/// The number of columns of a label, including the blank after it.
const LABEL: usize = 12;

/// The view of a running evolution.
pub struct View<'u> {
    ui: &'u Ui,
    /// The live picture, if stderr is a terminal.
    live: Option<ProgressBar>,
    verbose: bool,
    /// The ids of the tasks.
    tasks: Vec<String>,
    started: Instant,
    last_line: Option<Instant>,
    /// The last picture of a program: its hash, the size of the picture, and its text.
    drawn: Option<(String, (usize, usize), Option<String>)>,
}

impl<'u> View<'u> {
    /// Creates a view on stderr.
    pub fn new(args: &EvolveArgs, deadline: Option<Instant>, ui: &'u Ui) -> View<'u> {
        let bar = ui.spinner();
        let live = !bar.is_hidden();
        if live {
            bar.set_style(style(deadline));
        } else {
            bar.finish_and_clear();
        }
        View {
            ui,
            live: live.then_some(bar),
            verbose: args.verbose,
            tasks: Vec::new(),
            started: Instant::now(),
            last_line: None,
            drawn: None,
        }
    }

    /// Shows an event.
    pub fn show(&mut self, event: &EvolveEvent) {
        match event {
            EvolveEvent::Generation(progress) => self.show_progress(progress),
            EvolveEvent::Improved { improvement, saved } => self.tell(improvement, *saved),
            EvolveEvent::SaveDelayed(why) => match &self.live {
                Some(bar) => bar.suspend(|| self.ui.warn(why)),
                None => self.ui.warn(why),
            },
            _ => {}
        }
    }

    fn show_progress(&mut self, progress: &EvolveProgress) {
        if self.tasks.is_empty() {
            self.tasks = {
                let ids = progress
                    .tasks
                    .iter()
                    .map(|task| name(&task.id).into_owned());
                ids.collect()
            };
        }
        let Some(bar) = self.live.clone() else {
            self.line(progress);
            return;
        };
        let (rows, columns) = Term::stderr().size();
        // The last column stays empty, because some terminals begin a new line there. One line
        // less, because the template has a line above.
        let size = (
            usize::from(columns).saturating_sub(1).max(20),
            usize::from(rows).saturating_sub(2).max(4),
        );
        bar.set_prefix(match progress.tally.generations {
            0 => "the first generation".to_owned(),
            _ => format!("generation {}", grouped(progress.generation as usize)),
        });
        bar.set_message(self.screen(progress, size));
    }

    /// Prints an improvement. A terminal shows it in the picture.
    fn tell(&self, improvement: &Improvement, saved: Option<bool>) {
        let is_news = improvement.change == Change::Solved || self.verbose;
        if self.live.is_some() || !is_news {
            return;
        }
        let what = match improvement.change {
            Change::Solved => "solved",
            Change::Closer => "closer to",
            Change::Simpler => "simpler",
        };
        let saved = match saved {
            Some(true) => format!("; saved as {}", improvement.best.hash),
            Some(false) => "; the archive has better ones".to_owned(),
            None => String::new(),
        };
        let task = &self.tasks[improvement.task];
        let best = describe(&improvement.best);
        self.ui.remark(format_args!("{what} {task}: {best}{saved}"));
    }

    /// Removes the live picture.
    pub fn close(&mut self) {
        if let Some(bar) = self.live.take() {
            bar.finish_and_clear();
        }
    }

    fn line(&mut self, progress: &EvolveProgress) {
        let due = self.last_line.unwrap_or(self.started).elapsed() >= LINES;
        if progress.tally.generations == 0 || !(due || self.verbose) {
            return;
        }
        self.last_line = Some(Instant::now());
        let mut line = format!(
            "generation {}, {}: {} of {} solved, {} offspring ({} a minute), {:.0} % without error",
            grouped(progress.generation as usize),
            clock(progress.time()),
            grouped(progress.solved.len()),
            counted(progress.tasks.len(), "task"),
            grouped(progress.tally.offspring as usize),
            grouped(progress.per_minute(progress.tally.offspring)),
            progress.without_error(),
        );
        if progress.tally.on_devices > 0 {
            let _ = write!(line, ", {:.0} % on devices", on_devices(progress));
        }
        if progress.archive.is_some() {
            let _ = write!(line, "; saved {}", counted(progress.saved, "solver"));
        }
        self.ui.remark(line);
    }

    /// Returns the picture for a terminal of a size in columns and lines.
    fn screen(&mut self, progress: &EvolveProgress, (width, height): (usize, usize)) -> String {
        let mut lines = self.figures(progress, width);
        lines.truncate(height);
        let room = height - lines.len();
        lines.extend(self.picture(progress, (width, room)));
        let cut = lines.iter().map(|line| truncate_str(line, width, "…"));
        cut.collect::<Vec<_>>().join("\n")
    }

    fn figures(&self, progress: &EvolveProgress, width: usize) -> Vec<String> {
        let tally = &progress.tally;
        let offspring = tally.offspring;
        let seconds = |count: u64| grouped(progress.per_minute(count) / 60);
        let mut lines = vec![
            self.row(
                "solved",
                format!(
                    "{} of {}",
                    self.ui.err(GOOD, grouped(progress.solved.len())),
                    counted(progress.tasks.len(), "task")
                ),
            ),
            self.row(
                "closeness",
                self.bars(progress, width.saturating_sub(LABEL)),
            ),
            self.row(
                "offspring",
                format!(
                    "{}: {} a minute, {} a second; {} runs a second",
                    grouped(offspring as usize),
                    self.ui.err(STRONG, grouped(progress.per_minute(offspring))),
                    seconds(offspring),
                    seconds(tally.runs),
                ),
            ),
        ];
        let mut shares = format!(
            "{:.1} % ran without error, {:.1} % gave outputs found before",
            progress.without_error(),
            progress.percent(tally.equal)
        );
        if progress.tally.on_devices > 0 {
            let _ = write!(
                shares,
                ", {:.1} % fell back to the CPU",
                100.0 - on_devices(progress)
            );
        }
        lines.push(self.row("", shares));
        let room = width.saturating_sub(LABEL);
        lines.push(self.row("changes", self.kinds(progress, room)));
        if let Some(path) = &progress.archive {
            let solvers = counted(progress.saved, "new solver");
            lines.push(self.row("saved", format!("{solvers} in {}", shown(path))));
        }
        let last = progress.solved.iter().rev().take(LAST).enumerate();
        for (k, &task) in last {
            if let Some(best) = &progress.best[task] {
                let label = if k == 0 { "last solved" } else { "" };
                let id = self.ui.err(STRONG, name(&progress.tasks[task].id));
                lines.push(self.row(label, format!("{id} {}", describe(best))));
            }
        }
        lines
    }

    fn row(&self, label: &str, text: String) -> String {
        let label = format!("{label:>0$} ", LABEL - 1);
        format!("{}{text}", self.ui.err(DIM, label))
    }

    /// Returns a bar for the best score of each task, the best first. If there are too many tasks,
    /// it returns a selection.
    fn bars(&self, progress: &EvolveProgress, width: usize) -> String {
        let mut scores: Vec<Option<Score>> = progress
            .best
            .iter()
            .map(|best| best.as_ref().map(|best| best.score))
            .collect();
        let height = |score: &Score| (score.is_solved(), score.closeness);
        scores.sort_by_key(|score| std::cmp::Reverse(score.as_ref().map(height)));
        let count = scores.len().min(width.max(1));
        let shown = (0..count).map(|k| scores[k * scores.len() / count]);
        let (done, rest): (Vec<_>, Vec<_>) =
            shown.partition(|score| score.is_some_and(|score| score.is_solved()));
        let text = |scores: &[Option<Score>]| scores.iter().map(bar).collect::<String>();
        format!("{}{}", self.ui.err(GOOD, text(&done)), text(&rest))
    }

    /// Returns the kinds of mutation with the most credit, as many as fit.
    fn kinds(&self, progress: &EvolveProgress, width: usize) -> String {
        let credit = |kind: &MutationKind| progress.tally.credit.paid[kind.index()];
        let mut kinds = MutationKind::ALL;
        kinds.sort_by_key(|kind| std::cmp::Reverse(credit(kind)));
        let mut text = String::new();
        for kind in kinds.iter().filter(|kind| credit(kind) > 0) {
            let share = 100.0 * progress.weights.share(*kind);
            let name = kind.name();
            let next = format!("{name} {} ({share:.0} %)", grouped(credit(kind) as usize));
            if text.len() + next.len() + 2 > width {
                break;
            }
            if !text.is_empty() {
                text += ", ";
            }
            text += &next;
        }
        if text.is_empty() {
            return "nothing yet".to_owned();
        }
        const LEGEND: &str = ": credit (share of tries)";
        if text.len() + LEGEND.len() <= width {
            text += &self.ui.err(DIM, LEGEND);
        }
        text
    }

    /// Draws the task that improved last among those that fit into the room.
    fn picture(&mut self, progress: &EvolveProgress, (width, room): (usize, usize)) -> Vec<String> {
        // The picture needs an empty line, a title, a line of captions and at least two more lines.
        if room < 5 {
            return Vec::new();
        }
        let size = (width, room - 2);
        let candidates = progress.improved.iter().rev().take(8);
        for &task in candidates {
            let Some(best) = &progress.best[task] else {
                continue;
            };
            let known =
                matches!(&self.drawn, Some((hash, at, _)) if *hash == best.hash && *at == size);
            if !known {
                let color = self.ui.err_color();
                let drawn = picture::draw(&progress.tasks[task], &best.program, size, color);
                let text = drawn.map(|(pair, text)| {
                    let title = self.ui.err(STRONG, name(&progress.tasks[task].id));
                    format!("{title} {pair}: {}\n{text}", describe(best))
                });
                self.drawn = Some((best.hash.clone(), size, text));
            }
            if let Some((_, _, Some(text))) = &self.drawn {
                let lines = text.lines().map(str::to_owned);
                return std::iter::once(String::new()).chain(lines).collect();
            }
        }
        Vec::new()
    }
}

/// Returns the style of the line with generation and time, which updates itself.
fn style(deadline: Option<Instant>) -> ProgressStyle {
    let template = "{spinner:.green} {prefix} after {time}{left}\n{msg}";
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    style
        .with_key(
            "time",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = out.write_str(&clock(state.elapsed()));
            },
        )
        .with_key(
            "left",
            move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                if let Some(deadline) = deadline {
                    let left = deadline.saturating_duration_since(Instant::now());
                    let _ = write!(out, ", {} left", clock(left));
                }
            },
        )
}

/// Formats a time: `1:23`, `1:02:03`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Returns the percentage of offspring that devices have run.
pub fn on_devices(progress: &EvolveProgress) -> f64 {
    progress.percent(progress.tally.on_devices)
}

/// Describes a solver: `3 of 4 demonstrations, closeness 0.950, 12 steps, mate in generation 7`.
fn describe(best: &BestSolver) -> String {
    let Score {
        demos_solved,
        demos,
        closeness,
        size,
        ..
    } = best.score;
    let steps = counted(size as usize, "step");
    let made = match best.generation {
        Some(generation) => format!("{} in generation {generation}", best.origin),
        None => format!("{}, from the archive", best.origin),
    };
    match best.score.is_solved() {
        true => format!("{steps}, {made}"),
        false => format!(
            "{demos_solved} of {demos} demonstrations, closeness {:.3}, {steps}, {made}",
            f64::from(closeness) / f64::from(Score::WHOLE),
        ),
    }
}

/// Returns a bar with the height of a score.
fn bar(score: &Option<Score>) -> char {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    match score {
        None => BARS[0],
        Some(score) if score.is_solved() => BARS[7],
        // Only a solved task has a full bar.
        Some(score) => BARS[(score.closeness as usize * 7 / Score::WHOLE as usize).min(6)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks() {
        assert_eq!(clock(Duration::from_secs(83)), "1:23");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
        assert_eq!(clock(Duration::from_millis(900)), "0:00");
    }

    #[test]
    fn bars_are_as_high_as_scores() {
        let score = |solved, closeness| Score {
            demos_solved: solved,
            demos: 2,
            closeness,
            ..Score::default()
        };
        assert_eq!(bar(&None), '▁');
        assert_eq!(bar(&Some(score(0, Score::WHOLE / 2))), '▄');
        assert_eq!(bar(&Some(score(1, Score::WHOLE - 1))), '▇');
        assert_eq!(bar(&Some(score(2, Score::WHOLE))), '█');
    }
}
