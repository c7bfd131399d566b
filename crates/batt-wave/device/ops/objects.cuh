// Finding objects, and choosing among them.

/// The objects of a grid as `objects` finds them.
INLINE V find_objects(const Ctx &c, const V &grid, bool univalued, bool diagonal, bool without_bg) {
  if (grid.kind != GRID) return stopped(ODD);
  if (grid.a > 30 || grid.b > 30) return stopped(SIZE);
  Grid g = grid_of(grid);
  Rows open = area_of(g);
  if (without_bg) open = without(open, of_color(g, most_common(g)));
  // There is at most one object for each cell, but mostly there are few: the list grows when it must.
  u32 room = 32, n = 0;
  V *list = (V *)take(c, room * sizeof(V));
  if (!list) return stopped(MEMORY);
  for (u32 color = 0; color < 16; color++) {
    Rows todo = univalued ? open & of_color(g, color) : open;
    for (;;) {
      u32 left = rows_of(todo);
      if (!left) break;
      u32 first = lowest(left);
      Rows seed = rows([&](u32 l) { return l == first ? todo[l] & (0 - todo[l]) : 0u; });
      Rows mask = flooded(seed, todo, diagonal);
      todo = without(todo, mask);
      V v = object(c, mask, 0, 0, univalued ? (u8)color : common_color(g, mask), g.plane);
      if (!is_value(v)) return v;
      if (n == room) {
        V *longer = (V *)take(c, room * 4 * sizeof(V));
        if (!longer) return stopped(MEMORY);
        sync();
        for (u32 k = 0; k < n; k++) put(longer + k, list[k]);
        list = longer;
        room *= 4;
      }
      put(list + n++, v);
    }
    if (!univalued) break;
  }
  sync();
  return make(SET, (u8)g.height, (u8)g.width, n > 1 ? BY_RANK : IN_ORDER, n, (u64)list);
}

ROW_OP(objects)(const Ctx &c, V grid, V univalued, V diagonal, V without_bg) {
  if (univalued.kind != BOOL || diagonal.kind != BOOL || without_bg.kind != BOOL) return stopped(ODD);
  return find_objects(c, grid, univalued.bits, diagonal.bits, without_bg.bits);
}

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
  if ((items.kind != SET && items.kind != TUPLE) || function.kind != OP) return stopped(ODD);
  if (items.len == 0) return c.dialect == 0 ? fault(VALUE_) : stopped(ODD);
  u32 property = function.len;
  const V *list = (const V *)items.bits;
  bool known = true;
  // Properties are small; the best one is the least of these keys.
  auto key = [&](u32 k) {
    i64 value = 0;
    if (!property_of(list[k], property, &value)) return 0u;
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
    items = in_order(c, items);
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
