//! stub
use clap::Args;
/// stub
#[derive(Args)]
pub struct ReadmeArgs {}
pub fn main(_: &ReadmeArgs) -> anyhow::Result<bool> {
    Ok(true)
}
