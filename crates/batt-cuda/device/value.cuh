// What Python does with any value: length, elements, equality, order, hash, truth; and the making of tuples and
// grids in their canonical forms, which are the CPU's (see docs/device.md).

/// Values nested more deeply than this are left to the CPU: walking them takes stack.
const u32 MOST_NESTED = 12;

// ---- Making tuples ---------------------------------------------------------------------------------------

/// `(a, b)` of two values that do not pack.
OUTLINE V general_pair(Ctx &c, V a, V b) {
  ROOM(V, items, c, 2);
  put(items, a);
  put(items + 1, b);
  sync();
  return make(TUPLE, 0, 2, offset_of(c, items), 0);
}

INLINE V pair_of(Ctx &c, V a, V b) {
  if (a.kind == INT && b.kind == INT) {
    i64 i = int_of(a), j = int_of(b);
    if (fits16(i) && fits16(j)) return pair_of_word(pair_word((i32)i, (i32)j));
  }
  if (a.kind == INT && b.kind == PAIR && !triples(c)) {
    i64 color = int_of(a);
    if (fits32(color)) return cell_of(b.lo, (i32)color);
  }
  return general_pair(c, a, b);
}

/// `(i, j)` of any two numbers.
INLINE V int_pair(Ctx &c, i64 i, i64 j) { return pair_of(c, integer(i), integer(j)); }

/// The tuple of n values that are in the arena already.
OUTLINE V tuple_at(Ctx &c, const V *items, u32 n) {
  if (n == 0) return empty_tuple();
  if (n == 2) {
    V a = items[0], b = items[1];
    if (a.kind == INT && (b.kind == INT || b.kind == PAIR)) return pair_of(c, a, b);
  }
  if (n == 3 && triples(c)) {
    V i = items[0], j = items[1], color = items[2];
    if (i.kind == INT && j.kind == INT && color.kind == INT && fits16(int_of(i)) && fits16(int_of(j)) &&
        fits32(int_of(color)))
      return cell_of(pair_word((i32)int_of(i), (i32)int_of(j)), (i32)int_of(color));
  }
  return make(TUPLE, 0, n, offset_of(c, items), 0);
}

/// `(i, j, k)`, a cell where cells are triples.
OUTLINE V triple_of(Ctx &c, V i, V j, V k) {
  ROOM(V, items, c, 3);
  put(items, i);
  put(items + 1, j);
  put(items + 2, k);
  sync();
  return tuple_at(c, items, 3);
}

/// The tuple of n bytes in the arena.
OUTLINE V row_at(Ctx &c, const u8 *bytes, u32 n) {
  if (n == 2) return pair_of_word(pair_word(bytes[0], bytes[1]));
  if (n == 3 && triples(c)) return cell_of(pair_word(bytes[0], bytes[1]), bytes[2]);
  return make(ROW, 0, n, n ? offset_of(c, bytes) : 0, 0);
}

/// The tuple of empty tuples that a grid without cells is.
OUTLINE V empty_rows(Ctx &c, u32 height) {
  if (height == 0) return empty_tuple();
  ROOM(V, rows, c, height);
  fill_with(rows, empty_tuple(), height);
  sync();
  return tuple_at(c, rows, height);
}

/// The grid of these cells in the arena, or the tuple of empty tuples that an empty one is.
INLINE V grid_at(Ctx &c, const u8 *cells, u32 height, u32 width) {
  if (height == 0 || width == 0) return empty_rows(c, height);
  if (height > 65535 || width > 65535) return stop(c, SIZE);
  return make(GRID, 0, 0, offset_of(c, cells), height << 16 | width);
}

// ---- Looking at tuples -----------------------------------------------------------------------------------

/// Number of elements of a container.
INLINE u32 length(const Ctx &c, V v) {
  switch (v.kind) {
  case PAIR: return 2;
  case CELL: return triples(c) ? 3 : 2;
  case GRID: return height_of(v);
  default: return v.len;
  }
}

