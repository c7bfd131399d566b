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
    format!("{:032x}", hasher.finish128().as_u128())
}

/// Returns a hash of a batt that changes when anything in the batt changes.
pub fn batt_fingerprint(batt: &Batt) -> String {
    fingerprint(to_json_text(batt))
}
