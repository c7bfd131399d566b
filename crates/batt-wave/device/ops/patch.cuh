// Patches: their bounds, distances and moves, and the lines and boxes around them.

/// Python's KeyError.
const FaultCode KEY_ = (FaultCode)2;

// ---- Arguments ------------------------------------------------------------------------------------------

/// Locations or cells that are no patch: they lie far apart, a location has several colours, or a tuple
/// holds them. The rows of a grid of two columns are locations, too.
struct Points {
  const V *at;
  const u32 *planes; // of a grid, or null
  u32 count;
  bool cells;
};

/// The location of a point.
INLINE u32 location_at(const Points &p, u32 k) {
  if (!p.planes) return p.at[k].len;
  u32 i = 0, j = 0;
  for (u32 plane = 0; plane < 4; plane++) {
    u32 row = p.planes[32 * plane + k];
    i |= (row & 1) << plane;
    j |= (row >> 1 & 1) << plane;
  }
  return place((i32)i, (i32)j);
}

/// Whether a value consists of points, all locations or all cells.
INLINE bool points_of(const V &v, Points *p) {
  p->at = nullptr;
  p->planes = nullptr;
  if (v.kind == GRID && v.b == 2) {
    p->planes = (const u32 *)v.bits;
    p->count = v.a;
    p->cells = false;
    return true;
  }
  if ((v.kind != TUPLE && v.kind != SET) || v.len == 0) return false;
  p->at = (const V *)v.bits;
  p->count = v.len;
  u8 kind = p->at[0].kind;
  p->cells = kind == CELL;
  if (kind != PAIR && kind != CELL) return false;
  for (u32 k = 1; k < p->count; k++)
    if (p->at[k].kind != kind) return false;
  return true;
}

/// The first and the last rows and columns, all included.
struct Extent {
  i32 top, left, bottom, right;
};

/// Whether a value is a patch or consists of points; an empty one has no extent.
INLINE bool extent_of(const V &v, Extent *e) {
  if (is_patch(v)) {
    e->top = row_of(v.len);
    e->left = column_of(v.len);
    e->bottom = e->top + v.a - 1;
    e->right = e->left + v.b - 1;
    return size_of_patch(v) != 0;
  }
  Points p;
  if (!points_of(v, &p)) return false;
  e->top = e->bottom = row_of(location_at(p, 0));
  e->left = e->right = column_of(location_at(p, 0));
  for (u32 k = 1; k < p.count; k++) {
    i32 i = row_of(location_at(p, k)), j = column_of(location_at(p, k));
    e->top = min_of(e->top, i);
    e->bottom = max_of(e->bottom, i);
    e->left = min_of(e->left, j);
    e->right = max_of(e->right, j);
  }
  return true;
}
INLINE i32 height_in(const Extent &e) { return e.bottom - e.top + 1; }
INLINE i32 width_in(const Extent &e) { return e.right - e.left + 1; }
/// Whether a patch may have this extent.
INLINE bool fits_board(const Extent &e) { return height_in(e) <= (i32)SIDE && width_in(e) <= (i32)SIDE; }
INLINE bool fits_numbers(const Extent &e) {
  return fits_16(e.top) && fits_16(e.left) && fits_16(e.bottom) && fits_16(e.right);
}
/// Whether `len(v)` is 0.
INLINE bool has_no_elements(const V &v) {
  return is_patch(v) ? size_of_patch(v) == 0 : (v.kind == TUPLE || v.kind == SET) && v.len == 0;
}

/// Whether a value is a tuple in Python.
INLINE bool is_tuple(const V &v) { return is_any_tuple(v); }
/// Whether `v[1]` raises TypeError.
INLINE bool has_no_places(const V &v) { return v.kind < PAIR || is_patch(v) || v.kind == SET || v.kind == OP; }

/// The length of a tuple of any kind; 2 for a cell of three, too.
INLINE u32 tuple_length(const V &v) {
  return has_lines(v) || v.kind == WIDE ? v.a : v.kind == TUPLE ? v.len : 2;
}
/// The fault that an element raises if it comes first in a patch; None if it may be part of one.
INLINE V fault_of_first(const V &v) {
  if (has_no_places(v)) return fault(TYPE_);
  u32 length = tuple_length(v);
  if (length < 2) return fault(INDEX_);
  // With a tuple in the second place it passes for a cell, which has no third one.
  bool cell = has_lines(v) || v.kind == WIDE || (v.kind == TUPLE && is_tuple(((const V *)v.bits)[1]));
  return cell && length > 2 ? fault(VALUE_) : none();
}
/// The fault that any value raises because of its first element, or None.
INLINE V fault_of_start(const V &v) {
  if (v.kind < PAIR || v.kind == PAIR || v.kind == CELL || v.kind == OP) return fault(TYPE_);
  if ((v.kind != TUPLE && v.kind != SET) || v.len == 0) return none();
  const V *items = (const V *)v.bits;
  V first = fault_of_first(items[0]);
  if (v.kind == TUPLE || v.c == IN_ORDER) return first;
  for (u32 k = 1; k < v.len; k++) {
    V other = fault_of_first(items[k]);
    if (other.kind != first.kind || other.a != first.a) return stopped(ORDER);
  }
  return first;
}
/// Does a container have tuples of three and more numbers only, and some?
INLINE bool has_long_elements(const V &v) {
  if ((v.kind != TUPLE && v.kind != SET) || v.len == 0) return false;
  for (u32 k = 0; k < v.len; k++) {
    const V &row = ((const V *)v.bits)[k];
    if (row.kind != TUPLE || row.len < 3) return false;
    for (u32 j = 0; j < row.len; j++)
      if (((const V *)row.bits)[j].kind != INT) return false;
  }
  return true;
}
/// What a value without an extent gives where Python needs one, and unpacks its elements.
INLINE V no_bounds(const V &v) {
  if (has_no_elements(v)) return fault(VALUE_);
  V start = fault_of_start(v);
  if (start.kind != NONE) return start;
  // The rows of a grid pass for locations if they are as long.
  if (v.kind == WIDE && v.b == 2) return stopped(SIZE);
  if (has_long_elements(v)) return fault(VALUE_);
  return is_any_grid(v) ? fault(v.b == 1 ? INDEX_ : VALUE_) : stopped(ODD);
}
/// What a value that is no pair gives where Python unpacks one.
INLINE V no_unpacking(const V &v) {
  u32 length = 2;
  if (v.kind < PAIR || v.kind == OP) return fault(TYPE_);
  if (v.kind == GRID) length = v.a;
  if (v.kind == TUPLE || v.kind == SET) length = v.len;
  if (is_patch(v)) length = size_of_patch(v);
  return length == 2 ? stopped(ODD) : fault(VALUE_);
}

