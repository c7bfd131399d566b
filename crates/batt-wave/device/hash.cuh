// CPython's hashes of ints, tuples and frozensets.

const u64 P1 = 11400714785074694791ull;
const u64 P2 = 14029467366897019727ull;
const u64 P5 = 2870177450012600261ull;

INLINE u64 hash_lane(u64 acc, u64 hash) {
  acc += hash * P2;
  acc = acc << 31 | acc >> 33;
  return acc * P1;
}
INLINE u64 hash_end(u64 acc, u64 length) {
  acc += length ^ (P5 ^ 3527539ull);
  return acc == ~0ull ? 1546275796ull : acc;
}
INLINE u64 hash_int(i64 n) {
  const u64 modulus = (1ull << 61) - 1;
  u64 magnitude = n < 0 ? 0 - (u64)n : (u64)n;
  u64 reduced = magnitude % modulus;
  if (n >= 0) return reduced;
  return reduced == 1 ? 0 - 2ull : 0 - reduced;
}
/// The same for numbers of 16 bits.
INLINE u64 hash_small(i32 n) { return n == -1 ? 0 - 2ull : (u64)(i64)n; }
INLINE u64 hash_pair(i32 i, i32 j) {
  return hash_end(hash_lane(hash_lane(P5, hash_small(i)), hash_small(j)), 2);
}
INLINE u64 hash_cell(const Ctx &c, i32 i, i32 j, u32 color) {
  if (has_triples(c)) {
    u64 acc = hash_lane(hash_lane(P5, hash_small(i)), hash_small(j));
    return hash_end(hash_lane(acc, color), 3);
  }
  return hash_end(hash_lane(hash_lane(P5, color), hash_pair(i, j)), 2);
}
/// What an element adds to the hash of its set: the sum is an exclusive or.
INLINE u64 hash_part(u64 h) { return (h ^ 89869747ull ^ h << 16) * 3644798167ull; }
INLINE u64 hash_set(u64 parts, u64 length) {
  u64 h = parts ^ (length + 1) * 1927868237ull;
  h ^= h >> 11 ^ h >> 25;
  h = h * 69069ull + 907133923ull;
  return h == ~0ull ? 590923713ull : h;
}

/// The hash of some of the rows of a grid: row l has widths[l] cells.
INLINE u64 hash_rows(const Rows *plane, const Rows &widths, u32 height) {
  // Every row is hashed in its own lane, then all lanes go through the rows.
#ifdef BATT_HOST
  u64 own[32];
  for (u32 l = 0; l < height; l++) {
#else
  u64 own;
  {
    u32 l = lane();
#endif
    u64 acc = P5;
    u32 width = widths[l], p0 = plane[0][l], p1 = plane[1][l], p2 = plane[2][l], p3 = plane[3][l];
    for (u32 j = 0; j < width; j++) {
      acc = hash_lane(acc, (p0 & 1) | (p1 & 1) << 1 | (p2 & 1) << 2 | (p3 & 1) << 3);
      p0 >>= 1, p1 >>= 1, p2 >>= 1, p3 >>= 1;
    }
    acc = hash_end(acc, width);
#ifdef BATT_HOST
    own[l] = acc;
  }
#else
    own = acc;
  }
#endif
  u64 acc = P5;
  for (u32 l = 0; l < height; l++) {
#ifdef BATT_HOST
    acc = hash_lane(acc, own[l]);
#else
    acc = hash_lane(acc, __shfl_sync(ALL, own, (int)l));
#endif
  }
  return hash_end(acc, height);
}

