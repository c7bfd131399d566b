//! Benchmarks for work on the engine itself. Users measure with `batt bench`.
//!
//! ```text
//!   cargo run --release -p batt-bench -- readme
//!   cargo run --release -p batt-bench -- mega --solvers solvers.py --tasks data/training
//! ```
//!
//! Tables go to stdout, or with `--json` one JSON object; notes go to stderr. The exit code is 0, 1
//! if results differ between two sides, 2 on an error, and 130 after Ctrl-C.

mod corpus;
mod device;
mod devices;
mod host;
mod interrupt;
mod mega;
mod memory;
mod mutants;
mod options;
mod prepare;
mod readme;
mod soak;
mod targets;
mod text;
mod tokpidjin;
mod turns;
mod wave_targets;
mod waves;

use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use clap::{Parser, Subcommand};
use mimalloc::MiMalloc;

use self::options::hint_of;

/// The allocator of the `batt` command, so that measurements match it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The stack size of the main thread. Values and calls may nest a thousand deep, and printing and
/// dropping them recurses as deep.
const STACK: usize = 32 << 20;

/// Measure the engine
#[derive(Parser)]
#[command(name = "batt-bench", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Readme(readme::ReadmeArgs),
    Mega(mega::MegaArgs),
    Device(device::DeviceArgs),
    Waves(waves::WavesArgs),
    Targets(targets::TargetsArgs),
    Soak(soak::SoakArgs),
    Host(host::HostArgs),
    Tokpidjin(tokpidjin::TokpidjinArgs),
    Mutants(mutants::MutantsArgs),
    Prepare(prepare::PrepareArgs),
}

fn main() -> ExitCode {
    let thread = thread::Builder::new().stack_size(STACK).spawn(run);
    match thread.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic has been reported.
        Ok(Err(_)) => ExitCode::from(2),
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> ExitCode {
    let cli = Cli::parse();
    interrupt::watch();
    match dispatch(cli.command) {
        Ok(true) if interrupt::happened() => ExitCode::from(130),
        Ok(good) => ExitCode::from(u8::from(!good)),
        Err(error) => {
            eprintln!("error: {error:#}");
            if let Some(hint) = hint_of(&error) {
                eprintln!("hint: {hint}");
            }
            ExitCode::from(2)
        }
    }
}

/// Runs a benchmark. Returns whether all sides agree.
fn dispatch(command: Command) -> Result<bool> {
    match command {
        Command::Readme(args) => readme::main(&args),
        Command::Mega(args) => mega::main(&args),
        Command::Device(args) => device::main(&args),
        Command::Waves(args) => waves::main(&args),
        Command::Targets(args) => targets::main(&args),
        Command::Soak(args) => soak::main(&args),
        Command::Host(args) => host::main(&args),
        Command::Tokpidjin(args) => tokpidjin::main(&args),
        Command::Mutants(args) => mutants::main(&args),
        Command::Prepare(args) => prepare::main(&args),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
