//! stub
use crate::cli::Exit;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
/// stub
#[derive(Args)]
pub struct ConformanceArgs {}
/// stub
pub fn main(_: &ConformanceArgs, _: &Ui) -> Result<Exit> { Ok(Exit::Good) }