/// Element k of a container, k in range. Of a set: in whatever sequence it has.
OUTLINE V item(Ctx &c, V v, u32 k) {
  switch (v.kind) {
  case PAIR: return integer(k == 0 ? row_of(v.lo) : column_of(v.lo));
  case CELL:
    if (triples(c)) return integer(k == 0 ? row_of(v.lo) : k == 1 ? column_of(v.lo) : (i32)v.hi);
    return k == 0 ? integer((i32)v.hi) : pair_of_word(v.lo);
  case ROW: return integer(bytes_of(c, v)[k]);
  case GRID: {
    u32 width = width_of(v);
    return row_at(c, bytes_of(c, v) + k * width, width);
  }
  case TUPLE:
  case SET_V: return values_of(c, v)[k];
  case SET_P: return pair_of_word(pairs_of(c, v)[k]);
  case SET_C: {
    Dot d = dots_of(c, v)[k];
    return cell_of(d.at, d.color);
  }
  default: return failed(TYPE_);
  }
}

/// Are the elements in Python's order? Tuples always; a set if that does not matter or is known.
INLINE bool in_order(V v) { return !is_set(v) || v.len <= 1 || (v.flags & ORDERED); }

/// For primitives whose result depends on the order of a set: leaves the function unless the order is known.
#define NEED_ORDER(c, v) do { if (!in_order(v)) return stop(c, ORDER); } while (0)

/// `v[k]` with Python's rules.
OUTLINE V at(Ctx &c, V v, i64 k) {
  if (!is_tuple(v)) return failed(TYPE_);
  i64 n = length(c, v);
  if (k < 0) k += n;
  if (k < 0 || k >= n) return failed(INDEX_);
  return item(c, v, (u32)k);
}

/// The elements as an array of values: those of a tuple or ordered set are where they are, others are copied.
/// Null: not a container, or the arena is full (then the run is stopped).
OUTLINE V *elements(Ctx &c, V v) {
  if (v.kind == TUPLE || v.kind == SET_V) {
    spend(c, v.len / 16);
    return values_of(c, v);
  }
  if (!is_container(v)) return nullptr;
  u32 n = length(c, v);
  V *items = room_for<V>(c, n);
  if (!items) return nullptr;
  spend_shared(c, n);
  switch (v.kind) {
  case ROW:
    for (u32 k = lane(); k < n; k += LANES) items[k] = integer(bytes_of(c, v)[k]);
    break;
  case SET_P:
    for (u32 k = lane(); k < n; k += LANES) items[k] = pair_of_word(pairs_of(c, v)[k]);
    break;
  case SET_C:
    for (u32 k = lane(); k < n; k += LANES) {
      Dot d = dots_of(c, v)[k];
      items[k] = cell_of(d.at, d.color);
    }
    break;
  default: // pairs, cells, grids: item() is the same for every lane
    for (u32 k = lane(); k < n; k += LANES) items[k] = item(c, v, k);
  }
  sync();
  return items;
}

INLINE bool truth(const Ctx &c, V v) {
  switch (v.kind) {
  case NONE: return false;
  case BOOL: return v.flags != 0;
  case INT: return int_of(v) != 0;
  case FLOAT: return (bits_of(v) << 1) != 0;
  case ROW:
  case TUPLE:
  case SET_P:
  case SET_C:
  case SET_V: return v.len != 0;
  default: return true;
  }
}

// ---- Floats: nan, the infinities and what arithmetic makes of them ---------------------------------------

INLINE double float_of(V v) {
  if (v.kind != FLOAT) return (double)number_of(v);
  u64 bits = bits_of(v);
#ifdef __CUDACC__
  return __longlong_as_double((i64)bits);
#else
  double x;
  memcpy(&x, &bits, 8);
  return x;
#endif
}
const u64 NAN_BITS = 0x7ff8000000000000ull;
/// A float that arithmetic made. Each nan is an object of its own: its number is in its bits.
INLINE V new_float(Ctx &c, double x) {
  if (x != x) return floating_bits(NAN_BITS | ++c.closures);
  u64 bits;
#ifdef __CUDACC__
  bits = (u64)__double_as_longlong(x);
#else
  memcpy(&bits, &x, 8);
#endif
  return floating_bits(bits);
}
INLINE bool is_infinite(double x) { return x == x && x - x != x - x; }
INLINE bool is_nan(V v) { return v.kind == FLOAT && float_of(v) != float_of(v); }
INLINE bool is_numeric(V v) { return v.kind == INT || v.kind == BOOL || v.kind == FLOAT; }
/// Does a number equal an integer, and which?
INLINE bool integral(V v, i64 *n) {
  if (v.kind == FLOAT) {
    double x = float_of(v);
    if (!(x > -9007199254740992.0 && x < 9007199254740992.0)) return false;
    *n = (i64)x;
    return (double)*n == x;
  }
  if (!is_number(v)) return false;
  *n = number_of(v);
  return true;
}

