// Grids put together, cut and painted.

/// A bound of a slice of n elements, with Python's rules.
INLINE u32 slice_bound(i64 bound, u32 n) {
  if (bound < 0) bound += n;
  return bound < 0 ? 0 : bound > (i64)n ? n : (u32)bound;
}

/// `v[from:to]` of a tuple. Rows and elements stay where they are.
OUTLINE V tuple_sliced(Ctx &c, V v, i64 from, i64 to) {
  if (!is_tuple(v)) return failed(TYPE_);
  u32 n = length(c, v), first = slice_bound(from, n), end = max_of(slice_bound(to, n), first);
  spend(c, n / 64);
  if (v.kind == GRID) return grid_done(c, bytes_of(c, v) + first * width_of(v), end - first, width_of(v));
  if (v.kind == ROW) return row_at(c, bytes_of(c, v) + first, end - first);
  V *items = elements(c, v);
  CHECK(c);
  return tuple_done(c, items + first, end - first);
}

/// Rows and columns of a grid, in half-open ranges inside it.
OUTLINE V grid_cut(Ctx &c, const Grid &g, u32 top, u32 bottom, u32 left, u32 right) {
  const u8 *from = g.cells + top * g.width + left;
  if (right - left == g.width) return grid_done(c, from, bottom - top, g.width);
  return grid_read(c, from, bottom - top, right - left, (i32)g.width, 1);
}

/// The bounds of `v[start[axis] : start[axis] + dims[axis]]`.
OUTLINE V span_of(Ctx &c, V start, V dims, u32 axis, i64 *from, i64 *to) {
  V x = at(c, start, axis);
  TRY(x);
  V y = at(c, dims, axis);
  TRY(y);
  if (!is_number(x) || !is_number(y)) return failed(TYPE_);
  V end = on_numbers(c, ADD, number_of(x), number_of(y));
  TRY(end);
  *from = number_of(x);
  *to = int_of(end);
  return none();
}

OUTLINE V cropped(Ctx &c, V grid, V start, V dims) {
  i64 top, bottom, left, right;
  V fault = span_of(c, start, dims, 0, &top, &bottom);
  TRY(fault);
  Grid g;
  if (as_grid(c, grid, &g)) {
    u32 first = slice_bound(top, g.height), end = slice_bound(bottom, g.height);
    // Without rows nobody looks at the columns.
    if (end <= first) return empty_tuple();
    fault = span_of(c, start, dims, 1, &left, &right);
    TRY(fault);
    u32 begin = slice_bound(left, g.width);
    return grid_cut(c, g, first, end, begin, max_of(slice_bound(right, g.width), begin));
  }
  CHECK(c);
  V rows = tuple_sliced(c, grid, top, bottom);
  TRY(rows);
  u32 n = length(c, rows);
  if (n == 0) return empty_tuple();
  fault = span_of(c, start, dims, 1, &left, &right);
  TRY(fault);
  ROOM(V, parts, c, n);
  for (u32 k = 0; k < n; k++) {
    V part = tuple_sliced(c, item(c, rows, k), left, right);
    TRY(part);
    put(parts + k, part);
  }
  return tuple_done(c, parts, n);
}

OP(crop)(Ctx &c, V grid, V start, V dims) { return cropped(c, grid, start, dims); }
OP(subgrid)(Ctx &c, V patch, V grid) {
  Grid g;
  if (is_patch(patch) && patch.len && as_grid(c, grid, &g)) {
    Bounds b = bounds_of(c, patch);
    u32 top = slice_bound(b.top, g.height), left = slice_bound(b.left, g.width);
    u32 bottom = slice_bound(b.bottom + 1, g.height), right = slice_bound(b.right + 1, g.width);
    return grid_cut(c, g, top, max_of(bottom, top), left, max_of(right, left));
  }
  CHECK(c);
  V start = op_ulcorner(c, patch);
  TRY(start);
  V dims = op_shape(c, patch);
  TRY(dims);
  return cropped(c, grid, start, dims);
}

// ---- Joining -----------------------------------------------------------------------------------------------------

/// `tuple(x + y for x, y in zip(a, b))`.
OUTLINE V rows_joined(Ctx &c, V a, V b) {
  if (!is_container(a) || !is_container(b)) return failed(TYPE_);
  u32 n = min_of(length(c, a), length(c, b));
  if (n == 0) return empty_tuple();
  bool some_a = false, some_b = false;
  u32 count_a = length(c, a), count_b = length(c, b);
  spend(c, (count_a + count_b) / 8);
  for (u32 k = lane(); k < count_a; k += LANES) some_a |= is_addable(item(c, a, k));
  for (u32 k = lane(); k < count_b; k += LANES) some_b |= is_addable(item(c, b, k));
  // Whichever meet first.
  if (!any(some_a) || !any(some_b)) return failed(TYPE_);
  NEED_ORDER(c, a);
  NEED_ORDER(c, b);
  ROOM(V, rows, c, n);
  for (u32 k = 0; k < n; k++) {
    V row = values_added(c, item(c, a, k), item(c, b, k));
    TRY(row);
    put(rows + k, row);
  }
  return tuple_done(c, rows, n);
}

