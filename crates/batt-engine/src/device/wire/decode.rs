//! Words to values: of a run, or such as stand on their own.

use std::sync::OnceLock;

use batt_dsl::{Cell, Dialect, OpId, Outcome, OwnedFloat, OwnedValue, Run, SetTable, Value};

use super::{DUMMIES, ORDERED, WireError, kind, pair_of};

/// Containers nest less deeply than this in any run.
const DEEPEST: usize = 1000;

/// The value at a word, in a run, and where the next one begins. Sets keep the order that the words give.
pub fn decode<'r>(
    run: &mut Run<'r>,
    words: &[u32],
    at: usize,
) -> Result<(Value<'r>, usize), WireError> {
    Reader::read(words, at, &mut InRun(run))
}

/// The value at a word, on its own, and where the next one begins.
pub fn decode_owned(
    words: &[u32],
    at: usize,
    dialect: Dialect,
) -> Result<(OwnedValue, usize), WireError> {
    Reader::read(words, at, &mut Owned(dialect))
}

/// Where the value after this one begins.
pub fn skip(words: &[u32], at: usize) -> Result<usize, WireError> {
    Reader::read(words, at, &mut Nobody).map(|((), end)| end)
}

/// The order of a set.
struct Order<'w> {
    slots: &'w [u32],
    log2_size: u32,
    dummies: bool,
}

/// Who makes values of what is read.
trait Maker {
    type Value;

