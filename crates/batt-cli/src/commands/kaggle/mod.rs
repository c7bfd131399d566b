//! `batt kaggle`: makes a folder with everything that a Kaggle notebook needs.

mod bundle;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::cli::Exit;
use crate::ui::Ui;

/// Pack batt for Kaggle
#[derive(Args)]
#[command(after_help = "\
Examples:
  batt kaggle bundle -o bundle --user me
  batt kaggle bundle -o bundle --time 11h --archive batt.sqlite --solvers solvers.py")]
pub struct KaggleArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bundle(bundle::BundleArgs),
}

/// Runs the command.
pub fn main(args: &KaggleArgs, ui: &Ui) -> Result<Exit> {
    match &args.command {
        Command::Bundle(args) => bundle::main(args, ui),
    }
}