OP(hconcat)(Ctx &c, V a, V b) {
  Grid x, y;
  if (as_grid(c, a, &x) && as_grid(c, b, &y)) {
    u32 height = min_of(x.height, y.height), width = x.width + y.width;
    u64 n = (u64)height * width;
    if (n > MOST_ELEMENTS) return stop(c, SIZE);
    ROOM(u8, cells, c, n);
    spend_shared(c, n / 8);
    for (u32 k = lane(); k < n; k += LANES) {
      u32 i = k / width, j = k - i * width;
      cells[k] = j < x.width ? x.cells[i * x.width + j] : y.cells[i * y.width + j - x.width];
    }
    return grid_done(c, cells, height, width);
  }
  CHECK(c);
  return rows_joined(c, a, b);
}
OP(vconcat)(Ctx &c, V a, V b) {
  Grid x, y;
  if (as_grid(c, a, &x) && as_grid(c, b, &y) && x.width == y.width) {
    u32 n = x.height * x.width, m = y.height * y.width;
    if ((u64)n + m > MOST_ELEMENTS) return stop(c, SIZE);
    ROOM(u8, cells, c, n + m);
    spend_shared(c, (n + m) / 8);
    copy(cells, x.cells, n);
    copy(cells + n, y.cells, m);
    return grid_done(c, cells, x.height + y.height, x.width);
  }
  CHECK(c);
  return values_added(c, a, b);
}

// ---- Cutting into parts ------------------------------------------------------------------------------------------

/// One part of a split: from `start` on, `len` long.
OUTLINE V part_of(Ctx &c, V grid, const Grid *g, i64 start, i64 len, u32 height, u32 width, bool across) {
  i64 total = across ? width : height;
  if (g) {
    // tokpidjin's parts are whole or ().
    if (triples(c) && (start >= total || start + len > total)) return empty_tuple();
    u32 from = (u32)min_of(start, total), to = (u32)min_of(start + len, total);
    return across ? grid_cut(c, *g, 0, height, from, to) : grid_cut(c, *g, from, to, 0, width);
  }
  V at = across ? int_pair(c, 0, start) : int_pair(c, start, 0);
  TRY(at);
  V dims = across ? int_pair(c, height, len) : int_pair(c, len, width);
  TRY(dims);
  return triples(c) ? safely(c, tok_crop(c, grid, at, dims), TO_EMPTY_TUPLE) : cropped(c, grid, at, dims);
}

OUTLINE V split(Ctx &c, V grid, V n, bool across) {
  u32 height = 0, width = 0;
  V fault = extent_of(c, grid, &height, &width);
  // Python divides the height before it looks at the width, so a zero fails first.
  if (across) TRY(fault);
  if (!is_container(grid) || !is_number(n)) return failed(TYPE_);
  i64 count = number_of(n), total = across ? width : length(c, grid);
  V len = floor_div(total, count);
  TRY(len);
  if (count > (i64)MOST_ELEMENTS) return stop(c, SIZE);
  TRY(fault);
  if (count <= 0) return empty_tuple();
  // Where something remains, every part is followed by a separator.
  i64 step = int_of(len) + (total % count != 0);
  Grid g;
  bool compact = as_grid(c, grid, &g);
  CHECK(c);
  ROOM(V, parts, c, count);
  spend(c, count);
  for (i64 k = 0; k < count; k++) {
    V part = part_of(c, grid, compact ? &g : nullptr, k * step, int_of(len), height, width, across);
    TRY(part);
    put(parts + k, part);
  }
  return tuple_done(c, parts, (u32)count);
}

OP(hsplit)(Ctx &c, V grid, V n) { return split(c, grid, n, true); }
OP(vsplit)(Ctx &c, V grid, V n) { return split(c, grid, n, false); }

OP(trim)(Ctx &c, V grid) {
  Grid g;
  if (as_grid(c, grid, &g)) {
    u32 bottom = max_of(g.height - 1, 1u), right = max_of(g.width - 1, 1u);
    return grid_cut(c, g, 1, bottom, 1, right);
  }
  CHECK(c);
  V rows = tuple_sliced(c, grid, 1, -1);
  TRY(rows);
  u32 n = length(c, rows);
  ROOM(V, parts, c, n + 1);
  for (u32 k = 0; k < n; k++) {
    V part = tuple_sliced(c, item(c, rows, k), 1, -1);
    TRY(part);
    put(parts + k, part);
  }
  return tuple_done(c, parts, n);
}

