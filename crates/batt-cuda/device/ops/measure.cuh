// Measures of grids, patches and pieces: sizes, corners, centres; and how two patches lie to each other.
//
// Nearly everything follows from the bounding box of the locations. Patches in packed form are measured where they
// are; for anything else the locations are collected into a list first.

/// A packed patch with at least one element.
INLINE bool is_full_patch(V v) { return is_patch(v) && v.len > 0; }

/// What is wrong with elements that are to be unpacked into two: none, or the fault. `*late`: some elements before the
/// faulty one (or, without order, any) can be unpacked.
OUTLINE V unpacking_fault(Ctx &c, const V *items, u32 n, bool ordered, bool *late) {
  V fault = none();
  *late = false;
  for (u32 k = 0; k < n; k++) {
    V item = items[k];
    if (is_container(item) && length(c, item) == 2) {
      NEED_ORDER(c, item);
      *late = true;
      continue;
    }
    V seen = is_container(item) ? wrong_number(c, item) : failed(TYPE_);
    if (ordered) return seen;
    if (fault.kind == FAILED && fault.flags != seen.flags) return stop(c, FAULTS);
    fault = seen;
  }
  return fault;
}

/// `i, j = at` for all locations of a container, as a list: of pairs (SET_P) or, if some have parts other than plain
/// integers, of the values as they are (SET_V).
OUTLINE V unpacked_locations(Ctx &c, V locations, V *list, bool *late) {
  *late = false;
  if (locations.kind == SET_P) {
    *list = locations;
    return none();
  }
  if (!is_container(locations)) return failed(TYPE_);
  u32 n = length(c, locations);
  *list = empty_set();
  if (n == 0) return none();
  V *items = elements(c, locations);
  CHECK(c);
  *list = list_of(c, items, n);
  TRY(*list);
  if (list->kind == SET_P) return none();
  *list = list_at(c, SET_V, items, n);
  list->flags = in_order(locations) ? ORDERED : 0;
  return unpacking_fault(c, items, n, in_order(locations), late);
}

/// The locations of a patch of arc-dsl, as a list of pairs or cells that may hold equals, or of other values.
INLINE V located(Ctx &c, V patch, V *list, bool *late) {
  *late = false;
  if (is_full_patch(patch)) {
    *list = patch;
    return none();
  }
  V locations = op_toindices(c, patch);
  TRY(locations);
  return unpacked_locations(c, locations, list, late);
}

/// The bounding box of any patch that has one. Locations that are no pairs of integers are left to the CPU.
OUTLINE V patch_box(Ctx &c, V patch, Bounds *box) {
  V list;
  bool late;
  V fault = located(c, patch, &list, &late);
  TRY(fault);
  if (list.len == 0) return failed(VALUE_);
  if (list.kind == SET_V) return odd(c);
  *box = bounds_of(c, list);
  return none();
}

// ---- Ends ------------------------------------------------------------------------------------------------

/// What to make of several numbers.
enum Reduction : u8 { SMALLEST, LARGEST, MEAN };

/// The smaller or larger of two values, the first one if neither is: or a fault.
INLINE V better_of(Ctx &c, V best, V next, u8 how) {
  i32 is_less = how == LARGEST ? less(c, best, next) : less(c, next, best);
  CHECK(c);
  return is_less < 0 ? failed(TYPE_) : is_less ? next : best;
}

/// An extreme part of locations that are not all pairs of integers. How they compare may depend on their order.
OUTLINE V extreme_part(Ctx &c, V list, u32 part, u8 how) {
  NEED_ORDER(c, list);
  V best = item(c, values_of(c, list)[0], part);
  spend(c, list.len);
  for (u32 k = 1; k < list.len; k++) {
    best = better_of(c, best, item(c, values_of(c, list)[k], part), how);
    TRY(best);
  }
  return best;
}

enum PatchEnd : u8 { TOP_END, BOTTOM_END, LEFT_END, RIGHT_END };

OUTLINE V patch_end(Ctx &c, V patch, u8 end) {
  V list;
  bool late;
  V fault = located(c, patch, &list, &late);
  TRY(fault);
  if (list.len == 0) return failed(VALUE_);
  if (list.kind == SET_V)
    return extreme_part(c, list, end >= LEFT_END, end == TOP_END || end == LEFT_END ? SMALLEST : LARGEST);
  Bounds b = bounds_of(c, list);
  return integer(end == TOP_END ? b.top : end == BOTTOM_END ? b.bottom : end == LEFT_END ? b.left : b.right);
}
OP(uppermost)(Ctx &c, V patch) { return patch_end(c, patch, TOP_END); }
OP(lowermost)(Ctx &c, V patch) { return patch_end(c, patch, BOTTOM_END); }
OP(leftmost)(Ctx &c, V patch) { return patch_end(c, patch, LEFT_END); }
OP(rightmost)(Ctx &c, V patch) { return patch_end(c, patch, RIGHT_END); }

// ---- Column by column: corners and means of anything ---------------------------------------------------------

struct Reduced {
  i64 best, sum;
  bool some;
};
INLINE void reduce(Reduced &r, u8 how, i64 n) {
  if (!r.some || (how == LARGEST ? n > r.best : n < r.best)) r.best = n;
  r.sum += n;
  r.some = true;
}
INLINE V reduced(const Reduced &r, u8 how, i64 len) { return how == MEAN ? floor_div(r.sum, len) : integer(r.best); }

/// Two reductions that differ say nothing about a third column.
INLINE bool has_third(u32 width, u8 first, u8 second) { return width > 2 && first != second; }

