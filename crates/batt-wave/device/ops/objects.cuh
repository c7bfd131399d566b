// Finding objects, and choosing among them.

/// Memory that an op takes in pieces: at first the room of its result, then parts of the heap.
struct Store {
  u64 at;
  u32 left;
};
INLINE void *piece_of(const Ctx &c, Store &store, u32 bytes) {
  const u32 PART = 512;
  if (bytes > store.left) {
    store.left = max_of(bytes, PART);
    store.at = (u64)take(c, store.left);
    if (!store.at) {
      store.left = 0;
      return nullptr;
    }
  }
  void *piece = (void *)store.at;
  store.at += bytes;
  store.left -= bytes;
  return piece;
}

/// The same as `object`, for a mask that is not empty, with a store for the payload, and the Flood if the
/// object is that of one.
INLINE V stored_object(const Ctx &c, Store &store, const Rows &mask, u8 color, const Rows *planes,
                       const Flood *flood) {
  Bounds b = bounds_of(mask);
  u32 *to = (u32 *)piece_of(c, store, b.height * (color == PLANES ? 20 : 4) + (flood ? 8 : 0));
  if (!to) return stopped(MEMORY);
  if (flood) {
    put(to++, (u32)(u64)flood);
    put(to++, (u32)((u64)flood >> 32));
  }
  i32 up = -(i32)b.top, across = -(i32)b.left;
  store_rows(to, moved(mask, up, across), b.height);
  if (color == PLANES)
    for (u32 k = 0; k < 4; k++)
      store_rows(to + (k + 1) * b.height, moved(planes[k] & mask, up, across), b.height);
  u64 size = count(mask);
  V v = make(OBJECT, (u8)b.height, (u8)b.width, color, place((i32)b.top, (i32)b.left), (u64)to | size << 48);
  return walked(v, flood ? FLOODED : ROWS_BUILT);
}

/// The open cells that no other open cell is connected with.
INLINE Rows single_cells(const Grid &g, const Rows &open, bool univalued, bool diagonal) {
  if (!univalued) {
    Rows wide = rows([&](u32 l) { return diagonal ? open[l] | open[l] << 1 | open[l] >> 1 : open[l]; });
    Rows above = moved(wide, 1, 0), below = moved(wide, -1, 0);
    return rows([&](u32 l) { return open[l] & ~(open[l] << 1 | open[l] >> 1 | above[l] | below[l]); });
  }
  // Bits for cells that differ from the next one: to the right, below, below and to the right or left.
  Rows right = no_rows(), down = no_rows(), down_right = no_rows(), down_left = no_rows();
  for (u32 k = 0; k < 4; k++) {
    const Rows &x = g.plane[k];
    Rows next = moved(x, -1, 0);
    right = rows([&](u32 l) { return right[l] | (x[l] ^ x[l] >> 1); });
    down = rows([&](u32 l) { return down[l] | (x[l] ^ next[l]); });
    if (!diagonal) continue;
    down_right = rows([&](u32 l) { return down_right[l] | (x[l] ^ next[l] >> 1); });
    down_left = rows([&](u32 l) { return down_left[l] | (x[l] ^ next[l] << 1); });
  }
  Rows below = moved(open, -1, 0);
  right = rows([&](u32 l) { return open[l] & open[l] >> 1 & ~right[l]; });
  down = rows([&](u32 l) { return open[l] & below[l] & ~down[l]; });
  down_right = rows([&](u32 l) { return diagonal ? open[l] & below[l] >> 1 & ~down_right[l] : 0u; });
  down_left = rows([&](u32 l) { return diagonal ? open[l] & below[l] << 1 & ~down_left[l] : 0u; });
  Rows above = moved(rows([&](u32 l) { return down[l] | down_right[l] << 1 | down_left[l] >> 1; }), 1, 0);
  return rows([&](u32 l) {
    return open[l] & ~(right[l] | right[l] << 1 | down[l] | down_right[l] | down_left[l] | above[l]);
  });
}

