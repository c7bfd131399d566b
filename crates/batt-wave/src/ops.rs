//! The kernels that the device has.

use std::sync::OnceLock;

use batt_dsl::{Dialect, OpId};

/// The tables of ops, in the order in which `device/ops.inc` includes them.
const TABLES: [&str; 5] = [
    include_str!("../device/ops/grid.inc"),
    include_str!("../device/ops/patch.inc"),
    include_str!("../device/ops/numbers.inc"),
    include_str!("../device/ops/container.inc"),
    include_str!("../device/ops/objects.inc"),
];

/// The kernels that are no ops, in the order of `KERNELS` in `kernels.cuh`.
const SPECIAL: [(&str, Mapping); 11] = [
    ("count", Mapping::Thread),
    ("fill", Mapping::Row),
    ("collect_each", Mapping::Row),
    ("collect_filter", Mapping::Row),
    ("collect_first", Mapping::Row),
    ("collect_argmax", Mapping::Row),
    ("collect_argmin", Mapping::Row),
    ("collect_valmax", Mapping::Row),
    ("collect_valmin", Mapping::Row),
    ("collect_order", Mapping::Row),
    ("judge", Mapping::Row),
];

/// The functions whose values ops such as `argmax` read off an element: `Property` in
/// `objects.cuh`.
const PROPERTIES: [&str; 8] = [
    "size",
    "height",
    "width",
    "color",
    "uppermost",
    "lowermost",
    "leftmost",
    "rightmost",
];

/// How the lanes of a device share the items of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// A warp for each item.
    Row,
    /// A lane for each item.
    Thread,
}

/// A kernel.
#[derive(Clone, Copy, Debug)]
pub struct WaveOp {
    /// The name in the DSL, with `tok_` before those of tokpidjin; or the name of a kernel that is
    /// no op.
    pub name: &'static str,
    /// The number of arguments.
    pub arity: usize,
    /// How items are shared.
    pub mapping: Mapping,
    /// The bytes that the payload of a result mostly needs.
    pub room: u64,
}

/// Returns all kernels in the order of the device's table.
pub fn kernels() -> &'static [WaveOp] {
    static KERNELS: OnceLock<Vec<WaveOp>> = OnceLock::new();
    KERNELS.get_or_init(|| {
        let lines = TABLES.iter().flat_map(|table| table.lines());
        let mut kernels: Vec<WaveOp> = lines.filter_map(parse).collect();
        kernels.extend(SPECIAL.map(|(name, mapping)| WaveOp {
            name,
            arity: 0,
            mapping,
            room: 0,
        }));
        kernels
    })
}

/// Parses a line such as `ROW(hmirror, 1, 512)`.
fn parse(line: &'static str) -> Option<WaveOp> {
    let (mapping, rest) = line.split_once('(')?;
    let mapping = match mapping {
        "ROW" => Mapping::Row,
        "THREAD" => Mapping::Thread,
        _ => return None,
    };
    let mut fields = rest.strip_suffix(')')?.split(", ");
    Some(WaveOp {
        name: fields.next()?,
        arity: fields.next()?.parse().ok()?,
        mapping,
        room: fields.next()?.parse().ok()?,
    })
}

/// Returns the number of ops, which come before the other kernels.
fn op_count() -> usize {
    kernels().len() - SPECIAL.len()
}

/// Returns the number of a kernel that is no op.
///
/// # Panics
///
/// If there is no such kernel: names are literals.
pub(crate) fn special(name: &str) -> usize {
    let at = SPECIAL.iter().position(|(known, _)| *known == name);
    op_count() + at.expect("a kernel of the table")
}

/// Returns the kernel of each primitive, by [`OpId::index`].
pub(crate) fn kernel_of(op: OpId) -> Option<usize> {
    static BY_OP: OnceLock<Vec<Option<usize>>> = OnceLock::new();
    let table = BY_OP.get_or_init(|| {
        let find = |op: OpId| {
            let op = op.op();
            let name = match op.dialect {
                Dialect::Tokpidjin => format!("tok_{}", op.name),
                _ => op.name.to_owned(),
            };
            let same = |kernel: &WaveOp| kernel.name == name && kernel.arity == op.arity();
            kernels()[..op_count()].iter().position(same)
        };
        OpId::every().map(find).collect()
    });
    table[op.index()]
}

/// Returns the number by which the device knows a primitive as a function.
pub(crate) fn property_of(op: OpId) -> u32 {
    let found = PROPERTIES.iter().position(|name| *name == op.op().name);
    found.map_or(u32::MAX, |at| at as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_names_a_primitive_with_its_arguments() {
        let lines = TABLES.iter().flat_map(|table| table.lines());
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
        assert_eq!(lines.count(), op_count());
        for (number, kernel) in kernels()[..op_count()].iter().enumerate() {
            let is_known = OpId::every().any(|op| kernel_of(op) == Some(number));
            assert!(is_known, "{kernel:?}");
        }
    }

    #[test]
    fn properties_are_primitives() {
        for name in PROPERTIES {
            assert!(OpId::named(name).is_some(), "{name}");
        }
    }
}
