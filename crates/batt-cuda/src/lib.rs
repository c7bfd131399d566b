//! CUDA GPUs as devices of the engine, and the source of the device VM.
//!
//! ```text
//!   source ── Nvrtc ──> Image ──┬── Cache (disk)
//!                               v
//!   Driver ── DeviceFacts ──> Cuda, a Device: buffers, stream, kernel ── run ──> Launched
//! ```
//!
//! The types to know:
//!
//! - [`Cuda`]: a logical device; it implements [`batt_engine::device::Device`]
//! - [`CudaSettings`]: the options for opening one
//! - [`Survey`]: what this machine has for devices, and what is missing
//! - [`Nvrtc`], [`Cache`], [`Maker`]: the sources of the kernel
//!
//! The driver and the compiler are loaded on first use. If one is missing, that is an error value,
//! so the same command starts on every machine.

mod arch;
mod budget;
mod cache;
mod cuda;
mod driver;
mod kernel;
mod memory;
mod nvrtc;
pub mod source;
mod survey;

pub use arch::{Arch, Version};
pub use cache::{Cache, Contents, Key};
pub use cuda::{Cuda, CudaSettings, KernelFacts, OpenedDevices, free_memory};
pub use driver::{DeviceFacts, Driver};
pub use kernel::{Kernel, Maker, Origin};
pub use nvrtc::{Compilation, Image, Nvrtc, NvrtcOptions, Place, Places};
pub use survey::{Compiler, Survey};