/// Writes an object for each cell of a mask. All share one payload.
INLINE void put_cells(V *to, u32 *payload, const Grid &g, const Rows &mask) {
  put(payload, 1u);
  Rows before = sums_before(rows([&](u32 l) { return popcount(mask[l]); }));
  (void)rows([&](u32 l) {
    u32 at = before[l];
    for (u32 todo = mask[l]; todo; todo &= todo - 1) {
      u32 j = lowest(todo), color = 0;
      for (u32 k = 0; k < 4; k++) color |= (g.plane[k][l] >> j & 1) << k;
      to[at++] = make(OBJECT, 1, 1, (u8)color, place((i32)l, (i32)j), (u64)payload | 1ull << 48);
    }
    return 0u;
  });
}

// ---- Objects of wide grids ------------------------------------------------------------------------------

/// A colour for objects of several.
const u32 ANY_COLOR = 16;
/// The object of some cells of a WIDE grid, which have this colour. Without one that fits, it is the set that
/// Python builds row by row.
CALLED V object_of_wide(const Ctx c, const V grid, const Board where, u32 color) {
  u64 in_rows = rows_of(where), in_columns = columns_of(where);
  u32 top = lowest_64(in_rows), left = lowest_64(in_columns);
  if (in_rows >> top >> 32 || in_columns >> left >> 32)
    return set_of_bits(c, where, [&](u32 i, u32 j) {
      return make(CELL, (u8)wide_color(grid, i, j), 0, 0, place((i32)i, (i32)j), 0);
    });
  i32 up = -(i32)top, across = -(i32)left;
  Rows mask = moved(where, up, across).part[0][0], plane[4];
  if (color != ANY_COLOR) return object(c, mask, (i32)top, (i32)left, (u8)color, nullptr);
  for (u32 k = 0; k < 4; k++) plane[k] = moved(wide_plane(grid, k), up, across).part[0][0];
  return object(c, mask, (i32)top, (i32)left, one_color(mask, plane), plane);
}
/// More objects take a warp too long.
const u32 MOST_WIDE_OBJECTS = 256;
/// The objects of a WIDE grid. Their order is not known.
CALLED V objects_in_wide(const Ctx c, const V grid, bool univalued, bool diagonal, bool without_bg) {
  Board open = wide_area(grid);
  if (without_bg) open = without(open, wide_of_color(grid, common_in_wide(grid, true)));
  V *list = (V *)take(c, MOST_WIDE_OBJECTS * sizeof(V));
  if (!list) return stopped(MEMORY);
  u32 n = 0;
  for (u32 color = univalued ? 0 : ANY_COLOR; color < (univalued ? ANY_COLOR : ANY_COLOR + 1); color++) {
    Board todo = univalued ? open & wide_of_color(grid, color) : open;
    for (u64 some; (some = rows_of(todo)) != 0;) {
      u32 first = lowest_64(some);
      u64 bits = row_at(todo, first), bit = bits & (0 - bits);
      Board mask = flooded(board([&](u32 l, u32 half) { return l + 32 * half == first ? bit : 0; }), todo, diagonal);
      todo = without(todo, mask);
      V v = object_of_wide(c, grid, mask, color);
      if (!is_value(v)) return v;
      if (v.kind == SET) v.c = UNKNOWN;
      if (n == MOST_WIDE_OBJECTS) return stopped(LIMIT);
      put(list + n++, v);
    }
  }
  if (n == 0) return empty_patch();
  sync();
  return make(SET, 0, 0, n == 1 ? IN_ORDER : UNKNOWN, n, (u64)list);
}
/// An object for the cells of each of these colours of a WIDE grid, which all occur.
CALLED V parts_of_wide(const Ctx c, const V grid, const Sequence colors) {
  u32 n = colors.length;
  if (n == 0) return empty_patch();
  V *list = (V *)take(c, n * sizeof(V));
  if (!list) return stopped(MEMORY);
  for (u32 k = 0; k < n; k++) {
    u32 color = color_at(colors, k);
    V v = object_of_wide(c, grid, wide_of_color(grid, color), color);
    if (!is_value(v)) return v;
    put(list + k, walked(v, ROWS_BUILT));
  }
  sync();
  return make(SET, 0, 0, n == 1 ? IN_ORDER : BUILT, n, (u64)list);
}