/// The columns of a grid. Means of bytes are bytes: `len` is at least the height.
OUTLINE V columns_of_grid(Ctx &c, const Grid &grid, u8 first, u8 second, i64 len) {
  if (has_third(grid.width, first, second)) return failed(KEY_);
  spend(c, (u64)grid.height * grid.width);
  ROOM(V, numbers, c, grid.width);
  for (u32 j = lane(); j < grid.width; j += LANES) {
    Reduced r = {0, 0, false};
    u8 how = j == 0 ? first : second;
    for (u32 i = 0; i < grid.height; i++) reduce(r, how, grid.cells[i * grid.width + j]);
    numbers[j] = reduced(r, how, len);
  }
  sync();
  return tuple_at(c, numbers, grid.width);
}

/// One column of any tuples, reduced.
OUTLINE V column_of_rows(Ctx &c, const V *rows, u32 n, u32 column, u8 how, i64 len) {
  V result = how == MEAN ? integer(0) : item(c, rows[0], column);
  for (u32 i = how == MEAN ? 0 : 1; i < n; i++) {
    V next = item(c, rows[i], column);
    if (how == MEAN && !is_numeric(next)) return failed(TYPE_);
    result = how == MEAN ? on_values(c, ADD, result, next) : better_of(c, result, next, how);
    TRY(result);
  }
  return how == MEAN ? on_values(c, DIVIDE, result, integer(len)) : result;
}

/// The columns of any tuples, cut to the shortest.
OUTLINE V columns_of_rows(Ctx &c, const V *rows, u32 n, bool ordered, u8 first, u8 second, i64 len) {
  u32 width = 0xffffffffu;
  bool plain = true;
  for (u32 i = 0; i < n; i++) {
    if (!is_container(rows[i])) return failed(TYPE_);
    width = min_of(width, length(c, rows[i]));
    plain &= rows[i].kind == ROW || rows[i].kind == PAIR;
  }
  // The order of integers does not matter.
  if (!plain && !ordered) return stop(c, ORDER);
  for (u32 i = 0; i < n; i++) NEED_ORDER(c, rows[i]);
  spend(c, (u64)n * width);
  ROOM(V, numbers, c, width ? width : 1);
  for (u32 j = 0; j < width; j++) {
    if (j == 2 && first != second) return failed(KEY_);
    V number = column_of_rows(c, rows, n, j, j == 0 ? first : second, len);
    TRY(number);
    put(numbers + j, number);
  }
  sync();
  return tuple_at(c, numbers, width);
}

/// A corner of a box.
INLINE V corner_of_box(const Bounds &b, u8 rows, u8 columns) {
  return pair_of_word(pair_word(rows == LARGEST ? b.bottom : b.top, columns == LARGEST ? b.right : b.left));
}

/// The mean of the locations of a list, which are all counted.
OUTLINE V mean_of_pairs(Ctx &c, V list, i64 len) {
  i64 i = 0, j = 0;
  for (u32 k = lane(); k < list.len; k += LANES) {
    i += row_of(pairs_of(c, list)[k]);
    j += column_of(pairs_of(c, list)[k]);
  }
  V row = floor_div(sum(i), len), column = floor_div(sum(j), len);
  TRY(row);
  return pair_of(c, row, column);
}

/// A number for every column of locations of any kind: `zip(*locations)`, reduced.
OUTLINE V by_columns(Ctx &c, V locations, u8 first, u8 second, i64 len) {
  if (!is_container(locations)) return failed(TYPE_);
  u32 n = length(c, locations);
  if (n == 0) return empty_tuple();
  Grid grid;
  if (as_grid(c, locations, &grid)) return columns_of_grid(c, grid, first, second, len);
  CHECK(c);
  V list = locations;
  V *items = nullptr;
  if (list.kind != SET_P) {
    items = elements(c, locations);
    CHECK(c);
    list = list_of(c, items, n);
    TRY(list);
  }
  if (list.kind != SET_P) return columns_of_rows(c, items, n, in_order(locations), first, second, len);
  return first == MEAN ? mean_of_pairs(c, list, len) : corner_of_box(bounds_of(c, list), first, second);
}

/// The extremes of every column of any patch.
OUTLINE V corner_of(Ctx &c, V patch, u8 rows, u8 columns) {
  if (is_full_patch(patch)) return corner_of_box(bounds_of(c, patch), rows, columns);
  V locations = op_toindices(c, patch);
  TRY(locations);
  return by_columns(c, locations, rows, columns, 0);
}
OP(ulcorner)(Ctx &c, V patch) { return corner_of(c, patch, SMALLEST, SMALLEST); }
OP(urcorner)(Ctx &c, V patch) { return corner_of(c, patch, SMALLEST, LARGEST); }
OP(llcorner)(Ctx &c, V patch) { return corner_of(c, patch, LARGEST, SMALLEST); }
OP(lrcorner)(Ctx &c, V patch) { return corner_of(c, patch, LARGEST, LARGEST); }

// ---- Height and width ----------------------------------------------------------------------------------------

struct Extent { i64 height, width; };
INLINE Extent extent_of_box(const Bounds &b) { return {(i64)b.bottom - b.top + 1, (i64)b.right - b.left + 1}; }

/// Height and width of a grid, of its first row, or of the bounding box of a patch. Where the width fails, so does
/// every measure that asks for the height first.
OUTLINE V piece_extent(Ctx &c, V piece, Extent *extent) {
  if (!is_container(piece)) return failed(TYPE_);
  u32 n = length(c, piece);
  *extent = {0, 0};
  if (n == 0) return none();
  if (!is_tuple(piece)) {
    Bounds b;
    V fault = patch_box(c, piece, &b);
    TRY(fault);
    *extent = extent_of_box(b);
    return none();
  }
  V first = item(c, piece, 0);
  if (!is_container(first)) return failed(TYPE_);
  *extent = {(i64)n, (i64)length(c, first)};
  return none();
}

