//! Times on the command line: `11h`, `1h30m`, `90s`.

use std::time::Duration;

/// Parses a time. A number without a unit means seconds.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || "write a time such as 11h, 1h30m or 90s".to_owned();
    let mut seconds: u64 = 0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit = match rest[digits..].bytes().next() {
            Some(b'h') => 3600,
            Some(b'm') => 60,
            Some(b's') => 1,
            // Only a single number may have no unit.
            None if digits == text.trim().len() => 1,
            _ => return Err(wrong()),
        };
        let part = number.checked_mul(unit).ok_or_else(wrong)?;
        seconds = seconds.checked_add(part).ok_or_else(wrong)?;
        rest = rest.get(digits + 1..).unwrap_or_default();
    }
    match seconds {
        0 => Err(wrong()),
        seconds => Ok(Duration::from_secs(seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let seconds = |text| parse(text).map(|time| time.as_secs());
        assert_eq!(seconds("11h"), Ok(39600));
        assert_eq!(seconds("1h30m"), Ok(5400));
        assert_eq!(seconds("2m5s"), Ok(125));
        assert_eq!(seconds("90"), Ok(90));
        for bad in [
            "",
            "0",
            "h",
            "11x",
            "1h30",
            "-1h",
            "1.5h",
            "99999999999999999999h",
            "5124095576030432h",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
