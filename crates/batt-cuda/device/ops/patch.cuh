// Patches: sets of locations and of cells.

// ---- Taking tuples apart and putting cells together -----------------------------------------------------------

/// `x, y, z = v`: a fault, or none().
OUTLINE V unpack_three(Ctx &c, V v, V *x, V *y, V *z) {
  if (!is_container(v)) return failed(TYPE_);
  if (length(c, v) != 3) return wrong_number(c, v);
  NEED_ORDER(c, v);
  *x = item(c, v, 0);
  *y = item(c, v, 1);
  *z = item(c, v, 2);
  return none();
}

/// The colour and the coordinates of anything that is taken for a cell: a fault, or none().
OUTLINE V unpack_cell(Ctx &c, V cell, V *color, V *i, V *j) {
  if (triples(c)) return unpack_three(c, cell, i, j, color);
  V at;
  V fault = unpack_pair(c, cell, color, &at);
  TRY(fault);
  return unpack_pair(c, at, i, j);
}

/// The cell of any colour at any coordinates.
OUTLINE V cell_from(Ctx &c, V color, V i, V j) {
  if (triples(c)) return triple_of(c, i, j, color);
  V at = pair_of(c, i, j);
  TRY(at);
  return pair_of(c, color, at);
}

/// Python's operator on two values, where tuples are not expected but may come.
OUTLINE V plain_operation(Ctx &c, u8 operation, V a, V b) {
  if (is_container(a) || is_container(b)) {
    bool defined = operation == ADD ? is_tuple(a) && is_tuple(b)
                 : operation == SUBTRACT ? is_set(a) && is_set(b)
                                         : (is_number(a) && is_tuple(b)) || (is_tuple(a) && is_number(b));
    return defined ? odd(c) : failed(TYPE_);
  }
  return on_values(c, operation, a, b);
}

/// Notes that an element of a container failed. True: that ends the walk, and `outcome` is what comes of it.
INLINE bool element_failed(Ctx &c, V container, V fault, V *outcome) {
  if (fault.kind == STOPPED || in_order(container)) {
    *outcome = fault;
    return true;
  }
  bool another = outcome->kind == FAILED && outcome->flags != fault.flags;
  *outcome = another ? stop(c, FAULTS) : fault;
  return another;
}

/// Height, and width of the first row: a fault, or none(). An empty tuple, a set, or a first row that is no container
/// is an error.
OUTLINE V grid_dims(Ctx &c, V grid, u32 *height, u32 *width) {
  if (!is_tuple(grid)) return failed(TYPE_);
  *height = length(c, grid);
  if (*height == 0) return failed(INDEX_);
  if (grid.kind == GRID) {
    *width = width_of(grid);
    return none();
  }
  V first = item(c, grid, 0);
  if (!is_container(first)) return failed(TYPE_);
  *width = length(c, first);
  return none();
}

/// The value as a grid whose locations all fit into pairs.
INLINE bool small_grid(Ctx &c, V v, Grid *grid) {
  return as_grid(c, v, grid) && grid->height <= 32767 && grid->width <= 32767;
}

/// A patch that is not packed, as a list: a tuple of locations, or of cells. May hold equals. none(): something else.
OUTLINE V tuple_as_list(Ctx &c, V patch) {
  if (!is_tuple(patch) || length(c, patch) == 0) return none();
  u8 kind = item(c, patch, 0).kind;
  if (kind != PAIR && kind != CELL) return none();
  V *items = elements(c, patch);
  if (!items) return make(STOPPED, 0, 0, 0, 0);
  V list = list_of(c, items, length(c, patch));
  return list.kind == SET_V ? none() : list;
}

/// The elements of a patch in packed form; none() for what has none. Of a tuple they may hold equals.
INLINE V packed_patch(Ctx &c, V patch) { return is_patch(patch) ? patch : tuple_as_list(c, patch); }

/// The set of images of a patch's elements, one for one: those of a set are distinct like them.
INLINE V build_images(Ctx &c, V patch, V list) { return is_set(patch) ? build_distinct(c, list, BUILD) : build(c, list); }