/// The height alone: a tuple has one, whatever it holds.
OUTLINE V height_in(Ctx &c, V piece) {
  if (is_tuple(piece)) return integer(length(c, piece));
  Extent e;
  V fault = piece_extent(c, piece, &e);
  TRY(fault);
  return integer(e.height);
}
OUTLINE V width_in(Ctx &c, V piece) {
  Extent e;
  V fault = piece_extent(c, piece, &e);
  TRY(fault);
  return integer(e.width);
}
OP(height)(Ctx &c, V piece) { return height_in(c, piece); }
OP(width)(Ctx &c, V piece) { return width_in(c, piece); }
OP(shape)(Ctx &c, V piece) {
  Extent e;
  V fault = piece_extent(c, piece, &e);
  TRY(fault);
  return int_pair(c, e.height, e.width);
}
OP(portrait)(Ctx &c, V piece) {
  Extent e;
  V fault = piece_extent(c, piece, &e);
  TRY(fault);
  return boolean(e.height > e.width);
}
OP(square)(Ctx &c, V piece) {
  if (is_tuple(piece) && length(c, piece) == 0) return failed(INDEX_);
  Extent e;
  V fault = piece_extent(c, piece, &e);
  TRY(fault);
  bool full = is_tuple(piece) || e.height * e.width == (i64)piece.len;
  return boolean(full && e.height == e.width);
}
OP(vline)(Ctx &c, V patch) {
  Extent e;
  V fault = piece_extent(c, patch, &e);
  TRY(fault);
  return boolean(e.height == (i64)length(c, patch) && e.width == 1);
}
OP(hline)(Ctx &c, V patch) {
  Extent e;
  V fault = piece_extent(c, patch, &e);
  TRY(fault);
  return boolean(e.width == (i64)length(c, patch) && e.height == 1);
}

// ---- Centres -------------------------------------------------------------------------------------------------

struct Point { i64 i, j; };
/// The middle of a box; the lower right one of several.
INLINE Point middle_of(const Bounds &b) {
  Extent e = extent_of_box(b);
  return {b.top + e.height / 2, b.left + e.width / 2};
}

/// The centre of any patch. Of a tuple it is the ends of the locations, but half of the tuple's own lengths.
OUTLINE V center_of(Ctx &c, V patch, Point *center) {
  Bounds b;
  V fault = patch_box(c, patch, &b);
  TRY(fault);
  *center = middle_of(b);
  if (!is_tuple(patch)) return none();
  Extent e;
  fault = piece_extent(c, patch, &e);
  TRY(fault);
  *center = {b.top + e.height / 2, b.left + e.width / 2};
  return none();
}
OP(center)(Ctx &c, V patch) {
  Point p;
  V fault = center_of(c, patch, &p);
  TRY(fault);
  return int_pair(c, p.i, p.j);
}

/// Locations as pairs: those of an object are in its cells.
OUTLINE V as_pairs(Ctx &c, V list) {
  if (list.kind != SET_C) return list;
  ROOM(u32, pairs, c, list.len);
  for (u32 k = lane(); k < list.len; k += LANES) pairs[k] = dots_of(c, list)[k].at;
  sync();
  return list_at(c, SET_P, pairs, list.len);
}

/// The sum over distinct locations, divided by the number of elements.
OUTLINE V mean_of_patch(Ctx &c, V patch) {
  spend(c, patch.len / 8);
  if (patch.kind == SET_P) return mean_of_pairs(c, patch, patch.len);
  Bits bits;
  if (!bits_for(c, bounds_of(c, patch), false, &bits)) {
    V pairs = as_pairs(c, patch);
    TRY(pairs);
    V once = distinct(c, pairs);
    TRY(once);
    return mean_of_pairs(c, once, patch.len);
  }
  i64 i = 0, j = 0;
  for (u32 k = lane(); k < patch.len; k += LANES) {
    u32 at = dots_of(c, patch)[k].at, bit = bit_of(bits, at), mask = 1u << (bit & 31);
    if (atomic_or(bits.words + (bit >> 5), mask) & mask) continue; // in another colour
    i += row_of(at);
    j += column_of(at);
  }
  V row = floor_div(sum(i), patch.len), column = floor_div(sum(j), patch.len);
  return pair_of(c, row, column);
}
OP(centerofmass)(Ctx &c, V patch) {
  if (is_full_patch(patch)) return mean_of_patch(c, patch);
  V locations = op_toindices(c, patch);
  TRY(locations);
  return by_columns(c, locations, MEAN, MEAN, length(c, patch));
}

// ---- Two patches ---------------------------------------------------------------------------------------------

enum Axis : u8 { ROWS, COLUMNS };
INLINE i32 along(u32 at, u8 axis) { return axis == ROWS ? row_of(at) : column_of(at); }

/// As lists_match, where the coordinates are too far apart to be marked in scratch memory.
OUTLINE bool lists_match_far(Ctx &c, V a, V b, u8 axis) {
  spend(c, (u64)a.len * b.len / 8);
  bool met = false;
  for (u32 k = lane(); k < a.len; k += LANES)
    for (u32 m = 0; m < b.len; m++) met |= along(location(c, a, k), axis) == along(location(c, b, m), axis);
  return any(met);
}

/// Have two lists of locations, neither of them empty, a row or column in common?
OUTLINE bool lists_match(Ctx &c, V a, V b, u8 axis) {
  Bounds p = bounds_of(c, a), q = bounds_of(c, b);
  i32 from = axis == ROWS ? max_of(p.top, q.top) : max_of(p.left, q.left);
  i32 to = axis == ROWS ? min_of(p.bottom, q.bottom) : min_of(p.right, q.right);
  if (from > to) return false;
  if (to - from >= (i32)SCRATCH * 8) return lists_match_far(c, a, b, axis);
  spend(c, (a.len + b.len) / 8);
  u32 *seen = (u32 *)c.scratch;
  sync();
  fill_with(seen, 0u, (u32)(to - from) / 32 + 1);
  sync();
  for (u32 k = lane(); k < a.len; k += LANES) {
    i32 x = along(location(c, a, k), axis) - from;
    if (x >= 0 && x <= to - from) atomic_or(seen + (x >> 5), 1u << (x & 31));
  }
  sync();
  bool met = false;
  for (u32 k = lane(); k < b.len; k += LANES) {
    i32 x = along(location(c, b, k), axis) - from;
    if (x >= 0 && x <= to - from) met |= seen[x >> 5] >> (x & 31) & 1;
  }
  met = any(met);
  sync();
  return met;
}

