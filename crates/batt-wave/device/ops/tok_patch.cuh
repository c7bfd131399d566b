// Patches in tokpidjin. No function raises: where its body would, the result is its default.

/// The result of a body, or the default if it fails. Limits are no failures.
INLINE V safely(const V &v, const V &fallback) {
  return v.kind == FAULT && v.a != OVERFLOW_ ? fallback : v;
}
INLINE bool is_empty_tuple(const V &v) { return v.kind == TUPLE && v.len == 0; }

// ---- Reading --------------------------------------------------------------------------------------------

/// What a function takes for a patch: names with `_i` take locations, and names with `_o` cells.
enum Reading : u32 { ANY_PATCH, LOCATIONS, CELLS };

/// The points of a container of locations.
INLINE bool location_points(const V &v, Points *p) { return points_of(v, p) && !p->cells; }
/// The points of a container of cells. The rows of a grid of three columns are cells, too.
INLINE bool cell_points(const V &v, Points *p) {
  if (v.kind != GRID || v.b != 3) return points_of(v, p) && p->cells;
  *p = {nullptr, (const u32 *)v.bits, v.a, false};
  return true;
}
INLINE Extent extent_of_points(const Points &p) {
  u32 first = location_at(p, 0);
  Extent e = {row_of(first), column_of(first), row_of(first), column_of(first)};
  for (u32 k = 1; k < p.count; k++) {
    i32 i = row_of(location_at(p, k)), j = column_of(location_at(p, k));
    e.top = min_of(e.top, i);
    e.bottom = max_of(e.bottom, i);
    e.left = min_of(e.left, j);
    e.right = max_of(e.right, j);
  }
  return e;
}

/// The length of element k of a container that is no patch; -1 if it has none.
INLINE i32 inner_length(const Ctx &c, const V &v, u32 k) {
  if (has_rows(v)) return (i32)row_width(v, k);
  if (v.kind == PAIR || v.kind == CELL) return -1;
  return length_alone(c, ((const V *)v.bits)[k]);
}
/// Whether all elements of a container with some have this length.
INLINE bool all_have_length(const Ctx &c, const V &v, i32 n) {
  if (is_patch(v)) return n == (v.kind == OBJECT ? 3 : 2);
  for (u32 k = 0; k < (u32)length_alone(c, v); k++)
    if (inner_length(c, v, k) != n) return false;
  return true;
}
/// The length of the shortest element of a container that is no patch; -1 if one has none.
INLINE i32 shortest_inside(const Ctx &c, const V &v) {
  i32 least = inner_length(c, v, 0);
  for (u32 k = 1; k < (u32)length_alone(c, v); k++) least = min_of(least, inner_length(c, v, k));
  return least;
}

/// What the first element of a container says about the others.
enum First : u32 { NO_PATCH, OF_CELLS, AS_IT_IS, NOT_KNOWN };
INLINE First first_class(const Ctx &c, const V &v) {
  auto class_of = [&](u32 k) {
    i32 n = inner_length(c, v, k);
    return n < 0 ? NO_PATCH : n == 3 ? OF_CELLS : AS_IT_IS;
  };
  First first = class_of(0);
  if (v.kind != SET || v.c == IN_ORDER) return first;
  for (u32 k = 1; k < v.len; k++)
    if (class_of(k) != first) return NOT_KNOWN;
  return first;
}

