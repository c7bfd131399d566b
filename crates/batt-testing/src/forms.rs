//! Properties of primitives on equal values that are made in different ways.
//!
//! A value has one meaning but many internal forms: a grid can be bytes or a tuple of tuples; a set
//! can be listed, or be the pending image of another set. [`build`] makes a value by a chain of DSL
//! calls that in CPython gives exactly the same value, including the set's table. No primitive may
//! behave differently for different chains.

use batt_dsl::{Dialect, Fault, Limits, OpId, Outcome, OwnedValue, Run, Type, Value, Workspace};

use crate::generate::Choices;

/// Limits far beyond what small values need.
const LIMITS: Limits = Limits {
    steps: 3_000_000,
    size: 100_000,
    memory: 64 << 20,
    time: None,
};

/// Calls a random primitive on random arguments, made in two ways. The error describes the
/// difference.
pub fn check(choices: &mut Choices<'_>) -> Result<(), String> {
    let ops: Vec<OpId> = OpId::all().collect();
    let op = ops[usize::from(choices.byte()) % ops.len()];
    let mut workspace = Workspace::new();
    let mut args = Vec::new();
    for param in op.op().params {
        args.push(match argument(choices, param.ty) {
            Argument::Value(value) => match settled(&mut workspace, value) {
                Some(value) => Argument::Value(value),
                None => return Ok(()),
            },
            function => function,
        });
    }
    let plain = outcome(&mut workspace, op, &args, None);
    let formed = outcome(&mut workspace, op, &args, Some(choices));
    // This test is not about limits.
    let limited =
        |o: &Outcome<OwnedValue>| matches!(o, Err(Fault::Steps | Fault::Size | Fault::Memory));
    if plain == formed || limited(&plain) || limited(&formed) {
        return Ok(());
    }
    let args: Vec<String> = args.iter().map(Argument::show).collect();
    Err(format!(
        "{}({})\n  as given {}\n  as built {}",
        op.op().name,
        args.join(", "),
        show(&plain),
        show(&formed)
    ))
}

/// Returns the outcome of a call. If `choices` are given, they decide how the arguments are made.
fn outcome(
    workspace: &mut Workspace,
    op: OpId,
    args: &[Argument],
    mut choices: Option<&mut Choices<'_>>,
) -> Outcome<OwnedValue> {
    workspace.run(Dialect::ArcDsl, &LIMITS, |run| {
        let mut values = Vec::new();
        for arg in args {
            values.push(match (arg, choices.as_deref_mut()) {
                (Argument::Value(value), None) => run.from_owned(value)?,
                (Argument::Value(value), Some(choices)) => build(run, value, choices)?,
                (Argument::Op(id), _) => Value::Op(*id),
                (Argument::Bound(id, first, fixed), _) => {
                    let fixed = run.from_owned(fixed)?;
                    call(
                        run,
                        if *first { "lbind" } else { "rbind" },
                        &[Value::Op(*id), fixed],
                    )?
                }
            });
        }
        let value = run.call(Value::Op(op), &values)?;
        run.to_owned(value)
    })
}

fn show(outcome: &Outcome<OwnedValue>) -> String {
    match outcome {
        Ok(value) => value.to_string(),
        Err(fault) => fault.name().to_owned(),
    }
}

/// An argument of a call.
pub enum Argument {
    /// A plain value.
    Value(OwnedValue),
    /// A primitive.
    Op(OpId),
    /// A primitive with its first (`true`) or last argument bound.
    Bound(OpId, bool, OwnedValue),
}

impl Argument {
    fn show(&self) -> String {
        match self {
            Argument::Value(value) => value.to_string(),
            Argument::Op(id) => id.op().name.to_owned(),
            Argument::Bound(id, first, fixed) => {
                format!(
                    "{}({}, {fixed})",
                    if *first { "lbind" } else { "rbind" },
                    id.op().name
                )
            }
        }
    }
}

