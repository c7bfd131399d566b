// Grids with cells that are no colours, such as -1 or None.
//
// They are tuples of rows. The ops of grid.cuh, which are called `plain_` here, work on a GRID in which
// colours that do not occur stand for the other values.

const u32 MOST_CODES = 6;
/// The values that colours stand for. Few grids have more than one or two.
struct Codes {
  V values[MOST_CODES];
  u32 codes[MOST_CODES];
  u32 count;
  u32 taken; // the colours that occur, and those that stand for values, as bits
};
INLINE Codes no_codes() {
  Codes x;
  x.count = x.taken = 0;
  return x;
}

INLINE bool same_atom(const V &x, const V &y) { return x.kind == y.kind && x.bits == y.bits; }
/// May a value be a cell here?
INLINE bool is_codable(const V &v, bool bools) { return v.kind == INT || v.kind == NONE || (bools && v.kind == BOOL); }
/// Needs a value a colour that stands for it?
INLINE bool is_odd_cell(const Ctx &c, const V &v) { return is_codable(v, true) && !is_color(v) && !has_triples(c); }

/// The number of cells of a row; 0 if it is none, or if some may be no cells.
INLINE u32 cells_in_row(const V &row, bool bools) {
  if (row.kind == PAIR) return 2;
  if (row.kind != TUPLE || row.len > SIDE) return 0;
  for (u32 j = 0; j < row.len; j++)
    if (!is_codable(((const V *)row.bits)[j], bools)) return 0;
  return row.len;
}
INLINE V cell_in_row(const V &row, u32 j) {
  if (row.kind == PAIR) return integer(j ? column_of(row.len) : row_of(row.len));
  return ((const V *)row.bits)[j];
}
/// The width of a tuple of rows of cells, all of one length; 0 for other values. With `bools` True and False
/// may be cells, too: they equal 1 and 0, so this is for ops that do not compare.
CALLED u32 width_of_table(const Ctx &c, const V &v, bool bools) {
  if (v.kind != TUPLE || v.len == 0 || v.len > SIDE || has_triples(c)) return 0;
  const V *rows_of_table = (const V *)v.bits;
  Rows widths = rows([&](u32 l) { return l < v.len ? cells_in_row(rows_of_table[l], bools) : 0u; });
  u32 width = row_at(widths, 0);
  bool even = !rows_of(rows([&](u32 l) { return (u32)(l < v.len && widths[l] != width); }));
  return even ? width : 0;
}
INLINE bool is_table(const Ctx &c, const V &v, bool bools = false) {
  return v.kind == TUPLE && width_of_table(c, v, bools) != 0;
}

/// The colours of a grid, of a table, or of cells, as bits.
CALLED u32 colors_in(const V &v) {
  if (is_color(v)) return 1u << v.bits;
  if (v.kind == GRID || v.kind == OBJECT) {
    Colored x;
    return present_in(v, &x);
  }
  if (v.kind != TUPLE && v.kind != SET) return 0;
  const V *items = (const V *)v.bits;
  return columns_of(rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = l; k < v.len; k += 32) {
      const V &item = items[k];
      if (item.kind == CELL) own |= 1u << item.a;
      u32 width = cells_in_row(item, true);
      for (u32 j = 0; j < width; j++) {
        V cell = cell_in_row(item, j);
        if (is_color(cell)) own |= 1u << cell.bits;
      }
    }
    return own;
  }));
}