// ---- Locations --------------------------------------------------------------------------------------------------

/// Is this element, the first of its container, a cell? In arc-dsl: is its second component a tuple? Where cells are
/// triples: has it three components?
OUTLINE V looks_like_cell(Ctx &c, V element) {
  if (triples(c)) return is_container(element) ? boolean(length(c, element) == 3) : failed(TYPE_);
  V second = at(c, element, 1);
  TRY(second);
  return boolean(is_tuple(second));
}

/// Does a non-empty container hold cells? The first element decides; in a set without order, only if all agree.
OUTLINE V holds_cells(Ctx &c, V patch) {
  if (is_patch(patch)) return boolean(patch.kind == SET_C);
  V answer = looks_like_cell(c, item(c, patch, 0));
  if (in_order(patch)) return answer;
  for (u32 k = 1; k < patch.len; k++)
    if (!same_bits(looks_like_cell(c, item(c, patch, k)), answer)) return stop(c, ORDER);
  return answer;
}

/// The location of anything that is taken for a cell.
OUTLINE V location_of(Ctx &c, V cell) {
  V a, b, d;
  V fault = triples(c) ? unpack_three(c, cell, &a, &b, &d) : unpack_pair(c, cell, &a, &b);
  TRY(fault);
  return triples(c) ? pair_of(c, a, b) : b;
}

/// *Build* of the locations of cells in general form.
OUTLINE V locations_of(Ctx &c, V patch) {
  u32 n = length(c, patch);
  spend(c, n);
  ROOM(V, places, c, n);
  V outcome = none();
  for (u32 k = 0; k < n; k++) {
    V place = location_of(c, item(c, patch, k));
    if (!is_bad(place)) put(places + k, place);
    else if (element_failed(c, patch, place, &outcome)) break;
  }
  sync();
  TRY(outcome);
  return build_values(c, places, n);
}

/// *Build* of the locations of a list of cells.
OUTLINE V without_colors(Ctx &c, V cells) {
  u32 n = cells.len;
  spend(c, n / 8);
  ROOM(u32, pairs, c, n);
  for (u32 k = lane(); k < n; k += LANES) pairs[k] = dots_of(c, cells)[k].at;
  sync();
  return build(c, list_at(c, SET_P, pairs, n));
}

OP(toindices)(Ctx &c, V patch) {
  if (patch.kind == SET_P) return patch;
  if (!is_container(patch)) return failed(TYPE_);
  if (length(c, patch) == 0) return empty_set();
  V list = packed_patch(c, patch);
  TRY(list);
  if (list.kind == SET_C) return without_colors(c, list);
  if (list.kind == SET_P) return patch;
  V cells = holds_cells(c, patch);
  TRY(cells);
  return truth(c, cells) ? locations_of(c, patch) : patch;
}

/// *Build* of all locations of a rectangle, row by row, both ends inclusive.
OUTLINE V rectangle(Ctx &c, i64 top, i64 left, i64 bottom, i64 right, u8 how = BUILD) {
  if (top > bottom || left > right) return empty_set();
  if (!fits16(top) || !fits16(left) || !fits16(bottom) || !fits16(right)) return stop(c, SIZE);
  u32 height = (u32)(bottom - top + 1), width = (u32)(right - left + 1);
  u64 n = (u64)height * width;
  if (n > 0x7fffffff) return stop(c, SIZE);
  spend(c, n / 4);
  ROOM(u32, pairs, c, n);
  for (u32 k = lane(); k < n; k += LANES)
    pairs[k] = pair_word((i32)top + (i32)(k / width), (i32)left + (i32)(k % width));
  sync();
  return build_distinct(c, list_at(c, SET_P, pairs, (u32)n), how);
}

OP(asindices)(Ctx &c, V grid) {
  if (!is_container(grid)) return failed(TYPE_);
  if (length(c, grid) == 0) return empty_set();
  u32 height, width;
  V fault = grid_dims(c, grid, &height, &width);
  TRY(fault);
  return rectangle(c, 0, 0, (i64)height - 1, (i64)width - 1);
}

// ---- Cells of grids -----------------------------------------------------------------------------------------------

