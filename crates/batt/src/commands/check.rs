//! stub
use crate::cli::Exit;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
/// stub
#[derive(Args)]
pub struct CheckArgs {}
/// stub
pub fn main(_: &CheckArgs, _: &Ui) -> Result<Exit> { Ok(Exit::Good) }
