// Grids: mirroring, scaling, cutting, joining and drawing.

// ---- Helpers ------------------------------------------------------------------------------------

/// Can a value neither be iterated nor indexed?
INLINE bool is_atom(const V &v) { return v.kind == NONE || is_int(v) || v.kind == OP; }
INLINE bool is_any_set(const V &v) { return is_patch(v) || v.kind == SET; }
INLINE bool is_any_tuple(const V &v) {
  return (v.kind >= PAIR && v.kind <= RAGGED) || v.kind == TUPLE || v.kind == WIDE;
}
/// What an op gives for a value that is no grid if it iterates rows, or slices a tuple, right away.
INLINE V no_grid(const V &v) {
  bool fails = is_atom(v) || v.kind == PAIR || v.kind == CELL;
  return fails ? fault(TYPE_) : stopped(ODD);
}
/// The same for an op that reads the height and the width at first.
INLINE V no_dims(const V &v) {
  if (is_any_set(v) || (v.kind == TUPLE && v.len && is_atom(*(const V *)v.bits))) return fault(TYPE_);
  if (v.kind == TUPLE && v.len == 0) return fault(INDEX_);
  return no_grid(v);
}
/// The same for an op that slices the value, or indexes it, at first.
INLINE V no_slices(const V &v) { return is_any_set(v) ? fault(TYPE_) : no_grid(v); }

INLINE V empty_tuple() { return make(TUPLE, 0, 0, 0, 0, 0); }
INLINE bool is_empty_container(const V &v) {
  return is_patch(v) ? size_of_patch(v) == 0 : (v.kind == TUPLE || v.kind == SET) && v.len == 0;
}
/// A tuple of n empty tuples.
INLINE V empty_rows(const Ctx &c, u32 n) {
  if (n == 0) return empty_tuple();
  V *to = (V *)room_for(c, n * sizeof(V));
  if (!to) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) to[k] = empty_tuple();
    return 0u;
  });
  return make(TUPLE, 0, 0, 0, n, (u64)to);
}
/// Does a condition hold for all elements of a tuple or set?
template <class F> INLINE bool all_of(const V &v, F f) {
  const V *items = (const V *)v.bits;
  return !rows_of(rows([&](u32 l) {
    for (u32 k = l; k < v.len; k += 32)
      if (!f(items[k])) return 1u;
    return 0u;
  }));
}
INLINE bool all_of_kind(const V &v, Kind kind) {
  return all_of(v, [&](const V &item) { return item.kind == kind; });
}
/// What an op gives for a container that is no patch if it looks for locations right away.
INLINE V no_patch(const V &v) {
  if (v.kind != TUPLE && v.kind != SET) return no_grid(v);
  bool fails = all_of(v, [](const V &item) { return is_atom(item) || is_any_set(item); });
  return fails ? fault(TYPE_) : stopped(ODD);
}
/// What an op gives for a value that is no pair if it unpacks it, and takes both elements for numbers.
INLINE V no_pair(const V &v) {
  if (is_atom(v)) return fault(TYPE_);
  if (v.kind == PAIR || v.kind == CELL) return stopped(ODD);
  if (length_of(v) != 2) return fault(VALUE_);
  return v.kind == GRID || is_patch(v) ? fault(TYPE_) : stopped(ODD);
}
/// Is a value a tuple of empty tuples?
INLINE bool has_empty_rows(const V &v) {
  if (v.kind != TUPLE || v.len == 0) return false;
  return all_of(v, [](const V &row) { return row.kind == TUPLE && row.len == 0; });
}
/// May a cell of a grid have this value?
INLINE bool is_color(const V &v) { return v.kind == INT && v.bits < 16; }
/// The cells that are equal to a value.
INLINE Rows equal_to(const Grid &g, const V &v) {
  return is_int(v) && v.bits < 16 ? of_color(g, (u32)v.bits) : no_rows();
}
/// The grid with some cells of another value.
INLINE V with_value(const Ctx &c, const V &grid, Grid g, const Rows &where, const V &value) {
  if (is_empty(where)) return grid;
  if (!is_color(value)) return stopped(ODD);
  paint_rows(g, where, (u32)value.bits);
  return value_of(c, g);
}
/// Stores a grid at a given place.
INLINE V stored(u32 *to, const Grid &g) {
  for (u32 k = 0; k < 4; k++) store_rows(to + 32 * k, g.plane[k], g.height);
  return make(GRID, (u8)g.height, (u8)g.width, 0, 0, (u64)to);
}

// ---- Ragged grids -------------------------------------------------------------------------------

/// The rows of a grid that may be ragged: `vconcat` makes such.
struct Lines {
  Grid grid;
  Rows widths;
};
INLINE Lines lines_of(const V &v) {
  Lines r;
  r.grid = grid_of(v);
  u32 width = v.b;
  r.widths = v.kind == RAGGED ? load_rows((const u32 *)v.bits + 128, v.a)
                              : rows([&](u32 l) { return l < v.a ? width : 0; });
  return r;
}
INLINE V value_of_lines(const Ctx &c, const Lines &r) {
  u32 height = r.grid.height, width = row_at(r.widths, 0);
  bool even = !rows_of(rows([&](u32 l) { return (u32)(l < height && r.widths[l] != width); }));
  if (even) {
    Grid g = r.grid;
    g.width = width;
    return value_of(c, g);
  }
  u32 *to = (u32 *)room_for(c, RAGGED_BYTES);
  if (!to) return stopped(MEMORY);
  for (u32 k = 0; k < 4; k++) store_rows(to + 32 * k, r.grid.plane[k], height);
  store_rows(to + 128, r.widths, height);
  return make(RAGGED, (u8)height, 0, 0, 0, (u64)to);
}
INLINE bool has_lines(const V &v) { return v.kind == GRID || v.kind == RAGGED; }
/// The width of the shortest row, to which `zip` cuts all rows.
INLINE u32 shortest(const Lines &r) {
  return least(rows([&](u32 l) { return l < r.grid.height ? r.widths[l] : SIDE; }));
}
/// The first columns of all rows.
INLINE Grid cut_to(const Lines &r, u32 width) {
  return changed(r.grid, r.grid.height, width, [&](const Rows &x) {
    return rows([&](u32 l) { return x[l] & low(width); });
  });
}

// ---- Mirrors and rotations ----------------------------------------------------------------------

