// Values on their way to the host, as words that src/wave/values.rs of the engine reads.
//
// The lowest byte of the first word of a value is its form. The bytes above it, and the words that
// follow, depend on the form:
//
//   P_NONE
//   P_BOOL     the second byte: 0 or 1
//   P_INT      two words: the number
//   P_SMALL    the bytes above: the number, if 24 bits are enough for it
//   P_PAIR     a word: the location
//   P_CELL     the second byte: the colour; a word: the location
//   P_GRID     the second and third byte: height and width; the cells row by row, eight to a word
//   P_INDICES, P_OBJECT
//              the bytes above: the number of elements; a word: the upper left corner; the elements in
//              iteration order, two to a word: the row and the column from the corner, 5 bits each, and
//              the colour
//   P_TUPLE, P_SET
//              the bytes above: the number of items; the items, in iteration order

enum Packing : u32 {
  P_NONE, P_BOOL, P_INT, P_SMALL, P_PAIR, P_CELL, P_GRID, P_INDICES, P_OBJECT, P_TUPLE, P_SET,
};

/// In the place of the words of a value that cannot be packed, above the reason: `UNPACKED` in
/// values.rs.
const u32 UNPACKED = 0xffffff00u;
/// How deep containers may nest, and how many elements a set may have.
const int PACKED_DEPTH = 4;
const u32 MOST_PACKED = 1024;

INLINE bool is_small(i64 n) { return n >= -(1 << 23) && n < 1 << 23; }
INLINE u32 words_of_cells(u32 count) { return (count + 7) / 8; }
/// Eight cells of a grid, which may be wide, from a place on.
INLINE u32 eight_cells(const V &v, u32 at) {
  const u32 *planes = (const u32 *)v.bits;
  u32 word = 0;
  for (u32 k = 0; k < 8 && at + k < (u32)v.a * v.b; k++) {
    u32 row = (at + k) / v.b, column = (at + k) % v.b;
    if (v.kind == WIDE) {
      word |= wide_color(v, row, column) << (4 * k);
      continue;
    }
    for (u32 p = 0; p < 4; p++) word |= (planes[32 * p + row] >> column & 1) << (4 * k + p);
  }
  return word;
}

/// A lane that packs values alone: it counts words, or writes them if there is a place for them.
struct Packer {
  u32 *to;
  u32 count;
};
INLINE void push(Packer &p, u32 word) {
  if (p.to) p.to[p.count] = word;
  p.count++;
}

template <int DEPTH> CALLED V pack_alone(const Ctx &c, const V &v, Packer &p);

