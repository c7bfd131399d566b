//! `batt completions`: prints completion scripts and writes manual pages.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::{Shell, generate};

use crate::cli::Exit;
use crate::error::bad_file;
use crate::ui::stdout;

/// Print a completion script for a shell, or write the manual pages
#[derive(Args)]
#[command(after_help = "\
Examples:
  batt completions bash > ~/.local/share/bash-completion/completions/batt
  batt completions zsh > ~/.zfunc/_batt
  batt completions fish > ~/.config/fish/completions/batt.fish
  batt completions --man ~/.local/share/man/man1")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(required_unless_present = "man")]
    shell: Option<Shell>,

    /// Write a manual page for batt and for each command to this folder
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    man: Option<PathBuf>,
}

/// Runs the command.
pub fn main(args: &CompletionsArgs, mut command: Command) -> Result<Exit> {
    if let Some(folder) = &args.man {
        write_man_pages(command, folder)?;
    } else if let Some(shell) = args.shell {
        // The generator panics if writing fails, so it writes to memory first.
        let mut script = Vec::new();
        generate(shell, &mut command, "batt", &mut script);
        let mut out = stdout();
        out.write_all(&script)?;
        out.flush()?;
    }
    Ok(Exit::Good)
}

fn write_man_pages(command: Command, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .map_err(|error| bad_file("write manual pages to", folder, error))
}
