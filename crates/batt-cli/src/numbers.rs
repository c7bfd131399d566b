//! Parses numbers on the command line.

use std::num::NonZeroUsize;
use std::str::FromStr;

use crate::ui::grouped;

/// Parses a number from 0 on.
pub fn from_zero<N: FromStr>(text: &str) -> Result<N, String> {
    whole(text, 0)
}

/// Parses a number from 1 on, such as a `NonZeroUsize`.
pub fn from_one<N: FromStr>(text: &str) -> Result<N, String> {
    whole(text, 1)
}

/// Parses a number from 1 to a limit. A larger one would fill the memory or run for years.
pub fn up_to<const MOST: usize>(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok();
    let fits = number.filter(|number: &NonZeroUsize| number.get() <= MOST);
    fits.ok_or_else(|| format!("write a number from 1 to {}", grouped(MOST)))
}

fn whole<N: FromStr>(text: &str, least: u8) -> Result<N, String> {
    text.parse().map_err(|_| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match is_number && text.bytes().any(|byte| byte != b'0') {
            true => "that is too large".to_owned(),
            false => format!("write a whole number from {least} on"),
        }
    })
}

/// Parses a number of bytes: `1024`, `64K`, `256M`, `1G`.
pub fn bytes(text: &str) -> Result<usize, String> {
    let upper = text.to_ascii_uppercase();
    let upper = upper.strip_suffix('B').unwrap_or(&upper);
    let (digits, shift) = match upper.as_bytes().last() {
        Some(b'K') => (&upper[..upper.len() - 1], 10),
        Some(b'M') => (&upper[..upper.len() - 1], 20),
        Some(b'G') => (&upper[..upper.len() - 1], 30),
        _ => (upper, 0),
    };
    let number: usize = digits
        .parse()
        .map_err(|_| "write a number of bytes, such as 1000000 or 256M".to_owned())?;
    if number == 0 {
        return Err("nothing runs within 0 bytes; write at least 1".to_owned());
    }
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| "this is more than the machine can address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_bounds() {
        assert_eq!(from_zero("0"), Ok(0_u64));
        assert_eq!(from_zero("12"), Ok(12_usize));
        assert_eq!(from_one("1"), Ok(NonZeroUsize::MIN));
        assert_eq!(up_to::<5>("1"), Ok(NonZeroUsize::MIN));
        for bad in ["", "-1", "0", "00", "1.5", "ten"] {
            let message = "write a whole number from 1 on";
            assert_eq!(
                from_one::<NonZeroUsize>(bad),
                Err(message.to_owned()),
                "{bad}"
            );
            assert!(up_to::<5>(bad).is_err(), "{bad}");
        }
        let huge = from_zero::<u64>("99999999999999999999");
        assert_eq!(huge, Err("that is too large".to_owned()));
        let message = "write a number from 1 to 1,000";
        assert_eq!(up_to::<1000>("1001"), Err(message.to_owned()));
    }

    #[test]
    fn byte_counts() {
        assert_eq!(bytes("1000"), Ok(1000));
        assert_eq!(bytes("64k"), Ok(65536));
        assert_eq!(bytes("2MB"), Ok(2 << 20));
        assert_eq!(bytes("1G"), Ok(1 << 30));
        for bad in ["", "M", "-1", "0", "0K", "many", "99999999999G"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