/// The same as `read_extent` for a value that is no patch.
CALLED V read_extent_of_points(const Ctx &c, const V &v, Reading reading, Extent *e) {
  if (length_alone(c, v) <= 0) return fault(VALUE_);
  Points p;
  if ((reading != CELLS && location_points(v, &p)) || (reading != LOCATIONS && cell_points(v, &p))) {
    *e = extent_of_points(p);
    return none();
  }
  // Whatever comes first, an element of another length fails.
  bool pairs = reading != CELLS && all_have_length(c, v, 2);
  bool triples = reading != LOCATIONS && all_have_length(c, v, 3);
  return pairs || triples ? stopped(ODD) : fault(VALUE_);
}
INLINE Extent extent_of_patch(const V &v) {
  i32 top = row_of(v.len), left = column_of(v.len);
  Extent e = {top, left, top + v.a - 1, left + v.b - 1};
  return e;
}
/// Reads the extent of locations. NONE, or a fault if Python finds no location, or STOPPED.
INLINE V read_extent(const Ctx &c, const V &v, Reading reading, Extent *e) {
  if (!is_patch(v)) return read_extent_of_points(c, v, reading, e);
  *e = extent_of_patch(v);
  bool right = reading == ANY_PATCH || v.kind == (reading == CELLS ? OBJECT : INDICES);
  return right && size_of_patch(v) ? none() : fault(VALUE_);
}
/// Calls `f(extent)`. A value without one gives the default.
template <class F> INLINE V if_readable(const Ctx &c, const V &v, Reading reading, const V &fallback, F f) {
  Extent e;
  V odd = read_extent(c, v, reading, &e);
  return odd.kind == NONE ? f(e) : safely(odd, fallback);
}

/// The locations of cells.
INLINE V without_colors(const Ctx &c, const V &v) {
  if (v.kind == OBJECT) return same_board(c, INDICES, v, 0, v.len);
  Points p;
  if (cell_points(v, &p)) return gathered_alone(c, p, extent_of_points(p), false);
  return all_have_length(c, v, 3) ? stopped(ODD) : empty_patch();
}

THREAD_OP(tok_toindices)(const Ctx &c, V patch) {
  if (patch.kind == OBJECT) return without_colors(c, patch);
  if (patch.kind == INDICES) return patch;
  if (length_alone(c, patch) <= 0) return empty_patch();
  switch (first_class(c, patch)) {
    case NO_PATCH: return empty_patch();
    case OF_CELLS: return without_colors(c, patch);
    case AS_IT_IS: return patch;
    default: return stopped(ORDER);
  }
}
THREAD_OP(tok_toindices_i)(const Ctx &, V indices) { return indices; }
THREAD_OP(tok_toindices_o)(const Ctx &c, V obj) {
  return length_alone(c, obj) <= 0 ? empty_patch() : without_colors(c, obj);
}

// ---- Colours and places ---------------------------------------------------------------------------------

THREAD_OP(tok_recolor_i)(const Ctx &c, V value, V indices) {
  return if_readable(c, indices, LOCATIONS, empty_patch(), [&](const Extent &e) {
    if (value.kind != INT || value.bits > 15) return stopped(ODD);
    u8 color = (u8)value.bits;
    if (indices.kind == SET)
      return mapped_alone(c, indices, [&](const V &at) { return make(CELL, color, 0, 0, at.len, 0); });
    V found = indices;
    Points p;
    if (location_points(indices, &p)) found = gathered_alone(c, p, e, false);
    return is_value(found) ? same_board(c, OBJECT, found, color, found.len) : found;
  });
}
THREAD_OP(tok_recolor_o)(const Ctx &c, V value, V obj) {
  return if_readable(c, obj, CELLS, empty_patch(), [&](const Extent &) {
    V found = without_colors(c, obj);
    if (!is_value(found)) return found;
    if (value.kind != INT || value.bits > 15) return stopped(ODD);
    return same_board(c, OBJECT, found, (u8)value.bits, found.len);
  });
}

/// A patch or points, moved.
CALLED V moved_by(const Ctx &c, const V &patch, i32 down, i32 right) {
  return patch.kind == GRID && patch.b == 3 ? stopped(ODD) : shifted(c, patch, down, right);
}
THREAD_OP(tok_shift)(const Ctx &c, V patch, V directions) {
  if (is_false(patch)) return empty_patch();
  if (is_empty_tuple(directions)) return patch;
  if (length_alone(c, directions) != 2) return empty_patch();
  return if_readable(c, patch, ANY_PATCH, empty_patch(), [&](const Extent &) {
    i32 down, right;
    return two_numbers(directions, false, &down, &right) ? moved_by(c, patch, down, right) : stopped(ODD);
  });
}