/// As lists_match for any locations: is a part of one equal to a part of another?
OUTLINE bool parts_match(Ctx &c, V a, V b, u8 axis) {
  spend(c, (u64)a.len * b.len);
  for (u32 k = 0; k < a.len; k++) {
    V part = item(c, item(c, a, k), axis);
    for (u32 m = 0; m < b.len && !c.stop; m++)
      if (equal_member(c, part, item(c, item(c, b, m), axis), 1)) return true;
  }
  return false;
}
/// Have two lists of locations of any kind a row or column in common?
OUTLINE V any_match(Ctx &c, V a, V b, u8 axis) {
  if (a.len == 0 || b.len == 0) return boolean(false);
  if (a.kind != SET_V && b.kind != SET_V) return boolean(lists_match(c, a, b, axis));
  a = as_pairs(c, a);
  TRY(a);
  b = as_pairs(c, b);
  TRY(b);
  return boolean(parts_match(c, a, b, axis));
}

/// The CPU has put the locations of one patch in order before it finds that the other is none, or empty.
INLINE void spend_on_first(Ctx &c, V patch) {
  if (is_patch(patch)) spend(c, (u64)patch.len * 3 / 4 + 1);
}

/// Have two patches of arc-dsl a row or column in common?
OUTLINE V patches_match(Ctx &c, V a, V b, u8 axis) {
  V list_a, list_b;
  bool late;
  V fault = located(c, a, &list_a, &late);
  TRY(fault);
  fault = located(c, b, &list_b, &late);
  if (fault.kind == FAILED) spend_on_first(c, a);
  TRY(fault);
  return any_match(c, list_a, list_b, axis);
}
OP(hmatching)(Ctx &c, V a, V b) { return patches_match(c, a, b, ROWS); }
OP(vmatching)(Ctx &c, V a, V b) { return patches_match(c, a, b, COLUMNS); }

INLINE i32 apart(i32 a, i32 b) { return a < b ? b - a : a - b; }

/// The smallest distance of two lists of locations, neither of them empty, the first one moved by a vector.
OUTLINE i32 distance_of(Ctx &c, V a, V b, i32 di, i32 dj) {
  if (a.len < b.len) { // the longer one is shared out
    V swap = a;
    a = b;
    b = swap;
    di = -di;
    dj = -dj;
  }
  const u32 most = SCRATCH / 4;
  spend(c, (u64)a.len * b.len / 8);
  u32 *near = (u32 *)c.scratch;
  i32 best = 0x7fffffff;
  for (u32 from = 0; from < b.len; from += most) {
    u32 n = min_of(most, b.len - from);
    sync();
    for (u32 m = lane(); m < n; m += LANES) near[m] = location(c, b, from + m);
    sync();
    for (u32 k = lane(); k < a.len; k += LANES) {
      u32 at = location(c, a, k);
      i32 i = row_of(at) + di, j = column_of(at) + dj;
      for (u32 m = 0; m < n; m++) best = min_of(best, apart(i, row_of(near[m])) + apart(j, column_of(near[m])));
    }
  }
  sync();
  return least(best);
}

INLINE bool has_bit(const Bits &b, i32 i, i32 j) {
  if (i < b.box.top || i > b.box.bottom || j < b.box.left || j > b.box.right) return false;
  return bit_is_set(b, (u32)(i - b.box.top) * b.width + (u32)(j - b.box.left));
}

/// Does a list of locations, moved by a vector, touch the marked ones without overlapping them?
OUTLINE bool touches(Ctx &c, V list, i32 di, i32 dj, const Bits &marked) {
  bool over = false, beside = false;
  spend(c, list.len / 8 + 1);
  for (u32 k = lane(); k < list.len; k += LANES) {
    u32 at = location(c, list, k);
    i32 i = row_of(at) + di, j = column_of(at) + dj;
    over |= has_bit(marked, i, j);
    beside |= has_bit(marked, i - 1, j) || has_bit(marked, i + 1, j) || has_bit(marked, i, j - 1) ||
              has_bit(marked, i, j + 1);
  }
  return !any(over) && any(beside);
}

/// Marks a list of locations; false when they are too far apart.
INLINE bool mark_list(Ctx &c, V list, Bits *marked) {
  if (!bits_for(c, bounds_of(c, list), false, marked)) return false;
  set_bits(c, *marked, list, false);
  return true;
}

/// Is the distance of two lists of locations, neither of them empty, 1?
OUTLINE bool lists_touch(Ctx &c, V a, V b) {
  Bits marked;
  if (mark_list(c, b, &marked)) return touches(c, a, 0, 0, marked);
  return distance_of(c, a, b, 0, 0) == 1;
}

/// Have locations parts that are no numbers?
OUTLINE bool has_other_parts(Ctx &c, V list) {
  if (list.kind != SET_V) return false;
  for (u32 k = 0; k < list.len; k++) {
    V at = values_of(c, list)[k];
    if (!is_numeric(item(c, at, 0)) || !is_numeric(item(c, at, 1))) return true;
  }
  return false;
}