// ---- Hash: CPython's --------------------------------------------------------------------------------------

const u64 P1 = 11400714785074694791ull;
const u64 P2 = 14029467366897019727ull;
const u64 P5 = 2870177450012600261ull;

INLINE u64 hash_int(i64 n) {
  const u64 modulus = (1ull << 61) - 1;
  u64 magnitude = n < 0 ? 0 - (u64)n : (u64)n;
  u64 reduced = magnitude < modulus ? magnitude : magnitude % modulus;
  if (n >= 0) return reduced;
  return reduced == 1 ? (u64)-2 : 0 - reduced;
}
INLINE u64 hash_small(i32 n) { return (u64)(i64)(n == -1 ? -2 : n); }
INLINE u64 hash_lane(u64 acc, u64 hash) {
  acc += hash * P2;
  acc = acc << 31 | acc >> 33;
  return acc * P1;
}
INLINE u64 hash_close(u64 acc, u64 len) {
  acc += len ^ (P5 ^ 3527539ull);
  return acc == ~0ull ? 1546275796ull : acc;
}
INLINE u64 hash_pair(u32 at) {
  return hash_close(hash_lane(hash_lane(P5, hash_small(row_of(at))), hash_small(column_of(at))), 2);
}
INLINE u64 hash_cell(const Ctx &c, u32 at, i32 color) {
  if (triples(c)) {
    u64 acc = hash_lane(hash_lane(P5, hash_small(row_of(at))), hash_small(column_of(at)));
    return hash_close(hash_lane(acc, hash_small(color)), 3);
  }
  return hash_close(hash_lane(hash_lane(P5, hash_small(color)), hash_pair(at)), 2);
}
INLINE u64 hash_member(u64 h) { return ((h ^ 89869747ull) ^ (h << 16)) * 3644798167ull; }
INLINE u64 hash_set_close(u64 x, u64 len) {
  x ^= (len + 1) * 1927868237ull;
  x ^= (x >> 11) ^ (x >> 25);
  x = x * 69069ull + 907133923ull;
  return x == ~0ull ? 590923713ull : x;
}
/// The hash of a tuple of small integers, by one lane.
OUTLINE u64 hash_bytes(const u8 *bytes, u32 n) {
  u64 acc = P5;
  for (u32 k = 0; k < n; k++) acc = hash_lane(acc, bytes[k]);
  return hash_close(acc, n);
}

