//! Values as text: as Python writes them, cut short.

use std::fmt::Write as _;

use batt_arc::text::grouped;
use batt_dsl::OwnedValue;

/// Returns a value as Python's `repr` writes it. If that has more than about `room` characters, it
/// is cut, with the number of elements left out: `(1, 2, … 98 more)`.
///
/// ```
/// use batt_dsl::OwnedValue;
/// use batt_picture::repr;
///
/// let numbers = OwnedValue::Tuple((0..1000).map(OwnedValue::Int).collect());
/// assert_eq!(repr(&numbers, 8), "(0, 1, 2, … 997 more)");
/// ```
pub fn repr(value: &OwnedValue, room: usize) -> String {
    let mut out = String::new();
    write(value, room, &mut out);
    out
}

fn write(value: &OwnedValue, room: usize, out: &mut String) {
    let (open, items, close) = match value {
        OwnedValue::Tuple(items) => ("(", items, if items.len() == 1 { ",)" } else { ")" }),
        OwnedValue::Set(items) if !items.is_empty() => ("frozenset({", items, "})"),
        other => {
            // Other values are short. Writing to a string cannot fail.
            let _ = write!(out, "{other}");
            return;
        }
    };
    *out += open;
    for (k, item) in items.iter().enumerate() {
        if k > 0 {
            *out += ", ";
        }
        // A container that just begins may have only a few elements.
        let end = if k == 0 { room + 16 } else { room };
        if out.len() >= end {
            let left = items.len() - k;
            let _ = match k {
                0 => write!(out, "… {}", grouped(left)),
                _ => write!(out, "… {} more", grouped(left)),
            };
            break;
        }
        write(item, room, out);
    }
    *out += close;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn short_values_are_complete() {
        for json in [
            json!({"t": []}),
            json!({"t": [1]}),
            json!({"s": []}),
            json!({"s": [{"t": [1, true]}, null]}),
            json!({"x": "nan"}),
        ] {
            let value = OwnedValue::from_json(&json).unwrap();
            assert_eq!(repr(&value, 100), value.to_string());
        }
    }

    #[test]
    fn long_values_are_cut_with_a_count() {
        let numbers = OwnedValue::Set((0..10_000).map(OwnedValue::Int).collect());
        let text = repr(&numbers, 60);
        assert!(text.ends_with(" more})") && text.len() < 100, "{text}");
        let nested = OwnedValue::Tuple(vec![numbers; 50]);
        let text = repr(&nested, 30);
        assert!(text.ends_with(" more}), … 49 more)"), "{text}");
        let mut deep = OwnedValue::None;
        for _ in 0..900 {
            deep = OwnedValue::Tuple(vec![deep]);
        }
        assert!(repr(&deep, 20).len() < 200);
    }
}
