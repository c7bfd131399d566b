//! stub
use crate::cli::Exit;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
/// stub
#[derive(Args)]
pub struct EvalArgs {}
/// stub
pub fn main(_: &EvalArgs, _: &Ui) -> Result<Exit> { Ok(Exit::Good) }
