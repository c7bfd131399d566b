//! The kernels that a device has.

use batt_dsl::{Dialect, OpId};

/// The kernels that are no ops, in the order of `others.inc`.
const SPECIAL: [(&str, WaveMapping, u32); 14] = [
    ("count", WaveMapping::Thread, 0),
    ("spread", WaveMapping::Row, 0),
    ("select", WaveMapping::Thread, 0),
    ("collect_each", WaveMapping::Row, 45_000),
    ("collect_filter", WaveMapping::Row, 45_000),
    ("collect_first", WaveMapping::Row, 45_000),
    ("collect_argmax", WaveMapping::Row, 45_000),
    ("collect_argmin", WaveMapping::Row, 45_000),
    ("collect_valmax", WaveMapping::Row, 45_000),
    ("collect_valmin", WaveMapping::Row, 45_000),
    ("collect_order", WaveMapping::Row, 45_000),
    ("judge", WaveMapping::Row, 0),
    ("tables", WaveMapping::Thread, 0),
    ("pack", WaveMapping::Row, 0),
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
pub enum WaveMapping {
    /// A warp for each item.
    Row,
    /// A lane for each item.
    Thread,
}

/// A kernel.
#[derive(Clone, Copy, Debug)]
pub struct WaveKernel {
    /// The name in the DSL, with `tok_` before those of tokpidjin; or the name of a kernel that is
    /// no op.
    pub name: &'static str,
    /// The number of arguments.
    pub arity: usize,
    /// How items are shared.
    pub mapping: WaveMapping,
    /// The bytes that the payload of a result mostly needs.
    pub room: u64,
    /// A bound of the CPU's steps for a call outside closures. Its memory counts, too: the default
    /// limits have 5.6 bytes for a step.
    pub steps: u32,
}

/// The steps of a call of an op whose table gives none.
const ROW_STEPS: u32 = 20_000;
const THREAD_STEPS: u32 = 12_000;

/// The kernels of a device, by number.
#[derive(Debug)]
pub struct KernelTable {
    kernels: Vec<WaveKernel>,
    /// The kernel of each primitive, by [`OpId::index`].
    by_op: Vec<Option<usize>>,
}

impl KernelTable {
    /// Reads the tables of the ops of a device source. The kernels that are no ops follow.
    pub fn parse(tables: &[&'static str]) -> KernelTable {
        let lines = tables.iter().flat_map(|table| table.lines());
        let mut kernels: Vec<WaveKernel> = lines.filter_map(parse).collect();
        let find = |op: OpId| {
            let op = op.op();
            let name = match op.dialect {
                Dialect::Tokpidjin => format!("tok_{}", op.name),
                _ => op.name.to_owned(),
            };
            let same = |kernel: &WaveKernel| kernel.name == name && kernel.arity == op.arity();
            kernels.iter().position(same)
        };
        let by_op = OpId::every().map(find).collect();
        kernels.extend(SPECIAL.map(|(name, mapping, steps)| WaveKernel {
            name,
            arity: 0,
            mapping,
            room: 0,
            steps,
        }));
        KernelTable { kernels, by_op }
    }

    /// Returns all kernels.
    pub fn kernels(&self) -> &[WaveKernel] {
        &self.kernels
    }

    /// Returns the kernels that are ops of the DSL.
    pub fn ops(&self) -> &[WaveKernel] {
        &self.kernels[..self.kernels.len() - SPECIAL.len()]
    }

    /// Returns the kernel of a primitive.
    pub fn of(&self, op: OpId) -> Option<usize> {
        self.by_op[op.index()]
    }

    /// Returns the number of a kernel of the tables by its name.
    ///
    /// # Panics
    ///
    /// If there is no such kernel: names are literals.
    pub(super) fn op_named(&self, name: &str) -> usize {
        let at = self.ops().iter().position(|kernel| kernel.name == name);
        at.expect("a kernel of the tables")
    }

    /// Returns the number of a kernel that is no op.
    ///
    /// # Panics
    ///
    /// If there is no such kernel: names are literals.
    pub(super) fn special(&self, name: &str) -> usize {
        let at = SPECIAL.iter().position(|(known, ..)| *known == name);
        self.ops().len() + at.expect("a kernel of the table")
    }
}

/// Parses a line such as `ROW(hmirror, 1, 512)` or `ROW(hmirror, 1, 512, 900)`.
fn parse(line: &'static str) -> Option<WaveKernel> {
    let (mapping, rest) = line.split_once('(')?;
    let mapping = match mapping {
        "ROW" => WaveMapping::Row,
        "THREAD" | "BOTH" => WaveMapping::Thread,
        _ => return None,
    };
    let mut fields = rest.strip_suffix(')')?.split(", ");
    Some(WaveKernel {
        name: fields.next()?,
        arity: fields.next()?.parse().ok()?,
        mapping,
        room: fields.next()?.parse().ok()?,
        steps: match (fields.next(), mapping) {
            (Some(steps), _) => steps.parse().ok()?,
            (None, WaveMapping::Row) => ROW_STEPS,
            (None, WaveMapping::Thread) => THREAD_STEPS,
        },
    })
}

/// Returns the number by which devices know a primitive as a function.
pub(super) fn property_of(op: OpId) -> u32 {
    let found = PROPERTIES.iter().position(|name| *name == op.op().name);
    found.map_or(u32::MAX, |at| at as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_line_by_line() {
        let table = KernelTable::parse(&[
            "// A comment.\nROW(hmirror, 1, 512)\n",
            "THREAD(add, 2, 0)\n",
        ]);
        assert_eq!(table.ops().len(), 2);
        let add = OpId::named("add").unwrap();
        assert_eq!(table.of(add), Some(1));
        assert_eq!(table.kernels()[1].mapping, WaveMapping::Thread);
        assert_eq!(table.kernels()[0].room, 512);
        assert_eq!(table.of(OpId::named("vmirror").unwrap()), None);
        assert_eq!(table.kernels()[table.special("judge")].name, "judge");
    }

    #[test]
    fn properties_are_primitives() {
        for name in PROPERTIES {
            assert!(OpId::named(name).is_some(), "{name}");
        }
    }
}
