// Making tuples and sets: every value in its one form.

/// Is a value a row of a grid, a tuple of 1 to 32 colours? Then `width` is its length.
INLINE bool is_row(const Ctx &c, const V &v, u32 *width) {
  if (v.kind == CELL && has_triples(c)) {
    i32 i = row_of(v.len), j = column_of(v.len);
    *width = 3;
    return i >= 0 && i < 16 && j >= 0 && j < 16;
  }
  if (v.kind == PAIR) {
    i32 i = row_of(v.len), j = column_of(v.len);
    *width = 2;
    return i >= 0 && i < 16 && j >= 0 && j < 16;
  }
  if (v.kind != TUPLE || v.len == 0 || v.len > SIDE) return false;
  const V *cells = (const V *)v.bits;
  for (u32 k = 0; k < v.len; k++)
    if (cells[k].kind != INT || cells[k].bits > 15) return false;
  *width = v.len;
  return true;
}

/// Column j of a row of a grid.
INLINE u32 color_in_row(const V &row, u32 j) {
  if (row.kind == TUPLE) return (u32)((const V *)row.bits)[j].bits;
  return (u32)(j == 2 ? row.a : j ? column_of(row.len) : row_of(row.len));
}

/// The tuple of `n` values; the values stay where they are.
CALLED V tuple_value(const Ctx &c, const V *items, u32 n) {
  if (n == 2 && items[0].kind == INT && items[1].kind == INT) {
    i64 i = int_of(items[0]), j = int_of(items[1]);
    if (fits_16(i) && fits_16(j)) return pair((i32)i, (i32)j);
  }
  if (n == 2 && !has_triples(c) && items[0].kind == INT && items[0].bits < 16 && items[1].kind == PAIR)
    return make(CELL, (u8)items[0].bits, 0, 0, items[1].len, 0);
  if (n == 3 && has_triples(c) && items[0].kind == INT && items[1].kind == INT && items[2].kind == INT && items[2].bits < 16) {
    i64 i = int_of(items[0]), j = int_of(items[1]);
    if (fits_16(i) && fits_16(j)) return make(CELL, (u8)items[2].bits, 0, 0, place((i32)i, (i32)j), 0);
  }
  u32 width;
  if (n == 0 || n > SIDE || !is_row(c, items[0], &width)) return make(TUPLE, 0, 0, 0, n, (u64)items);
  bool odd = rows_of(rows([&](u32 l) {
    u32 own;
    return (u32)(l < n && (!is_row(c, items[l], &own) || own != width));
  }));
  if (odd) return make(TUPLE, 0, 0, 0, n, (u64)items);
  Grid g;
  g.height = n;
  g.width = width;
  for (u32 k = 0; k < 4; k++)
    g.plane[k] = rows([&](u32 l) {
      if (l >= n) return 0u;
      const V &row = items[l];
      u32 bits = 0;
      for (u32 j = 0; j < width; j++) {
        bits |= (color_in_row(row, j) >> k & 1) << j;
      }
      return bits;
    });
  return value_of(c, g);
}

/// The colour that all cells of a mask have, or PLANES.
INLINE u8 one_color(const Rows &mask, const Rows *plane) {
  u32 color = 0;
  for (u32 k = 0; k < 4; k++) {
    Rows own = plane[k] & mask;
    if (is_empty(own)) continue;
    if (!same(own, mask)) return PLANES;
    color |= 1u << k;
  }
  return (u8)color;
}

// The lane-only hash and equality of any value: container.cuh and numbers.cuh.
template <int DEPTH> CALLED bool hash_alone(const Ctx &c, const V &v, u64 *hash);
template <int DEPTH> CALLED Answer equal_alone(const Ctx &c, const V &x, const V &y);
template <int DEPTH> CALLED bool are_alike(const V &x, const V &y);

