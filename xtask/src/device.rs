//! Compiles the device source for every card we name. That takes a compiler, but no card.

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use batt_cuda::source::{PROBE, Source, VM};
use batt_cuda::{Arch, Compilation, Image, Nvrtc, Options, Places};

/// Compiles for the architectures named, or for all.
pub fn compile(words: &[&str]) -> Result<ExitCode> {
    let verbose = words.contains(&"--ptxas");
    let named: Vec<Arch> = words
        .iter()
        .filter(|&&word| word != "--ptxas")
        .map(|word| word.parse().map_err(|error: String| anyhow!(error)))
        .collect::<Result<_>>()?;
    let nvrtc = Nvrtc::find(&Places::from_env(), None)?;
    println!("NVRTC {} ({})", nvrtc.version(), nvrtc.path().display());
    let archs = if named.is_empty() {
        Arch::NAMED.to_vec()
    } else {
        named
    };
    let options = Options {
        verbose,
        ..Options::default()
    };
    let mut failed = false;
    for files in [PROBE, VM] {
        for &arch in &archs {
            failed |= !one(&nvrtc, files, arch, options);
        }
    }
    Ok(ExitCode::from(u8::from(failed)))
}

/// Compiles for one architecture and says how that went.
fn one(nvrtc: &Nvrtc, files: &[Source], arch: Arch, options: Options) -> bool {
    let Some(main) = files.first() else {
        return true;
    };
    let what = format!("{:9} {:7}", main.name, arch.to_string());
    // Compilers drop old cards and do not know new ones; what is left is their business.
    if !nvrtc.archs().contains(&arch) {
        println!("{what} not known to this compiler");
        return true;
    }
    match nvrtc.compile(files, arch, options) {
        Ok(Compilation { image, log, time }) => {
            let bytes = image.bytes().len();
            println!(
                "{what} {:7.2} s {bytes:9} bytes of {}",
                time.as_secs_f64(),
                image.kind()
            );
            let log = log.trim_end_matches('\0').trim();
            if !log.is_empty() {
                println!("{log}");
            }
            matches!(image, Image::Cubin(_))
        }
        Err(error) => {
            eprintln!("{what} {error}");
            false
        }
    }
}
