//! Architectures of devices and versions of CUDA.

use std::fmt;
use std::str::FromStr;

/// The shared memory of a warp in bytes: `SCRATCH` in `base.cuh`.
pub(crate) const SCRATCH: u32 = 2048;

/// The architecture of a device: ten times the major compute capability, plus the minor one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch(pub u32);

impl Arch {
    /// The supported architectures; the kernel must compile for each of them.
    pub const NAMED: [Arch; 7] = [
        Arch(60),
        Arch(75),
        Arch(80),
        Arch(86),
        Arch(89),
        Arch(90),
        Arch(120),
    ];

    /// Returns the number of warps in the largest block. Larger blocks are faster, because the
    /// warps of a block share instruction fetches. The registers of a multiprocessor allow 28
    /// warps. Each warp takes 2 KiB of shared memory, of which older devices have less.
    pub fn warps_per_block(self) -> u32 {
        let shared_kib = match self.0 {
            80 | 87 | 90..120 => 160,
            86 | 89 | 120.. => 99,
            70..75 => 96,
            75 => 64,
            _ => 48,
        };
        // The driver takes 1 KiB of each block, and the kernel takes some more.
        ((shared_kib - 2) * 1024 / SCRATCH).min(28)
    }

    /// Returns the largest number of registers per thread with which the largest block fits a
    /// multiprocessor.
    pub fn registers(self) -> u32 {
        let of_a_thread = (64 << 10) / (32 * self.warps_per_block());
        (of_a_thread / 8 * 8).min(255)
    }

    /// Returns the compute capability, such as `9.0`.
    pub fn capability(self) -> String {
        format!("{}.{}", self.0 / 10, self.0 % 10)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0)
    }
}

impl FromStr for Arch {
    type Err = String;

    /// Parses `90` or `sm_90`.
    fn from_str(text: &str) -> Result<Arch, String> {
        text.strip_prefix("sm_")
            .unwrap_or(text)
            .parse()
            .map(Arch)
            .map_err(|_| format!("{text:?} is not an architecture; write it as sm_90"))
    }
}

/// A version of CUDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The major version. A driver accepts programs up to its own major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
}

impl Version {
    /// Converts the number that the driver reports: 12090 is 12.9.
    pub fn from_number(number: u32) -> Version {
        Version {
            major: number / 1000,
            minor: number % 1000 / 10,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fit_the_shared_memory_of_their_devices() {
        let warps = Arch::NAMED.map(|arch| arch.warps_per_block());
        assert_eq!(warps, [23, 28, 28, 28, 28, 28, 28]);
        let registers = Arch::NAMED.map(|arch| arch.registers());
        assert_eq!(registers, [88, 72, 72, 72, 72, 72, 72]);
        let base = crate::source::VM
            .iter()
            .find(|file| file.name.ends_with("base.cuh"));
        let line = format!("const u32 SCRATCH = {SCRATCH};");
        assert!(base.is_some_and(|file| file.text.contains(&line)));
    }

    #[test]
    fn names_and_numbers() {
        assert_eq!(Arch(120).to_string(), "sm_120");
        assert_eq!(Arch(120).capability(), "12.0");
        assert_eq!("sm_75".parse(), Ok(Arch(75)));
        assert_eq!("90".parse(), Ok(Arch(90)));
        assert!("sm_".parse::<Arch>().is_err());
        assert_eq!(Version::from_number(12090).to_string(), "12.9");
        assert_eq!(Version::from_number(13000).to_string(), "13.0");
    }
}