/// The colour that stands for a value; 16 if none is left.
INLINE u32 code_of(Codes &x, const V &v) {
  for (u32 k = 0; k < x.count; k++)
    if (same_atom(x.values[k], v)) return x.codes[k];
  u32 code = lowest(~x.taken);
  if (x.count == MOST_CODES || code > 15) return 16;
  x.values[x.count] = v;
  x.codes[x.count++] = code;
  x.taken |= 1u << code;
  return code;
}
/// The same for an argument: any other value stays as it is. All colours of the arguments must be taken.
INLINE V coded_value(const Ctx &c, Codes &x, const V &v) {
  if (!is_odd_cell(c, v)) return v;
  u32 code = code_of(x, v);
  return code < 16 ? integer(code) : v;
}
/// A table as a GRID. Stopped if there are not enough colours.
CALLED V coded_table(const Ctx &c, Codes &x, const V &table, u32 width) {
  const V *lines = (const V *)table.bits;
  Grid g;
  g.height = table.len;
  g.width = width;
  for (u32 k = 0; k < 4; k++)
    g.plane[k] = rows([&](u32 l) {
      u32 own = 0;
      for (u32 j = 0; l < g.height && j < width; j++) {
        V cell = cell_in_row(lines[l], j);
        if (is_color(cell)) own |= (u32)(cell.bits >> k & 1) << j;
      }
      return own;
    });
  Rows todo = rows([&](u32 l) {
    u32 own = 0;
    for (u32 j = 0; l < g.height && j < width; j++) own |= (u32)!is_color(cell_in_row(lines[l], j)) << j;
    return own;
  });
  for (u32 some; (some = rows_of(todo)) != 0;) {
    V cell = cell_in_row(lines[lowest(some)], lowest(row_at(todo, lowest(some))));
    u32 code = code_of(x, cell);
    if (code > 15) return stopped(ODD);
    Rows same = rows([&](u32 l) {
      u32 own = 0;
      for (u32 left = todo[l]; left; left &= left - 1)
        own |= (u32)same_atom(cell_in_row(lines[l], lowest(left)), cell) << lowest(left);
      return own;
    });
    paint_rows(g, same, code);
    todo = without(todo, same);
  }
  Ctx inner = c;
  inner.payload = 0;
  return value_of(inner, g);
}
/// An argument that may be a table, as a GRID. All colours of the arguments must be taken.
INLINE V coded_grid(const Ctx &c, Codes &x, const V &v, bool bools = false) {
  u32 width = v.kind == TUPLE ? width_of_table(c, v, bools) : 0;
  return width ? coded_table(c, x, v, width) : v;
}

/// A grid with the values that its colours stand for.
CALLED V decoded_grid(const Ctx &c, const Codes &x, const V &v) {
  Grid g = grid_of(v);
  Rows any = no_rows();
  for (u32 k = 0; k < x.count; k++) any = any | of_color(g, x.codes[k]);
  if (is_empty(any)) return v;
  V *lines = (V *)take(c, (u64)g.height * (1 + g.width) * sizeof(V));
  if (!lines) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    if (l >= g.height) return 0u;
    V *own = lines + g.height + l * g.width;
    for (u32 j = 0; j < g.width; j++) {
      u32 color = 0;
      for (u32 k = 0; k < 4; k++) color |= (g.plane[k][l] >> j & 1) << k;
      own[j] = integer(color);
      for (u32 k = 0; k < x.count; k++)
        if (x.codes[k] == color) own[j] = x.values[k];
    }
    V flat = g.width == 2 ? flat_pair(c, own[0], own[1]) : none();
    lines[l] = flat.kind == PAIR ? flat : make(TUPLE, 0, 0, 0, g.width, (u64)own);
    return 0u;
  });
  sync();
  return make(TUPLE, 0, 0, 0, g.height, (u64)lines);
}
/// The result of an op on coded arguments: a grid, a tuple of grids, or a value without colours.
INLINE V decoded(const Ctx &c, const Codes &x, const V &v) {
  if (x.count == 0 || !is_value(v)) return v;
  if (v.kind == GRID) return decoded_grid(c, x, v);
  if (v.kind == RAGGED) return stopped(ODD);
  if (v.kind == WIDE) return stopped(SIZE);
  if (v.kind != TUPLE || v.len == 0 || v.len > 2 * SIDE || has_empty_rows(v)) return v;
  V *parts = (V *)take(c, v.len * sizeof(V));
  if (!parts) return stopped(MEMORY);
  for (u32 k = 0; k < v.len; k++) {
    V part = ((const V *)v.bits)[k];
    if (part.kind == GRID) part = decoded_grid(c, x, part);
    put(parts + k, part);
  }
  sync();
  return make(TUPLE, 0, 0, 0, v.len, (u64)parts);
}

// ---- Colours ------------------------------------------------------------------------------------

