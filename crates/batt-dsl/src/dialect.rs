//! Dialects: the names that a solver file may use, and the differences in their meanings.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::table::{ConstId, Op, OpId, constant_count, ops};

/// A dialect of the DSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// The original arc-dsl.
    #[default]
    ArcDsl,
    /// RE-ARC's copy of arc-dsl, in which `argmax` and `argmin` of an empty container return
    /// `None`.
    ReArc,
    /// A fork of arc-dsl made for search. Cells are `(i, j, colour)`, functions return a fallback
    /// instead of failing, families of functions take a code, and solvers see the demonstrations.
    Tokpidjin,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 3] = [Dialect::ArcDsl, Dialect::ReArc, Dialect::Tokpidjin];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::ArcDsl => "arc-dsl",
            Dialect::ReArc => "re-arc",
            Dialect::Tokpidjin => "tokpidjin",
        }
    }

    /// Returns the dialect of that name.
    pub fn named(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|d| d.name() == name)
    }

    /// Returns whether cells are `(i, j, colour)`. Otherwise they are `(colour, (i, j))`.
    #[inline(always)]
    pub fn cells_are_triples(self) -> bool {
        matches!(self, Dialect::Tokpidjin)
    }

    /// Returns whether all primitives return a default instead of failing.
    #[inline(always)]
    pub fn never_fails(self) -> bool {
        matches!(self, Dialect::Tokpidjin)
    }

    /// The primitives, family by family.
    pub fn ops(self) -> &'static [&'static Op] {
        match self {
            Dialect::ArcDsl | Dialect::ReArc => ops(),
            Dialect::Tokpidjin => crate::ops::tokpidjin::ALL,
        }
    }

    /// Looks a primitive up by name.
    pub fn op(self, name: &str) -> Option<OpId> {
        static ORIGINAL: OnceLock<HashMap<&'static str, OpId>> = OnceLock::new();
        static TOKPIDJIN: OnceLock<HashMap<&'static str, OpId>> = OnceLock::new();
        let index = match self {
            Dialect::ArcDsl | Dialect::ReArc => &ORIGINAL,
            Dialect::Tokpidjin => &TOKPIDJIN,
        };
        index
            .get_or_init(|| {
                self.ops()
                    .iter()
                    .map(|op| (op.name, OpId::of(op)))
                    .collect()
            })
            .get(name)
            .copied()
    }

    /// The constants.
    pub fn constants(self) -> impl ExactSizeIterator<Item = ConstId> {
        ConstId::first(constant_count(self))
    }

    /// Looks a constant up by name.
    pub fn constant(self, name: &str) -> Option<ConstId> {
        self.constants().find(|constant| constant.name() == name)
    }
}
