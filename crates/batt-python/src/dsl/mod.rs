//! The module `batt.dsl`: every primitive as a Python function.
//!
//! ```text
//!   batt/dsl/__init__.py (generated): def hmirror(piece: Piece) -> Any: ...
//!     └─ Primitive, Function: what the names are bound to, and what primitives make
//!          ├─ shortcuts: what Python does faster on its own objects
//!          └─ call: reading ──> run ──> writing
//! ```

mod agreement;
mod call;
mod function;
mod objects;
mod primitive;
mod reading;
mod shortcuts;
mod writing;

pub use function::Function;
pub use primitive::Primitive;