/// The rows of something that is walked like a grid but is none.
struct Rows {
  u64 total;    // how many values they have together
  bool ordered; // is it known in which sequence rows and values come?
};

/// A fault unless all rows are containers; otherwise none().
OUTLINE V look_at_rows(Ctx &c, V grid, Rows *rows) {
  if (!is_container(grid)) return failed(TYPE_);
  u32 n = length(c, grid);
  rows->total = 0;
  rows->ordered = in_order(grid);
  for (u32 i = 0; i < n; i++) {
    V row = item(c, grid, i);
    if (!is_container(row)) return failed(TYPE_);
    rows->total += length(c, row);
    rows->ordered &= in_order(row);
  }
  return none();
}

/// `asobject` of anything but a grid.
OUTLINE V cells_of_rows(Ctx &c, V grid) {
  Rows rows;
  V fault = look_at_rows(c, grid, &rows);
  TRY(fault);
  if (rows.total == 0) return empty_set();
  if (!rows.ordered) return stop(c, ORDER);
  spend(c, rows.total);
  ROOM(V, cells, c, rows.total);
  u32 n = length(c, grid), to = 0;
  for (u32 i = 0; i < n; i++) {
    V row = item(c, grid, i);
    u32 m = length(c, row);
    for (u32 j = 0; j < m; j++) {
      V cell = cell_from(c, item(c, row, j), integer(i), integer(j));
      TRY(cell);
      put(cells + to++, cell);
    }
  }
  sync();
  return build_values(c, cells, to);
}

OP(asobject)(Ctx &c, V v) {
  Grid grid;
  if (!small_grid(c, v, &grid)) {
    CHECK(c);
    return cells_of_rows(c, v);
  }
  u32 n = grid.height * grid.width;
  spend(c, n / 4);
  ROOM(Dot, dots, c, n);
  for (u32 k = lane(); k < n; k += LANES) {
    Dot d = {pair_word((i32)(k / grid.width), (i32)(k % grid.width)), grid.cells[k]};
    dots[k] = d;
  }
  sync();
  return build_distinct(c, list_at(c, SET_C, dots, n), BUILD);
}

/// `0 <= x < end`: 1, 0, or -1 for what is no number.
INLINE i32 is_within(V x, u32 end) {
  if (x.kind == FLOAT) return float_of(x) >= 0.0 && float_of(x) < (double)end;
  if (!is_number(x)) return -1;
  return number_of(x) >= 0 && number_of(x) < (i64)end;
}

/// Is a location inside a grid? A bool, or a fault. With Python's short circuit; a float may lie outside, but it is no
/// position.
OUTLINE V is_inside(V i, V j, u32 height, u32 width) {
  i32 row = is_within(i, height);
  if (row <= 0) return row < 0 ? failed(TYPE_) : boolean(false);
  i32 column = is_within(j, width);
  if (column <= 0) return column < 0 ? failed(TYPE_) : boolean(false);
  return is_number(i) && is_number(j) ? boolean(true) : failed(TYPE_);
}

/// `grid[i][j]`.
OUTLINE V value_at(Ctx &c, V grid, i64 i, i64 j) {
  V row = at(c, grid, i);
  TRY(row);
  return at(c, row, j);
}

/// The cell of any grid under a location of any kind; none() for one that lies outside.
OUTLINE V cell_under(Ctx &c, V place, V grid, u32 height, u32 width) {
  V i, j;
  V fault = unpack_pair(c, place, &i, &j);
  TRY(fault);
  V inside = is_inside(i, j, height, width);
  TRY(inside);
  if (!truth(c, inside)) return none();
  V color = value_at(c, grid, number_of(i), number_of(j));
  TRY(color);
  return cell_from(c, color, i, j);
}