OP(tophalf)(Ctx &c, V grid) {
  if (!is_tuple(grid)) return failed(TYPE_);
  return tuple_sliced(c, grid, 0, length(c, grid) / 2);
}
OP(bottomhalf)(Ctx &c, V grid) {
  if (!is_tuple(grid)) return failed(TYPE_);
  u32 n = length(c, grid);
  return tuple_sliced(c, grid, n / 2 + n % 2, n);
}

/// The left or right half; rows that are no rectangle are turned, halved and turned back.
OUTLINE V side_half(Ctx &c, V grid, bool right) {
  Grid g;
  if (as_grid(c, grid, &g)) {
    if (g.width == 1) return empty_tuple();
    return right ? grid_cut(c, g, 0, g.height, g.width / 2 + g.width % 2, g.width)
                 : grid_cut(c, g, 0, g.height, 0, g.width / 2);
  }
  CHECK(c);
  V half = turned(c, grid, QUARTER);
  TRY(half);
  half = right ? op_bottomhalf(c, half) : op_tophalf(c, half);
  TRY(half);
  return turned(c, half, THREE_QUARTERS);
}
OP(lefthalf)(Ctx &c, V grid) { return side_half(c, grid, false); }
OP(righthalf)(Ctx &c, V grid) { return side_half(c, grid, true); }

// ---- Colours -----------------------------------------------------------------------------------------------------

/// `grid[i][j]`.
INLINE V value_at(Ctx &c, V grid, u32 i, u32 j) {
  V row = at(c, grid, i);
  TRY(row);
  return at(c, row, j);
}

/// `cellwise` of anything.
OUTLINE V rows_compared(Ctx &c, V a, V b, V fallback) {
  u32 height, width;
  V fault = extent_of(c, a, &height, &width);
  TRY(fault);
  ROOM(V, rows, c, height);
  for (u32 i = 0; i < height; i++) {
    ROOM(V, values, c, width + 1);
    spend(c, width);
    for (u32 j = 0; j < width; j++) {
      V x = value_at(c, a, i, j);
      TRY(x);
      V y;
      if (triples(c)) {
        V place = int_pair(c, i, j);
        TRY(place);
        y = safely(c, tok_index(c, b, place), TO_ZERO);
      } else {
        y = value_at(c, b, i, j);
      }
      TRY(y);
      bool same = equal(c, x, y);
      CHECK(c);
      put(values + j, same ? x : fallback);
    }
    V row = tuple_done(c, values, width);
    TRY(row);
    put(rows + i, row);
  }
  return tuple_done(c, rows, height);
}

OP(cellwise)(Ctx &c, V a, V b, V fallback) {
  Grid x, y;
  if (is_byte(fallback) && as_grid(c, a, &x) && as_grid(c, b, &y)) {
    // Outside of the second grid, tokpidjin finds a value that equals none.
    if (!triples(c) && (y.height < x.height || y.width < x.width)) return failed(INDEX_);
    u32 n = x.height * x.width;
    ROOM(u8, cells, c, n);
    spend_shared(c, n / 8);
    for (u32 k = lane(); k < n; k += LANES) {
      u32 i = k / x.width, j = k - i * x.width;
      bool same = i < y.height && j < y.width && y.cells[i * y.width + j] == x.cells[k];
      cells[k] = same ? x.cells[k] : (u8)fallback.lo;
    }
    return grid_done(c, cells, x.height, x.width);
  }
  CHECK(c);
  return rows_compared(c, a, b, fallback);
}

/// What becomes of colours: `from` becomes `to`, and otherwise, if there are two, `second` becomes `third`.
struct Exchange {
  V from, to, second, third;
  bool two;
};

/// The colour 0 to 255 that a value equals, -1 for none.
INLINE i32 color_of(V v) {
  i64 n;
  return integral(v, &n) && n >= 0 && n <= 255 ? (i32)n : -1;
}

/// Rows of these values, `height * width` of them.
OUTLINE V rows_of_values(Ctx &c, const V *values, u32 height, u32 width) {
  ROOM(V, rows, c, height + 1);
  for (u32 i = 0; i < height; i++) {
    V row = tuple_done(c, values + i * width, width);
    TRY(row);
    put(rows + i, row);
  }
  return tuple_done(c, rows, height);
}

