//! CUDA devices: found, given the device VM and kept busy.
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
//! - [`Settings`]: how it is opened
//! - [`Survey`]: what there is on this machine, and what is missing
//! - [`Nvrtc`], [`Cache`], [`Maker`]: where the kernel comes from
//!
//! The driver and the compiler are loaded when they are first needed. Where they are missing, that is an error value, and
//! nothing else changes: the same command starts on every machine.

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
pub use cuda::{Cuda, KernelFacts, Opened, Settings, free_memory};
pub use driver::{DeviceFacts, Driver};
pub use kernel::{Kernel, Maker, Origin, compile_for};
pub use nvrtc::{Compilation, Image, Nvrtc, Options, Place, Places};
pub use survey::{Compiler, Survey};