/// The patch whose extent begins at the origin. One of the other kind stays where it is.
CALLED V moved_to_origin(const Ctx &c, const V &patch, Reading reading) {
  i32 n = length_alone(c, patch);
  if (n <= 0) return n < 0 ? empty_patch() : patch;
  Extent e;
  V odd = read_extent(c, patch, reading, &e);
  if (odd.kind == STOPPED) return odd;
  bool right = odd.kind == NONE;
  return if_readable(c, patch, ANY_PATCH, empty_patch(), [&](const Extent &) {
    return right ? moved_by(c, patch, -e.top, -e.left) : moved_by(c, patch, 0, 0);
  });
}
THREAD_OP(tok_normalize)(const Ctx &c, V patch) { return moved_to_origin(c, patch, ANY_PATCH); }
THREAD_OP(tok_normalize_i)(const Ctx &c, V indices) { return moved_to_origin(c, indices, LOCATIONS); }
THREAD_OP(tok_normalize_o)(const Ctx &c, V obj) { return moved_to_origin(c, obj, CELLS); }
THREAD_OP(tok_normalize_t)(const Ctx &, V piece) { return piece; }

// ---- Ends and corners -----------------------------------------------------------------------------------

/// An end of a patch. One without elements has a nan in its place, if it is `guarded`.
template <class F> INLINE V end_of(const Ctx &c, const V &v, Reading reading, bool guarded, F end) {
  if (guarded && is_false(v)) return stopped(ODD);
  return if_readable(c, v, reading, integer(0), [&](const Extent &e) { return integer(end(e)); });
}
#define END(name, side, reading, guarded)                                               \
  THREAD_OP(tok_##name)(const Ctx &c, V patch) {                                        \
    return end_of(c, patch, reading, guarded, [](const Extent &e) { return e.side; });  \
  }
END(lowermost, bottom, ANY_PATCH, true)
END(lowermost_i, bottom, LOCATIONS, true)
END(lowermost_o, bottom, CELLS, true)
END(uppermost, top, ANY_PATCH, true)
END(uppermost_i, top, LOCATIONS, true)
END(uppermost_o, top, CELLS, true)
END(leftmost, left, ANY_PATCH, true)
END(leftmost_i, left, LOCATIONS, true)
END(leftmost_o, left, CELLS, true)
END(rightmost, right, ANY_PATCH, true)
END(rightmost_i, right, LOCATIONS, false)
END(rightmost_o, right, CELLS, false)
#undef END

/// The number of a code, or -1.
INLINE i64 code_of(const V &v) { return is_int(v) && v.bits < 16 ? int_of(v) : -1; }

THREAD_OP(tok_col_row)(const Ctx &c, V patch, V type) {
  switch (code_of(type)) {
    case 0: return op_tok_lowermost(c, patch);
    case 1: return op_tok_uppermost(c, patch);
    case 2: return op_tok_leftmost(c, patch);
    case 3: return op_tok_rightmost(c, patch);
    default: return none();
  }
}