/// How a board is turned: first upside down, then left to right, then rows become columns.
struct Turn {
  bool upside_down, left_to_right, transposed;
};
template <class B> INLINE B turned(B x, u32 height, u32 width, Turn turn) {
  if (turn.left_to_right) x = left_to_right(x, width);
  if (turn.upside_down) x = upside_down(x, height);
  return turn.transposed ? transposed(x) : x;
}
/// The same for a grid whose rows are cut to the shortest when they become columns.
INLINE V turned_lines(const Ctx &c, const V &v, Turn turn) {
  Lines r = lines_of(v);
  u32 height = v.a;
  if (turn.transposed) {
    u32 width = shortest(r);
    // `cmirror` turns the rows before they are cut.
    bool cut_left = turn.upside_down && turn.left_to_right;
    for (u32 k = 0; k < 4 && cut_left; k++)
      r.grid.plane[k] = rows([&](u32 l) {
        return l < height ? r.grid.plane[k][l] >> (r.widths[l] - width) : 0;
      });
    return value_of(c, changed(cut_to(r, width), width, height, [&](const Rows &x) {
      return turned(x, height, width, turn);
    }));
  }
  for (u32 k = 0; k < 4; k++) {
    Rows x = r.grid.plane[k];
    if (turn.left_to_right) x = rows([&](u32 l) { return l < height ? reversed(x[l], r.widths[l]) : 0; });
    r.grid.plane[k] = turn.upside_down ? upside_down(x, height) : x;
  }
  if (turn.upside_down) r.widths = upside_down(r.widths, height);
  return value_of_lines(c, r);
}
CALLED V turned_wide(const Ctx c, const V v, Turn turn) {
  return wide_value(c, turn.transposed ? v.b : v.a, turn.transposed ? v.a : v.b, [&](u32 k) {
    return turned(wide_plane(v, k), v.a, v.b, turn);
  });
}
INLINE V turned_grid(const Ctx &c, const V &v, Turn turn) {
  if (v.kind == RAGGED) return turned_lines(c, v, turn);
  if (v.kind == WIDE) return turned_wide(c, v, turn);
  Grid g = grid_of(v);
  u32 height = turn.transposed ? g.width : g.height, width = turn.transposed ? g.height : g.width;
  return value_of(c, changed(g, height, width, [&](const Rows &x) {
    return turned(x, g.height, g.width, turn);
  }));
}
/// The patch with changed boards, whose bounds have the same upper left corner.
template <class F> INLINE V changed_patch(const Ctx &c, const V &v, u32 height, u32 width, u32 size, F f) {
  u32 boards = v.kind == OBJECT && v.c == PLANES ? 5 : 1;
  u32 *to = (u32 *)room_for(c, boards * height * 4);
  if (!to) return stopped(MEMORY);
  for (u32 k = 0; k < boards; k++)
    store_rows(to + k * height, f(load_rows(payload_of(v) + k * v.a, v.a)), height);
  return make((Kind)v.kind, (u8)height, (u8)width, v.c, v.len, (u64)to | (u64)size << 48);
}
/// Do the locations of a patch stay within 16 bits if its bounds grow?
INLINE bool may_grow(const V &patch) {
  return row_of(patch.len) < 32767 - (i32)SIDE && column_of(patch.len) < 32767 - (i32)SIDE;
}
/// The tuple with its elements the other way round.
INLINE V reversed_tuple(const Ctx &c, const V &v) {
  if (v.kind == PAIR) return pair(column_of(v.len), row_of(v.len));
  if (v.kind != TUPLE) return stopped(ODD);
  const V *from = (const V *)v.bits;
  V *to = (V *)take(c, (u64)v.len * sizeof(V));
  if (!to) return stopped(MEMORY);
  (void)rows([&](u32 l) {
    for (u32 k = l; k < v.len; k += 32) to[k] = from[v.len - 1 - k];
    return 0u;
  });
  sync();
  return tuple_value(c, to, v.len);
}
CALLED V mirrored(const Ctx &c, const V &v, Turn turn, FaultCode if_empty) {
  if (has_lines(v) || v.kind == WIDE) return turned_grid(c, v, turn);
  if (is_patch(v)) {
    if (size_of_patch(v) == 0) return fault(if_empty);
    if (turn.transposed && !may_grow(v)) return stopped(SIZE);
    u32 height = turn.transposed ? v.b : v.a, width = turn.transposed ? v.a : v.b;
    V made = changed_patch(c, v, height, width, size_of_patch(v),
                           [&](const Rows &x) { return turned(x, v.a, v.b, turn); });
    return made_of(c, made, v, turn.transposed ? TRANSPOSED : turn.upside_down ? UPSIDE_DOWN : LEFT_TO_RIGHT);
  }
  if (v.kind == TUPLE && v.len == 0) return v;
  if (has_empty_rows(v)) return turn.transposed ? empty_tuple() : v;
  if (v.kind == SET) return no_patch(v);
  bool reverses = turn.upside_down && !turn.left_to_right;
  return reverses && !is_atom(v) ? reversed_tuple(c, v) : no_grid(v);
}

ROW_OP(hmirror)(const Ctx &c, Any piece) { return mirrored(c, piece, {true, false, false}, INDEX_); }
ROW_OP(vmirror)(const Ctx &c, Any piece) { return mirrored(c, piece, {false, true, false}, INDEX_); }
ROW_OP(dmirror)(const Ctx &c, Any piece) { return mirrored(c, piece, {false, false, true}, VALUE_); }
ROW_OP(cmirror)(const Ctx &c, Any piece) {
  if (!is_patch(piece)) return mirrored(c, piece, {true, true, true}, INDEX_);
  // Python mirrors a set three times.
  Ctx inner = c;
  inner.payload = 0;
  V v = mirrored(inner, piece, {false, true, false}, INDEX_);
  if (is_value(v)) v = mirrored(inner, v, {false, false, true}, INDEX_);
  return is_value(v) ? mirrored(c, v, {false, true, false}, INDEX_) : v;
}

INLINE V rotated(const Ctx &c, const V &v, Turn turn) {
  if (has_lines(v) || v.kind == WIDE) return turned_grid(c, v, turn);
  if (v.kind == TUPLE && v.len == 0) return v;
  if (has_empty_rows(v)) return turn.transposed ? empty_tuple() : v;
  return no_slices(v);
}
ROW_OP(rot90)(const Ctx &c, Any grid) { return rotated(c, grid, {true, false, true}); }
ROW_OP(rot180)(const Ctx &c, Any grid) { return rotated(c, grid, {true, true, false}); }
ROW_OP(rot270)(const Ctx &c, Any grid) { return rotated(c, grid, {false, true, true}); }

// ---- Scaling ------------------------------------------------------------------------------------

