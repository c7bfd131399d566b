//! Formats times and amounts.

use std::time::Duration;

/// Formats a time with three digits and a unit: `45 ns`, `1.23 us`, `12.3 ms`, `123 s`.
pub fn time(time: Duration) -> String {
    let nanos = time.as_nanos();
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{} us", three_digits(nanos as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", three_digits(nanos as f64 / 1e6)),
        _ => format!("{} s", three_digits(nanos as f64 / 1e9)),
    }
}

/// Formats a number of bytes: `512 B`, `1.50 KiB`, `34.0 MiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1000.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(amount), UNITS[unit])
}

/// Formats a share as a percentage: `12.3 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Returns a time as a share of the whole; 0 if the whole is zero.
pub fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() {
        return 0.0;
    }
    part.as_secs_f64() / whole.as_secs_f64()
}

/// Returns the mean time of one of many.
pub fn mean(total: Duration, count: u64) -> Duration {
    let nanos = total.as_nanos() / u128::from(count.max(1));
    Duration::from_nanos(nanos as u64)
}

fn three_digits(n: f64) -> String {
    match n {
        ..9.995 => format!("{n:.2}"),
        ..99.95 => format!("{n:.1}"),
        _ => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_amounts() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_234, "1.23 us"),
            (9_999, "10.0 us"),
            (123_456, "123 us"),
            (12_345_678, "12.3 ms"),
            (5_000_000_000, "5.00 s"),
        ] {
            assert_eq!(time(Duration::from_nanos(nanos)), text);
        }
        for (n, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1536, "1.50 KiB"),
            (34 << 20, "34.0 MiB"),
            (1000 << 20, "0.98 GiB"),
            (u64::MAX, "16384 PiB"),
        ] {
            assert_eq!(bytes(n), text);
        }
        assert_eq!(mean(Duration::from_nanos(10), 0), Duration::from_nanos(10));
        assert_eq!(percent(share(Duration::ZERO, Duration::ZERO)), "0.0 %");
    }
}