/// The objects of a grid as `objects` finds them.
INLINE V find_objects(const Ctx &c, const V &grid, bool univalued, bool diagonal, bool without_bg) {
  if (grid.kind == WIDE) return objects_in_wide(c, grid, univalued, diagonal, without_bg);
  if (grid.kind != GRID) return stopped(ODD);
  Grid g = grid_of(grid);
  Rows open = area_of(g);
  if (without_bg) open = without(open, of_color(g, most_common(g)));
  Rows single = single_cells(g, open, univalued, diagonal);
  open = without(open, single);
  u32 n = count(single), left = count(open);
  if (n + left == 0) return empty_patch();
  // The other objects have two cells or more each. Mostly they are few: the list grows when it must.
  u32 room = n + min_of(left / 2, 16u);
  Store store = {c.payload, c.payload ? c.room : 0};
  V *list = (V *)piece_of(c, store, room * sizeof(V));
  if (!list) return stopped(MEMORY);
  // The order of larger grids is not known.
  bool ranked = g.height <= 30 && g.width <= 30;
  Flood *flood = (Flood *)piece_of(c, store, sizeof(Flood));
  if (!flood) return stopped(MEMORY);
  if (n) {
    u32 *payload = (u32 *)piece_of(c, store, 8);
    if (!payload) return stopped(MEMORY);
    put_cells(list, payload, g, single);
  }
  Colored x = colored(g);
  x.mask = open;
  u32 colors = !left ? 0 : univalued ? colors_of(x) : 1;
  for (; colors; colors &= colors - 1) {
    u32 color = lowest(colors);
    Rows todo = univalued ? with_color(x, color) : open;
    for (u32 some; (some = rows_of(todo)) != 0;) {
      u32 first = lowest(some);
      Rows seed = rows([&](u32 l) { return l == first ? todo[l] & (0 - todo[l]) : 0u; });
      Rows mask = flooded(seed, todo, diagonal);
      todo = without(todo, mask);
      u8 own = univalued ? (u8)color : common_color(g, mask);
      V v = stored_object(c, store, mask, own, g.plane, ranked ? flood : nullptr);
      if (!is_value(v)) return v;
      if (!ranked) v = unordered(v);
      if (n == room) {
        room = room * 2 + 16;
        V *longer = (V *)take(c, room * sizeof(V));
        if (!longer) return stopped(MEMORY);
        sync();
        (void)rows([&](u32 l) {
          for (u32 k = l; k < n; k += 32) longer[k] = list[k];
          return 0u;
        });
        list = longer;
      }
      put(list + n++, v);
    }
  }
  sync();
  Flood made = {(u64)list, n, (u8)g.height, (u8)g.width, diagonal, 0, 0};
  put(flood, made);
  sync();
  Order order = n == 1 ? IN_ORDER : ranked ? BY_RANK : UNKNOWN;
  return make(SET, (u8)g.height, (u8)g.width, order, n, (u64)list);
}

ROW_OP(objects)(const Ctx &c, Any grid, V univalued, V diagonal, V without_bg) {
  return find_objects(c, grid, !is_false(univalued), !is_false(diagonal), !is_false(without_bg));
}

// ---- Parts of a grid ------------------------------------------------------------------------------------

/// An object for the cells of each of these colours, which all occur.
INLINE V parts_of(const Ctx &c, const Colored &x, const Sequence &colors) {
  u32 n = colors.length;
  if (n == 0) return empty_patch();
  Store store = {c.payload, c.payload ? c.room : 0};
  V *list = (V *)piece_of(c, store, n * sizeof(V));
  if (!list) return stopped(MEMORY);
  for (u32 k = 0; k < n; k++) {
    u32 color = color_at(colors, k);
    V v = stored_object(c, store, with_color(x, color), (u8)color, nullptr, nullptr);
    if (!is_value(v)) return v;
    put(list + k, v);
  }
  sync();
  return make(SET, 0, 0, n == 1 ? IN_ORDER : BUILT, n, (u64)list);
}