fn argument(choices: &mut Choices<'_>, ty: Type) -> Argument {
    if ty != Type::Callable {
        return Argument::Value(value(choices, ty));
    }
    let of_arity =
        |n: usize| -> Vec<OpId> { OpId::all().filter(|id| id.op().arity() == n).collect() };
    let kind = choices.byte();
    if kind < 160 {
        let arity = if kind < 110 { 1 } else { 2 };
        return Argument::Op(choices.pick(&of_arity(arity)));
    }
    let id = choices.pick(&of_arity(2));
    let first = kind.is_multiple_of(2);
    let fixed = id.op().params[if first { 0 } else { 1 }].ty;
    Argument::Bound(id, first, value(choices, fixed))
}

/// Returns a small value that mostly has the type.
pub fn value(choices: &mut Choices<'_>, ty: Type) -> OwnedValue {
    use OwnedValue::{Bool, Int, None, Set, Tuple};
    let kind = choices.byte();
    if kind >= 240 {
        let any = [
            Type::Integer,
            Type::Pair,
            Type::Grid,
            Type::Object,
            Type::Tuple,
            Type::Objects,
        ];
        let other = choices.pick(&any);
        return value(choices, other);
    }
    let ty = match ty {
        Type::Any | Type::Container => choices.pick(&[
            Type::Integer,
            Type::Pair,
            Type::Grid,
            Type::Object,
            Type::Indices,
            Type::Objects,
            Type::Tuple,
            Type::FrozenSet,
        ]),
        Type::Patch => choices.pick(&[Type::Object, Type::Indices]),
        Type::Element | Type::Piece => choices.pick(&[Type::Grid, Type::Object, Type::Indices]),
        Type::Numerical => choices.pick(&[Type::Integer, Type::Pair]),
        Type::ContainerContainer => choices.pick(&[Type::Objects, Type::TupleTuple, Type::Grid]),
        ty => ty,
    };
    let several = |choices: &mut Choices<'_>, most: usize, ty: Type| -> Vec<OwnedValue> {
        let count = choices.below(most + 1);
        (0..count).map(|_| value(choices, ty)).collect()
    };
    match ty {
        Type::Boolean => Bool(kind.is_multiple_of(2)),
        Type::Integer => match kind {
            // Bools are integers. A few colours occur often, so that equal ones form groups.
            0..=19 => Bool(kind.is_multiple_of(2)),
            20..=199 => Int(i64::from(kind % 4)),
            200..=229 => Int(i64::from(kind % 16) - 6),
            _ => Int([255, 256, -1, 32_768, 1 << 31, -32_769][usize::from(kind) % 6]),
        },
        Type::Pair => Tuple(vec![
            value(choices, Type::Integer),
            value(choices, Type::Integer),
        ]),
        Type::Cell => Tuple(vec![
            value(choices, Type::Integer),
            value(choices, Type::Pair),
        ]),
        Type::Indices => Set(several(choices, 9, Type::Pair)),
        Type::Object => Set(several(choices, 9, Type::Cell)),
        Type::Objects => {
            let ty = choices.pick(&[Type::Object, Type::Object, Type::Indices]);
            Set(several(choices, 4, ty))
        }
        Type::IntegerSet => Set(several(choices, 6, Type::Integer)),
        Type::FrozenSet => {
            let ty = choices.pick(&[
                Type::Pair,
                Type::Cell,
                Type::Integer,
                Type::Tuple,
                Type::Any,
            ]);
            Set(several(choices, 20, ty))
        }
        Type::Tuple => {
            let ty = choices.pick(&[
                Type::Integer,
                Type::Pair,
                Type::Cell,
                Type::Object,
                Type::Any,
            ]);
            Tuple(several(choices, 6, ty))
        }
        Type::TupleTuple => {
            let ty = choices.pick(&[Type::Tuple, Type::Pair, Type::Indices]);
            Tuple(several(choices, 4, ty))
        }
        Type::Grid => {
            let (height, width) = (choices.below(4) + 1, choices.below(4) + 1);
            let odd = choices.byte() < 40;
            let row = |choices: &mut Choices<'_>| {
                let cell = |choices: &mut Choices<'_>| match odd {
                    true => value(choices, Type::Integer),
                    false => Int(i64::from(choices.byte() % 4)),
                };
                Tuple((0..width).map(|_| cell(choices)).collect())
            };
            Tuple((0..height).map(|_| row(choices)).collect())
        }
        _ => None,
    }
}

