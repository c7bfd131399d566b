//! Output: data goes to stdout, everything else to stderr, with colours if they are wanted.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::time::Duration;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use anyhow::Error;
use batt::files::without_numbers;
use batt::render::Color;
pub use batt::text::{counted, escaped, grouped, name};
use batt::{Devices, Diagnostic, Severity};
use clap::ValueEnum;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The style of right answers.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// The style of wrong answers and errors.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// The style of warnings.
pub const WARN: Style = AnsiColor::Yellow.on_default().bold();
/// The style of hints and notes.
pub const NOTE: Style = AnsiColor::Cyan.on_default();
/// The style of names and headings.
pub const STRONG: Style = Style::new().bold();
/// The style of less important text.
pub const DIM: Style = Style::new().dimmed();

/// The two output streams of a command, and their options.
pub struct Ui {
    quiet: bool,
    out: Color,
    err: Color,
}

impl Ui {
    /// Decides whether each stream has colours.
    pub fn new(when: ColorWhen, quiet: bool) -> Ui {
        let color = |auto: bool| match when {
            ColorWhen::Always => Color::Always,
            ColorWhen::Auto if auto => Color::Always,
            _ => Color::Never,
        };
        // This considers NO_COLOR, CLICOLOR, TERM and whether the stream is a terminal.
        let wanted = |choice| choice != anstream::ColorChoice::Never;
        Ui {
            quiet,
            out: color(wanted(AutoStream::choice(&io::stdout()))),
            err: color(wanted(AutoStream::choice(&io::stderr()))),
        }
    }

    /// Returns whether stdout has colours.
    pub fn out_color(&self) -> Color {
        self.out
    }

    /// Returns a text for stdout, in a style if stdout has colours.
    pub fn out(&self, style: Style, text: impl Display) -> String {
        paint(self.out, style, text)
    }

    /// Returns a text for stderr, in a style if stderr has colours.
    pub fn err(&self, style: Style, text: impl Display) -> String {
        paint(self.err, style, text)
    }

    /// Prints a note on stderr about something that the user may want to know.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            say(format_args!("{} {}", self.err(NOTE, "note:"), line(&text)));
        }
    }

    /// Prints the notes about opening devices on stderr.
    pub fn device_notes(&self, devices: &Devices) {
        devices.notes().iter().for_each(|note| self.note(note));
    }

    /// Prints a note on stderr that names the first few of some solvers.
    pub fn mention(&self, what: &str, names: &[&str]) {
        const NAMED: usize = 5;
        if names.is_empty() {
            return;
        }
        let shown = names.iter().take(NAMED);
        let mut list = shown.map(|&it| name(it)).collect::<Vec<_>>().join(", ");
        if names.len() > NAMED {
            list += ", ...";
        }
        let count = counted(names.len(), "solver");
        self.note(format_args!("{count} {what}: {list}"));
    }

    /// Prints a warning on stderr about something that the user should know.
    pub fn warn(&self, text: impl Display) {
        say(format_args!(
            "{} {}",
            self.err(WARN, "warning:"),
            line(&text)
        ));
    }

    /// Prints a line of statistics on stderr.
    pub fn remark(&self, text: impl Display) {
        if !self.quiet {
            say(self.err(DIM, line(&text)));
        }
    }

    /// Prints the error that ended the command.
    pub fn report(&self, error: &Error) {
        // The message of a library error includes its cause.
        let text = match error.is::<batt::Error>() {
            true => error.to_string(),
            false => format!("{error:#}"),
        };
        let text = line(&without_numbers(&text));
        say(format_args!("{} {text}", self.err(BAD, "error:")));
        if let Some(hint) = crate::error::hint(error) {
            say(format_args!("{} {}", self.err(NOTE, "hint:"), line(&hint)));
        }
    }

    /// Returns a progress bar on stderr. It is hidden if stderr is not a terminal.
    pub fn progress(&self, total: usize, what: &str) -> ProgressBar {
        let bar = ProgressBar::new(total as u64);
        if self.quiet || !io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let template = "{msg} {wide_bar} {pos}/{len} {eta}";
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.set_message(what.to_owned());
        // A bar that updates itself needs a thread. Without one it moves only with the work.
        if !bar.is_hidden() && std::thread::Builder::new().spawn(|| ()).is_ok() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        bar
    }

    /// Returns a spinner on stderr, for work of unknown length.
    pub fn spinner(&self) -> ProgressBar {
        let bar = self.progress(0, "");
        bar.set_style(ProgressStyle::default_spinner());
        bar
    }

    /// Formats a diagnostic, with its severity in colour.
    pub fn diagnostic(&self, found: &Diagnostic, color: Color) -> String {
        let text = escaped(&found.render(), &['\n', '\t']).into_owned();
        let tag = format!("{}[{}]", found.severity, found.code);
        let style = match found.severity {
            Severity::Error => BAD,
            Severity::Warning => WARN,
            Severity::Info => NOTE,
        };
        text.replacen(&tag, &paint(color, style, &tag), 1)
            .trim_end()
            .to_owned()
    }

    /// Returns whether stderr has colours.
    pub fn err_color(&self) -> Color {
        self.err
    }
}