ROW_OP(partition)(const Ctx &c, Any grid) {
  if (is_nothing(grid)) return empty_patch();
  if (grid.kind == WIDE) return parts_of_wide(c, grid, order_in_wide(grid, rows_of(counts_in_wide(grid))));
  Colored x;
  if (grid.kind == OBJECT || !read_colored(grid, &x)) return stopped(ODD);
  Sequence order;
  order_of_colors(x, colors_of(x), &order);
  return parts_of(c, x, order);
}

/// The order of the set of colours without one of them.
INLINE Sequence order_without(const Sequence &all, u32 color) {
  Sequence rest = {0, 0};
  for (u32 k = 0; k < all.length; k++)
    if (color_at(all, k) != color) append(&rest, color_at(all, k));
  // The difference is a copy of a set of eight and more, and a new set otherwise.
  return all.length < 8 ? order_of_set(rest) : rest;
}
CALLED V fgpartition_of_wide(const Ctx c, const V grid) {
  Sequence all = order_in_wide(grid, rows_of(counts_in_wide(grid)));
  return parts_of_wide(c, grid, order_without(all, common_in_wide(grid, true)));
}
ROW_OP(fgpartition)(const Ctx &c, Any grid) {
  if (is_nothing(grid)) return fault(VALUE_);
  if (grid.kind == WIDE) return fgpartition_of_wide(c, grid);
  Colored x;
  if (grid.kind == OBJECT || !read_colored(grid, &x)) return stopped(ODD);
  Frequency f = frequency_of(x, true);
  Sequence all;
  order_of_colors(x, f.present, &all);
  return parts_of(c, x, order_without(all, first_in(all, f.chosen)));
}

/// The union of a frozen set of n rows and one of m columns, each of one colour, in its iteration order.
INLINE V union_in_order(const Ctx &c, const V *list, u32 n, u32 m) {
  const u32 MOST = 512, MOST_COLUMNS = 128;
  V *sorted = (V *)take(c, (n + m) * sizeof(V));
  u64 *hashes = (u64 *)take(c, (n + m) * 8);
  u16 *scratch = (u16 *)take(c, (MOST + MOST_COLUMNS) * 4), *order = (u16 *)take(c, (n + m) * 2);
  if (!sorted || !hashes || !scratch || !order) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n + m; k += 32) {
      const V &v = list[k];
      u32 length = max_of(v.a, v.b);
      u64 parts = 0;
      for (u32 j = 0; j < length; j++) {
        u32 down = v.a > 1 ? j : 0, across = v.b > 1 ? j : 0;
        parts ^= hash_part(hash_cell(c, row_of(v.len) + (i32)down, column_of(v.len) + (i32)across, v.c));
      }
      hashes[k] = hash_set(parts, length);
    }
    return 0u;
  });
  sync();
  Table t = {scratch, scratch + MOST, 7, 0};
  Table columns = {scratch + 2 * MOST, scratch + 2 * MOST + MOST_COLUMNS, 7, 0};
  clear<Warp>(t);
  clear<Warp>(columns);
  add_all<Warp>(t, hashes, n, [&](u32 k) { return k; });
  add_all<Warp>(columns, hashes, m, [&](u32 k) { return n + k; });
  freeze<Warp>(t, hashes);
  freeze<Warp>(columns, hashes);
  make_room<Warp>(t, hashes, m);
  add_all<Warp>(t, hashes, columns.mask + 1, [&](u32 k) { return columns.slots[k]; });
  write_slots<Warp>(t, order);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n + m; k += 32) sorted[k] = list[order[k]];
    return 0u;
  });
  return make(SET, 0, 0, IN_ORDER, n + m, (u64)sorted);
}

