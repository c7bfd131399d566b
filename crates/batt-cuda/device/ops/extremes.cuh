// tokpidjin: the ends and corners of patches.
//
// The plain names take both kinds of patch, `_i` locations and `_o` objects. A packed patch of the right kind has a
// bounding box; for anything else the locations are looked at one by one.

enum Reading : u8 { AS_PATCH, AS_INDICES, AS_OBJECT };
enum End : u8 { TOPMOST, BOTTOMMOST, LEFTMOST, RIGHTMOST };

INLINE bool is_read_packed(V patch, u8 reading) {
  return (patch.kind == SET_P && patch.len > 0 && reading != AS_OBJECT) || (patch.kind == SET_C && reading != AS_INDICES);
}

/// The number of components that all members have, if that is 2 or 3 and the same for all; else 0.
OUTLINE u32 components_of(Ctx &c, V container) {
  if (!is_container(container)) return 0;
  u32 n = length(c, container);
  if (n == 0) return 0;
  bool two = true, three = true;
  for (u32 k = lane(); k < n; k += LANES) {
    V member = item(c, container, k);
    u32 count = is_container(member) ? length(c, member) : 0;
    two &= count == 2;
    three &= count == 3;
  }
  return all(two) ? 2 : all(three) ? 3 : 0;
}

/// The smallest or largest component k of all members of any kind, as Python finds it. `*settled`: all are integers or
/// all are tuples of integers, so that it is the same in whatever sequence they come.
OUTLINE V extreme_component(Ctx &c, V container, u32 k, bool largest_one, bool *settled) {
  u32 n = length(c, container);
  bool ints = true, rows = true;
  i64 low = 0x7fffffffffffffffll, high = -low - 1;
  for (u32 m = lane(); m < n; m += LANES) {
    V member = item(c, container, m);
    V x = item(c, member, k);
    ints &= in_order(member) && x.kind == INT;
    rows &= x.kind == PAIR || x.kind == CELL || x.kind == ROW;
    low = min_of(low, int_of(x));
    high = max_of(high, int_of(x));
  }
  *settled = true;
  if (all(ints)) return integer(largest_one ? largest(high) : least(low));
  // Cells are triples here.
  *settled = all(rows);
  if (!*settled) NEED_ORDER(c, container);
  spend(c, n);
  V best = none();
  for (u32 m = 0; m < n; m++) {
    V member = item(c, container, m);
    NEED_ORDER(c, member);
    V x = item(c, member, k);
    if (m == 0) {
      best = x;
      continue;
    }
    i32 better = largest_one ? less(c, best, x) : less(c, x, best);
    CHECK(c);
    if (better < 0) return failed(TYPE_);
    if (better) best = x;
  }
  return best;
}

/// An end of anything that is no packed patch of the right kind.
OUTLINE V odd_end(Ctx &c, V patch, u8 reading, u8 end, bool guarded) {
  if (guarded && !truth(c, patch)) return floating_bits(NAN_BITS);
  owe_for(c, patch);
  u32 components = components_of(c, patch);
  if (components == 0 || (components == 2 && reading == AS_OBJECT) || (components == 3 && reading == AS_INDICES))
    return failed(VALUE_);
  bool column = end == LEFTMOST || end == RIGHTMOST, settled;
  V found = extreme_component(c, patch, column, end == BOTTOMMOST || end == RIGHTMOST, &settled);
  // The locations of cells go through a set of their own, whose order may decide.
  return components == 3 && !settled ? odd(c) : found;
}

OUTLINE V end_of(Ctx &c, V patch, u8 reading, u8 end, bool guarded) {
  if (!is_read_packed(patch, reading)) return odd_end(c, patch, reading, end, guarded);
  Bounds b = bounds_of(c, patch);
  return integer(end == TOPMOST ? b.top : end == BOTTOMMOST ? b.bottom : end == LEFTMOST ? b.left : b.right);
}

TOK(lowermost)(Ctx &c, V patch) { return end_of(c, patch, AS_PATCH, BOTTOMMOST, true); }
TOK(lowermost_i)(Ctx &c, V patch) { return end_of(c, patch, AS_INDICES, BOTTOMMOST, true); }
TOK(lowermost_o)(Ctx &c, V patch) { return end_of(c, patch, AS_OBJECT, BOTTOMMOST, true); }
TOK(uppermost)(Ctx &c, V patch) { return end_of(c, patch, AS_PATCH, TOPMOST, true); }
TOK(uppermost_i)(Ctx &c, V patch) { return end_of(c, patch, AS_INDICES, TOPMOST, true); }
TOK(uppermost_o)(Ctx &c, V patch) { return end_of(c, patch, AS_OBJECT, TOPMOST, true); }
TOK(leftmost)(Ctx &c, V patch) { return end_of(c, patch, AS_PATCH, LEFTMOST, true); }
TOK(leftmost_i)(Ctx &c, V patch) { return end_of(c, patch, AS_INDICES, LEFTMOST, true); }
TOK(leftmost_o)(Ctx &c, V patch) { return end_of(c, patch, AS_OBJECT, LEFTMOST, true); }
TOK(rightmost)(Ctx &c, V patch) { return end_of(c, patch, AS_PATCH, RIGHTMOST, true); }
TOK(rightmost_i)(Ctx &c, V patch) { return end_of(c, patch, AS_INDICES, RIGHTMOST, false); }
TOK(rightmost_o)(Ctx &c, V patch) { return end_of(c, patch, AS_OBJECT, RIGHTMOST, false); }

