// Mirrors, rotations and scalings.
//
// A grid is turned by reading it in another direction: cell (i, j) of the image is found `i * down + j * across` cells
// from where the reading starts. Cutting a grid and leaving out rows and columns are readings, too.

/// The grid of cells that all lanes have written.
OUTLINE V grid_done(Ctx &c, const u8 *cells, u32 height, u32 width) {
  sync();
  return grid_at(c, cells, height, width);
}

/// The tuple of values that all lanes have written.
OUTLINE V tuple_done(Ctx &c, const V *items, u32 n) {
  sync();
  return tuple_at(c, items, n);
}

/// A new grid: cell (i, j) is `from[i * down + j * across]`.
OUTLINE V grid_read(Ctx &c, const u8 *from, u32 height, u32 width, i32 down, i32 across) {
  u64 n = (u64)height * width;
  if (n == 0) return grid_done(c, from, height, width);
  if (n > MOST_ELEMENTS) return stop(c, SIZE);
  ROOM(u8, cells, c, n);
  spend_shared(c, n / 8);
  for (u32 k = lane(); k < n; k += LANES) {
    i32 i = (i32)(k / width), j = (i32)k - i * (i32)width;
    cells[k] = from[i * down + j * across];
  }
  return grid_done(c, cells, height, width);
}

/// Height of a grid, and width of its first row.
OUTLINE V extent_of(Ctx &c, V grid, u32 *height, u32 *width) {
  if (!is_tuple(grid)) return failed(TYPE_);
  *height = length(c, grid);
  if (grid.kind == GRID) {
    *width = width_of(grid);
    return none();
  }
  if (*height == 0) return failed(INDEX_);
  V first = item(c, grid, 0);
  if (!is_container(first)) return failed(TYPE_);
  *width = length(c, first);
  return none();
}

/// `a + b` of two tuples.
OUTLINE V tuples_joined(Ctx &c, V a, V b) {
  u32 n = length(c, a), m = length(c, b);
  u64 total = (u64)n + m;
  if (total > MOST_ELEMENTS) return stop(c, SIZE);
  spend_shared(c, total);
  if (a.kind == ROW && b.kind == ROW) {
    ROOM(u8, bytes, c, total + 1);
    copy(bytes, bytes_of(c, a), n);
    copy(bytes + n, bytes_of(c, b), m);
    sync();
    return row_at(c, bytes, (u32)total);
  }
  ROOM(V, items, c, total + 1);
  for (u32 k = lane(); k < total; k += LANES) items[k] = k < n ? item(c, a, k) : item(c, b, k - n);
  return tuple_done(c, items, (u32)total);
}

/// Can the value be an operand of `+`?
INLINE bool is_addable(V v) { return is_numeric(v) || is_tuple(v); }

/// `a + b`.
OUTLINE V values_added(Ctx &c, V a, V b) {
  if (is_tuple(a) && is_tuple(b)) return tuples_joined(c, a, b);
  if (is_numeric(a) && is_numeric(b)) return on_values(c, ADD, a, b);
  return failed(TYPE_);
}

/// The n elements of a container: `a, b = v`.
OUTLINE V unpacked(Ctx &c, V v, u32 n, V *parts) {
  if (!is_container(v)) return failed(TYPE_);
  if (length(c, v) != n) return wrong_number(c, v);
  NEED_ORDER(c, v);
  for (u32 k = 0; k < n; k++) parts[k] = item(c, v, k);
  return none();
}

/// `v, (i, j) = cell`, or `i, j, v = cell` where cells are triples. `parts`: i, j, v.
OUTLINE V uncelled(Ctx &c, V cell, V *parts) {
  if (triples(c)) return unpacked(c, cell, 3, parts);
  V halves[2];
  V fault = unpacked(c, cell, 2, halves);
  TRY(fault);
  parts[2] = halves[0];
  return unpacked(c, halves[1], 2, parts);
}

// ---- Mirrors and rotations ---------------------------------------------------------------------------------------

enum Turn : u8 { UPWARD, LEFTWARD, DIAGONAL, COUNTERDIAGONAL, QUARTER, HALF, THREE_QUARTERS };

