//! stub
use crate::cli::Exit;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
/// stub
#[derive(Args)]
pub struct OpsArgs {}
/// stub
pub fn main(_: &OpsArgs, _: &Ui) -> Result<Exit> { Ok(Exit::Good) }
