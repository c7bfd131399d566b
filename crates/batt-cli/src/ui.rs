//! Output: data to stdout, everything else to stderr, colours where they are wanted.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::time::Duration;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use anyhow::Error;
use batt::render::Color;
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

/// Right answers.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Wrong answers and errors.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Warnings.
pub const WARN: Style = AnsiColor::Yellow.on_default().bold();
/// Advice and notes.
pub const NOTE: Style = AnsiColor::Cyan.on_default();
/// Names and headings.
pub const STRONG: Style = Style::new().bold();
/// What is there but matters less.
pub const DIM: Style = Style::new().dimmed();

/// The two streams of a command and how to write to them.
pub struct Ui {
    quiet: bool,
    out: Color,
    err: Color,
}

impl Ui {
    /// Decides on colours once, for both streams.
    pub fn new(when: ColorWhen, quiet: bool) -> Ui {
        let color = |auto: bool| match when {
            ColorWhen::Always => Color::Always,
            ColorWhen::Auto if auto => Color::Always,
            _ => Color::Never,
        };
        // NO_COLOR, CLICOLOR, TERM and whether it is a terminal at all.
        let wanted = |choice| choice != anstream::ColorChoice::Never;
        Ui {
            quiet,
            out: color(wanted(AutoStream::choice(&io::stdout()))),
            err: color(wanted(AutoStream::choice(&io::stderr()))),
        }
    }

    /// Whether stdout is in colour.
    pub fn out_color(&self) -> Color {
        self.out
    }

    /// Text for stdout, in a style if colours are on.
    pub fn out(&self, style: Style, text: impl Display) -> String {
        paint(self.out, style, text)
    }

    /// Text for stderr, in a style if colours are on.
    pub fn err(&self, style: Style, text: impl Display) -> String {
        paint(self.err, style, text)
    }

    /// Something the user may want to know, on stderr.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            say(format_args!("{} {}", self.err(NOTE, "note:"), line(&text)));
        }
    }

    /// What happened when devices were opened, on stderr.
    pub fn device_notes(&self, devices: &Devices) {
        devices.notes().iter().for_each(|note| self.note(note));
    }

    /// Solvers that the user may want to know something about, on stderr; the first few by name.
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

    /// Something the user should know, on stderr.
    pub fn warn(&self, text: impl Display) {
        say(format_args!(
            "{} {}",
            self.err(WARN, "warning:"),
            line(&text)
        ));
    }

    /// A line of statistics, on stderr.
    pub fn remark(&self, text: impl Display) {
        if !self.quiet {
            say(self.err(DIM, line(&text)));
        }
    }

    /// The error that ended the command.
    pub fn report(&self, error: &Error) {
        // An error of the library names its cause itself.
        let text = match error.is::<batt::Error>() {
            true => line(&error.to_string()),
            false => line(&format!("{error:#}")),
        };
        say(format_args!("{} {text}", self.err(BAD, "error:")));
        if let Some(hint) = crate::error::hint(error) {
            say(format_args!("{} {}", self.err(NOTE, "hint:"), line(&hint)));
        }
    }

    /// A progress bar on stderr, or nothing where stderr is no terminal.
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
        // A bar that moves by itself has a thread. Without one it moves when the work does.
        if !bar.is_hidden() && std::thread::Builder::new().spawn(|| ()).is_ok() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        bar
    }

    /// A sign of life on stderr for work of unknown length.
    pub fn spinner(&self) -> ProgressBar {
        let bar = self.progress(0, "");
        bar.set_style(ProgressStyle::default_spinner());
        bar
    }

    /// A finding in a solver file, its severity in colour.
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

    /// Whether stderr is in colour.
    pub fn err_color(&self) -> Color {
        self.err
    }
}

/// A task id, a solver name or another name from a file, as it may be printed: without control
/// characters, and cut where it is very long. JSON has the exact name.
pub fn name(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 60;
    let text = escaped(text, &[]);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => text,
    }
}

/// A path, as it may be printed.
pub fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy(), &[]).into_owned()
}

/// One line of a message. Messages quote names and paths, which may hold anything.
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

/// A text with its control characters escaped, except for some. A name must not be able to move the
/// cursor, change colours or begin a line of its own.
pub fn escaped<'t>(text: &'t str, keep: &[char]) -> Cow<'t, str> {
    let moves = |c: char| {
        // Besides the controls there are marks that turn the direction of text or are invisible.
        let marks = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
        (c.is_control() || marks) && !keep.contains(&c)
    };
    if !text.contains(moves) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match moves(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Buffered stdout. Write errors come back as errors, so that a closed pipe ends us quietly.
pub fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// A line on stderr. That it cannot be written is no reason to stop.
pub fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn paint(color: Color, style: Style, text: impl Display) -> String {
    match color {
        Color::Always => format!("{style}{text}{style:#}"),
        Color::Never => text.to_string(),
    }
}

/// A table without lines, as wide as the terminal allows; the columns named are numbers.
pub fn table(header: &[&str], numbers: &[usize]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
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

/// The text of a table; no line ends in blanks.
pub fn table_text(table: &Table) -> String {
    let mut out = String::new();
    for line in table.lines() {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// The line below a table of which only the first rows are shown.
pub fn rest(out: &mut impl Write, all: usize, shown: usize) -> io::Result<()> {
    match all.saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, " ... and {} more (--verbose lists all)", grouped(more)),
    }
}

/// `1 task`, `2 tasks`.
pub fn counted(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", grouped(n)),
    }
}

/// A number with commas: `687,200`.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rate per second, with commas.
pub fn rate(n: usize, time: Duration) -> String {
    let rate = n as f64 / time.as_secs_f64().max(1e-9);
    grouped(rate.round() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1234567, "1,234,567"),
        ] {
            assert_eq!(grouped(n), text);
        }
        assert_eq!(counted(1, "pair"), "1 pair");
        assert_eq!(counted(2000, "pair"), "2,000 pairs");
    }

    #[test]
    fn names_cannot_control_the_terminal() {
        assert_eq!(name("solve_1673c3ec"), "solve_1673c3ec");
        assert_eq!(name("grün 网格"), "grün 网格");
        assert_eq!(name("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\\nc");
        assert_eq!(name("\u{9b}2J\u{202e}"), "\\u{9b}2J\\u{202e}");
        let long = "é".repeat(100);
        assert_eq!(name(&long).chars().count(), 61);
        assert_eq!(escaped("a\n\tb\r", &['\n', '\t']), "a\n\tb\\r");
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