TOK(col_row)(Ctx &c, V patch, V type) {
  i64 code;
  if (!integral(type, &code) || code < 0 || code > 3) return none();
  const u8 ends[4] = {BOTTOMMOST, TOPMOST, LEFTMOST, RIGHTMOST};
  return safely(c, end_of(c, patch, AS_PATCH, ends[code], true), TO_ZERO);
}

/// The extremes of every column of a grid, or of the packed cells of an object.
OUTLINE V grid_corner(Ctx &c, Grid grid, bool lower, bool right) {
  ROOM(V, found, c, grid.width);
  spend(c, grid.height);
  for (u32 j = lane(); j < grid.width; j += LANES) {
    u8 low = 255, high = 0;
    for (u32 i = 0; i < grid.height; i++) {
      u8 cell = grid.cells[i * grid.width + j];
      low = min_of(low, cell);
      high = max_of(high, cell);
    }
    found[j] = integer((j == 1 ? right : lower) ? high : low);
  }
  sync();
  return tuple_at(c, found, grid.width);
}

/// The extremes of every column of locations of any kind: `lower` says which one of the first column, `right` of the
/// second. Python looks further ones up in a dictionary that has entries for two, unless the two agree.
OUTLINE V columns_corner(Ctx &c, V locations, bool lower, bool right) {
  u32 n = length(c, locations);
  u32 width = n ? 0xffffffffu : 0;
  bool wrong = false;
  for (u32 k = lane(); k < n; k += LANES) {
    V member = item(c, locations, k);
    wrong |= !is_container(member);
    width = min_of(width, length(c, member));
  }
  if (any(wrong)) return failed(TYPE_);
  width = least(width);
  if (width > 2 && lower != right) return failed(KEY_);
  if (width == 0) return empty_tuple();
  Grid grid;
  if (as_grid(c, locations, &grid)) return grid_corner(c, grid, lower, right);
  CHECK(c);
  ROOM(V, found, c, width);
  for (u32 k = 0; k < width; k++) {
    bool settled;
    V best = extreme_component(c, locations, k, k == 1 ? right : lower, &settled);
    TRY(best);
    put(found + k, best);
  }
  sync();
  return tuple_at(c, found, width);
}

/// A corner of anything that is no packed patch of the right kind.
OUTLINE V odd_corner(Ctx &c, V patch, u8 reading, bool lower, bool right) {
  if (!is_container(patch)) return reading == AS_INDICES ? failed(TYPE_) : empty_tuple();
  u32 n = length(c, patch);
  if (n == 0) return empty_tuple();
  owe_for(c, patch);
  u32 components = reading == AS_INDICES ? 0 : components_of(c, patch);
  if (components == 3) {
    bool settled, other_settled;
    V i = extreme_component(c, patch, 0, lower, &settled);
    V j = extreme_component(c, patch, 1, right, &other_settled);
    // The locations go through a set of their own, whose order may decide.
    if (!settled || !other_settled) return odd(c);
    TRY(i);
    TRY(j);
    return pair_of(c, i, j);
  }
  if (reading == AS_OBJECT) return failed(VALUE_);
  if (reading == AS_PATCH) {
    // The first member tells locations from cells and from anything else.
    NEED_ORDER(c, patch);
    V first = item(c, patch, 0);
    if (!is_container(first)) return empty_tuple();
    if (length(c, first) == 3) return failed(VALUE_);
  }
  return columns_corner(c, patch, lower, right);
}

OUTLINE V corner_of_patch(Ctx &c, V patch, u8 reading, bool lower, bool right) {
  if (!is_read_packed(patch, reading)) return odd_corner(c, patch, reading, lower, right);
  Bounds b = bounds_of(c, patch);
  return pair_of_word(pair_word(lower ? b.bottom : b.top, right ? b.right : b.left));
}

TOK(ulcorner)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_PATCH, false, false); }
TOK(ulcorner_i)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_INDICES, false, false); }
TOK(ulcorner_o)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_OBJECT, false, false); }
TOK(urcorner)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_PATCH, false, true); }
TOK(urcorner_i)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_INDICES, false, true); }
TOK(urcorner_o)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_OBJECT, false, true); }
TOK(llcorner)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_PATCH, true, false); }
TOK(llcorner_i)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_INDICES, true, false); }
TOK(llcorner_o)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_OBJECT, true, false); }
TOK(lrcorner)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_PATCH, true, true); }
TOK(lrcorner_i)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_INDICES, true, true); }
TOK(lrcorner_o)(Ctx &c, V patch) { return corner_of_patch(c, patch, AS_OBJECT, true, true); }

TOK(corner)(Ctx &c, V patch, V type) {
  i64 code;
  if (!integral(type, &code) || code < 0 || code > 3) code = 0;
  return safely(c, corner_of_patch(c, patch, AS_PATCH, code & 2, code & 1), TO_EMPTY_TUPLE);
}

TOK(corners)(Ctx &c, V patch) {
  ROOM(V, found, c, 4);
  for (u32 code = 0; code < 4; code++) {
    V corner = safely(c, corner_of_patch(c, patch, AS_PATCH, code & 2, code & 1), TO_EMPTY_TUPLE);
    TRY(corner);
    put(found + code, corner);
  }
  sync();
  return build_values(c, found, 4, FROZEN);
}