/// Every row and every column several times. The result fits a board.
INLINE Rows scaled(const Rows &x, u32 width, u32 down, u32 across) {
  Rows wide = across == 1 ? x : rows([&](u32 l) {
    u32 own = 0;
    for (u32 j = 0; j < width; j++)
      if (x[l] >> j & 1) own |= low(across) << j * across;
    return own;
  });
  return down == 1 ? wide : gather(wide, rows([&](u32 l) { return l / down; }));
}
CALLED V scaled_wide(const Ctx c, const V grid, u32 down, u32 across) {
  return wide_value(c, grid.a * down, grid.b * across, [&](u32 k) {
    Board x = wide_plane(grid, k);
    Board wide = board([&](u32 l, u32 half) {
      u64 from = x.row(l, half), own = 0;
      for (u32 j = 0; j < grid.b; j++)
        if (from >> j & 1) own |= low_64(across) << j * across;
      return own;
    });
    return picked(wide, [&](u32 row) { return row / down; });
  });
}
INLINE V scaled_grid(const Ctx &c, const V &grid, i64 down, i64 across) {
  if (down <= 0) return empty_tuple();
  if (across <= 0) return down == 1 ? empty_rows(c, grid.a) : stopped(ODD);
  if (down == 1 && across == 1) return grid;
  if (down > WIDE_SIDE || across > WIDE_SIDE || grid.a * down > WIDE_SIDE || grid.b * across > WIDE_SIDE)
    return stopped(SIZE);
  if (grid.a * down > SIDE || grid.b * across > SIDE) return scaled_wide(c, grid, (u32)down, (u32)across);
  Grid g = grid_of(grid);
  u32 height = g.height * (u32)down, width = g.width * (u32)across;
  Rows area = rectangle(height, width);
  return value_of(c, changed(g, height, width, [&](const Rows &x) {
    return scaled(x, g.width, (u32)down, (u32)across) & area;
  }));
}

ROW_OP(hupscale)(const Ctx &c, Any grid, V factor) {
  if (is_empty_container(grid)) return empty_tuple();
  if (has_empty_rows(grid)) return grid;
  if (!is_any_grid(grid)) return no_grid(grid);
  return is_int(factor) ? scaled_grid(c, grid, 1, int_of(factor)) : fault(TYPE_);
}
ROW_OP(vupscale)(const Ctx &c, Any grid, V factor) {
  if (is_empty_container(grid)) return empty_tuple();
  if (is_atom(grid)) return fault(TYPE_);
  if (!is_any_grid(grid)) return stopped(ODD);
  return is_int(factor) ? scaled_grid(c, grid, int_of(factor), 1) : fault(TYPE_);
}
ROW_OP(upscale)(const Ctx &c, Any element, V factor) {
  if (is_empty_container(element)) return element;
  if (element.kind == INDICES) return fault(TYPE_);
  if (element.kind == SET) return no_patch(element);
  bool grid = is_any_grid(element);
  if (!grid && element.kind != OBJECT) return no_grid(element);
  if (!is_int(factor)) return fault(TYPE_);
  i64 times = int_of(factor);
  if (grid) return times <= 0 ? empty_tuple() : scaled_grid(c, element, times, times);
  if (times <= 0) return empty_patch();
  if (times > SIDE || element.a * times > SIDE || element.b * times > SIDE) return stopped(SIZE);
  if (!may_grow(element)) return stopped(SIZE);
  u32 n = (u32)times, size = size_of_patch(element) * n * n;
  V v = changed_patch(c, element, element.a * n, element.b * n, size, [&](const Rows &x) {
    return scaled(x, element.b, n, n);
  });
  if (!is_value(v)) return v;
  // Python moves the object to the origin and back.
  V small = unordered(element), large = unordered(v);
  small.len = large.len = 0;
  small = made_of(c, small, element, SAME_PLACES);
  return made_of(c, v, made_of(c, large, small, SCALED), SAME_PLACES);
}
CALLED V downscaled_wide(const Ctx c, const V grid, u32 step) {
  u32 height = (grid.a + step - 1) / step, width = (grid.b + step - 1) / step;
  return wide_value(c, height, width, [&](u32 k) {
    Board chosen = picked(wide_plane(grid, k), [&](u32 row) { return row * step; });
    return board([&](u32 l, u32 half) {
      u64 from = chosen.row(l, half), own = 0;
      for (u32 j = 0; j < width; j++) own |= (from >> j * step & 1) << j;
      return own;
    });
  });
}
ROW_OP(downscale)(const Ctx &c, Any grid, V factor) {
  if (!is_any_grid(grid)) return no_dims(grid);
  if (!is_int(factor)) return fault(TYPE_);
  i64 n = int_of(factor);
  if (n == 0) return fault(ZERO_DIVISION);
  const i64 most = WIDE_SIDE;
  if (grid.kind == WIDE) return downscaled_wide(c, grid, (u32)min_of(n < 0 ? -max_of(n, -most) : n, most));
  u32 step = n > -(i64)SIDE && n < SIDE ? (u32)(n < 0 ? -n : n) : SIDE;
  Grid g = grid_of(grid);
  u32 height = (g.height + step - 1) / step, width = (g.width + step - 1) / step;
  return value_of(c, changed(g, height, width, [&](const Rows &x) {
    Rows chosen = gather(x, rows([&](u32 l) { return l * step & 31; }));
    return rows([&](u32 l) {
      u32 own = 0;
      for (u32 j = 0; j < width; j++) own |= (chosen[l] >> j * step & 1) << j;
      return l < height ? own : 0;
    });
  }));
}

// ---- Cutting ------------------------------------------------------------------------------------

/// Part of a sequence: `size` elements from `start`.
struct Span {
  u32 start, size;
};
/// The part that the slice `[from:to]` takes of n elements.
INLINE Span slice(u32 n, i64 from, i64 to) {
  if (from < 0) from = max_of(from + n, (i64)0);
  if (to < 0) to = max_of(to + n, (i64)0);
  from = min_of(from, (i64)n), to = min_of(to, (i64)n);
  Span s = {(u32)from, to > from ? (u32)(to - from) : 0};
  return s;
}
/// The part of a grid with some rows and columns, at least one of both.
INLINE Grid cut(const Grid &g, Span down, Span across) {
  Rows area = rectangle(down.size, across.size);
  return changed(g, down.size, across.size, [&](const Rows &x) {
    return moved(x, -(i32)down.start, -(i32)across.start) & area;
  });
}
CALLED V cut_wide(const Ctx c, const V grid, Span down, Span across) {
  return wide_value(c, down.size, across.size, [&](u32 k) {
    return moved(wide_plane(grid, k), -(i32)down.start, -(i32)across.start);
  });
}
/// The value of such a part, which may be empty.
INLINE V part_of(const Ctx &c, const V &grid, Span down, Span across) {
  if (down.size == 0) return empty_tuple();
  if (across.size == 0) return empty_rows(c, down.size);
  if (down.size == grid.a && across.size == grid.b) return grid;
  if (grid.kind == WIDE) return cut_wide(c, grid, down, across);
  return value_of(c, cut(grid_of(grid), down, across));
}
INLINE V cropped(const Ctx &c, const V &grid, i64 top, i64 left, i64 height, i64 width) {
  if (grid.kind == TUPLE && grid.len == 0) return grid;
  if (!is_any_grid(grid)) return is_atom(grid) || is_any_set(grid) ? fault(TYPE_) : stopped(ODD);
  return part_of(c, grid, slice(grid.a, top, top + height), slice(grid.b, left, left + width));
}

