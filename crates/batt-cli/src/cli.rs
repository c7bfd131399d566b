//! The command line: what can be said, and which command it is for.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::process::ExitCode;

use anyhow::Result;
use batt::{Dialect, Limits};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::commands::{
    archive, bench, card, check, completions, conformance, demo, device, eval, evolve, extract,
    fmt, kaggle, mega, ops, profile, run, score, submit,
};
use crate::error::{advised, reason};
use crate::ui::{ColorWhen, Ui, escaped};
use crate::{error, interrupt};

/// Run ARC puzzle programs exactly like Python, only faster.
#[derive(Parser)]
#[command(
    name = "batt",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  batt demo                                  see it work, on puzzles that are built in
  batt run solvers.py --tasks data/training  run every solver on its task
  batt eval solvers.py::solve_1673c3ec --task data/1673c3ec.json --trace

Exit codes:
  0    all good
  1    findings: unsolved pairs, differences, errors in a solver
  2    an error that kept the command from its work
  130  ended by Ctrl-C; what was done until then is kept
  143  ended by SIGTERM, 129 by SIGHUP, in the same way

A second Ctrl-C or signal ends the command at once."
)]
pub struct Cli {
    /// When to use colours: auto, always or never; NO_COLOR is respected
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    color: ColorWhen,

    /// Say less: no progress and no notes on stderr
    #[arg(short, long, global = true)]
    quiet: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Run(run::RunArgs),
    Eval(eval::EvalArgs),
    Card(card::CardArgs),
    Mega(mega::MegaArgs),
    Evolve(evolve::EvolveArgs),
    Extract(extract::ExtractArgs),
    Profile(profile::ProfileArgs),
    Submit(submit::SubmitArgs),
    Score(score::ScoreArgs),
    Kaggle(kaggle::KaggleArgs),
    Archive(archive::ArchiveArgs),
    Check(check::CheckArgs),
    Fmt(fmt::FmtArgs),
    Ops(ops::OpsArgs),
    Conformance(conformance::ConformanceArgs),
    Bench(bench::BenchArgs),
    Device(device::DeviceArgs),
    Completions(completions::CompletionsArgs),
}

/// What a command came to when it did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All good.
    Good,
    /// It found something: unsolved pairs, differences, errors in a solver.
    Findings,
    /// Ctrl-C or a signal ended it early.
    Interrupted,
}

impl Exit {
    /// `Findings` if there are any.
    pub fn findings(found: bool) -> Exit {
        if found { Exit::Findings } else { Exit::Good }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Good => 0,
            Exit::Findings => 1,
            Exit::Interrupted => interrupt::exit_code(),
        })
    }
}

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    let (ui, result) = match Cli::try_parse() {
        Ok(cli) => {
            let ui = Ui::new(cli.color, cli.quiet);
            let result = dispatch(cli.command, &ui);
            (ui, result)
        }
        Err(message) if message.use_stderr() => escaped_message(message).exit(),
        // Help and versions are output: that they cannot be written is an error like any other.
        Err(help) => {
            let written = help.print().and_then(|()| io::stdout().flush());
            let result = written.map(|()| Exit::Good).map_err(Into::into);
            (Ui::new(ColorWhen::Auto, false), result)
        }
    };
    match result {
        Ok(exit) => exit.into(),
        // The reader has seen enough: `batt ops | head`.
        Err(error) if error::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui.report(&with_context(error));
            ExitCode::from(2)
        }
    }
}

/// Says what could not be done where only the system's message is known: to write the output, as
/// errors about files name them.
fn with_context(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<io::Error>() {
        Some(cause) if error.chain().count() == 1 => advised(
            format_args!("cannot write the output: {}", reason(cause)),
            "check where the output goes",
        ),
        _ => error,
    }
}

/// Returns the error about the command line with the control characters of its arguments escaped:
/// that of the escaped command line, if it is the same.
fn escaped_message(message: clap::Error) -> clap::Error {
    let args = std::env::args_os();
    let args = args.map(|arg| escaped(&arg.to_string_lossy(), &[]).into_owned());
    match Cli::try_parse_from(args) {
        Err(escaped) if escaped.kind() == message.kind() => escaped,
        _ => message,
    }
}