/// The cells of any grid at locations of any kind.
OUTLINE V cells_under(Ctx &c, V places, V grid, u32 height, u32 width) {
  if (!is_container(places)) return failed(TYPE_);
  u32 n = length(c, places), kept = 0;
  spend(c, n);
  ROOM(V, cells, c, n + 1);
  V outcome = none();
  for (u32 k = 0; k < n; k++) {
    V cell = cell_under(c, item(c, places, k), grid, height, width);
    if (is_bad(cell)) {
      if (element_failed(c, places, cell, &outcome)) break;
    } else if (cell.kind != NONE) {
      put(cells + kept++, cell);
    }
  }
  sync();
  TRY(outcome);
  return build_values(c, cells, kept);
}

/// The cells of a grid at packed locations, which are distinct.
OUTLINE V dots_under(Ctx &c, V places, Grid grid) {
  u32 n = places.len, kept = 0;
  if (n == 0) return empty_set();
  spend(c, n / 8);
  ROOM(Dot, dots, c, n);
  for (u32 from = 0; from < n; from += LANES) {
    u32 k = from + lane();
    u32 at = k < n ? pairs_of(c, places)[k] : 0;
    // What is negative is large without its sign.
    u32 i = (u32)row_of(at), j = (u32)column_of(at);
    bool mine = k < n && i < grid.height && j < grid.width;
    u32 bits = ballot(mine);
    if (mine) {
      Dot d = {at, grid.cells[i * grid.width + j]};
      dots[kept + popcount(bits & lanes_before())] = d;
    }
    kept += popcount(bits);
  }
  sync();
  return build_distinct(c, list_at(c, SET_C, dots, kept), BUILD);
}

OP(toobject)(Ctx &c, V patch, V v) {
  Grid grid;
  bool is_grid = as_grid(c, v, &grid);
  CHECK(c);
  if (is_grid && is_patch(patch)) {
    V places = op_toindices(c, patch);
    TRY(places);
    return dots_under(c, places, grid);
  }
  u32 height, width;
  V fault = grid_dims(c, v, &height, &width);
  TRY(fault);
  V places = op_toindices(c, patch);
  TRY(places);
  return cells_under(c, places, v, height, width);
}

// ---- Colours and movement -----------------------------------------------------------------------------------------

/// *Build* of a cell of this colour for each of the locations, set or tuple.
OUTLINE V recolored(Ctx &c, V color, V places) {
  if (!is_container(places)) return failed(TYPE_);
  u32 n = length(c, places);
  if (n == 0) return empty_set();
  spend(c, n / 8);
  V list = packed_patch(c, places);
  TRY(list);
  if (list.kind == SET_P && color.kind == INT && fits32(int_of(color))) {
    ROOM(Dot, dots, c, n);
    for (u32 k = lane(); k < n; k += LANES) {
      Dot d = {pairs_of(c, list)[k], (i32)color.lo};
      dots[k] = d;
    }
    sync();
    return build_images(c, places, list_at(c, SET_C, dots, n));
  }
  spend(c, n);
  ROOM(V, cells, c, n);
  V outcome = none();
  for (u32 k = 0; k < n; k++) {
    V place = item(c, places, k), cell;
    if (triples(c)) {
      V i, j;
      cell = unpack_pair(c, place, &i, &j);
      if (!is_bad(cell)) cell = triple_of(c, i, j, color);
    } else {
      cell = pair_of(c, color, place);
    }
    if (!is_bad(cell)) put(cells + k, cell);
    else if (element_failed(c, places, cell, &outcome)) break;
  }
  sync();
  TRY(outcome);
  return build_values(c, cells, n);
}

OP(recolor)(Ctx &c, V color, V patch) {
  V places = op_toindices(c, patch);
  TRY(places);
  return recolored(c, color, places);
}

/// A list of locations or cells moved by a vector; none() when a location would no longer be a pair.
OUTLINE V translated(Ctx &c, V list, i32 di, i32 dj) {
  Bounds b = bounds_of(c, list);
  if (!fits16(b.top + di) || !fits16(b.bottom + di) || !fits16(b.left + dj) || !fits16(b.right + dj)) return none();
  u32 n = list.len;
  spend(c, n / 8);
  if (list.kind == SET_P) {
    ROOM(u32, pairs, c, n);
    for (u32 k = lane(); k < n; k += LANES) {
      u32 at = pairs_of(c, list)[k];
      pairs[k] = pair_word(row_of(at) + di, column_of(at) + dj);
    }
    sync();
    return list_at(c, SET_P, pairs, n);
  }
  ROOM(Dot, dots, c, n);
  for (u32 k = lane(); k < n; k += LANES) {
    Dot d = dots_of(c, list)[k];
    d.at = pair_word(row_of(d.at) + di, column_of(d.at) + dj);
    dots[k] = d;
  }
  sync();
  return list_at(c, SET_C, dots, n);
}

