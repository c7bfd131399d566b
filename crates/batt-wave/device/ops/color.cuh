// Colours.

/// The cells of a grid or of an object.
struct Colored {
  Rows mask, plane[4];
  bool row_by_row; // does Python go through them row by row?
};

/// Is this a tuple or a set without elements?
INLINE bool is_nothing(const V &v) {
  return (v.kind == INDICES && size_of_patch(v) == 0) || (v.kind == TUPLE && v.len == 0);
}

/// Reads the cells of a grid or of an object. Returns false for other values.
INLINE bool read_colored(const V &v, Colored *x) {
  if (v.kind == OBJECT) {
    x->mask = load_rows(payload_of(v), v.a);
    for (u32 k = 0; k < 4; k++) {
      if (v.c == PLANES) x->plane[k] = plane_of(v, k);
      else x->plane[k] = v.c >> k & 1 ? x->mask : no_rows();
    }
    x->row_by_row = false;
    return true;
  }
  if (v.kind != GRID && v.kind != RAGGED) return false;
  Grid g = grid_of(v);
  if (v.kind == RAGGED) {
    Rows widths = load_rows((const u32 *)v.bits + 128, g.height);
    x->mask = rows([&](u32 l) { return l < g.height ? low(widths[l]) : 0u; });
  } else {
    x->mask = area_of(g);
  }
  for (u32 k = 0; k < 4; k++) x->plane[k] = g.plane[k];
  x->row_by_row = true;
  return true;
}
INLINE Colored colored(const Grid &g) {
  Colored x = {area_of(g), {g.plane[0], g.plane[1], g.plane[2], g.plane[3]}, true};
  return x;
}

/// The cells of a colour.
INLINE Rows with_color(const Colored &x, u32 color) {
  return rows([&](u32 l) {
    u32 own = x.mask[l];
    for (u32 k = 0; k < 4; k++) own &= color >> k & 1 ? x.plane[k][l] : ~x.plane[k][l];
    return own;
  });
}
/// A bit for each colour that there is.
INLINE u32 colors_of(const Colored &x) {
  return columns_of(rows([&](u32 l) {
    u32 own = 0;
    for (u32 color = 0; color < 16; color++) {
      u32 some = x.mask[l];
      for (u32 k = 0; k < 4; k++) some &= color >> k & 1 ? x.plane[k][l] : ~x.plane[k][l];
      own |= (u32)(some != 0) << color;
    }
    return own;
  }));
}

/// The colours that there are, and the most or the least frequent of them, as bits.
struct Frequency {
  u32 present, chosen;
};
INLINE Frequency frequency_of(const Colored &x, bool most) {
  // Two colours are counted at a time. Those from 10 on are rare.
  Rows high = x.plane[3] & x.mask;
  u32 pairs = is_empty(high) ? 4 : is_empty(high & (x.plane[1] | x.plane[2])) ? 5 : 8;
  Frequency f = {0, 0};
  u32 best = 0;
  for (u32 pair = 0; pair < pairs; pair++) {
    u32 both = sum(rows([&](u32 l) {
      u32 own = x.mask[l];
      for (u32 k = 1; k < 4; k++) own &= pair >> (k - 1) & 1 ? x.plane[k][l] : ~x.plane[k][l];
      return popcount(own & ~x.plane[0][l]) | popcount(own & x.plane[0][l]) << 16;
    }));
    for (u32 odd = 0; odd < 2; odd++) {
      u32 n = odd ? both >> 16 : both & 0xffff, color = 1u << (2 * pair + odd);
      if (n == 0) continue;
      f.present |= color;
      if (f.chosen == 0 || (most ? n > best : n < best)) best = n, f.chosen = 0;
      if (n == best) f.chosen |= color;
    }
  }
  return f;
}

// ---- The order of colours -------------------------------------------------------------------------------

/// Up to 16 colours in a sequence: four bits each, the first one lowest.
struct Sequence {
  u64 colors;
  u32 length;
};
INLINE void append(Sequence *s, u32 color) { s->colors |= (u64)color << 4 * s->length++; }
INLINE u32 color_at(const Sequence &s, u32 k) { return (u32)(s.colors >> 4 * k) & 15; }