/// Returns a path with its control characters escaped.
pub fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy(), &[]).into_owned()
}

/// Returns one line of a message. Messages quote names and paths, which may contain any characters.
fn line(text: &impl ToString) -> String {
    let text = text.to_string();
    let text = escaped(&text, &[]);
    let words: Vec<_> = text.split(' ').map(shortened).collect();
    words.join(" ")
}

/// A word, cut in the middle if it is very long: names begin, and paths end, with what tells.
fn shortened(word: &str) -> Cow<'_, str> {
    const LONGEST: usize = 400;
    const SIDE: usize = 120;
    let at = |n: usize| word.char_indices().nth(n).map(|(at, _)| at);
    let count = match word.len() {
        ..=LONGEST => return Cow::Borrowed(word),
        _ => word.chars().count(),
    };
    match (at(SIDE), at(count.saturating_sub(SIDE))) {
        (Some(from), Some(to)) if count > LONGEST => {
            Cow::Owned(format!("{}…{}", &word[..from], &word[to..]))
        }
        _ => Cow::Borrowed(word),
    }
}

/// Returns a buffered stdout. Write errors are returned, so that a closed pipe ends the command
/// quietly.
pub fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Prints a line on stderr. A write error is ignored, because it is no reason to stop.
pub fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn paint(color: Color, style: Style, text: impl Display) -> String {
    match color {
        Color::Always => format!("{style}{text}{style:#}"),
        Color::Never => text.to_string(),
    }
}

/// Creates a table without lines, as wide as the terminal allows. The columns in `numbers` are
/// right-aligned.
pub fn table(header: &[&str], numbers: &[usize]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    // A terminal that does not know its size says 0.
    if table.width() == Some(0) {
        table.set_width(100);
    }
    if !header.is_empty() {
        table.set_header(header.iter().copied());
    }
    for column in numbers {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Returns the text of a table, without blanks at the ends of lines.
pub fn table_text(table: &Table) -> String {
    let mut out = String::new();
    for line in table.lines() {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// Writes the line below a table that shows only the first rows.
pub fn rest(out: &mut impl Write, all: usize, shown: usize) -> io::Result<()> {
    match all.saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, " ... and {} more (--verbose lists all)", grouped(more)),
    }
}

/// Returns a rate per second, with thousands separators.
pub fn rate(n: usize, time: Duration) -> String {
    let rate = n as f64 / time.as_secs_f64().max(1e-9);
    grouped(rate.round() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_control_the_terminal() {
        assert_eq!(shown(Path::new("a/\u{1b}b")), "a/\\u{1b}b");
        assert_eq!(line(&"no task 'é\n'"), "no task 'é\\n'");
        let message = line(&format!("no file {}/a.py here", "é".repeat(5_000)));
        assert!(message.chars().count() < 300, "{message}");
        assert!(message.starts_with("no file éé") && message.ends_with("é/a.py here"));
    }

    #[test]
    fn tables_are_plain_text() {
        let mut t = table(&["solver", "us"], &[1]);
        t.add_row(["a", "1.5"]);
        t.add_row(["longer", "12.0"]);
        assert_eq!(
            table_text(&t),
            " solver    us\n a        1.5\n longer  12.0\n"
        );
    }
}
