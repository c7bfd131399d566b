//! The structures that the host and the device share. `device/value.cuh`, `device/memory.cuh` and
//! `device/judge.cuh` have the same ones.

/// What a value is: `Kind` in `value.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(
    missing_docs,
    dead_code,
    reason = "value.cuh describes them, and has some for itself"
)]
pub enum Kind {
    Stopped,
    Fault,
    None,
    Bool,
    Int,
    Pair,
    Cell,
    Grid,
    Ragged,
    Indices,
    Object,
    Tuple,
    Set,
    Op,
    Wide,
}

/// A value on the device: `V` in `value.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawValue {
    /// A [`Kind`].
    pub kind: u8,
    /// The meaning of these depends on the kind.
    pub a: u8,
    /// See `a`.
    pub b: u8,
    /// See `a`.
    pub c: u8,
    /// A length or a location.
    pub len: u32,
    /// A number or an address.
    pub bits: u64,
}

/// Where the values of an argument are: `Arg` in `memory.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Arg {
    /// The address of the first value.
    pub values: u64,
    /// The address of the numbers of outer items, or 0.
    pub map: u64,
    /// 1 for a value an item, 0 for one value for all.
    pub each: u32,
    /// Padding.
    pub unused: u32,
}

/// One call of an op for many items: `Node` in `memory.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    /// The arguments.
    pub args: [Arg; 4],
    /// The address of the results.
    pub out: u64,
    /// The address of the payloads of the results, or 0.
    pub payload: u64,
    /// The number of items.
    pub items: u32,
    /// What the op needs beside its arguments.
    pub extra: u32,
    /// 0: arc-dsl, 1: re-arc, 2: tokpidjin.
    pub dialect: u32,
    /// Padding.
    pub unused: u32,
    /// For calls in closures: the address of the cost of each sample, or 0.
    pub costs: u64,
    /// And of the numbers of the samples of the items.
    pub owners: u64,
}

/// Memory for payloads: `Heap` in `memory.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap {
    /// Bytes taken. More than `size` if there were not enough.
    pub used: u64,
    /// Bytes there are.
    pub size: u64,
    /// The address.
    pub base: u64,
    /// The numbers of unfinished runs, by reason.
    pub left: [u64; 8],
}

/// One launch: `Wave` in `memory.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Wave {
    /// The address of the nodes.
    pub nodes: u64,
    /// The address of the heap.
    pub heap: u64,
    /// The address of the tables.
    pub tables: u64,
    /// The number of nodes.
    pub node_count: u32,
    /// The most that a run may cost.
    pub most_cost: u32,
}

/// The values of a step of a program: `Step` in `judge.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct StepValues {
    /// The address of the first value.
    pub values: u64,
    /// 1 for a value an item, 0 for one value for all.
    pub each: u32,
    /// The number of the step in its program.
    pub step: u32,
}

/// What the bodies of closures cost a run: `Charge` in `judge.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Charge {
    /// The address of a number for each sample: of elements, or what a call came to.
    pub counts: u64,
    /// The cost of one.
    pub weight: u32,
    /// 1 for a number of elements a sample, 0 for one number for all.
    pub each: u32,
}

/// What `spread` writes for the items of an outer domain: `Ancestor` in `closures.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Ancestor {
    /// For each item of the parent, its item in the outer domain; 0 for the parent itself.
    pub from: u64,
    /// The same for each new item.
    pub to: u64,
}

/// How a run ended: `Record` in `judge.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// 0: a value, 1: a fault, 2: unfinished.
    pub end: u8,
    /// The fault, or the reason.
    pub which: u8,
    /// The cost of the run in units of 64 steps, rounded up: `COST_UNIT` in `judge.cuh`.
    pub charge: u16,
    /// The step that failed, or the verdict.
    pub detail: u32,
    /// CPython's hash of the value.
    pub hash: u64,
}

const _: () = assert!(
    size_of::<RawValue>() == 16
        && size_of::<Arg>() == 24
        && size_of::<Node>() == 144
        && size_of::<Wave>() == 32
        && size_of::<Record>() == 16
        && size_of::<StepValues>() == 16
        && size_of::<Charge>() == 16
        && size_of::<Ancestor>() == 16
);

/// Types that are copied to and from the device as bytes.
///
/// # Safety
///
/// Every bit pattern is a value of the type, and the type has no padding.
pub(super) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty),*) => {$(
        // SAFETY: an integer, or a structure of integers whose padding is a field.
        unsafe impl Plain for $type {}
    )*};
}
plain!(
    u16, u32, u64, RawValue, Node, Heap, StepValues, Charge, Ancestor, Record
);

/// Returns values as bytes.
pub(super) fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: the bytes are those of the slice, and `Plain` types have no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Returns values as bytes that may be overwritten.
pub(super) fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: the bytes are those of the slice, and any bytes are a value of a `Plain` type.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