INLINE Sequence ascending(u32 colors) {
  Sequence s = {0, 0};
  for (; colors; colors &= colors - 1) append(&s, lowest(colors));
  return s;
}
/// The iteration order of a set to which the colours were added in this sequence.
INLINE Sequence order_of_set(const Sequence &s) {
  u32 all = 0, slot = 0, used = 0;
  for (u32 k = 0; k < s.length; k++) all |= 1u << color_at(s, k);
  // More than four take a table of 16 slots or more, one for each colour.
  if (s.length > 4) return ascending(all);
  u64 slots = 0;
  for (u32 k = 0; k < s.length; k++) {
    u32 color = color_at(s, k);
    for (slot = color & 7; used >> slot & 1;) slot = (slot * 5 + 1) & 7;
    used |= 1u << slot;
    slots |= (u64)color << 4 * slot;
  }
  Sequence r = {0, 0};
  for (; used; used &= used - 1) append(&r, (u32)(slots >> 4 * lowest(used)) & 15);
  return r;
}
/// The iteration order of the set of the colours `present`, which Python adds as it meets them. The same
/// order holds when that set is frozen. Returns false if it is not known.
INLINE bool order_of_colors(const Colored &x, u32 present, Sequence *order) {
  *order = ascending(present);
  // Up to four colours share eight slots.
  bool shared = popcount(present) <= 4 && (present & present >> 8) != 0;
  if (shared && !x.row_by_row) return false;
  if (shared) {
    Sequence met = {0, 0};
    for (u32 left = present; left;) {
      u32 next = 0, first = 0xffffffffu;
      for (u32 todo = left; todo; todo &= todo - 1) {
        u32 color = lowest(todo);
        Rows cells = with_color(x, color);
        u32 row = lowest(rows_of(cells)), at = row << 5 | lowest(row_at(cells, row));
        if (at < first) first = at, next = color;
      }
      left &= ~(1u << next);
      append(&met, next);
    }
    *order = met;
  }
  *order = order_of_set(*order);
  return true;
}
/// The same for a grid or an object, whose own order may count. Returns a failure, or any value.
INLINE V order_of_colors_in(const Ctx &c, const V &v, const Colored &x, u32 present, Sequence *order) {
  if (order_of_colors(x, present, order)) return none();
  V sorted = with_order(c, v);
  if (!is_value(sorted)) return sorted;
  const V *all = (const V *)sorted.bits;
  sync();
  Sequence met = {0, 0};
  for (u32 k = 0; present; k++) {
    if (present >> all[k].a & 1) append(&met, all[k].a);
    present &= ~(1u << all[k].a);
  }
  *order = order_of_set(met);
  return none();
}
/// The first of the `wanted` colours in an order.
INLINE u32 first_in(const Sequence &order, u32 wanted) {
  u32 k = 0;
  while (!(wanted >> color_at(order, k) & 1)) k++;
  return color_at(order, k);
}
/// The colour of the most cells; the first one in the iteration order of the set of colours if there are
/// several.
INLINE u32 most_common(const Grid &g) {
  Colored x = colored(g);
  Frequency f = frequency_of(x, true);
  if (popcount(f.chosen) == 1) return lowest(f.chosen);
  Sequence order;
  order_of_colors(x, f.present, &order);
  return first_in(order, f.chosen);
}

// ---- Colours of wide grids ------------------------------------------------------------------------------

/// One of the four parts of a WIDE grid.
INLINE Colored part_of_wide(const V &v, u32 part) {
  u32 first = part & 2 ? 32 : 0, shift = part & 1 ? 32 : 0;
  auto load = [&](u32 k) {
    const u64 *from = (const u64 *)v.bits + k * v.a;
    return rows([&](u32 l) { return first + l < v.a ? (u32)(from[first + l] >> shift) : 0u; });
  };
  u32 columns = (u32)(low_64(v.b) >> shift);
  Rows mask = rows([&](u32 l) { return first + l < v.a ? columns : 0u; });
  Colored x = {mask, {load(0), load(1), load(2), load(3)}, true};
  return x;
}
/// How many cells each colour has: row l has the number for colour l.
CALLED Rows counts_in_wide(const V v) {
  Rows counts = no_rows();
  ONE_BY_ONE
  for (u32 part = 0; part < 4; part++) {
    Colored x = part_of_wide(v, part);
    ONE_BY_ONE
    for (u32 color = 0; color < 16; color++) {
      u32 own = count(with_color(x, color));
      counts = rows([&](u32 l) { return counts[l] + (l == color ? own : 0); });
    }
  }
  return counts;
}
/// The order of the set of these colours of a WIDE grid.
CALLED Sequence order_in_wide(const V v, u32 present) {
  // Up to four colours share eight slots.
  bool shared = popcount(present) <= 4 && (present & present >> 8) != 0;
  if (!shared) return order_of_set(ascending(present));
  const u32 NOWHERE = 0xffffffffu;
  Rows first = rows([&](u32) { return NOWHERE; });
  ONE_BY_ONE
  for (u32 part = 0; part < 4; part++) {
    Colored x = part_of_wide(v, part);
    for (u32 todo = present; todo; todo &= todo - 1) {
      u32 color = lowest(todo);
      Rows cells = with_color(x, color);
      if (is_empty(cells)) continue;
      u32 row = lowest(rows_of(cells)), column = lowest(row_at(cells, row));
      u32 at = (row + (part & 2 ? 32 : 0)) * WIDE_SIDE + column + (part & 1 ? 32 : 0);
      first = rows([&](u32 l) { return l == color ? min_of(first[l], at) : first[l]; });
    }
  }
  Sequence met = {0, 0};
  for (u32 left = popcount(present); left; left--) {
    u32 at = least(first), color = lowest(rows_of(rows([&](u32 l) { return (u32)(first[l] == at); })));
    append(&met, color);
    first = rows([&](u32 l) { return l == color ? NOWHERE : first[l]; });
  }
  return order_of_set(met);
}
/// The colour of the most or the fewest cells of a WIDE grid.
CALLED u32 common_in_wide(const V v, bool most) {
  Rows counts = counts_in_wide(v);
  u32 best = least(rows([&](u32 l) { return most ? ~counts[l] : counts[l] ? counts[l] : 0xffffffffu; }));
  if (most) best = ~best;
  u32 chosen = rows_of(rows([&](u32 l) { return (u32)(counts[l] == best); }));
  return popcount(chosen) == 1 ? lowest(chosen) : first_in(order_in_wide(v, rows_of(counts)), chosen);
}
CALLED V palette_of_wide(const Ctx c, const V v) {
  Sequence order = order_in_wide(v, rows_of(counts_in_wide(v)));
  V *to = (V *)room_for(c, order.length * sizeof(V));
  if (!to) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    if (l < order.length) to[l] = integer(color_at(order, l));
    return 0u;
  });
  sync();
  return make(SET, 0, 0, IN_ORDER, order.length, (u64)to);
}

