//! Values, exact Python semantics and the primitives of the ARC DSL.

mod fault;
mod hash;
mod ops;
mod owned;
mod python;
mod run;
mod set;
mod table;
mod value;

pub use fault::{Fault, Outcome};
pub use owned::{DecodeError, OwnedValue};
pub use run::{Dialect, Limits, Run, Workspace};
pub use set::{Bounds, Set};
pub use table::{Code, ConstId, Literal, Op, OpId, Param, Type, ops};
pub use value::{Cell, Closure, Concat, Grid, Pair, Returned, Row, Segment, Tuple, Value, Word};