/// The length of a container, or the fault of `len`.
INLINE V length_or_fault(const V &v) {
  switch (v.kind) {
    case PAIR:
    case CELL: return integer(2);
    case GRID:
    case RAGGED:
    case WIDE: return integer(v.a);
    case INDICES:
    case OBJECT: return integer(size_of_patch(v));
    case TUPLE:
    case SET: return integer(v.len);
    default: return fault(TYPE_);
  }
}
/// `len(v[0])`.
INLINE V first_length(const V &v) {
  switch (v.kind) {
    case GRID:
    case WIDE: return integer(v.b);
    case RAGGED: return integer(((const u32 *)v.bits)[128]);
    case TUPLE: return v.len ? length_or_fault(*(const V *)v.bits) : fault(INDEX_);
    default: return fault(TYPE_);
  }
}

/// The locations of a patch or of points in a board that starts at (top, left).
INLINE Rows locations_in(const V &v, i32 top, i32 left) {
  if (is_patch(v)) {
    if (size_of_patch(v) == 0) return no_rows();
    return moved(load_rows(payload_of(v), v.a), row_of(v.len) - top, column_of(v.len) - left);
  }
  Points p;
  points_of(v, &p);
  return rows([&](u32 l) {
    u32 own = 0;
    for (u32 k = 0; k < p.count; k++) {
      u32 at = location_at(p, k);
      i32 j = column_of(at) - left;
      if (row_of(at) - top == (i32)l && j >= 0 && j < (i32)SIDE) own |= 1u << j;
    }
    return own;
  });
}

// ---- Results --------------------------------------------------------------------------------------------

/// The indices with this extent, whose locations stand in a board that starts where the extent does.
INLINE V board_of(const Ctx &c, const Rows &mask, const Extent &e, u32 size) {
  if (!fits_numbers(e)) return stopped(SIZE);
  u32 height = (u32)height_in(e), width = (u32)width_in(e);
  u32 *to = (u32 *)room_for(c, height * 4);
  if (!to) return stopped(MEMORY);
  store_rows(to, mask, height);
  return make(INDICES, (u8)height, (u8)width, 0, place(e.top, e.left), (u64)to | (u64)size << 48);
}
/// All locations of an extent.
INLINE V full_board(const Ctx &c, const Extent &e) {
  if (!fits_board(e)) return stopped(SIZE);
  u32 height = (u32)height_in(e), width = (u32)width_in(e);
  return walked(board_of(c, rectangle(height, width), e, height * width), ROWS_BUILT);
}
/// The outline of an extent.
INLINE V frame_board(const Ctx &c, const Extent &e) {
  if (!fits_board(e)) return stopped(SIZE);
  u32 height = (u32)height_in(e), width = (u32)width_in(e), last = height - 1, ends = 1u | 1u << (width - 1);
  u32 inside = height > 2 && width > 2 ? (height - 2) * (width - 2) : 0;
  Rows mask = rows([&](u32 l) { return l == 0 || l == last ? low(width) : l < last ? ends : 0u; });
  return walked(board_of(c, mask, e, height * width - inside), FRAME);
}

/// A patch with other colours, or another place, and the same locations, made of each other by one lane.
INLINE V same_board(const Ctx &c, Kind kind, const V &v, u8 color, u32 at) {
  V made = make(kind, v.a, v.b, color, at, (u64)payload_of(v) | (u64)size_of_patch(v) << 48);
  return made_alone(c, made, v, SAME_PLACES);
}