    fn none(&mut self) -> Self::Value;
    fn bool(&mut self, b: bool) -> Self::Value;
    fn int(&mut self, n: i64) -> Self::Value;
    fn float(&mut self, x: f64) -> Self::Value;
    fn pair(&mut self, word: u32) -> Self::Value;
    fn cell(&mut self, word: u32, color: u32) -> Self::Value;
    fn row(&mut self, cells: Bytes<'_>) -> Outcome<Self::Value>;
    fn grid(&mut self, height: usize, width: usize, cells: Bytes<'_>) -> Outcome<Self::Value>;
    fn tuple(&mut self, items: Vec<Self::Value>) -> Outcome<Self::Value>;
    /// A set of less than two elements, or of two and more in their order.
    fn set(&mut self, elements: Vec<Self::Value>, order: &Order<'_>) -> Outcome<Self::Value>;
    fn function(&mut self, number: u32) -> Outcome<Self::Value>;
}

struct Reader<'w> {
    words: &'w [u32],
    at: usize,
    depth: usize,
}

impl<'w> Reader<'w> {
    fn read<M: Maker>(
        words: &'w [u32],
        at: usize,
        maker: &mut M,
    ) -> Result<(M::Value, usize), WireError> {
        let mut reader = Reader {
            words,
            at,
            depth: 0,
        };
        let value = reader.value(maker)?;
        Ok((value, reader.at))
    }

    fn value<M: Maker>(&mut self, maker: &mut M) -> Result<M::Value, WireError> {
        let at = self.at;
        let broken = |what| WireError::Broken { at, what };
        let head = self.word()?;
        let (kind, flags, lg) = (head & 0xff, head >> 8 & 0xff, head >> 16);
        Ok(match kind {
            kind::NONE => maker.none(),
            kind::BOOL => maker.bool(flags & 1 != 0),
            kind::INT => {
                let bits = self.long()?;
                maker.int(bits as i64)
            }
            kind::FLOAT => {
                let bits = self.long()?;
                maker.float(f64::from_bits(bits))
            }
            kind::PAIR => {
                let word = self.word()?;
                maker.pair(word)
            }
            kind::CELL => {
                let [word, color] = self.two()?;
                maker.cell(word, color)
            }
            kind::ROW => {
                let len = self.word()? as usize;
                let cells = self.bytes(len)?;
                maker.row(cells)?
            }
            kind::GRID => {
                let [height, width] = self.two()?.map(|side| side as usize);
                let len = height.checked_mul(width).filter(|len| *len > 0);
                let cells = self.bytes(len.ok_or_else(|| broken("a grid without cells"))?)?;
                maker.grid(height, width, cells)?
            }
            kind::TUPLE => {
                let len = self.word()? as usize;
                let items = self.many(len, maker, Reader::value)?;
                maker.tuple(items)?
            }
            kind::PAIRS | kind::CELLS | kind::SET => {
                let len = self.word()? as usize;
                let elements = match kind {
                    kind::PAIRS => self.many(len, maker, |reader, maker| {
                        let word = reader.word()?;
                        Ok(maker.pair(word))
                    }),
                    kind::CELLS => self.many(len, maker, |reader, maker| {
                        let [word, color] = reader.two()?;
                        Ok(maker.cell(word, color))
                    }),
                    _ => self.many(len, maker, Reader::value),
                }?;
                if len > 1 && flags & ORDERED == 0 {
                    return Err(WireError::Unordered { at });
                }
                let slots = self.take(if len > 1 { len } else { 0 })?;
                let growing = slots.windows(2).all(|two| two[0] < two[1]);
                let inside = slots
                    .last()
                    .is_none_or(|last| u64::from(*last) >> lg.min(63) == 0);
                if !growing || !inside || lg > 31 {
                    return Err(broken("no order of a set"));
                }
                let order = Order {
                    slots,
                    log2_size: lg,
                    dummies: flags & DUMMIES != 0,
                };
                maker.set(elements, &order)?
            }
            kind::OP => {
                let number = self.word()?;
                maker.function(number)?
            }
            _ => return Err(broken("an unknown kind")),
        })
    }

    /// Values one after the other.
    fn many<M: Maker>(
        &mut self,
        len: usize,
        maker: &mut M,
        mut one: impl FnMut(&mut Self, &mut M) -> Result<M::Value, WireError>,
    ) -> Result<Vec<M::Value>, WireError> {
        // Every value has a word, so a count beyond the words that are left is none.
        if len > self.words.len().saturating_sub(self.at) || self.depth >= DEEPEST {
            return Err(self.short());
        }
        self.depth += 1;
        let values = (0..len).map(|_| one(self, maker));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        self.depth -= 1;
        Ok(values)
    }

    fn short(&self) -> WireError {
        WireError::Broken {
            at: self.at,
            what: "it does not end",
        }
    }

    fn take(&mut self, len: usize) -> Result<&'w [u32], WireError> {
        let end = self.at.checked_add(len);
        let words = end.and_then(|end| self.words.get(self.at..end));
        let words = words.ok_or_else(|| self.short())?;
        self.at += len;
        Ok(words)
    }

    fn word(&mut self) -> Result<u32, WireError> {
        Ok(self.take(1)?[0])
    }

    fn two(&mut self) -> Result<[u32; 2], WireError> {
        let words = self.take(2)?;
        Ok([words[0], words[1]])
    }

    fn long(&mut self) -> Result<u64, WireError> {
        let [low, high] = self.two()?;
        Ok(u64::from(low) | u64::from(high) << 32)
    }

    fn bytes(&mut self, len: usize) -> Result<Bytes<'w>, WireError> {
        let words = self.take(len.div_ceil(4))?;
        Ok(Bytes { words, len })
    }
}

/// Bytes, four to a word.
struct Bytes<'w> {
    words: &'w [u32],
    len: usize,
}

impl Bytes<'_> {
    fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.words.len() * 4);
        for word in self.words {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.truncate(self.len);
        bytes
    }
}

/// The primitive of a number.
fn op(number: u32) -> Option<OpId> {
    static EVERY: OnceLock<Vec<OpId>> = OnceLock::new();
    let every = EVERY.get_or_init(|| OpId::every().collect());
    every.get(number as usize).copied()
}

/// Values of a run.
struct InRun<'a, 'r>(&'a mut Run<'r>);

