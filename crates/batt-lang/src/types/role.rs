//! Roles: the purposes of constants.

use std::sync::OnceLock;

use batt_dsl::{ConstId, Dialect, Op, OpId, Type};

/// The purpose of a constant in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstantRole {
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
    /// A rank from either end; tokpidjin's hint `FL`.
    Rank,
    /// A rank counted from the first; tokpidjin's hint `F_`.
    RankFromFirst,
    /// A rank counted from the last; tokpidjin's hint `L_`.
    RankFromLast,
    /// A code with 10 values; tokpidjin's hint `R_`.
    Code10,
    /// A code with 4 values; tokpidjin's hint `R4`.
    Code4,
    /// A code with 8 values; tokpidjin's hint `R8`.
    Code8,
    /// A mirror; tokpidjin's hint `A4`.
    Mirror4,
    /// A mirror or a rotation; tokpidjin's hint `A8`.
    Mirror8,
    /// A row; tokpidjin's hint `I_`.
    Row,
    /// A column; tokpidjin's hint `J_`.
    Column,
}

const INTEGERS: &str = "ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN";

impl ConstantRole {
    /// All roles.
    pub const ALL: [ConstantRole; 17] = [
        ConstantRole::Colour,
        ConstantRole::Count,
        ConstantRole::Number,
        ConstantRole::Direction,
        ConstantRole::Location,
        ConstantRole::Dimensions,
        ConstantRole::Flag,
        ConstantRole::Rank,
        ConstantRole::RankFromFirst,
        ConstantRole::RankFromLast,
        ConstantRole::Code10,
        ConstantRole::Code4,
        ConstantRole::Code8,
        ConstantRole::Mirror4,
        ConstantRole::Mirror8,
        ConstantRole::Row,
        ConstantRole::Column,
    ];

    /// The constants that make sense in this role, in order of value where there is an order. Empty
    /// for a role of another dialect.
    pub fn choices(self, dialect: Dialect) -> &'static [ConstId] {
        static CHOICES: OnceLock<Vec<Vec<ConstId>>> = OnceLock::new();
        let all = CHOICES.get_or_init(|| {
            let dialects = Dialect::ALL.into_iter();
            dialects
                .flat_map(|dialect| {
                    ConstantRole::ALL.map(|role| named(dialect, role.names(dialect)))
                })
                .collect()
        });
        let dialect = Dialect::ALL.iter().position(|&d| d == dialect);
        let role = ConstantRole::ALL.iter().position(|&r| r == self);
        match (dialect, role) {
            (Some(dialect), Some(role)) => &all[dialect * ConstantRole::ALL.len() + role],
            _ => &[],
        }
    }

    fn names(self, dialect: Dialect) -> &'static str {
        match self {
            ConstantRole::Colour if dialect == Dialect::Tokpidjin => {
                "BLACK BLUE RED GREEN YELLOW GRAY MAGENTA ORANGE CYAN BURGUNDY"
            }
            ConstantRole::Colour => "ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE",
            ConstantRole::Count | ConstantRole::Row | ConstantRole::Column => INTEGERS,
            ConstantRole::Number => {
                "NEG_TWO NEG_ONE ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN \
                 DOWN RIGHT UP LEFT ORIGIN UNITY NEG_UNITY UP_RIGHT DOWN_LEFT \
                 ZERO_BY_TWO TWO_BY_ZERO TWO_BY_TWO THREE_BY_THREE"
            }
            ConstantRole::Direction => "DOWN RIGHT UP LEFT UNITY NEG_UNITY UP_RIGHT DOWN_LEFT",
            ConstantRole::Location => {
                "ORIGIN DOWN RIGHT UNITY ZERO_BY_TWO TWO_BY_ZERO TWO_BY_TWO THREE_BY_THREE"
            }
            ConstantRole::Dimensions => "UNITY TWO_BY_TWO THREE_BY_THREE",
            ConstantRole::Flag => "F T",
            ConstantRole::Rank => "F0 F1 F2 F3 F4 F5 F6 F7 F8 F9 L1 L2 L3 L4 L5 L6 L7 L8 L9 L10",
            ConstantRole::RankFromFirst => "F0 F1 F2 F3 F4 F5 F6 F7 F8 F9",
            ConstantRole::RankFromLast => "L1 L2 L3 L4 L5 L6 L7 L8 L9 L10",
            ConstantRole::Code10 => "R0 R1 R2 R3 R4 R5 R6 R7 R8 R9",
            ConstantRole::Code4 => "R0 R1 R2 R3",
            // Solvers of tokpidjin use these names for the codes of mirrors, too.
            ConstantRole::Code8 | ConstantRole::Mirror8 => "R0 R1 R2 R3 R4 R5 R6 R7",
            ConstantRole::Mirror4 => "A0 A1 A2 A3",
        }
    }

    /// The role of a primitive's parameter.
    pub fn of_param(op: OpId, position: usize) -> Option<ConstantRole> {
        let op = op.op();
        let param = op.params.get(position)?;
        by_hint(param.ty).or_else(|| by_name(op, param.name, param.ty))
    }

    /// The role of a primitive's results.
    pub fn of_result(op: OpId) -> Option<ConstantRole> {
        let op = op.op();
        if let Some(role) = by_hint(op.returns) {
            return Some(role);
        }
        match op.name {
            "color" | "index" => Some(ConstantRole::Colour),
            name if name.starts_with("mostcolor") || name.starts_with("leastcolor") => {
                Some(ConstantRole::Colour)
            }
            // Programs mostly ask whether a set of colours contains a colour.
            name if name.starts_with("palette") => Some(ConstantRole::Colour),
            "p_g" | "p_f" | "p_o" => Some(ConstantRole::Colour),
            _ => match op.returns {
                Type::Integer => Some(ConstantRole::Count),
                Type::Boolean => Some(ConstantRole::Flag),
                Type::Numerical => Some(ConstantRole::Number),
                _ if op.name.starts_with("numcolors") => Some(ConstantRole::Count),
                Type::Pair | Type::IJ => match op.name {
                    name if name.starts_with("shape") => Some(ConstantRole::Dimensions),
                    "position" | "gravitate" => Some(ConstantRole::Direction),
                    "astuple" => None,
                    _ => Some(ConstantRole::Location),
                },
                _ => None,
            },
        }
    }
}

