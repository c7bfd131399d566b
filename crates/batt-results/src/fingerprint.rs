//! Hashes that identify the batts and tasks of a run.

use std::hash::{Hash, Hasher};

use batt_lang::Batt;
use batt_lang::batt::to_json_text;
use siphasher::sip128::{Hasher128, SipHasher13};

/// Returns a hash of a value as hexadecimal digits, the same in every process of this version.
pub fn fingerprint(value: impl Hash) -> String {
    let mut hasher = SipHasher13::new();
    value.hash(&mut hasher);
    hasher.write_u8(0);
    digits(&hasher)
}

fn digits(hasher: &SipHasher13) -> String {
    format!("{:032x}", hasher.finish128().as_u128())
}

/// A hash of the bytes of a file, made while they are written or read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checksum(SipHasher13);

impl Checksum {
    /// Adds the next bytes. How they are divided does not matter.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Returns the hash as hexadecimal digits.
    pub fn text(&self) -> String {
        digits(&self.0)
    }
}

/// Returns a hash of a batt that changes when anything in the batt changes.
pub fn batt_fingerprint(batt: &Batt) -> String {
    fingerprint(to_json_text(batt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_depend_on_the_bytes_alone() {
        let bytes: Vec<u8> = (0..200).collect();
        let mut whole = Checksum::default();
        whole.add(&bytes);
        for size in [1, 3, 7, 8, 9, 64] {
            let mut parts = Checksum::default();
            bytes.chunks(size).for_each(|chunk| parts.add(chunk));
            assert_eq!(parts.text(), whole.text(), "{size}");
        }
        let mut other = Checksum::default();
        other.add(&bytes[1..]);
        assert_ne!(other.text(), whole.text());
    }
}