impl<'r> Maker for InRun<'_, 'r> {
    type Value = Value<'r>;

    fn none(&mut self) -> Value<'r> {
        Value::None
    }

    fn bool(&mut self, b: bool) -> Value<'r> {
        Value::bool(b)
    }

    fn int(&mut self, n: i64) -> Value<'r> {
        Value::Int(n)
    }

    fn float(&mut self, x: f64) -> Value<'r> {
        Value::float(x)
    }

    fn pair(&mut self, word: u32) -> Value<'r> {
        Value::pair(pair_of(word))
    }

    fn cell(&mut self, word: u32, color: u32) -> Value<'r> {
        Value::cell(Cell::new(color as i32, pair_of(word)))
    }

    fn row(&mut self, cells: Bytes<'_>) -> Outcome<Value<'r>> {
        self.0.make_row(&cells.to_vec())
    }

    fn grid(&mut self, height: usize, width: usize, cells: Bytes<'_>) -> Outcome<Value<'r>> {
        self.0.input(height, width, &cells.to_vec())
    }

    fn tuple(&mut self, items: Vec<Value<'r>>) -> Outcome<Value<'r>> {
        self.0.make_tuple(&items)
    }

    fn set(&mut self, elements: Vec<Value<'r>>, order: &Order<'_>) -> Outcome<Value<'r>> {
        if elements.len() < 2 {
            return self.0.make_set(&elements);
        }
        self.0.set_with_table(&SetTable {
            elements: &elements,
            slots: order.slots,
            log2_size: order.log2_size,
            dummies: order.dummies,
        })
    }

    fn function(&mut self, number: u32) -> Outcome<Value<'r>> {
        match op(number) {
            Some(op) => Ok(Value::Op(op)),
            None => self.0.unknown_function(),
        }
    }
}

/// Values on their own.
struct Owned(Dialect);

impl Owned {
    fn tuple_of(items: impl IntoIterator<Item = i64>) -> OwnedValue {
        OwnedValue::Tuple(items.into_iter().map(OwnedValue::Int).collect())
    }
}

impl Maker for Owned {
    type Value = OwnedValue;

    fn none(&mut self) -> OwnedValue {
        OwnedValue::None
    }

    fn bool(&mut self, b: bool) -> OwnedValue {
        OwnedValue::Bool(b)
    }

    fn int(&mut self, n: i64) -> OwnedValue {
        OwnedValue::Int(n)
    }

    fn float(&mut self, x: f64) -> OwnedValue {
        OwnedValue::Float(OwnedFloat::new(x))
    }

    fn pair(&mut self, word: u32) -> OwnedValue {
        let pair = pair_of(word);
        Owned::tuple_of([pair.i.into(), pair.j.into()])
    }

    fn cell(&mut self, word: u32, color: u32) -> OwnedValue {
        let (at, color) = (pair_of(word), i64::from(color as i32));
        if self.0.cells_are_triples() {
            return Owned::tuple_of([at.i.into(), at.j.into(), color]);
        }
        OwnedValue::Tuple(vec![OwnedValue::Int(color), self.pair(word)])
    }

    fn row(&mut self, cells: Bytes<'_>) -> Outcome<OwnedValue> {
        let cells = cells.to_vec();
        Ok(Owned::tuple_of(cells.into_iter().map(i64::from)))
    }

    fn grid(&mut self, _: usize, width: usize, cells: Bytes<'_>) -> Outcome<OwnedValue> {
        Ok(OwnedValue::grid(cells.to_vec().chunks_exact(width)))
    }

    fn tuple(&mut self, items: Vec<OwnedValue>) -> Outcome<OwnedValue> {
        Ok(OwnedValue::Tuple(items))
    }

    fn set(&mut self, elements: Vec<OwnedValue>, _: &Order<'_>) -> Outcome<OwnedValue> {
        Ok(OwnedValue::Set(elements))
    }

    fn function(&mut self, _: u32) -> Outcome<OwnedValue> {
        Ok(OwnedValue::Function)
    }
}

/// Nobody wants the value: only where it ends.
struct Nobody;

impl Maker for Nobody {
    type Value = ();

    fn none(&mut self) {}
    fn bool(&mut self, _: bool) {}
    fn int(&mut self, _: i64) {}
    fn float(&mut self, _: f64) {}
    fn pair(&mut self, _: u32) {}
    fn cell(&mut self, _: u32, _: u32) {}

    fn row(&mut self, _: Bytes<'_>) -> Outcome<()> {
        Ok(())
    }

    fn grid(&mut self, _: usize, _: usize, _: Bytes<'_>) -> Outcome<()> {
        Ok(())
    }

    fn tuple(&mut self, _: Vec<()>) -> Outcome<()> {
        Ok(())
    }

    fn set(&mut self, _: Vec<()>, _: &Order<'_>) -> Outcome<()> {
        Ok(())
    }

    fn function(&mut self, _: u32) -> Outcome<()> {
        Ok(())
    }
}