OUTLINE V grid_exchanged(Ctx &c, const Grid &g, const Exchange &x) {
  u32 n = g.height * g.width;
  i32 first = color_of(x.from), second = x.two ? color_of(x.second) : -1;
  bool has_first = false, has_second = false;
  for (u32 k = lane(); k < n; k += LANES) {
    has_first |= g.cells[k] == first;
    has_second |= g.cells[k] != first && g.cells[k] == second;
  }
  has_first = any(has_first);
  has_second = any(has_second);
  bool plain = is_byte(x.from) && is_byte(x.to) && (!x.two || (is_byte(x.second) && is_byte(x.third)));
  spend_shared(c, plain ? n / 8 : n / 2);
  if (!has_first && !has_second) return grid_done(c, g.cells, g.height, g.width);
  if ((!has_first || is_byte(x.to)) && (!has_second || is_byte(x.third))) {
    ROOM(u8, cells, c, n);
    for (u32 k = lane(); k < n; k += LANES) {
      u8 color = g.cells[k];
      cells[k] = color == first ? (u8)x.to.lo : color == second ? (u8)x.third.lo : color;
    }
    return grid_done(c, cells, g.height, g.width);
  }
  ROOM(V, values, c, n);
  for (u32 k = lane(); k < n; k += LANES) {
    u8 color = g.cells[k];
    values[k] = color == first ? x.to : color == second ? x.third : integer(color);
  }
  return rows_of_values(c, values, g.height, g.width);
}

OUTLINE V colors_exchanged(Ctx &c, V grid, const Exchange &x) {
  Grid g;
  if (as_grid(c, grid, &g)) return grid_exchanged(c, g, x);
  CHECK(c);
  if (!is_container(grid)) return failed(TYPE_);
  u32 height = length(c, grid);
  bool wrong = false;
  for (u32 k = lane(); k < height; k += LANES) wrong |= !is_container(item(c, grid, k));
  if (any(wrong)) return failed(TYPE_);
  NEED_ORDER(c, grid);
  ROOM(V, rows, c, height + 1);
  for (u32 i = 0; i < height; i++) {
    V row = item(c, grid, i);
    NEED_ORDER(c, row);
    u32 width = length(c, row);
    spend(c, width);
    ROOM(V, values, c, width + 1);
    for (u32 j = 0; j < width; j++) {
      V v = item(c, row, j);
      // To exchange two colours Python asks a list for the value, which finds a nan by identity.
      if (x.two ? equal_member(c, v, x.from, 0) : equal(c, v, x.from)) v = x.to;
      else if (x.two && equal_member(c, v, x.second, 0)) v = x.third;
      CHECK(c);
      put(values + j, v);
    }
    row = tuple_done(c, values, width);
    TRY(row);
    put(rows + i, row);
  }
  return tuple_done(c, rows, height);
}

OP(replace)(Ctx &c, V grid, V replacee, V replacer) {
  Exchange x = {replacee, replacer, none(), none(), false};
  return colors_exchanged(c, grid, x);
}
OP(switch)(Ctx &c, V grid, V a, V b) {
  Exchange x = {b, a, a, b, true};
  return colors_exchanged(c, grid, x);
}

OP(canvas)(Ctx &c, V value, V dimensions) {
  V height = at(c, dimensions, 0);
  TRY(height);
  if (!is_number(height)) return failed(TYPE_);
  if (number_of(height) <= 0) return empty_tuple();
  V width = at(c, dimensions, 1);
  TRY(width);
  if (!is_number(width)) return failed(TYPE_);
  i64 rows = number_of(height), columns = max_of(number_of(width), (i64)0);
  if (rows > (i64)MOST_ELEMENTS || columns > (i64)MOST_ELEMENTS) return stop(c, SIZE);
  u64 n = (u64)rows * columns;
  if (n > MOST_ELEMENTS) return stop(c, SIZE);
  spend_shared(c, n / 8);
  if (is_byte(value)) {
    ROOM(u8, cells, c, n + 1);
    fill_with(cells, (u8)value.lo, (u32)n);
    return grid_done(c, cells, (u32)rows, (u32)columns);
  }
  // One row is all rows.
  ROOM(V, items, c, (u64)columns + 1);
  fill_with(items, value, (u32)columns);
  V row = tuple_done(c, items, (u32)columns);
  TRY(row);
  ROOM(V, lines, c, rows);
  fill_with(lines, row, (u32)rows);
  return tuple_done(c, lines, (u32)rows);
}

// ---- Painting ----------------------------------------------------------------------------------------------------

/// A patch, set or tuple, as a list of locations or of cells; none() when it is something else.
OUTLINE V patch_list(Ctx &c, V patch) {
  if (is_patch(patch)) return patch;
  if (is_tuple(patch) && length(c, patch) == 0) return empty_set();
  bool rows = patch.kind == GRID && (width_of(patch) == 2 || (width_of(patch) == 3 && triples(c)));
  if (patch.kind != TUPLE && !rows) return none();
  V *items = elements(c, patch);
  CHECK(c);
  V list = list_of(c, items, length(c, patch));
  return list.kind == SET_V ? none() : list;
}

