//! The command `batt`. Its code is the library `batt_cli`.

use std::process::ExitCode;

use batt_cli::Allocator;

/// The allocator. Evolution allocates and frees megabytes of graphs on every core at once, and the
/// system's allocator would return them to the system each time.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    ExitCode::from(batt_cli::run(std::env::args_os()))
}
