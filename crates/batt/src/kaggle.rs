//! Packs the program for Kaggle, and checks whether it can start there. A program's file states the
//! processor and the C library that it needs.

mod bundle;
mod notebook;

use std::fmt;

use object::Endianness;
use object::elf::{EM_X86_64, FileHeader64, VER_FLG_WEAK};
use object::read::elf::{FileHeader, VerneedIterator};

pub use bundle::{KaggleBundle, NO_KAGGLE_USER};

/// The C library of Kaggle's image (Ubuntu 22.04).
pub const KAGGLE_GLIBC: Glibc = Glibc(2, 35);

/// A version of the GNU C library: the major and the minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Glibc(
    /// The major number.
    pub u32,
    /// The minor number.
    pub u32,
);

impl fmt::Display for Glibc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The machine that a program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramNeeds {
    /// A machine other than Linux on x86-64.
    OtherMachine,
    /// Linux on x86-64 with this C library; `None` if the program is statically linked.
    Linux(Option<Glibc>),
}

impl ProgramNeeds {
    /// Reads the needs from the bytes of a program.
    pub fn of(program: &[u8]) -> ProgramNeeds {
        match read(program) {
            Ok(Some(glibc)) => ProgramNeeds::Linux(glibc),
            _ => ProgramNeeds::OtherMachine,
        }
    }

    /// Returns why a Kaggle machine cannot run the program, and what to do; `None` if it can.
    pub fn problem(self) -> Option<(String, &'static str)> {
        match self {
            ProgramNeeds::OtherMachine => Some((
                "the program is not built for Linux on x86-64, which Kaggle uses".to_owned(),
                "build batt on such a machine or in a container, and name it with --binary",
            )),
            ProgramNeeds::Linux(Some(glibc)) if glibc > KAGGLE_GLIBC => Some((
                format!(
                    "the program needs version {glibc} of the C library, and Kaggle has {KAGGLE_GLIBC}"
                ),
                "build batt in an older container (rust:1-bullseye), or with cargo zigbuild --target \
                 x86_64-unknown-linux-gnu.2.28, and name it with --binary; docs/kaggle.md has the commands",
            )),
            ProgramNeeds::Linux(_) => None,
        }
    }
}

/// Returns the C library that a program needs; `None` if the program is for another machine.
fn read(program: &[u8]) -> object::Result<Option<Option<Glibc>>> {
    let header = FileHeader64::<Endianness>::parse(program)?;
    let endian = header.endian()?;
    if header.e_machine(endian) != EM_X86_64 {
        return Ok(None);
    }
    let sections = header.sections(endian, program)?;
    let Some((needs, strings)) = sections.gnu_verneed(endian, program)? else {
        return Ok(Some(None));
    };
    let strings = sections.strings(endian, program, strings)?;
    let mut needs: VerneedIterator<'_, FileHeader64<Endianness>> = needs;
    let mut newest = None;
    while let Some((_, mut versions)) = needs.next()? {
        while let Some(version) = versions.next()? {
            // A weak need may be missing.
            if version.vna_flags.get(endian) & VER_FLG_WEAK == 0 {
                newest = newest.max(glibc(version.name(endian, strings)?));
            }
        }
    }
    Ok(Some(newest))
}

/// Parses the name of a symbol version, such as `GLIBC_2.34`.
fn glibc(name: &[u8]) -> Option<Glibc> {
    let version = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?;
    // This version marks packed relative relocations, which the C library supports since 2.36.
    if version == "ABI_DT_RELR" {
        return Some(Glibc(2, 36));
    }
    let mut numbers = version.split('.').map(str::parse);
    Some(Glibc(numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_versions() {
        assert_eq!(glibc(b"GLIBC_2.34"), Some(Glibc(2, 34)));
        assert_eq!(glibc(b"GLIBC_2.2.5"), Some(Glibc(2, 2)));
        assert_eq!(glibc(b"GLIBC_ABI_DT_RELR"), Some(Glibc(2, 36)));
        assert_eq!(glibc(b"GLIBC_PRIVATE"), None);
        assert_eq!(glibc(b"GCC_3.0"), None);
        assert!(Glibc(2, 4) < Glibc(2, 35));
    }

    #[test]
    fn files_that_are_not_programs_run_nowhere() {
        for bytes in [b"".as_slice(), b"#!/bin/sh\n", b"\x7fELF", &[0x7f; 100]] {
            assert_eq!(ProgramNeeds::of(bytes), ProgramNeeds::OtherMachine);
        }
        assert!(ProgramNeeds::OtherMachine.problem().is_some());
        assert!(ProgramNeeds::Linux(None).problem().is_none());
        assert!(ProgramNeeds::Linux(Some(KAGGLE_GLIBC)).problem().is_none());
    }

    /// The newest need is found in the program of this test, and in a copy that needs a future C
    /// library.
    #[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
    #[test]
    fn the_newest_need_is_found() {
        let mut program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let ProgramNeeds::Linux(Some(Glibc(2, minor))) = ProgramNeeds::of(&program) else {
            panic!("{:?}", ProgramNeeds::of(&program));
        };
        let (old, new) = (format!("GLIBC_2.{minor}\0"), b"GLIBC_2.99");
        assert_eq!(old.len(), new.len() + 1, "{old}");
        let places: Vec<usize> = (0..program.len() - old.len())
            .filter(|&at| program[at..].starts_with(old.as_bytes()))
            .collect();
        assert!(!places.is_empty());
        for at in places {
            program[at..at + new.len()].copy_from_slice(new);
        }
        let needs = ProgramNeeds::of(&program);
        assert_eq!(needs, ProgramNeeds::Linux(Some(Glibc(2, 99))));
        let (problem, hint) = needs.problem().unwrap();
        assert!(problem.contains("needs version 2.99") && hint.contains("zigbuild"));
    }
}