/// What an op gives for a value that is no pair if it indexes it and takes the first element for a number.
INLINE V no_extent(const V &v) {
  return is_atom(v) || is_any_set(v) || v.kind == GRID ? fault(TYPE_) : stopped(ODD);
}
ROW_OP(crop)(const Ctx &c, Any grid, V start, V dims) {
  // A row and a number, or two rows, make no number.
  if (start.kind == GRID && dims.kind != TUPLE) return fault(TYPE_);
  if (start.kind != PAIR) return is_atom(start) || is_any_set(start) ? fault(TYPE_) : stopped(ODD);
  if (dims.kind != PAIR) return no_extent(dims);
  return cropped(c, grid, row_of(start.len), column_of(start.len), row_of(dims.len), column_of(dims.len));
}
/// The lowest colour of a column.
INLINE u32 lowest_color(const Grid &g, u32 column) {
  u32 color = 0;
  while (!(columns_of(of_color(g, color)) >> column & 1)) color++;
  return color;
}
/// The least row or column of the locations in a set, each multiplied by 1 or -1.
INLINE i32 least_place(const V &set, bool column, i32 sign) {
  const V *items = (const V *)set.bits;
  return (i32)least(rows([&](u32 l) {
    u32 own = 0xffffffffu;
    for (u32 k = l; k < set.len; k += 32) {
      u32 at = items[k].len;
      own = min_of(own, (u32)(sign * (column ? column_of(at) : row_of(at)) + 65536));
    }
    return own;
  })) - 65536;
}
ROW_OP(subgrid)(const Ctx &c, V patch, Any grid) {
  if (is_patch(patch)) {
    if (size_of_patch(patch) == 0) return fault(INDEX_);
    return cropped(c, grid, row_of(patch.len), column_of(patch.len), patch.a, patch.b);
  }
  if (patch.kind == GRID) {
    // `toindices` leaves a grid as it is, so the corner has the lowest colours of its columns.
    if (patch.b < 2) return fault(INDEX_);
    Grid g = grid_of(patch);
    return cropped(c, grid, lowest_color(g, 0), lowest_color(g, 1), patch.a, patch.b);
  }
  if (patch.kind != SET) return no_grid(patch);
  // A set of more than a board.
  bool cells = all_of_kind(patch, CELL);
  if (!cells && !all_of_kind(patch, PAIR)) return no_patch(patch);
  i32 top = least_place(patch, false, 1), bottom = -least_place(patch, false, -1);
  i32 left = least_place(patch, true, 1), right = -least_place(patch, true, -1);
  return cropped(c, grid, top, left, bottom - top + 1, right - left + 1);
}

ROW_OP(trim)(const Ctx &c, Any grid) {
  if (is_any_grid(grid)) return part_of(c, grid, slice(grid.a, 1, -1), slice(grid.b, 1, -1));
  bool small = grid.kind == PAIR || grid.kind == CELL || (grid.kind == TUPLE && grid.len <= 2);
  return small ? empty_tuple() : no_slices(grid);
}
INLINE V half_of_rows(const Ctx &c, const V &v, bool second) {
  u32 n = v.kind == TUPLE ? v.len : v.a;
  Span half = {second ? n - n / 2 : 0, n / 2};
  Span all = {0, v.b};
  if (is_any_grid(v)) return part_of(c, v, half, all);
  if (v.kind == RAGGED) {
    Lines r = lines_of(v);
    if (half.size == 0) return empty_tuple();
    i32 up = -(i32)half.start;
    r.grid.height = half.size;
    for (u32 k = 0; k < 4; k++) r.grid.plane[k] = moved(r.grid.plane[k], up, 0);
    r.widths = moved(r.widths, up, 0);
    return value_of_lines(c, r);
  }
  if (v.kind == TUPLE && half.size) return tuple_value(c, (const V *)v.bits + half.start, half.size);
  if (v.kind == TUPLE) return empty_tuple();
  return is_atom(v) || is_any_set(v) ? fault(TYPE_) : stopped(ODD);
}
INLINE V half_of_columns(const Ctx &c, const V &v, bool second) {
  if ((v.kind == TUPLE && v.len == 0) || has_empty_rows(v)) return empty_tuple();
  Span all = {0, v.a};
  if (v.kind == WIDE) {
    Span side = {second ? v.b - v.b / 2u : 0, v.b / 2u};
    return side.size ? cut_wide(c, v, all, side) : empty_tuple();
  }
  if (!has_lines(v)) return no_slices(v);
  Lines r = lines_of(v);
  u32 width = v.kind == GRID ? v.b : shortest(r);
  Span half = {second ? width - width / 2 : 0, width / 2};
  // Rotating a grid without columns leaves no rows.
  return half.size ? value_of(c, cut(r.grid, all, half)) : empty_tuple();
}
ROW_OP(tophalf)(const Ctx &c, Any grid) { return half_of_rows(c, grid, false); }
ROW_OP(bottomhalf)(const Ctx &c, Any grid) { return half_of_rows(c, grid, true); }
ROW_OP(lefthalf)(const Ctx &c, Any grid) { return half_of_columns(c, grid, false); }
ROW_OP(righthalf)(const Ctx &c, Any grid) { return half_of_columns(c, grid, true); }

/// The tuple of n parts of equal size; a separator follows each if n does not divide the size.
/// `part_at` makes one, and gets `bytes` of memory for it.
template <class F> INLINE V split_by(const Ctx &c, const V &grid, const V &number, bool across, u32 bytes, F part_at) {
  if (!is_int(number)) return fault(TYPE_);
  i64 n = int_of(number);
  if (n == 0) return fault(ZERO_DIVISION);
  if (n < 0) return empty_tuple();
  if (n > 2 * SIDE) return stopped(SIZE);
  u32 count = (u32)n, total = across ? grid.b : grid.a;
  u32 size = total / count, step = size + (total % count != 0);
  V *parts = (V *)take(c, count * (sizeof(V) + bytes));
  if (!parts) return stopped(MEMORY);
  char *memory = (char *)(parts + count);
  Span other = {0, across ? grid.a : grid.b};
  V nothing = empty_tuple();
  if (across && (count - 1) * step + 1 > total) nothing = empty_rows(c, grid.a);
  if (!is_value(nothing)) return nothing;
  for (u32 k = 0; k < count; k++) {
    Span own = slice(total, k * step, k * step + size);
    V part = nothing;
    if (own.size) part = across ? part_at(memory + bytes * k, other, own) : part_at(memory + bytes * k, own, other);
    if (!is_value(part)) return part;
    // In tokpidjin a part that does not fit is left out.
    if (has_triples(c) && (k * step >= total || k * step + size > total)) part = empty_tuple();
    put(parts + k, part);
  }
  return make(TUPLE, 0, 0, 0, count, (u64)parts);
}
CALLED V split_wide(const Ctx c, const V grid, const V number, bool across) {
  return split_by(c, grid, number, across, 0, [&](char *, Span down, Span right) {
    return cut_wide(c, grid, down, right);
  });
}
INLINE V split(const Ctx &c, const V &grid, const V &number, bool across) {
  if (grid.kind == WIDE) return split_wide(c, grid, number, across);
  Grid g = grid_of(grid);
  return split_by(c, grid, number, across, GRID_BYTES, [&](char *to, Span down, Span right) {
    return stored((u32 *)to, cut(g, down, right));
  });
}
ROW_OP(hsplit)(const Ctx &c, Any grid, V n) {
  return is_any_grid(grid) ? split(c, grid, n, true) : no_dims(grid);
}
ROW_OP(vsplit)(const Ctx &c, Any grid, V n) {
  if (is_any_grid(grid)) return split(c, grid, n, false);
  // Python divides the height before it reads the width.
  bool divides = is_int(n) && int_of(n) != 0;
  return divides || is_atom(grid) ? no_dims(grid) : stopped(ODD);
}

