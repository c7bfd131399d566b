//! Wire: values as words, on their way to a device and back.

mod decode;
mod encode;

use batt_dsl::{Fault, IntPair};

pub use decode::{decode, decode_owned, skip};
pub use encode::{encode, encode_demos, encode_grid, encode_owned};

/// The offset that stands for no value: `None`.
pub const NOTHING: u32 = u32::MAX;

/// The number of a function of unknown identity.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// The kinds of values, in the lowest byte of a head.
pub(crate) mod kind {
    pub const NONE: u32 = 0;
    pub const BOOL: u32 = 1;
    pub const INT: u32 = 2;
    pub const FLOAT: u32 = 3;
    pub const PAIR: u32 = 4;
    pub const CELL: u32 = 5;
    pub const ROW: u32 = 6;
    pub const GRID: u32 = 7;
    pub const TUPLE: u32 = 8;
    pub const PAIRS: u32 = 9;
    pub const CELLS: u32 = 10;
    pub const SET: u32 = 11;
    pub const OP: u32 = 12;
    /// A literal that is too large for its place; never on the wire.
    pub const ELSEWHERE: u32 = 255;
}

/// The flags of a set.
const ORDERED: u32 = 1;
const DUMMIES: u32 = 2;

/// Words that are no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// They make no sense: a bug of whoever wrote them.
    #[error("the words at {at} are no value: {what}")]
    Broken {
        /// Where the value begins.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A set whose iteration order is not there.
    #[error("the set at {at} has no order")]
    Unordered {
        /// Where the set begins.
        at: usize,
    },
    /// A grid of a shape that a verdict has no room for.
    #[error("the grid of the entry at {at} is too large to be judged")]
    TooLarge {
        /// Where the entry begins.
        at: usize,
    },
    /// A limit of the run that was to have the value.
    #[error("{0}")]
    Fault(#[from] Fault),
}

/// The head of a value.
fn head(kind: u32, flags: u32, lg: u32) -> u32 {
    kind | flags << 8 | lg << 16
}

/// A pair in one word.
pub(crate) fn pair_word(pair: IntPair) -> u32 {
    u32::from(pair.i as u16) << 16 | u32::from(pair.j as u16)
}

/// The pair in a word.
fn pair_of(word: u32) -> IntPair {
    IntPair::new((word >> 16) as i16, word as i16)
}

#[cfg(test)]
mod tests {
    use batt_dsl::{Dialect, Limits, OpId, OwnedFloat, OwnedValue, Value, Workspace};

    use super::*;

    fn int(n: i64) -> OwnedValue {
        OwnedValue::Int(n)
    }

    fn tuple(items: impl IntoIterator<Item = OwnedValue>) -> OwnedValue {
        OwnedValue::Tuple(items.into_iter().collect())
    }

    fn set(items: impl IntoIterator<Item = OwnedValue>) -> OwnedValue {
        OwnedValue::Set(items.into_iter().collect())
    }

    fn pair(i: i64, j: i64) -> OwnedValue {
        tuple([int(i), int(j)])
    }

    fn words(value: &OwnedValue, dialect: Dialect) -> Vec<u32> {
        let mut words = Vec::new();
        encode_owned(&mut Workspace::new(), dialect, value, &mut words).expect("a value");
        words
    }

    #[test]
    fn forms() {
        let arc = |value: &OwnedValue| words(value, Dialect::ArcDsl);
        assert_eq!(arc(&OwnedValue::None), [0]);
        assert_eq!(arc(&OwnedValue::Bool(true)), [0x101]);
        assert_eq!(arc(&int(-1)), [2, u32::MAX, u32::MAX]);
        let half = OwnedValue::Float(OwnedFloat::new(0.5));
        assert_eq!(arc(&half), [3, 0, 0x3fe0_0000]);
        assert_eq!(arc(&pair(1, -1)), [4, 0x1_ffff]);
        let cell = tuple([int(7), pair(1, 2)]);
        assert_eq!(arc(&cell), [5, 0x1_0002, 7]);
        let triple = tuple([int(1), int(2), int(7)]);
        assert_eq!(words(&triple, Dialect::Tokpidjin), [5, 0x1_0002, 7]);
        assert_eq!(arc(&triple), [6, 3, 0x7_0201]);
        assert_eq!(arc(&tuple([])), [6, 0]);
        let grid = OwnedValue::grid([&[1, 2, 3][..], &[4, 5, 6]]);
        assert_eq!(arc(&grid), [7, 2, 3, 0x0403_0201, 0x0605]);
        // Two pairs of small numbers are a grid as well.
        let segment = |a| tuple([pair(a, 2), pair(3, 4)]);
        assert_eq!(arc(&segment(1)), [7, 2, 2, 0x0403_0201]);
        assert_eq!(arc(&segment(-1)), [8, 2, 4, 0xffff_0002, 4, 0x3_0004]);
        assert_eq!(arc(&set([])), [0x3_0109, 0]);
        assert_eq!(arc(&set([pair(0, 0)])), [0x3_0109, 1, 0]);
        // Slots 1 and 2 of 8, as hash(1) and hash(2) have it.
        let numbers = [0x3_010b, 2, 2, 1, 0, 2, 2, 0, 1, 2];
        assert_eq!(arc(&set([int(2), int(1)])), numbers);
    }

    #[test]
    fn values_come_back() {
        let nan = OwnedValue::Float(OwnedFloat::new(f64::NAN));
        let big = |from| set((from..from + 40).map(|n| tuple([int(n), pair(n, 2 * n)])));
        let values = [
            OwnedValue::None,
            nan.clone(),
            int(i64::MIN),
            pair(-32768, 32767),
            pair(-32769, 0),
            tuple([int(1), int(2), int(3)]),
            tuple([int(1), int(2), OwnedValue::Bool(false)]),
            tuple([int(256)]),
            tuple([tuple([]), tuple([])]),
            set([tuple([int(1), int(2), int(3)]), set([]), nan]),
            tuple([big(0), set([big(-7), big(9)]), int(5)]),
            set((0..500).map(|n| pair(n % 31, n / 31))),
            OwnedValue::grid([&[0, 9, 255][..]; 4]),
        ];
        for dialect in Dialect::ALL {
            let mut workspace = Workspace::new();
            for value in &values {
                // A set made again from its elements may be in another order: both are made at once.
                let limits = Limits::default();
                let mut all = vec![77];
                let value = workspace.run(dialect, &limits, |run| {
                    let value = run.from_owned(value)?;
                    encode(run, value, &mut all)?;
                    run.to_owned(value)
                });
                let value = value.expect("a value");
                assert_eq!(skip(&all, 1), Ok(all.len()), "{value}");
                let owned = decode_owned(&all, 1, dialect).expect("a value");
                assert_eq!(owned, (value.clone(), all.len()));
                workspace.run(dialect, &limits, |run| {
                    let (again, end) = decode(run, &all, 1).expect("a value");
                    assert_eq!(end, all.len());
                    assert_eq!(run.to_owned(again).as_ref(), Ok(&value));
                    let original = run.from_owned(&value).expect("a value");
                    assert!(value.to_string().contains("nan") || run.equal(again, original));
                    assert_eq!(run.hash(again), run.hash(original));
                    let mut words = Vec::new();
                    encode(run, again, &mut words).expect("a value");
                    assert_eq!(words, all[1..]);
                });
                for cut in 1..all.len() {
                    let cut = decode_owned(&all[..cut], 1, dialect);
                    assert!(matches!(cut, Err(WireError::Broken { .. })), "{value}");
                }
            }
        }
    }

    #[test]
    fn functions() {
        let head = OpId::named("hmirror").map_or(0, |op| op.index() as u32);
        Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
            let (value, _) = decode(run, &[12, head], 0).expect("a function");
            assert!(matches!(value, Value::Op(op) if op.op().name == "hmirror"));
            let (value, _) = decode(run, &[12, UNKNOWN], 0).expect("a function");
            assert_eq!(run.to_owned(value), Ok(OwnedValue::Function));
            let mut words = Vec::new();
            encode(run, value, &mut words).expect("a function");
            assert_eq!(words, [12, UNKNOWN]);
        });
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        let unordered = decode_owned(&[9, 2, 0, 1], 0, Dialect::ArcDsl);
        assert_eq!(unordered, Err(WireError::Unordered { at: 0 }));
        // One element has only one order.
        let one = decode_owned(&[9, 1, 5], 0, Dialect::ArcDsl);
        assert_eq!(one, Ok((set([pair(0, 5)]), 3)));
        let deep = [8, 1].repeat(100_000);
        for words in [
            &[13][..],
            &[6, u32::MAX],
            &[7, u32::MAX, u32::MAX, 0],
            &[7, 0, 3],
            &[8, u32::MAX],
            &[0x3_0109, 2, 0, 1, 5, 5],
            &[0x3_0109, 2, 0, 1, 5, 8],
            &[0xff_0109, 2, 0, 1, 5, 6],
            &deep,
            &[],
        ] {
            let broken = decode_owned(words, 0, Dialect::ArcDsl);
            assert!(
                matches!(broken, Err(WireError::Broken { .. })),
                "{broken:?}"
            );
            assert!(skip(words, 0).is_err());
            Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
                assert!(decode(run, words, 0).is_err());
            });
        }
    }
}
