//! Compiles the device source for the host, for the feature `emulated`.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=device");
    if env::var_os("CARGO_FEATURE_EMULATED").is_none() {
        return;
    }
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .warnings(false)
        .flag("-Wall")
        // A program includes functions that only some ops call.
        .flag("-Wno-unused-function")
        .file("device/host.cpp")
        .compile("batt_wave_host");
}
