//! Compiles the device's own source for the host.

fn main() {
    let folder = "../batt-cuda/device";
    println!("cargo:rerun-if-changed={folder}");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .warnings(false)
        .flag("-Wall")
        // What one unit of the device does not call is still there for the others.
        .flag("-Wno-unused-function")
        .file(format!("{folder}/emulated.cpp"))
        .compile("batt_emulated");
}