/// Do rows become columns?
INLINE bool exchanges(u8 turn) {
  return turn == DIAGONAL || turn == COUNTERDIAGONAL || turn == QUARTER || turn == THREE_QUARTERS;
}

OUTLINE V grid_turned(Ctx &c, const Grid &g, u8 turn) {
  i32 height = (i32)g.height, width = (i32)g.width;
  i32 bottom = (height - 1) * width, right = width - 1;
  i32 start = 0, down = exchanges(turn) ? 1 : width, across = exchanges(turn) ? width : 1;
  switch (turn) {
  case UPWARD: start = bottom; down = -down; break;
  case LEFTWARD: start = right; across = -across; break;
  case HALF:
  case COUNTERDIAGONAL: start = bottom + right; down = -down; across = -across; break;
  case QUARTER: start = bottom; across = -across; break;
  case THREE_QUARTERS: start = right; down = -down; break;
  default: break;
  }
  if (exchanges(turn)) return grid_read(c, g.cells + start, g.width, g.height, down, across);
  return grid_read(c, g.cells + start, g.height, g.width, down, across);
}

/// `v[::-1]` of a tuple.
OUTLINE V tuple_reversed(Ctx &c, V v) {
  u32 n = length(c, v);
  spend(c, n / 4 + 1);
  ROOM(V, items, c, n + 1);
  for (u32 k = lane(); k < n; k += LANES) items[k] = item(c, v, n - 1 - k);
  return tuple_done(c, items, n);
}

/// `zip(*rows)`: as many columns as the shortest row is long. All rows are containers.
OUTLINE V columns_of(Ctx &c, const V *rows, u32 n, bool backwards) {
  u32 width = n ? 0xffffffffu : 0;
  for (u32 k = 0; k < n; k++) {
    NEED_ORDER(c, rows[k]);
    width = min_of(width, length(c, rows[k]));
  }
  u64 total = (u64)n * width;
  if (total > MOST_ELEMENTS) return stop(c, SIZE);
  spend(c, n);
  spend_shared(c, total);
  ROOM(V, values, c, total + 1);
  ROOM(V, columns, c, (u64)width + 1);
  for (u32 k = lane(); k < total; k += LANES) values[k] = item(c, rows[k % n], k / n);
  for (u32 j = 0; j < width; j++) {
    V column = tuple_done(c, values + j * n, n);
    TRY(column);
    put(columns + (backwards ? width - 1 - j : j), column);
  }
  return tuple_done(c, columns, width);
}

/// The turn of any container of rows, which need not be equally long.
OUTLINE V rows_turned(Ctx &c, V v, u8 turn) {
  if (!is_container(v)) return failed(TYPE_);
  u32 n = length(c, v);
  bool upward = turn == UPWARD || turn == HALF || turn == COUNTERDIAGONAL || turn == QUARTER;
  bool leftward = turn == LEFTWARD || turn == HALF || turn == COUNTERDIAGONAL;
  V *rows = elements(c, v);
  CHECK(c);
  bool wrong = false;
  for (u32 k = lane(); k < n; k += LANES)
    wrong |= leftward ? !is_tuple(rows[k]) : exchanges(turn) && !is_container(rows[k]);
  if (any(wrong)) return failed(TYPE_);
  NEED_ORDER(c, v);
  ROOM(V, lines, c, n + 1);
  for (u32 k = 0; k < n; k++) {
    V row = rows[upward ? n - 1 - k : k];
    if (leftward) row = tuple_reversed(c, row);
    TRY(row);
    put(lines + k, row);
  }
  sync();
  return exchanges(turn) ? columns_of(c, lines, n, turn == THREE_QUARTERS) : tuple_done(c, lines, n);
}

/// Where locations go: each coordinate, after an exchange or without, is multiplied and moved.
struct Motion {
  bool exchanged;
  i32 times_i, by_i, times_j, by_j;
};
INLINE i32 image_row(const Motion &m, i32 i, i32 j) { return m.times_i * (m.exchanged ? j : i) + m.by_i; }
INLINE i32 image_column(const Motion &m, i32 i, i32 j) { return m.times_j * (m.exchanged ? i : j) + m.by_j; }