/// The rows and columns of one colour, each as an object.
ROW_OP(frontiers)(const Ctx &c, V grid) {
  if (grid.kind != GRID) return stopped(ODD);
  Grid g = grid_of(grid);
  u32 full = low(g.width), height = g.height, width = g.width;
  u32 in_rows = rows_of(rows([&](u32 l) {
    bool one = l < height;
    for (u32 k = 0; k < 4; k++) one = one && (g.plane[k][l] == 0 || g.plane[k][l] == full);
    return (u32)one;
  }));
  u32 in_columns = full, corner[4];
  for (u32 k = 0; k < 4; k++) {
    const Rows &x = g.plane[k];
    u32 some = columns_of(x), holes = columns_of(rows([&](u32 l) { return l < height ? ~x[l] : 0u; }));
    in_columns &= ~(some & holes);
    corner[k] = row_at(x, 0);
  }
  // The only row is the only column.
  if (height == 1 && width == 1) in_columns = 0;
  u32 n = popcount(in_rows), m = popcount(in_columns);
  if (n + m == 0) return empty_patch();
  // A payload for all rows, and one for all columns.
  u32 lists = (n + m) * sizeof(V);
  V *list = (V *)room_for(c, lists + 4 + 4 * SIDE);
  if (!list) return stopped(MEMORY);
  u32 *wide = (u32 *)(list + n + m), *tall = wide + 1;
  put(wide, full);
  (void)rows([&](u32 l) {
    tall[l] = 1;
    if (in_rows >> l & 1) {
      u32 color = 0;
      for (u32 k = 0; k < 4; k++) color |= (g.plane[k][l] & 1) << k;
      V v = make(OBJECT, 1, (u8)width, (u8)color, place((i32)l, 0), (u64)wide | (u64)width << 48);
      list[popcount(in_rows & low(l))] = walked(v, ROWS_FROZEN);
    }
    if (in_columns >> l & 1) {
      u32 color = 0;
      for (u32 k = 0; k < 4; k++) color |= (corner[k] >> l & 1) << k;
      V v = make(OBJECT, (u8)height, 1, (u8)color, place(0, (i32)l), (u64)tall | (u64)height << 48);
      list[n + popcount(in_columns & low(l))] = walked(v, ROWS_FROZEN);
    }
    return 0u;
  });
  sync();
  if (n && m) return union_in_order(c, list, n, m);
  // The union with an empty set is a copy.
  return make(SET, 0, 0, n + m == 1 ? IN_ORDER : SEQUENCED, n + m, (u64)list);
}

// ---- Repetition -----------------------------------------------------------------------------------------

/// The places where an object occurs in a grid.
ROW_OP(occurrences)(const Ctx &c, V grid, V obj) {
  if (grid.kind != GRID) return stopped(ODD);
  Grid g = grid_of(grid);
  if (obj.kind == INDICES && size_of_patch(obj) == 0) {
    // Nothing fits everywhere, also next to the last row and column.
    if (g.height >= SIDE || g.width >= SIDE) return stopped(SIZE);
    return walked(indices(c, rectangle(g.height + 1, g.width + 1), 0, 0), ROWS_FROZEN);
  }
  if (obj.kind != OBJECT) return stopped(ODD);
  if (obj.a > g.height || obj.b > g.width) return empty_patch();
  Rows found = rectangle(g.height - obj.a + 1, g.width - obj.b + 1);
  Colored x;
  u32 present = present_in(obj, &x);
  for (; present; present &= present - 1) {
    Rows wanted = with_color(x, lowest(present)), cells = of_color(g, lowest(present));
    for (u32 in_rows = rows_of(wanted); in_rows; in_rows &= in_rows - 1) {
      u32 i = lowest(in_rows), row = row_at(wanted, i);
      Rows there = moved(cells, -(i32)i, 0);
      found = rows([&](u32 l) {
        u32 own = found[l];
        for (u32 todo = row; todo; todo &= todo - 1) own &= there[l] >> lowest(todo);
        return own;
      });
    }
    if (is_empty(found)) return empty_patch();
  }
  return walked(indices(c, found, 0, 0), ROWS_FROZEN);
}