/// The locations of two patches whose distance is asked for: not empty, or the fault. The second one is looked at once
/// the first element of the first one is known to be a location.
OUTLINE V both_located(Ctx &c, V fault_a, bool late, V a, V fault_b, V b) {
  if (fault_a.kind == STOPPED || fault_b.kind == STOPPED) return make(STOPPED, 0, 0, 0, 0);
  if (fault_a.kind == FAILED) {
    bool clash = late && fault_b.kind == FAILED && fault_b.flags != fault_a.flags;
    return clash ? stop(c, FAULTS) : fault_a;
  }
  if (a.len == 0) return failed(VALUE_);
  TRY(fault_b);
  if (b.len == 0) return failed(VALUE_);
  if (a.kind != SET_V && b.kind != SET_V) return none();
  // Every part meets one of the other patch, and only numbers can be subtracted.
  return has_other_parts(c, a) || has_other_parts(c, b) ? failed(TYPE_) : odd(c);
}
OUTLINE V locate_both(Ctx &c, V a, V b, V *list_a, V *list_b) {
  bool late_a, late_b;
  *list_a = *list_b = empty_set();
  V fault_a = located(c, a, list_a, &late_a);
  // Without a first location the second patch does not matter.
  if (fault_a.kind == STOPPED || (fault_a.kind == FAILED && !late_a)) return fault_a;
  if (fault_a.kind != FAILED && list_a->len == 0) return failed(VALUE_);
  V fault_b = located(c, b, list_b, &late_b);
  if (fault_b.kind == FAILED || list_b->len == 0) spend_on_first(c, a);
  return both_located(c, fault_a, late_a, *list_a, fault_b, *list_b);
}
/// What it takes the CPU to compare all locations of two patches: it looks at each pair, and makes the locations of the
/// second one again for each of the first one if they are not at hand.
INLINE u64 work_of_pairs(V a, V b, V list_a, V list_b) {
  u64 pairs = (u64)list_a.len * list_b.len;
  return is_full_patch(a) && is_full_patch(b) ? pairs / 64 : pairs;
}
OP(manhattan)(Ctx &c, V a, V b) {
  V list_a, list_b;
  V fault = locate_both(c, a, b, &list_a, &list_b);
  TRY(fault);
  spend(c, work_of_pairs(a, b, list_a, list_b));
  return integer(distance_of(c, list_a, list_b, 0, 0));
}
OP(adjacent)(Ctx &c, V a, V b) {
  V list_a, list_b;
  V fault = locate_both(c, a, b, &list_a, &list_b);
  TRY(fault);
  spend(c, work_of_pairs(a, b, list_a, list_b));
  CHECK(c);
  return boolean(lists_touch(c, list_a, list_b));
}

/// Does a bounding box, given by its ends, touch the border of a grid from inside? The grid is looked at only if the
/// upper and the left border do not decide.
OUTLINE V borders(Ctx &c, V top, V left, V bottom, V right, V grid) {
  if (equal(c, top, integer(0)) || equal(c, left, integer(0))) return boolean(true);
  if (!is_container(grid)) return failed(TYPE_);
  if (equal(c, bottom, integer((i64)length(c, grid) - 1))) return boolean(true);
  V first = at(c, grid, 0);
  TRY(first);
  if (!is_container(first)) return failed(TYPE_);
  return boolean(equal(c, right, integer((i64)length(c, first) - 1)));
}
OP(bordering)(Ctx &c, V patch, V grid) {
  Bounds b;
  V fault = patch_box(c, patch, &b);
  TRY(fault);
  return borders(c, integer(b.top), integer(b.left), integer(b.bottom), integer(b.right), grid);
}

/// The centre of the locations of a patch.
INLINE V center_of_indices(Ctx &c, V patch, Point *center) {
  if (is_full_patch(patch)) return center_of(c, patch, center);
  V locations = op_toindices(c, patch);
  TRY(locations);
  return center_of(c, locations, center);
}
OP(position)(Ctx &c, V a, V b) {
  Point p, q;
  V fault = center_of_indices(c, a, &p);
  TRY(fault);
  fault = center_of_indices(c, b, &q);
  TRY(fault);
  i32 i = p.i == q.i ? 0 : p.i < q.i ? 1 : -1;
  // In the same row a step is made all the same.
  i32 j = p.i != q.i && p.j == q.j ? 0 : p.j < q.j ? 1 : -1;
  return pair_of_word(pair_word(i, j));
}

/// How far `gravitate` goes at most.
const i32 MOST_MOVES = 42;

/// After how many steps of a vector a list of locations first touches another one, at so much work a step.
OUTLINE i32 moves_to_touch(Ctx &c, V list, V goal, i32 di, i32 dj, u64 work) {
  Bits marked;
  bool near = mark_list(c, goal, &marked);
  i32 moves = 0;
  while (moves < MOST_MOVES) {
    i32 i = di * moves, j = dj * moves;
    spend(c, work);
    if (c.stop) break;
    if (near ? touches(c, list, i, j, marked) : distance_of(c, list, goal, i, j) == 1) break;
    moves++;
  }
  return moves;
}
OP(gravitate)(Ctx &c, V source, V destination) {
  Point p, q;
  V fault = center_of(c, source, &p);
  TRY(fault);
  fault = center_of(c, destination, &q);
  TRY(fault);
  V from, to;
  fault = locate_both(c, source, destination, &from, &to);
  TRY(fault);
  i32 di = 0, dj = 0;
  if (lists_match(c, from, to, COLUMNS)) di = p.i < q.i ? 1 : -1;
  else dj = p.j < q.j ? 1 : -1;
  // The CPU has a quick way for patches in packed form that are not too large.
  bool quick = is_full_patch(source) && is_full_patch(destination) && to.len < 1024;
  i32 moves = moves_to_touch(c, from, to, di, dj, quick ? 0 : work_of_pairs(source, destination, from, to));
  return pair_of_word(pair_word(di * moves, dj * moves));
}

// ---- tokpidjin -----------------------------------------------------------------------------------------------
//
// The names without a suffix and those in _f take both kinds of patch, _i locations, _o objects, _t grids. What is no
// patch of the right kind is measured by its ends, whatever those are.

enum PatchKind : u8 { EITHER_KIND, LOCATIONS_ALONE, OBJECTS_ALONE };

INLINE bool fits(V v, u8 kind) {
  if (v.len == 0) return false;
  return (v.kind == SET_P && kind != OBJECTS_ALONE) || (v.kind == SET_C && kind != LOCATIONS_ALONE);
}

