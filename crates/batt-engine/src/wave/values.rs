//! Values that come back from a device, as words. `device/pack.cuh` describes the forms.

use batt_dsl::{Cell, IntPair, Run, Value};

use super::execute::{Chunk, Failure, Room};
use super::layout::{Heap, Node, bytes_of, bytes_of_mut};
use super::plan::SAMPLES;
use super::records::WaveRecords;
use super::report::WaveReason;
use crate::device::wire::WireError;

/// In the place of the words of a value that cannot be packed, above the reason.
const UNPACKED: u32 = 0xffff_ff00;

/// The fewest bytes of room for a value.
const LEAST_BYTES: u64 = 64;

/// Containers nest at most this deeply: `PACKED_DEPTH` in `pack.cuh`, and the items.
const DEEPEST: usize = 6;

/// The forms: `Packing` in `pack.cuh`.
mod form {
    pub const NONE: u32 = 0;
    pub const BOOL: u32 = 1;
    pub const INT: u32 = 2;
    pub const SMALL: u32 = 3;
    pub const PAIR: u32 = 4;
    pub const CELL: u32 = 5;
    pub const GRID: u32 = 6;
    pub const INDICES: u32 = 7;
    pub const OBJECT: u32 = 8;
    pub const TUPLE: u32 = 9;
    pub const SET: u32 = 10;
}

/// The values of a chunk.
#[derive(Debug, Default)]
pub(super) struct PackedValues {
    /// For each value, the place of its words, or [`UNPACKED`] with the reason.
    places: Vec<u32>,
    words: Vec<u32>,
}

/// Values that the device packs.
pub(super) struct Packing {
    places_at: u64,
    heap_at: u64,
    words_at: u64,
    /// The number of values.
    count: usize,
}

impl Chunk<'_, '_> {
    /// Packs the values of all plans. Returns `None` if there are none.
    pub(super) fn pack(&mut self, room: &mut Room) -> Result<Option<Packing>, Failure> {
        let counts = self.slices.iter().enumerate();
        let counts = counts.map(|(slice, part)| self.batch(slice).plan.values.len() * part.count);
        let count: usize = counts.sum();
        if count == 0 {
            return Ok(None);
        }
        let places_at = room.values.take(4 * count as u64)?;
        let heap_at = room.facts.take(size_of::<Heap>() as u64)?;
        // The words take the rest of the memory for values.
        let rest = room.values.end.saturating_sub(room.values.next);
        let bytes = rest.saturating_sub(256) & !255;
        // Places are 32-bit numbers of words.
        let bytes = bytes.min(u64::from(UNPACKED) * 4);
        if bytes < LEAST_BYTES * count as u64 {
            return Err(Failure::Room);
        }
        let words_at = room.values.take(bytes)?;
        let heap = Heap {
            size: bytes,
            base: words_at,
            ..Heap::default()
        };
        self.engine.device.upload(heap_at, bytes_of(&[heap]))?;
        let mut nodes = Vec::new();
        let mut out = places_at;
        for (slice, part) in self.slices.iter().enumerate() {
            let plan = self.batch(slice).plan;
            for &value in &plan.values {
                let mut node = Node {
                    out,
                    payload: heap_at,
                    items: part.count as u32,
                    dialect: plan.dialect as u32,
                    ..Node::default()
                };
                node.args[0] = self.arg(slice, value, SAMPLES);
                nodes.push(node);
                out += 4 * part.count as u64;
            }
        }
        let kernel = self.engine.table().special("pack");
        self.launch(&[(kernel, &nodes)], room)?;
        Ok(Some(Packing {
            places_at,
            heap_at,
            words_at,
            count,
        }))
    }