INLINE bool in_grid(const Grid &g, i32 i, i32 j) { return (u32)i < g.height && (u32)j < g.width; }

/// The cells of a grid, copied to be painted on.
OUTLINE u8 *cells_copied(Ctx &c, const Grid &g) {
  u32 n = g.height * g.width;
  u8 *cells = room_for<u8>(c, n);
  if (!cells) return nullptr;
  spend_shared(c, n / 8);
  copy(cells, g.cells, n);
  sync();
  return cells;
}

/// The colour to look for underneath; NOTHING: paint everywhere.
const u32 NOTHING = 256;

/// Paints locations in one colour.
OUTLINE V grid_filled(Ctx &c, const Grid &g, V list, u8 color, u32 under) {
  u8 *cells = cells_copied(c, g);
  CHECK(c);
  spend_shared(c, list.len);
  for (u32 k = lane(); k < list.len; k += LANES) {
    u32 at = location(c, list, k);
    if (!in_grid(g, row_of(at), column_of(at))) continue;
    u32 place = (u32)row_of(at) * g.width + (u32)column_of(at);
    if (under == NOTHING || g.cells[place] == under) cells[place] = color;
  }
  return grid_done(c, cells, g.height, g.width);
}

/// Paints a list of cells, moved by a vector, on cells in the arena. False: several colours met at one location, and
/// what is there now is one of them.
OUTLINE bool paint_cells(Ctx &c, const Grid &g, u8 *cells, V list, i32 down, i32 across, u32 under) {
  spend_shared(c, list.len);
  bool met = false;
  for (u32 round = 0; round < 2; round++) {
    for (u32 k = lane(); k < list.len; k += LANES) {
      Dot d = dots_of(c, list)[k];
      i32 i = row_of(d.at) + down, j = column_of(d.at) + across;
      if (!in_grid(g, i, j)) continue;
      u32 place = (u32)i * g.width + (u32)j;
      if (under != NOTHING && g.cells[place] != under) continue;
      if (round == 0) cells[place] = (u8)d.color;
      else met |= cells[place] != (u8)d.color;
    }
    sync();
  }
  return !any(met);
}

/// Paints them one after the other, which decides about locations of several colours.
OUTLINE void paint_in_order(Ctx &c, const Grid &g, u8 *cells, V list, u32 under) {
  copy(cells, g.cells, g.height * g.width);
  sync();
  spend(c, list.len);
  if (lane() == 0) {
    for (u32 k = 0; k < list.len; k++) {
      Dot d = dots_of(c, list)[k];
      if (!in_grid(g, row_of(d.at), column_of(d.at))) continue;
      u32 place = (u32)row_of(d.at) * g.width + (u32)column_of(d.at);
      if (under == NOTHING || cells[place] == under) cells[place] = (u8)d.color;
    }
  }
  sync();
}

/// Paints a list of cells whose colours a packed grid can hold. `source` is where the list comes from.
OUTLINE V grid_painted(Ctx &c, const Grid &g, V list, V source, u32 under) {
  u8 *cells = cells_copied(c, g);
  CHECK(c);
  if (!paint_cells(c, g, cells, list, 0, 0, under)) {
    NEED_ORDER(c, source);
    paint_in_order(c, g, cells, list, under);
  }
  return grid_done(c, cells, g.height, g.width);
}

/// Can the list be painted on a packed grid: cells of colours 0 to 255, or nothing?
OUTLINE bool is_paintable(Ctx &c, V list) {
  if (list.kind != SET_C) return is_set(list) && list.len == 0;
  bool other = false;
  for (u32 k = lane(); k < list.len; k += LANES) other |= (u32)dots_of(c, list)[k].color > 255;
  return !any(other);
}

/// A grid of any values, opened for painting. Rows may differ in length.
struct Sheet {
  u32 height, width; // the width is that of the first row
  u32 *starts;       // where the rows begin, and where the last one ends
  V *values;
};

OUTLINE V sheet_of(Ctx &c, V grid, Sheet *s) {
  V fault = extent_of(c, grid, &s->height, &s->width);
  TRY(fault);
  u64 total = 0;
  s->starts = room_for<u32>(c, s->height + 1);
  CHECK(c);
  for (u32 i = 0; i < s->height; i++) {
    V row = item(c, grid, i);
    if (!is_container(row)) return failed(TYPE_);
    NEED_ORDER(c, row);
    put(s->starts + i, (u32)total);
    total += length(c, row);
    if (total > MOST_ELEMENTS) return stop(c, SIZE);
  }
  put(s->starts + s->height, (u32)total);
  sync();
  spend(c, total / 4 + s->height);
  s->values = room_for<V>(c, total + 1);
  CHECK(c);
  for (u32 i = 0; i < s->height; i++) {
    V row = item(c, grid, i);
    u32 n = length(c, row);
    for (u32 k = lane(); k < n; k += LANES) s->values[s->starts[i] + k] = item(c, row, k);
  }
  sync();
  return none();
}

