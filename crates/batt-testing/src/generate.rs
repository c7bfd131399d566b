//! Random programs and grids, decoded from bytes.
//!
//! The same bytes always give the same program, whether they come from proptest or from a fuzzer,
//! and every byte string is a program. Operands mostly fit the declared types, so that programs
//! run some steps before they fail; the others are arbitrary.

use batt_arc::Grid;
use batt_dsl::{ConstId, Dialect, Literal, OpId, Type};
use batt_lang::{Operand, Program, ProgramBuilder};

/// Choices that are read from bytes. After the last byte, every choice is the first one.
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Creates choices that start at the first byte.
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices { bytes }
    }

    /// Returns whether all bytes have been read.
    pub fn is_used_up(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Reads a byte; 0 after the end.
    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first
            }
            None => 0,
        }
    }

    /// Returns a number below `n`, which must be at most 256.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// Returns one of some items.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        let at = match items.len() {
            0..=256 => self.below(items.len()),
            many => (usize::from(self.byte()) * 256 + usize::from(self.byte())) % many,
        };
        items[at].clone()
    }
}

/// The longest program. Most programs end earlier, when the bytes end.
const MAX_STEPS: usize = 40;

/// Numbers at boundaries: where the byte, pair and cell forms end, and where products overflow.
const EDGES: [i64; 24] = [
    10,
    -11,
    20,
    29,
    30,
    41,
    100,
    255,
    256,
    -256,
    1000,
    32_767,
    32_768,
    -32_768,
    -32_769,
    1_000_000,
    2_147_483_647,
    2_147_483_648,
    -2_147_483_648,
    1_000_000_000_000,
    1 << 61,
    (1 << 61) - 1,
    i64::MAX,
    i64::MIN,
];

/// Returns a small grid, and sometimes one of full size.
pub fn grid(choices: &mut Choices<'_>) -> Grid {
    let shape = choices.byte();
    let (height, width) = match shape {
        250..=255 => (30, 30),
        _ => (usize::from(shape) % 6 + 1, usize::from(shape) / 6 % 6 + 1),
    };
    // Two cells per byte keep inputs short.
    let cells = (0..(height * width).div_ceil(2)).flat_map(|_| {
        let byte = choices.byte();
        [byte % 16 % 10, byte / 16 % 10]
    });
    let cells: Vec<u8> = cells.take(height * width).collect();
    Grid::new(height, width, cells).expect("a valid grid")
}

/// Returns a program in arc-dsl that takes one grid.
pub fn program(choices: &mut Choices<'_>) -> Program {
    program_in(Dialect::ArcDsl, choices)
}

/// Returns a program in a dialect. It takes one grid, or the demonstrations, a grid and a grid to
/// compare with.
pub fn program_in(dialect: Dialect, choices: &mut Choices<'_>) -> Program {
    let ops: Vec<OpId> = ops(dialect);
    let params: &[(&str, Type)] = match dialect {
        Dialect::Tokpidjin => &[("S", Type::Tuple), ("I", Type::Grid), ("C", Type::Grid)],
        _ => &[("I", Type::Grid)],
    };
    let names = params.iter().map(|(name, _)| *name);
    let mut builder = ProgramBuilder::new("solve_random", names).in_dialect(dialect);
    let mut values: Vec<(Operand, Type)> = params
        .iter()
        .enumerate()
        .map(|(k, (_, ty))| (builder.param(k), *ty))
        .collect();
    while !choices.is_used_up() && values.len() <= MAX_STEPS {
        let choice = usize::from(choices.byte());
        let (value, ty) = if choice < 160 {
            let id = match dialect {
                Dialect::Tokpidjin => ops[(choice * 256 + choices.below(256)) % ops.len()],
                _ => ops[choice % ops.len()],
            };
            let op = id.op();
            let args = op.params.iter();
            let args = args
                .map(|param| operand(dialect, choices, &values, plain(param.ty)))
                .collect();
            (builder.call(Operand::Op(id), args), plain(op.returns))
        } else if choice < 200 {
            // These combinations are common in programs, but rare among independent choices.
            let (op, function) = choices.pick(&[
                ("apply", "apply"),
                ("sfilter", "sfilter"),
                ("mapply", "mapply"),
                ("argmax", "argmax"),
                ("order", "order"),
                ("rbind", "rbind"),
                ("lbind", "lbind"),
                ("fork", "fork"),
            ]);
            let function = unary_function(dialect, choices, &mut builder, &values, function);
            let op = dialect.op(op).expect("a primitive");
            let args = op.op().params.iter().map(|param| match param.ty {
                Type::Callable => function.clone(),
                ty => operand(dialect, choices, &values, plain(ty)),
            });
            let args = args.collect();
            (builder.call(Operand::Op(op), args), plain(op.op().returns))
        } else if choice < 230 {
            let callee = operand(dialect, choices, &values, Type::Callable);
            let count = choices.pick(&[1, 1, 1, 2, 2, 3, 4, 0]);
            let args = (0..count).map(|_| operand(dialect, choices, &values, Type::Any));
            let args = args.collect();
            (builder.call(callee, args), Type::Any)
        } else {
            let count = choices.pick(&[2, 2, 2, 1, 3, 4, 0, 9]);
            let items = (0..count).map(|_| operand(dialect, choices, &values, Type::Any));
            let items = items.collect();
            (builder.tuple(items), Type::Tuple)
        };
        values.push((value, ty));
    }
    let result = values.last().expect("the input is there").0.clone();
    builder.finish(result)
}