CALLED V palette_of_items(const Ctx &c, const V &v) {
  if (has_triples(c)) return stopped(ODD);
  const V *items = (const V *)v.bits;
  if (v.kind == TUPLE) {
    if (has_empty_rows(v)) return empty_patch();
    u32 width = width_of_table(c, v, false);
    if (width == 0) return stopped(ODD);
    V *cells = (V *)take(c, (u64)v.len * width * sizeof(V));
    if (!cells) return stopped(MEMORY);
    (void)rows([&](u32 l) {
      for (u32 j = 0; l < v.len && j < width; j++) cells[l * width + j] = cell_in_row(items[l], j);
      return 0u;
    });
    sync();
    return set_of(c, cells, v.len * width, SEQUENCED);
  }
  if (!all_of_kind(v, CELL)) return stopped(ODD);
  V sorted = with_order(c, v);
  V *colors = (V *)take(c, (u64)v.len * sizeof(V));
  if (!colors) return stopped(MEMORY);
  sync();
  const V *from = is_value(sorted) ? (const V *)sorted.bits : items;
  (void)rows([&](u32 l) {
    for (u32 k = l; k < v.len; k += 32) colors[k] = integer(from[k].a);
    return 0u;
  });
  sync();
  return set_of(c, colors, v.len, is_value(sorted) ? SEQUENCED : UNKNOWN);
}
CALLED V number_of_colors(const Ctx &c, const V &v) {
  if (has_empty_rows(v)) return integer(0);
  Codes x = no_codes();
  x.taken = colors_in(v);
  V grid = coded_grid(c, x, v);
  return grid.kind == GRID ? integer(popcount(colors_in(grid))) : stopped(ODD);
}
CALLED V locations_of_color(const Ctx &c, const V &v, const V &value) {
  if (has_triples(c)) return stopped(ODD);
  if (has_empty_rows(v)) return empty_patch();
  Codes x = no_codes();
  x.taken = colors_in(v) | colors_in(value);
  V grid = coded_grid(c, x, v);
  if (grid.kind != GRID) return stopped(ODD);
  V color = value.kind == BOOL ? value : coded_value(c, x, value);
  if (!is_int(color) || color.bits > 15) return empty_patch();
  return walked(indices(c, of_color(grid_of(grid), (u32)color.bits), 0, 0), ROWS_BUILT);
}

// ---- Ops that do not look at colours ------------------------------------------------------------