/// The same as `corner_of` for a value with this failure in place of an extent.
CALLED V corner_of_others(const Ctx &c, const V &v, const V &odd, Reading reading, bool bottom, bool right) {
  if (odd.kind == STOPPED) return odd;
  if (reading == CELLS || length_alone(c, v) <= 0) return empty_tuple();
  // Only two corners take the same extreme of a third column.
  if (is_patch(v)) {
    if (bottom != right) return empty_tuple();
    Extent e = extent_of_patch(v);
    return v.c == PLANES ? stopped(ODD)
                         : make(CELL, v.c, 0, 0, bottom ? place(e.bottom, e.right) : place(e.top, e.left), 0);
  }
  First first = reading == ANY_PATCH ? first_class(c, v) : AS_IT_IS;
  if (first == NO_PATCH || first == OF_CELLS) return empty_tuple();
  if (first == NOT_KNOWN) return stopped(ORDER);
  i32 n = shortest_inside(c, v);
  return n <= 0 || (n > 2 && bottom != right) ? empty_tuple() : stopped(ODD);
}
/// A corner of a patch: the extremes of all columns that its elements have.
INLINE V corner_of(const Ctx &c, const V &v, Reading reading, bool bottom, bool right) {
  Extent e;
  V odd = read_extent(c, v, reading, &e);
  if (odd.kind == NONE) return pair(bottom ? e.bottom : e.top, right ? e.right : e.left);
  return corner_of_others(c, v, odd, reading, bottom, right);
}
#define CORNER(name, bottom, right)                                                                     \
  THREAD_OP(tok_##name)(const Ctx &c, V v) { return corner_of(c, v, ANY_PATCH, bottom, right); }        \
  THREAD_OP(tok_##name##_i)(const Ctx &c, V v) { return corner_of(c, v, LOCATIONS, bottom, right); }    \
  THREAD_OP(tok_##name##_o)(const Ctx &c, V v) { return corner_of(c, v, CELLS, bottom, right); }
CORNER(ulcorner, false, false)
CORNER(urcorner, false, true)
CORNER(llcorner, true, false)
CORNER(lrcorner, true, true)
#undef CORNER

THREAD_OP(tok_corner)(const Ctx &c, V patch, V type) {
  i64 code = code_of(type);
  return corner_of(c, patch, ANY_PATCH, code == 2 || code == 3, code == 1 || code == 3);
}

ROW_OP(tok_corners)(const Ctx &c, V patch) {
  Extent e;
  if (extent_of(patch, &e)) return op_corners(c, patch);
  V corner = corner_of(c, patch, ANY_PATCH, false, false);
  if (corner.kind == STOPPED) return corner;
  return is_empty_tuple(corner) ? op_corners(c, empty_patch()) : stopped(ODD);
}

// ---- Measures -------------------------------------------------------------------------------------------

struct Sides {
  i32 height, width;
};
/// Calls `f(sides)`. Ends that cannot be read count as 0.
template <class F> INLINE V with_sides(const Ctx &c, const V &v, Reading reading, F f) {
  Sides none_at_all = {0, 0}, one = {1, 1};
  if (length_alone(c, v) <= 0) return f(none_at_all);
  Extent e;
  V odd = read_extent(c, v, reading, &e);
  if (odd.kind == STOPPED) return odd;
  Sides s = {height_in(e), width_in(e)};
  return f(odd.kind == NONE ? s : one);
}
#define SIDE_OF(name, side, reading)                                                           \
  THREAD_OP(tok_##name)(const Ctx &c, V piece) {                                               \
    return with_sides(c, piece, reading, [](const Sides &s) { return integer(s.side); });      \
  }
SIDE_OF(height_f, height, ANY_PATCH)
SIDE_OF(height_i, height, LOCATIONS)
SIDE_OF(height_o, height, CELLS)
SIDE_OF(width_f, width, ANY_PATCH)
SIDE_OF(width_i, width, LOCATIONS)
SIDE_OF(width_o, width, CELLS)
#undef SIDE_OF

/// `len(v[0])`, or -1.
INLINE i32 row_length(const Ctx &c, const V &v) {
  return any_tuple(v) && length_alone(c, v) > 0 ? inner_length(c, v, 0) : -1;
}
INLINE Sides sides_of_grid(const Ctx &c, const V &v) {
  Sides s = {max_of(length_alone(c, v), 0), max_of(row_length(c, v), 0)};
  return s;
}
INLINE V shape_of(const Sides &s) {
  return fits_16(s.height) && fits_16(s.width) ? pair(s.height, s.width) : stopped(SIZE);
}

THREAD_OP(tok_height_t)(const Ctx &c, Any piece) { return integer(sides_of_grid(c, piece).height); }
THREAD_OP(tok_width_t)(const Ctx &c, Any piece) { return integer(sides_of_grid(c, piece).width); }
THREAD_OP(tok_shape_t)(const Ctx &c, Any grid) { return shape_of(sides_of_grid(c, grid)); }
THREAD_OP(tok_shape_f)(const Ctx &c, V patch) { return with_sides(c, patch, ANY_PATCH, shape_of); }
THREAD_OP(tok_portrait_t)(const Ctx &c, Any grid) {
  Sides s = sides_of_grid(c, grid);
  return boolean(s.height > s.width);
}
THREAD_OP(tok_portrait_f)(const Ctx &c, V patch) {
  return with_sides(c, patch, ANY_PATCH, [](const Sides &s) { return boolean(s.height > s.width); });
}
THREAD_OP(tok_square_t)(const Ctx &c, Any grid) {
  return boolean(row_length(c, grid) >= 0 && row_length(c, grid) == length_alone(c, grid));
}
THREAD_OP(tok_square_f)(const Ctx &c, V patch) {
  i32 n = length_alone(c, patch);
  return with_sides(c, patch, ANY_PATCH, [&](const Sides &s) {
    return boolean((i64)s.height * s.width == n && s.height == s.width);
  });
}

INLINE V is_line(const Ctx &c, const V &patch, Reading reading, bool upright) {
  i32 n = length_alone(c, patch);
  return with_sides(c, patch, reading, [&](const Sides &s) {
    return boolean(upright ? s.height == n && s.width == 1 : s.width == n && s.height == 1);
  });
}
THREAD_OP(tok_vline_i)(const Ctx &c, V patch) { return is_line(c, patch, LOCATIONS, true); }
THREAD_OP(tok_vline_o)(const Ctx &c, V patch) { return is_line(c, patch, CELLS, true); }
THREAD_OP(tok_hline_i)(const Ctx &c, V patch) { return is_line(c, patch, LOCATIONS, false); }
THREAD_OP(tok_hline_o)(const Ctx &c, V patch) { return is_line(c, patch, CELLS, false); }

/// Calls `f(middle)` for a value that Python takes for true.
template <class F> INLINE V with_middle(const Ctx &c, const V &v, F f) {
  Extent e;
  V odd = read_extent(c, v, ANY_PATCH, &e);
  if (odd.kind == STOPPED) return odd;
  Middle origin = {0, 0};
  return f(odd.kind == NONE ? middle_of(v, e, false) : origin);
}
THREAD_OP(tok_center)(const Ctx &c, V patch) {
  if (is_false(patch)) return empty_tuple();
  return with_middle(c, patch, [](const Middle &m) {
    return fits_16(m.i) && fits_16(m.j) ? pair(m.i, m.j) : stopped(SIZE);
  });
}
ROW_OP(tok_centerofmass)(const Ctx &c, V patch) {
  Extent e;
  Points p;
  if (is_patch(patch) || (points_of(patch, &p) && extent_of(patch, &e))) return op_centerofmass(c, patch);
  if (length_alone(c, patch) <= 0 || first_class(c, patch) == NO_PATCH) return empty_tuple();
  return stopped(ODD);
}

/// Can `toindices` give nothing but the empty set?
INLINE bool has_no_locations(const Ctx &c, const V &v) {
  if (length_alone(c, v) <= 0) return true;
  if (is_patch(v)) return false;
  First first = first_class(c, v);
  return first == NO_PATCH || (first == OF_CELLS && !all_have_length(c, v, 3));
}
THREAD_OP(tok_position)(const Ctx &c, V a, V b) {
  if (has_no_locations(c, a) || has_no_locations(c, b)) return empty_tuple();
  if ((a.kind == SET && first_class(c, a) == NOT_KNOWN) || (b.kind == SET && first_class(c, b) == NOT_KNOWN))
    return stopped(ORDER);
  return with_middle(c, a, [&](const Middle &from) {
    return with_middle(c, b, [&](const Middle &to) {
      i32 down = to.i - from.i, right = to.j - from.j;
      // Centres in one row always get a step to the side.
      i32 j = down != 0 && right == 0 ? 0 : right > 0 ? 1 : -1;
      return pair(down == 0 ? 0 : down > 0 ? 1 : -1, j);
    });
  });
}

THREAD_OP(tok_bordering)(const Ctx &c, V patch, Any grid) {
  if (is_false(patch)) return boolean(false);
  // Ends that cannot be read count as 0.
  return if_readable(c, patch, ANY_PATCH, boolean(true), [&](const Extent &e) {
    if (e.top == 0 || e.left == 0) return boolean(true);
    i32 height = length_alone(c, grid), width = row_length(c, grid);
    return boolean((height >= 0 && e.bottom == height - 1) || (width >= 0 && e.right == width - 1));
  });
}

// ---- Two patches ----------------------------------------------------------------------------------------

/// Reads the locations of two values, and calls `f`. A value without locations gives the default.
template <class F> INLINE V with_two(const Ctx &c, const V &a, const V &b, const V &fallback, F f) {
  return if_readable(c, a, ANY_PATCH, fallback, [&](const Extent &) {
    return if_readable(c, b, ANY_PATCH, fallback, [&](const Extent &) {
      Extent e;
      if (!extent_of(a, &e) || !extent_of(b, &e)) return stopped(ODD);
      return with_locations(a, b, f);
    });
  });
}

ROW_OP(tok_hmatching)(const Ctx &c, V a, V b) {
  return with_two(c, a, b, boolean(false),
                  [](const Patch &x, const Patch &y) { return boolean(share_row(x, y)); });
}
ROW_OP(tok_vmatching)(const Ctx &c, V a, V b) {
  return with_two(c, a, b, boolean(false),
                  [](const Patch &x, const Patch &y) { return boolean(share_column(x, y)); });
}
ROW_OP(tok_manhattan)(const Ctx &c, V a, V b) {
  // An infinite distance has no form.
  if (length_alone(c, a) <= 0 || length_alone(c, b) <= 0) return stopped(ODD);
  return with_two(c, a, b, integer(0),
                  [](const Patch &x, const Patch &y) { return integer(distance_of(x, y)); });
}
ROW_OP(tok_adjacent)(const Ctx &c, V a, V b) {
  return with_two(c, a, b, boolean(false),
                  [&](const Patch &, const Patch &) { return op_adjacent(c, a, b); });
}
ROW_OP(tok_gravitate)(const Ctx &c, V source, V destination) {
  if (is_false(destination)) return source;
  if (is_false(source)) return empty_tuple();
  return is_patch(source) && is_patch(destination) ? op_gravitate(c, source, destination) : stopped(ODD);
}

// ---- Mirrors and scaling --------------------------------------------------------------------------------

CALLED V mirrored_patch(const Ctx &c, const V &v, Reading reading, Turn turn) {
  return if_readable(c, v, reading, empty_patch(), [&](const Extent &) {
    return is_patch(v) ? mirrored(c, v, turn, VALUE_) : stopped(ODD);
  });
}
#define MIRROR(name, of_i, of_o, ...)                                                                   \
  ROW_OP(tok_##name##_f)(const Ctx &c, V v) { return mirrored_patch(c, v, ANY_PATCH, __VA_ARGS__); }    \
  ROW_OP(tok_##name##_i)(const Ctx &c, V v) { return mirrored_patch(c, v, of_i, __VA_ARGS__); }         \
  ROW_OP(tok_##name##_o)(const Ctx &c, V v) { return mirrored_patch(c, v, of_o, __VA_ARGS__); }
MIRROR(hmirror, LOCATIONS, CELLS, {true, false, false})
MIRROR(vmirror, LOCATIONS, CELLS, {false, true, false})
MIRROR(dmirror, LOCATIONS, CELLS, {false, false, true})
MIRROR(cmirror, ANY_PATCH, ANY_PATCH, {true, true, true})
#undef MIRROR

ROW_OP(tok_mir_rot_f)(const Ctx &c, V patch, V type) {
  i64 code = code_of(type);
  if (code < 0 || code > 3) return patch;
  bool all = code == 3;
  return mirrored_patch(c, patch, ANY_PATCH, {code == 0 || all, code == 2 || all, code == 1 || all});
}

ROW_OP(tok_upscale_f)(const Ctx &c, V obj, V factor) {
  return if_readable(c, obj, CELLS, empty_patch(), [&](const Extent &) {
    return is_patch(obj) ? safely(op_upscale(c, obj, factor), empty_patch()) : stopped(ODD);
  });
}

// ---- Lines and boxes ------------------------------------------------------------------------------------

/// `v[0]` and `v[1]`, which are small numbers. NONE, or a fault if these are no numbers, or STOPPED.
INLINE V read_numbers(const Ctx &c, const V &v, i32 *i, i32 *j) {
  if (v.kind == PAIR || v.kind == CELL) {
    *i = row_of(v.len);
    *j = column_of(v.len);
    return none();
  }
  if (two_numbers(v, true, i, j)) return none();
  if (v.kind != TUPLE || v.len < 2) return fault(TYPE_);
  const V *items = (const V *)v.bits;
  return is_int(items[0]) && is_int(items[1]) ? stopped(ODD) : fault(TYPE_);
}

CALLED V safe_around(const Ctx &c, const V &loc, u32 row, u32 middle, u32 size, Walk walk) {
  i32 i, j;
  V odd = read_numbers(c, loc, &i, &j);
  if (odd.kind != NONE) return safely(odd, empty_patch());
  return fits_16(i) && fits_16(j) ? around(c, pair(i, j), row, middle, size, walk) : stopped(SIZE);
}
THREAD_OP(tok_dneighbors)(const Ctx &c, V loc) { return safe_around(c, loc, 2, 5, 4, CROSS); }
THREAD_OP(tok_ineighbors)(const Ctx &c, V loc) { return safe_around(c, loc, 5, 0, 4, ROWS_FROZEN); }
THREAD_OP(tok_neighbors)(const Ctx &c, V loc) { return safe_around(c, loc, 7, 5, 8, RING); }

ROW_OP(tok_connect)(const Ctx &c, V a, V b) {
  if (length_alone(c, a) != 2 || length_alone(c, b) != 2) return empty_patch();
  if (a.kind != PAIR || b.kind != PAIR) return stopped(ODD);
  return line_between(c, row_of(a.len), column_of(a.len), row_of(b.len), column_of(b.len));
}
ROW_OP(tok_shoot)(const Ctx &c, V start, V direction) {
  // The end is found by indexing, but the start must be a pair.
  if (!any_tuple(start) || length_alone(c, start) != 2) return empty_patch();
  if (!any_tuple(direction) || length_alone(c, direction) < 2) return empty_patch();
  i32 down, right;
  V odd = read_numbers(c, direction, &down, &right);
  if (start.kind != PAIR || odd.kind != NONE) return stopped(ODD);
  i32 i = row_of(start.len), j = column_of(start.len);
  return line_between(c, i, j, i + 42 * down, j + 42 * right);
}

/// The number at a place of a tuple, for which any value would do. NONE, or a fault, or STOPPED.
INLINE V read_number(const Ctx &c, const V &v, u32 k, i32 *number) {
  if (!any_tuple(v) || length_alone(c, v) <= (i32)k) return fault(TYPE_);
  if (v.kind == GRID || v.kind == RAGGED) return stopped(ODD);
  V item = component(c, v, k);
  if (item.kind != INT || !fits_16(int_of(item))) return stopped(ODD);
  *number = (i32)int_of(item);
  return none();
}
ROW_OP(tok_vfrontier)(const Ctx &c, V location) {
  i32 j;
  V odd = read_number(c, location, 1, &j);
  if (odd.kind != NONE) return safely(odd, empty_patch());
  Extent e = {0, j, FRONTIER, j};
  return full_board(c, e);
}
THREAD_OP(tok_hfrontier)(const Ctx &c, V location) {
  i32 i;
  V odd = read_number(c, location, 0, &i);
  return odd.kind != NONE ? safely(odd, empty_patch()) : op_hfrontier(c, pair(i, 0));
}

/// Calls `f(extent)` for a value whose two corners are pairs; others give the empty set.
template <class F> INLINE V between_corners(const Ctx &c, const V &v, F f) {
  Extent e;
  V odd = read_extent(c, v, ANY_PATCH, &e);
  if (odd.kind == NONE) return f(e);
  if (odd.kind == STOPPED) return odd;
  V corner = corner_of(c, v, ANY_PATCH, false, false);
  return corner.kind == STOPPED && shortest_inside(c, v) == 2 ? corner : empty_patch();
}
ROW_OP(tok_backdrop)(const Ctx &c, V patch) {
  return between_corners(c, patch, [&](const Extent &e) { return full_board(c, e); });
}
ROW_OP(tok_delta)(const Ctx &c, V patch) {
  return between_corners(c, patch, [&](const Extent &) {
    Extent e;
    return extent_of(patch, &e) ? safely(op_delta(c, patch), empty_patch()) : stopped(ODD);
  });
}
/// The outline of an extent that grows on all sides.
INLINE V grown_frame(const Ctx &c, const Extent &e, i32 by) {
  i32 top = e.top - by, left = e.left - by, bottom = e.bottom + by, right = e.right + by;
  Extent r = {min_of(top, bottom), min_of(left, right), max_of(top, bottom), max_of(left, right)};
  return frame_board(c, r);
}
ROW_OP(tok_box)(const Ctx &c, V patch) {
  return between_corners(c, patch, [&](const Extent &e) { return frame_board(c, e); });
}
CALLED V safe_frame(const Ctx &c, const V &patch, i32 by) {
  if (is_false(patch)) return empty_patch();
  Extent e;
  V odd = read_extent(c, patch, ANY_PATCH, &e);
  if (odd.kind == STOPPED) return odd;
  Extent origin = {0, 0, 0, 0};
  return grown_frame(c, odd.kind == NONE ? e : origin, by);
}
ROW_OP(tok_inbox)(const Ctx &c, V patch) { return safe_frame(c, patch, -1); }
ROW_OP(tok_outbox)(const Ctx &c, V patch) { return safe_frame(c, patch, 1); }

// ---- Single cells ---------------------------------------------------------------------------------------

/// The tuple of three values.
INLINE V tuple_of_three(const Ctx &c, const V &x, const V &y, const V &z) {
  bool numbers = x.kind == INT && y.kind == INT && z.kind == INT;
  if (numbers && z.bits < 16 && fits_16(int_of(x)) && fits_16(int_of(y)))
    return make(CELL, (u8)z.bits, 0, 0, place((i32)int_of(x), (i32)int_of(y)), 0);
  u32 width;
  // Three rows are a grid.
  if (is_row(c, x, &width) && is_row(c, y, &width) && is_row(c, z, &width)) return stopped(ODD);
  V *to = (V *)room_alone(c, 3 * sizeof(V));
  if (!to) return stopped(MEMORY);
  to[0] = x;
  to[1] = y;
  to[2] = z;
  return make(TUPLE, 0, 0, 0, 3, (u64)to);
}
THREAD_OP(tok_astriple)(const Ctx &c, V i, V j, V color) { return tuple_of_three(c, i, j, color); }
THREAD_OP(tok_ascell)(const Ctx &c, V ij, V color) {
  if (!any_tuple(ij) || length_alone(c, ij) < 2) return empty_tuple();
  V i = element_alone(c, ij, 0), j = element_alone(c, ij, 1);
  return is_value(i) && is_value(j) ? tuple_of_three(c, i, j, color) : stopped(MEMORY);
}
THREAD_OP(tok_toij)(const Ctx &c, V cell) {
  if (!any_tuple(cell) || length_alone(c, cell) < 2) return empty_tuple();
  V i = element_alone(c, cell, 0), j = element_alone(c, cell, 1);
  return is_value(i) && is_value(j) ? tuple_of_two(c, i, j) : stopped(MEMORY);
}