/// The hash of a row of a WIDE grid.
INLINE u64 hash_wide_row(const u64 *word, u32 height, u32 width) {
  u64 acc = P5, p0 = word[0], p1 = word[height], p2 = word[2 * height], p3 = word[3 * height];
  for (u32 j = 0; j < width; j++) {
    acc = hash_lane(acc, (p0 & 1) | (p1 & 1) << 1 | (p2 & 1) << 2 | (p3 & 1) << 3);
    p0 >>= 1, p1 >>= 1, p2 >>= 1, p3 >>= 1;
  }
  return hash_end(acc, width);
}
CALLED u64 hash_wide(const V &v) {
  const u64 *words = (const u64 *)v.bits;
  const u32 height = v.a, width = v.b;
  u64 acc = P5;
  for (u32 from = 0; from < height; from += 32) {
    u32 n = min_of(height - from, 32u);
#ifdef BATT_HOST
    for (u32 l = 0; l < n; l++) acc = hash_lane(acc, hash_wide_row(words + from + l, height, width));
#else
    u64 own = lane() < n ? hash_wide_row(words + from + lane(), height, width) : 0;
    for (u32 l = 0; l < n; l++) acc = hash_lane(acc, __shfl_sync(ALL, own, (int)l));
#endif
  }
  return hash_end(acc, height);
}

/// The hash of a patch.
CALLED u64 hash_patch(const Ctx &c, const V &v) {
  Patch p = patch_of(v);
  Rows plane[4];
  if (p.color == PLANES && v.kind == OBJECT)
    for (u32 k = 0; k < 4; k++) plane[k] = plane_of(v, k);
  bool cells = v.kind == OBJECT;
  Rows high;
  Rows part = no_rows();
#ifdef BATT_HOST
  high = no_rows();
  for (u32 l = 0; l < p.height; l++) {
#else
  {
    u32 l = lane();
#endif
    u64 acc = 0;
    for (u32 todo = p.mask[l]; todo; todo &= todo - 1) {
      u32 j = lowest(todo), color = p.color;
      if (cells && color == PLANES) {
        color = 0;
        for (u32 k = 0; k < 4; k++) color |= (plane[k][l] >> j & 1) << k;
      }
      i32 i = p.top + (i32)l, at = p.left + (i32)j;
      acc ^= hash_part(cells ? hash_cell(c, i, at, color) : hash_pair(i, at));
    }
#ifdef BATT_HOST
    part.row[l] = (u32)acc;
    high.row[l] = (u32)(acc >> 32);
  }
#else
    part.row = (u32)acc;
    high.row = (u32)(acc >> 32);
  }
#endif
  return hash_set((u64)xor_of(high) << 32 | xor_of(part), p.size);
}

/// The hash of a value without elements; false for others.
CALLED bool hash_flat(const Ctx &c, const V &v, u64 *hash) {
  switch (v.kind) {
    case BOOL:
    case INT: *hash = hash_int(int_of(v)); return true;
    case PAIR: *hash = hash_pair(row_of(v.len), column_of(v.len)); return true;
    case CELL: *hash = hash_cell(c, row_of(v.len), column_of(v.len), v.a); return true;
    case GRID: {
      Grid g = grid_of(v);
      u32 width = g.width;
      *hash = hash_rows(g.plane, rows([&](u32) { return width; }), g.height);
      return true;
    }
    case RAGGED: {
      Grid g = grid_of(v);
      Rows widths = load_rows((const u32 *)v.bits + 128, g.height);
      *hash = hash_rows(g.plane, widths, g.height);
      return true;
    }
    case INDICES:
    case OBJECT: *hash = hash_patch(c, v); return true;
    case WIDE: *hash = hash_wide(v); return true;
    default: return false;
  }
}
// This is in container.cuh, which comes later.
template <int DEPTH> CALLED bool hash_alone(const Ctx &c, const V &v, u64 *hash);