    /// Copies packed values to the host.
    pub(super) fn unpack(
        &mut self,
        packing: &Packing,
        samples: usize,
    ) -> Result<PackedValues, Failure> {
        let device = &mut self.engine.device;
        let mut heap = [Heap::default()];
        device.download(packing.heap_at, bytes_of_mut(&mut heap))?;
        let [Heap { used, size, .. }] = heap;
        // With a single sample there is nothing left to divide.
        if used > size && samples > 1 {
            return Err(Failure::Room);
        }
        let mut values = PackedValues {
            places: vec![0; packing.count],
            words: vec![0; used.min(size) as usize / 4],
        };
        device.download(packing.places_at, bytes_of_mut(&mut values.places))?;
        device.download(packing.words_at, bytes_of_mut(&mut values.words))?;
        Ok(values)
    }
}

impl PackedValues {
    /// Returns the words from a value on, or why it cannot be packed.
    fn words(&self, number: usize) -> Result<&[u32], WaveReason> {
        let place = *self.places.get(number).ok_or(WaveReason::Device)?;
        if place >= UNPACKED {
            let reason = WaveReason::ALL.get((place & 0xff) as usize);
            return Err(reason.copied().unwrap_or(WaveReason::Device));
        }
        self.words.get(place as usize..).ok_or(WaveReason::Device)
    }
}

impl WaveRecords {
    /// Returns the words from a value of a batch's plan on, for one of its samples, or why they are
    /// not there.
    pub(crate) fn value(
        &self,
        batch: usize,
        value: u32,
        sample: usize,
    ) -> Result<&[u32], WaveReason> {
        let segment = self.segment(batch, sample).ok_or(WaveReason::Device)?;
        let packed = self.packed.get(segment.chunk).ok_or(WaveReason::Device)?;
        let at = value as usize * segment.count + (sample - segment.first);
        packed.words(segment.values + at)
    }
}

/// The error for words that are no value: a bug of the device.
const BROKEN: WireError = WireError::Broken {
    at: 0,
    what: "no packed value",
};

/// Returns the value that words begin with. Sets keep their iteration order.
pub(crate) fn decode<'r>(run: &mut Run<'r>, words: &[u32]) -> Result<Value<'r>, WireError> {
    Reader { words, depth: 0 }.value(run)
}

struct Reader<'w> {
    words: &'w [u32],
    depth: usize,
}

impl<'w> Reader<'w> {
    fn value<'r>(&mut self, run: &mut Run<'r>) -> Result<Value<'r>, WireError> {
        let head = self.word()?;
        let above = (head >> 8) as usize;
        Ok(match head & 0xff {
            form::NONE => Value::None,
            form::BOOL => Value::bool(above & 1 == 1),
            form::INT => {
                let (low, high) = (self.word()?, self.word()?);
                Value::Int((u64::from(low) | u64::from(high) << 32) as i64)
            }
            form::SMALL => Value::Int(i64::from(head as i32 >> 8)),
            form::PAIR => Value::pair(location(self.word()?)),
            form::CELL => {
                let at = location(self.word()?);
                Value::cell(Cell::new((above & 15) as i32, at))
            }
            form::GRID => self.grid(run, above & 0xff, above >> 8)?,
            form @ (form::INDICES | form::OBJECT) => self.patch(run, form, above)?,
            form @ (form::TUPLE | form::SET) => {
                // Each item has a word.
                if self.depth >= DEEPEST || above > self.words.len() {
                    return Err(BROKEN);
                }
                self.depth += 1;
                let items = (0..above).map(|_| self.value(run));
                let items = items.collect::<Result<Vec<_>, _>>()?;
                self.depth -= 1;
                match form {
                    form::SET => run.set_in_order(&items, None)?,
                    _ if items.is_empty() => Value::EMPTY_TUPLE,
                    _ => run.make_tuple(&items)?,
                }
            }
            _ => return Err(BROKEN),
        })
    }

    fn grid<'r>(
        &mut self,
        run: &mut Run<'r>,
        height: usize,
        width: usize,
    ) -> Result<Value<'r>, WireError> {
        let count = height * width;
        if count == 0 {
            return Err(BROKEN);
        }
        let mut cells = Vec::with_capacity(count + 7);
        for word in self.take(count.div_ceil(8))? {
            cells.extend((0..8).map(|cell| (word >> (4 * cell)) as u8 & 15));
        }
        cells.truncate(count);
        Ok(run.input(height, width, &cells)?)
    }

    fn patch<'r>(
        &mut self,
        run: &mut Run<'r>,
        form: u32,
        count: usize,
    ) -> Result<Value<'r>, WireError> {
        if count == 0 {
            return Ok(run.set_in_order(&[], None)?);
        }
        let corner = location(self.word()?);
        let words = self.take(count.div_ceil(2))?;
        let element = |at: usize| {
            let bits = words[at / 2] >> (16 * (at % 2));
            let (row, column) = ((bits & 31) as i16, (bits >> 5 & 31) as i16);
            let at = IntPair::new(corner.i.wrapping_add(row), corner.j.wrapping_add(column));
            match form {
                form::OBJECT => Value::cell(Cell::new((bits >> 10 & 15) as i32, at)),
                _ => Value::pair(at),
            }
        };
        let elements: Vec<Value<'r>> = (0..count).map(element).collect();
        Ok(run.set_in_order(&elements, None)?)
    }

    fn word(&mut self) -> Result<u32, WireError> {
        Ok(self.take(1)?[0])
    }

    fn take(&mut self, count: usize) -> Result<&'w [u32], WireError> {
        let (taken, rest) = (self.words.split_at_checked(count)).ok_or(BROKEN)?;
        self.words = rest;
        Ok(taken)
    }
}