/// The list of locations or cells, moved. Motions are affine: what the corners do, everything between them does.
OUTLINE V list_moved(Ctx &c, V list, const Bounds &b, const Motion &m) {
  if (!fits16(image_row(m, b.top, b.left)) || !fits16(image_row(m, b.bottom, b.right)) ||
      !fits16(image_column(m, b.top, b.left)) || !fits16(image_column(m, b.bottom, b.right)))
    return odd(c);
  u32 n = list.len;
  spend(c, n / 4);
  u8 *images = room(c, (u64)n * element_size(list.kind));
  if (!images) return make(STOPPED, 0, 0, 0, 0);
  for (u32 k = lane(); k < n; k += LANES) {
    u32 at = location(c, list, k);
    i32 i = row_of(at), j = column_of(at);
    at = pair_word(image_row(m, i, j), image_column(m, i, j));
    if (list.kind == SET_P) ((u32 *)images)[k] = at;
    else ((Dot *)images)[k] = {at, dots_of(c, list)[k].color};
  }
  sync();
  return list_at(c, list.kind, images, n);
}

/// *Build* of what a list became.
OUTLINE V built_from(Ctx &c, V list, bool distinct) {
  TRY(list);
  return distinct ? build_distinct(c, list, BUILD) : build(c, list, BUILD);
}

INLINE Motion motion_of(const Bounds &b, u8 turn) {
  switch (turn) {
  case UPWARD: return {false, -1, b.top + b.bottom, 1, 0};
  case LEFTWARD: return {false, 1, 0, -1, b.left + b.right};
  case DIAGONAL: return {true, 1, b.top - b.left, 1, b.left - b.top};
  default: return {true, -1, b.top + b.right, -1, b.left + b.bottom};
  }
}

/// The mirror image of locations or cells inside their bounding box: a set's elements (distinct), or a tuple's.
OUTLINE V list_mirrored_once(Ctx &c, V list, u8 turn, bool distinct) {
  Bounds b = bounds_of(c, list);
  return built_from(c, list_moved(c, list, b, motion_of(b, turn)), distinct);
}
OUTLINE V list_mirrored(Ctx &c, V list, u8 turn, bool distinct) {
  if (turn != COUNTERDIAGONAL || !c.exact) return list_mirrored_once(c, list, turn, distinct);
  // Three sets are built one after the other; the order of the last depends on all of them.
  list = list_mirrored_once(c, list, LEFTWARD, distinct);
  TRY(list);
  list = list_mirrored_once(c, list, DIAGONAL, true);
  TRY(list);
  return list_mirrored_once(c, list, LEFTWARD, true);
}

/// `ulcorner` and `lrcorner` of the dialect.
OUTLINE V corner_at(Ctx &c, V patch, bool lower) {
  if (triples(c)) return safely(c, lower ? tok_lrcorner(c, patch) : tok_ulcorner(c, patch), TO_EMPTY_TUPLE);
  return lower ? op_lrcorner(c, patch) : op_ulcorner(c, patch);
}

/// Does a container hold cells? In arc-dsl the second component of the first element tells, where cells are triples the
/// number of its components. A bool or a fault; elements that disagree need an order.
OUTLINE V holds_cells_at_all(Ctx &c, V patch) {
  V found = none();
  u32 n = in_order(patch) ? 1 : length(c, patch);
  for (u32 k = 0; k < n; k++) {
    V first = item(c, patch, k), second;
    if (triples(c)) second = is_container(first) ? boolean(length(c, first) == 3) : failed(TYPE_);
    else second = at(c, first, 1);
    if (!triples(c) && !is_bad(second)) second = boolean(is_tuple(second));
    if (k > 0 && !same_bits(found, second)) return stop(c, ORDER);
    found = second;
  }
  return found;
}

/// `a - b` of numbers.
INLINE V numbers_subtracted(Ctx &c, V a, V b) {
  if (is_set(a) && is_set(b)) return odd(c);
  return is_numeric(a) && is_numeric(b) ? on_values(c, SUBTRACT, a, b) : failed(TYPE_);
}