/// The board with only some rows and columns, which move together.
INLINE Rows squeezed(const Rows &x, const Rows &from, u32 columns) {
  Rows chosen = gather(x, from);
  return rows([&](u32 l) {
    u32 own = 0, n = 0;
    for (u32 todo = columns; todo; todo &= todo - 1) own |= (chosen[l] >> lowest(todo) & 1) << n++;
    return own;
  });
}
/// The place of bit n of a number.
INLINE u32 place_of_bit(u64 bits, u32 n) {
  for (u32 k = 0; k < n; k++) bits &= bits - 1;
  return bits ? lowest_64(bits) : WIDE_SIDE;
}
CALLED V compressed_wide(const Ctx c, const V grid) {
  u64 kept_rows = 0, kept_columns = 0, full = low_64(grid.b);
  ONE_BY_ONE
  for (u32 k = 0; k < 4; k++) {
    Board x = wide_plane(grid, k);
    u64 top = row_at(x, 0);
    kept_rows |= rows_of(board([&](u32 l, u32 half) {
      u64 own = x.row(l, half);
      return (u64)(own != 0 && own != full);
    }));
    kept_columns |= columns_of(board([&](u32 l, u32 half) {
      return l + 32 * half < grid.a ? x.row(l, half) ^ top : 0;
    }));
  }
  u32 height = popcount_64(kept_rows), width = popcount_64(kept_columns);
  if (height == 0) return empty_tuple();
  if (width == 0) return empty_rows(c, height);
  return wide_value(c, height, width, [&](u32 k) {
    Board chosen = picked(wide_plane(grid, k), [&](u32 row) { return place_of_bit(kept_rows, row); });
    return board([&](u32 l, u32 half) {
      u64 from = chosen.row(l, half), own = 0;
      u32 n = 0;
      for (u64 todo = kept_columns; todo; todo &= todo - 1) own |= (from >> lowest_64(todo) & 1) << n++;
      return own;
    });
  });
}
ROW_OP(compress)(const Ctx &c, Any grid) {
  if ((grid.kind == TUPLE && grid.len == 0) || has_empty_rows(grid)) return grid;
  if (grid.kind == WIDE) return compressed_wide(c, grid);
  if (grid.kind != GRID) return no_grid(grid);
  Grid g = grid_of(grid);
  Rows area = area_of(g), mixed = no_rows(), changes = no_rows();
  for (u32 k = 0; k < 4; k++) {
    const Rows &x = g.plane[k];
    u32 top = row_at(x, 0);
    mixed = mixed | rows([&](u32 l) { return (u32)(x[l] != 0 && x[l] != area[l]); });
    changes = changes | rows([&](u32 l) { return l < g.height ? x[l] ^ top : 0; });
  }
  u32 kept_rows = rows_of(mixed), kept_columns = columns_of(changes);
  u32 height = popcount(kept_rows), width = popcount(kept_columns);
  if (height == 0) return empty_tuple();
  if (width == 0) return empty_rows(c, height);
  if (height == g.height && width == g.width) return grid;
  Rows from = rows([&](u32 l) {
    u32 left = kept_rows;
    for (u32 k = 0; k < l; k++) left &= left - 1;
    return lowest(left) & 31;
  });
  return value_of(c, changed(g, height, width, [&](const Rows &x) {
    return squeezed(x, from, kept_columns);
  }));
}

/// The cell at a location, or None.
THREAD_OP(index)(const Ctx &, Any grid, V at) {
  if (at.kind != PAIR) return is_any_grid(grid) ? no_pair(at) : is_atom(at) ? fault(TYPE_) : stopped(ODD);
  if (!is_any_grid(grid)) return no_dims(grid);
  i32 i = row_of(at.len), j = column_of(at.len);
  if (i < 0 || i >= grid.a || j < 0 || j >= grid.b) return none();
  if (grid.kind == WIDE) return integer(wide_color(grid, (u32)i, (u32)j));
  const u32 *planes = (const u32 *)grid.bits;
  u32 color = 0;
  for (u32 k = 0; k < 4; k++) color |= (planes[32 * k + (u32)i] >> j & 1) << k;
  return integer(color);
}

// ---- Joining ------------------------------------------------------------------------------------

/// The first rows of a grid, at most n.
INLINE V first_rows(const Ctx &c, const V &grid, u32 n) {
  Span down = {0, min_of((u32)grid.a, n)}, across = {0, grid.b};
  return part_of(c, grid, down, across);
}
/// Two grids, of which b stands below a or to the right of it.
CALLED V joined_wide(const Ctx c, const V a, const V b, bool below) {
  u32 height = below ? a.a + b.a : min_of(a.a, b.a), width = below ? a.b : a.b + b.b;
  i32 down = below ? a.a : 0, right = below ? 0 : a.b;
  return wide_value(c, height, width, [&](u32 k) { return wide_plane(a, k) | moved(wide_plane(b, k), down, right); });
}
/// Is that a wide grid, or one of the two?
INLINE bool join_is_wide(const V &a, const V &b, bool below) {
  if (!is_any_grid(a) || !is_any_grid(b) || (below && a.b != b.b)) return false;
  return a.kind == WIDE || b.kind == WIDE || (below ? a.a + b.a : a.b + b.b) > (int)SIDE;
}
ROW_OP(hconcat)(const Ctx &c, Any a, Any b) {
  if (is_atom(a) || is_atom(b)) return fault(TYPE_);
  if (is_empty_container(a) || is_empty_container(b)) return empty_tuple();
  // A number and a row cannot be added.
  bool x_is_flat = a.kind == PAIR || a.kind == CELL, y_is_flat = b.kind == PAIR || b.kind == CELL;
  if ((x_is_flat && has_lines(b)) || (y_is_flat && has_lines(a))) return fault(TYPE_);
  if (a.kind == GRID && has_empty_rows(b)) return first_rows(c, a, b.len);
  if (b.kind == GRID && has_empty_rows(a)) return first_rows(c, b, a.len);
  if (join_is_wide(a, b, false)) return joined_wide(c, a, b, false);
  if (!has_lines(a) || !has_lines(b)) return stopped(ODD);
  // `zip` ends with the lower grid.
  u32 height = min_of(a.a, b.a);
  Lines x = lines_of(a), y = lines_of(b), r;
  r.grid.height = height;
  r.widths = rows([&](u32 l) { return l < height ? x.widths[l] + y.widths[l] : 0; });
  if (rows_of(rows([&](u32 l) { return (u32)(r.widths[l] > SIDE); }))) return stopped(SIZE);
  for (u32 k = 0; k < 4; k++)
    r.grid.plane[k] = rows([&](u32 l) {
      return l < height ? x.grid.plane[k][l] | shift_up(y.grid.plane[k][l], (i32)x.widths[l]) : 0;
    });
  return value_of_lines(c, r);
}