OUTLINE V sheet_done(Ctx &c, const Sheet &s) {
  ROOM(V, rows, c, s.height);
  for (u32 i = 0; i < s.height; i++) {
    V row = tuple_done(c, s.values + s.starts[i], s.starts[i + 1] - s.starts[i]);
    TRY(row);
    put(rows + i, row);
  }
  return tuple_done(c, rows, s.height);
}

/// `0 <= x < end`: 1, 0, or -1 for what is no number.
INLINE i32 lies_within(V x, u32 end) {
  if (!is_numeric(x)) return -1;
  if (x.kind == FLOAT) return float_of(x) >= 0.0 && float_of(x) < (double)end;
  return number_of(x) >= 0 && number_of(x) < (i64)end;
}

/// Writes a value at (i, j) if that lies inside, and if a value equal to `under` is there now.
OUTLINE V sheet_put(Ctx &c, const Sheet &s, V i, V j, V v, const V *under) {
  i32 inside = lies_within(i, s.height);
  if (inside > 0) inside = lies_within(j, s.width);
  if (inside == 0) return none();
  if (inside < 0 || i.kind == FLOAT || j.kind == FLOAT) return failed(TYPE_);
  u32 row = (u32)number_of(i), column = (u32)number_of(j);
  if (column >= s.starts[row + 1] - s.starts[row]) return failed(INDEX_);
  V *place = s.values + s.starts[row] + column;
  if (under && !equal(c, *place, *under)) return none();
  sync();
  put(place, v);
  sync();
  return none();
}

/// Paints anything on any grid: the locations of a patch with a value, or (`value` null) cells with their own.
OUTLINE V sheet_painted(Ctx &c, V grid, V patch, const V *value, const V *under) {
  Sheet s;
  V fault = sheet_of(c, grid, &s);
  TRY(fault);
  if (value) patch = triples(c) ? safely(c, tok_toindices(c, patch), TO_EMPTY_SET) : op_toindices(c, patch);
  TRY(patch);
  if (!is_container(patch)) return failed(TYPE_);
  u32 n = length(c, patch);
  spend(c, n);
  fault = none();
  for (u32 k = 0; k < n; k++) {
    V parts[3], mark = item(c, patch, k);
    V done = value ? unpacked(c, mark, 2, parts) : uncelled(c, mark, parts);
    if (!is_bad(done)) done = sheet_put(c, s, parts[0], parts[1], value ? *value : parts[2], under);
    CHECK(c);
    if (!is_bad(done)) continue;
    if (in_order(patch)) return done;
    if (fault.kind == FAILED && fault.flags != done.flags) return stop(c, FAULTS);
    fault = done;
  }
  TRY(fault);
  // Cells may meet at one location.
  if (!value) NEED_ORDER(c, patch);
  return sheet_done(c, s);
}

/// `fill`, or `underfill` where `under` shows, in both dialects.
OUTLINE V filled(Ctx &c, V grid, V value, V patch, const V *under) {
  Grid g;
  if (is_byte(value) && (!under || is_byte(*under))) {
    V list = patch_list(c, patch);
    CHECK(c);
    if (is_set(list) && as_grid(c, grid, &g))
      return grid_filled(c, g, list, (u8)value.lo, under ? under->lo : NOTHING);
    CHECK(c);
  }
  return sheet_painted(c, grid, patch, &value, under);
}

/// `paint`, or `underpaint` where `under` shows, in both dialects.
OUTLINE V painted(Ctx &c, V grid, V obj, const V *under) {
  Grid g;
  if (!under || is_byte(*under)) {
    V list = patch_list(c, obj);
    CHECK(c);
    if (is_paintable(c, list) && as_grid(c, grid, &g))
      return grid_painted(c, g, list, obj, under ? under->lo : NOTHING);
    CHECK(c);
  }
  return sheet_painted(c, grid, obj, nullptr, under);
}

/// `mostcolor` of the dialect.
INLINE V background_of(Ctx &c, V grid) {
  return triples(c) ? safely(c, tok_mostcolor_t(c, grid), TO_ZERO) : op_mostcolor(c, grid);
}

/// Where arc-dsl looks at the size of a grid before anything else.
INLINE V sized(Ctx &c, V grid) {
  u32 height, width;
  return triples(c) ? none() : extent_of(c, grid, &height, &width);
}