/// The colour that all cells of a mask have, or PLANES.
INLINE u8 common_color(const Grid &g, const Rows &mask) {
  u32 color = 0;
  for (u32 k = 0; k < 4; k++) {
    Rows set = g.plane[k] & mask;
    if (is_empty(set)) continue;
    if (!same(set, mask)) return PLANES;
    color |= 1u << k;
  }
  return (u8)color;
}

// ---- Ops ------------------------------------------------------------------------------------------------

INLINE V color_by_frequency(const Ctx &c, const V &element, bool most) {
  if (is_nothing(element)) return fault(VALUE_);
  if (element.kind == WIDE) return integer(common_in_wide(element, most));
  if (element.kind == OBJECT && element.c != PLANES) return integer(element.c);
  Colored x;
  if (!read_colored(element, &x)) return stopped(ODD);
  Frequency f = frequency_of(x, most);
  if (popcount(f.chosen) == 1) return integer(lowest(f.chosen));
  Sequence order;
  V known = order_of_colors_in(c, element, x, f.present, &order);
  return is_value(known) ? integer(first_in(order, f.chosen)) : known;
}
ROW_OP(mostcolor)(const Ctx &c, Any element) { return color_by_frequency(c, element, true); }
ROW_OP(leastcolor)(const Ctx &c, Any element) { return color_by_frequency(c, element, false); }

ROW_OP(colorcount)(const Ctx &, Any element, Any value) {
  if (is_nothing(element)) return integer(0);
  Colored x;
  if (element.kind != WIDE && !read_colored(element, &x)) return stopped(ODD);
  if (!is_int(value) || value.bits > 15) return integer(0);
  if (element.kind == WIDE) return integer(row_at(counts_in_wide(element), (u32)value.bits));
  return integer(count(with_color(x, (u32)value.bits)));
}

/// The colours of a grid or an object as bits; 0 for other values.
INLINE u32 present_in(const V &element, Colored *x) {
  if (!read_colored(element, x)) return 0;
  return element.kind == OBJECT && element.c != PLANES ? 1u << element.c : colors_of(*x);
}

// In coded.cuh: the same for tuples of rows that are no GRID, and for sets of cells that are no OBJECT.
CALLED V palette_of_items(const Ctx &c, const V &v);
CALLED V number_of_colors(const Ctx &c, const V &v);
CALLED V locations_of_color(const Ctx &c, const V &v, const V &value);

ROW_OP(palette)(const Ctx &c, Any element) {
  if (is_nothing(element)) return empty_patch();
  if (element.kind == WIDE) return palette_of_wide(c, element);
  if (element.kind == TUPLE || element.kind == SET) return palette_of_items(c, element);
  Colored x;
  u32 present = present_in(element, &x);
  if (!present) return stopped(ODD);
  Sequence order;
  // Without its order the set is worth something, too.
  bool known = is_value(order_of_colors_in(c, element, x, present, &order));
  V *to = (V *)room_for(c, order.length * sizeof(V));
  if (!to) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    if (l < order.length) to[l] = integer(color_at(order, l));
    return 0u;
  });
  sync();
  return make(SET, 0, 0, known ? IN_ORDER : UNKNOWN, order.length, (u64)to);
}

