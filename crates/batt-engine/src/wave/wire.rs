//! Values of the host in the layout of the device.

use batt_dsl::{Dialect, Literal, OwnedValue};

use super::layout::{Kind, RawValue};

/// The most rows and columns of grids and of the bounds of patches: `SIDE` in `value.cuh`.
pub(super) const SIDE: usize = 32;

/// The words of the payload of a grid.
pub(super) const GRID_WORDS: usize = 128;

/// Values with their payloads. An address is an offset into the payloads until
/// [`placed`](Encoded::placed) is called.
#[derive(Clone, Debug, Default)]
pub(super) struct Encoded {
    values: Vec<RawValue>,
    payloads: Vec<u32>,
    /// The values, and the places among the payloads, whose last word pair is an address.
    moved: Vec<Moved>,
}

#[derive(Clone, Copy, Debug)]
enum Moved {
    Value(usize),
    /// A value in a payload, by the number of its first word.
    Inner(usize),
}

impl Encoded {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns a value that is a plain integer.
    pub fn int_at(&self, number: usize) -> Option<i64> {
        let value = self.values.get(number)?;
        (value.kind == Kind::Int as u8).then_some(value.bits as i64)
    }

    /// Returns whether a value is a location or a cell.
    pub fn is_flat(&self, number: usize) -> bool {
        let flat = [Kind::Pair as u8, Kind::Cell as u8];
        (self.values.get(number)).is_some_and(|value| flat.contains(&value.kind))
    }

    /// Returns the bytes of the payloads.
    pub fn payload_bytes(&self) -> u64 {
        self.payloads.len() as u64 * 4
    }

    /// Appends the values, and their payloads, to those of other plans. All payloads together will be
    /// at an address.
    pub fn place(&self, address: u64, values: &mut Vec<RawValue>, payloads: &mut Vec<u32>) {
        let (first_value, first_word) = (values.len(), payloads.len());
        let address = address + 4 * first_word as u64;
        values.extend_from_slice(&self.values);
        payloads.extend_from_slice(&self.payloads);
        for moved in &self.moved {
            match *moved {
                Moved::Value(at) => values[first_value + at].bits += address,
                Moved::Inner(at) => {
                    let word = &mut payloads[first_word + at + 2..][..2];
                    let bits = u64::from(word[0]) | u64::from(word[1]) << 32;
                    let bits = bits + address;
                    word[0] = bits as u32;
                    word[1] = (bits >> 32) as u32;
                }
            }
        }
    }

    /// Adds a value without a payload. Returns its number.
    pub fn push_raw(&mut self, value: RawValue) -> usize {
        self.values.push(value);
        self.values.len() - 1
    }

    /// Adds a value. Returns its number, or `None` if the device has no form for it.
    pub fn push(&mut self, dialect: Dialect, value: &OwnedValue) -> Option<usize> {
        let (raw, has_address) = self.encode(dialect, value)?;
        if has_address {
            self.moved.push(Moved::Value(self.values.len()));
        }
        Some(self.push_raw(raw))
    }

    /// Encodes a value. Returns it, and whether it has an address.
    fn encode(&mut self, dialect: Dialect, value: &OwnedValue) -> Option<(RawValue, bool)> {
        Some(match value {
            OwnedValue::None => (raw(Kind::None, 0, 0), false),
            OwnedValue::Bool(value) => (raw(Kind::Bool, 0, u64::from(*value)), false),
            OwnedValue::Int(number) => (raw(Kind::Int, 0, *number as u64), false),
            OwnedValue::Float(_) | OwnedValue::Function => return None,
            OwnedValue::Tuple(items) => {
                if let Some(flat) = pair(value).or_else(|| cell(dialect, value)) {
                    return Some((flat, false));
                }
                match rows_of(value) {
                    Some(rows) => (self.grid(&rows), true),
                    None => self.list(dialect, Kind::Tuple, items)?,
                }
            }
            OwnedValue::Set(items) if items.is_empty() => (raw(Kind::Indices, 0, 0), false),
            OwnedValue::Set(items) => match self.patch(dialect, items) {
                Some(patch) => (patch, true),
                None => self.list(dialect, Kind::Set, items)?,
            },
        })
    }

    fn address(&self) -> u64 {
        self.payloads.len() as u64 * 4
    }

    fn align(&mut self) {
        self.payloads
            .resize(self.payloads.len().next_multiple_of(4), 0);
    }