/// An end of a piece, as the functions of the dialect give it: 0 top, 1 bottom, 2 left, 3 right.
OUTLINE V tok_end(Ctx &c, V piece, u8 kind, u32 which) {
  V end;
  switch (kind * 4 + which) {
  case 0: end = tok_uppermost(c, piece); break;
  case 1: end = tok_lowermost(c, piece); break;
  case 2: end = tok_leftmost(c, piece); break;
  case 3: end = tok_rightmost(c, piece); break;
  case 4: end = tok_uppermost_i(c, piece); break;
  case 5: end = tok_lowermost_i(c, piece); break;
  case 6: end = tok_leftmost_i(c, piece); break;
  case 7: end = tok_rightmost_i(c, piece); break;
  case 8: end = tok_uppermost_o(c, piece); break;
  case 9: end = tok_lowermost_o(c, piece); break;
  case 10: end = tok_leftmost_o(c, piece); break;
  default: end = tok_rightmost_o(c, piece);
  }
  return safely(c, end, TO_ZERO);
}

/// How far apart two ends of a piece are, both included; 0 for an empty one.
OUTLINE V tok_extent(Ctx &c, V piece, u8 kind, u8 axis) {
  if (fits(piece, kind)) {
    Extent e = extent_of_box(bounds_of(c, piece));
    return integer(axis == ROWS ? e.height : e.width);
  }
  if (!is_container(piece)) return failed(TYPE_);
  if (length(c, piece) == 0) return integer(0);
  V to = tok_end(c, piece, kind, axis == ROWS ? 1 : 3);
  TRY(to);
  V from = tok_end(c, piece, kind, axis == ROWS ? 0 : 2);
  TRY(from);
  // The difference of two sets is a set, and 1 cannot be added to it.
  if (is_container(to) || is_container(from)) return failed(TYPE_);
  V distance = on_values(c, SUBTRACT, to, from);
  TRY(distance);
  return on_values(c, ADD, distance, integer(1));
}
TOK(height_f)(Ctx &c, V piece) { return tok_extent(c, piece, EITHER_KIND, ROWS); }
TOK(height_i)(Ctx &c, V piece) { return tok_extent(c, piece, LOCATIONS_ALONE, ROWS); }
TOK(height_o)(Ctx &c, V piece) { return tok_extent(c, piece, OBJECTS_ALONE, ROWS); }
TOK(width_f)(Ctx &c, V piece) { return tok_extent(c, piece, EITHER_KIND, COLUMNS); }
TOK(width_i)(Ctx &c, V piece) { return tok_extent(c, piece, LOCATIONS_ALONE, COLUMNS); }
TOK(width_o)(Ctx &c, V piece) { return tok_extent(c, piece, OBJECTS_ALONE, COLUMNS); }

/// The length of the first row of a grid.
INLINE V first_length(Ctx &c, V grid) {
  if (grid.kind == GRID) return integer(width_of(grid));
  V first = at(c, grid, 0);
  TRY(first);
  return is_container(first) ? integer(length(c, first)) : failed(TYPE_);
}
TOK(height_t)(Ctx &c, V piece) { return is_container(piece) ? integer(length(c, piece)) : failed(TYPE_); }
TOK(width_t)(Ctx &c, V piece) { return truth(c, piece) ? first_length(c, piece) : integer(0); }
TOK(square_t)(Ctx &c, V grid) {
  if (!is_container(grid)) return failed(TYPE_);
  V width = first_length(c, grid);
  TRY(width);
  return boolean(int_of(width) == (i64)length(c, grid));
}

/// Height and width as the functions of the dialect give them.
OUTLINE V tok_extents(Ctx &c, V piece, bool grid, V *height, V *width) {
  *height = safely(c, grid ? tok_height_t(c, piece) : tok_extent(c, piece, EITHER_KIND, ROWS), TO_ZERO);
  TRY(*height);
  *width = safely(c, grid ? tok_width_t(c, piece) : tok_extent(c, piece, EITHER_KIND, COLUMNS), TO_ZERO);
  TRY(*width);
  return none();
}
OUTLINE V tok_shape(Ctx &c, V piece, bool grid) {
  V height, width;
  V fault = tok_extents(c, piece, grid, &height, &width);
  TRY(fault);
  return pair_of(c, height, width);
}
OUTLINE V tok_portrait(Ctx &c, V piece, bool grid) {
  V height, width;
  V fault = tok_extents(c, piece, grid, &height, &width);
  TRY(fault);
  i32 is_less = less(c, width, height);
  return is_less < 0 ? failed(TYPE_) : boolean(is_less);
}
TOK(shape_t)(Ctx &c, V grid) { return tok_shape(c, grid, true); }
TOK(shape_f)(Ctx &c, V patch) { return tok_shape(c, patch, false); }
TOK(portrait_t)(Ctx &c, V grid) { return tok_portrait(c, grid, true); }
TOK(portrait_f)(Ctx &c, V patch) { return tok_portrait(c, patch, false); }
TOK(square_f)(Ctx &c, V patch) {
  if (is_full_patch(patch)) return op_square(c, patch);
  V height, width;
  V fault = tok_extents(c, patch, false, &height, &width);
  TRY(fault);
  V area = on_values(c, MULTIPLY, height, width);
  TRY(area);
  if (!is_container(patch)) return failed(TYPE_);
  return boolean(equal(c, area, integer(length(c, patch))) && equal(c, height, width));
}