ROW_OP(vconcat)(const Ctx &c, Any a, Any b) {
  if (is_int(a) && is_int(b)) {
    i64 x = int_of(a), y = int_of(b);
    return x == (i32)x && y == (i32)y ? integer(x + y) : stopped(ODD);
  }
  if (!is_any_tuple(a) || !is_any_tuple(b)) return fault(TYPE_);
  if (a.kind == TUPLE && a.len == 0) return b;
  if (b.kind == TUPLE && b.len == 0) return a;
  if (join_is_wide(a, b, true)) return joined_wide(c, a, b, true);
  // Uneven rows are RAGGED only if they are few.
  if (!has_lines(a) || !has_lines(b) || a.a + b.a > SIDE) {
    if (a.kind == WIDE || b.kind == WIDE) return stopped(SIZE);
    if (!is_container(a) || !is_container(b)) return stopped(ODD);
    u32 n = length_of(a), m = length_of(b);
    V *to = (V *)take(c, (u64)(n + m) * sizeof(V));
    if (!to || !spread_elements(c, a, to) || !spread_elements(c, b, to + n)) return stopped(MEMORY);
    sync();
    return tuple_value(c, to, n + m);
  }
  Lines x = lines_of(a), y = lines_of(b), r;
  r.grid.height = a.a + b.a;
  for (u32 k = 0; k < 4; k++) r.grid.plane[k] = x.grid.plane[k] | moved(y.grid.plane[k], a.a, 0);
  r.widths = x.widths | moved(y.widths, a.a, 0);
  return value_of_lines(c, r);
}

// ---- Colours of cells ---------------------------------------------------------------------------

/// Gives the cells of a another value where b has no equal one.
CALLED V cellwise_wide(const Ctx c, const V a, const V b, const V fallback) {
  Board differs = empty_board();
  ONE_BY_ONE
  for (u32 k = 0; k < 4; k++) differs = differs | (wide_plane(a, k) ^ wide_plane(b, k));
  differs = differs | without(wide_area(a), wide_area(b));
  return wide_with_value(c, a, differs & wide_area(a), fallback);
}
ROW_OP(cellwise)(const Ctx &c, Any a, Any b, V fallback) {
  if (!is_any_grid(a)) return no_dims(a);
  if (!is_any_grid(b)) return no_slices(b);
  if (b.a < a.a || b.b < a.b) return fault(INDEX_);
  if (b.kind == WIDE) return cellwise_wide(c, a, b, fallback);
  Grid g = grid_of(a), other = grid_of(b);
  Rows differs = no_rows();
  for (u32 k = 0; k < 4; k++) differs = differs | (g.plane[k] ^ other.plane[k]);
  return with_value(c, a, g, differs & area_of(g), fallback);
}
CALLED V replaced_wide(const Ctx c, const V grid, const V replacee, const V replacer) {
  if (!is_int(replacee) || replacee.bits > 15) return grid;
  return wide_with_value(c, grid, wide_of_color(grid, (u32)replacee.bits), replacer);
}
ROW_OP(replace)(const Ctx &c, Any grid, V replacee, V replacer) {
  if (is_empty_container(grid)) return empty_tuple();
  if (has_empty_rows(grid)) return grid;
  if (grid.kind == WIDE) return replaced_wide(c, grid, replacee, replacer);
  if (grid.kind != GRID) return no_grid(grid);
  Grid g = grid_of(grid);
  return with_value(c, grid, g, equal_to(g, replacee), replacer);
}
CALLED V switched_wide(const Ctx c, const V grid, const V a, const V b) {
  if (!is_color(a) || !is_color(b)) return stopped(SIZE);
  Board to_a = wide_of_color(grid, (u32)b.bits), to_b = without(wide_of_color(grid, (u32)a.bits), to_a);
  return wide_value(c, grid.a, grid.b, [&](u32 k) {
    Board x = without(without(wide_plane(grid, k), to_a), to_b);
    if (a.bits >> k & 1) x = x | to_a;
    return b.bits >> k & 1 ? x | to_b : x;
  });
}
ROW_OP(switch)(const Ctx &c, Any grid, V a, V b) {
  if (is_empty_container(grid)) return empty_tuple();
  if (has_empty_rows(grid)) return grid;
  if (grid.kind == WIDE) return switched_wide(c, grid, a, b);
  if (grid.kind != GRID) return no_grid(grid);
  Grid g = grid_of(grid);
  Rows to_a = equal_to(g, b), to_b = without(equal_to(g, a), to_a);
  bool any_a = !is_empty(to_a), any_b = !is_empty(to_b);
  if ((any_a && !is_color(a)) || (any_b && !is_color(b))) return stopped(ODD);
  if (any_a) paint_rows(g, to_a, (u32)a.bits);
  if (any_b) paint_rows(g, to_b, (u32)b.bits);
  return any_a || any_b ? value_of(c, g) : grid;
}
CALLED V canvas_wide(const Ctx c, const V value, u32 height, u32 width) {
  if (!is_color(value)) return stopped(ODD);
  return wide_value(c, height, width, [&](u32 k) {
    return value.bits >> k & 1 ? wide_rectangle(height, width) : empty_board();
  });
}
ROW_OP(canvas)(const Ctx &c, V value, V dims) {
  if (dims.kind != PAIR) return no_extent(dims);
  i32 height = row_of(dims.len), width = column_of(dims.len);
  if (height <= 0) return empty_tuple();
  if (width <= 0) return height <= 1024 ? empty_rows(c, (u32)height) : stopped(SIZE);
  if (height > (i32)SIDE || width > (i32)SIDE) return canvas_wide(c, value, (u32)height, (u32)width);
  if (!is_color(value)) return stopped(ODD);
  Grid g;
  g.height = (u32)height;
  g.width = (u32)width;
  Rows area = area_of(g);
  for (u32 k = 0; k < 4; k++) g.plane[k] = value.bits >> k & 1 ? area : no_rows();
  return value_of(c, g);
}

