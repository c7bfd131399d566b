//! Values, exact Python semantics and the primitives of the ARC DSL.
//!
//! A program of the DSL sees what CPython would show it: the same values, of the same kinds, with
//! every frozenset in the same iteration order, or a fault where Python raises.
//!
//! ```text
//!   Workspace ── run / run_on ──> Run: an arena, limits, the dialect
//!                                  │
//!        Op (table entry) ── code ─┤  primitives take the run and values
//!                                  v
//!                          Value or Fault ── to_owned ──> OwnedValue
//! ```
//!
//! The types to know:
//!
//! - [`Workspace`]: memory and buffers in which runs happen, one after the other; one per thread
//! - [`Run`]: one run in progress, the first argument of every primitive
//! - [`Value`]: a value of a run, two words, `Copy`
//! - [`Op`] and [`OpId`]: the table of primitives, with their documentation and code
//! - [`OwnedValue`]: a value that outlives its run
//!
//! Where things are:
//!
//! - `value`, `owned`: what a program sees, inside a run and outside
//! - `run`, `memory`, `arena`: limits, allocation, and what is released before the end of a run
//! - `python`, `calls`, `hash`, `set`: equality, order, calls, hashes and set layouts as in CPython
//! - `table`, `ops`: the table of primitives, and one definition for each
//! - `memo`, `ops/columns`: two ways to save calls that a program cannot observe
//!
//! This example calls one primitive:
//!
//! ```
//! use batt_dsl::{Dialect, Limits, OpId, OwnedValue, Value, Workspace};
//!
//! let hmirror = OpId::named("hmirror").expect("a primitive of the DSL");
//! let mut workspace = Workspace::new();
//! let mirrored = workspace.run(Dialect::ArcDsl, &Limits::default(), |run| {
//!     let grid = run.input(2, 2, &[1, 2, 3, 4])?;
//!     let value = run.call(Value::Op(hmirror), &[grid])?;
//!     run.to_owned(value)
//! });
//! assert_eq!(mirrored, Ok(OwnedValue::grid([&[3, 4][..], &[1, 2]])));
//! ```

mod arena;
mod calls;
mod dialect;
mod fault;
mod hash;
mod memo;
mod memory;
mod ops;
mod owned;
mod profile;
mod python;
mod run;
mod set;
mod table;
mod value;

pub use dialect::Dialect;
pub use fault::{Fault, Outcome};
pub use memory::{Allowance, Cost, Outside};
pub use ops::grid_ranks;
pub use owned::{DecodeError, OwnedFloat, OwnedValue};
pub use profile::{OpTimes, Profile, ProfileNode};
pub use run::{Limits, MemoryBudget, Run, Workspace};
pub use set::{Bounds, Set, SetRecipe, SetSteps, SetTable};
pub(crate) use table::op;
pub use table::{ConstId, Fallback, Literal, Op, OpCode, OpId, OpParam, Type, ops};
pub use value::{
    Cell, Closure, ClosureForm, Concat, GridView, IntPair, Returned, Row, Segment, Tuple, Value,
    Word,
};