/// Is a patch as long as it has elements, and one wide?
OUTLINE V is_line(Ctx &c, V patch, u8 kind, u8 axis) {
  V length_along = safely(c, tok_extent(c, patch, kind, axis), TO_ZERO);
  TRY(length_along);
  if (!is_container(patch)) return failed(TYPE_);
  if (!equal(c, length_along, integer(length(c, patch)))) return boolean(false);
  V across = safely(c, tok_extent(c, patch, kind, axis == ROWS ? COLUMNS : ROWS), TO_ZERO);
  TRY(across);
  return boolean(equal(c, across, integer(1)));
}
TOK(vline_i)(Ctx &c, V patch) { return is_line(c, patch, LOCATIONS_ALONE, ROWS); }
TOK(vline_o)(Ctx &c, V patch) { return is_line(c, patch, OBJECTS_ALONE, ROWS); }
TOK(hline_i)(Ctx &c, V patch) { return is_line(c, patch, LOCATIONS_ALONE, COLUMNS); }
TOK(hline_o)(Ctx &c, V patch) { return is_line(c, patch, OBJECTS_ALONE, COLUMNS); }

/// Is it the nan that stands for a missing number? A nan that arithmetic made is another.
INLINE bool is_missing(V v) { return v.kind == FLOAT && bits_of(v) == NAN_BITS; }

TOK(center)(Ctx &c, V patch) {
  if (is_full_patch(patch)) return op_center(c, patch);
  V top = tok_end(c, patch, EITHER_KIND, 0);
  TRY(top);
  V left = tok_end(c, patch, EITHER_KIND, 2);
  TRY(left);
  if (is_missing(top) || is_missing(left)) return empty_tuple();
  V height, width;
  V fault = tok_extents(c, patch, false, &height, &width);
  TRY(fault);
  V down = on_values(c, DIVIDE, height, integer(2));
  TRY(down);
  V across = on_values(c, DIVIDE, width, integer(2));
  TRY(across);
  if (is_container(top) || is_container(left)) return failed(TYPE_); // half of an extent is a number
  V i = on_values(c, ADD, top, down);
  TRY(i);
  V j = on_values(c, ADD, left, across);
  TRY(j);
  return pair_of(c, i, j);
}
TOK(centerofmass)(Ctx &c, V patch) {
  if (is_full_patch(patch)) return mean_of_patch(c, patch);
  V locations = safely(c, tok_toindices(c, patch), TO_EMPTY_SET);
  TRY(locations);
  if (!is_container(patch)) return failed(TYPE_);
  return by_columns(c, locations, MEAN, MEAN, length(c, patch));
}

/// `a, b = v`.
OUTLINE V two_of(Ctx &c, V v, V *a, V *b) {
  if (!is_container(v)) return failed(TYPE_);
  if (length(c, v) != 2) return failed(VALUE_);
  NEED_ORDER(c, v);
  *a = item(c, v, 0);
  *b = item(c, v, 1);
  return none();
}
/// The centre of a patch, as its two parts.
OUTLINE V tok_center_parts(Ctx &c, V patch, V *i, V *j) {
  V center = safely(c, tok_center(c, patch), TO_EMPTY_TUPLE);
  TRY(center);
  return two_of(c, center, i, j);
}
OUTLINE V tok_center_of_indices(Ctx &c, V patch, V *i, V *j) {
  V locations = safely(c, tok_toindices(c, patch), TO_EMPTY_SET);
  TRY(locations);
  return tok_center_parts(c, locations, i, j);
}
/// A step forward if the one is before the other, otherwise a step back: as a number, or a fault.
INLINE V towards(Ctx &c, V from, V to) {
  i32 before = less(c, from, to);
  CHECK(c);
  return before < 0 ? failed(TYPE_) : integer(before ? 1 : -1);
}
TOK(position)(Ctx &c, V a, V b) {
  if (is_full_patch(a) && is_full_patch(b)) return op_position(c, a, b);
  V ai, aj, bi, bj;
  V fault = tok_center_of_indices(c, a, &ai, &aj);
  TRY(fault);
  fault = tok_center_of_indices(c, b, &bi, &bj);
  TRY(fault);
  if (equal(c, ai, bi)) {
    V j = towards(c, aj, bj);
    TRY(j);
    return pair_of(c, integer(0), j);
  }
  V i = towards(c, ai, bi);
  TRY(i);
  if (equal(c, aj, bj)) return pair_of(c, i, integer(0));
  if (int_of(i) < 0) {
    i32 behind = less(c, bi, ai);
    CHECK(c);
    if (behind < 0) return failed(TYPE_);
    if (!behind) return none(); // with a nan there is no direction
  }
  V j = towards(c, aj, bj);
  TRY(j);
  return pair_of(c, i, j);
}

/// The locations of a patch of tokpidjin, as a list.
INLINE V tok_located(Ctx &c, V patch, V *list, bool *late) {
  *late = false;
  if (is_full_patch(patch)) {
    *list = patch;
    return none();
  }
  V locations = safely(c, tok_toindices(c, patch), TO_EMPTY_SET);
  TRY(locations);
  return unpacked_locations(c, locations, list, late);
}
OUTLINE V tok_matching(Ctx &c, V a, V b, u8 axis) {
  V list_a, list_b;
  bool late;
  V fault = tok_located(c, a, &list_a, &late);
  TRY(fault);
  fault = tok_located(c, b, &list_b, &late);
  TRY(fault);
  if (list_a.len == 0 || list_b.len == 0) {
    owe_for(c, list_a);
    owe_for(c, list_b);
  }
  return any_match(c, list_a, list_b, axis);
}
TOK(hmatching)(Ctx &c, V a, V b) { return tok_matching(c, a, b, ROWS); }
TOK(vmatching)(Ctx &c, V a, V b) { return tok_matching(c, a, b, COLUMNS); }