/// One element of a patch moved by a vector of any kind.
OUTLINE V moved_element(Ctx &c, V element, bool is_cell, V di, V dj) {
  V color, i, j;
  V fault = is_cell ? unpack_cell(c, element, &color, &i, &j) : unpack_pair(c, element, &i, &j);
  TRY(fault);
  i = plain_operation(c, ADD, i, di);
  TRY(i);
  j = plain_operation(c, ADD, j, dj);
  TRY(j);
  return is_cell ? cell_from(c, color, i, j) : pair_of(c, i, j);
}

/// `shift` of a patch that is not packed, or by a vector that is no pair, or out of the range of pairs.
OUTLINE V shifted_elements(Ctx &c, V patch, V directions) {
  V di, dj;
  V fault = unpack_pair(c, directions, &di, &dj);
  TRY(fault);
  V cells = holds_cells(c, patch);
  TRY(cells);
  u32 n = length(c, patch);
  spend(c, n);
  ROOM(V, moved, c, n);
  V outcome = none();
  for (u32 k = 0; k < n; k++) {
    V element = moved_element(c, item(c, patch, k), truth(c, cells), di, dj);
    if (!is_bad(element)) put(moved + k, element);
    else if (element_failed(c, patch, element, &outcome)) break;
  }
  sync();
  TRY(outcome);
  return build_values(c, moved, n);
}

OP(shift)(Ctx &c, V patch, V directions) {
  if (!is_container(patch)) return failed(TYPE_);
  if (length(c, patch) == 0) return patch;
  if (directions.kind == PAIR) {
    V list = packed_patch(c, patch);
    TRY(list);
    if (list.kind != NONE) list = translated(c, list, row_of(directions.lo), column_of(directions.lo));
    TRY(list);
    if (list.kind != NONE) return build_images(c, patch, list);
  }
  return shifted_elements(c, patch, directions);
}

/// A packed patch, not empty, moved to the origin.
INLINE V normalized(Ctx &c, V patch) {
  Bounds b = bounds_of(c, patch);
  V offset = int_pair(c, -(i64)b.top, -(i64)b.left);
  TRY(offset);
  return op_shift(c, patch, offset);
}

/// The vector from two coordinates of any kind to the origin.
OUTLINE V way_back(Ctx &c, V top, V left) {
  top = single(c, INVERT, top);
  TRY(top);
  left = single(c, INVERT, left);
  TRY(left);
  return pair_of(c, top, left);
}

OP(normalize)(Ctx &c, V patch) {
  if (!is_container(patch)) return failed(TYPE_);
  if (length(c, patch) == 0) return patch;
  if (is_patch(patch)) return normalized(c, patch);
  V top = op_uppermost(c, patch);
  TRY(top);
  V left = op_leftmost(c, patch);
  TRY(left);
  V offset = way_back(c, top, left);
  TRY(offset);
  return op_shift(c, patch, offset);
}

/// *Freeze* of four values.
OUTLINE V set_of_four(Ctx &c, V p, V q, V r, V s) {
  ROOM(V, items, c, 4);
  put(items, p);
  put(items + 1, q);
  put(items + 2, r);
  put(items + 3, s);
  sync();
  return build_values(c, items, 4, FROZEN);
}

OP(corners)(Ctx &c, V patch) {
  V upper_left = op_ulcorner(c, patch);
  TRY(upper_left);
  V upper_right = op_urcorner(c, patch);
  TRY(upper_right);
  V lower_left = op_llcorner(c, patch);
  TRY(lower_left);
  V lower_right = op_lrcorner(c, patch);
  TRY(lower_right);
  return set_of_four(c, upper_left, upper_right, lower_left, lower_right);
}