/// Returns the value with each set listed in an order that insertion in this order reproduces, as
/// in the vectors. Returns `None` if a set has no such order.
pub fn settled(workspace: &mut Workspace, mut value: OwnedValue) -> Option<OwnedValue> {
    for _ in 0..6 {
        let again = workspace.run(Dialect::ArcDsl, &LIMITS, |run| {
            let value = run.from_owned(&value)?;
            run.to_owned(value)
        });
        match again {
            Ok(again) if again == value => return Some(value),
            Ok(again) => value = again,
            Err(_) => return None,
        }
    }
    None
}

/// Calls a primitive by name.
fn call<'r>(run: &mut Run<'r>, name: &str, args: &[Value<'r>]) -> Outcome<Value<'r>> {
    run.call(Value::Op(OpId::named(name).expect("a primitive")), args)
}

/// Returns a condition that always holds: `either(True, x)`.
fn always<'r>(run: &mut Run<'r>) -> Outcome<Value<'r>> {
    let either = Value::Op(OpId::named("either").expect("a primitive"));
    call(run, "lbind", &[either, Value::bool(true)])
}

/// Returns a function of two arguments that returns the second: `branch(False, x, y)`.
fn second<'r>(run: &mut Run<'r>) -> Outcome<Value<'r>> {
    let branch = Value::Op(OpId::named("branch").expect("a primitive"));
    call(run, "lbind", &[branch, Value::bool(false)])
}

fn op<'r>(name: &str) -> Value<'r> {
    Value::Op(OpId::named(name).expect("a primitive"))
}

/// Makes a value in the way that the choices decide. The value must be [`settled`].
pub fn build<'r>(
    run: &mut Run<'r>,
    value: &OwnedValue,
    choices: &mut Choices<'_>,
) -> Outcome<Value<'r>> {
    match value {
        OwnedValue::Tuple(items) => tuple(run, value, items, choices),
        OwnedValue::Set(items) => set(run, items, choices),
        _ => run.from_owned(value),
    }
}

fn tuple<'r>(
    run: &mut Run<'r>,
    value: &OwnedValue,
    items: &[OwnedValue],
    choices: &mut Choices<'_>,
) -> Outcome<Value<'r>> {
    let way = choices.byte() % 12;
    if let Some(rows) = value.as_grid().filter(|_| way < 4) {
        let width = rows[0].len();
        let grid = run.input(rows.len(), width, &rows.concat())?;
        return match way {
            0 => Ok(grid),
            1 => {
                let turned = call(run, "dmirror", &[grid])?;
                call(run, "dmirror", &[turned])
            }
            2 => call(run, "apply", &[op("identity"), grid]),
            // Concatenates two halves.
            _ => {
                let top = rows[..rows.len() / 2].concat();
                let bottom = rows[rows.len() / 2..].concat();
                let top = run.input(rows.len() / 2, width, &top)?;
                let bottom = run.input(rows.len().div_ceil(2), width, &bottom)?;
                call(run, "vconcat", &[top, bottom])
            }
        };
    }
    let mut built = Vec::new();
    for item in items {
        built.push(build(run, item, choices)?);
    }
    let plain = run.make_tuple(&built)?;
    match way {
        0..=4 => Ok(plain),
        5 => call(run, "apply", &[op("identity"), plain]),
        6 => {
            let at = choices.below(built.len() + 1);
            let (head, tail) = (run.make_tuple(&built[..at])?, run.make_tuple(&built[at..])?);
            call(run, "combine", &[head, tail])
        }
        7 => {
            let always = always(run)?;
            call(run, "sfilter", &[plain, always])
        }
        8 => {
            let second = second(run)?;
            call(run, "papply", &[second, plain, plain])
        }
        // Merges containers of one element each, as tuples or as sets.
        9 | 10 => {
            let mut pieces = Vec::new();
            for &item in &built {
                pieces.push(match way {
                    9 => run.make_tuple(&[item])?,
                    _ => call(run, "initset", &[item])?,
                });
            }
            let pieces = run.make_tuple(&pieces)?;
            call(run, "merge", &[pieces])
        }
        // Adds an element and removes it again.
        _ => {
            let mark = run.make_tuple(&[op("identity")])?;
            built.push(mark);
            let longer = run.make_tuple(&built)?;
            call(run, "remove", &[mark, longer])
        }
    }
}