fn location(word: u32) -> IntPair {
    IntPair::new((word >> 16) as i16, word as i16)
}

#[cfg(test)]
mod tests {
    use batt_dsl::{Dialect, Limits, OwnedValue, Workspace};

    use super::*;

    fn decoded(words: &[u32]) -> Option<OwnedValue> {
        Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
            let value = decode(run, words).ok()?;
            run.to_owned(value).ok()
        })
    }

    #[test]
    fn words_become_values() {
        let shown = |words: &[u32]| decoded(words).map(|value| value.to_string());
        assert_eq!(shown(&[form::NONE]).as_deref(), Some("None"));
        assert_eq!(shown(&[form::BOOL | 1 << 8]).as_deref(), Some("True"));
        assert_eq!(shown(&[form::SMALL | 0xffff_ff00]).as_deref(), Some("-1"));
        assert_eq!(shown(&[form::INT, 1, 1]).as_deref(), Some("4294967297"));
        let grid = [form::GRID | 2 << 8 | 3 << 16, 0x0065_4321];
        assert_eq!(shown(&grid).as_deref(), Some("((1, 2, 3), (4, 5, 6))"));
        // Two cells of colour 7, the lower one first.
        let object = [form::OBJECT | 2 << 8, 0xffff_0002, 0x1c01 | 0x1c00 << 16];
        let cells = "frozenset({(7, (0, 2)), (7, (-1, 2))})";
        assert_eq!(shown(&object).as_deref(), Some(cells));
        let pair = [
            form::TUPLE | 2 << 8,
            form::SMALL,
            form::SET | 1 << 8,
            form::PAIR,
            5,
        ];
        assert_eq!(shown(&pair).as_deref(), Some("(0, frozenset({(0, 5)}))"));
        assert_eq!(shown(&[form::TUPLE]).as_deref(), Some("()"));
    }

    #[test]
    fn words_that_make_no_sense_are_an_error() {
        let deep = [form::TUPLE | 1 << 8].repeat(100);
        for words in [
            &[][..],
            &[99],
            &[form::INT, 1],
            &[form::GRID, 0],
            &[form::GRID | 2 << 8 | 30 << 16, 0],
            &[form::TUPLE | 9 << 8, 0],
            &[form::OBJECT | 4 << 8, 0, 0],
            &deep,
        ] {
            assert_eq!(decoded(words), None, "{words:?}");
        }
    }
}