/// The set of points, or of their locations, by a lane alone. They must be within a board.
INLINE V gathered_alone(const Ctx &c, const Points &p, const Extent &e, bool as_cells) {
  if (!fits_board(e)) return stopped(SIZE);
  u32 height = (u32)height_in(e), boards = as_cells ? 5 : 1, size = 0;
  u32 *to = (u32 *)take_alone(c, height * boards * 4);
  if (!to) return stopped(MEMORY);
  for (u32 l = 0; l < height * boards; l++) to[l] = 0;
  u8 color = as_cells ? p.at[0].a : 0;
  for (u32 k = 0; k < p.count; k++) {
    u32 at = location_at(p, k), j = (u32)(column_of(at) - e.left);
    u32 *row = to + (row_of(at) - e.top);
    bool known = *row >> j & 1;
    size += !known;
    *row |= 1u << j;
    if (!as_cells) continue;
    u8 own = p.at[k].a;
    if (own != color) color = PLANES;
    for (u32 plane = 0; plane < 4; plane++) {
      u32 *bits = row + (plane + 1) * height;
      // Cells of two colours at one location are no patch.
      if (known && (*bits >> j & 1) != (own >> plane & 1u)) return stopped(ODD);
      *bits |= (own >> plane & 1u) << j;
    }
  }
  Kind kind = as_cells ? OBJECT : INDICES;
  return make(kind, (u8)height, (u8)width_in(e), color, place(e.top, e.left), (u64)to | (u64)size << 48);
}
/// The set of an image of each element of a set, by a lane alone. No two images are equal, and they are
/// no patch, as the elements are none.
template <class F> INLINE V mapped_alone(const Ctx &c, const V &set, F image) {
  V *to = (V *)take_alone(c, (u64)(set.len + NOTE_ROOM) * sizeof(V));
  if (!to) return stopped(MEMORY);
  const V *from = (const V *)set.bits;
  bool ordered = set.c == IN_ORDER, walk = !ordered && may_walk(set), many = levels_of(set) == MOST_LEVELS;
  if (walk && many && list_alone(c, set, to).kind == NONE) from = to, ordered = true;
  for (u32 k = 0; k < set.len; k++) to[k] = image(from[k]);
  if (walk && !many) return set_of_images(to, set.len, set, nullptr);
  return make(SET, 0, 0, ordered ? BUILT : UNKNOWN, set.len, (u64)to);
}

// ---- Locations and cells --------------------------------------------------------------------------------

THREAD_OP(toindices)(const Ctx &c, V patch) {
  if (patch.kind == OBJECT) return same_board(c, INDICES, patch, 0, patch.len);
  if (patch.kind == INDICES) return patch;
  if (has_no_elements(patch)) return empty_patch();
  V start = fault_of_start(patch);
  if (start.kind != NONE) return start;
  if (patch.kind == GRID) return patch.b == 1 ? fault(INDEX_) : patch;
  Points p;
  if (!points_of(patch, &p)) return stopped(ODD);
  if (!p.cells) return patch;
  Extent e;
  extent_of(patch, &e);
  return gathered_alone(c, p, e, false);
}

ROW_OP(asindices)(const Ctx &c, Any grid) {
  if (grid.kind == WIDE) return indices_in_wide(c, wide_area(grid));
  V height = length_or_fault(grid);
  if (!is_value(height)) return height;
  if (int_of(height) == 0) return empty_patch();
  V width = first_length(grid);
  if (!is_value(width)) return width;
  if (int_of(width) == 0) return empty_patch();
  if (int_of(height) > SIDE || int_of(width) > SIDE) return stopped(SIZE);
  Extent e = {0, 0, (i32)int_of(height) - 1, (i32)int_of(width) - 1};
  return full_board(c, e);
}

ROW_OP(asobject)(const Ctx &c, Any grid) {
  if (grid.kind == WIDE) return cells_of_wide(c, grid);
  if (has_no_elements(grid) || has_empty_rows(grid)) return empty_patch();
  if (grid.kind < GRID) return fault(TYPE_);
  if (grid.kind != GRID && grid.kind != RAGGED) return stopped(ODD);
  Grid g = grid_of(grid);
  Rows area;
  if (grid.kind == GRID) {
    area = area_of(g);
  } else {
    Rows widths = load_rows((const u32 *)grid.bits + 128, g.height);
    area = rows([&](u32 l) { return low(widths[l]); });
  }
  return walked(object(c, area, 0, 0, common_color(g, area), g.plane), ROWS_BUILT);
}

/// The cells of a WIDE grid at the locations of a patch.
CALLED V object_in_wide(const Ctx c, const V patch, const V grid) {
  if (!is_patch(patch)) return stopped(SIZE);
  i32 up = -row_of(patch.len), across = -column_of(patch.len);
  Rows mask = load_rows(payload_of(patch), patch.a) & moved(wide_area(grid), up, across).part[0][0], plane[4];
  for (u32 k = 0; k < 4; k++) plane[k] = moved(wide_plane(grid, k), up, across).part[0][0];
  return object(c, mask, -up, -across, one_color(mask, plane), plane);
}
ROW_OP(toobject)(const Ctx &c, V patch, Any grid) {
  if (grid.kind < GRID) return fault(TYPE_);
  if (grid.kind == TUPLE && grid.len == 0) return fault(INDEX_);
  if (grid.kind > RAGGED && grid.kind != TUPLE && grid.kind != WIDE) return fault(TYPE_);
  if (!is_any_grid(grid)) return stopped(ODD);
  if (has_no_elements(patch)) return empty_patch();
  Points p;
  if (!is_patch(patch) && !points_of(patch, &p)) return no_bounds(patch);
  V v;
  if (grid.kind == WIDE) {
    v = object_in_wide(c, patch, grid);
    if (!is_patch(patch)) return v;
  } else {
    Grid g = grid_of(grid);
    Rows mask = locations_in(patch, 0, 0) & area_of(g);
    v = object(c, mask, 0, 0, common_color(g, mask), g.plane);
  }
  // Those of a set of more than a board are in its order.
  if (!is_patch(patch)) return p.cells || patch.kind != SET ? v : made_of(c, v, patch, GATHER);
  // Python goes through the set of locations.
  V from = patch;
  if (from.kind == OBJECT) {
    from = make(INDICES, from.a, from.b, 0, from.len, (u64)payload_of(from) | (u64)size_of_patch(from) << 48);
    from = made_of(c, from, patch, SAME_PLACES);
  }
  return made_of(c, v, from, GATHER);
}