/// The elements of a patch, in iteration order.
INLINE V pack_patch(const Ctx &c, const V &v, Packer &p) {
  u32 n = size_of_patch(v);
  push(p, (v.kind == OBJECT ? P_OBJECT : P_INDICES) | n << 8);
  if (n == 0) return none();
  push(p, v.len);
  if (!p.to) {
    p.count += (n + 1) / 2;
    return none();
  }
  u16 *order = (u16 *)take_alone(c, (u64)n * 4), *elements = order + n;
  if (!order) return stopped(MEMORY);
  V failed = write_order_of<Lone>(c, v, order);
  if (failed.kind != NONE) return failed;
  u32 k = 0;
  for (u32 row = 0; row < v.a; row++)
    for (u32 todo = patch_row(v, 0, row); todo; todo &= todo - 1) {
      u32 column = lowest(todo), color = v.kind == OBJECT ? patch_color(v, row, column) : 0;
      elements[k++] = (u16)(row | column << 5 | color << 10);
    }
  for (u32 k = 0; k < n; k += 2)
    push(p, elements[order[k]] | (k + 1 < n ? (u32)elements[order[k + 1]] << 16 : 0));
  return none();
}
/// The items of a tuple, of a set in iteration order, or of a grid of rows of several widths.
template <int DEPTH> INLINE V pack_items(const Ctx &c, const V &v, Packer &p) {
  if (DEPTH == 0) return stopped(ODD);
  const int INNER = DEPTH ? DEPTH - 1 : 0;
  u32 n = length_of(v);
  push(p, (v.kind == SET ? P_SET : P_TUPLE) | n << 8);
  const u16 *order = nullptr;
  if (v.kind == SET && n > 1 && v.c != IN_ORDER && p.to) {
    u16 *numbers = (u16 *)take_alone(c, (u64)n * 2);
    if (!numbers) return stopped(MEMORY);
    V failed = write_order_of<Lone>(c, v, numbers);
    if (failed.kind != NONE) return failed;
    order = numbers;
  }
  for (u32 k = 0; k < n; k++) {
    V item = v.kind == RAGGED ? element_alone(c, v, k) : ((const V *)v.bits)[order ? order[k] : k];
    V failed = pack_alone<INNER>(c, item, p);
    if (failed.kind != NONE) return failed;
  }
  return none();
}
/// Packs a value. Returns a failure, or NONE.
template <int DEPTH> CALLED V pack_alone(const Ctx &c, const V &v, Packer &p) {
  switch (v.kind) {
    case NONE: push(p, P_NONE); return none();
    case BOOL: push(p, P_BOOL | (u32)v.bits << 8); return none();
    case INT:
      if (is_small(int_of(v))) {
        push(p, P_SMALL | (u32)v.bits << 8);
      } else {
        push(p, P_INT);
        push(p, (u32)v.bits);
        push(p, (u32)(v.bits >> 32));
      }
      return none();
    case PAIR: push(p, P_PAIR); push(p, v.len); return none();
    case CELL: push(p, P_CELL | (u32)v.a << 8); push(p, v.len); return none();
    case GRID:
    case WIDE:
      push(p, P_GRID | (u32)v.a << 8 | (u32)v.b << 16);
      for (u32 at = 0; at < (u32)v.a * v.b; at += 8) push(p, eight_cells(v, at));
      return none();
    case INDICES:
    case OBJECT: return pack_patch(c, v, p);
    case RAGGED:
    case TUPLE:
    case SET: return length_of(v) > MOST_PACKED ? stopped(SIZE) : pack_items<DEPTH>(c, v, p);
    case STOPPED: return v;
    default: return stopped(ODD);
  }
}

/// Packs a value, and returns its place among the words that come back, or UNPACKED with the reason.
INLINE u32 packed(const Ctx &c, const Ctx &out, const V &v) {
  const Heap *heap = (const Heap *)out.wave->heap;
  if (!is_value(v)) return UNPACKED | (v.kind == STOPPED ? v.a : ODD);
  if (is_any_grid(v)) {
    u32 count = words_of_cells((u32)v.a * v.b);
    u32 *to = (u32 *)take(out, (1 + count) * 4);
    if (!to) return UNPACKED | MEMORY;
    put(to, P_GRID | (u32)v.a << 8 | (u32)v.b << 16);
    (void)rows([&](u32 l) {
      for (u32 k = l; k < count; k += 32) to[1 + k] = eight_cells(v, 8 * k);
      return 0u;
    });
    return (u32)(((u64)to - heap->base) / 4);
  }
  return alone([&]() {
    Packer p = {nullptr, 0};
    V failed = pack_alone<PACKED_DEPTH>(c, v, p);
    if (failed.kind != NONE) return UNPACKED | failed.a;
    p.to = (u32 *)take_alone(out, (u64)p.count * 4);
    if (!p.to) return UNPACKED | (u32)MEMORY;
    u64 at = ((u64)p.to - heap->base) / 4;
    p.count = 0;
    failed = pack_alone<PACKED_DEPTH>(c, v, p);
    return failed.kind == NONE ? (u32)at : UNPACKED | failed.a;
  });
}

/// Packs values. args[0]: the values; payload: the heap for the words; out: the place of the words of
/// each item.
INLINE void run_pack(const Wave &w) {
  each_row_item(w, [&](const Node &node, u32 item) {
    Ctx c = context(w, node, item, 0);
    Wave to = w;
    to.heap = node.payload;
    Ctx out = {&to, 0, 0, item, node.dialect};
    put((u32 *)node.out + item, packed(c, out, arg_of(node.args[0], item)));
  });
}