/// The smallest step by which an object moves onto itself, to the left or upwards, or its extent.
INLINE V period_of(const V &obj, bool upwards) {
  if (is_nothing(obj)) return integer(0);
  if (!is_patch(obj)) return stopped(ODD);
  u32 extent = upwards ? obj.a : obj.b;
  if (obj.kind == INDICES) return extent > 1 ? fault(TYPE_) : integer(extent);
  Colored x;
  read_colored(obj, &x);
  u32 planes = obj.c == PLANES ? 4 : 0;
  if (upwards) {
    x.mask = transposed(x.mask);
    for (u32 k = 0; k < planes; k++) x.plane[k] = transposed(x.plane[k]);
  }
  u32 misses = columns_of(rows([&](u32 l) {
    u32 own = 0;
    for (u32 p = 1; p < extent; p++) {
      u32 cells = x.mask[l] >> p, other = cells & ~x.mask[l];
      for (u32 k = 0; k < planes; k++) other |= cells & (x.plane[k][l] ^ x.plane[k][l] >> p);
      own |= (u32)(other != 0) << p;
    }
    return own;
  }));
  return integer(min_of(lowest(~misses & ~1u), extent));
}
ROW_OP(hperiod)(const Ctx &, V obj) { return period_of(obj, false); }
ROW_OP(vperiod)(const Ctx &, V obj) { return period_of(obj, true); }

// ---- Properties -----------------------------------------------------------------------------------------

/// What ops such as `argmax` may be given as a function: the order is that of PROPERTIES in src/ops.rs.
enum Property : u32 { SIZE_OF, HEIGHT_OF, WIDTH_OF, COLOR_OF, UPPERMOST, LOWERMOST, LEFTMOST, RIGHTMOST };

/// A property of an element that is known without its payload. False for others.
INLINE bool property_of(const V &v, u32 property, i64 *value) {
  if (!is_patch(v) || size_of_patch(v) == 0) return false;
  i32 top = row_of(v.len), left = column_of(v.len);
  switch (property) {
    case SIZE_OF: *value = size_of_patch(v); return true;
    case HEIGHT_OF: *value = v.a; return true;
    case WIDTH_OF: *value = v.b; return true;
    case COLOR_OF: *value = v.c; return v.kind == OBJECT && v.c != PLANES;
    case UPPERMOST: *value = top; return true;
    case LOWERMOST: *value = top + v.a - 1; return true;
    case LEFTMOST: *value = left; return true;
    case RIGHTMOST: *value = left + v.b - 1; return true;
    default: return false;
  }
}

/// The first element with the largest or the smallest property.
INLINE V extreme(const Ctx &c, V items, const V &function, bool most) {
  if (function.kind != OP) return stopped(ODD);
  bool empty = is_patch(items) ? size_of_patch(items) == 0 : items.kind == TUPLE && items.len == 0;
  if (empty && c.dialect == 0) return fault(VALUE_);
  if (empty || (items.kind != SET && items.kind != TUPLE)) return stopped(ODD);
  u32 property = function.len;
  const V *list = (const V *)items.bits;
  bool known = true;
  // Properties are small; the best one is the least of these keys.
  auto key = [&](u32 k) {
    i64 value = 0;
    if (!property_alone(c, list[k], property, &value)) return 0u;
    return (u32)((most ? -value : value) + (1 << 30));
  };
  u32 best = least(rows([&](u32 l) {
    u32 own = 0xffffffffu;
    for (u32 k = l; k < items.len; k += 32) own = min_of(own, key(k));
    return own;
  }));
  known = best != 0;
  if (!known) return stopped(ODD);
  u32 ties = sum(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < items.len; k += 32) own += key(k) == best;
    return own;
  }));
  if (ties > 1 && items.kind == SET) {
    items = with_order(c, items);
    if (!is_value(items)) return items;
    sync();
    list = (const V *)items.bits;
  }
  u32 at = least(rows([&](u32 l) {
    for (u32 k = l; k < items.len; k += 32)
      if (key(k) == best) return k;
    return 0xffffffffu;
  }));
  return list[at];
}

ROW_OP(argmax)(const Ctx &c, V items, V function) { return extreme(c, items, function, true); }
ROW_OP(argmin)(const Ctx &c, V items, V function) { return extreme(c, items, function, false); }