// ---- tokpidjin ------------------------------------------------------------------------------------------------------

/// Is it a container without elements?
INLINE bool is_empty_container(const Ctx &c, V v) { return is_container(v) && length(c, v) == 0; }
/// Is it not a container, or one without elements?
INLINE bool has_nothing(const Ctx &c, V v) { return !is_container(v) || length(c, v) == 0; }
/// Is it a packed patch with elements?
INLINE bool is_real_patch(V v) { return is_patch(v) && v.len > 0; }

/// How `toindices` takes a first element: cell, location or nothing.
INLINE u32 reading_of(const Ctx &c, V first) { return !is_container(first) ? 0 : length(c, first) == 3 ? 1 : 2; }

TOK(toindices)(Ctx &c, V patch) {
  if (is_real_patch(patch)) return op_toindices(c, patch);
  if (has_nothing(c, patch)) return empty_set();
  u32 reading = reading_of(c, item(c, patch, 0));
  if (!in_order(patch))
    for (u32 k = 1; k < patch.len; k++)
      if (reading_of(c, item(c, patch, k)) != reading) return stop(c, ORDER);
  if (reading == 0) return empty_set();
  return reading == 1 ? op_toindices(c, patch) : patch;
}
TOK(toindices_i)(Ctx &c, V indices) { return indices; }
TOK(toindices_o)(Ctx &c, V obj) {
  if (obj.kind == SET_C) return op_toindices(c, obj);
  if (has_nothing(c, obj)) return empty_set();
  V cells = holds_cells(c, obj);
  TRY(cells);
  if (!truth(c, cells)) return failed(VALUE_);
  return op_toindices(c, obj);
}
TOK(recolor_i)(Ctx &c, V color, V indices) { return recolored(c, color, indices); }
TOK(recolor_o)(Ctx &c, V color, V obj) {
  V places = safely(c, tok_toindices_o(c, obj), TO_EMPTY_SET);
  TRY(places);
  return recolored(c, color, places);
}
TOK(shift)(Ctx &c, V patch, V directions) {
  if (!truth(c, patch)) return empty_set();
  if (is_tuple(directions) && length(c, directions) == 0) return patch;
  return op_shift(c, patch, directions);
}

/// Which ends of a patch are meant: tokpidjin has them for any patch, for locations and for objects.
enum Ends : u8 { ENDS, ENDS_I, ENDS_O };

/// The patch moved by the negative of its first row and column, by the ends that are meant.
OUTLINE V moved_to_origin(Ctx &c, u8 ends, V patch) {
  if (!is_container(patch)) return failed(TYPE_);
  if (length(c, patch) == 0) return patch;
  V top = ends == ENDS ? tok_uppermost(c, patch)
        : ends == ENDS_I ? tok_uppermost_i(c, patch)
                                : tok_uppermost_o(c, patch);
  top = safely(c, top, TO_ZERO);
  TRY(top);
  V left = ends == ENDS ? tok_leftmost(c, patch)
         : ends == ENDS_I ? tok_leftmost_i(c, patch)
                                 : tok_leftmost_o(c, patch);
  left = safely(c, left, TO_ZERO);
  TRY(left);
  V offset = way_back(c, top, left);
  TRY(offset);
  return safely(c, tok_shift(c, patch, offset), TO_EMPTY_SET);
}

TOK(normalize)(Ctx &c, V indices) {
  return is_real_patch(indices) ? normalized(c, indices) : moved_to_origin(c, ENDS, indices);
}
TOK(normalize_i)(Ctx &c, V indices) {
  bool fits = indices.kind == SET_P && indices.len > 0;
  return fits ? normalized(c, indices) : moved_to_origin(c, ENDS_I, indices);
}
TOK(normalize_o)(Ctx &c, V obj) {
  return obj.kind == SET_C ? normalized(c, obj) : moved_to_origin(c, ENDS_O, obj);
}
TOK(normalize_t)(Ctx &c, V piece) { return piece; }
SAME1(dneighbors, dneighbors)
SAME1(ineighbors, ineighbors)
SAME1(neighbors, neighbors)
