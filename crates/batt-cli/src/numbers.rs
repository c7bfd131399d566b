//! Whole numbers on the command line.

use std::num::NonZeroUsize;
use std::str::FromStr;

use crate::ui::grouped;

/// A number from 0 on.
pub fn from_zero<N: FromStr>(text: &str) -> Result<N, String> {
    whole(text, 0)
}

/// A number from 1 on.
pub fn from_one(text: &str) -> Result<NonZeroUsize, String> {
    whole(text, 1)
}

/// A number from 1 to a limit. A larger one would take the machine's memory, or no end of time.
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
            assert_eq!(from_one(bad), Err(message.to_owned()), "{bad}");
            assert!(up_to::<5>(bad).is_err(), "{bad}");
        }
        let huge = from_zero::<u64>("99999999999999999999");
        assert_eq!(huge, Err("that is too large".to_owned()));
        let message = "write a number from 1 to 1,000";
        assert_eq!(up_to::<1000>("1001"), Err(message.to_owned()));
    }
}
