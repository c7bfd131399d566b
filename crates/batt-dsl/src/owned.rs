//! Values outside a run: results, arguments, and the contents of files.

use std::fmt::{self, Write as _};

use serde_json::Value as Json;

use crate::fault::{Fault, Outcome};
use crate::run::Run;
use crate::set::Elems;
use crate::value::{ClosureForm, GridView, Value};

/// A value that does not depend on a run.
///
/// Equality is strict: kinds and the order of sets count, and `True` is not `1`. Two equal values
/// are indistinguishable, which is more than Python's `==` says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OwnedValue {
    /// `None`
    None,
    /// A bool
    Bool(bool),
    /// An integer
    Int(i64),
    /// A float
    Float(OwnedFloat),
    /// A tuple
    Tuple(Vec<OwnedValue>),
    /// A frozenset, in iteration order
    Set(Vec<OwnedValue>),
    /// A function; its identity is lost outside its run
    Function,
}

/// A float outside a run. All nans are the same, so that it can be compared and hashed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OwnedFloat(u64);

impl OwnedFloat {
    /// Makes a float; the identity of a nan is lost.
    pub fn new(x: f64) -> OwnedFloat {
        OwnedFloat(if x.is_nan() { f64::NAN } else { x }.to_bits())
    }

    /// The float.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// Reads the output of Python's `repr`.
    fn from_repr(text: &str) -> Option<OwnedFloat> {
        text.parse().ok().map(OwnedFloat::new)
    }
}

/// Writes the float as Python's `repr` does.
impl fmt::Display for OwnedFloat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = self.get();
        if x.is_nan() {
            f.write_str("nan")
        } else {
            // Rust's Debug writes the same, except for the names of nan and the infinities.
            write!(f, "{x:?}")
        }
    }
}

impl fmt::Debug for OwnedFloat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The reason why a JSON text is not a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError(String);

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

impl OwnedValue {
    /// Makes the tuple of tuples of a grid's rows.
    pub fn grid<'a>(rows: impl IntoIterator<Item = &'a [u8]>) -> OwnedValue {
        let int = |&c: &u8| OwnedValue::Int(c.into());
        let row = |row: &[u8]| OwnedValue::Tuple(row.iter().map(int).collect());
        OwnedValue::Tuple(rows.into_iter().map(row).collect())
    }

    /// Returns the rows, if the value is a tuple of equally long, non-empty tuples of plain
    /// integers 0 to 9.
    pub fn as_grid(&self) -> Option<Vec<Vec<u8>>> {
        let OwnedValue::Tuple(rows) = self else {
            return None;
        };
        let rows: Option<Vec<Vec<u8>>> = rows.iter().map(OwnedValue::digits).collect();
        rows.filter(|rows| {
            rows.first().is_some_and(|first| {
                !first.is_empty() && rows.iter().all(|row| row.len() == first.len())
            })
        })
    }

    fn digits(&self) -> Option<Vec<u8>> {
        let OwnedValue::Tuple(items) = self else {
            return None;
        };
        items
            .iter()
            .map(|item| match item {
                OwnedValue::Int(n @ 0..=9) => Some(*n as u8),
                _ => None,
            })
            .collect()
    }

    /// Returns the JSON encoding: numbers, bools, `null`, `{"g": rows}` for grids, `{"t": ...}` for
    /// other tuples, `{"s": ...}` for sets in iteration order, `{"x": "nan"}` for floats.
    pub fn to_json(&self) -> Json {
        match self {
            OwnedValue::None => Json::Null,
            OwnedValue::Bool(b) => Json::Bool(*b),
            OwnedValue::Int(n) => Json::from(*n),
            OwnedValue::Float(x) => serde_json::json!({ "x": x.to_string() }),
            OwnedValue::Set(items) => wrap("s", items),
            OwnedValue::Function => serde_json::json!({"f": "<function>"}),
            OwnedValue::Tuple(items) => match self.as_grid() {
                Some(rows) => {
                    let text = |row: &Vec<u8>| row.iter().map(|&c| (b'0' + c) as char).collect();
                    let rows: Vec<String> = rows.iter().map(text).collect();
                    serde_json::json!({ "g": rows })
                }
                None => wrap("t", items),
            },
        }
    }

    /// Reads the encoding that [`to_json`](OwnedValue::to_json) writes. Functions cannot be read.
    pub fn from_json(json: &Json) -> Result<OwnedValue, DecodeError> {
        let bad = || DecodeError(format!("not a value: {json}"));
        Ok(match json {
            Json::Null => OwnedValue::None,
            Json::Bool(b) => OwnedValue::Bool(*b),
            Json::Number(n) => OwnedValue::Int(n.as_i64().ok_or_else(bad)?),
            Json::Object(object) => {
                let (tag, inner) = object.iter().next().ok_or_else(bad)?;
                if let (Some(text), "x") = (inner.as_str(), tag.as_str()) {
                    let float = OwnedFloat::from_repr(text).ok_or_else(bad)?;
                    return Ok(OwnedValue::Float(float));
                }
                let items = inner.as_array().ok_or_else(bad)?;
                match tag.as_str() {
                    "g" => {
                        OwnedValue::Tuple(items.iter().map(decode_row).collect::<Result<_, _>>()?)
                    }
                    "t" | "s" => {
                        let items = items
                            .iter()
                            .map(OwnedValue::from_json)
                            .collect::<Result<_, _>>()?;
                        if tag == "t" {
                            OwnedValue::Tuple(items)
                        } else {
                            OwnedValue::Set(items)
                        }
                    }
                    _ => return Err(bad()),
                }
            }
            _ => return Err(bad()),
        })
    }
}