DEVICE u64 hash_inside(Ctx &c, V v, u32 depth);
OUTLINE u64 hash_of(Ctx &c, V v, u32 depth = 0) {
  if (depth > MOST_NESTED) { stop(c, DEPTH); return 0; }
  switch (v.kind) {
  case BOOL: return v.flags;
  case INT: return hash_int(int_of(v));
  case FLOAT: {
    i64 n;
    if (integral(v, &n)) return hash_int(n);
    double x = float_of(v);
    if (is_infinite(x)) return hash_int(x > 0 ? 314159 : -314159);
    return 0x2545f491;
  }
  case PAIR: return hash_pair(v.lo);
  case CELL: return hash_cell(c, v.lo, (i32)v.hi);
  case ROW: return hash_bytes(bytes_of(c, v), v.len);
  case GRID: {
    u32 height = height_of(v), width = width_of(v);
    spend(c, width);
    u64 acc = P5;
    for (u32 from = 0; from < height; from += LANES) {
      u32 i = from + lane();
      u64 mine = i < height ? hash_bytes(bytes_of(c, v) + i * width, width) : 0;
      u32 rows = min_of(LANES, height - from);
      for (u32 k = 0; k < rows; k++) acc = hash_lane(acc, from_lane(mine, k));
    }
    return hash_close(acc, height);
  }
  case TUPLE: {
    u64 acc = P5;
    spend(c, v.len / 8);
    for (u32 k = 0; k < v.len; k++) acc = hash_lane(acc, hash_inside(c, values_of(c, v)[k], depth + 1));
    return hash_close(acc, v.len);
  }
  case SET_P: {
    u64 x = 0;
    spend(c, v.len / 32);
    for (u32 k = lane(); k < v.len; k += LANES) x ^= hash_member(hash_pair(pairs_of(c, v)[k]));
    return hash_set_close(xor_all(x), v.len);
  }
  case SET_C: {
    u64 x = 0;
    spend(c, v.len / 32);
    for (u32 k = lane(); k < v.len; k += LANES) {
      Dot d = dots_of(c, v)[k];
      x ^= hash_member(hash_cell(c, d.at, d.color));
    }
    return hash_set_close(xor_all(x), v.len);
  }
  case SET_V: {
    u64 x = 0;
    spend(c, v.len / 8);
    for (u32 k = 0; k < v.len; k++) x ^= hash_member(hash_inside(c, values_of(c, v)[k], depth + 1));
    return hash_set_close(x, v.len);
  }
  // By address in CPython; these are the CPU's stand-ins.
  case OP_: return 0x9747b28cull + 64 * (u64)v.lo;
  case CLOSURE:
    c.by_address = true;
    return 0x1b873593ull + 64 * (u64)v.len;
  default: return 0x5bd1e995ull;
  }
}
OUTLINE u64 hash_inside(Ctx &c, V v, u32 depth) { return hash_of(c, v, depth); }

// ---- Equality and order ------------------------------------------------------------------------------------

OUTLINE bool equal_deep(Ctx &c, V a, V b, u32 depth);
OUTLINE bool equal_inside(Ctx &c, V a, V b, u32 depth);
OUTLINE bool equal_sets(Ctx &c, V a, V b, u32 depth); // set.cuh
OUTLINE bool is_subset(Ctx &c, V a, V b);             // set.cuh

/// `a == b`.
INLINE bool equal(Ctx &c, V a, V b) {
  if (a.kind == b.kind && (a.kind == INT || a.kind == PAIR || a.kind == CELL)) return a.lo == b.lo && a.hi == b.hi;
  return equal_deep(c, a, b, 0);
}
/// `a is b or a == b`: how containers compare. Only nan can tell it from `==`.
INLINE bool equal_member(Ctx &c, V a, V b, u32 depth) {
  if (a.kind == FLOAT && b.kind == FLOAT && same_bits(a, b)) return true;
  if (a.kind == b.kind && (a.kind == INT || a.kind == PAIR || a.kind == CELL)) return a.lo == b.lo && a.hi == b.hi;
  return equal_inside(c, a, b, depth);
}

OUTLINE bool equal_deep(Ctx &c, V a, V b, u32 depth) {
  if (depth > MOST_NESTED) { stop(c, DEPTH); return false; }
  if (is_numeric(a) || is_numeric(b)) {
    if (!is_numeric(a) || !is_numeric(b)) return false;
    if (a.kind == FLOAT || b.kind == FLOAT) return float_of(a) == float_of(b);
    return number_of(a) == number_of(b);
  }
  if (a.kind == NONE || b.kind == NONE) return a.kind == b.kind;
  if (is_function(a) || is_function(b))
    return a.kind == b.kind && (a.kind == OP_ ? a.lo == b.lo : a.len == b.len);
  if (is_set(a) || is_set(b)) return is_set(a) && is_set(b) && equal_sets(c, a, b, depth);
  // Tuples, in whatever form.
  u32 n = length(c, a);
  if (a.kind == GRID && b.kind == GRID) spend(c, n * width_of(a) / 256);
  if (n != length(c, b)) return false;
  if (n == 0) return true;
  if (a.kind == b.kind) {
    if (a.kind == PAIR || a.kind == CELL) return a.lo == b.lo && a.hi == b.hi;
    if (a.kind == TUPLE) spend(c, n / 4 + 2);
    if (a.lo == b.lo && a.hi == b.hi) return true;
    if (a.kind == ROW || a.kind == GRID) {
      if (a.kind == GRID && a.hi != b.hi) return false;
      u32 cells = a.kind == ROW ? n : n * width_of(a);
      const u8 *p = bytes_of(c, a), *q = bytes_of(c, b);
      bool differ = false;
      for (u32 k = lane(); k < cells; k += LANES) differ |= p[k] != q[k];
      return !any(differ);
    }
  }
  if (a.kind != b.kind) spend(c, (n + 1) / 2 + 1);
  for (u32 k = 0; k < n; k++) {
    if (!equal_member(c, item(c, a, k), item(c, b, k), depth + 1)) return false;
    if (c.stop) return false;
  }
  return true;
}
OUTLINE bool equal_inside(Ctx &c, V a, V b, u32 depth) { return equal_deep(c, a, b, depth); }

