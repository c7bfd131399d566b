//! The command line: its commands, global options and shared options.

use std::ffi::OsString;
use std::io::{self, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;

use anyhow::Result;
use batt::mega::Existing;
use batt::{Dialect, Limits};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::commands::{
    archive, bench, card, check, completions, conformance, demo, device, eval, evolve, extract,
    fmt, kaggle, mega, merge, ops, profile, run, score, show, submit,
};
use crate::ui::{ColorWhen, Ui, counted, escaped, grouped};
use crate::{error, interrupt, numbers};

/// What the help says about the program.
pub const ABOUT: &str = "Run ARC puzzle programs exactly like Python, only faster";

#[derive(Parser)]
#[command(
    name = "batt",
    // Not the first argument: in a Python package that is the path of a script.
    bin_name = "batt",
    version,
    about = ABOUT,
    arg_required_else_help = true,
    after_help = "\
Examples:
  batt demo                                  solve the built-in puzzles
  batt run solvers.py --tasks data/training  run every solver on its task
  batt eval solvers.py::solve_1673c3ec --task data/1673c3ec.json --trace

Exit codes:
  0    success
  1    findings: unsolved pairs, differences, errors in a solver
  2    an error prevented the work
  130  interrupted by Ctrl-C; results so far are kept
  143  interrupted by SIGTERM, likewise; 129 by SIGHUP

A second Ctrl-C or signal ends the command at once."
)]
pub struct Cli {
    /// Colours: auto, always or never; auto obeys NO_COLOR
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    color: ColorWhen,

    /// Print no progress and no notes on stderr
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
    Show(show::ShowArgs),
    Card(card::CardArgs),
    Mega(mega::MegaArgs),
    Merge(merge::MergeArgs),
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

/// The result of a command that completed its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing was found.
    Good,
    /// The command has findings: unsolved pairs, differences, errors in a solver.
    Findings,
    /// Ctrl-C or a signal ended the command early.
    Interrupted,
}

impl Exit {
    /// Returns `Findings` if there are any, otherwise `Good`.
    pub fn findings(found: bool) -> Exit {
        if found { Exit::Findings } else { Exit::Good }
    }
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Findings => 1,
            Exit::Interrupted => interrupt::exit_code(),
        }
    }
}

/// Parses the command line, runs the command and returns its exit code.
pub fn main(args: Vec<OsString>) -> u8 {
    let (ui, result) = match parse(&args) {
        Ok(cli) => {
            let ui = Ui::new(cli.color, cli.quiet);
            let result = dispatch(cli.command, &ui);
            (ui, result)
        }
        Err(message) if message.use_stderr() => {
            // An error on stderr cannot be reported anywhere else.
            let _ = escaped_message(message, &args).print();
            return 2;
        }
        // Failing to write help or a version is an error like any other.
        Err(help) => {
            let written = help.print().and_then(|()| io::stdout().flush());
            let result = written.map(|()| Exit::Good).map_err(Into::into);
            (Ui::new(ColorWhen::Auto, false), result)
        }
    };
    match result {
        Ok(exit) => exit.code(),
        // The reader has closed the pipe, as in `batt ops | head`.
        Err(error) if error::is_broken_pipe(&error) => 0,
        Err(error) => {
            ui.report(&error::named(error));
            2
        }
    }
}

fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = with_negative_numbers(Cli::command());
    let matches = command.try_get_matches_from_mut(args);
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    cli.map_err(|error| error.format(&mut command))
}

/// Lets every option take a negative number: `--seed -1` is a bad number, not an unknown option.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| match arg.get_action().takes_values() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    });
    command.mut_subcommands(with_negative_numbers)
}

/// Returns an error about the command line with the control characters of its arguments escaped:
/// the error about the escaped command line, if it is of the same kind.
fn escaped_message(message: clap::Error, args: &[OsString]) -> clap::Error {
    let escape = |arg: &OsString| escaped(&arg.to_string_lossy(), &[]).into_owned().into();
    let args: Vec<OsString> = args.iter().map(escape).collect();
    match parse(&args) {
        Err(escaped) if escaped.kind() == message.kind() => escaped,
        _ => message,
    }
}

fn dispatch(command: Command, ui: &Ui) -> Result<Exit> {
    match command {
        Command::Demo(args) => demo::main(&args, ui),
        Command::Run(args) => run::main(&args, ui),
        Command::Eval(args) => eval::main(&args, ui),
        Command::Show(args) => show::main(&args, ui),
        Command::Card(args) => card::main(&args, ui),
        Command::Mega(args) => mega::main(&args, ui),
        Command::Merge(args) => merge::main(&args, ui),
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

/// A dialect by its name on the command line, or `auto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DialectName {
    /// Detect the dialect
    #[default]
    Auto,
    /// The original library
    ArcDsl,
    /// RE-ARC's copy: argmax and argmin of an empty container give None
    ReArc,
    /// The fork for search: solvers take (S, I, C), cells are (i, j, colour), no primitive fails
    Tokpidjin,
}

impl DialectName {
    /// Returns the dialect; `None` detects it from the file.
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            DialectName::Auto => None,
            DialectName::ArcDsl => Some(Dialect::ArcDsl),
            DialectName::ReArc => Some(Dialect::ReArc),
            DialectName::Tokpidjin => Some(Dialect::Tokpidjin),
        }
    }
}