// ---- Drawing ------------------------------------------------------------------------------------

/// What a grid gives whose rows are taken for locations, unless they may be some.
INLINE V no_places(const V &grid) {
  return grid.b == 2 ? stopped(SIZE) : fault(grid.b < 2 ? INDEX_ : VALUE_);
}
/// Finds the locations of a patch that lie in the grid. Returns None, or the failure of `toindices`.
INLINE V locations_in(const Ctx &c, const V &patch, const Grid &g, Rows *where) {
  *where = no_rows();
  if (is_patch(patch)) {
    if (size_of_patch(patch) == 0) return none();
    Patch p = patch_of(patch);
    *where = moved(p.mask, p.top, p.left) & area_of(g);
    return none();
  }
  const V *items = (const V *)patch.bits;
  u32 n = patch.len;
  if (patch.kind == WIDE || (patch.kind == GRID && patch.b != 2)) return no_places(patch);
  if (patch.kind == GRID) {
    // The rows are taken for locations.
    n = patch.a;
    V *pairs = (V *)take(c, n * sizeof(V));
    if (!pairs || !spread_elements(c, patch, pairs)) return stopped(MEMORY);
    sync();
    items = pairs;
  } else if (patch.kind == TUPLE || patch.kind == SET) {
    if (!all_of_kind(patch, PAIR) && !all_of_kind(patch, CELL)) return no_patch(patch);
  } else {
    return no_grid(patch);
  }
  *where = rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = 0; k < n; k++) {
      i32 j = column_of(items[k].len);
      if (row_of(items[k].len) == (i32)l && j >= 0 && j < 32) own |= 1u << j;
    }
    return own;
  }) & area_of(g);
  return none();
}

/// The same for a WIDE grid.
INLINE V locations_in_wide(const Ctx &c, const V &patch, const V &grid, Board *where) {
  *where = empty_board();
  if (is_patch(patch)) {
    if (size_of_patch(patch) == 0) return none();
    Board mask = widened(load_rows(payload_of(patch), patch.a));
    *where = moved(mask, row_of(patch.len), column_of(patch.len)) & wide_area(grid);
    return none();
  }
  if (patch.kind != TUPLE && patch.kind != SET) return is_any_grid(patch) ? no_places(patch) : no_grid(patch);
  if (!all_of_kind(patch, PAIR) && !all_of_kind(patch, CELL)) return no_patch(patch);
  if (costs_much(grid, patch)) return stopped(LIMIT);
  u32 *words = (u32 *)take(c, 2 * WIDE_SIDE * 4);
  if (!words) return stopped(MEMORY);
  *where = board_of_items(words, (const V *)patch.bits, patch.len, [](const V &) { return true; }) & wide_area(grid);
  return none();
}
enum Filling : u32 { FILL, UNDERFILL, COVER };
CALLED V filled_wide(const Ctx c, const V grid, const V value, const V patch, Filling how) {
  Board where;
  V failed = locations_in_wide(c, patch, grid, &where);
  if (failed.kind != NONE) return failed;
  if (how == FILL) return wide_with_value(c, grid, where, value);
  if (how == UNDERFILL && !is_color(value)) return stopped(ODD);
  if (is_empty(where)) return grid;
  u32 most = common_in_wide(grid, true);
  if (how == COVER) return wide_with_value(c, grid, where, integer(most));
  return wide_with_value(c, grid, where & wide_of_color(grid, most), value);
}
ROW_OP(fill)(const Ctx &c, Any grid, V value, Any patch) {
  if (grid.kind == WIDE) return filled_wide(c, grid, value, patch, FILL);
  if (grid.kind != GRID) return no_dims(grid);
  Grid g = grid_of(grid);
  Rows where;
  V failed = locations_in(c, patch, g, &where);
  return failed.kind == NONE ? with_value(c, grid, g, where, value) : failed;
}
ROW_OP(underfill)(const Ctx &c, Any grid, V value, Any patch) {
  if (grid.kind == WIDE) return filled_wide(c, grid, value, patch, UNDERFILL);
  if (grid.kind != GRID) return no_dims(grid);
  Grid g = grid_of(grid);
  Rows where;
  V failed = locations_in(c, patch, g, &where);
  if (failed.kind != NONE) return failed;
  if (is_empty(where)) return grid;
  return with_value(c, grid, g, where & of_color(g, most_common(g)), value);
}
/// What `cover` and `move` give for a value that is no grid: they look for its colours at first.
INLINE V no_colors(const V &v, const V &patch) {
  if (is_empty_container(v)) return fault(VALUE_);
  return is_patch(v) && is_patch(patch) ? fault(TYPE_) : no_grid(v);
}
ROW_OP(cover)(const Ctx &c, Any grid, Any patch) {
  if (grid.kind == WIDE) return filled_wide(c, grid, none(), patch, COVER);
  if (grid.kind != GRID) return no_colors(grid, patch);
  Grid g = grid_of(grid);
  Rows where;
  V failed = locations_in(c, patch, g, &where);
  if (failed.kind != NONE) return failed;
  if (is_empty(where)) return grid;
  paint_rows(g, where, most_common(g));
  return value_of(c, g);
}