    fn grid(&mut self, rows: &[Vec<u8>]) -> RawValue {
        let bits = self.address();
        let mut words = [0; GRID_WORDS];
        for (row, cells) in rows.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                for plane in 0..4 {
                    words[32 * plane + row] |= u32::from(cell >> plane & 1) << column;
                }
            }
        }
        self.payloads.extend(words);
        let (height, width) = (rows.len() as u8, rows[0].len() as u8);
        RawValue {
            a: height,
            b: width,
            ..raw(Kind::Grid, 0, bits)
        }
    }

    fn list(
        &mut self,
        dialect: Dialect,
        kind: Kind,
        items: &[OwnedValue],
    ) -> Option<(RawValue, bool)> {
        let mut encoded = Vec::with_capacity(items.len());
        for item in items {
            encoded.push(self.encode(dialect, item)?);
        }
        self.align();
        let bits = self.address();
        for (item, has_address) in encoded {
            if has_address {
                self.moved.push(Moved::Inner(self.payloads.len()));
            }
            let head = u32::from_le_bytes([item.kind, item.a, item.b, item.c]);
            let tail = [item.bits as u32, (item.bits >> 32) as u32];
            self.payloads.extend([head, item.len, tail[0], tail[1]]);
        }
        let mut list = raw(kind, u32::try_from(items.len()).ok()?, bits);
        // A set of the outside stands in iteration order: `IN_ORDER` in `value.cuh`.
        list.c = u8::from(kind == Kind::Set);
        Some((list, true))
    }

    /// Encodes a set of locations, or of cells with one colour at each location.
    fn patch(&mut self, dialect: Dialect, items: &[OwnedValue]) -> Option<RawValue> {
        let mut cells: Vec<(i16, i16, Option<u8>)> = Vec::with_capacity(items.len());
        for item in items {
            let flat = pair(item).map(|at| (at, None));
            let flat = flat.or_else(|| cell(dialect, item).map(|at| (at, Some(at.a))));
            let (at, color) = flat?;
            cells.push(((at.len >> 16) as i16, at.len as i16, color));
        }
        let has_colors = cells[0].2.is_some();
        if cells.iter().any(|cell| cell.2.is_some() != has_colors) {
            return None;
        }
        let top = cells.iter().map(|cell| cell.0).min()?;
        let left = cells.iter().map(|cell| cell.1).min()?;
        let span = |low: i16, high: i16| (i32::from(high) - i32::from(low) + 1) as usize;
        let height = span(top, cells.iter().map(|cell| cell.0).max()?);
        let width = span(left, cells.iter().map(|cell| cell.1).max()?);
        if height > SIDE || width > SIDE {
            return None;
        }
        let first = cells[0].2;
        let several = cells.iter().any(|cell| cell.2 != first);
        let boards = if several { 5 } else { 1 };
        let mut words = vec![0_u32; boards * height];
        for (i, j, color) in &cells {
            let (row, column) = (span(top, *i) - 1, span(left, *j) - 1);
            // Two colours at one location need a list.
            if words[row] >> column & 1 == 1 {
                return None;
            }
            words[row] |= 1 << column;
            for plane in (0..4).filter(|_| several) {
                let bit = color.is_some_and(|color| color >> plane & 1 == 1);
                words[(plane + 1) * height + row] |= u32::from(bit) << column;
            }
        }
        let bits = self.address() | (cells.len() as u64) << 48;
        self.payloads.extend(words);
        self.align();
        Some(RawValue {
            a: height as u8,
            b: width as u8,
            // `PLANES` in `value.cuh`.
            c: if several { 255 } else { first.unwrap_or(0) },
            ..raw(
                if has_colors {
                    Kind::Object
                } else {
                    Kind::Indices
                },
                location(top, left),
                bits,
            )
        })
    }
}

fn raw(kind: Kind, len: u32, bits: u64) -> RawValue {
    RawValue {
        kind: kind as u8,
        len,
        bits,
        ..RawValue::default()
    }
}

/// Returns the value that stands for a primitive.
pub(super) fn op_value(property: u32) -> RawValue {
    raw(Kind::Op, property, 0)
}

/// Returns the value that stands for a fault.
pub(super) fn fault_value(code: u8) -> RawValue {
    RawValue {
        a: code,
        ..raw(Kind::Fault, 0, 0)
    }
}

fn location(i: i16, j: i16) -> u32 {
    u32::from(i as u16) << 16 | u32::from(j as u16)
}

/// Returns a pair of small plain integers.
fn pair(value: &OwnedValue) -> Option<RawValue> {
    match value {
        OwnedValue::Tuple(items) => match items.as_slice() {
            [OwnedValue::Int(i), OwnedValue::Int(j)] => {
                let at = location(i16::try_from(*i).ok()?, i16::try_from(*j).ok()?);
                Some(raw(Kind::Pair, at, 0))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns a cell: `(colour, (i, j))`, or `(i, j, colour)` in tokpidjin.
fn cell(dialect: Dialect, value: &OwnedValue) -> Option<RawValue> {
    let OwnedValue::Tuple(items) = value else {
        return None;
    };
    let (color, at) = match (dialect, items.as_slice()) {
        (
            Dialect::Tokpidjin,
            [
                OwnedValue::Int(i),
                OwnedValue::Int(j),
                OwnedValue::Int(color),
            ],
        ) => (
            color,
            location(i16::try_from(*i).ok()?, i16::try_from(*j).ok()?),
        ),
        (Dialect::Tokpidjin, _) => return None,
        (_, [OwnedValue::Int(color), at]) => (color, pair(at)?.len),
        _ => return None,
    };
    let color = u8::try_from(*color).ok().filter(|color| *color < 16)?;
    Some(RawValue {
        a: color,
        ..raw(Kind::Cell, at, 0)
    })
}

/// Returns the rows of a grid that the device has a form for.
fn rows_of(value: &OwnedValue) -> Option<Vec<Vec<u8>>> {
    let OwnedValue::Tuple(rows) = value else {
        return None;
    };
    let row = |row: &OwnedValue| match row {
        OwnedValue::Tuple(cells) => cells
            .iter()
            .map(|cell| match cell {
                OwnedValue::Int(color @ 0..16) => Some(*color as u8),
                _ => None,
            })
            .collect::<Option<Vec<u8>>>(),
        _ => None,
    };
    let rows: Vec<Vec<u8>> = rows.iter().map(row).collect::<Option<_>>()?;
    let width = rows.first()?.len();
    let fits = (1..=SIDE).contains(&width) && rows.len() <= SIDE;
    (fits && rows.iter().all(|row| row.len() == width)).then_some(rows)
}

/// Returns a literal as a value.
pub(super) fn literal_value(literal: &Literal) -> OwnedValue {
    match literal {
        Literal::None => OwnedValue::None,
        Literal::Bool(value) => OwnedValue::Bool(*value),
        Literal::Int(number) => OwnedValue::Int(*number),
        Literal::Tuple(items) => OwnedValue::Tuple(items.iter().map(literal_value).collect()),
    }
}
