//! stub
use crate::cli::Exit;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
/// stub
#[derive(Args)]
pub struct FmtArgs {}
/// stub
pub fn main(_: &FmtArgs, _: &Ui) -> Result<Exit> { Ok(Exit::Good) }
