//! Values to words.

use batt_arc::{Grid, Pair as Demo};
use batt_dsl::{Cell, Dialect, Limits, Outcome, OwnedValue, Run, Value, Workspace};

use super::{DUMMIES, ORDERED, UNKNOWN, head, kind, pair_word};

/// Appends a value. Sets are put in order for it.
pub fn encode<'r>(run: &mut Run<'r>, value: Value<'r>, out: &mut Vec<u32>) -> Outcome<()> {
    match value {
        Value::Failed(fault) => return Err(fault),
        Value::None => out.push(kind::NONE),
        Value::Bool(b) => out.push(head(kind::BOOL, b.get().into(), 0)),
        Value::Int(n) => push_long(kind::INT, n as u64, out),
        Value::Float(x) => push_long(kind::FLOAT, x.get().to_bits(), out),
        Value::Pair(pair) => out.extend([kind::PAIR, pair_word(pair.get())]),
        Value::Cell(cell) => {
            out.push(kind::CELL);
            push_cell(cell.get(), out);
        }
        Value::Row(row) => push_row(row.cells(), out),
        Value::Op(op) => out.extend([kind::OP, op.index() as u32]),
        Value::Closure(_) => out.extend([kind::OP, UNKNOWN]),
        Value::Set(set) => {
            let table = run.set_table(set)?;
            let elements = table.elements;
            let of = |is: fn(&Value<'_>) -> bool| elements.iter().all(is);
            let kind = if of(|v| matches!(v, Value::Pair(_))) {
                kind::PAIRS
            } else if of(|v| matches!(v, Value::Cell(_))) {
                kind::CELLS
            } else {
                kind::SET
            };
            let flags = ORDERED | if table.dummies { DUMMIES } else { 0 };
            out.extend([head(kind, flags, table.log2_size), elements.len() as u32]);
            for &element in elements {
                match element {
                    Value::Pair(pair) if kind == kind::PAIRS => out.push(pair_word(pair.get())),
                    Value::Cell(cell) if kind == kind::CELLS => push_cell(cell.get(), out),
                    _ => encode(run, element, out)?,
                }
            }
            if elements.len() > 1 {
                out.extend_from_slice(table.slots);
            }
        }
        Value::Grid(_) | Value::Segment(_) | Value::Concat(_) | Value::Tuple(_) => {
            if let Some(grid) = run.view_grid(value) {
                push_grid(grid.height, grid.width, grid.cells, out);
                return Ok(());
            }
            let items = run.items(value)?;
            if let Some(cells) = row_of(items) {
                // Pairs and triples have forms of their own: no tuple of so few small numbers comes here.
                push_row(&cells, out);
                return Ok(());
            }
            out.extend([kind::TUPLE, items.len() as u32]);
            for &item in items {
                encode(run, item, out)?;
            }
        }
    }
    Ok(())
}

/// Appends a value from outside a run. Its sets are built by inserting their elements in the order given.
pub fn encode_owned(
    workspace: &mut Workspace,
    dialect: Dialect,
    value: &OwnedValue,
    out: &mut Vec<u32>,
) -> Outcome<()> {
    workspace.run(dialect, &Limits::default(), |run| {
        let value = run.from_owned(value)?;
        encode(run, value, out)
    })
}

/// Appends a grid.
pub fn encode_grid(grid: &Grid, out: &mut Vec<u32>) {
    push_grid(grid.height(), grid.width(), grid.cells(), out);
}

/// Appends the tuple of demonstrations, (input, output) each. One without an output is left out.
pub fn encode_demos(demos: &[Demo], out: &mut Vec<u32>) {
    let complete = || {
        let pairs = demos.iter();
        pairs.filter_map(|pair| pair.output.as_ref().map(|output| (&pair.input, output)))
    };
    let count = complete().count();
    if count == 0 {
        return push_row(&[], out);
    }
    out.extend([kind::TUPLE, count as u32]);
    for (input, output) in complete() {
        out.extend([kind::TUPLE, 2]);
        encode_grid(input, out);
        encode_grid(output, out);
    }
}

/// The numbers of a tuple of plain integers 0 to 255.
fn row_of(items: &[Value<'_>]) -> Option<Vec<u8>> {
    let byte = |item: &Value<'_>| match item {
        Value::Int(n) => u8::try_from(*n).ok(),
        _ => None,
    };
    items.iter().map(byte).collect()
}

fn push_long(kind: u32, bits: u64, out: &mut Vec<u32>) {
    out.extend([kind, bits as u32, (bits >> 32) as u32]);
}

fn push_cell(cell: Cell, out: &mut Vec<u32>) {
    out.extend([pair_word(cell.at), cell.color as u32]);
}

fn push_row(cells: &[u8], out: &mut Vec<u32>) {
    out.extend([kind::ROW, cells.len() as u32]);
    push_bytes(cells, out);
}

fn push_grid(height: usize, width: usize, cells: &[u8], out: &mut Vec<u32>) {
    out.extend([kind::GRID, height as u32, width as u32]);
    push_bytes(cells, out);
}

fn push_bytes(bytes: &[u8], out: &mut Vec<u32>) {
    let (whole, rest) = bytes.as_chunks::<4>();
    out.extend(whole.iter().map(|four| u32::from_le_bytes(*four)));
    if !rest.is_empty() {
        let mut four = [0; 4];
        four[..rest.len()].copy_from_slice(rest);
        out.push(u32::from_le_bytes(four));
    }
}