/// Where a turn up to DIAGONAL takes any element; `by` is the sum of the edges, or the corner.
OUTLINE V image_of_element(Ctx &c, V element, bool cells, u8 turn, const V *by) {
  V parts[3];
  V fault = cells ? uncelled(c, element, parts) : unpacked(c, element, 2, parts);
  TRY(fault);
  V i = parts[0], j = parts[1];
  switch (turn) {
  case UPWARD: i = numbers_subtracted(c, by[0], i); break;
  case LEFTWARD: j = numbers_subtracted(c, by[0], j); break;
  default: {
    V row = numbers_subtracted(c, j, by[1]), column = numbers_subtracted(c, i, by[0]);
    TRY(row);
    TRY(column);
    i = values_added(c, row, by[0]);
    j = values_added(c, column, by[1]);
  }
  }
  TRY(i);
  TRY(j);
  if (cells && triples(c)) return triple_of(c, i, j, parts[2]);
  V place = pair_of(c, i, j);
  TRY(place);
  return cells ? pair_of(c, parts[2], place) : place;
}

/// The mirror image, up to DIAGONAL, of any container that holds something. `cells`: a bool, or none() to look.
OUTLINE V anything_mirrored(Ctx &c, V patch, V cells, u8 turn) {
  if (cells.kind == NONE && triples(c)) {
    cells = holds_cells_at_all(c, patch);
    TRY(cells);
  }
  V by[2], corner = corner_at(c, patch, false);
  TRY(corner);
  if (turn == DIAGONAL) {
    V fault = unpacked(c, corner, 2, by);
    TRY(fault);
  } else {
    u32 axis = turn == UPWARD ? 0 : 1;
    V low = at(c, corner, axis);
    TRY(low);
    corner = corner_at(c, patch, true);
    TRY(corner);
    V high = at(c, corner, axis);
    TRY(high);
    by[0] = values_added(c, low, high);
    TRY(by[0]);
  }
  if (cells.kind == NONE) cells = holds_cells_at_all(c, patch);
  TRY(cells);
  u32 n = length(c, patch);
  spend(c, n);
  ROOM(V, images, c, n);
  V fault = none();
  for (u32 k = 0; k < n; k++) {
    V image = image_of_element(c, item(c, patch, k), cells.flags, turn, by);
    CHECK(c);
    if (image.kind == FAILED) {
      if (in_order(patch)) return image;
      if (fault.kind == FAILED && fault.flags != image.flags) return stop(c, FAULTS);
      fault = image;
      continue;
    }
    put(images + k, image);
  }
  sync();
  TRY(fault);
  return build_values(c, images, n);
}

/// The mirror image of a container of anything but locations or cells alone. What comes of it may be a patch.
OUTLINE V odd_mirrored(Ctx &c, V patch, V cells, u8 turn) {
  if (turn != COUNTERDIAGONAL) return anything_mirrored(c, patch, cells, turn);
  V v = anything_mirrored(c, patch, cells, LEFTWARD);
  TRY(v);
  v = is_patch(v) ? list_mirrored(c, v, DIAGONAL, true) : anything_mirrored(c, v, cells, DIAGONAL);
  TRY(v);
  return is_patch(v) ? list_mirrored(c, v, LEFTWARD, true) : anything_mirrored(c, v, cells, LEFTWARD);
}

/// All turns of arc-dsl: of grids and, up to COUNTERDIAGONAL, of patches.
OUTLINE V turned(Ctx &c, V piece, u8 turn) {
  Grid g;
  if (as_grid(c, piece, &g)) return grid_turned(c, g, turn);
  CHECK(c);
  if (is_tuple(piece)) {
    spend(c, length(c, piece) / 8 + 1);
    return rows_turned(c, piece, turn);
  }
  if (turn > COUNTERDIAGONAL || !is_set(piece)) return failed(TYPE_);
  // The corner of nothing is (): it has no element 0, and it is no pair.
  if (piece.len == 0) return failed(turn == DIAGONAL ? VALUE_ : INDEX_);
  return is_patch(piece) ? list_mirrored(c, piece, turn, true) : odd_mirrored(c, piece, none(), turn);
}

