// Making tuples and sets: every value in its one form.

/// Is a value a row of a grid, a tuple of 1 to 32 colours? Then `width` is its length.
INLINE bool is_row(const V &v, u32 *width) {
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
  if (n == 0 || n > SIDE || !is_row(items[0], &width)) return make(TUPLE, 0, 0, 0, n, (u64)items);
  bool odd = rows_of(rows([&](u32 l) {
    u32 own;
    return (u32)(l < n && (!is_row(items[l], &own) || own != width));
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
        u32 color = row.kind == PAIR ? (u32)(j ? column_of(row.len) : row_of(row.len)) : (u32)((const V *)row.bits)[j].bits;
        bits |= (color >> k & 1) << j;
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

/// The set of `n` values, of which equal ones may stand several times. `order` says what is known of
/// the order if the set is no patch: UNKNOWN, SEQUENCED or BUILT.
CALLED V set_of(const Ctx &c, const V *items, u32 n, Order order) {
  if (n == 0) return empty_patch();
  u8 kind = items[0].kind;
  bool flat = kind == PAIR || kind == CELL;
  if (flat)
    flat = !rows_of(rows([&](u32 l) {
      for (u32 k = l; k < n; k += 32)
        if (items[k].kind != kind) return 1u;
      return 0u;
    }));
  if (flat) {
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
    if (fits) {
      Rows plane[4];
      bool clash = false;
      Rows mask = rows([&](u32 l) {
        u32 own = 0;
        for (u32 k = 0; k < n; k++)
          if (row_of(items[k].len) - top == (i32)l) own |= 1u << (column_of(items[k].len) - left);
        return own;
      });
      // Built of this sequence.
      auto listed = [&](const V &v) {
        return order == BUILT ? made_of_list(c, v, items, n, SEQUENCE, empty_patch()) : v;
      };
      if (kind == PAIR) return listed(indices(c, mask, top, left));
      u8 color = items[0].a;
      bool several = rows_of(rows([&](u32 l) {
        for (u32 k = l; k < n; k += 32)
          if (items[k].a != color) return 1u;
        return 0u;
      }));
      if (!several) return listed(object(c, mask, top, left, color, nullptr));
      for (u32 p = 0; p < 4; p++) {
        plane[p] = rows([&](u32 l) {
          u32 own = 0;
          for (u32 k = 0; k < n; k++)
            if (row_of(items[k].len) - top == (i32)l && items[k].a >> p & 1) own |= 1u << (column_of(items[k].len) - left);
          return own;
        });
        // A location with another colour, too.
        clash |= rows_of(rows([&](u32 l) {
          for (u32 k = 0; k < n; k++)
            if (row_of(items[k].len) - top == (i32)l && !(items[k].a >> p & 1) &&
                plane[p][l] >> (column_of(items[k].len) - left) & 1)
              return 1u;
          return 0u;
        })) != 0;
      }
      if (!clash) return listed(object(c, mask, top, left, one_color(mask, plane), plane));
    }
  }
  // Equal elements are left out. The first of them stays.
  V *kept = (V *)take(c, (u64)n * sizeof(V));
  if (!kept) return stopped(MEMORY);
  u32 count = 0;
  for (u32 k = 0; k < n; k++) {
    V v = items[k];
    bool known = false;
    for (u32 j = 0; j < count && !known; j++) {
      Answer answer = equal_values<1>(v, kept[j]);
      if (answer == UNSURE) return stopped(ODD);
      known = answer == YES;
    }
    if (known) continue;
    put(kept + count++, v);
    sync();
  }
  return make(SET, 0, 0, count == 1 ? IN_ORDER : order, count, (u64)kept);
}
