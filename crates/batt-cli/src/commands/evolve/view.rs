//! What is seen while it goes on: a picture of the state on a terminal, lines elsewhere.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use batt_arc::Task;
use batt_evolve::score::WHOLE;
use batt_evolve::{MutationKind, Score};
use console::{Term, truncate_str};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::EvolveArgs;
use super::keeper::{Keeper, News};
use super::picture;
use super::progress::{Change, Event, Progress};
use crate::ui::{DIM, GOOD, STRONG, Ui, counted, grouped};

/// The least time between two lines about generations.
const LINES: Duration = Duration::from_secs(5);

/// Tasks in the list of those solved last.
const LAST: usize = 4;

/// Columns of a label, with the blank after it.
const LABEL: usize = 12;

/// What is seen while it goes on.
pub struct View<'u> {
    ui: &'u Ui,
    /// On a terminal.
    live: Option<ProgressBar>,
    verbose: bool,
    devices: bool,
    started: Instant,
    last_line: Option<Instant>,
    /// The last picture, and of which program it is.
    drawn: Option<(String, (usize, usize), Option<String>)>,
}

impl<'u> View<'u> {
    /// A view on stderr.
    pub fn new(
        args: &EvolveArgs,
        devices: usize,
        deadline: Option<Instant>,
        ui: &'u Ui,
    ) -> View<'u> {
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
            devices: devices > 0,
            started: Instant::now(),
            last_line: None,
            drawn: None,
        }
    }

    /// Shows how far it has come.
    pub fn show(&mut self, progress: &Progress<'_>, keeper: &Keeper) {
        if let Some(bar) = self.live.clone() {
            let (rows, columns) = Term::stderr().size();
            // The last column stays empty: some terminals begin a new line there. And the line above is the template's.
            let size = (
                usize::from(columns).saturating_sub(1).max(20),
                usize::from(rows).saturating_sub(2).max(4),
            );
            bar.set_prefix(match progress.tally.generations {
                0 => "the first generation".to_owned(),
                _ => format!("generation {}", grouped(progress.generation as usize)),
            });
            bar.set_message(self.screen(progress, keeper, size));
        } else {
            self.line(progress, keeper);
        }
    }

    /// Tells what has happened, where that is not seen anyway.
    pub fn tell(&self, news: &News, tasks: &[Task]) {
        match news {
            News::Happened { event, saved } => self.tell_of(event, *saved, tasks),
            News::Late(why) => match &self.live {
                Some(bar) => bar.suspend(|| self.ui.warn(why)),
                None => self.ui.warn(why),
            },
        }
    }

    fn tell_of(&self, event: &Event, saved: Option<bool>, tasks: &[Task]) {
        if self.live.is_some() || !(event.change == Change::Solved || self.verbose) {
            return;
        }
        let what = match event.change {
            Change::Solved => "solved",
            Change::Closer => "closer to",
            Change::Simpler => "simpler",
        };
        let saved = match saved {
            Some(true) => format!("; saved as {}", event.best.hash),
            Some(false) => "; the archive has better ones".to_owned(),
            None => String::new(),
        };
        let task = &tasks[event.task].id;
        let best = event.best.describe();
        self.ui.remark(format_args!("{what} {task}: {best}{saved}"));
    }

    /// It is over.
    pub fn close(&mut self) {
        if let Some(bar) = self.live.take() {
            bar.finish_and_clear();
        }
    }

    fn line(&mut self, progress: &Progress<'_>, keeper: &Keeper) {
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
            grouped(progress.a_minute(progress.tally.offspring)),
            progress.without_error(),
        );
        if self.devices {
            let _ = write!(line, ", {:.0} % on devices", on_devices(progress));
        }
        if keeper.is_open() {
            let _ = write!(line, "; saved {}", counted(keeper.saved(), "solver"));
        }
        self.ui.remark(line);
    }

    /// All that is shown on a terminal, in so many columns and lines.
    fn screen(
        &mut self,
        progress: &Progress<'_>,
        keeper: &Keeper,
        (width, height): (usize, usize),
    ) -> String {
        let mut lines = self.figures(progress, keeper, width);
        lines.truncate(height);
        let room = height - lines.len();
        lines.extend(self.picture(progress, (width, room)));
        let cut = lines.iter().map(|line| truncate_str(line, width, "…"));
        cut.collect::<Vec<_>>().join("\n")
    }

    fn figures(&self, progress: &Progress<'_>, keeper: &Keeper, width: usize) -> Vec<String> {
        let tally = &progress.tally;
        let offspring = tally.offspring;
        let seconds = |count: u64| grouped(progress.a_minute(count) / 60);
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
                    self.ui.err(STRONG, grouped(progress.a_minute(offspring))),
                    seconds(offspring),
                    seconds(tally.runs),
                ),
            ),
        ];
        let mut shares = format!(
            "{:.1} % ran without error, {:.1} % with known outputs",
            progress.without_error(),
            progress.percent(tally.equal)
        );
        if self.devices {
            let _ = write!(
                shares,
                ", {:.1} % left by devices",
                100.0 - on_devices(progress)
            );
        }
        lines.push(self.row("", shares));
        let room = width.saturating_sub(LABEL);
        lines.push(self.row("pays", self.kinds(progress, room)));
        if let Some(path) = keeper.path() {
            let solvers = counted(keeper.saved(), "new solver");
            lines.push(self.row("saved", format!("{solvers} in {}", path.display())));
        }
        let last = progress.solved.iter().rev().take(LAST).enumerate();
        for (k, &task) in last {
            if let Some(best) = &progress.best[task] {
                let label = if k == 0 { "last solved" } else { "" };
                let id = self.ui.err(STRONG, &progress.tasks[task].id);
                lines.push(self.row(label, format!("{id} {}", best.describe())));
            }
        }
        lines
    }

    fn row(&self, label: &str, text: String) -> String {
        let label = format!("{label:>0$} ", LABEL - 1);
        format!("{}{text}", self.ui.err(DIM, label))
    }

    /// A bar for the best score of every task, the best first; where there are too many, for some of them.
    fn bars(&self, progress: &Progress<'_>, width: usize) -> String {
        let mut scores: Vec<Option<Score>> = progress
            .best
            .iter()
            .map(|best| best.as_ref().map(|best| best.score))
            .collect();
        let height = |score: &Score| (score.is_complete(), score.closeness);
        scores.sort_by_key(|score| std::cmp::Reverse(score.as_ref().map(height)));
        let count = scores.len().min(width.max(1));
        let shown = (0..count).map(|k| scores[k * scores.len() / count]);
        let (done, rest): (Vec<_>, Vec<_>) =
            shown.partition(|score| score.is_some_and(|score| score.is_complete()));
        let text = |scores: &[Option<Score>]| scores.iter().map(bar).collect::<String>();
        format!("{}{}", self.ui.err(GOOD, text(&done)), text(&rest))
    }

    /// The kinds of change with the most credit, as many as there is room for.
    fn kinds(&self, progress: &Progress<'_>, width: usize) -> String {
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

    /// The task that got better last and can be drawn in the room there is.
    fn picture(&mut self, progress: &Progress<'_>, (width, room): (usize, usize)) -> Vec<String> {
        // An empty line, a title, the line of captions and at least two of a picture.
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
                let text = drawn.map(|(name, text)| {
                    let title = self.ui.err(STRONG, &progress.tasks[task].id);
                    format!("{title} {name}: {}\n{text}", best.describe())
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

/// The line that moves by itself: generation and time.
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

/// `1:23`, `1:02:03`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Offspring that devices have run, in percent.
pub fn on_devices(progress: &Progress<'_>) -> f64 {
    progress.percent(progress.tally.on_devices)
}

/// A bar as high as a score.
fn bar(score: &Option<Score>) -> char {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    match score {
        None => BARS[0],
        Some(score) if score.is_complete() => BARS[7],
        // What is not solved is never full.
        Some(score) => BARS[(score.closeness as usize * 7 / WHOLE as usize).min(6)],
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
            solved,
            demos: 2,
            closeness,
            ..Score::default()
        };
        assert_eq!(bar(&None), '▁');
        assert_eq!(bar(&Some(score(0, WHOLE / 2))), '▄');
        assert_eq!(bar(&Some(score(1, WHOLE - 1))), '▇');
        assert_eq!(bar(&Some(score(2, WHOLE))), '█');
    }
}