OP(hmirror)(Ctx &c, V piece) { return turned(c, piece, UPWARD); }
OP(vmirror)(Ctx &c, V piece) { return turned(c, piece, LEFTWARD); }
OP(dmirror)(Ctx &c, V piece) { return turned(c, piece, DIAGONAL); }
OP(cmirror)(Ctx &c, V piece) { return turned(c, piece, COUNTERDIAGONAL); }
OP(rot90)(Ctx &c, V grid) { return turned(c, grid, QUARTER); }
OP(rot180)(Ctx &c, V grid) { return turned(c, grid, HALF); }
OP(rot270)(Ctx &c, V grid) { return turned(c, grid, THREE_QUARTERS); }

// ---- Scalings ----------------------------------------------------------------------------------------------------

/// A grid with rows and columns repeated.
OUTLINE V grid_scaled(Ctx &c, const Grid &g, i64 down, i64 across) {
  down = max_of(down, (i64)0);
  across = max_of(across, (i64)0);
  if (down > (i64)MOST_ELEMENTS || across > (i64)MOST_ELEMENTS) return stop(c, SIZE);
  u64 height = g.height * (u64)down, width = g.width * (u64)across;
  if (height > MOST_ELEMENTS || width > MOST_ELEMENTS || height * width > MOST_ELEMENTS) return stop(c, SIZE);
  u32 n = (u32)(height * width), columns = (u32)width;
  if (n == 0) return grid_done(c, g.cells, (u32)height, columns);
  ROOM(u8, cells, c, n);
  spend(c, n / 8);
  for (u32 k = lane(); k < n; k += LANES) {
    u32 i = k / columns, j = k - i * columns;
    cells[k] = g.cells[i / (u32)down * g.width + j / (u32)across];
  }
  return grid_done(c, cells, (u32)height, columns);
}

/// The tuple of a container's elements, each so many times.
OUTLINE V items_repeated(Ctx &c, V v, u32 times) {
  NEED_ORDER(c, v);
  u64 n = (u64)length(c, v) * times;
  if (n > MOST_ELEMENTS) return stop(c, SIZE);
  spend(c, n + 1);
  ROOM(V, items, c, n + 1);
  for (u32 k = lane(); k < n; k += LANES) items[k] = item(c, v, k / times);
  return tuple_done(c, items, (u32)n);
}

/// Any container with its rows repeated (`down`), the values of its rows (`across`), or both.
OUTLINE V rows_scaled(Ctx &c, V v, V factor, bool down, bool across) {
  if (!is_container(v)) return failed(TYPE_);
  u32 n = length(c, v);
  if (n == 0) return empty_tuple();
  V *rows = elements(c, v);
  CHECK(c);
  // A factor that nobody needs may be anything.
  bool number = is_number(factor), wrong = down && !number;
  u32 inside = 0;
  if (across)
    for (u32 k = lane(); k < n; k += LANES) {
      wrong |= !is_container(rows[k]) || (!number && length(c, rows[k]) > 0);
      inside += is_container(rows[k]) ? length(c, rows[k]) : 0;
    }
  i64 times = number ? max_of(number_of(factor), (i64)0) : 0;
  if (any(wrong)) {
    // The CPU puts sets in order before it notices, and repeats what comes before.
    u64 cells = sum(inside), seen = n + cells;
    u64 made = (down ? seen : cells) * min_of((u64)times, (u64)MOST_ELEMENTS);
    if (made >= MOST_ELEMENTS) return stop(c, SIZE);
    spend(c, (seen + made) * 5 / 8);
    return failed(TYPE_);
  }
  NEED_ORDER(c, v);
  if (times > (i64)MOST_ELEMENTS) return stop(c, SIZE);
  if (across) {
    ROOM(V, wide, c, n);
    for (u32 k = 0; k < n; k++) {
      V row = items_repeated(c, rows[k], (u32)times);
      TRY(row);
      put(wide + k, row);
    }
    rows = wide;
  }
  if (!down) return tuple_done(c, rows, n);
  sync();
  return items_repeated(c, make(TUPLE, 0, n, offset_of(c, rows), 0), (u32)times);
}