/// Returns a function of one argument: a primitive, or one with a bound argument.
fn unary_function(
    dialect: Dialect,
    choices: &mut Choices<'_>,
    builder: &mut ProgramBuilder,
    values: &[(Operand, Type)],
    user: &str,
) -> Operand {
    let of_arity = |n: usize| -> Vec<OpId> {
        let ops = ops(dialect).into_iter();
        ops.filter(|id| id.op().arity() == n).collect()
    };
    if user == "fork" || user.ends_with("bind") || choices.byte() < 128 {
        let arity = if user == "fork" || user.ends_with("bind") {
            2
        } else {
            1
        };
        return Operand::Op(choices.pick(&of_arity(arity)));
    }
    let op = choices.pick(&of_arity(2));
    let (bind, bound) = choices.pick(&[("rbind", 1), ("lbind", 0)]);
    let fixed = operand(dialect, choices, values, plain(op.op().params[bound].ty));
    let bind = dialect.op(bind).expect("a primitive");
    builder.call(Operand::Op(bind), vec![Operand::Op(op), fixed])
}

fn ops(dialect: Dialect) -> Vec<OpId> {
    let names = dialect.ops().iter().map(|op| op.name);
    names.filter_map(|name| dialect.op(name)).collect()
}

/// Converts a type hint of tokpidjin to one of arc-dsl.
fn plain(ty: Type) -> Type {
    match ty {
        Type::IJ => Type::Pair,
        Type::Samples => Type::Tuple,
        Type::IndicesSet => Type::FrozenSet,
        Type::FL | Type::F_ | Type::L_ | Type::R_ | Type::R4 | Type::R8 => Type::Integer,
        Type::A4 | Type::A8 | Type::C_ | Type::I_ | Type::J_ => Type::Integer,
        other => other,
    }
}

fn operand(
    dialect: Dialect,
    choices: &mut Choices<'_>,
    values: &[(Operand, Type)],
    wanted: Type,
) -> Operand {
    let fitting: Vec<&Operand> = values
        .iter()
        .rev()
        .filter(|(_, ty)| fits(wanted, *ty))
        .map(|(value, _)| value)
        .collect();
    let kind = choices.byte();
    match kind {
        0..=159 if !fitting.is_empty() => fitting[usize::from(kind) % fitting.len()].clone(),
        // Any operand.
        160..=175 => choices.pick(values).0,
        176..=183 => constant(dialect, choices),
        184..=191 => Operand::Op(primitive(dialect, choices)),
        192..=199 => Operand::Literal(literal(choices, 2)),
        // A literal of the wanted type.
        _ => match wanted {
            Type::Callable => Operand::Op(primitive(dialect, choices)),
            Type::Boolean => Operand::Literal(Literal::Bool(choices.byte().is_multiple_of(2))),
            Type::Integer => Operand::Literal(integer(choices)),
            Type::Numerical | Type::Pair => {
                Operand::Literal(Literal::Tuple(vec![integer(choices), integer(choices)]))
            }
            Type::Tuple | Type::Container | Type::TupleTuple | Type::ContainerContainer => {
                let items = (0..choices.below(5)).map(|_| literal(choices, 1)).collect();
                Operand::Literal(Literal::Tuple(items))
            }
            _ if !fitting.is_empty() => choices.pick(&fitting).clone(),
            _ => constant(dialect, choices),
        },
    }
}

fn primitive(dialect: Dialect, choices: &mut Choices<'_>) -> OpId {
    choices.pick(&ops(dialect))
}

fn constant(dialect: Dialect, choices: &mut Choices<'_>) -> Operand {
    let constants: Vec<ConstId> = dialect.constants().collect();
    Operand::Const(choices.pick(&constants))
}

fn integer(choices: &mut Choices<'_>) -> Literal {
    Literal::Int(match choices.byte() {
        byte @ 0..=199 => i64::from(byte % 16) - 3,
        byte => EDGES[usize::from(byte) % EDGES.len()],
    })
}

fn literal(choices: &mut Choices<'_>, depth: usize) -> Literal {
    match choices.byte() {
        0..=9 => Literal::None,
        10..=49 => Literal::Bool(choices.byte().is_multiple_of(2)),
        50..=149 => integer(choices),
        byte if depth > 0 => {
            let items = (0..usize::from(byte) % 4).map(|_| literal(choices, depth - 1));
            Literal::Tuple(items.collect())
        }
        _ => integer(choices),
    }
}

/// Returns whether a value of one declared type fits where another is wanted.
fn fits(wanted: Type, given: Type) -> bool {
    use Type::*;
    let is_set = matches!(
        given,
        Object | Objects | Indices | IntegerSet | FrozenSet | Patch
    );
    let is_tuple = matches!(given, Grid | Tuple | TupleTuple | Pair | Cell);
    wanted == given
        || matches!((wanted, given), (Any, _) | (_, Any))
        || match wanted {
            Container => is_set || is_tuple,
            ContainerContainer => matches!(given, Objects | TupleTuple | Grid | Container),
            FrozenSet => is_set,
            Tuple | TupleTuple => is_tuple || given == Container,
            Patch | Object | Indices => {
                matches!(
                    given,
                    Object | Indices | Patch | Piece | FrozenSet | Element
                )
            }
            Element => matches!(given, Object | Grid | Piece | Patch),
            Piece => matches!(given, Object | Grid | Indices | Patch | Element),
            Grid => matches!(given, Piece | Element),
            Objects => matches!(given, FrozenSet | Container),
            Integer | Boolean => matches!(given, Integer | Boolean | Numerical),
            Numerical => matches!(given, Integer | Pair | Boolean),
            Pair => given == Numerical,
            _ => false,
        }
}