ROW_OP(numcolors)(const Ctx &c, Any element) {
  if (is_nothing(element)) return integer(0);
  if (element.kind == WIDE) return integer(popcount(rows_of(counts_in_wide(element))));
  Colored x;
  if (element.kind == TUPLE) return number_of_colors(c, element);
  u32 present = present_in(element, &x);
  return present ? integer(popcount(present)) : stopped(ODD);
}

/// The colour of the first cell.
ROW_OP(color)(const Ctx &c, Any obj) {
  if (obj.kind == WIDE) return integer(wide_color(obj, 0, 0));
  if (is_nothing(obj)) return fault(STOP_ITERATION);
  if (obj.kind == OBJECT && obj.c != PLANES) return integer(obj.c);
  if (obj.kind == OBJECT) {
    V first = end_of_set<Warp>(c, obj, false);
    return is_value(first) ? integer(first.a) : first;
  }
  if (c.dialect != 2 && (obj.kind == INDICES || obj.kind < GRID)) {
    // The first number of the first location; a number has no elements, and those of a location have none.
    if (obj.kind != INDICES) return fault(TYPE_);
    V first = size_of_patch(obj) == 1 ? pair(row_of(obj.len), 0) : end_of_set<Warp>(c, obj, false);
    return is_value(first) ? integer(row_of(first.len)) : first;
  }
  if (obj.kind == TUPLE && c.dialect != 2) {
    // The first element of the first element.
    V first = *(const V *)obj.bits;
    if (first.kind == CELL) return integer(first.a);
    if (first.kind == PAIR) return integer(row_of(first.len));
    if (first.kind < PAIR || is_patch(first) || first.kind == SET || first.kind == OP) return fault(TYPE_);
    if (first.kind == TUPLE) return first.len ? *(const V *)first.bits : fault(INDEX_);
  }
  if (obj.kind != GRID && obj.kind != RAGGED) return stopped(ODD);
  const u32 *planes = (const u32 *)obj.bits;
  if (obj.kind == RAGGED && planes[128] == 0) return stopped(ODD);
  u32 color = 0;
  for (u32 k = 0; k < 4; k++) color |= (planes[32 * k] & 1) << k;
  return integer(color);
}

/// Whether the first cell of a patch or grid has a colour; UNSURE if that is not known.
INLINE Answer first_has_color(const V &v, i64 color) {
  if (v.kind == GRID) {
    u32 own = 0;
    for (u32 k = 0; k < 4; k++) own |= (((const u32 *)v.bits)[32 * k] & 1) << k;
    return own == color ? YES : NO;
  }
  if (v.kind != OBJECT) return UNSURE;
  if (v.c != PLANES) return v.c == color ? YES : NO;
  // One of several colours.
  u32 all = 0;
  const u32 *mask = payload_of(v);
  if (color < 0 || color > 15) return NO;
  for (u32 i = 0; i < v.a; i++) {
    u32 own = mask[i];
    for (u32 k = 0; k < 4; k++) {
      u32 plane = mask[(k + 1) * v.a + i];
      own &= color >> k & 1 ? plane : ~plane;
    }
    all |= own;
  }
  return all ? UNSURE : NO;
}

/// For each element, whether its first cell has a colour. Returns how many have it, or a failure.
INLINE V answer_first_colors(const Ctx &c, const V &objs, i64 color, u32 *answers) {
  const V *items = (const V *)objs.bits;
  Rows unsure = rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < objs.len; k += 32) {
      answers[k] = first_has_color(items[k], color);
      own |= answers[k] == UNSURE;
    }
    return own;
  });
  sync();
  bool any = !is_empty(unsure);
  for (u32 k = 0; any && k < objs.len; k++) {
    if (answers[k] != UNSURE) continue;
    if (items[k].kind != OBJECT) return stopped(ODD);
    V first = end_of_set<Warp>(c, items[k], false);
    if (!is_value(first)) return first;
    sync();
    put(answers + k, (u32)(first.a == color ? YES : NO));
    sync();
  }
  return integer(sum(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < objs.len; k += 32) own += answers[k] == YES;
    return own;
  })));
}

CALLED V ofcolor_in_wide(const Ctx c, const V grid, const V value) {
  if (!is_int(value) || value.bits > 15) return empty_patch();
  return indices_in_wide(c, wide_of_color(grid, (u32)value.bits));
}
ROW_OP(ofcolor)(const Ctx &c, Any grid, V value) {
  if (is_nothing(grid)) return empty_patch();
  if (grid.kind == WIDE) return ofcolor_in_wide(c, grid, value);
  Colored x;
  if (grid.kind == TUPLE) return locations_of_color(c, grid, value);
  if (grid.kind == OBJECT || !read_colored(grid, &x)) return stopped(ODD);
  if (!is_int(value) || value.bits > 15) return empty_patch();
  return walked(indices(c, with_color(x, (u32)value.bits), 0, 0), ROWS_BUILT);
}
