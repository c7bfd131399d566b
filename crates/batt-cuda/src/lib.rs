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
//! - [`CudaWaves`]: a GPU for the engine of `batt-wave`
//! - [`CudaSettings`]: options for opening devices
//! - [`Survey`]: the parts of this machine that GPUs need, and the missing ones
//! - [`Nvrtc`], [`Cache`], [`Maker`]: the compiler, the cache and the provider of kernels
//!
//! The driver and the compiler are loaded on first use. A missing one is an error value, so the
//! same binary starts on every machine.

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
mod waves;

pub use arch::{Arch, Version};
pub use cache::{Cache, Contents, Key};
pub use cuda::{Cuda, CudaSettings, KernelFacts, OpenedDevices, free_memory};
pub use driver::{DeviceFacts, Driver};
pub use kernel::{Kernel, Maker, Origin};
pub use nvrtc::{Compilation, Image, Nvrtc, NvrtcOptions, Place, Places};
pub use survey::{Compiler, Survey};
pub use waves::CudaWaves;
