//! stub
use crate::cli::Exit;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
/// stub
#[derive(Args)]
pub struct DemoArgs {}
/// stub
pub fn main(_: &DemoArgs, _: &Ui) -> Result<Exit> { Ok(Exit::Good) }