THREAD_OP(recolor)(const Ctx &c, V value, V patch) {
  if (has_no_elements(patch)) return empty_patch();
  // Room of its own: the result has the other one.
  Ctx inner = c;
  inner.payload = 0;
  V found = op_toindices(inner, patch);
  if (!is_value(found)) return found;
  if (value.kind != INT || value.bits > 15) return stopped(ODD);
  u8 color = (u8)value.bits;
  Points p;
  Extent e;
  if (is_tuple(found) && points_of(found, &p) && extent_of(found, &e)) found = gathered_alone(c, p, e, false);
  if (found.kind == INDICES) return same_board(c, OBJECT, found, color, found.len);
  if (found.kind != SET || !points_of(found, &p)) return is_value(found) ? stopped(ODD) : found;
  return mapped_alone(c, found, [&](const V &at) { return make(CELL, color, 0, 0, at.len, 0); });
}

/// A patch with elements, or points, moved by a lane alone.
INLINE V shifted(const Ctx &c, const V &patch, i32 down, i32 right) {
  Extent e;
  if (!extent_of(patch, &e)) return no_bounds(patch);
  e.top += down, e.left += right, e.bottom += down, e.right += right;
  if (!fits_numbers(e)) return stopped(SIZE);
  if (is_patch(patch)) return same_board(c, (Kind)patch.kind, patch, patch.c, place(e.top, e.left));
  if (patch.kind == SET)
    return mapped_alone(c, patch, [&](V v) {
      v.len = place(row_of(v.len) + down, column_of(v.len) + right);
      return v;
    });
  Points p;
  points_of(patch, &p);
  extent_of(patch, &e);
  V v = gathered_alone(c, p, e, p.cells);
  if (is_value(v)) v.len = place(e.top + down, e.left + right);
  return v;
}

/// Whether a tuple begins with two small numbers. True and False are numbers, too, but not plain ones.
INLINE bool two_numbers(const V &v, bool plain, i32 *i, i32 *j) {
  if (v.kind == PAIR) {
    *i = row_of(v.len);
    *j = column_of(v.len);
    return true;
  }
  if (v.kind != TUPLE || v.len < 2) return false;
  const V *items = (const V *)v.bits;
  if (!is_int(items[0]) || !is_int(items[1]) || (plain && (items[0].kind == BOOL || items[1].kind == BOOL)))
    return false;
  *i = (i32)int_of(items[0]);
  *j = (i32)int_of(items[1]);
  return fits_16(int_of(items[0])) && fits_16(int_of(items[1]));
}

THREAD_OP(shift)(const Ctx &c, V patch, V directions) {
  if (has_no_elements(patch)) return patch;
  // `len` comes first.
  if (patch.kind < PAIR || patch.kind == OP) return fault(TYPE_);
  i32 down, right;
  bool two = directions.kind == PAIR || directions.len == 2;
  if (two && two_numbers(directions, false, &down, &right)) return shifted(c, patch, down, right);
  // A number and a location do not add up.
  if (directions.kind == CELL && is_patch(patch)) return fault(TYPE_);
  return no_unpacking(directions);
}

THREAD_OP(normalize)(const Ctx &c, V patch) {
  if (has_no_elements(patch)) return patch;
  Extent e;
  if (!extent_of(patch, &e)) return no_bounds(patch);
  return shifted(c, patch, -e.top, -e.left);
}

ROW_OP(corners)(const Ctx &c, V patch) {
  if (has_no_elements(patch)) {
    V *to = (V *)take(c, sizeof(V));
    if (!to) return stopped(MEMORY);
    put(to, make(TUPLE, 0, 0, 0, 0, 0));
    sync();
    return make(SET, 0, 0, IN_ORDER, 1, (u64)to);
  }
  Extent e;
  if (!extent_of(patch, &e)) {
    // Python looks the third column up among two.
    return (patch.kind == GRID && patch.b > 2) || has_long_elements(patch) ? fault(KEY_) : no_bounds(patch);
  }
  if (fits_board(e)) {
    u32 last = (u32)(e.bottom - e.top), ends = 1u | 1u << (e.right - e.left);
    Rows mask = rows([&](u32 l) { return l == 0 || l == last ? ends : 0u; });
    return walked(board_of(c, mask, e, (last ? 2 : 1) * popcount(ends)), ROWS_FROZEN);
  }
  V *to = (V *)take(c, 4 * sizeof(V));
  if (!to) return stopped(MEMORY);
  put(to, pair(e.top, e.left));
  put(to + 1, pair(e.top, e.right));
  put(to + 2, pair(e.bottom, e.left));
  put(to + 3, pair(e.bottom, e.right));
  sync();
  return set_of(c, to, 4, SEQUENCED);
}

// ---- Bounds ---------------------------------------------------------------------------------------------

/// Calls `f(extent)` for a value that has one.
template <class F> INLINE V with_extent(const V &v, F f) {
  Extent e;
  return extent_of(v, &e) ? f(e) : no_bounds(v);
}

THREAD_OP(uppermost)(const Ctx &, Any patch) {
  return with_extent(patch, [](const Extent &e) { return integer(e.top); });
}
THREAD_OP(lowermost)(const Ctx &, Any patch) {
  return with_extent(patch, [](const Extent &e) { return integer(e.bottom); });
}
THREAD_OP(leftmost)(const Ctx &, Any patch) {
  return with_extent(patch, [](const Extent &e) { return integer(e.left); });
}
THREAD_OP(rightmost)(const Ctx &, Any patch) {
  return with_extent(patch, [](const Extent &e) { return integer(e.right); });
}