/// What `paint` gives for a value that has no cells; None if it is empty.
INLINE V no_cells(const V &v) {
  if (is_patch(v)) return size_of_patch(v) ? fault(TYPE_) : none();
  if (is_any_grid(v)) return fault(v.b == 2 ? TYPE_ : VALUE_);
  if (v.kind != TUPLE && v.kind != SET) return no_grid(v);
  if (v.len == 0) return none();
  if (all_of(v, [](const V &item) { return item.kind == PAIR || is_atom(item); })) return fault(TYPE_);
  bool fails = all_of(v, [](const V &item) { return is_patch(item) && size_of_patch(item) != 2; });
  return fails ? fault(VALUE_) : stopped(ODD);
}
INLINE bool has_cells(const V &v) {
  if (v.kind == OBJECT) return size_of_patch(v) != 0;
  return (v.kind == TUPLE || v.kind == SET) && v.len && all_of_kind(v, CELL);
}
/// Draws an object, moved, where `open` allows it.
INLINE void draw_object(Grid &g, const V &v, i32 down, i32 right, const Rows &open) {
  Patch p = patch_of(v);
  Rows where = moved(p.mask, p.top + down, p.left + right) & open;
  if (p.color != PLANES) return paint_rows(g, where, p.color);
  for (u32 k = 0; k < 4; k++)
    g.plane[k] = without(g.plane[k], where) | (moved(plane_of(v, k), p.top + down, p.left + right) & where);
}
/// No colour: drawing does not look at what is below.
const u32 ANYTHING = 16;
/// Draws cells one after the other, moved, on the grid and stores it at `to`. With a colour `under`,
/// only where it shows. Returns whether their sequence matters.
INLINE bool draw_cells(const Grid &g, u32 *to, const V &list, i32 down, i32 right, u32 under) {
  const V *cells = (const V *)list.bits;
  Rows open = under == ANYTHING ? area_of(g) : of_color(g, under);
  return rows_of(rows([&](u32 l) {
    u32 p0 = g.plane[0][l], p1 = g.plane[1][l], p2 = g.plane[2][l], p3 = g.plane[3][l];
    u32 drawn = 0, clash = 0;
    for (u32 k = 0; k < list.len; k++) {
      i32 i = row_of(cells[k].len) + down, j = column_of(cells[k].len) + right;
      if (i != (i32)l || j < 0 || j >= 32) continue;
      u32 bit = 1u << j, color = cells[k].a;
      if (!(open[l] & bit) || color == under) continue;
      u32 old = (p0 >> j & 1) | (p1 >> j & 1) << 1 | (p2 >> j & 1) << 2 | (p3 >> j & 1) << 3;
      if (drawn & bit && old != color) clash = 1;
      // The background does not show any more.
      if (drawn & bit && under != ANYTHING) continue;
      drawn |= bit;
      p0 = color & 1 ? p0 | bit : p0 & ~bit;
      p1 = color & 2 ? p1 | bit : p1 & ~bit;
      p2 = color & 4 ? p2 | bit : p2 & ~bit;
      p3 = color & 8 ? p3 | bit : p3 & ~bit;
    }
    if (l < g.height) to[l] = p0, to[32 + l] = p1, to[64 + l] = p2, to[96 + l] = p3;
    return clash;
  })) != 0;
}
/// The grid with the cells of an object, which has some.
INLINE V painted(const Ctx &c, const V &grid, V obj, u32 under) {
  Grid g = grid_of(grid);
  if (obj.kind == OBJECT) {
    draw_object(g, obj, 0, 0, under == ANYTHING ? area_of(g) : of_color(g, under));
    return value_of(c, g);
  }
  u32 *to = (u32 *)room_for(c, GRID_BYTES);
  if (!to) return stopped(MEMORY);
  if (draw_cells(g, to, obj, 0, 0, under) && obj.kind == SET && obj.c != IN_ORDER) {
    obj = with_order(c, obj);
    if (!is_value(obj)) return obj;
    sync();
    draw_cells(g, to, obj, 0, 0, under);
  }
  return make(GRID, grid.a, grid.b, 0, 0, (u64)to);
}

/// The WIDE grid with an object, moved, where the colour `under` shows.
CALLED V painted_wide(const Ctx c, const V grid, const V obj, i32 down, i32 right, u32 under) {
  if (obj.kind != OBJECT) return stopped(SIZE);
  down += row_of(obj.len), right += column_of(obj.len);
  Board where = moved(widened(load_rows(payload_of(obj), obj.a)), down, right);
  where = where & (under == ANYTHING ? wide_area(grid) : wide_of_color(grid, under));
  return wide_value(c, grid.a, grid.b, [&](u32 k) {
    return without(wide_plane(grid, k), where) | (moved(widened(plane_of(obj, k)), down, right) & where);
  });
}
/// The WIDE grid with the cells of a tuple or a set, which has some.
CALLED V listed_wide(const Ctx c, const V grid, const V list) {
  if (costs_much(grid, list)) return stopped(LIMIT);
  u32 *words = (u32 *)take(c, 2 * WIDE_SIDE * 4);
  if (!words) return stopped(MEMORY);
  bool clash = false;
  V v = wide_value(c, grid.a, grid.b, [&](u32 k) {
    auto with_bit = [&](u32 bit) {
      return board_of_items(words, (const V *)list.bits, list.len, [&](const V &cell) { return (cell.a >> k & 1u) == bit; });
    };
    Board ones = with_bit(1), zeros = with_bit(0);
    if (!is_empty(ones & zeros & wide_area(grid))) clash = true;
    return without(wide_plane(grid, k), zeros) | ones;
  });
  // Two cells at one place are rare.
  return clash ? stopped(ORDER) : v;
}
INLINE V painted_on_wide(const Ctx &c, const V &grid, const V &obj, bool under) {
  if (has_cells(obj)) {
    if (obj.kind != OBJECT) return under ? stopped(SIZE) : listed_wide(c, grid, obj);
    return painted_wide(c, grid, obj, 0, 0, under ? common_in_wide(grid, true) : ANYTHING);
  }
  V failed = no_cells(obj);
  return failed.kind == NONE ? grid : failed;
}
ROW_OP(paint)(const Ctx &c, Any grid, Any obj) {
  if (grid.kind == WIDE) return painted_on_wide(c, grid, obj, false);
  if (grid.kind != GRID) return no_dims(grid);
  if (has_cells(obj)) return painted(c, grid, obj, ANYTHING);
  V failed = no_cells(obj);
  return failed.kind == NONE ? grid : failed;
}
ROW_OP(underpaint)(const Ctx &c, Any grid, Any obj) {
  if (grid.kind == WIDE) return painted_on_wide(c, grid, obj, true);
  if (grid.kind != GRID) return no_dims(grid);
  if (has_cells(obj)) return painted(c, grid, obj, most_common(grid_of(grid)));
  V failed = no_cells(obj);
  return failed.kind == NONE ? grid : failed;
}
CALLED V moved_on_wide(const Ctx c, const V grid, const V obj, const V offset) {
  if (obj.kind != OBJECT || offset.kind != PAIR) return stopped(SIZE);
  V v = filled_wide(c, grid, none(), obj, COVER);
  return is_value(v) ? painted_wide(c, v, obj, row_of(offset.len), column_of(offset.len), ANYTHING) : v;
}
ROW_OP(move)(const Ctx &c, Any grid, V obj, V offset) {
  if (grid.kind == WIDE) return moved_on_wide(c, grid, obj, offset);
  if (grid.kind != GRID) return no_colors(grid, obj);
  Grid g = grid_of(grid);
  Rows where;
  V failed = locations_in(c, obj, g, &where);
  if (failed.kind != NONE) return failed;
  if (!has_cells(obj)) {
    // Only an empty patch is not shifted.
    if (is_empty_container(obj)) return grid;
    return offset.kind == PAIR ? no_cells(obj) : no_pair(offset);
  }
  if (offset.kind != PAIR) return no_pair(offset);
  i32 down = row_of(offset.len), right = column_of(offset.len);
  if (!is_empty(where)) paint_rows(g, where, most_common(g));
  if (obj.kind == OBJECT) {
    draw_object(g, obj, down, right, area_of(g));
    return value_of(c, g);
  }
  u32 *to = (u32 *)room_for(c, GRID_BYTES);
  if (!to) return stopped(MEMORY);
  // `shift` builds a set in an order of its own.
  if (draw_cells(g, to, obj, down, right, ANYTHING)) return stopped(ORDER);
  return make(GRID, grid.a, grid.b, 0, 0, (u64)to);
}
