//! Compiles the device source for the host: with one lane, and with 32 lanes on platforms where
//! fibres are implemented.

use std::{env, thread};

fn main() {
    let folder = "../batt-cuda/device";
    println!("cargo:rerun-if-changed={folder}");
    let compile = |file: &str, library: &str| {
        cc::Build::new()
            .cpp(true)
            .std("c++17")
            .opt_level(2)
            .warnings(false)
            .flag("-Wall")
            // Each translation unit uses only some of the functions that it includes.
            .flag("-Wno-unused-function")
            .file(format!("{folder}/{file}"))
            .compile(library);
    };
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    let fibres = target("OS") == "linux" && target("ARCH") == "x86_64";
    println!("cargo:rustc-check-cfg=cfg(fibres)");
    thread::scope(|scope| {
        if fibres {
            println!("cargo:rustc-cfg=fibres");
            scope.spawn(|| compile("warp.cpp", "batt_warp"));
        }
        compile("emulated.cpp", "batt_emulated");
    });
}