/// A list of cells enlarged: every cell becomes a square. It is moved to the origin, enlarged there and moved back; each
/// time a set is built.
OUTLINE V cells_scaled(Ctx &c, V list, i64 times, bool is_distinct) {
  if (times <= 0) return empty_set();
  Bounds b = bounds_of(c, list);
  i64 height = (b.bottom - b.top + 1) * min_of(times, (i64)32768);
  i64 width = (b.right - b.left + 1) * min_of(times, (i64)32768);
  if (!fits16(height) || !fits16(width) || !fits16(b.top + height - 1) || !fits16(b.left + width - 1)) return odd(c);
  // Without an order the way there and back can be left out.
  i32 top = c.exact ? 0 : b.top, left = c.exact ? 0 : b.left;
  if (c.exact) list = built_from(c, list_moved(c, list, b, {false, 1, -b.top, 1, -b.left}), is_distinct);
  else if (!is_distinct) list = distinct(c, list);
  TRY(list);
  u32 side = (u32)times, square = side * side;
  u64 n = (u64)list.len * square;
  if (n > MOST_ELEMENTS) return stop(c, SIZE);
  spend(c, n);
  ROOM(Dot, dots, c, n);
  for (u32 k = lane(); k < n; k += LANES) {
    Dot d = dots_of(c, list)[k / square];
    u32 place = k % square;
    i32 i = top + (row_of(d.at) - top) * (i32)side + (i32)(place / side);
    i32 j = left + (column_of(d.at) - left) * (i32)side + (i32)(place % side);
    dots[k] = {pair_word(i, j), d.color};
  }
  sync();
  V scaled = build_distinct(c, list_at(c, SET_C, dots, (u32)n), FROZEN);
  TRY(scaled);
  if (!c.exact) return scaled;
  Bounds extent = {0, 0, (i32)height - 1, (i32)width - 1};
  return built_from(c, list_moved(c, scaled, extent, {false, 1, b.top, 1, b.left}), true);
}

OP(hupscale)(Ctx &c, V grid, V factor) {
  Grid g;
  if (is_number(factor) && as_grid(c, grid, &g)) return grid_scaled(c, g, 1, number_of(factor));
  CHECK(c);
  return rows_scaled(c, grid, factor, false, true);
}
OP(vupscale)(Ctx &c, V grid, V factor) {
  Grid g;
  if (is_number(factor) && as_grid(c, grid, &g)) return grid_scaled(c, g, number_of(factor), 1);
  CHECK(c);
  return rows_scaled(c, grid, factor, true, false);
}
OP(upscale)(Ctx &c, V element, V factor) {
  if (is_tuple(element)) {
    Grid g;
    if (is_number(factor) && as_grid(c, element, &g)) return grid_scaled(c, g, number_of(factor), number_of(factor));
    CHECK(c);
    return rows_scaled(c, element, factor, true, true);
  }
  if (!is_set(element)) return failed(TYPE_);
  if (element.len == 0) return empty_set();
  if (element.kind == SET_C && is_number(factor)) return cells_scaled(c, element, number_of(factor), true);
  if (is_patch(element)) {
    spend(c, (u64)element.len * 3 / 4); // the CPU moves it and puts it in order before it notices
    return failed(TYPE_);
  }
  V parts[2], corner = op_ulcorner(c, element);
  TRY(corner);
  V fault = unpacked(c, corner, 2, parts);
  TRY(fault);
  return odd(c);
}

/// `downscale` of rows that are no rectangle of small integers.
OUTLINE V rows_thinned(Ctx &c, V grid, u32 height, u32 width, u32 step) {
  u32 kept = width ? (width - 1) / step + 1 : 0;
  ROOM(V, rows, c, height);
  for (u32 i = 0; i < height; i++) {
    V row = item(c, grid, i);
    // Rows that are left out are read all the same.
    if (kept && !is_tuple(row)) return failed(TYPE_);
    if (kept && length(c, row) <= (kept - 1) * step) return failed(INDEX_);
    if (i % step) continue;
    spend(c, kept / 8 + 1);
    ROOM(V, values, c, kept + 1);
    for (u32 k = lane(); k < kept; k += LANES) values[k] = item(c, row, k * step);
    row = tuple_done(c, values, kept);
    TRY(row);
    put(rows + i / step, row);
  }
  return tuple_done(c, rows, (height - 1) / step + 1);
}