/// The same for corners: those of the empty patch are empty, and a grid has some of all its columns.
template <class F> INLINE V with_corner(const V &v, bool all_columns, F f) {
  if (has_no_elements(v)) return make(TUPLE, 0, 0, 0, 0, 0);
  if ((v.kind == GRID && v.b > 2) || has_long_elements(v)) return all_columns ? stopped(ODD) : fault(KEY_);
  return with_extent(v, f);
}

THREAD_OP(ulcorner)(const Ctx &, V patch) {
  return with_corner(patch, true, [](const Extent &e) { return pair(e.top, e.left); });
}
THREAD_OP(urcorner)(const Ctx &, V patch) {
  return with_corner(patch, false, [](const Extent &e) { return pair(e.top, e.right); });
}
THREAD_OP(llcorner)(const Ctx &, V patch) {
  return with_corner(patch, false, [](const Extent &e) { return pair(e.bottom, e.left); });
}
THREAD_OP(lrcorner)(const Ctx &, V patch) {
  return with_corner(patch, true, [](const Extent &e) { return pair(e.bottom, e.right); });
}

/// The height of a piece, or a fault.
INLINE V height_of(const V &v) {
  V length = length_or_fault(v);
  if (!is_value(length) || int_of(length) == 0 || is_tuple(v)) return length;
  return with_extent(v, [](const Extent &e) { return integer(height_in(e)); });
}
/// The width of a piece, or a fault.
INLINE V width_of(const V &v) {
  V length = length_or_fault(v);
  if (!is_value(length) || int_of(length) == 0) return length;
  if (is_tuple(v)) return first_length(v);
  return with_extent(v, [](const Extent &e) { return integer(width_in(e)); });
}
/// Calls `f(height, width)` for a piece.
template <class F> INLINE V with_shape(const V &v, F f) {
  V height = height_of(v);
  if (!is_value(height)) return height;
  V width = width_of(v);
  return is_value(width) ? f(int_of(height), int_of(width)) : width;
}

THREAD_OP(height)(const Ctx &, Any piece) { return height_of(piece); }
THREAD_OP(width)(const Ctx &, Any piece) { return width_of(piece); }
THREAD_OP(shape)(const Ctx &, Any piece) {
  return with_shape(piece, [](i64 height, i64 width) {
    return fits_16(height) && fits_16(width) ? pair((i32)height, (i32)width) : stopped(SIZE);
  });
}
THREAD_OP(portrait)(const Ctx &, Any piece) {
  return with_shape(piece, [](i64 height, i64 width) { return boolean(height > width); });
}
THREAD_OP(square)(const Ctx &, Any piece) {
  if (is_tuple(piece) && has_no_elements(piece)) return fault(INDEX_);
  return with_shape(piece, [&](i64 height, i64 width) {
    bool full = is_tuple(piece) || height * width == int_of(length_or_fault(piece));
    return boolean(full && height == width);
  });
}
THREAD_OP(vline)(const Ctx &, V patch) {
  return with_shape(patch, [&](i64 height, i64 width) {
    return boolean(height == int_of(length_or_fault(patch)) && width == 1);
  });
}
THREAD_OP(hline)(const Ctx &, V patch) {
  return with_shape(patch, [&](i64 height, i64 width) {
    return boolean(width == int_of(length_or_fault(patch)) && height == 1);
  });
}

/// The centre of a value with an extent.
struct Middle {
  i32 i, j;
};
INLINE Middle middle_of(const V &v, const Extent &e, bool as_tuple) {
  // The height of a tuple is its length, and its width that of its first element.
  i32 height = as_tuple ? (i32)(v.kind == GRID ? v.a : v.len) : height_in(e);
  i32 width = as_tuple ? 2 : width_in(e);
  Middle m = {e.top + height / 2, e.left + width / 2};
  return m;
}

THREAD_OP(center)(const Ctx &, Any patch) {
  return with_extent(patch, [&](const Extent &e) {
    Middle m = middle_of(patch, e, is_tuple(patch));
    return fits_16(m.i) && fits_16(m.j) ? pair(m.i, m.j) : stopped(SIZE);
  });
}

/// The sum of the numbers of the columns that a row has.
INLINE u32 sum_of_columns(u32 x) {
  return popcount(x & 0xaaaaaaaau) + 2 * popcount(x & 0xccccccccu) + 4 * popcount(x & 0xf0f0f0f0u) +
         8 * popcount(x & 0xff00ff00u) + 16 * popcount(x & 0xffff0000u);
}
INLINE i64 floor_divided(i64 n, i64 by) { return n >= 0 ? n / by : -((by - 1 - n) / by); }

ROW_OP(centerofmass)(const Ctx &, V patch) {
  if (has_no_elements(patch)) return make(TUPLE, 0, 0, 0, 0, 0);
  Extent e;
  if (!extent_of(patch, &e)) {
    bool long_rows = (patch.kind == GRID && patch.b > 1) || has_long_elements(patch);
    return long_rows ? stopped(ODD) : no_bounds(patch);
  }
  i64 down = 0, right = 0, size = int_of(length_or_fault(patch));
  Points p;
  if (points_of(patch, &p) && !p.cells) {
    for (u32 k = 0; k < p.count; k++) {
      down += row_of(location_at(p, k));
      right += column_of(location_at(p, k));
    }
  } else {
    // Each location of cells counts once, but the sum is divided by the number of cells.
    if (!fits_board(e)) return stopped(SIZE);
    Rows mask = locations_in(patch, e.top, e.left);
    i64 locations = count(mask);
    down = e.top * locations + sum(rows([&](u32 l) { return l * popcount(mask[l]); }));
    right = e.left * locations + sum(rows([&](u32 l) { return sum_of_columns(mask[l]); }));
  }
  return pair((i32)floor_divided(down, size), (i32)floor_divided(right, size));
}