/// The heading of the limits in the help.
const LIMITS: &str = "Limits of one run";

/// Options of every command that runs programs.
#[derive(Args, Clone, Debug)]
pub struct RunOptions {
    /// The library for which the solvers are written
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,

    /// Steps of a run: a call is a step, and so is each element it visits [default: 3,000,000]
    #[arg(long, value_name = "N", value_parser = numbers::from_one::<NonZeroU64>)]
    #[arg(help_heading = LIMITS)]
    max_steps: Option<NonZeroU64>,

    /// Elements of one value [default: 4,000,000]
    #[arg(long, value_name = "N", value_parser = numbers::from_one::<NonZeroUsize>)]
    #[arg(help_heading = LIMITS)]
    max_size: Option<NonZeroUsize>,

    /// Bytes that all values together may take; K, M and G are units [default: 16M]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes, help_heading = LIMITS)]
    max_memory: Option<usize>,
}

impl RunOptions {
    /// Returns the dialect of the solvers; `None` detects it from the files.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect.dialect()
    }

    /// Returns the limits of one run.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            steps: self.max_steps.map_or(usual.steps, NonZeroU64::get),
            size: self.max_size.map_or(usual.size, NonZeroUsize::get),
            memory: self.max_memory.unwrap_or(usual.memory),
            ..usual
        }
    }
}

/// The option for the number of threads.
#[derive(Args, Clone, Copy, Debug)]
pub struct Jobs {
    /// Threads, at most 4 per core or 16 [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = numbers::from_one::<NonZeroUsize>)]
    jobs: Option<NonZeroUsize>,
}

impl Jobs {
    /// Returns the number of threads; `None` uses one per core. Prints a note if the number is
    /// above the library's maximum of 4 per core or 16.
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

/// The note about results that `--resume` continues.
pub const KEPT: &str = "the results so far are kept; the same command with --resume continues";

/// Returns how the options treat results of an earlier run.
pub fn existing(resume: bool, overwrite: bool) -> Existing {
    match (resume, overwrite) {
        (true, _) => Existing::Resume,
        (_, true) => Existing::Overwrite,
        _ => Existing::Refuse,
    }
}

/// Prints a note about what `--resume` found.
pub fn note_resumed(planned: usize, resumed: usize, was_finished: bool, ui: &Ui) {
    let runs = counted(planned, "run");
    ui.note(match (was_finished, resumed) {
        (true, _) => format!("nothing to do: the file has the results of all {runs}"),
        (false, 0) => "there are no unfinished results; starting from the beginning".to_owned(),
        (false, done) => format!("continuing after {} of {runs}", grouped(done)),
    });
}

/// Returns the file of a part. A part on stdout could not be merged.
pub fn part_file(file: Option<&Path>) -> Result<&Path> {
    file.ok_or_else(|| {
        let message = "--shard needs a file, and the results go to stdout";
        error::advised(message, "name a file with --output")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        with_negative_numbers(Cli::command()).debug_assert();
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

    /// Calls a function with the name and the help of a command and of all commands below it.
    fn with_help(command: &mut clap::Command, each: &mut impl FnMut(&str, &str)) {
        let help = command.render_long_help().to_string();
        let after = command.get_after_help().map(ToString::to_string);
        each(command.get_name(), &(help + &after.unwrap_or_default()));
        for inner in command.get_subcommands_mut() {
            with_help(inner, each);
        }
    }

    #[test]
    fn help_is_not_wrapped_a_second_time() {
        with_help(&mut Cli::command(), &mut |name, help| {
            for line in help.lines() {
                assert!(line.chars().count() <= 100, "{name}: {line}");
            }
        });
    }

    #[test]
    fn help_names_the_limits() {
        let limits = Limits::default();
        let texts = [
            format!("visits [default: {}]", grouped(limits.steps as usize)),
            format!("one value [default: {}]", grouped(limits.size)),
            format!("units [default: {}M]", limits.memory >> 20),
        ];
        let worth = format!("{} runs", grouped(batt::RUNS_WORTH_A_DEVICE));
        with_help(&mut Cli::command(), &mut |name, help| {
            if matches!(name, "run" | "mega") {
                let help: Vec<&str> = help.split_whitespace().collect();
                assert!(help.join(" ").contains(&worth), "{name}: no {worth:?}");
            }
            if matches!(name, "run" | "eval" | "mega" | "profile") {
                for text in &texts {
                    assert!(help.contains(text), "{name}: no {text:?}");
                }
            }
        });
    }
}