fn set<'r>(
    run: &mut Run<'r>,
    items: &[OwnedValue],
    choices: &mut Choices<'_>,
) -> Outcome<Value<'r>> {
    let way = choices.byte() % 12;
    let mut built = Vec::new();
    for item in items {
        built.push(build(run, item, choices)?);
    }
    let plain = run.make_set(&built)?;
    // Each way inserts the elements one by one into a new set, in iteration order.
    // `frozenset([...])` made the plain set in the same way, and its iteration order is that of
    // insertion.
    match way {
        0 => Ok(plain),
        1 => call(run, "apply", &[op("identity"), plain]),
        2 => {
            let always = always(run)?;
            call(run, "sfilter", &[plain, always])
        }
        3 => {
            let outer = call(run, "initset", &[plain])?;
            call(run, "merge", &[outer])
        }
        // Takes two steps, and nothing inspects the result of the first.
        4 => {
            let copy = call(run, "apply", &[op("identity"), plain])?;
            call(run, "apply", &[op("identity"), copy])
        }
        5 => {
            let absent = run.make_tuple(&[op("identity")])?;
            call(run, "remove", &[absent, plain])
        }
        6 => {
            let (second, one) = (second(run)?, run.make_tuple(&[Value::None])?);
            let listed = run.make_tuple(&built)?;
            call(run, "prapply", &[second, one, listed])
        }
        7 => {
            let always = always(run)?;
            let filtered = call(run, "sfilter", &[plain, always])?;
            call(run, "apply", &[op("identity"), filtered])
        }
        8 if is_patch(items) => call(
            run,
            "shift",
            &[plain, Value::pair(batt_dsl::IntPair::new(0, 0))],
        ),
        // Intersects an equal set that is another object, so that CPython copies the elements.
        9 => {
            let twin = call(run, "apply", &[op("identity"), plain])?;
            call(run, "intersection", &[plain, twin])
        }
        // Adds an element and removes it again. That can change the order of the others, so such
        // cases are skipped.
        10 => {
            let with_mark = |run: &mut Run<'r>| {
                let mark = Value::Int(77);
                let larger = call(run, "insert", &[mark, plain])?;
                call(run, "remove", &[mark, larger])
            };
            let trial = with_mark(run)?;
            let expected = OwnedValue::Set(items.to_vec());
            if items.contains(&OwnedValue::Int(77)) || run.to_owned(trial)? != expected {
                return Ok(plain);
            }
            // The larger set must also list the elements in this order, or the hidden tables
            // differ.
            let larger = call(run, "insert", &[Value::Int(77), plain])?;
            match run.to_owned(larger)? {
                OwnedValue::Set(mut listed) => {
                    listed.retain(|item| *item != OwnedValue::Int(77));
                    if listed == items {
                        with_mark(run)
                    } else {
                        Ok(plain)
                    }
                }
                _ => Ok(plain),
            }
        }
        // Inspects the set before it is used.
        _ => {
            call(run, "totuple", &[plain])?;
            Ok(plain)
        }
    }
}

/// Returns whether all elements are plain locations or all are plain cells. Shifting would change
/// other elements.
fn is_patch(items: &[OwnedValue]) -> bool {
    let plain_pair = |v: &OwnedValue| matches!(v, OwnedValue::Tuple(t) if matches!(t[..], [OwnedValue::Int(_), OwnedValue::Int(_)]));
    items.iter().all(plain_pair)
}