fn dispatch(command: Command, ui: &Ui) -> Result<Exit> {
    match command {
        Command::Demo(args) => demo::main(&args, ui),
        Command::Run(args) => run::main(&args, ui),
        Command::Eval(args) => eval::main(&args, ui),
        Command::Card(args) => card::main(&args, ui),
        Command::Mega(args) => mega::main(&args, ui),
        Command::Evolve(args) => evolve::main(&args, ui),
        Command::Extract(args) => extract::main(&args, ui),
        Command::Profile(args) => profile::main(&args, ui),
        Command::Submit(args) => submit::main(&args, ui),
        Command::Score(args) => score::main(&args, ui),
        Command::Kaggle(args) => kaggle::main(&args, ui),
        Command::Archive(args) => archive::main(&args, ui),
        Command::Check(args) => check::main(&args, ui),
        Command::Fmt(args) => fmt::main(&args, ui),
        Command::Ops(args) => ops::main(&args, ui),
        Command::Conformance(args) => conformance::main(&args, ui),
        Command::Bench(args) => bench::main(&args, ui),
        Command::Device(args) => device::main(&args, ui),
        Command::Completions(args) => completions::main(&args, Cli::command()),
    }
}

/// The dialect, as it is called on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DialectName {
    /// Whatever the names in the file tell
    #[default]
    Auto,
    /// The original library
    ArcDsl,
    /// RE-ARC's copy: argmax and argmin of nothing give None
    ReArc,
    /// The fork made for search: (S, I, C), cells (i, j, colour), nothing fails
    Tokpidjin,
}

impl DialectName {
    /// The dialect; `None` where the file is to tell.
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            DialectName::Auto => None,
            DialectName::ArcDsl => Some(Dialect::ArcDsl),
            DialectName::ReArc => Some(Dialect::ReArc),
            DialectName::Tokpidjin => Some(Dialect::Tokpidjin),
        }
    }
}

/// Options of every command that runs programs.
#[derive(Args, Clone, Debug)]
pub struct RunOptions {
    /// Which library the solvers are written for
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,

    /// Steps one run may take (a call, or an element touched)
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Limits of one run")]
    max_steps: Option<u64>,

    /// Elements one value may have
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Limits of one run")]
    max_size: Option<usize>,

    /// Memory all values together may take; K, M and G are understood
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Limits of one run")]
    max_memory: Option<usize>,
}

impl RunOptions {
    /// The dialect of the solvers; `None` where the files are to tell.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect.dialect()
    }

    /// The limits of one run.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            steps: self.max_steps.unwrap_or(usual.steps),
            size: self.max_size.unwrap_or(usual.size),
            memory: self.max_memory.unwrap_or(usual.memory),
            ..usual
        }
    }
}

/// The number of threads, an option of every command with threads.
#[derive(Args, Clone, Copy, Debug)]
pub struct Jobs {
    /// Threads, at most 4 per core or 16 [default: one per core]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

impl Jobs {
    /// The threads to use; `None` for one per core. The library never starts more than 4 per core
    /// or 16; a note says so.
    pub fn threads(self, ui: &Ui) -> Option<NonZeroUsize> {
        let wanted = self.jobs?;
        let most = batt::most_workers();
        if wanted.get() > most {
            ui.note(format_args!(
                "--jobs {wanted} is too many for this machine; at most {most} threads run"
            ));
        }
        Some(wanted)
    }
}

/// A number from 1 on.
fn positive(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("nothing runs within a limit of 0; write at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("write a number from 1 on".to_owned()),
    }
}

/// A number of elements, from 1 on.
fn count(text: &str) -> Result<usize, String> {
    let number = positive(text)?;
    usize::try_from(number).map_err(|_| "more than the machine can address".to_owned())
}

/// `1024`, `64K`, `256M`, `1G`.
fn bytes(text: &str) -> Result<usize, String> {
    let upper = text.to_ascii_uppercase();
    let upper = upper.strip_suffix('B').unwrap_or(&upper);
    let (digits, shift) = match upper.as_bytes().last() {
        Some(b'K') => (&upper[..upper.len() - 1], 10),
        Some(b'M') => (&upper[..upper.len() - 1], 20),
        Some(b'G') => (&upper[..upper.len() - 1], 30),
        _ => (upper, 0),
    };
    let number: usize = digits
        .parse()
        .map_err(|_| "write a number of bytes, such as 1000000 or 256M".to_owned())?;
    if number == 0 {
        return Err("nothing runs within a limit of 0; write at least 1".to_owned());
    }
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| "more than the machine can address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string);
            let name = command.get_name();
            assert!(
                help.is_some_and(|help| help.contains(&format!("batt {name}"))),
                "{name}"
            );
        }
    }

    #[test]
    fn byte_counts() {
        assert_eq!(bytes("1000"), Ok(1000));
        assert_eq!(bytes("64k"), Ok(65536));
        assert_eq!(bytes("2MB"), Ok(2 << 20));
        assert_eq!(bytes("1G"), Ok(1 << 30));
        for bad in ["", "M", "-1", "0", "0K", "many", "99999999999G"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