/// Writes the hashes of n values that nest at most DEPTH deep. False if one of them is not known.
template <class T, int DEPTH> CALLED bool write_hashes(const Ctx &c, const V *items, u32 n, u64 *to) {
  // A lane takes as long for a value as it has cells, and the others wait for it.
  const u32 most = T::WIDTH == 1 ? 0xffffffffu : 2 * min_of(n, 32u);
  u32 unknown = T::where([&](u32 l) {
    bool own = false;
    for (u32 k = l; k < n; k += T::WIDTH)
      if (cells_of(items[k]) <= most) own |= !hash_alone<DEPTH>(c, items[k], to + k);
    return own;
  });
  if constexpr (T::WIDTH > 1)
    for (u32 k = 0; k < n && !unknown; k++) {
      if (cells_of(items[k]) <= most) continue;
      u64 hash;
      unknown = !hash_value<DEPTH>(c, items[k], &hash);
      put(to + k, hash);
    }
  T::wait();
  return !unknown;
}

/// Adds a word to a key.
INLINE u64 mixed(u64 key, u64 word) {
  key = (key ^ word) * P1;
  return key ^ key >> 29;
}
/// A number that equal values have in common, of one with containers that nest at most DEPTH deep, by a lane
/// alone. False for others. It takes less time than the hash, because boards go in row by row.
template <int DEPTH> CALLED bool key_alone(const V &v, u64 *key) {
  if (is_int(v)) {
    *key = mixed(INT, v.bits);
    return true;
  }
  // Other values have one form, so the form and what it holds tell them apart.
  u64 own = mixed(v.kind | (u64)v.a << 8 | (u64)v.b << 16, v.len);
  u32 boards = 0;
  switch (v.kind) {
    case NONE:
    case PAIR:
    case CELL: break;
    case GRID: boards = 4; break;
    case RAGGED: boards = 5; break; // with the widths of the rows
    case INDICES: boards = 1; break;
    case OBJECT:
      boards = v.c == PLANES ? 5 : 1;
      own = mixed(own, v.c);
      break;
    case TUPLE:
    case SET: {
      if (DEPTH == 0) return false;
      u64 sum = 0;
      own = mixed(v.kind, v.len);
      for (u32 k = 0; k < v.len; k++) {
        const V &item = ((const V *)v.bits)[k];
        u64 part;
        // True may stand where another form has 1, and both are equal.
        if (item.kind == BOOL || !key_alone<(DEPTH ? DEPTH - 1 : 0)>(item, &part)) return false;
        if (v.kind == TUPLE) own = mixed(own, part);
        else sum += mixed(SET, part);
      }
      *key = mixed(own, sum);
      return true;
    }
    default: return false;
  }
  if (boards && (!is_patch(v) || size_of_patch(v))) {
    const u32 *rows = is_patch(v) ? payload_of(v) : (const u32 *)v.bits;
    // The boards of a grid have room for all rows.
    u32 stride = is_patch(v) ? v.a : SIDE;
    for (u32 board = 0; board < boards; board++)
      for (u32 l = 0; l < v.a; l++) own = mixed(own, rows[board * stride + l]);
  }
  *key = own;
  return true;
}

/// How deep the elements of a set may nest where equal ones are looked for.
const int EQUAL_DEPTH = 3;