/// How many elements and cells an element may have whose hash a lane computes alone.
const u32 MOST_HASHED_ALONE = 64;
INLINE u32 cells_of(const V &v) {
  if (v.kind == GRID || v.kind == RAGGED || v.kind == WIDE) return v.a * v.b;
  return is_patch(v) ? size_of_patch(v) : v.kind == TUPLE || v.kind == SET ? v.len : 1;
}
/// The hash of a value whose containers nest at most DEPTH deep; false for others. Short elements are hashed by a
/// lane each, and long ones by all lanes.
template <int DEPTH> CALLED bool hash_value(const Ctx &c, const V &v, u64 *hash) {
  if (DEPTH == 0 || (v.kind != TUPLE && v.kind != SET)) return hash_flat(c, v, hash);
  const int INNER = DEPTH ? DEPTH - 1 : 0;
  const V *items = (const V *)v.bits;
  u64 acc = v.kind == TUPLE ? P5 : 0;
  for (u32 from = 0; from < v.len; from += 32) {
    u32 n = min_of(v.len - from, 32u);
    u64 own[LANES];
    u32 alone = rows_of(rows([&](u32 l) { return (u32)(l < n && cells_of(items[from + l]) <= MOST_HASHED_ALONE); }));
    u32 unknown = rows_of(rows([&](u32 l) {
      return (u32)(alone >> l & 1 && !hash_alone<INNER>(c, items[from + l], own + l % LANES));
    }));
    if (unknown) return false;
    for (u32 l = 0; l < n; l++) {
      u64 one;
      if (alone >> l & 1) one = of_lane(own, l);
      else if (!hash_value<INNER>(c, items[from + l], &one)) return false;
      acc = v.kind == TUPLE ? hash_lane(acc, one) : acc ^ hash_part(one);
    }
  }
  *hash = v.kind == TUPLE ? hash_end(acc, v.len) : hash_set(acc, v.len);
  return true;
}

// ---- Equality -----------------------------------------------------------------------------------

/// Whether two patches of one kind are equal.
CALLED bool equal_patches(const V &x, const V &y) {
  if (x.kind != y.kind || x.a != y.a || x.b != y.b || x.len != y.len) return false;
  if (size_of_patch(x) != size_of_patch(y)) return false;
  if (size_of_patch(x) == 0) return true;
  if (!same(patch_of(x).mask, patch_of(y).mask)) return false;
  if (x.kind == INDICES) return true;
  if (x.c != PLANES || y.c != PLANES) return x.c == y.c;
  for (u32 k = 0; k < 4; k++)
    if (!same(plane_of(x, k), plane_of(y, k))) return false;
  return true;
}
/// Whether two grids are equal.
CALLED bool equal_grids(const V &x, const V &y) {
  if (x.a != y.a || x.b != y.b) return false;
  Grid g = grid_of(x), h = grid_of(y);
  for (u32 k = 0; k < 4; k++)
    if (!same(g.plane[k], h.plane[k])) return false;
  return true;
}

enum Answer : u32 { NO, YES, UNSURE };

/// Whether two values are equal in Python, for containers that nest at most DEPTH deep.
template <int DEPTH> CALLED Answer equal_values(const V &x, const V &y) {
  if (is_int(x) && is_int(y)) return x.bits == y.bits ? YES : NO;
  if (x.kind == RAGGED || y.kind == RAGGED || x.kind == WIDE || y.kind == WIDE) return UNSURE;
  if (x.kind != y.kind) {
    // True may stand where a PAIR, a CELL or a GRID has 1.
    bool tuples = (x.kind == TUPLE && y.kind >= PAIR && y.kind <= GRID) || (y.kind == TUPLE && x.kind >= PAIR && x.kind <= GRID);
    bool sets = (x.kind == SET && is_patch(y)) || (y.kind == SET && is_patch(x));
    return tuples || sets ? UNSURE : NO;
  }
  switch (x.kind) {
    case NONE: return YES;
    case PAIR: return x.len == y.len ? YES : NO;
    case CELL: return x.len == y.len && x.a == y.a ? YES : NO;
    case GRID: return equal_grids(x, y) ? YES : NO;
    case INDICES:
    case OBJECT: return equal_patches(x, y) ? YES : NO;
    case TUPLE:
    case SET: break;
    default: return UNSURE;
  }
  if (x.len != y.len) return NO;
  if (DEPTH == 0) return UNSURE;
  const V *xs = (const V *)x.bits, *ys = (const V *)y.bits;
  const int INNER = DEPTH ? DEPTH - 1 : 0;
  for (u32 k = 0; k < x.len; k++) {
    if (x.kind == TUPLE) {
      Answer answer = equal_values<INNER>(xs[k], ys[k]);
      if (answer != YES) return answer;
      continue;
    }
    // Sets are equal if each element of one is in the other.
    Answer found = NO;
    for (u32 j = 0; j < y.len && found == NO; j++) found = equal_values<INNER>(xs[k], ys[j]);
    if (found != YES) return found;
  }
  return YES;
}