/// Calls `f` with a grid, which may be coded.
template <class F> INLINE V with_coded(const Ctx &c, const V &v, bool bools, F f) {
  Codes x = no_codes();
  if (v.kind == TUPLE) x.taken = colors_in(v);
  V grid = coded_grid(c, x, v, bools);
  return is_value(grid) ? decoded(c, x, f(grid)) : grid;
}
#define CODED_1(name, bools) \
  ROW_OP(name)(const Ctx &c, Any v) { return with_coded(c, v, bools, [&](const V &grid) { return plain_##name(c, grid); }); }
#define CODED_2(name) \
  ROW_OP(name)(const Ctx &c, Any v, V y) { return with_coded(c, v, true, [&](const V &grid) { return plain_##name(c, grid, y); }); }
/// A set of cells or of locations that is no patch, mirrored: `f` gives the new place of one.
template <class F> INLINE V mirrored_set(const Ctx &c, V v, F f) {
  Points p;
  Extent e;
  if (has_triples(c) || !points_of(v, &p) || !extent_of(v, &e)) return no_patch(v);
  if (!fits_16(e.top + e.right - e.left) || !fits_16(e.left + e.bottom - e.top)) return stopped(SIZE);
  V *to = (V *)take(c, (u64)(v.len + NOTE_ROOM) * sizeof(V));
  if (!to) return stopped(MEMORY);
  if (is_unordered(v) && levels_of(v) == MOST_LEVELS) {
    V sorted = with_order(c, v);
    if (is_value(sorted)) v = sorted;
    sync();
  }
  const V *from = (const V *)v.bits;
  (void)rows([&](u32 l) {
    for (u32 k = l; k < v.len; k += 32) {
      to[k] = from[k];
      to[k].len = f(e, row_of(from[k].len), column_of(from[k].len));
    }
    return 0u;
  });
  sync();
  // No two places are equal, and as before they are no patch.
  if (!is_unordered(v)) return make(SET, 0, 0, BUILT, v.len, (u64)to);
  if (!may_walk(v)) return make(SET, 0, 0, UNKNOWN, v.len, (u64)to);
  return settled(c, set_of_images(to, v.len, v, nullptr));
}
#define MIRROR(name, i_, j_)                                                                             \
  ROW_OP(name)(const Ctx &c, Any v) {                                                                    \
    if (v.kind == SET)                                                                                   \
      return mirrored_set(c, v, [](const Extent &e, i32 i, i32 j) { return place(i_, j_); });            \
    return with_coded(c, v, true, [&](const V &grid) { return plain_##name(c, grid); });                 \
  }
MIRROR(hmirror, e.top + e.bottom - i, j)
MIRROR(vmirror, i, e.left + e.right - j)
MIRROR(dmirror, j - e.left + e.top, i - e.top + e.left)
#undef MIRROR
CODED_1(cmirror, true)
CODED_1(rot90, true)
CODED_1(rot180, true)
CODED_1(rot270, true)
ROW_OP(trim)(const Ctx &c, Any v) {
  if (has_empty_rows(v)) return empty_rows(c, v.len < 2 ? 0 : v.len - 2);
  return with_coded(c, v, true, [&](const V &grid) { return plain_trim(c, grid); });
}
CODED_1(tophalf, true)
CODED_1(bottomhalf, true)
CODED_1(lefthalf, true)
CODED_1(righthalf, true)
CODED_1(compress, false)
CODED_2(hupscale)
CODED_2(vupscale)
CODED_2(upscale)
CODED_2(downscale)
CODED_2(hsplit)
CODED_2(vsplit)
#undef CODED_1
#undef CODED_2

/// A tuple that begins with two numbers as a PAIR, for ops that read two elements and no more.
INLINE V as_pair(const V &v) {
  i32 i, j;
  return v.kind == TUPLE && two_numbers(v, false, &i, &j) ? pair(i, j) : v;
}
ROW_OP(crop)(const Ctx &c, Any grid, V start, V dims) {
  start = as_pair(start), dims = as_pair(dims);
  return with_coded(c, grid, true, [&](const V &g) { return plain_crop(c, g, start, dims); });
}
ROW_OP(subgrid)(const Ctx &c, V patch, Any grid) {
  return with_coded(c, grid, true, [&](const V &g) { return plain_subgrid(c, patch, g); });
}
ROW_OP(hconcat)(const Ctx &c, Any a, Any b) {
  Codes x = no_codes();
  bool coded = (a.kind == TUPLE && (has_lines(b) || b.kind == TUPLE)) || (b.kind == TUPLE && has_lines(a));
  if (coded) {
    x.taken = colors_in(a) | colors_in(b);
    a = coded_grid(c, x, a, true);
    b = coded_grid(c, x, b, true);
    if (!is_value(a) || !is_value(b)) return stopped(ODD);
  }
  return decoded(c, x, plain_hconcat(c, a, b));
}
ROW_OP(vconcat)(const Ctx &c, Any a, Any b) { return plain_vconcat(c, a, b); }
THREAD_OP(index)(const Ctx &c, Any grid, V at) { return plain_index(c, grid, at); }

// ---- Ops that do --------------------------------------------------------------------------------

ROW_OP(cellwise)(const Ctx &c, Any a, Any b, V fallback) {
  Codes x = no_codes();
  if (a.kind == TUPLE || b.kind == TUPLE || is_odd_cell(c, fallback)) {
    x.taken = colors_in(a) | colors_in(b) | colors_in(fallback);
    a = coded_grid(c, x, a);
    b = coded_grid(c, x, b);
    if (!is_value(a) || !is_value(b)) return stopped(ODD);
    // The colours of a wide grid are not among those taken.
    if (x.count && (a.kind == WIDE || b.kind == WIDE)) return stopped(SIZE);
    if (a.kind == GRID && b.kind == GRID) fallback = coded_value(c, x, fallback);
  }
  return decoded(c, x, plain_cellwise(c, a, b, fallback));
}
/// A value that cells are compared with. True equals 1, and not what stands for it.
INLINE V coded_target(const Ctx &c, Codes &x, const V &v) { return v.kind == BOOL ? v : coded_value(c, x, v); }

/// A ragged grid with some cells of another colour.
CALLED V replaced_lines(const Ctx &c, const V &v, u32 from, u32 to) {
  Lines r = lines_of(v);
  r.grid.width = SIDE;
  Rows where = of_color(r.grid, from);
  where = rows([&](u32 l) { return l < r.grid.height ? where[l] & low(r.widths[l]) : 0u; });
  paint_rows(r.grid, where, to);
  return value_of_lines(c, r);
}
ROW_OP(replace)(const Ctx &c, Any grid, V replacee, V replacer) {
  if (grid.kind == RAGGED && !has_triples(c) && is_color(replacee) && is_color(replacer))
    return replaced_lines(c, grid, (u32)replacee.bits, (u32)replacer.bits);
  Codes x = no_codes();
  if (grid.kind == TUPLE || is_odd_cell(c, replacer)) {
    x.taken = colors_in(grid) | colors_in(replacee) | colors_in(replacer);
    grid = coded_grid(c, x, grid);
    if (!is_value(grid)) return grid;
    if (grid.kind == GRID) {
      replacee = coded_target(c, x, replacee);
      replacer = coded_value(c, x, replacer);
    }
  }
  return decoded(c, x, plain_replace(c, grid, replacee, replacer));
}
ROW_OP(switch)(const Ctx &c, Any grid, V a, V b) {
  Codes x = no_codes();
  bool odd = is_odd_cell(c, a) || is_odd_cell(c, b);
  if ((grid.kind == TUPLE || odd) && a.kind != BOOL && b.kind != BOOL) {
    x.taken = colors_in(grid) | colors_in(a) | colors_in(b);
    grid = coded_grid(c, x, grid);
    if (!is_value(grid)) return grid;
    if (grid.kind == GRID) {
      a = coded_value(c, x, a);
      b = coded_value(c, x, b);
    }
  }
  return decoded(c, x, plain_switch(c, grid, a, b));
}
ROW_OP(canvas)(const Ctx &c, V value, V dims) {
  Codes x = no_codes();
  dims = as_pair(dims);
  value = coded_value(c, x, value);
  return decoded(c, x, plain_canvas(c, value, dims));
}
ROW_OP(fill)(const Ctx &c, Any grid, V value, Any patch) {
  // No location lies in it.
  if (is_patch(patch) && has_empty_rows(grid)) return grid;
  Codes x = no_codes();
  if (grid.kind == TUPLE || is_odd_cell(c, value)) {
    x.taken = colors_in(grid) | colors_in(value);
    grid = coded_grid(c, x, grid, true);
    if (!is_value(grid)) return grid;
    if (grid.kind == GRID) value = coded_value(c, x, value);
  }
  return decoded(c, x, plain_fill(c, grid, value, patch));
}
ROW_OP(paint)(const Ctx &c, Any grid, Any obj) {
  Codes x = no_codes();
  if (grid.kind == TUPLE) {
    x.taken = colors_in(grid) | colors_in(obj);
    grid = coded_grid(c, x, grid, true);
    if (!is_value(grid)) return grid;
  }
  return decoded(c, x, plain_paint(c, grid, obj));
}
/// Is one colour of a coded grid the most frequent? Otherwise the order of the values counts.
CALLED bool has_background(const V &grid) {
  return popcount(frequency_of(colored(grid_of(grid)), true).chosen) == 1;
}
/// A table coded for an op that looks for the background, and that has another argument with colours.
INLINE V coded_ground(const Ctx &c, Codes &x, const V &v, const V &other) {
  if (v.kind != TUPLE) return v;
  x.taken = colors_in(v) | colors_in(other);
  V grid = coded_grid(c, x, v);
  return grid.kind == GRID && !has_background(grid) ? stopped(ODD) : grid;
}
ROW_OP(underfill)(const Ctx &c, Any grid, V value, Any patch) {
  Codes x = no_codes();
  grid = coded_ground(c, x, grid, value);
  if (!is_value(grid)) return grid;
  if (grid.kind == GRID && is_odd_cell(c, value)) {
    if (x.count == 0) x.taken = colors_in(grid);
    value = coded_value(c, x, value);
  }
  return decoded(c, x, plain_underfill(c, grid, value, patch));
}
ROW_OP(underpaint)(const Ctx &c, Any grid, Any obj) {
  Codes x = no_codes();
  grid = coded_ground(c, x, grid, obj);
  return is_value(grid) ? decoded(c, x, plain_underpaint(c, grid, obj)) : grid;
}
ROW_OP(cover)(const Ctx &c, Any grid, Any patch) {
  Codes x = no_codes();
  grid = coded_ground(c, x, grid, none());
  return is_value(grid) ? decoded(c, x, plain_cover(c, grid, patch)) : grid;
}
ROW_OP(move)(const Ctx &c, Any grid, V obj, V offset) {
  Codes x = no_codes();
  grid = coded_ground(c, x, grid, obj);
  return is_value(grid) ? decoded(c, x, plain_move(c, grid, obj, offset)) : grid;
}