THREAD_OP(bordering)(const Ctx &, V patch, Any grid) {
  return with_extent(patch, [&](const Extent &e) {
    if (e.top == 0 || e.left == 0) return boolean(true);
    V height = length_or_fault(grid);
    if (!is_value(height)) return height;
    if (e.bottom == int_of(height) - 1) return boolean(true);
    V width = first_length(grid);
    return is_value(width) ? boolean(e.right == int_of(width) - 1) : width;
  });
}

// ---- Two patches ----------------------------------------------------------------------------------------

THREAD_OP(position)(const Ctx &, V a, V b) {
  Extent x, y;
  if (!extent_of(a, &x)) return no_bounds(a);
  if (!extent_of(b, &y)) return no_bounds(b);
  // The locations of cells are a set, also those of a tuple.
  Points p;
  Middle from = middle_of(a, x, is_tuple(a) && points_of(a, &p) && !p.cells);
  Middle to = middle_of(b, y, is_tuple(b) && points_of(b, &p) && !p.cells);
  i32 down = to.i - from.i, right = to.j - from.j;
  // Centres in one row always get a step to the side.
  i32 j = down != 0 && right == 0 ? 0 : right > 0 ? 1 : -1;
  return pair(down == 0 ? 0 : down > 0 ? 1 : -1, j);
}

/// Reads the locations of any value with an extent. None, or why it cannot.
INLINE V read_locations(const V &v, Patch *p) {
  Extent e;
  if (!extent_of(v, &e)) return no_bounds(v);
  if (!fits_board(e)) return stopped(SIZE);
  p->top = e.top;
  p->left = e.left;
  p->height = (u32)height_in(e);
  p->width = (u32)width_in(e);
  p->mask = locations_in(v, e.top, e.left);
  return none();
}
/// Reads those of two values, and calls `f`.
template <class F> INLINE V with_locations(const V &a, const V &b, F f) {
  Patch x = {}, y = {};
  V odd = read_locations(a, &x);
  if (odd.kind == NONE) odd = read_locations(b, &y);
  return odd.kind == NONE ? f(x, y) : odd;
}

/// Whether two patches have a row in common.
INLINE bool share_row(const Patch &x, const Patch &y) {
  return rows_of(x.mask) & shift_up(rows_of(y.mask), y.top - x.top);
}
INLINE bool share_column(const Patch &x, const Patch &y) {
  return columns_of(x.mask) & shift_up(columns_of(y.mask), y.left - x.left);
}

INLINE V matching(const V &a, const V &b, bool by_row) {
  Extent e;
  // Nothing matches what is empty, but both are read.
  if (has_no_elements(a)) return has_no_elements(b) || extent_of(b, &e) ? boolean(false) : no_bounds(b);
  if (has_no_elements(b)) return extent_of(a, &e) ? boolean(false) : no_bounds(a);
  return with_locations(a, b, [&](const Patch &x, const Patch &y) {
    return boolean(by_row ? share_row(x, y) : share_column(x, y));
  });
}
ROW_OP(hmatching)(const Ctx &, V a, V b) { return matching(a, b, true); }
ROW_OP(vmatching)(const Ctx &, V a, V b) { return matching(a, b, false); }

/// How far an interval must move to have something in common with another one.
INLINE i32 way_to(i32 from, u32 length, i32 other, u32 other_length) {
  i32 last = from + (i32)length - 1, other_last = other + (i32)other_length - 1;
  return from > other_last ? other_last - from : last < other ? other - last : 0;
}
INLINE u32 magnitude(i32 n) { return (u32)(n < 0 ? -n : n); }

/// The smallest distance of two patches with elements.
INLINE u32 distance_of(const Patch &x, const Patch &y) {
  // A gap between the boxes is a part of all ways. After it, the boxes have a row and a column in common.
  i32 up = way_to(y.top, y.height, x.top, x.height), across = way_to(y.left, y.width, x.left, x.width);
  u32 steps = magnitude(up) + magnitude(across);
  i32 down = y.top + up - x.top, right = y.left + across - x.left;
  i32 top = min_of(0, down), left = min_of(0, right);
  i32 height = max_of((i32)x.height, down + (i32)y.height) - top;
  i32 width = max_of((i32)x.width, right + (i32)y.width) - left;
  if (height <= (i32)SIDE && width <= (i32)SIDE) {
    Rows near = moved(x.mask, -top, -left), goal = moved(y.mask, down - top, right - left);
    while (is_empty(near & goal)) {
      Rows above = moved(near, 1, 0), below = moved(near, -1, 0);
      near = rows([&](u32 l) { return near[l] | near[l] << 1 | near[l] >> 1 | above[l] | below[l]; });
      steps++;
    }
    return steps;
  }
  // Too much for a board: all pairs of rows.
  Rows best = rows([](u32) { return 128u; });
  for (u32 m = 0; m < y.height; m++) {
    u64 row = (u64)row_at(y.mask, m) << (right - left);
    best = rows([&](u32 l) {
      u64 own = (u64)x.mask[l] << -left;
      u32 n = magnitude(down + (i32)m - (i32)l);
      if (own == 0 || row == 0) return best[l];
      for (u32 k = 0; n + k < best[l]; k++)
        if (own & (row << k | row >> k)) return n + k;
      return best[l];
    });
  }
  return steps + least(best);
}