fn wrap(tag: &str, items: &[OwnedValue]) -> Json {
    let items: Vec<Json> = items.iter().map(OwnedValue::to_json).collect();
    serde_json::json!({ tag: items })
}

fn decode_row(row: &Json) -> Result<OwnedValue, DecodeError> {
    let bad = || DecodeError(format!("not a row of digits: {row}"));
    let digits = row.as_str().ok_or_else(bad)?.chars().map(|c| {
        let digit = c.to_digit(10).ok_or_else(bad)?;
        Ok(OwnedValue::Int(digit.into()))
    });
    Ok(OwnedValue::Tuple(digits.collect::<Result<_, _>>()?))
}

/// Writes the value as Python's `repr` does.
impl fmt::Display for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, items: &[OwnedValue]| {
            for (k, item) in items.iter().enumerate() {
                if k > 0 {
                    f.write_str(", ")?;
                }
                write!(f, "{item}")?;
            }
            Ok(())
        };
        match self {
            OwnedValue::None => f.write_str("None"),
            OwnedValue::Bool(true) => f.write_str("True"),
            OwnedValue::Bool(false) => f.write_str("False"),
            OwnedValue::Int(n) => write!(f, "{n}"),
            OwnedValue::Float(x) => write!(f, "{x}"),
            OwnedValue::Function => f.write_str("<function>"),
            OwnedValue::Set(items) if items.is_empty() => f.write_str("frozenset()"),
            OwnedValue::Set(items) => {
                f.write_str("frozenset({")?;
                list(f, items)?;
                f.write_str("})")
            }
            OwnedValue::Tuple(items) => {
                f.write_str("(")?;
                list(f, items)?;
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}

/// Conversions between values of a run and owned values.
impl<'r> Run<'r> {
    /// Copies a value so that it outlives the run. The copy of a set is in iteration order.
    ///
    /// A value contained many times over is written out many times, so the copy as a whole obeys
    /// the limit on the size of a value, and counts as memory of the run.
    pub fn to_owned(&mut self, v: Value<'r>) -> Outcome<OwnedValue> {
        self.check_limits()?;
        self.copy_out(v, &mut 0)
    }

    fn copy_out(&mut self, v: Value<'r>, copied: &mut usize) -> Outcome<OwnedValue> {
        let nodes = match v {
            Value::Grid(grid) => grid.cells.len(),
            Value::Row(row) => row.cells.len(),
            _ => 1,
        };
        *copied += nodes;
        self.check_len(*copied)?;
        self.reserve(nodes * size_of::<OwnedValue>())?;
        let int = |n: i64| OwnedValue::Int(n);
        Ok(match v {
            Value::Failed(fault) => return Err(fault),
            Value::None => OwnedValue::None,
            Value::Bool(b) => OwnedValue::Bool(b.get()),
            Value::Int(n) => int(n),
            Value::Float(x) => OwnedValue::Float(OwnedFloat::new(x.get())),
            Value::Op(_) | Value::Closure(_) => OwnedValue::Function,
            Value::Row(row) => {
                OwnedValue::Tuple(row.cells.iter().map(|&c| int(c.into())).collect())
            }
            Value::Grid(grid) => OwnedValue::grid(grid.rows()),
            Value::Set(set) => {
                let order = set.order(self)?;
                let items = order
                    .iter()
                    .map(|&k| self.copy_out(set.elems.get(k as usize), copied));
                OwnedValue::Set(items.collect::<Outcome<_>>()?)
            }
            _ => {
                let items = self.items(v)?;
                let items = items.iter().map(|&item| self.copy_out(item, copied));
                OwnedValue::Tuple(items.collect::<Outcome<_>>()?)
            }
        })
    }

    /// Appends the JSON encoding of a value, in the form of [`OwnedValue::to_json`], without
    /// copying the value. Text appended before a fault stays.
    pub fn write_json(&mut self, v: Value<'r>, out: &mut String) -> Outcome<()> {
        self.check_limits()?;
        let start = out.len();
        self.encode(v, start, out)
    }

    fn encode(&mut self, v: Value<'r>, start: usize, out: &mut String) -> Outcome<()> {
        // Writing to a string cannot fail.
        let _ = match v {
            Value::Failed(fault) => return Err(fault),
            Value::None => write!(out, "null"),
            Value::Bool(b) => write!(out, "{}", b.get()),
            Value::Int(n) => write!(out, "{n}"),
            Value::Float(x) => write!(out, "{{\"x\":\"{}\"}}", OwnedFloat::new(x.get())),
            Value::Op(_) | Value::Closure(_) => write!(out, "{{\"f\":\"<function>\"}}"),
            Value::Set(set) => {
                out.push_str("{\"s\":[");
                for (k, &e) in set.order(self)?.iter().enumerate() {
                    if k > 0 {
                        out.push(',');
                    }
                    self.encode(set.elems.get(e as usize), start, out)?;
                }
                out.push_str("]}");
                Ok(())
            }
            _ => match self
                .as_grid(v)
                .filter(|grid| grid.cells.iter().all(|&c| c < 10))
            {
                Some(grid) => {
                    out.push_str("{\"g\":[");
                    for (i, row) in grid.rows().enumerate() {
                        out.push_str(if i == 0 { "\"" } else { ",\"" });
                        out.extend(row.iter().map(|&c| (b'0' + c) as char));
                        out.push('"');
                    }
                    out.push_str("]}");
                    Ok(())
                }
                None => {
                    out.push_str("{\"t\":[");
                    for (k, &item) in self.items(v)?.iter().enumerate() {
                        if k > 0 {
                            out.push(',');
                        }
                        self.encode(item, start, out)?;
                    }
                    out.push_str("]}");
                    Ok(())
                }
            },
        };
        // A value contained many times over is written out many times.
        self.spend(1)?;
        self.check_len((out.len() - start) / 8)
    }

    /// Makes the value in this run. Sets are built by inserting their elements in the given order.
    /// Functions cannot come from outside.
    pub fn from_owned(&mut self, v: &OwnedValue) -> Outcome<Value<'r>> {
        let many = |run: &mut Run<'r>, items: &[OwnedValue]| {
            items
                .iter()
                .map(|item| run.from_owned(item))
                .collect::<Outcome<Vec<_>>>()
        };
        Ok(match v {
            OwnedValue::None => Value::None,
            OwnedValue::Bool(b) => Value::bool(*b),
            OwnedValue::Int(n) => Value::Int(*n),
            OwnedValue::Float(x) => Value::float(x.get()),
            OwnedValue::Function => return Err(Fault::Type),
            OwnedValue::Tuple(items) => {
                let items = many(self, items)?;
                self.tuple(&items)?
            }
            OwnedValue::Set(items) => {
                let items = many(self, items)?;
                Value::Set(self.build(&items)?)
            }
        })
    }

    /// Returns the value as a grid, if it is a rectangle of plain integers 0 to 255.
    pub fn view_grid(&mut self, v: Value<'r>) -> Option<&'r GridView<'r>> {
        self.as_grid(v)
    }

    /// Returns the elements of a set in no particular order, which is cheaper than computing the
    /// order.
    pub fn unordered(&self, v: Value<'r>) -> Option<Vec<Value<'r>>> {
        let set = v.as_set()?;
        Some(match set.elems {
            Elems::Values(values) => values.to_vec(),
            elems => (0..elems.len()).map(|k| elems.get(k)).collect(),
        })
    }

    /// Compares two values as Python's `==` does.
    pub fn equal(&mut self, a: Value<'r>, b: Value<'r>) -> bool {
        self.eq(a, b)
    }

    /// Makes a tuple of these values.
    pub fn make_tuple(&mut self, items: &[Value<'r>]) -> Outcome<Value<'r>> {
        self.tuple(items)
    }

    /// Makes a tuple of these numbers.
    pub fn make_row(&mut self, cells: &[u8]) -> Outcome<Value<'r>> {
        if cells.is_empty() {
            return Ok(Value::EMPTY_TUPLE);
        }
        let cells = self.slice(cells)?;
        self.row(cells)
    }

    /// Makes a function that stands for an unknown one: it equals only itself and cannot be called.
    pub fn unknown_function(&mut self) -> Outcome<Value<'r>> {
        self.closure(1, ClosureForm::Compose(Value::None, Value::None))
    }

    /// Makes a set by inserting these values one after the other.
    pub fn make_set(&mut self, items: &[Value<'r>]) -> Outcome<Value<'r>> {
        Ok(Value::Set(self.build(items)?))
    }
}