OP(fill)(Ctx &c, V grid, V value, V patch) { return filled(c, grid, value, patch, nullptr); }
OP(paint)(Ctx &c, V grid, V obj) { return painted(c, grid, obj, nullptr); }
OP(underfill)(Ctx &c, V grid, V value, V patch) {
  V fault = sized(c, grid);
  TRY(fault);
  V background = background_of(c, grid);
  TRY(background);
  return filled(c, grid, value, patch, &background);
}
OP(underpaint)(Ctx &c, V grid, V obj) {
  V fault = sized(c, grid);
  TRY(fault);
  V background = background_of(c, grid);
  TRY(background);
  return painted(c, grid, obj, &background);
}
OP(cover)(Ctx &c, V grid, V patch) {
  V background = background_of(c, grid);
  TRY(background);
  V list = patch_list(c, patch);
  CHECK(c);
  if (list.kind == NONE)
    patch = triples(c) ? safely(c, tok_toindices(c, patch), TO_EMPTY_SET) : op_toindices(c, patch);
  TRY(patch);
  return filled(c, grid, background, patch, nullptr);
}

/// `move` of an object whose cells do not meet; none() where that does not apply.
OUTLINE V grid_moved(Ctx &c, V grid, V obj, V offset) {
  Grid g;
  if (offset.kind != PAIR || !is_patch(obj) || !is_paintable(c, obj) || !as_grid(c, grid, &g)) return none();
  V background = background_of(c, grid);
  TRY(background);
  if (!is_byte(background)) return none();
  u8 *cells = cells_copied(c, g);
  CHECK(c);
  for (u32 k = lane(); k < obj.len; k += LANES) {
    u32 at = location(c, obj, k);
    if (in_grid(g, row_of(at), column_of(at))) cells[row_of(at) * g.width + column_of(at)] = (u8)background.lo;
  }
  sync();
  if (!paint_cells(c, g, cells, obj, row_of(offset.lo), column_of(offset.lo), NOTHING)) {
    // The order of the moved object decides.
    return c.exact ? none() : stop(c, ORDER);
  }
  return grid_done(c, cells, g.height, g.width);
}

OP(move)(Ctx &c, V grid, V obj, V offset) {
  V quick = grid_moved(c, grid, obj, offset);
  CHECK(c);
  if (quick.kind != NONE) return quick;
  V covered = op_cover(c, grid, obj);
  TRY(covered);
  V moved = op_shift(c, obj, offset);
  TRY(moved);
  return painted(c, covered, moved, nullptr);
}

// ---- Leaving out what has one colour --------------------------------------------------------------------------------

/// The numbers k below n for which `varied(k)`, one lane each; how many there are.
template <class Varied> INLINE u32 numbers_kept(u32 n, u16 *numbers, Varied varied) {
  u32 count = 0;
  for (u32 from = 0; from < n; from += LANES) {
    u32 k = from + lane();
    bool mine = k < n && varied(k);
    u32 bits = ballot(mine);
    if (mine) numbers[count + popcount(bits & lanes_before())] = (u16)k;
    count += popcount(bits);
  }
  sync();
  return count;
}

OUTLINE V grid_compressed(Ctx &c, const Grid &g) {
  u32 mark = c.top;
  ROOM(u16, rows, c, g.height);
  ROOM(u16, columns, c, g.width);
  spend(c, g.height * g.width / 8);
  const u8 *cells = g.cells;
  u32 width = g.width, height = g.height;
  u32 tall = numbers_kept(height, rows, [=](u32 i) {
    for (u32 j = 1; j < width; j++)
      if (cells[i * width + j] != cells[i * width]) return true;
    return false;
  });
  u32 wide = numbers_kept(width, columns, [=](u32 j) {
    for (u32 i = 1; i < height; i++)
      if (cells[i * width + j] != cells[j]) return true;
    return false;
  });
  u32 n = tall * wide;
  if (n == 0) {
    c.top = mark;
    return grid_done(c, cells, tall, wide);
  }
  ROOM(u8, kept, c, n);
  for (u32 k = lane(); k < n; k += LANES) kept[k] = cells[rows[k / wide] * width + columns[k % wide]];
  return grid_done(c, kept, tall, wide);
}

/// Has the container exactly one distinct element?
OUTLINE bool is_uniform(Ctx &c, V v) {
  u32 n = length(c, v);
  if (is_set(v)) return n == 1;
  spend(c, n);
  bool same = n > 0;
  for (u32 k = 1; k < n && same && !c.stop; k++) same = equal_member(c, item(c, v, k), item(c, v, 0), 0);
  return same;
}

/// Marks the members of a container that are uniform; a fault when one is no container.
OUTLINE V mark_uniform(Ctx &c, V v, u8 *marks) {
  u32 n = length(c, v);
  bool wrong = false;
  for (u32 k = lane(); k < n; k += LANES) wrong |= !is_container(item(c, v, k));
  if (any(wrong)) return failed(TYPE_);
  for (u32 k = 0; k < n; k++) {
    bool uniform = is_uniform(c, item(c, v, k));
    CHECK(c);
    put(marks + k, (u8)uniform);
  }
  sync();
  return none();
}