ROW_OP(manhattan)(const Ctx &, V a, V b) {
  return with_locations(a, b, [](const Patch &x, const Patch &y) { return integer(distance_of(x, y)); });
}

/// Patches of which one moves along the rows: the rows of one that stays, the same rows of the other,
/// and the rows above and below them.
struct Moving {
  Rows still, same, beside;
};
INLINE Moving moving(const Rows &still, const Rows &mover, i32 down) {
  Moving m = {still, moved(mover, down, 0), moved(mover, down - 1, 0) | moved(mover, down + 1, 0)};
  return m;
}
/// Whether they touch and do not overlap, if one moves so far to the right.
INLINE bool are_touching(const Moving &m, i32 right) {
  u32 seen = columns_of(rows([&](u32 l) {
    u32 next = shift_up(m.beside[l], right) | shift_up(m.same[l], right + 1) | shift_up(m.same[l], right - 1);
    return (u32)((m.still[l] & next) != 0) | (u32)((m.still[l] & shift_up(m.same[l], right)) != 0) << 1;
  }));
  return seen == 1;
}

ROW_OP(adjacent)(const Ctx &, V a, V b) {
  return with_locations(a, b, [](const Patch &x, const Patch &y) {
    i32 up = way_to(y.top, y.height, x.top, x.height), across = way_to(y.left, y.width, x.left, x.width);
    if (magnitude(up) + magnitude(across) > 1) return boolean(false);
    return boolean(are_touching(moving(x.mask, y.mask, y.top - x.top), y.left - x.left));
  });
}

/// The most steps of `gravitate`.
const i32 MOST_MOVES = 42;

ROW_OP(gravitate)(const Ctx &, V source, V destination) {
  return with_locations(source, destination, [&](const Patch &y, const Patch &x) {
    Extent e;
    extent_of(source, &e);
    Middle from = middle_of(source, e, is_tuple(source));
    extent_of(destination, &e);
    Middle to = middle_of(destination, e, is_tuple(destination));
    bool upright = share_column(x, y);
    i32 down = y.top - x.top, right = y.left - x.left;
    i32 sense = (upright ? from.i < to.i : from.j < to.j) ? 1 : -1;
    // Columns become rows, so that all movement is along them.
    Moving m = upright ? moving(transposed(x.mask), transposed(y.mask), right) : moving(x.mask, y.mask, down);
    i32 moves = 0, start = upright ? down : right;
    while (moves < MOST_MOVES && !are_touching(m, start + sense * moves)) moves++;
    return upright ? pair(sense * moves, 0) : pair(0, sense * moves);
  });
}

// ---- Lines and boxes ------------------------------------------------------------------------------------

/// Three rows of three columns around a location.
INLINE V around(const Ctx &c, const V &loc, u32 row, u32 middle, u32 size, Walk walk) {
  i32 i, j;
  if (!two_numbers(loc, true, &i, &j)) {
    if (has_no_places(loc) || loc.kind == CELL || loc.kind == GRID) return fault(TYPE_);
    return loc.kind == TUPLE && loc.len == 0 ? fault(INDEX_) : stopped(ODD);
  }
  if (!fits_16(i - 1) || !fits_16(i + 1) || !fits_16(j - 1) || !fits_16(j + 1)) return stopped(SIZE);
  u32 *to = (u32 *)room_alone(c, 12);
  if (!to) return stopped(MEMORY);
  to[0] = to[2] = row;
  to[1] = middle;
  return walked(make(INDICES, 3, 3, 0, place(i - 1, j - 1), (u64)to | (u64)size << 48), walk);
}
THREAD_OP(dneighbors)(const Ctx &c, V loc) { return around(c, loc, 2, 5, 4, CROSS); }
THREAD_OP(ineighbors)(const Ctx &c, V loc) { return around(c, loc, 5, 0, 4, ROWS_FROZEN); }
THREAD_OP(neighbors)(const Ctx &c, V loc) { return around(c, loc, 7, 5, 8, RING); }

/// More locations than a line has that is worth the memory.
const u32 LONGEST_LINE = 2048;

/// The line from one location to another one.
INLINE V line_between(const Ctx &c, i32 i, i32 j, i32 to_i, i32 to_j) {
  i32 down = to_i - i, right = to_j - j;
  u32 rows_down = magnitude(down), rows_right = magnitude(right);
  if (down != 0 && right != 0 && rows_down != rows_right) return empty_patch();
  Extent e = {min_of(i, to_i), min_of(j, to_j), max_of(i, to_i), max_of(j, to_j)};
  if (!fits_numbers(e)) return stopped(SIZE);
  bool rising = down != 0 && right != 0 && (down < 0) != (right < 0);
  u32 n = max_of(rows_down, rows_right) + 1;
  if (n <= SIDE) {
    Rows mask = rows([&](u32 l) {
      if (down == 0) return l == 0 ? low(n) : 0u;
      return l >= n ? 0u : right == 0 ? 1u : 1u << (rising ? n - 1 - l : l);
    });
    return walked(board_of(c, mask, e, n), ROWS_BUILT);
  }
  if (n > LONGEST_LINE) return stopped(SIZE);
  V *items = (V *)room_for(c, n * sizeof(V));
  if (!items) return stopped(MEMORY);
  // Downwards, or to the right: so Python adds them.
  i32 start = rising ? e.right : e.left, step_i = down ? 1 : 0, step_j = right == 0 ? 0 : rising ? -1 : 1;
  (void)rows([&](u32 l) {
    for (u32 k = l; k < n; k += 32) items[k] = pair(e.top + (i32)k * step_i, start + (i32)k * step_j);
    return 0u;
  });
  sync();
  return make(SET, 0, 0, BUILT, n, (u64)items);
}