OP(downscale)(Ctx &c, V grid, V factor) {
  u32 height, width;
  V fault = extent_of(c, grid, &height, &width);
  TRY(fault);
  i64 n = 0;
  if (is_nan(factor)) return empty_tuple();
  bool infinite = factor.kind == FLOAT && (bits_of(factor) << 1) == 0xffe0000000000000ull;
  if (!infinite && !integral(factor, &n)) return failed(TYPE_);
  if (!infinite && n == 0) return failed(ZERO_DIVISION);
  // Beyond the extent of the grid all steps are the same.
  u64 most = max_of(max_of(height, width), 1u), wanted = n < 0 ? 0 - (u64)n : (u64)n;
  u32 step = (u32)(infinite ? most : min_of(wanted, most));
  Grid g;
  if (as_grid(c, grid, &g))
    return grid_read(c, g.cells, (height - 1) / step + 1, (width - 1) / step + 1, (i32)(step * width), (i32)step);
  CHECK(c);
  return rows_thinned(c, grid, height, width, step);
}

// ---- tokpidjin: grids (_t), patches (_f), locations (_i) and objects (_o) -------------------------------------------

/// Can it be taken apart into so many components, and may they be numbers?
INLINE bool has_components(const Ctx &c, V v, u32 n) {
  return is_container(v) && length(c, v) == n && !is_patch(v) && v.kind != GRID;
}

/// The mirror image of what is no set of elements of the wanted kind: cells, locations, or (none()) either.
OUTLINE V foreign_mirrored(Ctx &c, V patch, V cells, u8 turn) {
  if (!is_container(patch)) return failed(TYPE_);
  u32 n = length(c, patch);
  if (n == 0) return failed(INDEX_);
  V *items = elements(c, patch);
  CHECK(c);
  V list = list_of(c, items, n);
  TRY(list);
  bool wants_cells = cells.kind == NONE || cells.flags, wants_locations = cells.kind == NONE || !cells.flags;
  if ((list.kind == SET_P && wants_locations) || (list.kind == SET_C && wants_cells))
    return list_mirrored(c, list, turn, false);
  // All elements have two components or all have three.
  u32 components = is_container(items[0]) ? length(c, items[0]) : 0;
  bool wrong = !(components == 2 && wants_locations) && !(components == 3 && wants_cells);
  bool far = false; // the CPU looks at the edges first, and adds them
  for (u32 k = lane(); k < n; k += LANES) {
    wrong |= !has_components(c, items[k], components);
    for (u32 j = 0; items[k].kind == TUPLE && j < min_of(items[k].len, 2u); j++) {
      V v = values_of(c, items[k])[j];
      far |= v.kind == INT && !fits32(int_of(v));
    }
  }
  if (any(wrong)) return any(far) ? odd(c) : failed(VALUE_);
  return odd_mirrored(c, patch, cells, turn);
}

INLINE V mirrored_f(Ctx &c, V patch, u8 turn) {
  return is_patch(patch) && patch.len ? list_mirrored(c, patch, turn, true) : foreign_mirrored(c, patch, none(), turn);
}
INLINE V mirrored_i(Ctx &c, V patch, u8 turn) {
  return patch.kind == SET_P && patch.len ? list_mirrored(c, patch, turn, true)
                                          : foreign_mirrored(c, patch, boolean(false), turn);
}
INLINE V mirrored_o(Ctx &c, V patch, u8 turn) {
  return patch.kind == SET_C ? list_mirrored(c, patch, turn, true) : foreign_mirrored(c, patch, boolean(true), turn);
}

