//! `batt completions`: the command line for shells that complete it.

use std::io::Write;

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::{Shell, generate};

use crate::cli::Exit;
use crate::ui::stdout;

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  batt completions bash > ~/.local/share/bash-completion/completions/batt
  batt completions zsh > ~/.zfunc/_batt
  batt completions fish > ~/.config/fish/completions/batt.fish")]
pub struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

/// Runs the command.
pub fn main(args: &CompletionsArgs, command: &mut Command) -> Result<Exit> {
    // The generator panics when it cannot write, so it writes to memory first.
    let mut script = Vec::new();
    generate(args.shell, command, "batt", &mut script);
    let mut out = stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Good)
}
