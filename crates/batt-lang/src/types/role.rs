//! Roles: the purposes of constants.

use std::sync::OnceLock;

use batt_dsl::{ConstId, Dialect, Op, OpId, Type};

use crate::program::{Operand, Program, StepKind};

/// The purpose of a constant in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A colour.
    Colour,
    /// A small number: a size, a factor, a count.
    Count,
    /// A number or a pair of numbers for arithmetic.
    Number,
    /// A direction: a pair of steps of -1, 0 or 1.
    Direction,
    /// A place in a grid.
    Location,
    /// Height and width.
    Dimensions,
    /// True or false.
    Flag,
    /// A rank from either end, tokpidjin's `FL`.
    Rank,
    /// A rank from the first, `F_`.
    RankFromFirst,
    /// A rank from the last, `L_`.
    RankFromLast,
    /// A code with 10 values, `R_`.
    Code10,
    /// A code with 4 values, `R4`.
    Code4,
    /// A code with 8 values, `R8`.
    Code8,
    /// A mirror, `A4`.
    Mirror4,
    /// A mirror or a rotation, `A8`.
    Mirror8,
    /// A row, `I_`.
    Row,
    /// A column, `J_`.
    Column,
}

const INTEGERS: &str = "ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN";

impl Role {
    /// All roles.
    pub const ALL: [Role; 17] = [
        Role::Colour,
        Role::Count,
        Role::Number,
        Role::Direction,
        Role::Location,
        Role::Dimensions,
        Role::Flag,
        Role::Rank,
        Role::RankFromFirst,
        Role::RankFromLast,
        Role::Code10,
        Role::Code4,
        Role::Code8,
        Role::Mirror4,
        Role::Mirror8,
        Role::Row,
        Role::Column,
    ];

    /// The constants that make sense in this role, in order of value where there is an order. Empty
    /// for a role of another dialect.
    pub fn choices(self, dialect: Dialect) -> &'static [ConstId] {
        static CHOICES: OnceLock<Vec<Vec<ConstId>>> = OnceLock::new();
        let all = CHOICES.get_or_init(|| {
            let dialects = Dialect::ALL.into_iter();
            dialects
                .flat_map(|dialect| Role::ALL.map(|role| named(dialect, role.names(dialect))))
                .collect()
        });
        let dialect = Dialect::ALL.iter().position(|&d| d == dialect);
        let role = Role::ALL.iter().position(|&r| r == self);
        match (dialect, role) {
            (Some(dialect), Some(role)) => &all[dialect * Role::ALL.len() + role],
            _ => &[],
        }
    }

    fn names(self, dialect: Dialect) -> &'static str {
        match self {
            Role::Colour if dialect == Dialect::Tokpidjin => {
                "BLACK BLUE RED GREEN YELLOW GRAY MAGENTA ORANGE CYAN BURGUNDY"
            }
            Role::Colour => "ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE",
            Role::Count | Role::Row | Role::Column => INTEGERS,
            Role::Number => {
                "NEG_TWO NEG_ONE ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN \
                 DOWN RIGHT UP LEFT ORIGIN UNITY NEG_UNITY UP_RIGHT DOWN_LEFT \
                 ZERO_BY_TWO TWO_BY_ZERO TWO_BY_TWO THREE_BY_THREE"
            }
            Role::Direction => "DOWN RIGHT UP LEFT UNITY NEG_UNITY UP_RIGHT DOWN_LEFT",
            Role::Location => {
                "ORIGIN DOWN RIGHT UNITY ZERO_BY_TWO TWO_BY_ZERO TWO_BY_TWO THREE_BY_THREE"
            }
            Role::Dimensions => "UNITY TWO_BY_TWO THREE_BY_THREE",
            Role::Flag => "F T",
            Role::Rank => "F0 F1 F2 F3 F4 F5 F6 F7 F8 F9 L1 L2 L3 L4 L5 L6 L7 L8 L9 L10",
            Role::RankFromFirst => "F0 F1 F2 F3 F4 F5 F6 F7 F8 F9",
            Role::RankFromLast => "L1 L2 L3 L4 L5 L6 L7 L8 L9 L10",
            Role::Code10 => "R0 R1 R2 R3 R4 R5 R6 R7 R8 R9",
            Role::Code4 => "R0 R1 R2 R3",
            // Solvers of this dialect use these names for the codes of mirrors, too.
            Role::Code8 | Role::Mirror8 => "R0 R1 R2 R3 R4 R5 R6 R7",
            Role::Mirror4 => "A0 A1 A2 A3",
        }
    }

    /// Returns the role of a step's operand, if it is a plain value with a known purpose. Operands
    /// count as in [`StepKind::operands`]: in a call the callee is 0, the first argument 1.
    ///
    /// A value bound to a function (`rbind(colorfilter, FOUR)`) has the role of that function's
    /// parameter. A value compared with a result (`matcher(color, FIVE)`) has the role of the
    /// result.
    pub fn of(program: &Program, step: usize, operand: usize) -> Option<Role> {
        let StepKind::Call { callee, args } = &program.steps().get(step)?.kind else {
            return None;
        };
        let position = operand.checked_sub(1).filter(|&k| k < args.len())?;
        let callee = Bound::of(program, callee)?;
        let direct = callee.op.op();
        let plain = callee.left == 0 && callee.right == 0;
        let function = || args.first().and_then(|f| Bound::of(program, f));
        match direct.name {
            "lbind" if plain && position == 1 => {
                let function = function()?;
                Role::of_param(function.op, function.left)
            }
            "rbind" if plain && position == 1 => {
                let function = function()?;
                let last = function
                    .op
                    .op()
                    .params
                    .len()
                    .checked_sub(function.right + 1)?;
                Role::of_param(function.op, last)
            }
            "matcher" if plain && position == 1 => Role::of_value(program, &args[0]),
            // Both alternatives have the same role.
            "branch" if plain && position > 0 => Role::of_value(program, args.get(3 - position)?),
            "equality" | "contained" | "insert" | "remove" | "other" if plain => {
                let mut others = args.iter().enumerate().filter(|&(k, _)| k != position);
                let role = others.find_map(|(_, other)| Role::of_value(program, other));
                role.or_else(|| Role::of_param(callee.op, position))
            }
            _ => Role::of_param(callee.op, callee.left + position),
        }
    }

    /// The role of a primitive's parameter.
    pub fn of_param(op: OpId, position: usize) -> Option<Role> {
        let op = op.op();
        let param = op.params.get(position)?;
        by_hint(param.ty).or_else(|| by_name(op, param.name, param.ty))
    }

    /// The role of a primitive's results.
    pub fn of_result(op: OpId) -> Option<Role> {
        let op = op.op();
        if let Some(role) = by_hint(op.returns) {
            return Some(role);
        }
        match op.name {
            "color" | "index" => Some(Role::Colour),
            name if name.starts_with("mostcolor") || name.starts_with("leastcolor") => {
                Some(Role::Colour)
            }
            // A set of colours is mostly asked whether it has a colour.
            name if name.starts_with("palette") => Some(Role::Colour),
            "p_g" | "p_f" | "p_o" => Some(Role::Colour),
            _ => match op.returns {
                Type::Integer => Some(Role::Count),
                Type::Boolean => Some(Role::Flag),
                Type::Numerical => Some(Role::Number),
                _ if op.name.starts_with("numcolors") => Some(Role::Count),
                Type::Pair | Type::IJ => match op.name {
                    name if name.starts_with("shape") => Some(Role::Dimensions),
                    "position" | "gravitate" => Some(Role::Direction),
                    "astuple" => None,
                    _ => Some(Role::Location),
                },
                _ => None,
            },
        }
    }

    /// The role of a value, or of a function's result, by the primitive it comes from.
    fn of_value(program: &Program, operand: &Operand) -> Option<Role> {
        match operand {
            Operand::Op(op) => Role::of_result(*op),
            Operand::Step(id) => {
                let StepKind::Call { callee, args } = &program.steps().get(id.index())?.kind else {
                    return None;
                };
                let Operand::Op(op) = callee else {
                    return None;
                };
                match op.op().name {
                    // The outermost function makes the result.
                    "compose" | "chain" | "fork" | "lbind" | "rbind" | "power" => {
                        Role::of_value(program, args.first()?)
                    }
                    _ => Role::of_result(*op),
                }
            }
            _ => None,
        }
    }
}