/// Is it not a container, or one without elements?
INLINE bool is_nothing(const Ctx &c, V v) { return !is_container(v) || length(c, v) == 0; }
OUTLINE V tok_locate_both(Ctx &c, V a, V b, V *list_a, V *list_b) {
  bool late_a, late_b;
  *list_a = *list_b = empty_set();
  V fault_a = tok_located(c, a, list_a, &late_a);
  V fault_b = tok_located(c, b, list_b, &late_b);
  return both_located(c, fault_a, late_a, *list_a, fault_b, *list_b);
}
TOK(manhattan)(Ctx &c, V a, V b) {
  if (is_nothing(c, a) || is_nothing(c, b)) return floating_bits(0x7ff0000000000000ull);
  V list_a, list_b;
  V fault = tok_locate_both(c, a, b, &list_a, &list_b);
  TRY(fault);
  spend(c, work_of_pairs(a, b, list_a, list_b));
  return integer(distance_of(c, list_a, list_b, 0, 0));
}
TOK(adjacent)(Ctx &c, V a, V b) {
  if (is_full_patch(a) && is_full_patch(b)) {
    spend(c, work_of_pairs(a, b, a, b));
    CHECK(c);
    return boolean(lists_touch(c, a, b));
  }
  V steps = safely(c, tok_manhattan(c, a, b), TO_ZERO);
  TRY(steps);
  return boolean(equal(c, steps, integer(1)));
}
TOK(bordering)(Ctx &c, V patch, V grid) {
  if (is_full_patch(patch)) return op_bordering(c, patch, grid);
  V top = tok_end(c, patch, EITHER_KIND, 0);
  TRY(top);
  if (equal(c, top, integer(0))) return boolean(true);
  V left = tok_end(c, patch, EITHER_KIND, 2);
  TRY(left);
  if (equal(c, left, integer(0))) return boolean(true);
  V bottom = tok_end(c, patch, EITHER_KIND, 1);
  TRY(bottom);
  V right = tok_end(c, patch, EITHER_KIND, 3);
  TRY(right);
  return borders(c, top, left, bottom, right, grid);
}

/// gravitate for patches of which one is in no packed form: step by step, as it is defined.
OUTLINE V gravitate_step_by_step(Ctx &c, V source, V destination, V step) {
  V moved = source;
  i32 moves = 0;
  while (moves < MOST_MOVES) {
    V touch = safely(c, tok_adjacent(c, moved, destination), TO_FALSE);
    TRY(touch);
    if (truth(c, touch)) break;
    moves++;
    moved = safely(c, tok_shift(c, moved, step), TO_EMPTY_SET);
    TRY(moved);
  }
  return pair_of_word(pair_word(row_of(step.lo) * moves, column_of(step.lo) * moves));
}
TOK(gravitate)(Ctx &c, V source, V destination) {
  if (is_full_patch(source) && is_full_patch(destination)) return op_gravitate(c, source, destination);
  if (!truth(c, destination)) return source;
  V from_i, from_j, to_i, to_j;
  V fault = tok_center_parts(c, source, &from_i, &from_j);
  TRY(fault);
  fault = tok_center_parts(c, destination, &to_i, &to_j);
  TRY(fault);
  V vertical = safely(c, tok_vmatching(c, source, destination), TO_FALSE);
  TRY(vertical);
  bool down = truth(c, vertical);
  V sense = down ? towards(c, from_i, to_i) : towards(c, from_j, to_j);
  TRY(sense);
  i32 n = (i32)int_of(sense);
  return gravitate_step_by_step(c, source, destination, pair_of_word(down ? pair_word(n, 0) : pair_word(0, n)));
}

// ---- tokpidjin: periods --------------------------------------------------------------------------------------

/// Is every cell of an object, moved back by p along the axis, in the object again, as far as it stays in the box?
OUTLINE bool repeats(Ctx &c, V object, const Bounds &box, u8 axis, i32 p, const Bits *marked) {
  bool missing = false;
  spend(c, marked ? object.len / 2 : (u64)object.len * object.len / 4);
  i32 start = axis == ROWS ? box.top : box.left;
  for (u32 k = lane(); k < object.len; k += LANES) {
    Dot d = dots_of(c, object)[k];
    if (along(d.at, axis) - p < start) continue;
    u32 to = axis == ROWS ? pair_word(row_of(d.at) - p, column_of(d.at)) : pair_word(row_of(d.at), column_of(d.at) - p);
    bool found = false;
    if (marked) {
      found = bit_is_set(*marked, bit_of(*marked, to) + (u32)d.color * marked->area);
    } else {
      for (u32 m = 0; m < object.len && !found; m++)
        found = dots_of(c, object)[m].at == to && dots_of(c, object)[m].color == d.color;
    }
    missing |= !found;
  }
  return !any(missing);
}
OUTLINE V period_of_object(Ctx &c, V object, u8 axis) {
  Bounds box = bounds_of(c, object);
  Extent e = extent_of_box(box);
  i64 extent = axis == ROWS ? e.height : e.width;
  // Half of all numbers of 16 bits: there the CPU's arithmetic has its own ways.
  if (extent > 32767 || box.top == -32768 || box.left == -32768) return odd(c);
  Bits bits;
  bool marked = colors_are_digits(c, object) && bits_for(c, box, true, &bits);
  if (marked) set_bits(c, bits, object, true);
  for (i32 p = 1; p < extent; p++)
    if (repeats(c, object, box, axis, p, marked ? &bits : nullptr)) return integer(p);
  return integer(extent);
}
OUTLINE V tok_period(Ctx &c, V obj, u8 axis) {
  if (obj.kind == SET_C) return period_of_object(c, obj, axis);
  V normed = safely(c, tok_normalize(c, obj), TO_EMPTY_SET);
  TRY(normed);
  if (normed.kind == SET_C) return period_of_object(c, normed, axis);
  V extent = safely(c, tok_extent(c, normed, EITHER_KIND, axis), TO_ZERO);
  TRY(extent);
  if (!is_number(extent)) return failed(TYPE_);
  if (number_of(extent) <= 1) return extent;
  // Locations cannot be taken for cells.
  return normed.kind == SET_P ? failed(VALUE_) : odd(c);
}
TOK(hperiod)(Ctx &c, V obj) { return tok_period(c, obj, COLUMNS); }
TOK(vperiod)(Ctx &c, V obj) { return tok_period(c, obj, ROWS); }
