// Values: 16 bytes each, with a payload elsewhere for grids, patches and containers.
//
// Nearly every Python value has one form, so values of different kinds are different:
//
// - a tuple of two plain ints of 16 bits is a PAIR
// - `(colour, (i, j))` with a colour of 0 to 15 is a CELL; in tokpidjin `(i, j, colour)`
// - a tuple of 1 to 32 equally long tuples of 1 to 32 plain ints 0 to 15 is a GRID, also
//   `((0, 1), (2, 3))`
// - the same with up to 64 tuples or ints, and more than 32 of either, is WIDE or a TUPLE
// - a set of locations within 32 x 32 is INDICES; the empty set is, too
// - a set of cells within 32 x 32, one at each location, is an OBJECT
// - up to 32 tuples of 1 to 32 plain ints 0 to 15, of several lengths, are RAGGED or a TUPLE
// - all other tuples and sets are TUPLE and SET

/// What a value is. The order is that of `Kind` in src/value.rs.
enum Kind : u8 {
  STOPPED, // a value that the device cannot give; a: the reason
  FAULT,   // Python raises; a: the number of the fault
  NONE,
  BOOL,    // bits: 0 or 1
  INT,     // bits: the number
  PAIR,    // (i, j), both plain ints of 16 bits: len has i above j
  CELL,    // (colour, (i, j)): a: the colour, 0 to 15; len: the location, as in a pair
  GRID,    // a: height, b: width; bits: four planes of 32 rows. Colours 0 to 15
  RAGGED,  // rows of several widths; a: height; bits: as a grid, then a word with each width
  INDICES, // a patch of locations, see below
  OBJECT,  // a patch of cells
  TUPLE,   // len values; bits: where
  SET,     // len distinct values; bits: where; c: what is known of their order
  OP,      // a primitive; len: its place in PROPERTIES, or UNKNOWN_OP
  WIDE,    // a grid of more than 32 rows or columns; a: height, b: width; bits: four planes of a row of
           // 64 bits each. Only bodies with a parameter of type Any get one
};

/// Why a value is STOPPED. The order is that of `Reason` in src/report.rs.
enum Reason : u8 {
  ORDER,  // the iteration order of a set matters and is not known
  SIZE,   // too large for its layout
  MEMORY, // the device's memory for payloads is full
  ODD,    // rare arguments
  LIMIT,  // the CPU may reach a limit
};

/// The faults of Python that ops give; numbers as in `Fault::ALL`.
enum FaultCode : u8 { TYPE_ = 0, INDEX_ = 1, VALUE_ = 4, STOP_ITERATION = 5, ZERO_DIVISION = 7, OVERFLOW_ = 9 };

struct V {
  u8 kind, a, b, c;
  u32 len;
  u64 bits;
};

/// The argument of a body that takes wide grids. The kernel keeps them from parameters of type V.
struct Any : V {
  METHOD Any(const V &v) : V(v) {}
};

/// What is known of the iteration order of a SET.
enum Order : u8 {
  UNKNOWN,   // nothing
  IN_ORDER,  // the elements stand in it
  SEQUENCED, // built by adding the elements in this sequence to a set, and frozen
  BY_RANK,   // the same with the sequence of objects of a grid of a rows and b columns
  BUILT,     // built by adding the elements in this sequence, as `frozenset` of a generator does
  LATER,     // built of the elements of other values, in their order: the Note behind the elements
};

const u32 UNKNOWN_OP = 0xffffffffu;
/// Grids, and the bounds of patches, are at most this high and wide.
const u32 SIDE = 32;
/// The same for wide grids.
const u32 WIDE_SIDE = 64;
/// The colour of an object of several colours, whose payload has four planes.
const u8 PLANES = 255;

INLINE V make(Kind kind, u8 a, u8 b, u8 c, u32 len, u64 bits) {
  V v = {kind, a, b, c, len, bits};
  return v;
}
INLINE V stopped(Reason reason) { return make(STOPPED, reason, 0, 0, 0, 0); }
/// Says that a lane leaves its item to all lanes. No value has this kind when a kernel has ended.
INLINE V deferred() { return make(STOPPED, 255, 0, 0, 0, 0); }
INLINE bool is_deferred(const V &v) { return v.kind == STOPPED && v.a == 255; }
INLINE V fault(FaultCode code) { return make(FAULT, code, 0, 0, 0, 0); }
INLINE V none() { return make(NONE, 0, 0, 0, 0, 0); }
INLINE V boolean(bool x) { return make(BOOL, 0, 0, 0, 0, x); }
INLINE V integer(i64 n) { return make(INT, 0, 0, 0, 0, (u64)n); }
INLINE bool is_value(const V &v) { return v.kind > FAULT; }
INLINE bool is_int(const V &v) { return v.kind == INT || v.kind == BOOL; }
INLINE i64 int_of(const V &v) { return (i64)v.bits; }
INLINE bool is_any_grid(const V &v) { return v.kind == GRID || v.kind == WIDE; }
INLINE bool is_patch(const V &v) { return v.kind == INDICES || v.kind == OBJECT; }
INLINE bool fits_16(i64 n) { return n >= -32768 && n <= 32767; }
INLINE u32 place(i32 i, i32 j) { return (u32)i << 16 | ((u32)j & 0xffff); }
INLINE i32 row_of(u32 at) { return (i16)(at >> 16); }
INLINE i32 column_of(u32 at) { return (i16)at; }
INLINE V pair(i32 i, i32 j) { return make(PAIR, 0, 0, 0, place(i, j), 0); }

/// A word that tells equal ints, bools and pairs from unequal ones.
INLINE bool equal_scalars(const V &x, const V &y) {
  if (is_int(x) && is_int(y)) return x.bits == y.bits;
  return x.kind == y.kind && x.a == y.a && x.len == y.len && x.bits == y.bits;
}
INLINE bool is_scalar(const V &v) { return v.kind >= NONE && v.kind <= CELL; }

/// Python's truth of a value; false for kinds that have not been decided.
INLINE bool is_false(const V &v) {
  switch (v.kind) {
    case NONE: return true;
    case BOOL:
    case INT: return v.bits == 0;
    case INDICES:
    case OBJECT: return (v.bits >> 48 & 0x7ff) == 0;
    case TUPLE:
    case SET: return v.len == 0;
    default: return false;
  }
}