/// A primitive with some arguments bound, on either side.
struct Bound {
    op: OpId,
    left: usize,
    right: usize,
}

impl Bound {
    fn of(program: &Program, operand: &Operand) -> Option<Bound> {
        match operand {
            Operand::Op(op) => Some(Bound {
                op: *op,
                left: 0,
                right: 0,
            }),
            Operand::Step(id) => {
                let StepKind::Call { callee, args } = &program.steps().get(id.index())?.kind else {
                    return None;
                };
                let Operand::Op(binder) = callee else {
                    return None;
                };
                let inner = || Bound::of(program, args.first()?);
                match binder.op().name {
                    "lbind" => inner().map(|b| Bound {
                        left: b.left + 1,
                        ..b
                    }),
                    "rbind" => inner().map(|b| Bound {
                        right: b.right + 1,
                        ..b
                    }),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The role by the type hint alone, where tokpidjin's hints are specific enough.
fn by_hint(hint: Type) -> Option<Role> {
    match hint {
        Type::C_ => Some(Role::Colour),
        Type::FL => Some(Role::Rank),
        Type::F_ => Some(Role::RankFromFirst),
        Type::L_ => Some(Role::RankFromLast),
        Type::R_ => Some(Role::Code10),
        Type::R4 => Some(Role::Code4),
        Type::R8 => Some(Role::Code8),
        Type::A4 => Some(Role::Mirror4),
        Type::A8 => Some(Role::Mirror8),
        Type::I_ => Some(Role::Row),
        Type::J_ => Some(Role::Column),
        _ => None,
    }
}

fn by_name(op: &Op, param: &str, hint: Type) -> Option<Role> {
    match (hint, param) {
        (Type::Boolean, _) => Some(Role::Flag),
        (Type::Integer, "value" | "color" | "replacee" | "replacer" | "fallback") => {
            Some(Role::Colour)
        }
        (Type::Integer, "a" | "b") if op.name == "switch" => Some(Role::Colour),
        (Type::Integer, "i" | "j") => Some(Role::Number),
        (Type::Integer, _) => Some(Role::Count),
        (Type::Numerical, _) => Some(Role::Number),
        (Type::Pair | Type::IJ, "direction" | "directions" | "offset") => Some(Role::Direction),
        (Type::Pair | Type::IJ, "dims" | "dimensions") => Some(Role::Dimensions),
        (Type::Pair | Type::IJ, _) => Some(Role::Location),
        _ => None,
    }
}

fn named(dialect: Dialect, names: &str) -> Vec<ConstId> {
    let names = names.split_whitespace();
    names.filter_map(|name| dialect.constant(name)).collect()
}
