// A wave: one op over many items; what it reads and where it writes. The structures are those of
// src/layout.rs.

/// Where the values of an argument are.
struct Arg {
  u64 values;
  u64 map; // for a value of an outer domain: the outer item of each item; else 0
  u32 each; // 1: a value an item; 0: one for all
  u32 unused;
};

/// One call of the op: the same step for many items.
struct Node {
  Arg args[4];
  u64 out;     // a value an item
  u64 payload; // room for the payload of each item, or 0
  u32 items;
  u32 extra;   // what the op needs beside its arguments
  u32 dialect; // 0: arc-dsl, 1: re-arc, 2: tokpidjin
  u32 unused;
  u64 costs;   // for calls in closures: for each sample, what they cost in units of CLOSURE_UNIT
  u64 owners;  // and for each item, its sample
};

/// Memory for payloads whose size is known only when they are made.
struct Heap {
  u64 used, size, base;
  u64 left[8]; // the numbers of unfinished runs, by reason
};

/// Facts that do not depend on the samples.
struct Tables {
  u64 ranks;     // see ranks_of
  u64 neighbors; // see neighbors_of
};

struct Wave {
  u64 nodes;
  u64 heap;
  u64 tables;
  u32 node_count;
  u32 most_cost; // of a run
};

/// What an op body knows of its item.
struct Ctx {
  const Wave *wave;
  u64 payload; // room of `room` bytes, or 0
  u32 room;
  u32 item;
  u32 dialect;
};

/// Are the cells of this dialect triples (i, j, colour)?
INLINE bool has_triples(const Ctx &c) { return c.dialect == 2; }

INLINE V arg_of(const Arg &arg, u32 item) {
  u32 at = arg.each ? item : 0;
  if (arg.map) at = ((const u32 *)arg.map)[item];
  return ((const V *)arg.values)[at];
}
INLINE void *heap_part(const Ctx &c, u64 at, u64 bytes) {
  Heap *heap = (Heap *)c.wave->heap;
  return at + bytes <= heap->size ? (void *)(heap->base + at) : nullptr;
}
/// Memory on the heap, or null if there is not enough. One lane takes it for all.
INLINE void *take(const Ctx &c, u64 bytes) {
  Heap *heap = (Heap *)c.wave->heap;
  bytes = (bytes + 15) & ~15ull;
#ifdef BATT_HOST
  u64 at = atomic_take(&heap->used, bytes);
#else
  u64 at = 0;
  if (lane() == 0) at = atomic_take(&heap->used, bytes);
  at = __shfl_sync(ALL, at, 0);
#endif
  return heap_part(c, at, bytes);
}
/// The same for a lane that works alone, as in a THREAD op.
INLINE void *take_alone(const Ctx &c, u64 bytes) {
  bytes = (bytes + 15) & ~15ull;
  u64 *used = &((Heap *)c.wave->heap)->used;
#if defined(BATT_HOST) || __CUDA_ARCH__ < 700
  return heap_part(c, atomic_take(used, bytes), bytes);
#else
  // Lanes that want the same take it together.
  u32 lanes = __activemask();
  int same;
  __match_all_sync(lanes, bytes, &same);
  if (!same) return heap_part(c, atomic_take(used, bytes), bytes);
  u64 at = 0;
  if (lowest(lanes) == lane()) at = atomic_take(used, bytes * popcount(lanes));
  at = __shfl_sync(lanes, at, (int)lowest(lanes));
  return heap_part(c, at + bytes * popcount(lanes & low(lane())), bytes);
#endif
}
/// Memory for the payload of the result, to be called once for an item: the room that the op has in
/// the table, if it is enough, otherwise a part of the heap.
INLINE void *room_for(const Ctx &c, u64 bytes) {
  return c.payload && bytes <= c.room ? (void *)c.payload : take(c, bytes);
}
INLINE void *room_alone(const Ctx &c, u64 bytes) {
  return c.payload && bytes <= c.room ? (void *)c.payload : take_alone(c, bytes);
}

// ---- Grids ----------------------------------------------------------------------------------------

/// The bytes of the payload of a GRID, and of a RAGGED value, which has the widths of its rows after
/// the planes.
const u32 GRID_BYTES = 512, RAGGED_BYTES = 640;

struct Grid {
  u32 height, width; // 1 to 32
  Rows plane[4];
};

INLINE Grid grid_of(const V &v) {
  Grid g;
  g.height = v.a;
  g.width = v.b;
  const u32 *from = (const u32 *)v.bits;
  for (u32 k = 0; k < 4; k++) g.plane[k] = load_rows(from + 32 * k, g.height);
  return g;
}
/// The value of a grid, in the room of the result.
INLINE V value_of(const Ctx &c, const Grid &g) {
  u32 *to = (u32 *)room_for(c, GRID_BYTES);
  if (!to) return stopped(MEMORY);
  for (u32 k = 0; k < 4; k++) store_rows(to + 32 * k, g.plane[k], g.height);
  return make(GRID, (u8)g.height, (u8)g.width, 0, 0, (u64)to);
}
/// Applies a function to each plane.
template <class F> INLINE Grid changed(const Grid &g, u32 height, u32 width, F f) {
  Grid r;
  r.height = height;
  r.width = width;
  for (u32 k = 0; k < 4; k++) r.plane[k] = f(g.plane[k]);
  return r;
}
INLINE Rows area_of(const Grid &g) { return rectangle(g.height, g.width); }
/// The cells of a colour.
INLINE Rows of_color(const Grid &g, u32 color) {
  return rows([&](u32 l) {
    u32 x = l < g.height ? low(g.width) : 0;
    for (u32 k = 0; k < 4; k++) x &= color >> k & 1 ? g.plane[k][l] : ~g.plane[k][l];
    return x;
  });
}
/// Gives some cells a colour.
INLINE void paint_rows(Grid &g, const Rows &where, u32 color) {
  for (u32 k = 0; k < 4; k++) g.plane[k] = color >> k & 1 ? g.plane[k] | where : without(g.plane[k], where);
}