/// Finds for each value the first one that equals it. Returns a failure, or NONE.
///
/// All lanes enter their values into one hash table of numbers. A slot keeps the lowest number.
CALLED V find_first_equal(const Ctx &c, const V *items, u32 n, u32 *first) {
  u32 size = 64;
  while (size < n * 2) size *= 2;
  u64 *keys = (u64 *)take(c, (u64)n * 8);
  u32 *slots = (u32 *)take(c, (u64)size * 4);
  if (!keys || !slots) return stopped(MEMORY);
  const u32 FREE = 0xffffffffu;
  (void)rows([&](u32 l) {
    for (u32 k = l; k < size; k += 32) slots[k] = FREE;
    return 0u;
  });
  u32 odd = rows_of(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < n; k += 32) own |= !key_alone<EQUAL_DEPTH>(items[k], keys + k);
    return own;
  }));
  if (odd) return stopped(ODD);
  sync();
  odd = rows_of(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < n; k += 32) {
      u32 at = (u32)(keys[k] ^ keys[k] >> 32) & (size - 1);
      for (;; at = (at + 1) & (size - 1)) {
        u32 known = atomic_swap_if(slots + at, FREE, k);
        if (known == FREE) break;
        if (keys[known] != keys[k]) continue;
        Answer answer = equal_alone<EQUAL_DEPTH>(c, items[known], items[k]);
        if (answer == NO) continue;
        if (answer == UNSURE) own = 1;
        atomic_min(slots + at, k);
        break;
      }
      // The slot may still change, but not which value it stands for.
      first[k] = at;
    }
    return own;
  }));
  sync();
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) first[k] = slots[first[k]];
    return 0u;
  });
  sync();
  return odd ? stopped(ODD) : none();
}

/// The patch of `n` locations, or of as many cells, which all have one kind; NONE if they are far apart,
/// or if cells at one location have several colours.
INLINE V patch_of_items(const Ctx &c, const V *items, u32 n) {
  // Bounds are found with an offset, so that all numbers are positive.
  Rows tops = rows([&](u32 l) {
    u32 best = 0xffffffffu;
    for (u32 k = l; k < n; k += 32) best = min_of(best, (u32)(row_of(items[k].len) + 32768));
    return best;
  });
  Rows lefts = rows([&](u32 l) {
    u32 best = 0xffffffffu;
    for (u32 k = l; k < n; k += 32) best = min_of(best, (u32)(column_of(items[k].len) + 32768));
    return best;
  });
  i32 top = (i32)least(tops) - 32768, left = (i32)least(lefts) - 32768;
  bool fits = !rows_of(rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32)
      if (row_of(items[k].len) - top >= (i32)SIDE || column_of(items[k].len) - left >= (i32)SIDE) return 1u;
    return 0u;
  }));
  if (!fits) return none();
  // Boards for the locations, for each plane with the colour's bit set, and for each with it clear.
  u32 *boards = (u32 *)take(c, 9 * 32 * 4);
  if (!boards) return stopped(MEMORY);
  bool cells = items[0].kind == CELL;
  u32 count = cells ? 9 : 1;
  (void)rows([&](u32 l) {
    for (u32 b = 0; b < count; b++) boards[32 * b + l] = 0;
    return 0u;
  });
  sync();
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) {
      u32 row = (u32)(row_of(items[k].len) - top), bit = 1u << (column_of(items[k].len) - left);
      atomic_or(boards + row, bit);
      for (u32 p = 0; cells && p < 4; p++) atomic_or(boards + 32 * (items[k].a >> p & 1 ? 1 + p : 5 + p) + row, bit);
    }
    return 0u;
  });
  sync();
  Rows mask = load_rows(boards, 32);
  if (!cells) return indices(c, mask, top, left);
  Rows plane[4], clash = no_rows();
  for (u32 p = 0; p < 4; p++) {
    plane[p] = load_rows(boards + 32 * (1 + p), 32);
    clash = clash | (plane[p] & load_rows(boards + 32 * (5 + p), 32));
  }
  if (!is_empty(clash)) return none();
  return object(c, mask, top, left, one_color(mask, plane), plane);
}

/// The elements of a container.
struct Items {
  const V *at;
  u32 count;
  bool ordered; // do they stand in iteration order?
};
/// Copies the elements that `keep` chooses by their numbers, and notes what becomes of each number. Returns
/// how many there are.
template <class F> INLINE u32 copy_chosen(const Items &items, V *to, F keep, u16 *numbers = nullptr) {
  u32 n = 0;
  for (u32 from = 0; from < items.count; from += 32) {
    u32 chosen = rows_of(rows([&](u32 l) { return (u32)(from + l < items.count && keep(from + l)); }));
    (void)rows([&](u32 l) {
      u32 number = n + popcount(chosen & low(l));
      if (chosen >> l & 1) to[number] = items.at[from + l];
      if (numbers && from + l < items.count) numbers[from + l] = chosen >> l & 1 ? (u16)number : EMPTY;
      return 0u;
    });
    n += popcount(chosen);
  }
  sync();
  return n;
}