OUTLINE V rows_compressed(Ctx &c, V grid) {
  if (!is_container(grid)) return failed(TYPE_);
  u32 height = length(c, grid);
  ROOM(u8, dull_rows, c, height + 1);
  V fault = mark_uniform(c, grid, dull_rows);
  TRY(fault);
  V mirrored = triples(c) ? safely(c, tok_dmirror_t(c, grid), TO_EMPTY_TUPLE) : op_dmirror(c, grid);
  TRY(mirrored);
  u32 width = length(c, mirrored);
  ROOM(u8, dull_columns, c, width + 1);
  fault = mark_uniform(c, mirrored, dull_columns);
  TRY(fault);
  NEED_ORDER(c, grid);
  NEED_ORDER(c, mirrored);
  ROOM(V, rows, c, height + 1);
  u32 count = 0;
  for (u32 i = 0; i < height; i++) {
    if (dull_rows[i]) continue;
    V row = item(c, grid, i);
    NEED_ORDER(c, row);
    u32 n = length(c, row), kept = 0;
    ROOM(V, values, c, n + 1);
    for (u32 j = 0; j < n; j++)
      if (j >= width || !dull_columns[j]) put(values + kept++, item(c, row, j));
    row = tuple_done(c, values, kept);
    TRY(row);
    put(rows + count++, row);
  }
  return tuple_done(c, rows, count);
}

OP(compress)(Ctx &c, V grid) {
  Grid g;
  if (as_grid(c, grid, &g)) return grid_compressed(c, g);
  CHECK(c);
  return rows_compressed(c, grid);
}

// ---- tokpidjin ---------------------------------------------------------------------------------------------------

TOK(crop)(Ctx &c, V grid, V start, V dims) {
  if (is_tuple(grid) && length(c, grid) == 0) return empty_tuple();
  u32 extents[2];
  V fault = extent_of(c, grid, extents, extents + 1);
  TRY(fault);
  for (u32 axis = 0; axis < 2; axis++) {
    V from = at(c, start, axis);
    TRY(from);
    if (!is_numeric(from)) return failed(TYPE_);
    if (lies_within(from, extents[axis]) == 0) return empty_tuple();
  }
  for (u32 axis = 0; axis < 2; axis++) {
    V len = at(c, dims, axis);
    TRY(len);
    if (!is_numeric(len)) return failed(TYPE_);
    V to = on_values(c, ADD, at(c, start, axis), len);
    TRY(to);
    V end = integer(extents[axis]);
    if (!less(c, to, end) && !equal(c, to, end)) return empty_tuple();
  }
  return cropped(c, grid, start, dims);
}
TOK(subgrid)(Ctx &c, V patch, V grid) {
  if (is_container(patch) && length(c, patch) == 0) return empty_tuple();
  V start, dims;
  if (is_patch(patch)) {
    Bounds b = bounds_of(c, patch);
    start = pair_of_word(pair_word(b.top, b.left));
    dims = int_pair(c, b.bottom - b.top + 1, b.right - b.left + 1);
  } else {
    start = safely(c, tok_ulcorner(c, patch), TO_EMPTY_TUPLE);
    TRY(start);
    dims = safely(c, tok_shape_f(c, patch), TO_EMPTY_TUPLE);
  }
  TRY(dims);
  return tok_crop(c, grid, start, dims);
}
SAME2(hconcat, hconcat)
SAME2(vconcat, vconcat)
SAME2(hsplit, hsplit)
SAME2(vsplit, vsplit)
SAME3(cellwise, cellwise)
SAME3(replace, replace)
SAME3(switch, switch)
SAME2(canvas, canvas)
SAME3(fill, fill)
SAME2(paint, paint)
SAME3(underfill, underfill)
SAME2(underpaint, underpaint)
SAME2(cover, cover)
TOK(move)(Ctx &c, V grid, V obj, V offset) {
  V quick = obj.kind == SET_C ? grid_moved(c, grid, obj, offset) : none();
  CHECK(c);
  if (quick.kind != NONE) return quick;
  V covered = safely(c, tok_cover(c, grid, obj), TO_EMPTY_TUPLE);
  TRY(covered);
  V moved = safely(c, tok_shift(c, obj, offset), TO_EMPTY_SET);
  TRY(moved);
  return tok_paint(c, covered, moved);
}
SAME1(trim, trim)
SAME1(tophalf, tophalf)
SAME1(bottomhalf, bottomhalf)
// Once a turn falls back to (), all that follows is ().
SAME1(lefthalf, lefthalf)
SAME1(righthalf, righthalf)
SAME1(compress, compress)