// ---- Patches ----------------------------------------------------------------------------------------
//
// INDICES and OBJECT: a, b: height and width; c: the colour of an object, or PLANES; len: the upper
// left corner; bits: address, and above 48 bits the number of locations. The payload has `height`
// rows whose first bit is the left column, and for PLANES four planes of as many rows. The empty
// patch is INDICES without a payload.

struct Patch {
  i32 top, left;
  u32 height, width, size;
  u8 color;
  Rows mask;
};

// Above 59 bits stands how Python built the patch: its iteration order follows. A size needs 11 bits.

enum Walk : u32 {
  NO_WALK,     // not known
  ROWS_BUILT,  // Build of its locations, row by row
  ROWS_FROZEN, // the same, frozen
  FLOODED,     // an object that `objects` found; the two words before the payload say where its Flood is
  MADE,        // made of other values: the address is that of an Origin
  CROSS,       // `dneighbors` of a location
  RING,        // `neighbors` of a location
  FRAME,       // the outline of a rectangle
};

/// How Python makes the elements of a patch. All but UNITE and SUBTRACT build it of a sequence.
enum Making : u32 {
  SAME_PLACES,   // from those of another patch, in its order; all have the same places in the boards
  UPSIDE_DOWN,   // the same with mirrored places
  LEFT_TO_RIGHT,
  TRANSPOSED,
  GATHER,        // those with the same locations in a patch, or in the members of a tuple or a set
  SEQUENCE,      // at the places of a list
  IMAGES,        // at the places of a list, which has one for each element of a patch, row by row, or of a set
  SCALED,        // several from each of those of a smaller patch; then the set is frozen
  UNITE,         // the union of two patches, in a tuple
  SUBTRACT,      // the difference of a patch and another one, by the operator
};

/// What a patch was made of.
struct Origin {
  V parent;
  u64 rows; // the payload of the patch
  u64 list; // of u16
  u32 making, unused;
};

INLINE u32 walk_of(const V &v) { return (u32)(v.bits >> 59); }
INLINE u32 size_of_patch(const V &v) { return (u32)(v.bits >> 48) & 0x7ff; }
/// How many elements there are that `spread_elements` writes: none for a WIDE grid.
INLINE u32 length_of(const V &v) {
  switch (v.kind) {
    case GRID:
    case RAGGED: return v.a;
    case INDICES:
    case OBJECT: return size_of_patch(v);
    case TUPLE:
    case SET: return v.len;
    default: return 0;
  }
}
/// The same patch with another note on its order.
INLINE V walked(V v, Walk walk) {
  if (is_patch(v) && size_of_patch(v) > 1) v.bits |= (u64)walk << 59;
  return v;
}
INLINE u32 *payload_of(const V &v) {
  u64 at = v.bits & 0xffffffffffffull;
  return (u32 *)(walk_of(v) == MADE ? ((const Origin *)at)->rows : at);
}
INLINE Patch patch_of(const V &v) {
  Patch p;
  p.top = row_of(v.len);
  p.left = column_of(v.len);
  p.height = v.a;
  p.width = v.b;
  p.size = size_of_patch(v);
  p.color = v.c;
  p.mask = load_rows(payload_of(v), p.height);
  return p;
}
INLINE Rows plane_of(const V &v, u32 k) {
  if (v.c != PLANES) {
    Rows mask = load_rows(payload_of(v), v.a);
    return v.c >> k & 1 ? mask : no_rows();
  }
  return load_rows(payload_of(v) + (k + 1) * v.a, v.a);
}
INLINE V empty_patch() { return make(INDICES, 0, 0, 0, 0, 0); }
/// The value of some locations; `mask` starts at (top, left) but may have empty rows and columns.
CALLED V indices(const Ctx &c, const Rows &mask, i32 top, i32 left) {
  if (is_empty(mask)) return empty_patch();
  Bounds b = bounds_of(mask);
  i32 i = top + (i32)b.top, j = left + (i32)b.left;
  if (!fits_16(i) || !fits_16(j)) return stopped(SIZE);
  u32 *to = (u32 *)take(c, b.height * 4);
  if (!to) return stopped(MEMORY);
  store_rows(to, moved(mask, -(i32)b.top, -(i32)b.left), b.height);
  return make(INDICES, (u8)b.height, (u8)b.width, 0, place(i, j), (u64)to | (u64)count(mask) << 48);
}
/// The value of some cells of one colour, or with the colours of a grid at the same place.
CALLED V object(const Ctx &c, const Rows &mask, i32 top, i32 left, u8 color, const Rows *planes) {
  if (is_empty(mask)) return empty_patch();
  Bounds b = bounds_of(mask);
  i32 i = top + (i32)b.top, j = left + (i32)b.left;
  if (!fits_16(i) || !fits_16(j)) return stopped(SIZE);
  u32 *to = (u32 *)take(c, b.height * (color == PLANES ? 20 : 4));
  if (!to) return stopped(MEMORY);
  i32 up = -(i32)b.top, across = -(i32)b.left;
  store_rows(to, moved(mask, up, across), b.height);
  if (color == PLANES)
    for (u32 k = 0; k < 4; k++)
      store_rows(to + (k + 1) * b.height, moved(planes[k] & mask, up, across), b.height);
  return make(OBJECT, (u8)b.height, (u8)b.width, color, place(i, j), (u64)to | (u64)count(mask) << 48);
}