TOK(hmirror_t)(Ctx &c, V grid) { return is_tuple(grid) ? turned(c, grid, UPWARD) : failed(TYPE_); }
TOK(hmirror_f)(Ctx &c, V patch) { return mirrored_f(c, patch, UPWARD); }
TOK(hmirror_i)(Ctx &c, V indices) { return mirrored_i(c, indices, UPWARD); }
TOK(hmirror_o)(Ctx &c, V obj) { return mirrored_o(c, obj, UPWARD); }
TOK(vmirror_t)(Ctx &c, V grid) { return is_tuple(grid) ? turned(c, grid, LEFTWARD) : rows_turned(c, grid, LEFTWARD); }
TOK(vmirror_f)(Ctx &c, V patch) { return mirrored_f(c, patch, LEFTWARD); }
TOK(vmirror_i)(Ctx &c, V indices) { return mirrored_i(c, indices, LEFTWARD); }
TOK(vmirror_o)(Ctx &c, V obj) { return mirrored_o(c, obj, LEFTWARD); }
TOK(dmirror_t)(Ctx &c, V grid) { return is_tuple(grid) ? turned(c, grid, DIAGONAL) : rows_turned(c, grid, DIAGONAL); }
TOK(dmirror_f)(Ctx &c, V patch) { return mirrored_f(c, patch, DIAGONAL); }
TOK(dmirror_i)(Ctx &c, V indices) { return mirrored_i(c, indices, DIAGONAL); }
TOK(dmirror_o)(Ctx &c, V obj) { return mirrored_o(c, obj, DIAGONAL); }
TOK(cmirror_t)(Ctx &c, V grid) { return is_tuple(grid) ? turned(c, grid, COUNTERDIAGONAL) : failed(TYPE_); }
// Once one of the three mirrors falls back, nothing is left of the patch.
TOK(cmirror_f)(Ctx &c, V patch) { return mirrored_f(c, patch, COUNTERDIAGONAL); }
TOK(cmirror_i)(Ctx &c, V indices) { return mirrored_f(c, indices, COUNTERDIAGONAL); }
TOK(cmirror_o)(Ctx &c, V obj) { return mirrored_f(c, obj, COUNTERDIAGONAL); }
SAME1(rot90, rot90)
SAME1(rot180, rot180)
SAME1(rot270, rot270)

TOK(mir_rot_t)(Ctx &c, V grid, V type) {
  i64 code = -1;
  if (!integral(type, &code)) return grid;
  V v;
  switch (code) {
  case 0: v = tok_hmirror_t(c, grid); break;
  case 1: v = tok_dmirror_t(c, grid); break;
  case 2: v = tok_vmirror_t(c, grid); break;
  case 3: v = tok_cmirror_t(c, grid); break;
  case 4: v = turned(c, grid, QUARTER); break;
  case 5: v = turned(c, grid, HALF); break;
  case 6: v = turned(c, grid, THREE_QUARTERS); break;
  default: return grid;
  }
  return safely(c, v, TO_EMPTY_TUPLE);
}
TOK(mir_rot_f)(Ctx &c, V patch, V type) {
  const u8 turns[4] = {UPWARD, DIAGONAL, LEFTWARD, COUNTERDIAGONAL};
  i64 code = -1;
  if (!integral(type, &code) || code < 0 || code > 3) return patch;
  return safely(c, mirrored_f(c, patch, turns[code]), TO_EMPTY_SET);
}

TOK(upscale_t)(Ctx &c, V grid, V factor) {
  return is_tuple(grid) ? op_upscale(c, grid, factor) : rows_scaled(c, grid, factor, true, true);
}
TOK(upscale_f)(Ctx &c, V obj, V factor) {
  if (obj.kind == SET_C) return op_upscale(c, obj, factor);
  if (!is_container(obj)) return failed(TYPE_);
  u32 n = length(c, obj);
  if (n == 0) return empty_set();
  V *items = elements(c, obj);
  CHECK(c);
  V list = list_of(c, items, n);
  TRY(list);
  if (list.kind == SET_C) return is_number(factor) ? cells_scaled(c, list, number_of(factor), false) : failed(TYPE_);
  bool wrong = false;
  for (u32 k = lane(); k < n; k += LANES) wrong |= !has_components(c, items[k], 3);
  return any(wrong) ? failed(VALUE_) : odd(c);
}
SAME2(hupscale, hupscale)
SAME2(vupscale, vupscale)
SAME2(downscale, downscale)