/// `a < b`: 1, 0, or -1 when Python cannot compare them. (The caller fails with TYPE_.)
DEVICE i32 less_inside(Ctx &c, V a, V b, u32 depth);
OUTLINE i32 less(Ctx &c, V a, V b, u32 depth = 0) {
  if (depth > MOST_NESTED) { stop(c, DEPTH); return 0; }
  if (is_numeric(a) && is_numeric(b)) {
    if (a.kind == FLOAT || b.kind == FLOAT) return float_of(a) < float_of(b);
    return number_of(a) < number_of(b);
  }
  if (a.kind == PAIR && b.kind == PAIR) {
    i32 i = row_of(a.lo), k = row_of(b.lo);
    return i != k ? i < k : column_of(a.lo) < column_of(b.lo);
  }
  if (is_set(a) && is_set(b)) return a.len < b.len && is_subset(c, a, b);
  if (!is_tuple(a) || !is_tuple(b)) return -1;
  u32 n = length(c, a), m = length(c, b);
  spend(c, (n + m) / 8 + 1);
  for (u32 k = 0; k < n && k < m; k++) {
    V x = item(c, a, k), y = item(c, b, k);
    if (!equal_member(c, x, y, depth + 1)) return c.stop ? 0 : less_inside(c, x, y, depth + 1);
  }
  return n < m;
}
OUTLINE i32 less_inside(Ctx &c, V a, V b, u32 depth) { return less(c, a, b, depth); }

// ---- Grids --------------------------------------------------------------------------------------------------

struct Grid {
  u32 height, width;
  const u8 *cells;
};

/// The bytes of a tuple of plain integers 0 to 255 of this length: copied to `to`. False: it is something else.
OUTLINE bool copy_row(Ctx &c, V row, u32 width, u8 *to) {
  if (!is_tuple(row) || length(c, row) != width) return false;
  if (row.kind == ROW) {
    copy(to, bytes_of(c, row), width);
    return true;
  }
  if (row.kind == GRID) return false;
  bool fits = true;
  for (u32 k = 0; k < width; k++) {
    V v = item(c, row, k);
    fits &= v.kind == INT && int_of(v) >= 0 && int_of(v) <= 255;
    put(to + k, (u8)v.lo);
  }
  return fits;
}

OUTLINE bool gather_grid(Ctx &c, V v, Grid *grid) {
  if (v.kind != TUPLE) return false; // two pairs are a TUPLE here, so nothing else can be a grid
  V first = values_of(c, v)[0];
  if (!is_tuple(first)) return false;
  u32 height = v.len, width = length(c, first);
  if (width == 0 || height > 65535 || width > 65535) return false;
  u8 *cells = room_for<u8>(c, (u64)height * width);
  if (!cells) return false;
  spend(c, height);
  for (u32 i = 0; i < height; i++)
    if (!copy_row(c, values_of(c, v)[i], width, cells + i * width)) return false;
  sync();
  grid->height = height;
  grid->width = width;
  grid->cells = cells;
  return true;
}

/// The value as a grid: a rectangle of plain integers 0 to 255. False: it is none (or the run is stopped).
INLINE bool as_grid(Ctx &c, V v, Grid *grid) {
  if (v.kind == GRID) {
    grid->height = height_of(v);
    grid->width = width_of(v);
    grid->cells = bytes_of(c, v);
    return true;
  }
  return gather_grid(c, v, grid);
}
