//! stub
use crate::cli::Exit;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
/// stub
#[derive(Args)]
pub struct BenchArgs {}
/// stub
pub fn main(_: &BenchArgs, _: &Ui) -> Result<Exit> { Ok(Exit::Good) }
