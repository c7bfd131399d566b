//! Compiles the device source for every supported GPU architecture. That needs NVRTC, but no GPU.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use anyhow::{Result, anyhow};
use batt_cuda::source::{PROBE, Source, VM, waves};
use batt_cuda::{Arch, Compilation, Nvrtc, NvrtcOptions, Places};

/// Compiles the device source for the given architectures, or for all.
pub fn compile(words: &[&str]) -> Result<ExitCode> {
    let options = NvrtcOptions {
        verbose: words.contains(&"--ptxas"),
        intermediate: words.contains(&"--quick"),
        ..NvrtcOptions::default()
    };
    let mut archs: Vec<Arch> = words
        .iter()
        .filter(|word| !["--ptxas", "--quick"].contains(word))
        .map(|word| word.parse().map_err(|error: String| anyhow!(error)))
        .collect::<Result<_>>()?;
    if archs.is_empty() {
        archs = Arch::NAMED.to_vec();
    }
    let nvrtc = Nvrtc::find(&Places::from_env(), None)?;
    println!("NVRTC {} ({})", nvrtc.version(), nvrtc.path().display());
    let work: Vec<(&[Source], Arch)> = [PROBE, VM, waves()]
        .into_iter()
        .flat_map(|files| archs.iter().map(move |&arch| (files, arch)))
        .collect();
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads.min(work.len()) {
            scope.spawn(|| {
                while let Some((files, arch)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !compile_one(&nvrtc, files, *arch, options) {
                        failed.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    Ok(ExitCode::from(u8::from(failed.into_inner())))
}

/// Compiles one source for one architecture and prints the result. Returns false on failure.
fn compile_one(nvrtc: &Nvrtc, files: &[Source], arch: Arch, options: NvrtcOptions) -> bool {
    let Some(main) = files.first() else {
        return true;
    };
    let what = format!("{:9} {:7}", main.name, arch.to_string());
    let options = NvrtcOptions {
        unroll: std::ptr::eq(files, waves()),
        ..options
    };
    // Compilers drop old architectures and do not know new ones, so an unknown one is not an error.
    if !nvrtc.archs().contains(&arch) {
        println!("{what} not known to this compiler");
        return true;
    }
    match nvrtc.compile(files, arch, options) {
        Ok(Compilation { image, log, time }) => {
            let bytes = image.bytes().len();
            let seconds = time.as_secs_f64();
            let kind = image.kind();
            let log = log.trim_end_matches('\0').trim_end();
            let log = log.lines().map(|line| format!("\n    {line}"));
            // One call, because other threads print as well.
            println!(
                "{what} {seconds:7.2} s {bytes:9} bytes of {kind}{}",
                log.collect::<String>()
            );
            true
        }
        Err(error) => {
            eprintln!("{what} {error}");
            false
        }
    }
}