/// The distinct ones of some values.
struct Distinct {
  V *items;     // the first of each, with room for a Note
  u16 *numbers; // of each value: which of them it is
  u32 count;
  bool unlike; // do equal ones differ otherwise, so that it matters which comes first?
  bool mixed;  // does only the iteration order of patches differ?
};
/// Finds them. Returns a failure, or NONE.
CALLED V find_distinct(const Ctx &c, const V *items, u32 n, Distinct &d) {
  if (n >= EMPTY) return stopped(SIZE);
  u32 *first = (u32 *)take(c, (u64)n * 4);
  d.items = (V *)take(c, (u64)(n + NOTE_ROOM) * sizeof(V));
  d.numbers = (u16 *)take(c, (u64)n * 2);
  if (!first || !d.items || !d.numbers) return stopped(MEMORY);
  V failed = find_first_equal(c, items, n, first);
  if (failed.kind != NONE) return failed;
  u32 differences = columns_of(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < n; k += 32) {
      const V &x = items[first[k]], &y = items[k];
      if (first[k] == k) continue;
      if (!are_alike<2>(x, y)) own |= 1;
      if (is_patch(x) && x.bits != y.bits) own |= 2;
    }
    return own;
  }));
  d.unlike = differences & 1;
  d.mixed = differences & 2;
  d.count = copy_chosen({items, n, false}, d.items, [&](u32 k) { return first[k] == k; }, d.numbers);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32)
      if (first[k] != k) d.numbers[k] = d.numbers[first[k]];
    return 0u;
  });
  sync();
  return none();
}
/// The same where it is not known which of equal ones comes first. Returns a failure, or NONE.
INLINE V find_distinct_unordered(const Ctx &c, const V *items, u32 n, Distinct &d) {
  V failed = find_distinct(c, items, n, d);
  if (failed.kind != NONE) return failed;
  if (d.unlike) return stopped(ORDER);
  if (!d.mixed) return none();
  (void)rows([&](u32 l) {
    for (u32 k = l; k < d.count; k += 32)
      if (is_patch(d.items[k])) d.items[k] = unordered(d.items[k]);
    return 0u;
  });
  sync();
  return none();
}

/// The set of `n` values, of which equal ones may stand several times. `order` says what is known of
/// the order if the set is no patch: UNKNOWN, SEQUENCED or BUILT. If the values are the images of the elements
/// of a `parent`, it follows later, or the set is NONE.
CALLED V set_of(const Ctx &c, const V *items, u32 n, Order order, const V *parent = nullptr) {
  if (n == 0) return empty_patch();
  u8 kind = items[0].kind;
  bool flat = (kind == PAIR || kind == CELL) && !rows_of(rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32)
      if (items[k].kind != kind) return 1u;
    return 0u;
  }));
  if (flat) {
    V patch = patch_of_items(c, items, n);
    if (order == BUILT) patch = made_of_list(c, patch, items, n, SEQUENCE, empty_patch());
    if (patch.kind != NONE) return patch;
  }
  Distinct d;
  bool known = order != UNKNOWN || parent;
  V failed = known ? find_distinct(c, items, n, d) : find_distinct_unordered(c, items, n, d);
  if (failed.kind != NONE) return failed;
  if (!parent) return make(SET, 0, 0, d.count == 1 ? IN_ORDER : order, d.count, (u64)d.items);
  if (d.unlike || d.mixed) return none();
  return settled(c, set_of_images(d.items, d.count, *parent, d.count == n ? nullptr : d.numbers));
}