ROW_OP(connect)(const Ctx &c, V a, V b) {
  if (a.kind == PAIR && b.kind == PAIR)
    return line_between(c, row_of(a.len), column_of(a.len), row_of(b.len), column_of(b.len));
  return no_unpacking(a.kind == PAIR ? b : a);
}

/// Is element k of a tuple of more than k elements a number?
INLINE bool has_number(const Ctx &c, const V &v, u32 k) {
  if (v.kind == TUPLE) return is_int(((const V *)v.bits)[k]);
  return v.kind == PAIR || (v.kind == CELL && (k == 0 || has_triples(c)));
}
ROW_OP(shoot)(const Ctx &c, V start, V direction) {
  i32 down, right;
  // Each number of one is added to that of the other.
  for (u32 k = 0; k < 2; k++) {
    if (has_no_places(start)) return fault(TYPE_);
    if (tuple_length(start) <= k) return fault(INDEX_);
    if (has_no_places(direction)) return fault(TYPE_);
    if (tuple_length(direction) <= k) return fault(INDEX_);
    bool first = has_number(c, start, k), second = has_number(c, direction, k);
    if (first != second) return fault(TYPE_);
    if (!first) return stopped(ODD);
  }
  // `connect` unpacks it.
  if (start.kind == TUPLE && start.len > 2) return fault(VALUE_);
  if (start.kind != PAIR || !two_numbers(direction, false, &down, &right)) return stopped(ODD);
  i32 i = row_of(start.len), j = column_of(start.len);
  return line_between(c, i, j, i + 42 * down, j + 42 * right);
}

/// The last row and column of a frontier.
const i32 FRONTIER = 29;

ROW_OP(vfrontier)(const Ctx &c, V location) {
  i32 i, j;
  if (has_no_places(location)) return fault(TYPE_);
  if (location.kind == TUPLE && location.len > 1) {
    // Only the second element counts.
    V column = ((const V *)location.bits)[1];
    if (column.kind != INT || !fits_16(int_of(column))) return stopped(ODD);
    j = (i32)int_of(column);
  } else if (!two_numbers(location, true, &i, &j)) {
    return stopped(ODD);
  }
  Extent e = {0, j, FRONTIER, j};
  return full_board(c, e);
}

THREAD_OP(hfrontier)(const Ctx &c, V location) {
  if (has_no_places(location)) return fault(TYPE_);
  if (location.kind == TUPLE && location.len == 0) return fault(INDEX_);
  i64 i = location.kind == PAIR ? row_of(location.len) : location.a;
  if (location.kind == TUPLE) {
    const V *items = (const V *)location.bits;
    if (items[0].kind != INT || !fits_16(int_of(items[0]))) return stopped(ODD);
    i = int_of(items[0]);
  } else if (location.kind != PAIR && location.kind != CELL) {
    return stopped(ODD);
  }
  u32 *to = (u32 *)room_alone(c, 4);
  if (!to) return stopped(MEMORY);
  *to = low(FRONTIER + 1);
  V v = make(INDICES, 1, FRONTIER + 1, 0, place((i32)i, 0), (u64)to | (u64)(FRONTIER + 1) << 48);
  return walked(v, ROWS_BUILT);
}

ROW_OP(backdrop)(const Ctx &c, V patch) {
  if (has_no_elements(patch)) return empty_patch();
  return with_extent(patch, [&](const Extent &e) { return full_board(c, e); });
}

ROW_OP(delta)(const Ctx &c, V patch) {
  if (has_no_elements(patch)) return empty_patch();
  return with_extent(patch, [&](const Extent &e) {
    if (!fits_board(e)) return stopped(SIZE);
    // A tuple of locations stays a tuple, which cannot be taken from a set.
    Points p;
    if (is_tuple(patch) && points_of(patch, &p) && !p.cells) return fault(TYPE_);
    Rows box = rectangle((u32)height_in(e), (u32)width_in(e));
    V rest = indices(c, without(box, locations_in(patch, e.top, e.left)), e.top, e.left);
    if (!is_patch(patch) || !is_patch(rest) || size_of_patch(rest) < 2) return rest;
    V whole = walked(indices(c, box, e.top, e.left), ROWS_BUILT);
    // The order of what is taken away does not count.
    if (!is_value(whole)) return rest;
    return made_of_two(c, rest, whole, walked(unordered(patch), ROWS_BUILT), SUBTRACT);
  });
}

/// The outline of an extent that grows on all sides. One that shrinks to nothing turns inside out.
INLINE V resized_frame(const Ctx &c, const V &patch, i32 by) {
  return with_extent(patch, [&](const Extent &e) {
    i32 top = e.top - by, left = e.left - by, bottom = e.bottom + by, right = e.right + by;
    Extent r = {min_of(top, bottom), min_of(left, right), max_of(top, bottom), max_of(left, right)};
    return frame_board(c, r);
  });
}
ROW_OP(box)(const Ctx &c, V patch) { return has_no_elements(patch) ? patch : resized_frame(c, patch, 0); }
ROW_OP(inbox)(const Ctx &c, V patch) { return resized_frame(c, patch, -1); }
ROW_OP(outbox)(const Ctx &c, V patch) { return resized_frame(c, patch, 1); }