/// Returns the role for a type hint, if the hint alone is specific enough. Only tokpidjin has such
/// hints.
fn by_hint(hint: Type) -> Option<ConstantRole> {
    match hint {
        Type::C_ => Some(ConstantRole::Colour),
        Type::FL => Some(ConstantRole::Rank),
        Type::F_ => Some(ConstantRole::RankFromFirst),
        Type::L_ => Some(ConstantRole::RankFromLast),
        Type::R_ => Some(ConstantRole::Code10),
        Type::R4 => Some(ConstantRole::Code4),
        Type::R8 => Some(ConstantRole::Code8),
        Type::A4 => Some(ConstantRole::Mirror4),
        Type::A8 => Some(ConstantRole::Mirror8),
        Type::I_ => Some(ConstantRole::Row),
        Type::J_ => Some(ConstantRole::Column),
        _ => None,
    }
}

fn by_name(op: &Op, param: &str, hint: Type) -> Option<ConstantRole> {
    match (hint, param) {
        (Type::Boolean, _) => Some(ConstantRole::Flag),
        (Type::Integer, "value" | "color" | "replacee" | "replacer" | "fallback") => {
            Some(ConstantRole::Colour)
        }
        (Type::Integer, "a" | "b") if op.name == "switch" => Some(ConstantRole::Colour),
        (Type::Integer, "i" | "j") => Some(ConstantRole::Number),
        (Type::Integer, _) => Some(ConstantRole::Count),
        (Type::Numerical, _) => Some(ConstantRole::Number),
        (Type::Pair | Type::IJ, "direction" | "directions" | "offset") => {
            Some(ConstantRole::Direction)
        }
        (Type::Pair | Type::IJ, "dims" | "dimensions") => Some(ConstantRole::Dimensions),
        (Type::Pair | Type::IJ, _) => Some(ConstantRole::Location),
        _ => None,
    }
}

fn named(dialect: Dialect, names: &str) -> Vec<ConstId> {
    let names = names.split_whitespace();
    names.filter_map(|name| dialect.constant(name)).collect()
}
